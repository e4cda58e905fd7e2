"""The backend with which Hypothesis draws until a first difference: its own, but with the same draws in every process.

Hypothesis draws one number in twenty from the constants of the user's modules that happen to be loaded. So the same
seed draws different examples in another process, or after other tests in this one, which leave constants in a cache
that all backends share. Hypothesis also makes five of six examples by changing the previous one, which finds less. No
setting turns either off, but a custom backend does. Apart from this, the suite uses only the public interface of
Hypothesis (``pyproject.toml`` bounds the version); if these parts have moved, it uses Hypothesis's own backend.
"""

from __future__ import annotations

from typing import Any

try:
    from hypothesis.internal.cache import LRUCache
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, CONSTANTS_CACHE, HypothesisProvider
    from hypothesis.internal.constants_ast import Constants
except ImportError:  # pragma: no cover
    BACKEND = "hypothesis"
else:
    BACKEND = "tokspec"

    _OURS: LRUCache[Any, Any] = LRUCache(CONSTANTS_CACHE.max_size)

    class SameEverywhere(HypothesisProvider):
        """Draws as Hypothesis does, without constants of loaded modules and with its own cache."""

        _local_constants = Constants()

        def _maybe_draw_constant(self, *args: Any, **options: Any) -> Any:
            theirs, providers.CONSTANTS_CACHE = providers.CONSTANTS_CACHE, _OURS
            try:
                return super()._maybe_draw_constant(*args, **options)
            finally:
                providers.CONSTANTS_CACHE = theirs

    AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{SameEverywhere.__name__}"
