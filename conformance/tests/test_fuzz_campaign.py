"""A campaign: it finds what is wrong and nothing else, makes it small, and finds the same with the same seed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.adapters.registry import open_session
from tokspec.base.errors import DataError, Refusal
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import FIRST_PIECE, Campaign
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.findings import Finding
from tokspec.fuzz.hunt import hunted
from tokspec.fuzz.maker import examples_of
from tokspec.fuzz.panel import Panel
from tokspec.fuzz.properties import PROPERTIES, PropertyChecker
from tokspec.quality.mutants import load_mutants, mutants_folder
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits

pytestmark = pytest.mark.slow

Change = Callable[[str, Any, Mapping[str, Any], dict[str, Any]], Any]


class Changed(ReferenceAdapter):
    """The reference, with its results changed."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self.change = change

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = dict(super().run(operation, model, input))
        return self.change(operation, model, input, result) or result


class DecodesAlone(ReferenceAdapter):
    """The reference, which offers decoding alone."""

    def hello(self) -> Hello:
        return replace(super().hello(), operations=("decode",))


def campaign(
    change: Change | None, examples: int = 1500, families: tuple[str, ...] = ("bpe",), **options: Any
) -> Campaign:
    judged = Conversations(lambda: InProcessSession(Changed(change) if change else ReferenceAdapter()))
    first = Checker(judged)
    properties = [PropertyChecker(each, judged, first.choices) for each in PROPERTIES if options.get("properties")]
    made = Campaign([first, *properties], 1, Budget(examples=examples), families)
    made.run()
    return made


def shown(findings: Any) -> list[tuple[str, str, str, Mapping[str, Any], Mapping[str, Any]]]:
    return [
        (each.clause, each.example.operation, each.kind, each.example.model, each.example.input) for each in findings
    ]


def lose_last_token(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "encode" and len(result["tokens"]) > 3:
        for key in result:
            result[key] = result[key][:-1]


def test_the_reference_differs_in_nothing() -> None:
    made = campaign(None, 2000, ("sweep", "bpe-stages", "unigram-metaspace", "untrained-unigram"), properties=True)
    assert list(made.findings) == []
    assert made.tally.examples >= 2000


def test_what_is_found_is_small() -> None:
    made = campaign(lose_last_token)
    unknown = {"type": "bpe", "vocabulary": ["<unk>"], "unknown_token": "<unk>"}
    assert shown(made.findings) == [
        ("BPE-ENC-1", "encode", "tokens", {"type": "bpe", "vocabulary": ["a"]}, {"text": "aaaa"}),
        ("BPE-ENC-7", "encode", "tokens", unknown, {"text": "aaaa"}),
    ]


def test_the_same_seed_finds_the_same() -> None:
    first, second = campaign(lose_last_token), campaign(lose_last_token)
    assert shown(first.findings) == shown(second.findings)
    assert first.tally == second.tally


def test_each_clause_is_told_once_and_how_often() -> None:
    first, second = campaign(lose_last_token).findings
    assert (first.clause, second.clause) == ("BPE-ENC-1", "BPE-ENC-7")
    assert first.times > 10
    assert first.first.origin.startswith("bpe:")


def test_a_frequent_fault_hides_no_rare_one() -> None:
    def both(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        lose_last_token(operation, model, input, result)
        if operation == "encode" and input["text"] in model.special_tokens:
            result.update(tokens=[], ids=[], spans=[])

    findings = campaign(both, 4000, ("bpe-special",)).findings
    assert {"BPE-ENC-1", "ADDED-1"} <= {finding.clause for finding in findings}


def test_a_stage_excuses_the_encoding_behind_it() -> None:
    def trim(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        if operation == "normalize":
            result["text"] = result["text"].replace("A", "")

    made = campaign(trim, 3000, ("wordpiece-bert", "bpe-stages"))
    assert {finding.example.operation for finding in made.findings} == {"normalize"}


def test_crashes_and_wrong_reasons_are_found() -> None:
    def crash(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        if operation == "decode" and len(input.get("ids", ())) > 1:
            raise IndexError("list index out of range")
        if operation == "encode" and "aa" in input["text"]:
            raise Refusal("invalid_input", "no")

    kinds = {(finding.example.operation, finding.kind) for finding in campaign(crash).findings}
    assert kinds == {("decode", "crash"), ("encode", "refused as invalid_input")}


def test_unsupported_is_no_difference() -> None:
    def refuse(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        raise Refusal("unsupported", "not today")

    made = campaign(refuse, 200)
    assert list(made.findings) == []
    assert set(made.tally.states) == {"unsupported", "same"}


def test_an_interruption_leaves_what_was_found() -> None:
    judged = Conversations(lambda: InProcessSession(Changed(lose_last_token)))

    def interrupt(made: Campaign) -> None:
        if len(made.findings):
            raise KeyboardInterrupt

    made = Campaign([Checker(judged)], 1, Budget(), ("bpe",), interrupt)
    assert len(made.run()) == 1
    assert made.interrupted


def test_an_interruption_leaves_what_was_being_shrunk() -> None:
    answers = itertools.count()

    def interrupt(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        lose_last_token(operation, model, input, result)
        if next(answers) == 50:
            raise KeyboardInterrupt

    whole = campaign(lose_last_token)
    judged = Conversations(lambda: InProcessSession(Changed(interrupt)))
    made = Campaign([Checker(judged)], 1, Budget(), ("bpe",))
    found = next(iter(made.run()))
    assert made.interrupted
    assert found.first == next(iter(whole.findings)).first
    assert found.example.size < found.first.size


def test_the_clock_is_seen_while_a_program_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "import time",
        "from tokspec.adapters.reference import ReferenceAdapter",
        "class Hangs(ReferenceAdapter):",
        "    def run(self, operation, model, input):",
        "        result = super().run(operation, model, input)",
        "        if len(result.get('tokens', ())) > 3: time.sleep(1000)",
        "        return result",
    ]
    (tmp_path / "hangs.py").write_text("\n".join(lines), "utf-8")
    monkeypatch.chdir(tmp_path)
    judged = Conversations(lambda: open_session("hangs:Hangs", None, limits=Limits(case_seconds=0.2)))
    made = Campaign([Checker(judged)], 1, Budget(seconds=0.1), ("bpe",))
    assert {finding.kind.partition(",")[0] for finding in made.run()} == {"timeout"}
    judged.close()
    assert made.tally.examples == FIRST_PIECE  # and not the whole first batch


def test_an_implementation_that_is_asked_nothing_is_told() -> None:
    judged = Conversations(lambda: InProcessSession(DecodesAlone()))
    message = "tokref 0.1.0 offers decode, and models of normalizer are asked something else"
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        Campaign([Checker(judged)], 1, Budget(examples=20), ("normalizer",)).run()


def test_categories_are_those_of_texts_that_were_answered() -> None:
    judged = Conversations(lambda: InProcessSession(DecodesAlone()))
    made = Campaign([Checker(judged)], 1, Budget(examples=50), ("bpe",))
    made.run()
    assert (dict(made.tally.operations), dict(made.tally.categories)) == ({"decode": made.tally.examples}, {})


def test_what_is_given_is_not_of_the_budget() -> None:
    judged = Conversations(lambda: InProcessSession(ReferenceAdapter()))
    alone, after = (Campaign([Checker(judged)], 1, Budget(examples=100), ("bpe",)) for _ in range(2))
    given = examples_of(2, "bpe", 0, ["encode"])
    alone.run()
    after.run(given)
    assert after.tally.made == alone.tally.examples
    assert after.tally.examples == alone.tally.examples + len(given)


@pytest.mark.parametrize(
    "id",
    [
        "whole-piece-first",
        "special-tokens-shortest-first",
        "bert-keeps-format-characters",
        "gpt2-spaces-kept-together",
        "segmentation-longest-token-first",
        "pairs-counted-without-overlap",
    ],
)
def test_mutants_are_found_from_a_cold_start(id: str) -> None:
    found = hunted(mutant(id), 1, Budget(examples=20_000))
    assert found.finding is not None
    assert found.finding.example.size < 200


@pytest.mark.parametrize(
    "id", ["any-of-equals-by-latest-start", "added-characters-at-the-start-of-the-input", "losses-summed-exactly"]
)
def test_what_is_permitted_is_not_found(id: str) -> None:
    assert hunted(mutant(id), 1, Budget(examples=1000)).finding is None


def mutant(id: str) -> Any:
    folder = mutants_folder()
    assert folder is not None
    return next(each for each in load_mutants(folder) if each.id == id)


def panel(*changes: Change | None) -> list[Finding]:
    """Judge one that loses tokens against others."""
    judged = Conversations(lambda: InProcessSession(Changed(lose_last_token)))
    check = Checker(judged)
    members = [
        Conversations(lambda change=change: InProcessSession(Changed(change) if change else ReferenceAdapter()))
        for change in changes
    ]
    check.oracle = Panel(members, check.choices)
    return list(Campaign([check], 1, Budget(examples=600), ("bpe",)).run())


def test_another_implementation_can_be_the_oracle() -> None:
    assert {finding.kind for finding in panel(None)} == {"tokens"}
    assert panel(lose_last_token) == []


def test_of_several_oracles_the_majority_counts() -> None:
    assert panel(None, lose_last_token, lose_last_token) == []
    assert {finding.kind for finding in panel(None, lose_last_token, None)} == {"tokens"}
    assert panel(None, lose_last_token) == []  # no majority


def test_oracles_with_other_choices_are_asked_only_where_that_makes_no_difference() -> None:
    judged = Conversations(lambda: InProcessSession(ReferenceAdapter({"bpe_merge_order": "lowest_rank"})))
    check = Checker(judged)
    check.oracle = Panel([Conversations(lambda: InProcessSession(ReferenceAdapter()))], check.choices)
    made = Campaign([check], 1, Budget(examples=2000), ("bpe",))
    assert list(made.run()) == []
    assert made.tally.states["open"] > 0
