"""The adapter for Hugging Face ``tokenizers``.

The library does the work and nothing is computed beside it. Its Unigram model gives an unknown run's characters as the
token; the tokens reported here are the entries of the vocabulary that its ids name (TERM-4).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar
from unicodedata import is_normalized

import tokenizers
from tokenizers import Tokenizer
from tokenizers.models import BPE, Unigram, WordPiece
from tokenizers.trainers import BpeTrainer

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode

__all__ = ["OPERATIONS", "TokenizersAdapter", "encode", "translated"]

Result: TypeAlias = Mapping[str, Any]
_Value = TypeVar("_Value")

#: The options that the library takes, measured with version 0.23.3.
CHOICES = {
    "bpe_training_tie": "smallest_ids",
    "bpe_merge_order": "lowest_rank",
    "bpe_pairs": "listed",
    "bpe_unknown_run": "each",
    "bpe_unknown_without_token": "dropped_before_merging",
    "unigram_tie": "earliest_start",
    "unigram_unknown": "run",
    "metaspace_leading_space": "removed_from_first_token",
    "unknown_id": "skipped",
    "final_sigma": "plain",
    "offset_unit": "code_point",
}

#: What the library's exceptions, which have no type of their own, say when they are refusals.
_REASONS = {
    "out of vocabulary": "invalid_model",
    "not found in the vocabulary": "unknown_symbol",
    "Missing [UNK] token": "unknown_symbol",
    "`unk_id` is missing": "unknown_symbol",
}

#: The dissents of ``spec/08-choices.md`` in training.
_OTHER_TRAINING = {
    WordPiece: "its WordPiece trainer ranks pairs by count, as BPE does (WP-TRAIN-3)",
    Unigram: "its Unigram trainer estimates frequencies and prunes by an approximate loss (UNI-PRUNE-2)",
}

#: What it loads: versions before 0.20 know merges that are one string only.
_FORMAT = "tokenizer.json-legacy" if re.match(r"0\.1?[0-9]\.", tokenizers.__version__) else "tokenizer.json"

#: Words are fed as often as they count; more than this takes too long.
_MOST_WORDS = 1_000_000

#: The trainer reserves memory for its whole target at once, and aborts the process when there is not enough.
_LARGEST_VOCABULARY = 10_000_000


class TokenizersAdapter:
    """Hugging Face ``tokenizers``.

    >>> adapter = TokenizersAdapter()
    >>> content = {"model": {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": [["u", "g"]]}}
    >>> adapter.run("encode", adapter.load("tokenizer.json", content), {"text": "ug"})
    {'tokens': ['ug'], 'ids': [2], 'spans': [(0, 2)]}
    """

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="tokenizers",
            version=tokenizers.__version__,
            language="Rust",
            operations=tuple(OPERATIONS),
            formats=(_FORMAT,),
            choices=CHOICES,
            encode_fields=("tokens", "ids", "spans"),
        )

    def load(self, format: str, content: Any) -> Tokenizer:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``invalid_model``, for a merge that is not in the vocabulary; ``unsupported`` for a model with
                which the library is known to dissent.
        """
        for dissents, reason in _DISSENTS[content["model"]["type"]]:
            if dissents(content["model"]):
                raise Unsupported(reason)
        return translated(lambda: Tokenizer.from_str(json.dumps(content)))

    def encoder(self, model: Tokenizer) -> Callable[[str], list[int]]:
        """Give a function from a text to its ids, for who asks millions of times: the library's own, dissents too."""
        encode = model.encode
        return lambda text: translated(lambda: encode(text, add_special_tokens=False).ids)

    def run(self, operation: str, model: Tokenizer, input: Mapping[str, Any]) -> Result:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, and ``unsupported`` with the reason.
        """
        require_unicode(input)
        text = input.get("text", "")
        if any(_FORGOTTEN[0] <= character <= _FORGOTTEN[-1] for character in text):
            raise Unsupported("sets no ideograph apart from U+2B820 to U+2B91F (NORM-BERT-3)")
        if not _NEWER.isdisjoint(text):
            raise Unsupported("takes punctuation and marks for none that Unicode has since version 9 (TERM-6)")
        if operation == "encode" and _COMPOSES.search(str(model.normalizer)) and not is_normalized("NFC", text):
            raise Unsupported("gives a composed character the span of the first that it was made of (ENC-3)")
        return translated(lambda: OPERATIONS[operation](model, input))


#: The ideographs that its BERT normalizer has not (huggingface/tokenizers#2395).
_FORGOTTEN = ("\U0002b820", "\U0002b91f")

#: Characters of cases that Unicode 8 did not have yet, from which its categories are.
_NEWER = frozenset("\u1df6\u2e43")

#: How its normalizers that compose are written.
_COMPOSES = re.compile(r"\bNFK?C\b")


def _merges_unknown_token(model: Mapping[str, Any]) -> bool:
    return any(model.get("unk_token") in merge for merge in model["merges"])


def _makes_longest_token(model: Mapping[str, Any]) -> bool:
    longest = max(map(len, model["vocab"]), default=0)
    return any(len(left + right) > longest for left, right in model["merges"])


def _has_joined_characters_only(model: Mapping[str, Any]) -> bool:
    tokens = {token for token, _ in model["vocab"]}
    return model["unk_id"] is None and any(character not in tokens for token in tokens for character in token)


#: The dissents of ``spec/08-choices.md`` by the type of the model: what tells such a model, and what the library does.
_DISSENTS: Mapping[str, tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...]] = {
    "BPE": (
        (_merges_unknown_token, "merges what it does not know where a merge names the unknown token (BPE-ENC-6)"),
        (_makes_longest_token, "panics at a merge whose product is longer than every token (BPE-MODEL-1)"),
    ),
    "WordPiece": (),
    "Unigram": (
        (
            _has_joined_characters_only,
            "needs an unknown token for a character that is none by itself, whether or not it is used (UNI-UNK-1)",
        ),
    ),
}


def translated(call: Callable[[], _Value]) -> _Value:
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


def encode(tokenizer: Tokenizer, input: Mapping[str, Any], adds: bool = False) -> Result:
    """Encode a text; ``adds`` is whether with the special tokens that a post-processor adds."""
    encoding = tokenizer.encode(input["text"], add_special_tokens=adds)
    tokens = [tokenizer.id_to_token(id) for id in encoding.ids]
    return {"tokens": tokens, "ids": encoding.ids, "spans": encoding.offsets}


def _decode(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    if any(id >= 2**32 for id in input.get("ids", ())):
        raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
    if "ids" in input:
        return {"text": tokenizer.decode(input["ids"], skip_special_tokens=False)}
    found = [tokenizer.token_to_id(token) for token in input["tokens"]]
    ids = [id for id in found if id is not None]
    if len(ids) == len(found):
        return {"text": tokenizer.decode(ids, skip_special_tokens=False)}
    if tokenizer.decoder is None or tokenizer.get_vocab_size() > 0:
        raise Unsupported("decodes ids, and a token that is not in the vocabulary has none")
    return {"text": tokenizer.decoder.decode(input["tokens"])}


def _train(tokenizer: Tokenizer, input: Mapping[str, Any]) -> Result:
    if not isinstance(tokenizer.model, BPE):
        raise Unsupported(_OTHER_TRAINING[type(tokenizer.model)])
    if "vocabulary_size" in input:
        return _learn(tokenizer, input, input["vocabulary_size"])
    # The library counts tokens, not merges. With no room for a merge it gives the size from which to count.
    count = input["merge_count"]
    result = _learn(tokenizer, input, len(_learn(tokenizer, input, 0)["vocabulary"]) + count)
    if len(result["merges"]) > count:
        raise Unsupported("has a target for tokens alone, and one of these merges makes no new token")
    return result


def _learn(tokenizer: Tokenizer, input: Mapping[str, Any], size: int) -> Result:
    if size > _LARGEST_VOCABULARY:
        raise Unsupported(f"reserves memory for its target at once, and {size} tokens are too many")
    corpus, learner = input["corpus"], Tokenizer(BPE())
    if "texts" in corpus:
        if tokenizer.normalizer is not None:
            learner.normalizer = tokenizer.normalizer
        if tokenizer.pre_tokenizer is not None:
            learner.pre_tokenizer = tokenizer.pre_tokenizer
    trainer = BpeTrainer(
        vocab_size=size,
        min_frequency=input.get("min_frequency", 1),
        special_tokens=[token.content for _, token in sorted(tokenizer.get_added_tokens_decoder().items())],
        show_progress=False,
    )
    learner.train_from_iterator(corpus["texts"] if "texts" in corpus else _repeated(corpus["words"]), trainer)
    model = json.loads(learner.to_str())["model"]
    return {"vocabulary": sorted(model["vocab"], key=model["vocab"].__getitem__), "merges": model["merges"]}


def _repeated(words: list[tuple[str, int]]) -> Iterator[str]:
    """Give every word as often as it counts: the trainers take texts, and without a pre-tokenizer a text is a word."""
    if sum(count for _, count in words) > _MOST_WORDS:
        raise Unsupported(f"takes texts, and more than {_MOST_WORDS} words are too many to repeat")
    if any(count == 0 for _, count in words):
        raise Unsupported("takes texts, and a word with the count 0 stands in none")
    return (word for word, count in words for _ in range(count))


OPERATIONS: Mapping[str, Callable[[Tokenizer, Mapping[str, Any]], Result]] = {
    "normalize": _normalize,
    "pre_tokenize": _pre_tokenize,
    "encode": encode,
    "decode": _decode,
    "train": _train,
}
