"""Where a campaign's examples come from: models of many families and what they are asked, by chance from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from tokspec.fuzz.example import Example
from tokspec.fuzz.models import model
from tokspec.fuzz.oracle import Comparison
from tokspec.fuzz.requests import asked
from tokspec.protocol.messages import Fault

__all__ = ["Maker", "examples_of", "is_death"]

#: Families that are made more often than others: rare characters are many.
_SHARES = {"sweep": 2, "normalizer": 2, "pre-tokenizer": 1.5}

#: After so many deaths of a program by examples of one kind others of the kind become rare.
_DEATHS = 5


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


@dataclass
class _Family:
    """How many examples of a family were supported, of how many, and how many models were made."""

    supported: int = 1
    asked: int = 1
    models: int = 0


class Maker:
    """Makes batches of examples, and learns from what came of them which are worth making."""

    def __init__(self, seed: int, families: Sequence[str]) -> None:
        self._seed = seed
        self._random = Random(f"{seed}/families")
        self._families = {family: _Family() for family in families}
        self._deaths = Counter[tuple[str, ...]]()
        self._categories: dict[str, set[str]] = {}

    def batch(self, operations: Iterable[str], models: int) -> list[Example]:
        """Make so many models with what they are asked."""
        batch: list[Example] = []
        self._categories.clear()
        for _ in range(models):
            name = self._chosen()
            family, used = self._families[name], set[str]()
            batch += examples_of(self._seed, name, family.models, operations, used)
            self._categories[f"{name}:{family.models}"] = used
            family.models += 1
        return [example for example in batch if self.is_worth_a_death(example)]

    def learn(self, example: Example, comparison: Comparison) -> None:
        """Take note of what came of an example that was made."""
        family = self._families[example.origin.partition(":")[0]]
        family.supported += comparison.state != "unsupported"
        family.asked += 1
        self._deaths[_kind(example)] += is_death(comparison)

    def categories(self, examples: Iterable[Example]) -> Counter[str]:
        """Count the models of the last batch by the categories of text of which these examples are."""
        models = {example.origin for example in examples if "text" in example.input}
        return Counter(category for origin in models for category in self._categories.get(origin, ()))

    def is_worth_a_death(self, example: Example) -> bool:
        """Ask ever less of a kind that ends the program: each death takes the time of hundreds of examples."""
        deaths = self._deaths[_kind(example)]
        return deaths < _DEATHS or self._random.random() < _DEATHS / (deaths * deaths)

    def _chosen(self) -> str:
        """Choose a family: the more of its examples are supported, the more often."""
        weights = [
            _SHARES.get(name, 1) * max(0.02, family.supported / family.asked) for name, family in self._families.items()
        ]
        return self._random.choices([*self._families], weights)[0]


def is_death(comparison: Comparison) -> bool:
    """Say whether the program ended or had to be ended; what it reports of itself is none.

    >>> is_death(Comparison("open"))
    False
    """
    reply = comparison.result.reply if comparison.result else None
    return isinstance(reply, Fault) and (reply.kind == "timeout" or reply.message.startswith(("killed", "exit")))


def _kind(example: Example) -> tuple[str, ...]:
    return (example.operation, str(example.model.get("type", "")), *sorted(example.input))
