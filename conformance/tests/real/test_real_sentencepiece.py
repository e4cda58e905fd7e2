"""A SentencePiece model of 32,000 pieces, BPE with a fallback to bytes, said with merges and a pre-tokenizer.

So others than sentencepiece can be asked. What other formats cannot say is left out of the published model: its 256
pieces for bytes and its two control symbols. That loses nothing: what the published file does follows from it by two
rules, which are :func:`with_bytes` and :func:`as_sentencepiece_marks`. The file as it is, is compared where the files
that packages ship are.

The ranks are the scores and not the ids: the pieces for runs of spaces have the first ids and the lowest scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from asking import TEXTS, Encoded, differing, of_published, of_tokfast, refused, with_content
from published import model_file

from tokspec.adapters.tokfast import TokfastAdapter
from tokspec.formats import read, write
from tokspec.formats.files import pack
from tokspec.formats.tiktoken_ranks import merges_of

pytestmark = pytest.mark.interop

MODEL = "sentencepiece.model"
MARK = "▁"
PLAIN = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
CHOICES = {"bpe_merge_order": "lowest_rank"}
#: SentencePiece puts its mark before these too; the specification does not (PRE-META-2).
MARKED = {text for text, content in TEXTS.items() if content.startswith((" ", MARK))}
#: Those in which the unknown token is written out.
UNKNOWN = {text for text, content in TEXTS.items() if "<unk>" in content}


@pytest.fixture(scope="module")
def expressible() -> Mapping[str, Any]:
    """Return the published model without what the specification does not cover."""
    protocol = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    proto = protocol.ModelProto()
    proto.ParseFromString(model_file("mistral").read_bytes())
    kinds = [protocol.ModelProto.SentencePiece.Type.Value(kind) for kind in ("NORMAL", "UNKNOWN")]
    kept = [piece for piece in proto.pieces if piece.type in kinds]
    assert (len(proto.pieces), len(kept)) == (32_000, 31_742)
    del proto.pieces[:]
    proto.pieces.extend(kept)
    proto.trainer_spec.byte_fallback = False
    model = read(MODEL, pack({MODEL: proto.SerializeToString()}, {"decoder": {"type": "metaspace"}}))
    scores = dict(zip(model["vocabulary"], model.pop("scores"), strict=True))
    ranked = sorted(model["vocabulary"][1:], key=scores.__getitem__, reverse=True)
    return {**model, "merges": [list(merge) for merge in merges_of(ranked)]}


@pytest.fixture(scope="module")
def of_published_file() -> Encoded:
    """Return what SentencePiece makes of every text with the file as it is published."""
    processor = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(model_file("mistral")))
    return {text: processor.encode(content, out_type=str) for text, content in TEXTS.items()}


def as_sentencepiece_marks(text: str) -> str:
    """Add the space in whose place SentencePiece puts a mark, where the specification puts none."""
    return f" {text}" if text.startswith((" ", MARK)) else text


def with_bytes(found: Mapping[str, Any], text: str) -> list[str]:
    """Write every unknown token as the bytes of the characters that it stands for."""
    return [
        part
        for token, (start, end) in zip(found["tokens"], found["spans"], strict=True)
        for part in ([f"<0x{byte:02X}>" for byte in text[start:end].encode()] if token == "<unk>" else [token])
    ]


def test_tokfast_agrees_with_sentencepiece(expressible: Mapping[str, Any], of_published_file: Encoded) -> None:
    adapter = TokfastAdapter(CHOICES)
    model = adapter.load("tokspec", expressible)
    found = {}
    for text, content in TEXTS.items():
        marked = as_sentencepiece_marks(content)
        found[text] = with_bytes(adapter.run("encode", model, {"text": marked}), marked)
    assert found == of_published_file
    assert sum(map(len, found.values())) > 43_000


def test_the_first_space_is_all_that_sentencepiece_does_otherwise(
    expressible: Mapping[str, Any], of_published_file: Encoded
) -> None:
    adapter = TokfastAdapter(CHOICES)
    model = adapter.load("tokspec", expressible)
    found = {text: with_bytes(adapter.run("encode", model, {"text": TEXTS[text]}), TEXTS[text]) for text in TEXTS}
    assert differing(found, of_published_file) == MARKED


@pytest.mark.parametrize("name", ["tokenizers", "adapters/node/adapter.mjs"])
def test_others_agree(expressible: Mapping[str, Any], name: str) -> None:
    found = of_published(name, expressible)
    assert differing(found, of_tokfast(expressible, **CHOICES)) == set()
    assert refused(found) == {}


@pytest.mark.parametrize("name", ["tokenizers", "tokie", "release/kitoken", "adapters/node/adapter.mjs"])
def test_others_agree_with_bytes_too(expressible: Mapping[str, Any], of_published_file: Encoded, name: str) -> None:
    """A ``tokenizer.json`` can say the fallback: the pieces for bytes stand behind all others."""
    content = write("tokenizer.json", expressible)
    ids = content["model"]["vocab"]
    ids.update({f"<0x{byte:02X}>": len(ids) + byte for byte in range(256)})
    content["model"] |= {"byte_fallback": True, "fuse_unk": True}
    if name == "release/kitoken":  # it takes no unknown token that is not special, and so finds it in texts
        content["added_tokens"] = [{"id": ids["<unk>"], "content": "<unk>", "special": True, **PLAIN}]
    tokens = {id: token for token, id in ids.items()}
    found = with_content(name, "tokenizer.json", content, {text: as_sentencepiece_marks(TEXTS[text]) for text in TEXTS})
    named = {text: said if isinstance(said, str) else [tokens[id] for id in said] for text, said in found.items()}
    assert differing(named, of_published_file) == (UNKNOWN if name == "release/kitoken" else set())
    assert refused(named) == {}
