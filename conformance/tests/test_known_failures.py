"""The list of known failures is a ratchet: what it lists is held to it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import DataError, Unsupported
from tokspec.judge.known_failures import KnownFailures, digest, read_known_failures
from tokspec.judge.known_failures_update import update_known_failures
from tokspec.judge.runner import Run, run
from tokspec.report.github import write_outputs
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select

SUITE = load_suite().cases
CASES = select(SUITE.values(), ["bpe-toy-encode-bug", "bpe-toy-encode-mug", "bpe-toy-encode-thug"])


class Spelling(ReferenceAdapter):
    """Writes the tokens with this letter otherwise."""

    letter = "m"
    instead = "M"

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        return {**result, "tokens": [self.instead]} if self.letter in input["text"] else result


class SpellingOtherwise(Spelling):
    instead = "?"


class Crashing(ReferenceAdapter):
    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ZeroDivisionError


def judged(adapter: ReferenceAdapter, known: KnownFailures | None = None) -> Run:
    with InProcessSession(adapter) as session:
        return run(session, CASES, known=known)


def outcomes(run: Run) -> list[tuple[str, str]]:
    return [(result.verdict.value, result.detail) for result in run.results]


MUG = digest(judged(Spelling()).results[1])

TEXT = f"""\
# Ours.

known_failures:
  # The m is hard.
  - case: "bpe-toy-encode-mug"
    verdict: "fail"
    digest: "{MUG}"  # of the first release
    reason: "m is written M"
    link: "https://example.org/1"
"""


def known(folder: Path, text: str = TEXT) -> KnownFailures:
    file = folder / "known.yaml"
    file.write_text(text, "utf-8")
    return read_known_failures(file, "known.yaml")


def test_what_fails_as_listed_is_known(tmp_path: Path) -> None:
    finished = judged(Spelling(), known(tmp_path))
    assert outcomes(finished) == [("pass", ""), ("known failure", "m is written M"), ("pass", "")]
    assert (finished.is_green, finished.holds_list, finished.state) == (
        True,
        True,
        "matches its list of known failures",
    )
    assert list(write_outputs(finished))[1:3] == ["conforms=true", "holds=true"]


def test_faults_that_no_case_shows_stay_in_the_file_and_fail_nothing(tmp_path: Path) -> None:
    text = TEXT.replace("known_failures:", "faults:\n  - hangs at night\nknown_failures:", 1)
    entries = known(tmp_path, text)
    finished = judged(Spelling(), entries)
    assert (finished.faults, finished.problems, finished.is_green) == (("hangs at night",), (), True)
    updated = update_known_failures(text, entries, judged(SpellingOtherwise()), SUITE)
    assert updated == text.replace(MUG, digest(judged(SpellingOtherwise()).results[1]))


def test_what_passes_is_an_unexpected_pass(tmp_path: Path) -> None:
    finished = judged(ReferenceAdapter(), known(tmp_path))
    detail = "passes, but known.yaml:5 lists it as failing"
    assert outcomes(finished) == [("pass", ""), ("unexpected pass", detail), ("pass", "")]
    assert not finished.is_green


def test_what_fails_otherwise_fails(tmp_path: Path) -> None:
    finished = judged(SpellingOtherwise(), known(tmp_path))
    detail = "wrong answer (and not as known.yaml:5 lists it)"
    assert outcomes(finished) == [("pass", ""), ("fail", detail), ("pass", "")]


def test_what_crashes_is_not_known_as_a_wrong_answer(tmp_path: Path) -> None:
    finished = judged(Crashing(), known(tmp_path))
    assert [verdict for verdict, _ in outcomes(finished)] == ["crash"] * 3
    assert outcomes(finished)[1][1].endswith(" (and not as known.yaml:5 lists it)")


def test_an_entry_counts_until_its_date(tmp_path: Path) -> None:
    entries = known(tmp_path, TEXT + '    expires: "2030-06-30"\n')
    failed = judged(Spelling()).results[1]
    assert entries.apply_to(failed, date(2030, 6, 30)).verdict.value == "known failure"
    late = entries.apply_to(failed, date(2030, 7, 1))
    assert (late.verdict.value, late.detail) == (
        "fail",
        "wrong answer (known until 2030-06-30, says known.yaml:5)",
    )


def test_an_entry_of_what_is_not_offered_is_a_problem_of_the_run(tmp_path: Path) -> None:
    class Refusing(ReferenceAdapter):
        def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
            if input["text"] != "bug":
                raise Unsupported("later")
            return super().run(operation, model, input)

    finished = judged(Refusing(), known(tmp_path, TEXT + '    expires: "2020-06-30"\n'))
    assert outcomes(finished) == [("pass", ""), ("unsupported", "later"), ("unsupported", "later")]
    problem = "known.yaml:5: bpe-toy-encode-mug is listed as failing, and is unsupported now; remove the entry"
    assert (finished.problems, finished.is_green) == ((problem,), False)


def test_an_entry_of_no_case_is_named(tmp_path: Path) -> None:
    entries = known(tmp_path, TEXT.replace("toy-encode-mug", "toy-encode-jug"))
    assert entries.stale(SUITE) == ("known.yaml:5: bpe-toy-encode-jug is not a case of the suite",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}\n", "1: lacks the key known_failures"),
        (TEXT.replace("reason:", "raeson:"), "8: known_failures[0].raeson: is an unknown key; did you mean reason?"),
        (TEXT.replace('"m is written M"', '""'), '8: known_failures[0].reason: "" is shorter than 1 character'),
        (TEXT.replace(MUG, "x"), "7: known_failures[0].digest: \"x\" does not match \"^[0-9a-f]{16}$\""),
        (TEXT + TEXT.partition("hard.\n")[2], "10: known_failures[1].case: bpe-toy-encode-mug is listed in line 5; keep one"),
        (TEXT + '    expires: "2030-02-30"\n', "10: known_failures[0].expires: '2030-02-30' is not a date; write it as 2030-12-31"),
        (TEXT.replace('"fail"', '"pass"'), '6: known_failures[0].verdict: "pass" is not one of the values; known are fail, error, crash, timeout, protocol'),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        known(tmp_path, text)
    assert str(caught.value) == f"known.yaml:{message}"


def test_a_file_is_begun(tmp_path: Path) -> None:
    text = update_known_failures("", KnownFailures(), judged(Spelling()), SUITE)
    assert text == (
        "# Failures that are known; --update-known-failures keeps this file.\n"
        "known_failures:\n"
        '  - case: "bpe-toy-encode-mug"\n'
        '    verdict: "fail"\n'
        f'    digest: "{MUG}"\n'
        '    reason: "not explained yet"\n'
    )
    assert outcomes(judged(Spelling(), known(tmp_path, text)))[1] == ("known failure", "not explained yet")


def test_an_update_changes_what_was_seen_and_nothing_that_people_wrote(tmp_path: Path) -> None:
    entries = known(tmp_path)
    otherwise = judged(SpellingOtherwise(), entries)
    assert update_known_failures(TEXT, entries, otherwise, SUITE) == TEXT.replace(MUG, digest(otherwise.results[1]))
    assert update_known_failures(TEXT, entries, judged(Spelling(), entries), SUITE) == TEXT


def test_an_update_keeps_flow_style(tmp_path: Path) -> None:
    entry = f'{{case: "bpe-toy-encode-mug", verdict: fail, digest: "{MUG}", reason: "verdict: x"}}'
    text = f"known_failures:\n  - {entry}\n"
    entries = known(tmp_path, text)
    otherwise = judged(SpellingOtherwise(), entries)
    assert update_known_failures(text, entries, otherwise, SUITE) == text.replace(MUG, digest(otherwise.results[1]))


def test_entries_are_sorted_with_their_comments(tmp_path: Path) -> None:
    class Both(Spelling):
        letter = "b"

    entries = known(tmp_path)
    text = update_known_failures(TEXT, entries, judged(Both(), KnownFailures()), SUITE)
    assert text.index("encode-bug") < text.index("# The m is hard.") < text.index("encode-mug")
    assert text.endswith(TEXT.partition("known_failures:\n")[2])


def test_an_entry_that_passes_leaves_its_reason(tmp_path: Path) -> None:
    entries = known(tmp_path)
    assert update_known_failures(TEXT, entries, judged(ReferenceAdapter(), entries), SUITE) == (
        "# Ours.\n\nknown_failures: []\n"
        "  # The m is hard.\n"
        '  # bpe-toy-encode-mug passes now; it was listed because: "m is written M"\n'
    )


def test_an_entry_of_no_case_leaves_its_reason(tmp_path: Path) -> None:
    text = TEXT.replace("toy-encode-mug", "toy-encode-jug")
    assert update_known_failures(text, known(tmp_path, text), judged(ReferenceAdapter()), SUITE).endswith(
        '  # bpe-toy-encode-jug is no longer a case of the suite; it was listed because: "m is written M"\n'
    )


def test_nothing_is_learned_where_everything_crashed(tmp_path: Path) -> None:
    entries = known(tmp_path)
    with pytest.raises(DataError) as caught:
        update_known_failures(TEXT, entries, judged(Crashing(), entries), SUITE)
    assert (
        str(caught.value)
        == "known.yaml: is not updated: every result is a crash, a time-out or a broken message, and a list of those alone "
        "is worth nothing, with --list-crashes too; fix that first"
    )


def test_nothing_is_learned_from_a_run_that_was_ended(tmp_path: Path) -> None:
    with InProcessSession(Spelling()) as session:
        finished = run(session, [CASES[1], CASES[0]], max_failures=1)
    with pytest.raises(DataError) as caught:
        update_known_failures("", KnownFailures("known.yaml"), finished, SUITE)
    assert str(caught.value) == (
        "known.yaml: is not updated: bpe-toy-encode-bug came to 'not run'; run all cases that are selected"
    )
