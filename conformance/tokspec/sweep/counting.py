"""Counting a stretch of a unit: its documents put to both sides, and what differs made small."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

from tokspec.base.errors import DataError
from tokspec.sweep.batches import BadAt, Batch, batches
from tokspec.sweep.documents import Selection
from tokspec.sweep.marker import ASKING, NARROWING
from tokspec.sweep.narrow import narrowed
from tokspec.sweep.plan import Unit
from tokspec.sweep.sides import Outcome, Side, Trouble
from tokspec.sweep.tally import WHOLE, Cause, Tally, pattern_of

__all__ = ["Counter"]

#: Places of one document that are made small.
_PLACES = 8

#: Characters around a difference that are shown, and of a document that is shown as a whole.
_AROUND = 12
_SHOWN = 4096

#: What the lengths of two stretches of tokens may come to, multiplied, to be aligned; in others all tokens differ.
_ALIGNED = 1_000_000


class _Placed(NamedTuple):
    number: int
    file: str
    at: int
    text: str


class Counter:
    """Compares two sides.

    Args:
        sides: to be compared.
        labels: what to call them.
        selection: what of the inputs is text.
    """

    def __init__(self, sides: Sequence[Side], labels: Sequence[str], selection: Selection) -> None:
        self._sides, self._labels, self._selection = sides, labels, selection

    def count(self, unit: Unit, first: int, last: int | None, bare: Collection[int], asks: bool = True) -> Tally:
        """Compare the records of a unit from number ``first`` up to ``last``, counted from 0.

        Args:
            unit: whose documents are read.
            first: where to begin.
            last: where to end; None is the end of the unit.
            bare: documents whose differences are not made small, because that ends the process.
            asks: whether they are compared at all; otherwise they are only counted.
        """
        tally = Tally()
        for each in batches(unit, self._selection):
            number = each.number if isinstance(each, BadAt) else each.first
            if last is not None and number >= last:
                break
            if isinstance(each, Batch):
                self._count(each.cut(first, last), tally, bare, asks)
            elif number >= first:
                tally.note_bad(each.file, each.bad.at, each.bad.why)
        return tally

    def close(self) -> None:
        """End what the sides have started."""
        for side in self._sides:
            side.close()

    def place(self, unit: Unit, number: int) -> tuple[str, int, str]:
        """Return the file, the place and the text of a document, for one that nobody can be asked about.

        Raises:
            DataError: it is not there any more.
        """
        for batch in batches(unit, self._selection):
            if isinstance(batch, Batch) and batch.first <= number < batch.first + len(batch.texts):
                index = number - batch.first
                return batch.file, batch.place(index), batch.texts[index]
        raise DataError(f"has no document {number} any more", key=f"unit {unit.id}")

    def _count(self, batch: Batch, tally: Tally, bare: Collection[int], asks: bool) -> None:
        tally.documents += len(batch.texts)
        if not asks or not batch.texts:
            return
        mine, other = (side.ask(batch.texts, batch.first, ASKING) for side in self._sides)
        if mine == other and {*map(type, mine)} == {list}:  # as nearly always, and then nothing is done for each
            count = sum(len(ids) for ids in mine if isinstance(ids, list))
            tally.tokens[0] += count
            tally.tokens[1] += count
            tally.bytes += batch.size
            return
        for index, (one, two) in enumerate(zip(mine, other, strict=True)):
            self._compare(batch, index, one, two, tally, bare)

    def _compare(
        self, batch: Batch, index: int, mine: Outcome, other: Outcome, tally: Tally, bare: Collection[int]
    ) -> None:
        text, number = batch.texts[index], batch.first + index
        if isinstance(mine, list) and mine == other:
            tally.tokens[0] += len(mine)
            tally.tokens[1] += len(mine)
            tally.bytes += len(text.encode())
        else:
            placed = _Placed(number, batch.file, batch.place(index), text)
            self._differs(placed, mine, other, tally, number not in bare)

    def _differs(self, placed: _Placed, mine: Outcome, other: Outcome, tally: Tally, narrows: bool) -> None:
        reason = self._not_comparable(mine, other)
        if reason:
            tally.leave(reason)
            return
        text = placed.text
        tally.bytes += len(text.encode())
        tally.different += 1
        if isinstance(mine, list) and isinstance(other, list):
            tally.tokens[0] += len(mine)
            tally.tokens[1] += len(other)
            tally.different_tokens += different_tokens(mine, other)
        found: dict[tuple[str, str, str], Cause] = {}
        for cause in self._causes(placed, mine, other, narrows):
            if cause.key in found:
                cause.documents = 0
                found[cause.key].add(cause)
            else:
                found[cause.key] = cause
        for cause in found.values():
            tally.note(cause)

    def _not_comparable(self, mine: Outcome, other: Outcome) -> str:
        """Say why two outcomes cannot be compared; nothing if they differ."""
        for label, outcome in zip(self._labels, (mine, other), strict=True):
            if isinstance(outcome, Trouble) and outcome.kind == "unsupported":
                return f"{label} does not take it: {outcome.message}"
        if mine == other and isinstance(mine, Trouble) and mine.kind == "refusal":
            return f"both refuse it as {mine.message}"
        return ""

    def _causes(self, placed: _Placed, mine: Outcome, other: Outcome, narrows: bool) -> Iterator[Cause]:
        text = placed.text
        for _ in range(_PLACES):
            kinds = self._kinds(mine, other)
            if not narrows or not self._can_narrow(mine, other):
                yield from (self._cause(placed, kind, detail, (WHOLE, text, text)) for kind, detail in kinds)
                return
            shows = partial(self._shows, placed, kinds)
            small, start, end = narrowed(text, shows, share_of(mine, other))
            example = text[max(0, start - _AROUND) : end + _AROUND]
            yield from (
                self._cause(placed, kind, detail, (pattern_of(small), small, example)) for kind, detail in kinds
            )
            text = text[end:]
            mine, other = self._again(placed, text)
            if mine == other or not text or self._not_comparable(mine, other):
                return

    def _cause(self, placed: _Placed, kind: str, detail: str, found: tuple[str, str, str]) -> Cause:
        """Make a cause of the pattern, the text and the example that were found."""
        pattern, small, example = found
        pattern = "" if _REFUSES in kind else pattern  # what is refused is refused for one reason
        return Cause(kind, pattern, small[:_SHOWN], example[:_SHOWN], placed.file, placed.at, detail=detail)

    def _can_narrow(self, mine: Outcome, other: Outcome) -> bool:
        """Whether asking again is cheap, which it is not where a program ends each time."""
        return all(
            side.is_local or not isinstance(outcome, Trouble) or outcome.kind == "refusal"
            for side, outcome in zip(self._sides, (mine, other), strict=True)
        )

    def _again(self, placed: _Placed, text: str) -> tuple[Outcome, Outcome]:
        first, second = (side.ask([text], placed.number, NARROWING)[0] for side in self._sides)
        return first, second

    def _shows(self, placed: _Placed, kinds: Sequence[tuple[str, str]], text: str) -> bool:
        mine, other = self._again(placed, text)
        return mine != other and not self._not_comparable(mine, other) and self._kinds(mine, other) == kinds

    def _kinds(self, mine: Outcome, other: Outcome) -> list[tuple[str, str]]:
        """Say how two outcomes differ: in a few words, with what was said."""
        troubles = [
            (_WORDS[outcome.kind].format(label, outcome.message), "" if outcome.kind == "refusal" else outcome.message)
            for label, outcome in zip(self._labels, (mine, other), strict=True)
            if isinstance(outcome, Trouble)
        ]
        return troubles or [("other tokens", "")]


_REFUSES = " refuses as "

_WORDS = {
    "refusal": f"{{}}{_REFUSES}{{}}",
    "crash": "{} crashes",
    "timeout": "{} takes too long",
    "protocol": "{} breaks the protocol",
}


def share_of(mine: Outcome, other: Outcome) -> float:
    """Say about where in a text two lists of tokens begin to differ, from 0 to 1.

    >>> share_of([1, 2, 3, 4], [1, 2, 5, 6])
    0.5
    """
    if isinstance(mine, Trouble) or isinstance(other, Trouble):
        return 0.0
    return _common(mine, other) / max(len(mine), len(other), 1)


def _common(mine: Sequence[object], other: Sequence[object]) -> int:
    """Count the tokens at the start that are the same."""
    return next((place for place, (one, two) in enumerate(zip(mine, other)) if one != two), min(len(mine), len(other)))  # noqa: B905


def different_tokens(mine: Sequence[object], other: Sequence[object]) -> int:
    """Count the tokens of the longer list that no common run covers.

    >>> different_tokens([1, 2, 3, 4, 5], [1, 2, 9, 4, 5])
    1
    """
    start = _common(mine, other)
    mine, other = mine[start:], other[start:]
    end = _common(mine[::-1], other[::-1])
    mine, other = mine[: len(mine) - end], other[: len(other) - end]
    longest = max(len(mine), len(other))
    if len(mine) * len(other) > _ALIGNED:
        return longest
    return longest - sum(block.size for block in SequenceMatcher(None, mine, other, False).get_matching_blocks())
