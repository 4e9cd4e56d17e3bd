"""What is compared for new samples in a view: time to place them, how well they fit in, and the matrix products.

Arrays: X (n, d) samples to train on, Z (m, d) samples to place, Y (n + m, 2) positions of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from benchmarks.embedding import MEMORY, N_JUDGED, N_NEIGHBORS, PERPLEXITY, TRUSTWORTHINESS, WARM_UP_SAMPLES
from benchmarks.embedding_data import N_COMPONENTS, mnist
from benchmarks.maps import chunks
from benchmarks.registry import FLOOR
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task, timed

__all__ = ["TASKS", "PlacingTask", "ProductsTask"]

ARRAYS = ("trained", "placed", "classes")
CHUNKS = (256, 2048)  # samples that are multiplied at a time, besides all at once

CLOCKS = ("place_seconds", "place_cpu_seconds")
PLACING: list[Column] = [(title, key, "{:.3f}".format) for title, key in zip(("place s", "place cpu s"), CLOCKS)]


@dataclass(frozen=True)
class PlacingTask(Task):
    """A view of some samples, into which others are placed; judged by the classes and neighbors of these."""

    n_trained: int
    n_placed: int
    perplexity: float = PERPLEXITY
    max_iter: int = 500  # of our mappings
    dtype: str = "float64"

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("first call s", "first_call", "{:.2f}".format),
        ("fit s", "seconds", "{:.3f}".format),
        *PLACING,
        ("time ratio", "place_seconds_ratio", "{:.2f}".format),
        ("1-NN error, placed", "placed_error", "{:.4f}".format),
        ("1-NN error, trained", "trained_error", "{:.4f}".format),
        TRUSTWORTHINESS,
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("place_seconds",)

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_placed:,} placed into a view of {self.n_trained:,}, {N_COMPONENTS} features"

    def write_data(self) -> None:
        """Write the samples to train on, those to place, and the classes of both."""
        X, y = mnist(self.n_trained + self.n_placed)
        for name, array in zip(ARRAYS, (*np.split(X.astype(self.dtype), [self.n_trained]), y)):
            np.save(self.folder / f"{name}.npy", array)

    def load(self) -> Data:
        """Return the samples to train on, and those to place."""
        return tuple(np.load(self.folder / f"{name}.npy") for name in ARRAYS[:2])

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Show a few samples, and place a few others: umap-learn looks up those that it knows."""
        X, Z = (array[:WARM_UP_SAMPLES] for array in data)
        fit(X, self).transform(Z)

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Show the samples to train on."""
        return fit(data[0], self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the times to place the others, and the positions of all."""
        placed, seconds = timed(fitted.transform, data[1])
        # The view is read only now: openTSNE moves it as a whole when it places others.
        return dict(zip(CLOCKS, seconds)), np.concatenate([fitted.embedding_, placed]).astype(np.float64)

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the errors of the nearest trained samples, and what the neighbors of some that were placed are."""
        from sklearn.neighbors import KNeighborsClassifier

        from protolearn.metrics import nearest_neighbor_error, trustworthiness

        trained, placed = np.split(np.asarray(result), [self.n_trained])
        _, Z, y = (np.load(self.folder / f"{name}.npy") for name in ARRAYS)
        known, hidden = np.split(y, [self.n_trained])
        chosen = np.sort(np.random.default_rng(0).permutation(len(Z))[:N_JUDGED])
        return {
            "placed_error": 1.0 - KNeighborsClassifier(1).fit(trained, known).score(placed, hidden),
            "trained_error": nearest_neighbor_error(trained, known),
            "trustworthiness": trustworthiness(Z[chosen], placed[chosen], N_NEIGHBORS),
        }


@dataclass(frozen=True)
class ProductsTask(PlacingTask):
    """Placing by charts, beside its matrix products: with all prototypes, and unless it is crisp with all matrices.

    What was learned does not matter for the time. Placing and multiplying take turns, so that both meet the same
    machine.
    """

    turns: int = 5
    most_products: float = 2.0  # how many times its matrix products placing should take at most

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("samples", "size", str),
        ("charts", "n_charts", str),
        TIMES[1],
        *PLACING,
        ("prototypes s", "prototypes_seconds", "{:.3f}".format),
        ("prototypes and matrices s", "products_seconds", "{:.3f}".format),
        (f"x {FLOOR}", "products_ratio", "{:.2f}".format),
        MEMORY,
    ]

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_placed:,} x {N_COMPONENTS} samples"

    def sizes(self) -> dict[str, Task]:
        """Return one task for each precision."""
        return {dtype: replace(self, dtype=dtype) for dtype in ("float32", "float64")}

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the median times to place, and to multiply in the fastest way."""
        Z, charts = data[1], fitted.mapping_.charts
        prototypes = charts.centers.T.astype(Z.dtype)
        matrices = np.tile(prototypes, fitted.n_components)  # as many columns as the matrices of all charts
        ways = [
            (Z, size, *factors) for factors in ((prototypes,), (prototypes, matrices)) for size in (*CHUNKS, len(Z))
        ]
        turns = [
            [timed(fitted.transform, Z)[1], *(timed(_multiply, *way)[1] for way in ways)] for _ in range(self.turns)
        ]
        placing, *multiplying = np.median(turns, axis=0).tolist()
        nearest, products = np.split(np.array(multiplying)[:, 0], 2)
        return {
            **dict(zip(CLOCKS, placing)),
            "n_charts": len(charts),
            "is_crisp": charts.gating.kind == "crisp",
            "prototypes_seconds": float(nearest.min()),
            "products_seconds": float(products.min()),
        }, None

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return how many times its products placing takes."""
        seconds = row["prototypes_seconds" if row.pop("is_crisp") else "products_seconds"]
        return {"products_ratio": row["place_seconds"] / seconds}

    def notes(self, rows: list[Row]) -> list[str]:
        """Say whether placing kept to the target."""
        return [
            f"{row['name']}, {row['size']}, {row['threads']} thread(s): {row['products_ratio']:.2f} x {FLOOR}, target "
            f"at most {self.most_products:g}, {'reached' if row['products_ratio'] <= self.most_products else 'MISSED'}"
            for row in rows
            if "products_ratio" in row
        ]


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        PlacingTask("placing", "new samples of MNIST", 10_000, 50_000, most_fits=1),
        ProductsTask("products", "placing by charts and its matrix products", 10_000, 50_000, max_iter=1, most_fits=1),
    )
}


def _multiply(Z: np.ndarray, size: int, *matrices: np.ndarray) -> None:
    """Multiply samples, some at a time, by each of some matrices."""
    for rows in chunks(len(Z), size):
        for matrix in matrices:
            Z[rows] @ matrix
