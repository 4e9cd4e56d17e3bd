"""What is compared for images: time of a query and of its metric, of training on textures, and of reading colors.

Arrays: X (n, d) features, or patches (n, h, w, c) of textures, y (n,) classes; Z (m, d) images in an index, Q queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.image_data import Pictures, features, noise, skin, textures
from benchmarks.maps import chunks
from benchmarks.registry import FLOOR, OURS
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task, timed

__all__ = [
    "TASKS",
    "ColorTask",
    "EvaluationTask",
    "MetricTask",
    "RetrievalTask",
    "StructureTask",
    "TextureTask",
    "mean_colors",
]

N_NEIGHBORS = 11
N_SINGLE, N_BATCHES, BATCH = 300, 10, 100  # queries one by one, and in batches
LONGEST_QUERY = 10.0  # ms that a query should take at most
LONGEST_TRAINING = 900.0  # seconds that a training on textures should take at most, on two threads
CHUNKS = (256, 2048)  # patches that are multiplied at a time, besides all at once
WARM_UP_SAMPLES = 200

MEMORY: Column = ("memory MB", "memory_mb", "{:.0f}".format)
PRECISION: Column = (f"precision at {N_NEIGHBORS}", "precision", "{:.4f}".format)


@dataclass(frozen=True)
class RetrievalTask(Task):
    """A metric is learned from labeled images, and finds the nearest of many others; judged by their classes."""

    n_labeled: int = 1_000
    n_indexed: int = 20_000
    n_features: int = 6
    n_components: int | None = 3  # rank of the metric, None: full

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("features", "size", str),
        ("index s", "index_seconds", "{:.3f}".format),
        ("ms / query", "query_ms", "{:.3f}".format),
        ("cpu ms / query", "query_cpu_ms", "{:.3f}".format),
        ("time ratio", "query_ms_ratio", "{:.2f}".format),
        (f"ms / query of {BATCH}", "batch_ms", "{:.3f}".format),
        PRECISION,
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("query_ms",)

    FEATURES: ClassVar[tuple[int, ...]] = (6, 16, 32, 64)
    ARRAYS: ClassVar[tuple[str, ...]] = ("X", "Z", "Q")

    @property
    def rank(self) -> int:
        """Rank of the metric."""
        return min(self.n_components or self.n_features, self.n_features)

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {N_NEIGHBORS} of {self.n_indexed:,} images"

    def sizes(self) -> dict[str, Task]:
        """Return one task for each number of features."""
        return {str(d): replace(self, n_features=d) for d in self.FEATURES}

    def write_data(self) -> None:
        """Write the labeled images, those of the index, and the queries, with the classes of all."""
        ends = np.cumsum([self.n_labeled, self.n_indexed, N_BATCHES * BATCH])
        X, y = features(ends[-1], self.n_features)
        for name, part, classes in zip(self.ARRAYS, np.split(X, ends[:-1]), np.split(y, ends[:-1])):
            np.save(self.folder / f"{name}.npy", part)
            np.save(self.folder / f"{name}_classes.npy", classes)

    def load(self) -> Data:
        """Return the labeled images and their classes, the images of the index, and the queries."""
        return tuple(np.load(self.folder / f"{name}.npy") for name in ("X", "X_classes", "Z", "Q"))

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Learn from a few images, and search among a few."""
        X, y, Z, Q = (array[:WARM_UP_SAMPLES] for array in data)
        fit(X, y, self).index(Z).kneighbors(Q, N_NEIGHBORS, return_distance=False)

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Learn the metric."""
        X, y, _, _ = data
        return fit(X, y, self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the times to make the index and to answer queries, and the images found for those in batches."""
        _, _, Z, Q = data
        _, (index_seconds, _) = timed(fitted.index, Z)
        search = partial(fitted.kneighbors, n_neighbors=N_NEIGHBORS, return_distance=False)
        singles = [timed(search, query[None])[1] for query in Q[:N_SINGLE]]
        found, batches = zip(*(timed(search, Q[rows]) for rows in chunks(len(Q), BATCH)))
        query, query_cpu = 1000 * np.median(singles, axis=0)
        batch, _ = 1000 * np.median(batches, axis=0) / BATCH
        times = {"query_ms": query, "query_cpu_ms": query_cpu, "batch_ms": batch}
        return {"index_seconds": index_seconds} | {key: float(ms) for key, ms in times.items()}, np.concatenate(found)

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the share of images found that have the class of the query."""
        indexed, queries = (np.load(self.folder / f"{name}_classes.npy") for name in ("Z", "Q"))
        return {"precision": float(np.mean(indexed[result] == queries[:, None]))}

    def notes(self, rows: list[Row]) -> list[str]:
        """Say whether all our queries kept to the target."""
        ours = [row for row in rows if row["name"].startswith(OURS) and "query_ms" in row]
        if not ours:
            return []
        slowest = max(ours, key=lambda row: row["query_ms"])
        reached = "reached" if slowest["query_ms"] < LONGEST_QUERY else "MISSED"
        return [
            f"slowest median of ours: {slowest['query_ms']:.2f} ms ({slowest['name']}, {slowest['size']} features), "
            f"target below {LONGEST_QUERY:g} ms, {reached}"
        ]


@dataclass(frozen=True)
class MetricTask(RetrievalTask):
    """The same, for the time to learn a metric."""

    n_indexed: int = 5_000

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("labeled images", "size", str),
        *TIMES,
        ("time ratio", "seconds_ratio", "{:.2f}".format),
        PRECISION,
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds",)

    SIZES: ClassVar[tuple[tuple[int, int], ...]] = ((211, 6), (5_000, 64))

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title} of rank {self.n_components}"

    def sizes(self) -> dict[str, Task]:
        """Return one task for few images with few features, and one for many."""
        return {f"{n:,} x {d}": replace(self, n_labeled=n, n_features=d) for n, d in self.SIZES}

    def notes(self, rows: list[Row]) -> list[str]:
        """Say nothing: there is no target."""
        return []


@dataclass(frozen=True)
class TextureTask(Task):
    """A classifier of color textures at the size of its source; judged by errors on three kinds of patches."""

    structure: str = "full"
    prototypes_per_class: int = 4
    max_iter: int = 300
    n_presented: int = 200  # patches by which a pass is judged that would take hours

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("time s", "seconds", "{:.1f}".format),
        ("cpu s", "cpu_seconds", "{:.1f}".format),
        ("iterations", "iterations", str),
        ("share done", "share", "{:.2%}".format),
        ("training s", "training_seconds", "{:,.0f}".format),
        ("time ratio", "training_seconds_ratio", "{:.1f}".format),
        ("train error", "train_error", "{:.4f}".format),
        ("test error", "test_error", "{:.4f}".format),
        ("unseen error", "unseen_error", "{:.4f}".format),
        ("predict us / patch", "predict_us", "{:.1f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("training_seconds",)

    PARTS: ClassVar[tuple[str, ...]] = ("train", "test", "unseen")

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.prototypes_per_class} prototypes per class, {self.max_iter} iterations"

    def write_data(self) -> None:
        """Write the patches and their classes."""
        for part, (X, y) in zip(self.PARTS, textures()):
            np.save(self.folder / f"{part}.npy", X)
            np.save(self.folder / f"{part}_classes.npy", y)

    def load(self) -> Data:
        """Return the patches to train on and their classes, then those to test on and those of unseen pictures."""
        return tuple(np.load(self.folder / f"{name}.npy") for name in ("train", "train_classes", "test", "unseen"))

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Train on some patches of all classes for a short time, and predict them."""
        X, y = (array[:: len(array) // WARM_UP_SAMPLES] for array in data[:2])
        fit(X, y, replace(self, max_iter=2, n_presented=2)).predict(X)

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Train, or do the share of it that takes a bearable time."""
        X, y, _, _ = data
        return fit(X, y, self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the share of the training that was done, the time to predict a patch, and the predicted classes."""
        X, _, test, unseen = data
        predicted = [fitted.predict(patches) for patches in (X, test, unseen)]
        seconds, _ = np.median([timed(fitted.predict, test)[1] for _ in range(5)], axis=0)
        facts = {"share": getattr(fitted, "share", 1.0), "predict_us": 1e6 * float(seconds) / len(test)}
        if hasattr(fitted, "n_iter_"):
            facts["iterations"] = fitted.n_iter_
        return facts, np.concatenate(predicted)

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the time of the whole training, and the errors if it was done."""
        facts: Row = {"training_seconds": row["seconds"] / row["share"]}
        if row["share"] < 1 or result is None:
            return facts
        classes = [np.load(self.folder / f"{part}_classes.npy") for part in self.PARTS]
        predicted = np.split(result, np.cumsum([len(part) for part in classes])[:-1])
        return facts | {
            f"{part}_error": float(np.mean(found != truth))
            for part, found, truth in zip(self.PARTS, predicted, classes)
        }

    def notes(self, rows: list[Row]) -> list[str]:
        """Say whether our training kept to the target."""
        return [
            f"{OURS}, {row['threads']} threads: {row['training_seconds']:.0f} s, target below {LONGEST_TRAINING:g} s, "
            f"{'reached' if row['training_seconds'] < LONGEST_TRAINING else 'MISSED'}"
            for row in rows
            if row["name"] == OURS and row["threads"] > 1 and "training_seconds" in row
        ]


@dataclass(frozen=True)
class StructureTask(TextureTask):
    """The same with maps that have fewer numbers to learn."""

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("structure", "size", str),
        *(column for column in TextureTask.columns[2:] if column[1] not in ("share", "training_seconds_ratio")),
    ]

    def sizes(self) -> dict[str, Task]:
        """Return one task for each structure."""
        return {structure: replace(self, structure=structure) for structure in ("diagonal", "color")}

    def notes(self, rows: list[Row]) -> list[str]:
        """Say nothing: the target is that of full maps."""
        return []


@dataclass(frozen=True)
class EvaluationTask(TextureTask):
    """One evaluation of cost and gradient, beside its matrix products.

    For every class all patches are multiplied by its map. Two classes have a share in the gradient of each patch, so
    there are two more such products for each patch. Both kinds of work take turns, to meet the same machine.
    """

    turns: int = 7

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("evaluation s", "evaluation_seconds", "{:.4f}".format),
        ("products s", "products_seconds", "{:.4f}".format),
        (f"x {FLOOR}", "products_ratio", "{:.2f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("evaluation_seconds",)

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.prototypes_per_class} prototypes per class"

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Evaluate a few patches."""
        X, y = (array[:: len(array) // WARM_UP_SAMPLES] for array in data[:2])
        fit(X, y, self)()

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the median times to evaluate, and to multiply in the fastest way."""
        X = data[0].reshape(len(data[0]), -1)
        n_classes, n_numbers = len(np.unique(data[1])), 2 * data[0].shape[1] * (data[0].shape[2] // 2 + 1)
        maps = np.ones((n_classes, n_numbers, X.shape[1]))  # half spectra, real and imaginary
        slopes = np.ones((len(X), n_numbers))
        ways = [(X, maps, slopes, size) for size in (*CHUNKS, len(X))]
        turns = [[fitted(), *(timed(_multiply, *way)[1][0] for way in ways)] for _ in range(self.turns)]
        evaluation, *products = np.median(turns, axis=0).tolist()
        return {"evaluation_seconds": evaluation, "products_seconds": min(products)}, None

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return how many times its products an evaluation takes."""
        return {"products_ratio": row["evaluation_seconds"] / row["products_seconds"]}

    def notes(self, rows: list[Row]) -> list[str]:
        """Say nothing: there is no target."""
        return []


@dataclass(frozen=True)
class ColorTask(Task):
    """Mean colors of pictures, inside and outside of masks; judged by those of a plain loop."""

    data: Callable[..., Pictures] = skin
    n_images: int = 200
    image_size: int = 512
    n_judged: int = 5

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("pictures", "size", str),
        *TIMES,
        ("images / s", "images_per_second", "{:.1f}".format),
        ("time ratio", "seconds_ratio", "{:.2f}".format),
        ("largest difference", "difference", "{:.1e}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds",)

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_images} pictures of {self.image_size} x {self.image_size} pixels"

    def sizes(self) -> dict[str, Task]:
        """Return one task for skin, and one for pictures without two pixels of the same color, the hardest case."""
        return {"skin": self, "noise": replace(self, data=noise)}

    def write_data(self) -> None:
        """Write the pictures and their masks."""
        for name, array in zip(("images", "masks"), self.data(self.n_images, self.image_size)):
            np.save(self.folder / f"{name}.npy", array)

    def load(self) -> Data:
        """Return the pictures and their masks."""
        return tuple(np.load(self.folder / f"{name}.npy") for name in ("images", "masks"))

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Describe two pictures."""
        fit(*(array[:2] for array in data))

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Describe all pictures."""
        return fit(*data)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the colors."""
        return {}, fitted

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the rate of pictures, and how far some colors are from those of a plain loop."""
        images, masks = (array[: self.n_judged] for array in self.load())
        gap = np.abs(np.asarray(result)[: self.n_judged] - mean_colors(images, masks)).max()
        return {"images_per_second": self.n_images / row["seconds"], "difference": float(gap)}


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        RetrievalTask("retrieval", "search by a learned metric of rank 3", most_fits=1),
        RetrievalTask("retrieval-full", "search by a learned metric of full rank", n_components=None, most_fits=1),
        MetricTask("metrics", "time to learn a metric"),
        TextureTask("textures", "color textures, 3,000 patches 15 x 15 x 3, 5 classes, full maps", most_fits=1),
        StructureTask("texture-structures", "the same textures with simpler maps", most_fits=1),
        EvaluationTask("texture-products", "cost and gradient of these textures, full maps", most_fits=1),
        ColorTask("colors", "mean colors in Lab, inside and outside of masks"),
    )
}


def mean_colors(images: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return the mean colors in Lab outside and inside of masks, as one would write it with scikit-image."""
    from skimage.color import rgb2lab

    converted = map(rgb2lab, images)
    return np.array(
        [np.concatenate([lab[~mask].mean(axis=0), lab[mask].mean(axis=0)]) for lab, mask in zip(converted, masks)]
    )


def _multiply(X: np.ndarray, maps: np.ndarray, slopes: np.ndarray, size: int) -> None:
    """Multiply patches, some at a time, by the maps of all classes, and by the slopes of two."""
    for rows in chunks(len(X), size):
        for matrix in maps:
            X[rows] @ matrix.T
        for _ in range(2):
            slopes[rows].T @ X[rows]
