"""Prose, docstrings, help and messages do without the words of wording.yaml. The specification's clauses are not read."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tokspec.suite.strict_yaml import read_yaml

ROOT = Path(__file__).parents[2]

TABLE = read_yaml(Path(__file__).with_name("wording.yaml")).value

#: Pages, and the code whose docstrings, comments and texts are read.
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "fixtures/README.md",
    "packages/*/README.md",
    "conformance/*/README.md",
)
CODE = ("reference/tokref", "reference/tokfast", "conformance/tokspec", "conformance/bench", "conformance/packs")


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Return the lines of a page, or of code its comments and texts, each with its number."""
    if file.suffix == ".md":
        yield from enumerate(file.read_text("utf-8").splitlines(), 1)
        return
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    with file.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def test_plain_words_are_used() -> None:
    words = re.compile(rf"\b({'|'.join(map(re.escape, TABLE['words']))})\b", re.IGNORECASE)
    exceptions, used, found = {(each["file"], each["text"]) for each in TABLE["exceptions"]}, set(), []
    files = [file for pattern in PAGES for file in ROOT.glob(pattern)]
    files += [file for folder in CODE for file in (ROOT / folder).rglob("*.py")]
    for file in sorted(files):
        name = str(file.relative_to(ROOT))
        for line, text in texts(file):
            kept = {(at, part) for at, part in exceptions if at == name and part in text}
            used |= kept
            found += [
                f"{name}:{line}: {match[0]}: write {TABLE['words'][match[0].lower()]}"
                for match in words.finditer(text)
                if not kept
            ]
    assert (found, exceptions - used) == ([], set())
