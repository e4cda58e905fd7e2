"""How many cases a second another public conformance suite judges, on the same machine in the same run.

Run ``python conformance/bench/harness_peers.py`` with Go installed. The peer is toml-test, whose published runner
starts a program for each case, several at once; it judges the decoder in Go of its author, and one in Python that only
reads. Whole commands are compared.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from table import Row, print_table

from tokspec.fixtures import load_suite

__all__ = ["rows"]

#: The decoder's module in a version that can be had; the runner asks for a commit that cannot.
MODULE = """
module peer
go 1.23
require (
	github.com/toml-lang/toml-test v1.6.0
	github.com/BurntSushi/toml v1.5.0
)
replace github.com/BurntSushi/toml => github.com/BurntSushi/toml v1.5.0
"""
IMPORTS = """
//go:build tools

package peer

import (
	_ "github.com/BurntSushi/toml/cmd/toml-test-decoder"
	_ "github.com/toml-lang/toml-test/cmd/toml-test"
)
"""
PROGRAMS = ("github.com/toml-lang/toml-test/cmd/toml-test", "github.com/BurntSushi/toml/cmd/toml-test-decoder")

#: Reads as a decoder does, and writes nothing that is right; that a test fails takes no longer.
IN_PYTHON = "import sys, tomllib; tomllib.load(sys.stdin.buffer); print({})"

_COUNT = re.compile(r"([0-9]+) (?:passed|failed)")


def rows(runs: int = 5) -> Iterator[Row]:
    """Measure, where there is Go."""
    if shutil.which("go") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        runner, decoder = built(Path(folder))
        decoders = {"in Go": [decoder], "in Python": ["--", sys.executable, "-S", "-E", "-c", IN_PYTHON]}
        for name in ("reference", "tokenizers"):
            for language, command in decoders.items() if find_spec(name) or name == "reference" else ():
                yield _row(name, language, [(ours(name), toml_test([runner, *command])) for _ in range(runs)])


def _row(name: str, language: str, pairs: Sequence[tuple[float, float]]) -> Row:
    ratios = [mine / peer for mine, peer in pairs]
    mine, peer = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Row(
        f"tokspec run --impl {name}, cases a second",
        f"{mine:.0f}/s",
        f"{peer:.0f}/s",
        statistics.median(ratios),
        1,
        (min(ratios), max(ratios)),
        peer_name=f"toml-test, {language}",
    )


def built(folder: Path) -> list[str]:
    """Build the runner and the decoder."""
    (folder / "go.mod").write_text(MODULE, "utf-8")
    (folder / "tools.go").write_text(IMPORTS, "utf-8")
    for command in (["mod", "tidy"], ["build", "-o", "bin/", *PROGRAMS]):
        subprocess.run(["go", *command], cwd=folder, check=True, capture_output=True)
    return [str(folder / "bin" / Path(program).name) for program in PROGRAMS]


def ours(name: str) -> float:
    """Give the cases a second of a whole run; those that are not offered are none."""
    _, output, seconds = _timed([sys.executable, "-m", "tokspec", "run", "--impl", name])
    unsupported = re.search(r"([0-9]+) unsupported$", output.strip())
    return (len(load_suite().cases) - int(unsupported[1] if unsupported else 0)) / seconds


def toml_test(command: Sequence[str]) -> float:
    """Give the tests a second of a whole run."""
    _, output, seconds = _timed(command)
    return sum(map(int, _COUNT.findall(output))) / seconds


def _timed(command: Sequence[str]) -> tuple[int, str, float]:
    began = time.perf_counter()
    ended = subprocess.run(command, capture_output=True, text=True)
    return ended.returncode, ended.stdout, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(print_table("Other suites", rows()))
