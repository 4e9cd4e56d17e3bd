"""G4: matrices restricted to a band around the diagonal, for temporal signals.

The document (Biehl, Hammer, Schneider 2006, sec. 6) proposes, and leaves to the future, to restrict the matrix by prior
knowledge: in spatial or temporal data neighboring values are related and others are not, so that a band around the
diagonal may be enough, with a number of entries that is linear in that of the features. Two kinds of signals, both
generated, 150 and 600 training samples, 3000 test samples, 10 runs, defaults of the library but for the mask:

- rhythms: 50 values of three autoregressive processes of order two, alike in mean (0) and variance (1), that differ in
  their favorite frequency alone. Only products of neighboring values tell the classes apart. LGMLVQ.
- waveforms (Breiman et al. 1984): 21 values, three classes, each a random mixture of two of three triangles with noise
  that is independent from value to value, so that relations between them tell nothing. GMLVQ.

A half-width of 0 leaves the diagonal; the relevance matrix has twice the half-width of Omega. The rhythms were made
for this question: the diagonal must fail on them. Frequencies and damping were chosen in trial runs so that accuracies
lie between chance and one.

Rule, fixed before the full run: a band "is enough" if a half-width of JUDGED, the order of the processes, is at least
as accurate on test data, in the mean, as the full matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.signal import lfilter
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from experiments._lvq import COLORS, Samples, accuracy
from experiments._protocol import Array, canvas, repeat
from experiments._report import NO_NUMBER, Result, holds, report, row
from protolearn import GMLVQ, LGMLVQ

TITLE = "band matrices"
RUNS = 10
SIZES = (150, 600)
N_TEST = 3000
WIDTHS = (0, 1, 2, 4, None)  # None: full
JUDGED = 2
RHYTHMS, WAVEFORMS = "rhythms", "waveforms"
LEARNERS = {RHYTHMS: LGMLVQ, WAVEFORMS: GMLVQ}
FREQUENCIES = (0.1, 0.2, 0.3)
DAMPING = 0.6
LENGTH = 50
LAGS = 8


def run(quick: bool = False) -> Result:
    sizes = SIZES[:1] if quick else SIZES
    runs = repeat(one_run, range(2 if quick else RUNS), sizes)
    found = {key: np.array([part[0][key] for part in runs]) for key in runs[0][0]}
    rows = []
    for task in LEARNERS:
        for n in sizes:
            rows += task_rows(task, n, found)
    return report(
        settings={
            "runs": len(runs),
            "seeds": "run number, for samples",
            "half-widths": [label(width) for width in WIDTHS],
            "training samples": sizes,
            "rhythms": f"frequencies {FREQUENCIES}, damping {DAMPING}, {LENGTH} values",
            "method": "LGMLVQ for rhythms, GMLVQ for waveforms; defaults",
            "rule": f"half-width {JUDGED} at least as accurate as the full matrix",
        },
        rows=rows,
        data={"accuracies": {task: curves(task, found, sizes) for task in LEARNERS}, "profiles": runs[0][1]},
    )


def one_run(seed: int, sizes: tuple[int, ...]) -> tuple[dict[Any, Any], dict[str, Array]]:
    """Return accuracies by task, size and width, and the profiles of the last local matrices by width."""
    rng = np.random.RandomState(seed)
    found: dict[Any, Any] = {}
    profiles = {}
    for task, method in LEARNERS.items():
        test = MAKERS[task](N_TEST, rng)
        for n in sizes:
            train = MAKERS[task](n, rng)
            for width in WIDTHS:
                model: Any = method(mask=width, random_state=seed).fit(*train)
                found[task, n, width] = accuracy(model, train), accuracy(model, test)
                if task == RHYTHMS:
                    profiles[label(width)] = profile(model.relevance_matrix_)
            found[task, n, "LDA"] = accuracy(LinearDiscriminantAnalysis().fit(*train), test)
    found["best"] = best_for_rhythms(rng)
    return found, profiles


def rhythms(n: int, rng: np.random.RandomState) -> Samples:
    """Return n series (n, 50) of three autoregressive processes of unit variance, and their classes."""
    y = rng.permutation(np.arange(n) % len(FREQUENCIES))
    settle = 50
    X = np.empty((n, LENGTH))
    for code, frequency in enumerate(FREQUENCIES):
        rows = y == code
        a = coefficients(frequency)
        series = lfilter([1.0], a, rng.normal(size=(rows.sum(), settle + LENGTH)), axis=1)[:, settle:]
        X[rows] = series / stationary_deviation(a)
    return X, y


def coefficients(frequency: float) -> Array:
    """Return (1, a1, a2) of x_t + a1 x_(t-1) + a2 x_(t-2) = noise, with poles at a frequency."""
    return np.array([1.0, -2 * DAMPING * np.cos(2 * np.pi * frequency), DAMPING**2])


def stationary_deviation(a: Array) -> float:
    """Return the standard deviation of the process with noise of variance one."""
    impulse = np.zeros(200)
    impulse[0] = 1.0
    return float(np.sqrt((lfilter([1.0], a, impulse) ** 2).sum()))


def waveforms(n: int, rng: np.random.RandomState) -> Samples:
    """Return n waveforms (n, 21) of Breiman et al. (1984) and their classes."""
    y = rng.permutation(np.arange(n) % 3)
    triangles = np.maximum(6 - np.abs(np.arange(1, 22) - np.array([[7], [15], [11]])), 0)
    share = rng.uniform(size=(n, 1))
    pairs = np.array([(0, 1), (0, 2), (1, 2)])[y]
    X = share * triangles[pairs[:, 0]] + (1 - share) * triangles[pairs[:, 1]]
    return X + rng.normal(size=X.shape), y


MAKERS = {RHYTHMS: rhythms, WAVEFORMS: waveforms}


def best_for_rhythms(rng: np.random.RandomState) -> float:
    """Return nearly the best possible accuracy, that of quadratic discriminants from many samples."""
    return accuracy(QuadraticDiscriminantAnalysis().fit(*rhythms(30_000, rng)), rhythms(N_TEST, rng))


def profile(matrices: Array) -> Array:
    """Return the mean along each diagonal of the relevance matrices (s, N, N), relative to the main one (s, lags)."""
    means = [np.diagonal(matrices, lag, 1, 2).mean(axis=1) for lag in range(LAGS)]
    return np.stack(means, axis=1) / means[0][:, None]


def label(width: int | None) -> str:
    return "full" if width is None else str(width)


def n_entries(task: str, width: int | None) -> int:
    """Return the number of entries that can be learned, of all matrices together."""
    N, n_matrices = (LENGTH, 3) if task == RHYTHMS else (21, 1)
    b = N - 1 if width is None else width
    return n_matrices * (N * (2 * b + 1) - b * (b + 1))


def task_rows(task: str, n: int, found: dict[Any, Array]) -> list[Any]:
    rows = []
    start = f"{task}, {n} samples"
    for width in WIDTHS:
        name = "full matrix" if width is None else f"half-width {width}"
        values = found[task, n, width]
        entries = n_entries(task, width)
        rows.append(row(f"{start}, {name} ({entries} entries), training accuracy, %", None, values[:, 0], NO_NUMBER))
        rows.append(row(f"{start}, {name} ({entries} entries), test accuracy, %", None, values[:, 1], NO_NUMBER))
    rows.append(row(f"{start}, linear discriminants, test accuracy, %", None, found[task, n, "LDA"], NO_NUMBER))
    tests = {width: found[task, n, width][:, 1] for width in WIDTHS}
    gain = tests[JUDGED] - tests[None]
    quantity = f"{start}, half-width {JUDGED} above the full matrix, test, points"
    rows.append(row(quantity, "a band is enough (proposed)", gain, holds(gain.mean() >= 0)))
    if task == RHYTHMS:
        rows.append(row(f"{start}, best possible, test accuracy, %", None, found["best"], NO_NUMBER))
    return rows


def curves(task: str, found: dict[Any, Array], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return for each size the test accuracies (widths, runs)."""
    return {str(n): [found[task, n, width][:, 1] for width in WIDTHS] for n in sizes}


def draw(result: Result) -> Figure:
    """Draw two series of each class, the accuracies over the number of entries, and what the local matrices found."""
    figure, axes = canvas(1, 4, size=(4.0, 3.6))
    draw_series(axes[0, 0])
    for ax, task in zip(axes[0, 1:3], LEARNERS):
        draw_curves(ax, task, result["data"]["accuracies"][task])
    draw_profiles(axes[0, 3], {key: np.array(found) for key, found in result["data"]["profiles"].items()})
    return figure


def draw_series(ax: Axes) -> None:
    X, y = rhythms(6, np.random.RandomState(0))
    for place, i in enumerate(np.argsort(y, kind="stable")):
        ax.plot(X[i] - 5 * place, color=COLORS[y[i]], linewidth=1)
    ax.set(title="rhythms: two series of each class", xlabel="time", yticks=())


def draw_curves(ax: Axes, task: str, found: dict[str, Any]) -> None:
    entries = [n_entries(task, width) for width in WIDTHS]
    for (n, values), color in zip(found.items(), COLORS):
        accuracies = np.array(values)
        ax.errorbar(
            entries,
            accuracies.mean(axis=1),
            yerr=accuracies.std(axis=1, ddof=1),
            fmt="o-",
            markersize=4,
            color=color,
            label=f"{n} training samples",
        )
    ax.set(xscale="log", xlabel="half-width, and entries that are learned", ylabel="test accuracy, %")
    ax.minorticks_off()
    ax.set_xticks(entries, [f"{label(width)}\n{place}" for width, place in zip(WIDTHS, entries)], fontsize=8)
    ax.set_title(f"{task}, {LEARNERS[task].__name__}")
    ax.legend(frameon=False, fontsize=8, loc="lower center")


def draw_profiles(ax: Axes, profiles: dict[str, Array]) -> None:
    """Show diagonals of the relevance matrices, and of the inverse covariance matrices as crosses."""
    lags = np.arange(LAGS)
    for code, (frequency, color) in enumerate(zip(FREQUENCIES, COLORS)):
        ax.plot(lags, profiles["2"][code], color=color, label=f"frequency {frequency}")
        ax.plot(lags, profiles["full"][code], color=color, linestyle=":")
        a = coefficients(frequency)
        precision = np.array([a @ a, a[:2] @ a[1:], a[0] * a[2], *np.zeros(LAGS - 3)])
        ax.plot(lags, precision / precision[0], "x", color=color)
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set(xlabel="distance from the diagonal", ylabel="mean entry, relative")
    ax.set_title("relevance: half-width 2 (full: dotted;\nx: inverse covariance)", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
