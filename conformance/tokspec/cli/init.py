"""``tokspec init``: start a new adapter."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click

from tokspec.base.display import visible
from tokspec.base.errors import DataError
from tokspec.templates import TEMPLATES, Template

#: What to do in a language without a template.
_WITHOUT = (
    "In another language, write a program that answers four messages (spec/10-protocol.md); "
    "that of javascript is a short example"
)


@click.command("init", short_help="Create an adapter to start from, in one of six languages.")
@click.option(
    "--lang", required=True, metavar="LANGUAGE", help=f"Language of the adapter: {', '.join(sorted(TEMPLATES))}."
)
@click.argument("folder", default="tokspec-adapter")
def init_command(lang: str, folder: str) -> int:
    """Create an adapter in FOLDER (tokspec-adapter unless given): files that work as they are, and the next steps.

    Exit status: 0 if the files are written, 2 if they are not. An existing file is never replaced.
    """
    if lang not in TEMPLATES:
        message = f"{lang!r} has no template; there are {', '.join(sorted(TEMPLATES))}. {_WITHOUT}"
        raise DataError(message, key="--lang")
    template = TEMPLATES[lang]
    if not folder.strip():
        raise DataError("needs a name; use . for this folder", key="FOLDER")
    _write(Path(folder), template.contents())
    click.echo("\n".join(["", *_next(Path(folder), template), "", "See README.md there for the next steps."]))
    return 0


def _write(folder: Path, contents: Mapping[str, str]) -> None:
    """Write all files, or none if one of them exists already or cannot be written.

    Raises:
        DataError: a file exists or cannot be written; the error names it.
    """
    files = {folder / name: text for name, text in contents.items()}
    for path in files:
        if os.path.lexists(path):
            raise DataError("already exists, so nothing was written; name another folder", str(path))
    made: list[Path] = []
    for path, text in files.items():
        made += [above for above in reversed(path.parents) if not os.path.lexists(above)]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
        except OSError as error:
            _remove(made)
            raise DataError(
                f"cannot be written: {error.strerror}; no files were left behind", error.filename or str(path)
            ) from None
    for path in files:
        click.echo(f"wrote {visible(str(path))}")


def _remove(made: Sequence[Path]) -> None:
    """Remove files and folders, last first."""
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()


def _next(folder: Path, template: Template) -> list[str]:
    """Return the commands to run next, each with a comment that says what it does, as lines to paste into a shell."""
    end_of_options = "-- " if str(folder).startswith("-") else ""
    entered = [] if folder.resolve() == Path.cwd() else [(f"cd {end_of_options}{_quote(str(folder))}", "")]
    commands = [*entered, *template.commands()]
    width = max(len(command) for command, purpose in commands if purpose)
    return [f"{command:{width}}  # {purpose}" if purpose else command for command, purpose in commands]


def _quote(path: str) -> str:
    """Quote a path for a shell; invisible characters are escaped in a form that bash and zsh read.

    >>> _quote("my adapter"), _quote("it's\\x1b")
    ("'my adapter'", "$'it\\\\'s\\\\u001b'")
    """
    if visible(path) == path:
        return shlex.quote(path)
    escaped = visible(path.replace("\\", "\\\\").replace("'", "\\'"))
    return f"$'{escaped}'"
