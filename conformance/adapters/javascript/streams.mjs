// What adapters for streams share: ids go into a generator that takes them one by one, and gives text when it has some.

// Put all steps into a stream, and the ids of `beside` into another before them; then end it.
export async function endedStream(input, decode) {
  const stream = new Stream(decode);
  const other = new Stream(decode);
  const beside = (input.beside ?? []).values();
  const parts = [];
  for (const step of input.id_steps ?? input.ids.map((id) => [id])) {
    const { value, done } = beside.next();
    if (!done) await other.add([value]);
    parts.push(await stream.add(step));
  }
  return { parts, end: await stream.end() };
}

class Stream {
  #ids = [];
  #ended = false;
  #wake = () => {};
  #text = "";
  #finished;

  constructor(decode) {
    this.#finished = this.#read(decode(this.#source()));
  }

  // The ids, as they come.
  async *#source() {
    for (;;) {
      while (this.#ids.length > 0) yield this.#ids.shift();
      if (this.#ended) return;
      await new Promise((wake) => (this.#wake = wake));
    }
  }

  async #read(texts) {
    for await (const text of texts) this.#text += text;
  }

  // What is given with these ids: all that waits for nothing else has happened when the loop of events comes round.
  async add(ids) {
    this.#ids.push(...ids);
    this.#wake();
    await Promise.race([this.#finished, new Promise((resolve) => setImmediate(resolve))]);
    return this.#taken();
  }

  async end() {
    this.#ended = true;
    this.#wake();
    await this.#finished;
    return this.#taken();
  }

  #taken() {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
