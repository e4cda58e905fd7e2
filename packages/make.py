"""Make the packages of other languages: put the packs into each, and the bundle with all models in the formats below.

    python packages/make.py

The runners beside them are written by hand. A package has the version of the suite.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from tokspec import __version__
from tokspec.cli.cases import find_limits, write_models
from tokspec.suite.cases import write_bundle
from tokspec.suite.fixtures import load_suite
from tokspec.suite.origins import bundle_origins
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
    "go/tokspec.go": r'^const Version = "(.+)"$',
    "jvm/pom.xml": r"^  <version>(.+)</version>$",
}


def main() -> int:
    """Write the bundle and the packs into every package; status 1 if one has another version than the suite."""
    status = 0
    for name, pattern in VERSIONS.items():
        found = re.search(pattern, (FOLDER / name).read_text("utf-8"), re.MULTILINE)
        if found is None or found[1] != __version__:
            print(f"packages/{name}: its version is not {__version__}, that of the suite", file=sys.stderr)
            status = 1
    suite = load_suite()
    models = {format: write_models(suite, format) for format in FORMATS}
    limits = find_limits(suite, models)
    for name in VERSIONS:
        file = (FOLDER / name).with_name("cases.json")
        write_bundle(file, suite, load_specification(), models, limits, bundle_origins())
        packs = copy_packs(file.with_name("packs"))
        print(f"wrote {len(suite)} cases and {packs} packs to packages/{file.parent.relative_to(FOLDER)}")
    return status


def copy_packs(folder: Path) -> int:
    """Put the packs of the suite, and no others, into a folder, and return how many there are."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    files = sorted(packs_folder().glob(f"*{ENDING}"))
    for file in files:
        shutil.copyfile(file, folder / file.name)
    return len(files)


if __name__ == "__main__":
    sys.exit(main())
