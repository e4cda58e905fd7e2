"""The two implementations that are compared, in the process that asks them.

An adapter in this environment is asked directly, by its method ``encoder`` if it has one: ``encoder(model)`` gives a
function from a text to its ids, for callers that encode millions of texts. A program is asked by the protocol, and so
is what is installed in another environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tokspec.adapter import Adapter, Hello
from tokspec.adapters.registry import find, open_session
from tokspec.base.errors import AdapterFault, DataError, Refusal
from tokspec.formats.user_model import UserModel
from tokspec.protocol.messages import Answer, Refused, Reply, Request
from tokspec.sessions.adapter_server import describe_exception
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session, plain_input
from tokspec.sweep.marker import LOADING, PROGRAM, Marker

__all__ = ["LocalSide", "Outcome", "ProgramSide", "Side", "Trouble", "hello_of", "open_side"]

#: Bytes of the largest reply of a program, and of the longest text that it is asked: the tokens, ids and spans of a
#: text are many values, of which a line has a bound.
REPLY_BYTES = 64 * 1024**2
LONGEST_ASKED = 80_000


@dataclass(frozen=True)
class Trouble:
    """What came instead of ids: ``kind`` is ``refusal``, ``unsupported``, ``crash``, ``timeout`` or ``protocol``."""

    kind: str
    message: str


Outcome: TypeAlias = list[Any] | Trouble


class Side(Protocol):
    """One of the two. ``is_local`` says whether it is asked in this process, where asking again costs little."""

    is_local: bool

    def ask(self, texts: Sequence[str], first: int, stage: int) -> list[Outcome]: ...

    def close(self) -> None: ...


def hello_of(side: Mapping[str, Any], limits: Limits) -> Hello:
    """Ask an implementation what it is.

    Raises:
        DataError: it cannot be started.
    """
    try:
        with open_session(side["impl"], side["command"], limits=limits) as session:
            return session.hello
    except AdapterFault as fault:
        raise DataError(f"cannot be asked: {fault}", key=side["impl"] or side["command"]) from None


def open_side(side: Mapping[str, Any], index: int, content: Any, field: str, limits: Limits, marker: Marker) -> Side:
    """Start an implementation and have it load its model.

    Args:
        side: its description in the plan.
        index: 0 or 1.
        content: the model in the side's format.
        field: ``ids`` or ``tokens``: what is compared.
        limits: of a program.
        marker: to note what is being done.

    Raises:
        DataError: it cannot be started or is another than in the plan, or does not load the model.
    """
    marker.move(-1, LOADING)
    if side["command"] or find(side["impl"]).python:
        return ProgramSide(side, index, content, field, limits, marker)
    return LocalSide(side, index, content, field, marker)


def _refuse_other(side: Mapping[str, Any], hello: Hello) -> None:
    if (hello.name, hello.version) != (side["name"], side["version"]):
        planned = f"{side['name']} {side['version']}"
        raise DataError(
            f"the plan is for {planned}, and this is {hello.name} {hello.version}; sweep into another folder"
        )


class LocalSide:
    """An adapter in this process."""

    is_local = True

    def __init__(self, side: Mapping[str, Any], index: int, content: Any, field: str, marker: Marker) -> None:
        self._index, self._marker = index, marker
        adapter = _adapter(side)
        _refuse_other(side, adapter.hello())
        format = side["format"]
        try:
            model = adapter.load(format, content)
        except Refusal as refusal:
            raise DataError(f"does not take the model as {format}: {refusal}", key=side["name"]) from None
        except BaseException as error:
            raise DataError(
                f"does not load the model as {format}: {describe_exception(error)}", key=side["name"]
            ) from None
        self._encode = _encoder(adapter, model, field)

    def ask(self, texts: Sequence[str], first: int, stage: int) -> list[Outcome]:
        """Encode texts, of which the first is document ``first``."""
        encode, numbers = self._encode, self._marker.numbers
        self._marker.move(first, stage + self._index, max(map(len, texts)))
        outcomes: list[Outcome] = []
        for number, text in enumerate(texts, first):
            numbers[1] = number
            try:
                outcomes.append(encode(text))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a panic of an extension and SystemExit are no Exception
                outcomes.append(_trouble(error))
        self._marker.move(-1, 0)
        return outcomes

    def close(self) -> None:
        """Nothing has to be ended."""


def _adapter(side: Mapping[str, Any]) -> Adapter:
    found = find(side["impl"])
    if found.is_ours:
        from tokspec.adapters.tokfast import WITH_CHOICES

        return WITH_CHOICES[side["impl"]](side["choices"])
    return found.make()


def _encoder(adapter: Adapter, model: Any, field: str) -> Callable[[str], list[Any]]:
    quick: Callable[[Any], Callable[[str], list[Any]]] | None = getattr(adapter, "encoder", None)
    if quick is not None and field == "ids":
        return quick(model)
    hello = adapter.hello()
    return lambda text: list(adapter.run("encode", model, plain_input(hello, text))[field])


def _trouble(error: BaseException) -> Trouble:
    if isinstance(error, Refusal):
        return Trouble(
            "unsupported" if error.reason == "unsupported" else "refusal", _reason(error.reason, error.message)
        )
    return Trouble("crash", describe_exception(error))


def _reason(reason: str, message: str) -> str:
    return message if reason == "unsupported" else reason


class ProgramSide:
    """A program, or an adapter in another environment: many requests in flight."""

    is_local = False

    def __init__(
        self, side: Mapping[str, Any], index: int, content: Any, field: str, limits: Limits, marker: Marker
    ) -> None:
        self._field, self._marker, self._stage = field, marker, PROGRAM + index
        self._model = UserModel(side["format"], content, "the model", side["model"])
        wide = Limits(limits.case_seconds, limits.start_seconds, REPLY_BYTES, limits.memory_mb)
        try:
            self._session: Session = open_session(side["impl"], side["command"], limits=wide)
        except AdapterFault as fault:
            raise DataError(f"cannot be asked: {fault}", key=side["name"]) from None
        _refuse_other(side, self._session.hello)

    def ask(self, texts: Sequence[str], first: int, stage: int) -> list[Outcome]:
        """Encode texts, of which the first is document ``first``."""
        self._marker.move(first, self._stage)
        outcomes: list[Outcome] = [Trouble("unsupported", "the text is longer than a reply may be")] * len(texts)
        asked = [place for place, text in enumerate(texts) if len(text) < LONGEST_ASKED]
        hello = self._session.hello
        requests = [Request("encode", "model", self._model, plain_input(hello, texts[place])) for place in asked]
        for index, reply in self._session.ask(requests):
            outcomes[asked[index]] = _outcome(reply, self._field)
        self._marker.move(-1, 0)
        return outcomes

    def close(self) -> None:
        """End the program."""
        self._session.close()


def _outcome(reply: Reply, field: str) -> Outcome:
    if isinstance(reply, Answer):
        return list(reply.result.get(field, ()))
    if isinstance(reply, Refused):
        return Trouble(
            "unsupported" if reply.reason == "unsupported" else "refusal", _reason(reply.reason, reply.message)
        )
    return Trouble(reply.kind, reply.message.partition("; standard error")[0])
