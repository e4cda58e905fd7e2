"""What the fixtures claim of implementations is what was recorded when these were asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

ADAPTERS = Path(__file__).parents[1] / "adapters"
SUITE = load_suite()
RECORD: Any = json.loads((ADAPTERS / "passes.json").read_text("utf-8"))
IMPLEMENTATIONS = RECORD["implementations"]


def claimed(case: Case) -> list[tuple[str, str]]:
    """Names and versions that ``verified_by`` has."""
    notes = [note.removeprefix("implementations: ") for note in case.verified_by if note.startswith("implementations")]
    return [
        (name, version) for note in notes for name, _, version in (each.rpartition(" ") for each in note.split(", "))
    ]


CLAIMS = [case for case in SUITE.cases.values() if claimed(case)]


def test_a_claim_is_a_recorded_pass() -> None:
    claims = {(case.id, name, version) for case in CLAIMS for name, version in claimed(case)}
    recorded = {(id, name, IMPLEMENTATIONS[name]["version"]) for id, names in RECORD["cases"].items() for name in names}
    assert claims - recorded == set()


def test_siblings_count_once() -> None:
    families = {case.id: [IMPLEMENTATIONS[name]["family"] for name, _ in claimed(case)] for case in CLAIMS}
    assert {id: names for id, names in families.items() if len(set(names)) < len(names)} == {}
    alone = [case for case in CLAIMS if all(note.startswith("implementations") for note in case.verified_by)]
    assert [case.id for case in alone if len(families[case.id]) < 2] == []


def test_what_nothing_but_a_hand_has_worked_out_says_so() -> None:
    """Such cases are those that need a second look most."""
    second = re.compile(r"workings/|nothing to recompute|by hand alone|this model makes the same tokens")
    notes = {case.id: " ".join(case.verified_by) for case in SUITE.cases.values()}
    by_hand = {id for id, note in notes.items() if not re.search(r"document|brute force|implementations: ", note)}
    passed = {id for id, names in RECORD["cases"].items() if {*names} - {"tokfast"}}
    assert sorted(id for id in by_hand - passed if not second.search(notes[id])) == []
    assert sorted(id for id in passed if "by hand alone" in notes[id]) == []


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_what_was_passed_is_what_the_cases_ask_now(name: str, record_passes: Any) -> None:
    """Where this fails, cases have changed: python conformance/adapters/record_passes.py runs them again."""
    passed = [case for case, names in RECORD["cases"].items() if name in names]
    assert set(passed) <= SUITE.cases.keys()
    assert record_passes.digest(SUITE, passed) == IMPLEMENTATIONS[name]["digest"]


# Clauses


def origins(source: str) -> set[str]:
    """Families of the implementations that a source names, and what else it names, a part each."""
    found = set()
    for part in source.removesuffix(".").split("; "):
        families = {
            said["family"]
            for name, said in IMPLEMENTATIONS.items()
            if re.search(rf"(?<![\w/@]){re.escape(name)} \d", part)
        }
        if "legacy BERT tokenizer" in part:
            families.add("bert")
        if "slow tokenizers of transformers" in part:  # written in Python, with their own trie, truncation and padding
            families.add("transformers")
        found |= families or {part}
    return found


def test_what_one_implementation_alone_does_is_no_must() -> None:
    families = {said["family"] for said in IMPLEMENTATIONS.values()}
    clauses = load_specification().clauses.values()
    alone = [clause for clause in clauses if len(origins(clause.source)) == 1 and origins(clause.source) <= families]
    assert alone
    assert [clause.id for clause in alone if clause.level not in ("SHOULD", "MAY", "RETIRED")] == []


# Refusals

CLAUSE = re.compile(
    r"\b(?:TERM|NORM|PRE|SPECIAL|ADDED|ENC|BPE|WP|UNI|DEC|ERROR|PROTO|POST|BATCH|TRUNC|PAD)(?:-[A-Z]+)?-\d+\b"
)
REFUSES = re.compile(r"(?:[Uu]nsupported|need)\(")
SOURCES = sorted(
    path
    for pattern in ("*.py", "*.mjs", "*.go", "*.java", "*.rs")
    for path in [*ADAPTERS.rglob(pattern), *(ADAPTERS.parent / "tokspec" / "published").rglob(pattern)]
    if not {"node_modules", "target"} & set(path.parts)
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_refusal_cites_a_clause(path: Path) -> None:
    """What an implementation offers is no matter of a rule; what it does otherwise is a known failure."""
    lines = path.read_text("utf-8").splitlines()
    citing = [
        line.strip()
        for number, line in enumerate(lines)
        if any(REFUSES.search(near) for near in lines[max(0, number - 2) : number + 1]) and CLAUSE.search(line)
        if '"' in line and not line.strip().startswith(("#", "//", "*", "///"))
    ]
    assert citing == []
