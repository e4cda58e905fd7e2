// An adapter for the npm package js-tiktoken; written for version 1.0.21.
//
// Its class takes ranks, a pattern and special tokens, as the encodings have them that the package carries. A line of
// ranks is a name, the first rank and the tokens; here each token has a line.

import { readFileSync } from "node:fs";
import { Tiktoken } from "js-tiktoken/lite";
import { serve, text } from "../javascript/protocol.mjs";
import { idsOf, needPattern, readRanks, specialOf, unlessDisallowed } from "../javascript/ranks.mjs";

const library = JSON.parse(readFileSync(new URL("node_modules/js-tiktoken/package.json", import.meta.url)));

const hello = {
  name: library.name,
  version: library.version,
  language: "JavaScript",
  formats: ["vocab.tiktoken"],
  encode_fields: ["tokens", "ids"],
  encode_options: ["allowed_special", "disallowed_special"],
  components: ["vocabulary_ids", "model/bpe/ignore_merges"],
  choices: { bpe_pairs: "in_vocabulary", bpe_merge_order: "lowest_rank", unknown_id: "skipped" },
  unicode: process.versions.unicode,
};

function load(content) {
  const model = readRanks(content);
  needPattern(model.pattern);
  const encoding = new Tiktoken({
    pat_str: model.pattern,
    special_tokens: model.special,
    bpe_ranks: model.ranks.map(([base64, , id]) => `! ${id} ${base64}`).join("\n"),
  });
  return { ...model, encoding };
}

const operations = {
  encode({ encoding, names }, input) {
    const { allowed, disallowed } = specialOf(input);
    const ids = unlessDisallowed("not allowed", () => encoding.encode(text(input.text), allowed, disallowed));
    return { tokens: ids.map((id) => names.get(id)), ids };
  },

  decode(model, input) {
    return { text: model.encoding.decode(idsOf(model, input)) };
  },
};

await serve(hello, load, operations);
