"""What comparing a pack with answers comes to: counts, causes with their shortest examples, and a digest of it all.

However many texts there are, what is kept is bounded by the number of sections and of causes.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tokspec.base.display import shorten
from tokspec.judge.causes import Cause, Seen, cause_of_difference
from tokspec.judge.verdicts import Verdict
from tokspec.packs.judging import Outcome, tokens_that_differ
from tokspec.packs.notation import write_value
from tokspec.packs.record import Record, input_of
from tokspec.protocol.messages import Answer

__all__ = ["Findings", "Group", "Tally", "cause_of"]

#: Causes that are told apart; what comes after them counts as one.
_CAUSES = 500

#: Reasons for which something is unsupported that are told apart, of one operation in one section.
_REASONS = 20


@dataclass
class Tally:
    """What one operation came to for the texts of one section."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    unsupported: Counter[str] = field(default_factory=Counter)
    shortest: Outcome | None = None
    worst: Verdict = Verdict.PASS
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def note(self, outcome: Outcome) -> None:
        """Take an outcome."""
        self.verdicts[outcome.verdict] += 1
        if outcome.verdict is Verdict.UNSUPPORTED:
            reason = shorten(outcome.detail)
            if reason in self.unsupported or len(self.unsupported) < _REASONS:
                self.unsupported[reason] += 1
        if outcome.differs:
            self.digest.update(write_value([outcome.record.input.place, outcome.verdict.value, outcome.seen]).encode())
            self.shortest = _shorter(self.shortest, outcome)
            self.worst = max(self.worst, outcome.verdict, key=_SEVERITY.index)

    @property
    def different(self) -> int:
        """How many texts differ."""
        return sum(count for verdict, count in self.verdicts.items() if not verdict.conforms)


#: What a section counts as when its texts came to several.
_SEVERITY = (Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.PROTOCOL, Verdict.TIMEOUT, Verdict.CRASH)


@dataclass
class Group:
    """The texts that differ for one cause."""

    cause: Cause
    example: Outcome
    texts: int = 0
    tokens: int = 0
    sections: Counter[str] = field(default_factory=Counter)


class Findings:
    """Takes the outcomes of each text."""

    def __init__(self) -> None:
        self.tallies: defaultdict[tuple[str, str], Tally] = defaultdict(Tally)
        self.groups: dict[Cause, Group] = {}
        self.texts = self.texts_that_differ = self.tokens = self.tokens_that_differ = 0

    def note(self, record: Record, outcomes: Iterable[Outcome]) -> None:
        """Take what came of a text."""
        found = list(outcomes)
        section = record.section
        self.texts += 1
        self.tokens += record.ids
        for outcome in found:
            self.tallies[outcome.operation, section].note(outcome)
        different = {outcome.operation: outcome for outcome in found if outcome.differs}
        if not different:
            return
        self.texts_that_differ += 1
        tokens = _tokens(different)
        self.tokens_that_differ += tokens
        for operation, outcome in different.items():
            if operation != "encode" or not different.keys() & {"normalize", "pre_tokenize"}:
                self._group(outcome, tokens, section)

    def _group(self, outcome: Outcome, tokens: int, section: str) -> None:
        cause = cause_of(outcome)
        if cause not in self.groups and len(self.groups) >= _CAUSES:
            cause = Cause(outcome.operation, "something else", "")
        group = self.groups.setdefault(cause, Group(cause, outcome))
        group.example = _shorter(group.example, outcome)
        group.texts += 1
        group.tokens += tokens
        group.sections[section] += 1

    @property
    def shows_something(self) -> bool:
        """Whether anything was compared at all."""
        return any(tally.verdicts.total() > tally.verdicts[Verdict.UNSUPPORTED] for tally in self.tallies.values())

    @property
    def causes(self) -> list[Group]:
        """The causes, those of most texts first."""
        return sorted(self.groups.values(), key=lambda group: (-group.texts, str(group.cause)))


def cause_of(outcome: Outcome) -> Cause:
    """Tell the cause of an outcome that differs."""
    operation = outcome.operation
    if outcome.verdict is not Verdict.FAIL or outcome.difference is None or not isinstance(outcome.reply, Answer):
        what = "" if outcome.verdict is Verdict.FAIL else f"{outcome.verdict.value}: "
        return Cause(operation, what + shorten(outcome.detail, 100), "")
    # ids are asked about with the text that they are of
    text = str((input_of(operation, outcome.record) or {}).get("text", outcome.record.input.text))
    expected, path = outcome.expected or {}, outcome.difference.path
    at = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    spans = outcome.record.results[operation].get("pieces" if operation == "pre_tokenize" else "spans", [])
    character = text[spans[at][-2] :][:1] if at < len(spans) else ""
    return cause_of_difference(operation, Seen(text, expected, outcome.reply.result, path, character, "the pack"))


def _shorter(one: Outcome | None, other: Outcome) -> Outcome:
    if one is None or len(other.record.input.text) < len(one.record.input.text):
        return other
    return one


def _tokens(different: Mapping[str, Outcome]) -> int:
    """Count the tokens of a text that are not the same, of those that it was recorded with."""
    outcome = different.get("encode")
    if outcome is None:
        return 0
    expected = outcome.expected or {}
    if not isinstance(outcome.reply, Answer) or not expected:
        return outcome.record.ids
    name = "ids" if "ids" in expected else "tokens"
    different_ones = tokens_that_differ(expected.get(name, []), outcome.reply.result.get(name, []))
    return min(different_ones, outcome.record.ids)
