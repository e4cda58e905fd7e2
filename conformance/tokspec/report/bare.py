"""A case that no fixture holds: what is judged beside the fixtures, or read from a report, shown as a case is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.suite.cases import Case, Model

__all__ = ["bare_case"]


def bare_case(
    id: str,
    operation: str,
    input: Mapping[str, Any],
    *,
    clauses: tuple[str, ...] = (),
    why: str = "",
    model: str = "",
    file: str = "",
    line: int = 0,
) -> Case:
    """Make a case of what there is to show; it has no outcome and nothing that leads to one.

    >>> bare_case("a", "encode", {"text": "bug"}).outcome
    {}
    """
    return Case(
        id=id,
        clauses=clauses,
        why=why,
        source=(),
        model=Model(model, {}),
        operation=operation,
        input=input,
        outcome={},
        stated=(),
        worked=(),
        tolerance={},
        tags=(),
        verified_by=(),
        file=file,
        line=line,
    )
