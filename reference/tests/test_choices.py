from __future__ import annotations

from dataclasses import fields

import pytest

from tokref import Choices, InputError

NAMES = ", ".join(field.name for field in fields(Choices))


def test_given_options_replace_the_defaults() -> None:
    options = {"unknown_id": "skipped", "final_sigma": "plain"}
    assert Choices.from_mapping(options) == Choices(unknown_id="skipped", final_sigma="plain")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"offset_unit": "byte"}, f"'offset_unit' is not a choice; give one of {NAMES}"),
        ({"unigram_tie": "last"}, "'last' is not an option of unigram_tie; give one of any, earliest_start"),
    ],
)
def test_an_unknown_choice_or_option_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Choices.from_mapping(options)
    assert (caught.value.reason, caught.value.message) == ("unsupported", message)
