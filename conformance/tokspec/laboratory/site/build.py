"""The static site of a matrix, and one file for a run.

Every page is a file that opens from disk and asks for nothing from elsewhere. What implementations return is untrusted:
it passes through :func:`tokspec.base.display.visible`, is cut to a size, and is escaped by the templates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tokspec import __version__
from tokspec.base.display import visible
from tokspec.base.files import fixtures_folder, refuse_links, specification_folder, write_whole
from tokspec.judge.compare import resolve
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.runner import Run
from tokspec.judge.scope import in_profile
from tokspec.judge.verdicts import Result, Verdict
from tokspec.laboratory.matrix.rows import MatrixRow
from tokspec.laboratory.matrix.vocabularies import Cell as VocabularyCell
from tokspec.laboratory.matrix.vocabularies import Column
from tokspec.laboratory.site.badges import badge_json, badge_svg
from tokspec.laboratory.site.features import FEATURES
from tokspec.laboratory.site.views import (
    NOT_HELD,
    Group,
    cell,
    chapter_of,
    chapter_title,
    choice_marks,
    describe_reply,
    difference_text,
    groups,
    model_text,
    options_taken,
    shown,
    token_rows,
    vocabulary_view,
)
from tokspec.report.text import headline
from tokspec.suite.cases import Case, Suite
from tokspec.suite.specification import Specification, load_specification

#: Cases of a group that are shown whole; the others are named.
_SHOWN = 3

_HERE = Path(__file__).parent

#: What the manual says about a row of one's own.
_ADD_PAGE = "docs/add-your-implementation.html"

#: And about the table of real vocabularies.
_VOCABULARIES_PAGE = "docs/vocabularies.html"

#: What a column of it is, by its format.
_FORMATS = {
    "tokenizer.json": "tokenizer.json, of the library tokenizers",
    "sentencepiece.model": "model of SentencePiece (-pieces)",
    "vocab.tiktoken": "ranks of tiktoken (-ranks)",
    "tekken.json": "tekken.json of Mistral",
}


def build_site(rows: Sequence[MatrixRow], suite: Suite, folder: Path, columns: Sequence[Column] = ()) -> int:
    """Write the pages of a matrix, and of that of real vocabularies, into a folder, and return how many there are.

    Raises:
        DataError: a page cannot be written, or there is a link in the folder.
    """
    refuse_links(folder)
    return _Site(rows, suite, folder, columns).write()


def run_page(run: Run, title: str, command: str) -> str:
    """Return one page for a run, with its style in it."""
    view = _run_view(run, command, KnownFailures(), "")
    css = (_HERE / "style.css").read_text("utf-8")
    return _render("implementation.html", title=title, view=view, root="", linked=False, inline=True, css=css)


@dataclass(frozen=True)
class _Judged:
    """An implementation with the name of its page."""

    file: str
    name: str
    row: MatrixRow
    run: Run


class _Site:
    def __init__(self, rows: Sequence[MatrixRow], suite: Suite, folder: Path, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.suite, self.folder, self.specification = suite, folder, load_specification()
        self.judged = list(_with_files(rows))
        self.absent = [(shown(row.listed.name), shown(row.missing)) for row in rows if not row.run]
        self.results = {
            judged.file: {result.case.id: result for result in judged.run.results} for judged in self.judged
        }
        counted = set(map(chapter_of, suite.cases.values()))
        self.chapters = [chapter for chapter in _chapters(self.specification) if chapter in counted]
        self.documents = _documents()
        self.pages = 0

    def write(self) -> int:
        self.index()
        self.features()
        self.choices()
        self.clauses()
        for judged in self.judged:
            self.implementation(judged)
        for judged in self.with_vocabularies:
            cells = [view for view in map(vocabulary_view, self.cells_of(judged)) if view]
            self.page(f"vocabularies/{judged.file}.html", "vocabularies.html", judged.name, judged=judged, cells=cells)
        if self.columns:
            write_whole(self.folder / "vocabularies.json", json.dumps([asdict(column) for column in self.columns]))
        for case in self.suite.cases.values():
            self.case(case)
        for clause in self.specification.clauses.values():
            self.clause(clause.id)
        for file, source in self.documents.items():
            self.page(file, "page.html", _title(source), body=_markdown(source, file))
        for name in ("style.css", "site.js"):
            write_whole(self.folder / name, (_HERE / name).read_text("utf-8"))
        return self.pages

    def page(self, file: str, template: str, title: str, **values: Any) -> None:
        target = self.folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        root = "../" * file.count("/")
        site_pages = [("spec/index.html", "specification"), ("spec/errata.html", "errata")]
        site_pages += [("docs/index.html", "manual")] if "docs/index.html" in self.documents else []
        site_pages += [(_ADD_PAGE, "add your own")] if _ADD_PAGE in self.documents else []
        content = _render(template, title=title, root=root, linked=True, inline=False, site_pages=site_pages, **values)
        write_whole(target, content)
        self.pages += 1

    @property
    def with_vocabularies(self) -> list[_Judged]:
        """The implementations that have cells of real vocabularies."""
        return [judged for judged in self.judged if any(self.cells_of(judged))]

    def cells_of(self, judged: _Judged) -> list[VocabularyCell | None]:
        hello = judged.run.hello
        return [column.cells.get(f"{hello.name} {hello.version}".strip()) for column in self.columns]

    def index(self) -> None:
        vocabularies = [
            {
                "file": judged.file,
                "name": judged.name,
                "language": shown(judged.run.hello.language, 30),
                "engine": shown(judged.row.listed.engine, 60),
                "cells": [vocabulary_view(cell) for cell in self.cells_of(judged)],
            }
            for judged in self.with_vocabularies
        ]
        rows = [
            {
                "file": judged.file,
                "name": judged.name,
                "language": shown(judged.run.hello.language, 30),
                "engine": shown(judged.row.listed.engine, 60),
                "all": cell(judged.run.results),
                "cells": [
                    (chapter, cell(result for result in judged.run.results if chapter_of(result.case) == chapter))
                    for chapter in self.chapters
                ],
                "profiles": [cell(in_profile(judged.run.results, profile)) for profile in self.specification.profiles],
            }
            for judged in self.judged
        ]
        self.page(
            "index.html",
            "index.html",
            "Results",
            rows=rows,
            chapters=[(chapter, chapter_title(chapter)) for chapter in self.chapters],
            profiles=list(self.specification.profiles),
            vocabularies=vocabularies,
            columns=[
                (
                    shown(column.vocabulary, 40),
                    f"not compared: {shown(column.fault)}" if column.fault else column.format,
                )
                for column in self.columns
            ],
            formats=[
                (
                    _FORMATS.get(format, format),
                    [shown(column.vocabulary, 40) for column in self.columns if column.format == format],
                )
                for format in dict.fromkeys(column.format for column in self.columns)
            ],
            vocabularies_page=_VOCABULARIES_PAGE if _VOCABULARIES_PAGE in self.documents else "",
            languages=sorted({row["language"] for row in rows}),
            engines=sorted({row["engine"] for row in rows}),
            engine_count=len({row["engine"] for row in rows}),
            clause_count=sum(clause.level != "RETIRED" for clause in self.specification.clauses.values()),
            case_count=len(self.suite),
            absent=self.absent,
            add_page=_ADD_PAGE if _ADD_PAGE in self.documents else "",
            version=__version__,
            fixtures=self.suite.hash,
        )

    def features(self) -> None:
        cases = [{case.id for case in self.suite.cases.values() if each.shows(case)} for each in FEATURES]
        rows = [
            {
                "file": judged.file,
                "name": judged.name,
                "language": shown(judged.run.hello.language, 30),
                "cells": [cell(each for each in judged.run.results if each.case.id in ids) for ids in cases],
            }
            for judged in self.judged
        ]
        self.page(
            "features.html",
            "features.html",
            "Features",
            rows=rows,
            features=list(zip(FEATURES, map(len, cases), strict=True)),
            languages=sorted({row["language"] for row in rows}),
        )

    def choices(self) -> None:
        marks = {judged.file: choice_marks(judged.run) for judged in self.judged}
        choices = [
            {
                "name": choice.name,
                "question": _inline(choice.question, "08-choices", "choices.html"),
                "options": [
                    {
                        "name": option,
                        "rule": _inline(rule, "08-choices", "choices.html"),
                        "default": option == choice.default,
                        "who": [
                            (judged.name, judged.file, marks[judged.file][choice.name])
                            for judged in self.judged
                            if judged.run.choices.get(choice.name) == option
                            and marks[judged.file][choice.name] != NOT_HELD
                        ],
                    }
                    for option, rule in choice.options.items()
                ],
            }
            for choice in self.specification.choices.values()
        ]
        self.page("choices.html", "choices.html", "Choices", choices=choices)

    def clauses(self) -> None:
        counts = {
            clause: sum(clause in case.clauses for case in self.suite.cases.values())
            for clause in self.specification.clauses
        }
        chapters = [
            (
                name,
                chapter_title(name),
                [
                    (clause, _inline(clause.text, name, "clauses.html"), counts[clause.id])
                    for clause in self.specification.clauses.values()
                    if clause.chapter == name and clause.level != "RETIRED"
                ],
            )
            for name in _chapters(self.specification)
        ]
        self.page("clauses.html", "clauses.html", "Clauses and cases", chapters=chapters)

    def implementation(self, judged: _Judged) -> None:
        listed = judged.row.listed
        name = f"{listed.release}=={judged.run.hello.version}" if listed.release else _public(listed.name)
        command = f"tokspec run --impl {_quoted(name)}"
        view = _run_view(judged.run, command, listed.known, listed.engine)
        view["badges"] = list(self.badges(judged))
        view["file"] = judged.file
        view["vocabularies"] = judged in self.with_vocabularies
        self.page(f"implementation/{judged.file}.html", "implementation.html", judged.name, view=view)

    def badges(self, judged: _Judged) -> Iterator[dict[str, str]]:
        kinds = [("", "tokspec", cell(judged.run.results))]
        for profile in self.specification.profiles:
            counted = cell(in_profile(judged.run.results, profile))
            if counted.asked:
                kinds.append((f"-{profile}", f"tokspec {profile}", counted))
        for suffix, label, counted in kinds:
            file = f"{judged.file}{suffix}"
            message = f"{counted.passed}/{counted.asked} asked" if counted.asked else "nothing asked"
            path = self.folder / "badge"
            path.mkdir(parents=True, exist_ok=True)
            write_whole(path / f"{file}.svg", badge_svg(label, message, counted.level))
            write_whole(path / f"{file}.json", json.dumps(badge_json(label, message, counted.level)) + "\n")
            yield {
                "file": f"../badge/{file}",
                "label": label,
                "text": f"{label}: {message}",
                "markdown": f"![{label}: {message}](badge/{file}.svg)",
            }

    def case(self, case: Case) -> None:
        defaults = self.specification.defaults()
        expected = resolve(case.outcome, defaults)
        answers, silent = self.answers(case)
        self.page(
            f"case/{case.id}.html",
            "case.html",
            case.id,
            case=case,
            by_choice=any("by_choice" in question.outcome for question in case.questions),
            input=f"{len(case.rows)} rows" if case.rows else shown(case.input, 2000),
            expected=[line for question in case.questions for line in _question_lines(question)],
            rows=token_rows(case, expected, None),
            sources=[", ".join(f"{key}: {value}" for key, value in source.items()) for source in case.source],
            errata=sorted({entry["erratum"] for entry in case.stated if "erratum" in entry}),
            model=model_text(case),
            answers=answers,
            silent=silent,
        )

    def answers(self, case: Case) -> tuple[list[dict[str, Any]], int]:
        """Return who answers what, those that answer alike together; and how many were not asked."""
        found: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[tuple[_Judged, Result]]] = {}
        silent = 0
        for judged in self.judged:
            result = self.results[judged.file].get(case.id)
            if result is None or result.verdict in (Verdict.UNSUPPORTED, Verdict.NOT_RUN):
                silent += 1
            else:
                taken = (each[:2] for each in options_taken(result, judged.run.choices))
                key = result.verdict.value, describe_reply(result), tuple(dict.fromkeys(taken))
                found.setdefault(key, []).append((judged, result))
        shown_groups = []
        for (verdict, text, options), members in sorted(found.items(), key=lambda item: -len(item[1])):
            result = members[0][1]
            is_wrong = result.verdict is not Verdict.PASS
            reasons = dict.fromkeys(
                shown(each.detail) for _, each in members if each.verdict is Verdict.KNOWN_FAILURE and each.detail
            )
            place = result.difference.path if result.difference else ()
            shown_groups.append(
                {
                    "verdict": verdict,
                    "options": options,
                    "who": [(judged.name, judged.file) for judged, _ in members],
                    "text": text
                    if is_wrong
                    else "; ".join(_outcomes(result.expected))
                    if options and not case.rows
                    else "",
                    "why": " / ".join(reasons),
                    "rows": token_rows(result.question, result.expected, result.reply, place) if is_wrong else [],
                }
            )
        return shown_groups, silent

    def clause(self, id: str) -> None:
        cases = [case for case in self.suite.cases.values() if id in case.clauses]
        counts = {case.id: [0, 0] for case in cases}
        failing, passing = [], []
        for judged in self.judged:
            own = [self.results[judged.file][case.id] for case in cases if case.id in self.results[judged.file]]
            asked = [result for result in own if result.verdict not in (Verdict.UNSUPPORTED, Verdict.NOT_RUN)]
            for result in asked:
                counts[result.case.id][0] += result.verdict is not Verdict.PASS
                counts[result.case.id][1] += 1
            wrong = sum(result.verdict is not Verdict.PASS for result in asked)
            if wrong:
                failing.append((judged.name, judged.file, wrong, len(asked)))
            elif asked:
                passing.append((judged.name, judged.file))
        clause = self.specification.clauses[id]
        text = _inline(clause.text, clause.chapter, f"clause/{id}.html")
        self.page(
            f"clause/{id}.html",
            "clause.html",
            id,
            clause=clause,
            text=text,
            cases=[(case, *counts[case.id]) for case in cases],
            failing=failing,
            passing=passing,
        )


def _run_view(run: Run, command: str, known: KnownFailures, engine: str) -> dict[str, Any]:
    """Return what a page about a run shows."""
    hello, specification = run.hello, load_specification()
    links = {case: _thread(entry.link or _thread_in(entry.reason)) for case, entry in known.entries.items()}
    failed, listed, unsupported = groups(run, links)
    counted = {chapter_of(result.case) for result in run.results if result.case.clauses}
    chapters = [chapter for chapter in _chapters(specification) if chapter in counted]
    counts, marks = run.counts, choice_marks(run)
    wrong = len(run.failed)
    state = f"fails {wrong} case{'' if wrong == 1 else 's'}" if wrong else "passes what it is asked"
    if not wrong and counts[Verdict.KNOWN_FAILURE]:
        state = f"fails {counts[Verdict.KNOWN_FAILURE]} cases, all of them known"
    return {
        "name": _name(run),
        "language": shown(hello.language, 60),
        "engine": shown(engine, 60),
        "operations": shown(", ".join(hello.operations)),
        "formats": shown(", ".join(hello.formats)),
        "fields": shown(", ".join(hello.encode_fields)),
        "command": shown(command),
        "good": run.conforms and not counts[Verdict.KNOWN_FAILURE],
        "state": f"{state}.",
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
                "rule": _plain(specification.choices[name].options.get(option, "")),
            }
            for name, option in run.choices.items()
            if name in specification.choices
        ],
        "dissents": [(clause, text) for who, clause, text in _dissents() if f"{hello.name} {hello.version}" in who],
        "badges": [],
        "file": "",
        "vocabularies": False,
    }


def _chapters(specification: Specification) -> list[str]:
    return list(dict.fromkeys(clause.chapter for clause in specification.clauses.values()))


def _question_lines(question: Case) -> Iterator[str]:
    """Return the lines of what is expected; those of a row of a table say what it asks."""
    asked = f"{question.row}. {shown(question.input, 200)}: " if question.row else ""
    yield from (f"{asked}{line}" for line in _outcomes(question.outcome))


def _group(group: Group, specification: Specification) -> dict[str, Any]:
    clause = specification.clauses.get(group.name)
    return {
        "name": shown(group.name),
        "text": clause.text if clause else "",
        "count": len(group.results),
        "link": group.link,
        "first": [_item(result) for result in group.results[:_SHOWN]],
        "others": [(result.case.id, chapter_of(result.case)) for result in group.results[_SHOWN:]],
    }


def _item(result: Result) -> dict[str, Any]:
    case = result.case
    place = result.difference.path if result.difference else ()
    return {
        "id": case.id,
        "chapter": chapter_of(case),
        "verdict": result.verdict.value,
        "clauses": ", ".join(case.clauses),
        "why": shown(case.why),
        "operation": case.operation,
        "input": shown(result.question.input, 200),
        "rows": token_rows(result.question, result.expected, result.reply, place),
        "difference": difference_text(result) if result.difference else describe_reply(result),
    }


def _with_files(rows: Iterable[MatrixRow]) -> Iterator[_Judged]:
    """Give each implementation that ran a file name of its own."""
    taken: set[str] = set()
    for row in rows:
        if row.run is None:
            continue
        name = _name(row.run)
        base = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:80] or "unnamed"
        file = next(each for each in (base, *(f"{base}-{number}" for number in range(2, 1000))) if each not in taken)
        taken.add(file)
        yield _Judged(file, name, row, row.run)


def _name(run: Run) -> str:
    return shown(f"{run.hello.name} {run.hello.version}".strip(), 80) or "unnamed"


def _public(command: str) -> str:
    """Return a command without the folder of this machine in which the adapters are."""
    return command.replace(f"{fixtures_folder().parent}/", "")


def _quoted(text: str) -> str:
    return f'"{visible(text)}"' if " " in text else visible(text)


def _outcomes(outcome: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Write what is expected, an option of a choice a line."""
    if "by_choice" not in outcome:
        key, value = next(iter(outcome.items()), ("", ""))
        text = {"error": f"refused as {value}", "one_of": f"one of {shown(value, 2000)}"}.get(key, shown(value, 2000))
        yield f"{before}{text}"
        return
    for choice, options in outcome["by_choice"].items():
        for option, inner in options.items():
            yield from _outcomes(inner, f"{before}{choice}={option}: ")


_THREAD = re.compile(r"\b([\w.-]+/[\w.-]+)#(\d+)\b")


def _thread_in(reason: str) -> str:
    match = _THREAD.search(reason)
    return match[0] if match else ""


def _thread(link: str) -> str:
    """Return an address that a page may link to; nothing for what is none."""
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
    return tuple((row[0], row[1], _plain(row[2])) for row in rows[2:] if len(row) == 3)


def _plain(text: str) -> str:
    """Return a text of the specification without its marks."""
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text).replace("`", "")


def _documents() -> dict[str, Path]:
    """Return the chapters, and where the checkout is at hand the pages of docs/, by the file of each in the site."""
    chapters = sorted(specification_folder().glob("*.md"))
    found = {f"spec/{file.stem}.html": file for file in chapters}
    found["spec/index.html"] = chapters[0]
    docs = fixtures_folder().parent / "docs"
    found |= {f"docs/{file.stem}.html": file for file in sorted(docs.glob("*.md"))}
    if (docs / "README.md").is_file():
        found["docs/index.html"] = docs / "README.md"
    return found


def _title(file: Path) -> str:
    first = next((line for line in file.read_text("utf-8").splitlines() if line.startswith("# ")), file.stem)
    return first.removeprefix("# ")


def _markdown(source: Path, file: str) -> str:
    """Render a page: headings have anchors, links lead to the pages of the site."""
    tokens = _renderer().parse(source.read_text("utf-8"))
    level = 1
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[index + 1].content))
            level = min(int(token.tag[1]), level + 1)  # no level is left out, for those who listen to the page
            token.tag = f"h{level}"
        elif token.type == "heading_close":
            token.tag = f"h{level}"
        elif token.type == "inline" and token.children and token.content.startswith("[ ] "):
            token.children[0].content = token.children[0].content.replace("[ ]", "☐", 1)  # an entry of a checklist
        _lead_links(token.children or (), source, file)
    body: str = _renderer().renderer.render(tokens, _renderer().options, {})
    if file == "spec/index.html":
        listed = "".join(
            f'<li><a href="{chapter.stem}.html">{_title(chapter)}</a></li>'
            for chapter in sorted(specification_folder().glob("*.md"))
        )
        return f"<h1>Specification</h1><ol>{listed}</ol>{body}"
    return body


def _inline(text: str, chapter: str, file: str) -> str:
    """Render a line of a chapter for a page of the site."""
    tokens = _renderer().parseInline(text)
    for token in tokens:
        _lead_links(token.children or (), specification_folder() / f"{chapter}.md", file)
    rendered: str = _renderer().renderer.render(tokens, _renderer().options, {})
    return rendered


def _lead_links(tokens: Sequence[Token], source: Path, file: str) -> None:
    """Lead links to pages of the site; what else the repository has is named and no link."""
    opened: list[str] = []
    for token in tokens:
        href = token.attrGet("href")
        if token.type == "link_open" and isinstance(href, str):
            address = _address(href, source, file)
            opened.append("a" if address else "span")
            token.tag, token.attrs = opened[-1], {"href": address} if address else {"title": href}
        elif token.type == "link_close":
            token.tag = opened.pop()


def _anchor(heading: str) -> str:
    clause = re.match(r"([A-Z][A-Z0-9]*(?:-[A-Z]+)*-\d+)(?: |$)", heading)
    return (clause[1] if clause else re.sub(r"[^\w-]+", "-", heading.strip("`"))).strip("-").lower()


def _address(href: str, source: Path, file: str) -> str:
    """Return where a link of a page leads; nothing if that is no page of the site."""
    if href.startswith(("https://", "http://", "#")):
        return href
    path, mark, anchor = href.partition("#")
    target = (source.parent / path).resolve()
    pages = {page.resolve(): name for name, page in _documents().items() if not name.endswith("index.html")}
    return "../" * file.count("/") + pages[target] + mark + anchor.lower() if target in pages else ""


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(_HERE / "templates")
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)


def _render(template: str, **values: Any) -> str:
    values = {"css": "", "site_pages": [], **values}
    return _environment().get_template(template).render(values)
