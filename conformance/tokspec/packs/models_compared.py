"""What changed between two models: vocabulary, ids, merges, special tokens and settings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tokspec.base.display import compact, shorten
from tokspec.packs.summary import Parts

__all__ = ["models_compared"]

#: How many examples of a change are shown.
_EXAMPLES = 6


def models_compared(first: Parts, second: Parts) -> list[str]:
    """Say what changed, each kind of change on a line; nothing if nothing did.

    >>> models_compared(Parts({0: "a", 1: "b"}, [], {}, {}), Parts({0: "b", 1: "c"}, [], {}, {}))
    ['vocabulary: 1 token is gone: "a"', 'vocabulary: 1 token is new: "c"', 'ids: 1 token has another: "b" 1 → 0']
    """
    return [
        *_vocabulary(_ids(first.vocabulary), _ids(second.vocabulary)),
        *_merges(first.merges, second.merges),
        *_values("special tokens", _ids(first.special), _ids(second.special)),
        *_values("settings", first.settings, second.settings),
    ]


def _ids(tokens: Mapping[int, str]) -> dict[str, int]:
    return {token: id for id, token in tokens.items()}


def _vocabulary(first: Mapping[str, int], second: Mapping[str, int]) -> Iterator[str]:
    yield from _counted("vocabulary", "token", "is gone", "are gone", [each for each in first if each not in second])
    yield from _counted("vocabulary", "token", "is new", "are new", [each for each in second if each not in first])
    moved = [each for each in first if each in second and first[each] != second[each]]
    shown = [f"{compact(each)} {first[each]} → {second[each]}" for each in moved[:_EXAMPLES]]
    yield from _line("ids", "token", "has another", "have others", len(moved), shown)


def _merges(first: Sequence[Any], second: Sequence[Any]) -> Iterator[str]:
    old, new = [tuple(merge) for merge in first], [tuple(merge) for merge in second]
    yield from _counted("merges", "merge", "is gone", "are gone", _without(old, set(new)))
    yield from _counted("merges", "merge", "is new", "are new", _without(new, set(old)))
    kept_old, kept_new = (_within(one, set(other)) for one, other in ((old, new), (new, old)))
    if kept_old != kept_new:
        rank = next(at for at, (left, right) in enumerate(zip(kept_old, kept_new, strict=False)) if left != right)
        yield f"merges: another order, first at {compact(kept_old[rank])}"


def _without(items: Iterable[Hashable], others: set[Any]) -> list[Any]:
    return [item for item in items if item not in others]


def _within(items: Iterable[Hashable], others: set[Any]) -> list[Any]:
    return [item for item in items if item in others]


def _values(what: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    for key in dict.fromkeys([*first, *second]):
        if first.get(key, _values) != second.get(key, _values):
            yield f"{what}: {key}: {_shown(first, key)} → {_shown(second, key)}"


def _shown(values: Mapping[str, Any], key: str) -> str:
    return shorten(compact(values[key]), 60) if key in values else "nothing"


def _counted(what: str, one: str, singular: str, plural: str, items: Sequence[Any]) -> Iterator[str]:
    yield from _line(what, one, singular, plural, len(items), [compact(item) for item in items[:_EXAMPLES]])


def _line(what: str, one: str, singular: str, plural: str, count: int, shown: Sequence[str]) -> Iterator[str]:
    if count:
        verb = f"{one} {singular}" if count == 1 else f"{one}s {plural}"
        yield f"{what}: {count} {verb}: {', '.join(shown)}{' …' if count > len(shown) else ''}"
