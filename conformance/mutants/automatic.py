"""Mutants that nobody thought of: every small change of the reference that a tool makes, judged by the fixtures alone.

The changes are those of Cosmic Ray's operators. Its own way, a file changed on the disk and a process started for each,
takes hours; here they are made and judged in memory. A change is killed as soon as any case fails, under one of four
sets of choices in which every option is taken once. What survives has to be in ``survivors/automatic.yaml`` with the
reason, and nothing else may be there.

    python conformance/mutants/automatic.py [MODULE ...]
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import count, takewhile
from multiprocessing import get_context
from pathlib import Path

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tokspec.base.errors import DataError
from tokspec.quality.mutants import Mutant
from tokspec.quality.mutated import source
from tokspec.quality.power import judged
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification
from tokspec.suite.strict_yaml import read_yaml

HERE = Path(__file__).parent
REFERENCE = HERE.parent.parent / "reference" / "tokref"

#: Modules that no rule is about: the one that says how a message is worded.
UNJUDGED = {"errors"}

#: What a case may take; on the reference the slowest takes a tenth of a second.
SECONDS = 3.0

#: What a process may take, in bytes.
MOST_MEMORY = 2 * 1024**3

#: Operators that change a type or an identity, not a rule: what they make crashes at once, or is the same in CPython.
NOISE = re.compile(
    r"ReplaceBinaryOperator_\w+_(Mod|Pow|RShift|LShift|BitOr|BitAnd|BitXor)$"
    r"|ReplaceComparisonOperator_(?!Is_IsNot|IsNot_Is$)\w*?_(Is|IsNot)$|ReplaceComparisonOperator_(Is|IsNot)_(?!Is)"
    r"|ReplaceUnaryOperator_\w+_Invert$|RemoveDecorator$|VariableReplacer$|VariableInserter$"
)

Change = tuple[str, str, str]
"""A module, its lines as they were, and as they are; without those that stay."""


def changes(module: str) -> list[tuple[Change, str]]:
    """Return every change of a module once, with its whole source; what only an annotation shows is none."""
    text = source(module)
    seen = {shape(text)}
    found = []
    for name in operator_names():
        if NOISE.search(name):
            continue
        for mutated in occurrences(text, name):
            try:
                new = shape(mutated)
            except SyntaxError:
                continue
            if new not in seen and not orders_names(mutated):
                seen.add(new)
                found.append(((module, *difference(text, mutated)), mutated))
    return found


def occurrences(text: str, operator: str) -> Iterator[str]:
    """Apply an operator in each place, one after the other."""
    made = (mutate_code(text, get_operator(operator)(), place) for place in count())
    return takewhile(lambda mutated: mutated is not None, made)


def shape(text: str) -> str:
    """Write what is a rule of a source: not its annotations, which are never looked at, and not what decorates.

    Decorators of the reference keep results and freeze values; without them it answers the same.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name, nothing in (("annotation", None), ("returns", None), ("decorator_list", [])):
            if hasattr(node, name):
                setattr(node, name, nothing)
    return ast.dump(tree)


def orders_names(text: str) -> bool:
    """Say whether a name of an option or of a form is compared by order, an error that nobody makes in good faith."""
    return any(
        isinstance(operation, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare)
        for operation, compared in zip(node.ops, node.comparators, strict=True)
        if isinstance(compared, ast.Constant) and isinstance(compared.value, str)
    )


def difference(old: str, new: str) -> tuple[str, str]:
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm=""))[2:]
    return tuple("\n".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")  # type: ignore[return-value]


def option_sets() -> list[dict[str, str]]:
    """Return as many sets of choices as the choice of most options has, so that every option is in one.

    Every other choice of two options changes half as often, so that those of neighbours meet in every combination.
    """
    choices = {name: list(choice.options) for name, choice in load_specification().choices.items()}
    del choices["offset_unit"]
    most = max(map(len, choices.values()))
    turns = {name: 1 + (len(options) == 2 and index % 2) for index, (name, options) in enumerate(choices.items())}
    return [
        {name: options[number // turns[name] % len(options)] for name, options in choices.items()}
        for number in range(most)
    ]


WORK: dict[str, list[Case]] = {}


def bounded() -> None:
    """Let a change that fills the memory crash, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def survives(change: tuple[Change, str]) -> Change | None:
    """Judge a change; cases that killed another are asked first."""
    (module, old, new), text = change
    if not WORK:
        WORK["cases"] = list(load_suite().cases.values())
    cases = WORK["cases"]
    for choices in option_sets():
        mutant = Mutant(f"{old} -> {new}", "", "", module, source(module), text, choices=choices)
        try:
            kills = judged(mutant, cases, seconds=SECONDS).kills
        except DataError:  # it cannot even be imported, or a name is not bound any more
            return None
        if kills:
            case = next(case for case in cases if case.id == kills[0].case)
            cases.remove(case)
            cases.insert(0, case)
            return None
    return change[0]


def explained() -> Mapping[Change, str]:
    """Read why changes may survive."""
    groups = read_yaml(HERE / "survivors" / "automatic.yaml").value
    return {(row["in"], row["old"], row["new"]): group["why"] for group in groups for row in group["changes"]}


def main() -> int:
    """Print the survivors that nobody has explained, as they are found, and the explanations that nothing needs."""
    there = {file.stem for file in REFERENCE.glob("[a-z]*.py")} - UNJUDGED
    modules = sys.argv[1:] or sorted(there)
    if strange := {*modules} - there:
        print(f"{', '.join(sorted(strange))}: no such module; give some of {', '.join(sorted(there))}", file=sys.stderr)
        return 2
    known = {change: why for change, why in explained().items() if change[0] in modules}
    left: set[Change] = set()
    with get_context("spawn").Pool(initializer=bounded) as pool:
        made = [change for found in pool.imap_unordered(changes, modules) for change in found]
        for change in filter(None, pool.imap_unordered(survives, made, chunksize=4)):
            left.add(change)
            if change not in known:
                tell("SURVIVES", change)
    for change in sorted(known.keys() - left):
        tell("KILLED, AND YET EXPLAINED", change)
    killed, known_left = len(made) - len(left), len(left & known.keys())
    print(f"{len(made)} changes: {killed} killed, {len(left)} survive, {known_left} of them explained")
    return 0 if left == known.keys() else 1


def tell(what: str, change: Change) -> None:
    module, old, new = change
    print(f"{what} {module}\n  - {old}\n  + {new}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
