// An adapter for the npm package gpt-tokenizer; written for version 4.0.0.
//
// The library has the encodings of OpenAI built in. Its class takes the same parameters for any other: a token for each
// rank, as a string where it is UTF-8 and as bytes where not, the pattern and the special tokens.
//
// All that it decodes in a program goes through one decoder of bytes, which keeps those of an incomplete character. So that
// what a case comes to does not depend on those before it, each stream has a thread of its own, where the library is new.

import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { ALL_SPECIAL_TOKENS } from "gpt-tokenizer/constants";
import { R50K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { GptEncoding } from "gpt-tokenizer/GptEncoding";
import { need, Refusal, serve, text } from "../javascript/protocol.mjs";
import { endedStream } from "../javascript/streams.mjs";
import { helloOf, idsOf, needPattern, readRanks, specialOf, textOrBytes, unlessDisallowed } from "../javascript/ranks.mjs";

const hello = helloOf(import.meta.url, "gpt-tokenizer", {
  choices: { bpe_pairs: "in_vocabulary", bpe_merge_order: "lowest_rank", byte_level_added_tokens: "utf_8", unknown_id: "error" },
  decode_options: ["id_steps", "end", "beside"],
});

function cutBy({ pattern, pre_tokenizer }) {
  if (pattern === undefined) return pre_tokenizer.use_regex ? R50K_TOKEN_SPLIT_REGEX : /[^]+/gu;
  return new RegExp(pattern, "gu");
}

function load(content) {
  const model = readRanks(content);
  needPattern(model.pattern);
  const ranks = [];
  for (const [, bytes, id] of model.ranks) ranks[id] = textOrBytes(bytes);
  const encoding = new GptEncoding({
    bytePairRankDecoder: ranks,
    tokenSplitRegex: cutBy(content.beside),
    specialTokensEncoder: new Map(Object.entries(model.special)),
  });
  return { ...model, encoding, content };
}

// The library's errors have no type of their own; these say what is a refusal.
const REASONS = {
  "The byte-pair encoding does not contain a value for": "unknown_symbol",
  "is not in the byte pair encoder": "unknown_id",
  'cannot both be set to "all"': "invalid_input",
};

function translated(call) {
  try {
    return call();
  } catch (error) {
    const part = Object.keys(REASONS).find((part) => error.message.includes(part));
    throw part ? new Refusal(REASONS[part], error.message) : error;
  }
}

const setOf = (tokens) => (tokens === "all" ? ALL_SPECIAL_TOKENS : new Set(tokens));

const operations = {
  encode({ encoding, names }, input) {
    const { allowed, disallowed } = specialOf(input);
    const options = { allowedSpecial: setOf(allowed), disallowedSpecial: setOf(disallowed) };
    const encode = () => translated(() => encoding.encode(text(input.text), options));
    const ids = unlessDisallowed("Disallowed special token", encode);
    return { tokens: ids.map((id) => names.get(id)), ids };
  },

  decode(model, input) {
    const ids = idsOf(model, input);
    return { text: translated(() => model.encoding.decode(ids)) };
  },

  async decode_stream({ content, decodes }, input) {
    need(decodes, "decodes bytes, and puts no spaces between tokens");
    need(input.end, "has streams that are ended, and holds text back until then");
    return new Promise((resolve, reject) => {
      const thread = new Worker(new URL(import.meta.url), { workerData: { content, input } });
      thread.once("message", resolve);
      thread.once("error", reject);
    });
  },
};

if (isMainThread) await serve(hello, load, operations);
else parentPort.postMessage(await endedStream(workerData.input, load(workerData.content).encoding.decodeAsyncGenerator));
