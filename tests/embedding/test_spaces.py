"""Neighbors are the same whichever way they are found: by angles, by sparse products, or near landmarks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from protolearn import TSNE
from protolearn.core.threads import Threads
from protolearn.dissimilarities import Dissimilarities, directions, manhattan, pairwise
from protolearn.embedding import _neighbors
from protolearn.embedding import _tsne as _sne
from protolearn.embedding._kernels import city_blocks
from protolearn.embedding._neighbors import OF_SPARSE, Angles, ObjectSpace, SparseRows, nearest_by_landmarks

SHORT = {"perplexity": 8, "max_iter": 30, "early_exaggeration_iter": 6, "random_state": 0}
RNG = np.random.RandomState


def mostly_zero(seed, n=80, d=25, share=0.3):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < share, rng.gamma(2.0, size=(n, d)), 0.0)
    X[:, 1] = np.rint(X[:, 1])  # some that are the same
    X[:, 0] += X.sum(axis=1) == 0.0
    return X * [1.0, 1.0, *np.where(np.arange(d - 2) % 3, 1.0, -1.0)]


def nearest(D, k):
    """Return the k smallest in each row."""
    return np.sort(D, axis=1)[:, :k]


def dissimilarities(X, Y, metric):
    if metric == "jaccard":
        X, Y = (X != 0).astype(float), (Y != 0).astype(float)
    return pairwise(X, Y, metric=metric)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), metric=st.sampled_from(OF_SPARSE), share=st.sampled_from([0.05, 0.3, 1.0]))
def test_products_of_sparse_rows_find_the_nearest(seed, metric, share):
    X, new = mostly_zero(seed, share=share), mostly_zero(seed + 1, n=7, share=share)
    D = dissimilarities(X, X, metric)
    np.fill_diagonal(D, np.inf)
    space = SparseRows.of(sparse.csr_matrix(X), metric)
    found = space.neighbors(9, Threads(2, least=10), RNG(0))
    np.testing.assert_allclose(found.squares, nearest(D, 9) ** 2, atol=1e-12 * max(X.max() ** 2, 1.0))
    np.testing.assert_allclose(np.take_along_axis(D, found.indices, 1) ** 2, found.squares, atol=1e-11)
    of_new = space.neighbors_of(sparse.csr_matrix(new), 9, Threads())
    E = dissimilarities(new, X, metric)
    np.testing.assert_allclose(of_new.squares, nearest(E, 9) ** 2, atol=1e-11)
    np.testing.assert_allclose(np.take_along_axis(E, of_new.indices, 1) ** 2, of_new.squares, atol=1e-11)


@pytest.mark.parametrize("metric", ["cosine", "pearson"])
def test_angles_are_euclidean_distances_of_directions(metric):
    X = load_digits().data[:120] + np.random.default_rng(0).normal(size=(120, 64)) * 1e-3
    D = pairwise(X, metric=metric)
    units = directions(X, metric)
    np.testing.assert_allclose(0.5 * cdist(units, units, "sqeuclidean"), D, atol=1e-13)
    space = Angles(units, metric)
    np.fill_diagonal(D, np.inf)
    found = space.neighbors(20, Threads(), RNG(0))
    np.testing.assert_allclose(found.squares, nearest(D, 20) ** 2, atol=1e-13)
    every = space.all_neighbors()
    np.testing.assert_allclose(nearest(every.squares, 119), nearest(D, 119) ** 2, atol=1e-13)


@pytest.mark.parametrize(
    ("metric", "method"),
    [
        (metric, method)
        for metric in OF_SPARSE
        for method in ("exact", "fast")
        if method == "exact" or metric not in ("jaccard", "hamming")
    ],
)  # of sets, many are equally far, and any of them may be neighbors
def test_views_of_sparse_and_dense_vectors_and_of_pairs(metric, method):
    X, new = mostly_zero(3, share=0.6), mostly_zero(4, n=10, share=0.6)
    D, E = dissimilarities(X, X, metric), dissimilarities(new, X, metric)
    short = dict(SHORT, method=method, init=np.random.default_rng(0).normal(size=(80, 2)))
    pairs = TSNE(metric="precomputed", **short).fit(D)
    models = [(TSNE(metric=metric, **short).fit(sparse.csr_array(X)), sparse.csr_array(new))]
    if metric != "jaccard":
        models.append((TSNE(metric=metric, **short).fit(X), new))
    for model, others in models:
        difference = abs(model.affinities_ - pairs.affinities_).max()
        assert difference < 1e-9
        np.testing.assert_allclose(model.bandwidths_, pairs.bandwidths_, rtol=1e-6)
        model.embedding_ = pairs.embedding_
        np.testing.assert_allclose(model.transform(others), pairs.transform(E), atol=1e-3 * np.ptp(pairs.embedding_))
        np.testing.assert_allclose(model.transform(others[3:4]), model.transform(others)[3:4], rtol=1e-6)


def test_sparse_rows_under_another_metric_are_others():
    X = sparse.csr_array(mostly_zero(3))
    spaces = [SparseRows.of(X, metric) for metric in ("euclidean", "manhattan", "manhattan")]
    assert spaces[1].same_as(spaces[2])
    assert not spaces[0].same_as(spaces[1])


def test_sparse_and_dense_vectors_start_alike():
    X = mostly_zero(5, n=60)
    sparse_view, view = (TSNE(**dict(SHORT, max_iter=1)).fit_transform(data) for data in (sparse.csr_array(X), X))
    np.testing.assert_allclose(sparse_view, view, atol=1e-6 * np.ptp(view))
    thin = sparse.csr_array(X[:, :2])
    assert np.isfinite(TSNE(**SHORT).fit_transform(thin)).all()


def test_landmarks_find_most_neighbors_of_clustered_objects():
    X = np.repeat(10.0 * np.random.default_rng(0).normal(size=(60, 5)), 40, axis=0)
    X += np.random.default_rng(1).normal(size=X.shape)
    found = nearest_by_landmarks(Dissimilarities(X, "manhattan", n_jobs=1), 15, RNG(0))
    D = manhattan(X)
    np.fill_diagonal(D, np.inf)
    true = np.argsort(D, axis=1)[:, :15]
    recall = np.mean([len(set(a) & set(b)) / 15 for a, b in zip(found.indices, true)])
    assert recall > 0.98
    assert all(len(set(row)) == 15 for row in found.indices)
    np.testing.assert_allclose(found.squares, np.take_along_axis(D, found.indices, 1) ** 2)
    assert not (found.indices == np.arange(len(X))[:, None]).any()


def test_cells_find_most_neighbors_by_manhattan_distances(monkeypatch):
    X = np.repeat(10.0 * np.random.default_rng(0).normal(size=(60, 5)), 40, axis=0)
    X += np.random.default_rng(1).normal(size=X.shape)
    X[7] = X[3]
    monkeypatch.setattr(_sne, "MANY", 2000)
    options = {"affinities": np.ones_like, "n_neighbors": 15, "symmetric": False, "init": "random", "max_iter": 1}
    model = TSNE(metric="manhattan", **options).fit(X * 2e10)
    found = ObjectSpace(Dissimilarities(X * 2e10, "manhattan")).neighbors(15, Threads(2, least=10), RNG(0))
    D = manhattan(X * 2e10)
    np.testing.assert_allclose(found.squares, np.take_along_axis(D, found.indices, 1) ** 2, rtol=1e-5)
    np.fill_diagonal(D, np.inf)
    true = np.sort(D, axis=1)[:, :15]
    assert np.mean(np.sort(np.sqrt(found.squares), axis=1) <= true * (1.0 + 1e-5)) > 0.98
    assert isinstance(model._space, ObjectSpace)
    assert model.n_features_in_ == 5
    rows, columns = model.affinities_.nonzero()
    assert np.mean(D[rows, columns] <= true[rows, -1]) > 0.98
    with pytest.raises(ValueError, match="NaN"):
        TSNE(metric="manhattan", **SHORT).fit(np.where(X[3] == X, np.nan, X))


@pytest.mark.parametrize("size", [(5, 3, 1), (6, 9, 8), (4, 7, 30)])
def test_compiled_city_blocks(size):
    n, m, d = size
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, d)).astype(np.float32), rng.normal(size=(m, d)).astype(np.float32)
    some, others = rng.permutation(n)[: n - 1], rng.permutation(m)[: m - 1]
    found = np.empty((n - 1, m - 1), np.float32)
    city_blocks(X, some, Y, others, found)
    np.testing.assert_allclose(found, cdist(X[some], Y[others], "cityblock"), rtol=1e-5)


def test_lonely_objects_are_compared_with_all(monkeypatch):
    monkeypatch.setattr(_neighbors, "PROBED", 1e-9)
    monkeypatch.setattr(_neighbors, "CANDIDATES", 0)
    X = np.random.default_rng(0).normal(size=(100, 3))
    found = nearest_by_landmarks(Dissimilarities(X, "manhattan", n_jobs=1), 60, RNG(0))
    D = manhattan(X)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_allclose(np.sort(found.squares, axis=1), nearest(D, 60) ** 2)


def test_many_objects_are_compared_in_part(monkeypatch):
    rng = np.random.default_rng(0)
    stems = ["".join(rng.choice(list("abcdefgh"), 12)) for _ in range(8)]
    words = [stem[:i] + "xyz"[j] + stem[i:] for stem in stems for i in range(12) for j in range(3)]
    monkeypatch.setattr(_sne, "MANY", 200)
    model = TSNE(metric="edit", **dict(SHORT, max_iter=250, early_exaggeration_iter=80)).fit(words)
    assert isinstance(model._space, ObjectSpace)
    distances = cdist(model.embedding_, model.embedding_)
    np.fill_diagonal(distances, np.inf)
    assert np.mean(distances.argmin(axis=1) // 36 == np.arange(288) // 36) > 0.95
    found = cdist(model.transform([stem + "!" for stem in stems]), model.embedding_).argmin(axis=1)
    assert np.mean(found // 36 == np.arange(8)) > 0.8


def test_bad_metrics_of_many_objects(monkeypatch):
    monkeypatch.setattr(_sne, "MANY", 50)
    words = ["".join(letters) for letters in np.random.default_rng(0).choice(list("abc"), size=(60, 6))]
    with pytest.raises(ValueError, match="0 or more"):
        TSNE(metric=lambda a, b: -1.0 * (a != b), method="fast", **SHORT).fit(words)
    assert TSNE(4, metric="edit", **SHORT).fit(words).method_ == "exact"


@pytest.mark.parametrize(
    ("X", "metric", "message"),
    [
        (sparse.csr_array(mostly_zero(0)), "dtw", "Sparse vectors"),
        (sparse.csr_array(np.ones((20, 3))), "hamming", "All samples are the same"),
        (sparse.csr_array(np.ones((20, 3))), "euclidean", "All samples are the same"),
        (sparse.csr_array(np.eye(20) * np.nan), "euclidean", "NaN"),
        (sparse.csr_array(np.eye(20)[:3]), "euclidean", "minimum of"),
        (sparse.csr_array(np.vstack([np.zeros(20), np.eye(20)])), "cosine", r"X\[0\] is zero"),
        (sparse.csr_array(np.vstack([np.eye(20), np.ones(20)])), "pearson", r"X\[20\] is constant"),
        (np.vstack([np.zeros(20), np.eye(20)]), "cosine", r"X\[0\] is zero"),
        (np.outer(np.arange(1, 21), [1.0, 2.0, 3.0]), "cosine", "nothing to arrange"),
        (sparse.csr_array(mostly_zero(0) * 1e160), "euclidean", "too large"),
    ],
)
def test_bad_tables(X, metric, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TSNE(metric=metric, **dict(SHORT, perplexity=5)).fit(X)
