// Known failures: the file that `tokspec run --update-known-failures` writes, and the digest of what was seen.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

// Nothing is seen of the case of a sweep but digests: it is listed by its verdict.
export function isAsListed(entry, verdict, seen) {
  const digest = () => createHash("sha256").update(canonical(seen)).digest("hex").slice(0, 16);
  const today = new Date().toLocaleDateString("sv"); // as 2030-12-31
  return entry.verdict === verdict && (!seen || entry.digest === digest()) && !(entry.expires < today);
}

// A value as Python's json writes it with sorted keys, without spaces, and in ASCII.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (typeof value === "object" && value) {
    const members = Object.keys(value).sort().map((key) => `${canonical(key)}:${canonical(value[key])}`);
    return `{${members}}`;
  }
  if (typeof value === "number" && value && Math.abs(value) < 1e-4)
    return value.toExponential().replace(/e-(\d)$/, "e-0$1");
  const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\x7f-\uffff]/g, escape);
}

/** Read a file: entries by case and, if it lists them, the cases that are unsupported. */
export function readKnownFailures(file) {
  const known = { entries: new Map(), unsupported: null };
  let [entry, isOfFaults] = [{}, false]; // no case shows what stands under faults
  const inLines = (_, inner) => `  - ${inner.replace(/("(?:[^"\\]|\\.)*"), (?=\w+: )/g, "$1\n    ")}`;
  const text = file ? readFileSync(file, "utf8").replace(/^ {2}- \{(.+)\}$/gm, inLines) : "";
  for (const line of text.split(/\r?\n/)) {
    const [, dash, key, written] = /^ {2}(-| ) (?:(\w+): )?(.+)$/.exec(line) ?? [];
    const value = written?.startsWith('"') ? JSON.parse(written) : written;
    if (dash === "-") entry = {};
    const [, heading] = /^(known_failures|unsupported|faults):( \[\])?$/.exec(line) ?? [];
    if (heading) isOfFaults = heading === "faults";
    if (heading === "unsupported") known.unsupported = new Set();
    else if (isOfFaults) continue;
    else if (key) entry[key] = value;
    else if (dash === "-" && known.unsupported) known.unsupported.add(value);
    else if (!/^( *#.*|known_failures:( \[\])?|)$/.test(line))
      throw new Error(`${file}: tokspec run --update-known-failures does not write such a line: ${line}`);
    if (key === "case") known.entries.set(value, entry);
  }
  return known;
}
