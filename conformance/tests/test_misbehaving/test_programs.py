"""Programs that misbehave: each case gets the verdict that it deserves, and every other case its own.

A row has a name, the verdicts of the eight cases, and the one detail that all of them have that are no pass. The bad
case is the fifth. ``P`` is a pass, ``F`` fail, ``C`` crash, ``T`` timeout, ``O`` protocol, ``U`` unsupported.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[1] / "programs"
NODE = shutil.which("node")
PYTHON = [sys.executable, "-S", "-E", str(PROGRAMS / "misbehave.py")]

TRACE = "standard error ends 'Traceback (most recent call last): | no more \\x1b[31mmemory'"
SECOND = {"case_seconds": 1.0}
SILENCE = "no reply within 1 seconds"
MEMORY = {"memory_mb": 250}
EATEN = "used more than 250 MB of memory"
RIGHT = b'{"id": %d, "ok": {"tokens": ["hug", "s"], "ids": [10, 6], "spans": [[0, 3], [3, 4]]}}'

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
both = pytest.mark.parametrize("language", ["python", pytest.param("node", marks=needs_node)])

#: Of the lines and the wrong answers, those that Node writes too; the others are the same bytes for anyone who reads.
ALSO_IN_NODE = {
    "text",
    "not_utf8",
    "nan",
    "id_answered_twice",
    "unknown_id",
    "neither",
    "half_of_a_pair",
    "bidirectional",
}


@dataclass(frozen=True)
class Row:
    """A misbehaviour and what it comes to."""

    name: str
    verdicts: str
    detail: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


def of(rows: list[Row]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


def command(language: str, *arguments: str) -> list[str]:
    program = PYTHON if language == "python" else [str(NODE), str(PROGRAMS / "misbehave.mjs")]
    return [*program, *arguments]


def check(seen: Any, row: Row) -> None:
    passed = row.verdicts.count("P")
    assert (seen.verdicts, seen.details) == (row.verdicts, [row.detail] * (len(row.verdicts) - passed))
    assert seen.problems == ((row.problem,) if row.problem else ())
    assert seen.conforms is (passed > 0 and set(row.verdicts) <= set("PU") and not row.problem)


BOTH = [
    Row("good", "PPPPPPPP"),
    Row("backwards", "PPPPPPPP"),
    # Ends
    Row("exits_at_once", "CCCCCCCC", f"before hello: exit status 7; {TRACE}"),
    Row("exits_0", "PPPPCPPP", f"exit status 0; {TRACE}"),
    Row("exits_3", "PPPPCPPP", f"exit status 3; {TRACE}"),
    Row("killed", "PPPPCPPP", "killed by SIGKILL"),
    Row("dies_on_every_case", "CCPCCPCC", "exit status 3"),
    Row("dies_on_every_load", "CCCCCCCC", "exit status 3"),
    Row("dies_after_three", "PPPPPPPP", problem="crash: exit status 6; 1 time, and no case is to blame"),
    Row("half_line", "PPPPCPPP", "exit status 0"),
    Row("whole_line_without_end", "PPPPCPPP", "exit status 0"),
    # Silence
    Row("hangs_at_once", "TTTTTTTT", f"before hello: {SILENCE}", {"start_seconds": 1.0}),
    Row("hangs", "PPPPTPPP", SILENCE, SECOND),
    Row("deaf", "PPPPTPPP", SILENCE, SECOND),
    Row("late_beside", "PPPPTPPP", SILENCE, SECOND),
    Row("drips", "PPPPTPPP", SILENCE, SECOND),
    Row("stops_itself", "PPPPTPPP", SILENCE, SECOND),
    Row("ignores_the_end", "PPPPPPPP"),
    # Children
    Row("leaves_a_child", "PPPPPPPP"),
    Row("leaves_a_child_apart", "PPPPPPPP"),
    Row("dies_and_leaves_a_child", "PPPPCPPP", "exit status 4"),
    Row("dies_and_leaves_a_child_apart", "PPPPCPPP", "exit status 4"),
    # Too much
    Row("loud", "PPPPPPPP"),
    Row("endless_complaint", "PPPPTPPP", SILENCE, SECOND),
    Row("endless_lines", "PPPPOPPP", "a line is not JSON (Expecting value at character 1): 'more'"),
    Row("endless_blank_lines", "PPPPOPPP", "a line is not JSON (Expecting value at character 1): ''"),
    Row("endless_line", "PPPPOPPP", "a line is longer than 4194304 bytes"),
    Row("endless_line_at_once", "OOOOOOOO", "before hello: a line is longer than 4194304 bytes"),
    Row("line_of_1_gb", "PPPPOPPP", "a line is longer than 4194304 bytes"),
    Row(
        "wide",
        "PPPPOPPP",
        f'a line holds more than 500000 values: \'{{"id": 3, "ok": {{"tokens": [{("[]," * 58)[:172]}\' and 3499831 more bytes',
    ),
    Row(
        "deep",
        "PPPPOPPP",
        f'a line is nested more than 64 levels deep: \'{{"id": 3, "ok": {{"tokens": [{"[" * 172}\' and 199831 more bytes',
    ),
    # Memory
    Row("eats_at_once", "CCCCCCCC", f"before hello: {EATEN}", MEMORY),
    Row("eats", "PPPPCPPP", EATEN, MEMORY),
    Row("child_eats", "PPPPCPPP", EATEN, MEMORY),
    Row("child_apart_eats", "PPPPCPPP", EATEN, MEMORY),
    # Claims
    Row("refuses", "PPPPUPPP", "not today"),
    Row("refuses_all", "UUUUUUUU", "no models yet"),
    Row("claims_a_format", "UUUUUUUU", "no writer for the format spm"),
]

PYTHON_ONLY = [
    Row("aborts", "PPPPCPPP", "killed by SIGABRT"),
    Row("late", "PPPPTPPP", SILENCE, SECOND),
    Row("orphan_eats", "PPPPCPPP", EATEN, MEMORY),
]

NODE_ONLY = [Row("hangs_without_work", "PPPPTPPP", SILENCE, SECOND)]

#: What the program writes instead of an answer, ``%d`` for the id, and what is said of it. A line that is a reply, if
#: not a proper one, ends nothing: its id is that of the stream, 7, and not that of the third line of a program.
LINES = [
    ("text", b"loading \x1b[2Jvocabulary...", "a line is not JSON (Expecting value at character 1): 'loading \\x1b[2Jvocabulary...'"),
    ("blank", b"", "a line is not JSON (Expecting value at character 1): ''"),
    ("half_an_object", b'{"id": %d, "ok": {', "a line is not JSON (Expecting property name enclosed in double quotes at character 18): '{\"id\": 3, \"ok\": {'"),
    ("two_objects", b'{"id": %d, "ok": {}} {"id": 4, "ok": {}}', 'a line is not JSON (Extra data at character 21): \'{"id": 3, "ok": {}} {"id": 4, "ok": {}}\''),
    ("array", b"[1, 2]", "a line is not an object: '[1, 2]'"),
    ("not_utf8", b'{"id": %d, "ok": {"text": "\xff"}}', 'a line is not UTF-8 at byte 26: \'{"id": 3, "ok": {"text": "\\\\xff"}}\''),
    ("surrogate_in_utf8", b'{"id": %d, "ok": {"text": "\xed\xa0\x80"}}', 'a line is not UTF-8 at byte 26: \'{"id": 3, "ok": {"text": "\\\\xed\\\\xa0\\\\x80"}}\''),
    ("unknown_id", b'{"id": 4000, "ok": {}}', "the id of a line was never sent: '{\"id\": 4000, \"ok\": {}}'"),
    ("negative_id", b'{"id": -1, "ok": {}}', "the id of a line was never sent: '{\"id\": -1, \"ok\": {}}'"),
    ("id_answered_twice", RIGHT + b"\n" + RIGHT, f"the id is answered twice: '{RIGHT.decode() % 7}'"),
    ("text_after_the_answer", RIGHT + b"\ndone", "a line is not JSON (Expecting value at character 1): 'done'"),
    ("old_id", b'{"id": 1, "ok": {}}', "the id is answered twice: '{\"id\": 1, \"ok\": {}}'"),
    ("no_id", b'{"ok": {}}', "a line has no id that is an integer: '{\"ok\": {}}'"),
    ("id_is_a_string", b'{"id": "%d", "ok": {}}', 'a line has no id that is an integer: \'{"id": "3", "ok": {}}\''),
    ("id_is_real", b'{"id": %d.0, "ok": {}}', "a line has no id that is an integer: '{\"id\": 3.0, \"ok\": {}}'"),
    ("id_is_true", b'{"id": true, "ok": {}}', "a line has no id that is an integer: '{\"id\": true, \"ok\": {}}'"),
    ("id_twice", b'{"id": %d, "id": %d, "ok": {}}', 'a line has the key \'id\' twice: \'{"id": 3, "id": 3, "ok": {}}\''),
    ("nan", b'{"id": %d, "ok": {"loss": NaN}}', 'a line holds NaN, which is not JSON: \'{"id": 3, "ok": {"loss": NaN}}\''),
    ("infinity", b'{"id": %d, "ok": {"loss": Infinity}}', 'a line holds Infinity, which is not JSON: \'{"id": 3, "ok": {"loss": Infinity}}\''),
    ("minus_infinity", b'{"id": %d, "ok": {"loss": -Infinity}}', 'a line holds -Infinity, which is not JSON: \'{"id": 3, "ok": {"loss": -Infinity}}\''),
    ("beyond_doubles", b'{"id": %d, "ok": {"loss": 1e999}}', 'a line holds \'1e999\', which is beyond the range of a double: \'{"id": 3, "ok": {"loss": 1e999}}\''),
    ("huge_integer", b'{"id": %d, "ok": {"ids": [1' + b"0" * 5000 + b"]}}", f'a line holds a number of 5001 digits: \'{{"id": 3, "ok": {{"ids": [1{"0" * 174}\' and 4829 more bytes'),
    ("huge_id", b'{"id": 1' + b"0" * 5000 + b', "ok": {}}', f"a line holds a number of 5001 digits: '{{\"id\": 1{'0' * 192}' and 4819 more bytes"),
    ("key_of_half_a_pair", rb'{"id": %d, "ok": {"\ud800": []}}', 'a line has the key \'\\ud800\', which holds a surrogate: \'{"id": 3, "ok": {"\\\\ud800": []}}\''),
    ("hex_that_is_none", b'{"id": %d, "ok": {"text": {"hex": "ff"}}}', 'a line has the hex string \'ff\', which is not UTF-8: \'{"id": 3, "ok": {"text": {"hex": "ff"}}}\''),
    ("neither", b'{"id": %d}', "a reply has none of ok, refused and crashed: '{\"id\": 7}'"),
    ("both", b'{"id": %d, "ok": {}, "refused": {"reason": "unknown_symbol"}}', 'a reply has both ok and refused: \'{"id": 7, "ok": {}, "refused": {"reason": "unknown_symbol"}}\''),
    ("ok_is_a_list", b'{"id": %d, "ok": []}', "the ok of a reply is not an object: '{\"id\": 7, \"ok\": []}'"),
    ("unknown_reason", b'{"id": %d, "refused": {"reason": "too_hard"}}', "the refusal has the reason 'too_hard', which is not in spec/09-errors.md"),
    ("no_reason", b'{"id": %d, "refused": {}}', "the refusal needs a reason and perhaps a message, both strings"),
    ("ours_alone", b'{"id": %d, "broken": {"message": ""}}', 'a reply has none of ok, refused and crashed: \'{"id": 7, "broken": {"message": ""}}\''),
    ("empty", b'{"id": %d, "ok": {}}', "the result: {} has less than 1 property"),
    ("negative_span", b'{"id": %d, "ok": {"tokens": ["hug", "s"], "ids": [10, 6], "spans": [[-1, 3], [3, 4]]}}', "spans/0/0: -1 is less than the minimum of 0"),
]  # fmt: skip

#: Answers that are wrong, and nothing else.
WRONG = [
    ("reversed_span", b'"tokens": ["hug", "s"], "ids": [10, 6], "spans": [[3, 0], [3, 4]]'),
    ("span_out_of_range", b'"tokens": ["hug", "s"], "ids": [10, 6], "spans": [[0, 3], [3, 4000000000000000]]'),
    ("large_id", b'"tokens": ["hug", "s"], "ids": [10, 9007199254740991], "spans": [[0, 3], [3, 4]]'),
    ("half_of_a_pair", rb'"tokens": ["hug", "\ud800"], "ids": [10, 6], "spans": [[0, 3], [3, 4]]'),
    (
        "terminal_escapes",
        rb'"tokens": ["\u001b[2J\u001b]0;hugs\u0007", "s"], "ids": [10, 6], "spans": [[0, 3], [3, 4]]',
    ),
    ("carriage_return", rb'"tokens": ["hug\r\u0000\b", "s"], "ids": [10, 6], "spans": [[0, 3], [3, 4]]'),
    ("bidirectional", rb'"tokens": ["\u202eguh", "\u2066s"], "ids": [10, 6], "spans": [[0, 3], [3, 4]]'),
    ("markup", b'"tokens": ["[bold red]hug[/]", "<script>s</script>"], "ids": [10, 6], "spans": [[0, 3], [3, 4]]'),
]


def in_languages(rows: list[Any]) -> list[Any]:
    """Return each row for Python, and some for Node."""
    return [pytest.param("python", *row, id=f"{name}-python") for name, *row in rows] + [
        pytest.param("node", *row, id=f"{name}-node", marks=needs_node) for name, *row in rows if name in ALSO_IN_NODE
    ]


@pytest.mark.long
@both
@of(BOTH)
def test_programs(judge: Callable[..., Any], language: str, row: Row) -> None:
    check(judge(command(language, row.name), row.limits), row)


@of(PYTHON_ONLY)
def test_programs_in_python(judge: Callable[..., Any], row: Row) -> None:
    check(judge(command("python", row.name), row.limits), row)


@needs_node
@of(NODE_ONLY)
def test_programs_in_node(judge: Callable[..., Any], row: Row) -> None:
    check(judge(command("node", row.name), row.limits), row)


@needs_node
@pytest.mark.parametrize("name", ["throws", "rejects", "overflows"])
def test_exceptions_in_node(judge: Callable[..., Any], name: str) -> None:
    """Between this beginning and this end stands the stack, as Node shows it."""
    seen = judge(command("node", name))
    assert seen.verdicts == "PPPPCPPP"
    assert re.fullmatch(r"exit status 1; standard error ends '.*Node\.js v[0-9.]+'", seen.details[0])


@pytest.mark.long
@pytest.mark.parametrize(("language", "line", "detail"), in_languages(LINES))
def test_lines(judge: Callable[..., Any], language: str, line: bytes, detail: str) -> None:
    check(judge(command(language, "says", line.hex())), Row("says", "PPPPOPPP", detail))


@both
def test_half_of_a_pair_in_the_wrong_place(judge: Callable[..., Any], language: str) -> None:
    line = rb'{"id": %d, "ok": {"tokens": "\ud800"}}'
    check(
        judge(command(language, "says", line.hex())),
        Row("says", "PPPPOPPP", 'tokens: "\\ud800" is not of type "array"'),
    )


@pytest.mark.parametrize(("language", "result"), in_languages(WRONG))
def test_wrong_answers(judge: Callable[..., Any], language: str, result: bytes) -> None:
    line = b'{"id": %d, "ok": {' + result + b"}}"
    check(judge(command(language, "says", line.hex())), Row("says", "PPPPFPPP", "wrong answer"))


@both
def test_a_carriage_return_at_the_end_of_a_line_is_white_space(judge: Callable[..., Any], language: str) -> None:
    check(judge(command(language, "says", (RIGHT + b"\r").hex())), Row("says", "PPPPPPPP"))


@both
def test_who_claims_nothing_does_not_conform(judge: Callable[..., Any], language: str) -> None:
    seen = judge(command(language, "claims_nothing"))
    assert seen.verdicts == "UUUUUUUU"
    assert seen.details == ["does not offer encode"] * 7 + ["does not offer normalize"]
    assert seen.conforms is False


@both
def test_a_choice_that_is_none_is_said_at_hello(judge: Callable[..., Any], language: str) -> None:
    detail = "before hello: hello declares 'final_sigma=maybe', which is an option that final_sigma does not have"
    check(judge(command(language, "claims_a_choice")), Row("claims_a_choice", "OOOOOOOO", detail))


@both
def test_other_choices_after_a_restart(judge: Callable[..., Any], language: str, tmp_path: Path) -> None:
    """PROTO-6: what was answered before the program died stays; from then on nobody knows what it is held to."""
    detail = "given up after 2 starts in a row: hello changed after a restart"
    seen = judge(command(language, "other_choices", str(tmp_path / "lives")))
    check(seen, Row("other_choices", "PPPPOOOO", detail))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("script", "verdict", "detail"),
    [
        ("exit 0", "C", "exit status 0"),
        ("exit 3", "C", "exit status 3"),
        ("kill -9 $$", "C", "killed by SIGKILL"),
        ("echo cannot find model.bin >&2; exit 7", "C", "exit status 7; standard error ends 'cannot find model.bin'"),
        ("exec sleep 60", "T", "no reply within 1 seconds"),
        ("trap '' TERM; while :; do sleep 60; done", "T", "no reply within 1 seconds"),
        ("exec >&-; exec sleep 60", "T", "no reply within 1 seconds"),
        ("sleep 60 & exit 5", "C", "exit status 5"),
        ("printf '{\"id\": 1'", "C", "exit status 0"),
        ("exec cat", "O", 'a reply has none of ok, refused and crashed: \'{"id":1,"op":"hello","protocol":1}\''),
        ("exec yes", "O", "a line is not JSON (Expecting value at character 1): 'y'"),
        ("exec yes >&2", "T", "no reply within 1 seconds"),
        ("exec cat /dev/zero", "O", "a line is longer than 4194304 bytes"),
        ("echo Welcome!", "O", "a line is not JSON (Expecting value at character 1): 'Welcome!'"),
    ],
)
def test_shells_that_never_say_hello(judge: Callable[..., Any], script: str, verdict: str, detail: str) -> None:
    limits = {"start_seconds": 1.0} if verdict == "T" else {}
    check(judge(["sh", "-c", script], limits), Row(script, 8 * verdict, f"before hello: {detail}"))
