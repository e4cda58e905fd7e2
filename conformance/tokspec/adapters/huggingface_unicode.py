"""Characters of Unicode 13 and before that Hugging Face ``tokenizers`` has not, or has otherwise (TERM-6).

Measured with version 0.23.3, code point by code point, beside Unicode 13.0: the categories that its BERT stages and
``strip_accents`` look at are those of Unicode 8, its normal forms those of Unicode 9. All other tables are newer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from unicodedata import category, combining, normalize

__all__ = ["has_unknown", "put_in_order"]

#: Punctuation, marks and format characters; a gap of a few others counts too.
_CATEGORIES = (
    "7FD 8D3-8E2 9FD-9FE A76 AFA-AFF B55 C04 C77 C84 D00 D3B-D3C D81 EBA 166D 1885-1886 1ABF-1AC0 1CF2-1CF7 1DF6-1DFB "
    "2E43-2E52 A82C A8C5 A8FF A9BD 10D24-10D27 10EAB-10EAD 10F46-10F59 110CD 11145-11146 111C9-111CF 1123E 1133B "
    "11438-1144F 1145A-1145E 11660-1166C 1182C-1183B 11930-11946 119D1-119E4 11A01-11A0A 11A33-11A47 11A51-11A5B "
    "11A8A-11AA2 11C30-11C45 11C70-11C71 11C92-11CB6 11D31-11D47 11D8A-11D97 11EF3-11EF8 11FFF 13430-13438 "
    "16E97-16E9A 16F4F 16F7F-16F87 16FE2-16FE4 16FF0-16FF1 1E000-1E02A 1E130-1E136 1E2EC-1E2EF 1E944-1E94A 1E95E-1E95F"
)

#: Marks with their places among others, decompositions and compositions.
_FORMS = (
    "7FD 8D3 9FE D3B-D3C EBA 1ABF-1AC0 1DF6-1DF9 32FF A82C AB69 10D24-10D27 10EAB-10EAC 10F46-10F50 1133B 1145E "
    "11839-1183A 11938 1193D-1193E 11943 119E0 11A34 11A47 11A99 11D42-11D45 11D97 16FF0-16FF1 1E130-1E136 1E2EC-1E2EF "
    "1F16C 1FBF0-1FBF9"
)


def _pattern(ranges: str) -> re.Pattern[str]:
    ends = [(low, high or low) for low, _, high in (part.partition("-") for part in ranges.split())]
    return re.compile("[" + "".join(f"\\U{int(low, 16):08x}-\\U{int(high, 16):08x}" for low, high in ends) + "]")


_OF_CATEGORIES, _OF_FORMS = _pattern(_CATEGORIES), _pattern(_FORMS)

#: What the stages look at, by their types in a ``tokenizer.json``.
_BY_STAGE = {
    "BertNormalizer": (_OF_CATEGORIES, _OF_FORMS),
    "BertPreTokenizer": (_OF_CATEGORIES,),
    "StripAccents": (_OF_CATEGORIES,),
    "NFC": (_OF_FORMS,),
    "NFD": (_OF_FORMS,),
    "NFKC": (_OF_FORMS,),
    "NFKD": (_OF_FORMS,),
}


def has_unknown(text: str, stages: Iterable[str]) -> bool:
    """Say whether a text has a character that one of the stages, given by their types, has not.

    >>> has_unknown("\u2e43", ["BertPreTokenizer"]), has_unknown("\u2e43", ["WhitespaceSplit"])
    (True, False)
    >>> has_unknown("\u32ff", ["NFKC"])
    True
    """
    return any(pattern.search(text) for stage in stages for pattern in _BY_STAGE.get(stage, ()))


def put_in_order(text: str) -> Iterator[tuple[int, int]]:
    """Give the start and end of each character with its marks, where decomposition moves one of these.

    >>> list(put_in_order("xq\u0301\u0323, q\u0323\u0301"))
    [(1, 4)]
    """
    starts = [place for place, character in enumerate(text) if not place or _is_start(character)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        characters = [character for character in text[start:end] if category(character)[0] != "C"]
        if normalize("NFKD", "".join(characters)) != "".join(normalize("NFKD", each) for each in characters):
            yield start, end


def _is_start(character: str) -> bool:
    """Say whether no mark moves across a character; one that a stage may remove before is none."""
    return not combining(normalize("NFKD", character)[0]) and category(character)[0] != "C"
