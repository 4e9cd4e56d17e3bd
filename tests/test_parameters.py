"""Wrong values of parameters are refused by a message that names the parameter, for every public estimator."""

import inspect
import re

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs

import protolearn
from protolearn import MVU, SNE, SONE, TSNE, XOM, MappedEmbedding, OutOfSample, PairwiseAnnealing
from protolearn.embedding.costs import tsne

pytestmark = pytest.mark.filterwarnings("ignore")

PUBLIC = {name: getattr(protolearn, name) for name in protolearn.__all__ if isinstance(getattr(protolearn, name), type)}
QUICK = {
    SNE: {"perplexity": 3.0, "max_iter": 2},
    TSNE: {"perplexity": 3.0, "max_iter": 2},
    XOM: {"max_iter": 2},
    SONE: {"max_iter": 2},
    MVU: {"max_iter": 2, "n_neighbors": 20, "method": "low_rank"},
    MappedEmbedding: {"cost": tsne(3.0), "max_iter": 2},
    OutOfSample: {"embedding": MVU(max_iter=2, n_neighbors=20, method="low_rank")},
    PairwiseAnnealing: {"max_iter": 2},
}
ANYTHING = {"random_state", "reject_label"}  # checked by scikit-learn, or of any kind that a label can have
SIGNED = {"magnification"}  # numbers of any sign
X, y = make_blobs(24, 4, random_state=0)


def quick(kind):
    """Return an estimator that is soon fitted, and samples of the kind that it takes."""
    estimator = kind(**QUICK.get(kind, {}))
    if kind.__name__ == "CIALVQ":
        return estimator, X.reshape(-1, 2, 2, 1)
    return estimator, cdist(X, X) if getattr(estimator, "metric", None) == "precomputed" else X


def wrong_values(parameter, default):
    """Return values that a parameter with this default cannot have."""
    if parameter in ANYTHING:
        return []
    numbers = [np.nan] if isinstance(default, bool) or parameter in SIGNED else [np.nan, -1.5]
    return [object(), "no", *(numbers if isinstance(default, int | float) else [-1.5])]


def complaint(estimator, samples, parameter, value):
    """Return what is wrong with the way a value is refused, if anything."""
    try:
        estimator.set_params(**{parameter: value}).fit(samples, y)
    except (ValueError, TypeError) as error:
        return "" if re.search(rf"\b{parameter}\b", str(error)) else f"{parameter}={value!r}: {error}"
    return f"{parameter}={value!r} is accepted"


@pytest.mark.parametrize("kind", PUBLIC.values(), ids=PUBLIC)
def test_wrong_values_are_refused_by_name(kind):
    estimator, samples = quick(kind)
    complaints = [
        complaint(clone(estimator), samples, parameter, value)
        for parameter, described in inspect.signature(kind).parameters.items()
        for value in wrong_values(parameter, described.default)
    ]
    assert len(complaints) > 5
    assert [found for found in complaints if found] == []


@pytest.mark.parametrize("kind", PUBLIC.values(), ids=PUBLIC)
def test_flags_and_verbosity_are_numpy_or_python_booleans(kind, capsys):
    """It is the wrong value alone that is refused: the same estimator takes right ones."""
    estimator, samples = quick(kind)
    flags = {name: np.bool_(value) for name, value in estimator.get_params(deep=False).items() if value is False}
    verbose = {"verbose": True} if "verbose" in estimator.get_params(deep=False) else {}
    clone(estimator).set_params(**flags, **verbose).fit(samples, y)
