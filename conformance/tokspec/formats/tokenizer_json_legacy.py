"""``tokenizer.json`` as Hugging Face tokenizers wrote and read it before 0.20, and as many ports still know it.

It is the object of :mod:`tokspec.formats.tokenizer_json` with two differences: a merge is one string, its tokens with a
space between them, and a metaspace says ``add_prefix_space`` beside the scheme that versions since 0.15 know.

It cannot express, and refuses as ``unsupported``, what the newer object cannot, and:

* a merge of a token with a space in it;
* a metaspace that puts its replacement at the start of the input only, or does not split.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.base.errors import Unsupported
from tokspec.formats import tokenizer_json

__all__ = ["write"]


def write(content: Mapping[str, Any]) -> dict[str, Any]:
    """Write a model of the fixtures as the object of an older ``tokenizer.json``.

    Raises:
        Unsupported: the format cannot express the model.

    >>> write({"type": "bpe", "vocabulary": ["u", "g", "ug"], "merges": [["u", "g"]]})["model"]["merges"]
    ['u g']
    """
    written = tokenizer_json.write(content)
    model = written["model"]
    if model["type"] == "BPE":
        model["merges"] = [_merge(*merge) for merge in model["merges"]]
    for stage in ("pre_tokenizer", "decoder"):
        written[stage] = _stage(written[stage])
    return written


def _merge(left: str, right: str) -> str:
    if " " in left + right:
        raise Unsupported(f"the merge of {left!r} and {right!r} has a space in it, which older versions split at")
    return f"{left} {right}"


def _stage(part: dict[str, Any] | None) -> dict[str, Any] | None:
    if part is None:
        return None
    if part["type"] == "Sequence":
        return {**part, "pretokenizers": [_stage(member) for member in part["pretokenizers"]]}
    return _metaspace(part) if part["type"] == "Metaspace" else part


def _metaspace(part: dict[str, Any]) -> dict[str, Any]:
    if part["prepend_scheme"] == "first":
        raise Unsupported("older versions have no metaspace for the start of the input only")
    if not part["split"]:
        raise Unsupported("older versions have no metaspace that does not split")
    return {**part, "add_prefix_space": part["prepend_scheme"] == "always"}
