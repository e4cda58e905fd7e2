"""The chapters, the fixtures and the reference agree with each other; a chapter that is wrong is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import DataError
from tokspec.base.files import specification_folder
from tokspec.quality.coverage import coverage, functions_by_clause
from tokspec.suite import specification
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import Choice, Clause, Erratum, load_specification

SPECIFICATION = load_specification()
CASES = load_suite().cases

#: Clauses of which no case can ask: they bind the harness, or how a program speaks, whatever it is asked.
WITHOUT_CASES = {"TERM-5", "PROTO-1", "PROTO-2", "PROTO-3", "PROTO-6", "PROTO-7"}

#: Clauses of which no function of the reference can speak, for it knows nothing of the harness.
WITHOUT_FUNCTIONS = WITHOUT_CASES - {"PROTO-7"}

#: What no case resolves by option: the harness converts the unit itself, and an input replaced where scores start.
WITHOUT_OPTIONS = {"offset_unit", "unigram_score_start"}


def options(outcome: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for choice, outcomes in outcome.get("by_choice", {}).items():
        for option, inner in outcomes.items():
            yield choice, option
            yield from options(inner)


def test_the_ids_of_a_family_stand_together_and_count_from_1() -> None:
    clauses = SPECIFICATION.clauses.values()
    groups = groupby(clauses, lambda clause: (clause.chapter, clause.id.rpartition("-")[0]))
    families = [(family, [int(clause.id.rpartition("-")[2]) for clause in members]) for family, members in groups]
    assert families == [(family, list(range(1, len(numbers) + 1))) for family, numbers in families]
    assert len(dict(families)) == len(families)


@pytest.mark.parametrize("chapter", sorted({clause.chapter for clause in SPECIFICATION.clauses.values()}))
def test_a_clause_is_one_rule_with_its_level_and_source(chapter: str) -> None:
    lines = (specification_folder() / f"{chapter}.md").read_text("utf-8").splitlines()
    for clause in (each for each in SPECIFICATION.clauses.values() if each.chapter == chapter):
        assert re.fullmatch(r"[A-Z]+(-[A-Z]+)?-[1-9][0-9]*", clause.id)
        assert clause.level in ("MUST", "SHOULD", "MAY", "RETIRED")
        assert clause.text.endswith("."), clause.id
        assert clause.source.endswith("."), clause.id
        assert lines[clause.line - 1] == f"### {clause.id} ({clause.level})"


def test_every_clause_that_must_hold_has_a_case() -> None:
    without = {row.clause.id for row in coverage(load_suite(), {}) if row.clause.level == "MUST" and not row.cases}
    assert without == WITHOUT_CASES


def test_every_clause_that_a_case_names_is_live() -> None:
    live = {clause.id for clause in SPECIFICATION.clauses.values() if clause.level != "RETIRED"}
    assert {name for case in CASES.values() for name in case.clauses} - live == set()


def test_every_clause_that_must_hold_is_claimed_by_the_reference() -> None:
    functions = functions_by_clause()
    rows = coverage(load_suite(), functions)
    assert {row.clause.id for row in rows if row.clause.level == "MUST" and not row.functions} == WITHOUT_FUNCTIONS
    assert functions.keys() - SPECIFICATION.clauses.keys() == set()


def test_every_option_is_asked_for_by_a_case() -> None:
    known = {(choice.name, option) for choice in SPECIFICATION.choices.values() for option in choice.options}
    asked = {pair for case in CASES.values() for question in case.questions for pair in options(question.outcome)}
    assert asked - known == set()
    assert {choice for choice, _ in known - asked} == WITHOUT_OPTIONS


def test_every_link_to_a_choice_or_an_erratum_leads_somewhere() -> None:
    texts = [file.read_text("utf-8") for file in sorted(specification_folder().glob("*.md"))]
    links = [
        link for text in texts for link in re.findall(r"\[`?([\w-]+)`?\]\((08-choices|errata)\.md#([\w-]+)\)", text)
    ]
    known = SPECIFICATION.choices.keys() | {"choice"} | SPECIFICATION.errata.keys()
    assert [link for link in links if link[2].replace("e-", "E-") not in known | {"dissents"}] == []
    assert {target for _, file, target in links if file == "08-choices"} >= SPECIFICATION.choices.keys()
    assert [link for link in links if link[0] not in (link[2], link[2].upper(), "Dissents")] == []


@pytest.mark.parametrize("choice", SPECIFICATION.choices.values(), ids=lambda choice: choice.name)
def test_a_choice_asks_a_question_and_its_default_is_an_option(choice: Choice) -> None:
    assert re.fullmatch(r"[A-Z].+\.", choice.question)
    assert choice.default in choice.options
    assert SPECIFICATION.defaults()[choice.name] == choice.default
    assert all(choice.options.values())


@pytest.mark.parametrize("erratum", SPECIFICATION.errata.values(), ids=lambda erratum: erratum.id)
def test_an_erratum_says_where_what_and_why(erratum: Erratum) -> None:
    assert list(erratum.fields) == ["where", "stated", "right", "why"]
    assert all(erratum.fields.values())


def test_the_errata_count_from_1() -> None:
    assert list(SPECIFICATION.errata) == [f"E-{number}" for number in range(1, len(SPECIFICATION.errata) + 1)]


def test_the_reasons_and_the_documents() -> None:
    reasons = ("unknown_symbol", "no_segmentation", "unknown_id", "invalid_model", "invalid_input", "unsupported")
    assert SPECIFICATION.reasons == reasons
    assert dict(SPECIFICATION.documents) == {
        "course-unigram": '"Unigram tokenization", section 7 of chapter 6 of Hugging Face\'s course',
        "course-bpe": '"Byte-Pair Encoding tokenization", section 5 of chapter 6 of Hugging Face\'s course',
        "course-unigram-thai": '"Unigram tokenization", the Thai translation of course-unigram',
        "notebook-unigram": '"Unigram Tokenization", a notebook',
        "notebook": "a notebook on normalization, pre-tokenization, BPE, WordPiece and Unigram",
    }


CLAUSE = "### BPE-ENC-1 (MUST)\n\nA piece is split.\nSee [there](x.md).\n\nSource: bpe.\n"

CHOICE = """\
### unknown_id

What becomes of it.

| option | rule | taken by |
| --- | --- | --- |
| `error` (default) | refused | us |
| `skipped` | nothing | them |
"""

ERRATUM = "### E-1\n\n- Where: bpe\n- Stated: 5\n- Right: 17,\n  as listed\n- Why: 5 is another\n"


def load(monkeypatch: pytest.MonkeyPatch, folder: Path, chapters: Mapping[str, str]) -> specification.Specification:
    needed = {
        "00-terms.md": "| name | what it is |\n| --- | --- |\n| `bpe` | a chapter |\n",
        "09-errors.md": "| reason | when |\n| --- | --- |\n| `unknown_symbol` | x |\n",
    }
    for name, text in {**needed, **chapters}.items():
        (folder / name).write_text(text, "utf-8")
    monkeypatch.setattr(specification, "specification_folder", lambda: folder)
    return load_specification.__wrapped__()


def test_small_chapters_are_read_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chapters = {"04-bpe.md": f"# BPE\n\n{CLAUSE}\n## More\n\nText.\n", "08-choices.md": CHOICE, "errata.md": ERRATUM}
    assert load(monkeypatch, tmp_path, chapters) == specification.Specification(
        clauses={"BPE-ENC-1": Clause("BPE-ENC-1", "MUST", "A piece is split. See there.", "bpe.", "04-bpe", 3)},
        choices={"unknown_id": Choice("unknown_id", "What becomes of it.", {"error": "refused", "skipped": "nothing"}, "error")},
        reasons=("unknown_symbol",),
        documents={"bpe": "a chapter"},
        errata={"E-1": Erratum("E-1", {"where": "bpe", "stated": "5", "right": "17, as listed", "why": "5 is another"})},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chapter", "text", "message"),
    [
        ("04-bpe", "# BPE\n\n### Merges\n", "3: Merges: is not a clause, choice or erratum"),
        ("04-bpe", "### bpe-enc-1 (MUST)\n", "1: bpe-enc-1 (MUST): is not a clause, choice or erratum"),
        ("04-bpe", CLAUSE.replace("MUST", "SHALL"), "1: BPE-ENC-1 (SHALL): needs a level, a rule and a line 'Source: …'"),
        ("04-bpe", CLAUSE.replace("Source: ", "From "), "1: BPE-ENC-1 (MUST): needs a level, a rule and a line 'Source: …'"),
        ("04-bpe", "### BPE-ENC-1 (MUST)\n\nSource: bpe.\n", "1: BPE-ENC-1 (MUST): needs a level, a rule and a line 'Source: …'"),
        ("04-bpe", "### BPE-ENC-1 (MUST)\n", "1: BPE-ENC-1 (MUST): needs a level, a rule and a line 'Source: …'"),
        ("04-bpe", CLAUSE + "\n" + CLAUSE, "8: BPE-ENC-1: is defined twice; ids are never used again"),
        ("08-choices", CHOICE.replace(" (default)", ""), "1: unknown_id: needs two options or more, one of them the default"),
        ("08-choices", CHOICE.replace("`skipped`", "`skipped` (default)"), "1: unknown_id: needs two options or more, one of them the default"),
        ("08-choices", CHOICE.partition("| `skipped`")[0], "1: unknown_id: needs two options or more, one of them the default"),
        ("08-choices", CHOICE.replace("### unknown_id", "### Unknown id"), "1: Unknown id: needs two options or more, one of them the default"),
        ("08-choices", "### unknown_id\n", "1: unknown_id: needs two options or more, one of them the default"),
        ("08-choices", CHOICE.replace(" nothing | them |", ""), "1: unknown_id: needs two options or more, one of them the default"),
        ("08-choices", CHOICE + "\n" + CHOICE, "10: unknown_id: is defined twice; ids are never used again"),
        ("10-protocol", "## Encodings\n\n| field | what | clauses |\n| --- | --- | --- |\n| `spans` | places | ENC-0 |\n", " Encodings: names ENC-0, which is not a clause"),
        ("errata", ERRATUM.replace("Why", "Because"), "1: E-1: needs the lines Where, Stated, Right and Why"),
        ("errata", "### E-1\n", "1: E-1: needs the lines Where, Stated, Right and Why"),
        ("errata", ERRATUM + "\n" + ERRATUM, "9: E-1: is defined twice; ids are never used again"),
    ],
)  # fmt: skip
def test_a_chapter_that_is_wrong_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chapter: str, text: str, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        load(monkeypatch, tmp_path, {f"{chapter}.md": text})
    assert str(caught.value) == f"{tmp_path / chapter}.md:{message}"


@pytest.mark.parametrize("chapter", ["04-bpe", "05-wordpiece", "06-unigram"])
def test_the_examples_of_chapters_name_cases_that_exist(chapter: str) -> None:
    text = (specification_folder() / f"{chapter}.md").read_text("utf-8")
    named = re.findall(r" {2,}((?:bpe|wordpiece|unigram)-[a-z0-9-]+)$", text, re.MULTILINE)
    assert len(named) >= 7
    assert [each for each in named if each not in CASES] == []
