"""Which cases run which functions of the reference, so that other cases need not be run when one function changes.

The reference keeps no results from one case to the next, so the answer to a case that does not run a function is
independent of that function.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
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
    """The cases that run each function with some choices, and the seconds that each case took while it was watched."""

    calls: dict[Function, set[str]]
    seconds: dict[str, float]


def watched(choices: Mapping[str, str], cases: Sequence[Case]) -> Watched:
    """Find out which cases run which functions of the reference with some choices, and how long each case takes.

    Each case is run in its own session, so that a model that several cases use is loaded for each. Functions that run
    when the reference is created count as run by every case.
    """
    with _calls_noted() as begun:
        adapter = mutated("errors", ast.parse(source("errors")), choices)
    found = Watched({each: {case.id for case in cases} for each in _functions_of(begun)}, {})
    for case in cases:
        before = process_time()
        with _calls_noted() as ran:
            run(InProcessSession(adapter), [case])
        found.seconds[case.id] = process_time() - before
        for each in _functions_of(ran):
            found.calls.setdefault(each, set()).add(case.id)
    return found


def function_around(module: str, first: int, last: int) -> Function | None:
    """Return the innermost function whose body contains two lines of a module, counted from 1.

    Return None if no function contains them, so that they run when the module is imported.
    """
    around = [
        first_line(node)
        for node in ast.walk(ast.parse(source(module)))
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= first and last <= (node.end_lineno or 0)
    ]
    return (module, max(around)) if around else None


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, including decorators, which is also that of its code object."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(node.lineno, *(each.lineno for each in decorators)) if decorators else node.lineno


def _functions_of(ran: Iterable[CodeType]) -> Iterator[Function]:
    for code in ran:
        if module := _module_of(code.co_filename):
            yield module, code.co_firstlineno


@cache
def _module_of(file: str) -> str:
    """Return the name of a module in the reference; empty if the file is not in it."""
    return module_of(Path(file)) if REFERENCE in Path(file).parents else ""


@contextmanager
def _calls_noted() -> Iterator[set[CodeType]]:
    """Yield a set to which every function that runs in the block is added."""
    ran: set[CodeType] = set()
    sys.setprofile(lambda frame, event, _: ran.add(frame.f_code) if event == "call" else None)
    try:
        yield ran
    finally:
        sys.setprofile(None)
