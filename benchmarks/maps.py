"""What is compared for the topographic maps: the tasks, their data, and the errors of a fitted map.

Arrays: X (n, d) samples, W (k, d) prototypes; node ``row * columns + column`` of a lattice is row of W.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.growth import Series, growth, lines, picture
from benchmarks.registry import OURS
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task, per_epoch, timed

__all__ = ["TASKS", "MapTask", "chunks", "quantization_error", "topographic_error"]

WARM_UP_SAMPLES, WARM_UP_EPOCHS = 5000, 2  # enough for the loops that are compiled for large data


@dataclass(frozen=True)
class MapTask(Task):
    """A map of a given size, fitted to noise or clusters for a number of epochs; judged by its prototypes."""

    epochs: int
    n_samples: int = 50_000
    n_features: int = 50
    lattice: tuple[int, int] = (10, 10)
    n_clusters: int = 1  # normal clusters of unit variance; one is noise
    topographic: bool = False  # whether neighbors on the lattice mean anything for these prototypes
    memory_map: bool = False  # whether the samples stay on disk
    memory_limit: float | None = None  # MB that protolearn may use beyond the samples

    columns: ClassVar[list[Column]] = [
        *WHO,
        *TIMES,
        ("epochs", "epochs", str),
        ("s / epoch", "seconds_per_epoch", "{:.4f}".format),
        ("time ratio", "seconds_per_epoch_ratio", "{:.2f}".format),
        ("quantization error", "quantization_error", "{:.4f}".format),
        ("error ratio", "quantization_error_ratio", "{:.4f}".format),
        ("topographic error", "topographic_error", "{:.3f}".format),
        ("memory MB", "memory_mb", "{:.0f}".format),
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds_per_epoch", "quantization_error")

    @property
    def n_prototypes(self) -> int:
        """Number of prototypes k."""
        return self.lattice[0] * self.lattice[1]

    @cached_property
    def init(self) -> np.ndarray:
        """Common start (k, d): random samples."""
        return np.load(self.folder / "init.npy")

    def describe(self) -> str:
        """State the work in one line."""
        where = ", memory-mapped" if self.memory_map else ""
        kind = "standard normal samples" if self.n_clusters == 1 else f"samples in {self.n_clusters} clusters"
        return (
            f"{self.title}, {self.n_prototypes} prototypes, {self.epochs} epochs over "
            f"{self.n_samples:,} x {self.n_features} float32 {kind}{where}"
        )

    def write_data(self) -> None:
        """Write the samples and the common start."""
        rng = np.random.default_rng(0)
        shape = (self.n_samples, self.n_features)
        X = np.lib.format.open_memmap(self.folder / "samples.npy", mode="w+", dtype=np.float32, shape=shape)
        for rows in chunks(self.n_samples, 50_000):
            X[rows] = rng.standard_normal((rows.stop - rows.start, self.n_features), dtype=np.float32)
        if self.n_clusters > 1:
            centers = rng.uniform(-10.0, 10.0, (self.n_clusters, self.n_features)).astype(np.float32)
            X += centers[rng.integers(self.n_clusters, size=self.n_samples)]
        np.save(self.folder / "init.npy", X[np.sort(rng.choice(self.n_samples, self.n_prototypes, replace=False))])
        X.flush()

    def load(self) -> Data:
        """Return the samples."""
        return (np.load(self.folder / "samples.npy", mmap_mode="r" if self.memory_map else None),)

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit a few samples for a few epochs."""
        (X,) = data
        fit(X[:WARM_UP_SAMPLES], replace(self, epochs=WARM_UP_EPOCHS))

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Fit all samples."""
        (X,) = data
        return fit(X, self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the epochs that were done, and the prototypes (k, d)."""
        prototypes, epochs = fitted
        shape = (self.n_prototypes, self.n_features)
        return {"epochs": int(epochs)}, None if prototypes is None else np.reshape(prototypes, shape)

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the time of an epoch and the errors of the prototypes."""
        facts: Row = {"seconds_per_epoch": row["seconds"] / row["epochs"]}
        if result is not None:
            X = np.load(self.folder / "samples.npy", mmap_mode="r")
            facts["quantization_error"] = quantization_error(X, result)
            facts["topographic_error"] = topographic_error(X, result, self.lattice) if self.topographic else None
        return facts

    def notes(self, rows: list[Row]) -> list[str]:
        """Say whether our memory kept the limit."""
        limit = self.memory_limit
        measured = [row for row in rows if limit and row["name"] == OURS and "memory_mb" in row]
        return [
            f"memory limit {limit:.0f} MB, {row['threads']} thread(s): "
            f"{'kept' if row['memory_mb'] < limit else 'EXCEEDED'} ({row['memory_mb']:.0f} MB)"
            for row in measured
        ]


@dataclass(frozen=True)
class MapGrowthTask(MapTask):
    """CPU time of an epoch over the numbers of samples n, prototypes k and features d."""

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("size", "size", str),
        ("cpu s", "cpu_seconds", "{:.3f}".format),
        ("epochs", "epochs", str),
        ("ms / epoch", "ms_per_epoch", "{:.2f}".format),
    ]
    compared: ClassVar[tuple[str, ...]] = ("ms_per_epoch",)

    SAMPLES: ClassVar[tuple[int, ...]] = (12_500, 25_000, 50_000, 100_000, 200_000)
    LATTICES: ClassVar[tuple[tuple[int, int], ...]] = ((4, 8), (8, 8), (16, 8), (16, 16))
    FEATURES: ClassVar[tuple[int, ...]] = (25, 50, 100, 200)

    def describe(self) -> str:
        """State the work in one line."""
        return self.title

    def sizes(self) -> dict[str, Task]:
        """Return one task for each n, each k and each d, with the other two as they are."""
        tasks = [replace(self, n_samples=n) for n in self.SAMPLES]
        tasks += [replace(self, lattice=lattice) for lattice in self.LATTICES]
        tasks += [replace(self, n_features=d) for d in self.FEATURES]
        return {f"n = {one.n_samples:,}, k = {one.n_prototypes}, d = {one.n_features}": one for one in tasks}

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Fit all samples; return the result, and the fit with half the epochs, still to be done."""
        (X,) = data
        return fit(X, self), partial(fit, X, replace(self, epochs=self.epochs // 2))

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return epochs and time of the fit with half the epochs."""
        (_, epochs), fit_half = fitted
        (_, half), (_, seconds) = timed(fit_half)
        return {"epochs": int(epochs), "half_epochs": int(half), "half_cpu_seconds": seconds}, None

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the sizes and the time of an epoch, from the epochs that only the whole fit did."""
        sizes = {"n_samples": self.n_samples, "n_prototypes": self.n_prototypes, "n_features": self.n_features}
        return sizes | {"ms_per_epoch": 1000 * per_epoch(row, "cpu_seconds")}

    def notes(self, rows: list[Row]) -> list[str]:
        """State the straight lines that describe the times."""
        return lines(self._series(rows))

    def picture(self, rows: list[Row]) -> Any:
        """Draw the times over the three sizes."""
        return picture(self._series(rows))

    def _series(self, rows: list[Row]) -> list[Series]:
        """Return the times over the sizes; nothing unless all were measured."""
        measured = [row for row in rows if "ms_per_epoch" in row]
        if len(measured) < len(self.sizes()):
            return []
        others = {"n_samples": self.n_samples, "n_prototypes": self.n_prototypes, "n_features": self.n_features}
        return growth(measured, {"n_samples": "n", "n_prototypes": "k", "n_features": "d"}, others)


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        MapTask("som", "self-organizing map on a 10 x 10 lattice", epochs=10, topographic=True),
        MapTask("ng", "neural gas", epochs=10),
        MapTask("ng-annealing", "neural gas without its final search", epochs=10),
        MapTask("kmeans", "k-means from the same start", epochs=20),
        MapTask("kmeans-clusters", "k-means from the same start", epochs=20, n_clusters=100),
        MapTask(
            "memmap",
            "self-organizing map on a 10 x 10 lattice",
            epochs=3,
            n_samples=1_000_000,
            topographic=True,
            memory_map=True,
            memory_limit=500.0,
        ),
        MapGrowthTask(
            "map-scaling",
            "time of an epoch of a self-organizing map, float32 standard normal samples",
            epochs=20,
            lattice=(8, 8),
        ),
    )
}


def chunks(n_samples: int, size: int = 2048) -> Iterator[slice]:
    """Cut ``n_samples`` rows into consecutive slices."""
    return (slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size))


def quantization_error(X: np.ndarray, W: np.ndarray) -> float:
    """Mean distance of a sample to its nearest prototype."""
    total = sum(np.sqrt(distances.min(axis=1)).sum() for distances in _squared_distances(X, W))
    return float(total / len(X))


def topographic_error(X: np.ndarray, W: np.ndarray, lattice: tuple[int, int]) -> float:
    """Share of samples whose two nearest prototypes are not among each other's eight lattice neighbors."""
    errors = 0
    for distances in _squared_distances(X, W):
        nearest = np.argpartition(distances, 1, axis=1)[:, :2]
        rows, columns = np.unravel_index(nearest, lattice)
        apart = np.maximum(np.abs(np.diff(rows)), np.abs(np.diff(columns)))
        errors += int((apart > 1).sum())
    return errors / len(X)


def _squared_distances(X: np.ndarray, W: np.ndarray) -> Iterator[np.ndarray]:
    W = np.asarray(W, dtype=np.float64)
    squares = (W**2).sum(axis=1)
    for rows in chunks(len(X)):
        part = np.asarray(X[rows], dtype=np.float64)
        yield np.maximum((part**2).sum(axis=1)[:, None] - 2 * part @ W.T + squares, 0)
