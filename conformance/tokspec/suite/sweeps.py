"""Sweeps: digests of a tokenizer's results for every entry of its vocabulary, because no pack has room for all texts.

A pack of some hundred lines cannot cover 128,000 entries, but anyone who ports a tokenizer has its vocabulary. Text *i*
is the decoded text of the id *i* alone, including special tokens, if it is not empty and has no U+FFFD. There are three
digests for every 64 ids: of the texts, of the ids to which the texts are encoded, and of the ids of text *i* followed
by text *i·step mod size*, if both exist. So a wrong decoder can be told from a wrong encoder, and tokens occur next to
each other.

A digest is 16 bits of FNV-1a in 32 bits, the upper half xor the lower one, because the lower bits of FNV do not depend
on the upper ones. The input is each text's UTF-8 bytes and a zero byte, or each id's four little-endian bytes, with
``ff ff ff ff`` at the end of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from tokspec.base.errors import DataError
from tokspec.base.json_values import SURROGATE

#: How many ids a digest covers.
BLOCK = 64

#: The placeholder for the digest of a block on which two makers did not agree.
LEFT_OUT = "...."

#: The names of the three digests, which are also in the ids of their cases.
PARTS = ("texts", "ids", "pairs")


@dataclass(frozen=True)
class Sweep:
    """The digests of a tokenizer; ``size`` is its highest id plus 1, and ``step`` is coprime to it.

    ``options`` apply to every encoding: ``add_special_tokens`` is false if a post-processor adds something. Each of the
    other fields has four hexadecimal digits for every 64 ids.
    """

    size: int
    step: int
    options: Mapping[str, Any]
    texts: str
    ids: str
    pairs: str

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return -(-self.size // BLOCK)

    def digest(self, part: str, block: int) -> str:
        """Return the expected digest of a block."""
        digits: str = getattr(self, part)
        return digits[4 * block : 4 * block + 4]

    def header(self) -> dict[str, Any]:
        """Return the value of the key ``sweep`` of a header."""
        return {"size": self.size, "step": self.step, **self.options, **{part: getattr(self, part) for part in PARTS}}


def read_sweep(value: Mapping[str, Any]) -> Sweep:
    """Read the value of the key ``sweep`` of a header.

    Raises:
        DataError: it has more or fewer digests than its size has blocks.
    """
    keys = ("size", "step", *PARTS)
    options = {key: option for key, option in value.items() if key not in keys}
    sweep = Sweep(options=options, **{key: value[key] for key in keys})
    for part in PARTS:
        if len(value[part]) != 4 * sweep.blocks:
            message = f"has {len(value[part]) // 4} digests, and {sweep.size} ids have {sweep.blocks} blocks of {BLOCK}"
            raise DataError(message, key=f"sweep.{part}")
    return sweep


def step_for(size: int) -> int:
    """Return the step of a new sweep: far enough into the vocabulary, and coprime to its size.

    >>> step_for(50257), step_for(128256)
    (31061, 79265)
    """
    step = int(size * 0.618) | 1
    while gcd(step, size) > 1:
        step += 2
    return step


def sweep_of(texts: Sequence[str], step: int) -> dict[int, tuple[str, str]]:
    """Return the two texts of each id: its decoded text, and this followed by the text of another id, if any.

    Args:
        texts: the decoded text of each id; empty for an id that does not exist.
        step: the step from one id to the other.

    >>> sweep_of(["a", "", "b"], 2)
    {0: ('a', 'aa'), 2: ('b', '')}
    """
    size = len(texts)
    is_text = [is_swept(text) for text in texts]
    return {
        id: (text, text + texts[id * step % size] if is_text[id * step % size] else "")
        for id, text in enumerate(texts)
        if is_text[id]
    }


def is_swept(text: str) -> bool:
    """Return whether the decoded text of an id is part of a sweep.

    >>> is_swept("bug"), is_swept(""), is_swept("b\ufffd")
    (True, False, False)
    """
    return bool(text) and "\ufffd" not in text and not SURROGATE.search(text)


def digest_of_texts(texts: Sequence[str]) -> str:
    """Return the digest of the texts of a block.

    >>> digest_of_texts(["a", "bug"]), digest_of_texts([])
    ('f72f', '1cd9')
    """
    return _fnv(b"".join(text.encode() + b"\0" for text in texts))


def digest_of_ids(lists: Sequence[Sequence[int]]) -> str:
    """Return the digest of the ids of each text of a block.

    >>> digest_of_ids([[1], [70000, 2]]), digest_of_ids([])
    ('c2c5', '1cd9')
    """
    return _fnv(b"".join(b"".join(id.to_bytes(4, "little") for id in ids) + b"\xff\xff\xff\xff" for ids in lists))


def _fnv(data: bytes) -> str:
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{(value >> 16 ^ value) & 0xFFFF:04x}"


def blocks_of(ids: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Split ids, in order, into blocks, each with its number.

    >>> [*blocks_of([1, 63, 64, 200])]
    [(0, [1, 63]), (1, [64]), (3, [200])]
    """
    found: dict[int, list[int]] = {}
    for id in ids:
        found.setdefault(id // BLOCK, []).append(id)
    yield from found.items()
