"""Judging by a sweep: every entry of a vocabulary is tried, and each block of 64 entries is a case.

tokfast gives the right answers. The digests of the pack confirm them, because they were computed from results on which
tokfast and the library of the format agreed. A case is about the first text of its block that the implementation gets
wrong, or about the first text if it gets none wrong.
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

#: How many messages in a row may have no reply in time, or a fault of any kind, before the rest is no longer sent
#: together.
_SILENCE = 3
_FAULTS = 50


#: The description of a case of each part, with its first and its last id.
_WHY = {
    "texts": "each of the ids {} to {}, decoded alone",
    "ids": "the texts of the ids {} to {}; most come back as one id",
    "pairs": "the texts of the ids {} to {}, each with another after it; most come back as two ids",
}


@dataclass
class Swept:
    """The cases of a sweep.

    ``differing`` are the cases of blocks with a wrong answer when all texts were sent together. ``left_out`` counts the
    blocks on which the makers of the pack did not agree, and ``unjudged`` those for which tokfast does not confirm the
    pack, so that the right answers are not known.
    """

    cases: dict[str, Case] = field(default_factory=dict)
    differing: set[str] = field(default_factory=set)
    left_out: int = 0
    unjudged: int = 0


@dataclass(frozen=True)
class SweepPart:
    """The requests of one part by id: an operation with an input, the field of the answer, and its right value."""

    name: str
    clause: str
    operation: str
    asked: Mapping[int, Mapping[str, Any]]
    field: str
    due: Mapping[int, Any]

    def digest(self, ids: Sequence[int]) -> str:
        """Return the digest of the right values for some ids, in four hexadecimal digits."""
        due = [self.due[id] for id in ids]
        return digest_of_texts(due) if self.name == "texts" else digest_of_ids(due)


def sweep_cases(
    name: str, file: str, sweep: Sweep, choices: Mapping[str, str], model: UserModel, session: Session
) -> Swept:
    """Try every entry of a vocabulary, and return the cases of its blocks, to be judged like any others.

    Args:
        name: the beginning of the cases' ids.
        file: the file of the pack.
        sweep: the digests of the pack.
        choices: the choices of the library from which it comes.
        model: the user's file, from which the pack was made.
        session: a session with the implementation.
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
    """Return the three parts of a sweep, with tokfast's results; the digests are not checked.

    Args:
        sweep: the sweep of a pack.
        choices: the choices of the library from which it comes.
        model: the user's file, from which the pack was made.
        blocks: the blocks to try; all unless given.
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
    """Return the answers to a part by id; there are none from the point where the implementation stops replying."""
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
    with suppress(AdapterFault):  # the cases of the blocks that are left are run one by one, and show the fault
        found.update(zip(part.asked, answers, strict=False))
    return found
