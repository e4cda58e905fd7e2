"""The texts with which two sides are compared: the suite's own, and those made of a model's vocabulary.

The vocabulary gives every token alone, pairs of tokens, cut and glued tokens, the longest tokens in a row, and special
tokens in every position.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise

from tokspec.compare.answers import Input
from tokspec.compare.models import digest
from tokspec.compare.named_texts import load_texts

#: How many texts of each kind are made of tokens that have to be chosen.
MADE = 2000

#: How many special tokens are put into every position; more of them, such as thousands of reserved ones, are used
#: alone.
_PLACED = 100

#: Tokens longer than this are not combined.
_LONGEST = 200

#: How many of the longest tokens are put before themselves and before the next one, because ports have smaller buffers.
_ENDLESS = 10

#: The texts that a special token is put into; ``{}`` is the token.
_POSITIONS: Mapping[str, str] = {
    "alone": "{}",
    "first": "{}one two",
    "first-before-space": "{} one two",
    "last": "one two{}",
    "last-after-space": "one two {}",
    "between": "one{}two",
    "between-spaces": "one {} two",
    "after-line-feed": "one\n{}\ntwo",
    "twice": "{}{}",
    "twice-apart": "{} {}",
    "in-punctuation": "({}), [{}]!",
    "after-a-mark": "e\u0301{}\u0301",
}


def suite_texts() -> Iterator[Input]:
    """Return the suite's own texts."""
    return (Input(f"texts/{text.category}", text.name, text.text) for text in load_texts())


def texts_hash() -> str:
    """Return the hash of the suite's own texts.

    >>> len(texts_hash())
    64
    """
    return digest([[text.id, text.text] for text in load_texts()])


def texts_of_vocabulary(texts: Mapping[int, str], made: int = MADE) -> Iterator[Input]:
    """Combine the texts of tokens into inputs, which depend only on the arguments; ``texts`` maps ids to texts.

    >>> [each.text for each in texts_of_vocabulary({0: "hug", 1: "s"}, made=0)]
    ['hug', 's', 'hughug', 'ss', 'hugs']
    """
    for id, text in texts.items():
        yield Input("vocabulary/alone", str(id), text)
    longest = sorted(texts, key=lambda id: (-len(texts[id]), id))[:_ENDLESS]
    for left, right in chain(zip(longest, longest, strict=True), pairwise(longest)):
        yield Input("vocabulary/longest", f"{left}+{right}", texts[left] + texts[right])
    short = {id: text for id, text in texts.items() if 0 < len(text) <= _LONGEST}
    if short:
        yield from islice(_pairs(short), made)
        yield from islice(_cut(short), made)
        yield from islice(_glued(short), made)


class _Chooser:
    """Chooses pseudo-randomly by a name, with the same result on every machine and in every version of Python."""

    def __init__(self, name: str, texts: Mapping[int, str]) -> None:
        self._random = random.Random(name)
        self._ids = sorted(texts)
        self._texts = texts

    def below(self, count: int) -> int:
        """Return an integer from 0 up to, but not including, ``count``."""
        return int(self._random.random() * count)

    def token(self) -> tuple[int, str]:
        """Return a token's id and text."""
        id = self._ids[self.below(len(self._ids))]
        return id, self._texts[id]


def _pairs(texts: Mapping[int, str]) -> Iterator[Input]:
    choose = _Chooser("pairs", texts)
    while True:
        (left, first), (right, second) = choose.token(), choose.token()
        yield Input("vocabulary/pairs", f"{left}+{right}", first + second)


def _cut(texts: Mapping[int, str]) -> Iterator[Input]:
    """Cut a token anywhere, and return one of the two parts."""
    choose = _Chooser("cut", texts)
    if all(len(text) < 2 for text in texts.values()):
        return
    while True:
        id, text = choose.token()
        at, side = 1 + choose.below(max(1, len(text) - 1)), choose.below(2)
        if len(text) > 1:
            name, half = (f"{id}[{at}..]", text[at:]) if side else (f"{id}[..{at}]", text[:at])
            yield Input("vocabulary/cut", name, half)


def _glued(texts: Mapping[int, str]) -> Iterator[Input]:
    """Join the beginning of a token, a whole token and the end of a third."""
    choose = _Chooser("glued", texts)
    while True:
        (left, first), (middle, second), (right, third) = choose.token(), choose.token(), choose.token()
        beginning, end = first[: 1 + choose.below(len(first))], third[choose.below(len(third)) :]
        yield Input("vocabulary/glued", f"{left}+{middle}+{right}", beginning + second + end)


def texts_of_special_tokens(tokens: Sequence[str]) -> Iterator[Input]:
    """Return texts with special tokens in every position, in other cases, cut, and next to each other.

    >>> [each.text for each in texts_of_special_tokens(["<s>"])][-3:]
    ['<S>', '<s', 's>']
    """
    for number, token in enumerate(tokens):
        positions = _POSITIONS if number < _PLACED else {"alone": "{}"}
        for name, pattern in positions.items():
            yield Input(f"special_tokens/{name}", str(number), pattern.replace("{}", token))
    for number, token in enumerate(tokens[:_PLACED]):
        following = tokens[(number + 1) % len(tokens)]
        yield Input("special_tokens/beside-another", str(number), f"{token}{following} {token} {following}")
        yield Input("special_tokens/other-case", str(number), token.swapcase())
        yield Input("special_tokens/without-its-end", str(number), token[:-1])
        yield Input("special_tokens/without-its-beginning", str(number), token[1:])
