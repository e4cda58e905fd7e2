"""Findings as fixtures, and back: a saved finding is read by the strict loader, shown and run like any case.

Nobody has verified a saved case: the oracle gave the answer, without the agreement of a second implementation. The
fixture says so in its source, its tags and its reason, until a person writes there what is right. The case applies to
every implementation, because an answer that depends on choices is given for each of their options.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any

from tokspec.base.display import compact
from tokspec.base.errors import DataError
from tokspec.base.files import paths_below
from tokspec.compare.shrink import Question
from tokspec.fuzz.checker import Side, outcome_of, reference_with
from tokspec.fuzz.findings import Finding
from tokspec.fuzz.tolerance import Costs, close, costs_of
from tokspec.protocol.messages import Answer, Refused
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification
from tokspec.suite.writing import FoundCase, by_choice, write_case

Outcome = Mapping[str, Any]


def save(finding: Finding, folder: Path, who: str, outcome: Outcome, oracle: str = "the reference") -> Path:
    """Write a finding to its own file; ``who`` is the implementation that differs from the oracle.

    Raises:
        FileExistsError: it is there already.
        DataError: it cannot be written, or does not read as it is meant.
    """
    question = finding.question
    rule = load_specification().clauses[finding.clause].text
    case = FoundCase(
        id=case_id(finding),
        about=f"Found by tokspec fuzz; not verified yet. {rule}",
        source=f"{who} was found to answer differently from {oracle}.",
        clauses=[finding.clause],
        why=f"NOT VERIFIED: {who} {_given(finding)}. Say here what the case shows.",
        model=question.model,
        operation=question.operation,
        input=question.input,
        outcome=_trim(outcome, _fields(question, finding.kind)),
    )
    return write_case(case, folder)


def refuse_unwritable(folder: Path) -> None:
    """Refuse a folder in which no file can be written. Nothing is created yet, because there may be nothing to write.

    Raises:
        DataError: it is a file, is below one, or must not be written to.

    >>> refuse_unwritable(Path("not there yet"))
    """
    nearest = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    if not nearest.is_dir():
        raise DataError("is not a folder; give another one for what is found", str(nearest))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise DataError("cannot be written to; give another folder for what is found", str(nearest))


def read_cases(folder: Path) -> Mapping[str, Case]:
    """Return the cases in a folder, so that none is written there a second time.

    Raises:
        DataError: something in it is not a fixture, and would keep all that is written from being read.

    >>> read_cases(Path("not there yet"))
    {}
    """
    if not any(file.parent.name not in ("models", "corpora") for file in paths_below(folder) if file.suffix == ".yaml"):
        return {}
    try:
        return load_suite(folder).cases
    except DataError as error:
        raise DataError(
            f"contains something that is not a fixture: {error}; correct it, or give another folder", str(folder)
        ) from None


def case_id(finding: Finding) -> str:
    """Return the id of a finding's case: the clause, and eight digits for the question."""
    digits = hashlib.sha256(finding.question.key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"fuzz-{finding.clause.lower()}-{digits}"


def _given(finding: Finding, longest: int = 200) -> str:
    """Describe the implementation's reply briefly: the field that differs, or how it ended."""
    reply, result = finding.result.reply, finding.result
    if isinstance(reply, Answer) and finding.kind in reply.result:
        shown = compact(reply.result[finding.kind])
        return f"gives the {finding.kind} {shown if len(shown) <= longest else shown[:longest] + ' …'}"
    if isinstance(reply, Refused):
        return f"refuses it as {reply.reason}"
    return f"ends with {result.verdict.value}: {result.detail[:longest]}"


def read_questions(folder: Path) -> list[Question]:
    """Read saved findings, or any other fixtures, as questions.

    Raises:
        DataError: the folder has no fixtures, or one of them is wrong.
    """
    cases = [each for case in load_suite(folder).cases.values() for each in case.questions]
    return [Question(case.model.content, case.operation, case.input) for case in cases]


def right_by_choice(question: Question, kind: str = "") -> Outcome:
    """Return the reference's answer, for every option of the choices on which it depends.

    An encoding has only the tokens, ids and spans, and the field that differs, ``kind``. If any of several equally
    probable segmentations is right, all of them are listed.

    >>> right_by_choice(Question({}, "decode", {"ids": []}))
    {'expect': {'text': ''}}
    """
    return _with_ties(by_choice(partial(_right, question, _fields(question, kind))), question)


def _right(question: Question, fields: Sequence[str], choices: Mapping[str, str]) -> Outcome:
    ((reply,),) = Side(lambda: reference_with(choices)).ask(question.model, [(question.operation, question.input)])
    return _trim(outcome_of(reply), fields)


def _fields(question: Question, kind: str) -> Sequence[str]:
    """Return the fields that a case of encoding expects; the others would only make it longer.

    Spans of a pair need the field that says to which text they refer.
    """
    return ("tokens", "ids", "spans", *(["sequence_ids"] if "pair" in question.input else []), kind)


def _trim(outcome: Outcome, fields: Sequence[str]) -> Outcome:
    """Keep only the wanted fields of encodings."""
    if "by_choice" in outcome:
        ((name, options),) = outcome["by_choice"].items()
        return {"by_choice": {name: {option: _trim(inner, fields) for option, inner in options.items()}}}
    expected = outcome.get("expect", {})
    if "type_ids" not in expected or "overflowing" in fields:
        return outcome
    return {"expect": {key: value for key, value in expected.items() if key in fields}}


#: The most segmentations that an outcome lists; an outcome with more stays unchanged.
_MOST_TIED = 32


def _with_ties(outcome: Outcome, question: Question) -> Outcome:
    model, word = question.model, question.input.get("word", question.input.get("text", ""))
    is_whole = question.operation == "segment" or not model.keys() & {"normalizer", "pre_tokenizer", "special_tokens"}
    if model.get("type") != "unigram" or question.operation not in ("segment", "encode") or not is_whole:
        return outcome
    costs = costs_of(model)
    best = costs.forward(word)[-1]
    every = (tokens for tokens in _segmentations(word, costs) if close(costs.of(tokens), best))
    tied = list(islice(every, _MOST_TIED + 1))
    return _list_ties(outcome, tied, list(costs.costs)) if 1 < len(tied) <= _MOST_TIED else outcome


def _segmentations(word: str, costs: Costs, start: int = 0) -> Iterator[list[str]]:
    if start == len(word):
        yield []
    for end in range(start + 1, len(word) + 1):
        if word[start:end] in costs.costs:
            yield from ([word[start:end], *rest] for rest in _segmentations(word, costs, end))


def _list_ties(outcome: Outcome, tied: list[list[str]], vocabulary: list[str]) -> Outcome:
    if "by_choice" in outcome:
        ((name, options),) = outcome["by_choice"].items()
        return {"by_choice": {name: {each: _list_ties(inner, tied, vocabulary) for each, inner in options.items()}}}
    expected = outcome.get("expect", {})
    if expected.get("tokens") not in tied:
        return outcome
    every = [_as_result(expected, tokens, vocabulary) for tokens in tied]
    return {"by_choice": {"unigram_tie": {"any": {"one_of": every}, "earliest_start": outcome}}}


def _as_result(expected: Mapping[str, Any], tokens: list[str], vocabulary: list[str]) -> dict[str, Any]:
    """Write a segmentation in the form of an expected result."""
    ends = [0, *accumulate(map(len, tokens))]
    ids, spans = [vocabulary.index(token) for token in tokens], [list(span) for span in pairwise(ends)]
    forms = {"tokens": tokens, "ids": ids, "spans": spans}
    return {key: forms.get(key, value) for key, value in expected.items()}
