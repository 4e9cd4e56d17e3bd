"""Plots of image sequences and collections in an embedding: curves over time, and a grid of images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from protolearn.core.parameters import constrained, integer, positive
from protolearn.core.types import Array, Floats
from protolearn.plotting._embedding import (
    Coloring,
    axes_in_space,
    check_images,
    draw_thumbnails,
    frame_in_space,
    placed_samples,
    places_apart,
    tell_unplaced,
    view_positions,
)
from protolearn.plotting._relational import bare_plane
from protolearn.plotting.style import INK, MUTED, add_legend, axes_or_new, class_colors, tidy

__all__ = ["plot_image_grid", "plot_trajectory"]


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
