"""Green means that enough was asked, and answered: each way that once led to exit status 0 with nothing judged."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tokspec.adapters import registry, versions
from tokspec.adapters.registry import FoundAdapter, open_session
from tokspec.adapters.versions import python_of
from tokspec.base.errors import DataError
from tokspec.formats.user_model import UserModel
from tokspec.suite.cases import Case
from tokspec.suite.packs import cases_of
from tokspec.suite.recordings import read_recording

Run = Callable[..., tuple[int, str, str]]

NEARLY_RIGHT = Path(__file__).parent / "programs" / "nearly_right.py"

CASE = "bpe-toy-encode-bug"

#: Adapters that answer as the reference does, but for what their names say.
ADAPTERS = """
import os
from dataclasses import replace

from tokspec import Refusal, Unsupported
from tokspec.adapters.reference import ReferenceAdapter


class CrashesAlways(ReferenceAdapter):
    def run(self, operation, model, input):
        os._exit(7)


class RefusesAlways(ReferenceAdapter):
    def run(self, operation, model, input):
        raise Unsupported("not today")


class RefusesToo(RefusesAlways):
    pass


class Unknown(ReferenceAdapter):
    def run(self, operation, model, input):
        raise Refusal("unknown_symbol", "not today")


class UnknownToo(Unknown):
    pass


class LeavesOutSpans(ReferenceAdapter):
    def run(self, operation, model, input):
        return without_spans(super().run(operation, model, input))


def without_spans(result):
    if not isinstance(result, dict):
        return result
    kept = {key: value for key, value in result.items() if key != "spans"}
    parts = {key: [without_spans(part) for part in kept[key]] for key in ("encodings", "overflowing") if key in kept}
    return {**kept, **parts}


class Misspelt(ReferenceAdapter):
    def hello(self):
        hello = super().hello()
        return replace(hello, operations=(*hello.operations, "encode_bacth", "fly"))
"""

MODEL = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": None,
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []},
}

#: A program that answers every request as the reference does, and then ends with status 0.
ENDS = """
import sys
from tokspec.sessions import adapter_server as server

answered = 0
line = server._line
def ending(id, message):
    global answered
    answered += 1
    return line(id, message)
server._line = ending
wait = server.take_streams
def streams():
    questions, answers = wait()
    def until_answered():
        for question in questions:
            yield question
            if answered > 2:
                return
    return until_answered(), answers
server.take_streams = streams
sys.argv = [sys.argv[0], "tokspec.adapters.reference:ReferenceAdapter"]
server.main()
"""


#: A comparison of files alone.
FILES = ("texts.txt", "--only-files", "--model", "tokenizer.json")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(ADAPTERS, "utf-8")
    (tmp_path / "ends.py").write_text(ENDS, "utf-8")
    (tmp_path / "tokenizer.json").write_text(json.dumps(MODEL), "utf-8")
    (tmp_path / "texts.txt").write_text("a\nab\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_two_programs_that_crash_on_every_text_do_not_agree(run: Run, folder: Path) -> None:
    sides = [f"{sys.executable} {NEARLY_RIGHT} crash-always {side}" for side in "ab"]
    status, out, _ = run("diff", *sides, *FILES)
    assert (status, out.splitlines()[-2:]) == (
        2,
        ["not compared: 2 times: encode: A crashes, and so does B", "A and B: nothing was compared"],
    )


def test_what_cannot_be_asked_about_the_suites_texts_does_not_hide_what_came_of_files(run: Run, folder: Path) -> None:
    sides = [f"{sys.executable} {NEARLY_RIGHT} crash-always {side}" for side in "ab"]
    status, out, err = run("diff", *sides, "texts.txt", "--model", "tokenizer.json")
    assert (status, out.splitlines()[-1]) == (2, "A and B: nothing was compared")
    assert "not done: the suite's texts: tokref" in err


@pytest.mark.slow
def test_two_sides_that_refuse_every_operation_do_not_agree(run: Run, folder: Path) -> None:
    status, out, _ = run("diff", "mine:RefusesAlways", "mine:RefusesToo")
    assert status == 2
    last = out.splitlines()[-1]
    assert last.startswith("A and B refuse ")
    assert last.endswith(" inputs alike, and answer nothing: nothing was compared")


@pytest.mark.slow
def test_a_pattern_of_diff_that_matches_nothing_is_an_error(run: Run, folder: Path) -> None:
    patterns = ("--select", "encode", "--select", "decode_straem")
    said = "tokspec: --select: decode_straem matches nothing that was asked"
    model = ("--model", "tokenizer.json")
    for words in ((), (*model, "--made", "0"), ("texts.txt", *model)):
        status, out, noted = run("diff", "reference", "tokfast", *words, *patterns)
        assert (status, out, noted.splitlines()[-1]) == (2, "", said)  # a busy machine notes how far it is, too


def test_a_program_that_ends_after_an_answer_is_no_agreement_over_files(run: Run, folder: Path) -> None:
    program = f"{sys.executable} ends.py"
    (folder / "texts.txt").write_text("a\nab\nba\nb\n", "utf-8")
    junit = folder / "junit.xml"
    status, out, _ = run("diff", "tokfast", program, *FILES, "--junit", junit)
    assert (status, out.splitlines()[-1]) == (1, "A and B agree on 4 inputs, 6 bytes; 0 (0 %) of 6 tokens differ")
    assert "exit status 0" in junit.read_text("utf-8")


def test_a_comparison_of_files_is_asked_again_when_the_adapter_has_changed(run: Run, folder: Path) -> None:
    right = "from tokspec.adapters.reference import ReferenceAdapter\n\nclass Mine(ReferenceAdapter):\n    pass\n"
    wrong = (
        right + "    def run(self, operation, model, input):\n        return {'tokens': [], 'ids': [], 'spans': []}\n"
    )
    command = ("diff", "tokfast", "yours:Mine", *FILES)
    (folder / "yours.py").write_text(right, "utf-8")
    assert run(*command)[0] == 0
    status, out, _ = run(*command)
    kept = "reused from tokspec-diff: 1 of 1 unit compared earlier; remove the folder to compare again"
    assert (status, out.splitlines()[-2]) == (0, kept)
    (folder / "yours.py").write_text(wrong, "utf-8")
    assert run(*command)[0] == 1


def test_a_blank_among_files_is_refused(run: Run, folder: Path) -> None:
    status, out, said = run("diff", "tokfast", "reference", "", "--model", "tokenizer.json")
    line = "tokspec: one of FILES is blank; name it, or leave it out; see tokspec diff --help\n"
    assert (status, out, said) == (2, "", line)


def test_two_sides_that_refuse_all_that_is_drawn_show_nothing(run: Run, folder: Path) -> None:
    sides = ("--impl", "mine:Unknown", "--against", "mine:UnknownToo")
    status, out, _ = run("fuzz", "--no-database", *sides, "--examples", "20", "--seed", "3")
    assert (status, out.splitlines()[-1]) == (1, "no example was answered; a run that shows nothing is not a pass")


def test_spans_that_are_declared_and_left_out_do_not_satisfy_a_rule_about_spans(run: Run, folder: Path) -> None:
    selected = ("--select", "TERM-3", "--require", "TERM-3", "--fixtures-version", "0.2.0")
    status, out, _ = run("run", "--impl", "mine:LeavesOutSpans", *selected)
    listed = "units-of-added-tokens, encode-span-space-inside, encode-span-dropped-spaces and 1 more"
    assert (status, out.splitlines()[-2:]) == (
        1,
        [
            f"--require TERM-3: 12 of 16 cases pass (4 unsupported): {listed}",
            "tokref 0.3.0 does not conform: 12 of 16 cases asked = 12 pass, 4 unsupported",
        ],
    )


def test_a_newer_report_that_is_not_green_is_a_regression(run: Run, folder: Path) -> None:
    right, wrong = (f"{sys.executable} {NEARLY_RIGHT} {how}" for how in ("right", "exit-with-3"))
    for file, command in (("old.ndjson", right), ("new.ndjson", wrong)):
        run("run", "--impl", command, "--select", CASE, "--report", file)
    status, out, _ = run("report", "--compare", "old.ndjson", "new.ndjson")
    assert (status, out.splitlines()[2]) == (1, "new            the run: crash: after bye: exit status 3 (PROTO-3)")
    assert run("report", "--compare", "old.ndjson", "old.ndjson")[0] == 0


@pytest.mark.parametrize("name", ["bad.yml", "bad.YAML"])
def test_a_fixture_file_of_another_ending_is_not_left_out(run: Run, folder: Path, name: str) -> None:
    (folder / "fixtures").mkdir()
    (folder / "fixtures" / name).write_text("about: x\n", "utf-8")
    said = f"tokspec: fixtures/{name}: is not read: names of fixture files end in .yaml; rename it\n"
    assert run("run", "--fixtures", "fixtures") == (2, "", said)


def test_results_of_an_earlier_run_do_not_survive_one_that_ends_with_2(run: Run, folder: Path) -> None:
    results = ("--report", "report.ndjson", "--junit", "junit.xml")
    assert run("run", "--select", CASE, *results)[0] == 0
    for bad in (("--impl", "no-such-package"), ("--no-such-option",), ("--known-failures", "missing.yaml")):
        run("run", "--select", CASE, *results)
        assert run("run", *bad, *results)[0] == 2
        assert not Path("report.ndjson").exists()
        assert not Path("junit.xml").exists()


def test_a_file_that_is_no_result_is_not_removed(run: Run, folder: Path) -> None:
    Path("notes.txt").write_text("mine", "utf-8")
    assert run("run", "--impl", "no-such-package", "--report", "notes.txt")[0] == 2
    assert Path("notes.txt").read_text("utf-8") == "mine"


def test_a_probe_of_which_everything_is_refused_finds_nothing(run: Run, folder: Path) -> None:
    status, out, _ = run("probe", "--impl", "mine:RefusesAlways")
    last = out.splitlines()[-1]
    assert status == 1
    assert last.startswith("no answer to any of the questions (")
    assert last.endswith("): every request that it supports was refused")


def test_an_operation_that_does_not_exist_keeps_a_run_from_conforming(run: Run, folder: Path) -> None:
    status, out, _ = run("run", "--impl", "mine:Misspelt", "--select", CASE)
    assert (status, out.splitlines()[-3:]) == (
        1,
        [
            "hello offers 'encode_bacth', which is not an operation; did you mean encode_batch?",
            "hello offers 'fly', which is not an operation; spec/10-protocol.md lists them",
            "tokref 0.3.0 does not conform: 1 case = 1 pass",
        ],
    )


HEADER = {"tokspec_pack": 1, "name": "toy", "files": {"tokenizer.json": "0" * 64}, "suite": "0.2.0"}
HEADER |= {"agreed": [{"name": name, "version": "1", "lines": 1} for name in ("one", "another")]}


def cases_of_lines(folder: Path, *lines: dict[str, object]) -> Mapping[str, Case]:
    file = folder / "toy.pack.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (HEADER, *lines)), "utf-8")
    return cases_of(read_recording(file), UserModel("tokenizer.json", {}, "tokenizer.json", "")).cases


def test_a_line_of_a_pack_counts_once(tmp_path: Path) -> None:
    line = {"text": "a", "ids": [1]}
    cases = cases_of_lines(tmp_path, line, line, {"text": "b", "ids": [2]}, {**line, "decoded": None})
    assert [*cases] == ["toy-0002-encode", "toy-0002-decode", "toy-0004-encode", "toy-0004-decode"]


def test_lines_of_a_pack_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    said = "asks the same as line 2, but expects another answer; keep one of the two"
    with pytest.raises(DataError) as caught:
        cases_of_lines(tmp_path, {"text": "a", "ids": [1]}, {"text": "a", "ids": [2]})
    assert (caught.value.message, caught.value.line) == (said, 3)


@pytest.mark.parametrize("is_dangling", [True, False], ids=["dangling link", "missing"])
def test_an_environment_without_its_python_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_dangling: bool
) -> None:
    monkeypatch.setenv("TOKSPEC_CACHE", str(tmp_path / "cache"))
    made = []

    def make(folder: Path, spec: str, steps: object) -> None:
        made.append(spec)
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").touch()

    monkeypatch.setattr(versions, "_make", make)
    python = python_of("tiny==1.0", ["tiny==1.0"])
    os.unlink(python)
    if is_dangling:
        os.symlink(tmp_path / "gone", python)
    assert python_of("tiny==1.0", ["tiny==1.0"]) == python
    assert (made, Path(python).is_file()) == (["tiny==1.0", "tiny==1.0"], True)


def test_a_release_that_answers_as_another_is_refused(folder: Path) -> None:
    found = FoundAdapter("mine==0.0.1", "mine:CrashesAlways", "", (str(folder), *registry.find_reference().path))
    with pytest.raises(DataError) as caught:
        open_session(found, None)
    said = "mine==0.0.1: answers as version '0.3.0'; remove kept environments: tokspec dev versions --clear"
    assert str(caught.value) == said
