"""The formats in which a model of the fixtures can be handed to an implementation, one writer each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.errors import Unsupported
from tokspec.formats import neutral, tokenizer_json

__all__ = ["FORMATS", "write"]

#: The formats of ``spec/10-protocol.md``; a new one is a module with a writer and a row here.
FORMATS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "tokspec": neutral.fill_defaults,
    "tokenizer.json": tokenizer_json.write,
}


def write(format: str, content: Mapping[str, Any]) -> Any:
    """Write a model of the fixtures in a format.

    Raises:
        Unsupported: the format is not known or cannot express the model; the message says which and why.

    >>> write("tokspec", {"pre_tokenizer": {"type": "byte_level"}})
    {'pre_tokenizer': {'type': 'byte_level', 'add_prefix_space': False, 'use_regex': True}}
    >>> write("spm", {})
    Traceback (most recent call last):
        ...
    tokspec.errors.Unsupported: unsupported: no writer for the format spm
    """
    writer = FORMATS.get(format)
    if writer is None:
        raise Unsupported(f"no writer for the format {format}")
    return writer(content)
