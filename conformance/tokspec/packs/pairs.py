"""Two streams of records side by side: what each has of the same text."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import merge

from tokspec.adapter import Hello
from tokspec.packs.asking import Asked
from tokspec.packs.findings import Findings
from tokspec.packs.judging import Judge
from tokspec.packs.record import OPERATIONS, Record, input_of
from tokspec.protocol.messages import Answer, Fault, Refused, Reply

__all__ = ["RECORDED", "Unpaired", "compared", "paired"]

#: Records that wait for the other of their text, and the characters that their texts may have together.
_WAITING = 50_000
_CHARACTERS = 4 * 1024 * 1024

#: What packs consist of, in the order that they have: so two are read in step, however many texts each has of a part.
_PARTS = ("texts", "special_tokens", "vocabulary", "inputs")

#: What stands for whoever made a pack: it has whatever is in there.
RECORDED = Hello("", "", "", operations=OPERATIONS, encode_fields=("tokens", "ids", "spans"))


class Unpaired:
    """How many texts one side alone has."""

    first = second = 0


class _Waiting:
    """Records that wait for the other of their text, in the order in which they came."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_text: dict[str, deque[Record]] = {}
        self._characters = 0
        self.count = 0

    def take(self, text: str) -> Record | None:
        """Return the first record that waits with a text."""
        records = self._by_text.get(text)
        if records is None:
            return None
        record = records.popleft()
        if not records:
            del self._by_text[text]
        self.count -= 1
        self._characters -= len(text)
        return record

    def put(self, record: Record) -> int:
        """Let a record wait, and let go of the oldest if they are too many; gives how many."""
        text = record.input.text
        self._by_text.setdefault(text, deque()).append(record)
        self.count += 1
        self._characters += len(text)
        before = self.count
        while self.count > self._most or self._characters > _CHARACTERS:
            self.take(next(iter(self._by_text)))
        return before - self.count


def paired(
    first: Iterable[Record], second: Iterable[Record], unpaired: Unpaired, waiting: int = _WAITING
) -> Iterator[tuple[Record, Record]]:
    """Return the records of the same text together, as they come; what has no other is counted.

    A text that is there several times has as many others.

    >>> from tokspec.packs.record import Input
    >>> one, two = (Record(Input("texts/words", text, text), {}) for text in ("a", "b"))
    >>> [(left.input.text, right.input.text) for left, right in paired([one, two], [two], Unpaired())]
    [('b', 'b')]
    """
    lefts, rights = _Waiting(waiting), _Waiting(waiting)
    for _, _, is_second, record in merge(_numbered(first, False), _numbered(second, True)):
        other = (lefts if is_second else rights).take(record.input.text)
        if other is not None:
            yield (other, record) if is_second else (record, other)
        elif is_second:
            unpaired.second += rights.put(record)
        else:
            unpaired.first += lefts.put(record)
    unpaired.first += lefts.count
    unpaired.second += rights.count


def _numbered(records: Iterable[Record], is_second: bool) -> Iterator[tuple[int, int, bool, Record]]:
    """Put before each record the number of its part, and its own in there."""
    numbers = Counter[int]()
    for record in records:
        name = record.input.section.partition("/")[0]
        part = _PARTS.index(name) if name in _PARTS else len(_PARTS)
        numbers[part] += 1
        yield part, numbers[part], is_second, record


def compared(pairs: Iterable[tuple[Record, Record]], unit: str, expected_unit: str) -> Findings:
    """Hold the second of each pair to the first, where both were asked the same."""
    judge, findings = Judge(RECORDED, unit, expected_unit), Findings()
    for expected, actual in pairs:
        replies = {
            operation: _reply(operation, actual)
            for operation in OPERATIONS
            if expected.says(operation) and input_of(operation, expected) == input_of(operation, actual)
        }
        findings.note(expected, judge.outcomes(Asked(_shared(expected, actual), replies)))
    return findings


def _shared(record: Record, other: Record) -> Record:
    """Leave out of an encoding what another, of whoever gives no spans or no ids, does not have."""
    one, two = record.results.get("encode"), other.results.get("encode")
    if one is None or two is None or one.keys() <= two.keys():
        return record
    encoded = {name: value for name, value in one.items() if name in two}
    return replace(record, results={**record.results, "encode": encoded})


def _reply(operation: str, record: Record) -> Reply:
    """Return what was replied when a record was made."""
    if operation in record.results:
        return Answer(record.results[operation])
    if operation in record.refused:
        return Refused(record.refused[operation], "")
    why = record.unanswered.get(operation, "unsupported")
    return Refused(why, "is not recorded") if why == "unsupported" else Fault(why, "is recorded")
