"""The command ``tokspec``."""

from __future__ import annotations

import gc
import io
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, TextIO

import click

from tokspec import __version__
from tokspec.base.display import shorten, visible, without_password
from tokspec.base.errors import INTERRUPTED, DataError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

__all__ = ["main", "run_command_line", "tokspec"]

#: The exit status of a program whose reader has ended, as shells give it.
READER_GONE = 141

#: The most characters of a message: more than any of the suite's own has, fewer than a user's name may have.
LONGEST = 4000


#: How many more objects there have to be before garbage is collected: nothing that is read at the start is garbage.
ALLOCATIONS = 50_000


#: The commands of this package, each in the module with its name.
_COMMANDS = ("cases", "init", "model", "probe", "report", "run", "smoke")

#: The purposes of commands, in the order of the help; a command that another package announces is listed last.
_PURPOSES = {
    "Judge an implementation": ("run", "matrix"),
    "Compare implementations, releases and files": ("diff", "record", "history"),
    "Search for faults that no case covers": ("fuzz",),
    "Write an adapter": ("init", "smoke", "probe"),
    "Look up bugs, cases, models and reports": ("bugs", "cases", "model", "report"),
    "Maintain the suite": ("dev",),
}

#: The group of entry points in which other packages announce their commands; nothing here imports them.
_GROUP = "tokspec.commands"


class LazyGroup(click.Group):
    """Imports a command only when it is used, so that no command waits for imports that it does not need.

    ``own`` are the commands of this package, ``announced`` is the group of entry points that name the others.
    ``purposes`` groups the commands in the help by what they are for.
    """

    def __init__(
        self,
        *,
        own: Sequence[str] = (),
        announced: str,
        purposes: Mapping[str, Sequence[str]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.own, self.announced, self.purposes = own, announced, dict(purposes or {})

    def list_commands(self, context: click.Context) -> list[str]:
        """Name the commands."""
        return sorted({*self.own, *self._points().names, *self.commands})

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, grouped by purpose; those without a purpose come last."""
        known = self.list_commands(context)
        listed = {name for names in self.purposes.values() for name in names}
        others = [name for name in known if name not in listed]
        for purpose, names in [*self.purposes.items(), ("Commands" if not listed else "Others", others)]:
            found = [(name, self.get_command(context, name)) for name in names if name in known]
            if found:
                with formatter.section(purpose):
                    formatter.write_dl([(name, each.get_short_help_str(80) if each else "") for name, each in found])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in self.commands:
            if name in self.own:
                self.add_command(getattr(import_module(f"tokspec.cli.{name}"), f"{name}_command"), name)
            elif name in self._points().names:
                self.add_command(self._points()[name].load(), name)
        return super().get_command(context, name)

    def _points(self) -> EntryPoints:
        from importlib.metadata import entry_points  # here, because it takes a while, and few commands need it

        return entry_points(group=self.announced)

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; if it is unknown, import all, so that click suggests the nearest."""
        if self.get_command(context, arguments[0]) is None:
            for name in self.list_commands(context):
                self.get_command(context, name)
        return super().resolve_command(context, arguments)


@click.group(
    cls=LazyGroup,
    own=_COMMANDS,
    announced=_GROUP,
    purposes=_PURPOSES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="tokspec")
@click.pass_context
def tokspec(context: click.Context) -> None:
    """Judge tokenizers by a numbered specification.

    Exit status: 0 if the tokenizer conforms, 1 if it does not, 2 if something is wrong with the fixtures, the options
    or the suite.
    """
    context.color = False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@tokspec.group(
    "dev",
    cls=LazyGroup,
    announced=f"{_GROUP}.dev",
    invoke_without_command=True,
    short_help="Judge the suite itself.",
)
@click.pass_context
def dev(context: click.Context) -> None:
    """Judge the suite itself; tokspec dev power needs a clone of the repository."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    """Run the command line of this process, and exit."""
    sys.exit(run_command_line(sys.argv[1:]))


def run_command_line(arguments: list[str], *, owns_process: bool = False) -> int:
    """Run a command and return its exit status; an error in the data or the options prints one line and gives status 2.

    ``owns_process`` is whether nothing else runs in this process, so that everything left in it at the end is ours.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process; no other file may get its number
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _end)
    gc.set_threshold(ALLOCATIONS)
    if arguments[:1] in (["run"], ["diff"]):
        from tokspec.cli.options import remove_earlier_results  # here, because other commands don't need it

        remove_earlier_results(arguments[1:])
    if owns_process and "--in-process" in arguments and hasattr(os, "fork"):
        return supervised(lambda: _status(arguments, owns_process=True))
    return _status(arguments, owns_process)


def supervised(command: Callable[[], int]) -> int:
    """Run a command in a child of this process, and return the status that it reports at its end.

    An adapter that runs in a process can end it, even with status 0, before anything is judged or after everything is.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        streams = sys.stdout, sys.stderr  # an adapter may replace them, even in its own thread
        status = command()
        for stream in streams:
            with suppress(OSError, ValueError):
                stream.flush()
        os.write(writer, bytes([status]))
        os._exit(status)
    os.close(writer)
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}  # the child gets it too, from the terminal
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, lambda number, _: os.kill(child, number))
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for number, handler in before.items():
        signal.signal(number, handler)
    os.set_blocking(reader, False)  # processes that the adapter has started may hold the other end
    with suppress(BlockingIOError):
        if said := os.read(reader, 1):
            return said[0]
    how = f"with status {ended}" if ended >= 0 else f"by {signal.Signals(-ended).name}"
    return _say(f"the implementation ended the process {how}, and nothing is judged; leave out --in-process")


class Ended(KeyboardInterrupt):
    """A signal tells this process to end; the processes that it started are ended first, as after an interruption."""

    def __init__(self, signal: signal.Signals) -> None:
        super().__init__()
        self.signal = signal


def _end(number: int, frame: object) -> None:
    raise Ended(signal.Signals(number))


def _status(arguments: list[str], owns_process: bool) -> int:
    """Run a command and return its exit status, after saying what went wrong."""
    try:
        os.getcwd()
    except OSError:
        return _say("the current folder is gone; change to another")
    try:
        return _run(arguments, owns_process)
    except click.UsageError as error:
        return _say(_about_options(error))
    except click.ClickException as error:
        return _say(error.format_message())
    except DataError as error:
        return _say(str(error))
    except Ended as end:
        return _say(f"ended by {end.signal.name}", 128 + end.signal)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        _give_up(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return READER_GONE
        return _say(f"{error.filename or 'the output'} cannot be used: {error.strerror}")
    except MemoryError:
        return _say("there is not enough memory; give it more, or less to do")
    except Exception:  # not status 1, which means that the implementation fails
        import traceback  # here, because it takes a while, and should never be needed

        with suppress(OSError):
            traceback.print_exc()
        return _say("this is a fault of the suite itself; please report it with the lines above")


def _run(arguments: list[str], owns_process: bool) -> int:
    """Do the same as ``click.Command.main``, which however exits with status 1 when the reader is gone."""
    try:
        with tokspec.make_context("tokspec", arguments, obj=shlex.join(["tokspec", *arguments])) as context:
            context.meta["tokspec.owns_process"] = owns_process
            status = int(tokspec.invoke(context) or 0)
    except click.exceptions.Exit as end:  # --help and --version
        status = end.exit_code
    sys.stdout.flush()
    return status


def _about_options(error: click.UsageError) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    path, names = "tokspec", set[str]()
    if error.ctx:
        path = error.ctx.command_path
        names = {name for parameter in error.ctx.command.params for name in parameter.opts}
    if "unexpected extra argument" in message and "--impl" in names:
        message += "; an implementation is named by --impl"
    if message.startswith("No such option '--impl'") and names & {"implementation", "a"}:
        message = "No such option '--impl'; name the implementation without an option"
    return f"{message}{'' if message.endswith('?') else ';'} see {path} --help"


def _say(message: str, status: int = 2) -> int:
    """Print the reason for an exit status, and return the status, even if nothing can be printed."""
    try:
        click.echo(f"tokspec: {visible(shorten(without_password(message), LONGEST))}", err=True)
    except OSError:
        _give_up(sys.stderr)
    return status


def _give_up(stream: TextIO) -> None:
    """Discard what is left in a stream, because flushing it at the end would change the exit status."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
