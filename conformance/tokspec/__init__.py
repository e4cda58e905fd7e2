"""A conformance suite for tokenizers: a specification, fixtures, and a harness that judges implementations by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokspec.adapter import Adapter, Hello, Refusal, Unsupported, require_unicode

__all__ = ["Adapter", "Hello", "Refusal", "Unsupported", "__version__", "require_unicode"]

__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """Import the names for adapters on first use: every run of pytest loads the plugin, which needs none of them."""
    if name in __all__:
        from tokspec import adapter

        return getattr(adapter, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
