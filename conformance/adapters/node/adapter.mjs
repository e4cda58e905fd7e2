// An adapter for the npm package @huggingface/tokenizers, and an example for whoever writes one for another port.
//
// The library does the work; the adapter only translates. What the library does not offer is refused as "unsupported";
// what it does otherwise than the specification is answered as it answers, and is a known failure.

import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import { need, Refusal, serve, text } from "../javascript/protocol.mjs";

const library = JSON.parse(readFileSync(new URL("node_modules/@huggingface/tokenizers/package.json", import.meta.url)));

const hello = {
  name: library.name,
  version: library.version,
  language: "JavaScript",
  formats: ["tokenizer.json"],
  reads_file: true,
  encode_fields: ["tokens", "ids", "type_ids", "attention_mask"],
  encode_options: ["pair", "add_special_tokens"],
  decode_options: ["skip_special_tokens"],
  // Not among them, for no class of the library has it: the pre-tokenizer CharDelimiterSplit, which its README names,
  // the model WordLevel, a prefix of continuing subwords in BPE, bytes in Unigram, a scheme in the decoder of
  // metaspaces, truncation and padding.
  components: [
    "vocabulary_ids",
    "added_tokens",
    "normalizer/replace",
    "normalizer/prepend",
    "normalizer/strip",
    "normalizer/precompiled",
    "pre_tokenizer/split",
    "pre_tokenizer/digits",
    "pre_tokenizer/punctuation",
    "pre_tokenizer/whitespace",
    "pre_tokenizer/fixed_length",
    "post_processor",
    "model/bpe/ignore_merges",
    "model/bpe/fuse_unk",
    "model/bpe/byte_fallback",
    "model/bpe/end_of_word_suffix",
    "decoder/byte_fallback",
    "decoder/fuse",
    "decoder/strip",
    "decoder/replace",
    "decoder/bpe",
    "decoder/ctc",
    "decoder/sequence",
    "decoder/wordpiece/cleanup",
  ],
  choices: {
    bpe_merge_order: "lowest_rank",
    bpe_pairs: "listed",
    bpe_unknown_run: "each",
    bpe_unknown_without_token: "dropped_after_merging",
    byte_level_added_tokens: "utf_8",
    duplicate_token: "last_place",
    final_sigma: "contextual",
    metaspace_leading_space: "removed",
    pattern_end: "line",
    pattern_interval_plus: "repeated",
    unigram_tie: "earliest_start",
    unigram_unknown: "run",
    unknown_token_text: "surface_in_unigram",
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

// The operations that the library offers.
const operations = {
  normalize(tokenizer, input) {
    need(tokenizer.normalizer, "the model has no normalizer to call");
    return { text: tokenizer.normalizer.normalize(text(input.text)) };
  },

  // Its pre-tokenizers give no spans, and are told which section of a text they cut: here the first.
  pre_tokenize(tokenizer, input) {
    need(tokenizer.pre_tokenizer, "the model has no pre-tokenizer to call");
    return { pieces: tokenizer.pre_tokenizer.pre_tokenize(text(input.text), { section_index: 0 }).map((piece) => [piece]) };
  },

  encode(tokenizer, input) {
    const { tokens, ids, attention_mask, token_type_ids } = tokenizer.encode(text(input.text), {
      text_pair: "pair" in input ? text(input.pair) : null,
      add_special_tokens: input.add_special_tokens ?? true,
      return_token_type_ids: true,
    });
    return {
      tokens,
      ids: ids.map((id) => id ?? null),
      attention_mask,
      // It gives none where the model has no post-processor.
      ...(token_type_ids && { type_ids: token_type_ids }),
    };
  },

  decode(tokenizer, input) {
    const skip_special_tokens = input.skip_special_tokens ?? false;
    const tokens = input.tokens?.map(text);
    // The decoder takes tokens, and the tokenizer ids.
    if (tokens && tokenizer.decoder && !skip_special_tokens) return { text: tokenizer.decoder.decode(tokens) };
    const ids = input.ids ?? tokens?.map((token) => tokenizer.token_to_id(token));
    need(Array.isArray(ids), "decode takes tokens or ids");
    need(!ids.includes(undefined), "decodes ids, and a token that is not in the vocabulary has none");
    return { text: tokenizer.decode(ids, { skip_special_tokens, clean_up_tokenization_spaces: false }) };
  },
};

export const adapter = { hello, load, operations };

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await serve(hello, load, operations);
