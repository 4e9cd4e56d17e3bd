import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans

from protolearn.dissimilarities import spread_transform
from protolearn.metrics import intra_cluster_cost, quantization_error

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
    assert intra_cluster_cost(S, kmeans.labels_) == pytest.approx(4 * half_sum, rel=1e-9)


def test_errors():
    D = squareform([1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="labels has 2 entries, but D is a matrix of 3 objects"):
        intra_cluster_cost(D, [0, 1])
    with pytest.raises(ValueError, match="must be symmetric"):
        intra_cluster_cost(np.triu(D), [0, 0, 1])
