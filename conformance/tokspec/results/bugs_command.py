"""``tokspec bugs``: search what libraries get wrong, and what their releases changed for better or worse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

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
    "a|an|and|are|as|at|be|by|for|from|hugging|face|in|is|it|its|my|of|on|or|that|the|this|to|was|with", re.IGNORECASE
)

#: What is between two words; C++ is one.
_APART = re.compile(r"(?:[^\w+]|_)+")

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
        """Everything that can be searched, in a form that :func:`_found` understands."""
        return _plain(" ".join((self.library, self.release, self.text, *self.below, *self.clauses)))

    def is_of(self, name: str) -> bool:
        """Return whether a name, in whatever case, is that of the library."""
        return name.lower() == self.library.lower()


@click.command("bugs", short_help="Search the known bugs of libraries, and what releases changed.")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option("--show", type=POSITIVE, default=5, show_default=True, help="Number of entries to show of each list.")
def bugs_command(words: tuple[str, ...], show: int) -> None:
    """Search for an error message, the number of a thread or of a rule, or any words; a library's name may come first.

    The first list is what the release of each library that was judged last gets wrong, the commonest first. The second
    list is what releases changed, for better or worse, from release notes, merged changes and published sources. If no
    entry has all words, those that have most of them are shown.

    \b
    tokspec bugs DJL
    tokspec bugs tokenizers truncation left
    tokspec bugs "Truncation error: Second sequence not provided"

    Exit status: 0 if an entry is found, 2 if none is.
    """
    wrong, changed = [*_wrong()], [*_changed()]
    question = " ".join(words)
    of_library = [[each for each in entries if each.is_of(words[0])] for entries in (wrong, changed)]
    if any(of_library):
        wrong, changed = of_library
        question = " ".join(words[1:])
    wanted = words_of(question)
    hits = [found(entry, wanted) for entry in (*wrong, *changed)]
    most = max(hits, default=0)
    if most * 2 < len(wanted):
        raise DataError("nothing that is recorded has these words; use fewer or other words", key=" ".join(words))
    if most < len(wanted):
        click.echo("No entry has all of these words; these have the most of them.\n")
    matching = [[each for each in entries if found(each, wanted) == most] for entries in (wrong, changed)]
    for title, entries in zip(("Wrong today", "Changed by releases"), matching, strict=True):
        if entries:
            say(_lines(title, entries, show))


def words_of(question: str) -> list[str]:
    """Return the words to look for, without those that say nothing.

    >>> words_of("truncation on the left")
    ['truncation', 'left']
    """
    words = [word for word in question.split() if _plain(word).strip()]
    return [word for word in words if not _LITTLE.fullmatch(word)] or words


def found(entry: Entry, wanted: Sequence[str]) -> int:
    """Count the words that an entry has; the last letter of a plural may be missing."""
    return sum(
        any(_plain(form) in entry.plain for form in (word, re.sub(r"(?<=\w{3})s$", "", word))) for word in wanted
    )


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
