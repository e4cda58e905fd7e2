"""Measure the reference against the documents' own procedures, on text that every Python installation has.

Run ``python conformance/bench/against_documents.py`` from a checkout with the project installed. Both sides run in one
process and their results must be identical; the exit status is 1 otherwise. Seconds depend on the machine: read the
ratio.
"""

from __future__ import annotations

import argparse
import ast
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any, NamedTuple

from tokref import (
    ByteLevel,
    Choices,
    Target,
    Tokenizer,
    Words,
    corpus_loss,
    count_words,
    initial_vocabulary,
    loss_increases,
    train_bpe,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "reference" / "tests"))

import documents  # the oracle of the reference's tests: one copy of the slow procedures

LEFT_OUT = {"site-packages", "test", "tests", "lib2to3", "pydoc_data"}


class Size(NamedTuple):
    """How much is measured."""

    characters: int
    merges: int
    tokens: int
    words: int


FULL = Size(1_000_000, 1_000, 1_000, 1_000)
QUICK = Size(50_000, 100, 200, 200)


class Measured(NamedTuple):
    """What was measured, the seconds of both sides, and whether their results are identical."""

    what: str
    reference: float
    documents: float
    identical: bool


def english() -> Iterator[str]:
    """Give the language's own help, then the docstrings of the standard library, always in the same order."""
    yield from (topics[name] for name in sorted(topics))
    library = Path(sysconfig.get_path("stdlib"))
    for file in sorted(library.rglob("*.py")):
        if not LEFT_OUT & {*file.relative_to(library).parts}:
            yield from docstrings(file)


def first_characters(count: int) -> str:
    """Give so much of the text, and no more than is needed of its sources."""
    parts: list[str] = []
    length = 0
    for part in english():
        parts.append(part)
        length += len(part) + 1
        if length > count:
            break
    return "\n".join(parts)[:count]


def docstrings(file: Path) -> Iterator[str]:
    """Give the docstrings of a source file; one that is not Python of this version gives none."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
        return
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    yield from (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented))


def measure_training(words: Words, size: Size) -> Measured:
    """Train BPE by both procedures; everything that was learned has to agree."""
    training, reference = timed(lambda: train_bpe(words, [], Target(merge_count=size.merges), Choices()))
    (vocabulary, steps, _), slow = timed(lambda: documents.train_bpe(words, [], lambda _, done: done < size.merges))
    identical = (list(training.vocabulary), list(training.steps)) == (vocabulary, steps)
    return Measured(f"BPE training, {size.merges} merges, {len(words)} words", reference, slow, identical)


def measure_losses(words: Words, size: Size) -> Measured:
    """Compute the loss and every loss increase by both procedures, to the last bit."""
    some = dict(islice(words.items(), size.words))
    model = initial_vocabulary(some, size.tokens)
    costs = documents.costs(documents.initial_frequencies(some, size.tokens))
    fast, reference = timed(lambda: (corpus_loss(some, model, Choices()), loss_increases(some, model, Choices())))
    exact, slow = timed(lambda: (documents.loss(some, costs), documents.loss_increases(some, costs)))
    return Measured(f"Unigram loss increases, {size.tokens} tokens, {len(some)} words", reference, slow, fast == exact)


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Give a result and the seconds that it took."""
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def main() -> int:
    """Measure, print, and give the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="use a twentieth of the text, and fewer merges and tokens")
    size = QUICK if parser.parse_args().quick else FULL
    text = first_characters(size.characters)
    words = count_words([text], Tokenizer(pre_tokenizer=ByteLevel()), Choices())
    print(f"{len(text)} characters, {sum(words.values())} pieces, {len(words)} words")
    measured = [measure(words, size) for measure in (measure_training, measure_losses)]
    for what, reference, slow, _ in measured:
        print(f"{what}: reference {reference:.2f} s, documents {slow:.2f} s, ratio {slow / reference:.1f}")
    identical = all(row.identical for row in measured)
    print(f"identical: {'yes' if identical else 'no'}")
    return 0 if identical else 1


if __name__ == "__main__":
    sys.exit(main())
