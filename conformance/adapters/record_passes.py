"""Record what each implementation of adapters.yaml does: the figures that change with every case.

    python conformance/adapters/record_passes.py

runs all that are installed and built, and writes ``passes.json``, what "implementations" in ``verified_by`` may claim:
of each implementation its version, its family and a digest of the cases that it passed, and of each case those that
passed it. An implementation that is not here keeps what was recorded of it. Implementations of one family, such as
ports of another, are one piece of evidence. If all are here, it also writes the tables of docs/results.md, those rows
of them that the README shows, the same in ``fixtures/results.json`` for the site, and the table of components. That is
for maintainers: who adds a case needs no library.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokspec.base.files import fixtures_folder
from tokspec.judge.effects import Effect
from tokspec.judge.scope import in_profile
from tokspec.judge.verdicts import Verdict
from tokspec.report.markdown import escape_markup
from tokspec.results.recorded import RESULTS, Library, read_libraries, read_results
from tokspec.results.recorded import written as written_results
from tokspec.results.rows import MatrixRow, markdown_matrix, matrix, read_list
from tokspec.suite.cases import Case, Suite
from tokspec.suite.fixtures import load_suite

HERE = Path(__file__).parent
FILE = HERE / "passes.json"
README = HERE.parent.parent / "README.md"
PAGE = HERE.parent.parent / "docs" / "results.md"

UNSUPPORTED = Verdict.UNSUPPORTED

#: Whose rows the README shows.
BEST_KNOWN = (
    "tokenizers",
    "sentencepiece",
    "tiktoken",
    "@huggingface/tokenizers",
    "gpt-tokenizer",
    "js-tiktoken",
    "node-llama-cpp",
    "sugarme/tokenizer",
    "kitoken",
    "jtokkit",
)

#: The suite's own, which is no evidence for itself.
OURS = "tokfast"

#: Where an implementation comes from, where another has the same origin or is its model.
FAMILIES: Mapping[str, str] = {
    "tokenizers": "huggingface",
    "@huggingface/tokenizers": "huggingface",
    "sugarme/tokenizer": "huggingface",
    "DJL": "huggingface",
    "eliben/go-sentencepiece": "sentencepiece",
    "tiktoken": "openai",
    "tiktoken._educational": "openai",
    "tiktoken-rs": "openai",
    "gpt-tokenizer": "openai",
    "tiktoken-wasm": "openai",
    "mistral-common-Tekkenizer": "openai",
    "js-tiktoken": "openai",
    "@microsoft/tiktokenizer": "openai",
    "ai-tokenizer": "openai",
    "pkoukk/tiktoken-go": "openai",
    "jtokkit": "openai",
    "transformers-BertTokenizerLegacy": "bert",
    "opennlp-tools WordpieceTokenizer": "bert",
    "tribuo-util-tokenization Wordpiece": "bert",
}


def _asked(case: Case) -> tuple[Any, Any]:
    """Input and outcome of a case; of a table lists of them."""
    if not case.rows:
        return case.input, case.outcome
    return [row.input for row in case.rows], [row.outcome for row in case.rows]


def digest(suite: Suite, names: Iterable[str]) -> str:
    """SHA-256 of what cases ask and expect: a case that has changed since has not been passed."""
    asked = [
        [name, case.operation, case.model.content, *_asked(case)]
        for name in sorted(names)
        if (case := suite.cases.get(name))
    ]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def record(suite: Suite, before: Mapping[str, Any], rows: Iterable[MatrixRow]) -> dict[str, Any]:
    """Give the record of what was run."""
    passed: dict[str, list[str]] = {}
    versions: dict[str, str] = {}
    for run in (row.run for row in rows if row.run and row.listed.impl != OURS):
        versions[run.hello.name] = run.hello.version
        passed[run.hello.name] = [result.case.id for result in run.results if result.verdict is Verdict.PASS]
    for name, said in before.get("implementations", {}).items():
        if name not in passed:
            versions[name] = said["version"]
            passed[name] = [case for case, names in before["cases"].items() if name in names and case in suite.cases]
    return {
        "implementations": {
            name: {
                "version": versions[name],
                "family": FAMILIES.get(name, name),
                "digest": digest(suite, passed[name]),
            }
            for name in sorted(passed)
        },
        "cases": {
            case: names for case in suite.cases if (names := [name for name in sorted(passed) if case in passed[name]])
        },
    }


def written(record: Mapping[str, Any]) -> str:
    """A line for each implementation and each case."""
    parts = [
        f" {json.dumps(part)}: {{\n"
        + ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in record[part].items())
        + "\n }"
        for part in ("implementations", "cases")
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def figures(suite: Suite, rows: Sequence[MatrixRow]) -> dict[Path, str]:
    """Return the files that record these results, each with its new text."""
    new = {FILE: written(record(suite, json.loads(FILE.read_text("utf-8")), rows))}
    for row in rows:
        if not row.run:
            print(f"{row.listed.name}: {row.missing}; what was recorded of it stays", file=sys.stderr)
    if all(row.run for row in rows):
        whole = put(PAGE.read_text("utf-8"), "matrix", markdown_matrix(rows))
        new[PAGE] = put(whole, "effects", by_effect(rows))
        before = {each.name: each for each in read_libraries()}
        libraries = [Library.of(row.run, before) for row in rows if row.run]
        new[fixtures_folder() / RESULTS] = written_results(read_results(), libraries)
        best_known = [row for row in rows if row.run and row.run.hello.name in BEST_KNOWN]
        new[README] = put(README.read_text("utf-8"), "matrix", by_effect(best_known))
    return new


def by_effect(rows: Iterable[MatrixRow]) -> list[str]:
    """Return a table: of each implementation how many cases pass, and what the others cost."""
    effects = [effect.value for effect in Effect]
    heads = ["implementation", "language", "asked", "right", *effects, "as its origin", "untrusted text"]
    lines = [f"| {' | '.join(heads)} |", f"| --- | --- |{' ---: |' * (len(heads) - 2)}"]
    for run in (row.run for row in rows if row.run):
        own = [result for result in in_profile(run.results, "untrusted-text") if result.verdict is not UNSUPPORTED]
        passed = sum(result.verdict is Verdict.PASS for result in own)
        asked = len(run.results) - run.counts[UNSUPPORTED]
        failing = [*(failing for _, _, failing in run.by_effect.values()), run.counts[Verdict.AS_ORIGIN]]
        cells = [f"{run.hello.name} {run.hello.version}".strip(), run.hello.language, asked, run.counts[Verdict.PASS]]
        shown = [*cells, *(count or "·" for count in failing), f"{passed}/{len(own)}" if own else "·"]
        lines.append(f"| {' | '.join(escape_markup(str(cell)) for cell in shown)} |")
    return lines


def put(page: str, name: str, lines: Iterable[str]) -> str:
    """Return a page with these lines between the marks of a name."""
    before, mark, rest = page.partition(f"<!-- {name} -->\n")
    _, end, behind = rest.partition(f"<!-- end of {name} -->")
    return "".join([before, mark, *(f"{line}\n" for line in lines), end, behind])


if __name__ == "__main__":
    suite = load_suite()
    for file, text in figures(suite, list(matrix(read_list(HERE / "adapters.yaml"), suite))).items():
        file.write_text(text, "utf-8")
    subprocess.run([sys.executable, HERE.parent / "components" / "component_table.py"], check=True)
