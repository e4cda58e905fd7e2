"""Every mutant of the reference, hunted from a cold start: the measure of what the generators can find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from time import monotonic

from tokspec.base.errors import DataError
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.campaign import Campaign
from tokspec.fuzz.checker import Checker, Conversations
from tokspec.fuzz.example import Example
from tokspec.fuzz.findings import Finding
from tokspec.protocol.messages import Fault, Reply
from tokspec.quality.mutants import Mutant
from tokspec.quality.mutated import mutated
from tokspec.quality.timed import limited
from tokspec.sessions.in_process import InProcessSession

__all__ = ["Hunted", "hunt", "hunted"]

#: What a request may take, where the system has a timer: a mutant may run for ever.
SECONDS = 2.0

#: What is raised by a mutant that was written wrongly, not by one with a wrong rule.
_SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")


@dataclass(frozen=True)
class Hunted:
    """What became of a mutant: its finding, if there is one, and what it cost until then."""

    mutant: Mutant
    finding: Finding | None
    examples: int
    seconds: float

    @property
    def right(self) -> bool:
        """Whether it was found, or is harmless and was not.

        >>> Hunted(Mutant("m", "ENC-1", "is wrong", "model", "a", "b"), None, 100, 0.5).right
        False
        """
        return (self.finding is None) == bool(self.mutant.harmless)


class _Limited(Conversations):
    """Asks one by one, and lets nothing take longer than ``SECONDS``."""

    def ask(self, examples: Sequence[Example]) -> list[Reply]:
        replies = []
        for example in examples:
            try:
                with limited(SECONDS):
                    replies += super().ask([example])
            except TimeoutError as error:  # raised where the session had caught it once already
                replies.append(Fault("crash", f"TimeoutError: {error}"))
        return replies


def hunted(mutant: Mutant, seed: int, budget: Budget) -> Hunted:
    """Look for a difference between a mutant and the reference until there is one, or the budget is spent."""
    source = mutant.changed()
    judged = _Limited(lambda: InProcessSession(mutated(mutant.module, source, mutant.choices)))
    began = monotonic()
    campaign = Campaign([Checker(judged)], seed, budget, enough=1)
    findings = list(campaign.run())
    if campaign.interrupted:
        raise KeyboardInterrupt
    seconds = findings[0].seconds if findings else monotonic() - began
    if findings and findings[0].result.detail.startswith(_SLIPS):
        message = f"differs by a slip of the mutant: {findings[0].result.detail}"
        raise DataError(message, mutant.place, key=mutant.id)
    return Hunted(mutant, findings[0] if findings else None, campaign.tally.examples, seconds)


def hunt(
    mutants: Sequence[Mutant],
    seed: int,
    budget: Budget,
    jobs: int = 1,
    progress: Callable[[Hunted], None] = lambda hunted: None,
) -> list[Hunted]:
    """Hunt every mutant, in as many processes as there are jobs, in the order given; the budget is for each."""
    done = []
    work = [(mutant, seed, budget) for mutant in mutants]
    for one in _results(work, jobs):
        progress(one)
        done.append(one)
    return done


def _results(work: Sequence[tuple[Mutant, int, Budget]], jobs: int) -> Iterator[Hunted]:
    if jobs == 1:
        yield from map(_hunted, work)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(_hunted, work, chunksize=4)


def _hunted(work: tuple[Mutant, int, Budget]) -> Hunted:
    return hunted(*work)
