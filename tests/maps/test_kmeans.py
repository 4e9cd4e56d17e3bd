"""Tests of what KMeans shares with that of scikit-learn: names, and what they mean."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import cluster
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from protolearn import KMeans, PrototypeClassifier
from protolearn.maps import Online, Patches

X, y = load_iris(return_X_y=True)
WEIGHTS = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)


def inertia(model, samples, weights):
    gaps = samples - model.prototypes_[model.predict(samples)]
    return float(weights @ (gaps**2).sum(axis=1))


@pytest.mark.parametrize("n_clusters", [1, 3, 7])
def test_the_same_clusters_as_those_of_scikit_learn(n_clusters):
    init, options = X[:: len(X) // n_clusters][:n_clusters], {"n_clusters": n_clusters, "n_init": 1, "tol": 1e-8}
    theirs = cluster.KMeans(init=init, **options).fit(X, sample_weight=WEIGHTS)
    ours = KMeans(init=init, **options).fit(X, sample_weight=WEIGHTS)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.cluster_centers_ is ours.prototypes_
    assert ours.n_prototypes == n_clusters


@pytest.mark.parametrize(
    "options",
    [{}, {"label_weight": 0.4}, {"patches": Patches(40)}, {"patches": Patches(40, runs=2)}, {"online": Online()}],
    ids=repr,
)
def test_inertia_is_of_the_samples_that_labels_are_of(options):
    model = KMeans(4, random_state=0, max_iter=20, **options)
    fitted = clone(model).fit(X, y, WEIGHTS)
    np.testing.assert_allclose(fitted.inertia_, inertia(fitted, X, WEIGHTS))
    stream = clone(model).partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2], WEIGHTS[1::2])
    np.testing.assert_allclose(stream.inertia_, inertia(stream, X[1::2], WEIGHTS[1::2]))


def test_inertia_of_samples_in_partitions():
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(X, chunks=(50, 4))
    for options in ({}, {"patches": Patches(30)}):
        model = KMeans(4, random_state=0, **options).fit(lazy)
        np.testing.assert_allclose(model.inertia_, inertia(model, X, np.ones(len(X))))


def test_parameters_have_one_name():
    model = KMeans(n_clusters=5)
    assert model.get_params()["n_clusters"] == 5
    assert "n_prototypes" not in model.get_params()
    assert clone(model).set_params(n_clusters=2).n_prototypes == 2
    assert not hasattr(model, "cluster_centers_")
    with pytest.raises(TypeError, match="n_prototypes"):
        KMeans(n_prototypes=5)
    with pytest.raises(AttributeError):
        model.n_prototypes = 5


def test_a_search_and_a_classifier_set_the_number_of_clusters():
    search = GridSearchCV(KMeans(random_state=0), {"n_clusters": [1, 4]}, cv=3).fit(X)
    assert search.best_params_ == {"n_clusters": 4}
    few = PrototypeClassifier(KMeans(8, random_state=0), per_class=True).fit(X[::30], y[::30])
    assert [len(one.cluster_centers_) for one in few.estimators_] == np.bincount(y[::30]).tolist()
