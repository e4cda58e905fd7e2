"""Many texts in one message: what each comes to is its own, however the implementation fails at others."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello, Refusal
from tokspec.adapters.registry import open_session
from tokspec.compare.answers import Asker, Input, answer, answer_as
from tokspec.compare.compare import compare_texts, default_inputs
from tokspec.compare.minimize import Minimizer
from tokspec.compare.recording import header_of, line_of, write_records
from tokspec.compare.tally import Tally
from tokspec.compare.texts import texts_of_vocabulary
from tokspec.formats.user_model import UserModel
from tokspec.protocol.messages import Answer, Fault, Refused, Request
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.packs import cases_of
from tokspec.suite.recordings import read_recording

MODEL = UserModel("tokspec", {}, "mine.json", "")
TEXTS = ["ab", "refuse", "", "fail", "b"]


class Letters:
    """Has a letter's code point for its id, and trouble with some words."""

    def hello(self) -> Hello:
        return Hello("letters", "1", "Python", ("encode", "decode"), encode_fields=("tokens", "ids"))

    def load(self, format: str, content: Any) -> None:
        return None

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "decode":
            return {"text": "".join(map(chr, input["ids"]))}
        if input["text"] == "refuse":
            raise Refusal("unknown_symbol", "r")
        if input["text"] == "fail":
            raise ValueError("no such word")
        return {"tokens": list(input["text"]), "ids": [ord(letter) for letter in input["text"]]}


class Quick(Letters):
    """Has a function from a text to its ids, and another id for the letter b."""

    def encoder(self, model: None) -> Callable[[str], list[int]]:
        return lambda text: [ord(letter) + (letter == "b") for letter in text]


def ask(session: InProcessSession, operation: str, input: dict[str, Any]) -> Any:
    ((_, reply),) = session.ask([Request(operation, "own", {}, input, MODEL)])
    return reply


def test_what_is_no_answer_stands_in_its_place() -> None:
    with InProcessSession(Letters()) as session:
        assert session.hello.many == ("encode", "decode")
        reply = ask(session, "encode_many", {"texts": TEXTS})
        crash = reply.result["ids"].pop(3)
        assert reply == Answer({"ids": [[97, 98], {"refused": {"reason": "unknown_symbol", "message": "r"}}, [], [98]]})
        assert list(crash) == ["crashed"]
        assert crash["crashed"]["message"].startswith("ValueError: no such word (test_diff_many.py:")
        assert ask(session, "decode_many", {"ids": [[97], []]}) == Answer({"texts": ["a", ""]})


def test_who_gives_no_ids_is_not_asked_about_many() -> None:
    class Tokens(Letters):
        def hello(self) -> Hello:
            return replace(super().hello(), encode_fields=("tokens",), operations=("encode",))

    with InProcessSession(Tokens()) as session:
        assert session.hello.many == ()
        refused = Refused("unsupported", "does not offer encode_many")
        assert ask(session, "encode_many", {"texts": TEXTS}) == refused


@pytest.mark.parametrize("many", [("encode", "decode"), ()], ids=["together", "one by one"])
def test_ids_are_those_of_each_text(many: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    with InProcessSession(Letters()) as session:
        monkeypatch.setattr(session, "_hello", replace(session.hello, many=many))
        asker = Asker(session, MODEL)
        assert list(asker.ids_of(TEXTS)) == [[97, 98], None, [], None, [98]]
        assert list(asker.texts_of([[97, 98], []])) == ["ab", ""]


#: The letters in JavaScript, served by what adapters in that language share.
LETTERS = """
import {{ Refusal, serve }} from {protocol};
const operations = {{
  encode(model, {{ text }}) {{
    if (text === "refuse") throw new Refusal("unknown_symbol", "r");
    if (text === "fail") throw new Error("no such word");
    return {{ ids: [...text].map((letter) => letter.codePointAt(0)) }};
  }},
  decode: (model, {{ ids }}) => ({{ text: String.fromCodePoint(...ids) }}),
}};
await serve({{ name: "letters", version: "1", language: "JavaScript", formats: ["tokspec"], encode_fields: ["ids"] }}, () => ({{}}), operations);
"""


@pytest.mark.slow
def test_a_program_is_asked_about_many(tmp_path: Path) -> None:
    protocol = Path(__file__).parents[2] / "adapters" / "javascript" / "protocol.mjs"
    (tmp_path / "letters.mjs").write_text(LETTERS.format(protocol=json.dumps(protocol.as_uri())), "utf-8")
    with open_session(None, f"node {tmp_path / 'letters.mjs'}") as session:
        asker = Asker(session, MODEL)
        assert session.hello.many == ("encode", "decode")
        assert list(asker.ids_of(TEXTS)) == [[97, 98], None, [], None, [98]]
        assert list(asker.texts_of([[97, 98], []])) == ["ab", ""]


def test_too_few_answers_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with InProcessSession(Letters()) as session:
        asker = Asker(session, MODEL)
        monkeypatch.setattr(session, "_reply", lambda request: Answer({"ids": [[1]]}))
        assert list(asker.ids_of(TEXTS)) == [None] * 5
        monkeypatch.setattr(session, "_reply", lambda request: Answer({"ids": "all"}))
        assert list(asker.ids_of(TEXTS)) == [None] * 5


def test_the_texts_of_a_vocabulary_are_recorded_by_their_ids() -> None:
    tokens = [Input("vocabulary/alone", str(id), text) for id, text in enumerate(TEXTS, 97)]
    words = [Input("texts/words", "a", "a"), *tokens]
    words.append(Input("vocabulary/pairs", "1+2", "ab"))
    with InProcessSession(Letters()) as session:
        asker = Asker(session, MODEL)
        records = list(answer(asker, words))
        assert [record.input for record in records] == words
        whole, first, refused, empty, failed, last, pair = (record.replies for record in records)
        assert whole == {"encode": Answer({"tokens": ["a"], "ids": [97]}), "decode": Answer({"text": "a"})}
        assert first == {"encode": Answer({"ids": [97, 98]}), "decode": Answer({"text": "a"})}
        assert refused == {"encode": Refused("unknown_symbol", "r")}
        assert empty == {"encode": Answer({"ids": []}), "decode": Answer({"text": "c"})}
        assert isinstance(failed["encode"], Fault)
        assert last == {"encode": Answer({"ids": [98]}), "decode": Answer({"text": "e"})}
        assert pair == {"encode": Answer({"ids": [97, 98]})}
        again = list(answer_as(asker, records))
    assert [replies for _, replies in again] == [record.replies for record in records]


def test_a_text_with_other_ids_is_asked_whole() -> None:
    texts = [Input("vocabulary/alone", text, text) for text in TEXTS]
    tally, noted = Tally(), list[int]()
    with InProcessSession(Letters()) as one, InProcessSession(Quick()) as other:
        compare_texts(Asker(one, MODEL), Asker(other, MODEL), texts, tally, note=noted.append)
    # alone, B answers as A does: that is two answers of B to a text, and one of them differs
    assert (tally.texts, tally.different, sum(noted)) == (5, 2, 5)


class Mute(Letters):
    """Refuses to decode the letter b."""

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "decode" and 98 in input["ids"]:
            raise Refusal("unknown_id", "no b")
        return super().run(operation, model, input)


def test_a_token_that_one_side_does_not_decode_differs() -> None:
    tokens = [Input("vocabulary/alone", str(ord(letter)), letter) for letter in "abc"]
    tally = Tally()
    with InProcessSession(Letters()) as one, InProcessSession(Mute()) as other:
        compare_texts(Asker(one, MODEL), Asker(other, MODEL), tokens, tally)
        records = list(answer(Asker(other, MODEL), tokens))
    assert {name: (each.same, each.different) for name, each in tally.sections.items()} == {
        "encode/vocabulary/alone": (3, 0),
        "decode/vocabulary/alone": (2, 1),
    }
    assert [str(group.cause) for group in tally.causes] == ["decode: B refuses as unknown_id"]
    assert records[1].replies == {"encode": Answer({"ids": [98]}), "decode": Refused("unknown_id", "no b")}
    assert line_of(records[1], {}) == {
        "from": "vocabulary/alone:98",
        "text": "b",
        "ids": [98],
        "decoded": None,
        "refused": {"decode": "unknown_id"},
    }


class Skips(Letters):
    """Leaves the token with the id 120 out where that is asked for."""

    def hello(self) -> Hello:
        return replace(super().hello(), formats=("tokenizer.json",), decode_options=("skip_special_tokens",))

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> dict[str, Any]:
        if operation == "decode" and input.get("skip_special_tokens"):
            input = {"ids": [id for id in input["ids"] if id != 120]}
        return super().run(operation, model, input)


class Ignores(Skips):
    """Takes the option, and does nothing about it."""

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> dict[str, Any]:
        return Letters().run(operation, model, input)


def test_texts_of_ids_are_compared_without_special_tokens_too() -> None:
    added = {"id": 120, "content": "x", "special": True}
    model = UserModel(
        "tokenizer.json", {"model": {"type": "BPE", "vocab": {}, "merges": []}, "added_tokens": [added]}, "t.json", ""
    )
    tally = Tally()
    with InProcessSession(Skips()) as one, InProcessSession(Ignores()) as other:
        a, b = (Asker(each, model) for each in (one, other))
        inputs = default_inputs(a, 0)
        compare_texts(a, b, inputs, tally)
    skipped = [each for each in inputs if each.section.startswith("skipped/")]
    found = {name: each.different for name, each in tally.sections.items() if each.different}
    assert found == {"decode/skipped": sum("x" in each.text for each in skipped)}
    first = tally.causes[0]
    assert (first.cause.operation, first.example.input) == ("decode", {"ids": [120], "skip_special_tokens": True})


@pytest.mark.parametrize("ids_alone", [False, True])
def test_texts_are_those_of_the_ids_whatever_is_compared(ids_alone: bool) -> None:
    content = {"model": {"type": "BPE", "vocab": {"Ġa": 97, "Ġb": 98}, "merges": []}}
    model = UserModel("tokenizer.json", content, "t.json", "")
    with InProcessSession(Letters()) as session:
        inputs = default_inputs(Asker(session, model, ids_alone=ids_alone), 0)
    assert [each.text for each in inputs if each.section == "vocabulary/alone"] == ["a", "b"]


class Names(Letters):
    """Has other names for the same ids; and another id for the letter z."""

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> dict[str, Any]:
        result = super().run(operation, model, input)
        if operation == "encode":
            ids = [id + (id == ord("z")) for id in result["ids"]]
            return {"tokens": [f"<{token}>" for token in result["tokens"]], "ids": ids}
        return result


def test_what_changes_no_ids_is_the_last_cause_and_no_other_becomes_it() -> None:
    tally = Tally()
    texts = [Input("texts/words", text, text) for text in ("ab", "ba", "bz")]
    with InProcessSession(Letters()) as one, InProcessSession(Names()) as other:
        compare_texts(Asker(one, MODEL), Asker(other, MODEL), texts, tally)
        assert [str(group.cause) for group in tally.causes] == [
            "encode: another token, at letters (latin)",
            "encode: the same ids, other names of tokens",
        ]
        small = Minimizer((one, other), (MODEL, MODEL), ("", "")).minimize(tally.causes[0])
    assert small is not None
    assert small.input == {"text": "z"}


def test_what_is_compared_by_ids_alone_is_made_small_by_ids_alone() -> None:
    letters = {chr(id): id for id in range(97, 124)}
    model = UserModel("tokenizer.json", {"model": {"type": "BPE", "vocab": letters, "merges": []}}, "t.json", "")
    tally = Tally()
    with InProcessSession(Letters()) as one, InProcessSession(Names()) as other:
        a, b = (Asker(each, model, ids_alone=True) for each in (one, other))
        compare_texts(a, b, [Input("texts/words", "a", "abzy")], tally)
        (group,) = tally.causes
        small = Minimizer((one, other), (model, model), ("", ""), ids_alone=True).minimize(group)
    assert str(group.cause) == "encode: another token, at letters (latin)"
    assert small is not None
    assert small.input == {"text": "z"}


def test_the_longest_tokens_stand_in_a_row() -> None:
    made = texts_of_vocabulary({0: "hug", 1: "s", 2: "pug"}, made=0)
    found = {each.name: each.text for each in made if each.section == "vocabulary/longest"}
    assert found == {"0+0": "hughug", "2+2": "pugpug", "1+1": "ss", "0+2": "hugpug", "2+1": "pugs"}


def test_a_recording_judges_as_a_pack(tmp_path: Path) -> None:
    words = [Input("texts/words", "a", "ab"), Input("texts/words", "b", "\ud800"), Input("texts/words", "c", "refuse")]
    words += [Input("vocabulary/alone", str(id), text) for id, text in zip((98, 1, 2, 3, 98), TEXTS, strict=True)]
    file = tmp_path / "My Pack.ndjson.gz"
    model = UserModel("tokspec", {}, "mine.json", "0" * 64)
    with InProcessSession(Letters()) as session:
        asker = Asker(session, model)
        written = write_records(file, asker, header_of(asker, "not added", {}), answer(asker, words))
    assert (written.records, written.tokens) == (8, 6)
    pack = read_recording(file)
    assert (pack.header.is_of("0" * 64), pack.header.is_of("1" * 64)) == (True, False)
    cases = cases_of(pack, model).cases
    assert {name: (case.why, case.input, case.outcome["expect"]) for name, case in cases.items()} == {
        "my-pack-0002-encode": ("texts/words:a", {"text": "ab"}, {"ids": [97, 98]}),
        "my-pack-0002-decode": ("texts/words:a", {"ids": [97, 98]}, {"text": "ab"}),
        "my-pack-0003-encode": ("texts/words:b", {"text": "\ud800"}, {"ids": [0xD800]}),
        "my-pack-0003-decode": ("texts/words:b", {"ids": [0xD800]}, {"text": "\ud800"}),
        "my-pack-0007-encode": ("vocabulary/alone:2", {"text": ""}, {"ids": []}),
        "my-pack-0009-encode": ("vocabulary/alone:98", {"text": "b"}, {"ids": [98]}),
        "my-pack-0009-decode": ("vocabulary/alone:98", {"ids": [98]}, {"text": "b"}),
    }


def test_faults_at_tokens_are_found(place: Any) -> None:
    tokens = ["a", "b", "Q", "REFUSES", "DIES", "c"]
    (place.folder / "model.json").write_text(json.dumps({"type": "bpe", "vocabulary": tokens, "merges": []}))
    status, out, err = place.run(
        "--select", "vocabulary/alone", "--show", "0", sides=("trouble:Troubled", "trouble:Sound", *place.loaded)
    )
    assert (status, err) == (1, "")
    assert out.splitlines()[-3:] == [
        "… and 3 more causes; --show 3 shows them all",
        "",
        "A and B differ in 3 (50 %) of 6 inputs, 15 bytes; 12 (80 %) of 15 tokens differ",
    ]


@pytest.mark.slow
def test_an_interruption_shows_what_is_known(place: Any) -> None:
    tokens = ["Q", *(f"WAITS{number}" for number in range(4000))]
    (place.folder / "model.json").write_text(json.dumps({"type": "bpe", "vocabulary": tokens, "merges": []}))
    sides = ("trouble:Troubled", "trouble:Sound", *place.loaded)
    process = place.start("--select", "texts/*", "--select", "vocabulary/alone", "--show", "0", sides=sides)
    line = ""
    while "comparing texts" not in line:  # which a slow comparison tells after five seconds, and again later
        line = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err.splitlines()[-1]) == (2, "interrupted")
    found = out.splitlines()
    assert "interrupted: the rest is not compared" in found
    assert found[-1].startswith("A and B ")
