"""Parts of texts that hold many characters which are alike, so that whatever is odd about one of them is met."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tokspec.fuzz import characters
from tokspec.fuzz.ages import has_newer

__all__ = ["combining", "sweep"]


def combining(random: Random) -> str:
    """Make a letter with marks, which compose, block one another or are to be put in order.

    >>> len(combining(Random(1))) > 1
    True
    """
    base = random.choice("aeouÅêsàកक가ΑIあ")
    marks = _ABOVE if random.random() < 0.5 else characters.MARKS
    count = random.randrange(1, 4) if random.random() < 0.97 else random.randrange(29, 35)
    return base + "".join(random.choice(marks) for _ in range(count))


#: Marks of one class: some compose with a letter, and others stand in their way.
_ABOVE = "\u0300\u0301\u0302\u0303\u0307\u0308\u030a\u030c"


def sweep(random: Random) -> str:
    """Make a text of many characters that are alike: tables of special ones, or a row of the code points.

    >>> len(sweep(Random(1))) > 10
    True
    """
    glue = random.choice(("", "a", "a", " ", "b a", "A"))
    chance = random.random()
    if chance < 0.35:
        found = [*random.choice(_TABLES), *random.choice(_TABLES)]
    elif chance < 0.7:
        members = [characters.by_category()[random.choice(_CATEGORIES)] for _ in range(2)]
        found = [random.choice(some) for some in members for _ in range(30)]
    elif chance < 0.8:
        found = [combining(random) for _ in range(20)]
    else:
        row = random.choice(characters.assigned_rows()) if random.random() < 0.8 else random.randrange(0, 0x800, 64)
        found = [chr(code) for code in range(row, row + 64) if not 0xD800 <= code < 0xE000]
    if random.random() < 0.8:  # one character of which versions of Unicode do not agree would excuse all others
        found = [part for part in found if not has_newer(part)]
    if random.random() < 0.3:
        random.shuffle(found)
    return glue.join(found)


#: All but surrogates, of which one has many implementations refuse the text.
_CATEGORIES = (
    *("Cc", "Cf", "Cn", "Co", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No"),
    *("Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"),
)

_TABLES: Sequence[Sequence[str]] = (
    characters.WHITE_SPACE,
    characters.WHITE_SPACE,
    characters.LOOKALIKES,
    characters.MARKS,
    characters.CASE_CHANGING,
    characters.COMPATIBILITY,
    characters.EXCLUDED,
    characters.HANGUL,
    characters.IDEOGRAPHS,
    characters.KANA,
    characters.EMOJI,
    characters.PUNCTUATION,
    characters.RECENT,
    characters.CONTRACTIONS,
    characters.WORDS,
    "½²٣Ⅳ①৩𝟘〇一二三四十百千零",
    ("\uac00\u11a7", "\uac00\u11a8", "\ud55c\u11a7", "\ud788\u11c2", "\u1100\u1161\u11a7", "\u1112\u1175\u11c3"),
    [chr(code) for code in range(128)],
    [chr(code) for code in range(128)],
    [chr(code) for code in range(128, 256)],
)
