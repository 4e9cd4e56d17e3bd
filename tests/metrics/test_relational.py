import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans

from protolearn.dissimilarities import spread_transform
from protolearn.metrics import dual_cost, intra_cluster_cost, quantization_error

ENTRIES = arrays(np.float64, 15, elements=st.floats(-10, 10))


@given(ENTRIES, st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_intra_cluster_cost_by_its_definition(entries, labels):
    D = squareform(entries)
    expected = 0.0
    for cluster in set(labels):
        members = [j for j in range(6) if labels[j] == cluster]
        expected += sum(D[j, k] for j in members for k in members) / len(members)
    assert intra_cluster_cost(D, labels) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(ENTRIES, st.lists(st.integers(0, 3), min_size=6, max_size=6), st.floats(0, 10))
def test_spreading_raises_the_cost_by_a_known_amount(entries, labels, value):
    D = squareform(entries)
    rise = intra_cluster_cost(spread_transform(D, value), labels) - intra_cluster_cost(D, labels)
    assert rise == pytest.approx(value * (6 - len(set(labels))), abs=1e-9)


def test_costs_of_a_clustering_of_vectors():
    X = np.random.default_rng(0).random((60, 3))
    S = squareform(pdist(X, "sqeuclidean"))
    kmeans = KMeans(4, n_init=1, random_state=0).fit(X)
    half_sum = quantization_error(X, kmeans.cluster_centers_, reduction="half_sum")
    assert intra_cluster_cost(S, kmeans.labels_) == pytest.approx(2 * kmeans.inertia_, rel=1e-9)
    assert dual_cost(S, np.eye(4)[:, kmeans.labels_]) == pytest.approx(half_sum, rel=1e-9)
    assert intra_cluster_cost(S, kmeans.labels_) == pytest.approx(4 * half_sum, rel=1e-9)


def test_dual_cost_is_the_cost_at_the_best_prototypes():
    rng = np.random.default_rng(0)
    X, weights = rng.random((40, 3)), rng.random((5, 40)) ** 4
    W = weights @ X / weights.sum(axis=1, keepdims=True)
    cost = 0.5 * sum(weights[i, j] * ((X[j] - W[i]) ** 2).sum() for i in range(5) for j in range(40))
    assert dual_cost(squareform(pdist(X, "sqeuclidean")), weights) == pytest.approx(cost, rel=1e-12)


@given(ENTRIES, arrays(np.float64, (2, 6), elements=st.floats(0.01, 1)))
def test_dual_cost_by_its_definition(entries, weights):
    S = squareform(entries)
    expected = 0.0
    for h in weights:
        expected += sum(h[s] * h[t] * S[s, t] for s in range(6) for t in range(6)) / (4 * h.sum())
    assert dual_cost(S, weights) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_prototypes_without_weight_cost_nothing():
    S = squareform([1.0, 2.0, 4.0])
    some = [[1.0, 0.5, 0.0]]
    assert dual_cost(S, [*some, [0, 0, 0]]) == dual_cost(S, some) > 0
    assert dual_cost(S, np.zeros((2, 3))) == 0


def test_errors():
    D = squareform([1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="labels has 2 entries, but D is a matrix of 3 objects"):
        intra_cluster_cost(D, [0, 1])
    with pytest.raises(ValueError, match=r"weights.shape == \(3, 2\), expected \(k, 3\)"):
        dual_cost(D, np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"negative values \(smallest -1\)"):
        dual_cost(D, [[1, -1, 1]])
    for cost, other in ((intra_cluster_cost, [0, 0, 1]), (dual_cost, [[1, 1, 1]])):
        with pytest.raises(ValueError, match="must be symmetric"):
            cost(np.triu(D), other)
