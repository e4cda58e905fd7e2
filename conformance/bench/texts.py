"""Texts of any size to measure on, always the same on the same machine.

English is the help on the language and the docstrings of Python's standard library, then the English messages of the
programs that are installed, then the standard library's sources. Mixed is the translations of those messages into
languages of many scripts, a message of each in turn; where a system has none, or too few, words are invented in many
scripts, the short ones most frequent. Nothing is taken twice.
"""

from __future__ import annotations

import ast
import gettext
import random
import sysconfig
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice, zip_longest
from pathlib import Path
from pydoc_data.topics import topics

__all__ = ["text_of"]

LIBRARY = Path(sysconfig.get_path("stdlib"))
CATALOGUES = Path("/usr/share/locale")

#: Folders of the library that are left out: their docstrings are not prose, or belong to other projects.
LEFT_OUT = {"site-packages", "test", "tests", "lib2to3", "pydoc_data"}

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
    "bn",
    "tr",
    "ta",
)

#: First and last letters of the scripts in which words are invented.
SCRIPTS = ("az", "αω", "ая", "աֆ", "את", "اي", "अह", "กฮ", "აჰ", "ぁん", "一忿", "가닿")
INVENTED_WORDS = 20_000


@cache
def text_of(kind: str, size: int) -> str:
    """Return the first bytes of ``English`` or ``mixed`` text, that many in UTF-8."""
    parts: dict[bytes, None] = {}
    length = 0
    for part in {"English": english, "mixed": mixed}[kind]():
        line = part.encode("utf-8", "ignore") + b"\n"  # a lone surrogate is left out
        if line not in parts:
            parts[line] = None
            length += len(line)
        if length >= size:
            break
    return b"".join(parts)[:size].decode("utf-8", "ignore")


def english() -> Iterator[str]:
    """Return English texts, prose first and sources last."""
    files = [file for file in sorted(LIBRARY.rglob("*.py")) if "site-packages" not in file.parts]
    documented = [file for file in files if not LEFT_OUT & {*file.relative_to(LIBRARY).parts}]
    yield from (topics[name] for name in sorted(topics))
    yield from chain.from_iterable(map(docstrings, documented))
    yield from chain.from_iterable(map(messages, LANGUAGES))
    yield from (file.read_text("utf-8", "replace") for file in files)


def docstrings(file: Path) -> Iterator[str]:
    """Return the docstrings of a source file."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(file.read_bytes())
    yield from (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented))


@cache
def messages(language: str) -> dict[str, str]:
    """Return the messages of all programs in a language by their English."""
    found: dict[str, str] = {}
    for file in sorted((CATALOGUES / language / "LC_MESSAGES").glob("*.mo")):
        try:
            with file.open("rb") as opened:
                catalogue = gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]
        except (OSError, ValueError, LookupError):  # some are not as the module expects
            continue
        found |= {
            key: text for key, text in catalogue.items() if key and isinstance(key, str) and isinstance(text, str)
        }
    return found


def mixed() -> Iterator[str]:
    """Return texts in many languages and scripts in turn."""
    translations = (messages(language).values() for language in LANGUAGES)
    yield from filter(None, chain.from_iterable(zip_longest(*translations)))
    yield from invented()


def invented() -> Iterator[str]:
    """Invent lines without end, each in one script; a word is the rarer the later it was made."""
    chance = random.Random(1)
    vocabularies = [list(islice(words(chance, *map(ord, letters)), INVENTED_WORDS)) for letters in SCRIPTS]
    while True:
        for vocabulary in vocabularies:
            places = (int(INVENTED_WORDS ** chance.random()) - 1 for _ in range(chance.randint(4, 16)))
            yield " ".join(vocabulary[place] for place in places) + "."


def words(chance: random.Random, first: int, last: int) -> Iterator[str]:
    """Invent words of a script, lengths from one to ten; its first letters are the most frequent."""
    for longest in chain.from_iterable(range(2, 11) for _ in range(INVENTED_WORDS)):
        letters = (chance.triangular(first, last + 0.99, first) for _ in range(chance.randint(1, longest)))
        yield "".join(chr(int(letter)) for letter in letters)
