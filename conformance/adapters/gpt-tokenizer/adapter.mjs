// An adapter for the npm package gpt-tokenizer; written for version 4.0.0.
//
// The library has the encodings of OpenAI built in. Its class takes the same parameters for any other: a token for each
// rank, as a string where it is UTF-8 and as bytes where not, the pattern and the special tokens.

import { readFileSync } from "node:fs";
import { need, Refusal, serve, text } from "../javascript/protocol.mjs";

// The library has one decoder for all its encodings, which keeps bytes that a call leaves incomplete. So that no request
// has what is left of the one before, each gets a decoder as it is when the library is new.
const renewals = [];
const NativeDecoder = globalThis.TextDecoder;
globalThis.TextDecoder = class {
  constructor(...options) {
    const renew = () => (this.decoder = new NativeDecoder(...options));
    renew();
    renewals.push(renew);
  }

  decode(...given) {
    return this.decoder.decode(...given);
  }
};

const { ALL_SPECIAL_TOKENS } = await import("gpt-tokenizer/constants");
const { R50K_TOKEN_SPLIT_REGEX } = await import("gpt-tokenizer/encodingParams/constants");
const { GptEncoding } = await import("gpt-tokenizer/GptEncoding");

const library = JSON.parse(readFileSync(new URL("node_modules/gpt-tokenizer/package.json", import.meta.url)));

const hello = {
  name: library.name,
  version: library.version,
  language: "JavaScript",
  formats: ["vocab.tiktoken"],
  encode_fields: ["tokens", "ids"],
  components: ["vocabulary_ids", "model/bpe/ignore_merges"],
  choices: { bpe_pairs: "in_vocabulary", bpe_merge_order: "lowest_rank", unknown_id: "error" },
  unicode: process.versions.unicode,
};

// The characters that stand for the bytes of a token in the fixtures (PRE-BYTE-3).
const isPrinted = (byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
const others = [...Array(256).keys()].filter((byte) => !isPrinted(byte));
const name = (bytes) =>
  String.fromCodePoint(...bytes.map((byte) => (isPrinted(byte) ? byte : 0x100 + others.indexOf(byte))));

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function rawRank(bytes) {
  try {
    return utf8.decode(Uint8Array.from(bytes));
  } catch {
    return bytes;
  }
}

function load({ files, beside }) {
  need(!beside.normalizer, "has no normalizers");
  need(!beside.pre_tokenizer.add_prefix_space, "puts no space before a text");
  const special = new Map(Object.entries(beside.special_tokens ?? {}));
  const [ranks, names] = [[], new Map([...special].map(([token, id]) => [id, token]))];
  for (const line of files["vocab.tiktoken"].split("\n").filter(Boolean)) {
    const [base64, id] = line.split(" ");
    const bytes = [...Buffer.from(base64, "base64")];
    ranks[Number(id)] = rawRank(bytes);
    names.set(Number(id), name(bytes));
  }
  const encoding = new GptEncoding({
    bytePairRankDecoder: ranks,
    tokenSplitRegex: beside.pre_tokenizer.use_regex ? R50K_TOKEN_SPLIT_REGEX : /[^]+/gu,
    specialTokensEncoder: special,
  });
  return { encoding, names, decodes: beside.decoder?.type === "byte_level" };
}

// The library's errors have no type of their own; these say what is a refusal.
const REASONS = {
  "The byte-pair encoding does not contain a value for": "unknown_symbol",
  "is not in the byte pair encoder": "unknown_id",
};

function translated(call) {
  try {
    return call();
  } catch (error) {
    const part = Object.keys(REASONS).find((part) => error.message.includes(part));
    throw part ? new Refusal(REASONS[part], error.message) : error;
  }
}

const operations = {
  encode({ encoding, names }, input) {
    const ids = translated(() => encoding.encode(text(input.text), { allowedSpecial: new Set([ALL_SPECIAL_TOKENS]) }));
    return { tokens: ids.map((id) => names.get(id)), ids };
  },

  decode({ encoding, names, decodes }, input) {
    need(decodes, "decodes bytes, and puts no spaces between tokens");
    const known = new Map([...names].map(([id, token]) => [token, id]));
    const ids = input.ids ?? input.tokens.map((token) => known.get(text(token)));
    need(!ids.includes(undefined), "decodes ids, and a token that is not in the vocabulary has none");
    for (const renew of renewals) renew();
    return { text: translated(() => encoding.decode(ids)) };
  },
};

await serve(hello, load, operations);
