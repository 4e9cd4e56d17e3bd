"""New samples among the images of XOM and SONE, and the distances that both compute when they need them."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import pairwise_distances

from protolearn import GMLVQ, LGMLVQ, SONE, XOM
from protolearn.dissimilarities import pairwise
from protolearn.embedding import _presentations as _rows
from protolearn.embedding._base import vector_samples
from protolearn.embedding._presentation_kernels import entropic_precisions, settle
from protolearn.embedding._presentations import Squares, ranks_and_shares

X, y = make_blobs(60, n_features=4, centers=3, random_state=0)
OLD, NEW = X[:40], X[40:]
MODELS = {
    "XOM": XOM(max_iter=20, random_state=0),
    "XOM, mean": XOM(max_iter=20, winner="mean", random_state=0),
    "t-SONE": SONE(max_iter=20, random_state=0),
    "SONE": SONE(kernel="gaussian", bandwidth="perplexity", max_iter=20, random_state=0),
    "without structure": SONE(structure=None, max_iter=10, random_state=0),
    "no offset": SONE(offset=False, max_iter=20, random_state=0),
    "own structure": SONE(structure=50 * np.random.RandomState(0).normal(size=(20, 2)), max_iter=20, random_state=0),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@every_model
def test_training_samples_have_their_own_images(model):
    view = clone(model).fit(OLD)
    np.testing.assert_array_equal(view.transform(OLD), view.embedding_)
    np.testing.assert_array_equal(view.transform(OLD.astype(np.float32)), view.embedding_)


@every_model
def test_new_samples_do_not_see_each_other(model):
    view = clone(model).fit(OLD)
    places = view.transform(NEW)
    order = np.random.RandomState(0).permutation(len(NEW))
    np.testing.assert_array_equal(view.transform(NEW[order]), places[order])
    np.testing.assert_array_equal(np.vstack([view.transform(one[None]) for one in NEW]), places)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(view)).transform(NEW), places)


@every_model
def test_new_samples_stay_among_the_images_of_their_class(model):
    view = clone(model).fit(OLD)
    nearest = cdist(view.transform(NEW), view.embedding_).argmin(axis=1)
    assert np.mean(y[:40][nearest] == y[40:]) > 0.9


@every_model
def test_dissimilarities_place_new_samples_as_vectors_do(model):
    expected = clone(model).fit(OLD).transform(NEW)
    for power, squared in ((1, False), (2, True)):
        view = clone(model).set_params(metric="precomputed", squared=squared)
        view.fit(pairwise_distances(OLD) ** power)
        np.testing.assert_allclose(view.transform(cdist(NEW, OLD) ** power), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("learner", [GMLVQ(random_state=0), LGMLVQ(random_state=0)], ids=["global", "local"])
def test_learned_metrics_place_new_samples(learner):
    metric = learner.fit(OLD, y[:40]).metric_
    view = SONE(metric=metric, max_iter=5, random_state=0).fit(OLD)
    given = SONE(metric="precomputed", max_iter=5, random_state=0).fit(metric.distances(OLD))
    np.testing.assert_allclose(view.transform(NEW), given.transform(metric.distances(NEW, OLD)), rtol=1e-4, atol=1e-4)


def test_objects_are_placed_by_their_metric():
    words = ["".join(np.random.RandomState(i).choice(list("abcd"), 12)) for i in range(30)]
    view = SONE(metric="edit", max_iter=5, random_state=0).fit(words[:20])
    given = SONE(metric="precomputed", max_iter=5, random_state=0).fit(pairwise(words[:20], metric="edit"))
    np.testing.assert_array_equal(view.transform(words[20:]), given.transform(pairwise(words, metric="edit")[20:, :20]))


def test_unfit_samples_are_refused():
    view = SONE(max_iter=2, random_state=0).fit(OLD)
    with pytest.raises(ValueError, match="X has 3 features, but SONE is expecting 4"):
        view.transform(NEW[:, :3])
    view = XOM(metric="precomputed", max_iter=2, random_state=0).fit(pairwise_distances(OLD))
    with pytest.raises(ValueError, match="negative dissimilarities"):
        view.transform(-cdist(NEW, OLD))


@given(seed=st.integers(0, 10_000), scale=st.floats(0.5, 100.0))
@settings(max_examples=20, deadline=None)
def test_places_have_the_lowest_cost_nearby(seed, scale):
    rng = np.random.RandomState(seed)
    images, squares, precisions = 3 * rng.normal(size=(12, 2)), rng.uniform(0.1, 3.0, (4, 12)), rng.uniform(0.5, 4.0, 4)
    places = np.empty((4, 2))
    settle(squares, precisions, images, scale, places)
    h = np.exp(-precisions[:, None] * (squares - squares.min(axis=1, keepdims=True)))

    def cost(at):
        return (h * np.log1p(cdist(at, images, "sqeuclidean") / scale)).sum(axis=1)

    gradient = [(cost(places + step) - cost(places - step)) / 2e-5 for step in 1e-5 * np.eye(2)]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6 * h.sum(axis=1).max())
    settle(squares, precisions, images, np.inf, places)
    np.testing.assert_allclose(places, h @ images / h.sum(axis=1, keepdims=True), rtol=1e-12, atol=1e-12)


# Rows and neighbors


@pytest.mark.parametrize(
    "model", [XOM(max_iter=4, random_state=0), SONE(max_iter=4, random_state=0)], ids=["XOM", "SONE"]
)
@pytest.mark.parametrize("kept", [1, 3])
def test_rows_that_are_computed_again_are_the_same(model, kept, monkeypatch):
    expected = clone(model).fit_transform(X)
    monkeypatch.setattr(_rows, "KEPT_BYTES", 8 * len(X) * kept)
    np.testing.assert_array_equal(clone(model).fit_transform(X), expected)


@pytest.mark.parametrize(
    "model", [XOM(max_iter=2, n_sampling=20), SONE(max_iter=2, n_sampling=20)], ids=["XOM", "SONE"]
)
def test_no_matrix_of_all_pairs_is_formed(model, monkeypatch):
    for limit in ("KEPT_BYTES", "MOST_BYTES"):
        monkeypatch.setattr(_rows, limit, 1 << 24)
    n = 8000 if isinstance(model, XOM) else 3000
    samples = np.random.default_rng(0).normal(size=(n, 3))
    model.set_params(random_state=0).fit(samples[:1100])
    tracemalloc.start()
    model.fit(samples)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * 8 * n**2


@pytest.mark.parametrize("n", [5, 1000, 1001, 3000, 100_000])
def test_ranks_stand_for_all_samples(n):
    ranks, shares = ranks_and_shares(n)
    assert shares.sum() == n
    assert (np.diff(ranks) > 0).all()
    assert ranks[0] == 0
    assert ranks[-1] < n
    edges = np.concatenate([[0], np.cumsum(shares)])
    assert ((edges[:-1] <= ranks) & (ranks < edges[1:])).all()


def test_neighbors_are_in_order_and_ties_by_index(monkeypatch):
    near = Squares(vector_samples(np.eye(6))).near()
    assert near.columns[2].tolist() == [2, 0, 1, 3, 4, 5]
    monkeypatch.setattr(_rows, "MOST_EXACT", 100)
    squares = Squares(vector_samples(np.random.RandomState(0).normal(size=(400, 3))))
    near = squares.near()
    in_order = np.sort(squares.of(slice(None)), axis=1)
    for rank in (60, 333):
        np.testing.assert_allclose(near.of_rank(rank), in_order[:, rank], rtol=0.05)
    for rank in (1, 3, 7):
        np.testing.assert_allclose(near.of_rank(rank), in_order[:, rank], rtol=1e-9)


def test_shares_give_the_perplexity_of_all_samples(monkeypatch):
    squares = Squares(vector_samples(load_digits().data[:900].astype(float)))
    full = squares.near()
    monkeypatch.setattr(_rows, "MOST_EXACT", 100)
    part = squares.near()
    for perplexity in (5.0, 50.0, 300.0):
        exact, sampled = np.ones(900), np.ones(900)
        entropic_precisions(full.squares[:, 1:], full.shares[1:], perplexity, exact)
        entropic_precisions(part.squares[:, 1:], part.shares[1:], perplexity, sampled)
        np.testing.assert_allclose(sampled, exact, rtol=0.1)
