"""Unigram models at random."""

from __future__ import annotations

from random import Random

from tokspec.fuzz.parts import Model, add_special_tokens, add_stages, alphabet

__all__ = ["broken", "plain", "with_metaspace", "with_stages"]

#: Near ties are this far apart: a binary fraction, so that sums of a few are exact in 32 bits too.
NEAR = 2.0**-12


def plain(random: Random) -> tuple[Model, str]:
    """Make a model without stages, over an alphabet of few symbols.

    >>> plain(Random(2))[0]["type"]
    'unigram'
    """
    symbols = alphabet(random)
    return (_undercut if random.random() < 0.05 else _model)(random, symbols), symbols


def with_metaspace(random: Random) -> tuple[Model, str]:
    """Make a model over marked spaces, in which no token goes across a mark.

    >>> with_metaspace(Random(2))[0]["pre_tokenizer"]["type"] in ("metaspace", "sequence")
    True
    """
    symbols = "".join(symbol for symbol in alphabet(random) if symbol not in " ▁") or "ab"
    made = _model(random, "▁" + symbols)
    made["tokens"] = [[token, weight] for token, weight in made["tokens"] if "▁" not in token[1:]]
    part = {"type": "metaspace", "prepend_scheme": random.choice(("always", "always", "never", "first"))}
    if random.random() < 0.3:
        made["pre_tokenizer"] = {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, part]}
    else:
        made["pre_tokenizer"] = part
    if random.random() < 0.8:
        made["decoder"] = {"type": "metaspace"}
    return (add_special_tokens(random, made) if random.random() < 0.2 else made), symbols + " "


def with_stages(random: Random) -> tuple[Model, str]:
    """Make a model with stages of any kind.

    >>> with_stages(Random(2))[0]["type"]
    'unigram'
    """
    made, symbols = plain(random)
    return add_stages(random, made), symbols + " "


def broken(random: Random) -> tuple[Model, str]:
    """Make a model that lists a token twice, or whose unknown token is not in its vocabulary.

    >>> broken(Random(2))[0]["type"]
    'unigram'
    """
    made, symbols = plain(random)
    if random.random() < 0.5:
        made["unknown_token"] = "[gone]"
    else:
        token, weight = random.choice(made["tokens"])
        made["tokens"].append([token, weight - 1 if "weights" in made else weight + 1])
    return made, symbols


def _model(random: Random, symbols: str) -> Model:
    share = random.choice((1.0, 0.9, 0.6, 0.3))
    tokens = [symbol for symbol in dict.fromkeys(symbols) if random.random() < share] or [symbols[0]]
    for _ in range(random.randrange(1, 9)):
        tokens.append("".join(random.choice(symbols) for _ in range(random.randrange(2, 5))))
    if random.random() < 0.08:
        tokens.append("".join(random.choice(symbols) for _ in range(random.choice((17, 21, 40)))))
    made: Model = {"type": "unigram"}
    if random.random() < 0.6:
        unknown = random.choice(("<unk>", "<unk>", "?", "[UNK]"))
        made["unknown_token"] = unknown
        tokens.insert(random.choice((0, len(tokens))), unknown)
    tokens = list(dict.fromkeys(tokens))
    if random.random() < 0.2:
        random.shuffle(tokens)
    if random.random() < 0.55:
        made["weights"] = "log_probability"
        weigh = random.choice((_logarithm, _logarithm, _wide))
        made["tokens"] = [[token, weigh(random, token)] for token in tokens]
    else:
        most = random.choice((1, 4, 20, 1000))
        made["tokens"] = [[token, random.randrange(1, most + 1)] for token in tokens]
        if random.random() < 0.2:
            made["tokens"][-1][1] = 0
        if random.random() < 0.05:
            made["tokens"] = [[token, 0] for token in tokens]
    return made


def _logarithm(random: Random, token: str) -> float:
    """Return a weight in halves, often as much as the token's symbols together, so that sums tie, or nearly."""
    weight = -float(len(token)) if random.random() < 0.5 else -random.randrange(1, 17) / 2
    if random.random() < 0.25:
        weight -= NEAR * random.choice((1, -1, 2))
    return weight - (random.choice((10.0, 10.0, 9.5, 6.0, 12.0)) if random.random() < 0.15 else 0.0)


def _wide(random: Random, token: str) -> float:
    """Return a weight from so wide a range that an unknown character may cost less than two tokens."""
    return -random.randrange(0, 41) / 2


def _undercut(random: Random, symbols: str) -> Model:
    """Make a model in which an unknown character and a cheap token cost less than two dear tokens."""
    left, right = ("".join(random.choice(symbols) for _ in range(2)) for _ in range(2))
    dear = -random.randrange(24, 41) / 2
    weights = {"<unk>": -1.0, left[1:] + right: -0.5, left: dear, right: dear}
    tokens = [[token, weight] for token, weight in weights.items()]
    return {"type": "unigram", "unknown_token": "<unk>", "weights": "log_probability", "tokens": tokens}
