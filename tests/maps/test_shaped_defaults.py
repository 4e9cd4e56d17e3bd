"""What maps with shapes do by themselves: their size, what they assume before the samples, gaps, units, starts."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from protolearn import (
    NGPCA,
    VQPCA,
    MatrixKMeans,
    MatrixNeuralGas,
    MatrixSOM,
    MixturePPCA,
    NeuralGas,
    PrototypeClassifier,
)
from protolearn.core.initialization import resolutions
from protolearn.core.lattices import chain
from protolearn.core.loop import anneal
from protolearn.core.neighborhoods import OnLattice, Ranks, Winner
from protolearn.core.prototypes import Matrix, Subspace
from protolearn.core.shapes import Prior, ShapeRule, Shapes, principal_shapes
from protolearn.core.sources import ArraySource

BATCH = [
    MatrixKMeans(3, random_state=0),
    MatrixNeuralGas(3, max_iter=15, random_state=0),
    MatrixNeuralGas(3, normalization="logdet", max_iter=15, random_state=0),
    MatrixSOM((1, 3), max_iter=15, random_state=0),
    NGPCA(3, 2, algorithm="batch", max_iter=15, random_state=0),
    VQPCA(3, 2, max_iter=15, tol=0, random_state=0),
    MixturePPCA(3, 2, max_iter=15, tol=1e-4, random_state=0),
]
each_batch = pytest.mark.parametrize("estimator", BATCH, ids=repr)


def three_groups(seed=0, n=300):
    """Three round groups, and which is which."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    return np.array([[0, 0, 0], [6, 0, 0], [0, 6, 0]])[group] + rng.normal(size=(n, 3)) * [1, 1, 0.5], group


def with_gaps(X, share=0.2, seed=0):
    """Samples with values missing at random, at least one of each sample left."""
    gaps = np.random.default_rng(seed).random(X.shape) < share
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, X), gaps


# Size


@pytest.mark.parametrize(
    ("estimator", "n", "size"),
    [
        (MatrixKMeans(), 300, 8),
        (MatrixNeuralGas(max_iter=2), 60, 5),
        (MatrixKMeans(), 12, 1),
        (MatrixKMeans(), 3, 1),
        (MatrixKMeans(n_components=1), 12, 3),
        (NGPCA(n_steps=100), 40, 5),
        (NGPCA(algorithm="batch", max_iter=2), 40, 5),
        (VQPCA(), 20, 5),
        (MixturePPCA(), 9, 2),
    ],
    ids=repr,
)
def test_four_samples_for_each_direction(estimator, n, size):
    X = np.random.default_rng(0).normal(size=(n, 3))
    fitted = clone(estimator).set_params(random_state=0).fit(X)
    assert len(fitted.prototypes_) == size
    repeated = clone(fitted).fit(np.repeat(X, 3, axis=0))  # the same samples tell no more
    assert len(repeated.prototypes_) == size
    assert clone(fitted).set_params(n_prototypes=2).get_params()["n_prototypes"] == 2


def test_the_first_patch_decides_the_size():
    X = np.random.default_rng(0).normal(size=(200, 3))
    for estimator in (MatrixKMeans(random_state=0), NGPCA(random_state=0), NGPCA(algorithm="batch", random_state=0)):
        stream = estimator.partial_fit(X[:30]).partial_fit(X[30:])
        assert len(stream.prototypes_) == 30 // (4 * stream.components_.shape[1])


def test_sizes_that_are_neither_number_nor_auto_are_refused():
    X = np.zeros((4, 2))
    for size in ("many", 0, 2.5):
        for kind in (MatrixKMeans, MatrixNeuralGas, NGPCA, VQPCA, MixturePPCA):
            with pytest.raises(ValueError, match="n_prototypes="):
                kind(size).fit(X)


def test_a_lattice_has_about_a_dozen_nodes():
    assert MatrixSOM(max_iter=2).fit(scale(load_wine().data)).lattice_.n_nodes >= 9
    assert MatrixSOM(max_iter=2).fit(scale(load_wine().data)[:16]).lattice_.n_nodes <= 4


@pytest.mark.parametrize("estimator", [MatrixKMeans(), MatrixNeuralGas(3), NGPCA(), VQPCA(2), NeuralGas(5)], ids=repr)
def test_small_classes_have_fewer_prototypes(estimator):
    X, y = load_iris(return_X_y=True)
    few = np.r_[0:50, 50:52, 100:150]
    classifier = PrototypeClassifier(estimator.set_params(random_state=0), per_class=True).fit(X[few], y[few])
    assert len(classifier.estimators_[1].prototypes_) <= 2
    assert classifier.score(X[few], y[few]) > 0.95


# What is assumed before the samples


@pytest.mark.parametrize("neighborhood", [Winner(), Ranks(), OnLattice(chain(3))], ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("rule", [ShapeRule(3), ShapeRule(3, "logdet"), ShapeRule(3, shared=True)], ids=repr)
def test_the_cost_with_the_prior_never_rises(rule, neighborhood):
    X, _ = three_groups(1, 60)
    prior = Prior(2.0, np.array([0.5, 3.0, 0.1]))
    rule = ShapeRule(3, rule.measure, "prior", shared=rule.shared, prior=prior)
    source = ArraySource(X, quadratic=True)
    first = Shapes(np.tile(np.eye(3), (3, 1, 1)), np.ones((3, 3)), np.ones(3))
    start = Matrix(source.rows(np.array([0, 1, 2])), source.metric, first, rule)
    costs = [step.cost for step in anneal(start, neighborhood, source, np.full(12, 0.5))]
    assert np.diff(costs).max() <= 1e-10 * abs(costs[0])
    assert costs[-1] < costs[0]


def test_covariances_are_those_of_samples_and_prior():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 7.0, 0.2]
    fitted = MatrixKMeans(1).fit(X)
    assert_allclose(
        fitted.covariances_[0], (50 * np.cov(X.T, bias=True) + 0.1 * np.diag(X.var(axis=0))) / 50.1, rtol=1e-6
    )
    steps = np.column_stack([X, rng.integers(0, 2, 50)])
    found = MatrixKMeans(1).fit(steps).covariances_[0, 3, 3]
    assert_allclose(found, steps[:, 3].var() + 50 / 50.1 / 12, rtol=1e-9)


def test_whole_and_sketched_covariances_have_the_same_prior():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) * [5.0, 3.0, 1.0, 0.5, 0.2]
    prior = Prior(3.0, rng.random(5))
    rule = ShapeRule(5, "logdet", "prior", prior=prior)
    axes, values = np.linalg.qr(rng.normal(size=(5, 5)))[0][None], np.full((1, 5), 2.0)
    whole, sketched = ArraySource(X, quadratic=True), ArraySource(X)
    first = Shapes(axes, values, np.ones(1))
    a = Matrix(np.zeros((1, 5)), whole.metric, first, rule)
    b = Subspace(np.zeros((1, 5)), sketched.metric, first, rule)
    sums = [Winner().gather(*pair, 0.0) for pair in ((a, whole), (b, sketched))]
    assert_allclose(a.cost(sums[0]), b.cost(sums[1]))
    assert_allclose(a.update(sums[0]).shapes.covariances, b.update(sums[1]).shapes.covariances)


def test_traces_are_those_of_the_forms():
    rng = np.random.default_rng(0)
    shapes, _ = principal_shapes(np.array([np.cov(rng.normal(size=(4, 20))) for _ in range(2)]), ShapeRule(2))
    scatter = rng.random(4)
    for measure in ("det", "logdet", "none", "reconstruction"):
        expected = [np.trace(form @ np.diag(scatter)) for form in shapes.forms(measure)]
        assert_allclose(shapes.traces(measure, scatter), expected)


def test_steps_of_features():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.integers(0, 17, 900), rng.normal(size=900), np.full(900, 3.0), rng.integers(0, 2, 900) / 4]
    )
    assert_allclose(resolutions(ArraySource(X)), [1.0, 0.0, 0.0, 0.25])
    assert_allclose(resolutions(ArraySource(X, scale=np.full(4, 2.0))), [2.0, 0.0, 0.0, 0.5])
    gaps = X == 0.25
    assert_allclose(resolutions(ArraySource(X, gaps=gaps)), [1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("kind", [MatrixKMeans, MatrixNeuralGas])
def test_a_column_of_yes_and_no_does_not_hide_the_groups(kind):
    """One group has no for all; nothing else in the column tells of groups."""
    for seed in range(3):
        X, group = three_groups(seed)
        answer = np.where(group == 0, 0, np.random.default_rng(seed).integers(0, 2, 300))
        fitted = kind(3, n_init=3, random_state=0).fit(np.column_stack([X, answer]))
        assert adjusted_rand_score(group, fitted.labels_) > 0.9


def test_digits_with_fewer_samples_than_parameters():
    X, y = load_digits(return_X_y=True)
    fitted = MatrixKMeans(10, max_iter=20, random_state=0).fit(X[:800])
    assert adjusted_rand_score(y[:800], fitted.labels_) > 0.55


def test_a_warning_where_most_of_a_shape_is_not_learned():
    X = np.random.default_rng(0).normal(size=(60, 20))
    with pytest.warns(UserWarning, match="fewer prototypes"):
        MatrixKMeans(12, regularization="floor", random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MatrixKMeans(random_state=0).fit(X)
        MatrixKMeans(3, n_components=2, random_state=0).fit(X)
        MatrixNeuralGas(3, max_iter=5, random_state=0).fit(load_iris().data)


# Gaps


@pytest.mark.parametrize(
    "estimator", [MatrixKMeans(1), MatrixNeuralGas(1, max_iter=20), MixturePPCA(1, 2), NGPCA(1, 2, algorithm="batch")]
)
def test_the_covariance_of_samples_with_gaps(estimator):
    rng = np.random.default_rng(0)
    covariance = np.array([[2.0, 1.2, 0.5], [1.2, 1.5, -0.3], [0.5, -0.3, 1.0]])
    X = rng.multivariate_normal([1, 2, 3], covariance, 400)
    gappy, gaps = with_gaps(X, 0.25)
    filled = np.where(gaps, np.nanmean(gappy, axis=0), X)
    fitted = clone(estimator).fit(gappy)
    error = np.abs(fitted.covariances_[0] - np.cov(X.T)).max()
    assert error < 0.2 * np.abs(np.cov(filled.T) - np.cov(X.T)).max()
    assert_allclose(fitted.prototypes_[0], X.mean(axis=0), atol=0.1)


@each_batch
def test_samples_without_gaps_are_as_before(estimator):
    """One more sample with a gap, of no weight, changes nothing."""
    X, _ = three_groups(2, 90)
    more = np.vstack([X, [[np.nan, 1.0, 2.0]]])
    plain = clone(estimator).fit(X)
    same = clone(estimator).fit(more, sample_weight=np.r_[np.ones(90), 0.0])
    assert_array_equal(same.prototypes_, plain.prototypes_)
    assert_array_equal(same.covariances_, plain.covariances_)
    assert_array_equal(same.labels_[:90], plain.labels_)


def test_the_likelihood_of_samples_with_gaps_never_falls():
    X, _ = three_groups(3)
    gappy, gaps = with_gaps(X)
    mixture = MixturePPCA(3, 1, max_iter=40, tol=0, random_state=0).fit(gappy)
    costs = np.array(mixture.cost_history_)
    assert np.diff(costs).max() <= 1e-9 * abs(costs[0])
    assert costs[-1] < costs[0] - 1
    constant = 0.5 * np.log(2 * np.pi) * (~gaps).sum()
    assert_allclose(-mixture.score_samples(gappy).sum(), costs[-1] + constant, rtol=1e-3)


@each_batch
def test_densities_and_winners_of_known_parts(estimator):
    X, _ = three_groups(4)
    gappy, _ = with_gaps(X)
    fitted = clone(estimator).fit(gappy)
    assert_array_equal(fitted.predict(gappy), fitted.labels_)
    assert fitted.distances(gappy).shape == (300, 3)
    expected = [
        np.log(
            sum(
                share * multivariate_normal(m[known], c[np.ix_(known, known)]).pdf(x[known])
                for share, m, c in zip(fitted.weights_, fitted.prototypes_, fitted.covariances_)
            )
        )
        for x in gappy[:20]
        for known in [~np.isnan(x)]
    ]
    assert_allclose(fitted.score_samples(gappy[:20]), expected, rtol=1e-6)
    whole = np.isfinite(gappy).all(axis=1)
    assert_allclose(fitted.distances(gappy)[whole], fitted.distances(gappy[whole]), rtol=1e-9, atol=1e-9)


def test_groups_are_found_with_gaps():
    X, y = load_iris(return_X_y=True)
    gappy, gaps = with_gaps(X, 0.15)
    found = MatrixNeuralGas(3, random_state=0).fit_predict(gappy)
    guessed = MatrixNeuralGas(3, random_state=0).fit_predict(np.where(gaps, np.nanmean(gappy, axis=0), X))
    assert adjusted_rand_score(y, found) > max(0.8, adjusted_rand_score(y, guessed))


# Units


@pytest.mark.parametrize("exponent", [-200, -30, 30, 200])
@pytest.mark.parametrize("estimator", [*BATCH, NGPCA(3, 2, n_steps=300, random_state=0)], ids=repr)
def test_any_unit(estimator, exponent):
    X, _ = three_groups(5, 90)
    plain, other = clone(estimator).fit(X), clone(estimator).fit(np.ldexp(X, exponent))
    assert_array_equal(other.labels_, plain.labels_)
    assert_allclose(np.ldexp(other.prototypes_, -exponent), plain.prototypes_, rtol=1e-9)
    assert_allclose(np.ldexp(other.covariances_, -2 * exponent), plain.covariances_, rtol=1e-7, atol=1e-9)
    assert_allclose(other.score(np.ldexp(X, exponent)) + 3 * exponent * np.log(2), plain.score(X), atol=1e-9)


@each_batch
def test_samples_and_their_copies_have_the_same_winners(estimator):
    X, _ = three_groups(6, 120)
    X[::3] = X[1::3]
    fitted = clone(estimator)
    if "patches" in fitted.get_params():
        fitted.set_params(patches__size=40)
    fitted.fit(X)
    assert_array_equal(fitted.predict(X), fitted.labels_)
    assert_array_equal(fitted.labels_[::3], fitted.labels_[1::3])
