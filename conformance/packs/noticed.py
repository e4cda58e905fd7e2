"""How many faults of ports a comparison of a whole file notices: ``python conformance/packs/noticed.py FOLDER``.

FOLDER has the files of the manifest. The faults are those of ``faults.jsonl`` in five models, forty in each. Each is
planted in a port that encodes and decodes, and the port is compared with tokfast as ``tokspec diff --model`` does. What
is not noticed is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faults import FAULTS, Faulty, plant
from published import Published, published_in

from tokref import InputError
from tokspec.adapter import Adapter, Hello, Refusal
from tokspec.compare.answers import Asker
from tokspec.compare.compare import compare_texts, default_inputs
from tokspec.compare.tally import Tally
from tokspec.compare.texts import MADE
from tokspec.formats.user_model import read_user_model
from tokspec.sessions.in_process import InProcessSession

#: One of each kind of model, all of fewer than 60,000 tokens, so that two hundred comparisons take minutes.
MODELS = ("gpt2", "mistral-7b-v0.1", "bert", "moonshine", "mistral-v1")


class Port:
    """A port that encodes and decodes, with a fault or without one."""

    def __init__(self, published: Published, faulty: Faulty) -> None:
        self._published, self._faulty = published, faulty
        self._kept: dict[Any, Any] = {}

    def hello(self) -> Hello:
        """Describe it: it gives ids alone."""
        formats = (self._published.format,)
        options = ("add_special_tokens",)
        return Hello(
            "port", "1", "Python", ("encode", "decode"), formats, encode_fields=("ids",), encode_options=options
        )

    def load(self, format: str, content: Any) -> None:
        """Do nothing: the model is there."""

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> dict[str, Any]:
        """Encode or decode.

        Raises:
            Refusal: as the reference refuses.
        """
        fast = self._faulty.fast
        try:
            if operation == "decode":
                return {"text": fast.decode(fast.tokens_of(input["ids"]))}
            key = self._faulty.key and self._faulty.key(input["text"])
            if key is None:
                return {"ids": self._faulty.answer(input)[0]}
            if key not in self._kept:
                self._kept[key] = self._faulty.answer(input)[0]
            return {"ids": self._kept[key]}
        except InputError as error:
            raise Refusal(error.reason, error.message) from error


def is_noticed(right: Adapter, wrong: Adapter, file: Path, format: str) -> bool:
    """Say whether a comparison finds any difference between two ports."""
    model = read_user_model(file, format)
    tally = Tally()
    with InProcessSession(right) as one, InProcessSession(wrong) as other:
        a, b = Asker(one, model), Asker(other, model)
        compare_texts(a, b, default_inputs(a, MADE), tally)
    return tally.different > 0


def main() -> int:
    """Print how many faults of each model are noticed, and those that are not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files of the manifest are")
    parser.add_argument("names", nargs="*", help="the models, all five unless given")
    given = parser.parse_args()
    faults = [json.loads(line) for line in FAULTS.read_text("utf-8").splitlines()]
    for published in published_in(given.folder, given.names or MODELS):
        noticed, own = 0, [fault for fault in faults if fault["tokenizer"] == published.name]
        for fault in own:
            try:
                faulty = plant(fault, published)
            except InputError:
                print(f"  refused: {json.dumps(fault, ensure_ascii=False)}", flush=True)
                continue
            found = is_noticed(
                Port(published, Faulty(published.fast)), Port(published, faulty), published.file, published.format
            )
            noticed += found
            if not found:
                print(f"  not noticed: {json.dumps(fault, ensure_ascii=False)}", flush=True)
        print(f"{published.name}: {noticed} of {len(own)} faults are noticed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
