"""Plots of embeddings: positions with class names or images, and neighborhood preservation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from protolearn.core.parameters import constrained, integer, none, option, positive
from protolearn.core.types import Array, Bools, Floats
from protolearn.metrics import ViewQuality
from protolearn.plotting._inputs import check_labels, fitted_model
from protolearn.plotting._labels import LARGEST, SMALLEST, LabelBox, ScaledText, label_extent
from protolearn.plotting._objects import bare_plane
from protolearn.plotting._relevances import MOST_NAMES, entitle, label_size, whole_numbers
from protolearn.plotting.cells import points_per_unit
from protolearn.plotting.style import (
    EMPTY,
    INK,
    MUTED,
    add_color_bar,
    add_legend,
    axes_or_new,
    class_colors,
    class_handles,
    tidy,
)

__all__ = ["plot_coranking", "plot_embedding", "plot_images", "plot_quality"]

Indices = NDArray[np.intp]

NAMES_SHARE = 0.12  # of the picture that names may cover before their letters get smaller
N_PLACES = 3000  # places that are tried for a name, from the center of its class outwards
THUMBNAIL = 0.045  # side of a small image, as a share of the larger side of the picture
MOST_CELLS = 600  # rows and columns of an image in which single ranks can be told apart
MEASURES = {
    "q_nx": "$Q_{NX}$: common neighbors",
    "r_nx": "$R_{NX}$: common neighbors\nbeyond chance",
    "b_nx": "$B_{NX}$: intrusive (> 0)\nor extrusive (< 0)",
    "lcmc": "LCMC: common neighbors\nmore than by chance",
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
}


@constrained(labels=option("centers", "legend") | none)
def plot_embedding(
    Y: Any,
    y: ArrayLike | None = None,
    *,
    labels: Literal["centers", "legend"] | None = "centers",
    sizes: float | ArrayLike | None = None,
    cmap: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show an embedding (view): a point for each sample, in the color of its class or value.

    Class names are written at the centers of the classes, above a class that they would hide or, where there is no
    room, nearby with a line to the center; names never overlap. With many samples, points are small and transparent.
    They are drawn in random order, so that no class hides another. Samples without a position (NaN) are omitted, and
    the title reports their number.

    Parameters
    ----------
    Y : array-like of shape (n, 1), (n, 2) or (n, 3), or fitted estimator
        Positions of the samples, or an estimator with the attribute ``embedding_``, such as TSNE, or a Pipeline that
        ends in one.
    y : array-like of shape (n,), optional
        Class labels of the samples, or real-valued numbers, which are explained by a color bar.
    labels : {"centers", "legend"} or None, default="centers"
        Place of the class names. The center of a class is the median of its positions.
    sizes : float or array-like of shape (n,), optional
        Areas of the points, in square points (1/72 inch); by default they decrease with the number of points.
    cmap : str, optional
        Name of a Matplotlib colormap for the classes or the numbers; ``"viridis"`` by default for numbers.
    ax : Axes, optional
        Axes to draw into, three-dimensional for three-dimensional positions; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot. One-dimensional positions are drawn in a row for each class, with vertical jitter.

    See Also
    --------
    plot_images : Small images at their positions.
    plot_view : Samples in the learned metric of a classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from protolearn.plotting import plot_embedding
    >>> data = load_iris()
    >>> ax = plot_embedding(PCA(2).fit_transform(data.data), data.target_names[data.target])
    >>> [text.get_text() for text in ax.texts]
    ['setosa', 'versicolor', 'virginica']
    """
    points, known = placed_samples(Y)
    colors = Coloring.of(y, len(known), cmap).of_some(known)
    areas = check_sizes(sizes, len(known))[known]
    order = np.random.RandomState(0).permutation(len(points))
    if points.shape[1] == 3:
        ax = axes_in_space(ax)
        frame_in_space(ax, points)
        if labels == "centers":
            _draw_names_in_space(ax, colors.names, _centers(points, colors)[0])
    elif points.shape[1] == 2:
        ax = _room_for(ax, points)
        if labels == "centers":
            _draw_names(ax, colors.names, *_centers(points, colors))
    else:
        ax, points = _rows(ax, points[:, 0], colors, named=labels == "centers")
    scatter_points(ax, points[order], colors.rgb[order], areas[order])
    if labels == "legend" or colors.scale is not None:
        colors.explain(ax)
    tell_unplaced(ax, known)
    return ax


@constrained(n_images=integer(1), zoom=positive)
def plot_images(
    Y: Any,
    images: ArrayLike,
    y: ArrayLike | None = None,
    *,
    n_images: int = 200,
    zoom: float = 1.0,
    cmap: str = "gray",
    ax: Axes | None = None,
) -> Axes:
    """Show an embedding of images: small copies of some of them at their positions, without overlap.

    Images are selected one by one, each as far as possible from those selected before, until there is no room left. All
    samples are drawn as points in the background.

    Parameters
    ----------
    Y : array-like of shape (n, 2), or fitted estimator
        Positions of the samples, or an estimator with the attribute ``embedding_``, such as TSNE.
    images : array-like of shape (n, h, w), (n, h, w, 3) or (n, h, w, 4)
        Image of each sample, in gray or in color, in any form that Matplotlib can show.
    y : array-like of shape (n,), optional
        Class labels of the samples, or real-valued numbers, for the colors of frames and points.
    n_images : int, default=200
        Maximum number of images to show.
    zoom : float, default=1.0
        Size of the images, relative to the default. More images fit if they are smaller.
    cmap : str, default="gray"
        Name of a Matplotlib colormap for gray images, which share one color scale.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from protolearn.plotting import plot_images
    >>> digits = load_digits()
    >>> ax = plot_images(PCA(2).fit_transform(digits.data), digits.images, digits.target, n_images=50)
    >>> len(ax.images)
    50
    """
    points, known = placed_samples(Y, 2)
    pixels = check_images(images, len(known))[known]
    colors = Coloring.of(y, len(known)).of_some(known)
    height, width = pixels.shape[1:3]
    side = zoom * THUMBNAIL * (np.ptp(points, axis=0).max() or 1.0)
    half = 0.5 * side * np.sqrt([width / height, height / width])
    ax = bare_plane(ax, np.concatenate([points - half, points + half]))
    scatter_points(ax, points, colors.rgb, check_sizes(None, len(points)))
    chosen = _spread_out(points / (2.0 * half), n_images, 1.1)
    draw_thumbnails(ax, pixels, chosen, points[chosen], half, cmap, MUTED if y is None else colors.rgb[chosen])
    colors.explain(ax)
    tell_unplaced(ax, known)
    return ax


def plot_coranking(
    Q: ArrayLike,
    *,
    max_rank: int | None = None,
    n_neighbors: int | None = None,
    cmap: str = "viridis",
    ax: Axes | None = None,
) -> Axes:
    """Show the co-ranking matrix: how ranks of neighbors change from the data to a view.

    In a perfect view all pairs lie on the diagonal. Intrusions, neighbors in the view that are farther apart in the
    data, lie below the diagonal, and extrusions above it. Pairs of ranks that do not occur are gray.

    Parameters
    ----------
    Q : array-like of shape (n - 1, n - 1)
        Co-ranking matrix: number of pairs with each rank in the data (row) and in the view (column).
    max_rank : int, optional
        Largest rank to show; all ranks by default.
    n_neighbors : int, optional
        Size K of a neighborhood, whose limits are drawn as lines.
    cmap : str, default="viridis"
        Name of a Matplotlib colormap.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot. Of a large matrix, means over blocks of ranks are shown.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.plotting import plot_coranking
    >>> ax = plot_coranking([[3, 1, 0], [1, 2, 1], [0, 1, 3]], n_neighbors=1)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('rank in the view', 'rank in the data')
    """
    counts = check_array(Q, dtype="numeric", ensure_min_samples=1, input_name="Q")
    if counts.shape[0] != counts.shape[1] or counts.min() < 0 or not counts.any():
        raise ValueError(
            f"Q of shape {counts.shape} is not a co-ranking matrix, which is square with numbers of pairs as entries; "
            "compute one by protolearn.metrics.coranking_matrix."
        )
    n_ranks = len(counts)
    if max_rank is not None:
        integer(1, n_ranks).check("max_rank", max_rank)
        n_ranks = int(max_rank)
    if n_neighbors is not None:
        integer(1, n_ranks).check("n_neighbors", n_neighbors)
    means = _block_means(counts[:n_ranks, :n_ranks])
    ax = axes_or_new(ax, 1.0)
    tidy(ax, hidden=())
    shown = np.ma.masked_equal(means, 0.0)
    colors = mpl.colormaps[cmap].with_extremes(bad=EMPTY)
    image = ax.imshow(
        shown,
        cmap=colors,
        norm=LogNorm(shown.min(), max(shown.max(), 1.01 * shown.min())),
        interpolation="nearest",
        extent=(0.5, n_ranks + 0.5, n_ranks + 0.5, 0.5),
        aspect="equal",
    )
    add_color_bar(ax, image, "pairs" if len(means) == n_ranks else "pairs (mean of a block of ranks)")
    bar: Any = image.colorbar
    bar.set_ticks(LogLocator(subs=(1.0, 2.0, 5.0)))
    bar.ax.yaxis.set_major_formatter("{x:g}")
    bar.minorticks_off()
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(whole_numbers())
    if n_neighbors is not None:
        seen_anywhere = [withStroke(linewidth=2.2, foreground=INK)]
        for line in (ax.axhline, ax.axvline):
            line(n_neighbors + 0.5, color="white", linewidth=1.0, path_effects=seen_anywhere)
    ax.set(xlabel="rank in the view", ylabel="rank in the data")
    return ax


@constrained(measure=option(*MEASURES))
def plot_quality(
    qualities: Any,
    measure: Literal["q_nx", "r_nx", "b_nx", "lcmc", "trustworthiness", "continuity"] = "r_nx",
    *,
    ax: Axes | None = None,
) -> Axes:
    """Show how well views preserve neighborhoods: a curve over the number K of neighbors for each view.

    Parameters
    ----------
    qualities : result of `protolearn.metrics.view_quality`, list of these, or dict of either
        Quality of a view, or of several runs of a method, shown by their mean with the standard deviation as a shaded
        band. The keys of a dict are the names of views in the legend.
    measure : str, default="r_nx"
        Quality measure: ``"q_nx"``, ``"r_nx"``, ``"b_nx"``, ``"lcmc"``, ``"trustworthiness"`` or ``"continuity"``.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot. The legend reports the area under the curve of ``r_nx`` (AUC) of each view. The gray line is
        the expectation for a random view.

    References
    ----------
    Lee, J. A., Verleysen, M. (2009). Quality assessment of dimensionality reduction: rank-based criteria.
    Neurocomputing 72, 1431-1443.

    Lee, J. A., Renard, E., Bernard, G., Dupont, P., Verleysen, M. (2013). Type 1 and 2 mixtures of Kullback-Leibler
    divergences as cost functions in dimensionality reduction. Neurocomputing 112, 92-108.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from protolearn.metrics import view_quality
    >>> from protolearn.plotting import plot_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_quality({"PCA": view_quality(X, PCA(2).fit_transform(X)), "petals": view_quality(X, X[:, 2:])})
    >>> [text.get_text().split()[0] for text in ax.get_legend().get_texts()]
    ['PCA', 'petals']
    """
    runs = _runs_by_name(qualities)
    ax = axes_or_new(ax)
    tidy(ax)
    curves_drawn: list[Any] = []
    for (name, several), color in zip(runs.items(), class_colors(len(runs))):
        sizes, curves = several[0].k, np.array([getattr(one, measure) for one in several])
        mean, deviation = curves.mean(axis=0), curves.std(axis=0)
        area = f"AUC {np.mean([one.auc for one in several]):.3f}"
        curves_drawn += ax.plot(sizes, mean, color=color, linewidth=1.4, label=f"{name}\n{area}" if name else area)
        if len(several) > 1:
            ax.fill_between(sizes, mean - deviation, mean + deviation, color=color, alpha=0.2, linewidth=0)
    sizes = max((several[0].k for several in runs.values()), key=len)
    if measure in ("q_nx", "b_nx", "lcmc", "r_nx"):
        by_chance = sizes / (len(sizes) + 1) if measure == "q_nx" else np.zeros(len(sizes))
        ax.plot(sizes, by_chance, color=MUTED, linewidth=0.8, zorder=1)
    ax.set_xscale("log")
    ax.set(xlim=(1, max(len(sizes), 2)), xlabel="number K of neighbors", ylabel=MEASURES[measure])
    add_legend(ax, curves_drawn, title="area under $R_{NX}$")
    return ax


def draw_thumbnails(ax: Axes, pixels: Array, chosen: Any, places: Floats, half: Floats, cmap: str, edges: Any) -> None:
    """Draw some of the images with their centers at places (c, 2), of these half-sides, in frames of these colors."""
    limits: dict[str, Any] = {"vmin": pixels.min(), "vmax": pixels.max()} if pixels.ndim == 3 else {}
    for index, (left, low), (right, high) in zip(chosen, places - half, places + half):
        place: dict[str, Any] = {"extent": (left, right, low, high), "aspect": "equal", "zorder": 3}
        ax.imshow(pixels[index], cmap=cmap, interpolation="nearest", **place, **limits)
    frames = [Rectangle(tuple(corner), *(2.0 * half)) for corner in places - half]
    ax.add_collection(PatchCollection(frames, facecolor="none", edgecolor=edges, linewidth=1.2, zorder=3.5))


def axes_in_space(ax: Axes | None) -> Any:
    """Return the Axes given, which must have three dimensions, or those of a new figure."""
    if ax is None:
        return plt.figure(figsize=(6.4, 5.6), layout="constrained").add_subplot(projection="3d")
    if ax.name != "3d":
        raise ValueError('This plot is three-dimensional; create its Axes with add_subplot(projection="3d").')
    return ax


@dataclass(frozen=True)
class Coloring:
    """Colors of samples with their meaning: names of classes, or a scale of values."""

    rgb: Floats
    codes: Indices
    classes: Array
    scale: ScalarMappable | None = None
    label: str = ""
    cmap: str | None = None

    @classmethod
    def of(cls, y: ArrayLike | None, n_samples: int, cmap: str | None = None) -> Coloring:
        values = check_labels(y, n_samples)
        codes, classes = np.zeros(n_samples, dtype=np.intp), np.empty(0)
        if values is None:
            return cls(class_colors(1)[codes], codes, classes)
        if values.dtype.kind == "f" and not (values == np.round(values)).all():
            if not np.isfinite(values).all():
                raise ValueError("y contains NaN or infinity; drop these samples, or give classes.")
            scale = ScalarMappable(Normalize(values.min(), values.max()), cmap or "viridis")
            return cls(scale.to_rgba(values)[:, :3], codes, classes, scale, str(getattr(y, "name", None) or "y"))
        classes, codes = np.unique(values, return_inverse=True)
        return cls(class_colors(len(classes), cmap)[codes], codes, classes, cmap=cmap)

    def of_some(self, known: Bools) -> Coloring:
        """Return the colors of some samples; classes keep theirs."""
        return replace(self, rgb=self.rgb[known], codes=self.codes[known])

    @property
    def names(self) -> list[str]:
        return list(map(str, self.classes))

    def explain(self, ax: Axes) -> None:
        """Draw a color bar or a legend, if colors have a meaning."""
        if self.scale is not None:
            add_color_bar(ax, self.scale, self.label)
        elif len(self.classes):
            add_legend(ax, class_handles(self.classes, class_colors(len(self.classes), self.cmap)))


def view_positions(Y: Any, unplaced: bool = False) -> Floats:
    """Return positions (n, 1 to 3), those of an estimator or those given; of NaN only if some may be ``unplaced``."""
    if hasattr(Y, "fit"):
        model = fitted_model(Y)
        if not hasattr(model, "embedding_"):
            raise ValueError(
                f"Cannot plot a view: {type(model).__name__} has no embedding_. Give the positions of the samples, "
                "such as the result of its transform."
            )
        Y = model.embedding_
    finite: Any = "allow-nan" if unplaced else True
    points = check_array(Y, dtype=np.float64, input_name="Y", ensure_all_finite=finite)
    if points.shape[1] > 3:
        raise ValueError(f"Y has {points.shape[1]} columns; a view has at most three.")
    return points


def placed_samples(Y: Any, n_columns: int | None = None) -> tuple[Floats, Bools]:
    """Return the positions of all samples that have one, and which these are (n,)."""
    points = view_positions(Y, unplaced=True)
    if n_columns is not None and points.shape[1] != n_columns:
        raise ValueError(f"Images are shown in two dimensions, but the positions have {points.shape[1]}.")
    known = np.asarray(np.isfinite(points).all(axis=1))
    if not known.any():
        raise ValueError("No sample has a position: all of them are NaN.")
    return points[known], known


def tell_unplaced(ax: Axes, known: Bools) -> None:
    """Report in the title how many samples are not shown."""
    n_unplaced = int((~known).sum())
    entitle(ax, f"without {n_unplaced:,} of {len(known):,} samples, which have no position" if n_unplaced else "")


def check_sizes(sizes: Any, n_samples: int) -> Floats:
    """Return the area of each point (n,)."""
    if sizes is None:
        return np.full(n_samples, np.clip(15000.0 / n_samples, 0.8, 20.0))
    areas = np.asarray(sizes, dtype=np.float64)
    if areas.shape not in ((), (n_samples,)) or not (np.isfinite(areas) & (areas >= 0)).all():
        raise ValueError(f"sizes={sizes!r} must be an area of at least 0, or one for each of the {n_samples} samples.")
    return np.broadcast_to(areas, n_samples)


def scatter_points(ax: Any, points: Floats, colors: Floats, areas: Floats) -> None:
    n_samples = len(points)
    look: dict[str, Any] = {"depthshade": False} if points.shape[1] == 3 else {}
    opacity = float(np.clip(1.7 - 0.27 * np.log10(n_samples), 0.4, 0.85))
    ax.scatter(*points.T, s=areas, c=colors, alpha=opacity, linewidths=0, zorder=1, rasterized=n_samples > 5000, **look)


def _centers(points: Floats, colors: Coloring) -> tuple[Floats, Floats]:
    """Return for each class the median (C, q) of its points, and how far most of them are from it (C, q).

    Both are NaN for a class without points.
    """
    centers = np.full((len(colors.classes), points.shape[1]), np.nan)
    reaches = centers.copy()
    for code in np.unique(colors.codes[: len(points) if len(centers) else 0]):
        some = points[colors.codes == code]
        centers[code] = np.median(some, axis=0)
        reaches[code] = np.quantile(np.abs(some - centers[code]), 0.8, axis=0)
    return centers, reaches


def _room_for(ax: Axes | None, points: Floats) -> Axes:
    """Return Axes for points (n, 2), those of a new figure in their final size."""
    given = ax
    ax = bare_plane(ax, points)
    if given is None:
        figure: Any = ax.figure
        figure.draw_without_rendering()
    return ax


def _rows(ax: Axes | None, positions: Floats, colors: Coloring, named: bool) -> tuple[Axes, Floats]:
    """Return Axes for positions (n,) on a line, and points (n, 2): a row for each class, the first one at the top."""
    n_rows = max(len(colors.classes), 1)
    jitter = np.random.RandomState(0).uniform(-0.35, 0.35, len(positions))
    ax = axes_or_new(ax, min(0.15 + 0.08 * n_rows, 1.0))
    tidy(ax, hidden=("top", "right", "left"))
    ax.set(ylim=(n_rows - 0.5, -0.5), yticks=[], xlabel="position")
    if named and 0 < len(colors.classes) <= MOST_NAMES:
        ax.set_yticks(range(n_rows), colors.names)
        ax.tick_params(axis="y", labelsize=label_size(ax, "y", n_rows), length=0)
    return ax, np.column_stack([positions, colors.codes + jitter])


def _draw_names(ax: Axes, names: Sequence[str], centers: Floats, reaches: Floats) -> None:
    """Write names at their centers (C, 2), or as near as there is room, with a line to the center then.

    The name of a class that it would hide, most of whose points are not farther away than reaches (C, 2), stands above.
    """
    shown = ~np.isnan(centers[:, 0])
    names, centers, reaches = [name for name, known in zip(names, shown) if known], centers[shown], reaches[shown]
    if not names:
        return
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    unit = points_per_unit(ax, high - low)
    extents = np.array([label_extent(name) for name in names])
    fitting = np.sqrt(NAMES_SHARE * (high - low).prod() / extents.prod(axis=1).sum())
    size = float(np.clip(fitting, SMALLEST / unit, LARGEST / unit))
    halves = 0.5 * size * extents
    wanted = centers.copy()
    wanted[:, 1] += np.where((reaches < halves).all(axis=1), reaches[:, 1] + halves[:, 1], 0.0)
    places = places_apart(wanted, halves, low, high)
    for name, extent, place in zip(names, extents, places):
        if not np.isnan(place[0]):
            ax.add_artist(ScaledText(LabelBox(place, extent, size), name))
    moved = (np.abs(places - wanted) - halves).max(axis=1) > 0
    borders = np.clip(centers, places - halves, places + halves)
    lines = list(np.stack([centers, borders], axis=1)[moved])
    ax.add_collection(LineCollection(lines, colors=INK, linewidths=0.5, zorder=3), autolim=False)


def frame_in_space(ax: Any, points: Floats) -> None:
    extent = np.ptp(points, axis=0)
    ax.set_box_aspect(np.maximum(extent, 0.1 * extent.max()) if extent.any() else None)
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])


def _draw_names_in_space(ax: Any, names: Sequence[str], centers: Floats) -> None:
    halo = [withStroke(linewidth=2, foreground="white", alpha=0.7)]
    for name, center in zip(names, centers):
        if np.isnan(center[0]):
            continue
        ax.text(*center, name, ha="center", va="center", fontsize="small", color=INK, zorder=4, path_effects=halo)


def places_apart(centers: Floats, halves: Floats, low: Floats, high: Floats, shown: Floats | None = None) -> Floats:
    """Return the place (C, 2) of boxes of half-sides (C, 2) near their centers, apart and within a frame.

    Boxes are placed one after the other on a spiral around their centers, and not over points (m, 2) that are to be
    shown; a box without any room is at NaN.
    """
    turns = np.arange(N_PLACES)
    step = 0.5 * halves[:, 1].min()
    spiral = step * np.sqrt(turns)[:, None] * np.column_stack([np.cos(2.4 * turns), np.sin(2.4 * turns)])
    places = np.full_like(centers, np.nan)
    for index, (center, half) in enumerate(zip(centers, halves)):
        for n_tried in (1, 30, 300, N_PLACES):  # most names have room at the center, or not far from it
            tried = np.clip(center + spiral[:n_tried], low + half, high - half)
            gaps = np.abs(tried[:, None] - places[:index])  # not a number, so never too small, where there is no box
            taken = (gaps < half + halves[:index]).all(axis=2).any(axis=1)
            if shown is not None:
                taken |= (np.abs(tried[:, None] - shown) < half).all(axis=2).any(axis=1)
            free = tried[~taken]
            if len(free):
                places[index] = free[np.square(free - center).sum(axis=1).argmin()]
                break
    return places


def check_images(images: ArrayLike, n_samples: int) -> Array:
    pixels = np.asarray(images)
    known = pixels.ndim == 3 or (pixels.ndim == 4 and pixels.shape[3] in (3, 4))
    if not known or len(pixels) != n_samples:
        raise ValueError(
            f"images.shape == {pixels.shape}, expected ({n_samples}, height, width), with 3 or 4 color channels as the "
            "last axis if there are any: one image for each position. Use reshape if images are rows of pixels."
        )
    return pixels


def _spread_out(points: Floats, n_most: int, gap: float) -> list[int]:
    """Return up to ``n_most`` of the points (n, 2), each the farthest from those before, but no nearer than the gap.

    Farther means that it is so across or up: boxes of the side ``gap`` do not overlap.
    """
    chosen: list[int] = []
    distances = np.abs(points - points.mean(axis=0)).max(axis=1)
    index = int(distances.argmin())  # begin in the middle
    distances[:] = np.inf
    while len(chosen) < n_most and distances[index] >= gap:
        chosen.append(index)
        distances = np.minimum(distances, np.abs(points - points[index]).max(axis=1))
        index = int(distances.argmax())
    return chosen


def _block_means(counts: Array) -> Floats:
    """Return means over square blocks, as many as can be seen, or the counts themselves if they are few."""
    size = -(-len(counts) // MOST_CELLS)
    starts = np.arange(0, len(counts), size)
    lengths = np.diff(np.append(starts, len(counts)))
    sums = np.add.reduceat(np.add.reduceat(counts, starts, axis=0, dtype=np.float64), starts, axis=1)
    return sums / np.multiply.outer(lengths, lengths)


def _runs_by_name(qualities: Any) -> dict[str, list[Any]]:
    """Return lists of runs by the names of views, an empty name if there is none."""
    named = qualities if isinstance(qualities, Mapping) else {"": qualities}
    runs = {str(name): list(given) if isinstance(given, list | tuple) else [given] for name, given in named.items()}
    if not runs or not all(runs.values()):
        raise ValueError("There is no quality to show; give at least one for each view.")
    for name, several in runs.items():
        for one in several:
            if not isinstance(one, ViewQuality):
                raise ValueError(
                    f"plot_quality expects results of view_quality, but got a {type(one).__name__}. Give "
                    "view_quality(X, Y) for each view Y of the data X."
                )
        if len({len(one.k) for one in several}) > 1:
            raise ValueError(f"The runs of {name!r} have different numbers of samples; give each a name of its own.")
    return runs
