"""The interface to an implementation for the rest of the suite: requests go in, replies come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import TracebackType
from typing import Any, Self, TypeVar

from tokspec import formats
from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault, Unsupported
from tokspec.formats.user_model import UserModel
from tokspec.protocol.messages import Refused, Reply, Request, is_unsupported
from tokspec.sessions.many import MESSAGES
from tokspec.suite.components import covers, needed_components, needed_options

_Made = TypeVar("_Made")

#: Operations that show how a model is trained.
_TRAINING = ("train", "training_trace", "training_state", "best_pair", "prune_step")


class Session(ABC):
    """A session with one implementation, started on construction and ended by ``close`` or a ``with`` block.

    A model is loaded before its first use, in the first of ``hello.formats`` that can express it. The request is
    refused as ``unsupported``, without asking, if no format can express the model, if its file means something else for
    the input, or if the implementation does not offer the operation, an option or a component of the model. If ``load``
    does not succeed, its reply is the reply to every request for that model.
    """

    @property
    @abstractmethod
    def hello(self) -> Hello:
        """The implementation's description of itself."""

    @property
    @abstractmethod
    def unblamed(self) -> Sequence[AdapterFault]:
        """Faults for which no request is to blame, because all outstanding requests were answered when repeated."""

    @property
    def end_faults(self) -> Sequence[AdapterFault]:
        """The faults in how its programs ended, once the session is closed (PROTO-3)."""
        return ()

    @abstractmethod
    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Return exactly one reply to each request, with the request's index, lazily and in any order."""

    def ask_in_parallel(
        self, requests: Sequence[Request], take: Callable[[int, Reply], _Made]
    ) -> Iterator[tuple[int, _Made]]:
        """Ask as much at once as the session can, and return the result of ``take`` for each request's index and reply.

        Results are returned in the order of the requests. They should be small, because one may wait for others.
        """
        return in_order((index, take(index, reply)) for index, reply in self.ask(requests))

    @abstractmethod
    def close(self) -> None:
        """End the session."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def in_order(made: Iterable[tuple[int, _Made]]) -> Iterator[tuple[int, _Made]]:
    """Return items with an index in the order of indices from 0, each as soon as all before it have come.

    >>> list(in_order([(1, "b"), (2, "c"), (0, "a")]))
    [(0, 'a'), (1, 'b'), (2, 'c')]
    """
    waiting: dict[int, _Made] = {}
    due = 0
    for index, each in made:
        if index < due or index in waiting:
            raise RuntimeError(f"request {index} was answered twice")
        waiting[index] = each
        while due in waiting:
            yield due, waiting.pop(due)
            due += 1


def refuse_unoffered(hello: Hello, request: Request) -> Refused | None:
    """Return a refusal if the implementation does not offer what a request needs; such a request is never sent.

    It may lack the operation, in general or for this type of model, an option of its input, or a component of its
    model. A user's own file is sent to the implementation whatever it contains, and so is a model if the implementation
    reads files itself.

    >>> hello = Hello("mytok", "0.3", "C", operations=("encode", "train"), other_trainers={"wordpiece": "by counts"})
    >>> refuse_unoffered(hello, Request("decode", "toy", {}, {}))
    Refused(reason='unsupported', message='does not offer decode')
    >>> refuse_unoffered(hello, Request("train", "toy", {"type": "wordpiece"}, {}))
    Refused(reason='unsupported', message='trains wordpiece by another algorithm: by counts')
    >>> refuse_unoffered(hello, Request("encode", "toy", {"padding": {}}, {"text": "b"}))
    Refused(reason='unsupported', message='does not know the component padding')
    >>> refuse_unoffered(hello, Request("encode", "toy", {}, {"text": "b", "pair": "g"}))
    Refused(reason='unsupported', message='does not know the option pair of encode')
    """
    if request.operation not in hello.operations and request.operation not in [MESSAGES[name] for name in hello.many]:
        return Refused("unsupported", f"does not offer {request.operation}")
    kind: str = request.model.get("type", "") if request.operation in _TRAINING else ""
    if kind in hello.other_trainers:
        return Refused("unsupported", f"trains {kind} by another algorithm: {hello.other_trainers[kind]}")
    for option in needed_options(request.input):
        if option not in (*hello.encode_options, *hello.decode_options):
            return Refused("unsupported", f"does not know the option {option} of {request.operation}")
    if hello.reads_file or request.file:
        return None
    return _unknown(undeclared(hello, request.model))


def undeclared(hello: Hello, model: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the components that a model needs and ``hello`` does not declare.

    >>> hello = Hello("mytok", "0.3", "C", operations=("encode",), components=("decoder",))
    >>> undeclared(hello, {"padding": {}, "decoder": {"type": "fuse"}})
    ('padding',)
    """
    return _undeclared(hello.components, _Same(model))


def _unknown(names: Sequence[str]) -> Refused | None:
    plural = "s" if len(names) > 1 else ""
    return Refused("unsupported", f"does not know the component{plural} {', '.join(names)}") if names else None


class _Same:
    """A model that is equal only to itself."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.model = model

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.model is self.model

    def __hash__(self) -> int:
        return id(self.model)


@lru_cache(16)  # requests with the same model follow each other
def _undeclared(declared: tuple[str, ...], same: _Same) -> tuple[str, ...]:
    return tuple(name for name in needed_components(same.model) if not covers(declared, name))


def refuse_limited(format: str, request: Request) -> Refused | None:
    """Return the refusal of a request for which the file of its model means something else; it is not sent.

    A user's own file has no such limit.

    >>> model = {"type": "bpe", "vocabulary": ["u", "g"]}
    >>> refuse_limited("tokspec", Request("encode", "toy", model, {"text": "mug"}))
    >>> refuse_limited("vocab.gguf", Request("decode", "toy", model, {"ids": [2]}))
    ... # doctest: +NORMALIZE_WHITESPACE
    Refused(reason='unsupported', message='vocab.gguf must have tokens that this model does not have, and the input
        has the id of one')
    """
    if request.file:
        return None
    try:
        formats.refuse_input(format, request.model, request.input)
    except Unsupported as refusal:
        return Refused(refusal.reason, refusal.message)
    return None


def plain_input(hello: Hello, text: str, *, adds: bool = False) -> dict[str, Any]:
    """Return the input of ``encode`` for a text and a user's own file, with or without added special tokens.

    >>> plain_input(Hello("mytok", "0.3", "C", operations=("encode",)), "bug")
    {'text': 'bug'}
    """
    return {"text": text, **({"add_special_tokens": adds} if "add_special_tokens" in hello.encode_options else {})}


def write_model(hello: Hello, content: Mapping[str, Any], file: UserModel | None = None) -> tuple[str, Any] | Refused:
    """Write a model in the first format of ``hello`` that can express it; a user's file is unchanged if possible.

    The neutral form is not a library's file, so a model with undeclared components is not sent in it.

    >>> write_model(Hello("mytok", "0.3", "C", ()), {"pre_tokenizer": {"type": "whitespace_split"}})
    ('tokspec', {'pre_tokenizer': {'type': 'whitespace_split'}})
    >>> write_model(Hello("mytok", "0.3", "C", (), formats=()), {})
    Refused(reason='unsupported', message='accepts no format')
    """
    reasons = []
    for name in _in_order(hello, file):
        written = _write(hello, content, file, name)
        if not isinstance(written, Refused):
            return name, written
        reasons.append(written.message)
    return Refused("unsupported", "; ".join(reasons) or "accepts no format")


def refused_to_load(hello: Hello, request: Request, format: str, reply: Reply) -> Reply:
    """Complete a refusal to load a model: mark it as one of the file, and say why earlier formats could not be sent.

    >>> hello = Hello("mytok", "0.3", "C", (), formats=("vocab.txt", "tokspec"))
    >>> request = Request("encode", "toy", {"type": "unigram"}, {"text": "a"})
    >>> refused_to_load(hello, request, "tokspec", Refused("unsupported", "no unigram here")).message
    'vocab.txt holds wordpiece models, and this one is of type unigram; no unigram here'
    """
    if not isinstance(reply, Refused):
        return reply
    names = _in_order(hello, request.file)
    before = [_write(hello, request.model, request.file, name) for name in names[: names.index(format)]]
    said = [each.message for each in before if isinstance(each, Refused)] if is_unsupported(reply) else []
    return replace(reply, message="; ".join([*said, reply.message]), of_file=format != "tokspec")


def _in_order(hello: Hello, file: UserModel | None) -> Sequence[str]:
    return file.ordered(hello.formats) if file else hello.formats


def _write(hello: Hello, content: Mapping[str, Any], file: UserModel | None, format: str) -> Any:
    """Write a model in a format, or return why it cannot be sent in that format."""
    if format == "tokspec" and not file and (unknown := _unknown(undeclared(hello, content))):
        return unknown
    try:
        return file.write(format) if file else formats.write(format, content)
    except Unsupported as refusal:
        return Refused("unsupported", refusal.message)
