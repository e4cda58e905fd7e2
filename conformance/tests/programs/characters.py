"""A tokenizer of characters that misbehaves in the way its first argument names.

It speaks ``spec/10-protocol.md`` with nothing but the standard library. The operation ``encode`` gives the characters
of the text; a few texts trigger the misbehaviour. The second argument is a file, to count lives or to note children.
"""

import json
import os
import signal
import subprocess
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
NOTES = sys.argv[2] if len(sys.argv) > 2 else os.devnull
HELLO = {
    "protocol": 1,
    "name": "characters",
    "version": "1",
    "language": "Python",
    "operations": ["encode"],
    "formats": ["tokspec"],
}


def write(data):
    sys.stdout.buffer.write(data if isinstance(data, bytes) else data.encode())
    sys.stdout.buffer.flush()


def reply(request, **keys):
    write(json.dumps({"id": request["id"], **keys}) + "\n")


def note(line):
    with open(NOTES, "a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def read():
    for line in sys.stdin.buffer:
        yield json.loads(line)


def encode(request):
    text = request["input"]["text"]
    note(f"asked {text}")
    if isinstance(text, dict):
        return {"tokens": [{"hex": text["hex"]}]}
    return {"tokens": list(text)}


def hang(request):
    time.sleep(60)


def die(status):
    def dying(request):
        sys.stderr.write("Traceback (most recent call last):\nno more \x1b[31mmemory\n")
        sys.stderr.flush()
        os._exit(status)

    return dying


def says(line):
    return lambda request: write(line % request["id"] if b"%d" in line else line)


def twice(request):
    write(2 * (json.dumps({"id": request["id"], "ok": encode(request)}) + "\n"))


def loud(request):
    sys.stderr.buffer.write(b"complaint " * 200_000)
    sys.stderr.flush()
    reply(request, ok=encode(request))


def orphan(request):
    """Leave a child that holds all three pipes, and die."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=MODE == "escape")
    note(f"child {child.pid}")
    os._exit(4)


def unblock(request):
    """Make the shared ends of the pipes non-blocking, as Node does, and die."""
    for descriptor in range(3):
        os.set_blocking(descriptor, False)
    os._exit(5)


#: What each mode does with the text "bad".
BAD = {
    "exits_3": die(3),
    "hangs": hang,
    "garbage": says(b"loading \x1b[2Jvocabulary...\n"),
    "neither": says(b'{"id": %d}\n'),
    "refuses": says(b'{"id": %d, "refused": {"reason": "unknown_symbol", "message": "d"}}\n'),
    "twice": twice,
    "loud": loud,
    "orphan": orphan,
    "escape": orphan,
    "unblock": unblock,
}


def serve():
    answered = 0
    for request in read():
        op = request["op"]
        if op == "hello":
            reply(request, ok=HELLO)
        elif op == "load":
            note(f"load {request['model']}")
            if request["content"].get("vocabulary") == ["bad"]:
                BAD[MODE](request)
            elif request["content"].get("type") == "wordpiece":
                reply(request, refused={"reason": "invalid_model", "message": "no vocabulary"})
            else:
                reply(request, ok={})
        elif op == "bye":
            reply(request, ok={})
            if MODE != "ignores_bye":
                return
        elif request["input"].get("text") == "bad" and MODE in BAD:
            BAD[MODE](request)
        elif MODE == "chatters":
            write(json.dumps({"id": request["id"], "ok": encode(request)}) + "\ndone\n")
        else:
            reply(request, ok=encode(request))
            answered += 1
            if MODE == "dies_after_each":
                os._exit(0)
            if MODE == "dies_after_three" and answered == 3:
                os._exit(6)
    if MODE == "ignores_bye":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note("deaf")
        while True:
            time.sleep(60)


def backwards():
    """Collect requests until none has come for a moment, and answer the last first; nothing else is special."""
    import queue
    import threading

    requests = queue.Queue()
    threading.Thread(target=lambda: [requests.put(each) for each in read()], daemon=True).start()
    held = []
    while True:
        try:
            held.append(requests.get(timeout=0.05))
        except queue.Empty:
            for request in reversed(held):
                reply(
                    request, ok={"hello": HELLO, "load": {}, "bye": {}}.get(request["op"]) or backwards_encode(request)
                )
            if any(request["op"] == "bye" for request in held):
                return
            held = []


def backwards_encode(request):
    return encode(request) if request["op"] == "encode" else {}


def main():
    first_life = not os.path.exists(NOTES)
    note(f"life {os.getpid()}")
    if MODE == "exits_at_once" or (MODE == "starts_once" and not first_life):
        sys.stderr.write("cannot find model.bin\n")
        sys.exit(7)
    if MODE == "hangs_at_once":
        time.sleep(60)
    if MODE == "banner":
        write("Welcome!\n")
    HELLO.update({"wrong_protocol": {"protocol": 2}, "wrong_type": {"operations": "encode"}}.get(MODE, {}))
    if MODE == "no_version":
        del HELLO["version"]
    if MODE == "starts_once":
        for request in read():
            if request["op"] != "hello":
                os._exit(8)
            reply(request, ok=HELLO)
    backwards() if MODE == "backwards" else serve()


if __name__ == "__main__":
    main()
