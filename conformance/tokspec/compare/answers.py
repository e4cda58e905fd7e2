"""The answers of a side about a text, for every operation that a recording can hold, and for streams on request."""

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

#: The operations that are compared, in the order of the pipeline; the last one only on request.
OPERATIONS = ("normalize", "pre_tokenize", "encode", "decode", "decode_stream")

#: How many texts are encoded to ids alone at once, before anything else is asked about them.
_MANY = 64 * BATCH

#: The operations in the record of a text that is asked about briefly.
_BRIEF = {"encode", "decode"}

#: How many requests in a row end a comparison: with no reply in time; with a program that ends or writes no reply.
_TIMEOUTS = 5
_DEATHS = 100

#: Inputs that any stage accepts, if there is one.
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
        """The name of the text among all inputs."""
        return f"{self.section}:{self.name}"


@dataclass(frozen=True)
class Record:
    """A text and the reply to each operation. Spans count in the unit of the side that replied.

    ``line`` is the line in the recording, if the record was read from one.
    """

    input: Input
    replies: Mapping[str, Reply] = field(default_factory=dict)
    line: int = 0

    @property
    def tokens(self) -> list[Any]:
        """The ids of the text, or its tokens if there are no ids."""
        reply = self.replies.get("encode")
        result = reply.result if isinstance(reply, Answer) else {}
        return list(result.get("ids", result.get("tokens", ())))


def input_of(operation: str, record: Record) -> dict[str, Any] | None:
    """Return the input of an operation, which is the result of the stage before it; None if that is missing.

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
    """Return the input that decodes ids without special tokens, the only request about a skipped record."""
    ids = record.tokens
    is_asked = operation == "decode" and all(isinstance(id, int) for id in ids)
    return {"ids": ids, "skip_special_tokens": True} if is_asked else None


#: How deep a model may be nested: the message that contains it, and the neutral form, are a few levels deeper.
_DEEPEST_MODEL = DEEPEST - 4


class Asker:
    """One implementation with one model.

    Args:
        session: a session with the implementation.
        model: the model, which the session loads at the first request.
        adds: whether encodings contain what a post-processor adds, if the implementation has an option for that.
        stream: the options of ``decode_stream``, which is compared only if they are given.
        ids_alone: whether only ids are compared.

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
        """The faults for which no text is to blame."""
        return self._session.unblamed

    def check_model(self) -> None:
        """Check that the implementation accepts the model, with the encodings of plain texts.

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
        """Drop the operations that the model has no stage for, and return the reason for each.

        An operation is dropped if it is refused as unsupported even for plain texts.
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
            DataError: many requests in a row had no reply, and the others would have none either.
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
        """Return the ids of each text, in order; None for a text that was refused or failed, to be encoded alone."""
        return self._many.ids_of(texts, self.options["encode"])

    def texts_of(self, lists: Sequence[Sequence[Any]]) -> Iterator[str | None]:
        """Decode each list of ids, in order; None for one that was refused or failed."""
        return self._many.texts_of(lists) if "decode" in self.hello.operations else repeat(None, len(lists))

    def texts_of_tokens(self, ids: Sequence[int]) -> list[str | None]:
        """Decode each id by itself, and keep the text; None for one that was refused or failed."""
        new = [id for id in ids if id not in self._texts]
        self._texts.update(zip(new, self.texts_of([[id] for id in new]), strict=True))
        return [self._texts[id] for id in ids]

    def reply_to_token(self, id: int, text: str | None) -> Reply:
        """Return the reply to decoding an id alone: the text, or the refusal or fault that came instead."""
        return Answer({"text": text}) if text is not None else self.ask([("decode", {"ids": [id]})])[0]

    def ask_about(self, records: Sequence[Record], operations: Iterable[str]) -> list[dict[str, Reply]]:
        """Request those operations that are offered for each record, with the inputs that the record has for them."""
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
    """Return a record of each text, which is normalized and encoded; the results are then pre-tokenized and decoded.

    The record of a text that is asked about briefly has only what :func:`answer_briefly` says, unless ``whole`` is set.

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
    """Return an answer with its ids alone."""
    return Answer({"ids": reply.result["ids"]}) if isinstance(reply, Answer) and "ids" in reply.result else reply


def keep_ids(record: Record) -> Record:
    """Return a record with nothing but the ids of the encoding, or what came instead of an encoding."""
    reply = record.replies.get("encode")
    if isinstance(reply, Answer):
        reply = Answer({"ids": reply.result["ids"]}) if "ids" in reply.result else None
    return replace(record, replies={"encode": reply} if reply else {})


def is_asked_briefly(input: Input) -> bool:
    """Return whether only ids are compared at first, because there are many such texts."""
    return input.section.startswith("vocabulary/")


def is_token(input: Input) -> bool:
    """Return whether a text belongs to one token, whose id is its name; then the id is decoded too."""
    return input.section == "vocabulary/alone" and input.name.isdecimal()


def answer_briefly(asker: Asker, records: Sequence[Record]) -> list[Record | None]:
    """Return records with nothing but the ids of texts, and the decoded text of a token's id.

    If a record has replies already, the same requests are made again. If there are no ids, the entry is None, because
    only a request for that text alone shows why.
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
    """Return a record with ids and, if given, the reply to decoding a token's id."""
    return Record(input, {"encode": Answer({"ids": ids})} | ({} if decoded is None else {"decode": decoded}))


def _answer_whole(asker: Asker, batch: Sequence[Record], is_first: bool) -> list[Record]:
    begun = asker.ask_about(batch, ("normalize", "encode"))
    if is_first and not any(isinstance(each.get("encode"), Answer) for each in begun):
        who = f"{asker.hello.name} {asker.hello.version}".strip()
        raise DataError(f"does not answer any text: {_describe(begun[0].get('encode'))}", key=who)
    records = [replace(record, replies=replies) for record, replies in zip(batch, begun, strict=True)]
    rest = asker.ask_about(records, ("pre_tokenize", "decode", "decode_stream"))
    return [
        replace(record, replies={**record.replies, **replies}) for record, replies in zip(records, rest, strict=True)
    ]


def answer_as(asker: Asker, records: Iterable[Record]) -> Iterator[tuple[Record, Mapping[str, Reply]]]:
    """Return each record with the replies of an implementation to the record's requests."""
    for is_brief, group in groupby(records, is_record_brief):
        for batch in in_batches(group, _MANY if is_brief else BATCH):
            found = answer_briefly(asker, batch) if is_brief else [None] * len(batch)
            rest = [record for record, brief in zip(batch, found, strict=True) if brief is None]
            whole = iter(asker.ask_about(rest, OPERATIONS))
            for record, brief in zip(batch, found, strict=True):
                yield record, brief.replies if brief else next(whole)


def is_record_brief(record: Record) -> bool:
    """Return whether a record, of a text that is asked about briefly, has only ids, and perhaps their decoded text."""
    encoded = record.replies.get("encode")
    has_ids = isinstance(encoded, Answer) and set(encoded.result) == {"ids"} and record.replies.keys() <= _BRIEF
    return has_ids and is_asked_briefly(record.input)


def _describe(reply: Reply | None) -> str:
    if isinstance(reply, Refused):
        return f"{reply.reason}: {reply.message}" if reply.message else reply.reason
    return f"{reply.kind}: {reply.message}" if isinstance(reply, Fault) else "it does not offer encode"


def in_batches(records: Iterable[Record], most: int = BATCH) -> Iterator[list[Record]]:
    """Return ``most`` records at a time, fewer if their texts are long."""
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
