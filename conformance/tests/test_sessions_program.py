"""How a session with a program goes on: what it asks, how often, and when it starts the program again."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault, DataError
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.limits import Limits, ProcessFamily
from tokspec.sessions.process import Process
from tokspec.sessions.program import ProgramSession

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "programs" / "characters.py"
MODEL: dict[str, Any] = {"type": "bpe"}
BAD_MODEL = {"type": "bpe", "vocabulary": ["bad"]}

GARBAGE = Fault("protocol", "a line is not JSON (Expecting value at character 1): 'loading \\x1b[2Jvocabulary...'")
STDERR = "standard error ends 'Traceback (most recent call last): | no more \\x1b[31mmemory'"

Open = Callable[..., ProgramSession]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Where the program notes its lives, and what it is asked."""
    return tmp_path / "notes"


@pytest.fixture
def open_program(notes: Path) -> Iterator[Open]:
    """Open sessions; close them at the end, and check that no process, thread or descriptor is left of them."""
    before = _descriptors(), threading.active_count()
    sessions: list[ProgramSession] = []

    def open_one(mode: str, **limits: Any) -> ProgramSession:
        limits = {"case_seconds": 5.0, "start_seconds": 20.0, **limits}
        session = ProgramSession([sys.executable, "-S", "-E", str(PROGRAM), mode, str(notes)], Limits(**limits))
        sessions.append(session)
        return session

    yield open_one
    for session in sessions:
        session.close()
    assert [life for life in _noted(notes, "life") if _is_alive(int(life))] == []
    assert (_descriptors(), threading.active_count()) == before


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _noted(notes: Path, what: str) -> list[str]:
    lines = notes.read_text("utf-8").splitlines() if notes.exists() else []
    return [line.removeprefix(f"{what} ") for line in lines if line.split(" ")[0] == what]


def encode(text: str, name: str = "toy", model: dict[str, Any] = MODEL, operation: str = "encode") -> Request:
    return Request(operation, name, model, {"text": text})


def right(text: str) -> Answer:
    return Answer({"tokens": list(text)})


def replies(session: ProgramSession, *requests: Request | str) -> list[Reply]:
    """Ask, check that each index comes once, and give the replies in the order of the requests."""
    asked = [encode(each) if isinstance(each, str) else each for each in requests]
    found = list(session.ask(asked))
    assert sorted(index for index, _ in found) == list(range(len(asked)))
    return [reply for _, reply in sorted(found, key=lambda pair: pair[0])]


def many(bad_at: int, count: int = 150) -> list[str]:
    texts = [f"text {number}" for number in range(count)]
    texts[bad_at] = "bad"
    return texts


def test_a_good_program_answers_everything_in_one_life(open_program: Open, notes: Path) -> None:
    session = open_program("good")
    assert session.hello == Hello("characters", "1", "Python", operations=("encode",))
    texts = [f"text {number}" for number in range(500)]
    assert replies(session, *texts) == [right(text) for text in texts]
    assert replies(session, "bad", "\u0e02\U0001f600\n\x00") == [right("bad"), right("\u0e02\U0001f600\n\x00")]
    assert replies(session) == []
    session.close()
    assert len(_noted(notes, "life")) == 1
    assert _noted(notes, "load") == ["toy"]


def test_texts_that_json_cannot_carry_go_both_ways(open_program: Open) -> None:
    session = open_program("good")
    assert replies(session, "a\ud800", "\ud83d\ude00") == [
        Answer({"tokens": ["a\ud800"]}),
        Answer({"tokens": ["\ud83d\ude00"]}),
    ]


def test_what_cannot_be_asked_is_refused_without_asking(open_program: Open, notes: Path) -> None:
    session = open_program("good")
    unwritable = Request("encode", "toy", MODEL, {"text": "b", "\ud800": 1})
    assert replies(session, encode("b", operation="decode"), unwritable, "u") == [
        Refused("unsupported", "does not offer decode"),
        Refused("unsupported", "the key '\\ud800' holds a surrogate, which has no form in JSON"),
        right("u"),
    ]
    assert _noted(notes, "asked") == ["u"]


def test_models_are_loaded_once_each_and_a_refused_one_answers_for_its_requests(
    open_program: Open, notes: Path
) -> None:
    session = open_program("good")
    unusable: dict[str, Any] = {"type": "wordpiece"}
    requests = [encode(f"{n}", f"model {n % 3}", unusable if n % 3 == 1 else MODEL) for n in range(90)]
    refused = Refused("invalid_model", "no vocabulary")
    assert replies(session, *requests) == [refused if n % 3 == 1 else right(f"{n}") for n in range(90)]
    assert replies(session, *requests[:2]) == [right("0"), refused]
    assert _noted(notes, "load") == ["model 0", "model 1", "model 2"]
    assert _noted(notes, "asked") == [f"{n}" for n in range(90) if n % 3 != 1] + ["0"]


def test_replies_come_in_any_order(open_program: Open) -> None:
    session = open_program("backwards")
    texts = [f"text {number}" for number in range(100)]
    indexes = [index for index, _ in session.ask([encode(text) for text in texts])]
    assert indexes != sorted(indexes)
    assert replies(session, *texts) == [right(text) for text in texts]


@pytest.mark.parametrize("mode", ["good", "loud"])
def test_full_pipes_do_not_stop_anyone(open_program: Open, mode: str) -> None:
    texts = [character * 300_000 for character in "abcdefgh"]
    texts.insert(3, "bad")
    assert replies(open_program(mode), *texts) == [right(text) for text in texts]


def test_replies_are_lazy_and_those_not_taken_cost_a_new_start(open_program: Open, notes: Path) -> None:
    session = open_program("good")
    for _, reply in session.ask([encode(f"{n}") for n in range(1000)]):
        assert reply == right("0")
        break
    assert len(_noted(notes, "asked")) < 200
    assert replies(session, "b") == [right("b")]
    assert len(_noted(notes, "life")) == 2


def test_a_second_ask_ends_the_first(open_program: Open) -> None:
    session = open_program("good")
    first = session.ask([encode(f"{n}") for n in range(200)])
    assert next(first) == (0, right("0"))
    assert replies(session, "b") == [right("b")]
    with pytest.raises(RuntimeError, match=r"^another ask began before all replies of this one were read$"):
        list(first)
    assert replies(session, "u") == [right("u")]


def test_a_closed_session_says_so(open_program: Open) -> None:
    session = open_program("good")
    with session:
        pass
    session.close()
    with pytest.raises(RuntimeError, match=r"^the session is closed$"):
        list(session.ask([encode("b")]))


#: The mode, the fault of the request with the text "bad", and whether the program has to be started again.
FAULTS = [
    ("exits_3", Fault("crash", f"exit status 3; {STDERR}"), True),
    ("unblock", Fault("crash", "exit status 5"), True),
    ("escape", Fault("crash", "exit status 4"), True),
    ("garbage", GARBAGE, True),
    ("hangs", Fault("timeout", "no reply within 0.5 seconds"), True),
    ("neither", Fault("protocol", "a reply has none of ok, refused and crashed: '{\"id\": 103}'"), False),
    ("refuses", Refused("unknown_symbol", "d"), False),
]


@pytest.mark.parametrize(("mode", "reply", "restarts"), FAULTS, ids=[row[0] for row in FAULTS])
def test_one_bad_case_out_of_many_is_blamed_alone(
    open_program: Open, notes: Path, mode: str, reply: Reply, restarts: bool
) -> None:
    limits = {"case_seconds": 0.5} if mode == "hangs" else {}
    session = open_program(mode, **limits)
    texts = many(bad_at=100)
    assert replies(session, *texts) == [reply if text == "bad" else right(text) for text in texts]
    asked = Counter(_noted(notes, "asked"))
    assert max(asked.values()) <= (3 if restarts else 1)
    assert len(_noted(notes, "life")) <= (4 if restarts else 1)


@pytest.mark.parametrize("mode", ["exits_3", "garbage", "hangs", "neither"])
def test_a_load_that_faults_is_the_reply_of_every_request_of_the_model(open_program: Open, mode: str) -> None:
    session = open_program(mode, start_seconds=1.0 if mode == "hangs" else 20.0)
    requests = [encode(f"{n}", f"model {n % 2}", BAD_MODEL if n % 2 else MODEL) for n in range(10)]
    fault = {
        "exits_3": Fault("crash", f"exit status 3; {STDERR}"),
        "garbage": GARBAGE,
        "hangs": Fault("timeout", "no reply within 1 seconds"),
        "neither": Fault("protocol", "a reply has none of ok, refused and crashed: '{\"id\": 4}'"),
    }[mode]
    assert replies(session, *requests) == [fault if n % 2 else right(f"{n}") for n in range(10)]
    assert replies(session, *requests[:2]) == [right("0"), fault]


def test_a_program_that_dies_on_every_case_is_started_for_each(open_program: Open, notes: Path) -> None:
    session = open_program("exits_3")
    assert replies(session, *["bad"] * 5) == [Fault("crash", f"exit status 3; {STDERR}")] * 5
    assert len(_noted(notes, "life")) == 6


@pytest.mark.parametrize("mode", ["dies_after_each", "dies_after_three"])
def test_a_program_that_dies_by_itself_loses_no_answer(open_program: Open, notes: Path, mode: str) -> None:
    texts = [f"text {number}" for number in range(12)]
    session = open_program(mode)
    assert replies(session, *texts) == [right(text) for text in texts]
    assert replies(session, "b") == [right("b")]
    assert max(Counter(_noted(notes, "asked")).values()) <= 3


def test_a_program_that_ends_between_two_requests_is_noticed_each_time(open_program: Open, notes: Path) -> None:
    session = open_program("dies_after_each")
    for number, text in enumerate("bug"):
        assert replies(session, text) == [right(text)]
        _wait_for_the_end(int(_noted(notes, "life")[number]))
    assert [str(fault) for fault in session.unblamed] == ["crash: exit status 0"] * 2


def _wait_for_the_end(process: int) -> None:
    """Wait until a child has ended, and leave its exit status to the session, which may have taken it already."""
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)


def test_a_program_that_cannot_start_again_is_given_up(open_program: Open, notes: Path) -> None:
    session = open_program("starts_once")
    fault = Fault(
        "crash", "given up after 2 starts in a row: exit status 7; standard error ends 'cannot find model.bin'"
    )
    assert replies(session, *many(0)) == [fault] * 150
    assert replies(session, "b", "u") == [fault] * 2
    assert len(_noted(notes, "life")) == 3


def test_a_program_that_is_no_longer_there_is_given_up(tmp_path: Path) -> None:
    script = tmp_path / "program"
    script.write_text(f"#!{sys.executable}\n{PROGRAM.read_text('utf-8')}", "utf-8")
    script.chmod(0o755)
    with ProgramSession([str(script), "exits_3"]) as session:
        script.unlink()
        fault = (
            f"given up after 2 starts in a row: cannot be started: there is no program '{script}'; "
            "give its path, put it on the PATH, or install its interpreter"
        )
        assert replies(session, "bad", "b") == [Fault("crash", fault)] * 2


def test_an_answer_given_twice_is_none(open_program: Open, notes: Path) -> None:
    texts = [*many(bad_at=10, count=40), "bad"]
    found = replies(open_program("twice"), *texts)
    said = '\'{{"id": {}, "ok": {{"tokens": ["b", "a", "d"]}}}}\''
    assert found[:10] + found[11:-1] == [right(text) for text in texts[:10] + texts[11:-1]]
    # The last text is asked alone in the second life, after hello, load and the 29 others.
    assert found[10] == Fault("protocol", f"the id is answered twice: {said.format(13)}")
    assert found[-1] == Fault("protocol", f"the id is answered twice: {said.format(32)}")


def test_a_single_answer_given_twice_is_none(open_program: Open) -> None:
    said = '\'{"id": 3, "ok": {"tokens": ["b", "a", "d"]}}\''
    fault = Fault("protocol", f"the id is answered twice: {said}")
    assert replies(open_program("twice"), "bad") == [fault]


def test_a_program_that_chatters_after_each_answer_gives_none(open_program: Open) -> None:
    fault = Fault("protocol", "a line is not JSON (Expecting value at character 1): 'done'")
    assert replies(open_program("chatters"), "b", "u", "g") == [fault] * 3


@pytest.mark.parametrize(
    ("mode", "kind", "message"),
    [
        ("exits_at_once", "crash", "exit status 7; standard error ends 'cannot find model.bin'"),
        ("hangs_at_once", "timeout", "no reply within 0.7 seconds"),
        ("banner", "protocol", "a line is not JSON (Expecting value at character 1): 'Welcome!'"),
        ("wrong_protocol", "protocol", "the answer to hello is wrong: protocol: 1 was expected"),
        (
            "wrong_type",
            "protocol",
            'the answer to hello is wrong: operations: "encode" is not of type "array"',
        ),
        ("no_version", "protocol", "the answer to hello is wrong: lacks the key version"),
    ],
)
def test_without_a_proper_hello_there_is_no_session(open_program: Open, mode: str, kind: str, message: str) -> None:
    with pytest.raises(AdapterFault) as error:
        open_program(mode, start_seconds=0.7 if mode == "hangs_at_once" else 20.0)
    assert (error.value.kind, error.value.message) == (kind, message)


def test_a_program_that_ignores_bye_and_signals_is_killed(open_program: Open, notes: Path) -> None:
    session = open_program("ignores_bye")
    assert replies(session, "b") == [right("b")]
    start = time.monotonic()
    session.close()
    assert time.monotonic() - start < 30
    assert _noted(notes, "deaf") == ["deaf"]
    assert list(map(str, session.end_faults)) == ["timeout: it does not end within 5 seconds after bye"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups")
@pytest.mark.parametrize("mode", ["orphan", "escape"])
def test_the_children_of_a_program_end_with_it(open_program: Open, notes: Path, mode: str) -> None:
    session = open_program(mode)
    assert replies(session, "bad", "u", "bad") == [
        Fault("crash", "exit status 4"),
        right("u"),
        Fault("crash", "exit status 4"),
    ]
    session.close()
    deadline = time.monotonic() + 60
    children = [int(child) for child in _noted(notes, "child")]
    while any(_is_running(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(children) == 4  # in the stream and alone, then alone after another and alone
    assert [child for child in children if _is_running(child)] == []


def _is_running(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet, because its parent is gone, does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(DataError) as error:
        ProgramSession([])
    assert str(error.value) == "the command is empty; give a program and its arguments"


def test_a_command_that_is_no_program_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(b"\x00\x01")
    script.chmod(0o755)
    with pytest.raises(DataError) as error:
        ProgramSession([str(script)])
    assert str(error.value) == f"'{script}': cannot be started: Exec format error; run it by hand to see why"


@pytest.mark.parametrize("step", [1, -1], ids=["as they come", "the end first"])
def test_an_end_that_is_noticed_with_the_last_output_loses_nothing(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process((sys.executable, "-S", "-c", "print('bug')"), Limits(), ProcessFamily())
    os.waitid(os.P_PID, process._program.pid, os.WEXITED | os.WNOWAIT)
    select = process._selector.select
    monkeypatch.setattr(process._selector, "select", lambda seconds: select(seconds)[::step])
    process.wait(time.monotonic() + 60)
    process.pump()
    assert process.take_line() == b"bug"
    process.wait(time.monotonic() + 60)
    with pytest.raises(EOFError):
        process.take_line()
    assert process.describe_end() == "exit status 0"
    process.stop()


FRAMES = "".join(f"frame {number}\n\tat line {number}\n" for number in range(2000))


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        ("panic: runtime error: slice bounds out of range [5:3]\n\ngoroutine 1 [running]:", None),
        ("fatal error: stack overflow\n\nruntime stack:", None),
        ("thread 'main' (24897) panicked at src/main.rs:7:5:\nindex out of bounds: the len is 1", None),
        ('Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 5', None),
        ("Unhandled exception. System.IndexOutOfRangeException: Index was outside", None),
        ("terminate called after throwing an instance of 'std::out_of_range'\n  what():  at", None),
        ("Can't locate Tiny.pm in @INC (you may need to install the Tiny module)", None),
        ("file:///a.mjs:1\nf(n, s)\n   ^\n\nTypeError: s is undefined", "TypeError: s is undefined"),
        ("Traceback (most recent call last):", ""),  # whose last line is the telling one
    ],
    ids=["Go", "Go, overflow", "Rust", "Java", ".NET", "C++", "Perl", "Node.js", "Python"],
)
def test_a_long_trace_keeps_its_head(tmp_path: Path, head: str, shown: str | None) -> None:
    trace = tmp_path / "trace"
    trace.write_text(f"loading\n{head}\n{FRAMES}ends here\n", "utf-8")
    with pytest.raises(AdapterFault) as caught:
        ProgramSession(["sh", "-c", f"cat {trace} >&2; exit 2"])
    first = (head if shown is None else shown).replace("\n\n", "\n").replace("\n", " | ").replace("  what", "what")
    written = " | ".join([*filter(None, [first]), *(f"frame {n} | at line {n}" for n in range(2000)), "ends here"])
    said = f"{written[:200]} ... {written[-200:]}" if first else written[-400:]
    assert caught.value.message == f"exit status 2; standard error ends {said!r}"
