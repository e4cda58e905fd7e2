"""The adapter for ``TextStreamer`` of transformers, to which ``generate`` gives ids; version 5.23.0.

Its tokenizer is made of a ``tokenizer.json``, and its text comes to ``on_finalized_text``, as its documentation says.
Arrays of numpy stand for tensors: the streamer asks them for their shape and a list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Unsupported, require_unicode
from tokspec.published.sharing import ALL_COMPONENTS, TOKENIZERS_CHOICES, require_end, steps_of, streamed

#: The options that decoding takes, of those of the library that decodes.
_CHOICES = ("duplicate_token", "metaspace_leading_space", "unknown_id", "wordpiece_cleanup")


class TextStreamerAdapter:
    """``TextStreamer``: the text that ``generate`` shows while it grows."""

    def __init__(self) -> None:
        self._tokenizer: Any = import_module("transformers").PreTrainedTokenizerFast
        self._streamer: Any = _collecting(import_module("transformers.generation.streamers").TextStreamer)
        self._array: Any = import_module("numpy").array

    def hello(self) -> Hello:
        """Describe the streamer."""
        return Hello(
            name="transformers-TextStreamer",
            version=version("transformers"),
            language="Python",
            operations=("decode", "decode_stream"),
            formats=("tokenizer.json",),
            choices={choice: TOKENIZERS_CHOICES[choice] for choice in _CHOICES},
            decode_options=("skip_special_tokens", "id_steps", "prompt", "end", "beside"),
            components=ALL_COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> Any:
        """Load a ``tokenizer.json``."""
        with TemporaryDirectory() as folder:
            file = Path(folder) / "tokenizer.json"
            file.write_text(json.dumps(content), encoding="utf-8")
            return self._tokenizer(tokenizer_file=str(file))

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Unsupported: with the reason.
        """
        require_unicode(input)
        if "tokens" in input:
            raise Unsupported("decodes ids")
        if any(id >= 2**32 for step in steps_of(input) for id in step):
            raise Unsupported("takes ids of 32 bits, as its library in Rust has them")
        skips = input.get("skip_special_tokens", False)
        if operation == "decode":
            return {"text": model.decode(input["ids"], skip_special_tokens=skips)}
        require_end(input)

        def new() -> Any:
            streamer = self._streamer(model, skip_prompt="prompt" in input, skip_special_tokens=skips)
            if "prompt" in input:
                streamer.put(self._array([input["prompt"]], dtype="int64"))
            return streamer

        def add(streamer: Any, step: Sequence[int]) -> str:
            streamer.put(self._array(step, dtype="int64"))
            return str(streamer.taken())

        def end(streamer: Any) -> str:
            streamer.end()
            return str(streamer.taken())

        return streamed(input, new, add, end)


def _collecting(streamer: Any) -> Any:
    class Collecting(streamer):  # type: ignore[misc]
        """A streamer that keeps the text instead of printing it."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self._texts: list[str] = []

        def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
            self._texts.append(text)

        def taken(self) -> str:
            """Return the text that came since this was asked last."""
            texts, self._texts = self._texts, []
            return "".join(texts)

    return Collecting
