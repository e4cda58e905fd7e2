"""The table by which SentencePiece normalizes, compiled from the Unicode database: NFKC on every text of the suite."""

from __future__ import annotations

import unicodedata

import pytest
from asking import TEXTS

from tokspec.adapters.reference import ReferenceAdapter

pytestmark = pytest.mark.interop

#: What it does to spaces besides.
NO_SPACES = dict.fromkeys(("add_dummy_prefix", "escape_whitespaces", "remove_extra_whitespaces"), False)


def of_reference() -> dict[str, str]:
    adapter = ReferenceAdapter()
    model = adapter.load("tokspec", {"normalizer": {"type": "nfkc"}})
    return {text: adapter.run("normalize", model, {"text": content})["text"] for text, content in TEXTS.items()}


def test_tokenizers_agrees() -> None:
    form = pytest.importorskip("tokenizers").normalizers.NFKC()
    assert {text: form.normalize_str(content) for text, content in TEXTS.items()} == of_reference()


def test_sentencepiece_leaves_marks_in_their_order() -> None:
    """A table of replacements moves no mark behind another; with the marks in order there is no difference."""
    table = pytest.importorskip("sentencepiece").SentencePieceNormalizer(rule_name="nfkc", **NO_SPACES)
    expected = of_reference()
    found = {text: table.normalize(content) for text, content in TEXTS.items()}
    assert {text for text in TEXTS if found[text] != expected[text]} == {
        *("all/joined", "all/lines", "marks/arabic-marks", "marks/hebrew-marks", "marks/marks-in-both-orders")
    }
    assert {text: unicodedata.normalize("NFC", normalized) for text, normalized in found.items()} == expected
