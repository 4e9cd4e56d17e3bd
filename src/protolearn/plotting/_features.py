"""Receptive fields in the plane: Voronoi cells, clipped to a box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing, check_array

from protolearn.core.fitted import take_map_apart
from protolearn.core.types import Array, Floats
from protolearn.lvq import PrototypeTable
from protolearn.plotting._inputs import (
    check_labels,
    check_numbers,
    classes_of,
    fitted_map,
    fitted_model,
    in_units,
    samples_in_units,
    select_features,
    slopes_in_units,
    value_of,
)
from protolearn.plotting.style import INK, MUTED, add_legend, axes_or_new, class_colors, class_handles, tidy, tint

__all__ = [
    "plot_graph",
    "plot_prototypes",
    "voronoi_cells",
]


def voronoi_cells(points: ArrayLike, low: ArrayLike, high: ArrayLike) -> list[Floats]:
    """Return the corners (c, 2), counterclockwise, of the Voronoi cell of each point, clipped to a box.

    Unlike diagrams from Qhull, whose precision is limited by squared distances, these cells are correct for points that
    nearly coincide, such as unused prototypes.

    Parameters
    ----------
    points : array-like of shape (k, 2)
        Points inside the box; equal points have the same cell.
    low, high : array-like of shape (2,)
        Lower left and upper right corner of the box.

    Returns
    -------
    list of k arrays of shape (c, 2)
        Corners of the cells.

    Examples
    --------
    >>> left, right = voronoi_cells([[1, 1], [3, 1]], low=[0, 0], high=[4, 2])
    >>> left.min(axis=0), left.max(axis=0)
    (array([0., 0.]), array([2., 2.]))
    """
    points, low, high = (np.asarray(values, dtype=np.float64) for values in (points, low, high))
    box = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    cells = [point + _cell_around_origin(points - point, box - point) for point in points]
    return [np.clip(cell, low, high) for cell in cells]


def _cell_around_origin(others: Floats, corners: Floats) -> Floats:
    """Cut from a convex polygon (c, 2) around the origin all that is nearer to another point (k, 2)."""
    squared = (others**2).sum(axis=1)
    for index in np.argsort(squared):
        if squared[index] > 4 * (corners**2).sum(axis=1).max():
            break  # from here on, the points are too far to reach the cell
        if squared[index] > 0:
            corners = _kept(corners, corners @ others[index] - squared[index] / 2)
    return corners


def _kept(corners: Floats, beyond: Floats) -> Floats:
    """Return what is left of a convex polygon (c, 2) cut along a line, the distances (c,) beyond which are given."""
    following, beyond_next = np.roll(corners, -1, axis=0), np.roll(beyond, -1)
    crosses = (beyond > 0) != (beyond_next > 0)
    way = np.divide(beyond, beyond - beyond_next, out=np.zeros_like(beyond), where=crosses)
    crossings = corners + way[:, None] * (following - corners)
    return np.stack([corners, crossings], axis=1)[np.column_stack([beyond <= 0, crosses])]


SAMPLE = "#8c8c8c"


def plot_prototypes(
    estimator: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    features: Sequence[int | str] = (0, 1),
    voronoi: bool = True,
    *,
    feature_names: Sequence[str] | None = None,
    cmap: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the prototypes among the samples, with their receptive fields and, for a SOM, the edges of the lattice.

    Parameters
    ----------
    estimator : fitted map or LVQ classifier
        Fitted model such as KMeans, NeuralGas or SOM, a PrototypeClassifier of one, GLVQ, or a Pipeline that ends in
        one of them. Of a pipeline, prototypes are shown in the features and units of its input.
    X : array-like of shape (n, d), optional
        Samples to draw in the background.
    y : array-like of shape (n,), optional
        Class labels of the samples, shown by color. Prototypes that have learned the same classes are colored as well.
    features : two of int or str, default=(0, 1)
        Indices or names of the features on the horizontal and the vertical axis.
    voronoi : bool, default=True
        Whether to draw the receptive fields, in the color of the prototype's class if it has one. They are drawn only
        for data with two features, because in more dimensions a receptive field is not a region of the plane. They are
        not drawn for LVQ classifiers with a distance other than the Euclidean; `plot_decision_regions` shows the
        classes of any classifier. For a pipeline, they are drawn if its steps only scale and shift.
    feature_names : sequence of str, optional
        Names of the features; by default those that the model was fitted with.
    cmap : str, optional
        Name of a Matplotlib colormap for the classes.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from protolearn import NeuralGas
    >>> from protolearn.plotting import plot_prototypes
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> ax = plot_prototypes(NeuralGas(10, random_state=0).fit(X), X, y)
    >>> len(ax.collections[0].get_paths())  # receptive fields
    10
    """
    table = in_units(estimator, feature_names)
    columns, names = two_features(table, features)
    points = points_in_plane(table, columns)
    samples = samples_in_plane(X, columns, estimator, table)
    labels = check_labels(y, len(samples))
    classes = classes_of(estimator, labels)
    learned = class_codes(getattr(fitted_model(estimator), "prototype_labels_", None), classes)
    colors = class_colors(0 if classes is None else len(classes), cmap)
    ax, low, high = feature_plane(ax, np.concatenate([points, samples]), names)
    scale = _scale(estimator, columns) if voronoi and _is_euclidean(estimator) else None
    if scale is not None:
        cells = [cell * scale for cell in voronoi_cells(points / scale, low / scale, high / scale)]
        fields = PolyCollection(cells, edgecolor=MUTED, linewidth=0.6, zorder=0.5)
        fields.set_facecolor(colored(learned, tint(colors, 0.18), "none"))
        ax.add_collection(fields, autolim=False)
    scatter_samples(ax, samples, colored(class_codes(labels, classes), colors, SAMPLE))
    if hasattr(fitted_map(estimator), "lattice_"):
        lines = points[fitted_map(estimator).lattice_.edges]
        ax.add_collection(LineCollection(list(lines), colors=INK, linewidths=0.6, zorder=2), autolim=False)
    _mark_prototypes(ax, points, colored(learned, colors, INK))
    if classes is not None:
        add_legend(ax, class_handles(classes, colors))
    return ax


def plot_graph(
    estimator: Any,
    X: ArrayLike | None = None,
    features: Sequence[int | str] = (0, 1),
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the topology representing network: which prototypes are neighbors in the data.

    An edge connects two prototypes if they are the two nearest to some sample; its width increases with the number of
    such samples.

    Parameters
    ----------
    estimator : fitted map
        Fitted map such as KMeans, NeuralGas or SOM, a PrototypeClassifier of one, or a Pipeline that ends in one of
        them.
    X : array-like of shape (n, d), optional
        Samples to draw in the background.
    features : two of int or str, default=(0, 1)
        Indices or names of the features on the horizontal and the vertical axis.
    feature_names : sequence of str, optional
        Names of the features; by default those that the model was fitted with.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    References
    ----------
    Martinetz, T., Schulten, K. (1994). Topology representing networks. Neural Networks 7, 507-522.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from protolearn import NeuralGas
    >>> from protolearn.plotting import plot_graph
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> gas = NeuralGas(12, random_state=0).fit(X)
    >>> ax = plot_graph(gas, X)
    >>> 2 * len(ax.collections[1].get_segments()) == gas.graph_.nnz
    True
    """
    table = in_units(estimator, feature_names)
    columns, names = two_features(table, features)
    points = points_in_plane(table, columns)
    samples = samples_in_plane(X, columns, estimator, table)
    graph = sparse.triu(value_of(estimator, "graph_", "the graph of neighboring prototypes"), k=1).tocoo()
    heaviest = graph.data.max(initial=0.0)
    ax, _, _ = feature_plane(ax, np.concatenate([points, samples]), names)
    scatter_samples(ax, samples, SAMPLE)
    ends = np.stack([points[graph.row], points[graph.col]], axis=1)
    edges = LineCollection(list(ends), colors="#0072B2", linewidths=line_widths(graph.data, heaviest), zorder=2)
    edges.set_capstyle("round")
    ax.add_collection(edges, autolim=False)
    _mark_prototypes(ax, points, INK)
    if heaviest > 0:
        add_legend(ax, _width_entries(heaviest), title="samples\nbetween two\nprototypes")
    return ax


def _is_euclidean(estimator: Any) -> bool:
    """Return whether prototypes are compared by Euclidean distance, so that receptive fields are Voronoi cells."""
    estimator = fitted_model(estimator)
    if str(getattr(estimator, "metric", "euclidean")) != "euclidean" or hasattr(estimator, "relevance_matrix_"):
        return False
    weights = np.asarray(getattr(estimator, "relevances_", 1.0)) / getattr(estimator, "scale_", 1.0) ** 2
    return bool((weights == weights.max()).all())


def _scale(estimator: Any, columns: NDArray[np.intp]) -> Floats | None:
    """Return the units (2,) of two features, of which there are no others; None if the steps of a pipeline mix them."""
    if fitted_map(estimator).prototypes_.shape[1] != 2:
        return None
    try:
        slopes = slopes_in_units(estimator, columns, 2)
    except ValueError:  # a step that is not affine
        return None
    return slopes.sum(axis=1) if (np.count_nonzero(slopes, axis=1) == 1).all() else None


def two_features(table: PrototypeTable, features: Sequence[int | str]) -> tuple[NDArray[np.intp], list[str]]:
    columns, names = select_features(table, features)
    if len(columns) != 2 or columns[0] == columns[1]:
        raise ValueError(f"features={features!r} must be two different features, one for each axis.")
    return columns, names


def points_in_plane(table: PrototypeTable, columns: NDArray[np.intp]) -> Floats:
    """Return prototypes in the plane (k, 2) of two features."""
    return np.stack([check_numbers(table, column) for column in columns], axis=1)


def samples_in_plane(X: Any, columns: NDArray[np.intp], estimator: Any, table: PrototypeTable) -> Floats:
    """Return the samples in the plane (n, 2), none if there are none; a missing value is NaN."""
    if X is None:
        return np.empty((0, 2))
    X = samples_in_units(estimator, table, X)
    n_given, n_features = np.shape(X)[1], len(table.feature_names)
    if n_given != n_features:
        raise ValueError(f"X has {n_given} features, but the prototypes have {n_features}.")
    whole = take_map_apart(estimator).before is None  # a step of a pipeline may fill in what is missing
    chosen = _safe_indexing(X if hasattr(X, "shape") else np.asarray(X), columns, axis=1)
    return check_array(chosen, dtype=np.float64, input_name="X", ensure_all_finite=True if whole else "allow-nan")


def class_codes(labels: Array | None, classes: Array | None) -> NDArray[np.intp] | None:
    """Return where labels (n,) stand among the sorted classes; None without labels, or if some are not among them."""
    if labels is None or classes is None or not set(labels.tolist()) <= set(classes.tolist()):
        return None
    return np.searchsorted(classes, labels)


def colored(codes: NDArray[np.intp] | None, colors: Floats, otherwise: str) -> Any:
    return otherwise if codes is None else colors[codes]


def feature_plane(ax: Axes | None, points: Floats, names: list[str]) -> tuple[Axes, Floats, Floats]:
    """Return Axes that show all points (n, 2) with a margin, and the corners of what they show."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    extent = high - low
    extent[extent == 0] = extent.max() or 1.0
    low, high = low - 0.06 * extent, high + 0.06 * extent
    # Drawn to the same scale, features of very different extent would make a thin strip.
    same_scale = extent.max() <= 4 * extent.min()
    ax = axes_or_new(ax, extent[1] / extent[0] if same_scale else 0.75)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=names[0], ylabel=names[1])
    ax.set_aspect("equal" if same_scale else "auto")
    tidy(ax, hidden=())
    return ax, low, high


def scatter_samples(ax: Axes, samples: Floats, colors: Any) -> None:
    if len(samples):
        small = np.clip(3000 / len(samples), 2, 12)
        ax.scatter(
            samples[:, 0],
            samples[:, 1],
            s=small,
            c=colors,
            alpha=0.6,
            linewidths=0,
            zorder=1,
            rasterized=len(samples) > 5000,
        )


def _mark_prototypes(ax: Axes, points: Floats, colors: Any) -> None:
    ax.scatter(points[:, 0], points[:, 1], s=34, c=colors, edgecolors="white", linewidths=0.9, zorder=3)


def line_widths(weights: Floats, heaviest: float) -> Floats:
    """Return line widths in points that grow with the weight, thin but visible for the lightest."""
    return 0.4 + 3.6 * weights / heaviest


def _width_entries(heaviest: float) -> list[Artist]:
    ticks = np.asarray(MaxNLocator(3).tick_values(0.0, heaviest))
    weights = ticks[(ticks > 0) & (ticks <= heaviest)]
    return [
        Line2D([], [], color="#0072B2", linewidth=width, label=f"{weight:g}", solid_capstyle="butt")
        for weight, width in zip(weights, line_widths(weights, heaviest))
    ]
