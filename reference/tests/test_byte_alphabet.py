from __future__ import annotations

import pytest
from hypothesis import given
from strategies import TEXTS

from tokref import BYTE_CHARACTERS, InputError, byte_characters, character_bytes, join_byte_level


def test_the_alphabet_is_that_of_gpt_2() -> None:
    own = [byte for byte in range(256) if BYTE_CHARACTERS[byte] == chr(byte)]
    assert own == [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [ord(character) for byte, character in enumerate(BYTE_CHARACTERS) if byte not in own]
    assert moved == list(range(0x100, 0x144))


@given(TEXTS)
def test_text_comes_back(text: str) -> None:
    assert join_byte_level([byte_characters(text)]) == text
    assert join_byte_level(list(byte_characters(text))) == text


def test_a_token_outside_the_alphabet_stands_for_itself() -> None:
    assert character_bytes("Ġ中") == "Ġ中".encode()


@pytest.mark.parametrize("function", [byte_characters, character_bytes])
def test_a_lone_surrogate_has_no_bytes(function: object) -> None:
    with pytest.raises(InputError) as caught:
        function("a\ud800")  # type: ignore[operator]
    assert (caught.value.reason, caught.value.message) == (
        "invalid_input",
        "the lone surrogate U+D800 has no UTF-8; replace it",
    )
