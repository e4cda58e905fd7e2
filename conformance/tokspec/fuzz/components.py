"""The stages around a model, drawn from the table of components, and the values of parameters that are worth drawing.

A new component needs no entry here if the forms of its parameters define their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from tokspec.fuzz.characters import CHARACTER_MAPS
from tokspec.fuzz.drawing import chance, maybe
from tokspec.suite.components import NEEDED, Component, Parameter, members_of, row_of, rows_of

_Value = TypeVar("_Value")

_BOTH = (True, False)

#: Characters that are special in patterns, in formats, or for implementations that count in units.
_SIGNS = ("a", " ", "é", "|", ".", "$", "\\", "\n", "\U0001f600", "\0")

#: The parts of regular expressions: each atom occurs alone, repeated in every way, and next to others. No atom has
#: empty matches, because no clause says what replacing one gives.
_ATOMS = re.findall(
    r"\S+",
    r"a \s \p{L} \d . [aA] [^ab] \S \D (?i:A) (?i:s) (?i:k) (a|ab) (?:ab) \p{Lu} \P{L} \p{^L} \p{N} \p{M} \p{Han} "
    r"\p{Hiragana} \p{Katakana} \p{Hangul} \p{Thai} [^A-Z&&\p{L}] [\p{L}\p{N}&&[^a]] [a-zA&&\p{Ll}] [^\s\p{L}] [\s\d] "
    r"[\p{^L}] [^\P{L}] [b-dé] [^.] [.$] \v \f \t \x0A \x{1F600} \u00e9 \. \$ [^a[bc]] [^a[^b]] (?i:é) (?i:σ) (?i:[k]) "
    r"\w \W \h \H [\w-] [^\w\s] [\hé] \p{Latin} \P{Greek} \p{Common} \p{Alphabetic} \p{Lowercase} (?>ab|a)",
)
_REPEATS = ("+", "+?", "++", "{2}", "{1,2}", "{2,}", "{1,2}?", "{1,2}+", "*b", "?b", "*?b", "??b", "*+b", "?+b")
_JOINED = re.findall(
    r"\S+",
    r"\s+(?!\S) \p{L}+\d? a$ (a)(b) a|ab ab|a (?<=a)b (?<!a)b a(?=b) a(?!b) a+ab a++ab a?+a (?:a|b)+?b .+a \s$ .$ "
    r"(?<=\s)a \p{N}{1,3}+1 (?:a{1,2})+b \ba a\b \Ba a\B \Aa a\z a\Z \Ga|b ^a \n^ (a|b)\1 (.)\1+ (?>a|ab)b (?>a+)b",
)
_JOINED += [r" ?\p{L}+", r"(?i:'s|'t)| ?\p{L}+| ?\p{N}+|\s+(?!\S)|\s+"]

#: Strings and patterns to replace, or to split at.
_STRINGS = (*_SIGNS, "ab", "aa", "▁", "a|b", "[a]", "a.", "A", "(?i)a")
_PATTERNS = (
    *({"string": string} for string in _STRINGS),
    *({"regex": regex} for regex in (*_ATOMS, *_JOINED) * 5),
    *({"regex": atom + repeat} for atom in _ATOMS for repeat in _REPEATS),
)

#: Replacements of patterns; some languages take the later ones for a match, a group or an escape.
_CONTENTS = ("", "b", "▁", " ", "aa", "a", "$0", "$1", "$&", "$$", "${0}", r"\1", r"\g<0>", "\\", r"\\", r"\n", "&")
#: The tokens that post-processors add: one before and some after, with ids that no vocabulary need have.
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


def _template(written: str) -> list[dict[str, Any]]:
    """Read a template: ``<`` and ``>`` are the tokens before and after, a digit is the type id of the item before it.

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


#: The weight with which a component is drawn among those of its stage, if it is not 1.
_SHARES: Mapping[str, int] = {
    "normalizer/bert": 4,
    "normalizer/replace": 2,
    "normalizer/sentencepiece": 2,
    "pre_tokenizer/bert": 2,
    "pre_tokenizer/metaspace": 3,
    "pre_tokenizer/byte_level": 4,
    "pre_tokenizer/split": 5,
    "decoder/byte_level": 2,
    "decoder/metaspace": 2,
    "decoder/wordpiece": 2,
    "decoder/sentencepiece": 2,
    "post_processor/template": 3,
    "post_processor/byte_level": 2,
    "truncation": 3,
}

#: The values of each form that are worth drawing; a value that is listed twice is twice as likely.
_OF_FORM: Mapping[str, tuple[Any, ...]] = {
    "flag": _BOTH,
    "flag_or_null": (None, True, False),
    "count": (0, 1, 2),
    "character": _SIGNS,
    "text": _CONTENTS,
    "character_map": CHARACTER_MAPS,
    "text_or_pattern": _PATTERNS,
    "token_and_id": (["</s>", 1], ["a", 0]),
    "inserted": _NAMED,
}

#: The values worth drawing of parameters whose form does not determine them.
_VALUES: Mapping[str, tuple[Any, ...]] = {
    "normalizer/prepend/prefix": ("▁", "a", "ab", "$"),
    "normalizer/sentencepiece/charsmap": CHARACTER_MAPS[:4],
    "pre_tokenizer/metaspace/replacement": ("▁", "_", "Ġ", "a", ".", "\U0001f600"),
    "pre_tokenizer/metaspace/prepend_scheme": ("first", "always", "first", "never"),
    "pre_tokenizer/byte_level/add_prefix_space": (False, True),
    "pre_tokenizer/fixed_length/length": (2, 1, 3),
    "decoder/metaspace/replacement": ("▁", "_", "a", "."),
    "decoder/wordpiece/prefix": ("##", "@", "a", "#", ""),
    "decoder/strip/content": ("a", " ", "▁", "\U0001f600"),
    "decoder/bpe/suffix": ("</w>", "a", "", "."),
    "decoder/ctc/pad_token": ("<pad>", "a", "b"),
    "decoder/ctc/word_delimiter_token": ("|", "▁", "a", "aa"),
    "decoder/sentencepiece/unk_surface": (" ⁇ ", "", "▁a"),
    "post_processor/template/single": tuple(map(_template, ("A", "<A", "<A>", "A>", "A1", "<1A>", "AA1", "<", "A>>"))),
    "post_processor/template/pair": tuple(
        map(_template, ("AB", "<A>B>", "<A>>B1>1", "BA", "A1B", "<A1B>", "ABA", "AB1B"))
    ),
    "post_processor/bert/cls": (["<s>", 0],),
    "post_processor/roberta/cls": (["<s>", 0],),
    "truncation/max_length": (4, 2, 3, 6, 5, 8, 4, 2, 3, 6, 5, 8, 1, 0),
    "truncation/strategy": (*("longest_first",) * 3, "only_first", "only_second"),
    "truncation/stride": (0, 1, 1),
    "truncation/direction": ("right", "left"),
    "padding/strategy": ("batch_longest", {"fixed": 3}, {"fixed": 6}, {"fixed": 0}),
    "padding/direction": ("right", "left"),
    "padding/pad_to_multiple_of": (2, 3, 4, 1, 0),
    "padding/id": (0, 7, 2**32 - 1),
    "padding/type_id": (0, 1),
    "padding/token": ("<pad>", "a", ""),
}


def values_of(row: Component, parameter: Parameter) -> tuple[Any, ...]:
    """Return the values of a parameter that are worth drawing.

    Raises:
        KeyError: they are not listed, and its form is not one of a few names.
    """
    name = f"{row.name}/{parameter.name}"
    return _VALUES.get(name) or parameter.form.options or _OF_FORM[parameter.form.name]


#: The stages, and the last value of the branch that decides whether a stage is left out: with 1, half have it.
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
    """Draw some of the stages, each with components that fit."""
    return _stages


@st.composite
def _draw_stages(draw: st.DrawFn) -> dict[str, Any]:
    drawn = {stage: draw(strategy) for stage, strategy in _OPTIONAL.items()}
    truncation = drawn["truncation"] or {}
    if truncation.get("stride", 0) >= truncation.get("max_length", 2):
        truncation.pop("stride", None)  # otherwise TRUNC-9 refuses the model
    kind = (drawn["pre_tokenizer"] or {}).get("type", "")
    if kind in ("byte_level", "metaspace") and chance(draw, 40):  # a decoder that reverses it
        drawn["decoder"] = {"type": kind}
    if (drawn["post_processor"] or {}).get("type") in ("byte_level", "roberta") and chance(draw, 66):
        drawn["pre_tokenizer"] = {"type": "byte_level", "use_regex": False}  # this leaves them something to trim
    return {stage: part for stage, part in drawn.items() if part is not None}


@cache
def _stage(stage: str, depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a component of a stage; sequences are nested up to a depth."""
    return _one_of([(_part(row, depth), _SHARES.get(row.name, 1)) for row in rows_of(stage)])


@st.composite
def _one_of(draw: st.DrawFn, shares: list[tuple[st.SearchStrategy[_Value], int]]) -> _Value:
    """Draw from one of several strategies, each as often as its share; ``st.one_of`` has no shares."""
    listed = [strategy for strategy, share in shares for _ in range(share)]
    return draw(listed[draw(st.integers(0, len(listed) - 1))])


def _part(row: Component, depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """Draw the parameters of a component, and the members of a sequence."""
    keys: dict[str, st.SearchStrategy[Any]] = {"type": st.just(row.type)} if row.type else {}
    if row.type == "sequence":
        members = st.lists(_stage(row.stage, depth - 1), max_size=3) if depth else st.just([])
        keys[members_of(row.stage)] = members.map(_fitting) if row.stage == "post_processor" else members
        return st.fixed_dictionaries(keys)
    for each in row.parameters:
        absent = () if each.default is NEEDED else (_ABSENT,)
        keys[each.name] = st.sampled_from((*absent, *values_of(row, each)))
    return st.fixed_dictionaries(keys).map(_present)


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not _ABSENT}


def _fitting(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out every post-processor that inserts tokens after the first that does, because this is not specified.

    Clauses: POST-SEQUENCE-1.
    """
    first = next((part for part in members if _puts_in_tokens(part)), None)
    return [part for part in members if part is first or not _puts_in_tokens(part)]


def _puts_in_tokens(part: Mapping[str, Any]) -> bool:
    return part["type"] in ("template", "bert", "roberta") or bool(part.get("post_processors"))


_OPTIONAL = {stage: maybe(_stage(stage), last) for stage, last in STAGES.items()}
_stages = _draw_stages()

#: Special tokens; some are a prefix, a suffix or a part of another, which is next to them in the list.
_SPECIAL = (
    *("<s>", "<s>x", "s>", "<<s>", "<S>", "a", "aa", "ab", "aba", "a.", "[MASK]", "[M", "K]", "[CLS]", "</s>"),
    *("<|end|>", "<|end", "|end|>", "<|endoftext|>", "é", "É", "e", "İ", "A B", "B.", "Σ", "<pad>", " x", "▁", "b"),
    *("  ", "  a", "a  ", "\n\n"),
)


@st.composite
def special_tokens(draw: st.DrawFn, ascii_only: bool) -> list[str]:
    """Draw one to four special tokens; the second is near the first in the list.

    With ``ascii_only``, none has a character that stands for a different byte.
    """
    first = draw(st.integers(0, len(_SPECIAL) - 1))
    near = draw(st.lists(st.sampled_from(_SPECIAL[first : first + 4]), max_size=1))
    others = draw(_OTHER_SPECIAL)
    tokens = dict.fromkeys([_SPECIAL[first], *near, *others])
    return [token for token in tokens if token.isascii() or not ascii_only] or ["<s>"]


_OTHER_SPECIAL = st.lists(st.sampled_from(_SPECIAL), max_size=2)

_SOME_FLAGS = st.fixed_dictionaries(
    {flag: st.sampled_from((_ABSENT, *_BOTH)) for flag in row_of("added_token").defaults}
).map(_present)


@st.composite
def added_tokens(draw: st.DrawFn, contents: list[str]) -> list[dict[str, Any]]:
    """Draw the descriptions of added tokens, in which any flag may be given or left out."""
    return [{"content": content, **draw(_SOME_FLAGS)} for content in contents]


def components_of(model: Mapping[str, Any]) -> frozenset[str]:
    """Name the components of a model: its type, the components of its stages with their parameters, and its other keys.

    >>> sorted(components_of({"type": "bpe", "vocabulary": ["a"], "normalizer": {"type": "bert", "lowercase": True}}))
    ['model/bpe', 'normalizer/bert', 'normalizer/bert/lowercase']
    """
    return frozenset(_components_of(model))


#: Keys that every model of a type has, and that therefore say nothing about it.
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
