"""What the experiments on t-SNE with the gamma divergence share: one start for all divergences, paired comparisons."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import ttest_1samp
from sklearn.decomposition import PCA

from experiments._lvq import COLORS
from experiments._protocol import Array
from experiments._report import NO_NUMBER, Row, holds, row
from protolearn import TSNE
from protolearn.embedding.divergences import Divergence, Gamma, KullbackLeibler
from protolearn.metrics import nearest_neighbor_error, view_quality

__all__ = [
    "GAMMAS",
    "NAMES",
    "SETTINGS",
    "Views",
    "draw_curves",
    "draw_errors",
    "error_rows",
    "errors_of",
    "gain_row",
    "mean_curves",
    "method_rows",
    "quality_rows",
    "views_from",
    "whitened",
]

GAMMAS = (0.2, 0.4, 0.8, 1.2, 1.6, 2.0)
DIVERGENCES: dict[str, Divergence] = {"KL": KullbackLeibler()} | {f"gamma {g}": Gamma(g) for g in GAMMAS}
NAMES = tuple(DIVERGENCES)
N_COMPONENTS = 30
START = 1e-4  # standard deviation of the first positions
EARLY, LATER = 250, 500  # iterations
SIGNIFICANT = 0.05
FEW_SIZES = (5, 25, 100)  # of neighborhoods

SETTINGS = {
    "data": f"principal components ({N_COMPONENTS}) of the centered images, each scaled to unit variance",
    "starts": f"normal values times {START}, seed = number of the start, shared by all divergences and perplexities",
    "gamma": list(GAMMAS),
    "optimization": f"defaults of the library: {EARLY} iterations of exaggerated KL, which are the same for all "
    f"divergences and run once for each start and perplexity, then {LATER} iterations; nothing tuned",
    "method": "'fast', three neighbors for each unit of perplexity",
    "1-NN error": "leave-one-out, in the view",
    "test": f"paired t test over starts, two-sided, level {SIGNIFICANT}; without a difference of means p = 1",
}


class Views(NamedTuple):
    """What comes of one start."""

    errors: Array  # (perplexities, divergences)
    q: Array  # (divergences, sizes of neighborhoods), at the perplexity that is shown
    b: Array
    points: Array  # (divergences, n, 2)


def whitened(images: Array) -> Array:
    """Return the principal components (n, 30) of images, all with unit variance."""
    return PCA(N_COMPONENTS, whiten=True, random_state=0).fit_transform(images.reshape(len(images), -1) / 255.0)


def views_from(seed: int, X: Array, y: Array, perplexities: tuple[float, ...], shown: float) -> Views:
    """Return the views of all divergences from one start."""
    first = START * np.random.RandomState(seed).normal(size=(len(X), 2))
    points = {p: arranged(X, first, p, NAMES) for p in perplexities}
    errors = [[nearest_neighbor_error(Y, y) for Y in points[p]] for p in perplexities]
    quality = [view_quality(X, Y, n_jobs=1) for Y in points[shown]]
    q, b = (np.array([getattr(one, name) for one in quality]) for name in ("q_nx", "b_nx"))
    return Views(np.array(errors), q, b, np.array(points[shown]))


def arranged(X: Array, first: Array, perplexity: float, names: Any, method: str = "fast") -> list[Array]:
    """Return the views of the named divergences, which share the start and the exaggerated iterations."""
    options: dict[str, Any] = {"perplexity": perplexity, "method": method, "n_jobs": 1}
    early = TSNE(init=first, early_exaggeration_iter=EARLY, max_iter=EARLY, **options).fit_transform(X)
    options |= {"init": early, "early_exaggeration_iter": 0, "max_iter": LATER}
    return [TSNE(divergence=DIVERGENCES[name], **options).fit_transform(X) for name in names]


def errors_of(runs: list[Views]) -> Array:
    """Return the 1-NN errors in per cent (starts, perplexities, divergences)."""
    return 100 * np.array([one.errors for one in runs])


def gain_row(quantity: str, document: str, gain: Array) -> Row:
    """Return a row on a paired difference (starts,) that is to be above zero, and significantly so."""
    p = p_value(gain)
    text = f"{gain.mean():.3g} ± {gain.std(ddof=1) if len(gain) > 1 else 0:.2g}, p = {p:.2g}"
    return row(quantity, document, text, holds(gain.mean() > 0 and p < SIGNIFICANT))


def p_value(gain: Array) -> float:
    """Return how likely so large a mean of paired differences is if there is none."""
    if len(gain) < 2 or np.ptp(gain) == 0:
        return 1.0 if gain.mean() == 0 or len(gain) < 2 else 0.0
    return float(ttest_1samp(gain, 0.0).pvalue)


def error_rows(errors: Array, perplexities: Any) -> list[Row]:
    """Return rows with errors of KL and of the best gamma, and how many gammas differ from KL significantly."""
    rows = []
    for i, perplexity in enumerate(perplexities):
        mean = errors[:, i].mean(axis=0)
        best = 1 + int(mean[1:].argmin())
        gains = errors[:, i, :1] - errors[:, i, 1:]
        sure = [np.sign(gain.mean()) for gain in gains.T if p_value(gain) < SIGNIFICANT]
        words = f"perplexity {perplexity:g}"
        rows += [
            row(f"{words}: 1-NN error with KL, %", None, errors[:, i, 0], NO_NUMBER),
            row(f"{words}: 1-NN error with the best, {NAMES[best]}, %", None, errors[:, i, best], NO_NUMBER),
            row(
                f"{words}: gammas significantly better, worse than KL, of {len(GAMMAS)}",
                None,
                f"{sure.count(1)}, {sure.count(-1)}",
                NO_NUMBER,
            ),
        ]
    return rows


def mean_curves(runs: list[Views], names: Any) -> dict[str, dict[str, Array]]:
    """Return Q and B over the size of neighborhoods, as means over starts, thinned for a picture."""
    sizes = np.unique(np.geomspace(1, runs[0].q.shape[1], 60).astype(int))
    values = {measure: np.mean([getattr(one, measure) for one in runs], axis=0) for measure in ("q", "b")}
    return {
        measure: {name: np.column_stack([sizes, curve[NAMES.index(name), sizes - 1]]) for name in names}
        for measure, curve in values.items()
    }


def quality_rows(runs: list[Views]) -> list[Row]:
    """Return rows with Q and B at a few sizes of neighborhoods, for the record."""
    rows = []
    for measure in ("q", "b"):
        values = np.array([getattr(one, measure) for one in runs])  # (starts, divergences, sizes)
        for K in FEW_SIZES:
            for name in ("KL", "gamma 0.2", "gamma 1.2", "gamma 2.0"):
                ours = values[:, NAMES.index(name), K - 1]
                rows.append(row(f"{measure.upper()} of {K} neighbors, {name}", None, ours, NO_NUMBER))
    return rows


def method_rows(X: Array, y: Array, perplexity: float, names: Any, seeds: Any) -> list[Row]:
    """Return rows on whether all pairs, taken one by one, give the same errors as the fast method."""
    rows = []
    found = {}
    for method in ("fast", "exact"):
        starts = [START * np.random.RandomState(seed).normal(size=(len(X), 2)) for seed in seeds]
        views = [arranged(X, first, perplexity, names, method) for first in starts]
        found[method] = 100 * np.array([[nearest_neighbor_error(Y, y) for Y in one] for one in views])
    for i, name in enumerate(names):
        fast, exact = found["fast"][:, i], found["exact"][:, i]
        text = f"{exact.mean():.3g} and {fast.mean():.3g}"
        rows.append(row(f"perplexity {perplexity:g}, {name}: 1-NN error, exact and fast, %", None, text, NO_NUMBER))
    return rows


def draw_errors(ax: Axes, errors: Any, perplexities: Any, gammas: Any) -> None:
    """Draw the error over gamma, with that of KL as a line across, for each perplexity."""
    values = np.array(errors)
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros_like(mean)
    for i, (perplexity, color) in enumerate(zip(perplexities, COLORS)):
        ax.errorbar(gammas, mean[i, 1:], yerr=spread[i, 1:], fmt="o-", markersize=3, capsize=2, color=color)
        ax.axhline(mean[i, 0], color=color, linestyle="--", linewidth=1)
        ax.plot([], [], color=color, label=f"perplexity {perplexity:g}")
    ax.set(xlabel="gamma (dashed: KL)", ylabel="1-NN error in %")
    ax.legend(frameon=False, fontsize=8)


def draw_curves(ax: Axes, curves: Any, label: str) -> None:
    """Draw mean curves over the size of neighborhoods, by divergence."""
    for (name, values), color in zip(curves.items(), COLORS):
        sizes, curve = np.array(values).T
        ax.plot(sizes, curve, color=color, linewidth=1.3, label=name)
    ax.set_xscale("log")
    ax.set(xlabel="neighbors K", ylabel=label)
    ax.legend(frameon=False, fontsize=8)
