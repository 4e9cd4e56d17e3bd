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
from protolearn import (
    CIALVQ,
    GLVQ,
    GMLVQ,
    NGPCA,
    SOM,
    KMeans,
    MatrixNeuralGas,
    MedianKMeans,
    MixturePPCA,
    NeuralGas,
    RelationalNeuralGas,
)
from protolearn.core.density import (
    correlation_dimension,
    correlation_integral,
    mean_pairwise_distance,
    parzen_log_density,
)
from protolearn.metrics import margin_error, quantization_error, topographic_error

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


SCALES = [1e-310, 1e-300, 1e-20, 1e20, 1e300, 1e308]
WORDY = MedianKMeans(3, metric="levenshtein")
SHARES = np.random.default_rng(0).uniform(0.1, 0.9, 36)


@pytest.mark.parametrize("kind", WEIGHTED.values(), ids=WEIGHTED)
def test_scales_of_weights_do_not_matter(kind):
    """Shares have no unit, and numbers beyond 2**32 are no counts."""
    model = kind(**OPTIONS.get(kind, {}))
    if hasattr(model, "random_state"):
        model.set_params(random_state=0)
    once = cdist(X, X) if getattr(model, "metric", None) == "precomputed" else X.astype(np.float32)
    plain = clone(model).fit(once, y, sample_weight=SHARES)
    for scale in SCALES:
        scaled = clone(model).fit(once, y, sample_weight=SHARES * scale)
        assert_array_equal(scaled.predict(once), plain.predict(once))
        for answer in ANSWERS:
            if hasattr(plain, answer):
                expected = getattr(plain, answer)(once)
                size = 1e-5 * np.abs(expected).max()
                assert_allclose(getattr(scaled, answer)(once), expected, rtol=0, atol=size)


def test_scales_of_weights_do_not_matter_to_measures():
    gas, chain = NeuralGas(3, random_state=0).fit(X), SOM((3, 1), random_state=0).fit(X)
    mixture = MixturePPCA(2, random_state=0).fit(X)
    measures = [
        lambda u: gas.score(X, sample_weight=u),
        lambda u: RelationalNeuralGas(3, random_state=0).fit(cdist(X, X)).score(cdist(X, X), sample_weight=u),
        lambda u: mixture.score(X, sample_weight=u),
        lambda u: quantization_error(X, gas, sample_weight=u),
        lambda u: quantization_error(X, gas, sample_weight=u, reduction="half_sum") / u.max(),
        lambda u: topographic_error(X, chain, sample_weight=u),
        lambda u: margin_error(X[:, 0], 2.0, sample_weight=u),
        lambda u: parzen_log_density(X, sample_weight=u),
        lambda u: mean_pairwise_distance(X, sample_weight=u),
        lambda u: correlation_integral(X, [1.0, 3.0], sample_weight=u),
        lambda u: correlation_dimension(X, sample_weight=u),
    ]
    for measure in measures:
        for scale in SCALES[1:-1]:
            assert_allclose(measure(SHARES * scale), measure(SHARES), rtol=1e-9)


def test_weights_that_vanish_beside_the_largest_are_zero():
    u = np.where(np.arange(36) < 30, 1.0, 1e-31)
    assert KMeans(3, random_state=0).fit(X, sample_weight=u).multiplicities_.sum() == 30
    u[:30] *= 1e300
    u[30:] *= 1e300
    assert KMeans(3, random_state=0).fit(X, sample_weight=u).predict(X).shape == (36,)
    lone = np.where(y == 0, 1e-31, 1.0)
    assert GLVQ().fit(X, y, sample_weight=lone).classes_.tolist() == [1, 2]


@pytest.mark.parametrize(
    "model",
    [KMeans(3), NeuralGas(3), SOM((3, 1)), MatrixNeuralGas(3), NGPCA(3, 1, algorithm="online"), WORDY],
    ids=lambda model: type(model).__name__,
)
def test_weights_of_a_stream_have_the_unit_of_the_first(model):
    """Later batches are as heavy beside the first as they were before all were scaled."""
    model = clone(model).set_params(random_state=0)
    samples = [f"{abs(row[0]):.3f}" for row in X] if hasattr(model, "metric_params") else X
    halves = samples[:18], samples[18:]
    first, second = SHARES[:18], 8 * SHARES[18:]
    plain = clone(model).partial_fit(halves[0], sample_weight=first).partial_fit(halves[1], sample_weight=second)
    for scale in (2.0**-1020, 2.0**1015):
        stream = clone(model).partial_fit(halves[0], sample_weight=scale * first)
        stream.partial_fit(halves[1], sample_weight=scale * second)
        assert_allclose(stream.distances(halves[0]), plain.distances(halves[0]), rtol=1e-6, atol=1e-9)
        with pytest.raises(ValueError, match=r"cannot be compared with weights around .* of other samples"):
            stream.partial_fit(halves[1])  # weights of one


def test_weights_of_a_collection_are_comparable():
    da = pytest.importorskip("dask.array")
    parts, far = da.from_array(X, chunks=(18, 3)), da.from_array(SHARES * 1e305, chunks=18)
    with pytest.raises(ValueError, match="cannot be compared"):
        KMeans(3).fit(parts, sample_weight=far)


def test_what_takes_no_weights():
    """Neighbors, of classes or not, and views: each sample has one place."""
    neighbors = {"LMNN", "LFDA", "LPP"}
    views = {"SNE", "TSNE", "XOM", "SONE", "Charting", "MappedEmbedding", "OutOfSample", "MVU", "ClassicalMDS"}
    assert set(PUBLIC) - set(WEIGHTED) == neighbors | views | {"DiscriminativeEmbedding"}
