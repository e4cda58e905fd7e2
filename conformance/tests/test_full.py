"""The jobs of ``tox run -m full`` run every test there is, each once, and nothing is skipped there."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import combinations, pairwise
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SKIPS = """\
import pytest


def test_skips() -> None:
    pytest.skip("because")


def test_passes() -> None: ...
"""


TOX = configparser.ConfigParser(interpolation=None)
TOX.read(ROOT / "tox.ini", "utf-8")
JOBS = re.split(r"[\s,]+", TOX["tox"]["labels"].partition("=")[2].strip())
SETTINGS = [TOX[f"testenv:{job}"] for job in JOBS]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
MARKERS = [marker.partition(":")[0] for marker in PROJECT["tool"]["pytest"]["ini_options"]["markers"]]

#: Where tests lie, with the markers that they may have there; the last two places have jobs of their own.
PLACES = {
    "conformance/tests/test_some.py": MARKERS,
    "conformance/tests/test_action.py": ["slow", "long", "interop"],
    "conformance/tests/shipped/test_some.py": ["slow", "long", "interop"],
}


def runs(command: str, place: str, marks: set[str]) -> bool:
    """Say whether a command of pytest runs a test that lies there and has these markers."""
    words = shlex.split(command.replace("{posargs}", ""))
    options = dict(pairwise(words))
    ignored = [after for word, after in pairwise(words) if word == "--ignore"]
    given = [word for before, word in pairwise(words) if word.startswith("conformance/") and before != "--ignore"]
    if any(place.startswith(path) for path in ignored) or (given and not any(place.startswith(path) for path in given)):
        return False
    expression = options["-m"]
    return not expression or eval(expression, {}, {marker: marker in marks for marker in MARKERS})


def commands(job: str) -> list[str]:
    return [line.strip() for line in TOX[f"testenv:{job}"]["commands"].strip().splitlines()]


def test_every_test_is_in_one_job() -> None:
    pytests = [command for job in JOBS for command in commands(job) if command.startswith("pytest ")]
    wrong = [
        (place, marks, found)
        for place, markers in PLACES.items()
        for size in range(len(markers) + 1)
        for marks in combinations(markers, size)
        if len(found := [command for command in pytests if runs(command, place, {*marks})]) != 1
    ]
    assert wrong == []


def test_the_places_with_jobs_of_their_own_have_no_other_markers() -> None:
    files = [
        ROOT / "conformance" / "tests" / "test_action.py",
        *(ROOT / "conformance" / "tests" / "shipped").glob("*.py"),
    ]
    used = {name for file in files for name in re.findall(r"pytest\.mark\.(\w+)", file.read_text("utf-8"))}
    assert used & {*MARKERS} <= {"slow", "long", "interop"}


def test_the_weekly_workflow_runs_every_job_and_lets_none_skip() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "full.yml").read_text("utf-8"))
    job = workflow["jobs"]["full"]
    assert job["strategy"]["matrix"]["job"] == JOBS
    assert job["timeout-minutes"] <= 90
    (run,) = (step["run"] for step in job["steps"] if "tox" in step.get("run", ""))
    assert "TOKSPEC_NO_SKIPS=1 tox run -e ${{ matrix.job }}" in run
    assert "TOKSPEC_NO_SKIPS" in TOX["testenv"]["pass_env"]
    assert [job for job, settings in zip(JOBS, SETTINGS, strict=True) if "pass_env" in settings] == []


def test_every_extra_that_tests_need_is_there() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    there = {extra for settings in SETTINGS for extra in settings.get("extras", "").split(", ")}
    singles = {"fuzz", "lint", "pytest"}  # part of the extra test, or among the environment's own packages
    # What the extra published has, in fixed versions.
    packages = {
        "curated-tokenizers",
        "fastokens",
        "ffbpe",
        "gigatoken",
        "mistral-tekken",
        "mlx-lm",
        "sentencepiece",
        "splintr",
        "subword-nmt",
        "tiktoken",
        "tiktoken-educational",
        "tokenizers",
        "tokie",
        "transformers-bert",
        "transformers-clvp",
        "transformers-streamer",
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
    there = "".join(settings.get("set_env", "") for settings in SETTINGS)
    assert {name for name in wanted if f"{name} =" not in there} == set()


def test_every_program_that_judges_or_measures_runs() -> None:
    every = [command for job in JOBS for command in commands(job)]
    for what in ("tokspec dev power --full", "mutants/automatic.py", "tokspec matrix --all"):
        assert [command for command in every if what in command], what
    for bench in ("harness.py", "fuzz_mutants.py", "tokfast_speed.py"):
        assert [command for command in every if f"conformance/bench/{bench}" in command], bench


@pytest.mark.slow
def test_a_skip_is_a_failure_where_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"))
    (tmp_path / "test_some.py").write_text(SKIPS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)]
    said = []
    for value in ("", "1"):
        environment = {**os.environ, "TOKSPEC_NO_SKIPS": value}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        said.append((done.returncode, done.stdout.splitlines()[-1].partition(" in ")[0]))
    assert said == [(0, "1 passed, 1 skipped"), (1, "1 failed, 1 passed")]
