"""Maps of vectors and of dissimilarities that measure by a learned metric."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from protolearn import GMLVQ, LGMLVQ, SOM, KMeans, MedianNeuralGas, NeuralGas, RelationalNeuralGas
from protolearn.maps import Online, Patches

RAW, Y = load_wine(return_X_y=True)
X = scale(RAW)
LVQ = GMLVQ(n_components=3, max_iter=20, random_state=0).fit(X, Y)
Z = LVQ.metric_.project(X)
METRICS = {"own": LVQ.metric_, "frozen": FrozenEstimator(LVQ), "matrix": LVQ.metric_.omegas[0]}
MAPS = [
    KMeans(5, random_state=0),
    NeuralGas(6, max_iter=20, random_state=0),
    NeuralGas(6, online=Online(), max_iter=3, random_state=0),
    NeuralGas(6, label_weight=0.5, patches=Patches(60), max_iter=10, random_state=0),
    SOM((3, 4), max_iter=20),
]


@pytest.mark.parametrize("model", MAPS, ids=repr)
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_map_sees_projected_samples(model, metric):
    seen = clone(model).set_params(metric=metric).fit(X, Y)
    plain = clone(model).fit(Z, Y)
    assert_allclose(seen.distances(X), plain.distances(Z), rtol=1e-9, atol=1e-12)
    assert_array_equal(seen.nearest(X), plain.nearest(Z))
    assert_allclose(seen.cost_history_, plain.cost_history_, rtol=1e-9)
    assert seen.score(X) == pytest.approx(plain.score(Z))
    assert seen.n_features_in_ == seen.prototypes_.shape[1] == X.shape[1]
    assert_allclose(LVQ.metric_.project(seen.prototypes_), plain.prototypes_, atol=1e-9)


def test_prototypes_are_in_the_space_of_the_features():
    square = np.random.default_rng(0).normal(size=(13, 13))
    seen = KMeans(4, metric=square, random_state=0).fit(X)
    means = np.stack([X[seen.labels_ == i].mean(axis=0) for i in range(4)])
    assert_allclose(seen.prototypes_, means, atol=1e-6)


def test_a_given_start_and_later_patches_are_features_too():
    start = X[:4]
    seen = KMeans(4, init=start, max_iter=1, metric=LVQ.metric_).fit(X)
    assert_array_equal(seen.labels_, KMeans(4, init=Z[:4], max_iter=1).fit(Z).labels_)
    gas, plain = (NeuralGas(4, max_iter=5, metric=m, random_state=0) for m in (LVQ.metric_, "euclidean"))
    for rows in np.array_split(np.arange(len(X)), 3):
        gas.partial_fit(X[rows])
        plain.partial_fit(Z[rows])
    assert_allclose(gas.distances(X), plain.distances(Z), atol=1e-9)


def test_steps_before_the_classifier_are_taken():
    pipeline = make_pipeline(StandardScaler(), GMLVQ(n_components=3, max_iter=20, random_state=0)).fit(RAW, Y)
    seen = SOM((2, 3), metric=FrozenEstimator(pipeline)).fit(RAW)
    assert_allclose(seen.distances(RAW), SOM((2, 3), metric=LVQ.metric_).fit(X).distances(X), atol=1e-8)


def test_local_metrics_are_for_relational_maps():
    local = LGMLVQ(n_components=2, max_iter=10, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"has several matrices, but SOM needs one .* RelationalNeuralGas"):
        SOM((2, 3), metric=local.metric_).fit(X)
    gas = RelationalNeuralGas(3, metric=local.metric_, random_state=0).fit(X)
    by_hand = RelationalNeuralGas(3, random_state=0).fit(local.metric_.distances(X))
    assert_array_equal(gas.labels_, by_hand.labels_)
    assert_allclose(gas.distances(X), by_hand.distances(local.metric_.distances(X)), atol=1e-8)
    assert gas.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("kind", [RelationalNeuralGas, MedianNeuralGas])
def test_relational_maps_measure_by_a_matrix(kind):
    matrix = LVQ.metric_.omegas[0]
    seen = kind(4, metric=matrix, max_iter=10, random_state=0).fit(X)
    assert_array_equal(seen.labels_, kind(4, metric="euclidean", max_iter=10, random_state=0).fit(Z).labels_)
    assert_array_equal(seen.predict(X), seen.labels_)


@pytest.mark.parametrize("wrong", ["manhattan", None, 3.0, object()])
def test_what_is_no_metric_is_refused(wrong):
    with pytest.raises(ValueError, match="metric="):
        SOM((2, 3), metric=wrong).fit(X)
