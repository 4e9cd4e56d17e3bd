"""Plots of the lattice: U-matrix, hits, component planes and classes."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from protolearn.core.fitted import edge_lengths
from protolearn.core.lattices import Lattice
from protolearn.core.types import Array, Floats
from protolearn.lvq import PrototypeTable
from protolearn.plotting._inputs import (
    as_images,
    class_shares,
    fitted_map,
    in_units,
    lattice_of,
    numbers_of,
    select_features,
    value_of,
    winners,
)
from protolearn.plotting.cells import draw_cells, draw_images, draw_pies, focused, height_to_width, node_radii
from protolearn.plotting.style import (
    EMPTY,
    MUTED,
    add_color_bar,
    add_legend,
    axes_or_new,
    class_colors,
    class_handles,
    tint,
)

__all__ = [
    "class_hits",
    "disc_entry",
    "draw_classes",
    "hits_of",
    "plot_class_map",
    "plot_component_planes",
    "plot_hits",
    "plot_u_matrix",
]


def plot_u_matrix(som: Any, ax: Axes | None = None, *, focus: int | None = None, cmap: str = "viridis") -> Axes:
    """Show the U-matrix: distances between the prototypes of adjacent nodes, which are large at borders of clusters.

    The color of a node is the mean distance of its prototype to the prototypes of adjacent nodes.

    Parameters
    ----------
    som : fitted map
        Fitted map with a lattice, such as SOM or RelationalSOM, a PrototypeClassifier of one, or a Pipeline that ends
        in one.
    ax : Axes, optional
        Axes to draw into; a new figure by default.
    focus : int, optional
        Index of the node of a hyperbolic lattice to move to the center of the disc, where there is most room.
    cmap : str, default="viridis"
        Name of a Matplotlib colormap.

    Returns
    -------
    Axes
        Axes with the plot.

    References
    ----------
    Ultsch, A., Siemon, H. P. (1990). Kohonen's self organizing feature maps for exploratory data analysis. INNC,
    305-308.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SOM
    >>> from protolearn.plotting import plot_u_matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_u_matrix(SOM(lattice=(6, 9)).fit(X))
    >>> len(ax.collections[0].get_array())
    54
    """
    lattice = focused(lattice_of(som), focus)
    heights = _neighbor_distances(edge_lengths(fitted_map(som), lattice.edges), lattice)
    ax = axes_or_new(ax, height_to_width(lattice))
    cells = draw_cells(ax, lattice, values=heights, cmap=cmap)
    add_color_bar(ax, cells, "mean distance to neighbors")
    return ax


def plot_hits(
    som: Any, X: Any = None, *, focus: int | None = None, ax: Axes | None = None, cmap: str = "viridis_r"
) -> Axes:
    """Show the number of samples won by each node of the lattice; nodes without samples are gray.

    Parameters
    ----------
    som : fitted map
        Fitted map with a lattice, such as SOM or RelationalSOM, a PrototypeClassifier of one, or a Pipeline that ends
        in one.
    X : array-like of shape (n, d), optional
        Samples to count, in the form that the map's ``predict`` accepts; by default the training samples, with their
        weights.
    focus : int, optional
        Index of the node of a hyperbolic lattice to move to the center of the disc, where there is most room.
    ax : Axes, optional
        Axes to draw into; a new figure by default.
    cmap : str, default="viridis_r"
        Name of a Matplotlib colormap.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SOM
    >>> from protolearn.plotting import plot_hits
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_hits(SOM(lattice=(6, 9)).fit(X))
    >>> float(ax.collections[0].get_array().sum())
    150.0
    """
    lattice = focused(lattice_of(som), focus)
    hits = hits_of(som, X)
    ax = axes_or_new(ax, height_to_width(lattice))
    cells = draw_cells(ax, lattice, values=np.ma.masked_equal(hits, 0.0), cmap=cmap)
    cells.set_clim(0.0, hits.max())
    add_color_bar(ax, cells, "samples per node", integer=bool(hits.max() >= 2))
    return ax


def plot_component_planes(
    som: Any,
    features: Sequence[int | str] | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Any = None,
    cmap: str = "viridis",
) -> Array:
    """Show a component plane for each feature of the prototypes; similar planes indicate correlated features.

    Parameters
    ----------
    som : fitted map
        Fitted map with a lattice, such as SOM, a PrototypeClassifier of one, or a Pipeline that ends in one of them.
        Features have the names and units of the pipeline's input. For a categorical feature, the most likely category
        of each node is shown.
    features : sequence of int or str, optional
        Indices or names of features; all by default.
    feature_names : sequence of str, optional
        Names of the features; by default those that the map was fitted with.
    ax : array of Axes, optional
        Axes to draw into, one for each feature; a new figure by default.
    cmap : str, default="viridis"
        Name of a Matplotlib colormap for numbers. Each plane has its own color scale.

    Returns
    -------
    ndarray of Axes, of shape (n_features,)
        Axes with the plots, titled by the names of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SOM
    >>> from protolearn.plotting import plot_component_planes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> axes = plot_component_planes(SOM(lattice=(6, 9)).fit(X), ["petal length (cm)", "petal width (cm)"])
    >>> [ax.get_title() for ax in axes]
    ['petal length (cm)', 'petal width (cm)']
    """
    lattice = lattice_of(som)
    table = in_units(som, feature_names)
    columns, names = select_features(table, features)
    axes = _panels(len(columns), lattice) if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != len(columns):
        raise ValueError(
            f"ax holds {len(axes)} Axes, but there are {len(columns)} features to draw; give one for each."
        )
    for panel, column, name in zip(axes, columns, names):
        _draw_plane(panel, lattice, table, column, cmap)
        panel.set_title(fill(name, 28), fontsize="small")
    return axes


def plot_class_map(
    som: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    shape: tuple[int, int] | None = None,
    focus: int | None = None,
    cmap: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the distribution of classes on the lattice.

    The pale color of a cell is the majority class of its node. The area of the disc in it is proportional to the number
    of samples; a pie chart shows the shares of the classes in a node with several. Nodes without a class are gray. If
    samples are images, cells can show the prototypes instead of discs.

    Parameters
    ----------
    som : fitted map
        Fitted map with a lattice, such as SOM or RelationalSOM, a PrototypeClassifier of one, or a Pipeline that ends
        in one.
    X : array-like of shape (n, d), optional
        Samples, in the form that the map's ``predict`` accepts; by default the training samples.
    y : array-like of shape (n,), optional
        Class labels of the samples; by default the labels that the prototypes of a PrototypeClassifier, or of a map
        fitted with labels, have learned.
    shape : tuple (height, width), optional
        Height and width of the samples in pixels, if these are gray images. Each cell then shows its prototype, large
        values dark, instead of a disc.
    focus : int, optional
        Index of the node of a hyperbolic lattice to move to the center of the disc, where there is most room.
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
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import SOM
    >>> from protolearn.plotting import plot_class_map
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_class_map(SOM(lattice=(6, 9)).fit(X), y=y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:3]
    ['0', '1', '2']
    """
    lattice = focused(lattice_of(som), focus)
    classes, shares, hits = class_hits(som, X, y)
    colors = class_colors(len(classes), cmap)
    ax = axes_or_new(ax, height_to_width(lattice))
    entries = class_handles(classes, colors)
    if shape is None:
        draw_classes(ax, lattice, shares, hits, tint(colors, 0.35), colors)
        entries.append(disc_entry(hits.max()))
    else:
        images = as_images(in_units(som, None).values.astype(np.float64), shape)
        draw_cells(ax, lattice, colors=_territory(shares, tint(colors, 0.45)))
        shades = (images - images.min()) / (np.ptp(images) or 1.0)
        draw_images(ax, lattice.coordinates, shades, 1.4 * node_radii(lattice))
    add_legend(ax, entries)
    return ax


def _draw_plane(ax: Axes, lattice: Lattice, table: PrototypeTable, column: int, cmap: str) -> None:
    """Draw a feature of prototypes: numbers by a color map, categories in colors of their own."""
    numbers = numbers_of(table, column)
    if numbers is not None:
        add_color_bar(ax, draw_cells(ax, lattice, values=numbers, cmap=cmap), "", n_ticks=3)
        return
    categories, codes = np.unique(table.values[:, column].astype(str), return_inverse=True)
    colors = class_colors(len(categories))
    draw_cells(ax, lattice, colors=colors[codes])
    add_legend(ax, class_handles(categories, colors))


def class_hits(som: Any, X: Any, y: ArrayLike | None) -> tuple[Array, Floats, Floats]:
    """Return the classes (C,), their shares (k, C) in each node, and the number of samples (k,) of each node."""
    found = None if X is None and y is None else winners(som, X)
    classes, shares = class_shares(som, found, y)
    return classes, shares, hits_of(som) if found is None else _counts(found, len(shares))


def hits_of(estimator: Any, X: Any = None) -> Floats:
    """Return the number (k,) of samples that each prototype wins; of those of the fit, their weight."""
    masses = np.asarray(value_of(estimator, "multiplicities_", "samples per node"), dtype=np.float64)
    return masses if X is None else _counts(winners(estimator, X), len(masses))


def draw_classes(ax: Axes, lattice: Lattice, shares: Floats, hits: Floats, pale: Floats, strong: Floats) -> None:
    """Draw cells in the pale color (C, 3) of their largest class, and pies by hits in strong colors (C, 3)."""
    draw_cells(ax, lattice, colors=_territory(shares, pale))
    largest = hits.max()
    draw_pies(ax, lattice, hits / largest if largest > 0 else hits, shares, strong)


def _territory(shares: Floats, colors: Floats) -> Floats:
    """Return the color (k, 3) of each cell: that of the class with the largest share, or gray without any."""
    return np.where(shares.any(axis=1, keepdims=True), colors[shares.argmax(axis=1)], to_rgb(EMPTY))


def disc_entry(largest: float) -> Artist:
    """Return an entry of the legend that tells the number of samples of the largest disc."""
    return Line2D(
        [], [], linestyle="", marker="o", markersize=9, color=MUTED, label=f"largest disc:\n{largest:g} samples"
    )


def _counts(found: NDArray[np.intp], n_prototypes: int) -> Floats:
    return np.bincount(found, minlength=n_prototypes).astype(np.float64)


def _neighbor_distances(lengths: Floats, lattice: Lattice) -> np.ma.MaskedArray[Any, Any]:
    """Return the mean length (k,) of the edges of each node of the lattice, masked if it has none."""
    first, second = lattice.edges.T
    ends, both = np.concatenate([first, second]), np.concatenate([lengths, lengths])
    degrees = np.bincount(ends, minlength=lattice.n_nodes)
    sums = np.bincount(ends, both, minlength=lattice.n_nodes)
    return np.ma.masked_array(sums / np.maximum(degrees, 1), mask=degrees == 0)


def _panels(n_panels: int, lattice: Lattice) -> Array:
    """Return Axes (n_panels,) in a new figure, in rows and columns that make it a little wider than high."""
    height = 1.7 * np.clip(height_to_width(lattice), 0.4, 1.5) + 0.4
    n_columns = min(n_panels, int(np.ceil(np.sqrt(1.4 * n_panels * height / 2.3))))
    n_rows = -(-n_panels // n_columns)
    n_columns = -(-n_panels // n_rows)
    size = (2.3 * n_columns, height * n_rows)
    _, axes = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    for unused in axes.ravel()[n_panels:]:
        unused.remove()
    return axes.ravel()[:n_panels]
