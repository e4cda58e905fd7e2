"""The command: what it says, what it writes, what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tokspec.suite.fixtures import load_suite
from tokspec.sweep.tally import WHOLE

pytestmark = pytest.mark.slow

TROUBLED = [
    "plain",
    "a Queen",
    "it DIES here",
    "RAISES and the Queen",
    "it EXITS",
    "it REFUSES",
    "it DECLINES",
    "it HANGS",
    "b Queen",
]

SHOWN = """\
1. other tokens: 3 documents, 3 places
   text     "Q"  (Lu)
   in       "a Queen"
   first    texts.txt at 6

2. troubled crashes: 1 document, 1 place
   text     "RAISES"  (Lu+)
   in       "RAISES and the Que"
   first    texts.txt at 27
   said     ValueError: no such word (trouble.py:19 in _raise)

3. troubled crashes: 1 document, 1 place
   text     "it EXITS"  (a whole document)
   first    texts.txt at 48
   said     exit status 3

4. troubled crashes: 1 document, 1 place
   text     "it DIES here"  (a whole document)
   first    texts.txt at 14
   said     killed by SIGSEGV

5. troubled refuses as unknown_symbol: 1 document, 1 place
   text     "REFUSES"
   in       "it REFUSES"
   first    texts.txt at 57

6. troubled takes too long: 1 document, 1 place
   text     "it HANGS"  (a whole document)
   first    texts.txt at 80
   said     no answer within 2 s

tokens: 19 and 19; 2 (10.5 %) differ
not compared: 1 document: troubled does not take it: takes no such word
bad records: 1: is not UTF-8; first in texts.txt at 97: at its byte 0
troubled 1 and sound 1 differ in 7 of 8 documents (87.5 %), 77 bytes
"""


def test_every_trouble_is_a_finding_of_its_document(place: Any) -> None:
    place.write("texts.txt", TROUBLED)
    with (place.folder / "texts.txt").open("ab") as file:
        file.write(b"\xff\n")
    report = ("--report", "report.md", "--report", "report.ndjson")
    status, out, err = place.run("texts.txt", "--case-seconds", "2", "--show", "20", *report)
    assert "".join(line for line in out.splitlines(keepends=True) if "   rule " not in line) == SHOWN
    assert (status, err) == (1, "")
    table = (place.folder / "report.md").read_text().splitlines()
    assert table[4] == '| 3 | 3 | other tokens | "Q" | Lu | BPE-ENC-8 (encode, troubled and sound) | texts.txt at 6 |'
    lines = [json.loads(line) for line in (place.folder / "report.ndjson").read_text().splitlines()]
    assert [line["kind"] for line in lines[1:-1]][:2] == ["other tokens", "troubled crashes"]
    assert lines[-1]["documents"] == 9


def test_nothing_differs_and_nothing_is_done_twice(place: Any) -> None:
    place.write("texts.txt", ["one", "two"])
    status, out, _ = place.run("texts.txt")
    assert (status, out) == (
        0,
        "tokens: 6 and 6; 0 (0 %) differ\ntroubled 1 and sound 1 agree on 2 documents, 6 bytes\n",
    )
    before = place.times("tokspec-diff")
    assert place.run("texts.txt")[0] == 0
    assert place.times("tokspec-diff") == before


def test_results_are_no_inputs(place: Any) -> None:
    (place.folder / "texts").mkdir()
    place.write("texts/a.txt", ["one", "two"])
    said = [place.run("texts", "-o", "texts/out")[1] for _ in range(2)]
    assert (
        said[0] == said[1] == "tokens: 6 and 6; 0 (0 %) differ\ntroubled 1 and sound 1 agree on 2 documents, 6 bytes\n"
    )


def test_nothing_to_compare_is_no_success(place: Any) -> None:
    place.write("texts.jsonl", ['{"id": 1, "body": "one"}'])
    assert place.run("texts.jsonl") == (
        2,
        "tokens: 0 and 0; 0 (0 %) differ\n"
        "bad records: 1: has no field text; first in texts.jsonl at 0: it has id, body\n"
        "troubled 1 and sound 1: no document was compared\n",
        "",
    )


def test_a_folder_belongs_to_one_comparison(place: Any) -> None:
    place.write("texts.txt", ["one"])
    assert place.run("texts.txt")[0] == 0
    (place.folder / "model.json").write_text('{"type": "bpe", "vocabulary": ["b"], "merges": []}')
    assert place.run("texts.txt") == (
        2,
        "",
        "tokspec: tokspec-diff: has the results of a sweep with other implementations or models; "
        "give another folder with --output\n",
    )


def test_a_plan_can_be_looked_at_first(place: Any) -> None:
    place.write("texts.txt", ["line"] * 1000)
    status, out, _ = place.run("texts.txt", "--dry-run", "--unit-mb", "0.001")
    assert status == 0
    assert out.splitlines()[:2] == [
        "troubled 1 against sound 1, comparing ids",
        "1 file, 5.0 kB, in 5 units",
    ]
    assert not (place.folder / "tokspec-diff").exists()


def test_a_cause_becomes_a_fixture(place: Any) -> None:
    (place.folder / "model.json").write_text('{"type": "bpe", "vocabulary": ["a", "Q"], "merges": []}')
    place.write("texts.txt", ["a", "aQ"])
    status, out, _ = place.run("texts.txt", "--against", "reference", "--save", "found")
    (file,) = (place.folder / "found").glob("*.yaml")
    assert status == 1
    assert f"wrote {file.relative_to(place.folder)}" in out.splitlines()
    (case,) = load_suite(place.folder / "found").cases.values()
    assert (case.operation, case.tags) == ("encode", ("unverified",))


def test_a_program_is_swept_as_well(place: Any) -> None:
    place.write("texts.txt", [*TROUBLED, "long" * 20_000])
    program = f"{sys.executable} -m tokspec.sessions.adapter_server trouble:Troubled"
    sides = ("--impl", "trouble:Sound", "--against-cmd", program, *place.loaded)
    report = ("--report", "report.ndjson")
    status, out, err = place.run("texts.txt", "--case-seconds", "2", *report, sides=sides)
    lines = [json.loads(line) for line in (place.folder / "report.ndjson").read_text().splitlines()]
    assert [[line[name] for name in ("kind", "text", "pattern", "detail")] for line in lines[1:-1]] == [
        ["other tokens", "Q", "Lu", ""],
        ["troubled crashes", "RAISES and the Queen", WHOLE, "ValueError: no such word (trouble.py:19 in _raise)"],
        ["troubled crashes", "it EXITS", WHOLE, "exit status 3"],
        ["troubled crashes", "it DIES here", WHOLE, "killed by SIGSEGV"],
        ["troubled refuses as unknown_symbol", "REFUSES", "", ""],
        ["troubled takes too long", "it HANGS", WHOLE, "no reply within 2 seconds"],
    ]
    assert lines[-1]["left"] == {
        "troubled does not take it: takes no such word": 1,
        "troubled does not take it: the text is longer than a reply may be": 1,
    }
    assert out.splitlines()[-1] == "sound 1 and troubled 1 differ in 7 of 8 documents (87.5 %), 77 bytes"
    assert (status, err) == (1, "")


def test_what_is_installed_in_another_environment_is_swept(place: Any) -> None:
    place.write("texts.txt", ["aaa", "a Queen"])
    sides = ("--impl", f"reference@{sys.executable}", "--against", "trouble:Sound", *place.loaded)
    status, out, _ = place.run("texts.txt", sides=sides)
    assert out.splitlines()[:2] == ["1. tokref refuses as unknown_symbol: 1 document, 6 places", '   text     " "']
    assert status == 1


def test_the_model_of_a_pack(place: Any) -> None:
    place.write("texts.txt", ["aaa"])
    frozen = ("freeze", *place.loaded, "--no-vocabulary", "--made", "2", "-o", "pack.yaml.gz")
    subprocess.run([sys.executable, "-m", "tokspec", *frozen], cwd=place.folder, check=True, capture_output=True)
    sides = ("--impl", "trouble:Troubled", "--against", "trouble:Sound", "--model", "pack.yaml.gz")
    said = "tokens: 3 and 3; 0 (0 %) differ\ntroubled 1 and sound 1 agree on 1 document, 3 bytes\n"
    assert place.run("texts.txt", sides=sides) == (0, said, "")
    (place.folder / "model.json").unlink()
    status, _, err = place.run("texts.txt", sides=sides)
    assert status == 2
    assert err.startswith("tokspec: pack.yaml.gz: model: was made with model.json (sha256 ")
    assert err.endswith("…), which is neither beside it nor here; give --model\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no.txt",), "tokspec: no.txt: cannot be read: No such file or directory\n"),
        (
            ("texts.txt", "--against", "trouble:Troubled"),
            "tokspec: this compares an implementation with itself; name another with --impl or --against; "
            "see tokspec sweep --help\n",
        ),
        (
            ("texts.txt", "--address", "here"),
            "tokspec: --address: the local engine works on this machine; an address is for --engine ray or dask\n",
        ),
        (
            ("texts.txt", "--report", "found.html"),
            "tokspec: found.html: does not say by its end what to write; give one of .ndjson, .md\n",
        ),
        (
            ("texts.txt", "--in-process"),
            "tokspec: --in-process is not for sweeps; what they compare has processes of its own; "
            "see tokspec sweep --help\n",
        ),
    ],
)
def test_what_cannot_be_swept(place: Any, arguments: tuple[str, ...], message: str) -> None:
    place.write("texts.txt", ["one"])
    assert place.run(*arguments) == (2, "", message)
