"""What a version promises: the comparison of two bundles finds what is new, and whatever breaks a rule.

The bundle of the last release is in the tree, and today's fixtures keep what it promises.
"""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import Unsupported
from tokspec.formats import refuse_input, write, write_as_of
from tokspec.suite.cases import write_bundle
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import cases_of_version
from tokspec.suite.specification import load_specification

ROOT = Path(__file__).parents[2]

LAST = "0.2.0"
RELEASE = ROOT / "packages" / "releases" / f"{LAST}.json.gz"

CASE: dict[str, Any] = {
    "id": "one",
    "clauses": ["BPE-ENC-1"],
    "model": {},
    "operation": "normalize",
    "input": {"text": "a"},
    "outcome": {"expect": {"text": "a"}},
    "inputs": [{"input": {"text": "b"}, "outcome": {"expect": {"text": "b"}}, "line": 4}],
    "since": "0.1.0",
}
OLD: dict[str, Any] = {
    "version": "0.1.0",
    "clauses": [{"id": "BPE-ENC-1", "level": "MUST", "text": "One."}],
    "choices": [{"name": "tie", "options": {"first": "", "last": ""}, "default": "first"}],
    "cases": [CASE],
}


def compare(change: Callable[[dict[str, Any]], object], folder: Path) -> tuple[int, list[str], list[str]]:
    new = copy.deepcopy(OLD) | {"version": "0.2.0"}
    change(new)
    for name, bundle in (("old.json", OLD), ("new.json", new)):
        (folder / name).write_text(json.dumps(bundle), "utf-8")
    command = [sys.executable, str(ROOT / "packages" / "changes.py"), "old.json", "new.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout.split("\n")[:-1], done.stderr.split("\n")[:-1]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda new: new["cases"].append({**CASE, "id": "two", "since": "0.2.0"}), "- two is new (BPE-ENC-1)"),
        (lambda new: new["cases"].clear(), "- one is removed (BPE-ENC-1)"),
        (
            lambda new: new["clauses"].append({"id": "BPE-ENC-2", "level": "MAY", "text": "Two."}),
            "- BPE-ENC-2 (MAY) is new: Two.",
        ),
        (lambda new: new["clauses"][0].update(level="RETIRED"), "- BPE-ENC-1 is RETIRED, and was MUST"),
        (lambda new: new["clauses"][0].update(text="Uno."), "- BPE-ENC-1 is reworded: Uno."),
        (lambda new: new["choices"][0]["options"].update(any=""), "- tie has the option any"),
        (lambda new: new["cases"][0].update(why="because"), ""),
        (lambda new: new["cases"][0]["inputs"][0].update(line=9), ""),
        (
            lambda new: (
                new["choices"].append({"name": "form", "options": {"small": "", "large": ""}, "default": "small"}),
                new["cases"][0].update(outcome={"by_choice": {"form": {"small": CASE["outcome"], "large": {}}}}),
            ),
            "- form has the option small\n- form has the option large",
        ),
        (
            lambda new: (
                new["choices"].append({"name": "form", "options": {"small": "", "large": ""}, "default": "small"}),
                new["cases"][0].update(
                    outcome={
                        "by_choice": {
                            "tie": {
                                "first": CASE["outcome"],
                                "last": {"by_choice": {"form": {"small": CASE["outcome"], "large": {}}}},
                            }
                        }
                    }
                ),
            ),
            "- form has the option small\n- form has the option large",
        ),
    ],
)
def test_what_is_new_is_listed(change: Callable[[dict[str, Any]], object], line: str, tmp_path: Path) -> None:
    assert compare(change, tmp_path) == (0, line.split("\n"), [""])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda new: new["cases"][0].update(outcome={"expect": {"text": "b"}}, input={"text": "b"}),
            "one has another input, outcome: give the case a new id",
        ),
        (lambda new: new["cases"][0]["inputs"][0].update(outcome={}), "one has another inputs: give the case a new id"),
        (
            lambda new: new["cases"][0].update(outcome={"by_choice": {"tie": {"first": CASE["outcome"], "last": {}}}}),
            "one has another outcome: give the case a new id",
        ),
        (
            lambda new: new["cases"].append({**CASE, "id": "two"}),
            'two is new: raise the version of the suite, and give it since: "0.2.0"',
        ),
        (
            lambda new: (new["cases"].append({**CASE, "id": "two"}), new.update(version="0.1.0")),
            'two is new: raise the version of the suite, and give it since: "0.1.0"',
        ),
        (lambda new: new["clauses"].clear(), "BPE-ENC-1 is gone: retire a clause, with its heading"),
        (lambda new: new["choices"].clear(), "tie is gone: a choice stays"),
        (lambda new: new["choices"][0]["options"].pop("last"), "tie has lost last: an option stays"),
        (lambda new: new["choices"][0].update(default="last"), "tie has another default: that turns gates red"),
    ],
)
def test_a_broken_rule_fails(change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path) -> None:
    status, _, messages = compare(change, tmp_path)
    assert (status, messages) == (1, [message])


def changes(old: Path, new: Path) -> tuple[int, list[str]]:
    command = [sys.executable, str(ROOT / "packages" / "changes.py"), str(old), str(new)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr.split("\n")[:-1]


def test_the_fixtures_of_today_keep_what_the_last_release_promises(tmp_path: Path) -> None:
    write_bundle(tmp_path / "today.json", load_suite(), load_specification())
    assert changes(RELEASE, tmp_path / "today.json") == (0, [""])


def test_a_gate_of_the_last_release_is_asked_the_same_cases() -> None:
    released = json.loads(gzip.decompress(RELEASE.read_bytes()))
    assert released["version"] == LAST
    kept = [case["id"] for case in released["cases"] if case["id"] in load_suite().cases]
    assert [case.id for case in cases_of_version(load_suite(), LAST)] == kept


def test_a_gate_of_an_older_version_gets_the_files_of_its_time() -> None:
    stages = {"normalizer": {"type": "lowercase"}}
    unknown = ("sentencepiece.model", {"type": "bpe", "vocabulary": ["u"], "merges": []}, {"text": "mu"})
    assert write("tokenizer.json", stages)["model"]["vocab"] == {"<unk>": 0}
    with pytest.raises(Unsupported):
        refuse_input(*unknown)
    write_as_of("0.2.0")
    try:
        assert write("tokenizer.json", stages)["model"]["vocab"] == {}
        refuse_input(*unknown)
    finally:
        write_as_of(None)
    with pytest.raises(Unsupported):
        refuse_input(*unknown)
