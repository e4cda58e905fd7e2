"""``tox run -e full`` runs every kind of test, and nothing is skipped there."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPS = """\
import pytest


def test_skips() -> None:
    pytest.skip("because")


def test_passes() -> None: ...
"""


def full() -> configparser.SectionProxy:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", "utf-8")
    return tox["testenv:full"]


def test_every_extra_that_tests_need_is_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    there = set(full()["extras"].split(", "))
    singles = {"fuzz", "lint", "pytest"}  # part of the extra test, or among the environment's own packages
    # What the extra published has, in fixed versions.
    packages = {
        "curated-tokenizers",
        "fastokens",
        "ffbpe",
        "gigatoken",
        "mistral-tekken",
        "sentencepiece",
        "splintr",
        "subword-nmt",
        "tiktoken",
        "tiktoken-educational",
        "tokenizers",
        "tokie",
        "transformers-bert",
        "transformers-clvp",
    }
    assert extras.keys() - there - singles - packages == set()


def test_every_variable_that_a_test_needs_is_set() -> None:
    wanted = {
        name
        for path in (ROOT / "conformance" / "tests").rglob("*.py")
        for name in re.findall(r"environ\.get\(\"(TOKSPEC_\w+)\"", path.read_text("utf-8"))
        if path != Path(__file__)
    }
    assert wanted
    assert {name for name in wanted if f"{name} =" not in full()["set_env"]} == set()
    assert "TOKSPEC_NO_SKIPS = 1" in full()["set_env"]


def test_every_marker_and_program_runs() -> None:
    commands = full()["commands"]
    for what in ("not engines and not power", "-m engines", "-m power", "power --full", "automatic.py", "matrix --all"):
        assert what in commands
    for bench in ("harness.py", "fuzz_mutants.py", "tokfast_speed.py"):
        assert f"conformance/bench/{bench}" in commands
    assert "tox run -e full" in (ROOT / ".github" / "workflows" / "full.yml").read_text("utf-8")


@pytest.mark.slow
def test_a_skip_is_a_failure_where_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"))
    (tmp_path / "test_some.py").write_text(SKIPS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)]
    said = []
    for environment in ({}, {"TOKSPEC_NO_SKIPS": "1"}):
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
        said.append((done.returncode, done.stdout.splitlines()[-1].partition(" in ")[0]))
    assert said == [(0, "1 passed, 1 skipped"), (1, "1 failed, 1 passed")]
