"""The vocabularies cl100k and o200k, of 100,256 and 199,998 tokens: tokfast and six others, on every text.

They cut texts by patterns of their own, for which the specification has no pre-tokenizer. Here the pattern that tiktoken
publishes cuts them, and tokfast encodes every piece on its own; all others cut by themselves. Special tokens are
left out: their ids leave gaps, and a neutral model has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import regex
from asking import TEXTS, of_tokfast, with_content
from published import encoded_in_node, model_file, tiktoken_encoding

from tokspec.formats import read, write
from tokspec.formats.on_disk import content_of

pytestmark = pytest.mark.interop

STAGES = {"pre_tokenizer": {"type": "byte_level", "use_regex": False}, "decoder": {"type": "byte_level"}}

#: The patterns as tokenizer.json files have them. tiktoken's own for cl100k means the same, with possessive quantifiers.
PATTERNS = {
    "cl100k_base": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}

JOINED = {"all/joined", "all/lines"}
#: Those with a byte order mark, which is white space for JavaScript alone.
BYTE_ORDER_MARKS = {text for text, content in TEXTS.items() if "\ufeff" in content}
#: The one where a contraction has a long s, which is an s where case does not count.
LONG_S = {"words/long-s"}
#: Those with a number that is a letter (Nl), a line of spaces between others, and a heart with a variation selector.
OTHER_CLASSES = {"numbers/roman", "white_space/blank-lines-with-spaces"}
#: The one with white space of every kind before an apostrophe.
APOSTROPHES = {"white_space/before-apostrophes"}
HEARTS = {"emoji/couples-of-two-tones", "emoji/mended-heart", "emoji/text-or-emoji-style"}

#: The texts of which an implementation makes other tokens, by encoding.
DIFFERING: Mapping[str, Mapping[str, set[str]]] = {
    "tokenizers": {"cl100k_base": set(), "o200k_base": set()},
    "release/kitoken": {"cl100k_base": set(), "o200k_base": set()},
    # for (?i:s) it knows small and capital letters of ASCII
    "adapters/node/adapter.mjs": {"cl100k_base": set(), "o200k_base": LONG_S | JOINED},
    # it knows the two patterns and has a program of its own for each
    "tokie": {
        "cl100k_base": OTHER_CLASSES | JOINED | APOSTROPHES,
        "o200k_base": OTHER_CLASSES | JOINED | HEARTS | LONG_S | APOSTROPHES,
    },
}
#: The same of the package that has the encodings built in.
BUILT_IN = {"cl100k_base": BYTE_ORDER_MARKS, "o200k_base": BYTE_ORDER_MARKS | LONG_S}


@dataclass(frozen=True)
class Known:
    """An encoding as the suite reads it, its pattern as tiktoken has it, and the ids that tiktoken makes."""

    name: str
    model: Mapping[str, Any]
    pattern: str
    expected: Mapping[str, list[int]]


@pytest.fixture(scope="module", params=PATTERNS)
def known(request: pytest.FixtureRequest) -> Known:
    name, encoding = str(request.param), tiktoken_encoding(request.param)
    content = content_of("vocab.tiktoken", model_file(name))
    model = read("vocab.tiktoken", {**content, "beside": STAGES})
    expected = {text: encoding.encode_ordinary(content) for text, content in TEXTS.items()}
    return Known(name, model, encoding._pat_str, expected)


def test_every_token_but_the_bytes_is_the_product_of_a_merge(known: Known) -> None:
    products = [left + right for left, right in known.model["merges"]]
    assert products == known.model["vocabulary"][256:]


@pytest.mark.parametrize(
    "choices",
    [{"bpe_pairs": "in_vocabulary"}, {"bpe_merge_order": "lowest_rank"}, {}],
    ids=["by ranks", "by merges", "by each merge once"],
)
def test_tokfast_agrees_piece_by_piece(known: Known, choices: dict[str, str]) -> None:
    pieces = {text: regex.findall(known.pattern, content) for text, content in TEXTS.items()}
    assert {text: "".join(found) for text, found in pieces.items()} == TEXTS
    encoded = of_tokfast(known.model, {piece: piece for found in pieces.values() for piece in found}, **choices)
    ids = {token: id for id, token in enumerate(known.model["vocabulary"])}
    assert {text: [ids[token] for piece in found for token in encoded[piece]] for text, found in pieces.items()} == (
        known.expected
    )
    assert sum(map(len, known.expected.values())) > 30_000


@pytest.mark.parametrize("name", DIFFERING)
def test_others_agree_but_where_it_is_known(known: Known, name: str) -> None:
    content = write("tokenizer.json", known.model)
    split = {"type": "Split", "pattern": {"Regex": PATTERNS[known.name]}, "behavior": "Isolated", "invert": False}
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, content["pre_tokenizer"]]}
    found = with_content(name, "tokenizer.json", content)
    refused = {text for text, ids in found.items() if isinstance(ids, str)}
    differing = {text for text, ids in found.items() if ids != known.expected[text]} - refused
    assert differing == DIFFERING[name][known.name]
    assert refused == set()


def test_what_a_package_has_built_in_agrees_but_where_it_is_known(known: Known) -> None:
    found = dict(zip(TEXTS, encoded_in_node(known.name, [*TEXTS.values()]), strict=True))
    assert {text for text, ids in found.items() if ids != known.expected[text]} == BUILT_IN[known.name]
