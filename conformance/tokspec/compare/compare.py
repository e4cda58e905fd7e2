"""Comparing two sides text by text in this process: recordings, and implementations through their sessions.

If one side is a recording, the other is asked about its texts; two implementations are asked about the suite's cases
and texts, and about texts made of the vocabulary. Each stage of B gets the output of A's previous stage, so that a
difference shows in the stage that causes it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import Any

from tokspec.base.display import shorten
from tokspec.compare.answers import (
    OPERATIONS,
    Asker,
    Input,
    Record,
    answer,
    answer_as,
    brief_record,
    input_of,
    is_asked_briefly,
    is_token,
)
from tokspec.compare.causes import Outcome, compare_replies, name_ids
from tokspec.compare.inputs import BadText, Reading, find_parts, read_part
from tokspec.compare.models import parts_of
from tokspec.compare.recording import Recording
from tokspec.compare.report import count
from tokspec.compare.tally import Tally
from tokspec.compare.texts import suite_texts, texts_of_special_tokens, texts_of_vocabulary
from tokspec.formats.user_model import UserModel
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import effective_choices
from tokspec.protocol.messages import Fault, Refused, Reply, is_unsupported
from tokspec.protocol.replies import check_form
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case

#: How many records may wait for the other record of their text, and how many characters their texts may have.
_WAITING = 50_000
_CHARACTERS = 4 * 1024 * 1024

#: How many texts are done between two reports of progress.
_NOTED = 256

#: The kinds of sections, in the order of recordings.
_KINDS = ("texts", "special_tokens", "skipped", "vocabulary", "inputs")

#: How many reasons are shown for texts without an answer.
_SHOWN = 8


def default_inputs(asker: Asker, made: int, *, vocabulary: bool = True, other: UserModel | None = None) -> list[Input]:
    """Return the suite's texts, and texts made of the model's vocabulary, ``made`` of each kind.

    The implementation gives the text of a token; a token that is part of a character, or not text, is used as the
    vocabulary has it. If the model of the other side is given, texts are made only of the tokens that both have with
    the same id, and texts with a special token that only one side has are left out, because the comparison of the
    models shows these.
    """
    parts = parts_of(asker.model)
    its = parts_of(other) if other else parts
    apart = {token for _, token in parts.special.items() ^ its.special.items()}
    texts = [each for each in suite_texts() if not any(token in each.text for token in apart)]
    if vocabulary:
        of_other = {**its.special, **its.vocabulary} if other else parts.vocabulary
        found = {
            id: token for id, token in parts.vocabulary.items() if of_other.get(id) == token and token not in apart
        }
        decoded = asker.texts_of_tokens(list(found))
        pairs = zip(found.items(), decoded, strict=True)
        tokens = {id: text if text and "\ufffd" not in text else token for (id, token), text in pairs}
        both = [token for id, token in parts.special.items() if its.special.get(id) == token]
        special = list(texts_of_special_tokens(both))
        texts += special
        if "skip_special_tokens" in asker.hello.decode_options and "decode" in asker.operations:
            texts += (each._replace(section=each.section.replace("special_tokens", "skipped", 1)) for each in special)
        texts += texts_of_vocabulary(tokens, made)
    return texts


def file_inputs(files: Iterable[str], reading: Reading, bad: Tally) -> Iterator[Input]:
    """Return the texts of files; their names don't reveal the machine's paths, and get a number if two are the same."""
    seen: dict[str, int] = {}
    for file in files:
        for part in find_parts(file, reading.kind, 1 << 62):
            name = Path(part.path).name
            seen[name] = seen.get(name, 0) + 1
            called = name if seen[name] == 1 else f"{name}#{seen[name]}"
            for each in read_part(part, reading):
                if isinstance(each, BadText):
                    bad.note_bad(f"{called}:{each.number}", each.why)
                else:
                    yield Input(f"inputs/{called}", str(each.number), each.text)


class Unanswered:
    """Faults to report to the user, because a recording keeps them: how often each occurs, with the first text."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """Pass records on, and count the faults in them."""
        for record in records:
            for operation, reply in record.replies.items():
                if isinstance(reply, Fault):
                    key = f"{operation}: {reply.kind}: {shorten(reply.message)}"
                    times, first = self._found.get(key, (0, record.input.place))
                    self._found[key] = (times + 1, first)
            yield record

    @property
    def lines(self) -> list[str]:
        """The lines that report the faults, the most frequent first."""
        ordered = sorted(self._found.items(), key=lambda item: (-item[1][0], item[0]))
        return [
            f"not answered: {count(times, 'text')}, first {first}: {key}" for key, (times, first) in ordered[:_SHOWN]
        ]


def unit_of(side: Asker | Recording) -> str:
    """Return the unit of the spans of a side."""
    if isinstance(side, Recording):
        return side.header.choices.get("offset_unit", "code_point")
    return effective_choices(side.hello)["offset_unit"]


def compare_texts(
    a: Asker,
    b: Asker,
    inputs: Sequence[Input],
    tally: Tally,
    wanted: Callable[[str], bool] = lambda name: True,
    note: Callable[[int], None] = lambda number: None,
) -> None:
    """Compare the answers of two implementations about texts.

    For the many texts made of a vocabulary, the ids are compared first, and the decoded text of a token's id. If these
    differ, and for every other text, all operations are compared.

    Args:
        a: an implementation with its model.
        b: the other implementation.
        inputs: the texts.
        tally: collects the results, text by text.
        wanted: as for :func:`compare_records`.
        note: called with the number of texts done since the last call.

    Raises:
        DataError: one side answers nothing.
    """
    gives_ids = all("ids" in each.hello.encode_fields and "encode" in each.operations for each in (a, b))
    brief, whole = list[Input](), list[Input]()
    for each in inputs:
        section = judged_section(each.section)
        if gives_ids and is_asked_briefly(each) and wanted(f"encode/{section}"):
            brief.append(each)
        elif any(wanted(f"{operation}/{section}") for operation in a.operations):
            whole.append(each)
    compare_records(a, b, whole, wanted, lambda record: note(1), tally)
    units, names = (unit_of(a), unit_of(b)), Names(a, b)
    differing = _differing(a, b, brief, tally, wanted, note)
    asked = pairs(a, b, (one.input for one, _ in differing), tally)
    for pair, answered in zip(asked, differing, strict=True):
        # if a side answers differently about one text alone, it has given two answers, and both count
        if all(each.replies for each in answered) and not any(each.differs for each in _compare(*pair, units)):
            pair = answered
        note_pair(tally, *named(*pair, names), units, wanted)


def _differing(
    a: Asker,
    b: Asker,
    inputs: Sequence[Input],
    tally: Tally,
    wanted: Callable[[str], bool],
    note: Callable[[int], None],
) -> list[tuple[Record, Record]]:
    """Count the texts for which both give the same ids and decode a token's id alike; return the other texts.

    A record has no replies if a side gave no answer.
    """
    texts = [each.text for each in inputs]
    differing, same = list[tuple[Record, Record]](), list[tuple[Input, list[Any]]]()
    for number, (each, one, other) in enumerate(zip(inputs, a.ids_of(texts), b.ids_of(texts), strict=True), 1):
        if number % _NOTED == 0 or number == len(inputs):
            note((number - 1) % _NOTED + 1)
        if one is None or one != other:
            answered = (Record(each) if ids is None else brief_record(each, ids) for ids in (one, other))
            differing.append((next(answered), next(answered)))
        else:
            same.append((each, one))
    decodes = all("decode" in side.operations for side in (a, b)) and wanted("decode/vocabulary/alone")
    tokens = [int(each.name) for each, _ in same if decodes and is_token(each)]
    decoded = zip(a.texts_of_tokens(tokens), b.texts_of_tokens(tokens), strict=True)
    for section, group in groupby(same, lambda pair: pair[0].section):
        is_decoded = decodes and section == "vocabulary/alone"
        alike, tokens_alike = list[str](), 0
        for each, ids in group:
            text, its = next(decoded) if is_decoded and is_token(each) else ("", "")
            if text is None or text != its:
                said = [side.reply_to_token(int(each.name), found) for side, found in ((a, text), (b, its))]
                differing.append((brief_record(each, ids, said[0]), brief_record(each, ids, said[1])))
            else:
                alike.append(each.text)
                tokens_alike += len(ids)
        tally.note_same(section, alike, tokens_alike, ("encode", "decode") if is_decoded else ("encode",))
    return differing


def compare_records(
    a: Asker | Recording,
    b: Asker | Recording,
    inputs: Iterable[Input],
    wanted: Callable[[str], bool] = lambda name: True,
    note: Callable[[Record], None] = lambda record: None,
    tally: Tally | None = None,
) -> Tally:
    """Compare the answers of two sides about texts, and return the tally.

    Args:
        a: an implementation with its model, or a recording.
        b: the other one.
        inputs: the texts, if neither side is a recording.
        wanted: returns whether an operation on a section, such as ``encode/texts/emoji``, is compared.
        note: called after each text.
        tally: collects the results, text by text, and is returned; a new one unless given.

    Raises:
        DataError: a recording has changed since it was read, or one side answers nothing.
    """
    tally, units, names = Tally() if tally is None else tally, (unit_of(a), unit_of(b)), Names(a, b)
    for one, other in pairs(a, b, inputs, tally):
        note_pair(tally, *named(one, other, names), units, wanted)
        note(one)
    return tally


class Names:
    """The tokens of ids, if both sides have the same model; they are looked up when an id differs."""

    def __init__(self, a: Asker | Recording, b: Asker | Recording) -> None:
        hashes = [each.model.sha256 if isinstance(each, Asker) else each.header.model.get("sha256") for each in (a, b)]
        models = [each.model for each in (a, b) if isinstance(each, Asker)]
        self._model = models[0] if models and hashes[0] == hashes[1] else None

    @cached_property
    def by_id(self) -> Mapping[int, str]:
        """The vocabulary; empty if it is not known."""
        return parts_of(self._model).vocabulary if self._model else {}


def named(one: Record, other: Record, names: Names) -> tuple[Record, Record]:
    """Add tokens to the ids of two encodings if the ids differ and a side gives no tokens."""
    a, b = (each.replies.get("encode") for each in (one, other))
    if a is None or b is None:
        return one, other
    renamed = (
        record if named is reply else replace(record, replies={**record.replies, "encode": named})
        for record, reply, named in zip((one, other), (a, b), name_ids(a, b, lambda: names.by_id), strict=True)
    )
    return next(renamed), next(renamed)


def note_pair(tally: Tally, one: Record, other: Record, units: tuple[str, str], wanted: Callable[[str], bool]) -> None:
    """Compare two records of a text, and count the result."""
    section = judged_section(one.input.section)
    outcomes = [outcome for outcome in _compare(one, other, units) if wanted(f"{outcome.operation}/{section}")]
    if section == "skipped":
        outcomes = [outcome for outcome in outcomes if outcome.operation == "decode"]
    if outcomes:
        compared = any(outcome.operation == "encode" for outcome in outcomes)
        tokens = (one.tokens, other.tokens) if compared else ((), ())
        tally.note(section, one.input.place, one.input.text, outcomes, tokens, max(one.line, other.line))


def judged_section(section: str) -> str:
    """Return the section under which the texts of a section are counted.

    >>> judged_section("special_tokens/alone"), judged_section("texts/emoji"), judged_section("inputs/a.txt")
    ('special_tokens', 'texts/emoji', 'inputs')
    """
    first = section.partition("/")[0]
    return first if first in ("special_tokens", "skipped", "inputs") else section


def pairs(
    a: Asker | Recording, b: Asker | Recording, inputs: Iterable[Input], tally: Tally
) -> Iterator[tuple[Record, Record]]:
    """Return the records of A and B for each text."""
    if isinstance(a, Recording) and isinstance(b, Recording):
        yield from _pair_up(a.records(), b.records(), tally)
    elif isinstance(b, Recording):
        yield from ((one, other) for other, one in _ask_as(a, b.records()))
    else:
        records = a.records() if isinstance(a, Recording) else answer(a, inputs, whole=True)
        yield from _ask_as(b, records)


def _ask_as(asker: Asker | Recording, records: Iterable[Record]) -> Iterator[tuple[Record, Record]]:
    """Return each record with the record of an implementation's replies to the same requests."""
    if isinstance(asker, Recording):
        raise TypeError("a recording cannot answer new requests")
    return ((record, Record(record.input, replies)) for record, replies in answer_as(asker, records))


def _compare(one: Record, other: Record, units: tuple[str, str]) -> Iterator[Outcome]:
    """Compare the operations that A answers; B is not judged by operations that A does not offer."""
    leader = other if other.line and not one.line else one
    for operation in OPERATIONS:
        reply = one.replies.get(operation)
        if reply is not None and not is_unsupported(reply):
            input = input_of(operation, leader) or {}
            found = other.replies.get(operation) or Refused("unsupported", "is not offered")
            yield compare_replies(operation, input, reply, found, units)


def _pair_up(a: Iterable[Record], b: Iterable[Record], tally: Tally) -> Iterator[tuple[Record, Record]]:
    """Return pairs of records of the same text, as they come; texts that only one side has are counted.

    An operation is left out if the two had different inputs.
    """
    waiting, alone = (_Waiting(), _Waiting()), [0, 0]
    for _, _, side, record in merge(_number(a, 0), _number(b, 1)):
        other = waiting[1 - side].take(record.input.text)
        if other is None:
            alone[side] += waiting[side].put(record)
        else:
            yield _with_same_inputs(*((other, record) if side else (record, other)))
    for side, number in enumerate(alone):
        if number + waiting[side].count:
            tally.leave(f"texts of {'AB'[side]} alone", number + waiting[side].count)


def _number(records: Iterable[Record], side: int) -> Iterator[tuple[int, int, int, Record]]:
    """Return each record with the number of its kind of section and its own number there, to read two sides in step."""
    numbers = Counter[int]()
    for record in records:
        name = record.input.section.partition("/")[0]
        kind = _KINDS.index(name) if name in _KINDS else len(_KINDS)
        numbers[kind] += 1
        yield kind, numbers[kind], side, record


class _Waiting:
    """Records that wait for the other record of their text, in the order in which they came."""

    def __init__(self) -> None:
        self._by_text: dict[str, deque[Record]] = {}
        self._characters = 0
        self.count = 0

    def take(self, text: str) -> Record | None:
        """Remove and return the first waiting record of a text."""
        records = self._by_text.get(text)
        if records is None:
            return None
        record = records.popleft()
        if not records:
            del self._by_text[text]
        self.count -= 1
        self._characters -= len(text)
        return record

    def put(self, record: Record) -> int:
        """Add a record, and return how many of the oldest were dropped for it."""
        text = record.input.text
        self._by_text.setdefault(text, deque()).append(record)
        self.count += 1
        self._characters += len(text)
        before = self.count
        while self.count > _WAITING or self._characters > _CHARACTERS:
            self.take(next(iter(self._by_text)))
        return before - self.count


def _with_same_inputs(one: Record, other: Record) -> tuple[Record, Record]:
    same = {name: reply for name, reply in one.replies.items() if input_of(name, one) == input_of(name, other)}
    return replace(one, replies=same), other


def compare_cases(
    a: Session, b: Session, cases: Sequence[Case], note: Callable[[Case], None] = lambda case: None
) -> Tally:
    """Compare the complete answers of two implementations to the suite's cases, not only what a case tests."""
    tally = Tally()
    units = tuple(effective_choices(session.hello)["offset_unit"] for session in (a, b))
    replies = [_replies(session, cases) for session in (a, b)]
    for case, one, other in zip(cases, *replies, strict=True):
        outcome = compare_replies(case.operation, case.input, one, other, (units[0], units[1]))
        tally.note("cases", f"case {case.id}", str(case.input.get("text", "")), [outcome])
        note(case)
    return tally


def _replies(session: Session, cases: Sequence[Case]) -> list[Reply]:
    found = dict(session.ask([make_request(case) for case in cases]))
    return [check_form(case.operation, found[index]) for index, case in enumerate(cases)]
