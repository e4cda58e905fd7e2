"""Two streams of records side by side: what each has of the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from tokspec.adapter import Hello
from tokspec.packs.asking import Asked
from tokspec.packs.findings import Findings
from tokspec.packs.judging import Judge
from tokspec.packs.record import OPERATIONS, Record, input_of
from tokspec.sessions import Answer, Refused, Reply

__all__ = ["RECORDED", "Unpaired", "compared", "paired"]

#: Records that wait for the other of their text: two packs have nearly the same order.
_WAITING = 20_000

#: What stands for whoever made a pack: it has whatever is in there.
RECORDED = Hello("", "", "", operations=OPERATIONS, encode_fields=("tokens", "ids", "spans"))


class Unpaired:
    """How many texts one side alone has."""

    first = second = 0


def paired(
    first: Iterable[Record], second: Iterable[Record], unpaired: Unpaired, waiting: int = _WAITING
) -> Iterator[tuple[Record, Record]]:
    """Give the records of the same text together, as they come; what has no other is counted.

    >>> from tokspec.packs.record import Input
    >>> one, two = (Record(Input("texts/words", text, text), {}) for text in ("a", "b"))
    >>> [(left.input.text, right.input.text) for left, right in paired([one, two], [two], Unpaired())]
    [('b', 'b')]
    """
    lefts: dict[str, Record] = {}
    rights: dict[str, Record] = {}
    for left, right in zip_longest(first, second):
        for record, own, others in ((left, lefts, rights), (right, rights, lefts)):
            if record is None:
                continue
            other = others.pop(record.input.text, None)
            if other is None:
                own[record.input.text] = record
            else:
                yield (record, other) if own is lefts else (other, record)
        unpaired.first += _bounded(lefts, waiting)
        unpaired.second += _bounded(rights, waiting)
    unpaired.first += len(lefts)
    unpaired.second += len(rights)


def _bounded(records: dict[str, Record], most: int) -> int:
    """Let go of the oldest if there are too many; gives how many."""
    if len(records) <= most:
        return 0
    del records[next(iter(records))]
    return 1


def compared(pairs: Iterable[tuple[Record, Record]], unit: str, expected_unit: str) -> Findings:
    """Hold the second of each pair to the first, where both were asked the same."""
    judge, findings = Judge(RECORDED, unit, expected_unit), Findings()
    for expected, actual in pairs:
        replies: dict[str, Reply] = {
            operation: Answer(actual.results[operation]) if operation in actual.results else Refused(reason, "")
            for operation in OPERATIONS
            if (reason := actual.refused.get(operation, "")) or operation in actual.results
            if input_of(operation, expected) == input_of(operation, actual)
        }
        findings.note(expected, judge.outcomes(Asked(expected, replies)))
    return findings
