"""Models of each type, small and built so that their rules interfere with each other.

Alphabets of two to four symbols force overlaps. Merges build on each other within a word, or join any two short
strings; lists are repeated and reversed. Weights tie, nearly tie, and are sums that binary fractions hold exactly.
Models are sound by construction: apart from those that are broken on purpose, every token that a model names is in its
vocabulary. Stages are drawn first, and the model fits the pre-tokenizer, so that the model can shrink to nothing while
the stages stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tokspec.compare.shrink import listed_tokens
from tokspec.formats.tiktoken_ranks import from_bytes, merges_of
from tokspec.fuzz.characters import ODD_TOKENS
from tokspec.fuzz.components import STAGES, added_tokens, special_tokens, stages
from tokspec.fuzz.drawing import chance, maybe, pick, pick_some, steps
from tokspec.fuzz.pipelines import varied

Model: TypeAlias = dict[str, Any]

Generated: TypeAlias = tuple[str, Model, str]
"""The family, the model, and the symbols for its texts."""

#: Alphabets of few symbols. Some symbols have several bytes or units, are marks, or have another form.
_ALPHABETS = (
    *("a", "ab", "abc", "abcd", "ab", "abc", "ab", "abc", "aé", "aA", "àa\u0300", "a👋", "สวั", "ΑΣς", "中a", "a1"),
    *("a.b", "a b", "x\r\n", "가각", "#a", "▁a", "a\u0301\u0323", "ı\u0130i", "\U0001d400\U0001d401"),
    *("ab\uffee\U00010000", "zZé", "##b", "a'b", "aé中", "가a"),
)
_ALPHABET = st.sampled_from(_ALPHABETS)


@cache
def _strings(symbols: str, longest: int, most: int) -> list[str]:
    """Return the strings over symbols, shortest first."""
    parts = tuple(dict.fromkeys(symbols))
    found = ["".join(each) for length in range(1, longest + 1) for each in product(parts, repeat=length)]
    return found[:most]


@cache
def _string(symbols: str, longest: int, most: int) -> st.SearchStrategy[str]:
    """Draw one of the strings over symbols."""
    return st.sampled_from(_strings(symbols, longest, most))


def _insert(draw: st.DrawFn, tokens: Sequence[str], others: Sequence[str]) -> list[str]:
    """Insert new tokens before, after or in the middle of others."""
    new = [token for token in dict.fromkeys(tokens) if token not in others]
    at = len(others) * draw(_HALVES) // 2
    return [*others[:at], *new, *others[at:]]


#: Before, after and in the middle.
_HALVES = st.sampled_from((0, 2, 1))


def _with_odd(draw: st.DrawFn, tokens: list[str]) -> list[str]:
    """Insert a few odd tokens into a vocabulary, rarely."""
    odd = draw(_SOME_ODD)
    return _insert(draw, odd, tokens) if odd else tokens


_SOME_ODD = maybe(st.lists(st.sampled_from(ODD_TOKENS), min_size=1, max_size=3), 7)


# BPE

#: The most symbols of a token that joins any two others, because mistakes show in short ones.
_LONGEST = 6


@st.composite
def _merges(draw: st.DrawFn, symbols: str) -> list[tuple[str, str]]:
    """Draw merges: of any two strings or tokens, or that build on each other within a word, or double a symbol."""
    parts = list(dict.fromkeys(symbols))
    way = draw(_WAYS)
    if way == "doubled":
        return [(parts[0] * 2**power, parts[0] * 2**power) for power in range(draw(st.integers(0, 8)))]
    if way == "any strings":
        return draw(_pairs(_string(symbols, 3, 40)))
    found: list[tuple[str, str]] = []
    if way == "any tokens":
        for _ in steps(draw, 9):
            tokens = [*parts, *("".join(pair) for pair in found)]
            left, right = pick(draw, tokens), pick(draw, tokens)
            found += [(left, right)] if len(left + right) <= _LONGEST else []
        return found
    split = pick_some(draw, parts, 2, 10)
    for _ in steps(draw, len(split) - 1):
        at = draw(st.integers(0, len(split) - 2))
        pair = split[at], split[at + 1]
        split[at : at + 2] = ["".join(pair)]
        found += [pair] if pair not in found else []
    return found


_WAYS = st.sampled_from((*("any strings",) * 2, *("any tokens",) * 4, *("within a word",) * 4, "doubled"))


@cache
def _pairs(string: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(string, string), max_size=9)


#: How a non-empty list of merges is changed.
_ORDERS: Mapping[str, Callable[[list[tuple[str, str]]], list[tuple[str, str]]]] = {
    "as drawn": lambda pairs: pairs,
    "reversed": lambda pairs: pairs[::-1],
    "by length": lambda pairs: sorted(pairs, key=lambda pair: -len("".join(pair))),
    "last first": lambda pairs: [pairs[-1], *pairs[:-1]],
    "first twice": lambda pairs: [*pairs, pairs[0]],
    "last twice": lambda pairs: [pairs[-1], *pairs],
}
_ORDER = st.sampled_from((*("as drawn",) * 7, *list(_ORDERS)[1:], "last twice"))

#: All bytes or none, in either order; the first are simpler.
_EVERY_BYTE = [from_bytes(bytes([byte])) for byte in range(256)]
_SOME_BYTES = st.sampled_from(([], [], [], [], _EVERY_BYTE[::-1], _EVERY_BYTE))

#: Kinds of BPE models, by the kind that fits the pre-tokenizer.
_KINDS_OF_BPE = {
    fitting: st.sampled_from(("plain", "plain", *(fitting,) * 6, "by ranks", "by ranks", "broken"))
    for fitting in ("plain", "bytes", "marks")
}
_MORE_SYMBOLS = st.sampled_from(("", "", "", " ", " \n", "  '", "é中"))

#: Values of the unknown token; None means that the model has none.
_UNKNOWN = st.sampled_from((None, None, "[UNK]", "<unk>", "?", "a", ""))


def _bpe(draw: st.DrawFn, pre_tokenizer: str, all_bytes: bool = False) -> tuple[Model, str]:
    """Draw a model. All kinds draw the same values and use them differently, so any can shrink to a plain one."""
    fitting = {"byte_level": "bytes", "metaspace": "marks"}.get(pre_tokenizer, "plain")
    kind = draw(_KINDS_OF_BPE[fitting])
    kind = "bytes" if all_bytes else kind
    symbols = ("▁" if kind == "marks" else "") + draw(_ALPHABET) + draw(_MORE_SYMBOLS)
    written = "".join(dict.fromkeys(from_bytes(symbols.encode()) if kind == "bytes" else symbols))
    pairs = draw(_merges(written))
    order = draw(_ORDER)
    extra = pick_some(draw, _strings(written, 3, 120), 0, 3) if chance(draw, 25) else []
    unknown = draw(_UNKNOWN)
    every_byte = draw(_SOME_BYTES) if kind == "bytes" else []
    every_byte = every_byte or (_EVERY_BYTE if all_bytes else [])
    tokens = list(dict.fromkeys([*every_byte, *written, *(token for a, b in pairs for token in (a, b, a + b))]))
    if kind == "marks":
        tokens = [token for token in tokens if "▁" not in token[1:]]
    if kind in ("by ranks", "marks") or every_byte:
        pairs = list(merges_of(tokens))
    else:
        tokens = _insert(draw, extra, tokens) if extra else tokens
        pairs = _ORDERS[order](pairs) if pairs else pairs
        tokens = _with_odd(draw, tokens)
    model: Model = {"type": "bpe"}
    if unknown is not None and not every_byte:
        model["unknown_token"] = unknown
        tokens = _insert(draw, [unknown], tokens)
        if kind == "plain" and chance(draw, 10):  # the unknown token is merged like any other
            pairs = [(unknown, tokens[-1]), *pairs]
            tokens = list(dict.fromkeys([*tokens, "".join(pairs[0])]))
    if chance(draw, 10) and kind in ("plain", "broken"):  # if merges follow from the order, it stays
        tokens = tokens[::-1]
    model |= {"vocabulary": tokens, "merges": [list(pair) for pair in pairs]}
    return (_break(draw, model) if kind == "broken" else model), symbols


def _break(draw: st.DrawFn, model: Model) -> Model:
    """Make a model name a token that it does not have (BPE-MODEL-1, BPE-MODEL-2)."""
    if chance(draw, 40):
        return {**model, "unknown_token": "[gone]"}
    first = model["vocabulary"][0]
    left, right = draw(st.permutations((first, "q")))
    added = [token for token in (left, right, left + right) if draw(st.booleans())]
    tokens = _insert(draw, added, model["vocabulary"])
    return {**model, "vocabulary": tokens, "merges": [*model["merges"], [left, right]]}


def _bpe_of_bytes(draw: st.DrawFn, pre_tokenizer: str) -> tuple[Model, str]:
    """Draw a model that tiktoken's format can express: every byte, and merges that follow from the ranks."""
    model, symbols = _bpe(draw, "byte_level", all_bytes=True)
    return {"pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}, **model}, symbols + " "


# WordPiece


_PREFIX = st.sampled_from(("##", "##", "##", "##", "@", "#", "a", "@@@", ""))


def _wordpiece(draw: st.DrawFn, pre_tokenizer: str) -> tuple[Model, str]:
    symbols = draw(_ALPHABET)
    prefix = draw(_PREFIX)
    tokens = [(prefix if is_continuing else "") + word for is_continuing, word in draw(_words(symbols))]
    if chance(draw, 50):
        tokens = [*symbols, *(prefix + symbol for symbol in symbols), *tokens]
    if chance(draw, 12):  # a search for the prefix by grapheme clusters doesn't find it before a mark
        tokens += [prefix, f"{prefix}\u0301{symbols[0]}"]
    model: Model = {"type": "wordpiece", "vocabulary": list(dict.fromkeys(tokens))}
    if prefix != "##" or chance(draw, 20):
        model["continuing_prefix"] = prefix
    model["vocabulary"] = _with_odd(draw, model["vocabulary"])
    unknown = draw(_UNKNOWN_WORD)
    if unknown != "[UNK]" or chance(draw, 30):
        model["unknown_token"] = unknown
    if not chance(draw, 10):
        model["vocabulary"] = _insert(draw, [unknown], model["vocabulary"])
    longest = draw(_MOST_CHARACTERS)
    return ({**model, "max_word_length": longest} if longest else model), symbols


_UNKNOWN_WORD = st.sampled_from(("[UNK]", "[UNK]", "[UNK]", "<unk>", "?", ""))
_MOST_CHARACTERS = st.sampled_from((*(0,) * 12, 1, 2, 3, 4, 6, 101))


@cache
def _words(symbols: str) -> st.SearchStrategy[list[tuple[bool, str]]]:
    """Draw tokens of WordPiece, and whether each continues a word; short ones are likelier."""
    words = _strings(symbols, 4, 60)
    shorter = [word for most in (4, 8, 15, 30, 60) for word in words[:most]]
    return st.lists(st.tuples(st.booleans(), st.sampled_from(shorter)), min_size=1, max_size=16)


# Unigram

#: Logarithms in halves, which tie; nearly equal ones, some equal in single precision; and large, vast and positive
#: ones.
_LOGARITHMS = [*(-half / 2 for half in range(1, 17)), -1 - 2**-12, -2 + 2**-12, -4 + 2**-11, -1 - 2**-25, -2 + 2**-25]
_LOGARITHMS += [-2 - 2**-25, -4 - 2**-24, -11.0, -12.0, -14.5, -20.0, -10.0, -400.0, -800.0, 1.0, 2.5]
_FREQUENCIES = [1, 2, 3, 4, 1, 2, 5, 7, 12, 20, 1, 100, 1, 999, 2, 0, 0.5, 2.5, 2**24, 2**24 + 1, 2**31, 2**32 + 1]

#: Weights as a number for each symbol of a token and one for the whole: a quarter of the logarithms equal the sum of
#: the token's symbols, or nearly.
_WEIGHTS = {
    True: st.sampled_from(
        [*[(0.0, each) for each in _LOGARITHMS], *[(-1.0, 0.0), (-1.0, 2**-25), (-1.0, -(2**-25))] * 4]
    ),
    False: st.sampled_from([(0, each) for each in _FREQUENCIES]),
}


@cache
def _weighted_tokens(symbols: str, is_log: bool) -> st.SearchStrategy[list[tuple[str, tuple[float, float]]]]:
    return st.lists(st.tuples(_string(symbols, 4, 64), _WEIGHTS[is_log]), min_size=1, max_size=12)


def _unigram(draw: st.DrawFn, pre_tokenizer: str) -> tuple[Model, str]:
    kind = draw(_KINDS_OF_UNIGRAM["marks" if pre_tokenizer == "metaspace" else "plain"])
    symbols = ("▁" if kind == "marks" else "") + draw(_ALPHABET)
    is_log = chance(draw, 55)
    drawn = draw(_weighted_tokens(symbols, is_log))
    weights: dict[str, float] = {}
    if chance(draw, 60):
        weights |= dict.fromkeys(symbols, -1.0 if is_log else 1)
    weights |= {token: each * len(token) + whole for token, (each, whole) in drawn}
    if chance(draw, 6):
        weights["".join(pick_some(draw, _strings(symbols, 4, 64), 9, 20))] = -5.0 if is_log else 2
    rows: list[list[Any]] = [
        [token, weight] for token, weight in weights.items() if kind != "marks" or "▁" not in token[1:]
    ]
    rows = rows or [["▁", -1.0 if is_log else 1]]
    if is_log:  # no clause says that a logarithm is below 0, or that its probability is not 0
        change = draw(_CHANGES)
        rows = [[token, change(weight)] for token, weight in rows]
    model: Model = {"type": "unigram", "tokens": rows, **({"weights": "log_probability"} if is_log else {})}
    for token in _with_odd(draw, []):
        rows += [] if token in weights else [[token, -3.0 if is_log else 1]]
    unknown = draw(_UNKNOWN_PIECE)
    if unknown is not None:
        model["unknown_token"] = unknown
        rows[:] = [row for row in rows if row[0] != unknown]
        rows.insert(0 if chance(draw, 50) else len(rows), [unknown, -1.0 if is_log else draw(st.integers(0, 1))])
    if not is_log and chance(draw, 4):
        rows[:] = [[token, 0] for token, _ in rows]
    if chance(draw, 15):
        rows.reverse()
    if kind == "broken" and chance(draw, 50):
        model["unknown_token"] = "[gone]"
    elif kind == "broken":
        first, weight = model["tokens"][0]
        rows.append([first, weight + (-1 if is_log else 1)])
    return model, symbols


_KINDS_OF_UNIGRAM = {
    fitting: st.sampled_from(("plain", "plain", *(fitting,) * 8, "broken")) for fitting in ("plain", "marks")
}
_UNKNOWN_PIECE = st.sampled_from((None, "<unk>", "<unk>", "?", ""))


def _same(weight: float) -> float:
    return weight


def _raised(weight: float) -> float:
    return weight + 30


def _vast(weight: float) -> float:
    """Multiply a weight unless it is above 0, because then only an intermediate product might overflow."""
    return min(weight, weight * 100)


_CHANGES = st.sampled_from((*(_same,) * 14, _raised, _vast))


# WordLevel


def _wordlevel(draw: st.DrawFn, pre_tokenizer: str) -> tuple[Model, str]:
    symbols = draw(_ALPHABET)
    tokens = list(dict.fromkeys(pick_some(draw, _strings(symbols, 3, 40), 1, 8)))
    tokens = _with_odd(draw, tokens)
    model: Model = {"type": "wordlevel", "vocabulary": tokens}
    unknown = pick(draw, (None, "[UNK]", "[UNK]", "a", ""))
    if unknown is not None:
        model["unknown_token"] = unknown
        if not chance(draw, 15):
            model["vocabulary"] = _insert(draw, [unknown], tokens)
    return model, symbols


# Models that are broken on purpose

_WORDS: Model = {"type": "wordlevel", "vocabulary": ["a", "b", "c"]}
_PIECES: Model = {"type": "bpe", "vocabulary": ["<unk>", "a", "b", "<0x41>"], "unknown_token": "<unk>"}
_WEIGHTED: Model = {"type": "unigram", "tokens": [["<unk>", 1], ["a", 1], ["b", 1]], "unknown_token": "<unk>"}
_TEXTS = [{"sequence": "A"}, {"sequence": "B"}]
_TEMPLATE: Model = {"type": "template", "single": _TEXTS[:1], "pair": _TEXTS, "special_tokens": []}
_NAMED = {"name": "q", "ids": [1], "tokens": ["q"]}

#: Replacements of one part of a model that make it contradict itself.
_FLAWS: Sequence[tuple[Model, Model]] = (
    *((_WORDS, {"vocabulary": rows}) for rows in ([["a", 1], ["b", 0], ["a", 2]], [["a", 1], ["b", 1]])),
    (_WEIGHTED, {"tokens": [["<unk>", 1], ["a", 1], ["b", 1], ["a", 2], ["c", 1]]}),
    *((_WORDS, {"special_tokens": tokens}) for tokens in (["q"], [""], ["a", "b", "a"])),
    *((_WORDS, {"added_tokens": [{"content": content}]}) for content in ("", "q")),
    *((_WORDS, {"added_tokens": [{"content": "a", "id": id}]}) for id in (1, 2**31)),
    *((_WORDS, {"added_tokens": [{"content": "b", "id": 0}]}), (_WORDS, {"added_tokens": [{"content": "q", "id": 0}]})),
    (_WORDS, {"added_tokens": [{"content": "q", "id": 7}, {"content": "r", "id": 7}]}),
    (_WORDS, {"added_tokens": [{"content": "q", "id": 7}, {"content": "b"}, {"content": "q", "id": 8}]}),
    (_WORDS, {"added_tokens": [{"content": "a"}], "special_tokens": ["a"]}),
    (_WORDS, {"vocabulary": [["a", 0], ["b", 300]], "added_tokens": [{"content": "b", "id": 301}]}),
    *((_WORDS, {"truncation": {"max_length": longest, "stride": 2}}) for longest in (1, 2)),
    *((_PIECES, {"scores": scores}) for scores in ([], [0, 0, 0], [0, 0, 0, 0, 0])),
    *(
        (model, {"piece_types": types})
        for model in (_PIECES, _WEIGHTED)
        for types in (
            *({"control": ["a"], "unused": ["a"]}, {"user_defined": ["b"], "control": ["b"]}, {"control": ["<unk>"]}),
            *({"unused": ["q"]}, {"byte": ["a"]}, {"control": ["a", "a"]}, {"user_defined": [""]}),
        )
    ),
    (_WORDS, {"normalizer": {"type": "precompiled", "charsmap": "AAAA"}}),
    (_WORDS, {"normalizer": {"type": "precompiled", "charsmap": "BgAAAAAGAAADAAA="}}),
    (_WORDS, {"normalizer": {"type": "precompiled", "charsmap": "DAAAAAAGAAA="}}),
    (_WORDS, {"normalizer": {"type": "sentencepiece", "charsmap": "AAAAgAAGAAA="}}),
    (_WORDS, {"normalizer": {"type": "sentencepiece", "charsmap": "/P///wAGAAA="}}),
    (_WORDS, {"post_processor": {**_TEMPLATE, "single": [{"special": "q"}, *_TEXTS[:1]]}}),
    (_WORDS, {"post_processor": {**_TEMPLATE, "pair": [*_TEXTS, {"special": "q"}]}}),
    (_WORDS, {"post_processor": {**_TEMPLATE, "single": _TEXTS}}),
    *((_WORDS, {"post_processor": {**_TEMPLATE, "pair": [text]}}) for text in _TEXTS),
    (_WORDS, {"post_processor": {**_TEMPLATE, "special_tokens": [_NAMED, _NAMED]}}),
    (_WORDS, {"post_processor": {**_TEMPLATE, "special_tokens": [{**_NAMED, "ids": [1, 2]}]}}),
    (_WORDS, {"post_processor": {**_TEMPLATE, "special_tokens": [{**_NAMED, "tokens": ["q", "r"]}]}}),
)

#: Models that have to be refused.
BROKEN: Sequence[Model] = [model | flaw for model, flaw in _FLAWS]


def _broken(draw: st.DrawFn, pre_tokenizer: str) -> tuple[Model, str]:
    return dict(pick(draw, BROKEN)), "abc"


# All families


def _training(draw: st.DrawFn, pre_tokenizer: str) -> tuple[Model, str]:
    """Draw an untrained model."""
    model: Model = {"type": pick(draw, ("bpe", "wordpiece", "unigram"))}
    if model["type"] == "wordpiece" and (prefix := draw(_LEARNED_PREFIX)):
        model["continuing_prefix"] = prefix
    return model, draw(_ALPHABET)


_LEARNED_PREFIX = st.sampled_from(("", "", "", "#", "@", "##a", "a", "@@@"))


def _stages_alone(draw: st.DrawFn, pre_tokenizer: str) -> tuple[Model, str]:
    return {}, "ab"


_Making: TypeAlias = Callable[[st.DrawFn, str], tuple[Model, str]]

#: Families of models, with the weight of each; the simplest comes first.
FAMILIES: Mapping[str, tuple[_Making, int]] = {
    "stages": (_stages_alone, 3),
    "bpe": (_bpe, 3),
    "bpe-bytes": (_bpe_of_bytes, 1),
    "wordpiece": (_wordpiece, 1),
    "unigram": (_unigram, 2),
    "wordlevel": (_wordlevel, 1),
    "training": (_training, 2),
    "broken": (_broken, 2),
}


@cache
def generated(families: tuple[str, ...] = tuple(FAMILIES), usual: int = 19) -> st.SearchStrategy[Generated]:
    """Draw a model of one of the families, with stages and special tokens; one in ``usual + 1`` is a usual pipeline."""
    return _generated(families, usual)


@st.composite
def _generated(draw: st.DrawFn, families: tuple[str, ...], usual: int) -> Generated:
    if found := draw(maybe(varied(families), usual)):
        family, whole, letters = found
        return family, whole, letters
    model: Model = draw(stages())
    family, made, symbols = draw(_model_of(families, model.get("pre_tokenizer", {}).get("type", "")))
    if family == "broken":
        return family, made, symbols
    drawn = {stage for stage in STAGES if model.get(stage, {}).get("type") == made.get(stage, {}).get("type")}
    model |= {key: value for key, value in made.items() if key not in drawn}
    if "type" in model:
        ascii_only = "byte_level" in str(model.get("pre_tokenizer"))
        special = draw(_SOME_SPECIAL[ascii_only])
        model = _with_special_tokens(draw, model, special) if special else model
        extension = draw(_EXTENSION)
        if extension and family in _EXTENDED:
            model = _EXTENDED[family](draw, model) if extension == "parameters" else _with_ids(draw, model)
        missing = [row for row in model.get("added_tokens", ()) if row["content"] not in listed_tokens(model)]
        for id, row in enumerate(missing, len(listed_tokens(model))):
            row["id"] = id
    return family, model, symbols


_EXTENSION = maybe(st.sampled_from(("parameters", "parameters", "ids")), 2)


def _with_ids(draw: st.DrawFn, model: Model) -> Model:
    """Return a model whose tokens have explicit ids, with gaps and in another order."""
    if "vocabulary" not in model or "added_tokens" in model:
        return model
    size, numbering = len(model["vocabulary"]), pick(draw, [*_NUMBERINGS.values()])
    return {**model, "vocabulary": [[token, numbering(place, size)] for place, token in enumerate(model["vocabulary"])]}


#: Ids by place and size: with gaps and backwards, beyond a byte and small caches, and around 2^31 and 2^32.
_NUMBERINGS: Mapping[str, Callable[[int, int], int]] = {
    "backwards": lambda place, size: 2 * (size - place),
    "large": lambda place, size: 120 + 3 * place,
    "around 2^31": lambda place, size: 2**31 - size // 2 + place,
    "up to the last": lambda place, size: 2**32 - size + place,
    "the last first": lambda place, size: 2**32 - 1 - place,
}


def _extended_bpe(draw: st.DrawFn, model: Model) -> Model:
    """Return a model with parameters that add tokens (bytes to fall back to, a prefix, a suffix), or that need none."""
    tokens, merges = model["vocabulary"], model["merges"]
    key = draw(_ADDITIONS)
    if key in ("ignore_merges", "fuse_unk"):
        return {**model, key: chance(draw, 75)}
    if key == "dropout":  # for values between 0 and 1, merges are skipped at random
        return {**model, key: int(chance(draw, 75))}
    if key == "scores":  # some of the scores are equal
        scores = [draw(_SCORE) for _ in tokens]
        return {**model, "merges": [], "scores": scores, **_piece_types(draw, model)}
    if key == "piece_types":
        model = {**model, "vocabulary": _insert(draw, _fallback(draw), tokens)} if chance(draw, 50) else model
        return {**model, **_piece_types(draw, model)}
    if key == "byte_fallback":
        return {**model, key: True, "vocabulary": _insert(draw, _fallback(draw), tokens)}
    before, behind = draw(_AFFIXES)
    # BPE-AFFIX-3: the right side of a merge begins with the prefix.
    ways = [("", before, ""), ("", before, behind), (before, before, behind)] if before else [("", "", behind)]
    more = [[first + left, second + right + end] for left, right in merges for first, second, end in ways]
    products = [first + left + right + end for left, right in merges for first, second, end in ways]
    added = [token + behind for token in tokens if len(token) < 3]
    added += [before + token for token in (*tokens, *added) if len(token) < 9]
    listed = _insert(draw, [*added, *(token for pair in more for token in pair), *products], tokens)
    affixes = {key: affix for key, affix in (("continuing_prefix", before), ("end_of_word_suffix", behind)) if affix}
    return {**model, **affixes, "vocabulary": listed, "merges": [*([] if before else merges), *more]}


_ADDITIONS = st.sampled_from(
    ("ignore_merges", "fuse_unk", "dropout", "byte_fallback", *("scores", "affixes", "piece_types") * 2)
)
_AFFIXES = st.sampled_from((("##", ""), ("", "</w>"), ("##", "</w>"), ("##", "</w>"), ("", "a")))

#: Scores: small ones that tie, and some that only double precision tells apart.
_SCORE = st.sampled_from((*(-half / 2 for half in range(20)), -1 - 2**-25, -1 - 2**-26, 2**24 + 1, 2**24, 1.5, -1e300))

_BYTE = re.compile(r"<0x[0-9A-F]{2}>")
_PIECE_TYPE = st.sampled_from((*("",) * 9, "control", "user_defined", "unused"))


def _piece_types(draw: st.DrawFn, model: Model) -> dict[str, Any]:
    """Draw the types of some tokens, but not of the unknown token."""
    types: dict[str, list[str]] = {}
    for token in listed_tokens(model):
        kind = "byte" if _BYTE.fullmatch(token) else draw(_PIECE_TYPE)
        if kind and token not in ("", model.get("unknown_token")):
            types.setdefault(kind, []).append(token)
    return {"piece_types": types} if types else {}


def _fallback(draw: st.DrawFn) -> list[str]:
    """Return byte tokens for a few characters, one of which may lack its last byte."""
    data = "éb中\n".encode()[: 8 - draw(st.integers(0, 4))]
    return [f"<0x{byte:02X}>" for byte in dict.fromkeys(data)]


def _extended_unigram(draw: st.DrawFn, model: Model) -> Model:
    listed, weight = listed_tokens(model), model["tokens"][0][1]
    rows = [[token, weight] for token in _fallback(draw) if token not in listed]
    if chance(draw, 40) and len(set(listed)) == len(listed):
        model = {**model, "tokens": [*model["tokens"], *rows]} if chance(draw, 50) else model
        return {**model, **_piece_types(draw, model)}
    return {**model, "byte_fallback": True, "tokens": [*model["tokens"], *rows]}


_EXTENDED: Mapping[str, Callable[[st.DrawFn, Model], Model]] = {
    "bpe": _extended_bpe,
    "unigram": _extended_unigram,
    "wordpiece": _with_ids,
    "wordlevel": _with_ids,
}


@cache
def _model_of(families: tuple[str, ...], pre_tokenizer: str) -> st.SearchStrategy[Generated]:
    return _draw_model(families, pre_tokenizer)


@st.composite
def _draw_model(draw: st.DrawFn, families: tuple[str, ...], pre_tokenizer: str) -> Generated:
    family = pick(draw, [name for name in families for _ in range(FAMILIES[name][1])])
    return family, *FAMILIES[family][0](draw, pre_tokenizer)


_SOME_SPECIAL = {ascii_only: maybe(special_tokens(ascii_only), 2) for ascii_only in (True, False)}


def _with_special_tokens(draw: st.DrawFn, model: Model, special: list[str]) -> Model:
    """Return a model with special tokens, which are also in its vocabulary if it has one, or with added tokens."""
    if ("vocabulary" in model or "tokens" in model) and chance(draw, 40):
        return {**model, "added_tokens": draw(added_tokens(special))}
    if "tokens" in model:
        listed, weight = listed_tokens(model), model["tokens"][0][1]
        rows = [[token, weight] for token in special if token not in listed]
        return {**model, "tokens": [*rows, *model["tokens"]], "special_tokens": special}
    if "vocabulary" in model:
        return {**model, "vocabulary": _insert(draw, special, model["vocabulary"]), "special_tokens": special}
    return {**model, "special_tokens": special}
