"""Ask implementations by all packs whose files they load: ``python conformance/packs/judge.py FOLDER [IMPL ...]``.

FOLDER has the files of the manifest. What each library made of each tokenizer is recorded in ``fixtures/results.json``,
in place of what was recorded of the same release. A table of all that is recorded is printed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from published import Published, published_in

from tokspec.adapters.registry import names_program, open_session
from tokspec.base.display import compact, shorten
from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.runner import run
from tokspec.judge.sweeping import SweepPart, ask_part, parts_of
from tokspec.judge.verdicts import Verdict
from tokspec.protocol.messages import Answer
from tokspec.results.one_file import FileRow
from tokspec.results.recorded import RESULTS, Recorded, read_results, write_results
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session
from tokspec.suite.packs import ENDING, cases_of, packs_folder
from tokspec.suite.recordings import RecordingFile, read_recording
from tokspec.suite.sweeps import blocks_of, read_sweep

#: Who is asked unless others are named.
IMPLEMENTATIONS = (
    "tokenizers",
    "sentencepiece",
    "tiktoken",
    "mistral-tekken",
    "kitoken==0.11.1",
    "splintr",
    "tokie",
    "onnxruntime-extensions",
    "openvino-tokenizers",
    "pytorch-tokenizers",
    "tiktoken-rs==0.12.1",
    "@huggingface/tokenizers==0.2.0",
    "gpt-tokenizer==4.0.0",
    "js-tiktoken==1.0.21",
    "sugarme==0.3.0",
    "pkoukk==0.1.8",
    "go-sentencepiece==0.7.0",
    f"java -cp {Path(__file__).parents[1] / 'adapters/java/target/adapters.jar'} Djl",
)

#: How many blocks of a sweep are asked about, evenly over the vocabulary.
BLOCKS = 200

#: Of how many wrong answers to a part of a sweep the cause is looked for, and how much of a text is shown.
_EXPLAINED, _SHOWN = 500, 40


class Answers:
    """How many answers of a library are right, and the causes of the others, each with its shortest text."""

    def __init__(self, published: Published, right: str) -> None:
        self._published, self._right = published, right
        self.input, self.text = [0, 0], [0, 0]
        self._causes, self._shortest = Counter[str](), dict[str, str]()

    def add(self, operation: str, is_right: bool) -> None:
        """Count an answer."""
        counts = self.text if operation == "decode" else self.input
        counts[0] += is_right
        counts[1] += 1

    def explain(
        self, operation: str, input: Mapping[str, Any], right: Mapping[str, Any], given: Mapping[str, Any]
    ) -> None:
        """Count the cause of a wrong answer; one without values is a refusal."""
        cause = self._published.cause(operation, input, right, given, self._right)
        text = input["text"] if operation == "encode" else right["text"]
        self._causes[cause] += 1
        self._shortest[cause] = min(self._shortest.get(cause, text), text, key=len)

    @property
    def worst(self) -> str:
        """The commonest cause, with the shortest text that shows it."""
        if not self._causes:
            return ""
        cause = self._causes.most_common(1)[0][0]
        return f"{cause}, as {shorten(compact(self._shortest[cause]), _SHOWN)}"


def ask(impl: str, published: Published, pack: RecordingFile, parts: Sequence[SweepPart]) -> FileRow | None:
    """Say what a library makes of a tokenizer; nothing if it does not read files of the format."""
    named = (None, impl) if names_program(impl) else (impl, None)
    with open_session(*named, limits=Limits(60.0, 120.0)) as session:
        hello = session.hello
        who = f"{hello.name} {hello.version}"
        if published.format not in hello.formats:
            return None
        answers = Answers(published, str(pack.header.implementation["name"]))
        reason = _ask_lines(session, published, pack, answers) or _ask_sweep(session, published, parts, answers)
    reason = reason.partition("\\n")[0]  # without the stack of a crash, which names folders of this machine
    input, text = ((counts[0], counts[1]) for counts in (answers.input, answers.text))
    return FileRow(who, hello.language, "", input, text, worst=answers.worst, reason=reason)


def _ask_lines(session: Session, published: Published, pack: RecordingFile, answers: Answers) -> str:
    """Ask about the lines, and say why none is answered."""
    judged = run(session, [*cases_of(pack, published.model).cases.values()])
    asked = [result for result in judged.results if result.verdict is not Verdict.UNSUPPORTED]
    if not asked or all(result.verdict is not Verdict.FAIL and not result.verdict.conforms for result in asked):
        return asked[0].detail if asked else Counter(each.detail for each in judged.results).most_common(1)[0][0]
    for result in asked:
        case, right = result.case, result.case.outcome["expect"]
        answers.add(case.operation, result.verdict.conforms)
        if not result.verdict.conforms:
            reply = result.reply.result if isinstance(result.reply, Answer) else {}
            answers.explain(case.operation, case.input, right, {key: reply[key] for key in right if key in reply})
    return ""


def _ask_sweep(session: Session, published: Published, parts: Sequence[SweepPart], answers: Answers) -> str:
    """Ask about every entry, and say where a library gave up."""
    for part in parts:
        found = ask_part(session, published.model, part)
        wrong = [id for id, answer in found.items() if answer != part.due[id]]
        for id, answer in found.items():
            answers.add(part.operation, answer == part.due[id])
        for id in wrong[:: len(wrong) // _EXPLAINED + 1]:
            given = {part.field: found[id]} if found[id] is not None else {}
            answers.explain(part.operation, part.asked[id], {part.field: part.due[id]}, given)
        if part.operation in session.hello.operations and len(found) < len(part.due):
            return f"gave up after {len(found):,} of {len(part.due):,} {part.name} of its vocabulary"
    return ""


def agreed_parts(published: Published, pack: RecordingFile) -> list[SweepPart]:
    """Return the parts of a sweep, of some of the blocks on which the makers of the pack agree."""
    sweep, parts = read_sweep(pack.header.sweep), []
    blocks = range(0, sweep.blocks, max(1, sweep.blocks // BLOCKS))
    for part in parts_of(sweep, pack.header.choices, published.model, blocks):
        due = {
            id: part.due[id]
            for block, ids in blocks_of([*part.due])
            if sweep.digest(part.name, block) == part.digest(ids)
            for id in ids
        }
        asked = {id: part.asked[id] for id in due}
        parts.append(SweepPart(part.name, part.clause, part.operation, asked, part.field, due))
    return parts


def table(results: Mapping[str, Recorded]) -> Iterator[str]:
    """Return a table of what is recorded of each library over all tokenizers."""
    rows = defaultdict[str, dict[str, FileRow]](dict)
    for name, result in results.items():
        for row in result.rows:
            rows[row.who][name] = row
    yield "| library | loads | of | all right | wrong ids | wrong texts |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for who, of in sorted(rows.items()):
        loaded = [row for row in of.values() if row.input[1] or row.text[1]]
        ids, texts = (sum(of - right for right, of in counts) for counts in _counts(loaded))
        right = sum(row.input[0] == row.input[1] and row.text[0] == row.text[1] for row in loaded)
        yield f"| {who} | {len(loaded)} | {len(of)} | {right} | {ids:,} | {texts:,} |"


def _counts(rows: Sequence[FileRow]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    return [row.input for row in rows], [row.text for row in rows]


def main() -> int:
    """Ask, record, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files of the manifest are")
    parser.add_argument("impls", nargs="*", help="who is asked", default=[*IMPLEMENTATIONS])
    parser.add_argument("--only", action="append", metavar="NAME", help="a tokenizer; all unless given")
    parser.add_argument("--packs", type=Path, default=packs_folder(), help="the folder of the packs")
    parser.add_argument("--to", type=Path, default=packs_folder().parent / RESULTS, help="where results are recorded")
    given = parser.parse_args()
    day = datetime.now(UTC).date().isoformat()
    names = [path.name.removesuffix(ENDING) for path in given.packs.glob(f"*{ENDING}")]
    for published in published_in(given.folder, given.only or names):
        pack, results = read_recording(given.packs / f"{published.name}{ENDING}"), read_results(given.to)
        parts, model = agreed_parts(published, pack), pack.header.model
        old = results.get(published.name)
        rows, asked = {row.who: row for row in (old.rows if old else ())}, dict(old.asked if old else {})
        for impl in given.impls:
            try:
                row = ask(impl, published, pack, parts)
            except (AdapterFault, DataError) as error:
                print(f"{published.name}: {impl}: {error}", file=sys.stderr, flush=True)
                continue
            if row:
                rows[row.who], asked[row.who] = row, day
        about = {key: str(model[key]) for key in ("file", "format", "sha256")}
        results[published.name] = Recorded(
            published.name,
            package=pack.header.package,
            kind=str(published.model.neutral["type"]),
            asked=asked,
            rows=[*rows.values()],
            **about,
        )
        write_results(given.to, results)
        print(f"asked about {published.name}", file=sys.stderr, flush=True)
    print("\n".join(table(read_results(given.to))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
