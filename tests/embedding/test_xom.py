"""XOM: images stay in the hull of the structure, follow the cost, and are the same for dissimilarities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import pairwise_distances

from protolearn.embedding import _xom
from protolearn.embedding._base import vector_samples
from protolearn.embedding._presentations import Squares
from protolearn.embedding._xom import XOM, Observer


def data(n=30, seed=0):
    return make_blobs(n, n_features=4, centers=3, random_state=seed)


def observer(n=30, seed=0, winner="mean", ranges=(0.7, 0.4)):
    squares, choice = Squares(vector_samples(data(n, seed)[0])), _xom.WINNERS.index(winner)
    return Observer(squares, choice, ranges=np.array(ranges), rates=np.array([0.5, 0.2]))


def affinities_of(model, range_):
    return np.exp(-np.square(pairwise_distances(model.squares.vectors)) / (2 * range_**2))


def start(n=30, seed=1):
    return np.random.RandomState(seed).normal(size=(n, 2))


def cost(images, s, h):
    """Return the lowest of the weighted sums of squared distances."""
    return (h @ ((images - s) ** 2).sum(axis=1)).min()


@pytest.mark.parametrize("winner", ["image", "mean"])
def test_an_epoch_is_that_of_the_slow_rule(winner):
    model, images = observer(winner=winner), start()
    slow, points = images.copy(), np.random.RandomState(2).normal(size=(12, 2))
    h, winners, costs = affinities_of(model, 0.7), [], []
    for s in points:
        distances = ((slow - s) ** 2).sum(axis=1)
        winners.append(distances.argmin() if winner == "image" else (h @ distances).argmin())
        costs.append(h[winners[-1]] @ distances)
        slow = slow + 0.5 * h[winners[-1]][:, None] * (s - slow)
    mean, won = model._observe(points, images, 0.5)
    np.testing.assert_array_equal(won, winners)
    np.testing.assert_allclose(images, slow, rtol=1e-10)
    assert mean == pytest.approx(np.mean(costs))


def test_steps_of_mean_winners_are_the_gradient_of_the_cost():
    model, images, s, eps = observer(), start(), np.array([0.3, -0.2]), 1e-6
    h, gradient = affinities_of(model, 0.7), np.zeros((30, 2))
    for place in np.ndindex(30, 2):
        for sign in (1.0, -1.0):
            moved = images.copy()
            moved[place] += sign * eps
            gradient[place] += sign * cost(moved, s, h) / (2 * eps)
    before = images.copy()
    model._observe(s[None], images, 1e-3)
    np.testing.assert_allclose((images - before) / 1e-3, -gradient / 2.0, rtol=1e-6, atol=1e-7)


@given(seed=st.integers(0, 10_000), winner=st.sampled_from(["image", "mean"]), rate=st.floats(0.01, 1.0))
@settings(max_examples=25, deadline=None)
def test_images_stay_in_the_hull_of_the_structure(seed, winner, rate):
    X, _ = data(15, seed)
    structure = np.random.RandomState(seed).normal(size=(10, 2))
    init = np.random.RandomState(seed).dirichlet(np.ones(10), 15) @ structure
    model = XOM(structure=structure, init=init, winner=winner, max_iter=5, learning_rate_start=rate, random_state=seed)
    view = model.fit_transform(X)
    center = structure.mean(axis=0)
    assert (Delaunay(structure).find_simplex(center + (view - center) * (1 - 1e-9)) >= 0).all()


@pytest.mark.parametrize("winner", ["image", "mean"])
def test_dissimilarities_give_the_view_of_their_vectors(winner):
    X, _ = data(40)
    model = XOM(max_iter=10, winner=winner, random_state=0)
    view, D = model.fit_transform(X), pairwise_distances(X)
    for matrix, squared in ((D, False), (D**2, True)):
        other = clone(model).set_params(metric="precomputed", squared=squared)
        np.testing.assert_allclose(other.fit_transform(matrix), view, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("winner", ["image", "mean"])
def test_the_order_of_samples_does_not_matter(winner):
    X, _ = data(40)
    order, init = np.random.RandomState(5).permutation(40), start(40)
    model = XOM(max_iter=10, init=init, winner=winner, random_state=0)
    view = model.fit_transform(X)
    moved = clone(model).set_params(init=init[order])
    np.testing.assert_allclose(moved.fit_transform(X[order]), view[order], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(order[moved.exemplars_], model.exemplars_)


def test_what_a_fit_shows():
    X, _ = data(40)
    model = XOM(max_iter=6, random_state=0).fit(X)
    assert model.n_iter_ == len(model.cost_history_) == len(model.n_distinct_winners_) == 6
    squares = np.sort(np.square(pairwise_distances(X)))
    end = np.sqrt(np.median(squares[:, 10]) / squares.mean()) / 3
    ratio = end / max(0.25, end)
    np.testing.assert_allclose(model.range_history_, max(0.25, end) * ratio ** (np.arange(6) / 6), rtol=1e-9)
    distances = pairwise_distances(model.embedding_, model.structure_)
    np.testing.assert_array_equal(model.labels_, distances.argmin(axis=1))
    np.testing.assert_array_equal(model.exemplars_, distances.argmin(axis=0))
    np.testing.assert_array_equal(model.embedding_, clone(model).fit(X).embedding_)


def test_digits_are_told_apart():
    X, y = load_digits(n_class=5, return_X_y=True)
    distances = pairwise_distances(XOM(random_state=0).fit_transform(X[:300]))
    np.fill_diagonal(distances, np.inf)
    assert np.mean(y[:300][distances.argmin(axis=1)] != y[:300]) < 0.15


def test_interrupted_fits_keep_what_they_have(monkeypatch):
    epoch = Observer.epoch

    def interrupted(self, t, *arguments):
        if t == 2:
            raise KeyboardInterrupt
        return epoch(self, t, *arguments)

    monkeypatch.setattr(Observer, "epoch", interrupted)
    model = XOM(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data()[0])
    assert model.n_iter_ == 2
    assert model.exemplars_.shape == (22,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"structure": None}, "structure"),
        ({"winner": "divergence"}, "winner='divergence' must be one of 'image', 'mean'"),
        ({"learning_rate_start": 1.5}, r"learning_rate_start=1.5 must be a number in \(0, 1\]"),
        ({"range_end": -1.0}, "range_end=-1.0"),
        ({"metric": "unknown"}, "metric='unknown'"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        XOM(**changes).fit(data()[0])
