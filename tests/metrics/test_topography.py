import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from protolearn.core import lattices
from protolearn.metrics import topographic_error, topographic_function, topographic_product


def map_of(prototypes, lattice, graph=None):
    return SimpleNamespace(prototypes_=np.asarray(prototypes, dtype=float), lattice_=lattice, graph_=graph)


def relabeled(lattice, order):
    """Give the same lattice with its nodes numbered in another order."""
    return lattices.from_distances(lattice.distances[np.ix_(order, order)])


class TestTopographicError:
    def oracle(self, X, prototypes, neighbors, counts):
        errors = 0
        for x, count in zip(X, counts):
            by_distance = sorted(range(len(prototypes)), key=lambda i: math.dist(x, prototypes[i]))
            errors += count * (not neighbors(*by_distance[:2]))
        return errors / sum(counts)

    @pytest.mark.parametrize("periodic", [False, True])
    def test_cells_of_a_rectangle_touch_at_corners(self, periodic):
        rng = np.random.default_rng(0)
        rows, cols = 4, 5
        X, prototypes, counts = rng.random((60, 3)), rng.random((rows * cols, 3)), rng.integers(0, 4, 60)

        def gap(a, b, size):
            return min(abs(a - b), size - abs(a - b)) if periodic else abs(a - b)

        def neighbors(i, j):
            return max(gap(i // cols, j // cols, rows), gap(i % cols, j % cols, cols)) == 1

        found = topographic_error(
            X, map_of(prototypes, lattices.rectangular(rows, cols, periodic=periodic)), sample_weight=counts
        )
        assert 0.0 < found < 1.0
        assert found == pytest.approx(self.oracle(X, prototypes, neighbors, counts))

    def test_on_a_graph_only_edges_count(self):
        rng = np.random.default_rng(0)
        X, prototypes, lattice = rng.random((60, 2)), rng.random((15, 2)), lattices.tree(2, 3)
        edges = {tuple(edge) for edge in lattice.edges.tolist()}
        oracle = self.oracle(X, prototypes, lambda i, j: (min(i, j), max(i, j)) in edges, [1] * 60)
        assert topographic_error(X, map_of(prototypes, lattice)) == pytest.approx(oracle)

    def test_weight_counts_samples_and_motions_do_not_matter(self):
        rng = np.random.default_rng(0)
        X, prototypes, lattice = rng.random((60, 2)), rng.random((12, 2)), lattices.hexagonal(3, 4)
        counts = rng.integers(1, 4, 60)
        plain = topographic_error(X, map_of(prototypes, lattice), sample_weight=counts)
        assert topographic_error(np.repeat(X, counts, axis=0), map_of(prototypes, lattice)) == pytest.approx(plain)
        rotation = np.linalg.qr(rng.standard_normal((2, 2)))[0]
        moved = map_of(3 * prototypes @ rotation + 50, lattice)
        assert topographic_error(3 * X @ rotation + 50, moved, sample_weight=counts) == pytest.approx(plain)

    def test_a_sheet_that_lies_flat_has_none(self):
        lattice = lattices.rectangular(5, 6)
        X = np.random.default_rng(0).random((300, 2)) * [5, 4]
        assert topographic_error(X, map_of(lattice.coordinates, lattice)) == 0.0

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match=r"has none \(no attribute lattice_"):
            topographic_error([[1.0]], SimpleNamespace(prototypes_=[[1.0], [2.0]]))
        with pytest.raises(ValueError, match="only one prototype"):
            topographic_error([[1.0]], map_of([[1.0]], lattices.chain(1)))


class TestTopographicProduct:
    def oracle(self, prototypes, lattice_distances):
        """Average over all orders of the neighbors that agree with their distances."""
        k = len(prototypes)
        total = 0.0
        for j in range(k):
            others = [i for i in range(k) if i != j]
            d = {i: math.dist(prototypes[j], prototypes[i]) for i in others}
            g = {i: lattice_distances[j][i] for i in others}
            values = []
            for on_lattice in self.orders(others, g):
                for in_data in self.orders(others, d):
                    logs = [
                        math.log(d[n] / d[m] * g[n] / g[m]) for n, m in zip(on_lattice, in_data)
                    ]  # log Q1(j, l) Q2(j, l)
                    values.append(sum(sum(logs[:m]) / (2 * m) for m in range(1, k)))
            total += sum(values) / len(values)
        return total / (k * (k - 1))

    def orders(self, others, distance):
        ordered = sorted(round(distance[i], 9) for i in others)
        for order in itertools.permutations(others):
            if [round(distance[i], 9) for i in order] == ordered:
                yield order

    def test_by_definition_without_ties(self):
        rng = np.random.default_rng(0)
        positions, prototypes = rng.random((6, 2)), rng.random((6, 3))
        distances = np.linalg.norm(positions[:, None] - positions, axis=2)
        found = topographic_product(map_of(prototypes, lattices.from_distances(distances)))
        assert found == pytest.approx(self.oracle(prototypes, distances), rel=1e-10)

    @pytest.mark.parametrize("lattice", [lattices.rectangular(2, 3), lattices.chain(5), lattices.tree(2, 1)], ids=str)
    def test_ties_are_averaged(self, lattice):
        rng = np.random.default_rng(1)
        k = lattice.n_nodes
        random = rng.random((k, 2))
        on_a_grid = rng.permutation([(i, j) for i in range(3) for j in range(2)])[:k].astype(float)
        for prototypes in (random, on_a_grid):
            found = topographic_product(map_of(prototypes, lattice))
            assert found == pytest.approx(self.oracle(prototypes, lattice.distances), rel=1e-10)

    def test_does_not_depend_on_numbering_place_or_scale(self):
        rng = np.random.default_rng(0)
        lattice = lattices.rectangular(3, 4)
        prototypes = rng.random((12, 3))
        plain = topographic_product(map_of(prototypes, lattice))
        order = rng.permutation(12)
        assert topographic_product(map_of(prototypes[order], relabeled(lattice, order))) == pytest.approx(plain)
        rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        assert topographic_product(map_of(9 * prototypes @ rotation + 5, lattice)) == pytest.approx(plain)
        stretched = lattices.from_distances(4 * lattice.distances)
        assert topographic_product(map_of(prototypes, stretched)) == pytest.approx(plain)

    def test_sign_tells_whether_the_lattice_has_too_few_or_too_many_dimensions(self):
        snake = [(x, y if x % 2 == 0 else 7 - y) for x in range(8) for y in range(8)]
        too_few = topographic_product(map_of(snake, lattices.chain(64)))
        row_by_row = [(8 * x + y, 0) for x in range(8) for y in range(8)]
        too_many = topographic_product(map_of(row_by_row, lattices.rectangular(8, 8)))
        sheet = lattices.rectangular(8, 8)
        fitting = topographic_product(map_of(sheet.coordinates, sheet))
        assert too_few < -0.03
        assert too_many > 0.03
        assert abs(fitting) < 0.01
        assert topographic_product(map_of(sheet.distances @ np.eye(64), lattices.chain(64))) < 0

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match="some prototypes coincide"):
            topographic_product(map_of([[1.0], [1.0], [2.0]], lattices.chain(3)))
        with pytest.raises(ValueError, match="only one prototype"):
            topographic_product(map_of([[1.0]], lattices.chain(1)))


class TestTopographicFunction:
    def oracle(self, n, graph, max_norm, neighbors):
        """Villmann et al. 1997, word by word."""
        d = {}
        for i in range(n):
            steps = self.steps_from(i, graph)
            d |= {(i, j): steps.get(j, math.inf) for j in range(n)}
        pairs = list(d)
        norms = [max_norm(*pair) for pair in pairs]
        largest = max(1, *(v for v in [*d.values(), *norms] if v < math.inf))
        values = {}
        for k in range(1, largest + 1):
            values[k] = sum(max_norm(*pair) > k and d[pair] == 1 for pair in pairs) / n
            values[-k] = sum(neighbors(*pair) and d[pair] > k for pair in pairs) / n
        values[0] = values[1] + values[-1]
        return np.array(sorted(values)), np.array([values[k] for k in sorted(values)])

    def steps_from(self, start, graph):
        """Breadth first search."""
        steps, front = {start: 0}, [start]
        for node in front:
            for other in np.flatnonzero(graph[node]).tolist():
                if other not in steps:
                    steps[other] = steps[node] + 1
                    front.append(other)
        return steps

    def random_graph(self, n, density, seed):
        chances, values = np.random.default_rng(seed).random((2, n, n))
        graph = np.where(chances < density, values, 0)
        np.fill_diagonal(graph, 0)
        return graph + graph.T

    @pytest.mark.parametrize("periodic", [False, True])
    @pytest.mark.parametrize("density", [0.0, 0.03, 0.1])
    def test_by_definition_on_a_rectangle(self, periodic, density):
        rows, cols = 3, 5
        graph = self.random_graph(15, density, seed=1)

        def gaps(i, j):
            down, across = abs(i // cols - j // cols), abs(i % cols - j % cols)
            return (min(down, rows - down), min(across, cols - across)) if periodic else (down, across)

        k, values = topographic_function(
            map_of(np.zeros((15, 1)), lattices.rectangular(rows, cols, periodic=periodic), sparse.csr_array(graph))
        )
        expected_k, expected = self.oracle(
            15, graph, lambda i, j: max(gaps(i, j)), lambda i, j: math.hypot(*gaps(i, j)) == 1
        )
        np.testing.assert_array_equal(k, expected_k)
        np.testing.assert_allclose(values, expected)
        assert values.any()

    @pytest.mark.parametrize(
        "lattice",
        [
            lattices.hexagonal(3, 4),
            lattices.chain(9),
            lattices.tree(2, 2),
            lattices.hyperbolic(7, 1, metric="hyperbolic"),
        ],
        ids=str,
    )
    def test_other_lattices_count_steps_along_edges(self, lattice):
        n = lattice.n_nodes
        graph = self.random_graph(n, 0.15, seed=2)
        adjacency = np.zeros((n, n))
        adjacency[tuple(lattice.edges.T)] = 1
        steps = sparse.csgraph.dijkstra(adjacency, directed=False, unweighted=True).astype(int)
        k, values = topographic_function(map_of(np.zeros((n, 1)), lattice, graph))
        expected_k, expected = self.oracle(n, graph, lambda i, j: steps[i, j], lambda i, j: steps[i, j] == 1)
        np.testing.assert_array_equal(k, expected_k)
        np.testing.assert_allclose(values, expected)

    def test_zero_if_and_only_if_neighbors_agree(self):
        lattice = lattices.rectangular(4, 4)
        k, values = topographic_function(map_of(np.zeros((16, 1)), lattice, lattice.touching().astype(float)))
        assert k[0] == -3
        assert k[-1] == 3
        assert not values.any()
        missing = (lattice.distances == 1).astype(float)
        missing[0, 1] = missing[1, 0] = 0
        k, values = topographic_function(map_of(np.zeros((16, 1)), lattice, missing))
        np.testing.assert_allclose(values, np.isin(k, [-2, -1, 0]) * 2 / 16)

    def test_stored_zeros_are_no_edges(self):
        graph = sparse.csr_array(np.ones((3, 3)))
        graph.data[:] = 0
        _, values = topographic_function(map_of(np.zeros((3, 1)), lattices.chain(3), graph))
        np.testing.assert_allclose(values, [4 / 3, 4 / 3, 4 / 3, 0, 0])

    def test_says_what_is_wrong(self):
        with pytest.raises(ValueError, match="no attribute graph_"):
            topographic_function(SimpleNamespace(lattice_=lattices.chain(3)))
        with pytest.raises(ValueError, match="lattice has 3 nodes"):
            topographic_function(map_of(np.zeros((3, 1)), lattices.chain(3), np.zeros((2, 2))))
