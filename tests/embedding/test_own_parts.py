"""Affinities and forces of one's own in the place of those that SNE and t-SNE have."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import kneighbors_graph

from protolearn import SNE, TSNE
from protolearn.embedding.affinities import calibrated
from protolearn.embedding.divergences import Beta
from protolearn.embedding.forces import Exact, Fast, Gradient
from protolearn.metrics import nearest_neighbor_error

IRIS, CLASSES = load_iris(return_X_y=True)
IRIS = IRIS + np.random.default_rng(0).normal(size=(150, 4)) * 1e-3
SHORT = {"perplexity": 10, "max_iter": 30, "early_exaggeration_iter": 6, "random_state": 0}
METHODS = pytest.mark.parametrize("method", ["exact", "fast"])
SYMMETRIC = pytest.mark.parametrize("symmetric", [True, False], ids=["joint", "conditional"])


def by_perplexity(distances):
    return calibrated(np.square(distances), 10.0)[0]


def assert_same(matrix, other):
    assert abs(matrix - other).max() < 1e-12 * other.max()


# Affinities


@pytest.mark.pairwise(method=["exact", "fast"], symmetric=[True, False], scale=[1.0, 2.0**40])
def test_a_function_may_do_what_the_perplexity_does(method, symmetric, scale):
    usual = TSNE(method=method, symmetric=symmetric, **SHORT).fit(scale * IRIS)
    other = TSNE(method=method, symmetric=symmetric, affinities=by_perplexity, **SHORT).fit(scale * IRIS)
    assert_same(other.affinities_, usual.affinities_)
    np.testing.assert_allclose(other.embedding_, usual.embedding_, atol=1e-4 * np.ptp(usual.embedding_))
    assert other.bandwidths_ is None
    np.testing.assert_allclose(other.transform(IRIS[:3] * scale), other.embedding_[:3])


@SYMMETRIC
def test_a_graph_of_neighbors_that_count_alike(symmetric):
    options = {"n_neighbors": 15, "symmetric": symmetric, "method": "fast", "max_iter": 300, "random_state": 0}
    view = TSNE(affinities=np.ones_like, **options).fit(IRIS)
    graph = kneighbors_graph(IRIS, 15).toarray()
    expected = (graph + graph.T) / (2 * 15 * 150) if symmetric else graph / 15
    assert_same(view.affinities_.toarray(), expected)
    assert nearest_neighbor_error(view.embedding_, CLASSES) < 0.08
    assert clone(view).affinities is np.ones_like


def test_distances_are_those_of_the_metric_and_of_the_graph():
    seen = {}

    def see(distances):
        seen["distances"] = distances
        return np.where(np.isinf(distances), np.nan, 1.0)  # what a row lacks does not matter

    short = dict(SHORT, max_iter=1)
    TSNE(affinities=see, metric="manhattan", n_neighbors=12, method="fast", **short).fit(IRIS)
    distances = np.sort(cdist(IRIS, IRIS, "cityblock"), axis=1)[:, 1:13]
    np.testing.assert_allclose(np.sort(seen["distances"], axis=1), distances)
    graph = kneighbors_graph(IRIS, 12, mode="distance")
    fewer = graph.tolil()
    fewer[0, graph[[0]].indices[-1]] = 0.0
    model = TSNE(affinities=see, metric="precomputed", **short).fit(sparse.csr_array(fewer))
    assert np.isinf(seen["distances"][0]).sum() == 1
    assert model.affinities_.nnz == ((fewer + fewer.T) > 0).sum()


def broken(distances, row):
    weights = np.ones_like(distances)
    weights[0] = row
    return weights


@pytest.mark.parametrize(
    ("affinities", "message"),
    [
        (lambda distances: distances[:, :2], "one weight for each"),
        (lambda distances: -distances, "negative weights"),
        (lambda distances: broken(distances, np.nan), "NaN or infinite"),
        (lambda distances: broken(distances, 0.0), "no neighbor of sample 0 a weight above zero"),
        ("gaussian", "affinities='gaussian' must be"),
        (7, "affinities=7 must be"),
    ],
)
def test_bad_functions(affinities, message):
    with pytest.raises(ValueError, match=message):
        TSNE(affinities=affinities, **SHORT).fit(IRIS)


@pytest.mark.pairwise(
    method=["exact", "fast"], symmetric=[True, False], form=[np.asarray, sparse.csr_array, sparse.csc_matrix]
)
def test_affinities_that_are_known(method, symmetric, form):
    init = np.random.default_rng(0).normal(size=(150, 2))
    options = dict(SHORT, method=method, symmetric=symmetric, init=init)
    usual = SNE(**options).fit(IRIS)
    p = usual.affinities_.toarray() if method == "fast" else usual.affinities_
    # factors of all, or of each sample, and what samples are to themselves do not matter
    factors = 3.0 if symmetric else np.random.default_rng(1).uniform(1.0, 2.0, size=(150, 1))
    given = SNE(affinities="precomputed", **options).fit(form(p * factors + np.eye(150)))
    assert_same(sparse.csr_array(given.affinities_), sparse.csr_array(usual.affinities_))
    np.testing.assert_allclose(given.embedding_, usual.embedding_, atol=1e-3 * np.ptp(usual.embedding_))


def test_known_affinities_start_at_their_graph_and_place_new_samples():
    options = {"perplexity": 10, "max_iter": 300, "random_state": 0, "method": "fast"}
    usual = TSNE(**dict(options, max_iter=1)).fit(IRIS[::2])
    given = TSNE(affinities="precomputed", **options).fit(usual.affinities_)
    assert nearest_neighbor_error(given.embedding_, CLASSES[::2]) < 0.06
    new = np.exp(-cdist(IRIS[1::2], IRIS[::2], "sqeuclidean") / 0.1)
    for form in (np.asarray, sparse.csr_array):
        places = given.transform(form(new))
        found = CLASSES[::2][cdist(places, given.embedding_).argmin(axis=1)]
        assert np.mean(found != CLASSES[1::2]) < 0.08
        np.testing.assert_allclose(given.transform(form(7.0 * new[4:5])), places[4:5], rtol=1e-6)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((10, 9)), {}, "shape"),
        (np.eye(10), {}, r"X\[0\] has no affinity"),
        (np.eye(10) - 1.0, {}, "negative affinities"),
        (np.full((10, 10), np.nan), {}, "NaN"),
        (np.ones((10, 10)), {"metric": "cosine"}, "set only one of the two"),
        (np.ones((10, 10)), {"metric": np.eye(3)}, "set only one of the two"),
        (np.full((10, 10), 1e300), {}, "largest affinity is 1e"),
        (np.ones((3, 3)), {}, "minimum of"),
    ],
)
def test_bad_affinities(X, options, message):
    with pytest.raises(ValueError, match=message):
        TSNE(affinities="precomputed", **options, **SHORT).fit(X)


def test_bad_affinities_of_new_samples():
    model = TSNE(affinities="precomputed", **SHORT).fit(np.ones((20, 20)))
    with pytest.raises(ValueError, match="features"):
        model.transform(np.ones((2, 19)))
    with pytest.raises(ValueError, match=r"X\[1\] has no affinity"):
        model.transform(np.eye(20)[:2] * [[1.0], [0.0]])


@METHODS
def test_a_view_goes_on_under_other_affinities(method):
    model = TSNE(method=method, **SHORT).fit(IRIS)
    first = model.affinities_
    model.set_params(warm_start=True).fit(IRIS)
    assert model.affinities_ is first
    model.set_params(affinities=np.ones_like).fit(IRIS)
    assert abs(model.affinities_ - first).max() > 0.0
    assert model.n_iter_ == 90


def test_few_samples_with_affinities_of_their_own():
    model = TSNE(affinities=np.ones_like, max_iter=30, random_state=0).fit(IRIS[::30])
    assert np.isfinite(model.transform(IRIS[1::30])).all()


# Affinities that are no distributions


@METHODS
@pytest.mark.parametrize("divergence", ["gkl", Beta(1.3)])
def test_views_of_measures(method, divergence):
    model = TSNE(divergence=divergence, normalize=False, method=method, perplexity=20, max_iter=300, random_state=0)
    model.fit(IRIS)
    assert nearest_neighbor_error(model.embedding_, CLASSES) < 0.06
    assert model.divergence_ == model.divergence_history_[-1] < model.divergence_history_[0]
    p = model.affinities_.toarray() if method == "fast" else model.affinities_
    np.testing.assert_allclose(p.sum(), 1.0)
    usual = TSNE(perplexity=20, method=method, symmetric=False, max_iter=1).fit(IRIS).affinities_
    h = usual.toarray() if method == "fast" else usual
    h = h / h.max(axis=1, keepdims=True)
    np.testing.assert_allclose(p, (h + h.T) / (2 * h.sum()), atol=1e-15)
    w = 1.0 / (1.0 + cdist(model.embedding_, model.embedding_, "sqeuclidean"))
    off = ~np.eye(150, dtype=bool)
    family = Beta(1.0) if divergence == "gkl" else divergence
    value = family.value(h.sum() * p[off], w[off]) / h.sum() ** family.beta
    np.testing.assert_allclose(model.divergence_, value, rtol=2e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normalize": False}, "use a divergence of measures"),
        ({"normalize": False, "divergence": "gkl", "symmetric": False}, "symmetric=True"),
        ({"normalize": "yes"}, "normalize='yes' must be"),
    ],
)
def test_bad_measures(options, message):
    with pytest.raises(ValueError, match=message):
        TSNE(**options, **SHORT).fit(IRIS)


# Forces


class Recorded(Fast):
    """Forces that say what they were asked."""

    stages: list = []

    def step(self, points, *stage):
        self.stages.append(stage)
        return super().step(points, *stage)


def all_pairs(p, kernel, symmetric, threads):
    return Exact(p.toarray(), kernel, symmetric)


def test_forces_of_ones_own():
    usual = TSNE(method="fast", **SHORT).fit(IRIS)
    model = TSNE(method=Recorded, exaggeration=1.5, **SHORT).fit(IRIS)
    assert model.method_ == "given"
    assert [stage[1] for stage in Recorded.stages] == [12.0] * 6 + [1.5] * 24
    assert abs(model.affinities_ - usual.affinities_).max() == 0.0
    for symmetric in (True, False):
        exact = TSNE(method=all_pairs, symmetric=symmetric, **SHORT).fit(IRIS)
        fast = TSNE(method=Fast, symmetric=symmetric, **SHORT).fit(IRIS)
        np.testing.assert_allclose(exact.embedding_, fast.embedding_, atol=0.02 * np.ptp(fast.embedding_))


def test_forces_need_not_know_anything():
    class Shrink:
        def step(self, points, divergence, exaggeration=1.0, mass=None):
            return Gradient(points, 1.0)

        def value(self, points, divergence, mass=None):
            return float((points**2).sum())

    start = np.random.default_rng(0).normal(size=(150, 5))
    options = dict(SHORT, method=lambda *given: Shrink(), init=start, learning_rate=0.1)
    model = TSNE(5, **options).fit(IRIS)
    np.testing.assert_allclose(model.divergence_, (model.embedding_**2).sum())
    assert model.divergence_ < 0.5 * ((start - start.mean(axis=0)) ** 2).sum()
