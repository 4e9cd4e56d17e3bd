"""A self-organizing map of wines, and how to read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import SOM
from protolearn.cli._pictures import canvas, in_terms_of, to_png
from protolearn.cli._report import Block, Explorable, Gallery, Picture, Prose, Section
from protolearn.cli._sections._effort import Effort
from protolearn.core.lattices import hexagonal
from protolearn.core.types import Array, Floats
from protolearn.explore import explore
from protolearn.metrics import topographic_error
from protolearn.plotting import plot_class_map, plot_component_planes, plot_history, plot_hits, plot_u_matrix

__all__ = ["wine_section"]

LATTICE = hexagonal(7, 10)
N_PLANES = 6


def wine_section(effort: Effort) -> Section:
    """Map the wines and show classes, borders, hits and the features that the map orders best."""
    wine = load_wine()
    y = np.array([f"cultivar {number + 1}" for number in wine.target])
    names = [readable_name(name) for name in wine.feature_names]
    scaler = StandardScaler().fit(wine.data)
    X = scaler.transform(wine.data)
    som = SOM(LATTICE, max_iter=effort.max_iter).fit(X)
    order = np.argsort(-explained(X, som))[:N_PLANES]
    in_units = in_terms_of(som, scaler.inverse_transform(som.prototypes_), names)
    blocks: list[Block] = [
        Prose(_on_maps(X, som, y)),
        Gallery(_pictures(som, y)),
        Prose(_on_planes(X, som, order, names)),
        Gallery([_plane(in_units, names[column]) for column in order], "small"),
        Prose(_on_cultivars(X, y, order, names)),
        Explorable(
            "wine-map.html",
            "Explore this map",
            "Choose the coloring, select cells, and see their wines and what they have in common.",
            lambda path: explore(
                make_pipeline(scaler, som), wine.data, y, feature_names=names, title="A map of wines", path=path
            ),
        ),
    ]
    return Section("wine", f"Wine: a map of {X.shape[1]} measurements", blocks, {"som": som, "X": X, "y": y})


def explained(X: Floats, som: SOM) -> Floats:
    """Return the share (d,) of the variance of each feature that the place of a sample on the map tells."""
    return 1.0 - (X - som.prototypes_[som.labels_]).var(axis=0) / X.var(axis=0)


def neighbors_of_a_kind(som: SOM, y: Array) -> tuple[float, float]:
    """Return the share of neighboring cells with the same largest class, and what it would be by chance."""
    classes = np.unique(y)
    counts = np.stack([np.bincount(som.labels_[y == name], minlength=som.lattice_.n_nodes) for name in classes])
    largest, occupied = counts.argmax(axis=0), counts.sum(axis=0) > 0
    edges = som.lattice_.edges[occupied[som.lattice_.edges].all(axis=1)]
    shares = np.bincount(largest[occupied]) / occupied.sum()
    return float(np.mean(largest[edges[:, 0]] == largest[edges[:, 1]])), float(shares @ shares)


def readable_name(name: str) -> str:
    return name.replace("od280/od315_of_diluted_wines", "OD280/OD315").replace("_", " ")


def _on_maps(X: Floats, som: SOM, y: Array) -> str:
    same, by_chance = neighbors_of_a_kind(som, y)
    rows, cols = LATTICE.shape or (0, 0)
    return f"""
        The data are {len(X)} Italian wines, each with {X.shape[1]} chemical measurements. We standardize them and fit a
        SOM with {rows} × {cols} hexagonal cells. Each cell has one prototype, a typical wine, and each wine belongs to
        the cell of its nearest prototype. All maps below show the same lattice in different colorings: a cell has the
        same position in each of them.

        The wines come from three cultivars of grapes. <strong>The map was trained without these labels</strong>, but it
        separates them: on the <em>class map</em>, {same:.0%} of the pairs of neighboring cells with wines have the same
        cultivar; by chance it would be {by_chance:.0%}. The <em>U-matrix</em> needs no labels. It shows the distance of
        each prototype from its neighbors: dark valleys are clusters, bright ridges are gaps between them, and a bright
        corner contains unusual wines. The <em>hit map</em> shows the number of wines.

        For {topographic_error(X, som):.0%} of the wines the two nearest prototypes are not neighbors on the lattice.
        This is the <em>topographic error</em>; if it is small, neighborhoods on the map are reliable.
    """


def _on_planes(X: Floats, som: SOM, order: NDArray[np.intp], names: list[str]) -> str:
    shares = explained(X, som)
    best, last = order[0], order[-1]
    return f"""
        What distinguishes the groups? Each <em>component plane</em> shows one measurement over the map, in its own
        unit. Here are the {len(order)} measurements that the position on the map explains best, from {names[best]}
        ({shares[best]:.0%} of its variance) to {names[last]} ({shares[last]:.0%}). Measurements with similar planes
        vary together. Compare a plane with the class map to see what is typical of a group.
    """


def _on_cultivars(X: Floats, y: Array, order: NDArray[np.intp], names: list[str]) -> str:
    """Say by which two of the features shown each class differs most from the average."""
    sentences = []
    for cultivar in np.unique(y):
        means = X[y == cultivar].mean(axis=0)
        first, second = sorted(order, key=lambda column: -abs(means[column]))[:2]
        sentences.append(
            f"<strong>{cultivar.capitalize()}</strong> has {_level(names[first], means[first])} and "
            f"{_level(names[second], means[second])}."
        )
    return f"{' '.join(sentences)} The numbers are standard deviations from the mean of all wines."


def _level(name: str, deviation: float) -> str:
    return f"high {name} (+{deviation:.1f})" if deviation > 0 else f"low {name} (−{-deviation:.1f})"


def _pictures(som: SOM, y: Array) -> list[Picture]:
    def drawn(draw: Callable[..., Any], alternative: str, caption: str, **options: Any) -> Picture:
        ax = canvas(5.4, 3.1)
        draw(som, ax=ax, **options)
        return Picture(to_png(ax), alternative, caption)

    return [
        drawn(
            plot_class_map,
            "Hexagonal map with three regions, one for each cultivar",
            "<strong>Class map.</strong> Disc size: number of wines. Pie charts: cells with several cultivars.",
            y=y,
        ),
        drawn(
            plot_u_matrix,
            "Hexagonal map colored by the distance of each prototype from its neighbors",
            "<strong>U-matrix.</strong> Dark: neighbors are similar. Bright: a gap in the data.",
        ),
        drawn(
            plot_hits,
            "Hexagonal map colored by the number of wines in each cell",
            "<strong>Hit map.</strong> Number of wines in each cell. Gray cells are empty.",
        ),
        drawn(
            plot_history,
            "Cost and range decrease over the epochs",
            f"<strong>Training.</strong> {som.n_iter_} epochs: the range decreases, and with it the cost.",
        ),
    ]


def _plane(in_units: Any, name: str) -> Picture:
    ax = canvas(3.2, 2.05)
    plot_component_planes(in_units, [name], ax=[ax])
    return Picture(to_png(ax), f"Hexagonal map colored by {name}")
