"""The suite's cases as pytest's items; see :mod:`tokspec.pytest_plugin`."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, islice
from typing import Any

import pytest

from tokspec import __version__
from tokspec.base.display import visible
from tokspec.base.errors import AdapterFault, DataError
from tokspec.cli.known import Ratchet
from tokspec.cli.options import Target, parse_choices
from tokspec.formats import write_as_of
from tokspec.judge.judging import end_problems
from tokspec.judge.runner import likeness_of, run
from tokspec.judge.verdicts import Result, Verdict, effective_choices
from tokspec.report.failure import brief, describe
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import cases_of_version, select

#: How many cases a program gets at once; with one at a time, it would wait for each question.
_BATCH = 64


class Nonconforming(Exception):
    """A case that does not conform; its text is the whole report, ``summary`` is one line of it."""

    def __init__(self, result: Result, reproduce: str) -> None:
        super().__init__("\n".join(describe(result, reproduce)))
        self.summary = f"{result.verdict.value}: {brief(result)}"


class Cases(pytest.Collector):
    """All selected cases, and the implementation that answers them.

    The implementation is started at once, so that an error in it is reported once, unless pytest only lists the cases.
    """

    def __init__(self, options: Namespace, **others: Any) -> None:
        super().__init__(**others)
        named = Target(None, options.tokspec_cmd) if options.tokspec is None else Target.of(options.tokspec)
        self.target = replace(named, in_process=options.tokspec_in_process)
        self.choices: Mapping[str, str] = parse_choices(tuple(options.tokspec_choice))
        suite = load_suite()
        self.version: str | None = options.tokspec_fixtures_version
        self.selected: Sequence[Case] = select(cases_of_version(suite, self.version), options.tokspec_select)
        write_as_of(self.version)
        self.ratchet = Ratchet.of(options.tokspec_known_failures, update=False)
        for stale in self.ratchet.known.stale(suite.cases) if self.version in (None, __version__) else ():
            raise DataError(stale)
        self.implementation = None if options.collectonly else self._open()
        is_shared = hasattr(self.config, "workerinput")  # the next cases may belong to another worker
        self.batch = 1 if is_shared or self.target.in_process or options.usepdb else _BATCH
        self._judged: dict[str, Result] = {}

    @classmethod
    def of(cls, session: pytest.Session) -> Cases:
        """Build the collector that the options describe.

        Raises:
            pytest.UsageError: they name what is not there, or what cannot be started.
        """
        try:
            cases: Cases = cls.from_parent(session, name="tokspec", nodeid="tokspec", options=session.config.option)
        except DataError as error:
            key = error.key.replace("--", "--tokspec-", 1)
            message = visible(str(DataError(error.message, error.file, error.line, key)))
            raise pytest.UsageError(message) from None
        return cases

    def _open(self) -> Session:
        try:
            session = self.target.open()
        except AdapterFault as fault:
            raise self.target.unusable(fault) from None
        try:
            effective_choices(session.hello)
            likeness_of(session.hello, self.ratchet.known, like=None)
        except AdapterFault as fault:
            session.close()
            raise self.target.unusable(fault) from None
        return session

    def collect(self) -> list[CaseItem]:
        """Return the items."""
        return [CaseItem.from_parent(self, name=case.id, case=case) for case in self.selected]

    def judge(self, case: Case) -> Result:
        """Judge one case, and with it the next ones."""
        if self.implementation is None:
            raise RuntimeError("cases are listed and not asked")
        if case.id not in self._judged:
            finished = run(self.implementation, self._batch_from(case), choices=self.choices, known=self.ratchet.known)
            self._judged = {result.case.id: result for result in finished.results}
        return self._judged.pop(case.id)

    def _batch_from(self, case: Case) -> Sequence[Case]:
        """Return a batch: a case, and those that pytest runs after it."""
        if self.batch == 1:
            return [case]
        following = (item.case for item in self.session.items if isinstance(item, CaseItem))
        return list(islice(dropwhile(lambda other: other.id != case.id, following), self.batch))

    def again(self, case: Case) -> str:
        """Return the command that judges one case alone."""
        choices = "".join(f" --choice {shlex.quote(f'{name}={option}')}" for name, option in self.choices.items())
        return f"tokspec run{self.target.arguments()}{choices}{self.ratchet.arguments()} --select {case.id}"

    def close(self) -> list[str]:
        """End the implementation, if it was started, and return the faults that no case is to blame for."""
        if self.implementation is None:
            return []
        self.implementation.close()
        return [*run(self.implementation, []).problems, *end_problems(self.implementation)]


class CaseItem(pytest.Item):
    """One case; its node id is ``tokspec::CASE``. ``-k`` also matches its clauses, operation and tags."""

    def __init__(self, parent: Cases, case: Case, **others: Any) -> None:
        super().__init__(parent=parent, **others)
        self.cases = parent
        self.case = case
        self.extra_keyword_matches.update([*case.clauses, case.operation, *case.tags])

    def runtest(self) -> None:
        """Judge the case."""
        result = self.cases.judge(self.case)
        if result.verdict is Verdict.UNSUPPORTED:
            for problem in self.cases.ratchet.known.unsupported([result]):
                pytest.fail(visible(problem), pytrace=False)
            pytest.skip(f"unsupported: {brief(result)}")
        if result.verdict is Verdict.KNOWN_FAILURE:
            pytest.xfail(f"known failure: {visible(result.detail)}")
        if not result.verdict.conforms:
            raise Nonconforming(result, self.cases.again(self.case))

    def run_protocol(self) -> None:
        """Judge the case and report it, without the phases for fixtures: it has none, and they take most of the time.

        A case of an adapter in this process has all phases, because pytest captures printed output in them.
        """
        hooks = self.ihook
        hooks.pytest_runtest_logstart(nodeid=self.nodeid, location=self.location)
        call = pytest.CallInfo.from_call(self.runtest, when="call", reraise=(pytest.exit.Exception, KeyboardInterrupt))
        report = hooks.pytest_runtest_makereport(item=self, call=call)
        hooks.pytest_runtest_logreport(report=report)
        if report.failed:
            hooks.pytest_exception_interact(node=self, call=call, report=report)
        hooks.pytest_runtest_logfinish(nodeid=self.nodeid, location=self.location)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the report without a traceback of the suite's own code."""
        if not isinstance(excinfo.value, Nonconforming):
            return super().repr_failure(excinfo, style)
        shown = excinfo.getrepr(style="value")
        if shown.reprcrash is not None:
            shown.reprcrash.path, shown.reprcrash.lineno = self.case.file, self.case.line
            shown.reprcrash.message = excinfo.value.summary
        return shown

    def reportinfo(self) -> tuple[str, int, str]:
        """Return the place of the case in its file."""
        return self.case.file, self.case.line - 1, f"tokspec::{self.case.id}"
