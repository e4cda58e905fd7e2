"""The bundle: all of the suite as one JSON file, which reads back as what it was written from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tokspec.base.errors import DataError
from tokspec.suite import fixtures
from tokspec.suite.cases import Model, Suite, compile_bundle, read_bundle, write_bundle
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bundle") / "cases.json"
    write_bundle(file, load_suite(), load_specification())
    return file


def test_what_is_read_is_what_was_written(bundle: Path) -> None:
    assert read_bundle(bundle) == load_suite()


def test_the_same_suite_gives_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "again.json", read_bundle(bundle), load_specification())
    assert (tmp_path / "again.json").read_bytes() == bundle.read_bytes()


def test_the_hash_is_that_of_what_stands_below_it(bundle: Path) -> None:
    content = json.loads(bundle.read_text("utf-8"))
    claimed = [content.pop(key) for key in ("tokspec_bundle", "version", "hash")][-1]
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode()).hexdigest() == claimed


@pytest.mark.slow
def test_strings_that_json_cannot_carry_are_written_in_hexadecimal(bundle: Path) -> None:
    cases = {case["id"]: case for case in json.loads(bundle.read_text("utf-8"))["cases"]}
    assert cases["lowercase-beside-a-lone-surrogate"]["input"] == {"text": {"hex": "41eda080"}}


def test_a_case_is_complete(bundle: Path) -> None:
    case = next(case for case in json.loads(bundle.read_text("utf-8"))["cases"] if case["id"] == "bpe-toy-encode-bug")
    assert {key: case[key] for key in ("model_name", "operation", "input", "outcome", "since", "file")} == {
        "model_name": "toy-bpe",
        "operation": "encode",
        "input": {"text": "bug"},
        "outcome": {"expect": {"tokens": ["b", "ug"], "ids": [1, 8], "spans": [[0, 1], [1, 3]]}},
        "since": "0.1.0",
        "file": "bpe/toy-encoding.yaml",
    }
    assert case["model"]["merges"] == [["u", "g"], ["u", "n"], ["h", "ug"]]


def test_the_page_describes_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cases.md").read_text("utf-8")
    bundle = compile_bundle(load_suite(), load_specification(), {"tokspec": {}})
    keys = dict.fromkeys([*bundle, *(key for case in bundle["cases"] for key in case)])
    for part in ("clauses", "choices", "errata"):
        assert f"`{{{', '.join(bundle[part][0])}}}`" in page
    together = ("stated", "worked", "line")  # described in the row of another key
    assert [key for key in keys if f"| `{key}`" not in page and key not in together] == []
    assert [key for key in together if f"`{key}`" not in page] == []


@pytest.mark.slow
def test_models_stand_in_it_in_the_formats_that_are_wanted(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    assert run("cases", "--bundle", file, "--format", "tokspec", "--format", "vocab.txt")[0] == 0
    bundle = json.loads(file.read_text("utf-8"))
    cases = {case["id"]: case for case in bundle["cases"]}
    assert list(bundle["models"]) == ["tokspec", "vocab.txt"]
    assert bundle["models"]["vocab.txt"][cases["bpe-toy-encode-bug"]["model_name"]] == {
        "unsupported": "vocab.txt holds wordpiece models, and this one is of type bpe"
    }
    assert bundle["models"]["tokspec"]["toy-bpe"]["content"]["merges"] == [["u", "g"], ["u", "n"], ["h", "ug"]]
    names = {case["model_name"] for case in bundle["cases"]}
    assert [set(models) for models in bundle["models"].values()] == [names, names]
    assert read_bundle(file) == load_suite()


def test_a_case_names_what_an_implementation_may_not_know(tmp_path: Path) -> None:
    model = Model("m", {"type": "bpe", "vocabulary": ["b"], "ignore_merges": True})
    case = replace(load_suite().cases["bpe-toy-encode-bug"], model=model, input={"text": "b", "pair": "b"})
    table = case.with_rows([({"text": "b"}, case.outcome, 1), ({"text": "b", "pair": "b"}, case.outcome, 2)])
    for each in (case, table):
        write_bundle(tmp_path / "cases.json", Suite({each.id: each}), load_specification())
        (raw,) = json.loads((tmp_path / "cases.json").read_text("utf-8"))["cases"]
        assert raw["components"] == ["model/bpe/ignore_merges"]
        asked = raw.get("inputs", [raw])
        assert [row.get("options") for row in asked] == ([None, ["pair"]] if each is table else [["pair"]])
        assert read_bundle(tmp_path / "cases.json").cases[each.id].rows == each.rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cases.json: is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "cases.json: is not a bundle of format 2; install the suite again"),
        ('{"tokspec_bundle": 3}', "cases.json: is not a bundle of format 2; install the suite again"),
    ],
)
def test_another_file_is_refused(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text(content)
    with pytest.raises(DataError) as raised:
        read_bundle(tmp_path / "cases.json")
    assert str(raised.value).removeprefix(f"{tmp_path}/") == message


def test_a_checkout_reads_again_what_changed(tmp_path: Path) -> None:
    root = tmp_path / "fixtures"
    (root / "bpe").mkdir(parents=True)
    text = (
        'about: "One case of a fixture."\nsource: [{rule: "a rule"}]\ncases:\n  - id: one\n    clauses: [BPE-ENC-1]\n    why: "It is a case of one file."\n'
        '    model: {type: "bpe", vocabulary: ["a"], merges: []}\n    operation: encode\n    input: {text: "a"}\n'
        '    expect: {tokens: ["a"]}\n    verified_by: ["hand: a"]\n'
    )
    (root / "bpe" / "one.yaml").write_text(text, "utf-8")
    first, again = fixtures._read_compiled(root), fixtures._read_compiled(root)
    assert (first, first.cases["one"].file) == (again, "bpe/one.yaml")
    (compiled,) = (tmp_path / ".cache" / "fixtures").iterdir()
    (root / "bpe").rename(root / "other")
    assert fixtures._read_compiled(root).cases["one"].file == "other/one.yaml"
    (root / "other" / "one.yaml").write_text(text.replace('["a"]}', '["b"]}'), "utf-8")
    assert fixtures._read_compiled(root).cases["one"].outcome == {"expect": {"tokens": ["b"]}}
    assert not compiled.exists()
    (root / "other" / "two.yml").write_text(text, "utf-8")
    with pytest.raises(DataError, match="names of fixture files end in"):
        fixtures._read_compiled(root)
