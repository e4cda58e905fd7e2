"""Published tokenizers of the manifest: their files, and what the reference and tokfast make of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import tokref
from tokfast import FastTokenizer
from tokref import Choices
from tokref.post_processing import added_count
from tokspec.formats.user_model import read_user_model
from tokspec.judge.causes import Seen, cause_of_difference

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "shipped")]

from fetch import file_of, read_manifest  # noqa: E402
from telling import Telling  # noqa: E402

#: Of every 4 texts one is encoded with what a post-processor adds, and one with the text before it as a pair.
WITH_ADDED, WITH_PAIR = 4, 16

#: The module that has the choices of the first of each format, and their name there.
CHOICES = {
    "tokenizer.json": ("sharing", "TOKENIZERS_CHOICES"),
    "sentencepiece.model": ("sentencepiece", "CHOICES"),
    "vocab.tiktoken": ("tiktoken", "CHOICES"),
    "tekken.json": ("tekken", "CHOICES"),
}


class Published:
    """A published tokenizer: its row of the manifest, its file, and what the reference makes of it.

    The options of all choices are those of the library that its format is made for.
    """

    def __init__(self, row: Mapping[str, Any], folder: Path) -> None:
        self.row, self.name, self.file = row, str(row["name"]), file_of(row, folder)
        self.format: str = row.get("format", "tokenizer.json")
        self.model = read_user_model(self.file, self.format, whole=True)
        module, name = CHOICES[self.format]
        options: Mapping[str, str] = getattr(import_module(f"tokspec.published.{module}"), name)
        self.options: dict[str, Any] = {key: option for key, option in options.items() if key != "offset_unit"}
        self.tokenizer = tokref.from_mapping(self.model.neutral)
        self.fast = FastTokenizer(self.tokenizer, Choices(**self.options))

    def telling(self) -> Telling:
        """Return the texts that tell it apart from others."""
        return Telling(self.name, self.model.neutral, self.fast, self.options)

    def input(self, text: str, before: str, place: int) -> dict[str, Any]:
        """Return what is asked about a text; in some places with what is added, or with the text before it."""
        if not added_count(self.tokenizer.post_processor, 1):
            return {"text": text}
        if place % WITH_PAIR == WITH_PAIR // 2:
            return {"text": before, "pair": text, "add_special_tokens": True}
        return {"text": text, "add_special_tokens": place % WITH_ADDED == 0}

    def cause(
        self, operation: str, input: Mapping[str, Any], value: Mapping[str, Any], other: Mapping[str, Any], right: str
    ) -> str:
        """Tell how an answer differs from the right one, which ``right`` gives; one without values is a refusal."""
        if not other:
            return f"{operation}: refuses"
        if operation == "decode":
            seen = Seen("", value, other, ("text",), other=right)
        elif value["ids"] == other["ids"]:
            return "other type ids"
        else:
            ours, theirs = (
                self.fast.tokens_of([id for id in each["ids"] if id is not None]) for each in (value, other)
            )
            seen = Seen(input["text"], {"tokens": ours}, {"tokens": theirs}, ("tokens", 0), other=right)
        return str(cause_of_difference(operation, seen))


def published_in(folder: Path, names: Sequence[str]) -> Iterator[Published]:
    """Return the tokenizers of the manifest whose files are in a folder, all or those that are named."""
    for row in read_manifest():
        if not names or row["name"] in names:
            yield Published(row, folder)
