"""A finding is set aside where a listed case of its clause and operation fails alike, and for no other reason."""

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
from tokspec.base.paths import specification_folder
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.example import Example
from tokspec.fuzz.findings import Finding, Findings
from tokspec.fuzz.known import known_clauses, mark_known
from tokspec.fuzz.oracle import case_of
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


def finding(clause: str, operation: str, verdict: Verdict, kind: str = "spans", check: str = "reference") -> Finding:
    example = Example(MODEL, operation, {"text": "a"})
    case = case_of(MODEL, (operation, {"text": "a"}), {"expect": {}})
    return Finding(check, clause, kind, example, example, Result(case, verdict, "m", {}))


def marked(*findings: Finding, known: Mapping[tuple[str, str, str], str]) -> list[str]:
    """Return what each finding is known as."""
    all_of_them = Findings()
    for index, each in enumerate(findings):
        all_of_them.add((str(index),), each)
    fresh = mark_known(all_of_them, known)
    assert fresh == [each for each in findings if not each.known]
    return [each.known for each in findings]


def test_a_listed_case_stands_for_its_clauses_operation_and_verdict(tmp_path: Path) -> None:
    file = listed(tmp_path, {"case": ENCODES, "verdict": "fail"}, {"case": DECODES, "verdict": "crash"})
    assert known_clauses(file) == {
        ("BPE-ENC-8", "encode", "fail"): ENCODES,
        ("ENC-3", "encode", "fail"): ENCODES,
        ("ERROR-1", "decode", "crash"): DECODES,
        ("DEC-3", "decode", "crash"): DECODES,
    }


def test_nothing_is_known_without_a_file() -> None:
    assert known_clauses(None) == {}


def test_all_three_count() -> None:
    known = {("ENC-3", "encode", "fail"): "case", ("DEC-3", "decode", "crash"): "other"}
    assert marked(
        finding("ENC-3", "encode", Verdict.FAIL),
        finding("ENC-3", "encode", Verdict.CRASH, "crash"),
        finding("ENC-3", "encode", Verdict.TIMEOUT, "timeout"),
        finding("ENC-3", "encode", Verdict.PROTOCOL, "protocol"),
        finding("ENC-3", "pre_tokenize", Verdict.FAIL),
        finding("ENC-1", "encode", Verdict.FAIL),
        finding("DEC-3", "decode", Verdict.CRASH, "crash"),
        finding("DEC-3", "decode", Verdict.FAIL, "text"),
        known=known,
    ) == ["ENC-3 (case)", "", "", "", "", "", "DEC-3 (other)", ""]


def test_a_property_is_known_by_what_the_oracle_shows() -> None:
    shown = finding("ENC-3", "encode", Verdict.FAIL)
    broken = finding("TERM-1", "encode", Verdict.FAIL, "property", "a property")
    alone = replace(broken, clause="TERM-2")
    broken.oracle = shown
    assert marked(broken, alone, known={("ENC-3", "encode", "fail"): "case"}) == ["ENC-3 (case)", ""]


def test_a_property_of_encoding_that_decoding_breaks_is_known_by_decoding() -> None:
    broken = finding("DEC-BYTE-1", "encode", Verdict.FAIL, "property", "what is encoded is decoded again")
    assert marked(broken, known={("DEC-BYTE-1", "decode", "fail"): "case"}) == ["DEC-BYTE-1 (case)"]


def test_a_model_that_is_not_refused_is_known_for_every_operation(tmp_path: Path) -> None:
    known = known_clauses(listed(tmp_path, {"case": "bpe-model-product-missing", "verdict": "fail"}))
    not_refused = finding("BPE-MODEL-3", "decode", Verdict.FAIL, "not refused as invalid_model")
    assert marked(not_refused, known=known) == ["BPE-MODEL-3 (bpe-model-product-missing)"]


def test_a_refusal_that_is_not_due_is_known_as_another_answer_is() -> None:
    refused = finding("ADDED-2", "encode", Verdict.ERROR, "refused as unknown_symbol")
    assert marked(refused, known={("ADDED-2", "encode", "fail"): "case"}) == ["ADDED-2 (case)"]


def test_what_is_listed_wrongly_is_said(tmp_path: Path) -> None:
    file = listed(tmp_path, {"case": ENCODES, "verdict": "fail"}, {"case": "no-such-case", "verdict": "fail"})
    with pytest.raises(DataError) as caught:
        known_clauses(file)
    assert str(caught.value) == f"{file}:6: no-such-case is no case of the suite"


def test_what_is_listed_past_its_date_is_said(tmp_path: Path) -> None:
    file = listed(tmp_path, {"case": ENCODES, "verdict": "fail", "expires": "2030-12-31"})
    assert list(known_clauses(file, today=date(2030, 12, 31)).values()) == [ENCODES, ENCODES]
    with pytest.raises(DataError) as caught:
        known_clauses(file, today=date(2031, 1, 1))
    assert str(caught.value) == f"{file}:2: {ENCODES} was known until 2030-12-31"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"case": "no-such-case", "verdict": "fail"}, "known.yaml:2: no-such-case is no case of the suite"),
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
    judged = Conversations(lambda: InProcessSession(Gross()))
    campaign = Campaign([Checker(judged)], 1, Budget(examples=600), ("bpe", "unigram"))
    campaign.run()
    fresh = mark_known(campaign.findings, known_clauses(None))
    judged.close()
    assert fresh == list(campaign.findings)
    assert {(each.example.operation, each.kind) for each in fresh} >= {("encode", "spans"), ("encode", "crash")}


def test_a_port_sets_aside_whole_clauses_and_no_others() -> None:
    def clauses(**options: Any) -> set[str]:
        told = differences(Gross, examples=600, seed=1, families=("bpe", "unigram"), **options)
        return {each.split()[0] for each in told}

    named = clauses()
    assert named >= {"ENC-4", "TERM-3"}
    assert clauses(known=["TERM-3"]) == named - {"TERM-3"}


def test_the_table_of_dissents_names_implementations_as_they_name_themselves() -> None:
    table = (specification_folder() / "08-choices.md").read_text("utf-8").partition("## Dissents")[2]
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    matrix = readme.partition("<!-- matrix -->")[2].partition("<!-- end of matrix -->")[0]
    named = {name for cell in re.findall(r"^\| ([^|]+) \| [A-Z]", table, re.MULTILINE) for name in cell.split(", ")}
    assert named - set(re.findall(r"^\| ([^|]+) \|", matrix, re.MULTILINE)) == set()
