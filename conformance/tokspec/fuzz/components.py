"""The stages around a model: one table of components, from which stages are drawn, named and given their clauses.

A new normalizer, pre-tokenizer or decoder is an entry of ``COMPONENTS``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st

from tokspec.fuzz.drawing import Draw, coded, codes, maybe, number, pick

__all__ = ["COMPONENTS", "STAGES", "Component", "components_of", "special_tokens", "stages"]

_BOTH = (True, False)


@dataclass(frozen=True)
class Component:
    """A type of a stage.

    ``parameters`` are the values that each key may have; every key may be left out. ``members`` is the key of a
    sequence's parts. ``clauses`` are patterns of the ids of the clauses that it is about; ``share`` is how often it is
    drawn beside others.
    """

    stage: str
    type: str
    clauses: str
    share: int = 1
    parameters: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    members: str = ""

    @property
    def name(self) -> str:
        """What it is called in ``components_of``.

        >>> Component("normalizer", "nfc", "NORM-UNICODE-2").name
        'normalizer/nfc'
        """
        return f"{self.stage}/{self.type}"


#: Of each stage the simplest component comes first.
COMPONENTS: tuple[Component, ...] = (
    Component("normalizer", "lowercase", "NORM-LOWERCASE-*"),
    Component("normalizer", "nfc", "NORM-UNICODE-2"),
    Component("normalizer", "nfd", "NORM-UNICODE-1"),
    Component("normalizer", "nfkc", "NORM-UNICODE-4"),
    Component("normalizer", "nfkd", "NORM-UNICODE-3"),
    Component("normalizer", "strip_accents", "NORM-ACCENTS-*"),
    Component(
        "normalizer",
        "bert",
        "NORM-BERT-* NORM-LOWERCASE-2",
        share=4,
        parameters={
            "clean_text": _BOTH,
            "handle_chinese_chars": _BOTH,
            "lowercase": _BOTH,
            "strip_accents": (None, True, False),
        },
    ),
    Component("normalizer", "sequence", "NORM-SEQUENCE-*", members="normalizers"),
    Component("pre_tokenizer", "whitespace_split", "PRE-SPACE-*"),
    Component("pre_tokenizer", "bert", "PRE-BERT-*", share=2),
    Component(
        "pre_tokenizer",
        "metaspace",
        "PRE-META-*",
        share=3,
        parameters={
            "replacement": ("▁", "_", "Ġ", "a"),
            "split": _BOTH,
            "prepend_scheme": ("always", "first", "never"),
        },
    ),
    Component(
        "pre_tokenizer",
        "byte_level",
        "PRE-BYTE-*",
        share=4,
        parameters={"add_prefix_space": (False, True), "use_regex": _BOTH},
    ),
    Component("pre_tokenizer", "sequence", "PRE-SEQUENCE-*", members="pre_tokenizers"),
    Component("decoder", "byte_level", "DEC-BYTE-*"),
    Component("decoder", "metaspace", "DEC-META-*", parameters={"replacement": ("▁", "_", "a")}),
    Component("decoder", "wordpiece", "DEC-WP-*", parameters={"prefix": ("##", "@", "a", "#")}),
)

#: The stages, and the last value of the branch by which each may be left out: with 1 it is there half of the time.
STAGES: Mapping[str, int] = {"normalizer": 1, "pre_tokenizer": 1, "decoder": 2}

_ABSENT = object()


def stages() -> st.SearchStrategy[dict[str, Any]]:
    """Draw some of the stages, each with the parts that fit in it."""
    return _stages


@st.composite
def _draw_stages(draw: Draw) -> dict[str, Any]:
    drawn = {stage: draw(strategy) for stage, strategy in _OPTIONAL.items()}
    return {stage: part for stage, part in drawn.items() if part is not None}


@cache
def _stage(stage: str, depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    return _draw_component(tuple(each for each in COMPONENTS if each.stage == stage for _ in range(each.share)), depth)


@st.composite
def _draw_component(draw: Draw, components: tuple[Component, ...], depth: int) -> dict[str, Any]:
    component = pick(draw, components)
    part: dict[str, Any] = {"type": component.type}
    if component.members:
        part[component.members] = draw(st.lists(_stage(component.stage, depth - 1), max_size=3)) if depth else []
    ways = [(key, (_ABSENT, *values)) for key, values in component.parameters.items()]
    size = 1
    for _, values in ways:
        size *= len(values)
    drawn = draw(number(size - 1)) if ways else 0  # one choice for all parameters
    for key, values in ways:
        drawn, place = divmod(drawn, len(values))
        if values[place] is not _ABSENT:
            part[key] = values[place]
    return part


_OPTIONAL = {stage: maybe(_stage(stage), last) for stage, last in STAGES.items()}
_stages = _draw_stages()

#: Special tokens; some begin, end or hold another.
_SPECIAL = (
    *("<s>", "a", "</s>", "<s>x", "s>", "<<s>", "<S>", "aa", "ab", "aba", "[MASK]", "[M", "K]", "<|end|>", "|end|>"),
    *("<|end", "<|endoftext|>", "[CLS]", "é", "É", "e", "İ", "A B", "B.", "a.", "Σ", "<pad>", " x", "▁"),
)


@st.composite
def special_tokens(draw: Draw, ascii_only: bool) -> list[str]:
    """Draw one to four special tokens; with ``ascii_only`` none has a character that stands for another byte."""
    drawn = [_SPECIAL[code % len(_SPECIAL)] for code in codes(draw(coded(len(_SPECIAL) * 8, 1, 4)))]
    return [token for token in dict.fromkeys(drawn) if token.isascii() or not ascii_only] or ["<s>"]


def components_of(model: Mapping[str, Any]) -> frozenset[str]:
    """Name what a model has: its type, the components of its stages with their parameters, and its other keys.

    >>> sorted(components_of({"type": "bpe", "vocabulary": ["a"], "normalizer": {"type": "bert", "lowercase": True}}))
    ['model/bpe', 'normalizer/bert', 'normalizer/bert/lowercase']
    """
    return frozenset(_components_of(model))


#: Keys of a model that say nothing of it, since every model of its type has them.
_ORDINARY = ("type", "vocabulary", "merges", "tokens")


def _components_of(model: Mapping[str, Any]) -> Iterator[str]:
    if "type" in model:
        yield f"model/{model['type']}"
    for key, value in model.items():
        if isinstance(value, Mapping):
            yield from _parts(key, value)
        elif key not in _ORDINARY:
            yield key


def _parts(stage: str, part: Mapping[str, Any]) -> Iterator[str]:
    name = f"{stage}/{part['type']}"
    yield name
    for key, value in part.items():
        if isinstance(value, list) and all(isinstance(each, Mapping) and "type" in each for each in value):
            yield from (each for member in value for each in _parts(stage, member))
        elif key != "type":
            yield f"{name}/{key}"
