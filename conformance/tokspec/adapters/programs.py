"""Releases of libraries in other languages: an adapter of the suite, built for a release by the registry's client.

``gpt-tokenizer==2.9.0`` is the adapter of ``gpt-tokenizer`` with that release from npm. The list of adapters says how
each is named and what its library is called in its registry. The suite copies an adapter's sources into a folder of the
user's cache, and the registry's client installs the release next to them. An installation from npm runs nothing that
comes with a package; cargo builds a crate with the crate's build scripts.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tokspec.adapters.versions import environment
from tokspec.base.display import escape
from tokspec.base.errors import DataError
from tokspec.base.files import adapters_folder
from tokspec.suite.strict_yaml import read_yaml

#: How the names of source files end; files that were built or installed don't count.
_SOURCES = (".mjs", ".go", ".rs", "package.json", "go.mod", "go.sum", "Cargo.toml")

#: The folders that each adapter of a registry needs; cargo needs all programs that a manifest names.
_SHARED = {"npm": ("javascript",), "go": (".", "protocol"), "crate": (".", "kitoken", "llm-tokenizer", "tiktoken-rs")}

#: The client of each registry.
_CLIENTS = {"npm": "npm", "go": "go", "crate": "cargo"}


@dataclass(frozen=True)
class AdapterProgram:
    """An adapter that is a program: its name, the registry and name of its library, and the command that starts it.

    ``place`` is the folder of its sources, and ``module`` the folder of the adapter in it.
    """

    name: str
    registry: str
    package: str
    place: Path
    module: str
    command: tuple[str, ...]

    def build(self, spec: str, version: str) -> tuple[str, ...]:
        """Return the command that starts the adapter with a release of its library; build it if it is missing.

        Raises:
            DataError: it cannot be built: there is no such release, or no client.
        """
        sources = {file.relative_to(self.place): file.read_bytes() for file in self.sources()}

        def steps(folder: Path) -> Iterator[Sequence[str]]:
            for file, content in sources.items():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_bytes(content)
            client = client_of(self.registry, spec)
            for words in self._steps(folder, version):
                yield client, *words
            if self.registry == "crate":
                (folder / "bin").mkdir()
                (folder / "target" / "release" / self.module).rename(folder / "bin" / self.module)
                shutil.rmtree(folder / "target")

        folder = environment(spec, f"{self.name}=={version}", self.said, steps)
        return tuple(word.replace("{here}", str(folder)) for word in self.command)

    @property
    def said(self) -> str:
        """The identity of the program: the names of its source files, with a hash of each."""
        hashes = ((file, hashlib.sha256(file.read_bytes()).hexdigest()) for file in self.sources())
        return "\n".join(f"{file.relative_to(self.place)} {digest}" for file, digest in hashes)

    def sources(self) -> Iterator[Path]:
        """Return the source files of the adapter."""
        for name in dict.fromkeys((*_SHARED[self.registry], self.module)):
            yield from sorted(file for file in (self.place / name).iterdir() if file.name.endswith(_SOURCES))

    def _steps(self, folder: Path, version: str) -> Iterator[Sequence[str]]:
        if self.registry == "npm":
            quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error")
            yield "install", "--prefix", str(folder / self.module), "--save-exact", *quiet, f"{self.package}@{version}"
        elif self.registry == "go":
            yield "-C", str(folder), "get", f"{self.package}@v{version.removeprefix('v')}"
            yield "-C", str(folder), "build", "-mod=mod", "-o", "bin/", f"./{self.module}"
        else:
            manifest = ("--manifest-path", str(folder / "Cargo.toml"))
            yield "add", "--quiet", *manifest, f"{self.package}@={version}"
            target = ("--target-dir", str(folder / "target"))
            yield "build", "--quiet", "--release", "--bin", self.module, *manifest, *target


def find_program(name: str) -> AdapterProgram | None:
    """Return the adapter of a library in another language; None if no adapter has that name.

    >>> find_program("gpt-tokenizer").package
    'gpt-tokenizer'
    """
    return _programs().get(name)


def client_of(registry: str, spec: str) -> str:
    """Return the path of a registry's client.

    Raises:
        DataError: it is not installed; ``spec`` is what needs it.
    """
    client = shutil.which(_CLIENTS[registry])
    if client is None:
        raise DataError(f"needs {_CLIENTS[registry]}, the client of its registry", key=escape(spec))
    return client


def program_names() -> list[str]:
    """Return the names of all adapters that are programs; a user can name a release of each."""
    return sorted(_programs())


def sources() -> Iterator[tuple[Path, Path]]:
    """Return the source files of all programs, and the list of adapters, each with its path in the adapters' folder."""
    here = adapters_folder()
    files = {file for program in _programs().values() for file in program.sources()}
    yield from ((file, file.relative_to(here)) for file in sorted({here / "adapters.yaml", *files}))


@lru_cache(1)
def _programs() -> dict[str, AdapterProgram]:
    file = adapters_folder() / "adapters.yaml"
    rows = read_yaml(file).value["adapters"] if file.is_file() else []
    return {program.name: program for program in (_program(row) for row in rows if "release" in row)}


def _program(row: dict[str, Any]) -> AdapterProgram:
    (registry, package), (_, name) = sorted(row["release"].items(), key=lambda item: item[0] == "name")
    place = Path(row["built"]).parts[0]
    words = shlex.split(row["command"])
    if registry == "npm":
        return AdapterProgram(name, registry, package, adapters_folder(), place, tuple(words))
    module = Path(row["built"]).name
    return AdapterProgram(name, registry, package, adapters_folder() / place, module, ("{here}/bin/" + module,))
