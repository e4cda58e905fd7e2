"""Finding the implementation that a user names, and opening a session with it.

An adapter may run in another environment with the libraries there, ``NAME@ENVIRONMENT`` or
``module:object@ENVIRONMENT``, or in one that is created for a release, ``NAME==VERSION``. The suite need not be
installed there: the environment's Python gets the path of the suite's host, and imports the library itself. So you can
compare two versions of a library without moving either.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tokspec.adapter import Adapter
from tokspec.adapters.programs import find_program, program_names
from tokspec.adapters.versions import PLACES, python_of
from tokspec.base.display import did_you_mean, escape, quote
from tokspec.base.errors import DataError, MissingModule
from tokspec.sessions.adapter_server import make_adapter
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.limits import Limits
from tokspec.sessions.session import Session

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from tokspec.sessions.program import ProgramSession


#: The group of entry points in which packages announce their adapters.
GROUP = "tokspec.implementations"

#: The forms in which a user may name an implementation.
NAMES = 'NAME, NAME==VERSION, NAME@ENVIRONMENT, module:object or "PROGRAM ARGS"'

_REMEDY = "install what it needs in this environment"


@dataclass(frozen=True)
class FoundAdapter:
    """An adapter that was found by its name and is not imported yet.

    ``spec`` is what the user wrote, ``target`` the module and object, ``remedy`` what to do if an import fails,
    ``path`` where modules are searched, and ``is_ours`` whether it is the reference or its fast sibling, which need no
    other process. ``python`` is the Python of another environment if the adapter runs there, and ``program`` the
    command if it is a program. ``choices`` are options to create it with, which the reference and its fast sibling
    accept.
    """

    spec: str
    target: str
    remedy: str
    path: tuple[str, ...]
    is_ours: bool = False
    python: str = ""
    program: tuple[str, ...] = ()
    choices: Mapping[str, str] | None = None

    def make(self) -> Adapter:
        """Import and create the adapter in this process.

        Raises:
            DataError: it cannot be found or made, needs what is not installed, or is not an adapter.
        """
        if self.python or self.program:
            raise DataError("is in another environment, and cannot be imported in this process", key=self.spec)
        sys.path[:] = self.path
        try:
            return make_adapter(self.target, self.choices)
        except DataError as error:
            raise self._explained(error) from error.__cause__

    def serve(self, limits: Limits, waits: bool = True) -> ProgramSession:
        """Start a process that imports and creates the adapter, and answers for it.

        ``waits`` is whether to wait for its ``hello``.

        Raises:
            DataError: as in :meth:`make`.
            AdapterFault: it did not say ``hello`` properly.
        """
        from tokspec.sessions.program import ProgramSession

        try:
            return ProgramSession(self.program or self._command(), limits, is_ours=not self.program, waits=waits)
        except DataError as error:
            raise self._explained(error) from None

    def _command(self) -> tuple[str, ...]:
        if self.python:
            is_object = ":" in self.spec.partition("@")[0]
            return server_command(self.python, self.target, str(Path.cwd()) if is_object else "")
        target = self.target if self.choices is None else f"{self.target} {json.dumps(dict(self.choices))}"
        return (sys.executable, "-P", "-m", "tokspec.sessions.adapter_server", target, *self.path)

    def _explained(self, error: DataError) -> DataError:
        """Add to an error the adapter that it is about and, if a module is missing, the remedy."""
        message = f"{error.message}; {self.remedy}" if isinstance(error, MissingModule) else error.message
        return DataError(message, error.file, error.line, error.key or self.spec)


def find_reference() -> FoundAdapter:
    """Return the suite's own implementation, regardless of what other packages announce.

    >>> find_reference() == find("reference")
    True
    """
    target = "tokspec.adapters.reference:ReferenceAdapter"
    return FoundAdapter("reference", target, _REMEDY, tuple(sys.path), is_ours=True)


def known_names() -> list[str]:
    """Return the names of the installed implementations, sorted.

    >>> "reference" in known_names()
    True
    """
    return sorted({point.name for point in _announced()})


def usable_names() -> list[str]:
    """Return the names of the installed adapters whose libraries are installed too, sorted."""
    return sorted({point.name for point in _announced() if not any(map(_is_missing, _requirements(point)))})


def names_program(word: str) -> bool:
    """Return whether the word with which a user names an implementation is the command line of a program.

    It is if it has a space or is a path; the folder of an environment, after ``@``, does not count.

    >>> [names_program(word) for word in ("node adapter.mjs", "./adapter", "tokenizers@old/venv", "mine:Adapter")]
    [True, True, False, False]
    """
    name = word.partition("@")[0]
    return " " in name or os.sep in name or (Path(word).is_file() and os.access(word, os.X_OK))


def _announced() -> Iterable[EntryPoint]:
    from importlib.metadata import entry_points  # here, because it takes a while, and only names need it

    return entry_points(group=GROUP)


def find(spec: str) -> FoundAdapter:
    """Find an adapter by the name of an entry point, or as ``package.module:Object``: a class, factory or instance.

    A module is also searched for in the current folder. Either form may end with ``@ENVIRONMENT``, the folder or the
    Python of another environment, whose libraries are then used. A name may end with ``==VERSION``, for which an
    environment is created if it is missing. Nothing is imported.

    Raises:
        DataError: there is no such name or version, it has another form, or several packages announce it.

    >>> find("reference").target
    'tokspec.adapters.reference:ReferenceAdapter'
    """
    name, at, environment = spec[1:].partition("@")  # an @ at the start belongs to a scope of npm
    name = spec[:1] + name
    if at:
        found, python = find(name), find_python(environment)
        if found.remedy == _REMEDY:
            remedy = f"install what it needs in {escape(environment)}"
        else:
            remedy = found.remedy.replace("pip", f"{shlex.quote(escape(python, 1000))} -m pip", 1)
        return replace(found, spec=spec, remedy=remedy, is_ours=False, python=python)
    if ":" in spec:
        return _named_object(spec)
    name, equals, version = spec.partition("==")
    program = None if any(point.name == name for point in _announced()) else find_program(name)
    if program:
        command = program.build(spec, _checked(spec, version or "none"))
        return FoundAdapter(spec, "", _REMEDY, (), program=command)
    point = _entry_point(name, spec)
    is_ours = point.name in ("reference", "tokfast") and _package(point) == "tokspec"
    found = FoundAdapter(spec, f"{point.module}:{point.attr}", _remedy(point), tuple(sys.path), is_ours)
    return replace(found, python=_python_of_version(spec, point, version), is_ours=False) if equals else found


def _entry_point(name: str, spec: str) -> EntryPoint:
    points = {f"{_package(point)}: {point.value}": point for point in _announced() if point.name == name}
    if not points:
        raise DataError(_unknown(name), key=escape(spec) or "''")
    if len(points) > 1:
        raise DataError(f"is announced twice, as {' and '.join(sorted(points))}; give module:object", key=escape(spec))
    (point,) = points.values()
    return point


def _python_of_version(spec: str, point: EntryPoint, version: str) -> str:
    """Return the Python of an environment with a release of an implementation and its adapter's other packages."""
    package, version = package_of(point.name), _checked(spec, version)
    others = [requirement for requirement in _requirements(point) if _name_of(requirement) != package]
    return python_of(spec, [f"{package}=={version}", *others])


def adapter_digest(name: str) -> str:
    """Return a digest of the adapter and the format writers; it changes when either changes."""
    digest = sha256()
    for file in sorted(Path(str(files("tokspec.formats"))).rglob("*.py")):
        digest.update(file.read_bytes())
    if package_of(name):
        spec = find_spec(_entry_point(name, name).module)
        digest.update(Path(spec.origin).read_bytes() if spec and spec.origin else b"")
    elif program := find_program(name):
        digest.update(program.said.encode())
    return digest.hexdigest()[:8]


def package_of(name: str) -> str:
    """Return the PyPI package whose releases are those of an installed adapter; empty if there is no such adapter.

    Raises:
        DataError: it has no releases of its own.

    >>> package_of("sentencepiece"), package_of("nobody")
    ('sentencepiece', '')
    >>> package_of("transformers-streamer")
    'transformers'
    """
    if not any(point.name == name for point in _announced()):
        return ""
    packages = [_name_of(requirement) for requirement in _requirements(_entry_point(name, name))]
    if not packages:
        raise DataError("has no releases of its own: it needs no package", key=escape(name))
    return next((each for each in packages if each.startswith(name) or name.startswith(each)), packages[0])


def _name_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _checked(spec: str, version: str) -> str:
    """Return a version that a user wrote, or refuse it."""
    if not re.fullmatch(r"[0-9][\w.+!-]*", version):
        raise DataError(
            f"names no release; give one such as {escape(spec.partition('==')[0])}==1.2.3", key=escape(spec)
        )
    return version


def open_session(
    impl: str | FoundAdapter | None,
    command: str | None,
    *,
    limits: Limits | None = None,
    in_process: bool = False,
    confined: bool = False,
    jobs: int = 1,
) -> Session:
    """Open a session with an adapter, named as for :func:`find`, or with a program, named by its command line.

    Args:
        impl: the adapter, named or found.
        command: the program.
        limits: the limits of a separate process; this process has none.
        in_process: whether an adapter runs in this process, where a debugger sees it, but where it can end the process.
        confined: whether the reference too has its own process. Without it the reference runs in this one, faster and
            without limits, which suits the suite's own models.
        jobs: how many of its processes run at once, each with its own limits; then the reference, too, runs in its own.

    Raises:
        DataError: neither or both are given, or what is named cannot be found or started.
        AdapterFault: it was started and did not say ``hello`` properly.
    """
    if (impl is None) == (command is None):
        raise DataError("name one implementation: an installed one, module:object, or a command")
    if impl is None:
        words = _words(command or "")
        return _start_jobs(lambda waits: _program_session(words, limits, waits), jobs)
    found = impl if isinstance(impl, FoundAdapter) else find(impl)
    if in_process or (found.is_ours and jobs == 1 and not confined):
        return InProcessSession(found.make())
    session = _start_jobs(lambda waits: found.serve(limits or Limits(), waits), jobs)
    name, asked, version = found.spec.partition("==")
    if asked and "@" not in name[1:] and not is_same_version(version, session.hello.version):
        session.close()
        message = f"answers as version {quote(session.hello.version)}; remove kept environments: tokspec dev versions"
        raise DataError(f"{message} --clear", key=escape(found.spec))
    return session


def is_same_version(asked: str, said: str) -> bool:
    """Return whether the version that an implementation says is the release that was asked for.

    >>> is_same_version("0.22", "0.22.0"), is_same_version("v1.0.6", "1.0.6"), is_same_version("0.22.2", "0.23.3")
    (True, True, False)
    """
    one, other = (re.sub(r"(\.0)+$", "", version.removeprefix("v")) for version in (asked, said))
    return one == other


def _program_session(command: Sequence[str], limits: Limits | None, waits: bool) -> ProgramSession:
    from tokspec.sessions.program import ProgramSession

    return ProgramSession(command, limits, waits=waits)


def _start_jobs(start: Callable[[bool], ProgramSession], jobs: int) -> Session:
    if jobs == 1:
        return start(True)
    from tokspec.sessions.program import SessionPool

    return SessionPool(start, jobs)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise DataError(f"is not a command line: {error}".lower(), key=quote(command)) from None


def _unknown(name: str) -> str:
    question, known = did_you_mean(name, [*known_names(), *program_names()]), usable_names()
    return (
        f"is not installed; {question}installed are {', '.join(known) or 'none'}; {installable()}; "
        "or give module:object, or a command"
    )


def installable() -> str:
    """Name the implementations whose releases can be installed by name, in addition to those that are installed."""
    known = usable_names()
    names = [*(each for each in known_names() if each not in known), *program_names()]
    return f"NAME==VERSION also installs a release of {', '.join(names)}"


def _named_object(spec: str) -> FoundAdapter:
    module, _, path = spec.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), *path.split(".")]):
        raise DataError("is not of the form package.module:Object", key=escape(spec))
    here = str(Path.cwd())
    return FoundAdapter(spec, spec, _REMEDY, tuple(sys.path) if here in sys.path else (here, *sys.path))


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else ""


def _remedy(point: EntryPoint) -> str:
    """Say what to install: the requirements of the extra with the adapter's name, if the package has one."""
    needed = _requirements(point)
    return f"install it with: pip install {shlex.join(needed)}" if needed else _REMEDY


def _requirements(point: EntryPoint) -> list[str]:
    """Return an implementation's requirements: those of the extra with its name, in the package that announces it."""
    found = []
    for requirement in point.dist.requires or () if point.dist else ():
        needed, _, marker = requirement.partition(";")
        if re.search(rf"extra == ['\"]{re.escape(point.name)}['\"]", marker):
            found.append(needed.strip())
    return found


def _is_missing(requirement: str) -> bool:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(_name_of(requirement))
    except PackageNotFoundError:
        return True
    return False


# Other environments

#: Imports ``tokspec`` from the folder that is the first argument, and nothing else from that folder. The second
#: argument is the folder that is searched first for the adapter's module, or empty.
_START = """\
import sys
sys.path[:] = [path for path in sys.path if path]
if sys.version_info < (3, 11):
    sys.exit("tokspec needs Python 3.11 or later, and this is %d.%d" % sys.version_info[:2])
from importlib import util
folder, here = sys.argv.pop(1), sys.argv.pop(1)
spec = util.spec_from_file_location("tokspec", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["tokspec"] = module = util.module_from_spec(spec)
spec.loader.exec_module(module)
from tokspec.sessions.adapter_server import main
sys.path[:0] = [here] if here else []
sys.exit(main())
"""


def find_python(environment: str) -> str:
    """Return the Python of an environment that is named by its folder or by that Python.

    Raises:
        DataError: it is not an environment.

    >>> find_python("nowhere")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: nowhere: is not an environment: it has neither bin/python nor Scripts/python.exe
    """
    place = Path(environment).expanduser()
    candidates = [place, *(place / inner for inner in PLACES)]
    for candidate in candidates:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            # the link is not followed, because a folder is an environment by its link to another Python
            return os.path.abspath(candidate)
    raise DataError(f"is not an environment: it has neither {' nor '.join(PLACES)}", environment or "''")


def server_command(python: str, target: str, here: str = "") -> tuple[str, ...]:
    """Return the command that runs the suite's host for an adapter with another Python; ``here`` has modules too."""
    return (python, "-c", _START, str(Path(__file__).resolve().parents[1]), here, target)
