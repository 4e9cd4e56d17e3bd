"""Settings for all tests, those in docstrings and pages included."""

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # lets scikit-learn run its array API checks too
os.environ.setdefault("MPLBACKEND", "Agg")
# A busy machine is no failure, and a run tries the same examples as the one before; "search" looks for new ones.
settings.register_profile("protolearn", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "protolearn"))


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
