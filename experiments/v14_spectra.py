"""V14: views of many species, t-SNE and SONE.

Protocol (Bunte 2011, sec. 9.7.2, figs. 9.20 and 9.21): 3048 mass spectra of about 200 species of bacteria; t-SNE with
perplexity 15 shows some clusters apart and a crowded center, SONE is less crowded. There are no numbers, and neither
the settings nor the divergence of SONE are known: generalized Kullback-Leibler (GKL) and gamma are run.

The spectra are not public; make_spectra stands in for them (3048 samples, 40 genera of 5 species, Euclidean distances),
so that only the comparison of methods means something. All methods have the defaults of the library; nothing was
tuned. STARTS random starts.

Rule, fixed before the run. Crowding is the density of the inner disc of a view over that of the whole view: around the
median position, R is the distance that 95 % of the samples keep, and the share of samples within R / 2 is divided by
the share of the area, 0.95 / 4; a disc that is filled evenly has 1. The center is crowded above 1. SONE is less crowded
if its crowding is lower, and significantly so. A view without species is not a success: the 1-NN errors stand beside.
For the record also the species that overlap: those whose mean distance from their center is more than half of the
distance to the nearest other center. PCA was added later, to say how much of the species two linear components show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from experiments._protocol import Array, canvas, repeat
from experiments._report import ADDED, NO_NUMBER, Result, Row, holds, report, row
from experiments._sone_views import SETTINGS, Seen, draw_view, larger_row, looked_at, stacked
from protolearn import SONE, TSNE
from protolearn.datasets import make_spectra
from protolearn.embedding.divergences import Gamma
from protolearn.metrics import nearest_neighbor_error

TITLE = "views of many species"
STARTS = 5
PERPLEXITY = 15.0
GAMMA = 0.5
N_SPECIES = 5  # of a genus
EVERY = 4  # sample is drawn
REFERENCE_VIEW = "t-SNE, KL"
CLAIMED = ("t-SONE, GKL", "t-SONE, gamma")
PRINCIPAL = "PCA"  # added later
REMARKS = {
    "crowding of t-SNE": "with 200 small classes images of SONE lie more densely in the middle than those of t-SNE, "
    "but under the gamma divergence nearly all species are seen; the settings of the document are not known",
}


def run(quick: bool = False) -> Result:
    X, y = make_spectra(400, n_genera=8, random_state=0) if quick else make_spectra(random_state=0)
    runs = repeat(all_views, range(2 if quick else STARTS), X, y)
    return result_of(runs, y)


def all_views(seed: int, X: Array, y: Array) -> dict[str, Seen]:
    return {name: looked_at(model, X, y) for name, model in methods(seed).items()}


def methods(seed: int) -> dict[str, Any]:
    gamma = Gamma(GAMMA)
    tsne = {"perplexity": PERPLEXITY, "init": "random", "n_jobs": 1, "random_state": seed}
    return {
        REFERENCE_VIEW: TSNE(**tsne),
        "t-SNE, gamma": TSNE(divergence=gamma, **tsne),
        "t-SONE, GKL": SONE(random_state=seed),
        "t-SONE, gamma": SONE(divergence=gamma, random_state=seed),
        "SONE (Gaussian), GKL": SONE(kernel="gaussian", random_state=seed),
        PRINCIPAL: PCA(2, random_state=seed),
    }


def result_of(runs: list[dict[str, Seen]], y: Array) -> Result:
    found = {name: [one[name] for one in runs] for name in runs[0]}
    crowded = {name: np.array([crowding(one.points) for one in seen]) for name, seen in found.items()}
    lead = crowded[REFERENCE_VIEW]
    rows = [row(f"crowding, {REFERENCE_VIEW}", "above 1", lead, holds(lead.mean() > 1))]
    rows += [
        larger_row(f"crowding of {REFERENCE_VIEW} - of {name}", "above 0", lead, crowded[name]) for name in CLAIMED
    ]
    for name, seen in found.items():
        rows += record_rows(name, seen, y, crowded[name])
    settings = SETTINGS | {
        "data": "make_spectra, random_state 0",
        "perplexity": PERPLEXITY,
        "gamma": GAMMA,
        "starts": "seed = number of the start",
        "rule": "see the script",
    }
    points = {name: seen[0].points[::EVERY].round(3) for name, seen in found.items()}
    drawn = {"genus": y[::EVERY] // N_SPECIES, "points": points}
    return report(settings, rows, drawn | {"crowding": crowded})


def crowding(points: Array) -> float:
    """Return the density in the inner disc of a view over that of the whole view."""
    distances = np.linalg.norm(points - np.median(points, axis=0), axis=1)
    return float((distances <= np.quantile(distances, 0.95) / 2).mean() / (0.95 / 4))


def record_rows(name: str, seen: list[Seen], y: Array, crowded: Array) -> list[Row]:
    overlaps = [100 * overlap(one.points, y) for one in seen]
    genus = [nearest_neighbor_error(one.points, y // N_SPECIES, n_jobs=1) for one in seen]
    values = {
        "crowding": crowded,
        "species that overlap, %": overlaps,
        "1-NN error of species": stacked(seen, "error"),
        "1-NN error of genera": genus,
        "area under R": stacked(seen, "auc"),
    }
    if name == REFERENCE_VIEW:  # judged above
        del values["crowding"]
    verdict = ADDED if name == PRINCIPAL else NO_NUMBER
    return [row(f"{quantity}, {name}", None, ours, verdict) for quantity, ours in values.items()]


def overlap(points: Array, y: Array) -> float:
    """Return the share of classes whose spread is more than half of the distance to the nearest other one."""
    classes = [points[y == label] for label in np.unique(y)]
    centers = np.array([one.mean(axis=0) for one in classes])
    spreads = [np.linalg.norm(one - center, axis=1).mean() for one, center in zip(classes, centers)]
    apart = squareform(pdist(centers))
    np.fill_diagonal(apart, np.inf)
    return float((2 * np.array(spreads) > apart.min(axis=1)).mean())


def draw(result: Result) -> Figure:
    data = result["data"]
    figure, axes = canvas(1, len(data["points"]), (3.4, 3.5))
    for ax, (name, points) in zip(axes[0], data["points"].items()):
        title = f"{name}\ncrowding {np.mean(data['crowding'][name]):.2f} (colors: genera)"
        draw_view(ax, points, data["genus"], title)
    return figure
