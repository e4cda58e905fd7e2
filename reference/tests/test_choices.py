from __future__ import annotations

import pytest

from tokref import Choices, InputError


def test_the_defaults_are_the_documents_own() -> None:
    assert Choices.from_mapping({}) == Choices(
        bpe_training_tie="first_met",
        bpe_merge_order="single_pass",
        bpe_pairs="listed",
        bpe_unknown_run="each",
        bpe_unknown_without_token="error",
        unigram_tie="any",
        unigram_score_start="one",
        unigram_unknown="piece",
        metaspace_leading_space="kept",
        unknown_id="error",
        final_sigma="contextual",
    )


def test_a_choice_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        Choices.from_mapping({"offset_unit": "byte"})
    assert caught.value.reason == "unsupported"
    assert caught.value.message.startswith("'offset_unit' is no choice; give one of bpe_training_tie, ")
