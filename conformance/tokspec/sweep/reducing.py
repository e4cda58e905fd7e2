"""Large models made small: what of a vocabulary can matter to a short text, so that a difference can be looked into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokspec.protocol.messages import Answer, Request
from tokspec.sessions.session import Session

__all__ = ["reduced"]


def reduced(model: Mapping[str, Any], text: str, reference: Session) -> dict[str, Any]:
    """Leave out tokens that cannot come of a text, and the merges that need them.

    Args:
        model: in the neutral form, with its vocabulary.
        text: a short one.
        reference: who says what its stages make of the text.

    >>> from tokspec.fuzz.checker import reference_with
    >>> model = {"type": "bpe", "vocabulary": ["a", "b", "c", "ab", "bc"], "merges": [["a", "b"], ["b", "c"]]}
    >>> reduced(model, "ab", reference_with({}))
    {'type': 'bpe', 'vocabulary': ['a', 'b', 'ab'], 'merges': [['a', 'b']]}
    """
    renderings = _renderings(model, text, reference)
    prefix = model.get("continuing_prefix", "##") if model.get("type") == "wordpiece" else ""

    def is_kept(token: str) -> bool:
        bare = token.removeprefix(prefix)
        return token == model.get("unknown_token") or any(bare in rendering for rendering in renderings)

    small = dict(model)
    for key in ("vocabulary", "special_tokens"):
        if key in model:
            small[key] = [token for token in model[key] if is_kept(token)]
    if "tokens" in model:
        small["tokens"] = [row for row in model["tokens"] if is_kept(row[0])]
    if "merges" in model:
        there = set(small["vocabulary"])
        small["merges"] = [row for row in model["merges"] if there.issuperset((*row, row[0] + row[1]))]
    return small


def _renderings(model: Mapping[str, Any], text: str, reference: Session) -> set[str]:
    """Return the text as the stages leave it, one after the other."""
    stages = {key: model[key] for key in ("normalizer", "pre_tokenizer") if key in model}
    found = {text}
    for operation, name in (("normalize", "text"), ("pre_tokenize", "pieces")):
        request = Request(operation, f"stages {sorted(stages)} {hash(str(stages))}", stages, {"text": text})
        ((_, reply),) = reference.ask([request])
        if isinstance(reply, Answer):
            result = reply.result[name]
            text = result if name == "text" else "".join(piece for piece, *_ in result)
            found.add(text)
    return found
