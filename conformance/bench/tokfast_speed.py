"""Measure tokfast against an older checkout of the reference: ``python conformance/bench/tokfast_speed.py CHECKOUT``.

The checkout is one whose own ``conformance/bench/reference_sides.py`` measures the reference. Each line runs that side
and this checkout's in turn, in fresh processes, on the same text; both have to come to the same result. Unigram encodes
one long word with scores that start at zero: rounding may tell ties apart where one side starts at one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from reference_processes import Side, Text, fetch, run
from reference_rows import fault
from table import Row, paired, print_table

#: How many times as long as the checkout each line may take.
LARGEST_RATIO = 1.1

LINES = {
    "encode GPT-2, ids, listed": Side("encode_reference", ("listed",)),
    "encode GPT-2, ids, in_vocabulary": Side("encode_reference", ("in_vocabulary",)),
    "encode GPT-2, spans": Side("encode_spans", ("listed",)),
    "encode WordPiece": Side("wordpiece_reference"),
    "encode Unigram, one word of 200,000": Side("one_word", ("run", "200000")),
    "train BPE, 1000 merges": Side("train_reference", ("1000", "smallest_ids")),
    "train BPE, 5000 merges, first met": Side("train_reference", ("5000", "first_met")),
    "train WordPiece, 300 merges": Side("wordpiece_training", ("300",)),
    "train Unigram, 3000 tokens": Side("unigram_training", ("3000",)),
    "prune a step, 2000 tokens, 5000 words": Side("prune_reference", ("2000", "5000")),
}


def rows(checkout: Path, rounds: int, only: str) -> Iterator[Row]:
    """Run each line's two sides in turn."""
    for kind in ("English", "mixed"):
        text = Text(kind, 1.0)
        for name, side in LINES.items():
            what = f"{name}, 1 MB {kind}"
            if not fnmatch(what, only):
                continue
            pairs = [(run(side, text), run(side, text, checkout)) for _ in range(rounds)]
            seconds = [(ours.value, peer.value) for ours, peer in pairs]
            row = paired(what, seconds, LARGEST_RATIO, at_most=True, peer_name=checkout.name)
            yield replace(row, fault=fault([one for pair in pairs for one in pair]))


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("checkout", type=Path, help="folder of the older checkout")
    parser.add_argument("--rounds", type=int, default=5, help="how often every side is measured (5)")
    parser.add_argument("--only", default="*", help="a pattern of the lines that are wanted, such as 'train*'")
    given = parser.parse_args()
    fetch()
    title = "tokfast beside an older reference: CPU seconds of one thread in a fresh process"
    return print_table(title, rows(given.checkout.resolve(), given.rounds, given.only), "no line matches --only")


if __name__ == "__main__":
    sys.exit(main())
