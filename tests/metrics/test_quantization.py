import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from protolearn.core.fitted import nearest_prototypes
from protolearn.metrics import quantization_error

REDUCTIONS = ["mean_distance", "mean_squared", "half_mean", "half_sum"]
COORDINATES = st.floats(-100, 100, width=32)


def oracle(X, prototypes, counts, reduction):
    errors = []
    for x, count in zip(X, counts):
        errors += [min(math.dist(x, w) for w in prototypes)] * count
    squares = [e * e for e in errors]
    return {
        "mean_distance": sum(errors) / len(errors),
        "mean_squared": sum(squares) / len(errors),
        "half_mean": 0.5 * sum(squares) / len(errors),
        "half_sum": 0.5 * sum(squares),
    }[reduction]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@given(
    X=arrays(np.float64, (6, 2), elements=COORDINATES),
    prototypes=arrays(np.float64, (3, 2), elements=COORDINATES),
    counts=st.lists(st.integers(0, 3), min_size=6, max_size=6).filter(any),
)
def test_weighted_error_of_every_kind(reduction, X, prototypes, counts):
    found = quantization_error(X, prototypes, sample_weight=counts, reduction=reduction)
    assert found == pytest.approx(oracle(X, prototypes, counts, reduction), rel=1e-7, abs=1e-12)


def test_relations_between_the_kinds():
    rng = np.random.default_rng(0)
    X, prototypes, weights = rng.random((40, 3)), rng.random((5, 3)), rng.random(40)
    of = {kind: quantization_error(X, prototypes, sample_weight=weights, reduction=kind) for kind in REDUCTIONS}
    assert of["half_sum"] == pytest.approx(weights.sum() * of["half_mean"], rel=1e-12)
    assert of["half_mean"] == pytest.approx(of["mean_squared"] / 2, rel=1e-12)
    assert of["mean_distance"] ** 2 < of["mean_squared"]


def test_half_sum_is_half_the_inertia_of_kmeans():
    X = np.random.default_rng(0).random((100, 3))
    kmeans = KMeans(4, n_init=1, random_state=0).fit(X)
    found = quantization_error(X, kmeans.cluster_centers_, reduction="half_sum")
    assert found == pytest.approx(kmeans.inertia_ / 2, rel=1e-12)


def test_mean_distance_of_a_planar_gaussian_to_its_center():
    X = np.random.default_rng(0).standard_normal((40_000, 2))
    assert quantization_error(X, [[0.0, 0.0]]) == pytest.approx(np.sqrt(np.pi / 2), abs=0.01)


def test_moves_with_the_data():
    rng = np.random.default_rng(0)
    X, prototypes = rng.random((40, 3)), rng.random((5, 3))
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    plain = quantization_error(X, prototypes)
    assert quantization_error(X @ rotation + 1e3, prototypes @ rotation + 1e3) == pytest.approx(plain, rel=1e-9)
    assert quantization_error(7.0 * X, 7.0 * prototypes) == pytest.approx(7.0 * plain, rel=1e-12)
    assert quantization_error(X[::-1], prototypes[::-1]) == pytest.approx(plain, rel=1e-12)


def test_no_error_on_the_prototypes_even_far_from_the_origin():
    X = np.random.default_rng(0).random((20, 4)) + 1e6
    assert quantization_error(X, X) == 0.0


def test_takes_an_estimator_and_single_precision():
    rng = np.random.default_rng(0)
    X, prototypes = rng.random((30, 2)).astype(np.float32), rng.random((4, 2)).astype(np.float32)
    of_arrays = quantization_error(X, prototypes)
    assert quantization_error(X, SimpleNamespace(prototypes_=prototypes)) == of_arrays
    assert of_arrays == pytest.approx(quantization_error(X.astype(float), prototypes.astype(float)), rel=1e-6)


def test_nearest_prototypes():
    rng = np.random.default_rng(0)
    X, prototypes = rng.random((50, 2)), rng.random((7, 2))
    distances = ((X[:, None] - prototypes) ** 2).sum(axis=2)
    first, second, squared = nearest_prototypes(X, prototypes)
    np.testing.assert_array_equal(np.column_stack([first, second]), np.argsort(distances, axis=1)[:, :2])
    np.testing.assert_allclose(squared, distances.min(axis=1), rtol=1e-9)


def test_samples_on_a_prototype_have_no_error():
    """Also far from the origin, where squares cancel."""
    X = np.random.default_rng(0).random((20, 3)) + 1e6
    assert quantization_error(X, X) < 1e-9


def test_lowest_index_wins_among_equal_prototypes():
    first, second, _ = nearest_prototypes(np.array([[2.0], [-3.0]]), np.array([[1.0], [-1.0], [1.0], [-1.0]]))
    np.testing.assert_array_equal([first, second], [[0, 1], [2, 3]])


def test_says_what_is_wrong():
    with pytest.raises(NotFittedError, match="KMeans has no prototypes yet"):
        quantization_error([[1.0]], KMeans())
    with pytest.raises(ValueError, match="X has 1 features, but the prototypes have 2"):
        quantization_error([[1.0]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="reduction='median' must be one of"):
        quantization_error([[1.0]], [[1.0]], reduction="median")
    with pytest.raises(ValueError, match="negative"):
        quantization_error([[1.0]], [[1.0]], sample_weight=[-1])
