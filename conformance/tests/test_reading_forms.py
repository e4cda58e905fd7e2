"""Files that users take for a model: an error names a form that is not read, and a caution says what can only fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.formats.cautions import cautions_of
from tokspec.formats.user_model import UserModel, read_user_model

INSTEAD = "name the tokenizer.json that was made from it"
BESIDE = "name the tokenizer.json next to it"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "rwkv_vocab_v20230424.txt",
            "1 '\\x00' 1\n2 '\\x01' 1\n",
            f"is RWKV's vocabulary, which is not read; {INSTEAD}",
        ),
        ("rwkv.vocab", "1 b'\\x80' 1\n", f"is RWKV's vocabulary, which is not read; {INSTEAD}"),
        ("llama.gguf", "GGUF\3\0\0\0", f"is a GGUF file, which is written and not read; {INSTEAD}"),
        (
            "spm.vocab",
            "<unk>\t0\n▁the\t-3.1\n",
            "is the list of tokens that SentencePiece writes next to a model; name the file .model",
        ),
        (
            "tokenizer_config.json",
            {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>"},
            f"is a tokenizer_config.json, which has no vocabulary; {BESIDE}",
        ),
        ("config.json", {"model_type": "llama"}, f"is the config.json of a model; {BESIDE}"),
        (
            "special_tokens_map.json",
            {"bos_token": "<s>"},
            f"is a special_tokens_map.json, which has no vocabulary; {BESIDE}",
        ),
        (
            "cl100k_base.json",
            {"pat_str": "a", "special_tokens": {}, "bpe_ranks": "! 0 a"},
            "is a file of ranks for js-tiktoken, which is not read; name the file .tiktoken",
        ),
        (
            "mistral.json",
            {"config": {}, "vocab": []},
            "looks like the tekken.json of mistral-common; give --format tekken.json",
        ),
        (
            "tokens.json",
            {"a": 0, "b": 1},
            "is a vocabulary without merges; name the folder that has vocab.json and merges.txt",
        ),
        (
            "mine.json",
            {"vocab": {"a": 0}, "merges": []},
            "has a vocabulary and merges in a form of its own; name the tokenizer.json",
        ),
        (
            "list.json",
            [1],
            "is not a tokenizer.json: it has no key model that holds an object; give --format if it is something else",
        ),
    ],
)
def test_a_form_that_is_not_read_is_named(tmp_path: Path, name: str, content: Any, said: str) -> None:
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    with pytest.raises(DataError) as caught:
        read_user_model(file)
    assert str(caught.value) == f"{file}: {said}"


BPE: dict[str, Any] = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
BYTES = {**BPE, "vocab": {**BPE["vocab"], **{f"<0x{byte:02X}>": 3 + byte for byte in range(255)}}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"model": BPE}, []),
        (
            {"model": {"type": "Unigram", "vocab": [["a", -1.0]]}},
            ["model.unk_id is missing: a text with a character that no token has cannot be encoded"],
        ),
        ({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.0]]}}, []),
        (
            {"model": {**BYTES, "byte_fallback": True}},
            ['model.vocab lacks the token of a byte, "<0xFF>": a text with such a byte loses it, or cannot be encoded'],
        ),
        (
            {"model": BPE, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}},
            [
                'model.vocab lacks 254 tokens of bytes, first "Ā": a text with such a byte loses it, or cannot be '
                "encoded"
            ],
        ),
        (
            {"model": BPE, "added_tokens": [{"content": "ab", "id": 2, "special": True}]},
            [
                'merges can spell the special token "ab": where special tokens are not looked for, a user\'s text '
                "becomes it"
            ],
        ),
        (
            {"model": BPE, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(?>a)|[a-z&&[^b]]++"}}},
            [
                "the pattern of pre_tokenizer has a possessive quantifier and an atomic group and an intersection of "
                "classes, which other libraries may not read"
            ],
        ),
    ],
    ids=["nothing", "unigram", "unknown", "byte fallback", "byte level", "special", "pattern"],
)
def test_what_can_only_fail_is_told(content: dict[str, Any], said: list[str]) -> None:
    assert cautions_of(UserModel("tokenizer.json", content, "tokenizer.json", "")) == said
