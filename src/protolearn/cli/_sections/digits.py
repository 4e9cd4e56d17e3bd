"""Maps of handwritten digits, whose prototypes are images."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import PCA

from protolearn import SOM, NeuralGas, PrototypeClassifier
from protolearn.cli._pictures import canvas, draw_images, in_terms_of, to_png
from protolearn.cli._report import Picture, Prose, Section
from protolearn.cli._sections._digits_data import N_PROTOTYPES, as_images, load_samples
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import Lattice, hexagonal
from protolearn.metrics import topographic_error
from protolearn.plotting import plot_class_map, plot_graph
from protolearn.plotting._cells import draw_cells
from protolearn.plotting._style import class_colours, tint

__all__ = ["digits_section", "draw_digits_map"]

LATTICE = hexagonal(10, 16)

Floats = NDArray[np.float64]


def digits_section(effort: Effort) -> Section:
    """Map the digits with a SOM and with neural gas, and show the prototypes as images."""
    X, y = load_samples(effort.n_digits)
    # The classifier only names the prototypes: neither map sees the labels.
    som = PrototypeClassifier(SOM(LATTICE, max_iter=effort.max_iter)).fit(X, y)
    gas = PrototypeClassifier(NeuralGas(N_PROTOTYPES, max_iter=effort.max_iter, random_state=0)).fit(X, y)
    pca = PCA(2).fit(X)
    blocks = [
        Prose(_on_map(X, som)),
        _map_picture(som),
        _class_map(som),
        Prose(_on_gas(gas, pca)),
        _gas_picture(gas),
        _graph_picture(gas, pca, X),
    ]
    return Section("digits", "Digits: prototypes you can look at", blocks, {"som": som, "gas": gas, "X": X, "y": y})


def draw_digits_map(som: PrototypeClassifier) -> bytes:
    """Draw the prototypes of a labelled map of digits in their cells, on a transparent ground.

    Parameters
    ----------
    som : PrototypeClassifier
        Fitted to digits (n, 64), with a SOM.

    Returns
    -------
    bytes
        A picture without text, PNG.
    """
    lattice = som.estimator_.lattice_
    ax = canvas(8.0, 4.6)
    cells = draw_cells(ax, lattice, colours=tint(class_colours(len(som.classes_)), 0.45)[_codes(som)])
    cells.set_edgecolor("none")
    draw_images(ax, lattice.coordinates, as_images(som.estimator_.prototypes_), 0.72)
    return to_png(ax, dpi=200, transparent=True)


def regions(lattice: Lattice, codes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the nodes of each connected part of the lattice whose nodes have the same code (k,)."""
    first, second = lattice.edges[codes[lattice.edges[:, 0]] == codes[lattice.edges[:, 1]]].T
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(lattice.n_nodes, lattice.n_nodes))
    n_parts, part = connected_components(graph, directed=False)
    return [np.flatnonzero(part == number) for number in range(n_parts)]


def _codes(model: PrototypeClassifier) -> NDArray[np.intp]:
    return np.searchsorted(model.classes_, model.prototype_labels_)


def _on_map(X: Floats, som: PrototypeClassifier) -> list[str]:
    rows, cols = LATTICE.shape or (0, 0)
    return [
        f"Now {len(X)} handwritten digits, images of 8 × 8 pixels, which are 64 features. A prototype is a point in the "
        "same space, so it is an image too, and the whole map can be read at a glance. Cells have the colour of "
        "the digit that is most frequent in them; the map itself never saw a label.",
        f"Walk across the {rows} × {cols} cells and watch one digit turn into another, and one way to write a digit into "
        f"another way. The topographic error is {topographic_error(X, som.estimator_):.1%}.",
    ]


def _on_gas(gas: PrototypeClassifier, pca: PCA) -> list[str]:
    graph = gas.estimator_.graph_
    return [
        f"<em>Neural gas</em> has no lattice. Its {len(gas.prototype_labels_)} prototypes are free to go where the data "
        "are, so they are sharper. What lies next to what is learned too: two prototypes are joined if they are the "
        f"nearest two of some sample. The {graph.nnz // 2} edges of this graph are drawn below in the plane of the first "
        f"two principal components. That plane keeps {pca.explained_variance_ratio_.sum():.0%} of the variance, so "
        "prototypes far from each other may look close; the edges tell which of them really are neighbours.",
    ]


def _map_picture(som: PrototypeClassifier) -> Picture:
    return Picture(
        draw_digits_map(som),
        "Hexagonal map in which each cell shows an image of a digit; alike digits lie together",
        "<strong>The map of digits.</strong> Each cell shows its prototype.",
        file="digits-map.png",
    )


def _class_map(som: PrototypeClassifier) -> Picture:
    ax = canvas(8.0, 4.6)
    plot_class_map(som, ax=ax)
    lattice, codes = som.estimator_.lattice_, _codes(som)
    for nodes in regions(lattice, codes):
        if len(nodes) >= 3:
            # the name goes to the cell in the middle, as the centre of a bent region may lie outside of it
            middle = lattice.coordinates[nodes[lattice.distances[np.ix_(nodes, nodes)].sum(axis=1).argmin()]]
            name = ax.text(*middle, str(som.classes_[codes[nodes[0]]]), size=20, weight="bold", ha="center", va="center")
            name.set(color="#222222", zorder=5, path_effects=[withStroke(linewidth=3.5, foreground="white")])
    return Picture(
        to_png(ax),
        "Hexagonal map with a region for each digit",
        "<strong>Class map.</strong> The same cells with the true digits of the samples in them. Pies lie on the borders, "
        "where digits are easily confused.",
    )


def _gas_picture(gas: PrototypeClassifier) -> Picture:
    order = np.argsort(_codes(gas), kind="stable")
    n_columns = 10
    row, column = np.divmod(np.arange(len(order)), n_columns)
    ax = canvas(8.0, 0.8 * (row[-1] + 1))
    colours = tint(class_colours(len(gas.classes_)), 0.45)[_codes(gas)[order]]
    ax.bar(column, 0.94, 0.94, bottom=-row - 0.47, color=colours)
    draw_images(ax, np.column_stack([column, -row]), as_images(gas.estimator_.prototypes_[order]), 0.84)
    ax.set(xlim=(-0.55, n_columns - 0.45), ylim=(-row[-1] - 0.55, 0.55), aspect="equal")
    ax.set_axis_off()
    return Picture(
        to_png(ax),
        "The prototypes of neural gas as images",
        "<strong>Prototypes of neural gas</strong>, in the order of the digits they stand for.",
    )


def _graph_picture(gas: PrototypeClassifier, pca: PCA, X: Floats) -> Picture:
    plane = pca.transform(gas.estimator_.prototypes_)
    seen: Any = in_terms_of(gas.estimator_, plane, ["first principal component", "second principal component"])
    ax = canvas(8.0, 6.0)
    plot_graph(seen, pca.transform(X), ax=ax)
    size = 0.055 * np.ptp(plane, axis=0).max()
    colours = class_colours(len(gas.classes_))[_codes(gas)]
    ax.scatter(*plane.T, s=560, marker="s", c=tint(colours, 0.45), edgecolors=colours, linewidths=1.2, zorder=3.5)
    draw_images(ax, plane, as_images(gas.estimator_.prototypes_), size)
    return Picture(
        to_png(ax),
        "Graph of the prototypes of neural gas over a cloud of samples",
        "<strong>Who is next to whom.</strong> Grey dots are the digits, edges join neighbouring prototypes, the wider "
        "the more digits lie between them.",
    )
