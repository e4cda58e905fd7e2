// Known failures: the file that `tokspec run --update-known-failures` writes, and the digest of what was seen.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export function isAsListed(entry, verdict, seen) {
  const digest = createHash("sha256").update(canonical(seen)).digest("hex").slice(0, 16);
  const today = new Date().toISOString().slice(0, 10);
  return entry.verdict === verdict && entry.digest === digest && !(entry.expires < today);
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

/** Read the entries of a file by case. */
export function readKnownFailures(file) {
  const entries = [];
  readFileSync(file, "utf8").split(/\r?\n/).forEach((line, index) => {
    const [, dash, key, value] = /^ {2}(-| ) (\w+): (.+)$/.exec(line) ?? [];
    if (dash === "-") entries.push({});
    if (key && entries.length) entries.at(-1)[key] = value.startsWith('"') ? JSON.parse(value) : value;
    else if (!/^(#.*|known_failures:( \[\])?|)$/.test(line))
      throw new Error(`${file}:${index + 1}: is not a line as tokspec run --update-known-failures writes it`);
  });
  return new Map(entries.map((entry) => [entry.case, entry]));
}
