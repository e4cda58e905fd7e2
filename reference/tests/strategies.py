"""What the properties draw: few letters, so that pairs overlap and counts tie."""

from __future__ import annotations

from hypothesis import strategies as st

TEXTS = st.text(max_size=24)
"""Any text without lone surrogates."""

HARD_TEXTS = st.text(
    st.sampled_from("aAéÉe\u0301\u0316ΣσιΟİ中ﬁ²가ᄀ\u1161\u11a8 \t\n\u200d\u0f73\uff9e\u0334ザ'sĠ▁.¿0"), max_size=12
)
"""Text of characters that normalizers and pre-tokenizers treat in many ways."""

WORDS = st.dictionaries(st.text("ab", min_size=1, max_size=9), st.integers(1, 4), max_size=7)
"""Words of two letters with small counts."""

HASH_WORDS = st.dictionaries(st.text("a#", min_size=1, max_size=8), st.integers(1, 4), max_size=6)
"""Words that look like continuing tokens."""


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
