"""What is right by others than the reference: votes, who is named, crashes that no answer excuses, and new sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.base.errors import AdapterFault, Unsupported
from tokspec.fuzz import checker
from tokspec.fuzz.checker import Checker, Conversations, reference_with
from tokspec.fuzz.example import Example
from tokspec.fuzz.oracle import Comparer
from tokspec.fuzz.panel import Panel, majority
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session

pytestmark = pytest.mark.slow

A, B, C = (Answer({"tokens": [token], "ids": [id]}) for id, token in enumerate("abc"))
UNKNOWN, NO = Refused("unknown_symbol", "?"), Refused("unsupported", "the oracles do not agree")
DIES = Fault("crash", "killed")


@pytest.mark.parametrize(
    ("replies", "right"),
    [
        ([A], A),
        ([A, A, B], A),
        ([A, B], NO),
        ([A, A, B, C], NO),
        ([A, A, B, B, C], NO),
        ([A, A, A, B, C], A),
        ([A, Refused("unsupported", "no")], A),
        ([A, A, B, Refused("unsupported", "no")], A),
        ([DIES, DIES, A], A),
        ([DIES], NO),
        ([UNKNOWN, Refused("unknown_symbol", "otherwise said"), A], UNKNOWN),
        ([UNKNOWN, A], NO),
        ([Answer({"ids": [0], "tokens": ["a"]}), A, B], A),
        ([Answer({"ids": [0]}), A, B], Answer({"ids": [0]})),
        ([Answer({"ids": [0]}), A, A], A),
        ([Answer({"ids": [0]}), Answer({"tokens": ["a"]}), A], A),
        ([Answer({"ids": [0]}), Answer({"tokens": ["a"]})], NO),
        ([Answer({"ids": [0]}), Answer({"ids": [0]}), Answer({"ids": [0], "spans": [[0, 1]]})], Answer({"ids": [0]})),
    ],
)
def test_more_than_half_of_those_that_answered_are_right(replies: list[Reply], right: Reply) -> None:
    given = majority(replies, "encode")
    if isinstance(right, Refused):
        assert isinstance(given, Refused)
        assert given.reason == right.reason
    else:
        assert given == right


def test_what_is_no_encoding_is_alike_or_not() -> None:
    whole, part = Answer({"vocabulary": ["a"], "merges": []}), Answer({"vocabulary": ["a"]})
    assert majority([whole, part], "train") == NO
    assert majority([whole, whole, part], "train") == whole


def test_ids_alone_do_not_say_which_segmentations_are_as_good() -> None:
    assert majority([Answer({"ids": [0]})], "encode", needs_tokens=True) == NO
    assert majority([A], "encode", needs_tokens=True) == A


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


def session_of(adapter: type[ReferenceAdapter]) -> Conversations:
    return Conversations(lambda: InProcessSession(adapter()))


def test_oracles_are_named() -> None:
    members = [session_of(ReferenceAdapter), session_of(Other)]
    choices = Checker(members[0]).choices
    assert Checker(members[0]).oracle.who == "the reference"
    assert Panel(members[:1], choices).who == "tokref 0.1.0"
    assert Panel(members, choices, ("tokref", "mine:Other")).who == "most of tokref 0.1.0, other 2 (mine:Other)"


def test_who_gives_ids_alone_is_compared_by_them() -> None:
    example = Example({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "aa"})
    for judged, member in ((ReferenceAdapter, Other), (Other, ReferenceAdapter)):
        check = Checker(session_of(judged))
        check.oracle = Panel([session_of(member)], check.choices)
        assert [one.state for one in check.compare([example])] == ["same"]


class Wide(ReferenceAdapter):
    """Gives the character behind it to one that was added: no clause says where that is."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer with other spans."""
        result = super().run(operation, model, input)
        wide = [[start, max(end, start + 1)] for start, end in result.get("spans", ())]
        return {**result, "spans": wide} if wide else result


def test_what_is_left_open_is_no_difference_from_another_oracle() -> None:
    model = {"type": "bpe", "vocabulary": ["▁", "a"], "pre_tokenizer": {"type": "metaspace"}}
    asked = [Example(model, "encode", {"text": "a"})]
    for judged, member in ((ReferenceAdapter, Wide), (Wide, ReferenceAdapter), (Wide, Wide)):
        check = Checker(session_of(judged))
        check.oracle = Panel([session_of(member)], check.choices)
        assert [one.state for one in check.compare(asked)] == ["same"]


@pytest.mark.parametrize("text", ["x", "xa"])
@pytest.mark.parametrize("oracle", [ReferenceAdapter, Other, Nothing])
def test_a_crash_is_a_difference_whatever_the_oracle_does(text: str, oracle: type[ReferenceAdapter]) -> None:
    check = Checker(session_of(Other))
    check.oracle = Panel([session_of(oracle)], check.choices)
    (found,) = check.compare([Example({"type": "bpe", "vocabulary": ["a", "x"]}, "encode", {"text": text})])
    assert (found.state, found.kind) == ("differs", "crash")


def test_a_crash_is_a_difference_where_no_clause_says_what_is_right() -> None:
    session = reference_with({})
    comparer = Comparer(session, session.hello, Checker(session_of(ReferenceAdapter)).choices)
    asked = ("encode", {"text": "a"})
    for right in (Refused("invalid_input", "?"), Refused("unsupported", "?"), Fault("crash", "killed")):
        found = comparer.compare({}, asked, right, DIES)
        assert (found.state, found.kind) == ("differs", "crash")
        assert comparer.compare({}, asked, right, UNKNOWN).state == "open"
    infinite = Fault("protocol", "the result holds inf, which is not JSON")
    assert comparer.compare({}, asked, infinite, infinite).state == "open"
    assert comparer.compare({}, asked, DIES, infinite).kind == "protocol"
    due = comparer.compare({}, ("best_pair", {"words": []}), Refused("invalid_input", "?"), DIES)
    assert (due.state, due.kind) == ("differs", "crash, not refused as invalid_input")


def test_what_does_not_start_again_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Session] = []

    def open() -> Session:
        if len(opened) == 1 and len(asked) < 5:
            raise AdapterFault("crash", "exit status 1")
        opened.append(InProcessSession(ReferenceAdapter()))
        return opened[-1]

    monkeypatch.setattr(checker, "MODELS", 1)
    asked: list[Reply] = []
    conversations = Conversations(open)
    conversations.most = 1
    for number in range(8):
        model = {"type": "bpe", "vocabulary": ["a", f"{number}"]}
        asked += conversations.ask([Example(model, "encode", {"text": f"{number}"})])
    assert [reply.result["ids"] for reply in asked if isinstance(reply, Answer)] == [[1]] * 8
    assert len(opened) > 1
