"""The fast sibling of tokref: the same results on the same values, for large corpora and real vocabularies.

=====================  ==========================================================================================
``values``             what the modules share: pieces, parts of encoded pieces, a bounded cache
``patterns``           patterns that are compiled once
``added_tokens``       found by the characters with which they begin
``normalization``      whole texts at once; spans by tokref, once for each distinct word
``charsmap``           character maps, by two characters at a time
``pre_tokenization``   stages that are one run of a pattern each
``bpe``                encoding by a heap of ranks, in parts that no merge joins; training by a queue of pairs
``wordpiece``          encoding up to the longest token, and of whole pieces; training by a queue of pairs
``pairs``              the corpus and the queue that both trainings share
``unigram``            Viterbi along a trie; pruning that segments only what changes
``sentencepiece``      its normalizer; user-defined symbols, found as added tokens are
``decoding``           decoders that are prepared once
``streams``            decoders to which tokens are given one after another
``pipeline``           the stages together: encode, decode, count words
=====================  ==========================================================================================

Values, choices, errors, the reading of models, post-processing and lengths are tokref's. A tokenizer is prepared once,
by :class:`FastTokenizer`; training and losses are functions with tokref's names. That tokfast agrees with tokref
verifies neither: they share authors and types.

>>> from tokref import Choices, from_mapping
>>> wordpiece = from_mapping({"type": "wordpiece", "vocabulary": ["[UNK]", "hug", "##s"]})
>>> FastTokenizer(wordpiece, Choices()).encode_ids("hugs")
[1, 2]
"""

from tokfast.bpe import train_bpe
from tokfast.pipeline import FastTokenizer
from tokfast.unigram import (
    corpus_loss,
    initial_vocabulary,
    loss_increase,
    loss_increases,
    prune_step,
    segment,
    train_unigram,
)
from tokfast.wordpiece import train_wordpiece

__all__ = [
    "FastTokenizer",
    "corpus_loss",
    "initial_vocabulary",
    "loss_increase",
    "loss_increases",
    "prune_step",
    "segment",
    "train_bpe",
    "train_unigram",
    "train_wordpiece",
]
