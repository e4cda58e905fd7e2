"""Models that are files: the JSON-safe ``content`` in which they travel, and how it is taken apart.

``{"files": {name: text}, "beside": {…}}``, where a binary file is ``{"base64": "…"}`` instead of its text. ``beside``
holds what the files do not say, as the fixtures write it with every default filled in: what a loader of such files is
told by arguments. Content without ``beside`` is what people find on a disk.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import DataError

__all__ = ["beside", "pack", "unpack", "without"]


def pack(files: Mapping[str, str | bytes], told: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Make the content of files and of what is told beside them; no ``beside`` is made of None.

    >>> pack({"vocab.txt": "hug", "sentencepiece.model": b"hug"}, {})
    {'files': {'vocab.txt': 'hug', 'sentencepiece.model': {'base64': 'aHVn'}}, 'beside': {}}
    """
    packed = {
        name: file if isinstance(file, str) else {"base64": b64encode(file).decode("ascii")}
        for name, file in files.items()
    }
    return {"files": packed} if told is None else {"files": packed, "beside": dict(told)}


def unpack(content: Any, *names: str) -> list[bytes]:
    """Return the bytes of the named files of a content; another name is taken for the one file that it is alone.

    Raises:
        DataError: a file is missing, or what should be one is none.

    >>> unpack({"files": {"bert.txt": "hug"}}, "vocab.txt")
    [b'hug']
    """
    files = content.get("files") if isinstance(content, Mapping) else None
    if not isinstance(files, Mapping):
        raise DataError("is no content of files; it needs an object with the key files")
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
    except (KeyError, TypeError, ValueError):  # the last is also what is no base64, and a lone surrogate
        raise DataError('is neither a text nor {"base64": …}', name) from None


def beside(content: Mapping[str, Any], otherwise: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what is told beside the files of a content, or something else where nothing is.

    Raises:
        DataError: it is no object.

    >>> beside({"files": {}}, {"decoder": {"type": "byte_level"}})
    {'decoder': {'type': 'byte_level'}}
    """
    found = content.get("beside", otherwise or {})
    if not isinstance(found, Mapping):
        raise DataError("is no object", key="beside")
    return dict(found)


def without(model: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a model without some of its keys: those that the files hold.

    >>> without({"type": "bpe", "merges": []}, "merges")
    {'type': 'bpe'}
    """
    return {key: value for key, value in model.items() if key not in keys}
