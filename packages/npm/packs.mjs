// Packs: what a tokenizer made of texts, as a bundle whose one model is the user's (docs/packs.md).

import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { sweepCases } from "./sweep.mjs";

const FOLDER = new URL("packs/", import.meta.url);
const ENDING = ".pack.jsonl";
const OPTIONS = ["pair", "add_special_tokens", "allowed_special"];

/** Read a pack, which is a file or one of the names that come with the package, with the tokenizer.json that it is of. */
export function readPack(pack, model, declared) {
  const named = new URL(pack + ENDING, FOLDER);
  const file = !existsSync(pack) && existsSync(named) ? named : pack;
  if (!existsSync(file)) {
    const names = existsSync(FOLDER) ? readdirSync(FOLDER).map((name) => name.replace(ENDING, "")) : [];
    throw new Error(`${pack} is neither a file nor a pack; there are ${names.join(", ") || "none here"}`);
  }
  const [header, ...rows] = readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  if (header.tokspec_recording !== 2 && header.tokspec_pack !== 1) throw new Error(`${file}:1: is not the header of a pack`);
  const { name = basename(String(file)).replace(/\..*/, ""), files = {} } = header;
  const bytes = readFileSync(model);
  const digests = [header.model?.sha256, ...Object.values(files)];
  const isOf = digests.includes(createHash("sha256").update(bytes).digest("hex"));
  const without = header.sweep ? ", so its sweep is left out" : "";
  if (!isOf) console.error(`${model} is not the file that the pack ${name} was made from${without}`);
  const seen = new Set(); // a line that asks what an earlier one asked counts once
  const isAsked = (row) => "ids" in row && !row.ids.includes(null); // not the footer, nor what was refused
  const isNew = (row) => seen.size < seen.add(JSON.stringify([row.text, ...OPTIONS.map((option) => row[option])])).size;
  const cases = rows.flatMap((row, index) =>
    isAsked(row) && isNew(row) ? casesOf(row, { name, file: String(file), line: index + 2 }, declared) : [],
  );
  if (isOf) cases.push(...sweepCases(header.sweep, { name, file: String(file) }));
  return { cases, models: { "tokenizer.json": { [name]: { content: JSON.parse(bytes) } } } };
}

// A line is encoded, and its ids are decoded. Whoever cannot leave out what is added is taken to add nothing.
function casesOf(row, { name, file, line }, declared) {
  const options = OPTIONS.filter(
    (option) => option in row && (row[option] !== false || declared.includes("add_special_tokens")),
  );
  const take = (keys) => Object.fromEntries(keys.filter((key) => key in row).map((key) => [key, row[key]]));
  const one = (operation, clause, input, expect) => ({
    id: `${name}-${String(line).padStart(4, "0")}-${operation}`,
    ...{ clauses: [clause], why: row.why ?? row.from ?? "", model: name, model_name: name, operation, input, outcome: { expect } },
    ...{ file, line },
  });
  const encoded = one("encode", "ENC-1", { text: row.text, ...take(options) }, take(["ids", "type_ids"]));
  const text = "decoded" in row ? row.decoded : row.text;
  const decoded = text === null ? [] : [one("decode", "DEC-7", { ids: row.ids }, { text })];
  return [{ ...encoded, options }, ...decoded];
}
