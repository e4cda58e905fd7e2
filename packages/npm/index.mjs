// Judges a tokenizer by the cases of the tokspec suite, each as a test of node:test. docs/cases.md describes the cases.

import { readFileSync } from "node:fs";
import test, { after } from "node:test";
import { comparable, comparablePieces, convertSpans, difference } from "./compare.mjs";
import { isAsListed, readKnownFailures } from "./known.mjs";
import { findOrigin, isLike, reasonOf } from "./like.mjs";
import { readPack } from "./packs.mjs";
import { makeSweeper } from "./sweep.mjs";
export const bundle = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));

const NOTHING = "no case passed, and a run that shows nothing is not a pass";
const TRAINING = ["train", "training_trace", "training_state", "best_pair", "prune_step"];
const AS_ORIGIN = "as the origin";
const CONFORMING = ["pass", AS_ORIGIN, "unsupported"];
const SEVERITY = ["crash", "error", "fail", AS_ORIGIN, "unsupported", "pass"];

// A text on one line of a terminal or a log, in which nothing can move a cursor, hide or give a command.
const HIDDEN = /[^ \p{L}\p{N}\p{P}\p{S}]|[\u115f\u1160\u3164\uffa0\u2800]/gu;
const visible = (text) => String(text).replace(HIDDEN, (each) => `\\u{${each.codePointAt(0).toString(16)}}`);
const unsupported = (message) => ({ refused: { reason: "unsupported", message } });

// To node --test a file whose process ends with status 0 has passed, whatever was judged. So an implementation that ends
// the process fails the tests: while it is imported, if it is imported after this module, and until all is judged.
let expected = process.env.NODE_TEST_CONTEXT ? "register()" : "";
process.on("beforeExit", () => (expected = expected === "register()" ? "" : expected)); // an end that nobody called for
const isTooEarly = (status) => {
  if (status || !expected) return false;
  console.error(`tokspec: the process was ended with status 0 before ${expected}; nothing judged is not a pass`);
  expected = "";
  return true;
};
process.on("exit", (status) => {
  if (isTooEarly(status)) process.exitCode = 1;
});
// What process.exit() calls in the end; called by itself, it emits no event.
const { reallyExit } = process;
process.reallyExit = (status) => reallyExit.call(process, isTooEarly(status) ? 1 : status);

/**
 * Register a test for each case that `select` takes. `knownFailures` is a file that `tokspec run` wrote. With a `pack`,
 * a file or a name, its lines are the cases, and `model` is the tokenizer.json that it is of.
 */
export function register(adapter, { pack, model, knownFailures, select = () => true } = {}) {
  if (pack !== undefined && !String(pack).trim()) throw new Error("the pack is blank; name one, or leave it out");
  const known = readKnownFailures(knownFailures);
  const asked = pack ? readPack(pack, model, adapter.hello.encode_options ?? []) : bundle;
  const ids = new Set(asked.cases.map((one) => one.id));
  const stale = [...known.entries.keys(), ...(known.unsupported ?? [])].filter((id) => !ids.has(id));
  const problems = stale.map((id) => `${id} is listed, and is no case`);
  const unknown = Object.keys(adapter.operations).filter((name) => !bundle.operations.includes(name));
  problems.push(...unknown.map((name) => `${name} is not an operation`));
  const judge = makeJudge(adapter, known, asked.models);
  let [count, passed, alike, failed] = [0, 0, 0, 0];
  expected = "all cases were judged";
  after(() => {
    expected = failed || problems.length ? "what failed was told" : "";
    if (!count || passed || failed) return;
    console.error(`tokspec: ${NOTHING}`); // --test-name-pattern may have left out the test that says so
    process.exitCode = 1;
  });
  for (const one of asked.cases.filter(select)) {
    test(one.id, async (t) => {
      const { verdict, detail } = await judge(one);
      count += 1;
      passed += verdict === "pass" || verdict === AS_ORIGIN;
      alike += verdict === AS_ORIGIN;
      if (verdict === AS_ORIGIN) t.diagnostic(detail);
      if (verdict === "unsupported") t.skip(detail);
      if (verdict === "unsupported" && known.entries.has(one.id)) problems.push(`${one.id} is unsupported now`);
      else if (verdict === "unsupported" && known.unsupported?.has(one.id) === false)
        problems.push(`${one.id} is unsupported, and not listed as such`);
      if (verdict === "known failure") t.todo(detail);
      if ([...CONFORMING, "known failure"].includes(verdict)) return;
      failed += 1;
      throw new Error(describe(one, verdict, detail));
    });
  }
  test("the run", (t) => {
    if (alike) t.diagnostic(`${alike} as ${findOrigin(adapter.hello.like, bundle.origins).name}`);
    if (!passed) problems.push(NOTHING);
    if (problems.length) throw new Error(problems.join("\n"));
  });
}

function describe({ clauses, why, model, operation, input, inputs, sweep, file, line }, verdict, detail) {
  if (sweep) return `${verdict}: ${detail}\n  ${clauses[0]}: ${why}`;
  const asked = visible(JSON.stringify({ model, operation, input, inputs }).slice(0, 2000));
  return `${verdict}: ${detail}\n  ${clauses[0]}: ${why}\n  asked ${asked}\n  from ${file}:${line}`;
}

/** Make a function that judges a case and returns a verdict with a detail. `known` is what is known to fail. */
export function makeJudge({ hello, load, operations }, known = readKnownFailures(), written = bundle.models) {
  const origin = findOrigin(hello.like, bundle.origins);
  const choices = Object.fromEntries(bundle.choices.map((choice) => [choice.name, choice.default]));
  Object.assign(choices, origin.choices);
  for (const [name, option] of Object.entries(hello.choices ?? {})) {
    if (!bundle.choices.some((choice) => choice.name === name && Object.hasOwn(choice.options, option)))
      throw new Error(`hello declares ${name}=${option}, which is no choice`);
    choices[name] = option;
  }
  const models = new Map();

  function findUndeclared({ components = [] }) {
    return components.filter((name) => !hello.components?.some((each) => `${name}/`.startsWith(`${each}/`)));
  }

  function findUnoffered(one) {
    const { operation, model, options = [] } = one;
    if (!Object.hasOwn(operations, operation)) return `does not offer ${operation}`;
    if (TRAINING.includes(operation) && Object.hasOwn(hello.other_trainers ?? {}, model.type))
      return `trains ${model.type} by another algorithm: ${hello.other_trainers[model.type]}`;
    const declared = [...(hello.encode_options ?? []), ...(hello.decode_options ?? [])];
    const unknown = options.filter((name) => !declared.includes(name));
    if (!hello.reads_file) unknown.push(...findUndeclared(one));
    return unknown.length ? `does not know ${unknown.join(", ")}` : "";
  }

  // A library that reads files gets what it does not declare too, but for the form that is no library's file. If it
  // refuses that, it is unsupported.
  async function loadModel(one) {
    const none = { unsupported: "no models in this format are here" };
    const unknown = findUndeclared(one);
    const models = hello.formats.map((format) =>
      unknown.length && format === "tokspec"
        ? { unsupported: `does not know ${unknown.join(", ")}` }
        : (written[format]?.[one.model_name] ?? none),
    );
    const first = models.findIndex((model) => "content" in model);
    if (first < 0) return unsupported(models.map((model) => model.unsupported).join("; "));
    const reply = await attempt(() => load(structuredClone(models[first].content), hello.formats[first]));
    const isUndeclared = "refused" in reply && unknown.length && hello.formats[first] !== "tokspec";
    return isUndeclared ? unsupported(reply.refused.message) : { ...reply, format: hello.formats[first] };
  }

  async function ask(one) {
    const reason = findUnoffered(one);
    if (reason) return unsupported(reason);
    if (!models.has(one.model_name)) models.set(one.model_name, await loadModel(one));
    const model = models.get(one.model_name);
    if (!("ok" in model)) return model;
    const limit = one.limits?.[model.format]; // the file says something else about this input than the model
    if (limit) return unsupported(limit);
    const result = () => operations[one.operation](model.ok, structuredClone(one.input));
    return attempt(async () => JSON.parse(JSON.stringify(await result()))); // as JSON carries it: NaN is null
  }

  // Whether a library that reads files refused a model of which it declares every component.
  function refusesDeclared(one) {
    const isRefused = "refused" in (models.get(one.model_name) ?? {}) && !findUnoffered(one);
    return Boolean(hello.reads_file) && isRefused && one.components?.length > 0 && !findUndeclared(one).length;
  }

  // A model refused though all its components are declared is unsupported, or an error. tokspec run tells which by
  // asking without them; here it is an error where the known failures list one.
  async function judgeQuestion(question, id = question.id) {
    const reply = await ask(question);
    const [fields, outcome] = [hello.encode_fields ?? ["tokens"], resolve(question.outcome, choices)];
    let [verdict, detail] = judgeReply(question, reply, outcome, fields, choices.offset_unit);
    const like = CONFORMING.includes(verdict) ? undefined : origin.answers.get(id);
    if (like && isLike(like.answer, question, reply, outcome, fields, choices.offset_unit))
      [verdict, detail] = [AS_ORIGIN, like.reason];
    if (verdict === "unsupported" && known.entries.get(question.id)?.verdict === "error" && refusesDeclared(question))
      verdict = "error";
    return { verdict, detail: visible(detail), seen: [verdict, reply.ok ?? (reply.refused ? reply.refused.reason : "crash")] };
  }

  // A table comes to the worst of its rows, and is listed by all that fail.
  async function judgeTable(one) {
    const rows = [];
    for (const [index, row] of one.inputs.entries())
      rows.push([await judgeQuestion({ ...one, ...row }, `${one.id}#${index + 1}`), index + 1]);
    const failing = rows.filter(([{ verdict }]) => !CONFORMING.includes(verdict));
    const [worst, row] = rows.toSorted(([one], [two]) => SEVERITY.indexOf(one.verdict) - SEVERITY.indexOf(two.verdict))[0];
    const seen = failing.length ? failing.map(([result, number]) => [number, ...result.seen]) : worst.seen;
    return { verdict: worst.verdict, detail: worst.detail && `row ${row}: ${worst.detail}`, seen };
  }

  const sweep = makeSweeper(
    hello,
    (one, operation, input) => ask({ ...one, operation, input }),
    (one, reply) => judgeReply(one, reply, {}),
  );

  async function judgeSweep(one) {
    const [verdict, detail] = await sweep(one);
    return { verdict, detail: visible(detail) };
  }

  return async (one) => {
    const judgeOne = one.sweep ? judgeSweep : one.inputs ? judgeTable : judgeQuestion;
    const { verdict, detail, seen } = await judgeOne(one);
    const entry = known.entries.get(one.id);
    if (["pass", AS_ORIGIN].includes(verdict) && (entry || known.unsupported?.has(one.id)))
      return { verdict: "unexpected pass", detail: "passes, and is listed as if it did not" };
    if (!entry || verdict === "unsupported") return { verdict, detail };
    if (isAsListed(entry, verdict, seen)) return { verdict: "known failure", detail: visible(reasonOf(entry, bundle.origins)) };
    return { verdict, detail: `${detail} (and not as it is listed)` };
  };
}

// A refusal is an error whose `reason` is one of spec/09-errors.md; any other error is a crash.
async function attempt(call) {
  try {
    return { ok: await call() };
  } catch (error) {
    return describeThrown(error);
  }
}

// What is thrown may itself throw when it is looked at.
function describeThrown(error) {
  try {
    const { reason, message, stack } = Object(error);
    if (bundle.reasons.includes(reason)) return { refused: { reason, message: String(message ?? "") } };
    const lines = String(stack ?? error).split(/\n\s*/);
    return { crashed: lines.filter((line) => !line.includes(import.meta.url)).join(" | ") };
  } catch {
    return { crashed: "what is thrown cannot be shown" };
  }
}

function resolve(outcome, choices) {
  const [name] = Object.keys(outcome.by_choice ?? {});
  return name ? resolve(outcome.by_choice[name][choices[name]], choices) : outcome;
}

function judgeReply(one, reply, outcome, fields, unit) {
  if ("crashed" in reply) return ["crash", reply.crashed];
  const due = outcome.error ? `a refusal as ${outcome.error} is due` : "a result is due";
  if ("refused" in reply) {
    const { reason, message } = reply.refused;
    if (reason === "unsupported") return [reason, message];
    return reason === outcome.error ? ["pass", ""] : ["error", `refused as ${reason} where ${due}: ${message}`];
  }
  if (outcome.error) return ["fail", `answers where ${due}: ${JSON.stringify(reply.ok)}`];
  const seen = new Set();
  const differences = (outcome.one_of ?? [outcome.expect]).map((right) => {
    const wanted = convertSpans(right, one.input, unit);
    const isEncoding = ["encode", "encode_batch"].includes(one.operation);
    if (!isEncoding) seen.add("all");
    const pair = isEncoding ? comparable(wanted, reply.ok, fields, seen) : comparablePieces(wanted, reply.ok);
    return difference(pair[0], pair[1], one.tolerance ?? { relative: 1e-9, absolute: 1e-9 });
  });
  if (!differences.includes("")) return ["fail", `wrong answer: ${differences[0]}`];
  if (seen.lacksSpans) seen.delete("spans"); // not all encodings have them
  if (!seen.size) return ["unsupported", `gives of ${fields.join(", ")} nothing that the case checks`];
  const names = fields.filter((name) => name !== "spans" || !seen.lacksSpans);
  if (one.fields && !one.fields.some((name) => names.includes(name)))
    return ["unsupported", `gives only ${names.join(", ")}, and the case is about ${one.fields.join(" or ")}`];
  return ["pass", ""];
}
