"""Published implementations, each against all cases with the failures that are known of it, and what it refuses.

The Python packages are those of the extra ``published``; the others need ``npm ci`` in their folders.
"""

from __future__ import annotations

import re
from base64 import b64encode
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from tokspec.adapter import Refusal
from tokspec.adapters.registry import open_session
from tokspec.cli import tokspec as group
from tokspec.protocol.messages import Answer, Refused, Reply, Request
from tokspec.published.tokie import TokieAdapter

pytestmark = [pytest.mark.interop, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "conformance" / "tokspec" / "published"
PROGRAMS = ROOT / "conformance" / "adapters"

BPE: dict[str, Any] = {"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]}
BYTES: dict[str, Any] = {**BPE, "pre_tokenizer": {"type": "byte_level"}}
PREFIXED: dict[str, Any] = {**BPE, "pre_tokenizer": {"type": "byte_level", "add_prefix_space": True}}
TEXT = {"text": "ug"}


class Published(NamedTuple):
    """An implementation: its module or package, its name and version, and a question with the message that refuses it."""

    name: str
    needs: str
    said: str
    operation: str
    model: dict[str, Any]
    input: dict[str, Any]
    message: str


IN_PYTHON = [
    Published(
        "curated-tokenizers",
        "curated_tokenizers",
        "curated-tokenizers 2.0.1",
        "encode",
        BPE,
        TEXT,
        "has the pattern of GPT-2 before bytes, and no other pre-tokenizer",
    ),
    Published(
        "ffbpe",
        "ffbpe",
        "ffbpe 0.1.10",
        "train",
        {"type": "bpe"},
        {"corpus": {"words": [["ug", 1]]}, "merge_count": 1, "min_frequency": 0},
        "has a least frequency of 1 or more",
    ),
    Published(
        "mistral-tekken",
        "mistral_common",
        "mistral-common-Tekkenizer 1.13.1",
        "encode",
        BYTES,
        TEXT,
        "has a vocabulary that begins with all 256 bytes",
    ),
    Published(
        "sentencepiece",
        "sentencepiece",
        "sentencepiece 0.2.3",
        "normalize",
        {"normalizer": {"type": "nfc"}},
        TEXT,
        "sentencepiece.model is written without a normalizer other than a character map, and this model has one; "
        "has no such model, and of normalizers alone NFKC, character maps and its own",
    ),
    Published(
        "subword-nmt",
        "subword_nmt",
        "subword-nmt 0.3.8",
        "encode",
        {**BPE, "pre_tokenizer": {"type": "whitespace_split"}},
        TEXT,
        "has merges within words, and no pre-tokenizer",
    ),
    Published(
        "tiktoken",
        "tiktoken",
        "tiktoken 0.14.0",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "tiktoken-educational",
        "tiktoken",
        "tiktoken._educational 0.14.0",
        "encode",
        {**BYTES, "vocabulary": [*BPE["vocabulary"], "<s>"], "special_tokens": ["<s>"]},
        {"text": "a<s>"},
        "has no special tokens, and there is one in this text",
    ),
    Published(
        "tokie",
        "tokie",
        "tokie 0.1.4",
        "decode",
        BPE,
        {"tokens": ["h"]},
        "decodes ids, and a token that is not in the vocabulary has none",
    ),
    Published(
        "transformers-bert",
        "transformers",
        "transformers-BertTokenizerLegacy 5.23.0",
        "encode",
        {"type": "wordpiece", "vocabulary": ["[UNK]", "u", "@@g"], "continuing_prefix": "@@"},
        TEXT,
        "has the continuing prefix ## and no other",
    ),
    Published(
        "transformers-clvp",
        "transformers",
        "transformers-ClvpTokenizer 5.23.0",
        "encode",
        PREFIXED,
        TEXT,
        "has the pattern of GPT-2 before bytes, and no other pre-tokenizer",
    ),
    Published(
        "transformers-streamer",
        "transformers",
        "transformers-TextStreamer 5.23.0",
        "decode_stream",
        BPE,
        {"ids": [0]},
        "has streams that are ended, and holds text back until then",
    ),
    Published(
        "mlx-lm",
        "mlx_lm",
        "mlx-lm 0.32.2",
        "decode_stream",
        BPE,
        {"ids": [0]},
        "has streams that are ended, and holds text back until then",
    ),
]

IN_NODE = [
    Published(
        "gpt-tokenizer",
        "gpt-tokenizer",
        "gpt-tokenizer 4.0.0",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "js-tiktoken",
        "js-tiktoken",
        "js-tiktoken 1.0.21",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "tiktokenizer",
        "@microsoft/tiktokenizer",
        "@microsoft/tiktokenizer 1.0.10",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "ai-tokenizer",
        "ai-tokenizer",
        "ai-tokenizer 1.0.6",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "llama-tokenizer-js",
        "llama-tokenizer-js",
        "llama-tokenizer-js 1.2.2",
        "encode",
        BYTES,
        TEXT,
        "has ▁ before a text and for spaces, and no other pre-tokenizer",
    ),
    Published(
        "tiktoken-wasm",
        "tiktoken",
        "tiktoken-wasm 1.0.22",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "node-llama-cpp",
        "node-llama-cpp",
        "node-llama-cpp 3.22.1",
        "decode",
        BYTES,
        {"tokens": ["u"]},
        "decodes as the model has it, which is byte_level",
    ),
]


def file_of(published: Published) -> Path:
    """Return the file of the failures that are known of an implementation."""
    if published in IN_NODE:
        return PROGRAMS / published.name / "known-failures.yaml"
    return PYTHON / f"{MODULES.get(published.name, published.name)}.known-failures.yaml"


#: The modules that are not called as their implementation is.
MODULES = {
    "curated-tokenizers": "curated",
    "mlx-lm": "mlx_lm",
    "subword-nmt": "subword_nmt",
    "tiktoken-educational": "tiktoken_educational",
    "transformers-bert": "bert_legacy",
    "transformers-clvp": "clvp",
    "transformers-streamer": "text_streamer",
}


def options(published: Published) -> tuple[str | None, str | None]:
    """Return what ``--impl`` and ``--cmd`` name; skip what is not installed."""
    if published not in IN_NODE:
        if find_spec(published.needs) is None:
            pytest.skip(f"the package {published.needs} is not installed; pip install '.[published]'")
        return published.name, None
    folder = PROGRAMS / published.name
    if not (folder / "node_modules" / published.needs).is_dir():
        pytest.skip(f"the package {published.needs} is not installed; npm ci --prefix {folder.relative_to(ROOT)}")
    return None, f"node {folder / 'adapter.mjs'}"


def arguments(published: Published) -> list[str]:
    """Return the options that name an implementation and what is known of it."""
    impl, command = options(published)
    known = file_of(published)
    named = ["--impl", impl] if impl else ["--cmd", command or ""]
    return [*named, "--known-failures", str(known)] if known.exists() else named


def names(published: Published) -> str:
    return published.name


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_all_cases_with_what_is_known(published: Published) -> None:
    result = CliRunner().invoke(group, ["run", *arguments(published)])
    assert (
        result.exit_code,
        re.split(" (?:conforms|matches its list of known failures): ", result.stdout.splitlines()[-1])[0],
    ) == (0, published.said)


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_what_it_refuses(published: Published) -> None:
    session = open_session(*options(published))
    request = Request(published.operation, "refused", published.model, published.input)
    ((_, reply),) = session.ask([request])
    session.close()
    assert reply == Refused("unsupported", published.message)


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_the_choices_are_those_that_its_answers_show(published: Published) -> None:
    result = CliRunner().invoke(group, ["probe", *arguments(published)])
    assert result.exit_code == 0, result.stdout


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_every_known_failure_has_a_reason(published: Published) -> None:
    known = file_of(published)
    assert not known.exists() or "not explained yet" not in known.read_text("utf-8")


def ask(impl: str, operation: str, model: dict[str, Any], input: dict[str, Any]) -> Reply:
    session = open_session(impl, None)
    ((_, reply),) = session.ask([Request(operation, "asked", model, input)])
    session.close()
    return reply


def test_characters_that_the_library_escapes() -> None:
    words = [[" {", 4], ["\n␣", 3], ["=>", 3], ["a=>", 2]]
    steps = [["=", ">", 5], [" ", "{", 4], ["\n", "␣", 3], ["a", "=>", 2]]
    reply = ask("ffbpe", "training_trace", {"type": "bpe"}, {"corpus": {"words": words}, "merge_count": 4})
    assert reply == Answer({"steps": steps})


def test_a_word_with_a_line_feed() -> None:
    """The educational tiktoken trains on a text, in which no word may hold what stands between words."""
    words = [["a\nb", 2], ["\x00", 1]]
    reply = ask("tiktoken-educational", "train", {"type": "bpe"}, {"corpus": {"words": words}, "merge_count": 2})
    assert isinstance(reply, Answer)
    assert reply.result["merges"] == [["a", "Ċ"], ["aĊ", "b"]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"model": {"type": "WordLevel", "vocab": {}}}, "unsupported: Invalid format: merges should be array"),
        ({"model": {"type": "Unigram", "vocab": []}}, "invalid_model: Invalid format: Unigram vocab is empty"),
        ({"model": {"type": "Unigram", "vocab": 5}}, "Invalid format: Unigram vocab should be array"),
    ],
)
def test_what_tokie_does_not_load(content: dict[str, Any], reason: str) -> None:
    """What is not known to be a refusal is the library's own error, which is a crash."""
    pytest.importorskip("tokie")
    with pytest.raises(Exception) as raised:  # noqa: PT011 - the error is of a type of the library
        TokieAdapter().load("tokenizer.json", content)
    assert str(raised.value) == reason


def test_the_end_of_a_word() -> None:
    model = {**BPE, "vocabulary": ["u", "</w>", "u</w>"], "merges": [["u", "</w>"]]}
    message = "has </w> for the end of a word, which is a token of a merge of this model"
    assert ask("subword-nmt", "encode", model, TEXT) == Refused("unsupported", message)


def test_a_character_map_of_sentencepiece() -> None:
    pytest.importorskip("sentencepiece")
    from tokspec.formats.sentencepiece_model import WHITE_SPACE
    from tokspec.published.sentencepiece import SentencePieceAdapter

    adapter = SentencePieceAdapter()
    charsmap = b64encode(WHITE_SPACE).decode()
    loaded = adapter.load("tokspec", {"normalizer": {"type": "precompiled", "charsmap": charsmap}})
    assert adapter.run("normalize", loaded, {"text": "a\u3000  b"}) == {"text": "a   b"}
    with pytest.raises(Refusal) as caught:
        adapter.load("tokspec", {"normalizer": {"type": "precompiled", "charsmap": "aHVn"}})
    assert str(caught.value) == "invalid_model: INTERNAL: Blob for normalization rule is broken."


def test_pieces_of_tiktoken_and_where_they_stood() -> None:
    """The library drops what a pattern does not match, and does not say where a piece stood."""
    part = {"type": "split", "pattern": {"regex": "(?<!a)a|漢"}, "behavior": "removed", "invert": True}
    reply = ask("tiktoken", "pre_tokenize", {"pre_tokenizer": part}, {"text": "aa漢baa"})
    assert reply == Answer({"pieces": [["a", 0, 1], ["漢", 2, 3], ["a", 4, 5]]})


def test_pairs_in_transformers() -> None:
    model = {
        **{"type": "wordpiece", "vocabulary": ["[PAD]", "[CLS]", "[SEP]", "a", "b"], "unknown_token": "[PAD]"},
        "pre_tokenizer": {"type": "whitespace_split"},
        "special_tokens": ["[PAD]", "[CLS]", "[SEP]"],
        "post_processor": {"type": "bert", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]},
        "truncation": {"max_length": 5},
        "padding": {"strategy": {"fixed": 6}, "token": "[PAD]", "id": 0},
    }
    reply = ask("transformers-bert", "encode", model, {"text": "a a b", "pair": "b"})
    assert reply == Answer(
        {
            "ids": [1, 3, 2, 4, 2, 0],
            "type_ids": [0, 0, 0, 1, 1, 0],
            "special_tokens_mask": [1, 0, 1, 0, 1, 1],
            "attention_mask": [1, 1, 1, 1, 1, 0],
        }
    )
