"""Exhaustive lexing: all short texts over one character from each class of characters that a pattern tells apart.

The shortest texts come first, each written in three ways: with the most readable characters, with some beyond ASCII,
and with some beyond U+FFFF. The texts over all characters that ``pattern_classes`` selects are tried too, each length
of them when there are fewer such texts than texts of the next length over the classes.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, islice, product, zip_longest
from time import monotonic

from tokspec.base.display import compact
from tokspec.base.errors import DataError
from tokspec.compare.shrink import Question, minimize_sequence
from tokspec.fuzz.campaign import Budget, Campaign
from tokspec.fuzz.checker import Asked, Checker, Comparison
from tokspec.fuzz.findings import Finding, Findings, finding_of
from tokspec.fuzz.pattern_classes import Lexicon
from tokspec.protocol.messages import Answer, is_unsupported

#: How many texts are sent at once at most, and for how many seconds; the budget is checked between these blocks.
_AT_ONCE, _BLOCK_SECONDS = 256, 0.5

#: How many texts may end or hang the program before the campaign ends.
_MOST_DEADLY = 5


class Lexing(Campaign):
    """A campaign that pre-tokenizes all texts over the classes of a pattern, shortest first.

    ``lengths`` counts the texts of each length. Differences with the same cause are one finding. A cause is the first
    alternative of the pattern that matches where the pieces diverge, and how the piece is wrong.

    Raises:
        DataError: the implementation does not offer the operation, or refuses the pattern.
    """

    def __init__(
        self, checker: Checker, lexicon: Lexicon, budget: Budget, progress: Callable[[Campaign], None]
    ) -> None:
        super().__init__(checker, 0, budget, (), progress)
        self.lexicon, self.model = lexicon, {"pre_tokenizer": lexicon.pre_tokenizer}
        ((reply,),) = self.checker.judged.ask(self.model, [self._asked(self.lexicon.ways[0][0])])
        if is_unsupported(reply):
            hello = self.checker.hello
            raise DataError(f"cannot be asked for pieces: {reply.message}", key=f"{hello.name} {hello.version}")
        self.lengths, self._length_done = Counter[int](), {False: 0, True: 0}
        self._by_cause, self._deadly, self._at_once = dict[tuple[str, str], Finding](), list[str](), 1

    def run(self, given_first: Sequence[Question] = ()) -> Findings:
        """Try texts until the budget is spent, or somebody interrupts; ``given_first`` is not used."""
        try:
            for length, is_of_members in self._jobs():
                before = self.tally.examples
                if not self._ask_all(self._texts(length, is_of_members)):
                    break
                self._length_done[is_of_members] = length
                if self.tally.examples == before or not (self.tally.answered or len(self.findings)):
                    break  # every text contains one that ends the program, or nothing is answered
        except KeyboardInterrupt as interruption:
            if type(interruption) is not KeyboardInterrupt:
                raise
            self.interrupted = True
        return self.findings

    def _jobs(self) -> Iterator[tuple[int, bool]]:
        """Return the sets of texts to try, smallest first: a length, and whether over all members or the classes."""
        ways, size, members = len(self.lexicon.ways), len(self.lexicon.classes), len(self.lexicon.members)
        of_classes = ((ways * max(2, size) ** length, length, False) for length in count(1))
        of_members = ((max(2, members) ** length, length, True) for length in count(1))
        for _, length, is_of_members in heapq.merge(of_classes, of_members):
            if is_of_members or length > self._length_done[True]:
                yield length, is_of_members

    def _texts(self, length: int, is_of_members: bool) -> Iterator[str]:
        """Return all texts of a length that were not tried before."""
        asked = list(map(set, self.lexicon.ways)) if is_of_members and length <= self._length_done[False] else []
        for characters in [self.lexicon.members] if is_of_members else self.lexicon.ways:
            for text in map("".join, product(characters, repeat=length)):
                if not any(each.issuperset(text) for each in asked):
                    yield text
            asked.append(set(characters))

    def _ask_all(self, texts: Iterable[str]) -> bool:
        """Try texts block by block, and return whether there was time for all of them."""
        rest = iter(texts)
        while block := list(islice(rest, self._at_once)):
            if self._is_over():
                return False
            began = monotonic()
            left = self._survived(block)
            most = len(left) if self.budget.examples is None else self.budget.examples - self.tally.examples
            left, is_cut = left[:most], len(left) > most
            while left := self._survived(left):
                if self._is_over():
                    return False
                compared = list(self.checker.compare(self.model, list(map(self._asked, left))))
                for text, (_, comparison) in zip(left, compared, strict=False):  # a text that hangs ends the list early
                    self._tell_one(text, comparison)
                left = left[len(compared) :]
            if is_cut:
                return False
            self.progress(self)
            pace = self._at_once * _BLOCK_SECONDS / max(monotonic() - began, 1e-9)
            self._at_once = max(1, min(2 * self._at_once, _AT_ONCE, int(pace)))
        return True

    def _survived(self, texts: Sequence[str]) -> list[str]:
        """Leave out texts that contain one that ended the program."""
        return [text for text in texts if not any(each in text for each in self._deadly)]

    def _asked(self, text: str) -> Asked:
        return "pre_tokenize", {"text": text}

    def _tell_one(self, text: str, comparison: Comparison) -> None:
        """Count the result of a text, and add it to the findings if it differs."""
        self.tally.examples += 1
        self.lengths[len(text)] += 1
        self._count("pre_tokenize", comparison)
        if comparison.is_death:
            self._deadly.append(text)
        if comparison.state == "differs":
            key = self._key(comparison)
            if key in self._by_cause:
                self._by_cause[key].times += 1
            else:
                self._add_finding(text, comparison, key)

    def _add_finding(self, text: str, comparison: Comparison, key: tuple[str, str]) -> None:
        compared = {text: comparison}

        def shows(several: list[str]) -> list[bool]:
            compared.update((each, self.checker.compare_one(self._question(each))) for each in several)
            return [compared[each].state == "differs" and self._key(compared[each]) == key for each in several]

        smallest = text if comparison.is_death else minimize_sequence(text, shows)
        finding = finding_of(self._question(smallest), compared[smallest])
        finding.cause, finding.examples, finding.seconds = key[1], self.tally.examples, self.seconds
        if not comparison.is_death:
            finding.needs_others = not self.checker.differs_alone(finding.question)
        self._by_cause[key] = finding
        self.findings.found.append(finding)

    def _question(self, text: str) -> Question:
        return Question(self.model, *self._asked(text))

    def _key(self, comparison: Comparison) -> tuple[str, str]:
        """Return the kind of a difference, and its cause: the alternative where pieces diverge, and what is wrong."""
        result = comparison.result
        if result is None or comparison.kind != "pieces" or not isinstance(result.reply, Answer):
            return comparison.kind, ""
        rows = list(zip_longest(result.expected["expect"]["pieces"], result.reply.result["pieces"], fillvalue=[""]))
        at = next(place for place, (right, given) in enumerate(rows) if right != given)
        (right, *_), (given, *_) = rows[at]
        text, place = result.case.input["text"], sum(len(row[0]) for row, _ in rows[:at])
        found = ((source, each.match(text, place)) for source, each in self.lexicon.alternatives)
        alternative = next((f"`{source}`" for source, match in found if match and match[0]), "what nothing matches")
        how = "ends early" if right.startswith(given) else "goes on too far" if given.startswith(right) else "differs"
        return "pieces", f"{alternative} {'has another span' if right == given else how}"

    def _is_over(self) -> bool:
        return len(self._deadly) >= _MOST_DEADLY or super()._is_over()

    # Messages

    @property
    def is_short(self) -> bool:
        """Whether not even all of the shortest texts were tried, or none was answered."""
        return not any(self._length_done.values()) or super().is_short

    def summary(self) -> list[str]:
        """Say how many texts of each length were tried, and for which lengths all were: these are proved."""
        counts = ", ".join(f"{number} of length {length}" for length, number in sorted(self.lengths.items()))
        lines = [f"texts tried: {counts or 'none'}"]
        classes, members = f"{len(self.lexicon.classes)} classes", f"{len(self.lexicon.members)} characters"
        if not any(self._length_done.values()):
            return [*lines, f"proved: nothing, because not all of {classes} were tried; give more --seconds"]
        of_all = f", and of {members} up to length {self._length_done[True]}" if self._length_done[True] else ""
        what = "proved" if self.tally.answered == self.tally.examples else "tried, and not all alike"
        lines += [f"{what}: all texts of {classes} up to length {max(self._length_done.values())}{of_all}"]
        deadly = ", ".join(map(compact, self._deadly))
        if deadly:
            lines.append(f"except longer texts that contain one of these, which ended the program: {deadly}")
        if len(self._deadly) >= _MOST_DEADLY:
            lines.append(f"given up after {_MOST_DEADLY} texts that ended the program")
        return lines
