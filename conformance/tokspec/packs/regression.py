"""``tokenizer_regression``: packs as the snapshots of a test, by pytest-regressions.

The first run writes a pack beside the test and fails; later ones compare; ``--force-regen`` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest

from tokspec.base.errors import DataError
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.packs.asking import LIMITS, Asker, open_own
from tokspec.packs.freezing import Trouble, header_of, recorded
from tokspec.packs.inputs import Sources, all_inputs
from tokspec.packs.objects import ObjectAdapter, model_of
from tokspec.packs.pairs import Unpaired, compared, paired
from tokspec.packs.reading import read_pack
from tokspec.packs.record import Input
from tokspec.packs.summary import parts_of
from tokspec.packs.text import causes, reasons, share
from tokspec.packs.writing import write_pack
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session

__all__ = ["TokenizerRegression"]

#: How many causes a failing test shows.
_SHOWN = 10


class TokenizerRegression:
    """What the fixture ``tokenizer_regression`` gives a test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def check(
        self,
        tokenizer: Any = None,
        texts: Iterable[str] = (),
        *,
        impl: str | None = None,
        command: str | None = None,
        model: Path | str | None = None,
        inputs: Iterable[Path | str] = (),
        vocabulary: bool = False,
        basename: str | None = None,
        compressed: bool = False,
    ) -> None:
        """Compare what a tokenizer answers with the pack beside the test, or write that pack.

        Args:
            tokenizer: an object that encodes, and perhaps decodes; or a function from a text to ids or tokens.
            texts: texts beside the suite's own.
            impl: instead of an object, an implementation as ``tokspec freeze --impl`` takes it.
            command: or a program that speaks the protocol.
            model: the file that ``impl`` or ``command`` is given.
            inputs: files of texts.
            vocabulary: whether texts are made of the model's vocabulary too.
            basename: of the pack; that of the test unless given.
            compressed: whether the pack is written as ``.yaml.gz``.
        """
        from pytest_regressions.common import perform_regression_check  # here, because it may be missing

        __tracebackhide__ = True  # what fails is the line of the test

        with _session(tokenizer, impl, command) as session:
            asker = Asker(session, _own(tokenizer, model))
            asker.leave_out()
            sources = Sources(tuple(map(Path, inputs)), vocabulary=vocabulary)
            perform_regression_check(
                datadir=self._request.getfixturevalue("datadir"),
                original_datadir=self._request.getfixturevalue("original_datadir"),
                request=self._request,
                check_fn=_compare,
                dump_fn=lambda file: _write(file, asker, sources, list(texts)),
                extension=".yaml.gz" if compressed else ".yaml",
                basename=basename,
            )


def _own(tokenizer: Any, model: Path | str | None) -> UserModel:
    if tokenizer is None:
        return _model(model)
    if model is not None:
        raise DataError("an object has its model; leave out model=")
    return model_of(tokenizer)


def _model(model: Path | str | None) -> UserModel:
    if model is None:
        raise DataError("an implementation needs a model; give model=FILE")
    return read_user_model(Path(model))


@contextmanager
def _session(tokenizer: Any, impl: str | None, command: str | None) -> Iterator[Session]:
    if sum(each is not None for each in (tokenizer, impl, command)) != 1:
        raise DataError("give one tokenizer: an object, impl= or command=")
    session = InProcessSession(ObjectAdapter(tokenizer)) if tokenizer is not None else open_own(impl, command, LIMITS)
    with session:
        yield session


def _write(file: Path, asker: Asker, sources: Sources, texts: list[str]) -> None:
    header, trouble = header_of(asker, asker.own, sources, adds=None), Trouble()
    inputs = all_inputs(asker, parts_of(asker.own), sources)
    own = (Input("inputs/test", str(number), text) for number, text in enumerate(texts, 1))
    write_pack(file, header, recorded(asker, chain(inputs, own), trouble))
    for line in trouble.lines:
        print(line)  # pytest shows it where the test fails


def _compare(obtained: Path, expected: Path) -> None:
    """Fail, with causes, if what was obtained is not what is expected."""
    __tracebackhide__ = True
    before, after, unpaired = read_pack(expected, expected.name), read_pack(obtained, obtained.name), Unpaired()
    units = [pack.header.choices.get("offset_unit", "code_point") for pack in (after, before)]
    findings = compared(paired(before.records(), after.records(), unpaired), *units)
    lines = [click.unstyle(line) for line in causes(findings, _SHOWN, before.name)]
    lines += [f"not answered any more: {line.strip()}" for line in reasons(findings)]
    if unpaired.first or unpaired.second:
        lines.append(f"texts that only the pack has: {unpaired.first}; that only the test has: {unpaired.second}")
    if lines:
        differ = share(findings.texts_that_differ, findings.texts)
        message = f"{before.header.who} was recorded in {before.name}, and of {findings.texts} texts {differ} differ"
        raise AssertionError("\n".join([message, "", *lines]))
