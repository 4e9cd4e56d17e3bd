"""What is compared for maps of dissimilarities: whole matrices, medoids, patches of strings, and the dissimilarities.

Arrays: D (n, n) dissimilarities, X (n, d) the samples whose distances they are, W (k, d) prototypes. Prototypes
that combine objects are the same combinations of samples, so all maps are judged by the same errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from benchmarks.classifier_data import Split, chromosomes
from benchmarks.classifiers import ClassifierTask
from benchmarks.growth import Series, growth, lines, picture
from benchmarks.maps import MapTask
from benchmarks.registry import OURS
from benchmarks.relational_data import LENGTH, distances, labeled_strings, series, strings, texts
from benchmarks.shapes import product_notes
from benchmarks.tasks import TIMES, WHO, Column, Data, Row, Task
from protolearn.maps import Patches

__all__ = ["TASKS", "MatrixTask", "MedianTask", "MedoidsTask", "ObjectClassifierTask", "PairsTask", "StringsTask"]

WARM_UP_OBJECTS, WARM_UP_EPOCHS = 500, 2

RATIO: Column = ("time ratio", "seconds_ratio", "{:.2f}".format)
MEMORY: Column = ("memory MB", "memory_mb", "{:.0f}".format)


@dataclass(frozen=True)
class MatrixTask(MapTask):
    """A map of a given size, fitted to the distances of samples; the epochs are the same for all."""

    n_samples: int = 5_000
    n_features: int = 20
    lattice: tuple[int, int] = (5, 10)
    most_products: float | None = None  # how many times the matrix products alone a fit should take at most

    columns: ClassVar[list[Column]] = [
        *WHO,
        *TIMES,
        ("epochs", "epochs", str),
        RATIO,
        ("quantization error", "quantization_error", "{:.4f}".format),
        ("error ratio", "quantization_error_ratio", "{:.4f}".format),
        ("topographic error", "topographic_error", "{:.3f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds", "quantization_error")

    @cached_property
    def samples(self) -> np.ndarray:
        """The samples X (n, d)."""
        return np.load(self.folder / "samples.npy").astype(np.float64)

    def describe(self) -> str:
        """State the work in one line."""
        n = f"{self.n_samples:,}"
        return f"{self.title}, {self.n_prototypes} prototypes, {self.epochs} epochs over {n} x {n} dissimilarities"

    def write_data(self) -> None:
        """Write the samples, random ones for a common start, and the distances."""
        super().write_data()
        np.save(self.folder / "distances.npy", distances(np.load(self.folder / "samples.npy")))

    def load(self) -> Data:
        """Return the distances."""
        return (np.load(self.folder / "distances.npy"),)

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit a few objects for a few epochs."""
        fit(_corner(data), replace(self, epochs=WARM_UP_EPOCHS))

    def notes(self, rows: list[Row]) -> list[str]:
        """Set our times in relation to the matrix products."""
        return product_notes(rows, "seconds", self.most_products) if self.most_products else []


@dataclass(frozen=True)
class MedianTask(MatrixTask):
    """Prototypes that are objects: the quantization error is the loss of k-medoids for each object."""

    yardstick: str = "kmedoids (FasterPAM)"
    most_loss: float = 1.01  # loss at most in relation to the yardstick

    def notes(self, rows: list[Row]) -> list[str]:
        """Set our times in relation to the matrix products, and our losses to those of the yardstick."""
        return super().notes(rows) + _against(rows, self.yardstick, "quantization_error", "loss", self.most_loss)


@dataclass(frozen=True)
class MedoidsTask(MatrixTask):
    """k-medoids from several random starts; the time is that of one fit."""

    n_starts: int = 3
    yardstick: str = "kmedoids (alternating)"
    most_time: float = 2.0  # in relation to the yardstick
    most_loss: float = 1.0

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("s / fit", "seconds_per_fit", "{:.3f}".format),
        ("cpu s / fit", "cpu_seconds_per_fit", "{:.3f}".format),
        ("time ratio", "seconds_per_fit_ratio", "{:.2f}".format),
        ("mean loss", "loss", "{:,.1f}".format),
        ("loss ratio", "loss_ratio", "{:.4f}".format),
        ("lowest loss", "lowest_loss", "{:,.1f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds_per_fit", "loss")

    def describe(self) -> str:
        """State the work in one line."""
        n = f"{self.n_samples:,}"
        return f"{self.title}, {self.n_prototypes} of {n} x {n} dissimilarities, {self.n_starts} starts"

    def start(self, n_objects: int, seed: int) -> np.ndarray:
        """Return random objects from which a fit may start."""
        return np.random.default_rng(seed).choice(n_objects, self.n_prototypes, replace=False)

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit a few objects."""
        fit(_corner(data), self, 0)

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Fit all objects from every start."""
        (D,) = data
        return [fit(D, self, seed) for seed in range(self.n_starts)]

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the medoids of all fits (starts, k)."""
        return {}, np.array(fitted)

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the times of one fit, and the losses: sums of dissimilarities to the nearest medoid."""
        D = np.load(self.folder / "distances.npy", mmap_mode="r")
        losses = [float(D[medoids].min(axis=0).sum()) for medoids in np.asarray(result)]
        times = {f"{clock}_per_fit": row[clock] / self.n_starts for clock in ("seconds", "cpu_seconds")}
        return {**times, "loss": float(np.mean(losses)), "lowest_loss": min(losses)}

    def notes(self, rows: list[Row]) -> list[str]:
        """Set our times and losses in relation to those of the yardstick."""
        times = _against(rows, self.yardstick, "seconds_per_fit", "time", self.most_time)
        return times + _against(rows, self.yardstick, "loss", "loss", self.most_loss)


@dataclass(frozen=True)
class StringsTask(Task):
    """Strings learned patch by patch, more of them than a matrix of all pairs has room for."""

    n_objects: int = 50_000
    n_prototypes: int = 50
    patch_size: int = 1_000
    memory_limit: float = 1_000.0  # MB

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("strings", "n_objects", "{:,}".format),
        *TIMES,
        ("cpu ms / string", "ms_per_object", "{:.3f}".format),
        ("dissimilarities / string", "computed_per_object", "{:.0f}".format),
        ("purity", "purity", "{:.3f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds",)

    SIZES: ClassVar[tuple[int, ...]] = (6_000, 12_000, 25_000, 50_000)
    N_JUDGED: ClassVar[int] = 2_000

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_prototypes} prototypes, patches of {self.patch_size:,}"

    def sizes(self) -> dict[str, Task]:
        """Return one task for each number of strings."""
        return {f"{n:,} strings": replace(self, n_objects=n) for n in self.SIZES if n <= self.n_objects}

    def write_data(self) -> None:
        """Write the strings and their classes."""
        words, y = labeled_strings(self.n_objects)
        np.save(self.folder / "strings.npy", words)
        np.save(self.folder / "classes.npy", y)

    def load(self) -> Data:
        """Return the strings."""
        return (np.load(self.folder / "strings.npy"),)

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit a few strings, in two patches."""
        (words,) = data
        fit(words[:WARM_UP_OBJECTS].tolist(), replace(self, patches=Patches(WARM_UP_OBJECTS // 2)))

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Fit all strings."""
        (words,) = data
        return fit(words.tolist(), self)

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the number of dissimilarities that the fit took, and the prototypes of the first strings."""
        (words,) = data
        computed = fitted.n_dissimilarities_
        return {"n_dissimilarities": int(computed)}, fitted.predict(words[: self.N_JUDGED].tolist())

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return costs per string, and the share of strings in the main class of their prototype."""
        counts = np.zeros((self.n_prototypes, 1 + int(np.load(self.folder / "classes.npy").max())))
        winners = np.asarray(result)
        np.add.at(counts, (winners, np.load(self.folder / "classes.npy")[: len(winners)]), 1)
        return {
            "n_objects": self.n_objects,
            "ms_per_object": 1000 * row["cpu_seconds"] / self.n_objects,
            "computed_per_object": row["n_dissimilarities"] / self.n_objects,
            "purity": float(counts.max(axis=1).sum() / len(winners)),
        }

    def notes(self, rows: list[Row]) -> list[str]:
        """Say whether the memory kept the limit, and state the straight line that describes the times."""
        memory = [
            f"memory limit {self.memory_limit:.0f} MB, {row['n_objects']:,} strings: "
            f"{'kept' if row['memory_mb'] < self.memory_limit else 'EXCEEDED'} ({row['memory_mb']:.0f} MB)"
            for row in rows
            if row.get("n_objects") == self.n_objects
        ]
        return memory + lines(self._series(rows), "cpu s")

    def picture(self, rows: list[Row]) -> Any:
        """Draw the time over the number of strings."""
        return picture(self._series(rows), "cpu s")

    def _series(self, rows: list[Row]) -> list[Series]:
        """Return the times over the number of strings; nothing unless all were measured."""
        measured = [row for row in rows if "n_objects" in row]
        return growth(measured, {"n_objects": "n"}, {}, "cpu_seconds") if len(measured) == len(self.sizes()) else []


@dataclass(frozen=True)
class PairsTask(Task):
    """A dissimilarity of all pairs between two collections of as many objects."""

    data: Callable[[int], np.ndarray]
    n_objects: int  # in each of the two

    columns: ClassVar[list[Column]] = [
        *WHO,
        *TIMES,
        ("pairs / s", "pairs_per_second", "{:,.0f}".format),
        RATIO,
        ("mean dissimilarity", "mean_dissimilarity", "{:.6g}".format),
    ]
    compared: ClassVar[tuple[str, ...]] = ("seconds",)

    N_FIRST: ClassVar[int] = 10

    def describe(self) -> str:
        """State the work in one line."""
        return f"{self.title}, {self.n_objects:,} x {self.n_objects:,} pairs"

    def write_data(self) -> None:
        """Write the objects of both collections."""
        np.save(self.folder / "objects.npy", self.data(2 * self.n_objects))

    def load(self) -> Data:
        """Return the two collections."""
        return tuple(np.split(np.load(self.folder / "objects.npy"), 2))

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Compare a few objects."""
        fit(*(_listed(objects[: self.N_FIRST]) for objects in data))

    def run(self, fit: Callable[..., Any], data: Data) -> Any:
        """Compare all objects."""
        return fit(*map(_listed, data))

    def outcome(self, fitted: Any, data: Data) -> tuple[dict[str, float], np.ndarray | None]:
        """Return the mean, which is the same for all who compute the same."""
        return {"mean_dissimilarity": float(np.mean(fitted, dtype=np.float64))}, None

    def judge(self, row: Row, result: np.ndarray | None) -> Row:
        """Return the rate of pairs."""
        return {"pairs_per_second": self.n_objects**2 / row["seconds"]}


@dataclass(frozen=True)
class ObjectClassifierTask(ClassifierTask):
    """LVQ of chromosomes, by their edit distances; judged by its accuracy on others."""

    data: Callable[[], Split] = chromosomes
    per_class: int = 1
    least_ratio: float = 20.0  # time of others in relation to ours

    columns: ClassVar[list[Column]] = [
        *WHO,
        ("prototypes", "size", str),
        *TIMES,
        ("cpu time ratio", "cpu_seconds_ratio", "{:.1f}".format),
        ("test accuracy", "accuracy", "{:.4f}".format),
        MEMORY,
    ]
    compared: ClassVar[tuple[str, ...]] = ("cpu_seconds",)

    def sizes(self) -> dict[str, Task]:
        """Return one task for each number of prototypes."""
        return {f"{k} per class": replace(self, per_class=k) for k in (1, 3)}

    def warm_up(self, fit: Callable[..., Any], data: Data) -> None:
        """Fit a few objects of each class."""
        D, y, _ = data
        rows = np.concatenate([np.flatnonzero(y == label)[:5] for label in np.unique(y)])
        fit(np.ascontiguousarray(D[np.ix_(rows, rows)]), y[rows], self)

    def notes(self, rows: list[Row]) -> list[str]:
        """Set the times of others in relation to ours."""
        return [
            f"{row['name']}, {row['size']}: {row['cpu_seconds_ratio']:.0f} x our time, target at least "
            f"{self.least_ratio:g}, {'reached' if row['cpu_seconds_ratio'] >= self.least_ratio else 'MISSED'}"
            for row in rows
            if row.get("cpu_seconds_ratio") and not row["name"].startswith(OURS)
        ]


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        MatrixTask("relational-ng", "relational neural gas", 100, most_products=1.5, most_fits=1),
        MatrixTask("relational-peers", "relational neural gas", 50, n_samples=2_000, most_fits=1),
        MedianTask("median-ng", "median neural gas", 100, most_products=1.5, most_fits=1),
        MedianTask("median-plane", "median neural gas in the plane", 100, n_features=2, most_fits=1),
        MedoidsTask("medoids", "medoids", 100, most_fits=1),
        MedoidsTask("medoids-plane", "medoids in the plane", 100, n_features=2, most_fits=1),
        MatrixTask("relational-som", "relational self-organizing map", 50, topographic=True, most_fits=1),
        StringsTask("strings", f"relational neural gas of strings of length {LENGTH}", most_fits=1),
        ObjectClassifierTask("relational-glvq", "relational GLVQ of 2,200 chromosomes, 22 classes", most_fits=2),
        ObjectClassifierTask("median-glvq", "median GLVQ of 2,200 chromosomes, 22 classes", most_fits=2),
        PairsTask("edit", f"edit distance of strings of length {LENGTH}", strings, 3_000),
        PairsTask("numeric-edit", f"edit distance of {LENGTH} numbers", partial(series, length=LENGTH), 1_000),
        PairsTask("dtw", "dynamic time warping of 100 numbers", partial(series, length=100), 150),
        PairsTask("ncd", "normalized compression distance (bz2) of texts of 60 words", texts, 100),
    )
}


def _corner(data: Data) -> np.ndarray:
    """Return the distances of the first objects."""
    (D,) = data
    return np.ascontiguousarray(D[:WARM_UP_OBJECTS, :WARM_UP_OBJECTS])


def _listed(objects: np.ndarray) -> Any:
    """Return strings as a list, and numbers as they are."""
    return objects.tolist() if objects.dtype.kind == "U" else objects


def _against(rows: list[Row], yardstick: str, key: str, quantity: str, most: float) -> list[str]:
    """Set one of our quantities in relation to that of a competitor on one thread."""
    found = {(row["name"], row["threads"]): row[key] for row in rows if key in row}
    reference = found.get((yardstick, 1))
    return [
        f"{name}: {quantity} {value / reference:.3f} x {yardstick}, target at most {most:g}, "
        f"{'reached' if value <= most * reference else 'MISSED'}"
        for (name, threads), value in found.items()
        if name.startswith(OURS) and threads == 1 and reference
    ]
