"""A self-organising map of wines, and how to read it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from protolearn import SOM
from protolearn.cli._pictures import canvas, in_terms_of, to_png
from protolearn.cli._report import Gallery, Picture, Prose, Section
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import hexagonal
from protolearn.metrics import topographic_error
from protolearn.plotting import plot_class_map, plot_component_planes, plot_hits, plot_u_matrix

__all__ = ["wine_section"]

LATTICE = hexagonal(7, 10)
N_PLANES = 6

Floats = NDArray[np.float64]


def wine_section(effort: Effort) -> Section:
    """Map the wines and show classes, borders, hits and the features that the map orders best."""
    wine = load_wine()
    cultivars = np.array([f"cultivar {number + 1}" for number in wine.target])
    names = [_readable(name) for name in wine.feature_names]
    scaler = StandardScaler().fit(wine.data)
    X = scaler.transform(wine.data)
    som = SOM(LATTICE, max_iter=effort.max_iter).fit(X)
    order = np.argsort(-explained(X, som))[:N_PLANES]
    in_units = in_terms_of(som, scaler.inverse_transform(som.prototypes_), names)

    blocks = [
        Prose(_introduction(X, som, cultivars)),
        Gallery([_class_map(som, cultivars), _u_matrix(som), _hits(som)]),
        Prose(_on_planes(X, som, order, names)),
        Gallery([_plane(in_units, names[column]) for column in order], "small"),
        Prose(_on_cultivars(X, cultivars, order, names)),
    ]
    results = {"som": som, "X": X, "y": cultivars, "planes": [names[column] for column in order]}
    return Section("wine", "Wine: a map of 13 measurements", blocks, results)


def explained(X: Floats, som: SOM) -> Floats:
    """Return the share (d,) of the variance of each feature that the place of a sample on the map tells."""
    return 1.0 - (X - som.prototypes_[som.labels_]).var(axis=0) / X.var(axis=0)


def purity(winners: NDArray[np.int64], y: NDArray[Any]) -> float:
    """Return the share of the samples that belong to the largest class of their node."""
    counts = [np.unique(y[winners == node], return_counts=True)[1].max() for node in np.unique(winners)]
    return float(np.sum(counts) / len(y))


def border_heights(som: SOM, y: NDArray[Any]) -> tuple[float, float]:
    """Return the mean distance of neighbouring prototypes with the same, and with different, largest classes."""
    first, second = som.lattice_.edges.T
    lengths = np.linalg.norm(som.prototypes_[first] - som.prototypes_[second], axis=1)
    classes = {node: _mode(y[som.labels_ == node]) for node in np.unique(som.labels_)}
    known = np.array([a in classes and b in classes for a, b in som.lattice_.edges])
    same = np.array([classes.get(a) == classes.get(b) for a, b in som.lattice_.edges])
    return float(lengths[known & same].mean()), float(lengths[known & ~same].mean())


def _mode(values: NDArray[Any]) -> Any:
    found, counts = np.unique(values, return_counts=True)
    return found[counts.argmax()]


def _readable(name: str) -> str:
    return "OD280/OD315" if name.startswith("od280") else name.replace("_", " ")


def _introduction(X: Floats, som: SOM, y: NDArray[Any]) -> list[str]:
    inside, across = border_heights(som, y)
    rows, cols = LATTICE.shape or (0, 0)
    return [
        f"The data are {len(X)} Italian wines, each with {X.shape[1]} chemical measurements. We standardise them and fit "
        f"a SOM with {rows} × {cols} hexagonal cells. Each cell is one prototype, a typical wine, and each wine lives in "
        "the cell whose prototype is nearest to it. All the maps below are this one lattice, coloured in different ways: "
        "a cell has the same place on each of them.",
        "The wines come from three cultivars of grapes. <strong>The map was not told</strong>, but it found them: on the "
        f"class map, {purity(som.labels_, y):.0%} of the wines share a cell with a majority of their own kind. The "
        "<em>U-matrix</em> finds the borders without any labels. It shows how far each prototype is from its neighbours: "
        f"dark valleys are groups, bright ridges are gaps. Two neighbours of different cultivars are {across:.2f} apart on "
        f"average, two of the same only {inside:.2f}. The <em>hit map</em> counts wines. For "
        f"{topographic_error(X, som):.0%} of them the two nearest prototypes are not neighbours on the lattice; this is "
        "the <em>topographic error</em>, and a small one says that you may trust what you see.",
    ]


def _on_planes(X: Floats, som: SOM, order: NDArray[np.intp], names: list[str]) -> list[str]:
    shares = explained(X, som)
    return [
        f"What makes the groups different? Each <em>component plane</em> shows one measurement over the map. Here are the "
        f"{len(order)} that the place on the map tells most about, from {names[order[0]]} ({shares[order[0]]:.0%} of its "
        f"variance) to {names[order[-1]]} ({shares[order[-1]]:.0%}). Planes that look alike belong to measurements that "
        "vary together; lay one over the class map to see what is typical of a group."
    ]


def _on_cultivars(X: Floats, y: NDArray[Any], order: NDArray[np.intp], names: list[str]) -> list[str]:
    """Say what each class has more and less of than the average, among the features shown."""
    sentences = []
    for cultivar in np.unique(y):
        means = X[y == cultivar][:, order].mean(axis=0)
        most, least = order[means.argmax()], order[means.argmin()]
        sentences.append(
            f"<strong>{cultivar.capitalize()}</strong> stands out by {_level(means.max())} {names[most]} "
            f"({means.max():+.1f} standard deviations from the mean of all wines) and {_level(means.min())} {names[least]} "
            f"({means.min():+.1f})."
        )
    return [" ".join(sentences)]


def _level(deviation: float) -> str:
    return "high" if deviation > 0 else "low"


def _class_map(som: SOM, y: NDArray[Any]) -> Picture:
    ax = canvas(5.4, 3.6)
    plot_class_map(som, y=y, ax=ax)
    return Picture(
        to_png(ax),
        "Hexagonal map with three regions, one for each cultivar",
        "<strong>Class map.</strong> Which cultivar lives where. Discs grow with the number of wines, pies are mixed cells.",
    )


def _u_matrix(som: SOM) -> Picture:
    ax = canvas(5.4, 3.6)
    plot_u_matrix(som, ax=ax)
    return Picture(
        to_png(ax),
        "Hexagonal map coloured by the distance of each prototype to its neighbours",
        "<strong>U-matrix.</strong> Dark: neighbours are alike. Bright: a gap in the data.",
    )


def _hits(som: SOM) -> Picture:
    ax = canvas(5.4, 3.6)
    plot_hits(som, ax=ax)
    return Picture(
        to_png(ax),
        "Hexagonal map coloured by the number of wines in each cell",
        "<strong>Hit map.</strong> How many wines each cell stands for. Grey cells are empty.",
    )


def _plane(in_units: Any, name: str) -> Picture:
    ax = canvas(3.2, 2.3)
    plot_component_planes(in_units, [name], ax=[ax])
    return Picture(to_png(ax), f"Hexagonal map coloured by {name}")
