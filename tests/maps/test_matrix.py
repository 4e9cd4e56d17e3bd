"""Maps with a matrix for each prototype: theorems of their cost, slow oracles, invariances, patches, poor data."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from protolearn import MatrixKMeans, MatrixNeuralGas, MatrixSOM, NeuralGas
from protolearn.core.lattices import chain
from protolearn.core.loop import anneal
from protolearn.core.neighborhoods import OnLattice, Ranks, Winner
from protolearn.core.progress import Progress
from protolearn.core.prototypes import Matrix
from protolearn.core.shapes import REGULARIZATIONS, ShapeRule, Shapes
from protolearn.core.sources import ArraySource
from protolearn.maps import Patches, _ellipsoids

seeds = st.integers(0, 10_000)
MAPS = [
    MatrixKMeans(4, tol=0.0, random_state=0),
    MatrixNeuralGas(4, max_iter=15, random_state=0),
    MatrixSOM((2, 2), max_iter=15, random_state=0),
    MatrixSOM((1, 4), max_iter=15, neighborhood=OnLattice(kernel="exponential", winner="nearest"), random_state=0),
]
each_map = pytest.mark.parametrize("estimator", MAPS, ids=repr)
COOPERATIONS = {
    "k-means": Winner(),
    "gas": Ranks(),
    "som": OnLattice(chain(4)),
    "som of the thesis": OnLattice(chain(4), kernel="exponential"),
}
each_cooperation = pytest.mark.parametrize("neighborhood", COOPERATIONS)
RULES = {
    "det": ShapeRule(3),
    "logdet": ShapeRule(3, "logdet"),
    "one for all": ShapeRule(3, shared=True),
    "one for all, logdet": ShapeRule(3, "logdet", shared=True),
    "low rank": ShapeRule(1, selection="optimal"),
}


def clusters(seed=0, n=240, d=3, k=4):
    """Long clusters of any direction, in one block each."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(k):
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.r_[2.0, rng.uniform(0.2, 0.6, d - 1)]
        parts.append(rng.normal(size=(n // k, d)) @ turn.T + 2.5 * rng.normal(size=d))
    return np.vstack(parts)


def start(X, rule, k=4):
    """The first samples of each block as prototypes, spherical."""
    d = X.shape[1]
    source = ArraySource(X, quadratic=True)
    axes = np.tile(np.eye(rule.n_components, d), (k, 1, 1))
    shapes = Shapes(axes, np.ones((k, rule.n_components)), np.ones(k))
    positions = X[:: len(X) // k][:k] - source.origin
    return Matrix(positions, source.metric, shapes, rule), source


def ranks_of(prototypes, source):
    look = prototypes.measure(source.dtype)
    (distances,) = source.gather(lambda chunk: (look(chunk)[0],), len(prototypes))
    return distances.argsort(axis=1, kind="stable").argsort(axis=1)


# The theorems of Arnonkijpanich 2010, section 3.2


@each_cooperation
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("range_", [0.2, 1.0])
def test_cost_falls_at_a_fixed_range_until_nothing_changes(neighborhood, rule, range_):
    """Theorem 3.2.5: never higher, lower while assignments change, and then an exact fixed point."""
    X = clusters(int(10 * range_))
    prototypes, source = start(X, RULES[rule])
    states = [prototypes]
    costs = []
    for step in anneal(prototypes, COOPERATIONS[neighborhood], source, np.full(150, range_)):
        states.append(step.prototypes)
        costs.append(step.cost)
        if (states[-1].positions == states[-2].positions).all():
            break
    costs = np.array(costs)
    assert np.diff(costs).max() <= 1e-11 * np.abs(costs).max()
    assert_array_equal(states[-1].positions, states[-2].positions)
    (again,) = anneal(states[-1], COOPERATIONS[neighborhood], source, np.array([range_]))
    assert_array_equal(again.prototypes.positions, states[-1].positions)
    assert_array_equal(again.prototypes.shapes.covariances, states[-1].shapes.covariances)
    if neighborhood == "gas":
        ranks = [ranks_of(state, source) for state in states[:-1]]
        changed = [(before != after).any() for before, after in pairwise(ranks)]
        assert changed[0]
        assert not changed[-1]
        assert (np.diff(costs)[changed] < 0).all()


@each_cooperation
def test_cost_falls_while_the_range_falls(neighborhood):
    """Theorem 3.2.7: compared at the same range, and at the two ranges of the same prototypes."""
    prototypes, source = start(clusters(1), RULES["det"])
    neighborhood = COOPERATIONS[neighborhood]
    ranges = np.geomspace(2.0, 0.05, 25)
    n_falls = 0
    for range_, following in pairwise(ranges):
        before = prototypes.cost(neighborhood.gather(prototypes, source, following))
        if isinstance(neighborhood, Ranks):  # weights of a lattice add up to one at every range
            assert before <= prototypes.cost(neighborhood.gather(prototypes, source, range_))
        (step,) = anneal(prototypes, neighborhood, source, np.array([following]))
        prototypes = step.prototypes
        after = prototypes.cost(neighborhood.gather(prototypes, source, following))
        assert after <= before * (1 + 1e-12)
        n_falls += after < before
    assert n_falls >= 2


@pytest.mark.parametrize("estimator", MAPS[:3], ids=repr)
def test_estimators_tell_the_same_costs(estimator):
    X = clusters(2)
    fixed = {"neighborhood__schedule": "constant", "neighborhood__radius": (0.5, 0.01), "max_iter": 60}
    fixed = {} if isinstance(estimator, MatrixKMeans) else fixed
    for options in ({}, {"normalization": "logdet"}, {"scope": "global"}, {"n_components": 1, "selection": "optimal"}):
        fitted = clone(estimator).set_params(init=X[::60], **fixed, **options).fit(X)
        costs = np.array(fitted.cost_history_)
        assert np.diff(costs).max() <= 1e-11 * np.abs(costs).max()
        assert costs[-1] < costs[0]
        longer = clone(fitted).set_params(max_iter=fitted.n_iter_ + 20).fit(X)
        assert_array_equal(longer.prototypes_, fitted.prototypes_)
        assert_array_equal(fitted.range_history_, 0.5 if fixed else 0.0)


@given(seeds, st.integers(2, 5))
@settings(max_examples=15)
def test_cost_of_the_optimal_matrices(seed, d):
    """E = d/2 sum_i det(S_i)^(1/d) for the assignments that the matrices were made from."""
    X = clusters(seed, d=d)
    prototypes, source = start(X, ShapeRule(d))
    h = np.exp(-ranks_of(prototypes, source) / 0.7)
    statistics = Ranks().gather(prototypes, source, 0.7)
    after = prototypes.update(statistics)
    expected = 0.0
    for i in range(4):
        mean = h[:, i] @ X / h[:, i].sum()
        scatter = (X - mean).T @ (h[:, i : i + 1] * (X - mean))
        form = after.shapes.forms("det")[i]
        root = np.exp(np.linalg.slogdet(scatter)[1] / d)
        assert_allclose(np.trace(form @ scatter), d * root)
        assert_allclose(form @ scatter, root * np.eye(d), atol=1e-9 * np.abs(scatter).max())
        expected += 0.5 * d * root
    assert_allclose(after.cost(statistics), expected)


def test_prototypes_of_an_endless_range_are_all_the_mean():
    X = clusters(3)
    gas = MatrixNeuralGas(4, init=X[::60], max_iter=3, neighborhood=Ranks((1e9, 1e9)), regularization="floor").fit(X)
    assert_allclose(gas.prototypes_, np.tile(X.mean(axis=0), (4, 1)), atol=1e-6)
    assert_allclose(gas.covariances_, np.tile(np.cov(X.T, bias=True), (4, 1, 1)), atol=1e-5)


# Slow oracles


def slow_map(X, W, weights_of, n_epochs, labels=None, label_weight=0.0, u=None):
    """Batch matrix learning with loops; ``weights_of`` maps distances (n, k) to weights (n, k)."""
    n, d = X.shape
    k = len(W)
    W, matrices = W.copy(), [np.eye(d) for _ in range(k)]
    u = np.ones(n) if u is None else u
    if labels is not None:
        fuzzy = np.tile(u @ labels / u.sum(), (k, 1))
        variances = [u @ ((Z - u @ Z / u.sum()) ** 2).sum(axis=1) for Z in (X, labels)]
        unit = variances[0] / variances[1]
    for _ in range(n_epochs):
        D = np.empty((n, k))
        for j in range(n):
            for i in range(k):
                gap = X[j] - W[i]
                D[j, i] = gap @ matrices[i] @ gap
                if labels is not None:
                    apart = unit * ((labels[j] - fuzzy[i]) ** 2).sum()
                    D[j, i] = (1 - label_weight) * D[j, i] + label_weight * apart
        H = weights_of(D) * u[:, None]
        for i in range(k):
            W[i] = H[:, i] @ X / H[:, i].sum()
            scatter = sum(H[j, i] * np.outer(X[j] - W[i], X[j] - W[i]) for j in range(n))
            matrices[i] = np.linalg.det(scatter) ** (1 / d) * np.linalg.inv(scatter)
            if labels is not None:
                fuzzy[i] = H[:, i] @ labels / H[:, i].sum()
    return W, np.array(matrices), None if labels is None else fuzzy


def by_rank(range_):
    def weights(D):
        H = np.empty_like(D)
        for j, row in enumerate(D):
            for rank, i in enumerate(sorted(range(len(row)), key=row.__getitem__)):
                H[j, i] = np.exp(-rank / range_)
        return H

    return weights


def on_lattice(distances, range_, kernel, heskes):
    def weights(D):
        h = np.exp(-distances / range_) if kernel == "exponential" else np.exp(-0.5 * (distances / range_) ** 2)
        if not heskes:
            return h[D.argmin(axis=1)]
        h /= h.sum(axis=1, keepdims=True)
        return h[np.array([[h[i] @ row for i in range(len(row))] for row in D]).argmin(axis=1)]

    return weights


def matrices_of(fitted):
    return np.swapaxes(fitted.omegas_, 1, 2) @ fitted.omegas_


def assert_matches(fitted, W, matrices):
    assert_allclose(fitted.prototypes_, W, atol=1e-8)
    assert_allclose(matrices_of(fitted), matrices, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("range_", [0.3, 1.5])
def test_neural_gas_against_the_oracle(range_):
    X = clusters(0, 80) * [1.0, 5.0, 0.2]
    gas = MatrixNeuralGas(
        4,
        init=X[::20],
        max_iter=6,
        neighborhood=Ranks((range_, 0.01), schedule="constant"),
        regularization="floor",
    )
    gas.fit(X)
    assert_matches(gas, *slow_map(X, X[::20], by_rank(range_), 6)[:2])


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("winner", ["heskes", "nearest"])
def test_som_against_the_oracle(winner, kernel):
    X = clusters(1, 80) * [1.0, 5.0, 0.2]
    lattice = np.abs(np.arange(4)[:, None] - np.arange(4))
    som = MatrixSOM(
        (1, 4), neighborhood=OnLattice(radius=(0.7, 0.55), kernel=kernel, winner=winner), init=X[::20], max_iter=6
    )
    som.set_params(neighborhood__schedule="constant", regularization="floor").fit(X)
    assert_matches(som, *slow_map(X, X[::20], on_lattice(lattice, 0.7, kernel, winner == "heskes"), 6)[:2])


def test_k_means_against_the_oracle():
    X = clusters(2, 120)
    kmeans = MatrixKMeans(4, init=X[::30], max_iter=5, tol=0.0, regularization="floor").fit(X)
    assert kmeans.n_iter_ == 5
    assert_matches(kmeans, *slow_map(X, X[::30], by_rank(1e-2), 5)[:2])


def test_labels_and_weights_against_the_oracle():
    """(1 - beta) d + beta |y - w_y|^2 in units of the samples, where d is that of the matrix."""
    X = clusters(3, 80)
    rng = np.random.default_rng(0)
    y, u = rng.integers(0, 3, 80), rng.random(80)
    gas = MatrixNeuralGas(
        4, init=X[::20], max_iter=5, neighborhood=Ranks((0.8, 0.01), schedule="constant"), label_weight=0.6
    )
    gas.set_params(regularization="floor").fit(X, y, sample_weight=u)
    W, matrices, fuzzy = slow_map(X, X[::20], by_rank(0.8), 5, np.eye(3)[y], 0.6, u)
    assert_matches(gas, W, matrices)
    assert_allclose(gas.label_distribution_, fuzzy, atol=1e-8)


# What neural gas does, matrix neural gas does too


@pytest.mark.parametrize("options", [{}, {"label_weight": 0.5}, {"magnification": 1.5}, {"magnification": "optimal"}])
def test_first_epoch_is_that_of_neural_gas(options):
    """Matrices start as those of the Euclidean distance."""
    X = clusters(4) * [1.0, 20.0, 0.1]
    y = np.arange(len(X)) % 3
    options = {**options, "init": X[::60], "max_iter": 1, "neighborhood": Ranks((1.0, 0.01))}
    plain, matrix = NeuralGas(4, **options), MatrixNeuralGas(4, regularization="floor", **options)
    plain.fit(X, y), matrix.fit(X, y)
    assert_allclose(matrix.prototypes_, plain.prototypes_, rtol=1e-9, atol=1e-9)
    assert_allclose(matrix.cost_history_, plain.cost_history_)
    for name in ("label_distribution_", "magnification_"):
        assert hasattr(matrix, name) == hasattr(plain, name)
    if "label_weight" in options:
        assert_allclose(matrix.label_distribution_, plain.label_distribution_)


def test_magnification_puts_more_prototypes_into_dense_regions():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(900, 2)), 3 * rng.normal(size=(300, 2)) + [30, 0]])
    in_sparse = [
        (MatrixNeuralGas(8, magnification=c, random_state=0).fit(X).prototypes_[:, 0] > 15).sum() for c in (-0.9, 2.0)
    ]
    assert in_sparse[0] > in_sparse[1]


def test_labels_keep_classes_apart():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)) @ np.diag([1.0, 5.0]), np.arange(200) % 2
    apart = [
        MatrixNeuralGas(4, label_weight=weight, random_state=0).fit(X, y).label_distribution_.max(axis=1).min()
        for weight in (0.01, 0.99)
    ]
    assert apart[0] < 0.8
    assert apart[1] > 0.95


# Invariances


@each_map
@pytest.mark.parametrize("normalization", ["det", "logdet"])
@given(seed=seeds)
@settings(max_examples=4)
def test_any_linear_map_of_the_features(estimator, normalization, seed):
    """With the covariance as first matrix, distances are multiplied by |det A|^(2/d), or moved by ln |det A|^2."""
    rng = np.random.default_rng(seed)
    X = clusters(seed)
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0] @ np.diag(rng.uniform(0.1, 10, 3)) @ rng.normal(size=(3, 3))
    shift = 10 * rng.normal(size=3)
    options = {"metric_init": "covariance", "normalization": normalization, "regularization": "floor", "epsilon": 1e-12}
    plain = clone(estimator).set_params(init=X[::60], **options).fit(X)
    mapped = clone(estimator).set_params(init=X[::60] @ A.T + shift, **options).fit(X @ A.T + shift)
    assert_array_equal(mapped.labels_, plain.labels_)
    span = np.abs(X @ A.T + shift).max()
    assert_allclose(mapped.prototypes_, plain.prototypes_ @ A.T + shift, atol=1e-6 * span)
    volume = np.linalg.slogdet(A)[1]
    before, after = plain.distances(X), mapped.distances(X @ A.T + shift)
    if normalization == "det":
        assert_allclose(after * np.exp(-2 * volume / 3), before, rtol=1e-4, atol=1e-6)
    else:
        assert_allclose(after - 2 * volume, before, rtol=1e-4, atol=1e-6)
    assert_allclose(mapped.score(X @ A.T + shift), plain.score(X) - volume, atol=1e-6)


@each_map
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e6])
def test_moved_and_scaled_data_with_any_start(estimator, scale):
    X = clusters(5)
    plain, other = clone(estimator).fit(X), clone(estimator).fit(scale * (X + 7))
    assert_array_equal(other.labels_, plain.labels_)
    assert_allclose(other.prototypes_ / scale - 7, plain.prototypes_, atol=1e-6)
    assert_allclose(other.covariances_ / scale**2, plain.covariances_, atol=1e-6)
    assert_array_equal(other.floored_, plain.floored_)


@each_map
def test_order_of_samples_does_not_matter(estimator):
    X = clusters(6)
    order = np.random.default_rng(0).permutation(len(X))
    plain, other = clone(estimator).fit(X), clone(estimator).fit(X[order])
    assert_array_equal(other.labels_, plain.labels_[order])
    assert_allclose(other.covariances_, plain.covariances_, atol=1e-8)


@each_map
@given(seed=seeds)
@settings(max_examples=4)
def test_weight_two_is_the_sample_twice_and_weight_zero_is_none(estimator, seed):
    X = clusters(seed, 120)
    weights = np.random.default_rng(seed).integers(0, 3, 120)
    weights[:20] = 1
    keep = np.repeat(np.arange(120), weights)
    weighted, repeated = clone(estimator).fit(X, sample_weight=weights), clone(estimator).fit(X[keep])
    assert_allclose(weighted.prototypes_, repeated.prototypes_, atol=1e-7)
    assert_allclose(weighted.covariances_, repeated.covariances_, atol=1e-7)
    assert_allclose(weighted.weights_, repeated.weights_)
    assert_allclose(weighted.cost_history_, repeated.cost_history_, rtol=1e-7)


@each_map
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_single_precision_stays_single_and_close(estimator, offset):
    X = clusters(7)
    double, single = clone(estimator).fit(X), clone(estimator).fit((X + offset).astype(np.float32))
    assert single.prototypes_.dtype == single.distances(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.prototypes_ - offset, double.prototypes_, atol=2e-3)
    assert_allclose(single.covariances_, double.covariances_, atol=5e-3)


@pytest.mark.parametrize("estimator", MAPS[:2], ids=repr)
def test_thin_clusters_far_apart(estimator):
    """Sums of squares far from the origin cancel, but only as far as they must."""
    rng = np.random.default_rng(0)
    thin = [1.0, 1e-2] * rng.normal(size=(400, 2))
    X = np.vstack([thin, thin + np.array([0.0, 1e3])])
    fitted = clone(estimator).set_params(n_prototypes=2, regularization="none").fit(X)
    assert_array_equal(np.sort(fitted.multiplicities_), [400, 400])
    assert_allclose(fitted.covariances_, np.tile(np.cov(thin.T, bias=True), (2, 1, 1)), rtol=1e-3, atol=1e-6)


# What is stored


@each_map
@pytest.mark.parametrize("options", [{}, {"n_components": 1}, {"normalization": "logdet"}, {"scope": "global"}])
def test_stored_shapes_agree_with_one_another(estimator, options):
    X = clusters(8, d=4) * [1.0, 3.0, 0.1, 20.0]
    fitted = clone(estimator).set_params(**options).fit(X)
    k, q = 4, options.get("n_components", 4)
    assert fitted.components_.shape == (k, q, 4)
    assert fitted.variances_.shape == (k, q)
    assert (np.diff(fitted.variances_, axis=1) <= 0).all()
    for i in range(k):
        V = fitted.components_[i]
        assert_allclose(V @ V.T, np.eye(q), atol=1e-10)
        whole = V.T @ np.diag(fitted.variances_[i]) @ V + fitted.residual_variances_[i] * (np.eye(4) - V.T @ V)
        assert_allclose(fitted.covariances_[i], whole, atol=1e-9 * np.abs(whole).max())
    assert_allclose(fitted.log_volumes_, 0.5 * np.linalg.slogdet(fitted.covariances_)[1], atol=1e-8)
    assert_allclose(fitted.weights_, np.bincount(fitted.labels_, minlength=k) / len(X))
    assert_array_equal(fitted.predict(X), fitted.labels_)
    assert_array_equal(fitted.distances(X).argmin(axis=1), fitted.labels_)
    gaps = np.einsum("kqd,nkd->nkq", fitted.omegas_, X[:, None] - fitted.prototypes_)
    constant = 2 * fitted.log_volumes_ if fitted.normalization == "logdet" else 0.0
    assert_allclose(fitted.distances(X), (gaps**2).sum(axis=2) + constant, rtol=1e-7, atol=1e-7)
    if fitted.normalization == "det":
        assert_allclose(np.linalg.slogdet(matrices_of(fitted))[1], 0, atol=1e-8)
    if fitted.scope == "global":
        assert_allclose(fitted.covariances_, fitted.covariances_[:1].repeat(k, axis=0), rtol=1e-12)


@pytest.mark.parametrize("d", [10, 60])
def test_determinant_is_one_in_many_dimensions(d):
    X = clusters(9, 400, d=d) * np.geomspace(1e-3, 1e3, d)
    gas = MatrixNeuralGas(2, random_state=0).fit(X)
    assert_allclose(np.linalg.slogdet(gas.omegas_)[1], 0, atol=1e-8)


@each_map
def test_threads_do_not_change_a_bit(estimator):
    X = clusters(9, 20_000, d=6)
    one, two = (clone(estimator).set_params(max_iter=3, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    assert_array_equal(one.prototypes_, two.prototypes_)
    assert_array_equal(one.covariances_, two.covariances_)


@each_map
def test_several_starts_keep_the_best(estimator):
    X = clusters(9, k=8)
    costs = [clone(estimator).set_params(n_init=n_init).fit(X).cost_history_[-1] for n_init in (1, 6)]
    assert costs[1] <= costs[0]
    given = clone(estimator).set_params(init=X[::60], n_init=5).fit(X)
    assert_array_equal(given.prototypes_, clone(given).set_params(n_init=1).fit(X).prototypes_)


# One prototype, and no range


@pytest.mark.parametrize("range_", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("normalization", ["det", "logdet", "none"])
def test_one_prototype_is_mean_and_covariance(range_, normalization):
    X = clusters(10)
    options = {"normalization": normalization, "max_iter": 3, "regularization": "floor"}
    ranks, lattice = Ranks((range_, range_)), OnLattice(radius=(range_, range_))
    maps = MatrixKMeans(1), MatrixNeuralGas(1, neighborhood=ranks), MatrixSOM((1, 1), neighborhood=lattice)
    for estimator in maps:
        fitted = estimator.set_params(**options).fit(X)
        assert_allclose(fitted.prototypes_[0], X.mean(axis=0), atol=1e-10)
        assert_allclose(fitted.covariances_[0], np.cov(X.T, bias=True), atol=1e-10)
        inverse = np.linalg.inv(np.cov(X.T, bias=True))
        root = np.linalg.det(inverse) ** (1 / 3) if normalization == "det" else 1.0
        assert_allclose(matrices_of(fitted)[0], inverse / root, rtol=1e-8)


def test_range_towards_zero_is_k_means():
    X = clusters(11)
    gas = MatrixNeuralGas(4, init=X[::60], max_iter=40, neighborhood=Ranks((1e-3, 0.01), schedule="constant")).fit(X)
    som = MatrixSOM(
        (1, 4), init=X[::60], max_iter=40, neighborhood=OnLattice(radius=(1e-2, 0.55), schedule="constant")
    ).fit(X)
    kmeans = MatrixKMeans(4, init=X[::60], tol=0.0).fit(X)
    for other in (gas, som):
        assert_allclose(other.prototypes_, kmeans.prototypes_, atol=1e-10)
        assert_allclose(other.covariances_, kmeans.covariances_, atol=1e-9)
        assert_allclose(other.cost_history_[-1], kmeans.cost_history_[-1])


def test_matrices_find_clusters_that_points_do_not():
    rng = np.random.default_rng(0)
    X = np.vstack([[6.0, 0.3] * rng.normal(size=(200, 2)) + [0, shift] for shift in (-1.5, 1.5)])
    y = np.repeat([0, 1], 200)
    matrix = MatrixNeuralGas(2, init="k-means++", n_init=20, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, matrix) > 0.98
    assert adjusted_rand_score(y, NeuralGas(2, random_state=0).fit_predict(X)) < 0.1


# Few directions


@each_map
@pytest.mark.parametrize("normalization", ["det", "logdet"])
def test_all_directions_and_all_but_one_are_a_full_matrix(estimator, normalization):
    X = clusters(12)
    options = {"init": X[::60], "normalization": normalization, "epsilon": 1e-12}
    full = clone(estimator).set_params(**options).fit(X)
    for q in (2, 3):
        same = clone(estimator).set_params(n_components=q, **options).fit(X)
        assert_array_equal(same.labels_, full.labels_)
        assert_allclose(same.covariances_, full.covariances_, atol=1e-8)
        assert_allclose(same.distances(X), full.distances(X), rtol=1e-7, atol=1e-7)


def test_optimal_selection_costs_less():
    """In every one step from the same prototypes; and on such data it keeps the small variances."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 5)) * [5.0, 4.8, 4.6, 0.3, 0.1] + 3 * rng.normal(size=5) for _ in range(3)])
    costs = {}
    for selection in ("top", "optimal"):
        gas = MatrixNeuralGas(
            3, n_components=2, selection=selection, init=X[::200], max_iter=2, neighborhood=Ranks((0.5, 0.01))
        )
        costs[selection] = gas.set_params(neighborhood__schedule="constant").fit(X).cost_history_[1]
        smallest = np.abs(gas.components_[:, :, 3:]).max(axis=(1, 2))
        assert (smallest > 0.9).all() == (selection == "optimal")
    assert costs["optimal"] < 0.8 * costs["top"]


SKETCHED = [
    MatrixKMeans(3, n_components=2, tol=0.0, random_state=0),
    MatrixNeuralGas(3, n_components=2, max_iter=40, random_state=0),
    MatrixNeuralGas(3, n_components=2, max_iter=40, normalization="logdet", random_state=0),
    MatrixNeuralGas(3, n_components=2, max_iter=40, scope="global", random_state=0),
    MatrixSOM((1, 3), n_components=2, max_iter=40, neighborhood=OnLattice(radius=("auto", 0.2)), random_state=0),
]


def planes(seed=0, n=300, d=80, k=3, parallel=False):
    """Clusters with two strong directions each, or all the same two, in many dimensions."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(k):
        if number == 0 or not parallel:
            V = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
        parts.append(
            (rng.normal(size=(n // k, 2)) * [4, 2.5]) @ V + rng.normal(size=d) + 0.3 * rng.normal(size=(n // k, d))
        )
    return np.vstack(parts)


@pytest.mark.parametrize(
    ("estimator", "dtype"), [*((estimator, np.float64) for estimator in SKETCHED), (SKETCHED[1], np.float32)], ids=repr
)
def test_sketched_and_whole_covariances_end_alike(estimator, dtype, monkeypatch):
    X = planes(parallel=estimator.scope == "global").astype(dtype)
    sketched = clone(estimator).fit(X)
    monkeypatch.setattr(_ellipsoids, "MOST_QUADRATIC", 1000)
    whole = clone(estimator).fit(X)
    assert_array_equal(sketched.labels_, whole.labels_)
    assert_allclose(sketched.prototypes_, whole.prototypes_, atol=1e-4)
    assert_allclose(sketched.covariances_, whole.covariances_, atol=1e-2)
    assert_allclose(sketched.cost_history_[-1], whole.cost_history_[-1], rtol=1e-3)
    # the same model, read in both ways
    distances = whole.distances(X)
    monkeypatch.setattr(_ellipsoids, "MOST_QUADRATIC", 64)
    single = dtype == np.float32
    assert_allclose(whole.distances(X), distances, rtol=2e-3 if single else 1e-9, atol=1e-3 if single else 1e-9)


@pytest.mark.parametrize("options", [{}, {"normalization": "logdet"}, {"scope": "global"}])
def test_cost_of_sketches_falls_too(options):
    """One step of the power method at a time: not the optimum, but never a step back."""
    for seed in range(2):
        X = planes(seed)
        for estimator in (
            MatrixKMeans(4, n_components=2, tol=0.0, max_iter=40),
            MatrixNeuralGas(4, n_components=2, neighborhood=Ranks((0.5, 0.01), schedule="constant"), max_iter=40),
            MatrixSOM(
                (1, 4), n_components=2, neighborhood=OnLattice(radius=(0.5, 0.55), schedule="constant"), max_iter=40
            ),
        ):
            costs = np.array(estimator.set_params(init=X[::75], **options).fit(X).cost_history_)
            assert np.diff(costs).max() <= 1e-9 * np.abs(costs).max()


def test_sketches_of_one_prototype_find_the_principal_components():
    X = planes(k=1)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    for estimator in (MatrixKMeans(1, n_components=2), MatrixNeuralGas(1, n_components=2)):
        fitted = estimator.set_params(random_state=0, regularization="floor").fit(X)
        assert_allclose(fitted.variances_[0], values[:2], rtol=1e-4)
        assert_allclose(fitted.residual_variances_[0], values[2:].mean(), rtol=1e-3)


def test_swap_condition_tells_whether_the_largest_directions_are_the_best():
    white = np.random.default_rng(0).normal(size=(200, 4))
    white = np.linalg.qr(white - white.mean(axis=0))[0] * np.sqrt(200)  # of mean zero and unit covariance
    right, wrong = white * np.sqrt([24.177, 10.212, 0.775, 0.197]), white * np.sqrt([24.177, 10.212, 9.0, 0.1])
    X = np.vstack([right, wrong + 1000.0])
    fitted = MatrixKMeans(2, n_components=2, init=X[[0, 300]]).fit(X)
    assert fitted.swap_condition_.tolist() == [True, False]
    assert fitted.set_params(selection="optimal").fit(X).swap_condition_.all()
    assert fitted.set_params(n_components=None).fit(X).swap_condition_.all()
    assert not hasattr(fitted.set_params(normalization="none").fit(X), "swap_condition_")


def test_refusals_about_directions():
    X = clusters(13)
    with pytest.raises(ValueError, match="n_components=4 is more than the 3 features"):
        MatrixNeuralGas(2, n_components=4).fit(X)
    with pytest.raises(ValueError, match="n_components=0 must be an integer"):
        MatrixNeuralGas(2, n_components=0).fit(X)
    with pytest.raises(ValueError, match="selection='optimal' needs all variances"):
        MatrixNeuralGas(2, n_components=2, selection="optimal").fit(planes())


# Patches and streams


@pytest.mark.parametrize(
    "estimator", [MatrixKMeans(1), MatrixNeuralGas(1, max_iter=5), MatrixSOM((1, 1), max_iter=5)], ids=repr
)
@pytest.mark.parametrize("options", [{}, {"n_components": 1}, {"scope": "global"}])
def test_one_prototype_of_a_stream_is_exact(estimator, options):
    """The mean and covariance of what went before stand for it, so those of all samples come out."""
    X = clusters(14, 400) * [1.0, 30.0, 0.1]
    batch = clone(estimator).set_params(regularization="floor", **options).fit(X)
    stream = clone(estimator).set_params(regularization="floor", **options)
    for patch in np.array_split(X, 5):
        stream.partial_fit(patch)
    assert_allclose(stream.prototypes_, batch.prototypes_, atol=1e-8)
    if "n_components" not in options:
        assert_allclose(stream.covariances_, batch.covariances_, atol=1e-8)
    assert_allclose(np.trace(stream.covariances_[0]), np.trace(batch.covariances_[0]), rtol=1e-8)
    assert_allclose(stream.multiplicities_, [400])


@pytest.mark.parametrize("patch_runs", [1, 2, 3])
def test_patches_end_near_the_batch_covariances(patch_runs):
    """Taken as points, earlier prototypes would leave the variance within a patch only: a third, or less."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    turns = [np.diag([2.0, 0.3]), np.diag([0.3, 2.0]), np.array([[1.0, 1.0], [0.2, -0.2]])]
    X = np.vstack([rng.normal(size=(400, 2)) @ turn + center for turn, center in zip(turns, centers)])
    patched = MatrixNeuralGas(3, patches=Patches(200, runs=patch_runs), max_iter=20, random_state=0)
    patched.set_params(regularization="floor").fit(X)
    order = [int(((patched.prototypes_ - center) ** 2).sum(axis=1).argmin()) for center in centers]
    for i, part in zip(order, np.split(X, 3)):
        covariance = np.cov(part.T, bias=True)
        assert_allclose(patched.covariances_[i], covariance, atol=0.02 * np.abs(covariance).max())
    assert_allclose(patched.multiplicities_, 400)
    assert_allclose(patched.weights_, 1 / 3, atol=1e-9)


def test_sketched_patches_end_near_the_batch_covariances():
    X = planes(1, 900)
    X = X[np.random.default_rng(0).permutation(900)]
    batch = MatrixNeuralGas(3, n_components=2, max_iter=40, random_state=0).fit(X)
    stream = MatrixNeuralGas(3, n_components=2, max_iter=40, random_state=0)
    for patch in np.split(X, 3):
        stream.partial_fit(patch)
    for i, prototype in enumerate(batch.prototypes_):
        same = ((stream.prototypes_ - prototype) ** 2).sum(axis=1).argmin()
        assert_allclose(stream.prototypes_[same], prototype, atol=0.3)
        assert_allclose(stream.variances_[same], batch.variances_[i], rtol=0.1)
        assert_allclose(stream.residual_variances_[same], batch.residual_variances_[i], rtol=0.1)


@pytest.mark.parametrize("regularization", [option for option in REGULARIZATIONS if option not in ("prior", "none")])
@pytest.mark.parametrize("d", [4, 70])
def test_streams_on_a_plane(regularization, d):
    """Regularization is for distances; what a prototype tells of its samples, and hands on, is what they are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) * [3.0, 1.0] @ rng.normal(size=(2, d)) + 1e-5 * rng.normal(size=(600, d))
    gas = MatrixNeuralGas(1, n_components=2 if d > 64 else None, regularization=regularization, max_iter=3)
    for patch in np.split(X, 6):
        gas.partial_fit(patch)
    covariance = np.cov(X.T, bias=True)
    assert_allclose(gas.prototypes_[0], X.mean(axis=0), atol=1e-8)
    assert_allclose(gas.covariances_[0], covariance, atol=1e-3 * covariance.max())
    assert_allclose(gas.variances_[0, :2], np.linalg.eigvalsh(covariance)[::-1][:2], rtol=1e-3)


def test_labels_in_patches():
    """One prototype has the shares of all classes, old and new."""
    X = clusters(14)
    y = np.r_[np.arange(120) % 2, np.arange(120) % 2 + 1]
    for q, data in ((None, X), (2, planes(n=240))):
        gas = MatrixNeuralGas(1, n_components=q, label_weight=0.5, max_iter=3, regularization="floor", random_state=0)
        gas.partial_fit(data[:120], y[:120]).partial_fit(data[120:], y[120:])
        assert_array_equal(gas.classes_, [0, 1, 2])
        assert_allclose(gas.label_distribution_, [[0.25, 0.5, 0.25]], atol=1e-9)
        assert_allclose(gas.prototypes_[0], data.mean(axis=0), atol=1e-9)
        assert_allclose(np.trace(gas.covariances_[0]), data.var(axis=0).sum())


def test_decay_forgets():
    rng = np.random.default_rng(0)
    old, new = 5 * rng.normal(size=(500, 2)), rng.normal(size=(500, 2))
    for decay, low, high in ((1.0, 10, 16), (0.01, 0.8, 1.5)):
        gas = MatrixNeuralGas(1, patches=Patches(decay=decay), max_iter=3).partial_fit(old).partial_fit(new)
        assert low < gas.variances_.mean() < high


def test_interrupted_fit_keeps_what_it_has(monkeypatch):
    X = clusters(15)
    gas = MatrixNeuralGas(4, init=X[::60], max_iter=10)
    shown = []

    def interrupt(self, done, new=1, *, cost=None, **values):
        shown.append(cost)
        if len(shown) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        gas.fit(X)
    assert gas.n_iter_ == 4
    assert np.isfinite(gas.score(X))


# Degenerate data


def degenerate(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    if name == "constant column":
        X[:, 1] = 3.0
    elif name == "all constant":
        X[:] = 2.0
    elif name == "duplicates":
        X = np.repeat(X[:4], 10, axis=0)
    elif name == "sum of others":
        X[:, 3] = X[:, 0] + X[:, 1]
    elif name == "fewer samples than features":
        X = X[:4]
    elif name == "single-sample cells":
        X = np.vstack([X[:50], 1e3 + 100 * X[50:53]])
    elif name == "integers":
        X = rng.integers(0, 2, (60, 4)).astype(float)
    return X


DEGENERATE = [
    "constant column",
    "all constant",
    "duplicates",
    "sum of others",
    "fewer samples than features",
    "single-sample cells",
    "integers",
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.pairwise(
    n_components=[None, 2], regularization=[option for option in REGULARIZATIONS if option != "none"], data=DEGENERATE
)
def test_degenerate_data_give_finite_maps(data, regularization, n_components):
    X = degenerate(data)
    maps = [
        MatrixKMeans(3, max_iter=5, random_state=0),
        MatrixNeuralGas(3, normalization="logdet", max_iter=5, random_state=0),
        MatrixSOM((1, 3), max_iter=5, random_state=0),
    ]
    for estimator in maps:
        fitted = estimator.set_params(regularization=regularization, n_components=n_components).fit(X)
        for name in ("prototypes_", "components_", "variances_", "residual_variances_", "covariances_", "omegas_"):
            assert np.isfinite(getattr(fitted, name)).all(), name
        assert np.isfinite(fitted.distances(X)).all()
        assert np.isfinite(fitted.cost_history_).all()
        assert not np.isnan(fitted.score_samples(X)).any()
        assert (fitted.covariances_.diagonal(axis1=1, axis2=2) >= 0).all()
        if data not in ("integers", "single-sample cells") and (regularization != "prior" or n_components is None):
            assert fitted.floored_.any()


@pytest.mark.parametrize("data", ["constant column", "sum of others", "fewer samples than features", "duplicates"])
def test_without_regularization_singular_cells_are_refused(data):
    with pytest.raises(ValueError, match="do not vary in every direction"):
        MatrixKMeans(3, regularization="none", random_state=0).fit(degenerate(data))


@given(seed=seeds)
@settings(max_examples=10)
def test_without_regularization_singular_cells_are_refused_wherever_they_are(seed):
    """Squares of large coordinates cancel; what is left must not count as variance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 3))
    X[:, 2] = X[:, 0] + X[:, 1]
    X = np.vstack([X, X + np.array([1e3, 2e3, 5e3])])
    with pytest.raises(ValueError, match="do not vary in every direction"):
        MatrixKMeans(2, regularization="none", random_state=0).fit(X)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_optimal_selection_on_a_plane(rank):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, rank)) @ rng.normal(size=(rank, 4))
    gas = MatrixNeuralGas(2, n_components=2, selection="optimal", max_iter=5, random_state=0)
    for regularization in ("floor", "ridge"):
        fitted = gas.set_params(regularization=regularization).fit(X)
        assert np.isfinite(fitted.distances(X)).all()
        assert np.isfinite(fitted.score_samples(X)).all()
    for regularization in ("pinv", "tikhonov"):
        with pytest.raises(ValueError, match="selection='optimal' compares all variances"):
            gas.set_params(regularization=regularization).fit(X)


def test_floored_counts_the_directions_that_were_lifted():
    X = clusters(16)
    wide = np.column_stack([X, np.full(len(X), 5.0), X[:, 0] - X[:, 2]])
    gas = MatrixNeuralGas(3, random_state=0).fit(wide)
    assert_array_equal(gas.floored_, 2)
    assert_array_equal(MatrixNeuralGas(3, random_state=0).fit(X).floored_, 0)


@pytest.mark.parametrize("n_components", [None, 2, 3])
def test_pinv_leaves_directions_out(n_components):
    """A sample may move as far as it likes along a direction in which no sample varies."""
    X = np.column_stack([clusters(16)[:, :2], np.full((240, 2), 5.0)])
    options = {"regularization": "pinv", "max_iter": 5}
    for estimator in (MatrixNeuralGas(3), MatrixNeuralGas(3, normalization="logdet"), MatrixKMeans(3)):
        fitted = clone(estimator).set_params(n_components=n_components, init=X[::80], **options).fit(X)
        moved = X + np.array([0.0, 0.0, 100.0, -7.0])
        assert_allclose(fitted.distances(moved), fitted.distances(X), rtol=1e-6, atol=1e-6)
        plain = clone(estimator).set_params(init=X[::80, :2], **options).fit(X[:, :2])
        assert_allclose(fitted.distances(X), plain.distances(X[:, :2]), rtol=1e-6, atol=1e-6)
        assert_allclose(fitted.score_samples(X), plain.score_samples(X[:, :2]), atol=1e-6)


def test_a_constant_column_does_not_change_the_map():
    X = clusters(17)
    wide = np.column_stack([X, np.full(len(X), 5.0)])
    for regularization in ("floor", "ridge", "pinv"):
        options = {"regularization": regularization, "epsilon": 1e-9, "normalization": "none", "max_iter": 20}
        plain = MatrixNeuralGas(4, init=X[::60], **options).fit(X)
        other = MatrixNeuralGas(4, init=wide[::60], **options).fit(wide)
        assert_array_equal(other.labels_, plain.labels_)
        assert_allclose(other.prototypes_[:, :3], plain.prototypes_, atol=1e-5)
        assert_array_equal(other.prototypes_[:, 3], 5.0)


@pytest.mark.parametrize("estimator", [MatrixKMeans(3), MatrixNeuralGas(3), MatrixSOM((1, 3))], ids=repr)
def test_bad_input_is_refused(estimator):
    X = clusters(18)
    bad = X.copy()
    bad[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        clone(estimator).fit(bad)
    bad[3] = np.nan  # gaps are filled, but not a row of nothing else
    with pytest.raises(ValueError, match="no known value"):
        clone(estimator).fit(bad)
    with pytest.raises(ValueError, match="fewer than the 3 prototypes"):
        clone(estimator).fit(X[:2])
    for name, value in (
        ("regularization", "some"),
        ("normalization", "trace"),
        ("scope", "all"),
        ("selection", "best"),
        ("epsilon", 0.0),
        ("metric_init", "random"),
    ):
        with pytest.raises(ValueError, match=name):
            clone(estimator).set_params(**{name: value}).fit(X)


@pytest.mark.parametrize("normalization", ["det", "logdet", "none"])
def test_one_feature_and_one_sample(normalization):
    X = np.r_[np.linspace(0, 1, 30), np.linspace(5, 9, 30)][:, None]
    gas = MatrixNeuralGas(2, normalization=normalization, random_state=0).fit(X)
    assert np.isfinite(gas.distances(X)).all()
    if normalization != "none":
        assert_array_equal(np.sort(gas.multiplicities_), [30, 30])
    alone = MatrixNeuralGas(1, normalization=normalization).fit(X[:1])
    assert_array_equal(alone.prototypes_, X[:1])
    assert np.isfinite(alone.distances(X)).all()


@pytest.mark.parametrize("estimator", [MatrixKMeans(2), MatrixNeuralGas(2), MatrixSOM((1, 2))], ids=repr)
def test_in_one_dimension_determinant_one_is_euclidean(estimator):
    X = np.random.default_rng(0).normal(size=(50, 1))
    fitted = clone(estimator).set_params(random_state=0).fit(X)
    assert_allclose(fitted.distances(X), (X - fitted.prototypes_.T) ** 2, atol=1e-12)


def test_automatic_lattice_leaves_samples_for_the_matrices():
    X = np.random.default_rng(0).normal(size=(600, 5))
    for q in (None, 2):
        n_nodes = MatrixSOM(n_components=q, max_iter=3).fit(X).lattice_.n_nodes
        assert 10 < n_nodes <= len(X) / (4 * (q or 5))


def test_epsilon_is_relative_to_features_in_their_own_units():
    """A feature in other units does not make the others count as constant."""
    X = clusters(19)
    plain = MatrixNeuralGas(4, init=X[::60], metric_init="covariance").fit(X)
    other = MatrixNeuralGas(4, init=X[::60] * [1, 1e6, 1e-6], metric_init="covariance").fit(X * [1, 1e6, 1e-6])
    assert_array_equal(other.labels_, plain.labels_)
    assert_array_equal(other.floored_, 0)
    scale = np.array([1, 1e6, 1e-6])
    assert_allclose(other.covariances_ / np.outer(scale, scale), plain.covariances_, rtol=1e-6, atol=1e-8)


def test_reseeded_prototypes_win_samples():
    X = clusters(20)
    init = np.vstack([X[:3], [[1e3] * 3]])
    kept = MatrixKMeans(4, init=init).fit(X)
    moved = MatrixKMeans(4, init=init, neighborhood=Winner("reseed")).fit(X)
    assert kept.multiplicities_[3] == 0
    assert kept.weights_[3] == 0
    assert moved.multiplicities_.min() > 0
    assert np.isfinite(kept.score(X))
    assert np.isfinite(moved.score(X))
