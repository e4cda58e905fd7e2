"""A campaign: examples are made, asked and compared until the budget is spent; what differs is shrunk and grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from tokspec.base.errors import DataError
from tokspec.fuzz.budget import Budget, Tally
from tokspec.fuzz.checker import Checker
from tokspec.fuzz.example import Example
from tokspec.fuzz.findings import Finding, Findings, finding_of, group_before_shrinking
from tokspec.fuzz.maker import Maker, is_death
from tokspec.fuzz.models import FAMILIES
from tokspec.fuzz.oracle import Comparison
from tokspec.fuzz.shrink import shrunk
from tokspec.protocol.messages import Reply

__all__ = ["Campaign"]

#: Models that are asked about at once, fewer at the beginning.
MODELS = 12

#: Examples that are asked at once, fewer where the program hangs.
PIECE = 1024
FIRST_PIECE = 8

#: So many batches without an example end a campaign.
IDLE = 200

#: Seconds for shrinking a difference, where each candidate ends the program, and when the budget is spent.
SHRINKING = 20.0
SHRINKING_DEATHS = 6.0
SHRINKING_LATE = 3.0

_Pairs = Sequence[tuple[Example, Comparison]]


class Campaign:
    """Looks for differences.

    Args:
        checks: what compares; the first is asked everything, others choose.
        seed: of the examples.
        budget: when to end.
        families: from which to make models.
        progress: told of each batch.
        enough: after so many findings it ends; None is no limit.
    """

    def __init__(
        self,
        checks: Sequence[Checker],
        seed: int,
        budget: Budget,
        families: Sequence[str] = tuple(FAMILIES),
        progress: Callable[[Campaign], None] = lambda campaign: None,
        enough: int | None = None,
    ) -> None:
        self.checks, self.budget, self.families = checks, budget, families
        self.progress, self.enough = progress, enough
        self.findings, self.tally, self.maker = Findings(), Tally(), Maker(seed, families)
        self.began, self.interrupted, self.shrinking = monotonic(), False, 0.0
        self._piece, self._idle = FIRST_PIECE, 0

    def run(self, first: Sequence[Example] = ()) -> Findings:
        """Ask what is given first, then what is made, until the budget is spent or somebody interrupts.

        Raises:
            DataError: nothing that is made can be asked.
        """
        with self._interruptible():
            self._take(first, given=True)
            while not self._is_over():
                self._take(self._batch())
                self.progress(self)
        if self._idle == IDLE and not self.tally.examples:
            raise DataError(self._nothing_to_ask())
        self.findings.counted()
        return self.findings

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return monotonic() - self.began

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Let Ctrl-C end the campaign with what was found; what is derived from it is not ours."""
        try:
            yield
        except KeyboardInterrupt as interruption:
            if type(interruption) is not KeyboardInterrupt:
                raise
            self.interrupted = True

    def _is_over(self) -> bool:
        return self._has_enough() or self._idle == IDLE or self.budget.is_spent(self.tally.made, self.began)

    def _has_enough(self) -> bool:
        return self.interrupted or (self.enough is not None and len(self.findings) >= self.enough)

    def _is_late(self) -> bool:
        return self.budget.is_late(self.began)

    def _batch(self) -> list[Example]:
        operations = self.checks[0].judged.session.hello.operations
        batch = self.maker.batch(operations, min(MODELS, 2 + self.tally.made // 100))
        self._idle = 0 if batch else self._idle + 1
        return batch

    def _nothing_to_ask(self) -> str:
        hello = self.checks[0].judged.session.hello
        offered = ", ".join(hello.operations) or "no operation"
        families = "any family" if len(self.families) == len(FAMILIES) else ", ".join(self.families)
        return f"{hello.name} {hello.version} offers {offered}, and models of {families} are asked something else"

    def _take(self, examples: Sequence[Example], *, given: bool = False) -> None:
        """Compare examples, and look closer at what differs; those that are given are asked without a budget."""
        known: dict[int, Reply] = {}
        pairs = self._compared(examples, known, given)
        self._look_at(self.checks[0], pairs)
        alive = [example for example, comparison in pairs if not is_death(comparison)]
        for check in self.checks[1:]:
            if self._has_enough() or (self._is_late() and not given):
                return
            with self._interruptible():
                chosen = [example for example in alive if given or check.takes(example)]
                self._look_at(check, [*zip(chosen, check.compare(chosen, known), strict=True)])

    def _compared(self, examples: Sequence[Example], known: dict[int, Reply], given: bool) -> _Pairs:
        """Compare with the oracle piece by piece, and look at the clock between them."""
        oracle, waiting = self.checks[0], list(examples)
        pairs: list[tuple[Example, Comparison]] = []
        with self._interruptible():
            while waiting and (given or not self._is_late()):
                piece, waiting = waiting[: self._piece], waiting[self._piece :]
                compared = [*zip(piece, oracle.compare(piece), strict=True)]
                known.update(oracle.judged.latest)
                pairs += compared
                self._count(compared, given)
                hangs = any(comparison.kind.startswith("timeout") for _, comparison in compared)
                self._piece = 1 if hangs else min(2 * self._piece, PIECE)
                if hangs and not given:
                    waiting = [example for example in waiting if self.maker.is_worth_a_death(example)]
        return pairs

    def _count(self, pairs: _Pairs, given: bool) -> None:
        supported = [example for example, comparison in pairs if comparison.state != "unsupported"]
        self.tally.states.update(comparison.state for _, comparison in pairs)
        self.tally.operations.update(example.operation for example in supported)
        self.tally.families.update(example.origin.partition(":")[0] for example in supported)
        self.tally.categories.update(self.maker.categories(supported))
        if given:
            self.tally.given += len(pairs)
            return
        for example, comparison in pairs:
            self.maker.learn(example, comparison)

    def _look_at(self, check: Checker, pairs: _Pairs) -> None:
        for example, comparison in _first_stages(pairs):
            self._look(check, example, comparison)
            if self.enough is not None and len(self.findings) >= self.enough:
                return

    def _look(self, check: Checker, example: Example, comparison: Comparison) -> None:
        """Shrink a difference: of those of one rough kind the first, the second, the fourth, the eighth and so on."""
        before = group_before_shrinking(check.name, check.clause, example, comparison)
        self.findings.met[before] += 1
        times = self.findings.met[before]
        if times & (times - 1):
            return
        began, examples = monotonic(), self.tally.examples
        small, last = self._smallest(check, example, comparison)
        found = finding_of(check.name, check.clause, small, example, last)
        found.examples, found.seconds = examples, began - self.began
        found.oracle = self._beside_the_oracle(check, small, example)
        self.findings.add(before, found)
        self.shrinking += monotonic() - began

    def _beside_the_oracle(self, check: Checker, small: Example, first: Example) -> Finding | None:
        """Return what an example by which a property is broken shows beside the oracle, if anything."""
        oracle = self.checks[0]
        if check is oracle or self.interrupted:
            return None
        (comparison,) = oracle.compare([small])
        return finding_of(oracle.name, "", small, first, comparison) if comparison.state == "differs" else None

    def _smallest(self, check: Checker, example: Example, comparison: Comparison) -> tuple[Example, Comparison]:
        """Return the smallest example that shows the same; an interruption leaves what was reached by then."""
        best = example, comparison

        def shows(candidates: Sequence[Example]) -> list[bool]:
            nonlocal best
            pairs = [*zip(candidates, check.compare(candidates), strict=True)]
            same = [one.state == "differs" and one.kind == comparison.kind for _, one in pairs]
            best = next((pair for pair, is_same in zip(pairs, same, strict=True) if is_same), best)
            return same

        with self._interruptible():
            if not self.interrupted:
                shrunk(example, shows, *self._means(check, comparison))
        return best

    def _means(self, check: Checker, comparison: Comparison) -> tuple[float, int]:
        """Return the seconds for shrinking, and how many candidates to ask at once: each death costs a new start."""
        hangs, dies = comparison.kind.startswith("timeout"), comparison.kind.startswith("crash")
        seconds = SHRINKING_DEATHS if (hangs or dies) and check.batch > 1 else SHRINKING
        batch = 1 if hangs else min(4, check.batch) if dies else check.batch
        is_late = self._is_late() and self.budget.seconds  # with a budget of nothing, what is given is all there is
        return (SHRINKING_LATE if is_late else seconds), batch


def _first_stages(pairs: _Pairs) -> Iterator[tuple[Example, Comparison]]:
    """Return what differs, but an encoding only where no stage before it differs for the same text."""
    earlier = {
        (id(example.model), example.input.get("text"))
        for example, comparison in pairs
        if comparison.state == "differs" and example.operation in ("normalize", "pre_tokenize")
    }
    for example, comparison in pairs:
        follows = example.operation == "encode" and (id(example.model), example.input.get("text")) in earlier
        if comparison.state == "differs" and not follows:
            yield example, comparison
