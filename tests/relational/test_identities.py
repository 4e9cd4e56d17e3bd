"""Maps of dissimilarities against slow oracles: vector maps, kernels, mixed matrices, exhaustive search, costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs

from protolearn import (
    SOM,
    KMeans,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    NeuralGas,
    PairwiseAnnealing,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from protolearn.core.lattices import hexagonal, hyperbolic
from protolearn.core.pairs import Combination, Pairs
from protolearn.core.relational import Median, Relational
from protolearn.dissimilarities import pseudo_euclidean
from protolearn.maps import OnLattice, Ranks, Soft

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

seeds = st.integers(0, 10_000)
N = 80
LATTICE = hexagonal(2, 3)
PAIRS = [
    (KMeans(6, tol=0, max_iter=25), RelationalKMeans(6, max_iter=25)),
    (NeuralGas(6, max_iter=25, neighborhood=Ranks(settle=False)), RelationalNeuralGas(6, max_iter=25)),
    (SOM(LATTICE, max_iter=25), RelationalSOM(LATTICE, max_iter=25)),
    (
        SOM((2, 3), max_iter=25, neighborhood=OnLattice(kernel="exponential", winner="nearest")),
        RelationalSOM((2, 3), max_iter=25, neighborhood=OnLattice(kernel="exponential", winner="nearest")),
    ),
]
RELATIONAL = [pair[1] for pair in PAIRS]
MEDIAN = [
    MedianKMeans(6, swap=False),
    MedianNeuralGas(6, max_iter=25, swap=False),
    MedianSOM(LATTICE, max_iter=25),
]
each_pair = pytest.mark.parametrize(("vectorial", "relational"), PAIRS, ids=repr)
each_relational = pytest.mark.parametrize("estimator", RELATIONAL, ids=repr)
each_median = pytest.mark.parametrize("estimator", MEDIAN, ids=repr)


def blobs(seed=0, n=N, d=4):
    return make_blobs(n, d, centers=5, cluster_std=2.0, random_state=seed)


def like_all(shares, y):
    """Make rows of positive coefficients that add up to one, in every class to its share of all objects."""
    of_class = np.eye(y.max() + 1)[y]
    return shares * (of_class.mean(axis=0) / (shares @ of_class))[:, y]


def random_start(seed, y=None, n=N, k=6):
    shares = np.random.default_rng(seed).dirichlet(np.full(n, 0.3), k) + 1e-6
    return shares / shares.sum(axis=1, keepdims=True) if y is None else like_all(shares, y)


def random_dissimilarities(seed, n=40, high=None):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) if high is None else rng.integers(0, high, (n, n)), 1)
    return (upper + upper.T).astype(np.float64)


def bent_dissimilarities(seed, n=N):
    """Dissimilarities with clusters that are not Euclidean, without ties."""
    X, _ = blobs(seed, n)
    return cdist(X, X) * (1 + 0.2 * random_dissimilarities(seed, n))


def assert_same_winners(winners, squares):
    """Require the nearest prototypes, where some may coincide."""
    assert_allclose(squares[np.arange(len(winners)), winners], squares.min(axis=1), atol=1e-9 * np.abs(squares).max())


def relational_squares(A, S):
    """Hasenfuss 2009, eq. 4.7, term by term."""
    return np.array([[a @ S[j] - 0.5 * a @ S @ a for a in A] for j in range(len(S))])


def assert_same_map(relational, vectorial, X, D, Z, atol=1e-8):
    """Compare a fitted relational map with the vector map of the same objects, and both on new ones."""
    assert_array_equal(relational.labels_, vectorial.labels_)
    assert_allclose(relational.coefficients_ @ X, vectorial.prototypes_, atol=atol)
    assert_allclose(relational.coefficients_.sum(axis=1), 1.0)
    assert_allclose(relational.transform(D), vectorial.transform(X), atol=atol)
    assert_allclose(relational.transform(cdist(Z, X)), vectorial.transform(Z), atol=atol)
    assert_array_equal(relational.predict(cdist(Z, X)), vectorial.predict(Z))
    assert_allclose(relational.multiplicities_, vectorial.multiplicities_)
    assert_allclose(relational.graph_.toarray(), vectorial.graph_.toarray())
    assert_allclose(relational.cost_history_, vectorial.cost_history_, rtol=1e-8)
    assert_allclose(relational.range_history_, vectorial.range_history_)
    assert_allclose(
        relational.prototype_dissimilarities_, cdist(vectorial.prototypes_, vectorial.prototypes_) ** 2, atol=atol
    )
    assert_allclose(relational.score(D), vectorial.score(X))


# Relational maps are vector maps of vectors that nobody knows


@each_pair
@given(seed=seeds)
@settings(max_examples=3, deadline=None)
def test_relational_maps_of_euclidean_distances_are_the_vector_maps(vectorial, relational, seed):
    X, _ = blobs(seed)
    Z, _ = blobs(seed + 1, 20)
    D = cdist(X, X)
    A = random_start(seed)
    vectors = clone(vectorial).set_params(init=A @ X).fit(X)
    assert_same_map(clone(relational).set_params(init=A).fit(D), vectors, X, D, Z)
    squared = clone(relational).set_params(init=A, squared=True).fit(D**2)
    assert_array_equal(squared.labels_, vectors.labels_)
    assert_allclose(squared.transform(D**2), vectors.transform(X), atol=1e-8)


@each_pair
@pytest.mark.parametrize("options", [{}, {"magnification": 0.7}, {"magnification": -0.5}, {"magnification": "optimal"}])
def test_the_same_with_weights_and_magnification(vectorial, relational, options):
    X, _ = blobs(3)
    weights = np.random.default_rng(0).integers(1, 6, N) / 2
    A = random_start(3)
    vectors = clone(vectorial).set_params(init=A @ X, **options).fit(X, sample_weight=weights)
    objects = clone(relational).set_params(init=A, **options).fit(cdist(X, X), sample_weight=weights)
    assert_same_map(objects, vectors, X, cdist(X, X), X[:5] + 0.1)
    if options:
        assert_allclose(objects.magnification_, vectors.magnification_)


@each_pair
@pytest.mark.parametrize(("label_weight", "unlabeled"), [(0.3, 0.0), (0.9, 0.0), (0.3, 0.4)])
def test_the_same_with_labels(vectorial, relational, label_weight, unlabeled):
    X, y = blobs(4)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(N) < 0.3, (y + 1) % 5, y)
    known = rng.random(N) >= unlabeled
    A = random_start(4, np.unique(np.where(known, y, -1), return_inverse=True)[1])
    y = np.where(known, y, np.nan)
    vectors = clone(vectorial).set_params(init=A @ X, label_weight=label_weight).fit(X, y)
    objects = clone(relational).set_params(init=A, label_weight=label_weight).fit(cdist(X, X), y)
    assert_same_map(objects, vectors, X, cdist(X, X), X[:5] + 0.1)
    assert_allclose(objects.label_distribution_, vectors.label_distribution_, atol=1e-8)
    assert_array_equal(objects.prototype_labels_, vectors.prototype_labels_)


@each_relational
@pytest.mark.parametrize("label_weight", [0.2, 0.8])
def test_supervised_map_is_the_plain_map_of_the_mixed_matrix(estimator, label_weight):
    D, (_, y) = bent_dissimilarities(0), blobs(0)
    labels = np.eye(5)[y]
    apart = cdist(labels, labels, "sqeuclidean")
    mixed = (1 - label_weight) * D**2 + label_weight * (D**2).mean() / apart.mean() * apart
    A = random_start(1)
    supervised = clone(estimator).set_params(init=A, label_weight=label_weight, max_iter=15).fit(D, y)
    plain = clone(estimator).set_params(init=A, squared=True, max_iter=15).fit(mixed)
    assert_allclose(supervised.coefficients_, plain.coefficients_, atol=1e-10)
    assert_allclose(supervised.cost_history_, plain.cost_history_, rtol=1e-9)
    assert_allclose(supervised.label_distribution_, plain.coefficients_ @ labels, atol=1e-9)


@each_median
@pytest.mark.parametrize("label_weight", [0.2, 0.8])
def test_exemplars_with_their_own_labels_are_the_plain_map_of_the_mixed_matrix(estimator, label_weight):
    D, (_, y) = random_dissimilarities(0, N), blobs(0)
    labels = np.eye(5)[y]
    apart = cdist(labels, labels, "sqeuclidean")
    mixed = (1 - label_weight) * D**2 + label_weight * (D**2).mean() / apart.mean() * apart
    options = {"init": np.arange(0, 60, 10), "collision": "ignore"}
    own = clone(estimator).set_params(exemplar_labels=True, label_weight=label_weight, **options).fit(D, y)
    plain = clone(estimator).set_params(squared=True, **options).fit(mixed)
    assert_array_equal(own.prototype_indices_, plain.prototype_indices_)
    assert_allclose(own.cost_history_, plain.cost_history_)
    assert_array_equal(own.prototype_labels_, y[own.prototype_indices_])


# Kernels


def kernels(X):
    gaussian = np.exp(-0.05 * cdist(X, X) ** 2)
    return {"linear": X @ X.T, "constant diagonal": gaussian, "indefinite": X @ (X * [1, 1, 1, -0.3]).T}


@pytest.mark.parametrize("kind", ["linear", "constant diagonal", "indefinite"])
@pytest.mark.parametrize("estimator", RELATIONAL + MEDIAN, ids=repr)
def test_kernel_maps_are_maps_of_the_distances_of_the_kernel(estimator, kind):
    X, _ = blobs(5)
    K = kernels(X)[kind]
    S = np.add.outer(K.diagonal(), K.diagonal()) - 2 * K
    if isinstance(estimator, MedianKMeans | MedianNeuralGas | MedianSOM):
        start, name = np.arange(0, 60, 10), "prototype_indices_"
    else:
        start, name = random_start(5), "coefficients_"
    inside = clone(estimator).set_params(metric="kernel", init=start).fit(K)
    outside = clone(estimator).set_params(squared=True, init=start).fit(S)
    assert_allclose(getattr(inside, name), getattr(outside, name), atol=1e-9)
    for winners in (inside.labels_, outside.labels_, inside.predict(K)):
        assert_same_winners(winners, outside.transform(S))
    assert_allclose(inside.transform(np.column_stack([K, K.diagonal()])), outside.transform(S), atol=1e-8)
    assert_allclose(inside.prototype_dissimilarities_, outside.prototype_dissimilarities_, atol=1e-8)
    assert_allclose(inside.dual_cost_, outside.dual_cost_)
    if kind == "constant diagonal":
        assert_allclose(inside.transform(K), outside.transform(S), atol=1e-8)
    else:
        with pytest.raises(ValueError, match="append it to X as a column"):
            inside.transform(K)


def test_new_objects_of_a_kernel():
    X, _ = blobs(6)
    Z, _ = blobs(7, 15)
    A = random_start(6)
    vectors = NeuralGas(6, max_iter=25, init=A @ X, neighborhood=Ranks(settle=False)).fit(X)
    kernel = RelationalNeuralGas(6, max_iter=25, init=A, metric="kernel").fit(X @ X.T)
    new = Z @ X.T
    assert_array_equal(kernel.predict(new), vectors.predict(Z))
    with_own = np.column_stack([new, np.square(Z).sum(axis=1)])
    assert_allclose(kernel.transform(with_own), vectors.transform(Z), atol=1e-8)
    assert_allclose(kernel.score(with_own), vectors.score(Z))
    with pytest.raises(ValueError, match="append it to X as a column"):
        kernel.score(new)


# Distances and costs, term by term


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_distances_are_those_of_pseudo_euclidean_space(seed):
    """Also for dissimilarities that are not Euclidean, and coefficients of any sign."""
    D = random_dissimilarities(seed, 15)
    A = np.random.default_rng(seed).normal(size=(4, 15))
    A += (1 - A.sum(axis=1, keepdims=True)) / 15
    X, signs = pseudo_euclidean(D)
    W = A @ X
    prototypes = Relational.at(Pairs(D**2), A.T)
    assert_allclose(prototypes.distances, (X[:, None] - W) ** 2 @ signs, atol=1e-9)
    assert_allclose(prototypes.between, (W[:, None] - W) ** 2 @ signs, atol=1e-9)


@each_relational
def test_fitted_attributes_follow_from_the_coefficients(estimator):
    D = random_dissimilarities(3)
    S = D**2
    fitted = clone(estimator).set_params(random_state=0).fit(D)
    A = fitted.coefficients_
    squares = relational_squares(A, S)
    assert_allclose(fitted.self_terms_, np.einsum("ij,jl,il->i", A, S, A))
    assert_allclose(fitted.transform(D), squares, atol=1e-12)
    assert_array_equal(fitted.labels_, squares.argmin(axis=1))
    assert_array_equal(fitted.predict(D), fitted.labels_)
    assert_array_equal(fitted.support_, np.arange(40))
    assert_array_equal(fitted.prototype_examples_, np.argsort(squares, axis=0, kind="stable")[:5].T)
    assert fitted.n_cost_increases_ == np.count_nonzero(
        np.diff(fitted.cost_history_) > 1e-9 * np.abs(fitted.cost_history_[:-1])
    )


@pytest.mark.parametrize("estimator", [*RELATIONAL, *MEDIAN], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_dual_cost_is_that_of_the_receptive_fields(estimator, weighted):
    """Half the squared distances to the means of the fields, which no combination or object can beat."""
    X, _ = blobs(2)
    weights = np.random.default_rng(0).integers(1, 9, N) / 2.0 if weighted else np.ones(N)
    fitted = clone(estimator).set_params(random_state=0).fit(cdist(X, X), sample_weight=weights)
    fields = [np.flatnonzero(fitted.labels_ == i) for i in np.unique(fitted.labels_)]
    means = [np.average(X[field], axis=0, weights=weights[field]) for field in fields]
    expected = sum(0.5 * weights[field] @ ((X[field] - mean) ** 2).sum(axis=1) for field, mean in zip(fields, means))
    assert_allclose(fitted.dual_cost_, expected)
    assert fitted.dual_cost_ <= 0.5 * weights @ fitted.transform(cdist(X, X)).min(axis=1) * (1 + 1e-9)


def test_dual_cost_of_kmeans_is_its_last_cost():
    X, _ = blobs(2)
    fitted = RelationalKMeans(6, random_state=0).fit(cdist(X, X), sample_weight=np.full(N, 7.0))
    assert_allclose(fitted.dual_cost_, fitted.cost_history_[-1])


# Costs fall


def never_rises(costs):
    return (np.diff(costs) <= 1e-10 * np.abs(costs).max()).all()


def at_constant_range(kind, range_):
    names = {"gas": f"{kind}NeuralGas", "som": f"{kind}SOM", "kmeans": f"{kind}KMeans"}
    classes = {one.__name__: one for one in map(type, RELATIONAL + MEDIAN)}
    ranks = Ranks((range_, 0.01), schedule="constant")
    lattice = OnLattice(radius=(range_, 0.55), schedule="constant")
    return [
        classes[names["gas"]](5, neighborhood=ranks, max_iter=12, init="random"),
        classes[names["som"]]((2, 3), neighborhood=lattice, max_iter=12, init="random"),
        classes[names["kmeans"]](5, max_iter=12, init="random"),
    ]


@pytest.mark.parametrize("range_", [0.05, 0.6])
@given(seed=seeds)
@settings(max_examples=3, deadline=None)
def test_relational_cost_never_rises_for_euclidean_objects(range_, seed):
    X, _ = blobs(seed, 40)
    for estimator in at_constant_range("Relational", range_):
        fitted = estimator.set_params(random_state=seed).fit(cdist(X, X))
        assert never_rises(fitted.cost_history_)
        assert fitted.n_cost_increases_ == 0


@pytest.mark.parametrize("range_", [0.05, 0.6])
@given(seed=seeds)
@settings(max_examples=3, deadline=None)
def test_implicit_spread_makes_the_cost_fall(range_, seed):
    D = random_dissimilarities(seed)
    for estimator in at_constant_range("Relational", range_):
        assert clone(estimator).set_params(random_state=seed, spread="implicit").fit(D).n_cost_increases_ == 0


def test_without_spread_the_cost_can_rise():
    D = random_dissimilarities(0)
    assert all(
        estimator.set_params(random_state=0).fit(D).n_cost_increases_ > 0
        for estimator in at_constant_range("Relational", 0.6)
    )


@pytest.mark.pairwise(
    options=[{}, {"label_weight": 0.4}, {"label_weight": 0.4, "exemplar_labels": True}],
    high=[None, 3],
    collision=["exclude", "ignore"],
)
@given(seed=seeds)
@settings(max_examples=2, deadline=None)
def test_median_cost_never_rises(collision, high, options, seed):
    """For any dissimilarity whatever."""
    D = random_dissimilarities(seed, high=high)
    y = np.random.default_rng(seed).integers(0, 3, 40)
    for range_ in (0.05, 0.8):
        for estimator in at_constant_range("Median", range_):
            fitted = estimator.set_params(random_state=seed, collision=collision, **options).fit(D, y)
            assert never_rises(fitted.cost_history_)


# Medians are found by exhaustive search


def exhaustive_medians(S, H, present):
    """The object of least weighted sum for each prototype, the present one if it is as good."""
    losses = H.T @ S
    best = losses.argmin(axis=1)
    every = np.arange(len(best))
    stays = losses[every, present] <= losses[every, best] * (1 + 1e-12)
    return np.where(stays, present, best)


def slow_median_gas(S, indices, ranges, weights):
    """Median neural gas as Hasenfuss 2009, alg. 4.1 writes it; no two medians coincide in the runs compared."""
    for range_ in ranges:
        ranks = np.argsort(np.argsort(S[:, indices], axis=1, kind="stable"), axis=1)
        indices = exhaustive_medians(S, np.exp(-ranks / range_) * weights[:, None], indices)
    return indices


@pytest.mark.parametrize("weighted", [False, True])
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_medians_of_neural_gas_are_those_of_exhaustive_search(weighted, seed):
    D = random_dissimilarities(seed, 30)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, 30).astype(float) if weighted else np.ones(30)
    start = rng.permutation(30)[:4]
    gas = MedianNeuralGas(4, init=start, max_iter=12, collision="ignore").fit(D, sample_weight=weights)
    expected = slow_median_gas(D**2, start, gas.range_history_, weights)
    assert_array_equal(gas.prototype_indices_, expected)
    assert_array_equal(gas.labels_, (D**2)[:, expected].argmin(axis=1))
    assert_allclose(gas.transform(D), (D**2)[:, expected])


@pytest.mark.parametrize("weighted", [False, True])
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_medians_of_kmeans_are_those_of_exhaustive_search(weighted, seed):
    D = random_dissimilarities(seed, 30)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, 30).astype(float) if weighted else np.ones(30)
    start = indices = rng.permutation(30)[:4]
    for _ in range(30):
        members = np.eye(4)[(D**2)[:, indices].argmin(axis=1)]
        indices = exhaustive_medians(D**2, members * weights[:, None], indices)
    kmeans = MedianKMeans(4, init=start, collision="ignore").fit(D, sample_weight=weights)
    assert_array_equal(kmeans.prototype_indices_, indices)


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_medians_of_the_map_are_those_of_exhaustive_search(seed):
    """One epoch, with the sums of winners shared among neighbors, against the plain double sum."""
    S = random_dissimilarities(seed, 30) ** 2
    start = np.random.default_rng(seed).permutation(30)[:6]
    som = MedianSOM(
        (2, 3), init=start, squared=True, max_iter=1, neighborhood=OnLattice(radius=(0.7, 0.55)), collision="ignore"
    ).fit(S)
    g = som.lattice_.distances
    h = np.exp(-0.5 * (g / som.range_history_[0]) ** 2)
    h /= h.sum(axis=1, keepdims=True)
    winners = (S[:, start] @ h.T).argmin(axis=1)
    assert_array_equal(som.prototype_indices_, exhaustive_medians(S, h[winners], start))


def test_one_median_is_the_medoid():
    D = random_dissimilarities(1)
    assert MedianKMeans(1).fit(D).prototype_indices_ == [(D**2).sum(axis=0).argmin()]
    assert MedianKMeans(1, squared=True).fit(D).prototype_indices_ == [D.sum(axis=0).argmin()]


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_different_medians_are_the_best_assignment(seed):
    """Where best objects coincide, no choice of different objects has a lower cost."""
    from itertools import permutations

    S = random_dissimilarities(seed, 7) ** 2
    rng = np.random.default_rng(seed)
    H = rng.random((7, 3)) ** 3
    median = Median.at(Pairs(S), rng.permutation(7)[:3]).update(Combination(H, np.zeros(3)))
    losses = H.T @ S
    lowest = min(losses[[0, 1, 2], list(chosen)].sum() for chosen in permutations(range(7), 3))
    assert len(set(median.indices)) == 3
    assert_allclose(losses[[0, 1, 2], median.indices].sum(), lowest)


def test_an_idle_median_comes_back():
    """A prototype without objects in one epoch learns again in the next."""
    x = np.r_[np.arange(20.0), 100 + np.arange(20.0)]
    pairs = Pairs((x[:, None] - x) ** 2)
    assert len(pairs.order) == 40
    weights = np.zeros((40, 2))
    weights[:, 0] = 1.0
    idle = Median.at(pairs, np.array([5, 25]), distinct=False).update(Combination(weights, np.zeros(2)))
    assert idle.indices[1] == 25
    weights = weights.copy()
    weights[39] = 0.0, 1.0
    assert idle.update(Combination(weights, np.zeros(2))).indices[1] == 39


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_swaps_end_where_no_single_swap_helps(seed):
    D = random_dissimilarities(seed, 20)
    weights = np.random.default_rng(seed).integers(1, 4, 20).astype(float)
    plain = MedianKMeans(3, random_state=seed, swap=False).fit(D, sample_weight=weights)
    swapped = MedianKMeans(3, init=plain.prototype_indices_).fit(D, sample_weight=weights)

    def loss(indices):
        return weights @ (D**2)[:, indices].min(axis=1)

    best = loss(swapped.prototype_indices_)
    assert best <= loss(plain.prototype_indices_) * (1 + 1e-12)
    for i in range(3):
        for other in range(20):
            tried = swapped.prototype_indices_.copy()
            tried[i] = other
            assert loss(tried) >= best * (1 - 1e-9)


def test_relational_kmeans_from_medians_is_not_worse():
    X, _ = blobs(8)
    D = cdist(X, X)
    median = MedianKMeans(6, random_state=0).fit(D)
    start = np.eye(N)[median.prototype_indices_]
    assert RelationalKMeans(6, init=start).fit(D).score(D) >= median.score(D)


# Ways to save time give the same result


@each_relational
def test_all_coefficients_kept_is_dense(estimator):
    D = random_dissimilarities(2)
    dense = clone(estimator).set_params(random_state=0).fit(D)
    sparse = clone(estimator).set_params(random_state=0, sparsity=40).fit(D)
    assert_allclose(sparse.transform(D), dense.transform(D), atol=1e-10)
    assert_array_equal(sparse.labels_, dense.labels_)


@each_relational
def test_sparse_prototypes_have_few_coefficients_and_their_own_self_terms(estimator):
    X, _ = blobs(3)
    D = cdist(X, X)
    fitted = clone(estimator).set_params(random_state=0, sparsity=7).fit(D)
    A = np.zeros((6, N))
    A[:, fitted.support_] = fitted.coefficients_
    assert (np.count_nonzero(A, axis=1) <= 7).all()
    assert_allclose(A.sum(axis=1), 1.0)
    assert_allclose(fitted.transform(D), relational_squares(A, D**2), atol=1e-9)
    assert_allclose(fitted.transform(D[:, fitted.support_]), fitted.transform(D))
    for winners in (fitted.labels_, fitted.predict(D)):
        assert_same_winners(winners, fitted.transform(D))


@each_relational
def test_enough_landmarks_give_all_dissimilarities(estimator):
    X, _ = blobs(3)
    Z, _ = blobs(4, 10)
    D = cdist(X, X)
    A = random_start(3)
    dense = clone(estimator).set_params(init=A, random_state=0).fit(D)
    few = clone(estimator).set_params(init=A, random_state=0, n_landmarks=12).fit(D)
    assert len(few.support_) == 12
    assert few.n_dissimilarities_ == 12 * N
    assert_array_equal(few.labels_, dense.labels_)
    assert_allclose(few.transform(D), dense.transform(D), atol=1e-7)
    assert_allclose(few.transform(cdist(Z, X)), dense.transform(cdist(Z, X)), atol=1e-7)
    kernel = clone(estimator).set_params(init=A, random_state=0, n_landmarks=12, metric="kernel").fit(X @ X.T)
    assert_array_equal(kernel.predict(Z @ X.T), dense.predict(cdist(Z, X)))


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_products_from_changes_are_whole_products(seed):
    """Whatever changes from one product to the next: few weights or many, dense or sparse."""
    rng = np.random.default_rng(seed)
    S = random_dissimilarities(seed, 50)
    diagonal = rng.random(50) if seed % 2 else None
    pairs = Pairs(S, diagonal=diagonal, spread=0.3)
    full = S if diagonal is None else np.add.outer(diagonal, diagonal) - 2 * S
    weights = rng.random((50, 3)) * (rng.random((50, 3)) < 0.5)
    for _ in range(12):
        rows = rng.permutation(50)[: rng.choice([0, 1, 4, 50])]
        weights = weights.copy()
        weights[rows] = rng.random((len(rows), 3)) * (rng.random((len(rows), 3)) < rng.choice([0.02, 0.5]))
        expected = full @ weights + 0.3 * (weights.sum(axis=0) - weights)
        assert_allclose(pairs.times(weights), expected, atol=1e-10)


# The spread


@each_relational
def test_a_spread_is_a_spread_matrix(estimator):
    S = random_dissimilarities(5)
    A = random_start(5, n=40)
    virtual = clone(estimator).set_params(init=A, squared=True, spread=0.7).fit(S)
    real = clone(estimator).set_params(init=A, squared=True).fit(S + 0.7 * (1 - np.eye(40)))
    assert_allclose(virtual.coefficients_, real.coefficients_, atol=1e-10)
    assert_allclose(virtual.self_terms_, real.self_terms_)
    assert_allclose(virtual.prototype_dissimilarities_, real.prototype_dissimilarities_, atol=1e-10)
    assert_array_equal(virtual.labels_, real.labels_)
    assert_array_equal(virtual.predict(S), virtual.labels_)
    new = random_dissimilarities(6)[:4] + 0.1
    assert_allclose(virtual.transform(new), real.transform(new + 0.7), atol=1e-10)


def test_implicit_spread_does_nothing_to_euclidean_objects():
    X, _ = blobs(1)
    D = cdist(X, X)
    for estimator in RELATIONAL:
        plain = clone(estimator).set_params(random_state=0).fit(D)
        spread = clone(estimator).set_params(random_state=0, spread="implicit").fit(D)
        assert_allclose(spread.transform(D), plain.transform(D), atol=1e-7)


def test_implicit_spread_of_a_kernel_is_that_of_its_distances():
    K = kernels(blobs(5)[0])["indefinite"]
    S = np.add.outer(K.diagonal(), K.diagonal()) - 2 * K
    inside = RelationalKMeans(4, metric="kernel", spread="implicit", init=random_start(5, k=4)).fit(K)
    outside = RelationalKMeans(4, squared=True, spread="implicit", init=random_start(5, k=4)).fit(S)
    assert_allclose(inside.coefficients_, outside.coefficients_, atol=1e-9)
    assert_allclose(inside.cost_history_, outside.cost_history_, rtol=1e-9)


# Deterministic annealing, and the best epoch


def test_annealing_ends_in_the_mean_field_equation():
    """Prototypes are means of shares exp(-d / 2T), once these stand still; the stirring moves them a little."""
    X, _ = make_blobs(60, 3, centers=[[0, 0, 0], [20, 0, 0], [0, 20, 0]], random_state=0)
    S = cdist(X, X, "sqeuclidean")
    fitted = PairwiseAnnealing(3, max_iter=60, neighborhood=Soft(("auto", 8.0)), squared=True, random_state=0).fit(S)
    shares = np.exp(-relational_squares(fitted.coefficients_, S) / (2 * fitted.range_history_[-1]))
    shares /= shares.sum(axis=1, keepdims=True)
    assert_allclose((shares / shares.sum(axis=0)).T @ X, fitted.coefficients_ @ X, atol=0.5)
    assert (np.diff(fitted.range_history_) < 0).all()


def test_annealing_finds_far_clusters_from_any_seed():
    X, y = make_blobs(60, 3, centers=[[0, 0, 0], [20, 0, 0], [0, 20, 0], [0, 0, 20]], random_state=0)
    for seed in range(5):
        labels = PairwiseAnnealing(4, max_iter=80, random_state=seed).fit_predict(cdist(X, X))
        assert len(set(zip(labels, y))) == 4


@pytest.mark.parametrize("estimator", [*RELATIONAL[:3], PairwiseAnnealing(6)], ids=repr)
@pytest.mark.parametrize("label_weight", [0.0, 0.02])
def test_keep_best_is_the_epoch_of_lowest_dual_cost(estimator, label_weight):
    """No fit that stops after fewer epochs has a lower one, though the cost rises at times."""
    y = np.arange(40) % 3
    apart = 2.0 * (y[:, None] != y)
    estimator = clone(estimator).set_params(random_state=0, init="random", label_weight=label_weight)
    if isinstance(estimator, PairwiseAnnealing):
        estimator.set_params(neighborhood=Soft((0.03, 0.03)))
    elif not isinstance(estimator, RelationalKMeans):
        estimator.set_params(neighborhood__schedule="constant", neighborhood__radius=(0.3, 0.01))

    def dual_cost(D, n_epochs, keep_best):
        fitted = clone(estimator).set_params(max_iter=n_epochs, keep_best=keep_best).fit(D, y)
        squares, mixed = fitted.transform(D), D**2
        if label_weight:
            unit = mixed.mean() / apart.mean()
            to_labels = np.square(np.eye(3)[y][:, None] - fitted.label_distribution_).sum(axis=2)
            squares = (1 - label_weight) * squares + label_weight * unit * to_labels
            mixed = (1 - label_weight) * mixed + label_weight * unit * apart
        winners = squares.argmin(axis=1)
        fields = [np.flatnonzero(winners == i) for i in np.unique(winners)]
        cost = sum(mixed[np.ix_(own, own)].sum() / len(own) for own in fields) / 4
        if label_weight == 0:
            assert fitted.dual_cost_ == pytest.approx(cost)
        return cost

    rose = False
    for seed in range(4):
        D = random_dissimilarities(seed)
        costs = [dual_cost(D, n_epochs, False) for n_epochs in range(1, 9)]
        assert dual_cost(D, 8, True) == pytest.approx(min(costs))
        rose |= costs[-1] > min(costs) + 1e-9
    assert rose


# Invariances


@pytest.mark.parametrize(
    "estimator",
    [*RELATIONAL, *MEDIAN, MedianKMeans(6), PairwiseAnnealing(6, max_iter=30)],
    ids=repr,
)
@pytest.mark.parametrize("init", ["k-means++", "random", "pca"])
def test_order_of_objects_does_not_matter(estimator, init):
    X, y = blobs(9)
    D = cdist(X, X)
    order = np.random.default_rng(0).permutation(N)
    estimator = clone(estimator).set_params(random_state=0, init=init, label_weight=0.2)
    straight, shuffled = clone(estimator).fit(D, y), clone(estimator).fit(D[np.ix_(order, order)], y[order])
    assert_array_equal(shuffled.labels_, straight.labels_[order])
    assert_allclose(shuffled.transform(D[:, order]), straight.transform(D), atol=1e-9)
    if hasattr(straight, "prototype_indices_"):
        assert_array_equal(order[shuffled.prototype_indices_], straight.prototype_indices_)


@pytest.mark.parametrize(
    "estimator",
    [*RELATIONAL, *MEDIAN, MedianKMeans(6), PairwiseAnnealing(6, max_iter=30)],
    ids=repr,
)
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale_of_dissimilarities_changes_distances_only(estimator, scale):
    D = random_dissimilarities(4)
    plain = clone(estimator).set_params(random_state=0).fit(D)
    scaled = clone(estimator).set_params(random_state=0).fit(scale * D)
    assert_array_equal(scaled.labels_, plain.labels_)
    assert_allclose(scaled.transform(scale * D) / scale / scale, plain.transform(D), rtol=1e-6, atol=1e-9)
    assert_allclose(scaled.score(scale * D) / scale, plain.score(D), rtol=1e-9)
    assert_allclose(scaled.dual_cost_ / scale / scale, plain.dual_cost_)


@pytest.mark.parametrize(
    "estimator",
    [*RELATIONAL, *MEDIAN, MedianKMeans(6), PairwiseAnnealing(6, max_iter=30)],
    ids=repr,
)
@pytest.mark.parametrize("label_weight", [0.0, 0.4])
@given(seed=seeds)
@settings(max_examples=2, deadline=None)
def test_weight_two_is_the_object_twice_and_weight_zero_is_none(estimator, label_weight, seed):
    X, y = blobs(seed, 60)
    D = cdist(X, X)
    weights = np.random.default_rng(seed).integers(0, 3, 60)
    weights[:10] = 1
    keep = np.repeat(np.arange(60), weights)
    estimator = clone(estimator).set_params(random_state=0, label_weight=label_weight)
    weighted = clone(estimator).fit(D, y, sample_weight=weights)
    repeated = clone(estimator).fit(D[np.ix_(keep, keep)], y[keep])
    assert_array_equal(weighted.labels_[keep], repeated.labels_)
    assert_allclose(weighted.transform(D), repeated.transform(D[:, keep]), atol=1e-8)
    assert_allclose(weighted.multiplicities_, repeated.multiplicities_)
    assert_allclose(weighted.graph_.toarray(), repeated.graph_.toarray())
    assert_allclose(weighted.cost_history_, repeated.cost_history_, rtol=1e-8)
    assert_allclose(weighted.dual_cost_, repeated.dual_cost_)
    assert_array_equal(weighted.predict(D), weighted.labels_)


@pytest.mark.parametrize("kind", [RelationalSOM, MedianSOM])
@pytest.mark.parametrize("metric", ["precomputed", "kernel", "euclidean"])
def test_weights_are_copies_also_for_the_automatic_lattice(kind, metric):
    X, _ = blobs(0, 12)
    weights = np.arange(12) % 4
    keep = np.repeat(np.arange(12), weights)
    given = {"precomputed": cdist, "kernel": lambda X, Y: X @ Y.T, "euclidean": lambda X, _: X}[metric]
    weighted = kind(metric=metric, max_iter=20).fit(given(X, X), sample_weight=weights)
    repeated = kind(metric=metric, max_iter=20).fit(given(X[keep], X[keep]))
    assert weighted.lattice_ == repeated.lattice_
    assert_array_equal(weighted.labels_[keep], repeated.labels_)
    assert_allclose(weighted.dual_cost_, repeated.dual_cost_, atol=1e-12)  # zero, up to the rounding of a kernel


@each_relational
@pytest.mark.parametrize("spread", [0.1, "implicit"])
def test_weights_are_copies_with_a_spread_and_copies_have_one_winner(estimator, spread):
    """What is added to dissimilarities of different objects is not added between copies of one."""
    D = bent_dissimilarities(3, 30)
    weights = np.arange(30) % 3
    keep = np.repeat(np.arange(30), weights)
    estimator = clone(estimator).set_params(random_state=0, spread=spread)
    weighted, repeated = clone(estimator).fit(D, sample_weight=weights), clone(estimator).fit(D[np.ix_(keep, keep)])
    assert_array_equal(weighted.labels_[keep], repeated.labels_)
    assert_array_equal(repeated.predict(D[np.ix_(keep, keep)]), repeated.labels_)
    assert_allclose(weighted.transform(D), repeated.transform(D[:, keep]), atol=1e-8)


@pytest.mark.parametrize("estimator", [*RELATIONAL, *MEDIAN], ids=repr)
def test_scale_of_weights_changes_costs_only(estimator):
    D = random_dissimilarities(4)
    one = clone(estimator).set_params(random_state=0).fit(D)
    tiny = clone(estimator).set_params(random_state=0).fit(D, sample_weight=np.full(40, 1e-30))
    assert_array_equal(one.labels_, tiny.labels_)
    assert_allclose(np.array(tiny.cost_history_) * 1e30, one.cost_history_)
    assert_allclose(tiny.dual_cost_ * 1e30, one.dual_cost_)


@pytest.mark.parametrize("estimator", [*RELATIONAL, *MEDIAN], ids=repr)
def test_weights_of_start_are_over_all_objects(estimator):
    """Objects of weight zero do not shift what ``init`` says."""
    X, _ = blobs(1)
    D = cdist(X, X)
    weights = np.ones(N)
    weights[:30] = 0.0
    rng = np.random.default_rng(0)
    if hasattr(estimator, "collision"):
        start = rng.permutation(np.arange(30, N))[:6]
        alone = start - 30
    else:
        alone = rng.dirichlet(np.ones(50), 6)
        start = np.hstack([np.zeros((6, 30)), alone])
    weighted = clone(estimator).set_params(init=start).fit(D, sample_weight=weights)
    without = clone(estimator).set_params(init=alone).fit(D[30:, 30:])
    assert_array_equal(weighted.labels_[30:], without.labels_)
    assert_allclose(weighted.transform(D)[:, :], without.transform(D[:, 30:]), atol=1e-10)


@pytest.mark.parametrize("estimator", [*RELATIONAL, *MEDIAN], ids=repr)
def test_magnification_is_a_weight(estimator):
    from protolearn.core.density import Precomputed, parzen_log_density

    D = random_dissimilarities(4)
    density = np.exp(0.5 * parzen_log_density(Precomputed(D**2)))
    fitted = clone(estimator).set_params(random_state=0, magnification=0.5).fit(D)
    weighted = clone(estimator).set_params(random_state=0).fit(D, sample_weight=density / density.max())
    assert_array_equal(fitted.labels_, weighted.labels_)
    assert_allclose(fitted.transform(D), weighted.transform(D), atol=1e-10)


def test_hyperbolic_lattice_is_the_vector_map_too():
    X, _ = blobs(1, 120)
    lattice = hyperbolic(rings=2)
    assert lattice.n_nodes == 29
    A = np.random.default_rng(0).dirichlet(np.ones(120), 29)
    vectors = SOM(lattice, init=A @ X, max_iter=15).fit(X)
    objects = RelationalSOM(lattice, init=A, max_iter=15).fit(cdist(X, X))
    assert_array_equal(objects.labels_, vectors.labels_)
    assert_allclose(objects.coefficients_ @ X, vectors.prototypes_, atol=1e-8)
