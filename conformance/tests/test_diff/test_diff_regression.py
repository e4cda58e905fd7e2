"""The fixture ``tokenizer_regression``, in somebody's repository."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tokspec.compare import regression  # here, because pytester forgets what is first imported in a run
from tokspec.compare.named_texts import load_texts

pytestmark = pytest.mark.slow

assert regression
assert load_texts()

pytest_plugins = ["pytester"]

TESTS = """
import os

def tokenize(text):
    return [word if word != os.environ.get("OTHERWISE") else word.upper() for word in text.split()]

def test_words(tokenizer_regression):
    tokenizer_regression.check(tokenize, ["a bug", "no bugs"])
"""


@pytest.mark.long
def test_the_first_run_writes_later_ones_compare_and_a_flag_writes_anew(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_mine=TESTS)
    first = pytester.runpytest("-p", "no:cacheprovider")
    first.assert_outcomes(failed=1)
    recording = pytester.path / "test_mine" / "test_words.ndjson"
    first.stdout.fnmatch_lines(["*File not found in data directory, created:*", f"*{recording}*"])
    written = recording.read_bytes()
    assert b'{"from":"inputs/test:1","text":"a bug","tokens":["a","bug"]}\n' in written
    pytester.runpytest().assert_outcomes(passed=1)
    monkeypatch.setenv("OTHERWISE", "bug")
    second = pytester.runpytest()
    second.assert_outcomes(failed=1)
    second.stdout.fnmatch_lines(
        [
            "E *A  tokenize as recorded in test_words.ndjson",
            "E *1. encode: another token, at letters (latin)",
            'E *input     encode "a bug"',
            'E *A         tokens: "a" "bug"',
            'E *B         tokens: "a" "BUG"',
            "E *A and B differ in 1 (*",
        ]
    )
    assert recording.read_bytes() == written
    pytester.runpytest("--force-regen").assert_outcomes(failed=1)
    assert recording.read_bytes() != written
    pytester.runpytest().assert_outcomes(passed=1)


def test_a_damaged_recording_is_told_and_written_anew_on_demand(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=TESTS)
    pytester.runpytest()
    recording = pytester.path / "test_mine" / "test_words.ndjson"
    whole = recording.read_bytes()
    recording.write_bytes(whole[:100])
    damaged = pytester.runpytest()
    damaged.assert_outcomes(failed=1)
    damaged.stdout.fnmatch_lines(["E *DataError: test_words.ndjson:1: ends within a line: it was cut off; *"])
    assert recording.read_bytes() == whole[:100]
    pytester.runpytest("--force-regen").assert_outcomes(failed=1)
    assert recording.read_bytes() == whole
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.long
def test_texts_that_are_new_or_gone_are_a_difference(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=TESTS)
    pytester.runpytest()
    pytester.makepyfile(test_mine=TESTS.replace('"no bugs"', '"other", "texts"'))
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *not compared: 2 times: texts of B alone", "E *not compared: 1 time: texts of A alone"]
    )


def test_a_tokenizer_that_fails_where_it_answered_is_a_difference(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=TESTS)
    pytester.runpytest()
    failing = """
def tokenize(text):
    if text == "no bugs":
        raise LookupError("no bugs here")
    return text.split()
"""
    pytester.makepyfile(test_mine=TESTS[: TESTS.index("def tokenize")] + failing + TESTS[TESTS.index("def test") :])
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *1. encode: B crashes: is recorded",
            'E *input     encode "no bugs"',
            "not answered: 1 text, first inputs/test:2: encode: crash: LookupError: no bugs here (*)",
        ]
    )


@pytest.mark.long
def test_what_was_a_fault_and_still_is_one_is_the_same(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine=TESTS.replace("text.split()]", "text.split() if [True][text.startswith('no')]]"))
    pytester.runpytest()
    pytester.runpytest().assert_outcomes(passed=1)
    recording = pytester.path / "test_mine" / "test_words.ndjson"
    assert '"text":"no bugs","faults":{"encode":"crash"}' in recording.read_text("utf-8")


@pytest.mark.long
def test_an_object_that_does_less_is_a_difference(pytester: pytest.Pytester) -> None:
    both = """
class Both:
    def encode(self, text):
        return [len(text)]

    def decode(self, ids):
        return "a" * ids[0] if ids else ""

def test_words(tokenizer_regression):
    tokenizer_regression.check(Both())
"""
    pytester.makepyfile(test_mine=both)
    pytester.runpytest()
    pytester.runpytest().assert_outcomes(passed=1)
    pytester.makepyfile(test_mine=both.replace("def decode", "def undo"))
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *not compared: * times: decode: B: is not offered"])


@pytest.mark.long
def test_a_token_that_no_text_has_is_asked_too(pytester: pytest.Pytester) -> None:
    def write(vocabulary: Mapping[str, int]) -> None:
        model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "?"}
        content = {"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}, "added_tokens": []}
        Path(pytester.path / "tokenizer.json").write_text(json.dumps(content))

    write({"?": 0, "qqxqq": 1, "xqqx": 2})
    pytester.makepyfile(
        test_mine="""
        def test_installed(tokenizer_regression):
            tokenizer_regression.check(impl="tokenizers", model="tokenizer.json")
        """
    )
    pytester.runpytest()
    pytester.runpytest().assert_outcomes(passed=1)
    write({"?": 0, "qqxqq": 2, "xqqx": 1, "qxxxq": 3})
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *encode: other tokens", "E *A and B differ in *"])
    result.stdout.no_fnmatch_line("*texts of ? alone*")


@pytest.mark.long
def test_objects_of_libraries_and_commands_are_recorded_too(pytester: pytest.Pytester) -> None:
    model = {"type": "WordLevel", "vocab": {"a": 0, "bug": 1, "?": 2}, "unk_token": "?"}
    content = {"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}, "added_tokens": []}
    Path(pytester.path / "tokenizer.json").write_text(json.dumps(content))
    pytester.makepyfile(
        test_mine="""
        from tokenizers import Tokenizer

        def test_object(tokenizer_regression):
            tokenizer_regression.check(Tokenizer.from_file("tokenizer.json"), vocabulary=True, compressed=True)

        def test_installed(tokenizer_regression):
            tokenizer_regression.check(impl="tokenizers", model="tokenizer.json", vocabulary=True)

        def test_nothing(tokenizer_regression):
            tokenizer_regression.check()

        def test_two_models(tokenizer_regression):
            tokenizer_regression.check(str.split, model="tokenizer.json")
        """
    )
    pytester.runpytest().assert_outcomes(failed=4)
    result = pytester.runpytest()
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "E *DataError: give one tokenizer: an object, impl= or command=",
            "E *DataError: an object has its model; leave out model=",
        ]
    )
    folder = pytester.path / "test_mine"
    assert {file.name for file in folder.iterdir()} == {"test_object.ndjson.gz", "test_installed.ndjson"}
    assert '"from":"vocabulary/alone:1","text":"bug"' in (folder / "test_installed.ndjson").read_text("utf-8")


def test_texts_and_inputs_that_are_none_are_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_mine="""
        import pytest
        from tokspec.base.errors import DataError

        @pytest.mark.parametrize(("given", "message"), [
            ({"texts": ["a", 1, None]}, "texts: holds 1 at place 1; give a list of texts"),
            ({"texts": "one"}, "texts: 'one' is one text; give a list of texts, such as ['one']"),
            ({"inputs": [None]}, "inputs: holds None at place 0; give a list of inputs"),
            ({"inputs": "a.txt"}, "inputs: 'a.txt' is one text; give a list of inputs, such as ['a.txt']"),
        ])
        def test_given(tokenizer_regression, given, message):
            with pytest.raises(DataError) as caught:
                tokenizer_regression.check(str.split, **given)
            assert str(caught.value) == message
        """
    )
    pytester.runpytest().assert_outcomes(passed=4)


def test_a_tokenizer_without_any_answer_is_one_line_and_leaves_no_folder(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_mine="""
        class Raises:
            def encode(self, text):
                raise SystemExit(0)

        class Vocabulary:
            encode = len

            def get_vocab(self):
                raise LookupError("none")

        class Property:
            @property
            def encode(self):
                raise LookupError("none")

        def test_raises(tokenizer_regression):
            tokenizer_regression.check(Raises(), ["a"])

        def test_nan(tokenizer_regression):
            tokenizer_regression.check(lambda text: [float("nan")], basename="deep/er")

        def test_null(tokenizer_regression):
            tokenizer_regression.check(lambda text: None)

        def test_part(tokenizer_regression):
            tokenizer_regression.check(lambda text: [0.5])

        def test_vocabulary(tokenizer_regression):
            tokenizer_regression.check(Vocabulary())

        def test_property(tokenizer_regression):
            tokenizer_regression.check(Property())
        """
    )
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(failed=6)
    assert [" ".join(line.split()) for line in result.outlines if line.startswith("E ")] == [
        "E tokspec.base.errors.DataError: test_mine.Raises: does not answer any text: "
        "crash: SystemExit: 0 (test_mine.py:3 in encode)",
        "E tokspec.base.errors.DataError: <lambda>: gave no reply 100 times in a row, the last time "
        "protocol: the result holds nan, which is not JSON",
        'E tokspec.base.errors.DataError: <lambda>: does not answer any text: protocol: ids: null is not of type "array"',
        "E tokspec.base.errors.DataError: <lambda>: does not answer any text: "
        'protocol: ids/0: 0.5 is not of types "null", "integer"',
        "E LookupError: none",
        "E tokspec.base.errors.AdapterFault: crash: LookupError: none (test_mine.py:14 in encode)",
    ]
    assert [line for line in result.outlines if "regression.py" in line or "answers.py" in line] == []
    assert [file.name for file in pytester.path.iterdir() if file.name != "__pycache__"] == ["test_mine.py"]
