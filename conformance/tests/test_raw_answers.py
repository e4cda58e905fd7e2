"""Adapters translate: what one passes is what its library answers when it is asked by a second way.

``raw`` has programs that ask each library through its public interface. They were written without sight of the
adapters, and share no code with them. Of every case that an adapter passes the answers of both are compared, in the
fields that both have; a program may say that the interface has nothing for a case. And of every case that an adapter
refuses as unsupported itself, rather than by what it declares, the library must have no answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tokspec.adapter import Hello
from tokspec.adapters.registry import open_session
from tokspec.base.errors import DataError, Unsupported
from tokspec.formats import FORMATS, write
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import Verdict, effective_choices, judge
from tokspec.protocol.messages import Answer, Refused, is_unsupported
from tokspec.sessions.session import refuse_unoffered, write_model
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
    "node-llama-cpp": "node-llama-cpp",
    "tiktoken of npm": "tiktoken-wasm",
}
IN_RUST = {"kitoken": "kitoken", "tiktoken-rs": "tiktoken-rs"}
IN_GO = {"sugarme/tokenizer": "sugarme", "pkoukk/tiktoken-go": "pkoukk"}
IN_JAVA = {"jtokkit": "Jtokkit", "OpenNLP": "OpenNlp", "Tribuo": "Tribuo"}

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
    "pkoukk/tiktoken-go": {
        "the library's reader of files refuses the line of an empty token; the adapter gives it the ranks": (
            "bytes-of-an-empty-token",
        )
    },
}

#: What adapters refuse and the programs ask all the same: a model means something there that the library does not do.
LIMITS: Mapping[str, Sequence[str]] = {
    "tokenizers": ("decodes ids, and a token that is not in the vocabulary has none",),
    "sentencepiece": (
        "decodes '▁' as a space, whatever the model",
        "makes marks of spaces when it normalizes with a model",
    ),
    "subword-nmt": (
        "has codes and no vocabulary, so that a model cannot contradict itself",
        "has merges within words, and knows no other models",
        "has merges within words, and no pre-tokenizer",
    ),
    "curated-tokenizers": ("has the pattern of GPT-2 before bytes, and no other pre-tokenizer",),
    "ffbpe": (
        "joins the bytes of tokens, and has no other decoder",
        "cuts a text by a pattern into bytes, and has no such pre-tokenizer",
        "takes ids of 32 bits, as its library in Rust has them",
    ),
    "fastokens": ("takes ids of 32 bits, as its library in Rust has them",),
    "splintr": ("has streams that are ended, and holds text back until then",),
    "BertTokenizerLegacy": ("decodes the tokens of WordPiece models, with the prefix ##",),
    "llama-tokenizer-js": (
        "has the unknown token at the id 0",
        "decodes ▁ as a space, whatever the model",
        "reads a token a line, and takes a space in one for a border",
    ),
    "Tribuo": ("normalizes as BERT does, and always cleans",),
    "pkoukk/tiktoken-go": ("tries special tokens in the order of a map, which is another each time (SPECIAL-2)",),
}

QUESTIONS = [question for case in load_suite().cases.values() for question in case.questions]


class Told(NamedTuple):
    """What an adapter answered to a question; None where it refused it, with its message where as unsupported.

    An adapter whose library reads files tells that way, too, what the library refuses.
    """

    question: Case
    answer: Any = None
    unsupported: str | None = None
    reads_file: bool = False


def told(impl: str | None, command: str | None, questions: Sequence[Case]) -> Iterator[Told]:
    """Return what an adapter passes, and what it refuses as unsupported itself: what it is not asked is left out."""
    with open_session(impl, command) as session:
        choices, hello = effective_choices(session.hello), session.hello
        for index, reply in session.ask([make_request(question) for question in questions]):
            question = questions[index]
            verdict = judge(question, reply, hello, choices).verdict
            if verdict is Verdict.PASS and isinstance(reply, Answer | Refused):
                yield Told(question, reply.result if isinstance(reply, Answer) else None)
            elif is_unsupported(reply) and was_asked(hello, question) and not has_surrogate(question.input):
                yield Told(question, unsupported=reply.message, reads_file=hello.reads_file)


def was_asked(hello: Hello, question: Case) -> bool:
    """Whether an adapter was asked, and not spared a question by what it declares."""
    is_offered = refuse_unoffered(hello, make_request(question)) is None
    return is_offered and not isinstance(write_model(hello, question.model.content), Refused)


def has_surrogate(value: Any) -> bool:
    """Whether there is a string that no library in UTF-8 can be given."""
    return "{'hex':" in str(byte_safe(value))


def written(model: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for format in FORMATS:
        try:
            found[format] = write(format, model)
        except (DataError, Unsupported):  # it cannot express the model, or needs a package that is not here
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


#: How the messages of faults begin that are no refusals.
_PANICS = ("PanicException", "RuntimeError: unreachable", "the process ended", "TypeError", "AttributeError")


def is_refusal(reply: Mapping[str, Any]) -> bool:
    """Whether a library refuses, rather than panics."""
    return "error" in reply and not reply["error"].startswith(_PANICS)


def repeats(message: str, error: str) -> bool:
    """Whether a message tells what a library raised, whose type stands before its own words."""
    words = error.partition(": ")[2]
    return bool(words) and words in message


def differences(
    command: Sequence[str], library: str, adapter: Sequence[Told]
) -> tuple[list[tuple[str, Any, Any]], float]:
    """Return what an adapter and its library answer differently, and the share of what it passes that was asked.

    What an adapter refuses as unsupported the library must not answer, and neither fail at nor refuse itself: that is a
    crash or an error. What an adapter rightly refuses, the library refuses.
    """
    replies = asked(command, library, [each.question for each in adapter])
    found, passes, count = [], 0, 0
    for (question, ours, unsupported, reads_file), reply in zip(adapter, replies, strict=True):
        passes += unsupported is None
        if "not_offered" in reply:
            continue
        count += unsupported is None
        theirs = reply.get("answer")
        if unsupported is not None:
            is_right = theirs is None and is_refusal(reply) and (reads_file or not repeats(unsupported, reply["error"]))
        elif ours is None:
            is_right = is_refusal(reply)
        else:
            is_right = theirs is not None and is_same(byte_safe(ours), theirs)
        if not is_right:
            found.append((question.id, ours if unsupported is None else f"unsupported: {unsupported}", reply))
    return found, count / max(passes, 1)


def compare(command: Sequence[str], name: str, adapter: Sequence[Told]) -> None:
    found, share = differences(command, name.removesuffix(" of npm"), adapter)
    explained = {case for cases in EXPLAINED.get(name, {}).values() for case in cases}
    limits = [f"unsupported: {message}" for message in LIMITS.get(name, ())]
    assert [each for each in found if each[0].partition("#")[0] not in explained and each[1] not in limits] == []
    assert share >= LEAST, f"{share:.0%} was asked"


PYTHON = [sys.executable, str(HERE / "libraries.py")]


def test_what_tokenizers_passes_is_its_own_answer() -> None:
    """Every twentieth question; the others, and the other libraries, are asked with those in other languages."""
    compare(PYTHON, "tokenizers", list(told("tokenizers", None, QUESTIONS[::20])))


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_PYTHON)
def test_what_an_adapter_in_python_passes_is_its_library_s_own_answer(library: str) -> None:
    compare(PYTHON, library, list(told(IN_PYTHON[library], None, QUESTIONS)))


@pytest.mark.interop
@pytest.mark.parametrize("name", IN_JAVASCRIPT)
def test_what_an_adapter_in_javascript_passes_is_its_library_s_own_answer(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADAPTERS", str(ADAPTERS))
    adapter = told(None, f"node {ADAPTERS / IN_JAVASCRIPT[name] / 'adapter.mjs'}", QUESTIONS)
    compare(["node", str(HERE / "libraries.mjs")], name, list(adapter))


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_RUST)
def test_what_an_adapter_in_rust_passes_is_its_library_s_own_answer(library: str) -> None:
    adapter = told(None, f"{ADAPTERS}/rust/target/release/{IN_RUST[library]}", QUESTIONS)
    compare([str(HERE / "rust/target/release/raw")], library, list(adapter))


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_GO)
def test_what_an_adapter_in_go_passes_is_its_library_s_own_answer(library: str) -> None:
    adapter = told(None, str(ADAPTERS / "go" / "bin" / IN_GO[library]), QUESTIONS)
    compare([str(HERE / "go" / "bin" / "raw")], library, list(adapter))


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_JAVA)
def test_what_an_adapter_in_java_passes_is_its_library_s_own_answer(library: str) -> None:
    adapter = told(None, f"java -cp {ADAPTERS / 'java' / 'target' / 'adapters.jar'} {IN_JAVA[library]}", QUESTIONS)
    compare(["java", "-jar", str(HERE / "java" / "target" / "raw.jar")], library, list(adapter))


def test_a_changed_answer_and_a_hidden_one_are_found() -> None:
    """As an adapter would give that looks at the answer, or catches what the library raises."""
    questions = [question for question in QUESTIONS if question.id == "bpe-toy-encode-bug"]
    ((question, ours, *_),) = told("tokenizers", None, questions)
    assert differences(PYTHON, "tokenizers", [Told(question, ours)]) == ([], 1)
    for wrong in ({**ours, "tokens": ["b", "xx"]}, {**ours, "ids": ours["ids"][:1]}, None):
        found, _ = differences(PYTHON, "tokenizers", [Told(question, wrong)])
        assert [case for case, _, _ in found] == ["bpe-toy-encode-bug"]
    found, _ = differences(PYTHON, "tokenizers", [Told(question, unsupported="has none")])
    assert [(case, said) for case, said, _ in found] == [("bpe-toy-encode-bug", "unsupported: has none")]
    assert not is_refusal({"error": "PanicException: index out of bounds"})
