"""Dissimilarities read or computed block by block, for matrices that do not fit into memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.metric import A_METRIC
from protolearn.core.parameters import function, option
from protolearn.core.threads import block_size
from protolearn.core.types import Array, Floats, Indices
from protolearn.dissimilarities._blocks import encoded_pairs
from protolearn.dissimilarities._pairwise import METRICS, measure_of, metric_name

__all__ = ["Dissimilarities"]

SLAB_BYTES = 64 << 20  # rows of a stored matrix read at a time


class Dissimilarities:
    """Source of dissimilarities, computed on demand or read from storage block by block.

    Relational maps accept it instead of a matrix. With ``patches``, only the blocks that a patch needs are computed
    or read.

    Parameters
    ----------
    data : sequence of objects, or square array
        Objects that the metric compares (strings, sequences, rows of an array, ...), or with ``metric="precomputed"``
        their dissimilarities: an array, a memory map, an HDF5 dataset or a Zarr array. A vector is interpreted as the
        condensed form of SciPy's ``pdist`` and ``squareform``, and is not expanded to a matrix.
    metric : str, callable or learned metric, default="precomputed"
        Name of a dissimilarity (see `protolearn.dissimilarities.METRICS`), a function of two objects, or a learned
        metric in any form that `protolearn.as_metric` accepts.
    n_jobs : int, optional
        Number of threads for the computation of a block.
    verbose : int, default=0
        1 shows a progress bar for each block.
    symmetrize : {"raise", "mean"}, default="raise"
        Treatment of a function of two objects that may be asymmetric or not zero for equal objects. ``"raise"`` raises
        an error if a few pairs show this; ``"mean"`` calls the function for both orders and uses the mean.
    **metric_params : object
        Additional keyword arguments of the metric, such as ``indel=4.5``.

    Attributes
    ----------
    n_computed : int
        Number of dissimilarities computed or read so far.

    Examples
    --------
    >>> from protolearn.dissimilarities import Dissimilarities
    >>> words = Dissimilarities(["kitten", "sitting", "mitten"], "edit")
    >>> words.block([0], [1, 2])
    array([[3., 1.]])
    >>> len(words), words.n_computed
    (3, 2)
    """

    def __init__(
        self,
        data: Any,
        metric: Any = "precomputed",
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
        symmetrize: str = "raise",
        **metric_params: Any,
    ) -> None:
        if isinstance(data, str | bytes):
            raise ValueError(f"The objects must be a sequence, such as a list of strings; got the text {data[:20]!r}.")
        if hasattr(data, "iloc"):
            data = data.to_numpy()
        self.data = data if hasattr(data, "shape") else list(data)
        self.metric = metric_name(metric)
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.symmetrize = symmetrize
        self.metric_params = metric_params
        self.n_computed = 0
        self._checked = False
        if self.precomputed:
            if len(np.shape(self.data)) == 1:
                self.data = _Condensed(self.data)
            shape = getattr(self.data, "shape", np.shape(self.data))
            if len(shape) != 2 or shape[0] != shape[1]:
                raise ValueError(
                    f"Precomputed dissimilarities must be a square matrix, with a row and a column for each object; "
                    f"got shape {shape}. For objects choose a metric, such as metric='edit'."
                )
        else:
            (option("precomputed", *METRICS) | function("a function of two objects") | A_METRIC).check("metric", metric)
            self._measure = measure_of(metric, metric_params, symmetrize)

    def __len__(self) -> int:
        return self.data.shape[0] if hasattr(self.data, "shape") else len(self.data)

    @property
    def precomputed(self) -> bool:
        """Whether the dissimilarities are stored instead of computed."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def in_memory(self) -> bool:
        """Whether all dissimilarities are in memory, or mapped into it."""
        return self.precomputed and isinstance(self.data, np.ndarray)

    @property
    def condensed(self) -> bool:
        """Whether the dissimilarities are stored in condensed form."""
        return isinstance(self.data, _Condensed)

    @property
    def itemsize(self) -> int:
        """Number of bytes of a dissimilarity in a block."""
        return 4 if self.precomputed and getattr(self.data, "dtype", None) == np.float32 else 8

    def like(self, data: Any) -> Dissimilarities:
        """Return a source with the same metric and other data, or a part of the data."""
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose, "symmetrize": self.symmetrize}
        other = type(self)(data, self.metric, **options, **self.metric_params)
        other._checked = True
        return other

    def objects(self, places: ArrayLike) -> Any:
        """Return some of the objects."""
        rows = np.asarray(places)
        return self.data[rows] if hasattr(self.data, "shape") else [self.data[j] for j in rows.tolist()]

    def block(self, rows: ArrayLike, columns: ArrayLike | None = None) -> Array:
        """Return the dissimilarities of some objects to others.

        Parameters
        ----------
        rows : array-like of int, shape (r,)
            Indices of objects.
        columns : array-like of int, shape (c,), optional
            Indices of objects, by default ``rows``.

        Returns
        -------
        block : ndarray of shape (r, c)
            Dissimilarities.
        """
        first = np.asarray(rows, dtype=np.int64)
        second = first if columns is None else np.asarray(columns, dtype=np.int64)
        if len(first) == 0 or len(second) == 0:
            return np.empty((len(first), len(second)))
        if self.precomputed:
            self.n_computed += len(first) * len(second)
            return self._read(first, second)
        self.n_computed += len(first) * (len(first) - 1) // 2 if columns is None else len(first) * len(second)
        return self._pairs(self._encoded[first], None if columns is None else self._encoded[second])

    def to(self, rows: ArrayLike, other: Dissimilarities, columns: ArrayLike) -> Floats:
        """Return the dissimilarities of some objects to objects of another source with the same metric.

        Parameters
        ----------
        rows : array-like of int, shape (r,)
            Indices of objects.
        other : Dissimilarities
            Another source of objects.
        columns : array-like of int, shape (c,)
            Indices of objects of the other source.

        Returns
        -------
        block : ndarray of shape (r, c)
            Dissimilarities.
        """
        measure = other._measure  # which may remember the symbols that it has seen
        encoded, others = measure.encode(self.objects(rows)), other._encoded[np.asarray(columns)]
        self.n_computed += len(encoded) * len(others)
        return encoded_pairs(measure, encoded, others, n_jobs=self.n_jobs, verbose=self.verbose)

    def from_new(self, objects: Any) -> Floats:
        """Return the dissimilarities (m, n) of new objects to all objects of the source."""
        return self.like(objects).to(np.arange(len(objects)), self, np.arange(len(self)))

    @cached_property
    def _encoded(self) -> Any:
        encoded = self._measure.encode(self.data)
        if not self._checked:
            self.n_computed += self._measure.check(encoded)
        return encoded

    def _pairs(self, first: Any, second: Any) -> Floats:
        return encoded_pairs(self._measure, first, second, n_jobs=self.n_jobs, verbose=self.verbose)

    def _read(self, rows: Indices, columns: Indices) -> Array:
        """Read a block of a stored matrix, whole rows at a time where only rising indices can be asked for."""
        every = len(columns) == len(self) and bool((columns == np.arange(len(self))).all())
        if isinstance(self.data, np.ndarray):
            block = self.data[rows] if every else self.data[np.ix_(rows, columns)]
        else:
            wanted, places = np.unique(rows, return_inverse=True)
            slabs = ((np.asarray(self.data[slab]), kept) for slab, kept in self._slabs(wanted))
            block = np.concatenate([slab[kept] if every else slab[np.ix_(kept, columns)] for slab, kept in slabs])
            block = block[places]
        return block if block.dtype == np.float32 else block.astype(np.float64, copy=False)

    def _slabs(self, wanted: Indices) -> Iterator[tuple[slice, Indices]]:
        """Yield runs of rows that hold wanted ones, and the places of these in them."""
        size = block_size(8 * len(self), SLAB_BYTES)
        runs = np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1)
        for run in runs:
            for part in np.split(run, np.arange(size, len(run), size)):
                yield slice(int(part[0]), int(part[-1]) + 1), part - part[0]


class _Condensed:
    """A symmetric matrix with a zero diagonal, of which only the part above the diagonal is stored, row after row.

    Rows below the diagonal are gathered from a column, neighbors in which are neighbors of the next row, too.
    """

    def __init__(self, data: Any) -> None:
        self.vector = data if hasattr(data, "dtype") else np.asarray(data)
        n = (1 + math.isqrt(1 + 8 * len(self.vector))) // 2
        if n * (n - 1) // 2 != len(self.vector) or self.vector.dtype.kind not in "fiu":
            raise ValueError(
                "Precomputed dissimilarities must be a square matrix, or a condensed vector of n (n - 1) / 2 numbers "
                f"for n objects; got a vector of {len(self.vector)}. For objects choose a metric, as metric='edit'."
            )
        self.shape, self.dtype = (n, n), self.vector.dtype
        i = np.arange(n)
        self.starts = i * (2 * n - i - 3) // 2 - 1  # pair i < j is at starts[i] + j

    def __getitem__(self, rows: slice) -> Array:
        n = len(self.starts)
        block = np.zeros((rows.stop - rows.start, n), self.dtype)
        for i, row in enumerate(block, rows.start):
            row[:i] = self.vector[self.starts[:i] + i]
            row[i + 1 :] = self.vector[self.starts[i] + i + 1 : self.starts[i] + n]
        return block
