"""An adapter between tokspec and a tokenizer. README.md, next to it, says what to do next.

What a library prints is kept away from the protocol. An exception that is not a ``Refusal`` counts as a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokspec.adapter import Hello, Refusal, Unsupported

#: What `load` returns: your tokenizer. This template keeps the model as the suite wrote it.
Model = Mapping[str, Any]


def encode(model: Model, input: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return characters as tokens. Put your tokenizer's answer here; "ids" and "spans" may be with "tokens"."""
    return {"tokens": list(input["text"])}


class Stream:
    """A detokenizer of a server, to which ids are added as they come. Put yours here; this one gives their numbers."""

    def __init__(self, model: Model, skips_special_tokens: bool) -> None:
        pass

    def add(self, ids: list[int]) -> str:
        return "".join(f"{id} " for id in ids)

    def end(self) -> str:
        return ""


def decode_stream(model: Model, input: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the text of ids as it becomes known with each step, and what the end of the stream gives."""
    skips = input.get("skip_special_tokens", False)
    stream, other, beside = Stream(model, skips), Stream(model, skips), input.get("beside", [])
    stream.add(input.get("prompt", []))  # its text is not shown
    parts = []
    for number, step in enumerate(input["id_steps"] if "id_steps" in input else [[id] for id in input["ids"]]):
        other.add(beside[number : number + 1])  # another stream, which has to share nothing with this one
        parts.append(stream.add(step))
    return {"parts": parts, "end": stream.end()} if input.get("end") else {"parts": parts}


#: The operations that you offer; spec/10-protocol.md lists what each takes and gives. What is absent is unsupported.
OPERATIONS: dict[str, Callable[[Model, Mapping[str, Any]], Mapping[str, Any]]] = {
    # "encode": encode,
    # "decode_stream": decode_stream,
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
            decode_options=("end", "id_steps", "prompt", "beside"),  # "skip_special_tokens" too, if it knows that
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
