// A small tokenizer that misbehaves in the way its first argument names; misbehave.py is the same in Python, with the
// same names. What only one of the two can do, only one of them does.

import { spawn } from "node:child_process";
import { existsSync, writeFileSync, writeSync } from "node:fs";

const [mode = "good", argument = ""] = process.argv.slice(2);
const hello = {
  protocol: 1,
  name: "misbehaving",
  version: "1",
  language: "JavaScript",
  operations: ["encode", "normalize"],
  formats: ["tokspec"],
  encode_fields: ["tokens", "ids", "spans"],
};
const MEGABYTE = 1024 * 1024;

class Refused extends Error {
  constructor(reason, message = "") {
    super(message);
    this.reason = reason;
  }
}

function load({ vocabulary = [], merges = [], ...rest }) {
  for (const [left, right] of merges) {
    if (![left, right, left + right].every((token) => vocabulary.includes(token))) throw new Refused("invalid_model");
  }
  return { ...rest, vocabulary, merges };
}

function encode({ vocabulary, merges, unknown_token: unknown }, text) {
  const pieces = [...text].map((symbol, place) => [symbol, place, place + 1]);
  for (const [left, right] of merges) {
    for (let place = 0; place + 1 < pieces.length; place++) {
      const [[first, start], [second, , end]] = pieces.slice(place, place + 2);
      if (first === left && second === right) pieces.splice(place, 2, [left + right, start, end]);
    }
  }
  const tokens = pieces.map(([token]) => (vocabulary.includes(token) ? token : unknown));
  if (!tokens.every((token) => vocabulary.includes(token))) throw new Refused("unknown_symbol");
  const spans = pieces.map(([, start, end]) => [start, end]);
  return { tokens, ids: tokens.map((token) => vocabulary.indexOf(token)), spans };
}

function perform(model, { op, input }) {
  return op === "encode" ? encode(model, input.text) : { text: input.text.toLowerCase() };
}

// Writes all of it before it returns, even where the pipe is full: what follows may be the end.
function write(data, stream = 1) {
  let left = Buffer.from(data);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(stream, left));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const reply = ({ id }, keys) => write(JSON.stringify({ id, ...keys }) + "\n");
const kills = (signal) => () => process.kill(process.pid, signal);
const sleep = (seconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000 * seconds);
const ignoresSignal = () => process.on("SIGTERM", () => {});

const exits = (status) => () => {
  write("Traceback (most recent call last):\nno more \x1b[31mmemory\n", 2);
  process.reallyExit(status);
};

function says({ id }) {
  const line = Buffer.from(argument, "hex").toString("latin1");
  write(Buffer.from(line.replaceAll("%d", id) + "\n", "latin1"));
}

// Writes an answer with so many bytes between its opening and its closing, a megabyte at a time.
const answerOfSize = (opening, closing, size) => ({ id }) => {
  write(`{"id": ${id}, "ok": {"tokens": [`);
  for (let written = 0; written < size; written += MEGABYTE) write(opening.repeat(Math.min(size, MEGABYTE)));
  write(closing.repeat(Math.min(size, MEGABYTE)) + "]}}\n");
};

const endless = (line, stream = 1) => () => {
  for (;;) write(line.repeat(10_000), stream);
};

// Answers after the limit, and other requests in the meantime.
function lateBeside(request) {
  ignoresSignal();
  setTimeout(() => reply(request, { ok: { tokens: ["late"] } }), 1200);
}

// Starts a process that holds all three pipes, and lets it run after the end of this one.
const start = (code, options = {}) =>
  spawn(process.execPath, ["-e", code], { stdio: "inherit", ...options });

const starts = (code, options) => (request, result) => {
  start(code, options).on("spawn", () => reply(request, { ok: result }));
};

const diesAfterStarting = (code, options) => () => {
  start(code, options).on("spawn", () => process.reallyExit(4));
};

const SLEEP = "setTimeout(() => {}, 60_000)";
// Takes a gigabyte, so that a suite that does not see it is not the end of the machine that tests it.
const EAT = `const eaten = []; while (eaten.length < 1024) eaten.push(Buffer.alloc(1024 * 1024, 120)); ${SLEEP}`;

// What each mode does with the text "hugs", given its request and the right result.
const bad = {
  exits_0: exits(0),
  exits_3: exits(3),
  killed: kills("SIGKILL"),
  aborts: () => process.abort(),
  stops_itself: kills("SIGSTOP"),
  hangs: () => sleep(60),
  hangs_without_work: () => setTimeout(() => {}, 60_000),
  deaf: () => {
    ignoresSignal();
    setTimeout(() => {}, 60_000);
  },
  late_beside: lateBeside,
  drips: () => setInterval(() => write(" "), 50),
  says,
  throws: () => {
    throw new TypeError("no \x1b[31mtokens");
  },
  rejects: () => Promise.reject(new Error("no promise")),
  overflows: function overflow() {
    return overflow() + 1;
  },
  half_line: ({ id }) => {
    write(`{"id": ${id}, "ok": {"tok`);
    process.reallyExit(0);
  },
  whole_line_without_end: ({ id }) => {
    write(`{"id": ${id}, "ok": {"text": ""}}`);
    process.reallyExit(0);
  },
  line_of_1_gb: answerOfSize("1", "", 1024 * MEGABYTE),
  deep: answerOfSize("[", "]", 100_000),
  wide: answerOfSize("[],", "[]", 700_000),
  endless_line: endless("x"),
  endless_lines: endless("more\n"),
  endless_blank_lines: endless("\n"),
  endless_complaint: endless("complaint\n", 2),
  loud: (request, result) => {
    write("complaint \x1b[2J\xff".repeat(200_000), 2);
    reply(request, { ok: result });
  },
  leaves_a_child: starts(SLEEP),
  leaves_a_child_apart: starts(SLEEP, { detached: true }),
  dies_and_leaves_a_child: diesAfterStarting(SLEEP),
  dies_and_leaves_a_child_apart: diesAfterStarting(SLEEP, { detached: true }),
  eats: () => {
    for (const eaten = []; eaten.length < 1024; ) eaten.push(Buffer.alloc(MEGABYTE, 120));
    sleep(60);
  },
  child_eats: () => start(EAT),
  child_apart_eats: () => start(EAT, { detached: true }),
  refuses: (request) => reply(request, { refused: { reason: "unsupported", message: "not today" } }),
};

// What each mode does instead of saying hello.
const atOnce = {
  exits_at_once: exits(7),
  hangs_at_once: bad.hangs,
  endless_line_at_once: bad.endless_line,
  eats_at_once: bad.eats,
};

// What each mode says of itself that is not as it should be.
const claims = {
  claims_nothing: { operations: [] },
  claims_a_format: { formats: ["spm"] },
  claims_a_choice: { choices: { final_sigma: "maybe" } },
};

const models = new Map();
const before = [];
const loads = () => before.filter((each) => each === "load").length;
const isFirstLife = !existsSync(argument);

// Whether to answer otherwise than usual: for what came before in this life, texts and loads, or in another.
function isOther(text) {
  if (mode === "after_mug") return before.includes("mug");
  if (mode === "after_three_loads") return loads() === 3;
  if (mode === "second_time") return before.includes(text);
  return mode === "second_life" && !isFirstLife;
}

function answer(request, model) {
  let result = perform(model, request);
  const { text } = request.input;
  if (mode === "dies_on_every_case") process.reallyExit(3);
  if (isOther(text)) {
    result = Object.fromEntries(Object.keys(result).map((name) => [name, name === "text" ? "?" : []]));
  }
  if (text === "hugs" && mode in bad) bad[mode](request, result);
  else if (text === "hugs" && mode === "other_choices") exits(3)();
  else reply(request, { ok: result });
  before.push(text);
  if (mode === "dies_after_three" && before.length - loads() === 3) process.reallyExit(6);
}

function loaded(request) {
  if (mode === "dies_on_every_load") process.reallyExit(3);
  if (mode === "refuses_all") throw new Refused("unsupported", "no models yet");
  models.set(request.model, load(request.content));
  before.push("load");
  reply(request, { ok: {} });
}

function handle(request) {
  try {
    if (request.op === "hello") {
      mode in atOnce ? atOnce[mode](request, hello) : reply(request, { ok: hello });
    } else if (request.op === "load") {
      loaded(request);
    } else if (request.op !== "bye") {
      answer(request, models.get(request.model));
    } else if (mode === "ignores_the_end") {
      bad.deaf();
    } else {
      reply(request, { ok: {} });
      process.exit(0);
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    reply(request, { refused: { reason: error.reason, message: error.message } });
  }
}

Object.assign(hello, claims[mode]);
if (mode === "other_choices" && !isFirstLife) hello.choices = { final_sigma: "plain" };
if (argument && mode !== "says") writeFileSync(argument, "life\n", { flag: "a" });

// Those requests that came together are turned around where the answers are to come in another order.
let pending = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  const lines = Buffer.concat([pending, chunk]).toString().split("\n");
  pending = Buffer.from(lines.pop());
  for (const line of mode === "backwards" ? lines.reverse() : lines) handle(JSON.parse(line));
});
