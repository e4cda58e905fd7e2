"""How many cases a second another public conformance suite judges, on the same machine in the same run.

Run ``python conformance/bench/harness_peers.py`` with Go installed. The peer is toml-test, whose published runner
starts a program for each case, several at once; it judges the decoder in Go of its author, and one in Python that only
reads. Whole commands are compared; each has to come to the outcome that is known for it.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from commands import passed, python, timed
from table import Row, Unmeasured, middle, print_table, unmeasured

from tokspec.suite.fixtures import load_suite

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

#: What the pinned versions come to, and it is known: tests passed and failed that are valid TOML, and that are not.
OUTCOMES = {"in Go": (185, 0, 358, 13), "in Python": (3, 182, 371, 0)}

_COUNT = re.compile(r"^(?: *valid|invalid) tests: +([0-9]+) passed, +([0-9]+) failed$", re.MULTILINE)


def rows(runs: int = 5) -> Iterator[Row]:
    """Measure; what is not installed has lines that say so."""
    absent = [] if shutil.which("go") else ["no Go"]
    with tempfile.TemporaryDirectory() as folder:
        peers = {} if absent else built(Path(folder))
        for name, module in (("reference", "tokref"), ("tokenizers", "tokenizers")):
            lacking = [*absent, *([] if find_spec(module) else [f"no {name}"])]
            for language in OUTCOMES:
                yield _row(name, language, peers, runs, lacking)


def _row(name: str, language: str, peers: Mapping[str, Sequence[str]], runs: int, lacking: Sequence[str]) -> Row:
    """Measure one implementation beside one decoder."""
    what, peer_name = f"tokspec run --impl {name}, cases a second", f"toml-test, {language}"
    if lacking:
        return unmeasured(what, f"not measured: {', '.join(lacking)}", peer_name)
    try:
        pairs = [(ours(name), toml_test(peers[language], OUTCOMES[language])) for _ in range(runs)]
    except Unmeasured as why:
        return unmeasured(what, str(why), peer_name)
    mine, peer = (middle(column)[0] for column in zip(*pairs, strict=True))
    ratio, spread = middle([mine / peer for mine, peer in pairs])
    return Row(what, f"{mine:.0f}/s", f"{peer:.0f}/s", ratio, 1, spread, peer_name=peer_name)


def built(folder: Path) -> dict[str, list[str]]:
    """Build the runner and the decoder; give the command for each language."""
    (folder / "go.mod").write_text(MODULE, "utf-8")
    (folder / "tools.go").write_text(IMPORTS, "utf-8")
    for command in (["mod", "tidy"], ["build", "-o", "bin/", *PROGRAMS]):
        timed(["go", *command], folder)
    runner, decoder = (str(folder / "bin" / Path(program).name) for program in PROGRAMS)
    return {"in Go": [runner, decoder], "in Python": [runner, "--", *python("-S", "-E", "-c", IN_PYTHON)]}


def ours(name: str) -> float:
    """Return the cases a second of a whole run; those that are not offered are none."""
    seconds, output, _ = timed(python("-m", "tokspec", "run", "--impl", name))
    return passed(output, len(load_suite().cases)) / seconds


def toml_test(command: Sequence[str], outcome: Sequence[int]) -> float:
    """Return the tests a second of a whole run; its exit status is 1, as some tests fail."""
    seconds, output, _ = timed(command, statuses=(1,))
    found = tuple(int(count) for counts in _COUNT.findall(output) for count in counts)
    if found != tuple(outcome):
        raise Unmeasured(f"toml-test counts {found} and not {tuple(outcome)}")
    return sum(found) / seconds


if __name__ == "__main__":
    sys.exit(print_table("Other suites", rows()))
