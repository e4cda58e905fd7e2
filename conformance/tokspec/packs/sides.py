"""The two sides of a comparison: packs, or implementations with a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tokspec.errors import AdapterFault, DataError
from tokspec.formats.own import OwnModel, read_own
from tokspec.packs.asking import LIMITS, Asker, open_own
from tokspec.packs.checking import held
from tokspec.packs.findings import Findings
from tokspec.packs.freezing import Trouble, recorded
from tokspec.packs.inputs import Sources, all_inputs
from tokspec.packs.judging import Judge
from tokspec.packs.pairs import Unpaired, compared, paired
from tokspec.packs.reading import Pack, find_model, read_pack
from tokspec.packs.record import Input, Record
from tokspec.packs.summary import parts_of
from tokspec.sessions import Session
from tokspec.verdicts import declared_choices

__all__ = ["Side", "findings_of", "open_side"]


@dataclass(frozen=True)
class Side:
    """What is compared: a pack, or an implementation with or without a model."""

    name: str
    pack: Pack | None = None
    session: Session | None = None
    own: OwnModel | None = None

    @property
    def unit(self) -> str:
        """What spans count."""
        if self.pack:
            return self.pack.header.choices.get("offset_unit", "code_point")
        return declared_choices(self.session.hello)["offset_unit"] if self.session else "code_point"


def open_side(given: str, model: Path | None, stack: ExitStack) -> Side:
    """Open what a word of the command line names: a pack, an implementation, or a program with its arguments.

    Raises:
        DataError: it cannot be found, read or asked.
    """
    if Path(given).is_file() and not _is_program(given):
        pack = read_pack(Path(given))
        return Side(f"{given}: {pack.header.who}", pack=pack, own=read_own(model) if model else None)
    is_command = " " in given or _is_program(given)
    try:
        session = stack.enter_context(
            open_own(None if is_command else given, given if is_command else None, LIMITS),
        )
    except AdapterFault as fault:
        raise DataError(f"cannot be asked: {fault}", key=given) from None
    name = f"{session.hello.name} {session.hello.version}".strip()
    shown = name if given == session.hello.name else f"{name} ({given})"
    return Side(shown, session=session, own=read_own(model) if model else None)


def _is_program(given: str) -> bool:
    return Path(given).is_file() and os.access(given, os.X_OK)


def findings_of(
    first: Side, second: Side, sources: Sources, unpaired: Unpaired, progress: Callable[[Record], None]
) -> Findings | None:
    """Hold the second side to the first; nothing if there is no model to ask with."""
    if second.pack:
        records = _records(first, second.pack, sources)
        if records is None:
            return None
        pairs = paired(_passing(records, progress), second.pack.records(), unpaired)
        return compared(pairs, second.unit, first.unit)
    asker = _asker(second, first.pack)
    records = first.pack.records() if first.pack else _records(first, None, sources)
    if asker is None or records is None:
        return None
    return held(records, asker, Judge(asker.hello, second.unit, first.unit), progress=progress)


def _records(side: Side, other: Pack | None, sources: Sources) -> Iterable[Record] | None:
    """Give what a side has, of the texts of another that is a pack, or of its own."""
    if side.pack:
        return side.pack.records()
    asker = _asker(side, other)
    if asker is None:
        return None
    asker.leave_out()
    if other:
        return recorded(asker, _inputs(other), Trouble())
    return recorded(asker, all_inputs(asker, parts_of(asker.own), sources), Trouble())


def _inputs(pack: Pack) -> Iterator[Input]:
    return (record.input for record in pack.records())


def _asker(side: Side, other: Pack | None) -> Asker | None:
    """Give who is asked, with the side's own model, or else with that of the pack on the other side."""
    own = side.own or (find_model(other) if other else None)
    return Asker(side.session, own) if side.session and own else None


def _passing(records: Iterable[Record], progress: Callable[[Record], None]) -> Iterator[Record]:
    for record in records:
        yield record
        progress(record)
