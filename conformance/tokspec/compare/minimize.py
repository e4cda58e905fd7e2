"""Minimizing a difference on a real text and model to a case of ten lines, by requests to both sides.

The input is reduced first, with the user's own model, as long as the difference has the same cause. Then the model is
reduced for that input: tokens that the text cannot touch at any stage are left out with their merges, and then every
part without which both sides give the same answers as before. So a small model shows the difference that the whole
model has, not one that looks like it. The result depends on the sides alone, unless time runs out.
:mod:`tokspec.compare.shrink` decides what to leave out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any
from unicodedata import normalize

from tokspec import formats
from tokspec.base.errors import DataError, Unsupported
from tokspec.compare.answers import only_ids
from tokspec.compare.causes import Outcome, cause_of, compare_replies, name_ids
from tokspec.compare.models import parts_of, tokens_by_id
from tokspec.compare.shrink import (
    PASSES_OF_MODEL,
    Question,
    Spent,
    minimize,
    minimize_sequence,
    narrow_sequence,
    without_names,
)
from tokspec.compare.tally import Group
from tokspec.formats.neutral import ids_of
from tokspec.formats.user_model import UserModel
from tokspec.judge.causes import Cause
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer, Refused, Reply, Request
from tokspec.protocol.replies import check_form
from tokspec.sessions.session import Session

#: How many candidates are tried for one cause, and how many if a side crashes; the seconds for a cause; and how many
#: candidates are tried at once.
_CANDIDATES = 1500
_WITH_FAULTS = 100
_SECONDS = 20.0
_AT_ONCE = 16

#: The most parts of a model that counts as small.
_SMALL = 300

#: The most characters or ids of a text for which a model is minimized, because its parts grow with their square.
_LONGEST = 200

#: For each kind of character, the character that replaces it in a simple text.
_PLAIN: tuple[tuple[Callable[[str], bool], str], ...] = (
    (str.isspace, " "),
    (str.isdecimal, "0"),
    (str.isalpha, "a"),
    (lambda character: not character.isalnum(), "."),
)


@dataclass(frozen=True)
class Small:
    """A minimized difference. ``model`` is in the neutral form; it is None if it could not be minimized.

    ``why`` says why not.
    """

    cause: Cause
    input: Mapping[str, Any]
    outcome: Outcome
    model: Mapping[str, Any] | None = None
    why: str = ""


class Minimizer:
    """Minimizes causes by requests to both sides.

    Args:
        sessions: the sessions with A and B.
        models: the models of A and B.
        units: the units of their spans.
        options: the options that each side gets with an operation.
        ids_alone: whether nothing but ids is compared.
    """

    def __init__(
        self,
        sessions: Sequence[Session],
        models: Sequence[UserModel],
        units: tuple[str, str],
        options: Sequence[Mapping[str, Mapping[str, Any]]] = ({}, {}),
        *,
        ids_alone: bool = False,
    ) -> None:
        self._ids_alone = ids_alone
        self._sessions, self._models, self._units, self._options = sessions, models, units, options
        self._outcome: Outcome | None = None
        self._names = 0
        self._left, self._until = 0, 0.0

    def minimize(self, group: Group) -> Small | None:
        """Minimize the input and model of a cause's example; None if the example does not show the cause again."""
        self._left, self._until, self._outcome = _CANDIDATES, time.monotonic() + _SECONDS, None
        cause, input = group.cause, group.example.input
        faults = [each["fault"] for each in (group.example.a, group.example.b) if each and "fault" in each]
        if faults:  # each candidate that shows a fault may cost a process, or its timeout
            self._left = 0 if "timeout" in faults else _WITH_FAULTS
        ((field, value),) = [(name, input[name]) for name in ("text", "ids", "tokens") if name in input] or [("", "")]
        if not field or not self._left or not self._shows(cause, [(None, {field: value})])[0]:
            return None
        value = self._minimize_input(cause, field, value)
        if not self._shows(cause, [(None, {field: value})], exempt=True)[0] or self._outcome is None:
            return None
        small = Small(cause, self._shown(cause, {field: value}), self._outcome)
        if self._models[0].sha256 != self._models[1].sha256:
            return small  # a smaller model of one side says nothing about the other's
        if len(value) > _LONGEST:
            return replace(small, why="the text is too long")
        return self._minimize_all(small, field, value)

    def _minimize_all(self, small: Small, field: str, value: Any) -> Small:
        """Minimize the model, and keep the input."""
        try:
            whole = self._models[0].neutral
        except Unsupported as refusal:
            return replace(small, why=refusal.message)
        model = self._touched(small, whole, field, value)
        if model is None:
            return replace(small, why="the neutral form of the model does not show it")
        value = _as_tokens(whole, field, value)
        model = self._minimize_model(small, model, field, value)
        if (left := _count_parts(model)) > _SMALL:
            late = time.monotonic() > self._until
            none = f"after {_SECONDS:g} s" if late else "and the difference disappears without any of them"
            return replace(small, why=f"{left:,} parts of the model are left, {none}")
        input = _input(model, field, value)
        if not self._shows(small.cause, [(model, input)], small.outcome, exempt=True)[0] or self._outcome is None:
            return replace(small, why="the difference disappears")
        return Small(small.cause, self._shown(small.cause, input), self._outcome, model)

    def _shown(self, cause: Cause, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an input with the options of a stream, which are part of the request."""
        return {**input, **(self._options[0].get(cause.operation, {}) if cause.operation == "decode_stream" else {})}

    def agree(self, model: Mapping[str, Any], texts: Sequence[str]) -> bool:
        """Return whether both sides encode texts in the same way with a small model, without a failure."""
        asked = [(model, {"text": text}) for text in texts]
        replies = [self._ask_models(index, "encode", asked) for index in (0, 1)]
        return all(
            isinstance(a, Answer)
            and isinstance(b, Answer)
            and compare_replies("encode", input, a, b, self._units).verdict is Verdict.PASS
            for (_, input), a, b in zip(asked, *replies, strict=True)
        )

    def _touched(self, small: Small, whole: Mapping[str, Any], field: str, value: Any) -> Mapping[str, Any] | None:
        """Leave out the parts that the input cannot touch; if that removes too much, use the whole model."""
        if field != "text":
            tokens = tokens_by_id(whole)
            keep = {tokens.get(item, "") for item in value} if field == "ids" else set(value)
            candidates = [_restrict(whole, keep, value), whole]
        else:
            keep = self._tokens_touched(small, whole, value)
            candidates = [_restrict(whole, keep, value), whole]
        wanted = _as_tokens(whole, field, value)
        for model in candidates:
            if self._shows(small.cause, [(model, _input(model, field, wanted))], small.outcome, exempt=True)[0]:
                return model
        return None

    def _tokens_touched(self, small: Small, whole: Mapping[str, Any], text: str) -> set[str]:
        """Return the tokens that a text can yield: parts of the output of any stage, and the tokens in the answers."""
        forms, answered = {text}, set[str]()
        for index in (0, 1):
            current = text
            for operation, key in (("normalize", "text"), ("pre_tokenize", "pieces")):
                (reply,) = self._ask(index, None, operation, [{"text": current}])
                if isinstance(reply, Answer):
                    result = reply.result[key]
                    current = result if key == "text" else "".join(piece[0] for piece in result)
                    forms.add(current)
            (reply,) = self._ask(index, None, "encode", [{"text": text}])
            if isinstance(reply, Answer):
                by_id = tokens_by_id(whole)
                answered |= {by_id.get(id, "") for id in reply.result.get("ids", ()) if id is not None}
                answered |= set(reply.result.get("tokens", ()))
        forms |= {"".join(answered), *(form.replace(" ", mark) for form in set(forms) for mark in ("▁", "Ġ"))}
        forms |= {f"▁{form}" for form in forms}
        bytes_of = {f"<0x{byte:02X}>" for form in forms for byte in form.encode("utf-8", "surrogatepass")}
        return {part for form in forms for part in _parts_of_text(form)} | answered | bytes_of

    def _minimize_input(self, cause: Cause, field: str, value: Any) -> Any:
        def shows(candidates: list[Any]) -> list[bool]:
            return self._shows(cause, [(None, {field: each}) for each in candidates])

        if len(value) > _AT_ONCE:
            value = narrow_sequence(value, shows)
        value = minimize_sequence(value, shows)
        return _simplify(value, shows) if isinstance(value, str) else value

    def _minimize_model(self, small: Small, model: Mapping[str, Any], field: str, value: Any) -> Mapping[str, Any]:
        def shows(questions: list[Question]) -> list[bool]:
            asked = [(each.model, _input(each.model, field, value)) for each in questions]
            return self._shows(small.cause, asked, small.outcome)

        question = Question(model, small.cause.operation, {})
        seconds = max(0.0, self._until - time.monotonic())
        return minimize(question, shows, seconds, _CANDIDATES, passes=PASSES_OF_MODEL, at_once=_AT_ONCE).model

    def _shows(
        self,
        cause: Cause,
        asked: Sequence[tuple[Mapping[str, Any] | None, Mapping[str, Any]]],
        like: Outcome | None = None,
        *,
        exempt: bool = False,
    ) -> list[bool]:
        """Return which models with inputs show a difference of the same cause, and the same answers as ``like``.

        Raises:
            Spent: the candidates or the seconds are used up; they do not limit the first request and the last.
        """
        if not exempt and (self._left < len(asked) or time.monotonic() > self._until):
            raise Spent
        self._left -= len(asked)
        replies = [self._ask_models(index, cause.operation, asked) for index in (0, 1)]
        found = []
        for (model, input), a, b in zip(asked, *replies, strict=True):
            if self._ids_alone:
                a, b = name_ids(a, b, partial(self._names_of, model))
            outcome = compare_replies(cause.operation, input, a, b, self._units)
            is_same = outcome.differs and cause_of(outcome, str(input.get("text", ""))) == cause
            is_same = is_same and (like is None or _answers(outcome) == _answers(like))
            self._outcome = outcome if is_same else self._outcome
            found.append(is_same)
        return found

    def _names_of(self, model: Mapping[str, Any] | None) -> Mapping[int, str]:
        return self._own_names if model is None else tokens_by_id(model)

    @cached_property
    def _own_names(self) -> Mapping[int, str]:
        """The tokens of the model, by id; an empty mapping if the sides have different models."""
        a, b = self._models
        return parts_of(a).vocabulary if a.sha256 == b.sha256 else {}

    def _ask_models(
        self, index: int, operation: str, asked: Sequence[tuple[Mapping[str, Any] | None, Mapping[str, Any]]]
    ) -> list[Reply]:
        options = self._options[index].get(operation, {})
        replies: list[Reply] = [Refused("unsupported", "cannot be written")] * len(asked)
        requests, places = [], []
        for place, (model, input) in enumerate(asked):
            self._names += model is not None
            name = "own" if model is None else f"small-{self._names}"
            file = self._models[index] if model is None else self._write(index, model)
            if file is not None:
                requests.append(Request(operation, name, {}, {**input, **options}, file))
                places.append(place)
        for number, reply in self._sessions[index].ask(requests):
            checked = check_form(operation, reply)
            replies[places[number]] = only_ids(checked) if self._ids_alone else checked
        return replies

    def _write(self, index: int, model: Mapping[str, Any]) -> UserModel | None:
        """Write a small model in the format in which the side gets the whole one; None if that is not possible."""
        accepted = self._sessions[index].hello.formats
        for format in self._models[index].ordered(accepted)[:1]:
            try:
                return UserModel(format, formats.write(format, model), "the small model", "")
            except (Unsupported, DataError):
                return None
        return None

    def _ask(
        self, index: int, model: Mapping[str, Any] | None, operation: str, inputs: Sequence[Mapping[str, Any]]
    ) -> list[Reply]:
        return self._ask_models(index, operation, [(model, input) for input in inputs])


def _answers(outcome: Outcome) -> list[Any]:
    """Return the parts of both replies that do not depend on a model's ids; the cause holds refusals and faults."""
    results = [reply.result if isinstance(reply, Answer) else {} for reply in (outcome.a, outcome.b)]
    return [[result[name] for name in ("tokens", "pieces", "text", "parts") if name in result] for result in results]


def _simplify(text: str, shows: Callable[[list[str]], list[bool]]) -> str:
    """Replace characters by plain ones, after lowercasing and NFKC, so that the model may do without a normalizer."""
    with suppress(Spent):
        for normal in (text.lower(), normalize("NFKC", text), normalize("NFKC", text.lower())):
            if normal != text and shows([normal])[0]:
                text = normal
        for at, character in enumerate(text):
            plain = next((plain for is_such, plain in _PLAIN if is_such(character)), character)
            if plain != character and shows([candidate := text[:at] + plain + text[at + 1 :]])[0]:
                text = candidate
    return text


def _parts_of_text(text: str) -> Iterator[str]:
    return (text[start:end] for start in range(len(text)) for end in range(start + 1, len(text) + 1))


# Models in the neutral form


def _as_tokens(model: Mapping[str, Any], field: str, value: Any) -> Any:
    """Return the tokens of ids, because the tokens of a smaller model have other ids."""
    tokens = tokens_by_id(model) if field == "ids" else {}
    return [tokens.get(id, id) for id in value] if field == "ids" else value


def _input(model: Mapping[str, Any] | None, field: str, value: Any) -> dict[str, Any]:
    if field != "ids" or model is None:
        return {field: value}
    ids = ids_of(model)
    return {"ids": [ids.get(item, len(ids)) if isinstance(item, str) else item for item in value]}


def _token(row: Any) -> str:
    return str(row if isinstance(row, str) else row["content"] if isinstance(row, Mapping) else row[0])


def _restrict(model: Mapping[str, Any], tokens: Collection[str], text: Any) -> Mapping[str, Any]:
    """Keep only some tokens, the merges that need no others, and the added tokens that are in a text.

    >>> model = {"type": "bpe", "vocabulary": ["a", "b", "c", "ab", "bc"], "merges": [["a", "b"], ["b", "c"]]}
    >>> _restrict(model, {"a", "b", "ab"}, "ab")
    {'type': 'bpe', 'vocabulary': ['a', 'b', 'ab'], 'merges': [['a', 'b']]}
    """
    prefix = model.get("continuing_prefix", "##" if model.get("type") == "wordpiece" else "")
    unknown = model.get("unknown_token")
    small: dict[str, Any] = dict(model)
    for key in ("special_tokens", "added_tokens"):
        if key in model:
            small[key] = [row for row in model[key] if _token(row) in text or _token(row) in tokens]
    added = {_token(row) for key in ("special_tokens", "added_tokens") for row in small.get(key, ())}
    for key in ("vocabulary", "tokens"):
        if key in model:
            small[key] = [
                row
                for row in model[key]
                if (token := _token(row)) in tokens
                or token.removeprefix(prefix) in tokens
                or token in added
                or token == unknown
            ]
    return without_names(small, model)


def _count_parts(model: Mapping[str, Any]) -> int:
    """Count the keys of a model, and the rows of its lists."""
    return sum(len(value) if isinstance(value, list) else 1 for value in model.values())
