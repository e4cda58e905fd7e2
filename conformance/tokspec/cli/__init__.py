"""The command ``tokspec``."""

from __future__ import annotations

import io
import os
import shlex
import sys

import click

from tokspec import __version__
from tokspec.cli.browse import list_command, show_command
from tokspec.cli.coverage import coverage_command
from tokspec.cli.report import report_command
from tokspec.cli.run import run_command
from tokspec.cli.smoke import smoke_command
from tokspec.errors import DataError
from tokspec.report.safe import visible

__all__ = ["main", "tokspec"]

#: The exit status of a program whose reader has gone, as shells give it: 128 and the number of SIGPIPE.
READER_GONE = 141


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tokspec")
@click.pass_context
def tokspec(context: click.Context) -> None:
    """Judge tokenizers by a numbered specification.

    Exit status: 0 conforming, 1 not conforming, 2 something is wrong with the fixtures, the options or the suite.
    """
    context.color = False if os.environ.get("NO_COLOR") else None
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (run_command, report_command, list_command, show_command, coverage_command, smoke_command):
    tokspec.add_command(command)


def main() -> None:
    """Run the command line; what is wrong with the data or the options is one line and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_status(sys.argv[1:]))


def _status(arguments: list[str]) -> int:
    try:
        status = tokspec.main(arguments, "tokspec", standalone_mode=False, obj=shlex.join(["tokspec", *arguments]))
        sys.stdout.flush()
        return int(status or 0)
    except click.exceptions.Abort:
        message = "interrupted"
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "tokspec"
        message = f"{' '.join(error.format_message().split()).rstrip('.')}; see {path} --help"
    except click.ClickException as error:
        message = error.format_message()
    except DataError as error:
        message = str(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    click.echo(f"tokspec: {visible(message)}", err=True)
    return 2
