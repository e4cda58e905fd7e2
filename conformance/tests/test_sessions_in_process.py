"""The session with an adapter in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.base.errors import AdapterFault
from tokspec.base.json_values import copy_json
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.in_process import InProcessSession

HELLO = Hello("mine", "1", "Python", operations=("encode",))
MODEL: dict[str, Any] = {"type": "bpe", "vocabulary": ["b"], "merges": []}


class Adapter:
    """An adapter whose ``run``, ``load`` and ``hello`` are given; it notes what it was asked."""

    def __init__(
        self,
        run: Callable[[Any], Any] = lambda input: {"tokens": list(input["text"])},
        load: Callable[[Any], Any] = lambda content: None,
        hello: Callable[[], Any] = lambda: HELLO,
    ) -> None:
        self.run_one, self.load_one, self.hello = run, load, hello
        self.calls: list[tuple[Any, ...]] = []

    def load(self, format: str, content: Any) -> Any:
        self.calls.append(("load", format, content))
        return self.load_one(content)

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls.append(("run", operation, model, input["text"]))
        return self.run_one(input)  # type: ignore[no-any-return]


class Panic(BaseException):
    """As a panic in Rust arrives."""


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def raises(error: BaseException) -> Callable[..., Any]:
    def raising(*arguments: Any) -> Any:
        raise error

    return raising


def encode(text: str, name: str = "toy", model: Mapping[str, Any] = MODEL, operation: str = "encode") -> Request:
    return Request(operation, name, model, {"text": text})


def only_reply(adapter: Adapter, request: Request | None = None) -> Reply:
    with InProcessSession(adapter) as session:
        ((index, reply),) = session.ask([request or encode("bug")])
    assert index == 0
    return reply


def test_each_model_is_loaded_once_and_given_back() -> None:
    adapter = Adapter(load=lambda content: ("loaded", content["vocabulary"]))
    with InProcessSession(adapter) as session:
        first = list(session.ask([encode("b"), encode("u", "other", {**MODEL, "vocabulary": ["u"]}), encode("")]))
        second = list(session.ask([encode("g")]))
    assert first == [(0, Answer({"tokens": ["b"]})), (1, Answer({"tokens": ["u"]})), (2, Answer({"tokens": []}))]
    assert second == [(0, Answer({"tokens": ["g"]}))]
    assert adapter.calls == [
        ("load", "tokspec", adapter.calls[0][2]),
        ("run", "encode", ("loaded", ["b"]), "b"),
        ("load", "tokspec", adapter.calls[2][2]),
        ("run", "encode", ("loaded", ["u"]), "u"),
        ("run", "encode", ("loaded", ["b"]), ""),
        ("run", "encode", ("loaded", ["b"]), "g"),
    ]


def test_replies_come_lazily() -> None:
    adapter = Adapter()
    with InProcessSession(adapter) as session:
        replies = session.ask([encode("b"), encode("u")])
        assert next(replies) == (0, Answer({"tokens": ["b"]}))
        assert [call[-1] for call in adapter.calls[1:]] == ["b"]


def test_what_is_not_offered_is_not_asked() -> None:
    adapter = Adapter()
    assert only_reply(adapter, encode("b", operation="decode")) == Refused("unsupported", "does not offer decode")
    assert adapter.calls == []


def test_a_model_that_no_format_can_express_is_not_asked() -> None:
    adapter = Adapter(hello=lambda: Hello("mine", "1", "Python", ("encode",), formats=("words.txt", "spm")))
    assert only_reply(adapter) == Refused(
        "unsupported", "no writer for the format words.txt; no writer for the format spm"
    )
    assert adapter.calls == []


def test_the_first_format_that_can_express_a_model_is_taken() -> None:
    adapter = Adapter(hello=lambda: Hello("mine", "1", "Python", ("encode",), formats=("spm", "tokspec")))
    assert only_reply(adapter) == Answer({"tokens": ["b", "u", "g"]})
    assert adapter.calls[0][:2] == ("load", "tokspec")


def test_a_refused_load_is_the_reply_of_every_request_of_the_model() -> None:
    adapter = Adapter(load=raises(Refusal("invalid_model", "no vocabulary")))
    with InProcessSession(adapter) as session:
        replies = list(session.ask([encode("b"), encode("u")]))
    assert replies == [(index, Refused("invalid_model", "no vocabulary")) for index in range(2)]
    assert [call[0] for call in adapter.calls] == ["load"]


def test_a_load_may_return_anything_even_a_reply() -> None:
    assert only_reply(Adapter(load=lambda content: Fault("crash", "not one"))) == Answer({"tokens": ["b", "u", "g"]})


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        (Refusal("unknown_symbol", "\x1b[2J"), Refused("unknown_symbol", "\x1b[2J")),
        (Unsupported("no spans"), Refused("unsupported", "no spans")),
        (
            Refusal("too_hard"),
            Fault("protocol", "the refusal has the reason 'too_hard', which is not in spec/09-errors.md"),
        ),
        (
            Refusal(3),  # type: ignore[arg-type]
            Fault("protocol", "the refusal needs a reason and perhaps a message, both strings"),
        ),
    ],
)
def test_a_refusal_needs_a_reason_of_the_list(error: Refusal, reply: Reply) -> None:
    assert only_reply(Adapter(run=raises(error))) == reply
    assert only_reply(Adapter(load=raises(error))) == reply


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (TypeError("no \x1b[31mtext"), "TypeError: no \\x1b[31mtext"),
        (KeyError(), "KeyError"),
        (SystemExit(3), "SystemExit: 3"),
        (Panic("index out of bounds"), "Panic: index out of bounds"),
        (Unprintable(), "Unprintable: a message that cannot be shown"),
        (GeneratorExit(), "GeneratorExit"),
    ],
)
def test_every_other_exception_is_a_crash(error: BaseException, message: str) -> None:
    line = raises.__code__.co_firstlineno + 2
    crash = Fault("crash", f"{message} (test_sessions_in_process.py:{line} in raising)")
    assert only_reply(Adapter(run=raises(error))) == crash
    assert only_reply(Adapter(load=raises(error))) == crash


def test_a_stack_overflow_is_a_crash() -> None:
    def deeper(input: Any) -> Any:
        return deeper(input)

    reply = only_reply(Adapter(run=deeper))
    assert isinstance(reply, Fault)
    assert reply.message.startswith("RecursionError: maximum recursion depth exceeded")


def test_the_keyboard_still_interrupts() -> None:
    with pytest.raises(KeyboardInterrupt):
        only_reply(Adapter(run=raises(KeyboardInterrupt())))


class Text(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Sly(dict[str, Any]):
    def items(self) -> Any:
        raise LookupError("not today")


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (["b"], "returned a value of type 'list'; a result is a mapping"),
        (None, "returned a value of type 'NoneType'; a result is a mapping"),
        ({"tokens": {"b"}}, "the result holds a value of type set, which JSON does not have"),
        ({"text": b"b"}, "the result holds a value of type bytes, which JSON does not have"),
        ({3: 4}, "the result has a key of type int; keys are strings"),
        ({"loss": float("nan")}, "the result holds nan, which is not JSON"),
        ({"loss": -float("inf")}, "the result holds -inf, which is not JSON"),
        ({"loss": 10**400}, "the result holds a number of more than 300 digits"),
    ],
)
def test_a_result_that_is_no_json_object_is_a_fault(result: Any, message: str) -> None:
    assert only_reply(Adapter(run=lambda input: result)) == Fault("protocol", message)


def test_a_result_that_holds_itself_is_a_fault() -> None:
    result: dict[str, Any] = {}
    result["again"] = result
    fault = Fault("protocol", "the result is nested more than 64 levels deep")
    assert only_reply(Adapter(run=lambda input: result)) == fault


def test_a_result_whose_reading_fails_is_a_crash() -> None:
    reply = only_reply(Adapter(run=lambda input: Sly(text="b")))
    line = Sly.items.__code__.co_firstlineno + 1
    assert reply == Fault("crash", f"LookupError: not today (test_sessions_in_process.py:{line} in items)")


def test_a_result_is_made_of_plain_values() -> None:
    class Number(int):
        pass

    result = {"tokens": (Text("b"),), "ids": [Number(3), True, None, 0.5], Text("a"): sys.float_info.max}
    reply = only_reply(Adapter(run=lambda input: result))
    assert reply == Answer({"tokens": ["b"], "ids": [3, True, None, 0.5], "a": sys.float_info.max})
    assert isinstance(reply, Answer)
    assert {type(value) for value in [*reply.result["tokens"], *reply.result["ids"]]} == {
        str,
        int,
        bool,
        type(None),
        float,
    }


def test_an_adapter_cannot_change_what_it_is_given_nor_an_answer_that_it_gave() -> None:
    kept: list[str] = []

    def run(input: dict[str, Any]) -> Any:
        kept.append(input.pop("text"))
        return {"tokens": kept}

    def load(content: dict[str, Any]) -> None:
        content["vocabulary"].clear()

    requests = [encode("b"), encode("u")]
    with InProcessSession(Adapter(run, load)) as session:
        replies = [reply for _, reply in session.ask(requests)]
    assert replies == [Answer({"tokens": ["b"]}), Answer({"tokens": ["b", "u"]})]
    assert requests == [encode("b"), encode("u")]
    assert MODEL == {"type": "bpe", "vocabulary": ["b"], "merges": []}


def test_plain_copies() -> None:
    value = {"a": [{"b": 1}]}
    copy = copy_json(value)
    assert copy == value
    assert copy["a"] is not value["a"]


@pytest.mark.parametrize(
    ("hello", "kind", "message"),
    [
        (raises(OSError("no model")), "crash", "OSError: no model (test_sessions_in_process.py:{line} in raising)"),
        (lambda: {}, "protocol", "hello returned a value of type 'dict'; it needs a tokspec.adapter.Hello"),
        (
            raises(Refusal("unsupported", "not now")),
            "protocol",
            "hello is refused: 'unsupported: not now'",
        ),
    ],
)
def test_without_hello_there_is_no_session(hello: Callable[[], Any], kind: str, message: str) -> None:
    with pytest.raises(AdapterFault) as error:
        InProcessSession(Adapter(hello=hello))
    line = raises.__code__.co_firstlineno + 2
    assert (error.value.kind, error.value.message) == (kind, message.format(line=line))
