"""What a failing case costs the user of a model: a wrong id is worse than a wrong name of a token.

The effects of a case are those of all its rows, and of all fields of an answer that differ, worst first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

from tokspec.judge.compare import first_difference


class Effect(Enum):
    """What a failure costs, worst first."""

    MODEL_INPUT = "model input"
    TEXT = "text"
    POSITIONS = "positions"
    NAMES = "names"
    REFUSAL = "refusal"
    CRASH = "crash"
    INSPECTION = "inspection and training"


#: The operations that return the input of a model, and the fields of this input.
ENCODING = ("encode", "encode_batch", "encode_parts")
MODEL_INPUT = frozenset(("ids", "type_ids", "attention_mask"))

#: The effects of the fields of an encoding. A different number of parts is a different input of the model.
_FIELDS = {
    **dict.fromkeys((*MODEL_INPUT, "overflowing", "encodings"), Effect.MODEL_INPUT),
    **dict.fromkeys(("spans", "word_ids", "sequence_ids", "special_tokens_mask"), Effect.POSITIONS),
    "tokens": Effect.NAMES,
}

_DECODING = ("decode", "decode_stream", "decode_until", "decode_bytes", "decode_with_offsets")

#: The fields of a decoded text that are positions in it.
_PLACES = ("offsets",)


def in_order(effects: Iterable[Effect]) -> tuple[Effect, ...]:
    """Return each effect once, worst first.

    >>> in_order([Effect.NAMES, Effect.MODEL_INPUT, Effect.NAMES])
    (<Effect.MODEL_INPUT: 'model input'>, <Effect.NAMES: 'names'>)
    """
    found = set(effects)
    return tuple(effect for effect in Effect if effect in found)


def effects_of(
    operation: str, right: Mapping[str, Any], given: Mapping[str, Any], tolerance: Mapping[str, float], *, ids: bool
) -> tuple[Effect, ...]:
    """Return the effects of the differences between two results, worst first.

    Args:
        operation: the operation.
        right: the compared part of the right result.
        given: the compared part of the answer.
        tolerance: the tolerance of real numbers.
        ids: whether the implementation gives ids; if it gives none, its tokens are the input of a model.

    >>> effects_of("encode", {"tokens": ["a"], "ids": [1]}, {"tokens": ["b"], "ids": [1]}, {}, ids=True)
    (<Effect.NAMES: 'names'>,)
    """
    return in_order(_of_field(operation, field, ids) for field in _differing(right, given, tolerance))


def asked_effects(operation: str, results: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> tuple[Effect, ...]:
    """Return the effects that a case can show; for an encoding, those of the fields that both sides have.

    Args:
        operation: the operation of the case.
        results: the right results.
        fields: the fields of an encoding that the implementation gives.
    """
    return _asked(operation, frozenset(name for result in results for name in _names(result)), tuple(fields))


@cache
def _asked(operation: str, names: frozenset[str], fields: tuple[str, ...]) -> tuple[Effect, ...]:
    wanted = [name for name in names if operation not in ("encode", "encode_batch") or name in fields]
    return in_order(_of_field(operation, name, "ids" in fields) for name in wanted)


def _of_field(operation: str, field: str, ids: bool) -> Effect:
    if operation in _DECODING:
        return Effect.POSITIONS if field in _PLACES else Effect.TEXT
    if operation not in ENCODING:
        return Effect.INSPECTION
    return Effect.MODEL_INPUT if field == "tokens" and not ids else _FIELDS[field]


def _differing(right: Mapping[str, Any], given: Mapping[str, Any], tolerance: Mapping[str, float]) -> Iterator[str]:
    """Name the fields in which two results differ, including those of their encodings and overflowing parts."""
    for field in {**right, **given}:
        ours, theirs = right.get(field), given.get(field)
        if field in ("encodings", "overflowing") and isinstance(ours, list) and isinstance(theirs, list):
            if len(ours) != len(theirs):
                yield field
            for one, other in zip(ours, theirs, strict=False):
                yield from _differing(one, other, tolerance)
        elif first_difference(ours, theirs, tolerance) is not None:
            yield field


def _names(result: Mapping[str, Any]) -> Iterator[str]:
    for field, value in result.items():
        yield field
        if field in ("encodings", "overflowing"):
            for part in value:
                yield from _names(part)
