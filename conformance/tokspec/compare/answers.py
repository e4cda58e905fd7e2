"""What a side answers to a text: every operation that a recording can hold, and streams where they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, repeat
from typing import Any, NamedTuple

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault, DataError
from tokspec.base.json_values import DEEPEST, deeper_than
from tokspec.formats.user_model import UserModel
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request, is_unsupported
from tokspec.protocol.replies import check_form
from tokspec.sessions.asking import BATCH, CHARACTERS, Many
from tokspec.sessions.session import Session

#: The operations that are compared, in the order of the pipeline; the last one only where it is asked for.
OPERATIONS = ("normalize", "pre_tokenize", "encode", "decode", "decode_stream")

#: Texts of which the ids alone are asked, before anything else is asked of them.
_MANY = 64 * BATCH

#: What a record of a text has that is asked briefly.
_BRIEF = {"encode", "decode"}

#: Requests in a row that end a comparison: with no reply in time; with a program that ends, or writes no reply.
_TIMEOUTS = 5
_DEATHS = 100

#: What any stage takes, if there is one.
_PLAIN: Mapping[str, tuple[Mapping[str, Any], ...]] = dict.fromkeys(
    ("normalize", "pre_tokenize"), ({"text": "a"}, {"text": "Two words"})
) | {"decode_stream": ({"ids": []},)}


class Input(NamedTuple):
    """A text, the section of inputs that it belongs to, and its name there.

    >>> Input("texts/emoji", "flags", "🇯🇵").place
    'texts/emoji:flags'
    """

    section: str
    name: str
    text: str

    @property
    def place(self) -> str:
        """Its name among all inputs."""
        return f"{self.section}:{self.name}"


@dataclass(frozen=True)
class Record:
    """A text and the reply to each operation. Spans count in the unit of the side that replied.

    ``line`` is that of the recording, where it was read from one.
    """

    input: Input
    replies: Mapping[str, Reply] = field(default_factory=dict)
    line: int = 0

    @property
    def tokens(self) -> list[Any]:
        """The ids of the text, or its tokens where there are no ids."""
        reply = self.replies.get("encode")
        result = reply.result if isinstance(reply, Answer) else {}
        return list(result.get("ids", result.get("tokens", ())))


def input_of(operation: str, record: Record) -> dict[str, Any] | None:
    """Return the input of an operation: a stage gets what the one before it gave; None if that is missing.

    >>> text = Input("texts/words", "bug", "Bug")
    >>> input_of("pre_tokenize", Record(text, {"normalize": Answer({"text": "bug"})}))
    {'text': 'bug'}
    >>> input_of("decode", Record(text, {"encode": Answer({"tokens": ["b", "ug"], "ids": [1, 3]})}))
    {'ids': [1, 3]}
    """
    if operation == "encode":
        return {"text": record.input.text}
    if record.input.section.startswith("skipped/"):
        return _skipping(operation, record)
    if operation == "decode" and is_token(record.input) and is_record_brief(record):
        return {"ids": [int(record.input.name)]}
    if operation == "normalize":
        return {"text": record.input.text}
    if operation == "pre_tokenize":
        normalized = record.replies.get("normalize")
        return {"text": normalized.result["text"] if isinstance(normalized, Answer) else record.input.text}
    encoded = record.replies.get("encode")
    result = encoded.result if isinstance(encoded, Answer) else {}
    if "ids" in result and None not in result["ids"]:
        return {"ids": result["ids"]}
    return {"tokens": result["tokens"]} if "tokens" in result and operation == "decode" else None


def _skipping(operation: str, record: Record) -> dict[str, Any] | None:
    """Return the input that decodes ids without special tokens, the only question about a skipped record."""
    ids = record.tokens
    is_asked = operation == "decode" and all(isinstance(id, int) for id in ids)
    return {"ids": ids, "skip_special_tokens": True} if is_asked else None


#: How deep a model may be nested: the message that has it, and the neutral form, are a few levels deeper.
_DEEPEST_MODEL = DEEPEST - 4


class Asker:
    """One implementation with one model.

    Args:
        session: with the implementation.
        model: which the session loads when it is first asked.
        adds: whether encodings have what a post-processor adds, where the implementation takes that as an option.
        stream: the options of ``decode_stream``, which is asked only where they are given.
        ids_alone: whether nothing but ids is asked for.

    Raises:
        DataError: the model is nested deeper than a message may be.
    """

    def __init__(
        self,
        session: Session,
        model: UserModel,
        *,
        adds: bool = False,
        stream: Mapping[str, Any] | None = None,
        ids_alone: bool = False,
    ) -> None:
        if deeper_than(_DEEPEST_MODEL, model.content):
            raise DataError(f"is nested more than {_DEEPEST_MODEL} levels deep", model.name)
        self._session = session
        self._timeouts = self._deaths = 0
        self._ids_alone = ids_alone
        self._many = Many(session, model, self._give_up_after)
        self._texts: dict[int, str | None] = {}
        self.model = model
        asked = ("encode",) if ids_alone else OPERATIONS if stream is not None else OPERATIONS[:-1]
        self.operations = tuple(each for each in asked if each in session.hello.operations)
        takes_option = "add_special_tokens" in session.hello.encode_options
        self.options: Mapping[str, Mapping[str, Any]] = {
            "encode": {"add_special_tokens": adds} if takes_option else {},
            "decode_stream": stream or {},
        }

    @property
    def hello(self) -> Hello:
        """The description that the implementation gives of itself."""
        return self._session.hello

    @property
    def unblamed(self) -> Sequence[AdapterFault]:
        """Faults for which no text is to blame."""
        return self._session.unblamed

    def check_model(self) -> None:
        """Ask for the plainest of encodings.

        Raises:
            DataError: each is refused because of the model.
        """
        if "encode" not in self.operations:
            return
        replies = self.ask([("encode", {"text": text}) for text in ("a", "Two words")])
        refusals = [each for each in replies if isinstance(each, Refused)]
        if len(refusals) == len(replies) and {each.reason for each in refusals} <= {"invalid_model", "unsupported"}:
            who = f"{self.hello.name} {self.hello.version}".strip()
            raise DataError(f"refuses the model: {_describe(refusals[0])}", self.model.name, key=who)

    def drop_missing_stages(self) -> dict[str, str]:
        """Ask no more for operations that the model has no stage for, and return the reason for each.

        That is what is refused as unsupported for the plainest of texts.
        """
        reasons: dict[str, str] = {}
        for operation in self.operations:
            replies = self.ask([(operation, input) for input in _PLAIN.get(operation, ())])
            said = [reply.message for reply in replies if is_unsupported(reply)]
            if said and len(said) == len(replies):
                reasons[operation] = said[-1]
        self.operations = tuple(each for each in self.operations if each not in reasons)
        return reasons

    def ask(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Reply]:
        """Return the reply to each operation with its input, in order.

        Raises:
            DataError: there was no reply to many requests in a row, and nothing is to be expected of the others.
        """
        requests = [
            Request(operation, "own", {}, {**input, **self.options.get(operation, {})}, self.model)
            for operation, input in asked
        ]
        found: dict[int, Reply] = {}
        for index, reply in self._session.ask(requests):
            self._give_up_after(reply)
            found[index] = reply
        replies = [check_form(request.operation, found[index]) for index, request in enumerate(requests)]
        return [only_ids(reply) for reply in replies] if self._ids_alone else replies

    def _give_up_after(self, reply: Reply) -> None:
        is_timeout = isinstance(reply, Fault) and reply.kind == "timeout"
        is_death = isinstance(reply, Fault) and (
            is_timeout or reply.kind == "protocol" or reply.message.startswith(("exit status", "killed", "given up"))
        )
        self._timeouts = self._timeouts + 1 if is_timeout else 0
        self._deaths = self._deaths + 1 if is_death else 0
        if isinstance(reply, Fault) and (self._timeouts >= _TIMEOUTS or self._deaths >= _DEATHS):
            times = self._timeouts if self._timeouts >= _TIMEOUTS else self._deaths
            who = f"{self.hello.name} {self.hello.version}".strip()
            raise DataError(
                f"gave no reply {times} times in a row, the last time {reply.kind}: {reply.message}", key=who
            )

    def ids_of(self, texts: Sequence[str]) -> Iterator[list[Any] | None]:
        """Return the ids of each text, in order; None for one that was refused or failed, to be asked alone."""
        return self._many.ids_of(texts, self.options["encode"])

    def texts_of(self, lists: Sequence[Sequence[Any]]) -> Iterator[str | None]:
        """Decode each list of ids, in order; None for one that was refused or failed."""
        return self._many.texts_of(lists) if "decode" in self.hello.operations else repeat(None, len(lists))

    def texts_of_tokens(self, ids: Sequence[int]) -> list[str | None]:
        """Decode each id by itself, and remember the text; None for one that was refused or failed."""
        new = [id for id in ids if id not in self._texts]
        self._texts.update(zip(new, self.texts_of([[id] for id in new]), strict=True))
        return [self._texts[id] for id in ids]

    def reply_to_token(self, id: int, text: str | None) -> Reply:
        """Return the reply to the decoding of an id alone: the text, or what came instead of one."""
        return Answer({"text": text}) if text is not None else self.ask([("decode", {"ids": [id]})])[0]

    def ask_about(self, records: Sequence[Record], operations: Iterable[str]) -> list[dict[str, Reply]]:
        """Ask the operations that are offered about records, each with what the record has for it."""
        asked = [
            (index, operation, input)
            for index, record in enumerate(records)
            for operation in operations
            if operation in self.operations and (input := input_of(operation, record)) is not None
        ]
        replies: list[dict[str, Reply]] = [{} for _ in records]
        found = self.ask([(operation, input) for _, operation, input in asked])
        for (index, operation, _), reply in zip(asked, found, strict=True):
            replies[index][operation] = reply
        return replies


def answer(
    asker: Asker,
    inputs: Iterable[Input],
    note: Callable[[Record], None] = lambda record: None,
    *,
    whole: bool = False,
) -> Iterator[Record]:
    """Return a record of each text: what is normalized and encoded is then cut into pieces and decoded.

    Of a text that is asked briefly it has no more than :func:`answer_briefly` says, unless the ``whole`` is wanted.

    Raises:
        DataError: none of the first texts is answered: the model is of no use to the implementation.
    """
    is_first = True
    for is_brief, group in groupby(inputs, (lambda each: False) if whole else is_asked_briefly):
        for batch in in_batches((Record(input) for input in group), _MANY if is_brief else BATCH):
            found = answer_briefly(asker, batch) if is_brief else [None] * len(batch)
            rest = [record for record, brief in zip(batch, found, strict=True) if brief is None]
            asked = iter(_answer_whole(asker, rest, is_first) if rest else ())
            is_first = False
            for brief in found:
                record = brief or next(asked)
                note(record)
                yield record


def only_ids(reply: Reply) -> Reply:
    """Return an answer without all but its ids."""
    return Answer({"ids": reply.result["ids"]}) if isinstance(reply, Answer) and "ids" in reply.result else reply


def keep_ids(record: Record) -> Record:
    """Return a record with the ids of an encoding, and what came instead of one, and nothing else."""
    reply = record.replies.get("encode")
    if isinstance(reply, Answer):
        reply = Answer({"ids": reply.result["ids"]}) if "ids" in reply.result else None
    return replace(record, replies={"encode": reply} if reply else {})


def is_asked_briefly(input: Input) -> bool:
    """Whether only the ids of a text are compared, because there are many such texts; more is asked if they differ."""
    return input.section.startswith("vocabulary/")


def is_token(input: Input) -> bool:
    """Whether a text is that of one token, whose name is its id: what the id is decoded to is asked too."""
    return input.section == "vocabulary/alone" and input.name.isdecimal()


def answer_briefly(asker: Asker, records: Sequence[Record]) -> list[Record | None]:
    """Return records of the ids of texts alone, and of what the id of a token is decoded to.

    A record that has replies is asked what it was asked before. Instead of a record there is None where there are no
    ids: only the text alone shows why.
    """
    ids = list(asker.ids_of([record.input.text for record in records]))
    decodes = "decode" in asker.operations
    tokens = [
        decodes and is_token(record.input) and (not record.replies or "decode" in record.replies) for record in records
    ]
    asked = [int(record.input.name) for record, is_decoded in zip(records, tokens, strict=True) if is_decoded]
    texts = iter(asker.texts_of_tokens(asked))
    answered: list[Record | None] = []
    for record, found, is_decoded in zip(records, ids, tokens, strict=True):
        text = next(texts) if is_decoded else ""
        decoded = asker.reply_to_token(int(record.input.name), text) if is_decoded and found is not None else None
        answered.append(None if found is None else brief_record(record.input, found, decoded))
    return answered


def brief_record(input: Input, ids: list[Any] | None, decoded: Reply | None = None) -> Record:
    """Return a record of ids, and of what the id of a token is decoded to."""
    return Record(input, {"encode": Answer({"ids": ids})} | ({} if decoded is None else {"decode": decoded}))


def _answer_whole(asker: Asker, batch: Sequence[Record], is_first: bool) -> list[Record]:
    begun = asker.ask_about(batch, ("normalize", "encode"))
    if is_first and not any(isinstance(each.get("encode"), Answer) for each in begun):
        who = f"{asker.hello.name} {asker.hello.version}".strip()
        raise DataError(f"answers no text: {_describe(begun[0].get('encode'))}", key=who)
    records = [replace(record, replies=replies) for record, replies in zip(batch, begun, strict=True)]
    rest = asker.ask_about(records, ("pre_tokenize", "decode", "decode_stream"))
    return [
        replace(record, replies={**record.replies, **replies}) for record, replies in zip(records, rest, strict=True)
    ]


def answer_as(asker: Asker, records: Iterable[Record]) -> Iterator[tuple[Record, Mapping[str, Reply]]]:
    """Return each record with the replies to the same requests."""
    for is_brief, group in groupby(records, is_record_brief):
        for batch in in_batches(group, _MANY if is_brief else BATCH):
            found = answer_briefly(asker, batch) if is_brief else [None] * len(batch)
            rest = [record for record, brief in zip(batch, found, strict=True) if brief is None]
            whole = iter(asker.ask_about(rest, OPERATIONS))
            for record, brief in zip(batch, found, strict=True):
                yield record, brief.replies if brief else next(whole)


def is_record_brief(record: Record) -> bool:
    """Whether a record of a text that is asked briefly has ids alone, and perhaps what they are decoded to."""
    encoded = record.replies.get("encode")
    has_ids = isinstance(encoded, Answer) and set(encoded.result) == {"ids"} and record.replies.keys() <= _BRIEF
    return has_ids and is_asked_briefly(record.input)


def _describe(reply: Reply | None) -> str:
    if isinstance(reply, Refused):
        return f"{reply.reason}: {reply.message}" if reply.message else reply.reason
    return f"{reply.kind}: {reply.message}" if isinstance(reply, Fault) else "it does not offer encode"


def in_batches(records: Iterable[Record], most: int = BATCH) -> Iterator[list[Record]]:
    """Return ``most`` records at a time, fewer where their texts are long."""
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.input.text)
        if len(batch) >= most or size >= CHARACTERS * most // BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
