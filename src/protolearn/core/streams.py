"""Batches of a stream: samples whose values are of another order of magnitude than all before are left out.

One batch of such values, from a broken sensor or in other units, would move prototypes to where no later batch brings
them back from. A sample is left out if a value is more than a hundred times the largest absolute value of its feature
so far. Features whose values have been smaller than those of most features, or zero, are compared with the median of
all, so that rare indicators and counts may occur for the first time.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from protolearn.core.types import Array, Bools, Floats

__all__ = ["begin_record", "forget_record", "usual_objects", "usual_rows"]

ABSURD = 100.0  # times the largest value so far: heavy tails and sums of drifts do not make such steps
LEAST_ROWS = 30  # from which the values of so many rows are known well enough to judge others


def begin_record(estimator: Any, X: Array, weights: Array) -> None:
    """Record the largest values of the samples of a fit, with which later batches are compared.

    Examples
    --------
    >>> from protolearn import KMeans
    >>> model = KMeans()
    >>> begin_record(model, np.array([[1.0, -4.0], [2.0, np.nan], [99.0, 0.0]]), np.array([1.0, 1.0, 0.0]))
    >>> model._largest_values.tolist(), model._n_recorded
    ([2.0, 4.0], 2)
    """
    present = weights > 0
    seen = X if present.all() else X[present]
    estimator._largest_values, estimator._n_recorded = _largest(seen), len(seen)


def forget_record(estimator: Any) -> None:
    """Forget the largest values of earlier samples, for a fit of which they are not known.

    Examples
    --------
    >>> from protolearn import KMeans
    >>> forget_record(KMeans())
    """
    vars(estimator).pop("_largest_values", None)


def usual_rows(estimator: Any, X: Array, weights: Array) -> Bools:
    """Return which rows of a batch have values of a known order of magnitude; record these, and warn of the others.

    Examples
    --------
    >>> from protolearn import KMeans
    >>> model, rng = KMeans(), np.random.default_rng(0)
    >>> usual_rows(model, rng.normal(size=(50, 2)), np.ones(50)).all()
    np.True_
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     usual_rows(model, np.array([[0.5, 1.0], [1e6, 1.0]]), np.ones(2)).tolist()
    [True, False]
    >>> print(caught[0].message)
    KMeans leaves 1 of 2 samples out: feature 0 has values up to 1e+06, and had none above 2.33 before. Check these
    samples. If the units have changed, call fit with new samples, and continue with partial_fit.
    """
    if not hasattr(estimator, "_largest_values"):
        begin_record(estimator, X, weights)
        return np.ones(len(X), bool)
    known, n_known = estimator._largest_values, estimator._n_recorded
    usual = np.ones(len(X), bool)
    if n_known >= LEAST_ROWS:
        usual = ~(np.abs(X) > ABSURD * _comparable(known)).any(axis=1) | (weights == 0)
    if not usual.all():
        largest = _largest(X[~usual])
        worst = int(np.argmax(largest / _comparable(known)))
        name = getattr(estimator, "feature_names_in_", np.arange(len(known)))[worst]
        _warn(
            estimator,
            usual,
            f"feature {name} has values up to {largest[worst]:.3g}, and had none above {known[worst]:.3g}",
        )
    learned = usual & (weights > 0)
    estimator._largest_values = np.maximum(known, _largest(X[learned]))
    estimator._n_recorded = n_known + int(learned.sum())
    return usual


def usual_objects(estimator: Any, to_known: Array, between_known: Array) -> Bools:
    """Return which objects of a batch have known dissimilarities to earlier objects, by their order of magnitude.

    Dissimilarities may be squared, so squares are allowed to be larger by the same factor as values.

    Examples
    --------
    >>> from protolearn import RelationalKMeans
    >>> usual_objects(RelationalKMeans(), np.array([[1.0, 2.0], [3.0, 9.0]]), np.array([[0.0, 1.5], [1.5, 0.0]]))
    array([ True,  True])
    """
    known, largest = np.abs(between_known).max(initial=0.0), np.abs(to_known).max(axis=1, initial=0.0)
    usual: Bools = largest <= (ABSURD**2 * known if known > 0 else np.inf)
    if not usual.all():
        _warn(
            estimator,
            usual,
            f"dissimilarities to earlier objects are up to {largest.max():.3g}, and were up to {known:.3g}",
        )
    return usual


def _largest(X: Array) -> Floats:
    """Return the largest absolute value of each feature, 0 where none is known."""
    largest = np.maximum(np.fmax.reduce(X, axis=0, initial=0.0), -np.fmin.reduce(X, axis=0, initial=0.0))
    return np.asarray(largest, np.float64)


def _comparable(known: Floats) -> Floats:
    """Return the values with which those of each feature are compared; infinity if all have been zero."""
    positive = known[known > 0]
    return np.maximum(known, np.median(positive) if len(positive) else np.inf)


def _warn(estimator: Any, usual: Bools, why: str) -> None:
    left_out = f"{np.count_nonzero(~usual)} of {len(usual)} samples"
    warnings.warn(
        f"{type(estimator).__name__} leaves {left_out} out: {why} before. Check these samples. "
        "If the units have changed, call fit with new samples, and continue with partial_fit.",
        UserWarning,
        stacklevel=6,
    )
