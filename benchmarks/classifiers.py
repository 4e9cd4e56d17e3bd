"""What is compared for the classifiers: time to fit, accuracy and probabilities on new samples, prediction, growth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.classifier_data import Split, digits, letter, mnist, mnist_components, segmentation, synthetic, usps
from benchmarks.growth import Series, growth, lines, picture
from benchmarks.registry import FLOOR, FLOOR_IN_CHUNKS, OURS
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task

__all__ = ["TASKS", "ClassifierTask", "PredictionTask", "ScalingTask", "probability_scores"]

WARM_UP_PER_CLASS = 5
HELD_OUT = 100  # where the accuracy is not the point
ARRAYS = ("X", "y", "X_test", "y_test")
QUALITY: list[Column] = [
    ("test accuracy", "accuracy", "{:.4f}".format),
    ("predict s", "predict_seconds", "{:.4f}".format),
    ("memory MB", "memory_mb", "{:.0f}".format),
]
PROBABILITIES: list[Column] = [
    ("log loss", "log_loss", "{:.3f}".format),
    ("Brier", "brier", "{:.3f}".format),
    ("calibration error", "calibration_error", "{:.3f}".format),
]
BINS = 10  # of the calibration error


@dataclass(frozen=True)
class ClassifierTask(Task):
    """A classifier, with one prototype per class where it has prototypes; judged by its accuracy on new samples."""

    data: Callable[[], Split]
    n_components: int | None = None  # rank of the learned matrix, None: full
    local: bool = False  # whether every prototype has a matrix of its own
    epochs: int = 100  # for competitors whose library does not suggest a number
    dtype: str = "float64"

    columns: ClassVar[list[Column]] = [
        *WHO,
        *TIMES,
        ("first fit s", "times", lambda times: f"{times[0]:.3f}"),
        ("iterations", "iterations", str),
        ("time ratio", "seconds_ratio", "{:.2f}".format),
        *QUALITY,
        *PROBABILITIES,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds",)
    asks_for_probabilities: ClassVar[bool] = True

    def describe(self) -> str:
        """State the work in one line."""
        return self.title

    def write_data(self) -> None:
        """Write the samples and classes for training and the ones held out."""
        for name, array in zip(ARRAYS, self.data()):
            np.save(self.folder / f"{name}.npy", array.astype(np.int64 if name.startswith("y") else self.dtype))

    def load(self) -> Data:
        """Return the samples and classes for training, and the samples to predict."""
        return tuple(np.load(self.folder / f"{name}.npy") for name in ARRAYS[:3])

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit and predict a few samples of each class."""
        X, y, _ = data
        rows = np.concatenate([np.flatnonzero(y == label)[:WARM_UP_PER_CLASS] for label in np.unique(y)])
        fit(X[rows], y[rows], self).predict(X[rows])

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Fit the training samples."""
        X, y, _ = data
        return fit(X, y, self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the time of a prediction, the iterations if the classifier counts them, and what it says.

        That is the predicted class of each sample, and behind it the probability of every class if it has any.
        """
        started = time.perf_counter()
        predicted = fitted.predict(data[2])
        facts: dict[str, float] = {"predict_seconds": time.perf_counter() - started}
        if getattr(fitted, "n_iter_", None) is not None:
            facts["iterations"] = int(np.max(fitted.n_iter_))
        if predicted is None or not (self.asks_for_probabilities and hasattr(fitted, "predict_proba")):
            return facts, predicted
        return facts, np.column_stack([predicted, fitted.predict_proba(data[2])])

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the accuracy of the predicted classes, and how good their probabilities are."""
        if result is None:
            return {}
        y = np.load(self.folder / "y_test.npy")
        said = result.reshape(len(result), -1)
        quality = {"accuracy": float(np.mean(said[:, 0] == y))}
        if said.shape[1] > 1:
            codes = np.searchsorted(np.unique(np.load(self.folder / "y.npy")), y)
            quality |= probability_scores(said[:, 1:], codes)
        return quality


@dataclass(frozen=True)
class PredictionTask(ClassifierTask):
    """A classifier is fitted to few samples and predicts many, in both precisions."""

    asks_for_probabilities: ClassVar[bool] = False
    columns: ClassVar[list[Column]] = [
        *WHO,
        ("samples", "size", str),
        ("time ratio", "predict_seconds_ratio", "{:.2f}".format),
        *QUALITY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("predict_seconds",)

    def sizes(self) -> dict[str, Task]:
        """Return one task for each precision."""
        return {dtype: replace(self, dtype=dtype) for dtype in ("float32", "float64")}

    def notes(self, rows: list[Row]) -> list[str]:
        """Set our time in relation to the matrix product, whole and in chunks."""
        times = {(row["name"], row["size"], row["threads"]): row.get("predict_seconds") for row in rows}
        return [
            f"{OURS}, {size}, {threads} thread(s): {ours / times[floor, size, threads]:.2f} x {floor}"
            for (name, size, threads), ours in times.items()
            for floor in (FLOOR, FLOOR_IN_CHUNKS)
            if name == OURS and ours and times.get((floor, size, threads))
        ]


@dataclass(frozen=True)
class ScalingTask(ClassifierTask):
    """CPU time of an epoch over the number of samples n and over the rank M of the matrix."""

    n_samples: int = 10_000

    asks_for_probabilities: ClassVar[bool] = False
    columns: ClassVar[list[Column]] = [
        *WHO,
        ("size", "size", str),
        ("cpu s", "cpu_seconds", "{:.3f}".format),
        ("epochs", "iterations", str),
        ("ms / epoch", "ms_per_epoch", "{:.3f}".format),
    ]
    compared: ClassVar[tuple[str, ...]] = ("ms_per_epoch",)

    SAMPLES: ClassVar[tuple[int, ...]] = (1_000, 3_000, 10_000, 30_000, 100_000)
    COMPONENTS: ClassVar[tuple[int, ...]] = (1, 2, 4, 8, 16, 32, 64)

    def sizes(self) -> dict[str, Task]:
        """Return one task for each n with a full matrix, and for each M with 10,000 samples."""
        full = self.COMPONENTS[-1]
        pairs = [(n, full) for n in self.SAMPLES] + [(self.n_samples, m) for m in self.COMPONENTS[:-1]]
        return {
            f"n = {n:,}, M = {m}": replace(
                self, n_samples=n, n_components=m, data=partial(synthetic, n + HELD_OUT, full, HELD_OUT)
            )
            for n, m in pairs
        }

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the size and the time of an epoch."""
        per_epoch = 1000 * row["cpu_seconds"] / row["iterations"]
        return {"n_samples": self.n_samples, "n_components": self.n_components, "ms_per_epoch": per_epoch}

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
        others = {"n_samples": self.n_samples, "n_components": self.COMPONENTS[-1]}
        return growth(measured, {"n_samples": "n", "n_components": "M"}, others)


def probability_scores(P: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return log loss, Brier score and expected calibration error of probabilities P (n, C) for classes y.

    The Brier score adds up the squared errors over the classes, and lies between 0 and 2. The calibration error is the
    gap between the largest probability and the accuracy, in ten bins of equal width, as a mean over the samples.
    """
    largest, right = P.max(axis=1), P.argmax(axis=1) == y
    bins = np.minimum((largest * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, right - largest, BINS)
    return {
        "log_loss": float(-np.log(np.clip(P[np.arange(len(y)), y], 1e-15, 1.0)).mean()),
        "brier": float(((P - np.eye(P.shape[1])[y]) ** 2).sum(axis=1).mean()),
        "calibration_error": float(np.abs(gaps).sum() / len(y)),
    }


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        ClassifierTask("digits", "handwritten digits of scikit-learn, 1,257 x 64, 10 classes", digits),
        ClassifierTask("digits-local", "the same digits with a matrix for each prototype (LGMLVQ)", digits, local=True),
        ClassifierTask("digits-rank2", "the same digits with a matrix of rank 2", digits, n_components=2),
        ClassifierTask("segmentation", "image segmentation (UCI), 210 x 16, 7 classes", segmentation),
        ClassifierTask("letter", "letters (UCI), 14,000 x 16, 26 classes", letter, epochs=20),
        ClassifierTask("usps", "handwritten digits of USPS, 7,291 x 256, 10 classes", usps, epochs=20),
        ClassifierTask(
            "mnist",
            "handwritten digits of MNIST, 60,000 x 784, 10 classes",
            mnist,
            epochs=20,
            dtype="float32",
            most_fits=1,
        ),
        ClassifierTask(
            "lmnn",
            "a metric for nearest neighbors (LMNN), MNIST, 5,000 x 64, 10 classes",
            mnist_components,
            most_fits=2,
        ),
        ClassifierTask(
            "synthetic", "overlapping classes, 35,000 x 50, 5 classes", partial(synthetic, 50_000, 50), epochs=5
        ),
        PredictionTask(
            "predict", "prediction of 1,000,000 x 50 samples, 5 classes", partial(synthetic, 1_005_000, 50, 1_000_000)
        ),
        ScalingTask(
            "scaling", "time of an epoch of GMLVQ, 64 features, 5 classes", partial(synthetic, 10_000, 64), epochs=30
        ),
    )
}
