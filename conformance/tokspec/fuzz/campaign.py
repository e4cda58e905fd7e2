"""A campaign: Hypothesis draws examples, both sides are asked, and what differs is shrunk and set aside.

Hypothesis stops at its first failure. So it is run again and again, each time with the next seed: a difference raises
an exception whose class is that of its operation and kind, and in later runs what a finding explains raises nothing.
Findings are kept in Hypothesis's own database, from which another process replays them.
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

#: Fields of an encoding that tell less of a difference than its tokens.
_TELL_LESS = definitions()["encoding"]["properties"].keys() - {"tokens", "ids"}

#: Seconds for shrinking a difference, if each try ends the program, and if the budget is spent; and for polishing.
_SHRINKING, _SHRINKING_DEATHS, _SHRINKING_LATE, _POLISHING = 20.0, 6.0, 3.0, 3.0

#: How many smaller questions are tried after shrinking, and how many at most where polishing is all shrinking.
_POLISHED, _POLISHED_ALONE = 1000, 4000
_PASSES = (*PASSES, offer(shorter_maps))

#: One example in this many is asked twice.
_ASKED_AGAIN = 16

#: Keys of a model that have clauses of their own: where one matters, a difference is not explained by one without it.
_SPECIAL = ("special_tokens", "added_tokens", "max_word_length", "decoder")


@dataclass(frozen=True)
class Budget:
    """When to end: after ``seconds`` or ``examples``, whichever comes first; None means no limit."""

    seconds: float | None = None
    examples: int | None = None


@dataclass
class Tally:
    """What was done: examples drawn and asked, and requests by what came of them, by operation and by family.

    ``answered`` counts requests that both answered alike, and did not only refuse alike. ``operations`` and
    ``families`` count replies that are not unsupported, ``asked`` all requests of models of a family.
    """

    examples: int = 0
    answered: int = 0
    states: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)


class _Ended(BaseException):
    """The time for looking, or for shrinking, is over; Hypothesis lets it through."""


class _Surveyed(BaseException):
    """A survey was taken, and what comes next is drawn from what was answered."""


_DIFFERENCES: dict[tuple[str, str], type[AssertionError]] = {}


def _difference(origin: tuple[str, str]) -> type[AssertionError]:
    """Return the exception of an origin: Hypothesis tells failures apart by type and place."""
    return _DIFFERENCES.setdefault(origin, type(f"Difference in {' '.join(origin)}", (AssertionError,), {}))


def database_folder(folder: Path, name: str) -> Path:
    """Return where to keep the findings of one implementation against one oracle, under its options.

    >>> database_folder(Path("db"), "my tok 1/2 against x").name
    'my-tok-1-2-against-x'
    """
    file = re.sub(r"[^A-Za-z0-9.]+", "-", name)
    return folder / (f"{file[:100]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}" if len(file) > 100 else file)


#: The key of questions that are kept as they are.
_QUESTIONS = b"tokspec questions"


class _Database(ExampleDatabase):
    """Hypothesis's database without what shrinking left in it, of which every try would be replayed.

    An example is not removed for passing while it is set aside, and not kept because it was the last one in time.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, self._kept = folder, DirectoryBasedExampleDatabase(folder)
        self.is_set_aside = self.is_ended = False

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return what is kept under a key."""
        return () if key.endswith(b".secondary") else self._kept.fetch(key)

    def save(self, key: bytes, value: bytes) -> None:
        """Keep what differs."""
        if not self.is_ended and not key.endswith(b".secondary"):
            self._kept.save(key, value)

    def delete(self, key: bytes, value: bytes) -> None:
        """Remove what is answered rightly now, or has become smaller."""
        if not self.is_set_aside:
            self._kept.delete(key, value)

    def questions(self) -> list[Question]:
        """Return what was found by drawing after a survey, which only the same survey would draw again.

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
    """One run of Hypothesis: once something differs, only its origin counts, until it is shrunk.

    ``is_narrowed`` says that what it draws depends on a survey, ``is_surveyed`` that it ended so that the next one
    draws differently, ``is_begun`` that its first example, which is always the same one, is over. ``is_special`` says
    that a finding would explain it, if some key of the model did not matter.
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
    """Looks for differences.

    Args:
        checker: what compares.
        seed: of all that is drawn.
        budget: when to end.
        families: of models; the names of ``FAMILIES``.
        progress: called after every example.
        enough: the number of findings after which it ends; None means no limit.
        database: the folder in which findings are kept, and from which they are replayed first; None keeps nothing.
        survey: of a campaign with the same implementation before this one; None takes one as soon as it is needed.
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
        """How long it has been going on."""
        return monotonic() - self.began

    @property
    def is_short(self) -> bool:
        """Whether too little was asked for a run without findings to say anything."""
        return not self.tally.answered

    def summary(self) -> list[str]:
        """Say what was asked, where that is more than a number."""
        return []

    def run(self, given_first: Sequence[Question] = ()) -> Findings:
        """Ask what is given first, replay the database, then look until the budget is spent or somebody interrupts.

        Raises:
            DataError: nothing that is drawn can be asked.
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
            if type(interruption) is not KeyboardInterrupt:  # what is derived from it is not ours
                raise
            self.interrupted = True
        was_refused = self.survey is not None and any(self.survey.closed.values())
        if self.tally.examples and not self.tally.states and not was_refused:
            raise DataError(self._nothing_to_ask())
        return self.findings

    def _take_survey(self) -> None:
        """Ask what the implementation answers, and count what was refused of families that are not drawn then."""
        self.survey = survey(self.checker.hello, self.checker.replies, self.families, self._is_late)
        for family, count in self.survey.closed.items():
            self.tally.asked[family] += count
            self.tally.states["unsupported"] += count

    def _drawn(self) -> st.SearchStrategy[Example]:
        """Return what is drawn from."""
        offered = self.checker.hello.operations
        if self.survey is None:
            return examples(self.families, offered)
        return answered_examples(self.families, offered, self.survey)

    def _looking(self) -> tuple[Phase, ...]:
        """Return the phases of a hunt: what was changed after it was drawn is shrunk as plain values alone."""
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
        """Ask a question, add what is found, and say whether something is."""
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
        """Ask what is kept, each once, and take those first that need the fewest components."""
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
            max_examples=10**6 if is_replay else left + hunt.is_narrowed,  # whose first is not asked
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
        except (_Ended, AssertionError, Flaky, SkipTest):  # Flaky: it does not always differ; SkipTest: nothing is kept
            pass
        except _Surveyed:
            hunt.is_surveyed = True
        except KeyboardInterrupt:
            self.interrupted = True
            self._add(hunt)
            raise
        return hunt

    def _try(self, hunt: _Hunt, example: Example) -> None:
        """Compare what an example asks, and raise if something differs that no finding explains."""
        self._end_in_time(hunt)
        # Hypothesis begins each time with the simplest example, which was asked already.
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
        """Return what to ask: while shrinking, what may show the origin again; before that, what is worth it."""
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
        """Compare the replies to requests; where something was refused before, first to one of each operation.

        Then no more is asked of operations that are refused, and nothing if two are and none is answered.
        """
        model = example.model
        if self.survey is None:
            return list(self.checker.compare(model, requests, again=again))
        compared: dict[int, tuple[Asked, Comparison]] = {}
        firsts = list({asked[0]: place for place, asked in reversed(list(enumerate(requests)))}.values())[::-1]
        refused = set[str]()

        def ask(places: Sequence[int]) -> None:
            found = self.checker.compare(model, [requests[place] for place in places], again=again)
            compared.update(zip(places, found, strict=False))  # what comes after one that hangs is not asked
            refused.update(asked[0] for asked, comparison in compared.values() if comparison.state == "unsupported")

        for place in firsts[:2]:
            if len(refused) == len(compared):
                ask([place])
        if len(refused) < len(compared):
            ask([place for place in firsts if place not in compared])
            ask([place for place, asked in enumerate(requests) if place not in compared and asked[0] not in refused])
        return [compared[place] for place in sorted(compared)]

    def _tell(self, example: Example, compared: Sequence[tuple[Asked, Comparison]]) -> None:
        """Count what was asked; as long as nothing of a family was answered, errors do not say that it is offered."""
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
        """Return what differs and is of the hunt's origin, or is not explained; an encoding not after a stage."""
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
        """Say whether a finding explains a difference: all that the finding needs is there, and nothing else matters.

        In a hunt for a difference in which something else matters, what does not is left out as well.
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
        """Add what a hunt found to the findings, polished."""
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
        """Make what Hypothesis has shrunk a little smaller as plain values.

        What differs in its spans or masks may come to differ in its tokens, which tells more, unless such a difference
        was found already.
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
        """Return the seconds for polishing that is all shrinking: of many findings in a short run each gets a part."""
        return min(2 * _POLISHING, (self.budget.seconds or 60.0) / 10)

    def _tells_more(self, question: Question, kind: str, before: str) -> bool:
        if kind != "tokens" or before not in _TELL_LESS:
            return False
        return self.findings.explains(question.operation, kind, components_of(question.model)) is None

    def _is_of_a_stage(self, question: Question) -> bool:
        """Say whether an encoding differs because a stage before it does."""
        stages = [("normalize", "normalizer"), ("pre_tokenize", "pre_tokenizer")]
        asked = [(operation, question.input) for operation, key in stages if key in question.model]
        if question.operation != "encode" or not asked:
            return False
        return any(each.state == "differs" for _, each in self.checker.compare(question.model, asked))


def _is_sampled(example: Example) -> bool:
    """Choose one of ``_ASKED_AGAIN`` examples, the same ones in every process."""
    return zlib.crc32(repr(example.requests[:3]).encode("utf-8", "surrogatepass")) % _ASKED_AGAIN == 0
