"""Tests of the names of metrics: scikit-learn's, wherever a metric is named."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

from protolearn import (
    SONE,
    TSNE,
    MappedEmbedding,
    MedianGLVQ,
    MedianKMeans,
    RelationalGLVQ,
    RelationalKMeans,
    RelationalSOM,
)
from protolearn.dissimilarities import METRICS, VECTOR_METRICS, Dissimilarities, is_metric, metric_name, pairwise

X, y = load_iris(return_X_y=True)
X, y = X[::3], y[::3]
BITS = (np.random.default_rng(0).random((12, 6)) < 0.4).astype(float)
SYNONYMS = {
    "levenshtein": "edit",
    "correlation": "pearson",
    "l2": "euclidean",
    "l1": "manhattan",
    "cityblock": "manhattan",
}
OF_VECTORS = ["euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "cosine", "correlation", "chebyshev"]


@pytest.mark.parametrize("name", [*OF_VECTORS, "minkowski", "hamming", "jaccard"])
def test_a_name_of_scikit_learn_means_what_it_means_there(name):
    table = BITS if name in ("hamming", "jaccard") else X
    known = table.astype(bool) if name == "jaccard" else table
    assert name in METRICS
    np.testing.assert_allclose(pairwise(table, metric=name), pairwise_distances(known, metric=name), atol=1e-12)


def test_the_exponent_of_minkowski():
    np.testing.assert_allclose(pairwise(X, metric="minkowski", p=3), pairwise_distances(X, metric="minkowski", p=3))
    with pytest.raises(ValueError, match=r"p=0\.5 must be a number in"):
        pairwise(X, metric="minkowski", p=0.5)


@pytest.mark.parametrize("name", SYNONYMS)
def test_synonyms(name):
    assert metric_name(name) == SYNONYMS[name]
    assert is_metric(name, SYNONYMS[name])
    assert not is_metric(name, "cosine")
    objects = ["kitten", "sitting", "mitten"] if name == "levenshtein" else X
    np.testing.assert_array_equal(pairwise(objects, metric=name), pairwise(objects, metric=SYNONYMS[name]))
    assert Dissimilarities(objects, name).metric == SYNONYMS[name]


def test_what_is_no_name_stays_what_it_is():
    assert metric_name(max) is max
    assert metric_name("precomputed") == "precomputed"
    assert not is_metric(X, "euclidean")
    assert set(VECTOR_METRICS) >= set(OF_VECTORS) - set(SYNONYMS)


@pytest.mark.parametrize("name", ["correlation", "l2", "cityblock"])
@pytest.mark.parametrize(
    "estimator",
    [
        RelationalKMeans(3, random_state=0),
        RelationalSOM((2, 3), max_iter=5),
        MedianKMeans(3, random_state=0),
        RelationalGLVQ(random_state=0),
        MedianGLVQ(random_state=0),
        TSNE(perplexity=5, max_iter=10, random_state=0),
        SONE(max_iter=3, random_state=0),
        MappedEmbedding(cost="mds", mapping="free", random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_know_synonyms(estimator, name):
    given = clone(estimator).set_params(metric=name).fit(X, y)
    own = clone(estimator).set_params(metric=SYNONYMS[name]).fit(X, y)
    result = (
        "embedding_" if hasattr(own, "embedding_") else "prototype_labels_" if hasattr(own, "classes_") else "labels_"
    )
    np.testing.assert_array_equal(getattr(given, result), getattr(own, result))
    assert given.__sklearn_tags__() == own.__sklearn_tags__()
    assert given.get_params()["metric"] == name


@pytest.mark.parametrize("name", ["correlation", "l2", "l1"])
def test_sparse_rows_know_synonyms(name):
    view = TSNE(perplexity=5, max_iter=5, random_state=0)
    given, own = (clone(view).set_params(metric=one).fit(csr_array(X)) for one in (name, SYNONYMS[name]))
    np.testing.assert_array_equal(given.embedding_, own.embedding_)


def test_a_source_and_its_map_may_use_different_names():
    words = ["kitten", "sitting", "mitten", "knitting", "sit", "kit"]
    by_name = RelationalKMeans(2, metric="levenshtein", random_state=0)
    labels = by_name.fit(words).labels_
    np.testing.assert_array_equal(clone(by_name).fit(Dissimilarities(words, "edit")).labels_, labels)


@pytest.mark.parametrize("estimator", [RelationalKMeans(2), TSNE(), MappedEmbedding(mapping="free")])
def test_an_unknown_name_lists_the_known_ones(estimator):
    with pytest.raises(ValueError, match="metric='euclidian' must be one of") as caught:
        clone(estimator).set_params(metric="euclidian").fit(X)
    for name in ("precomputed", *METRICS):
        assert repr(name) in str(caught.value)
