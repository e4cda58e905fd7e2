"""The interface of an implementation in Python, and the description that it gives of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tokspec.base.errors import Refusal, Unsupported

__all__ = ["Adapter", "Hello", "Refusal", "Unsupported", "require_unicode"]


@dataclass(frozen=True)
class Hello:
    """An implementation's description of itself: the answer to ``hello`` in ``spec/10-protocol.md``.

    >>> Hello("mytok", "0.3", "C", operations=("encode",)).formats
    ('tokspec',)
    """

    name: str
    version: str
    language: str
    operations: tuple[str, ...]
    formats: tuple[str, ...] = ("tokspec",)
    choices: Mapping[str, str] = field(default_factory=dict)
    encode_fields: tuple[str, ...] = ("tokens",)
    unicode: str = ""
    other_trainers: Mapping[str, str] = field(default_factory=dict)
    encode_options: tuple[str, ...] = ()
    decode_options: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    reads_file: bool = False
    many: tuple[str, ...] = ()
    like: str = ""


class Adapter(Protocol):
    """An implementation that the suite can judge.

    ``load`` gets a model in the first of ``hello().formats`` that can express it, and returns whatever ``run`` needs as
    its ``model``. ``run`` performs one operation and returns its result as ``spec/10-protocol.md`` lists it. Both raise
    ``Refusal(reason, message)`` with a reason of ``spec/09-errors.md``, or ``Unsupported(message)``; any other
    exception is a crash. A model that contradicts itself may be refused in either. Every string is a ``str``, even one
    with a lone surrogate, and a corpus is the corpus itself, never its name.

    >>> class Characters:
    ...     def hello(self):
    ...         return Hello("characters", "1", "Python", operations=("encode",))
    ...     def load(self, format, content):
    ...         return content
    ...     def run(self, operation, model, input):
    ...         return {"tokens": list(input["text"])}
    >>> Characters().run("encode", {}, {"text": "bug"})
    {'tokens': ['b', 'u', 'g']}
    """

    def hello(self) -> Hello: ...

    def load(self, format: str, content: Any) -> Any: ...

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]: ...


def require_unicode(input: Mapping[str, Any]) -> None:
    """Refuse an input with a lone surrogate, for a library that works on UTF-8.

    Raises:
        Unsupported: a string in the input has no form in UTF-8.

    >>> require_unicode({"text": "bug"})
    >>> require_unicode({"text": "\\ud800"})
    Traceback (most recent call last):
    ...
    tokspec.base.errors.Unsupported: unsupported: takes Unicode text, and a lone surrogate is none
    """
    try:
        json.dumps(input, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Unsupported("takes Unicode text, and a lone surrogate is none") from None
