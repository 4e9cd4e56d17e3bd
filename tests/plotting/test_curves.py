"""Curves show the recorded numbers."""

from typing import Any

import numpy as np

from protolearn import SOM, KMeans
from protolearn.metrics import topographic_function
from protolearn.plotting import plot_history, plot_topographic_function


def test_history_shows_cost_and_range_by_epoch(som: SOM) -> None:
    ax = plot_history(som)
    beside = ax.figure.axes[1]
    for axes, values, label in ((ax, som.cost_history_, "cost"), (beside, som.range_history_, "range")):
        (line,) = axes.lines
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([np.arange(1, 6), values]))
        assert axes.get_yscale() == "log"
        assert axes.get_ylabel() == label
    assert ax.get_xlabel() == "epoch"


def test_history_without_a_range_has_one_axis(iris: Any) -> None:
    ax = plot_history(KMeans(3, random_state=0).fit(iris[0]))
    assert ax.figure.axes == [ax]


def test_a_cost_of_zero_is_drawn_on_a_linear_axis() -> None:
    ax = plot_history(KMeans(1).fit(np.ones((3, 2))))
    assert ax.get_yscale() == "linear"
    ax.figure.canvas.draw()


def test_topographic_function_is_drawn_bar_by_bar(som: SOM) -> None:
    ax = plot_topographic_function(som)
    k, values = topographic_function(som)
    bars = sorted((bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in ax.patches)
    np.testing.assert_allclose(bars, np.column_stack([k, values]), atol=1e-12)
