// An adapter between tokspec and a tokenizer: one JSON object a line in, one a line out.
// README.md, beside it, says what to do next.

// Standard output belongs to the protocol; what a library prints goes elsewhere.
console.log = console.info = console.debug = console.error;

// An answer that is no result. spec/09-errors.md lists the reasons; an error of any other class counts as a crash.
class Refusal extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

// A string. What JSON cannot carry, such as a lone surrogate, comes as {"hex": "…"}.
function text(value) {
  if (typeof value === "string") return value;
  throw new Refusal("unsupported", "this adapter takes strings that JSON can carry");
}

const models = new Map(); // what `load` made, by name

function load({ model, format, content }) {
  // Make your tokenizer here, as this function or the operations may be async. This template keeps the model as the
  // suite wrote it. A recipe, with yours in place of Mine:
  //   if (content.type !== "bpe" || content.normalizer) // what it does not have
  //     throw new Refusal("unsupported", "has BPE alone, and no normalizers");
  //   try {
  //     models.set(model, new Mine(content.vocabulary, content.merges));
  //   } catch (error) { // what it rejects; let through what is a fault of its own, and it counts as a crash
  //     throw error instanceof TypeError ? error : new Refusal("invalid_model", error.message);
  //   }
  models.set(model, content);
  return {};
}

// The operations that you offer; spec/10-protocol.md lists what each takes and gives. What is absent is unsupported.
const operations = {
  // Characters as tokens. Put your tokenizer's answer here; `ids` and `spans` may stand beside `tokens`.
  // encode: (model, input) => ({ tokens: Array.from(text(input.text)) }),
};

const hello = {
  protocol: 1,
  name: "mine",
  version: "0.1",
  language: "JavaScript",
  operations: Object.keys(operations),
  formats: ["tokspec"], // or "tokenizer.json", which Hugging Face tokenizers save; the preferred first
  encode_fields: ["tokens"], // add "ids" and "spans" as soon as encode gives them
  choices: {}, // such as bpe_merge_order: "lowest_rank"; spec/08-choices.md has them all
};

const messages = { hello: () => hello, load, bye: () => ({}) };

function perform(request) {
  const op = request?.op;
  if (Object.hasOwn(messages, op)) return messages[op](request);
  if (!Object.hasOwn(operations, op)) throw new Refusal("unsupported", `there is no operation ${op}`);
  if (!models.has(request.model)) throw new Refusal("unsupported", `no model ${request.model} is loaded`);
  return operations[op](models.get(request.model), request.input ?? {});
}

async function answer(line) {
  let request = null;
  try {
    request = JSON.parse(line);
    return { request, ok: await perform(request) };
  } catch (error) {
    const isRefused = error instanceof Refusal || request === null; // null: the line is no JSON
    if (isRefused) return { request, refused: { reason: error.reason ?? "unsupported", message: error.message } };
    return { request, crashed: { message: String(error?.stack ?? error) } };
  }
}

// Lines are cut by hand: node:readline also cuts at U+2028 and U+2029, which JSON allows within a string.
process.stdin.setEncoding("utf8");
let rest = "";
reading: for await (const chunk of process.stdin) {
  const lines = chunk.split("\n");
  lines[0] = rest + lines[0];
  rest = lines.pop();
  for (const line of lines) {
    const { request, ...reply } = await answer(line);
    process.stdout.write(`${JSON.stringify({ id: request?.id ?? null, ...reply })}\n`);
    if (request?.op === "bye") break reading;
  }
}
