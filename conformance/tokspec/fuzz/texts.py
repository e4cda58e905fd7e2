"""Texts for a model, in parts: each part is of one category, and what glues parts together is chance.

What finds most is the mix. Every part has its share of the texts, and every text is made for the model that gets it:
from its tokens, its special tokens and its alphabet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from unicodedata import normalize

from tokspec.fuzz import characters
from tokspec.fuzz.sweeps import combining, sweep

__all__ = ["CATEGORIES", "Material", "text"]


@dataclass(frozen=True)
class Material:
    """What a model gives to texts: its alphabet, its tokens as they stand in texts, its special tokens.

    ``plain`` is how often a text is of the model's own material alone, from 0 to 1; ``focus`` names the categories of
    all others, any unless some are named.
    """

    alphabet: str = "ab"
    tokens: Sequence[str] = ()
    special: Sequence[str] = ()
    plain: float = 0.3
    focus: tuple[str, ...] = ()


def text(random: Random, material: Material, used: set[str] | None = None) -> str:
    """Make a text; the names of the categories that it has parts of are added to ``used``.

    >>> set(text(Random(3), Material("ab", ["ab", "ba"], plain=1.0))) <= {"a", "b", " "}
    True
    """
    if random.random() < 0.02:
        return ""
    if material.tokens and random.random() < 0.03:
        return random.choice(material.tokens)
    if random.random() < 0.01:
        return random.choice(characters.NAMES)
    names: tuple[str, ...] = material.focus or _ALL
    if random.random() < material.plain:
        names = _OWN if random.random() < 0.5 else _PURE
    if material.special and random.random() < 0.5:
        names = (*names, *_SPECIAL)
    chosen = [names[random.randrange(len(names))] for _ in range(_length(random))]
    if used is not None:
        used.update(chosen)
    return "".join(CATEGORIES[name](random, material) for name in chosen)


def _length(random: Random) -> int:
    """Return the number of parts: mostly few, so that each matters, and sometimes many."""
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
    return symbol * _times(random)


def _times(random: Random) -> int:
    """Return the length of a run: mostly short, sometimes beyond a byte, and seldom as deep as a stack is."""
    chance = random.random()
    return random.randrange(2, 7) if chance < 0.96 else random.choice((31, 101, 130, 257, 300, 1200, 1200))


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
    written = normalize("NFD", whole)
    if written != whole and random.random() < 0.5:
        return written
    return random.choice(_DAMAGES)(random, whole)


def _interrupted(random: Random, whole: str) -> str:
    """Put a character into a special token that nobody sees, or that languages ignore."""
    at = random.randrange(len(whole) + 1)
    return whole[:at] + random.choice(("\u00ad", "\u200d", random.choice(characters.LOOKALIKES))) + whole[at:]


def _spaced(random: Random, whole: str) -> str:
    return random.choice((" ", "  ", "")) + whole + random.choice((" ", "  ", "\n", ""))


#: What may stand in the place of a special token and is none.
_DAMAGES: Sequence[Callable[[Random, str], str]] = (
    lambda random, whole: whole[1:],
    lambda random, whole: whole[:-1],
    lambda random, whole: whole.upper(),
    lambda random, whole: whole.lower(),
    lambda random, whole: whole.swapcase(),
    lambda random, whole: whole + random.choice(characters.MARKS),
    _spaced,
    _interrupted,
    _interrupted,
)


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


def _sigma(random: Random, material: Material) -> str:
    before = random.choice(("", "Α", "a", " ", "1", "Α\u0301", "Α.", "Α'", "\u0345"))
    after = random.choice(
        ("", "", "Β", " ", ".", "\u0301", "'", "-b", "\u0301Β", "\u0345", "\u200d", "1", "\x00Β", "\ufffdΒ", "\x7fb")
    )
    return f"{before}Σ{after}"


def _hangul(random: Random, material: Material) -> str:
    if random.random() < 0.5:  # what composes, and what only seems to
        return random.choice("\uac00\uac00\ud55c\u1161") + random.choice("\u11a7\u11a7\u11a8\u11c2\u11c3")
    return "".join(random.choice(characters.HANGUL) for _ in range(random.randrange(1, 4)))


def _number(random: Random, material: Material) -> str:
    return "".join(random.choice("0123456789") for _ in range(random.randrange(1, 6)))


def _surrogate(random: Random, material: Material) -> str:
    return chr(random.randrange(0xD800, 0xE000)) if random.random() < 0.3 else _category(random, material)


def _white(random: Random, material: Material) -> str:
    return "".join(random.choice(characters.WHITE_SPACE) for _ in range(random.randrange(1, 4)))


def _spaces(random: Random, material: Material) -> str:
    return " " * random.choice((1, 1, 1, 2, 3))


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
    "recent characters": _one(characters.RECENT),
    "marks": _one(characters.MARKS),
    "combining sequences": lambda random, material: combining(random),
    "case": _one(characters.CASE_CHANGING),
    "final sigma": _sigma,
    "compatibility characters": _one(characters.COMPATIBILITY),
    "composition exclusions": _one(characters.EXCLUDED),
    "hangul": _hangul,
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
