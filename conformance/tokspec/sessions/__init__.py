"""Sessions: how the suite talks to an implementation, in the same process or through a program's pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokspec.sessions.contract import Answer, Fault, Joint, Refused, Reply, Request, Session
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.launch import Limits

if TYPE_CHECKING:
    from tokspec.sessions.program import ProgramSession

__all__ = [
    "Answer",
    "Fault",
    "InProcessSession",
    "Joint",
    "Limits",
    "ProgramSession",
    "Refused",
    "Reply",
    "Request",
    "Session",
]


def __getattr__(name: str) -> Any:
    """Import what starts processes when it is wanted: the reference stays in this one, and need not wait for it."""
    if name == "ProgramSession":
        from tokspec.sessions.program import ProgramSession

        return ProgramSession
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
