"""The neighborhood of a large lattice is that of all its pairs, which are never formed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from protolearn import SOM
from protolearn.core.lattices import AllPairs, Structured, chain, hexagonal, hyperbolic, rectangular
from protolearn.core.neighborhoods import OnLattice
from protolearn.core.statistics import Statistics

LATTICES = [
    rectangular(7, 5),
    rectangular(6, 5, periodic=True),
    rectangular(5, 4, periodic=True),
    rectangular(1, 9),
    rectangular(9, 1),
    rectangular(2, 2, periodic=True),
    hexagonal(7, 5),
    hexagonal(6, 4, periodic=True),
    hexagonal(2, 3, periodic=True),
    hexagonal(1, 4),
    chain(11),
    chain(10, periodic=True),
    hyperbolic(7, 2),
]


@pytest.mark.parametrize("lattice", LATTICES, ids=repr)
@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("winner", ["heskes", "nearest"])
def test_weights_are_those_of_all_pairs(lattice, kernel, winner):
    rng = np.random.default_rng(0)
    k = lattice.n_nodes
    for range_ in (0.02, 0.3, 1.0, 5.0, 100.0):
        slow = AllPairs(OnLattice(lattice, winner=winner, kernel=kernel).log_shares(range_))
        fast = Structured(lattice, kernel, range_, winner == "heskes")
        rows, nodes = rng.normal(size=(k, 4)), rng.integers(k, size=3)
        assert_allclose(fast @ rows, slow.mixture @ rows, rtol=1e-11, atol=1e-12)
        assert_allclose(fast.logs(nodes), slow.logs(nodes), rtol=1e-11, atol=1e-12)
        assert_allclose(fast.mixer(np.float64)(rows.T), slow.mixer(np.float64)(rows.T), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("lattice", LATTICES, ids=repr)
def test_shared_sums_keep_their_digits_where_all_samples_are_far(lattice):
    rng = np.random.default_rng(1)
    k = lattice.n_nodes
    moments = np.zeros((k, 4))
    moments[[0, k // 2]] = rng.uniform(1.0, 2.0, (2, 4))
    sums = Statistics(moments, np.zeros(k))
    for range_ in (0.02, 0.3, 2.0):  # the weight of a neighbor is exp(-1250) at the first
        slow = AllPairs(OnLattice(lattice).log_shares(range_)).shared(sums)
        fast = Structured(lattice, "gaussian", range_, True).shared(sums)
        assert_allclose(fast.moments / fast.mass[:, None], slow.moments / slow.mass[:, None], rtol=1e-9)
        logs = [np.log(part.mass) + part.log_scale for part in (fast, slow)]
        assert_allclose(*logs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("lattice", [(8, 6), hexagonal(6, 5, periodic=True), hyperbolic(7, 2)], ids=str)
@pytest.mark.parametrize("winner", ["heskes", "nearest", "heskes-printed"])
def test_a_map_is_the_same_either_way(lattice, winner, monkeypatch):
    X = np.random.default_rng(2).normal(size=(120, 3))
    small = SOM(lattice, neighborhood=OnLattice(winner=winner), max_iter=12).fit(X)
    monkeypatch.setattr("protolearn.core.neighborhoods.DENSE_NODES", 1)
    large = SOM(lattice, neighborhood=OnLattice(winner=winner), max_iter=12).fit(X)
    assert_allclose(large.cost_history_, small.cost_history_, rtol=1e-9)
    assert_allclose(large.prototypes_, small.prototypes_, atol=1e-8)


def test_a_map_of_sketched_shapes_is_the_same_either_way(monkeypatch):
    from protolearn import MatrixSOM

    X = np.random.default_rng(3).normal(size=(60, 70))
    som = MatrixSOM((3, 4), n_components=2, init="pca", max_iter=6, random_state=0)
    small = som.fit(X).prototypes_
    monkeypatch.setattr("protolearn.core.neighborhoods.DENSE_NODES", 1)
    assert_allclose(som.fit(X).prototypes_, small, atol=1e-7)
