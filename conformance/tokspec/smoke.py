"""Is *my adapter* right? A few steps, each with what to do next; no statement about the tokenizer behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokspec import schema
from tokspec.adapter import Hello
from tokspec.formats import FORMATS
from tokspec.report.safe import compact, shorten
from tokspec.sessions import Answer, Fault, Refused, Reply, Request, Session
from tokspec.specification import load_specification

__all__ = ["Step", "steps"]


@dataclass(frozen=True)
class Step:
    """One step: what was tried, whether it is right, and what was seen or what to do next."""

    name: str
    right: bool
    note: str


_CORPUS: Mapping[str, Any] = {"words": [["hug", 10], ["pug", 5]]}
_BPE = {"type": "bpe", "vocabulary": ["b", "g", "h", "u", "ug"], "merges": [["u", "g"]]}
_UNIGRAM = {"type": "unigram", "tokens": [["h", 15], ["u", 36], ["g", 20], ["hug", 15]]}

#: A model whose merge makes a token that it does not have (BPE-MODEL-1).
_CONTRADICTORY = {"type": "bpe", "vocabulary": ["b", "g", "u"], "merges": [["u", "g"]]}

#: A model, and an input, for each operation: small enough to answer by hand.
_ASKED: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "normalize": ({"normalizer": {"type": "lowercase"}}, {"text": "Hug"}),
    "pre_tokenize": ({"pre_tokenizer": {"type": "whitespace_split"}}, {"text": "hug bug"}),
    "encode": (_BPE, {"text": "bug"}),
    "decode": (_BPE, {"tokens": ["b", "ug"]}),
    "train": ({"type": "bpe"}, {"corpus": _CORPUS, "merge_count": 1}),
    "count_words": ({"pre_tokenizer": {"type": "whitespace_split"}}, {"corpus": {"texts": ["hug hug pug"]}}),
    "base_vocabulary": ({"type": "bpe"}, {"corpus": _CORPUS}),
    "training_state": ({"type": "bpe"}, {"corpus": _CORPUS, "steps": 1}),
    "pair_frequencies": ({"type": "bpe"}, {"corpus": _CORPUS}),
    "pair_scores": ({"type": "wordpiece"}, {"corpus": _CORPUS}),
    "best_pair": ({"type": "bpe"}, {"corpus": _CORPUS}),
    "substring_frequencies": ({"type": "unigram"}, {"corpus": _CORPUS}),
    "ranked_substrings": ({"type": "unigram"}, {"corpus": _CORPUS}),
    "initial_vocabulary": ({"type": "unigram"}, {"corpus": _CORPUS, "initial_size": 5}),
    "token_probabilities": (_UNIGRAM, {}),
    "segmentations": (_UNIGRAM, {"word": "hug"}),
    "viterbi": (_UNIGRAM, {"word": "hug"}),
    "segment": (_UNIGRAM, {"word": "hug"}),
    "loss": (_UNIGRAM, {"corpus": {"words": [["hug", 10]]}}),
    "loss_increase": (_UNIGRAM, {"corpus": {"words": [["hug", 10]]}, "token": "hug"}),
    "prune_step": (_UNIGRAM, {"corpus": {"words": [["hug", 10]]}, "fraction": 0.5}),
    "training_trace": ({"type": "bpe"}, {"corpus": _CORPUS, "merge_count": 1}),
}


def steps(session: Session) -> Iterator[Step]:
    """Try an open session step by step."""
    hello = session.hello
    yield Step("hello", True, f"{hello.name} {hello.version} ({hello.language})")
    yield _operations(hello)
    yield _formats(hello)
    yield _choices(hello)
    for operation in hello.operations:
        if operation in _ASKED:
            yield _operation(session, operation)
    if "encode" in hello.operations:
        yield _contradiction(session)
    yield _twice(session)


def _operations(hello: Hello) -> Step:
    unknown = [name for name in hello.operations if name not in schema.operations()]
    if unknown:
        note = f"{', '.join(unknown)}: not in spec/10-protocol.md; name only what stands there"
        return Step("operations", False, note)
    if not hello.operations:
        return Step("operations", True, 'none yet; offer encode next: {"op": "encode"} → {"tokens": […]}')
    return Step("operations", True, ", ".join(hello.operations))


def _formats(hello: Hello) -> Step:
    unknown = [name for name in hello.formats if name not in FORMATS]
    if unknown or not hello.formats:
        wrong = f"{', '.join(unknown)}: cannot be written" if unknown else "none is named"
        return Step("formats", False, f"{wrong}; the suite writes {', '.join(FORMATS)}")
    return Step("formats", True, ", ".join(hello.formats))


def _choices(hello: Hello) -> Step:
    known = load_specification().choices
    for name, option in hello.choices.items():
        if name not in known:
            return Step("choices", False, f"{name} is no choice of spec/08-choices.md; remove it")
        if option not in known[name].options:
            note = f"{name} has no option {option}; take one of {', '.join(known[name].options)}"
            return Step("choices", False, note)
    undeclared = [name for name in known if name not in hello.choices]
    note = f"{len(hello.choices)} declared; held to the documents' option for {', '.join(undeclared) or 'none'}"
    return Step("choices", True, note)


def _operation(session: Session, operation: str) -> Step:
    model, input = _ASKED[operation]
    reply = _ask(session, Request(operation, f"smoke-{operation}", model, input))
    asked = f"{compact(input)} →"
    if isinstance(reply, Fault):
        note = f"{asked} {reply.kind}: {reply.message}; run your program by hand with this input"
        return Step(operation, False, note)
    if isinstance(reply, Refused):
        right = reply.reason == "unsupported"
        return Step(operation, right, f"{asked} refused as {reply.reason}: {reply.message or 'without a message'}")
    wrong = [f"{'/'.join(map(str, path)) or 'the result'}: {message}" for path, message in _shape(operation, reply)]
    if wrong:
        return Step(operation, False, f"{asked} {wrong[0]}; spec/10-protocol.md shows the result's shape")
    return Step(operation, True, f"{asked} {shorten(compact(reply.result), 80)}")


def _shape(operation: str, reply: Answer) -> Iterator[tuple[tuple[str | int, ...], str]]:
    return schema.errors(reply.result, f"operations/{operation}/result")


def _contradiction(session: Session) -> Step:
    """Ask for a model that contradicts itself, between two equal questions: the adapter must go on as before."""
    model, input = _ASKED["encode"]
    request = Request("encode", "smoke-encode", model, input)
    impossible = Request("encode", "smoke-contradiction", _CONTRADICTORY, input)
    first, reply, second = (_ask(session, each) for each in (request, impossible, request))
    if first != second:
        return Step("contradiction", False, "encode answers otherwise after a model that cannot be; keep models apart")
    if isinstance(reply, Refused):
        return Step("contradiction", True, f"a model that cannot be is refused as {reply.reason}")
    seen = f"{reply.kind}: {shorten(reply.message, 80)}" if isinstance(reply, Fault) else "an answer"
    return Step("contradiction", True, f"a model that cannot be comes to {seen}; better refuse it as invalid_model")


def _twice(session: Session) -> Step:
    """Ask the same twice, with something else between: the answers must be equal."""
    offered = [operation for operation in session.hello.operations if operation in _ASKED]
    if not offered:
        return Step("twice", True, "nothing to ask yet")
    model, input = _ASKED[offered[0]]
    other_model, other_input = _ASKED[offered[-1]]
    request = Request(offered[0], f"smoke-{offered[0]}", model, input)
    between = Request(offered[-1], f"smoke-{offered[-1]}", other_model, other_input)
    first, _, second = (_ask(session, each) for each in (request, between, request))
    if first == second:
        return Step("twice", True, "the same question gets the same answer")
    return Step("twice", False, f"{offered[0]} answers otherwise the second time; keep no state between requests")


def _ask(session: Session, request: Request) -> Reply:
    ((_, reply),) = session.ask([request])
    return reply
