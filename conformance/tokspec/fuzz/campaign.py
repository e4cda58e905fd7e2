"""A campaign: Hypothesis draws examples, both sides answer, and differences are shrunk and set aside.

Hypothesis stops at its first failure. So it is run again and again, each time with the next seed: a difference raises
an exception whose class stands for its operation and kind, and in later runs a difference that a finding explains
raises nothing. Findings are kept in Hypothesis's own database, from which another process replays them.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from unittest import SkipTest

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase
from hypothesis.errors import Flaky

from tokspec.base.errors import DataError
from tokspec.compare.shrink import PASSES, Question, minimize, offer
from tokspec.formats.files import without
from tokspec.fuzz.backend import BACKEND
from tokspec.fuzz.characters import shorter_maps
from tokspec.fuzz.checker import AGAIN, Asked, Checker, Comparison
from tokspec.fuzz.components import components_of
from tokspec.fuzz.families import FAMILIES
from tokspec.fuzz.findings import Findings, finding_of, origin_of
from tokspec.fuzz.strategies import Example, answered_examples, examples
from tokspec.fuzz.survey import Survey, declared, declares_all, survey
from tokspec.suite import schema
from tokspec.suite.schema import definitions

#: Fields of an encoding that say less about a difference than its tokens.
_TELL_LESS = definitions()["encoding"]["properties"].keys() - {"tokens", "ids"}

#: Seconds for shrinking a difference, also if each try ends the program, and if the budget is spent; and for polishing.
_SHRINKING, _SHRINKING_DEATHS, _SHRINKING_LATE, _POLISHING = 20.0, 6.0, 3.0, 3.0

#: How many smaller questions are tried after shrinking, and how many at most if there is only polishing.
_POLISHED, _POLISHED_ALONE = 1000, 4000
_PASSES = (*PASSES, offer(shorter_maps))

#: One example in this many is tried twice.
_ASKED_AGAIN = 16

#: Keys of a model that have their own clauses: if one matters, a difference without it does not explain one with it.
_SPECIAL = ("special_tokens", "added_tokens", "max_word_length", "decoder")


@dataclass(frozen=True)
class Budget:
    """When a campaign ends: after ``seconds`` or ``examples``, whichever comes first; None means no limit."""

    seconds: float | None = None
    examples: int | None = None


@dataclass
class Tally:
    """Counts of a campaign: examples that were tried, and requests by result, by operation and by family.

    ``answered`` counts requests that both sides answered alike, without those that both refused. ``operations`` and
    ``families`` count replies that are not unsupported, ``asked`` all requests for models of a family.
    """

    examples: int = 0
    answered: int = 0
    states: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)


class _Ended(BaseException):
    """The time for searching or shrinking is up; Hypothesis does not catch this exception."""


class _Surveyed(BaseException):
    """A survey was made, and later examples are drawn from what was answered."""


_DIFFERENCES: dict[tuple[str, str], type[AssertionError]] = {}


def _difference(origin: tuple[str, str]) -> type[AssertionError]:
    """Return the exception class for an origin, because Hypothesis tells failures apart by type and place."""
    return _DIFFERENCES.setdefault(origin, type(f"Difference in {' '.join(origin)}", (AssertionError,), {}))


def database_folder(folder: Path, name: str) -> Path:
    """Return the folder for the findings of one implementation against one oracle, with its options.

    >>> database_folder(Path("db"), "my tok 1/2 against x").name
    'my-tok-1-2-against-x'
    """
    file = re.sub(r"[^A-Za-z0-9.]+", "-", name)
    return folder / (f"{file[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}" if len(file) > 100 else file)


#: The database key of questions that are kept as plain values.
_QUESTIONS = b"tokspec questions"


class _Database(ExampleDatabase):
    """Hypothesis's database without the leftovers of shrinking, all of which would be replayed.

    An example is not removed because it passes while it is set aside, and not kept because the time ended with it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, self._kept = folder, DirectoryBasedExampleDatabase(folder)
        self.is_set_aside = self.is_ended = False

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the examples under a key."""
        return () if key.endswith(b".secondary") else self._kept.fetch(key)

    def save(self, key: bytes, value: bytes) -> None:
        """Keep an example that differs."""
        if not self.is_ended and not key.endswith(b".secondary"):
            self._kept.save(key, value)

    def delete(self, key: bytes, value: bytes) -> None:
        """Remove an example that is now answered correctly, or has become smaller."""
        if not self.is_set_aside:
            self._kept.delete(key, value)

    def questions(self) -> list[Question]:
        """Return the questions that were found after a survey, because only the same survey would draw them again.

        Raises:
            DataError: something in the folder is damaged, as by a full disk; saving it again would not repair it.
        """
        found = []
        for written in sorted(self._kept.fetch(_QUESTIONS)):
            question = _read_question(written)
            if question is None:
                raise DataError("is damaged; remove it", str(self._folder))
            found.append(question)
        return found

    def keep(self, question: Question, is_found: bool) -> None:
        """Save a question that needs its survey, or remove it."""
        written = json.dumps(vars(question), sort_keys=True).encode()
        (self._kept.save if is_found else self._kept.delete)(_QUESTIONS, written)


def _read_question(written: bytes) -> Question | None:
    try:
        question = Question(**json.loads(written))
        parts = {"model": question.model, f"operations/{question.operation}/input": question.input}
        is_one = question.operation in schema.operations() and not any(
            error for part, value in parts.items() for error in schema.errors(value, part)
        )
    except (TypeError, ValueError, RecursionError):
        return None
    return question if is_one else None


@dataclass
class _Hunt:
    """One run of Hypothesis: once something differs, only differences of its origin count, until it is shrunk.

    ``is_narrowed`` says that its draws depend on a survey, ``is_surveyed`` that it ended so that the next one draws
    differently, ``is_begun`` that its first example, which is always the same, is over. ``is_special`` says that a
    finding would explain the difference if some key of the model did not matter.
    """

    is_replay: bool
    is_narrowed: bool = False
    is_special: bool = False
    is_surveyed: bool = False
    is_begun: bool = False
    origin: tuple[str, str] | None = None
    best: tuple[Question, Comparison] | None = None
    began: float = 0.0
    examples: int = 0
    seconds: float = 0.0


class Campaign:
    """Searches for differences.

    Args:
        checker: compares both sides.
        seed: the seed of all draws.
        budget: the limits of the campaign.
        families: the families of models, by their names in ``FAMILIES``.
        progress: called after every example.
        enough: the number of findings after which the campaign ends; None means no limit.
        database: the folder in which findings are kept, and from which they are replayed first; None keeps nothing.
        survey: the survey of an earlier campaign with the same implementation; None makes one when it is needed.
    """

    def __init__(
        self,
        checker: Checker,
        seed: int,
        budget: Budget,
        families: Sequence[str] = tuple(FAMILIES),
        progress: Callable[[Campaign], None] = lambda campaign: None,
        enough: int | None = None,
        database: Path | None = None,
        survey: Survey | None = None,
    ) -> None:
        self.checker, self.seed, self.budget, self.families = checker, seed, budget, tuple(families)
        self.progress, self.enough = progress, enough
        self.findings, self.tally, self.began, self.interrupted = Findings(), Tally(), monotonic(), False
        self._database = _Database(database) if database else None
        self._replayed, self.survey = set[str](), survey

    @property
    def seconds(self) -> float:
        """How long the campaign has been running."""
        return monotonic() - self.began

    @property
    def is_short(self) -> bool:
        """Whether too little was answered for a run without findings to mean anything."""
        return not self.tally.answered

    def summary(self) -> list[str]:
        """Describe what was tried, if that takes more than a number."""
        return []

    def run(self, given_first: Sequence[Question] = ()) -> Findings:
        """Try the given questions, replay the database, then search until the budget is spent or somebody interrupts.

        Raises:
            DataError: the implementation offers nothing that is drawn.
        """
        try:
            for question in given_first:
                self._ask_given(question)
            if self._database:
                for question in self._database.questions():
                    self._database.keep(question, self._ask_given(question))
                self._replay()
            if self.survey is None and not declares_all(self.checker.hello) and not self._is_over():
                self._take_survey()
            runs = 0
            while not self._is_over():
                hunt = self._hunt(self._looking(), self.seed * 1_000_003 + runs)
                self._add(hunt)
                if hunt.best is None and not hunt.is_surveyed:
                    break
                runs += 1
        except KeyboardInterrupt as interruption:
            if type(interruption) is not KeyboardInterrupt:  # a subclass of it is handled elsewhere
                raise
            self.interrupted = True
        was_refused = self.survey is not None and any(self.survey.closed.values())
        if self.tally.examples and not self.tally.states and not was_refused:
            raise DataError(self._nothing_to_ask())
        return self.findings

    def _take_survey(self) -> None:
        """Survey what the implementation answers, and count the refused requests of families that are dropped."""
        self.survey = survey(self.checker.hello, self.checker.replies, self.families, self._is_late)
        for family, count in self.survey.closed.items():
            self.tally.asked[family] += count
            self.tally.states["unsupported"] += count

    def _drawn(self) -> st.SearchStrategy[Example]:
        """Return the strategy for examples."""
        offered = self.checker.hello.operations
        if self.survey is None:
            return examples(self.families, offered)
        return answered_examples(self.families, offered, self.survey)

    def _looking(self) -> tuple[Phase, ...]:
        """Return the phases of a hunt: examples that were changed after the draw are shrunk only as plain values."""
        return (Phase.generate, Phase.shrink) if self.survey is None else (Phase.generate,)

    def _is_late(self) -> bool:
        return self.budget.seconds is not None and self.seconds >= self.budget.seconds

    def _is_over(self) -> bool:
        is_spent = self.budget.examples is not None and self.tally.examples >= self.budget.examples
        return is_spent or self._is_late() or (self.enough is not None and len(self.findings) >= self.enough)

    def _nothing_to_ask(self) -> str:
        hello = self.checker.hello
        offered = ", ".join(hello.operations) or "no operation"
        families = "any family" if len(self.families) == len(FAMILIES) else ", ".join(self.families)
        drawn = f"none of {self.tally.examples} examples of {families} asks for it"
        return f"{hello.name} {hello.version} offers {offered}, and {drawn}"

    def _ask_given(self, question: Question) -> bool:
        """Try a question, and return whether it is a finding, which is added."""
        comparison = self.checker.compare_one(question, again=True)
        self._count(question.operation, comparison)
        if comparison.state == "differs":
            self.findings.add(finding_of(question, comparison))
        return comparison.state == "differs"

    def _count(self, operation: str, comparison: Comparison) -> None:
        self.tally.states[comparison.state] += 1
        self.tally.answered += comparison.state == "same" and not comparison.kind
        self.tally.operations[operation] += comparison.state != "unsupported"

    def _replay(self) -> None:
        """Try each kept example once, and add those first that need the fewest components."""
        replayed: list[tuple[int, _Hunt, Question, Comparison]] = []
        while (hunt := self._hunt((Phase.reuse,), 0)).best is not None:
            replayed.append((len(components_of(hunt.best[0].model)), hunt, *hunt.best))
        for _, hunt, question, comparison in sorted(replayed, key=lambda row: row[0]):
            hunt.origin, origin = None, hunt.origin
            self._is_explained(hunt, question, comparison.kind, components_of(question.model))
            hunt.origin = origin
            self._add(hunt)

    def _hunt(self, phases: tuple[Phase, ...], number: int) -> _Hunt:
        """Run Hypothesis until it has found and shrunk something."""
        is_replay = Phase.reuse in phases
        hunt = _Hunt(is_replay, is_narrowed=self.survey is not None and not is_replay)
        strategy = self._drawn()
        left = 10**9 if self.budget.examples is None else self.budget.examples - self.tally.examples

        @settings(
            max_examples=10**6 if is_replay else left + hunt.is_narrowed,  # the first one is skipped
            database=None if hunt.is_narrowed else self._database,
            phases=phases,
            backend=BACKEND,
            deadline=None,
            report_multiple_bugs=False,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @seeded(number)
        @given(strategy)
        def compare_with_the_oracle(example: Example) -> None:
            self._try(hunt, example)

        try:
            compare_with_the_oracle()
        except (_Ended, AssertionError, Flaky, SkipTest):  # Flaky: it doesn't always differ; SkipTest: nothing is kept
            pass
        except _Surveyed:
            hunt.is_surveyed = True
        except KeyboardInterrupt:
            self.interrupted = True
            self._add(hunt)
            raise
        return hunt

    def _try(self, hunt: _Hunt, example: Example) -> None:
        """Compare the replies to an example, and raise if something differs that no finding explains."""
        self._end_in_time(hunt)
        # Hypothesis starts each time with the simplest example, which was tried already.
        if hunt.is_narrowed and not hunt.is_begun and self.tally.examples:
            hunt.is_begun = True
            return
        requests = self._chosen(hunt, example)
        is_again = hunt.is_replay or (hunt.origin[1] == AGAIN if hunt.origin else _is_sampled(example))
        if hunt.origin is None:
            compared = self._compare(example, requests, is_again)
            self._tell(example, compared)
        else:
            compared = list(self.checker.compare(example.model, requests, again=is_again))
        fresh = self._fresh(hunt, example, compared)
        if not fresh:
            is_refused = any(comparison.state == "unsupported" for _, comparison in compared)
            if is_refused and self.survey is None and not hunt.is_replay:
                self._take_survey()
                raise _Surveyed
            return
        if hunt.origin is None:
            hunt.origin, hunt.began = origin_of(fresh[0][0].operation, fresh[0][1].kind), monotonic()
            hunt.examples, hunt.seconds = self.tally.examples, self.seconds
            self._replayed.add(repr(example))
        for question, comparison in fresh:
            is_of_origin = origin_of(question.operation, comparison.kind) == hunt.origin
            if is_of_origin and (hunt.best is None or question.size <= hunt.best[0].size):
                hunt.best = question, comparison
        raise _difference(hunt.origin)

    def _end_in_time(self, hunt: _Hunt) -> None:
        is_over = False
        if hunt.best is not None:
            limit = _SHRINKING_DEATHS if hunt.best[1].is_death else _SHRINKING
            is_over = monotonic() - hunt.began > (min(limit, _SHRINKING_LATE) if self._is_late() else limit)
        elif not hunt.is_replay:
            is_over = self._is_over()
        if self._database:
            self._database.is_ended = is_over
        if is_over:
            raise _Ended

    def _chosen(self, hunt: _Hunt, example: Example) -> list[Asked]:
        """Choose the requests: while shrinking, those that may show the origin again; before, those worth asking."""
        if hunt.origin is not None:
            wanted = {hunt.origin[0], *(("normalize", "pre_tokenize") if hunt.origin[0] == "encode" else ())}
            return (
                [asked for asked in example.requests if asked[0] in wanted]
                if "load" not in wanted
                else [*example.requests[:1]]
            )
        requests = declared(self.checker.hello, example.model, example.requests)
        if self.survey is not None and not hunt.is_replay:
            requests = self.survey.worth_asking(example.family, example.model, requests)
        return self.checker.worth_asking(example.model, requests)

    def _compare(self, example: Example, requests: Sequence[Asked], again: bool) -> list[tuple[Asked, Comparison]]:
        """Compare the replies to requests; after a survey, start with one request for each operation.

        Operations that are refused get no more requests, and if two are refused and none is answered, all others are
        skipped.
        """
        model = example.model
        if self.survey is None:
            return list(self.checker.compare(model, requests, again=again))
        compared: dict[int, tuple[Asked, Comparison]] = {}
        firsts = list({asked[0]: place for place, asked in reversed(list(enumerate(requests)))}.values())[::-1]
        refused = set[str]()

        def ask(places: Sequence[int]) -> None:
            found = self.checker.compare(model, [requests[place] for place in places], again=again)
            compared.update(zip(places, found, strict=False))  # requests after one that hangs are skipped
            refused.update(asked[0] for asked, comparison in compared.values() if comparison.state == "unsupported")

        for place in firsts[:2]:
            if len(refused) == len(compared):
                ask([place])
        if len(refused) < len(compared):
            ask([place for place in firsts if place not in compared])
            ask([place for place, asked in enumerate(requests) if place not in compared and asked[0] not in refused])
        return [compared[place] for place in sorted(compared)]

    def _tell(self, example: Example, compared: Sequence[tuple[Asked, Comparison]]) -> None:
        """Count the requests; errors don't count as answers as long as nothing of a family was answered."""
        self.tally.examples += 1
        for (operation, _), comparison in compared:
            self._count(operation, comparison)
        if not self.tally.families[example.family] and all(each.lacks_answer for _, each in compared):
            compared = [(asked, each) for asked, each in compared if each.state == "unsupported"]
        answered = sum(comparison.state != "unsupported" for _, comparison in compared)
        self.tally.families[example.family] += answered
        self.tally.asked[example.family] += len(compared)
        self.progress(self)

    def _fresh(
        self, hunt: _Hunt, example: Example, compared: Sequence[tuple[Asked, Comparison]]
    ) -> list[tuple[Question, Comparison]]:
        """Return the differences of the hunt's origin, or without an explanation; skip encodings if a stage differs."""
        earlier, components = set[str](), components_of(example.model)
        fresh, is_set_aside = [], hunt.is_replay and hunt.origin is None and repr(example) in self._replayed
        for (operation, input), comparison in compared:
            if comparison.state != "differs" or (operation == "encode" and input["text"] in earlier):
                continue
            if operation in ("normalize", "pre_tokenize"):
                earlier.add(input["text"])
            question = Question(example.model, operation, input)
            is_other = hunt.origin is not None and origin_of(operation, comparison.kind) != hunt.origin
            if is_other or is_set_aside:
                continue
            if hunt.is_replay or not self._is_explained(hunt, question, comparison.kind, components):
                fresh.append((question, comparison))
        if self._database:
            self._database.is_set_aside = is_set_aside
        return fresh

    def _is_explained(self, hunt: _Hunt, question: Question, kind: str, components: frozenset[str]) -> bool:
        """Return whether a finding explains a difference: it has all that the finding needs, and nothing else matters.

        In a hunt for a difference in which something else matters, differences in which it does not are left out too.
        """
        finding = self.findings.explains(question.operation, kind, components)
        if finding is None or (hunt.origin is not None and not hunt.is_special):
            return False
        added = [key for key in _SPECIAL if key in question.model and key not in finding.question.model]
        if added:
            less = Question(without(question.model, *added), question.operation, question.input)
            compared = self.checker.compare_one(less)
            if (compared.state, compared.kind) != ("differs", kind):
                hunt.is_special = True
                return False
        finding.times += hunt.origin is None
        return True

    def _add(self, hunt: _Hunt) -> None:
        """Add the result of a hunt to the findings, after polishing it."""
        if hunt.best is None:
            return
        question, comparison = hunt.best
        if not comparison.is_death and not self.interrupted:
            question, comparison = self._polished(hunt, question, comparison)
        finding = finding_of(question, comparison)
        finding.examples, finding.seconds = hunt.examples, hunt.seconds
        if not (self.interrupted or comparison.is_death or finding.is_of_repetition):
            finding.needs_others = not self.checker.differs_alone(question)
        self.findings.add(finding)
        if self._database and hunt.is_narrowed:
            self._database.keep(question, is_found=True)

    def _polished(self, hunt: _Hunt, question: Question, comparison: Comparison) -> tuple[Question, Comparison]:
        """Shrink Hypothesis's result a little more, as plain values.

        A difference in spans or masks may turn into one in tokens, which says more, unless such a difference was found
        already.
        """
        best, is_again = comparison, comparison.kind == AGAIN

        def shows(candidate: Question) -> bool:
            nonlocal best
            found = self.checker.compare_one(candidate, again=is_again)
            is_same = found.state == "differs" and not self._is_of_a_stage(candidate)
            is_same = is_same and (found.kind == best.kind or self._tells_more(candidate, found.kind, best.kind))
            if is_same and hunt.is_special:
                is_same = not self._is_explained(hunt, candidate, found.kind, components_of(candidate.model))
            best = found if is_same else best
            return is_same

        seconds = _SHRINKING_LATE if self._is_late() else self._polishing_alone() if hunt.is_narrowed else _POLISHING
        most = _POLISHED_ALONE if hunt.is_narrowed else _POLISHED
        small = minimize(question, lambda few: [shows(each) for each in few], seconds, most, passes=_PASSES)
        return small, best

    def _polishing_alone(self) -> float:
        """Return the seconds for polishing without other shrinking: in a short run, each finding gets a share."""
        return min(2 * _POLISHING, (self.budget.seconds or 60.0) / 10)

    def _tells_more(self, question: Question, kind: str, before: str) -> bool:
        if kind != "tokens" or before not in _TELL_LESS:
            return False
        return self.findings.explains(question.operation, kind, components_of(question.model)) is None

    def _is_of_a_stage(self, question: Question) -> bool:
        """Return whether an encoding differs because a stage before it does."""
        stages = [("normalize", "normalizer"), ("pre_tokenize", "pre_tokenizer")]
        asked = [(operation, question.input) for operation, key in stages if key in question.model]
        if question.operation != "encode" or not asked:
            return False
        return any(each.state == "differs" for _, each in self.checker.compare(question.model, asked))


def _is_sampled(example: Example) -> bool:
    """Return whether an example is one of the 1 in ``_ASKED_AGAIN`` that are tried twice, the same in every process."""
    return zlib.crc32(repr(example.requests[:3]).encode("utf-8", "surrogatepass")) % _ASKED_AGAIN == 0
