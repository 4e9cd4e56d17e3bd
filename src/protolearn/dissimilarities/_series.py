"""Dissimilarities of time series that may run at different speeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, integer, none
from protolearn.dissimilarities._blocks import Floats, Measure, all_pairs, listed
from protolearn.dissimilarities._sequences import Sequences, number_sequences

__all__ = ["TimeWarping", "dtw"]


def dtw(X: Any, Y: Any = None, *, window: int | None = None, n_jobs: int | None = None) -> Floats:
    """Dynamic time warping distances of series: Euclidean distances after the best matching of their time steps.

    ``sqrt(min sum |x_a - y_b|^2)`` over all paths of matches ``(a, b)`` from both beginnings to both ends, where a
    match is followed by one with the next ``a``, the next ``b``, or both.

    Parameters
    ----------
    X : list of series
        Sequences of numbers, or of vectors as arrays of shape (length, d); lengths may differ.
    Y : list of series, optional
        Series to compare with; by default those of ``X`` with each other.
    window : int, optional
        Match only steps that are at most so far apart in time (Sakoe-Chiba band), or as far as two lengths differ. By
        default there is no limit.
    n_jobs : int, optional
        Number of threads; by default as many as the matrix library may use.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        Dissimilarities; the triangle inequality need not hold.

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
            raise ValueError(f"{name}[{series.lengths.argmin()}] is empty; nothing can be matched with it.")
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
