"""Plots of maps of dissimilarities: examples and curves on the nodes, an embedding of the prototypes, the spectrum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from protolearn.core.fitted import is_relational, prototype_distances
from protolearn.core.lattices import Lattice, from_distances
from protolearn.core.parameters import constrained, integer, option
from protolearn.core.types import Floats
from protolearn.dissimilarities import signature, spectrum
from protolearn.metrics import stress
from protolearn.plotting._features import line_widths
from protolearn.plotting._inputs import classes_of, fitted_map, lattice_of, value_of, winners, with_samples
from protolearn.plotting._labels import draw_labels
from protolearn.plotting._maps import class_hits, disc_entry, draw_classes, hits_of
from protolearn.plotting._relevances import entitle, whole_numbers
from protolearn.plotting.cells import focused, height_to_width, node_radii, points_per_unit
from protolearn.plotting.style import (
    INK,
    MUTED,
    OKABE_ITO,
    add_legend,
    axes_or_new,
    class_colors,
    class_handles,
    tidy,
    tint,
)

__all__ = [
    "plot_examples",
    "plot_profiles",
    "plot_prototype_view",
    "plot_spectrum",
]

Indices = NDArray[np.intp]


LONGEST = 24  # letters of an object's text


HALF_BOXES = {"rectangular": (0.86, 0.86), "hexagonal": (0.82, 0.66)}  # half-sides of a picture in a cell of radius 1


@constrained(n_examples=integer(1))
def plot_examples(
    som: Any,
    objects: Sequence[Any],
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    n_examples: int = 1,
    draw: Callable[[Axes, Any], object] | None = None,
    focus: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show examples on the nodes of a lattice: on each node, those of its samples that are nearest to its prototype.

    Objects are written as text, or drawn by a function of yours. As in `plot_class_map`, the color of a node is its
    majority class, the area of its disc is proportional to the number of samples, and slices show the shares of the
    classes. Text that does not fit is omitted; use a larger figure or another ``focus`` to show more.

    Parameters
    ----------
    som : fitted map
        Fitted map with a lattice, such as RelationalSOM, MedianSOM or SOM, a PrototypeClassifier of one, or a Pipeline
        that ends in one.
    objects : sequence of n objects
        Object to show for each sample: for the training samples or, if given, the samples of X.
    X : array-like of shape (n, d), optional
        Samples, in the form that the map's ``transform`` accepts; by default the training samples. Required for maps of
        vectors.
    y : array-like of shape (n,), optional
        Class labels of the samples; by default the labels that the prototypes have learned, if any.
    n_examples : int, default=1
        Maximum number of objects on a node, the nearest to the prototype first.
    draw : callable, optional
        Function ``draw(ax, object)`` that draws an object into the small Axes of its node, several objects of a node on
        top of each other. By default an object is written as ``str(object)``.
    focus : int, optional
        Index of the node of a hyperbolic lattice to move to the center of the disc, where there is most room.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    plot_profiles : All curves of each node, for objects that are curves.

    Examples
    --------
    >>> from protolearn import RelationalSOM
    >>> from protolearn.plotting import plot_examples
    >>> words = ["night", "nacht", "natt", "noche", "notte", "sun", "sonne", "sol", "sole", "soleil"]
    >>> som = RelationalSOM((2, 3), metric="edit", random_state=0).fit(words)
    >>> ax = plot_examples(som, words, n_examples=2)
    >>> {word for text in ax.texts for word in text.get_text().split()} <= set(words)
    True
    """
    lattice = focused(lattice_of(som), focus)
    shown = _nearest_members(som, X, len(objects), n_examples)
    given = ax
    ax = axes_or_new(ax, height_to_width(lattice), width=9.0)
    entries, colors, shares, hits = _coloring(som, X, y)
    draw_classes(ax, lattice, shares, hits, tint(colors, 0.15), tint(colors, 0.5))
    add_legend(ax, [*entries, disc_entry(hits.max())])
    if draw is not None:
        _draw_insets(ax, lattice, [[objects[index] for index in nearest] for nearest in shown], draw)
        return ax
    if given is None:
        figure: Any = ax.figure
        figure.draw_without_rendering()  # how large letters can be is known when the legend has its room
    draw_labels(ax, lattice, ["\n".join(_texts(objects[index] for index in nearest)) for nearest in shown])
    return ax


def plot_profiles(
    som: Any,
    curves: ArrayLike,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    focus: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show in each node of a lattice the curves of its samples, and their mean as a thick line.

    All nodes share one scale, from the minimum to the maximum of all curves.

    Parameters
    ----------
    som : fitted map
        Fitted map with a lattice, such as RelationalSOM, MedianSOM or SOM, a PrototypeClassifier of one, or a Pipeline
        that ends in one.
    curves : array-like of shape (n, t)
        Curve of each sample: of the training samples or, if given, of the samples of X.
    X : array-like of shape (n, d), optional
        Samples, in the form that the map's ``predict`` accepts; by default the training samples.
    y : array-like of shape (n,), optional
        Class labels of the samples, for the colors of the nodes; by default the labels that the prototypes have
        learned, if any.
    focus : int, optional
        Index of the node of a hyperbolic lattice to move to the center of the disc, where there is most room.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import RelationalSOM
    >>> from protolearn.plotting import plot_profiles
    >>> waves = np.sin(np.linspace(0, 6, 20) + np.linspace(0, 3, 30)[:, None])
    >>> som = RelationalSOM((3, 3), metric="pearson", random_state=0).fit(waves)
    >>> ax = plot_profiles(som, waves)
    >>> len(ax.collections[-2].get_segments())  # curves, and their means after them
    30
    """
    lattice = focused(lattice_of(som), focus)
    values = check_array(curves, dtype=np.float64, ensure_min_features=2, input_name="curves")
    found = _check_one_each(winners(som, X), len(values), "curves")
    ax = axes_or_new(ax, height_to_width(lattice), width=9.0)
    entries, colors, shares, hits = _coloring(som, X, y)
    draw_classes(ax, lattice, shares, np.zeros_like(hits), tint(colors, 0.25), colors)
    if entries:
        add_legend(ax, entries)
    boxes = _boxes(lattice)
    nodes = np.unique(found)
    means = np.array([values[found == node].mean(axis=0) for node in nodes])
    low, high = values.min(), values.max()
    unit = points_per_unit(ax, np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())]))
    widths = np.clip(0.02 * unit * boxes[:, 2], 0.2, 1.6)
    for drawn, place, color, factor in ((values, found, "#808080", 0.35), (means, nodes, INK, 1.0)):
        lines = _lines_in_boxes((drawn - low) / (high - low or 1.0), boxes[place])
        look: dict[str, Any] = {"colors": color, "zorder": 3 + factor, "rasterized": len(drawn) > 5000}
        ax.add_collection(LineCollection(list(lines), linewidths=factor * widths[place], **look), autolim=False)
    return ax


@constrained(kind=option("metric", "nonmetric", "classical"))
def plot_prototype_view(
    estimator: Any,
    kind: Literal["metric", "nonmetric", "classical"] = "metric",
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Show prototypes in the plane by multidimensional scaling of their distances.

    The area of a dot is the total weight of the samples of the prototype; a small dark dot has none. An edge connects
    two prototypes if they are the two nearest to some sample; its width increases with the number of such samples. The
    title reports Kruskal's stress-1 of the plot; see `protolearn.metrics.stress`.

    Parameters
    ----------
    estimator : fitted map
        Fitted map such as RelationalNeuralGas, MedianNeuralGas or NeuralGas, a PrototypeClassifier of one, or a
        Pipeline that ends in one.
    kind : {"metric", "nonmetric", "classical"}, default="metric"
        Kind of multidimensional scaling: ``"metric"`` preserves distances, ``"nonmetric"`` only their order. Both are
        initialized by ``"classical"`` scaling, which is faster but preserves distances less well.
    y : array-like of shape (n,), optional
        Class labels of the training samples; by default the labels that the prototypes have learned, if any.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Notes
    -----
    Prototypes of non-Euclidean dissimilarities may have negative squared distances. These are shown as zero, and the
    title reports their number.

    References
    ----------
    Kruskal, J. B. (1964). Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis.
    Psychometrika 29, 1-27.

    de Leeuw, J., Mair, P. (2009). Multidimensional scaling using majorization: SMACOF in R. Journal of Statistical
    Software 31.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import pairwise_distances
    >>> from protolearn import RelationalNeuralGas
    >>> from protolearn.plotting import plot_prototype_view
    >>> X, y = load_iris(return_X_y=True)
    >>> gas = RelationalNeuralGas(12, random_state=0).fit(pairwise_distances(X))
    >>> ax = plot_prototype_view(gas, y=y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:3]
    ['0', '1', '2']
    """
    masses = np.asarray(value_of(estimator, "multiplicities_", "the weight of prototypes"), dtype=np.float64)
    graph = sparse.triu(value_of(estimator, "graph_", "the graph of neighboring prototypes"), k=1).tocoo()
    distances = prototype_distances(fitted_map(estimator))
    entries, colors, shares, _ = _coloring(estimator, None, y)
    points = _scaled(distances, kind)
    ax = bare_plane(ax, points)
    ends = np.stack([points[graph.row], points[graph.col]], axis=1)
    widths = line_widths(graph.data, graph.data.max(initial=1.0))
    ax.add_collection(LineCollection(list(ends), colors=MUTED, linewidths=widths, zorder=1), autolim=False)
    areas = np.maximum(200.0 * masses / masses.max(), 8.0)
    own = np.where(shares.any(axis=1, keepdims=True), colors[shares.argmax(axis=1)], to_rgb(INK))
    ax.scatter(points[:, 0], points[:, 1], s=areas, c=own, edgecolors="white", linewidths=0.7, zorder=2)
    add_legend(ax, [*entries, disc_entry(masses.max())])
    entitle(ax, _quality(estimator, distances, points, kind))
    return ax


def plot_spectrum(D: ArrayLike, squared: bool = False, *, ax: Axes | None = None) -> Axes:
    """Show the eigenvalues of the Gram matrix of dissimilarities in decreasing order, a test of Euclidean structure.

    Eigenvalues are divided by the mean dissimilarity. Negative eigenvalues, which Euclidean distances do not have, are
    shown in a different color. The title reports the signature, that is, the numbers of positive, negative and zero
    eigenvalues, and the share of the negative ones in the sum of absolute values.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries are squared distances already; they may be negative then.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    protolearn.dissimilarities.spectrum : The eigenvalues.

    References
    ----------
    Hasenfuss, A. (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal, section 4.6.

    Examples
    --------
    >>> from protolearn.plotting import plot_spectrum
    >>> ax = plot_spectrum([[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> ax.get_title()
    'signature (1, 1, 1), negative share 20.0 %'
    """
    values = spectrum(D, squared, normalize=True)
    signs = signature(D, squared)
    ax = axes_or_new(ax)
    tidy(ax)
    parts = {"positive": slice(signs.positive), "negative": slice(len(values) - signs.negative, len(values))}
    for (name, part), color in zip(parts.items(), (OKABE_ITO[0], OKABE_ITO[3])):
        places = np.arange(1, len(values) + 1)[part]
        ax.vlines(places, 0.0, values[part], color=color, linewidth=1.0)
        ax.plot(places, values[part], "o", color=color, markersize=3, label=name)
    ax.axhline(0.0, color=MUTED, linewidth=0.6)
    ax.xaxis.set_major_locator(whole_numbers())
    ax.set(xlabel="eigenvalues of the Gram matrix, largest first", ylabel="eigenvalue / mean dissimilarity")
    sizes = np.abs(values)
    lost = sizes[parts["negative"]].sum() / (sizes.sum() or 1.0)
    entitle(ax, f"signature ({signs.positive}, {signs.negative}, {signs.zero}), negative share {100 * lost:.1f} %")
    return ax


def _nearest_members(som: Any, X: Any, n_objects: int, n_examples: int) -> list[list[int]]:
    """Return for each node the places of those of its samples that are nearest to its prototype, nearest first."""
    model = fitted_map(som)
    if X is None:
        found = _check_one_each(winners(som, None), n_objects, "objects")
        preferred = getattr(model, "prototype_examples_", None)
        if preferred is None or preferred.max() >= n_objects:  # a map of vectors, or one with more patches
            raise ValueError(
                f"This {type(model).__name__} has not stored which of these samples are nearest to its prototypes; "
                "give the samples X of the objects."
            )
    else:
        inner, samples = with_samples(som, X)
        distances = inner.transform(samples)
        preferred = distances.argsort(axis=0, kind="stable").T
        found = _check_one_each(distances.argmin(axis=1), n_objects, "objects")
    members = [[*first[found[first] == node], *np.flatnonzero(found == node)] for node, first in enumerate(preferred)]
    # Of a fit, only a few of the nearest samples are known; the others of a node follow in any order.
    return [list(dict.fromkeys(places))[:n_examples] for places in members]


def _check_one_each(found: Indices, n_given: int, name: str) -> Indices:
    if len(found) != n_given:
        raise ValueError(
            f"There are {n_given} {name} for {len(found)} samples; give one for each sample of X, or of the fit if "
            "X is not given."
        )
    return found


def _texts(objects: Iterable[Any]) -> list[str]:
    """Return objects as short lines, those that read the same once."""
    lines = dict.fromkeys(" ".join(str(each).split()) for each in objects)
    return [line if len(line) <= LONGEST else line[: LONGEST - 1] + "…" for line in lines]


def _coloring(estimator: Any, X: Any, y: ArrayLike | None) -> tuple[list[Artist], Floats, Floats, Floats]:
    """Return entries of the legend, colors (C, 3), shares (k, C) and hits (k,); a single class if none are known."""
    if y is None and classes_of(estimator, None) is None:
        hits = hits_of(estimator, X)
        return [], class_colors(1), (hits > 0).astype(np.float64)[:, None], hits
    classes, shares, hits = class_hits(estimator, X, y)
    colors = class_colors(len(classes))
    return class_handles(classes, colors), colors, shares, hits


def _boxes(lattice: Lattice) -> Floats:
    """Return a rectangle in each cell: left, low, width and height (k, 4)."""
    half = node_radii(lattice)[:, None] * HALF_BOXES.get(lattice.kind, (0.68, 0.68))
    return np.hstack([lattice.coordinates - half, 2 * half])


def _draw_insets(ax: Axes, lattice: Lattice, objects: list[list[Any]], draw: Callable[[Axes, Any], object]) -> None:
    for some, box in zip(objects, _boxes(lattice)):
        if some:
            inset = ax.inset_axes(tuple(box), transform=ax.transData, zorder=4)
            inset.set_axis_off()
            for each in some:
                draw(inset, each)


def _lines_in_boxes(curves: Floats, boxes: Floats) -> Floats:
    """Return curves (n, t) with values between 0 and 1 as lines (n, t, 2), each in its box (n, 4)."""
    way = np.broadcast_to(np.linspace(0.0, 1.0, curves.shape[1]), curves.shape)
    return boxes[:, None, :2] + np.stack([way, curves], axis=-1) * boxes[:, None, 2:]


def _scaled(distances: Floats, kind: str) -> Floats:
    """Return points (k, 2) whose distances, or their order, are about those given; without chance in the start."""
    start = from_distances(distances).coordinates  # classical scaling
    if kind == "classical" or not distances.any():
        return start
    from sklearn.manifold import smacof  # here, for it is slow to import

    points, _ = smacof(distances, init=start, n_init=1, eps=1e-6)
    return points if kind == "metric" else smacof(distances, metric=False, init=points, n_init=1, eps=1e-6)[0]


def bare_plane(ax: Axes | None, points: Floats) -> Axes:
    """Return Axes without ticks that show all points (n, 2) to scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = (high - low).max() or 1.0
    half = np.maximum(0.5 * (high - low), 0.15 * extent) + 0.07 * extent
    low, high = 0.5 * (low + high) - half, 0.5 * (low + high) + half
    ax = axes_or_new(ax, half[1] / half[0])
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[], aspect="equal")
    tidy(ax, hidden=())
    return ax


def _quality(estimator: Any, distances: Floats, points: Floats, kind: str) -> str:
    """Return the title of a view: its stress, and what it cannot show."""
    title = f"{kind} scaling"
    if points.any():
        title += f", stress-1 {stress(distances, points, nonmetric=kind == 'nonmetric'):.3f}"
    if is_relational(estimator):
        squares = np.asarray(fitted_map(estimator).prototype_dissimilarities_)
        negative = np.count_nonzero(np.triu(squares, k=1) < -1e-12 * np.abs(squares).max())
        title += f"; {negative} negative squares shown as zero" if negative else ""
    return title
