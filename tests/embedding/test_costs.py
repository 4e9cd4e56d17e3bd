"""Costs have right gradients and known values and minima, and new samples are placed by the same costs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.decomposition import PCA

from protolearn import SNE, TSNE
from protolearn.core.threads import Threads
from protolearn.embedding import _cost_parts as _cost_data
from protolearn.embedding._base import ViewSamples
from protolearn.embedding._local_weights import locally_linear, reconstruction_weights
from protolearn.embedding.affinities import GaussianKernel, StudentKernel
from protolearn.embedding.costs import (
    COSTS,
    Affinities,
    Distances,
    DistanceView,
    EdgeSquares,
    Geodesics,
    HeatKernel,
    InnerProducts,
    InnerProductView,
    KernelView,
    LeastSquares,
    ProductError,
    Reconstruction,
    ResidualView,
    Spread,
    SquaredDistanceView,
    SquaredError,
    ViewCost,
    Whitened,
    get_cost,
    isomap,
    laplacian,
    lle,
    mds,
    mvu,
    nerv,
    sammon,
    sne,
    strain,
    tnerv,
    tsne,
)
from protolearn.embedding.divergences import Gamma, KullbackLeibler
from protolearn.metrics import sammon_stress, stress

THREADS = Threads()
METRIC = {
    "mds": mds(),
    "sammon": sammon(),
    "isomap": isomap(8),
    "strain": strain(),
    "mvu": mvu(8),
    "curved_sammon": ViewCost(Geodesics(8), DistanceView(), LeastSquares("sammon")),
    "local_sammon": ViewCost(EdgeSquares(8), SquaredDistanceView(), LeastSquares("sammon"), Spread()),
}
AFFINE = {"lle": lle(8), "laplacian": laplacian(8), "narrow": laplacian(8, width=0.5, weight=3.0)}
NEIGHBORS = {
    "tsne": tsne(8.0),
    "tsne_gamma": tsne(8.0, Gamma(0.5), dof=2.5),
    "sne": sne(8.0),
    "symmetric_sne": sne(8.0, symmetric=True),
    "nerv": nerv(8.0, trade_off=0.2),
    "tnerv": tnerv(8.0, trade_off=0.8),
}
ALL = METRIC | AFFINE | NEIGHBORS
OF_DISTANCES = sorted(set(ALL) - {"lle"})  # the others need vectors
KINDS = [(name, False) for name in ALL] + [(name, True) for name in OF_DISTANCES]


def rng(seed=0):
    return np.random.RandomState(seed)


def vectors(n=40, seed=0, duplicates=False):
    X = rng(seed).normal(size=(n, 4)) * [2.0, 1.5, 1.0, 0.5]
    if duplicates:
        X[[5, 6]] = X[4]
    return X


def samples(X, squares=False):
    return ViewSamples(None, squareform(pdist(X, "sqeuclidean")), 1.0) if squares else ViewSamples(X, None, 1.0)


def new_samples(Z, X, squares=False):
    return ViewSamples(None, cdist(Z, X, "sqeuclidean"), 1.0) if squares else ViewSamples(Z, None, 1.0)


def objective(cost, X, squares=False):
    return cost.objective(samples(X, squares), THREADS, rng())


def placement(cost, X, points, Z, squares=False):
    return cost.placement(samples(X, squares), points, new_samples(Z, X, squares), THREADS, rng())


def assert_slopes(function, points, n_places=12, step=1e-5):
    """Compare some derivatives with central differences."""
    gradient = function(points)[1]
    places = rng(5).permutation(points.size)[:n_places]
    steps = step * np.eye(points.size)[places].reshape(-1, *points.shape)
    expected = [(function(points + h)[0] - function(points - h)[0]) / (2.0 * step) for h in steps]
    tolerance = 1e-6 * np.abs(gradient).max()
    np.testing.assert_allclose(gradient.ravel()[places], expected, atol=tolerance, rtol=1e-6)


def minimized(function, start):
    def flat(x):
        value, gradient = function(x.reshape(start.shape))
        return value, gradient.ravel()

    options = {"maxiter": 2000, "maxfun": 4000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(start.shape)


def turned(points, seed=3):
    return points @ np.linalg.qr(rng(seed).normal(size=(points.shape[1],) * 2))[0]


# Gradients


@pytest.mark.parametrize(("name", "squares"), KINDS)
@pytest.mark.parametrize("duplicates", [False, True])
def test_gradient_is_that_of_the_value(name, squares, duplicates):
    X = vectors(duplicates=duplicates)
    assert_slopes(objective(ALL[name], X, squares), rng(1).normal(size=(40, 2)))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("d", [1, 3])
def test_gradient_in_other_dimensions(name, d):
    assert_slopes(objective(ALL[name], vectors()), rng(1).normal(size=(40, d)))


@pytest.mark.parametrize(("name", "squares"), KINDS)
def test_gradient_of_placement(name, squares):
    X, points = vectors(duplicates=True), rng(1).normal(size=(40, 2))
    Z = np.vstack([X[3:6], vectors(5, seed=2)])
    function, start = placement(ALL[name], X, points, Z, squares)
    assert_slopes(function, start + 0.1 * rng(2).normal(size=start.shape))


@pytest.mark.parametrize("name", ["mds", "sammon", "isomap"])
def test_points_in_the_same_place_do_not_divide_by_zero(name):
    points = rng(1).normal(size=(40, 2))
    points[1] = points[0]
    assert_slopes(objective(ALL[name], vectors()), points)
    assert np.isfinite(objective(ALL[name], vectors())(np.zeros((40, 2)))[1]).all()


@pytest.mark.parametrize("name", ["mds", "strain", "tsne"])
def test_threads_do_not_change_the_result(name, monkeypatch):
    monkeypatch.setattr("protolearn.embedding._cost_parts.CLOSE", 8 * 280)  # several blocks for each thread
    cost, X, points, Z = ALL[name], vectors(), rng(1).normal(size=(40, 2)), vectors(30, seed=2)
    threads = Threads(3, least=2)
    many = cost.objective(samples(X), threads, rng())
    np.testing.assert_array_equal(objective(cost, X)(points)[1], many(points)[1])
    many, _ = cost.placement(samples(X), points, samples(Z), threads, rng())
    np.testing.assert_array_equal(placement(cost, X, points, Z)[0](points[:30])[1], many(points[:30])[1])


@pytest.mark.parametrize("name", ["tsne", "sne", "tsne_gamma"])
def test_forces_of_many_points_are_those_of_all_pairs(name, monkeypatch):
    X, points = vectors(600), rng(1).normal(size=(600, 2))
    fast, fast_gradient = objective(ALL[name], X)(points)
    monkeypatch.setattr("protolearn.embedding._cost_parts.FEW_POINTS", 600)
    exact, gradient = objective(ALL[name], X)(points)
    assert fast != exact  # a field was used
    assert fast == pytest.approx(exact, rel=1e-5)
    np.testing.assert_allclose(fast_gradient, gradient, atol=3e-3 * np.abs(gradient).max())


def test_what_a_field_cannot_do_is_exact(monkeypatch):
    X, points = vectors(80), rng(1).normal(size=(80, 3))
    exact = [objective(cost, X)(at) for cost, at in ((tsne(8.0), points), (sne(8.0, "is"), points[:, :2]))]
    monkeypatch.setattr("protolearn.embedding._cost_parts.FEW_POINTS", 10)
    again = [objective(cost, X)(at) for cost, at in ((tsne(8.0), points), (sne(8.0, "is"), points[:, :2]))]
    assert [value for value, _ in again] == [value for value, _ in exact]


# Values


def test_neighbor_costs_are_the_divergences_of_the_estimators():
    few, many = vectors(60), vectors(600)
    for X, tolerance in ((few, 1e-9), (many, 1e-4)):
        view = TSNE(perplexity=8.0, max_iter=60, random_state=0).fit(X)
        assert objective(tsne(8.0), X)(view.embedding_)[0] == pytest.approx(view.divergence_, rel=tolerance)
    view = SNE(perplexity=8.0, max_iter=60, random_state=0).fit(few)
    assert 60 * objective(sne(8.0), few)(view.embedding_)[0] == pytest.approx(view.divergence_, rel=1e-9)
    view = SNE(perplexity=8.0, divergence="nerv", symmetric=True, max_iter=60, random_state=0).fit(few)
    assert objective(sne(8.0, "nerv", symmetric=True), few)(view.embedding_)[0] == pytest.approx(view.divergence_)


@pytest.mark.parametrize("duplicates", [False, True])
def test_stress_is_that_of_the_metrics(duplicates):
    X, points = vectors(duplicates=duplicates), rng(1).normal(size=(40, 2))
    assert objective(sammon(), X)(points)[0] == pytest.approx(sammon_stress(X, points, scaled=False))
    share = np.square(pdist(points)).sum() / np.square(pdist(X)).sum()
    kruskal = stress(squareform(pdist(X)), points)
    assert objective(mds(), X)(points)[0] == pytest.approx(kruskal**2 * share)


def test_isomap_is_the_stress_of_geodesics():
    X, points = vectors(), rng(1).normal(size=(40, 2))
    paths = squareform(shortest_path(joined(X, 8), directed=False), checks=False)
    expected = np.square(paths - pdist(points)).sum() / np.square(paths).sum()
    assert objective(isomap(8), X)(points)[0] == pytest.approx(expected)


def test_mvu_by_hand():
    X, points = vectors(), rng(1).normal(size=(40, 2))
    graph = joined(X, 8)
    edges = np.nonzero(graph)
    wanted, shown = graph[edges] ** 2, np.square(points[edges[0]] - points[edges[1]]).sum(axis=1)
    variances = [x.var(axis=0).sum() for x in (points, X)]
    expected = np.square(wanted - shown).sum() / np.square(wanted).sum() - 0.3 * variances[0] / variances[1]
    assert objective(mvu(8, weight=0.3), X)(points)[0] == pytest.approx(expected)


@pytest.mark.parametrize("width", [None, 1.5])
def test_laplacian_by_hand(width):
    X, points = vectors(), rng(1).normal(size=(40, 2))
    graph = joined(X, 8)
    w = np.where(graph > 0.0, np.exp(-(graph**2) / (width or np.square(graph[graph > 0.0]).mean())), 0.0)
    error = (w * cdist(points, points, "sqeuclidean")).sum() / w.sum()
    masses = w.sum(axis=1) / w.sum()
    mean = masses @ points
    covariance = np.cov(points.T, aweights=masses, ddof=0)
    expected = error + 2.0 * (mean @ mean + np.square(covariance - np.eye(2)).sum())
    assert objective(laplacian(8, width, weight=2.0), X)(points)[0] == pytest.approx(expected)


def test_lle_by_hand():
    X, points = vectors(), rng(1).normal(size=(40, 2))
    weights = weights_of_neighbors(X, 8).toarray()
    mean, covariance = points.mean(axis=0), np.cov(points.T, ddof=0)
    error = np.square(points - weights @ points).sum() / 40
    expected = error + 2.0 * (mean @ mean + np.square(covariance - np.eye(2)).sum())
    assert objective(lle(8, weight=2.0), X)(points)[0] == pytest.approx(expected)


def joined(X, k):
    """Return the distances (n, n) of neighbors, zero for all others."""
    distances = squareform(pdist(X))
    nearest = np.argsort(distances, axis=1)[:, 1 : k + 1]
    graph = np.zeros_like(distances)
    for i, others in enumerate(nearest):
        graph[i, others] = graph[others, i] = distances[i, others]
    return graph


def weights_of_neighbors(X, k):
    return reconstruction_weights(X, np.argsort(squareform(pdist(X)), axis=1)[:, 1 : k + 1])


@pytest.mark.parametrize("name", METRIC)
def test_a_view_that_shows_nothing_costs_one(name):
    value, _ = objective(METRIC[name], vectors())(np.zeros((40, 2)))
    assert value == pytest.approx(1.0)


@pytest.mark.parametrize("name", METRIC)
def test_a_perfect_view_costs_nothing(name):
    X = vectors()[:, :2]
    cost = replace(METRIC[name], constraint=None)
    value, gradient = objective(cost, X)(turned(X) + 5.0)
    if isinstance(cost.data, Geodesics):
        assert value > 1e-3  # paths are longer than distances
    else:
        assert value == pytest.approx(0.0, abs=1e-20)
        np.testing.assert_allclose(gradient, 0.0, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_only_relative_positions_count(name):
    X, points = vectors(), rng(1).normal(size=(40, 2))
    function = objective(ALL[name], X)
    value, gradient = function(points)
    value_turned, gradient_turned = function(turned(points))
    assert value_turned == pytest.approx(value)
    np.testing.assert_allclose(gradient_turned, turned(gradient), atol=1e-10)
    assert objective(ALL[name], turned(X) + 3.0)(points)[0] == pytest.approx(value)
    if name not in AFFINE:
        assert function(points + np.array([3.0, -5.0]))[0] == pytest.approx(value)
        np.testing.assert_allclose(gradient.sum(axis=0), 0.0, atol=1e-12)
    else:
        assert function(points + np.array([3.0, -5.0]))[0] > value


@pytest.mark.parametrize(("name", "squares"), [kind for kind in KINDS if kind[0] != "narrow"])
def test_the_unit_of_the_data_does_not_count(name, squares):
    X, points, factor = vectors(), rng(1).normal(size=(40, 2)), 1024.0
    cost = ALL[name]
    scale = cost.unit(ViewSamples(X, None, factor))
    assert scale == (factor if name in METRIC else 1.0)
    here, there = objective(cost, X, squares), objective(cost, factor * X, squares)
    assert there.size == pytest.approx(scale * here.size)
    assert there(scale * points)[0] == pytest.approx(here(points)[0])


def test_a_width_is_in_the_unit_of_the_data():
    X, points = vectors(), rng(1).normal(size=(40, 2))
    scaled = laplacian(8, width=0.5).objective(ViewSamples(X / 4.0, None, 4.0), THREADS, rng())
    assert scaled(points)[0] == pytest.approx(objective(laplacian(8, width=0.5), X)(points)[0])


@pytest.mark.parametrize("name", OF_DISTANCES)
def test_vectors_and_their_distances_give_the_same(name):
    X, points = vectors(), rng(1).normal(size=(40, 2))
    here, there = objective(ALL[name], X), objective(ALL[name], X, squares=True)
    assert there(points)[0] == pytest.approx(here(points)[0])
    assert there.size == pytest.approx(here.size)


@pytest.mark.parametrize("name", METRIC)
def test_the_first_size_is_that_of_the_data(name):
    X = vectors()
    assert objective(METRIC[name], X).size == pytest.approx(np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean()))


# Minima


def test_principal_components_minimize_the_strain():
    X = vectors()
    variances = PCA().fit(X).explained_variance_
    scores = PCA(2).fit_transform(X)
    function = objective(strain(), X)
    value, gradient = function(scores)
    assert value == pytest.approx(1.0 - np.square(variances[:2]).sum() / np.square(variances).sum())
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    found = minimized(function, rng(1).normal(size=(40, 2)))
    np.testing.assert_allclose(pdist(found), pdist(scores), atol=1e-5)


def test_eigenmaps_minimize_the_cost_of_the_laplacian():
    X, weight = vectors(), 1.5
    graph = HeatKernel(8).of(samples(X), THREADS, rng()).toarray()
    masses = graph.sum(axis=1)
    values, maps = eigh(np.diag(masses) - graph, np.diag(masses))
    # Of the error 2 lambda s + weight (s - 1)^2 for a variance s, which a hard constraint would keep at 1.
    scores = np.sqrt(masses.sum() * (1.0 - values[1:3] / weight)) * maps[:, 1:3]
    function = objective(laplacian(8, weight=weight), X)
    value, gradient = function(scores)
    assert value == pytest.approx((2.0 * values[1:3] - values[1:3] ** 2 / weight).sum())
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    assert function(minimized(function, rng(1).normal(size=(40, 2))))[0] == pytest.approx(value, rel=1e-6)


def test_locally_linear_embedding_minimizes_its_cost():
    X, weight = vectors(), 1.5
    weights = weights_of_neighbors(X, 8)
    scores = locally_linear(weights, 2, rng())
    errors = np.square(scores - weights @ scores).mean(axis=0)
    scores *= np.sqrt(1.0 - errors / (2.0 * weight))
    function = objective(lle(8, weight=weight), X)
    value, gradient = function(scores)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-9)
    assert function(minimized(function, rng(1).normal(size=(40, 2))))[0] == pytest.approx(value, rel=1e-5)


def test_mvu_stretches_by_its_weight_alone():
    X, weight = vectors()[:, :2], 0.2
    function = objective(mvu(39, weight), X)  # all pairs are neighbors
    centered = X - X.mean(axis=0)
    stretched = np.sqrt(1.0 + 0.5 * weight)  # least (c^2 - 1)^2 - weight c^2
    along = [(function(c * X)[1] * centered).sum() for c in (1.0, stretched, 1.2)]
    assert along[1] == pytest.approx(0.0, abs=1e-12)
    assert along[0] < -1e-3 < 1e-3 < along[2]


def test_mvu_straightens_a_bent_line():
    angles = np.linspace(0.0, 1.5 * np.pi, 25)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    found = minimized(objective(mvu(2, weight=0.003), X), X + 1e-3 * rng(1).normal(size=X.shape))
    variances = PCA().fit(found).explained_variance_ratio_
    assert variances[0] > 0.99 > 0.8 > PCA().fit(X).explained_variance_ratio_[0]
    steps = np.linalg.norm(np.diff(found, axis=0), axis=1)
    np.testing.assert_allclose(steps, np.linalg.norm(np.diff(X, axis=0), axis=1), rtol=0.1)


# Placement


@pytest.mark.parametrize("name", ALL)
def test_new_samples_are_placed_independently(name):
    X, points, Z = vectors(), rng(1).normal(size=(40, 2)), vectors(6, seed=2)
    function, start = placement(ALL[name], X, points, Z)
    values, gradients, starts = [], [], []
    for z, at in zip(Z, start):
        alone, alone_start = placement(ALL[name], X, points, z[None])
        value, gradient = alone(at[None] + 0.1)
        values.append(value)
        gradients.append(gradient[0])
        starts.append(alone_start[0])
    value, gradient = function(start + 0.1)
    assert value == pytest.approx(sum(values))
    np.testing.assert_allclose(gradient, gradients, atol=1e-12)
    np.testing.assert_allclose(start, starts, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_placement_follows_the_view(name):
    X, points, Z = vectors(), rng(1).normal(size=(40, 2)), vectors(6, seed=2)
    shift = np.array([3.0, -5.0])
    here, start = placement(ALL[name], X, points, Z)
    there, start_there = placement(ALL[name], X, turned(points) + shift, Z)
    np.testing.assert_allclose(start_there, turned(start) + shift, atol=1e-9)
    at = start + 0.1 * rng(3).normal(size=start.shape)
    assert there(turned(at) + shift)[0] == pytest.approx(here(at)[0])


@pytest.mark.parametrize("name", OF_DISTANCES)
def test_placement_by_vectors_and_by_distances_is_the_same(name):
    X, points, Z = vectors(), rng(1).normal(size=(40, 2)), vectors(6, seed=2)
    here, start = placement(ALL[name], X, points, Z)
    there, start_there = placement(ALL[name], X, points, Z, squares=True)
    np.testing.assert_allclose(start_there, start, atol=1e-9)
    assert there(start + 0.1)[0] == pytest.approx(here(start + 0.1)[0])


@pytest.mark.parametrize("name", ALL)
def test_a_training_sample_costs_no_more_than_at_its_own_position(name):
    X = vectors()
    points = PCA(2).fit_transform(X) + 0.1 * rng(1).normal(size=(40, 2))
    for row in range(0, 40, 8):
        function, start = placement(ALL[name], X, points, X[row : row + 1])
        trained = function(points[row : row + 1])[0]
        assert function(start)[0] <= trained + 1e-12
        assert function(minimized(function, start))[0] <= trained + 1e-12


def test_the_start_is_within_the_positions_of_neighbors():
    X = vectors(200)
    points = X[:, :2]
    _, start = placement(mds(), X, points, vectors(30, seed=2))
    assert (start >= points.min(axis=0)).all()
    assert (start <= points.max(axis=0)).all()
    one = np.zeros((200, 2))
    np.testing.assert_allclose(placement(mds(), X, one + 2.0, X[:3])[1], 2.0)


@pytest.mark.parametrize("n", [60, 200])
@pytest.mark.parametrize("duplicates", [False, True])
def test_samples_have_the_affinities_they_were_trained_with(n, duplicates):
    X = vectors(n, duplicates=duplicates)
    part = Affinities(19.9, symmetric=False)  # so that all pairs of the few samples are neighbors, too
    trained = part.of(samples(X), THREADS, rng())
    trained = trained if isinstance(trained, np.ndarray) else trained.toarray()
    placed = part.of_new(samples(X), samples(X), THREADS, rng()).toarray()
    apart = np.setdiff1d(np.arange(n), [4, 5, 6]) if duplicates else np.arange(n)
    np.testing.assert_allclose(placed[apart], trained[apart], atol=1e-6)
    np.testing.assert_allclose(placed.sum(axis=1), 1.0)
    # Which of equal samples is taken for the sample itself does not matter.
    np.testing.assert_allclose(np.sort(placed, axis=1), np.sort(trained, axis=1), atol=1e-6)


@pytest.mark.parametrize("kernel", [StudentKernel(), StudentKernel(3.0), GaussianKernel()])
def test_placement_by_affinities_by_hand(kernel):
    X, points, Z = vectors(), rng(1).normal(size=(40, 2)), vectors(6, seed=2)
    cost = ViewCost(Affinities(8.0), KernelView(kernel), KullbackLeibler())
    at = rng(2).normal(size=(6, 2))
    p = cost.data.of_new(samples(X), samples(Z), THREADS, rng()).toarray()
    w = kernel.weights(cdist(at, points, "sqeuclidean"))
    q = w / w.sum(axis=1, keepdims=True)
    expected = sum(pi * np.log(pi / qi) for pi, qi in zip(p[p > 0.0], q[p > 0.0]))
    assert placement(cost, X, points, Z)[0](at)[0] == pytest.approx(expected)


def test_classical_scaling_places_samples_at_their_scores():
    X, Z = vectors(), vectors(6, seed=2)
    pca = PCA(2).fit(X)
    for squares in (False, True):
        function, start = placement(strain(), X, pca.transform(X), Z, squares)
        np.testing.assert_allclose(minimized(function, start), pca.transform(Z), atol=1e-6)


@pytest.mark.parametrize("name", ["mds", "sammon", "mvu", "strain"])
def test_samples_of_a_plane_are_placed_in_it(name):
    X, Z = vectors(60)[:, :2], 0.5 * vectors(6, seed=2)[:, :2]
    function, start = placement(ALL[name], X, turned(X) + 1.0, Z)
    found = minimized(function, start)
    np.testing.assert_allclose(found, turned(Z) + 1.0, atol=1e-5)
    assert function(found)[0] < 1e-12


def test_geodesics_of_new_samples_are_paths_through_a_neighbor():
    X, Z = vectors(), vectors(6, seed=2)
    lengths = Geodesics(5).of_new(samples(X), samples(Z), THREADS, rng())
    for z, found in zip(Z, lengths):
        graph = np.zeros((41, 41))
        graph[:40, :40] = joined(X, 5)
        distances = np.linalg.norm(X - z, axis=1)
        nearest = np.argsort(distances)[:5]
        graph[40, nearest] = graph[nearest, 40] = distances[nearest]
        # Samples do not step to others through the new one, which is none of theirs.
        np.testing.assert_allclose(found, shortest_path(graph, indices=40)[:40])
    same = Geodesics(5).of_new(samples(X), samples(X), THREADS, rng())
    np.testing.assert_allclose(same, Geodesics(5).of(samples(X), THREADS, rng()), atol=1e-7)


def test_graph_costs_place_samples_at_means_of_neighbors():
    X, points, Z = vectors(), rng(1).normal(size=(40, 2)), vectors(6, seed=2)
    heat = HeatKernel(8).of_new(samples(X), samples(Z), THREADS, rng()).toarray()
    means = heat @ points / heat.sum(axis=1, keepdims=True)
    function, start = placement(laplacian(8), X, points, Z)
    np.testing.assert_allclose(minimized(function, start), means, atol=1e-6)
    weights = Reconstruction(3, 1e-9).of_new(samples(X), samples(Z), THREADS, rng()).toarray()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert ((weights != 0.0).sum(axis=1) == 3).all()
    function, start = placement(lle(3, 1e-9), X, points, Z)
    np.testing.assert_allclose(minimized(function, start), weights @ points, atol=1e-6)


def test_neighbors_reconstruct_new_samples():
    X, Z = vectors(), vectors(6, seed=2)
    weights = Reconstruction(8, 1e-9).of_new(samples(X), samples(Z), THREADS, rng())
    np.testing.assert_allclose(weights @ X, Z, atol=1e-5)  # of 8 neighbors in 4 dimensions


def test_tsne_placement_is_near_the_trained_position():
    X = np.vstack([vectors(60, seed=s) + 12.0 * np.eye(4)[s] for s in range(3)])
    points = TSNE(perplexity=10.0, random_state=0).fit_transform(X)
    function, start = placement(tsne(10.0), X, points, X)
    found = minimized(function, start)
    moved = np.linalg.norm(found - points, axis=1)
    assert np.median(moved) < 0.1 * points.std()
    nearest = cdist(found, points).argmin(axis=1) // 60
    assert (nearest == np.arange(180) // 60).all()


# What is refused


def test_names():
    for name, cost in COSTS.items():
        assert get_cost(name) is cost
        assert get_cost(cost) is cost
    assert set(COSTS) >= {
        "tsne",
        "sne",
        "nerv",
        "tnerv",
        "mds",
        "sammon",
        "isomap",
        "lle",
        "laplacian",
        "mvu",
        "strain",
    }
    with pytest.raises(ValueError, match="cost='pca' must be one of 'tsne'"):
        get_cost("pca")


@pytest.mark.parametrize(
    ("data", "view", "error"),
    [
        (Distances(), DistanceView(), KullbackLeibler()),
        (Affinities(), KernelView(StudentKernel()), LeastSquares()),
        (Distances(), KernelView(StudentKernel()), KullbackLeibler()),
        (Affinities(), DistanceView(), LeastSquares()),
        (Affinities(symmetric=False), KernelView(StudentKernel()), KullbackLeibler()),
    ],
)
def test_parts_that_do_not_go_together(data, view, error):
    with pytest.raises(ValueError, match="do not go together"):
        ViewCost(data, view, error)


def test_parts_can_be_put_together_anew():
    points = rng(1).normal(size=(40, 2))
    for cost in (
        ViewCost(InnerProducts(), InnerProductView(), SquaredError()),
        ViewCost(Distances(), InnerProductView(), LeastSquares()),
        ViewCost(HeatKernel(8), DistanceView(), ProductError(), Whitened()),
        ViewCost(Distances(), SquaredDistanceView(), LeastSquares("sammon")),
        ViewCost(Reconstruction(8), ResidualView(), LeastSquares(), Whitened()),
    ):
        assert_slopes(objective(cost, vectors()), points)


def test_bad_parameters():
    with pytest.raises(ValueError, match="weighting='cubic' must be one of"):
        LeastSquares("cubic")
    with pytest.raises(ValueError, match="weight=0 must be a number"):
        mvu(weight=0)
    with pytest.raises(ValueError, match=r"weight=-1.0 must be a number"):
        lle(weight=-1.0)
    with pytest.raises(ValueError, match="dof=0 must be a number"):
        tsne(dof=0)
    with pytest.raises(ValueError, match="width=0 must be a number"):
        objective(laplacian(8, width=0), vectors())
    for cost in (isomap(40), lle(40), laplacian(40), mvu(0)):
        with pytest.raises(ValueError, match="n_neighbors="):
            objective(cost, vectors())


def test_bad_perplexity():
    with pytest.raises(ValueError, match=r"perplexity=40 is more than the 39 neighbors .* n_samples=40"):
        objective(tsne(40.0), vectors())
    with pytest.raises(ValueError, match=r"perplexity=1.0 must be a number in \(1"):
        objective(sne(1.0), vectors())
    with pytest.warns(UserWarning, match="more than a third of n_samples=40"):
        objective(tsne(20.0), vectors())


@pytest.mark.parametrize("cost", [isomap(5), lle(5), laplacian(5), mvu(5)], ids=["isomap", "lle", "laplacian", "mvu"])
def test_a_graph_that_falls_apart(cost):
    X = vectors()
    X[:15] += 100.0
    for squares in (False, True)[: 1 if cost == lle(5) else 2]:
        with pytest.raises(ValueError, match=r"n_neighbors=5 .* falls into 2 components, of 25, 15 "):
            objective(cost, X, squares)


# Balls, and graphs that fall apart


def test_balls_that_hold_all_samples():
    """Then paths are distances, squares of neighbors are those of all, and weights are those of all others."""
    X, everyone = vectors(20), 100.0
    points = rng(1).normal(size=(20, 2))
    for squares in (False, True):
        by_paths, plain = objective(isomap(radius=everyone), X, squares), objective(mds(), X, squares)
        assert by_paths(points)[0] == pytest.approx(plain(points)[0], rel=1e-12)
        np.testing.assert_allclose(by_paths(points)[1], plain(points)[1], atol=1e-12)
        for make in (laplacian, mvu):
            balls, nearest = objective(make(radius=everyone), X, squares), objective(make(19), X, squares)
            assert balls(points)[0] == pytest.approx(nearest(points)[0], rel=1e-12)
    assert objective(lle(radius=everyone), X)(points)[0] == pytest.approx(objective(lle(19), X)(points)[0], rel=1e-9)


def test_weights_of_as_many_neighbors_as_there_are():
    """Each row solves its own problem, here with Lagrange's multiplier for the sum of its weights."""
    X = vectors()
    D = cdist(X, X)
    radius = np.sort(D, axis=1)[:, 4].max()
    given = Reconstruction(regularization=1e-2, radius=radius).of(samples(X), THREADS, rng()).toarray()
    for i in range(len(X)):
        near = [j for j in range(len(X)) if j != i and D[i, j] <= radius]
        gaps = X[near] - X[i]
        k = len(near)
        system = np.ones((k + 1, k + 1))
        system[:k, :k] = gaps @ gaps.T + 1e-2 * np.square(gaps).sum() * np.eye(k)
        system[k, k] = 0.0
        expected = np.zeros(len(X))
        expected[near] = np.linalg.solve(system, np.append(np.zeros(k), 1.0))[:k]
        np.testing.assert_allclose(given[i], expected, atol=1e-9)


@pytest.mark.parametrize("squares", [False, True])
def test_the_unit_of_the_samples_does_not_change_balls(squares):
    X = vectors()
    for part in (Geodesics(radius=2.5), EdgeSquares(radius=2.5), HeatKernel(radius=2.5)):
        plain = part.of(samples(X, squares), THREADS, rng())
        scaled = replace(samples(X / 4.0, squares), unit=4.0)
        factor = {Geodesics: 4.0, EdgeSquares: 16.0, HeatKernel: 1.0}[type(part)]
        other = factor * part.of(scaled, THREADS, rng())
        difference = plain - other if isinstance(plain, np.ndarray) else (plain - other).toarray()
        assert np.abs(difference).max() < 1e-12


def test_components_that_are_joined():
    X = vectors()
    X[:15] += 100.0
    D = cdist(X, X)
    gap = np.unravel_index(D[:15, 15:].argmin(), (15, 25))
    i, j = gap[0], gap[1] + 15
    with pytest.warns(UserWarning, match="connected by the shortest links"):
        paths = Geodesics(5, components="connect").of(samples(X), THREADS, rng())
    inside = [geodesics_by_definition(X[part], 5) for part in (slice(0, 15), slice(15, 40))]
    expected = inside[0][:, [i]] + D[i, j] + inside[1][[j - 15]]
    np.testing.assert_allclose(paths[:15, 15:], expected, rtol=1e-12)
    np.testing.assert_allclose(paths[:15, :15], inside[0], rtol=1e-12)
    with pytest.warns(UserWarning, match="connected by the shortest links"):
        weights = Reconstruction(5, components="connect").of(samples(X), THREADS, rng())
    assert weights[[i]].indices.tolist().count(j) == weights[[j]].indices.tolist().count(i) == 1
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def geodesics_by_definition(X, k):
    D = cdist(X, X)
    steps = np.zeros_like(D)
    for i, near in enumerate(np.argsort(D, axis=1)[:, 1 : k + 1]):
        steps[i, near] = D[i, near]
    return shortest_path(steps, directed=False)


@pytest.mark.parametrize("squares", [False, True])
def test_paths_of_new_samples_begin_in_their_balls(squares):
    X, Z = vectors(), vectors(6, seed=1)
    part = Geodesics(radius=2.5)
    lengths = part.of_new(samples(X, squares), new_samples(Z, X, squares), THREADS, rng())
    between, D = part.of(samples(X, squares), THREADS, rng()), cdist(Z, X)
    for z in range(6):
        near = np.flatnonzero(D[z] <= 2.5)
        expected = [min(D[z, step] + between[step, j] for step in near) for j in range(len(X))]
        np.testing.assert_allclose(lengths[z], expected, rtol=1e-12)


def test_reconstruction_needs_vectors():
    with pytest.raises(ValueError, match="needs vectors"):
        objective(lle(8), vectors(), squares=True)


def test_too_many_pairs(monkeypatch):
    monkeypatch.setattr(_cost_data, "MOST_PAIRS", 39)
    for cost in (mds(), isomap(8), strain()):
        with pytest.raises(ValueError, match="cannot compare all pairs of n_samples=40"):
            objective(cost, vectors())
    objective(mvu(8), vectors())
