"""Sweeps: every entry of a vocabulary is asked, and each 64 ids are three cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tokspec.adapter import Hello
from tokspec.adapters.tokfast import TokfastAdapter
from tokspec.base.errors import DataError
from tokspec.cli import tokspec as group
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.judge.sweeping import Swept, parts_of, sweep_cases
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.recordings import Header, write_recording
from tokspec.suite.sweeps import (
    LEFT_OUT,
    Sweep,
    blocks_of,
    digest_of_ids,
    digest_of_texts,
    read_sweep,
    step_for,
    sweep_of,
)

#: Seventy letters from a to ĥ, and a merge; the id 3 is a hole.
LETTERS = [chr(97 + number) for number in range(26)] + [chr(0x100 + number) for number in range(44)]
VOCABULARY = {letter: id for id, letter in enumerate(LETTERS) if id != 3} | {"ab": 70}
CONTENT: dict[str, Any] = {
    "version": "1.0",
    "model": {"type": "BPE", "vocab": VOCABULARY, "merges": [["a", "b"]], "ignore_merges": False},
    "added_tokens": [],
    **dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder")),
}
MODEL = UserModel("tokenizer.json", CONTENT, "tokenizer.json", "0" * 64)
SIZE = 71


def make_sweep(model: UserModel = MODEL) -> Sweep:
    """Return the sweep of what tokfast gives."""
    sweep = Sweep(SIZE, step_for(SIZE), {}, "", "", "")
    digests: dict[str, Any] = {}
    for part in parts_of(sweep, {}, model):
        by_block = {block: part.digest(ids) for block, ids in blocks_of([*part.due])}
        digests[part.name] = "".join(by_block[block] for block in range(2))
    return replace(sweep, **digests)


class Wrong(TokfastAdapter):
    """tokfast, which has faults where a test says so."""

    def __init__(self, choices: Mapping[str, str] = {}, *, fault: str = "") -> None:
        super().__init__(choices)
        self._fault, self._asked = fault, 0

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "decode" and self._fault == "text" and input["ids"] == [65]:
            return {"text": "?"}
        result = dict(super().run(operation, model, input))
        if operation == "encode" and self._fault == "merge" and input["text"] == "ab":
            return {"tokens": ["a", "b"], "ids": [0, 1]}
        if operation == "encode" and self._fault == "crash" and input["text"] == "b":
            raise ValueError("no b")
        if operation == "encode" and self._fault == "state":
            self._asked += 1
            return {"tokens": [], "ids": []} if self._asked == 10 else result
        return result

    def encoder(self, model: Any) -> Any:
        """Encode one text after the other, so that the faults show."""
        return lambda text: self.run("encode", model, {"text": text})["ids"]


def swept(fault: str = "", sweep: Sweep | None = None) -> Swept:
    with InProcessSession(Wrong(fault=fault)) as session:
        return sweep_cases("toy", "toy.pack.jsonl", sweep or make_sweep(), {}, MODEL, session)


def test_a_digest_is_that_of_fnv() -> None:
    """FNV's authors publish 0xbf9cf968 for foobar; a zero byte behind it multiplies that by the prime."""
    hash = 0xBF9CF968 * 0x01000193 & 0xFFFFFFFF
    assert digest_of_texts(["foobar"]) == f"{(hash >> 16) ^ (hash & 0xFFFF):04x}"
    assert (digest_of_texts([]), digest_of_ids([])) == ("1cd9", "1cd9")  # 0x811c9dc5, folded


def test_the_texts_of_a_sweep() -> None:
    texts = ["a", "", "b\ufffd", "c", "\ud800", "d", "e"]
    assert sweep_of(texts, 3) == {0: ("a", "aa"), 3: ("c", ""), 5: ("d", ""), 6: ("e", "")}


def test_each_block_is_three_cases() -> None:
    found = swept()
    assert [*found.cases] == [f"toy-{part}-000{block}" for part in ("texts", "ids", "pairs") for block in (0, 1)]
    assert (found.differing, found.left_out) == (set(), 0)
    texts, ids, pairs = (found.cases[f"toy-{part}-0001"] for part in ("texts", "ids", "pairs"))
    assert (texts.operation, texts.input, texts.outcome) == ("decode", {"ids": [64]}, {"expect": {"text": "Ħ"}})
    assert (ids.input, ids.outcome, ids.why) == (
        {"text": "Ħ"},
        {"expect": {"ids": [64]}},
        "the texts of the ids 64 to 70; most come back as one id",
    )
    assert pairs.why == "the texts of the ids 64 to 70, each with another after it; most come back as two ids"


@pytest.mark.parametrize(
    ("fault", "id", "input"),
    [
        ("text", "toy-texts-0001", {"ids": [65]}),
        ("merge", "toy-ids-0001", {"text": "ab"}),
        ("crash", "toy-ids-0000", {"text": "b"}),
    ],
)
def test_a_case_asks_about_the_first_text_that_differs(fault: str, id: str, input: Mapping[str, Any]) -> None:
    found = swept(fault)
    assert found.differing == {id}
    assert found.cases[id].input == input


def test_a_block_on_which_makers_differ_is_left_out() -> None:
    sweep = make_sweep()
    found = swept(sweep=replace(sweep, ids=LEFT_OUT + sweep.ids[4:]))
    assert "toy-ids-0000" not in found.cases
    assert (len(found.cases), found.left_out, found.unjudged) == (5, 1, 0)


def test_a_digest_that_tokfast_does_not_give_is_not_passed_over(folder: Path) -> None:
    sweep = make_sweep()
    found = swept(sweep=replace(sweep, ids="0000" + sweep.ids[4:]))
    assert (len(found.cases), found.left_out, found.unjudged) == (5, 0, 1)
    write_toy_pack(replace(sweep, ids="0000" + sweep.ids[4:]))
    _, *lines, last = judged("--impl", "tokenizers")
    assert "digests of the sweep that tokfast does not give, so that nothing was judged by them: 1" in lines
    assert last == "tokenizers 0.23.3 does not conform: 7 cases = 7 pass"


def test_who_does_not_decode_is_asked_for_ids() -> None:
    class Encodes(Wrong):
        def hello(self) -> Hello:
            return replace(super().hello(), operations=("encode",))

    with InProcessSession(Encodes()) as session:
        found = sweep_cases("toy", "toy.pack.jsonl", make_sweep(), {}, MODEL, session)
    assert found.differing == {"toy-texts-0000", "toy-texts-0001"}


def test_who_fails_again_and_again_is_not_asked_all_together() -> None:
    asked = []

    class Fails(Wrong):
        def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
            asked.append(operation)
            raise ValueError("no")

    class Session(InProcessSession):
        @property
        def hello(self) -> Hello:
            return replace(super().hello, many=())

    with Session(Fails()) as session:
        found = sweep_cases("toy", "toy.pack.jsonl", make_sweep(), {}, MODEL, session)
    assert found.differing == {*found.cases}
    assert (asked.count("decode"), asked.count("encode")) == (50, 100)


def test_a_sweep_has_a_digest_for_each_block() -> None:
    value = {**make_sweep().header(), "ids": "00000000ffff"}
    with pytest.raises(DataError) as caught:
        read_sweep(value)
    assert str(caught.value) == "sweep.ids: has 3 digests, and 71 ids have 2 blocks of 64"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model, a pack of it, and adapters with faults."""
    monkeypatch.chdir(tmp_path)
    Path("tokenizer.json").write_text(json.dumps(CONTENT), "utf-8")
    write_toy_pack(make_sweep())
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return tmp_path


def write_toy_pack(sweep: Sweep) -> None:
    """Write a pack of one line and a sweep for the tokenizer.json of this folder."""
    model = read_user_model(Path("tokenizer.json"), whole=True)
    who = {"name": "tokenizers", "version": "0", "language": "Rust"}
    summary = {"file": "tokenizer.json", "format": "tokenizer.json", "sha256": model.sha256}
    assert model.sha256 == sha256(Path("tokenizer.json").read_bytes()).hexdigest()
    header = Header("0.3.0", who, {}, summary, "as called", ("encode", "decode"), {}, "toy", sweep=sweep.header())
    write_recording(Path("toy.pack.jsonl"), header, [{"text": "abc", "ids": [70, 2], "decoded": "ab c"}])


def judged(*arguments: str) -> list[str]:
    given = ("run", "--pack", "toy.pack.jsonl", "--model", "tokenizer.json", *arguments)
    done = CliRunner().invoke(group, given)
    return [done.stderr.strip(), *done.stdout.splitlines()]


def test_a_run_has_the_cases_of_the_sweep(folder: Path) -> None:
    noted, *_, last = judged("--impl", "tokenizers")
    assert (noted, last) == ("", "tokenizers 0.23.3 conforms: 8 cases = 8 pass")


def test_the_sweep_of_another_file_is_left_out(folder: Path) -> None:
    Path("tokenizer.json").write_text(json.dumps(CONTENT) + " ", "utf-8")
    noted, *_, last = judged("--impl", "tokenizers")
    assert noted == "tokenizer.json is not the file that the pack toy was made from, so its sweep is left out"
    assert last == "tokenizers 0.23.3 conforms: 2 cases = 2 pass"


def test_what_fails_together_and_passes_alone_is_no_pass(folder: Path) -> None:
    Path("forgets.py").write_text(
        "from test_sweeps import Wrong\nclass Forgets(Wrong):\n"
        "    def __init__(self):\n        super().__init__(fault='state')\n",
        "utf-8",
    )
    _, *lines, last = judged("--impl", "forgets:Forgets", "--in-process")
    assert "toy-ids-0000 passes alone, but failed when everything was asked" in lines
    assert last.endswith(" does not conform: 8 cases = 8 pass")
