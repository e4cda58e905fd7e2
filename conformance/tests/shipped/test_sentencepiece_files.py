"""tokfast gives what sentencepiece gives, for every model file that packages ship and every text of the suite.

Where it does not, the cause stands here, with how it is recognized.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

import pytest
from fetch import read_manifest
from test_shipped_files import TEXTS, file

from tokfast import FastTokenizer
from tokref import Choices, Token, Tokenizer, Unigram, from_mapping
from tokref.unigram import nbest
from tokspec.formats import read, write
from tokspec.formats.files import pack
from tokspec.formats.on_disk import content_of
from tokspec.published.sentencepiece import CHOICES

pytestmark = [pytest.mark.interop, pytest.mark.slow]

FORMAT = "sentencepiece.model"
MODELS = [row["name"] for row in read_manifest() if row.get("format") == FORMAT]

BYTES = "BPE-BYTES-3: the last of the bytes has the span of the character, and the others have none"
MAPPED = "NORM-MAP-4: of a replacement only the last character has the span of what was replaced"
EQUAL = "UNI-SEG-3: equally probable segmentations, of which numbers of 32 bits take another"

CAUSES = {name: {BYTES} for name in MODELS} | {name: {EQUAL, MAPPED, BYTES} for name in ("jurassic-2", "mt5")}
"""For each file the causes of all differences."""


@dataclass(frozen=True)
class Shipped:
    """A file as the library and tokfast read it."""

    name: str
    model: dict[str, Any]
    library: Any
    tokenizer: Tokenizer
    fast: FastTokenizer


@pytest.fixture(scope="module", params=MODELS)
def shipped(request: pytest.FixtureRequest) -> Shipped:
    path = file(request.param)
    model = read(FORMAT, content_of(FORMAT, path))
    choices = Choices(**{key: option for key, option in CHOICES.items() if key != "offset_unit"})
    tokenizer = from_mapping(model)
    library = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(path))
    return Shipped(request.param, model, library, tokenizer, FastTokenizer(tokenizer, choices))


def causes_in(shipped: Shipped, text: str) -> Iterator[str]:
    """Return the causes of what differs in a text, or what differs."""
    found, wanted = shipped.fast.encode(text), shipped.library.encode(text, return_type="offset_mapping")
    if [token.id for token in found] != wanted["ids"]:
        ours, theirs = (
            score(shipped.tokenizer, [token.text for token in found]),
            score(shipped.tokenizer, wanted["pieces"]),
        )
        yield EQUAL if math.isclose(ours, theirs, rel_tol=1e-6) else f"tokens of {text!r}: {ours} and {theirs}"
        return
    for token, (start, end) in zip(found, wanted["offsets"], strict=True):
        if (token.start, token.end) != (start, end):
            yield cause_of(shipped, token, start, end)


def score(tokenizer: Tokenizer, tokens: Sequence[str]) -> float:
    """Add up the logarithms of the tokens that have one; of BPE nothing is equal to anything."""
    weights = tokenizer.model.weights if isinstance(tokenizer.model, Unigram) else {}
    return math.fsum(weights.get(token, 0.0) for token in tokens) if weights else math.nan


def cause_of(shipped: Shipped, token: Token, start: int, end: int) -> str:
    is_within = token.start <= start <= end <= token.end
    if is_within and token.text in shipped.model["piece_types"]["byte"] and start == end:
        return BYTES
    return MAPPED if shipped.model["normalizer"]["charsmap"] else f"span of {token}: {(start, end)}"


def test_tokfast_encodes_as_the_library(shipped: Shipped) -> None:
    causes = {cause for text in TEXTS for cause in causes_in(shipped, text)}
    assert causes == CAUSES[shipped.name]


def test_tokfast_decodes_as_the_library(shipped: Shipped) -> None:
    for text in TEXTS:
        ids = shipped.library.encode(text)
        assert shipped.fast.decode(shipped.fast.tokens_of(ids)) == shipped.library.decode(ids), text


def test_tokfast_normalizes_as_the_library(shipped: Shipped) -> None:
    assert [shipped.fast.normalize(text) for text in TEXTS] == [shipped.library.normalize(text) for text in TEXTS]


def test_a_written_copy_is_the_same_tokenizer(shipped: Shipped) -> None:
    copy = write(FORMAT, shipped.model)
    assert read(FORMAT, copy) == shipped.model
    from base64 import b64decode

    processor = type(shipped.library)(model_proto=b64decode(copy["files"][FORMAT]["base64"]))
    assert [processor.encode(text) for text in TEXTS] == [shipped.library.encode(text) for text in TEXTS]


def test_nbest_of_two_thousand_words() -> None:
    """A model of 2,600 pieces, trained on the suite's texts, gives the ten most probable segmentations of their words."""
    trainer, sentencepiece = (
        pytest.importorskip("sentencepiece").SentencePieceTrainer,
        pytest.importorskip("sentencepiece"),
    )
    written = BytesIO()
    trainer.train(
        sentence_iterator=iter(TEXTS), model_writer=written, vocab_size=2600, hard_vocab_limit=False,
        add_dummy_prefix=False, normalization_rule_name="identity", minloglevel=2,
    )  # fmt: skip
    library = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    model = from_mapping(read(FORMAT, pack({FORMAT: written.getvalue()}))).model
    assert isinstance(model, Unigram)
    words = dict.fromkeys(word for text in TEXTS for word in text.split() if len(word) <= 15 and "▁" not in word)
    known = [word for word in words if all(character in model.weights for character in word)]
    assert len(known) >= 2000
    for word in islice(known, 2000):
        found = [*map(tuple, library.nbest_encode(word, nbest_size=10, out_type=str))]
        wanted = nbest(word, model, 10)
        scores = [[math.fsum(model.weights[token] for token in tokens) for tokens in rows] for rows in (found, wanted)]
        assert scores[0] == pytest.approx(scores[1], rel=1e-6), word
        assert len({*found}) == len(found) == len(wanted), word


def test_gemma_is_the_same_in_both_formats_but_for_control_tokens() -> None:
    """A tokenizer.json finds control tokens and the unknown token in a text (ADDED-1); a model file does not (SP-TYPE-2)."""
    pieces = from_mapping(read(FORMAT, content_of(FORMAT, file("gemma-3-pieces"))))
    object_ = from_mapping(read("tokenizer.json", content_of("tokenizer.json", file("gemma-3"))))
    choices = Choices(bpe_merge_order="lowest_rank", byte_fallback_invalid="byte")
    first, second = FastTokenizer(pieces, choices), FastTokenizer(object_, choices)
    differing = [text for text in TEXTS if first.encode_ids(text) != second.encode_ids(text)]
    special = ("<pad>", "<eos>", "<bos>", "<unk>")
    assert differing == [text for text in TEXTS if any(token in text for token in special)]
    for text in TEXTS:
        ids = [id for id in first.encode_ids(text) if id is not None]
        assert text in differing or first.decode(first.tokens_of(ids)) == second.decode(second.tokens_of(ids))
