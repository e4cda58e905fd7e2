"""A conformance suite for tokenizers: spec, fixtures, and a harness that judges any implementation by them."""

from __future__ import annotations

from tokspec.adapter import Adapter, Hello, Refusal, Unsupported, require_unicode

__all__ = ["Adapter", "Hello", "Refusal", "Unsupported", "__version__", "require_unicode"]

__version__ = "0.1.0"
