"""Inputs for which the file of a model means something else than the model; the suite does not test them.

A format that cannot express a model at all refuses to write it. ``sentencepiece.model`` and ``vocab.gguf`` express many
models except for some inputs, because the file has something that the model lacks:

* it has an unknown token. A model without one has no token for a character that the file makes unknown, and no token
  with the id that the unknown one gets in the file. The same holds for the tokens of bytes in ``vocab.gguf``. Whether
  a Unigram model needs the unknown token depends on scores, so the rule is about characters that are not tokens;
* it puts ``▁`` before every text or before none. A metaspace puts none before a text that begins with ``▁`` or with a
  space (PRE-META-2).

The output of a character map is not known here, so a text is not refused if the model has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tokspec.base.errors import Unsupported
from tokspec.formats.neutral import fill_defaults, tokens_in_id_order
from tokspec.formats.sentencepiece_model import BYTES, MARK, Spaces, spaces_of

#: The types of pieces that no text spells, and the type that is found in a text before the model sees it.
_UNSPELT = ("control", "unused", "byte")
_FOUND = "user_defined"


def refuse_input(format: str, content: Mapping[str, Any], input: Mapping[str, Any]) -> None:
    """Refuse an input for which the file of a model means something else than the model.

    Args:
        format: the format in which the model was written.
        content: the model as the fixtures write it.
        input: the input of an operation; keys other than those of texts and ids do not matter.

    Raises:
        Unsupported: the format has a limit, which the message names.

    >>> refuse_input("sentencepiece.model", {"type": "bpe", "vocabulary": ["u", "g"]}, {"text": "mug"})
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: sentencepiece.model must have an unknown token, and this model has
        none for a character of the text
    """
    model = fill_defaults(content)
    is_byte_level = model.get("pre_tokenizer", {}).get("type") == "byte_level"
    if model.get("type") not in ("bpe", "unigram") or is_byte_level:
        return
    spaces = spaces_of(model, format, "precompiled", "sentencepiece")
    if spaces.add_dummy_prefix and "pre_tokenizer" in model:
        for text in _texts(input):
            _refuse_mark(text, spaces, format)
    if "unknown_token" not in model:
        _refuse_ids(model, input, format)
        for text in _texts(input):
            _refuse_unknown(text, model, spaces, format)


def _texts(input: Mapping[str, Any]) -> Iterator[str]:
    """Return the texts that are encoded or segmented."""
    for each in (input, *input.get("inputs", ()), *input.get("parts", ())):
        yield from (each[key] for key in ("text", "pair", "word") if key in each)


def _refuse_mark(text: str, spaces: Spaces, format: str) -> None:
    pieces = text.split() if spaces.remove_extra_whitespaces else [text]
    if any(piece.startswith((MARK, " ")) for piece in pieces):
        raise Unsupported(
            f"{format} puts {MARK!r} before every text, but this model does not put it before one that begins with it"
        )


def _refuse_ids(model: Mapping[str, Any], input: Mapping[str, Any], format: str) -> None:
    count = len(tokens_in_id_order(model))
    added = 1
    if format == "vocab.gguf" and model["type"] == "bpe" and not model.get("byte_fallback"):
        added += len(BYTES)
    if any(count <= id < count + added for id in input.get("ids", ())):
        raise Unsupported(f"{format} must have tokens that this model does not have, and the input has the id of one")


def _refuse_unknown(text: str, model: Mapping[str, Any], spaces: Spaces, format: str) -> None:
    if model.get("byte_fallback") or model.get("normalizer", {}).get("charsmap"):
        return
    types = model.get("piece_types", {})
    found = {*model.get("special_tokens", ()), *types.get(_FOUND, ())}
    if found:
        text = "".join(re.split("|".join(map(re.escape, sorted(found, key=len, reverse=True))), text))
    if spaces.remove_extra_whitespaces:
        # To the map that a pre-tokenizer needs, all white space is alike; to SentencePiece's normalizer, only U+0020
        # is.
        text = " ".join(filter(None, text.split(None if "pre_tokenizer" in model else " ")))
    if spaces.escape_whitespaces:
        text = text.replace(" ", MARK)
    if spaces.add_dummy_prefix and text:
        text = MARK + text
    known = {*tokens_in_id_order(model)}.difference(*(types.get(key, ()) for key in _UNSPELT))
    if not known.issuperset(text):
        raise Unsupported(f"{format} must have an unknown token, and this model has none for a character of the text")
