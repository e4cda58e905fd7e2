"""Other implementations as the oracle: one, or several of which the majority counts.

Where the judged one and another take different options of a choice, both may be right. What an answer would be under
the options of either is asked of the reference; where that differs, nothing is compared. What the specification leaves
open is no difference either: an answer that the reference's allows is taken for the reference's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from tokspec.fuzz.checker import Conversations, reference_with
from tokspec.fuzz.example import Example
from tokspec.fuzz.oracle import Comparer
from tokspec.judge.verdicts import effective_choices
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.sessions.session import Session

__all__ = ["Panel", "majority"]

_NONE = Refused("unsupported", "the oracles do not agree")


class Panel(Conversations):
    """Answers as most of its members do.

    Args:
        members: the other implementations.
        choices: the options of the judged implementation.
        names: what the members were called by who named them, where that is not what they call themselves.
    """

    def __init__(self, members: Sequence[Conversations], choices: Mapping[str, str], names: Sequence[str] = ()) -> None:
        self.members = members
        named = [_named(member, name) for member, name in zip_longest(members, names, fillvalue="")]
        self.who = named[0] if len(named) == 1 else f"most of {', '.join(named)}"
        self.ours = Conversations(lambda: reference_with(choices))
        self.choices = [effective_choices(member.session.hello) for member in self.members]
        self.theirs = [Conversations(partial(reference_with, taken)) for taken in self.choices]
        self.session = self.ours.session

    def ask(self, examples: Sequence[Example]) -> list[Reply]:
        """Return the majority's reply to each example; a refusal as ``unsupported`` where there is none."""
        rights = self.ours.ask(examples)
        self.session = self.ours.session
        columns = [self._column(number, examples, rights) for number in range(len(self.members))]
        voted = [
            majority(replies, example.operation, example.model.get("type") != "bpe")
            for example, *replies in zip(examples, *columns, strict=True)
        ]
        faulty = [isinstance(right, Fault) and reply is _NONE for right, reply in zip(rights, voted, strict=True)]
        return [right if is_so else reply for right, reply, is_so in zip(rights, voted, faulty, strict=True)]

    def _column(self, number: int, examples: Sequence[Example], rights: Sequence[Reply]) -> list[Reply]:
        """Return the replies of one member, where they can be compared."""
        theirs, choices = self.theirs[number], self.choices[number]
        others, replies = theirs.ask(examples), self.members[number].ask(examples)
        column = []
        for example, right, other, reply in zip(examples, rights, others, replies, strict=True):
            given = _in_code_points(reply, choices["offset_unit"], example) if _same(other, right) else _NONE
            column.append(_settled(theirs.session, choices, example, right, given))
        return column

    def close(self) -> None:
        """End all sessions."""
        for each in (*self.members, *self.theirs, self.ours):
            each.close()


def _settled(session: Session, choices: Mapping[str, str], example: Example, right: Reply, given: Reply) -> Reply:
    """Return the reference's reply where it allows what is given, and none where no clause says which is right."""
    if not _is_vote(given):
        return given
    hello = session.hello
    if isinstance(given, Answer) and isinstance(right, Answer):
        right = Answer({name: value for name, value in right.result.items() if name in given.result})
        hello = replace(hello, encode_fields=tuple(right.result))
    comparer = Comparer(session, hello, {**choices, "offset_unit": "code_point"})
    found = comparer.compare(example.model, (example.operation, dict(example.input)), right, given)
    return {"same": right, "open": _NONE}.get(found.state, given)


def _named(member: Any, name: str) -> str:
    hello = member.session.hello
    return f"{hello.name} {hello.version}" + (f" ({name})" if name not in ("", hello.name) else "")


def _same(left: Reply, right: Reply) -> bool:
    if isinstance(left, Answer) and isinstance(right, Answer):
        return left.result == right.result
    return isinstance(left, Refused) and isinstance(right, Refused) and left.reason == right.reason


def _in_code_points(reply: Reply, unit: str, example: Example) -> Reply:
    """Return a reply without what counts in another unit than code points."""
    if unit == "code_point" or not isinstance(reply, Answer) or example.input.get("text", "").isascii():
        return reply
    if "pieces" in reply.result:
        return _NONE
    return Answer({key: value for key, value in reply.result.items() if key != "spans"})


def majority(replies: Sequence[Reply], operation: str, needs_tokens: bool = False) -> Reply:
    """Return what more than half of those say that answered; a refusal as ``unsupported`` if there is no such thing.

    Encodings agree if they are alike in the fields that both have, and each field of the answer has its own majority.
    Without tokens it counts for nothing where they are needed to say which segmentations are equally good.

    >>> ids, tokens, other = Answer({"ids": [1]}), Answer({"tokens": ["a"], "ids": [1]}), Answer({"tokens": ["b"]})
    >>> majority([ids, tokens, other], "encode")
    Answer(result={'ids': [1]})
    >>> majority([tokens, other], "encode").reason
    'unsupported'
    """
    votes = [reply for reply in replies if _is_vote(reply)]
    for_each = [[vote for vote in votes if _agree(reply, vote, operation)] for reply in votes]
    reply, backers = max(zip(votes, for_each, strict=True), key=_weight, default=(_NONE, []))
    if 2 * len(backers) <= len(votes):
        return _NONE
    if operation != "encode" or not isinstance(reply, Answer):
        return reply
    fields = {
        name: value
        for name, value in reply.result.items()
        if 2 * sum(isinstance(vote, Answer) and name in vote.result for vote in backers) > len(votes)
    }
    return Answer(fields) if fields and ("tokens" in fields or not needs_tokens) else _NONE


def _weight(vote: tuple[Reply, Sequence[Reply]]) -> tuple[int, int]:
    """Weigh a reply with those that agree with it: of two the one with more fields says more."""
    reply, backers = vote
    return len(backers), len(reply.result) if isinstance(reply, Answer) else 0


def _is_vote(reply: Reply) -> bool:
    return isinstance(reply, Answer) or (isinstance(reply, Refused) and reply.reason != "unsupported")


def _agree(left: Reply, right: Reply, operation: str) -> bool:
    """Say whether two replies are the same, or encodings the same in what they share."""
    if operation == "encode" and isinstance(left, Answer) and isinstance(right, Answer):
        shared = left.result.keys() & right.result.keys()
        return bool(shared) and all(left.result[name] == right.result[name] for name in shared)
    return _same(left, right)
