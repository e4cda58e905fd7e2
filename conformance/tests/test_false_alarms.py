"""No case blames an implementation for a choice: whatever options are taken together, the reference and tokfast pass.

There are 32,614,907,904 combinations of options, and a case depends on few of them. Which ones is watched: an option that neither
the reference nor the expected outcome looks at changes nothing, so that one run stands for all combinations that differ
in such options alone. What is looked at is tried with every option, and the combinations that the runs stand for are
counted: they have to be all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest

from tokref import Choices
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.adapters.tokfast import TokfastAdapter
from tokspec.judge.runner import Run, run
from tokspec.judge.verdicts import Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

pytestmark = pytest.mark.slow

CASES = list(load_suite().cases.values())
OPTIONS = {name: tuple(choice.options) for name, choice in load_specification().choices.items()}
DEFAULTS = load_specification().defaults()
NAMES = {field.name for field in fields(Choices)}


#: How many units of each kind a text has.
UNITS = {
    "code_point": len,
    "byte": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
}


class Watched(Choices):
    """Choices that remember which of them were looked at."""

    seen: set[str]

    # The cache of compiled patterns hashes choices and compares them. By value, that would look at every option.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __getattribute__(self, name: str) -> Any:
        if name in NAMES:
            object.__getattribute__(self, "seen").add(name)
        return super().__getattribute__(name)


def watched(options: Mapping[str, Any], seen: set[str]) -> Watched:
    """Return choices that add to ``seen`` what is looked at."""
    choices = Watched(**{name: option for name, option in options.items() if name in NAMES})
    object.__setattr__(choices, "seen", seen)
    return choices


@pytest.fixture(autouse=True)
def _replace_looks_at_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let choices be copied with another option without looking at all of them."""

    def replaced(whole: Any, **changes: Any) -> Any:
        if isinstance(whole, Watched):
            return watched({**vars(whole), **changes}, whole.seen)
        return replace(whole, **changes)

    for module in ("tokref.pipeline", "tokfast.decoding"):
        monkeypatch.setattr(f"{module}.replace", replaced)


def in_unit(result: Mapping[str, Any], input: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """Return a result with all places in a unit, by counting what stands before each; not by the harness's own code."""
    texts = input.get("text", ""), input.get("pair", "")
    converted = dict(result)

    def places(row: list[int], text: str) -> list[int]:
        return [UNITS[unit](text[:place]) for place in row]

    if "pieces" in result:
        converted["pieces"] = [[piece, *places(row, texts[0])] for piece, *row in result["pieces"]]
    if "spans" in result:
        of = [sequence or 0 for sequence in result.get("sequence_ids", [0] * len(result["spans"]))]
        converted["spans"] = [places(row, texts[which]) for row, which in zip(result["spans"], of, strict=True)]
    if "overflowing" in result:
        converted["overflowing"] = [in_unit(part, input, unit) for part in result["overflowing"]]
    if "encodings" in result:
        rows = zip(result["encodings"], input["inputs"], strict=True)
        converted["encodings"] = [in_unit(encoding, row, unit) for encoding, row in rows]
    return converted


class Chooser(ReferenceAdapter):
    """The reference with options that can be exchanged, in any unit of offsets."""

    def __init__(self, options: Mapping[str, str] = DEFAULTS) -> None:
        super().__init__()
        self.take(options)

    def take(self, options: Mapping[str, str]) -> None:
        self.unit, self.seen = options["offset_unit"], set[str]()
        self._choices = watched(options, self.seen)

    def load(self, format: str, content: Any) -> Any:
        """Keep the model: what is read of it depends on the options too."""
        return content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, super().load("tokspec", model), input)
        in_units = {unit: in_unit(result, input, unit) for unit in UNITS}
        if any(other != result for other in in_units.values()):
            self.seen.add("offset_unit")
        return in_units[self.unit]


class FastChooser(Chooser, TokfastAdapter):
    """tokfast in the same way."""


def looked_at(outcome: Mapping[str, Any], options: Mapping[str, str]) -> Iterator[str]:
    """Name the choices that lead to an outcome."""
    while "by_choice" in outcome:
        ((name, outcomes),) = outcome["by_choice"].items()
        yield name
        outcome = outcomes[options[name]]


def combinations(case: Case, adapter: Chooser, session: InProcessSession) -> Iterator[tuple[dict[str, str], Run]]:
    """Return runs that stand for all combinations: the options that each depends on, and what it came to."""
    waiting: list[dict[str, str]] = [{}]
    while waiting:
        taken = waiting.pop()
        options = {**DEFAULTS, **taken}
        adapter.take(options)
        finished = run(session, [case], choices=options)
        looked = {name for question in case.questions for name in looked_at(question.outcome, options)}
        open_ = sorted((looked | adapter.seen) - taken.keys())
        if open_:
            waiting += [{**taken, open_[0]: option} for option in OPTIONS[open_[0]]]
        else:
            yield taken, finished


@pytest.mark.long
@pytest.mark.parametrize("kind", [Chooser, FastChooser])
def test_every_case_passes_with_all_combinations_of_options(kind: type[Chooser]) -> None:
    adapter = kind()
    cases = [case for case in CASES if case.operation in adapter.operations]
    failing, whole = [], math.prod(map(len, OPTIONS.values()))
    with InProcessSession(adapter) as session:
        for case in cases:
            covered = 0
            for taken, finished in combinations(case, adapter, session):
                covered += math.prod(len(options) for name, options in OPTIONS.items() if name not in taken)
                if finished.results[0].verdict is not Verdict.PASS:
                    failing.append((case.id, taken, finished.results[0].detail))
            assert covered == whole, case.id
    assert failing == []
    assert whole == 32_614_907_904


def in_pairs() -> list[dict[str, str]]:
    """Choose combinations in which every two options of different choices are together once."""
    wanted = {
        frozenset([(one, a), (other, b)])
        for one, other in product(OPTIONS, OPTIONS)
        if one < other
        for a, b in product(OPTIONS[one], OPTIONS[other])
    }
    rows: list[dict[str, str]] = []
    while wanted:
        row = dict(sorted(min(wanted, key=sorted)))
        for name in OPTIONS:
            if name not in row:
                row[name] = max(
                    OPTIONS[name],
                    key=lambda option: sum(frozenset([(name, option), it]) in wanted for it in row.items()),
                )
        rows.append(row)
        wanted -= {frozenset(pair) for pair in product(row.items(), row.items())}
    return rows


@pytest.mark.power
@pytest.mark.parametrize("options", in_pairs(), ids=lambda options: "-".join(options.values()))
def test_the_whole_suite_passes_with_options_in_pairs(options: dict[str, str]) -> None:
    """The same without anything that is watched: whole runs, in sessions of their own."""
    with InProcessSession(Chooser(options)) as session:
        finished = run(session, CASES, choices=options)
    assert [(result.case.id, result.detail) for result in finished.results if result.verdict is not Verdict.PASS] == []
