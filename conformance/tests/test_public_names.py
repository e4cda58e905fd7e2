"""What the harness offers: every name on a list, with a docstring, and an example that can be run."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import tokspec
import tokspec.adapter

MODULES = {
    name: importlib.import_module(name)
    for _, name, _ in pkgutil.walk_packages(tokspec.__path__, f"{tokspec.__name__}.")
}

#: Values that an example would first have to build: its lines would be about them. Their functions have tests instead.
LARGE = re.compile(
    r"\b(Asker|BinaryIO|Campaign|Case|Cause|Change|Command|Document|Finding|Findings|Header|KnownFailures|Mutant|Outcome"
    r"|OwnModel|Pack|Path|Random|Record|Report|Result|Row|Run|Session|Side|Suite|Summary|Tokenizer|Unit|_Command|pytest)\b"
)

#: Functions of plain values that need more than values.
WITHOUT_EXAMPLE = {
    "tokspec.adapters.huggingface.translated": "calls what may fail",
    "tokspec.adapters.registry.open_session": "starts a process",
    "tokspec.adapters.environments.command_elsewhere": "names a folder of this machine",
    "tokspec.formats.gguf_vocabulary.write": "gives what only the file's reader understands",
    "tokspec.formats.reading_stages.refuse_other": "gives nothing",
    "tokspec.formats.sentencepiece_model.read": "reads a file's bytes",
    "tokspec.formats.sentencepiece_model.write": "writes a file's bytes",
    "tokspec.sessions.pipes.chunks_until": "reads a pipe",
    "tokspec.sessions.pipes.new_mark": "is random",
    "tokspec.sessions.pipes.read_lines": "reads a pipe",
    "tokspec.sweep.engines.doing.do": "works on files",
    "tokspec.sweep.opening.find": "looks into folders",
    "tokspec.sweep.sides.hello_of": "starts a process",
}


def public() -> Iterator[tuple[str, Any]]:
    """Give every public function and class, by its full name, in the module that defines it."""
    for name, module in MODULES.items():
        for key in getattr(module, "__all__", own(module)):
            value = getattr(module, key)
            if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == name:
                yield f"{name}.{key}", value


def own(module: ModuleType) -> list[str]:
    """Name what a module defines without an underscore."""
    return [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def test_what_an_adapter_needs_is_locked() -> None:
    assert tokspec.adapter.__all__ == ["Adapter", "Hello", "Refusal", "Unsupported", "require_unicode"]
    assert sorted(tokspec.__all__) == sorted([*tokspec.adapter.__all__, "__version__"])


def test_every_module_lists_what_is_public() -> None:
    without = [name for name, module in MODULES.items() if own(module) and not hasattr(module, "__all__")]
    assert without == []


def test_every_listed_name_is_there() -> None:
    missing = [
        f"{name}.{key}"
        for name, module in MODULES.items()
        for key in getattr(module, "__all__", ())
        if not hasattr(module, key)
    ]
    assert missing == []


def test_every_module_and_every_public_name_has_a_docstring() -> None:
    assert [name for name, module in MODULES.items() if not module.__doc__] == []
    assert [
        name for name, value in public() if not value.__doc__ or value.__doc__.startswith(f"{value.__name__}(")
    ] == []


def test_every_function_of_plain_values_has_an_example() -> None:
    functions = {name: value for name, value in public() if inspect.isfunction(value)}
    plain = {
        name: value
        for name, value in functions.items()
        if inspect.signature(value).parameters and not LARGE.search(" ".join(map(str, value.__annotations__.values())))
    }
    without = {name for name, value in plain.items() if ">>> " not in (value.__doc__ or "")}
    assert sorted(without - WITHOUT_EXAMPLE.keys()) == []
    assert len(plain) > 40


def test_the_harness_knows_the_references_through_their_adapters_alone() -> None:
    knowing = [
        name
        for name, module in MODULES.items()
        if re.search(r"^\s*(import|from) (tokref|tokfast)\b", inspect.getsource(module), re.M)
    ]
    assert knowing == ["tokspec.adapters.reference", "tokspec.adapters.tokfast"]
