"""``tokspec cases``: list and show the contents of the suite."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tokspec import formats
from tokspec.base.display import compact, shorten, visible
from tokspec.base.errors import DataError, Unsupported
from tokspec.cli.options import exclude_option, files_of_fixtures, fixtures_option, refuse_outputs
from tokspec.report.text import say
from tokspec.suite.cases import Case, Suite, write_bundle
from tokspec.suite.fixtures import load_suite
from tokspec.suite.origins import bundle_origins
from tokspec.suite.selection import select
from tokspec.suite.specification import Clause, load_specification


@click.command("cases", short_help="List cases, show one, or write all as one file.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@exclude_option
@click.option("--source", is_flag=True, help="Group the cases by document and section, with the results printed there.")
@click.option(
    "--bundle",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write all cases to this file, as JSON.",
)
@click.option(
    "--format",
    "formats_",
    type=click.Choice([*formats.FORMATS]),
    multiple=True,
    help="Put the models into the bundle in this format too. May be repeated.",
)
@fixtures_option
def cases_command(
    names: tuple[str, ...],
    excluded: tuple[str, ...],
    source: bool,
    bundle: Path | None,
    formats_: tuple[str, ...],
    fixtures: Path | None,
) -> None:
    """List all cases or those that NAME selects, or show one case or clause.

    \b
    tokspec cases                               all cases, with operation and clauses
    tokspec cases "bpe-*" decode                the cases with this id, clause, operation, tag or file; * is a wildcard
    tokspec cases bpe-toy-encode-bug            one case: its clauses, model, input, outcome, and how to run it
    tokspec cases BPE-ENC-1                     a clause: its rule, source, profiles and cases
    tokspec cases E-7 unigram_tie               an erratum, a choice: what the specification says, and cases
    tokspec cases unhug                         the cases with this text, token or printed number
    tokspec cases --source                      which document prints which result
    tokspec cases --bundle cases.json           for runners in other languages
    """
    if bundle and (names or excluded or source):
        raise click.UsageError("--bundle writes all cases; leave out NAME, --exclude and --source")
    if formats_ and not bundle:
        raise click.UsageError("--format is for --bundle; tokspec model writes one model")
    refuse_outputs({"--bundle": bundle}, {"--fixtures": files_of_fixtures(fixtures)})
    suite = load_suite(fixtures)
    if bundle:
        models = {name: write_models(suite, name) for name in formats_}
        write_bundle(bundle, suite, load_specification(), models, find_limits(suite, models), bundle_origins())
        click.echo(f"wrote {_count(len(suite), 'case')} to {visible(str(bundle))}")
        return
    entries = {name: shown for name in names if (shown := _show_entry(name, suite))}
    if names and not source and not excluded and all(name in suite.cases or name in entries for name in names):
        for name in names:
            say(entries[name] if name in entries else _show(suite.cases[name], fixtures))
        return
    cases = _select(suite, [found for name in names for found in _names(suite, name)], excluded)
    if source:
        click.echo("\n\n".join(_by_source(cases)) or "none of these cases comes from a document")
        return
    width = max(len(case.id) for case in cases)
    wide = max(len(case.operation) for case in cases)
    for case in cases:
        click.echo(f"{case.id:<{width}}  {case.operation:<{wide}}  {', '.join(case.clauses)}")
    click.echo(_count(len(cases), "case"))


#: How many cases of a choice are named.
_NAMED = 10


def _show_entry(name: str, suite: Suite) -> list[str]:
    """Return the lines that show a clause, an erratum or a choice; none if the name is another."""
    specification, cases = load_specification(), suite.cases.values()
    if name in specification.clauses:
        return [*_show_clause(specification.clauses[name], suite)]
    if erratum := specification.errata.get(name):
        having = [case.id for case in cases if any(entry.get("erratum") == name for entry in case.stated)]
        shown = [f"{key}: {text}" for key, text in erratum.fields.items()]
        return [name, *(f"  {line}" for line in shown), f"  cases: {', '.join(having) or 'none'}"]
    if choice := specification.choices.get(name):
        having = [case.id for case in cases if f"'{name}'" in repr(case.outcome)]
        options = [
            f"{option}{' (default)' * (option == choice.default)}: {rule}" for option, rule in choice.options.items()
        ]
        more = f" and {len(having) - _NAMED} more" if len(having) > _NAMED else ""
        return [
            f"{name}: {choice.question}",
            *(f"  {each}" for each in options),
            f"  cases: {', '.join(having[:_NAMED]) or 'none'}{more}",
        ]
    return []


def _select(suite: Suite, names: Sequence[str], excluded: Sequence[str]) -> list[Case]:
    """Return the cases that some names select.

    Raises:
        DataError: there are no such cases.
    """
    try:
        return select(suite.cases.values(), names, excluded)
    except DataError as error:
        raise DataError(error.message, key="NAME" if error.key == "--select" else error.key) from None


def _names(suite: Suite, name: str) -> list[str]:
    """Return a name that selects cases as it is; for any other, return the ids of the cases that have it.

    A case has a name if its id contains it, or if it is a text, a token or a number in the case's input, outcome or
    printed results.
    """
    try:
        select(suite.cases.values(), [name])
    except DataError:
        having = [case.id for case in suite.cases.values() if name in case.id or name in _values(case)]
        return having or [name]
    return [name]


def _values(case: Case) -> Iterator[str]:
    """Return the strings and numbers in the questions of a case, and those that a document prints."""
    asked = [each for question in case.questions for each in (question.input, question.outcome)]
    left: list[Any] = [*asked, *(entry["printed"] for entry in case.stated)]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
        else:
            yield str(value)


def _by_source(cases: Sequence[Case]) -> Iterator[str]:
    """Return a paragraph for each document that is the source of cases."""
    for document, title in load_specification().documents.items():
        own = [case for case in cases if document in case.documents]
        if own:
            yield "\n".join(_document_lines(document, title, own))


def _document_lines(document: str, title: str, cases: Sequence[Case]) -> Iterator[str]:
    """Return the lines of a document's printed results by section, and their counts."""
    results = [(case, entry) for case in cases for entry in case.stated if document in entry.get("in", case.documents)]
    errata = sum(entry["relation"] == "erratum" for _, entry in results)
    counts = f"{_count(len(results), 'printed result')}, {errata} of them errata, in {_count(len(cases), 'case')}"
    yield f"{document} ({title}): {counts}"
    for section in dict.fromkeys(_sections(case, document) for case in cases):
        yield f"  {visible(section, keeps_marks=True)}"
        for case in cases:
            if _sections(case, document) == section:
                yield from _case_lines(case, [entry for other, entry in results if other is case])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _sections(case: Case, document: str) -> str:
    return "; ".join(dict.fromkeys(entry["section"] for entry in case.source if entry.get("document") == document))


def _case_lines(case: Case, stated: Sequence[object]) -> Iterator[str]:
    yield f"    {visible(case.id)}"
    for entry in stated:
        if isinstance(entry, dict):
            printed = f" {shorten(compact(entry['printed']), 60)}"
            erratum = f" {entry['erratum']}" if "erratum" in entry else ""
            yield visible(f"      {entry['at'] or '/'}: {entry['relation']}{erratum}{printed}")


def write_models(suite: Suite, format: str) -> dict[str, Any]:
    """Write every model of a suite in a format, or the reason why the format cannot express the model.

    Raises:
        DataError: the format needs a package that is not installed.
    """
    written = {}
    for model in {case.model.name: case.model for case in suite.cases.values()}.values():
        try:
            written[model.name] = {"content": formats.write(format, model.content)}
        except Unsupported as refusal:
            written[model.name] = {"unsupported": refusal.message}
    return written


def find_limits(suite: Suite, models: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Return why files that were written differ in meaning from their models, by the question's id and the format."""
    found: dict[str, dict[str, str]] = {}
    for question in (question for case in suite.cases.values() for question in case.questions):
        for format, written in models.items():
            if "content" not in written[question.model.name]:
                continue
            try:
                formats.refuse_input(format, question.model.content, question.input)
            except Unsupported as refusal:
                found.setdefault(question.id, {})[format] = refusal.message
    return found


def _show_clause(clause: Clause, suite: Suite) -> Iterator[str]:
    yield f"{clause.id} ({clause.level})  spec/{clause.chapter}.md:{clause.line}"
    yield f"  {visible(clause.text)}"
    yield f"  Source: {visible(clause.source)}"
    yield f"  Profiles: {', '.join(clause.profiles) or 'none'}"
    yield from (f"  {case.id}" for case in suite.cases.values() if clause.id in case.clauses)


def _show(case: Case, fixtures: Path | None) -> Iterator[str]:
    clauses = load_specification().clauses
    yield visible(f"{case.id}  ({case.file}:{case.line})")
    yield f"  {visible(case.why)}"
    for clause in case.clauses:
        yield f"  {clause} ({clauses[clause].level}) {visible(clauses[clause].text)}"
        yield f"    Source: {visible(clauses[clause].source)}"
        yield f"    Profiles: {', '.join(clauses[clause].profiles) or 'none'}"
    rows = [("model", f"{case.model.name} {compact(case.model.content)}")]
    for question in case.questions:
        number = f"#{question.row} " if question.row else ""
        rows.append(("asked", f"{number}{case.operation} {compact(question.input)}"))
        rows += list(_outcome_rows(question.outcome, ""))
    rows += [("stated", _stated(entry)) for entry in case.stated]
    rows += [("worked", f"{entry['at']} = {entry['from']}") for entry in case.worked]
    rows += [("source", _source(entry)) for entry in case.source]
    rows += [("verified", how) for how in case.verified_by]
    others = f" --fixtures {shlex.quote(str(fixtures))}" if fixtures else ""
    rows.append(("run", f"tokspec run --impl IMPLEMENTATION{others} --select {case.id}"))
    for label, text in rows:
        yield f"  {label:<9} {visible(text, keeps_marks=label == 'source')}"


def _source(entry: Mapping[str, str]) -> str:
    """Write where a case comes from, with the document's title."""
    title = load_specification().documents.get(entry.get("document", ""))
    return ", ".join(entry.values()) + (f" ({title})" if title else "")


def _outcome_rows(outcome: object, option: str) -> Iterator[tuple[str, str]]:
    if not isinstance(outcome, dict):
        return
    for key, value in outcome.items():
        if key == "by_choice":
            for name, options in value.items():
                for one, nested in options.items():
                    yield from _outcome_rows(nested, f"{option}{name}={one}: ")
        elif key == "one_of":
            for answer in value:
                yield "one of", option + compact(answer)
        else:
            yield {"error": "refused"}.get(key, "expected"), option + compact(value)


def _stated(entry: object) -> str:
    if not isinstance(entry, dict):
        return ""
    printed = f" {compact(entry['printed'])}"
    return f"{entry['at'] or '/'} {entry['relation']} {entry.get('erratum', '')}".rstrip() + printed
