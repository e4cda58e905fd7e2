"""A survey of what an implementation answers, so that only such examples are drawn.

Requests that ``hello`` and the formats rule out are never sent. For each family, the survey tries usual models until
one is answered; then this model with each component, parameter and oddity of tokens by itself, and with each operation
and option. Features for which every reply was ``unsupported`` are not drawn. The survey does not notice that two parts
are refused only together: an example with both is sent, and counted as refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from tokspec.adapter import Hello
from tokspec.compare.shrink import listed_tokens
from tokspec.formats.files import without
from tokspec.formats.neutral import ids_of, tokens_in_id_order
from tokspec.formats.tiktoken_ranks import merges_of
from tokspec.fuzz.components import STAGES, values_of
from tokspec.fuzz.families import BROKEN
from tokspec.fuzz.features import OF_STAGES, model_features, part_features, request_features
from tokspec.fuzz.pipelines import starts
from tokspec.protocol.messages import Refused, Reply, Request, is_unsupported
from tokspec.sessions.session import refuse_limited, refuse_unoffered, undeclared, write_model
from tokspec.suite.components import (
    NEEDED,
    TABLE,
    Component,
    Parameter,
    component_names,
    covers,
    members_of,
    row_of,
    rows_of,
)
from tokspec.suite.operations import OPERATIONS, Operation

Asked: TypeAlias = tuple[str, Mapping[str, Any]]
_Model: TypeAlias = Mapping[str, Any]
_Ask: TypeAlias = Callable[[_Model, Sequence[Asked]], Sequence[tuple[Asked, Reply]]]

_TRAINING = frozenset(operation.name for operation in OPERATIONS if not operation.needs_tokens)


def declares_all(hello: Hello) -> bool:
    """Return whether every model that is drawn can be sent."""
    return hello.formats[:1] == ("tokspec",) and all(covers(hello.components, name) for name in component_names())


def declared(hello: Hello, model: _Model, requests: Sequence[Asked]) -> list[Asked]:
    """Leave out requests that ``hello`` and the formats rule out, because they would not be sent.

    Untrained models are only for implementations that train.
    """
    if "type" in model and not listed_tokens(model) and not _TRAINING.intersection(hello.operations):
        return []
    if undeclared(hello, model):
        return []
    offered = [Request(operation, "", model, input) for operation, input in requests]
    offered = [request for request in offered if refuse_unoffered(hello, request) is None]
    written = write_model(hello, model) if offered else None
    if written is None or isinstance(written, Refused):
        return []
    return [(each.operation, each.input) for each in offered if refuse_limited(written[0], each) is None]


@dataclass(frozen=True)
class Survey:
    """What an implementation answers and what it refuses as unsupported, by family.

    ``answered`` are the usual models for which something was answered; ``refused`` are the features for which every
    reply was ``unsupported``, in families for which something was answered. Families for which everything was refused
    or ruled out are ``closed``, with the number of refused requests.
    """

    hello: Hello
    answered: Mapping[str, Sequence[_Model]]
    refused: Mapping[str, frozenset[str]]
    closed: Mapping[str, int]

    def open_families(self, families: tuple[str, ...]) -> tuple[str, ...]:
        """Return the families that are not closed, or all if every one is."""
        return tuple(family for family in families if family not in self.closed) or families

    def worth_asking(self, family: str, model: _Model, requests: Sequence[Asked]) -> list[Asked]:
        """Leave out requests that are refused, or only the option that is."""
        refused, found = self.refused.get(family, frozenset()), list[Asked]()
        if not refused.isdisjoint(model_features(model)):
            return []
        for asked in requests:
            less = (each for each in _less(asked) if refused.isdisjoint(request_features(model, *each)))
            found += [each for each in (next(less, None),) if each is not None and each not in found]
        return found

    def fit(self, family: str, model: _Model, turn: int) -> _Model:
        """Change a model, one part at a time, until nothing in it is refused, or no change helps.

        ``turn`` selects the answered model whose parts are tried first.
        """
        answered = self.answered.get(family, ())
        if not answered:
            return model
        own = [answered[(turn + place) % len(answered)] for place in range(len(answered))]
        if family == "broken":
            return model if model in own else own[0]
        fewest = self._faults(family, model)
        while fewest:
            for changed in _changes(model, own):
                if (faults := self._faults(family, changed)) < fewest:
                    model, fewest = changed, faults
                    break
            else:
                return own[0]
        return model

    def _faults(self, family: str, model: _Model) -> int:
        """Count the reasons not to send a model."""
        found = len(undeclared(self.hello, model)) + len(self.refused[family] & model_features(model))
        is_bare = "type" in model and not listed_tokens(model)
        found += is_bare and model["type"] in self.hello.other_trainers
        return found or isinstance(write_model(self.hello, model), Refused)


#: Keys that a model may lose, and keys that belong together.
_LOSSES = (
    *("special_tokens", "added_tokens", "unknown_token", "max_word_length", "continuing_prefix", "end_of_word_suffix"),
    *("ignore_merges", "dropout", "fuse_unk", "byte_fallback", "piece_types", "scores"),
)
_CORE = ("type", "vocabulary", "merges", "tokens", "weights", *_LOSSES)
_OPTIONAL = {row.name: [each.name for each in row.parameters if each.default is not NEEDED] for row in TABLE}


def _changes(model: _Model, others: Sequence[_Model]) -> Iterator[_Model]:
    """Return models with one part fewer, or with a part of another model; the smallest changes first."""
    present = [stage for stage in STAGES if stage in model]
    for stage in present:
        part = model[stage]
        for key in _OPTIONAL.get(f"{stage}/{part['type']}" if "type" in part else stage, ()):
            if key in part:
                yield {**model, stage: without(part, key)}
        members = part.get(members_of(stage), ())
        for place in range(len(members)):
            yield {**model, stage: {**part, members_of(stage): [*members[:place], *members[place + 1 :]]}}
    yield from (without(model, key) for key in _LOSSES if key in model)
    yield from (without(model, stage) for stage in present)
    if any(not isinstance(entry, str) for entry in model.get("vocabulary", ())):
        yield {**model, "vocabulary": listed_tokens(model)}
    if model.get("type") == "bpe" and model.get("merges"):
        yield {**model, "merges": [list(pair) for pair in merges_of(tokens_in_id_order(model))]}
    for stage in STAGES:
        yield from ({**model, stage: other[stage]} for other in others if stage in other)
    for other in others:
        yield {**without(model, *_CORE), **{key: other[key] for key in _CORE if key in other}}
    yield from others


#: The optional keys of an input.
_OPTIONS = (
    *("pair", "add_special_tokens", "allowed_special", "disallowed_special", "skip_special_tokens"),
    *("steps", "first", "min_frequency", "prompt", "beside", "stop_ids", "keep_stop", "initial_score"),
)


def _less(asked: Asked) -> Iterator[Asked]:
    """Return a request, then the same without each of its options, and without all of them."""
    operation, input = asked
    options = [key for key in _OPTIONS if key in input]
    for left_out in ((), *((key,) for key in options), options):
        yield operation, without(input, *left_out)


@dataclass
class _Replies:
    """The features that were answered, those that were refused as unsupported, and counts of replies by kind."""

    answered: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)


class _Surveyor:
    """Surveys one family after another; the parameters of a component are tried in the first family that has it.

    If nothing of a stage was refused for one family, the stage is not tried for the next ones.
    """

    def __init__(self, hello: Hello, ask: _Ask, is_over: Callable[[], bool]) -> None:
        self.hello, self._ask, self._is_over = hello, ask, is_over
        self.of_values, self._values_of, self._in_full = _Replies(), set[str](), set[str]()

    def take(self, replies: _Replies, model: _Model, requests: Sequence[Asked] = ()) -> set[str]:
        """Make requests, note the replies, and return their kinds; an empty set if nothing could be requested."""
        requests = [] if self._is_over() else declared(self.hello, model, requests or _plain(model))
        kinds = set[str]()
        for asked, reply in self._ask(model, requests) if requests else ():
            features = model_features(model) | request_features(model, *asked)
            kind = "unsupported" if is_unsupported(reply) else type(reply).__name__
            kinds.add(kind)
            replies.counts[kind] += 1
            if kind != "Fault":
                (replies.refused if kind == "unsupported" else replies.answered).update(features)
        return kinds

    def vary(self, replies: _Replies, base: _Model) -> None:
        """Try an answered model with each operation and option, and with each other part by itself."""
        self.take(replies, base, [*_requests(base)])
        for model in _variations(base):
            self.take(replies, model)
        is_trained = bool(listed_tokens(base))
        for stage in STAGES if is_trained else _OF_TRAINING if "type" in base else base:
            if stage in self._in_full:
                continue
            refused = set[str]()
            for name, smallest, others in _parts()[stage]:
                found = {**base, stage: smallest}
                kinds = self.take(replies, found)
                refused |= kinds & {"unsupported"}
                if kinds == {"unsupported"}:
                    found = {**without(base, *STAGES), stage: smallest}
                    kinds = self.take(replies, found)
                if kinds - {"unsupported"} and name not in self._values_of:
                    self._values_of.add(name)
                    for part in others:
                        self.take(self.of_values, {**found, stage: part})
            if is_trained and not refused:
                self._in_full.add(stage)


def survey(hello: Hello, ask: _Ask, families: Sequence[str], is_over: Callable[[], bool]) -> Survey:
    """Try every component, parameter, operation and option; ``is_over`` returns whether the time is up."""
    surveyor, found = _Surveyor(hello, ask, is_over), dict[str, _Replies]()
    answered, closed = dict[str, list[_Model]](), dict[str, int]()
    for family in families:
        replies = found[family] = _Replies()
        usual = BROKEN if family == "broken" else _usual(family)
        taken = [model for model in usual if surveyor.take(replies, model) - {"unsupported"}]
        if family == "broken" or replies.counts["Answer"]:
            answered[family] = taken
        elif replies.counts.keys() <= {"unsupported"}:
            closed[family] = replies.counts["unsupported"]
        for base in _bases(taken) if family in answered and family != "broken" else ():
            surveyor.vary(replies, base)
    values = surveyor.of_values
    never = values.refused - values.answered.union(*(replies.answered for replies in found.values()))
    refused = {family: frozenset(found[family].refused - found[family].answered | never) for family in answered}
    return Survey(hello, answered, refused, closed)


def _usual(family: str) -> list[_Model]:
    """Return models of a family to start from: whole pipelines, and models to try operations with."""
    if family == "training":
        return [{"type": kind} for kind in ("bpe", "wordpiece", "unigram")]
    if family == "wordlevel":
        return [{"type": "wordlevel", "vocabulary": ["<unk>", "a", "b"]}]
    tried = [model for operation in OPERATIONS for model, _ in operation.questions if listed_tokens(model)]
    found = [*starts(family), *(model for model in tried if model["type"] == family.removesuffix("-bytes"))]
    if family == "bpe-bytes":
        found = [model for model in found if model.get("pre_tokenizer", {}).get("type") == "byte_level"]
    return [model for place, model in enumerate(found) if model not in found[:place]]


def _bases(answered: Sequence[_Model]) -> list[_Model]:
    """Return the first model of each type, or the first of each stage alone."""
    return [*{model.get("type", tuple(model)): model for model in reversed(answered)}.values()]


@cache
def _parts() -> Mapping[str, Sequence[tuple[str, _Model, Sequence[_Model]]]]:
    """Return the components of each stage: the name, the smallest form, and a form for each value worth trying.

    A value is worth trying if it has a feature that no earlier one has.
    """
    seen, found = set[str](), dict[str, list[tuple[str, _Model, Sequence[_Model]]]]()
    for stage in STAGES:
        rows = found[stage] = []
        for row in rows_of(stage):
            kind: _Model = {"type": row.type} if row.type else {}
            smallest = {**kind, **{each.name: _first(row, each) for each in row.parameters if each.default is NEEDED}}
            others = ({**smallest, each.name: value} for each in row.parameters for value in _values(row, each))
            seen.update(part_features(stage, smallest))
            new = []
            for part in others:
                if not (features := set(part_features(stage, part))) <= seen:
                    seen |= features
                    new.append(part)
            rows.append((row.name, smallest, new))
    return found


def _values(row: Component, parameter: Parameter) -> Sequence[Any]:
    """Return the values of a parameter; for a sequence, each other component of its stage alone."""
    if row.type != "sequence":
        return values_of(row, parameter)
    others = (each for each in rows_of(row.stage) if each.type != "sequence")
    return [
        [{"type": each.type, **{key.name: _first(each, key) for key in each.parameters if key.default is NEEDED}}]
        for each in others
    ]


def _first(row: Component, parameter: Parameter) -> Any:
    return _values(row, parameter)[0]


#: The stages that matter for training.
_OF_TRAINING = ("normalizer", "pre_tokenizer")

_FLAGS = tuple({key: value} for key in ("ignore_merges", "fuse_unk", "byte_fallback") for value in (True, False))
_AFFIXES = ({"continuing_prefix": "##"}, {"continuing_prefix": "@"}, {"end_of_word_suffix": "</w>"})


def _variations(base: _Model) -> Iterator[_Model]:
    """Return a model with each parameter, and with each oddity of its tokens, by itself."""
    tokens = listed_tokens(base)
    allowed = {each.name for each in row_of("model", base.get("type", "")).parameters}
    keys: list[dict[str, Any]] = [*_FLAGS, *_AFFIXES, {"dropout": 0}, {"dropout": 1}, {"max_word_length": 2}]
    if tokens:
        keys += [{"unknown_token": token} for token in (tokens[0], tokens[-1], "[gone]")]
        keys += [{"piece_types": {kind: tokens[-1:]}} for kind in ("control", "user_defined", "unused")]
        keys += [{"scores": [-1.0] * len(tokens), "merges": []}]
    yield from ({**base, **each} for each in keys if next(iter(each)) in allowed)
    yield from (without(base, key) for key in (*_LOSSES, *STAGES) if key in base)
    if "type" in base:
        yield {**without(base, "added_tokens"), "special_tokens": [*tokens[-1:]] or ["<s>"]}
    if not tokens:
        return
    row, plain = row_of("added_token"), without(base, "special_tokens", "added_tokens")
    new = {"content": "<new>", "id": max(ids_of(base).values()) + 1}
    yield from ({**plain, "added_tokens": [each]} for each in ({"content": tokens[-1]}, new))
    flags = row.defaults.items()
    yield from ({**plain, "added_tokens": [{"content": tokens[-1], flag: not default}]} for flag, default in flags)
    more = ("", " ", "\ud800", "ab</w>", "a▁", "中")
    if "tokens" in base:
        yield from ({**base, "tokens": [*base["tokens"], [token, -1.0]]} for token in (*more, tokens[-1]))
        yield {**without(base, "weights"), "tokens": [[token, 1] for token in tokens]}
        return
    yield from ({**base, "vocabulary": [*base["vocabulary"], token]} for token in more)
    yield {**base, "vocabulary": tokens[1:]}
    yield from ({**base, "vocabulary": [[t, first + 2 * i] for i, t in enumerate(tokens)]} for first in (1, 2**31))
    if merges := base.get("merges"):
        yield from ({**base, "merges": each} for each in (merges[::-1], [*merges, ["a", "[gone]"]]))
        yield {**base, "vocabulary": [token for token in tokens if len(token) == 1], "merges": []}


def _plain(model: _Model) -> list[Asked]:
    """Return the requests that show whether a model is supported, one for each of its parts."""
    tokens = listed_tokens(model)
    found: list[Asked] = [("encode", {"text": "ab"})] if tokens else []
    found += [(name, {"text": "ab"}) for name in ("normalize", "pre_tokenize") if OF_STAGES[name] in model]
    found += [("decode", {"tokens": tokens[-1:] or ["a"]})] if "decoder" in model else []
    return found + ([("train", _trained(model))] if "type" in model and not tokens else [])


def _trained(model: _Model) -> dict[str, Any]:
    size: dict[str, Any] = {"corpus": {"words": [["aab", 3], ["ab", 2]]}, "vocabulary_size": 4}
    return size | ({"initial_size": 6, "fraction": 0.5} if model["type"] == "unigram" else {})


#: Values of options, each of which is tried by itself.
_VALUES: Mapping[str, Sequence[Any]] = {
    "pair": ("b",),
    **dict.fromkeys(("add_special_tokens", "skip_special_tokens"), (True, False)),
    **dict.fromkeys(("allowed_special", "disallowed_special"), ("all", [])),
    "keep_stop": (True,),
    "initial_score": (0, 1, -2.5),
    "steps": (0, 1, -1),
    "first": (0, 1),
    "min_frequency": (0, 2),
}


#: The operations that are drawn only for a byte-level decoder.
_OF_BYTES = ("decode_bytes", "decode_with_offsets")


def _requests(model: _Model) -> Iterator[Asked]:
    """Return each operation that applies to a model, plain and with each of its options by itself."""
    kind, is_bare = model.get("type", ""), "type" in model and not listed_tokens(model)
    some = [*ids_of(model).values()][-2:]
    options = {**_VALUES, **{key: [some[:1]] for key in ("prompt", "beside", "stop_ids")}}
    for operation in OPERATIONS:
        named = [row for row in operation.rows if row.models == "any" or kind in row.models.split(", ")]
        is_of_bytes = operation.name not in _OF_BYTES or model.get("decoder", {}).get("type") == "byte_level"
        if named and is_of_bytes and (is_bare or operation.needs_tokens):
            inputs = _inputs(operation, model, some)
            yield from ((operation.name, each) for each in inputs)
            for key in operation.may_take.keys() & options.keys() if inputs else ():
                yield from ((operation.name, {**inputs[0], key: value}) for value in options[key])


def _inputs(operation: Operation, model: _Model, ids: Sequence[int]) -> Sequence[dict[str, Any]]:
    """Return inputs of an operation, the plainest first; none if it needs ids and the model has no tokens."""
    takes, name = {**operation.takes, **operation.may_take}, operation.name
    corpora = [{"words": [["ab", count]]} for count in (2, 0, 2**31)] + [{"words": []}, {"texts": ["ab"]}]
    if name == "encode_parts":
        return [{"parts": [{"text": "ab"}, {"ids": ids}, {"text": "a", "trusted": True}]}]
    if name == "encode_batch":
        return [{"inputs": [{"text": "ab", **more}]} for more in ({}, {"pair": "b"})]
    if "text" in takes:
        return [{"text": text} for text in ("ab", "\ud800", "ab" * 300)]
    if "word" in takes:
        return [{"word": word, **({"nbest_size": 2} if "nbest_size" in takes else {})} for word in ("ab", "x")]
    if "corpus" in takes:
        given = {"token": "a", **(_trained(model) if "type" in model else {}), "fraction": 0.5}
        needed = {key: given[key] for key in given if key in takes}
        return [{**needed, "corpus": corpus} for corpus in corpora]
    tokens = ("a", "Ã", "[gone]", "中", "\ud800") if "tokens" in takes else ()
    listed = [ids, [max(ids) + 1], [ids[0] + 2**32]] if ids else []
    end: dict[str, Any] = {"stops": ["a"]} if "stops" in takes else {"end": True} if "end" in takes else {}
    found = [{"ids": each, **end} for each in listed]
    found += [{"id_steps": [each], **end} for each in listed[:1] if "id_steps" in takes]
    found += [{"ids": each} for each in listed[:1] if "end" in end]
    return found + [{"tokens": [token]} for token in tokens] + ([] if takes else [{}])
