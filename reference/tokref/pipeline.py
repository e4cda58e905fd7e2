"""The stages together: text to tokens and back (``spec/03-special-tokens.md``, ``spec/07-decoding.md``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from tokref.alignment import AlignedText, PlainText
from tokref.bpe_encoding import bpe_ids, encode_bpe
from tokref.choices import Choices
from tokref.decoding import join_tokens
from tokref.errors import InputError
from tokref.model import Bpe, Token, Tokenizer, Unigram, WordPiece
from tokref.normalization import normalize
from tokref.pre_tokenization import pieces_of, pre_tokenize
from tokref.special_tokens import split_special_tokens
from tokref.unigram import encode_unigram
from tokref.wordpiece_encoding import encode_wordpiece

__all__ = ["decode", "encode", "encode_ids", "tokens_of"]

_ENCODERS: Mapping[type, Callable[[str, Any, Choices], list[Token]]] = {
    Bpe: encode_bpe,
    WordPiece: lambda piece, model, choices: encode_wordpiece(piece, model),
    Unigram: encode_unigram,
}
_ID_ENCODERS: Mapping[type, Callable[[str, Any, Choices], list[int | None]]] = {
    Bpe: bpe_ids,
    WordPiece: lambda piece, model, choices: [token.id for token in encode_wordpiece(piece, model)],
    Unigram: lambda piece, model, choices: [token.id for token in encode_unigram(piece, model, choices)],
}


def encode(text: str, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    """Encode a text; the tokens' ranges are spans in it, before any normalization.

    Clauses: ENC-1, ENC-2, ENC-3, ENC-4, SPECIAL-4.

    Raises:
        InputError: ``unknown_symbol``; ``unsupported``, where there is no model.

    >>> encode("ug", Tokenizer(Bpe(("g", "u", "ug"), merges=(("u", "g"),))), Choices())
    [Token(text='ug', id=2, start=0, end=2)]
    """
    if tokenizer.model is None:
        raise InputError("unsupported", "encoding needs a model")
    tokens: list[Token] = []
    for stretch, start, special in split_special_tokens(text, tokenizer.special_tokens):  # ENC-1, ENC-4
        if special:
            tokens.append(Token(stretch, tokenizer.model.ids.get(stretch), start, start + len(stretch)))  # ENC-2
        else:
            tokens += _encode_stretch(AlignedText(stretch, start), tokenizer, choices)  # SPECIAL-4
    return tokens


def encode_ids(text: str, tokenizer: Tokenizer, choices: Choices) -> list[int | None]:
    """Encode a text to ids alone, which is quicker than :func:`encode` where texts are long; None has no entry.

    Clauses: ENC-2.

    Raises:
        InputError: as :func:`encode`.

    >>> encode_ids("ug", Tokenizer(Bpe(("g", "u", "ug"), merges=(("u", "g"),))), Choices())
    [2]
    """
    if tokenizer.model is None:
        raise InputError("unsupported", "encoding needs a model")
    ids: list[int | None] = []
    for stretch, start, special in split_special_tokens(text, tokenizer.special_tokens):
        ids += [tokenizer.model.ids.get(stretch)] if special else _stretch_ids(stretch, start, tokenizer, choices)
    return ids


def decode(tokens: Sequence[str], tokenizer: Tokenizer, choices: Choices) -> str:
    """Decode tokens; where there is a vocabulary they must be in it.

    Clauses: DEC-3.

    Raises:
        InputError: ``unknown_id``.

    >>> decode(["▁Hi"], Tokenizer(), Choices())
    '▁Hi'
    """
    known = tokenizer.model.ids if tokenizer.model is not None else {}
    missing = [token for token in tokens if token not in known] if known else []
    if missing and choices.unknown_id == "error":  # DEC-3
        raise InputError("unknown_id", f"token {missing[0]!r} is not in the vocabulary")
    return join_tokens([token for token in tokens if not known or token in known], tokenizer.decoder, choices)


def tokens_of(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices) -> list[str]:
    """Look up ids.

    Clauses: DEC-3.

    Raises:
        InputError: ``unknown_id``.

    >>> tokens_of([1, 5], Tokenizer(Bpe(("a", "b"))), Choices(unknown_id="skipped"))
    ['b']
    """
    vocabulary = tokenizer.model.vocabulary if tokenizer.model is not None else ()
    missing = [number for number in ids if not 0 <= number < len(vocabulary)]
    if missing and choices.unknown_id == "error":  # DEC-3
        raise InputError("unknown_id", f"id {missing[0]} has no entry in a vocabulary of {len(vocabulary)}")
    return [vocabulary[number] for number in ids if 0 <= number < len(vocabulary)]


def _encode_stretch(text: AlignedText, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    if tokenizer.normalizer is not None:
        text = tokenizer.normalizer.align(text, choices)
    model, encode_by_type = tokenizer.model, _ENCODERS[type(tokenizer.model)]

    @cache
    def encode_piece(piece: str) -> list[Token]:  # within one text, equal pieces are encoded once
        return encode_by_type(piece, model, choices)

    return [
        Token(token.text, token.id, *piece.span(token.start, token.end))  # ENC-3
        for piece in pre_tokenize(text, tokenizer.pre_tokenizer)
        for token in encode_piece(piece.text)
    ]


def _stretch_ids(text: str, start: int, tokenizer: Tokenizer, choices: Choices) -> Iterator[int | None]:
    normalized = PlainText(normalize(text, tokenizer.normalizer, choices), start)
    model, ids_by_type = tokenizer.model, _ID_ENCODERS[type(tokenizer.model)]

    @cache
    def ids_of(piece: str) -> list[int | None]:
        return ids_by_type(piece, model, choices)

    return chain.from_iterable(map(ids_of, pieces_of(normalized, tokenizer.pre_tokenizer)))
