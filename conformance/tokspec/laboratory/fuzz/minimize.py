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

from tokspec.formats.files import without
from tokspec.laboratory.fuzz.characters import SHORT_MAPS
from tokspec.laboratory.fuzz.checker import Question
from tokspec.laboratory.fuzz.components import STAGES
from tokspec.laboratory.fuzz.families import tokens_of
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


def _find(value: Any, kind: type | tuple[type, ...], path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Return all values of a type with their paths, outer ones first; a boolean is not an integer."""
    if isinstance(value, kind) and not isinstance(value, bool):
        yield path, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _find(item, kind, (*path, key))


def _put(value: Any, path: _Path, new: Any) -> Any:
    """Copy a value with another at a path."""
    if not path:
        return new
    if isinstance(value, list):
        return [_put(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]
    return {key: _put(item, path[1:], new) if key == path[0] else item for key, item in value.items()}


def _in_model(question: Question, path: _Path, new: Any) -> Question:
    return replace(question, model=_put(question.model, path, new))


def _in_input(question: Question, path: _Path, new: Any) -> Question:
    return replace(question, input=_put(question.input, path, new))


def _stretches(length: int) -> Iterator[tuple[int, int]]:
    """Return stretches of a length that together cover it: all, halves, quarters, … and single places."""
    size = length
    while size:
        yield from ((start, min(start + size, length)) for start in range(0, length, size))
        size //= 2


def _cuts(items: Any) -> Iterator[Any]:
    """Return a text, or a list, without each of its stretches."""
    yield from (items[:start] + items[end:] for start, end in _stretches(len(items)))


#: Keys that not every type of model has, those that name tokens, and those of what comes after encoding.
_OF_TYPES = (
    *("type", "vocabulary", "merges", "tokens", "weights", "unknown_token", "continuing_prefix", "end_of_word_suffix"),
    *("max_word_length", "ignore_merges", "fuse_unk", "byte_fallback", "scores", "piece_types"),
)
_NAMING = ("merges", "special_tokens", "unknown_token")
_BEHIND = ("truncation", "padding", "post_processor")


def _models(question: Question) -> Iterator[Question]:
    """Leave the stages alone, put a model of what is asked for in place of another, or frequencies for logarithms."""
    model, stages = question.model, without(question.model, *_OF_TYPES)
    if len(stages) < len(model):
        yield replace(question, model=stages)
    if "tokens" in model and "weights" in model:
        yield replace(
            question, model={**without(model, "weights"), "tokens": [[token, 1] for token, _ in model["tokens"]]}
        )
    if question.operation in ("encode", "encode_batch") and tokens_of(model):
        texts = "".join(text for path, text in _find(question.input, str) if path[-1] in ("text", "pair"))
        added = [without(row, "id") for row in model.get("added_tokens", ())]
        special = [*model.get("special_tokens", ()), *(row["content"] for row in added)]
        plain = {**stages, "type": "bpe", "vocabulary": list(dict.fromkeys([*special, *(texts or "a")]))}
        plain |= {"added_tokens": added} if added else {}
        if len(str(plain)) < len(str(model)):
            yield replace(question, model=plain)


def _alone(question: Question) -> Iterator[Question]:
    """Ask for one text of a pair, and for nothing that comes after encoding."""
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
    "skip_special_tokens",
)


def _keys(question: Question) -> Iterator[Question]:
    """Leave out keys; with all tokens goes what names tokens."""
    for path, part in sorted(_find(question.model, Mapping), key=lambda row: len(row[0])):
        for key in (key for key in part if key not in _NEEDED):
            named = _NAMING if path == () and key in ("vocabulary", "tokens") else ()
            yield from _with_longer(_in_model(question, path, without(part, key, *named)))
    for path, part in _find(question.input, Mapping):
        yield from (_in_input(question, path, without(part, key)) for key in _OPTIONAL if key in part)


def _with_longer(question: Question) -> Iterator[Question]:
    """Return a question whose model has lost a part, and the same with a letter more, for what that part had added."""
    yield question
    if "text" in question.input:
        yield replace(question, input={**question.input, "text": f"a{question.input['text']}"})


def _members(question: Question) -> Iterator[Question]:
    """Put a member of a sequence in the place of the sequence, and a plainer component in that of another."""
    for path, part in _find(question.model, Mapping):
        plainer = _PLAINER.get(path[0], ()) if path and "type" in part else ()
        members = [member for key in _SEQUENCES for member in part.get(key, ())]
        for other in (*members, *(each for each in plainer if len(str(each)) < len(str(part)))):
            yield from _with_longer(_in_model(question, path, other))


def _maps(question: Question) -> Iterator[Question]:
    """Put a shorter character map in the place of another, and its text with it."""
    for path, long in _find(question.model, str):
        for text, charsmap in SHORT_MAPS if path[-1] == "charsmap" else ():
            if len(charsmap) < len(long):
                shorter = _in_model(question, path, charsmap)
                yield shorter
                yield from (_in_input(shorter, at, text) for at, _ in _find(question.input, str) if at[-1] == "text")


def _templates(question: Question) -> Iterator[Question]:
    """Leave out each name of a template with all places that name it, let it name one token, and write it plainly."""
    pair = [{"sequence": "A"}, {"sequence": "B"}]
    for path, part in _find(question.model, Mapping):
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


def _lists(question: Question) -> Iterator[Question]:
    """Leave out stretches of lists of rows, the longest first; rows themselves keep their length."""
    for path, rows in _find(question.model, list):
        for start, end in _stretches(0 if isinstance(path[-1], int) else len(rows)):
            smaller = _put(question.model, path, rows[:start] + rows[end:])
            cut = replace(question, model=_without_names(smaller, question.model))
            if "ids" in question.input and path in (("vocabulary",), ("tokens",)):  # the same tokens by their new ids
                ids = [id - (end - start) if isinstance(id, int) and id >= end else id for id in question.input["ids"]]
                yield replace(cut, input={**question.input, "ids": ids})
            yield cut
    for path, rows in _find(question.input, list):
        yield from (_in_input(question, path, cut) for cut in (() if isinstance(path[-1], int) else _cuts(rows)))


def _without_names(model: Mapping[str, Any], before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let whatever names a token go with it."""
    listed = tokens_of(before)
    gone = set(listed) - set(tokens_of(model))
    if not gone:
        return model
    cut = dict(model)
    if "scores" in cut:
        cut["scores"] = [score for token, score in zip(listed, cut["scores"], strict=False) if token not in gone]
    if "merges" in cut:
        cut["merges"] = [[left, right] for left, right in cut["merges"] if not gone & {left, right, left + right}]
    if "special_tokens" in cut:
        cut["special_tokens"] = [token for token in cut["special_tokens"] if token not in gone]
    return without(cut, "unknown_token") if cut.get("unknown_token") in gone else cut


#: Keys of stages whose values may become shorter: by a stretch, or one of these.
_PARAMETERS: Mapping[str | int, Sequence[str]] = {
    "regex": ("a", ".", r"\s", "[a]", r"\p{L}"),
    **dict.fromkeys(("string", "content", "prefix", "suffix", "unk_surface"), ()),
}


def _strings(question: Question) -> Iterator[Question]:
    """Leave out stretches of the input's texts, and of parameters; a word of a corpus does not become empty."""
    for path, text in _find(question.input, str):
        yield from (_in_input(question, path, cut) for cut in _cuts(text) if cut or "words" not in path)
    for path, text in _find(question.model, str):
        if path[0] in STAGES and path[-1] in _PARAMETERS:
            shorter = _PARAMETERS[path[-1]] or ("a", *_cuts(text))
            yield from (_in_model(question, path, each) for each in shorter if len(each) < len(text))


def _numbers(question: Question) -> Iterator[Question]:
    """Take smaller numbers in the input, and rounder ones in the model."""
    for path, number in _find(question.input, int):
        smaller = sorted({each for each in (0, 1, 2, number // 2, number - 1) if 0 <= each < number})
        yield from (_in_input(question, path, each) for each in smaller)
    for path, weight in _find(question.model, (int, float)):
        rounder = [1, 2] if weight > 0 else [-1.0, -2.0, -4.0]
        for each in rounder[: rounder.index(weight) if weight in rounder else None] if weight else ():
            yield _in_model(question, path, each)


#: Keys of a model in which tokens stand, those below them with other words, and letters that stand for tokens.
_TOKENS = ("vocabulary", "tokens", *_NAMING, "added_tokens", "piece_types", "post_processor", "padding")
_WORDS = ("type", "sequence", "strategy", "direction")
_LETTERS = "abcdefgh"


def _letters(question: Question) -> Iterator[Question]:
    """Write a letter for a token, or for another character, everywhere; tokens that become one are listed once."""
    named = {key: value for key, value in question.model.items() if key in _TOKENS}
    tokens = {text for path, text in _find(named, str) if path[-1] not in _WORDS}
    used = {character for text in (*tokens, *(text for _, text in _find(question.input, str))) for character in text}
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
