"""A file of one's own: read as it is, handed over as it is, and converted for who loads something else."""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.base.errors import DataError, Unsupported
from tokspec.compare.answers import Asker
from tokspec.compare.models import ModelParts, compare_models, compare_summaries, parts_of, parts_of_two, summarize
from tokspec.formats.user_model import UserModel, read_user_model
from tokspec.protocol.messages import Answer
from tokspec.sessions.in_process import InProcessSession

pytestmark = pytest.mark.slow

FLAGS = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}},
}
MODEL: dict[str, Any] = {
    "version": "1.0",
    "added_tokens": [{"id": 3, "content": "<s>", "special": True, **FLAGS}],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "model": {"type": "BPE", "vocab": {"u": 0, "g": 1, "ug": 2}, "merges": [["u", "g"]]},
}


def own(tmp_path: Path, content: Any, name: str = "tokenizer.json") -> Any:
    (tmp_path / name).write_text(json.dumps(content) if isinstance(content, dict) else content, "utf-8")
    return read_user_model(tmp_path / name)


def test_it_is_handed_over_as_it_is(tmp_path: Path) -> None:
    found = own(tmp_path, MODEL)
    assert (found.format, found.name, found.write("tokenizer.json")) == ("tokenizer.json", "tokenizer.json", MODEL)
    assert found.sha256 == hashlib.sha256((tmp_path / "tokenizer.json").read_bytes()).hexdigest()
    assert found.ordered(["tokspec", "tokenizer.json-legacy", "tokenizer.json"]) == [
        "tokenizer.json",
        "tokenizer.json-legacy",
        "tokspec",
    ]


def test_old_versions_get_merges_as_they_have_them(tmp_path: Path) -> None:
    legacy = own(tmp_path, MODEL).write("tokenizer.json-legacy")
    assert legacy == {**MODEL, "model": {**MODEL["model"], "merges": ["u g"]}}
    spaced = {**MODEL, "model": {**MODEL["model"], "merges": [["u ", "g"]]}}
    with pytest.raises(Unsupported) as caught:
        own(tmp_path, spaced).write("tokenizer.json-legacy")
    assert caught.value.message == "the merge of 'u ' and 'g' has a space in it, which older versions split at"


def test_what_cannot_be_converted_says_why(tmp_path: Path) -> None:
    with pytest.raises(Unsupported) as caught:
        own(tmp_path, {**MODEL, "pre_tokenizer": {"type": "Sentences"}}).write("tokspec")
    assert caught.value.message.startswith("tokenizer.json is a tokenizer.json that cannot be converted: ")
    assert "Sentences" in caught.value.message


def test_files_are_handed_over_as_texts_with_what_their_loader_is_told(tmp_path: Path) -> None:
    ranks = "".join(f"{b64encode(token).decode()} {rank}\n" for rank, token in enumerate((b"u", b"g", b"ug")))
    told = {"pattern": "u|g", "special_tokens": {"<s>": 3}}
    (tmp_path / "mine.beside.json").write_text(json.dumps(told), "utf-8")
    model = own(tmp_path, ranks, "mine.tiktoken")
    assert model.write("vocab.tiktoken") == {"files": {"vocab.tiktoken": ranks}, "beside": told}
    assert model.sha256 == hashlib.sha256(f"{ranks}{json.dumps(told)}".encode()).hexdigest()
    (tmp_path / "mine.beside.json").write_text('{"special_tokens": {}}', "utf-8")
    with pytest.raises(DataError) as caught:
        read_user_model(tmp_path / "mine.tiktoken")
    assert str(caught.value).startswith(f"{tmp_path / 'mine.beside.json'}: has no pattern ")


def test_what_is_no_text_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"\xff\n")
    found = read_user_model(tmp_path / "vocab.txt")
    assert found.write("vocab.txt") == {"files": {"vocab.txt": {"base64": "/wo="}}}
    assert parts_of(found).vocabulary == {}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", "{}", "is not a tokenizer.json: it has no key model that holds an object; give --format if it is something else"),
        ("tokenizer.json", "[1]", "is not a tokenizer.json: it has no key model that holds an object; give --format if it is something else"),
        ("tokenizer.json", '{"model": 3}', "is not a tokenizer.json: it has no key model that holds an object; give --format if it is something else"),
    ],
)  # fmt: skip
def test_what_is_no_model_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        own(tmp_path, content, name)
    assert str(caught.value) == f"{tmp_path / name}: {message}"


def test_a_model_in_short(tmp_path: Path) -> None:
    found = summarize(own(tmp_path, MODEL))
    assert {key: value for key, value in found.items() if key not in ("sha256", "vocabulary", "merges")} == {
        "file": "tokenizer.json",
        "format": "tokenizer.json",
        "special_tokens": {"3": "<s>"},
        "settings": {
            "normalizer.type": "Lowercase",
            "pre_tokenizer.type": "Whitespace",
            "post_processor": None,
            "model.type": "BPE",
            "added_tokens.<s>": "special",
        },
    }
    assert (found["vocabulary"]["size"], found["merges"]["size"]) == (4, 1)
    joined = {**MODEL, "model": {**MODEL["model"], "merges": ["u g"]}}
    assert summarize(own(tmp_path, joined))["merges"] == found["merges"]


def test_another_model_is_described(tmp_path: Path) -> None:
    recorded = summarize(own(tmp_path, MODEL))
    assert compare_summaries(recorded, summarize(own(tmp_path, MODEL))) == []
    other = own(tmp_path, {**MODEL, "normalizer": {"type": "NFC"}, "added_tokens": []}, "other.json.tokenizer.json")
    assert compare_summaries(recorded, summarize(other)) == [
        "another file: tokenizer.json in A, other.json.tokenizer.json in B",
        "vocabulary: not the same, 4 in A, 3 in B",
        "merges: the same, 1",
        'special token 3: "<s>" → nothing',
        'settings: normalizer.type: "Lowercase" → "NFC"',
        'settings: added_tokens.<s>: "special" → nothing',
    ]


def test_what_a_post_processor_adds_is_asked_for_or_not(tmp_path: Path) -> None:
    from tokspec.published.huggingface import TokenizersAdapter

    model = own(tmp_path, {**MODEL, "post_processor": TEMPLATE})
    found = []
    with InProcessSession(TokenizersAdapter()) as session:
        for adds in (False, True):
            (reply,) = Asker(session, model, adds=adds).ask([("encode", {"text": "UG ug"})])
            assert isinstance(reply, Answer)
            found.append(reply.result["tokens"])
    assert found == [["ug", "ug"], ["<s>", "ug", "ug"]]


def test_stages_that_a_model_has_not_are_left_out(tmp_path: Path) -> None:
    from tokspec.published.huggingface import TokenizersAdapter

    with InProcessSession(TokenizersAdapter()) as session:
        asker = Asker(session, own(tmp_path, {**MODEL, "normalizer": None}))
        assert asker.drop_missing_stages() == {"normalize": "offers normalizers alone, and the model has none"}
        assert asker.operations == ("pre_tokenize", "encode", "decode")


def test_models_of_two_formats_are_compared_by_what_they_mean(tmp_path: Path) -> None:
    plain = {"type": "unigram", "weights": "log_probability", "unknown_token": "<unk>"}
    tokens = [["<unk>", 0.0], ["▁", -1.0], *([f"t{number}", -2.0 - number] for number in range(20))]
    neutral = {**plain, "tokens": tokens, "normalizer": {"type": "prepend", "prefix": "▁"}}
    one = UserModel("tokspec", neutral, "mine.yaml", "1")
    lower = [[token, score - (number > 1)] for number, (token, score) in enumerate(tokens)]
    other = own(tmp_path, {"version": "1.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": lower}})
    assert compare_models(*parts_of_two(one, other)) == [
        'scores: 20 tokens differ: "t0" -2 → -3, "t1" -3 → -4, "t2" -4 → -5, "t3" -5 → -6, "t4" -6 → -7, '
        '"t5" -7 → -8 …',
        'settings: normalizer: {"type": "prepend", "prefix": "▁"} → nothing',
    ]


def test_many_settings_below_one_key_are_one_line() -> None:
    a, b = (ModelParts({}, [], {}, {f"stages.{number}": side for number in range(9)}) for side in (0, 1))
    changed = ", ".join(f"stages.{number}: 0 → 1" for number in range(6))
    assert compare_models(a, b) == [f"settings: stages: 9 values differ: {changed} …"]


class Silent:
    """Offers nothing."""

    def hello(self) -> Hello:
        return Hello("silent", "", "Python", operations=())

    def load(self, format: str, content: Any) -> None: ...

    def run(self, operation: str, model: Any, input: Any) -> dict[str, Any]:
        raise NotImplementedError


def test_who_offers_nothing_is_asked_nothing(tmp_path: Path) -> None:
    with InProcessSession(Silent()) as session:
        asker = Asker(session, own(tmp_path, MODEL))
        assert (asker.operations, asker.drop_missing_stages(), asker.ask([])) == ((), {}, [])


@pytest.mark.parametrize("name", ["empty.tiktoken", "vocab.txt", "empty.model"])
def test_an_empty_file_is_no_model(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(DataError) as caught:
        read_user_model(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: is empty; a model has tokens"


def test_a_bpe_without_merges_is_one(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"a": 0}', "utf-8")
    (tmp_path / "merges.txt").touch()
    assert read_user_model(tmp_path, "vocab.json+merges.txt").neutral["vocabulary"] == ["a"]


@pytest.mark.parametrize("name", ["tokenizer.json", "vocab.txt", "vocab.json", "bpe.model", "gpt.tiktoken"])
def test_a_model_that_is_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError) as caught:
        read_user_model(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: is not a regular file"
