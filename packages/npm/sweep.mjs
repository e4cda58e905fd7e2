// Sweeps: every entry of a vocabulary is asked, and the answers of each 64 are compared by a digest (docs/packs.md).

const BLOCK = 64;
const LEFT_OUT = "....";
const PARTS = { texts: ["decode", "DEC-7"], ids: ["encode", "ENC-1"], pairs: ["encode", "ENC-1"] };

/** Return the cases of a sweep, one for each part of each block on which its makers agree. */
export function sweepCases(sweep, { name, file }) {
  if (!sweep) return [];
  const blocks = [...Array(Math.ceil(sweep.size / BLOCK)).keys()];
  return Object.entries(PARTS).flatMap(([part, [operation, clause]]) =>
    blocks
      .filter((block) => digestDue(sweep, part, block) !== LEFT_OUT && digestDue(sweep, part, block) !== fnv([]))
      .map((block) => ({
        id: `${name}-${part}-${String(block).padStart(4, "0")}`,
        ...{ clauses: [clause], why: `the ids ${idsOf(sweep, block)[0]} to ${idsOf(sweep, block).at(-1)}` },
        ...{ model: name, model_name: name, operation, options: [], input: {}, sweep: { ...sweep, part, block } },
        ...{ file, line: 1 },
      })),
  );
}

/**
 * Make a function that judges such cases by the replies of `ask(operation, input)`, each `{ok}`, `{refused}` or
 * `{crashed}`. `canAdd` is whether the tokenizer knows `add_special_tokens`.
 */
export function makeSweeper(ask, canAdd) {
  const texts = new Map();

  // What an id alone is decoded to; nothing where that is no text of the sweep.
  function textOf(id) {
    if (!texts.has(id)) texts.set(id, ask("decode", { ids: [id] }).then(({ ok }) => usable(ok?.text)));
    return texts.get(id);
  }

  const right = new Map(); // whether the texts of a block are those that are due
  function hasRightTexts(sweep, block) {
    if (!right.has(block))
      right.set(block, blockTexts(sweep, block).then((found) => digestOfTexts(found) === digestDue(sweep, "texts", block)));
    return right.get(block);
  }

  async function blockTexts(sweep, block) {
    const found = await Promise.all(idsOf(sweep, block).map(textOf));
    return found.filter((text) => text !== "");
  }

  return async ({ sweep }) => {
    const { part, block, size, step } = sweep;
    if (part === "texts") {
      const found = await blockTexts(sweep, block);
      return compared(sweep, digestOfTexts(found), found.map((text) => JSON.stringify(text)));
    }
    const partner = (id) => Number((BigInt(id) * BigInt(step)) % BigInt(size));
    const ids = idsOf(sweep, block);
    const blocks = part === "pairs" ? ids.map((id) => Math.floor(partner(id) / BLOCK)) : [];
    for (const each of new Set([block, ...blocks]))
      if (!(await hasRightTexts(sweep, each)))
        return { verdict: "unsupported", detail: `the texts of block ${each} are wrong, so nothing tells these ids` };
    const [encoded, shown] = [[], []];
    for (const id of ids) {
      const [one, other] = [await textOf(id), part === "pairs" ? await textOf(partner(id)) : ""];
      if (!one || (part === "pairs" && !other)) continue;
      const options = canAdd && sweep.add_special_tokens === false ? { add_special_tokens: false } : {};
      const reply = await ask("encode", { text: one + other, ...options });
      if (!("ok" in reply)) return { ...refusedOr(reply), detail: `${JSON.stringify(one + other)}: ${said(reply)}` };
      encoded.push(reply.ok.ids ?? []);
      shown.push(`${JSON.stringify(one + other)} ${JSON.stringify(reply.ok.ids)}`);
    }
    return compared(sweep, fnv(encoded.flatMap((each) => [...each.flatMap(bytesOf), 255, 255, 255, 255])), shown);
  };
}

const said = ({ refused, crashed }) => refused?.message ?? crashed;
const refusedOr = ({ refused }) => ({ verdict: !refused ? "crash" : refused.reason === "unsupported" ? "unsupported" : "error" });
const digestDue = (sweep, part, block) => sweep[part].slice(4 * block, 4 * block + 4);
const bytesOf = (id) => [id & 255, (id >>> 8) & 255, (id >>> 16) & 255, id >>> 24];
const digestOfTexts = (texts) => fnv(texts.flatMap((text) => [...Buffer.from(text), 0]));

// The low 16 bits of FNV-1a in 32 bits; Math.imul multiplies as C does.
function fnv(bytes) {
  const value = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  return (value & 0xffff).toString(16).padStart(4, "0");
}

function idsOf({ size }, block) {
  return Array.from({ length: Math.min(BLOCK, size - block * BLOCK) }, (_, index) => block * BLOCK + index);
}

function usable(text) {
  return typeof text === "string" && !text.includes("\ufffd") && text.isWellFormed() ? text : "";
}

function compared(sweep, digest, shown) {
  const due = digestDue(sweep, sweep.part, sweep.block);
  const detail = `the digest ${digest} of these is not ${due}: ${shown.join(", ")}`;
  return digest === due ? { verdict: "pass", detail: "" } : { verdict: "fail", detail };
}
