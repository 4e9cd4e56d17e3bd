"""Online PCA of one unit: a step of recursive least squares, plain and interlocked, and the potential of the axes.

Short forms in NumPy, to read and to compare with, of what `protolearn.NGPCA` runs compiled. Arrays: axes (m, d) with
orthonormal rows, variances (m,) along them, xi (d,) a sample seen from the center of the unit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from protolearn.core.types import Floats

__all__ = ["interlocked_step", "orthonormalized", "potential", "rrlsa_step"]


def rrlsa_step(axes: ArrayLike, variances: ArrayLike, xi: ArrayLike, alpha: float) -> tuple[Floats, Floats]:
    """Learn from one sample by robust recursive least squares, then orthonormalize.

    Every axis, as long as its variance, moves towards what the sample has along it once the axes before are taken off::

        v_i = (1 - alpha) lambda_i w_i + alpha y_i xi_i,    y_i = w_i^T xi,    xi_{i+1} = xi_i - y_i w_i

    Its length becomes the new variance, and Gram-Schmidt makes the new axes. On average this is a step of the power
    iteration, so axes and variances turn into the eigenvectors and eigenvalues of the covariance, the largest first.

    Parameters
    ----------
    axes : array-like of shape (m, d)
        Orthonormal rows.
    variances : array-like of shape (m,)
        Variance along each axis, positive.
    xi : array-like of shape (d,)
        Sample minus the center.
    alpha : float
        Learning rate in [0, 1); 0 changes nothing.

    Returns
    -------
    axes : ndarray of shape (m, d)
        New axes, orthonormal.
    variances : ndarray of shape (m,)
        New variances.

    See Also
    --------
    interlocked_step : The same result at a lower cost.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, appendix A.
    Ouyang, S., Bao, Z., Liao, G. (2000). Robust recursive least squares learning algorithm for principal component
    analysis. IEEE Transactions on Neural Networks 11, 215-221.

    Examples
    --------
    >>> axes, variances = rrlsa_step([[1.0, 0.0], [0.0, 1.0]], [4.0, 1.0], [2.0, 1.0], alpha=0.5)
    >>> axes.round(3)
    array([[ 0.97 ,  0.243],
           [-0.243,  0.97 ]])
    >>> variances.round(3)
    array([4.123, 1.   ])
    """
    W, lam, gap = _check_step(axes, variances, xi, alpha)
    grown = np.empty_like(W)
    for i, (w, y) in enumerate(zip(W, W @ gap)):
        grown[i] = (1.0 - alpha) * lam[i] * w + alpha * y * gap  # Möller and Hoffmann 2004, eq. A.1
        gap = gap - y * w  # eq. A.2
    return orthonormalized(grown), np.linalg.norm(grown, axis=1)  # eq. A.3


def interlocked_step(axes: ArrayLike, variances: ArrayLike, xi: ArrayLike, alpha: float) -> tuple[Floats, Floats]:
    """Learn from one sample and orthonormalize in one pass over the axes.

    The result is that of :func:`rrlsa_step`, in ``O(m d)`` operations instead of ``O(m^2 d)``, as long as the axes are
    orthonormal before.

    Parameters
    ----------
    axes : array-like of shape (m, d)
        Orthonormal rows.
    variances : array-like of shape (m,)
        Variance along each axis, positive.
    xi : array-like of shape (d,)
        Sample minus the center.
    alpha : float
        Learning rate in [0, 1); 0 changes nothing.

    Returns
    -------
    axes : ndarray of shape (m, d)
        New axes, orthonormal.
    variances : ndarray of shape (m,)
        New variances.

    Notes
    -----
    A new axis is ``p_j xi`` plus old axes up to its own, and ``v_i`` (see :func:`rrlsa_step`) is orthogonal to all old
    axes before the i-th. So the part of ``v_i`` along the new axis ``j < i`` is ``p_j (xi^T v_i)``, and Gram-Schmidt
    only subtracts ``xi^T v_i`` times one vector, the drift ``sum_{j<i} p_j w_j``. Lengths follow from scalars alone,
    among them the squared sine of the angle between the deflated sample and the new axes. They are written as sums of
    positive terms, so that no digits are lost when a sample is much longer than the unit is wide.

    References
    ----------
    Möller, R. (2002). Interlocking of learning and orthonormalization in RRLSA. Neurocomputing 49, 429-433.

    Examples
    --------
    >>> axes, variances = interlocked_step([[1.0, 0.0], [0.0, 1.0]], [4.0, 1.0], [2.0, 1.0], alpha=0.5)
    >>> axes.round(3)
    array([[ 0.97 ,  0.243],
           [-0.243,  0.97 ]])
    >>> variances.round(3)
    array([4.123, 1.   ])
    """
    W, lam, gap = _check_step(axes, variances, xi, alpha)
    turned, grown = np.empty_like(W), np.empty_like(lam)
    drift, pulls, sine = np.zeros_like(gap), 0.0, 1.0  # pulls: squared length of the drift; sine: squared, see Notes
    for i, (w, y) in enumerate(zip(W, W @ gap)):
        square = gap @ gap
        share = min(y * y / square, 1.0) if square > 0 else 0.0
        old = (1.0 - alpha) * lam[i]
        new = old + alpha * square
        kept = old + alpha * y * y
        grown[i] = np.sqrt(old * old + alpha * y * y * (old + new))
        norm = np.sqrt(old * old * (1.0 - share) + new * new * share * sine)
        pull = y * (alpha * sine - old * pulls) / norm
        gap = gap - y * w
        turned[i] = (kept * w + alpha * y * gap - new * y * drift) / norm
        drift = drift + pull * turned[i]
        pulls += pull * pull
        sine *= (kept / norm) ** 2
    return turned, grown


def orthonormalized(axes: ArrayLike) -> Floats:
    """Make rows orthonormal, in their order, by the modified Gram-Schmidt procedure.

    The first i rows span the same space as before, and no row is turned round, as a QR decomposition might do.

    Parameters
    ----------
    axes : array-like of shape (m, d)
        Linearly independent rows.

    Returns
    -------
    axes : ndarray of shape (m, d)
        Orthonormal rows.

    References
    ----------
    Golub, G. H., van Loan, C. F. (1996). Matrix computations, third edition, section 5.2.

    Examples
    --------
    >>> orthonormalized([[3.0, 4.0], [0.0, 2.0]])
    array([[ 0.6,  0.8],
           [-0.8,  0.6]])
    """
    rows = np.array(axes, dtype=np.float64, ndmin=2)
    for i, row in enumerate(rows):
        whole = np.linalg.norm(row)
        for _ in range(2):  # once more: what rounding leaves of a long row is not orthogonal
            for before in rows[:i]:
                row -= (before @ row) * before
        rest = np.linalg.norm(row)
        if not rest > 1e-14 * whole:
            raise ValueError(
                f"Row {i} of the axes is a combination of the rows before it; give linearly independent rows."
            )
        row /= rest
    return rows


def potential(axes: ArrayLike, variances: ArrayLike, covariance: ArrayLike) -> float:
    """Mean of the principal part of the NGPCA distance over samples with a given covariance.

    ``D = tr(W C W^T Lambda^-1) - tr(W W^T) + ln det Lambda`` for axes ``W``, variances ``Lambda`` and covariance ``C``.
    Eigenvectors with their eigenvalues are its stationary points; under orthonormality only those of the smallest
    eigenvalues are a minimum, and all others saddles. Hence a distance that compares units fairly has to count the
    remaining directions too.

    Parameters
    ----------
    axes : array-like of shape (m, d)
        Axes of the unit.
    variances : array-like of shape (m,)
        Variance along each axis, positive.
    covariance : array-like of shape (d, d)
        Covariance of the samples around the center of the unit.

    Returns
    -------
    float
        The potential ``D``.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, eq. 8 and
    appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> covariance = np.diag([4.0, 1.0])
    >>> round(potential([[1.0, 0.0]], [4.0], covariance), 4)  # a saddle: the logarithm of the eigenvalue
    1.3863
    >>> round(potential([[0.8, 0.6]], [4.0], covariance), 4)  # lower, towards the smaller eigenvalue
    1.1163
    """
    W, lam, C = (np.asarray(values, dtype=np.float64) for values in (axes, variances, covariance))
    return float(((W @ C * W).sum(axis=1) / lam + np.log(lam)).sum() - (W * W).sum())


def _check_step(axes: ArrayLike, variances: ArrayLike, xi: ArrayLike, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return the three arrays of a step, whose shapes and values have to fit."""
    W, lam, gap = (np.asarray(values, dtype=np.float64) for values in (axes, variances, xi))
    if W.ndim != 2 or lam.shape != W.shape[:1] or gap.shape != W.shape[1:]:
        raise ValueError(
            f"Axes {W.shape}, variances {lam.shape} and xi {gap.shape} do not fit; give shapes (m, d), (m,) and (d,)."
        )
    if not (lam > 0).all():
        raise ValueError(f"The smallest variance is {lam.min()}; give positive variances.")
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be a number in [0, 1).")
    return W, lam, gap
