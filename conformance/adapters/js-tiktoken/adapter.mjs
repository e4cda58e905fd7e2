// An adapter for the npm package js-tiktoken; written for version 1.0.21.
//
// Its class takes ranks, a pattern and special tokens, as the encodings have them that the package carries. A line of
// ranks is a name, the first rank and the tokens; here each token has a line.

import { Tiktoken } from "js-tiktoken/lite";
import { serve, text } from "../javascript/protocol.mjs";
import { helloOf, idsOf, needPattern, readRanks, specialOf, unlessDisallowed } from "../javascript/ranks.mjs";

const hello = helloOf(import.meta.url, "js-tiktoken", {
  choices: { bpe_pairs: "in_vocabulary", bpe_merge_order: "lowest_rank", byte_level_added_tokens: "utf_8", unknown_id: "skipped" },
});

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
