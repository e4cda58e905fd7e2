"""What ``tokspec smoke`` asks: for each operation a question for each type of model, small enough to answer by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

__all__ = ["CONTRADICTORY", "QUESTIONS", "Question"]

Question: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]

_CORPUS: Mapping[str, Any] = {"words": [["hug", 10], ["pug", 5]]}
_HUGS: Mapping[str, Any] = {"words": [["hug", 10]]}

_BPE = {"type": "bpe", "vocabulary": ["b", "g", "h", "u", "ug"], "merges": [["u", "g"]]}
_BYTES = {**_BPE, "pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}}
_WORDPIECE = {"type": "wordpiece", "vocabulary": ["b", "##u", "##g", "##ug"], "decoder": {"type": "wordpiece"}}
_UNIGRAM = {"type": "unigram", "tokens": [["h", 15], ["u", 36], ["g", 20], ["hug", 15]]}

#: Models without a vocabulary, as training needs them.
_BARE_BPE, _BARE_WORDPIECE, _BARE_UNIGRAM = ({"type": name} for name in ("bpe", "wordpiece", "unigram"))
_SPLITTING = {"pre_tokenizer": {"type": "whitespace_split"}}

#: A model whose merge makes a token that it does not have (BPE-MODEL-1).
CONTRADICTORY: Mapping[str, Any] = {"type": "bpe", "vocabulary": ["b", "g", "u"], "merges": [["u", "g"]]}

#: A model and an input of each question; who does not support the first model is asked about the next.
QUESTIONS: Mapping[str, tuple[Question, ...]] = {
    "normalize": (({"normalizer": {"type": "lowercase"}}, {"text": "Hug"}),),
    "pre_tokenize": ((_SPLITTING, {"text": "hug bug"}),),
    "encode": (
        (_BPE, {"text": "bug"}),
        (_WORDPIECE, {"text": "bug"}),
        (_UNIGRAM, {"text": "hug"}),
        (_BYTES, {"text": "bug"}),
    ),
    "decode": (
        (_BPE, {"tokens": ["b", "ug"]}),
        (_WORDPIECE, {"tokens": ["b", "##ug"]}),
        (_UNIGRAM, {"tokens": ["hug"]}),
        (_BYTES, {"tokens": ["b", "ug"]}),
    ),
    "train": (
        (_BARE_BPE, {"corpus": _CORPUS, "merge_count": 1}),
        (_BARE_WORDPIECE, {"corpus": _CORPUS, "vocabulary_size": 5}),
        (_BARE_UNIGRAM, {"corpus": _CORPUS, "initial_size": 6, "vocabulary_size": 5, "fraction": 0.5}),
    ),
    "count_words": ((_SPLITTING, {"corpus": {"texts": ["hug hug pug"]}}),),
    "base_vocabulary": ((_BARE_BPE, {"corpus": _CORPUS}), (_BARE_WORDPIECE, {"corpus": _CORPUS})),
    "training_state": (
        (_BARE_BPE, {"corpus": _CORPUS, "steps": 1}),
        (_BARE_WORDPIECE, {"corpus": _CORPUS, "steps": 1}),
    ),
    "pair_frequencies": ((_BARE_BPE, {"corpus": _CORPUS}),),
    "pair_scores": ((_BARE_WORDPIECE, {"corpus": _CORPUS}),),
    "best_pair": ((_BARE_BPE, {"corpus": _CORPUS}), (_BARE_WORDPIECE, {"corpus": _CORPUS})),
    "substring_frequencies": ((_BARE_UNIGRAM, {"corpus": _CORPUS}),),
    "ranked_substrings": ((_BARE_UNIGRAM, {"corpus": _CORPUS}),),
    "initial_vocabulary": ((_BARE_UNIGRAM, {"corpus": _CORPUS, "initial_size": 5}),),
    "token_probabilities": ((_UNIGRAM, {}),),
    "segmentations": ((_UNIGRAM, {"word": "hug"}),),
    "viterbi": ((_UNIGRAM, {"word": "hug"}),),
    "segment": ((_UNIGRAM, {"word": "hug"}),),
    "loss": ((_UNIGRAM, {"corpus": _HUGS}),),
    "loss_increase": ((_UNIGRAM, {"corpus": _HUGS, "token": "hug"}),),
    "prune_step": ((_UNIGRAM, {"corpus": _HUGS, "fraction": 0.5}),),
    "training_trace": (
        (_BARE_BPE, {"corpus": _CORPUS, "merge_count": 1}),
        (_BARE_WORDPIECE, {"corpus": _CORPUS, "vocabulary_size": 5}),
        (_BARE_UNIGRAM, {"corpus": _CORPUS, "initial_size": 6, "vocabulary_size": 5, "fraction": 0.5}),
    ),
}
