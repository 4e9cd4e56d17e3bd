"""E7: magnification control, the entropy of the map over the exponent c.

Protocol (Hasenfuss 2009, sec. 3.5): samples (x, sin(pi x_1) ... sin(pi x_d)), x uniform in [0, 1]^d, with
2500/5000/10000 samples for d = 1, 2, 3; batch neural gas with 50 prototypes, range 25 -> 0.01, 200 epochs; c from
-1.5 to 3.5 in steps of 0.25; 20 runs; density by a Gaussian Parzen window of a third of the average distance.

The document (fig. 3.5) says that the entropy is largest "very close" to the theoretical optimum c* = 2/d: 2, 1, 2/3.
No numbers are printed. The law is asymptotic in the number of prototypes, so the vertex is also followed over n = 25,
50, 100, 200 for d = 2, and the whole experiment is repeated with the exact density of the samples on the sheet.

Rule, fixed before the run: a quadratic is fitted to the mean entropies within FIT_HALF_WIDTH of the largest one; the
optimum is reproduced if the vertex is within PASS_BAND of c*. Otherwise "same order" if the vertex falls with d. It
approaches c* with growing n if it is nearer by GROWING_GAIN at the largest n than at the smallest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._protocol import Array, canvas, neural_gas, repeat
from experiments._report import NO_NUMBER, Result, holds, judge, report, row
from protolearn.core.density import parzen_log_density
from protolearn.datasets import make_magnification_control
from protolearn.metrics import map_entropy

TITLE = "magnification control"
DIMENSIONS = (1, 2, 3)
OPTIMA = {d: 2 / d for d in DIMENSIONS}
EXPONENTS = np.arange(-1.5, 3.5 + 1e-9, 0.25)
N_PROTOTYPES = 50
EPOCHS = 200
RUNS = 20
PASS_BAND = 0.5
FIT_HALF_WIDTH = 1.0
GROWING_DIMENSION = 2
GROWING_SIZES = (25, 50, 100, 200)
GROWING_RUNS = 5
GROWING_GAIN = 0.1  # by so much the vertex has to come nearer to c*
BOOTSTRAPS = 1000

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "d = 3": (
        "below the law by a little more than the pass band, with the exact density too, so the Parzen window "
        "is not the only cause. Likely, but not tested: the law is for many prototypes; of 50 in three "
        "dimensions fewer than four lie along each axis, most of them at the border"
    ),
    "approaches c* when n grows": (
        "the vertex stays near 0.6: more prototypes on the same samples do not mend it. With the exact "
        "density it is 0.86 at n = 50, so the wide Parzen window is part of the cause here"
    ),
}


def run(quick: bool = False) -> Result:
    n_runs, few = (2, 1) if quick else (RUNS, GROWING_RUNS)
    epochs = 20 if quick else EPOCHS
    sizes = GROWING_SIZES[:2] if quick else GROWING_SIZES
    assert_same_as_magnification(epochs)
    parzen = {d: entropies(d, N_PROTOTYPES, epochs, n_runs, exact=False) for d in DIMENSIONS}
    exact = {d: entropies(d, N_PROTOTYPES, epochs, n_runs, exact=True) for d in DIMENSIONS}
    growing = {n: entropies(GROWING_DIMENSION, n, epochs, few, exact=False) for n in sizes}
    return report(
        settings={
            "runs": n_runs,
            "runs with growing n": few,
            "seeds": "run number, for samples and start alike",
            "epochs": epochs,
            "range": "n / 2 -> 0.01",
            "density": "Gaussian Parzen window, bandwidth = average distance / 3; computed once for each sample set",
            "logarithm": f"natural; at most ln {N_PROTOTYPES} = {np.log(N_PROTOTYPES):.4f}",
            "scaling": "none: the sheet as it is",
            "pass band": f"|vertex - c*| <= {PASS_BAND}",
            "fit": f"quadratic through mean entropies within {FIT_HALF_WIDTH} of the grid maximum; "
            f"sd of grid maximum and vertex by {BOOTSTRAPS} bootstrap samples of the runs",
            "growing n": f"d = {GROWING_DIMENSION}, {2500 * 2 ** (GROWING_DIMENSION - 1)} samples throughout",
        },
        rows=rows_of(parzen, exact, growing),
        data={
            "exponents": EXPONENTS,
            "parzen": parzen,
            "exact": exact,
            "growing": growing,
        },
    )


def entropies(dim: int, n_prototypes: int, epochs: int, n_runs: int, exact: bool) -> Array:
    """Return the entropy (runs, exponents) of the map."""
    return np.array(repeat(entropy_curve, range(n_runs), dim, n_prototypes, epochs, exact))


def entropy_curve(seed: int, dim: int, n_prototypes: int, epochs: int, exact: bool) -> Array:
    X, density = make_magnification_control(dim, random_state=seed)
    log_density = np.log(density) if exact else parzen_log_density(X)
    return np.array([entropy(X, log_density, c, n_prototypes, epochs, seed) for c in EXPONENTS])


def entropy(X: Array, log_density: Array, c: float, n_prototypes: int, epochs: int, seed: int) -> float:
    # winners, not masses: these would be weighted by the density
    weights = np.exp(c * (log_density - log_density.max()))
    return map_entropy(neural_gas(n_prototypes, epochs, seed).fit(X, sample_weight=weights).labels_)


def assert_same_as_magnification(epochs: int) -> None:
    """Weights p^c given from outside are the library's own magnification control."""
    X, _ = make_magnification_control(1, random_state=0)
    log_density = parzen_log_density(X)
    ours = neural_gas(N_PROTOTYPES, epochs, 0).fit(X, sample_weight=np.exp(2.0 * (log_density - log_density.max())))
    theirs = neural_gas(N_PROTOTYPES, epochs, 0, magnification=2.0).fit(X)
    np.testing.assert_allclose(ours.prototypes_, theirs.prototypes_, atol=1e-10)


def grid_maximum(mean_curve: Array) -> float:
    return float(EXPONENTS[mean_curve.argmax()])


def vertex(mean_curve: Array) -> float:
    """Return the top of a parabola through the mean entropies around the largest one."""
    near = np.abs(EXPONENTS - grid_maximum(mean_curve)) <= FIT_HALF_WIDTH + 1e-9
    a, b, _ = np.polyfit(EXPONENTS[near], mean_curve[near], 2)
    return float(-b / (2 * a))


def resampled(curves: Array, statistic: Any) -> Array:
    """Return the statistic of the mean curve for bootstrap samples of the runs."""
    rng = np.random.default_rng(0)
    draws = rng.integers(len(curves), size=(BOOTSTRAPS, len(curves)))
    return np.array([statistic(curves[draw].mean(axis=0)) for draw in draws])


def at(exponent: float) -> int:
    """Return the position of the nearest exponent of the grid."""
    return int(np.abs(EXPONENTS - exponent).argmin())


def estimate(
    quantity: str, document: float | str | None, curves: Array, statistic: Any, verdict: str
) -> dict[str, Any]:
    """Return a row with the statistic of the mean curve and its bootstrap deviation."""
    line = row(quantity, document, statistic(curves.mean(axis=0)), verdict)
    return line | {"sd": float(resampled(curves, statistic).std()), "n": len(curves)}


def rows_of(parzen: dict[int, Array], exact: dict[int, Array], growing: dict[int, Array]) -> list[dict[str, Any]]:
    rows = []
    for label, curves_by_dim in (("Parzen density", parzen), ("exact density", exact)):
        tops = [vertex(curves_by_dim[d].mean(axis=0)) for d in DIMENSIONS]
        falls = bool(np.all(np.diff(tops) < 0))
        for d, top in zip(DIMENSIONS, tops):
            curves = curves_by_dim[d]
            verdict = judge(top, OPTIMA[d], PASS_BAND, falls)
            rows.append(estimate(f"optimal c, d = {d}, vertex, {label}", OPTIMA[d], curves, vertex, verdict))
            verdict = judge(grid_maximum(curves.mean(axis=0)), OPTIMA[d], PASS_BAND, falls)
            rows.append(
                estimate(f"optimal c, d = {d}, grid maximum, {label}", OPTIMA[d], curves, grid_maximum, verdict)
            )
        rows.append(row(f"the vertex falls with d, {label}", "yes", "yes" if falls else "no", holds(falls)))
        for d, top in zip(DIMENSIONS, tops):
            best, low, high = (curves_by_dim[d][:, i] for i in (at(top), 0, -1))
            text = f"{best.mean():.4f} > {low.mean():.4f}, {high.mean():.4f}"
            above = best.mean() > max(low.mean(), high.mean())
            rows.append(row(f"entropy at the vertex above both ends, d = {d}, {label}", "yes", text, holds(above)))
            rows.append(row(f"entropy near c*, d = {d}, {label}", None, curves_by_dim[d][:, at(OPTIMA[d])], NO_NUMBER))
    optimum = OPTIMA[GROWING_DIMENSION]
    tops = [vertex(curves.mean(axis=0)) for curves in growing.values()]
    for n, curves in growing.items():
        rows.append(estimate(f"optimal c, d = 2, vertex, n = {n}", None, curves, vertex, NO_NUMBER))
    text = " -> ".join(f"{top:.2f}" for top in tops)
    approaches = abs(tops[0] - optimum) - abs(tops[-1] - optimum) >= GROWING_GAIN
    rows.append(row("the vertex approaches c* when n grows, d = 2", "yes", text, holds(approaches)))
    return rows


def draw(result: Result) -> Figure:
    figure, axes = canvas(1, 2, (5.2, 4.0))
    c = np.array(result["data"]["exponents"])
    for d, color in zip(DIMENSIONS, ("#1b6ca8", "#c8553d", "#4a7c59")):
        curves = np.array(result["data"]["parzen"][str(d)])
        mean, deviation = curves.mean(axis=0), curves.std(axis=0, ddof=1)
        axes[0, 0].fill_between(c, mean - deviation, mean + deviation, color=color, alpha=0.15, linewidth=0)
        axes[0, 0].plot(c, mean, "o-", color=color, markersize=3, linewidth=1.4, label=f"d = {d}")
        exact = np.array(result["data"]["exact"][str(d)]).mean(axis=0)
        axes[0, 0].plot(c, exact, ":", color=color, linewidth=1.2)
        optimum = OPTIMA[d]
        axes[0, 0].annotate(
            "",
            xy=(optimum, np.interp(optimum, c, mean) + 0.004),
            xytext=(optimum, np.log(N_PROTOTYPES) + 0.028),
            arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.4},
        )
    axes[0, 0].axhline(np.log(N_PROTOTYPES), color="0.6", linewidth=0.8, linestyle="--")
    axes[0, 0].plot([], [], ":", color="0.4", label="exact density")
    axes[0, 0].set(xlabel="exponent c", ylabel="entropy of the map (nats)", title="50 prototypes; arrows: c* = 2/d")
    axes[0, 0].set_ylim(top=np.log(N_PROTOTYPES) + 0.035)
    axes[0, 0].legend(frameon=False, loc="lower center")
    growing = result["data"]["growing"]
    for (n, curves), shade in zip(growing.items(), ("#c9d6df", "#8fb8de", "#1b6ca8", "#0b2545")):
        mean = np.array(curves).mean(axis=0)
        style: dict[str, Any] = {"color": shade}
        axes[0, 1].plot(c, mean - np.log(int(n)), linewidth=1.4, label=f"n = {n}", **style)
        axes[0, 1].plot(vertex(mean), mean.max() - np.log(int(n)), "v", markersize=6, **style)
    axes[0, 1].axvline(OPTIMA[GROWING_DIMENSION], color="0.6", linewidth=0.8, linestyle="--")
    axes[0, 1].set(xlabel="exponent c", ylabel="entropy - ln n", title="d = 2, growing n; triangles: vertex")
    axes[0, 1].legend(frameon=False, loc="lower center")
    return figure
