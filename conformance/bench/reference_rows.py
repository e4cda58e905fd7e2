"""The lines about the reference: sides beside their peers, and how time and memory grow.

A line whose runs failed, or came to other results than they have to, misses and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reference_processes import Measured, Side, Text, peak, run
from table import Row, duration, middle, paired, unmeasured

__all__ = ["Comparison", "compared", "fault", "grown", "grown_fault", "one_word", "slope"]

#: The largest exponent that still is n log n over a decade, 1 + log10(7 / 6) for a million, with a tenth for noise.
LARGEST_EXPONENT = 1.17

#: How many times as long ten times as much may take by n log n, and a tenth for noise.
LARGEST_FACTOR = 13.0


@dataclass(frozen=True)
class Comparison:
    """A line: the peer's seconds are taken ``scale`` times, where it does only a part of the work."""

    what: str
    text: Text
    ours: Side
    peer: Side
    peer_name: str
    target: float | None
    scale: float = 1.0


def compared(lines: Sequence[Comparison], rounds: int) -> Iterator[Row]:
    """Run all sides of lines with the same text in turn, each once a round, and compare what ran in the same round."""
    sides = dict.fromkeys(side for line in lines for side in (line.ours, line.peer))
    measured = [{side: run(side, lines[0].text) for side in sides} for _ in range(rounds)]
    for line in lines:
        pairs = [(found[line.ours], found[line.peer]) for found in measured]
        seconds = [(ours.value, peer.value * line.scale) for ours, peer in pairs]
        row = paired(line.what, seconds, line.target, peer_name=line.peer_name)
        yield replace(row, fault=fault([side for pair in pairs for side in pair]))


def fault(runs: Sequence[Measured]) -> str:
    """Say what is wrong with runs that do the same work.

    >>> fault([Measured(1.0, "ab"), Measured(2.0, "ab")]), fault([Measured(1.0, "ab"), Measured(2.0, "cd")])
    ('', 'results differ')
    """
    digests = {one.digest for one in runs}
    return "a run failed" if "" in digests else "results differ" if len(digests) > 1 else ""


def grown_fault(of_sizes: Sequence[Sequence[Measured]]) -> str:
    """Say what is wrong with runs of several sizes: those of one have one result, and those of another another.

    >>> grown_fault([[Measured(1.0, "ab")], [Measured(2.0, "ab")]])
    'sizes have the same result'
    """
    found = next(filter(None, map(fault, of_sizes)), "")
    same = len({runs[0].digest for runs in of_sizes}) < len(of_sizes)
    return found or ("sizes have the same result" if same else "")


def grown(what: str, side: Side, megabytes: Sequence[float], rounds: int) -> Iterator[Row]:
    """Fit the exponents of time and of peak memory to sizes over a decade, round by round.

    Sizes are those of the text, or what the side says that it was given.
    """
    texts = [Text("English", size) for size in megabytes]
    times = [[run(side, text) for text in texts] for _ in range(rounds)]
    peaks = [peak(side, text) for text in texts]
    name, sizes = _sizes(megabytes, peaks)
    why = grown_fault([*zip(*times, peaks, strict=True)])
    for kind, rounds_of, shown in (("time", times, duration), ("memory", [peaks], megabytes_of)):
        if why:
            yield unmeasured(f"{kind} to {what}", why, name)
            continue
        ratio, spread = middle([slope(sizes, [one.value for one in found]) for found in rounds_of])
        first, last = (shown(middle([found[place].value for found in rounds_of])[0]) for place in (0, -1))
        yield Row(f"{kind} to {what}", f"{first} to {last}", "", ratio, LARGEST_EXPONENT, spread, True, name)


def _sizes(megabytes: Sequence[float], runs: Sequence[Measured]) -> tuple[str, Sequence[float]]:
    """Return the sizes of the work, and what they are called."""
    given = [float(one.size) for one in runs if one.size]
    if len(given) < len(runs):
        return f"n^x, {megabytes[0]:g} to {megabytes[-1]:g} MB", megabytes
    return f"n^x, {given[0] / 1e3:,.0f} to {given[-1] / 1e3:,.0f} thousand symbols", given


def megabytes_of(size: float) -> str:
    """Write a size; below a few megabytes the text and the cache of its words are most of it."""
    return f"{size / 1e6:.1f} MB"


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Fit a line to logarithms by least squares.

    >>> slope([1, 10, 100], [2, 200, 20000])
    2.0
    """
    xs, ys = [math.log(size) for size in sizes], [math.log(value) for value in values]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return round(above / sum((x - x_mean) ** 2 for x in xs), 12)


def one_word(kind: str, length: int, rounds: int) -> Row:
    """Encode a word of so many characters, and one of a tenth of that, in turn."""
    text, what = Text("English", 2e-6 * length), f"one word of {length}, {kind}"
    sides = [Side("one_word", (kind, str(size))) for size in (length, length // 10)]
    times = [[run(side, text) for side in sides] for _ in range(rounds)]
    peaks = [peak(side, text) for side in sides]
    if why := grown_fault([*zip(*times, peaks, strict=True)]):
        return unmeasured(what, why, "a tenth of it")
    ratio, spread = middle([large.value / small.value for large, small in times])
    seconds = (middle([found[place].value for found in times])[0] for place in (0, 1))
    ours, peer = (f"{duration(took)}, {megabytes_of(most.value)}" for took, most in zip(seconds, peaks, strict=True))
    return Row(what, ours, peer, ratio, LARGEST_FACTOR, spread, True, "a tenth of it")
