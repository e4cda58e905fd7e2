"""The backend by which Hypothesis draws for a first difference: its own, but the same in every process.

Hypothesis draws one number in twenty from the constants of the user's modules that happen to be loaded, and so other
examples with the same seed in another process; and it makes five of six examples by changing the one before, which
finds less. No setting turns either off; a backend of one's own does. This is all that is used of Hypothesis beside its
public interface (``pyproject.toml`` bounds the version): where it has moved, Hypothesis's own backend is used.
"""

from __future__ import annotations

try:
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
    from hypothesis.internal.constants_ast import Constants
except ImportError:  # pragma: no cover
    BACKEND = "hypothesis"
else:
    BACKEND = "tokspec"

    class SameEverywhere(HypothesisProvider):
        """Draws as Hypothesis does, without constants of loaded modules."""

        _local_constants = Constants()

    AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{SameEverywhere.__name__}"
