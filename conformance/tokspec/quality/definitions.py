"""The definitions of the reference by name, and changes of their syntax trees.

A change names a definition and replaces a fragment of it: an expression, or one or more statements. Nodes of syntax
trees are compared, not text. So a change still applies after an edit of comments, docstrings and layout, and after
moving a definition to another module. The body ``...`` of a compound statement matches any body.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from textwrap import dedent
from typing import Any, NamedTuple

from tokspec.base.errors import DataError
from tokspec.quality.mutated import REFERENCE, module_of, source

#: The module of the reference's adapter, whose definitions are included.
_ADAPTER = "reference"

_Fragment = ast.expr | list[ast.stmt]


class Definition(NamedTuple):
    """A module of the reference, and a function, class, method or name in it: ``find_pair``, ``AlignedText.cut``."""

    module: str
    path: str


@dataclass(frozen=True)
class Edit:
    """The replacement of a fragment of a definition, or of its ``nth`` occurrence if there are several."""

    definition: str
    old: str
    new: str
    nth: int = 0


@dataclass(frozen=True)
class _Place:
    """The place of a node, or of ``count`` statements: a field of another node, and an index if the field is a list."""

    holder: ast.AST
    field: str
    index: int | None
    around: _Place | None = None
    count: int = 1

    @property
    def nodes(self) -> list[Any]:
        found = getattr(self.holder, self.field)
        return [found] if self.index is None else found[self.index : self.index + self.count]

    def replaced(self, new: Sequence[ast.AST]) -> ast.AST:
        """Return the whole tree with other nodes at this place; nodes on the path are copied, all others are shared."""
        holder = copy(self.holder)
        if self.index is None:
            setattr(holder, self.field, new[0])
        else:
            found = getattr(self.holder, self.field)
            setattr(holder, self.field, [*found[: self.index], *new, *found[self.index + self.count :]])
        return self.around.replaced([holder]) if self.around else holder


@cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module of the reference without docstrings; callers must not modify it.

    Raises:
        DataError: there is no such module.
    """
    tree = ast.parse(source(module))
    _remove_docstrings(tree)
    return tree


def find_definition(name: str) -> Definition:
    """Find a definition by its name, preceded by the module's name if two modules define it.

    Raises:
        DataError: no definition has that name, or several have it.

    >>> find_definition("best_pair"), find_definition("normalization.WHITE_SPACE").module
    (Definition(module='bpe', path='best_pair'), 'normalization')
    """
    found = _definitions().get(name, [])
    if not found:
        raise DataError(f"the reference has no definition {name!r}")
    if len(found) > 1:
        names = " or ".join(f"{module}.{path}" for module, path in found)
        raise DataError(f"the reference has {len(found)} definitions {name!r}; write {names}")
    return found[0]


def apply(tree: ast.Module, edit: Edit) -> tuple[ast.Module, int, int]:
    """Change a definition in the tree of its module; return the new tree, and the lines of the old code.

    Raises:
        DataError: the definition or the old code is not there, the code is there more than once, it is not Python, or
            nothing changes.
    """
    old, new = _fragments(edit)
    found = _find(_scope(tree, find_definition(edit.definition).path), old)
    if not found:
        raise DataError(f"{edit.definition} does not have the old code; the reference has changed")
    if edit.nth > len(found):
        raise DataError(f"{edit.definition} has the old code in {len(found)} places; there is no nth: {edit.nth}")
    if len(found) > 1 and not edit.nth:
        message = f"{edit.definition} has the old code in {len(found)} places; give more of it, or say which (nth: 1)"
        raise DataError(message)
    place = found[max(edit.nth, 1) - 1]
    nodes = place.nodes
    if isinstance(old, list) and _is_open(old):
        _fill(new, nodes[0])
    if same(nodes, new):
        raise DataError("changes nothing")
    changed = place.replaced(new)
    assert isinstance(changed, ast.Module)
    return changed, nodes[0].lineno, nodes[-1].end_lineno


def parse_statements(text: str) -> list[ast.stmt]:
    """Parse a fragment as statements, indented or not.

    Raises:
        SyntaxError: it is not Python.
    """
    tree = ast.parse(dedent(text))
    for statement in tree.body:
        _remove_docstrings(statement)
    return tree.body


def same(one: Any, other: Any) -> bool:
    """Return whether two nodes, or lists of nodes, are the same syntax."""
    if isinstance(one, ast.AST):
        fields = one._fields
        return type(one) is type(other) and all(same(getattr(one, each, 0), getattr(other, each, 0)) for each in fields)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def edit_between(module: str, before: ast.stmt, after: ast.stmt) -> Edit:
    """Return the change of a top-level definition as an edit of the innermost statement that differs.

    >>> before = next(each for each in tree_of("wordpiece").body if "_count_tokens" in _names(each))
    >>> after = ast.parse(ast.unparse(before).replace("return counts", "return {}")).body[0]
    >>> edit_between("wordpiece", before, after)
    Edit(definition='_count_tokens', old='return counts', new='return {}', nth=0)
    """
    path, inner = _names(before)[0], _only_difference(before, after)
    if isinstance(before, ast.ClassDef) and inner and isinstance(inner[0], ast.FunctionDef):
        before, after = inner
        path = f"{path}.{inner[0].name}"
    was, becomes = before, after
    while inner := _only_difference(was, becomes):
        was, becomes = inner
    old, new = (_open(was), _open(becomes)) if _differ_before_the_body(was, becomes) else (was, becomes)
    found = [place.nodes[0] for place in _find(_Place(ast.Module([before], []), "body", 0), [old])]
    nth = found.index(was) + 1 if len(found) > 1 else 0
    return Edit(_name(Definition(module, path)), ast.unparse(old), ast.unparse(new), nth)


@cache
def _definitions() -> Mapping[str, list[Definition]]:
    """Return the definitions of each name: alone, and after any part of its module's name."""
    found: dict[str, list[Definition]] = defaultdict(list)
    for module in (*sorted(map(module_of, REFERENCE.rglob("[a-z]*.py"))), _ADAPTER):
        parts = module.split(".")
        for statement in ast.parse(source(module)).body:
            for path in _names(statement):
                for start in range(len(parts) + 1):
                    found[".".join([*parts[start:], path])].append(Definition(module, path))
    return found


def _names(statement: ast.stmt) -> list[str]:
    """Return the names that a top-level statement defines; for a class, those of its methods too."""
    if isinstance(statement, ast.ClassDef):
        methods = [each.name for each in statement.body if isinstance(each, ast.FunctionDef)]
        return [statement.name, *(f"{statement.name}.{method}" for method in methods)]
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [ast.unparse(each) for target in targets for each in getattr(target, "elts", [target])]
    return []


def _name(definition: Definition) -> str:
    """Return the shortest unambiguous name of a definition."""
    parts = definition.module.split(".")
    names = [".".join([*parts[start:], definition.path]) for start in range(len(parts), -1, -1)]
    return next(name for name in names if _definitions()[name] == [definition])


def _scope(tree: ast.Module, path: str) -> _Place:
    """Return the place of a definition in the tree of its module."""
    for index, statement in enumerate(tree.body):
        if path in _names(statement):
            place = _Place(tree, "body", index)
            methods = statement.body if isinstance(statement, ast.ClassDef) and path != statement.name else []
            for number, method in enumerate(methods):
                if isinstance(method, ast.FunctionDef) and path.endswith(f".{method.name}"):
                    return _Place(statement, "body", number, place)
            return place
    raise DataError(f"{path} is not there any more after the change before this one")


def _find(scope: _Place, old: _Fragment) -> list[_Place]:
    """Return the places of a fragment in a definition, in textual order."""
    if isinstance(old, ast.expr):
        return [place for place in _places(scope) if same(place.nodes[0], old)]
    runs = [replace(place, count=len(old)) for place in _places(scope) if place.index is not None]
    return [run for run in runs if _is_run(run.nodes, old) and (run.holder is not scope.holder or run == scope)]


def _places(place: _Place) -> Iterator[_Place]:
    """Return the places of a node and of all nodes in it, in textual order."""
    yield place
    (node,) = place.nodes
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _places(_Place(node, field, None, place))
        elif isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, ast.AST):
                    yield from _places(_Place(node, field, index, place))


def _is_run(nodes: list[ast.AST], old: list[ast.stmt]) -> bool:
    """Return whether nodes match the statements of a fragment; an open fragment ignores the body and the branches."""
    if not _is_open(old):
        return same(nodes, old)
    left_out = {"body", "orelse"} if not getattr(old[0], "orelse", None) else {"body"}
    (node,) = nodes
    fields = set(old[0]._fields) - left_out
    return type(node) is type(old[0]) and all(same(getattr(node, each), getattr(old[0], each)) for each in fields)


def _is_open(old: list[ast.stmt]) -> bool:
    """Return whether a fragment is one statement with the body ``...``."""
    return len(old) == 1 and same(getattr(old[0], "body", None), [_ELLIPSIS])


def _open(statement: ast.stmt) -> Any:
    """Return a compound statement with the body ``...``, and without other branches."""
    opened: Any = copy(statement)
    opened.body = [_ELLIPSIS]
    if hasattr(opened, "orelse"):
        opened.orelse = []
    return opened


def _fill(new: Sequence[ast.AST], was: Any) -> None:
    """Replace ``...`` in a fragment by the body of a statement, with its branches."""
    for node in [inner for each in new for inner in ast.walk(each)]:
        for field, value in ast.iter_fields(node):
            for index, each in enumerate(value if isinstance(value, list) else []):
                if same(each, _ELLIPSIS):
                    value[index : index + 1] = was.body
                    if field == "body" and getattr(node, "orelse", None) == []:
                        node.orelse = getattr(was, "orelse", [])  # type: ignore[attr-defined]
                    return


def _fragments(edit: Edit) -> tuple[_Fragment, list[Any]]:
    """Parse both fragments as expressions, or both as statements."""
    old, new = _parse_expression(edit.old), _parse_expression(edit.new)
    if old and new:
        return old, [new]
    parsed = {}
    for key, text in (("old", edit.old), ("new", edit.new)):
        try:
            parsed[key] = parse_statements(text)
        except SyntaxError as error:
            raise DataError(f"{key} is not valid Python: {error.msg}") from None
    if not parsed["old"]:
        raise DataError("old is empty")
    return parsed["old"], parsed["new"]


def _parse_expression(text: str) -> ast.expr | None:
    """Parse a fragment as an expression; lines after the first may be indented, as in brackets."""
    try:
        found = ast.parse(f"(\n{text}\n)", mode="eval").body
    except SyntaxError:
        return None
    return None if same(found, ast.Tuple([], ast.Load())) and "(" not in text else found


def _only_difference(one: ast.AST, other: ast.AST) -> tuple[ast.stmt, ast.stmt] | None:
    """Return the two statements directly in two nodes that differ, if nothing else does."""
    if type(one) is not type(other):
        return None
    fields = [field for field in one._fields if not same(getattr(one, field, 0), getattr(other, field, 0))]
    if len(fields) != 1:
        return None
    mine, theirs = getattr(one, fields[0]), getattr(other, fields[0])
    if not isinstance(mine, list) or len(mine) != len(theirs):
        return None
    pairs = [pair for pair in zip(mine, theirs, strict=True) if not same(*pair)]
    if len(pairs) != 1:
        return None
    if isinstance(pairs[0][0], ast.stmt):
        return pairs[0]
    return _only_difference(*pairs[0]) if isinstance(pairs[0][0], ast.ExceptHandler | ast.match_case) else None


def _differ_before_the_body(one: ast.stmt, other: ast.stmt) -> bool:
    bodies = getattr(one, "body", None), getattr(other, "body", None)
    branches = getattr(one, "orelse", None), getattr(other, "orelse", None)
    return type(one) is type(other) and isinstance(bodies[0], list) and same(*bodies) and same(*branches)


def _remove_docstrings(tree: ast.AST) -> None:
    """Remove strings that are statements: docstrings, and strings that document the name before them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [each for each in node.body if not _is_text(each)] or [ast.Pass()]


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


_ELLIPSIS = ast.Expr(ast.Constant(...))
