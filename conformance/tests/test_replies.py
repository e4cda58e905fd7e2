"""Replies: what ``hello`` and the keys of a reply mean, and who may give which."""

from __future__ import annotations

from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault, DataError, MissingModule
from tokspec.protocol.messages import Fault, Refused, Reply
from tokspec.protocol.replies import parse_hello, read_reply

NONE = "a reply has none of ok, refused and crashed: ''"
MISUSE = {"message": "there is no such module", "key": "--impl", "missing": False}
MISUSED = "the misuse of a reply needs message and key, strings, and missing, true or false"


@pytest.mark.parametrize(
    ("message", "to_hello", "reply"),
    [
        ({"broken": {"message": "the result holds nan"}}, False, Fault("protocol", "the result holds nan")),
        ({"broken": {"message": "\x1b[2J"}}, False, Fault("protocol", "\\x1b[2J")),
        ({"broken": {}}, False, Fault("protocol", "the broken of a reply needs a message, a string")),
        ({"broken": {"message": 3}}, True, Fault("protocol", "the broken of a reply needs a message, a string")),
        ({"broken": []}, True, Fault("protocol", "the broken of a reply is not an object: ''")),
        ({"misuse": MISUSE}, False, Fault("protocol", NONE)),
        ({"misuse": {}}, True, Fault("protocol", MISUSED)),
        ({"misuse": MISUSE | {"message": 3}}, True, Fault("protocol", MISUSED)),
        ({"misuse": MISUSE | {"key": None}}, True, Fault("protocol", MISUSED)),
        ({"misuse": MISUSE | {"missing": 1}}, True, Fault("protocol", MISUSED)),
    ],
)
def test_what_our_own_host_says_is_checked_like_what_others_say(
    message: dict[str, Any], to_hello: bool, reply: Reply
) -> None:
    assert read_reply(message, is_ours=True, to_hello=to_hello) == reply


@pytest.mark.parametrize("to_hello", [False, True])
@pytest.mark.parametrize("key", ["broken", "misuse"])
def test_nobody_else_has_the_keys_of_our_host(key: str, to_hello: bool) -> None:
    assert read_reply({key: MISUSE}, to_hello=to_hello) == Fault("protocol", NONE)


@pytest.mark.parametrize(("missing", "kind"), [(False, DataError), (True, MissingModule)])
def test_misuse_is_the_user_s_fault_at_hello(missing: bool, kind: type[DataError]) -> None:
    with pytest.raises(DataError) as caught:
        read_reply({"misuse": MISUSE | {"missing": missing}}, is_ours=True, to_hello=True)
    assert (type(caught.value), str(caught.value)) == (kind, "--impl: there is no such module")


def test_messages_are_cut() -> None:
    long = "é" * 1_000_000
    cut = "é" * 1000 + " and 999000 more characters"
    assert read_reply({"refused": {"reason": "unsupported", "message": long}}) == Refused("unsupported", cut)
    shown = Fault("crash", "\\xe9" * 1000 + " and 999000 more characters")
    assert read_reply({"crashed": {"message": long}}) == shown
    with pytest.raises(DataError) as caught:
        read_reply({"misuse": MISUSE | {"message": long, "key": long}}, is_ours=True, to_hello=True)
    assert (caught.value.message, caught.value.key) == (cut, cut)


GREETING = {
    "protocol": 1,
    "name": "mytok",
    "version": "0.3",
    "language": "C",
    "operations": ["encode", "decode"],
    "formats": ["tokenizer.json", "tokspec"],
}


def test_hello_is_read_whole() -> None:
    others = {
        "choices": {"offset_unit": "byte"},
        "encode_fields": ["tokens", "ids"],
        "encode_options": ["pair"],
        "decode_options": ["skip_special_tokens"],
        "components": ["post_processor", "decoder/fuse"],
        "unicode": "15.1",
        "since": 2020,
    }
    assert parse_hello(GREETING) == Hello("mytok", "0.3", "C", ("encode", "decode"), ("tokenizer.json", "tokspec"))
    assert parse_hello({**GREETING, **others}) == Hello(
        "mytok",
        "0.3",
        "C",
        ("encode", "decode"),
        ("tokenizer.json", "tokspec"),
        {"offset_unit": "byte"},
        ("tokens", "ids"),
        "15.1",
        encode_options=("pair",),
        decode_options=("skip_special_tokens",),
        components=("post_processor", "decoder/fuse"),
    )


@pytest.mark.parametrize("key", [*GREETING])
def test_hello_without_a_key_is_a_fault(key: str) -> None:
    with pytest.raises(AdapterFault) as error:
        parse_hello({other: value for other, value in GREETING.items() if other != key})
    message = f"the answer to hello is wrong: lacks the key {key}"
    assert (error.value.kind, error.value.message) == ("protocol", message)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("protocol", 2, "protocol: 1 was expected"),
        ("protocol", True, "protocol: 1 was expected"),
        ("unicode", "latest", "unicode: 'latest' is not a version; write it as 15.1.0, or leave it out"),
        ("name", None, 'name: null is not of type "string"'),
        ("operations", "encode", 'operations: "encode" is not of type "array"'),
        ("formats", [1], 'formats/0: 1 is not of type "string"'),
        ("choices", {"a": 1}, 'choices/a: 1 is not of type "string"'),
        ("choices", {"\x1b[2J": 1}, 'choices/\\x1b[2J: 1 is not of type "string"'),
        ("encode_fields", ["type"], 'encode_fields/0: "type" is not one of the values; did you mean type_ids?'),
        ("encode_options", ["Pair"], 'encode_options/0: "Pair" is not one of the values; did you mean pair?'),
        ("decode_options", ["skip_special"], 'decode_options/0: "skip_special" is not one of the values; did you mean skip_special_tokens?'),
        ("components", ["padding", "post_procesor"], 'components/1: "post_procesor" is not one of the values; did you mean post_processor?'),
        ("unicode", 15.1, 'unicode: 15.1 is not of type "string"'),
        ("other_trainers", ["bpe"], 'other_trainers: ["bpe"] is not of type "object"'),
    ],
)  # fmt: skip
def test_hello_with_a_wrong_value_is_a_fault(key: str, value: object, message: str) -> None:
    with pytest.raises(AdapterFault) as error:
        parse_hello({**GREETING, key: value})
    assert (error.value.kind, error.value.message) == ("protocol", f"the answer to hello is wrong: {message}")
