"""Whether a clause or an operation is met by chance, because an implementation without any rule passes all its cases.

Such implementations refuse everything, or answer without looking at the model. Answers are built from the operations in
the schema, so that each has a valid shape. If a shape has optional keys, there is an answer for every way to leave some
out, because an implementation would know which are wanted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from tokspec.adapter import Hello
from tokspec.judge.compare import choices_in, resolve
from tokspec.judge.verdicts import Verdict, judge
from tokspec.protocol.messages import Answer, Refused, Reply
from tokspec.suite import schema
from tokspec.suite.cases import Case, Suite
from tokspec.suite.schema import definitions
from tokspec.suite.specification import load_specification


class _Part(NamedTuple):
    """The content of a row of an answer: a text with its start and end, or a word with its count as the end."""

    text: str
    start: int
    end: int


#: The reasons that a case can expect.
REASONS: Sequence[str] = tuple(definitions()["reason"]["enum"])


def _empty(input: Mapping[str, Any]) -> list[_Part]:
    return []


def _constant(input: Mapping[str, Any]) -> list[_Part]:
    return [_Part("a", 0, 1)]


def _echo(input: Mapping[str, Any]) -> list[_Part]:
    corpus = input.get("corpus", {})
    if "words" in corpus:
        return [_Part(word, 0, count) for word, count in corpus["words"]]
    texts = [input[key] for key in ("text", "pair", "word") if key in input]
    texts += corpus.get("texts", input.get("tokens", []))
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

#: The behavior of each implementation, by its name.
IMPLEMENTATIONS: Mapping[str, str] = {
    **{reason: f"refuses everything as {reason}" for reason in REASONS},
    "empty": "answers with nothing: no tokens, the empty text, 0",
    "constant": 'answers the same whatever it is asked: the token "a", the text "a", 1',
    "echo": "answers with what it is given: the text is the one token, the one piece and the text",
    "characters": "answers with the characters of what it is given",
}


def replies(name: str, case: Case) -> Sequence[Reply]:
    """Return the possible replies of an implementation to a case's request; it reads only the operation and the input.

    >>> from tokspec.suite.fixtures import load_suite
    >>> bug = load_suite().cases["bpe-toy-encode-bug"]
    >>> replies("unknown_id", bug)
    [Refused(reason='unknown_id', message='')]
    >>> replies("echo", bug)[0]
    Answer(result={'tokens': ['bug']})
    """
    if name in REASONS:
        return [Refused(name, "")]
    answer = _ANSWERS[name]
    if case.operation == "encode_batch":
        rows = [_replies("encode", answer(row)) for row in case.input["inputs"]]
        return [Answer({"encodings": [row[0].result for row in rows]})]
    return _replies(case.operation, answer(case.input))


def _replies(operation: str, parts: Sequence[_Part]) -> Sequence[Answer]:
    shape = definitions()["operations"][operation]["result"]
    if operation == "encode":
        shape = {"properties": {key: definitions()["encoding"]["properties"][key] for key in _HELLO.encode_fields}}
    return [Answer({key: _value(shape["properties"][key], parts) for key in keys}) for keys in _key_sets(shape)]


def _key_sets(shape: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return every set of keys that a shape allows, the largest first."""
    keys, needed = tuple(shape["properties"]), set(shape.get("required", ()))
    sizes = range(min(len(keys), shape.get("maxProperties", len(keys))), shape.get("minProperties", 1) - 1, -1)
    return [chosen for size in sizes for chosen in combinations(keys, size) if needed <= set(chosen)]


def _value(node: Mapping[str, Any], parts: Sequence[_Part]) -> Any:
    """Fill a part of a shape: a list or an object has an entry for each part, anything else is their sum."""
    if "$ref" in node:
        return "".join(part.text for part in parts)
    if node.get("type") == "string":  # bytes, in hexadecimal digits
        return "".join(part.text for part in parts).encode().hex()
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
    """Fill a row; the first of two numbers is the start of the part."""
    values = [_value(node, parts) for node in nodes]
    if len(values) > 1 and all(type(value) is int for value in values[-2:]):
        values[-2] = sum(part.start for part in parts)
    return values


_FITTED = "fitted"

#: The behavior of each implementation, by its name. The last one is the best of all that ignore the input.
KNOW_NOTHING: Mapping[str, str] = {
    **IMPLEMENTATIONS,
    _FITTED: "gives every request of an operation the same reply: what most of the cases counted here expect",
}

#: Every case of ``encode`` has tokens; an implementation that gives only these has to get the least right.
_HELLO = Hello("trivial", "1", "Python", schema.operations(), encode_fields=("tokens",))


@dataclass(frozen=True)
class Chance:
    """A clause or an operation, its number of cases, and how many of them each implementation passes.

    >>> Chance("DEC-2", 3, {"empty": 3, "echo": 1}).met_by
    ('empty',)
    """

    name: str
    cases: int
    passed: Mapping[str, int]

    @property
    def met_by(self) -> tuple[str, ...]:
        """The implementations that pass all cases."""
        return tuple(name for name, count in self.passed.items() if count == self.cases)


def chance(suite: Suite) -> list[Chance]:
    """Return a row for each operation and each clause with cases, in the order of protocol and specification.

    An implementation may declare the option of one choice that suits it best; for other choices it has the documents'
    options.

    >>> from tokspec.suite.fixtures import load_suite
    >>> [row.name for row in chance(load_suite()) if row.met_by]
    []
    """
    judged, cases = _Judged(), list(suite.cases.values())
    groups = {name: [case for case in cases if case.operation == name] for name in schema.operations()}
    groups |= {name: [case for case in cases if name in case.clauses] for name in load_specification().clauses}
    return [Chance(name, len(group), judged.passed(group)) for name, group in groups.items() if group]


class _Judged:
    """Cached verdicts, because a case has different outcomes only if it depends on a choice."""

    def __init__(self) -> None:
        self.known: dict[tuple[str | int, ...], list[str]] = {}

    def passed(self, cases: Sequence[Case]) -> Mapping[str, int]:
        """Count how many cases each implementation passes with the options that suit it best."""
        counts = [self.count(cases, choices) for choices in _declarations(cases)]
        return {name: max(count[name] for count in counts) for name in KNOW_NOTHING}

    def count(self, cases: Sequence[Case], choices: Mapping[str, str]) -> Counter[str]:
        counts = Counter(name for case in cases for name in self.names(case, choices))
        counts[_FITTED] = _fitted(cases, choices)
        return counts

    def names(self, case: Case, choices: Mapping[str, str]) -> list[str]:
        """Name the implementations that pass a case."""
        key: tuple[str | int, ...] = (case.id, *(id(resolve(question.outcome, choices)) for question in case.questions))
        if key not in self.known:
            self.known[key] = [name for name in IMPLEMENTATIONS if _passes(name, case, choices)]
        return self.known[key]


def _passes(name: str, case: Case, choices: Mapping[str, str]) -> bool:
    return all(
        any(judge(question, reply, _HELLO, choices).verdict is Verdict.PASS for reply in replies(name, question))
        for question in case.questions
    )


def _declarations(cases: Iterable[Case]) -> Iterator[dict[str, str]]:
    """Return the documents' options, and variants with another option for one choice on which a case depends."""
    specification = load_specification()
    yield specification.defaults()
    outcomes = [question.outcome for case in cases for question in case.questions]
    for name in dict.fromkeys(name for outcome in outcomes for name in choices_in(outcome)):
        for option in specification.choices[name].options:
            yield {**specification.defaults(), name: option}


def _fitted(cases: Iterable[Case], choices: Mapping[str, str]) -> int:
    """Count the cases that pass with one fixed reply for each operation: the reply that most of them expect."""
    by_operation: dict[str, Counter[str]] = {}
    for case in cases:
        outcomes = [resolve(question.outcome, choices) for question in case.questions]
        right = [outcome.get("one_of") or [outcome.get("expect", outcome)] for outcome in outcomes]
        written = [{_written(case.operation, reply) for reply in replies} for replies in right]
        by_operation.setdefault(case.operation, Counter()).update(set.intersection(*written))
    return sum(max(counts.values(), default=0) for counts in by_operation.values())


def _written(operation: str, reply: Mapping[str, Any]) -> str:
    return json.dumps(reply["tokens"] if operation == "encode" and "tokens" in reply else reply, sort_keys=True)
