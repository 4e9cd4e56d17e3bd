"""Settings for all tests, those in docstrings and pages included."""

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # lets scikit-learn run its array API checks too
os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("protolearn", deadline=None)  # a busy machine is no failure
settings.load_profile("protolearn")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
