"""Which of some inputs notice a fault: those to which a port with the fault gives another answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from faults import Faulty, Input
from published import Published

from tokfast import FastTokenizer
from tokref import InputError


class Asked:
    """Inputs in their order, with what the tokenizer without faults makes of them."""

    def __init__(self, published: Published, inputs: Sequence[Input]) -> None:
        self._right, self._inputs = Faulty(published.fast), inputs
        self._decoded = Faulty(published.fast, stage="decoder")
        self._answers: dict[tuple[int, bool], Any] = {}

    def first(self, faulty: Faulty) -> int | None:
        """Return the place of the first input by which a fault is noticed."""
        return next(self.places(faulty), None)

    def places(self, faulty: Faulty) -> Iterator[int]:
        """Return the places of the inputs by which a fault is noticed."""
        if faulty.key is not None:
            for place, before in self._alike(faulty.key):
                if self._right_at(place) != self._right_at(before):
                    yield place
            return
        for place in self._candidates(faulty):
            try:
                is_right = faulty.answer(self._inputs[place]) == self._right_at(place, faulty.stage == "decoder")
            except InputError:
                is_right = False
            if not is_right:
                yield place

    def _right_at(self, place: int, decoded: bool = False) -> Any:
        if (place, decoded) not in self._answers:
            self._answers[place, decoded] = (self._decoded if decoded else self._right).answer(self._inputs[place])
        return self._answers[place, decoded]

    def _alike(self, key: Callable[[str], Any]) -> Iterator[tuple[int, int]]:
        first: dict[Any, int] = {}
        for place, input in enumerate(self._inputs):
            if "pair" not in input and not input.get("add_special_tokens"):
                before = first.setdefault(key(input["text"]), place)
                if self._inputs[before]["text"] != input["text"]:
                    yield place, before

    def _candidates(self, faulty: Faulty) -> Iterator[int]:
        for place, input in enumerate(self._inputs):
            if self._can_show(faulty, place, input):
                yield place

    def _can_show(self, faulty: Faulty, place: int, input: Input) -> bool:
        if faulty.stage == "post":
            return "pair" in input or bool(input.get("add_special_tokens"))
        if "pair" in input:
            return faulty.stage != "model" or not faulty.needles
        text = input["text"]
        if faulty.stage == "text":
            return bool(faulty.text(text) != text)
        if faulty.stage == "pieces":
            return hash(_pieces(faulty.fast, text)) != self._pieces_of[place]
        normalized = self._normalized[place]
        if faulty.stage == "added":
            return any(needle in text.encode() or needle in normalized.encode() for needle in faulty.needles)
        if faulty.needles:
            written = normalized.replace("▁", " ").encode()
            return any(needle in written for needle in faulty.needles)
        return faulty.shows(normalized)

    @cached_property
    def _normalized(self) -> list[str]:
        return [self._right.fast.normalize(input["text"]) for input in self._inputs]

    @cached_property
    def _pieces_of(self) -> list[int]:
        return [hash(_pieces(self._right.fast, input["text"])) for input in self._inputs]


def _pieces(fast: FastTokenizer, text: str) -> tuple[Any, ...]:
    return tuple(piece for piece, _, _ in fast.pre_tokenize(fast.normalize(text)))


def drawn_inputs(published: Published) -> Iterator[Input]:
    """Return random inputs of the same kind as the lines of a pack, without end."""
    before = ""
    for number, (_, text) in enumerate(published.telling().drawn("drawn")):
        yield published.input(text, before, number)
        before = text
