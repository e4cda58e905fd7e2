"""Whether two replies to the same request differ, and by which cause: thousands of differences mostly have few causes.

A cause is the operation, the way in which the replies differ, and the kind of character at the first difference. That
is a description, not a proof: two causes may look alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from tokspec.base.display import shorten
from tokspec.judge.causes import COMPARED, Cause, Seen, cause_of_difference, count_common, without_addresses
from tokspec.judge.compare import Difference, first_difference
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, is_unsupported
from tokspec.protocol.spans import convert_result


@dataclass(frozen=True)
class Outcome:
    """The comparison of the replies of A and B to a request; ``verdict`` judges B by A.

    Answers are cut to the fields that both have, and the spans of A's are in the unit of B.
    """

    operation: str
    input: Mapping[str, Any]
    a: Reply
    b: Reply
    verdict: Verdict
    detail: str = ""
    difference: Difference | None = None

    @property
    def differs(self) -> bool:
        """Whether the replies can be compared and are not the same."""
        return not self.verdict.conforms


#: The cause of encodings that give a model the same input.
NAMES_ALONE = "the same ids, other names of tokens"

#: The end of the reason why two faults of the same kind are not compared.
FAULT_OF_BOTH = ", and so does B"


def compare_replies(
    operation: str, input: Mapping[str, Any], a: Reply, b: Reply, units: tuple[str, str] = ("", "")
) -> Outcome:
    """Compare two replies to a request; ``units`` are the units of the spans of A and B.

    Two faults of the same kind are no agreement, because nobody knows what either side would answer.

    >>> compare_replies("encode", {"text": "a"}, Answer({"ids": [1]}), Answer({"ids": [1], "tokens": ["a"]})).verdict
    <Verdict.PASS: 'pass'>
    """
    if is_unsupported(a) or is_unsupported(b):
        message = "; ".join(
            f"{side}: {reply.message or 'gives no reason'}"
            for side, reply in (("A", a), ("B", b))
            if is_unsupported(reply)
        )
        return Outcome(operation, input, a, b, Verdict.UNSUPPORTED, message)
    if isinstance(a, Answer) and isinstance(b, Answer):
        return _compare_answers(operation, input, a.result, b.result, units)
    said = [_kind_of_reply(reply) for reply in (a, b)]
    if said[0] == said[1] and isinstance(a, Fault):
        return Outcome(operation, input, a, b, Verdict.UNSUPPORTED, f"A {said[0]}{FAULT_OF_BOTH}")
    if said[0] == said[1]:
        return Outcome(operation, input, a, b, Verdict.PASS)
    verdict = Verdict(b.kind) if isinstance(b, Fault) else Verdict.ERROR if isinstance(b, Refused) else Verdict.FAIL
    return Outcome(operation, input, a, b, verdict, f"A {said[0]}, B {said[1]}")


def _compare_answers(
    operation: str, input: Mapping[str, Any], a: Mapping[str, Any], b: Mapping[str, Any], units: tuple[str, str]
) -> Outcome:
    fields = [name for name in a if name in b]
    if not fields:
        detail = f"A gives {' and '.join(a)}, B gives {' and '.join(b)}"
        return Outcome(operation, input, Answer(a), Answer(b), Verdict.UNSUPPORTED, detail)
    expected, actual = {name: a[name] for name in fields}, {name: b[name] for name in fields}
    if units[0] != units[1]:
        expected = dict(convert_result(expected, input, units[1], units[0]))
    difference = None if expected == actual else first_difference(expected, actual, {})
    replies = Answer(expected), Answer(actual)
    if difference is None:
        return Outcome(operation, input, *replies, Verdict.PASS)
    return Outcome(operation, input, *replies, Verdict.FAIL, "other answers", difference)


_FAULTS: Mapping[str, str] = {"crash": "crashes", "timeout": "takes too long", "protocol": "breaks the protocol"}


def _kind_of_reply(reply: Reply) -> str:
    if isinstance(reply, Refused):
        return f"refuses as {reply.reason}"
    return _FAULTS[reply.kind] if isinstance(reply, Fault) else "answers"


def cause_of(outcome: Outcome, text: str) -> Cause:
    """Return the cause of an outcome that differs: what B does differently from A.

    ``text`` is the text that was tokenized, if the input is not a text.

    >>> outcome = compare_replies("encode", {"text": "a  b"}, Answer({"tokens": ["a", "ĠĠb"]}),
    ...     Answer({"tokens": ["a", "Ġ", "Ġb"]}))
    >>> str(cause_of(outcome, "a  b"))
    'encode: cuts where A does not, at white space'
    """
    if not (isinstance(outcome.a, Answer) and isinstance(outcome.b, Answer)) or outcome.difference is None:
        sides = (("A", outcome.a), ("B", outcome.b))
        said = [f"{side} {_describe(reply)}" for side, reply in sides if not isinstance(reply, Answer)]
        return Cause(outcome.operation, "; ".join(said), "")
    path, operation = outcome.difference.path, outcome.operation
    a, b = outcome.a.result, outcome.b.result
    if operation == "encode" and path[:1] == ("tokens",) and "ids" in a and a["ids"] == b["ids"]:
        return Cause(operation, NAMES_ALONE, "")
    if operation not in COMPARED:
        return Cause(operation, f"another {next(map(str, path), 'answer')}", "")
    text = str(outcome.input.get("text", text))
    at = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    spans = outcome.a.result.get("pieces" if operation == "pre_tokenize" else "spans", [])
    character = text[spans[at][-2] :][:1] if at < len(spans) else ""
    return cause_of_difference(operation, Seen(text, outcome.a.result, outcome.b.result, path, character, "A"))


#: A place in a text or a file; two messages of the same fault may differ in it.
_PLACE = re.compile(r"\b((?:line|column|position|index|byte|char|len|length)(?: is)?) \d+")


def _describe(reply: Reply) -> str:
    """Describe a refusal or a fault, without addresses, places and the text on standard error."""
    message = reply.message.partition("; standard error")[0] if isinstance(reply, Fault) else ""
    message = _PLACE.sub(r"\1 N", without_addresses(message))
    return _kind_of_reply(reply) + (f": {shorten(message, 100)}" if message else "")


def name_ids(a: Reply, b: Reply, names: Callable[[], Mapping[int, str]]) -> tuple[Reply, Reply]:
    """Add tokens to the ids of two encodings if the ids differ and a side gives no tokens.

    >>> name_ids(Answer({"ids": [1]}), Answer({"ids": [2]}), lambda: {1: "a", 2: "b"})[0]
    Answer(result={'tokens': ['a'], 'ids': [1]})
    """
    if not (isinstance(a, Answer) and isinstance(b, Answer)) or "tokens" in a.result.keys() & b.result.keys():
        return a, b
    ids = [list(each.result.get("ids", ())) for each in (a, b)]
    if not all(ids) or ids[0] == ids[1] or not names().keys() >= {*ids[0], *ids[1]}:
        return a, b
    one, other = (Answer({"tokens": [names()[id] for id in each], "ids": each}) for each in ids)
    return one, other


# Counting tokens

#: The largest product of the lengths of two sequences that are aligned; in longer ones all tokens count as different.
_ALIGNED = 1_000_000


def count_different_tokens(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Count the tokens of the longer list that no common run covers.

    >>> count_different_tokens([1, 2, 3, 4, 5], [1, 2, 9, 4, 5])
    1
    """
    start = count_common(a, b)
    a, b = a[start:], b[start:]
    end = count_common(a[::-1], b[::-1])
    a, b = a[: len(a) - end], b[: len(b) - end]
    longest = max(len(a), len(b))
    if len(a) * len(b) > _ALIGNED or set(a).isdisjoint(b):
        return longest
    return longest - _count_aligned(tuple(a), tuple(b))


@lru_cache(4096)  # many texts differ in the same few tokens
def _count_aligned(a: tuple[Any, ...], b: tuple[Any, ...]) -> int:
    return sum(block.size for block in SequenceMatcher(None, a, b, False).get_matching_blocks())
