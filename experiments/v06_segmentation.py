"""V6: supervised views of UCI image segmentation.

Protocol (Bunte 2011, sec. 7.3.3, table 7.1, figs. 7.9-7.11): all 2310 samples, 16 features scaled to variance one,
7 classes; local matrices of rank M = 2 or 3 for one prototype of each class, 10 runs. Views as in V4, and linear
discriminant analysis (LDA). MVU was not run there, since the graph of neighbors needs 46 of them. Table 7.1 prints
0.85 for t-SNE; that of SNE is 0.11, so 0.085 must be meant.

Classifiers, settings and their choice see `experiments._plus_views`. Held-out errors are not in the document.

Rule, fixed before the run: as V4; the number of neighbors for a connected graph is reproduced within NEIGHBORS. M = 3
is "lower" if the error of Isomap+, LLE+ and SNE+ is, as printed. Isomap+ "loses classes with few neighbors" if the
graph of 10 learned neighbors is not connected in most runs (scikit-learn joins its parts, so that none is lost here).
Sky and grass are "well separated", and foliage and window "hard", if these have the two lowest and the two highest
errors of the seven classes in the views of SNE+, M = 2, in the mean of all classifiers. The intrinsic dimension is "3"
within 0.5, by the mean of maximum likelihood estimates from 6 to 12 neighbors.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from experiments._lvq import segmentation
from experiments._plus_views import (
    CHARTING,
    DISCRIMINANT,
    METHODS,
    NAIVE,
    PRINCIPAL,
    RUNS,
    SETTINGS,
    Found,
    Task,
    all_runs,
    best,
    claim_rows,
    draw_pairs,
    error_rows,
    held_out_rows,
    points_to_draw,
    setting_rows,
)
from experiments._protocol import Array, repeat, z_transform
from experiments._report import SKIPPED, Result, Row, holds, judge, report, row
from protolearn import LGMLVQ
from protolearn.embedding import discriminative_distances
from protolearn.metrics import intrinsic_dimension

TITLE = "segmentation, supervised views"
NEIGHBORS = 5
FEW = 10
PRINTED = {
    NAIVE: (0.07, 0.0),
    CHARTING: (0.13, 0.0),
    "XOM": (0.25, 0.0),
    "XOM+, M = 2": (0.11, 0.0),
    "XOM+, M = 3": (0.11, 0.0),
    "Isomap": (0.23, 0.0),
    "Isomap+, M = 2": (0.18, 0.1),
    "Isomap+, M = 3": (0.13, 0.1),
    "LLE": (0.36, 0.0),
    "LLE+, M = 2": (0.25, 0.1),
    "LLE+, M = 3": (0.19, 0.0),
    "SNE": (0.11, 0.0),
    "SNE+, M = 2": (0.10, 0.0),
    "SNE+, M = 3": (0.09, 0.0),
    "t-SNE": (0.085, 0.0),
    PRINCIPAL: (0.31, 0.0),
    DISCRIMINANT: (0.20, 0.0),
    "LVQ, M = 2": (0.08, 0.0),
    "LVQ, M = 3": (0.07, 0.0),
}
CONNECTED = 48
DIMENSION = 3
# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "naive": "each class has axes of its own, so that classes may fall on each other, by chance",
    "kinds of views": "LLE with 6 neighbors has a lower error than LLE+ and the printed LLE; its views are near lines",
    "M = 2 and 3": "SNE+ and XOM+ gain, Isomap+ and LLE+ do not; all errors are below the printed ones",
    "connected graph": "of neighbors in either direction; how the document counts is not said",
    "classes with the lowest": "path is as good as sky, and grass comes third",
    "intrinsic": "without samples that are there twice; the document may have taken other neighbors",
    "1-NN error": "better than printed",
}


def run(quick: bool = False) -> Result:
    files = segmentation()
    if files is None:
        return report({"data": "missing"}, [row("table 7.1", "1-NN errors", None, SKIPPED)])
    (X_train, y_train), (X_test, y_test), _, classes = files
    (X,), y = z_transform(np.vstack([X_train, X_test])), np.concatenate([y_train, y_test])
    if quick:
        X, y = X[::8], y[::8]
    runs = all_runs(Task(X, y, 1, {2: METHODS, 3: METHODS[:-1]}), quick)
    views = runs.points["SNE+, M = 2", best(runs.errors, "SNE+, M = 2")[0]]
    rows = [
        *error_rows(runs.errors, PRINTED),
        *claim_rows(runs.errors),
        *rank_rows(runs.errors),
        *graph_rows(X, y),
        *class_rows(views, y, classes),
        dimension_row(X),
        *held_out_rows(runs.held_out),
        *setting_rows(runs.errors),
    ]
    return report(
        SETTINGS | {"data": "UCI image segmentation, both parts, 16 features, z-transform"},
        rows,
        points_to_draw(runs, y),
    )


def rank_rows(found: Found) -> list[Row]:
    """Return a row on which views gain by matrices of rank 3."""
    kinds = ("Isomap", "LLE", "SNE")
    pairs = {kind: [best(found, f"{kind}+, M = {rank}")[1].mean() for rank in (2, 3)] for kind in kinds}
    text = "; ".join(f"{kind} {two:.3f}, {three:.3f}" for kind, (two, three) in pairs.items())
    lower = all(three < two for two, three in pairs.values())
    return [row("1-NN error with M = 2 and 3", "lower for 3", text, holds(lower))]


def graph_rows(X: Array, y: Array) -> list[Row]:
    """Return rows on the graphs of neighbors."""
    needed = next(k for k in range(1, len(X)) if connected_components(kneighbors_graph(X, k), directed=False)[0] == 1)
    parts = np.array(repeat(learned_parts, range(RUNS), X, y))
    return [
        row("neighbors for a connected graph", CONNECTED, needed, judge(needed, CONNECTED, NEIGHBORS, False)),
        row(
            f"parts of the graph of {FEW} learned neighbors, M = 2",
            "classes are lost",
            parts,
            holds(np.median(parts) > 1),
        ),
    ]


def learned_parts(seed: int, X: Array, y: Array) -> int:
    """Return the number of parts of the graph of few learned neighbors."""
    lvq = LGMLVQ(1, n_components=2, metric_init="random", random_state=seed).fit(X, y)
    graph = kneighbors_graph(discriminative_distances(lvq, X), FEW, metric="precomputed")
    return int(connected_components(graph, directed=False)[0])


def class_errors(Y: Array, y: Array) -> list[float]:
    """Return the 1-NN error of each class."""
    nearest = NearestNeighbors(n_neighbors=1).fit(Y).kneighbors(return_distance=False)[:, 0]
    return [float((y[nearest] != label)[y == label].mean()) for label in np.unique(y)]


def class_rows(views: list[Array], y: Array, classes: list[str]) -> list[Row]:
    """Return rows on which classes are well separated, and which are not."""
    errors = np.mean([class_errors(Y, y) for Y in views], axis=0)
    order = [classes[label] for label in np.argsort(errors, kind="stable")]
    text = ", ".join(f"{name} {error:.3f}" for name, error in sorted(zip(order, np.sort(errors)), key=lambda p: p[1]))
    found = [{name.lower() for name in part} for part in (order[:2], order[-2:])]
    return [
        row("classes with the lowest errors, SNE+, M = 2", "sky, grass", text, holds(found[0] == {"sky", "grass"})),
        row(
            "classes with the highest errors, SNE+, M = 2",
            "foliage, window",
            ", ".join(sorted(found[1])),
            holds(found[1] == {"foliage", "window"}),
        ),
    ]


def dimension_row(X: Array) -> Row:
    unique = np.unique(X, axis=0)  # some samples are there twice
    found = float(intrinsic_dimension(unique))
    return row("intrinsic dimension", DIMENSION, found, judge(found, DIMENSION, 0.5, False))


def draw(result: Result) -> Figure:
    return draw_pairs(result["data"])
