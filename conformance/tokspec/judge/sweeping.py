"""Judging by a sweep: every entry of a vocabulary is asked, and each 64 of them are a case.

tokfast gives the right answers. The digests of the pack confirm them, because they were made of what both tokfast and
the library of the format gave. A case asks about the first text of its block that the implementation gets wrong, or
about the first text if it gets none wrong.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tokspec.adapters.tokfast import TokfastAdapter
from tokspec.base.errors import AdapterFault
from tokspec.formats.user_model import UserModel
from tokspec.protocol.messages import Fault, Reply
from tokspec.sessions.asking import Many
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case, Model
from tokspec.suite.sweeps import BLOCK, LEFT_OUT, Sweep, blocks_of, digest_of_ids, digest_of_texts, sweep_of

#: Messages in a row without a reply in time, and with a fault of any kind, after which the rest is not asked together.
_SILENCE = 3
_FAULTS = 50


#: What a case of each part is about, with its first and its last id.
_WHY = {
    "texts": "each of the ids {} to {}, decoded alone",
    "ids": "the texts of the ids {} to {}; most come back as one id",
    "pairs": "the texts of the ids {} to {}, each with another behind it; most come back as two ids",
}


@dataclass
class Swept:
    """The cases of a sweep.

    ``differing`` are those of blocks with a wrong answer when all texts were asked together. ``left_out`` counts the
    blocks on which the makers of the pack did not agree, and ``unjudged`` those for which tokfast does not give what
    the pack says, so that nothing tells the right answers.
    """

    cases: dict[str, Case] = field(default_factory=dict)
    differing: set[str] = field(default_factory=set)
    left_out: int = 0
    unjudged: int = 0


@dataclass(frozen=True)
class SweepPart:
    """What is asked of each id: an operation with an input, and the field of the answer with the right value."""

    name: str
    clause: str
    operation: str
    asked: Mapping[int, Mapping[str, Any]]
    field: str
    due: Mapping[int, Any]

    def digest(self, ids: Sequence[int]) -> str:
        """Return the digest of the right values of some ids, in four hexadecimal digits."""
        due = [self.due[id] for id in ids]
        return digest_of_texts(due) if self.name == "texts" else digest_of_ids(due)


def sweep_cases(
    name: str, file: str, sweep: Sweep, choices: Mapping[str, str], model: UserModel, session: Session
) -> Swept:
    """Ask about every entry of a vocabulary, and return the cases of its blocks, to be judged like any others.

    Args:
        name: how cases are called.
        file: of the pack.
        sweep: its digests.
        choices: of the library that it is of.
        model: the user's file, from which the pack was made.
        session: with the implementation.
    """
    swept = Swept()
    for part in parts_of(sweep, choices, model):
        answers = ask_part(session, model, part)
        for block, ids in blocks_of([*part.due]):
            digest = sweep.digest(part.name, block)
            if digest != part.digest(ids):
                swept.left_out += digest == LEFT_OUT
                swept.unjudged += digest != LEFT_OUT
                continue
            wrong = [id for id in ids if answers.get(id) != part.due[id]]
            id = wrong[0] if wrong else ids[0]
            case = Case(
                f"{name}-{part.name}-{block:04}",
                (part.clause,),
                _WHY[part.name].format(ids[0], ids[-1]),
                (),
                Model(name, {}, model),
                part.operation,
                part.asked[id],
                {"expect": {part.field: part.due[id]}},
                file=file,
                line=1,
            )
            swept.cases[case.id] = case
            swept.differing |= {case.id} if wrong else set()
    return swept


def parts_of(
    sweep: Sweep, choices: Mapping[str, str], model: UserModel, blocks: Container[int] | None = None
) -> Iterator[SweepPart]:
    """Return the three parts of a sweep, with what tokfast gives; its digests are not looked at.

    Args:
        sweep: that of a pack.
        choices: of the library that it is of.
        model: the user's file, from which the pack was made.
        blocks: those that are asked about; all unless given.
    """
    with InProcessSession(TokfastAdapter(choices)) as session:
        right = Many(session, model)
        texts = [text or "" for text in right.texts_of([[id] for id in range(sweep.size)])]
        pairs = sweep_of(texts, sweep.step)
        if blocks is not None:
            pairs = {id: both for id, both in pairs.items() if id // BLOCK in blocks}
        yield SweepPart(
            "texts", "DEC-7", "decode", {id: {"ids": [id]} for id in pairs}, "text", {id: texts[id] for id in pairs}
        )
        for number, name in enumerate(("ids", "pairs")):
            asked = {id: {"text": each[number], **sweep.options} for id, each in pairs.items() if each[number]}
            ids = right.ids_of([each["text"] for each in asked.values()], sweep.options)
            yield SweepPart(name, "ENC-1", "encode", asked, "ids", dict(zip(asked, ids, strict=True)))


def ask_part(session: Session, model: UserModel, part: SweepPart) -> dict[int, Any]:
    """Return the answers to a part by id; nothing from where on the implementation gives no reply."""
    hello, silent, faults = session.hello, 0, 0

    def note(reply: Reply) -> None:
        nonlocal silent, faults
        silent = silent + 1 if isinstance(reply, Fault) and reply.kind != "crash" else 0
        faults = faults + 1 if isinstance(reply, Fault) else 0
        if isinstance(reply, Fault) and (silent >= _SILENCE or faults >= _FAULTS):
            raise AdapterFault(reply.kind, reply.message)

    if part.operation not in hello.operations:
        return {}
    many = Many(session, model, note)
    inputs: Sequence[Mapping[str, Any]] = [*part.asked.values()]
    if part.operation == "decode":
        answers: Iterator[Any] = many.texts_of([input["ids"] for input in inputs])
    else:
        known = {key for key in ("add_special_tokens",) if key in hello.encode_options}
        options = {key: value for key, value in (inputs[0] if inputs else {}).items() if key in known}
        answers = many.ids_of([input["text"] for input in inputs], options)
    found: dict[int, Any] = {}
    with suppress(AdapterFault):  # the cases of the blocks that are left are asked one by one, and say what comes
        found.update(zip(part.asked, answers, strict=False))
    return found
