"""Models as files on a disk: written whole or not at all, and recognized by their names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from tokspec.base.errors import DataError
from tokspec.base.files import open_whole, read_at_most
from tokspec.formats.files import dump_json, load_json, pack, unpack
from tokspec.formats.neutral import ids_of
from tokspec.formats.tiktoken_ranks import BESIDE, from_bytes
from tokspec.formats.tiktoken_ranks import FORMAT as RANKS
from tokspec.formats.vocab_files import BPE_FORMAT, read_bpe

#: The formats whose content is the object in their one file.
_OBJECTS = ("tokspec", "tokenizer.json", "tokenizer.json-legacy", "tekken.json")

#: The format of a file by the ending of its name, for the formats that are read.
_ENDINGS: Mapping[str, str] = {
    "vocab.json": "vocab.json+merges.txt",
    "encoder.json": "vocab.json+merges.txt",
    "vocab.bpe": "vocab.json+merges.txt",
    ".json": "tokenizer.json",
    ".txt": "vocab.txt",
    ".model": "sentencepiece.model",
    ".tiktoken": "vocab.tiktoken",
}

#: The names of these files in the original release of GPT-2.
_FIRST_NAMES: Mapping[str, str] = {"vocab.json": "encoder.json", "merges.txt": "vocab.bpe"}

#: How many tokens that no merge makes, which are special, a message names.
_SPECIAL = 4

#: The version that some append to a name: tokenizer.model.v3.
_VERSION = re.compile(r"\.v[0-9]\w*$")

#: No fixture could hold a larger file, and reading one would use up the machine's memory.
LARGEST = 256 * 1024**2


def format_of(path: Path) -> str:
    """Return the format of a file, or of a folder of files, by its name.

    Raises:
        DataError: the name says nothing.

    >>> format_of(Path("gpt2/vocab.json"))
    'vocab.json+merges.txt'
    >>> format_of(Path("tokenizer.model.v3"))
    'sentencepiece.model'
    """
    if path.is_dir():  # a published model often has its older files next to the tokenizer.json
        return "tokenizer.json" if (path / "tokenizer.json").is_file() else BPE_FORMAT
    name = _VERSION.sub("", path.name)
    if "tekken" in name and name.endswith(".json"):  # as mistral-common recognizes it
        return "tekken.json"
    for ending, format in _ENDINGS.items():
        if name.endswith(ending):
            return format
    known = ", ".join(dict.fromkeys((*_ENDINGS.values(), "tekken.json")))
    raise DataError(f"does not say by its name what it is; give --format one of {known}", str(path))


def content_of(format: str, path: Path) -> Any:
    """Return the content of a format on a disk: from a file, or from a folder if the format has several files.

    What files of ranks or merges lack is in a file of the same name that ends with ``.beside.json``.

    Raises:
        DataError: it cannot be read.

    >>> content_of("vocab.txt", Path("no such file"))
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: no such file: cannot be read: No such file or directory
    """
    if format in _OBJECTS:
        (file,) = files_of(format, path).values()
        return load_json(read_file(file), str(file))
    told = beside_of(format, path)
    content = pack(
        {name: read_file(file) for name, file in files_of(format, path).items()},
        load_json(read_file(told), str(told)) if told else None,
    )
    if format == BPE_FORMAT:
        _refuse_bytes_uncut(content, path)
    return content


def _refuse_bytes_uncut(content: Any, path: Path) -> None:
    """Refuse byte-level tokens, such as GPT-2's, without a pre-tokenizer that converts a text to bytes.

    The files alone would give wrong ids for most texts, and nothing would say why.
    """
    try:
        model = read_bpe(content)
    except DataError:  # the reader that parses the files reports it with file and line
        return
    if "pre_tokenizer" in model or not {from_bytes(bytes([byte])) for byte in range(256)} <= {*ids_of(model)}:
        return
    made = {"".join(merge) for merge in model["merges"]}
    special = [token for token in ids_of(model) if len(token) > 1 and token not in made][:_SPECIAL]
    told: dict[str, Any] = {"pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}}
    example = json.dumps(told | ({"special_tokens": special} if special else {}), ensure_ascii=False)
    first = next(iter(files_of(BPE_FORMAT, path).values()))
    file = first.with_suffix(BESIDE)
    message = "has tokens of bytes, but nothing says how a text is split before it becomes bytes"
    remedy = f"name the tokenizer.json, or write {file}, for a model that splits as GPT-2 does: {example}"
    raise DataError(f"{message}; {remedy}", str(first))


def beside_of(format: str, path: Path) -> Path | None:
    """Return the file with what ranks or merges lack, if there is one: gpt.beside.json for gpt.tiktoken.

    >>> beside_of("vocab.tiktoken", Path("no such file"))
    """
    first = next(iter(files_of(format, path).values()))
    if format not in (RANKS, BPE_FORMAT) or not first.name:  # "." and "/" have no name
        return None
    file = first.with_suffix(BESIDE)
    return file if file.exists() else None


def on_the_disk(error: DataError, format: str, path: Path) -> DataError:
    """Return an error of a content with the file on the disk where it occurs, and its key there.

    >>> str(on_the_disk(DataError("is not a rank", "vocab.tiktoken", 2), "vocab.tiktoken", Path("gpt.tiktoken")))
    'gpt.tiktoken:2: is not a rank'
    """
    told = beside_of(format, path)
    within, _, key = error.key.partition(".")
    if told and within == "beside":
        return DataError(error.message, str(told), error.line, key)
    return DataError(error.message, str(files_of(format, path).get(error.file or "", path)), error.line, error.key)


def files_of(format: str, path: Path) -> dict[str, Path]:
    """Map each file of a format to its path on a disk; ``path`` is one of these files, or their folder.

    >>> files_of("vocab.txt", Path("bert.txt")) == {"vocab.txt": Path("bert.txt")}
    True
    """
    names = format.split("+")
    if len(names) == 1:
        is_folder = format.startswith("tokenizer.json") and path.is_dir()
        return {names[0]: path / "tokenizer.json" if is_folder else path}
    folder = path if path.is_dir() else path.parent
    return {name: _file(folder, name) for name in names}


def _file(folder: Path, name: str) -> Path:
    first = folder / _FIRST_NAMES.get(name, name)
    return first if first.is_file() and not (folder / name).exists() else folder / name


def read_file(path: Path) -> bytes:
    """Read a file of a model.

    Raises:
        DataError: it cannot be read, is not an ordinary file or is too large.
    """
    data = read_at_most(path, str(path), LARGEST)
    if len(data) > LARGEST:
        raise DataError(f"is larger than {LARGEST // 1024**2} MB", str(path))
    return data


def save(format: str, content: Any, path: Path) -> list[Path]:
    """Write the content of a format to a file, or its files to a folder, and return the paths.

    Raises:
        DataError: it cannot be written; whatever was there is then as it was.

    >>> save("vocab.txt", {"files": {"vocab.txt": "hug"}}, Path("no such folder") / "vocab.txt")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: no such folder/vocab.txt: cannot be written: No such file or directory
    """
    files = {"": dump_json(content).encode("utf-8")} if format in _OBJECTS else _files(content)
    targets = {path / name if len(files) > 1 else path: data for name, data in files.items()}
    for target in targets if len(files) > 1 else ():
        if target.is_symlink():  # the user named the folder, and somebody else may have put the link there
            raise DataError("is a link; remove it, or give another folder", str(target))
    is_new = len(files) > 1 and not path.exists()
    try:
        if len(files) > 1:
            path.mkdir(exist_ok=True)
        with ExitStack() as together:
            for target, data in targets.items():
                opened = together.enter_context(open_whole(target))
                opened.write(data)
                opened.flush()  # before any of the files is moved to its place
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", str(path)) from None
    finally:
        if is_new:
            with suppress(OSError):
                path.rmdir()  # which fails if anything was written in it
    return list(targets)


def _files(content: Mapping[str, Any]) -> dict[str, bytes]:
    names = list(content["files"])
    return dict(zip(names, unpack(content, *names), strict=True))
