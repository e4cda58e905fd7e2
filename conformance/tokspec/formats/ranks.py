"""Merges that a format does not list: what the order of the tokens says of them.

Where a format holds tokens and ranks only, a loader merges whatever pair makes the token of the lowest rank (the choice
``bpe_pairs``). A merge is given back by splitting its product with the tokens of lower ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest

from tokspec.base.errors import Unsupported

__all__ = ["merges_of", "refuse_other_merges"]


def merges_of(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the merge of every token that the tokens before it make in two parts, in the order of the tokens.

    >>> list(merges_of(["u", "g", "h", "ug", "hug"]))
    [('u', 'g'), ('h', 'ug')]
    """
    ranks = {token: rank for rank, token in enumerate(tokens)}
    for rank, token in enumerate(tokens):
        parts = _split(token, ranks, rank)
        if len(parts) == 2 and all(part in ranks for part in parts):
            yield parts[0], parts[1]


def _split(token: str, ranks: Mapping[str, int], limit: int) -> list[str]:
    """Split a token into symbols and do every merge of a rank below the limit, the lowest first."""
    parts = list(token)
    found = [ranks.get(left + right, limit) for left, right in pairwise(parts)]
    while found and (rank := min(found)) < limit:
        at = found.index(rank)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        del found[at]
        for beside in range(max(at - 1, 0), min(at + 1, len(found))):
            found[beside] = ranks.get(parts[beside] + parts[beside + 1], limit)
    return parts


def refuse_other_merges(tokens: Sequence[str], merges: Sequence[Sequence[str]], format: str) -> None:
    """Refuse merges that are not those of the tokens.

    Raises:
        Unsupported: naming the first merge that differs.

    >>> refuse_other_merges(["a", "b", "ab"], [], "a file of ranks")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.Unsupported: unsupported: a file of ranks merges 'a' and 'b', which the model does not list there
    """  # noqa: E501
    for implied, listed in zip_longest(merges_of(tokens), map(tuple, merges)):
        if listed is None:
            left, right = implied
            raise Unsupported(f"{format} merges {left!r} and {right!r}, which the model does not list there")
        if implied != listed:
            left, right = listed
            raise Unsupported(f"{format} has no merges, and its ranks do not merge {left!r} and {right!r} there")
