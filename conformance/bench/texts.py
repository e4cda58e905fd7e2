"""Texts of any size to measure on, always the same on the same machine.

English is the help on the language and the docstrings of Python's standard library, then the English messages of the
system's message catalogues, then the lines of its manual and of its documentation, and where all that is not enough the
standard library's sources; nothing is taken twice. Mixed is the translations in those catalogues into languages of many
scripts, a message of each in turn; where a system has none, or too few, words are invented in many scripts, the short
ones most frequent.
"""

from __future__ import annotations

import ast
import gettext
import gzip
import random
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from pydoc_data.topics import topics

__all__ = ["KINDS", "english", "mixed", "text_of"]

LIBRARY = Path(sysconfig.get_path("stdlib"))
CATALOGUES = Path("/usr/share/locale")
DOCUMENTATION = Path("/usr/share/doc")
MANUAL = Path("/usr/share/man")

#: Names of files with prose, packed or not; the manual's first section is often by far the largest, and much alike.
PROSE = ("*/**/README*", "*/**/NEWS*", "*/**/*.txt", "*/**/*.txt.gz", "*/**/*.rst", "*/**/*.rst.gz")
SECTIONS = ("man[2-8]/*", "man1/*")

#: What sets the type of a line of the manual, and what stands for a character.
_TYPE = re.compile(r"\\(?:f(?:\[\w*\]|\(..|.)|\*?(?:\(..|\[[^]]*\])|s[+-]?\d|[&|^%/,:c])")
_CHARACTER = re.compile(r"\\(.)")
LEFT_OUT = {"site-packages", "test", "tests", "lib2to3", "pydoc_data"}

#: Languages of the mixed text.
LANGUAGES = (
    "ru",
    "ja",
    "fr",
    "el",
    "ko",
    "ar",
    "zh_CN",
    "uk",
    "th",
    "de",
    "he",
    "vi",
    "ka",
    "hi",
    "es",
    "zh_TW",
    "bn",
    "tr",
    "ta",
    "hy",
)

#: First and last letters of scripts, from which words are invented.
SCRIPTS = (
    (0x61, 0x7A),
    (0x3B1, 0x3C9),
    (0x430, 0x44F),
    (0x561, 0x586),
    (0x5D0, 0x5EA),
    (0x627, 0x64A),
    (0x905, 0x939),
    (0xE01, 0xE2E),
    (0x10D0, 0x10F0),
    (0x3041, 0x3093),
    (0x4E00, 0x57FF),
    (0xAC00, 0xB2FF),
)
INVENTED_WORDS = 20_000


def english() -> Iterator[str]:
    """Return English texts, prose first and sources last."""
    files = [file for file in sorted(LIBRARY.rglob("*.py")) if "site-packages" not in file.parts]
    documented = (file for file in files if not LEFT_OUT & {*file.relative_to(LIBRARY).parts})
    yield from once(
        (topics[name] for name in sorted(topics)),
        chain.from_iterable(map(docstrings, documented)),
        chain.from_iterable(map(catalogue, LANGUAGES)),
        map(plain, chain.from_iterable(map(lines, files_in(MANUAL, SECTIONS)))),
        chain.from_iterable(map(lines, files_in(DOCUMENTATION, PROSE))),
        (file.read_text("utf-8", "replace") for file in files),
    )


def mixed() -> Iterator[str]:
    """Return texts in many languages and scripts in turn."""
    yield from in_turn(dict.fromkeys(messages.values()) for messages in map(catalogue, LANGUAGES))
    yield from invented()


KINDS: Mapping[str, Callable[[], Iterator[str]]] = {"English": english, "mixed": mixed}


def text_of(kind: str, size: int) -> str:
    """Return the first of a text, so many bytes of UTF-8 and no lone surrogate."""
    parts: list[bytes] = []
    length = 0
    for part in KINDS[kind]():
        parts.append(part.encode("utf-8", "ignore") + b"\n")
        length += len(parts[-1])
        if length >= size:
            break
    return b"".join(parts)[:size].decode("utf-8", "ignore")


def once(*texts: Iterable[str]) -> Iterator[str]:
    """Return one text after the other, and none twice.

    >>> list(once(["a", "b"], ["b", "c", "c"]))
    ['a', 'b', 'c']
    """
    seen: set[str] = set()
    for text in chain.from_iterable(texts):
        if text not in seen:
            seen.add(text)
            yield text


def files_in(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Return the files of each pattern by their names."""
    for pattern in patterns:
        yield from (file for file in sorted(folder.glob(pattern)) if file.is_file())


def lines(file: Path) -> Iterator[str]:
    """Return the lines of a file, packed or not, that are of ASCII, as English is."""
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
            yield from (line.decode().rstrip() for line in opened if line.isascii())
    except (OSError, EOFError, ValueError):  # it may not be what its name says
        return


def plain(line: str) -> str:
    r"""Return what a line of the manual shows; requests to the typesetter show nothing.

    >>> plain(r"use \fB\-\-abort\fR instead\&."), plain(".SH NAME")
    ('use --abort instead.', '')
    """
    return "" if line.startswith((".", "'")) else _CHARACTER.sub(r"\1", _TYPE.sub("", line))


def docstrings(file: Path) -> Iterator[str]:
    """Return the docstrings of a source file; one that is not Python of this version gives none."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
        return
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    yield from (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented))


def catalogue(language: str) -> dict[str, str]:
    """Return the messages of all programs in a language by their English."""
    found: dict[str, str] = {}
    for file in sorted((CATALOGUES / language / "LC_MESSAGES").glob("*.mo")):
        try:
            with file.open("rb") as opened:
                messages = gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]
        except (OSError, ValueError, LookupError):  # some are not as the module expects
            continue
        found |= {
            key: value for key, value in messages.items() if isinstance(key, str) and isinstance(value, str) and key
        }
    return found


def in_turn(lists: Iterable[Iterable[str]]) -> Iterator[str]:
    """Return the first of each list, then the second of each that has one, and so on."""
    waiting = [iter(one) for one in lists]
    while waiting:
        left = []
        for one in waiting:
            if (found := next(one, None)) is not None:
                yield found
                left.append(one)
        waiting = left


def invented() -> Iterator[str]:
    """Invent lines without end, each in one script; a word is the rarer the later it was made."""
    chance = random.Random(1)
    made = [words_of(chance, *letters) for letters in SCRIPTS]
    while True:
        for words in made:
            yield (
                " ".join(words[int(INVENTED_WORDS ** chance.random()) - 1] for _ in range(chance.randint(4, 16))) + "."
            )


def words_of(chance: random.Random, first: int, last: int) -> list[str]:
    """Make the words of a script."""
    return [
        "".join(chr(int(chance.triangular(first, last + 0.99, first))) for _ in range(chance.randint(1, 2 + place % 9)))
        for place in range(INVENTED_WORDS)
    ]
