"""The packs that come with the suite: the library of each file gives all of its pack, and one is made again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_shipped_files import ROWS, file

from tokspec.adapters.registry import open_session
from tokspec.formats.user_model import read_user_model
from tokspec.judge.runner import run
from tokspec.judge.sweeping import sweep_cases
from tokspec.suite.packs import ENDING, cases_of, packs_folder
from tokspec.suite.recordings import read_recording
from tokspec.suite.sweeps import read_sweep

pytestmark = [pytest.mark.interop, pytest.mark.slow]

PACKS = sorted(path.name.removesuffix(ENDING) for path in packs_folder().glob(f"*{ENDING}"))
LIBRARIES = {
    "tokenizer.json": "tokenizers",
    "sentencepiece.model": "sentencepiece",
    "vocab.tiktoken": "tiktoken",
    "tekken.json": "mistral-tekken",
}

#: How many ids a vocabulary has at most whose sweep is judged here; larger ones would take half an hour.
SWEPT = 60_000

MAKE = Path(__file__).parents[2] / "packs" / "make.py"


@pytest.mark.parametrize("name", PACKS)
def test_the_library_of_a_format_gives_all_of_a_pack(name: str) -> None:
    pack, format = read_recording(packs_folder() / f"{name}{ENDING}"), ROWS[name].get("format", "tokenizer.json")
    model = read_user_model(file(name), format, whole=True)
    assert pack.header.is_of(model.sha256)
    sweep, cases = read_sweep(pack.header.sweep), [*cases_of(pack, model).cases.values()]
    with open_session(LIBRARIES[format], None) as session:
        if sweep.size < SWEPT:
            swept = sweep_cases(name, pack.name, sweep, pack.header.choices, model, session)
            assert (swept.differing, swept.left_out) == (set(), 0)
            cases += swept.cases.values()
        judged = run(session, cases)
    assert [result.case.id for result in judged.results if not result.verdict.conforms] == []
    assert judged.is_green


def test_a_pack_made_again_is_the_same(tmp_path: Path) -> None:
    name = "mistral-v3"
    command = [sys.executable, str(MAKE), str(file(name).parent), name, "--to", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    again = (tmp_path / f"{name}{ENDING}").read_bytes()
    assert again == (packs_folder() / f"{name}{ENDING}").read_bytes()
