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

    bpe_training_tie: Literal["first_met", "smallest_ids"] = "first_met"
    bpe_merge_order: Literal["single_pass", "lowest_rank"] = "single_pass"
    bpe_merge_places: Literal["leftmost", "all"] = "leftmost"
    bpe_pairs: Literal["listed", "in_vocabulary"] = "listed"
    unknown_token_text: Literal["entry", "surface", "surface_in_unigram"] = "entry"
    bpe_unknown_run: Literal["each", "fused"] = "each"
    bpe_unknown_without_token: Literal["error", "dropped_before_merging", "dropped_after_merging", "kept"] = "error"
    merge_outside_vocabulary: Literal["refused", "ignored"] = "refused"
    duplicate_token: Literal["refused", "last_place"] = "refused"
    wordpiece_length_unit: Literal["code_point", "byte", "utf16"] = "code_point"
    unigram_tie: Literal["any", "earliest_start"] = (
        "any"  # never asked: earliest_start is always taken, which is any too
    )
    unigram_score_start: Literal["one", "zero"] = "one"  # never asked: scores start at the initial_score of the request
    unigram_unknown: Literal["piece", "run"] = "piece"
    unigram_unknown_score: Literal["all", "known"] = "all"
    unigram_unknown_without_token: Literal["error", "dropped", "kept"] = "error"
    join_without_decoder: Literal["space", "nothing"] = "space"
    metaspace_leading_space: Literal["kept", "removed", "removed_from_first_token", "as_put"] = "kept"
    unknown_id: Literal["error", "skipped"] = "error"
    truncation_odd: Literal["first", "longer"] = "first"
    wordpiece_cleanup: Literal["each_token", "whole_text"] = "each_token"
    final_sigma: Literal["contextual", "plain"] = "contextual"
    byte_level_added_tokens: Literal["alphabet", "utf_8"] = "alphabet"
    special_not_allowed: Literal["absent", "passed_over"] = "absent"
    byte_fallback_invalid: Literal["run", "byte"] = "run"
    pattern_end: Literal["text", "line"] = "text"
    pattern_interval_plus: Literal["possessive", "repeated"] = "possessive"
    trim_offsets: Literal["white_space", "as_counted"] = "white_space"
    bert_clean_text: Literal["assigned", "cc_cf", "all_c"] = "assigned"
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
