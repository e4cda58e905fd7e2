"""Make the packs of all tokenizers of the manifest: ``python conformance/packs/make.py FOLDER [NAME ...]``.

FOLDER has the files that ``conformance/tests/shipped/fetch.py`` gets. A line stands in a pack if the library for which
files of its format are made gives it, and a second one of another maker does, or else the reference. Lines on which
they differ stand in ``differing/`` beside this file, with all answers. The same files and versions give the same packs.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from choosing import Proposal, choose
from published import Published, published_in

import tokref
from tokref import Bpe, Choices, InputError
from tokref.post_processing import added_count
from tokspec import __version__
from tokspec.adapters.registry import open_session
from tokspec.base.errors import AdapterFault, DataError
from tokspec.judge.runner import make_request
from tokspec.judge.sweeping import ask_part, parts_of
from tokspec.protocol.messages import Answer, Reply
from tokspec.sessions.asking import Many
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session
from tokspec.suite.cases import Model, bare_case
from tokspec.suite.packs import ENDING, packs_folder
from tokspec.suite.recordings import OPTIONS, PER_LINE, Header, read_recording, write_line, write_recording
from tokspec.suite.sweeps import (
    BLOCK,
    LEFT_OUT,
    Sweep,
    blocks_of,
    digest_of_ids,
    is_swept,
    step_for,
)

#: How many lines a pack has at most, and how many lines of the vocabulary and random texts are proposed.
LINES, OF_VOCABULARY, DRAWN = 400, 100, 2000

#: How many lines are noted on which one engine differs by one cause.
SHOWN = 10


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


class Maker:
    """Makes one pack: asks all engines, and keeps what two of them give."""

    def __init__(self, published: Published, sessions: Mapping[Engine, Session]) -> None:
        self.published, self.sessions = published, sessions
        self.name, self.model, self.options = published.name, published.model, published.options
        self.tokenizer, self.fast = published.tokenizer, published.fast
        self.told = Counter[tuple[str, str, str]]()
        self.differing: list[dict[str, Any]] = []

    def lines(self) -> Iterator[tuple[dict[str, Any], list[str]]]:
        """Return the lines on which two makers agree, the most telling first, each with who gives its ids."""
        chosen = choose(self.published, self._proposed())
        while block := list(islice(chosen, 100)):
            yield from self._agreed([input for _, input in block], [about for about, _ in block])

    def _proposed(self) -> list[Proposal]:
        telling = self.published.telling()
        of_vocabulary = (("vocabulary", text) for text in islice(telling.of_vocabulary(), OF_VOCABULARY))
        texts = [*telling.texts(), *of_vocabulary, *islice(telling.drawn("proposed"), DRAWN)]
        pairs = pairwise(chain([("", "")], texts))
        return [
            (about, self.published.input(text, before, place))
            for place, ((_, before), (about, text)) in enumerate(pairs)
        ]

    def _agreed(
        self, inputs: Sequence[Mapping[str, Any]], about: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], list[str]]]:
        encoded = self._ask("encode", inputs)
        right = [self._judge("encode", input, replies) for input, replies in zip(inputs, encoded, strict=True)]
        known = [(place, *found) for place, found in enumerate(right) if found is not None]
        decodings = [{"ids": given["ids"]} for _, given, _ in known]
        decoded = self._ask("decode", decodings)
        for (place, given, alike), asked, replies in zip(known, decodings, decoded, strict=True):
            found = self._judge("decode", asked, replies)
            text = found[0]["text"] if found else None
            line = {**inputs[place], **given}
            if text != inputs[place]["text"]:
                line["decoded"] = text
            yield {**line, "why": about[place]}, alike

    def _ask(self, operation: str, inputs: Sequence[Mapping[str, Any]]) -> list[dict[Engine, Reply]]:
        replies: list[dict[Engine, Reply]] = [{} for _ in inputs]
        for engine, session in self.sessions.items():
            cases = [bare_case("", operation, input) for input in inputs]
            own = [replace(case, model=Model(self.name, {}, self.model)) for case in cases]
            for place, reply in session.ask([make_request(case, session.hello) for case in own]):
                replies[place][engine] = reply
        return replies

    def _judge(
        self, operation: str, input: Mapping[str, Any], replies: Mapping[Engine, Reply]
    ) -> tuple[Mapping[str, Any], list[str]] | None:
        """Return what the library gives, and another maker or the reference too, with who they are; or None.

        The reference is asked only where no other maker gives it, for it is slow. What differs is noted.
        """
        fields = ("text",) if operation == "decode" else ("ids", "type_ids") if "pair" in input else ("ids",)
        values: dict[Engine, Mapping[str, Any]] = {
            engine: {field: reply.result[field] for field in fields if field in reply.result}
            for engine, reply in replies.items()
            if isinstance(reply, Answer)
        }
        first = next(iter(self.sessions))
        value = values.get(first, {})
        if len(value) < len(fields) or None in value.get("ids", ()):
            return None
        alike = {engine: other for engine, other in values.items() if other == value}
        others = {engine: other for engine, other in values.items() if len(other) == len(value) and other != value}
        stands = len({engine.maker for engine in alike}) > 1
        if not stands:
            ours = self._reference(operation, input, fields)
            stands = ours == value
            (alike if stands else others)[REFERENCE] = ours
        if others:
            self._note(operation, input, first, value, others)
        return (value, [engine.impl for engine in alike]) if stands else None

    def _note(
        self, operation: str, input: Mapping[str, Any], first: Engine, value: Any, others: Mapping[Engine, Any]
    ) -> None:
        answers = {engine.impl: _plain(other) for engine, other in ((first, value), *others.items())}
        causes = {
            engine.impl: self.published.cause(operation, input, value, other, first.impl)
            for engine, other in others.items()
        }
        news = [cause for cause in causes.items() if self.told[operation, *cause] < SHOWN]
        self.told.update((operation, *cause) for cause in causes.items())
        if news:
            self.differing.append({"operation": operation, **input, "answers": answers, "causes": causes})

    def _reference(self, operation: str, input: Mapping[str, Any], fields: Sequence[str]) -> Mapping[str, Any]:
        """Ask the reference; of merges it gets those that the texts may touch, for it looks for each in a list."""
        choices = Choices(**self.options)
        try:
            if operation == "decode":
                tokens = tokref.tokens_of(input["ids"], self.tokenizer, choices)
                return {"text": tokref.decode(tokens, self.tokenizer, choices)}
            tokenizer = self.tokenizer
            texts = [input["text"], *([input["pair"]] if "pair" in input else [])]
            if isinstance(tokenizer.model, Bpe):
                held = "\0".join(map(self._held, texts))
                merges = tuple(merge for merge in tokenizer.model.merges if "".join(merge).strip("▁Ġ") in held)
                tokenizer = replace(tokenizer, model=replace(tokenizer.model, merges=merges))
            adds = input.get("add_special_tokens", True)
            (encoding,) = tokref.encode_inputs([texts], tokenizer, choices, add_special_tokens=adds)
        except InputError:
            return {}
        given = {"ids": [token.id for token in encoding.tokens], "type_ids": [each.type_id for each in encoding.tokens]}
        return {field: given[field] for field in fields}

    def _held(self, text: str) -> str:
        """Return all that a token of a text may be a part of."""
        forms = (text, self.fast.normalize(text))
        return "\0".join((*forms, *(piece for form in forms for piece, _, _ in self.fast.pre_tokenize(form))))

    def header(self, lines: Iterable[Mapping[str, Any]], agreed: Mapping[str, int]) -> Header:
        """Return what the pack says of itself."""
        hellos = {engine.impl: session.hello for engine, session in self.sessions.items()}
        names = {impl: (hello.name, hello.version) for impl, hello in hellos.items()} | {
            "tokref": ("tokref", __version__)
        }
        told = [
            {"name": names[impl][0], "version": names[impl][1], "lines": agreed[impl]} for impl in names if agreed[impl]
        ]
        row = self.published.row
        published = Path(row["path"]).name
        alone = sha256(self.published.file.read_bytes()).hexdigest()
        further = {f"{published} alone": alone} if alone != self.model.sha256 else {}
        first = next(iter(self.sessions.values())).hello
        return Header(
            suite=__version__,
            implementation={"name": first.name, "version": first.version, "language": first.language},
            choices=self.options,
            model={"file": published, "format": self.published.format, "sha256": self.model.sha256},
            special_tokens=PER_LINE if any({*OPTIONS} & {*line} for line in lines) else "as called",
            operations=("encode", "decode"),
            inputs={},
            name=self.name,
            package=f"{row['ecosystem']} {row['package']} {row['version']}",
            files=further,
            agreed=told,
        )


def add_sweep(published: Published, target: Path) -> str:
    """Make the sweep of a pack that is there, whose lines stay, and say in a line what it came to."""
    pack = read_recording(target / f"{published.name}{ENDING}")
    with open_session(ENGINES[published.format][0].impl, None, limits=Limits(60.0, 120.0)) as session:
        sweep, differing = make_sweep(published, session)
    lines = [line for _, line in pack.lines()]
    write_recording(pack.file, replace(pack.header, suite=__version__, sweep=sweep.header()), lines)
    for line in differing:
        print(f"{published.name}: {json.dumps(line, ensure_ascii=False)}")
    return f"{published.name}: {sweep.size:,} ids, {len(differing)} of {3 * sweep.blocks:,} blocks are left out"


def make_sweep(published: Published, session: Session) -> tuple[Sweep, list[dict[str, Any]]]:
    """Return the sweep of a tokenizer, and of each block that is left out the first entry on which the makers differ.

    A block stands if the library of the format, which the session asks, gives what tokfast does. One of ids or pairs
    is left out as well where the text of an entry is not agreed upon.
    """
    size = max(published.tokenizer.vocabulary.values()) + 1
    options = {"add_special_tokens": False} if added_count(published.tokenizer.post_processor, 1) else {}
    sweep, differing = Sweep(size, step_for(size), options, "", "", ""), list[dict[str, Any]]()
    digests, disputed = dict[str, Any](), set[int]()
    texts = list(Many(session, published.model).texts_of([[id] for id in range(size)]))
    its = {id for id in range(size) if is_swept(texts[id] or "")}
    for part in parts_of(sweep, published.options, published.model):
        answers, digits = ask_part(session, published.model, part), dict[int, str]()
        for block, ids in blocks_of([*part.due]):
            digits[block] = part.digest(ids)
            wrong = [id for id in ids if answers.get(id) != part.due[id]]
            if part.name == "texts":  # the library may know an id that the file does not have
                wrong += sorted(id for id in its if id // BLOCK == block and id not in part.due)
            partners = ids if part.name == "ids" else [*ids, *(id * sweep.step % size for id in ids)]
            if not wrong and part.name != "texts" and disputed & {id // BLOCK for id in partners}:
                digits[block] = LEFT_OUT
            elif wrong:
                digits[block] = LEFT_OUT
                disputed |= {block} if part.name == "texts" else set()
                entry = {"sweep": part.name, "block": block, **part.asked.get(wrong[0], {"ids": [wrong[0]]})}
                differing.append({**entry, "answers": [answers.get(wrong[0], texts[wrong[0]]), part.due.get(wrong[0])]})
        empty = digest_of_ids([])
        digests[part.name] = "".join(digits.get(block, empty) for block in range(sweep.blocks))
    return replace(sweep, **digests), differing


def compressed(lines: Sequence[Mapping[str, Any]]) -> int:
    """Return how many bytes lines have when they are compressed."""
    return len(zlib.compress(b"".join(map(write_line, lines)), 9))


def _plain(answer: Mapping[str, Any]) -> Any:
    """Return the one value of an answer, or both of a pair's."""
    return next(iter(answer.values()), None) if len(answer) < 2 else answer


def make(published: Published, target: Path, *, keep_sweep: bool = False) -> str:
    """Make the pack of a tokenizer, perhaps with the sweep that it has, and say in a line what it came to."""
    with ExitStack() as stack:
        sessions = {
            engine: stack.enter_context(open_session(engine.impl, None, limits=Limits(60.0, 120.0)))
            for engine in ENGINES[published.format]
        }
        maker = Maker(published, sessions)
        found = list(islice(maker.lines(), LINES))
        if not found:
            raise DataError("no line stands", key=maker.name)
        lines = [line for line, _ in found]
        agreed = Counter(impl for _, alike in found for impl in alike)
        differing = Path(__file__).with_name("differing") / f"{maker.name}.jsonl"
        if keep_sweep:
            written = read_recording(target / f"{maker.name}{ENDING}").header.sweep
            rows = map(json.loads, differing.read_bytes().splitlines())
            maker.differing += [row for row in rows if "sweep" in row]
        else:
            sweep, left_out = make_sweep(maker.published, next(iter(sessions.values())))
            written, maker.differing = sweep.header(), [*maker.differing, *left_out]
        header = replace(maker.header(lines, agreed), sweep=written)
    for place in (target, differing.parent):
        place.mkdir(parents=True, exist_ok=True)
    write_recording(target / f"{maker.name}{ENDING}", header, lines)
    differing.write_bytes(b"".join(map(write_line, maker.differing)))
    size = f"{len(lines)} lines, {compressed(lines):,} bytes compressed"
    return f"{maker.name}: {size}; answers differ {maker.told.total()} times"


def main() -> int:
    """Make the packs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files of the manifest are")
    parser.add_argument("names", nargs="*", help="of which to make packs; of all unless given")
    parser.add_argument(
        "--only", choices=["lines", "sweeps"], help="make these alone, and leave the others as they are"
    )
    parser.add_argument("--to", type=Path, default=packs_folder(), help="the folder of the packs")
    given = parser.parse_args()
    for published in published_in(given.folder, given.names):
        try:
            if given.only == "sweeps":
                print(add_sweep(published, given.to), flush=True)
            else:
                print(make(published, given.to, keep_sweep=given.only == "lines"), flush=True)
        except (AdapterFault, DataError) as error:
            print(f"no pack: {error}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
