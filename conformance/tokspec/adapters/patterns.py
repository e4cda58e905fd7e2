"""Read a pattern with the reference's reader: the sets by which it tells characters apart, and its alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import regex

from tokref.choices import Choices
from tokref.errors import InputError
from tokref.patterns import ALIKE, Pattern, PatternReader, compile_pattern
from tokref.reading.ceilings import refuse_heavy_pattern
from tokspec.adapter import Refusal

#: The reader's output for an atom: sets, line feeds, word boundaries, ends of the text, and the syntax around them.
_WRITTEN = regex.compile(
    r"(?P<set>\[(?:[^][\\]|\\.|(?&set))*\])|(?P<line>\\n\??)|(?P<word>\\[bB])|\\[AZzG]|\(\?(?:[:>=!]|<[=!])|[|)]",
    regex.DOTALL,
)
_GROUP = regex.compile(r"\(\?(?:[:>=!]|<[=!])|\((?!\?)")


def read_sets(
    sources: Sequence[str], options: Mapping[str, str]
) -> tuple[dict[str, str], list[tuple[str, regex.Pattern[str]]]]:
    r"""Return the character sets of some patterns under options of choices, and the patterns' compiled alternatives.

    A key is a set as the package ``regex`` writes it; its value is the set as it is first written in a pattern.

    Raises:
        Refusal: with the reference's reason; also ``unsupported`` where more than sets tells characters apart.

    >>> read_sets([r"a[^\s]|\d"], {})[0]
    {'[\\U00000061]': 'a', '[^\\p{White_Space}]': '[^\\s]', '[\\p{Nd}]': '\\d'}
    """
    choices = Choices.from_mapping({name: options[name] for name in options if name != "offset_unit"})
    sets, alternatives = dict[str, str](), list[tuple[str, regex.Pattern[str]]]()
    try:
        for source in sources:
            reader = _SetReader(source, choices)
            sets |= {written: name for written, name in reader.sets.items() if written not in sets}
            alternatives += [(each, compile_pattern(each, choices)) for each in reader.alternatives_apart()]
    except InputError as error:
        raise Refusal(error.reason, error.message) from error
    return sets, alternatives


def matches_nothing(source: str, texts: Sequence[str], options: Mapping[str, str]) -> bool:
    """Return whether a pattern has an empty match in one of some texts; a pattern that is refused has none.

    >>> matches_nothing("a*", ["b"], {}), matches_nothing("a+", ["b"], {})
    (True, False)
    """
    choices = Choices.from_mapping({name: options[name] for name in options if name != "offset_unit"})
    try:
        refuse_heavy_pattern(source)
        found = [span for text in texts for span in Pattern(source).search(text, choices, _SECONDS)]
    except (InputError, TimeoutError):
        return False
    return any(start == end for start, end in found)


#: How long a search may take.
_SECONDS = 1.0


def alike(character: str) -> Sequence[str]:
    """Return all characters with the same simple case folding as a character; none if it has no case.

    >>> alike("s"), alike("1")
    (['S', 's', 'ſ'], ())
    """
    return ALIKE.get(character, ())


class _SetReader(PatternReader):
    """Collects the sets of a pattern, each as it is written for the package ``regex`` and as its author wrote it.

    Raises:
        InputError: ``unsupported``, also for what the specification has and this reader cannot take apart.
    """

    def __init__(self, source: str, choices: Choices) -> None:
        super().__init__(source, choices)
        refuse_heavy_pattern(source)
        self.sets: dict[str, str] = {}
        self._starts, self._depth = [0], 0
        compile_pattern(source, choices)
        self.read()

    def alternatives_apart(self) -> list[str]:
        """Return the alternatives of the whole pattern."""
        ends = [start - 1 for start in self._starts[1:]] + [len(self.source)]
        return [self.source[start:end] for start, end in zip(self._starts, ends, strict=True)]

    def alternatives(self, depth: int) -> str:
        outer, self._depth = self._depth, depth
        written = super().alternatives(depth)
        self._depth = outer
        return written

    def take(self, expected: str) -> bool:
        is_taken = super().take(expected)
        if is_taken and expected == "|" and not self._depth:
            self._starts.append(self.place)
        return is_taken

    def atom(self, depth: int) -> str:
        start = self.place
        written = super().atom(depth)
        source = self.source[start : self.place]
        if source.startswith("("):  # the atoms in the group were read already
            at = len(written) if _GROUP.match(written) else 0
        else:
            at = 0
            while match := _WRITTEN.match(written, at):
                at = match.end()
                found = match["set"] or (match["line"] and r"[\n]") or (match["word"] and r"[\w]")
                if found:
                    self.sets.setdefault(found, source)
        if at < len(written):
            raise InputError("unsupported", f"the pattern has {source!r}, which does not tell characters apart by sets")
        return written
