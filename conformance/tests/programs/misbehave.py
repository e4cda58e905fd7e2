"""A small tokenizer that misbehaves in the way its first argument names; ``misbehave.mjs`` is the same in JavaScript.

It speaks ``spec/10-protocol.md`` with nothing but the standard library, and is right on the cases of
``test_misbehaving`` in all but its misbehaviour. Most modes wait for the text "hugs". The second argument is a line to
write, in hexadecimal, or a file in which a life leaves a trace for the next.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

MODE, ARGUMENT = [*sys.argv[1:], "", ""][:2]
HELLO = {
    "protocol": 1,
    "name": "misbehaving",
    "version": "1",
    "language": "Python",
    "operations": ["encode", "normalize"],
    "formats": ["tokspec"],
    "encode_fields": ["tokens", "ids", "spans"],
}
IS_FIRST_LIFE = not os.path.exists(ARGUMENT)
MEGABYTE = 1024 * 1024


class Refused(Exception):
    """A refusal with a reason and perhaps a message."""


def load(content):
    vocabulary = content.setdefault("vocabulary", [])
    for left, right in content.setdefault("merges", []):
        if not {left, right, left + right} <= set(vocabulary):
            raise Refused("invalid_model")
    return content


def encode(model, text):
    pieces = [(symbol, place, place + 1) for place, symbol in enumerate(text)]
    for left, right in model["merges"]:
        place = 0
        while place + 1 < len(pieces):
            (first, start, _), (second, _, end) = pieces[place : place + 2]
            if (first, second) == (left, right):
                pieces[place : place + 2] = [(left + right, start, end)]
            place += 1
    vocabulary, unknown = model["vocabulary"], model.get("unknown_token")
    tokens = [token if token in vocabulary else unknown for token, _, _ in pieces]
    if not set(tokens) <= set(vocabulary):
        raise Refused("unknown_symbol")
    spans = [[start, end] for _, start, end in pieces]
    return {"tokens": tokens, "ids": [vocabulary.index(token) for token in tokens], "spans": spans}


def perform(model, request):
    text = request["input"]["text"]
    return encode(model, text) if request["op"] == "encode" else {"text": text.lower()}


def write(data):
    sys.stdout.buffer.write(data if isinstance(data, bytes) else data.encode())
    sys.stdout.buffer.flush()


def reply(request, **keys):
    write(json.dumps({"id": request["id"], **keys}) + "\n")


def kills(name):
    return lambda request, result: os.kill(os.getpid(), getattr(signal, name))


def exits(status):
    def exiting(request, result):
        sys.stderr.write("Traceback (most recent call last):\nno more \x1b[31mmemory\n")
        sys.stderr.flush()
        os._exit(status)

    return exiting


def says(request, result):
    write(bytes.fromhex(ARGUMENT).replace(b"%d", b"%d" % request["id"]) + b"\n")


def half_line(request, result):
    write(b'{"id": %d, "ok": {"tok' % request["id"])
    os._exit(0)


def whole_line_without_end(request, result):
    write(b'{"id": %d, "ok": {"text": ""}}' % request["id"])
    os._exit(0)


def answer_of_size(opening, closing, size):
    """Write an answer with so many bytes between its opening and its closing, a megabyte at a time."""

    def answering(request, result):
        write(b'{"id": %d, "ok": {"tokens": [' % request["id"])
        for _ in range(0, size, MEGABYTE):
            write(opening * min(size, MEGABYTE))
        write(closing * min(size, MEGABYTE) + b"]}}\n")

    return answering


def endless(line, stream=1):
    def writing(request, result):
        while True:
            os.write(stream, line * 10_000)

    return writing


def loud(request, result):
    os.write(2, b"complaint \x1b[2J\xff" * 200_000)
    reply(request, ok=result)


def late(request, result):
    """Answer after the limit, whatever is done against it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1.2)
    reply(request, ok={"tokens": ["late"]})
    time.sleep(60)


def late_beside(request, result):
    """Answer after the limit, and other requests in the meantime."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Timer(1.2, reply, [request], {"ok": {"tokens": ["late"]}}).start()


def deaf(request, result):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)


def drips(request, result):
    while True:
        write(b" ")
        time.sleep(0.05)


def leaves(**options):
    """Leave a process that holds all three pipes, and answer."""

    def starting(request, result):
        subprocess.Popen([sys.executable, "-S", "-E", "-c", SLEEP], **options)
        reply(request, ok=result)

    return starting


def dies_and_leaves(**options):
    def dying(request, result):
        subprocess.Popen([sys.executable, "-S", "-E", "-c", SLEEP], **options)
        os._exit(4)

    return dying


def eats(request, result):
    exec(EAT)


def waits_for(code, **options):
    return lambda request, result: subprocess.run([sys.executable, "-S", "-E", "-c", code], **options)


SLEEP = "import time; time.sleep(60)"
#: Takes a gigabyte, so that a suite that does not see it is not the end of the machine that tests it.
EAT = f"eaten = [b'x' * 1024 * 1024 for _ in range(1024)]\n{SLEEP}"
#: A process whose parent has ended already, in a session of its own.
EAT_APART = f"import os\nif os.fork() == 0:\n    os.setsid()\n    exec({EAT!r})"

#: What each mode does with the text "hugs", given its request and the right result.
BAD = {
    "exits_0": exits(0),
    "exits_3": exits(3),
    "killed": kills("SIGKILL"),
    "aborts": kills("SIGABRT"),
    "stops_itself": kills("SIGSTOP"),
    "hangs": lambda request, result: time.sleep(60),
    "deaf": deaf,
    "late": late,
    "late_beside": late_beside,
    "drips": drips,
    "says": says,
    "half_line": half_line,
    "whole_line_without_end": whole_line_without_end,
    "line_of_1_gb": answer_of_size(b"1", b"", 1024 * MEGABYTE),
    "deep": answer_of_size(b"[", b"]", 100_000),
    "wide": answer_of_size(b"[],", b"[]", 700_000),
    "long": lambda request, result: reply(request, ok={"tokens": ["a"] * 200_000}),
    "refuses_at_length": lambda request, result: reply(
        request, refused={"reason": "unsupported", "message": "x" * MEGABYTE}
    ),
    "endless_line": endless(b"x"),
    "endless_lines": endless(b"more\n"),
    "endless_blank_lines": endless(b"\n"),
    "endless_complaint": endless(b"complaint\n", stream=2),
    "loud": loud,
    "leaves_a_child": leaves(),
    "leaves_a_child_apart": leaves(start_new_session=True),
    "dies_and_leaves_a_child": dies_and_leaves(),
    "dies_and_leaves_a_child_apart": dies_and_leaves(start_new_session=True),
    "eats": eats,
    "child_eats": waits_for(EAT),
    "child_apart_eats": waits_for(EAT, start_new_session=True),
    "orphan_eats": lambda request, result: (waits_for(EAT_APART)(request, result), time.sleep(60)),
    "refuses": lambda request, result: reply(request, refused={"reason": "unsupported", "message": "not today"}),
}


#: What each mode does instead of saying hello.
AT_ONCE = {
    "exits_at_once": exits(7),
    "hangs_at_once": BAD["hangs"],
    "endless_line_at_once": BAD["endless_line"],
    "eats_at_once": eats,
    "floods_after_hello": lambda request, hello: (reply(request, ok=hello), BAD["endless_blank_lines"](request, hello)),
}

#: What each mode says of itself that is not as it should be.
CLAIMS = {
    "claims_nothing": {"operations": []},
    "claims_a_format": {"formats": ["spm"]},
    "claims_a_choice": {"choices": {"final_sigma": "maybe"}},
}


def is_other(text, before):
    """Whether to answer otherwise than usual: for what came before in this life, texts and loads, or in another."""
    if MODE == "after_mug":
        return "mug" in before
    if MODE == "after_three_loads":
        return before.count("load") == 3
    if MODE == "second_time":
        return text in before
    return MODE == "second_life" and not IS_FIRST_LIFE


def answer(request, model, before):
    result, text = perform(model, request), request["input"]["text"]
    if MODE == "dies_on_every_case":
        os._exit(3)
    if is_other(text, before):
        result = {name: "?" if name == "text" else [] for name in result}
    if text == "hugs" and MODE in BAD:
        BAD[MODE](request, result)
    elif text == "hugs" and MODE == "other_choices":
        exits(3)(request, result)
    else:
        reply(request, ok=result)
    before.append(text)
    if MODE == "dies_after_three" and len(before) - before.count("load") == 3:
        os._exit(6)


def loaded(request, before):
    if MODE == "dies_on_every_load":
        os._exit(3)
    if MODE == "refuses_all":
        raise Refused("unsupported", "no models yet")
    model = load(request["content"])
    before.append("load")
    reply(request, ok={})
    return model


def serve():
    models, before = {}, []
    for request in read():
        try:
            if request["op"] == "hello":
                AT_ONCE.get(MODE, lambda request, hello: reply(request, ok=hello))(request, HELLO)
            elif request["op"] == "load":
                models[request["model"]] = loaded(request, before)
            elif request["op"] == "bye" and MODE != "ignores_the_end":
                reply(request, ok={})
                return
            elif request["op"] != "bye":
                answer(request, models[request["model"]], before)
        except Refused as refusal:
            reply(request, refused=dict(zip(["reason", "message"], refusal.args, strict=False)))


def read():
    """Return the requests; those that came together are turned around where the answers are to come in another order."""
    pending = b""
    while chunk := os.read(0, 65536):
        *lines, pending = (pending + chunk).split(b"\n")
        yield from map(json.loads, reversed(lines) if MODE == "backwards" else lines)


def main():
    HELLO.update(CLAIMS.get(MODE, {}))
    if MODE == "other_choices" and not IS_FIRST_LIFE:
        HELLO["choices"] = {"final_sigma": "plain"}
    if ARGUMENT and MODE != "says":
        with open(ARGUMENT, "a", encoding="utf-8") as trace:
            trace.write("life\n")
    serve()
    if MODE == "ignores_the_end":
        deaf(None, None)


if __name__ == "__main__":
    main()
