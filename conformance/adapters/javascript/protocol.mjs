// What adapters in JavaScript share: the protocol of spec/10-protocol.md, one JSON object a line in, one a line out.

// Standard output belongs to the protocol; whatever a library prints goes elsewhere.
console.log = console.info = console.debug = console.warn = console.error;

export class Refusal extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

// Refuse unless a condition holds.
export function need(condition, message, reason = "unsupported") {
  if (!condition) throw new Refusal(reason, message);
}

// PROTO-2: {"hex": "…"} stands for a string that JSON cannot carry, such as one with a lone surrogate.
export function text(value) {
  need(typeof value === "string", "takes strings, and a lone surrogate stands in none");
  return value;
}

// Serve an implementation: `load` makes a model of a format's content, and each operation takes a model and an input.
export async function serve(hello, load, operations) {
  const models = new Map();
  const many = manyOf(operations);
  const givesIds = hello.encode_fields?.includes("ids") ?? true;
  const together = ["encode", "decode"].filter((op) => Object.hasOwn(operations, op) && (op === "decode" || givesIds));
  const greeting = { protocol: 1, operations: Object.keys(operations), many: together, ...hello };
  const messages = {
    hello: () => greeting,
    load: async ({ model, content }) => (models.set(model, await load(content)), {}),
    bye: () => ({}),
  };

  async function perform({ op, model, input, ...rest }) {
    if (Object.hasOwn(messages, op)) return messages[op]({ model, ...rest });
    const operation = (Object.hasOwn(operations, op) && operations[op]) || (Object.hasOwn(many, op) && many[op]);
    need(operation, `there is no operation ${op}`);
    need(models.has(model), `no model ${model} is loaded`);
    return operation(models.get(model), input ?? {});
  }

  // Lines are cut by hand: node:readline also cuts at U+2028 and U+2029, which JSON allows within a string.
  process.stdin.setEncoding("utf8");
  let rest = "";
  for await (const chunk of process.stdin) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { request, ...outcome } = await reply(line, perform);
      await written(`${JSON.stringify({ id: request?.id ?? null, ...outcome })}\n`);
      if (request?.op === "bye") process.exit(0);
    }
  }
  process.exit(0);
}

// Encode many texts, or decode many lists of ids, in one message; what stands for one that fails is asked alone.
function manyOf({ encode, decode }) {
  const each = (asked, one) => Promise.all(asked.map((value) => answered(value, one)));
  return {
    ...(encode && {
      encode_many: async (model, { texts, ...options }) => ({
        ids: await each(texts, async (text) => (await encode(model, { text, ...options })).ids),
      }),
    }),
    ...(decode && {
      decode_many: async (model, { ids, ...options }) => ({
        texts: await each(ids, async (one) => (await decode(model, { ids: one, ...options })).text),
      }),
    }),
  };
}

// Return what comes of a value, or what a reply would say instead.
async function answered(value, perform) {
  try {
    return await perform(value);
  } catch (error) {
    return failure(error);
  }
}

function failure(error) {
  const { reason = "unsupported", message } = error;
  return error instanceof Refusal ? { refused: { reason, message } } : { crashed: { message: String(error?.stack ?? error) } };
}

// A line that is no request is refused (PROTO-4); what nobody foresaw is a crash, and said to be one (PROTO-5).
async function reply(line, perform) {
  let request = null;
  try {
    request = JSON.parse(line);
    return { request, ok: await perform(request ?? {}) };
  } catch (error) {
    const { message } = error;
    return { request, ...(request === null ? { refused: { reason: "unsupported", message } } : failure(error)) };
  }
}

function written(line) {
  return new Promise((resolve) => process.stdout.write(line, resolve));
}
