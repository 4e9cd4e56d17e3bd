"""Winners that are not searched for anew: they must be those of a full search, to the last sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from protolearn import KMeans
from protolearn.core.bounds import Bounds, Search
from protolearn.core.lattices import rectangular
from protolearn.core.loop import anneal, nearest, winners
from protolearn.core.neighborhoods import OnLattice, Ranks, Winner
from protolearn.core.prototypes import Mean
from protolearn.core.sources import ArraySource

RNG = np.random.default_rng


def blobs(dtype):
    rng = RNG(0)
    return (rng.uniform(-10, 10, (12, 6))[rng.integers(12, size=1500)] + rng.standard_normal((1500, 6))).astype(dtype)


SAMPLES = {
    "blobs": blobs(np.float64),
    "blobs, single": blobs(np.float32),
    "noise": RNG(1).standard_normal((900, 20)),
    "duplicates": np.repeat(RNG(2).standard_normal((60, 3)), 15, axis=0),
    "grid": np.stack(np.meshgrid(*[np.arange(9.0)] * 3), axis=-1).reshape(-1, 3),
    "large offset, single": (RNG(3).standard_normal((900, 4)) + 1e5).astype(np.float32),
    "far groups": RNG(4).standard_normal((900, 3)) + 1e7 * RNG(5).integers(2, size=(900, 1)),
    "an outlier": np.vstack([RNG(6).standard_normal((900, 3)), np.full((1, 3), 1e12)]),
}


def lowest(lifted, forms):
    """The full search in double precision, term by term, so that nothing but the terms decides."""
    alike = np.ptp(forms[:, -1]) < 1e-12
    products = np.zeros((len(lifted), len(forms)))
    for t in range(forms.shape[1] - alike):
        products += lifted[:, t, None].astype(np.float64) * forms[:, t]
    return products.argmin(axis=1)


def start(X, k=12, weights=None):
    source = ArraySource(X, weights=weights)
    return source, Mean(X[:: len(X) // k][:k] - source.origin, source.metric)


@pytest.fixture
def compiled(monkeypatch):
    """Let small data take the way of large data."""
    monkeypatch.setattr("protolearn.core.neighborhoods.LARGE_WORK", 0)


@pytest.mark.parametrize("name", SAMPLES)
def test_winners_of_a_whole_run_are_those_of_full_searches(compiled, name):
    X = SAMPLES[name]
    weights = RNG(0).integers(0, 3, len(X)).astype(X.dtype)
    source, prototypes = start(X, weights=weights)
    for _ in range(25):
        fresh, _ = start(X, weights=weights)
        sums = Winner().gather(prototypes, source, 0.0)
        expected = Winner().gather(prototypes, fresh, 0.0)
        assert_array_equal(source.bounds.winners, lowest(source.chunk(slice(None)).lifted, prototypes.affine))
        assert_array_equal(sums.moments, expected.moments)
        assert prototypes.cost(sums) == prototypes.cost(expected)
        prototypes = prototypes.update(sums)


@pytest.mark.parametrize("winner", ["heskes", "heskes-printed", "nearest"])
def test_winners_of_a_self_organizing_map_are_those_of_full_searches(compiled, winner):
    source, prototypes = start(SAMPLES["blobs"])
    neighborhood = OnLattice(rectangular(3, 4), winner=winner)
    for range_ in [2.0, 1.0, 0.5, 0.2, 0.2, 0.1]:
        sums = neighborhood.gather(prototypes, source, range_)
        mixture = None if winner == "nearest" else np.exp(neighborhood.log_shares(range_))
        forms = prototypes.forms(mixture)
        assert_array_equal(source.bounds.winners, lowest(source.chunk(slice(None)).lifted, forms))
        prototypes = prototypes.update(sums)


def test_few_are_searched_for_in_the_end(compiled):
    """Bounds that never hold would pass all other tests."""
    source, prototypes = start(SAMPLES["blobs"])
    for step in anneal(prototypes, Winner(), source, np.zeros(12)):
        prototypes = step.prototypes
    source.bounds.loosen(Search(prototypes.forms(), euclidean=True))
    assert (source.bounds.room > 0).mean() > 0.8


@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.integers(-35, 35),
    offset=st.sampled_from([0.0, 1.0, 1e4, 1e9]),
    whole=st.booleans(),
    single=st.booleans(),
    k=st.integers(1, 9),
)
@settings(max_examples=60, deadline=None)
def test_winners_and_room_of_any_samples(seed, scale, offset, whole, single, k):
    rng = RNG(seed)
    X = rng.integers(-3, 4, (70, 3)).astype(float) if whole else rng.standard_normal((70, 3))
    X = (X + offset) * 10.0**scale
    if single:
        X = np.clip(X, -1e18, 1e18).astype(np.float32)
    places = X[rng.integers(70, size=k)].astype(np.float64)
    lifted = np.column_stack([X, np.ones(70, X.dtype), np.square(X).sum(axis=1)])
    prototypes = Mean(places, np.ones(3))
    bounds = Bounds.unknown(70)
    Search(prototypes.forms(), euclidean=True).update(lifted, bounds)
    assert_array_equal(bounds.winners, lowest(lifted, prototypes.affine))
    if k > 1:
        gaps = X[:, None].astype(np.longdouble) - places
        distances = np.sqrt(np.square(gaps / 10.0**scale).sum(axis=2))
        nearest = np.take_along_axis(distances, bounds.winners[:, None], axis=1)[:, 0]
        np.put_along_axis(distances, bounds.winners[:, None], np.inf, axis=1)
        assert (bounds.room <= np.maximum(distances.min(axis=1) - nearest, 0) * 10.0**scale).all()


@given(seed=st.integers(0, 2**32 - 1), step=st.floats(1e-4, 1.0))
@settings(max_examples=60, deadline=None)
def test_bounds_hold_wherever_prototypes_go(seed, step):
    rng = RNG(seed)
    X = rng.standard_normal((200, 2))
    lifted = np.column_stack([X, np.ones(200), np.square(X).sum(axis=1)])
    places, bounds = rng.standard_normal((5, 2)), Bounds.unknown(200)
    for _ in range(5):
        prototypes = Mean(places, np.ones(2))
        search = Search(prototypes.forms(), euclidean=True)
        bounds.loosen(search)
        search.update(lifted, bounds)
        assert_array_equal(bounds.winners, lowest(lifted, prototypes.affine))
        places = places + step * rng.standard_normal((5, 1)) * rng.standard_normal((5, 2))


def test_kmeans_of_large_data_is_that_of_small_data(compiled, monkeypatch):
    X = SAMPLES["blobs"]
    fast = KMeans(12, init=X[:12], tol=0, max_iter=30).fit(X)
    monkeypatch.setattr("protolearn.core.neighborhoods.LARGE_WORK", np.inf)
    plain = KMeans(12, init=X[:12], tol=0, max_iter=30).fit(X)
    assert_array_equal(fast.labels_, plain.labels_)
    np.testing.assert_allclose(fast.cost_history_, plain.cost_history_, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 11, 12])
@pytest.mark.parametrize("name", SAMPLES)
def test_two_nearest_of_large_data(compiled, monkeypatch, name, k):
    """The nearest are those of a full search, and the second nearest are no farther than others, but for rounding."""
    monkeypatch.setattr("protolearn.core.bounds.CLOSE", 2000)
    source, prototypes = start(SAMPLES[name], k)
    first, second = winners(prototypes, source)
    lifted = source.chunk(slice(None)).lifted
    assert_array_equal(first, lowest(lifted, prototypes.affine))
    assert_array_equal(first, nearest(prototypes, source))
    assert ((first != second) | (k == 1)).all()
    products = lifted[:, :-1].astype(np.float64) @ prototypes.affine[:, :-1].T
    reached = np.take_along_axis(products, second[:, None], axis=1)[:, 0]
    np.put_along_axis(products, first[:, None], np.inf if k > 1 else 0.0, axis=1)
    scale = np.abs(lifted.astype(np.float64)[:, :-1]) @ np.abs(prototypes.affine[:, :-1]).max(axis=0)
    assert (reached - products.min(axis=1) <= (20 * np.finfo(lifted.dtype).eps * scale if k > 1 else np.inf)).all()


def test_late_neural_gas_is_kmeans(compiled):
    source, prototypes = start(SAMPLES["noise"])
    for _ in range(5):
        sums = Ranks().gather(prototypes, source, 1e-3)
        assert_array_equal(sums.moments, Winner().gather(prototypes, start(SAMPLES["noise"])[0], 0.0).moments)
        prototypes = prototypes.update(sums)
    assert (source.bounds.room > 0).any()


def test_samples_on_two_threads(compiled, monkeypatch):
    monkeypatch.setattr("protolearn.core.sources.LEAST_WORK", 0)
    X = SAMPLES["noise"]
    _, prototypes = start(X)
    threaded = ArraySource(X, n_threads=2, chunk_size=100)
    one = ArraySource(X, chunk_size=100)
    for _ in range(8):
        sums = [Winner().gather(prototypes, each, 0.0) for each in (threaded, one)]
        assert_array_equal(sums[0].moments, sums[1].moments)
        prototypes = prototypes.update(sums[0])
