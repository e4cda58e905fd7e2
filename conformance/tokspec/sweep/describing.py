"""Who is compared, from what a person gave to the description in the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokspec.adapter import Hello
from tokspec.adapters.tokfast import WITH_CHOICES
from tokspec.base.errors import DataError
from tokspec.formats.user_model import UserModel
from tokspec.judge.verdicts import effective_choices
from tokspec.sessions.limits import Limits
from tokspec.sweep.models import content_for, digest
from tokspec.sweep.sides import hello_of

__all__ = ["Named", "described", "field_of"]

Named = Mapping[str, str | None]
"""``impl`` or ``command``; the other is None."""


def described(
    named: Sequence[Named], models: Sequence[UserModel], limits: Limits, choices: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[Any], str]:
    """Describe both sides, and give what each loads, and the field of a result that is compared.

    The reference and tokfast take the choices of the other side.

    Args:
        named: the two implementations.
        models: of each.
        limits: of their processes.
        choices: to which the first is held, whatever it declares.

    Raises:
        DataError: one cannot be started or cannot take its model, or nothing that both give can be compared.
    """
    hellos = [hello_of(side, limits) for side in named]
    loaded = [_loaded(hello, model) for hello, model in zip(hellos, models, strict=True)]
    sides = []
    for side, hello, (format, content), other in zip(named, hellos, loaded, reversed(hellos), strict=True):
        taken = _choices(effective_choices(other, choices)) if side["impl"] in WITH_CHOICES else {}
        who = {**side, "name": hello.name, "version": hello.version}
        sides.append({**who, "format": format, "model": digest(content), "choices": taken})
    return sides, [content for _, content in loaded], field_of([hello.encode_fields for hello in hellos])


def _loaded(hello: Hello, model: UserModel) -> tuple[str, Any]:
    if "encode" not in hello.operations:
        raise DataError("does not offer encode", key=hello.name)
    return content_for(model, hello.formats, hello.name)


def _choices(declared: Mapping[str, str]) -> dict[str, str]:
    return {name: option for name, option in declared.items() if name != "offset_unit"}


def field_of(fields: Sequence[Sequence[str]]) -> str:
    """Say what to compare: ids if both give them, else tokens.

    Raises:
        DataError: they have neither in common.

    >>> field_of([("tokens", "ids"), ("tokens",)])
    'tokens'
    """
    for field in ("ids", "tokens"):
        if all(field in each for each in fields):
            return field
    raise DataError("one gives ids alone and the other tokens alone; there is nothing to compare")
