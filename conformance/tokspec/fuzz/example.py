"""One thing asked of one model, as plain values that can be changed and written down."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tokspec.protocol.messages import Request

__all__ = ["Example", "has_surrogate", "texts_of", "tokens_of"]

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


def tokens_of(model: Mapping[str, Any]) -> list[str]:
    """Return the tokens of a model in the order of their ids.

    >>> tokens_of({"type": "unigram", "tokens": [["a", -1]]}), tokens_of({"type": "bpe", "vocabulary": ["b"]})
    (['a'], ['b'])
    """
    return list(model.get("vocabulary", ())) or [token for token, _ in model.get("tokens", ())]


def texts_of(input: Mapping[str, Any]) -> str:
    """Return the texts of an input that go through stages, as one.

    >>> texts_of({"corpus": {"texts": ["a", "b"]}}), texts_of({"corpus": {"words": [["a", 1]]}})
    ('ab', '')
    """
    texts: list[str] = [input.get("text", ""), *input.get("corpus", {}).get("texts", ())]
    return "".join(texts)


def has_surrogate(input: Mapping[str, Any]) -> bool:
    r"""Say whether a text of an input has a lone surrogate.

    >>> has_surrogate({"text": "a\ud800"}), has_surrogate({"tokens": ["a"]})
    (True, False)
    """
    return bool(_SURROGATE.search(repr(input)))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
