"""Fuzzing for the tests of a port in Python: differences from the reference, in a few lines.

Derive a class from :class:`TokenizerTests` and give it the adapter; pytest runs its method:

    from tokspec.testing import TokenizerTests
    from mytok.tokspec_adapter import Adapter

    class TestMine(TokenizerTests):
        adapter = Adapter

For unittest, derive the class from both: ``class TestMine(TokenizerTests, unittest.TestCase)``.

The strategies, the same as those of ``tokspec fuzz``, are for tests of your own. Needs ``pip install hypothesis``.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, ClassVar

from tokspec.adapter import Adapter
from tokspec.base.display import did_you_mean
from tokspec.base.errors import DataError, items_of
from tokspec.suite.specification import load_specification

try:
    from tokspec.fuzz.campaign import Budget, Campaign
    from tokspec.fuzz.checker import Checker, Side, open_side
    from tokspec.fuzz.display import finding_lines
    from tokspec.fuzz.families import FAMILIES
    from tokspec.fuzz.strategies import Example, corpora, examples, models, models_with_texts, texts
    from tokspec.fuzz.untrusted import untrusted_texts
except ModuleNotFoundError as error:  # pragma: no cover
    raise ModuleNotFoundError("tokspec.testing needs Hypothesis: pip install hypothesis", name=error.name) from None

__all__ = [
    "Example",
    "TokenizerTests",
    "corpora",
    "differences",
    "examples",
    "models",
    "models_with_texts",
    "texts",
    "untrusted_texts",
]

#: How often models are drawn while too few requests are supported, and how far apart the seeds are.
_ROUNDS, _APART = 10, 1_000_000_007

#: How many requests should be answered for each model; an implementation that supports everything gets some fifteen.
_REQUESTS = 10


def differences(
    adapter: Callable[[], Adapter] | str,
    *,
    examples: int = 100,
    seed: int = 0,
    families: Sequence[str] = tuple(FAMILIES),
    choices: Mapping[str, str] | None = None,
    known: Iterable[str] = (),
) -> list[str]:
    """Look for differences from the reference, and return a description of each; the list is empty if there are none.

    If fewer than ten requests are answered for each model, the same number of models is drawn again, and if need be
    again, from the families of which something was answered, so that the supported part is still tested. A warning says
    if, in the end, fewer than one request was answered for each model.

    Args:
        adapter: a class or a function that creates one, which runs in this process and can end it before anything is
            reported; or the name of an installed one, ``module:Object`` or "PROGRAM ARGS", which runs in its own
            process.
        examples: how many models to draw, each with all its requests.
        seed: the seed of the examples; the same seed gives the same findings.
        families: the families of models, by their names in ``tokspec.fuzz.families.FAMILIES``.
        choices: options that replace those that the adapter declares.
        known: clauses; findings that name one are left out.

    Raises:
        DataError: an argument names what does not exist, or no example was answered.
        AdapterFault: the adapter does not start.

    >>> from tokspec.adapters.reference import ReferenceAdapter
    >>> differences(ReferenceAdapter, examples=10)
    []
    """
    families, set_aside = _families(families), frozenset(_clauses(known))
    given = families
    overridden = _options(choices or {})
    _refuse_other_numbers(examples, seed)
    if not isinstance(adapter, str) and not callable(adapter):
        raise DataError(f"{adapter!r} is neither a class nor a name; give an adapter", key="adapter")
    with closing(Side(lambda: open_side(adapter))) as judged:
        checker, tally = Checker(judged, None, overridden), Counter[str]()
        survey = None
        for number in range(_ROUNDS):
            budget, draws = Budget(examples=examples), seed + number * _APART
            campaign = Campaign(checker, draws, budget, families, survey=survey)
            campaign.run()
            survey = campaign.survey
            if campaign.interrupted:
                raise KeyboardInterrupt
            found = [each for each in campaign.findings if each.clause not in set_aside]
            tally += campaign.tally.states
            replies = tally.total() - tally["unsupported"]
            if found or replies >= examples * _REQUESTS:
                break
            families = tuple(each for each in families if campaign.tally.families[each]) or families
        if not replies:
            raise DataError("no example was answered, so the test shows nothing and does not pass")
        if not found and replies < examples:
            said = f"{replies} of {tally.total()} requests were answered, and {examples} models were to be tested"
            warnings.warn(f"tokspec: only {said}", stacklevel=2)
        # the models that are drawn again depend on the survey of the earlier rounds
        again = f"differences(…, seed={seed}, examples={examples if number else '{}'}, families={given})"
        return ["\n".join(finding_lines(each, again.format(each.examples), checker)) for each in found]


def _refuse_other_numbers(examples: object, seed: object) -> None:
    if type(examples) is not int or examples < 1:
        raise DataError(f"{examples!r} is not a number of models; give 1 or more", key="examples")
    if type(seed) is not int or seed < 0:
        raise DataError(f"{seed!r} is not a seed; give a number from 0 on", key="seed")


def _families(names: Sequence[str]) -> tuple[str, ...]:
    families = items_of(names, "families")
    for name in families:
        if name not in FAMILIES:
            question = did_you_mean(name, FAMILIES)
            raise DataError(f"{name!r} names no models; {question}there are {', '.join(FAMILIES)}", key="families")
    if not families:
        raise DataError(f"names no models; there are {', '.join(FAMILIES)}", key="families")
    return families


def _clauses(names: Iterable[str]) -> tuple[str, ...]:
    clauses = items_of(names, "clauses", key="known")
    for name in clauses:
        if name not in load_specification().clauses:
            question = did_you_mean(name, load_specification().clauses)
            message = f"{name!r} is not a clause of the specification; {question}tokspec cases names them"
            raise DataError(message, key="known")
    return clauses


def _options(choices: Mapping[str, str]) -> Mapping[str, str]:
    for name, option in choices.items():
        load_specification().refuse_other_choices(name, option, "choices")
    return choices


class TokenizerTests:
    """A test that a port inherits: the port agrees with the reference, and gives the same answers when asked again.

    >>> class TestReference(TokenizerTests):
    ...     adapter = "reference"
    ...     examples = 10
    >>> TestReference().test_agrees_with_the_reference()
    """

    #: A class or function that creates the adapter, a name, ``module:Object``, or a command. A class or function runs
    #: in the process of pytest, so a library that ends that process ends the tests; the others run in their own
    #: process.
    adapter: ClassVar[Any] = None

    #: How many models to draw, and the seed, so that a test ends the same way each time.
    examples: ClassVar[int] = 100
    seed: ClassVar[int] = 0

    #: Families of models, options that replace the declared ones, and clauses that are known to be broken.
    families: ClassVar[Sequence[str]] = tuple(FAMILIES)
    choices: ClassVar[Mapping[str, str] | None] = None
    known: ClassVar[Iterable[str]] = ()

    def test_agrees_with_the_reference(self) -> None:
        """Fail with a description of each difference."""
        adapter = type(self).__dict__.get("adapter", type(self).adapter)
        if adapter is None:
            raise DataError(f"{type(self).__name__} has none; give the class one", key="adapter")
        adapter = adapter.__func__ if isinstance(adapter, staticmethod) else adapter
        found = differences(
            adapter,
            examples=self.examples,
            seed=self.seed,
            families=self.families,
            choices=self.choices,
            known=self.known,
        )
        if found:
            raise AssertionError("\n\n".join([f"{len(found)} difference{'' if len(found) == 1 else 's'}", *found]))
