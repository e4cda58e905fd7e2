"""The minimal reference implementation of the tokspec specification: the specification as code, to be read with it.

One module per chapter, in the order of the prose, after the values that they share:

=====================  ==================================================================
``values``             tokens, models, and the tokenizer around a model
``alignment``          text whose characters know where they came from
``normalization``      chapter 1
``pre_tokenization``   chapter 2
``added_tokens``       chapter 3
``bpe``                chapter 4
``wordpiece``          chapter 5
``unigram``            chapter 6
``decoding``           chapter 7
``choices``            chapter 8
``errors``             chapter 9
``post_processing``    chapter 11
``lengths``            chapter 12
``patterns``           chapter 13
``word_level``         chapter 14
``sentencepiece``      chapter 15
``pipeline``           the stages together: encode, decode, count words
``streams``            chapter 16
=====================  ==================================================================

The package ``reading`` is not a chapter, and no chapter imports it. It checks plain values and makes a tokenizer of
them, and its module ``ceilings`` refuses what asks for very much.

The loops are naive on purpose; the package :mod:`tokfast` computes the same results fast. The id of a clause is at the
line where its rule is applied.
"""

from tokref.alignment import AlignedText
from tokref.bpe import BpeTraining, Target, train_bpe
from tokref.choices import Choices
from tokref.errors import InputError
from tokref.normalization import normalize
from tokref.pipeline import (
    TextPart,
    count_words,
    decode,
    decode_tokens_bytes,
    decode_with_offsets,
    encode,
    encode_inputs,
    encode_parts,
    tokens_of,
)
from tokref.pre_tokenization import pre_tokenize
from tokref.reading import from_mapping
from tokref.streams import Stopped, TextStream, decode_stream, decode_until
from tokref.unigram import UnigramTraining, corpus_loss, prune_step, segment, train_unigram
from tokref.values import (
    AddedToken,
    Bpe,
    Component,
    EncodedToken,
    Encoding,
    Padding,
    Token,
    Tokenizer,
    Truncation,
    Unigram,
    WordLevel,
    WordPiece,
)
from tokref.wordpiece import WordPieceTraining, train_wordpiece

__version__ = "0.3.0"

__all__ = [
    "AddedToken",
    "AlignedText",
    "Bpe",
    "BpeTraining",
    "Choices",
    "Component",
    "EncodedToken",
    "Encoding",
    "InputError",
    "Padding",
    "Stopped",
    "Target",
    "TextPart",
    "TextStream",
    "Token",
    "Tokenizer",
    "Truncation",
    "Unigram",
    "UnigramTraining",
    "WordLevel",
    "WordPiece",
    "WordPieceTraining",
    "__version__",
    "corpus_loss",
    "count_words",
    "decode",
    "decode_stream",
    "decode_tokens_bytes",
    "decode_until",
    "decode_with_offsets",
    "encode",
    "encode_inputs",
    "encode_parts",
    "from_mapping",
    "normalize",
    "pre_tokenize",
    "prune_step",
    "segment",
    "tokens_of",
    "train_bpe",
    "train_unigram",
    "train_wordpiece",
]
