"""The command line as people and scripts meet it: whole messages, exit statuses, and streams that are not as hoped."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

import tokspec.cli
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.adapters.registry import NAMES, installable, usable_names
from tokspec.cli import tokspec as group
from tokspec.cli.progress import ProgressBar
from tokspec.sessions import process
from tokspec.suite.specification import load_specification

TOKSPEC = [sys.executable, "-m", "tokspec"]

SOURCE = "course-unigram"

#: A folder of one case, so that commands are fast and their output is whole.
FIXTURE = f"""\
about: "One case, to be shown whole."
source:
  - {{document: "{SOURCE}", section: "A chapter"}}
cases:
  - id: one-word
    clauses: [BPE-ENC-1]
    why: "The letters are merged, or not."
    model: {{type: bpe, vocabulary: ["b", "u", "g", "ug"], merges: [["u", "g"]]}}
    operation: encode
    input: {{text: "bug"}}
    by_choice:
      bpe_merge_order:
        single_pass: {{expect: {{tokens: ["b", "ug"]}}}}
        lowest_rank: {{one_of: [{{tokens: ["b", "ug"]}}, {{tokens: ["bug"]}}]}}
    stated:
      - {{at: "/bpe_merge_order/single_pass/expect/tokens/1", printed: "\\u202eug", relation: equal}}
    verified_by: ["hand: two letters"]
  - id: no-word
    clauses: [BPE-ENC-1, ERROR-1]
    why: "There is no such letter."
    source:
      - {{implementation: "nobody 1.0"}}
    model: {{type: bpe, vocabulary: ["b"], merges: []}}
    operation: encode
    input: {{text: "x"}}
    error: unknown_symbol
    verified_by: ["hand: one letter"]
"""

#: Says hello, and no more.
SILENT = """
import json, sys, time
open("started", "w").write(str(__import__("os").getpid()))
request = json.loads(sys.stdin.readline())
ok = {"protocol": 1, "name": "silent", "version": "1", "language": "Python", "operations": ["encode"], "formats": ["tokspec"]}
print(json.dumps({"id": request["id"], "ok": ok}), flush=True)
open("greeted", "w").close()
time.sleep(60)
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

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
Call = Callable[..., tuple[int, str, str]]

#: Options that take the cases of that folder.
ONE = ("--fixtures", "fixtures")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of fixtures in an otherwise empty current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "one.yaml").write_text(FIXTURE, "utf-8")
    (tmp_path / "letters.py").write_text(LETTERS, "utf-8")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Run the real command in that folder, without standard input."""

    def run(*arguments: str, **others: object) -> subprocess.CompletedProcess[bytes]:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **others}
        return subprocess.run([*TOKSPEC, *arguments], timeout=120, **streams)  # type: ignore[call-overload]

    return run


@pytest.fixture
def status_and_message(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command line in this process; give its status, output and messages."""

    def call(*arguments: str) -> tuple[int, str, str]:
        status = tokspec.cli.run_command_line(list(arguments))
        return status, *capsys.readouterr()

    return call


@pytest.mark.parametrize(
    ("arguments", "status", "last"),
    [
        (("run", *ONE), 0, "tokref 0.3.0 conforms: 2 cases = 2 pass"),
        (("run", *ONE, "--select", "one-word"), 0, "tokref 0.3.0 conforms: 1 case = 1 pass"),
        (("run", *ONE, "--impl", "letters:Letters"), 1, "letters 1 does not conform: 2 cases = 2 fail"),
        (("cases", *ONE), 0, "2 cases"),
        (("cases", *ONE, "--exclude", "ERROR-1"), 0, "1 case"),
        (
            ("cases", *ONE, "one-word"),
            0,
            "  run       tokspec run --impl IMPLEMENTATION --fixtures fixtures --select one-word",
        ),
        (("smoke", "--cmd", "false"), 1, "not yet: fix hello first"),
        (("--version",), 0, "tokspec, version 0.3.0"),
    ],
    ids=["conforms", "one case", "does not conform", "cases", "cases but one", "one of the cases", "smoke", "version"],
)
def test_exit_statuses(status_and_message: Call, arguments: tuple[str, ...], status: int, last: str) -> None:
    found, output, message = status_and_message(*arguments)
    assert (found, output.splitlines()[-1], message) == (status, last, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--impl", "reference", "--cmd", "cat"), "--impl and --cmd name two implementations; give one; see tokspec run --help"),
        (
            ("run", *ONE, "--impl", "tokenisers"),
            f"tokenisers: is not installed; did you mean tokenizers? installed are {', '.join(usable_names())}; "
            f"{installable()}; or give module:object, or a command",
        ),
        (
            ("run", *ONE, "--impl", "no-such-program --fast"),
            "'no-such-program --fast': cannot be started: there is no program 'no-such-program'; "
            "give its path, put it on the PATH, or install its interpreter",
        ),
        (("smoke", "--impl", "cat 'x"), '"cat \'x": is not a command line: no closing quotation'),
        (
            ("run", *ONE, "--choice", "unkown_id=error"),
            "--choice: 'unkown_id=error' names no choice; did you mean unknown_id? there are "
            f"{', '.join(load_specification().choices)}",
        ),
        (
            ("run", *ONE, "--choice", "unknown_id=skiped"),
            "--choice: 'unknown_id=skiped' names no option; did you mean skipped? unknown_id has error, skipped",
        ),
        (("run", *ONE, "--choice", "unknown_id=x"), "--choice: 'unknown_id=x' names no option; unknown_id has error, skipped"),
        (("run", *ONE, "--choice", "unknown_id"), "--choice: 'unknown_id' names no option; unknown_id has error, skipped"),
        (("run", *ONE, "--select", "one-wrd"), "--select: 'one-wrd' matches no case; did you mean one-word or no-word?"),
        (("run", *ONE, "--select", "\x1b[2J"), "--select: '\\x1b[2J' matches no case; `tokspec cases` lists what there is"),
        (("cases", *ONE, "--exclude", "*"), "--exclude: every selected case is excluded"),
        (("cases", *ONE, "one-wrd"), "NAME: 'one-wrd' matches no case; did you mean one-word or no-word?"),
        (("cases", "--fixtures", "nowhere"), "nowhere: is not a folder; give one with fixture files in it"),
        (("cases", "--fixtures", "fixtures/one.yaml"), "fixtures/one.yaml: is not a folder; give one with fixture files in it"),
        (("run", *ONE, "--report", "nowhere/report.ndjson"), "nowhere/report.ndjson: cannot be written: No such file or directory"),
        (("record", "--impl", "mine"), "No such option '--impl'; name the implementation without an option; see tokspec record --help"),
        (("diff", "--impl=mine"), "No such option '--impl'; name the implementation without an option; see tokspec diff --help"),
        (("run", "--impl", " \t"), "--impl needs a name or a command; see tokspec run --help"),
        (("smoke", "--cmd", " "), "--impl needs a name or a command; see tokspec smoke --help"),
        (("fuzz", "--against", ""), "--against needs a name or a command; see tokspec fuzz --help"),
        (("fuzz", "--against", " "), "--against needs a name or a command; see tokspec fuzz --help"),
    ],
    ids=[
        "two implementations",
        "name",
        "program",
        "quotes",
        "choice",
        "misspelt option",
        "option",
        "no option",
        "selection",
        "hostile",
        "nothing left",
        "case",
        "folder",
        "file",
        "report",
        "recorded by an option",
        "compared by an option",
        "blank name",
        "blank command",
        "empty oracle",
        "blank oracle",
    ],
)  # fmt: skip
def test_wrong_use_is_one_line_and_status_2(status_and_message: Call, arguments: tuple[str, ...], message: str) -> None:
    assert status_and_message(*arguments) == (2, "", f"tokspec: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--selekt", "x"), r"No such option.*--selekt.*--select.* see tokspec run --help"),
        (("runn",), r"No such command 'runn'.* see tokspec --help"),
        (("dev", "coverag"), r"No such command 'coverag'.* see tokspec dev --help"),
        (
            ("cases", "--bundle", "x.json", "encode"),
            r"--bundle writes all cases; leave out NAME, --exclude and --source; see tokspec cases --help",
        ),
        (
            ("cases", "--format", "vocab.txt"),
            r"--format is for --bundle; tokspec model writes one model; see tokspec cases --help",
        ),
        (("run", "more"), r"Got unexpected extra argument \(more\); an implementation is named by --impl; see tokspec run --help"),
        (("run", "--case-seconds", "soon"), r"Invalid value for '--case-seconds': 'soon' is not .*; see tokspec run --help"),
        (("run", "--limit", "hours=1"), r"Invalid value for '--limit': 'hours' is not one of case-seconds, start-seconds, memory-mb; .*"),
        (("run", "--limit", "case-seconds"), r"Invalid value for '--limit': case-seconds: '' is not a valid float range; .*"),
        (("run", "--limit", "case-seconds=0"), r"Invalid value for '--limit': case-seconds: 0\S* is not in the range 0<x<=86400; .*"),
        (("run", "--limit", "memory-mb=1", "--memory-mb", "2"), "memory-mb is given two numbers; give one; see tokspec run --help"),
        (("run", "--show", "some"), "Invalid value for '--show': 'some' is not a number, all or clauses; see tokspec run --help"),
        (("diff", "a", "b", "--engine", "spark"), "Invalid value for '--engine': 'spark' is not one of local, dask, ray; .*"),
        (("run", "--case-seconds", "0"), r"Invalid value for '--case-seconds': 0\S* is not in the range 0<x<=86400; see tokspec run --help"),
        (("run", "--max-failures", "0"), r"Invalid value for '--max-failures': 0 is not in the range 1<=x<=1000000000; see tokspec run --help"),
    ],
    ids=["option", "command", "of dev", "bundle", "format", "extra", "number", "limit", "blank", "range", "twice", "show", "engine", "seconds", "failures"],
)  # fmt: skip
def test_what_click_says_is_one_line_too(status_and_message: Call, arguments: tuple[str, ...], message: str) -> None:
    status, output, said = status_and_message(*arguments)
    assert (status, output) == (2, "")
    assert re.fullmatch(f"tokspec: {message}\n", said), said


@pytest.mark.parametrize(
    "arguments", [("run",), ("run", "--jobs", "2"), ("probe",), ("run", "--update-known-failures")]
)
def test_a_program_that_never_says_hello_is_one_line(status_and_message: Call, arguments: tuple[str, ...]) -> None:
    said = "false: cannot be asked: crash: exit status 1; try tokspec smoke --cmd false"
    assert status_and_message(*arguments, *ONE, "--cmd", "false") == (2, "", f"tokspec: {said}\n")
    assert not Path("tokspec-known-failures.yaml").exists()


def test_what_is_wrong_with_hello_is_told(status_and_message: Call, folder: Path) -> None:
    (folder / "nameless.py").write_text(LETTERS.replace('"letters"', '""'), "utf-8")
    wrong = 'nameless:Letters: cannot be asked: protocol: the answer to hello is wrong: name: "" is shorter than 1 character'
    said = f"tokspec: {wrong}; try tokspec smoke --impl nameless:Letters\n"
    assert status_and_message("run", *ONE, "--impl", "nameless:Letters") == (2, "", said)
    more = '("encode", "detrain", "\\x1b[2J", "a1", "a2", "a3", *map(str, range(9994)))'
    (folder / "more.py").write_text(LETTERS.replace('("encode",)', more), "utf-8")
    status, output, said = status_and_message("run", *ONE, "--impl", "more:Letters", "--show", "0")
    lines = output.splitlines()
    assert (status, [*lines[-7:-5], lines[-2]], said) == (
        1,
        [
            "hello offers 'detrain', which is not an operation; did you mean train?",
            "hello offers '\\x1b[2J', which is not an operation; spec/10-protocol.md lists them",
            "hello offers 9994 others that are not operations",
        ],
        "",
    )


def test_a_long_run_says_now_and_then_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with ProgressBar("judging", 1000) as advance, ProgressBar("freezing", None) as uncounted:
        for second in range(1, 201):
            now = 100.0 + second
            advance()
            if second in (1, 7):
                uncounted()
    assert capsys.readouterr().err.splitlines() == [
        "judging: 5 of 1000 after 5 s",
        "freezing: 2 after 7 s",
        "judging: 10 of 1000 after 10 s",
        "judging: 20 of 1000 after 20 s",
        "judging: 40 of 1000 after 40 s",
        "judging: 80 of 1000 after 80 s",
        "judging: 140 of 1000 after 140 s",
        "judging: 200 of 1000 after 200 s",
    ]


def test_a_long_run_of_known_duration_says_how_much_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with ProgressBar("verifying", 90, 154.0) as advance, ProgressBar("counting", 9, 4.0):
        for second in (1, 4, 6, 30):
            now = 100.0 + second
            advance(by=15)
    assert capsys.readouterr().err.splitlines() == [
        "verifying takes about 3 min",
        "verifying: 45 of 90 after 6 s, about 6 s left",
        "verifying: 60 of 90 after 30 s, about 15 s left",
    ]


def test_a_fault_of_the_suite_is_never_status_1(status_and_message: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(arguments: list[str], owns_process: bool) -> int:
        raise RuntimeError("2 cases were selected and 1 were answered")

    monkeypatch.setattr(tokspec.cli, "_run", broken)
    status, output, said = status_and_message("run")
    assert (status, output) == (2, "")
    assert said.startswith("Traceback (most recent call last):\n")
    assert said.splitlines()[-2:] == [
        "RuntimeError: 2 cases were selected and 1 were answered",
        "tokspec: this is a fault of the suite itself; please report it with the lines above",
    ]


def test_cases_are_a_line_each(status_and_message: Call) -> None:
    assert status_and_message("cases", *ONE)[1] == """\
one-word  encode  BPE-ENC-1
no-word   encode  BPE-ENC-1, ERROR-1
2 cases
"""  # fmt: skip
    assert status_and_message("cases", *ONE, "no-*")[1] == "no-word  encode  BPE-ENC-1, ERROR-1\n1 case\n"


def test_cases_are_found_by_what_they_ask_and_what_a_document_prints(status_and_message: Call) -> None:
    assert status_and_message("cases", "169.8")[1] == "unigram-toy-loss-from-0  loss  UNI-LOSS-1\n1 case\n"
    assert status_and_message("cases", "unhug", "--exclude", "*t5*")[1] == """\
bpe-toy-encode-unhug              encode   BPE-ENC-3
metaspace-bpe-toy-encode-unhug    encode   BPE-ENC-3, PRE-META-2
unigram-toy-viterbi-unhug         viterbi  UNI-SEG-4
unigram-toy-encode-unhug          encode   UNI-SEG-2
unigram-toy-segment-unhug-from-0  segment  UNI-SCORE-2, UNI-SEG-2
5 cases
"""  # fmt: skip


def test_a_heading_in_another_script_is_shown_as_text(status_and_message: Call) -> None:
    shown = status_and_message("cases", "unigram-toy-loss-from-0")[1]
    thai = '("Unigram tokenization", the Thai translation of course-unigram)'
    assert f"  source    course-unigram-thai, กลับมาสู่การเทรน {thai}\n" in shown


def test_cases_by_source_show_what_each_prints(status_and_message: Call) -> None:
    assert status_and_message("cases", *ONE, "--source")[1] == f"""\
{SOURCE} ("Unigram tokenization", section 7 of chapter 6 of Hugging Face's course): 1 printed result, 0 of them errata, in 1 case
  A chapter
    one-word
      /bpe_merge_order/single_pass/expect/tokens/1: equal "\\u202eug"
"""  # fmt: skip
    nothing = status_and_message("cases", *ONE, "--source", "no-word")
    assert nothing == (0, "none of these cases comes from a document\n", "")


def test_a_case_that_is_named_is_shown_whole(status_and_message: Call) -> None:
    clauses = load_specification().clauses
    assert status_and_message("cases", *ONE, "one-word")[1] == f"""\
one-word  (one.yaml:5)
  The letters are merged, or not.
  BPE-ENC-1 (MUST) {clauses["BPE-ENC-1"].text}
    Source: {clauses["BPE-ENC-1"].source}
    Profiles: documents, tokenizer.json, sentencepiece, tiktoken
  model     one-word:model {{"type": "bpe", "vocabulary": ["b", "u", "g", "ug"], "merges": [["u", "g"]]}}
  asked     encode {{"text": "bug"}}
  expected  bpe_merge_order=single_pass: {{"tokens": ["b", "ug"]}}
  one of    bpe_merge_order=lowest_rank: {{"tokens": ["b", "ug"]}}
  one of    bpe_merge_order=lowest_rank: {{"tokens": ["bug"]}}
  stated    /bpe_merge_order/single_pass/expect/tokens/1 equal "\\u202eug"
  source    {SOURCE}, A chapter ("Unigram tokenization", section 7 of chapter 6 of Hugging Face's course)
  verified  hand: two letters
  run       tokspec run --impl IMPLEMENTATION --fixtures fixtures --select one-word
"""  # fmt: skip
    refused = status_and_message("cases", *ONE, "no-word")[1].splitlines()
    assert '  refused   "unknown_symbol"' in refused


def test_a_clause_that_is_named_has_its_profiles_and_cases(status_and_message: Call) -> None:
    clause = load_specification().clauses["BPE-ENC-1"]
    assert (
        status_and_message("cases", *ONE, "BPE-ENC-1")[1]
        == f"""\
BPE-ENC-1 (MUST)  spec/04-bpe.md:{clause.line}
  {clause.text}
  Source: {clause.source}
  Profiles: documents, tokenizer.json, sentencepiece, tiktoken
  one-word
  no-word
"""
    )


def test_an_erratum_and_a_choice_can_be_looked_up(status_and_message: Call) -> None:
    specification = load_specification()
    erratum, choice = specification.errata["E-15"], specification.choices["unknown_id"]
    assert (
        status_and_message("cases", *ONE, "E-15", "unknown_id")[1]
        == f"""\
E-15
  where: {erratum.fields["where"]}
  stated: {erratum.fields["stated"]}
  right: {erratum.fields["right"]}
  why: {erratum.fields["why"]}
  cases: none
unknown_id: {choice.question}
  error (default): {choice.options["error"]}
  skipped: {choice.options["skipped"]}
  cases: none
"""
    )
    assert "  cases: unigram-toy-segmentations-hug, unigram-toy-segmentations-hugs" in (
        status_and_message("cases", "E-7")[1].splitlines()
    )


def test_a_run_ends_after_so_many_failures(folder: Path, status_and_message: Call) -> None:
    (folder / "letters.py").write_text(LETTERS, "utf-8")
    status, output, _ = status_and_message("run", *ONE, "--impl", "letters:Letters", "--max-failures", "1")
    assert (status, output.splitlines()[-1]) == (
        1,
        "letters 1 does not conform: 1 of 2 cases asked = 1 fail, 1 not run",
    )
    assert output.splitlines()[4:10] == [
        '  expected  tokens: "b" "ug"',
        '  actual    tokens: "b" "u"  "g"',
        "                        ^^^^",
        '  first     tokens[1]: expected "ug", actual "u"',
        "  again     tokspec run --impl letters:Letters --fixtures fixtures --select one-word",
        "",
    ]


@pytest.mark.parametrize("name", group.list_commands(None))
def test_every_command_explains_itself(name: str) -> None:
    text = CliRunner().invoke(group, [name, "--help"], prog_name="tokspec").output
    assert text.startswith(f"Usage: tokspec {name} ")
    undocumented = [
        option.name
        for option in group.get_command(None, name).params
        if option.param_type_name == "option"
        and not (option.hidden or getattr(option, "help", None))
        and not hasattr(option.type, "choices")
    ]
    assert undocumented == []


@pytest.mark.parametrize("name", ["diff", "fuzz", "probe", "record", "run", "smoke"])
def test_commands_that_take_an_implementation_say_how_it_is_named(name: str) -> None:
    text = CliRunner().invoke(group, [name, "--help"]).output
    assert NAMES in " ".join(text.split())


@pytest.mark.parametrize("names", [["dev", "coverage"], ["report"], ["run"], ["smoke"]])
def test_commands_that_judge_name_their_exit_status(names: list[str]) -> None:
    assert "Exit status" in CliRunner().invoke(group, [*names, "--help"]).output


def environment(**changed: str) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return {**kept, **changed}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "dots"),
    [
        ("utf-8", ["·".encode()]),
        ("latin-1", [b"\xb7"]),
        ("cp437:strict", [b"\xfa"]),
        ("ascii", ["·".encode(), b"\\xb7"]),  # click takes it for a mistake, and may not always do so
    ],
)
def test_any_encoding_of_the_output_will_do(run: Run, encoding: str, dots: list[bytes]) -> None:
    finished = run("run", *ONE, "--impl", "letters:Letters", env=environment(PYTHONIOENCODING=encoding))
    assert (finished.returncode, finished.stderr) == (1, b"")
    assert any(b"\n04-bpe             " + dot + b"     2  none\n" in finished.stdout for dot in dots)


def test_the_poorest_locale_will_do(run: Run) -> None:
    poorest = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    finished = run("cases", *ONE, "--source", env=poorest)
    assert (finished.returncode, finished.stderr) == (0, b"")


def test_a_reader_that_goes_is_no_failure(run: Run) -> None:
    pipe = f"{shlex.join(TOKSPEC)} cases | head -n 1; echo ${{PIPESTATUS[0]}}"
    finished = subprocess.run(["bash", "-c", pipe], capture_output=True, timeout=120)
    first, status = finished.stdout.decode().splitlines()
    assert (len(first.split()) >= 3, status, finished.stderr) == (True, "141", b"")


def test_a_name_of_any_length_is_one_short_line(run: Run) -> None:
    finished = run("run", "--impl", "x" * 100_000)
    assert (finished.returncode, finished.stdout) == (2, b"")
    assert re.fullmatch("tokspec: [x …]{1,4000}.*\n", finished.stderr.decode()), finished.stderr[-200:]


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    command = f"mkdir gone; cd gone; rmdir ../gone; {shlex.join([*TOKSPEC, 'init', '--lang', 'python', str(tmp_path)])}"
    finished = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.splitlines()[-1] == "tokspec: the current folder is gone; change to another"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_one_line(run: Run) -> None:
    with open("/dev/full", "wb") as full:
        finished = run("--help", stdout=full)
    message = b"tokspec: the output cannot be used: No space left on device\n"
    assert (finished.returncode, finished.stderr) == (2, message)


def test_closed_streams_are_no_trouble(run: Run) -> None:
    program = shlex.join([sys.executable, "-c", SILENT.replace("time.sleep(60)", "")])
    command = f"{shlex.join([*TOKSPEC, 'run', *ONE, '--cmd', program])} --case-seconds 5 <&- >&- 2>&-; echo $?"
    finished = subprocess.run(["bash", "-c", command], capture_output=True, timeout=120)
    assert (finished.stdout, finished.stderr) == (b"1\n", b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status", "message"),
    [
        (signal.SIGINT, 130, b"tokspec: interrupted\n"),
        (signal.SIGTERM, 143, b"tokspec: ended by SIGTERM\n"),
        (signal.SIGHUP, 129, b"tokspec: ended by SIGHUP\n"),
    ],
    ids=["interrupted", "terminated", "hung up"],
)
def test_a_run_that_is_ended_says_so_and_leaves_nothing_behind(
    folder: Path, number: signal.Signals, status: int, message: bytes
) -> None:
    program = shlex.join([sys.executable, "-c", SILENT])
    running = subprocess.Popen(
        [*TOKSPEC, "run", *ONE, "--cmd", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # which may be ignored here, as under nohup
    )
    try:
        deadline = time.monotonic() + 60
        while not (folder / "greeted").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        running.send_signal(number)
        output, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert (running.returncode, output, said) == (status, b"", message)
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "started").read_text("utf-8")), 0)


def test_an_interruption_of_the_imports_has_its_status_too(folder: Path) -> None:
    waits = "import pathlib, time\npathlib.Path('importing').touch()\ntime.sleep(600)\n"
    (folder / "click.py").write_text(waits, "utf-8")
    running = subprocess.Popen([*TOKSPEC, "run"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (folder / "importing").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    output, said = running.communicate(timeout=60)
    assert (running.returncode, output, said) == (130, b"", b"tokspec: interrupted\n")


OK = b"  hello: tokref 0.3.0 (Python)\r\n"


@pytest.mark.parametrize(
    ("changed", "start"),
    [
        ({}, b"\x1b[32mok   \x1b[0m" + OK),
        ({"NO_COLOR": "1"}, b"ok   " + OK),
        ({"TERM": "dumb"}, b"ok   " + OK),
    ],
    ids=["colours", "none wanted", "none understood"],
)
def test_colours_are_for_terminals_that_want_them(folder: Path, changed: Mapping[str, str], start: bytes) -> None:
    assert on_a_terminal(200, "smoke", **changed)[: len(start)] == start


def test_words_are_not_cut_where_the_terminal_is_narrow(folder: Path) -> None:
    case = FIXTURE.replace('{text: "x"}', f'{{text: "{"x " * 40}"}}')
    case = case.replace("error: unknown_symbol", f"expect: {{tokens: [{', '.join('x' * 20)}]}}")
    (folder / "fixtures" / "one.yaml").write_text(case, "utf-8")
    options = (*ONE, "--impl", "letters:Letters", "--select", "no-word")
    shown = on_a_terminal(60, "run", *options, NO_COLOR="1").decode().replace("\r\n", "\n")
    lines = [line.rstrip() for line in shown.partition("\n\n")[0].splitlines()]
    assert lines == [
        "FAIL no-word  (one.yaml:18)",
        "  BPE-ENC-1 (MUST) A piece of any length is split into its",
        "            characters.",
        "  ERROR-1 (MUST) A refusal has one reason of the list, and",
        "            does not affect any other request.",
        "  why       There is no such letter.",
        '  input     encode "x x x x x x x x x x x x x x x x x x x x',
        '            x x x x x x x x x x x x x x x x x x x x "',
        '  expected  tokens: "x" "x" "x" "x" "x" "x" "x" …',
        '  actual    tokens: "x" " " "x" " " "x" " " "x" …',
        "                        ^^^",
        '  first     tokens[1]: expected "x", actual " "',
        "  again     tokspec run --impl letters:Letters --fixtures fixtures --select no-word",
    ]


def on_a_terminal(width: int, *arguments: str, **changed: str) -> bytes:
    """Run the command on a terminal of this width, and return what it shows."""
    pty = pytest.importorskip("pty")
    termios = pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, width))
    variables = environment(**{"TERM": "xterm", **changed})
    with subprocess.Popen(
        [*TOKSPEC, *arguments], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=variables
    ):
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)
    return shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other side is closed
        return b""


def test_no_colours_in_a_file(run: Run) -> None:
    assert b"\x1b" not in run("smoke", env=environment()).stdout


def test_an_empty_folder_is_enough_and_stays_empty(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    empty = tmp_path_factory.mktemp("empty")
    finished = subprocess.run(
        [*TOKSPEC, "run", "--select", "BPE-ENC-1"], cwd=empty, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )  # fmt: skip
    assert (finished.returncode, finished.stderr, list(empty.iterdir())) == (0, b"", [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [ONE, ("--case-seconds", "9", "--select", "bpe-encode-*")], ids=["models", "limits"]
)
def test_the_reference_has_its_own_process_where_the_user_gives_models_or_limits(
    status_and_message: Call, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    def run(self: ReferenceAdapter, *request: object) -> None:
        raise AssertionError("asked in this process")

    monkeypatch.setattr(ReferenceAdapter, "run", run)
    status, printed, _ = status_and_message("run", *options)
    assert (status, "asked in this process" in printed) == (0, False)
    status, printed, _ = status_and_message("run", "--impl", "letters:Letters", *options)
    assert (status, "FAIL" in printed, "asked in this process" in printed) == (1, True, False)


@pytest.mark.parametrize("seconds", [process.WATCH_SECONDS, 600.0], ids=["usual", "answers-before-the-first-look"])
def test_the_limits_hold_for_the_reference(
    status_and_message: Call, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(process, "WATCH_SECONDS", seconds)
    assert status_and_message("run", *ONE, "--limit", "memory-mb=1") == (
        2,
        "",
        "tokspec: reference: cannot be asked: crash: used more than 1 MB of memory; try tokspec smoke --limit memory-mb=1\n",
    )


#: Answers rightly, and ``bye`` with the lines that it is given.
LAST_WORDS = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request["id"], "ok": {}}
    if request["op"] == "hello":
        reply["ok"] = {"protocol": 1, "name": "last", "version": "1", "language": "Python", "formats": ["tokspec"]}
        reply["ok"]["operations"] = ["encode"]
    elif request["op"] == "encode":
        reply["ok"] = {"tokens": ["b", "ug"]}
    elif request["op"] == "bye":
        print(sys.argv[1].replace("ID", str(request["id"])), end="")
        break
    print(json.dumps(reply), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("", ""),
        ('{"id": ID, "ok": {}}\n', ""),
        ("bye bye\n", "a line is not JSON (Expecting value at character 1): 'bye bye'"),
        ('{"id": 99, "ok": {}}\n', 'the id of a line was never sent: \'{"id": 99, "ok": {}}\''),
        ('{"id": ID, "crashed": "x"}\n', "the line is not an answer: "),
        ('{"id": ID, "ok": {}}\n{"id": 1, "ok": {}}\n', "the id is answered twice: "),
        ("x" * (5 << 20), "a line is longer than "),
    ],
    ids=["nothing", "an answer", "garbage", "another id", "a crash", "twice", "a flood"],
)
def test_what_comes_after_bye_is_looked_at(run: Run, folder: Path, said: str, fault: str) -> None:
    (folder / "last.py").write_text(LAST_WORDS.replace("sys.argv[1]", repr(said)), "utf-8")
    found = run("run", *ONE, "--select", "one-word", "--cmd", f"{shlex.quote(sys.executable)} last.py")
    lines = found.stdout.decode().splitlines()
    faults = [line for line in lines if line.startswith("protocol: after bye: ")]
    assert (found.returncode, len(faults)) == (bool(fault), bool(fault)), lines
    assert not fault or fault in faults[0], faults


def test_a_program_that_ends_wrongly_after_bye_does_not_conform(run: Run, folder: Path) -> None:
    lines = ("import sys", "from tokspec.sessions.adapter_server import main", "main()", "sys.exit(7)")
    (folder / "ends.py").write_text("\n".join(lines), "utf-8")
    command = f"{shlex.quote(sys.executable)} ends.py tokspec.adapters.reference:ReferenceAdapter"
    found = run("run", *ONE, "--cmd", command)
    assert (found.returncode, found.stderr) == (1, b"")
    lines = found.stdout.decode().splitlines()
    assert "crash: after bye: exit status 7 (PROTO-3)" in lines
    assert lines[-1] == "tokref 0.3.0 does not conform: 2 cases = 2 pass"
    found = run("smoke", "--cmd", command)
    assert (found.returncode, found.stdout.decode().splitlines()[-3:]) == (
        1,
        [
            "WRONG  bye: crash: after bye: exit status 7; end with status 0 when bye is answered",
            "",
            "not yet: fix bye first",
        ],
    )


#: Ends the process that it is in, at the point that the environment names.
ENDS = """
import atexit, os, signal
from tokspec.adapter import Hello

def end(point):
    if point == os.environ["POINT"]:
        os._exit(0)

end("import")
if os.environ["POINT"] == "exit":
    atexit.register(os._exit, 0)

class Ends:
    def hello(self):
        end("hello")
        return Hello("ends", "1", "Python", operations=("encode",))
    def load(self, format, content):
        if os.environ["POINT"] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
    def run(self, operation, model, input):
        end("run")
        if os.environ["POINT"] == "terminated":
            os.kill(os.getppid(), signal.SIGTERM)
            signal.pause()
        return {"tokens": ["bug"] if input["text"] == "bug" else []}
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("point", "verb", "status", "said"),
    [
        ("import", "run", 2, "the implementation ended the process with status 0, and nothing is judged; leave out --in-process"),
        ("hello", "run", 2, "the implementation ended the process with status 0, and nothing is judged; leave out --in-process"),
        ("run", "run", 2, "the implementation ended the process with status 0, and nothing is judged; leave out --in-process"),
        ("run", "smoke", 2, "the implementation ended the process with status 0, and nothing is judged; leave out --in-process"),
        ("killed", "run", 2, "the implementation ended the process by SIGKILL, and nothing is judged; leave out --in-process"),
        ("terminated", "run", 143, "ended by SIGTERM"),
        ("exit", "run", 1, ""),
    ],
)  # fmt: skip
def test_an_adapter_that_ends_the_process_of_the_suite_is_no_pass(
    folder: Path, point: str, verb: str, status: int, said: str
) -> None:
    (folder / "ends.py").write_text(ENDS, "utf-8")
    selected = ONE if verb == "run" else ()
    command = [*TOKSPEC, verb, *selected, "--impl", "ends:Ends", "--in-process"]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "POINT": point}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (status, f"tokspec: {said}\n" if said else "")


MOVES = """
import os
from tokspec.adapter import Hello

class Moves:
    def hello(self):
        return Hello("moves", "1", "Python", operations=("encode",))
    def load(self, format, content):
        os.makedirs("elsewhere", exist_ok=True)
        os.chdir("elsewhere")
    def run(self, operation, model, input):
        return {"tokens": []}
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "outputs",
    [
        ("--report", "r.ndjson"),
        ("--junit", "r.xml"),
        ("--known-failures", "known.yaml", "--update-known-failures"),
    ],
)
def test_outputs_are_written_where_the_run_began_though_an_adapter_moves(
    folder: Path, outputs: tuple[str, ...]
) -> None:
    (folder / "moves.py").write_text(MOVES, "utf-8")
    command = [*TOKSPEC, "run", *ONE, "--impl", "moves:Moves", "--in-process", *outputs]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.stderr == ""
    assert [each.parent for each in folder.rglob(outputs[1])] == [folder]


def test_a_report_that_cannot_be_shown_so_is_refused(status_and_message: Call, folder: Path) -> None:
    Path("new.ndjson").write_text('{"tokspec_report":7}\n')
    said = "tokspec: new.ndjson: is a report of form 7, and this suite reads 1; run again\n"
    assert status_and_message("report", "new.ndjson") == (2, "", said)
    said = "tokspec: --html: does not work with --compare; give one of the two\n"
    compared = ("report", "--compare", "new.ndjson", "new.ndjson", "--html", "x.html")
    assert status_and_message(*compared) == (2, "", said)


def test_two_reports_are_not_compared_where_nothing_was_asked(status_and_message: Call, folder: Path) -> None:
    hello = 'Hello("none", "1", "Python", operations=("decode",))'
    methods = "    load = run = None.__eq__\n    def hello(self):\n        return " + hello
    (folder / "none.py").write_text(f"from tokspec.adapter import Hello\n\nclass None_:\n{methods}\n", "utf-8")
    status, *_ = status_and_message("run", *ONE, "--impl", "none:None_", "--report", "none.ndjson")
    assert status == 1
    status, _, message = status_and_message("report", "--compare", "none.ndjson", "none.ndjson")
    assert (status, message) == (2, "tokspec: none.ndjson: no case was asked, and nothing is compared\n")


def test_commands_alone_show_their_help(status_and_message: Call) -> None:
    for words in ((), ("dev",)):
        status, shown, noted = status_and_message(*words)
        assert (status, noted) == (0, "")
        assert shown == status_and_message(*words, "--help")[1]
        assert shown.startswith(f"Usage: {' '.join(('tokspec', *words))} [OPTIONS] [COMMAND] [ARGS]...\n\n")
