"""Real vocabularies: every implementation of a list with every file of a folder, held to tokfast over many texts.

tokfast takes the options of the library for which files of a format are made, so that all are held to the same. An
implementation gets a file as it is if it loads that format, and otherwise the model as it gets that of a case: in a
format that it takes, unless it does not know a component. The texts are the suite's own, and texts with special tokens
of the file in every position.

What an implementation came to with a file is a cell, kept in a file of its own: a line that sums it up, and a line for
each cause of what differs. Its name has a digest of everything on which it depends; a cell that is there is not
computed again. A crash, a hang and a refusal are results like others.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any, TypeGuard

from tokspec import __version__
from tokspec.adapter import Hello
from tokspec.adapters.tokfast import WITH_CHOICES
from tokspec.base.display import compact, shorten, visible
from tokspec.base.errors import DataError, Unsupported
from tokspec.base.files import fixtures_folder, write_whole
from tokspec.compare.answers import Asker, Record, answer, input_of
from tokspec.compare.causes import Outcome, compare_replies
from tokspec.compare.compare import unit_of
from tokspec.compare.models import digest, parts_of
from tokspec.compare.sides import Side, open_side
from tokspec.compare.tally import Group, Tally
from tokspec.compare.texts import suite_texts, texts_hash, texts_of_special_tokens
from tokspec.formats.on_disk import format_of
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.judge.verdicts import Verdict, effective_choices
from tokspec.protocol.messages import Answer, Refused, Reply
from tokspec.results.rows import Listed
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session
from tokspec.suite.components import covers, needed_components

#: The version of cells, and the folder where they are.
FORMAT = 1
_CELLS = "cells"

#: What is compared, and counted apart; ``text`` is what ids are decoded to.
FIELDS = ("ids", "tokens", "spans", "text")
_OPERATIONS = ("encode", "decode")

#: The libraries for which files of a format are made.
_LIBRARIES = {"sentencepiece.model": "sentencepiece", "vocab.tiktoken": "tiktoken", "tekken.json": "tiktoken"}
_OTHER_LIBRARY = "tokenizers"

#: What a process may take, and the seconds of a cell.
_LIMITS = Limits(case_seconds=20, start_seconds=120)
_CELL_SECONDS = 300.0

#: Seconds between two looks at whether somebody interrupts.
_LOOK_SECONDS = 0.2

#: Texts between two looks at the clock, and special tokens of which texts are made.
_BATCH = 64
_PLACED = 6

#: Causes that a cell keeps, and characters of their examples.
_CAUSES = 20
_SHOWN = 400

#: What stands beside a file of ranks.
_BESIDE = re.compile(r"\.beside\.\w+$")


@dataclass
class Cell:
    """What an implementation came to with a file.

    ``given`` is the format in which it got the model, ``as_it_is`` whether that is the file itself. ``fields`` has for
    each of :data:`FIELDS` that the implementation offers how many texts agree, and of how many. ``reason`` says why
    there is nothing to count, or why counting ended; texts without a reply do not agree.
    """

    vocabulary: str
    implementation: str
    given: str = ""
    as_it_is: bool = False
    texts: int = 0
    fields: dict[str, list[int]] = field(default_factory=dict)
    reason: str = ""
    seconds: float = 0.0
    causes: list[dict[str, Any]] = field(default_factory=list)

    def share(self, *names: str) -> float | None:
        """Return the share of texts that agree in the first of these fields that is offered: ids, or else tokens."""
        found = [self.fields[name] for name in names or ("ids", "tokens") if name in self.fields]
        return found[0][0] / found[0][1] if found else None

    def count(self, outcome: Outcome, offered: Sequence[str]) -> None:
        """Count what an operation on a text came to, for the fields that it gives."""
        a, b = outcome.a, outcome.b
        for name in FIELDS:
            if isinstance(a, Answer) and isinstance(b, Answer):
                if name in a.result:
                    self.add(name, a.result[name] == b.result[name])
            elif name in offered:
                self.add(name, not outcome.differs)

    def add(self, name: str, agrees: bool) -> None:
        """Count a text."""
        counts = self.fields.setdefault(name, [0, 0])
        counts[0] += agrees
        counts[1] += 1


@dataclass(frozen=True)
class Column:
    """A file with its cells, by the name of the implementation; ``fault`` says why there are no others."""

    vocabulary: str
    format: str
    cells: Mapping[str, Cell]
    fault: str = ""


def library_of(format: str) -> str:
    """Name the library for which files of a format are made.

    >>> library_of("tokenizer.json")
    'tokenizers'
    """
    return _LIBRARIES.get(format, _OTHER_LIBRARY)


def _format_of(file: Path) -> str:
    try:
        return format_of(file)
    except DataError:
        raise DataError("is not named like a vocabulary; keep only vocabularies in this folder", str(file)) from None


class Vocabularies:
    """The files of a folder, and the implementations that are here, each with its ``hello``.

    Raises:
        DataError: there is no file, or the name of one does not say its format.
    """

    def __init__(self, folder: Path, listed: Sequence[Listed]) -> None:
        files = [file for file in folder.glob("*.*") if file.is_file() and not _BESIDE.search(file.name)]
        if not files:
            raise DataError("has no files; conformance/tests/shipped/fetch.py fetches some", str(folder))
        self.folder, self.formats = folder, {file: _format_of(file) for file in sorted(files)}
        self.sides: dict[str, tuple[Side, Hello]] = {}
        self.missing: dict[str, str] = {}
        for one in listed:
            side = Side(one.impl, one.command)
            try:
                missing = one.missing()
                if missing:
                    raise DataError(missing)
                with open_side(side, _LIMITS) as session:
                    if one.impl not in WITH_CHOICES:
                        hello = session.hello
                        self.sides[f"{hello.name} {hello.version}".strip()] = side, hello
            except DataError as error:
                self.missing[one.name] = error.message
        self._choices = {side.impl: effective_choices(hello) for side, hello in self.sides.values()}

    def compare(self, jobs: int, advance: Callable[[bool], object] = lambda is_new: None) -> list[Column]:
        """Return all cells, and compute those that are missing, of so many files at once.

        ``advance`` is called for each, and told whether it was missing.
        """
        (self.folder / _CELLS).mkdir(exist_ok=True)
        waiting = iter(sorted(self.formats, key=lambda file: -file.stat().st_size))  # what takes longest is not last
        columns: dict[Path, Column] = {}
        errors: list[BaseException] = []

        def work() -> None:
            try:
                while not errors and (file := next(waiting, None)):
                    columns[file] = self._column(file, advance)
            except BaseException as error:
                errors.append(error)

        # threads that nobody waits for: an interruption ends them, and with them the programs that they ask
        threads = [Thread(target=work, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive() and not errors:
                thread.join(_LOOK_SECONDS)
        if errors:
            raise errors[0]
        return [columns[file] for file in self.formats]

    def _column(self, file: Path, advance: Callable[[bool], object]) -> Column:
        name, format = file.stem, self.formats[file]
        choices = self._choices.get(library_of(format), {})
        told = [file, *sorted(self.folder.glob(f"{name}.beside.*"))]
        read = [FORMAT, __version__, sha256(b"".join(each.read_bytes() for each in told)).hexdigest(), choices]
        kept = {
            who: self.folder
            / _CELLS
            / f"{_slug(f'{name}-{who}')}-{digest([*read, texts_hash(), _PLACED, who])[:16]}.ndjson"
            for who in self.sides
        }
        fault = ""
        missing = [who for who, path in kept.items() if not path.exists()]
        for _ in range(len(kept) - len(missing)):
            advance(False)
        if missing:
            try:
                model = read_user_model(file)
                asked = _Asked.of(model, choices)
            except (DataError, Unsupported) as error:
                missing, fault = [], error.message
        for who in missing:
            start = time.monotonic()
            cell = Cell(name, who)
            asked.ask(cell, *self.sides[who])
            cell.seconds = round(time.monotonic() - start, 1)
            _write(kept[who], cell)
            advance(True)
        return Column(name, format, {who: _read(path) for who, path in kept.items() if path.exists()}, fault)


@dataclass(frozen=True)
class _Asked:
    """A file, and what tokfast answers to each text; ``written`` is the model in other formats."""

    model: UserModel
    records: Sequence[Record]
    unit: str
    written: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: UserModel, choices: Mapping[str, str]) -> _Asked:
        """Ask tokfast.

        Raises:
            DataError: it does not read the file, or answers no text.
            Unsupported: the file says what the specification does not cover.
        """
        special = list(parts_of(model).special.values())
        placed = special[:: max(1, len(special) // _PLACED)][:_PLACED]
        inputs = [*suite_texts(), *texts_of_special_tokens(placed)]
        taken = {name: option for name, option in choices.items() if name != "offset_unit"}
        with open_side(Side("tokfast", choices=taken), _LIMITS) as session:
            asker = _asker(session, UserModel("tokspec", model.write("tokspec"), model.name, ""))
            return cls(model, list(answer(asker, inputs)), unit_of(asker))

    def ask(self, cell: Cell, side: Side, hello: Hello) -> None:
        """Compare what an implementation answers, in bounded time."""
        try:
            cell.given, content = self._written_for(hello)
            cell.as_it_is = cell.given in self.model.own_formats
            with open_side(side, _LIMITS) as session:
                self._compare(cell, _asker(session, UserModel(cell.given, content, self.model.name, "")))
        except (DataError, Unsupported) as error:
            cell.reason = error.message

    def _written_for(self, hello: Hello) -> tuple[str, Any]:
        """Return the file itself for who loads its format; for others the model as that of a case is given."""
        for format in self.model.ordered(hello.formats):
            if format in self.model.own_formats:
                return format, self.model.write(format)
        lacks = [name for name in needed_components(self.model.neutral) if not covers(hello.components, name)]
        if lacks:
            raise Unsupported(f"loads no {self.model.format}, and does not know {', '.join(lacks)}")
        for format in hello.formats:
            if format not in self.written:
                try:
                    self.written[format] = self.model.write(format)
                except Unsupported as refusal:
                    self.written[format] = refusal
            if not isinstance(self.written[format], Unsupported):
                return format, self.written[format]
        raise Unsupported("; ".join(self.written[format].message for format in hello.formats))

    def _compare(self, cell: Cell, asker: Asker) -> None:
        tally, units, deadline = Tally(), (self.unit, unit_of(asker)), time.monotonic() + _CELL_SECONDS
        offered = (*asker.hello.encode_fields, *(("text",) if "decode" in asker.operations else ()))
        cell.texts = len(self.records)
        for start in range(0, len(self.records), _BATCH):
            batch = self.records[start : start + _BATCH]
            try:
                if time.monotonic() > deadline:
                    raise DataError(f"took more than {_CELL_SECONDS:.0f} s")
                replies = asker.ask_about(batch, _OPERATIONS)
            except DataError as error:
                cell.reason = f"{error.message}, with {len(self.records) - start} of {len(self.records)} texts left"
                for name in (each for each in FIELDS if each in offered):
                    for _ in self.records[start:]:
                        cell.add(name, agrees=False)
                break
            refused = [reply for found in replies for reply in found.values() if _is_of_model(reply)]
            if not start and len(refused) == sum(map(len, replies)):
                raise DataError(f"does not load it: {refused[0].message or 'gives no reason'}")
            for record, found in zip(batch, replies, strict=True):
                outcomes = [
                    compare_replies(name, input_of(name, record) or {}, record.replies[name], found[name], units)
                    for name in asker.operations
                    if name in record.replies and name in found
                ]
                for outcome in outcomes:
                    if outcome.verdict is not Verdict.UNSUPPORTED:
                        given = ("text",) if outcome.operation == "decode" else asker.hello.encode_fields
                        cell.count(outcome, given)
                tally.note(_CELLS, record.input.place, record.input.text, outcomes)
        cell.causes = [_cause(group) for group in tally.causes[:_CAUSES]]


def _asker(session: Session, model: UserModel) -> Asker:
    asker = Asker(session, model)
    asker.operations = tuple(each for each in _OPERATIONS if each in asker.operations)
    if "encode" not in asker.operations:
        raise DataError("does not offer encode")
    return asker


def _is_of_model(reply: Reply) -> TypeGuard[Refused]:
    return isinstance(reply, Refused) and reply.reason in ("unsupported", "invalid_model")


def _cause(group: Group) -> dict[str, Any]:
    """Return a cause as plain values; what implementations answered is made fit to show."""
    shown = {"place": group.example.place, "text": group.example.text[:_SHOWN]}
    replies = {
        name: shorten(compact(reply), _SHOWN) for name, reply in (("a", group.example.a), ("b", group.example.b))
    }
    return {"cause": visible(str(group.cause)), "texts": group.texts, **shown, **replies}


def _shown(text: str) -> str:
    """Cut a text that is fit to show, and leave out the folder of this machine in which the adapters are."""
    return shorten(text.replace(f"{fixtures_folder().parent}/", ""), _SHOWN)


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-")


def _write(path: Path, cell: Cell) -> None:
    head = {**vars(cell), "reason": _shown(visible(cell.reason)), "causes": len(cell.causes)}
    write_whole(path, "".join(f"{json.dumps(line)}\n" for line in (head, *cell.causes)))


def _read(path: Path) -> Cell:
    try:
        head, *causes = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return Cell(**{**head, "causes": causes})
    except (OSError, ValueError, TypeError):
        raise DataError("is no cell of the matrix of vocabularies; remove it, and start again", str(path)) from None
