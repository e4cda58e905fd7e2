"""Where the specification and the fixtures lie: beside this file when installed, at the checkout's root otherwise."""

from __future__ import annotations

from pathlib import Path

__all__ = ["fixtures_folder", "specification_folder"]


def _folder(name: str) -> Path:
    here = Path(__file__).resolve().parent.parent
    installed = here / name
    return installed if installed.is_dir() else here.parent.parent / name


def specification_folder() -> Path:
    """Return the folder of the chapters.

    >>> (specification_folder() / "00-terms.md").is_file()
    True
    """
    return _folder("spec")


def fixtures_folder() -> Path:
    """Return the folder of the fixtures.

    >>> (fixtures_folder() / "schema.json").is_file()
    True
    """
    return _folder("fixtures")
