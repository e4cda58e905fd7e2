"""Reading: from plain values, as JSON carries them, to a tokenizer, a corpus, or the target of a training.

Whatever is unknown, of a wrong type or contradicts itself is refused; nothing is skipped in silence. A model is refused
as ``invalid_model``, everything else as ``invalid_input``. A value of None is the same as a missing one.
"""

from __future__ import annotations

import math
import sys
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, NoReturn

from tokref.bpe import Target, join_symbols
from tokref.charsmap import CharacterMap, read_map
from tokref.choices import Choices
from tokref.decoding import BYTE_TOKEN
from tokref.errors import InputError, brief
from tokref.patterns import compile_pattern
from tokref.pipeline import count_words
from tokref.values import (
    AddedToken,
    Bpe,
    Component,
    Model,
    Padding,
    Tokenizer,
    Truncation,
    Unigram,
    WordLevel,
    WordPiece,
    Words,
    all_tokens,
    number_tokens,
)

__all__ = [
    "from_mapping",
    "read_boolean",
    "read_integer",
    "read_list",
    "read_mapping",
    "read_number",
    "read_target",
    "read_text",
    "read_words",
]

LARGEST_INTEGER = 2**53 - 1
"""The largest integer that every parser of JSON carries without loss (PROTO-7)."""

LARGEST_ID = 2**32 - 1
"""The largest id of a token (TERM-9)."""

DEEPEST = 100
"""How many levels of lists and objects a component may have: reading and applying it go down by recursion."""

PIECE_TYPES = ("control", "user_defined", "unused", "byte")
"""The types that a token may have, besides the ordinary one and that of the unknown token (SP-TYPE-1)."""

BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
"""What becomes of the matches at which a text is cut (PRE-SPLIT-2 to PRE-SPLIT-5)."""

Reader = Callable[[Any], Any]
"""Returns the value that it was given, made immutable, or refuses it."""


def from_mapping(content: Mapping[str, Any], choices: Choices = Choices()) -> Tokenizer:  # noqa: B008 - immutable
    """Read a model as ``fixtures/schema.json`` describes it.

    Raises:
        InputError: ``invalid_model``, naming the key or token at fault; ``unsupported``, for a component that is
            nested too deeply.

    >>> from_mapping({"type": "bpe", "vocabulary": ["a"], "merges": [["a", "b"]]})
    Traceback (most recent call last):
        ...
    tokref.errors.InputError: invalid_model: merge ('a', 'b') needs 'b', which is not in the vocabulary
    """
    given = _without_none(read_mapping("the model", content))
    given.pop("about", None)
    stages = {key: reader(given.pop(key)) for key, reader in _STAGES.items() if key in given}
    kind = given.pop("type", None)
    special_tokens = stages.pop("special_tokens", ())
    if kind is None and not given:
        added_tokens = _add_ids((*special_tokens, *stages.pop("added_tokens", ())), {})
        return Tokenizer(added_tokens=added_tokens, **stages)
    if not isinstance(kind, str) or kind not in _MODELS:
        _refuse(f"type {brief(kind)} is unknown; give one of {', '.join(_MODELS)}")
    types = _read_piece_types(given.pop("piece_types", {}))
    model = _MODELS[kind](given, choices)
    if types:
        model = _reserve(model, types)
    _tell_types(stages, model, types)
    added_tokens = _add_ids((*special_tokens, *stages.pop("added_tokens", ())), all_tokens(model))
    return Tokenizer(model, added_tokens=added_tokens, **stages)


def read_words(corpus: Any, tokenizer: Tokenizer, choices: Choices) -> Words:
    """Read a corpus of either ``words`` with counts or ``texts``.

    Raises:
        InputError: ``invalid_input``, where the corpus is not of that form.

    >>> read_words({"words": [["hug", 10], ["pug", 5], ["hug", 2]]}, Tokenizer(), Choices())
    {'hug': 12, 'pug': 5}
    """
    if not isinstance(corpus, Mapping) or ("words" in corpus) == ("texts" in corpus):
        raise InputError("invalid_input", "a corpus is an object with either words or texts")
    if "texts" in corpus:
        texts = [_as_input(read_text, text) for text in _as_input(read_list, corpus["texts"])]
        return count_words(texts, tokenizer, choices)
    words: dict[str, int] = {}
    for entry in _as_input(read_list, corpus["words"]):
        first, count = _as_input(_read_pair, entry)
        word = _as_input(read_text, first)
        words[word] = words.get(word, 0) + _as_input(partial(read_integer, smallest=0), count)  # BPE-TRAIN-15
    return words


def read_target(given: Mapping[str, Any]) -> Target:
    """Read when training stops, from the keys that a request of ``train`` has for it (BPE-TRAIN-11, WP-TRAIN-7).

    Raises:
        InputError: ``invalid_input``, where there is no target or it is not an integer from 0.

    >>> read_target({"merge_count": 3, "corpus": {}})
    Target(vocabulary_size=None, merge_count=3, min_frequency=1)
    """
    keys = [key for key in ("vocabulary_size", "merge_count", "min_frequency") if key in given]
    if not {"vocabulary_size", "merge_count"}.intersection(keys):  # ERROR-3
        raise InputError("invalid_input", "training needs vocabulary_size or merge_count")
    return Target(**{key: _as_input(partial(read_integer, smallest=0), given[key]) for key in keys})


def read_text(value: Any) -> str:
    """Return a string.

    >>> read_text("[UNK]")
    '[UNK]'
    """
    if not isinstance(value, str):
        _refuse(f"{brief(value)} is not a string")
    return value


def read_list(value: Any) -> list[Any]:
    """Return a list of anything.

    >>> read_list((1,))
    [1]
    """
    return list(value) if isinstance(value, list | tuple) else _refuse(f"{brief(value)} is not a list")


def read_mapping(what: str, value: Any) -> Mapping[str, Any]:
    """Return an object; ``what`` names it in the refusal of anything else.

    >>> read_mapping("a model", {"type": "bpe"})
    {'type': 'bpe'}
    """
    return value if isinstance(value, Mapping) else _refuse(f"{what} is not an object, but {brief(value)}")


def read_boolean(value: Any) -> bool:
    """Return true or false.

    >>> read_boolean(True)
    True
    """
    return value if isinstance(value, bool) else _refuse(f"{brief(value)} is neither true nor false")


def read_integer(value: Any, smallest: int) -> int:
    """Return an integer that is not below ``smallest``, nor beyond what JSON carries safely (PROTO-7).

    >>> read_integer(100, smallest=1)
    100
    """
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not smallest <= value <= LARGEST_INTEGER:
        _refuse(f"{brief(value)} is not an integer from {smallest} to 2**53 - 1")
    return int(value)


def read_number(value: Any) -> float:
    """Return a finite number.

    >>> read_number(0.5)
    0.5
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:  # an integer may be too large for a float
        _refuse(f"{brief(value)} is not a finite number")
    number: float = value
    return number


def _refuse(message: str) -> NoReturn:
    raise InputError("invalid_model", message)


def _as_input(reader: Reader, value: Any) -> Any:
    """Read a value that belongs to an input, not to a model."""
    try:
        return reader(value)
    except InputError as error:
        raise InputError("invalid_input", error.message) from None


def _without_none(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None}


def _read_keys(what: str, given: Mapping[str, Any], readers: Mapping[str, Reader]) -> dict[str, Any]:
    for key in given:
        if key not in readers:
            _refuse(f"{what} has no key {key!r}; give only {', '.join(readers) or 'type'}")
    return {key: readers[key](value) for key, value in _without_none(given).items()}


def _read_character(value: Any) -> str:
    text = read_text(value)
    return text if len(text) == 1 else _refuse(f"{brief(value)} is not one character")


def _read_option(*options: str) -> Reader:
    return lambda value: value if value in options else _refuse(f"{brief(value)} is not one of {', '.join(options)}")


def _read_pair(value: Any) -> tuple[Any, Any]:
    is_pair = isinstance(value, list | tuple) and len(value) == 2
    left, right = value if is_pair else _refuse(f"{brief(value)} is not a pair")
    return left, right


def _read_tokens(value: Any) -> tuple[str, ...]:
    """Return a list of distinct tokens (TERM-9)."""
    tokens: dict[str, None] = {}
    for token in map(read_text, read_list(value)):  # TERM-7: it may be empty
        if token in tokens:
            _refuse(f"{token!r} is listed twice")
        tokens[token] = None
    return tuple(tokens)


def _read_special_tokens(value: Any) -> tuple[AddedToken, ...]:
    """Return the short form of added tokens, whose flags are the defaults (ADDED-14)."""
    tokens = _read_tokens(value)
    if "" in tokens:  # SPECIAL-5
        _refuse("a special token is empty")
    return tuple(AddedToken(token) for token in tokens)


def _read_id(value: Any) -> int:
    number = read_integer(value, smallest=0)
    return number if number <= LARGEST_ID else _refuse(f"{number} is not an id: the largest is {LARGEST_ID}")


def _read_added_token(value: Any) -> AddedToken:
    flags = ("special", "normalized", "lstrip", "rstrip", "single_word")
    readers: dict[str, Reader] = {"content": read_text, "id": _read_id, **dict.fromkeys(flags, read_boolean)}
    found = _read_keys("an added token", read_mapping("an added token", value), readers)
    if not found.get("content"):  # ADDED-14
        _refuse(f"the added token {brief(value)} has no content")
    return AddedToken(**found)


def _read_added_tokens(value: Any) -> tuple[AddedToken, ...]:
    return tuple(map(_read_added_token, read_list(value)))


def _add_ids(added_tokens: Sequence[AddedToken], vocabulary: Mapping[str, int]) -> tuple[AddedToken, ...]:
    """Give every added token the id that it has in the vocabulary, or check its own (ADDED-14).

    Where there is no vocabulary, as for training, it needs none.
    """
    ids, known = {id: token for token, id in vocabulary.items()}, dict[str, AddedToken]()
    for token in added_tokens:
        is_short = token == AddedToken(token.content)
        what = f"{'special' if is_short else 'added'} token {token.content!r}"
        id = vocabulary.get(token.content, token.id)  # ADDED-12, ADDED-13
        if token.content in known:  # ADDED-14
            _refuse(f"{what} is listed twice")
        if vocabulary and id is None:  # SPECIAL-5
            _refuse(f"{what} is not in the vocabulary{'' if is_short else ' and has no id'}")
        if token.id is not None and token.id != id:
            _refuse(f"{what} has the id {token.id}, and {id} in the vocabulary")
        if id is not None and ids.setdefault(id, token.content) != token.content:
            _refuse(f"{what} has the id {id}, which is that of {ids[id]!r}")
        known[token.content] = replace(token, id=id)
    return tuple(known.values())


def _read_vocabulary(value: Any, choices: Choices) -> dict[str, int]:
    """Return the ids of a list of tokens, or of pairs of a token and its id (TERM-9)."""
    entries = read_list(value)
    if not any(isinstance(entry, list | tuple) for entry in entries):
        texts = [read_text(entry) for entry in entries]
        if len(set(texts)) < len(texts) and choices.duplicate_token == "last_place":  # TERM-10
            return number_tokens(texts)
        return number_tokens(_read_tokens(entries))
    pairs = [_read_pair(entry) for entry in entries]
    tokens = _read_tokens([token for token, _ in pairs])
    found: dict[int, str] = {}
    for token, id in zip(tokens, (_read_id(id) for _, id in pairs), strict=True):
        if id in found:
            _refuse(f"{found[id]!r} and {token!r} have the id {id} both")
        found[id] = token
    return {token: id for id, token in found.items()}


def _read_merges(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((read_text(left), read_text(right)) for left, right in map(_read_pair, read_list(value)))


def _read_scores(value: Any) -> list[float]:
    return [read_number(score) for score in read_list(value)]


def _zip_scores(scores: Sequence[float], vocabulary: Mapping[str, int]) -> dict[str, float]:
    """Give every token of a vocabulary its score (SP-SCORE-2)."""
    if len(scores) != len(vocabulary):
        _refuse(f"there are {len(scores)} scores, and {len(vocabulary)} tokens")
    return dict(zip(vocabulary, scores, strict=True))


def _read_weights(value: Any) -> list[tuple[str, float]]:
    return [(read_text(token), read_number(weight)) for token, weight in map(_read_pair, read_list(value))]


# Models


def _bpe(given: Mapping[str, Any], choices: Choices) -> Bpe:
    readers: Mapping[str, Reader] = {
        "vocabulary": partial(_read_vocabulary, choices=choices),
        "merges": _read_merges,
        "unknown_token": read_text,
        "fuse_unk": read_boolean,
        "byte_fallback": read_boolean,
        "ignore_merges": read_boolean,
        "continuing_prefix": read_text,
        "end_of_word_suffix": read_text,
        "scores": _read_scores,
    }
    found = _read_keys("a bpe model", given, readers)
    if "scores" in found:
        found["scores"] = _zip_scores(found["scores"], found.get("vocabulary", {}))
    model = Bpe(**found)
    merges: list[tuple[str, str]] = []
    for left, right in model.merges:  # BPE-MODEL-3
        product = join_symbols((left, right), model)
        missing = [token for token in (left, right, product) if token not in model.vocabulary]
        if missing and choices.merge_outside_vocabulary == "refused":
            _refuse(f"merge {(left, right)!r} needs {missing[0]!r}, which is not in the vocabulary")
        if not missing:
            merges.append((left, right))
    return replace(model, merges=tuple(merges))


def _wordpiece(given: Mapping[str, Any], choices: Choices) -> WordPiece:
    readers: Mapping[str, Reader] = {
        "vocabulary": partial(_read_vocabulary, choices=choices),
        "unknown_token": read_text,
        "continuing_prefix": read_text,  # WP-MODEL-2: it may be empty
        "max_word_length": partial(read_integer, smallest=1),  # WP-MODEL-3
    }
    return WordPiece(**_read_keys("a wordpiece model", given, readers))


def _unigram(given: Mapping[str, Any], choices: Choices) -> Unigram:
    readers: Mapping[str, Reader] = {
        "tokens": _read_weights,
        "weights": _read_option("frequency", "log_probability"),
        "unknown_token": read_text,
        "byte_fallback": read_boolean,
    }
    names = {"weights": "kind"}
    found = _read_keys("a unigram model", given, readers)
    rows = found.pop("tokens", [])
    ids = _read_vocabulary([token for token, _ in rows], choices)
    model = Unigram(dict(rows), **{names.get(key, key): value for key, value in found.items()})
    if len(ids) < len(rows):
        model = replace(model, ids=ids)
    if model.kind == "frequency":
        _check_frequencies(model)
    else:
        _check_logarithms(model)
    return model


def _check_frequencies(model: Unigram) -> None:
    for token, frequency in model.weights.items():
        if frequency < 0:  # UNI-MODEL-3
            _refuse(f"the frequency of {token!r} is below zero")
    try:
        is_finite = sum(model.weights.values()) <= sys.float_info.max
    except OverflowError:  # an integer that is too large for a float is added to one
        is_finite = False
    if not is_finite:
        _refuse("the sum of the frequencies is too large for floating point")


def _check_logarithms(model: Unigram) -> None:
    for token, logarithm in model.weights.items():
        if logarithm > math.log(sys.float_info.max):
            _refuse(f"the probability of {token!r} is too large for floating point")


def _wordlevel(given: Mapping[str, Any], choices: Choices) -> WordLevel:
    readers: Mapping[str, Reader] = {
        "vocabulary": partial(_read_vocabulary, choices=choices),
        "unknown_token": read_text,
    }
    return WordLevel(**_read_keys("a wordlevel model", given, readers))


def _read_piece_types(value: Any) -> dict[str, tuple[str, ...]]:
    """Return the tokens of each type that is not the ordinary one (SP-TYPE-1)."""
    readers = dict.fromkeys(PIECE_TYPES, _read_tokens)
    return {
        key: tokens
        for key, tokens in _read_keys("piece_types", read_mapping("piece_types", value), readers).items()
        if tokens
    }


def _reserve(model: Model, types: Mapping[str, tuple[str, ...]]) -> Model:
    """Take out of the vocabulary what is not found in a text by its place there (SP-TYPE-2)."""
    if not isinstance(model, Bpe | Unigram):
        _refuse("piece_types are for models of the types bpe and unigram")
    kinds: dict[str, str] = {}
    vocabulary = model.vocabulary
    for kind, tokens in types.items():
        for token in tokens:
            if token in kinds or token == model.unknown_token:  # SP-TYPE-1
                _refuse(f"{token!r} has two types of pieces, {kinds.get(token, 'unknown')} and {kind}")
            if token not in vocabulary:
                _refuse(f"the {kind} piece {token!r} is not in the vocabulary")
            if not token:
                _refuse(f"a {kind} piece is empty")
            if kind == "byte" and not BYTE_TOKEN.fullmatch(token):
                _refuse(f"the byte piece {token!r} is not of the form <0x41>")
            kinds[token] = kind
    found = ("unused",) if isinstance(model, Bpe) else ()
    names = [token for token, kind in kinds.items() if kind not in found]
    names += [token for token in (model.unknown_token,) if token is not None and token in vocabulary]
    reserved = {token: vocabulary[token] for token in names}
    left = {token: id for token, id in vocabulary.items() if token not in reserved}
    symbols = types.get("user_defined", ())
    if isinstance(model, Unigram):
        weights = {token: weight for token, weight in model.weights.items() if token in left}
        return replace(model, weights=weights, ids=left, symbols=symbols, reserved=reserved)
    merges = tuple(pair for pair in model.merges if {*pair, join_symbols(pair, model)} <= left.keys())
    unused = frozenset(types.get("unused", ()))
    scores = None if model.scores is None else {token: model.scores[token] for token in left}
    return replace(
        model, vocabulary=left, merges=merges, scores=scores, symbols=symbols, unused=unused, reserved=reserved
    )


def _tell_types(stages: dict[str, Any], model: Model, types: Mapping[str, tuple[str, ...]]) -> None:
    """Tell SentencePiece's normalizer and decoder which types the tokens have (SP-NORM-2, SP-DEC-1)."""
    told: Mapping[str, Mapping[str, Any]] = {
        "normalizer": {"symbols": types.get("user_defined", ())},
        "decoder": {
            "control": types.get("control", ()),
            "byte": types.get("byte", ()),
            "unknown_token": model.unknown_token,
        },
    }
    for stage, parameters in told.items():
        component = stages.get(stage)
        if component is not None and component.type == "sentencepiece":
            stages[stage] = replace(component, parameters={**component.parameters, **parameters})


_MODELS: Mapping[str, Callable[[Mapping[str, Any], Choices], Model]] = {
    "bpe": _bpe,
    "wordpiece": _wordpiece,
    "unigram": _unigram,
    "wordlevel": _wordlevel,
}


# The stages around a model


class _Parameter(NamedTuple):
    """The default of a parameter, and its reader; a parameter without a default has to be given."""

    default: Any
    reader: Reader


def _read_component(stage: str, types: Mapping[str, Mapping[str, _Parameter]], value: Any) -> Component:
    if _is_deeper(value, DEEPEST):
        raise InputError("unsupported", f"the {stage} is nested deeper than {DEEPEST} levels; flatten its sequences")
    given = dict(read_mapping(f"a {stage}", value))
    name = given.pop("type", None)
    if not isinstance(name, str) or name not in types:
        _refuse(f"{stage} type {brief(name)} is unknown; give one of {', '.join(types)}")
    parameters = types[name]
    found = _read_keys(f"the {stage} {name}", given, {key: entry.reader for key, entry in parameters.items()})
    for key, entry in parameters.items():
        if key not in found and entry.default is _NEEDED:
            _refuse(f"the {stage} {name} needs the key {key}")
    return Component(name, {key: entry.default for key, entry in parameters.items()} | found)


def _is_deeper(value: Any, levels: int) -> bool:
    """Go down level by level: a value may be nested deeper than calls can be."""
    level = [value]
    for _ in range(levels):
        level = [inner for outer in level for inner in _values_inside(outer)]
    return bool(level)


def _values_inside(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _read_pattern(value: Any) -> Mapping[str, str]:
    """Return a pattern: either the text that it matches, or a regular expression (PATTERN-2)."""
    given = read_mapping("a pattern", value)
    if len(given) != 1 or next(iter(given)) not in ("string", "regex"):
        _refuse(f"the pattern {brief(value)} needs one of the keys string and regex")
    pattern = {key: read_text(text) for key, text in given.items()}
    if "regex" in pattern:
        compile_pattern(pattern["regex"], Choices())
    return pattern


def _read_map(value: Any) -> CharacterMap:
    """Return a character map, which is written in base64 (NORM-MAP-1)."""
    try:
        return read_map(b64decode(read_text(value), validate=True))
    except ValueError:
        _refuse(f"the character map {brief(value)} is not base64")


def _read_components(read: Reader) -> Reader:
    return lambda value: tuple(read(component) for component in read_list(value))


_NEEDED = object()


def _read_normalizer(value: Any) -> Component:
    return _read_component("normalizer", _NORMALIZERS, value)


def _read_pre_tokenizer(value: Any) -> Component:
    return _read_component("pre_tokenizer", _PRE_TOKENIZERS, value)


def _read_decoder(value: Any) -> Component:
    return _read_component("decoder", _DECODERS, value)


def _read_post_processor(value: Any) -> Component:
    component = _read_component("post_processor", _POST_PROCESSORS, value)
    if component.type == "template":
        _check_template(component)
    if component.type == "sequence" and sum(map(_puts_in_tokens, component.parameters["post_processors"])) > 1:
        message = "a sequence has more than one post_processor that puts in tokens, which is not specified"
        raise InputError("unsupported", message)  # POST-SEQUENCE-1
    return component


def _puts_in_tokens(component: Component) -> bool:
    return component.type != "byte_level" and (
        component.type != "sequence" or any(map(_puts_in_tokens, component.parameters["post_processors"]))
    )


def _read_token_and_id(value: Any) -> tuple[str, int]:
    token, id = _read_pair(value)
    return read_text(token), _read_id(id)


def _read_template(value: Any) -> tuple[Component, ...]:
    return tuple(map(_read_template_item, read_list(value)))


def _read_template_item(value: Any) -> Component:
    given = read_mapping("an item of a template", value)
    readers: Mapping[str, Reader] = {
        "special": read_text,
        "sequence": _read_option("A", "B"),
        "type_id": partial(read_integer, smallest=0),
    }
    found = {"type_id": 0} | _read_keys("an item of a template", given, readers)
    if ("special" in found) == ("sequence" in found):
        _refuse(f"the item {brief(value)} of a template has to have either special or sequence")
    return Component("special" if "special" in found else "sequence", found)


def _read_template_tokens(value: Any) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return the tokens with their ids that each name stands for."""
    readers = {"name": read_text, "ids": read_list, "tokens": read_list}
    tokens: dict[str, tuple[tuple[str, int], ...]] = {}
    for entry in read_list(value):
        found = _read_keys(
            "a special token of a template", read_mapping("a special token of a template", entry), readers
        )
        for key in readers:
            if key not in found:
                _refuse(f"a special token of a template needs the key {key}")
        name, ids, texts = found["name"], found["ids"], found["tokens"]
        if name in tokens:  # POST-TEMPLATE-4
            _refuse(f"the special token {name!r} of a template is listed twice")
        if len(ids) != len(texts):  # POST-TEMPLATE-4
            _refuse(f"the special token {name!r} of a template has {len(ids)} ids, and {len(texts)} tokens")
        tokens[name] = tuple(map(_read_token_and_id, zip(texts, ids, strict=True)))
    return tokens


def _check_template(component: Component) -> None:
    """Refuse a template that cannot be filled in (POST-TEMPLATE-4)."""
    known = component.parameters["special_tokens"]
    for key, texts in (("single", {"A"}), ("pair", {"A", "B"})):
        items = component.parameters[key]
        for item in items:
            if item.type == "special" and item.parameters["special"] not in known:
                _refuse(f"the template {key} names {item.parameters['special']!r}, which is not in its special_tokens")
        found = {item.parameters["sequence"] for item in items if item.type == "sequence"}
        if key == "single" and "B" in found:
            _refuse("the template single names the sequence B, which is in pairs only")
        for text in sorted(texts - found) if key == "pair" else ():
            _refuse(f"the template pair does not name the sequence {text}")


def _read_truncation(value: Any) -> Truncation:
    number = partial(read_integer, smallest=0)
    readers: Mapping[str, Reader] = {
        "max_length": number,
        "strategy": _read_option("longest_first", "only_first", "only_second"),
        "stride": number,
        "direction": _read_option("right", "left"),
    }
    found = _read_keys("the truncation", read_mapping("the truncation", value), readers)
    if "max_length" not in found:
        _refuse("the truncation needs the key max_length")
    truncation = Truncation(**found)
    if truncation.stride and truncation.stride >= truncation.max_length:  # TRUNC-9
        _refuse(f"the stride {truncation.stride} of the truncation is not below max_length {truncation.max_length}")
    return truncation


def _read_padding(value: Any) -> Padding:
    number = partial(read_integer, smallest=0)
    readers: Mapping[str, Reader] = {
        "strategy": _read_padding_strategy,
        "direction": _read_option("right", "left"),
        "pad_to_multiple_of": number,
        "id": _read_id,
        "type_id": number,
        "token": read_text,
    }
    found = _read_keys("the padding", read_mapping("the padding", value), readers)
    return Padding(fixed=found.pop("strategy", None), **found)


def _read_padding_strategy(value: Any) -> int | None:
    if value == "batch_longest":
        return None
    if not isinstance(value, Mapping) or set(value) != {"fixed"}:
        _refuse(f"{brief(value)} is neither batch_longest nor an object with the key fixed alone")
    return read_integer(value["fixed"], smallest=0)


_NORMALIZERS: Mapping[str, Mapping[str, _Parameter]] = {
    "nfc": {},
    "nfd": {},
    "nfkc": {},
    "nfkd": {},
    "lowercase": {},
    "strip_accents": {},
    "bert": {
        "clean_text": _Parameter(True, read_boolean),
        "handle_chinese_chars": _Parameter(True, read_boolean),
        "strip_accents": _Parameter(None, read_boolean),
        "lowercase": _Parameter(True, read_boolean),
    },
    "replace": {"pattern": _Parameter(_NEEDED, _read_pattern), "content": _Parameter(_NEEDED, read_text)},
    "prepend": {"prefix": _Parameter(_NEEDED, read_text)},
    "strip": {"left": _Parameter(True, read_boolean), "right": _Parameter(True, read_boolean)},
    "precompiled": {"charsmap": _Parameter(_NEEDED, _read_map)},
    "sentencepiece": {
        "charsmap": _Parameter(CharacterMap((), b""), _read_map),
        "add_dummy_prefix": _Parameter(True, read_boolean),
        "remove_extra_whitespaces": _Parameter(True, read_boolean),
        "escape_whitespaces": _Parameter(True, read_boolean),
        "treat_whitespace_as_suffix": _Parameter(False, read_boolean),
    },
    "sequence": {"normalizers": _Parameter(_NEEDED, _read_components(_read_normalizer))},
}

_PRE_TOKENIZERS: Mapping[str, Mapping[str, _Parameter]] = {
    "bert": {},
    "byte_level": {
        "add_prefix_space": _Parameter(False, read_boolean),
        "use_regex": _Parameter(True, read_boolean),
    },
    "metaspace": {
        "replacement": _Parameter("▁", _read_character),
        "prepend_scheme": _Parameter("always", _read_option("always", "first", "never")),
        "split": _Parameter(True, read_boolean),
    },
    "whitespace_split": {},
    "split": {
        "pattern": _Parameter(_NEEDED, _read_pattern),
        "behavior": _Parameter(_NEEDED, _read_option(*BEHAVIORS)),
        "invert": _Parameter(False, read_boolean),
    },
    "digits": {"individual_digits": _Parameter(False, read_boolean)},
    "punctuation": {"behavior": _Parameter("isolated", _read_option(*BEHAVIORS))},
    "whitespace": {},
    "char_delimiter_split": {"delimiter": _Parameter(_NEEDED, _read_character)},
    "sequence": {"pre_tokenizers": _Parameter(_NEEDED, _read_components(_read_pre_tokenizer))},
}

_DECODERS: Mapping[str, Mapping[str, _Parameter]] = {
    "byte_level": {},
    "metaspace": {
        "replacement": _Parameter("▁", _read_character),
        "prepend_scheme": _Parameter("always", _read_option("always", "first", "never")),
    },
    "wordpiece": {"prefix": _Parameter("##", read_text), "cleanup": _Parameter(False, read_boolean)},
    "byte_fallback": {},
    "fuse": {},
    "strip": {
        "content": _Parameter(_NEEDED, _read_character),
        "start": _Parameter(_NEEDED, partial(read_integer, smallest=0)),
        "stop": _Parameter(_NEEDED, partial(read_integer, smallest=0)),
    },
    "replace": {"pattern": _Parameter(_NEEDED, _read_pattern), "content": _Parameter(_NEEDED, read_text)},
    "bpe": {"suffix": _Parameter(_NEEDED, read_text)},
    "sentencepiece": {
        "add_dummy_prefix": _Parameter(True, read_boolean),
        "remove_extra_whitespaces": _Parameter(True, read_boolean),
        "unk_surface": _Parameter(" ⁇ ", read_text),
    },
    "sequence": {"decoders": _Parameter(_NEEDED, _read_components(_read_decoder))},
}

_POST_PROCESSORS: Mapping[str, Mapping[str, _Parameter]] = {
    "template": {
        "single": _Parameter(_NEEDED, _read_template),
        "pair": _Parameter(_NEEDED, _read_template),
        "special_tokens": _Parameter(_NEEDED, _read_template_tokens),
    },
    "bert": {
        "cls": _Parameter(_NEEDED, _read_token_and_id),
        "sep": _Parameter(_NEEDED, _read_token_and_id),
    },
    "roberta": {
        "cls": _Parameter(_NEEDED, _read_token_and_id),
        "sep": _Parameter(_NEEDED, _read_token_and_id),
        "trim_offsets": _Parameter(True, read_boolean),
        "add_prefix_space": _Parameter(True, read_boolean),
    },
    "byte_level": {
        "add_prefix_space": _Parameter(True, read_boolean),
        "trim_offsets": _Parameter(True, read_boolean),
        "use_regex": _Parameter(True, read_boolean),
    },
    "sequence": {"post_processors": _Parameter(_NEEDED, _read_components(_read_post_processor))},
}

_STAGES: Mapping[str, Reader] = {
    "normalizer": _read_normalizer,
    "pre_tokenizer": _read_pre_tokenizer,
    "decoder": _read_decoder,
    "special_tokens": _read_special_tokens,
    "added_tokens": _read_added_tokens,
    "post_processor": _read_post_processor,
    "truncation": _read_truncation,
    "padding": _read_padding,
}
