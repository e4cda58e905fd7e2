// An adapter for the npm package @huggingface/tokenizers, and an example for whoever writes one for another port.
//
// It speaks the protocol of spec/10-protocol.md: one JSON object a line in, one a line out. The library does the work;
// the adapter only translates. What the library does not offer is refused as "unsupported", what it rejects is refused
// with its reason, and an exception that nobody foresaw ends the program: the suite has to see a crash as a crash.

import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";
import { need, refuseDissents, Refusal } from "./dissents.mjs";

// Standard output belongs to the protocol; whatever a library prints has to go elsewhere.
console.log = console.info = console.debug = console.error;

const library = JSON.parse(readFileSync(new URL("node_modules/@huggingface/tokenizers/package.json", import.meta.url)));
const models = new Map();

// PROTO-2: {"hex": "…"} stands for a string that JSON cannot carry, such as one with a lone surrogate.
function text(value) {
  need(value?.hex === undefined, "this adapter takes no lone surrogates");
  need(typeof value === "string", "a text is a string");
  return value;
}

// The operations that the library offers. Its pre-tokenizers give no spans, so that pre_tokenize is not among them.
const operations = {
  normalize({ tokenizer, content }, input) {
    need(tokenizer.normalizer, "the model has no normalizer to call");
    refuseDissents("normalize", content, text(input.text));
    return { text: tokenizer.normalizer.normalize(text(input.text)) };
  },

  encode({ tokenizer, content }, input) {
    refuseDissents("normalize", content, text(input.text));
    refuseDissents("encode", content, text(input.text), tokenizer);
    const { tokens, ids } = tokenizer.encode(text(input.text), { add_special_tokens: false });
    refuseDissents("answer", content, ids, text(input.text), tokenizer);
    // For an unknown the library returns the characters; the token is the entry of the vocabulary that the id names.
    return { tokens: ids.map((id, i) => tokenizer.id_to_token(id) ?? tokens[i]), ids };
  },

  decode({ tokenizer, content }, input) {
    const tokens = input.tokens?.map(text);
    // Without a vocabulary there is nothing to look up, and the decoder alone is asked.
    const alone = tokens && tokenizer.decoder && tokenizer.get_vocab().size === 0;
    const ids = input.ids ?? tokens?.map((token) => tokenizer.token_to_id(token));
    need(Array.isArray(ids), "decode takes tokens or ids");
    refuseDissents("decode", content, tokens ?? ids.map((id) => tokenizer.id_to_token(id)), !alone);
    if (alone) return { text: tokenizer.decoder(tokens) };
    return { text: tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false }) };
  },
};

const hello = {
  protocol: 1,
  name: library.name,
  version: library.version,
  language: "JavaScript",
  operations: Object.keys(operations),
  formats: ["tokenizer.json"],
  encode_fields: ["tokens", "ids"],
  choices: {
    bpe_merge_order: "lowest_rank",
    bpe_pairs: "listed",
    bpe_unknown_run: "each",
    bpe_unknown_without_token: "dropped_after_merging",
    final_sigma: "contextual",
    metaspace_leading_space: "removed",
    unigram_tie: "earliest_start",
    unigram_unknown: "run",
  },
  unicode: process.versions.unicode,
};

function load({ model, format, content }) {
  need(format === "tokenizer.json", `the library loads tokenizer.json, not ${format}`);
  refuseDissents("load", content);
  try {
    models.set(model, { tokenizer: new Tokenizer(content, {}), content });
  } catch (error) {
    throw new Refusal("unsupported", error.message);
  }
  return {};
}

const messages = { hello: () => hello, load, bye: () => ({}) };

function perform(request) {
  if (Object.hasOwn(messages, request?.op)) return messages[request.op](request);
  need(Object.hasOwn(operations, request?.op), `there is no operation ${request?.op}`);
  need(models.has(request.model), `no model ${request.model} is loaded`);
  return operations[request.op](models.get(request.model), request.input ?? {});
}

// Answer one line; tell whether more may follow. A line that is no JSON is a request that is not understood (PROTO-4).
function answer(line) {
  let request = null;
  let reply;
  try {
    request = JSON.parse(line);
    reply = { ok: perform(request) };
  } catch (error) {
    if (!(error instanceof Refusal || request === null)) throw error;
    reply = { refused: { reason: error.reason ?? "unsupported", message: error.message } };
  }
  process.stdout.write(`${JSON.stringify({ id: request?.id ?? null, ...reply })}\n`);
  return request?.op !== "bye";
}

// Lines are cut by hand: node:readline also cuts at U+2028 and U+2029, which JSON allows within a string.
process.stdin.setEncoding("utf8");
let rest = "";
reading: for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) if (!answer(line)) break reading;
}
