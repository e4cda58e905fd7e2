"""Hunt mutants of the reference by fuzzing from a cold start, and print what each took and what is left of its example.

    python conformance/bench/fuzz_mutants.py --draw 120 --seed 7     120 drawn with a seed, and all harmless ones
    python conformance/bench/fuzz_mutants.py BPE-ENC-4 greedy         those of a clause, a file, or one by its id
    python conformance/bench/fuzz_mutants.py --mutants FOLDER         those of another folder
    python conformance/bench/fuzz_mutants.py --replay                 three, each found again by a process of its own

No fixture helps. A mutant is found when an example shows a difference from the reference under the mutant's choices.
Then the example is shrunk; its size is in characters of JSON. Seconds are those of the processor. Harmless mutants are
hunted too, and are not to be found. Each mutant has examples of its own, which follow from the seed and its id: had all
the same, one unlucky beginning would be counted 120 times.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import process_time

from tokspec.base.display import compact, visible
from tokspec.fuzz.campaign import Budget, Campaign
from tokspec.fuzz.checker import Checker, Side
from tokspec.fuzz.findings import Finding
from tokspec.protocol.messages import Fault, Reply, Request
from tokspec.quality.mutants import Mutant, load_mutants, mutants_folder, selected
from tokspec.quality.mutated import mutated
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import limited

#: Seconds that a request may take: a mutant may run for ever.
REQUEST_SECONDS = 2.0

#: What is raised by a mutant that was written wrongly, not by one with a wrong rule.
SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")

#: What is to be met: the share found, seconds at the median, characters at the median and the ninth decile.
TARGETS = (0.95, 0.5, 75, 120)


class LimitedSession(InProcessSession):
    """Asks in this process, and lets no request take longer than ``REQUEST_SECONDS`` of the processor."""

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Return the reply of each request, in order."""
        for index, request in enumerate(requests):
            yield index, self._limited(request)

    def _limited(self, request: Request) -> Reply:
        try:
            with limited(REQUEST_SECONDS):
                reply = self._reply(request)
        except TimeoutError as error:  # raised where the session had caught it once already
            return Fault("timeout", f"{error}")
        is_late = isinstance(reply, Fault) and "TimeoutError" in reply.message
        return Fault("timeout", f"took more than {REQUEST_SECONDS:g} s") if is_late else reply


@dataclass(frozen=True)
class Hunted:
    """What became of a mutant; seconds until it was found, and until its example was small."""

    mutant: Mutant
    finding: Finding | None
    examples: int
    found: float
    total: float

    @property
    def is_right(self) -> bool:
        """Whether it was found, or is harmless and was not."""
        return (self.finding is None) == bool(self.mutant.harmless)


class Clock(Campaign):
    """A campaign that ends after seconds of the processor, and notes when it found something."""

    def __init__(self, checker: Checker, seed: int, seconds: float, database: Path | None = None) -> None:
        super().__init__(checker, seed, Budget(seconds=seconds), enough=1, database=database)
        self.began_at, self.last = process_time(), 0.0
        self.progress = self._note

    @property
    def seconds(self) -> float:
        """Seconds of the processor since the beginning."""
        return process_time() - self.began_at

    def _note(self, campaign: Campaign) -> None:
        self.last = self.seconds


def hunt(mutant: Mutant, seed: int, seconds: float, database: Path | None = None) -> Hunted:
    adapter = mutated(mutant.module, mutant.changed(), mutant.choices)
    own_seed = Random(f"{seed} {mutant.id}").getrandbits(32)
    campaign = Clock(Checker(Side(lambda: LimitedSession(adapter))), own_seed, seconds, database)
    findings = list(campaign.run())
    if findings and findings[0].result.detail.startswith(SLIPS):
        raise SystemExit(f"{mutant.place}: {mutant.id}: differs by a slip: {findings[0].result.detail}")
    finding = findings[0] if findings else None
    return Hunted(mutant, finding, campaign.tally.examples, finding.seconds if finding else seconds, campaign.seconds)


def row(hunted: Hunted) -> str:
    mutant, finding = hunted.mutant, hunted.finding
    words = {(True, True): "found", (True, False): "harmless", (False, True): "ALARM", (False, False): "MISSED"}
    line = f"{words[hunted.is_right, finding is not None]:8} {mutant.clause:15} {mutant.id:44}"
    line += f" {hunted.found:6.2f} {hunted.total:6.2f} {hunted.examples:8}"
    if finding is None:
        return f"{line} {'':>5}  {'' if hunted.is_right else visible(mutant.fault)}"
    shown = compact(dict(finding.question.input))[:70]
    return f"{line} {finding.question.size:5}  {finding.clause} {finding.question.operation} {shown}"


def total(done: Sequence[Hunted]) -> list[str]:
    harmful = [each for each in done if not each.mutant.harmless]
    found = [each for each in harmful if each.finding]
    alarms = [each for each in done if each.mutant.harmless and each.finding]
    safe = len(done) - len(harmful)
    lines = [f"{len(harmful)} mutants: {len(found)} found; {safe} harmless ones: {len(alarms)} false alarms"]
    if len(found) > 1:
        sizes = [each.finding.question.size for each in found if each.finding]
        for name, numbers in (
            ("seconds to found", [each.found for each in found]),
            ("seconds to shrunk", [each.total for each in found]),
            ("characters", sizes),
        ):
            decile = quantiles(numbers, n=10)[8]
            lines.append(
                f"{name:18} median {median(numbers):.2f}, ninth decile {decile:.2f}, largest {max(numbers):.2f}"
            )
        share, seconds, middle, tail = TARGETS
        quick = median([each.found for each in found]) <= seconds
        small = median(sizes) <= middle, quantiles(sizes, n=10)[8] <= tail
        is_met = (len(found) >= share * len(harmful), quick, *small, not alarms)
        lines.append("targets " + ("met" if all(is_met) else f"missed: {is_met}"))
        named = sum(each.mutant.clause == each.finding.clause for each in found if each.finding)
        listed = sum(each.mutant.clause in each.finding.clauses for each in found if each.finding)
        lines.append(f"the clause named is the mutant's own in {named} of {len(found)}, and is a candidate in {listed}")
    return lines


def replay(mutants: Sequence[Mutant], given: argparse.Namespace) -> int:
    """Find each mutant, and again in another process, which only replays what the first one kept."""
    status = 0
    for mutant in mutants:
        if given.folder is not None:
            again = hunt(mutant, given.seed, 0.0, given.folder)
            print("nothing" if again.finding is None else again.finding.question.key)
            continue
        with TemporaryDirectory() as kept:
            first = hunt(mutant, given.seed, given.seconds, Path(kept))
            command = [
                sys.executable,
                __file__,
                mutant.id,
                "--replay",
                "--folder",
                kept,
                "--mutants",
                str(given.mutants),
            ]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        is_same = first.finding is not None and said == first.finding.question.key
        word = "NOT FOUND" if first.finding is None else "replayed" if is_same else "DIFFERENT"
        print(f"{word} {mutant.id} {said}")
        status |= not is_same
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="mutants by id, clause or file")
    parser.add_argument("--mutants", type=Path, default=mutants_folder(), metavar="FOLDER", help="where they are")
    parser.add_argument("--draw", type=int, help="how many of those mutants to draw; all harmless ones are taken too")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the processor for each (60)")
    parser.add_argument("--harmless", type=float, default=10.0, help="the same for each harmless one (10)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", action="store_true", help="find some again in another process")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.mutants is None:
        parser.error("an installed suite has no mutants; run it in a checkout")
    mutants = selected(load_mutants(given.mutants), tuple(given.patterns))
    harmful, harmless = ([each for each in mutants if bool(each.harmless) == is_so] for is_so in (False, True))
    if given.draw is not None or given.replay:
        harmful = Random(given.seed).sample(harmful, min(len(harmful), given.draw or 3))
    if given.replay:
        return replay(harmful, given)
    heads = ("", "clause", "mutant", "found", "shrunk", "examples", "size")
    print("{:8} {:15} {:44} {:>6} {:>6} {:>8} {:>5}  named, and what it is asked".format(*heads), flush=True)
    done = []
    for mutant in (*harmful, *harmless):
        done.append(hunt(mutant, given.seed, given.harmless if mutant.harmless else given.seconds))
        print(row(done[-1]), flush=True)
    print("\n".join(total(done)))
    return 0 if all(each.is_right for each in done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
