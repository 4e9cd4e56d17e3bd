"""Filter banks for small images: Gabor functions and differences of Gaussians, as spatial kernels.

Arrays: kernels (L, h, w), centered at ``(h // 2, w // 2)``, as ``scipy.fft.fftshift`` centers an image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from protolearn.core.parameters import constrained, integer, number, option, positive
from protolearn.core.types import Array, Floats

__all__ = ["difference_of_gaussians_bank", "gabor_bank", "kernels_of"]


@constrained(n_orientations=integer(1), bandwidth=number(0.01, 20), aspect=positive, phase=number())
def gabor_bank(
    shape: tuple[int, int] = (15, 15),
    *,
    n_orientations: int = 6,
    wavelengths: Sequence[float] = (7.0, 7.0 * 2**0.5),
    bandwidth: float = 1.0,
    aspect: float = 1.0,
    phase: float = 0.0,
    remove_dc: bool = False,
) -> Floats:
    """Return Gabor filters (waves under a Gaussian window) of several orientations and wavelengths.

    Parameters
    ----------
    shape : tuple of int, default=(15, 15)
        Height and width of the kernels, equal to those of the patches to be filtered.
    n_orientations : int, default=6
        Number of orientations, equally spaced over 180 degrees.
    wavelengths : sequence of float, default=(7, 7 * sqrt(2))
        Wavelengths in pixels.
    bandwidth : float, default=1
        Width of the frequency response at half its height, in octaves.
    aspect : float, default=1
        Spatial aspect ratio: below 1 the window is elongated along the stripes.
    phase : float, default=0
        Phase of the wave at the center, in radians: 0 is symmetric, ``pi / 2`` antisymmetric.
    remove_dc : bool, default=False
        Whether to remove the response to uniform images.

    Returns
    -------
    kernels : ndarray of shape (n_orientations * len(wavelengths), height, width)
        Kernels, ordered by wavelength and then by orientation.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 5.3.

    Examples
    --------
    >>> from protolearn.lvq import gabor_bank
    >>> bank = gabor_bank((15, 15))
    >>> bank.shape
    (12, 15, 15)
    >>> float(bank[0, 7, 7])
    1.0
    """
    _check_lengths("wavelengths", wavelengths)
    y, x = _centered_grid(shape)
    octaves = 2.0**bandwidth
    kernels = []
    for wavelength in wavelengths:
        sigma = wavelength / np.pi * np.sqrt(np.log(2.0) / 2.0) * (octaves + 1.0) / (octaves - 1.0)
        for angle in np.pi * np.arange(n_orientations) / n_orientations:
            along = x * np.cos(angle) + y * np.sin(angle)
            across = y * np.cos(angle) - x * np.sin(angle)
            window = np.exp(-(along**2 + (aspect * across) ** 2) / (2.0 * sigma**2))
            wave = window * np.cos(2.0 * np.pi * along / wavelength + phase)
            kernels.append(wave - window * (wave.sum() / window.sum()) if remove_dc else wave)
    return np.stack(kernels)


@constrained(ratio=number(1, open_low=True))
def difference_of_gaussians_bank(
    shape: tuple[int, int] = (15, 15), *, scales: Sequence[float] = (1.0, 1.6, 2.56), ratio: float = 1.6
) -> Floats:
    """Return differences of two Gaussians, which respond to spots of a certain size in any orientation.

    Parameters
    ----------
    shape : tuple of int, default=(15, 15)
        Height and width of the kernels, equal to those of the patches to be filtered.
    scales : sequence of float, default=(1, 1.6, 2.56)
        Standard deviation of the inner Gaussian of each filter, in pixels.
    ratio : float, default=1.6
        Ratio of the standard deviations of the outer and the inner Gaussian, greater than 1.

    Returns
    -------
    kernels : ndarray of shape (len(scales), height, width)
        Kernels. Each kernel sums to zero, so uniform images give no response.

    Examples
    --------
    >>> from protolearn.lvq import difference_of_gaussians_bank
    >>> bank = difference_of_gaussians_bank((15, 15))
    >>> bank.shape
    (3, 15, 15)
    >>> bool(abs(bank.sum(axis=(1, 2))).max() < 1e-12)
    True
    """
    _check_lengths("scales", scales)
    y, x = _centered_grid(shape)
    square = x**2 + y**2

    def gaussian(sigma: float) -> Floats:
        window = np.exp(-square / (2.0 * sigma**2))
        return window / window.sum()

    return np.stack([gaussian(scale) - gaussian(ratio * scale) for scale in scales])


def kernels_of(filters: Any, size: tuple[int, int]) -> Array | None:
    """Return filter kernels (L, h, w), given a name or an array; raise an error if they do not have the right size.

    Parameters
    ----------
    filters : {"gabor", "gaussians"}, array-like of shape (h, w) or (L, h, w), or None
        Name of a filter bank, one kernel, or several kernels.
    size : tuple of int
        Required height and width of the kernels.

    Returns
    -------
    ndarray of shape (L, h, w) or None
        The kernels; None for no filters.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.filters import kernels_of
    >>> kernels_of("gaussians", (15, 15)).shape, kernels_of(np.ones((5, 5)), (5, 5)).shape, kernels_of(None, (5, 5))
    ((3, 15, 15), (1, 5, 5), None)
    """
    if filters is None:
        return None
    if isinstance(filters, str):
        option(*BANKS).check("filters", filters, ", an array of kernels or None")
        return BANKS[filters](size)
    kernels = np.empty((0, 0, 0))
    with suppress(TypeError, ValueError):
        kernels = np.asarray(filters, np.complex128 if np.iscomplexobj(filters) else np.float64)
    if kernels.ndim == 2:
        kernels = kernels[None]
    if kernels.shape[1:] != size or len(kernels) == 0 or not np.isfinite(kernels).all():
        raise ValueError(
            f"filters must be finite kernels of shape (L, {size[0]}, {size[1]}), the size of the patches; their shape "
            f"is {kernels.shape}."
        )
    return kernels


BANKS: dict[str, Callable[..., Floats]] = {"gabor": gabor_bank, "gaussians": difference_of_gaussians_bank}


def _check_lengths(name: str, lengths: Sequence[float]) -> None:
    if not np.size(lengths) or np.ndim(lengths) != 1:
        raise ValueError(f"{name}={lengths!r} must be a nonempty sequence of lengths in pixels.")
    positive.check_each(name, lengths, " for each of its entries")


def _centered_grid(shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return the vertical and horizontal distance of every pixel from the middle one."""
    if np.shape(shape) != (2,):
        raise ValueError(f"shape={shape!r} must be a height and a width.")
    integer(1).check_each("shape", shape, " for height and width")
    y, x = np.indices(shape, dtype=np.float64)
    return y - shape[0] // 2, x - shape[1] // 2
