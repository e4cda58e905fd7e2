"""Models of each type, small and made so that their rules get into each other's way.

Alphabets of two to four symbols force overlaps. Merges follow each other within a word, or join any two short strings;
lists repeat themselves and are turned round. Weights tie, nearly tie, and are sums that binary fractions hold exactly.
Models are sound by construction: apart from those that are broken on purpose, every token that a model names is in its
vocabulary. Stages are drawn first, and a model fits its pre-tokenizer: so the model can vanish while the stages stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tokspec.formats.tiktoken_ranks import from_bytes, merges_of
from tokspec.laboratory.fuzz.characters import ODD_TOKENS
from tokspec.laboratory.fuzz.components import STAGES, added_tokens, special_tokens, stages
from tokspec.laboratory.fuzz.drawing import PLAIN, Draw, chance, coded, codes, maybe, number, pick
from tokspec.laboratory.fuzz.pipelines import varied
from tokspec.laboratory.minimize import tokens_of

__all__ = ["BROKEN", "FAMILIES", "Generated", "generated"]

Model: TypeAlias = dict[str, Any]

Generated: TypeAlias = tuple[str, Model, str]
"""The family, the model, and the symbols of which texts for it are made."""

#: Few symbols each. Some are of several bytes or units, are marks, or have another form.
_ALPHABETS = (
    *("a", "ab", "abc", "abcd", "ab", "abc", "ab", "abc", "aé", "aA", "àa\u0300", "a👋", "สวั", "ΑΣς", "中a", "a1"),
    *("a.b", "a b", "x\r\n", "가각", "#a", "▁a", "a\u0301\u0323", "ı\u0130i", "\U0001d400\U0001d401"),
    *("ab\uffee\U00010000", "zZé", "##b", "a'b", "aé中", "가a"),
)


@cache
def _strings(symbols: str, longest: int, most: int) -> list[str]:
    """Return strings over symbols, the shortest first."""
    parts = tuple(dict.fromkeys(symbols))
    found = ["".join(each) for length in range(1, longest + 1) for each in product(parts, repeat=length)]
    return found[:most]


def _insert(draw: Draw, tokens: Sequence[str], others: Sequence[str]) -> list[str]:
    """Put tokens that are not there yet before, behind or among others."""
    new = [token for token in dict.fromkeys(tokens) if token not in others]
    at = pick(draw, (0, len(others), len(others) // 2))
    return [*others[:at], *new, *others[at:]]


def _with_odd(draw: Draw, tokens: list[str]) -> list[str]:
    """Put a few odd tokens into a vocabulary, seldom."""
    odd = [ODD_TOKENS[code] for code in codes(draw(_SOME_ODD) or "")]
    return _insert(draw, odd, tokens) if odd else tokens


_SOME_ODD = maybe(coded(len(ODD_TOKENS), 1, 3), 7)

#: What the unknown token may be; the first means that there is none.
_UNKNOWN = (None, None, "[UNK]", "<unk>", "?", "a", "")


# BPE

#: Symbols of the longest token that is joined of any two: what is wrong shows in short ones.
_LONGEST = 6


@st.composite
def _merges(draw: Draw, symbols: str) -> list[tuple[str, str]]:
    """Draw merges of any two strings or tokens, such as follow each other within a word, or that double a symbol."""
    parts = list(dict.fromkeys(symbols))
    found: list[tuple[str, str]] = []
    way = pick(draw, (*("any strings",) * 2, *("any tokens",) * 4, *("within a word",) * 4, "doubled"))
    if way == "doubled":
        return [(parts[0] * 2**power, parts[0] * 2**power) for power in range(draw(number(8)))]
    if way in ("any strings", "any tokens"):
        known = _strings(symbols, 3, 40) if way == "any strings" else parts
        for code in codes(draw(coded(4096, 0, 9))):
            pair = known[code // 64 % len(known)], known[code % 64 % len(known)]
            if way == "any strings" or len("".join(pair)) <= _LONGEST:
                found.append(pair)
                known = known if way == "any strings" else [*known, "".join(pair)]
        return found
    split = [parts[code % len(parts)] for code in codes(draw(coded(PLAIN, 2, 10)))]
    for code in codes(draw(coded(PLAIN, 0, 9))):
        if len(split) > 1:
            at = code % (len(split) - 1)
            pair = split[at], split[at + 1]
            split[at : at + 2] = ["".join(pair)]
            found += [pair] if pair not in found else []
    return found


#: How a list of merges, which is not empty, is changed.
_ORDERS: Mapping[str, Callable[[list[tuple[str, str]]], list[tuple[str, str]]]] = {
    "as drawn": lambda pairs: pairs,
    "reversed": lambda pairs: pairs[::-1],
    "by length": lambda pairs: sorted(pairs, key=lambda pair: -len("".join(pair))),
    "last first": lambda pairs: [pairs[-1], *pairs[:-1]],
    "first twice": lambda pairs: [*pairs, pairs[0]],
    "last twice": lambda pairs: [pairs[-1], *pairs],
}
_ORDER = (*("as drawn",) * 7, "reversed", "by length", "last first", "first twice", "last twice", "last twice")

_EVERY_BYTE = [from_bytes(bytes([byte])) for byte in range(256)]


def _bpe(draw: Draw, pre_tokenizer: str, all_bytes: bool = False) -> tuple[Model, str]:
    """Draw a model. All kinds draw the same, and the kind says what becomes of it: any can shrink to a plain one."""
    fitting = {"byte_level": "bytes", "metaspace": "marks"}.get(pre_tokenizer, "plain")
    kind = pick(draw, ("plain", "plain", *(fitting,) * 6, "by ranks", "by ranks", "broken"))
    kind = "bytes" if all_bytes else kind
    symbols = ("▁" if kind == "marks" else "") + pick(draw, _ALPHABETS)
    symbols += pick(draw, ("", "", "", " ", " \n", "  '", "é中"))
    written = "".join(dict.fromkeys(from_bytes(symbols.encode()) if kind == "bytes" else symbols))
    pairs = draw(_merges(written))
    order = pick(draw, _ORDER)
    extra = codes(draw(coded(PLAIN, 0, 3))) if chance(draw, 25) else []
    unknown = pick(draw, _UNKNOWN)
    every = draw(number(5)) if kind == "bytes" else 0
    every_byte = _EVERY_BYTE[:: -1 if every == 4 else 1] if all_bytes or every >= 4 else []
    tokens = list(dict.fromkeys([*every_byte, *written, *(token for a, b in pairs for token in (a, b, a + b))]))
    if kind == "marks":
        tokens = [token for token in tokens if "▁" not in token[1:]]
    if kind in ("by ranks", "marks") or every_byte:
        pairs = list(merges_of(tokens))
    else:
        short = _strings(written, 3, 120)
        tokens = _insert(draw, [short[code % len(short)] for code in extra], tokens) if extra else tokens
        pairs = _ORDERS[order](pairs) if pairs else pairs
        tokens = _with_odd(draw, tokens)
    model: Model = {"type": "bpe"}
    if unknown is not None and not every_byte:
        model["unknown_token"] = unknown
        tokens = _insert(draw, [unknown], tokens)
        if kind == "plain" and chance(draw, 10):  # the unknown token is merged like any other
            pairs = [(unknown, tokens[-1]), *pairs]
            tokens = list(dict.fromkeys([*tokens, "".join(pairs[0])]))
    if chance(draw, 10) and kind in ("plain", "broken"):  # where merges follow from the order, it stays
        tokens = tokens[::-1]
    model |= {"vocabulary": tokens, "merges": [list(pair) for pair in pairs]}
    return (_break(draw, model) if kind == "broken" else model), symbols


def _break(draw: Draw, model: Model) -> Model:
    """Let a model name a token that it does not have (BPE-MODEL-1, BPE-MODEL-2)."""
    if chance(draw, 40):
        return {**model, "unknown_token": "[gone]"}
    first = model["vocabulary"][0]
    left, right = pick(draw, ((first, "q"), ("q", first)))
    there = draw(number(7))
    added = [token for bit, token in enumerate((left, right, left + right)) if there >> bit & 1]
    tokens = _insert(draw, added, model["vocabulary"])
    return {**model, "vocabulary": tokens, "merges": [*model["merges"], [left, right]]}


def _bpe_of_bytes(draw: Draw, pre_tokenizer: str) -> tuple[Model, str]:
    """Draw what implementations of tiktoken's format take: every byte, and merges that follow from the ranks."""
    model, symbols = _bpe(draw, "byte_level", all_bytes=True)
    return {"pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}, **model}, symbols + " "


# WordPiece


def _wordpiece(draw: Draw, pre_tokenizer: str) -> tuple[Model, str]:
    symbols = pick(draw, _ALPHABETS)
    prefix = pick(draw, ("##", "##", "##", "##", "@", "#", "a", "@@@", ""))
    words, single = _strings(symbols, 4, 60), len(set(symbols))
    tokens = [
        (prefix if code & 1 else "") + words[min(code // 2 % 64, code // 128 % 64) % len(words)]
        for code in codes(draw(coded(4096, 1, 16)))
    ]
    if chance(draw, 50):
        tokens = [*words[:single], *(prefix + word for word in words[:single]), *tokens]
    if chance(draw, 12):  # a search for prefixes among clusters finds none before a mark
        tokens += [prefix, f"{prefix}\u0301{words[0]}"]
    model: Model = {"type": "wordpiece", "vocabulary": list(dict.fromkeys(tokens))}
    if prefix != "##" or chance(draw, 20):
        model["continuing_prefix"] = prefix
    model["vocabulary"] = _with_odd(draw, model["vocabulary"])
    unknown = pick(draw, ("[UNK]", "[UNK]", "[UNK]", "<unk>", "?", ""))
    if unknown != "[UNK]" or chance(draw, 30):
        model["unknown_token"] = unknown
    if not chance(draw, 10):
        model["vocabulary"] = _insert(draw, [unknown], model["vocabulary"])
    longest = pick(draw, (*(0,) * 12, 1, 2, 3, 4, 6, 101))
    return ({**model, "max_word_length": longest} if longest else model), symbols


# Unigram

#: Logarithms in halves, which tie; nearly equal ones, in single precision and not; and dear, vast and positive ones.
_LOGARITHMS = [*(-half / 2 for half in range(1, 17)), -1 - 2**-12, -2 + 2**-12, -4 + 2**-11, -1 - 2**-25, -2 + 2**-25]
_LOGARITHMS += [-2 - 2**-25, -4 - 2**-24, -11.0, -12.0, -14.5, -20.0, -10.0, -400.0, -800.0, 1.0, 2.5]
_FREQUENCIES = [1, 2, 3, 4, 1, 2, 5, 7, 12, 20, 1, 100, 1, 999, 2, 0, 0.5, 2.5, 2**24, 2**24 + 1, 2**31, 2**32 + 1]


def _unigram(draw: Draw, pre_tokenizer: str) -> tuple[Model, str]:
    fitting = "marks" if pre_tokenizer == "metaspace" else "plain"
    kind = pick(draw, ("plain", "plain", *(fitting,) * 8, "broken"))
    symbols = ("▁" if kind == "marks" else "") + pick(draw, _ALPHABETS)
    words = _strings(symbols, 4, 64)
    is_log, drawn = chance(draw, 55), codes(draw(coded(64 * 64, 1, 12)))
    weights: dict[str, float] = {}
    if chance(draw, 60):
        weights |= dict.fromkeys(words[: len(set(symbols))], -1.0 if is_log else 1)
    for code in drawn:
        token = words[code % 64 % len(words)]
        weights[token] = _weight(token, code // 64, is_log)
    if chance(draw, 6):
        long = "".join(words[code % len(words)] for code in codes(draw(coded(PLAIN, 9, 20))))
        weights[long] = -5.0 if is_log else 2
    rows: list[list[Any]] = [
        [token, weight] for token, weight in weights.items() if kind != "marks" or "▁" not in token[1:]
    ]
    rows = rows or [["▁", -1.0 if is_log else 1]]
    if is_log and (way := draw(number(15))):  # no clause says that a logarithm is below 0, or that its number is not 0
        # one above 0 is not multiplied: a product might be too large halfway, and not at its end
        rows = [[token, {1: weight + 30, 2: min(weight, weight * 100)}.get(way, weight)] for token, weight in rows]
    model: Model = {"type": "unigram", "tokens": rows, **({"weights": "log_probability"} if is_log else {})}
    for token in _with_odd(draw, []):
        rows += [] if token in weights else [[token, -3.0 if is_log else 1]]
    unknown = pick(draw, (None, "<unk>", "<unk>", "?", ""))
    if unknown is not None:
        model["unknown_token"] = unknown
        rows[:] = [row for row in rows if row[0] != unknown]
        rows.insert(0 if chance(draw, 50) else len(rows), [unknown, -1.0 if is_log else pick(draw, (1, 0))])
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


def _weight(token: str, place: int, is_log: bool) -> float:
    """Return one of 64 weights; of the logarithms a quarter are as much as the token's symbols together, or nearly."""
    if not is_log:
        return _FREQUENCIES[place % len(_FREQUENCIES)]
    if place < 16:
        return -float(len(token)) + (0.0, 2**-25, -(2**-25), 0.0)[place % 4]
    return _LOGARITHMS[place % len(_LOGARITHMS)]


# WordLevel


def _wordlevel(draw: Draw, pre_tokenizer: str) -> tuple[Model, str]:
    symbols = pick(draw, _ALPHABETS)
    words = _strings(symbols, 3, 40)
    tokens = list(dict.fromkeys(words[code % len(words)] for code in codes(draw(coded(PLAIN, 1, 8)))))
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

#: What one part of a model is replaced by, so that it contradicts itself.
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

#: Models each of which is to be refused.
BROKEN: Sequence[Model] = [model | flaw for model, flaw in _FLAWS]


def _broken(draw: Draw, pre_tokenizer: str) -> tuple[Model, str]:
    return dict(pick(draw, BROKEN)), "abc"


# All families


def _training(draw: Draw, pre_tokenizer: str) -> tuple[Model, str]:
    """Draw a model that is still to be trained."""
    model: Model = {"type": pick(draw, ("bpe", "wordpiece", "unigram"))}
    if model["type"] == "wordpiece" and (prefix := pick(draw, ("", "", "", "#", "@", "##a", "a", "@@@"))):
        model["continuing_prefix"] = prefix
    return model, pick(draw, _ALPHABETS)


def _stages_alone(draw: Draw, pre_tokenizer: str) -> tuple[Model, str]:
    return {}, "ab"


_Making: TypeAlias = Callable[[Draw, str], tuple[Model, str]]

#: Families of models, with how often each is drawn beside the others; the simplest comes first.
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
    """Draw a model of one of the families, with its stages and special tokens; one in ``usual + 1`` is a usual one."""
    return _generated(families, usual)


@st.composite
def _generated(draw: Draw, families: tuple[str, ...], usual: int) -> Generated:
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
        missing = [row for row in model.get("added_tokens", ()) if row["content"] not in tokens_of(model)]
        for id, row in enumerate(missing, len(tokens_of(model))):
            row["id"] = id
    return family, model, symbols


_EXTENSION = maybe(st.sampled_from(("parameters", "parameters", "ids")), 2)


def _with_ids(draw: Draw, model: Model) -> Model:
    """Return a model whose tokens have ids of their own, with holes and in another order."""
    if "vocabulary" not in model or "added_tokens" in model:
        return model
    size, numbering = len(model["vocabulary"]), pick(draw, tuple(_NUMBERINGS.values()))
    return {**model, "vocabulary": [[token, numbering(place, size)] for place, token in enumerate(model["vocabulary"])]}


#: Ids by place and size: with holes and backwards, beyond what bytes and small caches hold, and around 2^31 and 2^32.
_NUMBERINGS: Mapping[str, Callable[[int, int], int]] = {
    "backwards": lambda place, size: 2 * (size - place),
    "large": lambda place, size: 120 + 3 * place,
    "around 2^31": lambda place, size: 2**31 - size // 2 + place,
    "up to the last": lambda place, size: 2**32 - size + place,
    "the last first": lambda place, size: 2**32 - 1 - place,
}


def _extended_bpe(draw: Draw, model: Model) -> Model:
    """Return a model with parameters that add tokens: bytes to fall back to, a prefix, a suffix; or that need none."""
    tokens, merges = model["vocabulary"], model["merges"]
    key = pick(draw, ("ignore_merges", "fuse_unk", "byte_fallback", *("scores", "affixes", "piece_types") * 2))
    if key in ("ignore_merges", "fuse_unk"):
        return {**model, key: chance(draw, 75)}
    if key == "scores":  # some of them equal
        scores = [_SCORES[code] for code in codes(draw(coded(len(_SCORES), len(tokens), len(tokens))))]
        return {**model, "merges": [], "scores": scores, **_piece_types(draw, model)}
    if key == "piece_types":
        model = {**model, "vocabulary": _insert(draw, _fallback(draw), tokens)} if chance(draw, 50) else model
        return {**model, **_piece_types(draw, model)}
    if key == "byte_fallback":
        return {**model, key: True, "vocabulary": _insert(draw, _fallback(draw), tokens)}
    before, behind = pick(draw, (("##", ""), ("", "</w>"), ("##", "</w>"), ("##", "</w>"), ("", "a")))
    ways = [
        way for way in (("", "", behind), ("", before, ""), ("", before, behind), (before, before, behind)) if any(way)
    ]
    more = [[first + left, second + right + end] for left, right in merges for first, second, end in ways]
    products = [first + left + right + end for left, right in merges for first, second, end in ways]
    added = [token + behind for token in tokens if len(token) < 3]
    added += [before + token for token in (*tokens, *added) if len(token) < 9]
    listed = _insert(draw, [*added, *(token for pair in more for token in pair), *products], tokens)
    affixes = {key: affix for key, affix in (("continuing_prefix", before), ("end_of_word_suffix", behind)) if affix}
    return {**model, **affixes, "vocabulary": listed, "merges": [*([] if before else merges), *more]}


#: Scores: small ones that tie, and some that only double precision tells apart.
_SCORES = (*(-half / 2 for half in range(20)), -1 - 2**-25, -1 - 2**-26, 2**24 + 1, 2**24, 1.5, -1e300)


_BYTE, _KINDS = re.compile(r"<0x[0-9A-F]{2}>"), (*("",) * 9, "control", "user_defined", "unused")


def _piece_types(draw: Draw, model: Model) -> dict[str, Any]:
    """Draw the types of some tokens, among which the unknown token is not."""
    types: dict[str, list[str]] = {}
    for token in tokens_of(model):
        kind = "byte" if _BYTE.fullmatch(token) else pick(draw, _KINDS)
        if kind and token not in ("", model.get("unknown_token")):
            types.setdefault(kind, []).append(token)
    return {"piece_types": types} if types else {}


def _fallback(draw: Draw) -> list[str]:
    """Return the tokens of bytes: of a few characters, one of them perhaps without its last byte."""
    data = "éb中\n".encode()[: 8 - draw(number(4))]
    return [f"<0x{byte:02X}>" for byte in dict.fromkeys(data)]


def _extended_unigram(draw: Draw, model: Model) -> Model:
    listed, weight = tokens_of(model), model["tokens"][0][1]
    rows = [[token, weight] for token in _fallback(draw) if token not in listed]
    if chance(draw, 40) and len(set(listed)) == len(listed):
        model = {**model, "tokens": [*model["tokens"], *rows]} if chance(draw, 50) else model
        return {**model, **_piece_types(draw, model)}
    return {**model, "byte_fallback": True, "tokens": [*model["tokens"], *rows]}


_EXTENDED: Mapping[str, Callable[[Draw, Model], Model]] = {
    "bpe": _extended_bpe,
    "unigram": _extended_unigram,
    "wordpiece": _with_ids,
    "wordlevel": _with_ids,
}


@cache
def _model_of(families: tuple[str, ...], pre_tokenizer: str) -> st.SearchStrategy[Generated]:
    return _draw_model(families, pre_tokenizer)


@st.composite
def _draw_model(draw: Draw, families: tuple[str, ...], pre_tokenizer: str) -> Generated:
    family = pick(draw, [name for name in families for _ in range(FAMILIES[name][1])])
    return family, *FAMILIES[family][0](draw, pre_tokenizer)


_SOME_SPECIAL = {ascii_only: maybe(special_tokens(ascii_only), 2) for ascii_only in (True, False)}


def _with_special_tokens(draw: Draw, model: Model, special: list[str]) -> Model:
    """Return a model with special tokens, which are in its vocabulary as well, if it has one; or with added tokens."""
    if ("vocabulary" in model or "tokens" in model) and chance(draw, 40):
        return {**model, "added_tokens": draw(added_tokens(special))}
    if "tokens" in model:
        listed, weight = tokens_of(model), model["tokens"][0][1]
        rows = [[token, weight] for token in special if token not in listed]
        return {**model, "tokens": [*rows, *model["tokens"]], "special_tokens": special}
    if "vocabulary" in model:
        return {**model, "vocabulary": _insert(draw, special, model["vocabulary"]), "special_tokens": special}
    return {**model, "special_tokens": special}
