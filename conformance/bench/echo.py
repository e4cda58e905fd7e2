"""Answer every request with its input: as little as a program of the protocol can do.

With arguments it is the other side: a number and a command. It starts the command, asks so often with 64 requests in
flight, and prints the seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence

HELLO = {"protocol": 1, "name": "echo", "version": "1", "language": "Python"}
HELLO |= {"operations": ["normalize"], "formats": ["tokspec"]}


def answer() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        ok = {"text": request["input"]["text"]} if "input" in request else HELLO if request["op"] == "hello" else {}
        sys.stdout.write(json.dumps({"id": request["id"], "ok": ok}) + "\n")
        sys.stdout.flush()


def ask(count: int, command: Sequence[str]) -> float:
    """Return the seconds of so many requests."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        if program.stdin is None or program.stdout is None:
            raise SystemExit("there are no pipes")
        send, receive = program.stdin, program.stdout
        send.write(b'{"id":0,"op":"hello","protocol":1}\n')
        send.flush()
        receive.readline()
        began = time.perf_counter()
        sent = 0
        for received in range(count):
            if sent < count and sent - received <= 32:
                end = min(received + 64, count)
                send.write(b"".join(request(number) for number in range(sent, end)))
                send.flush()
                sent = end
            if json.loads(receive.readline()) != {"id": received, "ok": {"text": f"text {received}"}}:
                raise SystemExit("an answer is another one")
        return time.perf_counter() - began


def request(number: int) -> bytes:
    """Write a request."""
    message = {"id": number, "op": "normalize", "model": "m", "input": {"text": f"text {number}"}}
    return json.dumps(message).encode() + b"\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(ask(int(sys.argv[1]), sys.argv[2:]))
    else:
        answer()
