"""Plots of image sequences and collections in an embedding: curves over time, and a grid of images."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_array

from protolearn.core.fitted import take_apart
from protolearn.core.parameters import constrained, integer, option, positive
from protolearn.core.types import Array, Floats
from protolearn.embedding.charts import Charts
from protolearn.plotting._embedding import (
    Coloring,
    axes_in_space,
    check_images,
    check_sizes,
    draw_thumbnails,
    frame_in_space,
    placed_samples,
    places_apart,
    scatter_points,
    tell_unplaced,
    view_positions,
)
from protolearn.plotting._inputs import fitted_model
from protolearn.plotting._objects import bare_plane
from protolearn.plotting._relevances import entitle
from protolearn.plotting._shapes import moved_within
from protolearn.plotting.style import INK, MUTED, add_legend, axes_or_new, class_colors, tidy

__all__ = [
    "plot_charts",
    "plot_image_grid",
    "plot_trajectory",
]

THUMBNAIL = 0.14  # side of an image beside a curve, as a share of the larger side of the picture


GAP = 0.9  # how much of a cell of the grid an image fills


ENDS = {"start": "o", "end": "s"}


@constrained(n_images=integer(1), zoom=positive)
def plot_trajectory(
    Y: Any,
    images: ArrayLike | None = None,
    *,
    time: bool = False,
    n_images: int = 12,
    zoom: float = 1.0,
    cmap: str = "gray",
    ax: Axes | None = None,
) -> Axes:
    """Show a sequence of positions in time as a curve, with its start and end, and images along it.

    Several curves can be compared: the first one is drawn as a solid line, the others are dashed. Images are placed
    next to the curve at equal time steps, where they hide neither the curve nor each other.

    Parameters
    ----------
    Y : array-like of shape (n, 1), (n, 2) or (n, 3), fitted estimator, or dict of these
        Positions in temporal order, or an estimator with the attribute ``embedding_``, such as Charting. The keys of a
        dict are names for the legend.
    images : array-like of shape (n, h, w), (n, h, w, 3) or (n, h, w, 4), optional
        Image at each position of the first curve, in gray or in color, in any form that Matplotlib can show. Images
        require two-dimensional positions without ``time``.
    time : bool, default=False
        Whether to show time as an additional axis. One-dimensional positions are always shown over time.
    n_images : int, default=12
        Number of images to show, including the first and the last.
    zoom : float, default=1.0
        Size of the images, relative to the default.
    cmap : str, default="gray"
        Name of a Matplotlib colormap for gray images, which share one color scale.
    ax : Axes, optional
        Axes to draw into, three-dimensional if positions, or positions and time, have three columns; a new figure by
        default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    plot_images : Images at their positions, without order.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, sections 5.3 and
    5.4.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from protolearn.datasets import make_rotating_views
    >>> from protolearn.plotting import plot_trajectory
    >>> images, angles = make_rotating_views(50)
    >>> ax = plot_trajectory(PCA(2).fit_transform(images.reshape(50, -1)), images, n_images=8)
    >>> len(ax.images), [text.get_text() for text in ax.get_legend().get_texts()]
    (8, ['start', 'end'])
    """
    curves, over_time = _curves(Y, time)
    first = next(iter(curves.values()))
    shown = np.concatenate(list(curves.values()))
    if images is None:
        ax = _axes_for(ax, shown, over_time)
    elif over_time or first.shape[1] == 3:
        raise ValueError("Images need curves in the plane; give two-dimensional positions, and time=False.")
    else:
        pixels = check_images(images, len(first))
        half = _half_sides(pixels, zoom * THUMBNAIL * (np.ptp(shown, axis=0).max() or 1.0))
        ax = _axes_for(ax, np.concatenate([shown - 2.4 * half, shown + 2.4 * half]), over_time)
        _draw_beside(ax, list(curves.values()), pixels, n_images, half, cmap)
    handles = []
    for number, ((name, points), color) in enumerate(zip(curves.items(), class_colors(len(curves)))):
        look: dict[str, Any] = {"color": tuple(color), "linewidth": 1.2, "linestyle": "--" if number else "-"}
        ax.plot(*points.T, marker="o", markersize=2.5, zorder=2, **look)
        for marker, point in zip(ENDS.values(), points[[0, -1]]):
            ends: dict[str, Any] = {"color": tuple(color), "markeredgecolor": INK, "markersize": 8, "zorder": 4}
            ax.plot(*point[:, None], linestyle="", marker=marker, **ends)
        handles += [Line2D([], [], label=name, **look)] if name else []
    add_legend(ax, [*handles, *map(_end_entry, ENDS)])
    return ax


@constrained(n_cells=integer(1))
def plot_image_grid(
    Y: Any,
    images: ArrayLike,
    y: ArrayLike | None = None,
    *,
    n_cells: int = 12,
    cmap: str = "gray",
    ax: Axes | None = None,
) -> Axes:
    """Show an embedding of images on a regular grid: in each cell, the image whose position is nearest to the center.

    Only images whose positions lie in the cell are considered; cells without any stay empty.

    Parameters
    ----------
    Y : array-like of shape (n, 2), or fitted estimator
        Positions of the samples, or an estimator with the attribute ``embedding_``, such as Charting.
    images : array-like of shape (n, h, w), (n, h, w, 3) or (n, h, w, 4)
        Image of each sample, in gray or in color, in any form that Matplotlib can show.
    y : array-like of shape (n,), optional
        Class labels of the samples, or real-valued numbers, for the colors of frames.
    n_cells : int, default=12
        Number of cells along the longer side of the grid. Cells have the proportions of an image.
    cmap : str, default="gray"
        Name of a Matplotlib colormap for gray images, which share one color scale.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    plot_images : Images at their own positions.
    plot_examples : Images, or other objects, on the nodes of a map.

    References
    ----------
    Arnonkijpanich, B. (2010). Matrix learning for topographic neural maps. PhD thesis, TU Clausthal, section 5.3.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from protolearn.plotting import plot_image_grid
    >>> digits = load_digits()
    >>> ax = plot_image_grid(PCA(2).fit_transform(digits.data), digits.images, digits.target)
    >>> len(ax.images) <= 12 * 12
    True
    """
    points, known = placed_samples(Y, 2)
    pixels = check_images(images, len(known))[known]
    colors = Coloring.of(y, len(known)).of_some(known)
    proportions = _half_sides(pixels, 1.0)
    cell = proportions * ((np.ptp(points, axis=0) / proportions).max() / n_cells or 1.0)
    chosen, centers = _nearest_in_cells(points, cell)
    ax = bare_plane(ax, np.concatenate([centers - 0.5 * cell, centers + 0.5 * cell]))
    edges = MUTED if y is None else colors.rgb[chosen]
    draw_thumbnails(ax, pixels, chosen, centers, 0.5 * GAP * cell, cmap, edges)
    colors.explain(ax)
    tell_unplaced(ax, known)
    return ax


def _curves(Y: Any, time: bool) -> tuple[dict[str, Floats], bool]:
    """Return curves by name, an empty name if there is only one, and whether their first column is the time."""
    given = {str(name): view_positions(each) for name, each in (Y.items() if isinstance(Y, Mapping) else [("", Y)])}
    columns = {points.shape[1] for points in given.values()}
    if len(columns) != 1:
        raise ValueError(
            f"The curves have {sorted(columns)} columns; give at least one curve, all with the same number of columns."
        )
    over_time = time or columns == {1}
    if not over_time:
        return given, False
    if columns == {3}:
        raise ValueError("Three-dimensional positions cannot be shown over time; give two columns, or time=False.")
    return {name: np.column_stack([np.arange(len(points)), points]) for name, points in given.items()}, True


def _axes_for(ax: Axes | None, points: Floats, over_time: bool) -> Axes:
    """Return Axes for points of two or three columns, the first of which may be the time."""
    if points.shape[1] == 3:
        space = axes_in_space(ax)
        frame_in_space(space, points)
        if over_time:
            extent = np.ptp(points[:, 1:], axis=0)
            space.set_box_aspect((1.6, *np.maximum(extent / (extent.max() or 1.0), 0.1)))
            space.set_xlabel("time")
        return space
    if not over_time:
        return bare_plane(ax, points)
    ax = axes_or_new(ax)
    tidy(ax)
    ax.set(xlabel="time", ylabel="position")
    return ax


def _half_sides(pixels: Array, side: float) -> Floats:
    """Return half the width and half the height of images that have the area of a square of this side."""
    height, width = pixels.shape[1:3]
    return 0.5 * side * np.sqrt([width / height, height / width])


def _draw_beside(ax: Axes, curves: list[Floats], pixels: Array, n_images: int, half: Floats, cmap: str) -> None:
    """Draw images of the first curve where they hide none of the curves, with lines to their positions."""
    chosen = np.unique(np.linspace(0, len(pixels) - 1, n_images).round().astype(int))
    points = curves[0][chosen]
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    line = np.concatenate([_refined(curve, 0.5 * half.min()) for curve in curves])
    places = places_apart(points, np.tile(1.25 * half, (len(points), 1)), low, high, line)
    found = ~np.isnan(places[:, 0])
    chosen, points, places = chosen[found], points[found], places[found]
    ends = np.stack([points, np.clip(points, places - half, places + half)], axis=1)
    ax.add_collection(LineCollection(list(ends), colors=INK, linewidths=0.5, zorder=1), autolim=False)
    draw_thumbnails(ax, pixels, chosen, places, half, cmap, MUTED)


def _refined(curve: Floats, step: float) -> Floats:
    """Return points along a curve (n, 2) that are not farther apart than a step."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    steps = np.linspace(0.0, way[-1], int(way[-1] / step) + 2)
    return np.column_stack([np.interp(steps, way, column) for column in curve.T])


def _nearest_in_cells(points: Floats, cell: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return for each cell with points the one nearest to its center, and these centers (c, 2)."""
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    counts = np.maximum(np.ceil(extent / cell - 1e-9), 1)
    corner = low + 0.5 * (extent - counts * cell)
    own = np.clip((points - corner) // cell, 0, counts - 1)
    centers = corner + (own + 0.5) * cell
    order = np.square((points - centers) / cell).sum(axis=1).argsort(kind="stable")
    chosen = order[np.unique(own[order], axis=0, return_index=True)[1]]
    return chosen, centers[chosen]


def _end_entry(name: str) -> Artist:
    look: dict[str, Any] = {"color": "white", "markeredgecolor": INK, "markersize": 8}
    return Line2D([], [], linestyle="", marker=ENDS[name], label=name, **look)


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
