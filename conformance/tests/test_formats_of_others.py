"""Files that others wrote: what the suite reads of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokspec.fixtures import load_suite
from tokspec.formats import read, write
from tokspec.formats.on_disk import content_of, save

pytestmark = pytest.mark.interop


@pytest.mark.parametrize(("model_type", "size"), [("bpe", 60), ("unigram", 25)])
def test_what_sentencepiece_trains_is_read(model_type: str, size: int, tmp_path: Path) -> None:
    """What the suite reads of a trained model and writes again encodes as the trained model does."""
    package = pytest.importorskip("sentencepiece")
    texts = ["This is the Hugging Face course.", "This chapter is about tokenization."] * 9
    prefix = tmp_path / "trained"
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_prefix=str(prefix),
        model_type=model_type,
        vocab_size=size,
        normalization_rule_name="identity",
        bos_id=-1,
        eos_id=-1,
        minloglevel=2,
    )
    trained = package.SentencePieceProcessor(model_file=f"{prefix}.model")
    model = read("sentencepiece.model", content_of("sentencepiece.model", Path(f"{prefix}.model")))
    assert model["pre_tokenizer"]["type"] == "sequence"
    save("sentencepiece.model", write("sentencepiece.model", model), tmp_path / "again")
    again = package.SentencePieceProcessor(model_file=str(tmp_path / "again"))
    for text in ["This is a course about tokenization.", "xyz", "  two  spaces "]:
        assert again.encode(text) == trained.encode(text)
        assert again.decode(again.encode(text)) == trained.decode(trained.encode(text))


def test_what_tokenizers_saves_is_read() -> None:
    package = pytest.importorskip("tokenizers")
    models = {case.model.name: case.model.content for case in load_suite().cases.values()}
    for name, model in models.items():
        if ":" not in name:
            written = write("tokenizer.json", model)
            saved = package.Tokenizer.from_str(json.dumps(written)).to_str()
            expected = read("tokenizer.json", written)
            # The library reads a number to within its last bits.
            tokens = [[token, pytest.approx(weight, rel=1e-15)] for token, weight in expected.get("tokens", [])]
            assert read("tokenizer.json", json.loads(saved)) == ({**expected, "tokens": tokens} if tokens else expected)
