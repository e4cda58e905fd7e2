"""The stages together: text to tokens, tokens to text, and texts to words (``spec/03-added-tokens.md``, chapter 7).

Encoding takes added tokens out of the text. What stands between them is normalized, cut into pieces, and each piece
is encoded by the model.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokref.added_tokens import normalized_contents, raw_contents, split_added_tokens
from tokref.alignment import AlignedText
from tokref.bpe import encode_bpe
from tokref.choices import Choices
from tokref.decoding import join_tokens
from tokref.errors import InputError
from tokref.normalization import normalize
from tokref.pre_tokenization import pre_tokenize
from tokref.unigram import encode_unigram
from tokref.values import AddedToken, Bpe, Token, Tokenizer, WordPiece, Words
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
    return [token for piece in encode_pieces(text, tokenizer, choices) for token in piece]


def encode_pieces(text: str, tokenizer: Tokenizer, choices: Choices) -> list[list[Token]]:
    """Return the tokens of each piece of a text, and of each added token, which is a piece of its own (ENC-8)."""
    if tokenizer.model is None:
        raise InputError("unsupported", "encoding needs a model")
    added, normalizer = tokenizer.added_tokens, tokenizer.normalizer
    in_raw_text, in_normalized_text = raw_contents(added), normalized_contents(added, normalizer, choices)
    pieces: list[list[Token]] = []
    for part, found in split_added_tokens(
        AlignedText.from_input(text), in_raw_text
    ):  # ENC-1; ENC-4: of nothing, nothing
        if found is not None:  # ADDED-1
            pieces.append([_added(found, part)])
            continue
        normalized = normalize(part, normalizer, choices)  # ADDED-4
        for stretch, found_now in split_added_tokens(normalized, in_normalized_text):  # ADDED-5
            if found_now is not None:
                pieces.append([_added(found_now, stretch)])
            else:
                pieces += _encode_stretch(stretch, tokenizer, choices)  # ADDED-4
    return pieces


def decode(tokens: Sequence[str], tokenizer: Tokenizer, choices: Choices) -> str:
    """Decode tokens. Where the model has a vocabulary that is not empty, they must be in it (DEC-3, DEC-4).

    Raises:
        InputError: ``unknown_id``.

    >>> decode(["a", "b"], Tokenizer(), Choices())
    'a b'
    """
    vocabulary = tokenizer.vocabulary
    has_vocabulary = tokenizer.model is not None and bool(tokenizer.model.vocabulary)
    missing = [token for token in tokens if token not in vocabulary] if has_vocabulary else []  # DEC-4
    if missing and choices.unknown_id == "error":  # DEC-3
        raise InputError("unknown_id", f"token {missing[0]!r} is not in the vocabulary")
    return join_tokens([token for token in tokens if token not in missing], tokenizer.decoder, choices)


def tokens_of(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices) -> list[str]:
    """Return the tokens of ids.

    Raises:
        InputError: ``unknown_id``.

    >>> from tokref import Bpe
    >>> tokens_of([1, 5], Tokenizer(Bpe({"a": 0, "b": 1})), Choices(unknown_id="skipped"))
    ['b']
    """
    tokens = {id: token for token, id in tokenizer.vocabulary.items()}
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
        for piece in pre_tokenize(normalized, tokenizer.pre_tokenizer, choices):
            words[piece.text] = words.get(piece.text, 0) + 1
    return words


def _added(token: AddedToken, found: AlignedText) -> Token:
    return Token(token.content, token.id, *found.span(0, len(found.text)))  # ENC-7, ADDED-10, ADDED-11


def _encode_stretch(text: AlignedText, tokenizer: Tokenizer, choices: Choices) -> list[list[Token]]:
    pieces = pre_tokenize(text, tokenizer.pre_tokenizer, choices)
    return [_encode_piece(piece, tokenizer, choices) for piece in pieces]  # ENC-1, UNI-ENC-1: each on its own


def _encode_piece(piece: AlignedText, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    model = tokenizer.model
    if isinstance(model, Bpe):
        return encode_bpe(piece, model, choices)
    if isinstance(model, WordPiece):
        return encode_wordpiece(piece, model)
    assert model is not None
    return encode_unigram(piece, model, choices)
