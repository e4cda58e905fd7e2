"""Judge implementations by all packs whose files they load: ``python conformance/packs/judge.py FOLDER [IMPL ...]``.

FOLDER has the files of the manifest. It prints a table of the cases of lines and blocks that are asked, and of those
that are answered otherwise, and how many differ by each cause, over all packs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from published import Published, published_in

from tokspec.adapters.registry import open_session
from tokspec.judge.runner import run
from tokspec.judge.sweeping import sweep_cases
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer
from tokspec.sessions.limits import Limits
from tokspec.suite.packs import ENDING, cases_of, packs_folder
from tokspec.suite.recordings import read_recording
from tokspec.suite.sweeps import read_sweep

#: Who is judged unless others are named, and the language that each is written in.
IMPLEMENTATIONS = {
    "tokenizers": "Rust",
    "sentencepiece": "C++",
    "tiktoken": "Rust",
    "kitoken==0.11.1": "Rust",
    "splintr": "Rust",
    "tokie": "Rust",
    "tiktoken-rs==0.12.1": "Rust",
    "@huggingface/tokenizers==0.2.0": "JavaScript",
    "gpt-tokenizer==4.0.0": "JavaScript",
    "js-tiktoken==1.0.21": "JavaScript",
    "sugarme==0.3.0": "Go",
    "pkoukk==0.1.8": "Go",
}


class Tally:
    """What came of one implementation by all packs."""

    def __init__(self) -> None:
        self.packs, self.verdicts, self.causes = 0, Counter[str](), Counter[str]()
        self.refused: list[str] = []

    def judge(self, impl: str, published: Published) -> None:
        """Judge it by the pack of a tokenizer, if it loads files of its format."""
        pack = read_recording(packs_folder() / f"{published.name}{ENDING}")
        with open_session(impl, None, limits=Limits(60.0, 120.0)) as session:
            if published.format not in session.hello.formats:
                return
            sweep, choices = read_sweep(pack.header.sweep), pack.header.choices
            swept = sweep_cases(published.name, pack.name, sweep, choices, published.model, session)
            judged = run(session, [*cases_of(pack, published.model).cases.values(), *swept.cases.values()])
        asked = [result for result in judged.results if result.verdict is not Verdict.UNSUPPORTED]
        if not asked or all(result.verdict is Verdict.ERROR for result in asked):
            self.refused.append(published.name)
            return
        self.packs += 1
        self.verdicts.update(result.verdict.value for result in asked)
        self.causes.update(_cause(result, published) for result in asked if not result.verdict.conforms)


def _cause(result: Result, published: Published) -> str:
    case = result.case
    if isinstance(result.reply, Answer) and result.verdict is Verdict.FAIL:
        right = case.outcome["expect"]
        given = {field: value for field, value in result.reply.result.items() if field in right}
        return published.cause(case.operation, case.input, right, given, "the pack")
    return f"{case.operation}: {result.verdict.value}: {result.detail}"[:160]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files of the manifest are")
    parser.add_argument("impls", nargs="*", help="who is judged", default=[*IMPLEMENTATIONS])
    given = parser.parse_args()
    tallies = {impl: Tally() for impl in given.impls}
    names = sorted(path.name.removesuffix(ENDING) for path in packs_folder().glob(f"*{ENDING}"))
    for published in published_in(given.folder, names):
        for impl, tally in tallies.items():
            tally.judge(impl, published)
        print(f"judged by {published.name}", file=sys.stderr, flush=True)
    print("| implementation | written in | packs | asked | otherwise |\n| --- | --- | ---: | ---: | ---: |")
    for impl, tally in tallies.items():
        asked, passed = tally.verdicts.total(), tally.verdicts["pass"]
        language = IMPLEMENTATIONS.get(impl, "")
        print(f"| {impl.replace('==', ' ')} | {language} | {tally.packs} | {asked:,} | {asked - passed:,} |")
    for impl, tally in tallies.items():
        if tally.refused:
            print(f"\n{impl} refuses {', '.join(tally.refused)}")
        for cause, number in tally.causes.most_common():
            print(f"{impl}: {number}: {cause}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
