"""E28: prototypes of relational neural gas as means of few objects, the error over their number k.

Protocol (Hasenfuss 2009, sec. 4.6, fig. 4.15): 1250 planar points, relational neural gas with 50 prototypes, 100
epochs, range 25 -> 0.01; then each prototype is replaced by the mean of the k nearest points of its receptive field, k
= 1 to 20; 10 runs. The document has points "from three Gaussian clusters"; these are the 250 + 1000 points of Ripley's
mixture, which fit the number and have four. Distances are Euclidean, so that errors can be seen in the plane.

No numbers are printed: the error falls with k towards that of the prototypes themselves.

Rule, fixed before the run: the error falls if its rank correlation with k is below -FALLING; it reaches the level of
the prototypes if at the largest k it is within NEAR (relative) of it, and at k = 1 it is not nearer than at the
largest.

That the points chosen here are those that the library keeps from patch to patch is asserted.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from experiments._protocol import RANGE_END, Array, canvas, load, repeat
from experiments._report import NO_NUMBER, SKIPPED, Result, holds, report, row
from protolearn import RelationalNeuralGas
from protolearn.dissimilarities import pairwise
from protolearn.maps import Ranks
from protolearn.metrics import quantization_error

TITLE = "prototypes as means of k objects"
N_PROTOTYPES = 50
EPOCHS = 100
RUNS = 10
SIZES = tuple(range(1, 21))
FALLING = 0.9
NEAR = 0.02
REMARKS: dict[str, str] = {}


def run(quick: bool = False) -> Result:
    X = planar_points()
    if X is None:
        print("Skipped: the file ripley_synth.npz is not in the data folder.")
        return report({}, [row("quantization error", "fig. 4.15", None, SKIPPED)])
    epochs = 10 if quick else EPOCHS
    assert_same_as_kept(X, epochs)
    runs = np.array(repeat(errors, range(2 if quick else RUNS), X, epochs))  # (runs, 1 + sizes)
    full, few = runs[:, 0], runs[:, 1:]
    fall = spearmanr(SIZES, few.mean(axis=0)).statistic
    rest = few.mean(axis=0) / full.mean() - 1
    rows = [
        row("the error falls with k (rank correlation)", "yes", f"{fall:.3f}", holds(fall < -FALLING)),
        row(
            "towards the error of the prototypes",
            "yes",
            f"{100 * rest[0]:.1f} % above at k = 1, {100 * rest[-1]:.1f} % at k = {SIZES[-1]}",
            holds(rest[-1] <= NEAR and abs(rest[-1]) <= abs(rest[0])),
        ),
        row("error (half the sum of squares) of the prototypes", None, full, NO_NUMBER),
    ]
    for k in (1, 3, 5, 10, 15, 20):
        rows.append(row(f"error with k = {k}", None, few[:, SIZES.index(k)], NO_NUMBER))
    return report(
        settings={
            "runs": len(runs),
            "seeds": "run number, for the start; the points are the same",
            "epochs": epochs,
            "range": "n / 2 -> 0.01, start near the center",
            "error": "half the sum of squared distances to the nearest prototype; points not z-transformed",
            "approximation": "equal coefficients of the k nearest points of the receptive field, fewer if it has fewer",
            "rule": f"rank correlation below -{FALLING}; at k = 20 within {NEAR} relative of the prototypes",
        },
        rows=rows,
        data={"full": full, "few": few},
    )


def planar_points() -> Array | None:
    """Return all 1250 points of Ripley's mixture."""
    files = load("ripley_synth")
    return None if files is None else np.concatenate([files["X_train"], files["X_test"]])


def gas(epochs: int, seed: int, k: int = 1) -> RelationalNeuralGas:
    return RelationalNeuralGas(
        N_PROTOTYPES,
        init="center",
        neighborhood=Ranks((N_PROTOTYPES / 2, RANGE_END)),
        max_iter=epochs,
        n_approximation=k,
        random_state=seed,
        n_jobs=1,
    )


def nearest_members(squares: Array, k: int) -> list[Array]:
    """Return for each prototype that wins anything the k nearest points of its receptive field."""
    winners = squares.argmin(axis=1)
    fields = (np.flatnonzero(winners == i) for i in range(squares.shape[1]))
    order = [(i, field) for i, field in enumerate(fields) if len(field)]
    return [field[np.argsort(squares[field, i], kind="stable")[:k]] for i, field in order]


def errors(seed: int, X: Array, epochs: int) -> list[float]:
    """Return the error of the prototypes, then that of their approximations."""
    D = pairwise(X, metric="euclidean", n_jobs=1)
    model = gas(epochs, seed).fit(D)
    squares = model.transform(D)
    prototypes = [model.coefficients_ @ X]
    prototypes += [np.array([X[chosen].mean(axis=0) for chosen in nearest_members(squares, k)]) for k in SIZES]
    return [quantization_error(X, part, reduction="half_sum") for part in prototypes]


def assert_same_as_kept(X: Array, epochs: int) -> None:
    """Check that the points chosen here are those that the library keeps."""
    D = pairwise(X, metric="euclidean", n_jobs=1)
    model = gas(epochs, 0, k=3).fit(D)
    chosen = np.concatenate(nearest_members(model.transform(D), 3))
    np.testing.assert_array_equal(np.sort(chosen), np.sort(model.kept_))


def draw(result: Result) -> Figure:
    figure, axes = canvas()
    full, few = (np.array(result["data"][name]) for name in ("full", "few"))
    mean, deviation = few.mean(axis=0), few.std(axis=0, ddof=1)
    axes[0, 0].fill_between(SIZES, mean - deviation, mean + deviation, color="#1b6ca8", alpha=0.15, linewidth=0)
    axes[0, 0].plot(SIZES, mean, "o-", color="#1b6ca8", markersize=4, label="means of k points")
    axes[0, 0].axhline(full.mean(), color="0.4", linestyle="--", linewidth=1, label="relational neural gas")
    axes[0, 0].set(xlabel="k", ylabel="half the sum of squared distances", xticks=SIZES[4::5], title="fig. 4.15")
    axes[0, 0].legend(frameon=False)
    return figure
