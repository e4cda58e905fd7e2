"""tokfast gives what tiktoken and mistral-common give, for every file of ranks that people ship and every text.

What is looked at are ids, without special tokens and with all of them, the bytes of these ids, and where in the text
each begins. Where the same tokenizer is shipped as a ``tokenizer.json`` too, both forms give the same ids, but for the
texts of which a cause is stated. There is no difference between the libraries and tokfast.
"""

from __future__ import annotations

import json
import unicodedata
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from test_shipped_files import ROWS, TEXTS, file

import tokref
from tokfast import FastTokenizer
from tokref import Choices
from tokspec.formats import read
from tokspec.formats.on_disk import content_of

pytestmark = [pytest.mark.interop, pytest.mark.slow]

RANKS = [name for name, row in ROWS.items() if row.get("format") == "vocab.tiktoken"]
TEKKEN = [name for name, row in ROWS.items() if row.get("format") == "tekken.json"]

BY_RANKS = Choices(bpe_pairs="in_vocabulary", bpe_merge_order="lowest_rank")
BY_MERGES = Choices(bpe_merge_order="lowest_rank")


def tokfast_of(name: str, choices: Choices = BY_RANKS) -> FastTokenizer:
    """Prepare a file; what a program of ranks does before it is not part of tiktoken, and left out."""
    format = ROWS[name].get("format", "tokenizer.json")
    content = content_of(format, file(name))
    if format == "tokenizer.json":
        content = {**content, "post_processor": None}
    return FastTokenizer(tokref.from_mapping(read(format, content)), choices)


def without_normalizer(fast: FastTokenizer) -> FastTokenizer:
    return FastTokenizer(replace(fast.tokenizer, normalizer=None), fast.choices)


def tiktoken_of(name: str) -> Any:
    path = file(name)
    told = json.loads(path.with_suffix(".beside.json").read_text("utf-8"))
    lines = [line.split() for line in path.read_bytes().splitlines() if line]
    return pytest.importorskip("tiktoken").Encoding(
        name,
        pat_str=told["pattern"],
        mergeable_ranks={b64decode(token): int(rank) for token, rank in lines},
        special_tokens=told["special_tokens"],
    )


def differing(ours: Callable[[str], Any], theirs: Callable[[str], Any]) -> list[str]:
    return [text for text in TEXTS if ours(text) != theirs(text)]


@pytest.mark.parametrize("choices", [BY_RANKS, BY_MERGES], ids=["by ranks", "by merges"])
@pytest.mark.parametrize("name", RANKS)
def test_tokfast_agrees_with_tiktoken(name: str, choices: Choices) -> None:
    fast, library = without_normalizer(tokfast_of(name, choices)), tiktoken_of(name)
    assert differing(lambda text: fast.encode_ids(text, []), library.encode_ordinary) == []
    assert differing(fast.encode_ids, lambda text: library.encode(text, allowed_special="all")) == []
    encoded = [library.encode(text, allowed_special="all") for text in TEXTS]
    assert [b"".join(fast.decode_tokens_bytes(ids)) for ids in encoded] == list(map(library.decode_bytes, encoded))
    assert [fast.decode_with_offsets(ids) for ids in encoded] == list(map(library.decode_with_offsets, encoded))


@pytest.mark.parametrize("name", RANKS)
def test_special_tokens_are_allowed_and_disallowed_as_by_tiktoken(name: str) -> None:
    fast, library = without_normalizer(tokfast_of(name)), tiktoken_of(name)
    for allowed in [[token] for token in fast.tokenizer.special_tokens[:2]]:
        ids = differing(
            lambda text, allowed=allowed: fast.encode_ids(text, allowed),
            lambda text, allowed=allowed: library.encode(text, allowed_special={*allowed}, disallowed_special=()),
        )
        assert ids == []
        assert (
            differing(
                lambda text, allowed=allowed: is_refused(fast.encode_inputs, [[text]], True, allowed, "all"),
                lambda text, allowed=allowed: is_refused(library.encode, text, allowed_special={*allowed}),
            )
            == []
        )


def is_refused(encode: Callable[..., Any], *values: Any, **options: Any) -> bool:
    try:
        encode(*values, **options)
    except (ValueError, tokref.InputError):
        return True
    return False


@pytest.mark.parametrize("name", TEKKEN)
def test_tokfast_agrees_with_mistral_common(name: str) -> None:
    """It finds special tokens in no text, and its ids begin behind them."""
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    base = pytest.importorskip("mistral_common.tokens.tokenizers.base")
    fast, library = tokfast_of(name), tekken.Tekkenizer.from_file(file(name))
    assert library.n_words == len(fast.tokenizer.vocabulary)
    assert list(fast.tokenizer.special_tokens) == [library.id_to_piece(id) for id in range(library.num_special_tokens)]

    def encode(text: str) -> Any:
        return library.encode(text, bos=True, eos=True)

    def ours(text: str) -> Any:
        return [library.bos_id, *fast.encode_ids(text, []), library.eos_id]

    assert differing(ours, encode) == []
    policy = base.SpecialTokenPolicy.KEEP
    for text in TEXTS:
        ids = encode(text)
        assert fast.decode(fast.tokens_of(ids)) == library.decode(ids, policy)
        assert fast.decode_tokens_bytes(ids) == [library.id_to_byte_piece(id, policy) for id in ids]


COMPOSED = "the tokenizer.json has NFC as its normalizer, which the program around the ranks does before it"
NAMED = "the tokenizer.json has other special tokens, or more"
SPELLED = "the pattern beside the ranks spells s as [sS], that of the tokenizer.json as (?i:s), which U+017F is too"

#: The two forms of a tokenizer, and the causes of their differences with the minimal text of each.
FORMS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("llama-3-ranks", "llama-3"): {},
    ("llama-3-ranks", "llama-3.1"): {},
    ("o200k", "gpt-4o"): {SPELLED: " I'\u017f"},
    ("o200k", "gpt-oss"): {SPELLED: " I'\u017f"},
    ("qwen-ranks", "qwen-3"): {COMPOSED: "e\u0301", NAMED: "<tool_call>"},
}


@pytest.mark.parametrize(("ranks", "object"), FORMS)
def test_both_forms_of_a_tokenizer_give_the_same_ids(ranks: str, object: str) -> None:
    if ranks not in ROWS:
        pytest.skip(f"{ranks} is not in the manifest")
    left, right, causes = tokfast_of(ranks), tokfast_of(object, BY_MERGES), FORMS[ranks, object]
    for allowed in ("all", []):
        causes_found = set()
        for text in TEXTS:
            if left.encode_ids(text, allowed) != right.encode_ids(text, allowed):
                holds = {
                    COMPOSED: unicodedata.normalize("NFC", text) != text,
                    NAMED: any(token.content in text for token in right.tokenizer.added_tokens),
                    SPELLED: "\u017f" in text,
                }
                cause = next((cause for cause in causes if holds[cause]), None)
                assert cause, text
                causes_found.add(cause)
        assert causes_found == set(causes)
    for text in causes.values():
        assert left.encode_ids(text) != right.encode_ids(text)
