"""Libraries that read the model's file themselves: what they refuse, pass over in silence, and ought to declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from tokspec.adapter import Hello, Refusal, Unsupported
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.formats import read
from tokspec.judge.declared import passed_over
from tokspec.judge.diagnosis import diagnose
from tokspec.judge.effects import Effect
from tokspec.judge.runner import Run, run
from tokspec.report.text import text
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.components import needed_components
from tokspec.suite.fixtures import load_suite

SUITE = load_suite()


class Reader:
    """A library that reads ``tokenizer.json`` as the reference does, but for some stages."""

    reads_file: ClassVar = True
    components: ClassVar[tuple[str, ...]] = ()
    formats: ClassVar[tuple[str, ...]] = ("tokenizer.json", "tokspec")
    drops: ClassVar[tuple[str, ...]] = ()
    refuses: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self.reference = ReferenceAdapter()
        self.loaded: list[str] = []

    def hello(self) -> Hello:
        return Hello(
            "reader",
            "1",
            "Python",
            operations=("encode", "decode", "pre_tokenize"),
            formats=self.formats,
            encode_fields=("tokens", "ids", "spans"),
            components=self.components,
            reads_file=self.reads_file,
        )

    def load(self, format: str, content: Any) -> Any:
        self.loaded.append(format)
        model = read(format, content) if format != "tokspec" else dict(content)
        for stage in self.refuses:
            if stage in model:
                raise Unsupported(f"there is no {stage} here")
        for stage in self.drops:
            model.pop(stage, None)
        return self.reference.load("tokspec", model)

    def run(self, operation: str, model: Any, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.reference.run(operation, model, input)


def asked(adapter: Reader, *cases: str) -> Run:
    """Run cases, and look for the causes of what fails."""
    with InProcessSession(adapter) as session, InProcessSession(ReferenceAdapter()) as reference:
        found = run(session, [SUITE.cases[case] for case in cases])
        return diagnose(found, session, reference)


def verdicts(found: Run) -> list[tuple[str, str]]:
    return [(result.verdict.value, result.detail) for result in found.results]


#: A case of a model that needs a component.
DIGITS = ("digits-in-encoding",)


def test_who_does_not_say_it_is_asked_what_it_declares() -> None:
    class Silent(Reader):
        reads_file = False

    adapter = Silent()
    assert verdicts(asked(adapter, *DIGITS)) == [("unsupported", "does not know the component pre_tokenizer/digits")]
    assert adapter.loaded == []


def test_what_is_passed_over_is_judged_and_has_one_cause() -> None:
    class Dropping(Reader):
        drops = ("pre_tokenizer",)

    found = asked(Dropping(), *DIGITS)
    assert [(result.verdict.value, result.cause) for result in found.results] == [
        ("fail", "pre_tokenizer/digits is not declared, and it answers differently")
    ]
    assert list(text(found, []))[:2] == [
        "… and 1 more cause; --show 1 shows them all",
        f"    1  pre_tokenizer/digits is not declared, and it answers differently: {found.failed[0].case.id}",
    ]


def test_what_is_refused_and_not_declared_is_unsupported_in_its_own_words() -> None:
    class Refusing(Reader):
        refuses = ("pre_tokenizer",)

    assert verdicts(asked(Refusing(), *DIGITS)) == [("unsupported", "there is no pre_tokenizer here")]


def test_whatever_reason_it_gives_for_what_it_does_not_declare_it_is_unsupported() -> None:
    class Failing(Reader):
        def load(self, format: str, content: Any) -> Any:
            raise Refusal("invalid_model", "unknown variant Digits")

    assert verdicts(asked(Failing(), *DIGITS)) == [("unsupported", "unknown variant Digits")]


def test_what_is_refused_and_declared_is_an_error() -> None:
    class Boasting(Reader):
        components = ("pre_tokenizer",)
        refuses = ("pre_tokenizer",)

    said = "declares pre_tokenizer/digits and refuses it: there is no pre_tokenizer here"
    found = asked(Boasting(), *DIGITS)
    assert verdicts(found) == [("error", said)]
    assert found.by_effect[Effect.REFUSAL] == (0, 0, 1)


def test_who_refuses_the_model_without_its_components_too_refuses_something_else() -> None:
    class Elsewhere(Reader):
        components = ("pre_tokenizer",)
        refuses = ("vocabulary",)

    assert verdicts(asked(Elsewhere(), *DIGITS)) == [("unsupported", "there is no vocabulary here")]


def test_an_operation_of_which_nothing_is_answered_is_told() -> None:
    class Elsewhere(Reader):
        components = ("pre_tokenizer",)
        refuses = ("vocabulary",)

    said = "hello offers encode, and all 2 cases of it are unsupported, the first: there is no vocabulary here"
    assert said in list(text(asked(Elsewhere(), "bpe-toy-encode-bug", "bpe-toy-encode-mug"), ()))


def test_a_component_of_which_everything_passes_is_to_be_declared() -> None:
    found = asked(Reader(), *DIGITS)
    assert verdicts(found) == [("pass", "")]
    said = "hello does not declare pre_tokenizer/digits, and the case that needs it passes: declare it"
    assert said in list(text(found, ()))


def test_a_stage_bears_on_its_own_operations_alone() -> None:
    hello = Reader().hello()
    decoding = next(
        case for case in SUITE.cases.values() if needed_components(case.model.content) == ["decoder/byte_fallback"]
    )
    assert decoding.operation == "decode"
    assert passed_over(decoding, hello) == ("decoder/byte_fallback",)
    assert passed_over(replace(decoding, operation="encode"), hello) == ()
    (encoding,) = (SUITE.cases[case] for case in DIGITS)
    assert passed_over(encoding, hello) == ("pre_tokenizer/digits",)
    assert passed_over(replace(encoding, operation="decode"), hello) == ()


def test_the_neutral_form_is_no_file_of_a_library() -> None:
    class Neutral(Reader):
        formats = ("tokspec",)

    adapter = Neutral()
    assert verdicts(asked(adapter, *DIGITS)) == [("unsupported", "does not know the component pre_tokenizer/digits")]
    assert adapter.loaded == []
