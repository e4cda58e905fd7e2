"""The traits of a model and of a request by which an implementation may answer or refuse them as unsupported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokspec.compare.shrink import listed_tokens
from tokspec.formats.files import without
from tokspec.formats.neutral import fill_defaults
from tokspec.formats.tiktoken_ranks import from_bytes, merges_of, to_bytes
from tokspec.fuzz.components import STAGES

_BYTES = frozenset(from_bytes(bytes([byte])) for byte in range(256))
_FALLBACK = frozenset(f"<0x{byte:02X}>" for byte in range(256))

#: What regular expressions are made of that not every engine knows.
_CONSTRUCTS = re.compile(
    r"\\p\{\^|\\P|\\p\{..+?\}|\\[hHvRxuXKGAzZbB]|\(\?[^:)]|&&|\[\^?[^\]]*\[|[+*?}]\+|[+*?}]\?|\{\d|\\[.$]|\(a|[$^.|]"
)

#: Keys of models that are told apart by whether they are there; of the second also by their value.
_KEYS = ("special_tokens", "added_tokens", "piece_types", "scores")
_VALUES = (
    *("unknown_token", "continuing_prefix", "end_of_word_suffix", "byte_fallback", "fuse_unk", "ignore_merges"),
    "dropout",
    *("weights", "max_word_length"),
)


class Traits:
    """The traits of a model, and those of a request of it.

    >>> sorted(Traits({"decoder": {"type": "wordpiece"}}).model)[:3]
    ['decoder wordpiece', 'decoder wordpiece prefix "##"', 'model none']
    >>> sorted(Traits({}).of_request("decode", {"ids": [2**32]}))
    ['decode ids', 'decode ids of 33 bits', 'operation decode']
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.model = frozenset((*_of_parts(fill_defaults(without(model, *_LONG_KEYS))), *_of_vocabulary(model)))
        entries: Sequence[Any] = model.get("vocabulary") or listed_tokens(model)
        listed = ((place, each) if isinstance(each, str) else (each[1], each[0]) for place, each in enumerate(entries))
        self._names = dict(listed)
        self._names |= {row["id"]: row["content"] for row in model.get("added_tokens", ()) if "id" in row}
        self._tokens = set(self._names.values())

    def of_request(self, operation: str, input: Mapping[str, Any]) -> frozenset[str]:
        """Return the traits that a request has beside its model's."""
        return frozenset((operation_trait(operation), *self._of_input(operation, input)))

    def _of_input(self, operation: str, input: Mapping[str, Any]) -> Iterator[str]:
        for key, value in input.items():
            yield f"{operation} {key}"
            if key not in _OPEN:
                yield f"{operation} {key} {_short(value)}"
        texts = [value for key in ("text", "pair", "word") if isinstance(value := input.get(key), str)]
        for each in input.get("inputs", ()):
            yield from (f"{operation} {key} among inputs" for key in each if key != "text")
            texts += [value for value in each.values() if isinstance(value, str)]
        texts += [*input.get("tokens", ()), *input.get("corpus", {}).get("texts", ())]
        texts += [word for word, _ in input.get("corpus", {}).get("words", ())]
        if any(map(_SURROGATE.search, texts)):
            yield "surrogate in a text"
        if any(len(text) > _LONG for text in texts):
            yield f"{operation} long text"
        if "corpus" in input:
            yield from _of_corpus(operation, input["corpus"])
        if "ids" in input or "tokens" in input:
            yield from self._of_decoded(operation, input)
        if "word" in input and not self._tokens.issuperset(input["word"]):
            yield f"{operation} unknown symbol"

    def _of_decoded(self, operation: str, input: Mapping[str, Any]) -> Iterator[str]:
        ids = input.get("ids", ())
        bits = max((id.bit_length() for id in ids), default=0)
        if bits > _BITS:
            yield f"{operation} ids of {bits} bits"
        elif any(id not in self._names for id in ids):
            yield f"{operation} unknown id"
        tokens = [*input.get("tokens", ()), *(self._names[id] for id in ids if id in self._names)]
        if not self._tokens.issuperset(tokens):
            yield f"{operation} token outside vocabulary"
        found = [to_bytes(token) for token in tokens]
        if None in found:
            yield f"{operation} token of no bytes"
        elif not _is_utf8(b"".join(each or b"" for each in found)):
            yield f"{operation} not UTF-8"


_SURROGATE = re.compile("[\ud800-\udfff]")

#: Keys of inputs whose values are told apart by what is in them.
_OPEN = ("text", "pair", "word", "tokens", "ids", "inputs", "corpus", "vocabulary_size")

#: The length of a long text, and the bits of an id that every program holds.
_LONG, _BITS = 500, 31


def _of_parts(model: Mapping[str, Any]) -> Iterator[str]:
    yield f"model {model.get('type', 'none')}"
    for stage in STAGES:
        yield from _of_part(stage, model[stage]) if stage in model else (f"no {stage}",)
    for key in (*_KEYS, *_VALUES):
        yield key if key in model else f"no {key}"
    yield from (f"{key} {_short(model[key])}" for key in _VALUES if key in model)
    for row in model.get("added_tokens", ()):
        yield from (f"added_tokens {key} {row[key]}" for key in row if isinstance(row[key], bool))
    yield from (f"piece type {kind}" for kind in model.get("piece_types", ()))


def _of_vocabulary(model: Mapping[str, Any]) -> Sequence[str]:
    """Return what the tokens say, which is remembered: models that differ in a stage share theirs."""
    values = [model.get(key) for key in (*_LONG_KEYS, "type", "special_tokens", "added_tokens", "unknown_token")]
    key = tuple(map(id, values))
    if key not in _remembered:
        if len(_remembered) > _REMEMBERED:
            _remembered.clear()
        _remembered[key] = values, list(_of_tokens(model))
    return _remembered[key][1]


#: By the identities of values the values, which keep those, and what they say.
_remembered: dict[tuple[int, ...], tuple[list[Any], list[str]]] = {}
_REMEMBERED = 200

_LONG_KEYS = ("vocabulary", "merges", "tokens")


def _short(value: Any) -> str:
    """Write a value, if it is one of few; of numbers whether they are small."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, float)):
        return "0" if value == 0 else "negative" if value < 0 else "large" if value >= 2**31 else "positive"
    return f'"{value}"' if isinstance(value, str) and len(value) <= 8 else "long" if isinstance(value, str) else "other"


def _of_part(stage: str, part: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Return the traits of a stage; those of the members of a sequence say that they are within one."""
    name = f"{stage}{within} {part['type']}" if "type" in part else stage
    yield name
    members = part.get(f"{stage}s")
    if isinstance(members, list):
        yield f"{name} of {' '.join(member.get('type', '') for member in members) or 'nothing'}"
        for member in members:
            yield from _of_part(stage, member, " within")
    for key, value in part.items():
        if key == "pattern":
            kind, written = next(iter(value.items()))
            yield f"{name} {kind}"
            if kind == "regex":
                yield from (f"regex {each}" for each in _CONSTRUCTS.findall(written))
        elif key not in ("type", f"{stage}s", "charsmap", "single", "pair", "special_tokens", "cls", "sep"):
            yield f"{name} {key} {_short(value)}"
    if "charsmap" in part:
        yield f"{name} {'with' if part['charsmap'] else 'without'} a map"
    if "invert" in part:
        yield f"{name} {part['behavior']} invert {part['invert']}"


def _of_tokens(model: Mapping[str, Any]) -> Iterator[str]:
    tokens = listed_tokens(model)
    if not tokens:
        yield "no tokens"
        return
    entries = model.get("vocabulary", ())
    if any(not isinstance(entry, str) for entry in entries):
        yield "ids of 32 bits" if any(entry[1] >= 2**31 for entry in entries) else "ids"
    known, special = set(tokens), {*model.get("special_tokens", ())}
    special |= {row["content"] for row in model.get("added_tokens", ())}
    ordinary = [token for token in tokens if token not in special]
    yield "every byte" if known >= _BYTES else "not every byte"
    yield "every fallback" if known >= _FALLBACK else "not every fallback"
    is_bytes = all(to_bytes(token) is not None for token in ordinary)
    yield "tokens of bytes" if is_bytes else "tokens of characters"
    yield "only characters" if all(len(token) == 1 for token in ordinary) else "longer tokens"
    yield from (f"{name} token" for name, holds in _ODD.items() if any(map(holds, tokens)))
    if model.get("unknown_token") is not None:
        yield "unknown first" if tokens[0] == model["unknown_token"] else "unknown not first"
        yield "unknown in vocabulary" if model["unknown_token"] in known else "unknown not in vocabulary"
    if special - known:
        yield "special not in vocabulary"
    if model.get("type") == "bpe":
        merges = [tuple(pair) for pair in model.get("merges", ())]
        yield "merges" if merges else "no merges"
        yield "merges by rank" if merges == list(merges_of(ordinary)) else "merges not by rank"
        if any("".join(pair) not in known or not known.issuperset(pair) for pair in merges):
            yield "merge outside vocabulary"
    if len(known) != len(tokens):
        yield "token twice"


_ODD = {
    "empty": lambda token: token == "",
    "white space": lambda token: bool(re.search(r"\s", token)),
    "surrogate": lambda token: any(0xD800 <= ord(character) < 0xE000 for character in token),
    "end of word": lambda token: "</w>" in token,
    "crossing mark": lambda token: "▁" in token[1:],
}


def operation_trait(operation: str) -> str:
    """Return the trait of an operation."""
    return f"operation {operation}"


def _of_corpus(operation: str, corpus: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{operation} {key}" for key in corpus)
    counts = [count for _, count in corpus.get("words", ())]
    if 0 in counts:
        yield f"{operation} count 0"
    if sum(counts) > 10**6:
        yield f"{operation} large counts"
    if not (counts or corpus.get("texts")):
        yield f"{operation} empty corpus"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
