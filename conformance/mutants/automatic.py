"""Mutants that nobody thought of: every small change of the reference that a tool makes, judged by the fixtures alone.

The changes are those of Cosmic Ray's operators. Its own way, a file changed on the disk and a process started for each,
takes hours; here they are made and judged in memory, by the cases that run the changed function. A change is killed as
soon as any of them fails, under one of four sets of choices in which every option is taken once. What survives has to
be in ``survivors/automatic.yaml`` with the reason, and nothing else may be there.

    python conformance/mutants/automatic.py [MODULE ...]
"""

from __future__ import annotations

import ast
import gc
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import count, pairwise, takewhile, zip_longest
from multiprocessing import get_context
from pathlib import Path

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tokspec.base.errors import DataError
from tokspec.quality.definitions import (
    Edit,
    apply,
    edit_between,
    find_definition,
    parse_statements,
    same,
    tree_of,
)
from tokspec.quality.mutants import Mutant
from tokspec.quality.mutated import REFERENCE, module_of, source
from tokspec.quality.power import judged
from tokspec.quality.watched import Watched, first_line, function_around, watched
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification
from tokspec.suite.strict_yaml import read_yaml

HERE = Path(__file__).parent

#: Modules that no rule is about: how a message is worded, and what is refused because it asks for much.
UNJUDGED = {"errors", "reading.ceilings"}

#: What a case may take, in seconds of the processor: this much, and this many times what it took while it was watched,
#: which is several times what it takes otherwise.
SECONDS = 1.0
TIMES = 2

#: What a process may take, in bytes.
MOST_MEMORY = 2 * 1024**3

#: Operators that change a type or an identity, not a rule: what they make crashes at once, or is the same in CPython.
NOISE = re.compile(
    r"ReplaceBinaryOperator_\w+_(Mod|Pow|RShift|LShift|BitOr|BitAnd|BitXor)$"
    r"|ReplaceComparisonOperator_(?!Is_IsNot|IsNot_Is$)\w*?_(Is|IsNot)$|ReplaceComparisonOperator_(Is|IsNot)_(?!Is)"
    r"|ReplaceUnaryOperator_\w+_Invert$|RemoveDecorator$|VariableReplacer$|VariableInserter$"
)

Change = tuple[str, str, str]
"""A module, and the shapes of the statement that changes: before and after."""


@dataclass(frozen=True)
class Made:
    """A change, how a definition of the reference becomes it, and the first line that differs, counted from 1."""

    change: Change
    edit: Edit
    line: int


def changes(module: str) -> list[Made]:
    """Return every change of a module once; a change that only an annotation shows does not count."""
    found = []
    for before, part in parts(source(module)):
        (was,) = parse_statements(part)
        seen = {shape(was)}
        for name in operator_names():
            for other in () if NOISE.search(name) else occurrences(part, name):
                try:
                    (becomes,) = parse_statements(other)
                except SyntaxError:
                    continue
                new = shape(becomes)
                if new not in seen and not orders_names(becomes):
                    seen.add(new)
                    line = before.count("\n") + first_difference(part, other)
                    found.append(Made((module, shape(was), new), edit_between(module, was, becomes), line))
    return found


def parts(text: str) -> Iterator[tuple[str, str]]:
    """Cut a source before each of its statements: what comes before, and the statement.

    Cosmic Ray parses a text for each change of it, so that short ones are much the faster.
    """
    lines = text.splitlines(keepends=True)
    starts = [first_line(node) - 1 for node in ast.parse(text).body]
    for begin, end in pairwise([*starts, len(lines)]):
        yield "".join(lines[:begin]), "".join(lines[begin:end])


def occurrences(text: str, operator: str) -> Iterator[str]:
    """Apply an operator in each place, one after the other."""
    made = (mutate_code(text, get_operator(operator)(), place) for place in count())
    return takewhile(lambda mutated: mutated is not None, made)


def shape(statement: ast.stmt) -> str:
    """Write what is a rule of a statement: not its annotations, which are never looked at, and not what decorates.

    Decorators of the reference keep results and freeze values; without them it answers the same. Nor is it a rule
    whether an argument has to be named.
    """
    tree = deepcopy(statement)
    for node in ast.walk(tree):
        for name, nothing in (("annotation", None), ("returns", None), ("decorator_list", [])):
            if hasattr(node, name):
                setattr(node, name, nothing)
        if isinstance(node, ast.arguments):
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults += [default for default in node.kw_defaults if default]
            node.posonlyargs = node.kwonlyargs = node.kw_defaults = []
    return ast.dump(tree)


def orders_names(statement: ast.stmt) -> bool:
    """Say whether a name of an option or of a form is compared by order, an error that nobody makes in good faith."""
    return any(
        isinstance(operation, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        for node in ast.walk(statement)
        if isinstance(node, ast.Compare)
        for operation, compared in zip(node.ops, node.comparators, strict=True)
        if isinstance(compared, ast.Constant) and isinstance(compared.value, str)
    )


def first_difference(old: str, new: str) -> int:
    """Return the first line, counted from 1, in which two texts differ."""
    pairs = zip_longest(old.split("\n"), new.split("\n"))
    return next(line for line, (was, is_now) in enumerate(pairs, 1) if was != is_now)


def option_sets() -> list[dict[str, str]]:
    """Return as many sets of choices as the choice of most options has, so that every option is in one.

    A choice of two options changes in one of three ways, which take turns, so that any three choices in a row meet in
    every combination of two: bpe_merge_order and bpe_pairs, say, between which is another.
    """
    choices = {name: list(choice.options) for name, choice in load_specification().choices.items()}
    del choices["offset_unit"]
    most = max(map(len, choices.values()))
    ways: list[Callable[[int], int]] = [
        lambda number: number,
        lambda number: number // 2,
        lambda number: number ^ number // 2,
    ]
    return [
        {
            name: options[(ways[index % 3](number) if len(options) == 2 else number) % len(options)]
            for index, (name, options) in enumerate(choices.items())
        }
        for number in range(most)
    ]


CASES: list[Case] = []
RUNS: list[Watched] = []


def watch(choices: Mapping[str, str]) -> Watched:
    """Find out what each case runs under some choices."""
    return watched(choices, list(load_suite().cases.values()))


def begin(found: Sequence[Watched]) -> None:
    """Make a process ready, and let a change that fills the memory crash, where the system can."""
    CASES[:], RUNS[:] = load_suite().cases.values(), found
    gc.freeze()  # else each full collection goes through all of this, in the time of some case
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def killer(made: Made) -> tuple[Made, str]:
    """Return what kills a change, judged by the cases that run it; an empty text if it survives.

    Cases that killed another are asked first.
    """
    edit = made.edit
    place = function_around(made.change[0], made.line, made.line)
    for choices, seen in zip(option_sets(), RUNS, strict=True):
        cases = [case for case in CASES if place is None or case.id in seen.calls.get(place, ())]
        mutant = Mutant("automatic", "", "", edit.definition, edit.old, edit.new, edit.nth, choices=choices)

        def limit(case: Case, seen: Watched = seen) -> float:
            return SECONDS + TIMES * seen.seconds[case.id]

        try:
            kills = judged(mutant, cases, seconds=limit).kills if cases else ()
        except DataError as error:  # it cannot even be imported, or a name is not bound any more
            return made, str(error)
        if kills:
            case = next(case for case in cases if case.id == kills[0].case)
            CASES.remove(case)
            CASES.insert(0, case)
            return made, f"{kills[0].verdict} of {case.id}"
    return made, ""


def explained() -> dict[Change, Edit]:
    """Read the changes that may survive."""
    groups = read_yaml(HERE / "survivors" / "automatic.yaml").value
    edits = [Edit(row["in"], row["old"], row["new"], row.get("nth", 0)) for group in groups for row in group["changes"]]
    return {change_by(edit): edit for edit in edits}


def change_by(edit: Edit) -> Change:
    """Return the change that an edit makes.

    Raises:
        DataError: it does not fit the reference.
    """
    module = find_definition(edit.definition).module
    before = tree_of(module)
    after, _, _ = apply(before, edit)
    ((was, becomes),) = [pair for pair in zip(before.body, after.body, strict=True) if not same(*pair)]
    return module, shape(was), shape(becomes)


def main() -> int:
    """Print the survivors that nobody has explained, as they are found, and the explanations that nothing needs."""
    everything = {module_of(file) for file in REFERENCE.rglob("[a-z]*.py")}
    if gone := UNJUDGED - everything:
        print(f"UNJUDGED names {', '.join(sorted(gone))}, and the reference has no such module", file=sys.stderr)
        return 2
    there = everything - UNJUDGED
    modules = sys.argv[1:] or sorted(there)
    if strange := {*modules} - there:
        print(f"{', '.join(sorted(strange))}: no such module; give some of {', '.join(sorted(there))}", file=sys.stderr)
        return 2
    known = {change: edit for change, edit in explained().items() if change[0] in modules}
    by: dict[Change, str] = {}
    with get_context("spawn").Pool() as pool:
        seen = pool.map(watch, option_sets(), chunksize=1)
    with get_context("spawn").Pool(initializer=begin, initargs=(seen,)) as pool:
        made = [change for found in pool.imap_unordered(changes, modules) for change in found]
        for each, killed_by in pool.imap_unordered(killer, made, chunksize=4):
            by[each.change] = killed_by
            if not killed_by and each.change not in known:
                show("SURVIVES", each.edit)
            if len(by) % 100 == 0:
                print(f"{len(by)} of {len(made)} changes judged", file=sys.stderr, flush=True)
    left = {change for change, killed_by in by.items() if not killed_by}
    for change in known.keys() - left:
        show(f"KILLED BY {by.get(change, 'nothing, for it is not made')}, AND YET EXPLAINED:", known[change])
    killed, known_left = len(made) - len(left), len(left & known.keys())
    print(f"{len(made)} changes: {killed} killed, {len(left)} survive, {known_left} of them explained")
    return 0 if left == known.keys() else 1


def show(what: str, edit: Edit) -> None:
    """Print a change as a row of ``survivors/automatic.yaml``."""
    nth = f", nth: {edit.nth}" if edit.nth else ""
    row = f"{{in: {edit.definition}, old: {json.dumps(edit.old)}, new: {json.dumps(edit.new)}{nth}}}"
    print(f"{what}\n    - {row}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
