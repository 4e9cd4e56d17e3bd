"""All estimators on odd input: it is never changed, and gives a finite result or an error that says what is wrong.

Results follow the scale of the samples, and do not depend on the number of threads.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs

import protolearn
from protolearn import (
    CIALVQ,
    GLVQ,
    GMLVQ,
    GRLVQ,
    LFDA,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    LPP,
    LVQ1,
    LVQ21,
    MVU,
    NGPCA,
    RSLVQ,
    SNE,
    SOM,
    SONE,
    TSNE,
    VQPCA,
    XOM,
    Charting,
    ClassicalMDS,
    DiscriminativeEmbedding,
    KMeans,
    LLiRaMLVQ,
    MappedEmbedding,
    MatrixKMeans,
    MatrixNeuralGas,
    MatrixSOM,
    MedianGLVQ,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    MixturePPCA,
    NeuralGas,
    OutlierDetector,
    OutOfSample,
    PairwiseAnnealing,
    PrototypeClassifier,
    RelationalGLVQ,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from protolearn.core import sources
from protolearn.core.threads import Threads
from protolearn.core.validation import in_range
from protolearn.embedding.costs import tsne
from protolearn.maps import Online, Patches

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

QUICK_VIEW = TSNE(perplexity=3.0, max_iter=15)
ESTIMATORS = [
    KMeans(3),
    NeuralGas(3, max_iter=10),
    NeuralGas(3, max_iter=3, online=Online(), magnification=0.5),
    NeuralGas(3, max_iter=5, patches=Patches(20), label_weight=0.3),
    SOM((2, 2), max_iter=10),
    MatrixKMeans(3, max_iter=10),
    MatrixNeuralGas(3, max_iter=10),
    MatrixNeuralGas(3, n_components=2, max_iter=10, label_weight=0.3),
    MatrixSOM((1, 3), max_iter=10),
    NGPCA(3, 2, n_steps=500),
    NGPCA(3, 2, algorithm="batch", max_iter=10),
    VQPCA(3, 2, max_iter=10),
    MixturePPCA(3, 2, max_iter=10),
    MedianKMeans(3),
    MedianNeuralGas(3, max_iter=10),
    MedianSOM((2, 2), max_iter=10),
    RelationalKMeans(3),
    RelationalNeuralGas(3, max_iter=10),
    RelationalNeuralGas(3, max_iter=10, metric="euclidean"),
    RelationalSOM((2, 2), max_iter=10),
    RelationalGLVQ(),
    RelationalGLVQ(metric="euclidean"),
    MedianGLVQ(),
    PairwiseAnnealing(3, max_iter=15),
    PrototypeClassifier(NeuralGas(1, max_iter=10), per_class=True),
    PrototypeClassifier(MatrixNeuralGas(1, max_iter=10), per_class=True),
    OutlierDetector(NeuralGas(3, max_iter=10)),
    OutlierDetector(MatrixNeuralGas(3, max_iter=10)),
    LVQ1(),
    LVQ21(),
    RSLVQ(max_iter=20),
    RSLVQ(metric="matrix", max_iter=20),
    GLVQ(max_iter=20),
    GLVQ(solver="sgd", max_iter=10),
    GRLVQ(max_iter=20),
    LGRLVQ(max_iter=20),
    GMLVQ(max_iter=20),
    GMLVQ(solver="sgd", max_iter=10),
    GMLVQ(solver="adam", max_iter=10),
    LGMLVQ(max_iter=20),
    LLiRaMLVQ(max_iter=20),
    CIALVQ(1, patch_shape=(1, -1, 1), max_iter=10),
    LMNN(max_iter=20),
    LFDA(),
    LPP(),
    SNE(perplexity=3.0, max_iter=15),
    QUICK_VIEW,
    TSNE(perplexity=3.0, max_iter=15, method="fast"),
    XOM(max_iter=3),
    SONE(max_iter=3),
    Charting(n_init=1),
    MappedEmbedding(cost=tsne(3.0), max_iter=10),
    MappedEmbedding(cost="mds", mapping="linear", max_iter=10),
    MVU(max_iter=20, method="low_rank"),
    ClassicalMDS(),
    OutOfSample(QUICK_VIEW),
    DiscriminativeEmbedding(embedding=QUICK_VIEW),
]
X, y = make_blobs(45, 4, centers=3, cluster_std=1.5, random_state=3)
ALL = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: re.sub(r"\s+", "", repr(e)))


def prepared(estimator):
    """Return a copy with a seed, wherever it has one."""
    copy = clone(estimator)
    seeds = [name for name in copy.get_params() if name.split("__")[-1] == "random_state"]
    return copy.set_params(**dict.fromkeys(seeds, 0))


def pairwise(estimator):
    return getattr(estimator, "metric", None) == "precomputed"


def samples_for(estimator, X):
    return cdist(X, X).astype(X.dtype) if pairwise(estimator) else X


def answers(model, X):
    """Return all that a fitted estimator says about samples."""
    found = {"embedding": model.embedding_} if hasattr(model, "embedding_") else {}
    for name in ("predict", "transform", "decision_function", "predict_proba", "score_samples"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)(X))
    return found


def odd_inputs():
    """Return samples of many kinds that can be learned from, or not."""
    rng = np.random.default_rng(0)
    return {
        "constant": np.ones_like(X),
        "zero": np.zeros_like(X),
        "constant column": np.column_stack([X, np.full(45, 7.0)]),
        "binary columns": (X.mean(axis=0) < X).astype(float),
        "duplicates": np.repeat(X[:15], 3, axis=0),
        "two places": np.repeat(X[[0, -1]], [20, 25], axis=0),
        "one row": X[:1],
        "one far away": np.vstack([X[:-1], X[-1:] + 1e8]),
        "far from zero": X + 1e6,
        "columns of all sizes": X * [1e-9, 1.0, 1e5, 1e9],
        "more columns than rows": rng.normal(size=(45, 60)),
        "one column": X[:, :1],
        "correlated": X[:, [0, 0, 1, 1]] + 1e-12 * rng.normal(size=X.shape),
        "whole numbers": np.round(10 * X).astype(np.int64),
        "float16": X.astype(np.float16),
        "big endian": X.astype(">f8"),
        "long double": X.astype(np.longdouble),
        "Fortran": np.asfortranarray(X),
        "every second": np.repeat(X, 2, axis=0)[::2],
        "read-only": np.frombuffer(X.tobytes()).reshape(X.shape),
        "table": pd.DataFrame(X, columns=list("abcd")),
        "lists": X.tolist(),
        "objects": X.astype(object),
        "denormal": X * 1e-310,
        "nearly endless": X * 1e300,
    }


def wrong_inputs(estimator):
    """Return samples that no estimator takes, but for those that say so."""
    spoilt, endless = X.copy(), X.copy()
    spoilt[3, 1], endless[3, 1] = np.nan, np.inf
    wrong = {
        "infinite": endless,
        "complex": X + 1j,
        "text": np.full(X.shape, "a"),
        "no rows": X[:0],
        "no columns": X[:, :0],
        "one dimension": X[:, 0],
    }
    if not estimator.__sklearn_tags__().input_tags.allow_nan:
        wrong["NaN"] = spoilt
    if not isinstance(estimator, CIALVQ):  # of pictures
        wrong["four dimensions"] = X[:, None, :, None]
    return wrong


def complaint(estimator, name, given):
    """Return what is wrong with the way an input is treated, if anything; results are no complaint if finite."""
    values = np.asarray(given)
    before = values.tolist() if values.dtype.kind == "O" else values.tobytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            found = answers(prepared(estimator).fit(given, np.resize(y, len(values))), given)
    except (ValueError, TypeError) as error:
        ours = type(error) in (ValueError, TypeError) or type(error).__module__.startswith("protolearn.")
        if not ours or len(str(error)) < 20:  # one of another library
            return f"{name}: {type(error).__name__} {error}"
        found = None
    except Exception as error:
        return f"{name}: {type(error).__name__} {error}"
    if before != (values.tolist() if values.dtype.kind == "O" else values.tobytes()):
        return f"{name}: the input was changed"
    for answer, numbers in (found or {}).items():
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            return f"{name}: {answer} is not finite"
    return "" if found is None else f"{name}: accepted"


@ALL
def test_odd_input_gives_a_finite_result_or_a_clear_error(estimator):
    complaints = []
    for name, given in odd_inputs().items():
        samples = np.asarray(given)
        if pairwise(estimator):
            with np.errstate(all="ignore"):
                given = cdist(samples.astype(float), samples.astype(float))
        found = complaint(estimator, name, given)
        complaints += [found] if found and not found.endswith("accepted") else []
    assert not complaints, "\n".join(complaints)


@ALL
def test_wrong_input_is_refused(estimator):
    found = [complaint(estimator, name, given) for name, given in wrong_inputs(estimator).items()]
    assert not any(found), "\n".join(filter(None, found))


def standardized(numbers):
    """Return columns without their mean and size: distances have a factor, logarithms of densities a constant."""
    centered = numbers.astype(np.float64) - numbers.mean(axis=0, dtype=np.float64)
    return centered / np.maximum(np.abs(centered).max(axis=0), np.finfo(np.float64).tiny)


def differences(estimator, X, factors):
    """Return how answers change with the scale of the samples, beyond a factor, or a constant for logarithms."""
    plain = samples_for(estimator, X)
    first = answers(prepared(estimator).fit(plain, y), plain)
    wide = answers(prepared(estimator).fit(plain.astype(np.float64), y), plain.astype(np.float64))
    for factor in factors:
        scaled = plain * X.dtype.type(factor)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                second = answers(prepared(estimator).fit(scaled, y), scaled)
        except Exception as error:
            if not isinstance(error, ValueError) or "scale" not in str(error).lower():
                yield f"{factor:g}: {type(error).__name__} {error}"
            continue
        widened = scaled.shape == X.shape and not in_range(
            scaled
        )  # vectors of single precision whose squares do not fit
        for name, numbers in (wide if widened else first).items():
            if name == "predict":
                gap = np.mean(numbers != second[name])
            else:
                gap = np.abs(standardized(numbers) - standardized(second[name])).max()
            if gap > (0.0 if name == "predict" else 1e-3):
                yield f"{factor:g}: {name} differs by {gap:.2g}"


@ALL
@pytest.mark.parametrize(
    ("dtype", "powers"),
    [(np.float64, (-200, -60, -15, 15, 60, 200)), (np.float32, (-60, -30, 30, 60))],
    ids=["float64", "float32"],
)
def test_results_follow_the_scale_of_the_samples(estimator, dtype, powers):
    samples = (X - X.mean(axis=0)).astype(dtype)
    found = list(differences(estimator, samples, [2.0**power for power in powers]))
    assert not found, "\n".join(found)


THREADED = [estimator for estimator in ESTIMATORS if any("n_jobs" in name for name in estimator.get_params())]


@pytest.mark.parametrize("estimator", THREADED, ids=lambda e: re.sub(r"\s+", "", repr(e)))
def test_results_do_not_depend_on_the_number_of_threads(estimator, monkeypatch):
    monkeypatch.setattr(sources, "LEAST_WORK", 0)  # so that few samples are enough for threads
    monkeypatch.setattr(sources, "CACHED", 0)
    monkeypatch.setattr(Threads, "least", property(lambda self: 1, lambda self, least: None), raising=False)
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "n_jobs"]
    many = np.vstack([X, X[:, ::-1] + 0.1, 1.1 * X, X - 0.1])
    samples, labels = samples_for(estimator, many), np.resize(y, 180)
    one, two = (
        answers(prepared(estimator).set_params(**dict.fromkeys(names, n)).fit(samples, labels), samples) for n in (1, 2)
    )
    for name in one:
        assert_array_equal(one[name], two[name], err_msg=name)


def test_every_public_estimator_is_tried():
    public = {name for name in protolearn.__all__ if isinstance(getattr(protolearn, name), type)} - {"LearnedMetric"}
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}
