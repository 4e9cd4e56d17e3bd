"""Matrices with few entries: the same cost and gradient as dense ones with the same mask."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from protolearn import GMLVQ, LGMLVQ
from protolearn.lvq import _masked
from protolearn.lvq._masked import MaskedMetric, masked_metric
from protolearn.lvq.cost import RelativeDistance
from protolearn.lvq.problem import Problem, pack
from protolearn.lvq.relevance import MatrixMetric, allowed_entries

N = 9
SOME = np.random.default_rng(5).random((N, N)) < 0.3
CASES = {
    "diagonal": (N, {"mask": 0}),
    "band": (N, {"mask": 2}),
    "wide band": (N, {"mask": N + 3}),
    "band of few rows": (6, {"mask": 1}),
    "symmetric band per class": (N, {"mask": 2, "symmetric": True, "localization": "class"}),
    "booleans per prototype": (N, {"mask": SOME | np.eye(N, dtype=bool), "localization": "prototype"}),
    "symmetric booleans": (N, {"mask": SOME | SOME.T, "symmetric": True}),
}


def problems(name, missing):
    """Return the same problem for a dense and for a sparse matrix, with the same parameters."""
    M, settings = CASES[name]
    rng = np.random.default_rng(1)
    X, y, classes = rng.normal(size=(60, N)), rng.integers(0, 3, 60), np.array([0, 0, 1, 2])
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    W = rng.normal(size=(4, N))
    dense, sparse = MatrixMetric(M, **settings), MaskedMetric((M, N), **settings)
    start = dense.start(N, classes, np.random.RandomState(0))[0]
    allowed = allowed_entries(settings["mask"], (M, N))
    omega = np.where(allowed, start + 0.1 * rng.normal(size=start.shape), 0.0)
    options = {"cost": RelativeDistance("sigmoid", (2.0, 2.0)), "regularization": 0.3}
    of_dense = Problem(X, y, np.ones(60), classes, dense, shapes=[W.shape, omega.shape], **options)
    values = sparse.folded((omega,))
    of_sparse = replace(of_dense, metric=sparse, shapes=[W.shape, values[0].shape])
    return of_dense, pack(W, (omega,)), of_sparse, pack(W, values)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", sorted(CASES))
def test_cost_and_gradient_are_those_of_the_dense_matrix(name, missing):
    dense, flat, sparse, few = problems(name, missing)
    cost, gradient = dense(flat)
    cost_of_few, gradient_of_few = sparse(few)
    assert cost_of_few == pytest.approx(cost, rel=1e-12)
    by_W, (by_omega,) = dense.unpack(gradient)
    expected = pack(by_W, sparse.metric.folded((by_omega,)))
    assert np.allclose(gradient_of_few, expected, rtol=1e-9, atol=1e-12)
    assert np.allclose(
        sparse.metric.matrices(sparse.unpack(sparse.normalized(few))[1]), dense.unpack(dense.normalized(flat))[1][0]
    )


@pytest.mark.parametrize("M", [30, 41])
@pytest.mark.parametrize("width", [0, 1, 4])
def test_volume_of_a_band_is_that_of_the_dense_matrix(M, width):
    rng = np.random.default_rng(M + width)
    omega = np.where(allowed_entries(width, (M, 41)), rng.normal(size=(2, M, 41)) + 2 * np.eye(M, 41), 0.0)
    sparse = MaskedMetric((M, 41), mask=width, localization="class")
    value, (slope,) = MatrixMetric(M).log_volume((omega,))
    of_band, (slope_of_band,) = sparse.log_volume(sparse.folded((omega,)))
    assert of_band == pytest.approx(value, rel=1e-12)
    assert np.allclose(slope_of_band, sparse.folded((slope,))[0], rtol=1e-8, atol=1e-10)


def test_volume_of_a_singular_band_is_finite():
    sparse = MaskedMetric((5, 5), mask=1)
    value, (slope,) = sparse.log_volume((np.zeros((1, 13)) + (np.arange(13) == 0),))
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


MODELS = {
    "GMLVQ": GMLVQ(mask=1),
    "symmetric": GMLVQ(mask=1, symmetric=True),
    "local": LGMLVQ(mask=1, missing="partial"),
    "online": GMLVQ(mask=1, solver="sgd"),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_classifiers_learn_the_same_with_few_entries(name, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 60)).cumsum(axis=1)
    y = (X[:, 20] - X[:, 25] > 0).astype(int)
    model = clone(MODELS[name]).set_params(max_iter=4, slope=3.0, random_state=0)
    few = clone(model).fit(X, y)
    assert isinstance(few._metric, MaskedMetric)
    monkeypatch.setattr(_masked, "LEAST_SIZE", np.inf)
    dense = clone(model).fit(X, y)
    assert type(dense._metric) is MatrixMetric
    assert np.allclose(few.cost_history_, dense.cost_history_, rtol=1e-7)
    assert np.allclose(few.relevances_, dense.relevances_, rtol=1e-5, atol=1e-8)
    assert np.allclose(few.decision_function(X), dense.decision_function(X), rtol=1e-5, atol=1e-7)
    again = pickle.loads(pickle.dumps(few))
    assert np.array_equal(again.distances(X), few.distances(X))
    more = few.set_params(warm_start=True, max_iter=2).fit(X, y)
    assert more.n_iter_ <= 2
    assert np.array_equal(np.nonzero(more.relevance_matrix_.reshape(-1, 60, 60)[0][0])[0], [0, 1, 2])


def test_sparse_products_are_chosen_where_they_pay():
    settings = {"localization": "global", "symmetric": False, "start_at": "identity"}
    assert isinstance(masked_metric(400, 400, mask=2, **settings), MaskedMetric)
    for size, mask in ((400, None), (400, 60), (20, 0)):
        assert type(masked_metric(size, size, mask=mask, **settings)) is MatrixMetric
