"""Make the packages of other languages: put the bundle into each, with all models in the formats that are listed here.

Packages that judge by packs get those of the fixtures, too.

    python packages/make.py

The runners beside the bundle are written by hand. A package has the version of the suite.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from tokspec import __version__
from tokspec.cli.cases import write_models
from tokspec.suite.cases import write_bundle
from tokspec.suite.fixtures import load_suite
from tokspec.suite.packs import ENDING, packs_folder
from tokspec.suite.specification import load_specification

FOLDER = Path(__file__).parent

#: The formats that need no runner that writes files. That of SentencePiece needs the packages of the extra ``formats``.
FORMATS = (
    *("tokspec", "tokenizer.json", "tokenizer.json-legacy", "vocab.json+merges.txt", "vocab.txt", "vocab.tiktoken"),
    "sentencepiece.model",
)

#: Where each package says its version.
VERSIONS = {
    "npm/package.json": r'^  "version": "(.+)",$',
    "crate/Cargo.toml": r'^version = "(.+)"$',
    "jvm/pom.xml": r"^  <version>(.+)</version>$",
}

#: The packages that judge by packs.
WITH_PACKS = ("jvm",)


def main() -> int:
    """Write the bundle into every package; status 1 if one has another version than the suite."""
    status = 0
    for name, pattern in VERSIONS.items():
        found = re.search(pattern, (FOLDER / name).read_text("utf-8"), re.MULTILINE)
        if found is None or found[1] != __version__:
            print(f"packages/{name}: its version is not {__version__}, that of the suite", file=sys.stderr)
            status = 1
    suite = load_suite()
    models = {format: write_models(suite, format) for format in FORMATS}
    for name in VERSIONS:
        file = (FOLDER / name).with_name("cases.json")
        write_bundle(file, suite, load_specification(), models)
        print(f"wrote {len(suite)} cases to packages/{file.relative_to(FOLDER)}")
    for name in WITH_PACKS:
        packs = FOLDER / name / "packs"
        shutil.rmtree(packs, ignore_errors=True)
        packs.mkdir()
        for pack in packs_folder().glob(f"*{ENDING}"):
            shutil.copy(pack, packs)
    return status


if __name__ == "__main__":
    sys.exit(main())
