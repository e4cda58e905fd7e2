"""For all tests: where TOKSPEC_NO_SKIPS is set, what is skipped fails (tox run -e full)."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest


def _fail_if_skipped(report: Any) -> Any:
    if os.environ.get("TOKSPEC_NO_SKIPS") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped, where nothing may be: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return _fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return _fail_if_skipped((yield))
