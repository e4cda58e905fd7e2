"""The two sides of a comparison: packs, or implementations with a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tokspec.base.errors import AdapterFault, DataError
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.judge.verdicts import effective_choices
from tokspec.packs.asking import LIMITS, Asker, may_be_wanted, open_own
from tokspec.packs.checking import held
from tokspec.packs.findings import Findings
from tokspec.packs.freezing import Trouble, recorded
from tokspec.packs.inputs import Sources, all_inputs
from tokspec.packs.judging import Judge
from tokspec.packs.pairs import Unpaired, compared, paired
from tokspec.packs.reading import Pack, find_model, is_named_as_pack, read_pack
from tokspec.packs.record import Input, Record
from tokspec.packs.summary import parts_of
from tokspec.sessions.session import Session

__all__ = ["Side", "findings_of", "open_sides"]


@dataclass(frozen=True)
class Side:
    """What is compared: a pack, or an implementation with or without a model."""

    name: str
    pack: Pack | None = None
    session: Session | None = None
    own: UserModel | None = None
    adds: bool = False

    @property
    def unit(self) -> str:
        """What spans count."""
        if self.pack:
            return self.pack.header.choices.get("offset_unit", "code_point")
        return effective_choices(self.session.hello)["offset_unit"] if self.session else "code_point"


def open_sides(
    given: tuple[str, str], models: tuple[Path | None, Path | None], stack: ExitStack, *, adds: bool = False
) -> tuple[Side, Side]:
    """Open what two words of the command line name: a pack, an implementation, or a program with its arguments.

    Args:
        given: the words.
        models: what implementations are given, if it is no pack's.
        stack: closes them.
        adds: whether the special tokens of post-processors are wanted; what a pack was made with decides, if it was.

    Raises:
        DataError: one cannot be found, read or asked.
    """
    packs = [read_pack(Path(word)) if _is_pack(word) else None for word in given]
    adds = adds or any(pack is not None and pack.header.special_tokens == "added" for pack in packs)
    sides = []
    for word, pack, model in zip(given, packs, models, strict=True):
        own = read_user_model(model) if model else None
        if pack:
            sides.append(Side(f"{word}: {pack.header.who}", pack=pack, own=own))
        else:
            sides.append(_asked(word, own, adds, stack))
    return sides[0], sides[1]


def _asked(word: str, own: UserModel | None, adds: bool, stack: ExitStack) -> Side:
    impl, command = (None, word) if " " in word or _is_program(word) else (word, None)
    try:
        session = stack.enter_context(open_own(impl, command, LIMITS))
    except AdapterFault as fault:
        raise DataError(f"cannot be asked: {fault}", key=word) from None
    name = f"{session.hello.name} {session.hello.version}".strip()
    shown = name if word == session.hello.name else f"{name} ({word})"
    if adds and not may_be_wanted(impl):
        shown += ", asked as it is: whether it adds special tokens is its own"
    return Side(shown, session=session, own=own, adds=adds and may_be_wanted(impl))


def _is_pack(word: str) -> bool:
    return Path(word).is_file() and (is_named_as_pack(word) or not _is_program(word))


def _is_program(word: str) -> bool:
    # where nothing else is known, as on the file systems of Windows, every file may be executed
    return Path(word).is_file() and os.access(word, os.X_OK) and not is_named_as_pack(word)


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
    """Return what a side has, of the texts of another that is a pack, or of its own."""
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
    """Return who is asked, with the side's own model, or else with that of the pack on the other side."""
    own = side.own or (find_model(other) if other else None)
    return Asker(side.session, own, adds=side.adds) if side.session and own else None


def _passing(records: Iterable[Record], progress: Callable[[Record], None]) -> Iterator[Record]:
    for record in records:
        yield record
        progress(record)
