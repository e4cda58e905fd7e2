"""Comparing and recording a user's file, beside a loop that has both libraries encode the same texts.

``TOKSPEC_SHIPPED_FILES`` names the folder that ``conformance/tests/shipped/fetch.py`` fills. Seconds are those of the
clock, as both sides of a comparison work at once, and of the whole command: with the start and the model's loading.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from measure import CACHE, Measured, Row, Unmeasured, run_command

from tokspec.adapters.registry import find
from tokspec.compare.answers import Asker
from tokspec.compare.compare import default_inputs
from tokspec.compare.texts import MADE
from tokspec.formats.user_model import read_user_model
from tokspec.sessions.in_process import InProcessSession

#: The files that are asked about, of the list of files that packages ship.
FILES = ("qwen-3", "llama-3.1")

#: What both libraries do with the texts, and nothing else; it prints how many have the same ids.
LOOP = """
import json, sys
from tokfast import FastTokenizer
from tokref import Choices, from_mapping
from tokenizers import Tokenizer
from tokspec.formats.user_model import read_user_model
from tokspec.published.sharing import TOKENIZERS_CHOICES
from pathlib import Path
model, texts = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text("utf-8"))
options = {name: option for name, option in TOKENIZERS_CHOICES.items() if name != "offset_unit"}
one = Tokenizer.from_file(str(model)).encode
other = FastTokenizer(from_mapping(read_user_model(model).neutral), Choices(**options)).encode_ids
print(sum(one(text, add_special_tokens=False).ids == other(text) for text in texts))
"""

#: The libraries of ``matrix --model``, which it compares with tokfast.
FOUR = ("tokenizers", "fastokens", "gigatoken", "tokie")

#: What those libraries and tokfast do with the texts, and nothing else; it prints how many texts each encoded.
FOUR_LOOP = """
import json, sys
from pathlib import Path
from tokfast import FastTokenizer
from tokref import Choices, from_mapping
from tokspec.adapters.registry import find
from tokspec.formats.user_model import read_user_model
model, texts = read_user_model(Path(sys.argv[1])), json.loads(Path(sys.argv[2]).read_text("utf-8"))
encoders = [FastTokenizer(from_mapping(model.neutral), Choices(bpe_merge_order="lowest_rank")).encode_ids]
for name in sys.argv[3:]:
    adapter = find(name).make()
    encoders.append(adapter.encoder(adapter.load(model.format, model.content)))
for encode in encoders:
    for text in texts:
        encode(text)
print(len(texts))
"""

_COMPARED = re.compile(r"^A and B (?:agree on|differ in ([0-9,]+) .* of) ([0-9,]+) inputs", re.MULTILINE)
_TESTED = re.compile(r"^tokenizers .*? ([0-9,]+) of [0-9,]+ ", re.MULTILINE)
_RECORDED = re.compile(r": ([0-9,]+) texts, ")


def rows() -> Iterator[Row]:
    """Return the rows: two releases, two libraries, a recording, and what is compared with one."""
    for name in FILES:
        loop = partial(bare_loop, name)
        for what, command in (
            ("compare two releases", ("diff", "tokenizers==0.22.2", "tokenizers==0.23.3")),
            ("compare two libraries", ("diff", "tokenizers", "tokfast")),
            ("compare with a recording", ("diff", "RECORDING", "tokenizers")),
        ):
            yield Row(f"{what}: {name}", partial(compare, name, command), "a bare loop", loop, 0.25, comparable=False)
        yield Row(f"record: {name}", partial(record, name), "a bare loop", loop, 0.25, comparable=False)
    four = partial(bare_loop_of_four, FILES[0])
    yield Row(
        f"test four libraries: {FILES[0]}", partial(test_four, FILES[0]), "a bare loop", four, 0.17, comparable=False
    )


def model_of(name: str) -> Path:
    """Return a file of the list; without it nothing is measured."""
    folder = os.environ.get("TOKSPEC_SHIPPED_FILES")
    file = Path(folder or "", f"{name}.json")
    if not (folder and file.is_file()):
        raise Unmeasured("TOKSPEC_SHIPPED_FILES names no folder with this file; conformance/tests/shipped/fetch.py")
    return file


@cache
def texts_of(name: str) -> Path:
    """Write the texts that a file is asked about, and return where."""
    tokenizers = find("tokenizers")
    with InProcessSession(tokenizers.make()) as session:
        inputs = default_inputs(Asker(session, read_user_model(model_of(name))), MADE)
    CACHE.mkdir(parents=True, exist_ok=True)
    file = CACHE / f"{name}-texts.json"
    file.write_text(json.dumps([each.text for each in inputs]), "utf-8")
    return file


def bare_loop(name: str) -> Measured:
    """Load the file in both libraries, and encode each text; the result is how many have the same ids."""
    ended = run_command([sys.executable, "-c", LOOP, str(model_of(name)), str(texts_of(name))])
    return Measured(ended.clock, int(ended.output))


def bare_loop_of_four(name: str) -> Measured:
    """Load the file in tokfast and four libraries, one after the other, and encode each text in each."""
    ended = run_command([sys.executable, "-c", FOUR_LOOP, str(model_of(name)), str(texts_of(name)), *FOUR])
    return Measured(ended.clock, int(ended.output))


def test_four(name: str) -> Measured:
    """Test the libraries with the file; the result is how many texts tokenizers encoded right."""
    CACHE.mkdir(parents=True, exist_ok=True)
    impls = [word for library in FOUR for word in ("--impl", library)]
    command = [sys.executable, "-m", "tokspec", "matrix", "--model", str(model_of(name)), *impls]
    ended = run_command(command, CACHE, statuses=(0, 1))
    found = _TESTED.search(ended.output)
    if found is None:
        raise Unmeasured(f"no count of texts in {ended.output[-200:]!r}")
    return Measured(ended.clock, found[1])


def compare(name: str, command: tuple[str, ...]) -> Measured:
    """Compare by a command; the result is how many inputs there were, and how many differ."""
    words = [str(recording_of(name)) if word == "RECORDING" else word for word in command]
    options = ["--model", str(model_of(name))]
    ended = run_command([sys.executable, "-m", "tokspec", *words, *options], CACHE, statuses=(0, 1))
    found = _COMPARED.search(ended.output)
    if found is None:
        raise Unmeasured(f"no count of inputs in {ended.output[-200:]!r}")
    return Measured(ended.clock, found.groups())


@cache
def recording_of(name: str) -> Path:
    """Record the answers of tokenizers once, and return where they are."""
    record(name)
    return CACHE / f"{name}.ndjson.gz"


def record(name: str) -> Measured:
    """Record the answers of tokenizers; the result is how many texts there are."""
    CACHE.mkdir(parents=True, exist_ok=True)
    options = ["--model", str(model_of(name)), "-o", f"{name}.ndjson.gz"]
    ended = run_command([sys.executable, "-m", "tokspec", "record", "tokenizers", *options], CACHE)
    found = _RECORDED.search(ended.output)
    if found is None:
        raise Unmeasured(f"no count of texts in {ended.output[-200:]!r}")
    return Measured(ended.clock, found[1])
