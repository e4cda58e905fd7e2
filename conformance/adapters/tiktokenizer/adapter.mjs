// An adapter for the npm package @microsoft/tiktokenizer; written for version 1.0.10.
//
// Its class takes ranks as a map of bytes, special tokens as a map of strings, and a pattern. Special tokens are found
// where they are allowed by their names.

import tiktokenizer from "@microsoft/tiktokenizer";
import { serve, text } from "../javascript/protocol.mjs";
import { helloOf, idsOf, needPattern, readRanks, specialOf } from "../javascript/ranks.mjs";

const hello = helloOf(import.meta.url, "@microsoft/tiktokenizer", {
  encode_options: ["allowed_special"],
  choices: { bpe_pairs: "in_vocabulary", bpe_merge_order: "lowest_rank", byte_level_added_tokens: "utf_8", unknown_id: "skipped" },
});

function load(content) {
  const model = readRanks(content);
  needPattern(model.pattern);
  const ranks = new Map(model.ranks.map(([, bytes, id]) => [bytes, id]));
  const tokenizer = new tiktokenizer.TikTokenizer(ranks, new Map(Object.entries(model.special)), model.pattern);
  const special = Object.keys(model.special);
  return { ...model, tokenizer, special: special.length ? special : undefined };
}

const operations = {
  encode({ tokenizer, special, names }, input) {
    const { allowed } = specialOf(input);
    const ids = tokenizer.encode(text(input.text), allowed === "all" ? special : allowed);
    return { tokens: ids.map((id) => names.get(id)), ids };
  },

  decode(model, input) {
    return { text: model.tokenizer.decode(idsOf(model, input)) };
  },
};

await serve(hello, load, operations);
