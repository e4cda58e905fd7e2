"""The table of components: what the crate has, what the suite has for it, and that both are as they are written down."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, signature
from pathlib import Path
from types import ModuleType

import pytest

from tokref.charsmap import CharacterMap
from tokref.decoding import DECODERS
from tokref.normalization import NORMALIZERS
from tokref.post_processing import POST_PROCESSORS
from tokref.pre_tokenization import PRE_TOKENIZERS
from tokspec.formats.tokenizer_json.fields import Component
from tokspec.suite.components import CHARACTER_MAP, NEEDED, rows_of

FOLDER = Path(__file__).parents[1] / "components"


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(f"components_{name}", FOLDER / f"{name}.py")
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


table, generate = load("component_table"), load("generate")


def test_schema_and_specification_follow_from_the_table() -> None:
    stale = [str(file) for file, text in generate.written().items() if file.read_text("utf-8") != text]
    assert stale == [], "run python conformance/components/generate.py"


@pytest.mark.interop
def test_the_table_is_up_to_date() -> None:
    """Its counts change with every case, and are made anew with the other figures."""
    assert table.FILE.read_text("utf-8") == table.table(), "run python conformance/components/component_table.py"


def keys(component: Component) -> set[str]:
    return {field.theirs for field in component.fields} | set(component.silent)


def test_the_reader_has_every_component_and_key_of_the_crate_and_no_other() -> None:
    for stage, listed in table.CRATE["components"].items():
        kinds = table.KINDS[stage]
        components = {component.theirs: component for component in kinds.components}
        assert set(components) == set(listed)
        for name, component in components.items():
            assert keys(component) == set(listed[name]), name
    for name, component in table.OTHERS.items():
        # An added token has an id beside what its structure has.
        assert keys(component) - {"id"} == set(table.CRATE["others"][name])


def test_the_reader_has_every_value_of_the_enums_of_the_crate() -> None:
    fields = [
        (place, field)
        for place, components in [
            *(("", kinds.components) for kinds in table.KINDS.values()),
            *((f"{name}.", (component,)) for name, component in table.OTHERS.items()),
        ]
        for component in components
        for field in component.fields
    ]
    for name, values in table.CRATE["values"].items():
        found = [field.form.values for place, field in fields if place + field.theirs == name]
        assert found
        for known in found:
            # The scheme of metaspaces is the one enum whose values a file has in small letters.
            assert {str(value).lower() for value in known} == {value.lower() for value in values}, name


@pytest.mark.interop
def test_the_names_are_those_of_the_crate() -> None:
    registry = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry" / "src"
    crate = load("crate")
    sources = list(registry.glob(f"*/{table.CRATE['crate']}"))
    if not sources:
        pytest.skip(f"needs the source of {table.CRATE['crate']}, which cargo fetch gets")
    assert json.loads(json.dumps(crate.extract(sources[0]))) == table.CRATE


#: Where the reference has the functions of a stage.
FUNCTIONS = {
    "normalizer": NORMALIZERS,
    "pre_tokenizer": PRE_TOKENIZERS,
    "post_processor": POST_PROCESSORS,
    "decoder": DECODERS,
}


@pytest.mark.parametrize("stage", FUNCTIONS)
def test_the_functions_of_the_reference_take_the_parameters_of_the_table(stage: str) -> None:
    taken = {
        kind: {
            name: NEEDED if parameter.default is Parameter.empty else parameter.default
            for name, parameter in signature(function).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
        }
        for kind, function in FUNCTIONS[stage].items()
    }
    listed = {
        row.type: {
            each.name: CharacterMap((), b"") if each.form is CHARACTER_MAP and each.default == "" else each.default
            for each in row.parameters
        }
        for row in rows_of(stage)
    }
    assert taken == listed
