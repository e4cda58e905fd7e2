"""The usual whole pipelines: those of BERT, GPT-2, Llama 2, Llama 3 and T5, with small vocabularies.

Draws start from each of them and vary it: a stage is left out or replaced. A port that accepts only one whole pipeline,
and refuses its parts, is reached by these. Control tokens are special tokens, added tokens, or ordinary tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tokspec.formats.tiktoken_ranks import from_bytes, merges_of
from tokspec.fuzz.characters import CHARACTER_MAPS
from tokspec.fuzz.components import STAGES, stages
from tokspec.fuzz.drawing import chance

Model: TypeAlias = dict[str, Any]

_BYTES = [from_bytes(bytes([byte])) for byte in range(256)]
_FALLBACK = [f"<0x{byte:02X}>" for byte in range(256)]
_SPLIT = r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _ranked(*tokens: str) -> Model:
    """Return a BPE model whose merges follow from its tokens."""
    return {"type": "bpe", "vocabulary": list(tokens), "merges": [list(pair) for pair in merges_of(tokens)]}


_LETTERS = ("a", "b", "Ġ", "ab", "Ġa", "Ġab", "Ċ", "1")
_MARKED = ("▁", "a", "b", "▁a", "ab", "▁ab", ".")
_BERT: Model = {
    "type": "wordpiece",
    "vocabulary": ["[UNK]", "a", "b", "ab", "##a", "##b", "##ab", ".", "1", "##1", "é", "中"],
    "normalizer": {"type": "bert"},
    "pre_tokenizer": {"type": "bert"},
    "decoder": {"type": "wordpiece"},
}
_GPT2: Model = {
    **_ranked(*_BYTES, "ab", "Ġa", "Ġab", "Ġb", "aa"),
    "pre_tokenizer": {"type": "byte_level"},
    "decoder": {"type": "byte_level"},
}
_LLAMA_DECODERS = [
    {"type": "replace", "pattern": {"string": "▁"}, "content": " "},
    {"type": "byte_fallback"},
    {"type": "fuse"},
    {"type": "strip", "content": " ", "start": 1, "stop": 0},
]
_LLAMA: Model = {
    **_ranked("<unk>", *_FALLBACK, *_MARKED),
    "unknown_token": "<unk>",
    "byte_fallback": True,
    "fuse_unk": True,
    "normalizer": {
        "type": "sequence",
        "normalizers": [
            {"type": "prepend", "prefix": "▁"},
            {"type": "replace", "pattern": {"string": " "}, "content": "▁"},
        ],
    },
    "decoder": {"type": "sequence", "decoders": _LLAMA_DECODERS},
}
_CUT = {"type": "split", "pattern": {"regex": _SPLIT}, "behavior": "isolated"}
_MARKS = {"type": "metaspace"}
_T5: Model = {
    "type": "unigram",
    "tokens": [["<unk>", -9.0], *([token, -1.0 - place / 2] for place, token in enumerate(_MARKED))],
    "weights": "log_probability",
    "unknown_token": "<unk>",
    "normalizer": {"type": "precompiled", "charsmap": CHARACTER_MAPS[2]},
    "pre_tokenizer": _MARKS,
    "decoder": _MARKS,
}

#: Whole pipelines by their family, with the control tokens before and after a text.
PIPELINES: Mapping[str, Sequence[tuple[Model, Sequence[str]]]] = {
    "wordpiece": ((_BERT, ("[CLS]", "[SEP]")),),
    "bpe-bytes": (
        (_GPT2, ("<|endoftext|>", "")),
        (
            {
                **_GPT2,
                "ignore_merges": True,
                "pre_tokenizer": {
                    "type": "sequence",
                    "pre_tokenizers": [_CUT, {"type": "byte_level", "use_regex": False}],
                },
            },
            ("<|begin|>", ""),
        ),
    ),
    "bpe": (
        (
            {**_ranked("<unk>", *_MARKED), "unknown_token": "<unk>", "pre_tokenizer": _MARKS, "decoder": _MARKS},
            ("<s>", ""),
        ),
        ({**_GPT2, **_ranked(*_LETTERS)}, ("<|endoftext|>", "")),
        (_LLAMA, ("<s>", "")),
        ({**_LLAMA, **_ranked("<unk>", *_FALLBACK[0xA9:0xC4], *_MARKED)}, ("<s>", "</s>")),
    ),
    "unigram": ((_T5, ("", "</s>")), ({key: _T5[key] for key in _T5 if key != "normalizer"}, ("", "</s>"))),
}

#: The parts of each family's pipelines by themselves, for implementations that load no stages.
_CORE = ("type", "vocabulary", "merges", "tokens", "weights", "unknown_token")


@cache
def starts(family: str) -> Sequence[Model]:
    """Return models of a family to start from: the usual pipelines, with tokens around a text, and bare.

    >>> [sorted(model)[:2] for model in starts("wordpiece")]
    [['decoder', 'normalizer'], ['decoder', 'normalizer'], ['decoder', 'normalizer'], ['type', 'vocabulary']]
    """
    found: list[Model] = []
    for model, around in PIPELINES.get(family, ()):
        ways = ("template", "bert") if all(around) else ("template",)
        found += [model, *(_surrounded(model, around, "special_tokens", how) for how in ways)]
    if family == "bpe":
        found.append(_ranked("a", "b", "c", "ab", "abc"))
    if family in ("stages", "training"):
        alone = [model for models in PIPELINES.values() for model, _ in models]
        parts: list[Model] = [{stage: model[stage]} for stage in STAGES for model in alone if stage in model]
        parts += [{"pre_tokenizer": part} for part in (_CUT, {**_CUT, "behavior": "removed", "invert": True})]
        parts += [{"normalizer": {"type": name}} for name in ("nfkc", "nfc", "lowercase")]
        parts = [part for place, part in enumerate(parts) if part not in parts[:place]]
        if family == "stages":
            return parts
        kinds: list[Model] = [{"type": kind} for kind in ("bpe", "wordpiece", "unigram")]
        return [*kinds, *({**kind, **part} for kind in kinds for part in parts)]
    return [
        *found,
        *({key: model[key] for key in _CORE if key in model} for model in found[:1] if "vocabulary" in model),
    ]


def _surrounded(model: Model, around: Sequence[str], place: str, how: str) -> Model:
    """Return a model with tokens before and after a text, which are in its vocabulary."""
    control = [token for token in around if token] if place or how else []
    key = "tokens" if "tokens" in model else "vocabulary"
    weight = -10.0 if "weights" in model else 1
    entries = [*model[key], *([token, weight] if key == "tokens" else token for token in control)]
    ids = {token: id for id, token in enumerate(control, len(model[key]))}
    found = {**model, key: entries}
    if place == "special_tokens":
        found[place] = control
    elif place == "added_tokens":
        found[place] = [{"content": token} for token in control]
    if how == "bert" and len(control) == 2:
        first, last = control
        found["post_processor"] = {"type": "bert", "sep": [last, ids[last]], "cls": [first, ids[first]]}
    elif how == "template":
        found["post_processor"] = _template(around, ids)
    return found


def _template(around: Sequence[str], ids: Mapping[str, int]) -> Model:
    before, behind = [[{"special": token, "type_id": 0}] if token else [] for token in around]
    single: list[Model] = [*before, {"sequence": "A", "type_id": 0}, *behind]
    texts: list[Model] = [{"sequence": "B"}, *behind]
    second = [{**item, "type_id": 1} for item in texts]
    named = [{"name": token, "ids": [id], "tokens": [token]} for token, id in ids.items()]
    return {"type": "template", "single": single, "pair": [*single, *second], "special_tokens": named}


@st.composite
def varied(draw: st.DrawFn, families: tuple[str, ...]) -> tuple[str, Model, str] | None:
    """Draw a usual pipeline of one of the families, and replace some of its stages; None if no family has one."""
    found = [(family, *pipeline) for family in families for pipeline in PIPELINES.get(family, ())]
    if not found:
        return None
    family, model, around = draw(st.sampled_from(found))
    kept, tiny = draw(_KEPT), _TINY[model["type"]]
    if draw(_IS_TINY):
        model = {**tiny, **{stage: model[stage] for stage in STAGES if stage in model}}
    model = _surrounded(model, around, *draw(_SURROUNDING))
    others = draw(stages()) if chance(draw, 50) else {}
    for stage in _AROUND:
        if stage not in kept:
            model = {key: value for key, value in model.items() if key != stage}
        elif stage in others and chance(draw, 33):
            model = {**model, stage: others[stage]}
    model |= {stage: others[stage] for stage in ("truncation", "padding") if stage in others}
    return family, model, "ab" if family.startswith("bpe") else "ab "


_AROUND = ("normalizer", "pre_tokenizer", "decoder", "post_processor")

#: Which of these stages are kept: none is the simplest choice, all is the usual one, and sometimes one is left out.
_WITHOUT_ONE = [[stage for stage in _AROUND if stage != absent] for absent in _AROUND]
_KEPT = st.sampled_from([[], *[_AROUND] * 12, *_WITHOUT_ONE])

#: The smallest models of each type, to which the model of a pipeline may shrink, and how often they are drawn.
_TINY: Mapping[str, Model] = {
    "bpe": {"type": "bpe", "vocabulary": ["a"], "merges": []},
    "wordpiece": {"type": "wordpiece", "vocabulary": ["a"]},
    "unigram": {"type": "unigram", "tokens": [["a", 1]]},
}
_IS_TINY = st.sampled_from((True, *(False,) * 9))

#: The key that lists the control tokens, and the post-processor that puts them around a text.
_SURROUNDING = st.tuples(
    st.sampled_from(("", "special_tokens", "added_tokens")), st.sampled_from(("", "template", "bert"))
)
