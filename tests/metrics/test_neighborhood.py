import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from protolearn.core import lattices
from protolearn.metrics import continuity, map_continuity, map_trustworthiness, trustworthiness


def by_definition(shown, ranked, k):
    """One minus the scaled sum of rank excesses, from two matrices of distances without ties."""
    n = len(shown)
    penalty = 0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        ranks = {j: rank for rank, j in enumerate(sorted(others, key=lambda j: ranked[i][j]), start=1)}
        for j in sorted(others, key=lambda j: shown[i][j])[:k]:
            penalty += max(0, ranks[j] - k)
    return 1 - 2 * penalty / (n * k * (2 * n - 3 * k - 1))


def averaged_over_orders(shown, ranked, k):
    """Do the same with ties: average over every order of the others that agrees with the distances."""
    n = len(shown)
    penalty = 0.0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        values = [
            sum(max(0, in_data.index(j) + 1 - k) for j in on_map[:k])
            for on_map in orders(others, shown[i])
            for in_data in orders(others, ranked[i])
        ]
        penalty += sum(values) / len(values)
    return 1 - 2 * penalty / (n * k * (2 * n - 3 * k - 1))


def orders(others, distance):
    ordered = sorted(distance[j] for j in others)
    return [p for p in itertools.permutations(others) if [distance[j] for j in p] == ordered]


def distance_matrix(points):
    return np.array([[math.dist(a, b) for b in points] for a in points])


def map_of(prototypes, lattice):
    return SimpleNamespace(prototypes_=np.asarray(prototypes, dtype=float), lattice_=lattice)


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 5)), rng.standard_normal((40, 2))


class TestEmbeddings:
    @pytest.mark.parametrize("k", [1, 5, 13])
    def test_by_definition(self, views, k):
        X, Y = views
        in_data, shown = distance_matrix(X), distance_matrix(Y)
        assert trustworthiness(X, Y, k) == pytest.approx(by_definition(shown, in_data, k), abs=1e-12)
        assert continuity(X, Y, k) == pytest.approx(by_definition(in_data, shown, k), abs=1e-12)

    def test_agrees_with_sklearn(self, views):
        X, Y = views
        assert trustworthiness(X, Y, 7) == pytest.approx(sklearn_trustworthiness(X, Y, n_neighbors=7), abs=1e-12)
        assert continuity(X, Y, 7) == pytest.approx(sklearn_trustworthiness(Y, X, n_neighbors=7), abs=1e-12)

    def test_order_place_and_scale_do_not_matter(self, views):
        X, Y = views
        rng = np.random.default_rng(1)
        order, rotation = rng.permutation(40), np.linalg.qr(rng.standard_normal((5, 5)))[0]
        for measure in (trustworthiness, continuity):
            plain = measure(X, Y)
            assert measure(X[order], Y[order]) == pytest.approx(plain, abs=1e-12)
            assert measure(3 * X @ rotation + 5, 0.1 * Y - 2) == pytest.approx(plain, abs=1e-12)
            assert measure(X, 2 * X) == 1.0


class TestMaps:
    @pytest.mark.parametrize("k", [1, 4, 12])
    def test_without_ties_it_is_the_measure_of_the_positions(self, views, k):
        X, positions = views
        estimator = map_of(X, lattices.from_distances(distance_matrix(positions)))
        assert map_trustworthiness(X, estimator, k) == pytest.approx(trustworthiness(X, positions, k), abs=1e-12)
        assert map_continuity(X, estimator, k) == pytest.approx(continuity(X, positions, k), abs=1e-12)

    @pytest.mark.parametrize("lattice", [lattices.rectangular(2, 2), lattices.chain(3), lattices.chain(1)], ids=str)
    @pytest.mark.parametrize("k", [1, 2])
    def test_ties_are_averaged(self, lattice, k):
        rng = np.random.default_rng(lattice.n_nodes)
        prototypes = rng.random((lattice.n_nodes, 2))
        apart = rng.random((6, 2))
        tied = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], dtype=float)
        for X in (apart, tied):
            winners = [min(range(len(prototypes)), key=lambda i: math.dist(x, prototypes[i])) for x in X]
            shown = [[lattice.distances[a, b] for b in winners] for a in winners]
            in_data = distance_matrix(X)
            estimator = map_of(prototypes, lattice)
            trust, kept = map_trustworthiness(X, estimator, k), map_continuity(X, estimator, k)
            assert trust == pytest.approx(averaged_over_orders(shown, in_data, k), abs=1e-12)
            assert kept == pytest.approx(averaged_over_orders(in_data, shown, k), abs=1e-12)

    def test_blocks_make_no_difference(self, monkeypatch):
        rng = np.random.default_rng(0)
        X, estimator = rng.random((60, 3)), map_of(rng.random((12, 3)), lattices.hexagonal(3, 4))
        whole = map_trustworthiness(X, estimator), map_continuity(X, estimator)
        monkeypatch.setattr("protolearn.metrics._neighborhoods.CACHED", 8 * 60 * 7)
        assert (map_trustworthiness(X, estimator), map_continuity(X, estimator)) == pytest.approx(whole, abs=1e-12)

    def test_order_place_and_scale_do_not_matter(self):
        rng = np.random.default_rng(0)
        X, prototypes, lattice = rng.random((50, 3)), rng.random((9, 3)), lattices.rectangular(3, 3)
        rotation, order, nodes = np.linalg.qr(rng.standard_normal((3, 3)))[0], rng.permutation(50), rng.permutation(9)
        renumbered = lattices.from_distances(2 * lattice.distances[np.ix_(nodes, nodes)])
        for measure in (map_trustworthiness, map_continuity):
            plain = measure(X, map_of(prototypes, lattice))
            moved = measure(3 * X[order] @ rotation + 5, map_of(3 * prototypes[nodes] @ rotation + 5, renumbered))
            assert moved == pytest.approx(plain, abs=1e-12)

    def test_an_ordered_map_beats_a_shuffled_one(self):
        rng = np.random.default_rng(0)
        lattice = lattices.rectangular(6, 6)
        X = rng.random((200, 2)) * 5
        for measure in (map_trustworthiness, map_continuity):
            ordered = measure(X, map_of(lattice.coordinates, lattice), 10)
            shuffled = measure(X, map_of(rng.permutation(lattice.coordinates), lattice), 10)
            assert ordered > 0.95
            assert shuffled < 0.85

    def test_says_what_is_wrong(self):
        estimator = map_of([[0.0], [1.0]], lattices.chain(2))
        for measure in (map_trustworthiness, map_continuity):
            with pytest.raises(ValueError, match="n_neighbors=5 must be less than half the number of samples, n=10"):
                measure(np.arange(10.0)[:, None], estimator)
            with pytest.raises(ValueError, match="n_neighbors=0"):
                measure(np.arange(10.0)[:, None], estimator, 0)
            with pytest.raises(ValueError, match="lattice_"):
                measure([[0.0]], SimpleNamespace(prototypes_=[[0.0]]))
