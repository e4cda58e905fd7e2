"""The page about patterns in other engines: that it is as its script makes it, and what the script writes for an engine."""

from __future__ import annotations

import doctest
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "engines"

spec = spec_from_file_location("engines_patterns", FOLDER / "patterns.py")
assert spec
assert spec.loader
patterns = sys.modules[spec.name] = module_from_spec(spec)
spec.loader.exec_module(patterns)

PAGE = patterns.FILE.read_text("utf-8")


@pytest.fixture(scope="module")
def programs() -> None:
    """Skip the test where a program is missing."""
    missing = [name for name in ("node", "java", "go") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {missing[0]}")
    if not (FOLDER / patterns.RUST).exists():
        pytest.skip(f"{patterns.RUST} is not built; see patterns.py")
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(node.removeprefix("v").split(".")[0]) >= 23:
        pytest.skip("the page is that of Node 20 and 22; 23 reads (?i:…)")


@pytest.mark.interop
@pytest.mark.slow
@pytest.mark.usefixtures("programs")
def test_the_page_is_up_to_date() -> None:
    assert patterns.page() == PAGE, "run python conformance/engines/patterns.py"


def test_its_examples() -> None:
    assert doctest.testmod(patterns).failed == 0


@pytest.mark.parametrize(
    ("engine", "pattern", "written"),
    [
        ("Go `regexp`", r"\s+(?!\S)|[^\s.]++", r"(?P<ahead>[\t-\r\x{20}\x{85}\p{Z}]+)|[^\t-\r\x{20}\x{85}\p{Z}.]+"),
        ("Go `regexp`", r"[\p{Nd}&&[^\x20-\x38]&&[^\u0100-\x{10ffff}]]", r"[\x{39}-\x{39}]"),
        ("JavaScript, `v`", r"[\p{Lo}&&[^\p{Han}]]*", r"[[\p{Lo}]&&[^\p{Script=Han}]]*"),
        ("JavaScript, `v`", r"[()a-c*+-]$", r"[\(\)a-c*+\-]$"),
        ("JavaScript, `u`", r"'(?i:[sd]|ll).", "'(?:[sSſdD]|[lL][lL])[^\\n]"),
        ("JavaScript, `u`", r"[\p{Lo}&&[^\p{Han}]]", r"(?:(?=[^\p{Script=Han}])[\p{Lo}])"),
        ("Java, `(?U)`", r"\p{Han}.[.$]\s$", r"\p{IsHan}[^\n][.$]\s\z"),
        ("Rust `regex`", r"\p{N}{1,3}+|a*+|\++", r"\p{N}{1,3}|a*|\++"),
    ],
)
def test_what_is_written_for_an_engine(engine: str, pattern: str, written: str) -> None:
    (rules,) = (each.rules for each in patterns.ENGINES if each.name == engine)
    assert patterns.rewrite(pattern, rules)[0] == written
