"""Models of several families in a fixture file: which cases they make, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.judge.runner import run
from tokspec.judge.verdicts import Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.cases import Suite
from tokspec.suite.fixtures import load_suite

HEAD = """
about: "Models of two families."
source: [{rule: "a test"}]
"""

MODELS = """
models:
  bpe: {vocabulary: ["a", "b"], merges: []}
  unigram: {tokens: [["a", -1], ["b", -1]], weights: "log_probability"}
"""

CASES = """
cases:
  - id: two-letters
    clauses: [ENC-1]
    why: "A token for each letter."
    model: {truncation: {max_length: 1}}
    operation: encode
    inputs:
      - {text: "ab", expect: {tokens: ["a"]}}
      - {text: "ba", expect: {tokens: ["b"]}, differs: {unigram: {error: "invalid_input"}}}
    differs:
      unigram: {verified_by: ["hand: one; by hand alone"]}
    verified_by: ["hand: one of two", "implementations: x 1"]
  - id: one-letter
    clauses: [ENC-1]
    since: "0.1.0"
    why: "The token of a letter."
    operation: encode
    input: {text: "a"}
    expect: {ids: [0]}
    verified_by: ["hand: the first", "implementations: x 1"]
  - id: of-one-model
    clauses: [ENC-1]
    why: "A model with a type stands alone."
    model: {type: "bpe", vocabulary: ["a"], merges: []}
    operation: encode
    input: {text: "a"}
    expect: {ids: [0]}
    verified_by: ["hand: the first"]
"""


def loaded(folder: Path, text: str) -> Suite:
    (folder / "x.yaml").write_text(text, "utf-8")
    return load_suite(folder)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(DataError) as error:
        loaded(folder, text)
    return str(error.value)


def test_each_family_makes_a_case(tmp_path: Path) -> None:
    cases = loaded(tmp_path, HEAD + MODELS + CASES).cases
    assert list(cases) == ["two-letters", "two-letters-unigram", "one-letter", "one-letter-unigram", "of-one-model"]
    bpe, unigram = cases["two-letters"], cases["two-letters-unigram"]
    truncation = {"truncation": {"max_length": 1}}
    assert bpe.model.content == {"type": "bpe", "vocabulary": ["a", "b"], "merges": [], **truncation}
    tokens = [["a", -1], ["b", -1]]
    assert unigram.model.content == {"type": "unigram", "tokens": tokens, "weights": "log_probability", **truncation}
    assert (bpe.model.name, unigram.model.name) == ("two-letters:model", "two-letters-unigram:model")
    assert (bpe.since, unigram.since, cases["one-letter-unigram"].since) == ("0.1.0", "0.3.0", "0.3.0")
    assert [row.outcome for row in bpe.rows] == [{"expect": {"tokens": ["a"]}}, {"expect": {"tokens": ["b"]}}]
    assert [row.outcome for row in unigram.rows] == [{"expect": {"tokens": ["a"]}}, {"error": "invalid_input"}]
    assert [row.input for row in unigram.rows] == [{"text": "ab"}, {"text": "ba"}]
    assert unigram.line == bpe.line


def test_cases_share_by_name_what_the_models_of_all_families_have(tmp_path: Path) -> None:
    again = CASE.replace("two-letters", "again").replace("cases:\n", "")
    plain = loaded(tmp_path, HEAD + MODELS + CASE.lstrip("\n") + again.lstrip("\n")).cases
    named = "named_models:\n  one-token: {truncation: {max_length: 1}}\n"
    both = (CASE + again).replace("\n\n", "\n").replace("{truncation: {max_length: 1}}", "one-token")
    shared = loaded(tmp_path, HEAD + MODELS + named + both).cases
    assert list(shared) == ["two-letters", "two-letters-unigram", "again", "again-unigram"]
    assert {id: case.model for id, case in shared.items()} == {id: case.model for id, case in plain.items()}


def test_what_implementations_answered_counts_for_the_model_they_were_asked(tmp_path: Path) -> None:
    cases = loaded(tmp_path, HEAD + MODELS + CASES).cases
    assert cases["one-letter"].verified_by == ("hand: the first", "implementations: x 1")
    assert cases["one-letter-unigram"].verified_by == ("hand: as one-letter; this model makes the same tokens",)
    assert cases["two-letters-unigram"].verified_by == ("hand: one; by hand alone",)


CASE = CASES.partition("  - id: one-letter")[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            MODELS.replace("merges: []", "merges: [], truncation: {max_length: 1}") + CASE,
            "x.yaml:6: models.bpe.truncation: is given twice; leave out one of the two",
        ),
        (
            MODELS.replace("merges: []", 'type: "bpe"') + CASE,
            "x.yaml:6: models.bpe.type: is given twice; leave out one of the two",
        ),
        (
            MODELS.replace("merges", "merge") + CASE,
            "x.yaml:6: models.bpe.merge: is an unknown key; did you mean merges?",
        ),
        (
            CASE.replace("model: {", 'models: {bpe: {}, wordlevel: {}}\n    model: {type: "bpe", '),
            "x.yaml:9: cases[0].models: is next to a model of one family; leave out one of the two",
        ),
        (
            MODELS + CASE.replace("differs: {unigram: {error", "differs: {wordlevel: {error"),
            "x.yaml:17: cases[0].inputs[1].differs.wordlevel: is not a family of the case, which has bpe, unigram",
        ),
        (
            MODELS + CASE.replace('verified_by: ["hand: one; by hand alone"]', 'why: "Another reason."'),
            "x.yaml:17: cases[0].inputs[1].differs.unigram: has an answer of its own; say in the differs of the case "
            "how it is known: unigram, verified_by",
        ),
        (
            'model: {type: "bpe", vocabulary: ["a"], merges: []}\n' + CASE.replace("    model: {", "    #"),
            "x.yaml:16: cases[0].differs.unigram: is not a family of the case, which has one model",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, HEAD + text) == message


def test_an_id_that_a_family_makes_is_not_given_to_another_case(tmp_path: Path) -> None:
    other = CASES.replace("of-one-model", "one-letter-unigram")
    message = "x.yaml:29: cases[2].id: one-letter-unigram is used by x.yaml:21; ids are unique"
    assert refused(tmp_path, HEAD + MODELS + other) == message


# Libraries of one family with one fault each


def without(*keys: str) -> Any:
    """Return a change of a model that ignores a component."""
    return lambda model: {key: value for key, value in model.items() if key not in keys}


def without_flag(flag: str) -> Any:
    """Return a change of a model that ignores a flag of added tokens."""

    def change(model: dict[str, Any]) -> dict[str, Any]:
        tokens = [
            {key: value for key, value in token.items() if key != flag} for token in model.get("added_tokens", ())
        ]
        return {**model, "added_tokens": tokens} if tokens else model

    return change


def special_alone(model: dict[str, Any]) -> dict[str, Any]:
    """Ignore the added tokens that are not special."""
    return {**model, "added_tokens": [token for token in model.get("added_tokens", ()) if token.get("special", True)]}


def cut_at_512(model: dict[str, Any]) -> dict[str, Any]:
    return {"truncation": {"max_length": 512}, **model}


#: What each library does wrong: how it reads a model, the operation whose options it ignores, and the clause it breaks.
FAULTS = {
    "lstrip": (without_flag("lstrip"), "ADDED-6"),
    "rstrip": (without_flag("rstrip"), "ADDED-7"),
    "single_word": (without_flag("single_word"), "ADDED-9"),
    "normalized": (without_flag("normalized"), "ADDED-10"),
    "added tokens that are not special": (special_alone, "ADDED-1"),
    "truncation": (without("truncation"), "TRUNC-1"),
    "padding": (without("padding"), "PAD-1"),
    "skip_special_tokens": (without(), "DEC-5"),
    "a post-processor": (without("post_processor"), "POST-BERT-1"),
    "a limit of 512": (cut_at_512, "TRUNC-11"),
}


class Faulty(ReferenceAdapter):
    """The reference with a fault in how it reads a model, or in what it reads of an input."""

    def __init__(self, change: Any, ignored: str = "") -> None:
        super().__init__()
        self.change, self.ignored = change, ignored

    def load(self, format: str, content: Any) -> Any:
        return super().load(format, self.change(content))

    def run(self, operation: str, model: Any, input: Any) -> Any:
        return super().run(operation, model, {key: value for key, value in input.items() if key != self.ignored})


@pytest.mark.parametrize("family", ["wordpiece", "unigram", "wordlevel"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_library_of_one_family_is_noticed_by_the_clause_that_it_breaks(family: str, fault: str) -> None:
    change, clause = FAULTS[fault]
    of_family = [case for case in load_suite().cases.values() if case.model.content.get("type") == family]
    asked = [case for case in of_family if case.clauses[0] == clause]
    with InProcessSession(Faulty(change, fault)) as session:
        results = run(session, asked).results
    assert {result.verdict for result in results} & {Verdict.FAIL, Verdict.ERROR}
