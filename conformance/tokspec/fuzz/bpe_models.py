"""BPE models at random."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tokspec.formats.tiktoken_ranks import from_bytes, merges_of
from tokspec.fuzz.parts import Model, add_special_tokens, add_stages, alphabet, inserted

__all__ = [
    "broken",
    "by_ranks",
    "of_all_bytes",
    "of_bytes",
    "plain",
    "with_metaspace",
    "with_special_tokens",
    "with_stages",
]

Pair = tuple[str, str]

#: Tokens are no longer than this, in symbols: what is wrong shows in short ones.
_LONGEST = 6


def plain(random: Random) -> tuple[Model, str]:
    """Make a model without stages, over an alphabet of few symbols.

    >>> sorted(plain(Random(2))[0])[:3]
    ['merges', 'type', 'vocabulary']
    """
    symbols = alphabet(random)
    return _model(random, symbols), symbols


def with_special_tokens(random: Random) -> tuple[Model, str]:
    """Make a model with special tokens.

    >>> "special_tokens" in with_special_tokens(Random(2))[0]
    True
    """
    made, symbols = plain(random)
    return add_special_tokens(random, made), symbols


def with_stages(random: Random) -> tuple[Model, str]:
    """Make a model with stages of any kind.

    >>> with_stages(Random(2))[0]["type"]
    'bpe'
    """
    made, symbols = plain(random)
    return add_stages(random, made), symbols


def by_ranks(random: Random) -> tuple[Model, str]:
    """Make a model whose merges follow from the order of its tokens, as formats without merges need it.

    >>> made, symbols = by_ranks(Random(2))
    >>> list(map(tuple, made["merges"])) == list(merges_of(made["vocabulary"]))
    True
    """
    symbols = "".join(dict.fromkeys(alphabet(random)))
    tokens = list(dict.fromkeys([*symbols, *("".join(pair) for pair in _merges(random, symbols))]))
    made: Model = {"type": "bpe", "vocabulary": tokens, "merges": [list(pair) for pair in merges_of(tokens)]}
    if random.random() < 0.4:
        made["vocabulary"] = [*tokens, "<unk>"]
        made["unknown_token"] = "<unk>"
    return made, symbols


def of_bytes(random: Random) -> tuple[Model, str]:
    """Make a byte-level model with the bytes of its alphabet alone.

    >>> of_bytes(Random(2))[0]["pre_tokenizer"]["type"]
    'byte_level'
    """
    symbols = "".join(dict.fromkeys(alphabet(random) + random.choice((" ", " \n", "  '", ""))))
    made = _model(random, "".join(dict.fromkeys(from_bytes(symbols.encode()))))
    made["pre_tokenizer"] = _byte_level(random)
    if random.random() < 0.7:
        made["decoder"] = {"type": "byte_level"}
    return (add_special_tokens(random, made, ascii_only=True) if random.random() < 0.3 else made), symbols


def of_all_bytes(random: Random) -> tuple[Model, str]:
    """Make a byte-level model with all 256 bytes whose merges follow from its ranks.

    >>> len(of_all_bytes(Random(2))[0]["vocabulary"]) >= 256
    True
    """
    symbols = alphabet(random) + " "
    words = [
        from_bytes(word.encode()) for word in _words(random, symbols + random.choice(("", "\n", "'s", "1", "é中")))
    ]
    every = [from_bytes(bytes([byte])) for byte in range(256)]
    if random.random() < 0.3:
        random.shuffle(every)
    tokens = list(dict.fromkeys([*every, *("".join(pair) for pair in _grown(random, words))]))
    made: Model = {"type": "bpe", "vocabulary": tokens, "merges": [list(pair) for pair in merges_of(tokens)]}
    made["pre_tokenizer"] = {"type": "byte_level"} if random.random() < 0.8 else _byte_level(random)
    made["decoder"] = {"type": "byte_level"}
    return (add_special_tokens(random, made, ascii_only=True) if random.random() < 0.4 else made), symbols


def with_metaspace(random: Random) -> tuple[Model, str]:
    """Make a model over marked spaces, in which no token goes across a mark.

    >>> with_metaspace(Random(2))[0]["decoder"]
    {'type': 'metaspace'}
    """
    symbols = alphabet(random)
    made, _ = by_ranks(random)
    tokens = ["▁", *symbols, *("".join(pair) for pair in _merges(random, "▁" + symbols))]
    tokens = [token for token in dict.fromkeys(tokens) if "▁" not in token[1:]]
    made |= {"vocabulary": tokens, "merges": [list(pair) for pair in merges_of(tokens)]}
    if "unknown_token" in made:
        made["vocabulary"] = [*tokens, "<unk>"]
    made["pre_tokenizer"] = {"type": "metaspace", "prepend_scheme": random.choice(("always", "never"))}
    made["decoder"] = {"type": "metaspace"}
    return made, symbols + " "


def broken(random: Random) -> tuple[Model, str]:
    """Make a model with a merge that is not in its vocabulary, or whose unknown token is not.

    >>> broken(Random(2))[0]["type"]
    'bpe'
    """
    made, symbols = plain(random)
    if random.random() < 0.3:
        made["unknown_token"] = "[gone]"
        return made, symbols
    known = random.choice([token for token in made["vocabulary"] if token])
    left, right = (known, "q") if random.random() < 0.5 else ("q", known)
    there = [token for token in (left, right, left + right) if random.random() < 0.6]
    made["vocabulary"] = inserted(random, there, made["vocabulary"])
    made["merges"].insert(random.randrange(len(made["merges"]) + 1), [left, right])
    if random.random() < 0.3:
        gone = random.choice(made["merges"])[random.randrange(2)]
        made["vocabulary"] = [token for token in made["vocabulary"] if token != gone]
    return made, symbols


def _model(random: Random, symbols: str) -> Model:
    merges = _merges(random, symbols)
    tokens = list(dict.fromkeys([*symbols, *(left + right for left, right in merges)]))
    tokens = inserted(random, _extra(random, symbols), tokens) if random.random() < 0.5 else tokens
    made: Model = {"type": "bpe", "vocabulary": tokens, "merges": [list(pair) for pair in merges]}
    if random.random() < 0.5:
        made["unknown_token"] = unknown = _unknown(random, symbols)
        if unknown not in tokens:
            made["vocabulary"] = inserted(random, [unknown], tokens)
        if random.random() < 0.15:
            _merge_unknown(random, made, unknown)
    if random.random() < 0.2:
        random.shuffle(made["vocabulary"])
    return made


def _unknown(random: Random, symbols: str) -> str:
    """Choose an unknown token; now and then one that texts have too."""
    return random.choice(("[UNK]", "<unk>", "?")) if random.random() < 0.93 else random.choice((symbols, symbols[0]))


def _merge_unknown(random: Random, made: Model, unknown: str) -> None:
    """List a merge that names the unknown token."""
    other = random.choice([token for token in made["vocabulary"] if token])
    left, right = random.choice(((unknown, other), (other, unknown)))
    made["merges"].insert(0, [left, right])
    made["vocabulary"] = inserted(random, [left + right], made["vocabulary"])


def _extra(random: Random, symbols: str) -> list[str]:
    """Make tokens that no merge leads to."""
    return list(dict.fromkeys("".join(random.choice(symbols) for _ in range(random.randrange(1, 5))) for _ in range(3)))


def _merges(random: Random, symbols: str) -> list[Pair]:
    if random.random() < 0.03:
        return _doubled(random.choice(symbols), random.randrange(6, 10))
    merges = _grown(random, _words(random, symbols)) if random.random() < 0.6 else _drawn(random, symbols)
    chance = random.random()
    if chance < 0.25:
        random.shuffle(merges)
    elif chance < 0.4 and merges:
        merges.insert(random.randrange(len(merges) + 1), random.choice(merges))
    return merges


def _words(random: Random, symbols: str) -> list[str]:
    return [
        "".join(random.choice(symbols) for _ in range(random.randrange(2, 9))) for _ in range(random.randrange(1, 4))
    ]


def _grown(random: Random, words: Sequence[str]) -> list[Pair]:
    """Merge places of words, one after the other: every merge can be reached, in this order at least."""
    splits, merges = [list(word) for word in words], list[Pair]()
    for _ in range(random.randrange(1, 10)):
        split = random.choice(splits)
        if len(split) > 1:
            at = random.randrange(len(split) - 1)
            pair = split[at], split[at + 1]
            split[at : at + 2] = ["".join(pair)]
            if pair not in merges and len("".join(pair)) <= 2 * _LONGEST:
                merges.append(pair)
    return _closed(words, merges)


def _closed(words: Sequence[str], merges: list[Pair]) -> list[Pair]:
    """Leave out merges whose parts were left out."""
    known = {symbol for word in words for symbol in word}
    kept = []
    for left, right in merges:
        if left in known and right in known:
            known.add(left + right)
            kept.append((left, right))
    return kept


def _drawn(random: Random, symbols: str) -> list[Pair]:
    """Join any two tokens: some products are made twice, some merges are never reached."""
    tokens, merges = list(symbols), list[Pair]()
    for _ in range(random.randrange(0, 9)):
        left, right = random.choice(tokens), random.choice(tokens)
        if len(left + right) <= _LONGEST:
            merges.append((left, right))
            tokens.append(left + right)
    return merges


def _doubled(symbol: str, times: int) -> list[Pair]:
    """Double a symbol so often: the longest token is beyond a byte."""
    return [(symbol * 2**power, symbol * 2**power) for power in range(times)]


def _byte_level(random: Random) -> Model:
    part: Model = {"type": "byte_level"}
    if random.random() < 0.3:
        part["add_prefix_space"] = True
    if random.random() < 0.3:
        part["use_regex"] = False
    return part
