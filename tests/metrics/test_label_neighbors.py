from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from protolearn.metrics import nearest_neighbor_error, neighborhood_hit, view_quality


def nearest(points, k):
    """Neighbors by whole squared distances, equal ones by their index."""
    n, points = len(points), points.tolist()
    squares = [[sum((a - b) ** 2 for a, b in zip(p, q)) for q in points] for p in points]
    return [sorted((j for j in range(n) if j != i), key=lambda j: (squares[i][j], j))[:k] for i in range(n)]


def hit_by_definition(points, y, k):
    return np.mean([np.mean([y[j] == y[i] for j in js]) for i, js in enumerate(nearest(points, k))])


def error_by_definition(points, y, k):
    wrong = 0
    for i, js in enumerate(nearest(points, k)):
        votes = Counter(y[j] for j in js)
        wrong += min(votes, key=lambda c: (-votes[c], c)) != y[i]
    return wrong / len(points)


@pytest.fixture
def scene():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    return rng.standard_normal((120, 2)) + y[:, None], np.array(["red", "green", "blue"])[y]


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(3, 14), st.sampled_from([1, 2, 20]))
def test_by_definition_with_many_ties(data, n, n_features):
    Y = data.draw(arrays(np.int64, (n, n_features), elements=st.integers(0, 2)))
    y = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    if (Y[0] == Y).all():
        return
    for k in (1, 2, n - 2, n - 1):
        assert neighborhood_hit(Y, y, k) == pytest.approx(hit_by_definition(Y, y, k), abs=1e-12)
        assert nearest_neighbor_error(Y, y, k) == pytest.approx(error_by_definition(Y, y, k), abs=1e-12)


def test_many_duplicates_in_small_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    Y, y = rng.integers(0, 6, (200, 2)), rng.integers(0, 4, 200)
    expected = [(hit_by_definition(Y, y, k), error_by_definition(Y, y, k)) for k in (1, 5, 30)]
    monkeypatch.setattr("protolearn.metrics._neighborhoods.HELD", 8 * 200 * 7)
    for n_jobs in (1, 2):
        found = [(neighborhood_hit(Y, y, k, n_jobs=n_jobs), nearest_neighbor_error(Y, y, k)) for k in (1, 5, 30)]
        assert np.array(found) == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("k", [1, 4])
def test_error_as_sklearn(scene, k):
    Y, y = scene
    right = cross_val_score(KNeighborsClassifier(k), Y, y, cv=LeaveOneOut())
    assert nearest_neighbor_error(Y, y, k) == pytest.approx(1 - right.mean(), abs=1e-12)
    assert nearest_neighbor_error(cdist(Y, Y), y, k, metric="precomputed") == nearest_neighbor_error(Y, y, k)
    wide = np.hstack([Y, np.zeros((120, 30))])
    assert nearest_neighbor_error(wide, y, k) == nearest_neighbor_error(Y, y, k)


def test_wine():
    """Published: 0.2809 for the first two principal components of the raw data, 0.0506 for those of z-scores."""
    X, y = load_wine(return_X_y=True)
    assert nearest_neighbor_error(PCA(2).fit_transform(X), y) == pytest.approx(0.2809, abs=5e-5)
    scaled = PCA(2).fit_transform(StandardScaler().fit_transform(X))
    assert nearest_neighbor_error(scaled, y) == pytest.approx(0.0506, abs=5e-5)


def test_part_of_the_quality_of_a_view(scene):
    Y, y = scene
    quality = view_quality(np.hstack([Y, Y**2]), Y, y)
    assert quality.nearest_neighbor_error == pytest.approx(nearest_neighbor_error(Y, y), abs=1e-12)
    for k in (1, 10, 118):
        assert quality.neighborhood_hit[k - 1] == pytest.approx(neighborhood_hit(Y, y, k), abs=1e-12)
    without = view_quality(np.hstack([Y, Y**2]), Y)
    assert without.neighborhood_hit is None
    assert without.nearest_neighbor_error is None
    assert repr(quality).endswith(f"nearest_neighbor_error={quality.nearest_neighbor_error:.4g})")
    assert "nearest_neighbor_error" not in repr(without)


def test_classes_apart_and_mixed():
    Y = np.random.default_rng(0).random((400, 2))
    apart, mixed = Y[:, 0] > 0.5, np.arange(400) % 2
    assert neighborhood_hit(Y, apart) > 0.9 > 0.6 > neighborhood_hit(Y, mixed) > 0.4
    assert nearest_neighbor_error(Y + 5 * apart[:, None], apart) == 0
    assert neighborhood_hit(Y, np.zeros(400)) == 1


@pytest.mark.parametrize("measure", [neighborhood_hit, nearest_neighbor_error])
def test_says_what_is_wrong(measure, scene):
    Y, y = scene
    with pytest.raises(ValueError, match="y has 119 labels, but there are 120 samples"):
        measure(Y, y[1:])
    with pytest.raises(ValueError, match=r"n_neighbors=120 must be an integer in \[1, 119\], as there are 120 samples"):
        measure(Y, y, 120)
    with pytest.raises(ValueError, match="All samples in Y coincide"):
        measure(np.ones((120, 2)), y)
    with pytest.raises(ValueError, match="Y contains NaN"):
        measure(np.where(Y > 2, np.nan, Y), y)
    with pytest.raises(ValueError, match="must be symmetric"):
        measure(np.triu(cdist(Y, Y)), y, metric="precomputed")
    with pytest.raises(ValueError, match="metric='cosine'"):
        measure(Y, y, metric="cosine")
