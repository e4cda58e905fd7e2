"""How much of the suite a run holds: profiles, chapters and clauses, and what is required of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError
from tokspec.cli import tokspec
from tokspec.judge.known_failures import KnownFailures, read_known_failures
from tokspec.judge.known_failures_update import update_known_failures
from tokspec.judge.runner import Run
from tokspec.judge.scope import check_names, extent, in_profile, shortfalls
from tokspec.judge.verdicts import Result, Verdict
from tokspec.report.text import headline, profile_rows
from tokspec.suite import specification as chapters
from tokspec.suite.cases import Case, bare_case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select
from tokspec.suite.specification import load_specification

ROOT = Path(__file__).parents[2]
SUITE = load_suite().cases
KINDS = ("documents", "tokenizer.json", "sentencepiece", "tiktoken")
PROFILES = (*KINDS, "untrusted-text")


def case(id: str, *clauses: str) -> Case:
    return bare_case(id, "encode", {"text": "b"}, clauses=clauses, file="x.yaml", line=1)


TRAIN, MERGE, BYTES = case("train", "BPE-TRAIN-7"), case("merge", "BPE-ENC-3"), case("bytes", "PRE-BYTE-1", "BPE-ENC-3")
CASES = (TRAIN, MERGE, BYTES)


def ended(**verdicts: Verdict) -> Run:
    results = [Result(each, verdicts[each.id], "", {}) for each in CASES if each.id in verdicts]
    return Run(Hello("mine", "1.0", "C", ("encode",)), {}, tuple(results))


MIXED = ended(train=Verdict.UNSUPPORTED, merge=Verdict.PASS, bytes=Verdict.FAIL)


def test_profiles_are_those_of_the_terms() -> None:
    assert tuple(load_specification().profiles) == PROFILES


def test_every_clause_belongs_to_a_profile_but_those_of_the_protocol() -> None:
    without = {
        clause.chapter
        for clause in load_specification().clauses.values()
        if not clause.profiles and clause.level != "RETIRED"
    }
    assert without == {"10-protocol"}


def test_every_case_belongs_to_a_profile() -> None:
    of = load_specification().is_of
    assert [each.id for each in SUITE.values() if not any(of(profile, each.clauses) for profile in PROFILES)] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_every_clause_of_a_profile_is_asked_about_in_it(profile: str) -> None:
    asked = {id for each in SUITE.values() if load_specification().is_of(profile, each.clauses) for id in each.clauses}
    any_case = {id for each in SUITE.values() for id in each.clauses}
    clauses = [clause.id for clause in load_specification().clauses.values() if profile in clause.profiles]
    assert [id for id in clauses if id in any_case and id not in asked] == []


@pytest.mark.parametrize(
    ("clause", "profiles"),
    [
        ("BPE-TRAIN-7", ("documents",)),
        ("BPE-ENC-3", KINDS),
        ("BPE-ENC-9", ("documents", "tokenizer.json")),
        ("PRE-BYTE-1", ("documents", "tokenizer.json", "tiktoken")),
        ("PRE-BYTE-4", ("documents", "tokenizer.json")),
        ("UNI-PRUNE-1", ("documents",)),
        ("PROTO-1", ()),
        ("TRUST-1", ("untrusted-text",)),
    ],
)
def test_a_clause_belongs_to_the_profiles_of_its_chapter_or_its_own(clause: str, profiles: tuple[str, ...]) -> None:
    assert load_specification().clauses[clause].profiles == profiles


CHAPTER = """\
# A chapter

{line}

### AB-1 (MUST)

A rule.

Source: nobody.

### AB-X-1 (MUST)

A rule.

Source: nobody.

### AB-X-Y-1 (MUST)

A rule.

Source: nobody.
"""


@pytest.fixture(name="read")
def _read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Mapping[str, tuple[str, ...]]]:
    for file in chapters.specification_folder().glob("*.md"):
        (tmp_path / file.name).write_text(file.read_text("utf-8"), "utf-8")

    def read(line: str) -> Mapping[str, tuple[str, ...]]:
        (tmp_path / "99-test.md").write_text(CHAPTER.format(line=line), "utf-8")
        monkeypatch.setattr(chapters, "specification_folder", lambda: tmp_path)
        found = chapters.load_specification.__wrapped__().clauses
        return {id: found[id].profiles for id in ("AB-1", "AB-X-1", "AB-X-Y-1")}

    return read


@pytest.mark.parametrize(
    ("line", "profiles"),
    [
        ("", ((), (), ())),
        ("Profiles: tiktoken.", (("tiktoken",), ("tiktoken",), ("tiktoken",))),
        ("Profiles: tiktoken; AB-X: documents.", (("tiktoken",), ("documents",), ("documents",))),
        ("Profiles: tiktoken; AB-X-Y, AB-1: documents,\nsentencepiece", (("documents", "sentencepiece"), ("tiktoken",), ("documents", "sentencepiece"))),
        ("Profiles: tiktoken; AB-X: documents; AB-X-Y-1: sentencepiece.", (("tiktoken",), ("documents",), ("sentencepiece",))),
    ],
)  # fmt: skip
def test_the_line_of_a_chapter(
    read: Callable[[str], Mapping[str, tuple[str, ...]]], line: str, profiles: tuple[tuple[str, ...], ...]
) -> None:
    assert tuple(read(line).values()) == profiles


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Profiles: tictoken.", "'tictoken' is not a profile; known are documents, tokenizer.json, sentencepiece, tiktoken, untrusted-text"),
        ("Profiles: tiktoken; AB-Z: documents.", "names AB-Z, which is not a clause of this chapter"),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong(
    read: Callable[[str], Mapping[str, tuple[str, ...]]], line: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as error:
        read(line)
    assert str(error.value) == f"{tmp_path}/99-test.md:3: Profiles: {message}"


def test_a_case_belongs_to_a_profile_with_all_of_its_clauses() -> None:
    found = {profile: [result.case.id for result in in_profile(MIXED.results, profile)] for profile in PROFILES}
    assert found == {
        "documents": ["train", "merge", "bytes"],
        "tokenizer.json": ["merge", "bytes"],
        "sentencepiece": ["merge"],
        "tiktoken": ["merge", "bytes"],
        "untrusted-text": [],
    }


def test_one_clause_about_untrusted_text_makes_a_case_one_of_that_profile_alone() -> None:
    spelled = case("spelled", "BPE-ENC-3", "TRUST-1")
    found = [profile for profile in PROFILES if load_specification().is_of(profile, spelled.clauses)]
    assert found == ["untrusted-text"]


def test_what_is_held_is_complete_partial_or_none() -> None:
    assert [extent(in_profile(MIXED.results, profile)) for profile in KINDS] == [
        "partial",
        "partial",
        "complete",
        "partial",
    ]
    assert extent(ended(train=Verdict.UNSUPPORTED, merge=Verdict.KNOWN_FAILURE).results) == "none"


def test_the_table_of_profiles() -> None:
    assert profile_rows(MIXED) == [
        ("profile", ["pass", "fail", "unsupported", "held"]),
        ("documents", ["1", "1", "1", "partial"]),
        ("tokenizer.json", ["1", "1", "·", "partial"]),
        ("sentencepiece", ["1", "·", "·", "complete"]),
        ("tiktoken", ["1", "1", "·", "partial"]),
    ]


def test_a_profile_without_cases_has_no_row() -> None:
    assert [name for name, _ in profile_rows(ended(train=Verdict.PASS))] == ["profile", "documents"]


def test_the_headline_says_how_much_was_asked() -> None:
    honest = replace(MIXED, results=(MIXED.results[1], *[MIXED.results[0]] * 949))
    assert headline(honest) == "mine 1.0 conforms: 1 of 950 cases asked = 1 pass, 949 unsupported"
    assert headline(ended(merge=Verdict.PASS)) == "mine 1.0 conforms: 1 case = 1 pass"


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (("sentencepiece",), []),
        (("BPE-ENC-3",), ["--require BPE-ENC-3: 1 of 2 cases pass (1 fail): bytes"]),
        (("documents",), ["--require documents: 1 of 3 cases pass (1 fail, 1 unsupported): bytes, train"]),
        (("04-bpe",), ["--require 04-bpe: 1 of 2 cases pass (1 unsupported): train"]),
        (("bpe",), ["--require bpe: 1 of 2 cases pass (1 unsupported): train"]),
        (("sentencepiece", "BPE-TRAIN-7", "tiktoken"), ["--require BPE-TRAIN-7: 0 of 1 cases pass (1 unsupported): train", "--require tiktoken: 1 of 2 cases pass (1 fail): bytes"]),
        (("core:bpe",), ["--require core:bpe: 0 of 0 cases pass (it has no cases)"]),
        (("UNI-SEG-2",), ["--require UNI-SEG-2: 0 of 0 cases pass (it has no cases)"]),
    ],
)  # fmt: skip
def test_what_is_required_and_missing(names: Sequence[str], lines: list[str]) -> None:
    assert list(shortfalls(MIXED, CASES, names)) == lines


def test_a_case_that_was_not_selected_did_not_pass() -> None:
    run = ended(merge=Verdict.PASS)
    assert list(shortfalls(run, CASES, ["tiktoken"])) == [
        "--require tiktoken: 1 of 2 cases pass (1 not selected): bytes"
    ]


def test_many_missing_cases_are_counted() -> None:
    many = [replace(TRAIN, id=f"train-{number}") for number in range(9)]
    assert list(shortfalls(ended(), many, ["bpe"])) == [
        "--require bpe: 0 of 9 cases pass (9 not selected): train-0, train-1, train-2 and 6 more"
    ]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("tokenizer.jsn", "did you mean tokenizer.json?"),
        ("unigramm", "did you mean unigram?"),
        ("bpe-enc-3", "did you mean BPE-ENC-3?"),
        ("core:bp", "did you mean core:bpe?"),
        ("?", "profiles are documents, tokenizer.json, sentencepiece, tiktoken, untrusted-text"),
    ],
)
def test_an_unknown_name_is_told(name: str, advice: str) -> None:
    with pytest.raises(DataError) as error:
        check_names(["documents", name])
    assert str(error.value) == f"--require: {name!r} is not a core, a profile, a chapter or a clause; {advice}"


def test_cases_are_selected_by_profile() -> None:
    chosen = select(SUITE.values(), ["profile:tiktoken"])
    assert [each.id for each in chosen] == [
        each.id for each in SUITE.values() if load_specification().is_of("tiktoken", each.clauses)
    ]
    assert 0 < len(chosen) < len(SUITE)


def test_cases_are_selected_by_core_and_by_its_whole_name_alone() -> None:
    chosen = select(SUITE.values(), ["core:bpe"])
    assert {each.id for each in chosen} == {*load_specification().cores["bpe"]}
    with pytest.raises(DataError):
        select(SUITE.values(), ["bpe"])


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(tokspec, ["run", "--in-process", *arguments], standalone_mode=False)
    return result.return_value or result.exit_code, result.output


PASSES: dict[str, Any] = json.loads((ROOT / "conformance" / "adapters" / "passes.json").read_text("utf-8"))


@pytest.mark.parametrize("core", load_specification().cores)
def test_a_core_is_of_cases_without_choices_that_three_engines_pass(core: str) -> None:
    engines = {name: each["family"] for name, each in PASSES["implementations"].items()}
    wrong = []
    for id in load_specification().cores[core]:
        case = SUITE[id]
        who = {engines[name] for name in PASSES["cases"].get(id, ()) if name in engines}
        is_of = core not in PROFILES or load_specification().is_of(core, case.clauses)
        if len(who) < 3 or not is_of or any("by_choice" in question.outcome for question in case.questions):
            wrong.append(f"{id}: {sorted(who)}, {is_of}")
    assert wrong == []


def test_the_gate_holds_a_core() -> None:
    status, printed = invoke("--require", "core:bpe", "--select", "bpe-toy-encode-bug", "--select", "bpe-encode-chain")
    assert (status, [line for line in printed.splitlines() if "--require" in line]) == (
        1,
        [
            "--require core:bpe: 2 of 15 cases pass (13 not selected): "
            "bpe-encode-merge-beyond-bmp, bpe-encode-decomposed, bpe-encode-rank-before-place and 10 more"
        ],
    )


@pytest.mark.slow
def test_the_gate_fails_where_something_required_is_missing() -> None:
    status, printed = invoke("--select", "clause:BPE-ENC-3", "--require", "BPE-ENC-3")
    assert (status, "--require" in printed) == (0, False)
    status, printed = invoke("--select", "bpe-toy-encode-bug", "--require", "tiktoken", "--require", "WP-ENC-2")
    assert status == 1
    *_, tiktoken, wordpiece, last = printed.splitlines()
    assert tiktoken.startswith("--require tiktoken: 1 of ")
    assert wordpiece.startswith("--require WP-ENC-2: 0 of ")
    assert last == "tokref 0.3.0 does not conform: 1 case = 1 pass"


LISTED = """\
unsupported:
  # not yet
  - train  # soon
known_failures:
  - {case: "bytes", verdict: "fail", digest: "0123456789abcdef", reason: "known"}
"""


def known(folder: Path, text: str = LISTED) -> KnownFailures:
    (folder / "known.yaml").write_text(text, "utf-8")
    return read_known_failures(folder / "known.yaml", "known.yaml")


def test_listed_cases_may_be_unsupported_and_no_others(tmp_path: Path) -> None:
    listed = known(tmp_path)
    assert listed.not_offered == {"train": 3}
    assert listed.unsupported(ended(train=Verdict.UNSUPPORTED).results) == ()
    assert listed.unsupported(ended(merge=Verdict.UNSUPPORTED).results) == (
        "known.yaml: merge is unsupported, and not listed as such",
    )
    assert KnownFailures("known.yaml").unsupported(ended(merge=Verdict.UNSUPPORTED).results) == ()


def test_many_new_ones_are_counted(tmp_path: Path) -> None:
    results = [replace(MIXED.results[0], case=replace(MERGE, id=f"merge-{number}")) for number in range(30)]
    *named, last = known(tmp_path).unsupported(results)
    assert (len(named), last) == (10, "known.yaml: 20 more are unsupported")


def test_a_listed_case_that_passes_is_unexpected(tmp_path: Path) -> None:
    (result,) = ended(train=Verdict.PASS).results
    counted = known(tmp_path).apply_to(result, date.max)
    assert (counted.verdict, counted.detail) == (
        Verdict.UNEXPECTED_PASS,
        "passes, but known.yaml:3 lists it as unsupported",
    )


def test_a_listed_case_has_to_be_one(tmp_path: Path) -> None:
    assert known(tmp_path).stale(["bytes"]) == ("known.yaml:3: train is not a case of the suite",)
    with pytest.raises(DataError) as error:
        known(tmp_path, LISTED.replace("- train", "- bytes"))
    assert str(error.value) == "known.yaml:3: unsupported[0]: bytes is listed as failing too; keep one"


ENTRY = '  - {case: "bytes", verdict: "fail", digest: "0123456789abcdef", reason: "known"}\n'


@pytest.mark.parametrize(
    ("old", "verdicts", "new"),
    [
        (LISTED, {"merge": "unsupported"}, LISTED.replace("unsupported:\n", 'unsupported:\n  - "merge"\n')),
        (LISTED, {"train": "pass"}, LISTED.replace("unsupported:\n  # not yet\n  - train  # soon\n", "unsupported: []\n")),
        (LISTED, {}, LISTED),
        (f"unsupported: []\nknown_failures:\n{ENTRY}", {"merge": "unsupported", "train": "unsupported"}, f'unsupported:\n  - "merge"\n  - "train"\nknown_failures:\n{ENTRY}'),
        (f'# why\nknown_failures:\n{ENTRY}unsupported: ["train"]\n', {"merge": "unsupported"}, f'# why\nknown_failures:\n{ENTRY}unsupported:\n  - "merge"\n  - "train"\n'),
        (f"known_failures:\n{ENTRY}", {"merge": "unsupported"}, f"known_failures:\n{ENTRY}"),
    ],
    ids=["one more", "one less", "as it was", "from none", "behind the entries", "not wanted"],
)  # fmt: skip
def test_the_list_is_written_anew(tmp_path: Path, old: str, verdicts: Mapping[str, str], new: str) -> None:
    run = ended(**{case: Verdict(verdict) for case, verdict in verdicts.items()})
    assert update_known_failures(old, known(tmp_path, old), run, ["train", "merge", "bytes"]) == new


def test_a_comment_is_not_lost(tmp_path: Path) -> None:
    text = f'unsupported: ["train"]  # soon\nknown_failures:\n{ENTRY}'
    with pytest.raises(DataError) as error:
        update_known_failures(
            text, known(tmp_path, text), ended(merge=Verdict.UNSUPPORTED), ["train", "merge", "bytes"]
        )
    assert str(error.value) == "known.yaml: is not updated: write each case of `unsupported` in a line of its own"


@pytest.mark.slow
def test_the_ratchet_of_a_run(tmp_path: Path) -> None:
    file = tmp_path / "known.yaml"
    file.write_text("unsupported: []\nknown_failures: []\n", "utf-8")
    arguments = ("--impl", f"{__name__}:Encoding", "--select", "bpe-toy-*", "--known-failures", str(file))
    status, printed = invoke(*arguments)
    assert status == 1
    assert f"{file}: bpe-toy-train-3 is unsupported, and not listed as such" in printed
    invoke(*arguments, "--update-known-failures")
    assert '  - "bpe-toy-train-3"\n' in file.read_text("utf-8")
    assert invoke(*arguments)[0] == 0


class Encoding:
    """The reference, but for training."""

    def __init__(self) -> None:
        self.reference = ReferenceAdapter()

    def hello(self) -> Hello:
        hello = self.reference.hello()
        return replace(hello, operations=tuple(each for each in hello.operations if "train" not in each))

    def load(self, format: str, content: Any) -> Any:
        return self.reference.load(format, content)

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.reference.run(operation, model, input)
