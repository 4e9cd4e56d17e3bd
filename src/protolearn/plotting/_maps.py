"""Pictures of the lattice: U-matrix, hits, component planes and classes."""

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

from protolearn.core.lattices import Lattice
from protolearn.plotting._cells import draw_cells, draw_pies, height_to_width
from protolearn.plotting._inputs import class_shares, lattice_of, select_features, value_of, winners
from protolearn.plotting._style import (
    EMPTY,
    MUTED,
    add_colour_bar,
    add_legend,
    axes_or_new,
    class_colours,
    class_handles,
    tint,
)

__all__ = ["plot_class_map", "plot_component_planes", "plot_hits", "plot_u_matrix"]

Floats = NDArray[np.float64]


def plot_u_matrix(som: Any, ax: Axes | None = None, *, cmap: str = "viridis") -> Axes:
    """Show where neighbours on the lattice are far apart in the data: borders between clusters stand out.

    The colour of a node is the mean distance of its prototype to the prototypes at the other ends of its edges.

    Parameters
    ----------
    som : fitted map
        With a lattice, such as SOM, or a PrototypeClassifier of one.
    ax : Axes, optional
        Where to draw; by default in a new figure.
    cmap : str, default="viridis"
        Name of a colour map.

    Returns
    -------
    Axes
        The drawing.

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
    lattice = lattice_of(som)
    heights = _neighbour_distances(value_of(som, "prototypes_", "distances of prototypes"), lattice)
    ax = axes_or_new(ax, height_to_width(lattice))
    cells = draw_cells(ax, lattice, values=heights, cmap=cmap)
    add_colour_bar(ax, cells, "mean distance to neighbours")
    return ax


def plot_hits(som: Any, X: ArrayLike | None = None, *, ax: Axes | None = None, cmap: str = "viridis_r") -> Axes:
    """Show how many samples each node of the lattice stands for; nodes without samples stay grey.

    Parameters
    ----------
    som : fitted map
        With a lattice, such as SOM, or a PrototypeClassifier of one.
    X : array-like of shape (n, d), optional
        Samples to count; by default those of the fit, with their weights.
    ax : Axes, optional
        Where to draw; by default in a new figure.
    cmap : str, default="viridis_r"
        Name of a colour map.

    Returns
    -------
    Axes
        The drawing.

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
    lattice = lattice_of(som)
    hits = _hits(som, lattice, X)
    ax = axes_or_new(ax, height_to_width(lattice))
    cells = draw_cells(ax, lattice, values=np.ma.masked_equal(hits, 0.0), cmap=cmap)
    cells.set_clim(0.0, hits.max())
    add_colour_bar(ax, cells, "samples per node", integer=bool(hits.max() >= 2))
    return ax


def plot_component_planes(
    som: Any,
    features: Sequence[int | str] | None = None,
    *,
    ax: Any = None,
    cmap: str = "viridis",
) -> NDArray[Any]:
    """Show each feature of the prototypes as a map of its own; alike maps tell of features that vary together.

    Parameters
    ----------
    som : fitted map
        With a lattice, such as SOM, or a PrototypeClassifier of one.
    features : sequence of int or str, optional
        Numbers or names of features; by default all.
    ax : array of Axes, optional
        Where to draw, one for each feature; by default in a new figure.
    cmap : str, default="viridis"
        Name of a colour map. Every map has its own scale.

    Returns
    -------
    ndarray of Axes, of shape (n_features,)
        The drawings, titled by the names of the features.

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
    columns, names = select_features(som, features)
    prototypes = value_of(som, "prototypes_", "prototypes")
    axes = _panels(len(columns), lattice) if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != len(columns):
        raise ValueError(
            f"ax holds {len(axes)} Axes, but there are {len(columns)} features to draw; give one for each."
        )
    for panel, column, name in zip(axes, columns, names):
        cells = draw_cells(panel, lattice, values=prototypes[:, column], cmap=cmap)
        add_colour_bar(panel, cells, "", n_ticks=3)
        panel.set_title(fill(name, 28), fontsize="small")
    return axes


def plot_class_map(som: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Show which classes lie where on the lattice.

    The pale colour of a cell is the largest class of its node. The area of the disc in it is the number of samples, and
    a node with samples of several classes has a pie. Nodes that know no class stay grey.

    Parameters
    ----------
    som : fitted map
        With a lattice, such as SOM, or a PrototypeClassifier of one.
    X : array-like of shape (n, d), optional
        Samples; by default those of the fit.
    y : array-like of shape (n,), optional
        Their classes; by default the labels the prototypes have learned, of a PrototypeClassifier or a map fitted with
        labels.
    ax : Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    Axes
        The drawing.

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
    lattice = lattice_of(som)
    found = None if X is None and y is None else winners(som, X)
    classes, shares = class_shares(som, found, y)
    hits = _hits(som, lattice, X) if found is None else np.bincount(found, minlength=lattice.n_nodes).astype(np.float64)
    colours = class_colours(len(classes))
    territory = np.where(shares.any(axis=1, keepdims=True), tint(colours, 0.35)[shares.argmax(axis=1)], to_rgb(EMPTY))
    ax = axes_or_new(ax, height_to_width(lattice))
    draw_cells(ax, lattice, colours=territory)
    largest = hits.max()
    draw_pies(ax, lattice, hits / largest if largest > 0 else hits, shares, colours)
    add_legend(ax, [*class_handles(classes, colours), _disc_entry(largest)])
    return ax


def _hits(som: Any, lattice: Lattice, X: ArrayLike | None) -> Floats:
    """Return the number (k,) of samples that each node wins; of those of the fit, their weight."""
    if X is None:
        return np.asarray(value_of(som, "multiplicities_", "samples per node"), dtype=np.float64)
    return np.bincount(winners(som, X), minlength=lattice.n_nodes).astype(np.float64)


def _neighbour_distances(prototypes: NDArray[Any], lattice: Lattice) -> np.ma.MaskedArray[Any, Any]:
    """Return the mean distance (k,) of each prototype to its neighbours on the lattice, masked if it has none."""
    first, second = lattice.edges.T
    lengths = np.linalg.norm(prototypes[first].astype(np.float64) - prototypes[second], axis=1)
    ends, both = np.concatenate([first, second]), np.concatenate([lengths, lengths])
    degrees = np.bincount(ends, minlength=lattice.n_nodes)
    sums = np.bincount(ends, both, minlength=lattice.n_nodes)
    return np.ma.masked_array(sums / np.maximum(degrees, 1), mask=degrees == 0)


def _panels(n_panels: int, lattice: Lattice) -> NDArray[Any]:
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


def _disc_entry(largest: float) -> Artist:
    return Line2D(
        [], [], linestyle="", marker="o", markersize=9, color=MUTED, label=f"largest disc:\n{largest:g} samples"
    )
