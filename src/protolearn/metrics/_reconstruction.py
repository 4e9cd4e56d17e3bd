"""Reconstruction error of samples, and a bound of the error on new samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state, column_or_1d

from protolearn.core.parameters import constrained, fraction, integer
from protolearn.core.types import Floats
from protolearn.metrics._margins import PrintedBound

__all__ = ["ReconstructionBound", "reconstruction_bound", "reconstruction_error"]


def reconstruction_error(X: ArrayLike, X_hat: ArrayLike, *, relative: bool = False) -> float:
    """Return the mean squared distance between samples and their reconstructions.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    X_hat : array-like of shape (n_samples, n_features)
        Reconstructions of the samples, such as ``view.inverse_transform(view.transform(X))``.
    relative : bool, default=False
        Whether to divide by the mean squared distance of the samples from their mean; the error is then 1 if every
        sample is reconstructed as the mean.

    Returns
    -------
    error : float
        Reconstruction error, at least 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from protolearn.metrics import reconstruction_error
    >>> X = load_iris().data
    >>> pca = PCA(2).fit(X)
    >>> round(reconstruction_error(X, pca.inverse_transform(pca.transform(X)), relative=True), 4)
    0.0223
    """
    given, back = _checked(X, X_hat)
    error = float(np.square(given - back).sum(axis=1).mean())
    if not relative:
        return error
    spread = float(np.square(given - given.mean(axis=0)).sum(axis=1).mean())
    if not spread:
        raise ValueError("All samples are equal, so a relative error is undefined; use relative=False.")
    return error / spread


@dataclass(frozen=True)
class ReconstructionBound(PrintedBound):
    """Bound of the reconstruction error on new samples, with all its terms; returned by `reconstruction_bound`.

    Parameters
    ----------
    error : float
        Mean squared error on the samples, in units of the squared diameter of the data.
    complexity : float
        Rademacher complexity of the class of mappings, in the same units.
    confidence : float
        Term for the deviation of the error on the samples from the expected error.
    diameter : float
        Twice the largest distance of a sample from the mean.
    delta : float
        Probability that the bound does not hold.

    Examples
    --------
    >>> bound = ReconstructionBound(0.1, 0.05, 0.02, diameter=2.0, delta=0.05)
    >>> round(bound.value, 2), round(bound.in_units, 2)
    (0.17, 0.68)
    """

    error: float
    complexity: float
    confidence: float
    diameter: float
    delta: float

    @property
    def value(self) -> float:
        """The bound, in units of the squared diameter. It is informative only if it is below 1."""
        return self.error + self.complexity + self.confidence

    @property
    def in_units(self) -> float:
        """The bound of the mean squared error, in the units of the data."""
        return self.value * self.diameter**2


@constrained(delta=fraction, n_draws=integer(1))
def reconstruction_bound(
    X: ArrayLike,
    X_hat: ArrayLike,
    n_components: int,
    *,
    labels: ArrayLike | None = None,
    delta: float = 0.05,
    n_draws: int = 20,
    random_state: Any = None,
) -> ReconstructionBound:
    r"""Bound the reconstruction error of a linear or piecewise linear mapping on new samples.

    With probability :math:`1 - \delta` the expected error of every mapping of the class is at most the error on the n
    samples, plus the Rademacher complexity of the errors of all mappings of the class, plus :math:`\sqrt{8
    \ln(2/\delta) / n}`, for errors between 0 and 1. The complexity is that of projections onto affine subspaces: a
    single one, or one through the mean of each cell. It is estimated with random signs, for which the optimal subspaces
    are known exactly.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training samples of the mapping.
    X_hat : array-like of shape (n_samples, n_features)
        Reconstructions of the samples.
    n_components : int
        Dimension of the subspaces.
    labels : array-like of shape (n_samples,), optional
        Cell of each sample, for a mapping that is linear in each cell; by default, a single cell. The bound treats the
        cells as fixed.
    delta : float, default=0.05
        Probability that the bound does not hold.
    n_draws : int, default=20
        Number of draws of random signs.
    random_state : int, RandomState instance or None, default=None
        Seed of the random signs. An int makes the result reproducible.

    Returns
    -------
    bound : ReconstructionBound
        All terms of the bound.

    References
    ----------
    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization, section 6.7.1. PhD thesis,
    University of Groningen.

    Bartlett, P., Mendelson, S. (2002). Rademacher and Gaussian complexities. JMLR 3, 463-482.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from protolearn.metrics import reconstruction_bound
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(20_000, 3))
    >>> pca = PCA(2).fit(X)
    >>> bound = reconstruction_bound(X, pca.inverse_transform(pca.transform(X)), 2, random_state=0)
    >>> bound.error < bound.value < 0.2
    True
    """
    given, back = _checked(X, X_hat)
    integer(1, given.shape[1]).check("n_components", n_components)
    cells = np.zeros(len(given), np.intp) if labels is None else np.unique(column_or_1d(labels), return_inverse=True)[1]
    if len(cells) != len(given):
        raise ValueError(f"labels has {len(cells)} entries for {len(given)} samples.")
    n = len(given)
    center = given.mean(axis=0)
    diameter = 2.0 * float(np.sqrt(np.square(given - center).sum(axis=1).max()))
    if not diameter:
        raise ValueError("All samples are equal, so the bound is undefined.")
    rng = check_random_state(random_state)
    parts = [given[cells == cell] for cell in range(cells.max() + 1)]
    parts = [(part - part.mean(axis=0)) / diameter for part in parts]
    draws = [sum(_signed_error(part, n_components, rng) for part in parts) for _ in range(n_draws)]
    return ReconstructionBound(
        float(np.square(given - back).sum(axis=1).mean()) / diameter**2,
        2.0 / n * float(np.mean(draws)),
        float(np.sqrt(8.0 * np.log(2.0 / delta) / n)),  # Bunte 2011, eq. 6.28
        diameter,
        delta,
    )


def _signed_error(X: Floats, n_components: int, rng: np.random.RandomState) -> float:
    """Return the largest size that the sum of squared errors with random signs can have for any plane."""
    signs = rng.choice([-1.0, 1.0], size=len(X))
    values = np.linalg.eigvalsh((signs[:, None] * X).T @ X)  # errors are |x|^2 - |P x|^2
    total = values.sum()
    return float(max(total - values[:n_components].sum(), values[-n_components:].sum() - total))


def _checked(X: ArrayLike, X_hat: ArrayLike) -> tuple[Floats, Floats]:
    given: Floats = check_array(X, dtype=np.float64, input_name="X")
    back: Floats = check_array(X_hat, dtype=np.float64, input_name="X_hat")
    if given.shape != back.shape:
        raise ValueError(f"X and X_hat have the shapes {given.shape} and {back.shape}; the shapes must be equal.")
    return given, back
