"""Two implementations with code points for tokens, that are in trouble at some words: for sweeps."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported


def _hang() -> None:
    time.sleep(1000)


def _raise() -> None:
    raise ValueError("no such word")


def _refuse() -> None:
    raise Refusal("unknown_symbol")


def _decline() -> None:
    raise Unsupported("takes no such word")


TROUBLES: Mapping[str, Callable[[], object]] = {
    "DIES": lambda: ctypes.string_at(0),
    "EXITS": lambda: os._exit(3),
    "HANGS": _hang,
    "RAISES": _raise,
    "REFUSES": _refuse,
    "DECLINES": _decline,
    "WAITS": lambda: time.sleep(0.05),
}


class Troubled:
    """Fails as the words of a text say."""

    name = "troubled"

    def hello(self) -> Hello:
        return Hello(self.name, "1", "Python", operations=("encode",), encode_fields=("tokens", "ids"))

    def load(self, format: str, content: Any) -> Any:
        return content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        text = input["text"]
        return {"tokens": list(text), "ids": self.encoder(model)(text)}

    def encoder(self, model: Any) -> Callable[[str], list[int]]:
        def encode(text: str) -> list[int]:
            for word, trouble in TROUBLES.items():
                if word in text:
                    trouble()
            return [ord(character) for character in text]

        return encode


class Sound(Troubled):
    """Is never in trouble, and has another id for one letter."""

    name = "sound"

    def encoder(self, model: Any) -> Callable[[str], list[int]]:
        return lambda text: [ord(character) + (character == "Q") for character in text]
