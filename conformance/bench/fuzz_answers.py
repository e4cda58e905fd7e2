"""What fuzzing is answered: of each implementation, under each seed, the requests of each family of models.

    python conformance/bench/fuzz_answers.py tokenizers sentencepiece --seeds 1-10
    python conformance/bench/fuzz_answers.py "node conformance/adapters/node/adapter.mjs" --seeds 3 --seconds 5

An implementation is named as for ``tokspec fuzz --impl``, which is what is run, without a database. A refusal as
unsupported is not an answer; whatever else is replied is one. Families about which nothing was asked, since
``hello`` or the formats rule them out, have no row. One about which nothing at all was answered is marked
``refused``: it is not offered, as far as one can see. A family that is answered and below the target ends this with
status 1.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from tokspec.fuzz.campaign import Budget, Campaign
from tokspec.fuzz.checker import Checker, Side, open_side
from tokspec.fuzz.families import FAMILIES

#: The share of the requests of a family that is to be answered, if any is.
TARGET = 0.9


def seeds(written: str) -> list[int]:
    """Read a seed, or a range of them.

    >>> seeds("7"), seeds("1-3")
    ([7], [1, 2, 3])
    """
    first, _, last = written.partition("-")
    return list(range(int(first), int(last or first) + 1))


def fuzz(name: str, seed: int, seconds: float) -> Campaign:
    """Fuzz an implementation as the command does."""
    with closing(Side(lambda: open_side(name))) as judged:
        checker = Checker(judged)
        with closing(checker.oracle):
            campaign = Campaign(checker, seed, Budget(seconds=seconds))
            campaign.run()
    if campaign.interrupted:
        raise KeyboardInterrupt
    return campaign


def rows(name: str, seed: int, asked: Counter[str], answered: Counter[str]) -> Iterator[tuple[str, bool]]:
    """Return a row for each family of which something was asked, and whether it is as it is to be.

    >>> list(rows("x", 1, Counter(bpe=10, unigram=3), Counter(bpe=8)))[0]
    ('| x | 1 | bpe | 10 | 8 | 80.0 % | LOW |', False)
    """
    for family in FAMILIES:
        if asked[family]:
            share = answered[family] / asked[family]
            word = "" if share >= TARGET else "LOW" if answered[family] else "refused"
            cells = (name, seed, family, asked[family], answered[family], f"{100 * share:.1f} %", word)
            yield f"| {' | '.join(map(str, cells))} |", word != "LOW"


def main() -> int:
    """Print the table, and say whether every family that is answered is answered enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="IMPLEMENTATION")
    parser.add_argument("--seeds", type=seeds, default=[1], help="one, or FIRST-LAST (1)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each run (20)")
    given = parser.parse_args()
    print("| implementation | seed | family | asked | answered | share | |")
    print("| --- | ---: | --- | ---: | ---: | ---: | --- |")
    status = 0
    for name in given.names:
        for seed in given.seeds:
            tally = fuzz(name, seed, given.seconds).tally
            for row, is_right in rows(name, seed, tally.asked, tally.families):
                print(row, flush=True)
                status |= not is_right
    return status


if __name__ == "__main__":
    raise SystemExit(main())
