"""The components of a ``tokenizer.json``: each row is read and written by the same table.

The names are those of the enums of tokenizers; what of them is not covered stands at the end of its table, with the
reason. Where versions before 0.15 wrote another key, it is read too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tokspec.formats.tokenizer_json.fields import (
    BASE64,
    BOOLEAN,
    CHARACTER,
    COUNT,
    ID,
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
    same,
    show,
    single,
    write_component,
    wrong,
)

__all__ = ["DECODERS", "NORMALIZERS", "PADDING", "POST_PROCESSORS", "PRE_TOKENIZERS", "TRUNCATION"]

_BEHAVIORS = one_of(
    {
        "Removed": "removed",
        "Isolated": "isolated",
        "MergedWithPrevious": "merged_with_previous",
        "MergedWithNext": "merged_with_next",
        "Contiguous": "contiguous",
    }
)
_DIRECTIONS = one_of({"Right": "right", "Left": "left"})
_REPLACE = (Field("pattern", "pattern", PATTERN), Field("content", "content", TEXT))

NORMALIZERS: Kinds = Kinds(
    (
        Component("NFC", "nfc"),
        Component("NFD", "nfd"),
        Component("NFKC", "nfkc"),
        Component("NFKD", "nfkd"),
        Component("Lowercase", "lowercase"),
        Component("StripAccents", "strip_accents"),
        Component(
            "BertNormalizer",
            "bert",
            (
                *same(("clean_text", "handle_chinese_chars"), BOOLEAN),
                Field("strip_accents", "strip_accents", optional(BOOLEAN), absent=None),
                Field("lowercase", "lowercase", BOOLEAN),
            ),
        ),
        Component("Replace", "replace", _REPLACE),
        Component("Prepend", "prepend", (Field("prepend", "prefix", TEXT),)),
        Component("Strip", "strip", (Field("strip_left", "left", BOOLEAN), Field("strip_right", "right", BOOLEAN))),
        Component("Precompiled", "precompiled", (Field("precompiled_charsmap", "charsmap", BASE64),)),
        Component("Sequence", "sequence", (Field("normalizers", "normalizers", list_of(part(lambda: NORMALIZERS))),)),
    ),
    {
        "Nmt": "no published file has it by itself; the maps of Precompiled hold what it does",
        "ByteLevel": "it is byte_level as a normalizer, whose spans no two implementations agree on",
    },
)


def _finish_metaspace(part: Mapping[str, Any], found: dict[str, Any], key: str) -> dict[str, Any]:
    """Take the scheme of older versions, which said only whether the replacement is put before a text."""
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


_METASPACE_LEGACY = ("add_prefix_space", "str_rep")
_SCHEMES = one_of({"always": "always", "first": "first", "never": "never"})

#: To decode, it matters only whether there is a scheme, so that is all that is read.
_SCHEMES_TO_DECODE = replace(one_of({"always": "always", "first": "always", "never": "never"}), write=_SCHEMES.write)

PRE_TOKENIZERS: Kinds = Kinds(
    (
        Component("BertPreTokenizer", "bert"),
        Component(
            "ByteLevel",
            "byte_level",
            (
                Field("add_prefix_space", "add_prefix_space", BOOLEAN),
                Field("use_regex", "use_regex", BOOLEAN, absent=True),
            ),
            # The trimming of offsets belongs to the post-processor of this name.
            silent={"trim_offsets": False},
        ),
        Component(
            "Metaspace",
            "metaspace",
            (
                Field("replacement", "replacement", CHARACTER),
                Field("prepend_scheme", "prepend_scheme", _SCHEMES, absent="always"),
                Field("split", "split", BOOLEAN, absent=True),
            ),
            ignored=_METASPACE_LEGACY,
            finish=_finish_metaspace,
        ),
        Component("Whitespace", "whitespace"),
        Component("WhitespaceSplit", "whitespace_split"),
        Component("CharDelimiterSplit", "char_delimiter_split", (Field("delimiter", "delimiter", CHARACTER),)),
        Component("Digits", "digits", (Field("individual_digits", "individual_digits", BOOLEAN),)),
        Component("Punctuation", "punctuation", (Field("behavior", "behavior", _BEHAVIORS, absent="isolated"),)),
        Component(
            "Split",
            "split",
            (
                Field("pattern", "pattern", PATTERN),
                Field("behavior", "behavior", _BEHAVIORS),
                Field("invert", "invert", BOOLEAN),
            ),
        ),
        Component(
            "Sequence",
            "sequence",
            (Field("pretokenizers", "pre_tokenizers", list_of(part(lambda: PRE_TOKENIZERS))),),
        ),
    ),
    {
        "FixedLength": "no published file has it, and one implementation alone",
        "UnicodeScripts": "it follows a table of scripts of its own, older than Unicode's",
    },
)

DECODERS: Kinds = Kinds(
    (
        # What a decoder of this name does depends on none of its keys.
        Component(
            "ByteLevel", "byte_level", silent={"add_prefix_space": False, "trim_offsets": False, "use_regex": True}
        ),
        Component(
            "Metaspace",
            "metaspace",
            (
                Field("replacement", "replacement", CHARACTER),
                Field(
                    "prepend_scheme",
                    "prepend_scheme",
                    _SCHEMES_TO_DECODE,
                    absent="always",
                    unsaid="always",
                ),
            ),
            silent={"split": True},
            ignored=_METASPACE_LEGACY,
            finish=lambda part, found, key: _finish_metaspace_decoder(part, found, key),
        ),
        Component(
            "WordPiece",
            "wordpiece",
            (Field("prefix", "prefix", TEXT), Field("cleanup", "cleanup", BOOLEAN, unsaid=False)),
        ),
        Component("BPEDecoder", "bpe", (Field("suffix", "suffix", TEXT),)),
        Component("ByteFallback", "byte_fallback"),
        Component("Fuse", "fuse"),
        Component(
            "Strip",
            "strip",
            (Field("content", "content", CHARACTER), Field("start", "start", COUNT), Field("stop", "stop", COUNT)),
        ),
        Component("Replace", "replace", _REPLACE),
        Component("Sequence", "sequence", (Field("decoders", "decoders", list_of(part(lambda: DECODERS))),)),
    ),
    {"CTC": "it decodes what a model of speech puts out, and not what a tokenizer does"},
)


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
    """Read what a template's names stand for: an object in the file, whose members say their names again."""
    found = []
    for name, member in object_at(value, key).items():
        here = at(key, name)
        inserted = read_component(_INSERTED, object_at(member, here), here)
        if inserted["name"] != name:
            raise wrong(f"is {show(inserted['name'])}, and its key is {show(name)}", at(here, "id"))
        if len(inserted["ids"]) != len(inserted["tokens"]):
            raise wrong(f"are {len(inserted['tokens'])}, and ids are {len(inserted['ids'])}", at(here, "tokens"))
        found.append(inserted)
    return found


def _write_inserted(inserted: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {member["name"]: write_component(_INSERTED, member) for member in inserted}


def _finish_template(part: Mapping[str, Any], found: dict[str, Any], key: str) -> dict[str, Any]:
    """Refuse names that stand for nothing, where tokenizers ends, and texts that are not there or forgotten."""
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


_ENDS = (Field("sep", "sep", TOKEN), Field("cls", "cls", TOKEN))
_TRIMMED = same(("add_prefix_space", "trim_offsets"), BOOLEAN)

POST_PROCESSORS: Kinds = Kinds(
    (
        Component(
            "TemplateProcessing",
            "template",
            (
                Field("single", "single", _ITEMS),
                Field("pair", "pair", _ITEMS),
                Field("special_tokens", "special_tokens", Form(_read_inserted, _write_inserted)),
            ),
            # A published file, whose processor was a ByteLevel once, still has the keys of that.
            ignored=("add_prefix_space", "trim_offsets", "use_regex"),
            finish=_finish_template,
        ),
        Component("BertProcessing", "bert", _ENDS),
        Component("RobertaProcessing", "roberta", (*_ENDS, *_TRIMMED)),
        Component("ByteLevel", "byte_level", (*_TRIMMED, Field("use_regex", "use_regex", BOOLEAN, absent=True))),
        Component(
            "Sequence",
            "sequence",
            (Field("processors", "post_processors", list_of(part(lambda: POST_PROCESSORS))),),
        ),
    )
)

TRUNCATION = Component(
    "",
    "",
    (
        Field("max_length", "max_length", COUNT),
        Field(
            "strategy",
            "strategy",
            one_of({"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"}),
        ),
        Field("stride", "stride", COUNT),
        Field("direction", "direction", _DIRECTIONS, absent="right"),
    ),
)


def _read_strategy(value: Any, key: str) -> Any:
    if isinstance(value, str) and value != "BatchLongest":
        raise wrong(f"is {show(value)}, which is not BatchLongest or an object with the key Fixed", key)
    return "batch_longest" if isinstance(value, str) else _FIXED.read(value, key)


def _write_strategy(value: Any) -> Any:
    return "BatchLongest" if value == "batch_longest" else _FIXED.write(value)


_FIXED = single([("Fixed", "fixed", COUNT)])
_STRATEGIES = {"BatchLongest": "batch_longest", "Fixed": "fixed"}

PADDING = Component(
    "",
    "",
    (
        Field("strategy", "strategy", Form(_read_strategy, _write_strategy, _STRATEGIES)),
        Field("direction", "direction", _DIRECTIONS),
        # A multiple of 0 is none.
        Field(
            "pad_to_multiple_of",
            "pad_to_multiple_of",
            Form(lambda value, key: optional(COUNT).read(value, key) or None),
            absent=None,
            unsaid=None,
        ),
        Field("pad_id", "id", ID),
        Field("pad_type_id", "type_id", ID),
        Field("pad_token", "token", TEXT),
    ),
)
