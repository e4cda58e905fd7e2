"""Texts for a model, in parts: each part is of one category, and what glues parts together is chance.

What finds most is the mix. Every part has its share of the texts, and every text is made for the model that gets it:
from its tokens, its special tokens and its alphabet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tokspec.fuzz import characters
from tokspec.fuzz.ages import has_newer

__all__ = ["CATEGORIES", "Material", "sweep", "text"]


@dataclass(frozen=True)
class Material:
    """What a model gives to texts: its alphabet, its tokens as they stand in texts, its special tokens.

    ``plain`` is how often a text is of the model's own material alone, from 0 to 1.
    """

    alphabet: str = "ab"
    tokens: Sequence[str] = ()
    special: Sequence[str] = ()
    plain: float = 0.3


def text(random: Random, material: Material, used: set[str] | None = None) -> str:
    """Make a text; the names of the categories that it has parts of are added to ``used``.

    >>> set(text(Random(3), Material("ab", ["ab", "ba"], plain=1.0))) <= {"a", "b", " "}
    True
    """
    if random.random() < 0.02:
        return ""
    if random.random() < material.plain:
        names = _OWN if random.random() < 0.5 else _PURE
    else:
        names = _ALL
    if material.special and random.random() < 0.5:
        names = (*names, *_SPECIAL)
    chosen = [names[random.randrange(len(names))] for _ in range(_length(random))]
    if used is not None:
        used.update(chosen)
    return "".join(CATEGORIES[name](random, material) for name in chosen)


def _length(random: Random) -> int:
    """Give the number of parts: mostly few, so that each matters, and sometimes many."""
    return random.randrange(1, 4) if random.random() < 0.6 else random.randrange(2, 9)


def _one(table: Sequence[str]) -> Callable[[Random, Material], str]:
    return lambda random, material: table[random.randrange(len(table))]


def _tokens(random: Random, material: Material) -> str:
    if not material.tokens:
        return _letters(random, material)
    return "".join(random.choice(material.tokens) for _ in range(random.randrange(1, 4)))


def _cut_token(random: Random, material: Material) -> str:
    return _cut(random, random.choice(material.tokens)) if material.tokens else _letters(random, material)


def _cut(random: Random, whole: str) -> str:
    at = random.randrange(len(whole) + 1)
    return whole[:at] if random.random() < 0.5 else whole[at:]


def _letters(random: Random, material: Material) -> str:
    return "".join(random.choice(material.alphabet) for _ in range(random.randrange(1, 8)))


def _repeated(random: Random, material: Material) -> str:
    symbol = random.choice(material.alphabet) if random.random() < 0.6 else random.choice(_RUNS)
    return symbol * (random.randrange(2, 7) if random.random() < 0.97 else random.randrange(7, 130))


_RUNS = (" ", "  ", "\n", "\t", "a", "1", "!", "=", "▁", "😀", "é")


def _special(random: Random, material: Material) -> str:
    return random.choice(material.special) if material.special else "<s>"


def _special_nested(random: Random, material: Material) -> str:
    outer, inner = _special(random, material), _special(random, material)
    at = random.randrange(len(outer) + 1)
    return outer[:at] + inner + outer[at:]


def _special_overlapping(random: Random, material: Material) -> str:
    left, right = _special(random, material), _special(random, material)
    return left + right[1:] if random.random() < 0.5 else left[:-1] + right


def _special_damaged(random: Random, material: Material) -> str:
    whole = _special(random, material)
    return random.choice((whole[1:], whole[:-1], whole.upper(), whole.lower(), whole.swapcase(), _spaced(random, whole)))


def _spaced(random: Random, whole: str) -> str:
    return random.choice((" ", "  ", "")) + whole + random.choice((" ", "  ", "\n", ""))


def _category(random: Random, material: Material) -> str:
    table = characters.by_category()
    members = table[random.choice(sorted(table))]
    return random.choice(members)


def _script(random: Random, material: Material) -> str:
    row = random.choice(characters.assigned_rows())
    return "".join(chr(row + random.randrange(64)) for _ in range(random.randrange(1, 4))).translate(_NO_SURROGATES)


_NO_SURROGATES = dict.fromkeys(range(0xD800, 0xE000))


def _newer(random: Random, material: Material) -> str:
    first, last = random.choice(characters.NEWER)
    return chr(random.randrange(first, last + 1))


def _combining(random: Random, material: Material) -> str:
    base = random.choice("aeouÅêsàកक가ΑIあ")
    return base + "".join(random.choice(characters.MARKS) for _ in range(random.randrange(1, 4)))


def _sigma(random: Random, material: Material) -> str:
    before = random.choice(("", "Α", "a", " ", "1", "Α\u0301", "Α.", "Α'", "\u0345"))
    after = random.choice(("", "", "Β", " ", ".", "\u0301", "'", "-b", "\u0301Β", "\u0345", "\u200d", "1", "\x00Β", "\ufffdΒ", "\x7fb"))
    return f"{before}Σ{after}"


def _number(random: Random, material: Material) -> str:
    return "".join(random.choice("0123456789") for _ in range(random.randrange(1, 6)))


def _surrogate(random: Random, material: Material) -> str:
    return chr(random.randrange(0xD800, 0xE000)) if random.random() < 0.3 else _category(random, material)


def _white(random: Random, material: Material) -> str:
    return "".join(random.choice(characters.WHITE_SPACE) for _ in range(random.randrange(1, 4)))


def _spaces(random: Random, material: Material) -> str:
    return " " * random.choice((1, 1, 1, 2, 3))


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
        found = [_combining(random, Material()) for _ in range(20)]
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
    characters.CONTRACTIONS,
    characters.WORDS,
    "½²٣Ⅳ①৩𝟘〇一二三四十百千零",
    [chr(code) for code in range(128)],
    [chr(code) for code in range(128)],
    [chr(code) for code in range(128, 256)],
)


def _sweep(random: Random, material: Material) -> str:
    return sweep(random) if random.random() < 0.3 else _category(random, material)


#: How parts are made, by the name of their category.
CATEGORIES: Mapping[str, Callable[[Random, Material], str]] = {
    "tokens": _tokens,
    "cut tokens": _cut_token,
    "letters": _letters,
    "runs": _repeated,
    "spaces": _spaces,
    "special tokens": _special,
    "nested special tokens": _special_nested,
    "overlapping special tokens": _special_overlapping,
    "damaged special tokens": _special_damaged,
    "white space": _white,
    "invisible characters": _one(characters.LOOKALIKES),
    "contractions": _one(characters.CONTRACTIONS),
    "numbers": _number,
    "other numbers": _one("½²٣Ⅳ①৩𝟘〇一二三"),
    "punctuation": _one(characters.PUNCTUATION),
    "words": _one(characters.WORDS),
    "categories": _category,
    "tables and rows": _sweep,
    "scripts": _script,
    "newer characters": _newer,
    "marks": _one(characters.MARKS),
    "combining sequences": _combining,
    "case": _one(characters.CASE_CHANGING),
    "final sigma": _sigma,
    "compatibility characters": _one(characters.COMPATIBILITY),
    "composition exclusions": _one(characters.EXCLUDED),
    "hangul": _one(characters.HANGUL),
    "ideographs": _one(characters.IDEOGRAPHS),
    "kana": _one(characters.KANA),
    "emoji": _one(characters.EMOJI),
    "carriage returns": _one(("\r\n", "\r", "\n\r")),
    "surrogates": _surrogate,
    "replacement characters": _one(("\ufffd", "▁", "_", "##", "Ġ", "\ufeff")),
    "capitals": _one("AÉÀȘǏĆΩБ"),
    "accents": _one("éàñçÅøłжŵ"),
}

_SPECIAL = ("special tokens",) * 3 + (
    "nested special tokens",
    "overlapping special tokens",
    "damaged special tokens",
)
_OWN = ("tokens", "tokens", "cut tokens", "letters", "letters", "runs", "spaces")
_PURE = ("tokens", "tokens", "cut tokens", "letters")
_ALL = tuple(name for name in CATEGORIES if "special" not in name) + _OWN
