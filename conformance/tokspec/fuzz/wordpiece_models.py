"""WordPiece models at random."""

from __future__ import annotations

from random import Random

from tokspec.fuzz import stages
from tokspec.fuzz.parts import Model, add_special_tokens, add_stages, alphabet, inserted

__all__ = ["bert", "plain", "with_stages"]


def plain(random: Random) -> tuple[Model, str]:
    """Make a model without stages, over an alphabet of few symbols.

    >>> plain(Random(2))[0]["type"]
    'wordpiece'
    """
    symbols = alphabet(random)
    return _model(random, symbols), symbols


def bert(random: Random) -> tuple[Model, str]:
    """Make a model with BERT's normalizer, pre-tokenizer and decoder, and its own prefix.

    >>> bert(Random(2))[0]["pre_tokenizer"]
    {'type': 'bert'}
    """
    symbols = random.choice(("ab", "abc", "a'b", "ab.", "中a", "가a", "aé", "ab1", "ΑΣσ"))
    made = _model(random, symbols, "##")
    made["pre_tokenizer"] = {"type": "bert"}
    if random.random() < 0.9:
        made["normalizer"] = {"type": "bert", **({} if random.random() < 0.5 else {"lowercase": False})}
    if random.random() < 0.7:
        made["decoder"] = {"type": "wordpiece"}
    return (add_special_tokens(random, made) if random.random() < 0.3 else made), symbols + " "


def with_stages(random: Random) -> tuple[Model, str]:
    """Make a model with stages of any kind.

    >>> with_stages(Random(2))[0]["type"]
    'wordpiece'
    """
    made, symbols = plain(random)
    made = add_stages(random, made)
    if random.random() < 0.3:
        made["pre_tokenizer"] = stages.pre_tokenizer(random)
    return made, symbols + " "


def _model(random: Random, symbols: str, prefix: str = "") -> Model:
    prefix = prefix or random.choice(("##", "##", "##", "@", "#", "a", "@@@"))
    share = random.choice((1.0, 0.85, 0.4))
    tokens = [symbol for symbol in dict.fromkeys(symbols) if random.random() < share]
    tokens += [prefix + symbol for symbol in dict.fromkeys(symbols) if random.random() < share]
    for _ in range(random.randrange(0, 10)):
        word = "".join(random.choice(symbols) for _ in range(random.randrange(2, 5)))
        tokens.append(random.choice(("", prefix, prefix)) + word)
    if random.random() < 0.1:
        tokens.append(prefix)
    made: Model = {"type": "wordpiece", "vocabulary": list(dict.fromkeys(tokens))}
    if prefix != "##" or random.random() < 0.2:
        made["continuing_prefix"] = prefix
    unknown = random.choice(("[UNK]", "[UNK]", "<unk>", "?"))
    if unknown != "[UNK]" or random.random() < 0.3:
        made["unknown_token"] = unknown
    if random.random() < 0.9:
        made["vocabulary"] = inserted(random, [unknown], made["vocabulary"])
    if random.random() < 0.3:
        made["max_word_length"] = random.choice((1, 2, 3, 4, 6, 101))
    if random.random() < 0.2:
        random.shuffle(made["vocabulary"])
    if random.random() < 0.1:  # who looks for prefixes among clusters finds none behind which a mark stands
        marked = f"{prefix}\u0301{random.choice(symbols)}"
        made["vocabulary"] = list(dict.fromkeys((*made["vocabulary"], marked)))
    return made
