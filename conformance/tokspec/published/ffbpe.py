"""The adapter for ``ffbpe``, written for version 0.1.10.

A byte-level model is one of bytes to the library, and one without a pre-tokenizer one of characters. It answers ids; a
token is the entry of the vocabulary that an id names. Its trainer begins with all 256 bytes, whatever the corpus has,
and refuses a smaller target.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.formats.tiktoken_ranks import from_bytes, to_bytes

_Value = TypeVar("_Value")

#: The options that the library takes, measured with version 0.1.10.
CHOICES = {
    "bpe_training_tie": "smallest_ids",
    "bpe_merge_order": "lowest_rank",
    "bpe_merge_places": "all",
    "bpe_pairs": "listed",
    "join_without_decoder": "nothing",
    "unknown_id": "error",
}

#: What the library's exceptions, which are all of one type, say when they are refusals.
_REASONS = {
    "Out of vocabulary: ": "invalid_model",
    "Out of vocabulary bytes": "unknown_symbol",
    "Out of vocabulary idx": "unknown_id",
    "No more step could be performed": "invalid_input",
    "is smaller than the current vocabulary size": "invalid_input",
}

#: The pattern of a text that is not cut.
_WHOLE = r"(?s:.+)"


class FfbpeAdapter:
    """``ffbpe``: BPE of bytes or characters, and its training, in Rust."""

    def __init__(self) -> None:
        self._library: Any = import_module("ffbpe")

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="ffbpe",
            version=version("ffbpe"),
            language="Python, Rust",
            operations=("encode", "decode", "train", "training_trace", "best_pair"),
            formats=("vocab.json+merges.txt", "tokspec"),
            choices=CHOICES,
            encode_fields=("tokens", "ids"),
        )

    def load(self, format: str, content: Any) -> Any:
        """Make an encoder of a vocabulary and merges; a model to be trained is kept unchanged.

        Raises:
            Refusal: ``unsupported``, for a stage that the library lacks.
        """
        model = content if format == "tokspec" else content["beside"]
        unit, pattern = _unit(model)
        if format == "tokspec":
            return model
        ids = json.loads(content["files"]["vocab.json"])
        merges = [line.split(" ") for line in content["files"]["merges.txt"].splitlines()[1:]]
        special = model.get("special_tokens", [])
        make = partial(
            self._library.BpeEncoder,
            unit,
            merges=[(_bytes(left, unit), _bytes(right, unit)) for left, right in merges],
            vocab={token.encode() if token in special else _bytes(token, unit): id for token, id in ids.items()},
            special_tokens=special,
            pat_str=pattern,
        )
        decoder = {"byte": {"type": "byte_level"}, "unicode": None}[unit]
        return _translated(make), ids, model.get("decoder") == decoder

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, ``unknown_id``, ``invalid_input``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        is_encoder = operation in ("encode", "decode")
        if is_encoder != isinstance(model, tuple):
            raise Unsupported("encodes and decodes by a vocabulary, and trains without one")
        run = partial(_RUN[operation], *model) if is_encoder else partial(self._trained, operation, model)
        return _translated(lambda: run(input))

    def _trained(self, operation: str, model: Mapping[str, Any], input: Mapping[str, Any]) -> dict[str, Any]:
        trainer = self._trainer(model, input)
        if operation == "best_pair":
            merges = _first_merges(trainer, input.get("steps", 0) + 1)
            return _last(merges[input.get("steps", 0) :])
        if not {"merge_count", "vocabulary_size"} & input.keys():
            raise Unsupported("needs a number of merges, or a size")
        merges = _first_merges(trainer, input.get("merge_count"), input.get("vocabulary_size"))
        if operation == "training_trace":
            return {"steps": merges}
        read = from_bytes if trainer.unit == "byte" else partial(bytes.decode, errors="backslashreplace")
        return {"vocabulary": [read(token) for token in trainer.vocab], "merges": [merge[:2] for merge in merges]}

    def _trainer(self, model: Mapping[str, Any], input: Mapping[str, Any]) -> Any:
        unit, pattern = _unit(model)
        special, corpus = model.get("special_tokens", []), input["corpus"]
        if input.get("min_frequency", 1) < 1:
            raise Unsupported("has a least frequency of 1 or more")
        trainer = self._library.BpeTrainer(
            special,
            unit=unit,
            initial_alphabet="byte_level" if unit == "byte" else None,
            bigram_cutoff_freq=input.get("min_frequency"),
        )
        if "words" in corpus:
            trainer.add_words([(word, count) for word, count in corpus["words"]])
        else:
            counter = self._library.PreTokenizer(special, pat_str=pattern).word_counter()
            counter.add_batch(corpus["texts"])
            trainer.add_word_counter(counter)
        trainer.init_training()
        return trainer


def _translated(call: Callable[[], _Value]) -> _Value:
    """Call the library, and turn the exceptions that are refusals into refusals; others are crashes."""
    try:
        return call()
    except (RuntimeError, ValueError) as error:
        for part, reason in _REASONS.items():
            if part in str(error):
                raise Refusal(reason, str(error)) from error
        raise


def _unit(model: Mapping[str, Any]) -> tuple[str, str | None]:
    """Say the stages of a model as the library's unit and pattern; no pattern is that of GPT-2."""
    for part in ("normalizer", "unknown_token"):
        if part in model:
            raise Unsupported(f"has no {part.replace('_', ' ')}")
    if model.get("type") != "bpe":
        raise Unsupported("knows BPE models")
    match model.get("pre_tokenizer"):
        case None:
            return "unicode", _WHOLE
        case {"type": "whitespace_split"}:
            return "unicode", r"\S+"
        case {"type": "byte_level", "add_prefix_space": False, "use_regex": use_regex}:
            return "byte", None if use_regex else _WHOLE
    raise Unsupported("cuts a text by a pattern, and has no such pre-tokenizer")


def _bytes(token: str, unit: str) -> bytes:
    known = to_bytes(token) if unit == "byte" else token.encode()
    if known is None:
        raise Unsupported(f"has tokens of bytes, and {token!r} represents no bytes")
    return known


def _first_merges(trainer: Any, count: int | None, largest: int | None = None) -> list[list[Any]]:
    """Train until there are ``count`` merges, the vocabulary has ``largest`` tokens, or nothing is left to merge.

    The library's target is a size, and a character that is not ASCII becomes a token when it is first merged.
    """
    merges: list[list[Any]] = []
    size = -1
    while size < trainer.vocab_size and len(merges) != count:
        size = trainer.vocab_size
        targets = ([] if count is None else [size + count - len(merges)]) + ([] if largest is None else [largest])
        trainer.train(min(targets))
        merges = _merges(trainer)
    return merges


def _merges(trainer: Any) -> list[list[Any]]:
    """Read the merges off the file that the library saves; it tells them nowhere else.

    In a file of characters white space, braces and control characters are escaped.
    """
    read = _unescaped if trainer.unit == "unicode" else str
    with TemporaryDirectory() as folder:
        files = Path(folder) / "vocab.json", Path(folder) / "merges.txt"
        trainer.save_files(*files)
        lines = files[1].read_bytes().decode().split("\n")[:-1]  # a token may be a carriage return
    entries = (line.rsplit(" => ", 1) for line in lines)  # a token may be => too
    return [[*map(read, pair.split(" ")), int(count)] for pair, count in entries]


def _unescaped(token: str) -> str:
    r"""Return a token of characters that the library has written.

    >>> _unescaped("a␣{u000a}{u007b}{u2423}")
    'a \n{␣'
    """
    return re.sub(r"\{u([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), token.replace("␣", " "))


def _last(merges: list[list[Any]]) -> dict[str, Any]:
    if not merges:
        raise Refusal("invalid_input", "there is no merge that was done last")
    left, right, count = merges[-1]
    return {"pair": [left, right], "count": count}


def _encode(encoder: Any, ids: Mapping[str, int], decodes: bool, input: Mapping[str, Any]) -> dict[str, Any]:
    names = {id: token for token, id in ids.items()}
    found = encoder.encode(input["text"])
    return {"tokens": [names[id] for id in found], "ids": found}


def _decode(encoder: Any, ids: Mapping[str, int], decodes: bool, input: Mapping[str, Any]) -> dict[str, Any]:
    if not decodes:
        raise Unsupported("joins the bytes of tokens, and has no other decoder")
    known = input["ids"] if "ids" in input else [ids.get(token) for token in input["tokens"]]
    if None in known:
        raise Unsupported("decodes ids, and a token that is not in the vocabulary has none")
    if any(id >= 2**32 for id in input.get("ids", ())):
        raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
    return {"text": encoder.decode(known)}


_RUN = {"encode": _encode, "decode": _decode}
