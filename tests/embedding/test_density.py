"""Local radii of data and view, their correlation and its gradient, and views that keep densities."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs

from protolearn import SNE, TSNE
from protolearn.core.threads import Threads
from protolearn.embedding._exact import CALM, LEAST, Densities, LocalRadii
from protolearn.embedding._neighbors import all_pairs, nearest_in_matrix
from protolearn.embedding.affinities import (
    GaussianKernel,
    Neighbors,
    StudentKernel,
    calibrated,
    conditional_affinities,
    joint_affinities,
)
from protolearn.embedding.divergences import Gamma, KullbackLeibler
from protolearn.embedding.forces import Exact, Fast

IRIS = load_iris().data
IRIS = IRIS + np.random.default_rng(0).normal(size=IRIS.shape) * 1e-3
SHORT = {"perplexity": 10, "max_iter": 30, "early_exaggeration_iter": 6, "random_state": 0}
KERNELS = [GaussianKernel(), StudentKernel(), StudentKernel(0.5), StudentKernel(3.0)]
# Three clusters of the same number of samples, which differ in width alone.
CENTERS = 60.0 * np.eye(3, 5)
WIDTHS = [0.5, 2.0, 8.0]


def neighborhoods(n=40, d=3, k=8, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)) ** 3
    neighbors = nearest_in_matrix(cdist(X, X, "sqeuclidean"), k)
    return neighbors, calibrated(neighbors.squares, 4.0)[0]


def logs_in_view(graph, points, kernel):
    """Logarithms of the local radii of points, one by one."""
    logs = np.empty(len(points))
    for i in range(len(points)):
        squares = np.square(points[i] - points[graph[i] > 0]).sum(axis=1)
        w = kernel.weights(squares)
        logs[i] = np.log(LEAST + (w * squares).sum() / w.sum())
    return logs


def differences(function, points, h=1e-4):
    """Central differences of the fourth order."""
    gradient = np.empty_like(points)
    for place in np.ndindex(points.shape):
        e = np.zeros_like(points)
        e[place] = h
        near, far = function(points + e) - function(points - e), function(points + 2 * e) - function(points - 2 * e)
        gradient[place] = (8.0 * near - far) / (12.0 * h)
    return gradient


def test_radii_are_mean_squared_distances_by_joint_affinities():
    neighbors, p = neighborhoods()
    squares = conditional_affinities(neighbors, neighbors.squares).toarray()
    joint = joint_affinities(conditional_affinities(neighbors, p)).toarray()
    radii = (joint * np.maximum(squares, squares.T)).sum(axis=1) / joint.sum(axis=1)
    logs = np.log(radii + LEAST * radii.mean())
    found = LocalRadii.of(neighbors, p, 8)
    np.testing.assert_allclose(found.levels, (logs - logs.mean()) / logs.std(), atol=1e-12)
    graph = sparse.csr_array((np.ones(len(found.indices)), found.indices, found.indptr)).toarray()
    np.testing.assert_array_equal(graph > 0, joint > 0)


def test_of_all_others_the_nearest_count():
    squares = cdist(IRIS, IRIS, "sqeuclidean")
    everyone, few = all_pairs(squares), nearest_in_matrix(squares, 12)
    p = np.exp(-everyone.squares)
    one, other = LocalRadii.of(everyone, p, 12), LocalRadii.of(few, np.exp(-few.squares), 12)
    np.testing.assert_allclose(one.levels, other.levels, atol=1e-12)
    np.testing.assert_array_equal(one.indptr, other.indptr)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_units_do_not_matter(scale):
    neighbors, p = neighborhoods()
    scaled = LocalRadii.of(Neighbors(neighbors.squares * scale, neighbors.indices), p, 8)
    np.testing.assert_allclose(scaled.levels, LocalRadii.of(neighbors, p, 8).levels, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_gradient_is_that_of_the_correlation(kernel, d):
    neighbors, p = neighborhoods()
    radii = LocalRadii.of(neighbors, p, 8)
    graph = sparse.csr_array((np.ones(len(radii.indices)), radii.indices, radii.indptr)).toarray()
    points = np.random.default_rng(1).normal(size=(40, d))

    def correlation(points):
        logs = logs_in_view(graph, points, kernel)
        return np.mean(radii.levels * logs) / np.sqrt(logs.var() + CALM)

    expected = differences(correlation, points)
    found = radii.gradient(points, kernel, Threads(2, least=7))
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()
    logs = logs_in_view(graph, points, kernel)
    whole = np.corrcoef(radii.levels, logs)[0, 1]
    assert radii.correlation(points, kernel, Threads()) == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("divergence", [KullbackLeibler(), Gamma(0.5)], ids=repr)
@pytest.mark.parametrize("fast", [False, True], ids=["exact", "fast"])
def test_forces_are_the_gradient_of_both_parts(divergence, fast):
    neighbors, weights = neighborhoods()
    radii, kernel = LocalRadii.of(neighbors, weights, 8), StudentKernel()
    p = joint_affinities(conditional_affinities(neighbors, weights))
    inner = Fast(p, kernel, True, Threads()) if fast else Exact(p.toarray(), kernel, True)
    points = np.random.default_rng(1).normal(size=(40, 2))
    alone, both = inner.step(points, divergence), Densities(inner, radii, 0.3, kernel, Threads())

    def correlation(points):
        return radii.correlation(points, kernel, Threads(), CALM)

    expected = alone.gradient - 0.3 * alone.mass * differences(correlation, points)
    assert np.abs(both.step(points, divergence).gradient - expected).max() < 1e-6 * np.abs(expected).max()
    assert both.value(points, divergence) == inner.value(points, divergence)


@pytest.mark.pairwise(method=["exact", "fast"], estimator=[SNE, TSNE], symmetric=[True, False])
def test_dense_clusters_are_small_and_sparse_ones_large(method, estimator, symmetric):
    X, y = make_blobs(240, centers=CENTERS, cluster_std=WIDTHS, random_state=0)
    options = {"method": method, "symmetric": symmetric, "perplexity": 20, "max_iter": 400, "random_state": 0}
    view = estimator(density_weight=0.5, **options).fit(X)
    assert view.density_correlation_ > 0.9
    sizes = [np.square(view.embedding_[y == c] - view.embedding_[y == c].mean(axis=0)).sum() for c in range(3)]
    assert sizes == sorted(sizes)


def test_nothing_changes_without_weight():
    plain = TSNE(**SHORT).fit(IRIS)
    np.testing.assert_array_equal(TSNE(density_weight=0.0, **SHORT).fit(IRIS).embedding_, plain.embedding_)


def test_densities_may_count_from_some_iteration_on():
    view = TSNE(warm_start=True, **SHORT).fit(IRIS)
    view.set_params(density_weight=0.3, max_iter=200).fit(IRIS)
    assert view.n_iter_ == 230
    assert view.density_correlation_ > 0.5
    assert view.set_params(density_weight=0.0).fit(IRIS).density_correlation_ is None


def test_equal_radii_and_equal_samples_do_no_harm():
    ring = np.column_stack([np.cos(np.arange(60) * np.pi / 30), np.sin(np.arange(60) * np.pi / 30)])
    even = TSNE(density_weight=0.5, **SHORT).fit(ring)
    assert np.isfinite(even.embedding_).all()
    assert abs(even.density_correlation_) <= 1.0
    copies = np.repeat(IRIS, 40, axis=0)[:2000]
    many = TSNE(density_weight=0.5, n_neighbors=30, **SHORT).fit(copies)
    assert np.isfinite(many.embedding_).all()


def test_a_graph_has_densities_and_affinities_alone_have_none():
    squares = cdist(IRIS, IRIS)
    graph = sparse.csr_array(np.where(np.argsort(np.argsort(squares, axis=1), axis=1) < 31, squares, 0.0))
    assert TSNE(metric="precomputed", density_weight=0.5, **SHORT).fit(graph).density_correlation_ is not None
    with pytest.raises(ValueError, match="density_weight above 0 needs distances"):
        TSNE(affinities="precomputed", density_weight=0.5).fit(graph)
