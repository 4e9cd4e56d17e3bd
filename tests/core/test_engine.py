"""The parts of the engine against slow oracles, and the identities of the theory."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from protolearn.core._kernels import link_winners
from protolearn.core.lattices import chain, hexagonal, hyperbolic, rectangular
from protolearn.core.loop import anneal, distances_to, learn_online, nearest, winners
from protolearn.core.neighborhoods import OnLattice, Ranks, Winner, index_mask, sorted_codes, sum_by_winner
from protolearn.core.prototypes import Mean
from protolearn.core.schedules import constant, geometric, inverse
from protolearn.core.sources import ArraySource
from protolearn.core.statistics import Statistics

seeds = st.integers(0, 10_000)
ranges = st.sampled_from([0.01, 0.05, 0.3, 1.0, 3.0, 20.0])


def problem(seed, n=40, d=3, k=6, dtype=np.float64, chunk_size=None):
    """Random weighted samples and prototypes, some far away so that they are idle."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype) + 5
    W = rng.normal(size=(k, d)) + 5
    W[: k // 3] += 30 * rng.normal(size=d)
    u = rng.integers(0, 4, n) * rng.random(n)
    u[0] = 1.0
    source = ArraySource(X, weights=u, origin=np.full(d, 4.0), chunk_size=chunk_size)
    return X, W, u, source, Mean(W - 4.0, source.metric)


def slow_means(X, u, log_h):
    """Weighted means with weights u exp(log_h), log_h (k, n), by the row softmax in log space."""
    with np.errstate(divide="ignore"):
        logs = log_h + np.log(u)
    logs -= logs.max(axis=1, keepdims=True)
    h = np.exp(logs)
    return h @ X / h.sum(axis=1, keepdims=True)


def slow_ranks(X, W):
    return np.argsort(np.argsort(cdist(W, X, "sqeuclidean"), axis=0, kind="stable"), axis=0, kind="stable")


# Schedules


def test_geometric_schedule_of_the_thesis():
    values = geometric(3.5, 0.01, 40)
    assert values[0] == 3.5
    assert_allclose(values[-1], 0.01158, atol=1e-5)
    assert_allclose(np.diff(np.log(values)), np.log(values[1] / values[0]))


def test_inverse_and_constant_schedules():
    values = inverse(0.5, 0.005, 1000)
    assert values[0] == 0.5
    assert (np.diff(values) < 0).all()
    assert_allclose(0.5 * values[-1] ** -1 - 1, (0.5 / 0.005 - 1) * 0.999)
    assert_array_equal(constant(2.0, 0.1, 3), [2, 2, 2])


# Sources and statistics


@given(seeds, st.integers(1, 50), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_sums_do_not_depend_on_chunks_or_threads(seed, chunk_size, n_threads):
    X, _, u, _, _ = problem(seed)
    origin = np.zeros(3)
    whole = ArraySource(X, weights=u, origin=origin, chunk_size=1000)
    parts = ArraySource(X, weights=u, origin=origin, chunk_size=chunk_size, n_threads=n_threads)
    expected = np.concatenate([u @ X, [u.sum(), u @ (X**2).sum(axis=1)]])
    for source in (whole, parts):
        assert_allclose(source.sum(lambda chunk: chunk.weights @ chunk.lifted), expected, rtol=1e-12)
    (norms,) = parts.gather(lambda chunk: (chunk.lifted[:, -1],))
    assert_allclose(norms, (X**2).sum(axis=1))


def test_thread_count_does_not_change_a_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    W = Mean(X[:20].copy(), np.ones(10))
    sums = [
        Winner().gather(W, ArraySource(X, origin=np.zeros(10), chunk_size=512, n_threads=t), 0.0).moments
        for t in (1, 2, 5)
    ]
    assert_array_equal(sums[0], sums[1])
    assert_array_equal(sums[0], sums[2])


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_statistics_add_at_any_scale(seed):
    rng = np.random.default_rng(seed)

    def random_statistics():
        scale = rng.normal(size=4) * 2
        scale[rng.random(4) < 0.3] = -np.inf
        moments = rng.normal(size=(4, 3))
        moments[~np.isfinite(scale)] = 0
        return Statistics(moments, scale)

    a, b, c = (random_statistics() for _ in range(3))
    total, other = (a + b) + c, a + (b + c)
    plain = sum(np.exp(s.log_scale)[:, None] * s.moments for s in (a, b, c))
    for s in (total, other):
        assert_allclose(np.exp(s.log_scale)[:, None] * s.moments, plain, atol=1e-12)


# Distances, keys, winners


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_distances_and_mixed_distances(seed):
    X, W, _, source, prototypes = problem(seed)
    expected = cdist(X, W, "sqeuclidean")
    chunk = source.chunk(slice(None))
    assert_allclose(prototypes.measure(np.float64)(chunk)[0], expected, atol=1e-9)
    H = np.random.default_rng(seed).random((len(W), len(W)))
    assert_allclose(chunk.lifted @ prototypes.columns(np.float64, H), expected @ H.T, atol=1e-8)


@given(seeds, st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_codes_give_the_stable_order(seed, k):
    """Ties go to the lower index, in both precisions."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 5, size=(30, k)).astype(rng.choice([np.float32, np.float64]))
    expected = np.argsort(distances, axis=1, kind="stable")
    mask = index_mask(k)
    assert_array_equal(sorted_codes(distances, mask).astype(np.int64) & mask, expected)


@pytest.mark.parametrize("k", [2, 100, 256, 257, 600])
def test_codes_resolve_single_precision(k):
    """Distances in single precision are ordered up to the rounding error they carry anyway."""
    rng = np.random.default_rng(k)
    distances = (rng.random((200, k)) + 5).astype(np.float32)
    mask = index_mask(k)
    order = sorted_codes(distances.copy(), mask).astype(np.int64) & mask
    found = np.take_along_axis(distances, order, axis=1).astype(np.float64)
    assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(k), (200, 1)))
    assert (np.diff(found, axis=1) >= -np.spacing(np.float32(6.0))).all()


def test_two_winners():
    X, W, _, source, prototypes = problem(3, n=200)
    first, second = winners(prototypes, source)
    order = np.argsort(cdist(X, W), axis=1)
    assert_array_equal(first, order[:, 0])
    assert_array_equal(second, order[:, 1])
    assert_array_equal(nearest(prototypes, source), order[:, 0])
    assert_allclose(distances_to(prototypes, source, first), cdist(X, W, "sqeuclidean").min(axis=1), atol=1e-12)


# Updates against slow oracles


@given(seeds, ranges, st.integers(3, 41))
@settings(max_examples=60, deadline=None)
def test_neural_gas_update(seed, range_, chunk_size):
    """The update is the row softmax of the ranks, also for idle prototypes whose plain weights underflow to zero."""
    X, W, u, source, prototypes = problem(seed, chunk_size=chunk_size)
    expected = slow_means(X, u, -slow_ranks(X, W) / range_)
    found = prototypes.update(Ranks().gather(prototypes, source, range_)).positions + 4.0
    assert_allclose(found, expected, atol=1e-10)


def test_neural_gas_with_many_prototypes():
    """Whether weights are counted from the best rank or not makes no difference."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(300, 2)), rng.normal(size=(90, 2))
    source = ArraySource(X, origin=np.zeros(2), chunk_size=64)
    for range_ in (0.02, 0.3, 0.45, 1.0, 2.0, 5.0):
        prototypes = Mean(W, source.metric)
        found = prototypes.update(Ranks().gather(prototypes, source, range_)).positions
        assert_allclose(found, slow_means(X, np.ones(300), -slow_ranks(X, W) / range_), atol=1e-10)


@pytest.mark.pairwise(
    lattice=[rectangular(2, 3), chain(6, periodic=True), hyperbolic(7, 1)],
    range_=[0.02, 0.7, 4.0],
    kernel=["exponential", "gaussian"],
    winner=["heskes", "nearest", "heskes-printed"],
)
def test_som_update(lattice, kernel, winner, range_):
    X, W, u, source, prototypes = problem(1, k=lattice.n_nodes, chunk_size=7)
    log_h = -lattice.distances / range_ if kernel == "exponential" else -0.5 * (lattice.distances / range_) ** 2
    D = cdist(W, X, "sqeuclidean")
    if winner == "heskes":
        log_h = log_h - np.log(np.exp(log_h).sum(axis=1, keepdims=True))
    mixed = np.exp(log_h) @ D  # Hasenfuss 2009, eq. 2.5
    best = (D if winner == "nearest" else mixed).argmin(axis=0)
    expected = slow_means(X, u, log_h[best].T)
    found = prototypes.update(
        OnLattice(lattice, winner=winner, kernel=kernel).gather(prototypes, source, range_)
    ).positions
    assert_allclose(found + 4.0, expected, atol=1e-9)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("range_", [0.01, 0.04, 0.07, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_that_do_not_count_are_left_out(dtype, range_, compiled, monkeypatch):
    monkeypatch.setattr("protolearn.core.neighborhoods.LARGE_WORK", 0 if compiled else np.inf)
    monkeypatch.setattr("protolearn.core.bounds.CLOSE", 2000)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, 3))
    u = rng.random(4000)
    W = X[:60]
    passes = []
    source = ArraySource(X.astype(dtype), weights=u, origin=np.zeros(3))
    monkeypatch.setattr(
        source, "sum", lambda *args, **options: passes.append(1) or ArraySource.sum(source, *args, **options)
    )
    found = Mean(W, source.metric).update(Ranks().gather(Mean(W, source.metric), source, range_)).positions
    assert_allclose(found, slow_means(X, u, -slow_ranks(X, W) / range_), atol=1e-5 if dtype == np.float32 else 1e-12)
    assert len(passes) == 1
    W = np.vstack([W, [[7.0, 0.0, 0.0]]])  # is never near
    found = Mean(W, source.metric).update(Ranks().gather(Mean(W, source.metric), source, range_)).positions
    assert_allclose(found, slow_means(X, u, -slow_ranks(X, W) / range_), atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_and_plain_sums_agree(dtype, mixed, monkeypatch):
    _, _, u, source, prototypes = problem(2, n=3000, k=40, dtype=dtype)
    mixture = np.random.default_rng(0).dirichlet(np.ones(40), 40) if mixed else None
    plain = sum_by_winner(prototypes, source, mixture)
    monkeypatch.setattr("protolearn.core.neighborhoods.LARGE_WORK", 0)
    monkeypatch.setattr("protolearn.core.bounds.CLOSE", 2000)
    compiled = sum_by_winner(prototypes, source, mixture)
    assert_allclose(compiled.moments, plain.moments, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=1e-3)
    assert_allclose(compiled.mass.sum(), u.sum(), rtol=1e-6)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_kmeans_update(seed):
    X, W, u, source, prototypes = problem(seed)
    best = cdist(X, W).argmin(axis=1)
    found = prototypes.update(Winner().gather(prototypes, source, 0.0)).positions + 4.0
    for i in range(len(W)):
        mine = (best == i) & (u > 0)
        expected = np.average(X[mine], axis=0, weights=u[mine]) if mine.any() else W[i]
        assert_allclose(found[i], expected, atol=1e-10)


def test_lattice_with_infinite_gaps_is_kmeans():
    _, _, _, source, prototypes = problem(5)
    lonely = OnLattice(rectangular(2, 3), kernel="gaussian")
    stats = lonely.gather(prototypes, source, 1e-3)
    kmeans = Winner().gather(prototypes, source, 0.0)
    occupied = kmeans.mass > 0
    assert_allclose(
        prototypes.update(stats).positions[occupied], prototypes.update(kmeans).positions[occupied], atol=1e-12
    )


# Theory


def explicit_cost(X, W, u, h):
    """Half the sum of weights h (k, n) times squared distances."""
    return 0.5 * float((h * u * cdist(W, X, "sqeuclidean")).sum())


@given(seeds, ranges)
@settings(max_examples=30, deadline=None)
def test_cost_from_sums_is_the_cost(seed, range_):
    X, W, u, source, prototypes = problem(seed)
    cost = prototypes.cost(Ranks().gather(prototypes, source, range_))
    assert_allclose(cost, explicit_cost(X, W, u, np.exp(-slow_ranks(X, W) / range_)), rtol=1e-9)


@given(seeds, ranges, st.sampled_from(["ranks", "heskes", "heskes-printed", "winner"]))
@settings(max_examples=60, deadline=None)
def test_cost_never_rises_at_a_fixed_range(seed, range_, name):
    _, _, _, source, prototypes = problem(seed)
    neighborhood = {
        "ranks": Ranks(),
        "heskes": OnLattice(hexagonal(2, 3), kernel="gaussian" if seed % 2 else "exponential"),
        "heskes-printed": OnLattice(
            hexagonal(2, 3), winner="heskes-printed", kernel="gaussian" if seed % 2 else "exponential"
        ),
        "winner": Winner(),
    }[name]
    costs = [step.cost for step in anneal(prototypes, neighborhood, source, np.full(15, range_))]
    assert (np.diff(costs) <= 1e-10 * costs[0]).all()


def test_cost_falls_with_the_range():
    _, _, _, source, prototypes = problem(0, n=100)
    costs = [step.cost for step in anneal(prototypes, Ranks(), source, geometric(3.0, 0.1, 60))]
    assert (np.diff(costs) < 0).all()


@given(seeds, ranges)
@settings(max_examples=30, deadline=None)
def test_a_batch_step_is_a_newton_step(seed, range_):
    """Gradient and Hessian of the cost for fixed ranks; the Hessian is a multiple of the identity."""
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(50, 3)), rng.normal(size=(4, 3))
    h = np.exp(-slow_ranks(X, W) / range_)
    gradient = (h[:, :, None] * (W[:, None] - X[None])).sum(axis=1)
    hessian = h.sum(axis=1, keepdims=True)
    if (hessian > 1e-200).all():
        source = ArraySource(X, origin=np.zeros(3))
        prototypes = Mean(W, source.metric)
        found = prototypes.update(Ranks().gather(prototypes, source, range_)).positions
        assert_allclose(found, W - gradient / hessian, atol=1e-10)


def test_gradient_of_the_cost_by_finite_differences():
    rng = np.random.default_rng(2)
    X, W = rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
    source = ArraySource(X, origin=np.zeros(2))

    def cost(positions):
        prototypes = Mean(positions, source.metric)
        return prototypes.cost(Ranks().gather(prototypes, source, 1.5))

    h = np.exp(-slow_ranks(X, W) / 1.5)
    gradient = (h[:, :, None] * (W[:, None] - X[None])).sum(axis=1)
    for i, t in np.ndindex(W.shape):
        e = np.zeros_like(W)
        e[i, t] = 1e-6
        assert_allclose((cost(W + e) - cost(W - e)) / 2e-6, gradient[i, t], rtol=1e-6, atol=1e-6)


def test_ranks_are_the_best_assignment():
    """No other assignment of ranks to prototypes has a lower cost for any sample (brute force)."""
    rng = np.random.default_rng(4)
    X, W = rng.normal(size=(12, 2)), rng.normal(size=(5, 2))
    D, h = cdist(W, X, "sqeuclidean"), np.exp(-np.arange(5) / 0.8)
    best = (h[slow_ranks(X, W)] * D).sum(axis=0)
    brute = np.min([h[list(p)] @ D for p in permutations(range(5))], axis=0)
    assert_allclose(best, brute)


def test_narrow_neural_gas_is_kmeans():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    source = ArraySource(X, origin=np.zeros(2))
    start = Mean(X[:5].copy(), source.metric)
    gas = [step.prototypes.positions for step in anneal(start, Ranks(), source, np.full(10, 1e-3))]
    kmeans = [step.prototypes.positions for step in anneal(start, Winner(), source, np.zeros(10))]
    assert_allclose(gas, kmeans, atol=1e-12)


# Online learning


def slow_online(points, W, rates, ranges, log_weights, gains=None):
    W = W.copy()
    for x, rate, range_ in zip(points, rates, ranges):
        h = np.exp(log_weights(((W - x) ** 2).sum(axis=1), range_))
        W += rate * h[:, None] * (x - W) * (1.0 if gains is None else gains[h.argmax()])
    return W


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_online_gas_follows_its_rule(seed):
    rng = np.random.default_rng(seed)
    points, W = rng.normal(size=(40, 2)), rng.normal(size=(7, 2))
    rates, ranges = geometric(0.5, 0.01, 40), geometric(3.5, 0.01, 40)
    found = W.copy()
    Ranks().learn_online(points, found, np.ones(2), rates, ranges)
    expected = slow_online(points, W, rates, ranges, lambda d, r: -np.argsort(np.argsort(d, kind="stable")) / r)
    assert_allclose(found, expected, atol=1e-9)
    found = W.copy()
    Winner().learn_online(points, found, np.ones(2), rates, ranges)
    expected = slow_online(points, W, rates, ranges, lambda d, r: np.where(d == d.min(), 0.0, -np.inf))
    assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    "neighborhood", [Ranks(), OnLattice(chain(7), winner="nearest", kernel="exponential")], ids=["ranks", "lattice"]
)
def test_the_gain_of_the_winner_is_a_factor_of_the_step(neighborhood):
    """Hasenfuss 2009, eq. 3.6, with the power of the density at the winner as gain."""
    rng = np.random.default_rng(0)
    points, W, gains = rng.normal(size=(40, 2)), rng.normal(size=(7, 2)), rng.random(7)
    rates, ranges = geometric(0.5, 0.01, 40), geometric(3.5, 0.01, 40)
    found = W.copy()
    seen = neighborhood.learn_online(points, found, np.ones(2), rates, ranges, gains)

    def log_weights(d, r):
        if isinstance(neighborhood, Ranks):
            return -np.argsort(np.argsort(d, kind="stable")) / r
        return -neighborhood.lattice.distances[d.argmin()] / r

    assert_allclose(found, slow_online(points, W, rates, ranges, log_weights, gains), atol=1e-9)
    assert_array_equal(seen[0], np.argsort(cdist(points[:1], W)[0])[:2])


@given(seeds, st.integers(1, 8))
@settings(max_examples=20, deadline=None)
def test_edges_are_made_renewed_and_dropped(seed, lifetime):
    rng = np.random.default_rng(seed)
    k = 5
    seen = np.array([rng.permutation(k)[:2] for _ in range(40)])
    strengths, ages = np.zeros((k, k)), np.zeros((k, k), np.int64)
    link_winners(seen, strengths, ages, lifetime)
    edges = {}  # of each pair: strength and age
    for first, second in seen.tolist():
        for pair in [pair for pair in edges if first in pair]:
            edges[pair][1] += 1
        edges.setdefault(frozenset((first, second)), [0, 0])
        edges[frozenset((first, second))] = [edges[frozenset((first, second))][0] + 1, 0]
        edges = {pair: edge for pair, edge in edges.items() if edge[1] <= lifetime}
    expected = np.zeros((k, k))
    for pair, (strength, _) in edges.items():
        a, b = pair
        expected[a, b] = expected[b, a] = strength
    assert_array_equal(strengths, expected)


@pytest.mark.parametrize("winner", ["heskes", "nearest", "heskes-printed"])
def test_online_som_follows_its_rule(winner):
    rng = np.random.default_rng(0)
    points, W = rng.normal(size=(40, 2)), rng.normal(size=(6, 2))
    rates, ranges = geometric(0.5, 0.01, 40), geometric(2.0, 0.3, 40)  # each range differs by more than 0.5 %
    neighborhood = OnLattice(rectangular(2, 3), winner=winner, kernel="exponential")
    g = neighborhood.lattice.distances

    def log_weights(d, r):
        h = np.exp(-g / r)
        shares = {"heskes": h / h.sum(axis=1, keepdims=True), "heskes-printed": h, "nearest": np.eye(len(h))}
        best = (shares[winner] @ d).argmin()
        return -g[best] / r

    found = W.copy()
    neighborhood.learn_online(points, found, np.ones(2), rates, ranges)
    assert_allclose(found, slow_online(points, W, rates, ranges, log_weights), atol=1e-9)


def test_online_draws_in_proportion_to_weights():
    """With one prototype and a small constant step the mean position is the weighted mean of the samples."""
    X = np.array([[0.0], [1.0]])
    source = ArraySource(X, weights=np.array([1.0, 3.0]), origin=np.zeros(1))
    rng = np.random.RandomState(0)
    start = Mean(np.array([[0.75]]), np.ones(1))
    steps = learn_online(start, Ranks(), source, 4000, np.ones(1), np.full(1, 0.05), rng)
    positions = [step.prototypes.positions[0, 0] for step in steps]
    assert_allclose(np.mean(positions[200:]), 0.75, atol=0.02)
