"""The content of a run's page: its verdicts by chapter and profile, its failures by cause, and its choices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from markupsafe import Markup

from tokspec.base.files import specification_folder
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.runner import Run
from tokspec.judge.scope import in_profile
from tokspec.judge.verdicts import Result, Verdict
from tokspec.report.text import headline
from tokspec.results.site.features import FEATURES, features_of
from tokspec.results.site.views import (
    Group,
    cell,
    chapter_of,
    chapter_title,
    choice_marks,
    describe_reply,
    difference_text,
    groups,
    shown,
    token_rows,
)
from tokspec.suite.specification import Specification, load_specification

#: How many cases of a group are shown whole; the others are named.
_SHOWN = 3

_NOT_ASKED = (Verdict.UNSUPPORTED.value, Verdict.NOT_RUN.value)


def links_of(known: KnownFailures) -> dict[str, str]:
    """Return the address of the thread about each known failure, by its case; empty if there is none."""
    return {case: _thread(entry.link or _thread_in(entry.reason)) for case, entry in known.entries.items()}


def run_view(run: Run, command: str, known: KnownFailures, engine: str) -> dict[str, Any]:
    """Return the values that the page of a run shows."""
    hello, specification = run.hello, load_specification()
    failed, listed, unsupported = groups(run, links_of(known))
    counted = {chapter_of(result.case) for result in run.results if result.case.clauses}
    chapters = [chapter for chapter in chapters_of(specification) if chapter in counted]
    marks = choice_marks(run)
    return {
        "name": name_of(run),
        "language": shown(hello.language, 60),
        "engine": shown(engine, 60),
        "operations": shown(", ".join(hello.operations)),
        "formats": shown(", ".join(hello.formats)),
        "fields": shown(", ".join(hello.encode_fields)),
        "command": shown(command),
        "good": run.state == "conforms",
        "state": f"{run.state}.",
        "headline": shown(headline(run)).rpartition(": ")[2],
        "problems": [shown(problem) for problem in run.complaints],
        "faults": [shown(fault) for fault in run.faults],
        "chapters": [
            (
                chapter,
                chapter_title(chapter),
                cell(result for result in run.results if chapter_of(result.case) == chapter),
            )
            for chapter in chapters
        ],
        "profiles": [(name, cell(in_profile(run.results, name))) for name in specification.profiles],
        "failed": [_group(group, specification) for group in failed],
        "known": [_group(group, specification) for group in listed],
        "unsupported": [{"count": len(group.results), "name": shown(group.name)} for group in unsupported],
        "choices": [
            {
                "name": name,
                "option": shown(option),
                "mark": marks[name],
                "rule": plain(specification.choices[name].options.get(option, "")),
            }
            for name, option in run.choices.items()
            if name in specification.choices
        ],
        "dissents": [(clause, text) for who, clause, text in _dissents() if f"{hello.name} {hello.version}" in who],
        "features": [each.name for each in FEATURES],
        "badges": [],
        "versions": [],
        "releases": [],
        "home": "",
        "adapter_by": "",
        "letter": "",
        "file": "",
        "models": (),
    }


def release_view(release: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values to show for a release in a history that ``tokspec history --json`` wrote."""
    counts = release.get("counts", {})
    asked = sum(count for verdict, count in counts.items() if verdict not in _NOT_ASKED)
    lines = [
        f"{change['change']} {len(change['cases'])}: {shown(change['cause'])}" for change in release.get("changes", ())
    ]
    return {
        "version": shown(release["version"], 40),
        "passed": "" if "fault" in release else f"{counts.get(Verdict.PASS.value, 0)} of {asked}",
        "lines": [f"not judged: {shown(release['fault'])}"] if "fault" in release else lines,
    }


def chapters_of(specification: Specification) -> list[str]:
    """Return the chapters in order."""
    return list(dict.fromkeys(clause.chapter for clause in specification.clauses.values()))


def _group(group: Group, specification: Specification) -> dict[str, Any]:
    clause = specification.clauses.get(group.name)
    return {
        "name": shown(group.name),
        "text": clause.text if clause else "",
        "count": len(group.results),
        "link": group.link,
        "first": [_item(result) for result in group.results[:_SHOWN]],
        "others": [
            (result.case.id, chapter_of(result.case), features_of(result.case)) for result in group.results[_SHOWN:]
        ],
    }


def _item(result: Result) -> dict[str, Any]:
    case = result.case
    place = result.difference.path if result.difference else ()
    return {
        "id": case.id,
        "chapter": chapter_of(case),
        "features": features_of(case),
        "verdict": result.verdict.value,
        "clauses": ", ".join(case.clauses),
        "why": shown(case.why),
        "operation": case.operation,
        "input": shown(result.question.input, 200),
        "rows": token_rows(result.question, result.expected, result.reply, place),
        "difference": difference_text(result) if result.difference else describe_reply(result),
    }


def name_of(run: Run) -> str:
    """Return the name and version of the implementation, in the form in which they are shown."""
    return shown(f"{run.hello.name} {run.hello.version}".strip(), 80) or "unnamed"


_THREAD = re.compile(r"\b([\w.-]+/[\w.-]+)#(\d+)\b")


def _thread_in(reason: str) -> str:
    match = _THREAD.search(reason)
    return match[0] if match else ""


def with_threads(text: str) -> Markup:
    """Return a text as HTML, with a link for each thread that it names and ``<code>`` for each part in backticks.

    >>> with_threads("<a>; a/b#1")
    Markup('&lt;a&gt;; <a href="https://github.com/a/b/issues/1" rel="noreferrer">a/b#1</a>')
    >>> with_threads("ignores `<x>`")
    Markup('ignores <code>&lt;x&gt;</code>')
    """
    link = Markup('<a href="https://github.com/{}/issues/{}" rel="noreferrer">{}</a>')
    found, end = Markup(), 0
    for match in _THREAD.finditer(text):
        found += _with_code(text[end : match.start()]) + link.format(match[1], match[2], match[0])
        end = match.end()
    return found + _with_code(text[end:])


def _with_code(text: str) -> Markup:
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(Markup.escape(text))))


def _thread(link: str) -> str:
    """Return an address that a page may link to; empty if the text is not an address."""
    match = _THREAD.fullmatch(link)
    if match:
        return f"https://github.com/{match[1]}/issues/{match[2]}"
    return link if link.startswith("https://") else ""


@cache
def _dissents() -> tuple[tuple[str, str, str], ...]:
    text = (specification_folder() / "08-choices.md").read_text("utf-8")
    rows = [
        line.strip("| ").split(" | ") for line in text.partition("## Dissents")[2].splitlines() if line.startswith("|")
    ]
    return tuple((row[0], row[1], plain(row[2])) for row in rows[2:] if len(row) == 3)


def plain(text: str) -> str:
    """Return a text of the specification without its Markdown marks."""
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text).replace("`", "")
