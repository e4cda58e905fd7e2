"""The command: what it says, what it writes, what it refuses."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any
from xml.etree import ElementTree

import pytest

from tokspec.adapters.tokfast import TokfastAdapter
from tokspec.judge.verdicts import Verdict
from tokspec.report.ndjson import read_report
from tokspec.suite.fixtures import load_suite

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
A  troubled 1 (trouble:Troubled)
B  sound 1 (trouble:Sound)

1. encode: the same tokens, other ids
   inputs    2 (25 %), 2 (10.5 %) of tokens; first texts.txt at 6
   input     encode "Q"
   A         ids: 81
   B         ids: 82
                  ^^
   from      texts.txt at 6: "a Queen"
   rule      BPE-ENC-1: A and B differ from the reference
   model     {"type": "bpe"}

2. encode: A crashes: ValueError: no such word (trouble.py:19 in _raise)
   inputs    1 (12.5 %); first texts.txt at 27
   input     encode "RAISES"
   A         "crash: ValueError: no such word (trouble.py:19 in _raise)"
   B         {"tokens": ["R", "A", "I", "S", "E", "S"], "ids": [82, 65, 73, 83, 69, 83]}
   from      texts.txt at 27: "RAISES and the Queen"
   rule      BPE-ENC-1: A and B differ from the reference
   model     {"type": "bpe"}

3. encode: A crashes: exit status 3
   inputs    1 (12.5 %); first texts.txt at 48
   input     encode "EXITS"
   A         "crash: exit status 3"
   B         {"tokens": ["E", "X", "I", "T", "S"], "ids": [69, 88, 73, 84, 83]}
   from      texts.txt at 48: "it EXITS"
   rule      BPE-ENC-1: A and B differ from the reference
   model     {"type": "bpe"}

4. encode: A crashes: killed by SIGSEGV
   inputs    1 (12.5 %); first texts.txt at 14
   input     encode "DIES"
   A         "crash: killed by SIGSEGV"
   B         {"tokens": ["D", "I", "E", "S"], "ids": [68, 73, 69, 83]}
   from      texts.txt at 14: "it DIES here"
   rule      BPE-ENC-1: A and B differ from the reference
   model     {"type": "bpe"}

5. encode: A refuses as unknown_symbol
   inputs    1 (12.5 %); first texts.txt at 57
   input     encode "REFUSES"
   A         "refuses as unknown_symbol"
   B         {"tokens": ["R", "E", "F", "U", "S", "E", "S"], "ids": [82, 69, 70, 85, 83, 69, 83]}
   from      texts.txt at 57: "it REFUSES"
   rule      BPE-ENC-1: B differs from the reference
   model     {"type": "bpe"}

6. encode: A takes too long: no answer within 2 s
   inputs    1 (12.5 %); first texts.txt at 80
   input     encode "it HANGS"
   A         "timeout: no answer within 2 s"
   B         (was not asked)
   from      texts.txt at 80

not compared: 1 time: encode: A: takes no such word
no text: 1 record: is not UTF-8; first texts.txt at 97: at its byte 0
A and B differ in 7 (87.5 %) of 8 inputs, 77 bytes; 2 (10.5 %) of 19 tokens differ
"""

ALIKE = "A  troubled 1 (trouble:Troubled)\nB  sound 1 (trouble:Sound)\n\n{}\n"
TAKEN = "reused from {}: 1 of 1 unit compared earlier; remove the folder to compare again\n{}"


@pytest.mark.long
def test_every_trouble_is_a_finding_of_its_text(place: Any) -> None:
    place.write("texts.txt", TROUBLED)
    with (place.folder / "texts.txt").open("ab") as file:
        file.write(b"\xff\n")
    report = ("--report", "report.md", "--report", "report.ndjson", "--junit", "report.xml")
    status, out, err = place.run("texts.txt", "--case-seconds", "2", "--show", "20", *report)
    assert out == SHOWN
    assert (status, err) == (2, "")
    table = (place.folder / "report.md").read_text().splitlines()
    assert table[0] == "## A and B differ in 7 (87.5 %) of 8 inputs, 77 bytes; 2 (10.5 %) of 19 tokens differ"
    assert table[7] == (
        '| 2 | encode: the same tokens, other ids | "Q" | BPE-ENC-1: A and B differ from the reference | texts.txt at 6 |'
    )
    (result,) = read_report(place.folder / "report.ndjson").run.results
    assert (result.case.id, result.verdict) == ("encode/inputs", Verdict.FAIL)
    assert result.detail == "7 of 8 inputs differ; the shortest: other answers"
    (case,) = ElementTree.parse(place.folder / "report.xml").iter("testcase")
    assert case.get("name") == "encode/inputs"


def test_nothing_differs_and_nothing_is_done_twice(place: Any) -> None:
    place.write("texts.txt", ["one", "two"])
    status, out, _ = place.run("texts.txt")
    assert (status, out) == (0, ALIKE.format("A and B agree on 2 inputs, 6 bytes; 0 (0 %) of 6 tokens differ"))
    before = place.times("tokspec-diff")
    assert place.run("texts.txt")[0] == 0
    assert place.times("tokspec-diff") == before


def test_results_are_no_inputs(place: Any) -> None:
    (place.folder / "texts").mkdir()
    place.write("texts/a.txt", ["one", "two"])
    said = [place.run("texts", "-o", "texts/out")[1] for _ in range(2)]
    agree = "A and B agree on 2 inputs, 6 bytes; 0 (0 %) of 6 tokens differ"
    assert said == [ALIKE.format(agree), ALIKE.format(TAKEN.format("texts/out", agree))]


def test_nothing_to_compare_is_no_success(place: Any) -> None:
    place.write("texts.jsonl", ['{"id": 1, "body": "one"}'])
    bad = "no text: 1 record: has no field text; first texts.jsonl at 0: it has id, body"
    assert place.run("texts.jsonl") == (2, ALIKE.format(f"{bad}\nA and B: nothing was compared"), "")


def test_comparisons_share_a_folder(place: Any) -> None:
    place.write("texts.txt", ["one"])
    agree = "A and B agree on 1 input, 3 bytes; 0 (0 %) of 3 tokens differ"
    assert place.run("texts.txt") == (0, ALIKE.format(agree), "")
    before = place.times("tokspec-diff")
    whole = (place.folder / "model.json").read_bytes()
    (place.folder / "model.json").write_text('{"type": "bpe", "vocabulary": ["b"], "merges": []}')
    assert place.run("texts.txt")[0] == 0
    (place.folder / "model.json").write_bytes(whole)
    assert place.run("texts.txt") == (0, ALIKE.format(TAKEN.format("tokspec-diff", agree)), "")
    assert before.items() <= place.times("tokspec-diff").items()
    assert len(place.times("tokspec-diff")) == 2 * len(before)


@pytest.mark.long
def test_a_cause_becomes_a_case_with_a_small_model(place: Any) -> None:
    """The one knows no merges; of the model what remains is the merge that shows it, with its tokens."""
    tokens = ["c", "a", "b", "d", "ab", "cd", "abcd"]
    model = {"type": "bpe", "vocabulary": tokens, "merges": [["a", "b"], ["c", "d"], ["ab", "cd"]]}
    (place.folder / "model.json").write_text(json.dumps(model))
    place.write("texts.txt", ["dcbabad"])
    status, out, _ = place.run(
        "texts.txt", "--only-files", "--save", "found", sides=("trouble:Sound", "reference", *place.loaded)
    )
    (file,) = (place.folder / "found").glob("*.yaml")
    assert status == 1
    assert f"wrote {file.relative_to(place.folder)}" in out.splitlines()
    (case,) = load_suite(place.folder / "found").cases.values()
    assert (case.operation, case.input, case.tags) == ("encode", {"text": "ab"}, ("unverified",))
    assert case.model.content == {"type": "bpe", "vocabulary": ["a", "b", "ab"], "merges": [["a", "b"]]}
    assert case.outcome == {"expect": {"tokens": ["ab"], "ids": [2], "spans": [[0, 2]]}}
    assert case.why == (
        'NOT VERIFIED: sound 1 (trouble:Sound) gives {"tokens": ["a", "b"], "ids": [97, 98]}; tokref 0.3.0 (reference) gives '
        '{"tokens": ["ab"], "ids": [2]}. Say here what the case shows.'
    )
    file.write_text("worked out", "utf-8")
    _, out, _ = place.run(
        "texts.txt", "--only-files", "--save", "found", sides=("trouble:Sound", "reference", *place.loaded)
    )
    assert f"already exists, and is left as it is: {file.relative_to(place.folder)}" in out.splitlines()
    assert file.read_text("utf-8") == "worked out"


@pytest.mark.long
def test_a_program_is_compared_as_well(place: Any) -> None:
    place.write("texts.txt", [*TROUBLED, "long" * 20_000])
    program = f"{sys.executable} -m tokspec.sessions.adapter_server trouble:Troubled"
    sides = ("trouble:Sound", program, *place.loaded)
    status, out, err = place.run("texts.txt", "--only-files", "--case-seconds", "2", "--show", "20", sides=sides)
    heads = [line for line in out.splitlines() if re.match(r"\d+\. ", line)]
    assert heads == [
        "1. encode: the same tokens, other ids",
        "2. encode: B crashes: ValueError: no such word (trouble.py:19 in _raise)",
        "3. encode: B crashes: exit status 3",
        "4. encode: B crashes: killed by SIGSEGV",
        "5. encode: B refuses as unknown_symbol",
        "6. encode: B takes too long: no reply within 2 seconds",
    ]
    assert out.splitlines()[-3:] == [
        "not compared: 1 time: encode: B: takes no such word",
        "not compared: 1 time: encode: B: the text is longer than a reply may be",
        "A and B differ in 7 (87.5 %) of 8 inputs, 77 bytes; 2 (10.5 %) of 19 tokens differ",
    ]
    assert (status, err) == (1, "")


def test_what_is_installed_in_another_environment_is_compared(place: Any) -> None:
    place.write("texts.txt", ["aaa", "a Queen"])
    sides = (f"reference@{sys.executable}", "trouble:Sound", *place.loaded)
    status, out, _ = place.run("texts.txt", "--only-files", sides=sides)
    assert out.splitlines()[3:6] == [
        "1. encode: A refuses as unknown_symbol",
        "   inputs    1 (50 %); first texts.txt at 4",
        '   input     encode "n"',
    ]
    assert status == 1


def test_many_differences_take_no_longer(place: Any) -> None:
    """All of 80 kB differs by one cause: that is counted, and made small once."""
    lines = [f"line {number} with a Queen in it" for number in range(3000)]
    place.write("texts.txt", lines)
    begin = time.monotonic()
    status, out, _ = place.run("texts.txt")
    size = sum(map(len, lines))
    assert (status, out.splitlines()[-1]) == (
        1,
        f"A and B differ in 3,000 (100 %) of 3,000 inputs, {size / 1000:.1f} kB; "
        f"3,000 ({100 * 3000 / size:.3g} %) of {size:,} tokens differ",
    )
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no.txt",), "tokspec: no.txt: cannot be read: No such file or directory\n"),
        (
            ("texts.txt", "--address", "here"),
            "tokspec: --address: is for --engine dask or ray\n",
        ),
        (
            ("texts.txt", "--report", "found.html"),
            "tokspec: found.html: --report: does not say by its suffix what to write; give .ndjson, .md or .xml\n",
        ),
    ],
)
def test_what_cannot_be_compared(place: Any, arguments: tuple[str, ...], message: str) -> None:
    place.write("texts.txt", ["one"])
    assert place.run(*arguments) == (2, "", message)


@pytest.mark.parametrize("changed", [{}, {"padding": {"strategy": {"fixed": 4}}}, {"truncation": {"max_length": 1}}])
def test_the_quick_way_of_tokfast_gives_the_ids_of_encode(changed: dict[str, Any]) -> None:
    adapter = TokfastAdapter()
    content = {"type": "wordlevel", "vocabulary": ["[PAD]", "a", "b"], "pre_tokenizer": {"type": "whitespace_split"}}
    model = adapter.load("tokspec", {**content, **changed})
    encoded = adapter.run("encode", model, {"text": "a b", "add_special_tokens": False})
    assert adapter.encoder(model)("a b") == encoded["ids"]
    assert encoded["ids"] == ([1, 2] if not changed else [1, 2, 0, 0] if "padding" in changed else [1])
