// An adapter for the npm package @huggingface/tokenizers, and an example for whoever writes one for another port.
//
// The library does the work; the adapter only translates. What the library does not offer is refused as "unsupported";
// what it does otherwise than the specification is answered as it answers, and is a known failure.

import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import { need, Refusal, serve, text } from "../javascript/protocol.mjs";

const library = JSON.parse(readFileSync(new URL("node_modules/@huggingface/tokenizers/package.json", import.meta.url)));

const hello = {
  name: library.name,
  version: library.version,
  language: "JavaScript",
  formats: ["tokenizer.json"],
  encode_fields: ["tokens", "ids"],
  choices: {
    bpe_merge_order: "lowest_rank",
    bpe_pairs: "listed",
    bpe_unknown_run: "each",
    bpe_unknown_without_token: "dropped_after_merging",
    duplicate_token: "last_place",
    final_sigma: "contextual",
    metaspace_leading_space: "removed",
    unigram_tie: "earliest_start",
    unigram_unknown: "run",
    unigram_unknown_without_token: "kept",
  },
  unicode: process.versions.unicode,
};

// What the library's errors, which have no type of their own, are refusals for; any other is a crash.
const REASONS = [
  [/^Unknown (Decoder|Normalizer|PostProcessor|PreTokenizer|TokenizerModel) type/, "unsupported"],
  [/^Array must not be empty/, "invalid_model"], // a Unigram model without tokens
];

function load(content) {
  try {
    return new Tokenizer(content, {});
  } catch (error) {
    const [, reason] = REASONS.find(([message]) => message.test(error.message)) ?? [];
    throw reason ? new Refusal(reason, error.message) : error;
  }
}

// The operations that the library offers. Its pre-tokenizers give no spans, so that pre_tokenize is not among them.
const operations = {
  normalize(tokenizer, input) {
    need(tokenizer.normalizer, "the model has no normalizer to call");
    return { text: tokenizer.normalizer.normalize(text(input.text)) };
  },

  encode(tokenizer, input) {
    const { tokens, ids } = tokenizer.encode(text(input.text), { add_special_tokens: false });
    // For an unknown the library returns the characters; the token is the entry of the vocabulary that the id names.
    return { tokens: ids.map((id, i) => tokenizer.id_to_token(id) ?? tokens[i]), ids: ids.map((id) => id ?? null) };
  },

  decode(tokenizer, input) {
    const tokens = input.tokens?.map(text);
    // Without a vocabulary there is nothing to look up, and the decoder alone is asked.
    if (tokens && tokenizer.decoder && tokenizer.get_vocab().size === 0) return { text: tokenizer.decoder(tokens) };
    const ids = input.ids ?? tokens?.map((token) => tokenizer.token_to_id(token));
    need(Array.isArray(ids), "decode takes tokens or ids");
    return { text: tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false }) };
  },
};

await serve(hello, load, operations);
