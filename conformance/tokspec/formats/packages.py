"""Packages that some formats need and the suite does without, imported when such a format is first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tokspec.base.errors import DataError

__all__ = ["needed"]


def needed(module: str, format: str) -> Any:
    """Import a module of the extra ``formats``.

    Raises:
        DataError: it is not installed. That is no refusal: the format could express the model.

    >>> needed("no_such_package.part", "sentencepiece.model")
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    tokspec.base.errors.DataError: the format sentencepiece.model needs the package no_such_package;
        install it with pip install 'tokspec[formats]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).split(".")[0]
        how = "install it with pip install 'tokspec[formats]'"
        raise DataError(f"the format {format} needs the package {package}; {how}") from None
