// An adapter for the streams of the npm package @huggingface/transformers; written for version 4.3.2.
//
// Its TextStreamer is given ids as its generate gives them: those of the prompt first, which are skipped, and then one at
// a time. Its tokenizer is that of @huggingface/tokenizers, which has an adapter of its own.

import { readFileSync } from "node:fs";
import { PreTrainedTokenizer, TextStreamer } from "@huggingface/transformers";
import { need, Refusal, serve } from "../javascript/protocol.mjs";

const library = JSON.parse(readFileSync(new URL("node_modules/@huggingface/transformers/package.json", import.meta.url)));

const hello = {
  name: library.name,
  version: library.version,
  language: "JavaScript",
  formats: ["tokenizer.json"],
  decode_options: ["skip_special_tokens", "prompt", "end", "beside"],
  // Those of decoding that @huggingface/tokenizers has.
  components: [
    "vocabulary_ids",
    "added_tokens",
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
  choices: { byte_level_added_tokens: "utf_8", duplicate_token: "last_place", metaspace_leading_space: "removed", unknown_id: "skipped" },
  unicode: process.versions.unicode,
};

function load(content) {
  try {
    return new PreTrainedTokenizer(content, { clean_up_tokenization_spaces: false });
  } catch (error) {
    throw /^Unknown \w+ type/.test(error.message) ? new Refusal("unsupported", error.message) : error;
  }
}

// A stream, and a function that gives the text that came since it was called last.
function begin(tokenizer, { prompt = [], skip_special_tokens = false }) {
  let texts = "";
  const streamer = new TextStreamer(tokenizer, {
    skip_prompt: true,
    skip_special_tokens,
    callback_function: (text) => (texts += text),
  });
  streamer.put([prompt.map(BigInt)]);
  const taken = () => {
    const text = texts;
    texts = "";
    return text;
  };
  return { streamer, taken };
}

const operations = {
  decode(tokenizer, input) {
    need(input.ids?.length, "decodes ids, and at least one");
    return { text: tokenizer.decode(input.ids, { skip_special_tokens: input.skip_special_tokens ?? false }) };
  },

  decode_stream(tokenizer, input) {
    need(input.end, "has streams that are ended, and holds text back until then");
    const { streamer, taken } = begin(tokenizer, input);
    const other = begin(tokenizer, { ...input, prompt: [] }).streamer;
    const beside = (input.beside ?? []).map(BigInt);
    const parts = [];
    for (const id of input.ids) {
      if (beside.length > 0) other.put([[beside.shift()]]);
      streamer.put([[BigInt(id)]]);
      parts.push(taken());
    }
    streamer.end();
    return { parts, end: taken() };
  },
};

await serve(hello, load, operations);
