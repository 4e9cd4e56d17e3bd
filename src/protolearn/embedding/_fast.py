"""The divergence between affinities of data and of a view, and its gradient, in nearly linear time.

Where p is zero, the summands of a divergence depend on q alone, and q on the distance alone. Sums over all pairs are
then sums of kernels, which a field approximates. The remainder is a sum over the few pairs with p > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from protolearn.core.threads import Threads, cut
from protolearn.core.types import Array, Floats
from protolearn.embedding._exact import TINY, Gradient, floors
from protolearn.embedding._fields import CurveTable, Grid
from protolearn.embedding.affinities import Kernel, StudentKernel
from protolearn.embedding.divergences import Divergence, Pull

__all__ = [
    "Fast",
    "degree",
    "is_tame",
]

LEAST_MASS = 1e-9  # of the kernel around a point, in units of the largest


ROWS = 1 << 16  # of a graph at a time


N_LEVELS = 3  # of the masses of rows next to that of each, between which fields are interpolated


LEVEL_GAP = 2.0  # of the logarithms of masses, at most, so that what does not fall with their power stays small


BOTH_WAYS = "both ways"  # under which their kernels are known


class _View(NamedTuple):
    """Where kernels are known, that of the view there and made ready for sums, and backgrounds that were met.

    In the plane this is a grid, and Fourier transforms of kernels; in space a table, and derivatives beside them. For
    backgrounds see `_All`.
    """

    grid: Any
    w: Floats
    waves: Any
    known: dict[Any, Any]


class _Background(NamedTuple):
    """The summands of a divergence where p is as small as it can be, and their slopes times q."""

    divergence: Divergence
    p_least: float
    q_least: float

    @property
    def empty(self) -> bool:
        """Whether there is none, as under the Kullback-Leibler divergence."""
        return not self.divergence.terms(self.p_least, np.array([0.25, 0.5])).any()

    @property
    def is_power(self) -> bool:
        """Whether it is a power of q, namely `degree`."""
        return self.divergence.pull is not None and self.p_least == 0.0

    def terms(self, q: Floats) -> Floats:
        return self.divergence.terms(self.p_least, np.maximum(q, self.q_least))

    def slopes(self, q: Floats) -> Floats:
        return q * self.divergence.slopes(self.p_least, np.maximum(q, self.q_least))


class _Edges(NamedTuple):
    """A symmetric graph of numbers in rows, and the sum of the numbers of each point before they were averaged.

    The graph has its points in an order in which neighbors are close together in memory, too.
    """

    arrays: tuple[Any, Any, NDArray[np.float32]]
    order: Array
    totals: Floats

    @classmethod
    def of(cls, graph: Any, totals: Floats) -> _Edges:
        """Return the edges of a sparse matrix."""
        n, order = graph.shape[0], reverse_cuthill_mckee(graph, symmetric_mode=True)
        places = np.empty(n, np.int32)
        places[order] = np.arange(n, dtype=np.int32)
        pointers = np.concatenate([[0], np.cumsum(np.diff(graph.indptr)[order])])
        columns, values = np.empty(graph.nnz, np.int32), np.empty(graph.nnz, np.float32)
        for rows in cut(n, ROWS):
            part = graph[order[rows]]
            part = sparse.csr_array((part.data, places[part.indices], part.indptr), part.shape)
            part.sort_indices()
            entries = slice(pointers[rows.start], pointers[rows.stop])
            columns[entries], values[entries] = part.indices, part.data
        return cls((pointers.astype(graph.indptr.dtype), columns, values), order, totals)

    def ordered(self, points: Floats) -> NDArray[np.float32]:
        """Return points in the order of the graph."""
        return points[self.order].astype(np.float32)

    def restored(self, values: Floats) -> Floats:
        """Return values, in the order of the graph, in that of the points."""
        given = np.empty_like(values)
        given[self.order] = values
        return given


class _Sums(NamedTuple):
    """Sums over the edges of each point: forces (n, 2), and numbers (n,)."""

    forces: Floats
    totals: Floats


class _Pulls(NamedTuple):
    """What pairs with p > 0 contribute: forces (n, 2), slopes times q in all, or (n,), and weights of the sums."""

    forces: Floats
    slopes: Any
    weights: Floats


@dataclass
class Fast:
    """Fast approximate forces: exact for pairs of neighbors, a field for all other pairs, in up to three dimensions.

    The field is computed on a grid in one and two dimensions, and with a tree in three.

    Parameters
    ----------
    p : csr_array of shape (n, n)
        Affinities of the data, with a zero diagonal; all of them sum to 1 if symmetric, otherwise each row does.
    kernel : Kernel
        Kernel of the affinities in the view.
    symmetric : bool
        Whether affinities are joint (normalized over all pairs) or conditional (over each row).
    threads : Threads
        Threads that loops over points use.

    Examples
    --------
    The fast divergence agrees with the exact one:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from protolearn.core.threads import Threads
    >>> from protolearn.embedding.divergences import KullbackLeibler
    >>> from protolearn.embedding.forces import Exact, Fast
    >>> from protolearn.embedding.affinities import StudentKernel
    >>> p, points = np.full((4, 4), 1 / 12), np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    >>> np.fill_diagonal(p, 0.0)
    >>> fast = Fast(sparse.csr_array(p), StudentKernel(), True, Threads()).value(points, KullbackLeibler())
    >>> bool(abs(fast - Exact(p, StudentKernel(), True).value(points, KullbackLeibler())) < 1e-3)
    True
    """

    p: Any
    kernel: Kernel
    symmetric: bool
    threads: Threads

    def __post_init__(self) -> None:
        self._reverse = None  # where the entry (j, i) of each (i, j) stands
        if not self.symmetric:
            places = np.arange(self.p.nnz)
            self._reverse = sparse.csr_array((places, self.p.indices, self.p.indptr), self.p.shape).T.tocsr()
        self._view: _View | None = None
        self._last: tuple[Any, ...] | None = None  # points, what was asked of them, and the sums over their pairs
        self._prepared: dict[Divergence, tuple[_Edges, Floats]] = {}
        self._both: dict[Divergence, tuple[_Edges, _Edges]] = {}

    def step(
        self, points: Floats, divergence: Divergence, exaggeration: float = 1.0, mass: float | None = None
    ) -> Gradient:
        """Return the gradient of the divergence, with exaggerated attraction between neighbors.

        Affinities of the view are the kernel divided by its sum; joint affinities are divided by ``mass`` if given.
        """
        plane, pairs, sums = self._pairs_and_edges(points, divergence, mass)
        slopes = pairs.slopes()
        terms = np.zeros_like(slopes) if divergence.is_plain_sum else pairs.terms()
        pulls = self._pulls(plane, divergence, pairs.masses, terms, sums)
        total = pulls.slopes + (pulls.weights * slopes).sum(axis=0)
        push = pairs.push(pulls.weights, total * (mass is None))
        gradient = 2.0 * exaggeration * pulls.forces + push
        return Gradient(gradient[:, : points.shape[1]], float(np.abs(pulls.slopes).sum()))

    def value(self, points: Floats, divergence: Divergence, mass: float | None = None) -> float:
        """Return the divergence; of conditional affinities, the sum over all rows."""
        plane, pairs = self._pairs(points, divergence, mass)
        sums, pull = pairs.terms(), divergence.pull
        if pull is None or not self._is_compiled(pull, plane):
            p, q, _ = self._on_edges(plane, divergence, pairs.masses)
            sums = sums + self._over_edges(divergence.terms(p, q) - pairs.background.terms(q))
        else:
            graph, constants = self._prepare(divergence, pull)
            if pull.q_power:
                totals = self._power_pulls(plane, graph, pull.q_power)[1]
                mixed = pairs.masses**-pull.q_power / pull.q_power * totals.sum()
            else:
                mixed = -self._log_sums(plane, graph) - graph.totals * np.log(pairs.masses)
            sums = sums + constants
            sums[pull.index] += pull.factor * (mixed.sum() if self.symmetric else mixed)
        return float(np.sum(divergence.outer(sums)))

    def _pairs_and_edges(
        self, points: Floats, divergence: Divergence, mass: float | None
    ) -> tuple[Floats, _All | _Rows, list[_Sums]]:
        """Return the points in the plane, the sums over all pairs, and those over edges that compiled loops do.

        The sums over all pairs are mostly Fourier transforms, for which one thread is best: another one does the edges.
        """
        plane = _in_plane(points)
        found: list[_All | _Rows] = []

        def all_pairs() -> None:
            found.append(self._pairs(points, divergence, mass)[1])

        loops = self._loops(plane, divergence)
        sums = [self._power_pulls(plane, *loop, beside=None if found else all_pairs) for loop in loops]
        if not found:
            all_pairs()
        return plane, found[0], sums

    def _loops(self, points: Floats, divergence: Divergence) -> list[tuple[_Edges, float]]:
        """Return the graphs, and the powers of q, that compiled loops take for a divergence; none if they cannot."""
        if self.symmetric and self._goes_both_ways(divergence) and points.shape[1] == 2:
            return list(zip(self._both_graphs(divergence), (0.0, 1.0)))
        pull = divergence.pull
        if pull is None or not self._is_compiled(pull, points):
            return []
        return [(self._prepare(divergence, pull)[0], pull.q_power)]

    def _pairs(self, points: Floats, *asked: Any) -> tuple[Floats, _All | _Rows]:
        """Return the points in the plane, or in space, and the sums over all their pairs: once for value and step."""
        if self._last is None or self._last[1] != asked or not np.array_equal(self._last[0], points):
            self._last = None  # whose sums need not be held beside the new ones
            self._last = points.copy(), asked, self._summed(points, *asked)
        return self._last[2]

    def _summed(self, points: Floats, divergence: Divergence, mass: float | None) -> tuple[Floats, _All | _Rows]:
        plane = _in_plane(points)
        width = self.kernel.width(max(1.0, degree(divergence)))
        if self._view is None or not self._view.grid.suits(plane, width):
            grid = Grid(plane, width) if plane.shape[1] == 2 else CurveTable(plane, width)
            w = self.kernel.weights(grid.squares)
            self._view = _View(grid, w, grid.waves(w), {})
        field = self._view.grid.field(plane, self.threads)
        background = _Background(divergence, *floors(divergence, len(points), self.symmetric))
        if self.symmetric:
            kind = _BothWays if self._goes_both_ways(divergence) else _All
            return plane, kind(self._view, field, background, mass)
        return plane, _Rows(self._view, field, background, self._edge_masses(plane))

    def _edge_masses(self, points: Floats) -> Floats:
        """Return the sum (n,) of the kernel over the edges of each point."""
        return self._over_edges(self.kernel.weights(self._edge_squares(points))[None])[0]

    def _pulls(
        self, points: Floats, divergence: Divergence, masses: Any, sums: Floats, over_edges: list[_Sums]
    ) -> _Pulls:
        if not over_edges:
            return self._any_pulls(points, divergence, masses, sums)
        if len(over_edges) == 2:
            return self._both_pulls(divergence, masses, *over_edges)
        pull, (forces, totals) = divergence.pull, over_edges[0]
        assert pull is not None
        _, constants = self._prepare(divergence, pull)
        slopes = pull.factor * (masses**-pull.q_power if pull.q_power else 1.0)
        mass = slopes * (totals.sum() if self.symmetric else totals)
        sums = sums + constants
        if pull.q_power:
            sums[pull.index] += mass / pull.q_power
        weights = divergence.weights(sums)
        weight = weights[pull.index] if self.symmetric else 1.0  # of a plain sum, as are all with the power 0
        return _Pulls(-slopes * weight * forces, weight * mass, weights)

    def _is_compiled(self, pull: Pull, points: Floats) -> bool:
        """Return whether a compiled loop does: for one mass and no pull that must be bounded, or no power of q."""
        if points.shape[1] > 2:
            return False
        unbounded = pull.q_power < 0.0 and not isinstance(self.kernel, StudentKernel)
        return pull.q_power == 0.0 or (self.symmetric and not unbounded)

    def _prepare(self, divergence: Divergence, pull: Pull) -> tuple[_Edges, Floats]:
        """Return the graph of ``p ** p_power``, and the part of the sums that depends on p alone."""
        if divergence not in self._prepared:
            p_least, _ = floors(divergence, self.p.shape[0], self.symmetric)
            values, rests = np.empty_like(self.p.data), []
            for rows in cut(self.p.shape[0], ROWS):
                entries = slice(*self.p.indptr[[rows.start, rows.stop]])
                p = np.maximum(self.p.data[entries], p_least, dtype=np.float64)
                powers = p**pull.p_power - p_least**pull.p_power
                q = p if pull.q_power else np.ones_like(p)
                rest = divergence.terms(p, q) - divergence.terms(p_least, q)
                if pull.q_power:
                    rest[pull.index] -= pull.factor / pull.q_power * powers * q**pull.q_power
                values[entries] = powers
                rests.append(self._over_edges(rest, rows))
            edges = sparse.csr_array((values, self.p.indices, self.p.indptr), self.p.shape)
            both = edges if self.symmetric else (0.5 * (edges + edges.T)).tocsr()
            constants = np.sum(rests, axis=0) if self.symmetric else np.hstack(rests)
            self._prepared[divergence] = _Edges.of(both, edges.sum(axis=1, dtype=np.float64)), constants
        return self._prepared[divergence]

    def _goes_both_ways(self, divergence: Divergence) -> bool:
        """Return whether it has some of the Kullback-Leibler divergence in reverse, under a kernel without floors."""
        return divergence.trade_off not in (None, 1.0) and isinstance(self.kernel, StudentKernel)

    def _both_graphs(self, divergence: Divergence) -> tuple[_Edges, _Edges]:
        """Return the graphs of p, and of its logarithm, above the smallest p."""
        if divergence not in self._both:
            p_least, _ = floors(divergence, self.p.shape[0], self.symmetric)
            p, graphs = np.maximum(self.p.data, p_least), (self.p.copy(), self.p.copy())
            graphs[0].data, graphs[1].data = p - p_least, np.log(p / p_least)
            recall, precision = (_Edges.of(graph, graph.sum(axis=1, dtype=np.float64)) for graph in graphs)
            self._both[divergence] = recall, precision
        return self._both[divergence]

    def _both_pulls(self, divergence: Divergence, mass: float, recall: _Sums, precision: _Sums) -> _Pulls:
        """Do the same for c times the Kullback-Leibler divergence and 1 - c times that in reverse."""
        c = divergence.trade_off
        assert c is not None
        share = (1.0 - c) / mass
        slopes = -c * recall.totals.sum() - share * precision.totals.sum()
        return _Pulls(c * recall.forces + share * precision.forces, slopes, np.ones(1))

    def _power_pulls(
        self, points: Floats, graph: _Edges, exponent: float, beside: Callable[[], None] | None = None
    ) -> _Sums:
        """Return ``sum_j 2 a_ij w_ij**exponent decay_ij (y_i - y_j)`` (n, 2) and ``sum_j a_ij w_ij**exponent`` (n,)."""
        from protolearn.embedding._kernels import pull_inverse, pull_power

        form, factor, scale, power = self.kernel.power(exponent)
        n, forces, totals = len(points), np.empty_like(points), graph.totals
        single = graph.ordered(points)
        if form == "power" and exponent == 0.0:
            self.threads.over(n, pull_inverse, *graph.arrays, single, scale, ..., forces, beside=beside)
        else:
            reached = np.empty(n)
            args = *graph.arrays, single, scale, power, form == "exponential"
            self.threads.over(n, pull_power, *args, ..., forces, reached, beside=beside)
            totals = graph.restored(reached) if exponent else totals
        return _Sums(2.0 * factor * graph.restored(forces), totals)

    def _log_sums(self, points: Floats, graph: _Edges) -> Floats:
        """Return ``-sum_j a_ij log w_ij`` (n,)."""
        from protolearn.embedding._kernels import sum_logs

        form, _, scale, power = self.kernel.power(1.0)
        exponential = form == "exponential"
        sums, single = np.empty(len(points)), graph.ordered(points)
        self.threads.over(len(points), sum_logs, *graph.arrays, single, scale, exponential, ..., sums)
        return graph.restored(sums if exponential else -(power + 1.0) * sums)

    def _any_pulls(self, points: Floats, divergence: Divergence, masses: Any, sums: Floats) -> _Pulls:
        """Compute the same sums for any divergence."""
        from protolearn.embedding._kernels import pull_weighted

        p, q, squares = self._on_edges(points, divergence, masses)
        p_least, _ = floors(divergence, len(points), self.symmetric)
        if not divergence.is_plain_sum:
            sums = sums + self._over_edges(divergence.terms(p, q) - divergence.terms(p_least, q))
        weights = divergence.weights(sums)
        slopes = q * (divergence.slopes(p, q) - divergence.slopes(p_least, q))
        each = (slopes * self._at_edges(weights)).sum(axis=0)
        towards = -each * self.kernel.decay(squares)
        forces, back = np.empty_like(points), np.empty_like(points)
        n = len(points)
        self.threads.over(n, pull_weighted, self.p.indptr, self.p.indices, towards, points, ..., forces)
        if self._reverse is None:
            back = forces
        else:
            graph = self._reverse.indptr, self._reverse.indices, towards[self._reverse.data]
            self.threads.over(n, pull_weighted, *graph, points, ..., back)
        return _Pulls(forces + back, self._over_edges(each[None])[0], weights)

    def _on_edges(self, points: Floats, divergence: Divergence, masses: Any) -> tuple[Floats, Floats, Floats]:
        """Return p, q and squared distances of the pairs with p > 0."""
        p_least, q_least = floors(divergence, len(points), self.symmetric)
        squares = self._edge_squares(points)
        q = np.maximum(self.kernel.weights(squares) / self._at_edges(masses), q_least)
        return np.maximum(self.p.data, p_least), q, squares

    def _edge_squares(self, points: Floats) -> Floats:
        from protolearn.embedding._kernels import edge_squares

        squares = np.empty(self.p.nnz)
        self.threads.over(len(points), edge_squares, self.p.indptr, self.p.indices, points, ..., squares)
        return squares

    def _at_edges(self, values: Any) -> Any:
        """Return values (m,), or those of each point (m, n) if conditional, at the edges (m, nnz)."""
        if self.symmetric:
            return np.asarray(values)[..., None]
        return np.repeat(values, np.diff(self.p.indptr), axis=-1)

    def _over_edges(self, values: Floats, rows: slice = slice(None)) -> Floats:
        """Sum values (m, nnz) over all edges of some points, or over those of each point (m, n) if conditional."""
        if self.symmetric:
            return values.sum(axis=1)
        starts = self.p.indptr[:-1][rows]
        ends = np.cumsum(values, axis=1)[:, self.p.indptr[1:][rows] - starts[0] - 1]
        return np.diff(ends, axis=1, prepend=0.0)


def _in_plane(points: Floats) -> Floats:
    """Return points (n, d) of which those on a line have a second coordinate of zero."""
    return np.ascontiguousarray(np.hstack([points, np.zeros((len(points), max(2 - points.shape[1], 0)))]))


def is_tame(divergence: Divergence, kernel: Kernel) -> bool:
    """Return whether a grid can represent the repulsion of a divergence.

    Under a Gaussian kernel the repulsion may be unbounded, and under negative powers of p it is too large for a grid.

    Examples
    --------
    >>> from protolearn.embedding.divergences import ItakuraSaito
    >>> from protolearn.embedding.affinities import GaussianKernel, StudentKernel
    >>> is_tame(ItakuraSaito(), GaussianKernel()), is_tame(ItakuraSaito(), StudentKernel())
    (False, True)
    """
    one_power = divergence.pull is None or divergence.pull.p_power > 0.0
    return one_power and (isinstance(kernel, StudentKernel) or degree(divergence) > 0.0)


def degree(divergence: Divergence) -> float:
    """Return the power of q to which summands grow where p is zero, up to logarithms."""
    pull = divergence.pull
    return 1.0 if pull is None else pull.p_power + pull.q_power


class _All:
    """Sums over all pairs together, whose q are ``w / masses`` with one mass: the sum of all w if it is not given.

    Where summands are a power of q, they change with the mass by a factor only, and are kept with their transforms.
    """

    def __init__(self, view: _View, field: Any, background: _Background, mass: float | None) -> None:
        self.view, self.field, self.background = view, field, background
        self._own: dict[Divergence, tuple[list[Any], list[Any]]] = {}
        self.empty = background.empty
        if self.empty:
            values, self.gradient = field.potential(view.waves)
            mass = float(values.sum()) if mass is None else mass
        elif mass is None:
            mass = field.sum_over_pairs(view.waves)
        self.masses = max(mass, TINY)

    def terms(self) -> Floats:
        """Return the sums (m,) of the summands of the background."""
        return np.zeros(1) if self.empty else self._summed(self._summands()[0])

    def slopes(self) -> Floats:
        """Return the sums (m,) of their slopes times q."""
        return np.zeros(1) if self.empty else self._summed(self._summands()[1])

    def _summed(self, parts: list[Any]) -> Floats:
        return self._factor * np.array([0.0 if part is None else self.field.sum_over_pairs(part) for part in parts])

    def push(self, weights: Floats, slopes: float) -> Floats:
        """Return the gradient (n, 2) of the weighted sums, if q keep their sum."""
        if self.empty:
            return (-2.0 * slopes / self.masses) * self.gradient
        parts = [*zip(self._factor * weights, self._summands()[0]), (-slopes / self.masses, self.view.waves)]
        factors, waves = zip(*[part for part in parts if part[1] is not None])
        return 2.0 * self.field.potential(self.view.grid.mixed(factors, waves))[1]

    @property
    def _factor(self) -> float:
        return self.masses ** -degree(self.background.divergence) if self.background.is_power else 1.0

    def _summands(self) -> tuple[list[Any], list[Any]]:
        """Return the m summands, and slopes times q, ready for sums; of powers for a mass of 1. None if all zero."""
        known = self.view.known if self.background.is_power else self._own
        key = self.background.divergence
        if key not in known:
            q = self.view.w if self.background.is_power else self.view.w / self.masses
            kinds = self.background.terms(q), self.background.slopes(q)
            terms, slopes = ([self.view.grid.waves(k) if k.any() else None for k in kernels] for kernels in kinds)
            known[key] = terms, slopes
        return known[key]


class _BothWays(_All):
    """The same for both directions of the Kullback-Leibler divergence, weighted by c and 1 - c.

    With q = w / Z and the smallest p, summands are ``c p log(p Z / w) + (1 - c) / Z (w log w - w log(p Z))``: the four
    kernels 1, log w, w log w and w, which do not change with the mass Z.
    """

    def terms(self) -> Floats:
        return self._sum_of(self._in_terms())

    def slopes(self) -> Floats:
        p, c, share, log = self._constants()
        return self._sum_of([-c * p, 0.0, share, share * (1.0 - log)])

    def push(self, weights: Floats, slopes: float) -> Floats:
        factors = self._in_terms()[1:]
        factors[-1] -= slopes / self.masses
        return 2.0 * self.field.potential(self.view.grid.mixed(factors, self._kernels()))[1]

    def _kernels(self) -> list[Any]:
        """Return the three kernels that are not constant, ready for sums."""
        if BOTH_WAYS not in self.view.known:
            w, waves = self.view.w, self.view.grid.waves
            self.view.known[BOTH_WAYS] = [waves(np.log(w)), waves(w * np.log(w)), self.view.waves]
        return self.view.known[BOTH_WAYS]

    def _sum_of(self, factors: list[float]) -> Floats:
        n = len(self.field.points)
        parts = zip(factors[1:], self._kernels())
        return np.array([n * (n - 1) * factors[0] + sum(f * self.field.sum_over_pairs(part) for f, part in parts)])

    def _in_terms(self) -> list[float]:
        """Return the factors of the four kernels in the summands."""
        p, c, share, log = self._constants()
        return [c * p * log, -c * p, share, -share * log]

    def _constants(self) -> tuple[float, float, float, float]:
        p, c = self.background.p_least, self.background.divergence.trade_off
        assert c is not None
        return p, c, (1.0 - c) / self.masses, float(np.log(p * self.masses))


class _Rows:
    """Sums over the pairs of each point, whose q are ``w / masses`` with a mass for each.

    Summands are functions of the distance and of the mass: mostly a power of the mass, and perhaps its logarithm. So
    levels of the mass give them all, by polynomials of the logarithm through the nearest of these, once the power is
    divided out.
    """

    def __init__(self, view: _View, field: Any, background: _Background, least: Floats) -> None:
        self.view, self.field, self.background = view, field, background
        values, self.gradient = field.potential(view.waves)
        self.masses = np.maximum(values, np.maximum(least, LEAST_MASS * values.max()))
        logs = np.log(self.masses)
        low, span = logs.min(), max(np.ptp(logs), 1e-3)
        nodes = low + np.linspace(0.0, span, max(N_LEVELS, 1 + int(np.ceil(span / LEVEL_GAP))))
        gap = nodes[1] - low
        first = np.clip(np.rint((logs - low) / gap).astype(int) - 1, 0, len(nodes) - N_LEVELS)
        self.levels, self.basis = np.exp(nodes), np.zeros((len(nodes), len(logs)))
        places, rows = (logs - nodes[first]) / gap, np.arange(len(logs))
        for level in range(N_LEVELS):
            others = np.delete(np.arange(N_LEVELS), level)[:, None]
            power = np.exp(degree(background.divergence) * (nodes[first + level] - logs))
            self.basis[first + level, rows] = power * np.prod((places - others) / (level - others), axis=0)

    def terms(self) -> Floats:
        """Return the sums (m, n) of the summands of the background."""
        return self._interpolated(self.background.terms)

    def slopes(self) -> Floats:
        """Return the sums (m, n) of their slopes times q."""
        return self._interpolated(self.background.slopes)

    def push(self, weights: Floats, slopes: Floats) -> Floats:
        """Return the gradient (n, 2) of the weighted sums, if q keep their sum in each row."""
        gradient = self._push(self.view.waves, self.gradient, -slopes / self.masses)
        for basis, level in zip(self.basis, self.levels):
            for weight, term in zip(weights, self.background.terms(self.view.w / level)):
                if term.any():
                    waves = self.view.grid.waves(term)
                    gradient += self._push(waves, self.field.potential(waves)[1], weight * basis)
        return gradient

    def _interpolated(self, kernels: Callable[[Floats], Floats]) -> Floats:
        """Return the sums (m, n) of kernels that are functions of q."""
        total: Any = 0.0
        for basis, level in zip(self.basis, self.levels):
            total = total + basis * np.array([self._sums(kernel) for kernel in kernels(self.view.w / level)])
        return np.asarray(total)

    def _sums(self, kernel: Floats) -> Any:
        if not kernel.any():
            return np.zeros_like(self.masses)
        return self.field.potential(self.view.grid.waves(kernel))[0]

    def _push(self, waves: Any, gradient: Floats, factors: Floats) -> Floats:
        """Return the gradient (n, 2) of ``sum_ij factors_i k(r_ij)``, from that of ``sum_j k(r_ij)``."""
        return factors[:, None] * gradient + self.field.potential(waves, factors)[1]
