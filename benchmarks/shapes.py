"""What is compared for maps with a shape: time of an epoch or of a presented sample, density, growth.

Every fit is done with all epochs and with half as many, and the times are subtracted: what a map does before and after
its epochs does not count. The range falls in the same way in both, so the difference is a fair half of the epochs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.growth import Series, growth, lines, picture
from benchmarks.registry import FLOOR, OURS
from benchmarks.shape_data import digit, elongated, mnist
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task, per_epoch

__all__ = [
    "TASKS",
    "BatchTask",
    "DensityTask",
    "GrowthTask",
    "OnlineTask",
    "ShapeTask",
    "log_likelihood",
    "product_notes",
]

WARM_UP_SAMPLES, WARM_UP_EPOCHS = 2000, 2
DIGIT = 2  # the class that is learned one sample at a time

RATIO: Column = ("time ratio", "seconds_per_epoch_ratio", "{:.2f}".format)
LIKELIHOOD: Column = ("log-likelihood", "log_likelihood", "{:.4f}".format)
MEMORY: Column = ("memory MB", "memory_mb", "{:.0f}".format)


@dataclass(frozen=True)
class ShapeTask(Task):
    """A map of prototypes with a shape, fitted from the same start; judged by its density, a mixture of normal ones."""

    data: Callable[[], np.ndarray]
    n_prototypes: int
    n_components: int  # directions of a prototype
    epochs: int  # or samples presented, where they are learned one at a time
    dtype: str = "float64"

    columns: ClassVar[list[Column]] = [
        *WHO,
        *TIMES,
        ("epochs", "epochs", str),
        ("s / epoch", "seconds_per_epoch", "{:.4f}".format),
        RATIO,
        LIKELIHOOD,
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds_per_epoch",)

    @cached_property
    def init(self) -> np.ndarray:
        """Common start (k, d): random samples."""
        return np.load(self.folder / "init.npy")

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_prototypes} prototypes, {self.epochs} epochs"

    def write_data(self) -> None:
        """Write the samples and the common start."""
        X = self.data().astype(self.dtype)
        chosen = np.random.default_rng(0).choice(len(X), self.n_prototypes, replace=False)
        np.save(self.folder / "samples.npy", X)
        np.save(self.folder / "init.npy", X[chosen])

    def load(self) -> Data:
        """Return the samples."""
        return (np.load(self.folder / "samples.npy"),)

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit a few samples for a few epochs."""
        (X,) = data
        fit(X[:WARM_UP_SAMPLES], replace(self, epochs=WARM_UP_EPOCHS))

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Fit all samples; return the result, and the fit with half the epochs, still to be done."""
        (X,) = data
        return fit(X, self), partial(fit, X, replace(self, epochs=self.epochs // 2))

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return epochs and times of the fit with half the epochs, and the mixture of the whole one."""
        (mixture, epochs), fit_half = fitted
        wall, cpu = time.perf_counter(), time.process_time()
        _, half = fit_half()
        facts = {"half_seconds": time.perf_counter() - wall, "half_cpu_seconds": time.process_time() - cpu}
        return {"epochs": int(epochs), "half_epochs": int(half), **facts}, mixture

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the time of an epoch and the log-likelihood of the samples."""
        facts: Row = {"seconds_per_epoch": per_epoch(row, "seconds")}
        if result is not None:
            facts["log_likelihood"] = log_likelihood(np.load(self.folder / "samples.npy"), result)
        return facts


@dataclass(frozen=True)
class OnlineTask(ShapeTask):
    """Samples are presented one at a time: digits of one class, small and as they are."""

    target: float = 0.0  # presentations per second that we want to reach

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("pixels", "size", str),
        *TIMES,
        ("presented", "epochs", "{:,}".format),
        ("presentations / s", "presentations_per_second", "{:,.0f}".format),
        RATIO,
        LIKELIHOOD,
        MEMORY,
    ]

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_prototypes} prototypes with {self.n_components} directions"

    def sizes(self) -> dict[str, Task]:
        """Return one task for small digits, and one with fewer presentations for those of MNIST."""
        small = replace(self, data=partial(digit, DIGIT, small=True), target=30_000.0)
        return {"8 x 8": small, "28 x 28": replace(self, epochs=self.epochs // 4, target=3_000.0)}

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the rate of presentations and the log-likelihood of the samples."""
        facts = super().judge(row, result)
        return {"presentations_per_second": 1 / facts["seconds_per_epoch"], "target": self.target} | facts

    def notes(self, rows: list[Row]) -> list[str]:
        """Say whether we reached the targets."""
        return [
            f"{OURS}, {row['size']}: {row['presentations_per_second']:,.0f} presentations / s, target "
            f"{row['target']:,.0f}, {'reached' if row['presentations_per_second'] >= row['target'] else 'MISSED'}"
            for row in rows
            if row["name"] == OURS and "presentations_per_second" in row
        ]


@dataclass(frozen=True)
class BatchTask(ShapeTask):
    """So many features that the products of samples and directions are most of the work."""

    most_products: float = 4.0  # how many times the matrix products alone an epoch should take at most

    columns: ClassVar[list[Column]] = [column for column in ShapeTask.columns if column != LIKELIHOOD]

    def notes(self, rows: list[Row]) -> list[str]:
        """Set our time in relation to the matrix products, with as many threads."""
        return product_notes(rows, "seconds_per_epoch", self.most_products)


@dataclass(frozen=True)
class DensityTask(ShapeTask):
    """A mixture is fitted to the first samples, and gives the log density of all."""

    n_fitted: int = 20_000

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("score s", "score_seconds", "{:.3f}".format),
        ("time ratio", "score_seconds_ratio", "{:.2f}".format),
        LIKELIHOOD,
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("score_seconds",)

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_prototypes} prototypes"

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit a few samples and score them."""
        (X,) = data
        fit(X[:WARM_UP_SAMPLES], replace(self, epochs=WARM_UP_EPOCHS)).score_samples(X[:WARM_UP_SAMPLES])

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Fit the first samples."""
        (X,) = data
        return fit(X[: self.n_fitted], self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the time that the log densities take, and the log densities."""
        (X,) = data
        started = time.perf_counter()
        log_densities = fitted.score_samples(X)
        return {"score_seconds": time.perf_counter() - started}, log_densities

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the mean log density."""
        return {} if result is None else {"log_likelihood": float(result.mean())}


@dataclass(frozen=True)
class GrowthTask(ShapeTask):
    """CPU time of an epoch over the number of samples n and the number of prototypes k."""

    n_samples: int = 50_000

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("size", "size", str),
        ("cpu s", "cpu_seconds", "{:.3f}".format),
        ("epochs", "epochs", str),
        ("ms / epoch", "ms_per_epoch", "{:.2f}".format),
    ]
    compared: ClassVar[tuple[str, ...]] = ("ms_per_epoch",)

    SAMPLES: ClassVar[tuple[int, ...]] = (12_500, 25_000, 50_000, 100_000, 200_000)
    PROTOTYPES: ClassVar[tuple[int, ...]] = (12, 25, 50, 100)

    def describe(self) -> str:
        """State the work in one line."""
        return self.title

    def sizes(self) -> dict[str, Task]:
        """Return one task for each n with 50 prototypes, and for each k with 50,000 samples."""
        pairs = [(n, self.n_prototypes) for n in self.SAMPLES]
        pairs += [(self.n_samples, k) for k in self.PROTOTYPES if k != self.n_prototypes]
        return {
            f"n = {n:,}, k = {k}": replace(self, n_samples=n, n_prototypes=k, data=partial(elongated, n))
            for n, k in pairs
        }

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the sizes and the time of an epoch."""
        milliseconds = 1000 * per_epoch(row, "cpu_seconds")
        return {"n_samples": self.n_samples, "n_prototypes": self.n_prototypes, "ms_per_epoch": milliseconds}

    def notes(self, rows: list[Row]) -> list[str]:
        """State the straight lines that describe the times."""
        return lines(self._series(rows))

    def picture(self, rows: list[Row]) -> Any:
        """Draw the times over both sizes."""
        return picture(self._series(rows))

    def _series(self, rows: list[Row]) -> list[Series]:
        """Return the times over both sizes; nothing unless all were measured."""
        measured = [row for row in rows if "ms_per_epoch" in row]
        if len(measured) < len(self.sizes()):
            return []
        others = {"n_samples": self.n_samples, "n_prototypes": self.n_prototypes}
        return growth(measured, {"n_samples": "n", "n_prototypes": "k"}, others)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        ShapeTask(
            "matrix",
            "a matrix for each prototype, 50,000 x 20 samples",
            partial(elongated, 50_000),
            50,
            20,
            epochs=20,
            most_fits=1,
        ),
        GrowthTask(
            "matrix-scaling",
            "time of an epoch of matrix neural gas, 20 features",
            partial(elongated, 50_000),
            50,
            20,
            epochs=6,
        ),
        DensityTask(
            "density",
            "log density of 1,000,000 x 20 samples",
            partial(elongated, 1_000_000),
            50,
            20,
            epochs=5,
            most_fits=2,
        ),
        OnlineTask(
            "ngpca",
            f"online NGPCA on the digits {DIGIT} of MNIST",
            partial(digit, DIGIT),
            10,
            10,
            epochs=120_000,
            most_fits=1,
        ),
        BatchTask(
            "ngpca-batch",
            "batch NGPCA on MNIST, 60,000 x 784 float32 samples, 10 directions",
            mnist,
            100,
            10,
            epochs=10,
            dtype="float32",
            most_fits=1,
        ),
    )
}


def log_likelihood(X: np.ndarray, mixture: np.ndarray) -> float:
    """Mean log density of samples in a mixture of normal distributions: rows (weight, mean, covariance)."""
    d = X.shape[1]
    logs = []
    for weight, mean, covariance in zip(*np.split(mixture[mixture[:, 0] > 0], [1, 1 + d], axis=1)):
        root = np.linalg.cholesky(covariance.reshape(d, d))
        whitened = np.linalg.solve(root, (X - mean).T)
        logs.append(np.log(weight) - np.log(root.diagonal()).sum() - (whitened**2).sum(axis=0) / 2)
    return float(np.logaddexp.reduce(logs, axis=0).mean() - d / 2 * np.log(2 * np.pi))


def product_notes(rows: list[Row], key: str, most: float) -> list[str]:
    """Set our times in relation to the matrix products alone, with as many threads."""
    times = {(row["name"], row["threads"]): row.get(key) for row in rows}
    ratios = {
        (name, threads): ours / times[FLOOR, threads]
        for (name, threads), ours in times.items()
        if name.startswith(OURS) and ours and times.get((FLOOR, threads))
    }
    return [
        f"{name}, {threads} thread(s): {ratio:.2f} x {FLOOR}, target at most {most:g}, "
        f"{'reached' if ratio <= most else 'MISSED'}"
        for (name, threads), ratio in ratios.items()
    ]
