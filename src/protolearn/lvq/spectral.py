"""Filter banks for small images: Gabor functions and differences of Gaussians, as spatial kernels.

Arrays: kernels (L, h, w), centered at ``(h // 2, w // 2)``, as ``scipy.fft.fftshift`` centers an image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import fft2, ifftshift, irfft2, rfft2

from protolearn.core.parameters import constrained, integer, number, option, positive
from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq.relevance import Metric, Pullback, Relevance, Theta

__all__ = [
    "STRUCTURES",
    "HalfSpectrum",
    "Spectral",
    "difference_of_gaussians_bank",
    "gabor_bank",
    "kernels_of",
]


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
    >>> from protolearn.lvq.spectral import kernels_of
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


Complex = NDArray[np.complex128]


Codes = Indices


class HalfSpectrum:
    """Fourier transform of real images, as an isometry to the nonredundant half of the spectrum.

    Parameters
    ----------
    height, width : int
        Size of the images.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.lvq.spectral import HalfSpectrum
    >>> plane = HalfSpectrum(4, 6)
    >>> picture = np.random.default_rng(0).random((4, 6))
    >>> spectrum = plane.forward(picture)
    >>> spectrum.shape, bool(np.isclose(np.linalg.norm(spectrum), np.linalg.norm(picture)))
    ((16,), True)
    >>> bool(np.allclose(plane.back(spectrum), picture))
    True
    """

    def __init__(self, height: int, width: int) -> None:
        self.size = (height, width)
        columns = np.full(width // 2 + 1, 2.0)
        columns[0] = 1.0
        if width % 2 == 0:
            columns[-1] = 1.0
        self.counts = np.tile(columns, (height, 1))  # how many of all frequencies each entry stands for
        rows, places = np.indices(self.counts.shape)
        self.both = np.flatnonzero(self.counts == 1.0)  # entries whose opposite frequency is stored as well, and where
        self.opposite = (-rows % height * len(columns) + places).ravel()[self.both]

    @property
    def n_frequencies(self) -> int:
        """Number of frequencies Q of half a spectrum."""
        return self.counts.size

    def forward(self, pictures: Floats) -> Complex:
        """Return R(u), the spectra (..., Q) of images (..., h, w); the transform preserves lengths."""
        half = rfft2(pictures, norm="ortho") * np.sqrt(self.counts)
        return half.reshape(*half.shape[:-2], -1)

    def back(self, spectra: Complex) -> Floats:
        """Return the images (..., h, w) of spectra: both the inverse of R and its transpose."""
        half = spectra.reshape(*spectra.shape[:-1], *self.counts.shape)
        return irfft2(half / np.sqrt(self.counts), s=self.size, norm="ortho")

    def fold(self, full: Floats) -> Floats:
        """Return values (..., Q) for half of the frequencies, means over each frequency and its opposite."""
        opposite = np.roll(full[..., ::-1, ::-1], (1, 1), axis=(-2, -1))
        half = ((full + opposite) / 2.0)[..., : self.counts.shape[1]]
        return half.reshape(*half.shape[:-2], -1)

    def symmetric(self, half: Floats, axis: int = -1, sign: float = 1.0) -> Floats:
        """Return values that are the same (or opposite) at opposite frequencies, where both are stored.

        This is the projection onto possible real (or imaginary) parts of spectra of real images.
        """
        out = np.moveaxis(half.copy(), axis, 0)
        out[self.both] = (out[self.both] + sign * out[self.opposite]) / 2.0
        return np.moveaxis(out, 0, axis)

    def unfold(self, half: Floats) -> Floats:
        """Return symmetric values (..., h, w) for all frequencies."""
        part = half.reshape(*half.shape[:-1], *self.counts.shape)
        rows, columns = np.indices(self.size)
        mirrored = columns >= self.counts.shape[1]
        rows = np.where(mirrored, -rows % self.size[0], rows)
        columns = np.where(mirrored, self.size[1] - columns, columns)
        return part[..., rows, columns]


class _Map:
    """A family of maps from the channels of a patch to the spectrum of one intensity; linear in patch and parameters.

    Patches are lifted once; ``apply`` gives the spectra for one set of parameters. ``pull_parameters`` and
    ``pull_patches`` take derivatives by the spectra, ``d/dRe + i d/dIm``, back.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = shape
        self.plane = HalfSpectrum(*shape[:2])

    def start(self) -> Floats:
        """Return the parameters of the mean of the channels."""
        raise NotImplementedError

    def real(self, omegas: Floats) -> Floats:
        """Return the parameters (s, ...) of the nearest maps with real intensities; a projection."""
        return omegas

    def lift(self, X: Floats) -> Array:
        """Return the form of patches that `apply` takes: the spectra (n, Q, c) of each channel."""
        return self.spectra(X)

    def spectra(self, X: Floats) -> Complex:
        """Return the spectra (n, Q, c) of each channel of patches (n, N)."""
        h, w, c = self.shape
        return np.moveaxis(self.plane.forward(np.moveaxis(X.reshape(-1, h, w, c), 3, 1)), 1, 2)

    def patches(self, spectra: Complex) -> Floats:
        """Return the patches (n, N) of spectra (n, Q, c)."""
        pictures = self.plane.back(np.moveaxis(spectra, 2, 1))
        return np.moveaxis(pictures, 1, 3).reshape(len(spectra), -1)

    def apply(self, lifted: Array, omega: Floats) -> Complex:
        """Return the spectra (n, Q)."""
        raise NotImplementedError

    def pull_parameters(self, lifted: Array, slopes: Complex) -> Floats:
        """Return the derivative by the parameters."""
        raise NotImplementedError

    def pull_patches(self, omega: Floats, slopes: Complex) -> Floats:
        """Return the derivative by the patches (n, N)."""
        raise NotImplementedError

    def kernels(self, omega: Floats) -> Floats:
        """Return the centered filters (h, w, c) whose convolution with the channels is the map."""
        raise NotImplementedError


class ColorMap(_Map):
    """One weight for each channel, (c,): a learned conversion to gray."""

    def start(self) -> Floats:
        """Return the parameters of the mean of the channels."""
        return np.full(self.shape[2], 1.0 / self.shape[2])

    def apply(self, lifted: Array, omega: Floats) -> Complex:
        """Return the spectra (n, Q)."""
        return np.matmul(lifted, omega, dtype=np.complex128)

    def pull_parameters(self, lifted: Array, slopes: Complex) -> Floats:
        """Return the derivative by the parameters."""
        n, Q, c = lifted.shape
        return (slopes.reshape(n * Q).conj() @ lifted.reshape(n * Q, c)).real

    def pull_patches(self, omega: Floats, slopes: Complex) -> Floats:
        """Return the derivative by the patches (n, N)."""
        return self.patches(slopes[:, :, None] * omega)

    def kernels(self, omega: Floats) -> Floats:
        """Return the centered filters (h, w, c) whose convolution with the channels is the map."""
        kernels = np.zeros(self.shape)
        kernels[self.shape[0] // 2, self.shape[1] // 2] = omega
        return kernels


class DiagonalMap(_Map):
    """One complex weight for each frequency and channel, (2, Q, c): a shift-invariant filter for each channel."""

    def start(self) -> Floats:
        """Return the parameters of the mean of the channels."""
        weights = np.sqrt(self.plane.counts.ravel())[:, None] / self.shape[2]
        omega = np.zeros((2, self.plane.n_frequencies, self.shape[2]))
        omega[0] = weights
        return omega

    def real(self, omegas: Floats) -> Floats:
        """Return the parameters (s, ...) of the nearest maps with real intensities; a projection."""
        return np.stack([self.plane.symmetric(omegas[:, i], 1, sign) for i, sign in enumerate((1.0, -1.0))], axis=1)

    def _weights(self, omega: Floats) -> Complex:
        return (omega[0] + 1j * omega[1]) / np.sqrt(self.plane.counts.ravel())[:, None]

    def apply(self, lifted: Array, omega: Floats) -> Complex:
        """Return the spectra (n, Q)."""
        return np.einsum("nqc,qc->nq", lifted, self._weights(omega))

    def pull_parameters(self, lifted: Array, slopes: Complex) -> Floats:
        """Return the derivative by the parameters."""
        by_weights = np.einsum("nqc,nq->qc", lifted.conj(), slopes)
        by_weights /= np.sqrt(self.plane.counts.ravel())[:, None]
        return np.stack([by_weights.real, by_weights.imag])

    def pull_patches(self, omega: Floats, slopes: Complex) -> Floats:
        """Return the derivative by the patches (n, N)."""
        return self.patches(slopes[:, :, None] * self._weights(omega).conj())

    def kernels(self, omega: Floats) -> Floats:
        """Return the centered filters (h, w, c) whose convolution with the channels is the map."""
        h, w, _ = self.shape
        spectra = (omega[0] + 1j * omega[1]).T / np.sqrt(h * w)
        return np.moveaxis(np.fft.fftshift(self.plane.back(spectra), axes=(1, 2)), 0, 2)


class FullMap(_Map):
    """Any linear map, (2 Q, N): every frequency of the intensity is a learned combination of all pixels."""

    def start(self) -> Floats:
        """Return the parameters of the mean of the channels."""
        h, w, c = self.shape
        pixels = np.eye(h * w).reshape(h * w, h, w)
        spectra = self.plane.forward(pixels).T / c
        return np.concatenate([np.repeat(spectra.real, c, axis=1), np.repeat(spectra.imag, c, axis=1)])

    def real(self, omegas: Floats) -> Floats:
        """Return the parameters (s, ...) of the nearest maps with real intensities; a projection."""
        parts = np.split(omegas, 2, axis=1)
        return np.concatenate([self.plane.symmetric(part, 1, sign) for part, sign in zip(parts, (1.0, -1.0))], axis=1)

    def lift(self, X: Floats) -> Array:
        """Return the patches themselves."""
        return X

    def apply(self, lifted: Array, omega: Floats) -> Complex:
        """Return the spectra (n, Q)."""
        both = lifted @ omega.T
        return both[:, : both.shape[1] // 2] + 1j * both[:, both.shape[1] // 2 :]

    def pull_parameters(self, lifted: Array, slopes: Complex) -> Floats:
        """Return the derivative by the parameters."""
        return np.concatenate([slopes.real, slopes.imag], axis=1).T @ lifted

    def pull_patches(self, omega: Floats, slopes: Complex) -> Floats:
        """Return the derivative by the patches (n, N)."""
        return np.concatenate([slopes.real, slopes.imag], axis=1) @ omega

    def kernels(self, omega: Floats) -> Floats:
        """Return the filters (h, w, c) of the nearest shift-invariant map."""
        h, w, c = self.shape
        Q = self.plane.n_frequencies
        matrix = self.plane.back((omega[:Q] + 1j * omega[Q:]).T).reshape(h, w, c, h, w)  # pixel in, pixel out
        kernels = np.zeros(self.shape)
        for row, column in np.ndindex(h, w):
            moved = np.roll(matrix[..., row, column], (h // 2 - row, w // 2 - column), axis=(0, 1))
            kernels += moved / (h * w)
        return np.roll(kernels[::-1, ::-1], ((h + 1) % 2, (w + 1) % 2), axis=(0, 1))


TINY = 1e-290


#: Linear maps of pixels by name.
STRUCTURES: dict[str, type[_Map]] = {"full": FullMap, "diagonal": DiagonalMap, "color": ColorMap}


class Spectral(Metric):
    r"""Distance between filtered spectra of a learned intensity, by their powers or amplitudes.

    :math:`d(x, w) = \sum_m (|r_m(x)|^2 - |r_m(w)|^2)^2` with :math:`r(v) = S \circ F \Omega v`, where S is the sum of
    the spectra of the filters, here in units of its root mean square, and m runs over all frequencies. With
    ``distance="position"`` it is :math:`\|r(x) - r(w)\|^2`.

    Parameters
    ----------
    shape : tuple of int
        Height, width and number of channels of the patches.
    kernels : array-like of shape (L, h, w) or None, default=None
        Filters; with None all frequencies pass.
    structure : {"diagonal", "full", "color"}, default="diagonal"
        Form of Omega: a filter for each channel, any linear map of the pixels, or one weight for each channel.
    localization : {"class", "global", "prototype"}, default="class"
        Whether each class has its own Omega (and learned filters), all share one, or each prototype has its own.
    distance : {"magnitude", "position"}, default="magnitude"
        Whether powers or amplitudes are compared.
    learn_filters : bool, default=False
        Whether the gains of the filters are learned as well. Prototypes are then amplitudes at each frequency (k, Q)
        instead of patches.

    Examples
    --------
    The powers of a patch do not change when the patch is shifted:

    >>> import numpy as np
    >>> from protolearn.lvq.spectral import Spectral
    >>> metric = Spectral((4, 4, 1))
    >>> theta = metric.start(16, np.array([0]), np.random.RandomState(0))
    >>> picture = np.zeros((4, 4))
    >>> picture[0, :2] = 1.0
    >>> X = np.stack([picture.ravel(), np.roll(picture, 1, axis=0).ravel(), picture.T.ravel()])
    >>> D, pullback = metric.measure(X, X[:1], np.array([0]), theta)
    >>> (D.ravel() < 1e-12).tolist()
    [True, True, False]
    """

    slots = Relevance.slots
    n_matrices = Relevance.n_matrices

    def __init__(
        self,
        shape: tuple[int, int, int],
        kernels: ArrayLike | None = None,
        *,
        structure: str = "diagonal",
        localization: str = "class",
        distance: str = "magnitude",
        learn_filters: bool = False,
    ) -> None:
        self.shape = shape
        self.kernels = kernels
        self.structure = structure
        self.localization = localization
        self.distance = distance
        self.learn_filters = learn_filters

    @cached_property
    def map(self) -> _Map:
        """The family of maps."""
        return STRUCTURES[self.structure](self.shape)

    @cached_property
    def response(self) -> Complex:
        """The sum S of the spectra of all filters, (h, w); the sum of all responses is that of one filter."""
        if self.kernels is None:
            return np.ones(self.shape[:2], np.complex128)
        return fft2(ifftshift(np.sum(self.kernels, axis=0)))  # Bunte 2011, eq. 5.1

    @cached_property
    def unit(self) -> float:
        """Root mean square of the response, in units of which distances are measured."""
        return float(np.sqrt(np.mean(np.abs(self.response) ** 2)))

    @cached_property
    def gains(self) -> Floats:
        """Factors (Q,) on the powers or amplitudes of half a spectrum."""
        plane, size = self.map.plane, np.abs(self.response) / self.unit
        if self.distance == "position":
            return np.sqrt(plane.fold(size**2))
        return np.sqrt(plane.fold(size**4) / plane.counts.ravel())

    def start(self, n_features: int, classes: Codes, rng: np.random.RandomState) -> Theta:
        """Return the mean of the channels for every map, and the given filters if they are to be learned."""
        option(*STRUCTURES).check("structure", self.structure)
        option("magnitude", "position").check("distance", self.distance)
        omega = np.stack([self.map.start()] * self.n_matrices(classes))
        if not self.learn_filters:
            return (omega,)
        filters = np.sqrt(self.gains * self.map.plane.counts.ravel() ** 1.5)
        return self.normalize((omega, np.tile(filters, (len(omega), 1))))

    def describe(self, X: Floats, omega: Floats, filters: Floats | None = None) -> Floats:
        """Return the values (n, Q) or (n, 2 Q) of patches of which the distance is the squared difference."""
        gains = self.gains if filters is None else self.learned_gains(filters)
        return self._values(self.map.apply(self.map.lift(X), omega), gains)

    def learned_gains(self, filters: Floats) -> Floats:
        """Return the factors on powers of learned filters (Q,)."""
        return filters**2 / self.map.plane.counts.ravel() ** 1.5

    def learned_values(self, roots: Floats) -> Floats:
        """Return the values (k, Q) of prototypes that are roots of powers."""
        return roots**2 / np.sqrt(self.map.plane.counts.ravel())

    def roots(self, values: Floats) -> Floats:
        """Return the prototypes with given values, if filters are learned."""
        return np.sqrt(values * np.sqrt(self.map.plane.counts.ravel()))

    def repainted(self, x: Floats, wanted: Floats, omega: Floats) -> Floats:
        """Return a patch x (N,) changed to have the values ``wanted`` (Q,); its phases and colors stay.

        Frequencies at which the map has almost no response to the patch are changed equally in all channels.
        """
        powers = np.abs(self.map.apply(self.map.lift(x[None]), omega)[0]) ** 2
        spectra = self.map.spectra(x[None])[0]
        gray = np.ones_like(spectra)
        seen = np.abs(self.map.apply(self.map.lift(self.map.patches(gray[None])), omega)[0]) ** 2
        dark = powers <= seen * np.maximum(1e-6 * (np.abs(spectra) ** 2).max(axis=1), 1e-24 * (x**2).sum())
        spectra = np.where(dark[:, None], gray, spectra)
        factors = wanted / np.maximum(self.gains * np.where(dark, seen, powers), TINY)
        factors[wanted <= 0.0] = 0.0
        return self.map.patches(spectra[None] * np.sqrt(factors)[:, None])[0]

    def measure(self, X: Floats, W: Floats, classes: Codes, theta: Theta) -> tuple[Floats, Pullback]:
        """Return the distances and a function that backpropagates derivatives."""
        slots = self.slots(classes)
        lifted = self.map.lift(X)
        cells = [_Cell(self, lifted, W, np.flatnonzero(slots == s), *parts) for s, parts in enumerate(zip(*theta))]
        D = np.empty((len(X), len(W)))
        for cell in cells:
            D[:, cell.members] = cell.distances()

        def pullback(G: Floats) -> tuple[Floats, Theta]:
            dW = np.zeros_like(W)
            slopes = []
            for cell in cells:
                dW[cell.members], parts = cell.pull(G[:, cell.members])
                slopes.append(parts)
            return dW, tuple(np.stack(parts) for parts in zip(*slopes))

        return D, pullback

    def normalize(self, theta: Theta) -> Theta:
        """Project to real maps, and scale learned filters to the size of the given ones."""
        omega = self.map.real(theta[0])
        if not self.learn_filters:
            return (omega,)
        filters = self.map.plane.symmetric(theta[1])
        return omega, filters * (self._filter_norm / _lengths(filters))

    def tangent(self, theta: Theta, slopes: Theta) -> Theta:
        """Turn derivatives by the normalized parameters into derivatives by theta."""
        to_omega = self.map.real(slopes[0])
        if not self.learn_filters:
            return (to_omega,)
        filters = self.map.plane.symmetric(theta[1])
        length = _lengths(filters)
        unit = filters / length
        along = (slopes[1] * unit).sum(axis=1, keepdims=True)
        to_filters = (slopes[1] - along * unit) * (self._filter_norm / length)
        return to_omega, self.map.plane.symmetric(to_filters)

    @property
    def _filter_norm(self) -> float:
        return float(np.sqrt(self.gains @ self.map.plane.counts.ravel() ** 1.5))

    def _values(self, spectra: Complex, gains: Floats) -> Floats:
        if self.distance == "position":
            return np.concatenate([spectra.real * gains, spectra.imag * gains], axis=1)
        return (spectra.real**2 + spectra.imag**2) * gains

    def _pull_values(self, spectra: Complex, gains: Floats, slopes: Floats) -> Complex:
        """Turn derivatives by the values into derivatives by the spectra, ``d/dRe + i d/dIm``."""
        if self.distance == "position":
            Q = spectra.shape[1]
            return np.multiply(slopes[:, :Q] + 1j * slopes[:, Q:], gains, dtype=np.complex128)
        return np.multiply(spectra, 2.0 * gains * slopes, dtype=np.complex128)  # Bunte 2011, eqs. 5.14 and 5.15


class _Cell:
    """The prototypes that share a map, and how the patches compare with them."""

    def __init__(
        self,
        metric: Spectral,
        lifted: Array,
        W: Floats,
        members: Codes,
        omega: Floats,
        filters: Floats | None = None,
    ) -> None:
        self.metric, self.lifted, self.omega, self.filters, self.members = metric, lifted, omega, filters, members
        self.W = W[members] if filters is None else metric.map.plane.symmetric(W[members])
        self.spectra = metric.map.apply(lifted, omega)
        self.gains = metric.gains if filters is None else metric.learned_gains(filters)
        self.values = metric._values(self.spectra, self.gains)
        if filters is None:
            self.lifted_prototypes = metric.map.lift(self.W)
            self.prototype_spectra = metric.map.apply(self.lifted_prototypes, omega)
            self.targets = metric._values(self.prototype_spectra, self.gains)
        else:
            self.targets = metric.learned_values(self.W)

    def distances(self) -> Floats:
        """Return the distances (n, k) to the prototypes."""
        D = np.empty((len(self.values), len(self.targets)))
        for p, target in enumerate(self.targets):
            E = self.values - target
            np.einsum("ij,ij->i", E, E, out=D[:, p])
        return D

    def pull(self, G: Floats) -> tuple[Floats, Theta]:
        """Return the derivatives by the prototypes, and by the map and learned filters."""
        rows = np.flatnonzero(G.any(axis=1))
        G, values, spectra = G[rows], self.values[rows], self.spectra[rows]
        to_values = 2.0 * (G.sum(axis=1)[:, None] * values - G @ self.targets)
        to_targets = 2.0 * (G.sum(axis=0)[:, None] * self.targets - G.T @ values)
        metric, lifted = self.metric, self.lifted[rows]
        to_omega = metric.map.pull_parameters(lifted, metric._pull_values(spectra, self.gains, to_values))
        if self.filters is not None:
            powers = spectra.real**2 + spectra.imag**2
            counts = metric.map.plane.counts.ravel()
            by_gains = np.einsum("ij,ij->j", to_values, powers)
            to_filters = 2.0 * self.filters * by_gains / counts**1.5  # Bunte 2011, eq. 5.9
            return metric.map.plane.symmetric(2.0 * self.W * to_targets / np.sqrt(counts)), (to_omega, to_filters)
        slopes = metric._pull_values(self.prototype_spectra, self.gains, to_targets)
        to_omega += metric.map.pull_parameters(self.lifted_prototypes, slopes)
        return metric.map.pull_patches(self.omega, slopes), (to_omega,)


def _lengths(filters: Floats) -> Floats:
    return np.sqrt((filters**2).sum(axis=1, keepdims=True))
