"""WordLevel: encoding with a list of whole pieces (``spec/14-word-level.md``)."""

from __future__ import annotations

from tokref.alignment import AlignedText
from tokref.values import Token, WordLevel, is_ordinary, unknown_token


def encode_word_level(piece: AlignedText, model: WordLevel) -> list[Token]:
    """Encode one piece.

    Raises:
        InputError: ``unknown_symbol``, where the unknown token is needed and not in the vocabulary (WL-2).

    >>> model = WordLevel({"<unk>": 0, "hug": 1})
    >>> encode_word_level(AlignedText.from_input("hugs"), model)
    [Token(text='<unk>', id=0, start=0, end=4)]
    """
    start, end = piece.span(0, len(piece.text))
    if is_ordinary(piece.text, model):  # WL-1
        return [Token(piece.text, model.vocabulary[piece.text], start, end)]
    return [unknown_token(model, piece.text, start, end)]
