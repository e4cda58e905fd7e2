"""Every case that names a program is recomputed by it, without the reference; so are all others that it covers.

A note in ``verified_by`` names a program as ``workings/NAME.py``. The programs are beside this file: naive procedures over
exact fractions that import nothing of the reference or the harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import bpe
import pytest
import regex
import special
import stages
import unigram
import white_space
import wordpiece
from cases import Case, all_cases

CASES = all_cases()
PROGRAMS: Mapping[str, Any] = {
    "bpe": bpe,
    "wordpiece": wordpiece,
    "unigram": unigram,
    "white_space": white_space,
    "special": special,
}
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "bpe_training_tie": ("first_met", "smallest_ids"),
    "bpe_merge_order": ("single_pass", "lowest_rank"),
    "bpe_merge_places": ("leftmost", "all"),
    "bpe_pairs": ("listed", "in_vocabulary"),
    "bpe_unknown_run": ("each", "fused"),
    "bpe_unknown_without_token": ("error", "dropped_before_merging", "dropped_after_merging", "kept"),
    "unigram_tie": ("any", "earliest_start"),
    "unigram_unknown": ("piece", "run"),
    "unigram_unknown_score": ("all", "known"),
    "unigram_unknown_without_token": ("error", "dropped", "kept"),
    "merge_outside_vocabulary": ("refused", "ignored"),
    "wordpiece_length_unit": ("code_point", "utf16"),
    "unknown_id": ("error", "skipped"),
    "byte_level_added_tokens": ("alphabet", "utf_8"),
    "special_not_allowed": ("absent", "passed_over"),
}
#: What the programs leave to notes by hand: other stages, and words too long for naive loops.
NOT_COVERED = {
    *("normalize", "decode", "nfd", "nfkd", "lowercase", "strip_accents", "final_sigma", "bert_clean_text"),
    *(
        "metaspace_leading_space",
        "unknown_id",
        "join_without_decoder",
        "byte_fallback_invalid",
        "duplicate_token",
        "merge_outside_vocabulary",
    ),
    *("decode_stream", "decode_until", "encode_batch", "encode_parts", "byte_level_added_tokens"),
    "special_not_allowed",
    *("added_tokens", "vocabulary_ids", "post_processor", "truncation", "padding", "pair", "add_special_tokens"),
    *("ignore_merges", "fuse_unk", "byte_fallback", "continuing_prefix", "end_of_word_suffix", "dropout"),
    *("replace", "prepend", "strip", "precompiled", "sequence", "nmt", "byte_level"),
    *("sentencepiece", "piece_types", "scores"),
    *("split", "digits", "punctuation", "whitespace", "char_delimiter_split", "fixed_length", "unicode_scripts"),
    "a run of marks that only partly composes",
    "letters that compose with what is no mark",
    "marks that are put in order",
    "an added letter that may be dropped before the first text",
    "a word too long for naive loops",
}

PROGRAMS_TEXT = [path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]

NAMED = re.compile(r"\bworkings/(\w+)\.py\b")


def named(case: Case) -> set[str]:
    """Programs that a case says have computed it."""
    return {name for note in case.verified_by for name in NAMED.findall(note)}


def expected(outcome: Mapping[str, Any], choices: Mapping[str, str]) -> Mapping[str, Any]:
    """Follow the options down to ``expect``, ``one_of`` or ``error``."""
    while "by_choice" in outcome:
        ((choice, outcomes),) = outcome["by_choice"].items()
        if choice not in choices:
            raise stages.NotCovered(choice)
        outcome = outcomes[choices[choice]]
    return outcome


def agree(computed: Any, printed: Any, tolerance: Mapping[str, float]) -> bool:
    if isinstance(printed, float):
        computed = float(computed)
        relative, absolute = tolerance.get("relative", 0), tolerance.get("absolute", 0)
        return abs(computed - printed) <= max(absolute, relative * abs(printed))
    if computed is None and isinstance(printed, list):
        return True  # the span of added characters alone, which is not specified
    if isinstance(printed, list):
        return len(computed) == len(printed) and all(
            agree(one, other, tolerance) for one, other in zip(computed, printed, strict=True)
        )
    if isinstance(printed, dict):
        return printed.keys() <= computed.keys() and all(agree(computed[k], printed[k], tolerance) for k in printed)
    return bool(computed == printed)


def combinations(program: Any, operation: str) -> Iterator[dict[str, str]]:
    names = program.CHOICES.get(operation, ())
    for options in product(*(OPTIONS[name] for name in names)):
        yield dict(zip(names, options, strict=True))


def ask(case: Case, program: Any, choices: Mapping[str, str]) -> Any:
    """All right results, or the reason of a refusal."""
    try:
        if program is not special:
            stages.check_covered(case.model, case.input)
            stages.check_model(case.model)
        return program.recompute(case.operation, case.model, case.input, choices)
    except stages.Refused as refused:
        return refused.args[0]


def check(case: Case, program: Any) -> None:
    """Compare every combination of options.

    Raises:
        NotCovered: where the program does not compute such a case.
    """
    for choices in combinations(program, case.operation):
        said = expected(case.outcome, choices)
        computed = ask(case, program, choices)
        if isinstance(computed, str) or "error" in said:
            assert said == {"error": computed}, choices
            continue
        right = said["one_of"] if "one_of" in said else [said["expect"]]
        everywhere = [{key: one[key] for key in right[0]} for one in computed if right[0].keys() <= one.keys()]
        for one in right:
            assert any(agree(other, one, case.tolerance) for other in everywhere), (choices, computed)
        for other in everywhere:
            assert any(agree(other, one, case.tolerance) for one in right), (choices, other)
        assert everywhere, (choices, computed)


CLAIMED = [case for case in CASES.values() if named(case)]
#: What the programs do not know: pairs, what is put in or cut off, and the fields of an encoding that tell of it.
NOT_KNOWN = re.compile(
    "'(pair|add_special_tokens|skip_special_tokens|allowed_special|post_processor|truncation|padding|type_ids|special_tokens_mask|"
    "attention_mask|word_ids|sequence_ids|overflowing)':"
)


def is_known(case: Case) -> bool:
    asked = case.operation not in ("encode_batch", "decode_stream", "decode_bytes", "decode_with_offsets")
    return asked and not NOT_KNOWN.search(repr((case.model, case.input, case.outcome)))


OTHERS = [case for case in CASES.values() if not named(case) and case.model.get("type") in PROGRAMS and is_known(case)]


def wrong(cases: Iterable[tuple[Case, str]]) -> dict[str, str]:
    """Check cases by programs; return what does not agree, and what no program covers that is not on the list."""
    found: dict[str, str] = {}
    for case, program in cases:
        try:
            check(case, PROGRAMS[program])
        except stages.NotCovered as not_covered:
            if named(case) or str(not_covered) not in NOT_COVERED:
                found[case.id] = f"{program} does not cover {not_covered}"
        except AssertionError as error:
            found[case.id] = f"{program}: {error}"
    return found


@pytest.mark.parametrize("file", sorted({case.file for case in (*CLAIMED, *OTHERS)}))
def test_cases_are_recomputed_by_the_programs_they_name_or_those_that_can(file: str, cache: pytest.Cache) -> None:
    """What was right is not computed again in the same checkout, until a case of the file or a program changes."""
    asked = [(case, name) for case in CLAIMED if case.file == file for name in sorted(named(case))]
    asked += [(case, case.model["type"]) for case in OTHERS if case.file == file]
    digest = sha256(repr((asked, PROGRAMS_TEXT)).encode("utf-8", "surrogatepass")).hexdigest()
    place = f"workings/{file.replace('/', '-')}"
    if cache.get(place, "") != digest:
        assert wrong(asked) == {}
        cache.set(place, digest)


@pytest.mark.slow
def test_white_space_is_the_property_of_unicode() -> None:
    assert [number for number in range(0x110000) if regex.match(r"\p{White_Space}", chr(number))] == [
        number for first, last in white_space.RANGES for number in range(first, last + 1)
    ]


def test_the_programs_import_nothing_of_the_project() -> None:
    for path in Path(__file__).parent.glob("*.py"):
        assert not re.search(r"^\s*(import|from) (tokref|tokfast|tokspec)", path.read_text("utf-8"), re.MULTILINE), path


def test_what_was_found_by_brute_force_or_exactly_names_its_program() -> None:
    without = [
        (case.id, note)
        for case in CASES.values()
        for note in case.verified_by
        if (note.startswith("brute force") or "exact fraction" in note) and not NAMED.search(note)
    ]
    assert without == []


def test_a_note_by_hand_says_how() -> None:
    """Twenty characters hold no working."""
    short = [
        (case.id, note)
        for case in CASES.values()
        for note in case.verified_by
        if note.startswith("hand") and len(note) <= 20 and not NAMED.search(note)
    ]
    assert short == []


def test_the_comparison_finds_what_is_wrong() -> None:
    """A changed count, a lost segmentation and a wrong refusal are found, so that agreement means something."""
    case = CASES["unigram-toy-encode-pug"]
    one = {"expect": case.outcome["by_choice"]["unigram_tie"]["earliest_start"]["expect"]}
    wrong = {"by_choice": {"unigram_tie": {"any": one, "earliest_start": one}}}
    for outcome in (wrong, {"error": "unknown_symbol"}, {"expect": {"tokens": ["pug"], "ids": [0]}}):
        changed = Case(case.id, case.model, case.operation, case.input, outcome, (), case.tolerance, case.file)
        with pytest.raises(AssertionError):
            check(changed, unigram)
    assert not agree([Fraction(1, 3)], [0.3333], {"relative": 1e-9})
