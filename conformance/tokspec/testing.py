"""For the tests of a port that is written in Python: differences from the reference, and properties, in a few lines.

Derive a class from :class:`TokenizerTests` and give it the adapter; pytest runs its methods:

    from tokspec.testing import TokenizerTests
    from mytok.tokspec_adapter import Adapter

    class TestMine(TokenizerTests):
        adapter = Adapter

For unittest derive it from both: ``class TestMine(TokenizerTests, unittest.TestCase)``.

The strategies are for tests of one's own. Needs ``pip install hypothesis``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, ClassVar

from tokspec.adapter import Adapter
from tokspec.base.errors import DataError
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.display import lines_of
from tokspec.fuzz.findings import Finding
from tokspec.fuzz.models import FAMILIES
from tokspec.fuzz.properties import PROPERTIES, Property, PropertyChecker
from tokspec.fuzz.wishes import clauses_of, families_of, opened, options_of

try:
    from tokspec.fuzz.strategies import corpora, examples, models, models_with_texts, texts
except ModuleNotFoundError as error:  # pragma: no cover
    raise ModuleNotFoundError("tokspec.testing needs Hypothesis: pip install hypothesis", name=error.name) from None

__all__ = [
    "TokenizerTests",
    "corpora",
    "differences",
    "examples",
    "models",
    "models_with_texts",
    "texts",
]


def differences(
    adapter: Callable[[], Adapter] | str,
    *,
    examples: int = 2000,
    seed: int = 0,
    families: Sequence[str] = tuple(FAMILIES),
    choices: Mapping[str, str] | None = None,
    known: Iterable[str] = (),
    properties: Sequence[Property] = (),
) -> list[str]:
    """Look for differences from the reference, and give a description of each; none is an empty list.

    Args:
        adapter: a class or a function that makes one, asked in this process; or the name of an installed one,
            ``module:Object``, or a command with a space in it, asked in a process of its own.
        examples: how many to ask.
        seed: of the examples; the same finds the same.
        families: from which to make models.
        choices: options that stand instead of those that the adapter declares.
        known: clauses of which nothing is to be said.
        properties: what to check as well.

    Raises:
        DataError: an argument names what there is not, or no example was answered.
        AdapterFault: the adapter does not start.

    >>> from tokspec.adapters.reference import ReferenceAdapter
    >>> differences(ReferenceAdapter, examples=100)
    []
    """
    families, set_aside = families_of(families, "families"), clauses_of(known, "known")
    overridden = options_of(choices or {}, "choices")
    with closing(Conversations(lambda: opened(adapter))) as judged:
        first = Checker(judged, None, overridden)
        checks = [first, *(PropertyChecker(each, judged, first.choices) for each in properties)]
        campaign = Campaign(checks, seed, Budget(examples=examples), families)
        campaign.run()
        if campaign.interrupted:
            raise KeyboardInterrupt
        if not campaign.tally.states["same"] and not len(campaign.findings):
            raise DataError("no example was answered, and a test that asks nothing is not passed")
        fresh = [finding for finding in campaign.findings if set_aside.isdisjoint(_clauses(finding))]
        return [_described(finding, seed, judged, first) for finding in fresh]


def _clauses(finding: Finding) -> list[str]:
    """Return the clause of a finding, and of what it shows beside the oracle."""
    return [one.clause for one in (finding, finding.oracle) if one]


def _described(finding: Finding, seed: int, judged: Conversations, check: Checker) -> str:
    again = f"differences(…, seed={seed}), at {finding.first.origin}"
    return "\n".join(lines_of(finding, again, judged.session, check.oracle))


class TokenizerTests:
    """Tests that a port inherits: it agrees with the reference, and properties hold that need no reference.

    >>> class TestReference(TokenizerTests):
    ...     adapter = "reference"
    ...     examples = 100
    >>> TestReference().test_agrees_with_the_reference()
    """

    #: A class or function that makes the adapter, a name, ``module:Object``, or a command.
    adapter: ClassVar[Any] = None

    #: Examples for each test, and their seed: a test is to end the same way each time.
    examples: ClassVar[int] = 2000
    seed: ClassVar[int] = 0

    #: Families of models, options instead of those that are declared, and clauses that are known to be broken.
    families: ClassVar[Sequence[str]] = tuple(FAMILIES)
    choices: ClassVar[Mapping[str, str] | None] = None
    known: ClassVar[Iterable[str]] = ()

    def test_agrees_with_the_reference(self) -> None:
        """Fail with a description of each difference from the reference."""
        self._fail_with(self._differences())

    def test_properties_hold(self) -> None:
        """Fail with a description of each property that does not hold."""
        found = self._differences(PROPERTIES)
        names = tuple(f": {each.name}  (" for each in PROPERTIES)
        self._fail_with([lines for lines in found if any(name in lines.partition("\n")[0] for name in names)])

    def _differences(self, properties: Sequence[Property] = ()) -> list[str]:
        adapter = type(self).__dict__.get("adapter", type(self).adapter)
        if adapter is None:
            raise TypeError(f"{type(self).__name__} needs an adapter; give the class one")
        adapter = adapter.__func__ if isinstance(adapter, staticmethod) else adapter
        return differences(
            adapter,
            examples=self.examples,
            seed=self.seed,
            families=self.families,
            choices=self.choices,
            known=self.known,
            properties=properties,
        )

    @staticmethod
    def _fail_with(found: Sequence[str]) -> None:
        if found:
            raise AssertionError("\n\n".join([f"{len(found)} differences", *found]))
