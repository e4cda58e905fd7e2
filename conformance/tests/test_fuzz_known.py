"""A finding is excused where a listed case has the same cause, and for no other reason."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.base.files import specification_folder
from tokspec.compare.shrink import Question
from tokspec.fuzz.campaign import Budget, Campaign
from tokspec.fuzz.checker import Checker, Side, case_of
from tokspec.fuzz.components import components_of
from tokspec.fuzz.findings import Finding, Findings, KnownCause, known_causes, mark_known
from tokspec.judge.verdicts import Result, Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.testing import differences

pytestmark = pytest.mark.slow

#: A case about BPE-ENC-8 and ENC-3 that encodes, and one about DEC-3 that decodes.
ENCODES, DECODES = "bpe-unknown-without-token", "error-unknown-id-has-its-reason"

MODEL = {"type": "bpe", "vocabulary": ["a"]}


def listed(folder: Path, *entries: Mapping[str, str]) -> Path:
    lines = ["known_failures:"]
    for entry in entries:
        first, *others = {"digest": "0123456789abcdef", "reason": "known", **entry}.items()
        lines += [f'  - {first[0]}: "{first[1]}"', *(f'    {key}: "{value}"' for key, value in others)]
    file = folder / "known.yaml"
    file.write_text("\n".join([*lines, ""]))
    return file


def finding(
    clauses: str, operation: str, verdict: Verdict, kind: str = "spans", model: Mapping[str, Any] = MODEL
) -> Finding:
    question = Question(model, operation, {"text": "a"})
    found = Finding(question, kind, Result(case_of(question, {"expect": {}}), verdict, "m", {}))
    vars(found)["clauses"] = tuple(clauses.split())
    return found


def cause(clause: str, operation: str, manner: str, model: Mapping[str, Any] = MODEL, case: str = "case") -> KnownCause:
    return KnownCause(case, operation, manner, frozenset([clause]), components_of(model))


def marked(*findings: Finding, known: list[KnownCause]) -> list[str]:
    """Return what each finding is known as."""
    fresh = mark_known(Findings(list(findings)), known)
    assert fresh == [each for each in findings if not each.known]
    return [each.known for each in findings]


def test_a_listed_case_stands_for_how_it_fails_and_what_its_model_has(tmp_path: Path) -> None:
    file = listed(tmp_path, {"case": ENCODES, "verdict": "error"}, {"case": DECODES, "verdict": "crash"})
    first, second = known_causes(file)
    assert (first.case, first.operation, first.manner) == (ENCODES, "encode", "fail")
    assert (first.clauses, first.components) == ({"BPE-ENC-8", "ENC-3"}, {"model/bpe"})
    assert (second.case, second.operation, second.manner) == (DECODES, "decode", "crash")


def test_nothing_is_known_without_a_file() -> None:
    assert known_causes(None) == []


def test_operation_manner_and_clause_count() -> None:
    known = [cause("ENC-3", "encode", "fail"), cause("DEC-3", "decode", "crash", case="other")]
    assert marked(
        finding("ENC-3", "encode", Verdict.FAIL),
        finding("TERM-3 ENC-3", "encode", Verdict.FAIL),
        finding("ENC-3", "encode", Verdict.CRASH, "crash"),
        finding("ENC-3", "encode", Verdict.TIMEOUT, "timeout"),
        finding("ENC-3", "encode", Verdict.PROTOCOL, "protocol"),
        finding("ENC-3", "pre_tokenize", Verdict.FAIL),
        finding("ENC-1", "encode", Verdict.FAIL),
        finding("DEC-3", "decode", Verdict.CRASH, "crash"),
        finding("DEC-3", "decode", Verdict.FAIL, "text"),
        known=known,
    ) == ["ENC-3 (case)", "ENC-3 (case)", "", "", "", "", "", "DEC-3 (other)", ""]


def test_what_needs_more_of_a_model_than_the_case_has_is_another_cause() -> None:
    special = {**MODEL, "special_tokens": ["a"]}
    lowercase = {**MODEL, "normalizer": {"type": "lowercase"}}
    found = [finding("ENC-3", "encode", Verdict.FAIL, "spans", model) for model in (MODEL, special, lowercase)]
    known = [cause("ENC-3", "encode", "fail", special)]
    assert marked(*found, known=known) == ["ENC-3 (case)", "ENC-3 (case)", ""]


def test_a_model_that_is_not_refused_is_known_for_every_operation(tmp_path: Path) -> None:
    known = known_causes(listed(tmp_path, {"case": "bpe-model-product-missing", "verdict": "fail"}))
    not_refused = finding("BPE-MODEL-3", "decode", Verdict.FAIL, "not refused as invalid_model")
    assert marked(not_refused, known=known) == ["BPE-MODEL-3 (bpe-model-product-missing)"]


def test_a_refusal_that_is_not_due_is_known_as_another_answer_is() -> None:
    refused = finding("ADDED-2", "encode", Verdict.ERROR, "refused as unknown_symbol")
    assert marked(refused, known=[cause("ADDED-2", "encode", "fail")]) == ["ADDED-2 (case)"]


def test_what_is_listed_wrongly_is_said(tmp_path: Path) -> None:
    file = listed(tmp_path, {"case": ENCODES, "verdict": "fail"}, {"case": "no-such-case", "verdict": "fail"})
    with pytest.raises(DataError) as caught:
        known_causes(file)
    assert str(caught.value) == f"{file}:6: no-such-case is not a case of the suite"


def test_what_is_listed_past_its_date_is_said(tmp_path: Path) -> None:
    file = listed(tmp_path, {"case": ENCODES, "verdict": "fail", "expires": "2030-12-31"})
    assert [each.case for each in known_causes(file, today=date(2030, 12, 31))] == [ENCODES]
    with pytest.raises(DataError) as caught:
        known_causes(file, today=date(2031, 1, 1))
    assert str(caught.value) == f"{file}:2: {ENCODES} was known until 2030-12-31"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"case": "no-such-case", "verdict": "fail"}, "known.yaml:2: no-such-case is not a case of the suite"),
        (
            {"case": ENCODES, "verdict": "fail", "expires": "2020-01-01"},
            f"known.yaml:2: {ENCODES} was known until 2020-01-01",
        ),
    ],
)
def test_the_command_says_it_in_one_line(tmp_path: Path, entry: Mapping[str, str], message: str) -> None:
    listed(tmp_path, entry)
    command = [sys.executable, "-m", "tokspec", "fuzz", "--impl", "reference", "--known-failures", "known.yaml"]
    done = subprocess.run([*command, "--examples", "9", "--no-database"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tokspec: {message}\n")


class Gross(ReferenceAdapter):
    """By its name one that dissents in spans and in Unigram, says the table; it is grossly wrong in both."""

    def hello(self) -> Hello:
        return replace(super().hello(), name="tokenizers", version="0.23.3")

    def load(self, format: str, content: Any) -> Any:
        return super().load(format, content), content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        loaded, content = model
        result = super().run(operation, loaded, input)
        if operation != "encode":
            return result
        if content.get("type") == "unigram":
            raise RuntimeError("crashed")
        return {**result, "spans": [[0, 1] for _ in result["spans"]]}


def test_a_gross_fault_of_a_dissenting_implementation_is_not_set_aside() -> None:
    judged = Side(lambda: InProcessSession(Gross()))
    campaign = Campaign(Checker(judged), 1, Budget(examples=60), ("bpe", "unigram"))
    campaign.run()
    fresh = mark_known(campaign.findings, known_causes(None))
    judged.close()
    assert fresh == list(campaign.findings)
    assert {(each.question.operation, each.kind) for each in fresh} >= {("encode", "spans"), ("encode", "crash")}


def test_a_port_sets_aside_whole_clauses_and_no_others() -> None:
    def clauses(**options: Any) -> set[str]:
        told = differences(Gross, examples=60, seed=1, families=("bpe", "unigram"), **options)
        return {each.split()[0] for each in told}

    named = clauses()
    assert named >= {"TERM-3"}
    assert clauses(known=["TERM-3"]) == named - {"TERM-3"}


def test_the_table_of_dissents_names_implementations_as_they_name_themselves() -> None:
    table = (specification_folder() / "08-choices.md").read_text("utf-8").partition("## Dissents")[2]
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")
    matrix = page.partition("<!-- effects -->")[2].partition("<!-- end of effects -->")[0].replace("\\_", "_")
    matrix = matrix.replace("<code>@</code>", "@")
    named = {name for cell in re.findall(r"^\| ([^|]+) \| [A-Z]", table, re.MULTILINE) for name in cell.split(", ")}
    assert named - set(re.findall(r"^\| ([^|]+) \|", matrix, re.MULTILINE)) == set()
