"""Judging a component that a library does not declare, if the library reads the model's file itself.

The suite sends such a library every model that its file expresses (``reads_file`` in ``spec/10-protocol.md``). If it
refuses a model with a component that it does not declare, the case is unsupported, with the library's own reason. If it
loads the model, its answers are judged, because a library that silently ignores a component gives wrong ids to its
users. If it refuses a component that it declares, that is an error, unless it refuses the model for another reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tokspec.adapter import Hello
from tokspec.judge.effects import Effect
from tokspec.judge.verdicts import Result, Verdict, asks_of
from tokspec.protocol.messages import Answer, Refused, Request
from tokspec.sessions.session import Session, undeclared
from tokspec.suite.cases import Case
from tokspec.suite.components import needed_components

#: Stages that do not affect decoding, and stages that affect nothing else.
_BEFORE = ("normalizer", "pre_tokenizer", "post_processor", "truncation", "padding")
_BEHIND = ("decoder",)

#: The parts that a model may lack.
_PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding", "added_tokens")


def passed_over(case: Case, hello: Hello) -> tuple[str, ...]:
    """Name the components that a case's model needs, that affect its operation, and that are not declared.

    There are none for a user's own file, because its content is not known.
    """
    if not hello.reads_file or case.model.file:
        return ()
    idle = _BEFORE if case.operation.startswith("decode") else _BEHIND
    return tuple(name for name in undeclared(hello, case.model.content) if not name.startswith(idle))


def cause_of(result: Result, hello: Hello) -> str:
    """Say which components are not declared, if that may be why an answer is wrong; otherwise empty.

    It is not known whether the library ignores them or handles them differently.
    """
    names = passed_over(result.question, hello) if isinstance(result.reply, Answer) else ()
    are = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {are} not declared, and it answers differently" if names else ""


def all_pass(results: Sequence[Result], hello: Hello) -> Iterator[tuple[str, int]]:
    """Return the undeclared components for which every case that was run passes, with the number of cases.

    A case that needs several such components does not count for any.
    """
    seen: dict[str, list[bool]] = {}
    for result in results:
        names = passed_over(result.question, hello)
        if len(names) == 1 and result.verdict is not Verdict.NOT_RUN:
            seen.setdefault(names[0], []).append(result.verdict in (Verdict.PASS, Verdict.UNEXPECTED_PASS))
    return ((name, len(passes)) for name, passes in sorted(seen.items()) if all(passes))


def take_refusal(result: Result, hello: Hello) -> Result:
    """Turn the refusal of a model with an undeclared component, by a library that reads files, into unsupported.

    The reason that the library gave does not matter.
    """
    reply, model = result.reply, result.question.model.content
    if not hello.reads_file or result.question.model.file or not (isinstance(reply, Refused) and reply.of_file):
        return result
    if result.verdict is Verdict.UNSUPPORTED or not undeclared(hello, model):
        return result
    said = reply.message or f"refused as {reply.reason}"
    return replace(result, verdict=Verdict.UNSUPPORTED, detail=said)


def is_doubtful(result: Result, hello: Hello) -> bool:
    """Return whether a library that reads files refused a model although it declares every component of it."""
    reply, model = result.reply, result.question.model.content
    if result.question.model.file:
        return False
    is_refusal = isinstance(reply, Refused) and reply.of_file and result.verdict is Verdict.UNSUPPORTED
    return hello.reads_file and is_refusal and bool(needed_components(model)) and not undeclared(hello, model)


def judge_refusals(session: Session, results: Sequence[Result]) -> Iterator[Result]:
    """Judge refusals to load models whose components are all declared.

    The model is also tried without them. If the library refuses that too, the model has something else that the library
    does not offer, and the case is unsupported. If not, the library refuses a component that it declares, which is an
    error.
    """
    if not results:
        return
    bare = [_without_components(result.question) for result in results]
    replies = dict(session.ask(bare))
    for number, result in enumerate(results):
        reply = replies[number]
        if isinstance(reply, Refused) and reply.of_file:
            yield result
        else:
            names = ", ".join(needed_components(result.question.model.content))
            detail, asks = f"declares {names} and refuses it: {result.detail}", asks_of(result, session.hello)
            yield replace(result, verdict=Verdict.ERROR, detail=detail, asks=asks, effects=(Effect.REFUSAL,))


def _without_components(case: Case) -> Request:
    content = case.model.content
    beyond = {key for key in _PARTS if key in content and needed_components({key: content[key]})}
    model: dict[str, Any] = {key: value for key, value in content.items() if key not in beyond}
    needed = {name.rpartition("/")[2] for name in needed_components(model) if name.startswith("model/")}
    plain = {key: value for key, value in model.items() if key not in needed}
    return Request(case.operation, f"{case.model.name} without its components", plain, case.input)
