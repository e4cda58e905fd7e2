"""The arithmetic of ``worked``: how a number that a document prints is computed."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def arithmetic(expression: str) -> float:
    """Compute sums, differences, products, quotients and natural logarithms of numbers.

    Raises:
        ValueError: for anything else, and if there is no finite value.

    >>> arithmetic("3 * (1 - log(1)) / 4")
    0.75
    """
    try:
        value = float(_value(ast.parse(expression, mode="eval").body))
    except (ArithmeticError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot be computed: {error}") from None
    if not math.isfinite(value):
        raise ValueError("has no finite value")
    return value


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "log" and len(node.args) == 1 and not node.keywords:
        return math.log(_value(node.args[0]))
    raise ValueError("is more than sums, products, quotients and log of numbers")
