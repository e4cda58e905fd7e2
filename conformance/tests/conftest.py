"""What the tests of commands share."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from hypothesis import settings

from tokspec.cli import main
from tokspec.sessions.limits import orphan_reaper

settings.register_profile("without a clock", deadline=None)  # which a busy machine would miss
settings.load_profile("without a clock")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell; programs here would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: The variable of the environment by which processes that tests started are found.
MARK = "TOKSPEC_TESTS"


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_running() -> Iterator[None]:
    """Check once, after all tests, that no process is left of any that they started, whatever its parent is now."""
    orphan_reaper.start()  # lives as long as this process, so that no test is the one to start it
    mark = secrets.token_hex(16)
    os.environ[MARK] = mark
    yield
    del os.environ[MARK]
    left = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            # The tracker that multiprocessing starts lives as long as this process, as the reaper does.
            if "multiprocessing.resource_tracker" in " ".join(process.cmdline()):
                continue
            if process.environ().get(MARK) == mark and process.pid != orphan_reaper.number:
                try:
                    process.wait(30.0)
                except psutil.TimeoutExpired:
                    left.append(process.cmdline())
    assert left == []


@pytest.fixture(scope="session")
def record_passes() -> ModuleType:
    """The script that records what each implementation does, as a module."""
    file = Path(__file__).parents[1] / "adapters" / "record_passes.py"
    spec = importlib.util.spec_from_file_location("record_passes", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return ``tokspec`` as a function of its arguments: the exit status, what it printed, and what it noted."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tokspec", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        assert isinstance(caught.value.code, int)
        return caught.value.code, *capsys.readouterr()

    return run
