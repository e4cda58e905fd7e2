"""What the commands that people run most often cost, beside what they may cost; continuous integration prints it.

    python conformance/bench/budget.py

Medians of three runs. A budget that is exceeded is shown and fails nothing: seconds depend on the machine.
"""

from __future__ import annotations

import statistics
import sys

from measure import run_command

#: A command of ours, what of its run is measured, and the seconds of that it may take on two processors. A whole run
#: has about a millisecond for each case: it was 2.5 s for 2,347 cases, and is 5 s for some 4,600.
BUDGETS = (
    (("run",), "clock", 5.0),
    (("run", "--select", "bpe-toy-encode-bug"), "processor", 0.8),
)


def main() -> None:
    """Print a line for each budget."""
    for arguments, what, budget in BUDGETS:
        command = [sys.executable, "-m", "tokspec", *arguments]
        seconds = statistics.median(getattr(run_command(command), what) for _ in range(3))
        verdict = "within" if seconds <= budget else "over"
        print(f"tokspec {' '.join(arguments)}: {seconds:.2f} s of the {what}, {verdict} {budget} s")


if __name__ == "__main__":
    main()
