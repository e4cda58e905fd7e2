"""The process in which both sides encode the texts of units, ``python -m tokspec.compare.worker``, and its parent.

The process reads one question a line, which names some texts of a unit by their numbers, and answers with a tally after
each batch of them. Before it asks a side, it says so, with the seconds that this may take. So if the process dies or
hangs, the parent knows which batch it was working on. The parent then tries the texts of that batch one by one, and a
text that ends a process which had no other text is a finding. If the process of a unit ends without a text to blame,
the unit's result is the same as if it had not ended. The process is started, limited and ended like that of a session.
"""

from __future__ import annotations

import gc
import json
import os
import select
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import compress, count, repeat
from operator import ne, not_
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tokspec.base.errors import DataError
from tokspec.compare.causes import compare_replies
from tokspec.compare.inputs import BadText, read_blocks
from tokspec.compare.sides import PARTS, Encoder, Outcome, open_encoder
from tokspec.compare.tally import Tally
from tokspec.compare.units import Header, Unit, find_done, read_header, read_model, read_result, write_result
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.sessions.adapter_server import describe_exception, take_streams
from tokspec.sessions.limits import Limits, ProcessFamily
from tokspec.sessions.process import LineTooLong, Process

#: The section in which texts of files are counted.
SECTION = "inputs"

#: The most characters in the texts of a batch.
_BATCH_CHARACTERS = 1 << 18

#: How many texts of a batch a side encodes at once. The ids of thousands do not fit into the processor's cache, and
#: comparing them took a tenth longer.
_TEXTS_AT_ONCE = 512

#: The characters of a text to which its limit in seconds applies; longer texts get proportionally more.
_MEANT = 1_000_000

#: A text that any model has tokens for, or for parts of it.
_PLAIN_TEXT = "Hello world, this is 1 text."

#: Seconds without a question after which the process ends, because nobody needs it anymore, and it may use much memory.
_IDLE_SECONDS = 30.0


def _limits_of(header: Header) -> Limits:
    limits = header.limits
    return Limits(limits["case_seconds"], limits["start_seconds"], memory_mb=int(limits["memory_mb"]))


# In the process


def main() -> int:
    """Answer questions until standard input ends, or none has come for a while."""
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
    gc.disable()
    questions, answers = take_streams()
    worker = _Worker(Path(sys.argv[1]), answers)
    try:
        worker.open()
    except DataError as error:
        worker.say({"fault": str(error), "ends": True})
        return 2
    worker.say({"ready": True})
    gc.freeze()  # the models stay, and the garbage collector need not go through them
    with closing(worker):
        while select.select([questions], [], [], _IDLE_SECONDS)[0] and (line := questions.readline()):
            worker.answer(json.loads(line))
    return 0


class _Batch(NamedTuple):
    """Texts that are encoded together, or entries that could not be read as texts, each with its file and its place."""

    texts: list[Any]
    paths: list[str]
    at: list[int]

    def cut(self, most: int) -> Iterator[_Batch]:
        """Split the batch into batches of at most ``most`` texts."""
        for start in range(0, len(self.texts), most):
            yield _Batch._make(column[start : start + most] for column in self)

    def place(self, index: int) -> str:
        """Return the file and place of a text."""
        return f"{self.paths[index]} at {self.at[index]:,}"


class _Worker:
    def __init__(self, folder: Path, answers: BinaryIO) -> None:
        self._folder, self._answers = folder, answers
        self._header = read_header(folder)
        self._sides: list[Encoder] = []
        self._vocabulary: Mapping[int, str] = {}

    def say(self, message: Mapping[str, Any]) -> None:
        self._answers.write(json.dumps(message).encode() + b"\n")
        self._answers.flush()

    def open(self) -> None:
        limits = _limits_of(self._header)
        vocabularies, names = list[Mapping[int, str]](), list[bool]()
        os.chdir(self._header.folder)
        for index, side in enumerate(self._header.sides):
            self.say({"asking": index, "seconds": limits.start_seconds})
            model = read_model(self._folder, index)
            self._sides.append(open_encoder(side, model.content, self._header.field, limits))
            vocabularies.append(model.tokens)
            names.append(self._names(self._sides[index], model.tokens))
        if all(names) and vocabularies[0] == vocabularies[1]:
            self._vocabulary = vocabularies[0]

    def _names(self, side: Encoder, vocabulary: Mapping[int, str]) -> bool:
        """Return whether a side's tokens are those that the vocabulary has for its ids, and need not be requested."""
        reply = side.answer(_PLAIN_TEXT)
        result = reply.result if isinstance(reply, Answer) and self._header.field == "ids" else {}
        return "tokens" in result and list(result["tokens"]) == [vocabulary.get(id) for id in result["ids"]]

    def close(self) -> None:
        for side in self._sides:
            side.close()

    def answer(self, question: Mapping[str, Any]) -> None:
        try:
            self._do(question)
        except DataError as error:
            self.say({"fault": str(error), "ends": False})
        except Exception as error:
            self.say({"fault": f"this is a fault of the suite itself: {describe_exception(error)}", "ends": True})
        else:
            self.say({"done": True})

    def _do(self, question: Mapping[str, Any]) -> None:
        """Compare the texts numbered from ``first`` up to ``last``, ``batch`` at a time, or return their places."""
        gc.collect()  # only between questions, because comparing texts leaves hardly any garbage
        number, how = question["first"], question["how"]
        for batch in self._batches(Unit.from_json(question["unit"]), number, question["last"], question["batch"]):
            number += len(batch.texts)
            if how == "place":
                (text,) = batch.texts
                self.say({"place": batch.place(0), "text": text if isinstance(text, str) else ""})
            else:
                self.say({"next": number, "tally": self._tally(batch, how).to_json()})

    def _batches(self, unit: Unit, first: int, last: int | None, most: int) -> Iterator[_Batch]:
        """Read texts, and group those that are encoded together into batches."""
        batch = _Batch([], [], [])
        number = characters = 0
        for part in unit.parts:
            for block in read_blocks(part, self._header.reading):
                start, number = number, number + len(block.texts)
                if number <= first:
                    continue
                taken = slice(max(0, first - start), None if last is None else max(0, last - start))
                texts = block.texts[taken]
                batch.texts.extend(texts)
                batch.paths.extend(repeat(part.path, len(texts)))
                batch.at.extend(block.at[taken])
                characters += sum(map(len, texts))
                if len(batch.texts) >= most or characters >= _BATCH_CHARACTERS:
                    yield from batch.cut(most)
                    batch, characters = _Batch([], [], []), 0
                if last is not None and number >= last:
                    break
        yield from batch.cut(most)

    def _tally(self, batch: _Batch, how: str) -> Tally:
        tally = Tally()
        if set(map(type, batch.texts)) != {str}:
            for index, bad in enumerate(batch.texts):
                if isinstance(bad, BadText):
                    tally.note_bad(batch.place(index), bad.why)
            are_texts = [isinstance(text, str) for text in batch.texts]
            batch = _Batch._make(list(compress(column, are_texts)) for column in batch)
        if how == "count":
            tally.texts += len(batch.texts)
        else:
            compare = self._compare_streams if self._header.field == PARTS else self._compare
            for some in batch.cut(_TEXTS_AT_ONCE):
                compare(tally, some)
            for side, described in zip(self._sides, self._header.sides, strict=True):
                for fault in side.take_faults():
                    tally.note_fault(f"{described['name']}: {fault}")
        return tally

    def _compare(self, tally: Tally, batch: _Batch) -> None:
        texts = batch.texts
        a, b = (self._encode(index, texts) for index in (0, 1))
        differ = list(map(ne, a, b))
        if set(map(type, a)) != {list}:
            differ = [is_other or type(each) is not list for is_other, each in zip(differ, a, strict=True)]
        for at in compress(count(), differ):
            text, pair, place = texts[at], (a[at], b[at]), batch.place(at)
            are_lists = isinstance(pair[0], list) and isinstance(pair[1], list)
            if are_lists and self._vocabulary:
                tally.note_ids(SECTION, place, text, pair, self._vocabulary)
            else:
                one, other = (self._reply(index, text, each) for index, each in enumerate(pair))
                outcome = compare_replies("encode", {"text": text}, one, other)
                tally.note(SECTION, place, text, [outcome], pair if are_lists else ((), ()))
        same = list(map(not_, differ))
        tally.note_same(SECTION, list(compress(texts, same)), sum(map(len, compress(a, same))))

    def _compare_streams(self, tally: Tally, batch: _Batch) -> None:
        """Compare the streams into which both sides decode the ids of A."""
        encoded = self._encode(0, batch.texts)
        ids = [each for each in encoded if isinstance(each, list)]
        pairs = zip(*(self._stream(index, ids) for index in (0, 1)), strict=True)
        for at, each in enumerate(encoded):
            is_list = isinstance(each, list)
            pair = next(pairs) if is_list else (Refused("unsupported", "does not encode the text"), Answer({}))
            outcome = compare_replies("decode_stream", {"ids": each} if is_list else {}, *pair)
            tally.note(SECTION, batch.place(at), batch.texts[at], [outcome], (each, each) if is_list else ((), ()))

    def _stream(self, index: int, ids: Sequence[list[int]]) -> list[Reply]:
        self._announce(index, sum(map(len, ids)))
        return self._sides[index].stream(ids)

    def _encode(self, index: int, texts: Sequence[str]) -> list[Any]:
        self._announce(index, sum(map(len, texts)))
        return self._sides[index].encode(texts)

    def _announce(self, index: int, characters: int) -> None:
        seconds = self._sides[index].seconds
        self.say({"asking": index, "seconds": seconds and seconds * max(1.0, characters / _MEANT)})

    def _reply(self, index: int, text: str, outcome: Outcome) -> Reply:
        """Return the whole reply of a side whose compared field is the outcome."""
        if not isinstance(outcome, list):
            return outcome
        self._announce(index, len(text))
        reply, field = self._sides[index].answer(text), self._header.field
        if not isinstance(reply, Answer) or reply.result.get(field) != outcome:
            return Answer({field: outcome})
        return Answer({name: value for name, value in reply.result.items() if name in ("tokens", "ids")})


# In the parent

#: How many texts are in a batch: many at first, fewer when one of them ends the process, and then each alone.
_BATCHES = (4096, 64, 1)

#: How many starts in a row may fail, and how many texts of one unit may end a process before the rest is left out.
_STARTS = 3
_DEADLY = 20

#: Bytes of the longest line of the process, and seconds between two checks whether the work has been stopped.
_LINE_BYTES = 256 * 1024**2
_LOOK_SECONDS = 0.2

#: How many characters are kept of a text that ended a process.
_SHOWN = 65536


class Stopped(Exception):
    """Raised when the work was stopped from outside."""


class UnitFault(DataError):
    """An input has changed or cannot be read, which affects only its own units."""


@dataclass(eq=False)
class Death(Exception):
    """The end of a process; it is a fault of ``side`` if the process was asking one."""

    fault: Fault
    side: int | None


class UnitRunner:
    """Processes units in a process that is started when it is needed, and again when it has ended.

    Args:
        folder: the folder of the comparison.
        stop: ends the work when another thread sets it.

    Raises:
        DataError: there is no plan.
    """

    def __init__(self, folder: Path, stop: threading.Event) -> None:
        self._folder, self._header, self._stop = folder.absolute(), read_header(folder), stop
        limits = _limits_of(self._header)
        self._limits = Limits(reply_bytes=_LINE_BYTES, memory_mb=limits.memory_mb)
        self._start_seconds = limits.start_seconds
        self._family = ProcessFamily()
        self._process: Process | None = None
        self._is_fresh = True

    def close(self) -> None:
        """End the process, and all processes that it has started."""
        if self._process is not None:
            self._process.stop()
            self._process = None
            self._family.kill()

    def tally(self, unit: Unit) -> Tally:
        """Compare the texts of a unit, and return the tally.

        Raises:
            UnitFault: an input has changed or cannot be read.
            DataError: an implementation does not start.
            Stopped: the work was ended.
        """
        total, first, findings = Tally(), 0, 0
        level = slowest = 0
        ends: list[int | None] = [None]
        while findings < _DEADLY:
            try:
                for message in self._ask(unit, first, ends[-1], _BATCHES[level]):
                    total.add(Tally.from_json(message["tally"]))
                    first = message["next"]
            except Death as death:
                if level < len(_BATCHES) - 1:
                    ends.append(first + _BATCHES[level])
                    level += 1
                    # an implementation that is slow but does not hang goes on in small batches
                    slowest = level if death.fault.kind == "timeout" else slowest
                    continue
                tally, is_finding = self._alone(unit, first)
                total.add(tally)
                first, findings = first + 1, findings + is_finding
                slowest = 0 if is_finding else slowest
                continue
            if len(ends) == 1:
                return total
            first = max(first, ends.pop() or 0)
            level = max(level - 1, slowest)
        for message in self._ask(unit, first, None, _BATCHES[0], "count"):
            rest = Tally.from_json(message["tally"])
            rest.leave(f"left after {_DEADLY} texts of the unit ended the process", rest.texts)
            total.add(rest)
        return total

    def _alone(self, unit: Unit, number: int) -> tuple[Tally, bool]:
        """Compare one text, and return whether it is a finding because it ends the process.

        A process may be ended from outside. So a text is to blame only if it ends a process that had no other text, and
        if the process seems to have been killed from outside, the text is tried once more.
        """
        tries = 0
        while True:
            is_fresh = self._process is None or self._is_fresh
            try:
                (message,) = self._ask(unit, number, number + 1, 1)
                return Tally.from_json(message["tally"]), False
            except Death as death:
                tries += 1
                if is_fresh and (tries > 1 or death.fault.message != "killed by SIGKILL"):
                    return self._finding(unit, number, death), True

    def _finding(self, unit: Unit, number: int, death: Death) -> Tally:
        """Return the tally of a text that ends the process."""
        (message,) = self._ask(unit, number, number + 1, 1, "place")
        a, b = (death.fault, Answer({})) if death.side == 0 else (Answer({}), death.fault)
        tally, text = Tally(), message["text"]
        operation = "decode_stream" if self._header.field == PARTS else "encode"
        tally.note(SECTION, message["place"], text, [compare_replies(operation, {"text": text[:_SHOWN]}, a, b)])
        return tally

    def _ask(
        self, unit: Unit, first: int, last: int | None, batch: int, how: str = "compare"
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the messages of the process; if it ends while it asks no side, it is started again.

        Raises:
            Death: it ended while it asked a side.
        """
        starts = 0
        while True:
            question = {"unit": unit.to_json(), "first": first, "last": last, "batch": batch, "how": how}
            try:
                for message in self._converse(question):
                    first = message.get("next", first)
                    yield message
                return
            except Death as death:
                starts += 1
                if death.side is not None:
                    raise
                if starts >= _STARTS:
                    why = f"was given up: its process ended {_STARTS} times with no text to blame, the last time by"
                    raise DataError(f"{why} {death.fault.message}", key=f"unit {unit.id}") from None

    def _converse(self, question: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        if self._process is not None:
            self._process.pump()
            if self._process.is_ended:
                self.close()
        if self._process is None:
            self._start()
        self._is_fresh = False
        if self._process is not None:
            self._process.send(json.dumps(question).encode() + b"\n")
        yield from self._messages("done")

    def _start(self) -> None:
        command = (sys.executable, "-P", "-m", "tokspec.compare.worker", str(self._folder))
        starts = 0
        while True:
            starts += 1
            self._process = Process(command, self._limits, self._family)
            try:
                list(self._messages("ready"))
                self._is_fresh = True
                return
            except Death as death:
                if starts < _STARTS:
                    continue
                label = "" if death.side is None else self._header.sides[death.side]["name"]
                raise DataError(f"does not load the model: {death.fault.message}", key=label) from None

    def _messages(self, until: str) -> Iterator[Mapping[str, Any]]:
        """Yield messages up to the last one, whose key is ``until``."""
        side: int | None = None
        seconds: float | None = self._start_seconds if until == "ready" else None
        while True:
            message = self._next(side, seconds)
            if "asking" in message:
                side, seconds = message["asking"], message["seconds"]
            elif "fault" in message:
                raise (DataError if message["ends"] else UnitFault)(message["fault"])
            elif until in message:
                return
            else:
                side = seconds = None
                yield message

    def _next(self, side: int | None, seconds: float | None) -> Mapping[str, Any]:
        process = self._process
        if process is None:
            raise Stopped
        deadline = None if seconds is None else time.monotonic() + seconds
        while not process.has_news:
            now = time.monotonic()
            if self._stop.is_set():
                self.close()
                raise Stopped
            if deadline is not None and now >= deadline:
                self.close()
                meant = self._header.limits["case_seconds"]
                raise Death(Fault("timeout", f"no answer within {meant:g} s"), side)
            process.wait(now + _LOOK_SECONDS if deadline is None else min(deadline, now + _LOOK_SECONDS))
        try:
            line: dict[str, Any] = json.loads(process.take_line())
            return line
        except EOFError:
            message = process.describe_end().partition("; standard error")[0]
        except LineTooLong:
            message = "wrote a line that is too long"
        self.close()
        raise Death(Fault("crash", message), side)


# What engines do


@dataclass(frozen=True)
class Done:
    """The result of a unit: a few counts, or why it failed; ``ends`` is whether all other units fail too."""

    unit: str
    texts: int = 0
    bytes: int = 0
    different: int = 0
    fault: str = ""
    ends: bool = False


_runners: dict[tuple[int, str], UnitRunner] = {}
_stop = threading.Event()


def do_unit(folder: str, plain: Mapping[str, Any]) -> Done:
    """Process a unit with this thread's runner, which is kept, and write its result; use a result that exists."""
    unit, path = Unit.from_json(plain), Path(folder)
    try:
        if find_done(path, [unit]):
            return _count(unit, read_result(path, unit.id))
        key = (threading.get_ident(), folder)
        if key not in _runners:
            _runners[key] = UnitRunner(path, _stop)
        tally = _runners[key].tally(unit)
    except UnitFault as error:
        return Done(unit.id, fault=str(error))
    except DataError as error:
        return Done(unit.id, fault=str(error), ends=True)
    except Stopped:
        return Done(unit.id, fault="was stopped", ends=True)
    try:
        write_result(path, unit, tally)
    except DataError as error:
        return Done(unit.id, fault=str(error), ends=True)
    return _count(unit, tally)


def _count(unit: Unit, tally: Tally) -> Done:
    return Done(unit.id, tally.texts, tally.bytes, tally.different)


def close_runners() -> None:
    """End the processes of all threads; call it when no thread is working on a unit anymore."""
    while _runners:
        _runners.popitem()[1].close()
    _stop.clear()


def stop_runners() -> None:
    """Make all threads stop their work."""
    _stop.set()


if __name__ == "__main__":
    sys.exit(main())
