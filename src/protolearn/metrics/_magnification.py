"""Entropy of the winners, and magnification: the relation between the densities of prototypes and data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree
from scipy.special import entr

from protolearn.core.fitted import prototypes_of
from protolearn.core.parameters import constrained, integer, none, number, positive
from protolearn.core.types import Array, Floats

__all__ = ["magnification_exponent", "map_entropy"]


@constrained(base=number(1, open_low=True) | none)
def map_entropy(source: Any, *, n_prototypes: int | None = None, base: float | None = None) -> float:
    r"""Return the entropy of the winning prototypes.

    The entropy is :math:`H = -\sum_i p_i \ln p_i` with the fraction :math:`p_i` of samples whose winner is prototype i.
    Its maximum :math:`\ln k` is attained if all k prototypes win equally often.

    Parameters
    ----------
    source : fitted estimator or array-like of shape (n,)
        An estimator with ``multiplicities_``, or the index of the winner of each sample.
    n_prototypes : int, optional
        Number of prototypes, for validation of the winners. Prototypes that never win do not change the entropy.
    base : float, optional
        Base of the logarithm: the natural logarithm by default, 2 for bits, the number of prototypes for a value
        between 0 and 1.

    Returns
    -------
    float
        The entropy.

    References
    ----------
    Hasenfuss, A. (2009). Topographic mapping of dissimilarity datasets, sec. 3.5.

    Examples
    --------
    >>> map_entropy([0, 0, 1, 1, 2, 2, 3, 3], base=2)
    2.0
    >>> map_entropy([4, 4, 4])
    0.0
    """
    mass = _receptive_field_masses(source, n_prototypes)
    entropy = float(entr(mass / mass.sum()).sum())
    return entropy if base is None else entropy / float(np.log(base))


@constrained(dim=positive)
def magnification_exponent(
    prototypes: Any, log_density_at_prototypes: ArrayLike, dim: float, *, n_neighbors: int | None = None
) -> float:
    """Estimate the exponent ``alpha`` of the magnification law, density of prototypes ~ (density of data)^alpha.

    K-means and neural gas have ``alpha = dim / (dim + 2)``; with ``alpha = 1`` all prototypes win equally often. The
    local density of the prototypes is estimated from their distances to the nearest other prototypes, and ``alpha`` is
    the slope of a least-squares line:

        ``- dim * log r_i = alpha * log p(w_i) + const``, where ``r_i`` is the mean distance of prototype i to its
        ``n_neighbors`` nearest prototypes.

    Parameters
    ----------
    prototypes : array-like of shape (k, d) or fitted estimator
        The prototypes, or an estimator with ``prototypes_``.
    log_density_at_prototypes : array-like of shape (k,)
        Log density of the data at the prototypes, up to a constant; for example
        ``parzen_log_density(X, points=prototypes)``.
    dim : float
        Intrinsic dimension of the data.
    n_neighbors : int, optional
        Number of nearest neighbors; by default, two for each dimension.

    Returns
    -------
    float
        The exponent.

    Notes
    -----
    The estimate is biased. Prototypes at the border of the data have neighbors on one side only, so their density is
    underestimated. If the data are dense up to the border, the estimated exponent is too small (0.24 instead of 1/3 for
    50 means of data on a line with a density that grows like ``x^-1/2`` towards its end). If the density decreases
    towards the border, the bias is small (0.33 for a Gaussian on a line, 0.47 instead of 1/2 with 200 means in the
    plane, 0.52 instead of 3/5 in space). A density that is smoothed by a wide Parzen window varies less than the true
    density, which makes the exponent too large; a noisy density makes it too small.

    References
    ----------
    Zador, P. L. (1982). Asymptotic quantization error of continuous signals and the quantization dimension. IEEE
    Transactions on Information Theory 28, 139-149.

    Villmann, T., Claussen, J. C. (2006). Magnification control in self-organizing maps and neural gas. Neural
    Computation 18, 446-469.

    Examples
    --------
    The density of prototypes at the quantiles of the data is proportional to the density of the data:

    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> quantiles = norm.ppf((np.arange(200) + 0.5) / 200)[:, None]
    >>> round(magnification_exponent(quantiles, norm.logpdf(quantiles[:, 0]), dim=1), 1)
    1.0
    """
    centers = prototypes_of(prototypes)
    k = len(centers)
    log_density = np.asarray(log_density_at_prototypes, dtype=np.float64)
    if log_density.shape != (k,) or not np.isfinite(log_density).all():
        raise ValueError(
            f"log_density_at_prototypes must contain one finite number for each of the {k} prototypes, got an array of "
            f"shape {log_density.shape}."
        )
    if k < 3 or np.ptp(log_density) == 0.0:
        raise ValueError(
            "The exponent needs at least three prototypes and a density that is not the same at all prototypes."
        )
    if n_neighbors is None:
        n_neighbors = int(np.clip(round(2 * dim), 1, k - 1))
    integer(1, k - 1).check("n_neighbors", n_neighbors)
    radii = _mean_neighbor_distances(centers, n_neighbors)
    slope, _ = np.polyfit(log_density, -dim * np.log(radii), 1)
    return float(slope)


def _receptive_field_masses(source: Any, n_prototypes: int | None) -> Floats:
    source = getattr(source, "estimator_", source)
    if hasattr(source, "multiplicities_"):
        mass = np.asarray(source.multiplicities_, dtype=np.float64)
    else:
        winners = np.asarray(source)
        if winners.ndim != 1 or len(winners) == 0 or not np.issubdtype(winners.dtype, np.integer) or winners.min() < 0:
            raise ValueError(
                "map_entropy needs a fitted estimator with multiplicities_, or the indices of the winners, one integer "
                f"from 0 for each sample; got {source!r}."
            )
        mass = np.bincount(winners).astype(np.float64)
    if n_prototypes is not None and len(mass) > n_prototypes:
        raise ValueError(f"n_prototypes={n_prototypes}, but prototype {len(mass) - 1} occurs; correct n_prototypes.")
    return mass


def _mean_neighbor_distances(centers: Array, n_neighbors: int) -> Floats:
    distances, _ = KDTree(centers).query(centers, k=n_neighbors + 1)
    radii = distances[:, 1:].mean(axis=1)
    if not radii.all():
        raise ValueError(
            f"Some prototypes coincide with their {n_neighbors} nearest neighbors, so their density is infinite; use "
            "fewer prototypes, or a larger n_neighbors."
        )
    return radii
