"""Fixture files that somebody has broken: whatever is in them, it is loaded or refused with file, line and key."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tokspec.base.errors import DataError
from tokspec.base.files import fixtures_folder
from tokspec.suite.fixtures import ORIGINS, load_suite
from tokspec.suite.strict_yaml import read_yaml

FILES = [
    file
    for file in sorted(fixtures_folder().rglob("*.yaml"))
    if file.stat().st_size < 20_000 and file.parent.name != ORIGINS  # not read with the cases
]
CONTENTS = {file.relative_to(fixtures_folder()): read_yaml(file).value for file in FILES}

#: A case that names every model and corpus, so that a broken one is read.
NAMES_ALL = [
    {
        "id": f"names-{kind}-{number}",
        "clauses": ["TERM-1"],
        "why": "It names a model or a corpus.",
        "model": name if kind == "models" else {},
        "operation": "count_words",
        "input": {"corpus": name if kind == "corpora" else {"words": []}},
        "expect": {"words": []},
        "verified_by": ["hand"],
    }
    for kind in ("models", "corpora")
    for number, name in enumerate(sorted(file.stem for file in FILES if file.parent.name == kind))
]


def written(value: Any) -> str:
    """Write a value as YAML that the strict reader takes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(str(key))}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, float):
        mantissa, e, exponent = repr(value).partition("e")
        return mantissa + ("" if "." in mantissa else ".0") + e + exponent
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[^ -~]", lambda match: f"\\U{ord(match[0]):08x}", text)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the place of everything in a value but the value itself."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from places(item, (*place, key))


VALUES = st.sampled_from(
    [
        *(None, True, 0, 3, -1, 1.5, 1e300, 10**200, "", "abc", "toy-bpe", "../x", "\x1b", "a" * 5000),
        *([], [[]], [3], [None], ["abc"], {}, {"hex": "ff"}, {"hex": "61"}, {"hex": 3}, {"hex": "z"}),
        *({"expect": {}}, {"one_of": [{}, {"tokens": []}]}, {"words": []}, {"texts": [{"hex": "eda080"}]}),
        {"unknown_id": {"error": {"error": "unknown_id"}, "skipped": {"one_of": [{"text": ""}, {}]}}},
    ]
)


def at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


@st.composite
def changed(draw: st.DrawFn) -> tuple[Path, Any]:
    """Replace, move, repeat, rename or remove values of one file."""
    name = draw(st.sampled_from(list(CONTENTS)))
    value = copy.deepcopy(CONTENTS[name])
    for _ in range(draw(st.integers(1, 3))):
        all_places = [place for place in places(value) if place]
        if all_places:
            *before, key = draw(st.sampled_from(all_places))
            change(draw, value, at(value, tuple(before)), key)
    return name, value


def change(draw: st.DrawFn, whole: Any, parent: Any, key: Any) -> None:
    how = draw(st.sampled_from(["replace", "move", "repeat", "rename", "remove"]))
    if how == "replace":
        parent[key] = copy.deepcopy(draw(VALUES))
    elif how == "move":
        parent[key] = copy.deepcopy(at(whole, draw(st.sampled_from(list(places(whole))))))
    elif how == "repeat" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif how == "rename" and isinstance(parent, dict):
        parent[draw(st.sampled_from(["hex", "one_of", "expect", "error", "by_choice", "x" * 500, "\x1b"]))] = (
            parent.pop(key)
        )
    else:
        del parent[key]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the models and corpora, and a file that names them all."""
    folder = tmp_path_factory.mktemp("fixtures")
    for part in ("models", "corpora"):
        shutil.copytree(fixtures_folder() / part, folder / part)
    head = {"about": "It names all there is.", "source": [{"rule": "a test"}], "cases": NAMES_ALL}
    (folder / "names-all.yaml").write_text(written(head), "utf-8")
    return folder


def test_what_is_written_is_what_was_read(folder: Path) -> None:
    for name, value in CONTENTS.items():
        (folder / "changed.yaml").write_text(written(value), "utf-8")
        assert read_yaml(folder / "changed.yaml").value == value, name
    (folder / "changed.yaml").unlink()
    assert len(load_suite(folder)) == len(NAMES_ALL)


@pytest.mark.slow
@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(changed())
def test_a_changed_file_is_loaded_or_refused(folder: Path, change: tuple[Path, Any]) -> None:
    name, value = change
    is_named = name.parts[0] in ("models", "corpora")
    file = folder / name if is_named else folder / "changed.yaml"
    file.write_text(written(value), "utf-8")
    try:
        problem = refusal(folder)
    finally:
        file.unlink()
        if is_named:
            shutil.copy(fixtures_folder() / name, file)
    assert problem is None or (problem.file in (name.as_posix(), "changed.yaml", "names-all.yaml") and problem.line)


def refusal(folder: Path) -> DataError | None:
    try:
        load_suite(folder)
    except DataError as error:
        return error
    return None
