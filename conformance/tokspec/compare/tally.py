"""The findings of a comparison: counts that add up, and differences by cause.

The tally of a series of texts is the sum of their tallies, however the series was split: a unit that was interrupted
and done in parts has the same result as one that was not. However many texts there are, the memory used is bounded by
the number of causes and sections.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

from tokspec.base.display import shorten
from tokspec.compare.causes import NAMES_ALONE, Outcome, cause_of, compare_replies, count_different_tokens
from tokspec.judge.causes import Cause, tell_cut
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply

#: The most causes, and the most reasons for not comparing, that are counted separately; later ones count as one.
_CAUSES = 500
_REASONS = 50

#: How many characters an example keeps of a longer text, around the first difference; and the longest text whose
#: replies are kept.
_WINDOW = 16_384
_WITH_REPLIES = 2048

#: The order of verdicts: a section counts as the last one among its texts.
_SEVERITY = (Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.PROTOCOL, Verdict.TIMEOUT, Verdict.CRASH)

#: The part of the reason why a text is bad that is particular to the text.
_PARTICULARS = re.compile(r" at its byte \d+|; it has .*|: .*", re.DOTALL)


@dataclass
class Example:
    """The shortest text that shows a cause. ``a`` and ``b`` are the replies if the text is short."""

    place: str
    text: str
    input: Mapping[str, Any]
    a: Mapping[str, Any] | None = None
    b: Mapping[str, Any] | None = None
    line: int = 0


@dataclass
class Group:
    """The texts that differ for one cause, and the place of the first."""

    cause: Cause
    example: Example
    first: str
    texts: int = 1
    tokens: int = 0

    def add(self, other: Group) -> None:
        """Add the same cause in later texts."""
        self.texts += other.texts
        self.tokens += other.tokens
        if len(other.example.text) < len(self.example.text):
            self.example = other.example


@dataclass
class SectionCount:
    """The results of an operation on the texts of one section.

    ``digest`` is the sum of the digests of the differences, so that their order does not matter. ``example`` is the
    shortest text.
    """

    same: int = 0
    different: int = 0
    unsupported: int = 0
    verdict: str = Verdict.PASS.value
    detail: str = ""
    digest: int = 0
    example: Example | None = None

    def note(self, verdict: str, digest: int, texts: int = 1) -> None:
        """Count texts that differ."""
        self.different += texts
        self.digest = (self.digest + digest) % 2**128
        if verdict != self.verdict:
            self.verdict = max(self.verdict, verdict, key=lambda value: _SEVERITY.index(Verdict(value)))

    def add(self, other: SectionCount) -> None:
        """Add the results on later texts."""
        self.same += other.same
        self.unsupported += other.unsupported
        self.note(other.verdict, other.digest, other.different)
        is_shorter = other.example and (not self.example or len(other.example.text) < len(self.example.text))
        if is_shorter or not self.detail:
            self.example, self.detail = other.example or self.example, other.detail or self.detail


@dataclass
class Tally:
    """Counts of the texts of a comparison, their bytes in UTF-8 and their tokens on both sides.

    ``compared`` of the ``texts`` could be compared, and ``different`` of these differ. ``different_tokens`` are those
    of the longer side that no common run covers. ``left`` has the reasons why operations on texts were not compared,
    ``bad`` the reasons why something is not a text, each with its count and its first place. The keys of ``sections``
    are operation and section, such as ``encode/texts/emoji``. ``answered`` counts the texts for which both sides gave
    an answer, and not only the same refusal; ``faults`` counts the faults of a program for which no text is to blame.
    """

    texts: int = 0
    compared: int = 0
    different: int = 0
    bytes: int = 0
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    different_tokens: int = 0
    answered: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    bad: dict[str, list[Any]] = field(default_factory=dict)
    sections: dict[str, SectionCount] = field(default_factory=dict)
    groups: dict[Cause, Group] = field(default_factory=dict)

    @property
    def most_tokens(self) -> int:
        """The tokens of the side with more of them, or the differing tokens if these are even more."""
        return max(*self.tokens, self.different_tokens)

    def note_same(
        self, section: str, texts: Sequence[str], tokens: int, operations: Sequence[str] = ("encode",)
    ) -> None:
        """Count texts for which both sides give the same answers."""
        self.texts += len(texts)
        self.compared += len(texts)
        self.answered += len(texts)
        joined = "".join(texts)
        self.bytes += len(joined) if joined.isascii() else len(joined.encode("utf-8", "surrogatepass"))
        self.tokens[0] += tokens
        self.tokens[1] += tokens
        for operation in operations:
            self._section(f"{operation}/{section}").same += len(texts)

    def note(
        self,
        section: str,
        place: str,
        text: str,
        outcomes: Sequence[Outcome],
        tokens: tuple[Sequence[Any], Sequence[Any]] = ((), ()),
        line: int = 0,
    ) -> None:
        """Count the outcomes of the operations on a text; ``tokens`` are the ids or tokens that A and B gave."""
        found = [outcome for outcome in outcomes if outcome.differs]
        for outcome in outcomes:
            self._count(f"{outcome.operation}/{section}", place, text, outcome, line)
        if all(outcome.verdict is Verdict.UNSUPPORTED for outcome in outcomes):
            self.texts += 1
            return
        self.answered += any(isinstance(each.a, Answer) and isinstance(each.b, Answer) for each in outcomes)
        different_tokens = self._count_text(text, *tokens, differs=bool(found))
        stages = {outcome.operation for outcome in found} & {"normalize", "pre_tokenize"}
        for outcome in found:
            if not (outcome.operation == "encode" and stages):  # which follows from the difference at the stage
                make = partial(_example, place, text, outcome, line)
                self._count_cause(cause_of(outcome, text), place, text, different_tokens, make)

    def note_ids(
        self, section: str, place: str, text: str, ids: tuple[list[int], list[int]], tokens: Mapping[int, str]
    ) -> None:
        """Count ids that differ and that both sides take from the same vocabulary, like :meth:`note`, but faster."""

        def make() -> Example:
            a, b = ({"tokens": [tokens.get(id) for id in each], "ids": each} for each in ids)
            if len(text) <= _WITH_REPLIES:
                return Example(place, text, {"text": text}, {"result": a}, {"result": b})
            return _example(place, text, compare_replies("encode", {"text": text}, Answer(a), Answer(b)), 0)

        self.answered += 1
        different_tokens = self._count_text(text, *ids, differs=True)
        self._count_difference(f"encode/{section}", place, text, Verdict.FAIL.value, "other answers", str(ids[1]), make)
        cause = Cause("encode", *tell_cut("token", *ids, text, "A", tokens.get))
        self._count_cause(cause, place, text, different_tokens, make)

    def _count_text(self, text: str, a: Sequence[Any], b: Sequence[Any], *, differs: bool) -> int:
        """Count a text with its tokens, and return how many of these differ."""
        self.texts += 1
        self.compared += 1
        self.bytes += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        self.tokens[0] += len(a)
        self.tokens[1] += len(b)
        self.different += differs
        different_tokens = count_different_tokens(a, b) if differs and a != b else 0
        self.different_tokens += different_tokens
        return different_tokens

    def _count(self, name: str, place: str, text: str, outcome: Outcome, line: int) -> None:
        if outcome.verdict is Verdict.UNSUPPORTED:
            self._section(name).unsupported += 1
            self.leave(f"{outcome.operation}: {shorten(outcome.detail)}")
        elif outcome.differs:
            make = partial(_example, place, text, outcome, line)
            self._count_difference(name, place, text, outcome.verdict.value, outcome.detail, _seen(outcome.b), make)
        else:
            self._section(name).same += 1

    def _count_difference(
        self, name: str, place: str, text: str, verdict: str, detail: str, seen: str, make: Callable[[], Example]
    ) -> None:
        """Count a difference in a section; ``make`` builds an example from it if it is the shortest."""
        section = self._section(name)
        number = sha256(f"{place}\n{name}\n{verdict}\n{seen}".encode("utf-8", "surrogatepass")).digest()
        section.note(verdict, int.from_bytes(number[:16]))
        if section.example is None or len(text) < len(section.example.text):
            section.detail, section.example = shorten(detail), make()

    def _count_cause(self, cause: Cause, place: str, text: str, tokens: int, make: Callable[[], Example]) -> None:
        group = self.groups.get(cause)
        if group is None or len(text) < len(group.example.text):
            self._group(Group(cause, make(), place, tokens=tokens))
        else:
            group.texts += 1
            group.tokens += tokens

    def note_fault(self, fault: str, count: int = 1) -> None:
        """Count a fault for which no text is to blame."""
        self.faults[fault] = self.faults.get(fault, 0) + count

    def leave(self, reason: str, count: int = 1) -> None:
        """Count operations on texts that are not compared."""
        if reason not in self.left and len(self.left) >= _REASONS:
            reason = "other reasons"
        self.left[reason] = self.left.get(reason, 0) + count

    def note_bad(self, place: str, why: str) -> None:
        """Count something that is not a text; reasons that differ only in their place or particulars count as one.

        >>> tally = Tally()
        >>> tally.note_bad("a at 0", "is not UTF-8 at its byte 7")
        >>> tally.bad
        {'is not UTF-8': [1, 'a at 0', 'is not UTF-8 at its byte 7']}
        """
        self._add_bad(_PARTICULARS.sub("", why), [1, place, why])

    def _add_bad(self, reason: str, found: Sequence[Any]) -> None:
        known = self.bad.setdefault(reason, [0, *found[1:]])
        known[0] += found[0]

    def _section(self, name: str) -> SectionCount:
        if name not in self.sections:
            self.sections[name] = SectionCount()
        return self.sections[name]

    def _group(self, group: Group) -> None:
        if group.cause not in self.groups and len(self.groups) >= _CAUSES:
            group.cause = Cause(group.cause.operation, "something else", "")
        if group.cause in self.groups:
            self.groups[group.cause].add(group)
        else:
            self.groups[group.cause] = group

    @property
    def causes(self) -> list[Group]:
        """The causes, sorted by the number of their texts; a cause that does not change a model's input comes last."""
        return sorted(
            self.groups.values(), key=lambda group: (group.cause.what == NAMES_ALONE, -group.texts, group.cause)
        )

    def add(self, other: Tally) -> None:
        """Add the tally of later texts.

        >>> total = Tally(texts=1, left={"a": 1})
        >>> total.add(Tally(texts=2, left={"a": 1, "b": 1}))
        >>> total.texts, total.left
        (3, {'a': 2, 'b': 1})
        """
        for name in ("texts", "compared", "different", "bytes", "different_tokens", "answered"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for fault, count in other.faults.items():
            self.note_fault(fault, count)
        self.tokens = [mine + its for mine, its in zip(self.tokens, other.tokens, strict=True)]
        for reason, count in other.left.items():
            self.leave(reason, count)
        for reason, found in other.bad.items():
            self._add_bad(reason, found)
        for name, section in other.sections.items():
            self._section(name).add(section)
        for group in other.groups.values():
            self._group(group)

    def to_json(self) -> dict[str, Any]:
        """Return the tally as plain values, always in the same order."""
        plain = {name: value for name, value in vars(self).items() if name not in ("sections", "groups")}
        plain |= {name: dict(sorted(getattr(self, name).items())) for name in ("left", "bad", "faults")}
        plain["sections"] = {name: _plain(section) for name, section in sorted(self.sections.items())}
        return plain | {"groups": [_plain(group) for _, group in sorted(self.groups.items())]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Tally:
        """Read what :meth:`to_json` returned."""
        sections = {name: SectionCount(**_with_example(section)) for name, section in plain["sections"].items()}
        groups = [Group(**{**_with_example(group), "cause": Cause(*group["cause"])}) for group in plain["groups"]]
        others = {name: value for name, value in plain.items() if name not in ("sections", "groups")}
        return cls(**others, sections=sections, groups={group.cause: group for group in groups})


def _plain(holder: SectionCount | Group) -> dict[str, Any]:
    return {**vars(holder), "example": vars(holder.example) if holder.example else None}


def _with_example(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {**plain, "example": Example(**plain["example"]) if plain["example"] else None}


def _example(place: str, text: str, outcome: Outcome, line: int) -> Example:
    """Build an example of a difference: the whole text, or the part around the first token that differs."""
    if len(text) <= _WITH_REPLIES:
        return Example(place, text, outcome.input, write_reply(outcome.a), write_reply(outcome.b), line)
    if len(text) > _WINDOW:
        middle = round(_share(outcome) * len(text))
        text = text[max(0, middle - _WINDOW // 2) : middle + _WINDOW // 2]
    return Example(place, text, {"text": text} if "text" in outcome.input else {}, line=line)


def _share(outcome: Outcome) -> float:
    """Return the approximate place in a text where the answers begin to differ, from 0 to 1."""
    path = outcome.difference.path if outcome.difference else ()
    if len(path) < 2 or not isinstance(path[1], int) or not isinstance(outcome.a, Answer):
        return 0.0
    return path[1] / max(1, len(outcome.a.result[str(path[0])]))


def _seen(reply: Reply) -> str:
    """Return the part of a reply that tells differences apart, without messages, which contain addresses and times."""
    if isinstance(reply, Answer):
        return str(reply.result)
    return reply.reason if isinstance(reply, Refused) else reply.kind


def write_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply as plain values.

    >>> write_reply(Refused("unknown_symbol", "m"))
    {'refused': 'unknown_symbol', 'message': 'm'}
    """
    if isinstance(reply, Answer):
        return {"result": json.loads(json.dumps(reply.result))}
    name = "refused" if isinstance(reply, Refused) else "fault"
    said = reply.message.partition("; standard error")[0]
    return {name: reply.reason if isinstance(reply, Refused) else reply.kind, "message": said}


def read_reply(plain: Mapping[str, Any]) -> Reply:
    """Read what :func:`write_reply` returned."""
    if "result" in plain:
        return Answer(plain["result"])
    kind = Refused if "refused" in plain else Fault
    return kind(plain.get("refused") or plain.get("fault") or "", plain.get("message", ""))
