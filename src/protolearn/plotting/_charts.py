"""Plots of charts: local linear views as ellipses, among the samples or aligned to one view."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
from numpy.typing import ArrayLike
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_array

from protolearn.core.parameters import constrained, option, positive
from protolearn.core.pipelines import take_apart
from protolearn.core.types import Floats
from protolearn.embedding.charts import Charts
from protolearn.plotting._bars import entitle
from protolearn.plotting._embedding import Coloring, axes_in_space, check_sizes, frame_in_space, scatter_points
from protolearn.plotting._inputs import fitted_model
from protolearn.plotting._relational import bare_plane
from protolearn.plotting._shapes import moved_within
from protolearn.plotting.style import INK, class_colors

__all__ = ["plot_charts"]


N_CORNERS = 60  # of the polygon that an ellipse is drawn as


@constrained(space=option("view", "data"), size=positive)
def plot_charts(
    charting: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    space: Literal["view", "data"] = "view",
    size: float = 1.5,
    cmap: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the charts of a view, each as an ellipse around the samples in which it has a share.

    In the view, the plot shows how charts are aligned: adjacent charts overlap, and ellipses that are much larger or
    thinner than the others indicate where the view is torn or folded. In data space, charts are flat pieces, and a
    chart that connects unrelated parts of the data becomes visible.

    Parameters
    ----------
    charting : fitted estimator
        Fitted embedding with charts, such as Charting, or a Pipeline that ends in one.
    X : array-like of shape (n, d)
        Samples.
    y : array-like of shape (n,), optional
        Class labels of the samples, or real-valued numbers, shown by color; by default charts have different colors,
        and samples have the color of the chart with the largest share.
    space : {"view", "data"}, default="view"
        Space in which charts are shown: the view or the data. Data with more than three features are projected on their
        first three principal components.
    size : float, default=1.5
        Half-axes of the ellipses in standard deviations. Three-dimensional charts are shown by three ellipses,
        one-dimensional charts by a line.
    cmap : str, optional
        Name of a Matplotlib colormap for the classes, the numbers or the charts.
    ax : Axes, optional
        Axes to draw into, three-dimensional if the view or the data are; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot. The title of a view reports the isometry defect, which is 0 if all charts preserve
        lengths.

    References
    ----------
    Brand, M. (2003). Charting a manifold. NIPS 15.

    Examples
    --------
    >>> from protolearn import Charting
    >>> from protolearn.datasets import make_twin_peaks
    >>> from protolearn.plotting import plot_charts
    >>> X, coordinates, y = make_twin_peaks(500, random_state=0)
    >>> ax = plot_charts(Charting(n_charts=9, n_init=1, random_state=0).fit(X), X)
    >>> len(ax.collections[-1].get_paths())
    9
    """
    parts = take_apart(charting)
    charting = fitted_model(charting)
    if not hasattr(charting, "charts_") or not hasattr(charting, "isometry_defect_"):
        raise ValueError(f"Cannot plot charts: {type(charting).__name__} has none. Give a fitted Charting.")
    X = parts.transform(X)
    samples = check_array(X, dtype=np.float64, input_name="X")
    shares = charting.charts_.shares(samples)
    used = shares.any(axis=0)
    outlines = _outlines(charting.charts_, samples, shares, size)
    if space == "view":
        points = np.asarray(charting.transform(X), dtype=np.float64)
        shapes = _in_view(outlines, charting.weights_)[used]
    else:
        origin, directions = _shown(samples)
        points = (samples - origin) @ directions.T
        shapes = (_in_data(outlines, charting.charts_)[used] - origin) @ directions.T
    if points.shape[1] not in (2, 3):
        raise ValueError(
            f"Charts are shown in two or three dimensions, but the {space} has {points.shape[1]}. "
            "plot_embedding(charting, charting.labels_) shows one-dimensional positions in a row for each chart."
        )
    colors = Coloring.of(y, len(samples), cmap)
    own = class_colors(len(used), cmap)
    ax = _draw(
        ax,
        points,
        own[shares.argmax(axis=1)] if y is None else colors.rgb,
        shapes,
        own[used] if y is None else np.tile(to_rgb(INK), (used.sum(), 1)),
    )
    colors.explain(ax)
    entitle(ax, f"isometry defect {charting.isometry_defect_:.3g}" if space == "view" else "")
    return ax


def _outlines(charts: Charts, X: Floats, shares: Floats, size: float) -> Floats:
    """Return ellipses (k, c, N, m) of the samples in each chart: in each plane of two of their first principal axes."""
    z = charts.coordinates(X)
    weights = shares / np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
    means = np.einsum("nk,nkm->km", weights, z)
    gaps = z - means
    variances, axes = np.linalg.eigh(np.einsum("nk,nki,nkj->kij", weights, gaps, gaps))
    half_axes = size * np.sqrt(np.maximum(variances, 0.0))[:, None] * axes  # columns, the longest last
    angles = np.linspace(0.0, 2.0 * np.pi, N_CORNERS, endpoint=False)
    rounds = [np.outer(np.cos(angles), one) + np.outer(np.sin(angles), other) for one, other in _planes(z.shape[2])]
    return means[:, None, None] + np.einsum("cpj,kij->kcpi", np.array(rounds), half_axes)


def _planes(m: int) -> list[tuple[Floats, Floats]]:
    """Return pairs of the last three of m unit vectors; of a single one, itself and zero, whose circle is a line."""
    vectors = np.eye(m)[-3:]
    return list(combinations(vectors, 2)) if m > 1 else [(vectors[0], np.zeros(1))]


def _in_view(outlines: Floats, weights: Floats) -> Floats:
    """Return outlines (k, c, N, m) where the affine maps of the charts place them."""
    blocks = weights.reshape(len(outlines), outlines.shape[-1] + 1, -1)[:, None]
    return outlines @ blocks[:, :, :-1] + blocks[:, :, -1:]


def _in_data(outlines: Floats, charts: Charts) -> Floats:
    """Return the outlines (k, c, N, m) as points of the data (k, c, N, d)."""
    back = np.swapaxes(np.linalg.pinv(charts.axes), 1, 2)
    return charts.centers[:, None, None] + outlines @ back[:, None]


def _shown(X: Floats) -> tuple[Floats, Floats]:
    """Return the origin (d,) and up to three directions (q, d) in which data are shown: features, or components."""
    n_features = X.shape[1]
    if n_features <= 3:
        return np.zeros(n_features), np.eye(n_features)
    found = PCA(3).fit(X)
    return found.mean_, found.components_


def _draw(ax: Axes | None, points: Floats, shades: Floats, shapes: Floats, edges: Floats) -> Axes:
    """Draw points (n, 2 or 3) and closed shapes (k, c, N, 2 or 3) in their colors."""
    polygons = shapes.reshape(-1, *shapes.shape[2:])
    outer = np.repeat(edges, shapes.shape[1], axis=0)
    look: dict[str, Any] = {"facecolors": np.column_stack([outer, np.full(len(outer), 0.12)]), "edgecolors": outer}
    if points.shape[1] == 2:
        ax = bare_plane(ax, np.concatenate([points, moved_within(polygons.reshape(-1, 2), points)]))
        scatter_points(ax, points, shades, check_sizes(None, len(points)))
        ax.add_collection(PolyCollection(list(polygons), linewidths=0.9, zorder=2, **look), autolim=False)
        return ax
    space = axes_in_space(ax)
    frame_in_space(space, points)
    scatter_points(space, points, shades, check_sizes(None, len(points)))
    space.add_collection3d(Poly3DCollection(list(polygons), linewidths=0.9, **look))
    return space
