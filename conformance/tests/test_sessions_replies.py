"""What the keys of a reply mean, and who may give which."""

from __future__ import annotations

from typing import Any

import pytest

from tokspec.base.errors import DataError, MissingModule
from tokspec.protocol.messages import Fault, Refused, Reply
from tokspec.protocol.replies import read_reply

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
