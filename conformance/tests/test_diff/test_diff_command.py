"""``tokspec record`` and ``tokspec diff`` with texts and recordings, as a user meets them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.compare.recording import read_recording

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data" / "recordings"

#: Takes tabs for a letter, and crashes on three ids.
WRONG = """
from tokspec.adapters.reference import ReferenceAdapter

class Wrong(ReferenceAdapter):
    def run(self, operation, model, input):
        if operation == "encode" and "\\t" in input["text"]:
            return super().run(operation, model, {"text": input["text"].replace("\\t", "x")})
        if operation == "decode" and len(input.get("ids", [])) == 3:
            raise RuntimeError("three is too many")
        return super().run(operation, model, input)
"""

NOTHING = """
from tokspec.adapter import Hello

class Nothing:
    def hello(self):
        return Hello("nothing", "1", "Python", operations=())
    def load(self, format, content):
        return content
    def run(self, operation, model, input):
        raise NotImplementedError
"""

#: Holds back the last part of a stream until its end.
LATE = """
from tokspec.adapters.tokfast import TokfastAdapter

class Late(TokfastAdapter):
    def run(self, operation, model, input):
        result = super().run(operation, model, input)
        if operation == "decode_stream" and result["parts"]:
            *parts, last = result["parts"]
            return {"parts": [*parts, ""], **({"end": last + result["end"]} if "end" in result else {})}
        return result
"""

RECORD = ("--model", "tokenizer.json", "--no-vocabulary", "-o")


@pytest.fixture
def run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run in a folder with a model and two adapters."""
    for file in DATA.iterdir():
        shutil.copy(file, tmp_path)
    (tmp_path / "wrong.py").write_text(WRONG, "utf-8")
    (tmp_path / "none.py").write_text(NOTHING, "utf-8")
    (tmp_path / "late.py").write_text(LATE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return run


@pytest.fixture
def recorded(run: Any) -> Any:
    """Run in a folder in which the reference is recorded."""
    assert run("record", "reference", *RECORD, "a.ndjson")[0] == 0
    return run


def test_whoever_answers_the_same_agrees(recorded: Any) -> None:
    texts = read_recording(Path("a.ndjson")).count
    status, printed, noted = recorded("diff", "a.ndjson", "tokenizers")
    assert (status, noted) == (0, "")
    lines = printed.splitlines()
    assert lines[:2] == ["A  tokref 0.3.0 as recorded in a.ndjson", "B  tokenizers 0.23.3"]
    assert lines[3:7] == [
        "operation     same  different  not compared",
        f"normalize        ·          ·           {texts}",
        f"pre_tokenize   {texts}          ·             ·",
        f"encode         {texts}          ·             ·",
    ]
    assert lines[-2] == f"not compared: {texts} times: normalize: B: offers normalizers alone, and the model has none"
    assert re.fullmatch(rf"A and B agree on {texts} inputs, \S+ kB; 0 \(0 %\) of [\d,]+ tokens differ", lines[-1])


def test_a_recording_has_what_was_answered_wrongly_and_not_at_all(run: Any) -> None:
    assert run("record", "wrong:Wrong", *RECORD, "wrong.ndjson.gz")[0] == 0
    assert run("diff", "wrong.ndjson.gz", "wrong:Wrong")[0] == 0
    status, printed, _ = run("diff", "wrong.ndjson.gz", "reference", "--show", 1)
    head, inputs, *others, place = printed.split("\n\n")[1].splitlines()
    assert (status, head, others) == (
        1,
        "1. decode: A crashes: is recorded",
        [
            "   input     decode [1, 1, 1]",
            '   A         "crash: is recorded"',
            '   B         {"text": "[UNK] [UNK] [UNK]"}',
        ],
    )
    assert re.fullmatch(r"   inputs    \d+ \(\S+ %\), \d+ \(\S+ %\) of tokens; first texts/emoji:skin-tones", inputs)
    assert re.fullmatch(r"   from      texts/marks:vietnamese-composed, line \d+", place)


def test_the_same_is_recorded_as_the_same_bytes_whatever_the_folder(run: Any, tmp_path: Path) -> None:
    Path("mine.txt").write_text("a bug\n\nthe café\n", "utf-8")
    Path("elsewhere").mkdir()
    shutil.copy("mine.txt", "elsewhere/mine.txt")
    arguments = ("--model", "tokenizer.json", "--made", 10, "-o")
    assert run("record", "reference", "mine.txt", *arguments, "one.ndjson")[0] == 0
    assert run("record", "reference", tmp_path / "elsewhere" / "mine.txt", *arguments, "two.ndjson")[0] == 0
    assert Path("one.ndjson").read_bytes() == Path("two.ndjson").read_bytes()
    assert str(tmp_path) not in Path("one.ndjson").read_text("utf-8")
    texts = {record.input.place: record.input.text for record in read_recording(Path("one.ndjson")).records()}
    assert {place: text for place, text in texts.items() if place.startswith("inputs/")} == {
        "inputs/mine.txt:1": "a bug",
        "inputs/mine.txt:3": "the café",
    }


def test_a_file_is_one_text_where_that_is_said(run: Any) -> None:
    Path("mine.txt").write_text("a bug\n\nthe mug\n", "utf-8")
    assert run("record", "reference", "mine.txt", "--as", "whole", *RECORD, "a.ndjson")[0] == 0
    texts = {record.input.place: record.input.text for record in read_recording(Path("a.ndjson")).records()}
    assert {place: text for place, text in texts.items() if place.startswith("inputs/")} == {
        "inputs/mine.txt:1": "a bug\n\nthe mug\n"
    }


def test_what_is_no_text_is_told_and_left_out(run: Any) -> None:
    Path("mine.jsonl").write_text('{"body": "a bug"}\n{"text": 3}\nnot json\n', "utf-8")
    status, printed, noted = run("record", "reference", "mine.jsonl", "--field", "body", *RECORD, "a.ndjson")
    assert (status, noted) == (
        2,
        "left out: 1 record without a text, first mine.jsonl:2: has no field body; it has text\n"
        "left out: 1 record without a text, first mine.jsonl:3: is not JSON\n",
    )
    assert re.fullmatch(
        r"a\.ndjson: tokref [\d.]+ with tokenizer\.json: \d+ texts, [\d,]+ tokens; \d\.\d MB\n", printed
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("record", "reference", "--model", "none.json", "-o", "p.ndjson"),
            "none.json: cannot be read: No such file or directory",
        ),
        (
            ("record", "reference", "--model", "wrong.py", "-o", "p.ndjson"),
            "wrong.py: does not say by its name what it is; give --format",
        ),
        (
            ("record", "reference", "--model", "empty.json", "-o", "p.ndjson"),
            "empty.json: is not a tokenizer.json: it has no key model that holds an object",
        ),
        (
            ("record", "reference", "no", "--model", "tokenizer.json", "-o", "p.ndjson"),
            "no: cannot be read: No such file or directory",
        ),
        (
            ("record", "none:Nothing", "--model", "tokenizer.json", "-o", "p.ndjson", "--add-special-tokens"),
            "none:Nothing: cannot add the special tokens of post-processors; leave out --add-special-tokens",
        ),
        (
            ("record", "tokfast", "--model", "added.json", "-o", "p.ndjson", "--add-special-tokens"),
            "tokfast: gets the model converted, and without its post-processor; leave out --add-special-tokens",
        ),
        (
            ("record", "tokenizers", "--model", "deep.json", "-o", "p.ndjson"),
            "deep.json: is nested more than 60 levels deep",
        ),
        (
            ("record", "reference", "--model", "m.ndjson", "-o", "m.ndjson"),
            "m.ndjson: --output: is the file that --model names, and would be overwritten; give another",
        ),
        (
            ("record", "reference", "--model", "tokenizer.json", "-o", "p.yaml"),
            "p.yaml: --output: needs a name that ends in .ndjson or .pack.jsonl, or in one of them and .gz",
        ),
        (
            ("record", "reference", "--model", "tokenizer.json", "-o", "alone"),
            "alone: --output: is a folder; give the name of the recording in it",
        ),
        (
            ("record", "reference", "--model", "sentences.json", "-o", "p.ndjson"),
            "tokref 0.3.0: does not answer any text: unsupported: sentences.json is a",
        ),
        (
            ("diff", "m.ndjson", "reference"),
            "m.ndjson:1: ends within a line: it was cut off; get a complete copy, or record it again",
        ),
        (("diff", "alone/a.ndjson", "reference"), "alone/a.ndjson: was made with tokenizer.json (sha256 "),
        (("diff", "a.ndjson", "reference", "--select", "fly"), "--select: fly matches nothing that was asked"),
        (
            ("diff", "a.ndjson", "reference", "wrong.py"),
            "FILES need two implementations; with a recording, the texts are those of",
        ),
        (
            ("diff", "reference", "reference"),
            "this compares a side with itself; name another one, or give --model twice",
        ),
        (
            ("diff", "a.ndjson", "a.ndjson", "--model-b", "other.json"),
            "--model: is for an implementation, and B is a",
        ),
        (
            ("diff", "reference", "a.ndjson", "--model-b", "other.json"),
            "--model: is for an implementation, and B is a",
        ),
        (
            ("diff", "reference", "reference", "--model-b", "other.json"),
            "--model-b: needs --model FILE, the model of A",
        ),
        (
            ("diff", "a.ndjson", "alone/a.ndjson", "--model", "other.json"),
            "--model: is for an implementation, and both ",
        ),
        (("diff", "reference", "tokenizers", "wrong.py"), "FILES need --model FILE"),
        (("diff", "reference", "no-such"), "no-such: is not installed; "),
        (("diff", "no-such.ndjson.gz", "reference"), "no-such.ndjson.gz: cannot be read: No such file or directory"),
        (("diff", "reference@nowhere", "reference"), "nowhere: is not an environment: it has neither bin/python nor"),
    ],
)
def test_what_is_wrong_is_one_line(recorded: Any, arguments: tuple[str, ...], message: str) -> None:
    Path("empty.json").write_text("{}")
    Path("m.ndjson").write_text("{}")
    Path("alone").mkdir()
    shutil.copy("a.ndjson", "alone")
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    model["pre_tokenizer"] = {"type": "Sentences"}
    Path("sentences.json").write_text(json.dumps(model))
    deep: Any = {"type": "NFC"}
    for _ in range(300):
        deep = {"type": "Sequence", "normalizers": [deep]}
    Path("deep.json").write_text(json.dumps({**model, "normalizer": deep}))
    template = {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": []}
    Path("added.json").write_text(json.dumps({**model, "post_processor": {**template, "special_tokens": {}}}))
    if "alone/a.ndjson" in arguments:
        Path("tokenizer.json").unlink()
    status, printed, noted = recorded(*arguments)
    assert (status, printed, noted.count("\n")) == (2, "", 1)
    assert noted.startswith(f"tokspec: {message}")


@pytest.mark.long
def test_differences_are_grouped_and_shown_with_their_smallest_input(recorded: Any) -> None:
    status, printed, _ = recorded("diff", "reference", "wrong:Wrong", "--model", "tokenizer.json", "--made", 0)
    assert status == 1
    crash, tab, *_ = [block.splitlines() for block in printed.split("\n\n")[1:]]
    assert (crash[0], crash[2:4], crash[5:]) == (
        "1. decode: B crashes: RuntimeError: three is too many (wrong.py:9 in run)",
        ["   input     decode [0, 0, 0]", '   A         {"text": "[UNK] [UNK] [UNK]"}'],
        [
            '   from      texts/marks:vietnamese-composed: "ệ ờ ặ"',
            "   rule      DEC-7: B differs from the reference",
            '   model     {"type": "wordpiece", "vocabulary": ["[UNK]"]}',
        ],
    )
    assert tab[2:] == [
        '   input     encode "\\ta"',
        '   A         tokens: "a"',
        '   B         tokens: "[UNK]"',
        "                     ^^^^^^^",
        '   from      texts/white_space:tab: "a\\tb\\t\\tc \\t d\\t e"',
        "   rule      PRE-BERT-1: B differs from the reference",
        '   model     {"type": "wordpiece", "vocabulary": ["[UNK]", "a"], "pre_tokenizer": {"type": "bert"}}',
    ]
    assert re.search(r"^decode +\d+ +\d+ +·$", printed, re.MULTILINE)


def test_known_failures_count_as_for_a_run(recorded: Any) -> None:
    arguments = ("diff", "a.ndjson", "wrong:Wrong", "--select", "encode", "--known-failures", "known.yaml")
    assert recorded(*arguments, "--update-known-failures")[0] == 0
    assert "encode/texts/white_space" in Path("known.yaml").read_text("utf-8")
    assert recorded(*arguments)[0] == 0
    right = tuple(each if each != "wrong:Wrong" else "reference" for each in arguments)
    assert recorded(*right)[0] == 1


def test_reports_are_those_of_a_run(recorded: Any) -> None:
    files = ("--report", "r.ndjson", "--report", "r.md", "--junit", "j.xml")
    assert recorded("diff", "a.ndjson", "wrong:Wrong", *files)[0] == 1
    status, printed, noted = recorded("report", "r.ndjson")
    assert (status, noted) == (1, "")
    assert "CRASH decode/texts/emoji  (a.ndjson:" in printed
    names = {case.get("name") for case in ElementTree.parse("j.xml").iter("testcase")}
    assert {"encode/texts/white_space", "decode/texts/emoji"} <= names
    assert Path("r.md").read_text("utf-8").startswith("## A and B differ in ")


def test_another_model_is_said_first(recorded: Any) -> None:
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    model["model"]["max_input_chars_per_word"] = 5
    del model["model"]["vocab"]["##ta"]
    Path("other.json").write_text(json.dumps(model))
    said = [
        "model:",
        "  another file: tokenizer.json in A, other.json in B",
        "  vocabulary: not the same, 70 in A, 69 in B",
        "  merges: the same, 0",
        "  settings: model.max_input_chars_per_word: 100 → 5",
    ]
    status, printed, _ = recorded("diff", "a.ndjson", "tokenizers", "--model", "other.json", "--show", 0)
    assert (status, printed.splitlines()[3:8]) == (1, said)
    shutil.copy("other.json", "tokenizer.json")
    status, printed, _ = recorded("diff", "a.ndjson", "tokenizers", "--show", 0)
    said[1] = "  the content of tokenizer.json changed"
    assert (status, printed.splitlines()[3:8]) == (1, said)


def test_models_are_compared(run: Any) -> None:
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    vocab = model["model"]["vocab"]
    vocab["zzz"] = vocab.pop("##ta")
    vocab["a"], vocab["b"] = vocab["b"], vocab["a"]
    model["model"]["max_input_chars_per_word"] = 5
    Path("other.json").write_text(json.dumps(model))
    models = ("--model", "tokenizer.json", "--model-b", "other.json", "--made", 1)
    status, printed, _ = run("diff", "tokenizers", "tokenizers", *models)
    assert status == 1
    assert printed.split("model:\n")[1].split("\n\n")[0].splitlines() == [
        '  vocabulary: 1 token in A alone: "##ta"',
        '  vocabulary: 1 token in B alone: "zzz"',
        f'  ids: 2 tokens differ: "a" {vocab["b"]} → {vocab["a"]}, "b" {vocab["a"]} → {vocab["b"]}',
        "  settings: model.max_input_chars_per_word: 100 → 5",
    ]


def test_special_tokens_of_a_post_processor_are_asked_for_if_they_are_recorded(run: Any) -> None:
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    model["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[UNK]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"[UNK]": {"id": "[UNK]", "ids": [1], "tokens": ["[UNK]"]}},
    }
    Path("adding.json").write_text(json.dumps(model))
    arguments = ("record", "tokenizers", "--model", "adding.json", "--no-vocabulary")
    assert run(*arguments, "--add-special-tokens", "-o", "added.ndjson")[0] == 0
    assert run(*arguments, "-o", "plain.ndjson")[0] == 0
    assert run("diff", "added.ndjson", "tokenizers")[0] == 0
    assert run("diff", "tokenizers", "added.ndjson")[0] == 0
    status, printed, _ = run("diff", "plain.ndjson", "added.ndjson")
    assert (status, printed.splitlines()[3:5]) == (
        1,
        ["model:", "  special tokens of a post-processor: not added in plain.ndjson and added in added.ndjson"],
    )
    assert "1. encode: more tokens at the start: '[UNK]'\n" in printed
    status, printed, _ = run("diff", "added.ndjson", "reference", "--show", 0)
    assert status == 1
    assert "reference gets the model converted, and without its post-processor" in printed.splitlines()


def test_recordings_are_compared(recorded: Any) -> None:
    assert recorded("record", "tokenizers", *RECORD, "two.ndjson.gz")[0] == 0
    assert recorded("record", "wrong:Wrong", *RECORD, "three.ndjson")[0] == 0
    assert recorded("diff", "two.ndjson.gz", "a.ndjson")[0] == 0
    status, printed, _ = recorded("diff", "two.ndjson.gz", "three.ndjson")
    assert status == 1
    assert "A and B differ in " in printed.splitlines()[-1]
    assert recorded("diff", "wrong:Wrong", "a.ndjson")[0] == 1


def test_who_answers_nothing_agrees_with_nobody(recorded: Any) -> None:
    status, printed, _ = recorded("diff", "a.ndjson", "none:Nothing")
    assert (status, printed.splitlines()[-1]) == (2, "A and B: nothing was compared")


def test_implementations_are_compared_over_cases_without_a_model(run: Any) -> None:
    status, printed, _ = run("diff", "reference", "wrong:Wrong", "--show", 1)
    assert status == 1
    lines = printed.splitlines()
    assert lines[:2] == ["A  tokref 0.3.0 (reference)", "B  tokref 0.3.0 (wrong:Wrong)"]
    assert re.fullmatch(r"   inputs    \d+ \(\S+ %\); first case \S+", lines[4])
    assert lines[-2] == "no texts were compared; give --model FILE, with a tokenizer.json of yours, to do so"


def test_over_cases_it_is_said_who_leaves_the_rule(run: Any) -> None:
    _, printed, _ = run("diff", "reference", "wrong:Wrong", "--select", "encode/cases", "--show", 1)
    (rule,) = [line for line in printed.splitlines() if line.startswith("   rule")]
    assert re.fullmatch(r"   rule      [A-Z]+(-[A-Z]+)?-\d+: B leaves it", rule)


REFUSING = """
from tokspec.adapter import Refusal
from tokspec.adapters.reference import ReferenceAdapter

class Refusing(ReferenceAdapter):
    def load(self, format, content):
        raise Refusal("invalid_model", "not this one")
"""


@pytest.mark.parametrize("sides", [("reference", "refusing:Refusing"), ("refusing:Refusing", "reference")])
def test_a_model_that_a_side_refuses_ends_a_comparison_with_one_line(run: Any, sides: tuple[str, str]) -> None:
    Path("refusing.py").write_text(REFUSING, "utf-8")
    said = "tokspec: tokenizer.json: tokref 0.3.0: refuses the model: invalid_model: not this one\n"
    assert run("diff", *sides, "--model", "tokenizer.json") == (2, "", said)


def test_an_implementation_in_another_environment_is_asked_there(run: Any) -> None:
    other = f"tokenizers@{sys.executable}"
    status, printed, _ = run("diff", other, "tokenizers", "--model", "tokenizer.json", "--made", 1)
    assert status == 0
    assert re.fullmatch(rf"A  tokenizers \S+ \({re.escape(other)}\)", printed.splitlines()[0])


def test_the_reference_is_recorded_in_its_own_process(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(self: ReferenceAdapter, *request: object) -> None:
        raise AssertionError("asked in this process")

    monkeypatch.setattr(ReferenceAdapter, "run", crash)
    assert run("record", "reference", *RECORD, "a.ndjson")[0] == 0
    assert "asked in this process" not in Path("a.ndjson").read_text("utf-8")


NEVER = """
import os, time
from tokspec.adapters.reference import ReferenceAdapter

class Never(ReferenceAdapter):
    def run(self, operation, model, input):
        time.sleep(60)

class Dies(ReferenceAdapter):
    def run(self, operation, model, input):
        os._exit(9)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("implementation", "said"),
    [
        ("never:Never", "gave no reply 5 times in a row, the last time timeout: no reply within 0.3 seconds"),
        ("never:Dies", "gave no reply 100 times in a row, the last time crash: exit status 9"),
    ],
)
def test_what_never_answers_is_given_up(recorded: Any, implementation: str, said: str) -> None:
    Path("never.py").write_text(NEVER, "utf-8")
    for command in (("record", implementation, *RECORD[:-1], "-o", "b.ndjson"), ("diff", "a.ndjson", implementation)):
        status, printed, noted = recorded(*command, "--case-seconds", "0.3")
        assert (status, printed, noted) == (2, "", f"tokspec: tokref 0.3.0: {said}\n")


LATE_STREAMS = """\
A  tokfast 0.3.0
B  tokfast 0.3.0 (late:Late)

1. decode_stream: gives the same text later
   inputs    2 (100 %); first texts.txt at 0
   input     decode_stream {"ids": [0], "end": true}
   A         parts: "##s"
   B         parts: ""
                    ^^^^^
   from      texts.txt at 6: "hugs"
   rule      STREAM-3: B differs from the reference
   model     {"type": "wordpiece", "vocabulary": ["##s"]}

A and B differ in 2 (100 %) of 2 inputs, 9 bytes; 0 (0 %) of 8 tokens differ
"""

STREAMS = ("--model", "tokenizer.json", "--select", "decode_stream")
FILES = ("texts.txt", "--only-files")


def test_streams_are_compared_over_files(run: Any) -> None:
    Path("texts.txt").write_text("a bug\nhugs\n\n", "utf-8")
    status, printed, noted = run("diff", "tokfast", "late:Late", *FILES, *STREAMS)
    assert (status, noted) == (1, "")
    assert printed == LATE_STREAMS


def test_a_selection_hides_nothing_of_what_could_not_be_read(run: Any) -> None:
    Path("texts.txt").write_bytes(b"\xff\n")
    asked = ("diff", "tokfast", "tokenizers", *FILES, "--model", "tokenizer.json")
    found = run(*asked)
    assert found[0] == 2
    assert "is not UTF-8" in found[1]
    assert run(*asked, "--select", "encode", "-o", "again") == found


def test_streams_of_texts_are_compared_if_they_are_named(run: Any) -> None:
    status, printed, noted = run("diff", "tokfast", "late:Late", *STREAMS, "--made", "10")
    assert (status, noted) == (1, "")
    assert "1. decode_stream: gives the same text later\n" in printed
    assert "\n2. " not in printed
    assert run("diff", "tokfast", "late:Late", "--model", "tokenizer.json", "--made", "10")[0] == 0


def test_a_stream_is_ended_where_both_can_end_one(run: Any) -> None:
    Path("texts.txt").write_text("hugs\n", "utf-8")
    status, printed, noted = run("diff", "tokenizers", "late:Late", *FILES, *STREAMS)
    assert (status, noted) == (1, "")
    assert "\n1. decode_stream: fewer characters in all parts, at " in printed
    assert '"end"' not in printed


@pytest.mark.parametrize(
    ("sides", "selected", "message"),
    [
        (("tokfast", "late:Late"), "decode", "--select: FILES are compared by encode, or by decode_stream; select one"),
        (("tokfast", "none:Nothing"), "decode_stream", "nothing: does not offer decode_stream"),
        (("none:Nothing", "tokfast"), "decode_stream", "nothing: does not offer encode"),
    ],
)
def test_streams_that_cannot_be_compared_are_refused(
    run: Any, sides: tuple[str, str], selected: str, message: str
) -> None:
    Path("texts.txt").write_text("hugs\n", "utf-8")
    found = run("diff", *sides, *FILES, "--model", "tokenizer.json", "--select", selected)
    assert found == (2, "", f"tokspec: {message}\n")
