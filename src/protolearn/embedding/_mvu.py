"""Maximum variance unfolding: samples are pulled apart while neighbours keep their distances."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from protolearn.core.threads import Threads, chunk_threads
from protolearn.core.validation import check_number, check_option, undone_on_error
from protolearn.embedding._base import Embedding
from protolearn.embedding._start import _with_signs

__all__ = ["MVU"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

FEW = 100  # samples up to which the convex problem is solved first
MOST_RELAXED = 500  # samples up to which it can be
MOST_DENSE = 2000  # samples up to which eigenvectors of a dense matrix are faster
WAVES = 200  # slowest vibrations of the graph that are brought to the same speed
ROUND = 50  # steps between two updates of the tensions
NOISE = 1e-2  # of the first positions, in mean lengths of edges


class MVU(Embedding):
    """Maximum variance unfolding: the widest view in which neighbours are as far from each other as in the data.

    Samples are the joints of a framework whose rods join neighbours, and are pulled apart as far as the rods allow,
    so that a curved sheet is laid flat. With the matrix K of inner products of the positions and the distances d in
    the data this maximises

        ``tr(K)`` subject to ``K >= 0``, ``K 1 = 0``, ``K_ii + K_jj - 2 K_ij = d_ij^2`` for all neighbours i, j.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the view.
    n_neighbors : int, default=5
        Neighbours that each sample is joined to. With few the sheet is a loose net, which is stretched; with too many
        rods join layers that only lie close to each other.
    connectivity : sparse or dense array of shape (n_samples, n_samples), optional
        A graph of neighbours of your own, which replaces ``n_neighbors``: all pairs that are not zero, in one direction
        or both, are joined. Their lengths are still taken from ``X``.
    constraint : {"equal", "shrink", "slack"}, default="equal"
        What rods do: ``"equal"`` keeps their lengths to within ``tol``; ``"shrink"`` lets them become shorter, like
        strings; ``"slack"`` lets them give in to the pull, like springs. Dissimilarities that are no distances of points
        in any space cannot all be kept; strings and springs always can.
    stiffness : float, default=100.0
        Of springs: their squared lengths are off by about ``1 / (2 * stiffness)`` of their mean.
    method : {"auto", "low_rank", "sdp"}, default="auto"
        ``"low_rank"`` moves the samples in ``rank`` dimensions, starting from shortest paths along the rods.
        ``"sdp"`` solves the problem for K first, which has no local optima but takes time that grows with the cube of
        the samples, at most 500, and starts from there. ``"auto"`` does so with up to 100 samples.
    rank : int, default=10
        Dimensions that samples are moved in, at least ``n_components``.
    tol : float, default=1e-2
        Largest error of the length of a rod, in units of their root mean squared length.
    max_iter : int, default=5000
        Most steps taken in ``rank`` dimensions.
    metric : str or callable, default="euclidean"
        ``"euclidean"``, ``"precomputed"`` if ``X`` holds the dissimilarities of all pairs, or a name or function that
        `protolearn.dissimilarities.pairwise` knows, for strings, sequences and other objects.
    squared : bool, default=False
        Whether precomputed numbers are squared distances already.
    symmetrize : {"raise", "mean"}, default="raise"
        What to do with dissimilarities that are not symmetric.
    n_jobs : int, optional
        Number of threads that look for neighbours; None means as many as BLAS may use.
    random_state : int, RandomState instance or None, default=None
        A little noise of the first positions, which lets flat data move into all dimensions.
    verbose : int, default=0
        Print the variance and the error of the rods every 50 steps.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions in the view, along the directions of largest variance.
    coordinates_ : ndarray of shape (n_samples, rank)
        Positions in all dimensions that the samples unfold in, of which the view shows the first.
    eigenvalues_ : ndarray of shape (rank,)
        Largest eigenvalues of K; all others are zero. Those that the view does not show should be small.
    edge_error_ : float
        Largest difference between the lengths of a rod in K and in the data, in units of their root mean squared
        length; with ``constraint="shrink"`` only of rods that are too long.
    method_ : str
        ``"low_rank"`` or ``"sdp"``.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    protolearn.dissimilarities.geodesic : Distances along the same rods, for classical scaling (Isomap).
    TSNE : A view of clusters, which need not hang together.

    Notes
    -----
    Many rods between few neighbours allow no freedom at all, and then the optimum under exact equality is ill-posed:
    tensions grow without bounds, and the variance depends on the last digits of the lengths. A ``tol`` above zero makes
    the problem well-posed. Time grows with the digits of ``tol``.

    Tensions are Lagrange multipliers of an augmented Lagrangian, which is minimised by L-BFGS with the slow vibrations
    of the graph sped up. The convex problem is solved by alternating directions in the coordinates of these vibrations.

    Samples at the same place stay there, and count as often as there are.

    References
    ----------
    Weinberger, K., Saul, L. (2006). Unsupervised learning of image manifolds by semidefinite programming. International
    Journal of Computer Vision 70, 77-90.

    Burer, S., Monteiro, R. (2003). A nonlinear programming algorithm for solving semidefinite programs via low-rank
    factorization. Mathematical Programming 95, 329-357.

    Povh, J., Rendl, F., Wiegele, A. (2006). A boundary point method to solve semidefinite programs. Computing 78,
    277-286.

    Examples
    --------
    A spiral is drawn out to a line:

    >>> import numpy as np
    >>> from protolearn import MVU
    >>> angles = np.linspace(0, 3 * np.pi, 60)
    >>> X = angles[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    >>> mvu = MVU(n_components=1, n_neighbors=2, random_state=0).fit(X)
    >>> bool(np.all(np.diff(mvu.embedding_[:, 0]) > 0) or np.all(np.diff(mvu.embedding_[:, 0]) < 0))
    True
    >>> mvu.eigenvalues_[0] > 0.99 * mvu.eigenvalues_.sum(), mvu.edge_error_ < 0.01
    (True, True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 5,
        connectivity: Any = None,
        constraint: str = "equal",
        stiffness: float = 100.0,
        method: str = "auto",
        rank: int = 10,
        tol: float = 1e-2,
        max_iter: int = 5000,
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.connectivity = connectivity
        self.constraint = constraint
        self.stiffness = stiffness
        self.method = method
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> Self:
        """Unfold the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples), or list of objects
            Samples, or their dissimilarities, see ``metric``.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted embedding.
        """
        self._check_parameters()
        with undone_on_error(self), chunk_threads(self.n_jobs) as n_threads:
            data = self._read_samples(X, self.n_jobs)
            rng = check_random_state(self.random_state)
            different, places = _different(data)
            self.method_ = self._chosen_method(len(different))
            joined = self._joined(different, places, Threads(n_threads), rng)
            rods, size = self._rods(different, joined)
            framework = Framework(rods, np.bincount(places).astype(np.float64))
            self._unfold(framework, rng)
            positions = self.coordinates_[places] * (size * data.unit)
            axes, lengths, _ = np.linalg.svd(positions - positions.mean(axis=0), full_matrices=False)
            self.eigenvalues_ = np.square(lengths)
            self.coordinates_ = _with_signs(axes) * lengths
            self.embedding_ = self.coordinates_[:, : self.n_components].copy()
        return self

    # Reading

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, integer=True, low=1)
        check_option("constraint", self.constraint, ("equal", "shrink", "slack"))
        check_number("stiffness", self.stiffness, low=0, open_low=True)
        check_option("method", self.method, ("auto", "low_rank", "sdp"))
        check_number("rank", self.rank, integer=True, low=1)
        check_number("tol", self.tol, low=0, high=1, open_low=True)
        check_number("max_iter", self.max_iter, integer=True, low=1)
        self._check_reading()
