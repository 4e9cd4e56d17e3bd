"""A weight of n is the sample n times, in the default form of every public estimator that takes weights.

scikit-learn's check of it leaves out estimators that take a matrix of pairs, which most maps of dissimilarities do.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.utils.validation import has_fit_parameter

import protolearn
from protolearn import CIALVQ

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PUBLIC = {name: getattr(protolearn, name) for name in protolearn.__all__ if hasattr(getattr(protolearn, name), "fit")}
WEIGHTED = {name: kind for name, kind in PUBLIC.items() if has_fit_parameter(kind, "sample_weight")}
OPTIONS = {CIALVQ: {"patch_shape": (1, -1, 1), "prototypes_per_class": 1, "max_iter": 10}}  # rounding grows with time
ANSWERS = ("transform", "decision_function", "predict_proba", "score_samples")
X, y = make_blobs(36, 3, centers=3, cluster_std=1.5, random_state=0)
weights = np.arange(36) % 4
keep = np.repeat(np.arange(36), weights)


@pytest.mark.parametrize("kind", WEIGHTED.values(), ids=WEIGHTED)
def test_weights_are_copies_by_default(kind):
    estimator = kind(**OPTIONS.get(kind, {}))
    if hasattr(estimator, "random_state"):
        estimator.set_params(random_state=0)
    once, copies, new = X, X[keep], X
    if getattr(estimator, "metric", None) == "precomputed":
        once, copies, new = cdist(X, X), cdist(X[keep], X[keep]), cdist(X, X[keep])
    weighted = clone(estimator).fit(once, y, sample_weight=weights)
    repeated = clone(estimator).fit(copies, y[keep])
    assert_array_equal(weighted.predict(once), repeated.predict(new))
    for answer in ANSWERS:
        if hasattr(weighted, answer):
            expected = getattr(repeated, answer)(new)
            size = 1e-5 * np.abs(expected).max()
            assert_allclose(getattr(weighted, answer)(once), expected, rtol=0, atol=size)


def test_what_takes_no_weights():
    """Neighbors, of classes or not, and views: each sample has one place."""
    neighbors = {"LMNN", "LFDA", "LPP"}
    views = {"SNE", "TSNE", "XOM", "SONE", "Charting", "MappedEmbedding", "OutOfSample", "MVU", "ClassicalMDS"}
    assert set(PUBLIC) - set(WEIGHTED) == neighbors | views | {"DiscriminativeEmbedding"}
