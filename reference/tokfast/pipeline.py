"""The stages together, prepared for a tokenizer and one set of choices.

What a model makes of a piece depends on the piece alone, so it is kept in a cache: most pieces of a text cost no more
than the pattern that cuts them and a lookup. Encoding to ids alone has a way of its own, on which nothing is aligned.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from tokfast.bpe import BpeEncoder
from tokfast.normalization import Normalizer
from tokfast.pre_tokenization import PreTokenizer, write_bytes, write_piece
from tokfast.unigram import UnigramEncoder
from tokfast.values import Cache, Encoder, Part, Piece
from tokfast.wordpiece import WordPieceEncoder
from tokref.alignment import Span
from tokref.choices import Choices
from tokref.decoding import join_tokens
from tokref.errors import InputError
from tokref.pre_tokenization import BYTE_CHARACTERS, puts_replacement, utf_8
from tokref.values import Bpe, Token, Tokenizer, Unigram, WordPiece, Words

__all__ = ["FastTokenizer"]

_ENCODERS: Mapping[type, Callable[[Any, Choices], Encoder]] = {
    Bpe: BpeEncoder,
    WordPiece: WordPieceEncoder,
    Unigram: UnigramEncoder,
}

_BYTES = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


class FastTokenizer:
    """A tokenizer under one set of choices, with all tables that make it fast; methods are named as tokref's functions.

    >>> gpt = FastTokenizer(Tokenizer(Bpe({"g": 0, "u": 1, "ug": 2}, (("u", "g"),))), Choices())
    >>> gpt.encode("ug"), gpt.encode_ids("ugu"), gpt.decode(gpt.tokens_of([2, 0]))
    ([Token(text='ug', id=2, start=0, end=2)], [2, 1], 'ug g')
    """

    def __init__(self, tokenizer: Tokenizer, choices: Choices) -> None:
        self.tokenizer = tokenizer
        self.choices = choices
        self._vocabulary = {} if tokenizer.model is None else tokenizer.model.vocabulary
        self._normalizer = Normalizer(tokenizer.normalizer, choices)
        self._pre_tokenizer = PreTokenizer(tokenizer.pre_tokenizer)
        longest_first = sorted(tokenizer.special_tokens, key=len, reverse=True)  # ADDED-2
        self._special = re.compile("|".join(map(re.escape, longest_first)))
        self._ids = Cache(self._encode_piece_to_ids)
        self._pieces = Cache(self._encode_piece)
        self._bytes = Cache(_bytes_of)

    def normalize(self, text: str) -> str:
        """Normalize a text."""
        return self._normalizer.apply(text)

    def pre_tokenize(self, text: str) -> list[tuple[str, int, int]]:
        """Return the pieces of a text that is not normalized, with their spans."""
        pieces = self._pre_tokenizer.split(Piece(text, 0, None, True))
        if self._pre_tokenizer.writes_bytes:
            pieces = map(write_piece, pieces)
        return [(piece.text, *_cover(piece.spans_of_characters())) for piece in pieces]

    def encode(self, text: str) -> list[Token]:
        """Encode a text with spans, as :func:`tokref.encode` does."""
        self._require_model()
        tokens: list[Token] = []
        for stretch, start, is_special in self._stretches(text):
            if is_special:
                tokens.append(Token(stretch, self._vocabulary.get(stretch), start, start + len(stretch)))  # ENC-7
            else:
                tokens += self._encode_stretch(stretch, start)
        return tokens

    def encode_ids(self, text: str) -> list[int | None]:
        """Encode a text to ids alone, which takes a fraction of the time; None stands for a token without an entry."""
        self._require_model()
        ids: list[int | None] = []
        for stretch, start, is_special in self._stretches(text):
            if is_special:
                ids.append(self._vocabulary.get(stretch))
            else:
                pieces = self._pre_tokenizer.texts(self._normalizer.apply(stretch), is_first=start == 0)
                ids += chain.from_iterable(map(self._ids.__getitem__, pieces))
        return ids

    def decode(self, tokens: Sequence[str]) -> str:
        """Decode tokens, as :func:`tokref.decode` does."""
        known = self._vocabulary or dict.fromkeys(tokens)  # DEC-4
        left = [token for token in tokens if token in known]
        if len(left) < len(tokens) and self.choices.unknown_id == "error":  # DEC-3
            missing = next(token for token in tokens if token not in known)
            raise InputError("unknown_id", f"token {missing!r} is not in the vocabulary")
        decoder = self.tokenizer.decoder
        if decoder is not None and decoder.type == "byte_level":
            return b"".join(map(self._bytes.__getitem__, left)).decode("utf-8", errors="replace")
        choices = self.choices
        if choices.metaspace_leading_space == "as_put":  # DEC-META-2
            removes = puts_replacement(self.tokenizer.pre_tokenizer)
            choices = replace(choices, metaspace_leading_space="removed" if removes else "kept")
        return join_tokens(left, decoder, choices)

    def tokens_of(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens of ids, as :func:`tokref.tokens_of` does."""
        tokens: list[str] = []
        for id in ids:
            token = self._tokens.get(id)
            if token is not None:
                tokens.append(token)
            elif self.choices.unknown_id == "error":  # DEC-3
                raise InputError("unknown_id", f"id {id} has no entry in a vocabulary of {len(self._tokens)}")
        return tokens

    def count_words(self, texts: Iterable[str]) -> Words:
        """Count the pieces of texts, as :func:`tokref.count_words` does."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(self._pre_tokenizer.texts(self._normalizer.apply(text), is_first=True))
        if self._pre_tokenizer.writes_bytes:
            return {write_bytes(piece): count for piece, count in counts.items()}
        return dict(counts)

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {id: token for token, id in self._vocabulary.items()}

    @cached_property
    def _encoder(self) -> Encoder:
        return _ENCODERS[type(self.tokenizer.model)](self.tokenizer.model, self.choices)

    def _require_model(self) -> None:
        if self.tokenizer.model is None:
            raise InputError("unsupported", "encoding needs a model")

    def _stretches(self, text: str) -> Iterator[tuple[str, int, bool]]:
        """Cut a text into special tokens and what stands between them, none of it empty (ADDED-1 to ADDED-4)."""
        begin = 0
        for match in self._special.finditer(text) if self.tokenizer.special_tokens else ():
            if begin < match.start():
                yield text[begin : match.start()], begin, False
            yield match.group(), match.start(), True
            begin = match.end()
        if begin < len(text):
            yield text[begin:], begin, False

    def _encode_stretch(self, text: str, start: int) -> list[Token]:
        normalized, spans = self._normalizer.align(text, start)
        tokens: list[Token] = []
        new = tuple.__new__  # what a named tuple's constructor calls, without a call of a Python function
        for piece, offset, inner, _ in self._pre_tokenizer.split(Piece(normalized, start, spans, start == 0)):
            rows, parts, owners = self._pieces[piece]
            if inner is None:
                tokens += [new(Token, (token, id, offset + begin, offset + end)) for token, id, begin, end in rows]
            else:
                of_symbols = inner if owners is None else [inner[owner] for owner in owners]
                tokens += [_align(part, of_symbols) for part in parts]
        return tokens

    def _encode_piece_to_ids(self, piece: str) -> list[int | None]:
        return self._encoder.ids(write_bytes(piece) if self._pre_tokenizer.writes_bytes else piece)

    def _encode_piece(self, piece: str) -> _EncodedPiece:
        owners = None
        symbols = piece
        if self._pre_tokenizer.writes_bytes:
            symbols = write_bytes(piece)
            if len(symbols) > len(piece):
                owners = [place for place, character in enumerate(piece) for _ in utf_8(character)]
        parts = self._encoder.parts(symbols)
        rows = [(text, id, places[0], (last or places)[-1]) for text, id, places, last in parts]
        if owners is None:
            rows = [(text, id, begin, end + 1) for text, id, begin, end in rows]
        else:
            rows = [(text, id, owners[begin], owners[end] + 1) for text, id, begin, end in rows]
        return _EncodedPiece(rows, parts, owners)


class _EncodedPiece(NamedTuple):
    """What a model makes of a piece.

    ``rows`` are tokens with their ids and ranges, where the characters of the piece stand one after another in the
    input; ``parts`` are the same, for a piece whose characters have spans. Where a character is several symbols,
    ``owners`` has the place of the character of each symbol.
    """

    rows: list[tuple[str, int | None, int, int]]
    parts: list[Part]
    owners: list[int] | None


def _align(part: Part, spans: Sequence[Span]) -> Token:
    """Return the token of a part of a piece whose characters have these spans."""
    start, end = _cover([spans[place] for place in part.places])
    if part.last is not None:
        end = _cover([spans[place] for place in part.last])[1]
    return Token(part.text, part.id, start, end)


def _cover(spans: Sequence[Span]) -> Span:
    """Return what spans cover together: added characters take no room, unless there are no others (ENC-3)."""
    filled = [span for span in spans if span[0] < span[1]] or spans
    return filled[0][0], filled[-1][1]


def _bytes_of(token: str) -> bytes:
    """Return the bytes that a token stands for; one with a character that is not of the byte alphabet, its own."""
    values = [_BYTES.get(character, -1) for character in token]
    return utf_8(token) if -1 in values else bytes(values)  # DEC-BYTE-3
