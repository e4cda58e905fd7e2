// Asks published tokenizer libraries for Node by their public interface; a second way beside the adapters.
//
// Reads JSON lines {library, operation, model, written: {FORMAT: content}, input} and answers each with one line:
// {answer}, {error: "Type: message"} where the library throws, or {not_offered: why}.
// A library that ends the process ends this program too. ADAPTERS is the folder in which each has its node_modules.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ADAPTERS = process.env.ADAPTERS;
const GPT2 = "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const CACHED = 32;
const LLAMA_SPACE = 29871; // the id of "▁", written into llama-tokenizer-js

class NotOffered extends Error {}

function need(condition, why) {
  if (!condition) throw new NotOffered(why);
}

const required = (folder, name) => createRequire(`${ADAPTERS}/${folder}/package.json`)(name);
const imported = (folder, path) => import(pathToFileURL(`${ADAPTERS}/${folder}/node_modules/${path}`).href);

// Refuses an input with an option that is not one of these.
function takes(input, ...options) {
  for (const option of ["pair", "add_special_tokens", "allowed_special", "disallowed_special", "skip_special_tokens"]) {
    need(options.includes(option) || !(option in input), `no option ${option}`);
  }
}

function idsOf(input) {
  need("ids" in input, "decodes ids alone");
  return input.ids;
}

// A model in vocab.tiktoken: its lines as [base64, rank], its pattern and its special tokens.
function ranksOf(model, written) {
  need("vocab.tiktoken" in written, "the model is not written as vocab.tiktoken");
  const { files, beside = {} } = written["vocab.tiktoken"];
  const known = ["type", "pre_tokenizer", "decoder", "special_tokens", "added_tokens", "post_processor", "pattern"];
  for (const [key, value] of Object.entries(beside)) need(known.includes(key) || !value, `no place for ${key}`);
  need((beside.post_processor?.type ?? "byte_level") === "byte_level", "no post-processor");
  const special = { ...beside.special_tokens };
  for (const token of beside.added_tokens ?? []) {
    need(token.special ?? true, "no added tokens that are not special");
    need(!(token.normalized || token.lstrip || token.rstrip || token.single_word), "no flags of added tokens");
    special[token.content] = token.id;
  }
  const stage = beside.pre_tokenizer;
  need("pattern" in beside || stage?.type === "byte_level", "no such pre-tokenizer");
  need(!stage?.add_prefix_space, "no prefix space");
  const text = files["vocab.tiktoken"];
  const lines = text.split("\n").filter(Boolean).map((line) => line.split(" "));
  const pattern = beside.pattern ?? ((stage.use_regex ?? true) ? GPT2 : "[\\s\\S]+");
  return { text, ranks: lines.map(([token, rank]) => [token, Number(rank)]), special, pattern };
}

// The text of a token's bytes, or undefined where they are not UTF-8.
function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

// Options of tiktoken's interface; every special token is looked for unless the input says otherwise.
function special(input) {
  takes(input, "allowed_special", "disallowed_special");
  return [input.allowed_special ?? "all", input.disallowed_special ?? []];
}

const huggingface = {
  async make(model, written) {
    need("tokenizer.json" in written, "the model is not written as tokenizer.json");
    const { Tokenizer } = await imported("node", "@huggingface/tokenizers/dist/tokenizers.mjs");
    const cleanup = Boolean(written["tokenizer.json"].decoder?.cleanup);
    return new Tokenizer(written["tokenizer.json"], { clean_up_tokenization_spaces: cleanup });
  },
  encode(made, input) {
    takes(input, "pair", "add_special_tokens");
    const encoding = made.encode(input.text, {
      text_pair: input.pair ?? null,
      add_special_tokens: input.add_special_tokens ?? true,
      return_token_type_ids: true,
    });
    const { tokens, ids, token_type_ids: type_ids, attention_mask } = encoding;
    return { tokens, ids, type_ids, attention_mask };
  },
  decode(made, input) {
    if (!("tokens" in input)) {
      return { text: made.decode(input.ids, { skip_special_tokens: input.skip_special_tokens ?? false }) };
    }
    takes(input);
    need(made.decoder, "decodes tokens by a decoder alone");
    return { text: made.decoder.decode(input.tokens) };
  },
  normalize(made, input) {
    need(made.normalizer, "the tokenizer has no normalizer");
    return { text: made.normalizer.normalize(input.text) };
  },
  pre_tokenize(made, input) {
    need(made.pre_tokenizer, "the tokenizer has no pre-tokenizer");
    return { pieces: made.pre_tokenizer.pre_tokenize(input.text, { section_index: 0 }).map((piece) => [piece]) };
  },
};

const plainDecode = (made, input) => {
  takes(input);
  return { text: made.decode(idsOf(input)) };
};

const tiktokenEncode = (made, input) => ({ ids: [...made.encode(input.text, ...special(input))] });

const jsTiktoken = {
  async make(model, written) {
    const { ranks, special, pattern } = ranksOf(model, written);
    const { Tiktoken } = required("js-tiktoken", "js-tiktoken/lite");
    const lines = ranks.map(([token, rank]) => `! ${rank} ${token}`).join("\n");
    return new Tiktoken({ pat_str: pattern, special_tokens: special, bpe_ranks: lines });
  },
  encode: tiktokenEncode,
  decode: plainDecode,
};

const wasm = {
  async make(model, written) {
    const { text, special, pattern } = ranksOf(model, written);
    const { Tiktoken } = required("tiktoken-wasm", "tiktoken");
    return new Tiktoken(text, special, pattern);
  },
  encode: tiktokenEncode,
  decode(made, input) {
    takes(input);
    return { text: new TextDecoder().decode(made.decode(new Uint32Array(idsOf(input)))) };
  },
  decode_bytes: (made, input) => ({ bytes: Buffer.from(made.decode(new Uint32Array(input.ids))).toString("hex") }),
};

// Its constructor is private to TypeScript; getEncodingApi makes OpenAI's encodings alone.
const gptTokenizer = {
  async make(model, written) {
    const { ranks, special, pattern } = ranksOf(model, written);
    const { GptEncoding } = await imported("gpt-tokenizer", "gpt-tokenizer/esm/GptEncoding.js");
    const decoder = [];
    for (const [token, rank] of ranks) {
      const bytes = Buffer.from(token, "base64");
      decoder[rank] = textOf(bytes) ?? [...bytes];
    }
    return new GptEncoding({
      bytePairRankDecoder: decoder,
      specialTokensEncoder: new Map(Object.entries(special)),
      tokenSplitRegex: new RegExp(pattern, "gu"),
    });
  },
  encode(made, input) {
    const [allowed, disallowed] = special(input).map((choice) => (choice === "all" ? "all" : new Set(choice)));
    return { ids: made.encode(input.text, { allowedSpecial: allowed, disallowedSpecial: disallowed }) };
  },
  decode: plainDecode,
};

const tiktokenizer = {
  async make(model, written) {
    const { ranks, special, pattern } = ranksOf(model, written);
    const { createTokenizer } = required("tiktokenizer", "@microsoft/tiktokenizer");
    const bytes = new Map(ranks.map(([token, rank]) => [new Uint8Array(Buffer.from(token, "base64")), rank]));
    return { made: createTokenizer(bytes, new Map(Object.entries(special)), pattern), all: Object.keys(special) };
  },
  encode({ made, all }, input) {
    const [allowed, disallowed] = special(input);
    need(disallowed.length === 0, "disallows no special token");
    const names = allowed === "all" ? all : allowed;
    // Without special tokens its search for them ends at an empty match again and again.
    return { ids: names.length > 0 ? made.encode(input.text, names) : made.encode(input.text) };
  },
  decode: ({ made }, input) => plainDecode(made, input),
};

const aiTokenizer = {
  async make(model, written) {
    const { ranks, special, pattern } = ranksOf(model, written);
    const { Tokenizer } = required("ai-tokenizer", "ai-tokenizer");
    const data = { name: "raw", pat_str: pattern, special_tokens: special };
    Object.assign(data, { stringEncoder: {}, binaryEncoder: [], decoder: {} });
    for (const [token, rank] of ranks) {
      const bytes = new Uint8Array(Buffer.from(token, "base64"));
      const text = textOf(bytes);
      if (text === undefined) data.binaryEncoder.push([bytes, rank]);
      else data.stringEncoder[text] = rank;
      data.decoder[rank] = text ?? bytes;
    }
    data.binaryEncoder.sort(([left], [right]) => Buffer.compare(left, right));
    return new Tokenizer(data);
  },
  encode: tiktokenEncode,
  decode: plainDecode,
};

// Whether a model puts a space before its text and writes spaces as "▁", as Llama's does.
function precedingSpace(model) {
  const { normalizer, pre_tokenizer: stage } = model;
  if (!normalizer && !stage) return false;
  if (!normalizer && stage.type === "metaspace" && stage.replacement === "▁" && !(stage.split ?? true)) {
    need(stage.prepend_scheme !== "first", "a space before the text, or none");
    return (stage.prepend_scheme ?? "always") === "always";
  }
  const parts = normalizer?.type === "sequence" ? normalizer.normalizers : [normalizer];
  const spaces = (part) => part?.type === "replace" && part.pattern.string === " " && part.content === "▁";
  need(!stage && spaces(parts.at(-1)) && parts.length <= 2, "no such stages before the model");
  need(parts.length === 1 || (parts[0].type === "prepend" && parts[0].prefix === "▁"), "no such normalizer");
  return parts.length === 2;
}

// The vocabulary is filled up to the id that it has for "▁".
const llama = {
  async make(model) {
    need(model.type === "bpe" && model.vocabulary, "encodes by the merges of a bpe model");
    const known = ["type", "vocabulary", "merges", "normalizer", "pre_tokenizer", "decoder", "byte_fallback"];
    known.push("unknown_token", "fuse_unk", "about");
    for (const [key, value] of Object.entries(model)) need(known.includes(key) || !value, `no place for ${key}`);
    const space = precedingSpace(model);
    const [lines, ids] = [[], new Map()];
    for (const [number, entry] of model.vocabulary.entries()) {
      const [token, id] = typeof entry === "string" ? [entry, number] : entry;
      need(id < LLAMA_SPACE && !token.includes("\n"), "such a token does not go into its vocabulary");
      lines[id] = token;
      ids.set(token, id);
    }
    for (let id = 0; id < LLAMA_SPACE; id++) lines[id] ??= `<filler ${id}>`;
    lines[LLAMA_SPACE] = "▁";
    const parts = (model.merges ?? []).flat();
    need(parts.every((token) => ids.has(token)), "merges are pairs of ids");
    const merges = new Uint16Array(parts.map((token) => ids.get(token)));
    const { LlamaTokenizer } = await imported("llama-tokenizer-js", "llama-tokenizer-js/llama-tokenizer.js");
    const vocabulary = Buffer.from(lines.join("\n")).toString("base64");
    // An empty string would mean its own merges: one that never applies stands for none.
    const pairs = merges.length > 0 ? merges : new Uint16Array([LLAMA_SPACE - 1, LLAMA_SPACE - 1]);
    return { made: new LlamaTokenizer(vocabulary, Buffer.from(pairs.buffer).toString("base64")), space };
  },
  encode({ made, space }, input) {
    takes(input);
    return { ids: made.encode(input.text, false, space) };
  },
  decode({ made, space }, input) {
    takes(input);
    return { text: made.decode(idsOf(input), false, space) };
  },
};

// llama.cpp reads a GGUF file from a disk; the vocabulary is all that it has.
let engine;
const llamaCpp = {
  async make(model, written) {
    need("vocab.gguf" in written, "the model is not written as vocab.gguf");
    const { getLlama } = await imported("node-llama-cpp", "node-llama-cpp/dist/index.js");
    engine ??= await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "disabled" });
    const folder = mkdtempSync(join(tmpdir(), "raw-"));
    try {
      const modelPath = join(folder, "vocab.gguf");
      writeFileSync(modelPath, Buffer.from(written["vocab.gguf"].files["vocab.gguf"].base64, "base64"));
      return { made: await engine.loadModel({ modelPath, vocabOnly: true }) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  encode({ made }, input) {
    takes(input);
    return { ids: [...made.tokenize(input.text, true)] };
  },
  decode({ made }, input) {
    takes(input);
    return { text: made.detokenize(idsOf(input), true) };
  },
};

const LIBRARIES = {
  "@huggingface/tokenizers": huggingface,
  "gpt-tokenizer": gptTokenizer,
  "js-tiktoken": jsTiktoken,
  "@microsoft/tiktokenizer": tiktokenizer,
  "ai-tokenizer": aiTokenizer,
  "llama-tokenizer-js": llama,
  "node-llama-cpp": llamaCpp,
  tiktoken: wasm,
};

// The string of UTF-8 in which surrogates are encoded like any other code point.
function fromHex(hex) {
  const bytes = Buffer.from(hex, "hex");
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at++];
    const more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    let point = more === 0 ? first : first & (0x3f >> more);
    for (let left = more; left > 0; left--) point = (point << 6) | (bytes[at++] & 0x3f);
    text += String.fromCodePoint(point);
  }
  return text;
}

function toHex(text) {
  const points = [...text].map((letter) => letter.codePointAt(0));
  const bytes = points.flatMap((point) =>
    point >= 0xd800 && point < 0xe000
      ? [0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f)]
      : [...Buffer.from(String.fromCodePoint(point))],
  );
  return Buffer.from(bytes).toString("hex");
}

// Calls `string` on every string of a value, and `object` on every object.
function walk(value, string, object = () => undefined) {
  if (typeof value === "string") return string(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => walk(item, string, object));
  const entries = Object.entries(value).map(([key, item]) => [key, walk(item, string, object)]);
  return object(value) ?? Object.fromEntries(entries);
}

const isHex = (value) => Object.keys(value).length === 1 && typeof value.hex === "string";
const plain = (value) => walk(value, (text) => text, (item) => (isHex(item) ? fromHex(item.hex) : undefined));
const safe = (value) => walk(value, (text) => (text.isWellFormed() ? text : { hex: toHex(text) }));

const MADE = new Map();

async function ask({ library, operation, model, written, input }) {
  const asked = LIBRARIES[library];
  if (operation === "operations") return { operations: Object.keys(asked).filter((name) => name !== "make") };
  need(operation !== "make" && operation in asked, `no operation ${operation}`);
  const key = `${library} ${JSON.stringify(model)}`;
  const made = MADE.get(key) ?? (await asked.make(plain(model), plain(written)));
  MADE.delete(key);
  MADE.set(key, made);
  if (MADE.size > CACHED) {
    const [oldest, evicted] = MADE.entries().next().value;
    MADE.delete(oldest);
    evicted.free?.(); // of WebAssembly
  }
  return safe(asked[operation](made, plain(input)));
}

async function reply(line) {
  try {
    return { answer: await ask(JSON.parse(line)) };
  } catch (error) {
    if (error instanceof NotOffered) return { not_offered: error.message };
    return { error: `${error?.name ?? typeof error}: ${error?.message ?? error}` };
  }
}

for (const name of ["log", "warn", "error", "info", "debug"]) console[name] = () => {}; // some write into the answers
let rest = Buffer.alloc(0); // readline would end lines at U+2028 too
for await (const chunk of process.stdin) {
  rest = Buffer.concat([rest, chunk]);
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    process.stdout.write(`${JSON.stringify(await reply(rest.toString("utf8", 0, end)))}\n`);
    rest = rest.subarray(end + 1);
  }
}
