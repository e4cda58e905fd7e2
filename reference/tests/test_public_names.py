from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tokref

SOURCES = sorted(Path(tokref.__file__).parent.glob("*.py"))


def test_the_public_names_are_locked() -> None:
    assert tokref.__all__ == [
        "AddedToken",
        "AlignedText",
        "Bpe",
        "BpeTraining",
        "Choices",
        "Component",
        "EncodedToken",
        "Encoding",
        "InputError",
        "Padding",
        "Target",
        "Token",
        "Tokenizer",
        "Truncation",
        "Unigram",
        "UnigramTraining",
        "WordLevel",
        "WordPiece",
        "WordPieceTraining",
        "__version__",
        "corpus_loss",
        "count_words",
        "decode",
        "decode_stream",
        "decode_tokens_bytes",
        "decode_with_offsets",
        "encode",
        "encode_inputs",
        "from_mapping",
        "normalize",
        "pre_tokenize",
        "prune_step",
        "segment",
        "tokens_of",
        "train_bpe",
        "train_unigram",
        "train_wordpiece",
    ]
    assert all(hasattr(tokref, name) for name in tokref.__all__)


def used(source: Path) -> set[str]:
    """Return the modules that a source imports, the names that it takes from them, and all its attributes."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module).partition(".")[0], *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_reference_knows_nothing_of_the_harness_and_has_no_machinery_for_speed(source: Path) -> None:
    assert used(source) & {"tokspec", "tokfast"} == set()
    assert used(source) & {"heapq", "bisect", "array", "cache", "lru_cache", "cached_property"} == set()
