"""Encoding by WordPiece and Unigram, and one long word by every model: each function prepares a side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from sides_shared import CHOICES, Work, corpus, documents_module, encoding, gpt2

import tokref
from tokref import Choices, Tokenizer
from tokref.alignment import PlainText

__all__ = ["SIDES"]


def wordpiece_vocabulary(text: str) -> list[str]:
    """Make a vocabulary of the text's commonest words and word ends, and of all its characters."""
    plain = tokref.bert_normalizer().normalize(text, Choices())
    counts = Counter(tokref.BertPreTokenizer().pieces(PlainText(plain)))
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
    model = tokref.WordPiece(tuple(wordpiece_vocabulary(text)))
    tokenizer = Tokenizer(model, normalizer=tokref.bert_normalizer(), pre_tokenizer=tokref.BertPreTokenizer())
    return encoding(text, tokenizer, Choices())


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


def unigram_model(text: str) -> tokref.Unigram:
    """Make a model of the commonest substrings of the text's commonest words."""
    words = tokref.count_words(corpus(text), Tokenizer(pre_tokenizer=tokref.Metaspace()), Choices())
    common = {word: count for word, count in Counter(words).most_common(20_000) if len(word) <= 16}
    characters = dict.fromkeys("".join(words), 1)
    found = tokref.initial_vocabulary(common, 16_000)
    weights = characters | dict(zip(found.vocabulary, found.weights, strict=True))
    return tokref.Unigram(tuple(weights), weights=tuple(weights.values()))


def unigram_reference(text: str) -> Work:
    return encoding(text, Tokenizer(unigram_model(text), pre_tokenizer=tokref.Metaspace()), Choices())


def unigram_documents(text: str) -> Work:
    """Segment piece by piece, as the document's ``tokenize`` does."""
    model = unigram_model(text)
    costs, ids, encode_word = dict(model.costs), model.ids, documents_module().encode_word
    pieces = tokref.Metaspace().pieces
    aligned = PlainText(text)
    return lambda: [ids[token] for piece in pieces(aligned) for token in encode_word(piece, costs)[0]]


def segmentation(text: str) -> Work:
    model = unigram_model(text)
    words = tokref.Metaspace().pieces(PlainText(text))
    return lambda: [tokref.segment(word, model, Choices()).tokens for word in words]


def one_word(text: str, kind: str, length: str) -> Work:
    """Encode the first letters and digits of a text as one word."""
    word = "".join(filter(str.isalnum, text))[: int(length)]
    return encoding(word, *WORD_TOKENIZERS[kind](text, len(word)))


def _bytes_alone(choices: str) -> Callable[[str, int], tuple[Tokenizer, Choices]]:
    """Give what makes GPT-2's tokenizer without the pattern that cuts words."""

    def made(text: str, length: int) -> tuple[Tokenizer, Choices]:
        ids, merges = gpt2()
        model = tokref.Bpe(tuple(ids), merges=tuple(merges))
        return Tokenizer(model, pre_tokenizer=tokref.ByteLevel(use_regex=False)), CHOICES[choices]

    return made


def _wordpiece(text: str, length: int) -> tuple[Tokenizer, Choices]:
    model = tokref.WordPiece(tuple(wordpiece_vocabulary(text)), max_word_length=length + 1)
    return Tokenizer(model, tokref.bert_normalizer()), Choices()


def _unigram(choices: str) -> Callable[[str, int], tuple[Tokenizer, Choices]]:
    """Give what makes a Unigram tokenizer that knows an unknown token and does not cut words."""

    def made(text: str, length: int) -> tuple[Tokenizer, Choices]:
        model = unigram_model(text)
        unknown = tokref.Unigram(("<unk>", *model.vocabulary), "<unk>", (0, *model.weights))
        return Tokenizer(unknown), CHOICES[choices]

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
    "unigram_documents": unigram_documents,
    "segmentation": segmentation,
    "one_word": one_word,
}
