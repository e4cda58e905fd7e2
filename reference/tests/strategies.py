"""What the properties draw: few letters, so that pairs overlap and counts tie."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(max_size=24)
"""Any text without lone surrogates."""

HARD_TEXTS = st.text(
    st.sampled_from("aAéÉe\u0301\u0316ΣσιΟİ中ﬁ²가ᄀ\u1161\u11a8 \t\n\u200d\u0f73\uff9e\u0334ザ'sĠ▁.¿0"), max_size=12
)
"""Text of characters that normalizers and pre-tokenizers treat in many ways."""

ASSIGNED_TEXTS = st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=["Cn", "Cs"]), max_size=24)
"""Text of characters on whose classes different versions of Unicode agree."""

WORDS = st.dictionaries(st.text("ab", min_size=1, max_size=9), st.integers(1, 4), max_size=7)
"""Words of two letters with small counts."""

LETTER_WORDS = st.dictionaries(st.text("abcd", min_size=1, max_size=6), st.integers(1, 9), max_size=8)
"""Words of more letters, so that pairs of unlike counts stand beside tied ones."""

HASH_WORDS = st.dictionaries(st.text("a#", min_size=1, max_size=8), st.integers(1, 4), max_size=6)
"""Words that look like continuing tokens."""

_GRAMMAR = """type about vocabulary merges tokens weights unknown_token special_tokens normalizer pre_tokenizer decoder
normalizers pre_tokenizers replacement prefix split bpe wordpiece unigram sequence metaspace frequency words texts"""
_STRINGS = st.sampled_from([*_GRAMMAR.split(), "a", "\ud800"]) | st.text(max_size=3)
_NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**400), 1e308, 5e-324, 1000, -1])

JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_STRINGS, inner, max_size=4),
    max_leaves=12,
)
"""Any value that JSON can carry, made of words that models have, and numbers that cannot be computed with."""


@st.composite
def mutations(draw: st.DrawFn, value: Any) -> Any:
    """The value with one value in it, or itself, exchanged, left out, doubled, or put into a list."""
    if not isinstance(value, list | dict) or not value or draw(st.integers(0, 3)) == 0:
        return draw(JSON | st.just([value]))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw(st.sampled_from(keys))
    changed = value.copy()
    match draw(st.sampled_from(["within", "left out", "doubled"])):
        case "within":
            changed[key] = draw(mutations(value[key]))
        case "left out":
            del changed[key]
        case "doubled":
            changed = {**value, draw(_STRINGS): value[key]} if isinstance(value, dict) else [*value, value[key]]
    return changed


@st.composite
def merge_lists(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Merges in any order, each of tokens that some merge makes, or letters; one may be listed twice."""
    tokens = ["a", "b"]
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 8))):
        pair = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        merges.append(pair)
        tokens += [pair[0] + pair[1]] if pair[0] + pair[1] not in tokens else []
    return draw(st.permutations(merges))


def charsmap(rules: Mapping[str, str]) -> str:
    """Write a character map in base64: the children of every node of the trie have 256 units of their own."""
    replacements, values = b"", dict[bytes, int]()
    for old, new in rules.items():
        values[old.encode()] = len(replacements)
        replacements += new.encode() + b"\0"
    prefixes = sorted({old[:end] for old in values for end in range(len(old) + 1)} | {b""}, key=len)
    bases = {prefix: 256 * number for number, prefix in enumerate(prefixes, 1)}
    units = [0] * (256 * (len(prefixes) + 1))
    for prefix, base in bases.items():
        place = bases[prefix[:-1]] + prefix[-1] if prefix else 0
        units[place] = (prefix[-1] if prefix else 0) | (prefix in values) << 8 | (place ^ base) << 10
        if prefix in values:
            units[base] = values[prefix] | 1 << 31
    trie = b"".join(unit.to_bytes(4, "little") for unit in units)
    return b64encode(len(trie).to_bytes(4, "little") + trie + replacements).decode()
