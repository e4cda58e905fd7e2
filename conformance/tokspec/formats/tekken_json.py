"""``tekken.json``: mistral-common's byte-level BPE by ranks, with the pattern and special tokens in the same file.

Special tokens have the first ids, ``default_num_special_tokens`` of them, and are named ``<SPECIAL_7>`` if the file has
no name; files up to version 7 need not name any. The ids of other tokens follow theirs, by rank; ranks beyond
``default_vocab_size`` are left out. mistral-common does not look for special tokens in a text: ``encode`` behaves as
with an empty list as ``allowed_special``.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from tokspec.base.display import compact, shorten
from tokspec.base.errors import DataError
from tokspec.formats.neutral import by_id
from tokspec.formats.tiktoken_ranks import from_bytes, merges_of, stages_of

FORMAT = "tekken.json"

#: The names that mistral-common uses for files without special tokens.
_NAMES = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
#: The last version whose files need not name special tokens.
_LAST_UNNAMED = 7
#: A bound, because a file of a few bytes may claim a billion special tokens; mistral-common has 1,000.
_MOST_SPECIAL = 2**16


def read(content: Any) -> dict[str, Any]:
    """Read the object in the file.

    Raises:
        DataError: a value is missing or wrong; the error has its key.

    >>> vocab = [{"rank": rank, "token_bytes": token} for rank, token in enumerate(["dQ==", "Zw==", "dWc="])]
    >>> config = {"pattern": "hug", "default_vocab_size": 4, "default_num_special_tokens": 2, "version": "v11"}
    >>> read({"vocab": vocab, "config": config, "special_tokens": []})["vocabulary"]
    [['u', 2], ['g', 3]]
    """
    config = _get(content, "config", Mapping)
    count = _get(config, "default_num_special_tokens", int, "config.")
    if not 0 <= count <= _MOST_SPECIAL:
        message = f"is {shorten(compact(count))}; a file has 0 to {_MOST_SPECIAL} special tokens"
        raise DataError(message, FORMAT, key="config.default_num_special_tokens")
    size = _get(config, "default_vocab_size", int, "config.") - count
    vocab = _get(content, "vocab", list)
    if not 0 < size <= len(vocab):
        message = f"leaves {size} tokens that are not special, of {len(vocab)} in vocab"
        raise DataError(message, FORMAT, key="config.default_vocab_size")
    tokens = [_token(entry, rank) for rank, entry in enumerate(vocab[:size])]
    if len(set(tokens)) < size:
        raise DataError("lists a token twice", FORMAT, key="vocab")
    return {
        "type": "bpe",
        "vocabulary": by_id({token: rank + count for rank, token in enumerate(tokens)}, FORMAT, "vocab"),
        "merges": [list(merge) for merge in merges_of(tokens)],
        **stages_of(_get(config, "pattern", str, "config.")),
        "added_tokens": [{"content": name, "id": id} for id, name in enumerate(_special_tokens(content, count))],
    }


def _special_tokens(content: Mapping[str, Any], count: int) -> list[str]:
    listed = content.get("special_tokens")
    if listed is None:
        version = _get(content["config"], "version", str, "config.")
        number = re.fullmatch(r"v([0-9]{1,9})", version)
        if number is None or int(number[1]) > _LAST_UNNAMED:
            message = f"is missing; a file of version {shorten(version)} names them"
            raise DataError(message, FORMAT, key="special_tokens")
        names = list(_NAMES)
    else:
        rows = enumerate(_get(content, "special_tokens", list))
        names = [_get(entry, "token_str", str, f"special_tokens[{place}].") for place, entry in rows]
        for place, entry in enumerate(listed):
            if entry.get("rank") != place:
                message = (
                    f"is {shorten(compact(entry.get('rank')))}; special tokens must be in the order of their ranks"
                )
                raise DataError(message, FORMAT, key=f"special_tokens[{place}].rank")
    if len(names) > count:
        message = f"is {count}, and there are {len(names)} special tokens"
        raise DataError(message, FORMAT, key="config.default_num_special_tokens")
    return [*names, *(f"<SPECIAL_{id}>" for id in range(len(names), count))]


def _token(entry: Any, rank: int) -> str:
    if _get(entry, "rank", int, f"vocab[{rank}].") != rank:
        message = f"is {entry['rank']}; tokens must be in the order of their ranks, from 0"
        raise DataError(message, FORMAT, key=f"vocab[{rank}].rank")
    try:
        return from_bytes(b64decode(_get(entry, "token_bytes", str, f"vocab[{rank}]."), validate=True))
    except (ValueError, binascii.Error):
        raise DataError("is not base64", FORMAT, key=f"vocab[{rank}].token_bytes") from None


def _get(value: Any, key: str, kind: Any, at: str = "") -> Any:
    found = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(found, kind) or isinstance(found, bool):
        raise DataError(f"is missing or not {_KINDS[kind]}", FORMAT, key=f"{at}{key}")
    return found


_KINDS = {Mapping: "an object", list: "a list", str: "a text", int: "an integer"}
