"""The first lines of a pack: what was asked, of whom, with which model, and by which version of the suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

__all__ = ["FORMAT", "READ", "Header"]

#: The version of the format of packs: 2 says of each text why there is no answer, 1 left it out.
FORMAT = 2

#: The versions that are read.
READ = (1, 2)


@dataclass(frozen=True)
class Header:
    """What a pack says of itself; there is nothing in it of the machine or the time at which it was made.

    ``fixtures`` and ``texts`` are hashes of the suite's. ``implementation`` has the name, version and language,
    ``model`` is what :func:`tokspec.packs.summary.summary` gives, ``special_tokens`` says whether those of a
    post-processor are ``added`` or ``not added``, and ``inputs`` says what the texts were taken from.
    """

    suite: str
    fixtures: str
    texts: str
    implementation: Mapping[str, Any]
    choices: Mapping[str, str]
    model: Mapping[str, Any]
    special_tokens: str
    operations: tuple[str, ...]
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """The name and the version of whoever answered."""
        return f"{self.implementation['name']} {self.implementation['version']}".strip()

    def values(self) -> dict[str, Any]:
        """Return the lines by their keys, the version of the format first."""
        return {"tokspec_pack": FORMAT, **asdict(self)}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Header:
        """Take what :meth:`values` gave."""
        given = {each.name: values[each.name] for each in fields(cls)}
        return cls(**{**given, "operations": tuple(given["operations"])})
