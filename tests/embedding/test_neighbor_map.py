"""A map by neighbors: training samples keep their positions, and new ones go where those of their neighbors agree."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from protolearn import MappedEmbedding
from protolearn.core.progress import Progress
from protolearn.embedding import mappings
from protolearn.embedding.costs import tsne
from protolearn.embedding.mappings import NeighborMap


def made(n=300, d=6, n_neighbors=5, dtype=np.float64):
    """Return samples with positions that bend them, new ones, and the map."""
    rng = np.random.RandomState(0)
    X, new = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(40, d)).astype(dtype)
    positions = 10.0 * np.tanh(X[:, :2]).astype(np.float64)
    return X, positions, new, NeighborMap.of(X, positions, n_neighbors, np.random.RandomState(1))


def by_loops(X, positions, new, k, width):
    """Place new samples by their exact neighbors, one by one."""
    places = []
    for distances in cdist(new, X):
        order = np.argsort(distances)
        near, reach = distances[order[:k]], distances[order[k]]
        weights, others = (1.0 / near - 1.0 / reach) ** 2, positions[order[:k]]
        place = np.average(others, axis=0, weights=weights)
        for _ in range(mappings.N_STEPS):
            agreed = weights / (width**2 + np.square(place - others).sum(axis=1))
            place = np.average(others, axis=0, weights=agreed)
        places.append(place)
    return np.array(places)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_training_samples_have_their_positions(dtype):
    X, positions, _, found = made(dtype=dtype)
    places = found.place(X)
    assert places.dtype == dtype
    np.testing.assert_allclose(places, positions, rtol=4.0 * np.finfo(dtype).eps, atol=1e-12)


def test_copies_have_the_mean_of_their_positions():
    X, positions, _, _ = made(n=40)
    found = NeighborMap.of(np.vstack([X, X[:1]]), np.vstack([positions, positions[:1] + 1e-3]), 5, None)
    np.testing.assert_allclose(found.place(X[:1]), positions[:1] + 5e-4, atol=1e-6)


def test_places_are_those_of_exact_neighbors_by_loops(monkeypatch):
    monkeypatch.setattr(mappings, "N_PROBES", 1000)
    X, positions, new, found = made()
    np.testing.assert_allclose(found.place(new), by_loops(X, positions, new, 5, found.width), rtol=1e-3, atol=1e-3)


def test_most_neighbors_are_found_in_some_cells():
    X, positions, new, found = made(n=600)
    exact = by_loops(X, positions, new, 5, found.width)
    assert (np.abs(found.place(new) - exact).max(axis=1) < 1e-2).mean() >= 0.8


def test_samples_are_placed_one_by_one(monkeypatch):
    _, _, new, found = made()
    together = found.place(new)
    np.testing.assert_array_equal(np.vstack([found.place(row[None]) for row in new]), together)
    monkeypatch.setattr(mappings, "ROWS", 7)
    np.testing.assert_array_equal(found.place(new), together)


def test_precisions_agree():
    _, _, new, found = made()
    np.testing.assert_allclose(found.place(new.astype(np.float32)), found.place(new), rtol=1e-2, atol=1e-2)


def test_neighbors_that_lie_apart_do_not_meet_in_the_middle():
    X = np.linspace(0.0, 1.0, 9)[:, None]
    positions = np.c_[np.where(X[:, 0] < 0.4, -100.0, 100.0), X[:, 0]]
    place = NeighborMap.of(X, positions, 5, np.random.RandomState(0)).place(np.array([[0.55]]))
    assert abs(place[0, 0] - 100.0) < 1.0


@pytest.mark.parametrize("size", [1e8, 1e300])
def test_far_samples_stay_in_the_view(size):
    _, positions, new, found = made()
    places = found.place(size * new)
    assert (places >= positions.min(axis=0)).all()
    assert (places <= positions.max(axis=0)).all()


def test_the_scale_of_the_data_does_not_count():
    X, positions, new, found = made()
    other = NeighborMap.of(64.0 * X, positions, 5, np.random.RandomState(1))
    np.testing.assert_array_equal(other.place(64.0 * new), found.place(new))


@pytest.mark.parametrize("n", [2, 3, 9])
def test_few_samples(n):
    X, positions, new, _ = made(n=n)
    found = NeighborMap.of(X, positions, min(5, n - 1), np.random.RandomState(0))
    np.testing.assert_allclose(found.place(X), positions)
    assert np.isfinite(found.place(new)).all()


def test_interrupted_descent_keeps_what_it_reached(monkeypatch):
    X = np.random.RandomState(0).normal(size=(60, 4))
    model = MappedEmbedding(cost=tsne(10), mapping="neighbors", max_iter=40, random_state=0)
    shorter = clone(model).set_params(max_iter=7).fit(X)
    steps = Progress.step

    def interrupted(self, number, *args, **values):
        steps(self, number, *args, **values)
        if number == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.n_iter_ == shorter.n_iter_ == 7
    np.testing.assert_allclose(model.embedding_, shorter.embedding_)


def test_descent_starts_at_given_positions():
    X = np.random.RandomState(0).normal(size=(60, 4))
    model = MappedEmbedding(cost=tsne(10), mapping="neighbors", max_iter=50, init=X[:, 2:], random_state=0).fit(X)
    other = clone(model).set_params(init=X[:, :2]).fit(X)
    assert model.n_iter_ == 50
    assert np.abs(model.embedding_ - other.embedding_).max() > 1.0
