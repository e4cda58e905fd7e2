// An adapter for the npm package llama-tokenizer-js; written for version 1.2.2.
//
// Its class takes a vocabulary, a token a line, and merges as pairs of ids of 16 bits. What else is Llama's it has as
// numbers: the token with the id 0 is the unknown one, and what stands for a space is read at the id 29871, where the
// adapter writes it for each model. A model without an unknown token gets one before all others; told behind the last.

import { readFileSync } from "node:fs";
import { LlamaTokenizer } from "llama-tokenizer-js";
import { need, serve, text } from "../javascript/protocol.mjs";

const library = JSON.parse(readFileSync(new URL("node_modules/llama-tokenizer-js/package.json", import.meta.url)));

const MARK = "▁";
const MARK_ID = 29871;
const NO_UNKNOWN = "<no unknown token>";

const hello = {
  name: library.name,
  version: library.version,
  language: "JavaScript",
  formats: ["tokspec"],
  encode_fields: ["tokens", "ids"],
  components: ["model/bpe/byte_fallback"],
  choices: {
    bpe_merge_order: "lowest_rank",
    bpe_merge_places: "leftmost",
    bpe_pairs: "listed",
    bpe_unknown_run: "each",
    merge_outside_vocabulary: "ignored",
    metaspace_leading_space: "removed",
  },
};

const base64 = (data) => Buffer.from(data).toString("base64");

function load(model) {
  need(model.type === "bpe" && model.vocabulary !== undefined, "knows BPE models with a vocabulary");
  need(!model.normalizer, "has no normalizer");
  const { type, replacement = MARK, prepend_scheme: scheme = "always" } = model.pre_tokenizer ?? {};
  need([undefined, "metaspace"].includes(type), "has ▁ before a text and for spaces, and no other pre-tokenizer");
  need(replacement === MARK && ["always", "never"].includes(scheme), "puts ▁ before a whole text or nowhere");
  const { vocabulary, merges = [], unknown_token: unknown } = model;
  const has = new Set(vocabulary);
  need(!vocabulary.some((token) => /[ \n]/.test(token)), "reads a token a line, and takes a space in one for a border");
  const contradicts = (model.special_tokens ?? []).some((token) => !has.has(token));
  need(!contradicts, "has no special tokens, so that a model cannot contradict itself by one");
  need(unknown === undefined || vocabulary[0] === unknown, "has the unknown token at the id 0");
  const inside = type && (model.pre_tokenizer.split ?? true) && vocabulary.some((token) => token.includes(MARK, 1));
  need(!inside, "cuts no text, and this model has tokens that go beyond a word");
  need(merges.flat().every((token) => has.has(token)), "has merges of ids, and this model merges what has none");
  const names = unknown === undefined ? [NO_UNKNOWN, ...vocabulary] : vocabulary;
  const ids = Uint16Array.from(merges.flat().map((token) => names.indexOf(token)));
  // An empty string stands for Llama's own merges. A merge of a token that no text has is none.
  const data = ids.length ? new Uint8Array(ids.buffer) : Uint8Array.of(0xff, 0xff, 0xff, 0xff);
  const tokenizer = new LlamaTokenizer(base64(names.join("\n")), base64(data));
  tokenizer.vocabById[MARK_ID] = type || decodes(model) ? MARK : " ";
  const first = names.length - vocabulary.length;
  return { model, tokenizer, first, prepends: type !== undefined && scheme === "always" };
}

function decodes({ decoder }) {
  return decoder?.type === "metaspace" && (decoder.replacement ?? MARK) === MARK;
}

const operations = {
  encode({ model, tokenizer, first, prepends }, input) {
    const special = model.special_tokens ?? [];
    need(!special.some((token) => text(input.text).includes(token)), "has no special tokens, and there is one in this text");
    const found = tokenizer.encode(text(input.text), false, prepends);
    const ids = found.map((id) => (id < first ? model.vocabulary.length : id - first));
    return { tokens: found.map((id) => tokenizer.vocabById[id]), ids };
  },

  decode({ model, tokenizer, first }, input) {
    need(decodes(model), "decodes ▁ as a space, whatever the model");
    const ids = input.ids ?? input.tokens.map((token) => model.vocabulary.indexOf(text(token)));
    need(!ids.includes(-1), "decodes ids, and a token that is not in the vocabulary has none");
    const drops = (model.decoder.prepend_scheme ?? "always") !== "never";
    return { text: tokenizer.decode(ids.map((id) => id + first), false, drops) };
  },
};

await serve(hello, load, operations);
