"""A gate that is held to the cases of an earlier version: younger cases and removed ones change nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tokspec
import tokspec.cli.run
import tokspec.suite.fixtures
import tokspec.suite.selection
from tokspec.suite.fixtures import load_suite

pytest_plugins = ["pytester"]

#: Cases of three versions; an implementation that cuts texts into letters fails the youngest.
FIXTURES = """
about: "Words of different ages."
source: [{rule: "a test"}]
model: {type: "bpe", vocabulary: ["b", "u", "bu"], merges: [["b", "u"]]}
cases:
  - id: first
    clauses: [BPE-ENC-1]
    why: "It was always there."
    operation: encode
    input: {text: "u"}
    expect: {tokens: ["u"]}
    verified_by: ["hand: one letter"]
  - id: second
    clauses: [BPE-ENC-1]
    why: "It came with the version after."
    since: "0.9.1"
    operation: encode
    input: {text: "b"}
    expect: {tokens: ["b"]}
    verified_by: ["hand: one letter"]
  - id: third
    clauses: [BPE-ENC-1]
    why: "It came with this version."
    since: "0.10.0"
    operation: encode
    input: {text: "bu"}
    expect: {tokens: ["bu"]}
    verified_by: ["hand: the merge"]
"""

LETTERS = """
from tokspec.adapter import Hello

class Letters:
    def hello(self):
        return Hello("letters", "1", "Python", operations=("encode",))
    def load(self, format, content):
        return None
    def run(self, operation, model, input):
        return {"tokens": list(input["text"])}
"""

#: An entry of a case that a later version removed.
REMOVED = """
known_failures:
  - {case: "gone", verdict: "fail", digest: "0123456789abcdef", reason: "A test."}
unsupported:
  - "gone-too"
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> Callable[..., tuple[int, str]]:
    """Judge letters by these fixtures in a suite of version 0.10.0; give the status and the last line of output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for module in (tokspec.suite.selection, tokspec.suite.fixtures, tokspec.cli.run):
        monkeypatch.setattr(module, "__version__", "0.10.0")
    (tmp_path / "letters.py").write_text(LETTERS, "utf-8")
    (tmp_path / "known.yaml").write_text(REMOVED, "utf-8")
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "ages.yaml").write_text(FIXTURES, "utf-8")

    def judge(*arguments: str) -> tuple[int, str]:
        named = ("--impl", "letters:Letters", "--in-process", "--fixtures", "fixtures")
        status, output, errors = run("run", *named, *arguments)
        return status, (output or errors).splitlines()[-1]

    return judge


@pytest.mark.parametrize(
    ("arguments", "status", "last"),
    [
        ((), 1, "letters 1 does not conform: 3 cases = 2 pass + 1 fail"),
        (("--fixtures-version", "0.10.0"), 1, "letters 1 does not conform: 3 cases = 2 pass + 1 fail"),
        (("--fixtures-version", "0.9.10"), 0, "letters 1 conforms: 2 cases = 2 pass"),
        (("--fixtures-version", "0.9.0"), 0, "letters 1 conforms: 1 case = 1 pass"),
        (("--fixtures-version", "0.0.9"), 2, "tokspec: --fixtures-version: no case is as old as 0.0.9"),
        (("--fixtures-version", "0.9"), 2, "tokspec: --fixtures-version: '0.9' is not a version; write it as 0.10.0"),
        (
            ("--fixtures-version", "0.10.1"),
            2,
            "tokspec: --fixtures-version: 0.10.1 is later than this suite, 0.10.0; install that version",
        ),
        (("--fixtures-version", "0.9.0", "--known-failures", "known.yaml"), 0, "letters 1 conforms: 1 case = 1 pass"),
        (
            ("--select", "first", "--known-failures", "known.yaml"),
            1,
            "to rewrite the known-failures file: tokspec run --impl letters:Letters --in-process --fixtures fixtures"
            " --known-failures known.yaml --update-known-failures",
        ),
    ],
)
def test_younger_and_removed_cases_change_nothing(
    judge: Callable[..., tuple[int, str]], arguments: tuple[str, ...], status: int, last: str
) -> None:
    assert judge(*arguments) == (status, last)


def test_the_command_that_repeats_a_failure_names_the_version(
    judge: Callable[..., tuple[int, str]], run: Run, tmp_path: Path
) -> None:
    judge("--fixtures-version", "0.10.0", "--report", "run.ndjson")
    assert (
        '"again":"tokspec run --impl letters:Letters --in-process --fixtures fixtures --fixtures-version 0.10.0"'
        in (tmp_path / "run.ndjson").read_text("utf-8").replace('": "', '":"')
    )


@pytest.mark.slow
def test_the_plugin_of_pytest_takes_a_version(pytester: pytest.Pytester) -> None:
    arguments = ("--tokspec", "reference", "--tokspec-select", "bpe-toy-encode-bug", "-p", "no:cacheprovider")
    done = pytester.runpytest_subprocess(*arguments, "--tokspec-fixtures-version", "0.1.0")
    done.assert_outcomes(passed=1)
    done = pytester.runpytest_subprocess(*arguments, "--tokspec-fixtures-version", "0.0.1")
    done.stderr.fnmatch_lines(["ERROR: --tokspec-fixtures-version: no case is as old as 0.0.1"])
    done = pytester.runpytest_subprocess("--tokspec-fixtures-version", "0.1.0")
    done.stderr.fnmatch_lines(["ERROR: no implementation is named; give --tokspec"])


def test_no_case_is_younger_than_the_suite() -> None:
    def numbers(version: str) -> list[int]:
        return [int(part) for part in version.split(".")]

    younger = [c.id for c in load_suite().cases.values() if numbers(c.since) > numbers(tokspec.__version__)]
    assert younger == []
