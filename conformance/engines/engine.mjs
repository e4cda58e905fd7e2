// Answer searches in JavaScript: see patterns.py for what is asked. The first word of a question is the flags.
import { createInterface } from "node:readline";

const text = (hex) => Buffer.from(hex, "hex").toString();

for await (const line of createInterface({ input: process.stdin })) {
  const [flags, pattern, input] = line.split("\t");
  try {
    const found = [...text(input).matchAll(new RegExp(text(pattern), `g${flags}`))];
    console.log(found.map((match) => `${match.index} ${match.index + match[0].length}`).join(" "));
  } catch (error) {
    console.log(`! ${error.message.split(": ").at(-1)}`);
  }
}
