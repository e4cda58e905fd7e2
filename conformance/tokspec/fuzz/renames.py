"""Ways to write an example otherwise: shorter special tokens, and characters that are seen and known."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tokspec.fuzz.example import Example
from tokspec.fuzz.nested import stretches

__all__ = ["characters", "special_tokens"]

#: Keys whose values are tokens or texts: what may be shortened or renamed. All others are names of options.
_RENAMED = {
    *("text", "word", "token", "texts", "words", "tokens", "vocabulary", "merges", "special_tokens", "unknown_token"),
    *("continuing_prefix", "replacement", "prefix"),
}


def special_tokens(example: Example) -> Iterator[Example]:
    """Shorten a special token wherever it stands; the unknown token is left, lest it become one of the text's.

    >>> example = Example({"special_tokens": ["<s>"]}, "encode", {"text": "a<s>"})
    >>> [each.input["text"] for each in special_tokens(example)]
    ['as>', 'a<>', 'a<s']
    """
    for token in example.model.get("special_tokens", ()):
        for start, end in stretches(len(token)):
            short = token[:start] + token[end:]
            if short:
                yield _mapped(example, partial(_replaced, old=token, new=short))


def characters(example: Example) -> Iterator[Example]:
    """Write another character, one that is seen and known, wherever one stands.

    >>> [each.input["text"] for each in characters(Example({}, "normalize", {"text": "\u0e01\u0e01"}))]
    ['aa', 'bb', '中中']
    """
    kept = example.model.get("unknown_token", "")
    used = sorted({character for text in _texts(example) for character in text} - set(kept if len(kept) > 1 else ""))
    for character in used:
        smaller = _SIMPLE.partition(character)[0]
        for other in [*[new for new in smaller if new not in used][:2], *(new for new in smaller if new in used)]:
            yield _mapped(example, partial(_replaced, old=character, new=other))
    for character in used:
        plainer = _PLAINER.get(unicodedata.category(character))
        if plainer is not None and plainer not in used and character not in _PLAINER.values() and character > "\x7f":
            yield _mapped(example, partial(_replaced, old=character, new=plainer))
    for character in used:
        if character not in _SIMPLE:
            for other in [old for old in used if old in _SIMPLE][:2]:
                yield _mapped(example, partial(_replaced, old=character, new=other))


_SIMPLE = "abcdefghijklmnop"

#: A well-known character of each category, to stand for one that is not.
_PLAINER = {
    **{"Ll": "é", "Lu": "É", "Lo": "中", "Mn": "\u0301", "Mc": "\u093e", "Nd": "٣", "No": "²", "Po": "¿", "So": "©"},
    **{"Sm": "±", "Sc": "€", "Zs": "\u00a0", "Cf": "\u200b", "Cc": "\x01", "Co": "\ue000", "Cn": "\uffff", "Pd": "–"},
}


def _replaced(text: str, old: str, new: str) -> str:
    return text.replace(old, new)


def _mapped(example: Example, change: Callable[[str], str]) -> Example:
    model = {key: _distinct(value, _renamed(value, change, key in _RENAMED)) for key, value in example.model.items()}
    return replace(example, model=model, input=_renamed(example.input, change))


def _distinct(before: Any, after: Any) -> Any:
    """Leave out what has become another's equal, unless there were equals before."""
    if not isinstance(before, list) or len(_firsts(before)) < len(before):
        return after
    return list(_firsts(after).values())


def _firsts(rows: list[Any]) -> dict[str, Any]:
    """Return the first row of each token; a merge is told by both of its tokens."""
    firsts: dict[str, Any] = {}
    for row in rows:
        firsts.setdefault(repr(row if isinstance(row, str) or isinstance(row[-1], str) else row[0]), row)
    return firsts


def _renamed(value: Any, change: Callable[[str], str], inside: bool = False) -> Any:
    if isinstance(value, str):
        return change(value) if inside else value
    if isinstance(value, list):
        return [_renamed(item, change, inside) for item in value]
    if isinstance(value, Mapping):
        return {key: _renamed(item, change, inside or key in _RENAMED) for key, item in value.items()}
    return value


def _texts(example: Example) -> Iterator[str]:
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    _mapped(example, note)
    yield from found
