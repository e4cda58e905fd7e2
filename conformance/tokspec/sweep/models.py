"""What each side loads: the user's own file as it is, where its format is loaded, and written anew for the others.

The file may be the one that a pack was made with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError, Unsupported
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.packs.reading import find_model, is_named_as_pack, read_pack

__all__ = ["content_for", "digest", "model_of"]


def model_of(file: Path, format: str | None) -> UserModel:
    """Read a model: a file of one of the formats, or a pack, with whose model something is swept.

    Raises:
        DataError: it cannot be read, or the pack's model is neither beside it nor in the current folder.

    >>> model_of(Path("no such pack.yaml.gz"), None)
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: no such pack.yaml.gz: cannot be read: No such file or directory
    """
    if format is None and is_named_as_pack(file.name):
        return find_model(read_pack(file))
    return read_user_model(file, format)


def content_for(own: UserModel, accepted: Sequence[str], name: str) -> tuple[str, Any]:
    """Return a format and the content for an implementation.

    Args:
        own: the model.
        accepted: formats, the preferred first.
        name: of the implementation.

    Raises:
        DataError: none of the formats can express it.

    >>> content_for(UserModel("tokenizer.json", {"model": {}}, "t.json", ""), ["vocab.txt", "tokenizer.json"], "mine")
    ('tokenizer.json', {'model': {}})
    """
    reasons = []
    for format in own.ordered(accepted):
        try:
            return format, own.write(format)
        except Unsupported as refusal:
            reasons.append(refusal.message)
    raise DataError(f"cannot be given to {name}: {'; '.join(reasons) or 'it accepts no format'}", own.name)


def digest(content: Any) -> str:
    """Return what no other content has.

    >>> digest({"a": 1})[:8]
    '015abd7f'
    """
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
