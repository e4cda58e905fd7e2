"""Asking implementations with a real model, by the adapters with which they are judged."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tokspec.adapters.registry import find, open_session
from tokspec.adapters.tokfast import TokfastAdapter
from tokspec.base.errors import DataError
from tokspec.compare.named_texts import load_texts
from tokspec.formats.neutral import tokens_in_id_order
from tokspec.protocol.messages import Answer, Refused, Request
from tokspec.results.rows import Listed, read_list
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session

__all__ = [
    "TEXTS",
    "Encoded",
    "differing",
    "of_published",
    "of_tokfast",
    "refused",
    "with_content",
]

#: The suite's texts one by one, as one text, and as one with each on a line of its own.
TEXTS: Mapping[str, str] = {
    **{text.id: text.text for text in load_texts()},
    "all/joined": "".join(text.text for text in load_texts()),
    "all/lines": "\n".join(text.text for text in load_texts()),
}


#: The tokens of each text; what was refused says why.
Encoded = Mapping[str, list[str] | str]

LIST = Path(__file__).parents[2] / "adapters" / "adapters.yaml"
#: A large vocabulary takes its time to load.
LIMITS = Limits(case_seconds=120, start_seconds=300)


def of_tokfast(model: Mapping[str, Any], texts: Mapping[str, str] = TEXTS, **choices: str) -> Encoded:
    """Encode texts with the fast sibling of the reference, whose own loops are too slow for a real vocabulary."""
    return _asked(InProcessSession(TokfastAdapter(choices)), model, texts)


def of_published(name: str, model: Mapping[str, Any], texts: Mapping[str, str] = TEXTS) -> Encoded:
    """Encode texts with an implementation of the list of adapters; skips the test where it is not there."""
    listed = of_list(name)
    try:
        with open_session(listed.impl, listed.command, limits=LIMITS) as session:
            return _asked(session, model, texts)
    except DataError as error:
        pytest.skip(str(error))


def of_list(name: str) -> Listed:
    """Find an implementation by the end of what the list calls it; skips the test where it is not there."""
    rows = read_list(LIST)
    (listed,) = [one for one in rows if one.name == name] or [one for one in rows if one.name.endswith(name)]
    if missing := listed.missing():
        pytest.skip(missing)
    return listed


def _asked(session: Session, model: Mapping[str, Any], texts: Mapping[str, str]) -> Encoded:
    requests = [Request("encode", "real", model, {"text": text}) for text in texts.values()]
    tokens, replies = tokens_in_id_order(model), dict(session.ask(requests))
    found: dict[str, list[str] | str] = {}
    for index, text in enumerate(texts):
        match replies[index]:
            case Answer(result):
                found[text] = [tokens[id] for id in result["ids"]]
            case Refused(reason, message):
                found[text] = f"{reason}: {message}"
            case fault:
                pytest.fail(f"{text}: {fault}")
    return found


def refused(found: Encoded) -> dict[str, str]:
    """Return what was refused, and why."""
    return {text: tokens for text, tokens in found.items() if isinstance(tokens, str)}


def differing(found: Encoded, expected: Encoded) -> set[str]:
    """Name the texts of which other tokens were made; what was refused is none of them."""
    assert found.keys() == expected.keys()
    return {text for text, tokens in found.items() if tokens != expected[text]} - refused(found).keys()


def with_content(name: str, format: str, content: Any, texts: Mapping[str, str] = TEXTS) -> dict[str, list[int] | str]:
    """Encode texts with an implementation that loads a content which no model of the suite is; give ids."""
    listed = of_list(name)
    if listed.impl:
        return _in_process(listed.impl, format, content, texts)
    requests: list[dict[str, Any]] = [{"op": "load", "model": "real", "format": format, "content": content}]
    requests += [{"op": "encode", "model": "real", "input": {"text": text}} for text in texts.values()]
    asking = "".join(f"{json.dumps({'id': id, **request})}\n" for id, request in enumerate(requests))
    command = shlex.split(listed.command or "")
    done = subprocess.run(command, input=asking, capture_output=True, encoding="utf-8", check=True)
    loaded, *replies = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert loaded == {"id": 0, "ok": {}}
    ids = [reply["ok"]["ids"] if "ok" in reply else reply["refused"]["message"] for reply in replies]
    return dict(zip(texts, ids, strict=True))


def _in_process(impl: str, format: str, content: Any, texts: Mapping[str, str]) -> dict[str, list[int] | str]:
    try:
        adapter = find(impl).make()
    except DataError as error:
        pytest.skip(str(error))
    model = adapter.load(format, content)
    return {text: list(adapter.run("encode", model, {"text": content})["ids"]) for text, content in texts.items()}
