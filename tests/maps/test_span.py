"""With more features than samples, maps with matrices are what they would be with whole matrices."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from protolearn import MatrixKMeans, MatrixNeuralGas, MatrixSOM, OutlierDetector, PrototypeClassifier
from protolearn.maps import Patches

N, D = 24, 70


@pytest.fixture(scope="module")
def data():
    """Two clouds of features of different units, one of them constant and one in steps; and samples from elsewhere."""
    rng = np.random.default_rng(0)
    units = np.geomspace(1.0, 30.0, D)
    X, Z = rng.normal(size=(N, D)) * units, rng.normal(size=(6, D)) * units
    X[N // 2 :, :10] += 40.0
    X[:, 7], X[:, 8] = 3.0, np.round(X[:, 8])
    return X, np.repeat([0, 1], N // 2), Z


@pytest.fixture
def fits(data, monkeypatch):
    """Fit a map in the space of the samples, and with whole matrices."""
    X, y, _ = data

    def both(model, *patches):
        found = []
        for most in (64, 10**9):
            monkeypatch.setattr("protolearn.maps._ellipsoids.MOST_QUADRATIC", most)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that few samples do not vary in most directions
                fitted = type(model)(**model.get_params())
                for rows in patches:
                    fitted.partial_fit(X[rows])
                found.append(fitted if patches else fitted.fit(X, y))
        monkeypatch.setattr("protolearn.maps._ellipsoids.MOST_QUADRATIC", 64)
        return found

    return both


def assert_same(span, whole, Z, first_cost=0):
    assert span.components_.shape[1] < D == whole.components_.shape[1]
    assert_allclose(span.prototypes_, whole.prototypes_, atol=1e-8)
    assert_array_equal(span.labels_, whole.labels_)
    assert_array_equal(span.floored_, whole.floored_)
    assert_allclose(span.cost_history_[first_cost:], whole.cost_history_[first_cost:], rtol=1e-6)
    assert_allclose(span.log_volumes_, whole.log_volumes_, atol=1e-6)
    assert_allclose(span.distances(Z), whole.distances(Z), rtol=1e-6, atol=1e-6)
    assert_allclose(span.score_samples(Z), whole.score_samples(Z), rtol=1e-6)
    scale = np.abs(whole.covariances_).max()
    assert_allclose(span.covariances_, whole.covariances_, atol=1e-8 * scale)
    forms = [np.swapaxes(model.omegas_, 1, 2) @ model.omegas_ for model in (span, whole)]
    assert_allclose(*forms, atol=1e-6 * np.abs(forms[1]).max())


@pytest.mark.pairwise(
    regularization=["prior", "floor", "ridge", "pinv", "tikhonov"],
    normalization=["det", "logdet", "none"],
    scope=["local", "global"],
    label_weight=[0.0, 0.3],
    magnification=[0.0, 0.5],
)
def test_same_as_with_whole_matrices(data, fits, regularization, normalization, scope, label_weight, magnification):
    options = {"regularization": regularization, "normalization": normalization, "scope": scope}
    options |= {"label_weight": label_weight, "magnification": magnification}
    span, whole = fits(MatrixKMeans(2, init="euclidean", max_iter=4, random_state=0, **options))
    assert_same(span, whole, data[2])


@pytest.mark.parametrize(
    "model",
    [MatrixNeuralGas(2, init="euclidean", max_iter=5, random_state=0), MatrixSOM((1, 3), max_iter=5)],
    ids=lambda model: type(model).__name__,
)
def test_other_cooperations(data, fits, model):
    # the cost of the first epoch has the prior in another metric
    assert_same(*fits(model), data[2], first_cost=1)


def test_a_start_outside_of_the_span(data, fits):
    span, whole = fits(MatrixKMeans(2, init=data[2][:2], max_iter=4, regularization="floor"))
    assert_same(span, whole, data[2])
    with pytest.raises(ValueError, match=rf"init has shape \(3, {D}\); expected \(2, {D}\)"):
        MatrixKMeans(2, init=data[2][:3]).fit(data[0])


def test_patches(data, fits):
    model = MatrixKMeans(2, init=data[0][[0, -1]], max_iter=4, regularization="floor")
    span, whole = fits(model, slice(0, None, 2), slice(1, None, 2))
    assert_same(span, whole, data[2])


def test_patches_in_several_runs_and_equal_samples(data):
    X = np.vstack([data[0], data[0] + 1e-3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = MatrixKMeans(2, patches=Patches(12, runs=2), random_state=0).fit(X)
        same = MatrixKMeans(1).fit(np.ones((3, D)))
    assert np.isfinite(model.score_samples(data[2])).all()
    assert len(np.unique(model.labels_[: N // 2])) == len(np.unique(model.labels_[N:])) - 1 == 1
    assert_allclose(same.prototypes_, 1.0)
    assert np.isfinite(same.covariances_).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_and_winners(data, dtype):
    X = data[0].astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = MatrixKMeans(2, random_state=0).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    code = model.transform(X)
    assert code.shape == (N, 1 + model.components_.shape[1])
    assert code.dtype == model.prototypes_.dtype == dtype
    assert_allclose(model.inverse_transform(code), X, atol=1e-3 if dtype == np.float32 else 1e-9)
    traces = model.variances_.sum(axis=1) + (D - model.components_.shape[1]) * model.residual_variances_
    assert_allclose(traces, np.trace(model.covariances_, axis1=1, axis2=2), rtol=1e-9)
    along = np.einsum("krd,kde,kre->kr", model.components_, model.covariances_, model.components_)
    assert_allclose(model.variances_, along, rtol=1e-6)


def test_missing_values_are_completed_but_not_measured(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = MatrixKMeans(2, random_state=0).fit(data[0])
    Z = data[0][:3].copy()
    Z[:, 5] = np.nan
    assert np.isfinite(model.complete(Z)).all()
    with pytest.raises(ValueError, match="impute them by complete"):
        model.predict(Z)


@pytest.mark.parametrize(
    "model",
    [
        MatrixNeuralGas(2, max_iter=3, random_state=0),
        MatrixSOM((1, 2), max_iter=3),
        PrototypeClassifier(MatrixKMeans(1, max_iter=3, random_state=0)),
        OutlierDetector(MatrixKMeans(1, max_iter=3, random_state=0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_matrix_of_all_features_is_formed(model):
    n, d = 12, 2000
    X = np.random.default_rng(0).normal(size=(n, d))
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, np.arange(n) % 2).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * d**2 / 2
