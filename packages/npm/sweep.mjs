// Sweeps: every entry of a vocabulary is asked, and the answers of each 64 are compared by a digest (docs/packs.md).

const BLOCK = 64;
const LEFT_OUT = "....";
const PARTS = {
  texts: ["decode", "DEC-7", (ids) => `each of the ids ${ids}, decoded alone`],
  ids: ["encode", "ENC-1", (ids) => `the texts of the ids ${ids}; most come back as one id`],
  pairs: ["encode", "ENC-1", (ids) => `the texts of the ids ${ids}, each with another after it; most come back as two ids`],
};

/** Return the cases of a sweep, one for each part of each block on which its makers agree. */
export function sweepCases(sweep, { name, file }) {
  if (!sweep) return [];
  const digits = 4 * Math.ceil(sweep.size / BLOCK);
  for (const part of Object.keys(PARTS)) {
    const there = sweep[part]?.length ?? 0;
    if (there !== digits) throw new Error(`${file}:1: sweep.${part} has ${there} digits; ${sweep.size} ids need ${digits}`);
  }
  const blocks = [...Array(Math.ceil(sweep.size / BLOCK)).keys()];
  return Object.entries(PARTS).flatMap(([part, [operation, clause, why]]) =>
    blocks
      .filter((block) => digestDue(sweep, part, block) !== LEFT_OUT && hasTexts(sweep, block))
      .map((block) => ({
        id: `${name}-${part}-${String(block).padStart(4, "0")}`,
        ...{ clauses: [clause], why: why(`${idsOf(sweep, block)[0]} to ${idsOf(sweep, block).at(-1)}`) },
        ...{ model: name, model_name: name, operation, options: [], input: {}, sweep: { ...sweep, part, block } },
        ...{ file, line: 1 },
      })),
  );
}

/**
 * Make a function that judges such cases by the replies of `ask(one, operation, input)`, each `{ok}`, `{refused}` or
 * `{crashed}`. `judgeFailure` gives the verdict and the detail of one that is not `{ok}`.
 */
export function makeSweeper({ encode_fields: fields = [], encode_options: options = [] }, ask, judgeFailure) {
  const decoded = new Map();

  // What each id of a block alone is decoded to, empty where that is not a text of the sweep. One id after the other, so
  // that the model is loaded once.
  async function decodeBlock(one, block) {
    if (decoded.has(block)) return decoded.get(block);
    const replies = [];
    for (const id of idsOf(one.sweep, block)) replies.push(await ask(one, "decode", { ids: [id] }));
    const texts = replies.map(({ ok }) => usable(ok?.text));
    const isRight = digestOfTexts(texts) === digestDue(one.sweep, "texts", block);
    decoded.set(block, { texts, isRight, first: replies[0] });
    return decoded.get(block);
  }

  // The texts that a case encodes, or a block that they are of and whose texts are wrong.
  async function textsOf(one) {
    const { part, block, size, step } = one.sweep;
    const { texts, isRight } = await decodeBlock(one, block);
    if (!isRight) return { wrong: block };
    if (part === "ids") return { texts: texts.filter((text) => text) };
    const pairs = [];
    for (const [index, text] of texts.entries()) {
      if (!text) continue;
      const partner = Number((BigInt(block * BLOCK + index) * BigInt(step)) % BigInt(size));
      const other = await decodeBlock(one, Math.floor(partner / BLOCK));
      if (!other.isRight) return { wrong: Math.floor(partner / BLOCK) };
      if (other.texts[partner % BLOCK]) pairs.push(text + other.texts[partner % BLOCK]);
    }
    return { texts: pairs };
  }

  return async (one) => {
    const { part, block, add_special_tokens } = one.sweep;
    if (part === "texts") {
      const { texts, first } = await decodeBlock(one, block);
      const shown = texts.flatMap((text, index) => (text ? [`${block * BLOCK + index} ${JSON.stringify(text)}`] : []));
      if (!shown.length && !("ok" in first)) return judgeFailure(one, first);
      return compared(one.sweep, digestOfTexts(texts), shown);
    }
    if (!fields.includes("ids")) return ["unsupported", "gives no ids"];
    const { texts, wrong } = await textsOf(one);
    if (!texts) return ["unsupported", `the texts of block ${wrong} are wrong or not decoded, so these ids cannot be judged`];
    const takesOption = add_special_tokens !== undefined && options.includes("add_special_tokens");
    const [encoded, shown] = [[], []];
    for (const text of texts) {
      const reply = await ask(one, "encode", { text, ...(takesOption && { add_special_tokens }) });
      if (!("ok" in reply)) {
        const [verdict, detail] = judgeFailure(one, reply);
        return [verdict, `${JSON.stringify(text)}: ${detail}`];
      }
      const ids = Array.isArray(reply.ok.ids) ? reply.ok.ids : [];
      encoded.push(...[...ids.map((id) => (Number.isInteger(id) ? id : -1)), -1].flatMap(bytesOf));
      shown.push(`${JSON.stringify(text)} ${JSON.stringify(reply.ok.ids)}`);
    }
    return compared(one.sweep, fnv(encoded), shown);
  };
}

const digestDue = (sweep, part, block) => sweep[part].slice(4 * block, 4 * block + 4);
// The digest of one part may be that of nothing by chance.
const hasTexts = (sweep, block) => Object.keys(PARTS).some((part) => digestDue(sweep, part, block) !== fnv([]));
const bytesOf = (id) => [id & 255, (id >>> 8) & 255, (id >>> 16) & 255, id >>> 24];
const digestOfTexts = (texts) => fnv(texts.filter((text) => text).flatMap((text) => [...Buffer.from(text), 0]));

// 16 bits of FNV-1a in 32 bits, the upper half xor the lower one; Math.imul multiplies as C does.
function fnv(bytes) {
  const value = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  return ((value >>> 16) ^ (value & 0xffff)).toString(16).padStart(4, "0");
}

function idsOf({ size }, block) {
  return Array.from({ length: Math.min(BLOCK, size - block * BLOCK) }, (_, index) => block * BLOCK + index);
}

function usable(text) {
  return typeof text === "string" && !text.includes("\ufffd") && text.isWellFormed() ? text : "";
}

function compared(sweep, digest, shown) {
  const due = digestDue(sweep, sweep.part, sweep.block);
  return digest === due ? ["pass", ""] : ["fail", `the digest ${digest} of these is not ${due}: ${shown.join(", ")}`];
}
