"""Streams in a time that grows with their ids and no faster (``spec/16-streams.md``).

Each kind of decoder has a class that takes one token after another, keeps what the next token may need, and gives what
is settled. Any other decoder is asked again for all tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from tokfast.decoding import replacing
from tokref.choices import Choices
from tokref.decoding import BYTE_TOKEN, MARK, decode_parts, decode_run, token_bytes
from tokref.streams import open_end, settle
from tokref.values import Component


class Tokens(Protocol):
    """Tokens that come one after another."""

    def add(self, token: str) -> str:
        """Return the text that is settled with a token."""

    def held(self) -> str:
        """Return what a decoder shows of the open end."""


class _Each:
    """Tokens of which each is a separate text; that of the first may differ."""

    def __init__(self, text: Callable[[str], str], first: Callable[[str], str] | None = None) -> None:
        self._next, self._text = first or text, text

    def add(self, token: str) -> str:
        text, self._next = self._next(token), self._text
        return text

    def held(self) -> str:
        return ""


class _Bytes:
    """Tokens whose bytes are joined (DEC-BYTE-1)."""

    def __init__(self) -> None:
        self._open = b""

    def add(self, token: str) -> str:
        whole, self._open = _at_open_end(self._open + token_bytes(token))
        return whole.decode("utf-8", "replace")

    def held(self) -> str:
        return "\ufffd" if self._open else ""


class _Run:
    """The bytes of a run of byte tokens (DEC-FALLBACK-2)."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.restart()

    def restart(self) -> None:
        """Begin another run."""
        self._open, self._length, self._given, self._is_valid = b"", 0, 0, True

    def add(self, byte: bytes) -> str:
        """Return the text that is settled with a byte."""
        self._length += 1
        self._open += byte
        if self._choices.byte_fallback_invalid == "run":
            text = self._of_run()
        else:
            whole, self._open = _at_open_end(self._open)
            text = decode_run(whole, self._choices)
        self._given += len(text)
        return text

    def _of_run(self) -> str:
        whole, self._open = _at_open_end(self._open)
        try:
            if self._is_valid:
                return whole.decode("utf-8")
        except UnicodeDecodeError:
            self._is_valid = False
        self._open = b""
        return "\ufffd" * (self._length - self._given)

    def held(self) -> str:
        """Return what is shown of the bytes of a character that is not whole."""
        if self._choices.byte_fallback_invalid == "run":
            return "\ufffd" * (self._length - self._given) if self._open else ""
        return decode_run(self._open, self._choices)


def _at_open_end(data: bytes) -> tuple[bytes, bytes]:
    """Cut bytes before the open end."""
    place = len(data) - open_end(data)
    return data[:place], data[place:]


class _Pieces:
    """Tokens of SentencePiece (SP-DEC-1 to SP-DEC-4)."""

    def __init__(
        self,
        choices: Choices,
        control: Sequence[str] = (),
        byte: Sequence[str] = (),
        unknown_token: str | None = None,
        *,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        unk_surface: str = " ⁇ ",
    ) -> None:
        self._control, self._byte, self._unknown = frozenset(control), frozenset(byte), unknown_token
        self._removes, self._removes_all = add_dummy_prefix or remove_extra_whitespaces, remove_extra_whitespaces
        self._surface, self._run, self._is_empty = unk_surface, _Run(choices), True

    def add(self, token: str) -> str:
        if token in self._byte and (match := BYTE_TOKEN.fullmatch(token)):
            text = self._run.add(bytes.fromhex(match[1]))
        else:
            text = self._run.held()
            self._run.restart()
            self._is_empty &= not text
            text += self._of_piece(token)
        self._is_empty &= not text
        return text

    def _of_piece(self, token: str) -> str:
        if token == self._unknown:
            return self._surface
        if token in self._control:
            return ""
        if self._removes and self._is_empty and token.startswith(MARK):
            token, self._removes = token.removeprefix(MARK), self._removes_all
        return token.replace(MARK, " ")

    def held(self) -> str:
        return self._run.held()


class _Sequence:
    """Tokens in which something is replaced, with runs of bytes among them; the start of the text is stripped."""

    def __init__(self, decoders: Sequence[Component], choices: Choices) -> None:
        of = {decoder.type: decoder.parameters for decoder in decoders}
        self._replace = [replacing(choices, **each.parameters) for each in decoders if each.type == "replace"]
        self._run = _Run(choices) if "byte_fallback" in of else None
        self._content, self._strips = of.get("strip", {}).get("content", ""), of.get("strip", {}).get("start", 0)

    def add(self, token: str) -> str:
        for replace in self._replace:
            (token,) = replace([token])
        match = BYTE_TOKEN.fullmatch(token) if self._run else None
        if self._run and match:
            return self._strip(self._run.add(bytes.fromhex(match[1])))
        held = self.held()
        if self._run:
            self._run.restart()
        return self._strip(held + token)

    def _strip(self, text: str) -> str:
        while self._strips and text.startswith(self._content):  # DEC-STRIP-1
            text, self._strips = text.removeprefix(self._content), self._strips - 1
        if text:
            self._strips = 0
        return text

    def held(self) -> str:
        return self._run.held() if self._run else ""


class _All:
    """Tokens whose decoder is asked again for all of them."""

    def __init__(self, component: Component, choices: Choices) -> None:
        self._component, self._choices = component, choices
        self._tokens, self._settled = list[str](), ""
        self.whole = ""

    def add(self, token: str) -> str:
        self._tokens.append(token)
        before = len(self._settled)
        self.whole, self._settled = settle(self._tokens, self._component, self._choices)
        return self._settled[before:]

    def held(self) -> str:
        return self.whole[len(self._settled) :]


def tokens_of_stream(component: Component | None, choices: Choices) -> Tokens:
    """Return what takes tokens one by one as a decoder takes them all."""
    if component is None:  # DEC-7
        space = "" if choices.join_without_decoder == "nothing" else " "
        return _Each(lambda token: space + token, str)
    if component.type == "byte_level":
        return _Bytes()
    if component.type == "sentencepiece":
        return _Pieces(choices, **component.parameters)
    if component.type == "metaspace" or (component.type == "wordpiece" and choices.wordpiece_cleanup == "each_token"):
        return _Each(
            lambda token: decode_parts(["", token], component, choices)[1],
            lambda token: decode_parts([token], component, choices)[0],
        )
    decoders = component.parameters.get("decoders", (component,))
    kinds = " ".join(decoder.type for decoder in decoders)
    if _SIMPLE.fullmatch(kinds) and not any(each.parameters.get("stop") for each in decoders):
        return _Sequence(decoders, choices)
    return _All(component, choices)


#: The decoders of a sequence that can be taken one token after another.
_SIMPLE = re.compile("(replace ?)*(byte_fallback ?)?(fuse ?(strip)?)?")


def parts_without_end(tokens: Iterable[str], component: Component | None, choices: Choices) -> list[str]:
    """Return what becomes known of a text with each token (DEC-STREAM-1 to DEC-STREAM-3)."""
    stream = tokens_of_stream(component, choices)
    parts: list[str] = []
    known, given = "", 0  # what is known and was not given, and how much was
    for token in tokens:
        known += stream.add(token)
        if isinstance(stream, _All):  # what a later token changes is not specified (DEC-STREAM-4); so does tokref
            known = stream.whole[given:]
        is_whole = not (stream.held() or known.endswith("\ufffd"))
        parts.append(known if is_whole else "")
        given += len(parts[-1])
        known = "" if is_whole else known
    return parts


class TextStream:
    """A stream of ids, which ``spelled`` turns into tokens."""

    def __init__(self, tokens: Tokens, spelled: Callable[[Sequence[int]], Sequence[str]]) -> None:
        self._tokens, self._spelled = tokens, spelled

    @property
    def open(self) -> str:
        """What the end of the stream gives (STREAM-4)."""
        return self._tokens.held()

    def add(self, ids: Sequence[int]) -> str:
        """Return what is settled with ids (STREAM-1, STREAM-5)."""
        return "".join(map(self._tokens.add, self._spelled(ids)))


class Stops:
    """Stop strings, looked for in a text that grows (STOP-1, STOP-2); ``held`` is what is held back."""

    def __init__(self, stops: Sequence[str], keep_stop: bool) -> None:
        self._stops, self._keeps = stops, keep_stop
        self.held = ""

    def add(self, text: str) -> tuple[str, str | None]:
        """Return what of a text that follows is given, and the stop string that it ends with, if any."""
        text = self.held + text
        found = [(at + len(stop), -len(stop), stop) for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            end, _, stop = min(found)
            return text[: end if self._keeps else end - len(stop)], stop
        size = max((size for stop in self._stops for size in _beginnings(stop, text)), default=0)
        self.held = text[len(text) - size :]
        return text[: len(text) - size], None


def _beginnings(stop: str, text: str) -> Iterable[int]:
    return (size for size in range(1, len(stop)) if text.endswith(stop[:size]))
