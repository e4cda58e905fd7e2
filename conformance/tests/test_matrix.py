"""The matrix: what is here is judged, what is not is named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tokspec.adapters.registry import known_names
from tokspec.base.errors import DataError
from tokspec.results.rows import announced, read_list

ROOT = Path(__file__).parents[2]

LIST = """
adapters:
  - impl: reference
  - command: "{here}/bin/mine --quick"
    built: "bin/mine"
    build: "make"
  - command: "no-such-interpreter {here}/mine.x"
  - impl: no-such-package
  - command: "sh -c 'exit 3'"
    known_failures: known.yaml
"""

STALE = """
known_failures:
  - {case: "no-such-case", verdict: "fail", digest: "0123456789abcdef", reason: "none"}
"""

CASES = """
about: "Two words of the toy model."
source: [{rule: "made up"}]
model: {type: bpe, vocabulary: ["b", "g", "u", "ug"], merges: [["u", "g"]]}
cases:
  - id: a-word
    clauses: [BPE-ENC-3]
    why: "It has a merge."
    operation: encode
    input: {text: "bug"}
    expect: {tokens: ["b", "ug"]}
    verified_by: ["hand: one merge"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("list.yaml", LIST), ("known.yaml", STALE), ("fixtures/a.yaml", CASES)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")
    return tmp_path


def matrix(folder: Path, *arguments: str) -> tuple[int, list[str], str]:
    command = [sys.executable, "-m", "tokspec", "matrix", "--list", "list.yaml", "--fixtures", "fixtures", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_what_is_here_is_judged_and_what_is_not_is_named(folder: Path) -> None:
    status, lines, errors = matrix(folder, "--reports", "reports")
    assert (status, errors) == (1, "")
    assert lines[:3] == [
        "implementation  language  00  01  02  03   04  05  06  07  09  11  12  13  14  15  16  17  pass  known  fail  unsupported",
        "tokref 0.3.0    Python     ·   ·   ·   ·  1/1   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·     1      0     0            0",
        "sh -c 'exit 3'             ·   ·   ·   ·  0/1   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·     0      0     1            0",
    ]
    assert lines[6:8] == ["tokref 0.3.0 takes every default", "sh -c 'exit 3' takes every default"]
    assert lines[8:10] == [
        f"{folder}/bin/mine --quick: not available: is not built; in {folder}: make",
        f"no-such-interpreter {folder}/mine.x: not available: needs no-such-interpreter",
    ]
    assert lines[10].startswith("no-such-package: not available: is not installed; ")
    assert lines[11:] == [f"sh -c 'exit 3': {folder}/known.yaml:3: no-such-case is not a case of the suite"]
    assert sorted(file.name for file in (folder / "reports").iterdir()) == [
        "sh--c-exit-3.ndjson",
        "tokref-0.3.0.ndjson",
    ]


def test_two_ways_to_run_the_same_have_a_report_each(folder: Path) -> None:
    (folder / "list.yaml").write_text("adapters: [{impl: reference}, {impl: reference}]", "utf-8")
    assert matrix(folder, "--reports", "reports")[0] == 0
    names = sorted(file.name for file in (folder / "reports").iterdir())
    assert names == ["tokref-0.3.0-2.ndjson", "tokref-0.3.0.ndjson"]


def test_a_list_of_which_nothing_is_here_is_no_pass(folder: Path) -> None:
    (folder / "list.yaml").write_text('adapters:\n  - command: "no-such-interpreter x"\n', "utf-8")
    status, lines, errors = matrix(folder)
    assert (status, lines[-1]) == (2, "no-such-interpreter x: not available: needs no-such-interpreter")
    assert (
        errors == "tokspec: list.yaml: no implementation of the list is available, so nothing was judged; install one\n"
    )


def test_the_table_in_markdown(folder: Path) -> None:
    (folder / "list.yaml").write_text("adapters: [{impl: reference}]", "utf-8")
    assert matrix(folder, "--format", "markdown", "--all") == (
        0,
        [
            "| implementation | language | terms | normalization | pre tokenization | added tokens | bpe | wordpiece "
            "| unigram | decoding | errors | post processing | lengths | patterns | word level | sentencepiece | streams | untrusted text | pass | known | fail | unsupported |",
            "| --- | --- |" + " ---: |" * 20,
            "| tokref 0.3.0 | Python | · | · | · | · | 1/1 | · | · | · | · | · | · | · | · | · | · | · | 1 | 0 | 0 | 0 |",
        ],
        "",
    )


def test_a_name_is_not_markup(folder: Path) -> None:
    (folder / "list.yaml").write_text('adapters: [{impl: reference}, {command: "no-such-program/<b>|*x*"}]', "utf-8")
    _, lines, _ = matrix(folder, "--format", "markdown")
    assert lines[-1].startswith(
        r"'no-such-program/&lt;b&gt;\|\*x\*': not available: cannot be started\: there is no program"
    )


@pytest.mark.slow
def test_all_asks_for_everything(folder: Path) -> None:
    listed = 'adapters: [{impl: reference}, {command: "no-such-interpreter x"}]'
    (folder / "list.yaml").write_text(listed, "utf-8")
    assert [matrix(folder)[0], matrix(folder, "--all")[0]] == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("adapters: []", "1: adapters: [] has less than 1 item"),
        ("adapters: [{impl: a, command: b}]", "1: adapters[0]: needs impl or command, and not both"),
        ("adapters: [{build: a}]", "1: adapters[0]: needs impl or command, and not both"),
        ("adapters: [{comand: a}]", "1: adapters[0].comand: is an unknown key; did you mean command?"),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "list.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(DataError) as caught:
        read_list(file)
    assert str(caught.value) == f"{file}:{message}"


def test_the_suites_own_list_names_files_that_are_there() -> None:
    listed = read_list(ROOT / "conformance" / "adapters" / "adapters.yaml")
    assert len({one.name for one in listed}) == len(listed) == 39


def test_the_list_of_a_checkout_in_the_current_folder(
    folder: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The suite may be installed from a checkout, and not lie there."""
    adapters = folder / "conformance" / "adapters"
    adapters.mkdir(parents=True)
    (adapters / "adapters.yaml").write_text("adapters:\n  - impl: reference\n", "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("tokspec.results.matrix_command.fixtures_folder", lambda: folder / "installed" / "fixtures")
    status, printed, _ = run("matrix", "--fixtures", "fixtures", "--format", "markdown")
    assert (status, printed.splitlines()[2:]) == (
        0,
        ["| tokref 0.3.0 | Python | · | · | · | · | 1/1 | · | · | · | · | · | · | · | · | · | · | · | 1 | 0 | 0 | 0 |"],
    )


def test_a_site_without_its_packages_is_refused_before_anything_is_judged(
    folder: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "tokspec.results.site.build", raising=False)
    monkeypatch.setattr("tokspec.results.matrix_command.matrix", lambda *_: pytest.fail("an implementation is judged"))
    assert run("matrix", "--list", folder / "list.yaml", "--html", folder / "site") == (
        2,
        "",
        "tokspec: --html: needs jinja2: pip install jinja2 markdown-it-py\n",
    )


def test_without_a_list_it_is_what_packages_announce() -> None:
    listed = {one.name: one for one in announced()}
    assert set(listed) == set(known_names()) - {"reference"}
    known = listed["tokenizers"].known
    assert known.entries == read_list(ROOT / "conformance" / "adapters" / "adapters.yaml")[1].known.entries
    assert (listed["tokfast"].known.entries, listed["tokfast"].command, listed["tokfast"].missing()) == ({}, None, "")


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        "{}",
        "[]",
        '{"tokspec_history": 2, "implementations": []}',
        '{"tokspec_history": 1, "implementations": [{"name": "x"}]}',
        '{"tokspec_history": 1, "implementations": [{"name": "x", "releases": [{"counts": {}}]}]}',
        '{"tokspec_history": 1, "implementations": [{"name": "x", "releases": [{"version": "1", "changes": [{}]}]}]}',
    ],
)
def test_a_file_that_is_no_history_is_refused(
    run: Callable[..., tuple[int, str, str]], folder: Path, content: str
) -> None:
    (folder / "history.json").write_text(content, "utf-8")
    message = f"tokspec: {folder / 'history.json'}: is not a history; write one with tokspec history --json\n"
    assert run("matrix", "--html", folder / "site", "--history", folder / "history.json") == (2, "", message)


def test_a_history_and_an_address_are_of_a_site(run: Callable[..., tuple[int, str, str]], folder: Path) -> None:
    message = "tokspec: --history and --address are for a site; give --html too; see tokspec matrix --help\n"
    assert run("matrix", "--history", folder / "history.json") == (2, "", message)
    assert run("matrix", "--address", "https://example.com") == (2, "", message)
