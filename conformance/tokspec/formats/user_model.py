"""A model that is a user's own file: implementations that load its format get it unchanged, others a conversion.

Such a file usually contains more than the specification covers. An implementation that loads the format gets all of it,
unchanged. For another format, the file is converted through the neutral form of the fixtures, or refused with the parts
that this form does not cover.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tokspec import formats
from tokspec.base.errors import DataError, Unsupported
from tokspec.base.files import read_at_most
from tokspec.formats.neutral import is_weight
from tokspec.formats.on_disk import beside_of, content_of, files_of, format_of, on_the_disk, read_file
from tokspec.formats.other_forms import name_bytes, name_object
from tokspec.formats.tiktoken_ranks import FORMAT as RANKS
from tokspec.formats.tiktoken_ranks import stages_told

#: The formats whose loaders read each other's files, or nearly.
_OBJECTS = ("tokenizer.json", "tokenizer.json-legacy")

#: What an implementation gets if it does not read the format of a file.
CONVERTED = "the model converted"

#: Bytes at the beginning of a file by which its form is recognized.
_HEAD = 4096

#: The formats whose files are not text.
_BINARY = ("sentencepiece.model", "vocab.gguf")


class UserModel:
    """The content of a file, with its format, the name of the file and the SHA-256 of its bytes.

    When it is converted, the post-processor is dropped unless the model is ``whole``.

    >>> own = UserModel("vocab.txt", {"files": {"vocab.txt": "[UNK]"}}, "bert.txt", "")
    >>> own.write("vocab.txt")["files"]
    {'vocab.txt': '[UNK]'}
    >>> own.write("tokspec")["vocabulary"]
    ['[UNK]']
    """

    def __init__(self, format: str, content: Any, name: str, sha256: str, *, whole: bool = False) -> None:
        self.format, self.content, self.name, self.sha256, self._whole = format, content, name, sha256, whole

    def ordered(self, accepted: Sequence[str]) -> list[str]:
        """Return the accepted formats, the model's own first."""
        return sorted(accepted, key=lambda format: (format != self.format, format not in self.own_formats))

    @property
    def own_formats(self) -> tuple[str, ...]:
        """The formats whose loaders get the file unchanged, or nearly."""
        return _OBJECTS if self.format in _OBJECTS else (self.format,)

    @property
    def has_post_processor(self) -> bool:
        """Whether the model adds special tokens to an encoding; a converted model does not."""
        return self.format in _OBJECTS and bool(self.content.get("post_processor"))

    def rewritten_for(self, accepted: Sequence[str]) -> str:
        """Say what an implementation gets in place of the file; empty if it gets the file unchanged.

        >>> content = {"model": {"type": "BPE", "merges": [["u", "g"]]}}
        >>> UserModel("tokenizer.json", content, "t.json", "").rewritten_for(["tokenizer.json-legacy"])
        'the merges as strings, because it reads no pairs'
        """
        if not accepted or self.format in accepted:
            return ""
        if not {*self.own_formats} & {*accepted}:
            return CONVERTED
        is_changed = self.write(self.ordered(accepted)[0]) is not self.content
        return "the merges as strings, because it reads no pairs" if is_changed else ""

    def write(self, format: str) -> Any:
        """Return the model in a format.

        Raises:
            Unsupported: the format cannot express it, or it has parts that the neutral form does not cover.
        """
        if format == self.format:
            return self._handed_over
        if self.format in _OBJECTS and format in _OBJECTS:
            return _with_merges(self.content, joined=format == "tokenizer.json-legacy")
        return formats.write(format, self.neutral)

    @cached_property
    def _handed_over(self) -> Any:
        """The content in the form of the protocol: the texts of files, and ``beside`` if it is known."""
        if not isinstance(self.content, Mapping) or "files" not in self.content:
            return self.content
        files = self.content["files"]
        if self.format not in _BINARY:
            files = {name: _text(file) for name, file in files.items()}
        if "beside" in self.content:
            return {**self.content, "files": files}
        try:
            return {"files": files, "beside": formats.write(self.format, self.neutral).get("beside", {})}
        except Unsupported:
            return {"files": files}

    @cached_property
    def neutral(self) -> dict[str, Any]:
        """The model as the fixtures write it.

        Raises:
            Unsupported: it has parts that the specification does not cover.
        """
        content = _covered(self.content) if self.format in _OBJECTS and not self._whole else self.content
        try:
            return formats.read(self.format, content)
        except DataError as error:
            raise Unsupported(f"{self.name} is a {self.format} that cannot be converted: {error}") from None


def files_of_model(path: Path | None, format: str | None = None) -> list[Path]:
    """Return the files from which a model is read; the path itself if its format is not known.

    >>> files_of_model(Path("toy.model")) == [Path("toy.model")]
    True
    """
    if path is None:
        return []
    try:
        return list(files_of(format or format_of(path), path).values())
    except DataError:
        return [path]


def read_user_model(path: Path, format: str | None = None, *, whole: bool = False) -> UserModel:
    """Read a model from a file or a folder of files; without ``format``, the ending of its name gives the format.

    ``whole`` is whether the model keeps its post-processor when it is converted.

    Raises:
        DataError: it cannot be read, or is not a model.
    """
    format = format or _told_format(path)
    digest = hashlib.sha256()
    for name, file in files_of(format, path).items():
        data = read_file(file)
        if not data and name != "merges.txt":
            raise DataError("is empty; a model has tokens", str(file))
        if known := name_bytes(data):
            raise DataError(known, str(file))
        digest.update(data)
    told = beside_of(format, path)
    if told:
        digest.update(read_file(told))
    content = content_of(format, path)
    if format == RANKS:
        _refuse_untold(content, path, told)
    if told:
        try:
            formats.read(format, content)
        except DataError as error:
            raise on_the_disk(error, format, path) from None
    if format in _OBJECTS and not (isinstance(content, dict) and isinstance(content.get("model"), dict)):
        unknown = (
            "is not a tokenizer.json: it has no key model that holds an object; give --format if it is something else"
        )
        raise DataError(name_object(content) or unknown, str(path))
    if format in _OBJECTS:
        for key, needed in _misshapen(content):
            raise DataError(f"is not {needed}", str(path), key=key)
    return UserModel(format, content, path.name or path.resolve().name, digest.hexdigest(), whole=whole)


def _told_format(path: Path) -> str:
    """Return the format that a name indicates.

    Raises:
        DataError: it indicates none; the message names a form that is known but not read.
    """
    try:
        return format_of(path)
    except DataError:
        if path.is_file() and (known := name_bytes(read_at_most(path, str(path), _HEAD))):
            raise DataError(known, str(path)) from None
        raise


def _refuse_untold(content: Any, path: Path, told: Path | None) -> None:
    """Refuse ranks without a way to split a text, because programs that load them would use different patterns."""
    try:
        stages_told(content)
    except DataError as error:
        raise DataError(error.message, str(told or path), key=error.key.partition(".")[2]) from None


def _misshapen(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the malformed keys of a tokenizer.json, with the form that each should have."""
    vocab, merges = content["model"].get("vocab"), content["model"].get("merges")
    if isinstance(vocab, list):
        for index, entry in enumerate(vocab):
            if not (_is_list(entry, str, object) and is_weight(entry[1])):
                yield f"model.vocab[{index}]", "a token with its weight"
    elif vocab is not None and not (isinstance(vocab, dict) and all(type(id) is int for id in vocab.values())):
        yield "model.vocab", "an object of tokens to ids or a list of tokens with weights"
    if not isinstance(merges, list | None):
        yield "model.merges", "a list"
    for index, merge in enumerate(merges or []):
        if not ((isinstance(merge, str) and merge.count(" ") == 1) or _is_list(merge, str, str)):
            yield f"model.merges[{index}]", "two tokens, in a list or with one space between them"
    added = content.get("added_tokens")
    if not isinstance(added, list | None):
        yield "added_tokens", "a list"
    for index, token in enumerate(added or []):
        if not isinstance(token, dict) or type(token.get("id")) is not int or not isinstance(token.get("content"), str):
            yield f"added_tokens[{index}]", "an object with a content and an id"


def _is_list(value: Any, *types: type) -> bool:
    return isinstance(value, list) and len(value) == len(types) and all(map(isinstance, value, types))


def _text(file: Any) -> Any:
    """Return the text of a file; a file that is not text stays unchanged."""
    try:
        return b64decode(file["base64"]).decode("utf-8") if isinstance(file, Mapping) else file
    except UnicodeDecodeError:
        return file


def _with_merges(content: dict[str, Any], joined: bool) -> dict[str, Any]:
    """Write merges in the form of old versions, one string each, or in the form of new ones."""
    merges = content["model"].get("merges")
    if not joined or not merges or isinstance(merges[0], str):
        return content
    for left, right in merges:
        if " " in left + right:
            raise Unsupported(f"the merge of {left!r} and {right!r} has a space in it, which older versions split at")
    return {**content, "model": {**content["model"], "merges": [" ".join(merge) for merge in merges]}}


def _covered(content: dict[str, Any]) -> dict[str, Any]:
    """Drop the post-processor, so that every implementation encodes a text without the tokens that it adds."""
    return {**content, "post_processor": None}
