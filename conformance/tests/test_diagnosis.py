"""Causes of failing cases: what they have in common, and how they are shown together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.cli import run_command_line
from tokspec.judge.diagnosis import diagnose, first_diverging_stage, group_failures
from tokspec.judge.runner import Run
from tokspec.judge.runner import run as judge_run
from tokspec.protocol.spans import convert_result
from tokspec.report.ndjson import ndjson, origin, read_report
from tokspec.report.text import text
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select

CASES = list(load_suite().cases.values())


def diagnosed(adapter: ReferenceAdapter, *patterns: str) -> Run:
    with InProcessSession(adapter) as session, InProcessSession(ReferenceAdapter()) as reference:
        return diagnose(judge_run(session, select(CASES, patterns)), session, reference)


def causes(judged: Run) -> list[tuple[str, int, str]]:
    """Return each cause with its number of cases and the one that shows it."""
    return [(group.cause, len(group.results), group.results[0].case.id) for group in group_failures(judged.failed)]


class Marked(ReferenceAdapter):
    """Always has a mark before a text that has white space pre-tokenized away, and so before its first token."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        if operation == "encode" and "▁" not in "".join(result["tokens"])[:1] and result["tokens"]:
            return {"tokens": [f"▁{result['tokens'][0]}", *result["tokens"][1:]]}
        return result

    def hello(self) -> Hello:
        return replace(super().hello(), operations=("encode",), encode_fields=("tokens",))


def test_one_prefix_is_one_cause_whatever_the_clause() -> None:
    judged = diagnosed(Marked(), "unigram-segment-*", "bpe-encode-*")
    ((cause, count, _), *others) = causes(judged)
    assert (cause, others) == ("encode: puts '▁' before a token", [])
    assert count == len(judged.failed) > 20
    assert len({result.case.clauses for result in judged.failed}) > 3


class Uncased(ReferenceAdapter):
    """Does not lower letters, and so does not find the tokens that are lower."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if operation == "normalize":
            return {"text": input["text"]}
        if operation == "encode" and model.normalizer is not None:
            return {"tokens": ["[UNK]"], "ids": [0], "spans": [[0, len(input["text"])]]}
        return super().run(operation, model, input)


def test_the_stage_that_diverges_is_the_cause_and_the_case_that_asks_it_is_shown() -> None:
    judged = diagnosed(Uncased(), "lowercase-*", "encode-span-lowercase-*", "encode-lowercases-before-the-model")
    assert causes(judged)[:2] == [
        ("normalize: another character, at letters (latin)", 7, "lowercase-not-lithuanian"),
        ("normalize: fewer characters, at letters (latin)", 2, "lowercase-grows"),
    ]
    assert {cause.partition(":")[0] for cause, _, _ in causes(judged)} == {"normalize"}
    assert {result.case.operation for result in judged.failed} == {"normalize", "encode"}


class WithoutSpans(ReferenceAdapter):
    """Gives pieces without spans, which nobody needs to give, and joins no pairs."""

    def load(self, format: str, content: Any) -> Any:
        return super().load(format, {**content, "merges": []} if content.get("type") == "bpe" else content)

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> dict[str, Any]:
        result = super().run(operation, model, input)
        return {"pieces": [piece[:1] for piece in result["pieces"]]} if operation == "pre_tokenize" else result


def test_spans_that_are_left_out_are_no_stage_that_diverges() -> None:
    judged = diagnosed(WithoutSpans(), "byte-level-encode-*", "bpe-toy-encode-*")
    assert judged.failed
    assert not [cause for cause, _, _ in causes(judged) if cause.startswith("pre_tokenize")]


class OtherUnit(ReferenceAdapter):
    """Counts in another unit, as it declares, and takes the last token off an encoding."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def hello(self) -> Hello:
        return replace(super().hello(), choices={"offset_unit": self.unit})

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = super().run(operation, model, input)
        if operation == "encode":
            result = {name: items[:-1] for name, items in result.items()}
        return convert_result(result, input, self.unit)


@pytest.mark.parametrize("unit", ["code_point", "byte", "utf16"])
def test_a_stage_that_counts_in_the_declared_unit_is_not_to_blame(unit: str) -> None:
    (case,) = select(CASES, ["byte-level-merged-characters"])
    with InProcessSession(OtherUnit(unit)) as session, InProcessSession(ReferenceAdapter()) as reference:
        judged = diagnose(judge_run(session, [case]), session, reference)
        stage = first_diverging_stage(case, session, reference)
    assert [result.cause for result in judged.failed] == ["encode: fewer tokens at the end"]
    assert stage == "normalize and pre_tokenize agree with the reference; what follows differs"


class Undeclared(ReferenceAdapter):
    """Takes another option than it declares."""

    def __init__(self) -> None:
        super().__init__({"unigram_unknown": "run"})

    def hello(self) -> Hello:
        return replace(super().hello(), choices={})


def test_a_choice_that_is_not_declared_is_the_cause() -> None:
    judged = diagnosed(Undeclared(), "unigram-*")
    assert [cause for cause, _, _ in causes(judged)] == ["passes with unigram_unknown=run"]


class Failing(ReferenceAdapter):
    """Fails at every word, each time with another number."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if len(input["text"]) > 3:
            raise IndexError(f"index {len(input['text'])} out of range for {input['text']!r}")
        raise Refusal("unknown_symbol", f"no {input['text']!r}")


def test_numbers_and_names_make_no_other_cause() -> None:
    judged = diagnosed(Failing(), "bpe-toy-encode-*")
    assert {cause for cause, _, _ in causes(judged)} == {
        "crash: IndexError: index N out of range for …",
        "error: refused as unknown_symbol where a result is expected: no …",
    }


class Bare(ReferenceAdapter):
    """Gives ids alone, and puts nothing around a text."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"ids": super().run(operation, model, {**input, "add_special_tokens": False})["ids"]}

    def hello(self) -> Hello:
        return replace(super().hello(), operations=("encode",), encode_fields=("ids",))


def lines_of(judged: Run) -> list[str]:
    """Return how a run names its causes, and why cases are unsupported."""
    lines = list(map(click.unstyle, text(judged, [])))
    return lines[: next(at for at, line in enumerate(lines) if line.startswith("chapter"))]


def test_ids_are_named_by_their_tokens_so_that_those_of_each_model_are_one_cause() -> None:
    judged = diagnosed(
        Bare(), "prompt-bert*", "template-in-its-order*", "text-of-more-than-512-tokens-with-a-post-processor*"
    )
    assert {result.question.outcome["expect"]["ids"][0] for result in judged.failed} == {0, 1, 2}
    assert lines_of(judged) == [
        "… and 1 more cause; --show 1 shows them all",
        "    9  encode: fewer tokens at the start: '[CLS]', at the end: '[SEP]': prompt-bert, template-in-its-order, template-in-its-order-wordpiece, template-in-its-order-unigram and 5 more",
        "",
        "a case that fails here but passes alone depends on another one: --verify finds such cases",
        "",
    ]


class Shifted(ReferenceAdapter):
    """Gives each id with a number added that is no id of the model."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        ids = super().run(operation, model, input)["ids"]
        return {"ids": [1000 * len(input["text"]) + id for id in ids]}

    def hello(self) -> Hello:
        return replace(super().hello(), operations=("encode",), encode_fields=("ids",))


def test_an_id_of_no_token_is_one_cause() -> None:
    assert lines_of(diagnosed(Shifted(), "bpe-toy-encode-*")) == [
        "… and 1 more cause; --show 1 shows them all",
        "    9  encode: an id that no token has: bpe-toy-encode-bug, bpe-toy-encode-mug, bpe-toy-encode-pun, bpe-toy-encode-capital and 5 more",
        "",
        "a case that fails here but passes alone depends on another one: --verify finds such cases",
        "",
    ]


class OtherUnknown(ReferenceAdapter):
    """Has another unknown token than the model, whatever the family."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        tokens = super().run(operation, model, input)["tokens"]
        return {"tokens": ["?" if token in ("<unk>", "[UNK]") else token for token in tokens]}

    def hello(self) -> Hello:
        return replace(super().hello(), operations=("encode",), encode_fields=("tokens",))


def test_many_cases_of_several_families_have_a_cause_for_each_family() -> None:
    many, few = ("unigram-unknown-*", "wordpiece-*"), ("unigram-unknown-a*", "wordpiece-unknown-*")
    assert lines_of(diagnosed(OtherUnknown(), *many)) == [
        "… and 2 more causes; --show 2 shows them all",
        "   32  encode: not the unknown token where the case has it, in wordpiece models: wordpiece-prefixed-token-starts-no-word, wordpiece-space-without-pre-tokenizer, wordpiece-word-of-65536-letters, wordpiece-unknown-span-of-bytes and 28 more",
        "   23  encode: not the unknown token where the case has it, in unigram models: unigram-unknown-letter-of-longer-tokens-only, unigram-unknown-not-across-punctuation, unigram-unknown-composed, unigram-unknown-metaspace and 19 more",
        "",
        "a case that fails here but passes alone depends on another one: --verify finds such cases",
        "",
        "unsupported, and why:",
        "   16  does not offer training_state",
        "   11  does not offer base_vocabulary",
        "   11  does not offer pair_scores",
        "   11  does not offer train",
        "    8  does not offer best_pair",
        "    4  does not offer training_trace",
        "    2  does not offer count_words",
        "    1  encode returns only tokens, and the case checks none of them",
        "",
    ]
    assert lines_of(diagnosed(OtherUnknown(), *few)) == [
        "… and 1 more cause; --show 1 shows them all",
        "    9  encode: not the unknown token where the case has it: wordpiece-unknown-span-of-bytes, wordpiece-unknown-span-with-a-mark, wordpiece-unknown-span-beyond-ascii, wordpiece-unknown-span-of-what-became-longer and 5 more",
        "",
        "a case that fails here but passes alone depends on another one: --verify finds such cases",
        "",
    ]


def test_what_fails_in_every_family_of_a_fixture_is_one_cause() -> None:
    found = causes(diagnosed(Bare(), "POST-*"))
    ((cause, count, _),) = [each for each in found if each[0].startswith("encode: another token, at punctuation")]
    assert (cause, count > 20) == ("encode: another token, at punctuation", True)


class Panicking(ReferenceAdapter):
    """Panics with numbers of every form."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        length = len(input["text"])
        numbers = ", ".join(map(str, range(length)))
        raise RuntimeError(
            f"the len is {length * 1000:,} but the index is {3 - length}, in [{numbers}] of {length / 3}"
        )


def test_numbers_of_every_form_make_no_other_cause() -> None:
    judged = diagnosed(Panicking(), "bpe-toy-encode-bug", "bpe-toy-encode-two-words", "bpe-toy-encode-mug")
    assert lines_of(judged) == [
        "… and 1 more cause; --show 1 shows them all",
        "    3  crash: RuntimeError: the len is N but the index is N, in [N, …] of N: bpe-toy-encode-bug, bpe-toy-encode-mug, bpe-toy-encode-two-words",
        "",
        "a case that fails here but passes alone depends on another one: --verify finds such cases",
        "",
    ]


class Quoting(ReferenceAdapter):
    """Quotes a text of several lines in its message."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RuntimeError(f"error parsing `{input['text']}\n{len(input['text'])}`: no such escape")


def test_a_text_of_several_lines_in_a_message_makes_no_other_cause() -> None:
    assert lines_of(diagnosed(Quoting(), "bpe-toy-encode-*")) == [
        "… and 1 more cause; --show 1 shows them all",
        "   10  crash: RuntimeError: error parsing …: no such escape: bpe-toy-encode-empty, bpe-toy-encode-bug, bpe-toy-encode-mug, bpe-toy-encode-pun and 6 more",
        "",
        "a case that fails here but passes alone depends on another one: --verify finds such cases",
        "",
    ]


class RestUnknown(ReferenceAdapter):
    """Keeps the tokens of WordPiece that it found, and has the unknown token for the rest of a piece."""

    def load(self, format: str, content: Any) -> Any:
        return content

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        if operation != "encode" or not {"normalizer", "pre_tokenizer"}.isdisjoint(model):
            raise Unsupported("only the plainest WordPiece")
        text, prefix, tokens = input["text"], "", list[str]()
        while text:
            length = next((end for end in range(len(text), 0, -1) if prefix + text[:end] in model["vocabulary"]), 0)
            tokens.append(prefix + text[:length] if length else model["unknown_token"])
            text, prefix = text[length:] if length else "", model["continuing_prefix"]
        return {"tokens": tokens}

    def hello(self) -> Hello:
        return replace(super().hello(), operations=("encode",), encode_fields=("tokens",))


def test_one_behaviour_at_unknown_rests_is_one_cause() -> None:
    judged = diagnosed(RestUnknown(), "wordpiece-*")
    assert [(cause, count) for cause, count, _ in causes(judged) if "unknown token" in cause] == [
        ("encode: pieces before the unknown token that the case has alone", 7),
        ("encode: not the unknown token where the case has it", 3),
    ]
    assert not [cause for cause, _, _ in causes(judged) if "more tokens" in cause]


class Pointing(ReferenceAdapter):
    """Crashes at every text, with an address, an id of a process and a temporary file in the message."""

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        number = sum(map(ord, input["text"]))
        where = f"0x{number:x} in thread {number + 0xA000:x}, pid {number}"
        raise RuntimeError(f"bad pointer {where}, see /tmp/tmp{number:x}q/core")


def test_addresses_and_temporary_names_make_no_other_cause() -> None:
    judged = diagnosed(Pointing(), "bpe-toy-encode-*")
    assert len(judged.failed) > 5
    assert {cause for cause, _, _ in causes(judged)} == {"crash: RuntimeError: bad pointer N in thread N, pid N, see …"}


def test_a_group_is_shown_once_and_every_case_is_in_the_report(tmp_path: Path) -> None:
    judged = diagnosed(Marked(), "bpe-toy-encode-*")
    failed = [result.case.id for result in judged.failed]
    shown = [[result.case.id for result in group.results] for group in group_failures(judged.failed)]
    assert list(text(judged, []))[:4] == [
        "… and 2 more causes; --show 2 shows them all",
        f"    6  encode: puts '▁' before a token: {', '.join(shown[0][:4])} and 2 more",
        f"    3  encode: not the unknown token where the case has it: {', '.join(shown[1])}",
        "",
    ]
    file = tmp_path / "r.ndjson"
    file.write_bytes(b"".join(ndjson(judged, origin("tokspec run", "tokspec run", "0" * 64))))
    read = read_report(file).run
    assert [(each.case.id, each.cause) for each in read.failed] == [
        (each.case.id, each.cause) for each in judged.failed
    ]
    assert sorted(failed) == sorted(case for group in shown for case in group)


ADAPTER = """
from tokspec.adapter import Hello

class Adapter:
    def hello(self):
        return Hello("letters", "1", "Python", operations=("encode",))
    def load(self, format, content):
        return None
    def run(self, operation, model, input):
        return {"tokens": ["▁", *input["text"]]}
"""


@pytest.mark.slow
def test_the_terminal_shows_one_of_a_cause_or_every_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(ADAPTER, "utf-8")
    arguments = ["run", "--impl", "mine:Adapter", "--select", "bpe-toy-encode-pun", "--select", "bpe-toy-encode-bug"]
    assert run_command_line(arguments) == 1
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert [line for line in lines if line.startswith("FAIL ")] == [
        "FAIL bpe-toy-encode-bug  (bpe/toy-encoding.yaml:7)"
    ]
    assert "  cause     of 2 cases: encode: puts '▁' before a token" in lines
    assert "  alike     bpe-toy-encode-pun" in lines
    assert run_command_line([*arguments, "--verbose"]) == 1
    lines = click.unstyle(capsys.readouterr().out).splitlines()
    assert len([line for line in lines if line.startswith("FAIL ")]) == 2
    assert not [line for line in lines if line.startswith("  alike")]


@pytest.fixture
def planted(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a function that judges a tokenizer with a planted behaviour, and returns what is said of causes."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "programs"))
    monkeypatch.chdir(tmp_path)

    def planted(name: str, *arguments: str) -> list[str]:
        _, out, _ = run("run", "--in-process", "--impl", f"planted:{name}", *arguments)
        return [line.strip() for line in click.unstyle(out).splitlines() if line.startswith(("  cause", "  alike"))]

    return planted


@pytest.mark.parametrize(
    ("name", "advised"),
    [
        ("Characters", []),
        pytest.param("SinglePass", [], marks=pytest.mark.slow),
        ("InVocabulary", ["cause     of 9 cases: passes with bpe_pairs=in_vocabulary"]),
        pytest.param(
            "LowestRank", ["cause     of 6 cases: passes with bpe_merge_order=lowest_rank"], marks=pytest.mark.slow
        ),
        pytest.param("Longest", [], marks=pytest.mark.slow),
    ],
)
def test_an_option_is_advised_only_where_it_is_well_supported(planted: Any, name: str, advised: list[str]) -> None:
    found = planted(name, "--select", "bpe-*")
    assert [line for line in found if "passes with bpe_pairs" in line or "passes with bpe_merge" in line] == advised


def test_an_option_that_one_case_alone_speaks_for_is_not_advised(planted: Any) -> None:
    assert planted("LowestRank", "--select", "bpe-encode-late-merge") == []


def test_an_unexpected_pass_has_no_cause(planted: Any) -> None:
    selected = ("--select", "bpe-encode-late-merge*")
    assert planted("LowestRank", *selected, "--update-known-failures") == []
    assert planted("SinglePass", *selected, "--known-failures", "tokspec-known-failures.yaml") == [
        "alike     bpe-encode-late-merge-twice, bpe-encode-late-merge-between-places, bpe-encode-late-merge-in-part"
    ]
