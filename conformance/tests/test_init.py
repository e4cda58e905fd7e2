"""``tokspec init``: each adapter is really written, built, asked, extended by its example, and judged."""

from __future__ import annotations

import errno
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.registry import names_program
from tokspec.cli import run_command_line
from tokspec.suite.specification import load_specification
from tokspec.templates import TEMPLATES

pytestmark = pytest.mark.slow

#: The program that each language needs, and whether its build is slow or needs a registry.
TOOLS = {
    "python": (sys.executable, False),
    "javascript": ("node", False),
    "c": ("cc", False),
    "go": ("go", True),
    "rust": ("cargo", True),
    "java": ("mvn", True),
}


def _marks(name: str) -> list[pytest.MarkDecorator]:
    tool, slow = TOOLS[name]
    absent = pytest.mark.skipif(shutil.which(tool) is None, reason=f"there is no {tool} on the PATH")
    return [absent, pytest.mark.interop] if slow else [absent]


LANGUAGES = [pytest.param(name, marks=_marks(name)) for name in TOOLS]
PROGRAMS = [pytest.param(name, marks=_marks(name)) for name in TOOLS if names_program(TEMPLATES[name].target)]


def run(command: str, folder: Path, seconds: float = 120) -> tuple[int, str, str]:
    """Run a line as it is shown to users; ``tokspec`` is the one under test."""
    ours = f"{shlex.quote(sys.executable)} -m tokspec"
    line = re.sub(r"^tokspec\b", lambda _: ours, command)
    done = subprocess.run(
        line, shell=True, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds
    )
    return done.returncode, done.stdout, done.stderr


def commands(language: str) -> list[str]:
    return [command for command, _ in TEMPLATES[language].commands()]


def build(folder: Path, language: str) -> None:
    for command in commands(language)[:-2]:
        status, output, complaints = run(command, folder, 600)
        assert status == 0, output + complaints
        assert "warning" not in output + complaints


def enable(folder: Path, language: str, operation: str = "encode") -> None:
    """Do what the README asks for: remove the mark before an operation in the table of operations."""
    template = TEMPLATES[language]
    path = folder / template.files[0]
    marked = rf"^(\s*){template.marker} (?=\W*\b{operation}\W*:|[({{]\"{operation}\"|OPERATIONS)"
    text, changes = re.subn(marked, r"\1", path.read_text("utf-8"), flags=re.MULTILINE)
    assert changes == 1
    path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the folder of an adapter as it is written and built, and of one whose example is enabled; each made once."""

    @cache
    def made(language: str, enabled: bool) -> Path:
        folder = tmp_path_factory.mktemp("adapters") / "mine"
        if not enabled:
            assert run(f"tokspec init --lang {language} mine", folder.parent)[0] == 0
        else:
            shutil.copytree(made(language, False), folder)
            enable(folder, language)
        build(folder, language)
        return folder

    return made


STREAMING = [pytest.param(name, marks=_marks(name)) for name in ("python", "go", "rust")]


@pytest.mark.parametrize("language", STREAMING)
def test_a_detokenizer_is_judged_where_the_template_has_one(language: str, adapters: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(adapters(language, False), folder)
    enable(folder, language, "decode_stream")
    build(folder, language)
    target = shlex.quote(TEMPLATES[language].target)
    _, output, complaints = run(f"tokspec run --impl {target} --select 'ended-*' --show 0", folder)
    last = output.splitlines()[-1]
    expected = r"mine 0\.1 does not conform: \d+ of \d+ cases asked = \d+ fail, \d+ unsupported"
    assert re.fullmatch(expected, last), output + complaints


FILES = {
    "python": ["adapter.py"],
    "javascript": ["adapter.mjs"],
    "c": ["adapter.c", "protocol.h", "protocol.c", "json.c"],
    "go": ["adapter.go", "protocol.go", "go.mod"],
    "rust": ["src/main.rs", "src/protocol.rs", "Cargo.toml"],
    "java": ["src/main/java/Adapter.java", "src/main/java/Protocol.java", "pom.xml"],
}

NEXT = {
    "python": """\
tokspec smoke --impl adapter:Adapter  # does the adapter work?
tokspec run --impl adapter:Adapter    # judge the tokenizer behind it
""",
    "javascript": """\
tokspec smoke --impl "node adapter.mjs"  # does the adapter work?
tokspec run --impl "node adapter.mjs"    # judge the tokenizer behind it
""",
    "c": """\
cc -std=c99 -O2 -o adapter *.c  # build the adapter
tokspec smoke --impl ./adapter  # does the adapter work?
tokspec run --impl ./adapter    # judge the tokenizer behind it
""",
    "go": """\
go build -o adapter .           # build the adapter
tokspec smoke --impl ./adapter  # does the adapter work?
tokspec run --impl ./adapter    # judge the tokenizer behind it
""",
    "rust": """\
cargo build --release                        # build the adapter
tokspec smoke --impl target/release/adapter  # does the adapter work?
tokspec run --impl target/release/adapter    # judge the tokenizer behind it
""",
    "java": """\
mvn -q package                                       # build the adapter
tokspec smoke --impl "java -jar target/adapter.jar"  # does the adapter work?
tokspec run --impl "java -jar target/adapter.jar"    # judge the tokenizer behind it
""",
}


def under(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("language", TOOLS)
def test_it_writes_the_files_and_says_what_is_next(language: str, tmp_path: Path) -> None:
    expected = "".join(f"wrote new/mine/{name}\n" for name in [*FILES[language], "README.md"])
    last = "\nSee README.md there for the next steps.\n"
    assert run(f"tokspec init --lang {language} new/mine", tmp_path) == (
        0,
        f"{expected}\ncd new/mine\n{NEXT[language]}{last}",
        "",
    )
    assert under(tmp_path / "new" / "mine") == sorted([*FILES[language], "README.md"])


@pytest.mark.parametrize("language", TOOLS)
def test_the_readme_is_filled_in(language: str) -> None:
    readme = TEMPLATES[language].contents()["README.md"]
    shown = re.findall(r"^ {4}(\S.*)$", readme, re.MULTILINE)
    assert shown == commands(language) == [line.partition("  # ")[0].rstrip() for line in NEXT[language].splitlines()]
    assert f"`{FILES[language][0]}`, remove the `{TEMPLATES[language].marker}` before `encode`" in readme
    assert re.findall(r"{\w+}", readme) == []


def test_a_folder_is_named_unless_one_is_given(tmp_path: Path) -> None:
    assert run("tokspec init --lang python", tmp_path)[1].splitlines()[:4] == [
        "wrote tokspec-adapter/adapter.py",
        "wrote tokspec-adapter/README.md",
        "",
        "cd tokspec-adapter",
    ]


def test_where_one_stands_there_is_no_folder_to_enter(tmp_path: Path) -> None:
    assert run("tokspec init --lang python .", tmp_path)[1].splitlines()[:4] == [
        "wrote adapter.py",
        "wrote README.md",
        "",
        "tokspec smoke --impl adapter:Adapter  # does the adapter work?",
    ]


def test_the_name_of_a_folder_is_quoted_for_the_shell(tmp_path: Path) -> None:
    assert run("tokspec init --lang go 'my port'", tmp_path)[1].splitlines()[5] == "cd 'my port'"


def test_no_file_is_replaced_and_none_is_written_beside_it(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine", "utf-8")
    assert run("tokspec init --lang c .", tmp_path) == (
        2,
        "",
        "tokspec: README.md: already exists, so nothing was written; name another folder\n",
    )
    assert under(tmp_path) == ["README.md"]
    assert (tmp_path / "README.md").read_text("utf-8") == "mine"


def test_a_link_that_leads_nowhere_is_there_too(tmp_path: Path) -> None:
    (tmp_path / "adapter.py").symlink_to("elsewhere.py")
    assert run("tokspec init --lang python .", tmp_path)[::2] == (
        2,
        "tokspec: adapter.py: already exists, so nothing was written; name another folder\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["adapter.py"]


@pytest.mark.parametrize("folder", ["mine", "over/there/mine"])
def test_a_full_disk_is_said_with_the_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    opened = Path.open

    def full(path: Path, *arguments: Any, **others: Any) -> Any:
        stream = opened(path, *arguments, **others)
        if path.name == "README.md" and arguments[:1] == ("x",):
            stream.write = lambda text: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device"))
        return stream

    monkeypatch.setattr(Path, "open", full)
    said = f"tokspec: {folder}/README.md: cannot be written: No space left on device; no files were left behind\n"
    monkeypatch.chdir(tmp_path)
    assert (run_command_line(["init", "--lang", "java", folder]), *capsys.readouterr()) == (2, "", said)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("", "utf-8")
    status, output, complaint = run("tokspec init --lang python mine", tmp_path)
    assert (status, output, complaint) == (
        2,
        "",
        "tokspec: mine: cannot be written: File exists; no files were left behind\n",
    )


def test_an_unknown_language_is_said_in_one_line(tmp_path: Path) -> None:
    assert run("tokspec init --lang cobol", tmp_path) == (
        2,
        "",
        "tokspec: --lang: 'cobol' has no template; there are c, go, java, javascript, python, rust. In another language, "
        "write a program that answers four messages (spec/10-protocol.md); that of javascript is a short example\n",
    )
    assert under(tmp_path) == []


NAMES = {"python": "Python", "javascript": "JavaScript", "c": "C", "go": "Go", "rust": "Rust", "java": "Java"}

CHOICES = len(load_specification().choices)

NOTHING_OFFERED = f"""\
ok     hello: mine 0.1 (LANGUAGE)
ok     operations: none yet; offer encode next: {{"op": "encode"}} → {{"tokens": […]}}
ok     formats: tokspec
ok     choices: 0 declared; the defaults apply to the {CHOICES} others, and tokspec probe finds yours
ok     twice: nothing to ask yet

the adapter works; judge the tokenizer behind it: tokspec run OPTIONS
"""

ENCODE_OFFERED = f"""\
ok     hello: mine 0.1 (LANGUAGE)
ok     operations: encode
ok     formats: tokspec
ok     choices: 0 declared; the defaults apply to the {CHOICES} others, and tokspec probe finds yours
ok     encode: {{"text": "bug"}} → {{"tokens": ["b", "u", "g"]}}
ok     beyond ASCII: {{"text": "😀"}} → {{"tokens": ["😀"]}}
ok     unknown: {{"text": "x"}} → wordpiece: the token "x" is not in the vocabulary; better give the unknown token, unless the tokenizer does not
ok     twice: the same question gets the same answer
ok     contradiction: a model with a merge that makes a token which it does not have leads to an answer; better refuse it as invalid_model

the adapter works; judge the tokenizer behind it: tokspec run OPTIONS
"""


def said(text: str, language: str) -> str:
    options = f"--impl {shlex.quote(TEMPLATES[language].target)}"
    return text.replace("LANGUAGE", NAMES[language]).replace("OPTIONS", options)


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_works_as_it_is_written(language: str, adapters: Any) -> None:
    smoke = commands(language)[-2]
    assert run(smoke, adapters(language, False)) == (0, said(NOTHING_OFFERED, language), "")


NOTHING_JUDGED = """\
unsupported, and why:
    1  does not offer encode

chapter         pass  unsupported  held
04-bpe             ·            1  none
all                ·            1  none

profile         pass  unsupported  held
documents          ·            1  none
tokenizer.json     ·            1  none
sentencepiece      ·            1  none
tiktoken           ·            1  none

no case passed, and a run that shows nothing is not a pass
mine 0.1 does not conform: 0 of 1 case asked = none, 1 unsupported
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_operations_no_case_is_judged(language: str, adapters: Any) -> None:
    judge = f"{commands(language)[-1]} --select bpe-toy-encode-bug"
    assert run(judge, adapters(language, False))[:2] == (1, NOTHING_JUDGED)


#: A case that fails, one of bytes beyond the first plane that passes, and one that is not offered.
SELECTED = "--select bpe-toy-encode-bug --select bpe-encode-beyond-bmp --select decode-bytes-ascii --show 0"

VERDICTS = """\
… and 1 more cause; --show 1 shows them all
    1  encode: cuts where the case does not, at letters (latin): bpe-toy-encode-bug

a case that fails here but passes alone depends on another one: --verify finds such cases

unsupported, and why:
    1  does not offer decode

chapter         pass  fail  unsupported  held
04-bpe             1     1            ·  partial
  BPE-ENC-1        1     1            ·  partial
  BPE-ENC-3        ·     1            ·  none
07-decoding        ·     ·            1  none
all                1     1            1  partial

profile         pass  fail  unsupported  held
documents          1     1            1  partial
tokenizer.json     1     1            1  partial
sentencepiece      1     1            ·  partial
tiktoken           1     1            1  partial

effect          asked  right  failing
model input         2      1        1

mine 0.1 does not conform: 2 of 3 cases asked = 1 pass + 1 fail, 1 unsupported
"""


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_that_is_shown_can_be_enabled(language: str, adapters: Any) -> None:
    folder = adapters(language, True)
    assert run(commands(language)[-2], folder) == (0, said(ENCODE_OFFERED, language), "")
    status, output, _ = run(f"{commands(language)[-1]} {SELECTED}", folder)
    assert (status, output) == (1, VERDICTS)


def test_a_folder_without_a_name_is_refused_and_one_that_looks_like_an_option_entered(tmp_path: Path) -> None:
    said = "tokspec: FOLDER: needs a name; use . for this folder\n"
    assert run("tokspec init --lang go ''", tmp_path) == (2, "", said)
    assert list(tmp_path.iterdir()) == []
    assert "\ncd -- -rf\n" in run("tokspec init --lang c -- -rf", tmp_path)[1]


class Program:
    """An adapter that runs; every reply is waited for before the next line is sent, so that it has to be flushed."""

    def __init__(self, folder: Path, language: str) -> None:
        command = shlex.split(TEMPLATES[language].target)
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def answer(self, line: str) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def refusal(self, line: str) -> tuple[Any, str]:
        """Return the id and the reason of a refusal, which has a message and nothing else."""
        reply = self.answer(line)
        assert reply.keys() == {"id", "refused"}
        assert reply["refused"].keys() == {"reason", "message"}
        assert reply["refused"]["message"]
        return reply["id"], reply["refused"]["reason"]

    def encode(self, text: str) -> Any:
        """Return the tokens of a text that is written as JSON already."""
        reply = self.answer(f'{{"id": 7, "op": "encode", "model": "m", "input": {{"text": {text}}}}}')
        assert reply.pop("id") == 7
        return reply["ok"].pop("tokens") if reply.keys() == {"ok"} else reply


@pytest.fixture
def program(request: pytest.FixtureRequest, adapters: Any) -> Iterator[Program]:
    program = Program(adapters(request.param, True), request.param)
    load = '{"id": 1, "op": "load", "model": "m", "format": "tokspec", "content": {}}'
    with program.process as process:
        assert program.answer(load) == {"id": 1, "ok": {}}
        yield program
        assert process.communicate(timeout=10) == (b"", None)
        assert process.returncode == 0


each_program = pytest.mark.parametrize("program", PROGRAMS, indirect=True)


@each_program
def test_lines_that_are_no_request_are_refused(program: Program) -> None:
    for line in ("", "loading...", '{"id": 3', '{"id": 3} 4', "null", "3", "[1]", '"hello"', "{'id': 3}", "[" * 99_999):
        assert program.refusal(line) == (None, "unsupported"), line[:20]
    assert program.encode('"a"') == ["a"]


@each_program
def test_requests_that_are_not_understood_are_refused(program: Program) -> None:
    for request in (
        '"op": "sing"',
        '"op": "encod"',
        '"op": "encode", "model": "other", "input": {"text": "a"}',
        '"op": 7',
    ):
        assert program.refusal(f'{{{request}, "id": 5}}') == (5, "unsupported"), request
    assert program.refusal('{"id": 6}') == (6, "unsupported")
    assert program.refusal('{"id": 6, "op": "toString", "model": "m", "input": {}}') == (6, "unsupported")
    assert program.encode('"a"') == ["a"]


@each_program
def test_keys_that_are_not_known_are_passed_over(program: Program) -> None:
    line = '{"more": {"id": 9, "op": "bye", "s": "}\\"]"}, "id": 2, "model": "m", "op": "encode", "input": {"x": [[], {}, -1.5e3, true, null], "text": "ab"}, "op2": "bye"}'
    assert program.answer(line) == {"id": 2, "ok": {"tokens": ["a", "b"]}}


@each_program
def test_texts_arrive_and_return_as_they_are(program: Program) -> None:
    assert program.encode('""') == []
    assert program.encode('"a\u2028b\u2029\u0085"') == ["a", "\u2028", "b", "\u2029", "\u0085"]
    assert program.encode(r'"\u2028\u0000\n\"\\\/\b"') == ["\u2028", "\0", "\n", '"', "\\", "/", "\b"]
    assert program.encode(r'"😀\ud83d\ude00e\u0301ü"') == ["😀", "😀", "e", "\u0301", "ü"]
    assert program.encode('"<&>\x7f"') == ["<", "&", ">", "\x7f"]


@each_program
def test_a_text_that_json_cannot_carry_is_refused(program: Program) -> None:
    line = '{"id": 4, "op": "encode", "model": "m", "input": {"text": {"hex": "eda080"}}}'
    assert program.refusal(line) == (4, "unsupported")


@each_program
def test_long_lines_are_read_and_written(program: Program) -> None:
    assert program.encode(json.dumps("ab" * 500_000)) == ["a", "b"] * 500_000


@each_program
def test_models_are_kept_apart_and_may_be_replaced(program: Program) -> None:
    for name in ("n", "m"):
        load = f'{{"id": 3, "op": "load", "model": "{name}", "format": "tokspec", "content": {{"a": [1]}}}}'
        assert program.answer(load) == {"id": 3, "ok": {}}
    assert program.encode('"a"') == ["a"]


@each_program
def test_it_ends_after_bye(program: Program) -> None:
    assert program.answer('{"id": 8, "op": "bye"}') == {"id": 8, "ok": {}}
    assert program.process.wait(10) == 0
