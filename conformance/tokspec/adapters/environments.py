"""Adapters in another environment: ``NAME@ENVIRONMENT`` and ``module:object@ENVIRONMENT``, with the libraries there.

Nothing of the suite needs to be installed in it: its Python is told where the suite's host is, and finds there the
library itself. So two versions of a library can be compared without either being moved.
"""

from __future__ import annotations

import os
from pathlib import Path

from tokspec.base.errors import DataError

__all__ = ["find_python", "server_command"]

#: Takes ``tokspec`` from the folder that is the first argument, and nothing else from around it. The second argument
#: is a folder in which the adapter's module is looked for first, if it is to be.
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

#: Where an environment has its Python, on all systems.
_PLACES = ("bin/python", "Scripts/python.exe")


def find_python(environment: str) -> str:
    """Return the Python of an environment: of a folder that is one, or the Python itself.

    Raises:
        DataError: there is none.

    >>> find_python("no such folder")
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: no such folder: is no environment: it has neither bin/python nor Scripts/python.exe
    """
    place = Path(environment).expanduser()
    candidates = [place, *(place / inner for inner in _PLACES)]
    for candidate in candidates:
        if candidate.is_file():
            # a link to another Python is what makes an environment of a folder, so that it is not followed
            return os.path.abspath(candidate)
    raise DataError(f"is no environment: it has neither {' nor '.join(_PLACES)}", environment or "''")


def server_command(python: str, target: str, here: str = "") -> tuple[str, ...]:
    """Return the command that runs the suite's host for an adapter with another Python; modules are in ``here`` too."""
    return (python, "-c", _START, str(Path(__file__).resolve().parents[1]), here, target)
