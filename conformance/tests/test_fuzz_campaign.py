"""A campaign: it finds what is wrong and nothing else, makes it small, and finds the same with the same seed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.adapters.registry import open_session
from tokspec.base.errors import AdapterFault, DataError, Refusal, Unsupported
from tokspec.compare.shrink import Question
from tokspec.fuzz.campaign import Budget, Campaign, _Database
from tokspec.fuzz.checker import AGAIN, Checker, Side
from tokspec.protocol.messages import Answer, Reply
from tokspec.quality.mutants import load_mutants, mutants_folder
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session

pytestmark = pytest.mark.slow

Change = Callable[[str, Any, Mapping[str, Any], dict[str, Any]], Any]


class Changed(ReferenceAdapter):
    """The reference, with its results changed."""

    def __init__(self, change: Change | None, choices: Mapping[str, str] | None = None) -> None:
        super().__init__(choices or {})
        self.change = change

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        result = dict(super().run(operation, model, input))
        return (self.change(operation, model, input, result) if self.change else None) or result


class StagesAlone(ReferenceAdapter):
    """The reference, which loads no model."""

    def load(self, format: str, content: Any) -> Any:
        if "type" in content:
            raise Unsupported("stages alone")
        return super().load(format, content)


class OffersAlone(ReferenceAdapter):
    """The reference, which offers one operation."""

    def __init__(self, operation: str) -> None:
        super().__init__()
        self.operation = operation

    def hello(self) -> Hello:
        return replace(super().hello(), operations=(self.operation,))


def side(change: Change | None = None, **choices: str) -> Side:
    return Side(lambda: InProcessSession(Changed(change, choices)))


def campaign(
    change: Change | None, examples: int = 100, families: tuple[str, ...] = ("bpe",), **options: Any
) -> Campaign:
    made = Campaign(Checker(side(change)), 1, Budget(examples=examples), families, **options)
    made.run()
    return made


def shown(made: Campaign) -> list[tuple[str, str, str, Mapping[str, Any], Mapping[str, Any]]]:
    return [
        (each.clause, each.question.operation, each.kind, each.question.model, each.question.input)
        for each in made.findings
    ]


def lose_last_token(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if operation == "encode" and len(result["tokens"]) > 3:
        for key in result:
            result[key] = result[key][:-1]


def test_the_reference_differs_in_nothing() -> None:
    made = campaign(None, 200, ("stages", "bpe", "bpe-bytes", "wordpiece", "unigram", "training"))
    assert (shown(made), made.tally.examples, set(made.tally.states)) == ([], 200, {"same"})


def test_what_is_found_is_small() -> None:
    first, *_ = shown(campaign(lose_last_token))
    assert first == ("BPE-ENC-1", "encode", "tokens", {"type": "bpe", "vocabulary": ["a"]}, {"text": "aaaa"})


@pytest.mark.long
def test_the_same_seed_finds_the_same() -> None:
    first, second = campaign(lose_last_token), campaign(lose_last_token)
    assert shown(first) == shown(second)
    assert first.tally == second.tally


def test_each_difference_is_told_once_and_how_often() -> None:
    made = campaign(lose_last_token)
    assert len({(each.origin, each.components) for each in made.findings}) == len(made.findings)
    assert next(iter(made.findings)).times > 10


@pytest.mark.long
def test_a_frequent_fault_hides_no_rare_one_of_another_kind_or_component() -> None:
    def both(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        lose_last_token(operation, model, input, result)
        if operation == "encode" and input["text"] in model.special_tokens:
            result.update(tokens=[], ids=[], spans=[])
        if operation == "decode" and not result["text"]:
            result["text"] = " "

    found = {(each.question.operation, "special_tokens" in each.components) for each in campaign(both, 600).findings}
    assert found >= {("encode", False), ("encode", True), ("decode", False)}


def test_a_stage_excuses_the_encoding_behind_it() -> None:
    def trim(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        if operation == "normalize":
            result["text"] = result["text"].replace("a", "")

    made = campaign(trim, 200, ("wordpiece", "bpe"))
    assert {finding.question.operation for finding in made.findings} == {"normalize"}


@pytest.mark.long
def test_crashes_and_wrong_reasons_are_found() -> None:
    def crash(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        if operation == "decode" and len(input.get("ids", ())) > 1:
            raise IndexError("list index out of range")
        if operation == "encode" and "aa" in input["text"]:
            raise Refusal("invalid_input", "no")

    kinds = {(finding.question.operation, finding.kind) for finding in campaign(crash).findings}
    assert kinds == {("decode", "crash"), ("encode", "refused as invalid_input")}


def test_unsupported_is_no_difference() -> None:
    def refuse(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        raise Refusal("unsupported", "not today")

    made = campaign(refuse, 50, ("stages",))
    assert (shown(made), set(made.tally.states)) == ([], {"unsupported"})


def test_a_family_that_is_not_supported_is_left_out_after_a_while() -> None:
    made = Campaign(
        Checker(Side(lambda: InProcessSession(StagesAlone()))), 1, Budget(examples=200), ("stages", "unigram")
    )
    made.run()
    assert set(made.tally.families) == {"stages", "unigram"}
    assert made.tally.families["unigram"] == 0
    assert made.tally.states["unsupported"] < made.tally.states["same"]


def test_an_interruption_leaves_what_was_found() -> None:
    def interrupt(made: Campaign) -> None:
        if len(made.findings):
            raise KeyboardInterrupt

    made = Campaign(Checker(side(lose_last_token)), 1, Budget(), ("bpe",), interrupt)
    assert len(made.run()) == 1
    assert made.interrupted


def test_an_interruption_leaves_what_was_being_shrunk() -> None:
    lost, first = itertools.count(), next(iter(campaign(lose_last_token).findings))

    def interrupt(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        lose_last_token(operation, model, input, result)
        if operation == "encode" and len(result["tokens"]) >= 3 and next(lost) == 20:
            raise KeyboardInterrupt

    made = Campaign(Checker(side(interrupt)), 1, Budget(), ("bpe",))
    (found,) = made.run()
    assert made.interrupted
    assert (found.kind, found.examples) == (first.kind, first.examples)


@pytest.mark.long
def test_the_clock_is_seen_while_a_program_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "import time",
        "from tokspec.adapters.reference import ReferenceAdapter",
        "class Hangs(ReferenceAdapter):",
        "    def run(self, operation, model, input):",
        "        result = super().run(operation, model, input)",
        "        if len(result.get('tokens', ())) > 3: time.sleep(1000)",
        "        return result",
    ]
    (tmp_path / "hangs.py").write_text("\n".join(lines), "utf-8")
    monkeypatch.chdir(tmp_path)
    judged = Side(lambda: open_session("hangs:Hangs", None, limits=Limits(case_seconds=0.2)))
    made = Campaign(Checker(judged), 1, Budget(seconds=8), ("bpe",), enough=1)
    assert {finding.kind for finding in made.run()} == {"timeout"}
    judged.close()
    assert made.seconds < 30


def test_an_implementation_that_is_asked_nothing_is_told() -> None:
    judged = Side(lambda: InProcessSession(OffersAlone("segment")))
    message = "tokref 0.3.0 offers segment, and none of 20 examples of stages asks for it"
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        Campaign(Checker(judged), 1, Budget(examples=20), ("stages",)).run()


def test_only_what_is_supported_is_counted_by_operation() -> None:
    made = Campaign(Checker(Side(lambda: InProcessSession(OffersAlone("decode")))), 1, Budget(examples=50), ("bpe",))
    made.run()
    assert set(made.tally.operations) == {"decode"}
    assert made.tally.families["bpe"] == made.tally.operations["decode"]


def test_what_is_given_is_asked_first_and_is_not_of_the_budget() -> None:
    given = [Question({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": text}) for text in ("a", "aaaa")]
    made = Campaign(Checker(side(lose_last_token)), 1, Budget(seconds=0.0), ("bpe",))
    made.run(given)
    assert [each.question for each in made.findings] == given[1:]
    assert (made.tally.examples, dict(made.tally.states)) == (0, {"same": 1, "differs": 1})


# The database


def test_another_campaign_replays_what_was_kept_until_it_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("_SHRINKING_LATE", "_POLISHING"):  # a busy machine makes examples less small
        monkeypatch.setattr(f"tokspec.fuzz.campaign.{limit}", 60.0)
    first = campaign(lose_last_token, database=tmp_path)
    again = Campaign(Checker(side(lose_last_token)), 99, Budget(seconds=0.0), ("bpe",), database=tmp_path)
    again.run()
    assert [each.origin for each in again.findings] == [each.origin for each in first.findings]
    smallest = [min(each.question.size for each in made.findings) for made in (first, again)]
    assert smallest[1] <= smallest[0]  # it may be made smaller yet
    right = Campaign(Checker(side()), 99, Budget(seconds=0.0), ("bpe",), database=tmp_path)
    right.run()
    assert (shown(right), [*tmp_path.rglob("*/*")]) == ([], [])


def test_what_is_kept_stays_where_a_replay_is_interrupted(tmp_path: Path) -> None:
    campaign(lose_last_token, database=tmp_path)
    before = sorted(file.name for file in tmp_path.rglob("*") if file.is_file())

    def interrupt(made: Campaign) -> None:
        raise KeyboardInterrupt

    Campaign(Checker(side()), 1, Budget(), ("bpe",), interrupt, database=tmp_path).run()
    assert before
    assert sorted(file.name for file in tmp_path.rglob("*") if file.is_file()) == before


@pytest.mark.parametrize(
    "damage", [b"", b"\xff\xfe", b'{"model": {"ty', b'{"input": 5, "model": [], "operation": {"a": 1}}', b"[]"]
)
def test_a_database_that_is_damaged_is_named(tmp_path: Path, damage: bytes) -> None:
    kept = _Database(tmp_path)
    kept.keep(Question({"type": "wordlevel"}, "normalize", {"text": "a"}), is_found=True)
    assert kept.questions() == [Question({"type": "wordlevel"}, "normalize", {"text": "a"})]
    for file in tmp_path.rglob("*"):
        if file.is_file():
            file.write_bytes(damage)
    with pytest.raises(DataError, match=f"^{re.escape(str(tmp_path))}: is damaged; remove it$"):
        kept.questions()


# Faults of every kind, each of which a property of its own once noticed without an oracle


def _change(key: str, change: Callable[[Any], Any], *operations: str) -> Change:
    def run(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        if operation in operations and result.get(key):
            result[key] = change(result[key])

    return run


def counted_apart(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    words = input.get("corpus", {}).get("words", ())
    if operation == "train" and len(words) != len({word for word, _ in words}) and "vocabulary" in result:
        result["vocabulary"] = [*result["vocabulary"], "twice"]


def afraid_of_many(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
    if (
        operation == "train"
        and sum(count for _, count in input["corpus"].get("words", ())) > 20
        and "vocabulary" in result
    ):
        result["vocabulary"] = result["vocabulary"][:2]


BREAKS: Mapping[str, tuple[Change, str]] = {
    "ids are one on": (_change("ids", lambda ids: [None if id is None else id + 1 for id in ids], "encode"), "encode"),
    "spans are turned round": (_change("spans", lambda spans: spans[::-1], "encode"), "encode"),
    "the last span is of the whole text": (
        _change("spans", lambda spans: [*spans[:-1], [0, spans[-1][1]]], "encode"),
        "encode",
    ),
    "decoded text is trimmed": (_change("text", str.strip, "decode"), "decode"),
    "decoded words are joined": (_change("text", lambda text: text.replace(" ", ""), "decode"), "decode"),
    "tokens are glued": (_change("tokens", lambda tokens: ["".join(tokens)], "encode"), "encode"),
    "tokens are characters": (_change("tokens", lambda tokens: list("".join(tokens)), "segment"), "segment"),
    "the last merges come first": (_change("merges", lambda merges: merges[::-1], "train"), "train"),
    "nothing is learned": (_change("merges", lambda merges: [], "train"), "train"),
    "equal words are counted apart": (counted_apart, "train"),
    "large counts are feared": (afraid_of_many, "train"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BREAKS)
def test_a_fault_of_every_kind_is_found(name: str) -> None:
    change, operation = BREAKS[name]
    families = ("stages", "bpe", "unigram", "training")
    (found,) = campaign(change, 2000, families, enough=1).findings
    assert found.question.operation == operation
    assert found.question.size < 150


# Asking again


class Tired(ReferenceAdapter):
    """The reference, which does something else when it is asked again for a text of three or more characters."""

    def __init__(self, then: Callable[[], Any]) -> None:
        super().__init__()
        self.then, self.seen = then, set[str]()

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = f"{operation} {id(model)} {input}"
        if asked in self.seen:
            return self.then() or super().run(operation, model, input)
        if len(input.get("text", "")) >= 3:
            self.seen.add(asked)
        return super().run(operation, model, input)


def crash() -> None:
    raise IndexError("list index out of range")


def refuse() -> None:
    raise Refusal("unsupported", "not again")


@pytest.mark.parametrize(
    ("then", "detail"),
    [
        (crash, "it is answered {'text': 'aaa'}, and a crash (IndexError: list index out of range (%s in crash)) "),
        (refuse, "it is answered {'text': 'aaa'}, and refused as unsupported "),
    ],
)
def test_another_reply_the_second_time_is_a_finding(then: Callable[[], Any], detail: str) -> None:
    checker = Checker(Side(lambda: InProcessSession(Tired(then))))
    comparison = checker.compare_one(Question({}, "normalize", {"text": "aaa"}), again=True)
    assert (comparison.state, comparison.kind) == ("differs", AGAIN)
    assert comparison.result is not None
    place = f"{Path(__file__).name}:{crash.__code__.co_firstlineno + 1}"
    assert comparison.result.detail == (detail % place if "%s" in detail else detail) + "when it is asked again"


def test_what_shows_only_the_second_time_is_found_and_small() -> None:
    made = Campaign(
        Checker(Side(lambda: InProcessSession(Tired(lambda: {"text": "tired"})))), 1, Budget(examples=300), ("stages",)
    )
    found = [(each.clause, each.kind, len(each.question.input["text"])) for each in made.run()]
    assert ("ERROR-1", AGAIN, 3) in found


def test_what_is_refused_or_crashes_each_time_is_the_same() -> None:
    checker = Checker(Side(lambda: InProcessSession(Tired(crash))))
    refused = Question({"type": "bpe", "vocabulary": ["a"]}, "encode", {"text": "b"})
    assert checker.compare_one(refused, again=True).state == "same"


def test_what_differs_at_random_ends_a_hunt_and_not_the_campaign() -> None:
    answers = itertools.count()

    def moody(operation: str, model: Any, input: Mapping[str, Any], result: dict[str, Any]) -> None:
        if operation == "normalize" and next(answers) == 30:
            result["text"] += "x"

    made = campaign(moody, 100, ("stages",))
    assert [each.question.operation for each in made.findings] == ["normalize"]
    assert made.tally.examples == 100


# Mutants


def hunt(id: str, seconds: float) -> Any:
    folder = mutants_folder()
    assert folder is not None
    mutant = next(each for each in load_mutants(folder) if each.id == id)
    return import_module("fuzz_mutants").hunt(mutant, 1, seconds)


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[1] / "bench")


@pytest.mark.long
@pytest.mark.parametrize(
    "id",
    [
        "whole-piece-first",
        "special-tokens-shortest-first",
        "bert-keeps-format-characters",
        "gpt2-spaces-kept-together",
        "segmentation-longest-token-first",
        "pairs-counted-without-overlap",
    ],
)
def test_mutants_are_found_from_a_cold_start(id: str) -> None:
    found = hunt(id, 30)
    assert found.finding is not None
    assert found.finding.question.size < 150


@pytest.mark.parametrize(
    "id", ["any-of-equals-by-latest-start", "harmless-added-characters-last-point", "losses-summed-exactly"]
)
def test_what_is_permitted_is_not_found(id: str) -> None:
    assert hunt(id, 2).finding is None


# Sessions


def test_what_does_not_start_again_goes_on() -> None:
    opened: list[Session] = []

    def open() -> Session:
        if len(opened) == 1 and len(asked) < 5:
            raise AdapterFault("crash", "exit status 1")
        opened.append(InProcessSession(ReferenceAdapter()))
        return opened[-1]

    asked: list[Reply] = []
    judged = Side(open, most=2)
    for number in range(8):
        model = {"type": "bpe", "vocabulary": ["a", f"{number}"]}
        asked += judged.ask(model, [("encode", {"text": f"{number}"})])[0]
    assert [reply.result["ids"] for reply in asked if isinstance(reply, Answer)] == [[1]] * 8
    assert len(opened) > 1
