"""The cases in pytest, in somebody's repository: what is collected, what is said, and what is left behind."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tokspec.adapters.registry import installable, usable_names
from tokspec.cli import pytest_items  # pytester forgets what is first imported in a run
from tokspec.judge.runner import Run, run
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case, Suite
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]

#: Knows one word, says which process it is, and dies at once if it is told to.
PROGRAM = """
import json, os, sys
with open("processes", "a") as file:
    print(os.getpid(), file=file)
if "dies" in sys.argv:
    sys.exit("cannot find model.bin")
HELLO = {"protocol": 1, "name": "mine", "version": "1", "language": "Python",
         "operations": ["encode"], "formats": ["tokspec"], "choices": json.loads(sys.argv[1])}
for line in sys.stdin:
    request = json.loads(line)
    ok = HELLO if request["op"] == "hello" else {}
    if request["op"] == "encode":
        text = request["input"]["text"]
        ok = {"tokens": ["b", "ug"] if text == "bug" else list(text)}
    print(json.dumps({"id": request["id"], "ok": ok}), flush=True)
    if request["op"] == "bye":
        break
"""

ADAPTER = """
import os
from tokspec.adapter import Hello

class Adapter:
    def hello(self):
        return Hello("mine", "1", "Python", operations=("encode",))
    def load(self, format, content):
        return content
    def run(self, operation, model, input):
        print("loud")
        with open("processes", "a") as file:
            print(os.getpid(), file=file)
        return {"tokens": ["b", "ug"]}
"""

ENCODING = ("--tokspec-select", "bpe-toy-encode-bug", "--tokspec-select", "bpe-toy-encode-pun")

FAILURE = """\
FAIL bpe-toy-encode-pun  (bpe/toy-encoding.yaml:{line})
  {clauses}
  why       {why}
  input     encode "pun"
  expected  tokens: "p" "un"
  actual    tokens: "p" "u"  "n"
                        ^^^^
  first     tokens[1]: expected "un", actual "u"
  again     tokspec run {target} --select bpe-toy-encode-pun"""


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite()


@pytest.fixture
def repository(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, suite: Suite) -> pytest.Pytester:
    """Somebody's repository, with a program and an adapter, seen on a wide terminal."""
    for name in ("CI", "BUILD_NUMBER", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")  # it takes a second to sum up nothing
    monkeypatch.setattr(pytest_items, "load_suite", lambda: suite)
    pytester.makepyfile(program=PROGRAM, my_adapter=ADAPTER)
    return pytester


def command(*words: str) -> str:
    return shlex.join([sys.executable, "program.py", *(words or ("{}",))])


def processes(repository: pytest.Pytester) -> list[int]:
    noted = repository.path / "processes"
    return [int(line) for line in noted.read_text("utf-8").split()] if noted.exists() else []


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def lines(result: pytest.RunResult, start: str, end: str) -> list[str]:
    """Return the lines of the output from the one that starts so to the one, not included, that starts otherwise."""
    first = next(index for index, line in enumerate(result.outlines) if line.startswith(start))
    last = next(index for index, line in enumerate(result.outlines) if index > first and line.startswith(end))
    return result.outlines[first:last]


def summary(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith(("FAILED", "SKIPPED", "ERROR", "PASSED"))]


@pytest.mark.parametrize("arguments", [[], ["tests/"]], ids=["nothing", "an empty folder"])
def test_a_repository_without_tests_can_judge(repository: pytest.Pytester, arguments: list[str]) -> None:
    repository.mkdir("tests")
    result = repository.runpytest("--tokspec", "reference", "-v", *ENCODING, *arguments)
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert lines(result, "collecting", "===") == [
        "collecting ... collected 2 items",
        "",
        "tokspec::bpe-toy-encode-bug PASSED" + " " * 119 + "[ 50%]",
        "tokspec::bpe-toy-encode-pun PASSED" + " " * 119 + "[100%]",
        "",
    ]


def test_own_tests_run_too(repository: pytest.Pytester) -> None:
    repository.makepyfile(test_own="def test_one(): pass\ndef test_two(): assert False")
    result = repository.runpytest("--tokspec", "reference", *ENCODING)
    result.assert_outcomes(passed=3, failed=1)
    result = repository.runpytest("--tokspec", "reference", *ENCODING, "test_own.py::test_one")
    result.assert_outcomes(passed=3)


def test_without_an_option_nothing_is_collected_and_nothing_imported(repository: pytest.Pytester) -> None:
    repository.makepyfile(
        test_own="""
        import sys

        def test_modules():
            found = sorted(name for name in sys.modules if name.startswith(("tokspec", "tokref")))
            assert found == [
                "tokspec", "tokspec.compare", "tokspec.compare.pytest_fixture", "tokspec.pytest_plugin"
            ]
        """
    )
    result = repository.runpytest_subprocess()
    result.assert_outcomes(passed=1)


def test_cases_are_listed_without_starting_anything(repository: pytest.Pytester) -> None:
    result = repository.runpytest("--tokspec", command(), "--collect-only", "-q", *ENCODING)
    assert result.outlines[:3] == ["tokspec::bpe-toy-encode-bug", "tokspec::bpe-toy-encode-pun", ""]
    assert result.outlines[3].startswith("2 tests collected in ")
    assert processes(repository) == []


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("bug", ["bug"]),
        ("BPE-ENC-1", ["bug", "two-words"]),
        ("encode and ENC-4", ["empty"]),
        ("tokspec and pun", ["pun"]),
    ],
)
def test_k_knows_ids_clauses_and_operations(repository: pytest.Pytester, expression: str, chosen: list[str]) -> None:
    select = ("--tokspec-select", "bpe-toy-encode-*")
    result = repository.runpytest("--tokspec", "reference", "--collect-only", "-q", "-k", expression, *select)
    listed = [line for line in result.outlines if line.startswith("tokspec::")]
    assert listed == [f"tokspec::bpe-toy-encode-{name}" for name in chosen]


def test_a_failing_case_shows_its_report_and_nothing_of_our_code(repository: pytest.Pytester) -> None:
    result = repository.runpytest("--tokspec", command(), *ENCODING)
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1
    shown = lines(result, "FAIL ", "===")
    clauses = [line for line in shown if " (MUST) " in line]
    why = shown[1 + len(clauses)]
    expected = FAILURE.format(
        line=shown[0].removeprefix("FAIL bpe-toy-encode-pun  (bpe/toy-encoding.yaml:").removesuffix(")"),
        clauses="\n".join(clauses).strip(),
        why=why.removeprefix("  why       "),
        target=f"--impl {shlex.quote(command())}",
    )
    assert "\n".join(shown) == expected
    assert summary(result) == ['FAILED tokspec::bpe-toy-encode-pun - fail: tokens[1]: expected "un", actual "u"']


def test_a_summary_in_continuous_integration_is_one_line_too(
    repository: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    result = repository.runpytest("--tokspec", command(), *ENCODING)
    assert lines(result, "FAILED ", "===") == [
        'FAILED tokspec::bpe-toy-encode-pun - fail: tokens[1]: expected "un", actual "u"'
    ]


def test_what_is_not_offered_is_skipped_with_the_reason(repository: pytest.Pytester) -> None:
    select = ("--tokspec-select", "bpe-toy-train*")
    result = repository.runpytest("--tokspec", command(), "-rs", *select)
    outcomes = result.parseoutcomes()
    assert {*outcomes} == {"skipped", "failed"}  # nothing passes, which is a failure of the run
    (line,) = summary(result)
    assert line.startswith(f"SKIPPED [{outcomes['skipped']}] ")
    assert line.endswith(": unsupported: does not offer train")


@pytest.mark.long
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_a_run_in_which_nothing_passes_is_no_pass(repository: pytest.Pytester, workers: list[str]) -> None:
    result = repository.runpytest("--tokspec", command(), "--tokspec-select", "bpe-toy-train-3", *workers)
    result.assert_outcomes(skipped=1, failed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["tokspec: no case passed, and a run that shows nothing is not a pass"])


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_a_fault_that_no_case_is_to_blame_for_fails_the_run(repository: pytest.Pytester, workers: list[str]) -> None:
    ends = "import sys\nfrom tokspec.sessions.adapter_server import main\nmain()\nsys.exit(7)\n"
    (repository.path / "ends.py").write_text(ends, "utf-8")
    program = shlex.join([sys.executable, "ends.py", "tokspec.adapters.reference:ReferenceAdapter"])
    result = repository.runpytest("--tokspec", program, *ENCODING, *workers)
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == 1
    said = [line for line in result.outlines if line.startswith("tokspec:")]
    assert said == ["tokspec: crash: after bye: exit status 7 (PROTO-3)"]


def test_cases_are_asked_together_and_have_one_phase(
    repository: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, phases = [], []

    def counting_run(session: Session, cases: Sequence[Case], **others: Any) -> Run:
        asked.append([case.id for case in cases])
        return run(session, cases, **others)

    class Phases:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            phases.append((report.nodeid, report.when, report.outcome))

    monkeypatch.setattr(pytest_items, "run", counting_run)
    result = repository.runpytest("--tokspec", command(), *ENCODING, plugins=[Phases()])
    result.assert_outcomes(passed=1, failed=1)
    assert asked == [["bpe-toy-encode-bug", "bpe-toy-encode-pun"], []]
    assert phases == [
        ("tokspec::bpe-toy-encode-bug", "call", "passed"),
        ("tokspec::bpe-toy-encode-pun", "call", "failed"),
    ]


def test_x_stops_and_lf_comes_back_to_what_failed(repository: pytest.Pytester) -> None:
    select = ("--tokspec-select", "bpe-toy-encode-*", "--tokspec-cmd", command())
    result = repository.runpytest("-x", *select)
    assert summary(result) == ['FAILED tokspec::bpe-toy-encode-mug - fail: tokens[0]: expected "[UNK]", actual "m"']
    result = repository.runpytest("--lf", "-v", *select)
    result.assert_outcomes(failed=1, deselected=9)
    result = repository.runpytest("--lf", "--tokspec", "reference", *select[:2])
    result.assert_outcomes(passed=1, deselected=9)


def test_junit_names_the_case_and_holds_the_report(repository: pytest.Pytester) -> None:
    repository.runpytest("--tokspec", command(), "--junitxml", "report.xml", *ENCODING)
    right, wrong = ElementTree.parse(repository.path / "report.xml").iter("testcase")
    assert (right.get("classname"), right.get("name"), list(right)) == ("tokspec", "bpe-toy-encode-bug", [])
    (failure,) = wrong
    assert failure.get("message") == 'fail: tokens[1]: expected "un", actual "u"'
    assert (failure.text or "").splitlines()[-2] == '  first     tokens[1]: expected "un", actual "u"'


@pytest.mark.long
def test_workers_have_a_program_each(repository: pytest.Pytester) -> None:
    result = repository.runpytest("--tokspec", command(), "-n", "2", "--tokspec-select", "bpe-toy-encode-*")
    result.assert_outcomes(passed=2, failed=8)
    assert '  first     tokens[1]: expected "un", actual "u"' in result.outlines
    assert len(processes(repository)) == 3  # one of them to see whether it can be started at all
    assert [process for process in processes(repository) if is_running(process)] == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("dies",), "crash: exit status 1; standard error ends 'cannot find model.bin'"),
        (('{"sigma": "x"}',), "protocol: hello declares 'sigma=x', which is no choice; did you mean final_sigma?"),
    ],
    ids=["dies", "declares what there is not"],
)
def test_a_program_that_cannot_be_asked_ends_pytest_with_a_line(
    repository: pytest.Pytester, words: tuple[str, ...], problem: str
) -> None:
    result = repository.runpytest("--tokspec-cmd", command(*words), *ENCODING)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    again = f"try tokspec smoke --impl {shlex.quote(command(*words))}"
    assert result.errlines[0] == f"ERROR: {command(*words)}: cannot be asked: {problem}; {again}"
    assert len(processes(repository)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--tokspec", "tokenisers"],
            f"tokenisers: is not installed; did you mean tokenizers? installed are {', '.join(usable_names())}; "
            f"{installable()}; or give module:object, or a command",
        ),
        (["--tokspec", "my_adapter:Other"], "my_adapter:Other: cannot be found: module 'my_adapter' has no attribute 'Other'"),
        (
            ["--tokspec-cmd", "no-such-program"],
            "'no-such-program': cannot be started: there is no program 'no-such-program'; "
            "give its path, put it on the PATH, or install its interpreter",
        ),
        (["--tokspec", "reference", "--tokspec-cmd", "cat"], "--tokspec and --tokspec-cmd name two implementations; give one"),
        (["--tokspec-cmd", "cat", "--tokspec-in-process"], "--tokspec-in-process is for adapters in Python; a program has its own process"),
        (["--tokspec-select", "BPE-*"], "no implementation is named; give --tokspec"),
        (["--tokspec", ""], "--tokspec is blank; give it a value, or leave it out"),
        (["--tokspec", " \t"], "--tokspec is blank; give it a value, or leave it out"),
        (["--tokspec-cmd", ""], "--tokspec-cmd is blank; give it a value, or leave it out"),
        (
            ["--tokspec", "reference", "--tokspec-known-failures", ""],
            "--tokspec-known-failures is blank; give it a value, or leave it out",
        ),
        (["--tokspec-fixtures-version", ""], "--tokspec-fixtures-version is blank; give it a value, or leave it out"),
        (
            ["--tokspec", "reference", "--tokspec-select", "bpe-toy-encode-bog"],
            "--tokspec-select: 'bpe-toy-encode-bog' matches no case; "
            "did you mean bpe-toy-encode-bug or bpe-toy-encode-mug or bpe-toy-encode-thug?",
        ),
        (
            ["--tokspec", "reference", "--tokspec-choice", "unknown_id=x"],
            "--tokspec-choice: 'unknown_id=x' names no option; unknown_id has error, skipped",
        ),
        (
            ["--tokspec", "reference", "--tokspec-choice", "\x1b]0;x\x07=x"],
            "--tokspec-choice: '\\x1b]0;x\\x07=x' names no choice; there are " + ", ".join(load_specification().choices),
        ),
    ],
    ids=[
        "name",
        "object",
        "program",
        "both",
        "in process",
        "none",
        "empty",
        "blank",
        "empty command",
        "empty list",
        "empty version",
        "selection",
        "choice",
        "escapes",
    ],
)  # fmt: skip
def test_wrong_options_are_a_usage_error_in_one_line(
    repository: pytest.Pytester, arguments: list[str], message: str
) -> None:
    result = repository.runpytest(*arguments)
    assert (result.ret, result.errlines) == (4, [f"ERROR: {message}", ""])
    assert "Traceback" not in result.stdout.str()


def test_wrong_options_end_before_workers_start(repository: pytest.Pytester) -> None:
    result = repository.runpytest("--tokspec", "reference", "--tokspec-select", "qqqqqqqq", "-n", "2")
    message = "--tokspec-select: 'qqqqqqqq' matches no case; `tokspec cases` lists what there is"
    assert (result.ret, result.errlines) == (4, [f"ERROR: {message}", ""])


def test_an_option_is_held_against_it_and_named_in_the_command(repository: pytest.Pytester) -> None:
    arguments = ("--tokspec-choice", "bpe_merge_order=single_pass", "--tokspec-select", "bpe-encode-late-merge")
    result = repository.runpytest("--tokspec", "tokenizers", *arguments)
    result.assert_outcomes(failed=1)
    assert lines(result, "  again", "===") == [
        "  again     tokspec run --impl tokenizers --choice bpe_merge_order=single_pass --select bpe-encode-late-merge"
    ]


KNOWN = """
known_failures:
  - case: "bpe-toy-encode-pun"
    verdict: "fail"
    digest: "{digest}"
    reason: "the n is for later"
"""


def test_known_failures_are_expected_to_fail(repository: pytest.Pytester) -> None:
    wrong = {"tokens": ["p", "u", "n"]}
    digest = hashlib.sha256(json.dumps(["fail", wrong], separators=(",", ":")).encode()).hexdigest()[:16]
    (repository.path / "known.yaml").write_text(KNOWN.format(digest=digest), "utf-8")
    listed = ("--tokspec-known-failures", "known.yaml")
    result = repository.runpytest("--tokspec", command(), *ENCODING, *listed, "-rx")
    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["XFAIL tokspec::bpe-toy-encode-pun - known failure: the n is for later"])
    result = repository.runpytest("--tokspec", "reference", *ENCODING, *listed)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*unexpected pass: passes, but known.yaml:3 lists it as failing"])


def test_what_is_not_offered_though_it_is_listed_fails(repository: pytest.Pytester) -> None:
    listed = KNOWN.format(digest="0" * 16).replace("encode-pun", "train-3")
    (repository.path / "known.yaml").write_text(listed, "utf-8")
    select = ("--tokspec-select", "bpe-toy-train-3", "--tokspec-known-failures", "known.yaml")
    result = repository.runpytest("--tokspec", command(), *ENCODING, *select)
    result.assert_outcomes(passed=1, failed=2)
    problem = "known.yaml:3: bpe-toy-train-3 is listed as failing, and is unsupported now; remove the entry"
    assert summary(result)[-1] == f"FAILED tokspec::bpe-toy-train-3 - Failed: {problem}"


def test_a_known_failure_of_no_case_is_a_usage_error(repository: pytest.Pytester) -> None:
    stale = KNOWN.format(digest="0" * 16).replace("-pun", "-jug")
    (repository.path / "known.yaml").write_text(stale, "utf-8")
    result = repository.runpytest("--tokspec", "reference", "--tokspec-known-failures", "known.yaml")
    assert (result.ret, result.errlines) == (
        4,
        ["ERROR: known.yaml:3: bpe-toy-encode-jug is not a case of the suite", ""],
    )


@pytest.mark.parametrize("inside", [False, True], ids=["own process", "this process"])
def test_an_adapter_in_python(repository: pytest.Pytester, inside: bool) -> None:
    note = "import os, pathlib\n\ndef pytest_sessionstart():\n    pathlib.Path('session').write_text(str(os.getpid()))"
    repository.makeconftest(note)
    option = ["--tokspec-in-process"] if inside else []
    result = repository.runpytest_subprocess("--tokspec", "my_adapter:Adapter", "-W", "error", *ENCODING[:2], *option)
    result.assert_outcomes(passed=1)
    assert "loud" not in result.stdout.str()
    session = int((repository.path / "session").read_text())
    assert [process == session for process in processes(repository)] == [inside]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("point", ["import", "hello", "run"])
def test_an_adapter_that_ends_the_process_of_pytest_is_no_pass(repository: pytest.Pytester, point: str) -> None:
    ends = "import os\nfrom my_adapter import Adapter\n\nclass Ends(Adapter):\n"
    method = f"    def {point}(self, *arguments):\n        os._exit(0)\n"
    repository.makepyfile(ends="import os\nos._exit(0)\n" if point == "import" else ends + method)
    result = repository.runpytest_subprocess("--tokspec", "ends:Ends", *ENCODING[:2], "--tokspec-in-process")
    said = "the implementation ended the process with status 0, and nothing is judged; leave out --in-process"
    assert (result.ret, result.errlines) == (2, [f"tokspec: {said}"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("own", "status"),
    [("def test_own(): pass", 1), ("def test_own(): raise KeyboardInterrupt", 2)],
    ids=["to the end", "interrupted"],
)
def test_no_process_is_left_behind(repository: pytest.Pytester, own: str, status: int) -> None:
    repository.makepyfile(test_own=own)
    run = repository.runpytest_subprocess if status == 2 else repository.runpytest
    assert run("--tokspec-cmd", command(), *ENCODING).ret == status
    assert [is_running(process) for process in processes(repository)] == [False]


def test_the_options_are_in_the_help(repository: pytest.Pytester) -> None:
    help_text = repository.runpytest("--help")
    start = help_text.outlines.index("conformance of tokenizers:")
    options = [line.split()[0] for line in help_text.outlines[start + 1 : start + 9] if line.startswith("  --")]
    assert [option.partition("=")[0] for option in options] == [
        "--tokspec",
        "--tokspec-in-process",
        "--tokspec-select",
        "--tokspec-choice",
        "--tokspec-fixtures-version",
    ]


def test_the_repository_stays_as_it_was(repository: pytest.Pytester) -> None:
    before = {path.name for path in Path.cwd().iterdir()}
    repository.runpytest("--tokspec", "reference", "-p", "no:cacheprovider", *ENCODING)
    assert {path.name for path in Path.cwd().iterdir()} == before
