// An adapter for the npm package tiktoken, the library in Rust compiled to WebAssembly; written for version 1.0.22.
//
// Its class takes a file of ranks, special tokens and a pattern. What it decodes is bytes, of which its README makes text
// by a TextDecoder.

import { Tiktoken } from "tiktoken";
import { serve, text } from "../javascript/protocol.mjs";
import { helloOf, idsOf, readRanks, specialOf, unlessDisallowed } from "../javascript/ranks.mjs";

const hello = helloOf(import.meta.url, "tiktoken", {
  name: "tiktoken-wasm",
  language: "JavaScript, Rust",
  unicode: undefined, // that of Node.js is not the library's
  choices: { bpe_pairs: "in_vocabulary", bpe_merge_order: "lowest_rank", byte_level_added_tokens: "utf_8" },
});

function load(content) {
  const model = readRanks(content);
  return { ...model, encoding: new Tiktoken(content.files["vocab.tiktoken"], model.special, model.pattern) };
}

const operations = {
  encode({ encoding, names }, input) {
    const { allowed, disallowed } = specialOf(input);
    const isOrdinary = allowed.length === 0 && !("disallowed_special" in input);
    const encode = () =>
      isOrdinary ? encoding.encode_ordinary(text(input.text)) : encoding.encode(text(input.text), allowed, disallowed);
    const ids = [...unlessDisallowed("not allowed", encode)];
    return { tokens: ids.map((id) => names.get(id)), ids };
  },

  decode_bytes(model, input) {
    return { bytes: Buffer.from(model.encoding.decode(Uint32Array.from(idsOf(model, input)))).toString("hex") };
  },

  decode(model, input) {
    return { text: new TextDecoder().decode(model.encoding.decode(Uint32Array.from(idsOf(model, input)))) };
  },
};

await serve(hello, load, operations);
