"""``tokspec freeze``, ``check`` and ``compare``, as a user meets them."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tokspec.packs.reading import read_pack

pytestmark = pytest.mark.slow

#: Packs of each version of their format, as they were made when it was new, with the model that they were made with. The
#: second was made of ``WRONG``, and without a vocabulary.
DATA = Path(__file__).parent / "data" / "packs"

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


@pytest.fixture
def run(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run in an empty folder, with a copy of the data."""
    for file in DATA.iterdir():
        shutil.copy(file, tmp_path)
    (tmp_path / "wrong.py").write_text(WRONG, "utf-8")
    monkeypatch.chdir(tmp_path)
    return run


def test_a_pack_of_an_earlier_version_is_read_and_holds_whoever_conforms(run: Any) -> None:
    assert run("check", "pack-1.yaml.gz") == (
        0,
        "pack-1.yaml.gz: what tokenizers 0.23.3 made of 634 texts with tokenizer.json\n\n"
        "operation     same  different  fault  unsupported\n"
        "pre_tokenize   634          ·      ·            ·\n"
        "encode         634          ·      ·            ·\n"
        "decode         634          ·      ·            ·\n\n"
        "tokref 0.1.0 agrees with the pack: of 634 texts 0 (0 %) differ, of 8503 tokens 0 (0 %)\n",
        "",
    )


def test_a_pack_has_what_was_answered_wrongly_and_not_at_all(run: Any) -> None:
    same = ("check", "pack-2.yaml.gz", "--impl", "wrong:Wrong")
    assert run(*same) == (
        0,
        "pack-2.yaml.gz: what tokref 0.1.0 made of 444 texts with tokenizer.json\n\n"
        "operation     same  different  fault  unsupported\n"
        "normalize      444          ·      ·            ·\n"
        "pre_tokenize   444          ·      ·            ·\n"
        "encode         444          ·      ·            ·\n"
        "decode         444          ·      ·            ·\n\n"
        "tokref 0.1.0 agrees with the pack: of 444 texts 0 (0 %) differ, of 7903 tokens 0 (0 %)\n",
        "",
    )
    status, printed, _ = run("check", "pack-2.yaml.gz", "--show", 1)
    assert (status, printed.split("\n\n")[1].splitlines()) == (
        1,
        [
            "DIFFERENT decode: answers where the pack has a crash",
            "  texts     50 (11.3 %), 1 (0.0127 %) of tokens: 14 in texts/marks, 12 in texts/scripts, 7 in "
            "special_tokens, 6 in texts/white_space and 3 more sections",
            "  text      'ệ ờ ặ'",
            "  input     decode [1, 1, 1]",
            '  expected  {"fault": "crash"}',
            "  problem   answers where the pack has a crash",
            '  actual    {"text": "[UNK] [UNK] [UNK]"}',
            "  from      texts/marks:vietnamese-composed, pack-2.yaml.gz:146",
        ],
    )


def test_who_made_a_pack_agrees_with_it_in_another_process_too(run: Any) -> None:
    status, printed, _ = run("check", "pack-1.yaml.gz", "--impl", "tokenizers")
    assert (status, printed.splitlines()[-1].partition(" ")[0]) == (0, "tokenizers")


def test_the_same_is_frozen_as_the_same_bytes_whatever_the_folder(run: Any, tmp_path: Path) -> None:
    Path("mine.txt").write_text("a bug\n\nthe café\n", "utf-8")
    Path("elsewhere").mkdir()
    shutil.copy("mine.txt", "elsewhere/mine.txt")
    arguments = ("freeze", "--model", "tokenizer.json", "--made", 10, "-o")
    assert run(*arguments, "one.yaml", "--inputs", "mine.txt")[0] == 0
    assert run(*arguments, "two.yaml", "--inputs", tmp_path / "elsewhere" / "mine.txt")[0] == 0
    assert Path("one.yaml").read_bytes() == Path("two.yaml").read_bytes()
    assert str(tmp_path) not in Path("one.yaml").read_text("utf-8")
    texts = {record.input.place: record.input.text for record in read_pack(Path("one.yaml")).records()}
    assert {place: text for place, text in texts.items() if place.startswith("inputs/")} == {
        "inputs/mine.txt:1": "a bug",
        "inputs/mine.txt:2": "",
        "inputs/mine.txt:3": "the café",
    }


def test_what_is_no_text_is_told_and_left_out(run: Any) -> None:
    Path("mine.jsonl").write_text('{"body": "a bug"}\n{"text": 3}\nnot json\n', "utf-8")
    arguments = ("freeze", "--model", "tokenizer.json", "--no-vocabulary", "-o", "pack.yaml", "--field", "body")
    status, printed, noted = run(*arguments, "--inputs", "mine.jsonl")
    told = "mine.jsonl: 2 records are no texts and were left out, first mine.jsonl:2: has no field body; it has text"
    assert (status, noted) == (0, f"{told} (at byte 18)\n")
    assert re.fullmatch(
        r"pack\.yaml: what tokref 0\.1\.0 makes of \d+ texts, \d+ tokens with tokenizer\.json; \d\.\d MB\n", printed
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("freeze", "--model", "none.json", "-o", "p"), "none.json: cannot be read: No such file or directory"),
        (("freeze", "--model", "wrong.py", "-o", "p"), "wrong.py: does not say by its name what it is; give --format"),
        (("freeze", "--model", "empty.json", "-o", "p"), "empty.json: is no tokenizer.json: it has no object model"),
        (("freeze", "--model", "tokenizer.json", "-o", "p", "--inputs", "no"), "no: --inputs: is not there"),
        (
            ("freeze", "--model", "tokenizer.json", "-o", "p", "--add-special-tokens"),
            "reference: adds no special tokens of post-processors, as far as its adapter knows; leave out "
            "--add-special-tokens",
        ),
        (
            ("freeze", "--model", "tokenizer.json", "-o", "tokenizer.json"),
            "tokenizer.json: --output: is what --model names, and would be replaced; give another",
        ),
        (
            ("freeze", "--model", "tokenizer.json", "--inputs", "wrong.py", "-o", "./wrong.py"),
            "wrong.py: --output: is what --inputs names, and would be replaced; give another",
        ),
        (
            ("freeze", "--model", "tokenizer.json", "-o", "p", "--inputs", "pack-1.yaml.gz"),
            "pack-1.yaml.gz: --inputs: is a pack, whose lines are no texts of yours\n",
        ),
        (
            ("freeze", "--model", "tokenizer.json", "-o", "alone"),
            "alone: --output: is a folder; give the name of the pack in it",
        ),
        (
            ("compare", "pack-1.yaml.gz", "reference", "--inputs", "wrong.py"),
            "--inputs is for two implementations; the texts are those of the pack; see tokspec compare --help",
        ),
        (("freeze", "--model", "split.json", "-o", "p"), "tokref 0.1.0: answers no text: unsupported: split.json is a"),
        (("check", "none.yaml"), "none.yaml: cannot be read: No such file or directory"),
        (("check", "wrong.py"), "wrong.py:1: is no pack: it does not begin with tokspec_pack"),
        (("check", "pack-1.yaml.gz", "--select", "fly"), "--select: 'fly' matches no case"),
        (("check", "alone/pack-1.yaml.gz"), "alone/pack-1.yaml.gz: model: was made with tokenizer.json (sha256 "),
        (("compare", "reference", "no-such"), "no-such: is not installed; "),
        (("compare", "reference@nowhere", "reference"), "nowhere: is no environment: it has neither bin/python nor"),
    ],
)
def test_what_is_wrong_is_one_line(run: Any, arguments: tuple[str, ...], message: str) -> None:
    Path("empty.json").write_text("{}")
    Path("alone").mkdir()
    shutil.copy("pack-1.yaml.gz", "alone")
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    model["pre_tokenizer"] = {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False}
    Path("split.json").write_text(json.dumps(model))
    if "alone/pack-1.yaml.gz" in arguments:
        Path("tokenizer.json").unlink()
    status, printed, noted = run(*arguments)
    assert (status, printed, noted.count("\n")) == (2, "", 1)
    assert noted.startswith(f"tokspec: {message}")


def test_differences_are_grouped_by_their_cause(run: Any) -> None:
    status, printed, _ = run("check", "pack-1.yaml.gz", "--impl", "wrong:Wrong", "--show", 1)
    assert status == 1
    first, *_ = printed.split("\n\n")[1:]
    assert first.splitlines()[0] == "DIFFERENT decode: crash: RuntimeError: three is too many (wrong.py:9 in run)"
    assert re.search(r"^… and \d+ more causes?; --show \d+ shows them all$", printed, re.MULTILINE)
    assert re.search(r"^decode +\d+ +· +(\d+) +·$", printed, re.MULTILINE)
    assert printed.splitlines()[-1].startswith("tokref 0.1.0 does not agree with the pack: of 634 texts ")


def test_the_shortest_example_of_a_cause_is_shown_with_its_place(run: Any) -> None:
    status, printed, _ = run("check", "pack-1.yaml.gz", "--impl", "wrong:Wrong", "--select", "encode/texts/white_space")
    assert status == 1
    assert "DIFFERENT encode: " in printed
    assert re.search(r"^  from      texts/white_space:\S+, pack-1\.yaml\.gz:\d+$", printed, re.MULTILINE)
    assert re.search(r'^  input     encode "[^\n]*\\\\?t', printed, re.MULTILINE)


def test_known_failures_count_as_for_a_run(run: Any) -> None:
    arguments = (
        "check",
        "pack-1.yaml.gz",
        "--impl",
        "wrong:Wrong",
        "--select",
        "encode",
        "--known-failures",
        "known.yaml",
    )
    assert run(*arguments, "--update-known-failures")[0] == 0
    text = Path("known.yaml").read_text("utf-8")
    assert "encode/texts/white_space" in text
    status, printed, _ = run(*arguments)
    assert status == 0
    assert printed.splitlines()[-1].startswith("tokref 0.1.0 agrees with the pack but for what is known: of 634 texts ")
    status, printed, _ = run(*(each if each != "wrong:Wrong" else "reference" for each in arguments))
    assert status == 1
    (told,) = [line for line in printed.splitlines() if " listed as failing" in line]
    assert re.fullmatch(r"\d+ listed as failing, and the same: encode/\S+(, encode/\S+)*", told)


def test_reports_are_those_of_a_run(run: Any) -> None:
    arguments = ("check", "pack-1.yaml.gz", "--impl", "wrong:Wrong", "--report", "r.ndjson", "--junit", "j.xml")
    assert run(*arguments)[0] == 1
    status, printed, noted = run("report", "r.ndjson")
    assert (status, noted) == (1, "")
    assert "FAIL encode/texts/white_space" in printed
    names = {case.get("name") for case in ElementTree.parse("j.xml").iter("testcase")}
    assert {"encode/texts/white_space", "decode/special_tokens", "pre_tokenize/vocabulary/alone"} <= names


def test_another_model_is_said_first(run: Any) -> None:
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    model["model"]["max_input_chars_per_word"] = 5
    del model["model"]["vocab"]["##ta"]
    Path("other.json").write_text(json.dumps(model))
    status, printed, _ = run("check", "pack-1.yaml.gz", "--impl", "tokenizers", "--model", "other.json", "--show", 0)
    assert status == 1
    said = printed.split("\n\n")[0].splitlines()
    assert said[1:] == [
        "  the model is another file: other.json, and the pack was made with tokenizer.json",
        "  other vocabulary: 70 tokens in the pack, 69 here",
        "  its merges are the same: 0 merges",
        "  model.max_input_chars_per_word: 100 in the pack, 5 here",
    ]


def test_a_pack_of_a_later_version_says_so(run: Any) -> None:
    text = gzip.decompress(Path("pack-1.yaml.gz").read_bytes()).decode()
    Path("pack.yaml").write_text(text, "utf-8", newline="")
    assert run("check", "pack.yaml", "--select", "encode/texts/emoji")[0] == 0
    Path("pack.yaml").write_text(text.replace("tokspec_pack: 1", "tokspec_pack: 7"), "utf-8", newline="")
    assert run("check", "pack.yaml") == (
        2,
        "",
        "tokspec: pack.yaml:1: tokspec_pack: is of version 7 of the format, and this suite reads 1 and 2; "
        "use the version of tokspec that made it, or freeze again\n",
    )


def test_a_model_that_changed_in_its_place_is_said_first(run: Any) -> None:
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    model["model"]["max_input_chars_per_word"] = 5
    Path("tokenizer.json").write_text(json.dumps(model))
    status, printed, _ = run("check", "pack-1.yaml.gz", "--impl", "tokenizers", "--show", 0)
    assert (status, printed.split("\n\n")[0].splitlines()[1:]) == (
        1,
        [
            "  the model is another file: tokenizer.json, and the pack was made with tokenizer.json",
            "  its vocabulary is the same: 70 tokens",
            "  its merges are the same: 0 merges",
            "  model.max_input_chars_per_word: 100 in the pack, 5 here",
        ],
    )
    made_with = (
        "was made with tokenizer.json (sha256 23eb29f3d8cb…), and what has that name now is another; give --model"
    )
    status, _, noted = run("compare", "pack-1.yaml.gz", "tokenizers")
    assert (status, noted) == (2, f"tokspec: pack-1.yaml.gz: model: {made_with}\n")


def test_special_tokens_of_a_post_processor_are_asked_for_if_they_are_recorded(run: Any) -> None:
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    unknown = {"id": "[UNK]", "type_id": 0}
    model["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": unknown}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"[UNK]": {"id": "[UNK]", "ids": [1], "tokens": ["[UNK]"]}},
    }
    Path("adding.json").write_text(json.dumps(model))
    arguments = ("--impl", "tokenizers", "--model", "adding.json", "--no-vocabulary", "--add-special-tokens")
    assert run("freeze", *arguments, "-o", "added.yaml")[0] == 0
    assert run("freeze", *arguments[:-1], "-o", "plain.yaml")[0] == 0
    assert run("check", "added.yaml", "--impl", "tokenizers")[0] == 0
    assert run("compare", "added.yaml", "tokenizers")[0] == 0
    assert run("compare", "tokenizers", "added.yaml")[0] == 0
    status, printed, _ = run("compare", "plain.yaml", "added.yaml")
    assert (status, printed.splitlines()[3:5]) == (
        1,
        ["model:", "  special tokens of post-processors: not added in A, added in B"],
    )
    assert "DIFFERENT encode: more tokens at the start: '[UNK]'\n" in printed
    status, printed, _ = run("check", "added.yaml", "--show", 0)
    assert (status, printed.splitlines()[1]) == (
        1,
        "  it has the special tokens that a post-processor adds, and tokref is asked as it is",
    )
    status, printed, _ = run("compare", "added.yaml", "reference", "--show", 0)
    assert (status, printed.splitlines()[1]) == (
        1,
        "B  tokref 0.1.0 (reference), asked as it is: whether it adds special tokens is its own",
    )


def test_packs_are_compared(run: Any) -> None:
    arguments = ("--model", "tokenizer.json", "--made", 5, "-o")
    assert run("freeze", *arguments, "one.yaml")[0] == 0
    assert run("freeze", "--impl", "tokenizers", *arguments, "two.yaml.gz")[0] == 0
    assert run("freeze", "--impl", "wrong:Wrong", *arguments, "three.yaml")[0] == 0
    status, printed, _ = run("compare", "one.yaml", "two.yaml.gz")
    assert (status, printed.splitlines()[-1]) == (0, "nothing changed")
    status, printed, _ = run("compare", "two.yaml.gz", "three.yaml")
    assert (status, printed.splitlines()[-1]) == (1, "something changed")
    assert "DIFFERENT encode" in printed
    status, printed, _ = run("compare", "two.yaml.gz", "reference")
    assert (status, printed.splitlines()[-1]) == (0, "nothing changed")
    status, printed, _ = run("compare", "wrong:Wrong", "one.yaml")
    assert (status, printed.splitlines()[-1]) == (1, "something changed")


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


def test_who_answers_nothing_agrees_with_nobody(run: Any) -> None:
    Path("none.py").write_text(NOTHING, "utf-8")
    status, printed, _ = run("check", "pack-2.yaml.gz", "--impl", "none:Nothing")
    assert (status, printed.splitlines()[-2:]) == (
        1,
        [
            "no case passed, and a run that shows nothing is not a pass",
            "nothing 1 does not agree with the pack: of 444 texts 0 (0 %) differ, of 7903 tokens 0 (0 %)",
        ],
    )
    status, _, noted = run("compare", "pack-2.yaml.gz", "none:Nothing")
    who = "nothing 1 (none:Nothing): answers nothing of what pack-2.yaml.gz: tokref 0.1.0 does"
    assert (status, noted) == (2, f"tokspec: {who}: no text was compared\n")


def test_implementations_are_compared_over_the_fixtures_and_over_texts(run: Any) -> None:
    status, printed, _ = run("compare", "reference", "wrong:Wrong", "--model", "tokenizer.json", "--made", 5)
    assert status == 1
    lines = printed.splitlines()
    assert lines[:2] == ["A  tokref 0.1.0 (reference)", "B  tokref 0.1.0 (wrong:Wrong)"]
    assert "model:" in lines
    assert "  the same" in lines
    assert any(re.fullmatch(r"  \d+ answered otherwise:", line) for line in lines)


def test_an_implementation_in_another_environment_is_asked_there(run: Any) -> None:
    status, printed, _ = run(
        "compare", f"tokenizers@{sys.executable}", "tokenizers", "--model", "tokenizer.json", "--made", 1
    )
    lines = printed.splitlines()
    assert (status, lines[-1]) == (0, "nothing changed")
    assert re.fullmatch(rf"A  tokenizers \S+ \(tokenizers@{re.escape(sys.executable)}\)", lines[0])


def test_models_are_compared(run: Any) -> None:
    model = json.loads(Path("tokenizer.json").read_text("utf-8"))
    vocab = model["model"]["vocab"]
    vocab["zzz"] = vocab.pop("##ta")
    vocab["a"], vocab["b"] = vocab["b"], vocab["a"]
    model["model"]["max_input_chars_per_word"] = 5
    Path("other.json").write_text(json.dumps(model))
    status, printed, _ = run(
        "compare",
        "tokenizers",
        "tokenizers",
        "--model",
        "tokenizer.json",
        "--other-model",
        "other.json",
        "--no-fixtures",
    )
    assert status == 1
    block = printed.split("model:\n")[1].split("\n\n")[0].splitlines()
    assert block == [
        '  vocabulary: 1 token is gone: "##ta"',
        '  vocabulary: 1 token is new: "zzz"',
        f'  ids: 2 tokens have others: "a" {vocab["b"]} → {vocab["a"]}, "b" {vocab["a"]} → {vocab["b"]}',
        "  settings: model.max_input_chars_per_word: 100 → 5",
    ]
