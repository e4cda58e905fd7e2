"""The clause of a difference in normalizing, pre-tokenizing or decoding."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tokspec.formats.tiktoken_ranks import to_bytes
from tokspec.fuzz.characters import HANGUL, KANA, WHITE_SPACE
from tokspec.fuzz.example import Example, tokens_of

__all__ = ["of_decoding", "of_normalizing", "of_pre_tokenizing"]

Answer: TypeAlias = Mapping[str, Any]
Part: TypeAlias = Mapping[str, Any]


def of_normalizing(example: Example, kind: str, right: Answer, given: Answer) -> str:
    """Name the clause of a difference between normalized texts.

    >>> of_normalizing(Example({}, "normalize", {"text": " a"}), "text", {"text": " a"}, {"text": "a"})
    'NORM-1'
    """
    part = example.model.get("normalizer")
    if part is None:
        return "NORM-1"
    text = example.input.get("text", "")
    if part["type"] == "bert":
        return _of_bert(part, text, right.get("text", ""), given.get("text", ""))
    if part["type"] == "lowercase":
        return "NORM-LOWERCASE-2" if "Σ" in text else "NORM-LOWERCASE-1"
    return _NORMALIZERS[part["type"]]


_NORMALIZERS = {
    "nfd": "NORM-UNICODE-1",
    "nfc": "NORM-UNICODE-2",
    "nfkd": "NORM-UNICODE-3",
    "nfkc": "NORM-UNICODE-4",
    "strip_accents": "NORM-ACCENTS-1",
    "sequence": "NORM-SEQUENCE-1",
}


def _of_bert(part: Part, text: str, right: str, given: str) -> str:
    categories = {unicodedata.category(character) for character in text}
    if right.replace(" ", "") == given.replace(" ", "") and any(map(_may_be_separated, text)):
        return "NORM-BERT-3"
    if given != right and given == unicodedata.normalize("NFC", right):
        return "NORM-BERT-5"  # accents that stay are not composed
    if right.lower() == given.lower() and right != given:
        return "NORM-LOWERCASE-2" if "Σ" in text else "NORM-BERT-6"
    if part.get("clean_text", True) and (categories & {"Zs", "Zl", "Zp"} or set(text) & set("\t\n\r")):
        return "NORM-BERT-2"
    if part.get("clean_text", True) and (categories & {"Cc", "Cf", "Co", "Cs", "Cn"} or "\ufffd" in text):
        return "NORM-BERT-1"
    return "NORM-BERT-5" if "strip_accents" in part or "lowercase" in part else "NORM-BERT-4"


def _may_be_separated(character: str) -> bool:
    return unicodedata.category(character) in ("Lo", "Cn") or character in KANA + HANGUL


def of_pre_tokenizing(example: Example, kind: str, right: Answer, given: Answer) -> str:
    """Name the clause of a difference between pieces.

    >>> example = Example({"pre_tokenizer": {"type": "whitespace_split"}}, "pre_tokenize", {"text": "a"})
    >>> of_pre_tokenizing(example, "pieces", {"pieces": [["a", 0, 1]]}, {"pieces": [["a", 0, 2]]})
    'PRE-1'
    """
    part = example.model.get("pre_tokenizer")
    if part is None or not example.input.get("text"):
        return "PRE-2"
    mine, other = _pieces(right), _pieces(given)
    if part["type"] == "sequence":
        return "PRE-SEQUENCE-1"
    if mine == other:
        return "PRE-1"
    return _CUTS[part["type"]](part, example.input["text"], mine, other)


def _pieces(answer: Answer) -> list[str]:
    return [row[0] for row in answer.get("pieces", ())]


def _of_byte_level(part: Part, text: str, mine: list[str], other: list[str]) -> str:
    if "".join(mine) != "".join(other):
        return "PRE-BYTE-4" if part.get("add_prefix_space") else "PRE-BYTE-3"
    if not part.get("use_regex", True):
        return "PRE-BYTE-5"
    return "PRE-BYTE-2" if set(text) & set(WHITE_SPACE) else "PRE-BYTE-1"


def _of_metaspace(part: Part, text: str, mine: list[str], other: list[str]) -> str:
    if "".join(mine) == "".join(other):
        return "PRE-META-3"
    shorter, longer = sorted(("".join(mine), "".join(other)), key=len)
    return "PRE-META-2" if longer[1:] == shorter else "PRE-META-1"


def _of_bert_cuts(part: Part, text: str, mine: list[str], other: list[str]) -> str:
    if set(text) & set(WHITE_SPACE):
        return "PRE-BERT-1"
    return "PRE-BERT-2" if all(ord(character) < 128 for character in text) else "PRE-BERT-3"


_CUTS: Mapping[str, Callable[[Part, str, list[str], list[str]], str]] = {
    "byte_level": _of_byte_level,
    "metaspace": _of_metaspace,
    "bert": _of_bert_cuts,
    "whitespace_split": lambda part, text, mine, other: "PRE-SPACE-1",
}


def of_decoding(example: Example, kind: str, right: Answer, given: Answer) -> str:
    """Name the clause of a difference between decoded texts.

    >>> of_decoding(Example({}, "decode", {"tokens": []}), "text", {"text": ""}, {"text": " "})
    'DEC-2'
    """
    (asked,) = example.input.values()
    if not asked:
        return "DEC-2"
    if not right or _is_unknown(example, asked):
        return "DEC-3"
    part = example.model.get("decoder")
    if part is None:
        return "DEC-7"
    if part["type"] == "metaspace":
        same_but_first = right.get("text", "").lstrip(" ") == given.get("text", "").lstrip(" ")
        return "DEC-META-2" if same_but_first else "DEC-META-1"
    if part["type"] == "wordpiece":
        return "DEC-WP-1"
    if example.model.get("type") in ("wordpiece", "unigram"):  # what differs is whose decoder it is taken to be
        return "DEC-BYTE-1"
    listed = tokens_of(example.model)
    texts = right.get("text", ""), given.get("text", "")
    return _of_bytes(*texts, [listed[one] if isinstance(one, int) else one for one in asked])


def _of_bytes(right: str, given: str, asked: list[str]) -> str:
    if any(to_bytes(token) is None for token in asked):
        return "DEC-BYTE-3"
    if right != given and right.replace(" ", "") == given.replace(" ", ""):
        return "DEC-BYTE-1"
    return "DEC-BYTE-2" if "\ufffd" in right else "DEC-BYTE-1"


def _is_unknown(example: Example, asked: Any) -> bool:
    known = tokens_of(example.model)
    beyond = [one for one in asked if (one >= len(known) if isinstance(one, int) else one not in known)]
    return bool(beyond) and bool(known or "ids" in example.input)
