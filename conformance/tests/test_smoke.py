"""``tokspec smoke``: every step for adapters that are right, and for those that are wrong in one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tokspec.adapter import Adapter, Hello, Refusal, Unsupported
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.cli import tokspec
from tokspec.formats import read
from tokspec.judge.smoke import Step, try_adapter
from tokspec.protocol.messages import Answer, Request
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite import schema
from tokspec.suite.operations import OPERATIONS
from tokspec.suite.specification import load_specification

HELLO = Hello("mine", "1.0", "Python", operations=("encode",))
CHOICES = load_specification().choices

IMPOSSIBLE = "a model with a merge that makes a token which it does not have"

UNLESS = "better give the unknown token, unless the tokenizer does not"

RIGHT = {
    "hello": "mine 1.0 (Python)",
    "operations": "encode",
    "formats": "tokspec",
    "choices": f"0 declared; the defaults apply to the {len(CHOICES)} others, and tokspec probe finds yours",
    "encode": '{"text": "bug"} → {"tokens": ["b", "ug"]}',
    "beyond ASCII": '{"text": "😀"} → {"tokens": ["😀"]}',
    "unknown": '{"text": "x"} → every model answers or refuses',
    "twice": "the same question gets the same answer",
    "contradiction": f"{IMPOSSIBLE} is refused as invalid_model",
}


def answer_of(model: Mapping[str, Any]) -> dict[str, Any]:
    """Answer with the unknown token, or with two tokens where the vocabulary has none."""
    known = model.get("vocabulary") or [token for token, _ in model["tokens"]]
    if "😀" in known:
        return {"tokens": ["😀"]}
    return {"tokens": [model["unknown_token"]] if model.get("unknown_token") in known else ["b", "ug"]}


class Scripted:
    """Describes itself as it is told to, and answers by a function of the operation, the model and the input."""

    def __init__(self, hello: Hello = HELLO, run: Callable[[str, Any, Mapping[str, Any]], Any] | None = None) -> None:
        self._hello = hello
        self._run = run or (lambda operation, model, input: answer_of(model))

    def hello(self) -> Hello:
        return self._hello

    def load(self, format: str, content: Any) -> Any:
        if content.get("merges") and "ug" not in content["vocabulary"]:
            raise Refusal("invalid_model")
        return content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        return self._run(operation, model, input)


def tried(adapter: Adapter) -> list[Step]:
    with InProcessSession(adapter) as session:
        return list(try_adapter(session))


def expected(wrong: Mapping[str, str] | None = None, **notes: str) -> list[Step]:
    """Return the steps of an adapter that is right but for those named in ``wrong``, and with other notes."""
    told = {**RIGHT, **notes, **(wrong or {})}
    return [Step(name, name not in (wrong or {}), note) for name, note in told.items()]


def test_an_adapter_that_is_right() -> None:
    assert tried(Scripted()) == expected()


def test_the_reference_is_right_in_every_step() -> None:
    found = tried(ReferenceAdapter())
    offered = ReferenceAdapter().hello().operations
    about = [
        name for operation in offered for name in (operation, *["beyond ASCII", "unknown"] * (operation == "encode"))
    ]
    assert [step.name for step in found] == ["hello", "operations", "formats", "choices", *about, "twice", "contradiction"]  # fmt: skip
    assert [step for step in found if not step.right] == []


def test_there_are_questions_for_every_operation_and_all_have_an_answer() -> None:
    assert all(operation.questions for operation in OPERATIONS)
    with InProcessSession(ReferenceAdapter()) as session:
        for operation, questions in ((each.name, each.questions) for each in OPERATIONS):
            for number, (model, input) in enumerate(questions):
                assert list(schema.errors(model, "model")) == []
                assert list(schema.errors(input, f"operations/{operation}/input")) == []
                ((_, reply),) = session.ask([Request(operation, f"{operation} {number}", model, input)])
                assert isinstance(reply, Answer) == (operation in session.hello.operations), (operation, model)


def test_an_adapter_that_offers_nothing_yet() -> None:
    nothing = expected(
        operations='none yet; offer encode next: {"op": "encode"} → {"tokens": […]}', twice="nothing to ask yet"
    )
    assert tried(Scripted(replace(HELLO, operations=()))) == [step for step in nothing if step.name not in ("encode", "beyond ASCII", "unknown", "contradiction")]  # fmt: skip


@pytest.mark.parametrize(
    ("hello", "step", "note"),
    [
        (
            replace(HELLO, operations=("encode", "tokenise", "\x1b[2J")),
            "operations",
            "tokenise, \x1b[2J: not in spec/10-protocol.md; did you mean pre_tokenize? name only operations that are listed there",
        ),
        (
            replace(HELLO, formats=("tokspec", "sqlite")),
            "formats",
            "sqlite: cannot be written; the suite writes ",
        ),
        (
            replace(HELLO, choices={"unknown": "x"}),
            "choices",
            "unknown is not a choice of spec/08-choices.md; did you mean unknown_id?",
        ),
        (
            replace(HELLO, choices={"zzz": "x"}),
            "choices",
            "zzz is not a choice of spec/08-choices.md; remove it",
        ),
        (
            replace(HELLO, choices={"unknown_id": "x"}),
            "choices",
            "unknown_id has no option x; use one of error, skipped",
        ),
        (
            replace(HELLO, encode_fields=("tokens", "ids", "spans")),
            "encode",
            '{"text": "bug"} → {"tokens": ["b", "ug"]} lacks ids, spans; give all fields of encode_fields',
        ),
    ],
    ids=["operations", "formats", "choice", "choice near none", "option", "fields"],
)
def test_a_description_that_is_wrong_in_one_step(hello: Hello, step: str, note: str) -> None:
    found = tried(Scripted(hello))
    assert [each.name for each in found if not each.right] == [step]
    (wrong,) = (each for each in found if each.name == step)
    assert wrong.note == note or (wrong.note.startswith(note) and step == "formats")


def test_an_adapter_that_accepts_no_format() -> None:
    found = {step.name: step for step in tried(Scripted(replace(HELLO, formats=())))}
    assert found["formats"].note.startswith("no format is named; the suite writes tokspec, ")
    assert [step.name for step in found.values() if not step.right] == ["formats", "answers"]


def fails(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
    raise ValueError("no \x1b[31mvocabulary")


def refuses(reason: str, message: str = "") -> Callable[[str, Any, Mapping[str, Any]], Any]:
    def refusing(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        raise Refusal(reason, message)

    return refusing


@pytest.mark.parametrize(
    ("run", "note"),
    [
        (lambda *asked: {"token": []}, "token: is an unknown key; did you mean tokens?; spec/10-protocol.md shows the result's shape"),
        (lambda *asked: {"tokens": "bug"}, 'tokens: "bug" is not of type "array"; spec/10-protocol.md shows the result\'s shape'),
        (refuses("unknown_symbol", "b"), "refused as unknown_symbol: b; it has an answer; if you do not offer it, refuse it as unsupported"),
        (refuses("invalid_model"), "refused as invalid_model: without a message; it has an answer; if you do not offer it, refuse it as unsupported"),
        (lambda *asked: [], "protocol: returned a value of type 'list'; a result is a mapping; run your program by hand with this input"),
        (lambda *asked: 1 / 0, "crash: ZeroDivisionError: division by zero (test_smoke.py:{} in <lambda>); run your program by hand with this input; if it is the tokenizer that crashes, tokspec run judges it as it is"),
    ],
    ids=["another key", "another type", "refused", "refused without a message", "no mapping", "crash"],
)  # fmt: skip
def test_an_operation_that_is_wrong(run: Callable[..., Any], note: str) -> None:
    found = {step.name: step for step in tried(Scripted(run=run))}
    assert not found["encode"].right
    assert found["encode"].note.partition(" → ")[0] == '{"text": "bug"}'
    said = found["encode"].note.partition(" → ")[2]
    assert re.sub(r"(?<=\.py:)\d+", "{}", said) == note


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("wordpiece", '{"text": "bug"} → {"tokens": ["[UNK]"]}; unsupported: bpe (no bpe), unigram (no unigram), bpe of bytes (no bpe), bpe of bytes without a pattern (no bpe), bpe of all bytes (no bpe), unigram after ▁ (no unigram)'),
        ("unigram", '{"text": "hug"} → {"tokens": ["<unk>"]}; unsupported: bpe (no bpe), wordpiece (no wordpiece), bpe of bytes (no bpe), bpe of bytes without a pattern (no bpe), bpe of all bytes (no bpe), wordpiece as BERT has it (no wordpiece)'),
    ],
)  # fmt: skip
def test_an_adapter_for_one_type_of_model_is_asked_about_that(kind: str, answer: str) -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        if model["type"] != kind:
            raise Unsupported(f"no {model['type']}")
        return answer_of(model)

    assert tried(Scripted(run=run)) == expected(encode=answer)


def test_an_adapter_for_bytes_alone_is_asked_about_them() -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        if model.get("pre_tokenizer") != {"type": "byte_level", "add_prefix_space": False, "use_regex": True}:
            raise Unsupported("knows bytes only")
        return answer_of(model)

    kinds = ("bpe", "wordpiece", "unigram", "bpe of bytes without a pattern", "wordpiece as BERT has it")
    others = ", ".join(f"{kind} (knows bytes only)" for kind in (*kinds, "unigram after ▁"))
    answer = f'{{"text": "bug"}} → {{"tokens": ["b", "ug"]}}; unsupported: {others}'
    plain = [step for step in expected(encode=answer) if step.name != "beyond ASCII"]
    assert tried(Scripted(run=run)) == plain


@pytest.mark.parametrize(
    ("pre_tokenizer", "answered", "kind"),
    [
        ("bert", '{"text": "bug"} → {"tokens": ["[UNK]"]}', "wordpiece as BERT has it"),
        ("metaspace", '{"text": "hug"} → {"tokens": ["<unk>"]}', "unigram after ▁"),
    ],
)
def test_an_adapter_with_a_fixed_pipeline_is_asked_about_that(pre_tokenizer: str, answered: str, kind: str) -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        if model.get("pre_tokenizer", {}).get("type") != pre_tokenizer:
            raise Unsupported("fixed")
        return answer_of(model)

    kinds = (
        *("bpe", "wordpiece", "unigram", "bpe of bytes", "bpe of bytes without a pattern", "bpe of all bytes"),
        *("wordpiece as BERT has it", "unigram after ▁"),
    )
    others = ", ".join(f"{each} (fixed)" for each in kinds if each != kind)
    found = tried(Scripted(run=run))
    assert found[4] == Step("encode", True, f"{answered}; unsupported: {others}")
    assert [step.name for step in found if not step.right] == []


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (KeyError("merges"), "crash: KeyError: 'merges' (test_smoke.py:"),
        (Refusal("invalid_model", "no merges"), "refused as invalid_model: no merges; it has an answer; if you do "),
    ],
)
def test_what_a_type_that_it_does_not_have_comes_to_is_told(error: Exception, note: str) -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        if model["type"] == "unigram":
            raise error
        return answer_of(model)

    (wrong,) = (step for step in tried(Scripted(run=run)) if not step.right)
    assert wrong.note.startswith(f'unigram: {{"text": "hug"}} → {note}')
    remedy = "; if it has no unigram, refuse that as unsupported in load, with the reason"
    assert wrong.note.endswith(remedy if isinstance(error, KeyError) else "refuse it as unsupported")


def test_an_adapter_that_answers_nothing_is_not_right() -> None:
    pack = "a tokenizer with a built-in vocabulary is judged by a pack: tokspec run --pack NAME --model FILE"
    found = expected(encode='{"text": "bug"} → refused as unsupported: not yet')
    *others, last = tried(Scripted(run=refuses("unsupported", "not yet")))
    assert others == [step for step in found if step.name not in ("beyond ASCII", "unknown", "twice", "contradiction")]
    assert last == Step("answers", False, f"nothing was answered; answer one of the questions above; {pack}")


class ReadsFiles(Scripted):
    """Reads files as the reference does; ``ignores`` are the keys of ``beside`` that it does not look at."""

    def __init__(self, format: str, ignores: str = "") -> None:
        parts = ("pre_tokenizer", "normalizer", "decoder", "added_tokens")
        super().__init__(replace(HELLO, operations=("encode", "decode"), formats=(format,), components=parts))
        self.ignores = ignores
        self.reference = ReferenceAdapter()

    def load(self, format: str, content: Any) -> Any:
        beside = {key: value for key, value in content["beside"].items() if key != self.ignores}
        return self.reference.load("tokspec", read(format, {**content, "beside": beside}))

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        result = self.reference.run(operation, model, input)
        return {"tokens": result["tokens"]} if operation == "encode" else result


@pytest.mark.parametrize(
    ("format", "key", "what", "seen"),
    [
        ("vocab.json+merges.txt", "pre_tokenizer", "a pattern", '{"text": "g1"} → {"tokens": ["g1"]}'),
        ("vocab.txt", "normalizer", "lowercase", '{"text": "B"} → {"tokens": ["[UNK]"]}'),
        ("sentencepiece.model", "decoder", "a decoder", '{"ids": [2]} → {"text": "▁hug"}'),
    ],
)
def test_an_adapter_that_does_not_look_beside_its_files_is_told(format: str, key: str, what: str, seen: str) -> None:
    if format == "sentencepiece.model":
        pytest.importorskip("sentencepiece")
    assert Step("beside", True, f"{what} is read") in tried(ReadsFiles(format))
    note = f"{seen}, with {what} and without; read it from `beside`, which load gets"
    assert Step("beside", False, note) in tried(ReadsFiles(format, key))


def test_numbers_that_json_does_not_have_are_told_by_a_reader_of_berts_files() -> None:
    class Numbers(ReadsFiles):
        def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Any:
            return {"tokens": [Decimal(1)]} if operation == "encode" else {"text": "b"}

    found = {step.name: step for step in tried(Numbers("vocab.txt"))}
    note = "protocol: the result holds a value of type Decimal, which JSON does not have; run your program by hand"
    assert found["encode"] == Step("encode", False, f'wordpiece: {{"text": "bug"}} → {note} with this input')


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        (lambda: {"tokens": ["😀"], "ids": [9]}, '{"tokens": ["😀"], "ids": [9]}'),
        (lambda: {"tokens": ["Ã"]}, '{"tokens": ["Ã"]}'),
        (lambda: refuses("unknown_symbol")("encode", None, {}), "refused as unknown_symbol"),
        (lambda: {}["Ã"], "crash: KeyError: "),
    ],
    ids=["another id", "bytes as characters", "refused", "crash"],
)
def test_an_adapter_that_reads_lines_in_another_encoding(answer: Callable[[], Any], seen: str) -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        return answer() if input["text"] == "😀" else answer_of(model)

    (wrong,) = [step for step in tried(Scripted(run=run)) if not step.right]
    assert wrong.name == "beyond ASCII"
    note, remedy = wrong.note.split("; ")
    assert note.startswith(f'{{"text": "😀"}} → {seen}')
    assert remedy == "it is a token of the model: read and write lines as UTF-8"


def test_an_adapter_that_counts_its_requests() -> None:
    asked: list[str] = []

    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        asked.append(operation)
        return answer_of(model) if input["text"] == "😀" else {"tokens": answer_of(model)["tokens"] * len(asked)}

    wrong = {
        "twice": "encode gives a different answer the second time; keep no state between requests",
        "contradiction": "encode gives a different answer after an invalid model; keep models apart",
    }
    assert tried(Scripted(run=run)) == expected(wrong, encode='{"text": "bug"} → {"tokens": ["b", "ug"]}')


class Mixing(Scripted):
    """Keeps one model for all requests: the last that it has loaded."""

    model: Any = None

    def load(self, format: str, content: Any) -> Any:
        self.model = content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        return (
            answer_of(self.model)
            if {"ug", "😀"}.intersection(self.model.get("vocabulary", ["ug"])) or self.model["type"] != "bpe"
            else {"tokens": ["b", "u", "g"]}
        )


def test_an_adapter_that_mixes_models_up() -> None:
    wrong = {"contradiction": "encode gives a different answer after an invalid model; keep models apart"}
    note = f'{{"text": "x"}} → wordpiece: the token "😀" is not in the vocabulary; {UNLESS}'
    assert tried(Mixing()) == expected(wrong, unknown=note)


class Trusting(Scripted):
    """Takes a model that cannot be."""

    def load(self, format: str, content: Any) -> Any:
        return content


def test_a_model_that_cannot_be_may_come_to_anything_but_is_better_refused() -> None:
    better = "better refuse it as invalid_model"
    assert tried(Trusting()) == expected(contradiction=f"{IMPOSSIBLE} leads to an answer; {better}")

    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        if model["type"] == "bpe" and "ug" not in model["vocabulary"]:
            raise KeyError("ug")
        return answer_of(model)

    (*others, last) = tried(Trusting(run=run))
    assert others == expected()[:-1]
    assert last.right
    assert last.note.startswith(f"{IMPOSSIBLE} leads to crash: KeyError: 'ug' (test_smoke.py:")
    assert last.note.endswith(f"; {better}")


@pytest.mark.parametrize(
    ("unknown", "note"),
    [
        (
            {"tokens": ["x"], "ids": [1]},
            'the token "x" has the id 1, which is that of "[UNK]"; give the token of the id',
        ),
        (
            {"tokens": ["[UNK]"], "ids": [7]},
            'the token "[UNK]" has the id 7, which is no token\'s; give the token of the id',
        ),
        ({"tokens": ["[UNK]"], "ids": [1, 1]}, 'tokens ["[UNK]"], ids [1, 1]: the numbers of tokens and ids differ'),
        ({"token": []}, "token: is an unknown key; did you mean tokens?; spec/10-protocol.md shows the result's shape"),
    ],
)
def test_an_unknown_character_whose_token_and_id_do_not_belong_together(unknown: dict[str, Any], note: str) -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        is_bert = model.get("pre_tokenizer", {}).get("type") == "bert"
        return unknown if input == {"text": "x"} and is_bert else answer_of(model)

    bert = f'wordpiece as BERT has it: {{"text": "x"}} → {note}'
    assert tried(Scripted(run=run)) == expected({"unknown": bert})


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (
            {},
            'unigram: {"text": "x"} → the token "x" has the id 4, which is that of "<unk>"; give the token of the id, '
            "or declare the choice unknown_token_text=surface",
        ),
        ({"unknown_token_text": "surface"}, ""),
        ({"unknown_token_text": "surface_in_unigram"}, ""),
    ],
)
def test_the_surface_of_an_unknown_token_is_right_where_the_choice_says_so(options: dict[str, str], note: str) -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        if input != {"text": "x"} or model["type"] != "unigram":
            return answer_of(model)
        return {"tokens": ["x"], "ids": [[token for token, _ in model["tokens"]].index("<unk>")]}

    steps = {step.name: step for step in tried(Scripted(replace(HELLO, choices=options), run))}
    right = '{"text": "x"} → every model answers or refuses'
    assert steps["unknown"] == Step("unknown", not note, note or right)


def test_a_tokenizer_that_gives_the_text_of_what_is_unknown_is_told_and_not_wrong() -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        return {"tokens": list(input["text"])}

    note = f'{{"text": "x"}} → wordpiece: the token "x" is not in the vocabulary; {UNLESS}'
    assert tried(Scripted(run=run)) == expected(unknown=note, encode='{"text": "bug"} → {"tokens": ["b", "u", "g"]}')


def test_tokens_that_are_not_those_of_their_ids_are_wrong_in_the_first_question_too() -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        return {"tokens": ["b", "ug"], "ids": [4, 0]}

    found = {step.name: step for step in tried(Scripted(run=run))}
    note = '{"text": "bug"} → the token "b" has the id 4, which is that of "ug"; give the token of the id'
    assert found["encode"] == Step("encode", False, note)


def test_a_tokenizer_that_crashes_at_an_unknown_character_is_told_and_not_wrong() -> None:
    def run(operation: str, model: Any, input: Mapping[str, Any]) -> Any:
        if model["type"] != "bpe":
            raise Unsupported("no")
        if input == {"text": "x"} and "pre_tokenizer" not in model:
            raise KeyError("x")
        return answer_of(model)

    (step,) = (step for step in tried(Scripted(run=run)) if step.name == "unknown")
    assert step.right
    said = re.sub(r"(?<=\.py:)\d+", "{}", step.note)
    crash = "bpe: crash: KeyError: 'x' (test_smoke.py:{} in run)"
    assert (
        said
        == f'{{"text": "x"}} → {crash}; better refuse it as unknown_symbol, unless it is the tokenizer that crashes'
    )


MODULE = """
from tokspec.adapter import Hello

class Right:
    def hello(self):
        return Hello("mine", "1.0", "Python", operations=("encode",))
    def load(self, format, content):
        return content
    def run(self, operation, model, input):
        special = {"[UNK]", "<unk>", "😀"} & {*model.get("vocabulary", ()), *(token for token, _ in model.get("tokens", ()))}
        return {"tokens": ["😀"] if "😀" in special else [*special] or ["b", "ug"]}

class Wrong(Right):
    def hello(self):
        return Hello("m\\x1b[2J" + "e" * 100_000, "1.0", "Python", operations=("encode", "fly"))

class Silent(Right):
    def hello(self):
        return None
"""


@pytest.fixture
def smoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, list[str]]]:
    """Run the command in a folder with a module; give its exit status and its lines."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smoked.py").write_text(MODULE, "utf-8")

    def run(*arguments: str) -> tuple[int, list[str]]:
        result = CliRunner().invoke(tokspec, ["smoke", *arguments], standalone_mode=False)
        assert result.exception is None
        return result.return_value, result.output.splitlines()

    return run


def test_the_command_says_what_to_do_next(smoke: Callable[..., tuple[int, list[str]]]) -> None:
    better = f"{IMPOSSIBLE} leads to an answer; better refuse it as invalid_model"
    assert smoke("--impl", "smoked:Right") == (
        0,
        [
            *(f"ok     {name}: {note}" for name, note in {**RIGHT, "contradiction": better}.items()),
            "",
            "the adapter works; judge the tokenizer behind it: tokspec run --impl smoked:Right",
        ],
    )


def test_the_command_names_the_first_step_to_mend_and_shows_it_safely(
    smoke: Callable[..., tuple[int, list[str]]],
) -> None:
    status, lines = smoke("--impl", "smoked:Wrong")
    assert status == 1
    assert lines[:2] == [
        f"ok     hello: m\\u001b[2J{'e' * 295} … {'e' * 287} 1.0 (Python)",
        "WRONG  operations: fly: not in spec/10-protocol.md; name only operations that are listed there",
    ]
    assert lines[-2:] == ["", "not yet: fix operations first"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--impl", "smoked:Silent"],
            "protocol: hello returned a value of type 'NoneType'; it needs a tokspec.adapter.Hello; "
            "return a tokspec.adapter.Hello from hello()",
        ),
        (["--cmd", "false"], 'crash: exit status 1; answer the first line, {"op": "hello"}, and flush'),
    ],
)
def test_the_command_says_why_there_is_no_hello(
    smoke: Callable[..., tuple[int, list[str]]], arguments: list[str], problem: str
) -> None:
    assert smoke(*arguments) == (1, [f"WRONG  hello: {problem}", "", "not yet: fix hello first"])
