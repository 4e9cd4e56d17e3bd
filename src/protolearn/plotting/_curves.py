"""Curves of training histories and of topology preservation."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator, ScalarFormatter
from numpy.typing import ArrayLike

from protolearn.metrics import topographic_function
from protolearn.plotting._inputs import fitted_map, lattice_of, value_of
from protolearn.plotting.style import INK, MUTED, OKABE_ITO, axes_or_new, tidy

__all__ = ["plot_history", "plot_topographic_function"]


def plot_history(estimator: Any, ax: Axes | None = None) -> Axes:
    """Show cost and neighborhood range over the epochs of the fit (of the last patch, if there were several).

    The left axis shows the cost and the right axis the range. Both are logarithmic unless a value is zero or negative.
    For a map without a range, such as KMeans, only the cost is shown.

    Parameters
    ----------
    estimator : fitted map
        Fitted map such as KMeans, NeuralGas or SOM, a PrototypeClassifier of one, or a Pipeline that ends in one.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot: those of the cost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import NeuralGas
    >>> from protolearn.plotting import plot_history
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_history(NeuralGas(5, max_iter=20, random_state=0).fit(X))
    >>> len(ax.lines[0].get_ydata())
    20
    """
    costs = value_of(estimator, "cost_history_", "the cost over the epochs")
    ranges = value_of(estimator, "range_history_", "the range over the epochs")
    ax = axes_or_new(ax)
    tidy(ax)
    ax.set_xlabel("epoch")
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    _curve(ax, costs, "cost", OKABE_ITO[0])
    if np.any(ranges):
        beside = ax.twinx()
        tidy(beside, hidden=("top", "left"))
        _curve(beside, ranges, "range", OKABE_ITO[3])
    return ax


def plot_topographic_function(som: Any, ax: Axes | None = None) -> Axes:
    """Show violations of neighborhood preservation in both directions, by `protolearn.metrics.topographic_function`.

    Parameters
    ----------
    som : fitted map
        Fitted map with a lattice, such as SOM, a PrototypeClassifier of one, or a Pipeline that ends in one.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    References
    ----------
    Villmann, T., Der, R., Herrmann, M., Martinetz, T. (1997). Topology preservation in self-organizing feature maps:
    exact definition and measurement. IEEE Transactions on Neural Networks 8, 256-266.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SOM
    >>> from protolearn.plotting import plot_topographic_function
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_topographic_function(SOM(lattice=(4, 6)).fit(X))
    >>> ax.get_ylabel()
    'broken neighborhoods per node'
    """
    lattice_of(som)
    k, values = topographic_function(fitted_map(som))
    ax = axes_or_new(ax)
    tidy(ax)
    for side, color in ((k < 0, OKABE_ITO[0]), (k == 0, INK), (k > 0, OKABE_ITO[3])):
        ax.bar(k[side], values[side], width=0.7, color=color)
    ax.axhline(0, color=MUTED, linewidth=0.6)
    ax.xaxis.set_major_locator(MaxNLocator(9, integer=True))
    ax.set_xlabel(
        "k < 0: neighbors on the lattice more than |k| apart in the data\n"
        "k > 0: neighbors in the data more than k apart on the lattice"
    )
    ax.set_ylabel("broken neighborhoods per node")
    return ax


def _curve(ax: Axes, values: ArrayLike, label: str, color: str) -> None:
    values = np.asarray(values, dtype=np.float64)
    ax.plot(np.arange(1, len(values) + 1), values, color=color, linewidth=1.4, marker="" if len(values) > 1 else "o")
    ax.set_ylabel(label, color=color)
    ax.tick_params(axis="y", which="both", labelcolor=color, labelsize="small", width=0.6)
    if (values > 0).all():
        ax.set_yscale("log")
    if values.max() < 10 * values.min():  # powers of ten would leave the axis bare
        ax.yaxis.set(major_locator=MaxNLocator(6), major_formatter=ScalarFormatter(), minor_locator=NullLocator())
