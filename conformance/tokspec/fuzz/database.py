"""The example database: what was found is asked first the next time, as long as it differs.

What was found beside one oracle says nothing of another: who compares with others has a file for that alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic

from tokspec.base.errors import DataError
from tokspec.base.files import read_bounded, write_whole
from tokspec.fuzz.checker import Checker
from tokspec.fuzz.example import Example

__all__ = ["keep", "kept", "still_differing"]

#: How many examples are kept for one implementation, and how large the file may be (megabytes).
_MOST = 200
_LARGEST = 4

#: Characters of a name that stand in that of its file.
_LONGEST = 100

#: Seconds for asking again what no finding stands for.
_AGAIN = 10.0


def _file(folder: Path, name: str) -> Path:
    file = re.sub(r"[^A-Za-z0-9.]+", "-", name)
    if len(file) > _LONGEST:
        file = f"{file[:_LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return folder / f"{file}.json"


def kept(folder: Path, name: str) -> list[Example]:
    """Read what is kept for an implementation; nothing if nothing is.

    Raises:
        DataError: the file is not one that :func:`keep` wrote.

    >>> kept(Path("nowhere"), "mytok")
    []
    """
    file = _file(folder, name)
    if not file.exists():
        return []
    try:
        rows = json.loads(read_bounded(file, str(file), _LARGEST))
        return [Example(row["model"], row["operation"], row["input"], "database") for row in rows]
    except (ValueError, KeyError, TypeError):
        raise DataError("is no database of examples; remove it, or give another folder", str(file)) from None


def still_differing(checks: Sequence[Checker], examples: Iterable[Example]) -> list[Example]:
    """Leave out what is answered rightly by now; what there is no time to ask stays.

    >>> from tokspec.fuzz.checker import Conversations, reference_with
    >>> still_differing([Checker(Conversations(lambda: reference_with({})))], [Example({}, "normalize", {"text": "a"})])
    []
    """
    end = monotonic() + _AGAIN
    return [each for each in examples if monotonic() > end or _differs(checks, each)]


def _differs(checks: Sequence[Checker], example: Example) -> bool:
    return any(comparison.state == "differs" for check in checks for comparison in check.compare([example]))


def keep(folder: Path, name: str, examples: Iterable[Example]) -> None:
    """Write what is to be asked first the next time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep(Path(folder), "my tok", [Example({}, "normalize", {"text": "a"})])
    ...     [example.operation for example in kept(Path(folder), "my tok")]
    ['normalize']
    """
    rows = [{"model": each.model, "operation": each.operation, "input": each.input} for each in examples][:_MOST]
    file = _file(folder, name)
    if not rows and not file.exists():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", str(folder)) from None
    write_whole(file, json.dumps(rows, indent=1) + "\n")
