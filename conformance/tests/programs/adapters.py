"""Adapters that misbehave, in the way their name in this module says, when they are to encode "hugs".

Else they are right on the cases of ``test_misbehaving``; the tokenizer is that of ``misbehave.py``.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from tokspec.adapter import Hello, Refusal

sys.path.append(str(Path(__file__).parent))
import misbehave

LIBC = ctypes.PyDLL(None)  # which keeps the lock of the interpreter while a function runs


class Adapter:
    """An adapter that calls ``bad`` with the right result, and returns what that returns."""

    def __init__(self, bad):
        self.bad = bad

    def hello(self):
        return Hello("misbehaving", "1", "Python", ("encode", "normalize"), encode_fields=("tokens", "ids", "spans"))

    def load(self, format, content):
        try:
            return misbehave.load(content)
        except misbehave.Refused as refusal:
            raise Refusal(*refusal.args) from None

    def run(self, operation, model, input):
        try:
            result = misbehave.perform(model, {"op": operation, "input": input})
        except misbehave.Refused as refusal:
            raise Refusal(*refusal.args) from None
        return self.bad(result) if input["text"] == "hugs" else result


class Panic(BaseException):
    """As a panic in Rust arrives."""


class Unprintable(Exception):
    """Exits when it is shown."""

    def __str__(self):
        sys.exit("no words")


class Unreadable(Refusal):
    """Fails when its reason is read."""

    @property
    def reason(self):
        raise Panic("no reason")

    @reason.setter
    def reason(self, value):
        pass


class Endless(dict):
    """A result that never ends."""

    def items(self):
        while True:
            yield str(time.perf_counter_ns()), os.urandom(100_000).hex()


def raises(error, *arguments):
    def raising(result):
        raise error(*arguments)

    return raising


def calls(function, *arguments):
    """Call something, and give the right result afterwards."""

    def calling(result):
        function(*arguments)
        return result

    return calling


def goes_deeper(result):
    return goes_deeper(result)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def prints():
    print('{"id": 3, "ok": {"tokens": ["printed"]}}', flush=True)
    sys.__stdout__.write('{"id": 3, "ok": {"tokens": ["written"]}}\n')
    sys.__stdout__.flush()
    os.write(1, b'{"id": 3, "ok": {"tokens": ["written below"]}}\n')
    LIBC.puts(b'{"id": 3, "ok": {"tokens": ["put"]}}')
    LIBC.fflush(None)
    subprocess.run(["echo", '{"id": 3, "ok": {"tokens": ["echoed"]}}'], check=True)


def forges(**keys):
    """Reply in the name of the host, wherever it writes, and let it reply as well."""
    frame = sys._getframe()
    while "request" not in frame.f_locals:
        frame = frame.f_back
    line = json.dumps({"id": frame.f_locals["request"]["id"], **keys}).encode() + b"\n"
    for descriptor in range(3, 32):
        with suppress(OSError):
            os.write(descriptor, line)


def replaces_stdout():
    sys.stdout = sys.stderr = sys.__stdout__ = None


def closes_stdout():
    sys.stdout.close()
    sys.__stdout__.close()


def closes_the_standard_descriptors():
    os.closerange(0, 3)


def reads():
    if sys.stdin.read() != "" or os.read(0, 1) != b"":
        raise ValueError("a request")


def forks():
    """Come back twice."""
    os.fork()


def forks_and_waits():
    """Leave a child that holds everything that is open here."""
    if os.fork() == 0:
        time.sleep(60)


def starts_a_thread():
    threading.Thread(target=time.sleep, args=(60,)).start()


def ignores_the_end():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    starts_a_thread()


def hangs_natively():
    LIBC.sleep(60)


def replaces_json():
    json.dumps = lambda *arguments, **keywords: "hugs"


def eats():
    exec(misbehave.EAT)


def deep(result):
    return {"tokens": nested(100_000)}


def says(**keys):
    return lambda result: {**result, **keys}


BAD = {
    "good": calls(int),
    "aborts": calls(os.abort),
    "segfaults": calls(ctypes.string_at, 0),
    "is_killed": calls(os.kill, os.getpid(), signal.SIGKILL),
    "raises_an_alarm": calls(lambda: (signal.setitimer(signal.ITIMER_REAL, 0.01), time.sleep(60))),
    "exits_below": calls(os._exit, 0),
    "exits": calls(sys.exit),
    "exits_with_a_message": calls(sys.exit, "no \x1b[31mtokens"),
    "panics": raises(Panic, "index out of bounds"),
    "interrupts": raises(KeyboardInterrupt),
    "has_no_memory": raises(MemoryError),
    "stops_iterating": raises(StopIteration),
    "raises_what_cannot_be_shown": raises(Unprintable),
    "refuses_unreadably": raises(Unreadable, "unknown_symbol"),
    "recurses": goes_deeper,
    "hangs": calls(time.sleep, 60),
    "hangs_natively": calls(hangs_natively),
    "eats": calls(eats),
    "endless": lambda result: Endless(),
    "prints": calls(prints),
    "closes_stdout": calls(closes_stdout),
    "closes_the_standard_descriptors": calls(closes_the_standard_descriptors),
    "closes_every_descriptor": calls(os.closerange, 0, 256),
    "forges_misuse": calls(partial(forges, misuse={"message": "no", "key": "--impl", "missing": False})),
    "forges_misuse_of_nothing": calls(partial(forges, misuse={})),
    "forges_broken_of_nothing": calls(partial(forges, broken={})),
    "replaces_stdout": calls(replaces_stdout),
    "replaces_json": calls(replaces_json),
    "reads": calls(reads),
    "forks": calls(forks),
    "forks_and_waits": calls(forks_and_waits),
    "starts_a_thread": calls(starts_a_thread),
    "ignores_the_end": calls(ignores_the_end),
    "returns_none": lambda result: None,
    "is_deep": deep,
    "is_no_number": says(ids=[float("nan"), 6]),
    "is_infinite": says(ids=[float("-inf"), 6]),
    "is_huge": says(ids=[10**5000, 6]),
    "is_half_a_pair": says(tokens=["hug", "\ud800"]),
    "has_half_a_pair_as_key": says(**{"\ud800": []}),
    "is_of_bytes": says(tokens=[b"hug", b"s"]),
}
globals().update({name: partial(Adapter, bad) for name, bad in BAD.items()})
