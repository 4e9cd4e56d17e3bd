"""What is compared for the topographic maps: the tasks, their data, and the errors of a fitted map.

Arrays: X (n, d) samples, W (k, d) prototypes; node ``row * columns + column`` of a lattice is row of W.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

__all__ = ["TASKS", "Task", "chunks", "quantisation_error", "topographic_error", "write_data"]


@dataclass(frozen=True)
class Task:
    """One piece of work that every competitor does: samples, size of the model and number of epochs."""

    name: str
    title: str
    epochs: int
    n_samples: int = 50_000
    n_features: int = 50
    lattice: tuple[int, int] = (10, 10)
    topographic: bool = False  # whether neighbours on the lattice mean anything for these prototypes
    memory_map: bool = False  # whether the samples stay on disk
    memory_limit: float | None = None  # MB that protolearn may use beyond the samples
    init: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # (k, d) common start, set with the data

    @property
    def n_prototypes(self) -> int:
        """Number of prototypes k."""
        return self.lattice[0] * self.lattice[1]

    def describe(self) -> str:
        """State the work in one line."""
        where = ", memory-mapped" if self.memory_map else ""
        return (
            f"{self.title}, {self.n_prototypes} prototypes, {self.epochs} epochs over "
            f"{self.n_samples:,} x {self.n_features} float32 standard normal samples{where}"
        )


TASKS = {
    task.name: task
    for task in (
        Task("som", "self-organising map on a 10 x 10 lattice", epochs=10, topographic=True),
        Task("ng", "neural gas", epochs=10),
        Task("kmeans", "k-means from the same start", epochs=20),
        Task(
            "memmap",
            "self-organising map on a 10 x 10 lattice",
            epochs=3,
            n_samples=1_000_000,
            topographic=True,
            memory_map=True,
            memory_limit=500.0,
        ),
    )
}


def chunks(n_samples: int, size: int = 2048) -> Iterator[slice]:
    """Cut ``n_samples`` rows into consecutive slices."""
    return (slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size))


def write_data(task: Task, folder: Path) -> tuple[Path, Path]:
    """Write the samples and the common start (random samples) of a task; return the two paths."""
    rng = np.random.default_rng(0)
    data, init = folder / f"{task.name}-samples.npy", folder / f"{task.name}-init.npy"
    shape = (task.n_samples, task.n_features)
    X = np.lib.format.open_memmap(data, mode="w+", dtype=np.float32, shape=shape)
    for rows in chunks(task.n_samples, 50_000):
        X[rows] = rng.standard_normal((rows.stop - rows.start, task.n_features), dtype=np.float32)
    np.save(init, X[np.sort(rng.choice(task.n_samples, task.n_prototypes, replace=False))])
    X.flush()
    return data, init


def quantisation_error(X: np.ndarray, W: np.ndarray) -> float:
    """Mean distance of a sample to its nearest prototype."""
    total = sum(np.sqrt(distances.min(axis=1)).sum() for distances in _squared_distances(X, W))
    return float(total / len(X))


def topographic_error(X: np.ndarray, W: np.ndarray, lattice: tuple[int, int]) -> float:
    """Share of samples whose two nearest prototypes are not among each other's eight lattice neighbours."""
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
