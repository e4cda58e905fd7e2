"""Hugging Face ``tokenizers`` with a file of one's own: asked for what it does, held to nothing.

:mod:`tokspec.adapters.huggingface` refuses what the library is known to do otherwise than the specification. Who
records what the library does wants just that too, and wants the file loaded as it is, with truncation and padding if
it asks for them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer

from tokspec.adapter import require_unicode
from tokspec.adapters.huggingface import OPERATIONS, TokenizersAdapter, encode, translated

__all__ = ["AddingTokenizers", "OwnTokenizers"]


class OwnTokenizers(TokenizersAdapter):
    """The library as it is, without the special tokens that a post-processor adds (ENC-1).

    >>> adapter = OwnTokenizers()
    >>> content = {"model": {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": ["u g"]}}
    >>> adapter.run("encode", adapter.load("tokenizer.json", content), {"text": "ug"})["tokens"]
    ['ug']
    """

    #: Whether what a post-processor adds is part of an encoding.
    adds = False

    def load(self, format: str, content: Any) -> Tokenizer:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``invalid_model``, for a merge that is not in the vocabulary.
        """
        return translated(lambda: Tokenizer.from_str(json.dumps(content)))

    def run(self, operation: str, model: Tokenizer, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        if operation == "encode":
            return translated(lambda: encode(model, input, self.adds))
        return translated(lambda: OPERATIONS[operation](model, input))


class AddingTokenizers(OwnTokenizers):
    """The library as it is, with the special tokens that a post-processor adds."""

    adds = True
