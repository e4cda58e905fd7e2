"""Deliberately wrong implementations, each with one wrong rule: the run fails, and names the clauses of that rule.

Each is the reference with one function exchanged, or with its models or its results tampered with. Beside it stand what
it is asked, and clauses that failing cases are about; the right rule in the same place passes. Training has a
file of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest

import tokref
from tokref import AlignedText, Bpe, Choices, Token, Tokenizer, Unigram, WordPiece
from tokref.unigram import best_path
from tokspec.adapter import Hello
from tokspec.adapters.reference import ReferenceAdapter
from tokspec.judge.compare import Difference
from tokspec.judge.runner import Run, run
from tokspec.judge.verdicts import Verdict
from tokspec.sessions.in_process import InProcessSession
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select
from tokspec.suite.specification import load_specification

pytestmark = pytest.mark.slow

CASES = load_suite().cases
SPECIFICATION = load_specification()

Json = dict[str, Any]
Change = Callable[[Json, Tokenizer, Json], Json]


class Toy(ReferenceAdapter):
    """The reference, which declares no choice, between two tamperers: one for models, one for results."""

    def __init__(
        self,
        model: Callable[[Json], Json] = dict,
        result: Change = lambda result, model, input: result,
        choices: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(choices)
        self.tampered_model, self.tampered_result = model, result

    def hello(self) -> Hello:
        return replace(super().hello(), choices={})

    def load(self, format: str, content: Any) -> Tokenizer:
        return super().load(format, self.tampered_model(content))

    def run(self, operation: str, model: Tokenizer, input: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.tampered_result(dict(super().run(operation, model, input)), model, dict(input))


def with_model(key: str, change: Callable[[Any], Any]) -> Toy:
    """Change one value of every model that has it."""
    return Toy(model=lambda model: {**model, key: change(model[key])} if key in model else model)


def with_result(key: str, change: Callable[..., Any]) -> Toy:
    """Change one value of every result that has it; the change may look at the model and at the input."""

    def changed(result: Json, model: Tokenizer, input: Json) -> Json:
        return {**result, key: change(result[key], model, input)} if key in result else result

    return Toy(result=changed)


# BPE: what merge_symbols gets is a run of known characters


def longest_first(symbols: str, model: Bpe, choices: Choices) -> list[str]:
    tokens = []
    while symbols:
        tokens.append(next(symbols[:end] for end in range(len(symbols), 0, -1) if symbols[:end] in model.ids))
        symbols = symbols[len(tokens[-1]) :]
    return tokens


def merging(which: int, times: int) -> Callable[..., list[str]]:
    """Give what goes through the merges once, and makes each so often, in the first or the last place (0 or -1)."""

    def merge(symbols: str, model: Bpe, choices: Choices) -> list[str]:
        tokens = list(symbols)
        for pair in model.merges:
            for _ in range(min(times, len(tokens))):
                places = [place for place, other in enumerate(pairwise(tokens)) if other == pair]
                if not places:
                    break
                tokens[places[which] : places[which] + 2] = ["".join(pair)]
        return tokens

    return merge


def without_unknown(result: Json, model: Tokenizer, input: Json) -> Json:
    kept = [place for place, token in enumerate(result["tokens"]) if token != model.model.unknown_token]
    return {key: [values[place] for place in kept] for key, values in result.items()}


# WordPiece: what encode_wordpiece gets is a piece


def fitting(longest: bool = True, by_character: bool = False, prefixed: bool = True, bounded: bool = True) -> Any:
    """Give an encoder by four rules; where nothing fits, the piece or only a character is unknown."""

    def encode(piece: str, model: WordPiece) -> list[Token]:
        tokens: list[Token] = []
        start = 0
        while start < len(piece):
            prefix = model.continuing_prefix if start and prefixed else ""
            texts = {prefix + piece[start:end]: end for end in range(start + 1, len(piece) + 1)}
            known = [text for text in texts if text in model.ids]
            if (not known and not by_character) or (bounded and len(piece) > model.max_word_length):
                return [model.unknown(piece, 0)]
            text = known[-1 if longest else 0] if known else ""
            tokens.append(
                Token(text, model.ids[text], start, texts[text]) if text else model.unknown(piece[start], start)
            )
            start = tokens[-1].end
        return tokens

    return encode


# Unigram: what best_path gives is, for every end, where the last token starts, and the score


def evenly(word: str, model: Unigram, *others: Any, **named: Any) -> Any:
    even = Unigram(model.vocabulary, model.unknown_token, (-1.0,) * len(model.vocabulary), "log_probability")
    return best_path(word, even, *others, **named)


def greedily(word: str, model: Unigram, choices: Choices, *others: Any, **named: Any) -> Any:
    starts, scores = best_path(word, model, choices, *others, **named)
    place, score = 0, scores[0] or 0.0
    while place < len(word) and scores[-1] is not None:
        end = max((end for end in range(place, len(word) + 1) if word[place:end] in model.ids), default=len(word))
        score += model.costs.get(word[place:end], 0.0)
        starts[end], scores[end], place = place, score, end
    return starts, scores


def as_product(result: Json, model: Tokenizer, input: Json) -> Json:
    return {**result, "score": math.prod(model.model.probabilities[token] for token in result["tokens"])}


def frequencies(found: Json, model: Tokenizer, input: Json) -> Json:
    return dict(zip(model.model.vocabulary, map(float, model.model.weights), strict=True))


# Around the models


def ascii_lowercase(text: str, choices: Choices) -> str:
    return re.sub("[A-Z]", lambda match: match[0].lower(), text)


def cutting(pattern: str) -> Callable[[AlignedText], list[AlignedText]]:
    return lambda text: [text.cut(*match.span()) for match in re.finditer(pattern, text.text)]


def special(longest: bool = True, trimmed: Callable[[str], str] = str) -> Callable[..., list[tuple[str, int, bool]]]:
    """Give what cuts at special tokens by two rules: which to take first, and what to take off what lies between."""

    def split(text: str, special_tokens: Sequence[str]) -> list[tuple[str, int, bool]]:
        listed = sorted(special_tokens, key=len, reverse=longest)
        parts = re.split(f"({'|'.join(map(re.escape, listed))})", text) if listed else [text]
        found, start = [], 0
        for index, part in enumerate(parts):
            kept = part if index % 2 else trimmed(part)
            found.append((kept, start + part.index(kept), bool(index % 2)))
            start += len(part)
        return [stretch for stretch in found if stretch[0]]

    return split


def normalizing_first(text: str, tokenizer: Tokenizer, choices: Choices) -> list[Token]:
    normalized = tokref.normalize(text, tokenizer.normalizer, choices)
    return ENCODE(normalized, replace(tokenizer, normalizer=None), choices)


ENCODE = tokref.encode


def in_bytes(spans: list[list[int]], model: Tokenizer, input: Json) -> list[list[int]]:
    return [[len(input["text"][:place].encode("utf-8", "surrogatepass")) for place in span] for span in spans]


def alphabetical(ids: list[int | None], model: Tokenizer, input: Json) -> list[int | None]:
    vocabulary = model.model.vocabulary
    return [None if id is None else sorted(vocabulary).index(vocabulary[id]) for id in ids]


def concatenating(tokens: Sequence[str], decoder: Any, choices: Choices) -> str:
    return decoder.join(tokens, choices) if decoder and tokens else "".join(tokens)


def byte_by_token(tokens: Sequence[str]) -> str:
    return "".join(tokref.character_bytes(token).decode(errors="replace") for token in tokens)


def removing_every_prefix(tokens: Sequence[str], prefix: str = "##") -> str:
    return " ".join(tokens).replace(f" {prefix}", "").replace(prefix, "")


def remainders(ids: Sequence[int], tokenizer: Tokenizer, choices: Choices) -> list[str]:
    vocabulary = tokenizer.model.vocabulary
    return [vocabulary[number % len(vocabulary)] for number in ids]


@dataclass(frozen=True)
class Wrong:
    """What is wrong, what is asked, the clauses that failing cases are about, and how the reference is spoilt."""

    name: str
    asked: str
    clauses: str
    toy: Toy = field(default_factory=Toy)
    exchanged: Mapping[str, Any] = field(default_factory=dict)


MERGE = "tokref.bpe_encoding.merge_symbols"
WORDPIECE = "tokref.pipeline.encode_wordpiece"
PATH = "tokref.unigram.best_path"
SPECIAL = "tokref.pipeline.split_special_tokens"

LOWERCASE = {"normalizer": {"type": "lowercase"}}
COMPOSED = {"normalizer": {"type": "nfc"}}


def decomposed(normalizer: Json) -> Json:
    sequence = {"type": "sequence", "normalizers": [{"type": "nfd"}, normalizer]}
    return sequence if normalizer["type"] == "strip_accents" else normalizer


WRONG = [
    Wrong("BPE makes the merges in the order of their text", "clause:BPE-ENC-3", "ENC-1 BPE-ENC-3 BPE-ENC-9", with_model("merges", sorted)),
    Wrong("BPE makes the last merge first", "clause:BPE-ENC-3", "ENC-1 BPE-ENC-2 BPE-ENC-3 BPE-ENC-4 BPE-ENC-9", with_model("merges", lambda merges: merges[::-1])),
    Wrong("BPE takes the longest token", "clause:BPE-ENC-*", "BPE-ENC-2 BPE-ENC-3 BPE-ENC-4 BPE-ENC-5 BPE-ENC-9", exchanged={MERGE: longest_first}),
    Wrong("BPE makes a merge from right to left", "clause:BPE-*", "BPE-ENC-4", exchanged={MERGE: merging(-1, 99)}),
    Wrong("BPE makes a merge in one place", "clause:BPE-ENC-*", "BPE-ENC-3 BPE-ENC-4 BPE-ENC-5 BPE-ENC-8", exchanged={MERGE: merging(0, 1)}),
    Wrong("BPE drops what is unknown", "clause:BPE-ENC-*", "BPE-ENC-1 BPE-ENC-3 BPE-ENC-6 BPE-ENC-7", Toy(result=without_unknown)),
    Wrong("WordPiece takes the shortest token", "clause:WP-*", "WP-ENC-1 WP-ENC-2", exchanged={WORDPIECE: fitting(longest=False)}),
    Wrong("WordPiece loses a character, not the piece", "clause:WP-*", "TERM-2 WP-ENC-1 WP-ENC-2", exchanged={WORDPIECE: fitting(by_character=True)}),
    Wrong("WordPiece continues without the prefix", "clause:WP-*", "WP-ENC-1 WP-ENC-2 WP-ENC-3", exchanged={WORDPIECE: fitting(prefixed=False)}),
    Wrong("WordPiece takes words of any length", "clause:WP-*", "WP-ENC-3 WP-MODEL-1", exchanged={WORDPIECE: fitting(bounded=False)}),
    Wrong("Unigram takes the longest token", "clause:UNI-SEG-*", "UNI-SEG-2 UNI-SEG-4 UNI-SCORE-1", exchanged={PATH: greedily}),
    Wrong("Unigram takes the fewest tokens", "clause:UNI-SEG-*", "UNI-SEG-2 UNI-SEG-4 UNI-SCORE-1", exchanged={PATH: evenly}),
    Wrong("a score without logarithms", "segment", "UNI-SEG-2 UNI-SCORE-1 UNI-UNK-2", Toy(result=as_product)),
    Wrong("probabilities that are frequencies", "clause:UNI-PROB-*", "UNI-PROB-1", with_result("probabilities", frequencies)),
    Wrong("segmentations with the longest token first", "segmentations", "UNI-PROB-2 UNI-SEG-1", with_result("segmentations", lambda found, model, input: found[::-1])),
    Wrong("ids counted from 1", "clause:ENC-2", "SPECIAL-1 ENC-1 ENC-2 BPE-ENC-6 BPE-BYTE-1", with_result("ids", lambda ids, model, input: [id + 1 for id in ids])),
    Wrong("ids in the order of the tokens' text", "clause:ENC-2", "SPECIAL-1 ENC-1 ENC-2 BPE-ENC-6 BPE-BYTE-1", with_result("ids", alphabetical)),
    Wrong("spans that start one too late", "clause:ENC-3", "ENC-1 ENC-3 WP-ENC-1 UNI-SEG-2 UNI-ENC-1", with_result("spans", lambda spans, model, input: [[start + 1, end] for start, end in spans])),
    Wrong("spans that include their end", "clause:TERM-3", "ENC-3 BPE-ENC-1", with_result("spans", lambda spans, model, input: [[start, end - 1] for start, end in spans])),
    Wrong("spans in bytes", "clause:TERM-3", "ENC-3 BPE-ENC-1", with_result("spans", in_bytes)),
    Wrong("lowercase where nothing asks for it", "clause:NORM-1", "NORM-1", Toy(lambda model: {**LOWERCASE, **model})),
    Wrong("composition where nothing asks for it", "clause:TERM-2", "TERM-2 BPE-BYTE-1", Toy(lambda model: {**COMPOSED, **model})),
    Wrong("lowercase for ASCII alone", "clause:NORM-*", "NORM-LOWERCASE-1 NORM-LOWERCASE-2 NORM-BERT-6 NORM-BERT-7", exchanged={"tokref.normalization.lowercase": ascii_lowercase}),
    Wrong("accents that are decomposed first", "clause:NORM-*", "NORM-ACCENTS-1", with_model("normalizer", decomposed)),
    Wrong("white space that is the space alone", "clause:PRE-*", "PRE-SPACE-1", exchanged={"tokref.pre_tokenization.split_whitespace": cutting("[^ ]+")}),
    Wrong("punctuation that is ASCII alone", "clause:PRE-BERT-*", "PRE-BERT-1 PRE-BERT-3", exchanged={"tokref.pre_tokenization.split_bert": cutting(r"[!-/:-@\[-`{-~]|[^\s!-/:-@\[-`{-~]+")}),
    Wrong("special tokens after normalization", "clause:SPECIAL-*", "SPECIAL-1 WP-ENC-1", exchanged={"tokref.encode": normalizing_first}),
    Wrong("the shortest special token", "clause:SPECIAL-*", "SPECIAL-2", exchanged={SPECIAL: special(longest=False)}),
    Wrong("special tokens that eat white space", "clause:SPECIAL-*", "SPECIAL-3", exchanged={SPECIAL: special(trimmed=str.strip)}),
    Wrong("decoding without spaces", "clause:DEC-*", "DEC-1 DEC-3", exchanged={"tokref.pipeline.join_tokens": concatenating}),
    Wrong("bytes decoded token by token", "clause:DEC-*", "DEC-BYTE-1 DEC-BYTE-2 DEC-BYTE-3", exchanged={"tokref.decoding.join_byte_level": byte_by_token}),
    Wrong("prefixes removed wherever they are", "clause:DEC-*", "DEC-WP-1", exchanged={"tokref.decoding.join_wordpiece": removing_every_prefix}),
    Wrong("text stripped of white space", "clause:DEC-*", "DEC-2 DEC-BYTE-1 DEC-META-1 DEC-META-2", with_result("text", lambda text, model, input: text.strip())),
    Wrong("ids counted round", "clause:DEC-*", "DEC-3 ERROR-1", exchanged={"tokref.tokens_of": remainders}),
]  # fmt: skip

#: Every option that is no default, in an implementation that does not declare it.
UNDECLARED = {
    "bpe_training_tie=smallest_ids": "BPE-TRAIN-5 BPE-TRAIN-8 BPE-TRAIN-11",
    "bpe_merge_order=lowest_rank": "BPE-ENC-5",
    "bpe_pairs=in_vocabulary": "BPE-ENC-2 BPE-ENC-5",
    "bpe_unknown_run=fused": "BPE-ENC-7",
    "bpe_unknown_without_token=dropped_before_merging": "BPE-ENC-8 ERROR-1",
    "bpe_unknown_without_token=dropped_after_merging": "BPE-ENC-8 ERROR-1",
    "bpe_unknown_without_token=kept": "BPE-ENC-8 ERROR-1",
    "unigram_tie=earliest_start": "",
    "unigram_score_start=zero": "UNI-SEG-2 UNI-SCORE-1 UNI-UNK-2 UNI-LOSS-1",
    "unigram_unknown=run": "UNI-UNK-1",
    "metaspace_leading_space=removed": "DEC-META-1 DEC-META-2",
    "metaspace_leading_space=removed_from_first_token": "DEC-META-1 DEC-META-2",
    "unknown_id=skipped": "DEC-3 ERROR-1",
    "final_sigma=plain": "NORM-LOWERCASE-2",
}

#: The same places with the right rule.
RIGHT: Mapping[str, Mapping[str, Any]] = {
    "nothing exchanged": {},
    "BPE makes each merge from left to right": {MERGE: merging(0, 9999)},
    "WordPiece by all four rules": {WORDPIECE: fitting()},
    "special tokens by both rules": {SPECIAL: special()},
}


def judged(toy: Toy, *patterns: str) -> Run:
    with InProcessSession(toy) as session:
        return run(session, select(CASES.values(), patterns))


def blamed(finished: Run) -> set[str]:
    """Name the clauses that the failing cases are about."""
    return {result.case.clauses[0] for result in finished.results if not result.verdict.conforms}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_one_wrong_rule_is_found_and_named(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, function in wrong.exchanged.items():
        monkeypatch.setattr(name, function)
    finished = judged(wrong.toy, wrong.asked)
    assert not finished.conforms
    assert set(wrong.clauses.split()) <= blamed(finished)


def test_the_first_failing_case_says_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MERGE, merging(-1, 99))
    failing = [result for result in judged(Toy(), "clause:BPE-ENC-4").results if result.verdict is not Verdict.PASS]
    first = failing[0]
    assert (first.case.id, first.verdict, first.detail) == ("bpe-encode-overlap-odd", Verdict.FAIL, "answers otherwise")
    assert first.difference == Difference(("tokens", 0), "aa", "a")


def test_every_option_is_there() -> None:
    options = [(choice, option) for choice in SPECIFICATION.choices.values() for option in choice.options]
    others = [f"{choice.name}={option}" for choice, option in options if option != choice.default]
    assert [*UNDECLARED, "offset_unit=byte", "offset_unit=utf16"] == others


@pytest.mark.parametrize(("option", "clauses"), UNDECLARED.items(), ids=UNDECLARED)
def test_an_option_that_is_not_declared_is_a_wrong_rule(option: str, clauses: str) -> None:
    """The earliest start is one of ``any``, which is the default, and so no fault."""
    choice, _, taken = option.partition("=")
    depending = [case for case in CASES.values() if "by_choice" in case.outcome or "one_of" in case.outcome]
    with InProcessSession(Toy(choices={choice: taken})) as session:
        finished = run(session, depending)
    assert finished.conforms is not bool(clauses)
    assert set(clauses.split()) <= blamed(finished)


@pytest.mark.parametrize("exchanged", RIGHT.values(), ids=RIGHT)
def test_the_right_rule_passes_everything(exchanged: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, function in exchanged.items():
        monkeypatch.setattr(name, function)
    finished = judged(Toy())
    assert finished.conforms
    assert finished.counts[Verdict.PASS] == len(CASES)
