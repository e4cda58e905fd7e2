"""WordPiece, encoding (``spec/05-wordpiece.md``)."""

from __future__ import annotations

from tokref.model import Token, WordPiece

__all__ = ["encode_wordpiece"]


def encode_wordpiece(piece: str, model: WordPiece) -> list[Token]:
    """Encode one piece; the tokens' ranges count in it.

    Clauses: WP-ENC-1, WP-ENC-2, WP-ENC-3, WP-MODEL-1.

    Raises:
        InputError: ``unknown_symbol``, where the unknown token is needed and not in the vocabulary.

    >>> model = WordPiece(("[UNK]", "hug", "hugs", "##s"))
    >>> [token.text for token in encode_wordpiece("hugss", model)]
    ['hugs', '##s']
    >>> [token.text for token in encode_wordpiece("hugx", model)]
    ['[UNK]']
    """
    if len(piece) > model.max_word_length:  # WP-ENC-3
        return [model.unknown(piece, 0)]
    tokens: list[Token] = []
    start = 0
    while start < len(piece):
        token = _longest(piece, start, model)
        if token is None:  # WP-ENC-2
            return [model.unknown(piece, 0)]  # WP-MODEL-1
        tokens.append(token)
        start = token.end
    return tokens


def _longest(piece: str, start: int, model: WordPiece) -> Token | None:
    """Find the longest token that stands at a place (WP-ENC-1); no end beyond the longest token is tried."""
    prefix = model.continuing_prefix if start else ""
    for end in range(min(len(piece), start + model.longest - len(prefix)), start, -1):
        text = prefix + piece[start:end]
        if text in model.ids:
            return Token(text, model.ids[text], start, end)
    return None
