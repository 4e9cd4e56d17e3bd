"""VQPCA and mixtures of PPCA against slow oracles, scikit-learn's mixtures, and the theory of their costs."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from experiments.datasets import make_spiral_gaussian
from protolearn import NGPCA, VQPCA, KMeans, MixturePPCA
from protolearn.datasets import make_vortex

seeds = st.integers(0, 10_000)
BOTH = [VQPCA(3, 2, random_state=0), MixturePPCA(3, 2, random_state=0)]
each = pytest.mark.parametrize("estimator", BOTH, ids=repr)


def clouds(seed=0, n=240, d=4, far=2.0):
    """Three flat clusters of different direction, all features with mean zero and variance one."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(size=(n // 3, d)) * np.r_[3.0, 1.0, np.full(d - 2, 0.3)] @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        + far * rng.normal(size=d)
        for _ in range(3)
    ]
    X = np.vstack(parts)
    return (X - X.mean(axis=0)) / X.std(axis=0)


# VQPCA: Kambhatla and Leen 1997


def slow_vqpca(X, W, q, n_epochs, euclidean=False):
    """Generalized Lloyd; directions start along the first features."""
    k, d = W.shape
    W, axes = W.copy(), [np.eye(q, d) for _ in range(k)]
    for _ in range(n_epochs):
        gaps = X[:, None] - W
        lost = (gaps**2).sum(axis=2)
        if not euclidean:
            lost -= np.stack([((gaps[:, i] @ axes[i].T) ** 2).sum(axis=1) for i in range(k)], axis=1)
        labels = lost.argmin(axis=1)
        for i in range(k):
            own = X[labels == i]
            W[i] = own.mean(axis=0)
            axes[i] = np.linalg.eigh(np.cov(own.T, bias=True))[1][:, ::-1][:, :q].T
    return W, axes


@pytest.mark.parametrize("measure", ["reconstruction", "euclidean"])
def test_vqpca_against_the_oracle(measure):
    X = clouds()
    start = X[[0, 80, 160]]
    local = VQPCA(3, 2, measure=measure, init=start, max_iter=4, tol=0.0).fit(X)
    assert local.n_iter_ == 4
    W, axes = slow_vqpca(X, start, 2, 4, measure == "euclidean")
    assert_allclose(local.prototypes_, W, atol=1e-9)
    for found, expected in zip(local.components_, axes):
        assert_allclose(found.T @ found, expected.T @ expected, atol=1e-8)  # the same plane


@given(seeds, st.integers(1, 3), st.sampled_from(["reconstruction", "euclidean"]))
@settings(max_examples=15)
def test_vqpca_cost_never_rises(seed, q, measure):
    X = clouds(seed)
    local = VQPCA(4, q, measure=measure, init="random", tol=0.0, random_state=seed).fit(X)
    costs = np.array(local.cost_history_)
    assert np.diff(costs).max(initial=0.0) <= 1e-9 * len(X)
    lost = ((X - local.inverse_transform(local.transform(X))) ** 2).sum()
    if measure == "reconstruction":
        assert_allclose(local.distances(X).min(axis=1).sum(), lost, atol=1e-7)
        assert 0.5 * lost <= costs[-1] + 1e-7


@pytest.mark.parametrize("seed", range(5))
def test_vqpca_cost_never_rises_in_many_dimensions(seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(60, 4)) @ rng.normal(size=(4, 80)) + rng.normal(size=80) for _ in range(3)])
    X += 0.5 * rng.normal(size=X.shape)
    costs = np.array(VQPCA(3, 4, random_state=seed, tol=0.0, max_iter=60).fit(X).cost_history_)
    assert np.diff(costs).max() <= 1e-9 * costs[0]
    assert costs[-1] < 0.9 * costs[0]


@pytest.mark.parametrize("d", [5, 70])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_of_equal_subspaces_the_nearest_center_wins(d, shift):
    """On a plane every subspace is that plane: rounding must not decide where samples go."""
    rng = np.random.default_rng(d)
    X = rng.uniform(size=(300, 2)) * [4.0, 1.0] @ np.linalg.qr(rng.normal(size=(d, 2)))[0].T + shift
    local = VQPCA(6, 2, random_state=0).fit(X)
    assert_array_equal(local.labels_, cdist(X, local.prototypes_).argmin(axis=1))
    assert_array_equal(local.predict(X), local.labels_)
    assert_allclose(local.distances(X), 0.0, atol=1e-11)  # which the rule does not change
    assert_allclose(local.distances(X, "pair")[:, :, 1], 0.0, atol=1e-11)
    assert_allclose(local.omegas_ @ np.swapaxes(local.components_, 1, 2), 0.0, atol=1e-7)


@pytest.mark.parametrize("d", [5, 70])
def test_one_subspace_is_pca(d):
    X = clouds(1, d=d)
    local, pca = VQPCA(1, 2, random_state=0, tol=0.0).fit(X), PCA(2).fit(X)
    assert_allclose(local.prototypes_[0], X.mean(axis=0), atol=1e-10)
    assert_allclose(local.variances_[0], pca.explained_variance_ * (len(X) - 1) / len(X), rtol=1e-6)
    assert_allclose(np.abs((local.components_[0] * pca.components_).sum(axis=1)), 1, atol=1e-6)
    assert_allclose(local.inverse_transform(local.transform(X)), pca.inverse_transform(pca.transform(X)), atol=1e-3)


def test_by_the_center_it_is_k_means():
    X = clouds(2)
    local = VQPCA(4, 2, measure="euclidean", init=X[::60], tol=0.0).fit(X)
    kmeans = KMeans(4, init=X[::60], tol=0.0).fit(X)
    assert_allclose(local.prototypes_, kmeans.prototypes_, atol=1e-9)
    assert_array_equal(local.labels_, kmeans.labels_)
    for i in range(4):
        covariance = np.cov(X[local.labels_ == i].T, bias=True)
        assert_allclose(local.variances_[i], np.linalg.eigvalsh(covariance)[::-1][:2], rtol=1e-6)


def test_vqpca_compresses_better_than_one_plane():
    X = make_vortex(random_state=0)[0]
    losses = [
        ((X - model.inverse_transform(model.transform(X))) ** 2).sum()
        for model in (VQPCA(20, 1, random_state=0).fit(X), PCA(1).fit(X))
    ]
    assert losses[0] < 0.05 * losses[1]


# Mixtures of PPCA: Tipping and Bishop 1999


def slow_mixture(X, W, q, n_epochs):
    """Expectation maximization with the M-step of the paper; starts with unit covariances and equal shares."""
    k, d = W.shape
    W, covariances, shares = W.copy(), [np.eye(d) for _ in range(k)], np.full(k, 1 / k)
    for _ in range(n_epochs):
        logs = np.column_stack([multivariate_normal(m, c).logpdf(X) for m, c in zip(W, covariances)]) + np.log(shares)
        R = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        shares = R.mean(axis=0)
        for i in range(k):
            W[i] = R[:, i] @ X / R[:, i].sum()
            values, vectors = np.linalg.eigh((X - W[i]).T @ (R[:, i : i + 1] * (X - W[i])) / R[:, i].sum())
            values, vectors = values[::-1], vectors[:, ::-1]
            noise = values[q:].mean() if q < d else 0.0
            loadings = vectors[:, :q] * np.sqrt(values[:q] - noise)
            covariances[i] = loadings @ loadings.T + noise * np.eye(d)
    return W, np.array(covariances), shares


@pytest.mark.parametrize("q", [1, 2, 4])
def test_mixture_against_the_oracle(q):
    X = clouds(3)
    start = X[[0, 80, 160]]
    mixture = MixturePPCA(3, q, init=start, max_iter=6, tol=0.0).fit(X)
    W, covariances, shares = slow_mixture(X, start, q, 6)
    assert_allclose(mixture.prototypes_, W, atol=1e-8)
    assert_allclose(mixture.covariances_, covariances, atol=1e-8)
    assert_allclose(mixture.weights_, shares, atol=1e-9)


@pytest.mark.parametrize("n_epochs", [1, 20])
def test_mixture_with_all_directions_is_that_of_scikit_learn(n_epochs):
    X = clouds(4)
    start = X[[0, 80, 160]]
    other = GaussianMixture(
        3,
        means_init=start,
        weights_init=np.full(3, 1 / 3),
        precisions_init=np.tile(np.eye(4), (3, 1, 1)),
        max_iter=n_epochs,
        tol=0.0,
        reg_covar=0.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        other.fit(X)
    mixture = MixturePPCA(3, 4, init=start, max_iter=n_epochs, tol=0.0).fit(X)
    assert_allclose(mixture.prototypes_, other.means_, atol=1e-8)
    assert_allclose(mixture.covariances_, other.covariances_, atol=1e-8)
    assert_allclose(mixture.weights_, other.weights_, atol=1e-9)
    assert_allclose(mixture.score_samples(X), other.score_samples(X), atol=1e-7)
    assert_array_equal(mixture.predict(X), other.predict(X))


@given(seeds, st.integers(1, 4))
@settings(max_examples=15)
def test_likelihood_never_falls(seed, q):
    X = clouds(seed)
    mixture = MixturePPCA(3, q, init="random", max_iter=40, tol=0.0, epsilon=1e-9, random_state=seed).fit(X)
    costs = np.array(mixture.cost_history_)
    assert np.diff(costs).max() <= 1e-8 * np.abs(costs).max()


def test_cost_is_the_negative_log_likelihood():
    X = clouds(5)
    weights = np.random.default_rng(0).random(len(X))
    options = {"init": X[[0, 80, 160]], "tol": 0.0}
    longer = MixturePPCA(3, 1, max_iter=8, **options).fit(X, sample_weight=weights)
    mixture = MixturePPCA(3, 1, max_iter=5, **options).fit(X, sample_weight=weights)
    likelihood = weights @ mixture.score_samples(X)
    constant = 0.5 * 4 * np.log(2 * np.pi) * weights.sum()
    assert_allclose(longer.cost_history_[5], -likelihood - constant)
    assert_allclose(mixture.score(X, sample_weight=weights), likelihood / weights.sum())


def test_mixture_in_many_dimensions_finds_the_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 3)) @ rng.normal(size=(3, 80)) + rng.normal(size=80) for _ in range(3)])
    X += 0.5 * rng.normal(size=X.shape)
    mixture = MixturePPCA(3, 3, random_state=0).fit(X)
    assert sorted(mixture.multiplicities_) == [100, 100, 100]
    assert_allclose(mixture.weights_, 1 / 3, atol=1e-6)
    assert_allclose(mixture.residual_variances_, 0.25, rtol=0.1)
    for i in range(3):
        own = X[mixture.labels_ == i]
        values = np.linalg.eigvalsh(np.cov(own.T, bias=True))[::-1]
        assert_allclose(mixture.variances_[i], values[:3], rtol=1e-3)


def test_spiral_of_the_paper():
    """Moeller and Hoffmann 2004, section 4.1.5: between -1.48 and -1.43, as neural gas with local PCA."""
    scores = []
    for seed in range(3):
        X = make_spiral_gaussian(random_state=seed)[0]
        scores.append(MixturePPCA(8, 1, n_init=2, random_state=seed).fit(X).score(X))
    assert -1.53 < np.mean(scores) < -1.36


def test_mixture_is_a_start_for_itself():
    """A converged mixture is a fixed point."""
    X = clouds(6)
    mixture = MixturePPCA(3, 2, tol=1e-12, max_iter=2000, random_state=0).fit(X)
    again = MixturePPCA(3, 2, tol=1e-12, max_iter=4000, random_state=0).fit(X)
    assert_array_equal(again.prototypes_, mixture.prototypes_)
    assert mixture.n_iter_ < 2000


# Both


@each
def test_weight_two_is_the_sample_twice(estimator):
    X = clouds(7)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = clone(estimator).fit(X, sample_weight=weights)
    repeated = clone(estimator).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.prototypes_, repeated.prototypes_, atol=1e-7)
    assert_allclose(weighted.covariances_, repeated.covariances_, atol=1e-7)
    assert_allclose(weighted.weights_, repeated.weights_, atol=1e-9)


@each
def test_scale_place_and_direction_of_the_data(estimator):
    """Rotations too, with a given start."""
    X = clouds(8)
    start = X[[0, 80, 160]]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    plain = clone(estimator).fit(X)
    scaled = clone(estimator).fit(1e3 * X + 5e3)
    assert_allclose(scaled.prototypes_, 1e3 * plain.prototypes_ + 5e3, rtol=1e-6)
    assert_allclose(scaled.score(1e3 * X + 5e3), plain.score(X) - 4 * np.log(1e3), rtol=1e-6)
    if isinstance(estimator, MixturePPCA):  # directions of VQPCA start along features
        given_start = clone(estimator).set_params(init=start, max_iter=20).fit(X)
        turned = clone(estimator).set_params(init=start @ turn, max_iter=20).fit(X @ turn)
        assert_allclose(turned.prototypes_, given_start.prototypes_ @ turn, atol=1e-7)


@each
def test_several_starts_keep_the_best(estimator):
    X = clouds(9, far=0.5)
    model = clone(estimator).set_params(n_prototypes=5, init="random")
    one, many = clone(model).fit(X), clone(model).set_params(n_init=8).fit(X)
    assert many.cost_history_[-1] <= one.cost_history_[-1]


@each
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("data", ["constant column", "all constant", "two points", "on a line"])
def test_degenerate_data_give_finite_maps(estimator, data):
    X = clouds(10)
    if data == "constant column":
        X[:, 1] = 5
    elif data == "all constant":
        X[:] = 5
    elif data == "two points":
        X = np.repeat(X[:2], 30, axis=0)
    else:
        X = X[:, :1] * [1.0, 2.0, 3.0, 4.0]
    fitted = clone(estimator).fit(X)
    for name in ("prototypes_", "components_", "variances_", "residual_variances_", "cost_history_", "weights_"):
        assert np.isfinite(getattr(fitted, name)).all(), name
    assert np.isfinite(fitted.distances(X)).all()
    assert np.isfinite(fitted.score_samples(X)).all()


@each
def test_bad_input_is_refused(estimator):
    X = clouds()
    for name, value in (("n_prototypes", 0), ("n_components", 0), ("tol", -1.0), ("max_iter", 0), ("init", "best")):
        with pytest.raises(ValueError, match=name):
            clone(estimator).set_params(**{name: value}).fit(X)
    with pytest.raises(ValueError, match="n_components=5 is more than the 4 features"):
        clone(estimator).set_params(n_components=5).fit(X)
    with pytest.raises(ValueError, match="fewer than the 3 prototypes"):
        clone(estimator).fit(X[:2])
    with pytest.raises(ValueError, match="n_components=4 with n_features=4 lets every prototype reconstruct"):
        VQPCA(3, 4).fit(X)
    with pytest.raises(ValueError, match="measure='combined' must be one of"):
        VQPCA(3, 1, measure="combined").fit(X)


def test_batch_neural_gas_with_local_pca_is_no_worse_a_start_than_k_means():
    """The three local models agree on data that leave no choice."""
    X = clouds(11, far=8.0)
    models = [
        NGPCA(3, 2, algorithm="batch", random_state=0).fit(X),
        MixturePPCA(3, 2, random_state=0).fit(X),
        VQPCA(3, 2, measure="euclidean", random_state=0).fit(X),
    ]
    for model in models:
        assert_array_equal(np.sort(model.multiplicities_), [80, 80, 80])
    scores = [model.score(X) for model in models]
    assert_allclose(scores, scores[0], atol=0.02)
