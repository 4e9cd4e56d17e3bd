"""What is compared for views of data: time to make one, its quality, its growth, and the time to measure quality.

Arrays: X (n, d) samples, y (n,) their classes, Y (n, 2) the view, P (n, n) affinities of the samples, sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.embedding_data import N_COMPONENTS, deformed_mnist, digits, mnist
from benchmarks.growth import Series, growth, lines, picture
from benchmarks.registry import OURS
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task

__all__ = ["GAMMA", "LARGE_TASKS", "TASKS", "GrowthTask", "LargeViewTask", "MeasureTask", "ViewTask", "kl_divergence"]

WARM_UP_SAMPLES = 1_000
PERPLEXITY = 30.0
N_NEIGHBORS = 12  # of the trustworthiness
N_JUDGED = 5_000  # samples at most whose neighbors are compared
GAMMA = f"{OURS} (gamma)"  # t-SNE under the gamma divergence
YARDSTICK = "openTSNE"

RATIO: Column = ("time ratio", "seconds_ratio", "{:.2f}".format)
MEMORY: Column = ("memory MB", "memory_mb", "{:.0f}".format)
TRUSTWORTHINESS: Column = ("trustworthiness", "trustworthiness", "{:.4f}".format)


@dataclass(frozen=True)
class ViewTask(Task):
    """A view of samples in the plane; judged by its divergence, if it is one of t-SNE, and by its neighbors."""

    data: Callable[[], tuple[np.ndarray, ...]]
    large: bool = True  # whether peers take the ways that they have for many samples
    perplexity: float = PERPLEXITY

    columns: ClassVar[list[Column]] = [
        *WHO,
        *TIMES,
        RATIO,
        ("KL", "kl", "{:.4f}".format),
        ("KL ratio", "kl_ratio", "{:.4f}".format),
        TRUSTWORTHINESS,
        ("R_NX AUC", "auc", "{:.4f}".format),
        ("1-NN error", "nearest_neighbor_error", "{:.4f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds", "kl")

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, perplexity {self.perplexity:g}"

    def write_data(self) -> None:
        """Write the samples, their classes and their affinities."""
        from scipy import sparse

        from protolearn import TSNE

        X, y = self.data()
        model = TSNE(perplexity=self.perplexity, method="fast", init="random", max_iter=1, random_state=0)
        np.save(self.folder / "samples.npy", X)
        np.save(self.folder / "classes.npy", y)
        sparse.save_npz(self.folder / "affinities.npz", model.fit(X).affinities_)

    def load(self) -> Data:
        """Return the samples."""
        return (np.load(self.folder / "samples.npy"),)

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Show a few samples."""
        (X,) = data
        fit(X[:WARM_UP_SAMPLES], self)

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Show all samples."""
        (X,) = data
        return fit(X, self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return whether the view is one of t-SNE, and the view."""
        view, is_student = fitted
        return {"is_student": is_student}, np.asarray(view, dtype=np.float64)

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the divergence, the error of all samples, and what the neighbors of some have become."""
        from scipy import sparse

        from protolearn.metrics import nearest_neighbor_error, view_quality

        Y = np.asarray(result)
        X, y = (np.load(self.folder / f"{name}.npy") for name in ("samples", "classes"))
        chosen = np.sort(np.random.default_rng(0).permutation(len(X))[:N_JUDGED])
        quality = view_quality(X[chosen], Y[chosen])
        facts: Row = {
            "trustworthiness": float(quality.trustworthiness[N_NEIGHBORS - 1]),
            "auc": quality.auc,
            "nearest_neighbor_error": nearest_neighbor_error(Y, y),
        }
        if row.pop("is_student"):
            facts["kl"] = kl_divergence(sparse.load_npz(self.folder / "affinities.npz"), Y)
        return facts

    def notes(self, rows: list[Row]) -> list[str]:
        """Set our times and divergences in relation to the targets."""
        return [
            *_against(rows, OURS, YARDSTICK, "seconds", "time", 1.0),
            *_against(rows, OURS, YARDSTICK, "kl", "KL", 1.02),
            *_against(rows, GAMMA, OURS, "seconds", "time", 2.0),
        ]


@dataclass(frozen=True)
class GrowthTask(ViewTask):
    """Time of a view over the number of samples n."""

    n_samples: int = 0

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("samples", "n_samples", "{:,}".format),
        *TIMES,
        ("ms / sample", "ms_per_sample", "{:.3f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds",)

    SAMPLES: ClassVar[tuple[int, ...]] = (5_000, 10_000, 20_000, 40_000)

    def sizes(self) -> dict[str, Task]:
        """Return one task for each number of samples."""
        return {f"n = {n:,}": replace(self, n_samples=n, data=partial(mnist, n)) for n in self.SAMPLES}

    def write_data(self) -> None:
        """Write the samples."""
        np.save(self.folder / "samples.npy", self.data()[0])

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the number of samples and the time of one."""
        return {"n_samples": self.n_samples, "ms_per_sample": 1000 * row["seconds"] / self.n_samples}

    def notes(self, rows: list[Row]) -> list[str]:
        """State the straight lines that describe the times, and the power of n with which they grow."""
        series = self._series(rows)
        powers = [np.polyfit(np.log(sizes), np.log(times), 1)[0] for _, sizes, times in series]
        return [f"{line}; it grows as n^{power:.2f}" for line, power in zip(lines(series, "time s"), powers)]

    def picture(self, rows: list[Row]) -> Any:
        """Draw the times over the number of samples."""
        return picture(self._series(rows), "time s")

    def _series(self, rows: list[Row]) -> list[Series]:
        """Return the times of those who have shown all numbers of samples."""
        measured: dict[str, list[Row]] = {}
        for row in rows:
            if "n_samples" in row:
                measured.setdefault(row["name"], []).append(row)
        return [
            series
            for name, own in measured.items()
            if len(own) == len(self.SAMPLES)
            for series in growth(own, {"n_samples": f"n, {name}"}, {}, "seconds")
        ]


@dataclass(frozen=True)
class LargeViewTask(GrowthTask):
    """Views of up to a million digits; judged by neighbors, of which those made of the same image do not count."""

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("samples", "n_samples", "{:,}".format),
        *TIMES,
        ("CPU s", "cpu_seconds", "{:.0f}".format),
        RATIO,
        ("R_NX AUC", "auc", "{:.4f}".format),
        ("1-NN error", "nearest_neighbor_error", "{:.4f}".format),
        MEMORY,
    ]

    SAMPLES: ClassVar[tuple[int, ...]] = (30_000, 100_000, 300_000, 1_000_000)

    def sizes(self) -> dict[str, Task]:
        """Return one task for each number of samples."""
        return {f"n = {n:,}": replace(self, n_samples=n, data=partial(deformed_mnist, n)) for n in self.SAMPLES}

    def write_data(self) -> None:
        """Write the samples, their classes and the images that they are made of."""
        for name, array in zip(("samples", "classes", "origins"), self.data()):
            np.save(self.folder / f"{name}.npy", array)

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return what the neighbors of some samples have become."""
        from protolearn.metrics import view_quality

        Y = np.asarray(result)
        X, y, origins = (np.load(self.folder / f"{name}.npy") for name in ("samples", "classes", "origins"))
        chosen = np.sort(np.random.default_rng(0).permutation(len(X))[:N_JUDGED])
        return {
            "n_samples": self.n_samples,
            "auc": view_quality(X[chosen], Y[chosen]).auc,
            "nearest_neighbor_error": _error_among_others(Y, y, origins, chosen),
        }


@dataclass(frozen=True)
class MeasureTask(Task):
    """All measures of a view, that of the first two principal components."""

    n_samples: int
    time_limit: float = 30.0  # s
    memory_limit: float = 2_000.0  # MB

    columns: ClassVar[list[Column]] = [*WHO, *TIMES, RATIO, TRUSTWORTHINESS, MEMORY]
    compared: ClassVar[tuple[str, ...]] = ("seconds",)

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_samples:,} x {N_COMPONENTS} samples"

    def write_data(self) -> None:
        """Write the samples and their classes."""
        for name, array in zip(("samples", "classes"), mnist(self.n_samples)):
            np.save(self.folder / f"{name}.npy", array)

    def load(self) -> Data:
        """Return the samples, the view and the classes."""
        X = np.load(self.folder / "samples.npy")
        return X, np.ascontiguousarray(X[:, :2]), np.load(self.folder / "classes.npy")

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Measure the view of a few samples."""
        fit(*(array[:WARM_UP_SAMPLES] for array in data), N_NEIGHBORS)

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Measure the view."""
        return fit(*data, N_NEIGHBORS)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the trustworthiness, which must be the same for all."""
        return {"trustworthiness": float(fitted)}, None

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return nothing beyond what was measured."""
        return {}

    def notes(self, rows: list[Row]) -> list[str]:
        """Say whether time and memory kept the limits."""
        return [
            f"{row['name']}, {row['threads']} thread(s): limit of {limit:g} {unit} "
            f"{'kept' if row[key] < limit else 'EXCEEDED'} ({row[key]:.1f} {unit})"
            for row in rows
            if row["name"] == OURS and "seconds" in row
            for key, unit, limit in (("seconds", "s", self.time_limit), ("memory_mb", "MB", self.memory_limit))
        ]


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        ViewTask("view-digits", "view of the digits, 1,797 x 64", digits, large=False),
        ViewTask("view-mnist", f"view of MNIST, 10,000 x {N_COMPONENTS}", partial(mnist, 10_000), most_fits=1),
        ViewTask("view-mnist-all", f"view of MNIST, 60,000 x {N_COMPONENTS}", partial(mnist, 60_000), most_fits=1),
        GrowthTask("view-scaling", "time of a view of MNIST", partial(mnist, 5_000), most_fits=1),
        MeasureTask("view-quality", "all measures of a view", 10_000, most_fits=1),
    )
}


LARGE_TASKS: dict[str, Task] = {
    "view-million": LargeViewTask(
        "view-million", f"views of deformed MNIST, n x {N_COMPONENTS}", partial(deformed_mnist, 30_000), most_fits=1
    )
}


def _error_among_others(Y: np.ndarray, y: np.ndarray, origins: np.ndarray, chosen: np.ndarray) -> float:
    """Return how many chosen samples have another class than the nearest sample that is not made of the same image."""
    from scipy.spatial import cKDTree

    n_copies = int(np.bincount(origins).max())
    neighbors = cKDTree(Y).query(Y[chosen], k=n_copies + 1)[1]
    nearest = np.argmax(origins[neighbors] != origins[chosen, None], axis=1)
    return float(np.mean(y[neighbors[np.arange(len(chosen)), nearest]] != y[chosen]))


def kl_divergence(P: Any, Y: np.ndarray) -> float:
    """Kullback-Leibler divergence of the joint affinities of a view of t-SNE from those of the data, by all pairs."""
    edges = P.tocoo()
    p = edges.data
    squares = ((Y[edges.row] - Y[edges.col]) ** 2).sum(axis=1)
    mass = _compiled_mass()(*np.ascontiguousarray(Y.T))
    return float((p * (np.log(p) + np.log1p(squares))).sum() + p.sum() * np.log(mass))


@cache
def _compiled_mass() -> Any:
    """Return the function that sums the kernel of t-SNE over all pairs of points in the plane."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def mass(a: np.ndarray, b: np.ndarray) -> float:
        total = 0.0
        for i in numba.prange(len(a)):
            for j in range(len(a)):
                total += 1.0 / (1.0 + (a[i] - a[j]) ** 2 + (b[i] - b[j]) ** 2)
        return total - len(a)

    return mass


def _against(rows: list[Row], name: str, yardstick: str, key: str, quantity: str, most: float) -> list[str]:
    """Set a quantity of one competitor in relation to that of another on as many threads."""
    found = {(row["name"], row["threads"]): row[key] for row in rows if key in row}
    return [
        f"{name}, {threads} thread(s): {quantity} {value / found[yardstick, threads]:.3f} x {yardstick}, "
        f"target at most {most:g}, {'reached' if value <= most * found[yardstick, threads] else 'MISSED'}"
        for (who, threads), value in found.items()
        if who == name and (yardstick, threads) in found
    ]
