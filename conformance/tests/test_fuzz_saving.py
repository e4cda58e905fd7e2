"""What was found is kept: as fixtures that the strict loader reads as they were meant, and as a database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.compare.shrink import Question
from tokspec.fuzz.checker import Comparison, Side, case_of, outcome_of, reference_with
from tokspec.fuzz.findings import Finding, finding_of
from tokspec.fuzz.saving import _trim, read_cases, read_questions, refuse_unwritable, right_by_choice, save
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification
from tokspec.suite.writing import UNVERIFIED

pytestmark = pytest.mark.slow

HOSTILE = [
    "no",
    "12:30",
    "1_000",
    "~",
    "",
    " a ",
    "a\nb\r\n\t",
    "\x00\x7f\x85\u2028\ufeff",
    'quoted "\\" and \'',
    "\ud800",
    "a\udfffb",
    "\U0001f44b\u200d\U000e0067",
    "{a: [b]}",
    "# no comment",
    "- a",
    "é\u0301\u202e",
    "\u0e31",
]


def finding(model: dict[str, Any], operation: str, input: dict[str, Any], clause: str = "ENC-1") -> Finding:
    question = Question(model, operation, input)
    case = case_of(question, {"expect": {}})
    result = Result(case, Verdict.FAIL, "wrong answer", {"expect": {}}, Answer({"tokens": ["é"]}))
    found = finding_of(question, Comparison("differs", "tokens", result))
    vars(found)["clauses"] = (clause,)
    return found


def right(found: Finding) -> dict[str, Any]:
    question = found.question
    ((reply,),) = Side(lambda: reference_with({})).ask(question.model, [(question.operation, question.input)])
    return dict(outcome_of(reply))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_read_as_they_were_meant(text: str, tmp_path: Path) -> None:
    vocabulary = list(dict.fromkeys(["[UNK]", text, "a"]))
    found = finding({"type": "bpe", "vocabulary": vocabulary, "unknown_token": "[UNK]"}, "encode", {"text": text})
    file = save(found, tmp_path, "mytok 1", right(found))
    (case,) = load_suite(tmp_path).cases.values()
    assert (case.model.content, case.operation, case.input) == (found.question.model, "encode", {"text": text})
    assert case.outcome == _trim(right(found), ("tokens", "ids", "spans"))
    assert file.name == f"{case.id}.yaml"


def test_a_saved_finding_says_loudly_that_nobody_verified_it(tmp_path: Path) -> None:
    found = finding({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "a"}, "BPE-ENC-1")
    file = save(found, tmp_path, "mytok 1", right(found))
    assert (
        file.read_text("utf-8")
        == f'''\
about: "Found by tokspec fuzz; not verified yet. {load_specification().clauses["BPE-ENC-1"].text}"
source:
  - rule: "mytok 1 was found to answer differently from the reference."
cases:
  - id: "{file.stem}"
    clauses: ["BPE-ENC-1"]
    why: "NOT VERIFIED: mytok 1 gives the tokens [\\"é\\"]. Say here what the case shows."
    model:
      type: "bpe"
      vocabulary: ["a"]
    operation: "encode"
    input: {{text: "a"}}
    expect: {{tokens: ["a"], ids: [0], spans: [[0, 1]]}}
    tags: ["unverified"]
    verified_by: ["{UNVERIFIED}"]
'''
    )
    assert file.stem.startswith("fuzz-bpe-enc-1-")


@pytest.mark.parametrize(
    ("model", "operation", "input"),
    [
        ({}, "normalize", {"text": "a"}),
        (
            {"type": "unigram", "tokens": [["a", -1e-05], ["b", 2.5e-07]], "weights": "log_probability"},
            "encode",
            {"text": "a"},
        ),
        ({"type": "bpe", "vocabulary": ["a", "a"]}, "encode", {"text": "a"}),
        ({"type": "bpe"}, "train", {"corpus": {"words": [["ab", 2**32 + 1]]}, "merge_count": 1}),
        ({"decoder": {"type": "byte_level"}}, "decode", {"tokens": ["Ġ", ""]}),
        ({"pre_tokenizer": {"type": "sequence", "pre_tokenizers": []}}, "pre_tokenize", {"text": ""}),
        ({"normalizer": {"type": "bert", "strip_accents": None, "clean_text": False}}, "normalize", {"text": "É"}),
    ],
)
def test_models_of_every_shape_are_read_as_they_were_meant(
    model: dict[str, Any], operation: str, input: dict[str, Any], tmp_path: Path
) -> None:
    found = finding(model, operation, input)
    save(found, tmp_path, "mytok 1", right(found))
    assert read_questions(tmp_path) == [Question(model, operation, input)]


def test_the_outcome_is_given_for_every_option_on_which_it_depends(tmp_path: Path) -> None:
    found = finding({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "ab"})

    save(found, tmp_path, "mytok 1", right_by_choice(found.question, found.kind))
    (case,) = load_suite(tmp_path).cases.values()
    a = {"tokens": ["a"], "ids": [0], "spans": [[0, 1]]}
    assert case.outcome == {
        "by_choice": {
            "bpe_unknown_without_token": {
                "error": {"error": "unknown_symbol"},
                "dropped_before_merging": {"expect": a},
                "dropped_after_merging": {"expect": a},
                "kept": {"expect": {"tokens": ["a", "b"], "ids": [0, None], "spans": [[0, 1], [1, 2]]}},
            }
        }
    }


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file/found: cannot be created: Not a directory"):
        save(finding({}, "normalize", {"text": "a"}), tmp_path / "file" / "found", "mytok 1", {"expect": {"text": "a"}})


def test_a_folder_is_looked_at_before_there_is_anything_to_write(tmp_path: Path) -> None:
    refuse_unwritable(tmp_path / "not" / "there" / "yet")
    assert not (tmp_path / "not").exists()
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "found"):
        with pytest.raises(DataError) as raised:
            refuse_unwritable(folder)
        assert str(raised.value) == f"{tmp_path}/file: is not a folder; give another one for what is found"


def test_what_else_a_folder_holds_is_not_read_for_each_finding(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("cases: 3")
    file = save(finding({}, "normalize", {"text": "a"}), tmp_path, "mytok 1", {"expect": {"text": "a"}})
    assert file.exists()
    with pytest.raises(DataError) as raised:
        read_cases(tmp_path)
    said = (
        "contains something that is not a fixture: mine.yaml:1: lacks the key about; correct it, or give another folder"
    )
    assert str(raised.value) == f"{tmp_path}: {said}"


def test_what_does_not_read_as_it_was_meant_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        save(finding({}, "normalize", {"text": "a"}), tmp_path / "found", "mytok 1", {"expect": {}})
    assert not (tmp_path / "found").exists()


def test_a_saved_finding_names_who_gave_the_answer(tmp_path: Path) -> None:
    found = finding({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "a"})
    file = save(found, tmp_path, "mytok 1", right(found), "othertok 2")
    assert '  - rule: "mytok 1 was found to answer differently from othertok 2."\n' in file.read_text("utf-8")


def test_all_equally_probable_segmentations_are_right_where_any_is() -> None:
    tokens = [["a", -1.0], ["b", -1.0], ["ab", -2.0]]
    model = {"type": "unigram", "tokens": tokens, "weights": "log_probability"}
    expected = {"expect": {"tokens": ["ab"], "ids": [2], "spans": [[0, 2]]}}
    apart = {"tokens": ["a", "b"], "ids": [0, 1], "spans": [[0, 1], [1, 2]]}
    assert right_by_choice(Question(model, "encode", {"text": "ab"})) == {
        "by_choice": {"unigram_tie": {"any": {"one_of": [apart, expected["expect"]]}, "earliest_start": expected}}
    }


def test_what_nobody_verified_is_no_case_of_the_suite() -> None:
    cases = load_suite().cases.values()
    assert [case.id for case in cases if any(how.startswith("unverified") for how in case.verified_by)] == []


@pytest.mark.parametrize(
    ("reply", "verdict", "detail", "said"),
    [
        (Refused("unknown_symbol", "?"), Verdict.ERROR, "refused", "refuses it as unknown_symbol"),
        (Fault("crash", "killed"), Verdict.CRASH, "killed by SIGABRT", "ends with crash: killed by SIGABRT"),
        (Answer({"tokens": ["a" * 300]}), Verdict.FAIL, "", f'gives the tokens ["{"a" * 198} …'),
    ],
)
def test_a_saved_finding_says_what_was_answered(
    reply: Reply, verdict: Verdict, detail: str, said: str, tmp_path: Path
) -> None:
    found = finding({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "a"})
    found.result = replace(found.result, reply=reply, verdict=verdict, detail=detail)
    save(found, tmp_path, "mytok 1", right(found))
    (case,) = load_suite(tmp_path).cases.values()
    assert case.why == f"NOT VERIFIED: mytok 1 {said}. Say here what the case shows."


def test_a_saved_case_of_a_pair_asks_the_field_that_differs(tmp_path: Path) -> None:
    model = {"type": "bpe", "vocabulary": ["a"]}
    question = Question(model, "encode", {"text": "a", "pair": "a"})
    right = right_by_choice(question, "type_ids")
    assert right == {
        "expect": {
            "tokens": ["a", "a"],
            "ids": [0, 0],
            "spans": [[0, 1], [0, 1]],
            "type_ids": [0, 1],
            "sequence_ids": [0, 1],
        }
    }
    found = finding(model, "encode", question.input)
    vars(found)["kind"] = "type_ids"
    save(found, tmp_path, "mytok 1", right)
    (case,) = load_suite(tmp_path).cases.values()
    assert list(case.outcome["expect"]) == ["tokens", "ids", "spans", "type_ids", "sequence_ids"]
