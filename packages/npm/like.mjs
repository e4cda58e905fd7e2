// Origins: libraries that formats come from. A tokenizer that wants to equal one may answer as it does (docs/cases.md).

import { comparable, comparablePieces, convertSpans, difference } from "./compare.mjs";

/** Find the origin that `hello` names, with its answers by the id of a case or of a row. */
export function findOrigin(name, origins) {
  if (!name) return { choices: {}, answers: new Map() };
  const found = origins.find(({ origin }) => origin === name);
  const known = origins.map(({ origin }) => origin).join(", ");
  if (!found) throw new Error(`like: ${name} is not an origin; there are ${known}`);
  const { offset_unit: _, ...choices } = found.choices;
  const all = found.answers.flatMap(({ reason, cases }) =>
    Object.entries(cases).map(([id, answer]) => [id, { reason: `as ${name} ${found.version}: ${reason}`, answer }]),
  );
  return { name: `${name} ${found.version}`, choices, answers: new Map(all) };
}

/** The reason of a known failure, which may be that of an origin. */
export function reasonOf(entry, origins) {
  if (!entry.like) return entry.reason;
  const { name, answers } = findOrigin(entry.like, origins);
  const found = [...answers].find(([id]) => id.split("#")[0] === entry.case);
  if (!found) throw new Error(`${name} answers ${entry.case} as specified; give the reason instead`);
  return found[1].reason;
}

/** Whether a reply that is not as specified is an origin's. Where the origin crashes, a refusal is as good. */
export function isLike({ fault, refused, result }, one, reply, outcome, fields, unit) {
  if (fault) return "refused" in reply || ("crashed" in reply && fault === "crash");
  if (refused) return reply.refused?.reason === refused;
  if (!reply.ok || typeof reply.ok !== "object") return false;
  let right = convertSpans({ ...(outcome.one_of?.[0] ?? outcome.expect), ...result }, one.input, unit);
  let given = reply.ok;
  if (outcome.error) given = Object.fromEntries(Object.entries(given).filter(([key]) => key in right));
  if (["encode", "encode_batch"].includes(one.operation)) [right, given] = comparable(right, given, fields, new Set());
  else [right, given] = comparablePieces(right, given);
  const tolerance = one.tolerance ?? { relative: 1e-9, absolute: 1e-9 };
  return Object.keys(given).length > 0 && !difference(right, given, tolerance);
}
