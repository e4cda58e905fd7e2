"""Decoding by a decoder that is prepared once (``spec/07-decoding.md``).

What turns bytes into text or replaces patterns is done here for all tokens of a text; the other decoders are tokref's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from types import MappingProxyType

from tokfast.patterns import replace_matches
from tokfast.values import Cache
from tokref.choices import Choices
from tokref.decoding import decode_parts
from tokref.errors import InputError
from tokref.patterns import Pattern
from tokref.pre_tokenization import BYTE_CHARACTERS, puts_replacement, utf_8
from tokref.values import Component

_Step = Callable[[Sequence[str]], list[str]]

_BYTES = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


class Decoder:
    """A decoder of tokref, or none, prepared for many lists of tokens; ``spelled`` says which are spelled differently.

    >>> Decoder(Component("byte_level"), None, Choices()).join(["ä", "¾", "Ĩ"])
    '來'
    """

    def __init__(
        self,
        component: Component | None,
        pre_tokenizer: Component | None,
        choices: Choices,
        spelled: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._spelled = spelled
        self._has_bytes = component is not None and component.type == "byte_level"
        self._bytes = Cache(_bytes_of)
        if choices.metaspace_leading_space == "as_put":  # DEC-META-2
            removes = puts_replacement(pre_tokenizer)
            choices = replace(choices, metaspace_leading_space="removed" if removes else "kept")
        self.component, self.choices = component, choices
        if component is None:  # DEC-7
            separator = "" if choices.join_without_decoder == "nothing" else " "
            self._step: _Step = lambda tokens: [separator.join(tokens)]
        else:
            self._step = _step(component, choices)

    def join(self, tokens: Sequence[str]) -> str:
        """Join tokens, as :func:`tokref.decoding.join_tokens` does."""
        return "".join(self._step(self.spell(tokens))) if tokens else ""  # DEC-2

    def bytes_of(self, tokens: Iterable[str]) -> list[bytes]:
        """Return the bytes of each token (DEC-BYTES-1).

        Raises:
            InputError: ``unsupported``, where the decoder is not ``byte_level``.
        """
        if not self._has_bytes:
            raise InputError("unsupported", "tokens are bytes for the decoder byte_level alone")
        return [*map(self._bytes.__getitem__, self.spell(tokens))]

    def spell(self, tokens: Iterable[str]) -> list[str]:
        """Return tokens as the decoder gets them."""
        return [self._spelled.get(token, token) for token in tokens] if self._spelled else list(tokens)


def _step(component: Component, choices: Choices) -> _Step:
    if component.type in _STEPS:
        return _STEPS[component.type](choices, **component.parameters)
    return partial(decode_parts, decoder=component, choices=choices)


def _sequence(choices: Choices, decoders: Sequence[Component]) -> _Step:
    """Give each decoder the texts that the one before made (DEC-SEQUENCE-1)."""
    steps = [_step(decoder, choices) for decoder in decoders]
    return lambda tokens: reduce(lambda texts, step: step(texts), steps, list(tokens))


def _byte_level(choices: Choices) -> _Step:
    """Join the bytes of all tokens (DEC-BYTE-1)."""
    cache = Cache(_bytes_of)
    return lambda tokens: [b"".join(map(cache.__getitem__, tokens)).decode("utf-8", errors="replace")]


def replacing(choices: Choices, pattern: Pattern, content: str) -> _Step:
    """Replace every match of a pattern in each text (DEC-REPLACE-1)."""
    if pattern.source and not pattern.is_regex:
        return lambda tokens: [token.replace(pattern.source, content) for token in tokens]
    compiled = pattern.compile(choices)
    return lambda tokens: [replace_matches(compiled, content, token) for token in tokens]


def _bytes_of(token: str) -> bytes:
    """Return the bytes that a token stands for; one with a character that is not of the byte alphabet, its own."""
    values = [_BYTES.get(character, -1) for character in token]
    return utf_8(token) if -1 in values else bytes(values)  # DEC-BYTE-3


_STEPS: Mapping[str, Callable[..., _Step]] = {
    "sequence": _sequence,
    "byte_level": _byte_level,
    "replace": replacing,
}
