"""The published files as people have them: ``tokspec model --read`` tells what each is, and prints what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from published import gpt2_folder, model_file

from tokspec.cli import tokspec as group
from tokspec.suite.strict_yaml import parse_yaml

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("name", ["encoder.json", "vocab.bpe"])
def test_a_model_is_printed(name: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(group, ["model", "--read", str(gpt2_folder(tmp_path) / name)])
    assert (done.exit_code, done.stderr) == (0, "")
    model = parse_yaml(done.stdout, "model.yaml").value
    assert (len(model["vocabulary"]), len(model["merges"])) == (50_257, 50_000)
    assert model["pre_tokenizer"]["type"] == "byte_level"


def test_ranks_alone_are_not_read() -> None:
    file = model_file("r50k_base")
    done = CliRunner().invoke(group, ["model", "--read", str(file)])
    assert str(done.exception).startswith(f"{file}: has no pattern to split a text by; ")
