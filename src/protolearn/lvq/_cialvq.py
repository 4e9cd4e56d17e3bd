"""LVQ for color textures: patches are compared by the power spectrum of a learned intensity."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import fft2, ifft2
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from protolearn.core.parameters import array, flag, none, option
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import refuse_collection
from protolearn.lvq._callback import Callback
from protolearn.lvq._docs import documented
from protolearn.lvq._glvq import GLVQ
from protolearn.lvq._start import Frame, first_prototypes, natural_frame
from protolearn.lvq.relevance import LOCALIZATIONS, Metric, Theta
from protolearn.lvq.samples import Labeled
from protolearn.lvq.solvers import LBFGS, Solver
from protolearn.lvq.spectral import BANKS, STRUCTURES, Spectral, kernels_of

__all__ = ["CIALVQ"]

Codes = Indices
SMALLEST, LARGEST = 1e-30, 1e30  # of pixels and filters: fourth powers of them are multiplied


@documented
class CIALVQ(GLVQ):
    r"""Color image analysis LVQ: a learned map from color to intensity, whose filtered spectra separate textures.

    A linear map :math:`\Omega` turns the channels of a patch into one intensity, and a filter bank weights the
    frequencies of this intensity: :math:`r(v) = S \circ F(\Omega v)`, where :math:`F` is the Fourier transform and
    :math:`S` the sum of the filter spectra. Patches are compared by their power at each frequency,

    .. math:: d(x, w) = \sum_m \left(|r_m(x)|^2 - |r_m(w)|^2\right)^2,

    so the position of a pattern within the patch matters little. Prototypes and maps minimize the cost of generalized
    LVQ.

    Patches may have any number of channels: colors, spectral bands, or a single gray channel. Training takes up to 300
    iterations of L-BFGS (``max_iter``), which means minutes for thousands of patches. ``init`` also accepts an array of
    patches.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=4
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    filters : {"gabor", "gaussians"}, array-like of shape (L, h, w) or None, default="gabor"
        Filter bank: `gabor_bank` or `difference_of_gaussians_bank` in the size of the patches, or custom kernels
        (centered, real or complex). With None all frequencies pass.
    structure : {"full", "diagonal", "color"}, default="full"
        Form of :math:`\Omega`. ``"full"`` is any linear map of the pixels, with :math:`(h w)^2 c` parameters.
        ``"diagonal"`` is a filter for each channel, with one complex weight for each frequency and channel. ``"color"``
        is one weight for each channel. With ``"diagonal"`` and ``"color"``, distances are exactly invariant to cyclic
        shifts of a pattern. ``"full"`` is the most flexible form and can use positions where they help.
    localization : {"class", "global", "prototype"}, default="class"
        Whether each class has its own :math:`\Omega`, all share one, or each prototype has its own.
    distance : {"magnitude", "position"}, default="magnitude"
        Quantity that is compared: powers, or responses including their phases, :math:`|r(x) - r(w)|^2`, for which
        positions matter.
    learn_filters : bool, default=False
        Whether to learn the gain of the filters at each frequency as well,
        :math:`d = \sum_m (|F_m (\Omega x)_m|^2 - w_m)^2`. Prototypes are then power spectra instead of patches.
    patch_shape : tuple of int, optional
        Height, width and number of channels of patches that are given as rows of a table; one of the three may be -1
        and is then inferred. Required for tables, whose columns do not reveal the layout of the image. Not needed for
        arrays of shape (n_samples, height, width, channels).
    %(init)s
    %(training)s
    %(reject)s
    %(running)s

    Attributes
    ----------
    patch_shape_ : tuple of int
        Height, width and number of channels.
    prototypes_ : ndarray of shape (k, height * width * channels)
        The prototypes as flattened patches; with ``learn_filters``, a transformation of their powers, see
        ``prototype_powers_``.
    prototype_labels_ : ndarray of shape (k,)
        Class label of each prototype.
    prototype_patches_ : ndarray of shape (k, height, width, channels)
        The prototypes as images (not available with ``learn_filters``).
    prototype_powers_ : ndarray of shape (k, height, width)
        Power :math:`|r(w)|^2` of each prototype at each frequency, frequency zero first.
    prototype_maps_ : ndarray of shape (k,)
        Index of the map that each prototype uses.
    omegas_ : ndarray of shape (s, height * width, height * width * channels)
        The maps :math:`\Omega` in the Fourier domain, complex.
    color_filters_ : ndarray of shape (s, height, width, channels)
        Combined effect of map and filters in the spatial domain: centered kernels for each channel. For a full map,
        this is its translation-invariant part. Complex if the given filters are.
    color_weights_ : ndarray of shape (s, channels)
        Weights of the channels: the responses of the maps to uniform patches.
    filter_gains_ : ndarray of shape (s, height, width)
        Gain :math:`|S|` of the filters at each frequency, frequency zero first. The gains differ between maps only if
        they are learned.
    temperature_ : float
        The temperature of the probabilities, see `predict_proba`.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    cost_history_ : list of float
        Cost after every iteration; with ``partial_fit``, the mean cost of each of the last 1,000 batches.
    stage_starts_ : list of int
        Iterations, counted from 1, at which ``lbfgs`` changes the slope of the squashing function.
    score_history_ : list of float
        Accuracy after every iteration, if ``early_stopping``.
    n_iter_ : int
        Number of iterations, or of batches given to ``partial_fit``.
    %(features)s

    See Also
    --------
    GMLVQ : Learns a metric for vectors of features.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn import CIALVQ
    >>> rng = np.random.default_rng(0)
    >>> stripes = np.sin(np.arange(15) * 0.9 + rng.uniform(0, 6, (40, 1)))
    >>> patches = 0.3 * rng.random((40, 15, 15, 3))
    >>> patches[:20] += stripes[:20, :, None, None] * [0.3, 0.1, 0]  # red stripes, lying
    >>> patches[20:] += stripes[20:, None, :, None] * [0, 0.1, 0.3]  # blue ones, upright
    >>> labels = np.repeat(["red", "blue"], 20)
    >>> model = CIALVQ(prototypes_per_class=1, random_state=0).fit(patches, labels)
    >>> model.score(patches, labels)
    1.0
    >>> model.color_filters_.shape
    (2, 15, 15, 3)
    """

    missing = "error"
    _constraints = {
        "filters": option(*BANKS) | array("an array of kernels") | none,
        "structure": option(*STRUCTURES),
        "localization": option(*LOCALIZATIONS),
        "distance": option("magnitude", "position"),
        "learn_filters": flag,
        "patch_shape": array("a tuple (height, width, channels)") | none,
    }
    _metric: Spectral

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 4,
        *,
        filters: str | ArrayLike | None = "gabor",
        structure: str = "full",
        localization: str = "class",
        distance: str = "magnitude",
        learn_filters: bool = False,
        patch_shape: tuple[int, int, int] | None = None,
        init: str | ArrayLike = "neural_gas",
        squashing: str = "sigmoid",
        slope: float | tuple[float, float] | None = None,
        neighborhood_range: float | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        tol: float = 1e-06,
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        early_stopping: bool | str = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.filters = filters
        self.structure = structure
        self.localization = localization
        self.distance = distance
        self.learn_filters = learn_filters
        self.patch_shape = patch_shape
        self.init = init
        self.squashing = squashing
        self.slope = slope
        self.neighborhood_range = neighborhood_range
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Say that tables need a ``patch_shape``, and that powers are blind to signs, which tables may need."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = self.patch_shape is not None
        tags.classifier_tags.poor_score = self.distance == "magnitude"
        return tags

    def intensities(self, X: ArrayLike) -> Floats:
        """Return the intensities of patches under each learned map, before filtering.

        Parameters
        ----------
        X : array-like of shape (n_samples, height, width, channels) or (n_samples, n_features)
            Patches.

        Returns
        -------
        intensities : ndarray of shape (n_samples, s, height, width)
            One image for each patch and map; its Fourier transform is ``Omega x``.
        """
        patches = self._check_new(X).astype(np.float64)
        maps = self._metric.map
        lifted = maps.lift(patches)
        return np.stack([maps.plane.back(maps.apply(lifted, omega)) for omega in self._theta[0]], axis=1)

    def powers(self, X: ArrayLike) -> Floats:
        """Return the power ``|r(x)|^2`` of patches at each frequency, after each learned map and the filters.

        Parameters
        ----------
        X : array-like of shape (n_samples, height, width, channels) or (n_samples, n_features)
            Patches.

        Returns
        -------
        powers : ndarray of shape (n_samples, s, height, width)
            Powers, frequency zero first.
        """
        spectra = fft2(self.intensities(X), norm="ortho")
        return (spectra.real**2 + spectra.imag**2) * self.filter_gains_**2

    @property
    def prototype_patches_(self) -> Floats:
        """The prototypes as images."""
        if self._metric.learn_filters:
            raise AttributeError("With learn_filters=True prototypes are power spectra; see prototype_powers_.")
        return self.prototypes_.reshape(-1, *self.patch_shape_)

    @property
    def prototype_powers_(self) -> Floats:
        """Power of each prototype at each frequency."""
        plane = self._metric.map.plane
        if self._metric.learn_filters:
            return plane.unfold((self._metric.unit * self.prototypes_) ** 2 / plane.counts.ravel())
        return self.powers(self.prototypes_)[np.arange(len(self.prototypes_)), self.prototype_maps_]

    @property
    def prototype_maps_(self) -> Indices:
        """Index of the map that each prototype uses."""
        return self._metric.slots(self._codes)

    @property
    def omegas_(self) -> NDArray[np.complex128]:
        """The maps in the Fourier domain."""
        h, w, c = self.patch_shape_
        units = ifft2(np.eye(h * w).reshape(-1, h, w), norm="ortho")  # one for each frequency
        maps = self._metric.map
        omegas = np.zeros((len(self._theta[0]), h * w, h, w, c), np.complex128)
        for channel in range(c):
            patches = np.zeros((2, h * w, h, w, c))
            patches[0, ..., channel], patches[1, ..., channel] = units.real, units.imag
            lifted = maps.lift(patches.reshape(2 * h * w, -1))
            for omega, out in zip(self._theta[0], omegas):
                real, imaginary = maps.plane.back(maps.apply(lifted, omega)).reshape(2, h * w, h, w)
                columns = fft2(real + 1j * imaginary, norm="ortho").reshape(h * w, h * w)
                out[..., channel] = columns.T.reshape(h * w, h, w)
        return omegas.reshape(len(omegas), h * w, -1)

    @property
    def color_filters_(self) -> Floats:
        """Maps and filters together, as kernels in space."""
        kernels = self._map_kernels()
        response = self._metric.response
        if self._metric.learn_filters:
            response = self.filter_gains_ * np.exp(1j * np.angle(response))
        spectra = fft2(kernels, axes=(1, 2)) * np.reshape(response, (-1, *self.patch_shape_[:2], 1))
        filters = ifft2(spectra, axes=(1, 2))
        return filters if np.iscomplexobj(np.asarray(self._metric.kernels)) else filters.real

    @property
    def color_weights_(self) -> Floats:
        """Weights of the channels in the maps."""
        return self._map_kernels().sum(axis=(1, 2))

    @property
    def filter_gains_(self) -> Floats:
        """Gain of the filters at each frequency."""
        if not self._metric.learn_filters:
            return np.broadcast_to(np.abs(self._metric.response), (len(self._theta[0]), *self.patch_shape_[:2]))
        plane = self._metric.map.plane
        return plane.unfold(self._metric.unit * np.abs(self._theta[1]) / np.sqrt(plane.counts.ravel()))

    def _map_kernels(self) -> Floats:
        return np.stack([self._metric.map.kernels(omega) for omega in self._theta[0]])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.learn_filters and self.distance != "magnitude":
            raise ValueError("learn_filters=True compares powers and requires distance='magnitude'.")

    def _check_training(self, X: ArrayLike, y: ArrayLike, reset: bool = True) -> tuple[Floats, Array]:
        table, shape = _as_table(X)
        if not reset:
            self._refuse_shape(shape)
        samples, labels = super()._check_training(table, y, reset)
        if samples.any() and not SMALLEST < np.abs(samples).max() < LARGEST:
            raise ValueError(
                f"The largest pixel is {np.abs(samples).max():g}; its powers overflow. Scale the "
                "patches, to pixels between 0 and 1 for instance."
            )
        if reset:
            self.patch_shape_ = self._found_shape(shape, samples.shape[1])
        return samples, labels

    def _check_new(self, X: ArrayLike) -> Array:
        check_is_fitted(self, "prototypes_")
        table, shape = _as_table(X)
        self._refuse_shape(shape)
        samples = super()._check_new(table)
        if np.abs(samples).max(initial=0.0) > LARGEST:
            raise ValueError(f"The largest pixel is {np.abs(samples).max():g}; its powers overflow. Scale the patches.")
        return samples

    def _found_shape(self, shape: tuple[int, ...] | None, n_features: int) -> tuple[int, int, int]:
        """Return the shape of the patches: their own, or what ``patch_shape`` makes of rows of a table."""
        if self.patch_shape is None:
            if shape is None:
                raise ValueError(
                    f"X is a table of {n_features} features; CIALVQ needs to know the height, width and number of "
                    "channels of its patches. Give an array of shape (n_samples, height, width, channels), or set "
                    "patch_shape, for instance patch_shape=(15, 15, 3)."
                )
            return shape[0], shape[1], shape[2]
        found: tuple[int, ...] = ()
        with suppress(ValueError, TypeError):
            found = np.empty(n_features, np.bool_).reshape(self.patch_shape).shape
        if len(found) != 3:
            raise ValueError(
                f"patch_shape={self.patch_shape!r} must be height, width and number of channels, with a product of "
                f"{n_features}, the number of features."
            )
        if shape is not None and found != shape:
            raise ValueError(f"Patches have the shape {shape}, but patch_shape is {self.patch_shape!r}.")
        return found[0], found[1], found[2]

    def _refuse_shape(self, shape: tuple[int, ...] | None) -> None:
        if shape is not None and shape != self.patch_shape_:
            raise ValueError(f"Patches have the shape {shape}, but the classifier was fitted on {self.patch_shape_}.")

    def _given_prototypes(self, init: ArrayLike) -> Floats:
        table, shape = _as_table(init, "init")
        self._refuse_shape(shape)
        patches = super()._given_prototypes(table)
        if not self.learn_filters:
            return patches
        metric = self._spectral()
        theta = metric.start(self.n_features_in_, self._codes, np.random.RandomState(0))
        return metric.roots(metric.describe(patches, *(part[0] for part in theta)))

    # Samples are in memory

    def _read_partitions(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Any:
        refuse_collection(X, type(self).__name__)

    def _frame(self, samples: Any, rescales: bool, resumes: bool) -> Frame:
        if not rescales:
            return Frame(np.zeros(1))
        colors = samples.X.reshape(-1, self.patch_shape_[2])
        n_pixels = len(colors) // len(samples)
        pixels = Labeled(colors, np.repeat(samples.y, n_pixels), np.repeat(samples.u, n_pixels))
        return Frame(np.zeros(1), natural_frame(pixels).scale)

    def _default_slope(self) -> tuple[float, float]:
        return 2.0, 10.0

    def _default_iterations(self, solver: Solver) -> int:
        """Return how long a solver works: maps of many pixels learn long, as in the source."""
        return solver.default_iterations if isinstance(solver, LBFGS) else 6 * solver.default_iterations

    def _structure(self, frame: Frame, samples: Any) -> Metric:
        return self._spectral()

    def _spectral(self) -> Spectral:
        metric = Spectral(
            self.patch_shape_,
            kernels_of(self.filters, self.patch_shape_[:2]),
            structure=self.structure,
            localization=self.localization,
            distance=self.distance,
            learn_filters=self.learn_filters,
        )
        highest, size = np.abs(metric.response).max(), 1.0 if metric.kernels is None else np.abs(metric.kernels).sum()
        if not SMALLEST < highest < LARGEST or highest < 1e-12 * size:
            raise ValueError(
                f"The filters add up to a response of {highest:g} at most, which vanishes or overflows. "
                "Give filters of ordinary size that do not cancel each other."
            )
        return metric

    def _first_prototypes(self, metric: Metric, theta: Theta, samples: Any, rng: np.random.RandomState) -> Floats:
        """Return prototypes with the powers of centers of each class, and the phases of patches near to them."""
        if self.distance == "position":
            return super()._first_prototypes(metric, theta, samples, rng)
        assert isinstance(metric, Spectral)
        X, y, u = samples.X, samples.y, samples.u
        slots = metric.slots(self._codes)
        W = np.zeros((len(self._codes), metric.map.plane.n_frequencies if self.learn_filters else X.shape[1]))
        for code in np.unique(y):
            mine, members = y == code, np.flatnonzero(self._codes == code)
            patches, parts = X[mine], [part[slots[members[0]]] for part in theta]
            values = metric.describe(patches, *parts)
            same = np.zeros(len(members), np.int64)
            described = Labeled(values, np.zeros(len(values), np.int64), u[mine])
            centers = first_prototypes(described, same, str(self.init), rng)
            centers = metric.map.plane.symmetric(np.maximum(centers, 0.0))
            for p, center in zip(members, centers):
                nearest = ((values - center) ** 2).sum(axis=1).argmin()
                if self.learn_filters:
                    W[p] = metric.roots(center)
                else:
                    W[p] = metric.repainted(patches[nearest], center, parts[0])
        return W

    def _measure(self, X: Array) -> Floats:
        """Return the distances of a chunk of patches, in the units of patches and filters."""
        return super()._measure(X) * self._metric.unit ** (2 if self._metric.distance == "position" else 4)


def _as_table(X: Any, name: str = "X") -> tuple[Any, tuple[int, ...] | None]:
    """Return patches as rows of a table, and their shape; a table as it is."""
    if hasattr(X, "iloc") or issparse(X):
        return X, None
    try:
        patches = np.asarray(X)
    except ValueError:
        shapes = sorted({np.shape(patch) for patch in X})
        raise ValueError(
            f"Patches of {name} differ in shape: {', '.join(map(str, shapes[:5]))}. Cut or scale them to one size."
        ) from None
    if patches.ndim == 3:
        raise ValueError(
            f"{name} has the shape {patches.shape}: patches without channels. Give an array of shape (n_samples, "
            f"height, width, channels); gray patches have one channel, {name}[..., None]."
        )
    if patches.ndim != 4:
        return X, None
    shape = patches.shape[1:]
    return patches.reshape(len(patches), math.prod(shape)), shape
