"""E22: time profiles of genes on a hyperbolic map.

Protocol (Hasenfuss 2009, sec. 4.6, fig. 4.11): 4824 genes of barley at 14 times, a transform of Pearson's correlation,
relational hyperbolic SOM with 85 neurons, 150 epochs; the figure shows the profiles on the nodes: up-regulated genes in
one half of the disc, down-regulated ones in the other, and a smooth change in between. No numbers. The data are not
public: here the elutriation series of the yeast cell cycle, 14 times as well, genes without missing values,
dissimilarity 1 - r. Cells start together and divide about once: profiles rise, fall, or have one peak.

Rule, fixed before the run. "Up" and "down" are the signs of the correlation of a node's mean profile with time. The
halves are as in the figure if a line through the center of the disc separates at least HALVES of the nodes by sign
(chance, with 85 random signs, is about 0.6). The change is smooth if the mean profiles of neighboring nodes correlate
by at least SMOOTH on average, and more than those of nodes four and more steps apart. The document does not say
whether it squares dissimilarities: both readings are run, and the defaults of the library. The maps have no chance in
them but for the first start near the center; so RUNS runs have other samples of the genes, KEPT of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._folds import MISSING, READINGS, with_reading
from experiments._protocol import RANGE_END, Array, canvas, load, repeat
from experiments._report import NO_NUMBER, SKIPPED, Result, Row, reaches, report, row
from protolearn import RelationalSOM
from protolearn.core.lattices import hyperbolic
from protolearn.dissimilarities import pearson
from protolearn.maps import OnLattice
from protolearn.plotting import plot_profiles

TITLE = "profiles of genes"
RINGS = 3
EPOCHS = 150
HALVES = 0.8
SMOOTH = 0.5
FAR = 4
RUNS, KEPT = 5, 0.9
SHOWN = "D as squares"
REMARKS: dict[str, str] = {}


def run(quick: bool = False) -> Result:
    curves = profiles()
    if curves is None:
        print(MISSING)
        return report({}, [row("profiles", "fig. 4.11", None, SKIPPED)])
    epochs = 20 if quick else EPOCHS
    rows: list[Row] = []
    found = repeat(measured, range(2 if quick else RUNS), curves, epochs)
    for name in found[0]:
        rows += rows_of(name, np.array([one[name] for one in found]))
    settings = {
        "data": f"yeast cell cycle, elutriation: {len(curves)} genes without missing values, {curves.shape[1]} times",
        "dissimilarity": "1 - Pearson's r",
        "lattice": "hyperbolic, 7 neighbors, 85 nodes, path length",
        "epochs": epochs,
        "runs": f"{len(found)}, with all genes and then with other samples of nine tenths of them",
        "SOM": "Heskes winner, exponential kernel, range N / 2 -> 0.01, start near the center",
        "defaults": "Gaussian kernel, start on the plane of classical scaling, ranges of the library, 100 epochs",
        "rule": f"a line separates {HALVES:.0%} of the nodes; neighbors correlate by {SMOOTH}",
    }
    return report(settings, rows, {"epochs": epochs})


def profiles() -> Array | None:
    """Return the genes without missing values, or None if the file is not there."""
    files = load("yeast_cellcycle")
    if files is None:
        return None
    curves = files["elu"].astype(np.float64)
    return curves[np.isfinite(curves).all(axis=1)]


def maps(epochs: int) -> dict[str, RelationalSOM]:
    lattice = hyperbolic(7, RINGS)
    models: dict[str, Any] = {}
    for reading, squared in READINGS.items():
        common: dict[str, Any] = {"squared": squared, "random_state": 0, "n_jobs": 1}
        start = len(lattice.coordinates) / 2
        printed = OnLattice(radius=(start, RANGE_END), kernel="exponential")
        models[with_reading("HSOM", reading)] = RelationalSOM(
            lattice, neighborhood=printed, init="center", max_iter=epochs, **common
        )
        models[with_reading("HSOM, defaults", reading)] = RelationalSOM(lattice, **common)
    return models


def measured(seed: int, curves: Array, epochs: int) -> dict[str, list[float]]:
    """Return what the rows of each map need; all genes have seed 0, other seeds leave out a tenth of them."""
    if seed:
        chosen = np.random.RandomState(seed).permutation(len(curves))[: int(KEPT * len(curves))]
        curves = curves[np.sort(chosen)]
    return {name: measures(som.fit(pearson(curves)), curves) for name, som in maps(epochs).items()}


def measures(som: RelationalSOM, curves: Array) -> list[float]:
    """Return the share of separated signs, correlations of near and of far nodes, used nodes, and the fit of genes."""
    used = np.flatnonzero(som.multiplicities_ > 0)
    means = np.array([curves[som.labels_ == node].mean(axis=0) for node in used])
    trend = np.array([np.corrcoef(mean, np.arange(len(mean)))[0, 1] for mean in means])
    separated = best_halves(som.lattice_.coordinates[used], trend > 0)
    steps = som.lattice_.distances[np.ix_(used, used)]
    alike = np.corrcoef(means)
    return [separated, alike[steps == 1].mean(), alike[steps >= FAR].mean(), len(used), fit(curves, som)]


def rows_of(name: str, found: Array) -> list[Row]:
    """Return the rows of a map from its `measures` (runs, measures)."""
    separated, near, far, used, fits = found.T
    return [
        row(f"{name}: signs of trend separated by a line", "two halves", separated, reaches(separated, HALVES)),
        row(f"{name}: correlation of neighboring nodes", f"smooth: {SMOOTH} and more", near, reaches(near, SMOOTH)),
        row(
            f"{name}: the same, minus that of nodes {FAR} steps apart or more",
            "above 0",
            near - far,
            reaches(near - far, 0.0),
        ),
        row(f"{name}: nodes that win something, of {hyperbolic(7, RINGS).n_nodes}", None, used, NO_NUMBER),
        row(f"{name}: mean correlation of a gene with its node", None, fits, NO_NUMBER),
    ]


def best_halves(places: Array, signs: Array) -> float:
    """Return the share of nodes on the right side of the best line through the center."""
    angles = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    sides = places @ np.stack([np.cos(angles), np.sin(angles)]) > 0
    return float((sides == signs[:, None]).mean(axis=0).max())


def fit(curves: Array, som: RelationalSOM) -> float:
    means = {node: curves[som.labels_ == node].mean(axis=0) for node in np.unique(som.labels_)}
    return float(np.mean([np.corrcoef(curve, means[node])[0, 1] for curve, node in zip(curves, som.labels_)]))


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, 2, (9.0, 9.0))
    curves = profiles()
    if curves is not None:
        standard = (curves - curves.mean(axis=1, keepdims=True)) / curves.std(axis=1, keepdims=True)
        trend = standard @ np.linspace(-1, 1, standard.shape[1]) > 0
        chosen = maps(result["data"]["epochs"])
        for ax, name in zip(axes[0], (with_reading("HSOM", SHOWN), with_reading("HSOM, defaults", SHOWN))):
            som = chosen[name].fit(pearson(curves))
            plot_profiles(som, standard, y=np.where(trend, "rises", "falls"), ax=ax)
            ax.set_title(name)
    return figure
