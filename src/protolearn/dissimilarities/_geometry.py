"""Validation and correction of dissimilarity matrices, and their pseudo-Euclidean geometry.

With distances D, squares ``S = D * D`` (elementwise) and ``J = I - 11'/n``, the Gram matrix is ``G = -1/2 J S J``. The
objects are points of a Euclidean space if and only if G has no negative eigenvalue. With ``squared=True``, the entries
of D are squared distances, and may be negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky, eigh, eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.utils import check_array

from protolearn.core.parameters import constrained, none, number, option
from protolearn.core.threads import Threads, chunk_threads
from protolearn.core.types import Array, Floats

__all__ = [
    "Signature",
    "check_dissimilarities",
    "clip_spectrum",
    "flip_spectrum",
    "gram_matrix",
    "pseudo_euclidean",
    "signature",
    "spectrum",
    "spread_transform",
    "spread_value",
    "symmetrized",
]


TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}  # of the largest entry
SMALL = 200  # objects up to which NumPy is faster than loading compiled loops
DENSE = 500  # objects up to which a factorization is faster than products with the matrix


class Signature(NamedTuple):
    """Numbers of positive, negative and zero eigenvalues of a Gram matrix.

    Examples
    --------
    The signature shows whether dissimilarities are Euclidean:

    >>> from protolearn.dissimilarities import signature
    >>> found = signature([[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> found.positive, found.negative, found.zero
    (1, 1, 1)
    >>> print("Euclidean" if found.negative == 0 else "not Euclidean")
    not Euclidean
    """

    positive: int
    negative: int
    zero: int


def check_dissimilarities(D: ArrayLike, *, squared: bool = False, symmetrize: str = "raise") -> Array:
    """Validate a matrix of dissimilarities: square, finite, nonnegative and symmetric, with a zero diagonal.

    Deviations of less than 1e-8 of the largest entry (1e-5 in single precision) are treated as rounding errors and left
    unchanged.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities. The array is never modified.
    squared : bool, default=False
        Whether the entries are squared distances, which may be negative in a pseudo-Euclidean space.
    symmetrize : {"raise", "mean", "keep"}, default="raise"
        Treatment of a matrix that is asymmetric or has a nonzero diagonal: raise an error, return a corrected copy (see
        `symmetrized`), or return it unchanged.

    Returns
    -------
    ndarray of shape (n, n)
        Dissimilarities in single or double precision; the array itself, if no change was necessary.

    Examples
    --------
    >>> from protolearn.dissimilarities import check_dissimilarities
    >>> check_dissimilarities([[0, 1], [3, 0]], symmetrize="mean")
    array([[0., 2.],
           [2., 0.]])
    >>> check_dissimilarities([[0, -1], [-1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: Negative values in data: the dissimilarity of objects 0 and 1 is -1, the lowest of all. Pass
    squared=True if they are squared distances of a pseudo-Euclidean space, or lift them with
    protolearn.dissimilarities.spread_transform(D, 1).
    """
    return checked_with_scale(D, squared=squared, symmetrize=symmetrize)[0]


@constrained(symmetrize=option("raise", "mean", "keep"))
def checked_with_scale(D: ArrayLike, *, squared: bool, symmetrize: str) -> tuple[Array, float]:
    """Validate a matrix of dissimilarities; return it and the absolute value of its largest entry.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities. The array is never modified.
    squared : bool
        Whether the entries are squared distances, which may be negative.
    symmetrize : {"raise", "mean", "keep"}
        Treatment of an asymmetric matrix, see `check_dissimilarities`.

    Returns
    -------
    D : ndarray of shape (n, n)
        Dissimilarities in single or double precision; the array itself, if no change was necessary.
    scale : float
        Largest absolute value of the entries.

    Examples
    --------
    >>> from protolearn.dissimilarities import checked_with_scale
    >>> D, scale = checked_with_scale([[0, 1], [3, 0]], squared=False, symmetrize="mean")
    >>> D.tolist(), float(scale)
    ([[0.0, 2.0], [2.0, 0.0]], 3.0)
    """
    matrix = _square(D)
    gap, low, high = _extremes(matrix)
    if not np.isfinite(gap):
        i, j = _worst(matrix, _is_not_finite)
        raise ValueError(
            f"The dissimilarity of objects {i} and {j} is {matrix[i, j]}; none may be NaN or infinite. Remove these "
            "objects, or impute the values."
        )
    tolerance = TOLERANCE[matrix.dtype] * max(high, -low)
    diagonal = matrix.diagonal()
    if diagonal.max() > tolerance and _is_like_a_kernel(matrix, tolerance):
        raise ValueError(
            f"The largest entries, up to {diagonal.max():g}, are on the diagonal: this looks like a kernel or another "
            'similarity, not like dissimilarities. For a kernel matrix K use metric="kernel" if the '
            "estimator supports it, else the squared distances K_ii + K_jj - 2 K_ij; convert other "
            "similarities to dissimilarities first."
        )
    if not squared and low < -tolerance:
        i, j = _worst(matrix, _depth)
        raise ValueError(
            f"Negative values in data: the dissimilarity of objects {i} and {j} is {low:g}, the lowest of all. Pass "
            "squared=True if they are squared distances of a pseudo-Euclidean space, or lift them with "
            f"protolearn.dissimilarities.spread_transform(D, {-low:g})."
        )
    own = np.abs(diagonal).max()
    if symmetrize == "keep" or max(gap, own) <= tolerance:
        return matrix, max(high, -low)
    if symmetrize == "mean":
        return symmetrized(matrix), max(high, -low)
    remedy = 'Pass symmetrize="mean", or repair them first with protolearn.dissimilarities.symmetrized(D).'
    if gap > tolerance:
        i, j = _worst(matrix, _asymmetry)
        raise ValueError(
            f"The dissimilarity of objects {i} and {j} is {matrix[i, j]:g}, but that of {j} and {i} is "
            f"{matrix[j, i]:g}; dissimilarities must be symmetric. {remedy}"
        )
    i = int(np.abs(diagonal).argmax())
    raise ValueError(f"The dissimilarity of object {i} to itself is {diagonal[i]:g}; it must be 0. {remedy}")


def symmetrized(D: ArrayLike) -> Array:
    """Return the mean of D and its transpose, with a zero diagonal.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities that are asymmetric or have a nonzero diagonal.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric dissimilarities.

    Examples
    --------
    >>> from protolearn.dissimilarities import symmetrized
    >>> symmetrized([[0.5, 1], [3, 0.1]])
    array([[0., 2.],
           [2., 0.]])
    """
    matrix = _square(D)
    mean = matrix + matrix.T
    mean *= 0.5
    np.fill_diagonal(mean, 0.0)
    return mean


def gram_matrix(D: ArrayLike, squared: bool = False) -> Floats:
    """Return the Gram matrix ``-1/2 J S J``, the inner products of the centered objects.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries are squared distances, which may be negative.

    Returns
    -------
    ndarray of shape (n, n)
        The Gram matrix. Its rows sum to zero, so one eigenvalue is always zero.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, eq. 4.1.

    Examples
    --------
    Three points on a line, at -1, 0 and 1:

    >>> from protolearn.dissimilarities import gram_matrix
    >>> gram_matrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).round(12) + 0.0
    array([[ 1.,  0., -1.],
           [ 0.,  0.,  0.],
           [-1.,  0.,  1.]])
    """
    return _centered(-0.5 * _squares(D, squared))


def spectrum(D: ArrayLike, squared: bool = False, normalize: bool = False) -> Floats:
    """Return the eigenvalues of the Gram matrix, largest first.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries are squared distances, which may be negative.
    normalize : bool, default=False
        Whether to divide the eigenvalues by the mean absolute value of the entries of D, which makes data sets
        comparable.

    Returns
    -------
    ndarray of shape (n,)
        Eigenvalues. Negative eigenvalues measure the deviation of the dissimilarities from Euclidean distances.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 4.6.

    Examples
    --------
    Three points on a line:

    >>> from protolearn.dissimilarities import spectrum
    >>> spectrum([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).round(12) + 0.0
    array([2., 0., 0.])
    """
    eigenvalues = eigvalsh(gram_matrix(D, squared), overwrite_a=True, check_finite=False)[::-1]
    average = np.abs(D).mean() if normalize else 1.0
    return eigenvalues / (average or 1.0)


@constrained(tol=number(0) | none)
def signature(D: ArrayLike, squared: bool = False, tol: float | None = None) -> Signature:
    """Count the positive, negative and zero eigenvalues of the Gram matrix.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries are squared distances, which may be negative.
    tol : float, optional
        Eigenvalues up to this absolute value count as zero; by default, n times the rounding error of the largest
        eigenvalue.

    Returns
    -------
    Signature
        Named tuple ``(positive, negative, zero)``: the dimensions of the pseudo-Euclidean space of the objects. The
        dissimilarities are Euclidean if ``negative`` is 0; ``zero`` is at least 1, because the objects are centered.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, eq. 4.2.

    Examples
    --------
    The path from 0 to 2 via 1 is shorter than the distance from 0 to 2, which is impossible in a Euclidean space:

    >>> from protolearn.dissimilarities import signature
    >>> signature([[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    Signature(positive=1, negative=1, zero=1)
    """
    eigenvalues = spectrum(D, squared)
    least = _least_size(eigenvalues, tol)
    positive, negative = int((eigenvalues > least).sum()), int((eigenvalues < -least).sum())
    return Signature(positive, negative, len(eigenvalues) - positive - negative)


@constrained(tol=number(0) | none)
def pseudo_euclidean(D: ArrayLike, squared: bool = False, tol: float | None = None) -> tuple[Floats, Floats]:
    """Return pseudo-Euclidean coordinates that reproduce the dissimilarities, and the sign of each coordinate.

    The squared dissimilarity of two objects is ``sum_a signs_a (x_ia - x_ja)^2``. The first columns alone are the
    result of classical scaling.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries are squared distances, which may be negative.
    tol : float, optional
        Directions whose eigenvalue has at most this absolute value are left out; by default, n times the rounding error
        of the largest eigenvalue.

    Returns
    -------
    X : ndarray of shape (n, p + q)
        Coordinates: p positive directions, then q negative directions, each in order of decreasing absolute eigenvalue.
    signs : ndarray of shape (p + q,)
        1 for positive and -1 for negative directions.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.dissimilarities import pseudo_euclidean
    >>> D = np.array([[0, 1, 4], [1, 0, 1], [4, 1, 0]])
    >>> X, signs = pseudo_euclidean(D)
    >>> signs
    array([ 1., -1.])
    >>> np.allclose((X[:, None] - X) ** 2 @ signs, D**2)
    True
    """
    eigenvalues, vectors = _eigen(D, squared)
    least = _least_size(eigenvalues, tol)
    order = np.concatenate([np.flatnonzero(eigenvalues > least)[::-1], np.flatnonzero(eigenvalues < -least)])
    return vectors[:, order] * np.sqrt(np.abs(eigenvalues[order])), np.sign(eigenvalues[order])


def spread_value(D: ArrayLike, squared: bool = False) -> float:
    r"""Return the smallest constant that makes dissimilarities Euclidean when added to all pairs of different objects.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries, which may then be negative, and the constant are squared distances.

    Returns
    -------
    float
        Constant for `spread_transform`; 0 if the dissimilarities are already Euclidean.

    Notes
    -----
    For squared distances, the constant follows from the largest eigenvalue of ``J D J``. For distances, the Gram matrix
    after adding g,

    .. math:: G(g) = -\tfrac{1}{2} J S J - g\, J D J + \tfrac{g^2}{2} J,

    has no negative eigenvalue if g is at least a certain value [1]_. This value is found from below by alternating
    between x, the eigenvector of the smallest eigenvalue of G(g), and g, the larger root of ``x' G(g) x``. About six
    iterations suffice.

    References
    ----------
    .. [1] Cailliez, F. (1983). The analytical solution of the additive constant problem. Psychometrika 48, 305-308.
    .. [2] Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, section 4.1.

    Examples
    --------
    The path from 0 to 2 via 1 is shorter by 2 than the distance from 0 to 2. If 2 is added to all distances, both are
    equal:

    >>> from protolearn.dissimilarities import spread_value
    >>> round(spread_value([[0, 1, 4], [1, 0, 1], [4, 1, 0]]), 9)
    2.0
    """
    D = check_dissimilarities(D, squared=squared).astype(np.float64, copy=False)
    S = D if squared else D * D
    if _is_euclidean(S):
        return 0.0
    x = _top_direction(S)
    if squared:
        return float(x @ D @ x)
    value, root = 0.0, _root(D, S, x)
    while root > (1.0 + 1e-12) * value:
        value = root
        x = _top_direction(0.5 * S + value * D, x)
        root = _root(D, S, x)
    return value


@constrained(value=number())
def spread_transform(D: ArrayLike, value: float) -> Floats:
    """Add a constant to the dissimilarities of all pairs of different objects.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities, or squared dissimilarities.
    value : float
        Constant to add, for example the result of `spread_value`.

    Returns
    -------
    ndarray of shape (n, n)
        ``D + value * (11' - I)``.

    Notes
    -----
    The cost of a clustering (`protolearn.metrics.intra_cluster_cost`) increases by ``value`` times the difference
    between the number of objects and the number of clusters. The optimal clustering does not change, but is harder to
    find.

    Examples
    --------
    >>> from protolearn.dissimilarities import spread_transform
    >>> spread_transform([[0, 1], [1, 0]], 0.5)
    array([[0. , 1.5],
           [1.5, 0. ]])
    """
    lifted = check_dissimilarities(D, squared=True) + np.float64(value)
    np.fill_diagonal(lifted, 0.0)
    return lifted


def clip_spectrum(D: ArrayLike, squared: bool = False) -> Floats:
    """Make dissimilarities Euclidean by setting negative eigenvalues of the Gram matrix to zero.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries are squared distances; squared distances are then returned.

    Returns
    -------
    ndarray of shape (n, n)
        Euclidean dissimilarities, or squared dissimilarities; none is smaller than before.

    Examples
    --------
    >>> from protolearn.dissimilarities import clip_spectrum
    >>> clip_spectrum([[0, 1, 4], [1, 0, 1], [4, 1, 0]]).round(9)
    array([[0., 2., 4.],
           [2., 0., 2.],
           [4., 2., 0.]])
    """
    return _with_eigenvalues(D, squared, _positive_part)


def flip_spectrum(D: ArrayLike, squared: bool = False) -> Floats:
    """Make dissimilarities Euclidean by making negative eigenvalues of the Gram matrix positive.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities.
    squared : bool, default=False
        Whether the entries are squared distances; squared distances are then returned.

    Returns
    -------
    ndarray of shape (n, n)
        Euclidean dissimilarities, or squared dissimilarities; none is smaller than before.

    Examples
    --------
    >>> from protolearn.dissimilarities import flip_spectrum
    >>> flip_spectrum([[0, 1, 16], [1, 0, 1], [16, 1, 0]], squared=True).round(9)
    array([[ 0.,  7., 16.],
           [ 7.,  0.,  7.],
           [16.,  7.,  0.]])
    """
    return _with_eigenvalues(D, squared, np.abs)


def _square(D: ArrayLike) -> Array:
    checked_with_scale = check_array(D, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name="D")
    matrix: Array = np.asarray(checked_with_scale)  # a memory map, too, becomes a plain array
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"Dissimilarities of shape {matrix.shape} are not square; pass those of all pairs of training "
            "objects. For new objects call predict."
        )
    return matrix


def _extremes(matrix: Array) -> Array:
    """Return the largest ``|d_ij - d_ji|``, not finite if an entry is not, and the lowest and highest entry."""
    if len(matrix) < SMALL:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.array([np.abs(matrix - matrix.T).max(), matrix.min(), matrix.max()])
    from protolearn.dissimilarities._kernels import survey

    with chunk_threads() as n_threads:
        found = np.tile(np.array([0.0, np.inf, -np.inf], matrix.dtype), (n_threads, 1))
        list(Threads(n_threads).map(lambda i: survey(matrix, i, n_threads, found[i]), range(n_threads)))
    return np.array([found[:, 0].max(), found[:, 1].min(), found[:, 2].max()])


def _worst(matrix: Array, badness: Callable[[Array, Array], Array]) -> tuple[int, int]:
    """Return the place of the worst entry, by a function of the entries of a row and those opposite to them."""
    rows = [badness(matrix[i], matrix[:, i]).max() for i in range(len(matrix))]
    i = int(np.argmax(rows))
    return i, int(badness(matrix[i], matrix[:, i]).argmax())


def _is_not_finite(row: Array, column: Array) -> Array:
    return ~np.isfinite(row)


def _depth(row: Array, column: Array) -> Array:
    return -row


def _asymmetry(row: Array, column: Array) -> Array:
    return np.abs(row - column)


def _is_like_a_kernel(matrix: Array, tolerance: float) -> bool:
    """Tell whether no ``k_ii + k_jj - 2 k_ij`` is negative; of a kernel matrix these are squared distances."""
    diagonal = matrix.diagonal()
    return all((2.0 * row <= own + diagonal + tolerance).all() for row, own in zip(matrix, diagonal))


def _squares(D: ArrayLike, squared: bool) -> Floats:
    matrix = check_dissimilarities(D, squared=squared).astype(np.float64, copy=False)
    return matrix if squared else matrix * matrix


def _centered(matrix: Floats) -> Floats:
    """Return ``J M J`` of a symmetric matrix."""
    means = matrix.mean(axis=0)
    return matrix - np.add.outer(means, means - means.mean())


def _eigen(D: ArrayLike, squared: bool) -> tuple[Floats, Floats]:
    eigenvalues, vectors = eigh(gram_matrix(D, squared), overwrite_a=True, check_finite=False)
    return eigenvalues, vectors


def _least_size(eigenvalues: Floats, tol: float | None) -> float:
    if tol is not None:
        return tol
    return len(eigenvalues) * np.finfo(np.float64).eps * float(np.abs(eigenvalues).max())


def _is_euclidean(S: Floats) -> bool:
    """Tell whether the Gram matrix of squares has no negative eigenvalue, up to rounding."""
    gram = _centered(-0.5 * S)
    gram[np.diag_indices(len(gram))] += len(S) * np.finfo(np.float64).eps * np.abs(S).max()
    try:
        cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return not S.any()
    return True


def _top_direction(M: Floats, start: Floats | None = None) -> Floats:
    """Return the centered unit vector x of largest ``x' M x``, which must be positive."""
    n = len(M)
    if n <= DENSE:
        return _top_eigenvector(M)
    operator = LinearOperator((n, n), lambda v: _deviation(M @ _deviation(v)), dtype=np.float64)
    start = _deviation(np.random.RandomState(0).standard_normal(n)) if start is None else start
    try:  # to give up after n / 7 products, which cost about as much as a factorization
        with chunk_threads():  # a second thread does not make products with a vector faster
            _, vectors = eigsh(operator, 1, which="LA", v0=start, tol=1e-8, ncv=40, maxiter=max(n // 200, 5))
    except ArpackNoConvergence:
        return _top_eigenvector(M)
    return vectors[:, 0]


def _top_eigenvector(M: Floats) -> Floats:
    n = len(M)
    _, vectors = eigh(_centered(M), subset_by_index=[n - 1, n - 1], overwrite_a=True, check_finite=False)
    return vectors[:, 0]


def _deviation(v: Floats) -> Floats:
    return v.ravel() - v.mean()


def _root(D: Floats, S: Floats, x: Floats) -> float:
    """Return the larger root g of ``x' G(g) x = g^2/2 - g x'Dx - x'Sx/2`` for a centered unit vector x."""
    half = x @ D @ x
    return float(half + np.sqrt(np.maximum(half * half + x @ S @ x, 0.0)))


def _positive_part(eigenvalues: Floats) -> Floats:
    return np.maximum(eigenvalues, 0.0)


def _with_eigenvalues(D: ArrayLike, squared: bool, change: Callable[[Floats], Floats]) -> Floats:
    """Return the dissimilarities that belong to changed eigenvalues, none of them negative, of the Gram matrix."""
    eigenvalues, vectors = _eigen(D, squared)
    X = vectors * np.sqrt(change(eigenvalues))
    gram = X @ X.T
    lengths = gram.diagonal()
    squares = np.maximum(np.add.outer(lengths, lengths) - 2.0 * gram, 0.0)
    np.fill_diagonal(squares, 0.0)
    return squares if squared else np.sqrt(squares)
