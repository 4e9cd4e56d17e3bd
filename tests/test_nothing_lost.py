"""A fit that fails or is interrupted leaves the old state or a usable new one, and files know who made them.

Faults are planted in every public estimator: an exception at the n-th call of a function of the library.
"""

import copy
import inspect
import pickle
import signal
import sys
import threading
import warnings

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

import protolearn
from protolearn import (
    CIALVQ,
    GLVQ,
    GMLVQ,
    LGMLVQ,
    LVQ1,
    MVU,
    NGPCA,
    SNE,
    SOM,
    TSNE,
    Charting,
    DiscriminativeEmbedding,
    KMeans,
    MappedEmbedding,
    MatrixNeuralGas,
    MedianNeuralGas,
    NeuralGas,
    OutlierDetector,
    OutOfSample,
    PrototypeClassifier,
    RelationalNeuralGas,
    applications,
)
from protolearn.embedding.costs import tsne
from protolearn.maps import Online

pytestmark = pytest.mark.filterwarnings("ignore")

PUBLIC = {
    name: getattr(package, name)
    for package in (protolearn, applications)
    for name in package.__all__
    if inspect.isclass(getattr(package, name)) and issubclass(getattr(package, name), BaseEstimator)
}
VIEW = TSNE(perplexity=3.0, max_iter=5, random_state=0)
QUICK = {
    SNE: {"perplexity": 3.0},
    TSNE: {"perplexity": 3.0},
    NGPCA: {"n_prototypes": 2, "n_components": 1, "n_steps": 3000},
    MVU: {"max_iter": 60, "n_neighbors": 20, "method": "low_rank"},
    Charting: {"local_model": MatrixNeuralGas(2, max_iter=3), "n_init": 1},
    MappedEmbedding: {"cost": tsne(3.0)},
    OutOfSample: {"embedding": VIEW},
    DiscriminativeEmbedding: {"classifier": LGMLVQ(max_iter=4, random_state=0), "embedding": VIEW},
    OutlierDetector: {"estimator": MatrixNeuralGas(2, max_iter=3, random_state=0)},
    CIALVQ: {"patch_shape": (1, -1, 1)},
    applications.DynamicTexture: {"n_components": 2, "n_pca": 5, "n_charts": 2},
    applications.LinearDynamicTexture: {"n_components": 5},
}
WITHOUT_STATE = (applications.GrayPowers, applications.RegionColors)
X, y = make_blobs(24, 4, random_state=0)
WIDER, labels = make_blobs(26, 6, random_state=1)
PIXELS = np.random.default_rng(0).integers(0, 255, (2, 16, 16), dtype=np.uint8)
FRAMES = np.random.default_rng(1).random((40, 4, 4))
SAMPLES = {
    applications.ImageCompressor: (PIXELS[0], PIXELS[1][:, :12]),
    applications.DynamicTexture: (FRAMES, FRAMES[1:, :3]),
    applications.LinearDynamicTexture: (FRAMES, FRAMES[1:, :3]),
}
KINDS = {name: kind for name, kind in PUBLIC.items() if kind not in WITHOUT_STATE}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def quick(kind):
    """Return an estimator that is soon fitted, and arguments for two fits that differ in the number of features."""
    common = {"max_iter": 3, "n_prototypes": 2, "n_clusters": 2, "lattice": (1, 2), "random_state": 0}
    options = {name: value for name, value in common.items() if name in inspect.signature(kind).parameters} | QUICK.get(
        kind, {}
    )
    estimator = kind(**options)
    if kind in SAMPLES:
        return estimator, *((given, None) for given in SAMPLES[kind])
    if getattr(estimator, "metric", None) == "precomputed":
        return estimator, (cdist(X, X), y), (cdist(WIDER, WIDER), labels)
    return estimator, (X, y), (WIDER, labels)


class Fault:
    """Counts the calls of functions of the library, and raises an error at one of them."""

    def __init__(self, at=None, error=None):
        self.at, self.error, self.n_calls = at, error, 0

    def __call__(self, frame, event, _):
        code = frame.f_code
        # a generator is also called when it is thrown away, where errors are not passed on
        if event == "call" and "/protolearn/" in code.co_filename and not code.co_flags & inspect.CO_GENERATOR:
            self.n_calls += 1
            if self.n_calls == self.at:
                raise self.error

    def during(self, function, *args):
        """Call a function."""
        sys.setprofile(self)
        try:
            function(*args)
        finally:
            sys.setprofile(None)
        return self


def count_calls(method, *args):
    """Return how often a method calls functions of the library, once modules are loaded."""
    return min(Fault().during(copy.deepcopy(method), *args).n_calls for _ in range(2))


def state(estimator):
    """Return a digest of everything an estimator holds."""
    return joblib.hash(vars(estimator))


def answers(estimator, samples):
    """Return what a fitted estimator says of samples, or of those it was fitted to."""
    check_is_fitted(estimator)
    for name in ("predict", "transform", "reconstruct"):
        if hasattr(estimator, name) and not isinstance(estimator, applications.DynamicTexture):
            return np.asarray(getattr(estimator, name)(samples))
    return estimator.positions_ if hasattr(estimator, "positions_") else estimator.embedding_


def spread(n_calls, n_points):
    """Return some of the calls of a fit, the last among them."""
    return np.unique(np.linspace(1, n_calls, n_points + 1).astype(int)[1:])


@each_kind
def test_a_failed_second_fit_changes_nothing(kind):
    estimator, first, second = quick(kind)
    n_calls = count_calls(clone(estimator).fit, *second)
    estimator.fit(*first)
    before, said = state(estimator), answers(estimator, first[0])
    for at in spread(n_calls, 3):
        with pytest.raises(Exception):  # noqa: B017, PT011
            Fault(at, RuntimeError("planted")).during(estimator.fit, *second)
        assert state(estimator) == before, at
    with pytest.raises(ValueError):  # noqa: PT011
        estimator.fit(np.full(second[0].shape, np.nan), second[1])
    assert state(estimator) == before
    assert_array_equal(answers(estimator, first[0]), said)


@each_kind
def test_an_interrupted_fit_leaves_the_old_state_or_a_usable_one(kind):
    estimator, first, second = quick(kind)
    n_calls = count_calls(clone(estimator).fit, *second)
    fitted = clone(estimator).fit(*first)
    for number, at in enumerate(spread(n_calls, 5)):
        model = copy.deepcopy(fitted) if number % 2 else clone(estimator)
        before = state(model)
        with pytest.raises(KeyboardInterrupt):
            Fault(at, KeyboardInterrupt()).during(model.fit, *second)
        if state(model) != before:
            assert np.isfinite(answers(model, second[0])).all()
            assert getattr(model, "n_features_in_", None) in (None, np.shape(second[0])[1])
        elif not number % 2:
            with pytest.raises(NotFittedError):
                check_is_fitted(model)
    model.fit(*second)


STREAMS = [
    KMeans(3, random_state=0),
    MatrixNeuralGas(2, max_iter=3, random_state=0),
    NGPCA(2, 1, random_state=0),
    GMLVQ(random_state=0),
    RelationalNeuralGas(3, metric="euclidean", max_iter=3, random_state=0),
    MedianNeuralGas(3, metric="euclidean", max_iter=3, random_state=0),
]


@pytest.mark.parametrize("estimator", STREAMS, ids=lambda e: type(e).__name__)
def test_a_batch_that_fails_leaves_no_trace(estimator):
    taught = {"classes": [0, 1, 2]} if isinstance(estimator, GLVQ) else {}
    plain, shaken = (clone(estimator).partial_fit(X[:12], y[:12], **taught) for _ in range(2))
    n_calls = count_calls(copy.deepcopy(plain).partial_fit, X[12:], y[12:])
    before = state(shaken)
    for at in spread(n_calls, 3):
        with pytest.raises(RuntimeError):
            Fault(at, RuntimeError()).during(shaken.partial_fit, X[12:], y[12:])
        assert state(shaken) == before, at
    plain, shaken = (model.partial_fit(X[12:], y[12:]) for model in (plain, shaken))
    assert_array_equal(answers(shaken, X), answers(plain, X))
    assert_array_equal(shaken.cost_history_, plain.cost_history_)


ENDLESS = {
    "max_iter": [
        NeuralGas(3, random_state=0),
        SOM((2, 2), online=Online(), random_state=0),
        GLVQ(solver="sgd", random_state=0),
        LVQ1(random_state=0),
        TSNE(perplexity=3.0, random_state=0),
    ],
    "n_steps": [NGPCA(2, 1, random_state=0)],
    "estimator__max_iter": [
        PrototypeClassifier(NeuralGas(3, random_state=0)),
        OutlierDetector(MatrixNeuralGas(2, random_state=0)),
    ],
    "embedding__max_iter": [DiscriminativeEmbedding(GLVQ(max_iter=5), TSNE(perplexity=3.0, random_state=0))],
}


@pytest.fixture
def heard():
    """Let signals from the keyboard interrupt: a shell makes commands in the background ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(
    ("estimator", "length"),
    [pytest.param(each, name, id=type(each).__name__) for name, several in ENDLESS.items() for each in several],
)
def test_a_signal_ends_a_fit(estimator, length):
    clone(estimator).set_params(**{length: 3}).fit(X, y)  # compiles what it needs
    estimator = clone(estimator).set_params(**{length: 10**7 if length == "n_steps" else 10**5})
    before = state(estimator)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(X, y)
    finally:
        timer.cancel()
    if state(estimator) != before:
        assert np.isfinite(answers(estimator, X)).all()


@pytest.mark.usefixtures("heard")
def test_a_signal_that_a_solver_takes_for_itself_ends_a_fit():
    pytest.importorskip("scs")
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            MVU(method="sdp").fit(np.random.default_rng(0).normal(size=(120, 20)))
    finally:
        timer.cancel()


# Files


@pytest.mark.parametrize("kind", PUBLIC.values(), ids=PUBLIC)
def test_a_model_of_another_version_is_loaded_with_a_warning(kind, monkeypatch):
    estimator = quick(kind)[0]
    stored = pickle.dumps(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert state(pickle.loads(stored)) == state(estimator)
        assert state(copy.deepcopy(estimator)) == state(estimator)
    monkeypatch.setattr("protolearn.core.estimator.__version__", "99.0")
    with pytest.warns(InconsistentVersionWarning, match=rf"{kind.__name__} .*{protolearn.__version__}.* 99.0"):
        pickle.loads(stored)


def test_a_model_without_a_version_is_loaded_with_a_warning():
    model = GLVQ(max_iter=5).fit(X, y)
    old = GLVQ()
    with pytest.warns(InconsistentVersionWarning, match="version unknown"):
        old.__setstate__(dict(vars(model)))
    assert_array_equal(old.predict(X), model.predict(X))


def test_the_costs_of_a_long_stream_are_those_of_the_last_batches(monkeypatch):
    def after(n_batches):
        model = GLVQ(random_state=0)
        for _ in range(n_batches):
            model.partial_fit(X, y, classes=[0, 1, 2])
        return model

    complete = after(8)
    monkeypatch.setattr("protolearn.lvq._glvq.LONGEST_HISTORY", 5)
    bounded = after(8)
    assert bounded.cost_history_ == complete.cost_history_[-5:]
    assert bounded.n_iter_ == complete.n_iter_ == 8
