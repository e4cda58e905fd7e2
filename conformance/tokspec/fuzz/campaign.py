"""A campaign: examples are made, asked and compared until the budget is spent; what differs is shrunk and grouped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from time import monotonic

from tokspec.fuzz.checker import Checker
from tokspec.fuzz.example import Example
from tokspec.fuzz.findings import Finding, Findings, finding_of, group_before_shrinking
from tokspec.fuzz.models import FAMILIES, model
from tokspec.fuzz.oracle import Comparison
from tokspec.fuzz.requests import asked
from tokspec.fuzz.shrink import shrunk
from tokspec.sessions import Fault, Reply

__all__ = ["Budget", "Campaign", "Tally", "examples_of"]

#: Models that are asked about at once, fewer at the beginning, and how many differences of one rough kind are shrunk.
BATCH = 12
SHRUNK = 2


#: Families that are made more often than others: rare characters are many.
_SHARES = {"sweep": 2, "normalizer": 2, "pre-tokenizer": 1.5}


#: After so many deaths of a program by examples of one kind others of the kind become rare.
_DEATHS = 5


@dataclass(frozen=True)
class Budget:
    """When to end: after so many seconds, or so many examples, whichever comes first; None is no limit.

    >>> Budget(examples=10).is_spent(examples=10, since=0.0)
    True
    """

    seconds: float | None = None
    examples: int | None = None

    def is_spent(self, examples: int, since: float) -> bool:
        """Say whether it is time to end; ``since`` is when the campaign began."""
        if self.examples is not None and examples >= self.examples:
            return True
        return self.seconds is not None and monotonic() - since >= self.seconds


@dataclass
class Tally:
    """What was done: examples by what came of them, and by family, operation and category of text."""

    states: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)

    @property
    def examples(self) -> int:
        """How many were asked."""
        return sum(self.states.values())


def examples_of(
    seed: int, family: str, number: int, operations: Iterable[str], used: set[str] | None = None
) -> list[Example]:
    """Make a model of a family and what it is asked, the same for the same seed, family and number.

    >>> examples_of(1, "bpe", 0, ["encode"])[0].origin
    'bpe:0'
    """
    random = Random(f"{seed}/{family}/{number}")
    generated, origin = model(random, family), f"{family}:{number}"
    offered = frozenset(operations)
    return [
        Example(generated.model, operation, input, origin)
        for operation, input in asked(random, generated, used)
        if operation in offered
    ]


class Campaign:
    """Looks for differences.

    Args:
        checks: what compares; the first is asked everything, others choose.
        seed: of the examples.
        budget: when to end.
        families: from which to make models.
        progress: told of each batch.
        limit: how many differences of one rough kind are shrunk.
        enough: after so many findings it ends; None is no limit.
    """

    def __init__(
        self,
        checks: Sequence[Checker],
        seed: int,
        budget: Budget,
        families: Sequence[str] = tuple(FAMILIES),
        progress: Callable[[Campaign], None] = lambda campaign: None,
        limit: int = SHRUNK,
        enough: int | None = None,
    ) -> None:
        self.checks, self.seed, self.budget = checks, seed, budget
        self.progress, self.limit, self.enough = progress, limit, enough
        self.findings, self.tally = Findings(), Tally()
        self.random, self.families = Random(f"{seed}/families"), {family: [1, 1, 0] for family in families}
        self.deaths = Counter[tuple[str, ...]]()
        self.began, self.interrupted, self.shrinking = monotonic(), False, 0.0

    def run(self, first: Sequence[Example] = ()) -> Findings:
        """Ask what is given first, then what is made, until the budget is spent or somebody interrupts."""
        try:
            if first:
                self._take(first)
            while not self._is_over():
                self._take(self._batch())
                self.progress(self)
        except KeyboardInterrupt as interruption:
            if type(interruption) is not KeyboardInterrupt:
                raise
            self.interrupted = True
        self.findings.counted()
        return self.findings

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return monotonic() - self.began

    def _is_over(self) -> bool:
        found_enough = self.enough is not None and len(self.findings) >= self.enough
        return found_enough or self.budget.is_spent(self.tally.examples, self.began)

    def _batch(self) -> list[Example]:
        operations, used = self.checks[0].judged.session.hello.operations, set[str]()
        batch: list[Example] = []
        for _ in range(min(BATCH, 2 + self.tally.examples // 100)):
            family = self._family()
            record = self.families[family]
            batch += examples_of(self.seed, family, record[2], operations, used)
            record[2] += 1
        self.tally.categories.update(used)
        return [example for example in batch if self._is_worth_a_death(example)]

    def _is_worth_a_death(self, example: Example) -> bool:
        """Ask ever less of a kind that ends the program: each death takes the time of hundreds of examples."""
        deaths = self.deaths[_kind(example)]
        return deaths < _DEATHS or self.random.random() < _DEATHS / (deaths * deaths)

    def _family(self) -> str:
        """Choose a family: the more of its examples are supported, the more often."""
        names = list(self.families)
        weights = [
            _SHARES.get(name, 1) * max(0.02, supported / made) for name, (supported, made, _) in self.families.items()
        ]
        return self.random.choices(names, weights)[0]

    def _take(self, examples: Sequence[Example]) -> None:
        """Compare examples, and look closer at what differs."""
        known: dict[int, Reply] = {}
        for check in self.checks:
            chosen = [example for example in examples if check.takes(example)]
            comparisons = check.compare(chosen, known)
            if check is self.checks[0]:
                self._count(chosen, comparisons)
                known = dict(check.judged.latest)
            for example, comparison in _first_stages(chosen, comparisons):
                self._look(check, example, comparison)
                if self.enough is not None and len(self.findings) >= self.enough:
                    return

    def _count(self, examples: Sequence[Example], comparisons: Sequence[Comparison]) -> None:
        for example, comparison in zip(examples, comparisons, strict=True):
            family = example.origin.partition(":")[0]
            self.tally.states[comparison.state] += 1
            self.tally.operations[example.operation] += comparison.state != "unsupported"
            self.tally.families[family] += comparison.state != "unsupported"
            self.deaths[_kind(example)] += _is_death(comparison)
            if family in self.families:
                self.families[family][0] += comparison.state != "unsupported"
                self.families[family][1] += 1

    def _look(self, check: Checker, example: Example, comparison: Comparison) -> None:
        """Shrink a difference, unless enough of its kind were."""
        before = group_before_shrinking(check.name, example, comparison)
        self.findings.met[before] += 1
        if self.findings.met[before] > self.limit:
            return
        began, examples = monotonic(), self.tally.examples
        small, last = self._smallest(check, example, comparison)
        found = finding_of(check.name, check.clause, small, example, last)
        found.examples, found.seconds = examples, began - self.began
        found.oracle = self._beside_the_oracle(check, small, example)
        self.findings.add(before, found)
        self.shrinking += monotonic() - began

    def _beside_the_oracle(self, check: Checker, small: Example, first: Example) -> Finding | None:
        """Give what an example by which a property is broken shows beside the oracle, if anything."""
        oracle = self.checks[0]
        if check is oracle:
            return None
        (comparison,) = oracle.compare([small])
        return finding_of(oracle.name, "", small, first, comparison) if comparison.state == "differs" else None

    def _smallest(self, check: Checker, example: Example, comparison: Comparison) -> tuple[Example, Comparison]:
        latest: dict[str, Comparison] = {example.key: comparison}

        def shows(candidates: Sequence[Example]) -> list[bool]:
            compared = check.compare(candidates)
            latest.update({each.key: one for each, one in zip(candidates, compared, strict=True)})
            return [one.state == "differs" and one.kind == comparison.kind for one in compared]

        dies = comparison.kind.startswith(("crash", "timeout"))  # and is started again each time
        small = shrunk(example, shows, *((4.0, 4) if dies and check.batch > 1 else (10.0, check.batch)))
        return small, latest[small.key]


def _kind(example: Example) -> tuple[str, ...]:
    return (example.operation, str(example.model.get("type", "")), *sorted(example.input))


def _is_death(comparison: Comparison) -> bool:
    """Say whether the program ended or had to be ended; what it reports of itself is none."""
    reply = comparison.result.reply if comparison.result else None
    return isinstance(reply, Fault) and (reply.kind == "timeout" or reply.message.startswith(("killed", "exit")))


def _first_stages(
    examples: Sequence[Example], comparisons: Sequence[Comparison]
) -> Iterator[tuple[Example, Comparison]]:
    """Give what differs, but an encoding only where no stage before it differs for the same text."""
    earlier = {
        (id(example.model), example.input.get("text"))
        for example, comparison in zip(examples, comparisons, strict=True)
        if comparison.state == "differs" and example.operation in ("normalize", "pre_tokenize")
    }
    for example, comparison in zip(examples, comparisons, strict=True):
        follows = example.operation == "encode" and (id(example.model), example.input.get("text")) in earlier
        if comparison.state == "differs" and not follows:
            yield example, comparison
