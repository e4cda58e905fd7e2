"""The suite's own texts: short, named, written for the suite, and as varied as possible.

They are used where texts are needed rather than cases: with real vocabularies, comparisons and measurements. Each file
here is a category. Characters that a reader cannot see, or an editor might change, are written as escapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokspec.suite.strict_yaml import Document, read_yaml

__all__ = ["NamedText", "load_texts", "texts_folder"]


@dataclass(frozen=True)
class NamedText:
    """A text, the category that it belongs to, and its name there.

    >>> NamedText("white_space", "tab", "a\\tb").id
    'white_space/tab'
    """

    category: str
    name: str
    text: str

    @property
    def id(self) -> str:
        """The name of the text among all texts."""
        return f"{self.category}/{self.name}"


def texts_folder() -> Path:
    """Return the folder of the texts.

    >>> (texts_folder() / "scripts.yaml").is_file()
    True
    """
    return Path(__file__).resolve().parent


def load_texts(folder: Path | None = None) -> tuple[NamedText, ...]:
    """Read all texts of a folder (the suite's own unless given), by category and in the order of each file.

    Raises:
        DataError: a file is wrong; the error has file, line and key.

    >>> load_texts()[0]
    NamedText(category='addresses', name='plain', text='https://www.example.org/')
    """
    files = sorted((folder or texts_folder()).glob("*.yaml"))
    return tuple(text for file in files for text in _category(read_yaml(file, file.name), file.stem))


def _category(document: Document, category: str) -> list[NamedText]:
    if not isinstance(document.value, dict):
        raise document.error((), "is not an object that maps names to texts")
    return [NamedText(category, name, _text(document, name, value)) for name, value in document.value.items()]


def _text(document: Document, name: str, value: Any) -> str:
    match value:
        case str():
            return value
        case {"text": str(part), "times": int(times), **others} if not others:
            return part * times
    raise document.error((name,), "is neither a text nor {text: …, times: …}")
