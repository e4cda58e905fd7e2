"""Streams: the text of ids that come one after another, up to a stop (``spec/16-streams.md``).

Everything is decoded again after each id, and compared with what was given: that is the rule itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from tokref.choices import Choices
from tokref.decoding import BYTE_TOKEN, decode_in_order, is_character, join_tokens, token_bytes
from tokref.errors import InputError
from tokref.pipeline import decode, prepare_decoding, tokens_of
from tokref.values import Component, Tokenizer


class Stopped(NamedTuple):
    """The part of each step of a stream, what its end gives, and the stop string or stop id that came, or None."""

    parts: list[str]
    end: str
    stopped: str | int | None


def decode_stream(
    ids: Sequence[int], tokenizer: Tokenizer, choices: Choices, skip_special_tokens: bool = False
) -> list[str]:
    """Decode ids one by one, without an end; return what becomes known with each (DEC-STREAM-1).

    Raises:
        InputError: ``unknown_id``.

    >>> from tokref import Bpe
    >>> tokenizer = Tokenizer(Bpe({"a": 0, "Ã": 1, "©": 2}), decoder=Component("byte_level"))
    >>> decode_stream([0, 1, 2, 0], tokenizer, Choices())
    ['a', '', 'é', 'a']
    """
    parts: list[str] = []
    given = ""
    for count in range(1, len(ids) + 1):
        text = decode(tokens_of(ids[:count], tokenizer, choices), tokenizer, choices, skip_special_tokens)
        # U+FFFD at the end may be the beginning of a character whose other bytes are still to come.
        is_whole = not text.endswith("\ufffd")  # DEC-STREAM-2, DEC-STREAM-3
        parts.append(text[len(given) :] if is_whole else "")
        given += parts[-1]
    return parts


class TextStream:
    """A stream: the ids that have gone in, and of their text what is settled, and what is open.

    What is settled has been given, and is not taken back. Decoders whose text later ids can change all the same are not
    specified, and a run of byte tokens that becomes invalid is not either (STREAM-9). ``open`` is what the end of the
    stream gives (STREAM-4).

    >>> from tokref import Bpe
    >>> tokenizer = Tokenizer(Bpe({"a": 0, "Ã": 1, "©": 2}), decoder=Component("byte_level"))
    >>> stream = TextStream(tokenizer, Choices())
    >>> stream.add([0, 1]), stream.open, stream.add([2]), stream.open
    ('a', '�', 'é', '')
    """

    def __init__(self, tokenizer: Tokenizer, choices: Choices, skip_special_tokens: bool = False) -> None:
        self._tokenizer, self._choices, self._skips = tokenizer, choices, skip_special_tokens
        self._ids, self._settled = list[int](), ""  # STREAM-8
        self.open = ""

    def add(self, ids: Sequence[int]) -> str:
        """Return what is settled with ids, one after another (STREAM-1, STREAM-5).

        Raises:
            InputError: ``unknown_id``.
        """
        return "".join(map(self._add, ids))

    def _add(self, id: int) -> str:
        self._ids.append(id)
        given = len(self._settled)
        text, self._settled = _decode(self._ids, self._tokenizer, self._choices, self._skips)
        self.open = text[len(self._settled) :]
        return self._settled[given:]  # STREAM-3


def decode_until(
    steps: Sequence[Sequence[int]],
    tokenizer: Tokenizer,
    choices: Choices,
    stops: Sequence[str],
    *,
    stop_ids: Iterable[int] = (),
    keep_stop: bool = False,
    prompt: Sequence[int] = (),
    skip_special_tokens: bool = False,
) -> Stopped:
    """Decode ids in steps until a stop comes (STOP-1).

    Raises:
        InputError: ``unknown_id``; ``invalid_input``, for an empty stop string.

    >>> from tokref import Bpe
    >>> tokenizer = Tokenizer(Bpe({"a": 0, "b": 1}), decoder=Component("fuse"))
    >>> decode_until([[0], [1], [0]], tokenizer, Choices(), ["ba"])
    Stopped(parts=['a', '', ''], end='', stopped='ba')
    """
    if "" in stops:  # STOP-7
        raise InputError("invalid_input", "a stop string is empty")
    stream = TextStream(tokenizer, choices, skip_special_tokens)
    stream.add(prompt)  # STREAM-6
    stop_ids = [*stop_ids]
    text = ""  # what is settled after the prompt, which is not searched (STOP-6)
    given = 0  # how much of it the parts have
    parts: list[str] = []
    stopped: str | int | None
    for number, step in enumerate(steps):
        for id in step:
            if id in stop_ids:
                before, stopped = _stop_at(id, text, stream, stops, keep_stop)
            else:
                text += stream.add([id])
                before, stopped = _cut(text, stops, keep_stop)
            if stopped is not None:  # STOP-4
                return Stopped([*parts, before[given:], *[""] * (len(steps) - number - 1)], "", stopped)
        # What may yet become a stop string is held back; a later step may show that it does not.
        safe = len(text) - _beginning_at_end(text, stops)  # STOP-2
        parts.append(text[given:safe])
        given = safe  # which is never less than before: what is held back begins no earlier
    before, stopped = _cut(text + stream.open, stops, keep_stop)  # STOP-3
    return Stopped(parts, before[given:], stopped)


def _stop_at(
    id: int, text: str, stream: TextStream, stops: Sequence[str], keep_stop: bool
) -> tuple[str, str | int | None]:
    """Return the text before a stop id, or up to its end with ``keep_stop``, and what stopped the stream (STOP-5).

    The stream ends there, so its open end may complete a stop string, which then comes first.
    """
    before, stopped = _cut(text + stream.open, stops, keep_stop)
    if stopped is not None:
        return before, stopped
    return (text + stream.add([id]) + stream.open if keep_stop else before), id


def _cut(text: str, stops: Sequence[str], keep_stop: bool) -> tuple[str, str | None]:
    """Cut a text at the stop string that ends first, the longest of them (STOP-1)."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text.endswith(stop, 0, end)]
        if found:
            stop = max(found, key=len)
            return text[: end if keep_stop else end - len(stop)], stop
    return text, None


def _beginning_at_end(text: str, stops: Sequence[str]) -> int:
    """Return the length of the longest end of a text that could be the beginning of a stop string (STOP-2)."""
    lengths = [length for stop in stops for length in range(1, len(stop)) if text.endswith(stop[:length])]
    return max(lengths, default=0)


def _decode(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices, skip_special_tokens: bool) -> tuple[str, str]:
    tokens = tokens_of(ids, tokenizer, choices)
    left, choices = prepare_decoding(tokens, tokenizer, choices, skip_special_tokens)  # STREAM-7
    return settle(left, tokenizer.decoder, choices)


def settle(tokens: Sequence[str], decoder: Component | None, choices: Choices) -> tuple[str, str]:
    """Return what tokens are decoded to, and of it what is not of the open end (STREAM-2)."""
    text = join_tokens(tokens, decoder, choices)
    if decoder is None:
        return text, text
    if decoder.type == "byte_level":
        begun = open_end(b"".join(map(token_bytes, tokens)))
        return text, text[:-1] if begun else text  # DEC-BYTE-2: it is one U+FFFD
    run = _last_run(tokens, decoder, choices)
    begun = open_end(run)
    # One byte that is wrong makes the whole run U+FFFD, and no byte after it can change that.
    is_lost = choices.byte_fallback_invalid == "run" and not _is_text(run[: len(run) - begun])  # DEC-FALLBACK-2
    if begun == 0 or is_lost:
        return text, text
    return text, join_tokens(tokens[:-begun], decoder, choices)  # each of these bytes is a token


def _last_run(tokens: Sequence[str], decoder: Component, choices: Choices) -> bytes:
    """Return the bytes of the byte tokens at the end, if the decoder joins such tokens to characters."""
    if decoder.type == "sentencepiece":
        return _bytes_at_end(tokens, decoder.parameters["byte"])
    stages = decoder.parameters["decoders"] if decoder.type == "sequence" else (decoder,)
    types = [stage.type for stage in stages]
    if "byte_fallback" not in types:
        return b""
    # It gets what the stages before it make of the tokens: a replacement can make a byte token, and break one.
    seen = decode_in_order(tokens, choices, decoders=stages[: types.index("byte_fallback")])
    return _bytes_at_end(seen, seen)


def _bytes_at_end(tokens: Sequence[str], byte_tokens: Sequence[str]) -> bytes:
    at_end = takewhile(lambda token: token in byte_tokens and BYTE_TOKEN.fullmatch(token), reversed(tokens))
    return bytes(int(token[3:5], 16) for token in at_end)[::-1]


def open_end(data: bytes) -> int:
    r"""Return how many bytes at the end are the beginning of a character, and not all of it (STREAM-2).

    >>> open_end(b"a\xe4\xbe"), open_end(b"a"), open_end(b"\xff")
    (2, 0, 0)
    """
    # A character has four bytes at most. Only one size can fit, for the first byte of a character is never a later one.
    for size in (1, 2, 3):
        if size <= len(data) and _is_beginning(data[-size:]):
            return size
    return 0


def _is_beginning(some: bytes) -> bool:
    """Whether bytes after these can make a character of them.

    They can if 80 or BF can, the first and the last byte that can be within a character: some first bytes allow only a
    few after them (E0 from A0, ED up to 9F, F0 from 90, F4 up to 8F), but each allows one of the two.
    """
    return any(is_character(some + fill * count) for fill in (b"\x80", b"\xbf") for count in (1, 2, 3))


def _is_text(some: bytes) -> bool:
    try:
        some.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
