"""The texts of unknown tokens for each option of ``unknown_token_text``, from ``surface_tokens`` in a fixture.

An encoding in a fixture lists its ``tokens``, where an unknown token is the entry of the vocabulary. ``surface_tokens``
lists them again with the characters that each unknown token represents. The loader builds ordinary outcomes from the
two, one for each option (ENC-9).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The choice, and the key of an encoding with the other texts.
CHOICE, KEY = "unknown_token_text", "surface_tokens"


def has_surfaces(result: Any) -> bool:
    """Return whether a result has an encoding with ``surface_tokens``."""
    if isinstance(result, Mapping):
        return KEY in result or any(has_surfaces(value) for value in result.values())
    return isinstance(result, list) and any(has_surfaces(value) for value in result)


def entries(result: Any) -> Any:
    """Return a result in which unknown tokens have the entries of the vocabulary as texts."""
    if isinstance(result, Mapping):
        return {key: entries(value) for key, value in result.items() if key != KEY}
    return [entries(value) for value in result] if isinstance(result, list) else result


def surfaces(result: Any) -> Any:
    """Return a result in which unknown tokens have the characters that they represent as texts.

    >>> surfaces({"tokens": ["a", "<unk>"], "surface_tokens": ["a", "x"], "ids": [1, 0]})
    {'tokens': ['a', 'x'], 'ids': [1, 0]}
    """
    if isinstance(result, Mapping):
        tokens = {"tokens": result[KEY]} if KEY in result else {}
        return {key: surfaces(value) for key, value in {**result, **tokens}.items() if key != KEY}
    return [surfaces(value) for value in result] if isinstance(result, list) else result


def by_option(outcome: Mapping[str, Any], family: str | None) -> Mapping[str, Any]:
    """Return an outcome with an answer for each option wherever it has ``surface_tokens``.

    >>> by_option({"expect": {"tokens": ["?"], "surface_tokens": ["x"]}}, "unigram")["by_choice"][CHOICE]["surface"]
    {'expect': {'tokens': ['x']}}
    """
    if not has_surfaces(outcome):
        return outcome
    if family not in ("bpe", "unigram"):
        return {**entries(outcome)}
    if "by_choice" in outcome:
        ((name, options),) = outcome["by_choice"].items()
        return {"by_choice": {name: {option: by_option(inner, family) for option, inner in options.items()}}}
    entry, surface = entries(outcome), surfaces(outcome)
    in_unigram = surface if family == "unigram" else entry
    return {"by_choice": {CHOICE: {"entry": entry, "surface": surface, "surface_in_unigram": in_unigram}}}
