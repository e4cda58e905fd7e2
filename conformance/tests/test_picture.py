"""The picture of the README: what a run shows of a case that fails."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from pytest_regressions.file_regression import FileRegressionFixture
from rich.console import Console
from rich.text import Text

from tokspec.cli import tokspec

ROOT = Path(__file__).parents[2]

COMMAND = ("run", "--impl", "tokenizers", "--select", "bpe-unknown-is-not-its-token")


def test_the_picture_shows_what_the_command_prints(
    file_regression: FileRegressionFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``--force-regen`` the picture is made again."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    said = CliRunner().invoke(tokspec, COMMAND, color=True).output
    failure = said.partition("\n\n")[0]
    assert "BPE-ENC-6" in failure
    console = Console(record=True, width=100, force_terminal=True, file=StringIO())
    console.print(Text.from_ansi(f"$ tokspec {' '.join(COMMAND)}\n{failure}"))
    picture = console.export_svg(title="tokspec", unique_id="tokspec")
    file_regression.check(picture, fullpath=ROOT / "docs" / "failure.svg", extension=".svg", encoding="utf-8")
