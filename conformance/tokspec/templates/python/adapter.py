"""An adapter between tokspec and a tokenizer. README.md, next to it, says what to do next.

Output that a library prints is kept out of the protocol. An exception that is not a ``Refusal`` counts as a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported

#: What `load` returns: your tokenizer. This template returns the model unchanged.
Model = Mapping[str, Any]


def encode(model: Model, input: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return characters as tokens. Put your tokenizer's answer here; it may also have "ids" and "spans"."""
    return {"tokens": list(input["text"])}


class Stream:
    """A streaming detokenizer, which gets ids as they come. Put yours here; this one returns their numbers."""

    def __init__(self, model: Model, skips_special_tokens: bool) -> None:
        pass

    def add(self, ids: list[int]) -> str:
        return "".join(f"{id} " for id in ids)

    def end(self) -> str:
        return ""


def decode_stream(model: Model, input: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the text that each step of ids completes, and the text at the end of the stream."""
    skips = input.get("skip_special_tokens", False)
    stream, other, beside = Stream(model, skips), Stream(model, skips), input.get("beside", [])
    stream.add(input.get("prompt", []))  # its text is not shown
    parts = []
    for number, step in enumerate(input["id_steps"] if "id_steps" in input else [[id] for id in input["ids"]]):
        other.add(beside[number : number + 1])  # another stream, which must share nothing with this one
        parts.append(stream.add(step))
    return {"parts": parts, "end": stream.end()} if input.get("end") else {"parts": parts}


#: The operations that you offer; spec/10-protocol.md lists their inputs and results. Others are unsupported.
OPERATIONS: dict[str, Callable[[Model, Mapping[str, Any]], Mapping[str, Any]]] = {
    # "encode": encode,
    # "decode_stream": decode_stream,
}


class Adapter:
    """The suite creates an adapter, and calls ``hello`` once, ``load`` for each model and ``run`` for each request."""

    def hello(self) -> Hello:
        return Hello(
            name="mine",
            version="0.1",
            language="Python",
            operations=tuple(OPERATIONS),
            formats=("tokspec",),  # or "tokenizer.json", which Hugging Face tokenizers save; preferred first
            encode_fields=("tokens",),  # add "ids" and "spans" as soon as encode gives them
            decode_options=("end", "id_steps", "prompt", "beside"),  # add "skip_special_tokens" if it has this option
            choices={},  # such as "bpe_merge_order": "lowest_rank"; spec/08-choices.md lists all
        )

    def load(self, format: str, content: Any) -> Model:
        # Create your tokenizer here. A recipe, with your class and its error in place of Mine and ValueError:
        #     if content.get("type") != "bpe" or "normalizer" in content:  # features that it lacks
        #         raise Unsupported("has BPE alone, and no normalizers")
        #     try:
        #         return Mine(content["vocabulary"], content["merges"])
        #     except ValueError as error:  # what it rejects; any other exception is a crash, so let it through
        #         raise Refusal("invalid_model", str(error)) from None
        if not isinstance(content, dict):
            raise Refusal("invalid_model", "a model is an object")
        return content

    def run(self, operation: str, model: Model, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if operation not in OPERATIONS:
            raise Unsupported(f"there is no operation {operation}")
        return OPERATIONS[operation](model, input)
