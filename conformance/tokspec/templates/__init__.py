"""Templates of adapters, one for each language: files to copy, and how they are built and run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["TEMPLATES", "Template"]

_FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Template:
    """An adapter that works unchanged, and offers no operation.

    ``files`` are paths within ``folder``, starting with the one that the author edits; ``marker`` precedes the
    operation that is shown but not offered; ``build`` is empty if nothing is built; ``target`` names the adapter.
    """

    language: str
    folder: str
    needs: str
    files: tuple[str, ...]
    marker: str
    build: str
    target: str
    library: str

    def commands(self) -> list[tuple[str, str]]:
        """Return the commands to run in the adapter's folder, in order, each with its purpose.

        >>> TEMPLATES["c"].commands()[0]
        ('cc -std=c99 -O2 -o adapter *.c', 'build the adapter')
        """
        building = [(self.build, "build the adapter")] if self.build else []
        return [
            *building,
            (f"tokspec smoke {self._target()}", "does the adapter work?"),
            (f"tokspec run {self._target()}", "judge the tokenizer behind it"),
        ]

    def contents(self) -> dict[str, str]:
        """Return the text of every file of the adapter by its path, the README last.

        >>> list(TEMPLATES["go"].contents())
        ['adapter.go', 'protocol.go', 'go.mod', 'README.md']
        """
        texts = {name: (_FOLDER / self.folder / name).read_text("utf-8") for name in self.files}
        return {**texts, "README.md": self._readme()}

    def _readme(self) -> str:
        return (
            (_FOLDER / "README.md")
            .read_text("utf-8")
            .format(
                language=self.language,
                needs=self.needs,
                commands="\n".join(f"    {command}" for command, _ in self.commands()),
                edit=self.files[0],
                marker=self.marker,
                target=self._target(),
                library=self.library,
            )
        )

    def _target(self) -> str:
        return f"--impl {_quoted(self.target)}"


def _quoted(value: str) -> str:
    """Quote a value as people do; no target contains a quotation mark.

    >>> _quoted("node adapter.mjs")
    '"node adapter.mjs"'
    """
    return value if shlex.quote(value) == value else f'"{value}"'


TEMPLATES: Mapping[str, Template] = {
    "python": Template(
        language="Python",
        folder="python",
        needs="the environment in which tokspec is installed",
        files=("adapter.py",),
        marker="#",
        build="",
        target="adapter:Adapter",
        library="install it in the same environment and import it.",
    ),
    "javascript": Template(
        language="JavaScript",
        folder="javascript",
        needs="Node.js 18 or later, and no package",
        files=("adapter.mjs",),
        marker="//",
        build="",
        target="node adapter.mjs",
        library="`npm install` it in this folder and import it.",
    ),
    "go": Template(
        language="Go",
        folder="go",
        needs="Go 1.21 or later, and no module",
        files=("adapter.go", "protocol.go", "go.mod"),
        marker="//",
        build="go build -o adapter .",
        target="./adapter",
        library="`go get` it and import it.",
    ),
    "rust": Template(
        language="Rust",
        folder="rust",
        needs="Rust 1.61 or later with cargo, which fetches serde_json",
        files=("src/main.rs", "src/protocol.rs", "Cargo.toml"),
        marker="//",
        build="cargo build --release",
        target="target/release/adapter",
        library="name it under `[dependencies]` in `Cargo.toml`.",
    ),
    "java": Template(
        language="Java",
        folder="java",
        needs="Java 17 or later and Maven, which fetches Gson",
        files=("src/main/java/Adapter.java", "src/main/java/Protocol.java", "pom.xml"),
        marker="//",
        build="mvn -q package",
        target="java -jar target/adapter.jar",
        library="name it under `<dependencies>` in `pom.xml`.",
    ),
    "c": Template(
        language="C",
        folder="c",
        needs="a compiler of C99, and no library",
        files=("adapter.c", "protocol.h", "protocol.c", "json.c"),
        marker="//",
        build="cc -std=c99 -O2 -o adapter *.c",
        target="./adapter",
        library="include its header, and add it to the first command.",
    ),
}
