// Answers every request with its input: as little as a program of the protocol can do. With arguments it is the other
// side: a number and a command. It starts the command, asks so often with 64 requests in flight, and prints the seconds.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const hello = { protocol: 1, name: "echo", version: "1", language: "JavaScript", operations: ["normalize"], formats: ["tokspec"] };
const answers = { hello: () => hello, load: () => ({}), bye: () => ({}) };

function answer() {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, op, input } = JSON.parse(line);
    const ok = answers[op]?.() ?? { text: input.text };
    process.stdout.write(`${JSON.stringify({ id, ok })}\n`);
  });
}

function ask(count, [command, ...words]) {
  const program = spawn(command, words, { stdio: ["pipe", "pipe", "inherit"] });
  let [sent, received, start] = [0, 0, 0n];
  const send = (many) => {
    let lines = "";
    for (const end = Math.min(sent + many, count); sent < end; ) {
      sent += 1;
      lines += `${JSON.stringify({ id: sent, op: "normalize", model: "m", input: { text: `text ${sent}` } })}\n`;
    }
    if (lines) program.stdin.write(lines);
  };
  createInterface({ input: program.stdout }).on("line", (line) => {
    const reply = JSON.parse(line);
    if (reply.id === 0) {
      start = process.hrtime.bigint();
      send(64);
      return;
    }
    if (reply.ok.text !== `text ${reply.id}`) throw new Error(line);
    received += 1;
    if (received % 32 === 0) send(32);
    if (received === count) {
      console.log(Number(process.hrtime.bigint() - start) / 1e9);
      program.stdin.end();
    }
  });
  program.stdin.write('{"id":0,"op":"hello","protocol":1}\n');
}

const count = Number(process.argv[2] ?? 0);
if (count) ask(count, process.argv.slice(3));
else answer();
