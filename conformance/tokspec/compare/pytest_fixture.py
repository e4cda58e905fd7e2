"""The fixture ``tokenizer_regression`` of pytest, apart from what it imports when a test asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tokspec.compare.regression import TokenizerRegression


@pytest.fixture
def tokenizer_regression(request: pytest.FixtureRequest) -> TokenizerRegression:
    """Hold a tokenizer to what it answered when it was recorded: ``tokenizer_regression.check(tokenizer)``."""
    from tokspec.compare.regression import TokenizerRegression

    return TokenizerRegression(request)
