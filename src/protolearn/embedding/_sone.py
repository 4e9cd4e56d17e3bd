"""Self-organised neighbour embedding: images that are attracted and repelled by sampling vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from protolearn.core.validation import check_number, check_option
from protolearn.embedding import divergences
from protolearn.embedding._topographic import (
    MOST_NEIGHBORS,
    Epoch,
    Floats,
    Indices,
    TopographicEmbedding,
    Winners,
    neighbor_order,
    nth_neighbor_squares,
)

__all__ = ["SONE"]

KERNELS = ("student", "gaussian")
WINNERS = ("image", "mean", "divergence")  # in the order of the compiled loop


class SONE(TopographicEmbedding):
    r"""Self-organised neighbour embedding (SONE, t-SONE)."""

    _winners = WINNERS

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str = "student",
        structure: str | ArrayLike | None = "hexagon",
        n_sampling: int | str = "auto",
        spacing: float | str = "auto",
        divergence: Any = "gkl",
        winner: str = "mean",
        bandwidth: str = "radius",
        n_neighbors_start: float | str = "auto",
        n_neighbors_end: float | str = "auto",
        scale_start: float | str = "auto",
        scale_end: float | str = "auto",
        learning_rate_start: float | str = "auto",
        learning_rate_end: float | str = "auto",
        variance: float | str = "auto",
        diversify: float | None = 0.9,
        metric: str = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        init: str | ArrayLike = "random",
        max_iter: int = 100,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.structure = structure
        self.n_sampling = n_sampling
        self.spacing = spacing
        self.divergence = divergence
        self.winner = winner
        self.bandwidth = bandwidth
        self.n_neighbors_start = n_neighbors_start
        self.n_neighbors_end = n_neighbors_end
        self.scale_start = scale_start
        self.scale_end = scale_end
        self.learning_rate_start = learning_rate_start
        self.learning_rate_end = learning_rate_end
        self.variance = variance
        self.diversify = diversify
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("kernel", self.kernel, KERNELS)
        check_option("bandwidth", self.bandwidth, ("radius", "perplexity"))
        self._check_falling("spacing", "variance")
        for name in ("n_neighbors", "scale", "learning_rate"):
            self._check_falling(f"{name}_start", f"{name}_end")
        if self.diversify is not None:
            check_number("diversify", self.diversify, low=0, high=1, open_low=True, also=" or None")

    def _sampling_vectors(self, n_samples: int, rng: np.random.RandomState) -> tuple[Any, float]:
        return (None, 1.0) if self.structure is None else super()._sampling_vectors(n_samples, rng)

    def _spacing(self) -> float:
        return 10.0 if self.spacing == "auto" else float(self.spacing)

    def _epochs(self, squares: Floats, vectors: Any, images: Floats, rng: np.random.RandomState) -> Iterator[Epoch]:
        from protolearn.embedding._topographic_kernels import present

        order = neighbor_order(squares)
        n = len(squares)
        student = self.kernel == "student"
        n_start = self._chosen("n_neighbors_start", n / 2)
        neighbors = self._falling(min(n_start, n - 1), min(self._chosen("n_neighbors_end", 10), n - 1))
        if vectors is None:
            ends = (1e7, 0.1) if student else (1.0, 1.0)
        else:
            ends = (1e7, 0.1 * pdist(vectors).max() ** 2) if student else (1.0, 1.0)
        scales = self._falling(self._chosen("scale_start", ends[0]), self._chosen("scale_end", ends[1]))
        rate_ends = (1.0, 1.0) if student else (1.0, 0.05)
        if vectors is None:
            rate_ends = (0.3, 0.01)
        rates = self._falling(
            self._chosen("learning_rate_start", rate_ends[0]), self._chosen("learning_rate_end", rate_ends[1])
        )
        form = PowerForm(1.0, 0.0, 1.0, False)
        mode = WINNERS.index(self.winner)
        precisions = 4.5 / nth_neighbor_squares(squares, order, n // 2)
        n_built = 0
        for t in range(self.max_iter):
            k = max(1, round(neighbors[t]))
            if k != n_built:
                n_built = k
                if self.bandwidth == "radius":
                    precisions = 4.5 / nth_neighbor_squares(squares, order, k)
                else:
                    from protolearn.embedding._topographic_kernels import entropic_precisions

                    entropic_precisions(squares, precisions, max(k, 1.5))
                own = precisions * np.take_along_axis(squares, order[:, 1, None], 1)[:, 0] - np.log(self.diversify)
                rows = winner_rows(squares, order, precisions, own, mode, form)
            if vectors is None:
                anchors = rng.permutation(n)
                variance = self._chosen("variance", 10.0 if student else 0.1)
                points = rng.normal(scale=np.sqrt(variance), size=images.shape)
            else:
                points = vectors[rng.permutation(len(vectors))]
                anchors = np.full(len(points), -1)
            won = np.empty(len(points), np.int64)
            rate = rates[t] if student else rates[t] * scales[t] ** 2
            cost = present(
                points, anchors, images, squares, precisions, own, rows, mode, student, scales[t], rate, form, won
            )
            yield Epoch(cost, won, neighbors[t])

    def _chosen(self, name: str, default: float) -> float:
        value = getattr(self, name)
        return default if value == "auto" else float(value)

    def _exemplars(self, squares: Floats, vectors: Floats, images: Floats) -> Indices:
        return np.zeros(len(vectors), int)


class PowerForm(NamedTuple):
    """A divergence with ``-g dD/dg = factor * (h**a g**b - g**(a + b))``, or one free of scales (gamma) with a = 1."""

    a: float
    b: float
    factor: float
    scale_free: bool


def winner_rows(
    squares: Floats, order: NDArray[np.int32], precisions: Floats, own: Floats, mode: int, form: PowerForm
) -> Winners:
    """Return what the winner of a sampling vector is found by, see `Winners`."""
    from protolearn.embedding._topographic_kernels import FLOOR, NEGLIGIBLE, sample_rows

    if WINNERS[mode] == "image":
        return Winners.by_image()
    n, K = len(squares), min(len(squares), MOST_NEIGHBORS)
    index, x, lengths, shares = np.empty((n, K), np.int32), np.empty((n, K)), np.empty(n, np.int64), np.empty(n)
    a, b, factor, scale_free = form
    plain = WINNERS[mode] == "mean" or b == 0.0
    sample_rows(squares, order, precisions, own, NEGLIGIBLE if plain else np.inf, index, x, lengths, shares)
    if WINNERS[mode] == "mean":
        h = np.exp(x.min(axis=1, keepdims=True) - x)
        return Winners(index, h / h.sum(axis=1, keepdims=True), lengths, np.zeros(n), True)
    if b == 0.0:
        h = shares[:, None] * factor * np.exp(-a * x)
        return Winners(index, h, lengths, -(h * (x + 1.0 / a)).sum(axis=1), True)
    x = np.minimum(x, FLOOR)
    h = shares[:, None] * np.exp(-a * x)
    powers = shares * np.exp(-(a + b) * x).sum(axis=1)
    if scale_free:
        return Winners(index, h, lengths, np.log(powers) / (b * (b + 1.0)), False)
    rest = shares * x.sum(axis=1) if a + b == 0.0 else -powers / (a + b)
    return Winners(index, -factor / b * h, lengths, factor * (powers / b + rest), b < 0.0)
