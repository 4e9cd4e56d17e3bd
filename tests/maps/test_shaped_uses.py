"""What a fitted shape is good for: distances, densities, completed vectors, codes, one map for each class."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
from protolearn.maps import _ellipsoids

seeds = st.integers(0, 10_000)
MAPS = [
    MatrixKMeans(3, random_state=0),
    MatrixNeuralGas(3, max_iter=10, random_state=0),
    MatrixNeuralGas(3, max_iter=10, normalization="logdet", random_state=0),
    MatrixNeuralGas(3, max_iter=10, normalization="none", scope="global", random_state=0),
    MatrixNeuralGas(3, max_iter=10, n_components=1, random_state=0),
    MatrixNeuralGas(3, max_iter=10, n_components=2, selection="optimal", random_state=0),
    MatrixSOM((1, 3), max_iter=10, random_state=0),
    NGPCA(3, 1, n_steps=2000, random_state=0),
    NGPCA(3, 4, n_steps=2000, random_state=0),
    NGPCA(3, 2, measure="mahalanobis", n_steps=2000, random_state=0),
    NGPCA(3, 2, measure="reconstruction", algorithm="batch", max_iter=5, random_state=0),
    NGPCA(3, 2, measure="euclidean", algorithm="two-stage", n_steps=2000, random_state=0),
    VQPCA(3, 2, random_state=0),
    VQPCA(3, 4, measure="euclidean", random_state=0),
    MixturePPCA(3, 2, random_state=0),
]
each_map = pytest.mark.parametrize("estimator", MAPS, ids=repr)
DENSE = [MAPS[1], MAPS[4], MAPS[7], MAPS[8], MAPS[14]]
each_density = pytest.mark.parametrize("estimator", DENSE, ids=repr)


def samples(seed=0, n=240, d=4):
    """Three flat clusters, features in different units."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(size=(n // 3, d)) * [3.0, 1.0, 0.3, 0.1][:d] @ np.linalg.qr(rng.normal(size=(d, d)))[0]
        + 3 * rng.normal(size=d)
        for _ in range(3)
    ]
    return np.vstack(parts) * [1.0, 10.0, 0.5, 2.0][:d]


def mixture_of(fitted):
    """The map as normal distributions of scipy, with their shares."""
    normals = [multivariate_normal(m, c) for m, c in zip(fitted.prototypes_, fitted.covariances_)]
    return fitted.weights_, normals


# Distances


def slow_distances(fitted, X):
    """Every measure by its definition, from the stored attributes alone."""
    measure = getattr(fitted, "measure", getattr(fitted, "normalization", "combined"))
    result = np.empty((len(X), len(fitted.prototypes_)))
    for i, (mean, covariance) in enumerate(zip(fitted.prototypes_, fitted.covariances_)):
        gaps = X - mean
        inverse, volume = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
        whole = np.einsum("nd,de,ne->n", gaps, inverse, gaps)
        along = gaps @ fitted.components_[i].T
        if measure in ("combined", "logdet"):
            result[:, i] = whole + volume
        elif measure == "det":
            result[:, i] = whole * np.exp(volume / X.shape[1])
        elif measure == "none":
            result[:, i] = whole
        elif measure == "mahalanobis":
            result[:, i] = (along**2 / fitted.variances_[i]).sum(axis=1) + np.log(fitted.variances_[i]).sum()
        elif measure == "reconstruction":
            result[:, i] = ((gaps - along @ fitted.components_[i]) ** 2).sum(axis=1)
        else:
            result[:, i] = (gaps**2).sum(axis=1)
        if isinstance(fitted, MixturePPCA):
            result[:, i] -= 2 * np.log(fitted.weights_[i])
    return result


@each_map
def test_distances_are_those_of_the_stored_shapes(estimator):
    X = samples()
    fitted = clone(estimator).fit(X)
    expected = slow_distances(fitted, X)
    assert_allclose(fitted.distances(X), expected, rtol=1e-6, atol=1e-6)
    assert_array_equal(fitted.predict(X), expected.argmin(axis=1))
    assert_array_equal(fitted.labels_, fitted.predict(X))
    assert_allclose(fitted.weights_.sum(), 1.0)


@each_map
def test_no_sample_is_measured_by_others(estimator):
    """Distances, densities and codes of one sample at a time are those of all at once."""
    X = samples(1)
    fitted = clone(estimator).fit(X)
    for method in (fitted.distances, fitted.score_samples, fitted.transform):
        assert_allclose(np.concatenate([method(X[j : j + 1]) for j in range(5)]), method(X)[:5], atol=1e-8)


# Density


@each_map
def test_density_is_that_of_a_mixture_of_normals(estimator):
    X = samples(2)
    fitted = clone(estimator).fit(X)
    shares, normals = mixture_of(fitted)
    logs = np.column_stack([np.log(share) + normal.logpdf(X) for share, normal in zip(shares, normals)])
    assert_allclose(fitted.score_samples(X), logsumexp(logs, axis=1), rtol=1e-7, atol=1e-7)
    weights = np.random.default_rng(0).random(len(X))
    assert_allclose(fitted.score(X), fitted.score_samples(X).mean())
    assert_allclose(fitted.score(X, sample_weight=weights), np.average(fitted.score_samples(X), weights=weights))


@pytest.mark.parametrize(
    "estimator",
    [MatrixNeuralGas(4, max_iter=10), MatrixNeuralGas(4, n_components=1, max_iter=10), NGPCA(4, 1, n_steps=2000)],
    ids=repr,
)
def test_density_adds_up_to_one(estimator):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)) @ [[1.0, 0.8], [0.0, 0.3]] + center for center in ([0, 0], [4, 1])])
    fitted = clone(estimator).set_params(random_state=0).fit(X)
    axis = np.linspace(-12, 14, 521)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert_allclose(np.exp(fitted.score_samples(grid)).sum() * (axis[1] - axis[0]) ** 2, 1.0, atol=1e-3)


def test_a_prototype_without_samples_has_no_density():
    X = samples(3)
    kmeans = MatrixKMeans(3, init=np.vstack([X[0], X[100], X[0] + 1e4])).fit(X)
    assert kmeans.weights_[2] == 0
    assert np.isfinite(kmeans.score_samples(X)).all()
    assert not np.isnan(kmeans.score_samples(X[:1] + 1e4)).any()


# Completion


def slow_completion(x, mean, covariance):
    """Most likely values of what is missing, Mahalanobis distance and ln det of what is known."""
    gap = np.isnan(x)
    known = covariance[np.ix_(~gap, ~gap)]
    solved = np.linalg.solve(known, (x - mean)[~gap])
    filled = x.copy()
    filled[gap] = mean[gap] + covariance[np.ix_(gap, ~gap)] @ solved
    return filled, (x - mean)[~gap] @ solved, np.linalg.slogdet(known)[1]


def with_gaps(X, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    gaps = rng.random(X.shape) < share
    gaps[gaps.all(axis=1), 0] = False
    return np.where(gaps, np.nan, X)


@each_map
def test_normalized_distances_are_logarithms_of_normal_densities(estimator):
    """Sung and Poggio's distance, and their pair: the same along the axes, and the squared distance from them."""
    X = samples()
    fitted = clone(estimator).fit(X)
    normal, pair = fitted.distances(X, "normal"), fitted.distances(X, "pair")
    assert pair.shape == (len(X), 3, 2)
    constants = fitted.n_dimensions_ * np.log(2.0 * np.pi)
    assert_allclose(0.5 * (fitted.distances(X, "logdet") + constants), normal, rtol=1e-12, atol=1e-12)
    for i, (center, axes, variances) in enumerate(zip(fitted.prototypes_, fitted.components_, fitted.variances_)):
        expected = -multivariate_normal(center, fitted.covariances_[i]).logpdf(X)
        assert_allclose(normal[:, i], expected, rtol=1e-6, atol=1e-6)
        inner = (X - center) @ axes.T
        expected = -multivariate_normal(np.zeros(len(axes)), np.diag(variances)).logpdf(inner)
        assert_allclose(pair[:, i, 0], expected, rtol=1e-6, atol=1e-6)
        residual = ((X - center) ** 2).sum(axis=1) - (inner**2).sum(axis=1)
        assert_allclose(pair[:, i, 1], residual, rtol=1e-6, atol=1e-6)
    assert_array_equal(fitted.distances(X), fitted.distances(X, None))
    with pytest.raises(ValueError, match="measure='sung' must be one of 'normal', 'logdet', 'pair' or None"):
        fitted.distances(X, "sung")


@each_density
@pytest.mark.parametrize("how", ["joint", "marginal", "blend"])
def test_completion_against_dense_formulas(estimator, how):
    X = samples(4)
    fitted = clone(estimator).fit(X)
    gappy = with_gaps(X[::8])
    filled = fitted.complete(gappy, how)
    known = ~np.isnan(gappy)
    assert_array_equal(filled[known], gappy[known])
    det = getattr(fitted, "normalization", "logdet") == "det"
    volumes = 2 * fitted.log_volumes_
    for x, found in zip(gappy, filled):
        options, spreads, log_dets = map(
            np.array, zip(*(slow_completion(x, m, c) for m, c in zip(fitted.prototypes_, fitted.covariances_)))
        )
        logs = np.log(fitted.weights_) - 0.5 * (spreads + log_dets)
        if how == "joint":  # the smallest distance that the completed sample can have
            expected = options[(spreads * np.exp(volumes / 4) if det else spreads + volumes).argmin()]
        elif how == "marginal":
            expected = options[logs.argmax()]
        else:
            expected = np.exp(logs - logsumexp(logs)) @ options
        assert_allclose(found, np.where(np.isnan(x), expected, x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("normalization", ["det", "logdet", "none"])
def test_no_other_values_are_nearer_than_the_completed_ones(normalization):
    X = samples(5)
    fitted = MatrixNeuralGas(3, normalization=normalization, max_iter=10, random_state=0).fit(X)
    gappy = with_gaps(X[::6], 1)
    filled = fitted.complete(gappy, "joint")
    best = fitted.distances(filled).min(axis=1)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0, 3.0):
        other = np.where(np.isnan(gappy), filled + scale * X.std(axis=0) * rng.normal(size=filled.shape), gappy)
        assert (fitted.distances(other).min(axis=1) >= best - 1e-9).all()
    random_rows = np.where(np.isnan(gappy), X[rng.integers(0, len(X), len(gappy))], gappy)
    assert (fitted.distances(random_rows).min(axis=1) >= best - 1e-9).all()


@each_density
def test_rows_without_gaps_are_returned_as_they_are(estimator):
    X = samples(6)
    fitted = clone(estimator).fit(X)
    for how in ("joint", "marginal", "blend"):
        assert_array_equal(fitted.complete(X, how), X)
    single = clone(estimator).fit(X.astype(np.float32)).complete(with_gaps(X[:5].astype(np.float32)))
    assert single.dtype == np.float32
    assert np.isfinite(single).all()


@given(seeds)
@settings(max_examples=10)
def test_completion_is_exact_on_a_plane(seed):
    """Three features that are a linear function of the fourth and fifth."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2, 3))
    Z = rng.normal(size=(200, 2))
    X = np.column_stack([Z @ A, Z]) + 5
    gas = MatrixNeuralGas(2, n_components=2, max_iter=5, regularization="floor", epsilon=1e-10, random_state=0).fit(X)
    gappy = X.copy()
    gappy[:, :3] = np.nan
    assert_allclose(gas.complete(gappy), X, atol=1e-3)


def test_branches_of_a_relation_with_two_values_stay_apart():
    """y = +-sqrt(x): the average of both branches is on neither."""
    rng = np.random.default_rng(0)
    y = rng.uniform(0.5, 2, 600) * np.repeat([-1, 1], 300)
    X = np.column_stack([y**2, y]) + 0.01 * rng.normal(size=(600, 2))
    for estimator in (NGPCA(12, 1, random_state=0), MatrixNeuralGas(12, normalization="logdet", random_state=0)):
        fitted = estimator.fit(X)
        asked = np.column_stack([np.linspace(0.5, 3.5, 50), np.full(50, np.nan)])
        for how in ("joint", "marginal"):
            found = fitted.complete(asked, how)
            assert np.abs(np.abs(found[:, 1]) - np.sqrt(asked[:, 0])).max() < 0.15
        blended = fitted.complete(asked, "blend")[:, 1]
        assert np.median(np.abs(blended)) < 0.6  # in between
        back = fitted.complete(np.column_stack([np.full(50, np.nan), np.linspace(-1.9, 1.9, 50)]))
        inside = np.abs(back[:, 1]) > 0.5
        assert_allclose(back[inside, 0], back[inside, 1] ** 2, atol=0.3)


def test_gaps_are_refused_elsewhere_and_empty_rows_everywhere():
    X = samples(7)
    gas = MatrixNeuralGas(3, max_iter=5, random_state=0).fit(X)
    gappy = with_gaps(X[:5])
    online = NGPCA(3, n_steps=100, random_state=0).fit(X)
    wide = MatrixNeuralGas(1, n_components=2, max_iter=2).fit(np.tile(X, 20))
    for refuse, part in (
        (MatrixNeuralGas(2, magnification=1.0).fit, gappy),
        (online.fit, gappy),
        (online.predict, gappy),
        (wide.predict, np.tile(gappy, 20)),
        (PrototypeClassifier(online).fit, gappy),  # the classifier takes what its map takes
    ):
        with pytest.raises(ValueError, match="NaN"):
            refuse(part) if refuse.__name__ != "fit" else refuse(part, [0, 0, 0, 1, 1])
    gappy[3] = np.nan
    for refuse in (gas.complete, gas.predict, gas.transform, gas.score_samples, clone(gas).fit):
        with pytest.raises(ValueError, match=r"no known value \(the first is row 3"):
            refuse(gappy)
    with pytest.raises(ValueError, match=r"no known value \(the first is row 0"):
        gas.complete(np.full((2, 4), np.nan))
    with pytest.raises(ValueError, match="infinity"):
        gas.complete([[np.inf, np.nan, 0, 0]])
    with pytest.raises(ValueError, match="how='best' must be one of"):
        gas.complete(X, how="best")
    with pytest.raises(ValueError, match="4 features"):
        gas.complete(X[:, :3])


def test_completion_with_a_constant_feature():
    X = np.column_stack([samples(8), np.full(240, 7.0)])
    for regularization in ("floor", "ridge", "pinv"):
        gas = MatrixNeuralGas(3, regularization=regularization, max_iter=5, random_state=0).fit(X)
        gappy = X.copy()
        gappy[:, 4] = np.nan
        assert_allclose(gas.complete(gappy), X, atol=1e-6)


# Codes


@each_map
def test_codes_are_unit_and_coordinates(estimator):
    X = samples(9)
    fitted = clone(estimator).fit(X)
    code = fitted.transform(X)
    q = fitted.components_.shape[1]
    assert code.shape == (len(X), 1 + q)
    assert_array_equal(code[:, 0], fitted.predict(X))
    back = fitted.inverse_transform(code)
    gaps = X - fitted.prototypes_[fitted.labels_]
    components = fitted.components_[fitted.labels_]
    assert_allclose(code[:, 1:], np.einsum("nqd,nd->nq", components, gaps), atol=1e-9)
    lost = (gaps**2).sum(axis=1) - (code[:, 1:] ** 2).sum(axis=1)  # e^2
    assert_allclose(((X - back) ** 2).sum(axis=1), lost, atol=1e-7)
    if q == X.shape[1]:
        assert_allclose(back, X, atol=1e-8)
    else:
        assert lost.max() > 1e-6
    assert_array_equal(fitted.get_feature_names_out(), [f"{type(estimator).__name__.lower()}{a}" for a in range(1 + q)])


def test_bad_codes_are_refused():
    gas = MatrixNeuralGas(3, n_components=2, max_iter=5, random_state=0).fit(samples())
    for code in ([[3, 0.0, 0.0]], [[-1, 0.0, 0.0]], [[0.5, 0.0, 0.0]], [[0, 0.0]], [[0, 0.0, 0.0, 0.0]]):
        with pytest.raises(ValueError, match="A code must have 3 columns, the first an index of a prototype"):
            gas.inverse_transform(code)


def test_more_directions_lose_less():
    X = samples(10)
    losses = []
    for q in (1, 2, 3, 4):
        gas = MatrixNeuralGas(3, n_components=q, max_iter=10, random_state=0).fit(X)
        losses.append(((X - gas.inverse_transform(gas.transform(X))) ** 2).mean())
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 1e-12 * X.var()


# Many features


@pytest.mark.parametrize(
    "estimator",
    [
        MatrixNeuralGas(3, n_components=3, max_iter=20),
        MatrixKMeans(3, n_components=3),
        NGPCA(3, 3, n_steps=3000),
        NGPCA(3, 3, algorithm="batch"),
        VQPCA(3, 3),
        MixturePPCA(3, 3),
    ],
    ids=repr,
)
def test_uses_of_sketched_maps_are_those_of_the_dense_covariances(estimator, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(80, 3)) @ rng.normal(size=(3, 70)) + 2 * rng.normal(size=70) for _ in range(3)])
    X += 0.3 * rng.normal(size=X.shape)
    fitted = clone(estimator).set_params(random_state=0).fit(X)
    shares, normals = mixture_of(fitted)
    logs = np.column_stack([np.log(share) + normal.logpdf(X) for share, normal in zip(shares, normals)])
    assert_allclose(fitted.score_samples(X), logsumexp(logs, axis=1), rtol=1e-7)
    assert_allclose(fitted.distances(X), slow_distances(fitted, X), rtol=1e-7, atol=1e-7)
    gappy = with_gaps(X[:10])
    filled = fitted.complete(gappy, "blend")
    for x, found in zip(gappy, filled):
        options, spreads, log_dets = map(
            np.array, zip(*(slow_completion(x, m, c) for m, c in zip(fitted.prototypes_, fitted.covariances_)))
        )
        fits = np.log(shares) - 0.5 * (spreads + log_dets)
        assert_allclose(found, np.exp(fits - logsumexp(fits)) @ options, rtol=1e-6, atol=1e-6)
    assert np.abs(filled - X[:10]).max() < 3  # noise has deviation 0.3
    distances = fitted.distances(X)
    monkeypatch.setattr(_ellipsoids, "MOST_QUADRATIC", 1000)
    assert_allclose(fitted.distances(X), distances, rtol=1e-7, atol=1e-7)


# Copies


@each_map
def test_pickles_and_clones(estimator):
    X = samples(11)
    fitted = clone(estimator).fit(X)
    copied = pickle.loads(pickle.dumps(fitted))
    for method in ("predict", "distances", "transform", "score_samples"):
        assert_array_equal(getattr(copied, method)(X), getattr(fitted, method)(X))
    fresh = clone(fitted)
    assert not hasattr(fresh, "prototypes_")
    assert fresh.get_params() == fitted.get_params()
    assert_array_equal(fresh.fit(X).prototypes_, fitted.prototypes_)
    assert_array_equal(fresh.components_, fitted.components_)


@pytest.mark.filterwarnings("error")
@each_map
def test_data_frames(estimator):
    X = pd.DataFrame(samples(12), columns=list("abcd"))
    fitted = clone(estimator).set_output(transform="pandas").fit(X)
    assert_array_equal(fitted.feature_names_in_, list("abcd"))
    code = fitted.transform(X)
    assert list(code.columns) == list(fitted.get_feature_names_out())
    assert_allclose(fitted.complete(X), X)


# One map for each class


def class_maps(estimator, X, y):
    return [clone(estimator).fit(X[y == label]) for label in np.unique(y)]


@pytest.mark.parametrize(
    "estimator",
    [
        MatrixNeuralGas(2, max_iter=10, random_state=0),
        MatrixNeuralGas(2, normalization="logdet", max_iter=10, random_state=0),
        NGPCA(2, 2, n_steps=2000, random_state=0),
        NeuralGas(3, random_state=0),
    ],
    ids=repr,
)
def test_class_of_the_nearest_of_all_units(estimator):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    classifier = PrototypeClassifier(estimator, per_class=True).fit(X, names)
    maps = class_maps(estimator, X, names)
    shaped = hasattr(maps[0], "score_samples")
    nearest = [(m.distances(X) if shaped else m.transform(X)).min(axis=1) for m in maps]
    assert_array_equal(classifier.predict(X), np.unique(names)[np.argmin(nearest, axis=0)])
    assert len(classifier.estimators_) == 3
    assert_array_equal(classifier.prototype_labels_, np.repeat(np.unique(names), len(maps[0].prototypes_)))
    proba = classifier.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(proba.argmax(axis=1), np.argmin(nearest, axis=0))
    confidence = classifier.confidence(X)
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert (confidence > 0.5).mean() > 0.5


def test_classes_that_nothing_tells_apart_are_alike():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.repeat([0, 1], [300, 100])
    classifier = PrototypeClassifier(MatrixKMeans(1, normalization="logdet"), per_class=True).fit(X, y)
    assert_allclose(classifier.class_prior_, [0.75, 0.25])
    assert_allclose(classifier.predict_proba(X).mean(axis=0), 0.5, atol=0.05)


def test_weights_in_classes():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    keep = np.repeat(np.arange(len(X)), weights)
    classifier = PrototypeClassifier(MatrixNeuralGas(1, max_iter=5), per_class=True)
    weighted, repeated = clone(classifier).fit(X, y, sample_weight=weights), clone(classifier).fit(X[keep], y[keep])
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize(
    ("load", "normalization", "accuracy"),
    [
        (load_iris, "none", 0.9800),
        (load_breast_cancer, "none", 0.8998),
        (load_breast_cancer, "det", 0.9719),
        (load_breast_cancer, "logdet", 0.9754),
    ],
)
def test_direct_mahalanobis_distance(load, normalization, accuracy):
    """Arnonkijpanich 2010, sec. 4.1: inverse covariances of the classes; better with comparable determinants."""
    X, y = load(return_X_y=True)
    for regularization in ("none", "floor"):
        one = MatrixKMeans(1, normalization=normalization, regularization=regularization)
        found = PrototypeClassifier(one, per_class=True).fit(X, y).predict(X)
        assert_allclose((found == y).mean(), accuracy, atol=5e-5)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    d = X.shape[1]
    distances = []
    for label in np.unique(y):
        covariance = np.cov(Z[y == label].T, bias=True)
        gaps = Z - Z[y == label].mean(axis=0)
        whole, volume = (gaps @ np.linalg.inv(covariance) * gaps).sum(axis=1), np.linalg.slogdet(covariance)[1]
        options = {"none": whole, "det": whole * np.exp(volume / d), "logdet": whole + volume}
        distances.append(options[normalization])
    assert_array_equal(found, np.argmin(distances, axis=0))


def test_shapes_classify_digits_better_than_centers():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    local = NGPCA(3, 5, algorithm="batch", max_iter=10, random_state=0)
    gas = NeuralGas(3, max_iter=20, random_state=0)
    shaped, plain = PrototypeClassifier(local, per_class=True), PrototypeClassifier(gas, per_class=True)
    train, test = np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1
    errors = [1 - model.fit(X[train], y[train]).score(X[test], y[test]) for model in (shaped, plain)]
    assert errors[0] < 0.04
    assert errors[0] < 0.7 * errors[1]


def test_pipelines_of_one_map_for_each_class():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), MatrixNeuralGas(1, normalization="logdet", max_iter=5))
    inside = PrototypeClassifier(pipeline, per_class=True)
    outside = make_pipeline(StandardScaler(), PrototypeClassifier(pipeline[-1], per_class=True))
    assert cross_val_score(outside, X, y, cv=3).mean() > 0.93
    assert inside.fit(X, y).predict(X).shape == (150,)


def test_code_of_a_sample_with_gaps_is_that_of_the_completed_one():
    X = StandardScaler().fit_transform(load_iris().data)
    estimator = MatrixNeuralGas(3, n_components=2, random_state=0).fit(X)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    holes = holes[~np.isnan(holes).all(axis=1)]
    assert_allclose(estimator.transform(holes), estimator.transform(estimator.complete(holes)))


@pytest.mark.parametrize("estimator", [*MAPS, VQPCA(3, 1, random_state=0), MixturePPCA(3, random_state=0)], ids=repr)
def test_distances_are_made_of_their_terms(estimator):
    X = load_iris().data
    estimator = clone(estimator).fit(X[::2])
    gaps = X[1::2, None] - estimator.prototypes_
    for measure in (None, "logdet"):
        terms = estimator.distance_terms(measure)
        along = np.einsum("kqd,nkd->nkq", terms.directions, gaps)
        expected = np.sum(terms.gains * along**2, axis=2) + terms.constants
        expected += terms.rest * np.square(terms.scale * gaps).sum(axis=2)
        found = estimator.distances(X[1::2], measure)
        assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())
