from __future__ import annotations

import pytest

from tokref import Choices, InputError

NAMES = (
    "bpe_training_tie, bpe_merge_order, bpe_merge_places, bpe_pairs, unknown_token_text, bpe_unknown_run, bpe_unknown_without_token, "
    "merge_outside_vocabulary, duplicate_token, wordpiece_length_unit, unigram_tie, unigram_score_start, "
    "unigram_unknown, unigram_unknown_score, unigram_unknown_without_token, join_without_decoder, "
    "metaspace_leading_space, unknown_id, truncation_odd, wordpiece_cleanup, final_sigma, byte_level_added_tokens, "
    "special_not_allowed, byte_fallback_invalid, pattern_end, pattern_interval_plus, trim_offsets, bert_clean_text, "
    "pattern_posix_class"
)


def test_the_defaults_are_those_of_the_documents() -> None:
    assert Choices.from_mapping({}) == Choices(
        bpe_training_tie="first_met",
        bpe_merge_order="single_pass",
        bpe_merge_places="leftmost",
        bpe_pairs="listed",
        unknown_token_text="entry",
        bpe_unknown_run="each",
        bpe_unknown_without_token="error",
        merge_outside_vocabulary="refused",
        duplicate_token="refused",
        wordpiece_length_unit="code_point",
        unigram_tie="any",
        unigram_score_start="one",
        unigram_unknown="piece",
        unigram_unknown_without_token="error",
        join_without_decoder="space",
        metaspace_leading_space="kept",
        unknown_id="error",
        final_sigma="contextual",
    )


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
