"""The first stage at which an implementation leaves the reference, for a case of ``encode`` that failed."""

from __future__ import annotations

from tokspec.base.display import compact, shorten
from tokspec.protocol.messages import Answer, Request
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session
from tokspec.suite.cases import Case

__all__ = ["first_diverging_stage"]


def first_diverging_stage(case: Case, session: Session, reference: InProcessSession) -> str:
    """Name the stage in a sentence; nothing if the implementation does not offer the stages one by one.

    ``case`` is what one question asks: of a table, a row.

    Each stage gets what the reference's stage before it gave, so that one stage's fault is not another's.
    """
    offered = [stage for stage in ("normalize", "pre_tokenize") if stage in session.hello.operations]
    if case.operation != "encode" or not offered:
        return ""
    text = case.input["text"]
    for stage in ("normalize", "pre_tokenize"):
        asked = Request(stage, case.model.name, case.model.content, {"text": text})
        right = _answer(reference, asked)
        if right is None:
            return ""
        if stage in offered:
            actual = _answer(session, asked)
            if actual is not None and actual.result != right.result:
                seen = f"{shorten(compact(actual.result))}, the reference {shorten(compact(right.result))}"
                return f"{stage} of {shorten(compact(text), 60)} diverges first: it gives {seen}"
        text = right.result.get("text", text)
    return f"{' and '.join(offered)} agree{'s' if len(offered) == 1 else ''} with the reference; what follows differs"


def _answer(session: Session, asked: Request) -> Answer | None:
    replies = [reply for _, reply in session.ask([asked])]
    return replies[0] if replies and isinstance(replies[0], Answer) else None
