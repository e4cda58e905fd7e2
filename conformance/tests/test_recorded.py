"""What is recorded of a run: the reasons of known failures, with what the library said."""

from __future__ import annotations

import pytest

from tokspec.adapter import Hello
from tokspec.judge.runner import Run
from tokspec.judge.verdicts import Result, Verdict
from tokspec.protocol.messages import Fault, Refused, Reply
from tokspec.results.recorded import Bug, Library
from tokspec.suite.fixtures import load_suite

CASES = load_suite().cases


def run_of(*failures: tuple[str, str, Reply]) -> Run:
    results = [Result(CASES[case], Verdict.KNOWN_FAILURE, reason, {}, reply) for case, reason, reply in failures]
    return Run(Hello("port", "2", "Go", operations=("encode",)), {}, tuple(results))


@pytest.mark.parametrize(
    ("reply", "messages"),
    [
        (Fault("crash", "exit status 1; standard error ends '2026/11/30 14:28:02 No pair | goroutine 1'"), ["No pair"]),
        (Fault("crash", "exit status 1; standard error ends 'No pair'"), ["No pair"]),
        (Refused("invalid_model", "no 'a'"), ["no 'a'"]),
        (Fault("crash", "panic: /root/go/pkg/mod/port/cut.go:17: no pair"), ["cut.go:17: no pair"]),
        (
            Fault("crash", "thread 'main' (4711) panicked at src/cut.rs:17:9: | no pair"),
            ["thread 'main' panicked at src/cut.rs:17:9: no pair"],
        ),
        (Refused("unsupported", "not offered"), []),
    ],
)
def test_the_first_line_of_a_message_is_recorded(reply: Reply, messages: list[str]) -> None:
    (bug,) = Library.of(run_of(("bpe-toy-encode-mug", "Ends.", reply))).bugs
    assert bug == Bug("Ends.", "bpe-toy-encode-mug", 1, ["bpe"], messages)


def test_kinds_of_model_and_two_messages_of_a_reason_are_recorded() -> None:
    unigram, stage = "added-token-not-special-unigram", "empty-sequence"
    failures = [
        ("bpe-toy-encode-mug", "Ends.", Fault("crash", f"no {word} at {place}"))
        for place, word in enumerate(("pair", "pair", "text", "end"))
    ]
    more = ((unigram, "Ends.", Refused("invalid_model", "")), (stage, "Cuts.", Refused("invalid_model", "no")))
    assert Library.of(run_of(*failures, *more)).bugs == [
        Bug("Ends.", "bpe-toy-encode-mug", 5, ["bpe", "unigram"], ["no pair at 1", "no text at 2"]),
        Bug("Cuts.", stage, 1, [], ["no"]),
    ]


def test_a_reason_of_the_same_release_keeps_its_messages() -> None:
    first = Library.of(run_of(("bpe-toy-encode-mug", "Ends.", Fault("crash", "out of memory at 17"))))
    again = run_of(
        ("bpe-toy-encode-mug", "Ends.", Fault("crash", "killed")),
        ("bpe-toy-encode-bug", "Cuts.", Fault("crash", "killed")),
    )
    kept = [bug.messages for bug in Library.of(again, {first.name: first}).bugs]
    assert kept == [["out of memory at 17"], ["killed"]]
    assert [bug.messages for bug in Library.of(again, {"port 1": first}).bugs] == [["killed"], ["killed"]]
