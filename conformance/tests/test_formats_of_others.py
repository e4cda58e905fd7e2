"""Files between the suite and others: what it reads of theirs, and what they say is in its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokspec.base.errors import Unsupported
from tokspec.formats import read, write
from tokspec.formats.on_disk import content_of, save
from tokspec.formats.tiktoken_ranks import from_bytes
from tokspec.suite.fixtures import load_suite

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
    assert model["normalizer"]["type"] == "sentencepiece"
    save("sentencepiece.model", write("sentencepiece.model", model), tmp_path / "again")
    again = package.SentencePieceProcessor(model_file=str(tmp_path / "again"))
    for text in ["This is a course about tokenization.", "xyz", "  two  spaces "]:
        assert again.encode(text) == trained.encode(text)
        assert again.decode(again.encode(text)) == trained.decode(trained.encode(text))


def test_what_tokenizers_saves_is_read() -> None:
    package = pytest.importorskip("tokenizers")
    models = {case.model.name: case.model.content for case in load_suite().cases.values()}
    for name, model in models.items():
        if ":" in name:
            continue
        try:
            written = write("tokenizer.json", model)
        except Unsupported:
            continue
        saved = package.Tokenizer.from_str(json.dumps(written)).to_str()
        expected = read("tokenizer.json", written)
        # The library reads a number to within its last bits.
        tokens = [[token, pytest.approx(weight, rel=1e-15)] for token, weight in expected.get("tokens", [])]
        if "special_tokens" in (template := expected.get("post_processor", {})):  # the library writes them by name
            template["special_tokens"] = sorted(template["special_tokens"], key=lambda token: token["name"])
        assert read("tokenizer.json", json.loads(saved)) == ({**expected, "tokens": tokens} if tokens else expected)


def test_tiktoken_reads_the_files_of_gpt2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes bytes in the order of GPT-2, and compares the ids with its own."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    load = pytest.importorskip("tiktoken.load")
    characters = sorted(from_bytes(bytes(range(256))))
    merges = [["h", "u"], ["Ġ", "hu"], ["Ġhu", "g"]]
    model = {"type": "bpe", "vocabulary": [*characters, "hu", "Ġhu", "Ġhug"], "merges": merges}
    save("vocab.json+merges.txt", write("vocab.json+merges.txt", model), tmp_path / "gpt2")
    files = str(tmp_path / "gpt2" / "merges.txt"), str(tmp_path / "gpt2" / "vocab.json")
    ranks = load.data_gym_to_mergeable_bpe_ranks(*files)
    assert [from_bytes(token) for token in sorted(ranks, key=ranks.__getitem__)] == model["vocabulary"]


def test_gguf_reads_the_tokens(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    case = load_suite().cases["bpe-four-lower-encode-document"]
    save("vocab.gguf", write("vocab.gguf", case.model.content), tmp_path / "vocab.gguf")
    fields = gguf.GGUFReader(tmp_path / "vocab.gguf").fields
    found = {name.removeprefix("tokenizer.ggml."): field.contents() for name, field in fields.items()}
    assert found["model"] == "gpt2"
    assert found["tokens"] == case.model.content["vocabulary"]
    assert found["merges"] == [" ".join(merge) for merge in case.model.content["merges"]]
    assert [id for id, kind in enumerate(found["token_type"]) if kind != 1] == [0]
