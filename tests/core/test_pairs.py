"""Products of dissimilarities with weights, on all their ways; and medians against exhaustive search."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from protolearn.core._kernels import swap_medoids
from protolearn.core.pairs import Combination, Landmarks, Pairs
from protolearn.core.relational import Median, Relational, between, largest


def symmetric(rng, n, integers=False):
    upper = np.triu(rng.integers(0, 4, (n, n)) if integers else rng.random((n, n)), 1).astype(float)
    return upper + upper.T


def weights_of(rng, n, k, kind):
    if kind == "dense":
        return rng.random((n, k))
    crisp = np.zeros((n, k))
    crisp[np.arange(n), rng.integers(k, size=n)] = rng.random(n)
    return crisp if kind == "crisp" else csr_array(crisp)


@pytest.mark.parametrize("kind", ["dense", "crisp", "sparse"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_products_of_matrix_rows_and_kernel_agree(kind, n_threads):
    rng = np.random.default_rng(0)
    n, k = 700, 40
    K = rng.normal(size=(n, 5))
    K = K @ K.T
    S = K.diagonal()[:, None] + K.diagonal() - 2.0 * K
    H = weights_of(rng, n, k, kind)
    expected = S @ (H.toarray() if kind == "sparse" else H)
    common = {"n_threads": n_threads}
    for pairs in (
        Pairs(S, **common),
        Pairs(np.asfortranarray(S), **common),
        Pairs(lambda rows: S[rows], n_samples=n, **common),
        Pairs(K, diagonal=K.diagonal(), **common),
        Pairs(Landmarks.at(S[:, ::50].copy(), np.arange(0, n, 50)), **common),
    ):
        assert np.allclose(pairs.times(H), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
        assert np.allclose(pairs.columns(np.array([3, 0, 699])), S[:, [3, 0, 699]], rtol=0, atol=1e-8 * S.max())


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_copy_no_part_of_the_matrix(dtype, order):
    rng = np.random.default_rng(0)
    n, k = 800, 5
    S, H = np.asarray(symmetric(rng, n), dtype, order=order), rng.random((n, k))
    pairs = Pairs(S)
    tracemalloc.start()
    for _ in range(2):  # the second one is made of changes
        H = H.copy()
        H[:3] += 1.0
        product = pairs.times(H)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < S.nbytes / 4
    assert np.allclose(product, S.astype(np.float64) @ H, rtol=1e-5 if dtype == np.float32 else 1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), kind=st.sampled_from(["dense", "crisp", "sparse"]), by_rows=st.booleans())
def test_products_from_changes_equal_whole_ones(seed, kind, by_rows):
    rng = np.random.default_rng(seed)
    n, k = 60, 5
    S = symmetric(rng, n)
    pairs = Pairs(lambda rows: S[rows], n_samples=n) if by_rows else Pairs(S)
    H = weights_of(rng, n, k, kind)
    for n_changes in (0, 1, 3, 5, 20, 2):
        H = H.toarray() if kind == "sparse" else H.copy()
        changed = rng.permutation(n)[:n_changes]
        H[changed] = weights_of(rng, n_changes, k, "crisp") if n_changes else 0.0
        if kind == "sparse":
            H = csr_array(H)
        expected = S @ (H.toarray() if kind == "sparse" else H)
        assert np.allclose(pairs.times(H), expected, rtol=1e-12, atol=1e-12)


def test_few_changes_read_few_rows():
    class Counted(np.ndarray):
        n_rows = 0

        def __getitem__(self, rows):
            block = super().__getitem__(rows)
            Counted.n_rows += len(block)
            return np.asarray(block)

    rng = np.random.default_rng(0)
    pairs = Pairs(symmetric(rng, 200).view(Counted))
    H = weights_of(rng, 200, 8, "crisp")
    pairs.times(H)
    Counted.n_rows = 0
    H = H.copy()
    H[[3, 5]] = H[[5, 3]]
    pairs.times(H)
    assert Counted.n_rows == 2


def test_spread_equals_a_spread_matrix():
    rng = np.random.default_rng(1)
    S = symmetric(rng, 30)
    spread = S + 0.7 * (1.0 - np.eye(30))
    H = rng.random((30, 4))
    pairs = Pairs(S, spread=0.7)
    assert np.allclose(pairs.times(H), spread @ H)
    assert np.allclose(pairs.columns(np.array([4, 9])), spread[:, [4, 9]])
    assert np.allclose(pairs.block(np.array([4, 9])), spread[np.ix_([4, 9], [4, 9])])


def test_landmarks_of_low_rank_are_exact_and_of_full_rank_are_tame():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3)) * [1.0, 0.1, 0.01]
    S = ((X[:, None] - X) ** 2).sum(axis=2)
    chosen = np.arange(0, 80, 4)
    assert np.allclose(Landmarks.at(S[:, chosen].copy(), chosen).times(np.eye(80)), S, atol=1e-7)
    rough = symmetric(rng, 80, integers=True)
    error = np.linalg.norm(Landmarks.at(rough[:, chosen].copy(), chosen).times(np.eye(80)) - rough)
    assert error < 1.2 * np.linalg.norm(rough - rough.mean())


def test_combinations_add_with_their_scales():
    rng = np.random.default_rng(3)
    parts = [Combination(rng.random((4, 2)), np.array([0.0, scale])) for scale in (-800.0, -801.0)]
    both = parts[0] + parts[1]
    assert np.allclose(both.dense[:4], parts[0].dense)
    assert np.allclose(both.dense[4:], parts[1].dense * [1.0, np.exp(-1.0)])
    assert both.log_scale.tolist() == [0.0, -800.0]


def test_distances_between_combinations_are_those_of_vectors():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(25, 4))
    S = ((X[:, None] - X) ** 2).sum(axis=2)
    A = rng.normal(size=(25, 6))
    A /= A.sum(axis=0)
    W = A.T @ X
    prototypes = Relational.at(Pairs(S), A)
    assert np.allclose(prototypes.between, ((W[:, None] - W) ** 2).sum(axis=2))
    assert np.allclose(prototypes.squares, ((X[:, None] - W) ** 2).sum(axis=2))
    assert np.allclose(between(A.T @ S @ A), prototypes.between)


def test_largest_coefficients_add_up_to_one():
    rng = np.random.default_rng(5)
    A = rng.random((9, 3))
    A /= A.sum(axis=0)
    kept = largest(A, 4)
    assert ((kept > 0).sum(axis=0) == 4).all()
    assert np.allclose(kept.sum(axis=0), 1.0)
    assert (kept[np.sort(A, axis=0)[5] > A] == 0).all()
    assert largest(A, 9) is A


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), integers=st.booleans())
def test_medians_are_the_best_objects(seed, integers):
    rng = np.random.default_rng(seed)
    n, k = 30, 4
    S = symmetric(rng, n, integers)
    H = rng.random((n, k))
    prototypes = Median.at(Pairs(S), rng.permutation(n)[:k], distinct=False).update(Combination(H, np.zeros(k)))
    losses = H.T @ S
    assert np.allclose(losses[np.arange(k), prototypes.indices], losses.min(axis=1))
    assert (prototypes.squares == S[:, prototypes.indices]).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_distinct_medians_are_the_best_different_objects(seed):
    rng = np.random.default_rng(seed)
    n, k = 9, 3
    S = symmetric(rng, n)
    H = rng.random((n, 1)) + 0.01 * rng.random((n, k))  # all want the same object
    prototypes = Median.at(Pairs(S), rng.permutation(n)[:k]).update(Combination(H, np.zeros(k)))
    losses = H.T @ S
    found = losses[np.arange(k), prototypes.indices].sum()
    every = np.stack(np.meshgrid(*[np.arange(n)] * k), axis=-1).reshape(-1, k)
    different = every[[len(set(row)) == k for row in every.tolist()]]
    assert len(set(prototypes.indices.tolist())) == k
    assert np.isclose(found, losses[np.arange(k), different].sum(axis=1).min())


def test_an_idle_median_moves_when_it_wins_again():
    x = np.r_[np.arange(20.0), 100 + np.arange(20.0)]
    prototypes = Median.at(Pairs((x[:, None] - x) ** 2), np.array([5, 25]), distinct=False)
    H = np.zeros((40, 2))
    H[:, 0] = 1.0
    prototypes = prototypes.update(Combination(H, np.zeros(2)))
    assert prototypes.indices[1] == 25
    H = H.copy()
    H[39] = 0.0, 1.0
    assert prototypes.update(Combination(H, np.zeros(2))).indices[1] == 39


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), k=st.integers(2, 4))
def test_swaps_end_where_no_swap_helps(seed, k):
    rng = np.random.default_rng(seed)
    n = 14
    S = symmetric(rng, n)
    u = rng.random(n)
    medoids = rng.permutation(n)[:k].astype(np.int64)

    def loss(chosen):
        return float(u @ S[:, list(chosen)].min(axis=1))

    before = loss(medoids)
    n_open = n
    while n_open:
        n_open = swap_medoids(S, u, medoids, np.arange(n), n_open)
    after = loss(medoids)
    assert after <= before + 1e-12
    assert len(set(medoids.tolist())) == k
    single = [[x if j == i else m for j, m in enumerate(medoids)] for i in range(k) for x in range(n)]
    assert after <= min(map(loss, single)) + 1e-9


def test_twins_have_equal_rows():
    x = np.array([0.0, 3.0, 0.0, 5.0, 3.0])
    squares, kernel = (x[:, None] - x) ** 2, np.outer(x, x)
    by_rows = Pairs(lambda rows: squares[rows], n_samples=5)
    for pairs in (Pairs(squares), by_rows, Pairs(kernel, diagonal=kernel.diagonal())):
        assert pairs.groups.tolist() == [0, 1, 0, 2, 1]
        twins = pairs.twins
        assert twins[0] == twins[2]
        assert twins[1] == twins[4]
        assert len(set(twins.tolist())) == pairs.n_different == 3
        pairs.spread = 0.5
        spread = squares + 0.5 * (x[:, None] != x)
        np.testing.assert_allclose(pairs.times(np.eye(5)), spread)
        np.testing.assert_allclose(pairs.columns(np.array([4, 0])), spread[:, [4, 0]])
        np.testing.assert_allclose(pairs.block(np.array([4, 0, 1])), spread[np.ix_([4, 0, 1], [4, 0, 1])])
    S = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 2.0, 0.0]])  # no distance, yet not the same
    assert Pairs(S).twins.tolist() == [0, 1, 2]
