"""Files that are broken at random are refused in one line, whatever their format."""

from __future__ import annotations

import gc
import importlib.util
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.formats.user_model import read_user_model

_spec = importlib.util.spec_from_file_location("broken_files", Path(__file__).parent / "programs" / "broken_files.py")
assert _spec
assert _spec.loader
broken_files = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(broken_files)


@pytest.mark.parametrize(
    "count", [200, pytest.param(2_000, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.long)]
)
def test_no_file_raises_anything_but_a_refusal(count: int) -> None:
    assert broken_files.main(count) == {}


@pytest.mark.slow
def test_nothing_is_kept_of_files_that_were_read() -> None:
    broken_files.main(500)
    gc.collect()
    tracemalloc.start()
    broken_files.main(1_500)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000


BPE: dict[str, Any] = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"model": {**BPE, "vocab": {"a": 0.5}}}, "model.vocab: is not an object of tokens to ids or a list of tokens with weights"),
        ({"model": {**BPE, "vocab": [["a", -1.0], ["b"]]}}, "model.vocab[1]: is not a token with its weight"),
        ({"model": {**BPE, "merges": {}}}, "model.merges: is not a list"),
        ({"model": {**BPE, "merges": ["a b", ["a"]]}}, "model.merges[1]: is not two tokens, in a list or with one space between them"),
        ({"model": BPE, "added_tokens": {"<s>": 0}}, "added_tokens: is not a list"),
        ({"model": BPE, "added_tokens": [{"id": 3}]}, "added_tokens[0]: is not an object with a content and an id"),
        ({"model": {**BPE, "dropout": float("nan")}}, "has NaN, which is not a JSON number"),
        ({"model": {**BPE, "dropout": -float("inf")}}, "has -Infinity, which is not a JSON number"),
    ],
)  # fmt: skip
def test_a_tokenizer_json_that_is_none(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(content), "utf-8")
    with pytest.raises(DataError) as caught:
        read_user_model(file)
    assert str(caught.value) == f"{file}: {message}"


def test_an_integer_without_end(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"model": BPE}).replace("2", "2" * 5000), "utf-8")
    with pytest.raises(DataError) as caught:
        read_user_model(file)
    assert str(caught.value) == f"{file}: has an integer of thousands of digits"
