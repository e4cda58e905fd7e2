from __future__ import annotations

import inspect
import re

import tokref

NAMES = [
    "AlignedText",
    "BYTE_CHARACTERS",
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
    "Unigram",
    "UnicodeForm",
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


def test_the_public_names_are_locked() -> None:
    assert sorted(tokref.__all__) == sorted(NAMES)


def test_every_public_function_has_an_example_and_nearly_every_one_a_clause() -> None:
    functions = {name: value for name in NAMES if inspect.isfunction(value := getattr(tokref, name))}
    assert [name for name, function in functions.items() if ">>> " not in (function.__doc__ or "")] == []
    without = [name for name, function in functions.items() if not re.search(r"Clauses: ", function.__doc__ or "")]
    assert without == ["split_wordpiece"]


def test_the_reference_knows_nothing_of_the_harness() -> None:
    modules = [inspect.getsource(module) for _, module in inspect.getmembers(tokref, inspect.ismodule)]
    assert len(modules) > 20
    assert [source for source in modules if "tokspec." in source] == []
