"""The stages around a model: one table of components, from which stages are drawn, named and given their clauses.

A new normalizer, pre-tokenizer or decoder is an entry of ``COMPONENTS``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from tokspec.laboratory.fuzz.characters import CHARACTER_MAPS
from tokspec.laboratory.fuzz.drawing import chance, maybe

__all__ = ["COMPONENTS", "STAGES", "Component", "added_tokens", "components_of", "special_tokens", "stages"]

_Value = TypeVar("_Value")

_BOTH = (True, False)

#: Characters that mean something in patterns, in formats, or to those who count in units.
_SIGNS = ("a", " ", "é", "|", ".", "$", "\\", "\n", "\U0001f600", "\0")

#: What regular expressions are made of: each atom stands alone, is repeated in every way, and stands beside others.
#: None matches nothing, since no clause says what becomes of such a match.
_ATOMS = re.findall(
    r"\S+",
    r"a \s \p{L} \d . [aA] [^ab] \S \D (?i:A) (?i:s) (?i:k) (a|ab) (?:ab) \p{Lu} \P{L} \p{^L} \p{N} \p{M} \p{Han} "
    r"\p{Hiragana} \p{Katakana} \p{Hangul} \p{Thai} [^A-Z&&\p{L}] [\p{L}\p{N}&&[^a]] [a-zA&&\p{Ll}] [^\s\p{L}] [\s\d] "
    r"[\p{^L}] [^\P{L}] [b-dé] [^.] [.$] \v \f \t \x0A \x{1F600} \u00e9 \. \$ [^a[bc]] [^a[^b]] (?i:é) (?i:σ) (?i:[k])",
)
_REPEATS = ("+", "+?", "++", "{2}", "{1,2}", "{2,}", "{1,2}?", "{1,2}+", "*b", "?b", "*?b", "??b", "*+b", "?+b")
_JOINED = re.findall(
    r"\S+",
    r"\s+(?!\S) \p{L}+\d? a$ (a)(b) a|ab ab|a (?<=a)b (?<!a)b a(?=b) a(?!b) a+ab a++ab a?+a (?:a|b)+?b .+a \s$ .$ "
    r"(?<=\s)a \p{N}{1,3}+1 (?:a{1,2})+b",
)
_JOINED += [r" ?\p{L}+", r"(?i:'s|'t)| ?\p{L}+| ?\p{N}+|\s+(?!\S)|\s+"]

#: What is replaced, or cut at, and what stands in its place.
_STRINGS = (*_SIGNS, "ab", "aa", "▁", "a|b", "[a]", "a.", "A", "(?i)a")
_PATTERNS = (
    *({"string": string} for string in _STRINGS),
    *({"regex": regex} for regex in (*_ATOMS, *_JOINED) * 5),
    *({"regex": atom + repeat} for atom in _ATOMS for repeat in _REPEATS),
)

#: What patterns are replaced by; the later ones are what languages take for a match, a group or an escape.
_CONTENTS = ("", "b", "▁", " ", "aa", "a", "$0", "$1", "$&", "$$", "${0}", r"\1", r"\g<0>", "\\", r"\\", r"\n", "&")
_REPLACING = {"pattern": _PATTERNS, "content": _CONTENTS}
_STRATEGIES = (*("longest_first",) * 3, "only_first", "only_second")
_BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")

#: What post-processors add: a token before and some after, with ids that no vocabulary need have.
_NAMED = tuple(
    [{"name": "<s>", "ids": [0], "tokens": ["<s>"]}, {"name": "</s>", "ids": list(ids), "tokens": list(tokens)}]
    for ids, tokens in (
        ((1,), ("</s>",)),
        ((1, 2), ("</s>", "a")),
        ((1, 1), ("a", "a")),
        ((), ()),
        ((2**32 - 1,), ("",)),
    )
)
_ENDS = {"sep": (["</s>", 1], ["a", 0]), "cls": (["<s>", 0],)}


def _template(written: str) -> list[dict[str, Any]]:
    """Read a template: ``<`` and ``>`` are the tokens before and after, a digit is the type of what stands before it.

    >>> _template("A1>")
    [{'sequence': 'A', 'type_id': 1}, {'special': '</s>', 'type_id': 0}]
    """
    items: list[dict[str, Any]] = []
    for character in written:
        if character.isdigit():
            items[-1]["type_id"] = int(character)
        else:
            special = {"<": "<s>", ">": "</s>"}.get(character)
            items.append({**({"special": special} if special else {"sequence": character}), "type_id": 0})
    return items


@dataclass(frozen=True)
class Component:
    """A type of a stage.

    ``required`` are the values that each key has, ``parameters`` those of keys that may be left out. Without a type the
    stage is of one kind. ``members`` is the key of a sequence's parts. ``clauses`` are patterns of the ids of the
    clauses that it is about; ``share`` is how often it is drawn beside others.
    """

    stage: str
    type: str
    clauses: str
    share: int = 1
    parameters: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    required: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    members: str = ""

    @property
    def name(self) -> str:
        """What it is called in ``components_of``.

        >>> Component("normalizer", "nfc", "NORM-UNICODE-2").name
        'normalizer/nfc'
        """
        return f"{self.stage}/{self.type}" if self.type else self.stage


def _flags(names: str) -> dict[str, tuple[Any, ...]]:
    """Return parameters that are true or false.

    >>> _flags("left right")
    {'left': (True, False), 'right': (True, False)}
    """
    return dict.fromkeys(names.split(), _BOTH)


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
        parameters=_flags("clean_text handle_chinese_chars lowercase") | {"strip_accents": (None, True, False)},
    ),
    Component("normalizer", "sequence", "NORM-SEQUENCE-*", members="normalizers"),
    Component(
        "normalizer",
        "replace",
        "NORM-REPLACE-* PATTERN-*",
        share=2,
        required={"pattern": _PATTERNS, "content": _CONTENTS},
    ),
    Component("normalizer", "prepend", "NORM-PREPEND-*", required={"prefix": ("▁", "a", "ab", "$")}),
    Component("normalizer", "precompiled", "NORM-MAP-*", required={"charsmap": CHARACTER_MAPS}),
    Component(
        "normalizer",
        "sentencepiece",
        "SP-NORM-* NORM-MAP-*",
        share=2,
        parameters={"charsmap": CHARACTER_MAPS[:4]}
        | _flags("add_dummy_prefix remove_extra_whitespaces escape_whitespaces treat_whitespace_as_suffix"),
    ),
    Component("normalizer", "strip", "NORM-STRIP-*", parameters=_flags("left right")),
    Component("pre_tokenizer", "whitespace_split", "PRE-SPACE-*"),
    Component("pre_tokenizer", "bert", "PRE-BERT-*", share=2),
    Component(
        "pre_tokenizer",
        "metaspace",
        "PRE-META-*",
        share=3,
        parameters={
            "replacement": ("▁", "_", "Ġ", "a", ".", "\U0001f600"),
            "split": _BOTH,
            "prepend_scheme": ("first", "always", "first", "never"),
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
    Component(
        "pre_tokenizer",
        "split",
        "PRE-SPLIT-* PATTERN-*",
        share=5,
        parameters={"invert": (True, False)},
        required={"pattern": _PATTERNS, "behavior": _BEHAVIORS},
    ),
    Component("pre_tokenizer", "digits", "PRE-DIGITS-*", parameters={"individual_digits": _BOTH}),
    Component("pre_tokenizer", "punctuation", "PRE-PUNCT-*", parameters={"behavior": _BEHAVIORS}),
    Component("pre_tokenizer", "whitespace", "PRE-WORDS-*"),
    Component("pre_tokenizer", "char_delimiter_split", "PRE-DELIMITER-*", required={"delimiter": _SIGNS}),
    Component("decoder", "byte_level", "DEC-BYTE-*", share=2),
    Component(
        "decoder",
        "metaspace",
        "DEC-META-*",
        share=2,
        parameters={"replacement": ("▁", "_", "a", "."), "prepend_scheme": ("always", "first", "never")},
    ),
    Component(
        "decoder", "wordpiece", "DEC-WP-*", share=2, parameters={"prefix": ("##", "@", "a", "#", ""), "cleanup": _BOTH}
    ),
    Component("decoder", "byte_fallback", "DEC-FALLBACK-*"),
    Component("decoder", "fuse", "DEC-FUSE-*"),
    Component(
        "decoder",
        "strip",
        "DEC-STRIP-*",
        required={"content": ("a", " ", "▁", "\U0001f600"), "start": (0, 1, 2), "stop": (0, 1, 2)},
    ),
    Component("decoder", "replace", "DEC-REPLACE-* PATTERN-*", required=_REPLACING),
    Component("decoder", "bpe", "DEC-BPE-*", required={"suffix": ("</w>", "a", "", ".")}),
    Component(
        "decoder",
        "sentencepiece",
        "SP-DEC-*",
        parameters={"add_dummy_prefix": _BOTH, "remove_extra_whitespaces": _BOTH, "unk_surface": (" ⁇ ", "", "▁a")},
        share=2,
    ),
    Component("decoder", "sequence", "DEC-SEQUENCE-*", members="decoders"),
    Component(
        "post_processor",
        "template",
        "POST-TEMPLATE-*",
        share=3,
        required={
            "single": tuple(map(_template, ("A", "<A", "<A>", "A>", "A1", "<1A>", "AA1", "<", "A>>"))),
            "pair": tuple(map(_template, ("AB", "<A>B>", "<A>>B1>1", "BA", "A1B", "<A1B>", "ABA", "AB1B"))),
            "special_tokens": _NAMED,
        },
    ),
    Component("post_processor", "bert", "POST-BERT-*", required=_ENDS),
    Component(
        "post_processor",
        "roberta",
        "POST-ROBERTA-*",
        required=_ENDS,
        parameters=_flags("trim_offsets add_prefix_space"),
    ),
    Component(
        "post_processor",
        "byte_level",
        "POST-BYTE-*",
        share=2,
        parameters=_flags("trim_offsets add_prefix_space use_regex"),
    ),
    Component("post_processor", "sequence", "POST-SEQUENCE-*", members="post_processors"),
    Component(
        "truncation",
        "",
        "TRUNC-*",
        share=3,
        required={"max_length": (4, 2, 3, 6, 5, 8), "strategy": _STRATEGIES},
        parameters={"stride": (0, 1, 1), "direction": ("right", "left")},
    ),
    Component("truncation", "", "TRUNC-*", required={"max_length": (1, 0), "strategy": _STRATEGIES}),
    Component(
        "padding",
        "",
        "PAD-*",
        required={"strategy": ("batch_longest", {"fixed": 3}, {"fixed": 6}, {"fixed": 0})},
        parameters={
            "direction": ("right", "left"),
            "pad_to_multiple_of": (2, 3, 4, 1, 0),
            "id": (0, 7, 2**32 - 1),
            "type_id": (0, 1),
            "token": ("<pad>", "a", ""),
        },
    ),
)

#: The stages, and the last value of the branch by which each may be left out: with 1 it is there half of the time.
STAGES: Mapping[str, int] = {
    "normalizer": 1,
    "pre_tokenizer": 1,
    "decoder": 2,
    "post_processor": 6,
    "truncation": 9,
    "padding": 10,
}

_ABSENT = object()


def stages() -> st.SearchStrategy[dict[str, Any]]:
    """Draw some of the stages, each with the parts that fit in it."""
    return _stages


@st.composite
def _draw_stages(draw: st.DrawFn) -> dict[str, Any]:
    drawn = {stage: draw(strategy) for stage, strategy in _OPTIONAL.items()}
    kind = (drawn["pre_tokenizer"] or {}).get("type", "")
    if kind in ("byte_level", "metaspace") and chance(draw, 40):  # a decoder that undoes it
        drawn["decoder"] = {"type": kind}
    if (drawn["post_processor"] or {}).get("type") in ("byte_level", "roberta") and chance(draw, 66):
        drawn["pre_tokenizer"] = {"type": "byte_level", "use_regex": False}  # which leaves them something to trim
    return {stage: part for stage, part in drawn.items() if part is not None}


@cache
def _stage(stage: str, depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a component of a stage; sequences lie within each other up to a depth."""
    return _one_of([(_part(each, depth), each.share) for each in COMPONENTS if each.stage == stage])


@st.composite
def _one_of(draw: st.DrawFn, shares: list[tuple[st.SearchStrategy[_Value], int]]) -> _Value:
    """Draw by one of some strategies, each as often as its share; ``st.one_of`` has no shares."""
    listed = [strategy for strategy, share in shares for _ in range(share)]
    return draw(listed[draw(st.integers(0, len(listed) - 1))])


def _part(component: Component, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Draw the parameters of a component, and the members of a sequence."""
    keys: dict[str, st.SearchStrategy[Any]] = {"type": st.just(component.type)} if component.type else {}
    if component.members:
        members = st.lists(_stage(component.stage, depth - 1), max_size=3) if depth else st.just([])
        keys[component.members] = members.map(_fitting) if component.stage == "post_processor" else members
    keys |= {key: st.sampled_from(values) for key, values in component.required.items()}
    keys |= {key: st.sampled_from((_ABSENT, *values)) for key, values in component.parameters.items()}
    return st.fixed_dictionaries(keys).map(_present)


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not _ABSENT}


def _fitting(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out each post-processor that puts in tokens behind the first such, which nothing specifies.

    Clauses: POST-SEQUENCE-1.
    """
    first = next((part for part in members if _puts_in_tokens(part)), None)
    return [part for part in members if part is first or not _puts_in_tokens(part)]


def _puts_in_tokens(part: Mapping[str, Any]) -> bool:
    return part["type"] in ("template", "bert", "roberta") or bool(part.get("post_processors"))


_OPTIONAL = {stage: maybe(_stage(stage), last) for stage, last in STAGES.items()}
_stages = _draw_stages()

#: Special tokens; some begin, end or hold another, and stand beside it.
_SPECIAL = (
    *("<s>", "<s>x", "s>", "<<s>", "<S>", "a", "aa", "ab", "aba", "a.", "[MASK]", "[M", "K]", "[CLS]", "</s>"),
    *("<|end|>", "<|end", "|end|>", "<|endoftext|>", "é", "É", "e", "İ", "A B", "B.", "Σ", "<pad>", " x", "▁", "b"),
    *("  ", "  a", "a  ", "\n\n"),
)


@st.composite
def special_tokens(draw: st.DrawFn, ascii_only: bool) -> list[str]:
    """Draw one to four special tokens, of which the second is near the first in the list.

    With ``ascii_only`` none has a character that stands for another byte.
    """
    first = draw(st.integers(0, len(_SPECIAL) - 1))
    near = draw(st.lists(st.sampled_from(_SPECIAL[first : first + 4]), max_size=1))
    others = draw(_OTHER_SPECIAL)
    tokens = dict.fromkeys([_SPECIAL[first], *near, *others])
    return [token for token in tokens if token.isascii() or not ascii_only] or ["<s>"]


_OTHER_SPECIAL = st.lists(st.sampled_from(_SPECIAL), max_size=2)

_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")
_SOME_FLAGS = st.fixed_dictionaries({flag: st.sampled_from((_ABSENT, *_BOTH)) for flag in _FLAGS}).map(_present)


@st.composite
def added_tokens(draw: st.DrawFn, contents: list[str]) -> list[dict[str, Any]]:
    """Draw what added tokens say of themselves: every flag may be given, or left out."""
    return [{"content": content, **draw(_SOME_FLAGS)} for content in contents]


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
    if any(not isinstance(token, str) for token in model.get("vocabulary", ())):
        yield "vocabulary_ids"
    for key, value in model.items():
        if isinstance(value, Mapping):
            yield from _parts(key, value)
        elif key not in _ORDINARY:
            yield key


def _parts(stage: str, part: Mapping[str, Any]) -> Iterator[str]:
    name = f"{stage}/{part['type']}" if "type" in part else stage
    yield name
    for key, value in part.items():
        if isinstance(value, list) and all(isinstance(each, Mapping) and "type" in each for each in value):
            yield from (each for member in value for each in _parts(stage, member))
        elif key != "type":
            yield f"{name}/{key}"
