import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protolearn.metrics import intrinsic_dimension


@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_cubes_have_their_dimension_wherever_they_lie(dimension):
    rng = np.random.default_rng(dimension)
    X = rng.uniform(size=(3000, dimension)) @ np.linalg.qr(rng.normal(size=(8, dimension)))[0].T
    assert intrinsic_dimension(X, average="harmonic") == pytest.approx(dimension, rel=0.1)


def test_estimate_is_that_of_a_slow_loop():
    X = np.random.default_rng(0).normal(size=(60, 3))
    distances = np.sort(cdist(X, X), axis=1)[:, 1:]
    single, inverse = [], {}
    for k in (4, 5, 6):
        rows = [sum(np.log(row[k - 1] / row[j]) for j in range(k - 1)) / (k - 1) for row in distances]
        single += [1 / value for value in rows]
        inverse[k] = 1 / np.mean(rows)
    assert intrinsic_dimension(X, k1=4, k2=6) == pytest.approx(np.mean(single))
    assert intrinsic_dimension(X, k1=4, k2=6, average="harmonic") == pytest.approx(np.mean(list(inverse.values())))
    assert intrinsic_dimension(cdist(X, X), k1=4, k2=6, metric="precomputed") == pytest.approx(np.mean(single))


def test_scale_and_copies_do_not_matter():
    X = np.random.default_rng(1).normal(size=(200, 3))
    expected = intrinsic_dimension(X)
    assert intrinsic_dimension(1e9 * X) == pytest.approx(expected)
    assert intrinsic_dimension(np.vstack([X, X[:50]])) == pytest.approx(expected)
    D = cdist(np.vstack([X, X[:50]]), np.vstack([X, X[:50]]))
    assert intrinsic_dimension(D, metric="precomputed") == pytest.approx(expected)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="there are 1"):
        intrinsic_dimension(np.ones((30, 2)))
    with pytest.raises(ValueError, match="all pairs"):
        intrinsic_dimension(np.ones((30, 2)), metric="precomputed")
    with pytest.raises(ValueError, match="k1"):
        intrinsic_dimension(np.eye(30), k1=1)
    with pytest.raises(ValueError, match="same distance"):
        intrinsic_dimension(np.eye(30))
