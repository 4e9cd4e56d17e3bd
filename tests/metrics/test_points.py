"""The quality of each sample in a view: terms of the measures of the whole view."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protolearn.metrics import continuity, point_quality, trustworthiness


def slowly(given, shown, k, references):
    """Return the trustworthiness of each sample among references, as the formula says it."""
    found = []
    for i in range(len(given)):
        others = [j for j in references if j != i]
        n = len(others) + 1
        ranks = {j: rank for rank, j in enumerate(sorted(others, key=lambda j: (given[i, j], j)), 1)}
        nearest = sorted(others, key=lambda j: (shown[i, j], j))[:k]
        found.append(1 - 2 / (k * (2 * n - 3 * k - 1)) * sum(max(0, ranks[j] - k) for j in nearest))
    return found


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([2, 30]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_means_are_the_measures_of_the_view(seed, k, n_features, tied):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(rng.randint(2 * k + 2, 60), n_features))
    X = X.round() if tied else X
    Y = rng.normal(size=(len(X), 2)) + X[:, :2]
    quality = point_quality(X, Y, k)
    assert quality.trustworthiness.mean() == pytest.approx(trustworthiness(X, Y, k), abs=1e-13)
    assert quality.continuity.mean() == pytest.approx(continuity(X, Y, k), abs=1e-13)
    assert min(map(np.min, quality)) >= 0.0
    assert max(map(np.max, quality)) <= 1.0


@pytest.mark.parametrize("n_references", [None, 25])
def test_terms_are_those_of_the_formula(n_references):
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    D, E = cdist(X, X), cdist(Y, Y)
    drawn = np.random.RandomState(3).choice(60, n_references, replace=False) if n_references else range(60)
    for data, metric in ((X, "euclidean"), (D, "precomputed")):
        quality = point_quality(data, Y, 5, metric=metric, n_references=n_references, random_state=3)
        np.testing.assert_allclose(quality.trustworthiness, slowly(D, E, 5, sorted(drawn)), atol=1e-12)
        np.testing.assert_allclose(quality.continuity, slowly(E, D, 5, sorted(drawn)), atol=1e-12)


def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 3))
    whole = point_quality(X, X[:, :1], n_references=50, random_state=0)
    monkeypatch.setattr("protolearn.metrics._views.HELD", 5_000)
    np.testing.assert_array_equal(point_quality(X, X[:, :1], n_references=50, random_state=0, n_jobs=2), whole)


def test_neighborhoods_must_fit():
    X = np.random.RandomState(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match="n_neighbors=5 must be less than half the number of samples, n=10"):
        point_quality(X, X, 5, n_references=10)
    with pytest.raises(ValueError, match="n_references=2 must be"):
        point_quality(X, X, n_references=2)
