"""Why cases fail: each failing case gets a cause in one line, and cases with the same cause form a group.

The cause is the first of these that is known: an option of a choice with which the case passes, and which all answers
support well, as in ``tokspec probe``; the first stage that diverges, for a case of ``encode`` if the implementation
offers stages; the form of the first difference, or the message of a fault or a refusal without its numbers and names;
for everything else, the rule. It is a description, not a proof: two causes may look alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokspec.base.display import compact, shorten
from tokspec.formats.neutral import added_tokens_of, ids_of
from tokspec.judge import declared
from tokspec.judge.causes import CHOICE, COMPARED, Cause, Seen, cause_of_difference, without_particulars
from tokspec.judge.compare import resolve
from tokspec.judge.probe import choices_of, find_choices
from tokspec.judge.runner import Run
from tokspec.judge.truncate import Extract
from tokspec.judge.verdicts import Result, Verdict, effective_choices, judge
from tokspec.protocol.messages import Answer, Fault, Reply, Request
from tokspec.protocol.replies import check_form
from tokspec.protocol.spans import convert_result
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case

#: For how many failing cases the stages are compared, because an implementation may be slow.
_ASKED = 200

#: The beginnings of causes that only describe how a text is written in tokens. BPE, WordPiece and Unigram have separate
#: code for that, so the cases of each have separate causes.
_OF_A_FAMILY = tuple(
    f"encode: {what}"
    for what in ("another token", "other tokens", "cuts", "does not cut", "not the unknown token", "the unknown token")
)

#: A cause with more cases than this may be split by family; fewer are easy to read.
_MANY = 20

#: Verdicts, most serious first.
_SERIOUS = (Verdict.STATE_LEAK, Verdict.CRASH, Verdict.TIMEOUT, Verdict.PROTOCOL, Verdict.ERROR, Verdict.FAIL)


#: The cause of unexpected passes.
_LISTED = "passes, and is listed as failing"


@dataclass(frozen=True)
class FailureGroup:
    """The failing cases with one cause, starting with the clearest; unexpected passes are a group without a cause."""

    cause: str
    results: tuple[Result, ...]


def group_failures(failed: Iterable[Result]) -> list[FailureGroup]:
    """Group failing cases by cause, largest groups first; a case without a known cause is a group by itself."""
    by_cause: dict[str, list[Result]] = {}
    for result in failed:
        is_pass = result.verdict is Verdict.UNEXPECTED_PASS
        alone = _LISTED if is_pass else f"case {result.case.id}"
        by_cause.setdefault(result.cause or alone, []).append(result)
    groups = [
        FailureGroup(_LISTED if name == _LISTED else found[0].cause, tuple(sorted(found, key=_shows)))
        for name, found in by_cause.items()
    ]
    return sorted(groups, key=lambda group: (-len(group.results), _seriousness(group)))


def _shows(result: Result) -> tuple[bool, int]:
    """Return a sort key: cases of the diverging stage itself come before others, and short inputs before long ones."""
    return not result.cause.startswith(f"{result.case.operation}:"), len(compact(result.question.input))


def _seriousness(group: FailureGroup) -> int:
    """Return the sort key of a cause among causes with equally many cases; cases without one keep their order."""
    verdict = group.results[0].verdict
    return _SERIOUS.index(verdict) if group.cause and verdict in _SERIOUS else len(_SERIOUS)


def diagnose(run: Run, session: Session, reference: Session) -> Run:
    """Return the run with the cause of every failing case, for which the implementation is asked about its stages.

    An unexpected pass is not a failure, so it has no cause.
    """
    by_choice = _by_choice(run)
    stages = _Stages(session, reference, _ASKED, run.choices["offset_unit"])

    def cause_of(result: Result) -> str:
        told = by_choice.get(result.case.id) or declared.cause_of(result, run.hello)
        return told or stages.cause_of(result) or str(_cause(result, run.choices))

    failed = {result.case.id for result in run.failed if result.verdict is not Verdict.UNEXPECTED_PASS}
    told = [replace(result, cause=cause_of(result)) if result.case.id in failed else result for result in run.results]
    return replace(run, results=tuple(_by_family(told)))


def _by_family(results: Sequence[Result]) -> Iterator[Result]:
    """Add the model's family to a cause that many cases of several families share but that depends on the family.

    If one fixture expands to cases of several families, which fail alike, the cause does not belong to one family.
    """
    families: dict[str, list[str]] = {}
    at_place: dict[tuple[str, str, int], set[str]] = {}
    for result in results:
        families.setdefault(result.cause, []).append(_family(result))
        at_place.setdefault((result.cause, result.case.file, result.case.line), set()).add(_family(result))
    for result in results:
        own = families[result.cause]
        is_large = result.cause.startswith(_OF_A_FAMILY) and len(own) > _MANY and len(set(own)) > 1
        if is_large and len(at_place[result.cause, result.case.file, result.case.line]) == 1:
            yield replace(result, cause=f"{result.cause}, in {_family(result)} models")
        else:
            yield result


def _family(result: Result) -> str:
    model = result.case.model
    return "" if model.file else str(model.content.get("type", "untyped"))


def _by_choice(run: Run) -> Mapping[str, str]:
    """Return for failing cases the option with which they pass, if all answers support it well.

    A case that passes with the options of several choices gets the one with which most cases pass.
    """
    failed = [result for result in run.failed if result.verdict is not Verdict.UNEXPECTED_PASS]
    if not any(choices_of(row.case) for result in failed for row in result.rows or (result,)):
        return {}
    replies = {
        row.case.id: row.reply
        for result in run.results
        for row in result.rows or (result,)
        if row.reply is not None and not isinstance(row.reply, Extract)
    }
    asked = [question for result in run.results for question in result.case.questions]
    declaration = find_choices(asked, replies, run.hello).declaration
    mended = {
        choice: [result.case.id for result in failed if _passes(result, run, *choice)]
        for choice in declaration.items()
        if run.choices[choice[0]] != choice[1]
    }
    found: dict[str, str] = {}
    for choice, cases in sorted(mended.items(), key=lambda item: -len(item[1])):
        for case in cases:
            found.setdefault(case, f"{CHOICE}{'='.join(choice)}")
    return found


def _passes(result: Result, run: Run, name: str, option: str) -> bool:
    """Return whether a case passes with another option: each row passes, or is unsupported as before."""
    choices, rows = {**run.choices, name: option}, result.rows or (result,)
    return any(name in choices_of(row.case) for row in rows) and all(
        row.verdict is Verdict.UNSUPPORTED
        or (
            row.reply is not None
            and not isinstance(row.reply, Extract)
            and judge(row.case, row.reply, run.hello, choices).verdict is Verdict.PASS
        )
        for row in rows
    )


def _cause(result: Result, choices: Mapping[str, str]) -> Cause | str:
    """Return the cause that follows from the result alone."""
    question, clause = result.question, result.case.clauses[0]
    if result.verdict is Verdict.STATE_LEAK:
        return "keeps something from one request to the next"
    if result.verdict is not Verdict.FAIL:
        return f"{result.verdict.value}: {_said(result)}"
    if result.difference is None:
        return f"{_without_row(result)}, by {clause}"
    field = str(result.difference.path[0]) if result.difference.path else "result"
    if question.operation not in COMPARED or not isinstance(result.reply, Answer) or isinstance(result.reply, Extract):
        return f"{question.operation}: wrong {field}, by {clause}"
    expected = result.expected["expect"] if "expect" in result.expected else result.expected["one_of"][0]
    character = _character(question, result.difference.path, resolve(question.outcome, choices))
    path, actual = result.difference.path, result.reply.result
    text = str(question.input.get("text", ""))
    has_tokens = "tokens" in expected and "tokens" in actual
    if path[0] == "ids" and not has_tokens and not question.model.file:
        names, at = _tokens_by_id(question.model.content), path[1] if len(path) > 1 else None
        expected, actual = ({"tokens": [names.get(id) for id in side.get("ids", ())]} for side in (expected, actual))
        if isinstance(at, int) and actual["tokens"][at : at + 1] == [None]:
            return Cause(question.operation, "an id that no token has", "")
        path = ("tokens", *path[1:])
    if unknown := _unknown(question, expected, actual, path):
        return Cause(question.operation, unknown, "")
    return cause_of_difference(question.operation, Seen(text, expected, actual, path, character))


def _tokens_by_id(model: Mapping[str, Any]) -> dict[int, str]:
    """Return the tokens of a model by id, because the same fault has different ids in each model."""
    added = {token["id"]: token["content"] for token in added_tokens_of(model) if token["id"] is not None}
    return {**{id: token for token, id in ids_of(model).items()}, **added}


#: The unknown token of a model that names none, by its type.
_UNKNOWN = {"wordpiece": "[UNK]", "wordlevel": "<unk>"}


def _unknown(question: Case, expected: Mapping[str, Any], actual: Mapping[str, Any], path: Sequence[str | int]) -> str:
    """Describe a difference in which only one side has the unknown token."""
    model = question.model.content
    if question.model.file:
        return ""
    unknown = model.get("unknown_token", _UNKNOWN.get(model.get("type", "")))
    if unknown is None or len(path) != 2 or path[0] != "tokens" or not isinstance(path[1], int):
        return ""
    sides = ([*expected.get("tokens", ())], [*actual.get("tokens", ())])
    if _has_more_before(sides[0], sides[1], unknown, str(question.input.get("text", ""))):
        return "pieces before the unknown token that the case has alone"
    ours, theirs = (tokens[path[1] : path[1] + 1] for tokens in sides)
    if ours == [unknown]:
        return "not the unknown token where the case has it"
    return "the unknown token where the case has another one" if theirs == [unknown] else ""


def _has_more_before(expected: Sequence[str], actual: Sequence[str], unknown: str, text: str) -> bool:
    """Return whether all extra tokens are right before an unknown token; if the text contains it, it is like any other.

    >>> _has_more_before(["a", "[UNK]", "b"], ["a", "a", "##b", "[UNK]", "b"], "[UNK]", "a abx b")
    True
    >>> _has_more_before(["[UNK]", "b"], ["[UNK]", "b", "##b"], "[UNK]", "x bb")
    False
    """
    if len(actual) <= len(expected):
        return False
    is_piece = unknown in text
    states = {(len(expected), False)}  # how many are left to find, from the end, and whether the next may be extra
    for token in reversed(actual):
        found = {(left - 1, token == unknown) for left, _ in states if left and expected[left - 1] == token}
        more = {(left, True) for left, may in states if may and (is_piece or token != unknown)}
        states = found | more
    return any(not left for left, _ in states)


def _character(question: Case, path: tuple[str | int, ...], outcome: Mapping[str, Any]) -> str:
    """Return the first character of the item whose span differs."""
    text = question.input.get("text")
    right: Mapping[str, Any] = outcome["expect"] if "expect" in outcome else next(iter(outcome.get("one_of", ())), {})
    items = right.get(path[0], ()) if path[0] in ("pieces", "spans") else ()
    at = path[1] if len(path) > 1 and isinstance(path[1], int) else 0
    return text[items[at][-2] :][:1] if isinstance(text, str) and at < len(items) else ""


def _without_row(result: Result) -> str:
    """Return the detail of a case, or of the worst row of a table."""
    return next((row.detail for row in result.telling), result.detail)


def _said(result: Result) -> str:
    """Return the first line of the message of a fault or a refusal, without the names and numbers that vary.

    >>> from types import SimpleNamespace
    >>> told = "exit status 2; standard error ends 'panic: index out of range [5] | goroutine 1 [running]:'"
    >>> _said(SimpleNamespace(telling=(), detail=told))
    'index out of range [N]'
    >>> _said(SimpleNamespace(telling=(), detail="it can't encode '\\ud800' in position 1"))
    "it can't encode … in position N"
    >>> told = "exit status 101; standard error ends 'panicked at src/lib.rs:147:5: | no entry found | note: run with'"
    >>> _said(SimpleNamespace(telling=(), detail=told))
    'panicked at src/lib.rs:N:N: no entry found'
    """
    return shorten(first_line(_without_row(result), without_particulars), 100)


def first_line(message: str, without: Callable[[str], str]) -> str:
    """Return the first line of a message of a fault or a refusal, from which ``without`` removes what varies."""
    text = re.sub(r".*standard error ends ['\"]", "", message)
    text = re.sub(r"(\bpanicked at [^|]*:) \| ", r"\1 ", text)  # Rust gives the reason on the next line
    text = re.split(r" \(\S+:\d+ in ", text, maxsplit=1)[0].removeprefix("panic: ")  # Go's form for recovered panics
    # first what varies, because a pattern or a text that a message quotes may have several lines
    return re.split(r" \| |\\n|\n", without(text), maxsplit=1)[0]


class _Stages:
    """Compares the stages before encoding, until a stage, or the reference, fails to answer.

    ``unit`` is the unit of the implementation's spans, to which those of the reference are converted.
    """

    def __init__(self, session: Session, reference: Session, left: int, unit: str) -> None:
        self._session = session
        self._reference = reference
        self._left = left
        self._unit = unit
        self.offered = [stage for stage in ("normalize", "pre_tokenize") if stage in session.hello.operations]

    def cause_of(self, result: Result) -> str:
        """Return the cause of a wrong encoding if a stage before it is to blame; otherwise empty."""
        if result.verdict is not Verdict.FAIL or result.difference is None or not self._left:
            return ""
        self._left -= 1
        compared = self.compare(result.question)
        if not compared or not _differs(compared[-1][1]):
            return ""
        return str(cause_of_difference(*compared[-1]))

    def compare(self, case: Case) -> list[tuple[str, Seen]]:
        """Return the stages with both answers, up to the first that differs; empty if there is nothing to compare.

        Each stage gets the output of the reference's stage before it, so that it is not blamed for an earlier one.
        """
        text, compared = case.input.get("text"), []
        if case.operation != "encode" or not self.offered or not isinstance(text, str):
            return []
        for stage in ("normalize", "pre_tokenize"):
            asked = Request(stage, case.model.name, case.model.content, {"text": text}, case.model.file)
            right = _ask(self._reference, asked)
            if isinstance(right, Fault):
                self._left = 0  # each such request may use up the whole time limit
            if not isinstance(right, Answer):
                return []
            actual = _ask(self._session, asked) if stage in self.offered else None
            if isinstance(actual, Fault):
                self._left = 0
            if isinstance(actual, Answer):
                expected = convert_result(right.result, asked.input, self._unit)
                compared.append((stage, Seen(text, expected, actual.result, ())))
                if _differs(compared[-1][1]):
                    break
            text = right.result.get("text", text)
        return compared


def _differs(seen: Seen) -> bool:
    """Return whether two answers of a stage differ; missing spans are no difference, because they are optional."""
    left, right = (list(map(list, result.get("pieces", ()))) for result in (seen.expected, seen.actual))
    if left and right and any(len(piece) == 1 for piece in right):
        return [piece[0] for piece in left] != [piece[0] for piece in right]
    return seen.expected != seen.actual


def first_diverging_stage(case: Case, session: Session, reference: Session, unit: str = "") -> str:
    """Describe the first stage that diverges; empty if the implementation does not offer the stages separately.

    ``case`` is a single question, so a row of a table. ``unit`` is the unit of the implementation's spans; unless
    given, the one that it declares.
    """
    stages = _Stages(session, reference, 1, unit or effective_choices(session.hello)["offset_unit"])
    compared = stages.compare(case)
    if not compared:
        return ""
    stage, seen = compared[-1]
    if _differs(seen):
        gives = f"{shorten(compact(seen.actual))}, the reference {shorten(compact(seen.expected))}"
        return f"{stage} of {shorten(compact(seen.text), 60)} diverges first: it gives {gives}"
    agree = f"{' and '.join(name for name, _ in compared)} agree{'s' if len(compared) == 1 else ''}"
    return f"{agree} with the reference; what follows differs"


def _ask(session: Session, asked: Request) -> Reply:
    ((_, reply),) = session.ask([asked])
    return check_form(asked.operation, reply)
