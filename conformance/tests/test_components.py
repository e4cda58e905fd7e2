"""What a model and a request need that an implementation has to declare, and what becomes of it if it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.base.files import specification_folder
from tokspec.formats.user_model import UserModel
from tokspec.judge.runner import run
from tokspec.protocol.messages import Answer, Refused, Reply, Request
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import refuse_unoffered
from tokspec.suite import schema
from tokspec.suite.cases import Case
from tokspec.suite.components import covers, needed_components
from tokspec.suite.fixtures import load_suite

TEMPLATE: Mapping[str, Any] = {"type": "template", "single": [], "pair": [], "special_tokens": []}
PAIR: Mapping[str, Any] = {"sep": ["[SEP]", 1], "cls": ["[CLS]", 0]}
SPLIT: Mapping[str, Any] = {"type": "split", "pattern": {"string": " "}, "behavior": "removed"}

#: Models that need exactly these components.
NEEDING: list[tuple[Mapping[str, Any], list[str]]] = [
    ({"type": "bpe", "vocabulary": ["a"], "merges": [], "special_tokens": ["a"]}, []),
    ({"type": "bpe", "ignore_merges": False, "byte_fallback": False, "continuing_prefix": "", "end_of_word_suffix": ""}, []),
    ({"type": "wordpiece", "continuing_prefix": "", "decoder": {"type": "wordpiece", "cleanup": False}}, []),
    ({"type": "unigram", "byte_fallback": False, "decoder": {"type": "metaspace", "prepend_scheme": "always"}}, []),
    ({"type": "bpe", "vocabulary": [["a", 3]]}, ["vocabulary_ids"]),
    ({"added_tokens": []}, ["added_tokens/content"]),
    ({"added_tokens": [{"content": "a", "special": True, "lstrip": False}]}, ["added_tokens/content"]),
    ({"added_tokens": [{"content": "a", "id": 0}]}, ["added_tokens/content", "added_tokens/id"]),
    ({"added_tokens": [{"content": "a"}, {"content": "b", "special": False}]}, ["added_tokens/content", "added_tokens/special"]),
    *(({"added_tokens": [{"content": "a", flag: True}]}, ["added_tokens/content", f"added_tokens/{flag}"]) for flag in ("normalized", "lstrip", "rstrip", "single_word")),
    ({"normalizer": {"type": "replace", "pattern": {"string": "a"}, "content": "b"}}, ["normalizer/replace"]),
    ({"normalizer": {"type": "sequence", "normalizers": [{"type": "nfc"}, {"type": "prepend", "prefix": "a"}]}}, ["normalizer/prepend"]),
    ({"normalizer": {"type": "strip"}}, ["normalizer/strip"]),
    ({"normalizer": {"type": "precompiled", "charsmap": ""}}, ["normalizer/precompiled"]),
    ({"normalizer": {"type": "nmt"}}, ["normalizer/nmt"]),
    ({"normalizer": {"type": "byte_level"}}, ["normalizer/byte_level"]),
    ({"normalizer": {"type": "sentencepiece"}, "decoder": {"type": "sentencepiece"}}, ["decoder/sentencepiece", "normalizer/sentencepiece"]),
    ({"pre_tokenizer": {"type": "sequence", "pre_tokenizers": [{"type": "bert"}, SPLIT]}}, ["pre_tokenizer/split"]),
    ({"pre_tokenizer": {"type": "digits"}}, ["pre_tokenizer/digits"]),
    ({"pre_tokenizer": {"type": "punctuation"}}, ["pre_tokenizer/punctuation"]),
    ({"pre_tokenizer": {"type": "whitespace"}}, ["pre_tokenizer/whitespace"]),
    ({"pre_tokenizer": {"type": "char_delimiter_split", "delimiter": "-"}}, ["pre_tokenizer/char_delimiter_split"]),
    ({"pre_tokenizer": {"type": "fixed_length"}}, ["pre_tokenizer/fixed_length"]),
    ({"pre_tokenizer": {"type": "unicode_scripts"}}, ["pre_tokenizer/unicode_scripts"]),
    ({"type": "bpe", "ignore_merges": True}, ["model/bpe/ignore_merges"]),
    ({"type": "bpe", "fuse_unk": False}, ["model/bpe/fuse_unk"]),
    ({"type": "bpe", "dropout": 0}, []),
    ({"type": "bpe", "dropout": 1}, ["model/bpe/dropout"]),
    ({"type": "bpe", "byte_fallback": True}, ["model/bpe/byte_fallback"]),
    ({"type": "bpe", "continuing_prefix": "##"}, ["model/bpe/continuing_prefix"]),
    ({"type": "bpe", "end_of_word_suffix": "</w>"}, ["model/bpe/end_of_word_suffix"]),
    ({"type": "unigram", "byte_fallback": True}, ["model/unigram/byte_fallback"]),
    ({"type": "bpe", "scores": [], "piece_types": {}}, ["model/bpe/piece_types", "model/bpe/scores"]),
    ({"type": "unigram", "piece_types": {"control": []}}, ["model/unigram/piece_types"]),
    ({"type": "wordlevel", "vocabulary": []}, ["model/wordlevel"]),
    ({"post_processor": TEMPLATE}, ["post_processor/template"]),
    ({"post_processor": {"type": "bert", **PAIR}}, ["post_processor/bert"]),
    ({"post_processor": {"type": "roberta", **PAIR}}, ["post_processor/roberta"]),
    ({"post_processor": {"type": "sequence", "post_processors": [{"type": "byte_level"}]}}, ["post_processor/byte_level", "post_processor/sequence"]),
    ({"truncation": {"max_length": 3}, "padding": {"strategy": {"fixed": 4}}}, ["padding", "truncation"]),
    ({"decoder": {"type": "sequence", "decoders": [{"type": "byte_fallback"}, {"type": "fuse"}]}}, ["decoder/byte_fallback", "decoder/fuse", "decoder/sequence"]),
    ({"decoder": {"type": "strip", "content": " ", "start": 1, "stop": 0}}, ["decoder/strip"]),
    ({"decoder": {"type": "replace", "pattern": {"regex": "a"}, "content": ""}}, ["decoder/replace"]),
    ({"decoder": {"type": "bpe", "suffix": "</w>"}}, ["decoder/bpe"]),
    ({"decoder": {"type": "ctc"}}, ["decoder/ctc"]),
    ({"decoder": {"type": "metaspace", "prepend_scheme": "never"}}, ["decoder/metaspace/prepend_scheme"]),
    ({"decoder": {"type": "wordpiece", "cleanup": True}}, ["decoder/wordpiece/cleanup"]),
]  # fmt: skip


@pytest.mark.parametrize(("model", "needed"), NEEDING, ids=str)
def test_what_a_model_needs(model: Mapping[str, Any], needed: list[str]) -> None:
    assert list(schema.errors(model, "model")) == []
    assert needed_components(model) == needed


def test_every_component_of_the_schema_is_needed_by_some_model_or_covers_one_that_is() -> None:
    names = schema.definitions()["component"]["enum"]
    needed = {name for _, each in NEEDING for name in each}
    assert needed <= set(names)
    assert [name for name in names if not any(covers([name], each) for each in needed)] == []


def test_the_chapter_names_every_component() -> None:
    text = (specification_folder() / "10-protocol.md").read_text("utf-8")
    assert [name for _, each in NEEDING for name in each if f"`{name}`" not in text] == []


def test_what_each_kind_of_the_schema_is_asks_for_or_belongs_to_the_base() -> None:
    base = {
        "normalizer": {"nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip_accents", "bert", "sequence"},
        "pre_tokenizer": {"bert", "byte_level", "metaspace", "whitespace_split", "sequence"},
        "post_processor": set(),
        "decoder": {"byte_level", "metaspace", "wordpiece"},
    }
    for stage, known in base.items():
        kinds = schema.definitions()[stage]["properties"]["type"]["enum"]
        assert {kind for kind in kinds if not needed_components({stage: {"type": kind}})} == known


class Recording:
    """Answers everything with the same tokens, and keeps what it was asked."""

    def __init__(self, hello: Hello) -> None:
        self._hello = hello
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def hello(self) -> Hello:
        return self._hello

    def load(self, format: str, content: Any) -> Any:
        return content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append((operation, input))
        return {"tokens": ["b"]}


def hello(**declared: tuple[str, ...]) -> Hello:
    return Hello("mine", "1", "Python", ("encode", "decode", "segment", "loss"), **declared)  # type: ignore[arg-type]


def ask(hello: Hello, request: Request) -> Reply:
    return refuse_unoffered(hello, request) or Answer({})


NEITHER = Request("encode", "toy", {"truncation": {"max_length": 3}, "post_processor": TEMPLATE}, {"text": "b"})


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ((), "does not know the components post_processor/template, truncation"),
        (("truncation", "post_processor/bert"), "does not know the component post_processor/template"),
        (("truncation", "post"), "does not know the component post_processor/template"),
        (("truncation", "post_processor/template"), ""),
        (("post_processor", "truncation"), ""),
    ],
)
def test_a_model_with_an_undeclared_component_is_not_sent(declared: tuple[str, ...], message: str) -> None:
    assert ask(hello(components=declared), NEITHER) == (Refused("unsupported", message) if message else Answer({}))


@pytest.mark.parametrize(
    ("operation", "input", "needed"),
    [
        ("encode", {"text": "b", "pair": "u"}, "pair"),
        ("encode", {"text": "b", "add_special_tokens": True}, "add_special_tokens"),
        ("encode", {"text": "b", "add_special_tokens": False}, "add_special_tokens"),
        ("segment", {"word": "b", "initial_score": 0}, "initial_score"),
        ("loss", {"corpus": {"words": []}, "initial_score": 1}, "initial_score"),
        ("decode", {"ids": [1], "skip_special_tokens": True}, "skip_special_tokens"),
    ],
)
def test_an_undeclared_option_is_not_sent(operation: str, input: Mapping[str, Any], needed: str) -> None:
    request = Request(operation, "toy", {}, input)
    assert ask(hello(), request) == Refused("unsupported", f"does not know the option {needed} of {operation}")
    key = "decode_options" if operation == "decode" else "encode_options"
    assert ask(hello(**{key: (needed,)}), request) == Answer({})


def test_a_pair_in_a_batch_is_an_option_too() -> None:
    batch = Hello("mine", "1", "Python", ("encode_batch",))
    request = Request("encode_batch", "toy", {}, {"inputs": [{"text": "b"}, {"text": "u", "pair": "g"}]})
    assert ask(batch, request) == Refused("unsupported", "does not know the option pair of encode_batch")


def test_a_file_of_the_users_own_is_sent_whatever_is_in_it() -> None:
    own = UserModel("tokenizer.json", {"truncation": {"max_length": 3}}, "mine.json", "")
    assert ask(hello(), Request("encode", "own", {}, {"text": "b"}, own)) == Answer({})


CASES = """\
about: "Cases with what an implementation need not know."
source: [{rule: "A test."}]
model: {type: bpe, vocabulary: ["b"], merges: [], post_processor: {type: template, single: [], pair: [], special_tokens: []}}
cases:
  - id: with-a-pair
    clauses: [BPE-ENC-1]
    why: "It is needed for a test."
    operation: encode
    input: {text: "b", pair: "b", add_special_tokens: false}
    expect: {tokens: ["b"]}
    verified_by: ["hand: it is plain"]
  - id: plain
    clauses: [BPE-ENC-1]
    why: "It is needed for a test."
    operation: encode
    input: {text: "b"}
    expect: {tokens: ["b"]}
    verified_by: ["hand: it is plain"]
"""


@pytest.fixture(name="cases")
def _cases(tmp_path: Any) -> list[Case]:
    (tmp_path / "cases.yaml").write_text(CASES, "utf-8")
    return list(load_suite(tmp_path).cases.values())


def verdicts(adapter: Recording, cases: list[Case]) -> list[tuple[str, str]]:
    with InProcessSession(adapter) as session:
        return [(result.verdict.value, result.detail) for result in run(session, cases).results]


def test_a_case_that_needs_what_is_not_declared_is_unsupported(cases: list[Case]) -> None:
    adapter = Recording(hello())
    assert verdicts(adapter, cases) == [
        ("unsupported", "does not know the option pair of encode"),
        ("unsupported", "does not know the component post_processor/template"),
    ]
    assert adapter.asked == []


def test_an_input_is_sent_as_the_case_has_it(cases: list[Case]) -> None:
    declared = hello(encode_options=("add_special_tokens", "pair"), components=("post_processor",))
    adapter = Recording(declared)
    assert verdicts(adapter, cases) == [("pass", ""), ("pass", "")]
    assert [input for _, input in adapter.asked] == [
        {"text": "b", "pair": "b", "add_special_tokens": False},
        {"text": "b"},
    ]
