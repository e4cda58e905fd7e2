"""What an implementation chooses is found out from its answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tokspec.adapter import Hello, Unsupported
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.cli import tokspec
from tokspec.judge.probe import ChoiceFinding, Probe, probe
from tokspec.protocol.spans import convert_result
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select
from tokspec.suite.specification import load_specification

CASES = list(load_suite().cases.values())
CHOICES = load_specification().choices


def probed(adapter: ReferenceAdapter, *patterns: str) -> Probe:
    with InProcessSession(adapter) as session:
        return probe(session, select(CASES, patterns))


class InBytes(ReferenceAdapter):
    """Counts in bytes of UTF-8, and says nothing about it."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return convert_result(super().run(operation, model, input), input, "byte")


class Silent(ReferenceAdapter):
    """Declares nothing."""

    def hello(self) -> Hello:
        return replace(super().hello(), choices={})


class Decoding(Silent):
    """Decodes and does nothing else."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if operation != "decode":
            raise Unsupported("only decodes")
        return super().run(operation, model, input)


OPTIONS = [
    (name, option)
    for name, choice in CHOICES.items()
    for option in choice.options
    if name not in ("offset_unit", "unigram_tie", "unigram_score_start")  # no case tells the last two
]

#: The quick tests ask for every sixth option, the slow ones for the others.
ONE_OF_SIX = [
    pytest.param(*each, marks=[pytest.mark.slow] if number % 6 else []) for number, each in enumerate(OPTIONS)
]


#: Options of other choices under which alone a choice matters.
BESIDE = {"bpe_merge_places": {"bpe_merge_order": "lowest_rank"}, "unigram_unknown_score": {"unigram_unknown": "run"}}


@pytest.mark.parametrize(("name", "option"), ONE_OF_SIX)
def test_every_option_is_found(name: str, option: str) -> None:
    given = {**BESIDE.get(name, {}), name: option}
    taken = {**load_specification().defaults(), "unigram_tie": "earliest_start", **given}
    found = probed(ReferenceAdapter(given))
    assert found.unexplained == ()
    assert {**taken, **found.declaration} == taken
    assert found.declaration[name] == option


def test_the_unit_of_offsets_is_found() -> None:
    found = probed(InBytes(), "encode", "pre_tokenize")
    assert (found.declaration["offset_unit"], found.unexplained) == ("byte", ())


def test_what_is_laxer_fits_as_well() -> None:
    findings = {finding.choice: finding for finding in probed(ReferenceAdapter(), "UNI-*").findings}
    costs = {"any": 0, "earliest_start": 0}
    assert findings["unigram_tie"] == ChoiceFinding(
        "unigram_tie", ("earliest_start",), ("any", "earliest_start"), {}, costs, 27
    )


class Surface(Silent):
    """Has the text of what is unknown as its token, in capitals, and some of equally probable segmentations."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        if operation != "encode" or "spans" not in result:
            return result
        tokens = [input["text"][start:end].upper() for start, end in result["spans"]]
        return {**result, "tokens": tokens if "<unk>" in result["tokens"] else result["tokens"]}


def test_what_fails_with_every_option_is_not_called_the_strictest() -> None:
    asked = ("unigram-unknown-middle", "unigram-unknown-start", "unigram-unknown-run-of-two")
    (finding,) = (each for each in probed(Surface(), *asked).findings if each.choice == "unigram_unknown")
    assert (finding.options, finding.costs, finding.answered) == (("piece", "run"), {"piece": 3, "run": 3}, 3)


class Half(ReferenceAdapter):
    """Takes one option of a choice for short texts, and declares it, and another one for long texts."""

    def __init__(self) -> None:
        super().__init__({"unigram_unknown": "run"})

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        other = ReferenceAdapter() if len(input.get("text", "")) > 4 else super()
        return other.run(operation, model, input)


def test_an_inconsistent_choice_says_what_each_option_costs_and_misleads_no_other_one() -> None:
    found = {finding.choice: finding for finding in probed(Half(), "UNI-*").findings}
    torn = found["unigram_unknown"]
    assert (torn.options, torn.fitting) == ((), ())
    assert 0 < torn.costs["run"] < torn.costs["piece"] < torn.answered
    for finding in found.values():
        for option in finding.options:
            assert all(finding.costs[option] <= cost for cost in finding.costs.values()), finding


def test_what_cannot_be_told_is_not_declared() -> None:
    found = probed(Decoding())
    refusals = ["merge_outside_vocabulary", "duplicate_token"]
    assert list(found.declaration) == [
        *refusals,
        "join_without_decoder",
        "metaspace_leading_space",
        "unknown_id",
        "wordpiece_cleanup",
        "byte_level_added_tokens",
        "byte_fallback_invalid",
        "pattern_end",
        "pattern_interval_plus",
    ]
    assert [finding.choice for finding in found.findings if finding.doubt] == []
    told = {finding.choice: finding.options for finding in found.findings}
    assert told["bpe_merge_order"] == ("single_pass", "lowest_rank")


def test_the_command_prints_the_declaration() -> None:
    done = CliRunner().invoke(tokspec, ["probe", "--select", "final-sigma-*"], standalone_mode=False)
    apart = [name for name in CHOICES if name != "final_sigma"]
    assert done.stdout.splitlines() == [
        "tokref 0.3.0 takes",
        "choices={",
        '  "final_sigma": "contextual",  # contextual fails 0 of 7, plain fails 7: final-sigma-word and 6 more',
        "}",
        f"undecided, because no case that it answers tells their options apart: {', '.join(apart)}",
    ]
    assert done.return_value == 0


def test_a_program_gets_its_declaration_as_json() -> None:
    program = f"{sys.executable} -m tokspec.sessions.adapter_server tokspec.adapters.reference:ReferenceAdapter"
    words = ["probe", "--select", "final-sigma-*", "--impl", program]
    done = CliRunner().invoke(tokspec, words, standalone_mode=False)
    assert done.stdout.splitlines()[:5] == [
        "tokref 0.3.0 takes",
        '"choices": {',
        '  "final_sigma": "contextual"',
        "}",
        "final_sigma: contextual fails 0 of 7, plain fails 7: final-sigma-word and 6 more",
    ]


def test_a_probe_that_tells_nothing_is_no_success() -> None:
    done = CliRunner().invoke(tokspec, ["probe", "--select", "bpe-toy-encode-bug"], standalone_mode=False)
    assert done.stdout.splitlines()[-1] == "no case that it answers says anything about its choices"
    assert done.return_value == 1


ADAPTERS = """
from dataclasses import replace
from tokspec.adapters.reference import ReferenceAdapter


class Plain(ReferenceAdapter):
    def __init__(self):
        super().__init__({"final_sigma": "plain"})

    def hello(self):
        return replace(super().hello(), choices={})


class Loud(ReferenceAdapter):
    def hello(self):
        return replace(super().hello(), choices={"final_sigma": "\\x1b[31mplain"})


class Torn(Plain):
    def run(self, operation, model, input):
        adapter = Plain() if len(input["text"]) > 3 else ReferenceAdapter()
        return adapter.run(operation, model, input)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("adapter", "line"),
    [
        ("Loud", r"declared wrongly: final_sigma is contextual; hello declares \u001b[31mplain"),
        ("Plain", "not declared: final_sigma is plain; hello says nothing, which means contextual"),
        (
            "Torn",
            "no option fits: final_sigma: plain fails 2 of 7, contextual fails 5: final-sigma-word takes plain, "
            "final-sigma-two-words takes plain, final-sigma-before-full-stop takes contextual, "
            "final-sigma-before-a-cased-mark takes contextual and 3 more",
        ),
    ],
)
def test_the_command_says_what_is_wrong_with_the_declaration(
    adapter: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "probed.py").write_text(ADAPTERS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "probed", raising=False)
    command = ["probe", "--in-process", "--impl", f"probed:{adapter}", "--select", "final-sigma-*"]
    done = CliRunner().invoke(tokspec, command, standalone_mode=False)
    assert (done.exception, done.return_value, done.stdout.splitlines()[-1]) == (None, 1, line)


SILENT = """
from tokspec.adapters.reference import ReferenceAdapter

class Silent(ReferenceAdapter):
    def run(self, operation, model, input):
        raise RuntimeError("not today")
"""


def test_what_never_answers_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "silent.py").write_text(SILENT, "utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["probe", "--in-process", "--impl", "silent:Silent", "--select", "final-sigma-word"]
    done = CliRunner().invoke(tokspec, command, standalone_mode=False)
    said = (
        "no answer to any of the questions (1), so nothing is known about its choices; first final-sigma-word: crash: "
    )
    line = f"{said}RuntimeError: not today (silent.py:6 in run)"
    assert (done.exception, done.return_value, done.stdout.splitlines()[-1]) == (None, 1, line)


PLANTED = Path(__file__).parent / "programs"


@pytest.fixture
def probe_planted(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Sequence[str]], list[str]]:
    """Return a function that probes a tokenizer with a planted behaviour, and returns lines that begin in a way."""
    monkeypatch.syspath_prepend(str(PLANTED))

    def probe_planted(name: str, beginnings: Sequence[str], *patterns: str) -> list[str]:
        selected = [word for pattern in patterns or ("bpe-*",) for word in ("--select", pattern)]
        arguments = ["probe", "--in-process", "--impl", f"planted:{name}", *selected]
        done = CliRunner().invoke(tokspec, arguments, standalone_mode=False)
        assert done.exception is None
        return [line for line in done.stdout.splitlines() if line.startswith(tuple(beginnings))]

    return probe_planted


#: Lines about the choices of BPE's merges.
MERGES = ('  "bpe_merge', '  "bpe_pairs', "undecided: bpe_merge", "undecided: bpe_pairs", "no option fits: bpe_pairs")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "Characters",
            [
                "undecided: bpe_pairs; listed fits best, and fails 9 of 10",
                "undecided: bpe_merge_order; no case that it answers tells single_pass, lowest_rank apart; each fails 7 "
                "of 7",
                "undecided: bpe_merge_places; no case that it answers tells leftmost, all apart; each fails 2 of 2",
            ],
        ),
        (
            "SinglePass",
            [
                '  "bpe_merge_order": "single_pass",       # single_pass fails 0 of 7, lowest_rank fails 4: '
                "bpe-encode-late-merge and 3 more",
                '  "bpe_pairs": "listed",                  # listed fails 0 of 10, in_vocabulary fails 9: '
                "bpe-encode-late-merge and 8 more",
            ],
        ),
        (
            "InVocabulary",
            [
                '  "bpe_pairs": "in_vocabulary",           # in_vocabulary fails 0 of 10, listed fails 3: '
                "bpe-encode-unlisted-pair and 2 more"
            ],
        ),
        (
            "LowestRank",
            [
                '  "bpe_merge_order": "lowest_rank",       # lowest_rank fails 0 of 7, single_pass fails 6: '
                "bpe-encode-late-merge and 5 more",
                '  "bpe_merge_places": "leftmost",         # leftmost fails 0 of 2, all fails 2: '
                "bpe-encode-late-merge-between-places and 1 more",
                '  "bpe_pairs": "listed",                  # listed fails 0 of 10, in_vocabulary fails 3: '
                "bpe-encode-unlisted-pair and 2 more",
            ],
        ),
        (
            "Longest",
            [
                "no option fits: bpe_pairs: in_vocabulary fails 1 of 10, listed fails 2: bpe-encode-unlisted-pair takes "
                "in_vocabulary, bpe-encode-token-without-merge takes in_vocabulary, bpe-encode-rank-or-id takes listed"
            ],
        ),
    ],
)
def test_an_option_is_told_only_where_it_is_well_supported(
    probe_planted: Callable[..., list[str]], name: str, lines: list[str]
) -> None:
    assert probe_planted(name, MERGES) == lines


def test_an_option_that_rests_on_one_case_is_not_told(probe_planted: Callable[..., list[str]]) -> None:
    found = probe_planted("InVocabulary", (*MERGES, "otherwise"), "bpe-encode-unlisted-pair")
    assert found == [
        "undecided: bpe_pairs; that it is in_vocabulary and not listed rests on one case, bpe-encode-unlisted-pair"
    ]


def test_an_option_that_depends_on_a_choice_that_is_not_told_is_not_told_either(
    probe_planted: Callable[..., list[str]],
) -> None:
    asked = ("bpe-encode-late-merge", "bpe-encode-late-merge-twice", "bpe-encode-rank-or-id")
    assert probe_planted("LowestRank", (*MERGES, "otherwise"), *asked) == [
        "undecided: bpe_merge_order; that it is lowest_rank and not single_pass depends on bpe_pairs",
        "undecided: bpe_pairs; that it is listed and not in_vocabulary rests on one case, bpe-encode-rank-or-id",
    ]
