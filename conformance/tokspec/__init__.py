"""A conformance suite for tokenizers: spec, fixtures, and a harness that judges any implementation by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokspec.adapter import Adapter, Hello, Refusal, Unsupported, require_unicode

__all__ = ["Adapter", "Hello", "Refusal", "Unsupported", "__version__", "require_unicode"]

__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """Import what an adapter needs when it is wanted: the plugin is in every run of pytest, and needs nothing."""
    if name in __all__:
        from tokspec import adapter

        return getattr(adapter, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
