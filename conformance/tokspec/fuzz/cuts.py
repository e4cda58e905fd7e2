"""Ways to make an example smaller: each gives candidates, of which any may turn out to show something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from tokspec.fuzz.example import Example
from tokspec.fuzz.nested import Path, at, dictionaries, paths, put, stretches, without
from tokspec.fuzz.renames import characters, special_tokens
from tokspec.fuzz.soundness import faults

__all__ = ["PASSES"]

Cuts: TypeAlias = Callable[[Example], Iterator[Example]]


def _keys(example: Example) -> Iterator[Example]:
    """Leave out keys of the model, of its stages and of the input, the outermost first."""
    for path in sorted(dictionaries(example.model), key=len):
        for key in at(example.model, path):
            if key not in _NEVER_WITHOUT:
                yield replace(example, model=_without_tokens(example.model, (*path, key)))
    for key in ("min_frequency", "steps", "first"):
        if key in example.input:
            yield replace(example, input=without(example.input, (key,)))


def _without_tokens(model: Mapping[str, Any], path: Path) -> Any:
    """Leave out what is at a path; with all tokens goes what names tokens."""
    cut = without(model, path)
    return {key: cut[key] for key in cut if key not in _NAMING} if path in _VOCABULARIES else cut


#: Keys whose values are tokens of the vocabulary.
_NAMING = ("merges", "special_tokens", "unknown_token")

#: Without these a part of a model is none.
_NEVER_WITHOUT = ("type", "normalizers", "pre_tokenizers")


def _stages(example: Example) -> Iterator[Example]:
    """Put a member of a sequence in the place of the sequence."""
    for path in dictionaries(example.model):
        part = at(example.model, path)
        for member in part.get("normalizers", part.get("pre_tokenizers", ())):
            yield replace(example, model=put(example.model, path, member))


def _lists(example: Example) -> Iterator[Example]:
    """Leave out stretches of lists, the longest first; a token goes with the merges that need it."""
    for path in _lists_of_rows(example.model):
        for start, end in stretches(len(at(example.model, path))):
            yield replace(example, model=_shorter(example.model, path, start, end))
    for path in _lists_of_rows(example.input):
        for start, end in stretches(len(at(example.input, path))):
            rows = at(example.input, path)
            yield replace(example, input=put(example.input, path, [*rows[:start], *rows[end:]]))


def _lists_of_rows(value: Any) -> Iterator[Path]:
    """Return the paths of lists that may be of any length: rows themselves have theirs."""
    return (path for path in paths(value, list) if not (path and isinstance(path[-1], int)))


def _shorter(model: Mapping[str, Any], path: Path, start: int, end: int) -> Mapping[str, Any]:
    rows = at(model, path)
    cut: dict[str, Any] = put(model, path, [*rows[:start], *rows[end:]])
    gone = {row if isinstance(row, str) else row[0] for row in rows[start:end]} if path in _VOCABULARIES else set()
    if gone and "merges" in cut:
        kept = [[left, right] for left, right in cut["merges"] if not gone & {left, right, left + right}]
        cut = {**cut, "merges": kept}
    if gone and "special_tokens" in cut:
        cut = {**cut, "special_tokens": [token for token in cut["special_tokens"] if token not in gone]}
    return without(cut, ("unknown_token",)) if cut.get("unknown_token") in gone else cut


_VOCABULARIES = (("vocabulary",), ("tokens",))


def _strings(example: Example) -> Iterator[Example]:
    """Leave out stretches of the input's texts."""
    for path in paths(example.input, str):
        text = at(example.input, path)
        for start, end in stretches(len(text)):
            yield replace(example, input=put(example.input, path, text[:start] + text[end:]))


def _numbers(example: Example) -> Iterator[Example]:
    """Take smaller and rounder numbers."""
    for path in paths(example.input, int):
        for number in _smaller(at(example.input, path)):
            yield replace(example, input=put(example.input, path, number))
    for path in paths(example.model, (int, float)):
        for weight in _rounder(at(example.model, path)):
            yield replace(example, model=put(example.model, path, weight))


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


def _sound(cuts: Cuts) -> Cuts:
    """Leave out candidates of which the specification says less than of the example."""

    def offer(example: Example) -> Iterator[Example]:
        before = faults(example)
        return (candidate for candidate in cuts(example) if faults(candidate) <= before)

    return offer


#: In the order in which they are tried.
PASSES: tuple[Cuts, ...] = tuple(map(_sound, (_keys, _stages, _lists, _strings, special_tokens, _numbers, characters)))
