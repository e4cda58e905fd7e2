"""SentencePiece: its normalizer, and its user-defined symbols (``spec/15-sentencepiece.md``).

The normalizer maps characters and then makes marks of spaces, over the whole text: nothing is cut into pieces.
User-defined symbols are found before all else. Unused tokens are split in :mod:`tokref.bpe`, and the decoder is in
:mod:`tokref.decoding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tokref.alignment import AlignedText, Step
from tokref.charsmap import NO_MAP, CharacterMap
from tokref.choices import Choices
from tokref.decoding import MARK


def mark_spaces(
    text: AlignedText,
    choices: Choices,
    symbols: Sequence[str] = (),
    *,
    charsmap: CharacterMap = NO_MAP,
    add_dummy_prefix: bool = True,
    remove_extra_whitespaces: bool = True,
    escape_whitespaces: bool = True,
    treat_whitespace_as_suffix: bool = False,
) -> AlignedText:
    """Map characters, then drop spaces, insert a mark and make marks of spaces (SP-NORM-1).

    The user-defined symbols are the model's and not the component's.

    >>> mark_spaces(AlignedText.from_input(" a  b"), Choices()).text
    '▁a▁b'
    """
    steps = _map_characters(text.text, charsmap, symbols)
    marked = mark_steps(
        steps, add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces, treat_whitespace_as_suffix
    )
    return text.rewrite(marked)


def mark_steps(
    steps: Sequence[Step],
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    treat_whitespace_as_suffix: bool,
) -> list[Step]:
    """Drop spaces, insert a mark, and make marks of spaces, in a text of which characters are mapped.

    >>> mark_steps([("a", 0, 1), (" ", 1, 2), (" ", 2, 3), ("b", 3, 4)], False, True, True, False)
    [('a', 0, 1), ('▁', 1, 3), ('b', 3, 4)]
    """
    mark = MARK if escape_whitespaces else " "
    if remove_extra_whitespaces:  # SP-NORM-4
        first = next((place for place, step in enumerate(steps) if step[0] != " "), len(steps))
        steps = steps[first:]
    if not steps:  # SP-NORM-5
        return []
    left = [step for step in steps if step[0]]
    kept = _join_runs(left) if remove_extra_whitespaces else left
    begin = (kept or steps)[0][1]  # ENC-3: marks are next to what is left, if anything is
    # A word is one token wherever it is, so the first one gets the mark that the others have from their spaces.
    if add_dummy_prefix and not treat_whitespace_as_suffix:  # SP-NORM-5
        kept.insert(0, (" ", begin, begin))
    kept = [(output.replace(" ", mark), start, end) for output, start, end in kept]  # SP-NORM-3
    if remove_extra_whitespaces:  # SP-NORM-4
        kept = _drop_last(kept, mark)
    # Added after all spaces at the end are dropped, so that it is the one that stays.
    if add_dummy_prefix and treat_whitespace_as_suffix:  # SP-NORM-6
        end = kept[-1][2] if kept else begin
        kept.append((mark, end, end))
    return kept


def _map_characters(text: str, charsmap: CharacterMap, symbols: Sequence[str]) -> list[Step]:
    """Replace what the character map has, but keep every user-defined symbol as it is (SP-NORM-2)."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        # The symbol is written as texts have it: mapped, it would not be found.
        symbol = longest_symbol(text, place, symbols)
        length, output = (len(symbol), symbol) if symbol else charsmap.longest(text, place)
        if not length:
            length, output = 1, text[place]
        steps.append((output, place, place + length))
        place += length
    return steps


def _join_runs(steps: Iterable[Step]) -> list[Step]:
    """Drop every space after a space or at the start; what is left of a run covers all of it (SP-NORM-4)."""
    kept: list[Step] = []
    is_after_space = True
    for output, begin, end in steps:
        left = output.lstrip(" ") if is_after_space else output
        if left:
            kept.append((left, begin, end))
            is_after_space = left.endswith(" ")
        elif output and kept:  # the space before covers the dropped ones, and what else its part has does not
            other, start, stop = kept.pop()
            kept += [(other[:-1], start, stop)] if other != " " else []
            kept.append((" ", start, end))
    return kept


def _drop_last(steps: Sequence[Step], mark: str) -> list[Step]:
    """Drop the marks at the end of the text (SP-NORM-4)."""
    kept = list(steps)
    while kept and kept[-1][0].endswith(mark):
        output, begin, end = kept.pop()
        output = output.removesuffix(mark)
        kept += [(output, begin, end)] if output else []
    return kept


def longest_symbol(text: str, place: int, symbols: Sequence[str]) -> str:
    """Return the longest user-defined symbol at a place, or nothing (SP-SYMBOL-1).

    >>> longest_symbol("xab", 1, ["a", "ab"])
    'ab'
    """
    return max((symbol for symbol in symbols if text.startswith(symbol, place)), key=len, default="")


def split_at_symbols(piece: AlignedText, symbols: Sequence[str]) -> Iterator[tuple[AlignedText, bool]]:
    """Cut a piece into user-defined symbols and what is between them (SP-SYMBOL-1); True says that it is a symbol.

    >>> [part.text for part, _ in split_at_symbols(AlignedText.from_input("xabab"), ["ab"])]
    ['x', 'ab', 'ab']
    """
    begin = place = 0
    while place < len(piece.text):
        symbol = longest_symbol(piece.text, place, symbols)
        if symbol:
            if begin < place:
                yield piece.cut(begin, place), False
            yield piece.cut(place, place + len(symbol)), True
            begin = place + len(symbol)
        place += len(symbol) or 1
    if begin < len(piece.text):
        yield piece.cut(begin, len(piece.text)), False
