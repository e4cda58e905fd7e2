"""Clauses, cases and the reference's functions, matched both ways; and the operations that test a clause.

If only an inspection operation tests a rule, an implementation that only trains, encodes and decodes may break it
unnoticed. So each clause has *doors*: the operations of a user in which a violation could show. Each door has a case,
or a reason why nothing shows there.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tokspec.quality.mutated import REFERENCE
from tokspec.suite import schema
from tokspec.suite.cases import Case, Suite
from tokspec.suite.operations import OPERATIONS
from tokspec.suite.specification import Clause, load_specification

#: Clauses about the harness and a program, not about a tokenizer; tests of the harness replace cases.
_HARNESS = ("PROTO-", "ERROR-1", "TERM-5")

#: The doors of clauses by the beginning of their ids; the longest match counts. ``encode`` includes ``encode_batch``.
#: Training passes texts through the same stages (BPE-TRAIN-1), so these have no door there.
DOORS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("TERM-1", "TERM-2", "TERM-9", "WP-MODEL-2"), ("encode", "decode", "train")),
    **dict.fromkeys(("TERM-3", "TERM-6"), ("encode",)),
    "TERM-7": ("encode", "decode", "decode_stream"),
    "TERM-10": ("encode", "decode", "decode_stream"),
    **dict.fromkeys(("TERM-8", "ADDED-13", "PATTERN"), ("encode", "decode")),
    **dict.fromkeys(("NORM", "PRE", "ADDED", "SPECIAL", "ENC"), ("encode",)),
    **dict.fromkeys(("BPE", "WP", "UNI", "WL", "SP"), ("encode",)),
    **dict.fromkeys(("BPE-TRAIN", "WP-TRAIN", "UNI-INIT", "UNI-LOSS", "UNI-PRUNE", "ERROR-3"), ("train",)),
    **dict.fromkeys(("POST", "BATCH", "TRUNC", "PAD", "TRUST"), ("encode",)),
    "DEC": ("decode", "decode_stream"),
    **{
        pattern.removesuffix("-*"): (operation.name,)
        for operation in OPERATIONS
        for pattern in operation.clauses.split()
        if pattern.endswith("-*")
    },
    "SP-DEC": ("decode", "decode_stream"),
    "ADDED-12": ("encode", "decode", "decode_stream"),
    "DEC-BYTE-3": ("decode", "decode_stream", "decode_bytes"),
    "UNI-SEG-2": ("encode", "train"),
    "ERROR-2": (),
}

#: Why nothing shows at a door, by clause and door.
REASONS: Mapping[tuple[str, str], str] = {
    ("UNI-SEG-4", "encode"): "only viterbi gives the table",
    ("UNI-UNK-2", "encode"): "encoding has rules of its own, UNI-UNK-3 and UNI-UNK-4",
    ("DEC-STREAM-4", "decode_stream"): "it says what is not specified",
    ("PATTERN-17", "decode"): "what replaces a match of no character is not specified",
}


#: The rules that apply to models of every family, by the beginnings of their ids. An implementation may have separate
#: code for each family. The other rules act on text before a model, on the tokens after it, or in one family.
OF_EVERY_FAMILY = ("ADDED", "SPECIAL", "ENC", "POST", "BATCH", "TRUNC", "PAD", "TRUST", "PARTS", "DEC-5", "DEC-6")


@dataclass(frozen=True)
class ClauseRow:
    """A clause, the ids of its cases, the functions of the reference that implement it, and its cases by operation.

    ``families`` counts the cases of a clause that applies to models of every family, by family and operation.
    """

    clause: Clause
    cases: Sequence[str]
    functions: Sequence[str]
    operations: Mapping[str, int] = field(default_factory=dict)
    families: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def shut(self) -> Mapping[str, str | None]:
        """The doors of the clause that no case tests, each with the reason, or None if there is none."""
        asked = {operation.removesuffix("_batch") for operation in self.operations}
        id = self.clause.id
        return {door: REASONS.get((id, door)) for door in doors_of(id) if door not in asked}

    @property
    def lacks(self) -> tuple[str, ...]:
        """What a clause lacks: a MUST clause needs ``cases`` and ``a function``, each clause a case at its doors."""
        if self.clause.id.startswith(_HARNESS):
            return ()
        doors = tuple(f"a case of {door}" for door, reason in self.shut.items() if reason is None)
        if self.clause.level != "MUST":
            return doors if self.cases else ()
        return (doors if self.cases else ("cases",)) + ("a function",) * (not self.functions)


def doors_of(id: str) -> tuple[str, ...]:
    """Return the operations of a user in which a violation of a clause could show.

    >>> doors_of("DEC-7"), doors_of("DEC-STREAM-1"), doors_of("TERM-10")
    (('decode', 'decode_stream'), ('decode_stream',), ('encode', 'decode', 'decode_stream'))
    """
    parts = id.split("-")
    beginnings = ["-".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((DOORS[beginning] for beginning in beginnings if beginning in DOORS), ())


def _by_family(id: str, cases: Sequence[Case]) -> Mapping[str, Mapping[str, int]]:
    if not any(id == beginning or id.startswith(f"{beginning}-") for beginning in OF_EVERY_FAMILY):
        return {}
    names = schema.definitions()["family"]["enum"]
    return {name: Counter(case.operation for case in cases if case.model.content.get("type") == name) for name in names}


def coverage(suite: Suite, functions: Mapping[str, Sequence[str]]) -> list[ClauseRow]:
    """Return a row for each live clause, in the order of the specification."""
    rows: list[ClauseRow] = []
    for clause in load_specification().clauses.values():
        cases = [case for case in suite.cases.values() if clause.id in case.clauses]
        operations = Counter(case.operation for case in cases)
        ids, known = [case.id for case in cases], functions.get(clause.id, ())
        rows.append(ClauseRow(clause, ids, known, operations, _by_family(clause.id, cases)))
    return [row for row in rows if row.clause.level != "RETIRED"]


_CLAUSE = re.compile(r"\b(?!GPT-|UTF-)[A-Z]+(?:-[A-Z]+)*-\d+\b")


def functions_by_clause() -> dict[str, tuple[str, ...]]:
    """Return, for each clause, the functions and classes of the reference in which its id occurs.

    >>> functions_by_clause()["BPE-TRAIN-5"]
    ('bpe.count_pairs',)
    """
    found: dict[str, list[str]] = {}
    for file in sorted(REFERENCE.rglob("*.py")):
        module = ".".join(file.relative_to(REFERENCE).with_suffix("").parts)
        lines = file.read_text("utf-8").splitlines()
        for node in ast.parse("\n".join(lines)).body:
            name = getattr(node, "name", None) or _assigned_name(node)
            for clause in _CLAUSE.findall("\n".join(lines[node.lineno - 1 : node.end_lineno])) if name else ():
                found.setdefault(clause, []).append(f"{module}.{name}")
    return {clause: tuple(dict.fromkeys(names)) for clause, names in sorted(found.items())}


def _assigned_name(node: ast.stmt) -> str:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")
