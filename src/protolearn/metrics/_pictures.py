"""Quality of compressed images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.parameters import constrained, positive

__all__ = ["psnr"]


@constrained(peak=positive)
def psnr(original: ArrayLike, decoded: ArrayLike, peak: float = 255) -> float:
    """Return the peak signal-to-noise ratio of a compressed image, in decibels.

    The ratio is ``10 log10(peak^2 / mean squared error)``. The loss is clearly visible below 30 dB and hardly visible
    above 40 dB.

    Parameters
    ----------
    original, decoded : array-like of the same shape
        Images; the values of all pixels and color channels have equal weight.
    peak : float, default=255
        Largest possible value of a pixel.

    Returns
    -------
    float
        The ratio; infinite if the images are equal.

    Examples
    --------
    >>> psnr([[0, 255], [255, 0]], [[0, 255], [255, 255]])
    6.02...
    >>> psnr([[7]], [[7]])
    inf
    """
    first, second = np.asarray(original, dtype=np.float64), np.asarray(decoded, dtype=np.float64)
    if first.shape != second.shape or first.size == 0:
        raise ValueError(f"Images must have the same shape and not be empty; got {first.shape} and {second.shape}.")
    error = np.mean((first - second) ** 2)
    return float(10 * np.log10(peak**2 / error)) if error > 0 else float("inf")
