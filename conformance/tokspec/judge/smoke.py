"""Checking an adapter, not its tokenizer, in a few steps, each with advice what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tokspec.adapter import Hello
from tokspec.base.display import compact, did_you_mean, shorten
from tokspec.formats import FORMATS, READERS
from tokspec.protocol.messages import Answer, Fault, Refused, Reply, Request
from tokspec.sessions.session import Session, write_model
from tokspec.suite import schema
from tokspec.suite.operations import OPERATIONS
from tokspec.suite.specification import load_specification


@dataclass(frozen=True)
class Step:
    """One step: what was tried, whether it is right, and an observation or what to do next."""

    name: str
    right: bool
    note: str


def try_adapter(session: Session) -> Iterator[Step]:
    """Try an open session step by step."""
    hello = session.hello
    yield Step("hello", True, f"{hello.name} {hello.version} ({hello.language})")
    yield _operations(hello)
    yield _formats(hello)
    yield _choices(hello)
    answered: dict[str, Request] = {}
    for operation in hello.operations:
        if operation in _QUESTIONS:
            asked = _asked(session, operation)
            if requests := [each.request for each in asked if isinstance(each.reply, Answer)]:
                answered[operation] = requests[0]
            step = _operation(hello, asked)
            yield step
            if operation == "encode" and step.right:
                yield from _beyond_ascii(session, asked)
                yield from _unknown(session, asked)
    if "encode" in answered or "decode" in answered:
        yield from _beside(session)
    yield _twice(session, list(answered.values()))
    if "encode" in answered:
        yield _contradiction(session, answered["encode"])


def _operations(hello: Hello) -> Step:
    unknown = [name for name in hello.operations if name not in schema.operations()]
    if unknown:
        near = did_you_mean(unknown[0], schema.operations())
        note = f"{', '.join(unknown)}: not in spec/10-protocol.md; {near}name only operations that are listed there"
        return Step("operations", False, note)
    if not hello.operations:
        return Step("operations", True, 'none yet; offer encode next: {"op": "encode"} → {"tokens": […]}')
    return Step("operations", True, ", ".join(hello.operations))


def _formats(hello: Hello) -> Step:
    unknown = [name for name in hello.formats if name not in FORMATS and name not in READERS]
    if unknown or not hello.formats:
        near = did_you_mean(unknown[0], FORMATS) if unknown else ""
        wrong = f"{', '.join(unknown)}: cannot be written; {near}".rstrip("; ") if unknown else "no format is named"
        return Step("formats", False, f"{wrong}; the suite writes {', '.join(FORMATS)}")
    return Step("formats", True, ", ".join(hello.formats))


def _choices(hello: Hello) -> Step:
    known = load_specification().choices
    for name, option in hello.choices.items():
        if name not in known:
            near = did_you_mean(name, known)
            return Step(
                "choices", False, f"{name} is not a choice of spec/08-choices.md; {near or 'remove it'}".rstrip()
            )
        if option not in known[name].options:
            note = f"{name} has no option {option}; use one of {', '.join(known[name].options)}"
            return Step("choices", False, note)
    others = len(known) - len(hello.choices)
    note = f"{len(hello.choices)} declared; the defaults apply to the {others} others, and tokspec probe finds yours"
    return Step("choices", True, note)


class _Asked(NamedTuple):
    """A request to one kind of model, and the reply."""

    kind: str
    request: Request
    reply: Reply


def _asked(session: Session, operation: str) -> list[_Asked]:
    """Make requests to every kind of model."""
    found = []
    for number, (model, input) in enumerate(_QUESTIONS[operation]):
        request = Request(operation, f"smoke-{operation}-{number}", model, input)
        found.append(_Asked(_kind(model), request, _ask(session, request)))
    return found


def _kind(model: Mapping[str, Any]) -> str:
    kind, pre_tokenizer = model.get("type", "a model"), model.get("pre_tokenizer", {})
    if pre_tokenizer.get("type") in _PIPELINES:
        return f"{kind} {_PIPELINES[pre_tokenizer['type']]}"
    if pre_tokenizer.get("type") != "byte_level":
        return str(kind)
    is_whole = len(model["vocabulary"]) > 256
    return f"{kind} of {'all ' * is_whole}bytes{'' if pre_tokenizer.get('use_regex', True) else ' without a pattern'}"


def _operation(hello: Hello, asked: Sequence[_Asked]) -> Step:
    """Judge the replies to an operation: report errors first, otherwise an answer and the refusals."""
    operation = asked[0].request.operation
    answered = any(isinstance(each.reply, Answer) for each in asked)
    for each in asked:
        if wrong := _complaint(hello, each, answered):
            about = "" if each is asked[0] else f"{each.kind}: "
            return Step(operation, False, f"{about}{compact(each.request.input)} → {wrong}")
    refused = [each for each in asked if isinstance(each.reply, Refused)]
    first = next((each for each in asked if isinstance(each.reply, Answer)), None)
    if first is None or not isinstance(first.reply, Answer):
        only = f"refused as unsupported: {_why(asked[0])}"
        whys = f"unsupported: {_listed(asked)}" if len({_why(each) for each in asked}) > 1 else only
        return Step(operation, True, f"{compact(asked[0].request.input)} → {whys}")
    note = f"{compact(first.request.input)} → {shorten(compact(first.reply.result), 80)}"
    return Step(operation, True, f"{note}; unsupported: {_listed(refused)}" if refused else note)


def _listed(refused: Sequence[_Asked]) -> str:
    return ", ".join(f"{each.kind} ({_why(each)})" for each in refused)


def _why(asked: _Asked) -> str:
    return (shorten(asked.reply.message) if isinstance(asked.reply, Refused) else "") or "without a message"


_BY_HAND = (
    "run your program by hand with this input",
    "run your program by hand with this input; if it is the tokenizer that crashes, tokspec run judges it as it is",
)


def _complaint(hello: Hello, asked: _Asked, answered: bool) -> str:
    """Say what is wrong with a reply, and what to do; ``answered`` is whether other kinds of models got answers."""
    reply = asked.reply
    if isinstance(reply, Fault):
        other = f"if it has no {asked.kind}, refuse that as unsupported in load, with the reason"
        remedy = other if answered else _BY_HAND[reply.kind == "crash"]
        return f"{reply.kind}: {reply.message}; {remedy}"
    if isinstance(reply, Refused):
        remedy = "it has an answer; if you do not offer it, refuse it as unsupported"
        return "" if reply.reason == "unsupported" else f"refused as {reply.reason}: {_why(asked)}; {remedy}"
    return next(_wrong(hello, asked.request, reply), "")


def _wrong(hello: Hello, request: Request, reply: Answer) -> Iterator[str]:
    """Describe errors in a result that don't depend on the tokenizer: in its shape, or ids that don't match tokens."""
    operation = request.operation
    for path, message in schema.errors(reply.result, f"operations/{operation}/result"):
        place = "/".join(map(str, path)) or "the result"
        yield f"{place}: {message}; spec/10-protocol.md shows the result's shape"
    lacking = [name for name in hello.encode_fields if operation == "encode" and name not in reply.result]
    if operation == "decode" and not reply.result.get("text"):
        yield "an empty text; decode tokens or ids, whichever is given; refuse what you cannot decode as unsupported"
    if lacking:
        yield f"{shorten(compact(reply.result), 80)} lacks {', '.join(lacking)}; give all fields of encode_fields"
    if operation == "encode" and "tokens" in reply.result:
        yield from _strangers(hello, request, reply.result)


def _strangers(hello: Hello, request: Request, result: Mapping[str, Any]) -> Iterator[str]:
    """Describe the tokens that do not match their ids; an unknown token may have its surface as text (ENC-9)."""
    model, known = request.model, _vocabulary(request.model)
    options = {"bpe": ("surface",), "unigram": ("surface", "surface_in_unigram")}.get(model["type"], ())
    tokens, ids = result["tokens"], result.get("ids", [None] * len(result["tokens"]))
    if len(tokens) != len(ids):
        yield f"tokens {compact(tokens)}, ids {compact(ids)}: the numbers of tokens and ids differ"
    for token, number in zip(tokens, ids, strict=False):
        owner = known[number] if number in range(len(known)) else None
        if number is not None and owner != token and (owner or token in known):
            is_surface = owner is not None and owner == model.get("unknown_token") and token in request.input["text"]
            if is_surface and hello.choices.get("unknown_token_text") in options:
                continue
            whose = f"that of {compact(owner)}" if owner else "no token's"
            choice = f", or declare the choice unknown_token_text={options[0]}" if is_surface and options else ""
            yield f"the token {compact(token)} has the id {number}, which is {whose}; give the token of the id{choice}"


def _vocabulary(model: Mapping[str, Any]) -> Sequence[Any]:
    return model.get("vocabulary") or [token for token, _ in model["tokens"]]


def _beyond_ascii(session: Session, asked: Sequence[_Asked]) -> Iterator[Step]:
    """Add a token beyond ASCII to an answered model, and request that token: lines are UTF-8 both ways."""
    plain = (each.request for each in asked if isinstance(each.reply, Answer))
    request = next((each for each in plain if "pre_tokenizer" not in each.model), None)
    if request is None:
        return
    scored, known = "tokens" in request.model, _vocabulary(request.model)
    key, added = ("tokens", [_EMOJI, -1.0]) if scored else ("vocabulary", _EMOJI)
    model = {**request.model, key: [*request.model[key], added]}
    reply = _ask(session, Request("encode", "smoke-beyond-ascii", model, {"text": _EMOJI}))
    due = {"tokens": [_EMOJI], "ids": [len(known)]}
    if isinstance(reply, Answer):
        right = all(reply.result.get(name, own) == own for name, own in due.items())
        seen = shorten(compact(reply.result), 80)
    elif isinstance(reply, Refused):
        right, seen = reply.reason == "unsupported", f"refused as {reply.reason}"
    else:
        right, seen = False, f"{reply.kind}: {reply.message}"
    remedy = "" if right else "; it is a token of the model: read and write lines as UTF-8"
    yield Step("beyond ASCII", right, f"{compact({'text': _EMOJI})} → {seen}{remedy}")


_BETTER_REFUSE = "better refuse it as unknown_symbol, unless it is the tokenizer that crashes"
_BETTER_GIVE = "better give the unknown token, unless the tokenizer does not"


def _unknown(session: Session, asked: Sequence[_Asked]) -> Iterator[Step]:
    """Encode a character that none of the answered models has.

    The tokenizer itself may crash there, or return the text, so both are reported but not wrong.
    """
    told: dict[str, str] = {}
    answered = [each for each in asked if isinstance(each.reply, Answer)]
    for each in answered:
        request = replace(each.request, input=_UNKNOWN)
        again = _Asked(each.kind, request, _ask(session, request))
        if isinstance(again.reply, Fault) and again.reply.kind == "crash":
            told.setdefault(_BETTER_REFUSE, f"{each.kind}: crash: {again.reply.message}")
        elif wrong := "" if isinstance(again.reply, Refused) else _complaint(session.hello, again, answered=False):
            yield Step("unknown", False, f"{each.kind}: {compact(_UNKNOWN)} → {wrong}")
            return
        elif (
            isinstance(again.reply, Answer)
            and "unknown_token" in each.request.model
            and "ids" not in again.reply.result
        ):
            known = _vocabulary(each.request.model)
            for token in (token for token in again.reply.result.get("tokens", ()) if token not in known):
                told.setdefault(_BETTER_GIVE, f"{each.kind}: the token {compact(token)} is not in the vocabulary")
    if answered:
        notes = "; ".join(f"{what}; {remedy}" for remedy, what in told.items())
        yield Step("unknown", True, f"{compact(_UNKNOWN)} → {notes or 'every model answers or refuses'}")


def _twice(session: Session, answered: Sequence[Request]) -> Step:
    """Make the same request twice, with another one between: the answers must be equal."""
    if not answered:
        if not session.hello.operations:
            return Step("twice", True, "nothing to ask yet")
        return Step("answers", False, f"nothing was answered; answer one of the questions above; {_BUILT_IN}")
    first, _, second = (_ask(session, each) for each in (answered[0], answered[-1], answered[0]))
    if first == second:
        return Step("twice", True, "the same question gets the same answer")
    note = f"{answered[0].operation} gives a different answer the second time; keep no state between requests"
    return Step("twice", False, note)


def _beside(session: Session) -> Iterator[Step]:
    """Make the same request to two models that differ only in ``beside``, where the answers have to differ."""
    read = []
    for what, operation, pair, input in _BESIDE:
        forms = [write_model(session.hello, model) for model in pair]
        if operation in session.hello.operations and all(_has_beside(form) for form in forms):
            one, other = (
                _ask(session, Request(operation, f"smoke-{what}-{number}", model, input))
                for number, model in enumerate(pair)
            )
            if isinstance(one, Answer) and isinstance(other, Answer):
                if one == other:
                    seen = shorten(compact(one.result), 80)
                    note = f"{compact(input)} → {seen}, with {what} and without; read it from `beside`, which load gets"
                    yield Step("beside", False, note)
                    return
                read.append(what)
    if read:
        yield Step("beside", True, f"{' and '.join(read)} {'is' if len(read) == 1 else 'are'} read")


def _has_beside(form: tuple[str, Any] | Refused) -> bool:
    return not isinstance(form, Refused) and isinstance(form[1], Mapping) and "beside" in form[1]


def _contradiction(session: Session, request: Request) -> Step:
    """Send a model that contradicts itself between two equal requests: the adapter must go on as before."""
    impossible = Request("encode", "smoke-contradiction", CONTRADICTORY, request.input)
    first, reply, second = (_ask(session, each) for each in (request, impossible, request))
    if first != second:
        return Step("contradiction", False, "encode gives a different answer after an invalid model; keep models apart")
    if isinstance(reply, Refused):
        return Step("contradiction", True, f"{_IMPOSSIBLE} is refused as {reply.reason}")
    seen = f"{reply.kind}: {shorten(reply.message, 80)}" if isinstance(reply, Fault) else "an answer"
    return Step("contradiction", True, f"{_IMPOSSIBLE} leads to {seen}; better refuse it as invalid_model")


def _ask(session: Session, request: Request) -> Reply:
    ((_, reply),) = session.ask([request])
    return reply


#: The advice for a tokenizer for which no model can be written.
_BUILT_IN = "a tokenizer with a built-in vocabulary is judged by a pack: tokspec run --pack NAME --model FILE"

#: Things that files lack: a name, the operation, two models that differ in it, and an input for which answers differ.
_DIGITS: Mapping[str, Any] = {
    "type": "bpe",
    "vocabulary": ["g", "1", "g1"],
    "merges": [["g", "1"]],
    "decoder": {"type": "byte_level"},
}
_CASED: Mapping[str, Any] = {
    "type": "wordpiece",
    "vocabulary": ["[UNK]", "b"],
    "unknown_token": "[UNK]",
    "special_tokens": ["[UNK]"],
}
_MARKED: Mapping[str, Any] = {
    "type": "unigram",
    "tokens": [["<unk>", 1], ["▁", 10], ["▁hug", 15]],
    "unknown_token": "<unk>",
    "pre_tokenizer": {"type": "metaspace"},
}
_BESIDE: Sequence[tuple[str, str, Sequence[Mapping[str, Any]], Mapping[str, Any]]] = (
    (
        "a pattern",
        "encode",
        [{**_DIGITS, "pre_tokenizer": {"type": "byte_level", "use_regex": each}} for each in (True, False)],
        {"text": "g1"},
    ),
    (
        "lowercase",
        "encode",
        [{**_CASED, "normalizer": {"type": "bert", "lowercase": each}} for each in (True, False)],
        {"text": "B"},
    ),
    ("a decoder", "decode", [{**_MARKED, "decoder": {"type": "metaspace"}}, _MARKED], {"ids": [2]}),
)

#: A text without any character in the vocabularies of the models.
_UNKNOWN: Mapping[str, Any] = {"text": "x"}

#: A character with four bytes in UTF-8 and two units in UTF-16, which no normalizer changes.
_EMOJI = "😀"

_QUESTIONS = {operation.name: operation.questions for operation in OPERATIONS}

#: The names of the models with whole pipelines, by their pre-tokenizers.
_PIPELINES = {"bert": "as BERT has it", "metaspace": "after ▁"}

#: A model that contradicts itself (BPE-MODEL-3), and its description.
_IMPOSSIBLE = "a model with a merge that makes a token which it does not have"
CONTRADICTORY: Mapping[str, Any] = {"type": "bpe", "vocabulary": ["b", "g", "u"], "merges": [["u", "g"]]}
