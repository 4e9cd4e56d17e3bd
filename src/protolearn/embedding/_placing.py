"""Out-of-sample extension without a mapping: new samples minimize their cost while all others stay fixed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from protolearn.core.graphs import nearest_of_new
from protolearn.core.threads import Threads, chunk_threads, cut
from protolearn.core.types import Array, Floats
from protolearn.embedding._base import ViewSamples, squares_of
from protolearn.embedding.costs import ViewCost

__all__ = [
    "Placement",
]

ROWS = 1000  # samples that are placed together


MAX_ITER = 200


SAME = 1e-28  # squared distance, in the unit of the samples, that is none but for rounding


@dataclass(frozen=True)
class Placement:
    """Positions of training samples, among which new samples are placed one by one.

    Parameters
    ----------
    cost : Cost
        Cost that a new sample minimizes.
    samples : Samples
        Training samples, in a unit of their own.
    positions : ndarray of shape (n, c)
        Positions of the training samples, in the unit of the cost.
    unit : float
        Factor that positions are multiplied by.
    squared : bool
        Whether dissimilarities of new samples are squared distances.
    n_jobs : int, optional
        Number of threads.
    columns : ndarray of shape (n,), optional
        Columns of the dissimilarities of new samples that belong to the training samples; all by default.
    """

    cost: ViewCost
    samples: ViewSamples
    positions: Floats
    unit: float = 1.0
    squared: bool = False
    n_jobs: int | None = None
    columns: Array | None = None

    def place(self, X: Array) -> Floats:
        """Return positions of vectors (m, d), or from their dissimilarities (m, n) to the training samples.

        A sample that equals a training sample gets its position. If only the largest component of a graph is kept,
        samples without neighbors in it are not placed.
        """
        places = np.full((len(X), self.positions.shape[1]), np.nan)
        with chunk_threads(self.n_jobs) as n_threads:
            threads = Threads(n_threads)
            for rows in cut(len(X), ROWS):
                reached = rows.start + np.flatnonzero(self.cost.reached(self.samples, self._read(X[rows]), threads))
                if len(reached):
                    places[reached] = self._place(self._read(X[reached]), threads)
        n_lost = int(np.isnan(places[:, 0]).sum())
        if n_lost:
            warnings.warn(
                f"{n_lost} of {len(X)} new samples have no neighbors among the training samples; they have no position "
                "(NaN). Raise the radius, or choose components='connect'.",
                UserWarning,
                stacklevel=3,
            )
        return self.unit * places

    def _read(self, X: Array) -> ViewSamples:
        scale = self.samples.unit
        if self.samples.vectors is not None:
            return ViewSamples((X - self.samples.origin) / scale, None, scale)
        X = X if self.columns is None else X[:, self.columns]
        return ViewSamples(None, squares_of(X, scale, self.squared), scale)

    def _place(self, new: ViewSamples, threads: Threads) -> Floats:
        objective, start = self.cost.placement(self.samples, self.positions, new, threads, np.random.RandomState(0))

        # Bunte 2011, sec. 6.2.2
        def function(flat: Floats) -> tuple[float, Floats]:
            value, gradient = objective(flat.reshape(start.shape))
            return value, gradient.ravel()

        options = {"maxiter": MAX_ITER, "maxfun": 2 * MAX_ITER, "ftol": 1e-9, "gtol": 1e-7}
        found = minimize(function, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(start.shape)
        squares, indices = nearest_of_new(self.samples, new, 1, threads)
        known = squares[:, 0] <= SAME
        found[known] = self.positions[indices[known, 0]]
        return found
