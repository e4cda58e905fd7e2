"""Record what the origins answer where they differ from the specification: the files of ``fixtures/origins``.

    python conformance/adapters/record_origins.py [ORIGIN …]

asks the installed library every case. An answer that is in the file keeps its kind and its reason. A new one gets the
reason of the case that it is a family of, if that has the same kind of answer, or is listed as not explained: a person
says then whether it is a convention, a bug, a crash or a limit of the format, and why.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokspec.adapter import Hello
from tokspec.adapters.registry import open_session
from tokspec.base.files import fixtures_folder, write_whole
from tokspec.judge.known_failures import UNEXPLAINED
from tokspec.judge.like import answer_of
from tokspec.judge.runner import judge_cases
from tokspec.judge.verdicts import Result, effective_choices
from tokspec.protocol.messages import Reply
from tokspec.suite.fixtures import ORIGINS, load_suite
from tokspec.suite.origins import Origin, OriginAnswer, read_origin, write_origin
from tokspec.suite.writing import write_value

#: What each file says about itself.
ABOUT = {
    "tokenizers": "What Hugging Face tokenizers answers where it differs from the specification.",
    "sentencepiece": "What SentencePiece answers where it differs from the specification.",
    "tiktoken": "What tiktoken answers where it differs from the specification.",
}

_FAMILY = re.compile(r"-(wordpiece|unigram|wordlevel)(?=#|$)")


class _Recorder:
    """Keeps the whole reply to each question that is not as specified."""

    def __init__(self) -> None:
        self.answers: dict[str, Mapping[str, Any]] = {}

    def apply_to(self, result: Result, reply: Reply, hello: Hello, unit: str) -> Result:
        if not result.verdict.conforms:
            self.answers[result.case.id] = answer_of(result, reply)
        return result


def record(name: str, old: Origin) -> Origin:
    """Ask an origin every case, and return its answers."""
    cases, recorder, wrong = list(load_suite().cases.values()), _Recorder(), set[str]()
    with open_session(name, None) as session:
        choices = effective_choices(session.hello)
        for _, result in judge_cases(session, cases, choices, recorder):
            if not result.verdict.conforms:
                wrong.update(each.case.id for each in result.rows or (result,) if not each.verdict.conforms)
        version = session.hello.version
        declared = {key: option for key, option in session.hello.choices.items() if key != "offset_unit"}
    answers = {
        question: _explained(question, answer, old)
        for question, answer in recorder.answers.items()
        if question in wrong
    }
    order = {case.id: number for number, case in enumerate(cases)}
    ordered = sorted(
        answers.items(), key=lambda row: (order[row[0].partition("#")[0]], int(row[0].partition("#")[2] or 0))
    )
    return Origin(name, version, declared, dict(ordered))


def _explained(question: str, answer: Mapping[str, Any], old: Origin) -> OriginAnswer:
    known = old.answers.get(question) or old.answers.get(_FAMILY.sub("", question))
    if known is None or known.answer.keys() != answer.keys():
        return OriginAnswer("crash" if "fault" in answer else "convention", UNEXPLAINED, answer)
    return OriginAnswer(known.kind, known.reason, answer)


def text_of(origin: Origin) -> str:
    """Write a file: a group for each reason, in the order of its first case."""
    value = write_origin(origin)
    lines = [f"about: {write_value(ABOUT[origin.name])}", f"origin: {origin.name}"]
    lines += [f"version: {write_value(origin.version)}", "choices:"]
    lines += [f"  {name}: {option}" for name, option in sorted(value["choices"].items())]
    lines.append("answers:")
    for group in value["answers"]:
        lines += [f"  - kind: {group['kind']}", f"    reason: {write_value(group['reason'])}", "    cases:"]
        lines += [f"      {id}: {_answer(answer)}" for id, answer in group["cases"].items()]
    return "\n".join(lines) + "\n"


def _answer(answer: Mapping[str, Any]) -> str:
    """Write an answer, a name plain, as ``format_fixtures.py`` does."""
    ((key, value),) = answer.items()
    return f"{{{key}: {value if isinstance(value, str) else write_value(value)}}}"


def main(names: list[str]) -> int:
    """Record the origins that are named, or all."""
    for name in names or sorted(ABOUT):
        file = fixtures_folder() / ORIGINS / f"{name}.yaml"
        old = read_origin(file) if file.exists() else Origin(name, "")
        new = record(name, old)
        Path(file).parent.mkdir(exist_ok=True)
        write_whole(file, text_of(new))
        unexplained = [question for question, answer in new.answers.items() if answer.reason == UNEXPLAINED]
        print(
            f"{new}: {len(new.cases)} cases, {len(unexplained)} answers without a reason: {', '.join(unexplained[:20])}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
