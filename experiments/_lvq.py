"""What the experiments on LVQ share: the methods compared, accuracies, the segmentation data, steps to look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from experiments._protocol import Array, load
from protolearn import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LGRLVQ
from protolearn.lvq import SGD
from protolearn.lvq.problem import Problem
from protolearn.lvq.solvers import Solver

__all__ = [
    "COLORS",
    "METHODS",
    "Samples",
    "Watched",
    "accuracy",
    "as_published",
    "draw_regions",
    "printed_rates",
    "segmentation",
]

METHODS: dict[str, type[GLVQ]] = {
    "GLVQ": GLVQ,
    "GRLVQ": GRLVQ,
    "GMLVQ": GMLVQ,
    "LGRLVQ": LGRLVQ,
    "LGMLVQ": LGMLVQ,
}
# Okabe and Ito (2008), as in protolearn.plotting
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")

Samples = tuple[Array, Array]  # X (n, N) and y (n,)


def printed_rates(prototypes: float, *others: Any, **schedule: Any) -> SGD:
    """Return the online solver for rates as Biehl et al. 2006 print them.

    Their prototype rules lack the factor two of the gradient, so that their rate is twice ours; the rates of
    relevances, or of the diagonal and of the rest of a matrix, need no change.
    """
    names = ("metric_learning_rate", "off_diagonal_learning_rate")
    return SGD(prototypes / 2, **dict(zip(names, others)), **schedule)


def as_published(name: str, solver: Solver, epochs: int, seed: int) -> GLVQ:
    """Return a method of Biehl et al. 2006: class means, no squashing; a symmetric matrix from the identity."""
    options: dict[str, Any] = {"squashing": "identity", "solver": solver, "max_iter": epochs}
    if name != "GLVQ":
        options["regularization"] = 0.0
    if name.startswith("L"):
        options["norm"] = "each"
    if name.endswith("GMLVQ"):
        options |= {"symmetric": True, "metric_init": "identity"}
    return METHODS[name](random_state=seed, **options)


def accuracy(model: Any, samples: Samples) -> float:
    """Return the percentage of samples that a fitted classifier gets right."""
    return 100 * float(model.score(*samples))


def segmentation() -> tuple[Samples, Samples, list[str], list[str]] | None:
    """Return the training and the test set of the segmentation data, and the names of its 16 features and 7 classes.

    Features 3 to 5 are left out, the number of pixels and two densities of short lines that hardly vary. None if the
    data are not there.
    """
    files = load("segmentation")
    if files is None:
        print("The data file segmentation.npz is not there: skipped. Set PROTOLEARN_DATA to the folder that holds it.")
        return None
    kept = np.delete(np.arange(19), [2, 3, 4])
    train, test = ((files[f"X_{part}"][:, kept], files[f"y_{part}"].astype(int)) for part in ("train", "test"))
    features = [str(name).removesuffix("-mean").removeprefix("region-") for name in files["feature_names"][kept]]
    return train, test, features, [str(name) for name in files["class_names"]]


class Watched(Solver):
    """A solver that tells ``look(problem, flat)`` about every step, for curves over the epochs."""

    def __init__(self, solver: Solver, look: Callable[[Problem, Array], None]) -> None:
        self.solver = solver
        self.look = look
        self.rescales = solver.rescales

    def minimize(self, problem: Problem, start: Array, max_iter: int, tol: float, rng: Any, watch: Any) -> None:
        """Minimize as the solver does."""

        def both(flat: Array, cost: float) -> None:
            self.look(problem, flat)
            watch(flat, cost)

        self.solver.minimize(problem, start, max_iter, tol, rng, both)


def draw_regions(ax: Axes, predict: Callable[[Array], Array], n_classes: int) -> None:
    """Fill the plane that the Axes show with the colors of the classes, and draw the borders between them."""
    x, y = (np.linspace(*limits, 400) for limits in (ax.get_xlim(), ax.get_ylim()))
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    codes = predict(plane.reshape(-1, 2)).reshape(plane.shape[:2])
    levels = np.arange(n_classes + 1) - 0.5
    ax.contourf(x, y, codes, levels=levels, colors=COLORS[:n_classes], alpha=0.14, zorder=0)
    for code in range(n_classes):
        ax.contour(x, y, codes == code, levels=[0.5], colors="#222222", linewidths=0.9, zorder=2)
