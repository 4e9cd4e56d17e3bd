"""Labels in given shares, the first step of every mixture in this package."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["labels_in_shares"]


def labels_in_shares(n_samples: int, shares: ArrayLike, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return labels 0, 1, ... (n,) in random order, each occurring as often as its share of the samples says.

    Shares need not add up to one. Counts are rounded by largest remainders, so they are off by less than one.
    """
    quotas = n_samples * np.asarray(shares, dtype=np.float64) / np.sum(shares)
    counts = np.floor(quotas).astype(np.intp)
    left_over = n_samples - counts.sum()
    largest_remainders = np.argsort(counts - quotas, kind="stable")[:left_over]
    counts[largest_remainders] += 1
    return rng.permutation(np.repeat(np.arange(len(counts)), counts))
