"""``tokspec compare``: what changed between two implementations, versions, models or packs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from tokspec.base.display import terminal_width, visible, wrap
from tokspec.base.errors import DataError
from tokspec.cli.own import source_options
from tokspec.cli.progress import ProgressBar
from tokspec.packs.cases_compared import CasesCompared, cases_compared
from tokspec.packs.checking import other_model, other_settings
from tokspec.packs.inputs import Sources
from tokspec.packs.models_compared import models_compared
from tokspec.packs.pairs import Unpaired
from tokspec.packs.reading import Pack
from tokspec.packs.sides import Side, findings_of, open_sides
from tokspec.packs.summary import parts_of
from tokspec.packs.text import causes, reasons, share, table
from tokspec.suite.fixtures import load_suite

__all__ = ["compare_command"]

_path = click.Path(path_type=Path)


@click.command("compare", short_help="Say what changed between two implementations or packs.")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--model", type=_path, metavar="FILE", help="The model that both are given; else a pack's own.")
@click.option("--other-model", "other", type=_path, metavar="FILE", help="The model that B is given instead.")
@source_options
@click.option("--add-special-tokens", "adds", is_flag=True, help="Compare encodings with what a post-processor adds.")
@click.option("--no-fixtures", is_flag=True, help="Leave out the suite's own cases.")
@click.option(
    "--show", type=click.IntRange(min=0), default=10, show_default=True, help="How many causes and cases to show."
)
def compare_command(
    first: str,
    second: str,
    model: Path | None,
    other: Path | None,
    sources: Sources,
    adds: bool,
    no_fixtures: bool,
    show: int,
) -> int:
    """Say what changed from A to B: an implementation, one in another environment, a program, or a pack each.

    \b
    tokspec compare tokenizers@old-venv tokenizers --model tokenizer.json
    tokspec compare tokenizers "node adapter.mjs" --model tokenizer.json --inputs texts.txt
    tokspec compare before.yaml after.yaml
    tokspec compare tokenizers tokenizers --model before/tokenizer.json --other-model after/tokenizer.json

    NAME@ENVIRONMENT is what is installed in another virtual environment, given by its folder; nothing of tokspec needs
    to be there. A program is a command with its arguments.

    Exit status: 0 if nothing changed, 1 if something did, 2 if the comparison could not be made.
    """
    with ExitStack() as stack:
        sides = open_sides((first, second), (model, other or model), stack, adds=adds)
        if sources.files and any(side.pack for side in sides):
            raise click.UsageError("--inputs is for two implementations; the texts are those of the pack")
        comparison = Comparison(*sides, sources, show)
        changed = [comparison.models(), not no_fixtures and comparison.fixtures(), comparison.texts()]
    click.echo(click.style("nothing changed" if not any(changed) else "something changed", bold=True))
    return 1 if any(changed) else 0


@dataclass(frozen=True)
class Comparison:
    """Two sides, and the texts with which they are compared."""

    first: Side
    second: Side
    sources: Sources
    show: int

    def models(self) -> bool:
        """Say what changed in the models, and whether anything did."""
        click.echo(visible(f"A  {self.first.name}"))
        click.echo(visible(f"B  {self.second.name}"))
        click.echo()
        if (lines := self._models()) is None:
            return False
        click.echo("\n".join(["model:", *(f"  {visible(line)}" for line in lines or ["the same"]), ""]))
        return bool(lines)

    def _models(self) -> list[str] | None:
        one, other = self.first, self.second
        if one.pack and other.pack:
            return _headers(one.pack, other.pack)
        if one.pack or other.pack:
            pack, own = (one.pack, other.own) if one.pack else (other.pack, one.own)
            return other_model(pack.header.model, own) if pack and own else None
        if not (one.own and other.own):
            return None
        return [] if one.own.sha256 == other.own.sha256 else models_compared(parts_of(one.own), parts_of(other.own))

    def fixtures(self) -> bool:
        """Say what changed in the answers to the suite's cases, and whether anything did."""
        if not (self.first.session and self.second.session):
            return False
        suite = load_suite()
        cases = [question for case in suite.cases.values() for question in case.questions]
        with ProgressBar("comparing cases", len(cases)) as advance:
            units = (self.first.unit, self.second.unit)
            found = cases_compared(self.first.session, self.second.session, cases, units, advance)
        head = f"{len(cases)} questions of the suite's cases (fixtures {suite.hash[:12]}…):"
        click.echo("\n".join([head, *_cases(found, self.show), ""]))
        return found.changed

    def texts(self) -> bool:
        """Say what changed in the answers to texts, and whether anything did."""
        unpaired = Unpaired()
        with ProgressBar("comparing", None) as advance:
            findings = findings_of(self.first, self.second, self.sources, unpaired, advance)
        if findings is None:
            click.echo("give --model FILE, with a tokenizer.json of yours, to compare what becomes of texts\n")
            return False
        shown = causes(findings, self.show, self.first.pack.name if self.first.pack else "")
        for line in wrap(shown, terminal_width()):
            click.echo(line)
        if unsupported := reasons(findings):
            click.echo("\n".join(["unsupported, and why:", *unsupported, ""]))
        click.echo("\n".join([*table(findings), ""]))
        for count, side in ((unpaired.first, "A"), (unpaired.second, "B")):
            if count:
                click.echo(f"{count} texts are in {side} alone and were not compared\n")
        if not findings.shows_something:
            raise DataError(f"answers nothing of what {self.first.name} does: no text was compared", self.second.name)
        differ = share(findings.texts_that_differ, findings.texts)
        tokens = share(findings.tokens_that_differ, findings.tokens)
        click.echo(f"of {findings.texts} texts {differ} differ, of {findings.tokens} tokens {tokens}")
        return bool(findings.texts_that_differ)


def _headers(one: Pack, other: Pack) -> list[str]:
    """Say what two packs say otherwise of their models, and of what was asked of them."""
    first, second = one.header.model, other.header.model
    said = (one.header.special_tokens, other.header.special_tokens)
    asked = [f"special tokens of post-processors: {said[0]} in A, {said[1]} in B"] if said[0] != said[1] else []
    if first["sha256"] == second["sha256"]:
        return asked
    lines = asked + [
        f"{part}: {first[part]['size']} in A, {second[part]['size']} in B, and not the same"
        for part in ("vocabulary", "merges")
        if first.get(part) != second.get(part)
    ]
    lines += other_settings(first.get("special_tokens", {}), second.get("special_tokens", {}), "special token ")
    return lines + other_settings(first.get("settings", {}), second.get("settings", {})) or ["another file"]


def _cases(found: CasesCompared, show: int) -> Iterator[str]:
    yield f"  {found.same} answered alike, {found.neither} by neither"
    for what, cases in (
        ("answered otherwise", found.other),
        ("answered by A alone", found.first_only),
        ("answered by B alone", found.second_only),
    ):
        if cases:
            yield f"  {len(cases)} {what}:"
            yield from (f"    {visible(case)}" for case in cases[:show])
            if len(cases) > show:
                yield f"    … and {len(cases) - show} more; --show {len(cases)} shows them all"
