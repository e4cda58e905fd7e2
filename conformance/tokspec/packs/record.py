"""What was answered to one text: all that the specification can observe, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["FAULTS", "FIELDS", "OPERATIONS", "Input", "Record", "input_of", "judged_section", "record_of", "written"]

#: The operations that a pack records, in the order of the pipeline.
OPERATIONS = ("normalize", "pre_tokenize", "encode", "decode")

#: For each operation, the keys of its result and what a pack calls them.
FIELDS: Mapping[str, Mapping[str, str]] = {
    "normalize": {"text": "normalized"},
    "pre_tokenize": {"pieces": "pieces"},
    "encode": {"tokens": "tokens", "ids": "ids", "spans": "spans"},
    "decode": {"text": "decoded"},
}

#: Why there is no answer, where that is a fault, and so something that another version may do otherwise.
FAULTS = ("crash", "timeout", "protocol")


def judged_section(section: str) -> str:
    """Return the section in which the texts of one are judged.

    >>> judged_section("special_tokens/alone"), judged_section("texts/emoji")
    ('special_tokens', 'texts/emoji')
    """
    return "special_tokens" if section.startswith("special_tokens/") else section


class Input(NamedTuple):
    """A text, the section of inputs that it belongs to, and what it is called there.

    >>> Input("texts/emoji", "flags", "🇯🇵").place
    'texts/emoji:flags'
    """

    section: str
    name: str
    text: str

    @property
    def place(self) -> str:
        """What it is called in a pack."""
        return f"{self.section}:{self.name}"


@dataclass(frozen=True)
class Record:
    """A text and what came of each operation: its result, in ``refused`` the reason of a refusal, or no answer.

    ``unanswered`` says why: ``unsupported``, or the kind of a fault. Spans count in the unit of whoever was asked.
    ``line`` is that of the pack, where it was read from one.
    """

    input: Input
    results: Mapping[str, Mapping[str, Any]]
    refused: Mapping[str, str] = field(default_factory=dict)
    unanswered: Mapping[str, str] = field(default_factory=dict)
    line: int = 0

    @property
    def section(self) -> str:
        """The section in which it is judged."""
        return judged_section(self.input.section)

    def says(self, operation: str) -> bool:
        """Whether somebody can be held to what came of an operation; to not offering it nobody is."""
        return operation in self.results or operation in self.refused or self.unanswered.get(operation) in FAULTS

    @property
    def ids(self) -> int:
        """How many tokens the text has."""
        encoded = self.results.get("encode", {})
        return len(encoded.get("ids", encoded.get("tokens", ())))


def input_of(operation: str, record: Record) -> dict[str, Any] | None:
    """Return what an operation is asked with: each stage gets what the one before it gave; nothing if that is missing.

    >>> text = Input("texts/words", "bug", "Bug")
    >>> input_of("pre_tokenize", Record(text, {"normalize": {"text": "bug"}}))
    {'text': 'bug'}
    >>> input_of("decode", Record(text, {"encode": {"tokens": ["b", "ug"], "ids": [1, 3]}}))
    {'ids': [1, 3]}
    """
    if operation in ("normalize", "encode"):
        return {"text": record.input.text}
    if operation == "pre_tokenize":
        return {"text": record.results.get("normalize", {}).get("text", record.input.text)}
    encoded = record.results.get("encode", {})
    if None not in encoded.get("ids", [None]):
        return {"ids": encoded["ids"]}
    return {"tokens": encoded["tokens"]} if "tokens" in encoded else None


def written(record: Record) -> dict[str, Any]:
    """Return the object that stands for a record in a pack.

    >>> written(Record(Input("texts/words", "bug", "bug"), {"encode": {"ids": [1, 3]}}, {"decode": "unknown_id"}))
    {'from': 'texts/words:bug', 'text': 'bug', 'ids': [1, 3], 'refused': {'decode': 'unknown_id'}}
    """
    value: dict[str, Any] = {"from": record.input.place, "text": record.input.text}
    for operation, fields in FIELDS.items():
        result = record.results.get(operation, {})
        value |= {name: result[key] for key, name in fields.items() if key in result}
    others = {"refused": dict(record.refused), "unanswered": dict(record.unanswered)}
    return value | {name: reasons for name, reasons in others.items() if reasons}


def record_of(value: Mapping[str, Any], line: int = 0) -> Record:
    """Read what :func:`written` wrote.

    >>> record_of({"from": "texts/words:bug", "text": "bug", "ids": [1, 3]}).results
    {'encode': {'ids': [1, 3]}}
    """
    section, _, name = value["from"].rpartition(":")
    results = {}
    for operation, fields in FIELDS.items():
        result = {key: value[called] for key, called in fields.items() if called in value}
        if result:
            results[operation] = result
    input = Input(section, name, value["text"])
    return Record(input, results, value.get("refused", {}), value.get("unanswered", {}), line)
