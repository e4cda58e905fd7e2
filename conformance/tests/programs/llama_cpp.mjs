// Reads a list of [file, text] and prints the ids that llama.cpp gives for each; it loads the vocabulary alone.
import fs from "fs";
import { getLlama } from "node-llama-cpp";

const asked = JSON.parse(fs.readFileSync(0, "utf8"));
const llama = await getLlama({ gpu: false, build: "never", logLevel: "disabled" });
const answers = [];
for (const [file, text] of asked) {
  const model = await llama.loadModel({ modelPath: file, vocabOnly: true });
  answers.push(Array.from(model.tokenize(text, true)));
  await model.dispose();
}
console.log(JSON.stringify(answers));
process.exit(0);
