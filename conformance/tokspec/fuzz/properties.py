"""What holds of every right implementation, and needs no other to be checked against.

Each property chooses the examples of which it says something, asks them and perhaps a few more, and names the clause
that is broken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tokspec.fuzz import (
    bpe_properties,
    decoding_properties,
    encoding_properties,
    repetition_properties,
    unigram_properties,
)
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.example import Example
from tokspec.fuzz.oracle import Comparison, case_of
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Reply

__all__ = ["PROPERTIES", "Property", "PropertyChecker", "is_of_repetition"]

Choices: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Property:
    """Something that holds.

    ``takes`` says of which examples, under which choices; ``more`` are examples to be asked after the first reply, in
    the same batch or each ``alone``; ``broken`` gives what is wrong, from all replies, or an empty text. One that
    ``repeats`` asks the very same again: it takes a sample of the examples, and what is refused, or crashes, counts as
    well. No one answer is wrong by itself then, so that no case shows it which is asked once.
    """

    name: str
    clause: str
    takes: Callable[[Example, Choices], bool]
    broken: Callable[[Example, Sequence[Reply], Choices], str]
    more: Callable[[Example, Reply], Sequence[Example]] = lambda example, reply: ()
    alone: bool = False
    repeats: bool = False


PROPERTIES: tuple[Property, ...] = tuple(
    Property(**each)
    for each in (
        *encoding_properties.ALL,
        *decoding_properties.ALL,
        *bpe_properties.ALL,
        *unigram_properties.ALL,
        *repetition_properties.ALL,
    )
)


#: One in so many examples is asked again.
SAMPLE = 16


class PropertyChecker(Checker):
    """Checks one property of an implementation."""

    def __init__(self, property: Property, judged: Conversations, choices: Choices) -> None:
        self.judged, self.choices, self.property = judged, dict(choices), property
        self.name, self.clause, self.batch = property.name, property.clause, 8

    def takes(self, example: Example) -> bool:
        """Say whether to take an example that was made: the property says something of it, and it is of the sample."""
        return (not self.property.repeats or _is_of_sample(example)) and self.property.takes(example, self.choices)

    def compare(self, examples: Sequence[Example], known: Mapping[int, Reply] | None = None) -> list[Comparison]:
        """Check the property for each example; one of which it says nothing is open."""
        chosen = [each for each in examples if self.property.takes(each, self.choices)]
        replies = dict(known or {})
        missing = [each for each in chosen if id(each) not in replies]
        replies.update(zip(map(id, missing), self.judged.ask(missing), strict=True))
        more = {id(each): list(self.property.more(each, replies[id(each)])) for each in chosen}
        asked = [one for each in chosen for one in more[id(each)]]
        others = iter([self.judged.ask([one])[0] for one in asked] if self.property.alone else self.judged.ask(asked))
        found = {id(each): [replies[id(each)], *(next(others) for _ in more[id(each)])] for each in chosen}
        return [
            self._comparison(each, found[id(each)]) if id(each) in found else Comparison("open") for each in examples
        ]

    def _comparison(self, example: Example, replies: Sequence[Reply]) -> Comparison:
        if not self.property.repeats and not all(isinstance(reply, Answer) for reply in replies):
            return Comparison("open")
        try:
            broken = self.property.broken(example, replies, self.choices)
        except (KeyError, TypeError, ValueError, IndexError):  # a result of another form, which the comparison reports
            return Comparison("open")
        if not broken:
            return Comparison("same")
        case = case_of(example.model, (example.operation, dict(example.input)), {"expect": {}})
        return Comparison("differs", self.name, Result(case, Verdict.FAIL, broken, {"expect": {}}, replies[0]))


def is_of_repetition(check: str) -> bool:
    """Say whether what a check finds shows only when the same is asked again.

    >>> is_of_repetition("twice gives the same"), is_of_repetition("reference")
    (True, False)
    """
    return any(each.repeats for each in PROPERTIES if each.name == check)


def _is_of_sample(example: Example) -> bool:
    """Choose one of ``SAMPLE`` examples, always the same ones: that an answer depends on others shows in any.

    Where an example comes from stands for its model, which takes long to write.
    """
    told = f"{example.origin} {example.operation} {example.input}"
    digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % SAMPLE == 0
