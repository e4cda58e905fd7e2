"""The stages together: text to tokens, tokens to text, and texts to words (``spec/03-special-tokens.md``, chapter 7).

Encoding takes special tokens out of the text. What stands between them is normalized, cut into pieces, and each piece
is encoded by the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tokref.alignment import AlignedText
from tokref.bpe import encode_bpe
from tokref.choices import Choices
from tokref.decoding import join_tokens
from tokref.errors import InputError
from tokref.normalization import normalize
from tokref.pre_tokenization import pre_tokenize, puts_replacement
from tokref.special_tokens import split_special_tokens
from tokref.unigram import encode_unigram
from tokref.values import Bpe, Token, Tokenizer, WordPiece, Words
from tokref.wordpiece import encode_wordpiece

__all__ = ["count_words", "decode", "encode", "tokens_of"]


def encode(text: str, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    """Encode a text; the spans of the tokens count in it, before any normalization (ENC-3).

    Raises:
        InputError: ``unknown_symbol``; ``unsupported``, where there is no model.

    >>> from tokref import Bpe
    >>> encode("ug", Tokenizer(Bpe({"g": 0, "u": 1, "ug": 2}, (("u", "g"),))), Choices())
    [Token(text='ug', id=2, start=0, end=2)]
    """
    if tokenizer.model is None:
        raise InputError("unsupported", "encoding needs a model")
    vocabulary = tokenizer.model.vocabulary
    tokens: list[Token] = []
    for stretch in split_special_tokens(text, tokenizer.special_tokens):  # ENC-1; ENC-4: of nothing, nothing
        if stretch.is_special:  # SPECIAL-1
            end = stretch.start + len(stretch.text)
            tokens.append(Token(stretch.text, vocabulary.get(stretch.text), stretch.start, end))  # ENC-2
        else:  # SPECIAL-4
            tokens += _encode_stretch(AlignedText.from_input(stretch.text, stretch.start), tokenizer, choices)
    return tokens


def decode(tokens: Sequence[str], tokenizer: Tokenizer, choices: Choices) -> str:
    """Decode tokens. Where the model has a vocabulary that is not empty, they must be in it (DEC-3, DEC-4).

    Raises:
        InputError: ``unknown_id``.

    >>> decode(["a", "b"], Tokenizer(), Choices())
    'a b'
    """
    vocabulary = tokenizer.model.vocabulary if tokenizer.model is not None else {}
    missing = [token for token in tokens if token not in vocabulary] if vocabulary else []  # DEC-4
    if missing and choices.unknown_id == "error":  # DEC-3
        raise InputError("unknown_id", f"token {missing[0]!r} is not in the vocabulary")
    if choices.metaspace_leading_space == "as_put":  # DEC-META-2
        removes = puts_replacement(tokenizer.pre_tokenizer)
        choices = replace(choices, metaspace_leading_space="removed" if removes else "kept")
    return join_tokens([token for token in tokens if token not in missing], tokenizer.decoder, choices)


def tokens_of(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices) -> list[str]:
    """Return the tokens of ids.

    Raises:
        InputError: ``unknown_id``.

    >>> from tokref import Bpe
    >>> tokens_of([1, 5], Tokenizer(Bpe({"a": 0, "b": 1})), Choices(unknown_id="skipped"))
    ['b']
    """
    vocabulary = tokenizer.model.vocabulary if tokenizer.model is not None else {}
    tokens = {id: token for token, id in vocabulary.items()}
    missing = [id for id in ids if id not in tokens]
    if missing and choices.unknown_id == "error":  # DEC-3
        raise InputError("unknown_id", f"id {missing[0]} has no entry in a vocabulary of {len(tokens)}")
    return [tokens[id] for id in ids if id in tokens]


def count_words(texts: Sequence[str], tokenizer: Tokenizer, choices: Choices) -> Words:
    """Count the pieces of texts after normalization and pre-tokenization (BPE-TRAIN-1).

    >>> count_words(["b", "a", "b"], Tokenizer(), Choices())
    {'b': 2, 'a': 1}
    """
    words: dict[str, int] = {}  # a dictionary keeps the order of first meeting
    for text in texts:
        normalized = normalize(AlignedText.from_input(text), tokenizer.normalizer, choices)
        for piece in pre_tokenize(normalized, tokenizer.pre_tokenizer):
            words[piece.text] = words.get(piece.text, 0) + 1
    return words


def _encode_stretch(text: AlignedText, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    tokens: list[Token] = []
    normalized = normalize(text, tokenizer.normalizer, choices)
    for piece in pre_tokenize(normalized, tokenizer.pre_tokenizer):
        tokens += _encode_piece(piece, tokenizer, choices)  # ENC-1, UNI-ENC-1: each on its own
    return tokens


def _encode_piece(piece: AlignedText, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    model = tokenizer.model
    if isinstance(model, Bpe):
        return encode_bpe(piece, model, choices)
    if isinstance(model, WordPiece):
        return encode_wordpiece(piece, model, choices)
    assert model is not None
    return encode_unigram(piece, model, choices)
