"""The minimizer of plain values: delta debugging of the model and the input of a question, or of one long sequence.

Fuzzing uses it after Hypothesis's shrinker, and for questions that were not drawn; comparing uses it for differences on
a user's text and model. The caller decides which questions still show the same finding. A pass offers smaller
questions, large cuts first; the first that still shows the finding becomes the current one, and the passes start again
until none has anything to offer. Lists and texts lose stretches, from halves down to single items. Nothing is random.
If a model names only tokens of its vocabulary, so do the smaller ones, because the specification says something else
about a model that names other tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from time import monotonic
from typing import Any, TypeAlias, TypeVar

from tokspec.formats.files import without
from tokspec.suite import schema

_Path: TypeAlias = tuple[str | int, ...]
_Sequence = TypeVar("_Sequence", str, list[Any])


@dataclass(frozen=True)
class Question:
    """A request to one model, as plain values that can be changed and written down."""

    model: Mapping[str, Any]
    operation: str
    input: Mapping[str, Any]

    @property
    def key(self) -> str:
        """A key that no other question has.

        >>> Question({}, "normalize", {"text": "a"}).key
        'normalize {"text":"a"} {}'
        """
        return f"{self.operation} {_json(self.input)} {_json(self.model)}"

    @property
    def size(self) -> int:
        """The length of the question, in characters of JSON.

        >>> Question({}, "normalize", {"text": "a"}).size
        14
        """
        return len(_json(self.model)) + len(_json(self.input))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def listed_tokens(model: Mapping[str, Any]) -> list[str]:
    """Return the tokens of a model in the order in which they are listed, whatever their ids.

    >>> listed_tokens({"type": "unigram", "tokens": [["a", -1]]})
    ['a']
    >>> listed_tokens({"type": "bpe", "vocabulary": [["b", 1], ["a", 0]]})
    ['b', 'a']
    """
    listed = [each if isinstance(each, str) else each[0] for each in model.get("vocabulary", ())]
    return listed or [token for token, _ in model.get("tokens", ())]


# Sequences


class Spent(Exception):
    """Raised when nothing more may be tried."""


#: With more items than this, candidates are tried one at a time.
_LARGE = 5000


def minimize_sequence(items: _Sequence, shows: Callable[[list[_Sequence]], list[bool]], at_once: int = 16) -> _Sequence:
    """Leave out stretches, from halves down to single items, until nothing can be left out.

    Args:
        items: the sequence, which shows a difference.
        shows: returns which of several candidates show it too; if it raises ``Spent``, the search ends with the current
            sequence.
        at_once: how many candidates ``shows`` gets at a time.

    >>> minimize_sequence("one two Three four", lambda texts: ["T" in text and "o" in text for text in texts])
    'oT'
    """
    size = max(1, len(items) // 2)
    while True:
        at, is_smaller = 0, False
        while at < len(items):
            starts = range(at, min(at + (at_once if len(items) <= _LARGE else 1) * size, len(items)), size)
            try:
                shown = shows([items[:start] + items[start + size :] for start in starts])
            except Spent:
                return items
            found = next((start for start, is_shown in zip(starts, shown, strict=True) if is_shown), None)
            if found is None:
                at = starts[-1] + size
            else:
                items, at, is_smaller = items[:found] + items[found + size :], found, True
        if size == 1 and not is_smaller:
            return items
        size = max(1, size // 2)


def narrow_sequence(items: _Sequence, shows: Callable[[list[_Sequence]], list[bool]]) -> _Sequence:
    """Cut off the end and the beginning of a long sequence, each by bisection.

    >>> narrow_sequence("one two Three four", lambda texts: ["o T" in text for text in texts])
    'o T'
    """
    end = _bisect(lambda place: shows([items[:place]])[0], len(items))
    items = items[:end]
    start = len(items) - _bisect(lambda length: shows([items[len(items) - length :]])[0], len(items))
    return items[start:]


def _bisect(shows: Callable[[int], bool], last: int) -> int:
    """Return a length that shows something while the length before it does not; ``last`` shows it, and 0 does not."""
    first = 0
    with suppress(Spent):
        while last - first > 1:
            middle = (first + last) // 2
            if shows(middle):
                last = middle
            else:
                first = middle
    return last


# Questions

#: The most smaller questions that are tried.
_MOST = 4000


def minimize(
    question: Question,
    shows: Callable[[list[Question]], list[bool]],
    seconds: float = 10.0,
    most: int = _MOST,
    *,
    passes: Sequence[_Pass] | None = None,
    at_once: int = 1,
) -> Question:
    """Return the smallest question found that still shows the same finding.

    Args:
        question: the question, which shows a finding.
        shows: returns which of several smaller questions show it too; if it raises ``Spent``, the search ends with the
            current question.
        seconds: the time after which nothing more is tried.
        most: how many smaller questions are tried.
        passes: the passes that offer smaller questions; all of this module unless given.
        at_once: how many questions ``shows`` gets at a time.

    >>> asked = Question({}, "normalize", {"text": "one Σ two"})
    >>> minimize(asked, lambda several: ["Σ" in each.input.get("text", "") for each in several]).input
    {'text': 'Σ'}
    """
    search = _Search(question, shows, monotonic() + seconds, most, at_once)
    with suppress(Spent):
        is_smaller = True
        while is_smaller:
            before = search.question
            for cut in PASSES if passes is None else passes:
                cut(search)
            is_smaller = search.question is not before
    return search.question


class _Search:
    """The smallest question so far, and the questions that were tried."""

    def __init__(
        self,
        question: Question,
        shows: Callable[[list[Question]], list[bool]],
        until: float,
        most: int,
        at_once: int,
    ) -> None:
        self.question, self.at_once = question, at_once
        self._shows, self._until, self._most = shows, until, most
        self._seen, self._valid = {question.key}, _valid_parts(question)

    def take_first(self, cuts: Callable[[Question], Iterator[Question]]) -> None:
        """Make the first smaller question that shows the finding the current one, and start the pass again."""
        waiting = cuts(self.question)
        while candidates := list(islice(waiting, self.at_once)):
            if any(self.try_all(candidates)):
                waiting = cuts(self.question)

    def shorten(self, items: _Sequence, make: Callable[[_Sequence], Question]) -> None:
        """Leave out stretches of a sequence from which questions are built."""
        minimize_sequence(items, lambda several: self.try_all([make(each) for each in several]), self.at_once)

    def try_all(self, candidates: list[Question]) -> list[bool]:
        """Return which candidates show the finding, up to the first one, which becomes the current question.

        Raises:
            Spent: the time is up, or the maximum number of questions was tried.
        """
        found = [False] * len(candidates)
        tried = [place for place, candidate in enumerate(candidates) if self._is_worth_it(candidate)]
        shown = self._shows([candidates[place] for place in tried]) if tried else []
        for place, is_shown in zip(tried, shown, strict=True):
            if is_shown:
                self.question, found[place] = candidates[place], True
                break
        return found

    def _is_worth_it(self, candidate: Question) -> bool:
        """Return whether a candidate is new, no larger, and covered by the specification as well."""
        key = candidate.key
        if key in self._seen or candidate.size > self.question.size:
            return False
        if not (_says_as_much(candidate, self.question) and self._valid <= _valid_parts(candidate)):
            return False
        if len(self._seen) >= self._most or monotonic() > self._until:
            raise Spent
        self._seen.add(key)
        return True


_Pass: TypeAlias = Callable[[_Search], None]


def offer(cuts: Callable[[Question], Iterator[Question]]) -> _Pass:
    """Build a pass from a function that offers smaller questions."""
    return lambda search: search.take_first(cuts)


def _valid_parts(question: Question) -> set[str]:
    """Return the parts that are valid by the schema, because nobody can write or answer invalid ones."""
    parts = {"model": question.model, f"operations/{question.operation}/input": question.input}
    return {part for part, value in parts.items() if not any(schema.errors(value, part, every=False))}


#: Keys of the members of sequences, and short components that may replace another.
_SEQUENCES = ("normalizers", "pre_tokenizers", "decoders", "post_processors")
_PLAINER: Mapping[str | int, Sequence[Mapping[str, Any]]] = {
    "normalizer": ({"type": "nfc"}, {"type": "nfkd"}, {"type": "strip"}),
    "pre_tokenizer": ({"type": "bert"}, {"type": "digits"}),
    "decoder": ({"type": "fuse"},),
    "post_processor": ({"type": "byte_level"}, {"type": "bert", "cls": ["a", 0], "sep": ["a", 0]}),
}

#: The operations that also work with a model without tokens.
_WITHOUT_TOKENS = ("normalize", "pre_tokenize", "decode", "count_words")


def _says_as_much(candidate: Question, question: Question) -> bool:
    """Return whether the specification covers a candidate as well: its model is as sound, and still has tokens."""
    is_emptied = not listed_tokens(candidate.model) and bool(listed_tokens(question.model))
    if is_emptied and question.operation not in _WITHOUT_TOKENS:
        return False
    return is_sound(candidate.model) or not is_sound(question.model)


def is_sound(model: Mapping[str, Any]) -> bool:
    """Return whether a model names only tokens of its vocabulary, and lists each once.

    >>> is_sound({"type": "bpe", "vocabulary": ["a"], "special_tokens": ["<s>"]})
    False
    """
    listed = listed_tokens(model)
    known = set(listed)
    if not listed:
        return not model.get("merges") and model.get("type") != "wordlevel"
    merged = (token for merge in model.get("merges", ()) for token in _tokens_of_merge(model, merge))
    unknown = [model["unknown_token"]] if "unknown_token" in model else []
    return len(known) == len(listed) and known.issuperset([*merged, *model.get("special_tokens", ()), *unknown])


def _tokens_of_merge(model: Mapping[str, Any], merge: Sequence[str]) -> tuple[str, str, str]:
    """Return the two tokens that a merge joins, and the resulting token."""
    left, right = merge
    return left, right, left + right.removeprefix(model.get("continuing_prefix", ""))


def find_values(value: Any, kind: type | tuple[type, ...], path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Return all values of a type with their paths, outer ones first; a boolean is not an integer."""
    if isinstance(value, kind) and not isinstance(value, bool):
        yield path, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from find_values(item, kind, (*path, key))


def put_value(value: Any, path: _Path, new: Any) -> Any:
    """Copy a value, with a new value at a path."""
    if not path:
        return new
    if isinstance(value, list):
        return [put_value(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]
    return {key: put_value(item, path[1:], new) if key == path[0] else item for key, item in value.items()}


def _at(value: Any, path: _Path) -> Any:
    """Return the value at a path; None if the path is gone."""
    for key in path:
        try:
            value = value[key]
        except (LookupError, TypeError):
            return None
    return value


def _in_model(question: Question, path: _Path, new: Any) -> Question:
    return replace(question, model=put_value(question.model, path, new))


def _in_input(question: Question, path: _Path, new: Any) -> Question:
    return replace(question, input=put_value(question.input, path, new))


#: Keys that not every type of model has, keys that name tokens, and keys of the stages after encoding.
_OF_TYPES = (
    *("type", "vocabulary", "merges", "tokens", "weights", "unknown_token", "continuing_prefix", "end_of_word_suffix"),
    *("max_word_length", "ignore_merges", "fuse_unk", "byte_fallback", "scores", "piece_types"),
)
_NAMING = ("merges", "special_tokens", "unknown_token")
_BEHIND = ("truncation", "padding", "post_processor")


def _models(question: Question) -> Iterator[Question]:
    """Keep only the stages, replace the model by the one part that is needed, or logarithms by frequencies."""
    model, stages = question.model, without(question.model, *_OF_TYPES)
    if len(stages) < len(model):
        yield replace(question, model=stages)
    if "tokens" in model and "weights" in model:
        yield replace(
            question, model={**without(model, "weights"), "tokens": [[token, 1] for token, _ in model["tokens"]]}
        )
    if question.operation in ("encode", "encode_batch") and listed_tokens(model):
        texts = "".join(text for path, text in find_values(question.input, str) if path[-1] in ("text", "pair"))
        added = [without(row, "id") for row in model.get("added_tokens", ())]
        special = [*model.get("special_tokens", ()), *(row["content"] for row in added)]
        plain = {**stages, "type": "bpe", "vocabulary": list(dict.fromkeys([*special, *(texts or "a")]))}
        plain |= {"added_tokens": added} if added else {}
        if len(str(plain)) < len(str(model)):
            yield replace(question, model=plain)


def _alone(question: Question) -> Iterator[Question]:
    """Reduce a pair to one text, and leave out the stages after encoding."""
    plain = without(question.model, *_BEHIND)
    models = [plain] if len(plain) < len(question.model) else []
    texts = [question.input[key] for key in ("text", "pair") if "pair" in question.input]
    for model in (*models, question.model):
        for text in texts:
            yield replace(question, model=model, input={**without(question.input, "pair"), "text": text})
    for model in models:
        yield replace(question, model=model)


#: Keys that stay, and keys of the input that may go.
_NEEDED = ("type", *_SEQUENCES)
_OPTIONAL = (
    *("min_frequency", "steps", "first", "pair", "add_special_tokens", "allowed_special", "disallowed_special"),
    *("skip_special_tokens", "prompt", "beside", "stop_ids", "keep_stop", "initial_score"),
)


def _keys(question: Question) -> Iterator[Question]:
    """Leave out keys of the model; without its tokens, it also loses the keys that name tokens."""
    for path, part in sorted(find_values(question.model, Mapping), key=lambda row: len(row[0])):
        for key in (key for key in part if key not in _NEEDED):
            named = _NAMING if path == () and key in ("vocabulary", "tokens") else ()
            yield from _with_longer(_in_model(question, path, without(part, key, *named)))


def _options(question: Question) -> Iterator[Question]:
    """Leave out keys of the input."""
    for path, part in find_values(question.input, Mapping):
        yield from (_in_input(question, path, without(part, key)) for key in _OPTIONAL if key in part)


def _with_longer(question: Question) -> Iterator[Question]:
    """Return a question whose model has lost a part, and the same with another letter for what the part added."""
    yield question
    if "text" in question.input:
        yield replace(question, input={**question.input, "text": f"a{question.input['text']}"})


def _members(question: Question) -> Iterator[Question]:
    """Replace a sequence by one of its members, and a component by a plainer one."""
    for path, part in find_values(question.model, Mapping):
        plainer = _PLAINER.get(path[0], ()) if path and "type" in part else ()
        members = [member for key in _SEQUENCES for member in part.get(key, ())]
        for other in (*members, *(each for each in plainer if len(str(each)) < len(str(part)))):
            yield from _with_longer(_in_model(question, path, other))


def _templates(question: Question) -> Iterator[Question]:
    """Remove each name of a template everywhere, let it name one token, and write the template plainly."""
    pair = [{"sequence": "A"}, {"sequence": "B"}]
    for path, part in find_values(question.model, Mapping):
        for at, row in enumerate(part["special_tokens"] if part.get("type") == "template" else ()):
            name, others = row["name"], [each for each in part["special_tokens"] if each is not row]
            items = {key: [each for each in part[key] if each.get("special") != name] for key in ("single", "pair")}
            yield _in_model(question, path, {**part, **items, "special_tokens": others})
            for tokens in (row["tokens"][:1], ["b"]) if len(row["tokens"]) > 1 else ():
                one = {**row, "ids": row["ids"][:1], "tokens": tokens}
                yield _in_model(question, (*path, "special_tokens", at), one)
            plain = _in_model(question, path, {**part, "single": [{"special": name}], "pair": pair})
            yield replace(plain, input={"text": "a"})
            plain = _in_model(question, path, {**part, "single": [], "pair": pair, "special_tokens": []})
            yield replace(plain, input={"text": "a", "pair": "a"})


def _rows(search: _Search) -> None:
    """Leave out stretches of the model's lists of rows; each row keeps its length."""
    for path, _ in list(find_values(search.question.model, list)):
        if not isinstance(path[-1], int):
            if path in (("vocabulary",), ("tokens",)) and "ids" in search.question.input:
                _rows_at(search, path, is_shifted=True)
            _rows_at(search, path, is_shifted=False)


def _rows_at(search: _Search, path: _Path, is_shifted: bool) -> None:
    before = search.question
    places = list(range(len(_at(before.model, path) or ())))
    search.shorten(places, lambda some: _with_rows(before, path, some, is_shifted))


def _with_rows(question: Question, path: _Path, places: Sequence[int], is_shifted: bool) -> Question:
    """Return a question with some rows of a list, and perhaps with the same tokens under their new ids."""
    rows = _at(question.model, path)
    model = without_names(put_value(question.model, path, [rows[place] for place in places]), question.model)
    if not is_shifted:
        return replace(question, model=model)
    new = {old: id for id, old in enumerate(places)}
    ids = [new.get(id, id) if isinstance(id, int) else id for id in question.input["ids"]]
    return replace(question, model=model, input={**question.input, "ids": ids})


def without_names(model: Mapping[str, Any], before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Remove everything that names a removed token.

    Args:
        model: the model, which has lost some tokens.
        before: the same model with these tokens.

    >>> before = {"vocabulary": ["a", "b", "ab"], "merges": [["a", "b"]], "unknown_token": "a"}
    >>> without_names({**before, "vocabulary": ["a", "b"]}, before)
    {'vocabulary': ['a', 'b'], 'merges': [], 'unknown_token': 'a'}
    """
    listed = listed_tokens(before)
    gone = set(listed) - set(listed_tokens(model))
    if not gone:
        return model
    cut = dict(model)
    if "scores" in cut:
        cut["scores"] = [score for token, score in zip(listed, cut["scores"], strict=False) if token not in gone]
    if "merges" in cut:
        cut["merges"] = [merge for merge in cut["merges"] if gone.isdisjoint(_tokens_of_merge(before, merge))]
    if "special_tokens" in cut:
        cut["special_tokens"] = [token for token in cut["special_tokens"] if token not in gone]
    return without(cut, "unknown_token") if cut.get("unknown_token") in gone else cut


def _texts(search: _Search) -> None:
    """Leave out stretches of the input's lists and texts; rows keep their length, and words are not empty."""
    for path, items in list(find_values(search.question.input, (list, str))):
        if isinstance(items, str) or not isinstance(path[-1], int):
            _text_at(search, path)


def _text_at(search: _Search, path: _Path) -> None:
    before = search.question
    items = _at(before.input, path) or ""
    is_word = isinstance(items, str) and "words" in path
    search.shorten(items, lambda cut: _in_input(before, path, cut) if cut or not is_word else before)


#: Keys of stages whose values may become shorter, and the keys there: they lose a stretch, or become one of these
#: values.
_STAGES = ("normalizer", "pre_tokenizer", "decoder", "post_processor", "truncation", "padding")
_PARAMETERS: Mapping[str | int, Sequence[str]] = {
    "regex": ("a", ".", r"\s", "[a]", r"\p{L}"),
    **dict.fromkeys(("string", "content", "prefix", "suffix", "unk_surface"), ()),
}


def _parameters(question: Question) -> Iterator[Question]:
    """Shorten the values of parameters of stages."""
    for path, text in find_values(question.model, str):
        if path[0] in _STAGES and path[-1] in _PARAMETERS:
            shorter = _PARAMETERS[path[-1]] or ("a", *_without_stretches(text))
            yield from (_in_model(question, path, each) for each in shorter if len(each) < len(text))


def _without_stretches(text: str) -> Iterator[str]:
    """Return the text without each of its stretches in turn: all of it, halves, quarters, … and single characters."""
    size = len(text)
    while size:
        yield from (text[:start] + text[start + size :] for start in range(0, len(text), size))
        size //= 2


def _numbers(question: Question) -> Iterator[Question]:
    """Replace numbers by smaller ones in the input, and by rounder ones in the model."""
    for path, number in find_values(question.input, int):
        smaller = sorted({each for each in (0, 1, 2, number // 2, number - 1) if 0 <= each < number})
        yield from (_in_input(question, path, each) for each in smaller)
    for path, weight in find_values(question.model, (int, float)):
        rounder = [1, 2] if weight > 0 else [-1.0, -2.0, -4.0]
        for each in rounder[: rounder.index(weight) if weight in rounder else None] if weight else ():
            yield _in_model(question, path, each)


#: Keys of a model that hold tokens, keys below them that hold other words, and letters that stand for tokens.
_TOKENS = ("vocabulary", "tokens", *_NAMING, "added_tokens", "piece_types", "post_processor", "padding")
_WORDS = ("type", "sequence", "strategy", "direction")
_LETTERS = "abcdefgh"


def _letters(question: Question) -> Iterator[Question]:
    """Replace a token, or a character, by a letter everywhere; tokens that become the same are listed once."""
    named = {key: value for key, value in question.model.items() if key in _TOKENS}
    tokens = {text for path, text in find_values(named, str) if path[-1] not in _WORDS}
    used = {
        character for text in (*tokens, *(text for _, text in find_values(question.input, str))) for character in text
    }
    free = next((letter for letter in _LETTERS if letter not in used), "a")
    long = sorted((token for token in tokens if len(token) > 1), key=lambda token: (-len(token), token))
    odd, plain = sorted(used - set(_LETTERS)), sorted(used & set(_LETTERS))
    ways = [*((old, free) for old in long), *((old, new) for old in odd for new in ("a", free))]
    for old, new in (*ways, *((old, "a") for old in plain)):
        model = {**question.model, **_renamed(named, old, new)}
        if all(isinstance(token, str) for token in model.get("vocabulary", [[]])):
            model["vocabulary"] = list(dict.fromkeys(model["vocabulary"]))
        yield Question(model, question.operation, _renamed(question.input, old, new))


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_renamed(item, old, new) for item in value]
    if isinstance(value, Mapping):
        return {key: item if key in _WORDS else _renamed(item, old, new) for key, item in value.items()}
    return value


#: The passes, in order; and those that only leave out parts of a model, so that a user's model stays the user's own.
PASSES: Sequence[_Pass] = (
    *map(offer, (_models, _alone, _keys, _options, _members, _templates)),
    *(_rows, _texts),
    *map(offer, (_parameters, _numbers, _letters)),
)
PASSES_OF_MODEL: Sequence[_Pass] = (offer(_keys), _rows)
