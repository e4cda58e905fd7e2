"""Requests that no clause specifies, so that their answers are never findings.

Drawing avoids most of them, but shrinking comes across them, and so does the survey of a port that refuses much. So
there is one table, in which the comparison looks up every difference: each clause that says "not specified", with a
test of a request. Values that are open within an answer are handled in :mod:`~tokspec.fuzz.tolerance`, which copies
them from the answer.

Requests that are neither drawn nor a result of shrinking have no row: a score of -0 next to one of 0, and keys that an
input does not have.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any, TypeAlias

from tokspec.adapters.patterns import matches_nothing
from tokspec.compare.shrink import find_values, listed_tokens
from tokspec.fuzz.characters import is_recent
from tokspec.fuzz.tolerance import Answers

_Part: TypeAlias = Mapping[str, Any]


def is_unspecified(answers: Answers) -> bool:
    """Return whether a clause leaves the result of a request open; ``right`` and ``given`` are empty for a refusal.

    >>> from tokspec.suite.specification import load_specification
    >>> model, choices = {"decoder": {"type": "bpe", "suffix": ""}}, load_specification().defaults()
    >>> is_unspecified(Answers(model, "decode", {"tokens": ["a"]}, {"text": "a"}, {"text": " a "}, choices, max))
    True
    """
    return any(leaves_open(answers) for leaves_open in UNSPECIFIED.values())


# The parts of a request


def _parts(part: Any) -> Iterator[_Part]:
    """Return the components of a stage: itself, and the members of a sequence."""
    if isinstance(part, Mapping) and "type" in part:
        yield part
        for value in part.values():
            for member in value if isinstance(value, list) else ():
                yield from _parts(member)


def _stage(answers: Answers, stage: str, *types: str) -> list[_Part]:
    """Return the components of a stage that have one of some types, or all components."""
    return [part for part in _parts(answers.model.get(stage)) if not types or part.get("type") in types]


def _texts(answers: Answers) -> list[str]:
    """Return the texts of an input, and their normalized forms."""
    input = answers.input
    rows = (input, *input.get("inputs", ()), *input.get("parts", ()))
    found = [row[key] for row in rows for key in ("text", "pair") if key in row]
    found += input.get("corpus", {}).get("texts", ())
    if "normalizer" in answers.model and answers.operation != "normalize":
        found += [answers.ask("normalize", answers.model, {"text": text}).get("text", "") for text in found]
    return found


def _steps(answers: Answers) -> list[int]:
    """Return the ids of a request in order."""
    input = answers.input
    return [*input.get("prompt", ()), *input.get("ids", ()), *(id for step in input.get("id_steps", ()) for id in step)]


def _names(model: _Part) -> dict[int, str]:
    """Return the tokens of a model by their ids."""
    entries = model.get("vocabulary", listed_tokens(model))
    names = dict((place, each) if isinstance(each, str) else (each[1], each[0]) for place, each in enumerate(entries))
    return names | {row["id"]: row["content"] for row in model.get("added_tokens", ()) if "id" in row}


def _decoded(answers: Answers) -> list[str]:
    """Return the tokens that are decoded, without those that a request skips."""
    names = _names(answers.model)
    tokens = answers.input.get("tokens") or [names[id] for id in _steps(answers) if id in names]
    return [token for token in tokens if not (answers.input.get("skip_special_tokens") and token in _special(answers))]


def _special(answers: Answers) -> list[str]:
    rows = answers.model.get("added_tokens", ())
    return [*answers.model.get("special_tokens", ()), *(row["content"] for row in rows if row.get("special", True))]


def _has(answers: Answers, key: str) -> bool:
    """Return whether a model has a parameter that is not empty."""
    return bool(answers.model.get(key))


_ENCODING = ("encode", "encode_batch", "encode_parts")
_DECODING = ("decode", "decode_stream", "decode_until")
_SURROGATE, _BYTE = re.compile("[\ud800-\udfff]"), re.compile(r"<0x[0-9A-F]{2}>")


# Texts and normalization


def _bytes_of_surrogates(answers: Answers) -> bool:
    choices = answers.choices
    counts = choices["offset_unit"] == "byte" and answers.operation not in (*_DECODING, "normalize")
    counts |= choices["wordpiece_length_unit"] == "byte" and answers.model.get("type") == "wordpiece"
    return counts and any(map(_SURROGATE.search, _texts(answers)))


def _unclear_maps(answers: Answers) -> bool:
    maps = [value for path, value in find_values(answers.model, str) if path[-1] == "charsmap" and value]
    return answers.operation in ("normalize", "count_words", *_ENCODING) and not all(map(_is_clear_map, maps))


def _is_clear_map(charsmap: str) -> bool:
    """Return whether everything in a character map is specified, including what is refused."""
    try:
        data = b64decode(charsmap, validate=True)
    except Error:
        return False
    size = int.from_bytes(data[:4], "little")
    if len(data) < 4 or size % 4 or 4 + size > len(data):
        return True
    units = [int.from_bytes(data[place : place + 4], "little") for place in range(4, 4 + size, 4)]
    return bool(units) and all(_is_clear_prefix(*each, units, data[4 + size :]) for each in _prefixes(units))


#: The longest prefix that is examined, because a unit that leads back to itself has endless prefixes.
_LONGEST_PREFIX = 32


def _prefixes(units: Sequence[int]) -> Iterator[tuple[bytes, int]]:
    """Return the prefixes in a map, each with the place of its replacement; some are longer than the map intends."""
    waiting = [(b"", _offset(units[0]))]
    for prefix, node in waiting:  # grows
        for byte in range(256) if len(prefix) < _LONGEST_PREFIX else ():
            place = node ^ byte
            if place < len(units) and units[place] & 0x800000FF == byte:
                behind = place ^ _offset(units[place])
                waiting.append((prefix + bytes([byte]), behind))
                if units[place] & 0x100:
                    yield prefix + bytes([byte]), behind


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 0x200) >> 6)


def _is_clear_prefix(prefix: bytes, place: int, units: Sequence[int], replacements: bytes) -> bool:
    begin = units[place] & 0x7FFFFFFF if place < len(units) else len(replacements)
    text, ended, _ = replacements[begin:].partition(b"\0")
    return bool(ended) and len(prefix) < _LONGEST_PREFIX and _is_utf_8(prefix) and _is_utf_8(text)


def _is_utf_8(data: bytes) -> bool:
    return "\ufffd" not in data.replace("\ufffd".encode(), b"").decode("utf-8", "replace")


def _scripts_that_changed(answers: Answers) -> bool:
    found = bool(_stage(answers, "pre_tokenizer", "unicode_scripts"))
    return found and any(is_recent(text) or _CHANGED_SCRIPT.search(text) for text in _texts(answers))


def _may_be_assigned(answers: Answers) -> bool:
    """Return whether a request has a character that this Python's Unicode lacks, and a later version may have."""
    text = "".join([*_texts(answers), *answers.input.get("tokens", ()), answers.input.get("word", "")])
    return any(unicodedata.category(each) == "Cn" and not _is_noncharacter(ord(each)) for each in text)


def _is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _spans_of_symbols(answers: Answers) -> bool:
    found = bool(_stage(answers, "normalizer", "sentencepiece"))
    symbols = answers.model.get("piece_types", {}).get("user_defined", ())
    return found and bool(symbols) and _is_same_but(answers, "spans", "overflowing")


#: Characters whose script was changed, and lone surrogates.
_CHANGED_SCRIPT = re.compile("[\u0589\u061c\u0953\u0954\ud800-\udfff]")


# Patterns


def _places_of_patterns(answers: Answers) -> bool:
    stages = ("decoder",) if answers.operation in _DECODING else ("normalizer", "pre_tokenizer")
    parts = [part for stage in stages for part in _stage(answers, stage, "split", "replace")]
    texts = [*_texts(answers), *answers.input.get("tokens", ()), *listed_tokens(answers.model)] if parts else []
    return any(_leaves_pattern_open(part, texts, answers.choices) for part in parts)


def _leaves_pattern_open(part: _Part, texts: Sequence[str], choices: Mapping[str, str]) -> bool:
    regex, is_cut = part.get("pattern", {}).get("regex"), part["type"] == "split"
    if regex is None:
        return not is_cut and part.get("pattern", {}).get("string") == ""
    if _CASE.search(regex) or _OTHERS.search(regex) or (r"\Z" in regex and any("\n\n" in text for text in texts)):
        return True
    return (not is_cut or r"\G" in regex) and matches_nothing(regex, texts, choices)


#: A property in a group that ignores case, and parts that chapter 13 excludes: repeated look-around, a ``-`` in a class
#: before ``&&``, and a group that may match nothing if another part refers to it.
_CASE = re.compile(r"\(\?i:(?:[^][()\\]|\\[^pP]|\[[^]]*\])*\\[pP]\{")
_OTHERS = re.compile(r"\(\?<?[=!][^()]*\)[*+?{]|-&&|\((?!\?)[^()]*[*?][^()]*\)[*+?{].*\\[1-9]")


# Added tokens and special tokens


def _other_special_tokens(answers: Answers) -> bool:
    given = [answers.input.get(key) for key in ("allowed_special", "disallowed_special")]
    return any(isinstance(each, list) and not set(each) <= set(_special(answers)) for each in given)


def _normalized_alike(answers: Answers) -> bool:
    rows = answers.model.get("added_tokens", ()) if answers.operation in _ENCODING else ()
    contents = [row["content"] for row in rows if row.get("normalized")]
    made = {answers.ask("normalize", answers.model, {"text": text}).get("text", "") for text in contents}
    return len(made) < len(contents)


def _taken_beginnings(answers: Answers) -> bool:
    rows = answers.model.get("added_tokens", ()) if answers.operation in _ENCODING else ()
    if not any(row["content"][:1].isspace() for row in rows):
        return False
    taking = [row["content"] for row in rows if row.get("rstrip")]
    return any(content in text for text in _texts(answers) for content in taking)


def _symbols_not_allowed(answers: Answers) -> bool:
    found = bool(_stage(answers, "normalizer", "sentencepiece"))
    symbols = answers.model.get("piece_types", {}).get("user_defined", ())
    return found and answers.operation in _ENCODING and bool(set(symbols).intersection(_special(answers)))


def _reasons_of_several(answers: Answers) -> bool:
    """Return whether several inputs or parts are refused, which leaves open whose reason is given."""
    key = {"encode_batch": "inputs", "encode_parts": "parts"}.get(answers.operation)
    if answers.right or answers.given or key is None:
        return False
    others = {name: value for name, value in answers.input.items() if name != key}
    alone = [answers.ask(answers.operation, answers.model, {key: [each], **others}) for each in answers.input[key]]
    return alone.count({}) > 1


# Models


def _prefix_in_training(answers: Answers) -> bool:
    model = answers.model
    return model.get("type") == "bpe" and _has(answers, "continuing_prefix") and "corpus" in answers.input


def _merges_without_prefix(answers: Answers) -> bool:
    prefix, merges = answers.model.get("continuing_prefix", ""), answers.model.get("merges", ())
    return answers.model.get("type") == "bpe" and not all(right.startswith(prefix) for _, right in merges)


def _affixes(answers: Answers) -> bool:
    """Return whether the token of the option ``kept``, or of a byte, meets affixes of the model."""
    model, affixes = answers.model, ("continuing_prefix", "end_of_word_suffix")
    if (
        answers.operation not in _ENCODING
        or model.get("type") != "bpe"
        or not any(_has(answers, key) for key in affixes)
    ):
        return False
    keeps = answers.choices["bpe_unknown_without_token"] == "kept" and "unknown_token" not in model
    return _has(answers, "byte_fallback") or (keeps and None in answers.right.get("ids", ()))


def _dropped_scores(answers: Answers) -> bool:
    return answers.operation in _ENCODING and bool(answers.model.get("dropout")) and "scores" in answers.model


def _merged_bytes(answers: Answers) -> bool:
    """Return whether merges may join byte tokens."""
    if answers.operation not in _ENCODING or answers.model.get("type") != "bpe" or not _has(answers, "byte_fallback"):
        return False
    return any(_BYTE.search(token) and not _BYTE.fullmatch(token) for token in listed_tokens(answers.model))


#: The operations of chapter 6 except ``encode``; for the first four, only the handling of user-defined tokens is open.
_LISTING = ("segmentations", "nbest", "viterbi", "segment")
_OF_UNIGRAM = ("token_probabilities", "loss", "loss_increase", "prune_step", "train", "training_trace")


def _inspected_pieces(answers: Answers) -> bool:
    if answers.model.get("type") != "unigram" or "piece_types" not in answers.model:
        return False
    symbols = answers.model["piece_types"].get("user_defined", ())
    is_met = answers.operation in _LISTING and any(symbol in answers.input["word"] for symbol in symbols)
    return is_met or answers.operation in _OF_UNIGRAM


# Encodings


def _is_same_but(answers: Answers, *keys: str) -> bool:
    """Return whether encodings differ only in some of their fields, or in the overflowing parts."""
    mine, others = (result.get("encodings", [result] if result else []) for result in (answers.right, answers.given))
    rows = zip(mine, others, strict=True) if len(mine) == len(others) else ()
    fields = [(right.get(key), given[key]) for right, given in rows for key in given if key not in keys]
    return bool(fields) and all(right == given for right, given in fields)


def _trimmed_added_tokens(answers: Answers) -> bool:
    trims = bool(_stage(answers, "post_processor", "byte_level", "roberta")) and "normalizer" in answers.model
    found = any(row.get("normalized") for row in answers.model.get("added_tokens", ()))
    return trims and found and _is_same_but(answers, "spans", "overflowing")


def _overflow_of_templates(answers: Answers) -> bool:
    if "truncation" not in answers.model:
        return False
    texts = [
        [item["sequence"] for item in part.get(key, ()) if "sequence" in item]
        for part in _stage(answers, "post_processor", "template")
        for key in ("single", "pair")
    ]
    found = any(named not in (["A"], ["A", "B"]) for named in texts)
    return found and _is_same_but(answers, "overflowing")


# Decoding


def _empty_parameters(answers: Answers) -> bool:
    """Return whether a decoder has an empty suffix, pad token or delimiter (DEC-BPE-1, DEC-CTC-2, DEC-CTC-3)."""
    keys = ("suffix", "pad_token", "word_delimiter_token")
    found = any(part.get(key) == "" for part in _stage(answers, "decoder", "bpe", "ctc") for key in keys)
    return found and answers.operation in _DECODING


def _cleaned_do_not(answers: Answers) -> bool:
    cleans = any(part.get("cleanup", part["type"] == "ctc") for part in _stage(answers, "decoder", "wordpiece", "ctc"))
    return cleans and any("do not" in part for part in (answers.right.get("text", ""), "".join(_shown(answers.right))))


def _shown(result: _Part) -> list[str]:
    """Return the parts of a stream, and its end."""
    return [*result.get("parts", ()), result.get("end", "")]


def _pieces_in_a_sequence(answers: Answers) -> bool:
    decoder = answers.model.get("decoder") or {}
    found = decoder.get("type") == "sequence" and bool(_stage(answers, "decoder", "sentencepiece"))
    return found and answers.operation in _DECODING


def _small_digits(answers: Answers) -> bool:
    found = bool(_stage(answers, "decoder", "byte_fallback"))
    return found and any(_SMALL_DIGITS.fullmatch(token) for token in _decoded(answers))


_SMALL_DIGITS = re.compile(r"<0x(?![0-9A-F]{2}>)[0-9A-Fa-f]{2}>")


# Streams


def _runs(answers: Answers) -> list[bytes]:
    """Return the runs of bytes in the tokens that are decoded."""
    if not _stage(answers, "decoder", "byte_fallback", "sentencepiece"):
        return []
    groups = groupby(_decoded(answers), key=lambda token: _BYTE.fullmatch(token) is not None)
    return [bytes(int(token[3:5], 16) for token in tokens) for is_byte, tokens in groups if is_byte]


def _changed_streams(answers: Answers) -> bool:
    """Return whether a later id changes the decoded text of earlier ones, or a run of bytes ends up invalid."""
    if answers.operation != "decode_stream" or answers.input.get("end"):
        return False
    skips = {key: answers.input[key] for key in ("skip_special_tokens",) if key in answers.input}
    asked = [{"ids": ids, **skips} for ids in accumulate([[id] for id in _steps(answers)], initial=[])]
    texts = [answers.ask("decode", answers.model, each).get("text", "") for each in asked]
    is_growing = all(later.startswith(text.rstrip("\ufffd")) for text, later in pairwise(texts))
    return not is_growing or not all(map(_is_utf_8, _runs(answers)))


def _streams_of_other_decoders(answers: Answers) -> bool:
    is_ended = answers.operation == "decode_until" or bool(answers.input.get("end"))
    return answers.operation in _DECODING and is_ended and not _has_streams(answers)


#: Decoders with streams by themselves, and the order that they need in a sequence.
_STREAMED = ("byte_level", "metaspace", "byte_fallback", "fuse", "replace", "ctc", "sentencepiece")
_IN_ORDER = re.compile(r"(replace )*(byte_fallback )?(fuse (strip )?)?")


def _has_streams(answers: Answers) -> bool:
    """Return whether streams of a decoder are specified (STREAM-9)."""
    part = answers.model.get("decoder") or {"type": "fuse"}
    if part["type"] == "sequence":
        members = part.get("decoders", ())
        is_known = _IN_ORDER.fullmatch("".join(f"{each['type']} " for each in members))
        return bool(is_known) and not any(each.get("stop") for each in members)
    if part["type"] == "wordpiece":
        return not part.get("cleanup") or answers.choices["wordpiece_cleanup"] == "each_token"
    if part["type"] == "bpe":
        suffix = part.get("suffix", "")
        ends = [(token.find(suffix), len(token) - len(suffix)) for token in _decoded(answers)]
        return all(found in (-1, end) for found, end in ends)
    return part["type"] in _STREAMED


def _waiting_runs(answers: Answers) -> bool:
    """Return whether, with the option ``run``, the text of a byte run may wait, or a run becomes invalid."""
    if answers.choices["byte_fallback_invalid"] != "run" or "parts" not in answers.right:
        return False
    right, given = ("".join(_shown(result)) for result in (answers.right, answers.given))
    is_same = right == given and answers.right.get("stopped") == answers.given.get("stopped")
    runs = _runs(answers)
    return bool(runs) and (is_same or any(not _is_utf_8(run) and _begins_with_text(run) for run in runs))


def _begins_with_text(run: bytes) -> bool:
    return any(_is_utf_8(run[:size]) for size in range(1, min(len(run), 4) + 1))


def _large_sums(answers: Answers) -> bool:
    return any(abs(value) >= 2**53 for _, value in find_values(answers.right, int))


def _ids_beside(answers: Answers) -> bool:
    return not set(answers.input.get("beside", ())) <= set(_names(answers.model))


UNSPECIFIED: Mapping[str, Callable[[Answers], bool]] = {
    "TERM-6": _may_be_assigned,
    "TERM-8": _bytes_of_surrogates,
    "NORM-MAP-3": _unclear_maps,
    "PRE-SCRIPTS-1": _scripts_that_changed,
    "PATTERN-1": _places_of_patterns,
    "ADDED-15": _other_special_tokens,
    "ADDED-5": _normalized_alike,
    "ADDED-7": _taken_beginnings,
    "TRUST-1": _symbols_not_allowed,
    "BATCH-1": _reasons_of_several,
    "BPE-TRAIN-16": _prefix_in_training,
    "BPE-AFFIX-3": _merges_without_prefix,
    "BPE-AFFIX-5": _affixes,
    "BPE-BYTES-1": _merged_bytes,
    "BPE-DROPOUT-1": _dropped_scores,
    "SP-NORM-2": _spans_of_symbols,
    "SP-TYPE-2": _inspected_pieces,
    "POST-BYTE-3": _trimmed_added_tokens,
    "TRUNC-8": _overflow_of_templates,
    "DEC-BPE-1": _empty_parameters,
    "DEC-WP-3": _cleaned_do_not,
    "DEC-SEQUENCE-1": _pieces_in_a_sequence,
    "DEC-FALLBACK-1": _small_digits,
    "DEC-STREAM-4": _changed_streams,
    "STREAM-9": _streams_of_other_decoders,
    "STREAM-3": _waiting_runs,
    "STREAM-8": _ids_beside,
    "PROTO-7": _large_sums,
}
"""Tests of what is left open, by the clause that says so, or by the first of several similar clauses."""
