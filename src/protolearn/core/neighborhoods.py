"""Neighborhood functions of maps: which prototypes a sample updates, and how much.

For batch learning, each of them computes the sums from which prototypes are updated, given prototypes, samples and a
range (``gather``). For online learning, it applies the same rule to one sample at a time (``learn_online``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.special import logsumexp

from protolearn.core.bounds import Bounds, Search, tile_size
from protolearn.core.lattices import AllPairs, Structured, as_lattice, log_kernel
from protolearn.core.numerics import decayed, flushed
from protolearn.core.parameters import Constraint, Part, anything, flag, option, positive
from protolearn.core.prototypes import Lifted, Mean, Prototypes, Subspace
from protolearn.core.schedules import Schedule, falling
from protolearn.core.sources import Chunk, PointSource
from protolearn.core.statistics import Statistics
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import require_memory

__all__ = [
    "Neighborhood",
    "OnLattice",
    "Ranks",
    "Soft",
    "Winner",
    "plane_of",
]


def _pair(first: Constraint, last: Constraint, text: str) -> Constraint:
    def allows(value: Any) -> bool:
        return isinstance(value, tuple | list) and len(value) == 2 and first.allows(value[0]) and last.allows(value[1])

    return Constraint(allows, (text,))


RADIUS = _pair(positive | option("auto"), positive, "a pair (start, end) of positive numbers; start may be 'auto'")
RADII = _pair(positive | option("auto"), positive | option("auto"), "a pair of positive numbers or 'auto'")
SCHEDULE = option("geometric", "inverse", "constant") | Constraint(
    callable, ("a function (start, end, n_steps) -> values",)
)
A_LATTICE = (
    option("auto")
    | anything("a tuple (rows, columns)")
    | anything("a Lattice such as protolearn.core.lattices.hyperbolic()")
)
FEW = 0.01  # share of the mean mass of a prototype, below which it is idle


MOST_SUMMED = 8  # ranks up to which it is faster to sum samples for one prototype after the other


LARGE_WORK = 20_000_000  # products an epoch, from which compiled code is worth its import


DENSE_NODES = 512  # up to which it is fastest to hold the weights between all nodes


class Neighborhood(Part, ABC):
    """Who learns from a sample, and how far: a neighborhood function, with the range of every epoch.

    Examples
    --------
    A custom one, in which all samples have equal weight for all prototypes:

    >>> import numpy as np
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.sources import ArraySource
    >>> class Equal(Neighborhood):
    ...     def ranges(self, source, kind, n_epochs, resumed, per_epoch=1):
    ...         return np.zeros(n_epochs)
    ...
    ...     def gather(self, prototypes, source, range_):
    ...         measure = prototypes.measure(source.dtype)
    ...         return source.sum(lambda chunk: measure(chunk)[1](np.ones((len(prototypes), len(chunk.weights)))))
    >>> source, prototypes = ArraySource(np.array([[0.0], [4.0]])), Mean(np.array([[1.0], [3.0]]), np.ones(1))
    >>> (source.origin + prototypes.update(Equal().gather(prototypes, source, 1.0)).positions).tolist()
    [[2.0], [2.0]]
    """

    n_nodes: int | None = None  # number of prototypes, if the neighborhood determines it

    def resolved(self, source: Any, kind: Any) -> Self:
        """Return the neighborhood function for these samples, with a lattice that suits them if none is given."""
        return self

    def going_on(self, earlier: Any) -> Self:
        """Return the neighborhood function for further samples, with the lattice of earlier ones."""
        return self

    @abstractmethod
    def ranges(self, source: Any, kind: Any, n_epochs: int, resumed: bool, per_epoch: int = 1) -> Floats:
        """Return the range of every epoch, which may depend on where prototypes start, and whether they go on."""

    @abstractmethod
    def gather(self, prototypes: Prototypes, source: PointSource, range_: float) -> Statistics:
        """Sum the samples of every prototype, weighted by the neighborhood function at a given range."""

    def learn_online(
        self,
        points: Array,
        positions: Array,
        metric: Array,
        rates: Floats,
        ranges: Floats,
        gains: Floats | None = None,
    ) -> Indices:
        """Move positions (k, D), in place, towards one point after another; all of one float type.

        The step is multiplied by the gain (k,) of the winner. Returns the two nearest prototypes (n, 2) of the points.
        """
        raise NotImplementedError(f"{type(self).__name__} has no rule for single samples.")


class Winner(Neighborhood):
    """Neighborhood function of k-means: a sample updates its nearest prototype only.

    Parameters
    ----------
    empty : {"keep", "reseed"}, default="keep"
        Treatment of prototypes that win no sample: ``"keep"`` leaves them in place, ``"reseed"`` moves them to the
        samples farthest from their nearest prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [1.0], [9.0]]), origin=np.zeros(1))
    >>> prototypes = Mean(np.array([[0.0], [5.0]]), np.ones(1))
    >>> prototypes.update(Winner().gather(prototypes, source, 0.0)).positions
    array([[0.5],
           [9. ]])
    """

    _constraints = {"empty": option("keep", "reseed")}

    def __init__(self, empty: str = "keep") -> None:
        self.empty = empty

    def ranges(self, source: Any, kind: Any, n_epochs: int, resumed: bool, per_epoch: int = 1) -> Floats:
        """Return zeros."""
        return np.zeros(n_epochs)

    def gather(self, prototypes: Prototypes, source: PointSource, range_: float) -> Statistics:
        """Sum the samples of each receptive field."""
        return sum_by_winner(prototypes, source)

    def learn_online(
        self,
        points: Array,
        positions: Array,
        metric: Array,
        rates: Floats,
        ranges: Floats,
        gains: Floats | None = None,
    ) -> Indices:
        """Move the winner of each point."""
        from protolearn.core._kernels import online_gas

        return _follow(online_gas, points, positions, metric, rates, np.full_like(rates, 1e-3), gains=gains)


class Ranks(Neighborhood):
    """Neighborhood function of neural gas: a sample updates all prototypes with weights that decrease with their rank.

    The prototype of rank r (0 is the nearest) has the weight ``exp(-r / range)``.

    Parameters
    ----------
    radius : tuple, default=("auto", 0.01)
        First and last range, in ranks; ``"auto"`` is half the number of prototypes, or less if they start spread over
        the samples.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        Decrease of the range. A callable maps (start, end, n_epochs) to the values.
    settle : bool, default=True
        Whether prototypes of vectors that contribute little are moved, after the last epoch, to where one more lowers
        the quantization error most, if only winners learned in the end.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [4.0]]), origin=np.zeros(1))
    >>> prototypes = Mean(np.array([[1.0], [2.5]]), np.ones(1))
    >>> prototypes.update(Ranks().gather(prototypes, source, 1.0)).positions.round(3)
    array([[1.076],
           [2.924]])
    """

    _constraints = {"radius": RADIUS, "schedule": SCHEDULE, "settle": flag}

    def __init__(
        self,
        radius: tuple[float | str, float] = ("auto", 0.01),
        *,
        schedule: str | Schedule = "geometric",
        settle: bool = True,
    ) -> None:
        self.radius = radius
        self.schedule = schedule
        self.settle = settle

    def ranges(self, source: Any, kind: Any, n_epochs: int, resumed: bool, per_epoch: int = 1) -> Floats:
        """Return ranges that fall from the start to the end."""
        start, end = self.radius
        first = self.first(kind) if isinstance(start, str) else float(start)
        return falling(self.schedule, first, end, n_epochs, per_epoch)

    def first(self, kind: Any) -> float:
        """Return the first range: wide, unless prototypes start spread over the samples, or in order."""
        if kind.starts_by("euclidean"):
            return max(0.5, self.radius[1])
        half = kind.count(self) / 2
        return min(half, 2.0) if kind.starts_by("k-means++") else half

    def gather(self, prototypes: Prototypes, source: PointSource, range_: float) -> Statistics:
        """Sum all samples for every prototype, weighted by rank."""
        table = decayed(-np.arange(self._n_near(range_, len(prototypes), source.dtype)) / range_, source.dtype)
        if len(table) < len(prototypes):
            return source.whole(partial(self._gather_near, prototypes, range_, table))
        return source.sum(self._learner(prototypes, range_, table, source.dtype), len(prototypes))

    def _n_near(self, range_: float, k: int, dtype: Any) -> int:
        """Return the number of ranks that count for a prototype with a hundredth of the mean mass, or more.

        The weights of the others are, for all samples together, below the rounding of its sum.
        """
        return min(k, 1 + int(range_ * np.log(k / (FEW * np.finfo(dtype).eps))))

    def _gather_near(self, prototypes: Prototypes, range_: float, table: Array, source: Any) -> Statistics:
        """Sum samples for the prototypes near to them; for all, if one of these is near to hardly any."""
        k = len(prototypes)
        if len(table) == 1:
            statistics = sum_by_winner(prototypes, source)
        elif len(table) <= MOST_SUMMED and is_compiled(prototypes, source):
            statistics = source.sum(_learn_nearby(prototypes, source, table), k, width=1)
        else:
            statistics = source.sum(self._learner(prototypes, range_, table, source.dtype), k)
        if statistics.mass.min() >= FEW * source.mass / k:
            return statistics
        table = decayed(-np.arange(k) / range_, source.dtype)
        return source.sum(self._learner(prototypes, range_, table, source.dtype), k)

    def _learner(
        self, prototypes: Prototypes, range_: float, table: Array, dtype: Any
    ) -> Callable[[Chunk], Statistics]:
        """Return the function that sums a chunk, with the weights of the first ranks."""
        k, mask = len(prototypes), index_mask(len(prototypes))
        least = np.finfo(dtype).tiny
        # weights near the smallest number would lose digits, or an idle prototype all its weight
        relative = bool(table[-1] < 1e6 * least)
        measure = prototypes.measure(dtype)

        def learn(chunk: Chunk) -> Statistics:
            from protolearn.core._kernels import rank_weights

            distances, sums = measure(chunk)
            codes = sorted_codes(distances, mask)
            one_size = codes.itemsize == np.dtype(dtype).itemsize
            weights = codes.view(dtype) if one_size else np.empty(codes.shape, dtype)  # new memory takes time
            best_rank = np.zeros(k, np.int64)
            rank_weights(codes, mask, table, chunk.weights, least, relative, weights, best_rank)
            log_scale = np.where(best_rank < k, -best_rank / range_, -np.inf)
            return sums(weights.T, log_scale)  # Hasenfuss 2009, eq. 3.5

        return learn

    def learn_online(
        self,
        points: Array,
        positions: Array,
        metric: Array,
        rates: Floats,
        ranges: Floats,
        gains: Floats | None = None,
    ) -> Indices:
        """Move all prototypes towards each point, by rank."""
        from protolearn.core._kernels import online_gas

        return _follow(online_gas, points, positions, metric, rates, ranges, gains=gains)


class OnLattice(Neighborhood):
    """Neighborhood function of the self-organizing map: a sample updates its winner and the neighbors of this node.

    Parameters
    ----------
    lattice : Lattice, tuple or "auto", default="auto"
        Lattice with the distances ``g`` between nodes, or its shape; `SOM` sets its own.
    topology : {"rectangular", "hexagonal"}, default="rectangular"
        Type of a lattice of given shape; `SOM` sets its own.
    radius : tuple, default=("auto", "auto")
        First and last range, in steps of the lattice. A first ``"auto"`` is a quarter of the longest distance, or a
        twelfth if the lattice starts in order, and the last range for later patches; a last ``"auto"`` is 0.55, or 0.2
        for prototypes with a shape. Smaller last values give a lower quantization error, larger ones more similar
        neighbors.
    kernel : {"gaussian", "exponential"}, default="gaussian"
        Neighborhood function, ``exp(-g^2 / (2 range^2))`` or ``exp(-g / range)``.
    winner : {"heskes", "nearest", "heskes-printed"}, default="heskes"
        Definition of the winner. ``"heskes"`` is the node whose neighborhood has the smallest mean distance, with which
        training decreases a cost function; ``"nearest"`` is Kohonen's rule, the nearest prototype; ``"heskes-printed"``
        is the node with the smallest sum over its neighborhood, without normalization of the weights.
    schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
        Decrease of the range. A callable maps (start, end, n_epochs) to the values.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.lattices import chain
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [4.0]]), origin=np.zeros(1))
    >>> prototypes = Mean(np.array([[1.0], [3.0]]), np.ones(1))
    >>> prototypes.update(OnLattice(chain(2), kernel="exponential").gather(prototypes, source, 1.0)).positions.round(3)
    array([[1.076],
           [2.924]])
    """

    _constraints = {
        "lattice": A_LATTICE,
        "topology": option("rectangular", "hexagonal"),
        "radius": RADII,
        "kernel": option("gaussian", "exponential"),
        "winner": option("heskes", "nearest", "heskes-printed"),
        "schedule": SCHEDULE,
    }

    def __init__(
        self,
        lattice: Any = "auto",
        *,
        topology: str = "rectangular",
        radius: tuple[float | str, float | str] = ("auto", "auto"),
        kernel: str = "gaussian",
        winner: str = "heskes",
        schedule: str | Schedule = "geometric",
    ) -> None:
        self.lattice = lattice
        self.topology = topology
        self.radius = radius
        self.kernel = kernel
        self.winner = winner
        self.schedule = schedule

    def on(self, lattice: Any, topology: str) -> OnLattice:
        """Return the same neighborhood function on another lattice."""
        moved = copy(self)
        moved.lattice, moved.topology = lattice, topology
        return moved

    @property
    def n_nodes(self) -> int:  # type: ignore[override]
        """Number of nodes."""
        return self.lattice.n_nodes

    def resolved(self, source: Any, kind: Any) -> OnLattice:
        """Return the neighborhood function with a lattice, one that suits the samples if none is given."""
        given = kind.suggested_lattice(source).shape if isinstance(self.lattice, str) else self.lattice
        return self.on(as_lattice(given, self.topology), self.topology)

    def going_on(self, earlier: OnLattice) -> OnLattice:
        """Return the neighborhood function with the lattice of earlier samples, if it is the same otherwise."""
        so_far = earlier.lattice
        given = (so_far.shape or so_far) if isinstance(self.lattice, str) else self.lattice
        same = (as_lattice(given, self.topology), self.winner, self.kernel)
        if same != (so_far, earlier.winner, earlier.kernel):
            raise ValueError("The lattice, winner or kernel differs from that of the current map; call fit to restart.")
        return self.on(so_far, self.topology)

    def ranges(self, source: Any, kind: Any, n_epochs: int, resumed: bool, per_epoch: int = 1) -> Floats:
        """Return ranges that fall from the start to the end, in units of the lattice."""
        step, longest = self.lattice.extent
        start, last = self.radius
        end = kind.last_radius if isinstance(last, str) else float(last)
        if start == "auto" and resumed:
            start = end  # what is in order shall stay so, and lumps of the past shall not be smoothed
        elif start == "auto":
            widest = longest / step
            # a plane holds so many nodes, hyperbolic discs hold more
            flat = 4 * self.lattice.n_nodes <= 2 * (widest + 2) ** 2
            ordered = flat and kind.starts_by("pca", "euclidean")
            start = max(widest / (12 if ordered else 4), end)
        return step * falling(self.schedule, float(start), end, n_epochs, per_epoch)

    def log_kernel(self, range_: float) -> Floats:
        """Return the logarithm of the neighborhood function between all nodes, of shape (k, k)."""
        return log_kernel(self.lattice.distances, self.kernel, range_)

    def log_shares(self, range_: float) -> Floats:
        """Return the logarithm of the weight of a sample of one node (row) for another node (column).

        With Heskes' winner, the weights of a node sum to one. Without this normalization, nodes at the border, which
        have fewer neighbors, win most samples.
        """
        logs = self.log_kernel(range_)
        return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)) if self.winner == "heskes" else logs

    def gather(self, prototypes: Prototypes, source: PointSource, range_: float) -> Statistics:
        """Sum the samples by winner, then share the sums among neighbors."""
        near = self._neighborhood(prototypes, range_)
        mixes = self.winner != "nearest"
        if not prototypes.linear:
            return self._gather_each(prototypes, source, near, mixes)
        # Heskes 1999; Hasenfuss 2009, eq. 2.5
        return near.shared(sum_by_winner(prototypes, source, near.mixture if mixes else None))

    def _neighborhood(self, prototypes: Prototypes, range_: float) -> AllPairs | Structured:
        """Return the weights between nodes at a range."""
        k = self.lattice.n_nodes
        if k > DENSE_NODES and isinstance(prototypes, Lifted | Subspace):
            return Structured(self.lattice, self.kernel, range_, self.winner == "heskes")
        require_memory(f"A map of {k} nodes", 5 * 8 * k**2, "use a smaller lattice")
        return AllPairs(self.log_shares(range_))

    def _gather_each(
        self, prototypes: Prototypes, source: PointSource, near: AllPairs | Structured, mixes: bool
    ) -> Statistics:
        """Sum the samples for every prototype on its own, where sums of a winner cannot be shared."""
        dtype = source.dtype
        measure = prototypes.measure(dtype)
        mixed = near.mixer(dtype) if mixes else None

        def learn(chunk: Chunk) -> Statistics:
            distances, sums = measure(chunk)
            winners = (distances if mixed is None else mixed(distances)).argmin(axis=1)
            nodes, places = np.unique(winners, return_inverse=True)
            log_shares = near.logs(nodes)
            logs = log_shares.max(axis=0)
            weights = decayed(log_shares - logs, dtype)[places] * chunk.weights[:, None]
            return sums(flushed(weights).T, logs)

        return source.sum(learn, len(prototypes))

    def learn_online(
        self,
        points: Array,
        positions: Array,
        metric: Array,
        rates: Floats,
        ranges: Floats,
        gains: Floats | None = None,
    ) -> Indices:
        """Move the neighborhood of each point's winner; the range is held while it changes by less than 0.5 %."""
        from protolearn.core._kernels import online_lattice

        k = self.lattice.n_nodes
        require_memory(f"Online learning of {k} nodes", 6 * 8 * k**2, "learn in batches, or use a smaller lattice")
        changes = np.flatnonzero(np.diff(np.floor(np.log(ranges) / 0.005))) + 1
        seen = []
        for start, stop in pairwise([0, *changes, len(points)]):
            part = slice(start, stop)
            neighborhood = np.exp(self.log_kernel(ranges[start]))
            mixture = np.empty((0, 0)) if self.winner == "nearest" else np.exp(self.log_shares(ranges[start]))
            rule = neighborhood, mixture.astype(points.dtype)
            seen.append(_follow(online_lattice, points[part], positions, metric, rates[part], *rule, gains=gains))
        return np.concatenate(seen)


def plane_of(neighborhood: Neighborhood, n_prototypes: int) -> Floats:
    """Return node coordinates for a principal plane: those of the lattice, or a nearly square grid.

    Examples
    --------
    >>> from protolearn.core.neighborhoods import OnLattice, Ranks, plane_of
    >>> from protolearn.core.lattices import rectangular
    >>> plane_of(OnLattice(rectangular(1, 2)), 2).tolist(), plane_of(Ranks(), 4).tolist()
    ([[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    """
    if isinstance(neighborhood, OnLattice):
        return neighborhood.lattice.coordinates
    rows = max(1, int(np.sqrt(n_prototypes)))
    return np.column_stack(np.divmod(np.arange(n_prototypes), rows)).astype(np.float64)


def _follow(kernel: Callable[..., None], points: Array, positions: Array, *rule: Any, gains: Any) -> Indices:
    """Run the kernel of an online rule and return the two nearest prototypes of each point."""
    seen = np.empty((len(points), 2), np.int64)
    kernel(points, positions, *rule, np.ones(len(positions)) if gains is None else gains, seen)
    return seen


def is_compiled(prototypes: Prototypes, source: PointSource) -> bool:
    """Say whether compiled code sums the samples of the nearest prototypes: if there are many, and all values known."""
    large = source.n_samples * (source.n_lifted - 2) * len(prototypes) >= LARGE_WORK
    return large and not source.partial and isinstance(prototypes, Lifted) and prototypes.linear


def sum_by_winner(
    prototypes: Prototypes, source: PointSource, mixture: Floats | Structured | None = None
) -> Statistics:
    """Sum the samples of each winner, the smallest of the (mixed) distances."""
    k = len(prototypes)
    if is_compiled(prototypes, source):
        return source.sum(_learn_compiled(prototypes, source, mixture), k, width=1)
    return source.sum(_learn_plain(prototypes, source, mixture), k, width=1 if prototypes.linear else None)


def _learn_plain(
    prototypes: Prototypes, source: PointSource, mixture: Floats | Structured | None
) -> Callable[[Chunk], Statistics]:
    def members(winners: NDArray[np.intp], chunk: Chunk) -> csc_array:
        shape = (len(prototypes), len(winners))
        return csc_array((chunk.weights, winners, np.arange(len(winners) + 1)), shape=shape)

    if prototypes.linear:
        find, collect = prototypes.winner_search(source.dtype, mixture), prototypes.sums  # type: ignore[attr-defined]
        return lambda chunk: collect(chunk, members(find(chunk), chunk))
    measure = prototypes.measure(source.dtype)

    def learn(chunk: Chunk) -> Statistics:
        distances, sums = measure(chunk)
        return sums(members(distances.argmin(axis=1), chunk))

    return learn


def _learn_compiled(
    prototypes: Any, source: PointSource, mixture: Floats | Structured | None = None
) -> Callable[[Chunk], Statistics]:
    """Return the function that sums a chunk for the nearest prototypes, which it need not find anew each time."""
    search, k, n_terms = search_of(prototypes, mixture), len(prototypes), source.n_lifted
    known, first = source.bounds, source.first
    if known is not None:
        known.loosen(search)

    def learn(chunk: Chunk) -> Statistics:
        from protolearn.core._kernels import sum_fields

        rows = slice(chunk.rows.start - first, chunk.rows.stop - first)
        bounds = Bounds.unknown(len(chunk.weights)) if known is None else known[rows]
        search.update(chunk.lifted, bounds)
        sums = np.zeros((k, n_terms))
        sum_fields(chunk.lifted, chunk.weights, bounds.winners, sums)
        return Statistics(sums, np.zeros(k))

    return learn


def search_of(prototypes: Any, mixture: Floats | Structured | None = None) -> Search:
    """Return the search for the nearest prototypes, by the (mixed) distances."""
    euclidean = isinstance(prototypes, Mean) and bool((prototypes.metric == 1.0).all())
    return Search(prototypes.forms(mixture), euclidean)


def _learn_nearby(prototypes: Any, source: PointSource, table: Array) -> Callable[[Chunk], Statistics]:
    """Return the function that sums a chunk for as many of the nearest prototypes as the table has weights."""
    forms = np.ascontiguousarray(prototypes.forms(), dtype=source.dtype)

    def learn(chunk: Chunk) -> Statistics:
        from protolearn.core._kernels import sum_nearby

        sums = np.zeros(forms.shape)
        sum_nearby(chunk.lifted, forms, chunk.weights, table, sums, tile_size(forms))
        return Statistics(sums, np.zeros(len(sums)))

    return learn


class Soft(Neighborhood):
    """Soft assignments proportional to ``exp(-d / (2 range))``: expectation maximization, or deterministic annealing.

    With range one and distances that are twice the negative logarithm of the density of a prototype, the assignments
    are the posterior probabilities of a mixture. A decreasing range is the temperature of deterministic annealing.

    Parameters
    ----------
    temperature : tuple, default=("auto", "auto")
        First and last range. A first ``"auto"`` is a little above the temperature at which the first cluster splits, a
        last one a thousandth of the first.

    Examples
    --------
    With a smaller range, the assignments are closer to the nearest prototype:

    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Soft
    >>> from protolearn.core.prototypes import Mean
    >>> from protolearn.core.sources import ArraySource
    >>> source = ArraySource(np.array([[0.0], [4.0]]), origin=np.zeros(1))
    >>> prototypes = Mean(np.array([[1.0], [3.0]]), np.ones(1))
    >>> for range_ in (100.0, 0.1):
    ...     print(prototypes.update(Soft().gather(prototypes, source, range_)).positions.round(2).tolist())
    [[1.96], [2.04]]
    [[0.0], [4.0]]
    """

    _constraints = {"temperature": RADII}

    def __init__(self, temperature: tuple[float | str, float | str] = ("auto", "auto")) -> None:
        self.temperature = temperature

    def ranges(self, source: Any, kind: Any, n_epochs: int, resumed: bool, per_epoch: int = 1) -> Floats:
        """Return temperatures that fall from the start to the end."""
        start, end = self.temperature
        first = (1.1 * kind.widest(source) or 1.0) if isinstance(start, str) else float(start)
        last = 1e-3 * first if isinstance(end, str) else float(end)
        return falling("geometric", first, last, n_epochs, per_epoch)

    def gather(self, prototypes: Prototypes, source: PointSource, range_: float) -> Statistics:
        """Sum all samples for every prototype, weighted by share; the offset makes the cost the free energy."""
        dtype = source.dtype
        measure = prototypes.measure(dtype)

        def learn(chunk: Chunk) -> Statistics:
            distances, sums = measure(chunk)
            logs = distances.astype(np.float64) * (-0.5 / range_)
            logs -= logsumexp(logs, axis=1, keepdims=True)
            posteriors = decayed(logs)
            entropy = float(chunk.weights @ (posteriors * logs).sum(axis=1))
            statistics = sums(flushed((posteriors * chunk.weights[:, None]).astype(dtype)).T)
            return replace(statistics, offset=statistics.offset + range_ * entropy)

        return source.sum(learn, len(prototypes))


def index_mask(n_prototypes: int) -> int:
    """Return the lowest bits that hold any prototype's index."""
    return (1 << max(1, (n_prototypes - 1).bit_length())) - 1


def sorted_codes(distances: Array, mask: int) -> Array:
    """Return codes (c, k) whose lowest bits are the prototypes of each sample, nearest first.

    They may be written in the place of the distances.
    """
    from protolearn.core._kernels import double_codes, short_codes

    if distances.dtype == np.float32 and mask < 256:  # 24 bits are left for the distance, as many as it has
        short_codes(distances, mask.bit_length())
        codes = distances.view(np.uint32)
        codes.sort(axis=1)
        return codes
    long = np.empty(distances.shape)
    double_codes(distances, long, long.view(np.int64), mask)
    long.sort(axis=1)
    return long.view(np.int64)
