"""The strict reading of YAML: every refusal names file, line and key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tokspec.base.errors import DataError
from tokspec.suite.strict_yaml import read_yaml


def read(folder: Path, text: str) -> object:
    file = folder / "x.yaml"
    file.write_bytes(text.encode("utf-8"))
    return read_yaml(file, "x.yaml").value


def test_plain_values_are_what_they_look_like(tmp_path: Path) -> None:
    text = 'a: [1, -2, 2.5, 1.5e-3, true, null, word, two words]\n"no": "\\u200D"\n'
    assert read(tmp_path, text) == {
        "a": [1, -2, 2.5, 0.0015, True, None, "word", "two words"],
        "no": "\u200d",
    }


def test_lines_of_every_path_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("a: 1\nb:\n  - c\n  - d: 2\n")
    assert read_yaml(file).lines == {(): 1, ("a",): 1, ("b",): 3, ("b", 0): 3, ("b", 1): 4, ("b", 1, "d"): 4}


RETYPED = ["no", "Yes", "on", "y", "~", "12:30", "1_000", "0x1f", "0o17", "007", ".5", "5.", "1e3", "+1", ".inf",
           "-.INF", ".nan", "2020-01-01", "2020-01-01 10:00:00", "=", "True", "NULL"]  # fmt: skip


@pytest.mark.parametrize("scalar", RETYPED)
def test_scalars_that_yaml_retypes_are_refused(tmp_path: Path, scalar: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, f"x: 1\na: {scalar}\n")
    assert str(caught.value) == f"x.yaml:2: a: {scalar} means different things in YAML; put it in quotes"


@pytest.mark.parametrize("scalar", RETYPED)
def test_the_same_scalars_in_quotes_are_strings(tmp_path: Path, scalar: str) -> None:
    assert read(tmp_path, f"a: \"{scalar}\"\nb: '{scalar}'\n") == {"a": scalar, "b": scalar}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3: a: appears twice; keep one"),
        ("a: &x [1]\nb: 2\n", "x.yaml:1: a: has an anchor; leave it out, because nothing may refer to it"),
        ("a: *x\n", "x.yaml:1: a: is an alias; write the value out"),
        ("a: !!str 1\n", "x.yaml:1: a: has the tag tag:yaml.org,2002:str; write plain values"),
        (
            "a: !!python/name:os.system ''\n",
            "x.yaml:1: a: has the tag tag:yaml.org,2002:python/name:os.system; write plain values",
        ),
        ("a: !!set {}\n", "x.yaml:1: a: has the tag tag:yaml.org,2002:set; write plain values"),
        ("", "x.yaml: is empty"),
        ("# nothing\n", "x.yaml: is empty"),
        ("a:\n", "x.yaml:1: a: an empty value means different things in YAML; put it in quotes"),
        ("b: 1\nno: 3\n", "x.yaml:2: no means different things in YAML; put it in quotes"),
        ("1: 3\n", "x.yaml:1: has a key that is not a string; put it in quotes"),
        ("[1]: 2\n", "x.yaml:1: has a key that is not a string; put it in quotes"),
        ("a: [1\n", "x.yaml:2: is not YAML: did not find expected ',' or ']'"),
        ("--- 1\n--- 2\n", "x.yaml:2: begins a second document; keep one in a file"),
        ("a: 1\nb: \u200d\n", "x.yaml:2: contains an invisible character; write it as \\u200D in double quotes"),
        ("a: '\u00a0'\n", "x.yaml:1: contains an invisible character; write it as \\u00A0 in double quotes"),
        ("a: '\u202e'\n", "x.yaml:1: contains an invisible character; write it as \\u202E in double quotes"),
        ("a:\t1\n", "x.yaml:1: contains an invisible character; write it as \\u0009 in double quotes"),
        (
            "a: '\U000e0041'\n",
            "x.yaml:1: contains an invisible character; write it as \\U000E0041 in double quotes",
        ),
        ("a: 1.0e+999\n", "x.yaml:1: a: 1.0e+999 is beyond the range of a double"),
        (f"a: {'9' * 301}\n", "x.yaml:1: a: is a number of more than 300 digits"),
        ("\ufeffa: 1\n", "x.yaml:1: begins with a byte-order mark; save it as UTF-8 without one"),
        ("x" * (4 * 1024**2 + 1), "x.yaml: is larger than 4 MB; make several files of it"),
        ("- " * 200, "x.yaml:1: [0][0][0]: is nested more than 50 levels deep"),
        ("[" * 200, "x.yaml:1: [0][0][0]: is nested more than 50 levels deep"),
    ],
    ids=lambda value: value[:40] if "x.yaml" in value else "",
)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["- " * 100_000, "[" * 100_000])
def test_what_libyaml_finds_too_deep_is_refused_as_what_is_found_here(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    # libyaml refuses it itself from 0.2.6 on, before it has told of any key
    assert str(caught.value).replace("[0][0][0]: ", "") == "x.yaml:1: is nested more than 50 levels deep"


def test_a_lone_surrogate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^x\.yaml:1: is not YAML: "):
        read(tmp_path, 'a: "\\ud800"\n')


def test_an_alias_bomb_is_refused_at_its_first_anchor(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    with pytest.raises(DataError) as caught:
        read(tmp_path, "\n".join(lines))
    assert str(caught.value) == "x.yaml:1: a0: has an anchor; leave it out, because nothing may refer to it"


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"a:\n b: \xff")
    with pytest.raises(DataError) as caught:
        read_yaml(tmp_path / "x.yaml", "x.yaml")
    assert str(caught.value) == "x.yaml:2: is not UTF-8 at byte 7; save it as UTF-8"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_yaml(tmp_path / "x.yaml", "x.yaml")
    assert str(caught.value) == "x.yaml: cannot be read: No such file or directory"


def test_a_file_that_never_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.yaml")
    with pytest.raises(DataError) as caught:
        read_yaml(tmp_path / "x.yaml", "x.yaml")
    assert str(caught.value) == "x.yaml: is not a regular file"
