"""What the experiments on dissimilarities share: data, maps of the document, competitors, folds, rows, a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import kmedoids  # type: ignore[import-untyped]
import numpy as np
from matplotlib.axes import Axes
from scipy.spatial.distance import squareform
from sklearn.cluster import HDBSCAN, SpectralClustering
from sklearn.metrics.cluster import contingency_matrix
from sklearn.model_selection import KFold, StratifiedKFold

from experiments._lvq import COLORS
from experiments._protocol import RANGE_END, Array, AsPrinted, load, repeat, with_neighborhood
from experiments._report import NO_NUMBER, REFERENCE, Row, holds, judge, row
from protolearn import (
    MedianKMeans,
    MedianNeuralGas,
    PairwiseAnnealing,
    PrototypeClassifier,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)

__all__ = [
    "MISSING",
    "READINGS",
    "SETTINGS",
    "Found",
    "Printed",
    "PrintedRelationalSOM",
    "as_published",
    "by_default",
    "claim_rows",
    "competitors",
    "cross_validated",
    "draw_accuracies",
    "draw_sweep",
    "floor_rows",
    "other_rows",
    "pairs",
    "som_as_published",
    "table_maps",
    "table_rows",
    "with_reading",
]


class PrintedMedianKMeans(AsPrinted, MedianKMeans):
    """Median k-means with the label distance of the document."""


class PrintedMedianNeuralGas(AsPrinted, MedianNeuralGas):
    """Median neural gas with the label distance of the document."""


class PrintedRelationalKMeans(AsPrinted, RelationalKMeans):
    """Relational k-means with the label distance of the document."""


class PrintedRelationalNeuralGas(AsPrinted, RelationalNeuralGas):
    """Relational neural gas with the label distance of the document."""


class PrintedRelationalSOM(AsPrinted, RelationalSOM):
    """Relational SOM with the label distance of the document."""


COLUMNS = (
    "median k-means",
    "median NG",
    "relational k-means",
    "relational NG",
    "supervised median NG",
    "supervised relational k-means",
    "supervised relational NG",
)
CLAIMS = (
    ("relational k-means", "median k-means"),
    ("relational NG", "median NG"),
    ("supervised median NG", "median NG"),
    ("supervised relational NG", "relational NG"),
)
ANNEALING = "pairwise annealing"
LEAST = 0.5  # points of accuracy that always count as the same
READINGS = {"D as distances": False, "D as squares": True}
KINDS = {
    "median k-means": PrintedMedianKMeans,
    "median NG": PrintedMedianNeuralGas,
    "relational k-means": PrintedRelationalKMeans,
    "relational NG": PrintedRelationalNeuralGas,
}
N_NEIGHBORS = 10  # in the graph of spectral clustering
MISSING = "The data files are not there: skipped. Set PROTOLEARN_DATA to the folder that holds them."
SETTINGS = {
    "accuracy": "per cent, of test objects; mean over the folds of a repeat, standard deviation over repeats",
    "seeds": "number of the repeat, for folds and start",
    "readings": "D as distances: squared by the map (squared=False); D as squares: taken as they are (squared=True)",
    "start": "NG near the center (median: random objects), k-means random objects",
    "range": "NG n / 2 -> 0.01, geometric",
    "median": "noise of 1e-4 on distances, fading; no noise in the last epoch",
    "mixing": "share of the labels in the distance",
    "labels": "majority in a receptive field; supervised: the largest share; new objects are placed without labels",
    "defaults": "settings of the library: spread start, range from 2, 100 epochs; median prototypes all different",
    "competitors": "same folds, same number of clusters where one is asked for; majority label of a cluster, test "
    "objects by the nearest medoid, or nearest member of a cluster (HDBSCAN: not noise). k-medoids minimizes the sum "
    "of D. Spectral clustering has a graph of ten neighbors and HDBSCAN clusters of at least two: in trials on test "
    "folds the best, on chromosomes, of six affinities, and the best, on cat cortex and proteins, of the sizes 2, 3 "
    "and 5. Annealing has its defaults, of 300 epochs",
}

Found = dict[str, Array]  # by classifier: accuracy in per cent (repeats, folds)
Printed = Mapping[str, tuple[float, float]]  # mean and standard deviation
Build = Callable[[int], Mapping[str, Any]]


def pairs(name: str) -> tuple[Array, Array] | None:
    """Return dissimilarities and classes of a data set, or None if its files are not there."""
    if name != "chromosomes":
        files = load(name)
        return None if files is None else (files["D"], files.get("labels", files["y"]))
    strings, *halves = (load(part) for part in ("chromosomes", "chromosomes_D_1", "chromosomes_D_2"))
    twice = [half["twice_d"] for half in halves if half is not None]
    if strings is None or len(twice) < len(halves):
        return None
    return squareform(np.concatenate(twice) / 2.0), strings["y"]


def as_published(name: str, n_prototypes: int, epochs: int, seed: int, **options: Any) -> PrototypeClassifier:
    """Return a map of Hasenfuss 2009, sec. 4.6, as a classifier."""
    settings: dict[str, Any] = {"init": "random", "max_iter": epochs, "random_state": seed, "n_jobs": 1}
    if name.endswith("NG"):
        settings |= {"range_start": n_prototypes / 2, "range_end": RANGE_END}
    if name == "relational NG":
        settings |= {"init": "center"}
    if name.startswith("median"):
        settings |= {"collision": "noise"}
    return PrototypeClassifier(KINDS[name](n_prototypes, **with_neighborhood(KINDS[name], settings | options)))


def som_as_published(lattice: Any, start: float, epochs: int, seed: int, **options: Any) -> PrototypeClassifier:
    """Return a relational SOM of Hasenfuss 2009, sec. 4.6, as a classifier."""
    settings = {"range_start": start, "range_end": RANGE_END, "kernel": "exponential", "init": "center"}
    settings |= {"max_iter": epochs, "random_state": seed, "n_jobs": 1} | options
    return PrototypeClassifier(PrintedRelationalSOM(lattice, **with_neighborhood(PrintedRelationalSOM, settings)))


def by_default(name: str, n_prototypes: int, seed: int, **options: Any) -> PrototypeClassifier:
    """Return a map with the defaults of the library, as a classifier."""
    return PrototypeClassifier(KINDS[name](n_prototypes, random_state=seed, n_jobs=1, **options))


def with_reading(name: str, reading: str) -> str:
    """Return the name of a classifier with what its dissimilarities mean."""
    return f"{name}, {reading}"


def cross_validated(D: Array, y: Array, build: Build, n_repeats: int, n_folds: int, stratified: bool = False) -> Found:
    """Return the accuracy (repeats, folds) of the classifiers that ``build(seed)`` makes, by name."""
    runs = repeat(one_repeat, range(n_repeats), D, y, build, n_folds, stratified)
    return {name: np.array([part[name] for part in runs]) for name in runs[0]}


def one_repeat(seed: int, D: Array, y: Array, build: Build, n_folds: int, stratified: bool) -> dict[str, list[float]]:
    splitter = (StratifiedKFold if stratified else KFold)(n_folds, shuffle=True, random_state=seed)
    found: dict[str, list[float]] = {}
    for train, test in splitter.split(D, y):
        inner, outer = D[np.ix_(train, train)], D[np.ix_(test, train)]
        for name, model in build(seed).items():
            right = model.fit(inner, y[train]).predict(outer) == y[test]
            found.setdefault(name, []).append(100 * float(right.mean()))
    return found


def table_maps(
    n_prototypes: int, epochs: int, label_weight: float, seed: int, annealing_epochs: int = 300
) -> dict[str, Any]:
    """Return the maps of a table of sec. 4.6, those with our defaults, and competitors, all as classifiers."""
    models = {}
    for reading, squared in READINGS.items():
        for name in COLUMNS:
            plain = name.removeprefix("supervised ")
            weight = label_weight if name != plain else 0.0
            models[with_reading(name, reading)] = as_published(
                plain, n_prototypes, epochs, seed, squared=squared, label_weight=weight
            )
            if weight not in (0.0, 0.5):  # the document may mean the share of the data
                models[with_reading(f"{name}, mixing {1 - weight:.1f}", reading)] = as_published(
                    plain, n_prototypes, epochs, seed, squared=squared, label_weight=1 - weight
                )
        for name in ("median NG", "relational NG"):
            models[with_reading(f"{name}, defaults", reading)] = by_default(name, n_prototypes, seed, squared=squared)
    return models | competitors(n_prototypes, seed, annealing_epochs)


def competitors(n_clusters: int, seed: int, annealing_epochs: int) -> dict[str, Any]:
    """Return classifiers of other kinds, by name."""
    annealing = {
        with_reading(ANNEALING, reading): PrototypeClassifier(
            PairwiseAnnealing(n_clusters, squared=squared, max_iter=annealing_epochs, random_state=seed, n_jobs=1)
        )
        for reading, squared in READINGS.items()
    }
    return {
        "1-NN": Clusters(lambda D: (np.arange(len(D)), np.arange(len(D)))),
        "k-medoids (FasterPAM)": Clusters(lambda D: _medoids(D, n_clusters, seed)),
        "spectral clustering": Clusters(lambda D: _spectral(D, n_clusters, seed)),
        "HDBSCAN": Clusters(_dense),
        **annealing,
    }


class Clusters:
    """Classify by the majority label of a cluster: that of the nearest of the objects which stand for clusters.

    Parameters
    ----------
    find : callable
        Takes dissimilarities and returns the cluster of every object, and the objects that stand for clusters.
    """

    def __init__(self, find: Callable[[Array], tuple[Array, Array]]) -> None:
        self.find = find

    def fit(self, D: Array, y: Array) -> Self:
        """Find clusters and their labels."""
        clusters, self.standing = self.find(D)
        codes = np.unique(clusters, return_inverse=True)[1]
        majority = np.unique(y)[contingency_matrix(y, codes).argmax(axis=0)]
        self.labels = majority[codes[self.standing]]
        return self

    def predict(self, D: Array) -> Array:
        """Return the label of the nearest object that stands for a cluster."""
        return self.labels[D[:, self.standing].argmin(axis=1)]


def _medoids(D: Array, n_clusters: int, seed: int) -> tuple[Array, Array]:
    found = kmedoids.fasterpam(D, n_clusters, random_state=seed)
    return np.asarray(found.labels, np.int64), np.asarray(found.medoids, np.int64)


def _spectral(D: Array, n_clusters: int, seed: int) -> tuple[Array, Array]:
    model = SpectralClustering(
        n_clusters, affinity="precomputed_nearest_neighbors", n_neighbors=N_NEIGHBORS, random_state=seed
    )
    return model.fit_predict(D), np.arange(len(D))


def _dense(D: Array) -> tuple[Array, Array]:
    clusters = HDBSCAN(min_cluster_size=2, metric="precomputed", copy=True).fit_predict(D)
    members = np.flatnonzero(clusters >= 0)
    return clusters, members if len(members) else np.arange(len(D))


def table_rows(found: Found, printed: Printed, same_data: bool = True) -> list[Row]:
    """Return a row for each entry of a printed table and each reading of the dissimilarities."""
    rows = []
    for reading in READINGS:
        ordered = as_printed({name: found[with_reading(name, reading)].mean() for name in printed})
        for name, (mean, deviation) in printed.items():
            ours = found[with_reading(name, reading)].mean(axis=1)
            own = ours.std(ddof=1) if len(ours) > 1 else 0.0
            verdict = judge(ours, mean, max(deviation, own, LEAST), ordered)
            rows.append(row(with_reading(name, reading), mean, ours, verdict if same_data else NO_NUMBER))
    return rows


def as_printed(mean: Mapping[str, float]) -> bool:
    """Say whether maps compare as in all tables: relational above median, supervised above unsupervised NG."""
    claims = [pair for pair in CLAIMS if set(pair) <= set(mean)]
    if not claims:  # a table of kinds of maps
        order = sorted(mean, key=mean.__getitem__)
        return order[0] == "supervised median NG" and order[-1] == "supervised relational NG"
    return all(mean[better] > mean[worse] for better, worse in claims)


def claim_rows(found: Found) -> list[Row]:
    """Return rows on which map is better, for each reading: the gain is to be positive."""
    rows = []
    for reading in READINGS:
        for better, worse in CLAIMS:
            gain = found[with_reading(better, reading)].mean(axis=1) - found[with_reading(worse, reading)].mean(axis=1)
            rows.append(row(f"gain of {better} over {worse}, {reading}", "above 0", gain, holds(gain.mean() > 0)))
    return rows


def floor_rows(found: Found, name: str, printed: tuple[float, float]) -> list[Row]:
    """Return rows on whether a map is at most one printed standard deviation worse, with and without our defaults."""
    least = printed[0] - printed[1]
    names = [with_reading(part, reading) for part in (name, f"{name}, defaults") for reading in READINGS]
    return [
        row(f"{part}: not worse", f"at least {least:.1f}", found[part].mean(axis=1), holds(found[part].mean() >= least))
        for part in names
    ]


def other_rows(found: Found, printed: Printed, quoted: Mapping[str, float]) -> list[Row]:
    """Return rows without a verdict, of all that is not in the table; the document may quote a number."""
    return [
        row(name, quoted.get(name), values.mean(axis=1), REFERENCE if name in quoted else NO_NUMBER)
        for name, values in found.items()
        if _without_reading(name) not in printed
    ]


def draw_accuracies(ax: Axes, found: Mapping[str, Any], printed: Printed) -> None:
    """Draw the accuracy of all classifiers, with the printed ones."""
    names = list(dict.fromkeys(_without_reading(name) for name in found))
    look: dict[str, Any] = {"markersize": 4, "capsize": 2, "linewidth": 1}
    places = [names.index(name) for name in printed]
    ax.errorbar(
        [mean for mean, _ in printed.values()],
        np.array(places) - 0.22,
        xerr=[deviation for _, deviation in printed.values()],
        fmt="x",
        color="#222222",
        label="printed",
        **look,
    )
    plain = "others" if any(_without_reading(name) != name for name in found) else "ours"
    kinds = {reading: COLORS[i] for i, reading in enumerate(READINGS)} | {"": COLORS[2]}
    for i, (kind, color) in enumerate(kinds.items()):
        chosen = [name for name in found if name.endswith(kind) and (kind or _without_reading(name) == name)]
        values = [np.array(found[name]).mean(axis=1) for name in chosen]
        if chosen:
            ax.errorbar(
                [part.mean() for part in values],
                np.array([names.index(_without_reading(name)) for name in chosen]) + (0.0, 0.22, 0.0)[i],
                xerr=[part.std(ddof=1) if len(part) > 1 else 0.0 for part in values],
                fmt="o",
                color=color,
                label=f"ours, {kind}" if kind else plain,
                **look,
            )
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.invert_yaxis()
    ax.grid(axis="x", color="0.9")
    ax.set_xlabel("accuracy in %, test (bar: standard deviation)")


def draw_sweep(ax: Axes, weights: Array, found: Mapping[str, Any]) -> None:
    """Draw the accuracy over the label weight, one line for each map: found (repeats, folds) by map and weight."""
    for (name, sweep), color in zip(found.items(), COLORS):
        values = np.array(sweep).mean(axis=2)  # (weights, repeats)
        error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        mean = values.mean(axis=1)
        ax.fill_between(weights, mean - error, mean + error, color=color, alpha=0.2, linewidth=0)
        ax.plot(weights, mean, "o-", markersize=3, linewidth=1.4, color=color, label=name)
    ax.set(xlabel="label weight", ylabel="accuracy in %, test (band: standard error)")


def _without_reading(name: str) -> str:
    return next((name.removesuffix(f", {reading}") for reading in READINGS if name.endswith(reading)), name)
