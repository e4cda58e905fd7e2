"""Importing an adapter and making it. Nothing else of the suite is imported for it, so that its host starts fast."""

from __future__ import annotations

import importlib
from functools import reduce
from inspect import isclass
from typing import Any

from tokspec.adapter import Adapter
from tokspec.base.errors import DataError
from tokspec.protocol.wire import shown

__all__ = ["Missing", "make_adapter"]

_METHODS = ("hello", "load", "run")


class Missing(DataError):
    """Something that the implementation needs cannot be imported."""


def make_adapter(target: str) -> Adapter:
    """Import ``package.module:Object``, a class, factory or instance; the object's name may be empty, for the module.

    Raises:
        DataError: it cannot be found or made, or is no adapter; :class:`Missing` if it cannot be imported.

    >>> make_adapter("tokspec.adapters.reference:ReferenceAdapter").hello().name
    'tokref'
    """
    try:
        found = _object(target)
        adapter = found if _is_instance(found) else found() if callable(found) else found
    except (DataError, KeyboardInterrupt):
        raise
    except ImportError as error:
        raise Missing(f"cannot be imported: {shown(str(error))}") from None
    except BaseException as error:  # the adapter's own code: a panic of an extension and SystemExit are no Exception
        what = shown(f"{type(error).__name__}: {error}")
        raise DataError(f"cannot be made: {what}; import it by hand to see where") from error
    missing = [name for name in _METHODS if not callable(getattr(adapter, name, None))]
    if missing:
        raise DataError(f"is no adapter: it has no {' and no '.join(missing)}; see tokspec.adapter.Adapter")
    return adapter  # type: ignore[no-any-return]


def _object(target: str) -> Any:
    module, _, path = target.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise DataError(f"there is no module {error.name} in this folder or this environment") from None
    try:
        return reduce(getattr, path.split("."), found) if path else found
    except AttributeError as error:
        raise DataError(f"cannot be found: {shown(str(error))}") from None


def _is_instance(found: Any) -> bool:
    return not isclass(found) and all(hasattr(found, name) for name in _METHODS)
