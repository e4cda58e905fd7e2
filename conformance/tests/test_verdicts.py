"""Every way in which a case and a reply come to a verdict, with the whole detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from tokspec.adapter import Hello
from tokspec.base.errors import AdapterFault
from tokspec.judge.compare import ABSENT, Difference
from tokspec.judge.effects import Effect
from tokspec.judge.verdicts import Result, Verdict, count_verdicts, effective_choices, judge, not_run
from tokspec.protocol.messages import Answer, Fault, Refused, Reply
from tokspec.suite import schema
from tokspec.suite.cases import Case, Model
from tokspec.suite.fixtures import load_suite
from tokspec.suite.specification import load_specification

FIELDS = ("tokens", "ids", "spans")
EVERY_FIELD = (
    *(*FIELDS, "type_ids", "special_tokens_mask"),
    *("attention_mask", "word_ids", "sequence_ids", "overflowing"),
)
HELLO = Hello("mine", "1", "Python", ("encode", "decode"), encode_fields=FIELDS)
BUG = {"tokens": ["b", "ug"], "ids": [1, 8], "spans": [[0, 1], [1, 3]]}


def case(
    outcome: Mapping[str, Any],
    operation: str = "encode",
    text: str = "bug",
    tolerance: Mapping[str, float] | None = None,
) -> Case:
    return Case(
        id="one",
        clauses=("BPE-ENC-1",),
        why="It is needed for a test.",
        source=(),
        model=Model("toy", {}),
        operation=operation,
        input={"text": text},
        outcome=outcome,
        stated=(),
        worked=(),
        tolerance=tolerance or {},
        tags=(),
        verified_by=("hand",),
        file="toy.yaml",
        line=1,
    )


def judged(case: Case, reply: Reply, fields: tuple[str, ...] = FIELDS, **options: str) -> Result:
    hello = Hello("mine", "1", "Python", ("encode", "decode"), encode_fields=fields, choices=options)
    return judge(case, reply, hello, effective_choices(hello))


def outcome(result: Result) -> tuple[str, str, Difference | None]:
    return result.verdict.value, result.detail, result.difference


def test_the_right_answer_passes() -> None:
    asked, reply = case({"expect": BUG}), Answer(BUG)
    asks = (Effect.MODEL_INPUT, Effect.POSITIONS, Effect.NAMES)
    assert judged(asked, reply) == Result(asked, Verdict.PASS, "", {"expect": BUG}, reply, asks=asks)


@pytest.mark.parametrize(
    ("result", "difference"),
    [
        ({**BUG, "tokens": ["b", "u", "g"]}, Difference(("tokens", 1), "ug", "u")),
        ({**BUG, "tokens": ["b"]}, Difference(("tokens", 1), "ug", ABSENT)),
        ({**BUG, "tokens": ["b", "ug", ""]}, Difference(("tokens", 2), ABSENT, "")),
        ({**BUG, "ids": [1, None]}, Difference(("ids", 1), 8, None)),
        ({**BUG, "spans": [[0, 1], [1, 2]]}, Difference(("spans", 1, 1), 3, 2)),
        ({"tokens": ["b", "ug"], "spans": BUG["spans"]}, Difference(("ids",), [1, 8], ABSENT)),
        ({"tokens": ["b", "u"], "ids": [1, 8]}, Difference(("tokens", 1), "ug", "u")),
    ],
    ids=["another token", "too few", "too many", "no id", "another span", "a field less", "another token, no spans"],
)
def test_a_wrong_answer_fails_at_its_first_difference(result: Any, difference: Difference) -> None:
    assert outcome(judged(case({"expect": BUG}), Answer(result))) == ("fail", "wrong answer", difference)


TWO: Mapping[str, Any] = {
    "tokens": ["b", "ug"],
    "type_ids": [0, 1],
    "spans": [[0, 1], [0, 2]],
    "sequence_ids": [0, 1],
    "overflowing": [{"tokens": ["g"], "type_ids": [1], "spans": [[1, 2]], "sequence_ids": [1]}],
}


def encoded(right: Mapping[str, Any], given: Mapping[str, Any], *fields: str) -> tuple[str, str, Difference | None]:
    return outcome(judged(case({"expect": right}), Answer(given), fields))


def test_only_declared_fields_of_an_encoding_are_compared() -> None:
    wrong = {**TWO, "type_ids": [0, 0]}
    assert encoded(TWO, wrong, "tokens", "spans", "sequence_ids") == ("pass", "", None)
    assert encoded(TWO, wrong, "tokens", "type_ids") == ("fail", "wrong answer", Difference(("type_ids", 1), 1, 0))
    assert encoded({"type_ids": [0, 1]}, TWO, "tokens", "ids") == (
        "unsupported",
        "encode returns only tokens, ids, and the case checks none of them",
        None,
    )


def test_what_overflows_is_compared_in_the_declared_fields() -> None:
    (part,) = TWO["overflowing"]
    more = {**TWO, "overflowing": [part, part]}
    wrong = {**TWO, "overflowing": [{**part, "type_ids": [0]}]}
    less = {**TWO, "overflowing": [{"tokens": ["g"], "type_ids": [1]}]}
    assert encoded(TWO, more, "tokens") == ("pass", "", None)
    assert encoded(TWO, wrong, "tokens", "overflowing") == ("pass", "", None)
    assert encoded(TWO, wrong, "type_ids", "overflowing") == (
        "fail",
        "wrong answer",
        Difference(("overflowing", 0, "type_ids", 0), 1, 0),
    )
    assert encoded(TWO, more, "tokens", "overflowing") == (
        "fail",
        "wrong answer",
        Difference(("overflowing", 1), ABSENT, part),
    )
    assert encoded(TWO, less, "tokens", "spans", "overflowing") == ("pass", "gives no spans of this text", None)
    assert encoded(more, TWO, "tokens", "overflowing") == (
        "fail",
        "wrong answer",
        Difference(("overflowing", 1), part, ABSENT),
    )


def test_a_batch_is_compared_in_the_declared_fields_of_each_encoding() -> None:
    asked = replace(
        case({"expect": {"encodings": [BUG, BUG]}}, "encode_batch"),
        input={"inputs": [{"text": "bug"}, {"text": "bug"}]},
    )
    wrong = {**BUG, "ids": [1, 1]}
    without = {"tokens": BUG["tokens"], "ids": BUG["ids"]}
    assert judged(asked, Answer({"encodings": [BUG, wrong]}), ("tokens",)).verdict is Verdict.PASS
    assert outcome(judged(asked, Answer({"encodings": [BUG, wrong]}))) == (
        "fail",
        "wrong answer",
        Difference(("encodings", 1, "ids", 1), 8, 1),
    )
    assert outcome(judged(asked, Answer({"encodings": [BUG]}))) == (
        "fail",
        "wrong answer",
        Difference(("encodings", 1), BUG, ABSENT),
    )
    assert outcome(judged(asked, Answer({"encodings": [without, BUG]}))) == (
        "pass",
        "gives no spans of this text",
        None,
    )
    assert outcome(judged(asked, Answer({"encodings": [BUG, BUG]}), ("type_ids",))) == (
        "unsupported",
        "encode_batch returns only type_ids, and the case checks none of them",
        None,
    )


@pytest.mark.parametrize(
    ("clauses", "fields", "expected"),
    [
        (("ENC-3",), ("tokens", "ids"), "unsupported"),
        (("ENC-3", "TERM-3"), ("tokens", "ids"), "unsupported"),
        (("ENC-3", "ENC-1"), ("tokens", "ids"), "pass"),
        (("POST-5",), ("tokens", "word_ids"), "pass"),
        (("ENC-3",), ("tokens", "spans"), "pass"),
    ],
)
def test_a_case_about_fields_that_are_not_given_is_no_pass(
    clauses: tuple[str, ...], fields: tuple[str, ...], expected: str
) -> None:
    """Whatever else the answer has right; a wrong one is wrong all the same."""
    asked = replace(case({"expect": {"tokens": ["b", "ug"], "spans": [[0, 1], [1, 3]]}}), clauses=clauses)
    right = {"tokens": ["b", "ug"], "spans": [[0, 1], [1, 3]], "ids": [1, 8], "word_ids": [0, 0]}
    given = {name: value for name, value in right.items() if name in fields}
    detail = "encode returns only tokens, ids, and the case is about spans" if expected == "unsupported" else ""
    assert outcome(judged(asked, Answer(given), fields)) == (expected, detail, None)
    assert judged(asked, Answer({**given, "tokens": ["bug"]}), fields).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("clauses", "fields", "expected"),
    [
        (("ENC-3",), ("tokens", "spans"), "unsupported"),
        (("ENC-3", "ENC-1"), ("tokens", "spans"), "pass"),
        (("POST-5",), ("tokens", "spans", "word_ids"), "pass"),
        (("POST-5",), ("tokens", "spans"), "unsupported"),
    ],
)
def test_a_case_about_spans_that_an_answer_leaves_out_is_no_pass(
    clauses: tuple[str, ...], fields: tuple[str, ...], expected: str
) -> None:
    asked = replace(case({"expect": {"tokens": ["b"], "spans": [[0, 1]], "word_ids": [0]}}), clauses=clauses)
    about = "spans" if clauses == ("ENC-3",) else "spans or word_ids or sequence_ids"
    detail = "gives no spans of this text" + (f", and the case is about {about}" if expected == "unsupported" else "")
    given = {name: value for name, value in {"tokens": ["b"], "word_ids": [0]}.items() if name in fields}
    assert outcome(judged(asked, Answer(given), fields)) == (expected, detail, None)
    assert judged(asked, Answer({**given, "tokens": ["bug"]}), fields).verdict is Verdict.FAIL


def test_an_empty_batch_is_compared_though_it_has_no_field() -> None:
    asked = replace(case({"expect": {"encodings": []}}, "encode_batch"), input={"inputs": []})
    assert outcome(judged(asked, Answer({"encodings": []}), ("tokens",))) == ("pass", "", None)
    assert outcome(judged(asked, Answer({"encodings": [BUG]}))) == (
        "fail",
        "wrong answer",
        Difference(("encodings", 0), ABSENT, BUG),
    )


def test_spans_of_a_pair_are_converted_in_their_own_text() -> None:
    right = {
        "spans": [[0, 1], [0, 1], [0, 0]],
        "sequence_ids": [0, 1, None],
        "overflowing": [{"spans": [[1, 2]], "sequence_ids": [1]}],
    }
    asked = replace(case({"expect": right}), input={"text": "ü", "pair": "🙂ü"})
    converted = {**right, "spans": [[0, 2], [0, 4], [0, 0]], "overflowing": [{"spans": [[4, 6]], "sequence_ids": [1]}]}
    fields = ("spans", "sequence_ids", "overflowing")
    assert judged(asked, Answer(converted), fields, offset_unit="byte").verdict is Verdict.PASS
    assert judged(asked, Answer(right), fields, offset_unit="byte").difference == Difference(("spans", 0, 1), 2, 1)
    row = {**asked.input}
    batch = replace(
        asked, operation="encode_batch", input={"inputs": [row]}, outcome={"expect": {"encodings": [right]}}
    )
    assert judged(batch, Answer({"encodings": [converted]}), fields, offset_unit="byte").verdict is Verdict.PASS


def test_an_answer_that_is_right_without_spans_passes_and_says_so() -> None:
    without = {"tokens": BUG["tokens"], "ids": BUG["ids"]}
    assert outcome(judged(case({"expect": BUG}), Answer(without))) == (
        "pass",
        "gives no spans of this text",
        None,
    )
    assert outcome(judged(case({"expect": without}), Answer(without))) == ("pass", "", None)
    assert outcome(judged(case({"expect": BUG}), Answer(without), ("spans",))) == (
        "unsupported",
        "gives no spans of this text, and the case checks nothing else",
        None,
    )


def test_pieces_without_spans_pass_and_say_so() -> None:
    def verdict(*pieces: list[Any]) -> tuple[str, str]:
        expect = {"pieces": [["bug", 0, 3], ["!", 3, 4]]}
        asked = case({"expect": expect}, operation="pre_tokenize")
        judged = judge(
            asked,
            Answer({"pieces": list(pieces)}),
            Hello("x", "1", "C", ("pre_tokenize",)),
            load_specification().defaults(),
        )
        return judged.verdict.value, judged.detail

    assert verdict(["bug"], ["!"]) == ("pass", "gives no spans of this text")
    assert verdict(["bug!"]) == ("fail", "wrong answer")
    assert verdict(["bug", 0, 3], ["!", 3, 5]) == ("fail", "wrong answer")
    assert verdict(["bug", 0], ["!", 3])[0] == "protocol"


@pytest.mark.parametrize(
    ("operation", "result", "detail"),
    [
        (
            "encode",
            {**BUG, "more": 1},
            "more: is an unknown key; known are attention_mask, ids, overflowing, sequence_ids, spans, special_tokens_mask, tokens, type_ids, word_ids",
        ),
        ("encode", {**BUG, "token": []}, "token: is an unknown key; did you mean tokens?"),
        ("encode", {**BUG, "ids": ["1", "8"]}, 'ids/0: "1" is not of types "null", "integer"'),
        ("encode", {**BUG, "tokens": "bug"}, 'tokens: "bug" is not of type "array"'),
        ("decode", {}, "the result: lacks the key text"),
        ("decode", {"text": 3}, 'text: 3 is not of types "string", "object"'),
        ("decode", {"txt": "bug"}, "txt: is an unknown key; did you mean text?"),
    ],
)
def test_a_result_of_the_wrong_shape_breaks_the_protocol(operation: str, result: Any, detail: str) -> None:
    assert outcome(judged(case({"expect": {"text": "bug"}}, operation), Answer(result))) == ("protocol", detail, None)
    refusal = case({"error": "unknown_id"}, operation)
    assert outcome(judged(refusal, Answer(result))) == ("protocol", detail, None)


def types(node: Mapping[str, Any], within: frozenset[str] = frozenset()) -> Iterator[str]:
    """Return the types of everything that a part of the schema allows; ``anything`` where it does not say."""
    if "$ref" in node:
        name = node["$ref"].removeprefix("#/$defs/")
        yield from types(schema.definitions()[name], within | {name}) if name not in within else ()
    elif "oneOf" in node:
        yield from chain.from_iterable(types(each, within) for each in node["oneOf"])
    else:
        own = node.get("type", "anything")
        yield from [own] if isinstance(own, str) else own
        inner = [*node.get("prefixItems", ()), node.get("items", False)] if "array" in own else []
        if "object" in own:
            inner = [*node.get("properties", {}).values(), node.get("additionalProperties", True)]
        yield from chain.from_iterable(types(each if isinstance(each, dict) else {}, within) for each in inner if each)


def test_no_result_may_hold_a_boolean_so_that_equality_tells_results_apart() -> None:
    found = {name: set(types(part["result"])) for name, part in schema.definitions()["operations"].items()}
    assert set().union(*found.values()) == {"object", "array", "string", "integer", "number", "null"}
    assert outcome(judged(case({"expect": BUG}), Answer({**BUG, "ids": [True, 8]}))) == (
        "protocol",
        'ids/0: true is not of types "null", "integer"',
        None,
    )
    assert judged(case({"expect": BUG}), Answer({**BUG, "ids": [1.0, 8]})).verdict is Verdict.PASS


def test_a_refusal_where_an_answer_is_due() -> None:
    asked = case({"expect": BUG})
    detail = "refused as unknown_symbol where a result is expected"
    assert outcome(judged(asked, Refused("unknown_symbol", ""))) == ("error", detail, None)
    assert outcome(judged(asked, Refused("unknown_symbol", "m"))) == ("error", f"{detail}: m", None)


def test_a_refusal_that_is_due() -> None:
    asked = case({"error": "unknown_symbol"})
    assert outcome(judged(asked, Refused("unknown_symbol", "anything"))) == ("pass", "", None)
    detail = "refused as invalid_model where a refusal as unknown_symbol is expected: m"
    assert outcome(judged(asked, Refused("invalid_model", "m"))) == ("error", detail, None)
    detail = "answers where a refusal as unknown_symbol is expected"
    assert outcome(judged(asked, Answer(BUG))) == ("fail", detail, None)


@pytest.mark.parametrize("due", [{"expect": BUG}, {"error": "unknown_symbol"}, {"one_of": [BUG, BUG]}])
def test_what_is_not_offered_is_unsupported_whatever_is_due(due: Mapping[str, Any]) -> None:
    assert outcome(judged(case(due), Refused("unsupported", "no spans"))) == ("unsupported", "no spans", None)
    assert outcome(judged(case(due), Refused("unsupported", ""))) == ("unsupported", "gives no reason", None)


@pytest.mark.parametrize("kind", ["crash", "timeout", "protocol"])
@pytest.mark.parametrize("due", [{"expect": BUG}, {"error": "unknown_symbol"}])
def test_a_fault_is_never_an_answer(kind: str, due: Mapping[str, Any]) -> None:
    asked, fault = case(due), Fault(kind, "exit status 3")
    asks = (Effect.REFUSAL,) if "error" in due else (Effect.MODEL_INPUT, Effect.POSITIONS, Effect.NAMES)
    crash = Result(asked, Verdict(kind), "exit status 3", due, fault, asks=asks, effects=(Effect.CRASH,))
    assert judged(asked, fault) == crash


def test_only_the_fields_that_are_declared_are_compared() -> None:
    asked = case({"expect": BUG})
    assert outcome(judged(asked, Answer({"tokens": ["b", "ug"]}), ("tokens",))) == ("pass", "", None)
    assert outcome(judged(asked, Answer({**BUG, "ids": [7, 7]}), ("tokens", "spans"))) == ("pass", "", None)
    found = judged(asked, Answer({**BUG, "ids": [7, 7]}), ("ids",))
    assert outcome(found) == ("fail", "wrong answer", Difference(("ids", 0), 1, 7))
    found = judged(asked, Answer({"ids": [1, 8]}), ("tokens", "ids"))
    assert outcome(found) == ("fail", "wrong answer", Difference(("tokens",), ["b", "ug"], ABSENT))


def test_no_field_in_common_is_unsupported() -> None:
    found = judged(case({"expect": {"tokens": ["b", "ug"]}}), Answer(BUG), ("ids", "spans"))
    assert outcome(found) == ("unsupported", "encode returns only ids, spans, and the case checks none of them", None)
    found = judged(case({"expect": {"tokens": ["b", "ug"]}}), Answer(BUG), ())
    assert outcome(found) == ("unsupported", "encode returns no field", None)


def test_one_of_several_results() -> None:
    first, second = {"tokens": ["p", "ug"]}, {"tokens": ["pu", "g"]}
    asked = case({"one_of": [first, second]})
    assert [outcome(judged(asked, Answer(result)))[0] for result in (first, second)] == ["pass", "pass"]
    found = judged(asked, Answer({"tokens": ["p", "u", "g"]}))
    assert outcome(found) == ("fail", "wrong answer", Difference(("tokens", 1), "ug", "u"))
    assert found.expected == {"one_of": [first, second]}


def test_an_implementation_is_held_to_the_option_that_it_takes() -> None:
    asked = case({"by_choice": {"unknown_id": {"error": {"error": "unknown_id"}, "skipped": {"expect": {"text": ""}}}}}, "decode")  # fmt: skip
    refused, answered = Refused("unknown_id", ""), Answer({"text": ""})
    assert [judged(asked, reply).verdict.value for reply in (refused, answered)] == ["pass", "fail"]
    assert judged(asked, answered).expected == {"error": "unknown_id"}
    skipped = [judged(asked, reply, unknown_id="skipped") for reply in (refused, answered)]
    assert [result.verdict.value for result in skipped] == ["error", "pass"]
    assert skipped[0].expected == {"expect": {"text": ""}}


@pytest.mark.parametrize(
    ("unit", "spans"),
    [
        ("code_point", [[0, 1], [1, 2], [2, 3]]),
        ("byte", [[0, 2], [2, 6], [6, 7]]),
        ("utf16", [[0, 1], [1, 3], [3, 4]]),
    ],
)
def test_spans_are_expected_in_the_declared_unit(unit: str, spans: list[list[int]]) -> None:
    text, code_points = "é🙂b", [[0, 1], [1, 2], [2, 3]]
    asked = case({"expect": {"tokens": list(text), "spans": code_points}}, text=text)
    right = {"tokens": list(text), "spans": spans}
    found = judged(asked, Answer(right), offset_unit=unit)
    assert (outcome(found), found.expected) == (("pass", "", None), {"expect": right})
    either = case({"one_of": [{"spans": code_points}, {"spans": []}]}, text=text)
    assert judged(either, Answer(right), offset_unit=unit).expected == {"one_of": [{"spans": spans}, {"spans": []}]}
    pieces = [[piece, *span] for piece, span in zip(text, code_points, strict=True)]
    cut = case({"expect": {"pieces": pieces}}, "pre_tokenize", text)
    converted = [[piece, *span] for piece, span in zip(text, spans, strict=True)]
    assert judged(cut, Answer({"pieces": converted}), offset_unit=unit).verdict is Verdict.PASS


def test_spans_in_another_unit_than_declared_fail() -> None:
    asked = case({"expect": {"spans": [[0, 1], [1, 2]]}}, text="éb")
    found = judged(asked, Answer({"spans": [[0, 2], [2, 3]]}))
    assert outcome(found) == ("fail", "wrong answer", Difference(("spans", 0, 1), 1, 2))


def test_a_case_states_its_tolerance() -> None:
    loss = {"expect": {"loss": 169.8}}
    assert judged(case(loss, "loss"), Answer({"loss": 169.9})).verdict is Verdict.FAIL
    assert judged(case(loss, "loss", tolerance={"absolute": 0.2}), Answer({"loss": 169.9})).verdict is Verdict.PASS


def test_a_case_that_was_never_asked() -> None:
    asked = case({"expect": BUG})
    never = not_run(asked, effective_choices(HELLO), "the run ended")
    assert never == Result(asked, Verdict.NOT_RUN, "the run ended", {"expect": BUG})


def test_the_tally_has_every_verdict_and_balances() -> None:
    results = [Result(case({}), verdict, "", {}) for verdict in (Verdict.PASS, Verdict.FAIL, Verdict.PASS)]
    counts = count_verdicts(results)
    assert list(counts) == list(Verdict)
    assert {verdict.value: count for verdict, count in counts.items() if count} == {"pass": 2, "fail": 1}
    assert sum(counts.values()) == len(results)
    assert set(count_verdicts([]).values()) == {0}


def test_what_conforms() -> None:
    conforming = [verdict.value for verdict in Verdict if verdict.conforms]
    assert conforming == ["pass", "as the origin", "known failure", "unsupported"]


def hello(**choices: str) -> Hello:
    return Hello("mine", "1", "Python", ("encode",), choices=choices)


def test_options_are_overridden_or_declared_or_the_documents_own() -> None:
    defaults = load_specification().defaults()
    assert effective_choices(hello()) == defaults
    declared = hello(unknown_id="skipped", final_sigma="plain")
    assert effective_choices(declared) == {**defaults, "unknown_id": "skipped", "final_sigma": "plain"}
    overridden = effective_choices(declared, {"unknown_id": "error"})
    assert overridden == {**defaults, "unknown_id": "error", "final_sigma": "plain"}


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"sigma": "plain"}, "protocol: hello declares 'sigma=plain', which is no choice; did you mean final_sigma?"),
        ({"final_sigma": "context"}, "protocol: hello declares 'final_sigma=context', which is an option that final_sigma does not have; did you mean contextual?"),
        ({"final_sigma": "none"}, "protocol: hello declares 'final_sigma=none', which is an option that final_sigma does not have"),
        ({"\x1b[2J": "x"}, "protocol: hello declares '\\x1b[2J=x', which is no choice"),
    ],
)  # fmt: skip
def test_a_choice_that_the_specification_does_not_have_is_refused(choices: dict[str, str], message: str) -> None:
    with pytest.raises(AdapterFault) as caught:
        effective_choices(hello(**choices))
    assert str(caught.value) == message


def test_every_case_of_the_suite_passes_with_what_it_expects_and_fails_without() -> None:
    choices, whole = effective_choices(HELLO), replace(HELLO, encode_fields=EVERY_FIELD)
    for asked in (question for case in load_suite().cases.values() for question in case.questions):
        expected = not_run(asked, choices, "").expected
        for result in expected.get("one_of", [expected["expect"]] if "expect" in expected else []):
            assert judge(asked, Answer(result), whole, choices).verdict is Verdict.PASS
            assert judge(asked, Answer({}), whole, choices).verdict in (Verdict.FAIL, Verdict.PROTOCOL)
        if "error" in expected:
            assert judge(asked, Refused(expected["error"], ""), HELLO, choices).verdict is Verdict.PASS
