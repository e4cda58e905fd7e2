"""``tokspec bugs``: search what libraries get wrong, and what their releases changed for better or worse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import click

from tokspec.base.display import shorten, visible
from tokspec.base.errors import DataError
from tokspec.cli.options import POSITIVE
from tokspec.report.text import say
from tokspec.results.changes import read_changes
from tokspec.results.recorded import read_libraries
from tokspec.suite.fixtures import load_suite

#: Words of a question that say nothing about a bug.
_LITTLE = re.compile(
    "a|an|and|are|as|at|be|by|do|does|for|from|hugging|face|in|is|it|its|my|of|on|or|that|the|this|to|was|when|where|with",
    re.IGNORECASE,
)

#: What is between two words; C++ is one.
_APART = re.compile(r"(?:[^\w+]|_)+")

#: The end of a word within a name such as TruncateEncodings.
_CAMEL = re.compile(r"([a-z])(?=[A-Z])")

#: The most characters of a reason that are shown.
_LONGEST = 400


@dataclass(frozen=True)
class Entry:
    """What a release of a library gets wrong or changed, and the lines that are shown below it."""

    library: str
    release: str
    text: str
    below: Sequence[str] = ()
    clauses: Sequence[str] = ()

    @cached_property
    def plain(self) -> str:
        """Everything that can be searched, in the form that :func:`_plain` returns."""
        text = " ".join((self.library, self.release, self.text, *self.below, *self.clauses))
        return _plain(text) + _plain(_CAMEL.sub(r"\1 ", text))

    def has(self, word: str) -> bool:
        """Return whether a word of the entry begins so; the last letter of a plural may be missing."""
        return any(_plain(form) in self.plain for form in (word, re.sub(r"(?<=\w{3})s$", "", word)))

    def is_of(self, name: str) -> bool:
        """Return whether a name, in whatever case, is that of the library or of its owner."""
        return f"{self.library.lower()}/".startswith(f"{name.lower()}/")


@click.command("bugs", short_help="Search the known bugs of libraries, and what releases changed.")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option("--show", type=POSITIVE, default=5, show_default=True, help="Number of entries to show of each list.")
def bugs_command(words: tuple[str, ...], show: int) -> None:
    """Search for an error message, the number of a thread or of a rule, or any words; a library's name may come first.

    The first list is what the release of each library that was judged last gets wrong, the commonest first. The second
    list is what releases changed, for better or worse, from release notes, merged changes and published sources. If no
    entry has all words, those that fit best are shown; a rare word counts more than a common one.

    \b
    tokspec bugs DJL
    tokspec bugs tokenizers truncation left
    tokspec bugs "Truncation error: Second sequence not provided"

    Exit status: 0 if an entry is found, 2 if none is.
    """
    wrong, changed = [*_wrong()], [*_changed()]
    entries = [*wrong, *changed]
    of_library = [entry for entry in entries if entry.is_of(words[0])]
    found, is_whole = search(of_library, words_of(" ".join(words[1:])), entries)
    if not found:
        found, is_whole = search(entries, words_of(" ".join(words)), entries)
    if not found:
        raise DataError("nothing that is recorded has these words; use fewer or other words", key=" ".join(words))
    if not is_whole:
        click.echo("No entry has all of these words; these fit best.\n")
    for title, titled in (("Wrong today", wrong), ("Changed by releases", changed)):
        if matching := [entry for entry in titled if entry in found]:
            say(_lines(title, matching, show))


def search(entries: Sequence[Entry], wanted: Sequence[str], everything: Sequence[Entry]) -> tuple[list[Entry], bool]:
    """Return the entries that have the wanted words, and whether they have all.

    If none has all, the entries that have the rarest words are returned, if that is half of what the words weigh. A
    word weighs the more, the fewer of ``everything`` have it.
    """
    weights = [log(2 + len(everything)) - log(1 + sum(entry.has(word) for entry in everything)) for word in wanted]
    scores = [sum(weight for word, weight in zip(wanted, weights, strict=True) if entry.has(word)) for entry in entries]
    best = max(scores, default=0.0)
    found = [entry for entry, score in zip(entries, scores, strict=True) if score == best and score * 2 >= sum(weights)]
    return found, all(entry.has(word) for entry in found[:1] for word in wanted)


def words_of(question: str) -> list[str]:
    """Return the words to look for, without those that say nothing.

    >>> words_of("truncation on the left")
    ['truncation', 'left']
    """
    words = [word for word in question.split() if _plain(word).strip()]
    return [word for word in words if not _LITTLE.fullmatch(word)] or words


def _plain(text: str) -> str:
    """Return the words of a text in lower case, with a space before each."""
    return " " + _APART.sub(" ", text.lower()).strip()


def _wrong() -> Iterator[Entry]:
    cases = load_suite().cases
    for library in read_libraries():
        name, _, release = library.name.rpartition(" ")
        for bug in library.bugs:
            clauses = cases[bug.case].clauses if bug.case in cases else ()
            count = f"{bug.cases} cases" if bug.cases > 1 else "a case"
            below = [*(f"says: {message}" for message in bug.messages), f"{count}: tokspec cases {bug.case}"]
            yield Entry(name, release, bug.reason, below, clauses)


def _changed() -> Iterator[Entry]:
    for change in read_changes():
        yield Entry(
            change.library, change.release, change.text, [change.thread] if change.thread else (), change.clauses
        )


def _lines(title: str, entries: Sequence[Entry], show: int) -> Iterator[str]:
    yield f"{title}: {len(entries)}"
    for entry in entries[:show]:
        yield visible(f"  {entry.library} {entry.release}: {shorten(entry.text, _LONGEST)}")
        yield from (visible(f"      {line}") for line in entry.below)
    if len(entries) > show:
        yield f"  … and {len(entries) - show} more; add words, or give --show {len(entries)}"
    yield ""
