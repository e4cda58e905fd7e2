"""Ways to make an example smaller: each gives candidates, of which any may turn out to show something else."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from tokspec.fuzz.example import Example
from tokspec.fuzz.soundness import faults

__all__ = ["PASSES"]

Cuts: TypeAlias = Callable[[Example], Iterator[Example]]
Path: TypeAlias = tuple[str | int, ...]

#: Keys whose values are tokens or texts: what may be shortened or renamed. All others are names of options.
_TEXTS = frozenset(
    ("text", "word", "token", "texts", "words", "tokens", "vocabulary", "merges", "special_tokens", "unknown_token")
)
_RENAMED = _TEXTS | {"continuing_prefix", "replacement", "prefix"}


def _keys(example: Example) -> Iterator[Example]:
    """Leave out keys of the model, of its stages and of the input, the outermost first."""
    for path in sorted(_dictionaries(example.model), key=len):
        for key in _at(example.model, path):
            if key not in _NEVER_WITHOUT:
                yield replace(example, model=_without_tokens(example.model, (*path, key)))
    for key in ("min_frequency", "steps", "first"):
        if key in example.input:
            yield replace(example, input=_without(example.input, (key,)))


def _without_tokens(model: Mapping[str, Any], path: Path) -> Any:
    """Leave out what is at a path; with all tokens goes what names tokens."""
    cut = _without(model, path)
    return {key: cut[key] for key in cut if key not in _NAMING} if path in _VOCABULARIES else cut


#: Keys whose values are tokens of the vocabulary.
_NAMING = ("merges", "special_tokens", "unknown_token")

#: Without these a part of a model is none.
_NEVER_WITHOUT = ("type", "normalizers", "pre_tokenizers")


def _stages(example: Example) -> Iterator[Example]:
    """Put a member of a sequence in the place of the sequence."""
    for path in _dictionaries(example.model):
        part = _at(example.model, path)
        for member in part.get("normalizers", part.get("pre_tokenizers", ())):
            yield replace(example, model=_with(example.model, path, member))


def _lists(example: Example) -> Iterator[Example]:
    """Leave out stretches of lists, the longest first; a token goes with the merges that need it."""
    for path in _lists_of_rows(example.model):
        for start, end in _stretches(len(_at(example.model, path))):
            yield replace(example, model=_shorter(example.model, path, start, end))
    for path in _lists_of_rows(example.input):
        for start, end in _stretches(len(_at(example.input, path))):
            rows = _at(example.input, path)
            yield replace(example, input=_with(example.input, path, [*rows[:start], *rows[end:]]))


def _lists_of_rows(value: Any) -> Iterator[Path]:
    """Give the paths of lists that may be of any length: rows themselves have theirs."""
    return (path for path in _paths(value, list) if not (path and isinstance(path[-1], int)))


def _shorter(model: Mapping[str, Any], path: Path, start: int, end: int) -> Mapping[str, Any]:
    rows = _at(model, path)
    cut: dict[str, Any] = _with(model, path, [*rows[:start], *rows[end:]])
    gone = {row if isinstance(row, str) else row[0] for row in rows[start:end]} if path in _VOCABULARIES else set()
    if gone and "merges" in cut:
        kept = [[left, right] for left, right in cut["merges"] if not gone & {left, right, left + right}]
        cut = {**cut, "merges": kept}
    if gone and "special_tokens" in cut:
        cut = {**cut, "special_tokens": [token for token in cut["special_tokens"] if token not in gone]}
    return _without(cut, ("unknown_token",)) if cut.get("unknown_token") in gone else cut


_VOCABULARIES = (("vocabulary",), ("tokens",))


def _strings(example: Example) -> Iterator[Example]:
    """Leave out stretches of the input's texts."""
    for path in _paths(example.input, str):
        text = _at(example.input, path)
        for start, end in _stretches(len(text)):
            yield replace(example, input=_with(example.input, path, text[:start] + text[end:]))


def _special(example: Example) -> Iterator[Example]:
    """Shorten a special token wherever it stands; the unknown token is left, lest it become one of the text's."""
    for token in example.model.get("special_tokens", ()):
        for start, end in _stretches(len(token)):
            short = token[:start] + token[end:]
            if short:
                yield _mapped(example, partial(_replaced, old=token, new=short))


def _numbers(example: Example) -> Iterator[Example]:
    """Take smaller and rounder numbers."""
    for path in _paths(example.input, int):
        for number in _smaller(_at(example.input, path)):
            yield replace(example, input=_with(example.input, path, number))
    for path in _paths(example.model, (int, float)):
        for weight in _rounder(_at(example.model, path)):
            yield replace(example, model=_with(example.model, path, weight))


def _smaller(number: int) -> Iterator[int]:
    yield from sorted({value for value in (0, 1, 2, number // 2, number - 1) if 0 <= value < number})


def _rounder(weight: float) -> Iterator[float]:
    if weight > 0:
        yield from (value for value in (1, 2, weight // 2, weight - 1) if 0 < value < weight)
    elif weight < 0:
        yield from (
            float(value)
            for value in (-1, -2, -4, round(weight))
            if abs(value) < abs(weight) or value == round(weight) != weight
        )


def _characters(example: Example) -> Iterator[Example]:
    """Write another character, one that is seen and known, wherever one stands."""
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
    """Give the first row of each token; a merge is told by both of its tokens."""
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


def _stretches(length: int) -> Iterator[tuple[int, int]]:
    """Give stretches of a length that together cover it: all, halves, quarters, … and single places."""
    size = length
    while size:
        yield from ((start, min(start + size, length)) for start in range(0, length, size))
        size //= 2


def _paths(value: Any, type: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, type) and not isinstance(value, bool):
        yield path
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _paths(item, type, (*path, key))


def _dictionaries(value: Any) -> Iterator[Path]:
    return _paths(value, Mapping)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _with(value: Any, path: Path, new: Any) -> Any:
    """Copy a value with another at a path."""
    if not path:
        return new
    if isinstance(value, list):
        return [_with(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]
    return {key: _with(item, path[1:], new) if key == path[0] else item for key, item in value.items()}


def _without(value: Any, path: Path) -> Any:
    inner = _at(value, path[:-1])
    return _with(value, path[:-1], {key: item for key, item in inner.items() if key != path[-1]})


def _sound(cuts: Cuts) -> Cuts:
    """Leave out candidates of which the specification says less than of the example."""

    def offer(example: Example) -> Iterator[Example]:
        before = faults(example)
        return (candidate for candidate in cuts(example) if faults(candidate) <= before)

    return offer


#: In the order in which they are tried.
PASSES: tuple[Cuts, ...] = tuple(map(_sound, (_keys, _stages, _lists, _strings, _special, _numbers, _characters)))
