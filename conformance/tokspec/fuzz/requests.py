"""What a model is asked: every operation of the protocol that is for its type, with inputs at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, TypeAlias

from tokspec.formats.tiktoken_ranks import from_bytes
from tokspec.fuzz import characters
from tokspec.fuzz.corpora import corpus
from tokspec.fuzz.example import tokens_of
from tokspec.fuzz.models import Generated
from tokspec.fuzz.sweeps import sweep
from tokspec.fuzz.texts import Material, text

__all__ = ["Asked", "asked"]

Asked: TypeAlias = tuple[str, dict[str, Any]]
"""An operation and its input."""

_Making: TypeAlias = Callable[[Random, Generated], Iterator[Asked]]

#: How many texts a model that encodes is asked about, and one that does not.
_TEXTS = 8

#: Families of one stage, which are asked about that alone, and about more texts.
_ALONE = ("sweep", "normalizer", "pre-tokenizer")


def asked(random: Random, generated: Generated, used: set[str] | None = None) -> list[Asked]:
    """Make what a model is asked; the categories of the texts are added to ``used``.

    >>> found = asked(Random(1), Generated("untrained-bpe", {"type": "bpe"}, Material("ab")))
    >>> sorted({operation for operation, _ in found})[-2:]
    ['training_state', 'training_trace']
    """
    model = generated.model
    kind = model.get("type", "")
    trained = bool(tokens_of(model))
    if generated.family in ("normalizer", "pre-tokenizer"):
        return [*_about_texts(random, generated, trained, used)]
    return [
        *_about_texts(random, generated, trained, used),
        *(_decoding(random, generated) if trained or not kind else ()),
        ("count_words", {"corpus": corpus(random, generated.material, used)}),
        *(
            _TRAINED.get(kind, _nothing)(random, generated)
            if trained
            else _UNTRAINED.get(kind, _nothing)(random, generated)
        ),
    ]


def _nothing(random: Random, generated: Generated) -> Iterator[Asked]:
    yield from ()


def _about_texts(random: Random, generated: Generated, trained: bool, used: set[str] | None) -> Iterator[Asked]:
    stages = [
        operation
        for operation, key in (("normalize", "normalizer"), ("pre_tokenize", "pre_tokenizer"))
        if key in generated.model or (generated.family not in _ALONE and random.random() < 0.15)
    ]
    for _ in range(_TEXTS * (3 if generated.family in _ALONE else 1) if trained or stages else 0):
        made = sweep(random) if generated.family == "sweep" else text(random, generated.material, used)
        yield from ((operation, {"text": made}) for operation in stages)
        if trained:
            yield "encode", {"text": made}


def _decoding(random: Random, generated: Generated) -> Iterator[Asked]:
    model = generated.model
    listed = tokens_of(model)
    kind = model.get("decoder", {}).get("type", "")
    for _ in range(40 if generated.family == "sweep" and kind else 4):
        count = random.choice((0, 1, 2, 3, 3, 4, 5))
        tokens = [random.choice(listed) for _ in range(count)] if listed and random.random() < 0.8 else None
        if tokens is None or random.random() < 0.15:
            tokens = [_foreign(random, kind) for _ in range(count)]
        yield "decode", {"tokens": tokens}
        if listed:
            beyond = random.choice((0, 0, 0, 1, 5))
            wrapped = 2**32 if random.random() < 0.03 else 0
            yield "decode", {"ids": [random.randrange(len(listed) + beyond) + wrapped for _ in range(count)]}


_PARTS = (
    "▁",
    "▁▁",
    "▁▁a",
    "a",
    "##b",
    "b",
    "Ġ",
    " ",
    "",
    ".",
    "!",
    "##",
    "▁a",
    "a▁b",
    "_",
    "_c",
    "@d",
    "##",
    "a##",
    "▁▁",
    "▁▁a▁",
    "a▁▁b",
    "__a_",
    ",",
    "'",
    "n't",
    " c ",
    "[UNK]",
)


#: Bytes that are overlong, beyond the last character, or of one that is none; and what looks like a special token.
_BYTES = (
    *map(from_bytes, (b"\xc0\x80", b"\xe0\x9f\xbf", b"\xf0\x80\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80")),
    *map(from_bytes, (b"\xef\xbf\xbf", b"\xef\xbb\xbf", b"\xf0\x9f\xbf\xbe", b"\xc1\xbf")),
    *("<é>", "<Ġa>", "<|Ġ|>", "\ud800"),
)


def _foreign(random: Random, kind: str) -> str:
    """Make a token that a decoder may meet: for byte-level, bytes of characters in part, and what is no byte."""
    if kind != "byte_level" or random.random() < 0.15:
        return random.choice(_PARTS)
    if random.random() < 0.2:
        return random.choice(_BYTES)
    whole = random.choice(
        ("é", "來", "😀", "ab", " a", "\n", "\ufffd", "\ufeff", chr(0xD800 + random.randrange(0x800)), "\U0010ffff")
    )
    data = whole.encode("utf-8", "surrogatepass") + random.choice(
        (b"", b"", b"\xf5", b"\xc0\x80", b"\xe0\x80", b"\xff", b"\x80")
    )
    at = random.randrange(len(data) + 1)
    return from_bytes(random.choice((data, data[:at], data[at:]))) + random.choice(
        ("", "", "", "中", "▁", "€", "\ud800")
    )


def _word(random: Random, material: Material) -> str:
    """Make a word that is short enough for all its segmentations to be listed."""
    parts = material.tokens if material.tokens and random.random() < 0.6 else material.alphabet
    made = "".join(random.choice(parts) for _ in range(random.randrange(1, 6)))[:8]
    return made + (random.choice(characters.PUNCTUATION) if random.random() < 0.05 else "")


def _of_unigram(random: Random, generated: Generated) -> Iterator[Asked]:
    material = generated.material
    yield "token_probabilities", {}
    for _ in range(3):
        word = _word(random, material)
        yield from ((operation, {"word": word}) for operation in ("segmentations", "viterbi", "segment"))
    tokens = tokens_of(generated.model)
    for _ in range(2):
        words = {"words": [[_word(random, material), random.randrange(0, 9)] for _ in range(random.randrange(1, 5))]}
        yield "loss", {"corpus": words}
        if any(weight for _, weight in generated.model["tokens"]):  # where nothing occurs all losses are infinite
            gone = random.choice(tokens) if random.random() < 0.9 else "nowhere"
            yield "loss_increase", {"corpus": words, "token": gone}
        yield "prune_step", {"corpus": words, "fraction": _fraction(random)}


def _fraction(random: Random) -> float:
    return random.choice((0.1, 0.1, 0.15, 0.2, 0.2, 0.25, 0.3, 0.34, 0.5, 0.6, 0.75, 0.9, 1.0))


def _steps(random: Random) -> dict[str, int]:
    return (
        {}
        if random.random() < 0.2
        else {"steps": random.choice((0, 1, 1, 2, 3, 5, 30)) if random.random() < 0.95 else -1}
    )


def _not_negative(steps: dict[str, int]) -> dict[str, int]:
    return {key: max(value, 0) for key, value in steps.items()}


def _first(random: Random) -> dict[str, int]:
    return {"first": random.choice((0, 1, 2, 4))} if random.random() < 0.2 else {}


def _target(random: Random) -> dict[str, int]:
    found = (
        {"merge_count": random.randrange(0, 8)}
        if random.random() < 0.4
        else {"vocabulary_size": random.randrange(0, 16)}
    )
    return found | ({"min_frequency": random.choice((0, 1, 2, 2, 3, 5))} if random.random() < 0.3 else {})


def _bpe_targets(random: Random) -> Iterator[Asked]:
    yield "train", _target(random)
    yield "train", {"merge_count": 12}
    yield "training_trace", _target(random)


def _wordpiece_targets(random: Random) -> Iterator[Asked]:
    yield "train", {"vocabulary_size": random.randrange(0, 22)}
    yield "training_trace", {"vocabulary_size": random.randrange(4, 22)}


def _train_by_pairs(targets: Callable[[Random], Iterator[Asked]], pairs: str) -> _Making:
    """Ask for training with the targets, and for what can be seen on the way; ``pairs`` is what lists all pairs."""

    def make(random: Random, generated: Generated) -> Iterator[Asked]:
        for _ in range(3):
            given = {"corpus": corpus(random, generated.material)}
            yield "base_vocabulary", given
            yield from ((operation, {**given, **target}) for operation, target in targets(random))
            steps = _steps(random)
            yield "training_state", {**given, **steps}
            yield "best_pair", {**given, **steps}
            yield pairs, {**given, **_not_negative(steps), **_first(random)}

    return make


def _train_unigram(random: Random, generated: Generated) -> Iterator[Asked]:
    for _ in range(3):
        given = {"corpus": corpus(random, generated.material)}
        sizes = {"initial_size": random.randrange(0, 40), "vocabulary_size": random.randrange(0, 16)}
        yield "substring_frequencies", given
        yield "ranked_substrings", {**given, **_first(random)}
        yield "initial_vocabulary", {**given, "initial_size": random.randrange(0, 30), **_first(random)}
        yield "train", {**given, **sizes, "fraction": _fraction(random)}
        yield "training_trace", {**given, **sizes, "fraction": _fraction(random)}


_TRAINED: Mapping[str, _Making] = {"unigram": _of_unigram}
_UNTRAINED: Mapping[str, _Making] = {
    "bpe": _train_by_pairs(_bpe_targets, "pair_frequencies"),
    "wordpiece": _train_by_pairs(_wordpiece_targets, "pair_scores"),
    "unigram": _train_unigram,
}
