"""tokfast gives what tokref gives, on generated models, texts and corpora.

The quick tests compare few examples of each kind, always the same; the slow ones compare more, and new ones.
``TOKFAST_EXAMPLES=20000 pytest -m slow reference/tests/test_tokfast.py`` compares that many.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tokfast
import tokref
from tokfast import FastTokenizer
from tokfast.normalization import Form, unicode_form
from tokfast.streams import TextStream
from tokfast.values import Cache
from tokref import Choices, Component, InputError, Target, Tokenizer, Unigram, from_mapping, unigram

from .strategies import charsmap, merge_lists

few = settings(max_examples=30, derandomize=True, database=None)
many = settings(max_examples=int(os.environ.get("TOKFAST_EXAMPLES", "300")), derandomize=False)


def compare(*strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a quick test of few examples, and a slow one of many, of a function that compares one."""

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        depths = [few(given(*strategies)(check)), pytest.param(many(given(*strategies)(check)), marks=pytest.mark.slow)]

        @pytest.mark.parametrize("compare_all", depths, ids=["few", "many"])
        def test(compare_all: Callable[[], None]) -> None:
            compare_all()

        return test

    return decorate


CHOICES = st.builds(
    Choices, **{name: st.sampled_from(get_args(hint)) for name, hint in get_type_hints(Choices).items()}
)

PARTS_OF_TEXTS = [
    *"aAbBéÉe\u0301\u0316\u0327ΣσΟİ中ﬁ²가ᄀ\u1161\u11a8\t\n\u200d\u0f73\uff9e\u0334ザ'sĠ▁.¿0\ud800…´",
    *[" "] * 12,
    *["ab", "aab", "<s>", "<s>", "it's", "  "],
]
TEXTS = st.lists(st.sampled_from(PARTS_OF_TEXTS), max_size=14).map("".join) | st.text(max_size=12)

BOOLEANS = st.booleans()
PATTERNS = st.sampled_from(
    [{"string": text} for text in ("a", "ab", " ", "  ", "\u0301", "")]
    + [
        {"regex": text}
        for text in (r"\s+", r"a+?b|b", r"\p{L}+| ?[^\s\p{L}]+", r"\s+(?!\S)|\s+", r"a*", r"(?i:A)$", ".{2}+")
    ]
)
CHARSMAPS = [
    charsmap({}),
    charsmap({"a": "b", "ab": "", "aba": "x", "é": "e", "e\u0301": "é", "  ": " ", "ﬁ": "fi", "\t": " "}),
    charsmap({"²": "2", "A": "a", "ΣΣ": "σ"}),
]
NORMALIZERS = st.recursive(
    st.sampled_from([{"type": name} for name in ("nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip_accents")])
    | st.fixed_dictionaries(
        {"type": st.just("bert")},
        optional=dict.fromkeys(("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), BOOLEANS),
    )
    | st.fixed_dictionaries(
        {"type": st.just("replace"), "pattern": PATTERNS, "content": st.sampled_from(["", "▁", " ", "ab"])}
    )
    | st.fixed_dictionaries({"type": st.just("prepend"), "prefix": st.sampled_from(["", "▁", "ab", "e"])})
    | st.fixed_dictionaries({"type": st.just("strip")}, optional={"left": BOOLEANS, "right": BOOLEANS})
    | st.fixed_dictionaries(
        {
            "type": st.just("precompiled"),
            "charsmap": st.integers(0, len(CHARSMAPS) - 1).map(lambda place: CHARSMAPS[place]),
        }
    ),
    lambda inner: st.builds(lambda found: {"type": "sequence", "normalizers": found}, st.lists(inner, max_size=3)),
    max_leaves=4,
)
BEHAVIORS = st.sampled_from(["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"])
PRE_TOKENIZERS = st.recursive(
    st.sampled_from([{"type": "bert"}, {"type": "whitespace_split"}, {"type": "whitespace"}])
    | st.fixed_dictionaries(
        {"type": st.just("split"), "pattern": PATTERNS, "behavior": BEHAVIORS}, optional={"invert": BOOLEANS}
    )
    | st.fixed_dictionaries({"type": st.just("digits"), "individual_digits": BOOLEANS})
    | st.fixed_dictionaries({"type": st.just("punctuation"), "behavior": BEHAVIORS})
    | st.fixed_dictionaries({"type": st.just("char_delimiter_split"), "delimiter": st.sampled_from("a .^")})
    | st.fixed_dictionaries({"type": st.just("byte_level"), "add_prefix_space": BOOLEANS, "use_regex": BOOLEANS})
    | st.fixed_dictionaries(
        {
            "type": st.just("metaspace"),
            "replacement": st.sampled_from("▁▁_a"),
            "prepend_scheme": st.sampled_from(["always", "first", "never"]),
            "split": BOOLEANS,
        }
    ),
    lambda inner: st.builds(lambda found: {"type": "sequence", "pre_tokenizers": found}, st.lists(inner, max_size=3)),
    max_leaves=3,
)
DECODERS = st.recursive(
    st.sampled_from([{"type": name} for name in ("byte_level", "metaspace", "wordpiece", "byte_fallback", "fuse")])
    | st.fixed_dictionaries({"type": st.just("wordpiece"), "prefix": st.just("a"), "cleanup": BOOLEANS})
    | st.fixed_dictionaries({"type": st.just("replace"), "pattern": PATTERNS, "content": st.sampled_from(["", " b"])})
    | st.fixed_dictionaries(
        {
            "type": st.just("strip"),
            "content": st.sampled_from(" a"),
            "start": st.integers(0, 2),
            "stop": st.integers(0, 2),
        }
    )
    | st.fixed_dictionaries({"type": st.just("bpe"), "suffix": st.sampled_from(["a", "</w>"])}),
    lambda inner: st.builds(lambda found: {"type": "sequence", "decoders": found}, st.lists(inner, max_size=3)),
    max_leaves=4,
)
ADDED_TOKENS = st.lists(
    st.fixed_dictionaries(
        {"content": st.sampled_from(["<s>", "<s>a", "a", "ab", "É", "new", "▁ab", " ", "it's"])},
        optional=dict.fromkeys(("special", "normalized", "lstrip", "rstrip", "single_word"), BOOLEANS),
    ),
    max_size=4,
    unique_by=lambda token: token["content"],
)
POST_PROCESSORS = st.sampled_from(
    [
        {"type": "bert", "cls": ["<s>", 0], "sep": ["x", 7]},
        {"type": "roberta", "cls": ["<s>", 0], "sep": ["x", 7], "add_prefix_space": False},
        {"type": "byte_level"},
    ]
)
LENGTHS = st.sampled_from(
    [
        {},
        {"truncation": {"max_length": 3}},
        {"truncation": {"max_length": 7, "stride": 1, "strategy": "only_first"}},
        {"padding": {"strategy": "batch_longest", "direction": "left"}},
    ]
)
SYMBOLS = st.lists(st.sampled_from([*"abeéAΣσ中▁_ ĠÃ©ÂĊ¡'s.", "\u0301", "\ud800"]), max_size=12, unique=True)
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
UNKNOWN = st.sampled_from([None, "<unk>", "a", "missing"])


@st.composite
def bpe_models(draw: st.DrawFn) -> dict[str, Any]:
    merges = draw(merge_lists() | st.just([("Ġ", "a"), ("▁", "a"), ("a", "a"), ("▁", "aa"), ("a", "b")]))
    tokens = [
        *draw(SYMBOLS),
        "<unk>",
        "<s>",
        *(token for left, right in merges for token in (left, right, left + right)),
    ]
    tokens += draw(st.sampled_from([[], ["<0x61>"], BYTE_TOKENS]))
    parameters = {"fuse_unk": BOOLEANS, "byte_fallback": BOOLEANS, "ignore_merges": BOOLEANS}
    return {
        "type": "bpe",
        "vocabulary": list(dict.fromkeys(tokens)),
        "merges": merges,
        "unknown_token": draw(UNKNOWN),
        **draw(st.fixed_dictionaries({}, optional=parameters)),
    }


@st.composite
def bpe_models_with_affixes(draw: st.DrawFn) -> dict[str, Any]:
    """Merges of symbols with a prefix, a suffix or both, and what they make."""
    prefix, suffix = draw(st.sampled_from(["", "##"])), draw(st.sampled_from(["", "</w>"]))
    tokens = [start + letter + end for start in ("", prefix) for letter in "ab" for end in ("", suffix)]
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 6))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        merges.append((left, right))
        tokens.append(left + right.removeprefix(prefix))
    return {
        "type": "bpe",
        "vocabulary": list(dict.fromkeys(["<unk>", "<s>", *tokens])),
        "merges": draw(st.permutations(merges)),
        "continuing_prefix": prefix,
        "end_of_word_suffix": suffix,
        "unknown_token": draw(UNKNOWN),
    }


@st.composite
def wordpiece_models(draw: st.DrawFn) -> dict[str, Any]:
    prefix = draw(st.sampled_from(["##", "a", ""]))
    starts = [*draw(SYMBOLS), *draw(st.lists(st.text("ab▁Ġ", min_size=1, max_size=4), max_size=6))]
    tokens = ["<unk>", "<s>", *starts, *(prefix + token for token in starts[::-1] if draw(BOOLEANS))]
    model = {"type": "wordpiece", "vocabulary": list(dict.fromkeys(tokens)), "continuing_prefix": prefix}
    return model | {"unknown_token": draw(UNKNOWN), "max_word_length": draw(st.sampled_from([1, 5, 100]))}


@st.composite
def unigram_models(draw: st.DrawFn) -> dict[str, Any]:
    texts = [*draw(SYMBOLS), *draw(st.lists(st.text("ab▁Ġ", min_size=1, max_size=4), max_size=8)), "<unk>", "<s>"]
    kind = draw(st.sampled_from(["frequency", "log_probability"]))
    weights = st.integers(0, 5) | st.floats(0, 9) if kind == "frequency" else st.floats(-9, 2)
    texts += draw(st.sampled_from([[], ["<0x61>"], BYTE_TOKENS]))
    drawn = {text: draw(weights) for text in dict.fromkeys(texts) if text not in BYTE_TOKENS}
    tokens = [[text, drawn.get(text, 0)] for text in dict.fromkeys(texts)]
    model = {"type": "unigram", "tokens": tokens, "weights": kind, "unknown_token": draw(UNKNOWN)}
    return model | {"byte_fallback": draw(BOOLEANS)}


@st.composite
def wordlevel_models(draw: st.DrawFn) -> dict[str, Any]:
    tokens = ["<unk>", "<s>", *draw(st.lists(st.text("ab▁Ġ ", min_size=1, max_size=3), max_size=8, unique=True))]
    return {"type": "wordlevel", "vocabulary": tokens, "unknown_token": draw(st.sampled_from(["<unk>", "missing"]))}


@st.composite
def tokenizers(draw: st.DrawFn) -> Tokenizer:
    models = bpe_models() | bpe_models_with_affixes() | wordpiece_models() | unigram_models() | wordlevel_models()
    content = draw(models | st.just({}))
    known = [
        token if isinstance(token, str) else token[0]
        for key in ("vocabulary", "tokens")
        for token in content.get(key, [])
    ]
    added_tokens = draw(ADDED_TOKENS)
    for number, token in enumerate(added_tokens):
        if known and token["content"] not in known:
            token["id"] = len(known) + number
    stages = {
        "normalizer": draw(st.none() | NORMALIZERS),
        "pre_tokenizer": draw(st.none() | PRE_TOKENIZERS),
        "decoder": draw(st.none() | DECODERS),
        "post_processor": draw(st.none() | POST_PROCESSORS),
        "added_tokens": added_tokens,
        **draw(LENGTHS),
    }
    return from_mapping(content | stages)


LARGE = st.integers(0, 2**53 - 1) | st.integers(2**53 - 8, 2**53 - 1)
CORPORA = st.dictionaries(st.text("ab", max_size=9), st.integers(0, 4), max_size=7) | st.dictionaries(
    st.text("abc#é", max_size=8), st.integers(0, 3) | LARGE, max_size=6
)
WORDS = st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(0, 4) | LARGE, min_size=1, max_size=8)
SPECIAL_TOKENS = st.lists(st.sampled_from(["<s>", "a", "ab", "##a"]), max_size=2, unique=True)
SIZES = st.none() | st.integers(0, 14)
TARGETS = st.builds(Target, SIZES, SIZES, st.integers(0, 3))


def answer(function: Callable[..., Any], *values: Any) -> Any:
    """Return the answer, or the reason of the refusal."""
    try:
        return function(*values)
    except InputError as error:
        return error.reason


@compare(tokenizers(), st.lists(TEXTS, min_size=1, max_size=3), CHOICES)
def test_encoding_with_spans_and_to_ids(tokenizer: Tokenizer, texts: list[str], choices: Choices) -> None:
    fast = FastTokenizer(tokenizer, choices)
    for text in [*texts, texts[0]]:  # once more, as what was encoded before is kept
        tokens = answer(tokref.encode, text, tokenizer, choices)
        assert answer(fast.encode, text) == tokens
        assert answer(fast.encode_ids, text) == (tokens if isinstance(tokens, str) else [token.id for token in tokens])


@compare(tokenizers(), st.lists(st.lists(TEXTS, min_size=1, max_size=2), max_size=3), BOOLEANS, CHOICES)
def test_encoding_of_batches(tokenizer: Tokenizer, inputs: list[list[str]], special: bool, choices: Choices) -> None:
    found = answer(FastTokenizer(tokenizer, choices).encode_inputs, inputs, special)
    assert found == answer(tokref.encode_inputs, inputs, tokenizer, choices, special)


SOME_SPECIAL = st.just("all") | st.lists(st.sampled_from(["<s>", "a", "ab", "aa", "<unk>", "x"]), max_size=3)


@compare(tokenizers(), st.lists(TEXTS, min_size=1, max_size=2), SOME_SPECIAL, SOME_SPECIAL, CHOICES)
def test_encoding_with_some_special_tokens(
    tokenizer: Tokenizer, texts: list[str], allowed: Any, disallowed: Any, choices: Choices
) -> None:
    fast = FastTokenizer(tokenizer, choices)
    for options in ((True, allowed), (True, allowed, disallowed), (True,)):
        found = answer(fast.encode_inputs, [texts], *options)
        assert found == answer(tokref.encode_inputs, [texts], tokenizer, choices, *options)


@compare(tokenizers(), st.lists(st.integers(0, 12), max_size=6), CHOICES)
def test_bytes_and_offsets(tokenizer: Tokenizer, ids: list[int], choices: Choices) -> None:
    fast, byte_level = FastTokenizer(tokenizer, choices), replace(tokenizer, decoder=Component("byte_level"))
    assert answer(fast.decode_tokens_bytes, ids) == answer(tokref.decode_tokens_bytes, ids, tokenizer, choices)
    fast = FastTokenizer(byte_level, choices)
    for name in ("decode_tokens_bytes", "decode_with_offsets"):
        assert answer(getattr(fast, name), ids) == answer(getattr(tokref, name), ids, byte_level, choices)


@compare(bpe_models(), st.lists(st.sampled_from(["a", "ab", "b", "é", "aab", " "]), min_size=65, max_size=90), CHOICES)
def test_long_pieces(content: dict[str, Any], parts: list[str], choices: Choices) -> None:
    tokenizer, text = from_mapping(content), "".join(parts)
    assert answer(FastTokenizer(tokenizer, choices).encode, text) == answer(tokref.encode, text, tokenizer, choices)


@compare(tokenizers(), st.lists(TEXTS, min_size=1, max_size=3), CHOICES)
def test_the_stages_before_the_model(tokenizer: Tokenizer, texts: list[str], choices: Choices) -> None:
    fast = FastTokenizer(tokenizer, choices)
    for text in texts:
        aligned = tokref.AlignedText.from_input(text)
        assert fast.normalize(text) == tokref.normalize(aligned, tokenizer.normalizer, choices).text
        pieces = answer(tokref.pre_tokenize, aligned, tokenizer.pre_tokenizer, choices)
        if not isinstance(pieces, str):
            pieces = [(piece.text, *piece.span(0, len(piece.text))) for piece in pieces]
        assert answer(fast.pre_tokenize, text) == pieces
    words = answer(tokref.count_words, texts, tokenizer, choices)
    found = answer(fast.count_words, texts)
    assert found == words
    assert list(found) == list(words)


@compare(tokenizers(), st.lists(st.integers(-1, 30), max_size=8), st.data(), BOOLEANS, CHOICES)
def test_decoding(tokenizer: Tokenizer, ids: list[int], data: st.DataObject, skips: bool, choices: Choices) -> None:
    fast = FastTokenizer(tokenizer, choices)
    streamed = answer(tokref.decode_stream, ids, tokenizer, choices, skips)
    assert answer(fast.decode_stream, ids, skips) == streamed
    assert answer(fast.tokens_of, ids) == answer(tokref.tokens_of, ids, tokenizer, choices)
    known = list(tokenizer.vocabulary)
    tokens = data.draw(st.lists(st.sampled_from([*known, *known, "Ġb", "▁", "ä¾Ĩ"]), max_size=8))
    assert answer(fast.decode, tokens, skips) == answer(tokref.decode, tokens, tokenizer, choices, skips)


@compare(
    tokenizers(),
    st.lists(st.lists(st.integers(0, 30), max_size=3), max_size=5),
    st.lists(st.sampled_from(["a", "b", " ", "ab", "é", "\ufffd", "aab"]), max_size=3),
    BOOLEANS,
    CHOICES,
)
def test_streams(tokenizer: Tokenizer, steps: list[list[int]], stops: list[str], keeps: bool, choices: Choices) -> None:
    fast = FastTokenizer(tokenizer, choices)

    def parts(stream: tokref.TextStream | TextStream) -> tuple[list[str], str]:
        return [stream.add(step) for step in steps], stream.open

    streamed = answer(parts, tokref.TextStream(tokenizer, choices, keeps))
    assert answer(parts, fast.stream(keeps)) == streamed
    ends: dict[str, Any] = {"stop_ids": [3], "keep_stop": keeps, "prompt": [1, 2]}
    stopped = answer(partial(tokref.decode_until, **ends), steps, tokenizer, choices, stops)
    assert answer(partial(fast.decode_until, **ends), steps, stops) == stopped


@compare(CORPORA, SPECIAL_TOKENS, TARGETS, CHOICES)
def test_training_bpe(words: dict[str, int], special_tokens: list[str], target: Target, choices: Choices) -> None:
    arguments = words, special_tokens, target, choices
    assert tokfast.train_bpe(*arguments) == tokref.train_bpe(*arguments)


@compare(CORPORA, SPECIAL_TOKENS, TARGETS, st.sampled_from(["##", "a", ""]))
@example({"cd": 2**53 - 1, "ab": 2**53 - 2}, [], Target(merge_count=1), "##")  # scores that differ by rounding alone
def test_training_wordpiece(words: dict[str, int], special_tokens: list[str], target: Target, prefix: str) -> None:
    arguments = words, special_tokens, target, prefix
    assert tokfast.train_wordpiece(*arguments) == tokref.train_wordpiece(*arguments)


@compare(WORDS, st.integers(0, 40), st.integers(0, 30), st.sampled_from([0.05, 0.1, 0.29, 0.5, 1.0, 0, 2]))
def test_training_unigram(words: dict[str, int], initial_size: int, size: int, fraction: float) -> None:
    initial = tokfast.initial_vocabulary(words, initial_size)
    assert list(initial.weights.items()) == list(unigram.initial_vocabulary(words, initial_size).weights.items())
    arguments = words, initial_size, size, fraction
    trained, found = answer(tokref.train_unigram, *arguments), answer(tokfast.train_unigram, *arguments)
    assert found == trained
    if not isinstance(trained, str):
        assert list(found.model.weights) == list(trained.model.weights)


@compare(
    WORDS,
    unigram_models(),
    st.sampled_from([0.1, 0.29, 0.5, 1.0, 0, 2]),
    st.text("ab▁", max_size=4),
    st.sampled_from([0.0, 1.0, -2.5]),
)
def test_pruning_and_losses(
    words: dict[str, int], content: dict[str, Any], fraction: float, token: str, start: float
) -> None:
    model = from_mapping(content).model
    assert isinstance(model, Unigram)
    assert answer(tokfast.prune_step, words, model, fraction) == answer(tokref.prune_step, words, model, fraction)
    assert answer(tokfast.loss_increases, words, model) == answer(unigram.loss_increases, words, model)
    assert answer(tokfast.loss_increase, words, model, token) == answer(unigram.loss_increase, words, model, token)
    assert answer(tokfast.corpus_loss, words, model, start) == answer(tokref.corpus_loss, words, model, start)
    for word in words:
        assert answer(tokfast.segment, word, model, start) == answer(tokref.segment, word, model, start)


def test_a_cache_holds_no_long_texts() -> None:
    cache = Cache(len)
    assert [cache[text] for text in ("a", "a" * 257)] == [1, 257]
    assert cache == {"a": 1}


#: Marks of several combining classes, a letter that two of the forms make a mark, and a mark that decomposes into two.
MARKS = "\u0301\u0323\u0334\u0345\u3099\u0f71\uff9e\u0344"


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
@given(st.text(st.sampled_from("aé가ﬁ" + MARKS), max_size=20), st.text(st.sampled_from(MARKS), min_size=32), st.text())
def test_a_long_run_of_marks_is_what_python_makes_of_it(form: Form, before: str, run: str, behind: str) -> None:
    text = before + run + behind
    assert unicode_form(form, text) == unicodedata.normalize(form, text)
