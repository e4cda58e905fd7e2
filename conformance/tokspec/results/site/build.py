"""The static site of a matrix, and one file for a run.

Every page is a file that opens from disk and loads nothing from elsewhere. Text from implementations is untrusted: it
passes through :func:`tokspec.base.display.visible`, is cut to a size, and is escaped by the templates.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from tokspec import __version__
from tokspec.base.display import visible
from tokspec.base.files import fixtures_folder, refuse_links, write_whole
from tokspec.judge.compare import resolve
from tokspec.judge.effects import Effect
from tokspec.judge.known_failures import KnownFailures
from tokspec.judge.runner import Run
from tokspec.judge.scope import in_profile
from tokspec.judge.verdicts import Result, Verdict
from tokspec.results.changes import read_changes
from tokspec.results.recorded import Library, Recorded, are_related
from tokspec.results.rows import MatrixRow
from tokspec.results.site.badges import badge_json, badge_svg
from tokspec.results.site.documents import documents, inline, page_body, title_of
from tokspec.results.site.features import FEATURES, SYNONYMS
from tokspec.results.site.runs import chapters_of, links_of, name_of, plain, release_view, run_view, with_threads
from tokspec.results.site.views import (
    KNOWN,
    NOT_HELD,
    Share,
    cell,
    chapter_of,
    chapter_title,
    choice_marks,
    describe_language,
    describe_reply,
    effect_cells,
    groups,
    languages_in,
    model_text,
    model_view,
    options_taken,
    shown,
    token_rows,
)
from tokspec.suite.cases import Case, Suite
from tokspec.suite.specification import load_specification

_HERE = Path(__file__).parent

#: The page of the manual about adding an implementation.
_ADD_PAGE = "docs/add-your-implementation.html"

#: A case that the front page shows as an example: BPE merges in the order of ranks, not from left to right.
_EXAMPLE = "bpe-toy-encode-bug"


#: The letters of verdicts, by which two implementations are compared; any other verdict is wrong.
_LETTERS = {Verdict.PASS: "p", Verdict.KNOWN_FAILURE: "f", Verdict.UNSUPPORTED: "u", Verdict.NOT_RUN: "u"}


def build_site(
    rows: Sequence[MatrixRow],
    suite: Suite,
    folder: Path,
    recorded: Mapping[str, Recorded] | None = None,
    libraries: Sequence[Library] = (),
    histories: Sequence[Mapping[str, Any]] = (),
    address: str = "",
) -> int:
    """Write the pages of a matrix and of recorded results into a folder, and return the number of pages.

    Pages of other releases in the folder are kept and linked.

    Args:
        rows: the result of each implementation.
        suite: the cases.
        folder: the folder for the pages.
        recorded: the results of libraries with published tokenizers, by the name of the tokenizer.
        libraries: recorded results of libraries that are not among the rows; they have no pages.
        histories: the changes of implementations' releases, as ``tokspec history --json`` writes them.
        address: the address of the site, from which badges are shown.

    Raises:
        DataError: a page cannot be written, or there is a link in the folder.
    """
    refuse_links(folder)
    return _Site(rows, suite, folder, recorded or {}, libraries, histories, address).write()


def run_page(run: Run, title: str, command: str) -> str:
    """Return one page for a run, with the style sheet embedded."""
    view = run_view(run, command, KnownFailures(), "")
    css = (_HERE / "style.css").read_text("utf-8")
    return _render("implementation.html", title=title, view=view, root="", linked=False, inline=True, css=css)


@dataclass(frozen=True)
class _Judged:
    """An implementation with its place: ``impl/<file>/``, and for this release ``impl/<file>/<version>/``."""

    file: str
    version: str
    name: str
    row: MatrixRow
    run: Run


class _Site:
    def __init__(
        self,
        rows: Sequence[MatrixRow],
        suite: Suite,
        folder: Path,
        recorded: Mapping[str, Recorded],
        libraries: Sequence[Library],
        histories: Sequence[Mapping[str, Any]],
        address: str,
    ) -> None:
        rights = {each.name: each.right for each in libraries}
        self.models = [model_view(result, rights) for _, result in sorted(recorded.items())]
        self.libraries = libraries
        self.histories = {history["name"]: history["releases"] for history in histories}
        self.address = f"{address.rstrip('/')}/" if address else ""
        seconds = os.environ.get("SOURCE_DATE_EPOCH")
        self.date = datetime.fromtimestamp(int(seconds), UTC).date() if seconds else datetime.now(UTC).date()
        self.suite, self.folder, self.specification = suite, folder, load_specification()
        self.judged = list(_with_files(rows))
        self.places = {judged.name: judged.file for judged in self.judged}
        here = {judged.name: Library.of(judged.run) for judged in self.judged}
        self.counts = here | {each.name: each for each in libraries if each.name not in here}
        self.absent = [(shown(row.listed.name), shown(row.missing)) for row in rows if not row.run]
        self.results = {
            judged.file: {result.case.id: result for result in judged.run.results} for judged in self.judged
        }
        counted = set(map(chapter_of, suite.cases.values()))
        self.chapters = [chapter for chapter in chapters_of(self.specification) if chapter in counted]
        self.documents = documents()
        self.recorded = {each.name: each.name.rpartition(" ")[0] for each in self.libraries if each.bugs}
        self.pages = 0

    def write(self) -> int:
        self.index()
        self.by_chapter()
        self.bugs()
        for model in self.models:
            self.model(model)
        self.features()
        self.choices()
        self.clauses()
        self.compared()
        for judged in self.judged:
            self.implementation(judged)
        write_whole(self.folder / "results.json", json.dumps(self.everything()))
        for case in self.suite.cases.values():
            self.case(case)
        for clause in self.specification.clauses.values():
            self.clause(clause.id)
        for file, source in self.documents.items():
            self.page(file, "page.html", title_of(source), body=page_body(source, file))
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
        content = _render(
            template, title=title, root=root, linked=True, site_pages=site_pages, date=self.date, **values
        )
        write_whole(target, content)
        self.pages += 1

    def index(self) -> None:
        rows = [
            {
                "name": name,
                "language": shown(each.language, 30),
                "all": Share(each.right, each.asked),
                "cells": effect_cells(each),
                "untrusted": Share(*each.untrusted),
            }
            for name, each in self.counts.items()
            if not name.startswith("tokfast ")  # the suite's own, which nobody serves a model with
        ]
        self.page(
            "index.html",
            "index.html",
            "Which library for my model?",
            models=self.models,
            rows=rows,
            pages=self.places,
            effects=[effect.value for effect in Effect],
            languages=languages_in(
                chain((row["language"] for row in rows), *(each["languages"] for each in self.models))
            ),
            example=_EXAMPLE if _EXAMPLE in self.suite.cases else "",
            clause_count=sum(clause.level != "RETIRED" for clause in self.specification.clauses.values()),
            case_count=len(self.suite),
            absent=self.absent,
            recorded=self.recorded,
            add_page=_ADD_PAGE if _ADD_PAGE in self.documents else "",
            version=__version__,
            fixtures=self.suite.hash,
        )

    def model(self, model: Mapping[str, Any]) -> None:
        """Write the page of a published tokenizer."""
        type, names = model["type"], {row["name"] for row in model["rows"]}
        causes = {
            name: [bug for bug in each.bugs if bug.case in self.suite.cases and type in (bug.kinds or (type,))]
            for name, each in self.counts.items()
        }
        self.page(
            f"models/{model['name']}.html",
            "model.html",
            model["name"],
            model=model,
            pages=self.places,
            recorded=self.recorded,
            causes=causes,
            related=[
                (each, [row for row in each["rows"] if row["name"] not in names])
                for each in self.models
                if each is not model and are_related(each["name"], model["name"])
            ],
        )

    def about(self, judged: _Judged) -> dict[str, str]:
        """Return the values that tables show for an implementation."""
        language, engine = shown(judged.run.hello.language, 30), shown(judged.row.listed.engine, 60)
        return {"file": judged.file, "name": judged.name, "language": language, "engine": engine}

    def by_chapter(self) -> None:
        """Write the page with the passing cases of each chapter and each profile."""
        rows = [
            {
                **self.about(judged),
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
            "chapters.html",
            "chapters.html",
            "By chapter",
            rows=rows,
            chapters=[(chapter, chapter_title(chapter)) for chapter in self.chapters],
            profiles=list(self.specification.profiles),
            languages=languages_in(row["language"] for row in rows),
            engines=sorted({row["engine"] for row in rows}),
        )

    def bugs(self) -> None:
        """Write the page of all failures by library and cause, and of what releases changed, which can be searched."""
        rows = [
            {
                "file": judged.file,
                "name": judged.name,
                "release": shown(judged.run.hello.version, 30),
                "what": shown(group.name if " " in group.name else group.results[0].case.why),
                "link": group.link,
                "case": group.results[0].case,
                "cases": len(group.results),
                "messages": [
                    shown(message)
                    for bug in self.counts[judged.name].bugs
                    if bug.reason == group.name
                    for message in bug.messages
                ],
            }
            for judged in self.judged
            for group in chain(*groups(judged.run, links_of(judged.row.listed.known))[:2])
        ]
        here, cases = {judged.run.hello.name for judged in self.judged}, self.suite.cases
        rows += [
            {
                "file": "",
                "name": name,
                "release": release,
                "what": shown(bug.reason),
                "link": "",
                "case": cases[bug.case],
                "cases": bug.cases,
                "messages": [*map(shown, bug.messages)],
            }
            for each in self.libraries
            for name, _, release in [each.name.rpartition(" ")]
            if name not in here
            for bug in each.bugs
            if bug.case in cases
        ]
        changes = read_changes()
        names = [*dict.fromkeys([row["name"] for row in rows] + [change.library for change in changes])]
        self.page("bugs.html", "bugs.html", "Is my bug known?", rows=rows, changes=changes, names=names)

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
            languages=languages_in(row["language"] for row in rows),
        )

    def choices(self) -> None:
        marks = {judged.file: choice_marks(judged.run) for judged in self.judged}
        choices = [
            {
                "name": choice.name,
                "question": inline(choice.question, "08-choices", "choices.html"),
                "options": [
                    {
                        "name": option,
                        "rule": inline(rule, "08-choices", "choices.html"),
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
                    (clause, inline(clause.text, name, "clauses.html"), counts[clause.id])
                    for clause in self.specification.clauses.values()
                    if clause.chapter == name and clause.level != "RETIRED"
                ],
            )
            for name in chapters_of(self.specification)
        ]
        cases = {
            name: [case for case in self.suite.cases.values() if chapter_of(case) == name] for name, *_ in chapters
        }
        choices = [(choice, plain(choice.question)) for choice in self.specification.choices.values()]
        self.page(
            "clauses.html",
            "clauses.html",
            "Clauses and cases",
            chapters=chapters,
            cases=cases,
            choices=choices,
            features=FEATURES,
            judged=self.judged,
            models=self.models,
            words=json.dumps(SYNONYMS),
        )

    def compared(self) -> None:
        """Write the page that compares two implementations, with a letter for each implementation in each case."""
        rows = [
            (case, "".join(_LETTERS.get(self.verdict(judged, case), "f") for judged in self.judged))
            for case in self.suite.cases.values()
        ]
        values = {"rows": rows, "judged": self.judged, "title_of": lambda case: chapter_title(chapter_of(case))}
        self.page("compare.html", "compare.html", "Two beside each other", **values)

    def verdict(self, judged: _Judged, case: Case) -> Verdict:
        result = self.results[judged.file].get(case.id)
        return result.verdict if result else Verdict.NOT_RUN

    def everything(self) -> dict[str, Any]:
        """Return all results as one value: the verdicts of each implementation in the order of the cases."""
        told = [
            {
                "impl": judged.file,
                "name": judged.run.hello.name,
                "version": judged.run.hello.version,
                "language": judged.run.hello.language,
                "engine": judged.row.listed.engine,
                "problems": [shown(problem) for problem in judged.run.complaints],
                "verdicts": [self.verdict(judged, case).value for case in self.suite.cases.values()],
                "effects": {
                    effect.value: {"asked": asked, "right": right, "failing": failing}
                    for effect, (asked, right, failing) in judged.run.by_effect.items()
                },
            }
            for judged in self.judged
        ]
        return {
            "tokspec_results": 1,
            "tokspec": __version__,
            "date": str(self.date),
            "fixtures": self.suite.hash,
            "cases": [*self.suite.cases],
            "implementations": told,
        }

    def implementation(self, judged: _Judged) -> None:
        listed = judged.row.listed
        name = f"{listed.release}=={judged.run.hello.version}" if listed.release else _public(listed.name)
        command = f"tokspec run --impl {_quoted(name)}"
        view = run_view(judged.run, command, listed.known, listed.engine)
        view["badges"] = list(self.badges(judged))
        view["file"] = judged.file
        view["models"] = [
            model["name"] for model in self.models if judged.name in {row["name"] for row in model["rows"]}
        ]
        place = f"impl/{judged.file}"
        view["versions"], view["home"] = self.versions(judged), listed.home
        view["adapter_by"] = shown(listed.adapter_by)
        letter = f"docs/letters/{judged.file}.html"
        view["letter"] = letter if letter in self.documents else ""
        names = (listed.name, listed.release, judged.run.hello.name)
        view["releases"] = [
            *map(release_view, next((self.histories[each] for each in names if each in self.histories), ()))
        ]
        for file in (f"{place}/index.html", f"{place}/{judged.version}/index.html"):
            self.page(file, "implementation.html", judged.name, view=view)

    def versions(self, judged: _Judged) -> list[str]:
        """Return the releases that have a page in the folder: this one, and those of earlier sites."""
        place = self.folder / "impl" / judged.file
        return sorted({judged.version, *(file.parent.name for file in place.glob("*/index.html"))})

    def badges(self, judged: _Judged) -> Iterator[dict[str, str]]:
        kinds = [("", "tokspec", cell(judged.run.results))]
        for profile in self.specification.profiles:
            counted = cell(in_profile(judged.run.results, profile))
            if counted.asked:
                kinds.append((f"-{profile}", f"tokspec {profile}", counted))
        for suffix, label, counted in kinds:
            file = f"{judged.file}{suffix}"
            message = f"{counted.passed}/{counted.asked} asked" if counted.asked else "nothing asked"
            message += ", does not end well" if judged.run.problems else ""
            path, page = self.folder / "badge", f"{self.address}impl/{judged.file}/"
            path.mkdir(parents=True, exist_ok=True)
            write_whole(path / f"{file}.svg", badge_svg(label, message, counted.level))
            write_whole(path / f"{file}.json", json.dumps(badge_json(label, message, counted.level)) + "\n")
            yield {
                "file": f"badge/{file}",
                "label": label,
                "text": f"{label}: {message}",
                "markdown": f"[![{label}: {message}]({self.address}badge/{file}.svg)]({page})",
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
            recorded=[
                (each.name, shown(bug.reason))
                for each in self.libraries
                if each.name not in self.places
                for bug in each.bugs
                if bug.case == case.id
            ],
        )

    def answers(self, case: Case) -> tuple[list[dict[str, Any]], int]:
        """Return the answers to a case, each with the implementations that give it, and how many were not asked."""
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
            reasons = dict.fromkeys(shown(each.detail) for _, each in members if each.verdict in KNOWN and each.detail)
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
                    "why": " / ".join(reason for reason in reasons if reason != text),
                    "row": f"row {result.question.row}: {shown(result.question.input, 120)}"
                    if is_wrong and result.question.row
                    else "",
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
        text = inline(clause.text, clause.chapter, f"clause/{id}.html")
        self.page(
            f"clause/{id}.html",
            "clause.html",
            id,
            clause=clause,
            text=text,
            cases=[(case, *counts[case.id]) for case in cases],
            failing=failing,
            passing=passing,
            judged_count=len(self.judged),
        )


def _question_lines(question: Case) -> Iterator[str]:
    """Return the lines of the expected outcome; for a row of a table, they include its input."""
    asked = f"{question.row}. {shown(question.input, 200)}: " if question.row else ""
    yield from (f"{asked}{line}" for line in _outcomes(question.outcome))


def _with_files(rows: Iterable[MatrixRow]) -> Iterator[_Judged]:
    """Give each implementation that ran a unique file name."""
    taken: set[str] = set()
    for row in rows:
        if row.run is None:
            continue
        base = _slug(shown(row.run.hello.name, 80))
        file = next(each for each in (base, *(f"{base}-{number}" for number in range(2, 1000))) if each not in taken)
        taken.add(file)
        yield _Judged(file, _slug(row.run.hello.version), name_of(row.run), row, row.run)


def _slug(text: str) -> str:
    """Return a text in a form that may be part of an address.

    >>> _slug("@huggingface/tokenizers")
    'huggingface-tokenizers'
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", text[:400]).strip("-.")[:80] or "unnamed"


def _public(command: str) -> str:
    """Return a command without the path of the adapters' folder on this machine."""
    return command.replace(f"{fixtures_folder().parent}/", "")


def _quoted(text: str) -> str:
    return f'"{visible(text)}"' if " " in text else visible(text)


def _outcomes(outcome: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Write the expected outcome, with one line for each option of a choice."""
    if "by_choice" not in outcome:
        key, value = next(iter(outcome.items()), ("", ""))
        text = {"error": f"refused as {value}", "one_of": f"one of {shown(value, 2000)}"}.get(key, shown(value, 2000))
        yield f"{before}{text}"
        return
    for choice, options in outcome["by_choice"].items():
        for option, inner in options.items():
            yield from _outcomes(inner, f"{before}{choice}={option}: ")


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(_HERE / "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["threads"] = with_threads
    environment.filters["told"] = shown
    environment.filters["describe_language"] = describe_language
    environment.filters["breaks"] = lambda text: escape(text).replace("/", Markup("/<wbr>"))
    return environment


def _render(template: str, **values: Any) -> str:
    values = {"css": "", "site_pages": [], "inline": False, "date": "", **values}
    return _environment().get_template(template).render(values)
