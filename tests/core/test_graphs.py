"""Graphs of neighbors are those of the definition, and what joins their components is as short as can be."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from protolearn.core.graphs import NeighborGraph, PointSet, join_components, nearest_of_new

KINDS = pytest.mark.parametrize("pairs", [False, True], ids=["vectors", "pairs"])


def point_set(X, pairs, new=None):
    """Points, or new points among others, as vectors or by squared distances."""
    given = X if new is None else new
    return PointSet(None, cdist(given, X) ** 2) if pairs else PointSet(given, None)


def edges(graph):
    """The edges of a graph with their lengths, those of length zero among them."""
    graph = graph.tocoo()
    return {(int(i), int(j)): float(np.sqrt(square)) for i, j, square in zip(graph.row, graph.col, graph.data)}


@KINDS
@given(st.integers(0, 10**6), st.integers(2, 25), st.sampled_from([1.0, 2.0**0.5, 2.0, 5.0**0.5]))
@settings(max_examples=25, deadline=None)
def test_a_ball_holds_what_is_as_near_as_its_radius(pairs, seed, n, radius):
    """On a grid, where many points are exactly as far as the radius, or at the same place."""
    rng = np.random.default_rng(seed)
    unit, X = 2.0 ** rng.integers(-3, 4), rng.integers(0, 4, size=(n, 3)) + 100.0
    close = {(i, j) for i in range(n) for j in range(n) if i != j and np.square(X[i] - X[j]).sum() <= round(radius**2)}
    balls = NeighborGraph(radius=radius * unit, components="largest")
    found = balls.of_new(point_set(X, pairs), point_set(X, pairs), unit)
    assert set(edges(found)) == close | {(i, i) for i in range(n)}
    if connected_components(found)[0] == 1:
        assert set(edges(balls.graph(point_set(X, pairs), unit=unit))) == close


@KINDS
@pytest.mark.parametrize("directed", [False, True])
def test_nearest_are_joined_in_one_direction_or_in_both(pairs, directed):
    X = np.random.default_rng(0).normal(size=(30, 4))
    D = cdist(X, X)
    expected = {(i, j) for i in range(30) for j in sorted(range(30), key=lambda j: D[i, j])[1:6]}
    if not directed:
        expected |= {(j, i) for i, j in expected}
    found = edges(NeighborGraph(5).graph(point_set(X, pairs), directed=directed))
    assert set(found) == expected
    assert found == pytest.approx({pair: D[pair] for pair in expected}, rel=1e-12)


@KINDS
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 8))
@settings(max_examples=25, deadline=None)
def test_links_are_a_minimum_spanning_tree_of_the_components(pairs, seed, n, n_parts):
    rng = np.random.default_rng(seed)
    X, parts = rng.normal(size=(n, 3)), np.unique(rng.integers(n_parts, size=n), return_inverse=True)[1]
    D = cdist(X, X)
    cliques = csr_array(np.where(parts[:, None] == parts, D**2, 0.0))
    joined = join_components(cliques, point_set(X, pairs))
    assert connected_components(joined, directed=False)[0] == 1
    known = edges(cliques)
    added = {pair: length for pair, length in edges(joined).items() if pair not in known}
    gaps = np.full((parts.max() + 1,) * 2, np.inf)
    np.minimum.at(gaps, (parts[:, None], parts[None]), D)
    np.fill_diagonal(gaps, 0.0)
    tree = minimum_spanning_tree(np.where(np.isinf(gaps), 0.0, gaps))
    assert len(added) == 2 * parts.max()  # both ways
    assert sum(added.values()) == pytest.approx(2.0 * tree.sum(), rel=1e-12)
    assert all(added[i, j] == added[j, i] for i, j in added)


@KINDS
def test_points_at_the_same_place_are_joined(pairs):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    for neighborhood in (NeighborGraph(2), NeighborGraph(radius=1.0)):
        found = edges(neighborhood.graph(point_set(X, pairs)))
        assert found[0, 1] == found[2, 3] == 0.0
    with pytest.warns(UserWarning, match="2 components"):
        found = edges(NeighborGraph(1, components="connect").graph(point_set(X, pairs)))
    assert found == {(0, 1): 0.0, (1, 0): 0.0, (2, 3): 0.0, (3, 2): 0.0, (0, 2): 1.0, (2, 0): 1.0}


@KINDS
def test_what_becomes_of_a_graph_that_falls_apart(pairs):
    """Four samples in a row, three in another, and one alone."""
    X = np.array([0.0, 1.0, 2.0, 3.0, 20.0, 21.0, 22.0, 50.0])[:, None]
    points = point_set(X, pairs)
    fall = r"With radius=1 the graph of neighbors falls into 3 components, of 4, 3, 1 objects \(1 without neighbors\)"
    with pytest.raises(ValueError, match=fall + r", with no path between them. Raise radius, or .*'connect'"):
        NeighborGraph(radius=1.0).graph(points)
    with pytest.warns(UserWarning, match=fall + ". They were connected by the shortest links"):
        joined = edges(NeighborGraph(radius=1.0, components="connect").graph(points))
    assert {pair: length for pair, length in joined.items() if length > 1.0} == {
        (3, 4): 17.0, (4, 3): 17.0, (6, 7): 28.0, (7, 6): 28.0,
    }  # fmt: skip
    largest = NeighborGraph(radius=1.0, components="largest")
    with pytest.warns(UserWarning, match=fall + r". Only the largest takes part; the other 4 are left out"):
        assert largest.kept(points).tolist() == [0, 1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NeighborGraph(radius=1.0, components="connect").graph(points, quiet=True)
        assert NeighborGraph(radius=30.0, components="largest").kept(points).tolist() == list(range(8))
        assert NeighborGraph(radius=1.0).kept(points).tolist() == list(range(8))


@KINDS
def test_new_points_have_the_neighbors_of_the_definition(pairs):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 3)), np.vstack([rng.normal(size=(20, 3)), [[9.0, 9.0, 9.0]]])
    points, asked, D = point_set(X, pairs), point_set(X, pairs, new), cdist(new, X)
    nearest = {(i, j): D[i, j] for i in range(21) for j in np.argsort(D[i])[:4]}
    assert edges(NeighborGraph(4).of_new(points, asked)) == pytest.approx(nearest, rel=1e-12)
    close = {(i, j): D[i, j] for i in range(21) for j in range(40) if D[i, j] <= 1.7}
    found = {rule: NeighborGraph(radius=1.7, components=rule) for rule in ("raise", "connect", "largest")}
    assert edges(found["largest"].of_new(points, asked)) == pytest.approx(close, rel=1e-12)
    alone = [i for i in range(21) if D[i].min() > 1.7]
    assert 20 in alone
    joined = close | {(i, int(D[i].argmin())): D[i].min() for i in alone}
    assert edges(found["connect"].of_new(points, asked)) == pytest.approx(joined, rel=1e-12)
    with pytest.raises(ValueError, match=rf"{len(alone)} of 21 new samples, number {alone[0]} .* within radius=1.7"):
        found["raise"].of_new(points, asked)
    squares, indices = nearest_of_new(points, asked, 3)
    np.testing.assert_allclose(np.sqrt(squares), np.sort(D, axis=1)[:, :3], rtol=1e-12)
    np.testing.assert_array_equal(indices, np.argsort(D, axis=1)[:, :3])


@pytest.mark.parametrize("bad", [{"radius": 0.0}, {"radius": -1.0}, {"components": "all"}])
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        NeighborGraph(**bad)
