"""Code that file formats share: the JSON-safe ``content`` in which files are sent, and strict reading of their texts.

``{"files": {name: text}, "beside": {…}}``, where a binary file is ``{"base64": "…"}`` instead of its text. ``beside``
holds what the files lack and a loader of such files takes as arguments, as the fixtures write it, with every default
filled in. Content without ``beside`` is the files as they are published.

Texts are JSON or lines, written so that every loader reads the same. Binary formats need packages that the rest of the
suite does not need, and import them when the format is first used.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from tokspec.base.errors import DataError, Unsupported

_SURROGATE = re.compile("[\ud800-\udfff]")


def pack(files: Mapping[str, str | bytes], told: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Build the content from files, with ``told`` as ``beside``; None leaves ``beside`` out.

    >>> pack({"vocab.txt": "hug", "sentencepiece.model": b"hug"}, {})
    {'files': {'vocab.txt': 'hug', 'sentencepiece.model': {'base64': 'aHVn'}}, 'beside': {}}
    """
    packed = {
        name: file if isinstance(file, str) else {"base64": b64encode(file).decode("ascii")}
        for name, file in files.items()
    }
    return {"files": packed} if told is None else {"files": packed, "beside": told}


def unpack(content: Any, *names: str) -> list[bytes]:
    """Return the bytes of the named files of a content; if one file is named, a lone file may have any name.

    Raises:
        DataError: a file is missing, or is not a file.

    >>> unpack({"files": {"bert.txt": "hug"}}, "vocab.txt")
    [b'hug']
    """
    files = content.get("files") if isinstance(content, Mapping) else None
    if not isinstance(files, Mapping):
        raise DataError("is not the content of files, which is an object with the key files")
    if len(names) == len(files) == 1:
        return [_bytes(file, name) for name, file in files.items()]
    missing = [name for name in names if name not in files]
    if missing:
        raise DataError(f"is missing; the format is the files {' and '.join(names)}", missing[0])
    return [_bytes(files[name], name) for name in names]


def _bytes(file: Any, name: str) -> bytes:
    try:
        if isinstance(file, str):
            return file.encode("utf-8")
        return b64decode(file["base64"], validate=True)
    except (KeyError, TypeError, ValueError):  # bad base64 and a lone surrogate raise the last one
        raise DataError('is neither a text nor {"base64": …}', name) from None


def beside(content: Mapping[str, Any], otherwise: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return ``beside`` of a content of files, or ``otherwise`` if the content has none.

    Raises:
        DataError: it is not an object.

    >>> beside({"files": {}}, {"decoder": {"type": "byte_level"}})
    {'decoder': {'type': 'byte_level'}}
    """
    found = content.get("beside", otherwise or {})
    if not isinstance(found, Mapping):
        raise DataError("is not an object", key="beside")
    return dict(found)


def without(model: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a model without some of its keys, such as those that the files hold.

    >>> without({"type": "bpe", "merges": []}, "merges")
    {'type': 'bpe'}
    """
    return {key: value for key, value in model.items() if key not in keys}


def dump_json(value: Any) -> str:
    """Write JSON on one line that ends with a line feed.

    >>> dump_json({"Ġ": 0})
    '{"Ġ": 0}\\n'
    """
    return json.dumps(value, ensure_ascii=False) + "\n"


def load_json(data: bytes, name: str) -> Any:
    """Read a JSON file; no object may have a key twice, because one of two equal tokens would be lost.

    Raises:
        DataError: the file is wrong; the error has the line.

    >>> load_json(b'{"a": 0, "a": 1}', "vocab.json")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: vocab.json: has the key 'a' twice; keep one
    """

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise DataError(f"has the key {key!r} twice; keep one", name)
            found[key] = value
        return found

    def refuse(constant: str) -> None:
        raise DataError(f"has {constant}, which is not a JSON number", name)

    try:
        return json.loads(_decode(data, name), object_pairs_hook=distinct, parse_constant=refuse)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise DataError(f"is not JSON: {what} at column {error.colno}", name, error.lineno) from None
    except ValueError:  # Python reads no integer of more than 4300 digits
        raise DataError("has an integer of thousands of digits", name) from None
    except RecursionError:
        raise DataError("is nested too deeply", name) from None


def lines_of(data: bytes, name: str) -> list[str]:
    """Return the lines of a text, without their line ends; the last line need not have one.

    Raises:
        DataError: the text is not UTF-8.

    >>> lines_of(b"u g\\r\\nh ug\\n", "merges.txt")
    ['u g', 'h ug']
    """
    lines = _decode(data, name).split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 at byte {error.start}; save it as UTF-8", name) from None


def white_space(token: str) -> bool:
    """Return whether a token is empty or has a character at which some loader splits or strips lines.

    >>> [white_space(token) for token in ("hug", "", "a b", "\\x85")]
    [False, True, True, True]
    """
    return token == "" or any(character.isspace() for character in token)


def refuse_surrogates(value: Any, format: str) -> None:
    """Refuse a lone surrogate in any string of a value, its keys among them: files are UTF-8.

    Raises:
        Unsupported: there is one; the message names the string.

    >>> refuse_surrogates({"merges": [["a", "b"]]}, "vocab.json")
    """
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise Unsupported(f"{format} is UTF-8 and cannot hold the lone surrogate in {value!r}")
        return
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    for member in value if isinstance(value, list) else ():
        refuse_surrogates(member, format)


def import_package(module: str, format: str) -> Any:
    """Import a module of the extra ``formats``.

    Raises:
        DataError: it is not installed. That is not a refusal: the format could express the model.

    >>> import_package("no_such_package.part", "sentencepiece.model")
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: the format sentencepiece.model needs the package no_such_package;
        install it with pip install no_such_package
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).split(".")[0]
        how = f"install it with pip install {_DISTRIBUTIONS.get(package, package)}"
        name = "protobuf" if package == "google" else package
        raise DataError(f"the format {format} needs the package {name}; {how}") from None


#: The name for pip of a package that is imported under another name, or that needs another package here.
_DISTRIBUTIONS = {"google": "protobuf", "sentencepiece": "sentencepiece protobuf"}
