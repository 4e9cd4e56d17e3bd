"""Settings for all tests, those in docstrings and pages included."""

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import pytest
from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # lets scikit-learn run its array API checks too
os.environ.setdefault("MPLBACKEND", "Agg")
# A busy machine is no failure, and a run tries the same examples as the one before; "search" looks for new ones.
settings.register_profile("protolearn", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "protolearn"))


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over libraries and collected tests, which stay to the end."""
    gc.collect()
    gc.freeze()


def covering(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return rows of a product in which every two values of any two factors meet: few rows, and always the same."""
    rows = list(product(*map(range, sizes)))
    pairs = {row: set(combinations(enumerate(row), 2)) for row in rows}
    left = set().union(*pairs.values())
    chosen = []
    while left:
        chosen.append(max(rows, key=lambda row: len(pairs[row] & left)))
        left -= pairs[chosen[-1]]
    return sorted(chosen)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let `@pytest.mark.pairwise(a=values, b=values, c=values)` run a test on a covering instead of the product."""
    for mark in metafunc.definition.iter_markers("pairwise"):
        factors = [list(values) for values in mark.kwargs.values()]
        rows = [[factor[i] for factor, i in zip(factors, row)] for row in covering([len(factor) for factor in factors])]
        metafunc.parametrize(list(mark.kwargs), rows, ids=short_name)


def short_name(value: object) -> str | None:
    """Return how a value is written in the name of a test; None leaves it to pytest."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 and "<" not in text else None


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
