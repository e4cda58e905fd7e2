"""The stages together, prepared for a tokenizer and one set of choices.

What a model makes of a piece depends on the piece alone, so it is kept in a cache: most pieces of a text cost no more
than the pattern that cuts them and a lookup. Encoding to ids alone has a separate path, which aligns nothing.
Post-processing and lengths are tokref's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import accumulate, chain, product
from typing import Any, NamedTuple

import regex

from tokfast.added_tokens import AddedTokenFinder
from tokfast.bpe import BpeEncoder
from tokfast.decoding import Decoder
from tokfast.normalization import Normalizer
from tokfast.pre_tokenization import PreTokenizer, write_bytes, write_piece
from tokfast.sentencepiece import SymbolEncoder
from tokfast.streams import Stops, TextStream, parts_without_end, tokens_of_stream
from tokfast.unigram import UnigramEncoder
from tokfast.values import Cache, Encoder, Part, Piece, cover
from tokfast.wordpiece import WordLevelEncoder, WordPieceEncoder
from tokref.added_tokens import SpecialTokens, keep_allowed, normalized_contents, raw_contents
from tokref.alignment import Span
from tokref.choices import Choices
from tokref.errors import InputError, brief
from tokref.lengths import pad, truncate
from tokref.pipeline import TextPart, added_as_bytes
from tokref.post_processing import added_count, post_process, trim_spans
from tokref.pre_tokenization import utf_8
from tokref.reading.ceilings import refuse_many_parts, refuse_much_padding
from tokref.streams import Stopped
from tokref.values import (
    AddedToken,
    Bpe,
    EncodedToken,
    Encoding,
    Token,
    Tokenizer,
    Unigram,
    WordLevel,
    WordPiece,
    Words,
)

_ENCODERS: Mapping[type, Callable[[Any, Choices], Encoder]] = {
    Bpe: BpeEncoder,
    WordPiece: WordPieceEncoder,
    Unigram: UnigramEncoder,
    WordLevel: lambda model, choices: WordLevelEncoder(model),
}


class FastTokenizer:
    """A tokenizer under one set of choices, with all tables that make it fast; methods are named as tokref's functions.

    >>> gpt = FastTokenizer(Tokenizer(Bpe({"g": 0, "u": 1, "ug": 2}, (("u", "g"),))), Choices())
    >>> gpt.encode("ug"), gpt.encode_ids("ugu"), gpt.decode(gpt.tokens_of([2, 0]))
    ([Token(text='ug', id=2, start=0, end=2)], [2, 1], 'ug g')
    """

    def __init__(self, tokenizer: Tokenizer, choices: Choices) -> None:
        self.tokenizer = tokenizer
        self.choices = choices
        self._normalizer = Normalizer(tokenizer.normalizer, choices)
        self._pre_tokenizer = PreTokenizer(tokenizer.pre_tokenizer, choices)
        self._ids = Cache(self._encode_piece_to_ids)
        self._pieces = Cache(self._encode_piece)
        self._by_allowed = Cache(self._with_allowed)
        self._patterns = Cache(_any_of)

    def normalize(self, text: str) -> str:
        """Normalize a text."""
        return self._normalizer.apply(text)

    def pre_tokenize(self, text: str) -> list[tuple[str, int, int]]:
        """Return the pieces of a text that is not normalized, with their spans."""
        pieces = self._pre_tokenizer.split(Piece(text, 0, None, True))
        if self._pre_tokenizer.writes_bytes:
            pieces = [write_piece(piece) for piece in pieces]
        return [(piece.text, *piece.cover()) for piece in pieces]

    def encode(self, text: str) -> list[Token]:
        """Encode a text with spans, as :func:`tokref.encode` does."""
        return [token for tokens, _ in self._encode_pieces(text) for token in tokens]

    def encode_inputs(
        self,
        inputs: Sequence[Sequence[str]],
        add_special_tokens: bool = True,
        allowed_special: SpecialTokens = "all",
        disallowed_special: SpecialTokens = (),
    ) -> list[Encoding]:
        """Encode a batch of inputs, as :func:`tokref.encode_inputs` does."""
        for text in chain.from_iterable(inputs) if disallowed_special else ():
            self._refuse_disallowed(text, allowed_special, disallowed_special)
        looking = self._allowing(allowed_special)
        encodings = [looking._encode_input(texts, add_special_tokens) for texts in inputs]
        refuse_much_padding(encodings, self.tokenizer.padding)
        return pad(encodings, self.tokenizer.padding)

    def encode_parts(self, parts: Sequence[TextPart | Sequence[int]], add_special_tokens: bool = True) -> Encoding:
        """Encode the parts of a prompt, as :func:`tokref.encode_parts` does."""
        untrusted, tokens, tokenizer = self._allowing(()), list[EncodedToken](), self.tokenizer
        for part in parts:
            if isinstance(part, TextPart):
                tokens += (self if part.trusted else untrusted)._encode_text(part.text, 0)
                continue
            for id in part:
                if id not in self._tokens:  # PARTS-3
                    raise InputError("unknown_id", f"id {id} has no entry in a vocabulary of {len(self._tokens)}")
                tokens.append(EncodedToken(self._tokens[id], id, 0, 0))
        added = added_count(tokenizer.post_processor, 1) if add_special_tokens else 0
        found = truncate([tuple(tokens)], tokenizer.truncation, added, self.choices)
        refuse_many_parts(found)
        encoding = Encoding(post_process([found[0][0]], tokenizer.post_processor, add_special_tokens))
        refuse_much_padding([encoding], tokenizer.padding)
        return pad([encoding], tokenizer.padding)[0]

    def encode_ids(self, text: str, allowed_special: SpecialTokens = "all") -> list[int | None]:
        """Encode a text to ids alone, which takes a fraction of the time; None stands for a token without an entry.

        Nothing is inserted, truncated or padded.
        """
        self._require_model()
        if allowed_special != "all":
            return self._allowing(allowed_special).encode_ids(text)
        ids: list[int | None] = []
        for raw, token in self._in_raw_text.split(Piece(text, 0, None, True)):
            if token is not None:
                ids.append(token.id)
                continue
            normalized = Piece(self._normalizer.apply(raw.text), 0, None, raw.is_first)
            for stretch, found in self._in_normalized_text.split(normalized):
                if found is not None:
                    ids.append(found.id)
                else:
                    pieces = self._pre_tokenizer.texts(stretch.text, stretch.is_first)
                    ids += chain.from_iterable(map(self._ids.__getitem__, pieces))
        return ids

    def decode(self, tokens: Sequence[str], skip_special_tokens: bool = False) -> str:
        """Decode tokens, as :func:`tokref.decode` does."""
        return self._decoder.join(self._tokens_to_decode(tokens, skip_special_tokens))

    def decode_stream(self, ids: Sequence[int], skip_special_tokens: bool = False) -> list[str]:
        """Decode ids one by one, as :func:`tokref.decode_stream` does."""
        rows = [self._spelled([id], skip_special_tokens) for id in ids]
        decoder = self._decoder
        parts = iter(parts_without_end(chain.from_iterable(rows), decoder.component, decoder.choices))
        return ["".join(next(parts) for _ in row) for row in rows]

    def stream(self, skip_special_tokens: bool = False) -> TextStream:
        """Return a stream, as :class:`tokref.TextStream` is one."""
        tokens = tokens_of_stream(self._decoder.component, self._decoder.choices)
        return TextStream(tokens, lambda ids: self._spelled(ids, skip_special_tokens))

    def decode_until(
        self,
        steps: Sequence[Sequence[int]],
        stops: Sequence[str],
        *,
        stop_ids: Iterable[int] = (),
        keep_stop: bool = False,
        prompt: Sequence[int] = (),
        skip_special_tokens: bool = False,
    ) -> Stopped:
        """Decode ids in steps until a stop comes, as :func:`tokref.decode_until` does."""
        if "" in stops:  # STOP-7
            raise InputError("invalid_input", "a stop string is empty")
        stream = self.stream(skip_special_tokens)
        stream.add(prompt)
        found, ids, parts = Stops(stops, keep_stop), frozenset(stop_ids), list[str]()
        stopped: str | int | None = None
        for step in steps:
            part = ""
            for id in step if stopped is None else ():
                if id in ids:  # STOP-5
                    before, held = found.held, stream.open
                    text, stopped = found.add(held)
                    if stopped is None:
                        text, stopped = before + (stream.add([id]) + stream.open if keep_stop else held), id
                else:
                    text, stopped = found.add(stream.add([id]))
                part += text
                if stopped is not None:
                    break
            parts.append(part)
        if stopped is not None:  # STOP-4
            return Stopped(parts, "", stopped)
        text, stopped = found.add(stream.open)  # STOP-3
        return Stopped(parts, text if stopped is not None else text + found.held, stopped)

    def _spelled(self, ids: Iterable[int], skip_special_tokens: bool) -> list[str]:
        return self._decoder.spell(self._tokens_to_decode(self.tokens_of(ids), skip_special_tokens))

    def decode_tokens_bytes(self, ids: Sequence[int]) -> list[bytes]:
        """Return the bytes of each id, as :func:`tokref.decode_tokens_bytes` does."""
        return self._decoder.bytes_of(chain.from_iterable(self.tokens_of([id]) for id in ids))

    def decode_with_offsets(self, ids: Sequence[int]) -> tuple[str, list[int]]:
        """Decode ids with the place of each, as :func:`tokref.decode_with_offsets` does."""
        parts = self.decode_tokens_bytes(ids)
        joined = b"".join(parts)
        try:
            text = joined.decode("utf-8")
        except UnicodeDecodeError:  # DEC-OFFSETS-3
            raise InputError("invalid_input", "the bytes of the ids are not UTF-8, so that they have no text") from None
        before = [0, *accumulate(byte & 0xC0 != 0x80 for byte in joined)]  # characters that begin before each byte
        places = [*accumulate(map(len, parts), initial=0)][:-1]
        # the character of a byte is the last that begins before the next one; after the last byte there is no character
        return text, [before[place + 1] - 1 if place < len(joined) else len(text) for place in places]

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

    def _allowing(self, allowed: SpecialTokens) -> FastTokenizer:
        """Return the tokenizer that looks for the allowed special tokens alone, with the caches of this one."""
        return self if allowed == "all" else self._by_allowed[frozenset(allowed)]

    def _refuse_disallowed(self, text: str, allowed: SpecialTokens, disallowed: SpecialTokens) -> None:
        if disallowed == "all":
            named = frozenset() if allowed == "all" else self._special_tokens.difference(allowed)
        else:
            named = self._special_tokens.intersection(disallowed)
        if named and (match := self._patterns[named].search(text, concurrent=False)):  # ADDED-17, ADDED-18
            message = f"the special token {brief(match.group())} is disallowed and stands in the text"
            raise InputError("invalid_input", message)

    def _with_allowed(self, allowed: frozenset[str]) -> FastTokenizer:
        found = copy(self)
        found.tokenizer = keep_allowed(self.tokenizer, [*allowed], self.choices)
        for name in ("_in_raw_text", "_in_normalized_text", "_vocabulary", "_tokens", "_special_tokens"):
            found.__dict__.pop(name, None)
        if found.tokenizer.model != self.tokenizer.model:  # TRUST-1
            found.__dict__.pop("_encoder", None)
            found._ids, found._pieces = Cache(found._encode_piece_to_ids), Cache(found._encode_piece)
        return found

    # What is read from the tokenizer once, when it is first needed

    @cached_property
    def _vocabulary(self) -> Mapping[str, int]:
        return self.tokenizer.vocabulary

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {id: token for token, id in self._vocabulary.items()}

    @cached_property
    def _special_tokens(self) -> frozenset[str]:
        return frozenset(self.tokenizer.special_tokens)

    @cached_property
    def _in_raw_text(self) -> AddedTokenFinder:
        return AddedTokenFinder(raw_contents(self.tokenizer.added_tokens))

    @cached_property
    def _in_normalized_text(self) -> AddedTokenFinder:
        contents = normalized_contents(self.tokenizer.added_tokens, self.tokenizer.normalizer, self.choices)
        return AddedTokenFinder(contents)

    @cached_property
    def _encoder(self) -> Encoder:
        model = self.tokenizer.model
        encoder = _ENCODERS[type(model)](model, self.choices)
        return SymbolEncoder(encoder, model) if model and "user_defined" in model.kinds.values() else encoder

    @cached_property
    def _decoder(self) -> Decoder:
        spelled = added_as_bytes(self.tokenizer, self.choices)
        return Decoder(self.tokenizer.decoder, self.tokenizer.pre_tokenizer, self.choices, spelled)

    @cached_property
    def _checks_tokens(self) -> bool:
        return self.tokenizer.model is not None and bool(self.tokenizer.model.vocabulary)  # DEC-4

    def _require_model(self) -> None:
        if self.tokenizer.model is None:
            raise InputError("unsupported", "encoding needs a model")

    # Encoding with spans

    def _encode_input(self, texts: Sequence[str], add_special_tokens: bool) -> Encoding:
        post_processor, truncation = self.tokenizer.post_processor, self.tokenizer.truncation
        encoded = [self._encode_text(text, number) for number, text in enumerate(texts)]  # POST-1
        added = added_count(post_processor, len(texts)) if add_special_tokens else 0
        parts = truncate(encoded, truncation, added, self.choices)  # TRUNC-1, TRUNC-10
        refuse_many_parts(parts)
        chosen: list[tuple[tuple[EncodedToken, ...], ...]] = list(product(*parts))
        if len(parts) == 2:  # TRUNC-8
            a, b = parts
            chosen = [(a[0], b[0]), *product(a[1:], b), *product(a[:1], b[1:])]
        whole, *overflowing = [post_process(row, post_processor, add_special_tokens) for row in chosen]
        return Encoding(whole, tuple(map(Encoding, overflowing)))

    def _encode_text(self, text: str, number: int) -> tuple[EncodedToken, ...]:
        tokens = [
            EncodedToken(*token, word=word, sequence=number, is_added=is_added)  # ENC-8, POST-5
            for word, (tokens, is_added) in enumerate(self._encode_pieces(text))
            for token in tokens
        ]
        return tuple(trim_spans(tokens, text, self.tokenizer.post_processor, self.choices))

    def _encode_pieces(self, text: str) -> Iterator[tuple[list[Token], bool]]:
        """Return the tokens of each piece, and whether it is an added token."""
        self._require_model()
        for raw, token in self._in_raw_text.split(Piece(text, 0, None, True)):
            if token is not None:  # ADDED-1
                yield _added(token, raw), True
                continue
            for stretch, found in self._in_normalized_text.split(self._normalizer.align(raw)):  # ADDED-4, ADDED-5
                if found is not None:
                    yield _added(found, stretch), True
                else:
                    for tokens in self._encode_stretch(stretch):
                        yield tokens, False

    def _encode_stretch(self, stretch: Piece) -> Iterator[list[Token]]:
        new = tuple.__new__  # what a named tuple's constructor calls, without a call of a Python function
        for piece, offset, inner, _ in self._pre_tokenizer.split(stretch):
            rows, parts, owners = self._pieces[piece]
            if inner is None:
                yield [new(Token, (token, id, offset + begin, offset + end)) for token, id, begin, end in rows]
            else:
                of_symbols = inner if owners is None else [inner[owner] for owner in owners]
                yield [_align(part, of_symbols) for part in parts]

    # Encoding of a piece

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
        rows = [(text, id, places[0], places[-1]) for text, id, places in parts]
        if owners is None:
            rows = [(text, id, begin, end + 1) for text, id, begin, end in rows]
        else:
            rows = [(text, id, owners[begin], owners[end] + 1) for text, id, begin, end in rows]
        return _EncodedPiece(rows, parts, owners)

    # Decoding

    def _tokens_to_decode(self, tokens: Sequence[str], skip_special_tokens: bool) -> list[str]:
        if self._checks_tokens:
            known = [token for token in tokens if token in self._vocabulary]
            if len(known) < len(tokens) and self.choices.unknown_id == "error":  # DEC-3
                missing = next(token for token in tokens if token not in self._vocabulary)
                raise InputError("unknown_id", f"token {missing!r} is not in the vocabulary")
        else:
            known = list(tokens)
        if not skip_special_tokens:
            return known
        return [token for token in known if token not in self._special_tokens]  # DEC-5


def _any_of(contents: frozenset[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(map(regex.escape, contents)))


class _EncodedPiece(NamedTuple):
    """What a model makes of a piece.

    ``rows`` are tokens with their ids and ranges, where the characters of the piece follow one another in the input;
    ``parts`` are the same, for a piece whose characters have spans. Where a character is several symbols, ``owners``
    has the place of the character of each symbol.
    """

    rows: list[tuple[str, int | None, int, int]]
    parts: list[Part]
    owners: list[int] | None


def _added(token: AddedToken, found: Piece) -> list[Token]:
    return [Token(token.content, token.id, *found.cover())]  # ENC-7, ADDED-10, ADDED-11


def _align(part: Part, spans: Sequence[Span]) -> Token:
    """Return the token of a part of a piece whose characters have these spans."""
    return Token(part.text, part.id, *cover([spans[place] for place in part.places]))
