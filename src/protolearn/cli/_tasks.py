"""Tasks of commands on files: how a classifier, a map, clusters or a view is trained, evaluated and applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from protolearn.cli._samples import CliInput
    from protolearn.core.types import Array, Floats

__all__ = ["Classify", "Cluster", "Map", "Task", "ViewTask", "predictions"]

BLOCK = 10_000  # rows that are predicted at a time
JUDGED = 2000  # rows by which clusters and views are judged, and from which mappings are learned
CLUSTERS = range(2, 9)  # numbers of clusters that are tried
FITS_BADLY = "is not a model for"


@dataclass(frozen=True)
class Task:
    """What is learned: each kind says how its model is made, and what it scores on rows it has not seen."""

    seed: int = 0
    name: ClassVar[str]
    most_rows: ClassVar[int]
    most_objects: ClassVar[int] = 2000  # of which all pairs are compared
    supervised: ClassVar[bool] = False
    validated: ClassVar[bool] = True

    def limit(self, samples: CliInput) -> int:
        """Return from how many samples to learn at most, unless more are asked for."""
        return self.most_rows if samples.texts is None else self.most_objects

    def estimator(self, samples: CliInput, X: Any) -> Any:
        """Return the estimator to fit; X is what it will be fitted to, or all distances between objects."""
        raise NotImplementedError

    def scores(self, model: Any, X: Any, y: Array | None, seen: tuple[Any, Array | None]) -> dict[str, float]:
        """Return figures of a fitted model on rows it has not seen, given those it has."""
        raise NotImplementedError

    def pooled_scores(self, y: Array, held_out: Array) -> dict[str, float]:
        """Return figures of the predictions for all rows, each by the model of a repetition that had not seen it."""
        return {}


@dataclass(frozen=True)
class Classify(Task):
    """A classifier with prototypes."""

    model: str = "gmlvq"
    prototypes: int = 1
    name: ClassVar[str] = "classify"
    most_rows: ClassVar[int] = 100_000
    supervised: ClassVar[bool] = True
    MODELS: ClassVar[dict[str, str]] = {
        name.lower(): name for name in ("GMLVQ", "GLVQ", "GRLVQ", "LGRLVQ", "LGMLVQ", "RSLVQ", "LVQ1", "LVQ21")
    }
    OBJECTS: ClassVar[dict[str, str]] = {"rglvq": "RelationalGLVQ", "median": "MedianGLVQ"}

    def estimator(self, samples: CliInput, X: Any) -> Any:
        """Return the classifier that was asked for."""
        import protolearn

        offered = self.MODELS if samples.metric is None else self.OBJECTS
        wanted = "rglvq" if samples.metric is not None and self.model == "gmlvq" else self.model
        if wanted not in offered:
            kind = "tables" if samples.metric is None else "objects"
            raise ValueError(f"{wanted!r} {FITS_BADLY} {kind}; choose one of {', '.join(offered)}.")
        kind = getattr(protolearn, offered[wanted])
        extra = {} if samples.metric is None else {"metric": samples.metric}
        return kind(self.prototypes, random_state=self.seed, **extra)

    def scores(self, model: Any, X: Any, y: Any, seen: Any) -> dict[str, float]:
        """Return how many are right, and how many the largest class would be."""
        from sklearn.metrics import accuracy_score

        return {
            "accuracy": float(accuracy_score(y, model.predict(X))),
            "baseline": float(accuracy_score(y, _largest_class(seen[1], len(y)))),
        }

    def pooled_scores(self, y: Any, held_out: Any) -> dict[str, float]:
        """Return how many of each class are right on average; of a rare one, a single fold may have no row."""
        from sklearn.metrics import balanced_accuracy_score

        return {"balanced accuracy": float(balanced_accuracy_score(y, held_out.astype(str)))}


@dataclass(frozen=True)
class Map(Task):
    """A self-organizing map."""

    size: tuple[int, int] | None = None
    name: ClassVar[str] = "map"
    most_rows: ClassVar[int] = 10_000

    def estimator(self, samples: CliInput, X: Any) -> Any:
        """Return a map of vectors or of objects."""
        from protolearn import SOM, RelationalSOM

        lattice = "auto" if self.size is None else self.size
        if samples.metric is None:
            return SOM(lattice, random_state=self.seed)
        return RelationalSOM(lattice, metric=samples.metric, random_state=self.seed)

    def scores(self, model: Any, X: Any, y: Any, seen: Any) -> dict[str, float]:
        """Return how well the map covers rows, whether it is folded, and what classes its nodes tell."""
        from protolearn.metrics import topographic_error

        columns = X if not hasattr(model, "steps") else model[:-1].transform(X)
        fitted = model if not hasattr(model, "steps") else model[-1]
        return {
            **_coverage(model, X),
            "topographic error": float(topographic_error(columns, fitted)),
            **_class_of_node(model, X, y, seen),
        }


@dataclass(frozen=True)
class Cluster(Task):
    """Clusters around prototypes."""

    clusters: int | None = None
    model: str = "neural-gas"
    name: ClassVar[str] = "cluster"
    most_rows: ClassVar[int] = 50_000
    MODELS: ClassVar[dict[str, tuple[str, str]]] = {
        "neural-gas": ("NeuralGas", "RelationalNeuralGas"),
        "k-means": ("KMeans", "RelationalKMeans"),
    }

    def estimator(self, samples: CliInput, X: Any) -> Any:
        """Return a neural gas or k-means, with the number of clusters of the best silhouette if none is given."""
        import protolearn

        if self.model not in self.MODELS:
            raise ValueError(f"{self.model!r} {FITS_BADLY} clusters; choose one of {', '.join(self.MODELS)}.")
        kind = getattr(protolearn, self.MODELS[self.model][samples.metric is not None])
        extra = {} if samples.metric is None else {"metric": samples.metric}
        return kind(self.clusters or self._best_number(samples, kind, X), random_state=self.seed, **extra)

    def _best_number(self, samples: CliInput, kind: Any, X: Any) -> int:
        import numpy as np
        from sklearn.metrics import silhouette_score

        from protolearn.cli._samples import part
        from protolearn.tables import table_pipeline

        if samples.metric is None:
            assert samples.preparation is not None
            rows = np.random.default_rng(self.seed).permutation(len(X))[:JUDGED]
            X = table_pipeline(samples.preparation, None)[1:-1].fit_transform(part(X, np.sort(rows)))
        measure = "euclidean" if samples.metric is None else "precomputed"
        found = {2: -1.0}
        for number in CLUSTERS:
            if number < len(X):
                labels = kind(number, metric=measure, random_state=self.seed).fit(X).labels_
                if 1 < len(np.unique(labels)) < len(X):
                    found[number] = float(silhouette_score(X, labels, metric=measure))
        return max(found, key=found.__getitem__)

    def scores(self, model: Any, X: Any, y: Any, seen: Any) -> dict[str, float]:
        """Return how well the clusters cover rows, and what classes they tell."""
        return {**_coverage(model, X), **_class_of_node(model, X, y, seen, "class by cluster")}


@dataclass(frozen=True)
class ViewTask(Task):
    """A view of all rows in the plane."""

    mapping: bool = False
    name: ClassVar[str] = "view"
    most_rows: ClassVar[int] = 5000
    validated: ClassVar[bool] = False

    def limit(self, samples: CliInput) -> int:
        """Return from how many samples to learn at most: a mapping takes fewer, and places the others."""
        return JUDGED if self.mapping else super().limit(samples)

    def estimator(self, samples: CliInput, X: Any) -> Any:
        """Return t-SNE, or a mapping that places new rows as well."""
        from protolearn import TSNE, MappedEmbedding
        from protolearn.embedding.costs import tsne

        n = len(X)
        if n < 8:
            raise ValueError(f"A view needs at least 8 rows, but there are {n}.")
        perplexity = float(min(30, (n - 1) // 3))
        if self.mapping:
            if samples.metric is not None:
                raise ValueError("A view with a mapping needs a table; omit --mapping.")
            return MappedEmbedding(cost=tsne(perplexity), random_state=self.seed)
        metric = "euclidean" if samples.metric is None else "precomputed"
        return TSNE(perplexity=perplexity, metric=metric, random_state=self.seed)

    def quality(self, columns: Any, positions: Floats, y: Any, metric: str | None) -> dict[str, float]:
        """Return how far neighbors in the view are neighbors in the data, and the other way round."""
        import numpy as np

        from protolearn.metrics import view_quality

        rows = np.sort(np.random.default_rng(self.seed).permutation(len(positions))[:JUDGED])
        labels = None if y is None or any(label is None for label in y[rows]) else y[rows].astype(str)
        measure = "euclidean" if metric is None else "precomputed"
        shown = columns[rows] if metric is None else columns[np.ix_(rows, rows)]
        found = view_quality(shown, positions[rows], labels, metric=measure)
        k = min(10, len(found.k)) - 1
        figures = {"trustworthiness": found.trustworthiness[k], "continuity": found.continuity[k], "quality": found.auc}
        if found.nearest_neighbor_error is not None:
            figures["class of neighbor"] = 1.0 - found.nearest_neighbor_error
        return {name: float(value) for name, value in figures.items()}


def predictions(model: Any, X: Any) -> dict[str, Array]:
    """Return what a fitted model says about each row, as columns of a table."""
    import numpy as np
    from sklearn.base import is_classifier

    from protolearn.cli._samples import part

    if not hasattr(model, "transform") and not hasattr(model, "predict"):
        raise ValueError("The view cannot embed new rows; train it with: protolearn view DATA --mapping")
    place = "node" if hasattr(model[-1] if hasattr(model, "steps") else model, "lattice_") else "cluster"
    found = []
    for start in range(0, len(X), BLOCK):
        rows = part(X, np.arange(start, min(start + BLOCK, len(X))))
        if is_classifier(model):
            shares = model.predict_proba(rows)
            found.append({"predicted": model.predict(rows), "probability": shares.max(axis=1)})
        elif hasattr(model, "predict"):
            squares = model.transform(rows).min(axis=1)
            found.append({place: model.predict(rows), "distance": np.sqrt(np.maximum(squares, 0.0))})
        else:
            places = np.asarray(model.transform(rows))
            found.append({"x": places[:, 0], "y": places[:, 1]})
    return {name: np.concatenate([block[name] for block in found]) for name in found[0]}


def _coverage(model: Any, X: Any) -> dict[str, float]:
    """Return how far rows are from the nearest prototype, and how much of their variance that leaves explained."""
    import numpy as np

    squares = np.maximum(model.transform(X).min(axis=1), 0.0)
    figures = {"quantization error": float(np.sqrt(squares).mean())}
    if hasattr(model, "steps"):
        columns = model[:-1].transform(X)
        total = float(((columns - columns.mean(axis=0)) ** 2).sum())
        if total > 0:
            figures["explained variance"] = 1.0 - float(squares.sum()) / total
    return figures


def _class_of_node(model: Any, X: Any, y: Any, seen: Any, name: str = "class by node") -> dict[str, float]:
    """Return how many rows are of the class that most seen rows of the same node are of."""
    import numpy as np

    old, labels = seen
    if y is None or labels is None:
        return {}
    known, judged = labels != None, y != None  # noqa: E711, elementwise
    if not known.any() or not judged.any():
        return {}
    classes, codes = np.unique(labels[known].astype(str), return_inverse=True)
    nodes, new = model.predict(old)[known], model.predict(X)[judged]
    counts = np.zeros((max(nodes.max(), new.max()) + 1, len(classes)))
    np.add.at(counts, (nodes, codes), 1.0)
    counts += 1e-3 * np.bincount(codes) / len(codes)  # a node without rows is of the largest class
    return {name: float((classes[counts[new].argmax(axis=1)] == y[judged].astype(str)).mean())}


def _largest_class(labels: Any, n: int) -> Array:
    import numpy as np

    classes, counts = np.unique(labels, return_counts=True)
    return np.repeat(classes[counts.argmax()], n)
