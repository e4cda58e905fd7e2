"""The command ``tokspec``."""

from __future__ import annotations

import sys

import click

from tokspec import __version__
from tokspec.cli.browse import list_command, show_command
from tokspec.cli.coverage import coverage_command
from tokspec.cli.run import run_command
from tokspec.cli.smoke import smoke_command
from tokspec.errors import DataError
from tokspec.report.safe import visible

__all__ = ["main", "tokspec"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tokspec")
def tokspec() -> None:
    """Judge tokenizers by a numbered specification.

    Exit status: 0 conforming, 1 not conforming, 2 something is wrong with the fixtures, the options or the suite.
    """


for command in (run_command, list_command, show_command, coverage_command, smoke_command):
    tokspec.add_command(command)


def main() -> None:
    """Run the command line; what is wrong with our own data is one line and exit status 2."""
    try:
        sys.exit(tokspec.main(standalone_mode=False) or 0)
    except click.exceptions.Abort:
        click.echo("tokspec: interrupted", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except DataError as error:
        click.echo(f"tokspec: {visible(str(error))}", err=True)
        sys.exit(2)
