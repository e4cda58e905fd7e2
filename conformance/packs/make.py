"""Make the packs of all tokenizers of the manifest: ``python conformance/packs/make.py FOLDER [NAME ...]``.

FOLDER has the files that ``conformance/tests/shipped/fetch.py`` gets. A line stands in a pack if the library for which
files of its format are made gives it, and a second one of another maker does, or else the reference. Lines on which
they differ stand in ``differing/``, with all answers. The same files and versions give the same packs.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import tokref
from tokfast import FastTokenizer
from tokref import Bpe, Choices, InputError
from tokspec import __version__
from tokspec.adapters.registry import open_session
from tokspec.base.errors import AdapterFault, DataError
from tokspec.formats.user_model import read_user_model
from tokspec.judge.causes import Seen, cause_of_difference
from tokspec.judge.runner import make_request
from tokspec.protocol.messages import Answer, Reply
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session
from tokspec.suite.cases import Model, bare_case
from tokspec.suite.packs import ENDING, packs_folder

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "shipped")]

from fetch import file_of, read_manifest  # noqa: E402
from texts import Telling  # noqa: E402

#: How large a pack is at most, compressed, in bytes, and how many lines it has.
BYTES, LINES = 95_000, 2000

#: How many lines are noted on which one engine differs by one cause.
SHOWN = 10

#: Of every so many lines one is encoded with what a post-processor adds.
WITH_ADDED = 4


class Engine(NamedTuple):
    """An implementation that is asked, and who makes it."""

    impl: str
    maker: str


#: Who is asked for files of a format; the first is the library that they are made for.
ENGINES: Mapping[str, Sequence[Engine]] = {
    "tokenizer.json": (
        Engine("tokenizers", "Hugging Face"),
        Engine("kitoken==0.11.1", "kitoken"),
        Engine("splintr", "splintr"),
        Engine("tokie", "tokie"),
        Engine("@huggingface/tokenizers==0.2.0", "Hugging Face"),
    ),
    "sentencepiece.model": (Engine("sentencepiece", "Google"), Engine("kitoken==0.11.1", "kitoken")),
    "vocab.tiktoken": (
        Engine("tiktoken", "OpenAI"),
        Engine("gpt-tokenizer==4.0.0", "gpt-tokenizer"),
        Engine("js-tiktoken==1.0.21", "js-tiktoken"),
        Engine("tiktoken-rs==0.12.1", "tiktoken-rs"),
    ),
    "tekken.json": (Engine("mistral-tekken", "Mistral AI"),),
}

REFERENCE = Engine("tokref", "tokspec")

#: The modules that have the choices of the first of each format.
CHOICES = {
    "tokenizer.json": "huggingface",
    "sentencepiece.model": "sentencepiece",
    "vocab.tiktoken": "tiktoken",
    "tekken.json": "tekken",
}


class Maker:
    """Makes one pack: asks all engines, and keeps what two of them give."""

    def __init__(self, name: str, format: str, file: Path, sessions: Mapping[Engine, Session]) -> None:
        self.name, self.format, self.file, self.sessions = name, format, file, sessions
        self.model = read_user_model(file, format, whole=True)
        options: Mapping[str, str] = import_module(f"tokspec.published.{CHOICES[format]}").CHOICES
        self.options = {key: option for key, option in options.items() if key != "offset_unit"}
        self.tokenizer = tokref.from_mapping(self.model.neutral)
        self.fast = FastTokenizer(self.tokenizer, Choices(**self.options))
        self.told = Counter[tuple[str, str, str]]()
        self.differing: list[dict[str, Any]] = []

    def lines(self) -> Iterator[tuple[dict[str, Any], list[str]]]:
        """Return the lines that stand, in the order of what is proposed, each with who gives its ids."""
        telling = Telling(self.name, self.model.neutral, self.fast, self.options)
        number = 0
        of_vocabulary = (("vocabulary", text) for text in telling.of_vocabulary())
        proposed = islice(chain(telling.texts(), of_vocabulary), LINES)
        while block := list(islice(proposed, 100)):
            asked = [self._input(text, place) for place, (_, text) in enumerate(block, number)]
            number += len(block)
            yield from self._agreed(asked, [about for about, _ in block])

    def _input(self, text: str, place: int) -> dict[str, Any]:
        if not self.tokenizer.post_processor:
            return {"text": text}
        return {"text": text, "add_special_tokens": place % WITH_ADDED == 0}

    def _agreed(
        self, inputs: Sequence[Mapping[str, Any]], about: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], list[str]]]:
        encoded = self._ask("encode", inputs)
        right = [self._judge("encode", input, replies, "ids") for input, replies in zip(inputs, encoded, strict=True)]
        known = [(place, *found) for place, found in enumerate(right) if found is not None]
        decodings = [{"ids": ids} for _, ids, _ in known]
        decoded = self._ask("decode", decodings)
        for (place, ids, alike), asked, replies in zip(known, decodings, decoded, strict=True):
            found = self._judge("decode", asked, replies, "text")
            text = found[0] if found else None
            line = {**inputs[place], "ids": ids}
            if text != inputs[place]["text"]:
                line["decoded"] = text
            yield {**line, "why": about[place]}, alike

    def _ask(self, operation: str, inputs: Sequence[Mapping[str, Any]]) -> list[dict[Engine, Reply]]:
        replies: list[dict[Engine, Reply]] = [{} for _ in inputs]
        for engine, session in self.sessions.items():
            cases = [bare_case("", operation, input) for input in inputs]
            own = [replace(case, model=Model(self.name, self.model)) for case in cases]
            for place, reply in session.ask([make_request(case, session.hello) for case in own]):
                replies[place][engine] = reply
        return replies

    def _judge(self, operation: str, input: Mapping[str, Any], replies: Mapping[Engine, Reply], field: str) -> Any:
        """Return what the library gives, and another maker or the reference too, with who they are; or None.

        The reference is asked only where no other maker gives it, for it is slow. What differs is noted.
        """
        values = {engine: reply.result.get(field) for engine, reply in replies.items() if isinstance(reply, Answer)}
        first = next(iter(self.sessions))
        value = values.get(first)
        if value is None or (field == "ids" and None in value):
            return None
        alike = {engine: other for engine, other in values.items() if other == value}
        others = {engine: other for engine, other in values.items() if other != value and other is not None}
        stands = len({engine.maker for engine in alike}) > 1
        if not stands:
            ours = self._reference(operation, input)
            stands = ours == value
            (alike if stands else others)[REFERENCE] = ours
        if others:
            self._note(operation, input, first, value, others)
        return (value, [engine.impl for engine in alike]) if stands else None

    def _note(
        self, operation: str, input: Mapping[str, Any], first: Engine, value: Any, others: Mapping[Engine, Any]
    ) -> None:
        answers = {engine.impl: other for engine, other in ((first, value), *others.items())}
        causes = {
            engine.impl: self._cause(operation, input, value, other, first.impl) for engine, other in others.items()
        }
        news = [cause for cause in causes.items() if self.told[operation, *cause] < SHOWN]
        self.told.update((operation, *cause) for cause in causes.items())
        if news:
            self.differing.append({"operation": operation, **input, "answers": answers, "causes": causes})

    def _cause(self, operation: str, input: Mapping[str, Any], value: Any, other: Any, first: str) -> str:
        if other is None:
            return "refuses"
        if operation == "decode":
            seen = Seen("", {"text": value}, {"text": other}, ("text",), other=first)
        else:
            left, right = (self.fast.tokens_of([id for id in ids if id is not None]) for ids in (value, other))
            seen = Seen(input["text"], {"tokens": left}, {"tokens": right}, ("tokens", 0), other=first)
        return str(cause_of_difference(operation, seen))

    def _reference(self, operation: str, input: Mapping[str, Any]) -> Any:
        """Ask the reference; of merges it gets those that the text may touch, for it looks for each in a list."""
        choices = Choices(**self.options)
        try:
            if operation == "decode":
                return tokref.decode(tokref.tokens_of(input["ids"], self.tokenizer, choices), self.tokenizer, choices)
            tokenizer = self.tokenizer
            if isinstance(tokenizer.model, Bpe):
                held = self._held(input["text"])
                merges = tuple(merge for merge in tokenizer.model.merges if "".join(merge).strip("▁Ġ") in held)
                tokenizer = replace(tokenizer, model=replace(tokenizer.model, merges=merges))
            adds = input.get("add_special_tokens", True)
            (encoding,) = tokref.encode_inputs([[input["text"]]], tokenizer, choices, add_special_tokens=adds)
            return [token.id for token in encoding.tokens]
        except InputError:
            return None

    def _held(self, text: str) -> str:
        """Return all that a token of a text may be a part of."""
        forms = (text, self.fast.normalize(text))
        return "\0".join((*forms, *(piece for form in forms for piece, _, _ in self.fast.pre_tokenize(form))))

    def header(self, row: Mapping[str, Any], agreed: Mapping[str, int]) -> dict[str, Any]:
        """Return the first line."""
        hellos = {engine.impl: session.hello for engine, session in self.sessions.items()}
        names = {impl: (hello.name, hello.version) for impl, hello in hellos.items()} | {
            "tokref": ("tokref", __version__)
        }
        told = [
            {"name": names[impl][0], "version": names[impl][1], "lines": agreed[impl]} for impl in names if agreed[impl]
        ]
        published = Path(row["path"]).name
        files = {published: sha256(self.file.read_bytes()).hexdigest()}
        if self.model.sha256 not in files.values():
            files[f"{published} with what is told beside it"] = self.model.sha256
        came_from = f"{row['ecosystem']} {row['package']} {row['version']}"
        header = {"tokspec_pack": 1, "name": self.name, "files": files, "from": came_from}
        return {**header, "agreed": told, "suite": __version__}


def write(line: Mapping[str, Any]) -> bytes:
    """Write a line of a pack."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def compressed(lines: Sequence[Mapping[str, Any]]) -> int:
    """Return how many bytes lines have when they are compressed."""
    return len(zlib.compress(b"".join(map(write, lines)), 9))


def make(row: Mapping[str, Any], folder: Path, target: Path) -> str:
    """Make the pack of a row of the manifest, and say in a line what it came to."""
    format = row.get("format", "tokenizer.json")
    with ExitStack() as stack:
        limits = Limits(60.0, 120.0)
        sessions = {each: stack.enter_context(open_session(each.impl, None, limits=limits)) for each in ENGINES[format]}
        maker = Maker(row["name"], format, file_of(row, folder), sessions)
        found = list(maker.lines())
        if not found:
            raise DataError("no line stands", key=maker.name)
        lines = [line for line, _ in found]
        lines = lines[: bisect_right(range(len(lines)), BYTES, key=lambda place: compressed(lines[: place + 1]))]
        agreed = Counter(impl for _, alike in found[: len(lines)] for impl in alike)
        written = b"".join(map(write, (maker.header(row, agreed), *lines)))
    for place, content in (
        (target / f"{maker.name}{ENDING}", written),
        (target / "differing" / f"{maker.name}.jsonl", b"".join(map(write, maker.differing))),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    size = f"{len(lines)} lines, {compressed(lines):,} bytes compressed"
    return f"{maker.name}: {size}; answers differ {maker.told.total()} times"


def main() -> int:
    """Make the packs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files of the manifest are")
    parser.add_argument("names", nargs="*", help="of which to make packs; of all unless given")
    parser.add_argument("--to", type=Path, default=packs_folder(), help="the folder of the packs")
    given = parser.parse_args()
    for row in read_manifest():
        if not given.names or row["name"] in given.names:
            try:
                print(make(row, given.folder, given.to), flush=True)
            except (AdapterFault, DataError) as error:
                print(f"no pack: {error}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
