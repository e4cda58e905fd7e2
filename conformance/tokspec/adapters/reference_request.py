"""What an operation of the reference is asked with: the input's values, each of the type that it has to be of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import tokref
from tokref import Choices, InputError, Tokenizer

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """A tokenizer, the choices, and the input of an operation; a value of a wrong type is refused as ``invalid_input``.

    >>> Request(Tokenizer(), Choices(), {"text": "bug"}).text("text")
    'bug'
    """

    tokenizer: Tokenizer
    choices: Choices
    input: Mapping[str, Any]

    @property
    def model(self) -> Any:
        """The model, which the table of operations has found to be of the right type."""
        return self.tokenizer.model

    @property
    def special_tokens(self) -> Sequence[str]:
        """The special tokens in their order."""
        return self.tokenizer.special_tokens

    def words(self) -> tokref.Words:
        """Give the words of the corpus."""
        return tokref.read_words(self.input.get("corpus", {}), self.tokenizer, self.choices)

    def text(self, key: str) -> str:
        """Give a string."""
        value = self.input.get(key)
        if not isinstance(value, str):
            raise InputError("invalid_input", f"{key} is to be a string, not {value!r}")
        return value

    def number(self, key: str) -> int:
        """Give an integer that has to be there."""
        value = self.input.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise InputError("invalid_input", f"{key} is to be an integer, not {value!r}")
        return value

    def fraction(self) -> float:
        """Give the fraction that a pruning step removes."""
        value = self.input.get("fraction")
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise InputError("invalid_input", f"fraction is to be a number, not {value!r}")
        return value

    def texts(self, key: str) -> list[str]:
        """Give a list of strings."""
        return [Request(self.tokenizer, self.choices, {key: item}).text(key) for item in self._list(key)]

    def numbers(self, key: str) -> list[int]:
        """Give a list of integers."""
        return [Request(self.tokenizer, self.choices, {key: item}).number(key) for item in self._list(key)]

    def first(self, rows: Sequence[Any]) -> list[Any]:
        """Cut a complete list after as many rows as are wanted."""
        return list(rows) if "first" not in self.input else list(islice(rows, self.number("first")))

    def steps(self) -> int:
        """Give how many merges have been done."""
        return self.number("steps") if "steps" in self.input else 0

    def target(self) -> tokref.Target:
        """Give when BPE training stops."""
        given = {
            key: self.number(key) for key in ("vocabulary_size", "merge_count", "min_frequency") if key in self.input
        }
        if not given.keys() - {"min_frequency"}:
            raise InputError("invalid_input", "training needs vocabulary_size or merge_count")
        return tokref.Target(**given)

    def _list(self, key: str) -> list[Any]:
        value = self.input.get(key)
        if not isinstance(value, list | tuple):
            raise InputError("invalid_input", f"{key} is to be a list, not {value!r}")
        return list(value)
