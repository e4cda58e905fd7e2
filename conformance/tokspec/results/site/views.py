"""The content of the pages as plain values: heat cells, failures by reason, and tokens aligned under the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import Any

from tokspec.base.display import compact, shorten, visible
from tokspec.judge.compare import ABSENT
from tokspec.judge.diagnosis import group_failures
from tokspec.judge.runner import Run
from tokspec.judge.truncate import Extract
from tokspec.judge.verdicts import Result, Verdict, count_verdicts
from tokspec.protocol.messages import Answer, Refused, Reply
from tokspec.results.one_file import FileRow
from tokspec.results.recorded import Library, Recorded, is_right
from tokspec.suite.cases import Case
from tokspec.suite.specification import load_specification

#: The most columns of a text under which tokens are aligned; for a longer text, they are next to each other.
_WIDEST = 48

#: How many tokens of a row are shown before and after the first difference.
_AROUND = 12

_LONGEST = 300

#: The mark of a choice that an implementation does not declare, and on which no case that was run depends.
NOT_HELD = "default, not asked"

_NOT_ASKED = (Verdict.UNSUPPORTED, Verdict.NOT_RUN)

#: The verdicts of answers that are not as specified, for a known reason.
KNOWN = (Verdict.KNOWN_FAILURE, Verdict.AS_ORIGIN)

#: The cell of an implementation is paler if a smaller share of the cases was run.
_LITTLE = 0.1


def shown(value: Any, longest: int = _LONGEST) -> str:
    """Write any value on one line, escaped and not longer than wanted; a text has no quotes.

    >>> shown({"tokens": ["b", "\\u202e"]})
    '{"tokens": ["b", "\\\\u202e"]}'
    """
    if isinstance(value, str):
        return shorten(visible(value), longest)
    return shorten(compact(value), longest)


def level_of(share: float) -> str:
    """Return the CSS class of a share.

    >>> level_of(1.0), level_of(0.99), level_of(0.2)
    ('all', 'most', 'few')
    """
    return "all" if share == 1 else "most" if share >= 0.9 else "some" if share >= 0.5 else "few"


@dataclass(frozen=True)
class Cell:
    """An implementation's results in one chapter: how many cases pass, are known failures, were run, and exist."""

    passed: int
    known: int
    asked: int
    total: int

    @property
    def level(self) -> str:
        """The CSS class of the cell, which sets its color: paler if too few cases were run to say much."""
        if not self.asked:
            return "unasked"
        return level_of(self.passed / self.asked) + " little" * (self.asked < _LITTLE * self.total)

    @property
    def share(self) -> float:
        """The sort key of a column: the share of all cases that pass; −1 if none was run."""
        return round(self.passed / self.total, 4) if self.asked and self.total else -1.0


def cell(results: Iterable[Result]) -> Cell:
    """Count the verdicts of a chapter."""
    counts = count_verdicts(results)
    total = sum(counts.values())
    known = sum(counts[verdict] for verdict in KNOWN)
    return Cell(counts[Verdict.PASS], known, total - counts[Verdict.UNSUPPORTED], total)


def chapter_title(chapter: str) -> str:
    """Return the name of a chapter in words.

    >>> chapter_title("02-pre-tokenization")
    'pre tokenization'
    """
    return chapter.partition("-")[2].replace("-", " ")


@dataclass(frozen=True)
class Group:
    """Results with the same reason of a known failure, or the same clause of a new one."""

    name: str
    results: tuple[Result, ...]
    link: str = ""


def groups(run: Run, links: Mapping[str, str] | None = None) -> tuple[list[Group], list[Group], list[Group]]:
    """Group failures by cause or else clause, and known failures and unsupported cases by reason, largest first.

    ``links`` maps the cases of known failures to the addresses of the threads about them.
    """
    known = [result for result in run.results if result.verdict in KNOWN]
    unsupported = [result for result in run.results if result.verdict is Verdict.UNSUPPORTED]
    causes = [group for group in group_failures(run.failed) if group.cause]
    alone = [result for result in run.failed if not result.cause]
    failed = [Group(shown(group.cause), group.results) for group in causes]
    return (
        failed
        + _grouped(alone, lambda result: result.case.clauses[0] if result.case.clauses else result.case.operation, {}),
        _grouped(known, lambda result: result.detail, links or {}),
        _grouped(unsupported, lambda result: result.detail, {}),
    )


def _grouped(results: Iterable[Result], key: Any, links: Mapping[str, str]) -> list[Group]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(key(result), []).append(result)
    return [
        Group(name, tuple(each), next((links[one.case.id] for one in each if links.get(one.case.id)), ""))
        for name, each in sorted(found.items(), key=lambda item: -len(item[1]))
    ]


@dataclass(frozen=True)
class Chip:
    """A token as it is drawn: its text, its id if there is one, and the 1-based columns of the text that it covers."""

    text: str
    id: str = ""
    start: int = 0
    end: int = 0
    differs: bool = False


@dataclass(frozen=True)
class TokenRow:
    """One row of tokens; ``width`` is the number of columns of the text; 0 if tokens are next to each other."""

    label: str
    chips: tuple[Chip, ...]
    width: int = 0
    before: int = 0
    after: int = 0
    text: tuple[str, ...] = field(default=())


def token_rows(
    case: Case, expected: Mapping[str, Any], reply: Reply | None, place: Sequence[Any] = ()
) -> list[TokenRow]:
    """Return the expected and the actual tokens, with the first difference marked; empty without tokens.

    They are aligned under the text if for both lists the spans, or the tokens' texts, show which part each covers.
    """
    due, came = _answers(expected), answer_of(reply) or {}
    wanted, actual = due.get("tokens"), came.get("tokens")
    if not _is_texts(wanted) or not (_is_texts(actual) if reply is not None else actual is None):
        return []
    at = None if actual is None or wanted is None else _first(wanted, actual, place)
    sides = [("expected", wanted, due), *([("actual", actual, came)] if actual is not None else [])]
    text = case.input.get("text")
    columns = [_columns(tokens, answer, text) for _, tokens, answer in sides]
    if isinstance(text, str) and 0 < len(text) <= _WIDEST and all(each is not None for each in columns):
        rows = [
            TokenRow(label, tuple(_chips(tokens, answer, at, spans)), len(text))
            for (label, tokens, answer), spans in zip(sides, columns, strict=True)
        ]
        return [TokenRow("text", (), len(text), text=tuple(visible(character) for character in text)), *rows]
    return [_beside(label, list(_chips(tokens, answer, at, None)), at or 0) for label, tokens, answer in sides]


def answer_of(reply: Reply | None) -> Mapping[str, Any] | None:
    """Return the result in a reply, if it has one and it was kept whole."""
    return reply.result if isinstance(reply, Answer) and not isinstance(reply, Extract) else None


def describe_reply(result: Result) -> str:
    """Describe the reply in one line."""
    if result.verdict is Verdict.PASS:
        return "as expected"
    reply = result.reply
    if isinstance(reply, Answer) and not isinstance(reply, Extract):
        return shown(reply.result)
    if isinstance(reply, Refused):
        return f"refused as {reply.reason}" + (f": {shown(reply.message, 160)}" if reply.message else "")
    return shown(result.detail)


def _answers(expected: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = expected.get("expect") or next(iter(expected.get("one_of", ())), {})
    return found if isinstance(found, Mapping) else {}


def _is_texts(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(item, str) for item in value)


def _first(wanted: Sequence[str], actual: Sequence[str], place: Sequence[Any]) -> int | None:
    if len(place) > 1 and isinstance(place[1], int):
        return place[1]
    for index in range(max(len(wanted), len(actual))):
        if wanted[index : index + 1] != actual[index : index + 1]:
            return index
    return None


def _columns(tokens: Sequence[str], answer: Mapping[str, Any], text: Any) -> list[tuple[int, int]] | None:
    if not isinstance(text, str):
        return None
    spans = answer.get("spans")
    if isinstance(spans, Sequence) and len(spans) == len(tokens) and _fit(spans, text):
        return [(int(start), int(end)) for start, end in spans]
    found: list[tuple[int, int]] = []
    place = 0
    for token in tokens:
        if not token or not text.startswith(token, place):
            return None
        found.append((place, place + len(token)))
        place += len(token)
    return found if place == len(text) else None


def _fit(spans: Sequence[Any], text: str) -> bool:
    """Return whether every span is a part of the text that begins where the one before it ends, or later."""
    place = 0
    for span in spans:
        is_pair = isinstance(span, Sequence) and len(span) == 2 and all(type(item) is int for item in span)
        if not is_pair or not place <= span[0] < span[1] <= len(text):
            return False
        place = span[1]
    return True


def _chips(
    tokens: Sequence[str], answer: Mapping[str, Any], at: int | None, columns: Sequence[tuple[int, int]] | None
) -> Iterable[Chip]:
    ids = answer.get("ids")
    for index, token in enumerate(tokens):
        start, end = columns[index] if columns else (0, 0)
        id = compact(ids[index]) if isinstance(ids, Sequence) and len(ids) == len(tokens) else ""
        yield Chip(shown(token, 40), shorten(id, 20), start + 1, end + 1, index == at)


def _beside(label: str, chips: list[Chip], at: int) -> TokenRow:
    start = max(0, at - _AROUND)
    kept = chips[start : at + _AROUND]
    return TokenRow(label, tuple(kept), 0, start, len(chips) - start - len(kept))


def model_text(case: Case) -> str:
    """Write a case's model in readable form, one key per line; long values are cut."""
    return "\n".join(f"{key}: {shown(value, 2000)}" for key, value in case.model.content.items() if key != "about")


def difference_text(result: Result) -> str:
    """Say in one line where an answer first differs."""
    difference = result.difference
    if difference is None:
        return shown(result.detail)
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in difference.path).lstrip(".")
    sides = [
        "nothing" if side is ABSENT else shown(json_text(side), 80) for side in (difference.expected, difference.actual)
    ]
    return f"{visible(shorten(place, 60))}: expected {sides[0]}, actual {sides[1]}"


def json_text(value: Any) -> str:
    """Write a value as JSON."""
    return json.dumps(value, ensure_ascii=False, default=repr)


def chapter_of(case: Case) -> str:
    """Return the chapter in which a case counts: that of its first clause."""
    return load_specification().clauses[case.clauses[0]].chapter


def options_taken(result: Result, choices: Mapping[str, str]) -> Iterator[tuple[str, str, bool]]:
    """Return the choices on which a result depends, with their options and whether it passes; for a table, by row.

    A choice that occurs only below an option that was not used is not included. A case that was not run depends on
    nothing.
    """
    for each in result.rows or (result,):
        outcome: Mapping[str, Any] = {} if each.verdict in _NOT_ASKED else each.case.outcome
        while "by_choice" in outcome:
            ((name, options),) = outcome["by_choice"].items()
            yield name, choices[name], each.verdict is Verdict.PASS
            outcome = options[choices[name]]


def choice_marks(run: Run) -> dict[str, str]:
    """Say for each choice whether ``hello`` declares the option, and how many of the cases that depend on it pass.

    A default for which no case passes is not shown, because the implementation may do something else. An option that
    ``--choice`` gave to the run is neither declared nor a default. Cases that were read from a report do not say on
    what they depend.
    """
    counts: dict[str, tuple[int, int]] = {}
    for result in run.results:
        for name, _, passes in options_taken(result, run.choices):
            passed, asked = counts.get(name, (0, 0))
            counts[name] = passed + passes, asked + 1
    defaults, marks = load_specification().defaults(), {}
    nothing = NOT_HELD if any(result.case.outcome for result in run.results) else "default"
    for name, option in run.choices.items():
        passed, asked = counts.get(name, (0, 0))
        if run.hello.choices.get(name) == option:
            mark = "declared"
        elif option != defaults.get(name):
            mark = "given"
        else:
            mark = "default" if passed else "default, not shown" if asked else nothing
        marks[name] = f"{mark}, {passed}/{asked}" if asked else mark
    return marks


def percent(right: int, of: int) -> str:
    """Write a share in percent; only the whole is written as 100.

    >>> percent(9999, 10000), percent(10000, 10000), percent(299_999, 300_000), percent(0, 0)
    ('99.99', '100', '99.999', '·')
    """
    if not of or right in (0, of):
        return "·" if not of else "100" if right else "0"
    share = Decimal(100 * right) / of
    places = next((places for places in range(3) if share <= 100 - Decimal(10) ** -places), 3)
    return str(share.quantize(Decimal(10) ** -places, ROUND_DOWN))


@dataclass(frozen=True)
class Share:
    """The share of right answers that a cell shows."""

    right: int
    of: int

    @property
    def percent(self) -> str:
        """The share in percent; a dot if no case was run."""
        return percent(self.right, self.of)

    @property
    def level(self) -> str:
        """The CSS class of the cell, which sets its color."""
        return level_of(self.right / self.of) if self.of else "unasked"

    @property
    def share(self) -> float:
        """The sort key of a column; −1 if no case was run."""
        return self.right / self.of if self.of else -1.0


def effect_cells(library: Library) -> list[tuple[str, Share | int]]:
    """Return the share that a library gets right, by effect.

    An effect that no case tests in particular, such as a crash, has the number of cases that fail with it.
    """
    return [
        (effect, Share(right, asked) if asked else failing)
        for effect, (asked, right, failing) in library.effects.items()
    ]


#: What the list of models says about files that are not a tokenizer.json.
_KINDS = {"vocab.tiktoken": "tiktoken file", "sentencepiece.model": "SentencePiece file", "tekken.json": "Tekken file"}


#: The names of the kinds of model.
MODEL_KINDS = {"bpe": "BPE", "unigram": "Unigram", "wordpiece": "WordPiece", "wordlevel": "word-level"}


def model_view(result: Recorded, rights: Mapping[str, int]) -> dict[str, Any]:
    """Return the values to show for a published tokenizer: the libraries that load it, best first, and the others.

    ``rights`` are the cases that each library gets right, by which equal rows are ordered.
    """
    loaded = [row for row in result.rows if row.input[1]]
    loaded.sort(key=lambda row: (Share(*row.input).share, Share(*row.text).share, rights.get(row.who, 0)), reverse=True)
    return {
        "name": result.name,
        "kind": _KINDS.get(result.format, ""),
        "type": result.kind,
        "type_name": MODEL_KINDS.get(result.kind, result.kind),
        "title": f"{result.file} of {result.package}",
        "sha256": result.sha256,
        "days": sorted({*result.asked.values()}),
        "rows": [_row_view(row) for row in loaded],
        "right": sum(is_right(row) for row in loaded),
        "not_loaded": [
            (shown(row.who, 60), shown(row.language, 30), shown(row.reason)) for row in result.rows if not row.input[1]
        ],
        "languages": languages_in(shown(row.language, 30) for row in loaded),
    }


def languages_in(fields: Iterable[object]) -> list[str]:
    """Return the languages that fields name, such as "Python, Rust" for a library in Rust that you call from Python.

    >>> languages_in(["Python, Rust", "Go"])
    ['Go', 'Python', 'Rust']
    """
    return sorted({language for field in fields for language in str(field).split(", ")})


def describe_language(languages: str) -> str:
    """Say from which language a library is called, and in which its engine is written if that is another.

    >>> describe_language("Python, Rust"), describe_language("Go")
    ('Python (engine in Rust)', 'Go')
    """
    language, _, engine = languages.partition(", ")
    return f"{language} (engine in {engine})" if engine else language


def _row_view(row: FileRow) -> dict[str, Any]:
    return {
        "name": shown(row.who, 60),
        "language": shown(row.language, 30),
        "input": Share(*row.input),
        "text": Share(*row.text),
        "worst": shown(row.worst or row.reason, 160),
    }
