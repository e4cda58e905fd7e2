"""``tokspec run`` with known failures, with ``--verify`` and with reports, as commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SELECTED = ["--select", "bpe-toy-encode-bug", "--select", "bpe-toy-encode-mug"]

ADAPTERS = '''
from tokspec.adapter import Hello, Unsupported


class Letters:
    """Answers with letters, which is wrong for both cases, or with what it is given first."""

    def hello(self):
        return Hello("letters", "1", "Python", operations=("encode",))

    def load(self, format, content):
        return content

    def run(self, operation, model, input):
        return {"tokens": list(input["text"])}


class Right(Letters):
    def run(self, operation, model, input):
        return {"tokens": {"bug": ["b", "ug"], "mug": ["[UNK]", "ug"]}[input["text"]]}


class Leaking(Right):
    asked = 0

    def run(self, operation, model, input):
        self.asked += 1
        return super().run(operation, model, input) if self.asked < 3 else {"tokens": []}


class Dying(Letters):
    def run(self, operation, model, input):
        raise SystemError("gone")


class DyingOnce(Letters):
    def run(self, operation, model, input):
        if input["text"] == "mug":
            raise SystemError("gone")
        return super().run(operation, model, input)


class Refusing(Right):
    def run(self, operation, model, input):
        if input["text"] == "mug":
            raise Unsupported("later")
        return super().run(operation, model, input)


class Stillborn(Letters):
    def hello(self):
        raise SystemError("gone")
'''


@pytest.fixture(autouse=True)
def _adapters(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(ADAPTERS, "utf-8")


def tokspec(folder: Path, *arguments: str) -> tuple[int, list[str], str]:
    command = [sys.executable, "-m", "tokspec", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout.splitlines(), done.stderr


def judged(folder: Path, adapter: str, *arguments: str) -> tuple[int, list[str], str]:
    return tokspec(folder, "run", "--in-process", "--impl", f"wrong:{adapter}", *SELECTED, "--show", "0", *arguments)


FILE = "tokspec-known-failures.yaml"
AGAIN = f"tokspec run --impl wrong:Letters --in-process --known-failures {FILE} --update-known-failures"


def test_the_file_is_begun_and_then_holds(tmp_path: Path) -> None:
    status, lines, _ = judged(tmp_path, "Letters", "--update-known-failures")
    assert (status, lines[-2:]) == (
        1,
        [
            "no case passed, and a run that shows nothing is not a pass",
            "letters 1 does not conform: 2 cases = 2 known failure",
        ],
    )
    begun = (tmp_path / FILE).read_text("utf-8")
    assert begun.count("not explained yet") == 2
    (tmp_path / FILE).write_text(begun.replace("not explained yet", "it is a toy"), "utf-8")
    assert judged(tmp_path, "Letters", "--known-failures", FILE)[1][-2] == lines[-1]
    assert judged(tmp_path, "Letters", "--known-failures", FILE, "--update-known-failures")[1][-1] == lines[-1]
    assert (tmp_path / FILE).read_text("utf-8").count("it is a toy") == 2


def test_what_passes_though_it_is_listed_fails_until_the_file_is_written_anew(tmp_path: Path) -> None:
    judged(tmp_path, "Letters", "--update-known-failures")
    status, lines, _ = judged(tmp_path, "Right", "--known-failures", FILE)
    assert (status, lines[-2:]) == (
        1,
        [
            "letters 1 does not conform: 2 cases = 2 unexpected pass",
            f"to rewrite the known-failures file: {AGAIN.replace('Letters', 'Right')}",
        ],
    )
    status, lines, _ = judged(tmp_path, "Right", "--known-failures", FILE, "--update-known-failures")
    assert (status, lines[-1]) == (0, "letters 1 conforms: 2 cases = 2 pass")
    assert (tmp_path / FILE).read_text("utf-8").splitlines()[1:] == ["known_failures: []"]


def test_what_fails_anew_gets_no_advice_to_list_it(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("known_failures: []\n", "utf-8")
    status, lines, _ = judged(tmp_path, "Letters", "--known-failures", FILE)
    assert (status, lines[-1]) == (1, "letters 1 does not conform: 2 cases = 2 fail")


def test_an_entry_of_no_case_fails_the_run(tmp_path: Path) -> None:
    entry = 'case: "no-such-case", verdict: "fail", digest: "0123456789abcdef", reason: "none"'
    (tmp_path / FILE).write_text(f"known_failures:\n  - {{{entry}}}\n", "utf-8")
    status, lines, _ = judged(tmp_path, "Right", "--known-failures", FILE, "--junit", "a.xml")
    assert (status, lines[-3:]) == (
        1,
        [
            f"{FILE}:2: no-such-case is not a case of the suite",
            "letters 1 does not conform: 2 cases = 2 pass",
            f"to rewrite the known-failures file: {AGAIN.replace('Letters', 'Right')}",
        ],
    )
    assert "no-such-case is not a case of the suite" in (tmp_path / "a.xml").read_text("utf-8")


def test_nothing_is_listed_of_a_run_in_which_everything_crashed_and_the_report_is_written(tmp_path: Path) -> None:
    for options in ([], ["--list-crashes"]):
        status, lines, errors = judged(tmp_path, "Dying", "--update-known-failures", "--report", "a.ndjson", *options)
        assert (status, lines[-1]) == (2, "letters 1 does not conform: 2 cases = 2 crash")
        what = "every result is a crash, a time-out or a broken message, and a list of those alone is worth nothing"
        assert errors == f"tokspec: {FILE}: is not updated: {what}, with --list-crashes too; fix that first\n"
        assert not (tmp_path / FILE).exists()
        assert (tmp_path / "a.ndjson").read_text("utf-8").count('"verdict":"crash"') == 2


def test_a_crash_is_listed_where_that_is_asked_for_as_a_crash(tmp_path: Path) -> None:
    status, lines, _ = judged(tmp_path, "DyingOnce", "--update-known-failures")
    advice = "not listed, because they crash, hang or break the protocol: 1; fix them, or list them as they are: "
    again = AGAIN.replace("Letters", "DyingOnce")
    assert (status, lines[-2:]) == (
        1,
        ["letters 1 does not conform: 2 cases = 1 crash + 1 known failure", f"{advice}{again} --list-crashes"],
    )
    assert 'verdict: "crash"' not in (tmp_path / FILE).read_text("utf-8")
    status, lines, _ = judged(tmp_path, "DyingOnce", "--update-known-failures", "--list-crashes")
    assert lines[-1] == "letters 1 does not conform: 2 cases = 2 known failure"
    listed = (tmp_path / FILE).read_text("utf-8")
    assert listed.count('verdict: "crash"') == listed.count('verdict: "fail"') == 1
    assert judged(tmp_path, "DyingOnce", "--update-known-failures")[1][-1] == lines[-1]
    assert (tmp_path / FILE).read_text("utf-8") == listed


def test_what_crashes_is_listed_only_in_a_file_that_is_written(tmp_path: Path) -> None:
    status, _, errors = judged(tmp_path, "DyingOnce", "--list-crashes")
    assert (status, errors) == (2, "tokspec: --list-crashes: needs --update-known-failures; give both\n")


def test_nothing_is_written_after_a_fault_at_the_start(tmp_path: Path) -> None:
    status, lines, errors = judged(tmp_path, "Stillborn", "--update-known-failures")
    assert (status, lines) == (2, [])
    assert re.fullmatch(
        r"tokspec: \S+: cannot be asked: crash: .*; try tokspec smoke --impl \S+ --in-process\n", errors
    )
    assert not (tmp_path / FILE).exists()


def test_what_is_not_offered_though_it_is_listed_fails_until_the_file_is_written_anew(tmp_path: Path) -> None:
    judged(tmp_path, "Letters", "--update-known-failures")
    begun = (tmp_path / FILE).read_text("utf-8").replace("not explained yet", "it is a toy")
    (tmp_path / FILE).write_text(begun.partition("  - ")[0] + "  - " + begun.rpartition("  - ")[2], "utf-8")
    status, lines, _ = judged(tmp_path, "Refusing", "--known-failures", FILE, "--report", "a.ndjson")
    problem = f"{FILE}:3: bpe-toy-encode-mug is listed as failing, and is unsupported now; remove the entry"
    counted = "1 of 2 cases asked = 1 pass, 1 unsupported"
    assert (status, lines[-3:-1]) == (1, [problem, f"letters 1 does not conform: {counted}"])
    assert tokspec(tmp_path, "report", "a.ndjson")[1][-2:] == lines[-3:-1]
    status, lines, _ = judged(tmp_path, "Refusing", "--known-failures", FILE, "--update-known-failures")
    assert (status, lines[-1]) == (0, f"letters 1 conforms: {counted}")
    assert (tmp_path / FILE).read_text("utf-8").splitlines()[1:] == [
        "known_failures: []",
        '  # bpe-toy-encode-mug is unsupported now; it was listed because: "it is a toy"',
    ]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--report", "r", "--junit", "./r"], "--report and --junit"),
        (["--update-known-failures", "--report", FILE], "--known-failures and --report"),
        (["--update-known-failures", "--known-failures", "r", "--junit", "r"], "--known-failures and --junit"),
    ],
)
def test_two_options_do_not_name_the_same_file(tmp_path: Path, arguments: list[str], options: str) -> None:
    message = f"tokspec: {options} name the same file; give each its own; see tokspec run --help\n"
    assert judged(tmp_path, "Letters", *arguments) == (2, [], message)
    assert not (tmp_path / "r").exists()


def test_a_report_goes_into_no_device(tmp_path: Path) -> None:
    message = "tokspec: /dev/null: cannot be written: it is not a regular file\n"
    assert judged(tmp_path, "Right", "--report", "/dev/null") == (2, [], message)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    status, lines, errors = judged(tmp_path, "Letters", "--known-failures", "none.yaml")
    message = "tokspec: none.yaml: cannot be read: No such file or directory\n"
    assert (status, lines, errors) == (2, [], message)


def test_verify_finds_what_leaks(tmp_path: Path) -> None:
    assert judged(tmp_path, "Leaking")[1][-1] == "letters 1 conforms: 2 cases = 2 pass"
    assert judged(tmp_path, "Right", "--verify")[1][-1] == "letters 1 conforms: 2 cases = 2 pass"
    command = ["run", "--in-process", "--impl", "wrong:Leaking", "--verify", "--report", "a.ndjson"]
    status, lines, _ = tokspec(tmp_path, *command, "--select", "bpe-toy-encode-*", "--seed", "7")
    assert (status, lines[-1].startswith("letters 1 does not conform: ")) == (1, True)
    assert "state leak" in lines[-1]
    assert {line for line in lines if line.startswith("  again ")} == {
        "  again     tokspec run --impl wrong:Leaking --in-process --verify"
    }
    assert " of seed 7" in (tmp_path / "a.ndjson").read_text("ascii")


def test_reports_are_written_read_and_compared(tmp_path: Path) -> None:
    before, *shown = judged(tmp_path, "Letters", "--report", "before.ndjson", "--junit", "before.xml")
    after, *_ = judged(tmp_path, "Right", "--report", "after.ndjson")
    assert (before, after) == (1, 0)
    assert tokspec(tmp_path, "report", "before.ndjson", "--show", "0") == (1, *shown)
    status, lines, _ = tokspec(
        tmp_path, "report", "before.ndjson", "after.ndjson", "--format", "junit", "-o", "both.xml"
    )
    assert (status, lines) == (1, [])
    first = (tmp_path / "before.xml").read_text("utf-8").splitlines()[2:-1]
    assert (tmp_path / "both.xml").read_text("utf-8").splitlines()[2 : 2 + len(first)] == first
    assert tokspec(tmp_path, "report", "--compare", "before.ndjson", "after.ndjson")[:2] == (
        0,
        [
            "before.ndjson: letters 1 does not conform: 2 cases = 2 fail",
            "after.ndjson: letters 1 conforms: 2 cases = 2 pass",
            "fixed          fail → pass: encode: cuts where the case does not, at letters (latin): bpe-toy-encode-bug",
            "fixed          fail → pass: encode: not the unknown token where the case has it: bpe-toy-encode-mug",
            "2 fixed: conforms now",
        ],
    )
    assert tokspec(tmp_path, "report", "--compare", "after.ndjson", "before.ndjson")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.ndjson"], "none.ndjson: cannot be read: No such file or directory"),
        (["wrong.py"], "wrong.py:1: a line is not JSON (Expecting value at character 1): ''; was it cut off?"),
        (["--compare", "wrong.py"], "wrong.py:1: a line is not JSON (Expecting value at character 1): ''; was it cut off?"),
    ],
)  # fmt: skip
def test_what_is_no_report_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    assert tokspec(tmp_path, "report", *arguments) == (2, [], f"tokspec: {message}\n")


def test_two_reports_are_compared(tmp_path: Path) -> None:
    judged(tmp_path, "Right", "--report", "a.ndjson")
    message = "tokspec: --compare: needs two reports, the older first, and prints only text\n"
    assert tokspec(tmp_path, "report", "--compare", "a.ndjson") == (2, [], message)


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    status, lines, errors = judged(tmp_path, "Right", "--report", "no/a.ndjson")
    assert (status, lines) == (2, [])
    assert errors == "tokspec: no/a.ndjson: cannot be written: No such file or directory\n"
