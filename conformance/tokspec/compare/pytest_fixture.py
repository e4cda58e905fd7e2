"""The pytest fixture ``tokenizer_regression``; its implementation is imported when a test uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tokspec.compare.regression import TokenizerRegression


@pytest.fixture
def tokenizer_regression(request: pytest.FixtureRequest) -> TokenizerRegression:
    """Compare a tokenizer with its recorded answers: ``tokenizer_regression.check(tokenizer)``."""
    from tokspec.compare.regression import TokenizerRegression

    return TokenizerRegression(request)
