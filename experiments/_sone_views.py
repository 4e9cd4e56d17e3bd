"""What the experiments on self-organized neighbor embedding (SONE) share: measures of views over many starts."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import ttest_ind

from experiments._lvq import COLORS
from experiments._protocol import Array
from experiments._report import Row, holds, row
from protolearn.metrics import nearest_neighbor_error, view_quality

__all__ = ["OURS", "SETTINGS", "WINNERS", "Seen", "draw_mean_curve", "draw_view", "larger_row", "looked_at", "stacked"]

WINNERS = {
    "divergence": "winner by divergence, as printed",
    "mean": "winner by mean",
    "image": "nearest image wins",
}
OURS = "own neighborhoods, nearest image wins"
SIGNIFICANT = 0.05
SETTINGS = {
    "view": "two dimensions",
    "sigma": "a third of the distance of neighbor n_k, by perplexity where the document has it and by the defaults of "
    "the library. The mesh has a spacing of 10. The document gives neither; the spacing is the default of the library",
    "affinities": "of squared distances beyond that of the nearest neighbor, unless most samples have several of these "
    "(document: of squared distances). Offset and sigma are those of the winner, as printed, or with own neighborhoods "
    "those of each sample, as is the default of the library",
    "rate": "1 with a structure hypothesis; without one it falls from 0.3 to 0.01 (document: not given)",
    "1-NN error": "leave-one-out, in the view",
    "Sammon": "with the best factor for the size of the view",
    "t-SNE": "schedule of the library, random start",
    "test": f"Welch's t test over starts, two-sided, level {SIGNIFICANT}",
}


class Seen(NamedTuple):
    """A view and its measures."""

    points: Array
    error: float
    q: Array  # (sizes of neighborhoods,)
    b: Array
    auc: float
    sammon: float
    spearman: float
    pearson: float


def looked_at(model: Any, X: Array, y: Array, metric: str = "euclidean") -> Seen:
    """Fit a view and measure it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="perplexity")  # a published one may be large for the data
        points = model.fit_transform(X)
    found = view_quality(X, points, metric=metric, n_jobs=1)
    error = nearest_neighbor_error(points, y, n_jobs=1)
    distances = found.sammon_stress, found.spearman, found.pearson
    return Seen(points, error, found.q_nx, found.b_nx, found.auc, *distances)


def stacked(runs: list[Seen], measure: str) -> Array:
    """Return a measure of all runs as one array."""
    return np.array([getattr(one, measure) for one in runs])


def larger_row(quantity: str, document: str, larger: Array, smaller: Array) -> Row:
    """Return a row on a difference of means over starts that is to be above zero, and significantly so."""
    gain = float(larger.mean() - smaller.mean())
    p = float(ttest_ind(larger, smaller, equal_var=False).pvalue) if min(len(larger), len(smaller)) > 1 else np.nan
    return row(quantity, document, f"{gain:.3g}, p = {p:.2g}", holds(gain > 0 and p < SIGNIFICANT))


def draw_view(ax: Axes, points: Any, y: Any, title: str) -> None:
    """Draw a view with one color for each class."""
    x, up = np.array(points).T
    ax.scatter(x, up, s=6, c=[COLORS[i % len(COLORS)] for i in np.unique(y, return_inverse=True)[1]], linewidth=0)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_title(title, fontsize=9)


def draw_mean_curve(ax: Axes, curves: Any, color: str, name: str) -> None:
    """Draw a measure over the size of neighborhoods: mean over starts, with a band of one standard deviation."""
    values = np.array(curves)
    sizes, mean = np.arange(1, values.shape[1] + 1), values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else 0.0
    ax.fill_between(sizes, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
    ax.plot(sizes, mean, color=color, linewidth=1.3, label=name)
    ax.set(xlabel="neighbors K", xscale="log")
