"""M7: nine artificial manifolds, charted.

Protocol (Arnonkijpanich 2010, sec. 5.3, tables 5.1 and 5.2, figs. 5.1-5.4): nine manifolds of 2000 points in three
dimensions (HD: five in ten), each shown in two dimensions (HD: five) by charting with matrix NG (MNG) and with mixtures
of probabilistic PCA (MoPPCA) as local models, by Isomap and by LLE, the latter two with the best number of neighbors
from 20 to 40; 10 runs with fresh samples. Leave-one-out 1-NN error of classes on the manifold, in the data ("None") and
in the views, and trustworthiness with 12 neighbors.

The generators of the document are taken from what it cites, and the rules for classes, which it does not give, such
that the error in the data is about as printed; see protolearn.datasets. Cornerplanes has 2115 points, HD 3125. The
document starts MNG with a range of n / 2 and, as it seems, once; then a chart often bridges two windings of a roll and
spoils the view. Here the range starts at 1 from random samples, and of RESTARTS local models the one is taken whose
charts come nearest to isometries. These settings were chosen on rolls of the seeds 100 to 102; no other set was tuned,
and all seeds here are others. The document also has no rescaling of the view. There are RUNS runs instead of ten.
Isomap and LLE have three numbers of neighbors (20, 30, 40), and run in the first FEW runs only; a second fit, below,
is made in the first run.

Beyond the document: locally linear coordination (LLC) of the same charts; new samples, 1000 of a second sample, placed
by the fitted view, with their 1-NN error among the training samples (on grids the second sample has the same nodes and
other noise, so that their errors are lower; the classes of twinpeaks depend on the lowest sample, so that those of the
second sample are a little shifted); the way back from the view; and how far the places of new samples are from those in
a second fit to both samples, after the best similarity for each piece of the view (0: equal, 1: nothing in common).

Rule, fixed before the run, when two runs of other seeds had been seen: a value is reproduced if its mean is at most one
printed standard deviation worse than the printed mean, or better; errors in the data if they are within a point or one
standard deviation. A manifold is "reproduced" if both the error and the trustworthiness of MNG with charting are; at
least TARGET of nine shall be. LLC has no verdict.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import procrustes

from experiments._charted import (
    CHARTED,
    COORDINATIONS,
    MEASURES,
    MIXTURE,
    MNG,
    SETTINGS,
    best_charting,
    charted,
    held_out_error,
    local_models,
    measured,
    neighbor_view,
    no_worse,
    spread_row,
    way_back,
)
from experiments._protocol import Array, canvas, repeat
from experiments._report import NO_NUMBER, Result, Row, holds, judge, report, row
from protolearn import Charting, datasets
from protolearn.metrics import nearest_neighbor_error

TITLE = "artificial manifolds"
RUNS, FEW = 3, 2
RESTARTS = {"swissrole": 20, "swissrole with hole": 20}  # of MNG; elsewhere OTHER_RESTARTS
OTHER_RESTARTS, MIXTURE_RESTARTS = 10, 4
N_NEW = 1000
TARGET = 7
NONE = "None"
SEEN_FROM = np.array([[0.94, -0.3, 0.16], [0.1, 0.5, 0.86]])  # directions across and up for the picture of the data
SHOWN = 125  # points of a view in the picture
CHARTED_NAMES = {MNG: CHARTED[0], MIXTURE: CHARTED[2]}  # by name in the document
SETS: dict[str, tuple[Any, dict[str, bool], int, int]] = {  # generator, its options, charts, dimensions of the view
    "swissrole": (datasets.make_swiss_roll, {}, 12, 2),
    "swissrole with hole": (datasets.make_swiss_roll, {"hole": True}, 16, 2),
    "broken swissrole": (datasets.make_swiss_roll, {"broken": True}, 32, 2),
    "toroidal helix": (datasets.make_toroidal_helix, {}, 60, 2),
    "twinpeaks": (datasets.make_twin_peaks, {}, 32, 2),
    "cornerplanes": (datasets.make_corner_planes, {}, 8, 2),
    "punctured sphere": (datasets.make_punctured_sphere, {}, 50, 2),
    "gaussian shape": (datasets.make_gaussian_surface, {}, 16, 2),
    "HD": (datasets.make_hd_manifold, {}, 32, 5),
}
ERRORS = {  # 1-NN error, mean and standard deviation: in the data, LLE, Isomap, MoPPCA, MNG
    "swissrole": ((3.36, 0.40), (27.10, 1.69), (19.84, 14.18), (6.07, 5.83), (3.87, 0.60)),
    "swissrole with hole": ((3.28, 0.12), (21.06, 1.22), (11.92, 4.28), (3.20, 0.45), (3.66, 0.25)),
    "broken swissrole": ((4.23, 0.50), (27.23, 2.63), (23.52, 2.18), (29.98, 15.16), (14.50, 4.92)),
    "toroidal helix": ((1.29, 0.35), (4.36, 2.13), (12.72, 15.19), (1.42, 0.32), (2.00, 0.61)),
    "twinpeaks": ((0.73, 0.25), (1.36, 0.43), (0.45, 0.21), (0.80, 0.25), (1.38, 0.57)),
    "cornerplanes": ((10.38, 0.60), (10.60, 0.39), (10.59, 0.55), (10.58, 0.72), (10.74, 0.65)),
    "punctured sphere": ((6.64, 0.68), (19.49, 1.64), (14.49, 1.48), (18.98, 3.27), (9.29, 1.28)),
    "gaussian shape": ((6.30, 0.08), (6.26, 0.08), (6.28, 0.11), (6.26, 0.08), (8.35, 1.02)),
    "HD": ((23.73, 0.80), (22.93, 1.13), (21.73, 1.36), (32.01, 7.34), (28.53, 3.40)),
}
TRUST = {  # trustworthiness: LLE, Isomap, MoPPCA, MNG
    "swissrole": ((0.8753, 0.0033), (0.9284, 0.0692), (0.9734, 0.0595), (0.9993, 0.0013)),
    "swissrole with hole": ((0.8905, 0.0099), (0.9619, 0.0103), (0.9994, 0.0012), (0.9999, 0.0002)),
    "broken swissrole": ((0.8409, 0.0115), (0.9526, 0.0083), (0.8990, 0.1045), (0.9139, 0.0572)),
    "toroidal helix": ((0.9940, 0.0059), (0.9118, 0.1212), (1.0, 0.0), (0.9975, 0.0035)),
    "twinpeaks": ((0.9949, 0.0016), (0.9997, 0.0003), (0.9941, 0.0009), (0.9875, 0.0084)),
    "cornerplanes": ((1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)),
    "punctured sphere": ((0.9727, 0.0077), (0.9970, 0.0004), (0.9871, 0.0026), (0.9997, 0.0006)),
    "gaussian shape": ((1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.9985, 0.0020)),
    "HD": ((1.0, 0.0), (1.0, 0.0), (0.9906, 0.0110), (0.9955, 0.0043)),
}
COLUMNS = ("LLE", "Isomap", MIXTURE, MNG)
REMARKS = {  # why a row is not reproduced, by a phrase of its quantity
    "punctured sphere, M": (
        "the coordinates of space are linear on every chart, so that charts agree on them almost exactly: the view is "
        "a projection (R² 1.00), which folds at the equator. Its cost is 1e-5, that of the unrolled disc 2e-4, so that "
        "no minimum of the printed cost is unrolled: 20 to 100 charts, starts from ranges of 1 and half the charts, "
        "and shares by ranks have errors of 9 to 20 % and a trustworthiness of at most 0.973. On the lower half of the "
        "sphere, where the projection does not fold, the error is 8.2 ± 0.8 % and the trustworthiness 0.998 (0.9996 by "
        "ranks). Isomap, too, points to data that end near the equator: its trustworthiness is printed as 0.997, and "
        "here 0.9996 on the lower half, 0.994 with a disc of radius 2.5, and 0.977 with all"
    ),
    "toroidal helix, MNG": (
        "the view has small loops, where the second direction of the charts of a curve is noise; MoPPCA has none"
    ),
    "toroidal helix, MoPPCA": "as the document has a standard deviation of 0, no difference is allowed",
    "Isomap": "the neighbors are chosen among three numbers, by the 1-NN error",
    "LLE": "the neighbors are chosen among three numbers, by the 1-NN error",
    "MoPPCA": "cause not found; the document used other code",
}

Found = dict[str, dict[str, list[Any]]]  # by manifold and quantity: values of all runs


def run(quick: bool = False) -> Result:
    jobs = all_jobs(quick)
    return result_of(jobs, repeat(one_run, jobs, quick))


def all_jobs(quick: bool) -> list[tuple[str, int]]:
    """Return manifolds and seeds, the first run of all manifolds first."""
    return [(name, seed) for seed in range(1 if quick else RUNS) for name in SETS]


def one_run(job: tuple[str, int], quick: bool) -> dict[str, Any]:
    """Return error and trustworthiness of all views, what new samples give, and, in the first run, points to draw."""
    name, seed = job
    make, options, n_charts, n_components = SETS[name]
    X, coordinates, y = make(random_state=seed, **options)
    more, _, labels = make(random_state=1000 + seed, **options)
    chosen = np.random.RandomState(seed).permutation(len(more))[:N_NEW]
    new, new_labels = more[chosen], labels[chosen]
    restarts = 1 if quick else RESTARTS.get(name, OTHER_RESTARTS)
    starts = {MNG: range(restarts), MIXTURE: range(1 if quick else MIXTURE_RESTARTS)}
    found: dict[str, Any] = {NONE: 100 * nearest_neighbor_error(X, y, n_jobs=1)}
    found |= {"new None": held_out_error(X, y, new, new_labels)}
    views = charted(X, n_charts, n_components, starts)
    points = {key: charting.embedding_ for key, charting in views.items()}
    if seed < FEW:
        points |= {key: neighbor_view(key, X, y, n_components) for key in COLUMNS[:2]}
    found |= {key: measured(X, Y, y) for key, Y in points.items()}
    for key, charting in views.items():
        placed = charting.transform(new)
        found |= {
            f"new {key}": held_out_error(charting.embedding_, y, placed, new_labels),
            f"defect {key}": charting.isometry_defect_,
            f"back {key}": (way_back(charting, X), way_back(charting, new)),
        }
    if not seed:
        both = np.concatenate([X, new])
        models = local_models(MNG, n_charts, n_components, both, starts[MNG])
        for coordination, words in COORDINATIONS.items():
            again = best_charting(models, n_components, both, coordination)
            first = views[f"{MNG}, {words}"]
            found[f"refit {MNG}, {words}"] = moved(first, new, again.embedding_[len(X) :])
    if not seed:
        some = np.linspace(0, len(X) - 1, SHOWN).astype(int)
        found["drawn"] = {"data": X[some, :3].round(2), "color": coordinates[some, 0].round(2)}
        found["drawn"] |= {"views": {key: (Y[some, :2] / Y[:, :2].std()).round(2) for key, Y in points.items()}}
    print(
        f"{name}, seed {seed}: " + ", ".join(f"{key} {found[key].error:.2f} {found[key].trust:.4f}" for key in points)
    )
    return found


def moved(charting: Charting, new: Array, refitted: Array) -> float:
    """Return how far places of samples are from those in another fit, after the best similarity for each piece."""
    placed = charting.transform(new)
    piece = charting.groups_[charting.charts_.shares(new).argmax(axis=1)]
    parts = [piece == number for number in np.unique(piece) if (piece == number).sum() > placed.shape[1] + 1]
    return float(sum(procrustes(refitted[part], placed[part])[2] * part.sum() for part in parts) / len(new))


def result_of(jobs: list[tuple[str, int]], outcomes: list[dict[str, Any]]) -> Result:
    found: Found = {}
    for (name, _), one in zip(jobs, outcomes):
        for key, value in one.items():
            found.setdefault(name, {}).setdefault(key, []).append(value)
    drawn = {name: of.pop("drawn")[0] for name, of in found.items()}
    rows = [line for name in found for line in table_rows(name, found[name])]
    rows += claim_rows(found)
    rows += [line for name in found for line in our_rows(name, found[name])]
    settings = {
        "runs": {name: len(of[NONE]) for name, of in found.items()},
        "runs of Isomap and LLE": FEW,
        "seeds": "run number",
        "restarts": f"MNG {RESTARTS}, else {OTHER_RESTARTS}; MoPPCA {MIXTURE_RESTARTS}",
        **SETTINGS,
        "rule": "one printed standard deviation, to the printed digits",
    }
    return report(settings, rows, {"drawn": drawn})


def values(found: dict[str, list[Any]], column: str, measure: int) -> Array:
    """Return a measure of all runs, by the name of a column in the document."""
    return np.array([one[measure] for one in found[CHARTED_NAMES.get(column, column)]])


def as_good(name: str, found: dict[str, list[Any]], key: str) -> bool:
    """Say whether error and trustworthiness of a view are no worse than printed for MNG."""
    printed = ERRORS[name][-1], TRUST[name][-1]
    return all(no_worse(printed[i], values(found, key, i), i) for i in range(2))


def table_rows(name: str, found: dict[str, list[Any]]) -> list[Row]:
    """Return a row for each entry of the printed tables."""
    error, deviation = ERRORS[name][0]
    same = judge(found[NONE], error, max(deviation, 1.0), False)
    rows = [row(f"{name}, in the data, {MEASURES[0]}", f"{error:g} ± {deviation:g}", found[NONE], same)]
    for i, measure in enumerate(MEASURES):
        printed = dict(zip(COLUMNS, (ERRORS[name][1:], TRUST[name])[i]))
        for column in COLUMNS:
            words = CHARTED_NAMES.get(column, column)
            rows.append(spread_row(f"{name}, {words}, {measure}", printed[column], values(found, column, i), i))
    return rows


def claim_rows(found: Found) -> list[Row]:
    """Return rows on how many manifolds are reproduced, and on what the document says of all."""
    mng, other = CHARTED[:2]
    good = [name for name in found if as_good(name, found[name], mng)]
    wanted = f"at least {TARGET} of 9"
    rows = [row(f"manifolds reproduced by {mng}", wanted, f"{len(good)}", holds(len(good) >= TARGET))]
    also = [name for name in found if as_good(name, found[name], other)]
    rows.append(row(f"manifolds reproduced by {other}", wanted, f"{len(also)}", NO_NUMBER))
    for rolled in ("swissrole", "swissrole with hole", "broken swissrole"):
        means = {column: values(found[rolled], column, 1).mean() for column in COLUMNS}
        text = ", ".join(f"{column} {mean:.4f}" for column, mean in means.items())
        better = means[MNG] > max(means["LLE"], means["Isomap"])
        expected = rolled != "broken swissrole"  # there Isomap is printed as better
        verdict = holds(better) if expected else NO_NUMBER
        rows.append(row(f"{rolled}, trustworthiness of MNG above LLE and Isomap", "yes", text, verdict))
    return rows


def our_rows(name: str, found: dict[str, list[Any]]) -> list[Row]:
    """Return rows without a verdict: LLC, new samples, the way back and a second fit."""
    rows = []
    for key in CHARTED:
        if key not in CHARTED_NAMES.values():
            rows += [
                row(f"{name}, {key}, {measure}", None, values(found, key, i), NO_NUMBER)
                for i, measure in enumerate(MEASURES)
            ]
    rows.append(row(f"{name}, in the data, 1-NN error of new samples, %", None, found["new None"], NO_NUMBER))
    for key in CHARTED:
        back = np.array(found[f"back {key}"])
        rows += [
            row(f"{name}, {key}, 1-NN error of new samples, %", None, found[f"new {key}"], NO_NUMBER),
            row(f"{name}, {key}, squared error of the way back, training samples", None, back[:, 0], NO_NUMBER),
            row(f"{name}, {key}, squared error of the way back, new samples", None, back[:, 1], NO_NUMBER),
            row(f"{name}, {key}, isometry defect", None, found[f"defect {key}"], NO_NUMBER),
        ]
        if f"refit {key}" in found:
            quantity = f"{name}, {key}, difference of new samples to a second fit"
            rows.append(row(quantity, None, found[f"refit {key}"], NO_NUMBER))
    return rows


def draw(result: Result) -> Figure:
    """Draw the first run: the data and all views, colored by the first coordinate on the manifold."""
    drawn = result["data"]["drawn"]
    names = ("data", CHARTED[2], *CHARTED[:2], *COLUMNS[1::-1])
    figure, axes = canvas(len(drawn), len(names), (2.0, 1.8))
    for line, (name, one) in zip(axes, drawn.items()):
        look: dict[str, Any] = {"c": one["color"], "cmap": "viridis", "s": 5, "linewidth": 0}
        for ax, key in zip(line, names):
            points = np.array(one["data"] if key == "data" else one["views"][key])
            ax.set(xticks=[], yticks=[], title=key if name == "swissrole" else "")
            if key == "data":
                ax.set_ylabel(name, fontsize=8)
                points = points @ SEEN_FROM.T
            ax.scatter(*points[:, :2].T, **look)
            if key != "data":
                ax.set_aspect("equal", adjustable="datalim")
            ax.spines[:].set_color("0.85")
    return figure
