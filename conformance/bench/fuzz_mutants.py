"""Hunt every mutant of the reference from a cold start, and print what each took: seconds, examples, and the size left.

    python conformance/bench/fuzz_mutants.py                     all, 40,000 examples each
    python conformance/bench/fuzz_mutants.py BPE-ENC-4 greedy    those of a clause, a file, or one by its id

No fixture helps. A mutant is found when an example shows a difference from the reference under the mutant's choices.
Then the example is shrunk; its size is given in characters of JSON. Harmless mutants are hunted too, and are not to be
found.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median

from tokspec.base.display import compact, visible
from tokspec.fuzz.budget import Budget
from tokspec.fuzz.hunt import Hunted, hunt
from tokspec.quality.mutants import load_mutants, mutants_folder, selected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="mutants by id, clause or file")
    parser.add_argument("--examples", type=int, default=40_000, help="budget for each mutant (40000)")
    parser.add_argument("--harmless", type=int, default=5000, help="budget for each harmless mutant (5000)")
    parser.add_argument("--seconds", type=float, help="budget for each mutant; none unless given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    folder = mutants_folder()
    if folder is None:
        parser.error("an installed suite has no mutants; run it in a checkout")
    mutants = selected(load_mutants(folder), tuple(given.patterns))
    print(
        f"{'':8} {'clause':16} {'mutant':44} {'seconds':>7} {'examples':>8} {'size':>5}  named, and what it is asked",
        flush=True,
    )
    done = []
    for harmless, examples in ((False, given.examples), (True, given.harmless)):
        chosen = [mutant for mutant in mutants if bool(mutant.harmless) == harmless]
        budget = Budget(given.seconds, examples)
        done += hunt(chosen, given.seed, budget, given.jobs, lambda hunted: print(_row(hunted), flush=True))
    print(_total(done))
    return 0 if all(hunted.right for hunted in done) else 1


def _row(hunted: Hunted) -> str:
    mutant, finding = hunted.mutant, hunted.finding
    words = {(True, True): "found", (True, False): "harmless", (False, True): "ALARM", (False, False): "MISSED"}
    word = words[hunted.right, finding is not None]
    row = f"{word:8} {mutant.clause:16} {mutant.id:44} {hunted.seconds:7.2f} {hunted.examples:8}"
    if finding is None:
        return f"{row} {'':>5}  {'' if hunted.right else visible(mutant.fault)}"
    example = finding.example
    return f"{row} {example.size:5}  {finding.clause} {example.operation} {compact(dict(example.input))[:100]}"


def _total(done: Sequence[Hunted]) -> str:
    harmful = [hunted for hunted in done if not hunted.mutant.harmless]
    found = [hunted for hunted in harmful if hunted.finding]
    named = sum(hunted.finding.clause == hunted.mutant.clause for hunted in found if hunted.finding)
    alarms = sum(not hunted.right for hunted in done if hunted.mutant.harmless)
    line = f"{len(harmful)} mutants: {len(found)} found, {len(harmful) - len(found)} missed"
    line += f"; {len(done) - len(harmful)} harmless ones: {alarms} false alarms"
    if not found:
        return line
    seconds, sizes = (
        [hunted.seconds for hunted in found],
        [hunted.finding.example.size for hunted in found if hunted.finding],
    )
    examples = [hunted.examples for hunted in found]
    line += f"\nmedian {median(seconds):.2f} s, {median(examples):.0f} examples, {median(sizes):.0f} characters"
    line += f"; largest {max(seconds):.1f} s, {max(examples)} examples, {max(sizes)} characters"
    return f"{line}\nthe clause named is the mutant's own in {named} of {len(found)}"


if __name__ == "__main__":
    raise SystemExit(main())
