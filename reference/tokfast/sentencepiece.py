"""SentencePiece's normalizer and user-defined symbols, found as added tokens are (``spec/15-sentencepiece.md``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tokfast.added_tokens import AddedTokenFinder
from tokfast.charsmap import CharacterMapNormalizer
from tokfast.values import Encoder, Part, Piece
from tokref.alignment import AlignedText, Step
from tokref.charsmap import CharacterMap
from tokref.choices import Choices
from tokref.sentencepiece import mark_steps
from tokref.values import AddedToken, Model


class SentencePieceNormalizer:
    """SentencePiece's normalizer, prepared for many texts.

    >>> flags = dict.fromkeys(("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"), True)
    >>> flags["treat_whitespace_as_suffix"] = False
    >>> SentencePieceNormalizer(Choices(), CharacterMap((), b""), **flags).apply(" a  b")
    '▁a▁b'
    """

    def __init__(self, choices: Choices, charsmap: CharacterMap, symbols: Sequence[str] = (), **flags: bool) -> None:
        self._map = CharacterMapNormalizer(choices, charsmap) if charsmap.units else None
        self._symbols = _finder(symbols)
        self._flags = flags

    def apply(self, text: str) -> str:
        """Return the normalized text."""
        return "".join([output for output, _, _ in self._rewrite(text)])

    def align(self, piece: Piece) -> Piece:
        """Return the same of a text with spans."""
        aligned = AlignedText(piece.text, tuple(piece.spans_of_characters())).rewrite(self._rewrite(piece.text))
        return piece._replace(text=aligned.text, spans=aligned.spans)

    def _rewrite(self, text: str) -> list[Step]:
        steps: list[Step] = []
        for part, symbol in self._symbols.split(Piece(text, 0, None, True)):
            places = range(part.start, part.start + len(part.text))
            if symbol is not None:
                steps.append((part.text, part.start, part.start + len(part.text)))
            elif self._map is None:
                steps += [(character, place, place + 1) for place, character in zip(places, part.text, strict=True)]
            else:
                mapped = self._map.steps(part.text)
                steps += [(output, begin + part.start, end + part.start) for output, begin, end in mapped]
        return mark_steps(steps, **self._flags)


class SymbolEncoder:
    """A model with user-defined symbols, prepared to encode many pieces (SP-SYMBOL-1)."""

    def __init__(self, encoder: Encoder, model: Model) -> None:
        self._encoder = encoder
        self._ids = {token: model.vocabulary[token] for token, kind in model.kinds.items() if kind == "user_defined"}
        self._symbols = _finder(self._ids)

    def ids(self, piece: str) -> list[int | None]:
        """Encode a piece to ids alone."""
        ids: list[int | None] = []
        for part, is_symbol in self._split(piece):
            ids += [self._ids[part.text]] if is_symbol else self._encoder.ids(part.text)
        return ids

    def parts(self, piece: str) -> list[Part]:
        """Encode a piece."""
        parts: list[Part] = []
        for part, is_symbol in self._split(piece):
            places = range(part.start, part.start + len(part.text))
            if is_symbol:
                parts.append(Part(part.text, self._ids[part.text], places))
            else:
                parts += [_move(one, part.start) for one in self._encoder.parts(part.text)]
        return parts

    def _split(self, piece: str) -> Iterator[tuple[Piece, bool]]:
        for part, symbol in self._symbols.split(Piece(piece, 0, None, True)):
            yield part, symbol is not None


def _finder(symbols: Iterable[str]) -> AddedTokenFinder:
    return AddedTokenFinder({symbol: AddedToken(symbol) for symbol in symbols})


def _move(part: Part, by: int) -> Part:
    return part._replace(places=[place + by for place in part.places])
