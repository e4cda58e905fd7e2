"""The sides of a comparison: how a side is named, opened, and asked to encode millions of texts.

A side is an implementation (``NAME``, ``NAME@ENVIRONMENT``, ``module:object``), a program (``"PROGRAM ARGS"``) or a
recording (a file). When a worker encodes a corpus, it calls an adapter of this environment directly, by the adapter's
method ``encoder`` if it has one: ``encoder(model)`` returns a function from a text to its ids. All other requests use
the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from tokspec.adapter import Adapter, Hello
from tokspec.adapters.registry import find, names_program, open_session
from tokspec.adapters.tokfast import WITH_CHOICES
from tokspec.base.compression import without_compression
from tokspec.base.errors import AdapterFault, DataError, Refusal
from tokspec.base.json_values import copy_json
from tokspec.cli.options import files_of_implementation
from tokspec.compare.models import Loaded, digest, parts_of, write_for
from tokspec.compare.recording import Recording, read_recording
from tokspec.formats.user_model import UserModel
from tokspec.judge.verdicts import effective_choices
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.protocol.replies import check_form
from tokspec.sessions.adapter_server import describe_exception
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session
from tokspec.suite.recordings import ENDINGS, is_recording

#: Bytes of the largest reply of a program, and characters of the longest text that it gets, because the tokens, ids and
#: spans of a text are many values, and a line may have only a limited number.
_REPLY_BYTES = 64 * 1024**2
_LONGEST_ASKED = 80_000

#: Bytes of the largest file that is checked to see whether an implementation has changed.
_SOURCE_BYTES = 64 * 1024**2

#: The field that is compared for streams, in place of a field of an encoding.
PARTS = "parts"


@dataclass(frozen=True)
class Side:
    """A side as the user names it; exactly one of the first three fields is given.

    ``choices`` are options for one of the suite's own implementations, which accept any.
    """

    impl: str | None = None
    command: str | None = None
    recording: Recording | None = None
    choices: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        """The name that the user wrote."""
        return self.impl or self.command or (self.recording.name if self.recording else "")


def parse_side(word: str) -> Side:
    """Parse a word of the command line as a side; a recording is read and checked.

    Raises:
        DataError: it names a file that is not a recording.

    >>> parse_side("reference").impl, parse_side("node adapter.mjs").command
    ('reference', 'node adapter.mjs')
    """
    is_program = names_program(word)
    if is_recording(word) or (not is_program and without_compression(word).endswith(ENDINGS)):
        return Side(recording=read_recording(Path(word)))
    return Side(command=word) if is_program else Side(impl=word)


def open_side(side: Side, limits: Limits) -> Session:
    """Start an implementation or a program that will get a user's file.

    Raises:
        DataError: it cannot be found or started, or did not say ``hello`` properly.
    """
    limits = replace(limits, reply_bytes=_REPLY_BYTES)  # the answer to the longest text is the longest line
    try:
        found = None if side.impl is None else find(side.impl)
        if side.choices is not None and found is not None and found.is_ours:
            found = replace(found, choices=side.choices)
        return open_session(found, side.command, limits=limits, confined=True)
    except AdapterFault as fault:
        raise DataError(f"cannot be asked: {fault}", key=side.name) from None


def describe_sides(
    sides: Sequence[Side],
    models: Sequence[UserModel],
    limits: Limits,
    choices: Mapping[str, str],
    *,
    adds: bool,
    streams: bool = False,
) -> tuple[list[dict[str, Any]], list[Loaded], str]:
    """Return descriptions of the sides, what each loads, and what is compared: ids, tokens or parts of streams.

    The suite's own implementations adopt the choices of the other side.

    Args:
        sides: implementations or programs.
        models: the model of each.
        limits: the limits of their processes.
        choices: options that apply to both, whatever they declare.
        adds: whether encodings contain what a post-processor adds, if there is an option for that.
        streams: whether both decode the ids of A as a stream, and its parts are compared.

    Raises:
        DataError: one cannot be started or cannot take its model, or nothing that both give can be compared.
    """
    hellos = [_hello_of(side, limits) for side in sides]
    stream = stream_options(hellos)
    described, loaded = list[dict[str, Any]](), list[Loaded]()
    for side, model, hello, other in zip(sides, models, hellos, reversed(hellos), strict=True):
        needed = ["encode"] if not streams else ["encode", "decode_stream"] if not described else ["decode_stream"]
        if missing := [each for each in needed if each not in hello.operations]:
            raise DataError(f"does not offer {missing[0]}", key=hello.name)
        format, content = write_for(model, hello.formats, hello.name)
        taken = choices_for(side, other, choices)
        who = {"impl": side.impl, "command": side.command, "name": hello.name, "version": hello.version}
        who["sources"] = digest([[str(file), sha256(file.read_bytes()).hexdigest()] for file in sources_of(side.name)])
        described.append({**who, "format": format, "model": digest(content), "choices": taken, "adds": adds})
        described[-1] |= {"stream": stream} if streams else {}
        loaded.append(Loaded(content, parts_of(model).vocabulary))
    if not streams:
        return described, loaded, _field_of([hello.encode_fields for hello in hellos])
    if "ids" not in hellos[0].encode_fields:
        raise DataError("gives no ids to make a stream from; let it be B", key=hellos[0].name)
    return described, loaded, PARTS


def sources_of(name: str) -> Iterator[Path]:
    """Return the files that the name of an implementation mentions, except those that are too large for sources."""
    for file in files_of_implementation(name):
        if file.stat().st_size <= _SOURCE_BYTES:
            yield file


def stream_options(hellos: Sequence[Hello]) -> dict[str, Any]:
    """Return the options with which both sides decode a stream: the stream is ended if both can end one."""
    return {"end": True} if all("end" in hello.decode_options for hello in hellos) else {}


def choices_for(side: Side, other: Hello, choices: Mapping[str, str]) -> dict[str, str]:
    """Return the choices that a side adopts because the other side declares them."""
    if side.impl not in WITH_CHOICES:
        return {}
    declared = effective_choices(other, choices)
    return {name: option for name, option in declared.items() if name != "offset_unit"}


def _hello_of(side: Side, limits: Limits) -> Hello:
    with open_side(side, limits) as session:
        return session.hello


def _field_of(fields: Sequence[Sequence[str]]) -> str:
    """Return the field that is compared: ids if both give them, else tokens.

    >>> _field_of([("tokens", "ids"), ("ids",)]), _field_of([("tokens", "ids"), ("tokens",)])
    ('ids', 'tokens')
    """
    for field in ("ids", "tokens"):
        if all(field in each for each in fields):
            return field
    raise DataError("one gives only ids and the other only tokens; there is nothing to compare")


# Encoding a corpus

Outcome: TypeAlias = list[Any] | Refused | Fault
"""Ids, or the refusal or fault that the side returned instead."""


class Encoder(Protocol):
    """A side with its model in a worker. ``seconds`` is the limit for a text; None if the side has its own limit."""

    seconds: float | None

    def encode(self, texts: Sequence[str]) -> list[Outcome]: ...

    def answer(self, text: str) -> Reply: ...

    def stream(self, ids: Sequence[Sequence[int]]) -> list[Reply]: ...

    def take_faults(self) -> list[str]: ...

    def close(self) -> None: ...


def open_encoder(described: Mapping[str, Any], content: Any, field: str, limits: Limits) -> Encoder:
    """Start a side as :func:`describe_sides` described it, and let it load its model.

    Raises:
        DataError: it cannot be started or is another than described, or does not load the model.
    """
    field = "ids" if field == PARTS else field
    if described["command"] or find(described["impl"]).python:
        return _SessionEncoder(described, content, field, limits)
    return _AdapterEncoder(described, content, field, limits)


def _refuse_other(described: Mapping[str, Any], hello: Hello) -> None:
    if (hello.name, hello.version) != (described["name"], described["version"]):
        planned, found = f"{described['name']} {described['version']}", f"{hello.name} {hello.version}"
        raise DataError(f"was {planned} when the comparison began, and is {found}; give another folder with --output")


class _AdapterEncoder:
    """An adapter in this process."""

    def __init__(self, described: Mapping[str, Any], content: Any, field: str, limits: Limits) -> None:
        self.seconds: float | None = limits.case_seconds
        self._adapter = _make_adapter(described)
        hello, format = self._adapter.hello(), described["format"]
        _refuse_other(described, hello)
        try:
            self._model = self._adapter.load(format, content)
        except BaseException as error:
            said = str(error) if isinstance(error, Refusal) else describe_exception(error)
            raise DataError(f"does not load the model as {format}: {said}", key=described["name"]) from None
        takes_option = "add_special_tokens" in hello.encode_options
        self._options = {"add_special_tokens": described["adds"]} if takes_option else {}
        self._stream_options = described.get("stream", {})
        quick: Callable[[Any], Callable[[str], Outcome]] | None = getattr(self._adapter, "encoder", None)
        if quick is not None and field == "ids" and not described["adds"]:
            self._encode = quick(self._model)
        else:
            self._encode = lambda text: _field_in(self._run("encode", {"text": text, **self._options}), field)

    def _run(self, operation: str, input: Mapping[str, Any]) -> Reply:
        return check_form(operation, Answer(copy_json(self._adapter.run(operation, self._model, input))))

    def _reply(self, operation: str, input: Mapping[str, Any]) -> Reply:
        try:
            return self._run(operation, input)
        except BaseException as error:
            return _reply_of(error)

    def answer(self, text: str) -> Reply:
        return self._reply("encode", {"text": text, **self._options})

    def stream(self, ids: Sequence[Sequence[int]]) -> list[Reply]:
        return [self._reply("decode_stream", {"ids": [*each], **self._stream_options}) for each in ids]

    def encode(self, texts: Sequence[str]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        encode, append = self._encode, outcomes.append
        for text in texts:
            try:
                append(encode(text))
            except BaseException as error:  # a panic of an extension and SystemExit are no subclasses of Exception
                append(_reply_of(error))
        return outcomes

    def take_faults(self) -> list[str]:
        """Return no faults, because every fault of this process belongs to a text."""
        return []

    def close(self) -> None:
        """Do nothing, because there is no process to end."""


def _field_in(reply: Reply, field: str) -> Outcome:
    if not isinstance(reply, Answer):
        return reply
    return list(reply.result[field]) if field in reply.result else Fault("protocol", f"gives no {field}")


def _make_adapter(described: Mapping[str, Any]) -> Adapter:
    found = find(described["impl"])
    if found.is_ours:
        return WITH_CHOICES[described["impl"]](described["choices"])
    return found.make()


def _reply_of(error: BaseException) -> Refused | Fault:
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, Refusal):
        return Refused(error.reason, error.message)
    if isinstance(error, AdapterFault):
        return Fault(error.kind, error.message)
    return Fault("crash", describe_exception(error))


class _SessionEncoder:
    """A program, or an adapter in another environment, with many requests in flight and its own limits."""

    seconds: float | None = None

    def __init__(self, described: Mapping[str, Any], content: Any, field: str, limits: Limits) -> None:
        self._field = field
        self._model = UserModel(described["format"], content, "the model", described["model"])
        self._session = open_side(Side(described["impl"], described["command"]), limits)
        _refuse_other(described, self._session.hello)
        takes_option = "add_special_tokens" in self._session.hello.encode_options
        self._options = {"add_special_tokens": described["adds"]} if takes_option else {}
        self._stream_options = described.get("stream", {})
        self._faults = 0

    def encode(self, texts: Sequence[str]) -> list[Outcome]:
        return [_field_in(reply, self._field) for reply in self._ask("encode", "text", texts, self._options)]

    def answer(self, text: str) -> Reply:
        return self._ask("encode", "text", [text], self._options)[0]

    def stream(self, ids: Sequence[Sequence[int]]) -> list[Reply]:
        return self._ask("decode_stream", "ids", ids, self._stream_options)

    def _ask(self, operation: str, key: str, asked: Sequence[Any], options: Mapping[str, Any]) -> list[Reply]:
        replies: list[Reply] = [Refused("unsupported", "the text is longer than a reply may be")] * len(asked)
        places = [index for index, each in enumerate(asked) if len(each) < _LONGEST_ASKED]
        requests = [Request(operation, "own", {}, {key: asked[index], **options}, self._model) for index in places]
        for index, reply in self._session.ask(requests):
            replies[places[index]] = check_form(operation, reply)
        return replies

    def take_faults(self) -> list[str]:
        """Return the faults since the last call for which no text is to blame, such as an end after an answer."""
        new = list(map(str, self._session.unblamed))[self._faults :]
        self._faults += len(new)
        return new

    def close(self) -> None:
        self._session.close()
