"""The adapter for Hugging Face ``tokenizers``.

The library does the work, and the adapter computes nothing itself; where the library differs from the specification,
that is a known failure. The library's token for unknown text is that text, and the adapter reports it so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import tokenizers
from tokenizers import Encoding, Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.published.sharing import ALL_COMPONENTS, TOKENIZERS_CHOICES

Result: TypeAlias = Mapping[str, Any]
_Value = TypeVar("_Value")

#: Trainers that follow another algorithm (WP-TRAIN-3, UNI-PRUNE-2).
OTHER_TRAINERS = {
    "wordpiece": "merges the most frequent pair, as BPE does",
    "unigram": "expectation-maximization, and pruning by an approximate loss",
}

#: What the library's exceptions, which have no type of their own, say when they are refusals.
_REASONS = {
    "out of vocabulary": "invalid_model",
    "expected u32": "invalid_model",
    "not found in the vocabulary": "unknown_symbol",
    "Missing [UNK] token": "unknown_symbol",
    "`unk_id` is missing": "unknown_symbol",
    "Truncation error": "invalid_input",
    "Dropout should be": "invalid_model",
}

#: The fields of an encoding, each with the attribute of the library that holds it.
_FIELDS = {
    "tokens": "tokens",
    "ids": "ids",
    "spans": "offsets",
    "type_ids": "type_ids",
    "special_tokens_mask": "special_tokens_mask",
    "attention_mask": "attention_mask",
    "word_ids": "word_ids",
    "sequence_ids": "sequence_ids",
}

#: What it loads: versions before 0.20 know merges that are one string only.
_FORMAT = "tokenizer.json-legacy" if re.match(r"0\.1?[0-9]\.", tokenizers.__version__) else "tokenizer.json"

#: Whether it has an option to find no special token; versions before 0.19 cannot.
_HIDES = hasattr(Tokenizer, "encode_special_tokens")

#: Words are fed as often as they count; more than this takes too long.
_MOST_WORDS = 1_000_000


class TokenizersAdapter:
    """Hugging Face ``tokenizers``.

    >>> adapter = TokenizersAdapter()
    >>> content = {"model": {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": [["u", "g"]]}}
    >>> adapter.run("encode", adapter.load("tokenizer.json", content), {"text": "ug"})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'overflowing': [], 'tokens': ['ug'], 'ids': [2], 'spans': [(0, 2)], 'type_ids': [0], 'special_tokens_mask': [0],
     'attention_mask': [1], 'word_ids': [0], 'sequence_ids': [0]}
    """

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="tokenizers",
            version=tokenizers.__version__,
            language="Python, Rust",
            operations=_OFFERED,
            formats=(_FORMAT,),
            choices=TOKENIZERS_CHOICES,
            encode_fields=(*_FIELDS, "overflowing"),
            other_trainers=OTHER_TRAINERS,
            encode_options=("pair", "add_special_tokens", *(("allowed_special",) if _HIDES else ())),
            decode_options=("skip_special_tokens",),
            components=ALL_COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> Tokenizer:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``invalid_model``, for a merge that is not in the vocabulary.
        """
        return _translated(lambda: Tokenizer.from_str(json.dumps(content)))

    def encoder(self, model: Tokenizer) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode = model.encode
        return lambda text: _translated(lambda: encode(text, add_special_tokens=False).ids)

    def run(self, operation: str, model: Tokenizer, input: Mapping[str, Any]) -> Result:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        return _translated(lambda: _OPERATIONS[operation](model, input))


def _translated(call: Callable[[], _Value]) -> _Value:
    """Call the library, and turn the exceptions that are refusals into refusals; others are crashes."""
    try:
        return call()
    except Exception as error:
        for part, reason in _REASONS.items():
            if part in str(error):
                raise Refusal(reason, str(error)) from error
        raise


def _normalize(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    if tokenizer.normalizer is None:
        raise Unsupported("offers normalizers alone, and the model has none")
    return {"text": tokenizer.normalizer.normalize_str(input["text"])}


def _pre_tokenize(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    if tokenizer.pre_tokenizer is None:
        raise Unsupported("offers pre-tokenizers alone, and the model has none")
    return {"pieces": [(piece, *span) for piece, span in tokenizer.pre_tokenizer.pre_tokenize_str(input["text"])]}


def _encode(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    with _looking(tokenizer, input.get("allowed_special", "all")):
        encoding = tokenizer.encode(
            input["text"], input.get("pair"), add_special_tokens=input.get("add_special_tokens", True)
        )
    return _whole(encoding)


def _encode_batch(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    inputs = [(each["text"], each["pair"]) if "pair" in each else each["text"] for each in input["inputs"]]
    with _looking(tokenizer, input.get("allowed_special", "all")):
        encodings = tokenizer.encode_batch(inputs, add_special_tokens=input.get("add_special_tokens", True))
    return {"encodings": [_whole(encoding) for encoding in encodings]}


@contextmanager
def _looking(tokenizer: Tokenizer, allowed: Any) -> Iterator[None]:
    """Have a tokenizer find all special tokens, or none, which is a property of it and no option of a call."""
    if allowed == "all":
        yield
        return
    if allowed:
        raise Unsupported("finds all special tokens in a text or none")
    tokenizer.encode_special_tokens = True
    try:
        yield
    finally:
        tokenizer.encode_special_tokens = False


def _whole(encoding: Encoding) -> Result:
    return {"overflowing": [], **_part(encoding)}


def _part(encoding: Encoding) -> Result:
    """Return an encoding, with its overflowing parts if it has some."""
    found = {field: getattr(encoding, name) for field, name in _FIELDS.items()}
    parts = [_part(part) for part in encoding.overflowing]
    return {**found, "overflowing": parts} if parts else found


def _decode(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    skips = input.get("skip_special_tokens", False)
    if "ids" in input:
        return {"text": tokenizer.decode(_ids(input), skip_special_tokens=skips)}
    found = [tokenizer.token_to_id(token) for token in input["tokens"]]
    ids = [id for id in found if id is not None]
    if len(ids) == len(found):
        return {"text": tokenizer.decode(ids, skip_special_tokens=skips)}
    # The file of a model that is stages alone has one token; its decoder takes any.
    if tokenizer.decoder is None or skips or tokenizer.get_vocab_size() > 1:
        raise Unsupported("decodes ids, and a token that is not in the vocabulary has none")
    return {"text": tokenizer.decoder.decode(input["tokens"])}


def _decode_stream(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    stream = decoders.DecodeStream(skip_special_tokens=input.get("skip_special_tokens", False))
    return {"parts": [stream.step(tokenizer, id) or "" for id in _ids(input)]}


def _ids(input: Mapping[str, Any]) -> list[int]:
    if any(id >= 2**32 for id in input["ids"]):
        raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
    ids: list[int] = input["ids"]
    return ids


def _train(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    sizes = [input["vocabulary_size"]] if "vocabulary_size" in input else []
    if "merge_count" in input:
        # The library counts tokens, not merges. With no room for a merge it gives the size from which to count.
        sizes.append(len(_learn(tokenizer, input, 0)["vocabulary"]) + input["merge_count"])
    return _learn(tokenizer, input, min(sizes))


def _learn(tokenizer: Tokenizer, input: Mapping[str, Any], size: int) -> Result:
    corpus, learner = input["corpus"], Tokenizer(BPE())
    suffix = json.loads(tokenizer.to_str())["model"].get("end_of_word_suffix")
    if suffix and ("texts" in corpus or len({word[-1:] for word, _ in corpus["words"]} - {""}) > 1):
        raise Unsupported("numbers characters with a suffix in a different order in each run")
    if "texts" in corpus:
        if tokenizer.normalizer is not None:
            learner.normalizer = tokenizer.normalizer
        if tokenizer.pre_tokenizer is not None:
            learner.pre_tokenizer = tokenizer.pre_tokenizer
    trainer = BpeTrainer(
        vocab_size=size,
        min_frequency=input.get("min_frequency", 1),
        special_tokens=[token["content"] for token in json.loads(tokenizer.to_str())["added_tokens"]],
        show_progress=False,
        **({"end_of_word_suffix": suffix} if suffix else {}),
    )
    learner.train_from_iterator(corpus["texts"] if "texts" in corpus else _repeated(corpus["words"]), trainer)
    model = json.loads(learner.to_str())["model"]
    merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    return {"vocabulary": sorted(model["vocab"], key=model["vocab"].__getitem__), "merges": merges}


def _repeated(words: list[tuple[str, int]]) -> Iterator[str]:
    """Return every word as often as it counts: trainers take texts, and without a pre-tokenizer a text is a word."""
    if sum(count for _, count in words) > _MOST_WORDS:
        reason = f"a word is repeated by its count, but the counts add up to more than {_MOST_WORDS}"
        raise Unsupported(f"takes texts, so {reason}")
    if any(count == 0 for _, count in words):
        raise Unsupported("takes texts, and a word with the count 0 stands in none")
    return (word for word, count in words for _ in range(count))


_OPERATIONS: Mapping[str, Callable[[Tokenizer, Mapping[str, Any]], Result]] = {
    "normalize": _normalize,
    "pre_tokenize": _pre_tokenize,
    "encode": _encode,
    "encode_batch": _encode_batch,
    "decode": _decode,
    "decode_stream": _decode_stream,
    "train": _train,
}

#: Versions before 0.21 do not decode as a stream.
_OFFERED = tuple(name for name in _OPERATIONS if name != "decode_stream" or hasattr(decoders, "DecodeStream"))
