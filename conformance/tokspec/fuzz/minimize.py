"""Making a question smaller while it shows the same: for what was not drawn, and for what a shrinker of draws leaves.

Each pass offers questions that are not larger, large cuts first; the first that still shows the same is taken, and the
passes begin again until none has anything to offer. Nothing is random. A model that names only tokens of its vocabulary
goes on doing so: otherwise the smaller question would be one of which the specification says something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, TypeAlias

from tokspec.fuzz.characters import SHORT_MAPS
from tokspec.fuzz.checker import Question
from tokspec.fuzz.components import STAGES
from tokspec.fuzz.families import tokens_of
from tokspec.suite import schema

__all__ = ["is_sound", "minimize"]

_Path: TypeAlias = tuple[str | int, ...]

#: Keys of the members of sequences, and short components in whose place another may stand.
_SEQUENCES = ("normalizers", "pre_tokenizers", "decoders", "post_processors")
_PLAINER: Mapping[str | int, Sequence[Mapping[str, Any]]] = {
    "normalizer": ({"type": "nfc"}, {"type": "nfkd"}, {"type": "strip"}),
    "pre_tokenizer": ({"type": "bert"}, {"type": "digits"}),
    "decoder": ({"type": "fuse"},),
    "post_processor": ({"type": "byte_level"}, {"type": "bert", "cls": ["a", 0], "sep": ["a", 0]}),
}

#: How many smaller questions are tried at most.
_MOST = 4000


def minimize(
    question: Question, shows: Callable[[Question], bool], seconds: float = 10.0, most: int = _MOST
) -> Question:
    """Return the smallest question found that shows the same; ``shows`` says whether a smaller one does.

    >>> minimize(Question({}, "normalize", {"text": "one Σ two"}), lambda each: "Σ" in each.input.get("text", "")).input
    {'text': 'Σ'}
    """
    end, seen, is_smaller, is_valid = monotonic() + seconds, {question.key}, True, _is_valid(question)
    while is_smaller:
        is_smaller = False
        for cuts in _PASSES:
            waiting = cuts(question)
            while (candidate := next(waiting, None)) is not None:
                if candidate.key in seen or candidate.size > question.size:
                    continue
                if not _says_as_much(candidate, question) or (is_valid and not _is_valid(candidate)):
                    continue
                if len(seen) >= most or monotonic() > end:
                    return question
                seen.add(candidate.key)
                if shows(candidate):
                    question, is_smaller = candidate, True
                    waiting = cuts(question)
    return question


def _is_valid(question: Question) -> bool:
    """Say whether a question has all that the schema asks for: without it, nobody can write or answer it."""
    parts = (question.model, "model"), (question.input, f"operations/{question.operation}/input")
    return not any(error for value, part in parts for error in schema.errors(value, part))


#: What can be asked of a model without tokens as well.
_WITHOUT_TOKENS = ("normalize", "pre_tokenize", "decode", "count_words")


def _says_as_much(candidate: Question, question: Question) -> bool:
    """Say whether the specification says as much of a smaller question: its model is as sound, and still has tokens."""
    is_emptied = not tokens_of(candidate.model) and bool(tokens_of(question.model))
    if is_emptied and question.operation not in _WITHOUT_TOKENS:
        return False
    return is_sound(candidate.model) or not is_sound(question.model)


def is_sound(model: Mapping[str, Any]) -> bool:
    """Say whether a model names only tokens of its vocabulary, each of which is listed once.

    >>> is_sound({"type": "bpe", "vocabulary": ["a"], "special_tokens": ["<s>"]})
    False
    """
    listed = tokens_of(model)
    known = set(listed)
    if not listed:
        return not model.get("merges") and model.get("type") != "wordlevel"
    merged = (token for left, right in model.get("merges", ()) for token in (left, right, left + right))
    unknown = [model["unknown_token"]] if "unknown_token" in model else []
    return len(known) == len(listed) and known.issuperset([*merged, *model.get("special_tokens", ()), *unknown])


def _find(value: Any, kind: type | tuple[type, ...], path: _Path = ()) -> Iterator[_Path]:
    """Return the paths of all values of a type, outer ones first; a boolean is not an integer."""
    if isinstance(value, kind) and not isinstance(value, bool):
        yield path
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _find(item, kind, (*path, key))


def _at(value: Any, path: _Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _put(value: Any, path: _Path, new: Any) -> Any:
    """Copy a value with another at a path."""
    if not path:
        return new
    if isinstance(value, list):
        return [_put(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]
    return {key: _put(item, path[1:], new) if key == path[0] else item for key, item in value.items()}


def _stretches(length: int) -> Iterator[tuple[int, int]]:
    """Return stretches of a length that together cover it: all, halves, quarters, … and single places."""
    size = length
    while size:
        yield from ((start, min(start + size, length)) for start in range(0, length, size))
        size //= 2


#: Keys that stay, keys of the input that may go, and keys whose values are tokens.
_NEEDED = ("type", *_SEQUENCES)
_OPTIONAL = (
    *("min_frequency", "steps", "first", "pair", "add_special_tokens", "allowed_special", "disallowed_special"),
    "skip_special_tokens",
)
_NAMING = ("merges", "special_tokens", "unknown_token")


def _models(question: Question) -> Iterator[Question]:
    """Leave the stages alone, put a model of what is asked for in place of another, or frequencies for logarithms."""
    model, stages = question.model, {key: value for key, value in question.model.items() if key not in _OF_TYPES}
    if len(stages) < len(model):
        yield replace(question, model=stages)
    if "tokens" in model and "weights" in model:
        rows = [[token, 1] for token, _ in model["tokens"]]
        yield replace(
            question, model={key: value for key, value in model.items() if key != "weights"} | {"tokens": rows}
        )
    if question.operation in ("encode", "encode_batch") and tokens_of(model):
        texts = "".join(
            _at(question.input, path) for path in _find(question.input, str) if path[-1] in ("text", "pair")
        )
        added = [{key: row[key] for key in row if key != "id"} for row in model.get("added_tokens", ())]
        special = [*model.get("special_tokens", ()), *(row["content"] for row in added)]
        plain = {**stages, "type": "bpe", "vocabulary": list(dict.fromkeys([*special, *(texts or "a")]))}
        plain |= {"added_tokens": added} if added else {}
        if len(str(plain)) < len(str(model)):
            yield replace(question, model=plain)


#: What comes after encoding.
_BEHIND = ("truncation", "padding", "post_processor")


def _alone(question: Question) -> Iterator[Question]:
    """Ask for one text of a pair, and for nothing that comes after encoding."""
    plain = {key: value for key, value in question.model.items() if key not in _BEHIND}
    models = [plain] if len(plain) < len(question.model) else []
    texts = [question.input[key] for key in ("text", "pair") if "pair" in question.input]
    others = {key: value for key, value in question.input.items() if key not in ("text", "pair")}
    for model in (*models, question.model):
        for text in texts:
            yield replace(question, model=model, input={"text": text, **others})
    for model in models:
        yield replace(question, model=model)


#: Keys that not every type of model has.
_OF_TYPES = (
    *("type", "vocabulary", "merges", "tokens", "weights", "unknown_token", "continuing_prefix", "end_of_word_suffix"),
    *("max_word_length", "ignore_merges", "fuse_unk", "byte_fallback", "scores", "piece_types"),
)


def _keys(question: Question) -> Iterator[Question]:
    """Leave out keys; with all tokens goes what names tokens."""
    for path in sorted(_find(question.model, Mapping), key=len):
        part = _at(question.model, path)
        for key in (key for key in part if key not in _NEEDED):
            gone = {key, *(_NAMING if path == () and key in ("vocabulary", "tokens") else ())}
            smaller = {name: value for name, value in part.items() if name not in gone}
            yield from _with_longer(replace(question, model=_put(question.model, path, smaller)))
    for path in _find(question.input, Mapping):
        part = _at(question.input, path)
        for key in (key for key in _OPTIONAL if key in part):
            smaller = {name: value for name, value in part.items() if name != key}
            yield replace(question, input=_put(question.input, path, smaller))


def _with_longer(question: Question) -> Iterator[Question]:
    """Return a question whose model has lost a part, and the same with a letter more, for what that part had added."""
    yield question
    if "text" in question.input:
        yield replace(question, input={**question.input, "text": f"a{question.input['text']}"})


def _members(question: Question) -> Iterator[Question]:
    """Put a member of a sequence in the place of the sequence, and a plainer component in that of another."""
    for path in _find(question.model, Mapping):
        part = _at(question.model, path)
        plainer = _PLAINER.get(path[0], ()) if path and "type" in part else ()
        members = [member for key in _SEQUENCES for member in part.get(key, ())]
        for other in (*members, *(each for each in plainer if len(str(each)) < len(str(part)))):
            yield from _with_longer(replace(question, model=_put(question.model, path, other)))


def _maps(question: Question) -> Iterator[Question]:
    """Put a shorter character map in the place of another, and its text with it."""
    for path in (path for path in _find(question.model, str) if path[-1] == "charsmap"):
        for text, charsmap in SHORT_MAPS:
            if len(charsmap) < len(_at(question.model, path)):
                shorter = replace(question, model=_put(question.model, path, charsmap))
                yield shorter
                for place in (place for place in _find(question.input, str) if place[-1] == "text"):
                    yield replace(shorter, input=_put(question.input, place, text))


def _templates(question: Question) -> Iterator[Question]:
    """Leave out each name of a template with all places that name it, let it name one token, and write it plainly."""
    for path in [
        path for path in _find(question.model, Mapping) if _at(question.model, path).get("type") == "template"
    ]:
        part = _at(question.model, path)
        for at, row in enumerate(part["special_tokens"]):
            items = {
                key: [each for each in part[key] if each.get("special") != row["name"]] for key in _SINGLE_AND_PAIR
            }
            rows = [*part["special_tokens"][:at], *part["special_tokens"][at + 1 :]]
            yield replace(question, model=_put(question.model, path, {**part, **items, "special_tokens": rows}))
            for tokens in (row["tokens"][:1], ["b"]) if len(row["tokens"]) > 1 else ():
                one = {**row, "ids": row["ids"][:1], "tokens": tokens}
                yield replace(question, model=_put(question.model, (*path, "special_tokens", at), one))
            plain = {**part, "single": [{"special": row["name"]}], "pair": [{"sequence": "A"}, {"sequence": "B"}]}
            yield replace(question, model=_put(question.model, path, plain), input={"text": "a"})
        if part["special_tokens"]:
            plain = {**part, "single": [], "pair": [{"sequence": "A"}, {"sequence": "B"}], "special_tokens": []}
            yield replace(question, model=_put(question.model, path, plain), input={"text": "a", "pair": "a"})


_SINGLE_AND_PAIR = ("single", "pair")


def _lists(question: Question) -> Iterator[Question]:
    """Leave out stretches of lists of rows, the longest first; rows themselves keep their length."""
    for path in [path for path in _find(question.model, list) if not (path and isinstance(path[-1], int))]:
        rows = _at(question.model, path)
        for start, end in _stretches(len(rows)):
            smaller = _put(question.model, path, [*rows[:start], *rows[end:]])
            cut = replace(question, model=_without_names(smaller, question.model))
            if "ids" in question.input and path in (("vocabulary",), ("tokens",)):  # the same tokens by their new ids
                ids = [id - (end - start) if isinstance(id, int) and id >= end else id for id in question.input["ids"]]
                yield replace(cut, input={**question.input, "ids": ids})
            yield cut
    for path in [path for path in _find(question.input, list) if not (path and isinstance(path[-1], int))]:
        rows = _at(question.input, path)
        for start, end in _stretches(len(rows)):
            yield replace(question, input=_put(question.input, path, [*rows[:start], *rows[end:]]))


def _without_names(model: Mapping[str, Any], before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let whatever names a token go with it."""
    gone = set(tokens_of(before)) - set(tokens_of(model))
    if not gone:
        return model
    cut = dict(model)
    if "scores" in cut:
        cut["scores"] = [
            score for token, score in zip(tokens_of(before), cut["scores"], strict=False) if token not in gone
        ]
    if "merges" in cut:
        cut["merges"] = [[left, right] for left, right in cut["merges"] if not gone & {left, right, left + right}]
    if "special_tokens" in cut:
        cut["special_tokens"] = [token for token in cut["special_tokens"] if token not in gone]
    return {key: value for key, value in cut.items() if key != "unknown_token" or value not in gone}


def _strings(question: Question) -> Iterator[Question]:
    """Leave out stretches of the input's texts, and of parameters; a word of a corpus does not become empty."""
    for path in _find(question.input, str):
        text = _at(question.input, path)
        for start, end in _stretches(len(text)):
            if "words" not in path or end - start < len(text):
                yield replace(question, input=_put(question.input, path, text[:start] + text[end:]))
    for path in _find(question.model, str):
        text = _at(question.model, path)
        if path[0] in STAGES and path[-1] in _PARAMETERS:
            cuts = [text[:start] + text[end:] for start, end in _stretches(len(text))]
            for shorter in _PARAMETERS[str(path[-1])] or ("a", *cuts):
                if len(shorter) < len(text):
                    yield replace(question, model=_put(question.model, path, shorter))


#: Keys of stages whose values may become shorter: by a stretch, or one of these.
_PARAMETERS: Mapping[str, Sequence[str]] = {
    "regex": ("a", ".", r"\s", "[a]", r"\p{L}"),
    **dict.fromkeys(("string", "content", "prefix", "suffix", "unk_surface"), ()),
}


def _numbers(question: Question) -> Iterator[Question]:
    """Take smaller numbers in the input, and rounder ones in the model."""
    for path in _find(question.input, int):
        number = _at(question.input, path)
        for smaller in sorted({each for each in (0, 1, 2, number // 2, number - 1) if 0 <= each < number}):
            yield replace(question, input=_put(question.input, path, smaller))
    for path in _find(question.model, (int, float)):
        weight = _at(question.model, path)
        rounder = [1, 2] if weight > 0 else [-1.0, -2.0, -4.0]
        for each in rounder[: rounder.index(weight) if weight in rounder else None] if weight else ():
            yield replace(question, model=_put(question.model, path, each))


#: Keys of a model in which tokens stand, those below them with other words, and letters that stand for tokens.
_TOKENS = ("vocabulary", "tokens", *_NAMING, "added_tokens", "piece_types", "post_processor", "padding")
_WORDS = ("type", "sequence", "strategy", "direction")
_LETTERS = "abcdefgh"


def _letters(question: Question) -> Iterator[Question]:
    """Write a letter for a token, or for another character, everywhere; tokens that become one are listed once."""
    named = {key: value for key, value in question.model.items() if key in _TOKENS}
    tokens = {_at(named, path) for path in _find(named, str) if path[-1] not in _WORDS}
    texts = {_at(question.input, path) for path in _find(question.input, str)}
    used = {character for text in (*tokens, *texts) for character in text}
    free = next((letter for letter in _LETTERS if letter not in used), "a")
    long = sorted((token for token in tokens if len(token) > 1), key=len, reverse=True)
    others = [(old, letter) for old in sorted(used - set(_LETTERS)) for letter in dict.fromkeys(("a", free))]
    for old, letter in (*((old, free) for old in long), *others, *((old, "a") for old in sorted(used & set(_LETTERS)))):
        model = {**question.model, **_renamed(named, old, letter)}
        if all(isinstance(token, str) for token in model.get("vocabulary", ())):
            model |= {"vocabulary": list(dict.fromkeys(model["vocabulary"]))} if "vocabulary" in model else {}
        yield Question(model, question.operation, _renamed(question.input, old, letter))


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_renamed(item, old, new) for item in value]
    if isinstance(value, Mapping):
        return {key: item if key in _WORDS else _renamed(item, old, new) for key, item in value.items()}
    return value


_PASSES: tuple[Callable[[Question], Iterator[Question]], ...] = (
    _models,
    _alone,
    _keys,
    _members,
    _maps,
    _templates,
    _lists,
    _strings,
    _numbers,
    _letters,
)
