"""Judging an implementation: whichever command judges it, the same steps lead to the same verdict."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tokspec.adapters.registry import FoundAdapter
from tokspec.compare import history as history_module
from tokspec.compare.history import history, text_history
from tokspec.judge.verdicts import Verdict
from tokspec.report.ndjson import read_report
from tokspec.results.rows import matrix, read_list
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite

pytest_plugins = ["pytester"]

PROGRAM = Path(__file__).parent / "programs" / "nearly_right.py"

CASE = "bpe-toy-encode-bug"
SUITE = Suite({CASE: load_suite().cases[CASE]}, "ab" * 32)

#: What every command says of a program that exits with 3 after bye.
ENDED = "crash: after bye: exit status 3 (PROTO-3)"

Run = Callable[..., tuple[int, str, str]]


def program(*words: object) -> tuple[str, ...]:
    return (sys.executable, str(PROGRAM), *map(str, words))


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what makes every release of everything a program."""
    monkeypatch.setenv("TOKSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(history_module, "adapter_digest", lambda name: "01234567")

    def find(*words: object) -> None:
        made = FoundAdapter("mine", "", "", (), program=program(*words))
        monkeypatch.setattr(history_module, "find", lambda spec: made)

    return find


def listed(folder: Path, *words: object) -> Path:
    file = folder / "list.yaml"
    file.write_text(f"adapters: [{{command: {json.dumps(shlex.join(program(*words)))}}}]", "utf-8")
    return file


@pytest.mark.slow
def test_every_command_gives_a_program_that_ends_badly_the_same_verdict(
    run: Run, tmp_path: Path, pytester: pytest.Pytester, found: Callable[..., None]
) -> None:
    command = shlex.join(program("exit-with-3"))
    report = tmp_path / "report.ndjson"
    status, out, _ = run("run", "--impl", command, "--select", CASE, "--report", report)
    assert (status, ENDED in out.splitlines(), out.splitlines()[-1]) == (
        1,
        True,
        "tokref 0.3.0 does not conform: 1 case = 1 pass",
    )
    assert read_report(report).run.problems == (ENDED,)

    done = pytester.runpytest_subprocess("--tokspec", command, "--tokspec-select", CASE, "--junitxml", "junit.xml")
    assert done.ret == 1
    done.stdout.fnmatch_lines([f"tokspec: {ENDED}", "*1 failed, 1 passed*"])
    assert f'<failure message="{ENDED}">' in (pytester.path / "junit.xml").read_text("utf-8")

    (row,) = matrix(read_list(listed(tmp_path, "exit-with-3")), SUITE)
    assert row.run is not None
    assert (row.run.problems, row.run.is_green) == ((ENDED,), False)

    found("exit-with-3")
    releases = list(history("mine", ["1.0"], SUITE))
    assert [*text_history(releases, 10)] == [
        "1.0         1 of 1 pass: no release before it was judged",
        f"    does not conform: {ENDED}",
    ]


def test_a_crash_that_does_not_come_again_fails_a_run_and_says_so(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.ndjson"
    command = shlex.join(program("crash-once", tmp_path / "mark"))
    status, out, _ = run("run", "--impl", command, "--select", CASE, "--report", report)
    (result,) = read_report(report).run.results
    assert (status, result.verdict) == (1, Verdict.CRASH)
    assert result.detail == "exit status 7; asked again alone, it did not crash"
    assert out.splitlines()[-1] == "tokref 0.3.0 does not conform: 1 case = 1 crash"


def test_a_crash_that_does_not_come_again_is_not_published_as_the_librarys(
    tmp_path: Path, found: Callable[..., None]
) -> None:
    (row,) = matrix(read_list(listed(tmp_path, "crash-once", tmp_path / "mark")), SUITE)
    assert row.run is not None
    assert [result.verdict for result in row.run.results] == [Verdict.PASS]
    assert row.flaky == (f"{CASE}: crash: exit status 7; asked again alone, it did not crash",)
    found("crash-once", tmp_path / "another-mark")
    (release,) = history("mine", ["1.0"], SUITE)
    assert release.report is not None
    assert [result.verdict for result in release.report.run.results] == [Verdict.PASS]
