"""Other implementations as the oracle: one, or several of which the majority counts.

Where the judged one and another take different options of a choice, both may be right. What an answer would be under
the options of either is asked of the reference; where that differs, nothing is compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from tokspec.fuzz.checker import Conversations, reference_with
from tokspec.fuzz.example import Example
from tokspec.sessions import Answer, Refused, Reply
from tokspec.verdicts import declared_choices

__all__ = ["Panel"]

_NONE = Refused("unsupported", "the oracles do not agree")


class Panel(Conversations):
    """Answers as most of its members do.

    Args:
        members: the other implementations.
        choices: the options of the judged implementation.
    """

    def __init__(self, members: Sequence[Conversations], choices: Mapping[str, str]) -> None:
        self.members = members
        self.ours = Conversations(lambda: reference_with(choices))
        self.choices = [declared_choices(member.session.hello) for member in members]
        self.theirs = [Conversations(partial(reference_with, taken)) for taken in self.choices]
        self.unit = choices["offset_unit"]
        self.session = self.ours.session

    def ask(self, examples: Sequence[Example]) -> list[Reply]:
        """Give the majority's reply to each example; a refusal as ``unsupported`` where there is none."""
        rights = self.ours.ask(examples)
        self.session = self.ours.session
        columns = []
        for member, theirs, choices in zip(self.members, self.theirs, self.choices, strict=True):
            same = [_same(left, right) for left, right in zip(theirs.ask(examples), rights, strict=True)]
            replies = member.ask(examples)
            columns.append(
                [
                    _in_code_points(reply, choices["offset_unit"], example) if is_comparable else _NONE
                    for reply, is_comparable, example in zip(replies, same, examples, strict=True)
                ]
            )
        return [_majority([column[index] for column in columns]) for index in range(len(examples))]

    def close(self) -> None:
        """End all sessions."""
        for each in (*self.members, *self.theirs, self.ours):
            each.close()


def _same(left: Reply, right: Reply) -> bool:
    if isinstance(left, Answer) and isinstance(right, Answer):
        return left.result == right.result
    return isinstance(left, Refused) and isinstance(right, Refused) and left.reason == right.reason


def _in_code_points(reply: Reply, unit: str, example: Example) -> Reply:
    """Give a reply without what counts in another unit than code points."""
    if unit == "code_point" or not isinstance(reply, Answer) or example.input.get("text", "").isascii():
        return reply
    if "pieces" in reply.result:
        return _NONE
    return Answer({key: value for key, value in reply.result.items() if key != "spans"})


def _majority(replies: Sequence[Reply]) -> Reply:
    votes = [reply for reply in replies if getattr(reply, "reason", "") != "unsupported"]
    if not votes:
        return _NONE
    keys = [repr(reply.result) if isinstance(reply, Answer) else getattr(reply, "reason", "fault") for reply in votes]
    (first, count), *others = Counter(keys).most_common(2)
    if others and others[0][1] == count:
        return _NONE
    return votes[keys.index(first)]
