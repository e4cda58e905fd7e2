// An adapter for the npm package ai-tokenizer; written for version 1.0.6.
//
// Its class takes an encoding as the package carries them: tokens that are UTF-8 by their text, others by their bytes, in
// order. Special tokens are found where they are allowed by their names; "all" finds none.

import { Tokenizer } from "ai-tokenizer";
import { serve, text } from "../javascript/protocol.mjs";
import { helloOf, idsOf, needPattern, readRanks, specialOf, textOrBytes, unlessDisallowed } from "../javascript/ranks.mjs";

const hello = helloOf(import.meta.url, "ai-tokenizer", {
  choices: {
    bpe_pairs: "in_vocabulary",
    bpe_merge_order: "lowest_rank",
    byte_level_added_tokens: "utf_8",
    bpe_unknown_without_token: "dropped_after_merging",
    unknown_id: "skipped",
  },
});

function load(content) {
  const model = readRanks(content);
  needPattern(model.pattern);
  const decoder = Object.fromEntries(model.ranks.map(([, bytes, id]) => [id, textOrBytes(bytes)]));
  const tokens = model.ranks.map(([, , id]) => [decoder[id], id]);
  const tokenizer = new Tokenizer({
    name: "fixture",
    pat_str: model.pattern,
    special_tokens: model.special,
    stringEncoder: Object.fromEntries(tokens.filter(([token]) => typeof token === "string")),
    binaryEncoder: tokens.filter(([token]) => typeof token !== "string").sort(([a], [b]) => Buffer.compare(a, b)),
    decoder,
  });
  return { ...model, tokenizer };
}

const operations = {
  encode({ tokenizer, names }, input) {
    const { allowed, disallowed } = specialOf(input);
    const encode = () => tokenizer.encode(text(input.text), allowed, disallowed);
    const ids = unlessDisallowed("disallowed special token", encode);
    return { tokens: ids.map((id) => names.get(id)), ids };
  },

  decode(model, input) {
    return { text: model.tokenizer.decode(idsOf(model, input)) };
  },
};

await serve(hello, load, operations);
