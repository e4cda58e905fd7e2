"""The minimal reference implementation of the tokspec specification."""

from tokref.alignment import AlignedText
from tokref.bert_normalization import bert_normalizer, clean_text, separate_ideographs
from tokref.bpe_encoding import encode_bpe, merge_symbols
from tokref.bpe_training import BpeTraining, Target, base_vocabulary, best_bpe_pair, bpe_state, train_bpe
from tokref.byte_alphabet import BYTE_CHARACTERS, byte_characters, character_bytes
from tokref.choices import Choices
from tokref.corpus import Words, count_words, read_words
from tokref.decoding import join_byte_level, join_metaspace, join_tokens, join_wordpiece
from tokref.errors import InputError
from tokref.model import Bpe, Token, Tokenizer, Unigram, WordPiece
from tokref.normal_forms import UnicodeForm, normalize_unicode
from tokref.normalization import EachCharacter, Lowercase, NormalizerSequence, lowercase, normalize, strip_accents
from tokref.pairs import count_pairs
from tokref.pipeline import decode, encode, encode_ids, tokens_of
from tokref.pre_tokenization import (
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    PreTokenizerSequence,
    WhitespaceSplit,
    pre_tokenize,
    split_bert,
    split_byte_level,
    split_metaspace,
    split_sequence,
    split_whitespace,
)
from tokref.reading import from_mapping
from tokref.special_tokens import split_special_tokens
from tokref.unigram import Segmentation, encode_unigram, segment, segmentations, token_probabilities, viterbi
from tokref.unigram_training import (
    UnigramTraining,
    corpus_loss,
    loss_increase,
    loss_increases,
    prune_step,
    train_unigram,
)
from tokref.unigram_vocabulary import initial_vocabulary, ranked_substrings, strict_substrings
from tokref.wordpiece_encoding import encode_wordpiece
from tokref.wordpiece_training import (
    WordPieceTraining,
    best_wordpiece_pair,
    score_pairs,
    split_wordpiece,
    train_wordpiece,
    wordpiece_alphabet,
    wordpiece_state,
)

__version__ = "0.1.0"

__all__ = [
    "BYTE_CHARACTERS",
    "AlignedText",
    "BertPreTokenizer",
    "Bpe",
    "BpeTraining",
    "ByteLevel",
    "Choices",
    "EachCharacter",
    "InputError",
    "Lowercase",
    "Metaspace",
    "NormalizerSequence",
    "PreTokenizerSequence",
    "Segmentation",
    "Target",
    "Token",
    "Tokenizer",
    "UnicodeForm",
    "Unigram",
    "UnigramTraining",
    "WhitespaceSplit",
    "WordPiece",
    "WordPieceTraining",
    "Words",
    "__version__",
    "base_vocabulary",
    "bert_normalizer",
    "best_bpe_pair",
    "best_wordpiece_pair",
    "bpe_state",
    "byte_characters",
    "character_bytes",
    "clean_text",
    "corpus_loss",
    "count_pairs",
    "count_words",
    "decode",
    "encode",
    "encode_bpe",
    "encode_ids",
    "encode_unigram",
    "encode_wordpiece",
    "from_mapping",
    "initial_vocabulary",
    "join_byte_level",
    "join_metaspace",
    "join_tokens",
    "join_wordpiece",
    "loss_increase",
    "loss_increases",
    "lowercase",
    "merge_symbols",
    "normalize",
    "normalize_unicode",
    "pre_tokenize",
    "prune_step",
    "ranked_substrings",
    "read_words",
    "score_pairs",
    "segment",
    "segmentations",
    "separate_ideographs",
    "split_bert",
    "split_byte_level",
    "split_metaspace",
    "split_sequence",
    "split_special_tokens",
    "split_whitespace",
    "split_wordpiece",
    "strict_substrings",
    "strip_accents",
    "token_probabilities",
    "tokens_of",
    "train_bpe",
    "train_unigram",
    "train_wordpiece",
    "viterbi",
    "wordpiece_alphabet",
    "wordpiece_state",
]
