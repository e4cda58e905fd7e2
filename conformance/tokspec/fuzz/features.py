"""Features of a model and of a request that may decide whether an implementation refuses them as unsupported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from tokspec.compare.shrink import listed_tokens
from tokspec.formats.neutral import fill_defaults, ids_of, tokens_in_id_order
from tokspec.formats.tiktoken_ranks import from_bytes, merges_of, to_bytes
from tokspec.fuzz.components import STAGES
from tokspec.suite.components import members_of

_Model = Mapping[str, Any]

_BYTES = frozenset(from_bytes(bytes([byte])) for byte in range(256))
_FALLBACK = frozenset(f"<0x{byte:02X}>" for byte in range(256))

#: Parts of regular expressions that not every engine knows.
_CONSTRUCTS = re.compile(
    r"\\p\{\^|\\P|\\p\{..+?\}|\\[hHvRxuXKGAzZbB]|\(\?[^:)]|&&|\[\^?[^\]]*\[|[+*?}]\+|[+*?}]\?|\{\d|\\[.$]|\(a|[$^.|]"
)

#: Keys of models whose presence is a feature, and keys whose value is one too.
_KEYS = ("special_tokens", "added_tokens", "piece_types", "scores")
_VALUES = (
    *("unknown_token", "continuing_prefix", "end_of_word_suffix", "byte_fallback", "fuse_unk", "ignore_merges"),
    *("dropout", "weights", "max_word_length"),
)

#: Keys of components whose values are no features, and keys of inputs whose content decides the features.
_OF_ANY_VALUE = ("type", "charsmap", "single", "pair", "special_tokens", "cls", "sep")
_OPEN = ("text", "pair", "word", "tokens", "ids", "inputs", "corpus", "vocabulary_size")

#: The stage whose result an operation shows.
OF_STAGES = {"normalize": "normalizer", "pre_tokenize": "pre_tokenizer", "decode": "decoder"}


def model_features(model: _Model) -> frozenset[str]:
    """Return the features of a model.

    >>> sorted(model_features({"decoder": {"type": "wordpiece"}}))[:3]
    ['decoder wordpiece', 'decoder wordpiece prefix "##"', 'model none']
    """
    return frozenset((*_of_parts(fill_defaults({**model, "merges": []})), *_of_tokens(model)))


def _of_parts(model: _Model) -> Iterator[str]:
    yield f"model {model.get('type', 'none')}"
    for stage in STAGES:
        yield from part_features(stage, model[stage]) if stage in model else (f"no {stage}",)
    kinds = [f"{stage} {model.get(stage, {}).get('type', 'none')}" for stage in OF_STAGES.values()]
    yield from (f"{one} with {other}" for one, other in combinations(kinds, 2))
    for key in (*_KEYS, *_VALUES):
        yield key if key in model else f"no {key}"
    yield from (f"{key} {_short(model[key])}" for key in _VALUES if key in model)
    for row in model.get("added_tokens", ()):
        yield from (f"added_tokens {key} {row[key]}" for key in row if isinstance(row[key], bool))
    yield from (f"piece type {kind}" for kind in model.get("piece_types", ()))


def part_features(stage: str, part: _Model, within: str = "") -> Iterator[str]:
    """Return the features of a stage; those of the members of a sequence contain the name of the sequence."""
    name = f"{stage}{within} {part['type']}" if "type" in part else stage
    yield name
    for member in part.get(members_of(stage), ()):
        yield from part_features(stage, member, " within")
    for key, value in part.items():
        if key == "pattern":
            ((kind, written),) = value.items()
            yield f"{name} {kind}"
            yield from (f"regex {each}" for each in _CONSTRUCTS.findall(written) if kind == "regex")
        elif key not in (*_OF_ANY_VALUE, members_of(stage)):
            yield f"{name} {key} {_short(value)}"
    if "charsmap" in part:
        yield f"{name} {'with' if part['charsmap'] else 'without'} a map"


def _short(value: Any) -> str:
    """Write a value if it is one of few; for a number, whether it is small."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, float)):
        return "0" if value == 0 else "negative" if value < 0 else "large" if value >= 2**31 else "positive"
    return f'"{value}"' if isinstance(value, str) and len(value) <= 8 else "long" if isinstance(value, str) else "other"


def _of_tokens(model: _Model) -> Iterator[str]:
    tokens = listed_tokens(model)
    if not tokens:
        yield "no tokens"
        return
    entries = model.get("vocabulary", ())
    if any(not isinstance(entry, str) for entry in entries):
        yield "ids of 32 bits" if any(entry[1] >= 2**31 for entry in entries) else "ids"
    known, special = set(tokens), {*model.get("special_tokens", ())}
    special |= {row["content"] for row in model.get("added_tokens", ())}
    ordinary = known - special
    yield "every byte" if known >= _BYTES else "not every byte"
    yield "every fallback" if known >= _FALLBACK else "not every fallback"
    yield "tokens of characters" if any(to_bytes(token) is None for token in ordinary) else "tokens of bytes"
    yield "only characters" if all(len(token) == 1 for token in ordinary) else "longer tokens"
    yield from (f"{name} token" for name, pattern in _ODD.items() if any(map(pattern.search, tokens)))
    if model.get("unknown_token") is not None:
        yield "unknown first" if tokens[0] == model["unknown_token"] else "unknown not first"
        yield "unknown in vocabulary" if model["unknown_token"] in known else "unknown not in vocabulary"
    if special - known:
        yield "special not in vocabulary"
    if len(known) != len(tokens):
        yield "token twice"
    if model.get("type") == "bpe":
        merges = [tuple(pair) for pair in model.get("merges", ())]
        yield "merges" if merges else "no merges"
        ranked = merges_of([token for token in tokens_in_id_order(model) if token not in special])
        yield "merges by rank" if merges == list(ranked) else "merges not by rank"
        if any("".join(pair) not in known or not known.issuperset(pair) for pair in merges):
            yield "merge outside vocabulary"


_ODD = {
    "empty": re.compile(r"\A\Z"),
    "white space": re.compile(r"\s"),
    "surrogate": re.compile("[\ud800-\udfff]"),
    "end of word": re.compile("</w>"),
    "crossing mark": re.compile("(?s).▁"),
}

#: The length of a long text, and how many bits of an id every program can hold.
_LONG, _BITS = 500, 31


def request_features(model: _Model, operation: str, input: Mapping[str, Any]) -> frozenset[str]:
    """Return the features that a request has in addition to its model's.

    >>> sorted(request_features({"decoder": {"type": "fuse"}}, "decode", {"ids": [2**32]}))
    ['decode ids', 'ids of 33 bits', 'operation decode of none']
    """
    return frozenset(_of_request(model, operation, input))


def _of_request(model: _Model, operation: str, input: Mapping[str, Any]) -> Iterator[str]:
    kind = model.get("type", "none")
    operation += "" if OF_STAGES.get(operation, operation) in (operation, *model) else " without its stage"
    yield f"operation {operation} of {kind}"
    for key, value in input.items():
        yield f"{operation} {key}"
        if key not in _OPEN:
            yield f"{operation} {key} {_short(value)}"
    for each in input.get("inputs", ()):
        yield from (f"{operation} {key} among inputs" for key in each if key != "text")
    corpus = input.get("corpus", {})
    texts = [value for each in (input, *input.get("inputs", ())) for value in each.values() if isinstance(value, str)]
    texts += [*input.get("tokens", ()), *corpus.get("texts", ()), *(word for word, _ in corpus.get("words", ()))]
    if any(map(_ODD["surrogate"].search, texts)):
        yield "surrogate in a text"
    if any(len(text) > _LONG for text in texts):
        yield "long text"
    if "corpus" in input:
        yield from _of_corpus(corpus)
    if "ids" in input or "tokens" in input:
        yield from _of_decoded(model, input)
    if "word" in input and not set(listed_tokens(model)).issuperset(input["word"]):
        yield "unknown symbol"


def _of_corpus(corpus: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"corpus of {key}" for key in corpus)
    counts = [count for _, count in corpus.get("words", ())]
    if 0 in counts:
        yield "count 0"
    if sum(counts) > 10**6:
        yield "large counts"
    if not (counts or corpus.get("texts")):
        yield "empty corpus"


def _of_decoded(model: _Model, input: Mapping[str, Any]) -> Iterator[str]:
    names = {id: token for token, id in ids_of(model).items()}
    names |= {row["id"]: row["content"] for row in model.get("added_tokens", ()) if "id" in row}
    ids = input.get("ids", ())
    bits = max((id.bit_length() for id in ids), default=0)
    if bits > _BITS:
        yield f"ids of {bits} bits"
    elif any(id not in names for id in ids):
        yield "unknown id"
    tokens = [*input.get("tokens", ()), *(names[id] for id in ids if id in names)]
    if not set(names.values()).issuperset(tokens):
        yield "token outside vocabulary"
    found = [to_bytes(token) for token in tokens]
    if None in found:
        yield "token of no bytes"
    elif b"".join(each or b"" for each in found).decode("utf-8", "replace").count("\ufffd"):
        yield "not UTF-8"
