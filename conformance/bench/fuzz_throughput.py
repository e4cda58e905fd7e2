"""How many examples a second fuzzing asks, beside making them alone, a plain loop, and drawing them with Hypothesis.

    python conformance/bench/fuzz_throughput.py                             the reference against itself
    python conformance/bench/fuzz_throughput.py --impl tokenizers           a program behind a pipe
    python conformance/bench/fuzz_throughput.py --seconds 5 --rounds 5

All rows make the same examples of the same families. They are measured in turns, several rounds of them, and given as
medians and as ratios to the plain loop: that makes an example, asks the implementation and the oracle about it, one by
one, and compares two dictionaries. What the whole costs is told apart at the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import count
from random import Random
from statistics import median
from time import perf_counter, process_time

from hypothesis import HealthCheck, Phase, given, settings

from tokspec.discovery import open_session
from tokspec.fuzz.campaign import BATCH, Budget, Campaign, examples_of
from tokspec.fuzz.checker import Checker, Conversations, reference_with
from tokspec.fuzz.example import Example
from tokspec.fuzz.properties import PROPERTIES, PropertyChecker
from tokspec.fuzz.strategies import examples as drawn_examples
from tokspec.schema import operations
from tokspec.sessions import Answer, InProcessSession
from tokspec.verdicts import declared_choices

FAMILIES = ("bpe", "bpe-stages", "wordpiece-bert", "unigram-metaspace")

#: How many examples Hypothesis draws before the clock is looked at.
DRAWN = 100


class Rates:
    """Examples made and compared in each way, for some seconds."""

    def __init__(self, impl: str, seconds: float) -> None:
        self.seconds = seconds
        self.judged = Conversations(lambda: open_session(impl, None))
        self.hello = self.judged.session.hello
        self.oracle = Conversations(lambda: reference_with(declared_choices(self.hello)))
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
        return len(self.oracle.ask([each for _ in range(BATCH) for each in self.made()]))

    def asking_judged(self) -> int:
        return len(self.judged.ask([each for _ in range(BATCH) for each in self.made()]))

    def campaign(self, with_properties: bool) -> float:
        """Give the rate of a campaign that shrinks nothing."""
        first = Checker(self.judged)
        more = [PropertyChecker(each, self.judged, first.choices) for each in PROPERTIES if with_properties]
        seed = Random(next(self.numbers)).randrange(2**32)
        done = Campaign([first, *more], seed, Budget(examples=int(1000 * self.seconds)), FAMILIES, limit=0)
        began = self.clock()
        done.run()
        return done.tally.examples / (self.clock() - began)

    def hypothesis(self) -> float:
        """Give the rate at which Hypothesis draws and compares the same examples, a number of them after the other."""
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--impl", default="reference")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row of a round (1)")
    parser.add_argument("--rounds", type=int, default=5)
    given_ = parser.parse_args()
    rates = Rates(given_.impl, given_.seconds)
    rates.made()
    rows: dict[str, Callable[[], float]] = {
        "making examples alone": lambda: rates.rate(rates.making),
        "asking the oracle alone": lambda: rates.rate(rates.asking_oracle),
        "asking the implementation alone": lambda: rates.rate(rates.asking_judged),
        "a plain loop, one by one": lambda: rates.rate(rates.plain_loop),
        "tokspec fuzz, comparing": lambda: rates.campaign(False),
        "tokspec fuzz, with properties": lambda: rates.campaign(True),
        "Hypothesis, one by one": rates.hypothesis,
    }
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(given_.rounds):
        for name, measured in rows.items():
            found[name].append(measured())
    plain = median(found["a plain loop, one by one"])
    print(f"{rates.hello.name} {rates.hello.version}; examples a second, medians of {given_.rounds} rounds")
    for name, each in found.items():
        print(f"{name:34} {median(each):9.0f}   {median(each) / plain:7.2f} of the plain loop")
    _print_shares({name: median(each) for name, each in found.items()})
    print(f"one by one {rates.compared} pairs of results were compared, of which {rates.different} are not equal")
    rates.judged.close()
    return int(given_.impl == "reference" and rates.different > 0)


def _print_shares(rate: dict[str, float]) -> None:
    """Say what share of a campaign's time each part takes, by what it takes alone."""
    making = 1 / rate["making examples alone"]
    parts = {
        "making": making,
        "the oracle": 1 / rate["asking the oracle alone"] - making,
        "the implementation": 1 / rate["asking the implementation alone"] - making,
    }
    whole = 1 / rate["tokspec fuzz, with properties"]
    parts["properties"] = whole - 1 / rate["tokspec fuzz, comparing"]
    parts["comparing and the rest"] = max(0.0, whole - sum(parts.values()))
    print("of a campaign's time: " + ", ".join(f"{name} {100 * part / whole:.0f} %" for name, part in parts.items()))


if __name__ == "__main__":
    raise SystemExit(main())
