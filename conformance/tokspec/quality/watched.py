"""Which cases run which functions of the reference: other cases need not be asked when one function changes.

Nothing in the reference keeps results from one case to the next, so a case that does not run a function is answered the
same whatever the function does.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from types import CodeType
from typing import NamedTuple

from tokspec.judge.runner import run
from tokspec.quality.mutated import REFERENCE, module_of, mutated, source
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.cases import Case

Function = tuple[str, int]
"""A module of the reference, and the line in which a function of it begins."""


class Watched(NamedTuple):
    """The cases that run each function under some choices, and the seconds that each took while it was watched."""

    calls: dict[Function, set[str]]
    seconds: dict[str, float]


def watched(choices: Mapping[str, str], cases: Sequence[Case]) -> Watched:
    """Find out which cases run which functions of the reference under some choices, and how long each takes.

    Each case is asked in its own session, so that a model which several use is loaded for each. What runs when the
    reference is made counts as run by every case.
    """
    with _calls_noted() as begun:
        adapter = mutated("errors", ast.parse(source("errors")), choices)
    found = Watched({_function_of(code): {case.id for case in cases} for code in begun if _is_of_reference(code)}, {})
    for case in cases:
        before = process_time()
        with _calls_noted() as ran:
            run(InProcessSession(adapter), [case])
        found.seconds[case.id] = process_time() - before
        for code in ran:
            if _is_of_reference(code):
                found.calls.setdefault(_function_of(code), set()).add(case.id)
    return found


def function_around(module: str, first: int, last: int) -> Function | None:
    """Return the innermost function in whose body two lines of a module are, counted from 1.

    None if no function is there: those lines run when the module is imported.
    """
    around = [
        first_line(node)
        for node in ast.walk(ast.parse(source(module)))
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= first and last <= (node.end_lineno or 0)
    ]
    return (module, max(around)) if around else None


def first_line(node: ast.stmt) -> int:
    """Return where a statement begins, with what decorates it; so does its code object."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(node.lineno, *(each.lineno for each in decorators)) if decorators else node.lineno


def _is_of_reference(code: CodeType) -> bool:
    return REFERENCE in Path(code.co_filename).parents


def _function_of(code: CodeType) -> Function:
    return module_of(Path(code.co_filename)), code.co_firstlineno


@contextmanager
def _calls_noted() -> Iterator[set[CodeType]]:
    """Give a set into which every function is put that runs inside."""
    ran: set[CodeType] = set()
    sys.setprofile(lambda frame, event, _: ran.add(frame.f_code) if event == "call" else None)
    try:
        yield ran
    finally:
        sys.setprofile(None)
