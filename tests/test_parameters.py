"""Wrong values of parameters are refused by a message that names the parameter, for every public estimator."""

import inspect
import re

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_blobs

import protolearn
from protolearn import CIALVQ, MVU, SNE, SONE, TSNE, XOM, MappedEmbedding, OutOfSample, PairwiseAnnealing, applications
from protolearn.core.parameters import declared, grouped
from protolearn.embedding.costs import tsne

pytestmark = pytest.mark.filterwarnings("ignore")

PUBLIC = {
    name: getattr(package, name)
    for package in (protolearn, applications)
    for name in package.__all__
    if inspect.isclass(getattr(package, name)) and issubclass(getattr(package, name), BaseEstimator)
}
QUICK = {
    SNE: {"perplexity": 3.0, "max_iter": 2},
    TSNE: {"perplexity": 3.0, "max_iter": 2},
    XOM: {"max_iter": 2},
    SONE: {"max_iter": 2},
    MVU: {"max_iter": 2, "n_neighbors": 20, "method": "low_rank"},
    MappedEmbedding: {"cost": tsne(3.0), "max_iter": 2},
    OutOfSample: {"embedding": MVU(max_iter=2, n_neighbors=20, method="low_rank")},
    PairwiseAnnealing: {"max_iter": 2},
    applications.DynamicTexture: {"n_components": 2, "n_pca": 5, "n_charts": 2},
    applications.LinearDynamicTexture: {"n_components": 5},
}
ANYTHING = {"random_state", "reject_label"}  # checked by scikit-learn, or of any kind that a label can have
SIGNED = {"magnification"}  # numbers of any sign
X, y = make_blobs(24, 4, random_state=0)
PIXELS = np.random.default_rng(0).integers(0, 255, (6, 16, 16, 3), dtype=np.uint8)
SAMPLES = {
    CIALVQ: X.reshape(-1, 2, 2, 1),
    applications.GrayPowers: PIXELS,
    applications.ImageCompressor: PIXELS[0, ..., 0],
    applications.RegionColors: [(image, np.eye(16, dtype=bool)) for image in PIXELS],
    applications.DynamicTexture: np.random.default_rng(1).random((40, 4, 4)),
    applications.LinearDynamicTexture: np.random.default_rng(1).random((40, 4, 4)),
}


def quick(kind):
    """Return an estimator that is soon fitted, and samples and classes that it takes."""
    estimator = kind(**QUICK.get(kind, {}))
    pairs = getattr(estimator, "metric", None) == "precomputed"
    samples = SAMPLES.get(kind, cdist(X, X) if pairs else X)
    return estimator, samples, y if len(samples) == len(y) else None


def wrong_values(parameter, default):
    """Return values that a parameter with this default cannot have."""
    if parameter in ANYTHING:
        return []
    numbers = [np.nan] if isinstance(default, bool) or parameter in SIGNED else [np.nan, -1.5]
    return [object(), "no", *(numbers if isinstance(default, int | float) else [-1.5])]


def complaint(estimator, samples, classes, parameter, value):
    """Return what is wrong with the way a value is refused, if anything."""
    try:
        estimator.set_params(**{parameter: value}).fit(samples, classes)
    except (ValueError, TypeError) as error:
        return "" if re.search(rf"\b{parameter}\b", str(error)) else f"{parameter}={value!r}: {error}"
    return f"{parameter}={value!r} is accepted"


@pytest.mark.parametrize("kind", PUBLIC.values(), ids=PUBLIC)
def test_every_parameter_has_a_declared_constraint(kind):
    assert set(inspect.signature(kind).parameters) - set(declared(kind)) - set(grouped(kind)) <= ANYTHING


@pytest.mark.parametrize("kind", PUBLIC.values(), ids=PUBLIC)
def test_wrong_values_are_refused_by_name(kind):
    estimator, samples, classes = quick(kind)
    complaints = [
        complaint(clone(estimator), samples, classes, parameter, value)
        for parameter, described in inspect.signature(kind).parameters.items()
        for value in wrong_values(parameter, described.default)
    ]
    assert [found for found in complaints if found] == []


@pytest.mark.parametrize("kind", PUBLIC.values(), ids=PUBLIC)
def test_flags_and_verbosity_are_numpy_or_python_booleans(kind):
    """It is the wrong value alone that is refused: the same estimator takes right ones."""
    estimator, samples, classes = quick(kind)
    given = estimator.get_params(deep=False)
    flags = {name: np.bool_(value) for name, value in given.items() if isinstance(value, bool)}
    verbose = {"verbose": True} if "verbose" in given else {}
    clone(estimator).set_params(**flags, **verbose).fit(samples, classes)
