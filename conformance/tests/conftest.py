"""What the tests of commands share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

import pytest

from tokspec.cli import main
from tokspec.sessions.limits import orphan_reaper

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell; programs here would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def reaper() -> None:
    """Start what kills the programs of a test run that is killed, so that no test is the one to start it."""
    orphan_reaper.start()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Give ``tokspec`` as a function of its arguments: the exit status, what it printed, and what it noted."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tokspec", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        assert isinstance(caught.value.code, int)
        return caught.value.code, *capsys.readouterr()

    return run
