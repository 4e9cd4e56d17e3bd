import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import BaseEstimator, clone

from protolearn.core import lattices
from protolearn.core.lattices import (
    Lattice,
    as_lattice,
    chain,
    from_distances,
    from_graph,
    hexagonal,
    hyperbolic,
    rectangular,
    tree,
)

UNIT_EDGE_LATTICES = [
    rectangular(1, 1),
    rectangular(1, 6),
    rectangular(4, 5),
    rectangular(4, 5, periodic=True),
    rectangular(2, 2, periodic=True),
    rectangular(5, 3, periodic=True),
    hexagonal(1, 4),
    hexagonal(5, 4),
    hexagonal(6, 3),
    hexagonal(4, 3, periodic=True),
    hexagonal(6, 5, periodic=True),
    hexagonal(2, 9, periodic=True),
    hexagonal(10, 3, periodic=True),
    chain(1),
    chain(7),
    chain(1, periodic=True),
    chain(2, periodic=True),
    chain(7, periodic=True),
    chain(8, periodic=True),
    tree(1, 4),
    tree(2, 3),
    tree(3, 0),
    tree(3, 2),
    hyperbolic(7, 1),
    hyperbolic(7, 3),
    hyperbolic(9, 2),
]

OTHER_LATTICES = [
    hyperbolic(7, 2, metric="hyperbolic"),
    from_graph([[0, 1, 5], [1, 0, 2], [5, 2, 0]]),
    from_distances(squareform(pdist(np.random.RandomState(0).normal(size=(6, 3))))),
]

ALL_LATTICES = UNIT_EDGE_LATTICES + OTHER_LATTICES


def degrees(lattice):
    return np.bincount(lattice.edges.ravel(), minlength=lattice.n_nodes)


def brute_force_path_lengths(lattice):
    graph = np.zeros((lattice.n_nodes, lattice.n_nodes))
    for i, j in lattice.edges:
        graph[i, j] = graph[j, i] = 1
    return shortest_path(graph, method="FW", unweighted=True)


def edge_lengths_drawn(lattice):
    first, second = lattice.coordinates[lattice.edges].swapaxes(0, 1)
    return np.linalg.norm(first - second, axis=1)


class TestEveryLattice:
    @pytest.mark.parametrize("lattice", ALL_LATTICES, ids=repr)
    def test_distances_are_a_metric(self, lattice):
        distances = lattice.distances
        assert distances.shape == (lattice.n_nodes, lattice.n_nodes)
        np.testing.assert_array_equal(distances, distances.T)
        np.testing.assert_array_equal(np.diag(distances), 0)
        assert np.all(distances[~np.eye(lattice.n_nodes, dtype=bool)] > 0)
        detour = (distances[:, :, None] + distances[None, :, :]).min(axis=1)
        assert np.all(distances <= detour + 1e-12)

    @pytest.mark.parametrize("lattice", UNIT_EDGE_LATTICES, ids=repr)
    def test_distances_are_shortest_paths_over_the_edges(self, lattice):
        np.testing.assert_array_equal(lattice.distances, brute_force_path_lengths(lattice))

    @pytest.mark.parametrize("lattice", ALL_LATTICES, ids=repr)
    def test_edges_are_sorted_unique_pairs(self, lattice):
        assert lattice.edges.shape == (len(lattice.edges), 2)
        assert np.issubdtype(lattice.edges.dtype, np.integer)
        pairs = [tuple(pair) for pair in lattice.edges.tolist()]
        assert pairs == sorted(set(pairs))
        assert all(first < second for first, second in pairs)

    @pytest.mark.parametrize("lattice", ALL_LATTICES, ids=repr)
    def test_nodes_are_drawn_at_different_places(self, lattice):
        assert lattice.coordinates.shape == (lattice.n_nodes, 2)
        assert np.all(np.isfinite(lattice.coordinates))
        apart = cdist(lattice.coordinates, lattice.coordinates) + np.eye(lattice.n_nodes)
        assert apart.min() > 1e-3

    @pytest.mark.parametrize("lattice", ALL_LATTICES, ids=repr)
    def test_touching_contains_the_edges_and_only_rectangles_add_to_them(self, lattice):
        touching = lattice.touching()
        assert touching.dtype == bool
        np.testing.assert_array_equal(touching, touching.T)
        assert not np.diag(touching).any()
        assert touching[tuple(lattice.edges.T)].all()
        if lattice.kind != "rectangular":
            assert touching.sum() == 2 * len(lattice.edges)

    @pytest.mark.parametrize("lattice", ALL_LATTICES, ids=repr)
    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda lattice: pickle.loads(pickle.dumps(lattice))])
    def test_copies_are_equal_and_read_only(self, lattice, copied):
        twin = copied(lattice)
        assert twin == lattice
        assert hash(twin) == hash(lattice)
        for name in ("distances", "coordinates", "edges"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(twin, name)[...] = 0

    @pytest.mark.parametrize("lattice", ALL_LATTICES, ids=repr)
    def test_parts_are_those_of_the_whole(self, lattice):
        k, distances = lattice.n_nodes, lattice.distances
        nodes = np.random.default_rng(0).integers(k, size=(2, 5))
        np.testing.assert_array_equal(lattice.distances_from(nodes[0]), distances[nodes[0]])
        np.testing.assert_array_equal(lattice.touch(*nodes), lattice.touching()[tuple(nodes)])
        positive = distances[distances > 0]
        assert lattice.extent == (positive.min(initial=np.inf) if positive.size else 1.0, distances.max())


class TestLattice:
    @pytest.mark.parametrize("make", [rectangular, hexagonal])
    @pytest.mark.parametrize("periodic", [False, True])
    def test_large_sheets_need_no_pairs(self, make, periodic, monkeypatch):
        monkeypatch.setattr("protolearn.core.validation.available_memory", lambda: 1e8)
        lattice = make(100, 100, periodic=periodic)
        corner = lattice.distances_from([0])[0]
        assert lattice.extent == (1.0, corner.max() if periodic or make is rectangular else lattice.extent[1])
        assert not lattice.touch([0], [5000]).any()
        assert pickle.loads(pickle.dumps(lattice)) == lattice
        for whole in (lambda: lattice.distances, lattice.touching):
            with pytest.raises(MemoryError, match=r"all pairs of 10000 nodes needs .* GB of memory.*; use"):
                whole()

    def test_fields_cannot_be_replaced(self):
        with pytest.raises(AttributeError):
            chain(3).kind = "tree"

    def test_the_arrays_of_the_user_stay_writable_and_apart(self):
        distances, coordinates = np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2)
        lattice = from_distances(distances, coordinates=coordinates)
        distances[0, 1], coordinates[0, 0] = 7.0, 7.0
        assert lattice.distances[0, 1] == 1
        assert lattice.coordinates[0, 0] == 1

    def test_different_lattices_are_not_equal(self):
        assert rectangular(3, 4) == rectangular(3, 4)
        different = [rectangular(3, 4), rectangular(4, 3), rectangular(3, 4, periodic=True), hexagonal(3, 4), chain(12)]
        for i, first in enumerate(different):
            assert [first == second for second in different] == [i == j for j in range(len(different))]
        path_metric, plane_metric = hyperbolic(7, 1), hyperbolic(7, 1, metric="hyperbolic")
        assert path_metric != plane_metric
        assert rectangular(3, 4) != (3, 4)

    def test_estimators_that_hold_a_lattice_can_be_cloned(self):
        class Map(BaseEstimator):
            def __init__(self, lattice=None):
                self.lattice = lattice

        lattice = hexagonal(4, 4)
        assert clone(Map(lattice)).lattice == lattice
        assert repr(Map(lattice)) == "Map(lattice=Lattice(hexagonal, 4 x 4))"

    @pytest.mark.parametrize(
        ("lattice", "text"),
        [
            (rectangular(7, 9), "Lattice(rectangular, 7 x 9)"),
            (hexagonal(8, 9, periodic=True), "Lattice(hexagonal, 8 x 9, torus)"),
            (chain(10), "Lattice(chain, 10 nodes)"),
            (chain(10, periodic=True), "Lattice(chain, 10 nodes, ring)"),
            (hyperbolic(7, 2), "Lattice(hyperbolic, 29 nodes)"),
        ],
    )
    def test_repr_names_kind_and_size(self, lattice, text):
        assert repr(lattice) == text


class TestRectangular:
    def test_distance_is_the_sum_of_steps_and_nodes_go_row_by_row(self):
        lattice = rectangular(3, 4)
        assert (lattice.kind, lattice.shape, lattice.periodic) == ("rectangular", (3, 4), False)
        for a in range(12):
            np.testing.assert_array_equal(lattice.coordinates[a], (a % 4, a // 4))
            for b in range(12):
                assert lattice.distances[a, b] == abs(a // 4 - b // 4) + abs(a % 4 - b % 4)

    @settings(max_examples=20, deadline=None)
    @given(rows=st.integers(1, 7), cols=st.integers(1, 7))
    def test_number_of_edges(self, rows, cols):
        assert len(rectangular(rows, cols).edges) == rows * (cols - 1) + cols * (rows - 1)

    def test_torus_has_four_neighbors_everywhere(self):
        lattice = rectangular(4, 5, periodic=True)
        np.testing.assert_array_equal(degrees(lattice), 4)
        assert lattice.distances.max() == 4 // 2 + 5 // 2

    def test_touching_includes_diagonals(self):
        neighbors = np.flatnonzero(rectangular(3, 4).touching()[5])
        np.testing.assert_array_equal(neighbors, [0, 1, 2, 4, 6, 8, 9, 10])
        np.testing.assert_array_equal(np.flatnonzero(rectangular(3, 4).touching()[0]), [1, 4, 5])

    def test_touching_wraps_around_on_a_torus(self):
        lattice = rectangular(4, 5, periodic=True)
        np.testing.assert_array_equal(lattice.touching().sum(axis=1), 8)
        np.testing.assert_array_equal(np.flatnonzero(lattice.touching()[0]), [1, 4, 5, 6, 9, 15, 16, 19])


class TestHexagonal:
    def test_neighbors_are_one_unit_apart_and_no_others(self):
        lattice = hexagonal(5, 6)
        assert (lattice.kind, lattice.shape, lattice.periodic) == ("hexagonal", (5, 6), False)
        np.testing.assert_allclose(edge_lengths_drawn(lattice), 1)
        close = pdist(lattice.coordinates) < 1.001
        assert close.sum() == len(lattice.edges)

    def test_inner_nodes_have_six_neighbors(self):
        degree = degrees(hexagonal(5, 6)).reshape(5, 6)
        np.testing.assert_array_equal(degree[1:-1, 1:-1], 6)
        assert degree.sum() == 2 * (5 * 5 + 4 * 11)  # along the rows, and between each pair of rows

    @pytest.mark.parametrize(("rows", "cols"), [(4, 3), (4, 4), (6, 3), (8, 9)])
    def test_torus_has_six_neighbors_everywhere(self, rows, cols):
        lattice = hexagonal(rows, cols, periodic=True)
        np.testing.assert_array_equal(degrees(lattice), 6)
        np.testing.assert_array_equal(lattice.touching().sum(axis=1), 6)

    @pytest.mark.parametrize(("rows", "cols"), [(6, 5), (4, 7)])
    def test_torus_looks_the_same_from_every_node(self, rows, cols):
        lattice = hexagonal(rows, cols, periodic=True)
        profiles = np.sort(lattice.distances, axis=1)
        np.testing.assert_array_equal(profiles, np.broadcast_to(profiles[0], profiles.shape))

    def test_torus_with_an_odd_number_of_rows_is_refused(self):
        with pytest.raises(ValueError, match=r"even number of rows, got rows=5.*rows=6"):
            hexagonal(5, 4, periodic=True)


class TestChain:
    def test_open_chain(self):
        lattice = chain(5)
        assert (lattice.kind, lattice.shape) == ("chain", None)
        np.testing.assert_array_equal(lattice.edges, [(0, 1), (1, 2), (2, 3), (3, 4)])
        np.testing.assert_array_equal(lattice.distances[0], np.arange(5))

    def test_ring_is_drawn_on_a_circle_with_unit_steps(self):
        lattice = chain(9, periodic=True)
        np.testing.assert_array_equal(degrees(lattice), 2)
        np.testing.assert_allclose(edge_lengths_drawn(lattice), 1)
        radii = np.linalg.norm(lattice.coordinates, axis=1)
        np.testing.assert_allclose(radii, radii[0])


class TestTree:
    def test_levels(self):
        lattice = tree(3, 3)
        assert lattice.n_nodes == 1 + 3 + 9 + 27
        assert len(lattice.edges) == lattice.n_nodes - 1
        levels = lattice.distances[0]
        np.testing.assert_array_equal(levels, np.repeat([0, 1, 2, 3], [1, 3, 9, 27]))
        np.testing.assert_allclose(np.linalg.norm(lattice.coordinates, axis=1), levels, atol=1e-12)
        degree = degrees(lattice)
        assert degree[0] == 3
        np.testing.assert_array_equal(degree[levels == 1], 4)
        np.testing.assert_array_equal(degree[levels == 3], 1)


class TestHyperbolic:
    @pytest.mark.parametrize(
        ("rings", "n_nodes", "n_edges", "radius"),
        [(1, 8, 14, 0.497), (2, 29, 63, 0.790), (3, 85, 196, 0.922), (4, 232, 546, 0.973)],
    )
    def test_size_with_seven_neighbors(self, rings, n_nodes, n_edges, radius):
        lattice = hyperbolic(7, rings)
        assert (lattice.kind, lattice.shape, lattice.periodic) == ("hyperbolic", None, False)
        assert lattice.n_nodes == n_nodes
        assert len(lattice.edges) == n_edges
        radii = np.linalg.norm(lattice.coordinates, axis=1)
        assert radii.max() == pytest.approx(radius, abs=5e-4)

    @pytest.mark.parametrize(("rings", "n_nodes"), [(1, 9), (2, 41), (3, 161)])
    def test_size_with_eight_neighbors(self, rings, n_nodes):
        assert hyperbolic(8, rings).n_nodes == n_nodes

    def test_default_has_the_85_nodes_of_the_literature(self):
        lattice = hyperbolic()
        np.testing.assert_array_equal(np.bincount(lattice.distances[0].astype(int)), [1, 7, 21, 56])

    @pytest.mark.parametrize("neighbors", [7, 8, 11])
    def test_all_nodes_below_the_last_ring_have_all_their_neighbors(self, neighbors):
        lattice = hyperbolic(neighbors, 3)
        ring = lattice.distances[0]
        degree = degrees(lattice)
        np.testing.assert_array_equal(degree[ring < 3], neighbors)
        assert degree[ring == 3].max() < neighbors

    @pytest.mark.parametrize(("neighbors", "rings"), [(7, 4), (8, 3), (13, 2)])
    def test_edges_are_exactly_the_pairs_at_the_edge_length_of_the_plane(self, neighbors, rings):
        lattice = hyperbolic(neighbors, rings)
        nodes = lattice.coordinates @ [1, 1j]
        quotient = np.abs(nodes[:, None] - nodes) / np.abs(1 - nodes.conj()[:, None] * nodes)
        in_plane = 2 * np.arctanh(quotient)
        length = 2 * np.arccosh(np.cos(np.pi / 3) / np.sin(np.pi / neighbors))
        others = in_plane[np.triu_indices(lattice.n_nodes, k=1)]
        assert others.min() == pytest.approx(length, abs=1e-9)
        np.testing.assert_array_equal(lattice.edges, np.argwhere(np.triu(np.isclose(in_plane, length))))
        np.testing.assert_allclose(
            hyperbolic(neighbors, rings, metric="hyperbolic").distances, in_plane, rtol=1e-9, atol=1e-9
        )

    def test_published_constants(self):
        lattice = hyperbolic(7, 1, metric="hyperbolic")
        assert lattice.distances[0, 1] == pytest.approx(1.0905497, abs=1e-7)
        assert np.linalg.norm(lattice.coordinates[1]) == pytest.approx(0.4969704, abs=1e-7)

    def test_metric_changes_distances_alone(self):
        path, plane = hyperbolic(7, 3), hyperbolic(7, 3, metric="hyperbolic")
        np.testing.assert_array_equal(path.edges, plane.edges)
        np.testing.assert_array_equal(path.coordinates, plane.coordinates)
        edge = plane.distances[0, 1]
        assert np.all(plane.distances <= edge * path.distances + 1e-9)
        assert plane.distances.max() < edge * path.distances.max() - 0.1

    def test_flat_or_spherical_tessellations_are_refused(self):
        with pytest.raises(ValueError, match=r"neighbors=6 must be an integer in .7, inf."):
            hyperbolic(6, 2)
        with pytest.raises(ValueError, match=r"rings=0 must be an integer in .1, inf."):
            hyperbolic(7, 0)
        with pytest.raises(ValueError, match="'path' or 'hyperbolic', got 'euclidean'"):
            hyperbolic(7, 2, metric="euclidean")


class TestFromGraph:
    @pytest.mark.parametrize("container", [np.asarray, np.ndarray.tolist, sparse.csr_array, sparse.coo_matrix])
    def test_any_container_gives_the_lattice_of_its_edges(self, container):
        known = hexagonal(3, 4)
        adjacency = np.zeros((12, 12), dtype=int)
        adjacency[tuple(known.edges.T)] = 1
        lattice = from_graph(container(adjacency + adjacency.T), coordinates=known.coordinates)
        assert lattice.kind == "graph"
        np.testing.assert_array_equal(lattice.distances, known.distances)
        np.testing.assert_array_equal(lattice.edges, known.edges)
        np.testing.assert_array_equal(lattice.coordinates, known.coordinates)

    @settings(max_examples=30, deadline=None)
    @given(seed=st.integers(0, 10**6), k=st.integers(2, 12))
    def test_weighted_paths_agree_with_floyd_and_warshall(self, seed, k):
        rng = np.random.RandomState(seed)
        upper = np.triu(rng.uniform(0.1, 3, (k, k)) * (rng.uniform(size=(k, k)) < 0.4), 1)
        upper[np.arange(k - 1), np.arange(1, k)] = rng.uniform(0.1, 3, k - 1)  # a spanning path keeps it connected
        adjacency = upper + upper.T
        slow = np.where(adjacency > 0, adjacency, np.inf)
        np.fill_diagonal(slow, 0)
        for via in range(k):
            slow = np.minimum(slow, slow[:, [via]] + slow[[via]])
        lattice = from_graph(adjacency)
        np.testing.assert_allclose(lattice.distances, slow)
        np.testing.assert_array_equal(lattice.distances, lattice.distances.T)
        np.testing.assert_array_equal(lattice.edges, np.argwhere(upper))

    def test_a_graph_that_fits_in_the_plane_is_drawn_to_scale(self):
        lattice = from_graph(np.diag([1.0, 2.0, 0.5], 1) + np.diag([1.0, 2.0, 0.5], -1))
        np.testing.assert_allclose(squareform(pdist(lattice.coordinates)), lattice.distances, atol=1e-7)

    def test_loops_and_stored_zeros_are_no_edges(self):
        adjacency = sparse.csr_array(np.array([[9.0, 1, 2], [1, 0, 1], [2, 1, 0]]))
        adjacency[0, 2] = adjacency[2, 0] = 0
        lattice = from_graph(adjacency)
        np.testing.assert_array_equal(lattice.edges, [(0, 1), (1, 2)])
        np.testing.assert_array_equal(lattice.distances[0], [0, 1, 2])

    def test_single_node(self):
        assert from_graph([[0]]).n_nodes == 1

    @pytest.mark.parametrize(
        ("adjacency", "message"),
        [
            ([[0, 1], [0, 0]], "symmetric"),
            ([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "2 separate parts"),
            ([[0, -1], [-1, 0]], "must not be negative, got -1"),
            ([[0, np.inf], [np.inf, 0]], "finite"),
            ([[0, 1, 1], [1, 0, 1]], r"square matrix .* got shape \(2, 3\)"),
        ],
    )
    def test_unusable_graphs_are_refused(self, adjacency, message):
        with pytest.raises(ValueError, match=message):
            from_graph(adjacency)

    def test_coordinates_must_fit(self):
        with pytest.raises(ValueError, match=r"shape \(2, 2\).*got shape \(3, 2\)"):
            from_graph([[0, 1], [1, 0]], coordinates=np.zeros((3, 2)))


class TestFromDistances:
    def test_points_in_the_plane_are_recovered_up_to_motion(self):
        points = np.random.RandomState(3).normal(size=(10, 2))
        distances = cdist(points, points)
        lattice = from_distances(distances)
        assert lattice.kind == "graph"
        np.testing.assert_allclose(lattice.distances, distances)
        np.testing.assert_allclose(cdist(lattice.coordinates, lattice.coordinates), distances, atol=1e-7)

    def test_edges_join_the_pairs_at_the_smallest_positive_distance(self):
        sheet = rectangular(3, 4)
        tenth = from_distances(0.1 * sheet.distances)
        np.testing.assert_array_equal(tenth.edges, sheet.edges)

    def test_nodes_may_coincide(self):
        lattice = from_distances([[0, 0, 2], [0, 0, 2], [2, 2, 0]])
        np.testing.assert_array_equal(lattice.edges, [(0, 2), (1, 2)])
        assert len(from_distances(np.zeros((3, 3))).edges) == 0
        assert from_distances([[0]]).n_nodes == 1

    def test_rounding_errors_are_evened_out(self):
        distances = np.array([[0, 1 / 3], [1 / 3 + 1e-16, 0]])
        lattice = from_distances(distances)
        np.testing.assert_array_equal(lattice.distances, lattice.distances.T)

    @pytest.mark.parametrize(
        ("distances", "message"),
        [
            ([[0, 1], [2, 0]], "symmetric"),
            ([[0, -1], [-1, 0]], "must not be negative, got -1"),
            ([[1, 2], [2, 0]], "zero diagonal"),
            ([[0, np.nan], [np.nan, 0]], "finite"),
            ([0, 1], r"square matrix .* got shape \(2,\)"),
            (np.zeros((0, 0)), "square matrix"),
        ],
    )
    def test_unusable_distances_are_refused(self, distances, message):
        with pytest.raises(ValueError, match=message):
            from_distances(distances)

    def test_coordinates_must_be_finite(self):
        with pytest.raises(ValueError, match="coordinates must be a finite array"):
            from_distances([[0, 1], [1, 0]], coordinates=[[0, 0], [np.nan, 0]])


class TestAsLattice:
    def test_short_descriptions(self):
        lattice = hyperbolic(7, 1)
        assert as_lattice(lattice) is lattice
        assert as_lattice((3, 4)) == rectangular(3, 4)
        assert as_lattice((np.int64(3), np.int64(4))) == rectangular(3, 4)
        assert as_lattice(6) == chain(6)
        assert isinstance(as_lattice(np.int32(6)), Lattice)

    @pytest.mark.parametrize("lattice", ["auto", "hexagonal", (3,), (3, 4, 5), (3.5, 2), (True, 2), 2.5, None, True])
    def test_anything_else_is_refused_with_what_is_allowed(self, lattice):
        with pytest.raises(ValueError, match=r"Lattice .* tuple \(rows, cols\) .* chain; got"):
            as_lattice(lattice)

    @pytest.mark.parametrize("lattice", [0, -3, (0, 4), (4, -1)])
    def test_sizes_must_be_positive(self, lattice):
        with pytest.raises(ValueError, match=r"must be an integer in .1, inf."):
            as_lattice(lattice)


@pytest.mark.parametrize(
    "make",
    [lambda: rectangular(0, 3), lambda: hexagonal(3, 0), lambda: chain(0), lambda: tree(0, 2), lambda: tree(2, -1)],
)
def test_empty_lattices_are_refused(make):
    with pytest.raises(ValueError, match="must be an integer in"):
        make()


@pytest.mark.parametrize(
    ("make", "args", "n_nodes"),
    [
        (rectangular, (10**9, 10**9), "1e+18"),
        (hexagonal, (10**9, 10**10), "1e+19"),
        (chain, (10**13,), "1e+13"),
        (tree, (10, 10**9), "inf"),
        (tree, (1, 10**9), "1000000001"),
        (hyperbolic, (7, 10**9), "inf"),
        (hyperbolic, (10**12, 1), "1e+12"),
        (as_lattice, ((10**6, 10**7),), "1e+13"),
    ],
)
def test_lattices_beyond_all_memory_are_refused_before_anything_is_made(make, args, n_nodes):
    with pytest.raises(MemoryError, match=rf"of {re.escape(n_nodes)} nodes needs .* GB of memory, but only .* use "):
        make(*args)


@pytest.mark.parametrize("size", [(7, 1), (7, 2), (7, 4), (8, 3), (11, 2)])
def test_size_of_hyperbolic_lattices_is_known_in_advance(size):
    assert lattices._tessellation_size(*size) == hyperbolic(*size).n_nodes
