"""The reference implementation as an implementation to be judged.

The operations of ``spec/10-protocol.md`` are functions in a table, for each type of model; a request reads the values
of the input. Everything that follows a rule of the specification is in ``tokref``.
"""

from __future__ import annotations

import ast
import inspect
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
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
from tokref.values import Words
from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.base.errors import DataError

__all__ = ["ReferenceAdapter", "ReferenceRequest", "functions_by_clause"]

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
"""The fields of an encoding that have an entry for each token, and the entry."""


@dataclass(frozen=True)
class ReferenceRequest:
    """A tokenizer, the choices, and the input of an operation; a value of a wrong type is refused as ``invalid_input``.

    The methods that compute are those that an implementation of the same functions may override.

    >>> ReferenceRequest(Tokenizer(), Choices(), {"text": "bug"}).text("text")
    'bug'
    """

    tokenizer: Tokenizer
    choices: Choices
    input: Mapping[str, Any]
    encode_fields: ClassVar[tuple[str, ...]] = (*FIELDS, "overflowing")

    @property
    def model(self) -> Any:
        """The model, which the table of operations has found to be of the right type."""
        return self.tokenizer.model

    @property
    def words(self) -> Words:
        """The words of the corpus."""
        return read_words(self.input.get("corpus", {}), self.tokenizer, self.choices)

    @property
    def target(self) -> bpe.Target:
        """When the training of BPE or WordPiece stops."""
        return read_target(self.input)

    @property
    def fraction(self) -> float:
        """The fraction of the vocabulary that a pruning step removes."""
        number: float = self._read("fraction", read_number)
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

    def boolean(self, key: str, default: bool) -> bool:
        """Return a boolean, or what holds where none is given."""
        boolean: bool = self._read(key, read_boolean) if key in self.input else default
        return boolean

    def special(self, key: str, default: SpecialTokens) -> SpecialTokens:
        """Return "all" or a list of strings, or what holds where none is given."""
        if key not in self.input:
            return default
        return "all" if self.input[key] == "all" else self.texts(key)

    @property
    def encode_options(self) -> tuple[bool, SpecialTokens, SpecialTokens]:
        """Whether special tokens are put in, and which are allowed and disallowed in a text."""
        adds = self.boolean("add_special_tokens", default=True)
        return adds, self.special("allowed_special", "all"), self.special("disallowed_special", ())

    def first(self, rows: Sequence[Any]) -> list[Any]:
        """Cut a complete list after as many rows as ``first`` says; without it, all are wanted."""
        return list(rows[: self.number("first")] if "first" in self.input else rows)

    def normalize(self, text: str) -> str:
        """Normalize a text."""
        return tokref.normalize(AlignedText.from_input(text), self.tokenizer.normalizer, self.choices).text

    def pre_tokenize(self, text: str) -> list[tuple[str, int, int]]:
        """Return the pieces of a text with their spans."""
        pieces = tokref.pre_tokenize(AlignedText.from_input(text), self.tokenizer.pre_tokenizer, self.choices)
        return [(piece.text, *piece.span(0, len(piece.text))) for piece in pieces]

    def encode(self, inputs: Sequence[Sequence[str]]) -> list[Encoding]:
        """Encode a batch of inputs, each of which is one text or two, with the options of the request."""
        return tokref.encode_inputs(inputs, self.tokenizer, self.choices, *self.encode_options)

    def decode(self, tokens: list[str], skip_special_tokens: bool) -> str:
        """Decode tokens."""
        return tokref.decode(tokens, self.tokenizer, self.choices, skip_special_tokens)

    def decode_tokens_bytes(self, ids: list[int]) -> list[bytes]:
        """Return the bytes of each id."""
        return tokref.decode_tokens_bytes(ids, self.tokenizer, self.choices)

    def decode_with_offsets(self, ids: list[int]) -> tuple[str, list[int]]:
        """Decode ids with the place of each."""
        return tokref.decode_with_offsets(ids, self.tokenizer, self.choices)

    def decode_stream(self, ids: list[int], skip_special_tokens: bool) -> list[str]:
        """Decode ids one by one."""
        return tokref.decode_stream(ids, self.tokenizer, self.choices, skip_special_tokens)

    def tokens_of(self, ids: list[int]) -> list[str]:
        """Return the tokens of ids."""
        return tokref.tokens_of(ids, self.tokenizer, self.choices)

    def train_bpe(self, target: bpe.Target) -> bpe.BpeTraining:
        """Train on the words."""
        return bpe.train_bpe(self.words, self.tokenizer.special_tokens, target, self.choices)

    def train_wordpiece(self, target: bpe.Target) -> wordpiece.WordPieceTraining:
        """Train on the words."""
        special_tokens, prefix = self.tokenizer.special_tokens, self.model.continuing_prefix
        return wordpiece.train_wordpiece(self.words, special_tokens, target, prefix)

    def train_unigram(self) -> unigram.UnigramTraining:
        """Train on the words."""
        sizes = self.number("initial_size"), self.number("vocabulary_size")
        return unigram.train_unigram(self.words, *sizes, self.fraction)

    def segment(self, word: str) -> unigram.Segmentation:
        """Segment a word."""
        return unigram.segment(word, self.model, self.choices)

    def loss(self) -> float:
        """Return the loss of the words."""
        return unigram.corpus_loss(self.words, self.model, self.choices)

    def loss_increase(self, token: str) -> float:
        """Return what the loss of the words grows by without a token."""
        return unigram.loss_increase(self.words, self.model, token)

    def prune_step(self) -> tuple[tuple[str, ...], Unigram]:
        """Remove a fraction of the tokens."""
        return unigram.prune_step(self.words, self.model, self.fraction)

    def _read(self, key: str, reader: Callable[[Any], Any]) -> Any:
        try:
            return reader(self.input.get(key))
        except InputError as error:  # ERROR-2
            raise InputError("invalid_input", f"{key}: {error.message}") from None


class ReferenceAdapter:
    """The reference with the given options; where none is given, with the documents' own.

    >>> adapter = ReferenceAdapter({"bpe_unknown_without_token": "kept"})
    >>> model = adapter.load("tokspec", {"type": "bpe", "vocabulary": ["b", "u"], "merges": []})
    >>> result = adapter.run("encode", model, {"text": "bum"})
    >>> result["tokens"], result["ids"], result["spans"]
    (['b', 'u', 'm'], [0, 1, None], [[0, 1], [1, 2], [2, 3]])
    """

    name: ClassVar = "tokref"
    requests: ClassVar[type[ReferenceRequest]] = ReferenceRequest
    encode_options: ClassVar[tuple[str, ...]] = ("pair", "add_special_tokens", "allowed_special", "disallowed_special")
    decode_options: ClassVar[tuple[str, ...]] = ("skip_special_tokens",)
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
    operations: ClassVar[Mapping[str, Mapping[type | None, Callable[[ReferenceRequest], Result]]]]

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
            return tokref.from_mapping(content, self._choices)
        except InputError as error:
            raise Refusal(error.reason, error.message) from error

    def request(self, model: Any, input: Mapping[str, Any]) -> ReferenceRequest:
        """Return the request of a model that was loaded."""
        return self.requests(model, self._choices, input)

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Perform one operation."""
        by_model = self.operations.get(operation)
        if by_model is None:
            raise Unsupported(f"has no operation {operation!r}")
        request = self.request(model, input)
        kind = type(request.model)
        function = by_model.get(kind, by_model.get(None))
        if function is None:
            raise Unsupported(f"{operation} needs a model of another type than {kind.__name__}")
        try:
            return function(request)
        except InputError as error:
            raise Refusal(error.reason, error.message) from error


def _normalize(request: ReferenceRequest) -> Result:
    return {"text": request.normalize(request.text("text"))}


def _pre_tokenize(request: ReferenceRequest) -> Result:
    return {"pieces": [list(piece) for piece in request.pre_tokenize(request.text("text"))]}


def _encode(request: ReferenceRequest) -> Result:
    [encoding] = request.encode([_texts(request)])
    return _fields(encoding, request.encode_fields)


def _encode_batch(request: ReferenceRequest) -> Result:
    inputs = [_texts(replace(request, input=input)) for input in request.objects("inputs")]
    encodings = request.encode(inputs)
    return {"encodings": [_fields(encoding, request.encode_fields) for encoding in encodings]}


def _texts(request: ReferenceRequest) -> list[str]:
    return [request.text(key) for key in ("text", "pair") if key == "text" or key in request.input]


def _fields(encoding: Encoding, names: Sequence[str]) -> Result:
    result: Result = {name: list(map(FIELDS[name], encoding.tokens)) for name in names if name in FIELDS}
    if "overflowing" in names:
        result["overflowing"] = [_fields(part, tuple(FIELDS)) for part in encoding.overflowing]
    return result


def _decode(request: ReferenceRequest) -> Result:
    if ("tokens" in request.input) == ("ids" in request.input):
        raise InputError("invalid_input", "decoding needs either tokens or ids")
    is_of_ids = "ids" in request.input
    tokens = request.tokens_of(request.numbers("ids")) if is_of_ids else request.texts("tokens")
    return {"text": request.decode(tokens, request.boolean("skip_special_tokens", default=False))}


def _decode_bytes(request: ReferenceRequest) -> Result:
    return {"bytes": b"".join(request.decode_tokens_bytes(request.numbers("ids"))).hex()}


def _decode_with_offsets(request: ReferenceRequest) -> Result:
    text, offsets = request.decode_with_offsets(request.numbers("ids"))
    return {"text": text, "offsets": offsets}


def _decode_stream(request: ReferenceRequest) -> Result:
    skips = request.boolean("skip_special_tokens", default=False)
    return {"parts": request.decode_stream(request.numbers("ids"), skips)}


def _count_words(request: ReferenceRequest) -> Result:
    return {"words": [list(row) for row in request.words.items()]}


def _base_vocabulary(request: ReferenceRequest) -> Result:
    return {"vocabulary": list(bpe.base_vocabulary(request.words, request.tokenizer.special_tokens))}


def _wordpiece_alphabet(request: ReferenceRequest) -> Result:
    special_tokens, prefix = request.tokenizer.special_tokens, request.model.continuing_prefix
    return {"vocabulary": list(wordpiece.wordpiece_alphabet(request.words, special_tokens, prefix))}


def _bpe_model(request: ReferenceRequest) -> Result:
    training = request.train_bpe(request.target)
    return {"vocabulary": list(training.vocabulary), "merges": [[left, right] for left, right, _ in training.steps]}


def _wordpiece_model(request: ReferenceRequest) -> Result:
    return {"vocabulary": list(request.train_wordpiece(_size(request)).vocabulary)}


def _unigram_model(request: ReferenceRequest) -> Result:
    return {"tokens": [list(row) for row in request.train_unigram().model.weights.items()]}


def _bpe_steps(request: ReferenceRequest) -> Result:
    return {"steps": [list(step) for step in request.train_bpe(request.target).steps]}


def _wordpiece_steps(request: ReferenceRequest) -> Result:
    steps = request.train_wordpiece(_size(request)).steps
    return {"steps": [[left, right, float(score)] for left, right, score in steps]}


def _unigram_sizes(request: ReferenceRequest) -> Result:
    return {"sizes": list(request.train_unigram().sizes)}


def _size(request: ReferenceRequest) -> bpe.Target:
    """Return the target of WordPiece, which has to be a size (ERROR-3)."""
    return bpe.Target(vocabulary_size=request.number("vocabulary_size"))


def _after_steps(request: ReferenceRequest) -> bpe.Target:
    """Return the target of a training that stops after as many merges as have been done (0 unless given)."""
    return bpe.Target(merge_count=request.number("steps") if "steps" in request.input else 0)


def _bpe_state(request: ReferenceRequest) -> Result:
    return _state(request.train_bpe(_after_steps(request)))


def _wordpiece_state(request: ReferenceRequest) -> Result:
    return _state(request.train_wordpiece(_after_steps(request)))


def _state(training: bpe.BpeTraining | wordpiece.WordPieceTraining) -> Result:
    words = [[list(tokens), count] for tokens, count in training.words]
    return {"vocabulary": list(training.vocabulary), "words": words}


def _pair_frequencies(request: ReferenceRequest) -> Result:
    counts = bpe.count_pairs(request.train_bpe(_after_steps(request)).words)
    return {"pairs": request.first([[*pair, count] for pair, count in counts.items()])}


def _pair_scores(request: ReferenceRequest) -> Result:
    scores = wordpiece.score_pairs(request.train_wordpiece(_after_steps(request)).words)
    return {"pairs": request.first([[*pair, float(score)] for pair, score in scores.items()])}


def _best_bpe_pair(request: ReferenceRequest) -> Result:
    training = request.train_bpe(_after_steps(request))
    pair, count = _found(bpe.best_pair(training.words, training.vocabulary, request.choices))
    return {"pair": list(pair), "count": count}


def _best_wordpiece_pair(request: ReferenceRequest) -> Result:
    training = request.train_wordpiece(_after_steps(request))
    pair, score = _found(wordpiece.best_scored_pair(training.words))
    return {"pair": list(pair), "score": float(score)}


def _found(best: Any) -> Any:
    if best is None:  # ERROR-2
        raise InputError("invalid_input", "no pair is left, so none is the best")
    return best


def _substring_frequencies(request: ReferenceRequest) -> Result:
    frequencies = unigram.strict_substrings(request.words)
    return {"frequencies": frequencies, "total": sum(frequencies.values())}


def _ranked_substrings(request: ReferenceRequest) -> Result:
    ranked = unigram.ranked_substrings(request.words)
    return {"substrings": request.first([list(row) for row in ranked]), "count": len(ranked)}


def _initial_vocabulary(request: ReferenceRequest) -> Result:
    weights = unigram.initial_vocabulary(request.words, request.number("initial_size")).weights
    return {"tokens": request.first([list(row) for row in weights.items()]), "total": sum(weights.values())}


def _token_probabilities(request: ReferenceRequest) -> Result:
    return {"probabilities": unigram.token_probabilities(request.model)}


def _nbest(request: ReferenceRequest) -> Result:
    found = unigram.nbest(request.text("word"), request.model, request.number("nbest_size"))
    return {"segmentations": [list(tokens) for tokens in found]}


def _segmentations(request: ReferenceRequest) -> Result:
    found = unigram.segmentations(request.text("word"), request.model)
    return {"segmentations": [[list(tokens), probability] for tokens, probability in found]}


def _viterbi(request: ReferenceRequest) -> Result:
    table = unigram.viterbi(request.text("word"), request.model)
    return {"table": [None if row is None else [list(row.tokens), row.value] for row in table]}


def _segment(request: ReferenceRequest) -> Result:
    tokens, score = request.segment(request.text("word"))
    return {"tokens": list(tokens), "score": score}


def _loss(request: ReferenceRequest) -> Result:
    return {"loss": request.loss()}


def _loss_increase(request: ReferenceRequest) -> Result:
    return {"increase": request.loss_increase(request.text("token"))}


def _prune_step(request: ReferenceRequest) -> Result:
    removed, left = request.prune_step()
    return {"removed": list(removed), "size": len(left.weights)}


ReferenceAdapter.operations = {  # None stands for any model, and for none at all
    "normalize": {None: _normalize},
    "pre_tokenize": {None: _pre_tokenize},
    "encode": dict.fromkeys((Bpe, WordPiece, Unigram, WordLevel), _encode),
    "encode_batch": dict.fromkeys((Bpe, WordPiece, Unigram, WordLevel), _encode_batch),
    "decode": {None: _decode},
    "decode_stream": {None: _decode_stream},
    "decode_bytes": {None: _decode_bytes},
    "decode_with_offsets": {None: _decode_with_offsets},
    "train": {Bpe: _bpe_model, WordPiece: _wordpiece_model, Unigram: _unigram_model},
    "count_words": {None: _count_words},
    "base_vocabulary": {Bpe: _base_vocabulary, WordPiece: _wordpiece_alphabet},
    "training_state": {Bpe: _bpe_state, WordPiece: _wordpiece_state},
    "pair_frequencies": {Bpe: _pair_frequencies},
    "pair_scores": {WordPiece: _pair_scores},
    "best_pair": {Bpe: _best_bpe_pair, WordPiece: _best_wordpiece_pair},
    "substring_frequencies": {Unigram: _substring_frequencies},
    "ranked_substrings": {Unigram: _ranked_substrings},
    "initial_vocabulary": {Unigram: _initial_vocabulary},
    "token_probabilities": {Unigram: _token_probabilities},
    "segmentations": {Unigram: _segmentations},
    "nbest": {Unigram: _nbest},
    "viterbi": {Unigram: _viterbi},
    "segment": {Unigram: _segment},
    "loss": {Unigram: _loss},
    "loss_increase": {Unigram: _loss_increase},
    "prune_step": {Unigram: _prune_step},
    "training_trace": {Bpe: _bpe_steps, WordPiece: _wordpiece_steps, Unigram: _unigram_sizes},
}


_CLAUSE = re.compile(r"\b(?!GPT-|UTF-)[A-Z]+(?:-[A-Z]+)*-\d+\b")


def functions_by_clause() -> dict[str, tuple[str, ...]]:
    """Return, for each clause, the functions and classes of the reference in which its id stands.

    >>> functions_by_clause()["BPE-TRAIN-5"]
    ('bpe.count_pairs',)
    """
    found: dict[str, list[str]] = {}
    for file in sorted(Path(inspect.getfile(tokref)).parent.glob("*.py")):
        lines = file.read_text("utf-8").splitlines()
        for node in ast.parse("\n".join(lines)).body:
            name = getattr(node, "name", None) or _assigned_name(node)
            for clause in _CLAUSE.findall("\n".join(lines[node.lineno - 1 : node.end_lineno])) if name else ():
                found.setdefault(clause, []).append(f"{file.stem}.{name}")
    return {clause: tuple(dict.fromkeys(names)) for clause, names in sorted(found.items())}


def _assigned_name(node: ast.stmt) -> str:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")
