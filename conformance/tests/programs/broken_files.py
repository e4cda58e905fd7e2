"""Small files of every format, broken at random, by bytes and by values; each is read, and refused or not in one line.

    python conformance/tests/programs/broken_files.py 100000

prints each exception that is no refusal, with the smallest file that raises it.
"""

from __future__ import annotations

import base64
import json
import random
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec import formats
from tokspec.base.errors import DataError, Unsupported
from tokspec.compare.models import summarize
from tokspec.formats.on_disk import content_of, save
from tokspec.formats.user_model import read_user_model

_STAGES: Mapping[str, Any] = {
    "normalizer": {"type": "sequence", "normalizers": [{"type": "nfc"}, {"type": "bert"}]},
    "pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "whitespace_split"}, {"type": "metaspace"}]},
    "decoder": {"type": "metaspace"},
}
_BPE: Mapping[str, Any] = {
    "type": "bpe",
    "vocabulary": ["<unk>", "a", "b", "▁", "ab", "▁ab"],
    "merges": [["a", "b"], ["▁", "ab"]],
    "unknown_token": "<unk>",
}
_BYTES: Mapping[str, Any] = {
    "type": "bpe",
    "vocabulary": ["a", "b", "Ġ", "ab", "Ġab", "<s>"],
    "merges": [["a", "b"], ["Ġ", "ab"]],
    "special_tokens": ["<s>"],
    "pre_tokenizer": {"type": "byte_level"},
    "decoder": {"type": "byte_level"},
}
_WORDPIECE: Mapping[str, Any] = {
    "type": "wordpiece",
    "vocabulary": ["[UNK]", "a", "##b"],
    "special_tokens": ["[UNK]"],
    "normalizer": {"type": "bert"},
    "pre_tokenizer": {"type": "bert"},
    "decoder": {"type": "wordpiece"},
}
_UNIGRAM: Mapping[str, Any] = {
    "type": "unigram",
    "tokens": [["<unk>", -5.5], ["a", -1.5], ["▁a", -2.5], ["<s>", 0.0]],
    "weights": "log_probability",
    "unknown_token": "<unk>",
    "special_tokens": ["<s>"],
    "pre_tokenizer": {"type": "metaspace", "prepend_scheme": "always", "split": False},
    "decoder": {"type": "metaspace"},
}

_TEKKEN: Mapping[str, Any] = {
    "config": {
        "pattern": " ?[a-z]+|\\s+",
        "num_vocab_tokens": 3,
        "default_vocab_size": 5,
        "default_num_special_tokens": 2,
        "version": "v11",
    },
    "vocab": [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": token.decode()}
        for rank, token in enumerate((b"a", b"b", b"ab"))
    ],
    "special_tokens": [{"rank": 0, "token_str": "<unk>", "is_control": True}],
}

#: What stands beside a file of ranks, and is broken as well.
_BESIDE = json.dumps({"pattern": " ?[a-z]+|\\s+", "special_tokens": {"<s>": 5}})

#: What is broken: a format and a model that it can express; the suite does not write ``tekken.json``: the file itself.
SOURCES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *((format, {**_BPE, **_STAGES}) for format in ("tokspec", "tokenizer.json", "tokenizer.json-legacy")),
    *((format, model) for format in ("tokspec", "tokenizer.json") for model in (_BYTES, _WORDPIECE, _UNIGRAM)),
    ("vocab.json+merges.txt", _BYTES),
    ("vocab.txt", _WORDPIECE),
    ("vocab.tiktoken", _BYTES),
    ("tekken.json", _TEKKEN),
)
if find_spec("sentencepiece"):  # which writes and reads the file
    without_special = {key: value for key, value in _UNIGRAM.items() if key != "special_tokens"}
    SOURCES += (("sentencepiece.model", without_special),)

_VALUES = (
    *(None, True, False, 0, -1, 1, 2**31, 2**64, 10**400, 0.5, -0.0, 1e400, float("nan"), -float("inf")),
    *(
        "",
        "a",
        "\ud800",
        "\x00",
        "BPE",
        "Unigram",
        "Regex",
        [],
        {},
        [[]],
        [None],
        {"": None},
        {"type": "x"},
        [["a", "b"]],
    ),
    *([["a", 1, 2]], [5], {"a": "b"}, {"a": -1}, {"a": 1.5}, {"String": 5}, [[[[]]]]),
)
_BYTE_STRINGS = (
    b"\x00",
    b"\xff",
    b"\n",
    b"\r",
    b" ",
    b'"',
    b"{",
    b"]",
    b",",
    b":",
    b"-",
    b"1" * 5000,
    b"NaN",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from _places(member, (*path, key))


def _break_value(chance: random.Random, value: Any) -> Any:
    """Exchange, remove, add or double one member of a JSON value."""
    places = list(_places(value))
    path = chance.choice(places)
    other = deepcopy(chance.choice(_VALUES) if chance.random() < 0.7 else _at(value, chance.choice(places)))
    if not path:
        return other
    holder, key = _at(value, path[:-1]), path[-1]
    match chance.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, other)
        case 1 | 2 if isinstance(holder, dict):
            holder[chance.choice(("type", "vocab", "content", "id", "x", str(chance.choice(_VALUES))))] = other
        case _:
            holder[key] = other
    return value


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _break_bytes(chance: random.Random, data: bytes) -> bytes:
    """Exchange, remove, insert, double or cut off a stretch of bytes."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((1, 1, 1, 2, 8, 100)))
    between = chance.choice(
        (b"", chance.choice(_BYTE_STRINGS), bytes([chance.randrange(256)]), data[start:end] * 2, data[start:end][::-1])
    )
    return data[:start] + between if chance.random() < 0.05 else data[:start] + between + data[end:]


def broken(chance: random.Random, data: bytes) -> bytes:
    """Return a file that is broken in up to four places."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        try:
            value = json.loads(data)
        except ValueError:
            value = None
        if isinstance(value, (dict, list)) and value and chance.random() < 0.8:
            data = json.dumps(_break_value(chance, value)).encode("utf-8", "surrogatepass")
        else:
            data = _break_bytes(chance, data)
    return data


def check(path: Path, format: str) -> BaseException | None:
    """Read a model, look into it and write it in every format; return what is raised that is no refusal."""

    def use() -> None:
        model = read_user_model(path, format)
        json.dumps(summarize(model))
        for other in formats.FORMATS:
            with suppress(Unsupported):
                model.write(other)

    for step in (use, lambda: formats.read(format, content_of(format, path))):
        try:
            step()
        except DataError as error:
            if "\n" in str(error):
                return error
        except BaseException as error:
            return error
    return None


def main(count: int, seed: int = 0) -> dict[str, tuple[str, bytes, BaseException]]:
    """Break and read so many files; return for each kind of exception the smallest file."""
    chance, found = random.Random(seed), {}
    with TemporaryDirectory() as place:
        folder = Path(place)
        for number in range(count):
            format, model = SOURCES[number % len(SOURCES)]
            original = folder / f"{number % len(SOURCES)}"
            if not original.exists():
                save(format, model if format == "tekken.json" else formats.write(format, model), original)
                if format == "vocab.tiktoken":
                    original.with_name(f"{original.name}.beside.json").write_text(_BESIDE)
            beside = sorted(folder.glob(f"{original.name}.*"))
            files = sorted(original.iterdir()) if original.is_dir() else [original, *beside]
            chosen = chance.choice(files)
            kept = chosen.read_bytes()
            data = broken(chance, kept)
            try:
                chosen.write_bytes(data)
                error = check(original, format)
            finally:
                chosen.write_bytes(kept)
            if error is not None:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                ours = [each for each in traceback.extract_tb(error.__traceback__) if "tokspec" in each.filename][-1]
                kind = f"{type(error).__name__} in {Path(ours.filename).name}:{ours.lineno} ({frame.name})"
                if kind not in found or len(data) < len(found[kind][1]):
                    found[kind] = format, data, error
    return found


if __name__ == "__main__":
    exceptions = main(int(sys.argv[1]), *map(int, sys.argv[2:3]))
    for kind, (format, data, error) in exceptions.items():
        print(
            f"{format}: {kind}: {error}\n  {base64.b64encode(data).decode() if format.endswith('.model') else data!r}"
        )
    print(f"{sys.argv[1]} files, {len(exceptions)} kinds of exceptions that are no refusal")
    sys.exit(bool(exceptions))
