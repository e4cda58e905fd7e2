"""Adapters in Python that misbehave, each in a host of its own: the host answers for them, and dies with them.

Rows are as in ``test_programs``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[1] / "programs"

SECOND = {"case_seconds": 1.0}
SILENCE = "no reply within 1 seconds"
MEMORY = {"memory_mb": 250}
EATEN = "used more than 250 MB of memory"
TWICE = 'the id is answered twice: \'{{"id":7,"ok":{{"tokens":["hug","s"],"ids":[10,6],"spans":[[0,3],[3,4]]}}}}\''

ROWS = [
    ("good", "PPPPPPPP", "", {}),
    # Ends
    ("aborts", "PPPPCPPP", "killed by SIGABRT", {}),
    ("segfaults", "PPPPCPPP", "killed by SIGSEGV", {}),
    ("is_killed", "PPPPCPPP", "killed by SIGKILL", {}),
    ("raises_an_alarm", "PPPPCPPP", "killed by SIGALRM", {}),
    ("exits_below", "PPPPCPPP", "exit status 0", {}),
    ("closes_every_descriptor", "PPPPCPPP", "exit status 1", {}),
    # Exceptions
    ("exits", "PPPPCPPP", "SystemExit (adapters.py:{calling} in calling)", {}),
    ("exits_with_a_message", "PPPPCPPP", "SystemExit: no \\x1b[31mtokens (adapters.py:{calling} in calling)", {}),
    ("panics", "PPPPCPPP", "Panic: index out of bounds (adapters.py:{raising} in raising)", {}),
    ("interrupts", "PPPPCPPP", "KeyboardInterrupt (adapters.py:{raising} in raising)", {}),
    ("has_no_memory", "PPPPCPPP", "MemoryError (adapters.py:{raising} in raising)", {}),
    ("stops_iterating", "PPPPCPPP", "StopIteration (adapters.py:{raising} in raising)", {}),
    ("raises_what_cannot_be_shown", "PPPPCPPP", "Unprintable: a message that cannot be shown (adapters.py:{raising} in raising)", {}),
    ("refuses_unreadably", "PPPPCPPP", "Panic: no reason (adapters.py:{reason} in reason)", {}),
    ("recurses", "PPPPCPPP", "RecursionError: maximum recursion depth exceeded (adapters.py:{recurses} in goes_deeper)", {}),
    # Silence
    ("hangs", "PPPPTPPP", SILENCE, SECOND),
    ("hangs_natively", "PPPPTPPP", SILENCE, SECOND),
    # Memory
    ("eats", "PPPPCPPP", EATEN, MEMORY),
    ("endless", "PPPPCPPP", EATEN, MEMORY),
    # What the host keeps from the adapter, and the adapter from itself
    ("prints", "PPPPPPPP", "", {}),
    ("closes_stdout", "PPPPPPPP", "", {}),
    ("closes_the_standard_descriptors", "PPPPPPPP", "", {}),
    ("forges_misuse", "PPPPOPPP", TWICE, {}),
    ("forges_misuse_of_nothing", "PPPPOPPP", TWICE, {}),
    ("forges_broken_of_nothing", "PPPPOPPP", TWICE, {}),
    ("replaces_stdout", "PPPPPPPP", "", {}),
    ("reads", "PPPPPPPP", "", {}),
    ("replaces_json", "PPPPPPPP", "", {}),
    ("forks", "PPPPPPPP", "", {}),
    ("forks_and_waits", "PPPPPPPP", "", {}),
    ("starts_a_thread", "PPPPPPPP", "", {}),
    ("ignores_the_end", "PPPPPPPP", "", {}),
    # Results
    ("returns_none", "PPPPOPPP", "returned a value of type 'NoneType'; a result is a mapping", {}),
    ("is_deep", "PPPPOPPP", "the result is nested more than 64 levels deep", {}),
    ("is_no_number", "PPPPOPPP", "the result holds nan, which is not JSON", {}),
    ("is_infinite", "PPPPOPPP", "the result holds -inf, which is not JSON", {}),
    ("is_huge", "PPPPOPPP", "the result holds a number of more than 300 digits", {}),
    ("is_half_a_pair", "PPPPFPPP", "wrong answer", {}),
    ("has_half_a_pair_as_key", "PPPPOPPP", "the result has the key '\\ud800'; a surrogate in a key has no form in JSON", {}),
    ("is_of_bytes", "PPPPOPPP", "the result holds a value of type bytes, which JSON does not have", {}),
]  # fmt: skip

#: What the places in the details stand for: the lines of ``adapters.py``, by their text.
PLACES = {
    "calling": "        function(*arguments)",
    "raising": "        raise error(*arguments)",
    "recurses": "    return goes_deeper(result)",
    "reason": '        raise Panic("no reason")',
}


def hosted(name: str) -> list[str]:
    return [sys.executable, "-P", "-m", "tokspec.sessions.adapter_server", f"adapters:{name}", str(PROGRAMS), *sys.path]


@pytest.fixture(scope="module")
def places() -> Mapping[str, int]:
    """Return the number of each line that a detail may name."""
    lines = (PROGRAMS / "adapters.py").read_text("utf-8").splitlines()
    return {place: lines.index(text) + 1 for place, text in PLACES.items()}


@pytest.mark.long
@pytest.mark.parametrize(("name", "verdicts", "detail", "limits"), ROWS, ids=[row[0] for row in ROWS])
def test_adapters(
    judge: Callable[..., Any],
    places: Mapping[str, int],
    name: str,
    verdicts: str,
    detail: str,
    limits: Mapping[str, Any],
) -> None:
    seen = judge(hosted(name), limits, is_ours=True)
    details = [detail.format_map(places)] * (8 - verdicts.count("P"))
    assert (seen.verdicts, seen.details, seen.conforms) == (verdicts, details, details == [])
