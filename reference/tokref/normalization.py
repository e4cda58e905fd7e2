"""Normalization: the first stage, text to text (``spec/01-normalization.md``).

A normalizer is a function from an aligned text to an aligned text, found in a table by the type that the model names.
Its parameters that can only be named are those of the component, with the defaults of the specification.
Most rewrite the text character by character. The normal forms of Unicode cannot, because they compose characters and
put marks in order: they go through the text cluster by cluster, a cluster being the shortest stretch that can be
normalized by itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal

import regex

from tokref.alignment import AlignedText, Step
from tokref.charsmap import CharacterMap
from tokref.choices import Choices
from tokref.patterns import Pattern, find_matches
from tokref.pre_tokenization import in_byte_alphabet
from tokref.sentencepiece import mark_spaces
from tokref.values import Component

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

WHITE_SPACE = regex.compile(r"\p{White_Space}")

# The blocks that BERT's program lists. Those that Unicode has added since (extension F and later) are not among them,
# and kana and Hangul are not either.
IDEOGRAPHS = (  # NORM-BERT-3
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


NMT: Mapping[int, str] = {
    **dict.fromkeys((*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F), ""),  # NORM-NMT-1
    **dict.fromkeys((0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010)), " "),  # NORM-NMT-2
    **dict.fromkeys((0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD), " "),
}
"""What a code point becomes; any other stays."""


def normalize(text: AlignedText, normalizer: Component | None, choices: Choices) -> AlignedText:
    """Apply a normalizer, or none.

    >>> normalize(AlignedText.from_input("HÉ"), Component("lowercase"), Choices()).text
    'hé'
    """
    if normalizer is None:  # NORM-1
        return text
    return NORMALIZERS[normalizer.type](text, choices, **normalizer.parameters)


def apply_in_order(text: AlignedText, choices: Choices, *, normalizers: tuple[Component, ...]) -> AlignedText:
    """Apply each normalizer to the result of the one before (NORM-SEQUENCE-1)."""
    for normalizer in normalizers:
        text = normalize(text, normalizer, choices)
    return text


def apply_unicode_form(form: Form, text: AlignedText, choices: Choices) -> AlignedText:
    """Normalize by one of the four forms of Unicode.

    The database is the one that comes with Python, of Unicode 14 or later (TERM-6).
    """
    return text.rewrite(_unicode_steps(text.text, form))


def lowercase(text: AlignedText, choices: Choices) -> AlignedText:
    """Apply Unicode's full lowercase mapping.

    >>> lowercase(AlignedText.from_input("ΟΔΟΣ"), Choices(final_sigma="plain")).text
    'οδοσ'
    """
    # The whole text is lowered at once: only its neighbours tell whether a capital sigma ends a word.
    capitals = text.text.replace("Σ", "σ") if choices.final_sigma == "plain" else text.text  # NORM-LOWERCASE-2
    lowered = capitals.lower()  # NORM-LOWERCASE-1
    steps: list[Step] = []
    begin = 0
    for place, character in enumerate(text.text):
        # One character may become several (İ an i and a dot above it); how many depends on no neighbour.
        end = begin + len(character.lower())
        steps.append((lowered[begin:end], place, place + 1))
        begin = end
    return text.rewrite(steps)


def strip_marks(text: AlignedText, choices: Choices, categories: str = "M") -> AlignedText:
    """Remove the characters whose general category begins so; composed ones stay (NORM-ACCENTS-1).

    >>> strip_marks(AlignedText.from_input("e\\u0301 é"), Choices()).text
    'e é'
    """
    return _rewrite_each(
        text, lambda character: "" if unicodedata.category(character).startswith(categories) else character
    )


def bert(
    text: AlignedText,
    choices: Choices,
    *,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    strip_accents: bool | None = None,
    lowercase: bool = True,
) -> AlignedText:
    """Apply BERT's normalizer: four steps, each of which can be left out, in this order (NORM-BERT-7)."""
    if clean_text:
        text = _rewrite_each(text, lambda character: _clean(character, choices))
    if handle_chinese_chars:
        text = text.rewrite(_separate_ideographs(text.text))
    # Not said means with lowercase: the uncased models of BERT lose their accents, the cased ones keep them.
    if lowercase if strip_accents is None else strip_accents:  # NORM-BERT-5
        text = apply_unicode_form("NFD", text, choices)  # NORM-BERT-4: decomposed, and not composed again
        text = strip_marks(text, choices, "Mn")
    if lowercase:
        text = NORMALIZERS["lowercase"](text, choices)  # NORM-BERT-6
    return text


def replace_pattern(text: AlignedText, choices: Choices, *, pattern: Pattern, content: str) -> AlignedText:
    """Replace every match of a pattern by the content, each character of which covers the match (NORM-REPLACE-1).

    >>> replace_pattern(AlignedText.from_input("a--b"), Choices(), pattern=Pattern("-"), content="+").text
    'a++b'
    """
    steps: list[Step] = []
    place = 0
    for begin, end in [*find_matches(pattern, text.text, choices), (len(text.text),) * 2]:
        steps += [(text.text[copied], copied, copied + 1) for copied in range(place, begin)]
        steps += [(content, begin, end)] if begin < end else []  # NORM-REPLACE-2
        place = end
    return text.rewrite(steps)


def prepend(text: AlignedText, choices: Choices, *, prefix: str) -> AlignedText:
    """Put the prefix before a text that is not empty (NORM-PREPEND-1)."""
    if not text.text:
        return text
    return text.rewrite([(prefix, 0, 0), *((each, place, place + 1) for place, each in enumerate(text.text))])


def strip(text: AlignedText, choices: Choices, *, left: bool = True, right: bool = True) -> AlignedText:
    """Remove white space from the ends of a text (NORM-STRIP-1).

    >>> strip(AlignedText.from_input(" a b "), Choices(), right=False).text
    'a b '
    """
    kept = [place for place, each in enumerate(text.text) if not WHITE_SPACE.match(each)]
    begin = (kept[0] if kept else len(text.text)) if left else 0
    end = (kept[-1] + 1 if kept else begin) if right else len(text.text)
    return text.rewrite((text.text[place], place, place + 1) for place in range(begin, end))


def apply_map(text: AlignedText, choices: Choices, *, charsmap: CharacterMap) -> AlignedText:
    """Apply a character map of SentencePiece (NORM-MAP-2, NORM-MAP-4)."""
    return text.rewrite(charsmap.steps(text.text))


def replace_controls(text: AlignedText, choices: Choices) -> AlignedText:
    """Remove control characters, and make spaces of some others (NORM-NMT-1, NORM-NMT-2).

    >>> replace_controls(AlignedText.from_input("a\\x7fb\\u200bc"), Choices()).text
    'ab c'
    """
    return _rewrite_each(text, lambda character: NMT.get(ord(character), character))


def write_bytes(text: AlignedText, choices: Choices) -> AlignedText:
    """Write the UTF-8 of each character, a character for each byte (NORM-BYTE-1, NORM-BYTE-2).

    >>> write_bytes(AlignedText.from_input("é b"), Choices()).text
    'Ã©Ġb'
    """
    return _rewrite_each(text, in_byte_alphabet)


def _clean(character: str, choices: Choices) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category[0] == "Z":  # NORM-BERT-2
        return " "
    removed = {
        "assigned": ("Cc", "Cf", "Co", "Cs"),
        "cc_cf": ("Cc", "Cf"),
        "all_c": ("Cc", "Cf", "Cn", "Co", "Cs"),
    }
    return "" if character == "\ufffd" or category in removed[choices.bert_clean_text] else character  # NORM-BERT-1


def _separate_ideographs(text: str) -> Iterator[Step]:
    for place, character in enumerate(text):
        # Each becomes a separate word. Between two there are two spaces, which the pre-tokenizer drops.
        if any(first <= ord(character) <= last for first, last in IDEOGRAPHS):  # NORM-BERT-3
            yield " ", place, place
            yield character, place, place + 1
            yield " ", place + 1, place + 1
        else:
            yield character, place, place + 1


def _rewrite_each(text: AlignedText, change: Callable[[str], str]) -> AlignedText:
    return text.rewrite((change(character), place, place + 1) for place, character in enumerate(text.text))


def _unicode_steps(text: str, form: Form) -> Iterator[Step]:
    for begin, end in _clusters(text, form):
        whole = unicodedata.normalize(form, text[begin:end])
        apart = [unicodedata.normalize(form, character) for character in text[begin:end]]
        if "".join(apart) == whole:  # nothing was composed or put in order
            yield from ((part, begin + place, begin + place + 1) for place, part in enumerate(apart))
        else:  # ENC-5
            yield whole, begin, end


def _clusters(text: str, form: Form) -> Iterator[tuple[int, int]]:
    """Cut the text where both sides can be normalized apart, whatever follows (ENC-5)."""
    begin = 0
    for place in range(1, len(text)):
        if _starts_cluster(text[place]) and _are_apart(text[begin:place], text[place], form):
            yield begin, place
            begin = place
    if text:
        yield begin, len(text)


def _starts_cluster(character: str) -> bool:
    """Say whether no mark after the character can ever be put before it or before a part of it."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) == 0


def _are_apart(cluster: str, character: str, form: Form) -> bool:
    together = unicodedata.normalize(form, cluster + character)
    return together == unicodedata.normalize(form, cluster) + unicodedata.normalize(form, character)


NORMALIZERS: Mapping[str, Callable[..., AlignedText]] = {
    "nfc": partial(apply_unicode_form, "NFC"),  # NORM-UNICODE-2
    "nfd": partial(apply_unicode_form, "NFD"),  # NORM-UNICODE-1
    "nfkc": partial(apply_unicode_form, "NFKC"),  # NORM-UNICODE-4
    "nfkd": partial(apply_unicode_form, "NFKD"),  # NORM-UNICODE-3
    "lowercase": lowercase,
    "strip_accents": strip_marks,
    "bert": bert,
    "replace": replace_pattern,
    "prepend": prepend,
    "strip": strip,
    "precompiled": apply_map,
    "nmt": replace_controls,
    "byte_level": write_bytes,
    "sentencepiece": mark_spaces,
    "sequence": apply_in_order,
}
