"""The fixtures: cases, their models and corpora, read strictly from YAML, or from the bundle of an installed suite.

A violation of a rule in ``fixtures/README.md`` or of the schema is reported in one line with file, line and key.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from tokspec import __version__
from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder, paths_below, read_bounded, specification_folder
from tokspec.suite import schema
from tokspec.suite.arithmetic import arithmetic
from tokspec.suite.cases import FIRST_VERSION, Case, Model, Suite, numbers_of, read_bundle, write_bundle
from tokspec.suite.families import OUTCOMES, by_family
from tokspec.suite.specification import Specification, load_specification
from tokspec.suite.strict_yaml import LARGEST, Document, KeyPath, parse_yaml
from tokspec.suite.surfaces import KEY, by_option, entries, has_surfaces, surfaces

#: The folders of the parts that cases name, and the part of the schema for a file there.
_PARTS = {"models": "model", "corpora": "corpus_inline"}

#: The folder of libraries' answers, which are not read with the cases (:mod:`tokspec.suite.origins`).
ORIGINS = "origins"

#: The code that reads fixtures, and the folder of a checkout for the compiled fixtures.
_CODE, _COMPILED = Path(__file__).parent, Path(".cache", "fixtures")

#: The form of the names of models and corpora.
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def load_suite(folder: Path | None = None) -> Suite:
    """Read all cases below a folder; without one, return the suite's own, which are read once.

    Raises:
        DataError: the first thing that is wrong, with file, line and key.

    >>> load_suite().cases["bpe-toy-encode-bug"].input
    {'text': 'bug'}
    """
    return _own_suite(fixtures_folder()) if folder is None else _read_folder(folder)


@cache
def _own_suite(root: Path) -> Suite:
    bundle = root / "bundle.json"
    with _without_collection():
        return read_bundle(bundle) if bundle.is_file() else _read_compiled(root)


def _read_compiled(root: Path) -> Suite:
    """Read the fixtures of a checkout, if nothing changed from the bundle that the last reading wrote.

    Without the bundle, a short run would spend most of its time on YAML. The name of the bundle is a hash of everything
    that decides what is read: the version, the path of every file (wrong names are refused), and the content of the
    fixtures, the schema, the chapters and this package.
    """
    total = hashlib.sha256(__version__.encode())
    for folder, endings in ((root, (".yaml", "schema.json")), (specification_folder(), (".md",)), (_CODE, (".py",))):
        for file in paths_below(folder):
            if "__pycache__" not in file.parts:
                read = file.read_bytes() if file.name.endswith(endings) and file.is_file() else b""
                total.update(b"\0%s\0%d\0" % (os.fsencode(file.relative_to(folder)), len(read)) + read)
    compiled = root.parent / _COMPILED / f"{total.hexdigest()}.json"
    try:
        return read_bundle(compiled)
    except (OSError, DataError):
        suite = _read_folder(root)
    try:
        compiled.parent.mkdir(parents=True, exist_ok=True)
        older = [file for file in compiled.parent.iterdir() if file != compiled]
        write_bundle(compiled, suite, load_specification())
        for file in older:
            file.unlink(missing_ok=True)
    except (OSError, DataError):  # a checkout that cannot be written is read again each time
        pass
    return suite


def _read_folder(root: Path) -> Suite:
    if not os.path.isdir(root):
        raise DataError("is not a folder; give one with fixture files in it", str(root))
    with _without_collection():
        loader = _Loader(root, load_specification())
        for file in paths_below(root):
            if file.suffix.lower() in (".yml", ".yaml") and file.suffix != ".yaml":
                raise DataError("is not read: names of fixture files end in .yaml; rename it", str(file))
            if file.parent == root / ORIGINS:
                continue
            if file.suffix == ".yaml":
                loader.read_part(file) if file.parent in loader.parts else loader.add_file(file)
    if not loader.cases:
        raise DataError("holds no fixture files (*.yaml)", str(root))
    return Suite(loader.cases, loader.hash())


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage in the block, because all values are kept, and collection takes a quarter of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Loader:
    """Reads the files of one folder; each model and corpus is read once, when a case first names it."""

    def __init__(self, root: Path, specification: Specification) -> None:
        self.root = root
        self.place = root.resolve()
        self.parts = {root / folder: part for folder, part in _PARTS.items()}
        self.specification = specification
        self.cases: dict[str, Case] = {}
        self.named: dict[Path, Any] = {}
        self.digests: dict[str, str] = {}

    def hash(self) -> str:
        """Return the SHA-256 of the names and contents of all files that were read, in the order of their names."""
        total = hashlib.sha256()
        for name, digest in sorted(self.digests.items()):
            total.update(os.fsencode(name) + f"\0{digest}\n".encode())
        return total.hexdigest()

    def add_file(self, file: Path) -> None:
        document = self.read(file)
        _validate(document, document.value)
        self.check_named_models(document)
        value = document.value
        default = self.model(document, ("model",), f"{document.file}:model") if "model" in value else None
        for index, raw in enumerate(value["cases"]):
            path: KeyPath = ("cases", index)
            families = list(by_family(document, path))
            for number, (asked, content) in enumerate(families):
                model = Model(f"{asked['id']}:model", _unhex(document, path, content))
                is_new = not number or any("differs" in each for each in (raw, *raw.get("inputs", ())))
                self.add(document, path, asked, model, is_checked=not is_new)
            if not families:
                own = self.model(document, (*path, "model"), f"{raw['id']}:model") if "model" in raw else default
                if own is None:
                    raise document.error(path, "has no model; give the case or the file one, {} if it needs none")
                self.add(document, path, raw, own)

    def add(
        self, document: Document, path: KeyPath, raw: Mapping[str, Any], model: Model, *, is_checked: bool = False
    ) -> None:
        """Add a case; ``is_checked`` says that it equals the first family's, which was checked already."""
        if other := self.cases.get(raw["id"]):
            message = f"{raw['id']} is used by {other.file}:{other.line}; ids are unique"
            raise document.error((*path, "id"), message)
        if not is_checked:
            _check_case(document, path, raw, self.specification)
        self.cases[raw["id"]] = self.case(document, path, raw, model, document.value["source"])

    def read(self, file: Path) -> Document:
        name = file.relative_to(self.root).as_posix()
        try:
            is_inside = file.resolve().is_relative_to(self.place)
        except (OSError, RuntimeError):
            raise DataError("is a link that leads nowhere; put the file itself there", name) from None
        if not is_inside:
            raise DataError("is a link that leaves the folder of the fixtures; put the file itself there", name)
        text = read_bounded(file, name, LARGEST)
        self.digests[name] = hashlib.sha256(text.encode()).hexdigest()
        return parse_yaml(text, name)

    def case(self, document: Document, path: KeyPath, raw: Mapping[str, Any], model: Model, source: Any) -> Case:
        family = model.content.get("type")
        input, outcome = ({}, {}) if "inputs" in raw else self.question(document, path, raw["input"], raw, family)
        case = Case(
            id=raw["id"],
            clauses=tuple(raw["clauses"]),
            why=raw["why"],
            source=tuple(raw.get("source", source)),
            model=model,
            operation=raw["operation"],
            input=input,
            outcome=outcome,
            stated=tuple(_unhex(document, (*path, "stated"), raw.get("stated", []))),
            worked=tuple(raw.get("worked", [])),
            tolerance=raw.get("tolerance", {}),
            tags=tuple(raw.get("tags", [])),
            verified_by=tuple(raw["verified_by"]),
            file=document.file,
            line=document.lines[path],
            since=raw.get("since", FIRST_VERSION),
        )
        places = [((*path, "inputs", index), row) for index, row in enumerate(raw.get("inputs", ()))]
        rows = [
            (*self.question(document, place, _input_of(row), row, family), document.lines[place])
            for place, row in places
        ]
        return case.with_rows(rows)

    def question(
        self, document: Document, path: KeyPath, input: Mapping[str, Any], raw: Mapping[str, Any], family: str | None
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the input and the outcome of a case or of a row."""
        place = (*path, "input") if "input" in raw else path
        asked = {**_unhex(document, place, input)}
        if isinstance(asked.get("corpus"), str):
            asked["corpus"] = self.part(document, (*place, "corpus"), "corpora", asked["corpus"])
        outcome = {key: _unhex(document, (*path, key), raw[key]) for key in OUTCOMES if key in raw}
        return asked, by_option(outcome, family)

    def model(self, document: Document, path: KeyPath, inline_name: str) -> Model:
        value = _value_at(document.value, path)
        if not isinstance(value, str):
            return Model(inline_name, _unhex(document, path, value))
        if value in document.value.get("named_models", ()):
            place = ("named_models", value)
            return Model(f"{document.file}:{value}", _unhex(document, place, _value_at(document.value, place)))
        return Model(value, self.part(document, path, "models", value))

    def check_named_models(self, document: Document) -> None:
        """Check that each named model of a file is used by several of its cases, under a unique name."""
        file = document.value
        named = [raw.get("model", file.get("model")) for raw in file["cases"]]
        for name in file.get("named_models", ()):
            users = [raw["id"] for raw, model in zip(file["cases"], named, strict=True) if model == name]
            if (self.root / "models" / f"{name}.yaml").is_file():
                message = f"is also the name of models/{name}.yaml; choose another, or use that model"
            elif not users:
                message = "is not used by any case; remove it"
            elif len(users) == 1:
                message = f"is used only by {users[0]}; write the model there"
            else:
                continue
            raise document.error(("named_models", name), message)

    def part(self, document: Document, path: KeyPath, folder: str, name: str) -> Any:
        """Return a named model or corpus, without its ``about``."""
        file = self.root / folder / f"{name}.yaml"
        if file not in self.named:
            if not _NAME.fullmatch(name):
                raise document.error(path, f"{name!r} is not a valid name; names are lowercase words joined by hyphens")
            if not os.path.isfile(file):
                message = f"names {name}, but there is no file {folder}/{name}.yaml"
                if folder == "models" and (known := document.value.get("named_models")):
                    message += f", and named_models has {', '.join(known)}"
                raise document.error(path, message)
        return self.read_part(file)

    def read_part(self, file: Path) -> Any:
        """Return the content of a file of models or corpora, whether or not a case names it."""
        if file not in self.named:
            read = self.read(file)
            _validate(read, read.value, self.parts[file.parent])
            self.named[file] = _unhex(read, (), {key: value for key, value in read.value.items() if key != "about"})
        return self.named[file]


def _unhex(document: Document, path: KeyPath, value: Any) -> Any:
    """Convert the byte-safe form ``{"hex": …}`` of a string (PROTO-2) to the string."""
    return _unhexed(document, path, value) if document.has_hex else value


def _unhexed(document: Document, path: KeyPath, value: Any) -> Any:
    if isinstance(value, list):
        return [_unhexed(document, (*path, index), item) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"hex"} and isinstance(value["hex"], str):
        try:
            return bytes.fromhex(value["hex"]).decode("utf-8", "surrogatepass")
        except ValueError:
            raise document.error((*path, "hex"), "is not UTF-8 in hexadecimal digits") from None
    return {key: _unhexed(document, (*path, key), item) for key, item in value.items()}


def _validate(document: Document, value: Any, part: str = "") -> None:
    """Check a value against the schema, or against a part of it.

    Raises:
        DataError: the first thing that is wrong, with file, line and key.
    """
    for path, message in schema.errors(value, part):
        is_question = path[:1] == ("cases",) and (len(path) == 2 or (path[2:3] == ("inputs",) and len(path) == 4))
        case = _value_at(value, path) if is_question else None
        raise document.error(path, _fault_of_question(case, message) if isinstance(case, dict) else message)


def _fault_of_question(raw: Mapping[str, Any], message: str) -> str:
    """Describe the error in a case or a row as a whole, for which the schema's message is unclear."""
    if "inputs" in raw:
        others = [key for key in ("input", *OUTCOMES, "stated", "worked") if key in raw]
        return f"has inputs, so it cannot have {others[0]}" if others else message
    if sum(key in raw for key in OUTCOMES) != 1:
        return f"needs exactly one of {', '.join(OUTCOMES)}"
    return message


def _input_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the input of a row: its keys without the outcome."""
    return {key: value for key, value in row.items() if key not in OUTCOMES}


def _value_at(value: Any, path: KeyPath) -> Any:
    """Return the value at a path."""
    for part in path:
        value = value[part]
    return value


def _check_case(document: Document, path: KeyPath, raw: Mapping[str, Any], specification: Specification) -> None:
    """Check what a schema cannot: that every name exists, and that every option has an answer.

    Raises:
        DataError: the first thing that is wrong, with file, line and key.
    """
    for index, clause in enumerate(raw["clauses"]):
        found = specification.clauses.get(clause)
        if found is None or found.level == "RETIRED":
            raise document.error((*path, "clauses", index), f"{clause} is not a live clause of the specification")
    for index, entry in enumerate(raw.get("source", [])):
        if entry.get("document", "") not in ("", *specification.documents):
            raise document.error((*path, "source", index), f"{entry['document']} is not a document of spec/00-terms.md")
    for index, entry in enumerate(raw.get("stated", [])):
        if entry.get("erratum", "E-1") not in specification.errata:
            raise document.error((*path, "stated", index), f"{entry['erratum']} is not in spec/errata.md")
    since = raw.get("since", FIRST_VERSION)
    if numbers_of(since) > numbers_of(__version__):
        message = f"{since} is later than this suite, {__version__}; no case is newer than its suite"
        raise document.error((*path, "since"), message)
    for index, entry in enumerate(raw.get("worked", [])):
        try:
            arithmetic(entry["from"])
        except ValueError as error:
            raise document.error((*path, "worked", index, "from"), str(error)) from None
    for place, question in _questions(path, raw).items():
        inner_place = (*place, "input") if "input" in question else place
        input = question["input"] if "input" in question else _input_of(question)
        for inner, message in schema.errors(input, f"operations/{raw['operation']}/input"):
            raise document.error((*inner_place, *inner), message)
        asked = _unhex(document, inner_place, input)
        _check_outcome(document, place, question, asked, raw["operation"], specification)


def _questions(path: KeyPath, raw: Mapping[str, Any]) -> Mapping[KeyPath, Mapping[str, Any]]:
    """Return the rows of a case by their paths, or the case itself."""
    if "inputs" not in raw:
        return {path: raw}
    return {(*path, "inputs", index): row for index, row in enumerate(raw["inputs"])}


def _check_outcome(
    document: Document,
    path: KeyPath,
    outcome: Mapping[str, Any],
    input: Mapping[str, Any],
    operation: str,
    specification: Specification,
) -> None:
    results = {(*path, "one_of", index): result for index, result in enumerate(outcome.get("one_of", ()))}
    if "expect" in outcome:
        results[*path, "expect"] = outcome["expect"]
    for place, written in results.items():
        for result in (entries(written), surfaces(written)) if has_surfaces(written) else (written,):
            for inner, message in schema.errors(result, f"operations/{operation}/result"):
                raise document.error((*place, *inner), message)
            for inner, message in _LENGTHS.get(operation, _no_lengths)(result, input):
                raise document.error((*place, *inner), message)
    _check_alike(document, path, outcome)
    if "by_choice" not in outcome:
        return
    ((name, options),) = outcome["by_choice"].items()
    choice, here = specification.choices.get(name), (*path, "by_choice", name)
    if choice is None:
        raise document.error(here, "is not a choice of spec/08-choices.md")
    if set(options) != set(choice.options):
        raise document.error(here, f"needs an answer for each of {', '.join(choice.options)}")
    for option, inner_outcome in options.items():
        _check_outcome(document, (*here, option), inner_outcome, input, operation, specification)


_Wrong: TypeAlias = Iterator[tuple[KeyPath, str]]


def _no_lengths(result: Mapping[str, Any], input: Mapping[str, Any]) -> _Wrong:
    return iter(())


def _check_encoding(result: Mapping[str, Any], input: Mapping[str, Any]) -> _Wrong:
    """Check that every list has an entry for each token, and that it is known to which text each span refers."""
    lists = {key: value for key, value in result.items() if key != "overflowing"}
    first, *others = lists or {"overflowing": ()}
    for key in others:
        if len(lists[key]) != len(lists[first]):
            yield (key,), f"has {len(lists[key])} entries, and {first} has {len(lists[first])}; both have one a token"
    if "pair" in input and "spans" in result and "sequence_ids" not in result:
        yield ("spans",), "needs sequence_ids next to it, to say which text of the pair a span belongs to"
    longest = max(len(input["text"]), len(input.get("pair", "")))
    for index, (start, end) in enumerate(result.get("spans", ())):
        if not start <= end <= longest:
            yield ("spans", index), f"[{start}, {end}] is not a span of a text of {longest} code points"
    for index, part in enumerate(result.get("overflowing", ())):
        for path, message in _check_encoding(part, input):
            yield ("overflowing", index, *path), message


def _check_encodings(result: Mapping[str, Any], input: Mapping[str, Any]) -> _Wrong:
    encodings, inputs = result["encodings"], input["inputs"]
    if len(encodings) != len(inputs):
        yield ("encodings",), f"has {len(encodings)} entries, and inputs has {len(inputs)}"
    for index, (encoding, each) in enumerate(zip(encodings, inputs, strict=False)):
        for path, message in _check_encoding(encoding, each):
            yield ("encodings", index, *path), message


def _check_parts(result: Mapping[str, Any], input: Mapping[str, Any]) -> _Wrong:
    name = "ids" if "ids" in input else "id_steps"
    if len(result["parts"]) != len(input[name]):
        yield ("parts",), f"has {len(result['parts'])} entries, and {name} has {len(input[name])}"
    if "stops" not in input and ("end" in result) != bool(input.get("end")):
        yield (), "must have end if the input has it, and only then"


_LENGTHS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], _Wrong]] = {
    "encode": _check_encoding,
    "encode_batch": _check_encodings,
    "decode_stream": _check_parts,
    "decode_until": _check_parts,
}


def _check_alike(document: Document, path: KeyPath, outcome: Mapping[str, Any]) -> None:
    """Check that the right answers of a ``one_of`` have the same keys, because all are compared like the first."""
    first, *others = outcome.get("one_of", [{}])
    for index, other in enumerate(others, 1):
        if other.keys() - {KEY} != first.keys() - {KEY}:
            raise document.error((*path, "one_of", index), f"needs the keys of the first, {', '.join(first)}")
