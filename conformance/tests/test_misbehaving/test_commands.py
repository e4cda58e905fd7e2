"""Programs whose answers are malformed, or that end after every answer, as commands other than ``run`` meet them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Run: TypeAlias = Callable[..., tuple[int, str, str]]

#: Answers every encode with one result, or ends after every answer where that is ``ENDS``.
PROGRAM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    operation = request["op"]
    result = {}
    if operation == "hello":
        result = {"protocol": 1, "name": "n", "version": "1", "language": "C", "operations": ["encode"]}
        result["formats"] = ["tokspec", "tokenizer.json"]
    elif operation == "encode":
        result = {"tokens": ["b", "ug"]} if sys.argv[1] == "ENDS" else json.loads(sys.argv[1])
    print(json.dumps({"id": request["id"], "ok": result}), flush=True)
    if operation == "bye" or (operation == "encode" and sys.argv[1] == "ENDS"):
        break
"""

MALFORMED = {
    '{"tokens": [1, 2]}': 'tokens/0: 1 is not of types "string", "object"',
    '{"tokens": [null]}': 'tokens/0: null is not of types "string", "object"',
    '{"tokens": 5}': 'tokens: 5 is not of type "array"',
    "{}": "the result: {} has less than 1 property",
}


#: The quick tests have the first answer, the slow ones the others.
ONE_QUICK = [
    pytest.param(result, marks=[pytest.mark.slow] if number else []) for number, result in enumerate(MALFORMED)
]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Name a program that answers with a result."""
    monkeypatch.chdir(tmp_path)
    Path("answer.py").write_text(PROGRAM)
    return lambda result: f"{sys.executable} -S answer.py '{result}'"


@pytest.mark.parametrize("result", ONE_QUICK)
def test_a_malformed_answer_is_a_difference(program: Callable[[str], str], run: Run, result: str) -> None:
    run("model", "byte-level-256", "--format", "tokenizer.json", "-o", "tokenizer.json")
    Path("t.txt").write_text("hi\n")
    status, printed, noted = run(
        "diff", "reference", program(result), "t.txt", "--only-files", "--model", "tokenizer.json"
    )
    assert (status, noted) == (1, "")
    lines = printed.splitlines()
    assert lines[3] == f"1. encode: B breaks the protocol: {MALFORMED[result]}"
    assert lines[-1] == "A and B differ in 1 (100 %) of 1 input, 2 bytes"


@pytest.mark.slow
def test_a_malformed_answer_to_a_case_is_a_difference(program: Callable[[str], str], run: Run) -> None:
    status, printed, _ = run("diff", "reference", program('{"tokens": ["b"], "foo": 1}'))
    assert status == 1
    assert "encode: B breaks the protocol: foo: is an unknown key; known are " in printed


@pytest.mark.slow
@pytest.mark.parametrize("result", MALFORMED)
def test_malformed_answers_tell_probe_nothing(program: Callable[[str], str], run: Run, result: str) -> None:
    status, printed, noted = run("probe", "--impl", program(result), "--select", "bpe-encode-late-merge")
    first = f"first bpe-encode-late-merge: protocol: {MALFORMED[result]}"
    said = f"no answer to any of the questions (1), so nothing is known about its choices; {first}"
    assert (status, printed.splitlines()[-1], noted) == (1, said, "")


def test_answers_that_nothing_explains_tell_probe_nothing(program: Callable[[str], str], run: Run) -> None:
    status, printed, _ = run("probe", "--impl", program('{"tokens": ["b"]}'), "--select", "bpe-encode-late-merge")
    assert (status, printed.splitlines()[-2:]) == (
        1,
        [
            "1 answer that no choice explains: bpe-encode-late-merge",
            "no choice explains any of its answers, so nothing is known about its choices",
        ],
    )


@pytest.mark.slow
def test_who_ends_after_every_answer_is_no_success(program: Callable[[str], str], run: Run) -> None:
    status, printed, _ = run("smoke", "--impl", program("ENDS"))
    said = "crash: exit status 0; answer all requests, however many there are, and end only after bye (PROTO-3)"
    assert (status, printed.splitlines()[-3:]) == (
        1,
        [f"WRONG  process: {said}", "", "not yet: fix process first"],
    )
    status, printed, _ = run("probe", "--impl", program("ENDS"), "--select", "bpe-encode-late-merge*")
    assert (status, printed.splitlines()[-1]) == (1, "did not end well: crash: exit status 0; no question is to blame")


@pytest.mark.long
@pytest.mark.slow
def test_a_recording_of_who_ends_after_every_answer_says_so(program: Callable[[str], str], run: Run) -> None:
    Path("tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": {"b": 0, "ug": 1}, "merges": []}}')
    command = ("record", program("ENDS"), "--model", "tokenizer.json", "--made", "0", "-o", "r.ndjson")
    status, _, noted = run(*command)
    assert (status, noted.splitlines()[-1]) == (2, "did not end well: crash: exit status 0; no text is to blame")
