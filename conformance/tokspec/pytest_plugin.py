"""``pytest --tokspec IMPLEMENTATION``: every case of the suite as a separate test.

The rest of the suite is imported only if one of the options is given.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tokspec.cli.pytest_items import Cases

#: The options that mean nothing unless an implementation is named.
_OTHERS = ("select", "choice", "in_process", "known_failures", "fixtures_version")

_CASES: pytest.StashKey[Cases] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, in their own group of ``pytest --help``."""
    group = parser.getgroup("tokspec", "conformance of tokenizers")
    group.addoption(
        "--tokspec",
        metavar="IMPLEMENTATION",
        help='judge NAME, NAME==VERSION, NAME@ENVIRONMENT, module:object or "PROGRAM ARGS"',
    )
    group.addoption("--tokspec-cmd", help=argparse.SUPPRESS)  # names a program, too, whatever it looks like
    group.addoption("--tokspec-in-process", action="store_true", help="run it in this process, for a debugger")
    group.addoption("--tokspec-select", metavar="PATTERN", action="append", default=[], help="select these cases only")
    group.addoption("--tokspec-choice", metavar="NAME=OPTION", action="append", default=[], help="the option to use")
    group.addoption("--tokspec-fixtures-version", metavar="X.Y.Z", help="only the cases that this version had")
    group.addoption("--tokspec-known-failures", metavar="FILE", help="file of failures that do not count")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run pytest in a child process if an adapter runs in-process, because the adapter could end it with status 0."""
    option, is_worker = config.option, hasattr(config, "workerinput")  # xdist notices the end of its workers
    if not option.tokspec_in_process or option.tokspec is None or is_worker or not hasattr(os, "fork"):
        return None
    from tokspec.cli import supervised

    manager = config.pluginmanager
    others = manager.subset_hook_caller("pytest_cmdline_main", [manager.get_plugin("tokspec")])
    return supervised(lambda: int(others(config=config)))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the implementation before xdist starts its workers; a mistake in the options ends pytest."""
    option = session.config.option
    for name in ("tokspec", "tokspec_cmd", "tokspec_known_failures", "tokspec_fixtures_version"):
        given = getattr(option, name)
        if given is not None and not given.strip():  # for example an empty variable; that does not mean the default
            raise pytest.UsageError(f"--{name.replace('_', '-')} is blank; give it a value, or leave it out")
    if option.tokspec is not None and option.tokspec_cmd is not None:
        raise pytest.UsageError("--tokspec and --tokspec-cmd name two implementations; give one")
    if option.tokspec_in_process and option.tokspec_cmd is not None:
        raise pytest.UsageError("--tokspec-in-process is for adapters in Python; a program has its own process")
    if option.tokspec is not None or option.tokspec_cmd is not None:
        from tokspec.cli.pytest_items import Cases

        session.config.stash[_CASES] = Cases.of(session)
        is_worker = hasattr(session.config, "workerinput")
        session.config.pluginmanager.register(_Worker() if is_worker else _Tally())
    elif any(getattr(option, f"tokspec_{name}") for name in _OTHERS):
        raise pytest.UsageError("no implementation is named; give --tokspec")


#: The test that fails if something is wrong with the run and no case is to blame.
_RUN = "tokspec::the run"


class _Tally:
    """Makes sure that a run does not pass if it shows nothing, or if it has a fault that no case is to blame for."""

    def __init__(self) -> None:
        self.outcomes: set[str] = set()
        self.problems: list[str] = []

    @property
    def complaints(self) -> list[str]:
        nothing = ["no case passed, and a run that shows nothing is not a pass"] if self.outcomes == {"skipped"} else []
        return [*self.problems, *nothing]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if (
            report.nodeid.startswith("tokspec::")
            and report.nodeid != _RUN
            and (report.when == "call" or not report.passed)
        ):
            self.outcomes.add(report.outcome)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Collect what a worker of xdist found wrong with its run."""
        self.problems += getattr(node, "workeroutput", {}).get("tokspec", [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Report what is wrong with the run as a failed test, so that JUnit's XML, which is written next, has it."""
        self.problems += session.config.stash[_CASES].close()
        if self.complaints:
            said = "\n".join(dict.fromkeys(self.complaints))
            place = ("tokspec", None, _RUN)
            report = pytest.TestReport(_RUN, place, {}, "failed", said, "call")
            session.config.hook.pytest_runtest_logreport(report=report)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in dict.fromkeys(self.complaints):
            terminalreporter.write_line(f"tokspec: {line}", red=True)


class _Worker:
    """Ends the implementation of a worker of xdist, and hands on to pytest's main process what was wrong with it."""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        session.config.workeroutput["tokspec"] = session.config.stash[_CASES].close()  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add the cases to the other tests that are collected, in any repository."""
    report = yield
    cases = collector.config.stash.get(_CASES, None)
    if cases is not None and isinstance(collector, pytest.Session) and report.passed:
        report.result = [*report.result, cases]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Run a case."""
    cases = item.config.stash.get(_CASES, None)
    if cases is None or item.parent is not cases or cases.target.in_process:
        return None
    item.run_protocol()  # type: ignore[attr-defined]
    return True
