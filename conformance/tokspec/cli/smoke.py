"""``tokspec smoke``: check whether an adapter works."""

from __future__ import annotations

import click

from tokspec.base.display import shorten, visible
from tokspec.base.errors import AdapterFault
from tokspec.cli.options import Target, implementation_options
from tokspec.judge.smoke import Step, try_adapter

_FIRST_LINE = 'answer the first line, {"op": "hello"}, and flush'
_GOES_ON = "answer all requests, however many there are, and end only after bye (PROTO-3)"
_FIRST_CALL = "return a tokspec.adapter.Hello from hello()"


@click.command("smoke", short_help="Check step by step whether your adapter works.")
@implementation_options
def smoke_command(target: Target) -> int:
    """Check step by step whether your adapter works, and say what to do next. The tokenizer itself is not judged.

    Exit status: 0 if every step is right, 1 if one is wrong, 2 if the adapter could not be checked.
    """
    try:
        with target.open() as session:
            wrong = [step for step in try_adapter(session) if not _shown(step)]
            faults = dict.fromkeys(map(str, session.unblamed))
        ends = [Step("process", False, f"{fault}; {_GOES_ON}") for fault in faults]
        ends += [Step("bye", False, f"{fault}; end with status 0 when bye is answered") for fault in session.end_faults]
        wrong += [step for step in ends if not _shown(step)]
    except AdapterFault as fault:
        wrong = [Step("hello", False, f"{fault}; {_FIRST_LINE if target.program else _FIRST_CALL}")]
        _shown(wrong[0])
    if wrong:
        # If the program ends by itself, that may be why other steps are wrong.
        first = next((step for step in wrong if step.name == "process"), wrong[0])
        click.echo(f"\nnot yet: fix {first.name} first")
        return 1
    click.echo(f"\nthe adapter works; judge the tokenizer behind it: tokspec run{target.arguments()}")
    return 0


def _shown(step: Step) -> bool:
    click.secho("ok   " if step.right else "WRONG", fg="green" if step.right else "red", nl=False)
    click.echo(f"  {step.name}: {visible(shorten(step.note, 600))}")
    return step.right
