"""What is compared: another implementation as the oracle, and crashes that no answer excuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import Unsupported
from tokspec.compare.shrink import Question
from tokspec.fuzz.checker import Checker, Comparison, Rival, Side
from tokspec.protocol.messages import Fault, Refused, Reply, Request
from tokspec.protocol.spans import convert_spans
from tokspec.sessions.in_process import InProcessSession

pytestmark = pytest.mark.slow


class Other(ReferenceAdapter):
    """The reference under another name, which gives ids alone and crashes at an x."""

    def hello(self) -> Hello:
        """Describe it."""
        return Hello("other", "2", "Python", ("encode", "best_pair"), encode_fields=("ids",))

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer with less."""
        if operation == "best_pair" or "x" in input["text"]:
            raise IndexError("list index out of range")
        return {"ids": super().run(operation, model, input)["ids"]}


class Nothing(ReferenceAdapter):
    """Supports nothing."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Refuse."""
        raise Unsupported("not today")


def side(adapter: type[ReferenceAdapter], **choices: str) -> Side:
    return Side(lambda: InProcessSession(adapter(choices)))


def checker(judged: type[ReferenceAdapter], oracle: type[ReferenceAdapter], **choices: str) -> Checker:
    """Compare an implementation with another one, which takes the choices."""
    made = Checker(side(judged))
    made.oracle = Rival(side(oracle, **choices), made.choices, "")
    return made


def encode(text: str, **model: Any) -> Question:
    return Question({"type": "bpe", "vocabulary": ["a"], **model}, "encode", {"text": text})


def test_oracles_are_named() -> None:
    choices = Checker(side(ReferenceAdapter)).choices
    assert Checker(side(ReferenceAdapter)).oracle.who == "the reference"
    assert Rival(side(ReferenceAdapter), choices, "tokref").who == "tokref 0.3.0"
    assert Rival(side(Other), choices, "mine:Other").who == "other 2 (mine:Other)"


def test_who_gives_ids_alone_is_compared_by_them() -> None:
    for judged, oracle in ((ReferenceAdapter, Other), (Other, ReferenceAdapter)):
        assert checker(judged, oracle).compare_one(encode("aa")).state == "same"


class Loses(ReferenceAdapter):
    """Loses the last token."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer with less."""
        return {key: value[:-1] for key, value in super().run(operation, model, input).items()}


def test_what_differs_from_another_oracle_differs() -> None:
    for judged, oracle in ((ReferenceAdapter, Loses), (Loses, ReferenceAdapter)):
        found = checker(judged, oracle).compare_one(encode("aa"))
        assert (found.state, found.kind) == ("differs", "tokens")
    assert checker(Loses, Loses).compare_one(encode("aa")).state == "same"


def test_an_oracle_with_other_choices_is_asked_only_where_that_makes_no_difference() -> None:
    made = checker(ReferenceAdapter, ReferenceAdapter, bpe_unknown_without_token="kept")
    assert made.compare_one(encode("aa")).state == "same"
    assert made.compare_one(encode("ab")).state == "open"


class ByBytes(ReferenceAdapter):
    """Counts in bytes, and gives an a the span of what is before it."""

    def hello(self) -> Hello:
        """Say so."""
        hello = super().hello()
        return replace(hello, choices={**hello.choices, "offset_unit": "byte"})

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer in bytes."""
        result = convert_spans(super().run(operation, model, input), input.get("text", ""), "byte")
        if "aa" in input.get("text", "") and operation == "encode":
            result = {**result, "spans": [[0, end] for _, end in result["spans"]]}
        return result


def test_an_oracle_that_counts_in_other_units_is_compared_by_characters() -> None:
    made = checker(ReferenceAdapter, ByBytes)
    assert made.compare_one(encode("éa", vocabulary=["a", "é"])).state == "same"
    found = made.compare_one(encode("éaa", vocabulary=["a", "é"]))
    assert (found.state, found.kind) == ("differs", "spans")
    assert found.result is not None
    assert found.result.expected["expect"]["spans"] == [[0, 1], [0, 2], [0, 3]]


class Wide(ReferenceAdapter):
    """Gives the character behind it to one that was added: no clause says where that is."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer with other spans."""
        result = super().run(operation, model, input)
        wide = [[start, max(end, start + 1)] for start, end in result.get("spans", ())]
        return {**result, "spans": wide} if wide else result


def test_what_is_left_open_is_no_difference_from_another_oracle() -> None:
    asked = encode("a", vocabulary=["▁", "a"], pre_tokenizer={"type": "metaspace"})
    for judged, oracle in ((ReferenceAdapter, Wide), (Wide, ReferenceAdapter), (Wide, Wide)):
        assert checker(judged, oracle).compare_one(asked).state == "same"


@pytest.mark.parametrize("text", ["x", "xa"])
@pytest.mark.parametrize("oracle", [ReferenceAdapter, Other, Nothing])
def test_a_crash_is_a_difference_whatever_the_oracle_does(text: str, oracle: type[ReferenceAdapter]) -> None:
    found = checker(Other, oracle).compare_one(encode(text, vocabulary=["a", "x"]))
    assert (found.state, found.kind) == ("differs", "crash")


class Scripted(InProcessSession):
    """Gives one reply to everything."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(ReferenceAdapter())
        self.reply = reply

    def _reply(self, request: Request) -> Reply:
        return self.reply


DIES, UNKNOWN = Fault("crash", "killed"), Refused("unknown_symbol", "?")
INFINITE = Fault("protocol", "the result holds inf, which is not JSON")


def compared(right: Reply, reply: Reply) -> Comparison:
    return Checker(Side(lambda: Scripted(reply)), Side(lambda: Scripted(right))).compare_one(encode("a"))


@pytest.mark.parametrize(
    ("right", "reply", "state", "kind"),
    [
        (Refused("unsupported", "?"), DIES, "differs", "crash"),
        (Refused("unsupported", "?"), UNKNOWN, "open", ""),
        (INFINITE, DIES, "differs", "crash"),
        (INFINITE, INFINITE, "open", ""),
        (DIES, UNKNOWN, "open", ""),
        (Refused("invalid_input", "?"), Refused("invalid_input", "otherwise said"), "same", "refused"),
        (Refused("invalid_input", "?"), UNKNOWN, "differs", "not refused as invalid_input"),
        (Refused("invalid_input", "?"), DIES, "differs", "crash, not refused as invalid_input"),
        (UNKNOWN, Refused("unsupported", "?"), "unsupported", ""),
    ],
)
def test_replies_that_are_no_answers_are_compared(right: Reply, reply: Reply, state: str, kind: str) -> None:
    found = compared(right, reply)
    assert (found.state, found.kind) == (state, kind)


def test_a_program_that_dies_often_is_asked_less() -> None:
    made = Checker(Side(lambda: Scripted(DIES)))
    asked = ("encode", {"text": "a"})
    for _ in range(5):
        assert made.worth_asking({"type": "bpe"}, [asked]) == [asked]
        made.compare_one(encode("a"))
    assert made.worth_asking({"type": "bpe"}, [asked, ("decode", {"ids": []})]) == [("decode", {"ids": []})]


def test_after_a_request_that_hangs_the_others_wait() -> None:
    made = Checker(Side(lambda: Scripted(Fault("timeout", "no reply within 1 s"))))
    asked = [("encode", {"text": "a" * number}) for number in range(1, 21)]
    for _ in range(2):
        assert len(list(made.compare({"type": "bpe", "vocabulary": ["a"]}, asked))) == 1
