"""N3: neural gas with local PCA on two spirals in space (figs. 4 and 5, sec. 4.1.5).

Protocol (Möller and Hoffmann 2004, sec. 4.1.4 and 4.1.5). Spiral 1: 1000 points, 12 units, range 1 -> 0.01, rate 0.5 ->
0.05, 30000 presentations, with all three directions (fig. 4) or one (fig. 5); first variances are not given, here 1000.
Spiral 2: 500 points, 8 units with one direction, first variances 1; the standard set as above, and a modified set that
ends at range 0.005 and rate 0.005; compared with a mixture of probabilistic PCA, and with a generalized RBF network,
which this library does not have.

Two readings of the document were chosen by an independent implementation, because what is printed does not give the
printed likelihoods: spiral 1 turns by 4 pi (printed: 2 pi), and the angle of spiral 2 is free of noise (printed: the
sine of the noisy coordinate). In sec. 4.1.5 minus signs are lost. The printed readings are run as well.

Spiral 1: RUNS runs, each on a sample of its own. Spiral 2: SAMPLES samples with STARTS runs each.

Rules, fixed before the run: spiral 1 at most TOLERANCE[1] off, and counts: the printed spread within the range of our
runs; spiral 2, modified set, mean likelihood within BAND, and above the standard set; standard set and mixture at most
TOLERANCE[2] off. "Same order" for spiral 1: three directions above one; for spiral 2: modified above standard set.
Defaults and the batch algorithm for the record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._protocol import Array, canvas, repeat
from experiments._report import (
    MISSED,
    NO_NUMBER,
    ORDER,
    REFERENCE,
    REPRODUCED,
    SKIPPED,
    Result,
    holds,
    judge,
    report,
    row,
    within,
)
from experiments.datasets import make_spiral_gaussian
from experiments.n01_vortex import STANDARD, STEPS, published, spread_of_counts
from protolearn import NGPCA, MixturePPCA
from protolearn.datasets import make_spiral_uniform
from protolearn.plotting import plot_ellipses

TITLE = "spirals"
RUNS = 10
SAMPLES, STARTS = 6, 5
N_UNITS = {1: 12, 2: 8}
PRINTED_1 = {3: (-14.06, 10.6), 1: (-14.11, 12.7)}  # directions: likelihood, spread of the counts
PRINTED_2 = {"standard set": -1.510, "modified set": -1.444, "mixture of PPCA": -1.483}
ELSEWHERE = {"mixture of PPCA, Tipping and Bishop, other sample": -1.426}
RBF = -1.480
MODIFIED = {"range_end": 0.005, "learning_rate_end": 0.005}
ANGLES = {"4 pi": 4 * np.pi, "2 pi, as printed": 2 * np.pi}
READINGS = {"clean angle": False, "noisy angle, as printed": True}
TOLERANCE = {1: 0.12, 2: 0.08}
BAND = (-1.50, -1.34)

# why a row is not reproduced, by a phrase of its quantity
REMARKS = {
    "1 direction (4 pi), sd": "6.8 to 11.6 in ten runs on samples of their own; the printed one is of a single run",
    "mixture of PPCA (clean angle)": "above the printed likelihood, which is of one sample and another program",
    "2 pi, as printed": "with the printed angle the spiral is shorter and the likelihood higher; 4 pi agrees",
    "noisy angle, as printed": "as printed, noise moves points along the spiral, hardly off it; a clean angle agrees",
}


def run(quick: bool = False) -> Result:
    steps = 3000 if quick else STEPS
    seeds = range(2 if quick else RUNS)
    uniform = {name: np.array(repeat(spiral_1, seeds, angle, steps)) for name, angle in ANGLES.items()}
    pairs = [(sample, start) for sample in range(2 if quick else SAMPLES) for start in range(1 if quick else STARTS)]
    gaussian = {name: gathered(repeat(spiral_2, pairs, noisy, steps)) for name, noisy in READINGS.items()}
    rows = [
        *(line for name, found in uniform.items() for line in rows_1(found, name)),
        *(line for name, found in gaussian.items() for line in rows_2(found, name)),
        *(row(f"spiral 2, {name}", value, None, REFERENCE) for name, value in ELSEWHERE.items()),
        row("spiral 2, generalized RBF network", RBF, None, SKIPPED),
    ]
    return report(
        settings={
            "runs": f"spiral 1: {len(seeds)}; spiral 2: {len(pairs)}",
            "seeds": "spiral 1: run number, for sample and start; spiral 2: sample number and number of the start",
            "steps": steps,
            "range, rate": STANDARD | {"range_start": 1.0},
            "modified set": MODIFIED,
            "first variances": {"spiral 1": 1000, "spiral 2": 1},
            "mixture of PPCA": "start by k-means, until an epoch raises the likelihood by less than 1e-6 of it",
            "rule": f"tolerances {TOLERANCE}; modified set within {BAND} and above the standard set",
        },
        rows=rows,
        data={"steps": steps, "uniform": uniform, "gaussian": gaussian},
    )


def in_space(n_components: int, seed: int, steps: int) -> NGPCA:
    """Return the model of spiral 1."""
    return published(N_UNITS[1], n_components, seed, steps, range_start=1.0, variance_start=1000.0)


def spiral_1(seed: int, angle: float, steps: int) -> list[list[float]]:
    """Return likelihood and spread of the counts, with three directions and with one."""
    X, _ = make_spiral_uniform(max_angle=angle, random_state=seed)
    fitted = [in_space(n_components, seed, steps).fit(X) for n_components in PRINTED_1]
    return [[model.score(X), spread_of_counts(model)] for model in fitted]


def models_2(seed: int, steps: int) -> dict[str, Any]:
    """Return the models of spiral 2."""
    n_units, start = N_UNITS[2], {"range_start": 1.0, "variance_start": 1.0}
    return {
        "standard set": published(n_units, 1, seed, steps, **start),
        "modified set": published(n_units, 1, seed, steps, **start, **MODIFIED),
        "mixture of PPCA": MixturePPCA(n_units, 1, random_state=seed),
        "defaults": NGPCA(n_units, 1, random_state=seed),
        "batch": NGPCA(n_units, 1, algorithm="batch", random_state=seed),
    }


def spiral_2(pair: tuple[int, int], noisy_angle: bool, steps: int) -> dict[str, float]:
    """Return the likelihoods of all models."""
    sample, start = pair
    X, _ = make_spiral_gaussian(noisy_angle=noisy_angle, random_state=sample)
    return {name: model.fit(X).score(X) for name, model in models_2(start, steps).items()}


def gathered(runs: list[dict[str, float]]) -> dict[str, Array]:
    return {name: np.array([found[name] for found in runs]) for name in runs[0]}


def rows_1(found: Array, reading: str) -> list[dict[str, Any]]:
    """Return the rows of spiral 1 from values (runs, two numbers of directions, 2)."""
    means = found[:, :, 0].mean(axis=0)
    rows = []
    for i, (n_components, (likelihood, spread)) in enumerate(PRINTED_1.items()):
        name = f"spiral 1, {n_components} direction{'s' if n_components > 1 else ''} ({reading})"
        values, counts = found[:, i, 0], found[:, i, 1]
        rows.append(
            row(
                f"{name}, log-likelihood",
                likelihood,
                values,
                judge(values, likelihood, TOLERANCE[1], means[0] > means[1]),
            )
        )
        rows.append(row(f"{name}, sd of the points of a unit", spread, counts, within(spread, counts)))
    return rows


def rows_2(found: dict[str, Array], reading: str) -> list[dict[str, Any]]:
    """Return the rows of spiral 2."""
    means = {name: values.mean() for name, values in found.items()}
    better = means["modified set"] > means["standard set"]
    rows = []
    for name, values in found.items():
        quantity = f"spiral 2, {name} ({reading}), log-likelihood"
        if name not in PRINTED_2:
            verdict = NO_NUMBER
        elif name == "modified set":
            verdict = REPRODUCED if BAND[0] <= means[name] <= BAND[1] else ORDER if better else MISSED
        else:
            verdict = judge(values, PRINTED_2[name], TOLERANCE[2], better)
        rows.append(row(quantity, PRINTED_2.get(name), values, verdict))
    gain = found["modified set"] - found["standard set"]
    printed = PRINTED_2["modified set"] - PRINTED_2["standard set"]
    rows.append(row(f"spiral 2, modified above standard set ({reading})", printed, gain, holds(better)))
    return rows


def draw(result: Result) -> Figure:
    """Draw figs. 4 and 5, and spiral 2 with the modified set, from the first run."""
    steps = result["data"]["steps"]
    first, _ = make_spiral_uniform(max_angle=ANGLES["4 pi"], random_state=0)
    second, _ = make_spiral_gaussian(random_state=0)
    shown = [
        ("spiral 1, three directions", in_space(3, 0, steps), first),
        ("spiral 1, one direction", in_space(1, 0, steps), first),
        ("spiral 2, modified set", models_2(0, steps)["modified set"], second),
    ]
    figure, axes = canvas(3, 2, size=(5.4, 3.4))
    for pair, (name, model, X) in zip(axes, shown):
        model.fit(X)
        for ax, features in zip(pair, ((0, 1), (1, 2))):
            plot_ellipses(model, X, features=features, ax=ax)
            ax.set(xlabel="xyz"[features[0]], ylabel="xyz"[features[1]])
        pair[0].set_title(f"{name}: L {model.score(X):.2f}", fontsize="medium")
    return figure
