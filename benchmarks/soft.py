"""What is compared for soft LVQ and supervised neural gas: time to fit, accuracy and log loss on samples held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from benchmarks.classifier_data import Split, digits, segmentation, wine
from benchmarks.classifiers import QUALITY, ClassifierTask
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task

__all__ = ["TASKS", "SoftTask"]

SETS: dict[str, Callable[[], Split]] = {"wine": wine, "segmentation": segmentation, "digits": digits}
LEAST = 1e-15  # probability, in the log loss


@dataclass(frozen=True)
class SoftTask(ClassifierTask):
    """A classifier with several prototypes per class, on three data sets."""

    metric: str = "euclidean"  # or "matrix"
    per_class: int = 2

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("data", "size", str),
        *TIMES,
        ("first fit s", "times", lambda times: f"{times[0]:.3f}"),
        ("iterations", "iterations", str),
        ("cpu ratio", "cpu_seconds_ratio", "{:.2f}".format),
        *QUALITY[:1],
        ("test log loss", "log_loss", "{:.3f}".format),
    ]

    compared: ClassVar[tuple[str, ...]] = ("cpu_seconds",)  # fits are too short for the clock of a busy machine

    def sizes(self) -> dict[str, Task]:
        """Return one task for each data set."""
        return {name: replace(self, data=data) for name, data in SETS.items()}

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the predicted classes, and next to them their probabilities, if the classifier has any."""
        facts, predicted = super().outcome(fitted, data)
        if not hasattr(fitted, "predict_proba"):
            return facts, predicted
        return facts, np.column_stack([np.asarray(predicted), fitted.predict_proba(data[2])])

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the accuracy, and the log loss of probabilities."""
        if result is None or result.ndim == 1:
            return super().judge(row, result)
        y = np.load(self.folder / "y_test.npy")
        own = result[:, 1:][np.arange(len(y)), y]
        return super().judge(row, result[:, 0]) | {"log_loss": float(-np.log(np.maximum(own, LEAST)).mean())}


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        SoftTask("rslvq", "robust soft LVQ, 2 prototypes per class", wine),
        SoftTask("mrslvq", "robust soft LVQ with a relevance matrix, 2 prototypes per class", wine, metric="matrix"),
        SoftTask("sng", "supervised neural gas, 4 prototypes per class", wine, per_class=4),
        SoftTask(
            "smng",
            "supervised neural gas with a relevance matrix, 4 prototypes per class",
            wine,
            metric="matrix",
            per_class=4,
        ),
    )
}
