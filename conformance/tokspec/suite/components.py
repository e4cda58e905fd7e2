"""The table of components: everything that a model may have around its vocabulary, one row each.

All code about components uses this table: the schema and the tables of the specification, which
``conformance/components/generate.py`` writes, the defaults of the neutral form, ``tokenizer.json``, fuzzing, and the
needs of a model that ``hello`` has to declare. A test compares the functions of the reference with it.

The base is the part that every implementation is tested on: a vocabulary as a list, ``special_tokens``, and the rows
and parameters that are not ``beyond`` the base. Everything else has a name that has to be declared, ``STAGE/TYPE`` or
``STAGE/TYPE/PARAMETER``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

#: Used as a default: the parameter has to be given.
NEEDED: Any = object()

#: Used as a default: the parameter may be left out, which is not the same as any of its values.
NO_DEFAULT: Any = object()


@dataclass(frozen=True)
class Form:
    """The form of a parameter: its name here, its JSON Schema, and its text in the specification's tables."""

    name: str
    schema: Mapping[str, Any]
    says: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The possible values if they are a few names; empty otherwise.

        >>> DIRECTION.options
        ('left', 'right')
        """
        return tuple(self.schema.get("enum", ()))


def _defined(name: str, says: str = "", form: str = "") -> Form:
    return Form(form or name, {"$ref": f"#/$defs/{name}"}, says)


FLAG = Form("flag", {"type": "boolean"})
FLAG_OR_NULL = Form("flag_or_null", {"type": ["boolean", "null"]})
TEXT = _defined("text")
WORD = Form("word", {"type": "string"})
CHARACTER = _defined("character", "a character")
CHARACTER_MAP = Form("character_map", {"type": "string"}, "a character map of SentencePiece in base64")
PATTERN = _defined("text_or_pattern", "a [pattern](13-patterns.md)")
BEHAVIOR = Form("behavior", {"enum": ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]})
SCHEME = Form("scheme", {"enum": ["always", "first", "never"]})
DIRECTION = Form("direction", {"enum": ["left", "right"]})
CUTTING = Form("cutting", {"enum": ["longest_first", "only_first", "only_second"]})
COUNT = Form("count", {"type": "integer", "minimum": 0}, "a number")
ID = Form("id", {"type": "integer", "minimum": 0})
ANY_ID = Form("any_id", {"type": "integer"})
TOKEN_AND_ID = _defined("token_and_id", "[token, id]")
TEMPLATE = _defined("template", "a list of items")
INSERTED = Form(
    "inserted",
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"$ref": "#/$defs/text"},
                "ids": {"type": "array", "items": {"type": "integer"}},
                "tokens": {"type": "array", "items": {"$ref": "#/$defs/text"}},
            },
            "required": ["name", "ids", "tokens"],
            "additionalProperties": False,
        },
    },
    "what the items' names stand for",
)
FILLING = Form(
    "filling",
    {
        "if": {"type": "object"},
        "then": {
            "properties": {"fixed": {"type": "integer", "minimum": 0}},
            "required": ["fixed"],
            "additionalProperties": False,
        },
        "else": {"enum": ["batch_longest"]},
    },
)
#: The form of parameters of models, whose schema says more than this table.
OF_MODEL = Form("of_model", {})


@dataclass(frozen=True)
class Parameter:
    """A parameter of a component: name, form, default, whether it is beyond the base, its key in ``tokenizer.json``."""

    name: str
    form: Form
    default: Any = NEEDED
    beyond: bool = False
    theirs: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        """The name of the parameter in ``tokenizer.json``."""
        return self.theirs or self.name

    @property
    def has_default(self) -> bool:
        """Whether leaving the parameter out is the same as one of its values."""
        return self.default is not NEEDED and self.default is not NO_DEFAULT


@dataclass(frozen=True)
class Component:
    """A component: stage, type, name in ``tokenizer.json``, patterns of the ids of its clauses, and parameters.

    ``theirs`` is empty if ``tokenizer.json`` has no such component, ``type`` if the stage has only one kind.
    """

    stage: str
    type: str
    theirs: str
    clauses: str
    parameters: tuple[Parameter, ...] = ()
    beyond: bool = False

    @property
    def name(self) -> str:
        """The name that ``hello`` declares.

        >>> rows_of("decoder")[0].name, rows_of("truncation")[0].name
        ('decoder/byte_level', 'truncation')
        """
        return f"{self.stage}/{self.type}" if self.type else self.stage

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults of the parameters that are written even if a model leaves them out.

        A parameter beyond the base is left out if it has its default, so that a program that does not know it can read
        the model.

        >>> Component("s", "t", "", "", (Parameter("a", FLAG, True), Parameter("b", FLAG, False, beyond=True))).defaults
        {'a': True}
        """
        return {each.name: each.default for each in self.parameters if each.has_default and not each.beyond}


def members_of(stage: str) -> str:
    """Name the parameter that holds the members of a stage's ``sequence``.

    >>> members_of("decoder")
    'decoders'
    """
    return f"{stage}s"


def _sequence(stage: str, clauses: str, theirs: str = "", *, beyond: bool = False) -> Component:
    members = Form("members", {"type": "array", "items": {"$ref": f"#/$defs/{stage}"}}, "a list")
    parameter = Parameter(members_of(stage), members, theirs=theirs)
    return Component(stage, "sequence", "Sequence", clauses, (parameter,), beyond)


_REPLACING = (Parameter("pattern", PATTERN), Parameter("content", TEXT))
_ENDS = (Parameter("sep", TOKEN_AND_ID), Parameter("cls", TOKEN_AND_ID))
_DUMMY = (Parameter("add_dummy_prefix", FLAG, True), Parameter("remove_extra_whitespaces", FLAG, True))

TABLE: tuple[Component, ...] = (
    Component("normalizer", "nfc", "NFC", "NORM-UNICODE-2"),
    Component("normalizer", "nfd", "NFD", "NORM-UNICODE-1"),
    Component("normalizer", "nfkc", "NFKC", "NORM-UNICODE-4"),
    Component("normalizer", "nfkd", "NFKD", "NORM-UNICODE-3"),
    Component("normalizer", "lowercase", "Lowercase", "NORM-LOWERCASE-*"),
    Component("normalizer", "strip_accents", "StripAccents", "NORM-ACCENTS-*"),
    Component(
        "normalizer",
        "bert",
        "BertNormalizer",
        "NORM-BERT-* NORM-LOWERCASE-2",
        (
            Parameter("clean_text", FLAG, True),
            Parameter("handle_chinese_chars", FLAG, True),
            Parameter("strip_accents", FLAG_OR_NULL, None),
            Parameter("lowercase", FLAG, True),
        ),
    ),
    Component("normalizer", "replace", "Replace", "NORM-REPLACE-* PATTERN-*", _REPLACING, beyond=True),
    Component(
        "normalizer",
        "prepend",
        "Prepend",
        "NORM-PREPEND-*",
        (Parameter("prefix", TEXT, theirs="prepend"),),
        beyond=True,
    ),
    Component(
        "normalizer",
        "strip",
        "Strip",
        "NORM-STRIP-*",
        (Parameter("left", FLAG, True, theirs="strip_left"), Parameter("right", FLAG, True, theirs="strip_right")),
        beyond=True,
    ),
    Component(
        "normalizer",
        "precompiled",
        "Precompiled",
        "NORM-MAP-*",
        (Parameter("charsmap", CHARACTER_MAP, theirs="precompiled_charsmap"),),
        beyond=True,
    ),
    Component("normalizer", "nmt", "Nmt", "NORM-NMT-*", beyond=True),
    Component("normalizer", "byte_level", "ByteLevel", "NORM-BYTE-*", beyond=True),
    Component(
        "normalizer",
        "sentencepiece",
        "",
        "SP-NORM-* NORM-MAP-*",
        (
            Parameter("charsmap", CHARACTER_MAP, ""),
            *_DUMMY,
            Parameter("escape_whitespaces", FLAG, True),
            Parameter("treat_whitespace_as_suffix", FLAG, False),
        ),
        beyond=True,
    ),
    _sequence("normalizer", "NORM-SEQUENCE-*"),
    Component("pre_tokenizer", "bert", "BertPreTokenizer", "PRE-BERT-*"),
    Component(
        "pre_tokenizer",
        "byte_level",
        "ByteLevel",
        "PRE-BYTE-*",
        (Parameter("add_prefix_space", FLAG, False), Parameter("use_regex", FLAG, True)),
    ),
    Component(
        "pre_tokenizer",
        "metaspace",
        "Metaspace",
        "PRE-META-*",
        (
            Parameter("replacement", CHARACTER, "▁"),
            Parameter("prepend_scheme", SCHEME, "always"),
            Parameter("split", FLAG, True),
        ),
    ),
    Component("pre_tokenizer", "whitespace_split", "WhitespaceSplit", "PRE-SPACE-*"),
    Component(
        "pre_tokenizer",
        "split",
        "Split",
        "PRE-SPLIT-* PATTERN-*",
        (Parameter("pattern", PATTERN), Parameter("behavior", BEHAVIOR), Parameter("invert", FLAG, False)),
        beyond=True,
    ),
    Component(
        "pre_tokenizer", "digits", "Digits", "PRE-DIGITS-*", (Parameter("individual_digits", FLAG, False),), beyond=True
    ),
    Component(
        "pre_tokenizer",
        "punctuation",
        "Punctuation",
        "PRE-PUNCT-*",
        (Parameter("behavior", BEHAVIOR, "isolated"),),
        beyond=True,
    ),
    Component("pre_tokenizer", "whitespace", "Whitespace", "PRE-WORDS-*", beyond=True),
    Component(
        "pre_tokenizer",
        "char_delimiter_split",
        "CharDelimiterSplit",
        "PRE-DELIMITER-*",
        (Parameter("delimiter", CHARACTER),),
        beyond=True,
    ),
    Component(
        "pre_tokenizer",
        "fixed_length",
        "FixedLength",
        "PRE-FIXED-*",
        (Parameter("length", COUNT, 5),),
        beyond=True,
    ),
    Component("pre_tokenizer", "unicode_scripts", "UnicodeScripts", "PRE-SCRIPTS-*", beyond=True),
    _sequence("pre_tokenizer", "PRE-SEQUENCE-*", "pretokenizers"),
    Component(
        "post_processor",
        "template",
        "TemplateProcessing",
        "POST-TEMPLATE-*",
        (Parameter("single", TEMPLATE), Parameter("pair", TEMPLATE), Parameter("special_tokens", INSERTED)),
        beyond=True,
    ),
    Component("post_processor", "bert", "BertProcessing", "POST-BERT-*", _ENDS, beyond=True),
    Component(
        "post_processor",
        "roberta",
        "RobertaProcessing",
        "POST-ROBERTA-*",
        (*_ENDS, Parameter("add_prefix_space", FLAG, True), Parameter("trim_offsets", FLAG, True)),
        beyond=True,
    ),
    Component(
        "post_processor",
        "byte_level",
        "ByteLevel",
        "POST-BYTE-*",
        (
            Parameter("add_prefix_space", FLAG, True),
            Parameter("trim_offsets", FLAG, True),
            Parameter("use_regex", FLAG, True, note="it has no effect"),
        ),
        beyond=True,
    ),
    _sequence("post_processor", "POST-SEQUENCE-*", "processors", beyond=True),
    Component("decoder", "byte_level", "ByteLevel", "DEC-BYTE-*"),
    Component(
        "decoder",
        "metaspace",
        "Metaspace",
        "DEC-META-*",
        (Parameter("replacement", CHARACTER, "▁"), Parameter("prepend_scheme", SCHEME, "always", beyond=True)),
    ),
    Component(
        "decoder",
        "wordpiece",
        "WordPiece",
        "DEC-WP-*",
        (Parameter("prefix", TEXT, "##"), Parameter("cleanup", FLAG, False, beyond=True)),
    ),
    Component("decoder", "byte_fallback", "ByteFallback", "DEC-FALLBACK-*", beyond=True),
    Component("decoder", "fuse", "Fuse", "DEC-FUSE-*", beyond=True),
    Component(
        "decoder",
        "strip",
        "Strip",
        "DEC-STRIP-*",
        (Parameter("content", CHARACTER), Parameter("start", COUNT), Parameter("stop", COUNT)),
        beyond=True,
    ),
    Component("decoder", "replace", "Replace", "DEC-REPLACE-* PATTERN-*", _REPLACING, beyond=True),
    Component("decoder", "bpe", "BPEDecoder", "DEC-BPE-*", (Parameter("suffix", TEXT),), beyond=True),
    Component(
        "decoder",
        "ctc",
        "CTC",
        "DEC-CTC-*",
        (
            Parameter("pad_token", TEXT, "<pad>"),
            Parameter("word_delimiter_token", TEXT, "|"),
            Parameter("cleanup", FLAG, True),
        ),
        beyond=True,
    ),
    Component(
        "decoder", "sentencepiece", "", "SP-DEC-*", (*_DUMMY, Parameter("unk_surface", TEXT, " ⁇ ")), beyond=True
    ),
    _sequence("decoder", "DEC-SEQUENCE-*", beyond=True),
    Component(
        "truncation",
        "",
        "",
        "TRUNC-*",
        (
            Parameter("max_length", COUNT),
            Parameter("strategy", CUTTING, "longest_first"),
            Parameter("stride", COUNT, 0),
            Parameter("direction", DIRECTION, "right"),
        ),
        beyond=True,
    ),
    Component(
        "padding",
        "",
        "",
        "PAD-*",
        (
            Parameter("strategy", FILLING, "batch_longest"),
            Parameter("direction", DIRECTION, "right"),
            Parameter("pad_to_multiple_of", COUNT, NO_DEFAULT),
            Parameter("id", ID, 0, theirs="pad_id"),
            Parameter("type_id", ID, 0, theirs="pad_type_id"),
            Parameter("token", TEXT, "[PAD]", theirs="pad_token"),
        ),
        beyond=True,
    ),
    Component(
        "added_token",
        "",
        "",
        "ADDED-*",
        (
            Parameter("content", TEXT),
            Parameter("id", ANY_ID, NO_DEFAULT),
            Parameter("special", FLAG, True),
            Parameter("normalized", FLAG, False),
            Parameter("lstrip", FLAG, False),
            Parameter("rstrip", FLAG, False),
            Parameter("single_word", FLAG, False),
        ),
        beyond=True,
    ),
    Component(
        "model",
        "bpe",
        "BPE",
        "BPE-*",
        (
            Parameter("ignore_merges", FLAG, False, beyond=True),
            Parameter("dropout", OF_MODEL, 0, beyond=True),
            Parameter("fuse_unk", FLAG, NO_DEFAULT, beyond=True),
            Parameter("byte_fallback", FLAG, False, beyond=True),
            Parameter("continuing_prefix", WORD, "", beyond=True),
            Parameter("end_of_word_suffix", WORD, "", beyond=True),
            Parameter("scores", OF_MODEL, NO_DEFAULT, beyond=True),
            Parameter("piece_types", OF_MODEL, NO_DEFAULT, beyond=True),
        ),
    ),
    Component(
        "model",
        "wordpiece",
        "WordPiece",
        "WP-*",
        (
            Parameter("unknown_token", TEXT, "[UNK]"),
            Parameter("continuing_prefix", WORD, "##"),
            Parameter("max_word_length", OF_MODEL, 100),
        ),
    ),
    Component(
        "model",
        "unigram",
        "Unigram",
        "UNI-*",
        (
            Parameter("weights", OF_MODEL, "frequency"),
            Parameter("byte_fallback", FLAG, False, beyond=True),
            Parameter("piece_types", OF_MODEL, NO_DEFAULT, beyond=True),
        ),
    ),
    Component("model", "wordlevel", "WordLevel", "WL-*", (Parameter("unknown_token", TEXT, "<unk>"),), beyond=True),
)

#: Options of requests; each is a key of an input.
_OPTIONS = (
    *("pair", "add_special_tokens", "allowed_special", "disallowed_special", "skip_special_tokens"),
    *("id_steps", "prompt", "end", "beside", "stop_ids", "keep_stop"),
    "initial_score",
)


@cache
def rows_of(stage: str) -> tuple[Component, ...]:
    """Return the rows of a stage, in the order of the table."""
    return tuple(row for row in TABLE if row.stage == stage)


@cache
def row_of(stage: str, kind: str = "") -> Component:
    """Return the row of a type; a type that is not in the table is beyond the base, without parameters.

    >>> row_of("decoder", "strip").parameters[0].name, row_of("decoder", "cut").parameters
    ('content', ())
    """
    return next((row for row in rows_of(stage) if row.type == kind), Component(stage, kind, "", "", beyond=True))


@cache
def component_names() -> tuple[str, ...]:
    """Name everything that ``hello`` may declare: components beyond the base, and names that cover these.

    >>> [name for name in component_names() if name.startswith("decoder/w")]
    ['decoder/wordpiece', 'decoder/wordpiece/cleanup']
    """
    found = ["vocabulary_ids", "added_tokens"]
    found += [f"added_tokens/{each.name}" for each in row_of("added_token").parameters]
    for row in TABLE:
        if row.stage == "added_token":
            continue
        own = [f"{row.name}/{each.name}" for each in row.parameters if each.beyond]
        if row.beyond or own:
            found += [row.stage, row.name, *own]
    return tuple(dict.fromkeys(found))


def needed_components(model: Mapping[str, Any]) -> list[str]:
    """Name the components that a model needs beyond the base.

    >>> needed_components({"type": "bpe", "vocabulary": ["b"], "ignore_merges": True})
    ['model/bpe/ignore_merges']
    >>> needed_components({"decoder": {"type": "sequence", "decoders": [{"type": "fuse"}, {"type": "metaspace"}]}})
    ['decoder/fuse', 'decoder/sequence']
    """
    found = set(_of_tokens(model))
    for stage in ("model", "normalizer", "pre_tokenizer", "post_processor", "decoder"):
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
        yield from (f"added_tokens/{name}" for name in _given(token, row_of("added_token").parameters))
    if "added_tokens" in model:
        yield "added_tokens/content"


def _of_stage(stage: str, part: Mapping[str, Any]) -> Iterator[str]:
    row = row_of(stage, part["type"])
    if row.beyond:
        yield row.name
    beyond = [each for each in row.parameters if each.beyond]
    yield from (f"{row.name}/{name}" for name in _given(part, beyond))
    for member in part.get(members_of(stage), ()) if row.type == "sequence" else ():
        yield from _of_stage(stage, member)


def _given(part: Mapping[str, Any], parameters: Sequence[Parameter]) -> Iterator[str]:
    """Name the parameters that a part gives with a value other than their default."""
    return (
        each.name
        for each in parameters
        if each.name in part and (not each.has_default or part[each.name] != each.default)
    )


def covers(declared: Sequence[str], name: str) -> bool:
    """Return whether a component is declared, by its own name or by one above it.

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
