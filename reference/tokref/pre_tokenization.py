"""Pre-tokenization: the second stage, normalized text to pieces (``spec/02-pre-tokenization.md``).

A pre-tokenizer is a function from an aligned text to a list of aligned texts, found in a table by the type that the
model names. Its parameters that can only be named are those of the component, with the defaults of the specification.
Each first rewrites the text where its rules say so, and then collects the matches of a pattern from left
to right; what no match covers is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Literal

import regex

from tokref.alignment import AlignedText
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.patterns import Pattern, find_cuts
from tokref.values import Character, Component, Positive

DOCUMENTS = Choices()  # the default where no choices are given

# The package regex knows the properties of Unicode, which the module re does not.
NO_WHITE_SPACE = regex.compile(r"\P{White_Space}+")

# ASCII has signs that Unicode counts among the symbols: $ + < = > ^ ` | ~. To BERT they are punctuation all the same.
PUNCTUATION = r"!-/:-@\[-`{-~\p{P}"  # PRE-BERT-3
BERT = regex.compile(rf"[{PUNCTUATION}]|[^\p{{White_Space}}{PUNCTUATION}]+")

# The pattern of GPT-2, as OpenAI published it with the model (``encoder.py``). Two things are odd about it. It knows
# contractions in lower case alone, and with the ASCII apostrophe alone: of DON'T it makes DON ' T. And one space, but
# no other white space, goes with the word after it, so that "a word" and "aword" end in different tokens.
GPT_2 = regex.compile(  # PRE-BYTE-1
    r"'(?:s|t|re|ve|m|ll|d)"
    r"| ?\p{L}+"
    r"| ?\p{N}+"
    r"| ?[^\p{White_Space}\p{L}\p{N}]+"
    r"|\p{White_Space}+(?!\P{White_Space})"  # PRE-BYTE-2: before a word, all white space but the last character
    r"|\p{White_Space}+"
)


NUMBER = regex.compile(r"\p{N}")  # PRE-DIGITS-1
PUNCTUATION_CHARACTER = regex.compile(rf"[{PUNCTUATION}]")
WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d"  # PRE-WORDS-1
WORDS = regex.compile(rf"[{WORD}]+|[^{WORD}\p{{White_Space}}]+")

SCRIPTS: list[str] = regex.findall(  # the most frequent first
    r"\w+",
    "Latin Common Han Hiragana Katakana Inherited Cyrillic Arabic Adlam Ahom AnatolianHieroglyphs Armenian Avestan "
    "Balinese Bamum BassaVah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid CanadianAboriginal Carian "
    "CaucasianAlbanian Chakma Cham Cherokee Coptic Cuneiform Cypriot Deseret Devanagari Duployan EgyptianHieroglyphs "
    "Elbasan Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Hangul Hanunoo Hatran Hebrew "
    "ImperialAramaic InscriptionalPahlavi InscriptionalParthian Javanese Kaithi Kannada KayahLi Kharoshthi Khmer "
    "Khojki Khudawadi Lao Lepcha Limbu LinearA LinearB Lisu Lycian Lydian Mahajani Malayalam Mandaic Manichaean "
    "Marchen MeeteiMayek MendeKikakui MeroiticCursive MeroiticHieroglyphs Miao Modi Mongolian Mro Multani Myanmar "
    "Nabataean NewTaiLue Newa Nko Ogham OlChiki OldHungarian OldItalic OldNorthArabian OldPermic OldPersian "
    "OldSouthArabian OldTurkic Oriya Osage Osmanya PahawhHmong Palmyrene PauCinHau PhagsPa Phoenician PsalterPahlavi "
    "Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala SoraSompeng Sundanese SylotiNagri "
    "Syriac Tagalog Tagbanwa TaiLe TaiTham TaiViet Takri Tamil Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta "
    "Ugaritic Vai WarangCiti Yi",
)
"""The scripts of Unicode 9: those of later versions are not told apart (PRE-SCRIPTS-3)."""

Behavior = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]

Part = tuple[int, int, bool]
"""Where a part of a text starts and ends, and whether it is a match."""


def pre_tokenize(text: AlignedText, pre_tokenizer: Component | None, choices: Choices = DOCUMENTS) -> list[AlignedText]:
    """Cut a text into pieces, in the order of the text (PRE-1).

    >>> [piece.text for piece in pre_tokenize(AlignedText.from_input("¿Qui, 5?"), Component("bert"))]
    ['¿', 'Qui', ',', '5', '?']
    """
    if not text.text:  # PRE-2
        return []
    if pre_tokenizer is None:  # PRE-2
        return [text]
    return PRE_TOKENIZERS[pre_tokenizer.type](text, choices, **pre_tokenizer.parameters)


def split_in_order(text: AlignedText, choices: Choices, *, pre_tokenizers: tuple[Component, ...]) -> list[AlignedText]:
    """Apply each pre-tokenizer to every piece of the one before (PRE-SEQUENCE-1)."""
    pieces = [text]
    for pre_tokenizer in pre_tokenizers:
        pieces = [part for piece in pieces for part in pre_tokenize(piece, pre_tokenizer, choices)]
    return pieces


def split_whitespace(text: AlignedText, choices: Choices) -> list[AlignedText]:
    """Cut at white space and drop it (PRE-SPACE-1)."""
    return _matches(NO_WHITE_SPACE, text)


def split_bert(text: AlignedText, choices: Choices) -> list[AlignedText]:
    """Cut at white space, which is dropped (PRE-BERT-1), and around each punctuation character (PRE-BERT-2)."""
    return _matches(BERT, text)


def split_byte_level(
    text: AlignedText, choices: Choices, *, add_prefix_space: bool = False, use_regex: bool = True
) -> list[AlignedText]:
    """Cut as GPT-2 does, and write every byte of a piece as a character."""
    # So that a word has the same token at the start of a text as within it.
    if add_prefix_space and not text.text.startswith(" "):  # PRE-BYTE-4
        text = text.prefix(" ")
    pieces = _matches(GPT_2, text) if use_regex else [text]  # PRE-BYTE-5
    return [_write_bytes(piece) for piece in pieces]


def split_metaspace(
    text: AlignedText,
    choices: Choices,
    *,
    replacement: Character = "▁",
    prepend_scheme: Literal["always", "first", "never"] = "always",
    split: bool = True,
) -> list[AlignedText]:
    """Replace spaces by a visible character, and begin a piece at each of them."""
    text = text.replace_each(" ", replacement)  # PRE-META-1
    # After an added token a text goes on, and a mark of a space would be one that nobody wrote.
    is_wanted = prepend_scheme == "always" or (prepend_scheme == "first" and text.is_first)  # PRE-META-4
    # A text that begins with a space has its mark by now.
    if is_wanted and not text.text.startswith(replacement):  # PRE-META-2
        text = text.prefix(replacement)
    if not split:  # PRE-META-3
        return [text]
    return _matches(regex.compile(rf"(?s).[^{regex.escape(replacement)}]*"), text)


def split_pattern(
    text: AlignedText, choices: Choices, *, pattern: Pattern, behavior: Behavior, invert: bool = False
) -> list[AlignedText]:
    """Cut at the matches of a pattern, or with ``invert`` at what is between them (PRE-SPLIT-1, PRE-SPLIT-6)."""
    return _split(text, find_cuts(pattern, text.text, choices), behavior, invert)


def split_digits(text: AlignedText, choices: Choices, *, individual_digits: bool = False) -> list[AlignedText]:
    """Cut around numbers, each number character apart or runs of them together (PRE-DIGITS-1)."""
    return _split(text, _places(NUMBER, text), "isolated" if individual_digits else "contiguous")


def split_punctuation(text: AlignedText, choices: Choices, *, behavior: Behavior = "isolated") -> list[AlignedText]:
    """Cut at each punctuation character (PRE-PUNCT-1)."""
    return _split(text, _places(PUNCTUATION_CHARACTER, text), behavior)


def split_words(text: AlignedText, choices: Choices) -> list[AlignedText]:
    """Keep runs of word characters and runs of other visible characters (PRE-WORDS-1)."""
    return _matches(WORDS, text)


def split_at_delimiter(text: AlignedText, choices: Choices, *, delimiter: Character) -> list[AlignedText]:
    """Cut at each delimiter and drop it (PRE-DELIMITER-1)."""
    return _split(text, _places(regex.compile(regex.escape(delimiter)), text), "removed")


def split_fixed_length(text: AlignedText, choices: Choices, *, length: Positive = 5) -> list[AlignedText]:
    """Cut into pieces of ``length`` characters, the last of which may have fewer (PRE-FIXED-1).

    >>> [piece.text for piece in split_fixed_length(AlignedText.from_input("hugs"), Choices(), length=3)]
    ['hug', 's']
    """
    return [text.cut(begin, begin + length) for begin in range(0, len(text.text), length)]


def split_scripts(text: AlignedText, choices: Choices) -> list[AlignedText]:
    """Begin a piece where the script changes (PRE-SCRIPTS-1).

    >>> [piece.text for piece in split_scripts(AlignedText.from_input("Apples are りんご 林檎"), Choices())]
    ['Apples are ', 'りんご 林檎']
    """
    begins = [0]
    before = None
    for place, character in enumerate(text.text):
        script = script_of(character)
        if script is None:  # PRE-SCRIPTS-3: even at the start nothing is dropped
            continue
        begins += [place] if before not in (None, script) else []
        before = script
    return [text.cut(begin, end) for begin, end in pairwise([*begins, len(text.text)])]


def script_of(character: str) -> str | None:
    """Return the script that a character counts for, or None if it goes with every script.

    >>> script_of("ひ"), script_of("é"), script_of(","), script_of(" ")
    ('Han', 'Latin', 'Common', None)
    """
    if character == " ":  # PRE-SCRIPTS-3
        return None
    script = next((name for name in SCRIPTS if regex.match(rf"\p{{Script={name}}}", character)), None)
    # Japanese writes one word in several of them. ー makes a vowel of kana long; to Unicode it is of all scripts.
    return "Han" if script in ("Hiragana", "Katakana") or character == "ー" else script  # PRE-SCRIPTS-2


def utf_8(text: str) -> bytes:
    """Return the UTF-8 of a text. Only here is a lone surrogate not a character like any other (TERM-8).

    Raises:
        InputError: ``invalid_input``, for a lone surrogate, which has none (PRE-BYTE-6).
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        found = f"U+{ord(text[error.start]):04X}"
        raise InputError("invalid_input", f"the lone surrogate {found} has no UTF-8; replace it") from error


# A vocabulary is a text file, in which spaces and control characters get lost. So a visible character stands for each
# byte. Most bytes keep their character in Latin-1. The other 68 take the characters from U+0100 on, in order: the space
# is the 33rd of them and becomes U+0120, Ġ.
def _make_byte_characters() -> tuple[str, ...]:
    themselves = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in themselves]  # 68 of them
    return tuple(chr(byte) if byte in themselves else chr(0x100 + others.index(byte)) for byte in range(256))


BYTE_CHARACTERS = _make_byte_characters()
"""The character that stands for each byte, by the byte's value (PRE-BYTE-3)."""


def _write_bytes(piece: AlignedText) -> AlignedText:
    """Write the UTF-8 of each character, a character for each byte (PRE-BYTE-3); so none is unknown (BPE-BYTE-1)."""
    written = [in_byte_alphabet(character) for character in piece.text]  # PRE-BYTE-6
    return piece.rewrite((text, place, place + 1) for place, text in enumerate(written))


def in_byte_alphabet(text: str) -> str:
    """Write the UTF-8 of a text, a character for each byte.

    >>> in_byte_alphabet("é b")
    'Ã©Ġb'
    """
    return "".join(BYTE_CHARACTERS[byte] for byte in utf_8(text))


def puts_replacement(pre_tokenizer: Component | None) -> bool:
    """Say whether a pre-tokenizer puts a replacement before texts, for the space that decoding drops (DEC-META-2).

    >>> puts_replacement(Component("metaspace", {"prepend_scheme": "never"}))
    False
    """
    if pre_tokenizer is None:
        return False
    if pre_tokenizer.type == "sequence":
        return any(map(puts_replacement, pre_tokenizer.parameters["pre_tokenizers"]))
    return pre_tokenizer.type == "metaspace" and pre_tokenizer.parameters["prepend_scheme"] != "never"


def _split(
    text: AlignedText, matches: list[tuple[int, int]], behavior: Behavior, invert: bool = False
) -> list[AlignedText]:
    """Cut a text into matches and what is between them, and join or drop them as the behavior says."""
    parts = _alternate(matches, len(text.text))  # from the first character to the last, each a match or not
    if invert:  # PRE-SPLIT-6
        parts = [(begin, end, not is_match) for begin, end, is_match in parts]
    if behavior == "removed":  # PRE-SPLIT-2
        parts = [part for part in parts if not part[2]]
    parts = _join(parts, JOINED[behavior])
    parts = [part for part in parts if part[0] < part[1]]  # PATTERN-17
    return [text.cut(begin, end) for begin, end, _ in parts]


def _alternate(matches: list[tuple[int, int]], length: int) -> list[Part]:
    parts: list[Part] = []
    place = 0
    for begin, end in matches:
        parts += [(place, begin, False)] if place < begin else []
        parts.append((begin, end, True))
        place = end
    return parts + ([(place, length, False)] if place < length else [])


JOINED: Mapping[Behavior, list[tuple[bool, bool]]] = {
    "removed": [],
    "isolated": [],
    "merged_with_previous": [(False, True)],  # PRE-SPLIT-3: a match joins the text before it
    "merged_with_next": [(True, False)],  # PRE-SPLIT-4: a match joins the text after it
    "contiguous": [(True, True), (False, False)],  # PRE-SPLIT-5
}
"""Which neighbours become one part: whether the one is a match, and whether the next is."""


def _join(parts: list[Part], kinds: list[tuple[bool, bool]]) -> list[Part]:
    """Join neighbours of these kinds; what is joined counts as its last part does.

    Of ``a--b`` and its matches of ``-``, which are ``a|-|-|b``, the first behavior makes ``a-|-|b``, the second
    ``a|-|-b``, and the third ``a|--|b``.
    """
    joined: list[Part] = []
    for begin, end, is_match in parts:
        if joined and (joined[-1][2], is_match) in kinds:
            begin, _, _ = joined.pop()
        joined.append((begin, end, is_match))
    return joined


def _places(pattern: regex.Pattern[str], text: AlignedText) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text.text)]


def _matches(pattern: regex.Pattern[str], text: AlignedText) -> list[AlignedText]:
    return [text.cut(*match.span()) for match in pattern.finditer(text.text)]


PRE_TOKENIZERS: Mapping[str, Callable[..., list[AlignedText]]] = {
    "bert": split_bert,
    "byte_level": split_byte_level,
    "metaspace": split_metaspace,
    "whitespace_split": split_whitespace,
    "split": split_pattern,
    "digits": split_digits,
    "punctuation": split_punctuation,
    "whitespace": split_words,
    "char_delimiter_split": split_at_delimiter,
    "fixed_length": split_fixed_length,
    "unicode_scripts": split_scripts,
    "sequence": split_in_order,
}
