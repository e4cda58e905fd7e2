"""Making a difference small, in its text and in its model: what remains is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.compare.causes import compare_replies
from tokspec.compare.minimize import Minimizer
from tokspec.compare.saving import explain
from tokspec.compare.tally import Tally
from tokspec.formats.user_model import UserModel
from tokspec.protocol.messages import Request
from tokspec.sessions.in_process import InProcessSession

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PAIRS = [left + right for left in LETTERS for right in LETTERS]

#: A vocabulary of 26 letters and all pairs of them, each made by a merge, with stages that the difference needs or not.
MODEL: dict[str, Any] = {
    "type": "bpe",
    "vocabulary": ["<s>", *LETTERS, *PAIRS],
    "merges": [list(pair) for pair in PAIRS],
    "special_tokens": ["<s>"],
    "normalizer": {"type": "sequence", "normalizers": [{"type": "nfc"}, {"type": "lowercase"}]},
    "pre_tokenizer": {"type": "whitespace_split"},
}


class Without(ReferenceAdapter):
    """The reference, which does not know one token."""

    def load(self, format: str, content: Any) -> Any:
        merges = [merge for merge in content["merges"] if "".join(merge) != "qu"]
        return super().load(format, {**content, "merges": merges})


class WholePieces(ReferenceAdapter):
    """The reference, which takes a piece that is a token without merging."""

    def load(self, format: str, content: Any) -> Any:
        return super().load(format, {**content, "ignore_merges": True})


class WithoutStages(ReferenceAdapter):
    """The reference, which does not know one merge, and none at all where a model has no pre-tokenizer."""

    def load(self, format: str, content: Any) -> Any:
        merges = [merge for merge in content["merges"] if "".join(merge) != "abc" and "pre_tokenizer" in content]
        return super().load(format, {**content, "merges": merges})


def minimized(
    text: str,
    model: Mapping[str, Any] = MODEL,
    sides: tuple[ReferenceAdapter, ReferenceAdapter] = (ReferenceAdapter(), Without()),
) -> Any:
    """Return what is left of a difference between the reference and one that does not know a token."""
    return minimized_and_explained(text, model, sides)[0]


def minimized_and_explained(
    text: str, model: Mapping[str, Any], sides: tuple[ReferenceAdapter, ReferenceAdapter]
) -> tuple[Any, str]:
    """Return what is left of a difference, and what is said of the rule."""
    own = UserModel("tokspec", model, "large.json", "1")
    with InProcessSession(sides[0]) as a, InProcessSession(sides[1]) as b:
        replies = []
        for session in (a, b):
            ((_, reply),) = session.ask([Request("encode", "own", {}, {"text": text}, own)])
            replies.append(reply)
        tally = Tally()
        tally.note("inputs", "a.txt at 0", text, [compare_replies("encode", {"text": text}, *replies)])
        (group,) = tally.groups.values()
        minimizer = Minimizer((a, b), (own, own), ("code_point", "code_point"))
        small = minimizer.minimize(group)
        return small, explain(small, ({}, {}), agree=minimizer.agree).rule


def test_of_a_large_model_what_shows_the_difference_remains() -> None:
    small = minimized("The <s> QUICK brown fox and whatever else a line holds is of no use")
    assert small.model == {"type": "bpe", "vocabulary": ["q", "u", "qu"], "merges": [["q", "u"]]}
    assert small.input == {"text": "qu"}
    explained = explain(small, ({}, {}))
    assert (explained.clause, explained.leaving) == ("BPE-ENC-1", ("B",))
    assert explained.rule == "BPE-ENC-1: B differs from the reference"


class WithoutPlaces(ReferenceAdapter):
    """The reference, which has each token at the start of the text."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        return {**result, "spans": [[0, 0] for _ in result["spans"]]} if "spans" in result else result


def test_a_library_that_formats_come_from_is_known_to_leave_a_rule() -> None:
    small = minimized("qu", MODEL, (ReferenceAdapter(), WithoutPlaces()))
    offered = ReferenceAdapter().hello()
    for name, said in (
        ("mine", ""),
        ("sentencepiece", "sentencepiece 0.2.3 breaks ENC-3 in the case map-spans and 11 more: convention: "),
    ):
        explained = explain(small, ({}, {}), (offered, replace(offered, name=name)))
        assert (explained.rule, explained.known[: len(said) or None]) == ("ENC-3: B differs from the reference", said)


def test_what_is_left_has_a_token_for_all_of_the_text() -> None:
    """Both drop what is unknown, so with fewer tokens they would differ too, but for another cause."""
    drops = {"bpe_unknown_without_token": "dropped_before_merging"}
    model = {**MODEL, "vocabulary": ["<s>", *LETTERS, "xyz"], "merges": []}
    small = minimized("of no xyz", model, (ReferenceAdapter(drops), WholePieces(drops)))
    assert small.model == {"type": "bpe", "vocabulary": ["x", "y", "z", "xyz"]}
    assert small.input == {"text": "xyz"}


def test_what_a_small_model_shows_is_what_the_whole_one_does() -> None:
    """Without the pre-tokenizer B would cut "abc" in three: at letters as well, but for another cause."""
    model = {**MODEL, "vocabulary": ["<s>", *LETTERS, "ab", "abc"], "merges": [["a", "b"], ["ab", "c"]]}
    small = minimized("for abc", model, (ReferenceAdapter(), WithoutStages()))
    assert (small.input, small.outcome.b.result["tokens"]) == ({"text": "abc"}, ["ab", "c"])
    assert small.model == {
        "type": "bpe",
        "vocabulary": ["a", "b", "c", "ab", "abc"],
        "merges": [["a", "b"], ["ab", "c"]],
        "pre_tokenizer": {"type": "whitespace_split"},
    }


def test_what_a_side_does_not_offer_is_no_rule_that_it_breaks() -> None:
    small = minimized("quick", {**MODEL, "padding": {"strategy": {"fixed": 3}}})
    padded = replace(small, model={**small.model, "padding": {"strategy": {"fixed": 3}}})
    hello = Hello("mine", "1", "Python", operations=("encode",))
    explained = explain(padded, ({}, {}), (ReferenceAdapter().hello(), hello))
    assert explained.clause == "PAD-1"
    assert explained.rule == "B does not know the component padding, and is not asked it by tokspec run"


def test_a_stage_without_which_nothing_differs_remains() -> None:
    """With the text as it stands, the stage that makes letters of it is needed, and no other one."""
    model = {**MODEL, "normalizer": {"type": "sequence", "normalizers": [{"type": "nfc"}, {"type": "nfkc"}]}}
    small = minimized("\u01c7q\uff55", {**model, "vocabulary": [*MODEL["vocabulary"], "L", "J"]})
    assert small.model["vocabulary"] == ["q", "u", "qu"]
    assert small.input == {"text": "q\uff55"} or "normalizer" not in small.model


class Cleaning(ReferenceAdapter):
    """The reference, whose normalizer removes unassigned code points too, as a whole and not as a stage."""

    def hello(self) -> Hello:
        return replace(super().hello(), operations=("encode",))

    def load(self, format: str, content: Any) -> Any:
        return super().load(format, content), "normalizer" in content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        loaded, cleans = model
        return super().run(operation, loaded, {**input, "text": input["text"].replace("\u0378", "" if cleans else "x")})


class EndsEarly(Cleaning):
    """The reference, which has the beginning of what is unknown before the unknown token."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = ReferenceAdapter.run(self, operation, model[0], input)
        return {"tokens": ["a", "[UNK]"]} if result["tokens"] == ["[UNK]"] else {"tokens": result["tokens"]}


class NeverCuts(ReferenceAdapter):
    """The reference, which does not truncate."""

    def load(self, format: str, content: Any) -> Any:
        return super().load(format, {key: value for key, value in content.items() if key != "truncation"})


class Older(Cleaning):
    """The reference with an older version of Unicode: it drops a character that this version does not have."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return ReferenceAdapter.run(self, operation, model[0], {"text": input["text"].replace("\u0558", "")})


BERT = {
    "type": "wordpiece",
    "vocabulary": ["[UNK]", "a", "##b"],
    "normalizer": {"type": "bert"},
    "pre_tokenizer": {"type": "bert"},
}


@pytest.mark.parametrize(
    ("side", "text", "rule"),
    [
        (Cleaning(), "ab a\u0378b", "NORM-BERT-1: B differs from the reference"),
        (EndsEarly(), "\u00e1\u00e9", "WP-ENC-1: B differs from the reference"),
        (Older(), "a.\u0558", "TERM-6: versions of Unicode differ in U+0558, and so do the sides"),
    ],
)
def test_the_rule_is_that_of_the_stage_behind_which_both_agree(side: ReferenceAdapter, text: str, rule: str) -> None:
    assert minimized_and_explained(text, BERT, (ReferenceAdapter(), side))[1] == rule


def test_truncation_is_no_fault_of_a_stage_before_it() -> None:
    """Each piece alone is short enough for both to agree, as if the pre-tokenizer were to blame."""
    model = {**BERT, "truncation": {"max_length": 2}}
    explained = minimized_and_explained("a b a a", model, (ReferenceAdapter(), NeverCuts()))[1]
    assert explained == "TRUNC-1: B differs from the reference"
