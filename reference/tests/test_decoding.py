from __future__ import annotations

import pytest

from tokref import Bpe, Choices, InputError, Tokenizer, decode, from_mapping, join_wordpiece, tokens_of

BYTE_LEVEL = from_mapping({"decoder": {"type": "byte_level"}})
METASPACE = from_mapping({"decoder": {"type": "metaspace"}})
WORDPIECE = from_mapping({"decoder": {"type": "wordpiece"}})
TWO = Tokenizer(Bpe(("a", "b")))


@pytest.mark.parametrize(
    ("tokenizer", "tokens", "expected"),
    [
        (Tokenizer(), [], ""),
        (Tokenizer(), ["a", "##b"], "a ##b"),
        (BYTE_LEVEL, [], ""),
        (BYTE_LEVEL, ["Ġä", "¾Ĩ", "!"], " 來!"),
        (BYTE_LEVEL, ["ä¾", "a"], "\ufffda"),
        (BYTE_LEVEL, ["íłĢ"], "\ufffd\ufffd\ufffd"),
        (BYTE_LEVEL, ["中", "Ġ"], "中 "),
        (METASPACE, ["▁a", "▁▁b"], " a  b"),
        (WORDPIECE, ["##s", "hug", "##s", "pug"], "##s hugs pug"),
    ],
)
def test_tokens_become_text(tokenizer: Tokenizer, tokens: list[str], expected: str) -> None:
    assert decode(tokens, tokenizer, Choices()) == expected


def test_the_space_at_the_start_is_a_choice() -> None:
    removed = Choices(metaspace_leading_space="removed")
    assert decode(["▁▁a", "▁b"], METASPACE, removed) == " a b"
    assert decode(["a", "▁b"], METASPACE, removed) == "a b"


def test_another_prefix() -> None:
    assert join_wordpiece(["a", "@b"], "@") == "ab"


def test_an_unknown_token_or_id_is_refused_or_skipped() -> None:
    with pytest.raises(InputError, match=r"^unknown_id: token 'x' is not in the vocabulary$"):
        decode(["a", "x"], TWO, Choices())
    with pytest.raises(InputError, match=r"^unknown_id: id 2 has no entry in a vocabulary of 2$"):
        tokens_of([0, 2], TWO, Choices())
    with pytest.raises(InputError, match=r"^unknown_id: id -1 has no entry in a vocabulary of 2$"):
        tokens_of([-1], TWO, Choices())
    skipped = Choices(unknown_id="skipped")
    assert decode(["a", "x", "b"], TWO, skipped) == "a b"
    assert tokens_of([1, 2, -1, 0], TWO, skipped) == ["b", "a"]
