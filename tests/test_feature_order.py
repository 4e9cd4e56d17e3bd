"""Results do not depend on the order of features: with the same seed, the same samples are drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import protolearn
from protolearn import (
    GLVQ,
    NGPCA,
    SNE,
    SOM,
    TSNE,
    XOM,
    Charting,
    KMeans,
    MappedEmbedding,
    MatrixKMeans,
    MatrixNeuralGas,
    MixturePPCA,
    NeuralGas,
    OutlierDetector,
    PrototypeClassifier,
)
from protolearn.core.initialization import around_center, column_noise, random_axes, sampling_order, spread_samples
from protolearn.core.sources import ArraySource
from protolearn.maps import Online

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
y = np.arange(180) % 3
X = rng.normal(size=(180, 4))
X[:, 0] += 4 * (y == 1)
X[:, 1] += 4 * (y == 2)
uniform = rng.uniform(size=(180, 7))

PUBLIC = [getattr(protolearn, name) for name in protolearn.__all__ if hasattr(getattr(protolearn, name), "fit")]
PREDICTING = [
    kind() for kind in PUBLIC if hasattr(kind, "predict") and kind.__name__ != "CIALVQ"
]  # patches have a form
OTHERS = [
    GLVQ(3),
    KMeans(5, init="random"),
    MatrixKMeans(3, n_components=1),  # random axes: the covariances are not computed
    MatrixNeuralGas(3, init="center"),
    MixturePPCA(4, 2),
    NeuralGas(5, init="center"),
    NeuralGas(5, online=Online(), max_iter=5),
    NGPCA(3, 2, algorithm="batch"),
    NGPCA(3, 2, n_steps=500),
    NGPCA(3, 2, algorithm="two-stage", n_steps=500),
    OutlierDetector(NeuralGas(8)),
    PrototypeClassifier(KMeans(2), per_class=True),
    SOM((3, 3), online=Online(), max_iter=5, init="random"),
]


def seeded(model):
    """Return a copy whose parts, too, have a seed."""
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
    return clone(model).set_params(**dict.fromkeys(names, 0))


@pytest.mark.parametrize("data", [X, X.astype(np.float32), uniform], ids=["groups", "single", "uniform"])
@pytest.mark.parametrize("model", PREDICTING + OTHERS, ids=repr)
def test_predictions_do_not_depend_on_the_order_of_features(model, data):
    if model.get_params().get("metric") == "precomputed":
        pytest.skip("takes distances")
    model = seeded(model)
    found = clone(model).fit(data, y).predict(data)
    for order in (np.arange(data.shape[1])[::-1], np.random.default_rng(1).permutation(data.shape[1])):
        assert adjusted_rand_score(found, clone(model).fit(data[:, order], y).predict(data[:, order])) == 1.0


def test_charts_do_not_depend_on_the_order_of_features():
    model = Charting(n_charts=6, random_state=0)
    found, other = (clone(model).fit_transform(data) for data in (uniform, uniform[:, ::-1]))
    assert_allclose(cdist(found, found), cdist(other, other), atol=1e-6)


@pytest.mark.parametrize("model", [SNE(), TSNE(), XOM(), MappedEmbedding()], ids=repr)
def test_views_start_the_same(model):
    """After a few steps, as rounding grows, and products are added up in the order of features."""
    model = seeded(model).set_params(max_iter=3)
    found, other = (clone(model).fit(data).embedding_ for data in (X, X[:, ::-1]))
    assert_allclose(found, other, atol=1e-3 * np.abs(found).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_levels", [2, 3, 1000])
def test_samples_are_drawn_by_their_values(dtype, n_levels):
    """Not by their order, nor by that of features, however many are at the same distance from the mean."""
    rng = np.random.default_rng(0)
    data = (rng.integers(0, n_levels, size=(400, 6)) * [1.0, 1.0, 1.0, 1.0, 1.0, -1.0] + 7.0).astype(dtype)
    data[:, 2] = data[:, 1]  # of the same values throughout
    rows, columns = rng.permutation(400), rng.permutation(6)

    def ordered(samples):
        source = ArraySource(samples, origin=samples[0])
        return samples[sampling_order(source, np.random.RandomState(3))]

    expected = ordered(data)
    assert len(np.unique(expected, axis=0)) > 1
    assert_array_equal(ordered(data[rows]), expected)
    assert_array_equal(ordered(data[:, columns]), expected[:, columns])


def test_weights_are_copies_in_the_order_of_drawing():
    weights = np.arange(180) % 4
    copies, weighted = ArraySource(np.repeat(X, weights, axis=0)), ArraySource(X, weights=weights.astype(float))
    order = sampling_order(weighted, np.random.RandomState(0))
    assert_array_equal(
        np.repeat(X[order], weights[order], axis=0),
        np.repeat(X, weights, axis=0)[sampling_order(copies, np.random.RandomState(0))],
    )


@pytest.mark.parametrize("data", [X, X / X.std(axis=0), np.c_[X, -X]], ids=["plain", "standard", "mirrored"])
@pytest.mark.parametrize(
    "draw",
    [
        lambda source, rng: column_noise(source, rng, 3),
        lambda source, rng: around_center(source, 4, rng),
        lambda source, rng: spread_samples(source, 4, rng),
        lambda source, rng: np.abs(random_axes(source, rng, 2, 2)),
    ],
    ids=["noise", "center", "samples", "axes"],
)
def test_random_numbers_belong_to_the_values_of_a_column(draw, data):
    order = np.random.default_rng(0).permutation(data.shape[1])
    here, there = (draw(ArraySource(part), np.random.RandomState(0)) for part in (data, data[:, order]))
    assert_allclose(here[..., order], there, atol=1e-9)
