"""One thing asked of one model, as plain values that can be changed and written down."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tokspec.sessions import Request

__all__ = ["Example", "has_surrogate"]

#: A lone surrogate, as ``repr`` writes it.
_SURROGATE = re.compile(r"\\ud[89a-f]")


@dataclass(frozen=True)
class Example:
    """A model, an operation and its input; ``origin`` names the family and the number from which it came."""

    model: Mapping[str, Any]
    operation: str
    input: Mapping[str, Any]
    origin: str = ""

    @cached_property
    def model_key(self) -> str:
        """What no other model has."""
        return _json(self.model)

    @property
    def size(self) -> int:
        """How long it is, in characters of JSON.

        >>> Example({}, "normalize", {"text": "a"}).size
        14
        """
        return len(self.model_key) + len(_json(self.input))

    @property
    def key(self) -> str:
        """What no other example has.

        >>> Example({}, "normalize", {"text": "a"}).key
        'normalize {"text":"a"} {}'
        """
        return f"{self.operation} {_json(self.input)} {self.model_key}"

    def request(self, name: str) -> Request:
        """Make the request, with a name for its model."""
        return Request(self.operation, name, self.model, self.input)


def has_surrogate(input: Mapping[str, Any]) -> bool:
    r"""Say whether a text of an input has a lone surrogate.

    >>> has_surrogate({"text": "a\ud800"}), has_surrogate({"tokens": ["a"]})
    (True, False)
    """
    return bool(_SURROGATE.search(repr(input)))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
