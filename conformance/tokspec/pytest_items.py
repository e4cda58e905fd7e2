"""The suite's cases as pytest's items; see :mod:`tokspec.pytest_plugin`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pytest

from tokspec.cli.options import parse_choices
from tokspec.discovery import open_session
from tokspec.errors import AdapterFault, DataError
from tokspec.fixtures import Case, load_suite
from tokspec.report.failure import describe
from tokspec.runner import fault_at_start, run
from tokspec.selection import select
from tokspec.sessions import Session
from tokspec.verdicts import Result, Verdict

__all__ = ["CaseItem", "Cases", "collect"]


class Nonconforming(Exception):
    """A case that did not conform; its text is the whole report."""


class Cases(pytest.Collector):
    """All selected cases, and the implementation that they are asked of, started at the first case."""

    target: dict[str, Any]
    choices: dict[str, str]
    items: Sequence[CaseItem]

    @cached_property
    def implementation(self) -> Session | AdapterFault:
        """The session; or why there is none."""
        try:
            return open_session(self.target["impl"], self.target["command"], in_process=self.target["in_process"])
        except AdapterFault as fault:
            return fault

    def collect(self) -> Sequence[CaseItem]:
        """Give the items."""
        return self.items

    def judge(self, case: Case) -> Result:
        """Ask one case."""
        if isinstance(self.implementation, AdapterFault):
            return fault_at_start(self.name, [case], self.implementation).results[0]
        try:
            return run(self.implementation, [case], choices=self.choices).results[0]
        except AdapterFault as fault:
            return fault_at_start(self.name, [case], fault).results[0]

    def close(self) -> None:
        """End the implementation, if it was started."""
        started = self.__dict__.get("implementation")
        if started is not None and not isinstance(started, AdapterFault):
            started.close()


class CaseItem(pytest.Item):
    """One case; its node id is ``tokspec::CASE``."""

    case: Case
    cases: Cases

    def runtest(self) -> None:
        """Judge the case."""
        result = self.cases.judge(self.case)
        if result.verdict is Verdict.UNSUPPORTED:
            pytest.skip(f"unsupported: {result.detail}")
        if not result.verdict.conforms:
            target = self.cases.target
            option = f"--cmd '{target['command']}'" if target["command"] else f"--impl {target['impl']}"
            raise Nonconforming("\n".join(describe(result, f"tokspec run {option} --select {self.case.id}")))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the report without a traceback of the suite's own code."""
        return str(excinfo.value) if isinstance(excinfo.value, Nonconforming) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, int, str]:
        """Say where the case stands."""
        return self.case.file, self.case.line - 1, f"tokspec::{self.case.id}"


def collect(session: pytest.Session, config: pytest.Config) -> Cases:
    """Make the items; what is wrong with the options ends pytest with a usage error."""
    try:
        selected = select(load_suite().cases.values(), config.option.tokspec_select)
        choices = dict(parse_choices(tuple(config.option.tokspec_choice)))
    except DataError as error:
        raise pytest.UsageError(str(error)) from None
    cases = Cases.from_parent(session, name="tokspec", nodeid="tokspec")
    cases.target = {"impl": config.option.tokspec, "command": config.option.tokspec_cmd}
    cases.target["in_process"] = config.option.tokspec_in_process
    cases.choices = choices
    cases.items = [_item(cases, case) for case in selected]
    return cases


def _item(cases: Cases, case: Case) -> CaseItem:
    item: CaseItem = CaseItem.from_parent(cases, name=case.id)
    item.case = case
    item.cases = cases
    for tag in case.tags:
        item.keywords[tag] = tag
    item.keywords.update(dict.fromkeys([*case.clauses, case.operation], True))
    return item
