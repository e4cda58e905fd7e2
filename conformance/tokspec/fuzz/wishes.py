"""What people name: families of models, clauses, implementations; looked up before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tokspec.adapter import Adapter
from tokspec.adapters.registry import open_session
from tokspec.base.display import did_you_mean
from tokspec.base.errors import DataError
from tokspec.fuzz.models import FAMILIES
from tokspec.sessions.in_process import InProcessSession
from tokspec.sessions.session import Session
from tokspec.suite.specification import load_specification

__all__ = ["clauses_of", "families_of", "opened", "options_of"]


def opened(implementation: Callable[[], Adapter] | str) -> Session:
    """Open an installed implementation, ``module:object``, or a command with a space in it; or what makes an adapter.

    An adapter that is made is asked in this process.

    >>> opened("reference").hello.name
    'tokref'
    """
    if not isinstance(implementation, str):
        return InProcessSession(implementation())
    return open_session(None, implementation) if " " in implementation else open_session(implementation, None)


def families_of(names: Iterable[str], key: str) -> tuple[str, ...]:
    """Return the families of models that are named; ``key`` is where.

    Raises:
        DataError: there is no such family, or none is named.

    >>> families_of(["bpe"], "--only")
    ('bpe',)
    """
    families = _several(names, key, "families")
    for name in families:
        if name not in FAMILIES:
            question = did_you_mean(name, FAMILIES)
            raise DataError(f"{name!r} names no models; {question}there are {', '.join(FAMILIES)}", key=key)
    if not families:
        raise DataError(f"names no models; there are {', '.join(FAMILIES)}", key=key)
    return families


def clauses_of(names: Iterable[str], key: str) -> frozenset[str]:
    """Return the clauses that are named.

    Raises:
        DataError: the specification has no such clause.

    >>> clauses_of(["BPE-ENC-1"], "known")
    frozenset({'BPE-ENC-1'})
    """
    clauses = _several(names, key, "clauses")
    for name in clauses:
        if name not in load_specification().clauses:
            question = did_you_mean(name, load_specification().clauses)
            raise DataError(f"{name!r} is no clause of the specification; {question}tokspec list names them", key=key)
    return frozenset(clauses)


def options_of(choices: Mapping[str, str], key: str) -> Mapping[str, str]:
    """Return the options that are named for choices.

    Raises:
        DataError: the specification has no such choice or option.

    >>> options_of({"unknown_id": "skipped"}, "choices")
    {'unknown_id': 'skipped'}
    """
    known = load_specification().choices
    for name, option in choices.items():
        if name not in known:
            question = did_you_mean(name, known)
            raise DataError(f"{name!r} names no choice; {question}there are {', '.join(known)}", key=key)
        if option not in known[name].options:
            options = known[name].options
            question = did_you_mean(option, options)
            raise DataError(f"{option!r} names no option; {question}{name} has {', '.join(options)}", key=key)
    return choices


def _several(names: Iterable[str], key: str, what: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise DataError(f"{names!r} is one text; give a list of {what}, such as [{names!r}]", key=key)
    return tuple(names)
