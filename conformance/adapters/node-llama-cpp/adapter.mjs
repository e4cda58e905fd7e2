// An adapter for llama.cpp by the npm package node-llama-cpp; written for version 3.22.1.
//
// A model is a GGUF file without tensors, of which the vocabulary alone is loaded. A token is the entry of the file that
// an id names, written as the fixtures write it. Ids after the model's own are those of tokens that the file needs beside
// them, for unknown characters and their bytes.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getLlama, LlamaText, SpecialTokensText } from "node-llama-cpp";
import { need, serve, text } from "../javascript/protocol.mjs";

const library = JSON.parse(readFileSync(new URL("node_modules/node-llama-cpp/package.json", import.meta.url)));
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "disabled" });

const hello = {
  name: library.name,
  version: library.version,
  language: "JavaScript, C++",
  formats: ["vocab.gguf"],
  reads_file: true,
  encode_fields: ["tokens", "ids"],
  encode_options: ["allowed_special", "add_special_tokens"],
  choices: {
    bpe_unknown_without_token: "dropped_after_merging",
    final_sigma: "plain",
    metaspace_leading_space: "as_put",
    unigram_tie: "earliest_start",
    unigram_unknown: "run",
  },
};

// The token of the fixtures for one of the file.
const NAMES = {
  bert: (token, isOrdinary) =>
    !isOrdinary ? token : token.startsWith("▁") ? token.slice(1) : `##${token}`,
  other: (token) => token,
};

async function load({ files, beside }) {
  const folder = mkdtempSync(join(tmpdir(), "tokspec-"));
  try {
    const modelPath = join(folder, "vocab.gguf");
    writeFileSync(modelPath, Buffer.from(files["vocab.gguf"].base64, "base64"));
    const model = await llama.loadModel({ modelPath, vocabOnly: true });
    const { model: kind, tokens, token_type } = model.fileInfo.metadata.tokenizer.ggml;
    const name = NAMES[kind] ?? NAMES.other;
    return { model, names: tokens.map((token, id) => name(token, token_type[id] === 1)), kind, beside };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const DECODERS = { gpt2: "byte_level", llama: "metaspace", t5: "metaspace", bert: "wordpiece" };

const operations = {
  encode({ model, names }, input) {
    need(input.add_special_tokens !== true, "puts nothing around a text");
    const allowed = input.allowed_special ?? "all";
    need(allowed === "all" || allowed.length === 0, "finds all special tokens in a text or none");
    const ids = [...model.tokenize(text(input.text), allowed === "all")];
    return { tokens: ids.map((id) => names[id]), ids };
  },

  encode_parts({ model }, { parts, add_special_tokens }) {
    need(add_special_tokens === false, "puts nothing around parts");
    need(!parts.some((part) => "ids" in part), "takes texts, and no ids");
    const values = parts.map((part) => (part.trusted ? new SpecialTokensText(text(part.text)) : text(part.text)));
    return { ids: [...LlamaText(values).tokenize(model.tokenizer)] };
  },

  decode({ model, names, kind, beside }, input) {
    need(beside.decoder?.type === DECODERS[kind], `decodes as the model has it, which is ${DECODERS[kind]}`);
    const ids = input.ids ?? input.tokens.map((token) => names.indexOf(text(token)));
    need(!ids.includes(-1), "decodes ids, and a token that is not in the vocabulary has none");
    need(ids.every((id) => id < 2 ** 31), "takes ids of 32 bits");
    return { text: model.detokenize(ids, true) };
  },
};

await serve(hello, load, operations);
