"""``tokspec probe``: find out which choices an implementation makes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from tokspec.adapter import Hello
from tokspec.base.display import shorten, visible
from tokspec.base.errors import AdapterFault
from tokspec.cli.options import FILE, Target, fixtures_option, implementation_options, selection_options
from tokspec.judge.judging import end_problems
from tokspec.judge.known_failures import read_known_failures
from tokspec.judge.probe import ChoiceFinding, Probe, probe
from tokspec.protocol.messages import Fault
from tokspec.suite.fixtures import load_suite
from tokspec.suite.selection import select
from tokspec.suite.specification import load_specification


@click.command("probe", short_help="Find out which choices your tokenizer makes.")
@implementation_options
@selection_options
@fixtures_option
@click.option(
    "--known-failures",
    type=FILE,
    metavar="FILE.yaml",
    help="File that lists failing cases to leave out, because they say nothing about choices.",
)
def probe_command(
    target: Target,
    patterns: tuple[str, ...],
    excluded: tuple[str, ...],
    fixtures: Path | None,
    known_failures: Path | None,
) -> int:
    """Find out which choices an implementation makes, and print the declaration to paste into its hello.

    Exit status: 0 if it declares what was found, 1 if it declares something else, contradicts itself or does not
    answer.
    """
    aside = read_known_failures(known_failures).entries if known_failures else {}
    selected = select(load_suite(fixtures).cases.values(), patterns, excluded)
    cases = [case for case in selected if case.id not in aside]
    try:
        with target.open() as session:
            found, hello = probe(session, cases), session.hello
            ended = [
                f"did not end well: {fault}; no question is to blame"
                for fault in dict.fromkeys(map(str, session.unblamed))
            ]
    except AdapterFault as fault:
        raise target.unusable(fault) from None
    ended += [f"did not end well: {problem}" for problem in end_problems(session)]
    wrong = [*_wrong(found, hello.choices), *ended]
    click.echo("\n".join(map(visible, (*_shown(found, hello, bool(target.program)), *wrong))))
    return 1 if wrong else 0


def _shown(found: Probe, hello: Hello, is_program: bool) -> Iterator[str]:
    yield f"{hello.name} {hello.version} takes"
    told = [each for each in found.findings if each.told]
    if is_program:  # whose hello is JSON, which has no comments
        yield from f'"choices": {json.dumps(dict(found.declaration), indent=2)}'.split("\n")
        yield from (f"{each.choice}: {_costs(each)}{_evidence(each)}" for each in told)
    else:
        lines = [f'  "{choice}": "{option}",' for choice, option in found.declaration.items()]
        width = max(map(len, lines), default=0)
        yield "choices={"
        for line, finding in zip(lines, told, strict=True):
            yield f"{line:<{width}}  # {_costs(finding)}{_evidence(finding)}"
        yield "}"
    yield from (f"undecided: {finding.choice}; {finding.doubt}" for finding in found.findings if finding.doubt)
    untold = [finding for finding in found.findings if len(finding.options) > 1]
    for finding in untold:
        if cost := finding.costs[finding.options[0]]:
            options = ", ".join(finding.options)
            fails = f"each fails {cost} of {finding.answered}"
            yield f"undecided: {finding.choice}; no case that it answers tells {options} apart; {fails}"
    if free := [finding.choice for finding in untold if not finding.costs[finding.options[0]]]:
        yield f"undecided, because no case that it answers tells their options apart: {', '.join(free)}"
    if found.faults and len(found.faults) < found.asked:
        count = len(found.faults)
        yield f"{count} of {found.asked} questions without an answer; {_first(found.faults)}"
    if found.unexplained:
        count = len(found.unexplained)
        yield f"{count} answer{'' if count == 1 else 's'} that no choice explains: {_listed(found.unexplained)}"


def _first(faults: Mapping[str, Fault]) -> str:
    case, fault = next(iter(faults.items()))
    return f"first {case}: {shorten(f'{fault.kind}: {fault.message}')}"


def _costs(finding: ChoiceFinding) -> str:
    """Say how many cases fail with each option, starting with the options that fit."""
    ordered = sorted(finding.costs, key=lambda option: (option not in finding.options, finding.costs[option]))
    first, *others = (f"{option} fails {finding.costs[option]}" for option in ordered)
    return ", ".join((f"{first} of {finding.answered}", *others))


def _evidence(finding: ChoiceFinding) -> str:
    if finding.telling:
        return f": {_listed(list(finding.telling), 1)}"
    return "; the strictest of those that fit" if len(finding.fitting) > 1 else ""


def _listed(cases: Sequence[str], most: int = 10) -> str:
    more = len(cases) - most
    return f"{', '.join(cases[:most])} and {more} more" if more > 0 else ", ".join(cases)


def _wrong(found: Probe, declared: Mapping[str, str]) -> Iterator[str]:
    if not found.explained and found.unexplained:
        yield "no choice explains any of its answers, so nothing is known about its choices"
    elif not found.explained and found.faults:
        said = f"no answer to any of the questions ({found.asked}), so nothing is known about its choices"
        yield f"{said}; {_first(found.faults)}"
    elif found.explained and not found.answered:
        yield f"no answer to any of the questions ({found.asked}): every request that it supports was refused"
    elif not found.declaration and all(finding.options for finding in found.findings):
        yield "no case that it answers says anything about its choices"
    if not found.answered:
        return
    defaults = load_specification().defaults()
    for finding in found.findings:
        stands = declared.get(finding.choice, defaults[finding.choice])
        if not finding.options:
            seen = [f"{case} takes {' or '.join(options)}" for case, options in finding.telling.items()]
            yield f"no option fits: {finding.choice}: {_costs(finding)}: {_listed(seen, 4)}"
        elif stands not in finding.fitting and not finding.doubt:
            is_declared = finding.choice in declared
            what = "declared wrongly" if is_declared else "not declared"
            how = "declares" if is_declared else "says nothing, which means"
            yield f"{what}: {finding.choice} is {' or '.join(finding.options)}; hello {how} {stands}"
