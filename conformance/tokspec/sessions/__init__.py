"""Sessions: how the suite talks to an implementation, in the same process or through a program's pipes."""

from __future__ import annotations

from tokspec.sessions.contract import Answer, Fault, Refused, Reply, Request, Session
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.launch import Limits
from tokspec.sessions.program import ProgramSession

__all__ = ["Answer", "Fault", "InProcessSession", "Limits", "ProgramSession", "Refused", "Reply", "Request", "Session"]
