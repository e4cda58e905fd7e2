from __future__ import annotations

import ast
from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path

import pytest

import tokref
from tokref import InputError, from_mapping
from tokref.decoding import DECODERS
from tokref.normalization import NORMALIZERS
from tokref.post_processing import POST_PROCESSORS
from tokref.pre_tokenization import PRE_TOKENIZERS

FOLDER = Path(tokref.__file__).parent
SOURCES = sorted(FOLDER.rglob("*.py"))
DOOR = [source for source in SOURCES if source.parent.name == "reading" or source.stem == "__init__"]


def used(source: Path) -> set[str]:
    """Return the modules that a source imports, the names that it takes from them, and all its attributes."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {str(node.module).partition(".")[0], *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_reference_knows_nothing_of_the_harness_and_has_no_machinery_for_speed(source: Path) -> None:
    assert used(source) & {"tokspec", "tokfast"} == set()
    assert used(source) & {"heapq", "bisect", "array", "cache", "lru_cache", "cached_property"} == set()


@pytest.mark.parametrize("source", sorted({*SOURCES} - {*DOOR}), ids=lambda source: source.stem)
def test_the_chapters_know_nothing_of_the_door(source: Path) -> None:
    imported = [
        node.module for node in ast.walk(ast.parse(source.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    assert [name for name in imported if str(name).startswith("tokref.reading")] == []


STAGES = {
    "normalizer": NORMALIZERS,
    "pre_tokenizer": PRE_TOKENIZERS,
    "decoder": DECODERS,
    "post_processor": POST_PROCESSORS,
}


@pytest.mark.parametrize(
    ("stage", "name", "function"),
    [(stage, name, function) for stage, functions in STAGES.items() for name, function in functions.items()],
)
def test_what_can_only_be_named_is_a_parameter_of_the_component(
    stage: str, name: str, function: Callable[..., object]
) -> None:
    named = {key: each for key, each in signature(function).parameters.items() if each.kind is Parameter.KEYWORD_ONLY}
    with pytest.raises(InputError) as caught:
        from_mapping({stage: {"type": name, "?": None}})
    assert caught.value.message == f"the {stage} {name} has no key '?'; give only {', '.join(named) or 'type'}"
    if all(each.default is not Parameter.empty for each in named.values()):
        component = getattr(from_mapping({stage: {"type": name}}), stage)
        assert component.parameters == {key: each.default for key, each in named.items()}
