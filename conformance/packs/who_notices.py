"""Draw faults, and count who notices them.

``python conformance/packs/who_notices.py draw FOLDER`` writes ``faults.jsonl``, the same for the same files.
``python conformance/packs/who_notices.py measure FOLDER NAME ...`` says of each fault whether the lines of the
tokenizer's pack notice it, whether its sweep does, and which of ``--texts`` random texts is the first that does.
``python conformance/packs/who_notices.py table FILE ...`` makes a table of what was measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from asked import Asked, drawn_inputs
from faults import EACH, FAULTS, Input, draw, plant
from published import Published, published_in

from tokref import InputError
from tokspec.suite.packs import ENDING, packs_folder
from tokspec.suite.recordings import read_recording
from tokspec.suite.sweeps import Sweep, read_sweep, sweep_of


def measure(
    published: Published, faults: Sequence[Mapping[str, Any]], texts: int, packs: Mapping[str, Path]
) -> Iterator[dict[str, Any]]:
    """Say of each fault who notices it: the lines of packs, the sweep, and which of random texts is the first.

    Args:
        published: the tokenizer.
        faults: of it.
        texts: how many random texts are tried.
        packs: folders of packs by what they are called; the first has those whose sweeps are tried.
    """
    recordings = {name: read_recording(folder / f"{published.name}{ENDING}") for name, folder in packs.items()}
    asked = {
        name: Asked(published, [line for _, line in recording.lines() if isinstance(line["text"], str)])
        for name, recording in recordings.items()
    }
    random = Asked(published, list(islice(drawn_inputs(published), texts)))
    decoded, swept = sweep_inputs(published, read_sweep(next(iter(recordings.values())).header.sweep))
    sweep = Asked(published, swept)
    for fault in faults:
        try:
            faulty = plant(fault, published)
            found: dict[str, Any] = {name: each.first(faulty) is not None for name, each in asked.items()}
            found["sweep"] = sweep.first(faulty) is not None or any(
                faulty.fast.decode(faulty.fast.tokens_of([id])) != text
                for id, text in (decoded.items() if faulty.stage == "decoder" else ())
            )
            found["random"] = random.first(faulty)
        except InputError:
            continue  # no port is so: the model would be refused
        yield {**fault, **found, "texts": texts}


def sweep_inputs(published: Published, sweep: Sweep) -> tuple[Mapping[int, str], list[Input]]:
    """Return what each id is decoded to, and the texts that a sweep encodes, as inputs."""
    fast = published.fast
    ids = {*published.tokenizer.vocabulary.values()}
    decoded = [fast.decode(fast.tokens_of([id])) if id in ids else "" for id in range(sweep.size)]
    pairs = sweep_of(decoded, sweep.step)
    texts = [text for each in zip(*pairs.values(), strict=True) for text in each if text]
    return {id: text for id, (text, _) in pairs.items()}, [{"text": text, **sweep.options} for text in texts]


def table(measured: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Return a table of how many faults of each tokenizer, and of each kind, are noticed by whom."""
    yield f"| {' | '.join(('', *_COLUMNS))} |"
    yield f"| --- |{' ---: |' * len(_COLUMNS)}"
    for what in ("kind", "tokenizer"):
        for name in sorted({row[what] for row in measured}):
            yield _row(name, [row for row in measured if row[what] == name])
    yield _row("all", measured)


def _among(texts: int) -> Callable[[Mapping[str, Any]], bool | None]:
    """Return who says whether one of the first random texts notices a fault; None if fewer were tried."""

    def noticed(row: Mapping[str, Any]) -> bool | None:
        is_noticed = row["random"] is not None and row["random"] < texts
        return is_noticed if is_noticed or row["texts"] >= texts else None

    return noticed


#: Who notices a fault, by the heads of the columns.
_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], bool | None]] = {
    "faults": lambda row: True,
    "lines before": lambda row: row.get("before"),
    "lines": lambda row: row["pack"],
    "sweep": lambda row: row["sweep"],
    "lines and sweep": lambda row: row["pack"] or row["sweep"],
    "2,000 random texts": _among(2_000),
    "20,000": _among(20_000),
    "200,000": _among(200_000),
    "anybody": lambda row: row["pack"] or row["sweep"] or row["random"] is not None or row.get("before", False),
}


def _row(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    noticed = [[noticed(row) for row in rows] for noticed in _COLUMNS.values()]
    cells = ["·" if None in each else f"{sum(map(bool, each)):,}" for each in noticed]
    return f"| {' | '.join((name, *cells))} |"


def main() -> int:
    """Draw the faults, or measure who notices them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["draw", "measure", "table"])
    parser.add_argument("folder", type=Path, help="where the files of the manifest are, or what was measured")
    parser.add_argument("names", nargs="*", help="the tokenizers, all unless given; more files")
    parser.add_argument("--texts", type=int, default=20_000, help="how many random texts are tried")
    parser.add_argument("--packs", type=Path, default=packs_folder(), help="the folder of the packs")
    parser.add_argument("--before", type=Path, help="the folder of other packs, to compare with")
    parser.add_argument("--faults", type=Path, default=FAULTS, help="their file")
    parser.add_argument("--seed", default="faults", help="what is drawn; another word gives others")
    parser.add_argument("--each", type=int, default=EACH, help="how many are drawn for a tokenizer")
    given = parser.parse_args()
    if given.command == "table":
        lines = [
            line for file in (given.folder, *map(Path, given.names)) for line in file.read_text("utf-8").splitlines()
        ]
        print("\n".join(table([json.loads(line) for line in lines])))
        return 0
    if given.command == "draw":
        with given.faults.open("w", encoding="utf-8") as file:
            for published in published_in(given.folder, given.names):
                drawn = draw(published, given.seed, given.each)
                file.writelines(json.dumps(fault, ensure_ascii=False) + "\n" for fault in drawn)
        return 0
    faults = [json.loads(line) for line in given.faults.read_text("utf-8").splitlines()]
    for published in published_in(given.folder, given.names):
        own = [fault for fault in faults if fault["tokenizer"] == published.name]
        packs = {"pack": given.packs} | ({"before": given.before} if given.before else {})
        for row in measure(published, own, given.texts, packs):
            print(json.dumps(row, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
