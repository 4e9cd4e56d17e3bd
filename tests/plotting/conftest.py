"""Small fitted maps, and figures that are drawn without a screen and closed after each test."""

from collections.abc import Iterator

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from protolearn import SOM
from protolearn.core.lattices import hexagonal


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def iris() -> tuple[pd.DataFrame, pd.Series]:
    data = load_iris(as_frame=True)
    return data.data, data.target.map(lambda code: str(data.target_names[code]))


@pytest.fixture(scope="session")
def som(iris: tuple[pd.DataFrame, pd.Series]) -> SOM:
    return SOM(hexagonal(5, 6), max_iter=5).fit(iris[0])
