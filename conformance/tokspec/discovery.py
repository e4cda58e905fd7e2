"""Finding the implementation that a user names, and opening a session with it."""

from __future__ import annotations

import importlib
import inspect
import shlex
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import reduce
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from tokspec.adapter import Adapter
from tokspec.errors import DataError
from tokspec.sessions import InProcessSession, ProgramSession, Session
from tokspec.wire import excerpt

__all__ = ["find", "known_names", "open_session"]

#: The group of entry points in which packages announce their adapters.
GROUP = "tokspec.implementations"

_METHODS = ("hello", "load", "run")


def known_names() -> list[str]:
    """Give the names of the installed implementations, sorted.

    >>> "reference" in known_names()
    True
    """
    return sorted({point.name for point in entry_points(group=GROUP)})


def find(spec: str) -> Callable[[], Adapter]:
    """Find an adapter by the name of an entry point, or as ``package.module:Object``: a class, factory or instance.

    A module is looked for in the current folder too. The adapter is made, and what it needs imported, by the call of
    what is returned.

    Raises:
        DataError: there is no such name, module or object. The factory raises it if something that the implementation
            needs is not installed, and if the object is no adapter.
    """
    if ":" in spec:
        load = _named_object(spec)
        return lambda: _make(load, spec, "install what it needs in this environment")
    points = [point for point in entry_points(group=GROUP) if point.name == spec]
    if not points:
        raise DataError(_unknown(spec), key=excerpt(spec)[1:-1])
    return lambda: _make(points[0].load, spec, _remedy(points[0]))


def open_session(
    impl: str | None, command: str | None, *, case_seconds: float = 10.0, start_seconds: float = 30.0
) -> Session:
    """Start what is named: an adapter, by what :func:`find` takes, or a program, by its command line.

    The limits are those of :class:`ProgramSession`; an adapter in this process has none.

    Raises:
        DataError: neither or both are given, or what is named cannot be found or started.
        AdapterFault: it was started and did not say ``hello`` properly.
    """
    if (impl is None) == (command is None):
        raise DataError("name one implementation: an installed one, module:object, or a command")
    if impl is not None:
        return InProcessSession(find(impl)())
    return ProgramSession(_words(command or ""), case_seconds=case_seconds, start_seconds=start_seconds)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise DataError(f"is no command line: {error}".lower(), key=excerpt(command)) from None


def _unknown(name: str) -> str:
    known = known_names()
    near = get_close_matches(name, known, 1, 0.5)
    question = f"did you mean {near[0]}? " if near else ""
    return (
        f"is not installed; {question}installed are {', '.join(known) or 'none'}; or give module:object, or a command"
    )


def _named_object(spec: str) -> Callable[[], Any]:
    """Give what imports a module and takes the object out of it; the module must be there."""
    module, _, path = spec.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), *path.split(".")]):
        raise DataError("is not of the form package.module:Object", key=excerpt(spec)[1:-1])
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)

    def load() -> Any:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):
                raise
            raise DataError(f"there is no module {error.name} in this folder or this environment", key=spec) from None
        try:
            return reduce(getattr, path.split("."), found)
        except AttributeError as error:
            raise DataError(f"cannot be found: {error}", key=spec) from None

    return load


def _make(load: Callable[[], Any], spec: str, remedy: str) -> Adapter:
    try:
        found = load()
        adapter = found if _is_instance(found) else found() if callable(found) else found
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"cannot be imported: {excerpt(str(error))[1:-1]}; {remedy}", key=spec) from None
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise DataError(f"cannot be made: {excerpt(what)[1:-1]}; import it by hand to see where", key=spec) from error
    missing = [name for name in _METHODS if not callable(getattr(adapter, name, None))]
    if missing:
        what = f"is no adapter: it has no {' and no '.join(missing)}; see tokspec.adapter.Adapter"
        raise DataError(what, key=spec)
    return adapter  # type: ignore[no-any-return]


def _is_instance(found: Any) -> bool:
    return not inspect.isclass(found) and all(hasattr(found, name) for name in _METHODS)


def _remedy(point: EntryPoint) -> str:
    """Say what to install: the extra of the same name, where the package has one."""
    package = point.dist.name if point.dist else ""
    extras = point.dist.metadata.get_all("Provides-Extra") or [] if point.dist else []
    if point.name in extras:
        return f'install it with: pip install "{package}[{point.name}]"'
    return "install what it needs in this environment"
