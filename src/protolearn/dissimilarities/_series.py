"""Dissimilarities of time series with varying speed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, integer, none
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, listed
from protolearn.dissimilarities._strings import Sequences, number_sequences

__all__ = ["TimeWarping", "dtw"]


def dtw(X: Any, Y: Any = None, *, window: int | None = None, n_jobs: int | None = None) -> Floats:
    r"""Return dynamic time warping distances: Euclidean distances after the optimal alignment of time steps.

    The distance is :math:`\sqrt{\min \sum_{(a, b)} \|x_a - y_b\|^2}`. The minimum is over all warping paths of pairs
    (a, b) from the first steps to the last steps of both series, where each pair advances a, b, or both by one step.

    Parameters
    ----------
    X : list of series
        Sequences of numbers, or of vectors as arrays of shape (length, d); lengths may differ.
    Y : list of series, optional
        Series to compare with. By default, all pairs in ``X`` are compared.
    window : int, optional
        Maximum difference in time between aligned steps (Sakoe-Chiba band), at least the difference of the two lengths.
        By default, there is no limit.
    n_jobs : int, optional
        Number of threads; by default the number of threads of the BLAS library.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Dissimilarities, which may violate the triangle inequality.

    References
    ----------
    Sakoe, H., Chiba, S. (1978). Dynamic programming algorithm optimization for spoken word recognition. IEEE
    Transactions on Acoustics, Speech, and Signal Processing 26, 43-49.

    Examples
    --------
    >>> from protolearn.dissimilarities import dtw
    >>> dtw([[0, 0, 1, 2, 1, 0]], [[0, 1, 2, 2, 1, 0, 0], [0, 0, 3, 0, 0]])
    array([[0.        , 1.73205081]])
    """
    return all_pairs(TimeWarping(window), X, Y, n_jobs=n_jobs)


@constrained(window=integer(0) | none)
@dataclass(eq=False)
class TimeWarping(Measure):
    """Dynamic time warping distance."""

    name = "dtw"
    window: int | None = None
    width: int | None = field(default=None, init=False, repr=False)

    def encode(self, objects: Any, name: str = "X") -> Sequences:
        """Return series of vectors."""
        series = number_sequences(listed(objects, name), name, n_dimensions=2)
        if not series.lengths.all():
            raise ValueError(f"{name}[{series.lengths.argmin()}] is empty; remove it.")
        self.width = series.values.shape[1] if self.width is None else self.width
        if series.values.shape[1] != self.width:
            raise ValueError(
                f"{name} has series of {series.values.shape[1]} values in a step, the others {self.width}."
            )
        return series

    def block(self, a: Sequences, b: Sequences, n_threads: int = 1) -> Floats:
        """Return dynamic time warping distances."""
        from protolearn.dissimilarities._kernels import dtw_block

        result = np.empty((len(a), len(b)))
        window = np.iinfo(np.int64).max // 2 if self.window is None else self.window
        dtw_block(*a.parts, *b.parts, np.argsort(b.lengths, kind="stable"), window, result)
        return np.sqrt(result, out=result)
