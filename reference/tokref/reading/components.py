"""The stages around a model: the types of each, and how their parameters are read.

Which parameters have a default, and which, is said by the function of the component, in its chapter.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, signature
from typing import Any, get_args

from tokref.ceilings import LimitedMap, TimedPattern, refuse_deep, refuse_heavy_pattern
from tokref.charsmap import CharacterMap, read_map
from tokref.choices import Choices
from tokref.decoding import DECODERS
from tokref.errors import InputError, brief
from tokref.normalization import NORMALIZERS
from tokref.patterns import Pattern
from tokref.post_processing import POST_PROCESSORS
from tokref.pre_tokenization import PRE_TOKENIZERS, Behavior
from tokref.reading.shapes import (
    Reader,
    read_boolean,
    read_character,
    read_id,
    read_integer,
    read_keys,
    read_list,
    read_mapping,
    read_option,
    read_pair,
    read_text,
    refuse,
)
from tokref.values import Component, Padding, Truncation


def _read_component(
    stage: str, functions: Mapping[str, Callable[..., Any]], types: Mapping[str, Mapping[str, Reader]], value: Any
) -> Component:
    """Return a component with every parameter; the signature of its function says which have a default."""
    refuse_deep(stage, value)
    given = dict(read_mapping(f"a {stage}", value))
    name = given.pop("type", None)
    if not isinstance(name, str) or name not in functions:
        refuse(f"{stage} type {brief(name)} is unknown; give one of {', '.join(functions)}")
    readers = types.get(name, {})
    found = read_keys(f"the {stage} {name}", given, readers)
    defaults = {key: signature(functions[name]).parameters[key].default for key in readers}
    for key, default in defaults.items():
        if key not in found and default is Parameter.empty:
            refuse(f"the {stage} {name} needs the key {key}")
    return Component(name, defaults | found)


def _read_pattern(value: Any) -> Pattern:
    """Return a pattern: either the text that it matches, or a regular expression (PATTERN-2)."""
    given = read_mapping("a pattern", value)
    if len(given) != 1 or next(iter(given)) not in ("string", "regex"):
        refuse(f"the pattern {brief(value)} needs one of the keys string and regex")
    [(key, text)] = given.items()
    pattern = TimedPattern(read_text(text), is_regex=key == "regex")
    if pattern.is_regex:
        refuse_heavy_pattern(pattern.source)
    pattern.compile(Choices())  # a pattern that is wrong is refused with its model, not with the first text
    return pattern


def _read_map(value: Any) -> CharacterMap:
    """Return a character map, which is written in base64 (NORM-MAP-1)."""
    try:
        content = b64decode(read_text(value), validate=True)
    except ValueError:
        refuse(f"the character map {brief(value)} is not base64")
    found = read_map(content)
    return LimitedMap(found.units, found.replacements)


def _read_components(read: Reader) -> Reader:
    return lambda value: tuple(read(component) for component in read_list(value))


def read_normalizer(value: Any) -> Component:
    return _read_component("normalizer", NORMALIZERS, _NORMALIZERS, value)


def read_pre_tokenizer(value: Any) -> Component:
    return _read_component("pre_tokenizer", PRE_TOKENIZERS, _PRE_TOKENIZERS, value)


def read_decoder(value: Any) -> Component:
    return _read_component("decoder", DECODERS, _DECODERS, value)


def read_post_processor(value: Any) -> Component:
    component = _read_component("post_processor", POST_PROCESSORS, _POST_PROCESSORS, value)
    if component.type == "template":
        _check_template(component)
    if component.type == "sequence" and sum(map(_puts_in_tokens, component.parameters["post_processors"])) > 1:
        message = "a sequence has more than one post_processor that puts in tokens, which is not specified"
        raise InputError("unsupported", message)  # POST-SEQUENCE-1
    return component


def _puts_in_tokens(component: Component) -> bool:
    return component.type != "byte_level" and (
        component.type != "sequence" or any(map(_puts_in_tokens, component.parameters["post_processors"]))
    )


def _read_token_and_id(value: Any) -> tuple[str, int]:
    token, id = read_pair(value)
    return read_text(token), read_id(id)


def _read_template(value: Any) -> tuple[Component, ...]:
    return tuple(map(_read_template_item, read_list(value)))


def _read_template_item(value: Any) -> Component:
    given = read_mapping("an item of a template", value)
    readers: Mapping[str, Reader] = {
        "special": read_text,
        "sequence": read_option("A", "B"),
        "type_id": partial(read_integer, smallest=0),
    }
    found = {"type_id": 0} | read_keys("an item of a template", given, readers)
    if ("special" in found) == ("sequence" in found):
        refuse(f"the item {brief(value)} of a template has to have either special or sequence")
    return Component("special" if "special" in found else "sequence", found)


def _read_template_tokens(value: Any) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return the tokens with their ids that each name stands for."""
    readers = {"name": read_text, "ids": read_list, "tokens": read_list}
    tokens: dict[str, tuple[tuple[str, int], ...]] = {}
    for entry in read_list(value):
        found = read_keys(
            "a special token of a template", read_mapping("a special token of a template", entry), readers
        )
        for key in readers:
            if key not in found:
                refuse(f"a special token of a template needs the key {key}")
        name, ids, texts = found["name"], found["ids"], found["tokens"]
        if name in tokens:  # POST-TEMPLATE-4
            refuse(f"the special token {name!r} of a template is listed twice")
        if len(ids) != len(texts):  # POST-TEMPLATE-4
            refuse(f"the special token {name!r} of a template has {len(ids)} ids, and {len(texts)} tokens")
        tokens[name] = tuple(map(_read_token_and_id, zip(texts, ids, strict=True)))
    return tokens


def _check_template(component: Component) -> None:
    """Refuse a template that cannot be filled in (POST-TEMPLATE-4)."""
    known = component.parameters["special_tokens"]
    for key, texts in (("single", {"A"}), ("pair", {"A", "B"})):
        items = component.parameters[key]
        for item in items:
            if item.type == "special" and item.parameters["special"] not in known:
                refuse(f"the template {key} names {item.parameters['special']!r}, which is not in its special_tokens")
        found = {item.parameters["sequence"] for item in items if item.type == "sequence"}
        if key == "single" and "B" in found:
            refuse("the template single names the sequence B, which is in pairs only")
        for text in sorted(texts - found) if key == "pair" else ():
            refuse(f"the template pair does not name the sequence {text}")


def read_truncation(value: Any) -> Truncation:
    number = partial(read_integer, smallest=0)
    readers: Mapping[str, Reader] = {
        "max_length": number,
        "strategy": read_option("longest_first", "only_first", "only_second"),
        "stride": number,
        "direction": read_option("right", "left"),
    }
    found = read_keys("the truncation", read_mapping("the truncation", value), readers)
    if "max_length" not in found:
        refuse("the truncation needs the key max_length")
    truncation = Truncation(**found)
    if truncation.stride and truncation.stride >= truncation.max_length:  # TRUNC-9
        refuse(f"the stride {truncation.stride} of the truncation is not below max_length {truncation.max_length}")
    return truncation


def read_padding(value: Any) -> Padding:
    number = partial(read_integer, smallest=0)
    readers: Mapping[str, Reader] = {
        "strategy": _read_padding_strategy,
        "direction": read_option("right", "left"),
        "pad_to_multiple_of": number,
        "id": read_id,
        "type_id": number,
        "token": read_text,
    }
    found = read_keys("the padding", read_mapping("the padding", value), readers)
    return Padding(fixed=found.pop("strategy", None), **found)


def _read_padding_strategy(value: Any) -> int | None:
    if value == "batch_longest":
        return None
    if not isinstance(value, Mapping) or set(value) != {"fixed"}:
        refuse(f"{brief(value)} is neither batch_longest nor an object with the key fixed alone")
    return read_integer(value["fixed"], smallest=0)


# How the parameters of each type are read that has some


_NORMALIZERS: Mapping[str, Mapping[str, Reader]] = {
    "bert": {
        "clean_text": read_boolean,
        "handle_chinese_chars": read_boolean,
        "strip_accents": read_boolean,
        "lowercase": read_boolean,
    },
    "replace": {"pattern": _read_pattern, "content": read_text},
    "prepend": {"prefix": read_text},
    "strip": {"left": read_boolean, "right": read_boolean},
    "precompiled": {"charsmap": _read_map},
    "sentencepiece": {
        "charsmap": _read_map,
        "add_dummy_prefix": read_boolean,
        "remove_extra_whitespaces": read_boolean,
        "escape_whitespaces": read_boolean,
        "treat_whitespace_as_suffix": read_boolean,
    },
    "sequence": {"normalizers": _read_components(read_normalizer)},
}

_PRE_TOKENIZERS: Mapping[str, Mapping[str, Reader]] = {
    "byte_level": {
        "add_prefix_space": read_boolean,
        "use_regex": read_boolean,
    },
    "metaspace": {
        "replacement": read_character,
        "prepend_scheme": read_option("always", "first", "never"),
        "split": read_boolean,
    },
    "split": {
        "pattern": _read_pattern,
        "behavior": read_option(*get_args(Behavior)),
        "invert": read_boolean,
    },
    "digits": {"individual_digits": read_boolean},
    "punctuation": {"behavior": read_option(*get_args(Behavior))},
    "char_delimiter_split": {"delimiter": read_character},
    "fixed_length": {"length": partial(read_integer, smallest=1)},  # PRE-FIXED-2
    "sequence": {"pre_tokenizers": _read_components(read_pre_tokenizer)},
}

_DECODERS: Mapping[str, Mapping[str, Reader]] = {
    "metaspace": {
        "replacement": read_character,
        "prepend_scheme": read_option("always", "first", "never"),
    },
    "wordpiece": {"prefix": read_text, "cleanup": read_boolean},
    "strip": {
        "content": read_character,
        "start": partial(read_integer, smallest=0),
        "stop": partial(read_integer, smallest=0),
    },
    "replace": {"pattern": _read_pattern, "content": read_text},
    "bpe": {"suffix": read_text},
    "ctc": {"pad_token": read_text, "word_delimiter_token": read_text, "cleanup": read_boolean},
    "sentencepiece": {
        "add_dummy_prefix": read_boolean,
        "remove_extra_whitespaces": read_boolean,
        "unk_surface": read_text,
    },
    "sequence": {"decoders": _read_components(read_decoder)},
}

_POST_PROCESSORS: Mapping[str, Mapping[str, Reader]] = {
    "template": {
        "single": _read_template,
        "pair": _read_template,
        "special_tokens": _read_template_tokens,
    },
    "bert": {
        "cls": _read_token_and_id,
        "sep": _read_token_and_id,
    },
    "roberta": {
        "cls": _read_token_and_id,
        "sep": _read_token_and_id,
        "trim_offsets": read_boolean,
        "add_prefix_space": read_boolean,
    },
    "byte_level": {
        "add_prefix_space": read_boolean,
        "trim_offsets": read_boolean,
        "use_regex": read_boolean,
    },
    "sequence": {"post_processors": _read_components(read_post_processor)},
}
