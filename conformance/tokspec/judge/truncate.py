"""Truncate oversized answers, so that a run, which holds the answers to all of its cases, fits in memory."""

from __future__ import annotations

import hashlib
import json
import marshal
from dataclasses import dataclass, replace
from typing import Any

from tokspec.base.display import quote
from tokspec.judge.compare import ABSENT, Difference
from tokspec.protocol.messages import Answer, Reply

#: Bytes of the longest answer that is not truncated, as JSON in ASCII. A test checks that no right answer of the suite
#: has more than a third of that, except in the few cases about long texts that the test lists.
LONGEST = 64 * 1024

#: How many bytes of JSON a byte of a value may take, when ``marshal`` writes it without references: those of an escape.
_BYTES = 6
_WITHOUT_REFERENCES = 2

#: How many characters of a longer value are kept in a difference.
SHOWN = 200


@dataclass(frozen=True)
class Extract(Answer):
    """A truncated answer; ``result`` holds its length in ``bytes``, its ``beginning`` and its ``sha256``.

    Different answers have different extracts.

    >>> str(truncate_reply(Answer({"tokens": ["a" * 80_000]})))[:40]
    'in 80015 bytes that begin \\'{"tokens":["a'
    """

    def __str__(self) -> str:
        return f"in {self.result['bytes']} bytes that begin {self.result['beginning']}"


def truncate_reply(reply: Reply) -> Reply:
    """Return a reply, or its extract if it is an answer of more than ``LONGEST`` bytes.

    >>> truncate_reply(Answer({"tokens": ["bug"]}))
    Answer(result={'tokens': ['bug']})
    """
    if not isinstance(reply, Answer) or _bytes(reply.result) * _BYTES <= LONGEST:
        return reply
    text = _json(reply.result)
    if len(text) <= LONGEST:
        return reply
    sha256 = hashlib.sha256(text.encode("ascii")).hexdigest()
    return Extract({"bytes": len(text), "beginning": quote(text[:SHOWN]), "sha256": sha256})


def truncate_difference(difference: Difference) -> Difference:
    """Truncate a difference in an oversized answer: long values and long keys are cut to their beginning, as text.

    >>> truncate_difference(Difference(("tokens", 0), "b", "a" * 80_000)).actual[-4:]
    'aa …'
    """
    *before, last = difference.path
    if difference.expected is ABSENT and isinstance(last, str):  # a key that only the answer has
        last = _beginning(last)
    actual = difference.actual
    if isinstance(actual, str | list | dict) and len(text := _json(actual)) > SHOWN:
        actual = _beginning(actual if isinstance(actual, str) else text)
    return replace(difference, path=(*before, last), actual=actual)


def _beginning(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"


def _bytes(value: Any) -> int:
    """Return the size of a value in the form that is fastest to compute."""
    return len(marshal.dumps(value, _WITHOUT_REFERENCES))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
