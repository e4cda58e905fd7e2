"""An adapter between tokspec and a tokenizer. README.md, beside it, says what to do next.

What a library prints is kept away from the protocol. An exception that is no ``Refusal`` counts as a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported

#: What `load` returns: your tokenizer. This template keeps the model as the suite wrote it.
Model = Mapping[str, Any]


def encode(model: Model, input: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return characters as tokens. Put your tokenizer's answer here; "ids" and "spans" may stand beside "tokens"."""
    return {"tokens": list(input["text"])}


#: The operations that you offer; spec/10-protocol.md lists what each takes and gives. What is absent is unsupported.
OPERATIONS: dict[str, Callable[[Model, Mapping[str, Any]], Mapping[str, Any]]] = {
    # "encode": encode,
}


class Adapter:
    """What the suite makes and asks: ``hello`` once, ``load`` for each model, ``run`` for each question."""

    def hello(self) -> Hello:
        return Hello(
            name="mine",
            version="0.1",
            language="Python",
            operations=tuple(OPERATIONS),
            formats=("tokspec",),  # or "tokenizer.json", which Hugging Face tokenizers save; the preferred first
            encode_fields=("tokens",),  # add "ids" and "spans" as soon as encode gives them
            choices={},  # such as "bpe_merge_order": "lowest_rank"; spec/08-choices.md has them all
        )

    def load(self, format: str, content: Any) -> Model:
        # Make your tokenizer here. A recipe, with yours in place of Mine and of its error:
        #     if content.get("type") != "bpe" or "normalizer" in content:  # what it does not have
        #         raise Unsupported("has BPE alone, and no normalizers")
        #     try:
        #         return Mine(content["vocabulary"], content["merges"])
        #     except ValueError as error:  # what it rejects; whatever else it raises is a crash, and let through
        #         raise Refusal("invalid_model", str(error)) from None
        if not isinstance(content, dict):
            raise Refusal("invalid_model", "a model is an object")
        return content

    def run(self, operation: str, model: Model, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if operation not in OPERATIONS:
            raise Unsupported(f"there is no operation {operation}")
        return OPERATIONS[operation](model, input)
