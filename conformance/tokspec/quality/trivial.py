"""Replies of implementations that know nothing: they refuse everything, or answer without looking at the model.

Answers are made from the schema's operations, so that each has a valid shape. Where a shape has keys that may be left
out, there is an answer for every way to leave some out: an implementation would know which are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from tokspec.protocol.messages import Answer, Refused, Reply
from tokspec.suite.fixtures import Case
from tokspec.suite.schema import definitions

__all__ = ["IMPLEMENTATIONS", "REASONS", "replies"]


class _Part(NamedTuple):
    """What a row of an answer is made of: a text with its start and end, or a word with its count as the end."""

    text: str
    start: int
    end: int


#: The reasons that a case can ask for.
REASONS: Sequence[str] = tuple(definitions()["reason"]["enum"])


def _empty(input: Mapping[str, Any]) -> list[_Part]:
    return []


def _constant(input: Mapping[str, Any]) -> list[_Part]:
    return [_Part("a", 0, 1)]


def _echo(input: Mapping[str, Any]) -> list[_Part]:
    corpus = input.get("corpus", {})
    if "words" in corpus:
        return [_Part(word, 0, count) for word, count in corpus["words"]]
    texts = [input[key] for key in ("text", "word") if key in input] + corpus.get("texts", input.get("tokens", []))
    return [_Part(text, 0, len(text)) for text in texts]


def _characters(input: Mapping[str, Any]) -> list[_Part]:
    texts = [part.text for part in _echo(input)]
    return [_Part(character, place, place + 1) for text in texts for place, character in enumerate(text)]


_ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], list[_Part]]] = {
    "empty": _empty,
    "constant": _constant,
    "echo": _echo,
    "characters": _characters,
}

#: What each implementation does, by its name.
IMPLEMENTATIONS: Mapping[str, str] = {
    **{reason: f"refuses everything as {reason}" for reason in REASONS},
    "empty": "answers with nothing: no tokens, the empty text, 0",
    "constant": 'answers the same whatever it is asked: the token "a", the text "a", 1',
    "echo": "answers with what it is given: the text is the one token, the one piece and the text",
    "characters": "answers with the characters of what it is given",
}


def replies(name: str, case: Case) -> Sequence[Reply]:
    """Give what an implementation may reply to a case's request; it reads its operation and input alone.

    >>> from tokspec.suite.fixtures import load_suite
    >>> bug = load_suite().cases["bpe-toy-encode-bug"]
    >>> replies("unknown_id", bug)
    [Refused(reason='unknown_id', message='')]
    >>> replies("echo", bug)[0]
    Answer(result={'tokens': ['bug'], 'ids': [3], 'spans': [[0, 3]]})
    """
    if name in REASONS:
        return [Refused(name, "")]
    shape = definitions()["operations"][case.operation]["result"]
    parts = _ANSWERS[name](case.input)
    return [Answer({key: _value(shape["properties"][key], parts) for key in keys}) for keys in _key_sets(shape)]


def _key_sets(shape: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Give every set of keys that a shape allows, the largest first."""
    keys, needed = tuple(shape["properties"]), set(shape.get("required", ()))
    sizes = range(min(len(keys), shape.get("maxProperties", len(keys))), shape.get("minProperties", 1) - 1, -1)
    return [chosen for size in sizes for chosen in combinations(keys, size) if needed <= set(chosen)]


def _value(node: Mapping[str, Any], parts: Sequence[_Part]) -> Any:
    """Fill a part of a shape: a list and an object have an entry for each part, anything else is the sum of them."""
    if "$ref" in node:
        return "".join(part.text for part in parts)
    if "oneOf" in node:
        return _value(node["oneOf"][0], parts)
    if "prefixItems" in node:
        return _row(node["prefixItems"], parts)
    if node["type"] == "array":
        return [_value(node["items"], [part]) for part in parts]
    if node["type"] == "object":
        return {part.text: _value(node["additionalProperties"], [part]) for part in parts}
    return sum(part.end for part in parts)


def _row(nodes: Iterable[Mapping[str, Any]], parts: Sequence[_Part]) -> list[Any]:
    """Fill a row; the first of two numbers is where the part starts."""
    values = [_value(node, parts) for node in nodes]
    if len(values) > 1 and all(type(value) is int for value in values[-2:]):
        values[-2] = sum(part.start for part in parts)
    return values
