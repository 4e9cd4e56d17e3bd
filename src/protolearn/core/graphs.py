"""Neighborhood graphs, and the treatment of disconnected graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from protolearn.core.density import squared_distances
from protolearn.core.neighbors import TIED, first_in_matrix, first_nearest, first_smallest
from protolearn.core.parameters import constrained, integer, none, option, positive
from protolearn.core.threads import HELD, Threads, row_blocks
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import require_memory

__all__ = ["GraphPoints", "NeighborGraph", "PointSet", "join_components", "nearest_of_new"]

COMPONENTS = option("raise", "connect", "largest")

BY_PRODUCTS = 1e-8  # relative difference of squared distances by products that may be rounding

Search = Callable[[Array, int], Any]  # vectors to squared distances (n, k) of the nearest others, and which these are


class GraphPoints(Protocol):
    """Points, as vectors (n, d) or by squared distances: of all pairs (n, n), or of new points to others (m, n).

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.graphs import NeighborGraph, GraphPoints, PointSet
    >>> points: GraphPoints = PointSet(vectors=np.array([[0.0], [1.0], [3.0]]), squares=None)
    >>> len(points), NeighborGraph(n_neighbors=1).graph(points).toarray().round(6).tolist()
    (3, [[0.0, 1.0, 0.0], [1.0, 0.0, 4.0], [0.0, 4.0, 0.0]])
    """

    @property
    def vectors(self) -> Array | None:
        """Vectors, if available."""

    @property
    def squares(self) -> Floats | None:
        """Squared distances otherwise."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class PointSet:
    """Points given as arrays, see `GraphPoints`.

    Parameters
    ----------
    vectors : ndarray of shape (n, d) or None
        Vectors, if available.
    squares : ndarray of shape (n, n) or (m, n), or None
        Squared distances otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.graphs import NeighborGraph, PointSet
    >>> squares = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]])
    >>> NeighborGraph(n_neighbors=1).graph(PointSet(None, squares)).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 4.0], [0.0, 4.0, 0.0]]
    """

    vectors: Array | None
    squares: Floats | None

    def __len__(self) -> int:
        return len(self.vectors if self.squares is None else self.squares)  # type: ignore[arg-type]


@constrained(radius=positive | none, components=COMPONENTS)
@dataclass(frozen=True)
class NeighborGraph:
    """Rule for connecting points: each to its nearest neighbors, or all pairs within a radius.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest neighbors to which each point is connected.
    radius : float, optional
        If given, points up to this distance are connected instead.
    components : {"raise", "connect", "largest"}, default="raise"
        Treatment of a disconnected graph: ``"raise"`` raises an error; ``"connect"`` adds the shortest edges that
        connect its components, with a warning; ``"largest"`` keeps only the largest component, with a warning.

    Examples
    --------
    Four points on a line, the last of them far away:

    >>> import numpy as np
    >>> from protolearn.core.graphs import NeighborGraph, PointSet
    >>> line = PointSet(np.array([[0.0], [1.0], [2.0], [9.0]]), None)
    >>> NeighborGraph(n_neighbors=1).graph(line).toarray()
    array([[ 0.,  1.,  0.,  0.],
           [ 1.,  0.,  1.,  0.],
           [ 0.,  1.,  0., 49.],
           [ 0.,  0., 49.,  0.]])
    >>> NeighborGraph(radius=1.5).graph(line)
    Traceback (most recent call last):
    ...
    ValueError: With radius=1.5 the graph of neighbors falls into 2 components, of 3, 1 objects (1 without neighbors...
    """

    n_neighbors: int = 10
    radius: float | None = None
    components: str = "raise"

    def graph(
        self,
        points: GraphPoints,
        search: Search | None = None,
        unit: float = 1.0,
        *,
        directed: bool = False,
        quiet: bool = False,
    ) -> Any:
        """Return the squared distances of neighbors as a connected graph.

        Parameters
        ----------
        points : Points
            Points; with ``components="largest"``, the points of the largest component, see `kept`.
        search : callable, optional
            Function that finds the nearest rows of an array of vectors; by default, all pairs are compared.
        unit : float, default=1.0
            Factor that converts distances of the points to the unit of the radius.
        directed : bool, default=False
            Whether to keep the graph directed, with a row of neighbors for each point. Otherwise, two points are
            connected if one is a neighbor of the other.
        quiet : bool, default=False
            Whether to suppress the warning about components.

        Returns
        -------
        csr_array of shape (n, n)
            The graph. Coinciding points are connected by explicitly stored edges of length zero.
        """
        from scipy.sparse.csgraph import connected_components

        graph = self._joined(points, search, unit, directed)
        n_parts, parts = connected_components(graph, directed=False)
        if n_parts == 1:
            return graph
        if self.components != "connect":
            raise ValueError(
                f"{self._apart(parts)}, with no path between them. Raise {self._name}, or choose components='connect', "
                "which joins them by their shortest links."
            )
        if not quiet:
            warnings.warn(
                f"{self._apart(parts)}. They were connected by the shortest links between them, so their relative "
                f"positions mean little. Raise {self._name}, or use the components one by one.",
                UserWarning,
                stacklevel=3,
            )
        return join_components(graph, points)

    def kept(self, points: GraphPoints, search: Search | None = None, unit: float = 1.0) -> Indices:
        """Return the points of the graph: all, or those of the largest component, the first of equally large ones.

        A warning says how many are left out.
        """
        from scipy.sparse.csgraph import connected_components

        if self.components != "largest":
            return np.arange(len(points))
        parts = connected_components(self._joined(points, search, unit), directed=False)[1]
        kept = np.flatnonzero(parts == np.bincount(parts).argmax())
        if len(kept) < len(parts):
            warnings.warn(
                f"{self._apart(parts)}. Only the largest takes part; the other {len(parts) - len(kept)} are left out.",
                UserWarning,
                stacklevel=3,
            )
        return kept

    def of_new(self, points: GraphPoints, new: GraphPoints, unit: float = 1.0, threads: Threads | None = None) -> Any:
        """Return the squared distances (m, n) of new points to their neighbors among others.

        For new points without neighbors within the radius, an error is raised, the nearest point is used, or, with
        ``components="largest"``, the row is left empty.
        """
        if self.radius is None:
            squares, indices = nearest_of_new(points, new, self.n_neighbors, threads)
            return _assembled(np.repeat(np.arange(len(new)), self.n_neighbors), indices.ravel(), squares.ravel(),
                              (len(new), len(points)))  # fmt: skip
        rows, columns, squares = _within(new, points, self.radius / unit)
        alone = np.setdiff1d(np.arange(len(new)), rows)
        if len(alone) and self.components == "raise":
            raise ValueError(
                f"{len(alone)} of {len(new)} new samples, number {alone[0]} among them, have no neighbor within "
                f"radius={self.radius:g}. Raise it, or choose components='connect', which joins them to their nearest."
            )
        if len(alone) and self.components == "connect":
            lengths, nearest = nearest_of_new(points, new, 1, threads)
            rows, columns = np.append(rows, alone), np.append(columns, nearest[alone, 0])
            squares = np.append(squares, lengths[alone, 0])
        return _assembled(rows, columns, squares, (len(new), len(points)))

    @property
    def _name(self) -> str:
        return "n_neighbors" if self.radius is None else "radius"

    def _joined(self, points: GraphPoints, search: Search | None, unit: float, directed: bool = False) -> Any:
        """Return the graph as it is, symmetric unless it is directed."""
        n = len(points)
        if self.radius is not None:
            rows, columns, squares = _within(points, points, self.radius / unit)
            others = rows != columns
            return _assembled(rows[others], columns[others], squares[others], (n, n))
        integer(1, n - 1).check("n_neighbors", self.n_neighbors)
        if points.vectors is None:
            assert points.squares is not None
            squares, indices = first_in_matrix(points.squares, self.n_neighbors)
        else:
            squares, indices = (search or first_nearest)(points.vectors, self.n_neighbors)
        rows, columns, squares = np.repeat(np.arange(n), self.n_neighbors), indices.ravel(), squares.ravel()
        if not directed:
            rows, columns, squares = np.append(rows, columns), np.append(columns, rows), np.tile(squares, 2)
        return _assembled(rows, columns, squares, (n, n))

    def _apart(self, parts: Indices) -> str:
        sizes = np.sort(np.bincount(parts))[::-1]
        shown = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
        alone = int((sizes == 1).sum())
        return (
            f"With {self._name}={getattr(self, self._name):g} the graph of neighbors falls into {len(sizes)} "
            f"components, of {shown} objects" + (f" ({alone} without neighbors)" if alone else "")
        )


def join_components(graph: Any, points: GraphPoints) -> Any:
    """Connect the components of a graph by the shortest edges between them.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Squared distances of neighbors.
    points : Points
        The points.

    Returns
    -------
    csr_array of shape (n, n)
        The graph with a minimum spanning tree of its components, whose edges are stored in both directions.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from protolearn.core.graphs import PointSet, join_components
    >>> line = PointSet(np.array([[0.0], [1.0], [4.0]]), None)
    >>> join_components(csr_array((3, 3)), line).toarray()
    array([[0., 1., 0.],
           [1., 0., 9.],
           [0., 9., 0.]])
    """
    from scipy.sparse.csgraph import connected_components

    n_parts, parts = connected_components(graph, directed=False)
    while n_parts > 1:  # Boruvka's algorithm
        first, second, squares = _shortest_links(points, parts)
        old = graph.tocoo()
        rows, columns = (np.concatenate(ends) for ends in ((old.row, first, second), (old.col, second, first)))
        graph = _assembled(rows, columns, np.concatenate([old.data, squares, squares]), graph.shape)
        n_parts, parts = connected_components(graph, directed=False)
    return graph


def nearest_of_new(
    points: GraphPoints, new: GraphPoints, k: int, threads: Threads | None = None
) -> tuple[Floats, Indices]:
    """Return squared distances (m, k) of new points to the nearest of others, in order, and which these are.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.graphs import PointSet, nearest_of_new
    >>> line, new = PointSet(np.array([[0.0], [1.0], [4.0]]), None), PointSet(np.array([[3.0]]), None)
    >>> nearest_of_new(line, new, 2)
    (array([[1., 4.]]), array([[2, 1]]))
    """
    integer(1, len(points)).check("n_neighbors", k)
    if new.squares is None:
        return first_nearest(points.vectors, k, threads, new=new.vectors)  # type: ignore[arg-type]
    indices = first_smallest(new.squares, k)
    squares = np.take_along_axis(new.squares, indices, axis=1)
    order = np.argsort(squares, axis=1, kind="stable")
    return np.take_along_axis(squares, order, axis=1), np.take_along_axis(indices, order, axis=1)


def _squares(new: GraphPoints, points: GraphPoints, rows: Any) -> Floats:
    """Return the squared distances (b, n) of some new points to others, in an array of its own."""
    if new.squares is not None:
        return new.squares[rows].astype(np.float64)
    assert new.vectors is not None
    assert points.vectors is not None
    return squared_distances(new.vectors[rows], points.vectors)


def _squares_at(new: GraphPoints, points: GraphPoints, rows: Indices, columns: Indices) -> Floats:
    """Return the squared distances (e,) of pairs of new points and others, by their differences."""
    if new.squares is not None:
        return new.squares[rows, columns].astype(np.float64)
    assert new.vectors is not None
    assert points.vectors is not None
    squares = np.empty(len(rows))
    for part in row_blocks(len(rows), 8 * points.vectors.shape[1], HELD):
        gaps = new.vectors[rows[part]].astype(np.float64) - points.vectors[columns[part]]
        squares[part] = np.einsum("ij,ij->i", gaps, gaps)
    return squares


def _within(new: GraphPoints, points: GraphPoints, radius: float) -> tuple[Indices, Indices, Floats]:
    """Return the pairs of new points and others up to a distance, or beyond it by rounding, and their squares."""
    found, count, n = [], 0, len(points)
    for part in row_blocks(len(new), 8 * n, HELD):
        rows, columns = np.nonzero(_squares(new, points, part) <= radius**2 * (1.0 + BY_PRODUCTS))
        rows += part.start
        squares = _squares_at(new, points, rows, columns)
        inside = squares <= radius**2 * (1.0 + TIED)
        found.append((rows[inside], columns[inside], squares[inside]))
        count += len(squares)
        require_memory(f"A graph of at least {count} neighbors", 3 * 8 * count, "lower the radius")
    rows, columns, squares = (np.concatenate(parts) for parts in zip(*found))
    return rows, columns, squares


def _shortest_links(points: GraphPoints, parts: Indices) -> tuple[Indices, Indices, Floats]:
    """Return the shortest link from each component but the largest to another: both ends, and the squared length."""
    outside = np.flatnonzero(parts != np.bincount(parts).argmax())
    nearest, squares = np.empty(len(outside), np.intp), np.empty(len(outside))
    for part in row_blocks(len(outside), 8 * len(points), HELD):
        block = _squares(points, points, outside[part])
        block[parts[outside[part], None] == parts] = np.inf
        nearest[part] = first_smallest(block, 1)[:, 0]
        squares[part] = _squares_at(points, points, outside[part], nearest[part])
    least = np.full(parts.max() + 1, np.inf)
    np.minimum.at(least, parts[outside], squares)
    candidates = np.flatnonzero(squares <= least[parts[outside]] * (1.0 + TIED))
    _, first = np.unique(parts[outside[candidates]], return_index=True)  # the first of equally short ones
    chosen = candidates[first]
    return outside[chosen], nearest[chosen], squares[chosen]


def _assembled(rows: Indices, columns: Indices, squares: Floats, shape: tuple[int, int]) -> Any:
    """Return a graph of given edges, each of which counts once.

    It is built from its entries, since sums and maxima of sparse matrices would lose edges of length zero.
    """
    from scipy.sparse import csr_array

    edges, first = np.unique(rows.astype(np.int64) * shape[1] + columns, return_index=True)
    places = (edges // shape[1]).astype(np.int32), (edges % shape[1]).astype(np.int32)
    return csr_array((squares[first], places), shape=shape)
