"""Large outputs that are no norms, kept beside this file: a change of one is seen, and then wanted or not.

``pytest --force-regen`` writes them anew. The fixtures are the norms, and nothing writes those anew.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import click
import pytest
from pytest_regressions.file_regression import FileRegressionFixture

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import effective_choices, judge
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.report.failure import describe
from tokspec.report.junit import junit
from tokspec.report.markdown import markdown
from tokspec.report.ndjson import Origin, ndjson
from tokspec.report.text import text
from tokspec.suite.cases import Model
from tokspec.suite.fixtures import load_suite

CASES = load_suite().cases
SYLLABLES = ("ba", "ke", "li", "mo", "nu", "ra", "st", "ing", "er", "o", "th", "é", "日", "s")


def bigger_words() -> list[list[Any]]:
    """Make some hundred words, of counts that fall off as those of a language do; always the same."""
    counts: Counter[str] = Counter()
    number = 1
    for rank in range(1, 601):
        number = number * 16807 % 2147483647
        syllables = [SYLLABLES[number // 14**place % 14] for place in range(1 + number % 4)]
        counts["".join(syllables)] += 600 // rank + 1
    return [[word, count] for word, count in counts.items()]


def case_with(operation: str, kind: str, sentences: str = "four-sentences") -> tuple[Model, Mapping[str, Any]]:
    """Return the model and the input of the first case of an operation on the four sentences."""
    return next(
        (case.model, case.input)
        for case in CASES.values()
        if case.operation == operation and case.model.content.get("type") == kind and sentences in case.file
    )


def asked(operation: str, model: Mapping[str, Any], input: Mapping[str, Any]) -> Mapping[str, Any]:
    adapter = ReferenceAdapter()
    return adapter.run(operation, adapter.load("tokspec", model), input)


def lines(values: Iterable[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


#: For each type of model an untrained one, and how far it is trained on a bigger text.
UNTRAINED = {
    "bpe": ({"type": "bpe"}, {"vocabulary_size": 300}),
    "wordpiece": ({"type": "wordpiece"}, {"vocabulary_size": 200}),
    "unigram": ({"type": "unigram"}, {"initial_size": 400, "vocabulary_size": 120, "fraction": 0.1}),
}


@pytest.mark.parametrize("kind", UNTRAINED)
def test_training_on_the_four_sentences_step_by_step(kind: str, file_regression: FileRegressionFixture) -> None:
    model, input = case_with("train", kind)
    trace = asked("training_trace", model.content, input)
    file_regression.check(lines([*trace.items()] if kind == "unigram" else trace["steps"]), encoding="utf-8")


@pytest.mark.parametrize("kind", UNTRAINED)
def test_training_on_a_bigger_text_step_by_step(kind: str, file_regression: FileRegressionFixture) -> None:
    model, target = UNTRAINED[kind]
    input = {"corpus": {"words": bigger_words()}, **target}
    trained, trace = asked("train", model, input), asked("training_trace", model, input)
    parts = [*trace.get("steps", trace.items()), *([key, value] for key, value in trained.items())]
    file_regression.check(lines(parts), encoding="utf-8")


def test_all_substrings_of_the_four_sentences(file_regression: FileRegressionFixture) -> None:
    model, input = case_with("ranked_substrings", "unigram")
    found = asked("ranked_substrings", model.content, {"corpus": input["corpus"]})
    assert (len(found["substrings"]), found["count"]) == (564, 564)
    file_regression.check(lines(found["substrings"]), encoding="utf-8")


def test_the_pruning_of_the_four_sentences_round_by_round(file_regression: FileRegressionFixture) -> None:
    model, input = case_with("train", "unigram")
    initial = asked("initial_vocabulary", model.content, {key: input[key] for key in ("corpus", "initial_size")})
    tokens, rounds = initial["tokens"], []
    while len(tokens) > input["vocabulary_size"]:
        trained = {**model.content, "tokens": tokens, "weights": "frequency"}
        step = asked("prune_step", trained, {"corpus": input["corpus"], "fraction": input["fraction"]})
        loss = asked("loss", trained, {"corpus": input["corpus"], "initial_score": 1})["loss"]  # as printed
        rounds.append([len(tokens), round(loss, 9), step["removed"]])
        tokens = [token for token in tokens if token[0] not in set(step["removed"])]
    file_regression.check(lines(rounds), encoding="utf-8")


def test_the_forms_of_a_report(file_regression: FileRegressionFixture) -> None:
    hello = Hello("mytok\x1b[2J", "1.0", "C", operations=("encode",))
    replies: Mapping[str, Reply] = {
        "bpe-toy-encode-bug": Answer({"tokens": ["b", "ug"], "ids": [1, 8], "spans": [[0, 1], [1, 3]]}),
        "bpe-toy-encode-mug": Answer({"tokens": ["m", "u<b>", "\u202eg"]}),
        "bpe-toy-encode-thug": Fault("crash", "exit status 3"),
        "bpe-toy-encode-unhug": Refused("unsupported", "not today"),
    }
    choices = effective_choices(hello)
    run = Run(hello, choices, tuple(judge(CASES[case], reply, hello, choices) for case, reply in replies.items()))
    origin = Origin("0.1.0", "ab" * 32, "tokspec run --report a.ndjson", "tokspec run", "Linux x86_64", "14.0.0")
    shown = [describe(result, f"tokspec run --select {result.case.id}") for result in run.failed]
    forms = {
        "text": "\n".join(map(click.unstyle, text(run, shown))),
        "markdown": markdown([(origin, run)], 10),
        "junit": junit([(origin, run)]),
        "ndjson": b"".join(ndjson(run, origin)).decode(),
    }
    whole = "".join(f"===== {name}\n{form}\n" for name, form in forms.items())
    file_regression.check(whole, encoding="utf-8")
