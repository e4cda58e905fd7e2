"""Several processes of a program that misbehaves: what was promised of one holds for all of them.

Rows and letters are those of ``test_programs``. Each process gets four of the eight cases; the bad one is the fifth.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.runner import run
from tokspec.protocol.messages import Fault, Reply, Request
from tokspec.sessions.limits import Limits
from tokspec.sessions.program import ProgramSession, SessionPool
from tokspec.suite.cases import Case

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[1] / "programs"
PYTHON = [sys.executable, "-S", "-E", str(PROGRAMS / "misbehave.py")]

TRACE = "standard error ends 'Traceback (most recent call last): | no more \\x1b[31mmemory'"
SECOND = {"case_seconds": 1.0}
SILENCE = "no reply within 1 seconds"
MEMORY = {"memory_mb": 250}
EATEN = "used more than 250 MB of memory"

ROWS: list[tuple[str, str, str, Mapping[str, Any]]] = [
    ("good", "PPPPPPPP", "", {}),
    ("backwards", "PPPPPPPP", "", {}),
    ("exits_at_once", "CCCCCCCC", f"before hello: exit status 7; {TRACE}", {}),
    ("exits_0", "PPPPCPPP", f"exit status 0; {TRACE}", {}),
    ("killed", "PPPPCPPP", "killed by SIGKILL", {}),
    ("dies_on_every_case", "CCPCCPCC", "exit status 3", {}),
    ("dies_on_every_load", "CCCCCCCC", "exit status 3", {}),
    ("hangs_at_once", "TTTTTTTT", f"before hello: {SILENCE}", {"start_seconds": 1.0}),
    ("hangs", "PPPPTPPP", SILENCE, SECOND),
    ("late_beside", "PPPPTPPP", SILENCE, SECOND),
    ("ignores_the_end", "PPPPPPPP", "", {}),
    ("leaves_a_child", "PPPPPPPP", "", {}),
    ("leaves_a_child_apart", "PPPPPPPP", "", {}),
    ("dies_and_leaves_a_child_apart", "PPPPCPPP", "exit status 4", {}),
    ("loud", "PPPPPPPP", "", {}),
    ("endless_complaint", "PPPPTPPP", SILENCE, SECOND),
    ("endless_lines", "PPPPOPPP", "a line is not JSON (Expecting value at character 1): 'more'", {}),
    ("endless_line", "PPPPOPPP", "a line is longer than 4194304 bytes", {}),
    ("eats", "PPPPCPPP", EATEN, MEMORY),
    ("child_apart_eats", "PPPPCPPP", EATEN, MEMORY),
    ("refuses", "PPPPUPPP", "not today", {}),
    ("refuses_all", "UUUUUUUU", "no models yet", {}),
    ("claims_a_format", "UUUUUUUU", "no writer for the format spm", {}),
]


@pytest.mark.long
@pytest.mark.parametrize("jobs", [2, 3])
@pytest.mark.parametrize(("name", "verdicts", "detail", "limits"), ROWS, ids=[row[0] for row in ROWS])
def test_programs(
    judge: Callable[..., Any], name: str, verdicts: str, detail: str, limits: Mapping[str, Any], jobs: int
) -> None:
    seen = judge([*PYTHON, name], limits, jobs=jobs)
    assert (seen.verdicts, seen.details, seen.problems) == (verdicts, [detail] * (8 - verdicts.count("P")), ())


@pytest.mark.parametrize(
    ("name", "verdicts", "detail", "limits"),
    [
        ("good", "PPPPPPPP", "", {}),
        ("segfaults", "PPPPCPPP", "killed by SIGSEGV", {}),
        ("hangs_natively", "PPPPTPPP", SILENCE, SECOND),
        ("forks", "PPPPPPPP", "", {}),
        ("returns_none", "PPPPOPPP", "returned a value of type 'NoneType'; a result is a mapping", {}),
    ],
)
def test_adapters(judge: Callable[..., Any], name: str, verdicts: str, detail: str, limits: Mapping[str, Any]) -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "tokspec.sessions.adapter_server",
        f"adapters:{name}",
        str(PROGRAMS),
        *sys.path,
    ]
    seen = judge(command, limits, is_ours=True, jobs=2)
    assert (seen.verdicts, seen.details) == (verdicts, [detail] * (8 - verdicts.count("P")))


def test_a_fault_that_is_nobodys_is_counted_in_every_process(judge: Any) -> None:
    seen = judge([*PYTHON, "dies_after_three"], jobs=2)
    assert (seen.verdicts, seen.problems) == ("PPPPPPPP", ())
    alone = judge([*PYTHON, "dies_after_three"])
    assert (alone.verdicts, alone.problems) == ("PPPPPPPP", ("crash: exit status 6; 1 time, and no case is to blame",))


def joint(name: str, jobs: int = 2, **limits: float) -> SessionPool:
    allowed = Limits(**{"case_seconds": 30.0, "start_seconds": 60.0, **limits})  # type: ignore[arg-type]
    return SessionPool(lambda waits: ProgramSession([*PYTHON, name], allowed, waits=waits), jobs)


def nothing(index: int, reply: Reply) -> int:
    return index


def test_replies_come_in_the_order_of_the_cases(judge: Any) -> None:
    requests = [
        Request("normalize", f"{n % 5}", {"normalizer": {"type": "lowercase"}}, {"text": "T"}) for n in range(50)
    ]
    requests[7] = Request("train", "7", {}, {})
    for session in (joint("good", 3), ProgramSession([*PYTHON, "good"], Limits(30.0, 60.0))):
        with session:
            found = [index for index, _ in session.ask_in_parallel(requests, lambda index, reply: reply)]
        assert found == [*range(50)]


def test_who_wants_no_more_waits_for_nobody(judge: Any, cases: list[Case]) -> None:
    """What the others do when a run ends early, here hang for a minute, is not waited for; and they can be asked again."""
    hugs = next(case for case in cases if case.id == "bpe-toy-encode-hugs")
    with joint("hangs", case_seconds=60.0) as session:
        replies = session.ask_in_parallel([_request(case) for case in (cases[0], hugs)], nothing)
        assert next(replies) == (0, 0)
        replies.close()  # type: ignore[attr-defined]
        assert run(session, cases[:4]).is_green


def test_an_end_of_the_session_ends_what_was_asked(judge: Any, cases: list[Case]) -> None:
    hugs = next(case for case in cases if case.id == "bpe-toy-encode-hugs")
    with joint("hangs", case_seconds=60.0) as session:
        replies = session.ask_in_parallel([_request(case) for case in (cases[0], hugs)], nothing)
        assert next(replies) == (0, 0)


def test_what_goes_wrong_in_taking_a_reply_is_raised(judge: Any, cases: list[Case]) -> None:
    def broken(index: int, reply: Reply) -> None:
        raise RuntimeError(f"{index}")

    with joint("good") as session, pytest.raises(RuntimeError):
        list(session.ask_in_parallel([_request(case) for case in cases], broken))


def test_a_second_process_that_does_not_start_is_the_users_matter(judge: Any, cases: list[Case]) -> None:
    lives = iter((["good"], ["exits_at_once"]))

    def start(waits: bool) -> ProgramSession:
        return ProgramSession([*PYTHON, *next(lives)], waits=waits)

    with SessionPool(start, 2) as session, pytest.raises(DataError) as error:
        run(session, cases)
    begins = "--jobs: could not start worker 2 of 2: crash: exit status 7; "
    assert str(error.value) == f"{begins}{TRACE}; leave the option out"


def test_who_says_hello_otherwise_in_the_second_process_is_not_judged(judge: Any, cases: list[Case]) -> None:
    lives = iter((["good"], ["claims_nothing"]))

    def start(waits: bool) -> ProgramSession:
        return ProgramSession([*PYTHON, *next(lives)], waits=waits)

    with SessionPool(start, 2) as session, pytest.raises(AdapterFault) as error:
        run(session, cases)
    assert str(error.value) == "protocol: hello of worker 2 differs from that of the first"


def test_a_model_that_cannot_be_used_is_one_for_every_process(judge: Any) -> None:
    requests = [Request("normalize", "m", {"normalizer": {"type": "lowercase"}}, {"text": "T"}) for _ in range(6)]
    with joint("dies_on_every_load") as session:
        found = [reply for _, reply in session.ask_in_parallel(requests, lambda index, reply: reply)]
    assert found == [Fault("crash", "exit status 3")] * 6


def _request(case: Case) -> Request:
    return Request(case.operation, case.model.name, case.model.content, case.input)
