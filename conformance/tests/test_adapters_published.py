"""Published implementations, each against all cases with the failures that are known of it, and what it refuses.

The Python packages are those of the extra ``published``; the others need ``npm ci`` in their folders.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from tokspec.cli import tokspec as group
from tokspec.discovery import open_session
from tokspec.sessions import Refused, Request

pytestmark = pytest.mark.interop

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "conformance" / "tokspec" / "adapters"
PROGRAMS = ROOT / "conformance" / "adapters"

BPE: dict[str, Any] = {"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]}
BYTES: dict[str, Any] = {**BPE, "pre_tokenizer": {"type": "byte_level"}}
PREFIXED: dict[str, Any] = {**BPE, "pre_tokenizer": {"type": "byte_level", "add_prefix_space": True}}
TEXT = {"text": "ug"}


class Published(NamedTuple):
    """An implementation: its module or package, its summary, and a question with the message that refuses it."""

    name: str
    needs: str
    summary: str
    operation: str
    model: dict[str, Any]
    input: dict[str, Any]
    message: str


IN_PYTHON = [
    Published(
        "ffbpe",
        "ffbpe",
        "ffbpe 0.1.10 conforms: 756 cases = 115 pass + 10 known failure + 631 unsupported",
        "train",
        {"type": "bpe"},
        {"corpus": {"words": [["ug", 1]]}, "vocabulary_size": 3},
        "begins with all 256 bytes, and counts them in a target for the vocabulary (BPE-TRAIN-2)",
    ),
    Published(
        "sentencepiece",
        "sentencepiece",
        "sentencepiece 0.2.3 conforms: 756 cases = 118 pass + 5 known failure + 633 unsupported",
        "normalize",
        {"normalizer": {"type": "nfc"}},
        TEXT,
        "has no such model, and of normalizers alone NFKC",
    ),
    Published(
        "subword-nmt",
        "subword_nmt",
        "subword-nmt 0.3.8 conforms: 756 cases = 50 pass + 8 known failure + 698 unsupported",
        "encode",
        {**BPE, "pre_tokenizer": {"type": "whitespace_split"}},
        TEXT,
        "has merges within words, and no pre-tokenizer",
    ),
    Published(
        "tiktoken",
        "tiktoken",
        "tiktoken 0.14.0 conforms: 756 cases = 42 pass + 1 known failure + 713 unsupported",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "tiktoken-educational",
        "tiktoken",
        "tiktoken._educational 0.14.0 conforms: 756 cases = 25 pass + 6 known failure + 725 unsupported",
        "encode",
        {**BYTES, "vocabulary": [*BPE["vocabulary"], "<s>"], "special_tokens": ["<s>"]},
        TEXT,
        "has no special tokens",
    ),
    Published(
        "tokie",
        "tokie",
        "tokie 0.1.4 conforms: 756 cases = 213 pass + 77 known failure + 466 unsupported",
        "decode",
        BPE,
        {"tokens": ["h"]},
        "decodes ids, and a token that is not in the vocabulary has none",
    ),
    Published(
        "transformers-bert",
        "transformers",
        "transformers-BertTokenizerLegacy 5.23.0 conforms: 756 cases = 72 pass + 3 known failure + 681 unsupported",
        "encode",
        {"type": "wordpiece", "vocabulary": ["[UNK]", "u", "@@g"], "continuing_prefix": "@@"},
        TEXT,
        "has the continuing prefix ## and no other",
    ),
]

IN_NODE = [
    Published(
        "gpt-tokenizer",
        "gpt-tokenizer",
        "gpt-tokenizer 4.0.0 conforms: 756 cases = 35 pass + 8 known failure + 713 unsupported",
        "encode",
        PREFIXED,
        TEXT,
        "puts no space before a text",
    ),
    Published(
        "node-llama-cpp",
        "node-llama-cpp",
        "node-llama-cpp 3.22.1 conforms: 756 cases = 35 pass + 721 unsupported",
        "decode",
        BYTES,
        {"tokens": ["u"]},
        "decodes as the model has it, which is byte_level",
    ),
]


def file_of(published: Published) -> Path:
    """Give the file of the failures that are known of an implementation."""
    if published in IN_NODE:
        return PROGRAMS / published.name / "known-failures.yaml"
    return PYTHON / f"{MODULES.get(published.name, published.name)}.known-failures.yaml"


#: The modules that are not called as their implementation is.
MODULES = {
    "subword-nmt": "subword_nmt",
    "tiktoken-educational": "tiktoken_educational",
    "transformers-bert": "bert_legacy",
}


def options(published: Published) -> tuple[str | None, str | None]:
    """Give what ``--impl`` and ``--cmd`` name; skip what is not installed."""
    if published not in IN_NODE:
        if find_spec(published.needs) is None:
            pytest.skip(f"the package {published.needs} is not installed; pip install 'tokspec[published]'")
        return published.name, None
    folder = PROGRAMS / published.name
    if not (folder / "node_modules" / published.needs).is_dir():
        pytest.skip(f"the package {published.needs} is not installed; npm ci --prefix {folder.relative_to(ROOT)}")
    return None, f"node {folder / 'adapter.mjs'}"


def names(published: Published) -> str:
    return published.name


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_all_cases_with_what_is_known(published: Published) -> None:
    impl, command = options(published)
    arguments = ["--impl", impl] if impl else ["--cmd", command or ""]
    known = file_of(published)
    if known.exists():
        arguments += ["--known-failures", str(known)]
    result = CliRunner().invoke(group, ["run", *arguments])
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, published.summary)


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_what_it_refuses(published: Published) -> None:
    session = open_session(*options(published))
    request = Request(published.operation, "refused", published.model, published.input)
    ((_, reply),) = session.ask([request])
    session.close()
    assert reply == Refused("unsupported", published.message)


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_the_choices_are_those_that_its_answers_show(published: Published) -> None:
    impl, command = options(published)
    arguments = ["--impl", impl] if impl else ["--cmd", command or ""]
    # One answer of tokie's contradicts all its others; it is among the failures that are known.
    result = CliRunner().invoke(group, ["probe", *arguments, "--exclude", "unigram-unknown-beats-improbable-tokens"])
    assert result.exit_code == 0, result.stdout


@pytest.mark.parametrize("published", [*IN_PYTHON, *IN_NODE], ids=names)
def test_every_known_failure_has_a_reason(published: Published) -> None:
    known = file_of(published)
    assert not known.exists() or "not explained yet" not in known.read_text("utf-8")
