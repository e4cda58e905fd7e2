"""One failing case, shown so that its cause is visible: clause, input, expected and actual side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokspec.base.display import compact, shorten, visible
from tokspec.judge.causes import CHOICE
from tokspec.judge.compare import ABSENT, Difference
from tokspec.judge.truncate import Extract
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Answer
from tokspec.suite.specification import load_specification

#: How many items of a long list are shown before and after the first difference.
AROUND = 5

#: How many rows of a table are shown in addition to the worst.
ROWS = 5

#: How many cases with a cause are named.
IDS = 4

#: Where the second column begins.
_MARGIN = 12


def describe(
    result: Result, reproduce: str, stage: str = "", width: int = 0, alike: Sequence[Result] = ()
) -> list[str]:
    """Return the lines that show a failing case.

    ``reproduce`` is the command that runs this case alone; ``stage`` names the first stage that diverges, if known;
    ``width`` is the terminal's width, if it is shown on one; ``alike`` are other failing cases with the same cause.
    """
    case = result.case
    lines = [f"{result.verdict.value.upper()} {case.id}  ({case.file}:{case.line})"]
    clauses = load_specification().clauses
    lines += [f"  {clause} ({clauses[clause].level}) {clauses[clause].text}" for clause in case.clauses]
    rows = [("why", case.why)]
    if result.rows and result.difference is not None:
        rows.append(("rows", shorten(visible(result.detail), 600)))
    asked = result.question
    many = f"in {len(case.rows)} rows" if case.rows and not asked.row else shorten(compact(_input(asked.input)))
    rows.append(("input", f"{case.operation} {many}"))
    others = [row for row in result.telling[1:] if not row.verdict.conforms][:ROWS]
    if result.difference is None:
        rows += [("expected", shorten(compact(_plain(result.expected))))] if result.expected else []
        rows.append(("problem", brief(result)))
        if result.verdict is Verdict.FAIL and (actual := _answer(result)) is not None:
            rows.append(("actual", shorten(compact(actual))))
    else:
        rows += list(_side_by_side(result, result.difference, width))
    rows += [("stage", stage)] if stage else []
    rows += [("listed", result.listed)] if result.listed else []
    rows += [(f"row {row.case.row}", f"{shorten(compact(_input(row.case.input)), 40)}: {brief(row)}") for row in others]
    if alike and result.cause:
        rows.append(("cause", f"of {len(alike) + 1} cases: {result.cause}"))
    elif result.cause.startswith(CHOICE):
        rows.append(("cause", result.cause))
    rows += [("alike", listed_ids(alike))] if alike else []
    rows.append(("again", reproduce))
    return [visible(line) for line in (*lines, *(f"  {label:<9} {text}".rstrip() for label, text in rows))]


def listed_ids(results: Sequence[Result]) -> str:
    """List the ids of cases, or the first of many.

    >>> from types import SimpleNamespace
    >>> listed_ids([SimpleNamespace(case=SimpleNamespace(id=letter)) for letter in "abcdef"])
    'a, b, c, d and 2 more'
    """
    more = len(results) - IDS
    shown = results if more <= 1 else results[:IDS]
    return ", ".join(result.case.id for result in shown) + (f" and {more} more" if more > 1 else "")


def brief(result: Result) -> str:
    """Say in one line what is wrong: the first difference, or the detail."""
    if result.difference is None:
        return visible(shorten(result.detail, 600))
    path = [f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in result.difference.path]
    sides = f"expected {_show(result.difference.expected)}, actual {_show(result.difference.actual)}"
    return f"{''.join(path).removeprefix('.')}: {sides}"


def _key(key: str) -> str:
    return shorten(visible(key), 60)


def _input(input: Mapping[str, Any]) -> Any:
    return next(iter(input.values())) if len(input) == 1 else input


def _plain(expected: Mapping[str, Any]) -> Any:
    return {"refused as": expected["error"]} if "error" in expected else next(iter(expected.values()))


def _answer(result: Result) -> Mapping[str, Any] | None:
    """Return the result of the answer, if it was kept whole."""
    reply = result.reply
    return reply.result if isinstance(reply, Answer) and not isinstance(reply, Extract) else None


def _side_by_side(result: Result, difference: Difference, width: int) -> Iterator[tuple[str, str]]:
    """Align the two lists that differ, item by item, with a mark under the first difference."""
    field, inner = str(difference.path[0]), difference.path[1:]
    answer = _answer(result)
    expected = _expected(result).get(field, ABSENT)
    actual = ABSENT if answer is None else answer.get(field, ABSENT)
    if inner and isinstance(expected, list) and isinstance(actual, list):
        yield from _aligned(field, expected, actual, int(inner[0]), width)
    else:
        yield "expected", f"{field}: {_show(expected)}"
        yield "actual", shorten(result.detail, 600) if answer is None else f"{field}: {_show(actual)}"
    yield "first", brief(result)
    others = len(result.expected.get("one_of", ())) - 1
    if others > 0:
        yield "", f"(shown against the first of {others + 1} right answers; none of them is given)"


def _expected(result: Result) -> Mapping[str, Any]:
    expected = result.expected
    first: Mapping[str, Any] = expected["expect"] if "expect" in expected else expected["one_of"][0]
    return first


def _aligned(
    field: str, expected: Sequence[Any], actual: Sequence[Any], at: int, width: int
) -> Iterator[tuple[str, str]]:
    """Show as many items around the first difference as fit the width."""
    for around in range(AROUND, -1, -1):
        rows = _rows(field, expected, actual, at, around)
        if not width or _MARGIN + max(_width(text) for _, text in rows) <= width:
            break
    yield from rows


def _rows(field: str, expected: Sequence[Any], actual: Sequence[Any], at: int, around: int) -> list[tuple[str, str]]:
    start, end = max(0, at - around), at + around + 1
    left = [_show(item) for item in expected[start:end]]
    right = [_show(item) for item in actual[start:end]]
    columns = max(len(left), len(right))
    left += [""] * (columns - len(left))
    right += [""] * (columns - len(right))
    widths = [max(_width(a), _width(b)) for a, b in zip(left, right, strict=True)]
    before = f"{field}: " + ("… " if start else "")
    marks = ["^" * max(width, 1) if start + index == at else " " * width for index, width in enumerate(widths)]
    return [
        ("expected", before + _row(left, widths) + (" …" if len(expected) > end else "")),
        ("actual", before + _row(right, widths) + (" …" if len(actual) > end else "")),
        ("", " " * _width(before) + " ".join(marks).rstrip()),
    ]


def _width(text: str) -> int:
    """Return the width of a text in terminal columns."""
    from rich.cells import cell_len  # here, because a run without failures doesn't need it

    return cell_len(text)


def _row(items: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(item + " " * (width - _width(item)) for item, width in zip(items, widths, strict=True)).rstrip()


def _show(value: Any) -> str:
    return "nothing" if value is ABSENT else shorten(compact(value), 60)
