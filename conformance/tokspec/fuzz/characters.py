"""The characters that tokenizers disagree about, by what is special about them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache
from itertools import chain

__all__ = [
    "CASE_CHANGING",
    "COMPATIBILITY",
    "CONTRACTIONS",
    "EMOJI",
    "EXCLUDED",
    "HANGUL",
    "IDEOGRAPHS",
    "KANA",
    "LOOKALIKES",
    "MARKS",
    "NAMES",
    "NEWER",
    "PUNCTUATION",
    "RECENT",
    "WHITE_SPACE",
    "WORDS",
    "assigned_rows",
    "by_category",
]

#: Every code point with Unicode's White_Space property.
WHITE_SPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: What some library takes for white space, or shows as nothing.
LOOKALIKES = "\x1c\x1d\x1e\x1f\u180e\u200b\u200c\u200d\u2060\ufeff\u00ad\u2800\u3164\uffff\ufdd0\U0001fffe"

#: Marks of the categories Mn, Mc and Me, of several combining classes and of class 0.
MARKS = (
    "\u0300\u0301\u0302\u0307\u0308\u0316\u0323\u0327\u0345\u0591\u0651\u093e\u0903\u0e31\u0e38\u20dd"
    "\u0488\u3099\u309a\u0fb7\U0001d165\u0f71\u0fb8"
)

#: Whose case mapping changes the length, leaves its script, or is one way only.
CASE_CHANGING = "\u212a\u212b\u2126\u1c90\u13a0\ua64aİIıißẞŉǰΐΣσςſKÅΩǅǆﬀﬁԱևᏸꭰⰀꞰ𐐀ᾳᾼ"

#: Compatibility characters of each kind.
COMPATIBILITY = "ﬁﬂ²①½ªºﷺ㍿ｱ￥Ａ０™ℵⅣ㎏ﾞ…‼︰\u2011"

#: Composed characters that composition leaves alone, singletons among them.
EXCLUDED = (
    "\u0958\u095f\u0340\u0341\u0374\u037e\u0387\u212a\u212b\u2126\u2adc\ufb1d\ufb2a\u0f43\u0f73\U0001d15e\u2000\uf900"
)

#: A composed syllable, its jamo, and what stands at the ends of their ranges.
HANGUL = "\ud55c\uac01\uac00\ud7a3\u1100\u1112\u1113\u1161\u1175\u1176\u11a7\u11a8\u11c2\u11c3\u115f\u3131"

#: Both sides of the ends of every range of ideographs in NORM-BERT-3.
IDEOGRAPHS = "".join(
    chr(end + step)
    for start, stop in (
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B820, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    )
    for end, steps in ((start, (-1, 0, 3)), (stop, (-3, 0, 1)))
    for step in steps
)

KANA = "あがぱアガパーゞヴ\u3099ｶﾞ"

#: Sequences that are seen as one.
EMOJI = ("👋", "👨\u200d👩\u200d👧", "👍🏽", "🇫🇷", "❤\ufe0f", "1\ufe0f\u20e3", "🏴\U000e0067\U000e007f", "🙂")

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¿¡«»–—…、。「」؟।§€£¥+×÷©°‘’“”¨´"

CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'RE", "'LL", "’s", "’re", "'", "''s", " 's", "'x")

#: A word or two of many scripts, and of what people feed to tokenizers.
WORDS = tuple(
    (
        "Hello|world|Café|naïve|ΟΔΟΣ|ΑΣ|Москва|שָׁלוֹם|مرحبا|नमस्ते|বাংলা|தமிழ்|สวัสดี|ລາວ|ភាសា|"
        "မြန်မာ|བོད|საქართველო|Հայերեն|አማርኛ|ᏣᎳᎩ|ᠮᠣᠩᠭᠣᠯ|한국어|中文|日本語|ひらがな|𐐔𐐯𐐝|𞤀𞤁|straße|İstanbul|"
        "TITLE|x²|½!|3.14|1234567|٣٤|def f(x):\n    return x|a_b-c|the-final--countdown|"
        "https://x.y/?q=1|don't|we've|I'M|a\r\nb|{}|"
    )[:-1].split("|")
)

#: What every object of a language has, where a vocabulary is an object.
NAMES = ("constructor", "__proto__", "toString", "hasOwnProperty")

#: Characters of several categories that versions 8 to 13 of Unicode assigned: older tables do not have them.
RECENT = (
    "\u2e43\u2e44\u2e4f\u2e52\u0c77\u1c90\u1878\u08d4\u08d5\u0d00\u09fe\ua7bb\u1dfb\u32ff\U0001e140"
    "\U0001e2f0\U00016e40\U00010fe0\U0001fbf1\U0001fa74"
)

#: Ranges that versions of Unicode since 15 assign: a table of an older version does not have them.
_NEWER = (
    "1C89-1C8A A7CB-A7CD A7DA-A7DC 10D40-10D65 105C0-105F3 11BC0-11BE1 11F00-11F10 1E4D0-1E4F9 1E5D0-1E5F0 "
    "1E030-1E06D 2EBF0-2EE5D 2FFC-2FFF 31350-323AF 1FAE8-1FAE9 1CCF0-1CCF9"
)
NEWER = tuple((int(low, 16), int(high, 16)) for low, _, high in (part.partition("-") for part in _NEWER.split()))


@cache
def by_category() -> Mapping[str, str]:
    """Return the code points of every general category, those that are not assigned included; of large ones a part.

    >>> sorted(by_category()) == sorted({unicodedata.category(chr(code)) for code in range(0x110000)})
    True
    """
    found: dict[str, list[str]] = {}
    for code in chain(range(0x32400), range(0xE0000, 0xE0200), range(0x40000, 0x110000, 997)):
        found.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    return {category: "".join(members[:: max(1, len(members) // 2000)]) for category, members in found.items()}


@cache
def assigned_rows() -> tuple[int, ...]:
    """Return the first code point of every 64 that hold an assigned character: each script has a row or more.

    >>> assigned_rows()[:2]
    (0, 64)
    """
    return tuple(
        row
        for row in (*range(0, 0x32400, 64), *range(0xE0000, 0xE0200, 64))
        if any(map(_is_assigned, range(row, row + 64, 7)))
    )


def _is_assigned(code: int) -> bool:
    return unicodedata.category(chr(code)) not in ("Cn", "Co", "Cs")
