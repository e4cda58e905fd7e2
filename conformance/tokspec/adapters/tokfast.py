"""tokfast, the fast sibling of the reference, as an implementation to be judged.

Requests are read like the reference's, and answered by tokfast. Operations that inspect what only tokref computes, such
as all segmentations of a word, are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import tokfast
from tokfast import FastTokenizer
from tokfast.streams import TextStream
from tokref import Encoding, InputError, Target, TextPart, UnigramTraining
from tokref.bpe import BpeTraining
from tokref.values import Words
from tokref.wordpiece import WordPieceTraining
from tokspec.adapter import Refusal
from tokspec.adapters.reference import ReferenceAdapter, ReferenceRequest, Result


@dataclass(frozen=True)
class FastRequest(ReferenceRequest):
    """A request that is answered by tokfast."""

    fast: FastTokenizer

    @property
    def words(self) -> Words:
        """The words of the corpus with their counts; in texts, tokfast counts the words."""
        corpus = self.input.get("corpus")
        texts = corpus.get("texts") if isinstance(corpus, Mapping) and "words" not in corpus else None
        if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
            return self.fast.count_words(texts)
        return super().words  # a list of words, or a corpus that is refused

    def encodings(self, inputs: Sequence[Sequence[str]]) -> list[Encoding]:
        """Encode a batch of inputs, each of which is one text or two, with the options of the request."""
        return self.fast.encode_inputs(inputs, *self.encode_options)

    def prompt(self, parts: Sequence[TextPart | Sequence[int]], adds: bool) -> Encoding:
        """Encode the parts of a prompt."""
        return self.fast.encode_parts(parts, adds)

    def bpe_training(self, target: Target) -> BpeTraining:
        """Train BPE on the words; the special tokens come first in its vocabulary."""
        special_tokens, suffix = self.tokenizer.special_tokens, self.model.end_of_word_suffix
        return tokfast.train_bpe(self.words, special_tokens, target, self.choices, suffix)

    def wordpiece_training(self, target: Target) -> WordPieceTraining:
        """Train WordPiece on the words, with the prefix of the model."""
        special_tokens, prefix = self.tokenizer.special_tokens, self.model.continuing_prefix
        return tokfast.train_wordpiece(self.words, special_tokens, target, prefix)

    def unigram_training(self) -> UnigramTraining:
        """Prune from ``initial_size`` to ``vocabulary_size``, by ``fraction`` in a step."""
        sizes = self.number("initial_size"), self.number("vocabulary_size")
        return tokfast.train_unigram(self.words, *sizes, self.fraction)

    def normalize(self) -> Result:
        """Answer ``normalize``."""
        return {"text": self.fast.normalize(self.text("text"))}

    def pre_tokenize(self) -> Result:
        """Answer ``pre_tokenize``: the pieces of a text that is not normalized, each with its span."""
        return {"pieces": [list(piece) for piece in self.fast.pre_tokenize(self.text("text"))]}

    def decode(self) -> Result:
        """Answer ``decode`` for either tokens or ids."""
        if ("tokens" in self.input) == ("ids" in self.input):
            raise InputError("invalid_input", "decoding needs either tokens or ids")
        is_of_ids = "ids" in self.input
        tokens = self.fast.tokens_of(self.numbers("ids")) if is_of_ids else self.texts("tokens")
        return {"text": self.fast.decode(tokens, self.skips_special_tokens)}

    def decode_stream(self) -> Result:
        """Answer ``decode_stream``: the text that each id completes, or each step if the stream is ended."""
        skips = self.skips_special_tokens
        if not self.boolean("end", default=False):
            return {"parts": self.fast.decode_stream(self.numbers("ids"), skips)}
        return super().decode_stream()

    def new_stream(self) -> TextStream:
        """Return a stream."""
        return self.fast.stream(self.skips_special_tokens)

    def decode_until(self) -> Result:
        """Answer ``decode_until``: the parts of a stream up to a stop, the end, and the stop that was found."""
        return self.fast.decode_until(self.steps, self.texts("stops"), **self.stop_options)._asdict()

    def decode_bytes(self) -> Result:
        """Answer ``decode_bytes``, in hexadecimal."""
        return {"bytes": b"".join(self.fast.decode_tokens_bytes(self.numbers("ids"))).hex()}

    def decode_with_offsets(self) -> Result:
        """Answer ``decode_with_offsets``: the text, and the index of the character at which each id begins."""
        text, offsets = self.fast.decode_with_offsets(self.numbers("ids"))
        return {"text": text, "offsets": offsets}

    def segment(self) -> Result:
        """Answer ``segment``."""
        tokens, score = tokfast.segment(self.text("word"), self.model, self.initial_score)
        return {"tokens": list(tokens), "score": score}

    def loss(self) -> Result:
        """Answer ``loss``: the loss of the words."""
        return {"loss": tokfast.corpus_loss(self.words, self.model, self.initial_score)}

    def loss_increase(self) -> Result:
        """Answer ``loss_increase``: by how much the loss grows without a token."""
        token = self.text("token")
        return {"increase": tokfast.loss_increase(self.words, self.model, token)}

    def prune_step(self) -> Result:
        """Answer ``prune_step``: the tokens in the order of removal, and how many are left."""
        removed, left = tokfast.prune_step(self.words, self.model, self.fraction)
        return {"removed": list(removed), "size": len(left.weights)}


class TokfastAdapter(ReferenceAdapter):
    """tokfast with the given options; a choice that is not given has the option that the documents use.

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
            "encode_parts",
            "decode",
            "decode_stream",
            "decode_until",
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
        """Return the function from a text to its ids, for callers that need nothing else."""
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
        """Return the request for a loaded model and an input."""
        return FastRequest(model.tokenizer, self._choices, input, model)


WITH_CHOICES: Mapping[str, type[ReferenceAdapter]] = {"reference": ReferenceAdapter, "tokfast": TokfastAdapter}
"""The suite's own implementations by their names; they accept options of all choices."""
