"""Decoding: tokens back to text (``spec/07-decoding.md``).

A decoder is a function from a list of tokens to a list of texts, found in a table by the type that the model names. Its
parameters that can only be named are those of the component, with the defaults of the specification. A sequence of
decoders hands that list on; at the end the texts are joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Literal

from tokref.choices import Choices
from tokref.patterns import Pattern, find_matches
from tokref.pre_tokenization import BYTE_CHARACTERS, utf_8
from tokref.values import Character, Component


def join_tokens(tokens: Sequence[str], decoder: Component | None, choices: Choices) -> str:
    """Join tokens by a decoder or, without one, directly or with one space between them.

    >>> join_tokens(["Hugg", "##ing", "Face"], Component("wordpiece", {"prefix": "##", "cleanup": False}), Choices())
    'Hugging Face'
    """
    if not tokens:  # DEC-2
        return ""
    if decoder is None:  # DEC-7
        return ("" if choices.join_without_decoder == "nothing" else " ").join(tokens)
    return "".join(decode_parts(tokens, decoder, choices))


def decode_parts(tokens: Sequence[str], decoder: Component, choices: Choices) -> list[str]:
    """Return the texts that a decoder makes of tokens (DEC-SEQUENCE-1)."""
    return DECODERS[decoder.type](tokens, choices, **decoder.parameters)


def decode_in_order(tokens: Sequence[str], choices: Choices, *, decoders: tuple[Component, ...]) -> list[str]:
    """Give each decoder the texts that the one before made (DEC-SEQUENCE-1)."""
    parts = list(tokens)
    for decoder in decoders:
        parts = decode_parts(parts, decoder, choices)
    return parts


def decode_byte_level(tokens: Sequence[str], choices: Choices) -> list[str]:
    """Join the bytes of all tokens, and only then decode them (DEC-BYTE-1).

    >>> decode_byte_level(["ä", "¾", "Ĩ"], Choices()), decode_byte_level(["ä", "¾"], Choices())
    (['來'], ['�'])
    """
    joined = b"".join(token_bytes(token) for token in tokens)
    return [joined.decode("utf-8", errors="replace")]  # DEC-BYTE-2: Python replaces maximal subparts


def decode_metaspace(
    tokens: Sequence[str],
    choices: Choices,
    *,
    replacement: Character = "▁",
    prepend_scheme: Literal["always", "first", "never"] = "always",
) -> list[str]:
    """Replace every replacement character by a space (DEC-META-1)."""
    first, *others = tokens or [""]
    if prepend_scheme != "never":  # DEC-META-3
        # Encoding may have put this space there, or the text may have begun with one: the tokens do not tell.
        if choices.metaspace_leading_space == "removed":  # DEC-META-2
            first = first.removeprefix(replacement)
        elif choices.metaspace_leading_space == "removed_from_first_token":
            first = first.replace(replacement, "")
    return [token.replace(replacement, " ") for token in (first, *others)]


def decode_wordpiece(
    tokens: Sequence[str], choices: Choices, *, prefix: str = "##", cleanup: bool = False
) -> list[str]:
    """Put a space before each token but continuing ones, which lose their prefix (DEC-WP-1).

    >>> decode_wordpiece(["do", "##nt", "!"], Choices(), cleanup=True)
    ['do', 'nt', '!']
    """
    first, *others = tokens or [""]
    parts = [first, *(token.removeprefix(prefix) if token.startswith(prefix) else " " + token for token in others)]
    # Token by token, a replacement that spans two tokens is not found: " '" and " s" stay apart.
    if cleanup and choices.wordpiece_cleanup == "each_token":  # DEC-WP-2
        parts = [clean_up(part) for part in parts]
    return [clean_up("".join(parts))] if cleanup and choices.wordpiece_cleanup == "whole_text" else parts


def decode_bytes(tokens: Sequence[str], choices: Choices) -> list[str]:
    """Turn each run of byte tokens into the text that its bytes are (DEC-FALLBACK-1).

    >>> decode_bytes(["a", "<0xC3>", "<0xA9>", "<0xC3>"], Choices())
    ['a', '���']
    """
    parts: list[str] = []
    run = b""
    for token in tokens:
        match = BYTE_TOKEN.fullmatch(token)
        if match:
            run += bytes([int(match[1], 16)])
            continue
        parts += [decode_run(run, choices)] if run else []
        parts.append(token)
        run = b""
    return parts + ([decode_run(run, choices)] if run else [])


BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
"""A token that stands for a byte (BYTES-1)."""


def decode_run(run: bytes, choices: Choices) -> str:
    r"""Decode a run of bytes (DEC-FALLBACK-2).

    >>> decode_run(b"\xc3\xa9", Choices()), decode_run(b"a\xc3", Choices(byte_fallback_invalid="byte"))
    ('é', 'a�')
    """
    try:
        return run.decode("utf-8")
    except UnicodeDecodeError:
        # One byte too many spoils the whole run here, and a reader sees from the count how many bytes there were.
        if choices.byte_fallback_invalid == "run":
            return "\ufffd" * len(run)
    text = ""
    while run:
        length = next((size for size in (1, 2, 3, 4) if is_character(run[:size])), 0)
        text += run[:length].decode("utf-8") if length else "\ufffd"
        run = run[length or 1 :]
    return text


def is_character(some: bytes) -> bool:
    """Whether bytes are the UTF-8 of one character."""
    try:
        return len(some.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def fuse(tokens: Sequence[str], choices: Choices) -> list[str]:
    """Join everything into one text (DEC-FUSE-1)."""
    return ["".join(tokens)]


def strip_each(tokens: Sequence[str], choices: Choices, *, content: Character, start: int, stop: int) -> list[str]:
    """Remove a character from both ends of each text, at most so often (DEC-STRIP-1).

    >>> strip_each(["  a ", " "], Choices(), content=" ", start=1, stop=1)
    [' a', '']
    """
    parts: list[str] = []
    for token in tokens:
        for _ in range(min(start, len(token))):
            token = token.removeprefix(content)
        for _ in range(min(stop, len(token))):
            token = token.removesuffix(content)
        parts.append(token)
    return parts


def replace_in_each(tokens: Sequence[str], choices: Choices, *, pattern: Pattern, content: str) -> list[str]:
    """Replace every match of a pattern in each text (DEC-REPLACE-1)."""
    parts: list[str] = []
    for token in tokens:
        text, place = "", 0
        for begin, end in find_matches(pattern, token, choices):
            text += token[place:begin] + content
            place = end
        parts.append(text + token[place:])
    return parts


def decode_suffix(tokens: Sequence[str], choices: Choices, *, suffix: str) -> list[str]:
    """Turn the mark of the end of a word into a space, but none after the last word (DEC-BPE-1).

    >>> decode_suffix(["hug", "s</w>", "bun</w>"], Choices(), suffix="</w>")
    ['hug', 's ', 'bun']
    """
    # The mark tells where a word ends, and no word follows the last one: a space there would be in no text.
    last = len(tokens) - 1
    return [token.replace(suffix, "" if place == last else " ") for place, token in enumerate(tokens)]


def decode_ctc(
    tokens: Sequence[str],
    choices: Choices,
    *,
    pad_token: str = "<pad>",
    word_delimiter_token: str = "|",
    cleanup: bool = True,
) -> list[str]:
    """Join what a model of speech puts out for each moment: the pad token keeps two equal letters apart.

    A letter that is held for several moments is given several times, and is one letter. So "ll" has to be given with a
    pad token between.

    >>> decode_ctc(["a", "a", "<pad>", "a", "|", "b"], Choices())
    ['a', 'a', ' ', 'b']
    """
    runs = [token for token, _ in groupby(tokens)]  # DEC-CTC-1
    parts = [token.replace(pad_token, "") for token in runs]  # DEC-CTC-2
    if cleanup:  # DEC-CTC-3
        parts = [clean_up(part).replace(word_delimiter_token, " ") for part in parts]
    return [part for part in parts if part]


def decode_pieces(
    tokens: Sequence[str],
    choices: Choices,
    control: Sequence[str] = (),
    byte: Sequence[str] = (),
    unknown_token: str | None = None,
    *,
    add_dummy_prefix: bool = True,
    remove_extra_whitespaces: bool = True,
    unk_surface: str = " ⁇ ",
) -> list[str]:
    """Make a text of tokens by their kinds (SP-DEC-1 to SP-DEC-4), which the model knows and not the component.

    >>> decode_pieces(["<s>", "▁a", "▁b", "<unk>"], Choices(), ["<s>"], (), "<unk>")
    ['a b ⁇ ']
    """
    text, run = "", b""
    removes = add_dummy_prefix or remove_extra_whitespaces
    for token in tokens:
        match = BYTE_TOKEN.fullmatch(token) if token in byte else None
        if match:
            run += bytes([int(match[1], 16)])
            continue
        text, run = text + decode_run(run, choices), b""  # SP-DEC-4
        if token == unknown_token:  # SP-DEC-3
            text += unk_surface
        elif token not in control:  # SP-DEC-1: <s> and the like were put around the text and are none of it
            if removes and not text and token.startswith(MARK):  # SP-DEC-2
                token = token.removeprefix(MARK)
                removes = remove_extra_whitespaces
            text += token.replace(MARK, " ")
    return [text + decode_run(run, choices)]


MARK = "▁"
"""The character that stands for a space in SentencePiece."""


def clean_up(text: str) -> str:
    """Take out spaces before punctuation and contractions, one kind after the other (DEC-WP-3)."""
    for old, new in CLEANUP:
        text = text.replace(old, new)
    return text


CLEANUP = (
    *((" " + mark, mark) for mark in ".?!,"),
    (" ' ", "'"),
    *((" " + ending, ending) for ending in ("n't", "'m", "'s", "'ve", "'re")),
)
"""What is replaced, and by what, in this order: that of ``clean_up_tokenization`` of transformers.

Each works on what those before it have made. It is made for English, and changes texts of other languages all the same.
"""


def token_bytes(token: str) -> bytes:
    """Return the bytes that a token of the vocabulary stands for.

    >>> token_bytes("Ġ中"), token_bytes("Ġa")
    (b'\xc4\xa0\xe4\xb8\xad', b' a')
    """
    if all(character in BYTE_CHARACTERS for character in token):
        return bytes(BYTE_CHARACTERS.index(character) for character in token)
    # A character outside the byte alphabet shows that the token, mostly an added one, was never written as bytes, so it
    # stands for its own text. An added token such as é has only characters of the alphabet, and is read as bytes.
    return utf_8(token)  # DEC-BYTE-3


DECODERS: Mapping[str, Callable[..., list[str]]] = {
    "byte_level": decode_byte_level,
    "metaspace": decode_metaspace,
    "wordpiece": decode_wordpiece,
    "byte_fallback": decode_bytes,
    "fuse": fuse,
    "strip": strip_each,
    "replace": replace_in_each,
    "bpe": decode_suffix,
    "ctc": decode_ctc,
    "sentencepiece": decode_pieces,
    "sequence": decode_in_order,
}
