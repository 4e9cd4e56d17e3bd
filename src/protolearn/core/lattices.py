"""Lattices: arrangements of the prototypes of a self-organizing map, and their distances on the map.

A lattice consists of symmetric distances between nodes and of positions for drawing. The distances of sheets and chains
are computed on demand from rows and columns, so these lattices can be large. The functions of this module build
rectangular and hexagonal sheets (optionally closed to a torus), chains and rings, trees, hyperbolic lattices, and
lattices from a given graph or given distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components, shortest_path

from protolearn.core.numerics import decayed, flushed, longer_side_positive
from protolearn.core.parameters import constrained, integer
from protolearn.core.statistics import Statistics
from protolearn.core.threads import HELD, row_blocks
from protolearn.core.types import Array, Bools, Floats
from protolearn.core.validation import require_memory

__all__ = [
    "AllPairs",
    "Lattice",
    "Structured",
    "as_lattice",
    "chain",
    "from_distances",
    "from_graph",
    "hexagonal",
    "hyperbolic",
    "log_kernel",
    "rectangular",
    "suggest_lattice",
    "tree",
]

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """Arrangement of k nodes, one for each prototype of a map.

    Lattices are created by the functions of this module, such as `rectangular` or `hyperbolic`. They are immutable: the
    arrays are read-only.

    Parameters
    ----------
    given : ndarray of shape (k, k) or None
        Distances between the nodes; None for a sheet or a chain, whose distances are computed from rows and columns.
    coordinates : ndarray of shape (k, 2)
        Position of each node in drawings.
    edges : ndarray of shape (e, 2)
        Sorted pairs of connected nodes, the smaller index first.
    kind : {"rectangular", "hexagonal", "chain", "tree", "hyperbolic", "graph"}
        Type of the lattice.
    shape : tuple (rows, cols) or None, default=None
        Size of a rectangular or hexagonal sheet, whose nodes are numbered in row-major order.
    periodic : bool, default=False
        Whether a sheet is closed to a torus, or a chain to a ring.

    Examples
    --------
    >>> from protolearn.core.lattices import hexagonal
    >>> lattice = hexagonal(8, 9, periodic=True)
    >>> lattice
    Lattice(hexagonal, 8 x 9, torus)
    >>> lattice.n_nodes, lattice.distances.shape, len(lattice.edges)
    (72, (72, 72), 216)
    """

    given: Floats | None
    coordinates: Floats
    edges: Indices
    kind: str
    shape: tuple[int, int] | None = None
    periodic: bool = False

    def __post_init__(self) -> None:
        if self.kind in ("rectangular", "hexagonal", "chain"):
            object.__setattr__(self, "given", None)
        for name, dtype in (("given", np.float64), ("coordinates", np.float64), ("edges", np.intp)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _read_only(np.array(getattr(self, name), dtype=dtype)))

    @property
    def n_nodes(self) -> int:
        """Number of nodes k."""
        return len(self.coordinates)

    @property
    def sheet(self) -> LatticeSheet | None:
        """Rows and columns of a sheet (one row for a chain); None for other lattices."""
        if self.given is not None:
            return None
        return LatticeSheet(*(self.shape or (1, self.n_nodes)), self.periodic, self.kind == "hexagonal")

    @cached_property
    def distances(self) -> Floats:
        """Distances (k, k) between all nodes; by default, lengths of shortest paths over edges of length one."""
        if self.given is not None:
            return self.given
        _require_all_pairs(self.n_nodes, "distances_from some nodes at a time, or a smaller lattice")
        return _read_only(self.distances_from(np.arange(self.n_nodes)))

    def distances_from(self, nodes: Indices) -> Floats:
        """Return the distances of some nodes to all nodes, of shape (len(nodes), k).

        Examples
        --------
        >>> rectangular(200, 200).distances_from([0])[0, -1]
        np.float64(398.0)
        """
        sheet = self.sheet
        if sheet is None:
            assert self.given is not None
            return self.given[nodes]
        return sheet.distances(np.asarray(nodes)[:, None], np.arange(self.n_nodes))

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Smallest and largest distance between two nodes; 1 and 0 if all nodes coincide."""
        sheet = self.sheet
        if sheet is None:
            seen = self.distances
        else:  # both separations are widest from a border
            columns = np.arange(self.n_nodes) % sheet.cols
            seen = self.distances_from(np.flatnonzero((columns == 0) | (columns == sheet.cols - 1)))
        return (float(seen[seen > 0].min()) if seen.any() else 1.0), float(seen.max())

    def touching(self) -> Bools:
        """Return which pairs of nodes are neighbors on the map.

        Neighbors are the ends of each edge and, on rectangular lattices, also cells that share only a corner.

        Returns
        -------
        ndarray of shape (k, k), bool
            Symmetric, with a false diagonal.
        """
        _require_all_pairs(self.n_nodes, "touch for some pairs, or a smaller lattice")
        nodes = np.arange(self.n_nodes)
        return self.touch(nodes[:, None], nodes)

    def touch(self, first: Indices, second: Indices) -> Bools:
        """Return whether given pairs of nodes are neighbors on the map, as in `touching`.

        Examples
        --------
        >>> rectangular(200, 200).touch([0, 0], [201, 402])
        array([ True, False])
        """
        first, second = np.asarray(first), np.asarray(second)
        if self.kind == "rectangular" and self.sheet is not None:
            return np.maximum(*self.sheet.separations(first, second)) == 1
        joined = self.edges @ np.array([self.n_nodes, 1])
        return np.isin(np.minimum(first, second) * self.n_nodes + np.maximum(first, second), joined)

    def __repr__(self) -> str:
        size = f"{self.n_nodes} nodes" if self.shape is None else "{} x {}".format(*self.shape)
        closed = (", ring" if self.kind == "chain" else ", torus") if self.periodic else ""
        return f"Lattice({self.kind}, {size}{closed})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lattice):
            return NotImplemented
        if (self.given is None) != (other.given is None):
            return False
        return self._description == other._description and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("given", "coordinates", "edges")
        )

    def __hash__(self) -> int:
        return hash(self._description)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and pickles go through the constructor, so that their arrays are read-only as well.
        return Lattice, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def _description(self) -> tuple[str, int, tuple[int, int] | None, bool]:
        return self.kind, self.n_nodes, self.shape, self.periodic


@dataclass(frozen=True)
class LatticeSheet:
    """Rows and columns of a sheet, from which distances are computed; a chain has one row.

    Parameters
    ----------
    rows, cols : int
        Size.
    periodic : bool
        Whether opposite borders are connected.
    hexagonal : bool
        Whether every other row is shifted by half a cell, and steps go to six neighbors instead of four.
    """

    rows: int
    cols: int
    periodic: bool
    hexagonal: bool

    def separations(self, first: Indices, second: Indices) -> tuple[Floats, Floats]:
        """Return the horizontal and vertical separations of nodes."""
        (row, col), (other_row, other_col) = np.divmod(first, self.cols), np.divmod(second, self.cols)
        down = _separations(row, other_row, self.rows, self.periodic)
        if self.hexagonal:
            col, other_col = col + 0.5 * (row % 2), other_col + 0.5 * (other_row % 2)
        return _separations(col, other_col, self.cols, self.periodic), down

    def distances(self, first: Indices, second: Indices) -> Floats:
        """Return the lengths of the shortest paths between nodes."""
        across, down = self.separations(first, second)
        # Each step to another row of hexagons also goes half a cell across; what is left is walked along the row. The
        # length grows with either separation, so that on a torus each can take its shorter way round on its own.
        return np.maximum(down, across + down / 2) if self.hexagonal else across + down

    def edges(self) -> Indices:
        """Return the pairs of nodes at distance one, sorted."""
        nodes = np.arange(self.rows * self.cols)
        row, col = np.divmod(nodes, self.cols)
        pairs = []
        for down, across in ((0, 1), (1, -1), (1, 0), (1, 1)):
            other_row, other_col = row + down, col + across
            inside = (other_row < self.rows) & (other_col >= 0) & (other_col < self.cols)
            others = other_row % self.rows * self.cols + other_col % self.cols
            near = (self.distances(nodes, others) == 1) & (inside | self.periodic)
            pairs.append(np.column_stack([np.minimum(nodes, others), np.maximum(nodes, others)])[near])
        return np.unique(np.concatenate(pairs), axis=0)


@constrained(rows=integer(1), cols=integer(1))
def rectangular(rows: int, cols: int, *, periodic: bool = False) -> Lattice:
    """Make a rectangular sheet whose nodes have four neighbors.

    Parameters
    ----------
    rows, cols : int
        Size of the sheet. Node `row * cols + col` is drawn at (col, row).
    periodic : bool, default=False
        Whether to connect opposite borders, which makes the sheet a torus.

    Returns
    -------
    Lattice
        Lattice whose distances are path lengths, the sum of horizontal and vertical steps.

    Examples
    --------
    >>> from protolearn.core.lattices import rectangular
    >>> rectangular(2, 3).distances[0]
    array([0., 1., 2., 1., 2., 3.])
    """
    _require_nodes(rows * cols)
    row, col = np.divmod(np.arange(rows * cols), cols)
    edges = LatticeSheet(rows, cols, periodic, hexagonal=False).edges()
    return Lattice(None, np.column_stack([col, row]), edges, "rectangular", (rows, cols), periodic)


@constrained(rows=integer(1), cols=integer(1))
def hexagonal(rows: int, cols: int, *, periodic: bool = False) -> Lattice:
    """Make a sheet of hexagonal cells, whose nodes have six neighbors.

    Every other row is shifted by half a cell.

    Parameters
    ----------
    rows, cols : int
        Size of the sheet. Node `row * cols + col` is drawn at the center of its hexagon; neighboring centers have
        distance 1.
    periodic : bool, default=False
        Whether to connect opposite borders, which makes the sheet a torus. This needs an even number of rows.

    Returns
    -------
    Lattice
        Lattice whose distances are path lengths.

    Examples
    --------
    >>> from protolearn.core.lattices import hexagonal
    >>> hexagonal(3, 3).distances[4]  # from the middle
    array([2., 1., 1., 1., 0., 1., 2., 1., 1.])
    """
    if periodic and rows % 2:
        raise ValueError(
            f"A hexagonal torus needs an even number of rows, got rows={rows}: use rows={rows + 1} or periodic=False."
        )
    _require_nodes(rows * cols)
    row, col = np.divmod(np.arange(rows * cols), cols)
    centers = np.column_stack([col + 0.5 * (row % 2), row * np.sqrt(3) / 2])
    edges = LatticeSheet(rows, cols, periodic, hexagonal=True).edges()
    return Lattice(None, centers, edges, "hexagonal", (rows, cols), periodic)


@constrained(n_nodes=integer(1))
def chain(n_nodes: int, *, periodic: bool = False) -> Lattice:
    """Make a chain of nodes, or a ring.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    periodic : bool, default=False
        Whether to connect both ends, which makes the chain a ring; it is drawn as a circle.

    Returns
    -------
    Lattice
        Lattice whose distances are path lengths.

    Examples
    --------
    >>> from protolearn.core.lattices import chain
    >>> chain(6, periodic=True).distances[0]
    array([0., 1., 2., 3., 2., 1.])
    """
    _require_nodes(n_nodes)
    coordinates = _circle(n_nodes) if periodic else np.column_stack([np.arange(float(n_nodes)), np.zeros(n_nodes)])
    edges = LatticeSheet(1, n_nodes, periodic, hexagonal=False).edges()
    return Lattice(None, coordinates, edges, "chain", periodic=periodic)


@constrained(branching=integer(1), depth=integer(0))
def tree(branching: int, depth: int) -> Lattice:
    """Make a tree in which all inner nodes have the same number of children.

    Parameters
    ----------
    branching : int
        Number of children of each inner node.
    depth : int
        Number of levels below the root, which is node 0. Nodes are numbered level by level, and level l is drawn on a
        circle of radius l.

    Returns
    -------
    Lattice
        Lattice whose distances are path lengths.

    Examples
    --------
    >>> from protolearn.core.lattices import tree
    >>> tree(2, 3)
    Lattice(tree, 15 nodes)
    """
    n_nodes = depth + 1.0 if branching == 1 else (_power(branching, depth + 1) - 1.0) / (branching - 1)
    _require_all_pairs(n_nodes, "a smaller tree")
    sizes = branching ** np.arange(depth + 1)
    levels = [level * np.exp(2j * np.pi * (np.arange(size) + 0.5) / size) for level, size in enumerate(sizes)]
    children = np.arange(1, sizes.sum())
    edges = np.column_stack([(children - 1) // branching, children])
    return Lattice(_path_lengths(edges, sizes.sum()), _in_plane(np.concatenate(levels)), edges, "tree")


@constrained(neighbors=integer(7), rings=integer(1))
def hyperbolic(neighbors: int = 7, rings: int = 3, *, metric: Literal["path", "hyperbolic"] = "path") -> Lattice:
    """Make a lattice on the hyperbolic plane, where the number of nodes grows exponentially with the radius.

    The nodes are the vertices of a tessellation by triangles, `neighbors` of which meet at every vertex: a center and
    rings around it. They are drawn in the Poincaré disc.

    Parameters
    ----------
    neighbors : int, default=7
        Number of neighbors of every node inside the last ring, at least 7. (Six neighbors would give the flat hexagonal
        sheet.)
    rings : int, default=3
        Number of rings around the center. With 7 neighbors, 1, 2, 3 and 4 rings have 8, 29, 85 and 232 nodes.
    metric : {"path", "hyperbolic"}, default="path"
        Distances between nodes: the number of edges on the shortest path, or the distance in the hyperbolic plane,
        where each edge has length 2 arcosh(1 / (2 sin(pi / neighbors))), 1.09 for 7 neighbors.

    Returns
    -------
    Lattice
        Nodes are numbered ring by ring, each ring counterclockwise.

    References
    ----------
    Ritter, H. (1999). Self-organizing maps on non-Euclidean spaces. In Kohonen Maps, Elsevier, 97-109.

    Examples
    --------
    >>> from protolearn.core.lattices import hyperbolic
    >>> hyperbolic(7, 2)
    Lattice(hyperbolic, 29 nodes)
    """
    if metric not in ("path", "hyperbolic"):
        raise ValueError(f"metric must be 'path' or 'hyperbolic', got {metric!r}.")
    _require_all_pairs(_tessellation_size(neighbors, rings), "fewer rings")
    nodes, edges = _triangular_tessellation(neighbors, rings)
    distances = _path_lengths(edges, len(nodes)) if metric == "path" else _hyperbolic_distances(nodes)
    return Lattice(distances, _in_plane(nodes), edges, "hyperbolic")


def from_graph(
    adjacency: ArrayLike | sparse.sparray | sparse.spmatrix, *, coordinates: ArrayLike | None = None
) -> Lattice:
    """Make a lattice from a connected graph.

    Parameters
    ----------
    adjacency : array-like or sparse matrix of shape (k, k)
        Symmetric matrix of edge lengths, zero for pairs without an edge; the diagonal is ignored.
    coordinates : array-like of shape (k, 2), default=None
        Position of each node in drawings; by default computed from the distances by classical scaling.

    Returns
    -------
    Lattice
        Lattice whose distances are the lengths of shortest paths.

    Examples
    --------
    >>> from protolearn.core.lattices import from_graph
    >>> star = [[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    >>> from_graph(star).distances[1]
    array([1., 0., 2., 2.])
    """
    graph = sparse.csr_array(adjacency, dtype=np.float64)
    _check_square("adjacency", graph.shape)
    _require_all_pairs(graph.shape[0], "a smaller graph")
    _check_lengths("adjacency", graph.data)
    if abs(graph - graph.T).max() > 0:
        raise ValueError(
            "adjacency must be symmetric: an edge has the same length both ways. "
            "Pass numpy.maximum(adjacency, adjacency.T) to combine the two directions of a directed graph."
        )
    graph.eliminate_zeros()
    n_parts, _ = connected_components(graph, directed=False)
    if n_parts > 1:
        raise ValueError(
            f"adjacency must be connected, got {n_parts} separate parts: their distance would be infinite. "
            "Add edges between them, or make a separate lattice of each."
        )
    # Both ends add up the lengths of a path in their own order, so the sums can differ in the last digit.
    distances = shortest_path(graph, directed=False)
    distances = np.minimum(distances, distances.T)
    edges = np.argwhere(sparse.triu(graph, k=1).toarray())
    return Lattice(distances, _coordinates_or_scaling(coordinates, distances), edges, "graph")


def from_distances(distances: ArrayLike, *, coordinates: ArrayLike | None = None) -> Lattice:
    """Make a lattice from distances between its nodes.

    Parameters
    ----------
    distances : array-like of shape (k, k)
        Distances between nodes: finite, symmetric and nonnegative, with a zero diagonal.
    coordinates : array-like of shape (k, 2), default=None
        Position of each node in drawings; by default computed from the distances by classical scaling.

    Returns
    -------
    Lattice
        Lattice with edges between nodes at the smallest positive distance.

    Examples
    --------
    >>> from protolearn.core.lattices import from_distances
    >>> from_distances([[0, 1, 3], [1, 0, 2], [3, 2, 0]]).edges
    array([[0, 1]])
    """
    given = np.asarray(distances, dtype=np.float64)
    _check_square("distances", given.shape)
    _check_lengths("distances", given)
    if not np.allclose(given, given.T, rtol=1e-10, atol=0):
        raise ValueError("distances must be symmetric. Pass (distances + distances.T) / 2 to symmetrize them.")
    if np.any(np.diag(given)):
        raise ValueError("distances must have a zero diagonal: every node is at distance zero from itself.")
    symmetric = (given + given.T) / 2
    positive = symmetric[symmetric > 0]
    nearest = np.isclose(symmetric, positive.min(), atol=0) if positive.size else np.zeros(given.shape, dtype=bool)
    edges = np.argwhere(np.triu(nearest))
    return Lattice(symmetric, _coordinates_or_scaling(coordinates, symmetric), edges, "graph")


def as_lattice(lattice: Lattice | tuple[int, int] | int, topology: str = "rectangular") -> Lattice:
    """Convert a short description of a lattice to a `Lattice`.

    Parameters
    ----------
    lattice : Lattice, tuple (rows, cols) or int
        A lattice, the size of a sheet, or the length of a chain.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        Type of the sheet for a size.

    Returns
    -------
    Lattice
        The given or described lattice.

    Examples
    --------
    >>> from protolearn.core.lattices import as_lattice
    >>> as_lattice((3, 4)), as_lattice(5)
    (Lattice(rectangular, 3 x 4), Lattice(chain, 5 nodes))
    >>> as_lattice((3, 4), "hexagonal")
    Lattice(hexagonal, 3 x 4)
    """
    if isinstance(lattice, tuple | list) and len(lattice) == 2 and all(map(_is_count, lattice)):
        return (hexagonal if topology == "hexagonal" else rectangular)(*map(int, lattice))
    if not isinstance(lattice, Lattice) and not _is_count(lattice):
        raise ValueError(
            "lattice must be a Lattice (see protolearn.core.lattices), a tuple (rows, cols) for a "
            f"sheet, or a number of nodes for a chain; got {lattice!r}."
        )
    if topology not in ("rectangular", getattr(lattice, "kind", None)):
        raise ValueError(f"topology={topology!r} needs lattice=(rows, cols), the size of a sheet; got {lattice!r}.")
    return lattice if isinstance(lattice, Lattice) else chain(int(lattice))  # type: ignore[arg-type]


def suggest_lattice(n_samples: int, variances: Floats, samples_per_node: int = 1) -> Lattice:
    r"""Return a rectangular lattice with a size suitable for given samples.

    Parameters
    ----------
    n_samples : int
        Number of different samples n; the lattice has about :math:`5 \sqrt{n}` nodes.
    variances : ndarray of shape (2,)
        The two largest variances; the sides are proportional to their square roots.
    samples_per_node : int, default=1
        Minimum number of samples for each node.

    Returns
    -------
    lattice : Lattice
        The rectangular lattice.

    Examples
    --------
    >>> import numpy as np
    >>> suggest_lattice(150, np.array([4.0, 1.0]))
    Lattice(rectangular, 5 x 11)
    """
    n_nodes = max(1, min(n_samples // samples_per_node, round(5 * np.sqrt(n_samples))))
    ratio = np.sqrt(variances[0] / variances[1]) if len(variances) == 2 and variances[1] > 0 else 1.0
    columns = int(np.clip(round(np.sqrt(n_nodes * np.clip(ratio, 1.0, 4.0))), 1, n_nodes))
    return rectangular(max(1, n_nodes // columns), columns)


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_square(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"{name} must be a square matrix with one row for each node, got shape {shape}.")


def _check_lengths(name: str, values: Floats) -> None:
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} must be finite, got infinite or missing values.")
    if np.any(values < 0):
        raise ValueError(f"{name} must not be negative, got {values.min():g}.")


def _read_only(values: Array) -> Array:
    values.setflags(write=False)
    return values


def _require_all_pairs(n_nodes: float, instead: str) -> None:
    require_memory(f"A matrix of all pairs of {n_nodes:.10g} nodes", 4 * 8 * float(n_nodes) ** 2, f"use {instead}")


def _require_nodes(n_nodes: int) -> None:
    require_memory(f"A lattice of {n_nodes:.10g} nodes", 25 * 8 * n_nodes, "use a smaller lattice")


def _power(base: int, exponent: int) -> float:
    """Return a power; infinity if it is too large."""
    return float(base) ** exponent if exponent * np.log(base) < 700 else np.inf


def _tessellation_size(neighbors: int, rings: int) -> float:
    """Return the number of nodes of a hyperbolic lattice; infinity if it is too large."""
    total, last, ring = 1.0, 0.0, float(neighbors)
    for _ in range(rings):  # each is at least 2.6 times as large as the one before
        total, last, ring = total + ring, ring, (neighbors - 4) * ring - last
        if total > 1e50:
            return np.inf
    return total


def _separations(first: Any, second: Any, period: int, periodic: bool) -> Floats:
    """Distances between positions on a line, or on a circle of the given period."""
    gaps = np.abs(np.subtract(first, second, dtype=np.float64))
    return np.minimum(gaps, period - gaps) if periodic else gaps


def _path_lengths(edges: Indices, n_nodes: int) -> Floats:
    """Count the edges (k, k) on the shortest paths."""
    _require_all_pairs(n_nodes, "a smaller lattice")
    ends = tuple(edges.T.astype(np.int32))  # SciPy 1.13 searches no graph with longer indices
    graph = sparse.coo_array((np.ones(len(edges)), ends), shape=(n_nodes, n_nodes))
    return shortest_path(graph.tocsr(), directed=False, unweighted=True)


def _circle(n_nodes: int) -> Floats:
    """Place nodes on a circle (k, 2), neighbors one unit apart."""
    radius = 0.5 / np.sin(np.pi / n_nodes) if n_nodes > 1 else 0.0
    return _in_plane(radius * np.exp(2j * np.pi * np.arange(n_nodes) / n_nodes))


def _in_plane(nodes: NDArray[np.complex128]) -> Floats:
    """Complex numbers (k,) as points (k, 2)."""
    return np.column_stack([nodes.real, nodes.imag])


def _triangular_tessellation(neighbors: int, rings: int) -> tuple[NDArray[np.complex128], Indices]:
    """Nodes (k,) in the Poincaré disc and edges (e, 2) of the tessellation by triangles.

    Ring by ring, counterclockwise. Around any node lie, counterclockwise: its first parent (in the ring below), its
    predecessor in the ring, its children (in the ring above), its successor, and, if it has one, its second parent.
    Two consecutive nodes of a ring share a child, the last of the one and the first of the other, so each node
    contributes all its children but the first. Counting neighbors in this way needs no search for duplicates.
    """
    spokes = _edge_radius(neighbors) * np.exp(2j * np.pi * np.arange(neighbors) / neighbors)
    nodes: list[complex] = [0j, *spokes]
    ring = range(1, neighbors + 1)
    first_parent = [0] * (neighbors + 1)
    n_parents = [0] + [1] * neighbors
    edges = [(0, node) for node in ring] + _cycle(ring)

    for _ in range(rings - 1):
        start = len(nodes)
        for node, successor in _cycle(ring):
            n_children = neighbors - 2 - n_parents[node]
            back = _moved(nodes[first_parent[node]], -nodes[node])
            turns = spokes * (back / abs(back))
            for child in range(1, n_children):
                edges.append((node, len(nodes)))
                nodes.append(_moved(turns[2 + child], nodes[node]))
                first_parent.append(node)
                n_parents.append(1)
            edges.append((successor, len(nodes) - 1))
            n_parents[-1] = 2
        ring = range(start, len(nodes))
        edges += _cycle(ring)
    return np.array(nodes), np.unique(np.sort(edges, axis=1), axis=0)


def _cycle(ring: range) -> list[tuple[int, int]]:
    """Each node of a ring with its successor."""
    return list(zip(ring, [*ring[1:], ring[0]]))


def _edge_radius(neighbors: int) -> float:
    """Distance of the first ring from the center of the disc, tanh(e / 2) for edges of hyperbolic length e."""
    half_edge = np.arccosh(0.5 / np.sin(np.pi / neighbors))
    return float(np.tanh(half_edge))


def _moved(point: complex, origin: complex) -> complex:
    """Where a point of the Poincaré disc goes in the motion that takes the center to `origin`."""
    return (point + origin) / (1 + origin.conjugate() * point)


def _hyperbolic_distances(nodes: NDArray[np.complex128]) -> Floats:
    """Distances (k, k) in the Poincaré disc, in the form that keeps its digits near the border."""
    depth = np.sqrt(1 - np.abs(nodes) ** 2)
    return 2 * np.arcsinh(np.abs(nodes[:, None] - nodes) / (depth[:, None] * depth))


def _coordinates_or_scaling(coordinates: ArrayLike | None, distances: Floats) -> Floats:
    if coordinates is None:
        return _classical_scaling(distances)
    given = np.asarray(coordinates, dtype=np.float64)
    if given.shape != (len(distances), 2) or not np.all(np.isfinite(given)):
        raise ValueError(
            f"coordinates must be a finite array of shape {(len(distances), 2)}, one point in the plane for each node; "
            f"got shape {given.shape}."
        )
    return given


def _classical_scaling(distances: Floats) -> Floats:
    """Points (k, 2) whose distances approximate the given ones (Torgerson's classical multidimensional scaling)."""
    k = len(distances)
    if k == 1:
        return np.zeros((1, 2))
    squared = distances**2
    means = squared.mean(axis=0)
    gram = -0.5 * (squared - means - means[:, None] + squared.mean())
    values, vectors = eigh(gram, subset_by_index=(k - 2, k - 1))
    return longer_side_positive((vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1])


NEGLIGIBLE = 1e-40  # weight below which a node does not count, beside others


FAINT = 1e-22  # share of the largest sum below which those left out might count


def log_kernel(distances: Floats, kernel: str, range_: float) -> Floats:
    """Return the logarithm of the neighborhood function: ``-g^2 / (2 range^2)``, or ``-g / range`` if exponential.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.lattices import log_kernel
    >>> distances = np.array([0.0, 1.0, 2.0])
    >>> log_kernel(distances, "gaussian", 1.0).tolist(), log_kernel(distances, "exponential", 1.0).tolist()
    ([-0.0, -0.5, -2.0], [-0.0, -1.0, -2.0])
    """
    return -distances / range_ if kernel == "exponential" else -0.5 * (distances / range_) ** 2


@dataclass(frozen=True)
class AllPairs:
    """Weights between all nodes, from their logarithms (k, k), row to column.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.lattices import chain
    >>> from protolearn.core.lattices import AllPairs, log_kernel
    >>> near = AllPairs(log_kernel(chain(3).distances, "exponential", 1.0))
    >>> near.mixture.round(3).tolist()
    [[1.0, 0.368, 0.135], [0.368, 1.0, 0.368], [0.135, 0.368, 1.0]]
    """

    log_shares: Floats

    @cached_property
    def mixture(self) -> Floats:
        """What makes mixed distances of distances."""
        return decayed(self.log_shares)

    def mixer(self, dtype: Any) -> Callable[[Array], Array]:
        """Return the function that mixes distances (c, k)."""
        columns = flushed(self.mixture.T.astype(dtype))
        return lambda distances: distances @ columns

    def logs(self, nodes: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the weights of some nodes for all."""
        return self.log_shares[nodes]

    def shared(self, sums: Any) -> Any:
        """Give the sums of every node to the others."""
        return sums.shared(self.log_shares)


@dataclass(frozen=True)
class Structured:
    """The same for a large lattice, whose weights are never all held.

    Parameters
    ----------
    lattice : Lattice
        Gives the distances.
    kernel : {"gaussian", "exponential"}
        Neighborhood function.
    range_ : float
        Its range.
    normalized : bool
        Whether the weights of a node add up to one.

    Examples
    --------
    It gives the same products as all weights:

    >>> import numpy as np
    >>> from protolearn.core.lattices import rectangular
    >>> from protolearn.core.lattices import AllPairs, Structured, log_kernel
    >>> lattice, rows = rectangular(3, 4), np.arange(24.0).reshape(12, 2)
    >>> near = Structured(lattice, "gaussian", 1.0, normalized=False)
    >>> bool(np.allclose(near @ rows, AllPairs(log_kernel(lattice.distances, "gaussian", 1.0)).mixture @ rows))
    True
    """

    lattice: Lattice
    kernel: str
    range_: float
    normalized: bool

    @property
    def mixture(self) -> Structured:
        """What makes mixed distances of distances."""
        return self

    def __matmul__(self, rows: Floats) -> Floats:
        """Return the product of the weights (k, k) with rows (k, L)."""
        return np.exp(-self._log_sums)[:, None] * self._kernel_times(rows)

    def mixer(self, dtype: Any) -> Callable[[Array], Array]:
        """Return the function that mixes distances (c, k)."""
        return lambda distances: (self @ distances.T.astype(np.float64)).T

    def logs(self, nodes: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the weights of some nodes for all."""
        return self._log_kernel(self.lattice.distances_from(nodes)) - self._log_sums[nodes, None]

    def shared(self, sums: Statistics) -> Statistics:
        """Give the sums of every node to the others.

        Where the sum is faint, since all samples are far away, weights are taken relative to the largest.
        """
        moments, log_scale = np.zeros_like(sums.moments), np.full(len(sums.moments), -np.inf)
        faint = np.ones(len(moments), bool)
        if self.lattice.sheet is not None:
            moments = self._kernel_times(np.exp(-self._log_sums)[:, None] * sums.moments)
            mass = moments[:, -2].copy()
            faint = mass <= FAINT * mass.max()
            scale = np.where(faint, 1.0, mass)
            moments /= scale[:, None]
            log_scale = np.log(scale)
        occupied = np.flatnonzero(sums.mass > 0)
        for nodes in self._blocks(np.flatnonzero(faint)):
            logs = self._log_kernel(self.lattice.distances_from(nodes)[:, occupied]) - self._log_sums[occupied]
            log_scale[nodes] = logs.max(axis=1)
            moments[nodes] = decayed(logs - log_scale[nodes, None]) @ sums.moments[occupied]
        return Statistics(moments, log_scale, sums.offset)

    @cached_property
    def _log_sums(self) -> Floats:
        """Logarithm of the sum (k,) of the kernel around each node, by which weights are divided."""
        k = self.lattice.n_nodes
        return np.log(self._kernel_times(np.ones((k, 1)))[:, 0]) if self.normalized else np.zeros(k)

    def _log_kernel(self, distances: Floats) -> Floats:
        return log_kernel(distances, self.kernel, self.range_)

    def _blocks(self, nodes: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        return (nodes[some] for some in row_blocks(len(nodes), 8 * self.lattice.n_nodes, HELD))

    def _kernel_times(self, rows: Floats) -> Floats:
        """Return the product of the kernel (k, k) with rows (k, L)."""
        sheet = self.lattice.sheet
        if sheet is not None and sheet.rows > 1:
            return self._along_rows(sheet, rows)
        nodes = np.arange(len(rows))
        parts = [decayed(self._log_kernel(self.lattice.distances_from(some))) @ rows for some in self._blocks(nodes)]
        return np.concatenate(parts)

    def _along_rows(self, sheet: LatticeSheet, rows: Floats) -> Floats:
        """Return the same on a sheet, where the kernel between two of its rows depends on how far apart they are.

        Rows that are as far above as others are below are added first.
        """
        R, C = sheet.rows, sheet.cols
        columns = np.ascontiguousarray(rows.reshape(R, C, -1).transpose(1, 0, 2))  # (C, R, L)
        result = np.zeros_like(columns)
        few = 8 * R * C**2 <= HELD
        for targets, down, weights in self._kept_steps if few else self._steps(sheet):
            below, above = targets + down, targets - down
            if sheet.periodic:
                below, above = below % R, above % R
            there = (above >= 0) & (above != below)
            together = np.zeros((C, len(targets), columns.shape[2]))
            together[:, below < R] = columns[:, below[below < R]]
            together[:, there] += columns[:, above[there]]
            result[:, targets] += (weights @ together.reshape(C, -1)).reshape(together.shape)
        return result.transpose(1, 0, 2).reshape(rows.shape)

    @cached_property
    def _kept_steps(self) -> list[tuple[NDArray[np.intp], int, Floats]]:
        assert self.lattice.sheet is not None
        return list(self._steps(self.lattice.sheet))

    def _steps(self, sheet: LatticeSheet) -> Iterator[tuple[NDArray[np.intp], int, Floats]]:
        """Yield rows, a number of steps down or up from them, and the kernel (C, C) between nodes so far apart.

        Odd rows of hexagons are shifted, so even and odd ones take turns.
        """
        across, apart = np.arange(sheet.cols), 2 if sheet.hexagonal else 1
        for down in range(sheet.rows // 2 + 1 if sheet.periodic else sheet.rows):
            for first in range(min(apart, sheet.rows)):
                nodes = first * sheet.cols + across
                distances = sheet.distances(nodes[:, None], nodes + down * sheet.cols)
                weights = np.exp(self._log_kernel(distances))
                weights[weights < NEGLIGIBLE] = 0.0
                if not weights.any():
                    return
                yield np.arange(first, sheet.rows, apart), down, weights
