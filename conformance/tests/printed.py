"""How a figure that a document prints relates to the right value, and what a case's own arithmetic gives.

Tests recompute both for every case, so that no misprint is taken for truth and no truth for a misprint.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from tokspec.suite.arithmetic import arithmetic

__all__ = ["at", "relation"]


def relation(printed: Any, right: Any) -> str:
    """Tell how what is printed relates to the right value: ``equal``, ``rounded``, ``truncated`` or ``erratum``.

    A number is printed as a string, so that its digits count.

    >>> right = 15 * 20 / 210**2
    >>> relation("0.006803", right), relation("0.006802", right), relation("0.006801", right)
    ('rounded', 'truncated', 'erratum')
    >>> relation(["c", "ou"], ["c", "ou"]), relation("15/210", 15 / 210), relation("5/210", 17 / 210)
    ('equal', 'equal', 'erratum')
    """
    is_number = isinstance(right, (int, float)) and not isinstance(right, bool)
    if is_number and isinstance(printed, str) and "/" in printed:
        return "equal" if arithmetic(printed) == right else "erratum"
    number = _decimal(printed) if is_number else None
    if number is None:
        return "equal" if printed == right else "erratum"
    exact = Decimal(repr(right))
    if number == exact:
        return "equal"
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    if number == exact.quantize(unit, ROUND_HALF_UP):
        return "rounded"
    return "truncated" if number == exact.quantize(unit, ROUND_DOWN) else "erratum"


def _decimal(printed: Any) -> Decimal | None:
    try:
        return Decimal(printed) if isinstance(printed, str) else None
    except InvalidOperation:
        return None


def at(value: Any, pointer: str) -> Any:
    """Return the part of a value that a JSON pointer names.

    Raises:
        LookupError: if there is no such part.

    >>> at({"table": [None, [["un"], 0.5]]}, "/table/1/1")
    0.5
    """
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        value = value[int(part)] if isinstance(value, (list, tuple)) else value[part]
    return value
