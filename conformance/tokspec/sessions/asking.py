"""Asking a session about many texts: some hundreds in a message if that is offered, and one by one otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tokspec.formats.user_model import UserModel
from tokspec.protocol.messages import Answer, Reply, Request
from tokspec.protocol.replies import check_form
from tokspec.sessions.session import Session, in_order

#: How many texts are sent together, and their characters: enough to keep a program busy, few enough for memory.
BATCH = 256
CHARACTERS = 256 * 1024


class Many:
    """Makes many requests in one session with one model.

    Args:
        session: a session with the implementation.
        model: the model, which the session loads at the first request.
        note: called with every reply as it comes; it may raise.
    """

    def __init__(self, session: Session, model: UserModel, note: Callable[[Reply], None] = lambda reply: None) -> None:
        self._session, self._model, self._note = session, model, note

    def ids_of(self, texts: Sequence[str], options: Mapping[str, Any]) -> Iterator[list[Any] | None]:
        """Return the ids of each text, in order; None for one that was refused or failed, to be asked alone.

        Args:
            texts: the texts to encode.
            options: the options of each request, such as ``add_special_tokens``.
        """
        if "encode" in self._session.hello.many:
            return self._together("encode_many", ("texts", "ids"), texts, options)
        return self._each("encode", [{"text": text, **options} for text in texts], "ids")

    def texts_of(self, lists: Sequence[Sequence[Any]]) -> Iterator[str | None]:
        """Decode each list of ids, in order; None for one that was refused or failed."""
        if "decode" in self._session.hello.many:
            return self._together("decode_many", ("ids", "texts"), lists, {})
        return self._each("decode", [{"ids": ids} for ids in lists], "text")

    def _each(self, operation: str, inputs: Sequence[Mapping[str, Any]], field: str) -> Iterator[Any]:
        """Make one request after the other, and return a field of each answer; None for a refusal or a fault."""
        requests = [Request(operation, "own", {}, input, self._model) for input in inputs]
        for _, reply in in_order(self._session.ask(requests)):
            self._note(reply)
            checked = check_form(operation, reply)
            yield checked.result.get(field) if isinstance(checked, Answer) else None

    def _together(
        self, operation: str, keys: tuple[str, str], asked: Sequence[Any], options: Mapping[str, Any]
    ) -> Iterator[Any]:
        """Make requests in batches, and return the entry of each item in the answer; None for a refusal or a fault."""
        given, found = keys
        batches = list(_cut(asked))
        requests = [Request(operation, "own", {}, {given: batch, **options}, self._model) for batch in batches]
        for index, reply in in_order(self._session.ask(requests)):
            self._note(reply)
            checked = check_form(operation, reply)
            values = checked.result[found] if isinstance(checked, Answer) else []
            if len(values) != len(batches[index]):
                values = [None] * len(batches[index])
            yield from (None if isinstance(value, dict) else value for value in values)


def _cut(asked: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Split texts, or lists of ids, into batches."""
    start = size = 0
    for at, each in enumerate(asked, 1):
        size += len(each)
        if at - start >= BATCH or size >= CHARACTERS or at == len(asked):
            yield asked[start:at]
            start, size = at, 0
