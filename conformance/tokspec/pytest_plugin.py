"""``pytest --tokspec IMPLEMENTATION``: every case of the suite as a test of its own.

Nothing else of the suite is imported until one of the options is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tokspec.pytest_items import Cases

__all__ = ["pytest_addoption", "pytest_collection_modifyitems", "pytest_sessionfinish"]

_PLUGIN: pytest.StashKey[Cases] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; they have their own group in ``pytest --help``."""
    group = parser.getgroup("tokspec", "conformance of tokenizers")
    group.addoption("--tokspec", metavar="IMPLEMENTATION", help="judge an installed implementation, or module:object")
    group.addoption("--tokspec-cmd", metavar="COMMAND", help="judge a program that speaks the protocol")
    group.addoption("--tokspec-in-process", action="store_true", help="run it in this process, for a debugger")
    group.addoption("--tokspec-select", metavar="PATTERN", action="append", default=[], help="take these cases only")
    group.addoption("--tokspec-choice", metavar="NAME=OPTION", action="append", default=[], help="hold it to an option")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the cases to whatever else was collected, before ``-k`` and the like look at it."""
    if config.option.tokspec is None and config.option.tokspec_cmd is None:
        return
    from tokspec.pytest_items import collect

    config.stash[_PLUGIN] = collect(session, config)
    items.extend(config.stash[_PLUGIN].items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the implementation."""
    cases = session.config.stash.get(_PLUGIN, None)
    if cases is not None:
        cases.close()
