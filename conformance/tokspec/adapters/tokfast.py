"""tokfast, the fast sibling of the reference, as an implementation to be judged.

Requests are read as the reference's are, and answered by tokfast. Operations that inspect what only tokref computes,
such as all segmentations of a word, are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import tokfast
from tokfast import FastTokenizer
from tokref import Encoding, InputError, Target, Unigram, UnigramTraining
from tokref.bpe import BpeTraining
from tokref.unigram import Segmentation
from tokref.values import Words
from tokref.wordpiece import WordPieceTraining
from tokspec.adapter import Refusal
from tokspec.adapters.reference import ReferenceAdapter, ReferenceRequest

__all__ = ["WITH_CHOICES", "TokfastAdapter"]


@dataclass(frozen=True)
class FastRequest(ReferenceRequest):
    """A request that is answered by tokfast."""

    fast: FastTokenizer

    @property
    def words(self) -> Words:
        """The words of the corpus; those of texts are counted by tokfast."""
        corpus = self.input.get("corpus")
        texts = corpus.get("texts") if isinstance(corpus, Mapping) and "words" not in corpus else None
        if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
            return self.fast.count_words(texts)
        return super().words  # a list of words, or a corpus that is refused

    def normalize(self, text: str) -> str:
        """Normalize a text."""
        return self.fast.normalize(text)

    def pre_tokenize(self, text: str) -> list[tuple[str, int, int]]:
        """Return the pieces of a text with their spans."""
        return self.fast.pre_tokenize(text)

    def encode(self, inputs: Sequence[Sequence[str]]) -> list[Encoding]:
        """Encode a batch of inputs, each of which is one text or two, with the options of the request."""
        return self.fast.encode_inputs(inputs, *self.encode_options)

    def decode(self, tokens: list[str], skip_special_tokens: bool) -> str:
        """Decode tokens."""
        return self.fast.decode(tokens, skip_special_tokens)

    def decode_tokens_bytes(self, ids: list[int]) -> list[bytes]:
        """Return the bytes of each id."""
        return self.fast.decode_tokens_bytes(ids)

    def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
        """Decode ids with the place of each."""
        return self.fast.decode_with_offsets(ids)

    def decode_stream(self, ids: list[int], skip_special_tokens: bool) -> list[str]:
        """Decode ids one by one."""
        return self.fast.decode_stream(ids, skip_special_tokens)

    def tokens_of(self, ids: list[int]) -> list[str]:
        """Return the tokens of ids."""
        return self.fast.tokens_of(ids)

    def train_bpe(self, target: Target) -> BpeTraining:
        """Train on the words."""
        return tokfast.train_bpe(self.words, self.tokenizer.special_tokens, target, self.choices)

    def train_wordpiece(self, target: Target) -> WordPieceTraining:
        """Train on the words."""
        special_tokens, prefix = self.tokenizer.special_tokens, self.model.continuing_prefix
        return tokfast.train_wordpiece(self.words, special_tokens, target, prefix)

    def train_unigram(self) -> UnigramTraining:
        """Train on the words."""
        sizes = self.number("initial_size"), self.number("vocabulary_size")
        return tokfast.train_unigram(self.words, *sizes, self.fraction)

    def segment(self, word: str) -> Segmentation:
        """Segment a word."""
        return tokfast.segment(word, self.model, self.choices)

    def loss(self) -> float:
        """Return the loss of the words."""
        return tokfast.corpus_loss(self.words, self.model, self.choices)

    def loss_increase(self, token: str) -> float:
        """Return what the loss of the words grows by without a token."""
        return tokfast.loss_increase(self.words, self.model, token)

    def prune_step(self) -> tuple[tuple[str, ...], Unigram]:
        """Remove a fraction of the tokens."""
        return tokfast.prune_step(self.words, self.model, self.fraction)


class TokfastAdapter(ReferenceAdapter):
    """tokfast with the given options; where none is given, with the documents' own.

    >>> adapter = TokfastAdapter()
    >>> model = adapter.load("tokspec", {"type": "bpe", "vocabulary": ["b", "u", "bu"], "merges": [["b", "u"]]})
    >>> result = adapter.run("encode", model, {"text": "bu"})
    >>> result["tokens"], result["ids"], result["spans"]
    (['bu'], [2], [[0, 2]])
    """

    name: ClassVar = "tokfast"
    requests: ClassVar = FastRequest
    operations: ClassVar = {
        operation: ReferenceAdapter.operations[operation]
        for operation in (
            "normalize",
            "pre_tokenize",
            "encode",
            "encode_batch",
            "decode",
            "decode_stream",
            "decode_bytes",
            "decode_with_offsets",
            "train",
            "count_words",
            "training_state",
            "pair_frequencies",
            "pair_scores",
            "best_pair",
            "segment",
            "loss",
            "loss_increase",
            "prune_step",
            "training_trace",
        )
    }

    def load(self, format: str, content: Any) -> FastTokenizer:
        """Read a model and prepare it."""
        return FastTokenizer(super().load(format, content), self._choices)

    def encoder(self, model: FastTokenizer) -> Callable[[str], list[int | None]]:
        """Return the function from a text to its ids, for callers that ask for nothing else."""
        is_whole = model.tokenizer.truncation is None and model.tokenizer.padding is None

        def encode_ids(text: str) -> list[int | None]:
            try:
                if is_whole:
                    return model.encode_ids(text)
                (encoding,) = model.encode_inputs([[text]], add_special_tokens=False)
                return [token.id for token in encoding.tokens]
            except InputError as error:
                raise Refusal(error.reason, error.message) from error

        return encode_ids

    def request(self, model: FastTokenizer, input: Mapping[str, Any]) -> FastRequest:
        """Return the request of a model that was loaded."""
        return FastRequest(model.tokenizer, self._choices, input, model)


WITH_CHOICES: Mapping[str, type[ReferenceAdapter]] = {"reference": ReferenceAdapter, "tokfast": TokfastAdapter}
"""The implementations of the suite itself by their names; they take any choices."""
