"""Explain a minimized difference by its clause and the sides that deviate from the reference, and save it as a case.

The reference is asked with the choices that each side declares. So if both do what the specification says for their own
choices, neither is at fault.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import regex

from tokspec.adapter import Hello
from tokspec.adapters.registry import find_reference, open_session
from tokspec.base.display import compact, shorten
from tokspec.compare.causes import NAMES_ALONE, compare_replies
from tokspec.compare.minimize import Small
from tokspec.compare.models import digest
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request, is_unsupported
from tokspec.sessions.session import refuse_unoffered
from tokspec.suite.fixtures import load_suite
from tokspec.suite.origins import load_origins
from tokspec.suite.specification import load_specification
from tokspec.suite.writing import FoundCase, by_choice, write_case

_UNASSIGNED = regex.compile(r"\p{Cn}")

#: The clauses that define each operation; a case needs one, and the person who verifies it replaces it by a better one.
CLAUSES: Mapping[str, str] = {
    "normalize": "NORM-1",
    "pre_tokenize": "PRE-1",
    "encode": "ENC-1",
    "decode": "DEC-7",
    "decode_stream": "DEC-STREAM-1",
}

#: For each stage, the operation that shows it, and by the stage's type how the ids of its clauses begin.
_STAGES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "normalizer": (
        "normalize",
        {"bert": "NORM-BERT-", "lowercase": "NORM-LOWERCASE-", "strip_accents": "NORM-ACCENTS-"},
    ),
    "pre_tokenizer": (
        "pre_tokenize",
        {"bert": "PRE-BERT-", "byte_level": "PRE-BYTE-", "metaspace": "PRE-META-", "whitespace_split": "PRE-SPACE-"},
    ),
    "decoder": ("decode", {"byte_level": "DEC-BYTE-", "metaspace": "DEC-META-", "wordpiece": "DEC-WP-"}),
    "": ("encode", {"bpe": "BPE-ENC-", "wordpiece": "WP-ENC-", "unigram": "UNI-ENC-"}),
}


#: Returns whether both sides encode texts in the same way with a model.
Agree: TypeAlias = Callable[[Mapping[str, Any], Sequence[str]], bool]


@dataclass(frozen=True)
class Explained:
    """A minimized difference with the clause that it may be about, and the sides that deviate from the reference.

    ``leaving`` is None if the reference does not answer. ``unoffered`` has what a side does not offer but is asked for
    nonetheless, because the file is the user's own. ``known`` says that a side is a library that a format comes from,
    and is known to break the clause.
    """

    small: Small
    clause: str
    leaving: tuple[str, ...] | None
    unoffered: tuple[str, ...] = ()
    known: str = ""

    @property
    def rule(self) -> str:
        """The line about the rule; empty if the reference cannot be asked."""
        if self.unoffered:
            return f"{' and '.join(self.unoffered)}, and is not asked it by tokspec run"
        if self.leaving is None:
            return ""
        if not self.leaving:
            return "none is left: the specification allows both"
        if self.clause == "TERM-6" and (found := newer_character(str(self.small.input.get("text", "")))):
            return f"TERM-6: versions of Unicode differ in U+{ord(found):04X}, and so do the sides"
        who = f"{' and '.join(self.leaving)} differ{'s' * (len(self.leaving) == 1)} from the reference"
        if self.small.cause.what == NAMES_ALONE:
            return f"a model gets the same; {who} in names"
        return f"{self.clause}: {who}"


def explain(
    small: Small, choices: Sequence[Mapping[str, str]], hellos: Sequence[Hello] = (), agree: Agree | None = None
) -> Explained:
    """Find out which sides deviate from the reference, and at which stage.

    Args:
        small: the difference.
        choices: the choices of A and B.
        hellos: the ``hello`` of each, which says what it offers.
        agree: returns whether both encode texts in the same way with another model.
    """
    is_newer = newer_character(str(small.input.get("text", "")))
    clause = _find_beside(small, agree) if agree and not is_newer else ""
    if agree and not (is_newer or clause):
        stage = _find_stage(small, choices[0], agree)
        clause = stage and _clause_of_stage(small, stage)
    clause = clause or _clause(small)
    asked = Request(small.cause.operation, "small", small.model or {}, small.input)
    refusals = [(side, refuse_unoffered(hello, asked)) for side, hello in zip("AB", hellos, strict=False)]
    if unoffered := tuple(f"{side} {refusal.message}" for side, refusal in refusals if refusal):
        return Explained(small, clause, (), unoffered)
    if small.model is None:
        return Explained(small, clause, None)
    leaving = []
    for side, reply, declared in zip("AB", (small.outcome.a, small.outcome.b), choices, strict=True):
        right = _ask_reference(small, declared)
        if isinstance(right, Fault) or is_unsupported(right):
            return Explained(small, clause, None)
        units = (declared.get("offset_unit", "code_point"), choices[1].get("offset_unit", "code_point"))
        if compare_replies(small.cause.operation, small.input, right, reply, units).differs:
            leaving.append(side)
    known = [_known_of(clause, hello) for side, hello in zip("AB", hellos, strict=False) if side in leaving]
    return Explained(small, clause, tuple(leaving), known=next(filter(None, known), ""))


def _known_of(clause: str, hello: Hello) -> str:
    """Name the case in which a library that a format comes from is known to break a clause; empty if there is none."""
    origin = load_origins().get(hello.name)
    suite = load_suite().cases
    cases = [name for name in origin.cases if name in suite and clause in suite[name].clauses] if origin else []
    if not origin or not cases:
        return ""
    more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
    answer = origin.cases[cases[0]]
    return f"{origin} breaks {clause} in the case {cases[0]}{more}: {answer.kind}: {shorten(answer.reason, 160)}"


def _find_beside(small: Small, agree: Agree) -> str:
    """Return the clause of the component next to the model, such as truncation, without which the sides agree."""
    text, model = small.input.get("text"), small.model or {}
    if small.cause.operation != "encode" or not isinstance(text, str):
        return ""
    parts = (part for part in _BESIDE_THE_MODEL if part in model)
    without = ((part, {key: value for key, value in model.items() if key != part}) for part in parts)
    return next((_BESIDE_THE_MODEL[part] for part, rest in without if agree(rest, [text])), "")


def _find_stage(small: Small, choices: Mapping[str, str], agree: Agree) -> str:
    """Return the stage before the model at which the sides diverge: given its right output, they agree after it."""
    text, model = small.input.get("text"), small.model
    if small.cause.operation != "encode" or not model or not isinstance(text, str):
        return ""
    for stage, operation in (("normalizer", "normalize"), ("pre_tokenizer", "pre_tokenize")):
        if stage in model:
            asked = replace(small, model=model, input={"text": text}, cause=small.cause._replace(operation=operation))
            right = _ask_reference(asked, choices)
            if not isinstance(right, Answer):
                return ""
            texts = [right.result["text"]] if "text" in right.result else [piece[0] for piece in right.result["pieces"]]
            model = {name: part for name, part in model.items() if name != stage}
            if agree(model, texts):
                return stage
            text = texts[0] if stage == "normalizer" else text
    return ""


def _clause_of_stage(small: Small, stage: str) -> str:
    """Return the first clause of a stage by its type; empty if the type has no clause."""
    model = small.model or {}
    type = (model.get(stage, {}) if stage else model).get("type", "")
    beginning = _STAGES[stage][1].get(type)
    return next((id for id in load_specification().clauses if beginning and id.startswith(beginning)), "")


def _ask_reference(small: Small, choices: Mapping[str, str]) -> Reply:
    options = {name: option for name, option in choices.items() if name != "offset_unit"}
    with open_session(replace(find_reference(), choices=options), None, confined=True) as session:
        ((_, reply),) = session.ask([Request(small.cause.operation, "small", small.model or {}, small.input)])
        return reply


#: The clauses of the components around the model; a minimized model has only those that matter.
_BESIDE_THE_MODEL = {
    "padding": "PAD-1",
    "truncation": "TRUNC-1",
    "post_processor": "POST-1",
    "added_tokens": "ADDED-1",
    "special_tokens": "ADDED-1",
}


def newer_character(text: str) -> str:
    """Return the first character that one version of Unicode has and another lacks, or an empty string.

    Python and its package ``regex`` have different versions, which stand in for those of the sides.

    >>> newer_character("a\u0558"), newer_character("a\u0378")
    ('\u0558', '')
    """
    disputed = (each for each in text if (unicodedata.category(each) == "Cn") != bool(_UNASSIGNED.match(each)))
    return next(disputed, "")


def _clause(small: Small) -> str:
    """Return the first clause of the stage that is left, or the clause of the operation."""
    if newer_character(str(small.input.get("text", ""))):
        return "TERM-6"
    if small.cause.operation == "encode" and small.model:
        path = small.outcome.difference.path if small.outcome.difference else ()
        if path[:1] == ("spans",):
            return "ENC-3"
        beside = next((clause for key, clause in _BESIDE_THE_MODEL.items() if key in small.model), None)
        if beside:
            return beside
    if "end" in small.input:
        return "STREAM-1" if small.cause.where else "STREAM-3"
    for stage, (operation, _) in _STAGES.items():
        if operation == small.cause.operation and (found := _clause_of_stage(small, stage)):
            return found
    return CLAUSES.get(small.cause.operation, "ERROR-1")


def save(explained: Explained, folder: Path, names: Sequence[str], place: str) -> Path | None:
    """Write a difference as a case with its minimized model and both answers; None if there is no such model.

    Args:
        explained: the difference.
        folder: the folder for the file.
        names: the names of A and B, with their versions.
        place: the place of the text that shows it.

    Raises:
        FileExistsError: it is there already.
        DataError: it cannot be written.
    """
    small = explained.small
    if small.model is None or explained.leaving is None:
        return None
    said = "; ".join(
        f"{name} {_describe(reply)}" for name, reply in zip(names, (small.outcome.a, small.outcome.b), strict=True)
    )
    case = FoundCase(
        id=f"diff-{explained.clause.lower()}-{digest([small.model, small.cause.operation, small.input])[:8]}",
        about=f"Found by tokspec diff; not verified yet. {load_specification().clauses[explained.clause].text}",
        source=f"{names[0]} and {names[1]} were found to differ on {place}.",
        clauses=[explained.clause],
        why=f"NOT VERIFIED: {said}. Say here what the case shows.",
        model=small.model,
        operation=small.cause.operation,
        input=small.input,
        outcome=by_choice(lambda choices: _outcome(small, _ask_reference(small, choices))),
    )
    return write_case(case, folder)


def _describe(reply: Reply) -> str:
    if isinstance(reply, Answer):
        return f"gives {shorten(compact(reply.result), 200)}"
    if isinstance(reply, Refused):
        return f"refuses as {reply.reason}"
    return f"ends with {reply.kind}: {shorten(reply.message.partition(chr(10))[0], 200)}"


def _outcome(small: Small, reply: Reply) -> dict[str, Any]:
    """Return an outcome of a case; for an encoding, the fields that were compared, and the spans."""
    if isinstance(reply, Answer):
        wanted = {"tokens", "ids", "spans", *_fields(small.outcome.a), *_fields(small.outcome.b)}
        result = {name: value for name, value in reply.result.items() if name in wanted or "tokens" not in reply.result}
        return {"expect": json.loads(json.dumps(result))}
    return {"error": reply.reason if isinstance(reply, Refused) else reply.kind}


def _fields(reply: Reply) -> Mapping[str, Any]:
    return reply.result if isinstance(reply, Answer) else {}
