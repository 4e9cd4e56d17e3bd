"""Maps of handwritten digits, whose prototypes are images."""

from __future__ import annotations

import numpy as np
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import PCA

from protolearn import SOM, NeuralGas, PrototypeClassifier
from protolearn.cli._pictures import canvas, draw_labels, in_terms_of, to_png, with_palette
from protolearn.cli._report import Block, Picture, Prose, Section
from protolearn.cli._sections._digits_data import N_PROTOTYPES, as_images, load_samples
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import Lattice, hexagonal
from protolearn.core.types import Floats
from protolearn.metrics import topographic_error
from protolearn.plotting import plot_class_map, plot_graph
from protolearn.plotting.cells import draw_images
from protolearn.plotting.style import INK, class_colors, tint

__all__ = ["digits_section", "draw_digits_map"]

LATTICE = hexagonal(10, 16)
N_COLORS = 256


def digits_section(effort: Effort) -> Section:
    """Map the digits with a SOM and with neural gas, and show the prototypes as images."""
    X, y = load_samples(effort.n_digits)
    # The classifier only names the prototypes: neither map sees the labels.
    som = PrototypeClassifier(SOM(LATTICE, max_iter=effort.max_iter)).fit(X, y)
    gas = PrototypeClassifier(NeuralGas(N_PROTOTYPES, max_iter=effort.max_iter, random_state=0)).fit(X, y)
    pca = PCA(2).fit(X)
    blocks: list[Block] = [
        Prose(_on_map(X, som)),
        _map_picture(som),
        _class_map(som),
        Prose(_on_gas(gas, pca)),
        _gas_picture(gas),
        _graph_picture(gas, pca, X),
    ]
    return Section("digits", "Digits: prototypes as images", blocks, {"som": som, "gas": gas, "X": X, "y": y})


def draw_digits_map(som: PrototypeClassifier) -> bytes:
    """Draw the prototypes of a labeled map of digits in their cells, on a transparent ground.

    Parameters
    ----------
    som : PrototypeClassifier
        Fitted to digits (n, 64), with a SOM.

    Returns
    -------
    bytes
        A picture without text, PNG.
    """
    ax = plot_class_map(som, shape=(8, 8), ax=canvas(8.0, 4.62))
    legend = ax.get_legend()
    assert legend is not None
    legend.remove()
    return with_palette(to_png(ax, dpi=200, transparent=True), N_COLORS)


def regions(lattice: Lattice, codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the nodes of each connected part of the lattice whose nodes have the same code (k,)."""
    first, second = lattice.edges[codes[lattice.edges[:, 0]] == codes[lattice.edges[:, 1]]].T
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(lattice.n_nodes, lattice.n_nodes))
    n_parts, part = connected_components(graph, directed=False)
    return [np.flatnonzero(part == number) for number in range(n_parts)]


def _codes(model: PrototypeClassifier) -> NDArray[np.intp]:
    return np.searchsorted(model.classes_, model.prototype_labels_)


def _on_map(X: Floats, som: PrototypeClassifier) -> str:
    rows, cols = LATTICE.shape or (0, 0)
    return f"""
        The next data set consists of {len(X)} handwritten digits, images of 8 × 8 pixels, which are {X.shape[1]}
        features. A prototype is a point in the same space, so it is an image, too. A cell has the color of its most
        frequent digit; the labels were not used in training.

        Across the {rows} × {cols} cells, one digit changes gradually into another, and so do different ways of writing
        a digit. The topographic error is {topographic_error(X, som.estimator_):.1%}.
    """


def _on_gas(gas: PrototypeClassifier, pca: PCA) -> str:
    return f"""
        <em>Neural gas</em> has no lattice. Its {len(gas.prototype_labels_)} prototypes can move freely and represent
        the data better than the same number of prototypes on a lattice; the table in the next chapter compares them.
        Neighborhood relations are learned, too: two prototypes are connected if they are the two nearest prototypes of
        some sample. The {gas.estimator_.graph_.nnz // 2} edges of this graph are drawn below in the plane of the first
        two principal components. That plane explains {pca.explained_variance_ratio_.sum():.0%} of the variance, so
        distant prototypes may appear close; the edges show which of them are neighbors.
    """


def _map_picture(som: PrototypeClassifier) -> Picture:
    return Picture(
        draw_digits_map(som),
        "Hexagonal map in which each cell shows an image of a digit; similar digits are neighbors",
        f"<strong>The map of digits.</strong> Each cell shows its prototype. (The {N_COLORS} colors of the picture "
        "are prototypes, too: k-means has selected them.)",
        file="digits-map.png",
    )


def _class_map(som: PrototypeClassifier) -> Picture:
    ax = canvas(7.0, 3.7)
    plot_class_map(som, ax=ax)
    lattice, codes = som.estimator_.lattice_, _codes(som)
    for nodes in regions(lattice, codes):
        if len(nodes) >= 3:
            # The name goes to the cell in the middle, as the center of a bent region may lie outside of it.
            steps = lattice.distances[np.ix_(nodes, nodes)].sum(axis=1)
            x, y = lattice.coordinates[nodes[steps.argmin()]]
            name = ax.text(x, y, str(som.classes_[codes[nodes[0]]]), size=20, weight="bold", color=INK, zorder=5)
            name.set(ha="center", va="center", path_effects=[withStroke(linewidth=3.5, foreground="white")])
    return Picture(
        to_png(ax),
        "Hexagonal map with a region for each digit",
        "<strong>Class map.</strong> The same cells with the true digits of their samples. Pie charts mark mixed "
        "cells, where digits are easily confused.",
    )


def _gas_picture(gas: PrototypeClassifier) -> Picture:
    order = np.argsort(_codes(gas), kind="stable")
    n_columns = 10
    row, column = np.divmod(np.arange(len(order)), n_columns)
    ax = canvas(8.0, 8.0 * (row[-1] + 1.1) / (n_columns + 0.1))
    colors = tint(class_colors(len(gas.classes_)), 0.42)[_codes(gas)[order]]
    ax.bar(column, 0.94, 0.94, bottom=-row - 0.47, color=colors)
    draw_images(ax, np.column_stack([column, -row]), as_images(gas.estimator_.prototypes_[order]), 0.74)
    ax.set(xlim=(-0.55, n_columns - 0.45), ylim=(-row[-1] - 0.55, 0.55), aspect="equal")
    ax.set_axis_off()
    return Picture(
        to_png(ax),
        "The prototypes of neural gas as images",
        "<strong>Prototypes of neural gas</strong>, in the order of the digits they represent.",
    )


def _graph_picture(gas: PrototypeClassifier, pca: PCA, X: Floats) -> Picture:
    plane = pca.transform(gas.estimator_.prototypes_)
    seen = in_terms_of(gas.estimator_, plane, ["first principal component", "second principal component"])
    ax = canvas(7.0, 5.3)
    plot_graph(seen, pca.transform(X), ax=ax)
    draw_labels(ax, plane, as_images(gas.estimator_.prototypes_), class_colors(len(gas.classes_))[_codes(gas)])
    return Picture(
        to_png(ax),
        "Graph of the prototypes of neural gas over a cloud of samples",
        "<strong>Neighborhood graph.</strong> Gray dots are the digits. Edges connect neighboring prototypes; wider "
        "edges have more digits between their ends.",
    )
