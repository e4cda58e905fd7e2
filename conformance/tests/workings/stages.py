"""The stages around a model, letter by letter: special tokens, normalizers, pre-tokenizers, words of a corpus.

A text is a list of letters ``(character, start, end)`` that remember where they stand in the input; an added letter has
no place. It covers what the recomputed cases use and raises `NotCovered` for anything else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Letter = tuple[str, int | None, int | None]
Piece = list[Letter]
Model = Mapping[str, Any]


class Refused(Exception):
    """The specification refuses this, with a reason of its list."""


class NotCovered(Exception):
    """No program here computes this."""


def check_model(model: Model) -> None:
    """Refuse what SPECIAL-5 and WP-MODEL-3 refuse: special tokens that are no tokens, and words of no character."""
    tokens = model.get("vocabulary") or [token for token, _ in model.get("tokens", [])]
    if tokens and not set(model.get("special_tokens", [])) <= set(tokens):
        raise Refused("invalid_model")
    if model.get("max_word_length", 1) < 1:
        raise Refused("invalid_model")


#: What a model may have here; all else is left to notes by hand and to implementations.
COVERED_KEYS = {
    *("type", "vocabulary", "merges", "tokens", "weights", "unknown_token", "max_word_length", "continuing_prefix"),
    "end_of_word_suffix",
    *("normalizer", "pre_tokenizer", "decoder", "special_tokens", "about"),
}


def check_covered(model: Model, request: Mapping[str, Any]) -> None:
    """Leave aside added tokens, ids that are not places, post-processors and whatever else is not computed here."""
    for key in [*(model.keys() - COVERED_KEYS), *(request.keys() & {"pair", "add_special_tokens"})]:
        raise NotCovered(key)
    if model.get("type") == "bpe" and "continuing_prefix" in model:
        raise NotCovered("continuing_prefix")
    if "end_of_word_suffix" in model and "corpus" not in request:  # to train with it is all that is computed
        raise NotCovered("end_of_word_suffix")
    if any(isinstance(entry, list) for entry in model.get("vocabulary", ())):
        raise NotCovered("vocabulary_ids")


def check_numbers(operation: str, request: Mapping[str, Any]) -> None:
    """Refuse what ERROR-2 and ERROR-3 refuse: numbers below 0, and fractions that are not above 0 and at most 1."""
    numbers = ("steps", "first", "vocabulary_size", "merge_count", "min_frequency", "initial_size")
    if any(request.get(name, 0) < 0 for name in numbers) or not 0 < request.get("fraction", 1) <= 1:
        raise Refused("invalid_input")
    if operation in ("train", "training_trace") and not request.keys() & {"vocabulary_size", "merge_count"}:
        raise Refused("invalid_input")


def text_of(piece: Sequence[Letter]) -> str:
    return "".join(character for character, _, _ in piece)


def span_of(letters: Sequence[Letter]) -> list[int] | None:
    """From the first to the last letter that stands in the input; None where every letter was added."""
    starts = [start for _, start, _ in letters if start is not None]
    ends = [end for _, _, end in letters if end is not None]
    return [starts[0], max(ends)] if starts else None


# Normalization: every run of a letter and its marks by itself, as a text of few letters allows.


def normalize(letters: Piece, normalizer: Mapping[str, Any] | None) -> Piece:
    if normalizer is None:
        return letters
    if normalizer["type"] == "bert":
        return normalize_for_bert(letters, normalizer)
    if normalizer["type"] not in ("nfc", "nfkc"):
        raise NotCovered(normalizer["type"])
    runs: list[Piece] = []
    for letter in letters:
        if runs and unicodedata.combining(letter[0]):
            runs[-1].append(letter)
        else:
            runs.append([letter])
    done: Piece = []
    for run in runs:
        form = unicodedata.normalize(normalizer["type"].upper(), text_of(run))
        if len(run) > 1 and form != text_of(run) and len(form) > 1:
            raise NotCovered("a run of marks that only partly composes")
        if form == text_of(run):
            done += run
        else:
            done += [(character, run[0][1], run[-1][2]) for character in form]
    if text_of(done) != unicodedata.normalize(normalizer["type"].upper(), text_of(letters)):
        raise NotCovered("letters that compose with what is no mark")
    return done


#: The blocks that BERT's own program names, as its comments have them.
IDEOGRAPHS = [
    *(range(0x4E00, 0xA000), range(0x3400, 0x4DC0), range(0x20000, 0x2A6E0), range(0x2A700, 0x2B740)),
    *(range(0x2B740, 0x2B820), range(0x2B820, 0x2CEB0), range(0xF900, 0xFB00), range(0x2F800, 0x2FA20)),
]


def normalize_for_bert(letters: Piece, stage: Mapping[str, Any]) -> Piece:
    """Clean, set ideographs apart, strip accents and lower, each letter in its own place."""
    lowers = stage.get("lowercase", True)
    strips = stage.get("strip_accents")
    if stage.get("clean_text", True):
        kept = [letter for letter in letters if not is_removed(letter[0])]
        letters = [
            (" ", *place) if c in "\t\n\r" or unicodedata.category(c)[0] == "Z" else (c, *place) for c, *place in kept
        ]
    if stage.get("handle_chinese_chars", True):
        letters = [part for letter in letters for part in apart(letter)]
    if lowers if strips is None else strips:
        decomposed = [(part, *place) for c, *place in letters for part in unicodedata.normalize("NFD", c)]
        if text_of(decomposed) != unicodedata.normalize("NFD", text_of(letters)):
            raise NotCovered("marks that are put in order")
        letters = [letter for letter in decomposed if unicodedata.category(letter[0]) != "Mn"]
    if lowers:
        if "Σ" in text_of(letters):
            raise NotCovered("final_sigma")
        letters = [(part, *place) for c, *place in letters for part in c.lower()]
    return letters


def is_removed(character: str) -> bool:
    is_control = unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs") and character not in "\t\n\r"
    return is_control or character == "\ufffd"


def apart(letter: Letter) -> list[Letter]:
    space: Letter = (" ", None, None)
    return [space, letter, space] if any(ord(letter[0]) in block for block in IDEOGRAPHS) else [letter]


# Pre-tokenization


def cut_at_white_space(piece: Piece) -> list[Piece]:
    pieces: list[Piece] = [[]]
    for letter in piece:
        if letter[0].isspace() and letter[0] not in "\x1c\x1d\x1e\x1f":  # Python's own four are not White_Space
            pieces.append([])
        else:
            pieces[-1].append(letter)
    return [piece for piece in pieces if piece]


def is_punctuation(character: str) -> bool:
    ascii_symbol = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_symbol or unicodedata.category(character).startswith("P")


def cut_for_bert(piece: Piece) -> list[Piece]:
    pieces: list[Piece] = []
    for word in cut_at_white_space(piece):
        pieces.append([])
        for letter in word:
            if is_punctuation(letter[0]):
                pieces += [[letter], []]
            else:
                pieces[-1].append(letter)
    return [piece for piece in pieces if piece]


def kind(character: str) -> str:
    if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
        return "space"
    category = unicodedata.category(character)
    return {"L": "letter", "N": "number"}.get(category[0], "other")


def cut_as_gpt2(piece: Piece) -> list[Piece]:
    """Follow the six alternatives of PRE-BYTE-1, tried in order at each place."""
    text, pieces, at = text_of(piece), [], 0

    def run(place: int, wanted: str) -> int:
        while place < len(text) and kind(text[place]) == wanted:
            place += 1
        return place

    while at < len(text):
        end = at
        for ending in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d"):
            if text.startswith(ending, at):
                end = at + len(ending)
                break
        if end == at:
            first = at + 1 if text[at] == " " else at
            for wanted in ("letter", "number", "other"):
                if run(first, wanted) > first:
                    end = run(first, wanted)
                    break
        if end == at:
            end = run(at, "space")
            if end < len(text) and end - at > 1:
                end -= 1  # the last one is left to what follows
        pieces.append(piece[at:end])
        at = end
    return pieces


PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
CHARACTER_OF_BYTE = {byte: chr(byte) for byte in PRINTABLE} | {byte: chr(256 + i) for i, byte in enumerate(OTHERS)}


def to_bytes(piece: Piece) -> Piece:
    if any("\ud800" <= character <= "\udfff" for character, _, _ in piece):
        raise Refused("invalid_input")
    return [(CHARACTER_OF_BYTE[byte], start, end) for c, start, end in piece for byte in c.encode()]


def cut(piece: Piece, stage: Mapping[str, Any] | None, at_start: bool) -> list[Piece]:
    """Pieces of a piece; ``at_start`` tells whether it stands at the start of the input."""
    if not piece:
        return []
    name = stage["type"] if stage else "none"
    if name == "none":
        return [piece]
    assert stage is not None
    if name == "sequence":
        if at_start and piece[0][1] is None:
            raise NotCovered("an added letter that may be dropped before the first text")
        pieces = [piece]
        for inner in stage["pre_tokenizers"]:
            first, cuts = at_start, []
            for one in pieces:
                cuts += cut(one, inner, first and (one[0][1] in (None, 0)))
                first = False
            pieces = cuts
        return pieces
    if name == "whitespace_split":
        return cut_at_white_space(piece)
    if name == "bert":
        return cut_for_bert(piece)
    if name == "byte_level":
        if stage.get("add_prefix_space", False) and piece[0][0] != " ":
            piece = [(" ", None, None), *piece]
        return [to_bytes(one) for one in (cut_as_gpt2(piece) if stage.get("use_regex", True) else [piece])]
    if name == "metaspace":
        mark = stage.get("replacement", "▁")
        piece = [(mark if c == " " else c, start, end) for c, start, end in piece]
        scheme = stage.get("prepend_scheme", "always")
        if (scheme == "always" or (scheme == "first" and at_start)) and piece[0][0] != mark:
            piece = [(mark, None, None), *piece]
        if not stage.get("split", True):
            return [piece]
        pieces = []
        for letter in piece:
            if letter[0] == mark or not pieces:
                pieces.append([])
            pieces[-1].append(letter)
        return pieces
    raise NotCovered(name)


# The pipeline


def stretches(text: str, special_tokens: Sequence[str]) -> Iterator[tuple[bool, int, int]]:
    """Special tokens leftmost first, the longest of several, and what lies between them."""
    at = start = 0
    while at < len(text):
        fitting = [token for token in special_tokens if text.startswith(token, at)]
        if fitting:
            if start < at:
                yield False, start, at
            longest = max(fitting, key=len)
            yield True, at, at + len(longest)
            at = start = at + len(longest)
        else:
            at += 1
    if start < at:
        yield False, start, at


Tokens = list[tuple[str, int, int]]  # of a piece: token, place of its first letter, place behind its last


def encode(
    model: Model,
    vocabulary: Sequence[str],
    text: str,
    encode_piece: Callable[[str], Tokens],
    drop_unknown: bool = False,
) -> dict[str, Any]:
    """Apply the stages, and the model by ``encode_piece`` to the text of every piece.

    With ``drop_unknown`` the letters of a piece that are not in the vocabulary are taken out of it before.
    """
    tokens, spans = list[str](), list[list[int] | None]()
    for is_special, start, end in stretches(text, model.get("special_tokens", [])):
        if is_special:
            tokens.append(text[start:end])
            spans.append([start, end])
            continue
        letters: Piece = [(text[i], i, i + 1) for i in range(start, end)]
        letters = normalize(letters, model.get("normalizer"))
        for piece in cut(letters, model.get("pre_tokenizer"), start == 0):
            if drop_unknown:
                piece = [letter for letter in piece if letter[0] in vocabulary]
            for token, first, last in encode_piece(text_of(piece)):
                tokens.append(token)
                spans.append(span_of(piece[first:last]))
    ids = [vocabulary.index(token) if token in vocabulary else None for token in tokens]
    return {"tokens": tokens, "ids": ids, "spans": spans}


def count_words(model: Model, corpus: Mapping[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    if "words" in corpus:
        for word, count in corpus["words"]:
            counts[word] = counts.get(word, 0) + count
        return counts
    for text in corpus["texts"]:
        letters: Piece = [(character, i, i + 1) for i, character in enumerate(text)]
        for piece in cut(normalize(letters, model.get("normalizer")), model.get("pre_tokenizer"), True):
            counts[text_of(piece)] = counts.get(text_of(piece), 0) + 1
    return counts
