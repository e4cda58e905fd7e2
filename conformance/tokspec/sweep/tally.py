"""What was found in some documents: counts that add up, and differences by cause.

A tally of documents one after the other is the sum of their tallies, however they were cut into parts: a unit that was
interrupted and done in pieces has the same result as one that was not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

__all__ = ["WHOLE", "Cause", "Tally", "pattern_of", "reason_of"]

#: The pattern of a document that was not made small, because asking again would end a process each time.
WHOLE = "a whole document"

#: What is particular to a record in a reason why it is none.
_PARTICULARS = re.compile(r" at its byte \d+|; it has .*|: .*", re.DOTALL)

#: Longer texts have no pattern: they could not be made small.
_LONGEST_PATTERN = 64


@dataclass
class Cause:
    """A kind of difference, and where it was met.

    ``kind`` says what differs, ``pattern`` the categories of the characters of the minimised text. ``text`` is the
    shortest minimised text, ``example`` what stands around it, ``file`` and ``at`` where the first document begins that
    shows the cause (in bytes, decompressed, or in rows of a table).
    """

    kind: str
    pattern: str
    text: str
    example: str
    file: str
    at: int
    count: int = 1
    documents: int = 1
    detail: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What no other cause has."""
        return self.kind, self.pattern, self.detail

    def add(self, other: Cause) -> None:
        """Take in the same cause in later documents."""
        self.count += other.count
        self.documents += other.documents
        shown = (self.text, self.example), (other.text, other.example)
        self.text, self.example = min(shown, key=lambda pair: [(len(text), text) for text in pair])


@dataclass
class Tally:
    """Counts of documents, of their bytes of UTF-8 and of their tokens on both sides.

    ``documents`` were asked about; of these ``left`` could not be compared, by reason, and ``different`` differ.
    ``tokens`` are those of the compared; ``different_tokens`` those of the longer side that no common run covers.
    ``bad`` are records that are no documents, by reason, ``bad_places`` where: (file, offset, reason).
    """

    documents: int = 0
    bytes: int = 0
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    different: int = 0
    different_tokens: int = 0
    left: dict[str, int] = field(default_factory=dict)
    bad: dict[str, int] = field(default_factory=dict)
    bad_places: list[list[Any]] = field(default_factory=list)
    causes: dict[tuple[str, str, str], Cause] = field(default_factory=dict)

    @property
    def compared(self) -> int:
        """Count the documents of which both sides had something to say.

        >>> Tally(documents=3, left={"too long": 1}).compared
        2
        """
        return self.documents - sum(self.left.values())

    def leave(self, reason: str, count: int = 1) -> None:
        """Count documents that are not compared."""
        self.left[reason] = self.left.get(reason, 0) + count

    def note_bad(self, file: str, at: int, reason: str) -> None:
        """Count a record that is no document; reasons that differ in where or what else there is count as one."""
        counted = reason_of(reason)
        self.bad[counted] = self.bad.get(counted, 0) + 1
        self.bad_places.append([file, at, reason])

    def shorten(self, most: int) -> None:
        """Forget places of bad records after so many, except the first of each reason.

        >>> tally = Tally(bad_places=[["a", 0, "is no JSON"], ["a", 9, "is no JSON"], ["b", 0, "is not UTF-8"]])
        >>> tally.shorten(1)
        >>> tally.bad_places
        [['a', 0, 'is no JSON'], ['b', 0, 'is not UTF-8']]
        """
        firsts: dict[str, int] = {}
        for number, (_, _, why) in enumerate(self.bad_places):
            firsts.setdefault(reason_of(why), number)
        kept = {*range(most), *firsts.values()}
        self.bad_places = [place for number, place in enumerate(self.bad_places) if number in kept]

    def note(self, cause: Cause) -> None:
        """Count a difference."""
        known = self.causes.get(cause.key)
        if known is None:
            self.causes[cause.key] = cause
        else:
            known.add(cause)

    def add(self, other: Tally) -> None:
        """Take in what was found in later documents.

        >>> sum = Tally(documents=1, left={"a": 1})
        >>> sum.add(Tally(documents=2, left={"a": 1, "b": 1}))
        >>> sum.documents, sum.left
        (3, {'a': 2, 'b': 1})
        """
        for name in ("documents", "bytes", "different", "different_tokens"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.tokens = [mine + its for mine, its in zip(self.tokens, other.tokens, strict=True)]
        for reason, count in other.left.items():
            self.leave(reason, count)
        for reason, count in other.bad.items():
            self.bad[reason] = self.bad.get(reason, 0) + count
        self.bad_places += other.bad_places
        for cause in other.causes.values():
            self.note(cause)

    def to_json(self) -> dict[str, Any]:
        """Write it as plain values, always in the same order."""
        plain = {name: value for name, value in vars(self).items() if name != "causes"}
        plain["left"] = dict(sorted(self.left.items()))
        plain["bad"] = dict(sorted(self.bad.items()))
        plain["causes"] = [asdict(cause) for cause in self.causes.values()]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Tally:
        """Read what :meth:`to_json` wrote.

        >>> Tally.from_json(Tally(documents=3).to_json()).documents
        3
        """
        causes = [Cause(**cause) for cause in plain["causes"]]
        others = {name: value for name, value in plain.items() if name != "causes"}
        return cls(**others, causes={cause.key: cause for cause in causes})


def reason_of(why: str) -> str:
    """Leave out of a reason what is particular to one record.

    >>> reason_of("is not UTF-8 at its byte 7")
    'is not UTF-8'
    """
    return _PARTICULARS.sub("", why)


def pattern_of(text: str) -> str:
    """Name the categories of a text's characters; a run of one is written once, with a plus.

    >>> pattern_of("ab 1")
    'Ll+ Zs Nd'
    """
    if len(text) > _LONGEST_PATTERN:
        return "long"
    runs = [(category, len(list(run))) for category, run in groupby(map(unicodedata.category, text))]
    return " ".join(category + ("+" if length > 1 else "") for category, length in runs)
