"""The table of operations: the inputs and results of each, its row in the protocol, and requests to try it.

``conformance/components/generate.py`` writes the operations of the schema and the table of the protocol from it;
``smoke`` uses its questions, and fuzzing its clauses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

#: A model and an input.
Question: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]


class Row(NamedTuple):
    """An operation's row in the protocol's table: the types of model, the input, and the result."""

    models: str
    input: str
    result: str


@dataclass(frozen=True)
class Operation:
    """An operation: the keys of its input and result with their schemas, and requests to try it.

    ``input_rule`` and ``result_rule`` are requirements of the schema in addition to the keys, ``result`` is the schema
    of a result that has its own name. ``clauses`` are patterns of the ids of clauses that are only about this
    operation. ``needs_tokens`` is whether it needs a model with tokens, rather than one to be trained. ``questions``
    has one for every kind of model that may be supported.
    """

    name: str
    rows: tuple[Row, ...]
    takes: Mapping[str, Schema] = field(default_factory=dict)
    may_take: Mapping[str, Schema] = field(default_factory=dict)
    gives: Mapping[str, Schema] = field(default_factory=dict)
    may_give: Mapping[str, Schema] = field(default_factory=dict)
    input_rule: Schema = field(default_factory=dict)
    result_rule: Schema = field(default_factory=dict)
    result: Schema = field(default_factory=dict)
    clauses: str = ""
    needs_tokens: bool = True
    questions: tuple[Question, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The schemas of its input and result."""
        result = self.result or {**_record(self.gives, self.may_give), **self.result_rule}
        return {"input": {**_record(self.takes, self.may_take), **self.input_rule}, "result": result}


# The parts of inputs and results


def _record(needed: Mapping[str, Schema], optional: Mapping[str, Schema]) -> dict[str, Any]:
    keys = {"properties": {**needed, **optional}, **({"required": [*needed]} if needed else {})}
    return {"type": "object", **keys, "additionalProperties": False}


def _list(members: Schema) -> Schema:
    return {"type": "array", "items": members}


def _tuple(*members: Schema) -> Schema:
    return {"type": "array", "prefixItems": [*members], "items": False, "minItems": len(members)}


def _object(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


_TEXT = {"$ref": "#/$defs/text"}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}
_HEX = {"type": "string", "pattern": "^([0-9a-f]{2})*$"}
_PIECE = {
    "type": "array",
    "prefixItems": [_TEXT, _COUNT, _COUNT],
    "items": False,
    "anyOf": [{"minItems": 3}, {"minItems": 1, "maxItems": 1}],
}
_PART: Schema = {
    "oneOf": [_record({"text": _TEXT}, {"trusted": _FLAG}), _record({"ids": _list(_COUNT)}, {})],
}
_CORPUS_FORM = {"$ref": "#/$defs/corpus"}
_ENCODING = {"$ref": "#/$defs/encoding"}
_SOME_SPECIAL = {"$ref": "#/$defs/some_special"}
_STEPS = {"ids": _list(_COUNT), "id_steps": _list(_list(_COUNT)), "prompt": _list(_COUNT), "skip_special_tokens": _FLAG}
_IDS_OR_STEPS: Schema = {"oneOf": [{"required": ["ids"]}, {"required": ["id_steps"]}]}

# Questions to try an adapter

_CORPUS: Mapping[str, Any] = {"words": [["hug", 10], ["pug", 5]]}
_HUGS: Mapping[str, Any] = {"words": [["hug", 10]]}

_BPE = {"type": "bpe", "vocabulary": ["b", "g", "h", "u", "ug"], "merges": [["u", "g"]]}
_BYTES = {**_BPE, "pre_tokenizer": {"type": "byte_level"}, "decoder": {"type": "byte_level"}}
_PRINTABLE = (*range(33, 127), *range(161, 173), *range(174, 256))
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
_CHARACTERS = [chr(byte if byte in _PRINTABLE else 256 + _OTHERS.index(byte)) for byte in range(256)]  # PRE-BYTE-1
_ALL_BYTES = {**_BYTES, "vocabulary": [*_CHARACTERS, "ug"]}  # as in published files of ranks
_WITHOUT_PATTERN = {**_BYTES, "pre_tokenizer": {"type": "byte_level", "use_regex": False}}
_WORDPIECE = {
    "type": "wordpiece",
    "vocabulary": ["b", "##u", "##g", "##ug", "[UNK]"],  # without it, libraries that read BERT's files refuse the model
    "unknown_token": "[UNK]",
    "decoder": {"type": "wordpiece"},
}
_UNIGRAM = {
    "type": "unigram",
    "tokens": [["h", 15], ["u", 36], ["g", 20], ["hug", 15], ["<unk>", 1]],  # libraries refuse ids without it
    "unknown_token": "<unk>",
}

#: Whole pipelines, for tokenizers that always have one.
_BERT: Mapping[str, Any] = {
    "type": "wordpiece",
    "vocabulary": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "b", "##ug"],
    "special_tokens": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
    "unknown_token": "[UNK]",
    "normalizer": {"type": "bert"},
    "pre_tokenizer": {"type": "bert"},
    "decoder": {"type": "wordpiece"},
}
_METASPACE: Mapping[str, Any] = {
    "type": "unigram",
    "tokens": [["<unk>", 1], ["▁", 10], ["h", 15], ["u", 36], ["g", 20], ["▁hug", 15]],
    "unknown_token": "<unk>",
    "pre_tokenizer": {"type": "metaspace"},
    "decoder": {"type": "metaspace"},
}

#: Models without a vocabulary, for training.
_BARE_BPE, _BARE_WORDPIECE, _BARE_UNIGRAM = ({"type": name} for name in ("bpe", "wordpiece", "unigram"))
_SPLITTING = {"pre_tokenizer": {"type": "whitespace_split"}}

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "normalize",
        (Row("any", "`text`", "`text`"),),
        takes={"text": _TEXT},
        gives={"text": _TEXT},
        questions=(({"normalizer": {"type": "lowercase"}}, {"text": "Hug"}),),
    ),
    Operation(
        "pre_tokenize",
        (Row("any", "`text`", "`pieces`: [piece, start, end] …, or [piece] … from one that gives no spans"),),
        takes={"text": _TEXT},
        gives={"pieces": _list(_PIECE)},
        questions=((_SPLITTING, {"text": "hug bug"}),),
    ),
    Operation(
        "encode",
        (
            Row(
                "bpe, wordpiece, unigram, wordlevel",
                "`text`; `pair`, `add_special_tokens`, `allowed_special`, `disallowed_special`",
                "an [encoding](#encodings)",
            ),
        ),
        takes={"text": _TEXT},
        may_take={
            "pair": _TEXT,
            "add_special_tokens": _FLAG,
            "allowed_special": _SOME_SPECIAL,
            "disallowed_special": _SOME_SPECIAL,
        },
        result=_ENCODING,
        questions=(
            (_BPE, {"text": "bug"}),
            (_WORDPIECE, {"text": "bug"}),
            (_UNIGRAM, {"text": "hug"}),
            (_BYTES, {"text": "bug"}),
            (_WITHOUT_PATTERN, {"text": "bug"}),
            (_ALL_BYTES, {"text": "bug"}),
            (_BERT, {"text": "bug"}),
            (_METASPACE, {"text": "hug"}),
        ),
    ),
    Operation(
        "encode_batch",
        (
            Row(
                "bpe, wordpiece, unigram, wordlevel",
                "`inputs`: objects with `text` and perhaps `pair`; `add_special_tokens`, "
                "`allowed_special`, `disallowed_special`",
                "`encodings`: one for each",
            ),
        ),
        takes={"inputs": _list(_record({"text": _TEXT}, {"pair": _TEXT}))},
        may_take={"add_special_tokens": _FLAG, "allowed_special": _SOME_SPECIAL, "disallowed_special": _SOME_SPECIAL},
        gives={"encodings": _list(_ENCODING)},
        questions=(
            (_BPE, {"inputs": [{"text": "bug"}]}),
            (_WORDPIECE, {"inputs": [{"text": "bug"}]}),
            (_UNIGRAM, {"inputs": [{"text": "hug"}]}),
            (_BYTES, {"inputs": [{"text": "bug"}]}),
            (_BERT, {"inputs": [{"text": "bug"}]}),
            (_METASPACE, {"inputs": [{"text": "hug"}]}),
        ),
    ),
    Operation(
        "encode_parts",
        (
            Row(
                "bpe, wordpiece, unigram, wordlevel",
                "`parts`: objects with `text`, and perhaps `trusted`, or with `ids`; `add_special_tokens`",
                "`ids`",
            ),
        ),
        takes={"parts": _list(_PART)},
        may_take={"add_special_tokens": _FLAG},
        gives={"ids": _list(_COUNT)},
        clauses="PARTS-*",
        questions=(
            (_BPE, {"parts": [{"text": "b"}, {"text": "ug", "trusted": True}]}),
            (_BYTES, {"parts": [{"text": "b"}, {"text": "ug", "trusted": True}]}),
            (_METASPACE, {"parts": [{"text": "hug"}], "add_special_tokens": False}),
        ),
    ),
    Operation(
        "decode",
        (Row("any", "`tokens` or `ids`; `skip_special_tokens`", "`text`"),),
        may_take={"tokens": _list(_TEXT), "ids": _list(_COUNT), "skip_special_tokens": _FLAG},
        input_rule={"oneOf": [{"required": ["tokens"]}, {"required": ["ids"]}]},
        gives={"text": _TEXT},
        questions=(
            (_BPE, {"tokens": ["b", "ug"]}),
            (_WORDPIECE, {"tokens": ["b", "##ug"]}),
            (_UNIGRAM, {"tokens": ["hug"]}),
            (_BYTES, {"tokens": ["b", "ug"]}),
            (_WITHOUT_PATTERN, {"tokens": ["b", "ug"]}),
            (_BPE, {"ids": [0, 4]}),
            (_BERT, {"ids": [5, 6]}),
            (_METASPACE, {"ids": [5]}),
        ),
    ),
    Operation(
        "decode_stream",
        (
            Row(
                "any",
                "`ids` or `id_steps`; `skip_special_tokens`, `prompt`, `end`, `beside`",
                '`parts`: for each id or step, in order, the text that became known with it, "" where none did; '
                "`end`, where the input has it: what the end of the stream gives",
            ),
        ),
        may_take={**_STEPS, "end": _FLAG, "beside": _list(_COUNT)},
        input_rule={
            **_IDS_OR_STEPS,
            "dependentRequired": {key: ["end"] for key in ("id_steps", "prompt", "beside")},
        },
        gives={"parts": _list(_TEXT)},
        may_give={"end": _TEXT},
        clauses="DEC-STREAM-* STREAM-* DEC-5 DEC-6",
        questions=(
            (_BPE, {"ids": [0, 4]}),
            (_WORDPIECE, {"ids": [0, 3]}),
            (_UNIGRAM, {"ids": [3]}),
            (_BYTES, {"ids": [0, 4]}),
            (_BPE, {"ids": [0, 4], "end": True}),
        ),
    ),
    Operation(
        "decode_until",
        (
            Row(
                "any",
                "`ids` or `id_steps`, `stops`; `stop_ids`, `keep_stop`, `skip_special_tokens`, `prompt`",
                "`parts` and `end`, as of `decode_stream`; `stopped`: the text or id that ended the stream, or null",
            ),
        ),
        takes={"stops": _list(_TEXT)},
        may_take={**_STEPS, "stop_ids": _list(_COUNT), "keep_stop": _FLAG},
        input_rule=_IDS_OR_STEPS,
        gives={"parts": _list(_TEXT), "end": _TEXT, "stopped": {"oneOf": [_TEXT, _COUNT, {"type": "null"}]}},
        clauses="STOP-*",
        questions=((_BPE, {"ids": [0, 4], "stops": ["ug"]}), (_BYTES, {"ids": [0, 4], "stops": ["ug"]})),
    ),
    Operation(
        "decode_bytes",
        (Row("any", "`ids`", "`bytes`: one string of hexadecimal digits in lower case, two for each byte"),),
        takes={"ids": _list(_COUNT)},
        gives={"bytes": _HEX},
        clauses="DEC-BYTES-*",
        questions=((_BYTES, {"ids": [0, 4]}),),
    ),
    Operation(
        "decode_with_offsets",
        (
            Row(
                "any",
                "`ids`",
                "`text`; `offsets`: for each id, in order, the number of the character of the "
                "text in which it begins, from 0",
            ),
        ),
        takes={"ids": _list(_COUNT)},
        gives={"text": _TEXT, "offsets": _list(_COUNT)},
        clauses="DEC-OFFSETS-*",
        questions=((_BYTES, {"ids": [0, 4]}),),
    ),
    Operation(
        "train",
        (
            Row("bpe", "`corpus`, target", "`vocabulary`, `merges`: [left, right] …"),
            Row("wordpiece", "`corpus`, `vocabulary_size`", "`vocabulary`"),
            Row("unigram", "`corpus`, `initial_size`, `vocabulary_size`, `fraction`", "`tokens`: [token, frequency] …"),
        ),
        takes={"corpus": _CORPUS_FORM},
        may_take={
            "vocabulary_size": _INTEGER,
            "merge_count": _INTEGER,
            "min_frequency": _INTEGER,
            "initial_size": _INTEGER,
            "fraction": _NUMBER,
        },
        may_give={
            "vocabulary": _list(_TEXT),
            "merges": _list(_tuple(_TEXT, _TEXT)),
            "tokens": _list(_tuple(_TEXT, _NUMBER)),
        },
        result_rule={"minProperties": 1},
        needs_tokens=False,
        questions=(
            (_BARE_BPE, {"corpus": _CORPUS, "merge_count": 1}),
            (_BARE_WORDPIECE, {"corpus": _CORPUS, "vocabulary_size": 5}),
            (_BARE_UNIGRAM, {"corpus": _CORPUS, "initial_size": 6, "vocabulary_size": 5, "fraction": 0.5}),
        ),
    ),
    Operation(
        "count_words",
        (Row("any", "`corpus`", "`words`: [word, count] …"),),
        takes={"corpus": _CORPUS_FORM},
        gives={"words": _list(_tuple(_TEXT, _COUNT))},
        questions=((_SPLITTING, {"corpus": {"texts": ["hug hug pug"]}}),),
    ),
    Operation(
        "base_vocabulary",
        (Row("bpe, wordpiece", "`corpus`", "`vocabulary`, special tokens first"),),
        takes={"corpus": _CORPUS_FORM},
        gives={"vocabulary": _list(_TEXT)},
        needs_tokens=False,
        questions=((_BARE_BPE, {"corpus": _CORPUS}), (_BARE_WORDPIECE, {"corpus": _CORPUS})),
    ),
    Operation(
        "training_state",
        (Row("bpe, wordpiece", "`corpus`, `steps`", "`vocabulary`; `words`: [tokens, count] …"),),
        takes={"corpus": _CORPUS_FORM},
        may_take={"steps": _INTEGER},
        gives={"vocabulary": _list(_TEXT), "words": _list(_tuple(_list(_TEXT), _COUNT))},
        needs_tokens=False,
        questions=(
            (_BARE_BPE, {"corpus": _CORPUS, "steps": 1}),
            (_BARE_WORDPIECE, {"corpus": _CORPUS, "steps": 1}),
        ),
    ),
    Operation(
        "pair_frequencies",
        (Row("bpe", "`corpus`, `steps`, `first`", "`pairs`: [left, right, count] …, in the order first met"),),
        takes={"corpus": _CORPUS_FORM},
        may_take={"steps": _COUNT, "first": _COUNT},
        gives={"pairs": _list(_tuple(_TEXT, _TEXT, _COUNT))},
        needs_tokens=False,
        questions=((_BARE_BPE, {"corpus": _CORPUS}),),
    ),
    Operation(
        "pair_scores",
        (Row("wordpiece", "`corpus`, `steps`, `first`", "`pairs`: [left, right, score] …, in the order first met"),),
        takes={"corpus": _CORPUS_FORM},
        may_take={"steps": _COUNT, "first": _COUNT},
        gives={"pairs": _list(_tuple(_TEXT, _TEXT, _NUMBER))},
        needs_tokens=False,
        questions=((_BARE_WORDPIECE, {"corpus": _CORPUS}),),
    ),
    Operation(
        "best_pair",
        (Row("bpe, wordpiece", "`corpus`, `steps`", "`pair`: [left, right]; `count` or `score`"),),
        takes={"corpus": _CORPUS_FORM},
        may_take={"steps": _INTEGER},
        gives={"pair": _tuple(_TEXT, _TEXT)},
        may_give={"count": _COUNT, "score": _NUMBER},
        result_rule={"minProperties": 2, "maxProperties": 2},
        needs_tokens=False,
        questions=((_BARE_BPE, {"corpus": _CORPUS}), (_BARE_WORDPIECE, {"corpus": _CORPUS})),
    ),
    Operation(
        "substring_frequencies",
        (Row("unigram", "`corpus`", "`frequencies`: object of every strict substring; `total`: their sum"),),
        takes={"corpus": _CORPUS_FORM},
        gives={"frequencies": _object(_COUNT), "total": _COUNT},
        needs_tokens=False,
        questions=((_BARE_UNIGRAM, {"corpus": _CORPUS}),),
    ),
    Operation(
        "ranked_substrings",
        (
            Row(
                "unigram",
                "`corpus`, `first`",
                "`substrings`: [substring, frequency] … of two characters or more; `count`: how "
                "many there are without `first`",
            ),
        ),
        takes={"corpus": _CORPUS_FORM},
        may_take={"first": _COUNT},
        gives={"substrings": _list(_tuple(_TEXT, _COUNT)), "count": _COUNT},
        needs_tokens=False,
        questions=((_BARE_UNIGRAM, {"corpus": _CORPUS}),),
    ),
    Operation(
        "initial_vocabulary",
        (
            Row(
                "unigram",
                "`corpus`, `initial_size`, `first`",
                "`tokens`: [token, frequency] …; `total`: the sum of all frequencies",
            ),
        ),
        takes={"corpus": _CORPUS_FORM, "initial_size": _INTEGER},
        may_take={"first": _COUNT},
        gives={"tokens": _list(_tuple(_TEXT, _COUNT)), "total": _COUNT},
        needs_tokens=False,
        questions=((_BARE_UNIGRAM, {"corpus": _CORPUS, "initial_size": 5}),),
    ),
    Operation(
        "token_probabilities",
        (Row("unigram", "", "`probabilities`: object"),),
        gives={"probabilities": _object(_NUMBER)},
        questions=((_UNIGRAM, {}),),
    ),
    Operation(
        "segmentations",
        (Row("unigram", "`word`", "`segmentations`: [tokens, probability] …"),),
        takes={"word": _TEXT},
        gives={"segmentations": _list(_tuple(_list(_TEXT), _NUMBER))},
        questions=((_UNIGRAM, {"word": "hug"}),),
    ),
    Operation(
        "nbest",
        (Row("unigram", "`word`, `nbest_size`", "`segmentations`: tokens …"),),
        takes={"word": _TEXT, "nbest_size": _INTEGER},
        gives={"segmentations": _list(_list(_TEXT))},
        clauses="UNI-NBEST-*",
        questions=((_UNIGRAM, {"word": "hug", "nbest_size": 2}),),
    ),
    Operation(
        "viterbi",
        (Row("unigram", "`word`", "`table`: [tokens, probability] or null for each end position 1, 2, …"),),
        takes={"word": _TEXT},
        gives={"table": _list({"oneOf": [_tuple(_list(_TEXT), _NUMBER), {"type": "null"}]})},
        questions=((_UNIGRAM, {"word": "hug"}),),
    ),
    Operation(
        "segment",
        (Row("unigram", "`word`; `initial_score`", "`tokens`, `score`"),),
        takes={"word": _TEXT},
        may_take={"initial_score": _NUMBER},
        gives={"tokens": _list(_TEXT), "score": _NUMBER},
        questions=((_UNIGRAM, {"word": "hug"}),),
    ),
    Operation(
        "loss",
        (Row("unigram", "`corpus`; `initial_score`", "`loss`"),),
        takes={"corpus": _CORPUS_FORM},
        may_take={"initial_score": _NUMBER},
        gives={"loss": _NUMBER},
        questions=((_UNIGRAM, {"corpus": _HUGS}),),
    ),
    Operation(
        "loss_increase",
        (Row("unigram", "`corpus`, `token`", "`increase`"),),
        takes={"corpus": _CORPUS_FORM, "token": _TEXT},
        gives={"increase": _NUMBER},
        questions=((_UNIGRAM, {"corpus": _HUGS, "token": "hug"}),),
    ),
    Operation(
        "prune_step",
        (
            Row(
                "unigram",
                "`corpus`, `fraction`",
                "`removed`: tokens in the order of removal; `size`: of the vocabulary left",
            ),
        ),
        takes={"corpus": _CORPUS_FORM, "fraction": _NUMBER},
        gives={"removed": _list(_TEXT), "size": _COUNT},
        questions=((_UNIGRAM, {"corpus": _HUGS, "fraction": 0.5}),),
    ),
    Operation(
        "training_trace",
        (
            Row("bpe", "`corpus`, target", "`steps`: [left, right, count] …"),
            Row("wordpiece", "`corpus`, `vocabulary_size`", "`steps`: [left, right, score] …"),
            Row(
                "unigram",
                "`corpus`, `initial_size`, `vocabulary_size`, `fraction`",
                "`sizes`: of the vocabulary before the first step and after each",
            ),
        ),
        takes={"corpus": _CORPUS_FORM},
        may_take={
            "vocabulary_size": _INTEGER,
            "merge_count": _INTEGER,
            "min_frequency": _INTEGER,
            "initial_size": _INTEGER,
            "fraction": _NUMBER,
        },
        may_give={"steps": _list(_tuple(_TEXT, _TEXT, _NUMBER)), "sizes": _list(_COUNT)},
        result_rule={"minProperties": 1, "maxProperties": 1},
        needs_tokens=False,
        questions=(
            (_BARE_BPE, {"corpus": _CORPUS, "merge_count": 1}),
            (_BARE_WORDPIECE, {"corpus": _CORPUS, "vocabulary_size": 5}),
            (_BARE_UNIGRAM, {"corpus": _CORPUS, "initial_size": 6, "vocabulary_size": 5, "fraction": 0.5}),
        ),
    ),
)
