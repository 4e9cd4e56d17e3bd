"""How much a picture has suffered."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.parameters import constrained, positive

__all__ = ["psnr"]


@constrained(peak=positive)
def psnr(original: ArrayLike, decoded: ArrayLike, peak: float = 255) -> float:
    """Peak signal-to-noise ratio of a picture that was compressed, in decibels.

    ``10 log10(peak^2 / mean squared error)``. Below 30 the loss is easily seen, above 40 hardly.

    Parameters
    ----------
    original, decoded : array-like of the same shape
        The pictures; all values count alike, of all colors.
    peak : float, default=255
        The largest value that a pixel can have.

    Returns
    -------
    float
        The ratio; infinite if the pictures are the same.

    Examples
    --------
    >>> psnr([[0, 255], [255, 0]], [[0, 255], [255, 255]])
    6.02...
    >>> psnr([[7]], [[7]])
    inf
    """
    first, second = np.asarray(original, dtype=np.float64), np.asarray(decoded, dtype=np.float64)
    if first.shape != second.shape or first.size == 0:
        raise ValueError(f"Pictures must have the same shape and some pixels; got {first.shape} and {second.shape}.")
    error = np.mean((first - second) ** 2)
    return float(10 * np.log10(peak**2 / error)) if error > 0 else float("inf")
