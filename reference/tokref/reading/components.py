"""The stages around a model: the types of each, and how their parameters are read.

A parameter is what the function of a component, in its chapter, takes by name alone. The function says its default, and
its type, which tells how it is read.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, signature
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tokref.charsmap import CharacterMap, read_map
from tokref.choices import Choices
from tokref.decoding import DECODERS
from tokref.errors import InputError, brief
from tokref.normalization import NORMALIZERS
from tokref.patterns import Pattern
from tokref.post_processing import POST_PROCESSORS, NamedTokens, Template, TokenAndId
from tokref.pre_tokenization import PRE_TOKENIZERS
from tokref.reading.ceilings import LimitedMap, TimedPattern, refuse_deep, refuse_heavy_pattern
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
from tokref.values import Character, Component, Padding, Positive, Truncation


def _parameters(functions: Mapping[str, Callable[..., Any]]) -> Mapping[str, Mapping[str, tuple[Any, Any]]]:
    """Return, for each type of a stage, the type and the default of its parameters."""
    found: dict[str, Mapping[str, tuple[Any, Any]]] = {}
    for name, function in functions.items():
        hints = get_type_hints(function.func if isinstance(function, partial) else function, include_extras=True)
        taken = [each for each in signature(function).parameters.values() if each.kind is Parameter.KEYWORD_ONLY]
        found[name] = {each.name: (hints[each.name], each.default) for each in taken}
    return found


PARAMETERS = {
    "normalizer": _parameters(NORMALIZERS),
    "pre_tokenizer": _parameters(PRE_TOKENIZERS),
    "post_processor": _parameters(POST_PROCESSORS),
    "decoder": _parameters(DECODERS),
}


def _read_component(stage: str, read: Reader, value: Any) -> Component:
    """Return a component with every parameter; ``read`` reads the components of a sequence."""
    refuse_deep(stage, value)
    given = dict(read_mapping(f"a {stage}", value))
    name, types = given.pop("type", None), PARAMETERS[stage]
    if not isinstance(name, str) or name not in types:
        refuse(f"{stage} type {brief(name)} is unknown; give one of {', '.join(types)}")
    readers = {key: _reader_of(hint, read) for key, (hint, _) in types[name].items()}
    found = read_keys(f"the {stage} {name}", given, readers)
    defaults = {key: default for key, (_, default) in types[name].items()}
    for key, default in defaults.items():
        if key not in found and default is Parameter.empty:
            refuse(f"the {stage} {name} needs the key {key}")
    return Component(name, defaults | found)


def _reader_of(hint: Any, read: Reader) -> Reader:
    """Return what reads a parameter of a type."""
    if hint == tuple[Component, ...]:
        return lambda value: tuple(map(read, read_list(value)))
    return read_option(*get_args(hint)) if get_origin(hint) is Literal else READERS[hint]


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


def read_normalizer(value: Any) -> Component:
    return _read_component("normalizer", read_normalizer, value)


def read_pre_tokenizer(value: Any) -> Component:
    return _read_component("pre_tokenizer", read_pre_tokenizer, value)


def read_decoder(value: Any) -> Component:
    return _read_component("decoder", read_decoder, value)


def read_post_processor(value: Any) -> Component:
    component = _read_component("post_processor", read_post_processor, value)
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


READERS: Mapping[Any, Reader] = {
    bool: read_boolean,
    bool | None: read_boolean,  # leaving it out has a meaning of its own (NORM-BERT-5)
    str: read_text,
    Character: read_character,
    int: partial(read_integer, smallest=0),
    Positive: partial(read_integer, smallest=1),  # PRE-FIXED-2
    Pattern: _read_pattern,
    CharacterMap: _read_map,
    TokenAndId: _read_token_and_id,
    Template: _read_template,
    NamedTokens: _read_template_tokens,
}
"""What reads a parameter, by the type that the function of a component says."""
