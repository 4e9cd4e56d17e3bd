"""The range of the number types: all estimators on samples multiplied by powers of two, which changes no digits.

Either everything works as it does on the samples themselves, or `fit` says what is wrong; never `predict` alone.
"""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import protolearn
from protolearn import CIALVQ, TSNE, DiscriminativeEmbedding, OutOfSample
from protolearn.tables import TablePreparation

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*never predicts"),
]

PUBLIC = {name: getattr(protolearn, name) for name in protolearn.__all__ if hasattr(getattr(protolearn, name), "fit")}
OPTIONS = {
    CIALVQ: {"patch_shape": (1, -1, 1), "prototypes_per_class": 1, "max_iter": 10},
    OutOfSample: {"embedding": TSNE(max_iter=20, random_state=0)},
    DiscriminativeEmbedding: {"embedding": TSNE(metric="precomputed", max_iter=20, random_state=0)},
}
SHORT = {"SNE", "TSNE", "SONE", "XOM", "MappedEmbedding", "MVU"}
EXPONENTS = {np.float32: (-118, -80, -45, 45, 80, 120), np.float64: (-1020, -480, -270, 260, 500, 700, 1018)}
ANSWERS = ("transform", "distances", "decision_function", "predict_proba", "score_samples", "predict")
REFUSED = r"(too (large|small) for float|powers overflow).*[Rr]?[Ss]cale"

rng = np.random.default_rng(0)
y = np.arange(45) % 3
S = rng.normal(size=(45, 4))
S[:, 0] += 4 * (y == 1)
S[:, 1] += 4 * (y == 2)


def made(name):
    model = PUBLIC[name](**OPTIONS.get(PUBLIC[name], {}))
    if hasattr(model, "random_state"):
        model.set_params(random_state=0)
    return model.set_params(max_iter=20) if name in SHORT else model


def samples(model, dtype, factor=1.0):
    """Return samples or dissimilarities times a factor, in which no digit changes."""
    given = cdist(S, S) if getattr(model, "metric", None) == "precomputed" else S
    return given.astype(dtype) * dtype(factor)


def answers(model, X):
    """Return all that a fitted model says of samples."""
    said = {name: np.asarray(getattr(model, name)(X)) for name in ANSWERS if hasattr(model, name)}
    if hasattr(model, "embedding_"):
        said["embedding"] = model.embedding_
    return said


@pytest.mark.parametrize("dtype", EXPONENTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", PUBLIC)
def test_the_whole_range_works_or_is_refused(name, dtype):
    model = made(name)
    X = samples(model, dtype)
    plain = answers(clone(model).fit(X, y), X)
    for exponent in EXPONENTS[dtype]:
        scaled = samples(model, dtype, 2.0**exponent)
        try:
            fitted = clone(model).fit(scaled, y)
        except ValueError as error:
            assert re.search(REFUSED, str(error)), (exponent, error)  # noqa: PT017
            assert abs(exponent) > (40 if name == "CIALVQ" else 490) or dtype is np.float32, exponent
            continue
        for answer, said in answers(fitted, scaled).items():
            assert np.isfinite(said[np.isfinite(plain[answer])]).all(), (exponent, answer)
            if answer == "predict":
                assert adjusted_rand_score(plain[answer], said) > 0.95, exponent
            if answer == "predict_proba":
                assert_allclose(said, plain[answer], atol=1e-2)


@pytest.mark.parametrize("name", PUBLIC)
def test_new_samples_far_away_are_answered_or_refused(name):
    model = made(name)
    X = samples(model, np.float64)
    fitted = clone(model).fit(X, y)
    for dtype, factor in ((np.float64, 1e-300), (np.float64, 1e100), (np.float64, 1e300), (np.float32, 1e30)):
        for answer in ANSWERS:
            if hasattr(fitted, answer):
                try:
                    said = np.asarray(getattr(fitted, answer)(samples(model, dtype, factor)))
                except ValueError as error:
                    assert re.search(REFUSED, str(error)), (factor, answer, error)  # noqa: PT017
                    assert factor > 1, answer
                else:
                    assert not np.isnan(said).any(), (factor, answer)


@pytest.mark.parametrize("name", ["GRLVQ", "GMLVQ", "LGMLVQ", "LLiRaMLVQ"])
@pytest.mark.parametrize("exponent", [-1000, -600, -480])
def test_a_column_of_any_scale_counts_where_relevances_are_learned(name, exponent):
    model = made(name)
    scaled = S * [2.0**exponent, 1.0, 1.0, 1.0]
    plain, fitted = (clone(model).fit(X, y) for X in (S, scaled))
    assert_allclose(fitted.relevances_, plain.relevances_, atol=1e-6)
    assert_allclose(fitted.predict_proba(scaled), plain.predict_proba(S), atol=1e-6)


def test_a_table_with_a_column_that_cannot_be_scaled_is_refused():
    table = pd.DataFrame(S * [1e-300, 1.0, 1.0, 1.0], columns=list("abcd"))
    with pytest.raises(ValueError, match="Column 'a' contains numbers too small to be scaled"):
        TablePreparation().fit(table)
    TablePreparation().fit(table.assign(a=7e-300))  # the same everywhere
