"""How a figure that a document prints relates to the right value, and what a case's own arithmetic gives.

Tests recompute both for every case, so that no misprint is taken for truth and no truth for a misprint.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

__all__ = ["arithmetic", "at", "relation"]


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


_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def arithmetic(expression: str) -> float:
    """Compute sums, differences, products, quotients and natural logarithms of numbers.

    Raises:
        ValueError: for anything else.

    >>> arithmetic("3 * (1 - log(1)) / 4")
    0.75
    """
    value: float = _value(ast.parse(expression, mode="eval").body, expression)
    return value


def _value(node: ast.expr, expression: str) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, expression), _value(node.right, expression))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, expression)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "log" and len(node.args) == 1 and not node.keywords:
        return math.log(_value(node.args[0], expression))
    raise ValueError(f"{expression!r} is more than arithmetic")
