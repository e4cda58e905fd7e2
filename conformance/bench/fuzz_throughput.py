"""How many examples a second fuzzing asks, beside making them alone, a plain loop, and drawing them with Hypothesis.

    python conformance/bench/fuzz_throughput.py                             the reference against itself
    python conformance/bench/fuzz_throughput.py --impl tokenizers           a program behind a pipe
    python conformance/bench/fuzz_throughput.py --seconds 5 --rounds 5

All ways make the same examples of the same families, and are measured in turns. Each line is the median of several
rounds' rates, and of the ratios within a round. Making examples alone is the bare rate. The plain loop makes an
example, asks the implementation and the same oracle about it, one by one, and compares two dictionaries. What the whole
costs is told apart at the end, what takes most first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from random import Random
from statistics import median
from time import perf_counter, process_time

from hypothesis import HealthCheck, Phase, given, settings
from table import Row, middle, print_table

from tokspec.adapters.registry import open_session
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import MODELS, Campaign
from tokspec.fuzz.checker import Checker, Conversations, reference_with
from tokspec.fuzz.example import Example
from tokspec.fuzz.maker import examples_of
from tokspec.fuzz.properties import PROPERTIES, PropertyChecker
from tokspec.fuzz.strategies import examples as drawn_examples
from tokspec.judge.verdicts import effective_choices
from tokspec.protocol.messages import Answer
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.schema import operations

FAMILIES = ("bpe", "bpe-stages", "wordpiece-bert", "unigram-metaspace")

#: How many examples Hypothesis draws before the clock is looked at.
DRAWN = 100


class Rates:
    """Examples made and compared in each way, for some seconds."""

    def __init__(self, impl: str, seconds: float) -> None:
        self.seconds = seconds
        self.judged = Conversations(lambda: open_session(impl, None))
        self.hello = self.judged.session.hello
        self.oracle = Conversations(lambda: reference_with(effective_choices(self.hello)))
        self.numbers = count()
        self.compared = self.different = 0
        # in one process time of the processor, which other programs do not take; behind a pipe that of the wall
        self.clock = process_time if isinstance(self.judged.session, InProcessSession) else perf_counter

    def made(self) -> list[Example]:
        """Make one model's examples."""
        number = next(self.numbers)
        offered = self.hello.operations
        return examples_of(1, FAMILIES[number % len(FAMILIES)], number, offered)

    def rate(self, once: Callable[[], int]) -> float:
        """Do something for some seconds, and give how many examples a second it made."""
        began, done = self.clock(), 0
        while self.clock() - began < self.seconds:
            done += once()
        return done / (self.clock() - began)

    def making(self) -> int:
        return len(self.made())

    def plain_loop(self) -> int:
        found = self.made()
        for example in found:
            self._compare(example)
        return len(found)

    def _compare(self, example: Example) -> None:
        """Ask both sides, and count two results that are not equal; what is refused is not compared."""
        (mine,), (right,) = self.judged.ask([example]), self.oracle.ask([example])
        if isinstance(mine, Answer) and isinstance(right, Answer):
            self.compared += 1
            self.different += mine.result != right.result

    def asking_oracle(self) -> int:
        return len(self.oracle.ask([each for _ in range(MODELS) for each in self.made()]))

    def asking_judged(self) -> int:
        return len(self.judged.ask([each for _ in range(MODELS) for each in self.made()]))

    def campaign(self, with_properties: bool) -> float:
        """Return the rate of a campaign; what shrinking took is left out."""
        first = Checker(self.judged)
        more = [PropertyChecker(each, self.judged, first.choices) for each in PROPERTIES if with_properties]
        seed = Random(next(self.numbers)).randrange(2**32)
        done = Campaign([first, *more], seed, Budget(examples=max(1, int(1000 * self.seconds))), FAMILIES)
        began = self.clock()
        done.run()
        return done.tally.examples / (self.clock() - began - done.shrinking)

    def hypothesis(self) -> float:
        """Return the rate at which Hypothesis draws and compares the same examples, one after the other."""
        done, began = 0, self.clock()

        @settings(
            max_examples=DRAWN,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(drawn_examples(FAMILIES, tuple(set(operations()) & set(self.hello.operations))))
        def compare(example: Example) -> None:
            nonlocal done
            self._compare(example)
            done += 1

        while self.clock() - began < self.seconds:
            compare()
        return done / (self.clock() - began)


MAKING, ORACLE, JUDGED = "making examples alone", "asking the oracle alone", "asking the implementation alone"
PLAIN, DRAWING = "a plain loop, one by one", "Hypothesis, one by one"
COMPARING, WHOLE = "tokspec fuzz, comparing", "tokspec fuzz, with properties"

#: What is compared with what.
LINES = (
    *((way, MAKING) for way in (ORACLE, JUDGED, PLAIN, COMPARING, WHOLE)),
    *((way, PLAIN) for way in (COMPARING, WHOLE, DRAWING)),
    (COMPARING, DRAWING),
)


def measured(rates: Rates, rounds: int) -> Mapping[str, list[float]]:
    """Return the rate of each way in every round."""
    ways: dict[str, Callable[[], float]] = {
        MAKING: lambda: rates.rate(rates.making),
        ORACLE: lambda: rates.rate(rates.asking_oracle),
        JUDGED: lambda: rates.rate(rates.asking_judged),
        PLAIN: lambda: rates.rate(rates.plain_loop),
        COMPARING: lambda: rates.campaign(False),
        WHOLE: lambda: rates.campaign(True),
        DRAWING: rates.hypothesis,
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, rate in ways.items():
            found[name].append(rate())
    return found


def rows(found: Mapping[str, list[float]], fault: str = "") -> Iterator[Row]:
    """Make the lines of rates; with a fault they mean nothing.

    >>> rates = {name: [100.0, 300.0, 200.0] for name in (MAKING, ORACLE, JUDGED, PLAIN, COMPARING, WHOLE)}
    >>> row = next(rows({**rates, MAKING: [400.0, 400.0, 400.0], DRAWING: [1.0, 1.0, 1.0]}))
    >>> row.what, row.ours, row.peer, row.ratio, row.spread
    ('asking the oracle alone', '200/s', '400/s', 0.5, (0.25, 0.75))
    """
    for ours, peer in LINES:
        ratio, spread = middle([left / right for left, right in zip(found[ours], found[peer], strict=True)])
        mine, others = (f"{median(found[name]):,.0f}/s" for name in (ours, peer))
        yield Row(ours, mine, others, ratio, None, spread, peer_name=peer, fault=fault)


def shares(found: Mapping[str, list[float]]) -> list[tuple[str, float]]:
    """Return what share of a campaign's time each part takes, by what it takes alone; the largest first.

    >>> rates = {MAKING: [10.0], ORACLE: [5.0], JUDGED: [4.0], COMPARING: [2.0], WHOLE: [1.0]}
    >>> [(name, round(share, 2)) for name, share in shares(rates)][:3]
    [('properties', 0.5), ('comparing and the rest', 0.15), ('the implementation', 0.15)]
    """
    seconds = {name: 1 / median(each) for name, each in found.items()}
    making, whole = seconds[MAKING], seconds[WHOLE]
    parts = {
        "making": making,
        "the oracle": seconds[ORACLE] - making,
        "the implementation": seconds[JUDGED] - making,
        "properties": whole - seconds[COMPARING],
    }
    parts["comparing and the rest"] = max(0.0, whole - sum(parts.values()))
    return sorted(((name, part / whole) for name, part in parts.items()), key=lambda row: -row[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--impl", default="reference")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each way in a round (1)")
    parser.add_argument("--rounds", type=int, default=5)
    given_ = parser.parse_args()
    rates = Rates(given_.impl, given_.seconds)
    rates.made()

    found: dict[str, list[float]] = {}

    def lines() -> Iterator[Row]:
        found.update(measured(rates, given_.rounds))
        is_other = given_.impl == "reference" and rates.different > 0
        yield from rows(found, "the reference differs from itself" if is_other else "")

    name = f"{rates.hello.name} {rates.hello.version}"
    try:
        status = print_table(f"Examples a second of {name}, medians of {given_.rounds} rounds", lines())
    finally:
        rates.judged.close()
    (most, _), *_ = listed = shares(found)
    print(f"{most} takes most of a campaign: " + ", ".join(f"{part} {100 * share:.0f} %" for part, share in listed))
    print(f"one by one {rates.compared} pairs of results were compared, of which {rates.different} are not equal")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
