"""The operations of ``spec/10-protocol.md``, asked of the reference and shaped as the protocol has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tokref
from tokref import Bpe, InputError, Unigram, WordPiece
from tokspec.adapters.reference_request import Request

__all__ = ["OPERATIONS", "Operation"]

Result = dict[str, Any]


def _normalize(request: Request) -> Result:
    return {"text": tokref.normalize(request.text("text"), request.tokenizer.normalizer, request.choices)}


def _pre_tokenize(request: Request) -> Result:
    pieces = tokref.pre_tokenize(tokref.AlignedText(request.text("text")), request.tokenizer.pre_tokenizer)
    return {"pieces": [[piece.text, *piece.span(0, len(piece.text))] for piece in pieces]}


def _encode(request: Request) -> Result:
    tokens = tokref.encode(request.text("text"), request.tokenizer, request.choices)
    return {
        "tokens": [token.text for token in tokens],
        "ids": [token.id for token in tokens],
        "spans": [[token.start, token.end] for token in tokens],
    }


def _decode(request: Request) -> Result:
    if ("tokens" in request.input) == ("ids" in request.input):
        raise InputError("invalid_input", "decoding needs either tokens or ids")
    if "tokens" in request.input:
        tokens = request.texts("tokens")
    else:
        tokens = tokref.tokens_of(request.numbers("ids"), request.tokenizer, request.choices)
    return {"text": tokref.decode(tokens, request.tokenizer, request.choices)}


def _count_words(request: Request) -> Result:
    return {"words": _rows(request.words())}


def _base_vocabulary(request: Request) -> Result:
    return {"vocabulary": list(tokref.base_vocabulary(request.words(), request.special_tokens))}


def _wordpiece_alphabet(request: Request) -> Result:
    prefix = request.model.continuing_prefix
    return {"vocabulary": list(tokref.wordpiece_alphabet(request.words(), request.special_tokens, prefix))}


def _train_bpe(request: Request) -> tokref.BpeTraining:
    return tokref.train_bpe(request.words(), request.special_tokens, request.target(), request.choices)


def _train_wordpiece(request: Request) -> tokref.WordPieceTraining:
    size, prefix = request.number("vocabulary_size"), request.model.continuing_prefix
    return tokref.train_wordpiece(request.words(), request.special_tokens, size, prefix)


def _train_unigram(request: Request) -> tokref.UnigramTraining:
    sizes = request.number("initial_size"), request.number("vocabulary_size")
    return tokref.train_unigram(request.words(), *sizes, request.fraction(), request.choices)


def _bpe_trained(request: Request) -> Result:
    training = _train_bpe(request)
    return {"vocabulary": list(training.vocabulary), "merges": [[left, right] for left, right, _ in training.steps]}


def _wordpiece_trained(request: Request) -> Result:
    return {"vocabulary": list(_train_wordpiece(request).vocabulary)}


def _unigram_trained(request: Request) -> Result:
    return {"tokens": _weighted(_train_unigram(request).model)}


def _steps(train: Callable[[Request], tokref.BpeTraining | tokref.WordPieceTraining]) -> Callable[[Request], Result]:
    return lambda request: {"steps": [list(step) for step in train(request).steps]}


def _sizes(request: Request) -> Result:
    return {"sizes": list(_train_unigram(request).sizes)}


def _bpe_state(request: Request) -> tokref.BpeTraining:
    return tokref.bpe_state(request.words(), request.special_tokens, request.steps(), request.choices)


def _wordpiece_state(request: Request) -> tokref.WordPieceTraining:
    prefix = request.model.continuing_prefix
    return tokref.wordpiece_state(request.words(), request.special_tokens, request.steps(), prefix)


def _state(train: Callable[[Request], tokref.BpeTraining | tokref.WordPieceTraining]) -> Callable[[Request], Result]:
    def state(request: Request) -> Result:
        training = train(request)
        words = [[list(tokens), count] for tokens, count in training.words]
        return {"vocabulary": list(training.vocabulary), "words": words}

    return state


def _pair_frequencies(request: Request) -> Result:
    counts = tokref.count_pairs(_bpe_state(request).words)
    return {"pairs": request.first([[*pair, count] for pair, count in counts.items()])}


def _pair_scores(request: Request) -> Result:
    scores = tokref.score_pairs(_wordpiece_state(request).words)
    return {"pairs": request.first([[*pair, score] for pair, score in scores.items()])}


def _best_bpe_pair(request: Request) -> Result:
    return _best("count", tokref.best_bpe_pair(_bpe_state(request), request.choices))


def _best_wordpiece_pair(request: Request) -> Result:
    return _best("score", tokref.best_wordpiece_pair(_wordpiece_state(request)))


def _best(key: str, best: tuple[tuple[str, str], float] | None) -> Result:
    if best is None:
        raise InputError("invalid_input", "no pair is left, so none is the best")
    return {"pair": list(best[0]), key: best[1]}


def _substring_frequencies(request: Request) -> Result:
    frequencies = tokref.strict_substrings(request.words())
    return {"frequencies": frequencies, "total": sum(frequencies.values())}


def _ranked_substrings(request: Request) -> Result:
    ranked = tokref.ranked_substrings(request.words())
    return {"substrings": request.first([list(row) for row in ranked]), "count": len(ranked)}


def _initial_vocabulary(request: Request) -> Result:
    model = tokref.initial_vocabulary(request.words(), request.number("initial_size"))
    return {"tokens": request.first(_weighted(model)), "total": model.total}


def _token_probabilities(request: Request) -> Result:
    return {"probabilities": dict(tokref.token_probabilities(request.model))}


def _segmentations(request: Request) -> Result:
    found = tokref.segmentations(request.text("word"), request.model)
    return {"segmentations": [[list(tokens), probability] for tokens, probability in found]}


def _viterbi(request: Request) -> Result:
    table = tokref.viterbi(request.text("word"), request.model, request.choices)
    return {"table": [None if row is None else [list(row.tokens), row.value] for row in table]}


def _segment(request: Request) -> Result:
    tokens, score = tokref.segment(request.text("word"), request.model, request.choices)
    return {"tokens": list(tokens), "score": score}


def _loss(request: Request) -> Result:
    return {"loss": tokref.corpus_loss(request.words(), request.model, request.choices)}


def _loss_increase(request: Request) -> Result:
    token = request.text("token")
    return {"increase": tokref.loss_increase(request.words(), request.model, token, request.choices)}


def _prune_step(request: Request) -> Result:
    removed, left = tokref.prune_step(request.words(), request.model, request.fraction(), request.choices)
    return {"removed": list(removed), "size": len(left.vocabulary)}


def _rows(words: Mapping[str, Any]) -> list[list[Any]]:
    return [list(row) for row in words.items()]


def _weighted(model: Unigram) -> list[list[Any]]:
    return [list(row) for row in zip(model.vocabulary, model.weights, strict=True)]


class Operation(NamedTuple):
    """The function for each type of model; None stands for any model, and none at all."""

    by_model: Mapping[type | None, Callable[[Request], Result]]

    def function(self, model: object) -> Callable[[Request], Result] | None:
        """Find the function for a model.

        >>> OPERATIONS["loss"].function(Bpe()) is None
        True
        """
        return self.by_model.get(type(model), self.by_model.get(None))


OPERATIONS: Mapping[str, Operation] = {
    "normalize": Operation({None: _normalize}),
    "pre_tokenize": Operation({None: _pre_tokenize}),
    "encode": Operation({Bpe: _encode, WordPiece: _encode, Unigram: _encode}),
    "decode": Operation({None: _decode}),
    "train": Operation({Bpe: _bpe_trained, WordPiece: _wordpiece_trained, Unigram: _unigram_trained}),
    "count_words": Operation({None: _count_words}),
    "base_vocabulary": Operation({Bpe: _base_vocabulary, WordPiece: _wordpiece_alphabet}),
    "training_state": Operation({Bpe: _state(_bpe_state), WordPiece: _state(_wordpiece_state)}),
    "pair_frequencies": Operation({Bpe: _pair_frequencies}),
    "pair_scores": Operation({WordPiece: _pair_scores}),
    "best_pair": Operation({Bpe: _best_bpe_pair, WordPiece: _best_wordpiece_pair}),
    "substring_frequencies": Operation({Unigram: _substring_frequencies}),
    "ranked_substrings": Operation({Unigram: _ranked_substrings}),
    "initial_vocabulary": Operation({Unigram: _initial_vocabulary}),
    "token_probabilities": Operation({Unigram: _token_probabilities}),
    "segmentations": Operation({Unigram: _segmentations}),
    "viterbi": Operation({Unigram: _viterbi}),
    "segment": Operation({Unigram: _segment}),
    "loss": Operation({Unigram: _loss}),
    "loss_increase": Operation({Unigram: _loss_increase}),
    "prune_step": Operation({Unigram: _prune_step}),
    "training_trace": Operation({Bpe: _steps(_train_bpe), WordPiece: _steps(_train_wordpiece), Unigram: _sizes}),
}
