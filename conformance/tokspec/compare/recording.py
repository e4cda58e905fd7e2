"""Recordings of a side's answers about many texts with a user's model, as the records that are compared.

A recording is evidence of the answers, not that they are right. Its form is that of :mod:`tokspec.suite.recordings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec import __version__
from tokspec.base.errors import DataError
from tokspec.compare.answers import Asker, Input, Record, is_record_brief, is_token, keep_ids
from tokspec.compare.models import summarize
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.judge.verdicts import effective_choices
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite import recordings
from tokspec.suite.recordings import Header, RecordingFile, Written, write_recording

#: For each operation except decoding, the keys of its result and their names in a recording.
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "normalize": {"text": "normalized"},
    "pre_tokenize": {"pieces": "pieces"},
    "encode": {"tokens": "tokens", "ids": "ids", "spans": "spans"},
}

#: What is decoded: the ids of the text, the id of the token whose text it is, or the ids without special tokens.
_DECODED, _DECODED_TOKEN, _SKIPPED = "decoded", "decoded_token", "decoded_without_special_tokens"


def header_of(asker: Asker, special_tokens: str, inputs: Mapping[str, Any]) -> Header:
    """Return the header of a recording of an implementation with its model."""
    hello = asker.hello
    identity = {"name": hello.name, "version": hello.version, "language": hello.language}
    return Header(
        suite=__version__,
        implementation={**identity, "unicode": hello.unicode} if hello.unicode else identity,
        choices=effective_choices(hello),
        model=summarize(asker.model),
        special_tokens=special_tokens,
        operations=asker.operations,
        inputs=inputs,
    )


def write_records(file: Path, asker: Asker, header: Header, records: Iterable[Record]) -> Written:
    """Write the answers of an implementation as a recording; see :func:`tokspec.suite.recordings.write_recording`."""
    return write_recording(file, header, (line_of(record, asker.options["encode"]) for record in records))


def line_of(record: Record, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as a line of a recording; ``options`` are those with which its text was encoded."""
    line: dict[str, Any] = {"from": record.input.place, "text": record.input.text, **options}
    refused, faults = {}, {}
    for operation in (*_FIELDS, "decode"):
        reply = record.replies.get(operation)
        if isinstance(reply, Refused):
            refused[operation] = reply.reason
        elif isinstance(reply, Fault):
            faults[operation] = reply.kind
        elif isinstance(reply, Answer) and operation != "decode":
            line |= {name: reply.result[key] for key, name in _FIELDS[operation].items() if key in reply.result}
    line |= _decoded(record, line.get("ids"))
    return line | {name: said for name, said in (("refused", refused), ("faults", faults)) if said}


def _decoded(record: Record, ids: list[Any] | None) -> dict[str, Any]:
    """Return the result of decoding, under the key that says what was decoded."""
    reply = record.replies.get("decode")
    text = reply.result.get("text") if isinstance(reply, Answer) else None
    key = _DECODED
    if record.input.section.startswith("skipped/"):
        key = _SKIPPED
    elif is_token(record.input) and is_record_brief(record) and ids != [int(record.input.name)]:
        key = _DECODED_TOKEN
    if key == _DECODED and ids is not None:
        return {} if text == record.input.text else {key: text}
    return ({_DECODED: None} if ids is not None else {}) | ({} if text is None else {key: text})


def _record_of(line: Mapping[str, Any], number: int) -> Record:
    section, _, name = line.get("from", f"{line.get('why') or 'texts'}:{number}").rpartition(":")
    replies: dict[str, Reply] = {}
    for operation, names in _FIELDS.items():
        result = {key: line[called] for key, called in names.items() if called in line}
        if result:
            replies[operation] = Answer(result)
    decoded = line.get(_DECODED, line["text"] if "ids" in line else None)
    text = line.get(_SKIPPED, line.get(_DECODED_TOKEN, decoded))
    if text is not None:
        replies["decode"] = Answer({"text": text})
    replies |= {operation: Refused(reason, "") for operation, reason in line.get("refused", {}).items()}
    replies |= {operation: Fault(kind, "is recorded") for operation, kind in line.get("faults", {}).items()}
    return Record(Input(section, name, line["text"]), replies, number)


@dataclass(frozen=True)
class Recording(RecordingFile):
    """A recording whose lines are records; ``ids_alone`` is whether only ids are read from it."""

    ids_alone: bool = False

    def records(self) -> Iterator[Record]:
        """Return the records, in order.

        Raises:
            DataError: a line is not valid, with its number; the file has changed since it was read first.
        """
        for number, line in self.lines():
            record = _record_of(line, number)
            yield keep_ids(record) if self.ids_alone else record


def read_recording(file: Path, name: str = "") -> Recording:
    """Read and check a recording; see :func:`tokspec.suite.recordings.read_recording`."""
    return Recording(**vars(recordings.read_recording(file, name)))


# The model of a recording


def find_model(recording: Recording, *, may_differ: bool = False) -> UserModel:
    """Read the model with which a recording was made, from the folder of the recording or the current folder.

    ``may_differ`` is whether the model may have changed since; a caller that allows this reports the changes.

    Raises:
        DataError: it cannot be read, or is not there.
    """
    model = recording.header.model
    places = [folder / model["file"] for folder in (recording.file.parent, Path())]
    found = [read_user_model(place, model["format"]) for place in places if place.exists()]
    same = [each for each in found if each.sha256 == model["sha256"]]
    if same or (found and may_differ):
        return (same or found)[0]
    where = "and the file of that name has changed" if found else "which is neither next to it nor here"
    what = f"was made with {model['file']} (sha256 {model['sha256'][:12]}…), {where}"
    raise DataError(f"{what}; give --model", recording.name)
