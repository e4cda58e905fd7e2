"""Comparing implementations on a user's file with tokfast, which has the options of the file's own library.

tokfast answers once; every implementation is then compared with these answers, as ``tokspec diff`` compares it with a
recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tokspec.base.display import compact, shorten, visible
from tokspec.base.errors import DataError
from tokspec.compare.answers import Asker, Record, answer, answer_as, input_of, keep_ids
from tokspec.compare.causes import compare_replies
from tokspec.compare.compare import Names, default_inputs, named, unit_of
from tokspec.compare.sides import Side, open_side
from tokspec.compare.tally import Tally
from tokspec.formats.user_model import CONVERTED, UserModel
from tokspec.judge.verdicts import Verdict, effective_choices
from tokspec.protocol.messages import Answer, Reply
from tokspec.report.markdown import escape_markup
from tokspec.sessions.limits import Limits

#: The libraries for which files of a format are made; for all other formats it is tokenizers.
_LIBRARIES = {"sentencepiece.model": "sentencepiece", "vocab.tiktoken": "tiktoken", "tekken.json": "tiktoken"}

#: The limits of a process.
_LIMITS = Limits(case_seconds=20, start_seconds=120)

#: How many characters of a text a row shows.
_SHOWN = 40

#: The words for the form in which an implementation got the model.
_GETS = {"": "your file", CONVERTED: "a conversion"}

_HEAD = ("implementation", "language", "gets", "model input", "text", "positions", "most often")

#: The heading of the rows without a result.
_WITHOUT = "Without a result, because they do not load the file or cannot be asked:"

#: The note below a table whose totals differ.
_TOTALS = "Totals differ because each library is judged only on what it offers; some cannot encode pairs, for example."

#: The columns that contain words.
_LEFT = ("implementation", "language", "gets", "most often")


@dataclass(frozen=True)
class FileRow:
    """The result of an implementation: how many texts are right, of how many, in each respect that it offers.

    ``language`` is the language that you call it from, and after it that of its engine if it is another; ``gets`` is
    the form in which it got the model. ``reason`` says why it was not asked, or not to the end.
    """

    who: str
    language: str = ""
    gets: str = ""
    input: tuple[int, int] = (0, 0)
    text: tuple[int, int] = (0, 0)
    positions: tuple[int, int] = (0, 0)
    worst: str = ""
    reason: str = ""

    @property
    def order(self) -> tuple[float, float, float]:
        """The sort key of rows: the implementation with the largest share of correct model input comes first."""
        input, text, positions = (right / of if of else -1.0 for right, of in (self.input, self.text, self.positions))
        return -input, -text, -positions


def ask_all(
    model: UserModel,
    sides: Sequence[Side],
    made: int,
    begin: Callable[[str], object] = lambda who: None,
    limits: Limits | None = None,
) -> list[FileRow]:
    """Compare the results of implementations with those of tokfast on a model; the best come first.

    Args:
        model: the user's model.
        sides: the implementations.
        made: how many texts of each kind are made of the vocabulary.
        begin: called with the name of each implementation before it is tested.
        limits: the limits of each implementation; patient ones unless given.

    Raises:
        DataError: tokfast does not read the model.
    """
    rows = []
    begin("tokfast")
    expected = _ask_tokfast(model, made)
    for side in sides:
        begin(side.name)
        rows.append(_row(expected, side, limits or _LIMITS))
    return sorted(rows, key=lambda row: row.order)


def _ask_tokfast(model: UserModel, made: int) -> _Expected:
    choices = {}
    with suppress(DataError), open_side(Side(_LIBRARIES.get(model.format, "tokenizers")), _LIMITS) as session:
        choices = {name: each for name, each in effective_choices(session.hello).items() if name != "offset_unit"}
    with open_side(Side("tokfast", choices=choices), _LIMITS) as session:
        asker = _only_ids_and_text(Asker(session, model))
        asker.check_model()
        return _Expected(asker, list(answer(asker, default_inputs(asker, made))))


def _only_ids_and_text(asker: Asker) -> Asker:
    asker.operations = tuple(each for each in ("encode", "decode") if each in asker.operations)
    return asker


@dataclass(frozen=True)
class _Expected:
    """Who answered about which model, and the answers, which are kept in memory: about a kilobyte for each text."""

    asker: Asker
    records: Sequence[Record]


@dataclass
class _Counts:
    """How many texts are right, of how many, and the differences, for texts with wrong input and for others."""

    input: list[int] = field(default_factory=lambda: [0, 0])
    text: list[int] = field(default_factory=lambda: [0, 0])
    positions: list[int] = field(default_factory=lambda: [0, 0])
    wrong: Tally = field(default_factory=Tally)
    others: Tally = field(default_factory=Tally)

    def add(self, one: Record, other: Record, units: tuple[str, str], names: Names) -> None:
        """Compare the records of tokfast and an implementation for a text, and count the result."""
        if "encode" in one.replies and (reply := other.replies.get("encode")) and _has_ids(reply):
            ids = named(keep_ids(one), keep_ids(other), names)
            is_wrong = self._note(self.wrong, self.input, ids, "encode", units)
            if not is_wrong and (spans := _spans(one, other)):
                self._note(self.others, self.positions, spans, "encode", units)
        if "decode" in one.replies and "decode" in other.replies:
            self._note(self.others, self.text, (one, other), "decode", units)

    @staticmethod
    def _note(
        tally: Tally, counts: list[int], pair: tuple[Record, Record], operation: str, units: tuple[str, str]
    ) -> bool:
        """Compare an operation, count the result, and return whether it differs."""
        one, other = pair
        input = input_of(operation, one) or {"text": one.input.text}
        outcome = compare_replies(operation, input, one.replies[operation], other.replies[operation], units)
        if outcome.verdict is Verdict.UNSUPPORTED:
            return False
        counts[0] += not outcome.differs
        counts[1] += 1
        if outcome.differs:
            tally.note("texts", one.input.place, one.input.text, [outcome])
        return outcome.differs


def _spans(one: Record, other: Record) -> tuple[Record, Record] | None:
    """Return records of spans alone; None if a side gives none."""
    replies = [each.replies["encode"] for each in (one, other)]
    found = [reply.result.get("spans") if isinstance(reply, Answer) else None for reply in replies]
    if None in found:
        return None
    a, b = (replace(one, replies={"encode": Answer({"spans": spans})}) for spans in found)
    return a, b


def _has_ids(reply: Reply) -> bool:
    """Return whether the ids of a reply can be judged, which is also true of a refusal and a fault."""
    return not isinstance(reply, Answer) or "ids" in reply.result


def _row(expected: _Expected, side: Side, limits: Limits) -> FileRow:
    model = expected.asker.model
    who, language, gets, reason, counts = side.name, "", "", "", _Counts()
    try:
        with open_side(side, limits) as session:
            hello = session.hello
            who, language = f"{hello.name} {hello.version}".strip(), hello.language
            gets = model.rewritten_for(hello.formats)
            asker = _only_ids_and_text(Asker(session, model))
            if "encode" not in asker.operations:
                raise DataError("does not offer encode")
            asker.check_model()
            units, names = (unit_of(expected.asker), unit_of(asker)), Names(expected.asker, asker)
            for one, replies in answer_as(asker, expected.records):
                counts.add(one, Record(one.input, replies), units, names)
    except DataError as error:
        reason = error.message
    return FileRow(
        who,
        language,
        "" if reason and not counts.input[1] else _GETS.get(gets, gets),
        (counts.input[0], counts.input[1]),
        (counts.text[0], counts.text[1]),
        (counts.positions[0], counts.positions[1]),
        _worst(counts.wrong if counts.wrong.groups else counts.others),
        reason,
    )


def _worst(tally: Tally) -> str:
    """Name the most frequent cause."""
    if not tally.groups:
        return ""
    group = tally.causes[0]
    return f"{group.cause}: {group.texts:,}, as {shorten(compact(group.example.text), _SHOWN)}"


def text_rows(rows: Sequence[FileRow]) -> Iterator[str]:
    """Return the lines of a table for a terminal, and the implementations that were not asked."""
    columns = _columns(rows)
    if columns and len(columns[0]) > 1:
        shown = [
            [cell.ljust(width) if head in _LEFT else cell.rjust(width) for cell in (head, *cells)]
            for head, *cells in columns
            for width in [max(map(len, (head, *cells)))]
        ]
        yield from ("  ".join(row).rstrip() for row in zip(*shown, strict=True))
    if _totals_differ(rows):
        yield _TOTALS
    yield from (f"{visible(row.who)}: {shorten(visible(row.reason))}" for row in rows if row.reason and row.input[1])
    if without := [row for row in rows if row.reason and not row.input[1]]:
        yield _WITHOUT
        yield from (f"  {visible(row.who)}: {shorten(visible(row.reason))}" for row in without)


def markdown_rows(rows: Sequence[FileRow]) -> Iterator[str]:
    """Return the same rows as a table in Markdown."""
    head, *body = zip(*_columns(rows), strict=True)
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' if name in _LEFT else '---:' for name in head)} |"
    yield from (f"| {' | '.join(map(escape_markup, row))} |" for row in body)
    if _totals_differ(rows):
        yield ""
        yield _TOTALS
    yield ""
    yield from (f"- {escape_markup(visible(f'{row.who}: {shorten(row.reason)}'))}" for row in rows if row.reason)


def _totals_differ(rows: Sequence[FileRow]) -> bool:
    """Return whether implementations that were asked to the end were asked for different numbers of texts."""
    whole = [row for row in rows if not row.reason]
    return any(len({*each} - {0}) > 1 for each in ([row.input[1] for row in whole], [row.text[1] for row in whole]))


def _columns(rows: Sequence[FileRow]) -> list[tuple[str, ...]]:
    """Return the columns of a table of the implementations that were asked, with heads and without empty columns."""
    body = [_cells(row) for row in rows if row.input[1]]
    columns = list(zip(_HEAD, *body, strict=True))
    return [column for column in columns if column[0] == _HEAD[0] or {*column[1:]} - {"", "·"}]


def _cells(row: FileRow) -> tuple[str, ...]:
    numbers = (f"{right:,} of {of:,}" if of else "·" for right, of in (row.input, row.text, row.positions))
    return visible(row.who), visible(row.language), visible(row.gets), *numbers, visible(row.worst)
