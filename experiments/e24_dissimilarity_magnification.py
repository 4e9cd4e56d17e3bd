"""E24-E27: magnification control on dissimilarities, the entropy of the map over the exponent c.

Protocol (Hasenfuss 2009, sec. 4.6, figs. 4.12-4.14): relational neural gas, 100 epochs, range n/2 -> 0.01. E24
protein: 50 prototypes, c in steps of 0.1, 100 runs, dimension 3.18, so c* = 0.63. E25 chicken pieces: 50, 0.1, 100
runs, 3.72, 0.54. E26 chromosomes: 80, 0.25, 10 runs, 2.93, 0.68. E27 cat cortex: 12, 0.1, 100 runs. Fewer runs here,
see the settings; c runs from -1.5 to 3.5, which the document does not say. It does not say either whether the
dissimilarities are squared: both readings are run. The leaves of E30 stand for the chicken pieces, 213 of 226 proteins
are to be had, and of the 4400 chromosomes only every fourth one is used.

The document says: entropy can be controlled on all four; for protein the largest entropy is near c*, and classes are
found better (true positive rate) for small c; for chromosomes the curve is smooth, and its optimum is not c*.

Rule, fixed before the full run: entropy is controlled if the mean curve spans more than CONTROL nats and more than
twice the largest standard deviation over runs. An optimum (vertex of a quadratic through the mean entropies within 1
of the largest) is near c* within PASS_BAND. A curve is smooth if the root mean square of its second differences is
below ROUGH of its span. Small c is better if the mean true positive rate over classes is larger for c in [-1, 0] than
in [1, 3.5].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._folds import MISSING, READINGS, pairs, with_reading
from experiments._protocol import RANGE_END, Array, canvas, repeat
from experiments._report import NO_NUMBER, SKIPPED, Result, Row, holds, report, row
from experiments.e30_patch_classification import leaves, thinned
from protolearn import RelationalNeuralGas
from protolearn.core.density import Precomputed, correlation_dimension, parzen_log_density
from protolearn.maps import Ranks
from protolearn.metrics import map_entropy

TITLE = "magnification control, dissimilarities"
EPOCHS = 100
LOWEST, HIGHEST = -1.5, 3.5
# prototypes, step of c, runs, printed dimension
PROTOCOLS: dict[str, tuple[int, float, int, float | None]] = {
    "protein": (50, 0.1, 4, 3.18),
    "leaves": (50, 0.1, 2, 3.72),
    "chromosomes": (80, 0.25, 3, 2.93),
    "cat cortex": (12, 0.1, 20, None),
}
CONTROL = 0.05
PASS_BAND = 0.5
FIT_HALF_WIDTH = 1.0
ROUGH = 0.1

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "optimum is not c*": (
        "here the optimum lies within the band around c*, which the document found it does not; three runs on every "
        "fourth profile. The dimension, with D as distances, is that of the document (2.93)"
    ),
    "cat cortex": (
        "the mean entropy moves by 0.09 and 0.07 nats, a little less than two standard deviations of single runs, "
        "which the rule asks for: with 12 prototypes on 65 objects runs differ by about as much as c changes"
    ),
}


def run(quick: bool = False) -> Result:
    data: dict[str, Any] = {"protein": pairs("protein213"), "leaves": leaves(), "chromosomes": pairs("chromosomes")}
    data["cat cortex"] = pairs("catcortex")
    if any(part is None for part in data.values()):
        print(MISSING)
        return report({}, [row("entropy", "figs. 4.12-4.14", None, SKIPPED)])
    data["chromosomes"] = thinned(4, *data["chromosomes"])
    assert_same_as_magnification(*data["cat cortex"])
    rows: list[Row] = []
    curves: dict[str, Any] = {}
    for name, part in data.items():
        D, y = part
        runs = PROTOCOLS[name][2]
        c = exponents(name)
        c = c[:: len(c) // 5] if quick else c
        for reading, squared in READINGS.items():
            found = repeat(one_run, range(1 if quick else runs), D, y, squared, name, c, 5 if quick else EPOCHS)
            curves[with_reading(name, reading)] = {
                "c": c,
                "entropy": np.array([entropy for entropy, _ in found]),
                "rates": np.mean([rates for _, rates in found], axis=0),
                "dimension": correlation_dimension(Precomputed(D if squared else np.square(D))),
            }
            rows += rows_of(name, reading, curves[with_reading(name, reading)])
        print(f"{name} done", flush=True)
    return report(
        settings={
            "runs": ", ".join(f"{name} {1 if quick else part[2]}" for name, part in PROTOCOLS.items())
            + " (document: 100, 100, 10, 100)",
            "seeds": "run number, for the start; the objects are the same",
            "epochs": EPOCHS,
            "range": "n / 2 -> 0.01, start near the center",
            "readings": "D as distances: squared by the map; D as squares: taken as they are",
            "density": "Gaussian Parzen window of distances, bandwidth = average distance / 3",
            "dimension": "Grassberger-Procaccia, window of radii of the library",
            "logarithm": "natural",
            "true positive rate": "of training objects, by the majority label of the receptive field",
            "data": "213 proteins; 442 leaves for the chicken pieces; every fourth of 4400 chromosomes; 65 areas",
            "rule": f"controlled: span above {CONTROL} nats and two standard deviations; near: within {PASS_BAND}; "
            f"smooth: second differences below {ROUGH} of the span",
        },
        rows=rows,
        data=curves,
    )


def exponents(name: str) -> Array:
    return np.arange(LOWEST, HIGHEST + 1e-9, PROTOCOLS[name][1])


def gas(name: str, squared: bool, epochs: int, seed: int, **options: Any) -> RelationalNeuralGas:
    n = PROTOCOLS[name][0]
    ranks = Ranks((n / 2, RANGE_END))
    settings = {"init": "center", "neighborhood": ranks, "max_iter": epochs, "n_jobs": 1}
    return RelationalNeuralGas(n, squared=squared, random_state=seed, **settings | options)


def one_run(
    seed: int, D: Array, y: Array, squared: bool, name: str, c: Array, epochs: int
) -> tuple[list[float], list[list[float]]]:
    """Return the entropy for each c, and the true positive rate for each c and class."""
    log_density = parzen_log_density(Precomputed(D if squared else np.square(D)), n_jobs=1)
    log_density -= log_density.max()
    winners = [gas(name, squared, epochs, seed).fit(D, sample_weight=weights(log_density, part)).labels_ for part in c]
    return [map_entropy(part) for part in winners], [true_positive_rates(part, y) for part in winners]


def weights(log_density: Array, c: float) -> Array:
    logs = c * log_density
    return np.exp(logs - logs.max())


def true_positive_rates(winners: Array, y: Array) -> list[float]:
    """Return the share of each class that lies in receptive fields where it is the commonest."""
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.zeros((winners.max() + 1, codes.max() + 1))
    np.add.at(counts, (winners, codes), 1)
    given = counts.argmax(axis=1)[winners]
    return [float((given[codes == code] == code).mean()) for code in range(codes.max() + 1)]


def assert_same_as_magnification(D: Array, y: Array) -> None:
    """Weights p^c given from outside are the library's own magnification control."""
    log_density = parzen_log_density(Precomputed(np.square(D)), n_jobs=1)
    ours = gas("cat cortex", False, 20, 0).fit(D, sample_weight=weights(log_density, 1.0))
    theirs = gas("cat cortex", False, 20, 0, magnification=1.0).fit(D)
    np.testing.assert_allclose(ours.prototype_dissimilarities_, theirs.prototype_dissimilarities_, atol=1e-8)


def vertex(c: Array, mean_curve: Array) -> float:
    """Return the top of a parabola through the mean entropies around the largest one."""
    near = np.abs(c - c[mean_curve.argmax()]) <= FIT_HALF_WIDTH + 1e-9
    a, b, _ = np.polyfit(c[near], mean_curve[near], 2)
    return float(np.clip(-b / (2 * a), LOWEST, HIGHEST)) if a < 0 else float(c[mean_curve.argmax()])


def rows_of(name: str, reading: str, curve: dict[str, Any]) -> list[Row]:
    c, entropy, rates = curve["c"], curve["entropy"], curve["rates"].mean(axis=1)
    mean = entropy.mean(axis=0)
    deviation = entropy.std(axis=0, ddof=1).max() if len(entropy) > 1 else 0.0
    span, top = float(np.ptp(mean)), vertex(c, mean)
    label = f"{name}, {reading}"
    printed = PROTOCOLS[name][3]
    text = f"{mean.min():.3f} to {mean.max():.3f} nats, sd {deviation:.3f}"
    rows = [row(f"{label}: entropy can be controlled", "yes", text, holds(span > max(CONTROL, 2 * deviation)))]
    if printed is None:
        rows.append(row(f"{label}: optimal c, vertex", None, top, NO_NUMBER))
    elif name == "protein":
        rows.append(row(f"{label}: optimum near c* = 2/{printed}", 2 / printed, top, holds(near(top, 2 / printed))))
    elif name == "chromosomes":
        verdict = holds(not near(top, 2 / printed))
        rows.append(row(f"{label}: optimum is not c* = {2 / printed:.2f}", "yes", f"{top:.2f}", verdict))
        rough = float(np.sqrt(np.mean(np.diff(mean, 2) ** 2))) / span
        rows.append(row(f"{label}: smooth curve (roughness)", "yes", f"{rough:.3f}", holds(rough < ROUGH)))
    else:
        rows.append(row(f"{label}: optimal c, vertex (c* of the document {2 / printed:.2f})", None, top, NO_NUMBER))
    dimension = curve["dimension"]
    rows.append(row(f"{label}: dimension", printed, dimension, NO_NUMBER))
    rows.append(row(f"{label}: c* = 2 / dimension as measured", None, 2 / dimension, NO_NUMBER))
    small, large = rates[(c >= -1 - 1e-9) & (c <= 1e-9)].mean(), rates[c >= 1 - 1e-9].mean()
    text = f"{100 * small:.1f} % in [-1, 0], {100 * large:.1f} % in [1, 3.5]"
    verdict = holds(small > large) if name == "protein" else NO_NUMBER
    rows.append(
        row(f"{label}: classes are found better for small c", "yes" if name == "protein" else None, text, verdict)
    )
    return rows


def near(top: float, optimum: float) -> bool:
    return abs(top - optimum) <= PASS_BAND


def draw(result: Result) -> Figure:
    figure, axes = canvas(2, len(PROTOCOLS), (3.8, 3.2))
    for (upper, lower), name in zip(axes.T, PROTOCOLS):
        for reading, color in zip(READINGS, ("#1b6ca8", "#e08e45")):
            curve = result["data"][with_reading(name, reading)]
            c, entropy = np.array(curve["c"]), np.array(curve["entropy"])
            mean = entropy.mean(axis=0)
            if len(entropy) > 1:
                deviation = entropy.std(axis=0, ddof=1)
                upper.fill_between(c, mean - deviation, mean + deviation, color=color, alpha=0.15, linewidth=0)
            upper.plot(c, mean, color=color, linewidth=1.4, label=reading)
        printed = PROTOCOLS[name][3]
        if printed is not None:
            upper.axvline(2 / printed, color="0.6", linewidth=0.8, linestyle="--")
        upper.set(title=name, ylabel="entropy (nats)")
        first = result["data"][with_reading(name, next(iter(READINGS)))]
        lower.plot(first["c"], 100 * np.array(first["rates"]), linewidth=1.0)
        lower.set(xlabel="exponent c", ylabel="true positive rate, %")
    axes[0, 0].legend(frameon=False, fontsize=7)
    axes[0, 0].text(0.98, 0.03, "dashed: c* of the document", transform=axes[0, 0].transAxes, ha="right", fontsize=7)
    axes[1, 0].set_title("a line for each class, D as distances", fontsize=8)
    return figure
