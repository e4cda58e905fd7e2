"""``tokspec smoke``: is my adapter right?"""

from __future__ import annotations

import click

from tokspec.cli.options import Target, implementation_options
from tokspec.errors import AdapterFault
from tokspec.report.safe import visible
from tokspec.smoke import Step, steps

__all__ = ["smoke_command"]


@click.command("smoke")
@implementation_options
def smoke_command(target: Target) -> int:
    """Try an adapter step by step and say what to do next; no judgement of the tokenizer behind it."""
    try:
        with target.open() as session:
            wrong = [step for step in steps(session) if not _shown(step)]
    except AdapterFault as fault:
        wrong = [Step("hello", False, f'{fault}; answer the first line, {{"op": "hello"}}, and flush')]
        _shown(wrong[0])
    if wrong:
        click.echo(f"\nnot yet: mend {wrong[0].name} first")
        return 1
    click.echo(f"\nthe adapter works; judge the tokenizer behind it: tokspec run{target.arguments()}")
    return 0


def _shown(step: Step) -> bool:
    click.secho("ok   " if step.right else "WRONG", fg="green" if step.right else "red", nl=False)
    click.echo(f"  {step.name}: {visible(step.note)}")
    return step.right
