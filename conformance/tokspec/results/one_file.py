"""A user's file: what each implementation makes of it, held to tokfast with the options of the library it is made for.

tokfast is asked once, and its answers are recorded; every implementation is then compared with that recording, as
``tokspec diff`` compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tokspec.base.display import compact, shorten, visible
from tokspec.base.errors import DataError
from tokspec.compare.answers import Asker, answer
from tokspec.compare.compare import compare_records, default_inputs
from tokspec.compare.recording import Recording, header_of, read_recording, write_recording
from tokspec.compare.sides import Side, open_side
from tokspec.compare.tally import Group, Tally
from tokspec.formats.user_model import CONVERTED, UserModel
from tokspec.judge.verdicts import effective_choices
from tokspec.report.markdown import escape_markup
from tokspec.results.vocabularies import library_of
from tokspec.sessions.limits import Limits

#: What a process may take.
_LIMITS = Limits(case_seconds=20, start_seconds=120)

#: What causes of ``encode`` are about that leave the ids as they are.
_POSITIONS = "the same tokens, other spans"
_NAMES = "the same ids, other tokens"

#: Characters of a text that a row shows.
_SHOWN = 40

#: What is said of the form in which an implementation got the model.
_GETS = {"": "the file", CONVERTED: "the model converted"}

_HEAD = ("implementation", "gets", "model input", "text", "positions", "most often")


@dataclass(frozen=True)
class FileRow:
    """What an implementation came to: how many texts are right, of how many, in each respect that it offers.

    ``gets`` says in which form it got the model. ``reason`` says why it was not asked, or not to the end.
    """

    who: str
    gets: str = ""
    input: tuple[int, int] = (0, 0)
    text: tuple[int, int] = (0, 0)
    positions: tuple[int, int] = (0, 0)
    worst: str = ""
    reason: str = ""

    @property
    def order(self) -> tuple[float, float, float]:
        """What rows are sorted by: who has most of the model's input right comes first."""
        input, text, positions = (right / of if of else -1.0 for right, of in (self.input, self.text, self.positions))
        return -input, -text, -positions


def ask_all(
    model: UserModel, sides: Sequence[Side], made: int, advance: Callable[[str], object] = lambda who: None
) -> list[FileRow]:
    """Compare what implementations make of a model with what tokfast makes of it, the best first.

    Args:
        model: of the user.
        sides: the implementations.
        made: how many texts of each kind are made of the vocabulary.
        advance: is told who was asked.

    Raises:
        DataError: tokfast does not read the model.
    """
    rows = []
    with TemporaryDirectory() as folder:
        recording = _record(model, made, Path(folder, "tokfast.ndjson"))
        advance("tokfast")
        for side in sides:
            rows.append(_row(recording, model, side))
            advance(side.name)
    return sorted(rows, key=lambda row: row.order)


def _record(model: UserModel, made: int, file: Path) -> Recording:
    choices = {}
    with suppress(DataError), open_side(Side(library_of(model.format)), _LIMITS) as session:
        choices = {name: each for name, each in effective_choices(session.hello).items() if name != "offset_unit"}
    with open_side(Side("tokfast", choices=choices), _LIMITS) as session:
        asker = _only_ids_and_text(Asker(session, model))
        asker.check_model()
        header = header_of(asker, "not added", {"made": made, "files": []})
        write_recording(file, header, answer(asker, default_inputs(asker, made)))
    return read_recording(file)


def _only_ids_and_text(asker: Asker) -> Asker:
    asker.operations = tuple(each for each in ("encode", "decode") if each in asker.operations)
    return asker


def _row(recording: Recording, model: UserModel, side: Side) -> FileRow:
    who, gets, reason, tally = side.name, "", "", Tally()
    try:
        with open_side(side, _LIMITS) as session:
            hello = session.hello
            who = f"{hello.name} {hello.version}".strip()
            gets = model.rewritten_for(hello.formats)
            asker = _only_ids_and_text(Asker(session, model))
            if "encode" not in asker.operations:
                raise DataError("does not offer encode")
            asker.check_model()
            compare_records(recording, asker, (), tally=tally)
    except DataError as error:
        reason = error.message
    gives_spans = not reason and "spans" in hello.encode_fields
    return _counted(who, gets, reason, tally, gives_spans=gives_spans)


def _counted(who: str, gets: str, reason: str, tally: Tally, *, gives_spans: bool) -> FileRow:
    right, asked = _sum(tally, "encode/")
    moved, renamed = _texts(tally, _POSITIONS), _texts(tally, _NAMES)
    _, of_tokens = _sum(tally, "encode/vocabulary/")  # of which the ids alone are asked
    return FileRow(
        who,
        "" if reason and not asked else _GETS.get(gets, gets),
        (right + moved + renamed, asked),
        _sum(tally, "decode/"),
        (asked - of_tokens - moved, asked - of_tokens) if gives_spans else (0, 0),
        _worst(tally),
        reason,
    )


def _sum(tally: Tally, beginning: str) -> tuple[int, int]:
    """Return how many texts of some sections are right, of how many that were compared."""
    found = [each for name, each in tally.sections.items() if name.startswith(beginning)]
    right = sum(each.same for each in found)
    return right, right + sum(each.different for each in found)


def _texts(tally: Tally, what: str) -> int:
    return sum(group.texts for group in tally.groups.values() if group.cause[:2] == ("encode", what))


def _worst(tally: Tally) -> str:
    """Name the cause of most texts that changes the model's input, or else of most texts."""

    def weight(group: Group) -> tuple[bool, int]:
        is_input = group.cause.operation == "encode" and group.cause.what not in (_POSITIONS, _NAMES)
        return is_input, group.texts

    if not tally.groups:
        return ""
    group = max(tally.causes, key=weight)
    return f"{group.cause}: {group.texts:,}, as {shorten(compact(group.example.text), _SHOWN)}"


def text_rows(rows: Sequence[FileRow]) -> Iterator[str]:
    """Return the lines of a table for a terminal, and what was not asked."""
    table = [_HEAD, *(_cells(row) for row in rows if row.input[1])]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for who, gets, *numbers, worst in table if len(table) > 1 else ():
        shown = [cell.rjust(width) for cell, width in zip(numbers, widths[2:-1], strict=True)]
        yield "  ".join([who.ljust(widths[0]), gets.ljust(widths[1]), *shown, worst]).rstrip()
    yield from (f"{visible(row.who)}: {visible(row.reason)}" for row in rows if row.reason)


def markdown_rows(rows: Sequence[FileRow]) -> Iterator[str]:
    """Return the same as a table in Markdown."""
    yield f"| {' | '.join(_HEAD)} |"
    yield "| --- | --- | ---: | ---: | ---: | --- |"
    yield from (f"| {' | '.join(map(escape_markup, _cells(row)))} |" for row in rows if row.input[1])
    yield ""
    yield from (f"- {escape_markup(visible(f'{row.who}: {row.reason}'))}" for row in rows if row.reason)


def _cells(row: FileRow) -> tuple[str, ...]:
    numbers = (f"{right:,} of {of:,}" if of else "·" for right, of in (row.input, row.text, row.positions))
    return visible(row.who), visible(row.gets), *numbers, visible(row.worst)
