"""``tokenizer_regression``: recordings as the snapshots of a test, with pytest-regressions.

The first run writes a recording next to the test and fails; later runs compare with it; ``--force-regen`` rewrites it.
A tokenizer may be an object in this process, which is called as its user would call it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from operator import index
from pathlib import Path
from typing import Any

import click
import pytest

from tokspec.adapter import Hello, Unsupported, require_unicode
from tokspec.base.errors import AdapterFault, DataError, items_of
from tokspec.compare.answers import Asker, Input, answer
from tokspec.compare.causes import FAULT_OF_BOTH
from tokspec.compare.compare import Unanswered, compare_records, default_inputs, file_inputs
from tokspec.compare.inputs import Reading
from tokspec.compare.recording import header_of, read_recording, write_records
from tokspec.compare.report import Summary, describe_comparison
from tokspec.compare.sides import Side, open_side
from tokspec.compare.tally import Tally
from tokspec.compare.texts import MADE
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session

#: How many causes a failing test shows.
_SHOWN = 10


class TokenizerRegression:
    """The object that the fixture ``tokenizer_regression`` gives a test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def check(
        self,
        tokenizer: Any = None,
        texts: Iterable[str] = (),
        *,
        impl: str | None = None,
        command: str | None = None,
        model: Path | str | None = None,
        inputs: Iterable[Path | str] = (),
        vocabulary: bool = True,
        basename: str | None = None,
        compressed: bool = False,
    ) -> None:
        """Compare the answers of a tokenizer with the recording next to the test, or write that recording.

        The texts that were made for the recording are used again, whatever texts would be made today.

        Args:
            tokenizer: an object that encodes, and perhaps decodes; or a function from a text to ids or tokens.
            texts: texts in addition to the suite's own.
            impl: instead of an object, an implementation, named as for ``tokspec record``.
            command: instead of either, a program that speaks the protocol.
            model: the file that ``impl`` or ``command`` loads.
            inputs: files of texts.
            vocabulary: whether to make texts of the model's vocabulary too, if it has one; without them, a change of a
                token that is in no text goes unnoticed.
            basename: the name of the recording; the test's by default.
            compressed: whether the recording is written as ``.ndjson.gz``.
        """
        from pytest_regressions.common import perform_regression_check  # here, because it may be missing

        __tracebackhide__ = True  # the traceback ends at the line of the test

        folder = self._request.getfixturevalue("original_datadir")
        new = [each for each in (folder / (basename or "its name")).parents if not each.exists()]
        is_anew = self._request.config.getoption("force_regen")

        def write(file: Path) -> None:  # called again when the file is rewritten
            made = _recorded(file, is_anew) or default_inputs(asker, MADE, vocabulary=vocabulary)
            _write(file, asker, chain(made, file_inputs(files, Reading(), Tally()), own))

        try:
            texts, inputs = items_of(texts, "texts"), items_of(inputs, "inputs", (str, Path))
            own = [Input("inputs/test", str(number), text) for number, text in enumerate(texts, 1)]
            files = [str(file) for file in inputs]
            with _session(tokenizer, impl, command) as session:
                asker = Asker(session, _model(tokenizer, model))
                asker.drop_missing_stages()
                perform_regression_check(
                    datadir=self._request.getfixturevalue("datadir"),
                    original_datadir=folder,
                    request=self._request,
                    check_fn=partial(_compare, is_anew=is_anew),
                    dump_fn=write,
                    extension=".ndjson.gz" if compressed else ".ndjson",
                    basename=basename,
                )
        except (DataError, AdapterFault) as error:
            raise error.with_traceback(None) from None  # its message says all, and the rest is the suite's own code
        finally:
            for each in new:
                with suppress(OSError):
                    each.rmdir()  # which fails unless the folder is empty, because no recording was written


def _recorded(obtained: Path, is_anew: bool) -> list[Input]:
    """Return the texts that were made for the recording to compare a file with; none if the file is that recording.

    A recording that will be rewritten may be unreadable.
    """
    expected = obtained.with_name(obtained.name.replace(".obtained.", "."))
    if expected == obtained or not expected.is_file():
        return []
    try:
        records = list(read_recording(expected, expected.name).records())
    except DataError:
        if is_anew:
            return []
        raise
    return [record.input for record in records if not record.input.section.startswith("inputs/")]


def _model(tokenizer: Any, model: Path | str | None) -> UserModel:
    __tracebackhide__ = True
    if tokenizer is not None:
        if model is not None:
            raise DataError("an object has its model; leave out model=")
        return model_of(tokenizer)
    if model is None:
        raise DataError("an implementation needs a model: model=FILE")
    return read_user_model(Path(model))


@contextmanager
def _session(tokenizer: Any, impl: str | None, command: str | None) -> Iterator[Session]:
    if sum(each is not None for each in (tokenizer, impl, command)) != 1:
        raise DataError("give one tokenizer: an object, impl= or command=")
    side = Side(impl=impl, command=command)
    limits = Limits(case_seconds=60.0, start_seconds=120.0)
    with InProcessSession(ObjectAdapter(tokenizer)) if tokenizer is not None else open_side(side, limits) as session:
        yield session


def _write(file: Path, asker: Asker, inputs: Iterable[Input]) -> None:
    unanswered = Unanswered()
    header = header_of(asker, "as called", {})
    write_records(file, asker, header, unanswered.watch(answer(asker, inputs)))
    for line in unanswered.lines:
        print(line)  # pytest shows it where the test fails


def _compare(obtained: Path, expected: Path, is_anew: bool) -> None:
    """Fail with the causes if the obtained recording differs from the expected one."""
    __tracebackhide__ = True
    try:
        before = read_recording(expected, expected.name)
    except DataError as error:
        if is_anew:
            raise AssertionError(str(error)) from None
        raise
    after = read_recording(obtained, obtained.name)
    tally = compare_records(before, after, ())
    left = [why for why in tally.left if not why.endswith(FAULT_OF_BOTH)]  # a fault as recorded is not a change
    if tally.different or left:
        summary = Summary((f"{before.header.who} as recorded in {before.name}", after.header.who), tally)
        lines = [*describe_comparison(summary, _SHOWN), "to record what is answered now: pytest --force-regen"]
        raise AssertionError(click.unstyle("\n".join(lines)))


#: The format of an object that needs no loading.
_FORMAT = "object"


class ObjectAdapter:
    """Calls ``encode`` and ``decode`` of an object, or the object itself, with only a text or ids.

    ``encode`` may return ids, tokens, or what Hugging Face tokenizers return. Stages are compared if the object has
    them as ``normalizer`` and ``pre_tokenizer``.

    >>> adapter = ObjectAdapter(lambda text: text.split())
    >>> adapter.run("encode", None, {"text": "a bug"})
    {'tokens': ['a', 'bug']}
    >>> adapter.hello().operations
    ('encode',)
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def hello(self) -> Hello:
        """Describe the object by its type, and by the package that it comes from."""
        kind = type(self._tokenizer)
        offered = tuple(name for name, find in _FINDERS.items() if find(self._tokenizer) is not None)
        try:
            release = version(kind.__module__.partition(".")[0])
        except PackageNotFoundError:
            release = ""
        fields = ("tokens", "ids", "spans")
        return Hello(_name(self._tokenizer), release, "Python", offered, (_FORMAT,), encode_fields=fields)

    def load(self, format: str, content: Any) -> None:
        """Do nothing, because the object needs no loading."""

    def run(self, operation: str, model: None, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """Perform an operation.

        Raises:
            Unsupported: the object has no such stage, or takes nothing of that kind.
        """
        require_unicode(input)
        call = _FINDERS[operation](self._tokenizer)
        if call is None:
            raise Unsupported(f"{_name(self._tokenizer)} has nothing for {operation}")
        return _RESULTS[operation](call, input)


def model_of(tokenizer: Any) -> UserModel:
    """Return a stand-in for the object's model; its hash is that of the object's own description, if it gives one.

    >>> model_of(lambda text: text.split()).name
    '<lambda>'
    """
    __tracebackhide__ = True  # errors here are raised by the user's object
    said = ""
    for name in ("to_str", "get_vocab"):
        if callable(method := getattr(tokenizer, name, None)):
            said = json.dumps(method(), sort_keys=True, default=repr)
            break
    return UserModel(_FORMAT, {}, _name(tokenizer), hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest())


def _name(tokenizer: Any) -> str:
    kind = type(tokenizer)
    return getattr(tokenizer, "__name__", "") or f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def _encode_of(tokenizer: Any) -> Any:
    return getattr(tokenizer, "encode", None) or (tokenizer if callable(tokenizer) else None)


def _stage(stage: str, method: str) -> Callable[[Any], Any]:
    return lambda tokenizer: getattr(getattr(tokenizer, stage, None), method, None)


_FINDERS: Mapping[str, Callable[[Any], Any]] = {
    "normalize": _stage("normalizer", "normalize_str"),
    "pre_tokenize": _stage("pre_tokenizer", "pre_tokenize_str"),
    "encode": _encode_of,
    "decode": lambda tokenizer: getattr(tokenizer, "decode", None),
}


def _encoded(call: Callable[[str], Any], input: Mapping[str, Any]) -> dict[str, Any]:
    found = call(input["text"])
    if hasattr(found, "ids") and hasattr(found, "tokens") and hasattr(found, "offsets"):
        return {"tokens": _listed(found.tokens), "ids": _listed(found.ids), "spans": _listed(found.offsets)}
    found = _listed(found)
    if isinstance(found, list) and all(isinstance(each, str) for each in found):
        return {"tokens": found}
    return {"ids": [_integer(each) for each in found] if isinstance(found, list) else found}


def _listed(value: Any) -> Any:
    """Return an iterable as a list, and anything else unchanged, for the check of the answer's form."""
    return list(value) if isinstance(value, Iterable) else value


def _integer(value: Any) -> Any:
    """Return the int of an integer of any library, and anything else unchanged, for the check of the form."""
    try:
        return index(value)
    except TypeError:
        return value


def _pieces(call: Callable[[str], Any], input: Mapping[str, Any]) -> dict[str, Any]:
    found = _listed(call(input["text"]))
    try:
        return {"pieces": [(piece, *span) for piece, span in found]}
    except (TypeError, ValueError):  # it does not have that form
        return {"pieces": found}


def _decoded(call: Callable[[Any], Any], input: Mapping[str, Any]) -> dict[str, Any]:
    if "ids" not in input:
        raise Unsupported("decodes ids")
    return {"text": call(input["ids"])}


_RESULTS: Mapping[str, Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]] = {
    "normalize": lambda call, input: {"text": call(input["text"])},
    "pre_tokenize": _pieces,
    "encode": _encoded,
    "decode": _decoded,
}
