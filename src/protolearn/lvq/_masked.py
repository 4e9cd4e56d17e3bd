"""Matrices of which few entries may differ from zero, such as bands. Time and memory depend on these entries alone.

Arrays: X (n, N) samples, rows (E,) and columns (E,) of the entries, values (s, E) of s matrices (M, N).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky_banded
from scipy.sparse import csr_array

from protolearn.core.types import Floats, Indices
from protolearn.lvq.relevance import MatrixMetric, Theta, allowed_entries, log_volume

__all__ = ["MaskedMetric", "masked_metric"]

LEAST_SAVING = 8  # times more entries must a matrix have than it may use, for sparse products to pay
LEAST_SIZE = 2500  # entries of a matrix whose products are worth it


def masked_metric(n_features: int, n_components: int, **settings: Any) -> MatrixMetric:
    """Return the metric of a matrix with a mask, as a `MaskedMetric` where that is faster."""
    shape = n_components, n_features
    dense = n_components * n_features
    if settings["mask"] is not None and dense >= LEAST_SIZE:
        n_entries = np.count_nonzero(allowed_entries(settings["mask"], shape, settings["symmetric"]))
        if LEAST_SAVING * n_entries <= dense:
            return MaskedMetric(shape, **settings)
    return MatrixMetric(n_components, **settings)


class MaskedMetric(MatrixMetric):
    """A `MatrixMetric` whose only parameters are the entries that its mask allows, theta = (values (s, E),).

    Parameters
    ----------
    shape : tuple of int
        Number of rows M and columns N.
    localization, mask, symmetric, start_at, norm
        As for `MatrixMetric`.
    """

    single_precision = False

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        localization: str = "global",
        mask: int | ArrayLike = 0,
        symmetric: bool = False,
        start_at: str | ArrayLike = "identity",
        norm: str = "common",
    ) -> None:
        super().__init__(
            shape[0], localization=localization, mask=mask, symmetric=symmetric, start_at=start_at, norm=norm
        )
        self.shape = shape
        rows, columns = np.nonzero(allowed_entries(mask, shape, symmetric))
        self.entries = Entries(rows, columns, shape, is_band=np.ndim(mask) == 0)
        self._mirrored = np.lexsort((rows, columns)) if symmetric else None  # where (j, i) is for every (i, j)

    def start(self, n_features: int, classes: Indices, rng: np.random.RandomState) -> Theta:
        """Return matrices of Frobenius norm one."""
        dense = MatrixMetric(
            self.shape[0],
            localization=self.localization,
            mask=self.mask,
            symmetric=self.symmetric,
            start_at=self.start_at,
            norm=self.norm,
        )
        return self.folded(dense.start(n_features, classes, rng))

    def folded(self, omegas: Theta) -> Theta:
        """Return the parameters that stand for matrices (s, M, N)."""
        return (omegas[0][:, self.entries.rows, self.entries.columns],)

    def matrices(self, theta: Theta) -> Floats:
        """Return A, as (s, M, N)."""
        A = np.zeros((len(theta[0]), *self.shape))
        A[:, self.entries.rows, self.entries.columns] = theta[0]
        return A

    def carried(self, theta: Theta, change: Callable[[Floats], Floats]) -> Theta:
        """Return the parameters in other coordinates, given the change of an array whose last axis is the features."""
        return self.folded((change(self.matrices(theta)),))

    def n_directions(self, theta: Theta) -> int:
        """Return the number of directions whose logarithms `log_volume` averages."""
        return len(theta[0]) * self.shape[0]

    def operators(self, theta: Theta) -> Any:
        """Return a sparse matrix for each of the matrices."""
        return [SparseMatrix(self.entries, values) for values in theta[0]]

    def log_volume(self, theta: Theta) -> tuple[float, Theta]:
        """Return the mean logarithm of the singular values, and its derivative."""
        if self.entries.is_band:
            try:
                parts = [self.entries.band_volume(values) for values in theta[0]]
                count = self.shape[0] * len(parts)
                return sum(value for value, _ in parts) / count, (np.stack([slope for _, slope in parts]) / count,)
            except LinAlgError:
                pass
        value, slope = log_volume(self.matrices(theta))
        return value, self.folded((slope,))

    def _constrained(self, A: Floats) -> Floats:
        return A if self._mirrored is None else (A + A[:, self._mirrored]) / 2.0


class Entries:
    """Places (rows, columns) of the entries of a matrix, in the order of rows."""

    def __init__(self, rows: Indices, columns: Indices, shape: tuple[int, int], is_band: bool) -> None:
        self.rows, self.columns, self.shape, self.is_band = rows, columns, shape, is_band
        self.starts = np.searchsorted(rows, np.arange(shape[0] + 1))
        self.width = int(np.abs(rows - columns).max())

    def band_volume(self, values: Floats) -> tuple[float, Floats]:
        """Return ``ln det(Omega Omega^T) / 2`` of a band matrix, and its derivative by the entries.

        The derivative ``(Omega Omega^T)^-1 Omega`` needs entries of the inverse near its diagonal only, which follow
        from the Cholesky factor by a recursion of the same cost (Takahashi, Fagan and Chin 1973).
        """
        from protolearn.lvq import _kernels

        omega = csr_array((values, self.columns, self.starts), self.shape)
        gram = omega @ omega.T
        width = min(2 * self.width, self.shape[0] - 1)
        lower = np.zeros((width + 1, self.shape[0]))
        for offset in range(width + 1):
            lower[offset, : self.shape[0] - offset] = gram.diagonal(-offset)
        factor = cholesky_banded(lower, lower=True)
        slope = np.empty(len(values))
        _kernels.band_inverse_times(factor, self.rows, self.columns, values, self.starts, self.width, slope)
        return float(np.log(factor[0]).sum()), slope


class SparseMatrix:
    """One matrix, with the two products that distances and their derivatives need."""

    def __init__(self, entries: Entries, values: Floats) -> None:
        self.entries = entries
        self.shape = values.shape  # of derivatives
        self.values = csr_array((values, entries.columns, entries.starts), entries.shape)

    @property
    def T(self) -> _Transposed:
        """The transposed matrix, which can project only."""
        return _Transposed(self.values)

    def project(self, X: Floats) -> Floats:
        """Return ``A x`` for every row."""
        return (self.values @ X.T).T

    def outer(self, Z: Floats, X: Floats) -> Floats:
        """Return the derivative by the entries of a cost whose derivative by ``A x`` is Z."""
        from protolearn.lvq import _kernels

        Z, X = np.ascontiguousarray(Z.T), np.ascontiguousarray(X.T)
        slopes = np.empty(len(self.entries.rows))
        _kernels.entries_of_product(Z, X, self.entries.rows, self.entries.columns, slopes)
        return slopes


class _Transposed:
    def __init__(self, values: Any) -> None:
        self.values = values

    def project(self, X: Floats) -> Floats:
        return (self.values.T @ X.T).T
