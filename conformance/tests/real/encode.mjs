// Encodes texts with what the packages here have built in: [encoding, [text, …]] comes in, [[id, …], …] goes out.

import { readFileSync } from "node:fs";

const ENCODERS = {
  "gpt-3-encoder": async () => (await import("gpt-3-encoder")).default.encode,
  r50k_base: () => import("gpt-tokenizer/encoding/r50k_base").then(ordinary),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base").then(ordinary),
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base").then(ordinary),
};

// Special tokens are text like any other.
const ordinary = ({ encode }) => (text) => encode(text, { disallowedSpecial: new Set() });

const [encoding, texts] = JSON.parse(readFileSync(0, "utf8"));
const encode = await ENCODERS[encoding]();
console.log(JSON.stringify(texts.map((text) => encode(text))));
