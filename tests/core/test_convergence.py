"""Tests of the warning of fits that stop before they converge."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import protolearn
from protolearn import (
    GLVQ,
    LMNN,
    LVQ1,
    MVU,
    NGPCA,
    SOM,
    TSNE,
    VQPCA,
    XOM,
    KMeans,
    MappedEmbedding,
    MatrixKMeans,
    MatrixNeuralGas,
    MedianGLVQ,
    MedianKMeans,
    MixturePPCA,
    NeuralGas,
    PairwiseAnnealing,
    RelationalGLVQ,
    RelationalKMeans,
    RelationalNeuralGas,
)
from protolearn.maps import Online, Patches

X, y = load_iris(return_X_y=True)
X, y = scale(X)[::2], y[::2]
RELATED = {"metric": "euclidean", "random_state": 0}
UNTIL_CONVERGED = [
    KMeans(6, random_state=0),
    KMeans(6, label_weight=0.3, n_init=2, random_state=0),
    KMeans(6, patches=Patches(40), random_state=0),
    MatrixKMeans(3, random_state=0),
    VQPCA(3, random_state=0),
    MixturePPCA(3, random_state=0),
    RelationalKMeans(6, **RELATED),
    MedianKMeans(6, **RELATED),
    MedianKMeans(6, swap=False, **RELATED),
    GLVQ(random_state=0),
    RelationalGLVQ(**RELATED),
    MedianGLVQ(init=np.array([0, 25, 50]), **RELATED),
    LMNN(random_state=0),
    MVU(n_neighbors=8, random_state=0),
    MappedEmbedding(cost="mds", mapping="free", random_state=0),
]
ANNEALED = [
    SOM((3, 3)),
    NeuralGas(6, random_state=0),
    KMeans(6, online=Online(), random_state=0),
    MatrixNeuralGas(3, random_state=0),
    NGPCA(3, n_components=1, random_state=0),
    RelationalNeuralGas(6, **RELATED),
    PairwiseAnnealing(6, **RELATED),
    LVQ1(random_state=0),
    GLVQ(solver="sgd", random_state=0),
    TSNE(random_state=0),
    XOM(random_state=0),
]


def convergence_warnings(estimator):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    return [one for one in caught if issubclass(one.category, ConvergenceWarning)]


@pytest.mark.parametrize("estimator", UNTIL_CONVERGED, ids=repr)
def test_a_fit_that_is_stopped_warns_once_at_the_line_of_the_user_and_one_that_converges_does_not(estimator):
    (warned,) = convergence_warnings(clone(estimator).set_params(max_iter=1))
    assert "stopped after max_iter=1 iterations, before it converged" in str(warned.message)
    assert (" tol" in str(warned.message)) == ("tol" in estimator.get_params())
    assert warned.filename == __file__
    assert convergence_warnings(clone(estimator)) == []


@pytest.mark.parametrize("estimator", [*UNTIL_CONVERGED[:2], *UNTIL_CONVERGED[3:9]], ids=repr)
def test_as_many_iterations_as_are_needed_are_enough(estimator):
    n_iter = clone(estimator).fit(X, y).n_iter_
    assert convergence_warnings(clone(estimator).set_params(max_iter=n_iter)) == []
    assert len(convergence_warnings(clone(estimator).set_params(max_iter=n_iter - 1))) == 1


@pytest.mark.parametrize("estimator", ANNEALED, ids=repr)
def test_a_schedule_that_is_run_to_its_end_warns_of_nothing(estimator):
    assert convergence_warnings(clone(estimator).set_params(max_iter=3)) == []


def test_every_estimator_with_a_tolerance_is_tested():
    kinds = tuple({type(estimator) for estimator in UNTIL_CONVERGED})
    for name in protolearn.__all__:
        kind = getattr(protolearn, name)
        if inspect.isclass(kind) and {"max_iter", "tol"} <= set(inspect.signature(kind).parameters):
            assert issubclass(kind, kinds), name
