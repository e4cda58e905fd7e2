"""The reference implementation as an implementation to be judged.

An operation of ``spec/10-protocol.md`` is a method of a request: it reads the values of the input, calls ``tokref`` and
returns the result in the form of the protocol. A table says which method answers for which type of model. Everything
that follows a rule of the specification is in ``tokref``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, ClassVar

import tokref
from tokref import (
    AlignedText,
    Bpe,
    Choices,
    EncodedToken,
    Encoding,
    InputError,
    Tokenizer,
    Unigram,
    WordLevel,
    WordPiece,
    bpe,
    unigram,
    wordpiece,
)
from tokref.added_tokens import SpecialTokens
from tokref.reading import (
    read_boolean,
    read_integer,
    read_list,
    read_mapping,
    read_number,
    read_target,
    read_text,
    read_words,
)
from tokref.reading.ceilings import TimedPattern, refuse_large_encoding, refuse_large_prompt, refuse_many_segmentations
from tokref.values import Component, Words
from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.base.errors import DataError

Result = dict[str, Any]

FIELDS: Mapping[str, Callable[[EncodedToken], Any]] = {
    "tokens": lambda token: token.text,
    "ids": lambda token: token.id,
    "spans": lambda token: [token.start, token.end],
    "type_ids": lambda token: token.type_id,
    "special_tokens_mask": lambda token: int(token.is_special),
    "attention_mask": lambda token: int(token.is_attended),
    "word_ids": lambda token: token.word,
    "sequence_ids": lambda token: token.sequence,
}
"""The fields of an encoding that have an entry for each token, and the function that returns the entry."""


@dataclass(frozen=True)
class ReferenceRequest:
    """A tokenizer, the choices, and the input of an operation; a value of a wrong type is refused as ``invalid_input``.

    Another implementation of the same operations overrides the methods whose results it computes itself.

    >>> ReferenceRequest(Tokenizer(), Choices(), {"text": "bug"}).normalize()
    {'text': 'bug'}
    """

    tokenizer: Tokenizer
    choices: Choices
    input: Mapping[str, Any]
    encode_fields: ClassVar[tuple[str, ...]] = (*FIELDS, "overflowing")

    # The values of the input

    @property
    def model(self) -> Any:
        """The model, whose type the table of operations has checked."""
        return self.tokenizer.model

    @property
    def words(self) -> Words:
        """The words of the corpus with their counts, in order of first occurrence; in texts, the words are counted."""
        return read_words(self.input.get("corpus", {}), self.tokenizer, self.choices)

    @property
    def fraction(self) -> float:
        """The fraction of the vocabulary that a pruning step removes."""
        number: float = self._read("fraction", read_number)
        return number

    @property
    def initial_score(self) -> float:
        """The number at which the score of a word starts, 0 unless given (UNI-SCORE-2)."""
        number: float = self._read("initial_score", read_number) if "initial_score" in self.input else 0.0
        return number

    def text(self, key: str) -> str:
        """Return a string."""
        text: str = self._read(key, read_text)
        return text

    def texts(self, key: str) -> list[str]:
        """Return a list of strings."""
        texts: list[str] = self._read(key, lambda value: [read_text(item) for item in read_list(value)])
        return texts

    def objects(self, key: str) -> list[Mapping[str, Any]]:
        """Return a list of objects."""
        objects: list[Mapping[str, Any]] = self._read(
            key, lambda value: [read_mapping("an input", item) for item in read_list(value)]
        )
        return objects

    def number(self, key: str) -> int:
        """Return an integer from 0."""
        number: int = self._read(key, partial(read_integer, smallest=0))
        return number

    def numbers(self, key: str) -> list[int]:
        """Return a list of integers from 0."""
        read = partial(read_integer, smallest=0)
        numbers: list[int] = self._read(key, lambda value: [read(item) for item in read_list(value)])
        return numbers

    def some_numbers(self, key: str) -> list[int]:
        """Return a list of integers from 0; it is empty if the input has none."""
        return self.numbers(key) if key in self.input else []

    @property
    def steps(self) -> list[list[int]]:
        """The ids of a stream, grouped by step; each step has one id unless the input has steps."""
        if ("ids" in self.input) == ("id_steps" in self.input):
            raise InputError("invalid_input", "a stream needs either ids or id_steps")
        if "ids" in self.input:
            return [[id] for id in self.numbers("ids")]
        read = partial(read_integer, smallest=0)
        steps: list[list[int]] = self._read(
            "id_steps", lambda value: [[read(id) for id in read_list(step)] for step in read_list(value)]
        )
        return steps

    def boolean(self, key: str, default: bool) -> bool:
        """Return a boolean, or the default if the input has none."""
        boolean: bool = self._read(key, read_boolean) if key in self.input else default
        return boolean

    def special(self, key: str, default: SpecialTokens) -> SpecialTokens:
        """Return "all" or a list of strings, or the default if the input has neither."""
        if key not in self.input:
            return default
        return "all" if self.input[key] == "all" else self.texts(key)

    @property
    def encode_options(self) -> tuple[bool, SpecialTokens, SpecialTokens]:
        """Whether special tokens are inserted, and which are allowed and disallowed in a text."""
        adds = self.boolean("add_special_tokens", default=True)
        return adds, self.special("allowed_special", "all"), self.special("disallowed_special", ())

    @property
    def skips_special_tokens(self) -> bool:
        """Whether decoding leaves out special tokens."""
        return self.boolean("skip_special_tokens", default=False)

    def text_and_pair(self) -> list[str]:
        """Return the text, or the two texts of a pair, that are encoded as one input."""
        return [self.text(key) for key in ("text", "pair") if key == "text" or key in self.input]

    def size(self) -> bpe.Target:
        """Return the target of WordPiece, which has to be a size (ERROR-3)."""
        return bpe.Target(vocabulary_size=self.number("vocabulary_size"))

    def after_steps(self) -> bpe.Target:
        """Return the target of a training that stops after ``steps`` merges (0 unless given)."""
        return bpe.Target(merge_count=self.number("steps") if "steps" in self.input else 0)

    def first(self, rows: Sequence[Any]) -> list[Any]:
        """Return the first rows of a complete list, as many as ``first`` says, or all of them without ``first``."""
        return list(rows[: self.number("first")] if "first" in self.input else rows)

    def _read(self, key: str, reader: Callable[[Any], Any]) -> Any:
        try:
            return reader(self.input.get(key))
        except InputError as error:  # ERROR-2
            raise InputError("invalid_input", f"{key}: {error.message}") from None

    # What several operations compute

    def encodings(self, inputs: Sequence[Sequence[str]]) -> list[Encoding]:
        """Encode a batch of inputs, each of which is one text or two, with the options of the request."""
        refuse_large_encoding(inputs, self.tokenizer, self.choices, *self.encode_options)
        return tokref.encode_inputs(inputs, self.tokenizer, self.choices, *self.encode_options)

    def prompt(self, parts: Sequence[tokref.TextPart | Sequence[int]], adds: bool) -> Encoding:
        """Encode the parts of a prompt."""
        refuse_large_prompt(parts, self.tokenizer, self.choices, adds)
        return tokref.encode_parts(parts, self.tokenizer, self.choices, adds)

    def bpe_training(self, target: bpe.Target) -> bpe.BpeTraining:
        """Train BPE on the words; the special tokens come first in its vocabulary."""
        special_tokens, suffix = self.tokenizer.special_tokens, self.model.end_of_word_suffix
        return bpe.train_bpe(self.words, special_tokens, target, self.choices, suffix)

    def wordpiece_training(self, target: bpe.Target) -> wordpiece.WordPieceTraining:
        """Train WordPiece on the words, with the prefix of the model."""
        special_tokens, prefix = self.tokenizer.special_tokens, self.model.continuing_prefix
        return wordpiece.train_wordpiece(self.words, special_tokens, target, prefix)

    def unigram_training(self) -> unigram.UnigramTraining:
        """Prune from ``initial_size`` to ``vocabulary_size``, by ``fraction`` in a step."""
        sizes = self.number("initial_size"), self.number("vocabulary_size")
        return unigram.train_unigram(self.words, *sizes, self.fraction)

    # Operations

    def normalize(self) -> Result:
        """Answer ``normalize``."""
        text = AlignedText.from_input(self.text("text"))
        return {"text": tokref.normalize(text, self.tokenizer.normalizer, self.choices).text}

    def pre_tokenize(self) -> Result:
        """Answer ``pre_tokenize``: the pieces of a text that is not normalized, each with its span."""
        text = AlignedText.from_input(self.text("text"))
        pieces = tokref.pre_tokenize(text, self.tokenizer.pre_tokenizer, self.choices)
        return {"pieces": [[piece.text, *piece.span(0, len(piece.text))] for piece in pieces]}

    def encode(self) -> Result:
        """Answer ``encode``, a batch of one."""
        [encoding] = self.encodings([self.text_and_pair()])
        return _fields(encoding, self.encode_fields)

    def encode_batch(self) -> Result:
        """Answer ``encode_batch``; each of its inputs has the form of an input of ``encode``."""
        inputs = [replace(self, input=input).text_and_pair() for input in self.objects("inputs")]
        return {"encodings": [_fields(encoding, self.encode_fields) for encoding in self.encodings(inputs)]}

    def encode_parts(self) -> Result:
        """Answer ``encode_parts``: the ids of all parts of a prompt."""
        encoding = self.prompt(self.parts, self.boolean("add_special_tokens", default=True))
        return {"ids": [token.id for token in encoding.tokens]}

    @property
    def parts(self) -> list[tokref.TextPart | Sequence[int]]:
        """The parts of a prompt, each a text or ids."""
        parts: list[tokref.TextPart | Sequence[int]] = []
        for input in self.objects("parts"):
            part = replace(self, input=input)
            if ("text" in input) == ("ids" in input):
                raise InputError("invalid_input", "a part has either text or ids")
            trusted = part.boolean("trusted", default=False)
            parts.append(part.numbers("ids") if "ids" in input else tokref.TextPart(part.text("text"), trusted))
        return parts

    def decode(self) -> Result:
        """Answer ``decode`` for either tokens or ids."""
        if ("tokens" in self.input) == ("ids" in self.input):
            raise InputError("invalid_input", "decoding needs either tokens or ids")
        if "ids" in self.input:
            tokens = tokref.tokens_of(self.numbers("ids"), self.tokenizer, self.choices)
        else:
            tokens = self.texts("tokens")
        return {"text": tokref.decode(tokens, self.tokenizer, self.choices, self.skips_special_tokens)}

    def decode_stream(self) -> Result:
        """Answer ``decode_stream``: the text that each id completes, or each step if the stream is ended."""
        if not self.boolean("end", default=False):
            parts = tokref.decode_stream(self.numbers("ids"), self.tokenizer, self.choices, self.skips_special_tokens)
            return {"parts": parts}
        stream, other = self.new_stream(), self.new_stream()
        beside = iter(self.some_numbers("beside"))
        stream.add(self.some_numbers("prompt"))
        parts = list[str]()
        for step in self.steps:
            other.add([*islice(beside, 1)])
            parts.append(stream.add(step))
        return {"parts": parts, "end": stream.open}

    def new_stream(self) -> Any:
        """Return a stream."""
        return tokref.TextStream(self.tokenizer, self.choices, self.skips_special_tokens)

    def decode_until(self) -> Result:
        """Answer ``decode_until``: the parts of a stream up to a stop, the end, and the stop that was found."""
        stream = tokref.decode_until(
            self.steps,
            self.tokenizer,
            self.choices,
            self.texts("stops"),
            **self.stop_options,
        )
        return stream._asdict()

    @property
    def stop_options(self) -> dict[str, Any]:
        """The options of ``decode_until`` other than its stop strings."""
        return {
            "stop_ids": self.some_numbers("stop_ids"),
            "keep_stop": self.boolean("keep_stop", default=False),
            "prompt": self.some_numbers("prompt"),
            "skip_special_tokens": self.skips_special_tokens,
        }

    def decode_bytes(self) -> Result:
        """Answer ``decode_bytes``, in hexadecimal."""
        parts = tokref.decode_tokens_bytes(self.numbers("ids"), self.tokenizer, self.choices)
        return {"bytes": b"".join(parts).hex()}

    def decode_with_offsets(self) -> Result:
        """Answer ``decode_with_offsets``: the text, and the index of the character at which each id begins."""
        text, offsets = tokref.decode_with_offsets(self.numbers("ids"), self.tokenizer, self.choices)
        return {"text": text, "offsets": offsets}

    def count_words(self) -> Result:
        """Answer ``count_words``."""
        return {"words": [list(row) for row in self.words.items()]}

    def bpe_alphabet(self) -> Result:
        """Answer ``base_vocabulary`` for BPE."""
        special_tokens, suffix = self.tokenizer.special_tokens, self.model.end_of_word_suffix
        return {"vocabulary": list(bpe.base_vocabulary(self.words, special_tokens, suffix))}

    def wordpiece_alphabet(self) -> Result:
        """Answer ``base_vocabulary`` for WordPiece, with the prefix of the model."""
        special_tokens, prefix = self.tokenizer.special_tokens, self.model.continuing_prefix
        return {"vocabulary": list(wordpiece.wordpiece_alphabet(self.words, special_tokens, prefix))}

    def train_bpe(self) -> Result:
        """Answer ``train`` for BPE."""
        training = self.bpe_training(read_target(self.input))
        return {"vocabulary": list(training.vocabulary), "merges": [[left, right] for left, right, _ in training.steps]}

    def train_wordpiece(self) -> Result:
        """Answer ``train`` for WordPiece, whose merges are not part of the model."""
        return {"vocabulary": list(self.wordpiece_training(self.size()).vocabulary)}

    def train_unigram(self) -> Result:
        """Answer ``train`` for Unigram."""
        return {"tokens": [list(row) for row in self.unigram_training().model.weights.items()]}

    def bpe_steps(self) -> Result:
        """Answer ``training_trace`` for BPE: each merge with the count that it had."""
        return {"steps": [list(step) for step in self.bpe_training(read_target(self.input)).steps]}

    def wordpiece_steps(self) -> Result:
        """Answer ``training_trace`` for WordPiece: each merge with the score that it had."""
        steps = self.wordpiece_training(self.size()).steps
        return {"steps": [[left, right, float(score)] for left, right, score in steps]}

    def unigram_sizes(self) -> Result:
        """Answer ``training_trace`` for Unigram: the sizes of the vocabulary before the first step and after each."""
        return {"sizes": list(self.unigram_training().sizes)}

    def bpe_state(self) -> Result:
        """Answer ``training_state`` for BPE."""
        return _state(self.bpe_training(self.after_steps()))

    def wordpiece_state(self) -> Result:
        """Answer ``training_state`` for WordPiece."""
        return _state(self.wordpiece_training(self.after_steps()))

    def pair_frequencies(self) -> Result:
        """Answer ``pair_frequencies``."""
        counts = bpe.count_pairs(self.bpe_training(self.after_steps()).words)
        return {"pairs": self.first([[*pair, count] for pair, count in counts.items()])}

    def pair_scores(self) -> Result:
        """Answer ``pair_scores``; the exact fractions are rounded here."""
        scores = wordpiece.score_pairs(self.wordpiece_training(self.after_steps()).words)
        return {"pairs": self.first([[*pair, float(score)] for pair, score in scores.items()])}

    def best_bpe_pair(self) -> Result:
        """Answer ``best_pair`` for BPE."""
        training = self.bpe_training(self.after_steps())
        pair, count = _found(bpe.best_pair(training.words, training.vocabulary, self.choices))
        return {"pair": list(pair), "count": count}

    def best_wordpiece_pair(self) -> Result:
        """Answer ``best_pair`` for WordPiece."""
        training = self.wordpiece_training(self.after_steps())
        pair, score = _found(wordpiece.best_scored_pair(training.words))
        return {"pair": list(pair), "score": float(score)}

    def substring_frequencies(self) -> Result:
        """Answer ``substring_frequencies``."""
        frequencies = unigram.strict_substrings(self.words)
        return {"frequencies": frequencies, "total": sum(frequencies.values())}

    def ranked_substrings(self) -> Result:
        """Answer ``ranked_substrings``; ``count`` is the number of all, even if only the first are returned."""
        ranked = unigram.ranked_substrings(self.words)
        return {"substrings": self.first([list(row) for row in ranked]), "count": len(ranked)}

    def initial_vocabulary(self) -> Result:
        """Answer ``initial_vocabulary``; ``total`` is the sum over all tokens, even if only the first are returned."""
        weights = unigram.initial_vocabulary(self.words, self.number("initial_size")).weights
        return {"tokens": self.first([list(row) for row in weights.items()]), "total": sum(weights.values())}

    def token_probabilities(self) -> Result:
        """Answer ``token_probabilities``."""
        return {"probabilities": unigram.token_probabilities(self.model)}

    def segmentations(self) -> Result:
        """Answer ``segmentations``, unless there are very many."""
        word = self.text("word")
        refuse_many_segmentations(word, self.model)
        found = unigram.segmentations(word, self.model)
        return {"segmentations": [[list(tokens), probability] for tokens, probability in found]}

    def nbest(self) -> Result:
        """Answer ``nbest``, unless there are very many to choose from."""
        word, size = self.text("word"), self.number("nbest_size")
        if size:  # the best 0 segmentations are an empty list for any word
            refuse_many_segmentations(word, self.model)
        return {"segmentations": [list(tokens) for tokens in unigram.nbest(word, self.model, size)]}

    def viterbi(self) -> Result:
        """Answer ``viterbi``: for each end position the best segmentation up to it, or None."""
        table = unigram.viterbi(self.text("word"), self.model)
        return {"table": [None if row is None else [list(row.tokens), row.value] for row in table]}

    def segment(self) -> Result:
        """Answer ``segment``."""
        tokens, score = unigram.segment(self.text("word"), self.model, self.initial_score)
        return {"tokens": list(tokens), "score": score}

    def loss(self) -> Result:
        """Answer ``loss``: the loss of the words."""
        return {"loss": unigram.corpus_loss(self.words, self.model, self.initial_score)}

    def loss_increase(self) -> Result:
        """Answer ``loss_increase``: by how much the loss grows without a token."""
        token = self.text("token")
        return {"increase": unigram.loss_increase(self.words, self.model, token)}

    def prune_step(self) -> Result:
        """Answer ``prune_step``: the tokens in the order of removal, and how many are left."""
        removed, left = unigram.prune_step(self.words, self.model, self.fraction)
        return {"removed": list(removed), "size": len(left.weights)}


def _fields(encoding: Encoding, names: Sequence[str]) -> Result:
    result: Result = {name: list(map(FIELDS[name], encoding.tokens)) for name in names if name in FIELDS}
    if "overflowing" in names:
        result["overflowing"] = [_fields(part, tuple(FIELDS)) for part in encoding.overflowing]
    return result


def _state(training: bpe.BpeTraining | wordpiece.WordPieceTraining) -> Result:
    words = [[list(tokens), count] for tokens, count in training.words]
    return {"vocabulary": list(training.vocabulary), "words": words}


def _found(best: Any) -> Any:
    if best is None:  # ERROR-2
        raise InputError("invalid_input", "no pair is left, so none is the best")
    return best


class ReferenceAdapter:
    """The reference with the given options; a choice that is not given has the option that the documents use.

    >>> adapter = ReferenceAdapter({"bpe_unknown_without_token": "kept"})
    >>> model = adapter.load("tokspec", {"type": "bpe", "vocabulary": ["b", "u"], "merges": []})
    >>> result = adapter.run("encode", model, {"text": "bum"})
    >>> result["tokens"], result["ids"], result["spans"]
    (['b', 'u', 'm'], [0, 1, None], [[0, 1], [1, 2], [2, 3]])
    """

    name: ClassVar = "tokref"
    requests: ClassVar[type[ReferenceRequest]] = ReferenceRequest
    encode_options: ClassVar[tuple[str, ...]] = (
        *("pair", "add_special_tokens", "allowed_special", "disallowed_special", "initial_score"),
    )
    decode_options: ClassVar[tuple[str, ...]] = (
        *("skip_special_tokens", "id_steps", "prompt", "end", "beside", "stop_ids", "keep_stop"),
    )
    components: ClassVar[tuple[str, ...]] = (
        "vocabulary_ids",
        "added_tokens",
        "post_processor",
        "truncation",
        "padding",
        "model",
        "normalizer",
        "pre_tokenizer",
        "decoder",
    )
    operations: ClassVar[Mapping[str, Mapping[type | None, str]]] = {  # the key None covers any model, and no model
        "normalize": {None: "normalize"},
        "pre_tokenize": {None: "pre_tokenize"},
        "encode": dict.fromkeys((Bpe, WordPiece, Unigram, WordLevel), "encode"),
        "encode_batch": dict.fromkeys((Bpe, WordPiece, Unigram, WordLevel), "encode_batch"),
        "encode_parts": dict.fromkeys((Bpe, WordPiece, Unigram, WordLevel), "encode_parts"),
        "decode": {None: "decode"},
        "decode_stream": {None: "decode_stream"},
        "decode_until": {None: "decode_until"},
        "decode_bytes": {None: "decode_bytes"},
        "decode_with_offsets": {None: "decode_with_offsets"},
        "train": {Bpe: "train_bpe", WordPiece: "train_wordpiece", Unigram: "train_unigram"},
        "count_words": {None: "count_words"},
        "base_vocabulary": {Bpe: "bpe_alphabet", WordPiece: "wordpiece_alphabet"},
        "training_state": {Bpe: "bpe_state", WordPiece: "wordpiece_state"},
        "pair_frequencies": {Bpe: "pair_frequencies"},
        "pair_scores": {WordPiece: "pair_scores"},
        "best_pair": {Bpe: "best_bpe_pair", WordPiece: "best_wordpiece_pair"},
        "substring_frequencies": {Unigram: "substring_frequencies"},
        "ranked_substrings": {Unigram: "ranked_substrings"},
        "initial_vocabulary": {Unigram: "initial_vocabulary"},
        "token_probabilities": {Unigram: "token_probabilities"},
        "segmentations": {Unigram: "segmentations"},
        "nbest": {Unigram: "nbest"},
        "viterbi": {Unigram: "viterbi"},
        "segment": {Unigram: "segment"},
        "loss": {Unigram: "loss"},
        "loss_increase": {Unigram: "loss_increase"},
        "prune_step": {Unigram: "prune_step"},
        "training_trace": {Bpe: "bpe_steps", WordPiece: "wordpiece_steps", Unigram: "unigram_sizes"},
    }

    def __init__(self, choices: Mapping[str, str] | None = None) -> None:
        options = dict(choices or {})
        unit = options.pop("offset_unit", "code_point")
        if unit != "code_point":
            raise DataError(f"{self.name} counts in code points, not in the unit {unit!r}", key="offset_unit")
        try:
            self._choices = Choices.from_mapping(options)
        except InputError as error:
            raise DataError(error.message, key="choices") from error

    def hello(self) -> Hello:
        """Describe the implementation; it declares every choice."""
        return Hello(
            name=self.name,
            version=tokref.__version__,
            language="Python",
            operations=tuple(self.operations),
            formats=("tokspec",),
            choices={**asdict(self._choices), "offset_unit": "code_point"},
            encode_fields=self.requests.encode_fields,
            encode_options=self.encode_options,
            decode_options=self.decode_options,
            components=self.components,
            unicode=unicodedata.unidata_version,
        )

    def load(self, format: str, content: Any) -> Any:
        """Read a model; one that contradicts itself is refused here."""
        if format != "tokspec":
            raise Unsupported(f"reads models in the format tokspec, not {format!r}")
        try:
            tokenizer = tokref.from_mapping(content, self._choices)
        except InputError as error:
            raise Refusal(error.reason, error.message) from error
        stages = {name: _keep_compiled(getattr(tokenizer, name)) for name in ("normalizer", "pre_tokenizer", "decoder")}
        return replace(tokenizer, **stages)

    def request(self, model: Any, input: Mapping[str, Any]) -> ReferenceRequest:
        """Return the request for a loaded model and an input; the input is not read yet."""
        return self.requests(model, self._choices, input)

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer one operation with the method that the table gives for the type of the model."""
        by_model = self.operations.get(operation)
        if by_model is None:
            raise Unsupported(f"has no operation {operation!r}")
        request = self.request(model, input)
        kind = type(request.model)
        method = by_model.get(kind, by_model.get(None))
        if method is None:
            raise Unsupported(f"{operation} needs a model of another type than {kind.__name__}")
        answer: Callable[[], Result] = getattr(request, method)
        try:
            return answer()
        except InputError as error:
            raise Refusal(error.reason, error.message) from error


class _CompiledPattern(TimedPattern):
    """A pattern that is compiled for the first text and kept; ``TimedPattern`` compiles it for each text."""

    def compile(self, choices: Choices) -> Any:
        """Return the compiled pattern."""
        return _compiled(self.source, self.is_regex, choices)


@lru_cache(256)
def _compiled(source: str, is_regex: bool, choices: Choices) -> Any:
    return TimedPattern(source, is_regex).compile(choices)


def _keep_compiled(part: Any) -> Any:
    if isinstance(part, TimedPattern):
        return _CompiledPattern(part.source, part.is_regex)
    if isinstance(part, Component):
        return replace(part, parameters={key: _keep_compiled(value) for key, value in part.parameters.items()})
    return tuple(map(_keep_compiled, part)) if isinstance(part, tuple) else part
