"""The formats in which an implementation can get a model of the fixtures, and from which a model can be read.

:func:`write` and :func:`read` take the name of a format; :func:`refuse_input` refuses the inputs for which a file means
something different from the model that was written. Other packages also use :mod:`~tokspec.formats.user_model`, a model
that is a user's own file; :mod:`~tokspec.formats.on_disk`, which finds and saves files;
:mod:`~tokspec.formats.neutral`, with functions for any model; and the names that a format's module lists in its
``__all__``, such as the characters that stand for bytes in :mod:`~tokspec.formats.tiktoken_ranks`.

The ``content`` that is sent is JSON-safe in every format:

* ``tokspec``: the model itself, see :mod:`tokspec.formats.neutral`;
* ``tokenizer.json``, ``tokenizer.json-legacy`` and ``tekken.json``: the object that is in the file;
* all others: ``{"files": {…}, "beside": {…}}``. ``files`` maps the name of each file to its text, or to ``{"base64":
  "…"}`` if the file is binary. ``beside`` holds what the files lack and their loaders take as arguments: the keys of
  the model as the fixtures write them, with every default filled in; a key that is absent is absent from the model.
  Each module documents its ``beside``.

A model that a format cannot express is refused as ``unsupported``, with the reason; every file that is written has the
same meaning to a loader as the model. ``sentencepiece.model`` and ``vocab.gguf`` need the packages of the extra
``formats``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats import neutral
from tokspec.formats.files import beside, refuse_surrogates
from tokspec.suite.components import needed_components

__all__ = ["FORMATS", "READERS", "is_as_before_limits", "read", "refuse_input", "write", "write_as_of"]


def _of(module: str, function: str) -> Callable[[Any], Any]:
    """Return a function of a module that is imported on first use, because an implementation uses one format."""
    return lambda content: getattr(import_module(f"tokspec.formats.{module}"), function)(content)


#: The formats of ``spec/10-protocol.md``; a new one is a module with a writer and a row here.
FORMATS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "tokspec": neutral.fill_defaults,
    "tokenizer.json": _of("tokenizer_json", "write"),
    "tokenizer.json-legacy": _of("tokenizer_json", "write_legacy"),
    "vocab.json+merges.txt": _of("vocab_files", "write_bpe"),
    "vocab.txt": _of("vocab_files", "write_wordpiece"),
    "sentencepiece.model": _of("sentencepiece_model", "write"),
    "vocab.tiktoken": _of("tiktoken_ranks", "write"),
    "vocab.gguf": _of("gguf_vocabulary", "write"),
}

#: The formats that the suite reads.
READERS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "tokspec": neutral.read,
    "tokenizer.json": _of("tokenizer_json", "read"),
    "tokenizer.json-legacy": _of("tokenizer_json", "read"),
    "vocab.json+merges.txt": _of("vocab_files", "read_bpe"),
    "vocab.txt": _of("vocab_files", "read_wordpiece"),
    "sentencepiece.model": _of("sentencepiece_model", "read"),
    "vocab.tiktoken": _of("tiktoken_ranks", "read"),
    "tekken.json": _of("tekken_json", "read"),
}


_as_before_limits = [False]


def write_as_of(version: str | None) -> None:
    """Write files as an older version of the suite did, for gates from that time; without a version, as today.

    Before 0.3.0, no model and no input was refused for the limits of a format, and the file of a model that has only
    stages had no token, by which adapters recognized it.
    """
    _as_before_limits[0] = version is not None and tuple(map(int, version.split("."))) < (0, 3)


def is_as_before_limits() -> bool:
    """Return whether files are written as before 0.3.0."""
    return _as_before_limits[0]


#: The formats that are limited to some inputs, see :mod:`tokspec.formats.limits`.
_LIMITED = ("sentencepiece.model", "vocab.gguf")


def write(format: str, content: Mapping[str, Any]) -> Any:
    """Write a model of the fixtures in a format.

    Raises:
        Unsupported: the format is not known or cannot express the model; the message says which and why.
        DataError: the format needs a package that is not installed.

    >>> write("tokspec", {"pre_tokenizer": {"type": "byte_level"}})
    {'pre_tokenizer': {'type': 'byte_level', 'add_prefix_space': False, 'use_regex': True}}
    >>> write("spm", {})
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: no writer for the format spm
    """
    writer = FORMATS.get(format)
    if writer is None:
        raise Unsupported(f"no writer for the format {format}")
    if format not in ("tokspec", "sentencepiece.model"):
        _refuse_sentencepiece(content, format)
    return writer(content)


def refuse_input(format: str, content: Mapping[str, Any], input: Mapping[str, Any]) -> None:
    """Refuse an input for which the file of a model, in a format that expresses the model, means something else.

    Raises:
        Unsupported: the format has a limit, which the message names.
    """
    if format in _LIMITED and not is_as_before_limits():
        import_module("tokspec.formats.limits").refuse_input(format, content, input)


def _refuse_sentencepiece(model: Mapping[str, Any], format: str) -> None:
    """Refuse components that no other format has a place for, even in a sequence."""
    for name in needed_components(model):
        if name.rpartition("/")[2] in ("sentencepiece", "scores", "piece_types"):
            raise Unsupported(f"{format} has no place for {name}, which this model needs")


def read(format: str, content: Any) -> dict[str, Any]:
    """Read a model of the fixtures, with every default filled in, from a format.

    Raises:
        DataError: the content is not of the format, or holds what the specification does not cover, with file and key.

    >>> read("vocab.txt", {"files": {"vocab.txt": "[UNK]"}})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'type': 'wordpiece', 'unknown_token': '[UNK]', 'continuing_prefix': '##', 'max_word_length': 100,
     'vocabulary': ['[UNK]']}
    """
    if format not in READERS:
        raise DataError(f"the suite does not read {format}; it reads {', '.join(READERS)}")
    try:
        model = READERS[format](content)
        refuse_surrogates(model, format)
        told = beside(content) if isinstance(content, Mapping) and "files" in content else {}
        _validate(model, format, told)
        return neutral.fill_defaults(model)
    except Unsupported as refusal:
        raise DataError(refusal.message, format) from None
    except RecursionError:
        raise DataError("is nested too deeply", format) from None


def _validate(model: Mapping[str, Any], format: str, told: Mapping[str, Any]) -> None:
    """Refuse a model that the schema does not allow; ``told`` are the keys of ``beside``."""
    from tokspec.suite import schema  # here, because it needs a package that adapters in other environments don't

    try:
        found = list(schema.errors(model, "model"))
    except ValueError:
        raise DataError("is nested too deeply", format) from None
    for path, message in found:
        place = ("beside", *path) if path and path[0] in told else path
        raise DataError(message, format, key=".".join(map(str, place)))
