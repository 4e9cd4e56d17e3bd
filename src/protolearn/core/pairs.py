"""Objects given by dissimilarities or a kernel, whose updates need a single matrix product.

With squared dissimilarities ``S`` and weights ``H`` (n, k) of objects for prototypes, ``S @ H`` holds all distances
that relational and median prototypes ask for. `Pairs` makes that product: from a matrix in memory, from rows read on
demand, from a kernel, or from a few landmark columns; and where hardly any weight changed since the last product, from
those changes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.linalg import pinvh
from scipy.sparse import csr_array, issparse, vstack

from protolearn.core.numerics import decayed, flushed
from protolearn.core.sources import N_SPANS, Labels, Source
from protolearn.core.threads import cut, row_blocks
from protolearn.core.types import Array, Bools, Floats, Indices

__all__ = ["Combination", "Landmarks", "Pairs", "Span"]

BLOCK_BYTES = 16 << 20  # rows of a matrix multiplied at a time
STRIP = 1024  # columns of a matrix multiplied at a time, at least: narrower strips take longer together
NEGLIGIBLE = (
    1e-12  # weights below this share of the largest change nothing; Hasenfuss 2009, sec. 4.2 (fast median search)
)
SPARSE = 0.1  # share of weights that are not zero below which a loop over them beats a matrix product
SPARSE_BY_ROWS = 0.03  # the same where rows are read when they are needed
KERNEL_ROUNDING = 1e-14  # share of its terms up to which a squared distance of a kernel is zero
FEW = 0.1  # share of objects with another weight than in the last product below which only these are multiplied
CUTOFFS = (1e-10, 1e-6, 1e-4, 1e-3, 1e-2, 3e-2, 0.1)  # shares of the largest eigenvalue below which others are left out
REFRESH = 64  # products made from changes, before rounding makes a whole one worth its time

Fill = Callable[[slice], None]


@dataclass(frozen=True)
class Span:
    """Some objects: their rows, and weights (c,).

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.pairs import Pairs
    >>> span = Pairs(np.zeros((3, 3)), weights=np.array([1.0, 2.0, 3.0])).chunk(slice(1, 3))
    >>> span.rows, span.weights.tolist()
    (slice(1, 3, None), [2.0, 3.0])
    """

    rows: slice
    weights: Floats


@dataclass(frozen=True)
class Combination:
    """Weights of objects for prototypes, from which coefficients follow: rows of objects, columns of prototypes.

    The weights are ``weights @ mixture``, divided by ``exp(log_scale)`` for each column. Combinations of consecutive
    objects add by putting their rows one below the other.

    Examples
    --------
    >>> import numpy as np
    >>> first = Combination(np.array([[1.0, 0.5]]), np.array([0.0, -800.0]))
    >>> both = first + first
    >>> both.dense, both.mass
    (array([[1. , 0.5],
           [1. , 0.5]]), array([2., 1.]))
    """

    weights: Any
    log_scale: Floats
    mixture: Floats | None = None
    offset: float = 0.0

    @property
    def dense(self) -> Floats:
        """Return the weights (n, k)."""
        if self.mixture is not None:
            return self.weights @ self.mixture
        return self.weights.toarray() if issparse(self.weights) else self.weights

    @property
    def mass(self) -> Floats:
        """Return the sum of weights of each prototype, up to its scale."""
        sums = np.asarray(self.weights.sum(axis=0), dtype=np.float64)
        return sums if self.mixture is None else sums @ self.mixture

    def __add__(self, other: Combination) -> Combination:
        offset = self.offset + other.offset
        if issparse(self.weights):
            return Combination(vstack([self.weights, other.weights], format="csr"), self.log_scale, None, offset)
        top = np.maximum(self.log_scale, other.log_scale)
        base = np.where(np.isfinite(top), top, 0.0)  # a prototype that no object has reached has the scale -inf
        parts = [flushed(part.weights * np.exp(part.log_scale - base)) for part in (self, other)]
        return Combination(np.concatenate(parts), top, None, offset)

    def shared(self, log_shares: Floats) -> Combination:
        """Give the objects of every prototype to the others, weighted by ``exp(log_shares)`` (k, k), row to column."""
        logs = np.where(self.mass[:, None] > 0, log_shares, -np.inf)
        log_scale = logs.max(axis=0)
        return Combination(self.weights, log_scale, decayed(logs - log_scale), self.offset)


class Pairs(Source):
    """Objects with pairwise squared dissimilarities ``S``, weights and, for supervised maps, label vectors.

    Parameters
    ----------
    matrix : array of shape (n, n), callable or Landmarks
        Squared dissimilarities, or a kernel, symmetric; a callable reads some rows of it, a slice or indices.
    n_samples : int, optional
        Number of objects, if the matrix is a callable.
    weights : array of shape (n,), optional
        Weight of each object, 1 by default.
    labels : array of shape (n, C), optional
        Label vectors, one-hot or fuzzy; zero for unknown labels.
    label_weight : float, default=0.0
        Weight of the labels in the distance.
    diagonal : array of shape (n,), optional
        Diagonal of the kernel, if the matrix is one; then ``S_jl = k_jj + k_ll - 2 k_jl``.
    spread : float, default=0.0
        Constant added to the squared dissimilarities of all pairs of different objects.
    n_threads : int, default=1
        Threads over which rows are spread.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs(np.array([[0.0, 4.0], [4.0, 0.0]]))
    >>> pairs.times(np.array([[0.5, 1.0], [0.5, 0.0]]))
    array([[2., 0.],
           [2., 4.]])
    """

    def __init__(
        self,
        matrix: Any,
        *,
        n_samples: int | None = None,
        weights: Floats | None = None,
        labels: Array | None = None,
        label_weight: float = 0.0,
        diagonal: Floats | None = None,
        spread: float = 0.0,
        n_threads: int = 1,
    ) -> None:
        self.matrix = matrix
        self.n_samples = len(matrix) if n_samples is None else n_samples
        self.dtype = np.dtype(np.float64)  # of distances, whatever the matrix has
        self.weights = np.ones(self.n_samples) if weights is None else weights
        vectors = np.empty((self.n_samples, 0)) if labels is None else labels.astype(np.float64)
        self.labels = Labels(vectors, self.weights)
        self.label_weight = 0.0 if labels is None else label_weight
        self.label_unit = 1.0  # factor on squared distances between labels
        self.diagonal = diagonal
        self.spread = spread
        self.n_threads = n_threads
        self.n_lifted = 10  # reading, ranking and adding: what an object costs beside the product
        self._last: tuple[Any, Floats, int] | None = None

    def chunk(self, rows: slice) -> Span:
        """Return some objects."""
        return Span(rows, self.weights[rows])

    def times(self, weights: Any) -> Floats:
        """Return ``S @ weights`` (n, k) for weights (n, k), a dense or sparse array."""
        product = self._product(weights)
        sums = np.asarray(weights.sum(axis=0), dtype=np.float64)
        if self.diagonal is not None:
            product = self.diagonal[:, None] * sums + self.diagonal @ weights - 2.0 * product
        if self.spread:
            others = sums - self._among_equals(weights)
            product = product + self.spread * others  # Hasenfuss 2009, sec. 4.1, without a copy of S
        return product

    def columns(self, chosen: Indices) -> Floats:
        """Return the squared dissimilarities (n, c) of all objects to some of them."""
        rows = self.rows(chosen)
        return (rows + self.spread * (self.groups[chosen, None] != self.groups) if self.spread else rows).T

    def rows(self, chosen: Any) -> Floats:
        """Return the squared dissimilarities (c, n) of some objects, a slice or indices, to all, without spread."""
        rows = np.asarray(self._read(chosen), np.float64)
        return rows if self.diagonal is None else self.diagonal[chosen][:, None] + self.diagonal - 2.0 * rows

    @property
    def in_memory(self) -> bool:
        """Say whether the whole matrix is in memory."""
        return isinstance(self.matrix, np.ndarray)

    @property
    def squares(self) -> Array:
        """All squared dissimilarities (n, n), without spread."""
        return self.matrix if self.in_memory and self.diagonal is None else self.rows(slice(0, self.n_samples))

    @property
    def variance(self) -> float:
        """Return the total variance: half the mean squared dissimilarity."""
        shares = self.weights / self.weights.sum()
        return 0.5 * float(shares @ self.times(shares[:, None])[:, 0])

    @cached_property
    def order(self) -> Indices:
        """Objects by their mean dissimilarity to all, and to all so weighted, whatever order they come in."""
        shares = self.weights / self.weights.sum()
        first = self.times(shares[:, None])[:, 0]
        scale = np.abs(first).max(initial=1e-300)
        second = self.times((shares * first / scale)[:, None])[:, 0]
        return np.lexsort((np.round(second / scale, 9), np.round(first / scale, 9)))

    @cached_property
    def groups(self) -> Indices:
        """For every object the number of its group, of those that do not differ from each other: mostly itself."""
        every = np.arange(self.n_samples)
        if isinstance(self.matrix, Landmarks):
            return every
        first = np.empty_like(every)
        for rows in row_blocks(self.n_samples, 8 * self.n_samples, BLOCK_BYTES):
            first[rows] = self._equal(rows).argmax(axis=1)
        for j in np.flatnonzero(first != every).tolist():
            row, other = self.rows(np.array([j, first[j]]))
            if np.abs(row - other).max() > 1e-9 * np.abs(row).max():
                first[j] = j
        return np.unique(first, return_inverse=True)[1]

    @property
    def n_different(self) -> int:
        """Number of objects, of which those that do not differ count once."""
        return int(self.groups.max(initial=-1)) + 1

    @cached_property
    def twins(self) -> Indices:
        """For every object, the first in order from which it does not differ: mostly itself."""
        if self.n_different == self.n_samples:
            return np.arange(self.n_samples)
        places = np.empty(self.n_samples, np.int64)
        places[self.order] = np.arange(self.n_samples)
        earliest = np.full(self.n_different, self.n_samples)
        np.minimum.at(earliest, self.groups, places)
        return self.order[earliest[self.groups]]

    def block(self, chosen: Indices) -> Floats:
        """Return the squared dissimilarities (c, c) between some objects."""
        if not self.in_memory:
            return self.columns(chosen)[chosen]
        block = np.asarray(self.matrix[np.ix_(chosen, chosen)], np.float64)
        if self.diagonal is not None:
            block = self.diagonal[chosen, None] + self.diagonal[chosen] - 2.0 * block
        if not self.spread:
            return block
        return block + self.spread * (self.groups[chosen, None] != self.groups[chosen])

    def _read(self, chosen: Any) -> Array:
        """Return some rows (c, n) of the matrix."""
        return self.matrix(chosen) if callable(self.matrix) else self.matrix[chosen]

    def _equal(self, chosen: slice) -> Bools:
        """Tell which objects (c, n) some have no distance to; that of a kernel is known up to rounding."""
        rows = self.rows(chosen)
        if self.diagonal is None:
            return rows == 0
        sizes = np.abs(self.diagonal)
        return np.abs(rows) <= KERNEL_ROUNDING * (sizes[chosen][:, None] + sizes)

    def _among_equals(self, weights: Any) -> Any:
        """Return for every object the sum of the weights (n, k) of those that do not differ from it."""
        if self.n_different == self.n_samples:
            return weights
        members = csr_array((np.ones(self.n_samples), self.groups, np.arange(self.n_samples + 1)))
        return members @ (members.T @ weights)

    def _product(self, weights: Any) -> Floats:
        if isinstance(self.matrix, Landmarks):
            return self.matrix.times(weights)
        if not issparse(weights):
            weights = np.where(np.abs(weights) < NEGLIGIBLE * np.abs(weights).max(axis=0), 0.0, weights)
            if np.count_nonzero(weights) < (SPARSE if self.in_memory else SPARSE_BY_ROWS) * weights.size:
                weights = csr_array(weights)
        product, age = self._from_changes(weights)
        if product is None:
            product, age = self._whole(weights), 0
        self._last = weights, product, age
        return product

    def _from_changes(self, weights: Any) -> tuple[Floats | None, int]:
        """Return the product by way of the last one, if few objects have other weights than then."""
        if self._last is None:
            return None, 0
        before, product, age = self._last
        if age >= REFRESH or before.shape != weights.shape or issparse(before) != issparse(weights):
            return None, 0
        changes = weights - before
        if issparse(changes):
            changed = np.flatnonzero(np.diff(csr_array(changes != 0).indptr))
        else:
            changed = np.flatnonzero(changes.any(axis=1))
        if len(changed) > FEW * self.n_samples:
            return None, 0
        if len(changed) == 0:
            return product, age
        rest = changes[changed].toarray() if issparse(changes) else changes[changed]
        product = product.copy()
        for part in row_blocks(len(changed), 8 * self.n_samples, BLOCK_BYTES):
            rows = self._read(changed[part])
            product += (rest[part].T.astype(rows.dtype) @ rows).T
        return product, age + 1

    def _whole(self, weights: Any) -> Floats:
        product = np.empty((self.n_samples, weights.shape[1]))
        size = -(-self.n_samples // N_SPANS)
        if self.in_memory:
            upright = self.matrix.T if self.matrix.flags.f_contiguous else self.matrix
            fill = (_fill_by_adding if issparse(weights) else _fill_from_columns)(upright, weights, product)
            size = max(size, min(STRIP, -(-self.n_samples // 2)))
        else:
            fill = (_fill_sparse if issparse(weights) else _fill_from_rows)(self._read, weights, product)
            size = max(1, min(BLOCK_BYTES // (8 * self.n_samples), size))
        self._workers(self.n_samples).collect(fill, cut(self.n_samples, size))
        return product


@dataclass(frozen=True)
class Landmarks:
    """Nystroem approximation ``C W^+ C'`` of a matrix from its columns at a few landmarks.

    Parameters
    ----------
    columns : array of shape (n, l)
        Squared dissimilarities, or kernel, of all objects to the landmarks.
    core : array of shape (l, l)
        Pseudo-inverse of the part between landmarks.
    chosen : array of shape (l,)
        The landmarks.

    References
    ----------
    Williams and Seeger (2001). Using the Nystroem method to speed up kernel machines. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(5.0)
    >>> S = (x[:, None] - x) ** 2
    >>> bool(np.allclose(Landmarks.at(S[:, :3], np.arange(3)).times(np.eye(5)), S))
    True
    """

    columns: Floats
    core: Floats
    chosen: Indices

    @classmethod
    def at(cls, columns: Floats, chosen: Indices) -> Landmarks:
        """Make the approximation from columns (n, l) at chosen objects (l,).

        Small eigenvalues of what is not of low rank would be inverted into noise. Those are left out that make one half
        of the columns predict the other half worse.
        """
        cutoff = CUTOFFS[0]
        if len(chosen) >= 4:
            half, other = columns[:, ::2], columns[:, 1::2]
            cores = [_inverse(half[chosen[::2]], share) for share in CUTOFFS]
            errors = [np.linalg.norm(half @ (core @ half[chosen[1::2]].T) - other) for core in cores]
            cutoff = CUTOFFS[int(np.argmin(errors))]
        return cls(columns, _inverse(columns[chosen], cutoff), chosen)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, chosen: Any) -> Floats:
        return (self.columns[chosen] @ self.core) @ self.columns.T

    def times(self, weights: Any) -> Floats:
        """Return the product with weights (n, k)."""
        return self.columns @ (self.core @ (weights.T @ self.columns).T)


def _inverse(inner: Floats, cutoff: float) -> Floats:
    return pinvh(0.5 * (inner + inner.T), rtol=cutoff)


def _fill_from_columns(matrix: Array, weights: Floats, product: Floats) -> Fill:
    """Fill rows of ``S @ weights`` from columns of a symmetric matrix: ``weights' @ S``.

    Where products with few rows are bound by how fast the matrix can be read, matrix libraries read it in the order of
    memory in this orientation; in the other one, some kernels take 1.8 times as long.
    """
    factors = weights.T.astype(matrix.dtype, copy=False)

    def fill(rows: slice) -> None:
        product[rows] = (factors @ matrix[:, rows]).T

    return fill


def _fill_by_adding(matrix: Array, weights: csr_array, product: Floats) -> Fill:
    """Fill the same for weights of which few are left: rows of the matrix are added up, in the order of memory."""
    from protolearn.core._kernels import add_weighted_rows

    def fill(rows: slice) -> None:
        sums = np.zeros((weights.shape[1], rows.stop - rows.start))
        add_weighted_rows(matrix, weights.indptr, weights.indices, weights.data, rows.start, sums)
        product[rows] = sums.T

    return fill


def _fill_from_rows(read: Callable[[slice], Array], weights: Floats, product: Floats) -> Fill:
    """Fill rows of ``S @ weights`` from rows that are read when they are needed."""
    factors = cache(lambda dtype: weights.astype(dtype, copy=False))

    def fill(rows: slice) -> None:
        block = read(rows)
        product[rows] = block @ factors(block.dtype)

    return fill


def _fill_sparse(read: Callable[[slice], Array], weights: csr_array, product: Floats) -> Fill:
    """Fill rows of ``S @ weights`` for weights of which hardly any are left."""
    from protolearn.core._kernels import sum_weighted

    def fill(rows: slice) -> None:
        product[rows] = 0.0
        sum_weighted(read(rows), weights.indptr, weights.indices, weights.data, product[rows])

    return fill
