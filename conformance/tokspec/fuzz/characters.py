"""The characters that tokenizers disagree about, and the pools from which texts are drawn."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from tokspec.compare.shrink import Question, find_values, put_value

#: Every code point with Unicode's White_Space property.
WHITE_SPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: Characters that some library takes for white space, or shows as nothing.
LOOKALIKES = "\x1c\x1d\x1e\x1f\u180e\u200b\u200c\u200d\u2060\ufeff\u00ad\u2800\u3164\uffff\ufdd0\U0001fffe"

#: Marks of the categories Mn, Mc and Me, of several combining classes and of class 0.
MARKS = (
    "\u0300\u0301\u0302\u0307\u0308\u0316\u0323\u0327\u0345\u0591\u0651\u093e\u0903\u0e31\u0e38\u20dd"
    "\u0488\u3099\u309a\u0fb7\U0001d165\u0f71\u0fb8"
)

#: Characters whose case mapping changes the length or the script, or works one way only.
CASE_CHANGING = "\u212a\u212b\u2126\u1c90\u13a0\ua64aİIıißẞŉǰΐΣσςſKÅΩǅǆﬀﬁԱևᏸꭰⰀꞰ𐐀ᾳᾼ"

#: Compatibility characters of each kind.
COMPATIBILITY = "ﬁﬂ²①½ªºﷺ㍿ｱ￥Ａ０™ℵⅣ㎏ﾞ…‼︰\u2011"

#: Composed characters that composition leaves alone, singletons among them.
EXCLUDED = (
    "\u0958\u095f\u0340\u0341\u0374\u037e\u0387\u212a\u212b\u2126\u2adc\ufb1d\ufb2a\u0f43\u0f73\U0001d15e\u2000\uf900"
)

#: A composed syllable, its jamo, and the ends of their ranges.
HANGUL = "\ud55c\uac01\uac00\ud7a3\u1100\u1112\u1113\u1161\u1175\u1176\u11a7\u11a8\u11c2\u11c3\u115f\u3131"

#: Both sides of the ends of every range of ideographs in NORM-BERT-3.
IDEOGRAPHS = "".join(
    chr(end + step)
    for start, stop in (
        *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)),
        *((0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
    )
    for end, steps in ((start, (-1, 0, 3)), (stop, (-3, 0, 1)))
    for step in steps
)

KANA = (*"あがぱアガパーゞヴ\u3099ｶﾞ", "ｶﾞ", "ﾊﾟ", "か\u3099", "は\u309a", "ﾞ\u0334", "ｱﾞ")

#: Sequences that are displayed as one character.
EMOJI = ("👋", "👨\u200d👩\u200d👧", "👍🏽", "🇫🇷", "❤\ufe0f", "1\ufe0f\u20e3", "🏴\U000e0067\U000e007f", "🙂")

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¿¡«»–—…、。「」؟।§€£¥+×÷©°‘’“”¨´"

CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'RE", "'LL", "’s", "’re", "'", "''s", " 's", "'x")

#: A word or two in many scripts, and some typical inputs of tokenizers.
WORDS = tuple(
    (
        "Hello|world|Café|naïve|ΟΔΟΣ|ΑΣ|Москва|שָׁלוֹם|مرحبا|नमस्ते|বাংলা|தமிழ்|สวัสดี|ລາວ|ភាសា|"
        "မြန်မာ|བོད|საქართველო|Հայերեն|አማርኛ|ᏣᎳᎩ|ᠮᠣᠩᠭᠣᠯ|한국어|中文|日本語|ひらがな|𐐔𐐯𐐝|𞤀𞤁|straße|İstanbul|"
        "TITLE|x²|½!|3.14|1234567|٣٤|def f(x):\n    return x|a_b-c|the-final--countdown|"
        "https://x.y/?q=1|don't|we've|I'M|a\r\nb|{}|"
    )[:-1].split("|")
)

#: Names that every object has in a language where a vocabulary may be an object.
NAMES = ("constructor", "__proto__", "toString", "hasOwnProperty")

#: Tokens that languages and libraries take for something else: for nothing, a number, a name, or two tokens.
ODD_TOKENS = (
    *("", "7", "07", "0", "00", "1e1", "a ", " a", " ", "\0", "a\0", "true", "null", "None", "##", "<0x41>", "<0x+A>"),
    *("<0xé>", "a<0x41>", "\ufeff", "\ufeffa", "\ufffd", "\n", "a\n", "\U0001f600", "é", "e\u0301", *NAMES[:2]),
)

#: Characters of several categories that Unicode 8 to 13 assigned, and that older tables lack.
RECENT = (
    "\u2e43\u2e44\u2e4f\u2e52\u0c77\u1c90\u1878\u08d4\u08d5\u0d00\u09fe\ua7bb\u1dfb\u32ff\U0001e140"
    "\U0001e2f0\U00016e40\U00010fe0\U0001fbf1\U0001fa74"
)

#: Ranges that 14.0 assigned.
_SINCE_14 = (
    "61D-61D 870-88E 890-891 898-89F 8B5-8B5 8C8-8D2 C3C-C3C C5D-C5D CDD-CDD 170D-170D 1715-1715 171F-171F "
    "180F-180F 1AC1-1ACE 1B4C-1B4C 1B7D-1B7E 1DFA-1DFA 20C0-20C0 2C2F-2C2F 2C5F-2C5F 2E53-2E5D 9FFD-9FFF A7C0-A7C1 "
    "A7D0-A7D1 A7D3-A7D3 A7D5-A7D9 A7F2-A7F4 FBC2-FBC2 FD40-FD4F FDCF-FDCF FDFE-FDFF 10570-1057A 1057C-1058A "
    "1058C-10592 10594-10595 10597-105A1 105A3-105B1 105B3-105B9 105BB-105BC 10780-10785 10787-107B0 107B2-107BA "
    "10F70-10F89 11070-11075 110C2-110C2 116B9-116B9 11740-11746 11AB0-11ABF 12F90-12FF2 16A70-16ABE 16AC0-16AC9 "
    "1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B11F-1B122 1CF00-1CF2D 1CF30-1CF46 1CF50-1CFC3 1D1E9-1D1EA 1DF00-1DF1E "
    "1E290-1E2AE 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1F6DD-1F6DF 1F7F0-1F7F0 1F979-1F979 1F9CC-1F9CC "
    "1FA7B-1FA7C 1FAA9-1FAAC 1FAB7-1FABA 1FAC3-1FAC5 1FAD7-1FAD9 1FAE0-1FAE7 1FAF0-1FAF6 2A6DE-2A6DF 2B735-2B738 "
)

#: Ranges in which later versions assigned characters, including gaps.
_SINCE_15 = (
    "CF3-CF3 ECE-ECE 10EFD-10EFF 1123F-11241 11B00-11B09 11F00-11F59 1342F-1342F 13439-13455 1B132-1B132 "
    "1B155-1B155 1D2C0-1D2D3 1DF25-1DF2A 1E030-1E08F 1E4D0-1E4F9 1F6DC-1F6DC 1F774-1F77F 1F7D9-1F7D9 1FA75-1FA77 "
    "1FA87-1FA8F 1FAAD-1FAAF 1FABB-1FABF 1FACE-1FACF 1FADA-1FADF 1FAE8-1FAEF 1FAF7-1FAF8 2B739-2B73F 31350-323AF "
    "2FFC-2FFF 31EF-31EF 2EBF0-2EE5D 897-897 1B4E-1B4F 1B7F-1B7F 1C89-1C8A 2427-2429 31E4-31E5 A7CB-A7D2 A7DA-A7DC "
    "10D40-10D8F 10EC2-10EFC 105C0-105F3 11380-113E2 116D0-116E3 11BC0-11BF9 11F5A-11F5A 13460-143FA 16100-16139 "
    "16D40-16D79 1CC00-1CEFF 1E5D0-1E5FF 1F8B2-1F8C1 1FAC6-1FAC6 1FBCB-1FBEF 323B0-3347F "
)

#: Characters whose category a version since 14.0 changed.
_CHANGED = "295-295 1734-1734 1171E-1171E"

_RANGES = [part.partition("-")[::2] for part in (_SINCE_14 + _SINCE_15 + _CHANGED).split()]
_NEWER = re.compile("[" + "".join(f"\\U{int(low, 16):08x}-\\U{int(high, 16):08x}" for low, high in _RANGES) + "]")


def has_newer(text: str, letters: bool = True) -> bool:
    """Return whether a text has a character on which versions of Unicode since 13.0 differ.

    Code points that no version assigns yet count too, because the next version may assign them. Without ``letters``,
    those that can only become ideographs do not count, because they matter only where letters are told apart from other
    characters.

    >>> has_newer("abc"), has_newer("\u061d"), has_newer("\U0002a6de"), has_newer("\U0002a6de", letters=False)
    (False, True, True, False)
    >>> has_newer("\u1734")  # Mn until 13.0, and Mc since
    True
    """
    if text.isascii():
        return False
    if not letters:
        text = _IDEOGRAPHS.sub("", text)
    return bool(_NEWER.search(text)) or any(_may_be_assigned(character) for character in text)


_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fffd]")


def _may_be_assigned(character: str) -> bool:
    number = ord(character)
    is_never = number & 0xFFFE == 0xFFFE or 0xFDD0 <= number <= 0xFDEF
    return not is_never and unicodedata.category(character) == "Cn"


def is_recent(text: str) -> bool:
    """Return whether a text has a character that Unicode 3.2 lacks, and that an old table may lack too (TERM-6).

    >>> is_recent("a\u2e52"), is_recent("é")
    (True, False)
    """
    return any(
        unicodedata.ucd_3_2_0.category(character) == "Cn" != unicodedata.category(character) for character in text
    )


def _by_category() -> Mapping[str, str]:
    """Return the code points of every general category, including unassigned; of large categories, a part."""
    found: dict[str, list[str]] = {}
    for code in chain(range(0x32400), range(0xE0000, 0xE0200), range(0x40000, 0x110000, 997)):
        found.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    return {category: "".join(members[:: max(1, len(members) // 128)]) for category, members in found.items()}


def _assigned_rows() -> list[list[str]]:
    """Return rows of 64 characters: one or more for each script; of vast scripts, whose rows are alike, one in 64."""
    rows = []
    for first in (*range(0, 0x32400, 64), *range(0xE0000, 0xE0080, 64)):
        is_vast = any(low <= first < high for low, high in _VAST)
        if not (is_vast and first % 4096):
            row = [chr(code) for code in range(first, first + 64) if not 0xD800 <= code < 0xE000]
            rows.append([each for each in row if unicodedata.category(each) != "Co" and not has_newer(each)])
    return [row for row in rows if row]


_VAST = ((0x3400, 0x9FC0), (0xAC00, 0xD7A0), (0x17000, 0x18D00), (0x20000, 0x31340))

#: The combining class of the last but one is 0, but those of its parts are not.
_MARKED = [
    base + marks
    for base in "aeouÅêsàកक가ΑIあ"
    for marks in (
        *("\u0301", "\u0301\u0323", "\u0323\u0301", "\u0302\u0301", "\u0307\u0307", "\u0327\u0301", "\u0308" * 31),
        *("\uff9e\u0334", "\u0f73\u0334"),
    )
]
_SIGMA = [
    f"{before}Σ{after}"
    for before in ("", "Α", "a", " ", "1", "Α\u0301", "Α.", "Α'", "\u0345")
    for after in (
        *("", "Β", " ", ".", "\u0301", "'", "-b", "\u0301Β", "\u0345", "\u200d", "1", "\x00Β", "\ufffdΒ", "\x7fb"),
    )
]
_SYLLABLES = [
    *(first + last for first in "\uac00\ud55c\u1161\ud788" for last in "\u11a7\u11a8\u11c2\u11c3"),
    *("\u1100\u1161", "\u1100\u1161\u11a7", "\u1112\u1175\u11c2", "\u1112\u1175\u11c3", *HANGUL),
]
_NUMBERS = ["1", "12", "123", "1234", "a1", "1a", "½", "²", "٣", "Ⅳ", "①", "৩", "𝟘", "〇", "一二三"]
_REPEATED = [*(part * times for part in "a 1\n▁中" for times in (2, 3, 5, 31, 101, 130, 257)), "a" * 1200]
_GLUE = ["\r\n", "\r", "\n\r", "\ufffd", "▁", "_", "##", "Ġ", "\ufeff", "\n\n", " \n ", "  ", "\t"]

#: Tables of odd parts, and how many places each has among all odd parts; the first ``_WITH_ROWS`` also form rows.
_TABLES: Sequence[tuple[Sequence[str], int]] = (
    (WHITE_SPACE, 64),
    (LOOKALIKES, 48),
    (MARKS, 48),
    (CASE_CHANGING, 64),
    (COMPATIBILITY, 40),
    (EXCLUDED, 40),
    (_SYLLABLES, 64),
    (IDEOGRAPHS, 64),
    (KANA, 32),
    (EMOJI, 16),
    (PUNCTUATION, 80),
    (CONTRACTIONS, 48),
    (_NUMBERS, 48),
    (_MARKED, 96),
    (_SIGMA, 128),
    (WORDS, 80),
    (RECENT, 32),
    (_GLUE, 48),
    (("\ud800", "\udfff", "\ud83d", "a\udc00", "\udc00\ud800"), 5),
    (NAMES, 8),
    ("AÉÀȘǏĆΩБéàñçÅøłжŵ", 32),
    ([chr(code) for code in range(256)], 256),
    ([chr(int(high, 16)) for _, high in _RANGES[::8]], len(_RANGES[::8])),
    (_REPEATED, 40),
)
_WITH_ROWS = 17


def _spread(parts: Sequence[str], places: int) -> list[str]:
    """Select ``places`` parts, spread over all of them, or with all of them repeated."""
    count = len(parts)
    return [parts[place * count // places if count > places else place % count] for place in range(places)]


#: Parts of texts, each of which is odd in some way.
ODD: Sequence[str] = [part for parts, places in _TABLES for part in _spread(parts, places)]


@cache
def _rows() -> Sequence[Sequence[str]]:
    named = [[part for part in parts if not has_newer(part)] for parts, _ in _TABLES[:_WITH_ROWS]]
    members = [
        [each for each in some if not has_newer(each)] for name, some in sorted(_by_category().items()) if name != "Cs"
    ]
    cut = [[row[at : at + 64] for row in rows for at in range(0, len(row), 64)] for rows in (named, members)]
    return cut[0] * 16 + cut[1] * 6 + _assigned_rows()[::2]


#: Rows of up to 64 similar parts, so that anything odd about one of them comes up; the named rows are likelier.
ROWS: Sequence[Sequence[str]] = _rows()


# Character maps


def _character_map(replacements: Mapping[str, str], root: Sequence[int] = range(256)) -> str:
    """Write a character map as the most compact double-array trie (NORM-MAP-1, NORM-MAP-3).

    ``root`` are the offsets that the root may have; multiples of 256 are written in another way.

    >>> from base64 import b64decode
    >>> from tokref.charsmap import read_map
    >>> read_map(b64decode(_character_map({"a": "b"}))).steps("ca")
    [('c', 0, 1), ('b', 1, 2)]
    """
    keys, texts = {key.encode(): text for key, text in replacements.items()}, bytearray()
    units, bases, waiting = {0: 0}, set[int](), [(b"", 0)]
    for prefix, place in waiting:  # grows
        bytes_behind = {key[len(prefix)] for key in keys if key.startswith(prefix) and key != prefix}
        members = {*bytes_behind, *([0] if prefix in keys else [])}
        free = [base for base in (range(1024) if place else root) if base not in bases]
        fitting = (base for base in free if all(base ^ member not in units for member in members))
        base = min(fitting, key=lambda base: max(base ^ member for member in members))
        bases.add(base)
        offset = base ^ place
        units[place] |= offset << 2 | 0x200 if offset and offset % 256 == 0 else offset << 10
        for byte in sorted(bytes_behind):
            units[base ^ byte] = byte
            waiting.append((prefix + bytes([byte]), base ^ byte))
        if prefix in keys:
            units[place] |= 0x100
            units[base] = 0x80000000 | len(texts)
            texts += keys[prefix].encode() + b"\0"
    trie = b"".join(units.get(place, 0x80000000).to_bytes(4, "little") for place in range(max(units) + 1))
    return b64encode(len(trie).to_bytes(4, "little") + trie + texts).decode()


#: Maps whose keys are prefixes or parts of each other, have several bytes, or are next to spaces and marks.
CHARACTER_MAPS = (
    _character_map({"a": "b"}),
    _character_map({"a": "", "ab": "X"}),
    _character_map({"\n": " ", "é": "e"}),
    _character_map({"b": " a ", "a": "▁"}),
    "",
    _character_map({"aa": "a", "aab": "\u0301"}),
    _character_map({"\u0301": "", "a\u0301": "á", "👋": "👋🏽"}),
    _character_map({"ab": "Y", "a": "XX"}, [256]),
)

#: The shortest map of each kind, with a text that it changes.
_SHORT_MAPS = tuple(
    (max(replacements, key=len), _character_map(replacements))
    for replacements in (
        *({"b": "a"}, {"a": ""}, {"b": "aa"}, {"b": " "}, {" ": "a"}, {"aa": "a"}, {"é": "a"}, {"b": "é"}, {"👋": "a"}),
        *({"\u0301": ""}, {"a": "", "a\n": "a"}),
    )
)


def shorter_maps(question: Question) -> Iterator[Question]:
    """Replace a character map by a shorter one, and the text by that map's."""
    for path, long in find_values(question.model, str):
        for text, charsmap in _SHORT_MAPS if path[-1] == "charsmap" else ():
            if len(charsmap) < len(long):
                shorter = replace(question, model=put_value(question.model, path, charsmap))
                yield shorter
                for at, _ in find_values(question.input, str):
                    if at[-1] == "text":
                        yield replace(shorter, input=put_value(question.input, at, text))
