// What adapters of byte-level BPE by ranks share: the format vocab.tiktoken, and the names of tokens.

import { readFileSync } from "node:fs";
import { need, Refusal, text } from "./protocol.mjs";

// The hello of a library that lies in the node_modules beside an adapter (its import.meta.url).
export function helloOf(adapter, name, more) {
  const library = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, adapter)));
  return {
    name: library.name,
    version: library.version,
    language: "JavaScript",
    formats: ["vocab.tiktoken"],
    encode_fields: ["tokens", "ids"],
    encode_options: ["allowed_special", "disallowed_special"],
    components: ["vocabulary_ids", "model/bpe/ignore_merges", "added_tokens/content", "added_tokens/id"],
    unicode: process.versions.unicode,
    ...more,
  };
}

// The pattern of GPT-2, as tiktoken's encoding gpt2 has it, and that of a text which is not cut.
export const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const WHOLE = String.raw`[\s\S]+`;

// The characters that stand for the bytes of a token in the fixtures (PRE-BYTE-3).
const isPrinted = (byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
const others = [...Array(256).keys()].filter((byte) => !isPrinted(byte));
const name = (bytes) =>
  String.fromCodePoint(...[...bytes].map((byte) => (isPrinted(byte) ? byte : 0x100 + others.indexOf(byte))));

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The text of a token, or its bytes where they are not UTF-8.
export function textOrBytes(bytes) {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes;
  }
}

// Take the content of the format apart: ranks as [base64, bytes, id], special tokens as an object, the pattern, and the
// names of ids.
export function readRanks({ files, beside }) {
  need(!beside.normalizer, "has no normalizers");
  need(!beside.pre_tokenizer?.add_prefix_space, "puts no space before a text");
  const special = { ...beside.special_tokens };
  const ranks = files["vocab.tiktoken"]
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" "))
    .map(([base64, id]) => [base64, Uint8Array.from(Buffer.from(base64, "base64")), Number(id)]);
  // An added token is a special one; one without an id is in the vocabulary.
  for (const { content, id } of beside.added_tokens ?? []) {
    special[content] = id ?? ranks.find(([, bytes]) => name(bytes) === content)[2];
  }
  const names = new Map(Object.entries(special).map(([token, id]) => [id, token]));
  for (const [, bytes, id] of ranks) names.set(id, name(bytes));
  // A user's own file has a pattern, which says that bytes are decoded too.
  const pattern = beside.pattern ?? (beside.pre_tokenizer.use_regex ? GPT2 : WHOLE);
  const decodes = "pattern" in beside || beside.decoder?.type === "byte_level";
  return { ranks, special, pattern, names, decodes };
}

// Refuse the pattern of a user's own file that JavaScript does not read, such as one with possessive repetitions.
export function needPattern(pattern) {
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    need(false, `does not read the pattern: ${error.message}`);
  }
}

// The special tokens that a request allows and disallows: "all", or a list.
export function specialOf(input) {
  const read = (value) => (value === "all" ? value : value.map(text));
  return { allowed: read(input.allowed_special ?? "all"), disallowed: read(input.disallowed_special ?? []) };
}

// Encode, and refuse a text for which the library throws an error with some words in it.
export function unlessDisallowed(words, encode) {
  try {
    return encode();
  } catch (error) {
    // an error of WebAssembly is a string
    const message = String(error?.message ?? error);
    throw message.includes(words) ? new Refusal("invalid_input", message) : error;
  }
}

// The ids that are to be decoded.
export function idsOf({ names, decodes }, input) {
  need(decodes, "decodes bytes, and puts no spaces between tokens");
  const known = input.ids ? undefined : new Map([...names].map(([id, token]) => [token, id]));
  const ids = input.ids ?? input.tokens.map((token) => known.get(text(token)));
  need(!ids.includes(undefined), "decodes ids, and a token that is not in the vocabulary has none");
  return ids;
}
