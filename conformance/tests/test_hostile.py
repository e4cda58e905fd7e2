"""Hostile situations that once went wrong: planted links, secrets, strange reports and recordings, misleading messages."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tokspec.base.errors import DataError
from tokspec.base.files import write_whole
from tokspec.formats.files import import_package
from tokspec.sessions.limits import without_secrets

Run = Callable[..., tuple[int, str, str]]

CASE = "bpe-toy-encode-bug"

#: An adapter that says which variables it got.
SPY = """
import os
from tokspec import Hello

class Spy:
    def hello(self):
        return Hello("spy", "1", "Python", operations=("encode",))
    def load(self, format, content):
        return None
    def run(self, operation, model, input):
        names = ("JAVA_HOME", "GITHUB_TOKEN", "ACTIONS_RUNTIME_URL", "NPM_SECRET", "DB_PASSWORD")
        return {"tokens": [name for name in names if name in os.environ]}
"""

#: An adapter that takes the streams away, when it is made and whenever it is asked.
STREAMLESS = """
import sys
from tokspec import Hello

class Streamless:
    def __init__(self):
        sys.stdin = sys.stdout = sys.stderr = None
    def hello(self):
        self.__init__()
        return Hello("streamless", "1", "Python", operations=("encode",))
    def load(self, format, content):
        self.__init__()
    def run(self, operation, model, input):
        self.__init__()
        return {"tokens": ["b", "ug"]}
"""

MODEL = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
TOKENIZER = {"version": "1.0", "added_tokens": [], "model": MODEL}
TOKENIZER |= dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_planted_link_in_a_folder_is_not_followed(run: Run, folder: Path) -> None:
    (folder / "outside.json").write_text("mine", "utf-8")
    (folder / "model").mkdir()
    (folder / "model" / "vocab.json").symlink_to(folder / "outside.json")
    status, out, said = run("model", CASE, "--format", "vocab.json+merges.txt", "-o", "model")
    assert (status, out, said) == (2, "", "tokspec: model/vocab.json: is a link; remove it, or give another folder\n")
    assert (folder / "outside.json").read_text("utf-8") == "mine"


def test_a_link_that_the_user_names_is_followed(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "target")
    write_whole(folder / "link", "new")
    assert (folder / "target").read_text("utf-8") == "new"


def test_programs_get_no_secrets(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "spy.py").write_text(SPY, "utf-8")
    names = ("JAVA_HOME", "GITHUB_TOKEN", "ACTIONS_RUNTIME_URL", "NPM_SECRET", "DB_PASSWORD")
    for name in names:
        monkeypatch.setenv(name, "x")
    assert without_secrets(dict.fromkeys(names, "x")) == {"JAVA_HOME": "x"}
    run("run", "--impl", "spy:Spy", "--select", CASE, "--report", "report.ndjson")
    result = json.loads(Path("report.ndjson").read_text("utf-8").splitlines()[1])
    assert result["reply"] == {"ok": {"tokens": ["JAVA_HOME"]}}


def test_a_report_with_half_a_surrogate_pair_becomes_a_page(run: Run, folder: Path) -> None:
    pytest.importorskip("jinja2")
    (folder / "spy.py").write_text(SPY, "utf-8")
    run("run", "--impl", "spy:Spy", "--select", "bpe-toy-encode-*", "--report", "report.ndjson")
    report = Path("report.ndjson").read_text("utf-8").replace('"bpe-toy-encode-unhug"', '"\\ud800"')
    Path("report.ndjson").write_text(report, "utf-8")
    assert run("report", "report.ndjson", "--html", "page.html") == (1, "", "")
    assert "\\ud800" in Path("page.html").read_text("utf-8")


def test_a_recording_with_a_place_that_is_no_integer_is_refused(run: Run, folder: Path) -> None:
    Path("tokenizer.json").write_text(json.dumps(TOKENIZER), "utf-8")
    run("record", "tokfast", "--model", "tokenizer.json", "-o", "a.ndjson")
    *lines, footer = Path("a.ndjson").read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if b'"spans":[[0,1]' in line)
    lines[number] = lines[number].replace(b'"spans":[[0,1]', b'"spans":[[0,1e308]')
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    end = json.dumps({**json.loads(footer), "sha256": digest}, separators=(",", ":")).encode()
    Path("a.ndjson").write_bytes(b"".join([*lines, end, b"\n"]))
    status, _, said = run("diff", "a.ndjson", "tokfast")
    assert status == 2
    assert said.startswith(f"tokspec: a.ndjson:{number + 1}: 1e+308 is not an integer; was it edited? "), said


def test_reports_have_no_absolute_paths_of_the_user(run: Run, folder: Path) -> None:
    run("run", "--select", CASE, "--report", folder / "report.ndjson")
    text = Path("report.ndjson").read_text("utf-8")
    assert str(folder) not in text
    assert f"tokspec run --select {CASE} --report ./report.ndjson" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("run", "--impl", "tokenizers@/etc/passwd"),
            "/etc/passwd: is not an environment: it has neither bin/python nor Scripts/python.exe",
        ),
        (
            ("run", "--known-failures", ""),
            "Invalid value for '--known-failures': it is empty; name a file, or leave the option out; "
            "see tokspec run --help",
        ),
        (("model", "--read", "folder"), "folder/tokenizer.json: model: is missing; a tokenizer.json has a model"),
    ],
)
def test_messages_name_what_is_wrong(run: Run, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    (folder / "folder").mkdir()
    (folder / "folder" / "tokenizer.json").write_text("{}", "utf-8")
    assert run(*arguments) == (2, "", f"tokspec: {message}\n")


def test_history_of_no_library_says_which_there_are(run: Run) -> None:
    status, out, said = run("history", "nosuchpackage")
    assert (status, out) == (2, "")
    assert said.startswith("tokspec: nosuchpackage: is not a library whose releases can be listed; there are ")
    assert "tokenizers" in said


def test_a_missing_package_has_the_name_by_which_pip_knows_it() -> None:
    with pytest.raises(DataError) as caught:
        import_package("google.no_such_part", "sentencepiece.model")
    how = "install it with pip install protobuf"
    assert caught.value.message == f"the format sentencepiece.model needs the package protobuf; {how}"


def test_a_password_in_an_address_is_not_printed(run: Run, folder: Path) -> None:
    pytest.importorskip("fsspec")
    Path("tokenizer.json").write_text(json.dumps(TOKENIZER), "utf-8")
    address = "ftp://user:S3CRET@127.0.0.1:1/x.txt"
    status, out, said = run("diff", "tokfast", "reference", address, "--model", "tokenizer.json")
    assert (status, out) == (2, "")
    assert said.startswith("tokspec: ftp://…@127.0.0.1:1/x.txt: ")


def test_an_address_of_a_site_is_one_of_the_web(run: Run, folder: Path) -> None:
    status, out, said = run("matrix", "--html", "site", "--address", "javascript:alert(1)")
    line = "--address is the address of the site; it begins with https:// or http://; see tokspec matrix --help"
    assert (status, out, said) == (2, "", f"tokspec: {line}\n")


def test_a_signal_between_the_lines_of_the_entry_point_keeps_its_name() -> None:
    program = "from tokspec.__main__ import _end_at_once; import signal; _end_at_once(signal.SIGTERM, None)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (143, "tokspec: ended by SIGTERM\n")


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"special_tokens": {"<s>": "5"}}, 'special_tokens.<s>: is "5", which is not an integer from 0 to 4294967295'),
        ({"special_tokens": {"<s>": 0}}, 'special_tokens.<s>: is 0, the id of "a" too'),
        (
            {"special_tokens": {"a": 5}},
            "special_tokens: is invalid_model: added token 'a' has the id 5, and 0 in the vocabulary",
        ),
        ({"pattern": "(("}, "pattern: is invalid_model: the pattern '((' has a group without its end"),
        ({"pattern": 5}, "pattern: is not a string"),
        (
            {"normalizer": {"type": "replace", "pattern": {"regex": "(("}, "content": ""}},
            "normalizer: is invalid_model: the pattern '((' has a group without its end",
        ),
    ],
)
def test_what_is_wrong_in_a_file_next_to_ranks_is_reported_with_that_file_and_its_key(
    run: Run, folder: Path, told: dict[str, object], message: str
) -> None:
    Path("x.tiktoken").write_text("YQ== 0\n", "utf-8")
    Path("x.beside.json").write_text(json.dumps({"pattern": "a", **told}), "utf-8")
    assert run("model", "--read", "x.tiktoken") == (2, "", f"tokspec: x.beside.json: {message}\n")


def test_a_comparison_names_the_file_next_to_ranks(run: Run, folder: Path) -> None:
    Path("x.tiktoken").write_text("YQ== 0\n", "utf-8")
    Path("x.beside.json").write_text('{"pattern": "a", "special_tokens": {"<s>": "5"}}', "utf-8")
    message = 'special_tokens.<s>: is "5", which is not an integer from 0 to 4294967295'
    expected = (2, "", f"tokspec: x.beside.json: {message}\n")
    assert run("diff", "reference", "tokfast", "--model", "x.tiktoken") == expected


def test_an_adapter_in_the_process_does_not_take_the_streams_away(folder: Path) -> None:
    (folder / "streamless.py").write_text(STREAMLESS, "utf-8")
    command = [sys.executable, "-m", "tokspec", "run", "--impl", "streamless:Streamless", "--select", CASE]
    done = subprocess.run([*command, "--in-process", "--report", "a.ndjson"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "streamless 1 conforms: 1 case = 1 pass"
    assert json.loads(Path("a.ndjson").read_text("utf-8").splitlines()[1])["verdict"] == "pass"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.tiktoken", "Yg== " + "9" * 5000, f"'Yg== {'9' * 74} … {'9' * 79}' is not a rank; it needs base64, a space and a number"),
        ("vocab.txt", "a" * 5000 + " b", f"'{'a' * 79} … {'a' * 77} b' is empty or has white space; a line is a token"),
    ],
)  # fmt: skip
def test_a_long_line_of_a_model_is_cut(run: Run, folder: Path, name: str, text: str, message: str) -> None:
    Path(name).write_text(f"{text}\n", "utf-8")
    Path("x.beside.json").write_text('{"pattern": "a"}', "utf-8")
    assert run("model", "--read", name) == (2, "", f"tokspec: {name}:1: {message}\n")


def test_a_wrong_pattern_has_no_place_that_the_user_did_not_write(run: Run) -> None:
    line = "--pattern: the pattern '[z-a]' is wrong: bad character range"
    assert run("fuzz", "--impl", "reference", "--pattern", "[z-a]") == (2, "", f"tokspec: {line}\n")


def test_a_recording_is_not_taken_for_a_report(run: Run, folder: Path) -> None:
    recording = b'{"tokspec_recording": 1}\n'
    Path("a.ndjson").write_bytes(recording)
    Path("a.ndjson.gz").write_bytes(gzip.compress(recording))
    message = "is a recording and not a report; compare recordings by tokspec diff"
    assert run("report", "a.ndjson") == (2, "", f"tokspec: a.ndjson: {message}\n")
    message = "is compressed, and a report is not; decompress it, or compare recordings by tokspec diff"
    expected = (2, "", f"tokspec: a.ndjson.gz: {message}\n")
    assert run("report", "--compare", "a.ndjson.gz", "a.ndjson") == expected
