"""Adapters translate: whatever a library answers, refuses or crashes at by a second way, its adapter does too.

``raw`` has programs that ask each library through its public interface. They were written without sight of the
adapters, and share no code with them. Every question of the suite is asked both ways, whatever an adapter declares and
however it is judged. A program may say that the interface has nothing for a question. Otherwise

- an answer is the same in all fields that both have, and has every field that the second way gives;
- what an adapter does not offer, by its ``hello`` or in a refusal, the library does not answer;
- what an adapter refuses, for any reason, the library refuses, by an error that it documents: what it does not document
  is a crash, and so are the end of a process and silence;
- where an adapter crashes, the library does not answer.

``raw/libraries.yaml`` has the errors that each library documents, and explains every difference from this.
"""

from __future__ import annotations

import json
import queue
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tokspec.adapter import Hello
from tokspec.adapters.registry import open_session
from tokspec.base.errors import DataError, Unsupported
from tokspec.formats import FORMATS, write
from tokspec.judge.runner import make_request
from tokspec.judge.verdicts import Verdict, effective_choices, judge
from tokspec.protocol.messages import Answer, Refused
from tokspec.results.rows import Listed, read_list
from tokspec.sessions.session import refuse_limited, refuse_unoffered, write_model
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite

HERE = Path(__file__).parent / "raw"
ADAPTERS = Path(__file__).parents[1] / "adapters"

LISTED = read_list(ADAPTERS / "adapters.yaml")

#: Each library by the name of the program, with the adapter that is held to it; those in Python have one name.
IN_PYTHON = {
    listed.impl: listed.impl for listed in LISTED if listed.impl and listed.impl not in ("reference", "tokfast")
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
IN_GO = {
    "sugarme/tokenizer": "sugarme",
    "pkoukk/tiktoken-go": "pkoukk",
    "eliben/go-sentencepiece": "go-sentencepiece",
}
IN_JAVA = {"DJL tokenizers": "Djl", "jtokkit": "Jtokkit", "OpenNLP": "OpenNlp", "Tribuo": "Tribuo"}

#: How much of what an adapter passes a program has to ask, at least: one that asks little would find little.
LEAST = 0.2

#: How long a program may be silent, in seconds; in that time a library has not ended.
PATIENCE = 15

#: Adapters of streams whose library's interface is a part of a program: no second way is there to ask it.
WITHOUT_PROGRAM = [listed for listed in LISTED if listed.name.endswith(("ollama", "llm-tokenizer"))]

QUESTIONS = [question for case in load_suite().cases.values() for question in case.questions]


class Library(NamedTuple):
    """What is known of a library apart from its answers.

    ``refusals`` are patterns of the errors by which it refuses, as its interface documents them; any other is a crash.
    ``unoffered`` says why something is not offered, by what the suite says of it; ``fields`` why a field is not given.
    ``limits`` are messages by which an adapter refuses what means something else in the library than in the suite.
    ``differs`` has lists of cases in which both ways rightly differ, by the reason.
    """

    refusals: Sequence[str] = ()
    unoffered: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}
    limits: Mapping[str, str] = {}
    differs: Mapping[str, Sequence[str]] = {}

    def refuses(self, error: str) -> bool:
        """Whether an error is one by which the library refuses."""
        return any(re.match(pattern, error) for pattern in self.refusals)


@cache
def libraries() -> Mapping[str, Library]:
    """Return what ``libraries.yaml`` says of each."""
    return {
        name: Library(**said) for name, said in yaml.safe_load((HERE / "libraries.yaml").read_text("utf-8")).items()
    }


class Told(NamedTuple):
    """What an adapter said to a question: ``answer`` alone where it answered, and a message where it did not.

    ``kind`` is ``answer``, ``refused``, ``unoffered`` where ``hello`` spared it the question, or ``crashed``.
    """

    question: Case
    kind: str
    answer: Any = None
    message: str = ""
    reason: str = ""
    passes: bool = False
    reads_file: bool = False


def told(impl: str | None, command: str | None, questions: Sequence[Case]) -> Iterator[Told]:
    """Return what an adapter says to each question."""
    with open_session(impl, command) as session:
        choices, hello = effective_choices(session.hello), session.hello
        for index, reply in session.ask([make_request(question) for question in questions]):
            question = questions[index]
            if isinstance(reply, Answer):
                passes = judge(question, reply, hello, choices).verdict is Verdict.PASS
                yield Told(question, "answer", reply.result, passes=passes)
            elif not isinstance(reply, Refused):
                yield Told(question, "crashed", message=reply.message)
            elif said := unoffered(hello, question):
                yield Told(question, "unoffered", message=said)
            else:
                yield Told(question, "refused", None, reply.message, reply.reason, reads_file=hello.reads_file)


def unoffered(hello: Hello, question: Case) -> str:
    """Say what an adapter was spared a question for, by what it declares; nothing where it was asked."""
    request, written = make_request(question), write_model(hello, question.model.content)
    limited = written if isinstance(written, Refused) else refuse_limited(written[0], request)
    refused = refuse_unoffered(hello, request) or limited
    return refused.message or "gives no reason" if isinstance(refused, Refused) else ""


def has_surrogate(value: Any) -> bool:
    """Whether there is a string that no library in UTF-8 can be given."""
    return "{'hex':" in str(byte_safe(value))


_WRITTEN: dict[int, dict[str, Any]] = {}


def written(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model in every format that can express it."""
    if id(model) not in _WRITTEN:
        found = _WRITTEN[id(model)] = {}
        for format in FORMATS:
            try:
                found[format] = write(format, model)
            except (DataError, Unsupported):  # it cannot express the model, or needs a package that is not here
                continue
    return _WRITTEN[id(model)]


def byte_safe(value: Any) -> Any:
    """Write strings that JSON cannot carry as the protocol does (PROTO-2)."""
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return {"hex": value.encode("utf-8", "surrogatepass").hex()}
    if isinstance(value, dict):
        return {key: byte_safe(each) for key, each in value.items()}
    return [byte_safe(each) for each in value] if isinstance(value, list | tuple) else value


def asked(command: Sequence[str], library: str, questions: Sequence[Case]) -> list[dict[str, Any]]:
    """Ask a library; a process that it ends, or that is silent, is started again behind the question that ended it."""
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
        found += list(answered(command, lines[len(found) :]))
        if len(found) < len(lines):
            found.append({"error": "the process ended, or was silent"})
    return found


def answered(command: Sequence[str], lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Return what a process answers to lines until it ends, or is silent for too long."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    ) as process:
        assert process.stdin
        assert process.stdout
        replies: queue.Queue[str] = queue.Queue()
        source, sink = process.stdout, process.stdin

        def write_lines() -> None:
            try:
                sink.write("".join(f"{line}\n" for line in lines))
                sink.close()
            except BrokenPipeError:  # the process has ended
                pass

        def read_lines() -> None:
            for line in iter(source.readline, ""):
                replies.put(line)
            replies.put("")

        workers = [threading.Thread(target=work, daemon=True) for work in (write_lines, read_lines)]
        for worker in workers:
            worker.start()
        try:
            while line := replies.get(timeout=PATIENCE):
                yield json.loads(line)
        except queue.Empty:
            pass
        process.kill()
        for worker in workers:
            worker.join()


def is_same(ours: Any, theirs: Any) -> bool:
    """Compare two results in the keys that both have, at every depth; and pieces without spans where one has none."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if any(len(piece) == 1 for piece in theirs.get("pieces", ())):
            ours = {"pieces": [piece[:1] for piece in ours["pieces"]]}
        return all(is_same(ours[key], theirs[key]) for key in ours.keys() & theirs.keys())
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(is_same, ours, theirs))
    return bool(ours == theirs)


def missing_fields(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> set[str]:
    """Name the fields of results and encodings that only the second way gives."""
    inner = zip(ours.get("encodings", ()), theirs.get("encodings", ()), strict=False)
    return set(theirs) - set(ours) | {field for pair in inner for field in missing_fields(*pair)}


def repeats(message: str, error: str) -> bool:
    """Whether a message tells what a library raised, whose type stands before its own words."""
    words = error.partition(": ")[2]
    return bool(words) and words in message


class Found(NamedTuple):
    """A difference: a case, what is wrong, and what both ways said."""

    case: str
    what: str
    ours: Any
    theirs: Any


def differences(
    command: Sequence[str], library: str, adapter: Sequence[Told], known: Library | None = None
) -> tuple[list[Found], float]:
    """Return what an adapter and its library say differently, and the share of what it passes that was asked."""
    known = known or Library()
    replies = asked(command, library, [each.question for each in adapter])
    found = [
        Found(said.question.id, what, said[1:5], reply)
        for said, reply in zip(adapter, replies, strict=True)
        if "not_offered" not in reply
        for what in wrong(said, reply, known)
    ]
    passes = [reply for said, reply in zip(adapter, replies, strict=True) if said.passes]
    return found, sum("not_offered" not in reply for reply in passes) / max(len(passes), 1)


def wrong(said: Told, reply: Mapping[str, Any], known: Library) -> Iterator[str]:
    """Say what is wrong with what an adapter said, by what the library says by the second way."""
    theirs, error = reply.get("answer"), reply.get("error", "")
    explained = {case for cases in known.differs.values() for case in cases}
    if said.question.id.partition("#")[0] in explained:
        return
    if said.kind == "answer":
        if theirs is None:
            yield "answers where the library does not"
        elif not is_same(byte_safe(said.answer), theirs):
            yield "answers otherwise"
        else:
            for field in sorted(missing_fields(said.answer, theirs) - known.fields.keys()):
                yield f"leaves out the field {field}"
    elif said.kind == "unoffered":
        if theirs is not None and not any(re.match(each, said.message) for each in known.unoffered):
            yield f"is answered: {said.message}"
    elif said.kind == "crashed":
        if theirs is not None:
            yield "crashes where the library answers"
    elif not is_limit(said, known):
        if theirs is not None:
            yield "refuses what the library answers"
        elif not known.refuses(error):
            yield "refuses where the library crashes"
        elif said.reason == "unsupported" and not said.reads_file and repeats(said.message, error):
            yield "refuses as unsupported what the library refuses"


def is_limit(said: Told, known: Library) -> bool:
    """Whether an adapter refuses what the library cannot be given, or what means something else to it."""
    return has_surrogate(said.question.input) or any(re.fullmatch(each, said.message) for each in known.limits)


def summary(found: Sequence[Found]) -> str:
    """Say what was found, each kind with its number and a few cases."""
    counts = Counter(each.what for each in found)
    lines = []
    for what, count in counts.most_common():
        lines.append(f"{count} times: {what}")
        examples = [each for each in found if each.what == what]
        lines += [f"    {each.case}: {str(each.ours)[:300]} | {str(each.theirs)[:300]}" for each in examples[:6]]
    return "\n".join(lines)


def listed_crashes(impl: str | None, command: str | None) -> frozenset[str]:
    """Return the cases at which a library crashes, by its list of known failures."""
    (known,) = (each.known for each in LISTED if (each.impl, each.command) == (impl, command))
    return frozenset(case for case, entry in known.entries.items() if entry.verdict in ("crash", "timeout"))


def hidden_crashes(adapter: Sequence[Told], crashes: frozenset[str]) -> list[str]:
    """Name the cases of crashes of which an adapter refuses every question: no question crashes any more."""
    kinds: dict[str, set[str]] = {}
    for said in adapter:
        kinds.setdefault(said.question.id.partition("#")[0], set()).add(said.kind)
    return sorted(case for case in crashes if "refused" in kinds.get(case, ()) and "crashed" not in kinds[case])


def compare(command: Sequence[str], name: str, impl: str | None, adapter: str | None) -> None:
    """Hold an adapter to its library, by the program of a command."""
    known, library = libraries()[name], name.removesuffix(" of npm")
    with open_session(impl, adapter) as session:
        offered = session.hello.operations
    (reply,) = answered(command, [json.dumps({"library": library, "operation": "operations", "model": {}})])
    names = [f"does not offer {each}" for each in reply.get("answer", {}).get("operations", ()) if each not in offered]
    assert [each for each in names if not any(re.match(said, each) for said in known.unoffered)] == []
    answers = list(told(impl, adapter, QUESTIONS))
    found, share = differences(command, library, answers, known)
    assert summary(found) == ""
    assert hidden_crashes(answers, listed_crashes(impl, adapter)) == []
    assert share >= LEAST, f"{share:.0%} was asked"


PYTHON = [sys.executable, str(HERE / "libraries.py")]


def test_tokenizers_is_asked_as_it_answers() -> None:
    """Every twentieth question; the others, and the other libraries, are asked with those in other languages."""
    found, _ = differences(
        PYTHON, "tokenizers", list(told("tokenizers", None, QUESTIONS[::20])), libraries()["tokenizers"]
    )
    assert summary(found) == ""


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_PYTHON)
def test_an_adapter_in_python_says_what_its_library_says(library: str) -> None:
    compare(PYTHON, library, IN_PYTHON[library], None)


@pytest.mark.interop
@pytest.mark.parametrize("name", IN_JAVASCRIPT)
def test_an_adapter_in_javascript_says_what_its_library_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADAPTERS", str(ADAPTERS))
    compare(["node", str(HERE / "libraries.mjs")], name, None, f"node {ADAPTERS / IN_JAVASCRIPT[name] / 'adapter.mjs'}")


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_RUST)
def test_an_adapter_in_rust_says_what_its_library_says(library: str) -> None:
    compare(
        [str(HERE / "rust/target/release/raw")], library, None, f"{ADAPTERS}/rust/target/release/{IN_RUST[library]}"
    )


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_GO)
def test_an_adapter_in_go_says_what_its_library_says(library: str) -> None:
    compare([str(HERE / "go" / "bin" / "raw")], library, None, str(ADAPTERS / "go" / "bin" / IN_GO[library]))


@pytest.mark.interop
@pytest.mark.parametrize("library", IN_JAVA)
def test_an_adapter_in_java_says_what_its_library_says(library: str) -> None:
    adapter = f"java -cp {ADAPTERS / 'java' / 'target' / 'adapters.jar'} {IN_JAVA[library]}"
    compare(["java", "-jar", str(HERE / "java" / "target" / "raw.jar")], library, None, adapter)


@pytest.mark.interop
@pytest.mark.parametrize("listed", WITHOUT_PROGRAM, ids=lambda listed: listed.name.split("/")[-1])
def test_an_adapter_without_a_second_way_hides_no_crash(listed: Listed) -> None:
    answers = list(told(listed.impl, listed.command, QUESTIONS))
    assert hidden_crashes(answers, listed_crashes(listed.impl, listed.command)) == []


def test_a_changed_answer_and_a_hidden_one_are_found() -> None:
    """As an adapter would give that looks at the answer, leaves something out, or hides what the library raises."""
    questions = [question for question in QUESTIONS if question.id == "bpe-toy-encode-bug"]
    (right,) = told("tokenizers", None, questions)
    known = libraries()["tokenizers"]

    def found(changed: Told) -> list[str]:
        return [each.what for each in differences(PYTHON, "tokenizers", [changed], known)[0]]

    assert found(right) == []
    for wrong_answer in ({**right.answer, "tokens": ["b", "xx"]}, {**right.answer, "ids": right.answer["ids"][:1]}):
        assert found(right._replace(answer=wrong_answer)) == ["answers otherwise"]
    without = {key: value for key, value in right.answer.items() if key != "spans"}
    assert found(right._replace(answer=without)) == ["leaves out the field spans"]
    for reason in ("unsupported", "invalid_input"):
        refused = right._replace(kind="refused", reason=reason, message="has none")
        assert found(refused) == ["refuses what the library answers"]
    assert found(right._replace(kind="unoffered", message="does not offer encode")) == [
        "is answered: does not offer encode"
    ]
    assert found(right._replace(kind="crashed", message="x")) == ["crashes where the library answers"]


@pytest.mark.interop
def test_a_crash_is_not_a_refusal() -> None:
    questions = [question for question in QUESTIONS if question.id == "bytes-of-an-unknown-id#1"]
    (crashed,) = told("tokie", None, questions)
    assert crashed.kind == "crashed"
    hidden = crashed._replace(kind="refused", reason="unknown_id", message="is not in the vocabulary")
    found, _ = differences(PYTHON, "tokie", [hidden], libraries()["tokie"])
    assert [each.what for each in found] == ["refuses where the library crashes"]


def test_a_program_that_ends_or_is_silent_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PATIENCE", 1)
    program = """
import sys
for line in sys.stdin:
    if "ends" in line: sys.exit(1)
    while "hangs" in line: pass
    print('{"answer": 1}', flush=True)
"""
    lines, found = ["first", "ends", "second", "hangs", "third"], list[object]()
    while len(found) < len(lines):
        found += list(answered([sys.executable, "-c", program], lines[len(found) :]))
        if len(found) < len(lines):
            found.append({"error": ""})
    assert found == [{"answer": 1}, {"error": ""}, {"answer": 1}, {"error": ""}, {"answer": 1}]
