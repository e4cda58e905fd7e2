"""The adapter for ``pytorch-tokenizers``, the tokenizers of ExecuTorch, written for version 1.5.0.

Its ``CppHFTokenizer`` reads a ``tokenizer.json``: BPE alone. It knows ids and texts, and no tokens or offsets. Whether
the post-processor runs depends on the numbers ``bos`` and ``eos``: with either, it adds what its template says.

The package has other readers, which have nothing to judge: that of ``vocab.tiktoken`` has the pattern and the special
tokens of Llama 3 whatever the file, and that of SentencePiece is the library of that name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.published.sharing import ids_in_cpp

#: The options that the library takes, measured with version 1.5.0.
CHOICES = {"merge_outside_vocabulary": "ignored", "join_without_decoder": "nothing", "unknown_id": "error"}

#: What the library says on the standard error of a component that it lacks. It does not look at the type of a model:
#: another than BPE is one whose vocabulary or merges it cannot read.
_LACKS = ("nsupported", "Missing", "Only ", "Could not parse tokens", "Could not parse merges", "not supported for")
_INVALID = ("duplicate rank", "duplicate token")

#: Its errors by name, which it raises where a text or an id has no token.
_REASONS = {"EncodeFailure": "unknown_symbol", "DecodeFailure": "unknown_id"}

#: What the library reads of a model.
COMPONENTS = (
    *("added_tokens", "pre_tokenizer/digits"),
    *("post_processor/template", "decoder/replace", "decoder/byte_fallback", "decoder/fuse"),
    *("decoder/strip", "vocabulary_ids"),
)


class PytorchTokenizersAdapter:
    """``pytorch-tokenizers``: BPE of ``tokenizer.json``, in C++."""

    def __init__(self) -> None:
        self._new: Callable[[], Any] = import_module("pytorch_tokenizers").CppHFTokenizer

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="pytorch-tokenizers",
            version=version("pytorch-tokenizers"),
            language="Python, C++",
            operations=("encode", "decode"),
            formats=("tokenizer.json",),
            choices=CHOICES,
            encode_fields=("ids",),
            encode_options=("add_special_tokens",),
            decode_options=("skip_special_tokens",),
            components=COMPONENTS,
            reads_file=True,
            like="tokenizers",
        )

    def load(self, format: str, content: Any) -> Any:
        """Load a ``tokenizer.json``.

        Raises:
            Refusal: ``unsupported``, for what the library says that it lacks, and ``invalid_model``. It says either on
                the standard error, and raises the same error for both.
        """
        tokenizer, log = self._new(), ""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "tokenizer.json"
            file.write_text(json.dumps(content), "utf-8")
            try:
                with _standard_error() as read:
                    try:
                        tokenizer.load(str(file))
                    finally:
                        log = read()
            except RuntimeError as error:
                if any(said in log for said in _INVALID):
                    raise Refusal("invalid_model", log.strip().rpartition("] ")[2]) from error
                lacking = [line for line in log.splitlines() if any(said in line for said in _LACKS)]
                if not lacking:
                    raise RuntimeError(f"{error}: {log.strip()}") from error
                raise Unsupported(lacking[-1].partition("] ")[2]) from error
        return tokenizer

    def encoder(self, model: Any) -> Callable[[str], list[int]]:
        """Return a function from a text to its ids, for callers that encode millions of texts."""
        encode = model.encode
        return lambda text: list(encode(text))

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Refusal: ``unknown_symbol``, ``unknown_id``, ``invalid_input`` for bytes that are not UTF-8, and
                ``unsupported`` with the reason.
        """
        require_unicode(input)
        try:
            if operation == "encode":
                adds = input.get("add_special_tokens", True)
                return {"ids": model.encode(input["text"], bos=int(adds), eos=int(adds))}
            return {"text": model.decode_batch(ids_in_cpp(input, 64), input.get("skip_special_tokens", False))}
        except UnicodeDecodeError as error:
            raise Refusal("invalid_input", str(error)) from error
        except RuntimeError as error:
            for said, reason in _REASONS.items():
                if said in str(error):
                    raise Refusal(reason, str(error)) from error
            raise


@contextmanager
def _standard_error() -> Iterator[Callable[[], str]]:
    """Give a function that returns what has been written to the standard error of the process inside."""
    before = os.dup(2)
    with TemporaryFile() as file:
        os.dup2(file.fileno(), 2)

        def read() -> str:
            file.seek(0)
            return file.read().decode("utf-8", "replace")

        try:
            yield read
        finally:
            os.dup2(before, 2)
            os.close(before)
