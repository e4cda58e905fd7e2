"""What the specification leaves open: the expected result, with all open values copied from the given answer.

It leaves open the spans of added characters, alone or first (PRE-1, ENC-3), characters that versions of Unicode treat
differently (TERM-6), which of several equally probable segmentations is given (UNI-SEG-3), which rank of a merge that
is listed twice counts (`bpe_merge_order`), and results that depend on numbers that are too close to call (TERM-5).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeAlias
from unicodedata import category

from tokspec.fuzz.characters import has_newer
from tokspec.protocol.spans import UNITS

Result: TypeAlias = Mapping[str, Any]
Ask: TypeAlias = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Result]
_Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Answers:
    """A request with the oracle's result and the implementation's result.

    ``choices`` are those of the judged implementation; ``ask`` makes another request to the oracle, and returns an
    empty result if it refuses.
    """

    model: Mapping[str, Any]
    operation: str
    input: Mapping[str, Any]
    right: Result
    given: Result
    choices: Mapping[str, str]
    ask: Ask


def allowed(answers: Answers) -> Result | None:
    """Return the expected result, adapted to the given answer where it is open; None if no clause defines it.

    >>> right, given = {"pieces": [["▁", 0, 0]]}, {"pieces": [["▁", 0, 1]]}
    >>> allowed(Answers({}, "pre_tokenize", {"text": " a"}, right, given, {"offset_unit": "code_point"}, max))
    {'pieces': [['▁', 0, 1]]}
    """
    model, operation, input = answers.model, answers.operation, answers.input
    if operation == "encode_batch":
        return _allowed_batch(answers)
    if model.keys() & {"normalizer", "pre_tokenizer"}:
        texts = [input.get("text", ""), input.get("pair", ""), *input.get("corpus", {}).get("texts", ())]
        texts += [part.get("text", "") for part in input.get("parts", ())]
        letters = operation != "normalize" and "byte_level" in str(model.get("pre_tokenizer"))
        if has_newer("".join(texts), letters):
            return None
    if operation in ("encode", "pre_tokenize"):
        answers = replace(answers, right=_with_open_spans(answers))
    by_type = _BY_TYPE.get(model.get("type", ""))
    return by_type(answers) if by_type else answers.right


def _allowed_batch(answers: Answers) -> Result | None:
    """Return the expected result for a batch, encoding by encoding."""
    mine, other = answers.right["encodings"], answers.given.get("encodings")
    if not isinstance(other, list) or len(mine) != len(other):
        return answers.right
    rows = zip(answers.input["inputs"], mine, other, strict=True)
    found = [
        allowed(replace(answers, operation="encode", input=row, right=right, given=given)) for row, right, given in rows
    ]
    return None if None in found else {"encodings": found}


# Spans

#: The characters that ``bert`` sets apart (NORM-BERT-3): the spaces around one may end a token and begin the next.
_IDEOGRAPH = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f]"
)


def _with_open_spans(answers: Answers) -> Result:
    right, is_encoding = answers.right, answers.operation == "encode"
    parts, others = right.get("overflowing", ()), answers.given.get("overflowing", ())
    if parts and len(parts) == len(others):
        cut = [replace(answers, right=part, given=other) for part, other in zip(parts, others, strict=True)]
        right = {**right, "overflowing": [_with_open_spans(each) for each in cut]}
    key, first = ("spans", 0) if is_encoding else ("pieces", 1)
    mine, other = right.get(key), answers.given.get(key)
    if not isinstance(mine, list) or not isinstance(other, list) or len(mine) != len(other):
        return right
    spaced = answers.input["text"] if is_encoding and _keeps_added_spaces(answers.model) else ""
    unit = answers.choices["offset_unit"]
    starts, ends = set(_moved(spaced, unit, 1)), set(_moved(spaced, unit, -1))
    rows = [
        [*row[:first], *seen[first:]] if _is_open(row[first:], seen, first, is_added, starts, ends) else row
        for row, seen, is_added in zip(mine, other, _are_added(answers, mine, first), strict=True)
    ]
    return {**right, key: rows}


def _are_added(answers: Answers, rows: Sequence[Any], first: int) -> list[bool]:
    """Return which rows have only added characters: their spans are empty even before trimming (POST-BYTE-1)."""
    part = answers.model.get("post_processor", {})
    if answers.operation == "encode" and part.get("type") in ("byte_level", "roberta"):
        model = {**answers.model, "post_processor": {**part, "trim_offsets": False}}
        spans = answers.ask("encode", model, answers.input).get("spans", ())
        rows = spans if len(spans) == len(rows) else rows
    return [row[first] == row[first + 1] for row in rows]


def _is_open(span: Sequence[int], seen: Any, first: int, is_added: bool, starts: set[_Span], ends: set[_Span]) -> bool:
    if not isinstance(seen, list) or len(seen) != first + 2:
        return False
    if is_added:
        return True
    (start, end), (seen_start, seen_end) = span, seen[first:]
    return (seen_start == start or (start, seen_start) in starts) and (seen_end == end or (end, seen_end) in ends)


def _keeps_added_spaces(model: Mapping[str, Any]) -> bool:
    """Return whether spaces that ``bert`` adds may get into tokens: no stage drops them, or one marks them."""
    cuts = str(model.get("pre_tokenizer"))
    drops, marks = "'bert'" in cuts or "'whitespace_split'" in cuts, "'byte_level'" in cuts or "'metaspace'" in cuts
    return (marks or not drops) and "'bert'" in str(model.get("normalizer"))


def _moved(text: str, unit: str, way: int) -> Iterator[_Span]:
    """Return where a token may start or end instead if it also covers the space next to an ideograph.

    With ``way`` 1, these are the places after an ideograph, paired with its start, where the next token may start; with
    -1, the places before one, paired with its end, where the token before may end. Between them are characters that may
    be removed.
    """
    length = UNITS[unit]
    for place in (match.start() for match in _IDEOGRAPH.finditer(text)):
        near, far = (place + 1, place) if way > 0 else (place, place + 1)
        yield length(text[:near]), length(text[:far])
        while 0 <= (beside := near if way > 0 else near - 1) < len(text) and category(text[beside])[0] in "CM":
            near += way
            yield length(text[:near]), length(text[:far])


# BPE and WordPiece


def _of_bpe(answers: Answers) -> Result | None:
    """Allow the result of using the last place of merges that are listed twice, if any place may count."""
    choices, given = answers.choices, answers.given
    merges = [tuple(pair) for pair in answers.model.get("merges", ())]
    is_open = choices["bpe_merge_order"] == "lowest_rank" and choices["bpe_pairs"] == "listed"
    if answers.operation not in ("encode", "encode_parts") or not is_open or len(set(merges)) == len(merges):
        return answers.right
    last = [list(pair) for pair in reversed(dict.fromkeys(reversed(merges)))]
    other = answers.ask(answers.operation, {**answers.model, "merges": last}, answers.input)
    is_other = any(other.get(key, 0) == given.get(key, 1) for key in ("tokens", "ids"))
    return None if is_other else answers.right


#: Operations that depend on WordPiece's scores, which are quotients of counts (WP-TRAIN-3), and the largest count with
#: exact scores.
_BY_SCORES = ("train", "training_trace", "training_state", "best_pair", "pair_scores")
_EXACT_COUNT = 2**25


def _of_wordpiece(answers: Answers) -> Result | None:
    counts = [count for _, count in answers.input.get("corpus", {}).get("words", ())]
    if answers.operation not in _BY_SCORES:
        return answers.right
    if max(counts, default=0) > _EXACT_COUNT:
        return None
    if answers.operation == "pair_scores" and 0 in counts:  # no clause orders the pairs of words of count 0
        mine, other = answers.right["pairs"], answers.given.get("pairs", ())
        return answers.given if sorted(map(repr, mine)) == sorted(map(repr, other)) else answers.right
    return answers.right


# Unigram

#: By how much the cost of an unknown character exceeds that of the least probable token.
_UNKNOWN = 10.0

#: Longer texts take too long to be segmented here.
_LONGEST = 400


def close(left: float, right: float) -> bool:
    """Return whether two sums agree, or are too close to call (TERM-5).

    >>> close(0.1 + 0.2, 0.3), close(1.0, 1.001), close(math.inf, math.inf)
    (True, False, True)
    """
    return left == right or abs(left - right) <= 1e-9 * max(1.0, abs(right))


@dataclass(frozen=True)
class Costs:
    """The negative logarithm of every token's probability; ``exact`` is whether sums of a few are not rounded."""

    costs: Mapping[str, float]
    exact: bool = False

    def of(self, tokens: Sequence[str]) -> float:
        """Return the cost of a segmentation; infinite if one of its tokens is not in the model.

        >>> Costs({"a": 1.0, "ab": 1.5}).of(["a", "ab"]), Costs({}).of(["a"])
        (2.5, inf)
        """
        return math.fsum(self.costs.get(token, math.inf) for token in tokens)

    def forward(self, word: str) -> list[float]:
        """Return the lowest cost of the word up to each position, from 0; infinite if it has no segmentation.

        >>> Costs({"a": 1.0, "ab": 1.5}).forward("ab")
        [0.0, 1.0, 1.5]
        """
        best = [0.0] + [math.inf] * len(word)
        for end in range(1, len(word) + 1):
            for start in range(end):
                token = word[start:end]
                if token in self.costs:
                    best[end] = min(best[end], best[start] + self.costs[token])
        return best


def costs_of(model: Mapping[str, Any]) -> Costs:
    """Read the costs of a Unigram model.

    >>> costs_of({"type": "unigram", "tokens": [["a", -1.5]], "weights": "log_probability"})
    Costs(costs={'a': 1.5}, exact=True)
    """
    weights = dict(model.get("tokens", ()))
    if model.get("weights") == "log_probability":
        exact = all(float(weight * 4096).is_integer() and abs(weight) < 1024 for weight in weights.values())
        return Costs({token: -weight for token, weight in weights.items()}, exact)
    total = sum(weights.values())
    return Costs({token: -math.log(weight / total) if weight else math.inf for token, weight in weights.items()})


def _of_unigram(answers: Answers) -> Result | None:
    if answers.operation in ("train", "training_trace", "prune_step"):
        return answers.right if _is_pruning_clear(answers) else None
    costs = costs_of(answers.model)
    if answers.operation == "nbest":
        return _of_nbest(answers, costs)
    is_open = answers.choices["unigram_tie"] == "any" or not costs.exact
    if is_open and answers.operation in _WITH_TIES:
        return _WITH_TIES[answers.operation](answers, costs)
    return answers.right


def _is_tied(costs: Costs, right: Sequence[str], given: Any) -> bool:
    """Return whether two lists of tokens spell the same word at the same cost."""
    is_list = isinstance(given, list) and all(isinstance(token, str) for token in given)
    return is_list and "".join(right) == "".join(given) and close(costs.of(given), costs.of(right))


def _of_segmenting(answers: Answers, costs: Costs) -> Result:
    right, tokens = answers.right, answers.given.get("tokens")
    return {**right, "tokens": tokens} if _is_tied(costs, right["tokens"], tokens) else right


def _of_table(answers: Answers, costs: Costs) -> Result:
    rows, others = answers.right["table"], answers.given.get("table")
    if not isinstance(others, list) or len(rows) != len(others):
        return answers.right
    tied = [
        [other[0], row[1]] if row and isinstance(other, list) and other and _is_tied(costs, row[0], other[0]) else row
        for row, other in zip(rows, others, strict=True)
    ]
    return {"table": tied}


def _of_nbest(answers: Answers, costs: Costs) -> Result:
    """Allow any order of segmentations that are too close to call (UNI-NBEST-1)."""
    mine, other = answers.right["segmentations"], answers.given["segmentations"]
    is_complete = len(other) == len(mine) == len({*map(str, other)})
    is_tied = is_complete and all(_is_tied(costs, *rows) for rows in zip(mine, other, strict=True))
    return answers.given if is_tied else answers.right


def _of_encoding(answers: Answers, costs: Costs) -> Result | None:
    right, given, model, text = answers.right, answers.given, answers.model, answers.input["text"]
    listed, special = list(costs.costs), model.get("special_tokens", ())
    if "pair" in answers.input or model.keys() & _ASSEMBLED:
        is_same = "tokens" not in given or _all_tokens(given) == _all_tokens(right)
        return right if is_same else None
    tokens = given["tokens"] if "tokens" in given else _named(given.get("ids"), listed)
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        return right
    layouts = _Layouts(model, costs, answers.choices["unigram_unknown"] == "run")
    is_same = tokens == right["tokens"]
    if is_same and (given.get("spans", right["spans"]) == right["spans"] or layouts.unknown not in tokens):
        return right
    if any(token in text for token in special):
        return _of_stretches(special, layouts, tokens, right)
    normalized = answers.ask("normalize", model, {"text": text}).get("text", text) if "normalizer" in model else text
    found = answers.ask("pre_tokenize", model, {"text": normalized}).get("pieces", ())
    pieces = [piece for piece, *_ in found]
    mine, other = (layouts.lay(each, pieces) for each in (right["tokens"], tokens))
    if mine is None or other is None or not close(mine[0], other[0]) or (is_same and other[1] < 2):
        return right
    ids = {token: id for id, token in enumerate(listed)}
    return {"tokens": tokens, "ids": [ids.get(token) for token in tokens], "spans": given.get("spans")}


def _of_parts(answers: Answers, costs: Costs) -> Result | None:
    """Allow other ids that spell the same parts at the same cost."""
    right, given = answers.right["ids"], answers.given.get("ids")
    if given != right and answers.model.keys() & _ASSEMBLED:
        return None
    mine, other = (_named(ids, list(costs.costs)) for ids in (right, given))
    return answers.given if mine is not None and _is_tied(costs, mine, other) else answers.right


#: Components that add tokens to those of the text, or remove some; ties are not examined then.
_ASSEMBLED = {"added_tokens", "post_processor", "truncation", "padding", "byte_fallback"}


def _all_tokens(encoding: Result) -> list[Any]:
    """Return the tokens of an encoding and of its overflowing parts."""
    return [encoding["tokens"], *(part.get("tokens") for part in encoding.get("overflowing", ()))]


def _named(ids: Any, listed: Sequence[str]) -> list[str] | None:
    """Return the tokens of ids; None if one is not an id."""
    known = dict(enumerate(listed))
    return [known[id] for id in ids] if isinstance(ids, list) and all(id in known for id in ids) else None


def _of_stretches(special: Sequence[str], layouts: _Layouts, tokens: Sequence[str], right: Result) -> Result | None:
    """Compare the tokens between special tokens; stretches in which unknown tokens hide the text are not compared."""
    mine, other = (_split(each, special) for each in (right["tokens"], tokens))
    if len(mine) != len(other):
        return right
    for ours, theirs in zip(mine, other, strict=True):
        is_hidden = layouts.unknown in ours and layouts.unknown in theirs
        if ours != theirs and not is_hidden and not _is_tied(layouts.costs, ours, theirs):
            return right
    return None


def _split(tokens: Sequence[str], special: Sequence[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for token in tokens:
        if token in special:
            found.append([])
        else:
            found[-1].append(token)
    return found


class _Layouts:
    """The ways in which tokens of a Unigram model can represent a text; ``runs`` means `unigram_unknown: run`."""

    def __init__(self, model: Mapping[str, Any], costs: Costs, runs: bool) -> None:
        self.costs, self.unknown, self._runs = costs, model.get("unknown_token"), runs
        finite = [cost for cost in costs.costs.values() if math.isfinite(cost)]
        self._strange = max(finite, default=0.0) + _UNKNOWN

    def lay(self, tokens: Sequence[str], pieces: Sequence[str]) -> tuple[float, int] | None:
        """Return the lowest cost at which tokens represent pieces, and in how many ways; None if they do not."""
        text, ends = "".join(pieces), list(accumulate(map(len, pieces)))
        if len(text) > _LONGEST:
            return None
        reached, before = {0: (0.0, 1)}, ""
        for token in tokens:
            onward: dict[int, tuple[float, int]] = {}
            for start, (cost, ways) in reached.items():
                stop = next((end for end in ends if end > start), start)
                is_cut = start == 0 or start in ends
                if token == before == self.unknown and self._runs and not is_cut:
                    continue  # adjacent unknown tokens become one
                for end, more in self._steps(token, text[start:stop], is_cut):
                    best, many = onward.get(start + end, (math.inf, 0))
                    total = cost + more
                    if many and close(total, best):
                        onward[start + end] = (best, many + ways)
                    elif not many or total < best:
                        onward[start + end] = (total, ways)
            reached, before = onward, token
        return reached.get(len(text))

    def _steps(self, token: str, rest: str, is_cut: bool) -> Iterator[tuple[int, float]]:
        """Return how much of a piece's rest a token may represent, at what cost; ``is_cut``: the rest is the piece."""
        if token == self.unknown and self._runs:
            yield from self._runs_of_unknown(rest)
        elif token in self.costs.costs and rest.startswith(token):
            yield len(token), self.costs.costs[token]
        if token == self.unknown and not self._runs and is_cut and math.isinf(self.costs.forward(rest)[-1]):
            yield len(rest), 0.0

    def _runs_of_unknown(self, rest: str) -> Iterator[tuple[int, float]]:
        """Return the ends of runs of characters that are not tokens, or that spell the unknown token."""
        costs, spelled = self.costs.costs, self.unknown or ""
        least = {0: 0.0}
        for at in range(len(rest)):
            steps = [] if rest[at] in costs else [(at + 1, self._strange)]
            if spelled in costs and rest.startswith(spelled, at):
                steps.append((at + len(spelled), costs[spelled]))
            for end, cost in steps if at in least else ():
                least[end] = min(least.get(end, math.inf), least[at] + cost)
        yield from ((end, cost) for end, cost in least.items() if end)


_WITH_TIES: Mapping[str, Callable[[Answers, Costs], Result | None]] = {
    "encode": _of_encoding,
    "encode_parts": _of_parts,
    "segment": _of_segmenting,
    "viterbi": _of_table,
}


#: By how much weights are moved to find out whether a pruning step depends on numbers that are too close to call.
_MOVED = 1e-7


def _is_pruning_clear(answers: Answers) -> bool:
    """Return whether no pruning step on the way to the target depends on increases that are too close to call.

    The oracle takes each step three times: with the weights as they are, and with each token's weight moved a little to
    either side. If increases nearly tie, different tokens are removed on the two sides. Tokens that no word uses tie
    whatever their weights are, and stay.
    """
    model, input, ask = answers.model, answers.input, answers.ask
    words = ask("count_words", model, {"corpus": input["corpus"]}).get("words", ())
    if answers.operation == "prune_step":
        if model.get("weights") == "log_probability":
            return False
        tokens = dict(model["tokens"])
        target = len(tokens) - 1
    else:
        start = ask("initial_vocabulary", model, {"corpus": input["corpus"], "initial_size": input["initial_size"]})
        tokens, target = dict(start.get("tokens", ())), input["vocabulary_size"]
    step = {"corpus": {"words": words}, "fraction": input["fraction"]}
    while len(tokens) > target:
        moved = [_moved_weights(tokens, by) for by in (0.0, _MOVED, -_MOVED)]
        removed, *others = [set(ask("prune_step", each, step).get("removed", ())) for each in moved]
        if any(other != removed for other in others):
            return False
        if not removed:
            break
        tokens = {token: weight for token, weight in tokens.items() if token not in removed}
    return True


def _moved_weights(tokens: Mapping[str, float], by: float) -> Mapping[str, Any]:
    """Return a model whose weights are moved, each by its own share."""
    rows = [[token, weight * (1 + by * math.sin(place))] for place, (token, weight) in enumerate(tokens.items(), 1)]
    return {"type": "unigram", "tokens": rows}


_BY_TYPE: Mapping[str, Callable[[Answers], Result | None]] = {
    "bpe": _of_bpe,
    "wordpiece": _of_wordpiece,
    "unigram": _of_unigram,
}
