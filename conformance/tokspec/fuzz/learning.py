"""Learning what an implementation answers, so that drawing narrows to it.

What ``hello`` and the formats rule out is never sent, and so never drawn. The rest is learned from refusals as
``unsupported``. A request has traits: its operation and options, and the type, components, parameters and odd tokens of
its model. A trait that was never answered is suspected of a refusal; where each was answered, two of them together are.
Suspects that explain refusals of two examples, or are the only ones of one, are avoided (:class:`Narrowing`) until they
are answered: a request that has them is asked only now and then, and a model that has them is changed, a part at a
time, until it has none. As long as nothing is refused, nothing is learned, which costs nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from typing import Any, TypeAlias

from tokspec.adapter import Hello
from tokspec.compare.shrink import listed_tokens
from tokspec.formats.files import without
from tokspec.formats.neutral import tokens_in_id_order
from tokspec.formats.tiktoken_ranks import merges_of
from tokspec.fuzz.components import STAGES
from tokspec.fuzz.families import BROKEN
from tokspec.fuzz.pipelines import starts
from tokspec.fuzz.traits import Traits, operation_trait
from tokspec.protocol.messages import Refused, Request
from tokspec.sessions.session import refuse_unoffered, undeclared, write_model
from tokspec.suite.components import NEEDED, TABLE, component_names, covers, members_of, needed_components
from tokspec.suite.operations import OPERATIONS

Asked: TypeAlias = tuple[str, Mapping[str, Any]]
Row: TypeAlias = frozenset[str]
_Model: TypeAlias = Mapping[str, Any]

#: How many of the last answered examples are remembered before anything is refused, and rows of each kind afterwards.
_EARLIER, _ROWS = 200, 1500

#: Of an example that is refused so many operations are asked.
TRIES = 2

#: What is avoided is asked as long as its refusals are at most this share of what a family was asked.
_SHARE = 0.03

#: A family of which nothing was answered is asked so often before it is asked rarely: once in so many examples.
_TRIED, _RARELY = 12, 10

#: A family of which nothing can be sent in so many examples is not drawn any more: ``hello`` or formats rule it out.
_RULED_OUT = 25

#: Answered models of a family that are starts.
_KEPT = 3

#: An implementation is picky that refused so many examples with something new, and more than this share of them.
_PICKY, _PICKY_SHARE = 3, 0.15

#: The share of a family's requests that is to be answered: one with less is drawn more often.
_AIM = 0.93

#: After so many examples models that are broken on purpose are drawn too.
_EARLY = 30


@dataclass(frozen=True)
class Narrowing:
    """What to draw: it does not change, so that examples drawn under it can be shrunk.

    ``avoided`` are traits that are not to be together, ``closed`` the families of which nothing was answered yet, and
    ``answered`` models of the others, to take parts from. ``known`` are all traits that were answered: what has others
    is rare where ``is_picky`` says that an implementation refuses much of what is new, and in families that are
    ``low``: too little was answered of them until now. ``is_early`` says that models that are broken on purpose wait,
    because it is not clear what their refusals are of. Of ``ruled_out`` families nothing that was drawn could be sent.
    ``refused`` are the starts and the models broken on purpose that the implementation refused; others are tried first.
    """

    hello: Hello
    avoided: tuple[Row, ...] = ()
    closed: frozenset[str] = frozenset()
    answered: Mapping[str, Sequence[_Model]] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    is_picky: bool = False
    is_early: bool = True
    low: frozenset[str] = frozenset()
    ruled_out: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()

    @cached_property
    def untried(self) -> frozenset[str]:
        """The closed families that have a usual model which was not tried yet."""
        return frozenset(family for family in self.closed if self._not_refused(starts(family), ()))

    def known_for(self, family: str) -> frozenset[str] | None:
        """Return the traits to keep to in a family; None if others may well be answered."""
        return self.known if self.known and (self.is_picky or family in self.low) else None

    def mend(self, family: str, model: _Model, turn: int, spared: int) -> _Model:
        """Change a model, a part at a time, until nothing speaks against asking about it, or no change helps.

        ``turn`` says which start comes first. Of a family of which nothing was answered each start is tried once; then
        starts take turns with what comes nearest to what is answered of other families.
        ``spared`` is the number of something avoided, or not known, to put up with, if the model has so many.
        """
        avoided, known = self.avoided, self.known_for(family) if family in self.answered else None
        if family == "broken":
            return self._not_refused(_turned(BROKEN, turn * 5), avoided) or model
        if family in self.closed and starts(family):
            if start := self._not_refused(_turned(starts(family), turn), ()):
                model, avoided = start, ()
            elif turn % 2:
                known = self.known or None
            else:
                model, avoided = _turned(starts(family), turn // 2)[0], ()
        elif spared >= 0:
            traits = Traits(model).model
            has = [each for each in avoided if each <= traits]
            new = sorted(traits - known) if known else []
            if has or new:
                place = spared % (len(has) + len(new))
                left = has[place] if place < len(has) else None
                avoided = tuple(each for each in avoided if each != left)
                known = known if place < len(has) or known is None else known | {new[place - len(has)]}
        best = self._faults(model, avoided, known)
        own = _turned([*self.answered.get(family, ()), *starts(family)], turn)
        while best:
            for changed in _changes(model, own):
                faults = self._faults(changed, avoided, known)
                if faults < best:
                    model, best = changed, faults
                    break
            else:
                return model
        return model

    def _not_refused(self, models: Sequence[_Model], avoided: Sequence[Row]) -> _Model | None:
        """Return the first model that was not refused, and that nothing speaks against asking about."""
        left = (each for each in models if str(each) not in self.refused)
        return next((each for each in left if not self._faults(each, avoided, None)), None)

    def _faults(self, model: _Model, avoided: Sequence[Row], known: frozenset[str] | None) -> int:
        """Count what speaks against asking about a model."""
        unknown = [name for name in needed_components(model) if not covers(self.hello.components, name)]
        traits = Traits(model).model
        is_other = not listed_tokens(model) and model.get("type") in self.hello.other_trainers
        found = (
            len(unknown) + is_other + sum(each <= traits for each in avoided) + (len(traits - known) if known else 0)
        )
        if not any(self._is_open(traits, operation, avoided) for operation in self.wanted(model)):
            found += 1
        return found or isinstance(write_model(self.hello, model), Refused)

    def wanted(self, model: _Model) -> list[str]:
        """Name the operations that are there for a model's parts: of one with tokens, to encode if it is offered."""
        if listed_tokens(model):
            names = ["encode"] if "encode" in self.hello.operations else list(self.hello.operations)
        elif "type" in model:
            names = list(_TRAINING)
        else:
            names = [operation for operation, stage in _OF_STAGES.items() if stage in model]
        return [each for each in names if each in self.hello.operations]

    def _is_open(self, traits: Row, operation: str, avoided: Sequence[Row]) -> bool:
        whole = traits | {operation_trait(operation)}
        return not any(each <= whole for each in avoided)


@cache
def _given(family: str) -> frozenset[str]:
    """Return the models of a family that are written down rather than drawn."""
    return frozenset(map(str, BROKEN if family == "broken" else starts(family)))


def _turned(models: Sequence[_Model], turn: int) -> Sequence[_Model]:
    first = turn % max(len(models), 1)
    return [*models[first:], *models[:first]]


_OF_STAGES = {"normalize": "normalizer", "pre_tokenize": "pre_tokenizer", "decode": "decoder"}
_OF_TOKENS = tuple(operation.name for operation in OPERATIONS if operation.needs_tokens)
_TRAINING = frozenset(operation.name for operation in OPERATIONS if not operation.needs_tokens)

#: Keys that a model may lose.
_LOSSES = (
    *("special_tokens", "added_tokens", "unknown_token", "max_word_length", "continuing_prefix", "end_of_word_suffix"),
    *("ignore_merges", "dropout", "fuse_unk", "byte_fallback", "piece_types", "scores"),
)

#: How traits end that many implementations refuse, and what they refuse together: these are suspected first.
_USUAL = ("surrogate in a text", "token outside vocabulary", "ids of 33 bits", "count 0", "large counts")
_USUAL_PAIRS = tuple(
    frozenset((operation_trait(operation), f"no {stage}"))
    for operation, stage in _OF_STAGES.items()
    if stage != "decoder"
)
_CORE = ("type", "vocabulary", "merges", "tokens", "weights", *_LOSSES[2:])
_OPTIONAL = {row.name: [each.name for each in row.parameters if each.default is not NEEDED] for row in TABLE}


def _changes(model: _Model, others: Sequence[_Model]) -> Iterator[_Model]:
    """Return models with one part less, or with a part of another model; the smallest changes first."""
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


#: What an input may do without.
_OPTIONS = (
    *("pair", "add_special_tokens", "allowed_special", "disallowed_special", "skip_special_tokens"),
    *("steps", "first", "min_frequency", "prompt", "beside", "stop_ids", "keep_stop", "initial_score"),
)


def _less(asked: Asked) -> Iterator[Asked]:
    """Return a request without each of its options, and without any."""
    operation, input = asked
    options = [key for key in _OPTIONS if key in input]
    for left_out in (*((key,) for key in options), tuple(options)):
        if left_out:
            yield operation, without(input, *left_out)


class Learner:
    """Learns from replies, and says what is worth asking.

    Args:
        hello: what the implementation declares.
    """

    def __init__(self, hello: Hello) -> None:
        self.hello, self._declares_all = hello, _declares_all(hello)
        #: What drawing narrows to; None as long as everything that may be drawn is declared and answered.
        self.narrowing = None if self._declares_all else Narrowing(hello)
        self._earlier: deque[tuple[str, _Model, list[Asked]]] | None = deque(maxlen=_EARLIER)
        self._together: dict[str, set[str]] = {}
        self._seen: set[Row] = set()
        self._refused: dict[Row, int] = {}
        self._examples = 0
        self._asked, self._answered, self._empty = Counter[str](), Counter[str](), Counter[str]()
        self._starts: dict[str, list[_Model]] = {}
        self._failed, self._refused_given = set[Row](), set[str]()
        self._probed, self._new = Counter[Row](), Counter[bool]()

    @property
    def is_learning(self) -> bool:
        """Whether something was refused."""
        return self._earlier is None

    def declared(self, model: _Model, requests: Sequence[Asked]) -> list[Asked]:
        """Leave out what ``hello`` and the formats rule out: it would not be sent.

        A model that is still to be trained is for those that train.
        """
        if "type" in model and not listed_tokens(model) and not _TRAINING.intersection(self.hello.operations):
            return []
        if undeclared(self.hello, model):
            return []
        if self._declares_all:
            return [asked for asked in requests if asked[0] in self.hello.operations]
        offered = [
            (operation, input)
            for operation, input in requests
            if refuse_unoffered(self.hello, Request(operation, "", model, input)) is None
        ]
        return [] if offered and isinstance(write_model(self.hello, model), Refused) else offered

    def worth_asking(self, family: str, model: _Model, requests: Sequence[Asked]) -> list[Asked]:
        """Leave out what is avoided, apart from one request now and then: a refusal may have been of a combination."""
        self._examples += 1
        if self.narrowing is None or not self.is_learning:
            return list(requests)
        is_answered = bool(self._answered[family])
        traits, found, probe = Traits(model), [], None
        is_enough = self._asked[family] >= _TRIED + self._examples // _RARELY
        if not is_answered:
            name = str(model)
            if is_enough or (name in self._refused_given if name in _given(family) else traits.model in self._failed):
                return []
            wanted = self.narrowing.wanted(model)
            requests = [asked for asked in requests if asked[0] in wanted] or requests
        fewest, known = None, self.narrowing.known_for(family) if is_answered and family != "broken" else None
        for asked in requests:
            why = self._reasons(traits, asked, known)
            if why and (less := next((each for each in _less(asked) if not self._reasons(traits, each, known)), None)):
                asked, why = less, []
            if not why:
                found += [] if asked in found else [asked]
            elif fewest is None or (len(why), self._probed[why[0]]) < fewest:
                fewest, probe = (len(why), self._probed[why[0]]), (asked, why)
        refused = self._asked[family] - self._answered[family]
        if family == "broken":  # a refusal may be of what is broken, and teaches no more than not to ask it again
            return [] if str(model) in self._refused_given else found
        if probe is not None and (refused + 1 <= _SHARE * self._asked[family] or not (found or is_answered)):
            found.append(probe[0])
            self._probed.update(probe[1])
        return found

    def _reasons(self, traits: Traits, asked: Asked, known: frozenset[str] | None) -> list[Row]:
        """Return what speaks against a request."""
        row = traits.model | traits.of_request(*asked)
        why = [each for each in self.narrowing.avoided if each <= row] if self.narrowing else []
        return why + ([frozenset((trait,)) for trait in sorted(row - known)] if known is not None else [])

    def is_careful(self, family: str) -> bool:
        """Whether requests of a family are better asked one by one, as long as none or not all were answered."""
        return self.is_learning or not self._answered[family]

    def learn(self, family: str, model: _Model, compared: Sequence[tuple[Asked, bool]]) -> bool:
        """Take note of which requests were answered, and say whether drawing is to change."""
        answered = [asked for asked, is_answered in compared if is_answered]
        self._empty[family] += not compared
        self._asked[family] += len(compared)
        self._answered[family] += len(answered)
        if self._earlier is not None:
            if len(answered) == len(compared):
                self._earlier.append((family, model, answered))
                is_time = self._empty[family] in (_TRIED, _RULED_OUT) or self._examples == _EARLY
                return self.narrowing is not None and is_time and self._narrow()
            earlier, self._earlier = self._earlier, None
            for example in earlier:
                self._take(*example)
        traits = Traits(model)
        if answered or compared:
            self._note_new(traits.model, bool(answered))
        if not answered:
            self._failed.add(traits.model)
            self._refused_given.update({str(model)} & _given(family) if compared else ())
        is_news = self._take(family, model, answered)
        for asked, is_answered in compared:
            row = traits.model | traits.of_request(*asked)
            if not is_answered and len(self._refused) < _ROWS and row not in self._refused:
                self._refused[row] = self._examples
                is_news = True
        is_news |= self.narrowing is not None and self.narrowing.low != frozenset(self._low())
        is_news |= (self._empty[family] in (_TRIED, _RULED_OUT) and not compared) or self._examples == _EARLY
        return is_news and self._narrow()

    def _note_new(self, traits: Row, is_answered: bool) -> None:
        """Count examples with something that was not answered before, by whether they were answered."""
        is_avoided = self.narrowing is not None and any(each <= traits for each in self.narrowing.avoided)
        if self._together and not is_avoided and not self._together.keys() >= traits:
            self._new[is_answered] += 1

    def _low(self) -> list[str]:
        """Return the families of which something was answered, and less than is aimed at."""
        return [family for family, answered in self._answered.items() if 0 < answered < _AIM * self._asked[family]]

    def _is_picky(self) -> bool:
        refused = self._new[False]
        return refused >= _PICKY and refused > _PICKY_SHARE * (refused + self._new[True])

    def _take(self, family: str, model: _Model, answered: Sequence[Asked]) -> bool:
        """Take note of what was answered, and say whether it clears something that is avoided."""
        if not answered:
            return False
        kept = self._starts.setdefault(family, [])
        if len(kept) < _KEPT and model not in kept:
            kept.append(model)
        traits, new = Traits(model), set[Row]()
        for asked in answered:
            new.add(traits.model | traits.of_request(*asked))
        new -= self._seen
        if len(self._seen) < 4 * _ROWS:
            self._seen |= new
        for row in new:
            for trait in row:
                self._together.setdefault(trait, set()).update(row)
        if self.narrowing is None:
            return False
        known = self.narrowing.known_for(family)
        is_new = known is not None and any(not row <= known for row in new)
        return is_new or any(each <= row for each in self.narrowing.avoided for row in new)

    def _suspects(self, row: Row) -> list[Row]:
        """Return what of a refused request was never answered: what is usual, single traits, or else pairs of them."""
        usual = [frozenset((trait,)) for trait in row if trait.endswith(_USUAL) and trait not in self._together]
        usual += [pair for pair in _USUAL_PAIRS if pair <= row and not self._is_answered(*pair)]
        if usual:
            return usual
        if alone := [frozenset((trait,)) for trait in row if trait not in self._together]:
            return alone
        return [frozenset(pair) for pair in combinations(sorted(row), 2) if pair[1] not in self._together[pair[0]]]

    def _is_answered(self, one: str, other: str) -> bool:
        return other in self._together.get(one, ())

    def _narrow(self) -> bool:
        """Choose what to avoid: what explains most refusals, until all of them are explained that can be."""
        waiting = [(example, suspects) for row, example in self._refused.items() if (suspects := self._suspects(row))]
        found = {suspects[0] for _, suspects in waiting if len(suspects) == 1}
        waiting = [(example, suspects) for example, suspects in waiting if found.isdisjoint(suspects)]
        while waiting:
            examples: dict[Row, set[int]] = {}
            for example, suspects in waiting:
                for each in suspects:
                    examples.setdefault(each, set()).add(example)
            most = max(map(len, examples.values()))
            if most < 2:
                break
            best = {each for each, of in examples.items() if len(of) == most}
            found |= best
            waiting = [(example, suspects) for example, suspects in waiting if best.isdisjoint(suspects)]
        tried = self._asked + self._empty
        closed = {family for family in tried if tried[family] >= _TRIED and not self._answered[family]}
        ruled_out = {family for family in closed if not self._asked[family] and self._empty[family] >= _RULED_OUT}
        avoided = tuple(sorted(found, key=sorted)) if any(self._answered.values()) else ()
        kept = {family: tuple(models) for family, models in self._starts.items()}
        is_early, old = self._examples < _EARLY, self.narrowing
        self.narrowing = Narrowing(
            self.hello,
            avoided,
            frozenset(closed),
            kept,
            frozenset(self._together),
            self._is_picky(),
            is_early,
            frozenset(self._low()),
            frozenset(ruled_out),
            frozenset(self._refused_given),
        )
        return self.narrowing != old


def _declares_all(hello: Hello) -> bool:
    """Whether nothing that is drawn can be ruled out: every model can be sent, with every option."""
    return hello.formats[:1] == ("tokspec",) and all(covers(hello.components, name) for name in component_names())
