"""Draw faults, and count who notices them.

``python conformance/packs/measure.py draw FOLDER`` writes ``faults.jsonl``, the same for the same files.
``python conformance/packs/measure.py measure FOLDER NAME ...`` says of each fault whether the pack of the tokenizer
notices it, and the how manieth of random texts of the same kind does, of ``--times`` as many as the pack has lines.
``python conformance/packs/measure.py table FILE ...`` makes a table of what was measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from faults import EACH, FAULTS, Input, draw, plant
from noticing import Asked, drawn_inputs
from published import Published, published_in

from tokref import InputError
from tokspec.suite.packs import ENDING, packs_folder
from tokspec.suite.recordings import read_recording
from tokspec.suite.sweeps import Sweep, read_sweep, sweep_of


def measure(published: Published, faults: Sequence[Mapping[str, Any]], times: int) -> Iterator[dict[str, Any]]:
    """Say of each fault whether the pack notices it, and which of the random texts is the first that does."""
    recording = read_recording(packs_folder() / f"{published.name}{ENDING}")
    lines = [line for _, line in recording.lines()]
    inputs = [line for line in lines if isinstance(line["text"], str)]
    pack = Asked(published, inputs)
    random = Asked(published, list(islice(drawn_inputs(published), times * len(inputs))))
    texts, swept = sweep_inputs(published, read_sweep(recording.header.sweep))
    sweep = Asked(published, swept)
    for fault in faults:
        try:
            faulty = plant(fault, published)
            by_pack, by_random = pack.first(faulty), random.first(faulty)
            by_sweep = sweep.first(faulty) is not None or any(
                faulty.fast.decode(faulty.fast.tokens_of([id])) != text
                for id, text in (texts.items() if faulty.stage == "decoder" else ())
            )
        except InputError:
            continue  # no port is so: the model would be refused
        found = {"pack": by_pack is not None, "sweep": by_sweep, "random": by_random}
        yield {**fault, "lines": len(inputs), "times": times, **found}


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
    yield "| | faults | lines | sweep | both | as many random texts | 10 times | 100 times |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for what in ("tokenizer", "kind"):
        for name in dict.fromkeys(row[what] for row in measured):
            yield _row(name, [row for row in measured if row[what] == name])
    yield _row("all", measured)


def _row(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    cells = [str(len(rows)), *(str(sum(row[way] for row in rows)) for way in ("pack", "sweep"))]
    cells.append(str(sum(row["pack"] or row["sweep"] for row in rows)))
    for times in (1, 10, 100):
        found = [row["random"] is not None and row["random"] < times * row["lines"] for row in rows]
        cells.append(str(sum(found)) if all(row["times"] >= times for row in rows) else "·")
    return f"| {' | '.join((name, *cells))} |"


def main() -> int:
    """Draw the faults, or measure who notices them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["draw", "measure", "table"])
    parser.add_argument("folder", type=Path, help="where the files of the manifest are, or what was measured")
    parser.add_argument("names", nargs="*", help="the tokenizers, all unless given; more files")
    parser.add_argument("--times", type=int, default=10, help="how many times as many random texts as lines are tried")
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
        for row in measure(published, own, given.times):
            print(json.dumps(row, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
