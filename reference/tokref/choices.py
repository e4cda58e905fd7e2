"""The named choices of ``spec/08-choices.md`` as one value, an argument of every function that depends on one.

``offset_unit`` is missing: the reference counts in code points and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

from tokref.errors import InputError


@dataclass(frozen=True)
class Choices:
    """One option of each choice; the defaults are the documents' own.

    >>> Choices(bpe_merge_order="lowest_rank").bpe_training_tie
    'first_met'
    """

    # Of several pairs of the highest count: the one whose first occurrence comes first, or of the smallest ids.
    bpe_training_tie: Literal["first_met", "smallest_ids"] = "first_met"
    # Go through the list of merges once, or look for the lowest rank again after each merge.
    bpe_merge_order: Literal["single_pass", "lowest_rank"] = "single_pass"
    # With lowest_rank: merge in the leftmost place and look again, or in all places at once.
    bpe_merge_places: Literal["leftmost", "all"] = "leftmost"
    # Merge listed pairs alone, or any two whose concatenation is a token, as tiktoken does.
    bpe_pairs: Literal["listed", "in_vocabulary"] = "listed"
    # The text of an unknown token: its entry in the vocabulary, or the text in the input.
    unknown_token_text: Literal["entry", "surface", "surface_in_unigram"] = "entry"
    # An unknown token for each unknown character, or one for a run of them.
    bpe_unknown_run: Literal["each", "fused"] = "each"
    # What an unknown character becomes where the model has no unknown token.
    bpe_unknown_without_token: Literal["error", "dropped_before_merging", "dropped_after_merging", "kept"] = "error"
    # A merge with a token that is not in the vocabulary: refuse the model, or leave the merge out.
    merge_outside_vocabulary: Literal["refused", "ignored"] = "refused"
    # A token that is listed twice: refuse the model, or take its last place for its id.
    duplicate_token: Literal["refused", "last_place"] = "refused"
    # What max_word_length counts.
    wordpiece_length_unit: Literal["code_point", "byte", "utf16"] = "code_point"
    # Of equally probable segmentations: any, or the one whose last token starts earliest, which this reference returns.
    unigram_tie: Literal["any", "earliest_start"] = "any"
    # Where the score of a segmentation starts counting: no longer asked, as requests give an initial_score.
    unigram_score_start: Literal["one", "zero"] = "one"
    # A piece that cannot be segmented is unknown as a whole, or only its unknown characters are.
    unigram_unknown: Literal["piece", "run"] = "piece"
    # With run: the least probable token is looked for among all, or all but the unknown token.
    unigram_unknown_score: Literal["all", "known"] = "all"
    # What is unknown where there is no unknown token: an error, nothing, or itself with no id.
    unigram_unknown_without_token: Literal["error", "dropped", "kept"] = "error"
    # What is between decoded tokens where the model has no decoder.
    join_without_decoder: Literal["space", "nothing"] = "space"
    # Which marks at the start metaspace drops when it decodes.
    metaspace_leading_space: Literal["kept", "removed", "removed_from_first_token", "as_put"] = "kept"
    # An id that has no token: refuse to decode it, or leave it out.
    unknown_id: Literal["error", "skipped"] = "error"
    # Longest_first with an odd room: the first text keeps one more, or the longer one.
    truncation_odd: Literal["first", "longer"] = "first"
    # Cleanup takes spaces out of each token with the space before it, or out of the whole text.
    wordpiece_cleanup: Literal["each_token", "whole_text"] = "each_token"
    # A capital sigma that ends a word becomes ς, or σ as anywhere.
    final_sigma: Literal["contextual", "plain"] = "contextual"
    # An added token decoded by byte_level: its characters name bytes, or its own UTF-8 is used.
    byte_level_added_tokens: Literal["alphabet", "utf_8"] = "alphabet"
    # A special token that is text: not looked for, or found and passed over as a whole.
    special_not_allowed: Literal["absent", "passed_over"] = "absent"
    # Bytes that are not valid UTF-8: all of the run become U+FFFD, or only those of no character.
    byte_fallback_invalid: Literal["run", "byte"] = "run"
    # Where ^ and $ match: at the ends of the text, or of each line.
    pattern_end: Literal["text", "line"] = "text"
    # The + of {n,m}+: gives nothing back, or repeats the repetition.
    pattern_interval_plus: Literal["possessive", "repeated"] = "possessive"
    # Takes off the span as many characters as the token has spaces: white space alone, or any.
    trim_offsets: Literal["white_space", "as_counted"] = "white_space"
    # Which categories of control characters clean_text removes.
    bert_clean_text: Literal["assigned", "cc_cf", "all_c"] = "assigned"
    # A class such as [:alpha:]: the letters of Unicode, or of ASCII.
    pattern_posix_class: Literal["unicode", "ascii"] = "unicode"

    @classmethod
    def from_mapping(cls, options: Mapping[str, str]) -> Choices:
        """Return the given options, and the documents' own where none is given.

        Raises:
            InputError: ``unsupported``, for a choice or an option that does not exist.

        >>> Choices.from_mapping({"unknown_id": "ignored"})
        Traceback (most recent call last):
            ...
        tokref.errors.InputError: unsupported: 'ignored' is not an option of unknown_id; give one of error, skipped
        """
        known = {name: get_args(hint) for name, hint in get_type_hints(cls).items()}
        for name, option in options.items():
            if name not in known:
                raise InputError("unsupported", f"{name!r} is not a choice; give one of {', '.join(known)}")
            if option not in known[name]:
                expected = ", ".join(known[name])
                raise InputError("unsupported", f"{option!r} is not an option of {name}; give one of {expected}")
        return cls(**dict(options))  # type: ignore[arg-type]
