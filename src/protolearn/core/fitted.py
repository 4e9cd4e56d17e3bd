"""Decomposition of fitted pipelines: the steps before a model, the model itself, and the names of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from protolearn.core.lattices import Lattice
from protolearn.core.loop import distances_to, stage, winners
from protolearn.core.neighbors import two_nearest
from protolearn.core.parameters import constrained, option
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats
from protolearn.core.validation import check_weights, weight_unit

__all__ = [
    "Parts",
    "check_samples",
    "edge_lengths",
    "is_relational",
    "lattice_of",
    "nearest_prototypes",
    "prototype_distances",
    "prototypes_of",
    "quantization_error",
    "take_apart",
    "take_map_apart",
]


@dataclass(frozen=True)
class Parts:
    """A model and the preprocessing steps before it.

    Attributes
    ----------
    before : Pipeline or None
        The steps before the model; None if there are none.
    last : object
        The model itself.
    given : object
        The given pipeline or model.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import KMeans
    >>> from protolearn.core.fitted import take_apart
    >>> parts = take_apart(make_pipeline(StandardScaler(), KMeans(2, random_state=0)).fit(np.arange(8.0).reshape(4, 2)))
    >>> type(parts.last).__name__, parts.transform(np.array([[3.0, 4.0]])).tolist(), parts.names_in().tolist()
    ('KMeans', [[0.0, 0.0]], ['x0', 'x1'])
    """

    before: Pipeline | None
    last: Any
    given: Any

    def transform(self, X: Any) -> Any:
        """Return preprocessed samples, the input of the model."""
        return X if self.before is None else self.before.transform(X)

    def names_in(self) -> Array:
        """Return the names of the features of samples; ``x0``, ``x1``, ... if the fit had no names."""
        steps = [] if self.before is None else [step for _, step in self.before.steps]
        first = next(step for step in (self.given, *steps, self.last) if hasattr(step, "n_features_in_"))
        return _names(getattr(first, "feature_names_in_", None), first.n_features_in_)

    def names_out(self, n_columns: int) -> Array:
        """Return the names of the columns that the model takes, as far as the steps before it can tell."""
        if self.before is None:
            return self.names_in()
        try:
            given = getattr(self.last, "feature_names_in_", None)
            return _names(self.before.get_feature_names_out() if given is None else given, n_columns)
        except (AttributeError, TypeError, ValueError):  # a step that cannot tell
            return _names(None, n_columns)


def take_apart(model: Any) -> Parts:
    """Return the model at the end of a pipeline, or of pipelines in pipelines, and the steps before it.

    The model of a fitted search, such as ``GridSearchCV``, is its best estimator.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import KMeans
    >>> parts = take_apart(make_pipeline(StandardScaler(), KMeans(2)))
    >>> type(parts.last).__name__, len(parts.before)
    ('KMeans', 1)
    """
    steps: list[Any] = []
    last = model
    while isinstance(last, Pipeline) or hasattr(last, "best_estimator_"):
        if isinstance(last, Pipeline):
            steps += last.steps[:-1]
            last = last.steps[-1][1]
        else:
            last = last.best_estimator_
    return Parts(Pipeline(steps) if steps else None, last, model)


def take_map_apart(model: Any) -> Parts:
    """Return the map inside a classifier, or at the end of a pipeline, and all steps before it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from protolearn import KMeans, PrototypeClassifier
    >>> X = np.arange(8.0)[:, None]
    >>> model = PrototypeClassifier(make_pipeline(StandardScaler(), KMeans(2))).fit(X, X[:, 0] > 3)
    >>> type(take_map_apart(model).last).__name__
    'KMeans'
    """
    outer = take_apart(model)
    inner = take_apart(getattr(outer.last, "estimator_", outer.last))
    steps = [step for part in (outer, inner) if part.before is not None for step in part.before.steps]
    return Parts(Pipeline(steps) if steps else None, inner.last, model)


def _names(given: Any, n_columns: int) -> Array:
    return np.array([f"x{i}" for i in range(n_columns)] if given is None else list(given), dtype=object)


TIE = 1e-9  # distances that differ by less, relatively, are the same up to rounding


Indices = NDArray[np.intp]


def prototypes_of(source: Any) -> Array:
    """Return the prototypes W (k, d) of a fitted map or of the map in a classifier, or the array itself.

    Examples
    --------
    >>> prototypes_of([[0, 1], [2, 3]])
    array([[0., 1.],
           [2., 3.]])
    """
    source = getattr(source, "estimator_", source)
    if is_relational(source):
        raise ValueError(
            f"This measure needs prototypes that are vectors, and {type(source).__name__} knows them by their "
            "dissimilarities only; pass a map of vectors, such as NeuralGas."
        )
    if hasattr(source, "fit") and not hasattr(source, "prototypes_"):
        raise NotFittedError(f"This {type(source).__name__} has no prototypes yet; call fit first.")
    return check_array(getattr(source, "prototypes_", source), dtype=[np.float64, np.float32], input_name="prototypes")


def is_relational(source: Any) -> bool:
    """Return whether an estimator is a fitted relational map, or a classifier that contains one.

    Examples
    --------
    >>> is_relational([[0, 1], [2, 3]])
    False
    """
    return hasattr(getattr(source, "estimator_", source), "prototype_dissimilarities_")


def prototype_distances(source: Any) -> Floats:
    """Return the distances (k, k) between the prototypes of any map, or between the rows of an array.

    Negative squared distances, which can occur if dissimilarities are not Euclidean, are set to zero.

    Examples
    --------
    >>> prototype_distances([[0.0], [3.0]])
    array([[0., 3.],
           [3., 0.]])
    >>> from types import SimpleNamespace
    >>> prototype_distances(SimpleNamespace(prototype_dissimilarities_=[[0.0, 9.0], [9.0, 0.0]]))
    array([[0., 3.],
           [3., 0.]])
    """
    if is_relational(source):
        squared = np.asarray(getattr(source, "estimator_", source).prototype_dissimilarities_, dtype=np.float64)
        return np.sqrt(np.maximum(squared, 0.0))
    prototypes = prototypes_of(source).astype(np.float64)
    return cdist(prototypes, prototypes)


def edge_lengths(source: Any, edges: Indices) -> Floats:
    """Return the distances (e,) between the prototypes at both ends of edges (e, 2), as `prototype_distances` has them.

    Examples
    --------
    >>> edge_lengths([[0.0], [3.0], [4.0]], np.array([[0, 1], [1, 2]]))
    array([3., 1.])
    """
    first, second = edges.T
    if is_relational(source):
        return prototype_distances(source)[first, second]
    prototypes = prototypes_of(source).astype(np.float64)
    return np.linalg.norm(prototypes[first] - prototypes[second], axis=1)


def lattice_of(estimator: Any) -> Lattice:
    """Return the lattice of a fitted map.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> lattice_of(SimpleNamespace(lattice_=chain(3)))
    Lattice(chain, 3 nodes)
    """
    lattice = getattr(getattr(estimator, "estimator_", estimator), "lattice_", None)
    if lattice is None:
        raise ValueError(
            f"This measure compares the data with a lattice, and this {type(estimator).__name__} has none (no "
            "attribute lattice_); pass a fitted map with a lattice, such as SOM."
        )
    return lattice


def check_samples(X: ArrayLike, prototypes: Array) -> Array:
    """Return the samples X (n, d) as an array with as many features as the prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> check_samples([[1, 2]], np.zeros((3, 2)))
    array([[1., 2.]])
    """
    samples = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if samples.shape[1] != prototypes.shape[1]:
        raise ValueError(
            f"X has {samples.shape[1]} features, but the prototypes have {prototypes.shape[1]}; pass samples with the "
            "features of the training samples."
        )
    return samples


def nearest_prototypes(X: Any, source: Any) -> tuple[Indices, Indices, Array]:
    """Return the nearest and second nearest prototype of each sample, and the squared distance to the nearest.

    The squared distance can be negative for relational maps if the dissimilarities are not Euclidean.

    Examples
    --------
    >>> first, second, squared = nearest_prototypes([[0.5], [5.0]], [[0.0], [2.0], [9.0]])
    >>> first, second, squared
    (array([0, 1]), array([1, 2]), array([0.25, 9.  ]))
    """
    if is_relational(source):
        distances = getattr(source, "estimator_", source).transform(X)
        first, second = two_nearest(distances)
        return first, second, distances[np.arange(len(first)), first]
    prototypes = prototypes_of(source)
    with chunk_threads() as n_threads:
        staged = stage(check_samples(X, prototypes), prototypes, n_threads)
        first, second = winners(*staged)
        return first, second, distances_to(*staged, first)


@constrained(reduction=option("mean_distance", "mean_squared", "half_mean", "half_sum"))
def quantization_error(
    X: ArrayLike,
    prototypes: Any,
    *,
    sample_weight: ArrayLike | None = None,
    reduction: Literal["mean_distance", "mean_squared", "half_mean", "half_sum"] = "mean_distance",
) -> float:
    """Return the error of replacing every sample by its nearest prototype.

    With ``e_j = min_i |x_j - w_i|`` and weights ``u_j``, several quantities have this name:

    ==================  =====================================  =================================================
    ``reduction``       formula                                also known as
    ==================  =====================================  =================================================
    ``mean_distance``   ``sum u_j e_j / sum u_j``              the usual quality of a self-organizing map
    ``mean_squared``    ``sum u_j e_j^2 / sum u_j``            distortion
    ``half_mean``       ``1/2 sum u_j e_j^2 / sum u_j``
    ``half_sum``        ``1/2 sum u_j e_j^2``                  cost function of k-means (half its inertia)
    ==================  =====================================  =================================================

    If dissimilarities are not Euclidean, the squares ``e_j^2`` can be negative. They are used unchanged, except in
    ``mean_distance``, where they are set to zero.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples; for a relational map, the input of its ``transform``.
    prototypes : array-like of shape (k, d) or fitted estimator
        The prototypes, or a fitted map.
    sample_weight : array-like of shape (n,), optional
        Weight of each sample, 1 by default.
    reduction : {"mean_distance", "mean_squared", "half_mean", "half_sum"}, default="mean_distance"
        Quantity to return, see the table.

    Returns
    -------
    float
        The error; 0 if every sample lies on a prototype.

    References
    ----------
    Hasenfuss, A. (2009). Topographic mapping of dissimilarity datasets, eq. 2.2 (``half_sum``).

    Examples
    --------
    >>> X = [[0.0], [3.0], [9.0], [10.0]]
    >>> quantization_error(X, [[1.0], [9.0]])
    1.0
    >>> quantization_error(X, [[1.0], [9.0]], reduction="half_sum")
    3.0
    """
    _, _, squared = nearest_prototypes(X, prototypes)
    weights, unit = check_weights(sample_weight, len(squared), np.float64), weight_unit(sample_weight)
    errors = np.sqrt(np.maximum(squared, 0.0)) if reduction == "mean_distance" else squared
    scale = 0.5 if reduction.startswith("half") else 1.0
    total = 1.0 / unit if reduction.endswith("sum") else weights.sum()
    return float(scale * (weights @ errors) / total)
