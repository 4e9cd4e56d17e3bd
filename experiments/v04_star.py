"""V4: supervised views of a star with three tips.

Protocol (Bunte 2011, sec. 7.3.1, table 7.1, figs. 7.1-7.4): 3000 samples in ten dimensions, two overlapping classes of
three clusters each in a plane, and eight noisy features; local matrices of rank 2 for three prototypes of each class,
10 runs. Charting, XOM, Isomap, LLE, SNE and maximum variance unfolding (MVU) with Euclidean and with learned distances
(+), each with its best setting; t-SNE, PCA and kernel PCA beside them. The error of 1-NN in the view is measured with
the labels that the classifier was trained on.

The data of the document are not known. Here they are of `protolearn.datasets.make_three_tip_star`, whose shape was
chosen such that PCA has about the printed error; all other numbers are of other data than printed ones. Classifiers,
settings and their choice see `experiments._plus_views`: fixed after trials for timing on data of another seed, where
five views with one setting each were seen. t-SNE+ is not in the document. MVU runs on SUBSET samples, with classifiers
of these, and so has no verdict; MVU+ takes neighbors from the learned metric and their distances from the data, as the
document says, and (added later) both from the learned metric. Held-out errors (labels of half of the samples, errors of
the other half) are not in the document.

The naive projection has a mean and, added later, the lowest error of NAIVE_RUNS classifiers, on stars of DRAWS seeds:
the table prints "the best results", and for the naive projection a deviation of 0.0, while runs 2 and 6 of ten are said
to overlap, so that its 0.06 is the best of ten runs. On the data of the library no view has such an error, since the
nearest neighbor errs for about 0.10 in the plane of the star itself. WIDTHS adds a star of narrower clusters, where it
errs for about 0.05.

Rule, fixed before the run: an error without labels is reproduced within TOLERANCE, or the printed deviation if it is
larger; one with labels if it is not above the printed one by more. Otherwise "same order" if the supervised views of
that kind have lower errors than the plain one. The table says that learned distances lower the error of XOM, Isomap,
LLE and SNE.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import KernelPCA

from experiments._plus_views import (
    CHARTING,
    METHODS,
    NAIVE,
    PRINCIPAL,
    SETTINGS,
    TOLERANCE,
    Task,
    all_runs,
    claim_rows,
    draw_pairs,
    error_rows,
    held_out_rows,
    points_to_draw,
    scaled,
    setting_rows,
    trained,
    unfolding_rows,
    unfoldings,
)
from experiments._protocol import repeat
from experiments._report import NO_NUMBER, Result, Row, holds, judge, report, row
from protolearn.datasets import make_three_tip_star
from protolearn.embedding import local_projection
from protolearn.metrics import nearest_neighbor_error

TITLE = "three tip star, supervised views"
SUBSET = 300
NAIVE_RUNS, DRAWS = 10, 3
WIDTHS = (0.7, 0.55)  # of a cluster; the first is that of all other rows
PRINTED = {
    NAIVE: (0.06, 0.0),
    CHARTING: (0.14, 0.1),
    "XOM": (0.49, 0.0),
    "XOM+, M = 2": (0.25, 0.0),
    "Isomap": (0.36, 0.0),
    "Isomap+, M = 2": (0.20, 0.1),
    "LLE": (0.47, 0.0),
    "LLE+, M = 2": (0.34, 0.1),
    "SNE": (0.45, 0.0),
    "SNE+, M = 2": (0.14, 0.1),
    "t-SNE": (0.41, 0.0),
    PRINCIPAL: (0.29, 0.0),
    "LVQ, M = 2": (0.097, 0.0),
}
UNFOLDING = {"MVU": 0.40, "MVU+": 0.16}
KERNEL_PCA = 0.41
GAMMAS = (0.001, 0.01, 0.1)  # of kernel PCA
# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "naive projection, best": "at the error of the plane of the star, which these data are not better than",
    "naive": (
        "the mean of all runs; printed is the best of ten. Each prototype has axes of its own, so that fields of both "
        "classes may fall on each other, by chance: L-BFGS and the schedule of the document, common and separate "
        "starts, and axes as learned, canonical or aligned with each other all have means of 0.21 to 0.37"
    ),
    "kernel PCA": "better than printed; other data, and the document does not give its widths",
    "PCA": "other data; the error of PCA differs from sample to sample, 0.24 to 0.38",
    "Isomap": "other data; better than printed with more neighbors",
}


def run(quick: bool = False) -> Result:
    X, y = make_three_tip_star(40 if quick else 500, random_state=0)
    task = Task(X, y, 3, {2: METHODS})
    runs = all_runs(task, quick)
    kernel = min(nearest_neighbor_error(KernelPCA(2, kernel="rbf", gamma=g).fit_transform(X), y) for g in GAMMAS)
    rows = [
        *error_rows(runs.errors, PRINTED),
        row("1-NN error, kernel PCA", KERNEL_PCA, kernel, judge(kernel, KERNEL_PCA, TOLERANCE, False)),
        *naive_rows(quick),
        *claim_rows(runs.errors),
        *unfolding_rows(unfoldings(Task(X[:SUBSET], y[:SUBSET], 3, {})), UNFOLDING, judged=False),
        *held_out_rows(runs.held_out),
        *setting_rows(runs.errors),
    ]
    data = points_to_draw(runs, y)
    data["points"] = {"the plane of the star": scaled(X[np.array(data.pop("shown")), :2])} | data["points"]
    settings = SETTINGS | {"gamma of kernel PCA": GAMMAS, "MVU": f"first {SUBSET} samples, M = 2"}
    return report(settings, rows, data)


def naive_rows(quick: bool) -> list[Row]:
    """Return rows with the best naive projections, beside what the plane of the star allows."""
    jobs = [(width, seed) for width in WIDTHS for seed in range(1 if quick else DRAWS)]
    found = np.array(repeat(best_naive, jobs, quick)).reshape(len(WIDTHS), -1, 2)
    rows = []
    for width, (plane, naive) in zip(WIDTHS, found.transpose(0, 2, 1)):
        judged = width == WIDTHS[0]  # the other was chosen after a look at these errors
        error = PRINTED[NAIVE][0] if judged else None
        verdict = holds(float(naive.mean()) <= PRINTED[NAIVE][0] + TOLERANCE) if judged else NO_NUMBER
        rows += [
            row(f"1-NN error, plane of the star, clusters of width {width}", None, plane, NO_NUMBER),
            row(f"1-NN error, {NAIVE}, best of {NAIVE_RUNS} runs, clusters of width {width}", error, naive, verdict),
        ]
    return rows


def best_naive(job: tuple[float, int], quick: bool) -> tuple[float, float]:
    """Return the error in the plane of a star, and the lowest of the naive projections by several classifiers."""
    width, seed = job
    X, y = make_three_tip_star(40 if quick else 500, width=width, random_state=seed)
    task = Task(X, y, 3, {})
    lvqs = [trained(run, task, 2, False)[0] for run in range(2 if quick else NAIVE_RUNS)]
    errors = [nearest_neighbor_error(local_projection(lvq, X), y, n_jobs=1) for lvq in lvqs]
    print(f"star of width {width}, seed {seed}: naive {np.sort(errors).round(3)}", flush=True)
    return nearest_neighbor_error(X[:, :2], y, n_jobs=1), min(errors)


def draw(result: Result) -> Figure:
    return draw_pairs(result["data"])
