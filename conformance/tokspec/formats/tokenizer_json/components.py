"""The components of a ``tokenizer.json``, read and written by the table of components.

The names are those of the enums of tokenizers. This module has the details of the file that are not in the table: how
each form is written, keys without effect, and what versions before 0.15 wrote differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tokspec.formats.tokenizer_json.fields import (
    BASE64,
    BOOLEAN,
    CHARACTER,
    COUNT,
    ID,
    NOTHING,
    PATTERN,
    TEXT,
    TOKEN,
    Component,
    Field,
    Form,
    Kinds,
    at,
    list_of,
    object_at,
    object_of,
    one_of,
    optional,
    part,
    read_component,
    show,
    single,
    write_component,
    wrong,
)
from tokspec.suite.components import (
    BEHAVIOR,
    CUTTING,
    DIRECTION,
    NO_DEFAULT,
    SCHEME,
    Parameter,
    members_of,
    row_of,
    rows_of,
)
from tokspec.suite.components import Component as Row


def _names(options: Sequence[str]) -> Form:
    """Build the form of names that the file writes in camel case.

    >>> _names(("merged_with_next",)).read("MergedWithNext", "behavior")
    'merged_with_next'
    """
    return one_of({"".join(map(str.capitalize, name.split("_"))): name for name in options})


def _finish_metaspace(part: Mapping[str, Any], found: dict[str, Any], key: str) -> dict[str, Any]:
    """Read the scheme of older versions, which said only whether the replacement is put before a text."""
    before = part.get("add_prefix_space")
    if before is None:
        return found
    if type(before) is not bool:
        raise wrong(f"is {show(before)}, which is not true or false", at(key, "add_prefix_space"))
    if "prepend_scheme" not in part:
        return {**found, "prepend_scheme": "always" if before else "never"}
    if not before and part["prepend_scheme"] != "never":
        raise wrong(f"is false, and prepend_scheme is {show(part['prepend_scheme'])}", at(key, "add_prefix_space"))
    return found


def _finish_metaspace_decoder(part: Mapping[str, Any], found: dict[str, Any], key: str) -> dict[str, Any]:
    finished = _finish_metaspace(part, found, key)
    return {name: value for name, value in finished.items() if (name, value) != ("prepend_scheme", "always")}


_SEQUENCE = Component("", "", (Field("id", "sequence", one_of({"A": "A", "B": "B"})), Field("type_id", "type_id", ID)))
_SPECIAL = Component("", "", (Field("id", "special", TEXT), Field("type_id", "type_id", ID)))
_NAMED = single([("Sequence", "sequence", object_of(_SEQUENCE)), ("SpecialToken", "special", object_of(_SPECIAL))])


def _read_item(value: Any, key: str) -> dict[str, Any]:
    ((_, item),) = _NAMED.read(value, key).items()
    return dict(item)


def _write_item(item: Mapping[str, Any]) -> dict[str, Any]:
    return (
        {"Sequence": write_component(_SEQUENCE, item)}
        if "sequence" in item
        else {"SpecialToken": write_component(_SPECIAL, item)}
    )


_ITEMS = list_of(Form(_read_item, _write_item, _NAMED.values))
_INSERTED = Component(
    "",
    "",
    (
        Field("id", "name", TEXT),
        Field("ids", "ids", list_of(ID)),
        Field("tokens", "tokens", list_of(TEXT)),
    ),
)


def _read_inserted(value: Any, key: str) -> list[dict[str, Any]]:
    """Read the definitions of a template's names: an object in the file, whose members repeat their names."""
    found = []
    for name, member in object_at(value, key).items():
        here = at(key, name)
        inserted = read_component(_INSERTED, object_at(member, here), here)
        if inserted["name"] != name:
            raise wrong(f"is {show(inserted['name'])}, but its key is {show(name)}", at(here, "id"))
        if len(inserted["ids"]) != len(inserted["tokens"]):
            raise wrong(
                f"has {len(inserted['tokens'])} entries, but ids has {len(inserted['ids'])}", at(here, "tokens")
            )
        found.append(inserted)
    return found


def _write_inserted(inserted: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {member["name"]: write_component(_INSERTED, member) for member in inserted}


def _finish_template(part: Mapping[str, Any], found: dict[str, Any], key: str) -> dict[str, Any]:
    """Refuse undefined names, at which tokenizers ends, and templates whose texts are missing or don't exist."""
    names = {inserted["name"] for inserted in found["special_tokens"]}
    for template in ("single", "pair"):
        for index, item in enumerate(found[template]):
            here = f"{at(key, template)}[{index}]"
            if "special" in item and item["special"] not in names:
                raise wrong(f"names {show(item['special'])}, which special_tokens does not have", here)
            if template == "single" and item.get("sequence") == "B":
                raise wrong("names the sequence B, and a single text is A", here)
    if {item.get("sequence") for item in found["pair"]} - {None} != {"A", "B"}:
        raise wrong("does not have both of the sequences A and B", at(key, "pair"))
    return found


def _read_strategy(value: Any, key: str) -> Any:
    if isinstance(value, str) and value != "BatchLongest":
        raise wrong(f"is {show(value)}, which is not BatchLongest or an object with the key Fixed", key)
    return "batch_longest" if isinstance(value, str) else _FIXED.read(value, key)


def _write_strategy(value: Any) -> Any:
    return "BatchLongest" if value == "batch_longest" else _FIXED.write(value)


_FIXED = single([("Fixed", "fixed", COUNT)])


_SCHEMES = one_of({name: name for name in SCHEME.options})

#: The forms in the file, by the names of forms in the table of components.
_FORMS: Mapping[str, Form] = {
    "flag": BOOLEAN,
    "flag_or_null": optional(BOOLEAN),
    "text": TEXT,
    "word": TEXT,
    "character": CHARACTER,
    "character_map": BASE64,
    "text_or_pattern": PATTERN,
    "behavior": _names(BEHAVIOR.options),
    "scheme": _SCHEMES,
    "direction": _names(DIRECTION.options),
    "cutting": _names(CUTTING.options),
    "filling": Form(_read_strategy, _write_strategy, {"BatchLongest": "batch_longest", "Fixed": "fixed"}),
    "count": COUNT,
    "id": ID,
    "token_and_id": TOKEN,
    "template": _ITEMS,
    "inserted": Form(_read_inserted, _write_inserted),
}

#: Parameters whose form in the file differs from the usual form of their kind.
_ODD_FORMS: Mapping[str, Form] = {
    # For decoding, only whether there is a scheme matters, so nothing else is read.
    "decoder/metaspace/prepend_scheme": replace(
        one_of({"always": "always", "first": "always", "never": "never"}), write=_SCHEMES.write
    ),
    # 0 means no multiple.
    "padding/pad_to_multiple_of": Form(lambda value, key: optional(COUNT).read(value, key) or None),
}

#: The meaning of a missing key, which the versions that wrote the file did not know.
_ABSENT: Mapping[str, Any] = {
    "normalizer/bert/strip_accents": None,
    "pre_tokenizer/byte_level/use_regex": True,
    "pre_tokenizer/metaspace/prepend_scheme": "always",
    "pre_tokenizer/metaspace/split": True,
    "pre_tokenizer/punctuation/behavior": "isolated",
    "pre_tokenizer/fixed_length/length": 5,
    "decoder/metaspace/prepend_scheme": "always",
    "post_processor/byte_level/use_regex": True,
    "truncation/direction": "right",
    "padding/pad_to_multiple_of": None,
}

_METASPACE_LEGACY = ("add_prefix_space", "str_rep")

#: The keys that a component has in the file in addition to its parameters.
_ODD: Mapping[str, Mapping[str, Any]] = {
    # The trimming of offsets belongs to the post-processor of this name.
    "pre_tokenizer/byte_level": {"silent": {"trim_offsets": False}},
    "pre_tokenizer/metaspace": {"ignored": _METASPACE_LEGACY, "finish": _finish_metaspace},
    # None of the keys of the decoder with this name has an effect.
    "decoder/byte_level": {"silent": {"add_prefix_space": False, "trim_offsets": False, "use_regex": True}},
    "decoder/metaspace": {
        "silent": {"split": True},
        "ignored": _METASPACE_LEGACY,
        "finish": _finish_metaspace_decoder,
    },
    "post_processor/template": {
        # A published file whose processor was once a ByteLevel still has its keys.
        "ignored": ("add_prefix_space", "trim_offsets", "use_regex"),
        "finish": _finish_template,
    },
}


def _component(row: Row) -> Component:
    return Component(
        row.theirs, row.type, tuple(_field(row, each) for each in row.parameters), **_ODD.get(row.name, {})
    )


def _field(row: Row, parameter: Parameter) -> Field:
    name = f"{row.name}/{parameter.name}"
    if parameter.name == members_of(row.stage):
        form = list_of(part(lambda: KINDS[row.stage]))
    else:
        form = _ODD_FORMS.get(name) or _FORMS[parameter.form.name]
    unsaid = NOTHING
    if parameter.default is NO_DEFAULT:
        unsaid = None
    elif parameter.beyond:
        unsaid = parameter.default
    return Field(parameter.key, parameter.name, form, _ABSENT.get(name, NOTHING), unsaid)


#: The components that each stage can have.
KINDS: Mapping[str, Kinds] = {
    stage: Kinds(tuple(_component(row) for row in rows_of(stage) if row.theirs))
    for stage in ("normalizer", "pre_tokenizer", "post_processor", "decoder")
}
TRUNCATION = _component(row_of("truncation"))
PADDING = _component(row_of("padding"))
