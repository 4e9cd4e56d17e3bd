"""Small versions of handwritten digits."""

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.types import Floats

__all__ = ["downsample_digits"]


SIDE, MARGIN, SMALL = 28, 4, 8  # pixels of a digit, of the empty border around it, and of its small version


def downsample_digits(images: ArrayLike) -> Floats:
    """Reduce images of digits from 28 x 28 pixels, as in MNIST, to 8 x 8 pixels.

    The border of 4 pixels is removed. Each pixel of the small image is the mean of the remaining pixels, weighted by a
    Gaussian around its center with a standard deviation of 1.25 pixels, half the distance between two centers. The
    weights sum to one, so the range of values does not change.

    Parameters
    ----------
    images : array-like of shape (..., 28, 28) or (..., 784)
        One image or many.

    Returns
    -------
    ndarray of shape (..., 8, 8) or (..., 64)
        The small images; flattened, if the input is.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, section 4.2.
    A half-width of 1.25 is given there; that it is the standard deviation is assumed.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.datasets import downsample_digits
    >>> downsample_digits(np.ones((5, 784))).shape
    (5, 64)
    """
    pixels = np.asarray(images)
    flat = pixels.shape[-1:] == (SIDE**2,)
    if not flat and pixels.shape[-2:] != (SIDE, SIDE):
        raise ValueError(
            f"images.shape == {pixels.shape}, expected (..., {SIDE}, {SIDE}) or (..., {SIDE**2}): digits of {SIDE} x "
            f"{SIDE} pixels."
        )
    leading = pixels.shape[: -1 if flat else -2]
    inner = pixels.reshape(*leading, SIDE, SIDE)[..., MARGIN:-MARGIN, MARGIN:-MARGIN]
    weights = _weights()
    small = weights @ inner @ weights.T
    return small.reshape(*leading, SMALL**2) if flat else small


def _weights() -> Floats:
    """Weights (8, 20) of the pixels along one side in each pixel of the small image; rows sum to one."""
    n_pixels = SIDE - 2 * MARGIN
    pitch = n_pixels / SMALL
    centers = (np.arange(SMALL) + 0.5) * pitch - 0.5
    weights = np.exp(-0.5 * ((np.arange(n_pixels) - centers[:, None]) / (pitch / 2)) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)
