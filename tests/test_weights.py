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
from protolearn import CIALVQ, GLVQ, GMLVQ

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


CLASS_WEIGHTS = {"above one": {0: 3, 1: 1, 2: 2}, "below one": {0: 0.3, 1: 0.1, 2: 0.2}, "balanced": "balanced"}
WITH_CLASSES = {name: kind for name, kind in WEIGHTED.items() if "class_weight" in kind().get_params()}
WHOLE = {"max_iter": 2000, "tol": 1e-12}  # up to the minimum: rounding grows on the way


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS.values(), ids=CLASS_WEIGHTS)
@pytest.mark.parametrize("kind", WITH_CLASSES.values(), ids=WITH_CLASSES)
def test_weights_are_copies_beside_class_weights(kind, class_weight):
    model = kind(**OPTIONS.get(kind, {}), class_weight=class_weight, random_state=0)
    once, copies, new = X, X[keep], X
    if getattr(model, "metric", None) == "precomputed":
        once, copies, new = cdist(X, X), cdist(X[keep], X[keep]), cdist(X, X[keep])
    weighted = clone(model).fit(once, y, sample_weight=weights)
    repeated = clone(model).fit(copies, y[keep])
    assert_allclose(weighted.predict_proba(once), repeated.predict_proba(new), rtol=0, atol=1e-5)


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS.values(), ids=CLASS_WEIGHTS)
@pytest.mark.parametrize("counts", [weights, np.full(36, 4)], ids=["one to three", "four"])
@pytest.mark.parametrize("model", [GLVQ(**WHOLE), GMLVQ(**WHOLE), GMLVQ(regularization=0.1, **WHOLE)], ids=repr)
def test_weights_are_copies_in_a_calibration(model, counts, class_weight):
    """The weight of a class does not make a sample one that comes often."""
    model = clone(model).set_params(calibration=3, class_weight=class_weight, random_state=0)
    rows = np.repeat(np.arange(36), counts)
    weighted = clone(model).fit(X, y, sample_weight=counts)
    repeated = clone(model).fit(X[rows], y[rows])
    assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-5)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", WITH_CLASSES.values(), ids=WITH_CLASSES)
def test_only_ratios_of_class_weights_below_one_matter(kind):
    model = kind(**OPTIONS.get(kind, {}), random_state=0)
    once = cdist(X, X) if getattr(model, "metric", None) == "precomputed" else X
    some, less = (
        clone(model).set_params(class_weight={0: 0.5 * factor, 1: 0.25 * factor, 2: 0.125 * factor}).fit(once, y)
        for factor in (1.0, 2.0**-40)
    )
    assert_allclose(some.predict_proba(once), less.predict_proba(once), rtol=0, atol=1e-9)


def test_what_takes_no_weights():
    """Neighbors, of classes or not, and views: each sample has one place."""
    neighbors = {"LMNN", "LFDA", "LPP"}
    views = {"SNE", "TSNE", "XOM", "SONE", "Charting", "MappedEmbedding", "OutOfSample", "MVU", "ClassicalMDS"}
    assert set(PUBLIC) - set(WEIGHTED) == neighbors | views | {"DiscriminativeEmbedding"}
