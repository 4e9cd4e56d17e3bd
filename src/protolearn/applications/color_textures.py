"""Baseline for color textures: filtered gray images, for comparison with a learned color map."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags

from protolearn.core.estimator import Estimator
from protolearn.core.parameters import array, none, option
from protolearn.core.types import Floats
from protolearn.lvq.spectral import BANKS, Spectral, kernels_of

__all__ = ["GrayPowers", "gray_texture_classifier"]

GRAY = (0.2989, 0.587, 0.114)  # Bunte 2011, eq. 5.6


class GrayPowers(TransformerMixin, Estimator):
    """Transformer from patches to the power of their gray values at each frequency, after a filter bank.

    Colors are converted to gray with fixed weights, and the filtered spectrum is squared. Squared Euclidean distances
    between the powers equal those of `protolearn.CIALVQ` with ``structure="color"`` and the same weights.

    Parameters
    ----------
    weights : sequence of float, default=(0.2989, 0.587, 0.114)
        Weight of each channel; the default is the usual luma of red, green and blue.
    filters : {"gabor", "gaussians"}, array-like of shape (L, height, width) or None, default="gabor"
        Filter bank, as for `protolearn.CIALVQ`.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import GrayPowers
    >>> patches = np.random.default_rng(0).random((4, 15, 15, 3))
    >>> powers = GrayPowers().fit_transform(patches)
    >>> bool(np.allclose(powers, GrayPowers().fit_transform(np.roll(patches, 3, axis=1))))  # blind to shifts
    True
    """

    _constraints = {
        "weights": array("a number for each channel"),
        "filters": option(*BANKS) | array("an array of kernels") | none,
    }

    def __init__(self, weights: ArrayLike = GRAY, filters: str | ArrayLike | None = "gabor") -> None:
        self.weights = weights
        self.filters = filters

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Validate the patches; the transformer is stateless.

        Parameters
        ----------
        X : array-like of shape (n, height, width, channels)
            Patches.
        y : object
            Ignored.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self._check_parameters()
        self._metric(np.shape(_checked(X, np.size(self.weights))))
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Return the powers of patches.

        Parameters
        ----------
        X : array-like of shape (n, height, width, channels)
            Patches.

        Returns
        -------
        powers : ndarray of shape (n, n_frequencies)
            Powers at the nonredundant half of the frequencies, scaled to preserve distances.
        """
        weights = np.asarray(self.weights, np.float64)
        patches = _checked(X, len(weights))
        metric = self._metric(patches.shape)
        return metric.unit**2 * metric.describe(patches.reshape(len(patches), -1), weights)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that patches are not rows of a table, and that there is nothing to fit."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags

    def _metric(self, shape: tuple[int, ...]) -> Spectral:
        size = (shape[1], shape[2])
        return Spectral((*size, shape[3]), kernels_of(self.filters, size), structure="color")


def gray_texture_classifier(
    n_neighbors: int = 1, *, weights: ArrayLike = GRAY, filters: str | ArrayLike | None = "gabor"
) -> Pipeline:
    """Return a standard texture classifier: gray patches, Gabor filters and nearest neighbors.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of neighbors that vote.
    weights : sequence of float, default=(0.2989, 0.587, 0.114)
        Weight of each channel.
    filters : {"gabor", "gaussians"}, array-like of shape (L, height, width) or None, default="gabor"
        Filter bank, as for `protolearn.CIALVQ`.

    Returns
    -------
    Pipeline
        Unfitted pipeline with the steps ``"powers"`` and ``"neighbors"``.

    See Also
    --------
    protolearn.CIALVQ : Learns color weights and prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import gray_texture_classifier
    >>> rng = np.random.default_rng(0)
    >>> coarse = rng.random((20, 5, 5, 3)).repeat(3, axis=1).repeat(3, axis=2)
    >>> fine = rng.random((20, 15, 15, 3))
    >>> model = gray_texture_classifier().fit(np.concatenate([coarse, fine]), np.repeat(["coarse", "fine"], 20))
    >>> model.predict(rng.random((1, 15, 15, 3)))
    array(['fine'], dtype='<U6')
    """
    return Pipeline([("powers", GrayPowers(weights, filters)), ("neighbors", KNeighborsClassifier(n_neighbors))])


def _checked(X: ArrayLike, n_channels: int) -> Floats:
    patches = np.asarray(X, np.float64)
    if patches.ndim != 4 or patches.shape[3] != n_channels:
        raise ValueError(
            f"Patches have the shape {patches.shape}; expected (n, height, width, {n_channels}), a channel for each of "
            f"the {n_channels} weights."
        )
    if not np.isfinite(patches).all():
        raise ValueError("Patches contain NaN or infinity.")
    return patches
