"""One measurement in a process of its own: ``python reference_sides.py SIDE FILE [ARGUMENT ...]`` prints a JSON object.

It holds the CPU seconds of the work, the peak of the memory that it needed beyond what was there before, and a digest
of the result, by which two sides are known to have done the same. What is imported and loaded first is not counted, and
a first letter is encoded before, so that no side builds its tables in the time of the work.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import tokref
from tokref import Choices, Target, Tokenizer
from tokref.alignment import PlainText

__all__ = ["SIDES"]

HERE = Path(__file__).resolve().parent
DOCUMENT = 1_000_000  # characters; a corpus is cut at the line ends nearest to that

Work = Callable[[], Any]
"""What is measured; the rest of a side prepares it."""

CHOICES: Mapping[str, Choices] = {
    "single_pass": Choices(),
    "listed": Choices(bpe_merge_order="lowest_rank", bpe_training_tie="smallest_ids"),
    "in_vocabulary": Choices(bpe_pairs="in_vocabulary"),
    "first_met": Choices(),
    "smallest_ids": Choices(bpe_training_tie="smallest_ids"),
    "run": Choices(unigram_unknown="run", unigram_score_start="zero"),
}


def corpus(text: str) -> list[str]:
    """Cut a text into documents."""
    documents, begin = [], 0
    while begin < len(text):
        end = text.find("\n", begin + DOCUMENT) + 1 or len(text)
        documents.append(text[begin:end])
        begin = end
    return documents


def words_of(text: str) -> tokref.Words:
    return tokref.count_words(corpus(text), Tokenizer(pre_tokenizer=tokref.ByteLevel()), Choices())


def train_reference(text: str, merges: str, tie: str) -> Work:
    size = len({*text.encode()}) + int(merges)
    documents = corpus(text)
    tokenizer = Tokenizer(pre_tokenizer=tokref.ByteLevel())

    def work() -> list[list[str]]:
        words = tokref.count_words(documents, tokenizer, Choices())
        steps = tokref.train_bpe(words, [], Target(vocabulary_size=size), CHOICES[tie]).steps
        return [[left, right] for left, right, _ in steps]

    return work


def train_tokenizers(text: str, merges: str) -> Work:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    size = len({*text.encode()}) + int(merges)
    documents = corpus(text)

    def work() -> Any:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=1, show_progress=False)
        tokenizer.train_from_iterator(documents, trainer)
        return lambda: json.loads(tokenizer.to_str())["model"]["merges"]

    return work


def train_documents(text: str, merges: str) -> Work:
    words = words_of(text)
    size = len({*text.encode()}) + int(merges)
    steps = documents_module().train_bpe
    return lambda: [[left, right] for left, right, _ in steps(words, [], lambda found, _: found < size)[1]]


def train_merges(text: str, merges: str) -> Work:
    """Train on words that are counted already, as the documents' program is measured."""
    words = words_of(text)
    target = Target(vocabulary_size=len({*text.encode()}) + int(merges))
    return lambda: [[left, right] for left, right, _ in tokref.train_bpe(words, [], target, Choices()).steps]


def gpt2() -> tuple[dict[str, int], list[tuple[str, str]]]:
    folder = Path(sys.argv[2]).parent / "gpt2"
    ids = json.loads((folder / "encoder.json").read_text("utf-8"))
    lines = (folder / "vocab.bpe").read_text("utf-8").splitlines()[1:]
    return ids, [(left, right) for left, right in map(str.split, filter(None, lines))]


def encode_reference(text: str, choices: str) -> Work:
    ids, merges = gpt2()
    model = tokref.Bpe(tuple(ids), merges=tuple(merges))
    return encoding(text, Tokenizer(model, pre_tokenizer=tokref.ByteLevel()), CHOICES[choices])


def encode_spans(text: str, choices: str) -> Work:
    ids, merges = gpt2()
    tokenizer = Tokenizer(tokref.Bpe(tuple(ids), merges=tuple(merges)), pre_tokenizer=tokref.ByteLevel())
    tokref.encode("a", tokenizer, CHOICES[choices])
    return lambda: [token.id for token in tokref.encode(text, tokenizer, CHOICES[choices])]


def encoding(text: str, tokenizer: Tokenizer, choices: Choices) -> Work:
    tokref.encode_ids("a", tokenizer, choices)
    return lambda: tokref.encode_ids(text, tokenizer, choices)


def encode_tokenizers(text: str) -> Work:
    from tokenizers import Tokenizer, models, pre_tokenizers

    ids, merges = gpt2()
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.encode("a")
    return lambda: tokenizer.encode(text).ids


def encode_tiktoken(text: str) -> Work:
    import tiktoken

    encoding = tiktoken.Encoding("gpt2", **tiktoken_arguments(), special_tokens={})
    encoding.encode_ordinary("a")
    return lambda: encoding.encode_ordinary(text)


def encode_educational(text: str) -> Work:
    from tiktoken._educational import SimpleBytePairEncoding

    encoding = SimpleBytePairEncoding(**tiktoken_arguments())
    encoding.encode("a", visualise=None)
    return lambda: encoding.encode(text, visualise=None)


def tiktoken_arguments() -> dict[str, Any]:
    """Give GPT-2's ranks and pattern, the latter as tiktoken publishes it."""
    ranks = {tokref.character_bytes(token): number for token, number in gpt2()[0].items() if token != "<|endoftext|>"}
    pattern = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
    return {"mergeable_ranks": ranks, "pat_str": pattern}


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
    stages = {"normalizer": tokref.bert_normalizer(), "pre_tokenizer": tokref.BertPreTokenizer()}
    return encoding(text, Tokenizer(model, **stages), Choices())


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


def losses(text: str, tokens: str, words: str) -> tuple[tokref.Words, tokref.Unigram]:
    some = dict(islice(words_of(text).items(), int(words)))
    return some, tokref.initial_vocabulary(some, int(tokens))


def losses_reference(text: str, tokens: str, words: str, every: str) -> Work:
    some, model = losses(text, tokens, words)
    return lambda: [*tokref.loss_increases(some, model, Choices()).items()][:: int(every)]


def losses_documents(text: str, tokens: str, words: str, every: str) -> Work:
    """Remove one token of so many, each as the documents' program does."""
    some, model = losses(text, tokens, words)
    return lambda: [*documents_module().loss_increases(some, model.costs, int(every)).items()]


def wordpiece_training(text: str, merges: str) -> Work:
    words = tokref.count_words(corpus(text), Tokenizer(pre_tokenizer=tokref.BertPreTokenizer()), Choices())
    return lambda: tokref.train_wordpiece(words, merge_count=int(merges)).vocabulary


def unigram_training(text: str, size: str) -> Work:
    words = words_of(text)
    return lambda: tokref.train_unigram(words, int(size), int(size) * 9 // 10, 0.1, Choices()).model.vocabulary


def segmentation(text: str) -> Work:
    model = unigram_model(text)
    words = tokref.Metaspace().pieces(PlainText(text))
    return lambda: [tokref.segment(word, model, Choices()).tokens for word in words]


def one_word(text: str, kind: str) -> Work:
    """Encode the letters and digits of a text as one word."""
    word = "".join(filter(str.isalnum, text)) or "a"
    ids, merges = gpt2()
    bytes_alone = {"pre_tokenizer": tokref.ByteLevel(use_regex=False)}
    bpe = Tokenizer(tokref.Bpe(tuple(ids), merges=tuple(merges)), **bytes_alone)
    if kind in CHOICES and kind != "run":
        return encoding(word, bpe, CHOICES[kind])
    if kind == "wordpiece":
        vocabulary = tuple(wordpiece_vocabulary(text))
        return encoding(
            word,
            Tokenizer(tokref.WordPiece(vocabulary, max_word_length=len(word) + 1), tokref.bert_normalizer()),
            Choices(),
        )
    model = unigram_model(text)
    unknown = tokref.Unigram(("<unk>", *model.vocabulary), "<unk>", (0, *model.weights))
    return encoding(word, Tokenizer(unknown), CHOICES["run" if kind == "run" else "first_met"])


def documents_module() -> Any:
    """Give the literal procedures of the documents: the oracle of the reference's tests."""
    sys.path.insert(0, str(HERE.parents[1] / "reference" / "tests"))
    import documents

    return documents


SIDES: Mapping[str, Callable[..., Work]] = {
    name: side
    for name, side in globals().items()
    if name.startswith(("train_", "encode_", "wordpiece_", "unigram_", "losses_", "segmentation", "one_word"))
    and name not in ("wordpiece_vocabulary", "unigram_model")
}


def digest(result: Any) -> str:
    return hashlib.sha256(json.dumps(result() if callable(result) else result).encode()).hexdigest()[:16]


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Prepare, work, and print."""
    side, file, *arguments = sys.argv[1:]
    with open(file, encoding="utf-8", newline="") as opened:
        work = SIDES[side](opened.read(), *arguments)
    before, start = peak(), time.process_time()
    result = work()
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "peak": peak() - before, "digest": digest(result)}))


if __name__ == "__main__":
    main()
