"""What a model in the neutral form needs beyond the base, as the names that ``hello`` declares (``components``).

The base is what every implementation is asked about: a vocabulary as a list, ``special_tokens``, and the types of
model, normalizer, pre-tokenizer and decoder of the tables below with all parameters that the tables do not list.
Everything else has a name, ``STAGE/TYPE`` or ``STAGE/TYPE/PARAMETER``. ``components`` in the schema lists all names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["covers", "needed_components", "needed_options"]

#: The types of the base, by stage.
_BASE: Mapping[str, Sequence[str]] = {
    "model": ("bpe", "wordpiece", "unigram"),
    "normalizer": ("nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip_accents", "bert", "sequence"),
    "pre_tokenizer": ("bert", "byte_level", "metaspace", "whitespace_split", "sequence"),
    "post_processor": (),
    "decoder": ("byte_level", "metaspace", "wordpiece"),
}

#: Parameters that types of the base have beyond it, with the value that needs nothing; None: any value needs it.
_PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "model/bpe": {
        "ignore_merges": False,
        "fuse_unk": None,
        "byte_fallback": False,
        "continuing_prefix": "",
        "end_of_word_suffix": "",
        "scores": None,
        "piece_types": None,
    },
    "model/unigram": {"byte_fallback": False, "piece_types": None},
    "decoder/metaspace": {"prepend_scheme": "always"},
    "decoder/wordpiece": {"cleanup": False},
}

#: The members of a ``sequence``, by stage.
_MEMBERS = {stage: f"{stage}s" for stage in _BASE}

#: What an added token may say of itself beyond its content, with the value that needs nothing.
_FLAGS: Mapping[str, Any] = {
    "id": None,
    "special": True,
    "normalized": False,
    "lstrip": False,
    "rstrip": False,
    "single_word": False,
}

#: Options of requests, each of which is a key of an input.
_OPTIONS = ("pair", "add_special_tokens", "allowed_special", "disallowed_special", "skip_special_tokens")


def needed_components(model: Mapping[str, Any]) -> list[str]:
    """Name what a model needs beyond the base.

    >>> needed_components({"type": "bpe", "vocabulary": ["b"], "ignore_merges": True})
    ['model/bpe/ignore_merges']
    >>> needed_components({"decoder": {"type": "sequence", "decoders": [{"type": "fuse"}, {"type": "metaspace"}]}})
    ['decoder/fuse', 'decoder/sequence']
    """
    found = set(_of_tokens(model))
    for stage in _BASE:
        part = model if stage == "model" else model.get(stage)
        if part is not None and "type" in part:
            found.update(_of_stage(stage, part))
    found.update(key for key in ("truncation", "padding") if key in model)
    return sorted(found)


def _of_tokens(model: Mapping[str, Any]) -> Iterator[str]:
    vocabulary = model.get("vocabulary")
    if vocabulary and not isinstance(vocabulary[0], str):
        yield "vocabulary_ids"
    for token in model.get("added_tokens", ()):
        yield "added_tokens/content"
        yield from (f"added_tokens/{name}" for name in _given(token, _FLAGS))
    if "added_tokens" in model:
        yield "added_tokens/content"


def _of_stage(stage: str, part: Mapping[str, Any]) -> Iterator[str]:
    kind = part["type"]
    name = f"{stage}/{kind}"
    if kind not in _BASE[stage]:
        yield name
    yield from (f"{name}/{parameter}" for parameter in _given(part, _PARAMETERS.get(name, {})))
    for member in part.get(_MEMBERS[stage], ()) if kind == "sequence" else ():
        yield from _of_stage(stage, member)


def _given(part: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    """Name the parameters that a part gives another value than the one that needs nothing."""
    return (name for name, plain in parameters.items() if name in part and (plain is None or part[name] != plain))


def covers(declared: Sequence[str], name: str) -> bool:
    """Whether a component is declared, by its own name or by one above it.

    >>> covers(["post_processor"], "post_processor/template"), covers(["decoder/strip"], "decoder/replace")
    (True, False)
    """
    return any(name == each or name.startswith(f"{each}/") for each in declared)


def needed_options(input: Mapping[str, Any]) -> list[str]:
    """Name the options that the input of a request has.

    >>> needed_options({"inputs": [{"text": "b"}, {"text": "u", "pair": "g"}], "add_special_tokens": False})
    ['pair', 'add_special_tokens']
    """
    inputs = [input, *input.get("inputs", ())]
    return [option for option in _OPTIONS if any(option in each for each in inputs)]
