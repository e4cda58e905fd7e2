"""The adapter for the streaming detokenizers of ``mlx-lm``, written for version 0.32.2.

The library chooses one of the three, for byte-level BPE, for SentencePiece or for any other, by the decoder of the
file. The package imports mlx, which only Apple's machines have by default; the module with the detokenizers does not,
so the adapter loads that module alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution, version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported, require_unicode
from tokspec.published.sharing import ALL_COMPONENTS, TOKENIZERS_CHOICES, require_end, steps_of, streamed

#: The options that decoding takes, of those of the library that decodes.
_CHOICES = ("duplicate_token", "metaspace_leading_space", "unknown_id", "wordpiece_cleanup")

#: What it says of a model without an unknown token: the detokenizer for any decoder encodes ``a ,b`` when it is made.
_INVALID = ("Missing [UNK] token", "`unk_id` is missing")


class MlxLmAdapter:
    """The streaming detokenizers of ``mlx-lm``."""

    def __init__(self) -> None:
        file = distribution("mlx-lm").locate_file("mlx_lm/tokenizer_utils.py")
        spec: Any = spec_from_file_location("mlx_lm_tokenizer_utils", str(file))
        self._library: Any = module_from_spec(spec)
        spec.loader.exec_module(self._library)

    def hello(self) -> Hello:
        """Describe the library."""
        return Hello(
            name="mlx-lm",
            version=version("mlx-lm"),
            language="Python",
            operations=("decode_stream",),
            formats=("tokenizer.json",),
            choices={choice: TOKENIZERS_CHOICES[choice] for choice in _CHOICES},
            decode_options=("id_steps", "end", "beside"),
            components=ALL_COMPONENTS,
            reads_file=True,
        )

    def load(self, format: str, content: Any) -> Any:
        """Load a folder with a ``tokenizer.json``, and the file that says which class of transformers reads it.

        Raises:
            Refusal: ``invalid_model``, for one that cannot encode what the library encodes to know it.
        """
        with TemporaryDirectory() as folder:
            config = {"tokenizer_class": "PreTrainedTokenizerFast"}
            (Path(folder) / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
            (Path(folder) / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
            try:
                return self._library.load(Path(folder))
            except Exception as error:
                if any(said in str(error) for said in _INVALID):
                    raise Refusal("invalid_model", str(error)) from error
                raise

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        """Perform one operation.

        Raises:
            Unsupported: with the reason.
        """
        require_unicode(input)
        require_end(input)
        if any(id >= 2**32 for step in steps_of(input) for id in step):
            raise Unsupported("takes ids of 32 bits, as its library in Rust has them")

        def add(detokenizer: Any, step: Sequence[int]) -> str:
            for id in step:
                detokenizer.add_token(id)
            return str(detokenizer.last_segment)

        def end(detokenizer: Any) -> str:
            detokenizer.finalize()
            return str(detokenizer.last_segment)

        return streamed(input, lambda: model.detokenizer, add, end)
