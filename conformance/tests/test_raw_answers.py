"""Adapters translate: what one passes is what its library answers when it is asked by a second way.

``raw`` has programs that ask each library through its public interface. They were written without sight of the
adapters, and share no code with them. Of every case that an adapter passes the answers of both are compared, in the
fields that both have; a program may say that the interface has nothing for a case.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.registry import open_session
from tokspec.base.errors import Unsupported
from tokspec.formats import FORMATS, write
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import Verdict, effective_choices, judge
from tokspec.protocol.messages import Answer, Refused
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

HERE = Path(__file__).parent / "raw"
ADAPTERS = Path(__file__).parents[1] / "adapters"

#: Each library by the name of the program, with the adapter that is held to it.
IN_PYTHON = {
    "tokenizers": "tokenizers",
    "sentencepiece": "sentencepiece",
    "tiktoken": "tiktoken",
    "tiktoken._educational": "tiktoken-educational",
    "mistral-common": "mistral-tekken",
    "subword-nmt": "subword-nmt",
    "curated-tokenizers": "curated-tokenizers",
    "ffbpe": "ffbpe",
    "fastokens": "fastokens",
    "gigatoken": "gigatoken",
    "splintr": "splintr",
    "tokie": "tokie",
    "BertTokenizerLegacy": "transformers-bert",
    "ClvpTokenizer": "transformers-clvp",
}
IN_JAVASCRIPT = {
    "@huggingface/tokenizers": "node",
    "gpt-tokenizer": "gpt-tokenizer",
    "js-tiktoken": "js-tiktoken",
    "@microsoft/tiktokenizer": "tiktokenizer",
    "ai-tokenizer": "ai-tokenizer",
    "llama-tokenizer-js": "llama-tokenizer-js",
    "tiktoken of npm": "tiktoken-wasm",
}

#: How much of what an adapter passes a program has to ask, at least: one that asks little would find little.
LEAST = 0.2

#: Cases in which the two ways rightly differ, by library, with the reason.
EXPLAINED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "subword-nmt": {
        "an empty file of codes ends the process; the adapter says that there are no merges": (
            "bpe-encode-thai",
            "bpe-encode-carriage-return-line-feed",
            "bpe-encode-beyond-bmp",
            "bpe-encode-token-without-merge",
            "bpe-encode-whole-word-out-of-reach",
            "bpe-model-without-merges",
        )
    },
    "curated-tokenizers": {"the id -1 is how the library refuses": ("wordpiece-unknown-token-not-there",)},
    "gpt-tokenizer": {
        "what was decoded before is kept, which is listed beside the cases": (
            "byte-merges-decode-parts-of-characters",
            "decode-invalid-truncated-then-letter",
            "decode-invalid-surrogate",
        )
    },
    "llama-tokenizer-js": {
        "the program puts ▁ at the id 29871, where Llama has it, and the adapter at that of the model": (
            "bpe-toy-encode-two-words",
            "decode-metaspace-without-a-pre-tokenizer",
            "bytes-of-control-characters",
        )
    },
    "tiktoken of npm": {
        "the program makes text of bytes as the library's README does, which drops a mark": (
            "decode-bytes-byte-order-mark",
        )
    },
}

QUESTIONS = [question for case in load_suite().cases.values() for question in case.questions]


def passed(impl: str | None, command: str | None, questions: Sequence[Case]) -> Iterator[tuple[Case, Any]]:
    """Return what an adapter passes, with its answer, or None where it rightly refuses."""
    with open_session(impl, command) as session:
        choices = effective_choices(session.hello)
        for index, reply in session.ask([make_request(question) for question in questions]):
            result = judge(questions[index], reply, session.hello, choices)
            if result.verdict is Verdict.PASS and isinstance(reply, Answer | Refused):
                yield questions[index], reply.result if isinstance(reply, Answer) else None


def written(model: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for format in FORMATS:
        try:
            found[format] = write(format, model)
        except Unsupported:
            continue
    return found


def byte_safe(value: Any) -> Any:
    """Write strings that JSON cannot carry as the protocol does (PROTO-2)."""
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return {"hex": value.encode("utf-8", "surrogatepass").hex()}
    if isinstance(value, dict):
        return {key: byte_safe(each) for key, each in value.items()}
    return [byte_safe(each) for each in value] if isinstance(value, list | tuple) else value


def asked(command: Sequence[str], library: str, questions: Sequence[Case]) -> list[dict[str, Any]]:
    """Ask a library; a process that it ends is started again behind the question that ended it."""
    lines = [
        json.dumps(
            byte_safe(
                {
                    "library": library,
                    "operation": question.operation,
                    "model": question.model.content,
                    "written": written(question.model.content),
                    "input": question.input,
                }
            )
        )
        for question in questions
    ]
    found: list[dict[str, Any]] = []
    while len(found) < len(lines):
        text = "".join(f"{line}\n" for line in lines[len(found) :])
        ended = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", timeout=600)
        found += [json.loads(line) for line in ended.stdout.split("\n") if line]
        if len(found) < len(lines):
            found.append({"error": f"the process ended with status {ended.returncode}"})
    return found


def is_same(ours: Any, theirs: Any) -> bool:
    """Compare two results in the keys that both have, at every depth."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return all(is_same(ours[key], theirs[key]) for key in ours.keys() & theirs.keys())
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(is_same, ours, theirs))
    return bool(ours == theirs)


def differences(
    command: Sequence[str], library: str, adapter: Sequence[tuple[Case, Any]]
) -> tuple[list[tuple[str, Any, Any]], int]:
    """Return what an adapter and its library answer differently, and how many cases the library was asked."""
    replies = asked(command, library, [question for question, _ in adapter])
    found, count = [], 0
    for (question, ours), reply in zip(adapter, replies, strict=True):
        if "not_offered" in reply:
            continue
        count += 1
        theirs = reply.get("answer")
        same = theirs is None if ours is None else theirs is not None and is_same(byte_safe(ours), theirs)
        if not same:
            found.append((f"{question.id} {question.row or ''}".strip(), ours, reply))
    return found, count


def compare(command: Sequence[str], name: str, adapter: Sequence[tuple[Case, Any]]) -> None:
    library = name.removesuffix(" of npm")
    found, count = differences(command, library, adapter)
    explained = {case for cases in EXPLAINED.get(name, {}).values() for case in cases}
    assert [each for each in found if each[0].partition("#")[0].partition(" ")[0] not in explained] == []
    assert count >= LEAST * len(adapter), f"{count} of {len(adapter)} were asked"


PYTHON = [sys.executable, str(HERE / "libraries.py")]


def test_what_tokenizers_passes_is_its_own_answer() -> None:
    """Every twentieth question; the others, and the other libraries, are asked with those in other languages."""
    compare(PYTHON, "tokenizers", list(passed("tokenizers", None, QUESTIONS[::20])))


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_PYTHON)
def test_what_an_adapter_in_python_passes_is_its_library_s_own_answer(library: str) -> None:
    compare(PYTHON, library, list(passed(IN_PYTHON[library], None, QUESTIONS)))


@pytest.mark.interop
@pytest.mark.parametrize("name", IN_JAVASCRIPT)
def test_what_an_adapter_in_javascript_passes_is_its_library_s_own_answer(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADAPTERS", str(ADAPTERS))
    adapter = passed(None, f"node {ADAPTERS / IN_JAVASCRIPT[name] / 'adapter.mjs'}", QUESTIONS)
    compare(["node", str(HERE / "libraries.mjs")], name, list(adapter))


def test_a_changed_answer_and_a_hidden_one_are_found() -> None:
    """As an adapter would give that looks at the answer, or catches what the library raises."""
    questions = [question for question in QUESTIONS if question.id == "bpe-toy-encode-bug"]
    ((question, ours),) = passed("tokenizers", None, questions)
    assert differences(PYTHON, "tokenizers", [(question, ours)]) == ([], 1)
    for wrong in ({**ours, "tokens": ["b", "xx"]}, {**ours, "ids": ours["ids"][:1]}, None):
        found, _ = differences(PYTHON, "tokenizers", [(question, wrong)])
        assert [case for case, _, _ in found] == ["bpe-toy-encode-bug"]
