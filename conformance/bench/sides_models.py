"""Encoding by WordPiece and Unigram, and one long word by every model: each function prepares a side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from sides_gpt2 import tokenizer_gpt2
from sides_shared import BERT, CHOICES, METASPACE, Work, encoding, words_of

from tokfast import FastTokenizer, initial_vocabulary
from tokfast.unigram import UnigramEncoder
from tokref import Choices, Tokenizer, Unigram, WordPiece, from_mapping
from tokref.values import number_tokens

__all__ = ["SIDES"]


def wordpiece_vocabulary(text: str) -> list[str]:
    """Make a vocabulary of the text's commonest words and word ends, and of all its characters."""
    counts = Counter(FastTokenizer(BERT, Choices()).count_words([text]))
    common = [word for word, _ in counts.most_common(12_000)]
    ends = Counter(f"##{word[cut:]}" for word in common for cut in range(1, len(word)))
    characters = sorted({*"".join(counts)})
    found = [
        "[UNK]",
        *characters,
        *(f"##{one}" for one in characters),
        *common,
        *(end for end, _ in ends.most_common(9_000)),
    ]
    return [*dict.fromkeys(found)]


def wordpiece_reference(text: str) -> Work:
    model = WordPiece(number_tokens(wordpiece_vocabulary(text)))
    return encoding(text, replace(BERT, model=model), Choices())


def wordpiece_legacy(text: str) -> Work:
    from tokspec.adapters.bert_legacy import BertLegacyAdapter

    vocabulary = "".join(f"{token}\n" for token in wordpiece_vocabulary(text))
    normalizer = {
        "type": "bert",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    beside = {
        "continuing_prefix": "##",
        "unknown_token": "[UNK]",
        "max_word_length": 100,
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "bert"},
    }
    tokenizer, _ = BertLegacyAdapter().load("vocab.txt", {"files": {"vocab.txt": vocabulary}, "beside": beside})
    tokenizer.tokenize("a")
    return lambda: tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))


def unigram_model(text: str) -> Unigram:
    """Make a model of the commonest substrings of the text's commonest words."""
    words = words_of(text, METASPACE)
    common = {word: count for word, count in Counter(words).most_common(20_000) if len(word) <= 16}
    return Unigram({**dict.fromkeys("".join(words), 1), **initial_vocabulary(common, 16_000).weights})


def unigram_reference(text: str) -> Work:
    return encoding(text, replace(METASPACE, model=unigram_model(text)), Choices())


def segmentation(text: str) -> Work:
    encoder = UnigramEncoder(unigram_model(text), Choices())
    words = [piece for piece, _, _ in FastTokenizer(METASPACE, Choices()).pre_tokenize(text)]
    return lambda: [encoder.segment(word).tokens for word in words]


def one_word(text: str, kind: str, length: str) -> Work:
    """Encode the first letters and digits of a text as one word."""
    word = "".join(filter(str.isalnum, text))[: int(length)]
    return encoding(word, *WORD_TOKENIZERS[kind](text, len(word)))


def _bytes_alone(choices: str) -> Callable[[str, int], tuple[Tokenizer, Choices]]:
    """Return what makes GPT-2's tokenizer without the pattern that cuts words."""

    def made(text: str, length: int) -> tuple[Tokenizer, Choices]:
        uncut = from_mapping({"pre_tokenizer": {"type": "byte_level", "use_regex": False}})
        return replace(uncut, model=tokenizer_gpt2().model), CHOICES[choices]

    return made


def _wordpiece(text: str, length: int) -> tuple[Tokenizer, Choices]:
    model = WordPiece(number_tokens(wordpiece_vocabulary(text)), max_word_length=length + 1)
    return Tokenizer(model, BERT.normalizer), Choices()


def _unigram(choices: str) -> Callable[[str, int], tuple[Tokenizer, Choices]]:
    """Return what makes a Unigram tokenizer that knows an unknown token and does not cut words."""

    def made(text: str, length: int) -> tuple[Tokenizer, Choices]:
        weights = {"<unk>": 0, **unigram_model(text).weights}
        return Tokenizer(Unigram(weights, unknown_token="<unk>")), CHOICES[choices]

    return made


#: What each kind of :func:`one_word` encodes with; each gets the text and the length of the word.
WORD_TOKENIZERS: Mapping[str, Callable[[str, int], tuple[Tokenizer, Choices]]] = {
    "single_pass": _bytes_alone("single_pass"),
    "listed": _bytes_alone("listed"),
    "in_vocabulary": _bytes_alone("in_vocabulary"),
    "wordpiece": _wordpiece,
    "piece": _unigram("first_met"),
    "run": _unigram("run"),
}

SIDES: Mapping[str, Callable[..., Work]] = {
    "wordpiece_reference": wordpiece_reference,
    "wordpiece_legacy": wordpiece_legacy,
    "unigram_reference": unigram_reference,
    "segmentation": segmentation,
    "one_word": one_word,
}
