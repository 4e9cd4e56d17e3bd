"""Substitutes for real data that cannot be distributed: a satellite image and a charity's mailing list.

They have the size and basic statistics of the originals, for tests at the same scale. Results on them do not apply to
the real data.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from protolearn.core.parameters import constrained, integer
from protolearn.core.types import Floats
from protolearn.datasets._shares import labels_in_shares

__all__ = ["make_kdd_surrogate", "make_landsat_surrogate"]

# Hasenfuss 2009, table 3.2: share of each class in per cent.
LANDSAT_SHARES = (17.30, 10.46, 5.32, 7.93, 4.26, 6.13, 5.05, 8.12, 0.48, 2.83, 3.78, 7.78, 19.77, 0.79)

# Hasenfuss 2009, table 3.3: correlations of bands 1 with 2 to 6, 2 with 3 to 6, and so on.
LANDSAT_CORRELATIONS = (
    *(0.9564, 0.9493, 0.4691, 0.8162, 0.8544),
    *(0.9678, 0.5858, 0.8448, 0.8682),
    *(0.4867, 0.8339, 0.8897),
    *(0.5783, 0.4417),
    *(0.9574,),
)

LANDSAT_WITHIN = 0.5  # part of the variance that is found within the classes

KDD_SHARES = (0.22, 0.17, 0.14, 0.12, 0.10, 0.08, 0.07, 0.05, 0.03, 0.02)
KDD_COLUMNS = {"gaussian": 30, "skewed": 16, "binary": 10}


@constrained(n_samples=integer(1))
def make_landsat_surrogate(n_samples: int = 17004, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make a substitute for the LANDSAT TM image of Colorado: 6 bands, 14 classes of land cover.

    Each class is a Gaussian. The frequencies of the classes and the correlations of the bands, both within the classes
    and over all samples, are those published for the image; the means and everything else are synthetic. Two rare
    classes, water (9) and alpine vegetation (14), lie far from the others at the dark and at the bright end.

    Parameters
    ----------
    n_samples : int, default=17004
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The classes are always the same.

    Returns
    -------
    X : ndarray of shape (n, 6)
        The samples in random order; each band has mean 0 and variance 1.
    y : ndarray of shape (n,)
        The class, from 1 to 14.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, tables 3.2 and 3.3.

    Examples
    --------
    >>> from protolearn.datasets import make_landsat_surrogate
    >>> X, y = make_landsat_surrogate(random_state=0)
    >>> X.shape, int((y == 9).sum())
    ((17004, 6), 82)
    """
    rng = check_random_state(random_state)
    label = labels_in_shares(n_samples, LANDSAT_SHARES, rng)
    correlation = _landsat_correlation()
    within = rng.standard_normal((n_samples, 6)) @ np.linalg.cholesky(LANDSAT_WITHIN * correlation).T
    return _landsat_centers(correlation)[label] + within, label + 1


@constrained(n_samples=integer(1))
def make_kdd_surrogate(n_samples: int = 95412, *, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
    """Make a substitute for the KDD Cup 98 mailing list: 56 columns of mixed type, 10 clusters.

    Only the size and the mixture of column types are those of the original: 30 columns are Gaussian, 16 skewed
    (log-normal, as amounts of money are) and 10 binary. The values of each column are independent within a cluster.
    Scale the columns before clustering, for example with scikit-learn's `StandardScaler`.

    Parameters
    ----------
    n_samples : int, default=95412
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed for reproducible samples. The clusters are always the same.

    Returns
    -------
    X : ndarray of shape (n, 56)
        The samples in random order: Gaussian, then skewed, then binary columns.
    y : ndarray of shape (n,)
        The cluster, from 0 to 9, in order of decreasing size.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 3.5.

    Examples
    --------
    >>> from protolearn.datasets import make_kdd_surrogate
    >>> X, y = make_kdd_surrogate(1000, random_state=0)
    >>> X.shape, int((y == 0).sum())
    ((1000, 56), 220)
    """
    rng = check_random_state(random_state)
    y = labels_in_shares(n_samples, KDD_SHARES, rng)
    means, log_means, probabilities = _kdd_clusters()
    gaussian = rng.normal(means[y])
    skewed = rng.lognormal(log_means[y])
    binary = rng.uniform(size=(n_samples, KDD_COLUMNS["binary"])) < probabilities[y]
    return np.hstack([gaussian, skewed, binary]), y


def _landsat_correlation() -> Floats:
    """Correlation matrix (6, 6) of the bands."""
    correlation = np.eye(6)
    upper = np.triu_indices(6, k=1)
    correlation[upper] = LANDSAT_CORRELATIONS
    correlation.T[upper] = LANDSAT_CORRELATIONS
    return correlation


def _landsat_centers(correlation: Floats) -> Floats:
    """Centers (14, 6) whose own covariance, weighted by the shares, has the given correlation as well.

    The centers are drawn at random and sphered; classes 9 and 14 are first put far out, on opposite sides along the
    common brightness of the bands.
    """
    shares = np.array(LANDSAT_SHARES) / 100
    variances, axes = np.linalg.eigh(correlation)
    centers = np.random.RandomState(14).standard_normal((14, 6))
    brightness = np.sign(axes[:, -1].sum()) * np.eye(6)[-1]  # the last axis has the largest variance
    centers[8], centers[13] = -6 * brightness, 6 * brightness
    centers -= shares @ centers
    spread = np.linalg.cholesky(centers.T @ (shares[:, None] * centers))
    sphered = np.linalg.solve(spread, centers.T).T
    return np.sqrt(1 - LANDSAT_WITHIN) * sphered * np.sqrt(variances) @ axes.T


def _kdd_clusters() -> tuple[Floats, Floats, Floats]:
    """Parameters of the clusters: means (10, 30), means of the logarithm (10, 16), probabilities of a one (10, 10)."""
    rng = np.random.RandomState(98)
    n_clusters = len(KDD_SHARES)
    means = rng.normal(scale=2, size=(n_clusters, KDD_COLUMNS["gaussian"]))
    log_means = rng.normal(size=(n_clusters, KDD_COLUMNS["skewed"]))
    probabilities = rng.uniform(0.05, 0.95, size=(n_clusters, KDD_COLUMNS["binary"]))
    return means, log_means, probabilities
