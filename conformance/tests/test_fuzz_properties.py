"""Properties: each notices an implementation that breaks it, without another one to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import Refusal
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.example import Example
from tokspec.fuzz.models import FAMILIES
from tokspec.fuzz.properties import PROPERTIES, PropertyChecker, is_of_repetition
from tokspec.judge.verdicts import effective_choices
from tokspec.sessions.in_process import InProcessSession

pytestmark = pytest.mark.slow

NAMES = [each.name for each in PROPERTIES]


class Broken(ReferenceAdapter):
    """The reference, with its results changed by a function that may keep something in mind."""

    def __init__(self, change: Callable[[Broken, str, Mapping[str, Any], dict[str, Any]], None]) -> None:
        super().__init__({"bpe_merge_order": "lowest_rank"})
        self.change, self.seen = change, dict[str, int]()

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = dict(super().run(operation, model, input))
        self.change(self, operation, input, result)
        return result


def high_ids(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "encode":
        result["ids"] = [None if id is None else id + 1 for id in result["ids"]]


def spans_reversed(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "encode":
        result["spans"] = result["spans"][::-1]


def spans_one_on(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "encode" and result["spans"]:
        result["spans"] = [[start, end] for start, end in result["spans"][:-1]] + [[0, result["spans"][-1][1]]]


def decoded_trimmed(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "decode":
        result["text"] = result["text"].strip()


def glued(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "encode" and len(result["tokens"]) > 1:
        result["tokens"] = ["".join(result["tokens"])]


def characters(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation in ("encode", "segment"):
        text = input.get("text", input.get("word", ""))
        result["tokens"] = list(text)


def last_merges_first(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "train" and "merges" in result:
        result["merges"] = result["merges"][::-1]


def another_each_time(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "normalize":
        adapter.seen[input["text"]] = adapter.seen.get(input["text"], 0) + 1
        result["text"] += "x" * (adapter.seen[input["text"]] % 2)


def counted_apart(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "train" and len(input["corpus"].get("words", ())) != len(
        {word for word, _ in input["corpus"].get("words", ())}
    ):
        result["vocabulary"] = [*result["vocabulary"], "twice"]


def afraid_of_many(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "train" and sum(count for _, count in input["corpus"].get("words", ())) > 20:
        result["vocabulary"] = result["vocabulary"][:2]


def learned_nothing(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "train" and "merges" in result:
        result["vocabulary"] = result["vocabulary"][: len(result["vocabulary"]) - len(result["merges"])]
        result["merges"] = []


def decoded_together(adapter: Broken, operation: str, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "decode":
        result["text"] = result["text"].replace(" ", "")


BREAKS = {
    "tokens are of the vocabulary, ids their places": high_ids,
    "spans are in order and in the text": spans_reversed,
    "spans hold their tokens": spans_one_on,
    "what is encoded is decoded again": decoded_trimmed,
    "spaces are decoded from their marks": decoded_trimmed,
    "words are decoded from their parts": decoded_together,
    "merges lead to every token": glued,
    "no merge is left to do": characters,
    "every merge had the highest count": last_merges_first,
    "training goes on while it may": learned_nothing,
    "the segmentation is the best": characters,
    "twice gives the same": another_each_time,
    "a batch equals one by one": another_each_time,
    "equal words are one": counted_apart,
    "training goes by proportions": afraid_of_many,
}


def findings(name: str, change: Callable[..., None]) -> list[tuple[str, str, int]]:
    judged = Conversations(lambda: InProcessSession(Broken(change)))
    choices = effective_choices(judged.session.hello)
    (chosen,) = [each for each in PROPERTIES if each.name == name]
    families = [family for family in FAMILIES if family not in ("sweep", "pre-tokenizer")]
    campaign = Campaign([PropertyChecker(chosen, judged, choices)], 1, Budget(examples=20_000), families, enough=1)
    return [(each.clause, each.check, each.example.size) for each in campaign.run()]


def test_every_property_has_one_that_breaks_it() -> None:
    assert list(BREAKS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_property_notices_who_breaks_it(name: str) -> None:
    ((clause, check, size),) = findings(name, BREAKS[name])
    (chosen,) = [each for each in PROPERTIES if each.name == name]
    assert (clause, check) == (chosen.clause, name)
    assert size < 4000 if name == "what is encoded is decoded again" else size < 200


def test_the_description_says_what_is_wrong() -> None:
    judged = Conversations(lambda: InProcessSession(Broken(characters)))
    (chosen,) = [each for each in PROPERTIES if each.name == "no merge is left to do"]
    check = PropertyChecker(chosen, judged, effective_choices(judged.session.hello))
    (finding,) = Campaign([check], 1, Budget(examples=20_000), ("bpe",), enough=1).run()
    left, right = finding.example.input["text"]
    assert finding.result.detail == f"{left!r} and {right!r} are left, which are to be merged"


class Tired(ReferenceAdapter):
    """The reference, which does something else when it is asked again for a text of five or more characters."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.then, self.seen = then, set[str]()

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = repr((operation, model, input))
        if asked in self.seen:
            self.then()
        if len(input.get("text", "")) >= 5:
            self.seen.add(asked)
        return super().run(operation, model, input)


def crash() -> None:
    raise IndexError("list index out of range")


def refuse() -> None:
    raise Refusal("unsupported", "not again")


def checks_of(then: Callable[[], None], name: str) -> list[Checker]:
    judged = Conversations(lambda: InProcessSession(Tired(then)))
    first = Checker(judged)
    return [first, *(PropertyChecker(each, judged, first.choices) for each in PROPERTIES if each.name == name)]


AGAIN = Example({"type": "bpe"}, "normalize", {"text": "aaaaa"}, "bpe:15")


@pytest.mark.parametrize("name", ["twice gives the same", "a batch equals one by one"])
@pytest.mark.parametrize(
    ("then", "detail"),
    [
        (crash, "it is answered {'text': 'aaaaa'}, and a crash (IndexError: list index out of range (%s in crash)) "),
        (refuse, "it is answered {'text': 'aaaaa'}, and refused as unsupported "),
    ],
    ids=["crash", "refusal"],
)
def test_a_reply_of_another_kind_the_second_time_is_a_finding(name: str, then: Callable[[], None], detail: str) -> None:
    (comparison,) = checks_of(then, name)[1].compare([AGAIN])
    assert (comparison.state, comparison.kind) == ("differs", name)
    assert comparison.result is not None
    place = f"{Path(__file__).name}:{crash.__code__.co_firstlineno + 1}"
    assert comparison.result.detail == (detail % place if "%s" in detail else detail) + "when it is asked again"


@pytest.mark.parametrize("name", ["twice gives the same", "a batch equals one by one"])
def test_what_is_refused_or_crashes_each_time_is_the_same(name: str) -> None:
    check = checks_of(crash, name)[1]
    refused = Example({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "b"})
    assert [each.state for each in check.compare([refused, refused])] == ["same", "same"]


def test_the_sample_is_of_the_examples_and_not_of_their_order() -> None:
    check = checks_of(crash, "twice gives the same")[1]
    examples = [Example({"type": "bpe"}, "normalize", {"text": str(number)}) for number in range(1600)]
    taken = {each.key for each in examples if check.takes(each)}
    assert {each.key for each in reversed(examples) if check.takes(each)} == taken
    assert len(taken) == 106  # one in sixteen, about
    assert [each.input["text"] for each in examples if check.takes(each)][:4] == ["11", "14", "32", "82"]


def test_only_repetition_does_not_show_in_a_case() -> None:
    repeated = [name for name in NAMES if is_of_repetition(name)]
    assert repeated == ["twice gives the same", "a batch equals one by one"]
