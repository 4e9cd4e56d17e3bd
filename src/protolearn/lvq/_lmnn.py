"""Large margin nearest neighbors: a metric in which the neighbors of a sample share its class."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.optimize import OptimizeResult, minimize
from sklearn.utils import check_random_state

from protolearn.core.estimator import keep, nothing_lost, warn_unconverged
from protolearn.core.neighbors import first_nearest
from protolearn.core.parameters import array, fraction, integer, number, option
from protolearn.core.progress import Progress
from protolearn.core.threads import chunk_threads, cut
from protolearn.core.types import Array, Floats, Indices
from protolearn.core.validation import given_array, require_memory
from protolearn.lvq._lfda import LinearMetric
from protolearn.lvq._start import discriminative_directions
from protolearn.lvq.relevance import canonical_matrix
from protolearn.lvq.samples import Labeled

__all__ = ["LMNN", "LargeMarginCost", "NearPairs", "target_neighbors"]

Codes = Indices
Watch = Callable[[Floats, float], None]

TILE = (512, 1024)  # rows and columns of a tile of inner products: 4 MB
LIFETIME = 5.0  # how many steps a list of near pairs is made for
KEPT_PAIRS = 10_000_000  # longest list of near pairs: 120 MB
CROWDED = 0.125  # share of near pairs in a tile from which all are treated alike, by products of matrices
SMOOTHINGS = (0.1, 0.01)  # widths of the rounded kink of the hinge, in units of the margin, one after the other
LBFGS_VECTORS = 30  # as large as the matrix that the optimizer holds
PATIENCE = 10  # iterations over which the progress of projected gradients is judged


class LMNN(LinearMetric):
    r"""Large margin nearest neighbors: a metric in which the nearest neighbors of a sample share its class.

    Each sample i has ``n_neighbors`` target neighbors :math:`j \rightsquigarrow i`, the nearest samples of its class in
    the Euclidean metric (ties go to the sample with the lower index). With :math:`d(x, x') = \|\Upsilon (x - x')\|^2`
    and b = ``push`` the cost

    .. math:: E = (1 - b) \sum_{i, j \rightsquigarrow i} d(x_i, x_j) + b \sum_{i, j \rightsquigarrow i}
              \sum_{l: y_l \ne y_i} [1 + d(x_i, x_j) - d(x_i, x_l)]_+

    pulls target neighbors closer and pushes samples of other classes beyond them by a margin of one. Features should be
    of comparable scale. The cost and its gradient are exact. Pairs of samples that are too far apart to contribute are
    skipped, based on a bound on how far the samples have moved since the pair was last examined, so most steps do not
    visit all pairs.

    Parameters
    ----------
    n_components : int, optional
        Number M of rows of :math:`\Upsilon`, the output dimension of `transform`. By default the number of features or,
        with ``method="low_rank"`` and an array as ``init``, the number of its rows. If there are more features than
        samples, M is limited to the dimension of the space that the samples span, and directions outside this space are
        ignored.
    n_neighbors : int, default=3
        Number of target neighbors of each sample; less than the size of the smallest class.
    push : float, default=0.5
        Weight b of the push term in the cost, above 0 and at most 1.
    method : {"low_rank", "psd"}, default="low_rank"
        ``"low_rank"`` minimizes over :math:`\Upsilon` by L-BFGS, which is fast and yields the requested rank. If M is
        below the number of features, the cost has local minima, and the result depends on ``init``. ``"psd"`` minimizes
        over all positive semidefinite :math:`\Gamma = \Upsilon^\top \Upsilon`, a convex problem whose minimum does not
        depend on ``init``. It uses spectral projected gradients on slightly smoothed hinge functions and keeps the M
        leading eigenvectors of the result.
    init : {"pca", "lda", "identity", "random"} or array of shape (M, n_features), default="pca"
        Initial matrix: principal directions, directions of linear discriminant analysis, the first M features, or
        entries drawn uniformly from [-1, 1]. These are scaled such that the mean distance of target neighbors is one.
        An array is used as given.
    max_iter : int, default=100
        Maximum number of iterations; ``"psd"`` may need several hundred. If the limit is reached, a
        ``ConvergenceWarning`` is issued.
    tol : float, default=1e-5
        Relative tolerance: training stops when the cost decreases by less than this fraction, in one iteration of
        L-BFGS or in ten iterations of projected gradients.
    random_state : int, RandomState instance or None, default=None
        Determines the random initialization.
    verbose : int, default=0
        0 is silent, 1 shows a progress bar (or lines of text if there is no terminal), and 2 prints a line for every
        iteration.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The matrix :math:`\Upsilon` in canonical form: orthogonal rows in descending order of length, the largest entry
        of each row positive.
    gamma_ : ndarray of shape (n_features, n_features)
        The matrix :math:`\Gamma` of the metric, ``components_.T @ components_``.
    metric_ : LearnedMetric
        The learned metric, for estimators that accept a metric.
    cost_history_ : list of float
        Cost after every iteration. With ``"psd"`` the cost may increase temporarily; the best matrix is kept.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if ``X`` had names.

    See Also
    --------
    LFDA : Discriminative projection in closed form.
    GMLVQ : Learns a metric together with prototypes, in time linear in the number of samples.

    References
    ----------
    Weinberger and Saul (2009). Distance metric learning for large margin nearest neighbor classification. Journal of
    Machine Learning Research 10, 207-244.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, sections 2.5 and 4.2.3.

    Birgin, Martínez and Raydan (2000). Nonmonotone spectral projected gradient methods on convex sets. SIAM Journal on
    Optimization 10, 1196-1211.

    Examples
    --------
    Only the first of two features separates the classes; the second has a larger variance.

    >>> import numpy as np
    >>> from protolearn import LMNN
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = np.column_stack([y + rng.normal(0, 0.1, 100), rng.normal(0, 2, 100)])
    >>> weights = np.diag(LMNN().fit(X, y).gamma_)
    >>> bool(weights[0] > 100 * weights[1])
    True
    """

    _constraints = {
        "push": fraction,
        "method": option("low_rank", "psd"),
        "init": option("pca", "lda", "identity", "random") | array("an array"),
        "max_iter": integer(1),
        "tol": number(0),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 3,
        push: float = 0.5,
        method: str = "low_rank",
        init: str | ArrayLike = "pca",
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.push = push
        self.method = method
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @property
    def gamma_(self) -> Floats:
        """Matrix of the metric."""
        N = self.components_.shape[1]
        require_memory(f"gamma_ of {N} features", 2 * 8 * N**2, "use components_, its factor")
        return self.components_.T @ self.components_

    @nothing_lost
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric.

        If training is interrupted (Ctrl-C), the current state is kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._check_parameters()
        samples, scale, codes, classes = self._read(X, y)
        self._check_class_sizes(codes, classes)
        self.cost_history_: list[float] = []
        interrupted = False
        with chunk_threads(1):
            samples, axes = self._within(samples)
            N = samples.shape[1]
            require_memory(
                f"LMNN with {self.n_components or N} components of {N} features",
                LBFGS_VECTORS * 8 * (N if self.method == "psd" else self.n_components or N) * N,
                "use a small n_components with method='low_rank', or fewer features, such as principal components",
            )
            cost = LargeMarginCost(samples, codes, self.n_neighbors, self.push)
            upsilon = self._start(cost, scale, axes)

            def watch(reached: Floats, value: float) -> None:
                nonlocal upsilon
                upsilon = reached
                self.cost_history_.append(value)
                progress.step(len(self.cost_history_), cost=value)

            progress = Progress("LMNN", self.max_iter, self.verbose)
            solve = minimize_over_matrices if self.method == "psd" else minimize_over_factors
            try:
                with progress:
                    upsilon, converged = solve(cost, upsilon, self.max_iter, self.tol, watch)
            except KeyboardInterrupt:
                if not self.cost_history_:
                    raise
                converged = interrupted = True
        if not converged:
            warn_unconverged(self, self.max_iter)
        upsilon = upsilon if axes is None else upsilon @ axes.T
        self.components_ = canonical_matrix(upsilon / scale, self.n_components)
        self.n_iter_ = len(self.cost_history_)
        if interrupted:
            keep(self)
            raise KeyboardInterrupt
        return self

    def _check_class_sizes(self, codes: Codes, classes: Array) -> None:
        sizes = np.bincount(codes)
        smallest = sizes.argmin()
        if sizes[smallest] <= self.n_neighbors:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} needs at least {self.n_neighbors + 1} samples per class, but class "
                f"{classes.tolist()[smallest]!r} has {sizes[smallest]} in X (n_samples={len(codes)}, n_features="
                f"{self.n_features_in_}); lower n_neighbors, or remove classes with too few samples."
            )

    def _start(self, cost: LargeMarginCost, scale: float, axes: Floats | None) -> Floats:
        """Return the first matrix, in the cost's coordinates; a rule gives one of full rank to the convex method."""
        N = cost.X.shape[1]
        if not isinstance(self.init, str):
            given = given_array("init", self.init)
            if given.shape != (self.n_components or len(given), self.n_features_in_):
                rows, N = self.n_components or "any number of", self.n_features_in_
                raise ValueError(f"init has shape {given.shape}; expected {rows} rows and n_features={N} columns.")
            return given * scale if axes is None else given @ axes * scale
        M = N if self.method == "psd" else min(self.n_components or N, N)
        if self.init == "pca":
            upsilon = eigh(cost.X.T @ cost.X, subset_by_index=[N - M, N - 1])[1].T
        elif self.init == "lda":
            samples = Labeled(cost.X, cost.codes, np.ones(len(cost.X)))
            upsilon = discriminative_directions(samples, int(cost.codes.max()) + 1, M)
        elif self.init == "identity":
            upsilon = np.eye(M, N) if axes is None or M == N else axes[:M]
        else:
            upsilon = check_random_state(self.random_state).uniform(-1.0, 1.0, (M, N))
        return upsilon / np.sqrt(cost.target_distances(cost.X @ upsilon.T).mean() or 1.0)


class LargeMarginCost:
    """The cost of LMNN for one data set, and its derivatives.

    The gradient by Gamma is ``G = X^T L X``, where L is the Laplacian of a graph: edges join each sample to its targets
    and, with negative weight, to samples of other classes within the margin. Their weights count the active triples.

    Parameters
    ----------
    X : ndarray of shape (n, N)
        Samples, around the origin. They are kept in the order of their classes.
    codes : ndarray of shape (n,)
        Class codes 0, 1, ...
    n_neighbors : int
        Number of target neighbors.
    push : float
        Weight of the push.
    """

    def __init__(self, X: Floats, codes: Codes, n_neighbors: int, push: float) -> None:
        order = np.argsort(codes, kind="stable")
        self.X = np.ascontiguousarray(X[order])
        self.codes = codes[order]
        self.push = push
        self.targets = target_neighbors(self.X, self.codes, n_neighbors)
        self.near_pairs = NearPairs(self.X, self.codes)

    def by_factor(self, upsilon: Floats) -> tuple[float, Floats]:
        """Return the cost and its gradient by Upsilon (M, N)."""
        Z = self.X @ upsilon.T
        cost, _, product = self._evaluate(Z, Z, 0.0)
        return cost, 2.0 * product.T @ self.X

    def by_matrix(self, root: Floats, smoothing: float = 0.0) -> tuple[float, float, Floats]:
        """Return the cost, the cost with rounded hinges, and the gradient of that by Gamma, given a root of Gamma.

        The root (N, N) should be the symmetric one: it changes little when Gamma does, so that lists of pairs last.
        """
        exact, smoothed, product = self._evaluate(self.X @ root, self.X, smoothing)
        return exact, smoothed, self.X.T @ product

    def target_distances(self, Z: Floats) -> Floats:
        """Return the squared distances (n, k) of mapped samples to their targets."""
        from protolearn.lvq._lmnn_kernels import target_distances

        distances = np.empty(self.targets.shape)
        target_distances(Z, self.targets, distances)
        return distances

    def _evaluate(self, Z: Floats, V: Floats, smoothing: float) -> tuple[float, float, Floats]:
        """Return the cost of mapped samples Z, exact and with rounded hinges, and the product ``L V``."""
        from protolearn.lvq._lmnn_kernels import pull, push, push_tile

        b = self.push
        distances = self.target_distances(Z)
        margins = np.ascontiguousarray(1.0 + distances.T)
        radii = np.sqrt(margins.max(axis=0))
        active, product = np.zeros_like(margins), np.zeros_like(V)
        exact = smoothed = 0.0
        for near in self.near_pairs(Z, radii):
            if isinstance(near, Tile):
                rows, columns, weights, of_rows, of_columns = near
                parts = margins[:, rows], margins[:, columns], smoothing, active[:, rows], active[:, columns]
                sums = push_tile(weights, of_rows, of_columns, *parts)
                product[rows] -= b * (weights.sum(axis=1)[:, None] * V[rows] - weights @ V[columns])
                product[columns] -= b * (weights.sum(axis=0)[:, None] * V[columns] - weights.T @ V[rows])
            else:
                sums = push(*near, Z, V, margins, radii, smoothing, b, active, product)
            exact, smoothed = exact + sums[0], smoothed + sums[1]
        pull(self.targets, (1.0 - b) + b * active.T, V, product)  # Bunte 2011, section 2.5
        pulled = (1.0 - b) * distances.sum()
        return float(pulled + b * exact), float(pulled + b * smoothed), product


class Listed(NamedTuple):
    """Pairs of rows (m, 2), lower bounds (m,) of their distances, and how these changed: a scale, and moves (n,)."""

    pairs: NDArray[np.int32]
    gaps: NDArray[np.float32]
    scale: float
    moved: Floats


class Tile(NamedTuple):
    """All pairs of some rows with some columns: inner products around a common origin, and squared lengths."""

    rows: slice
    columns: slice
    products: Floats
    of_rows: Floats
    of_columns: Floats


class NearPairs:
    """Find the pairs of samples of different classes that are nearer than given radii, while the samples move.

    Pairs are listed with an allowance for the movement of each sample, and the list serves until a sample has used up
    its own: till then, pairs that are not in it are still too far apart. Allowances are in proportion to the distance
    from the origin, because samples move by a change of a linear map. A change of scale is no movement.

    Parameters
    ----------
    X : ndarray of shape (n, N)
        Samples around the origin, in the order of their classes.
    codes : ndarray of shape (n,)
        Class codes 0, 1, ...
    """

    def __init__(self, X: Floats, codes: Codes) -> None:
        bounds = np.concatenate([[0], np.cumsum(np.bincount(codes))])
        self.places = [
            (rows, columns)
            for first, last in pairwise(bounds[:-1])
            for rows in cut(last, TILE[0], first)
            for columns in cut(len(X), TILE[1], last)
        ]
        norms = np.sqrt(np.einsum("ij,ij->i", X, X))
        self.mobility = np.maximum(norms, 1e-3 * norms.max()) if norms.any() else np.ones(len(X))
        self.listed = np.empty((0, 2), np.int32), np.empty(0, np.float32)
        self.unlisted: list[tuple[slice, slice]] = []
        self.seen: tuple[Floats, Floats] | None = None
        self.slack = 0.0
        self.age = 1
        most = max(((i.stop - i.start) * (j.stop - j.start) for i, j in self.places), default=0)
        self.found = np.empty((most, 2), np.int32), np.empty(most, np.float32)

    def __call__(self, Z: Floats, radii: Floats) -> Iterator[Listed | Tile]:
        """Yield all pairs that are nearer than the radius of either, and perhaps others."""
        scale, moved, drift = self._movement(Z, radii)
        if drift <= self.slack:
            self.age += 1
            yield Listed(*self.listed, scale, moved)
            for tile in self._tiles(Z, self.unlisted):
                near, _ = self._search(tile, radii, 0.0)
                yield near if self._is_short(tile, near) else tile
            return
        self.slack = LIFETIME * drift / self.age if np.isfinite(drift) else 0.0
        self.seen, self.age, self.unlisted = (Z, radii), 1, []
        kept = [self.listed[0][:0]], [self.listed[1][:0]]
        n_kept = 0
        for tile in self._tiles(Z, self.places):
            near, almost = self._search(tile, radii, self.slack)
            n_new = len(near.pairs) + len(almost.pairs)
            if n_new <= CROWDED * tile.products.size and n_kept + n_new <= KEPT_PAIRS:
                n_kept += n_new
                for part in near, almost:
                    kept[0].append(part.pairs.copy())
                    kept[1].append(part.gaps.copy())
            else:
                self.unlisted.append((tile.rows, tile.columns))
            yield near if self._is_short(tile, near) else tile
        self.listed = np.concatenate(kept[0]), np.concatenate(kept[1])

    def _movement(self, Z: Floats, radii: Floats) -> tuple[float, Floats, float]:
        """Return a change of scale, how far each sample has moved besides, and the most relative to its mobility.

        What a radius has grown counts as movement in the last of these.
        """
        if self.seen is None or self.seen[0].shape != Z.shape:
            return 1.0, np.zeros(len(Z)), np.inf
        before, radii_before = self.seen
        scale = float(np.vdot(Z, before) / (np.vdot(before, before) or 1.0))
        moves = Z - scale * before
        moved = np.sqrt(np.einsum("ij,ij->i", moves, moves))
        used = moved + np.maximum(radii - scale * radii_before, 0.0)
        return scale, moved, float((used / self.mobility).max()) / scale if scale > 0.0 else np.inf

    def _tiles(self, Z: Floats, places: list[tuple[slice, slice]]) -> Iterator[Tile]:
        """Yield the inner products of all pairs in some tiles, around the mean of the rows of each."""
        for rows, columns in places:
            A = Z[rows]
            center = A.mean(axis=0)
            A, B = A - center, Z[columns] - center
            yield Tile(rows, columns, A @ B.T, np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B))

    def _search(self, tile: Tile, radii: Floats, slack: float) -> tuple[Listed, Listed]:
        """Return the pairs of a tile that are near, and those that are almost so."""
        from protolearn.lvq._lmnn_kernels import near_pairs

        of_rows, of_columns = ((1.0 - 1e-12) * part for part in tile[3:])  # rounding must not lose a pair
        places = tile.rows.start, tile.columns.start
        near, almost = near_pairs(
            tile.products, of_rows, of_columns, radii, slack * self.mobility, *places, *self.found
        )
        still = np.zeros(len(radii))
        ends = slice(near), slice(len(self.found[0]) - almost, None)
        first, second = (Listed(self.found[0][end], self.found[1][end], 1.0, still) for end in ends)
        return first, second

    @staticmethod
    def _is_short(tile: Tile, near: Listed) -> bool:
        return len(near.pairs) <= CROWDED * tile.products.size


def target_neighbors(X: Floats, codes: Codes, n_neighbors: int) -> Codes:
    """Return the nearest samples of the same class, as row numbers (n, k); no sample is its own neighbor.

    Of those that are equally far, up to rounding, the first ones are taken.
    """
    targets = np.empty((len(X), n_neighbors), np.int64)
    for members in (np.flatnonzero(codes == code) for code in range(codes.max() + 1)):
        targets[members] = members[first_nearest(X[members], n_neighbors)[1]]
    return targets


def minimize_over_factors(
    cost: LargeMarginCost, start: Floats, max_iter: int, tol: float, watch: Watch
) -> tuple[Floats, bool]:
    """Minimize over Upsilon (M, N) by L-BFGS; return it, and whether the cost settled."""

    def flat(upsilon: Floats) -> tuple[float, Floats]:
        value, gradient = cost.by_factor(upsilon.reshape(start.shape))
        return value, gradient.ravel()

    def callback(intermediate_result: OptimizeResult) -> None:
        watch(intermediate_result.x.reshape(start.shape).copy(), float(intermediate_result.fun))

    options = {"maxiter": max_iter, "ftol": tol, "gtol": 0.0}
    result = minimize(flat, start.ravel(), jac=True, method="L-BFGS-B", callback=callback, options=options)
    return result.x.reshape(start.shape), result.status != 1


def minimize_over_matrices(
    cost: LargeMarginCost, start: Floats, max_iter: int, tol: float, watch: Watch
) -> tuple[Floats, bool]:
    """Minimize over positive semidefinite Gamma; return its symmetric root, and whether the cost settled."""
    gamma, best = clip_eigenvalues(start.T @ start)
    lowest, n_iter = np.inf, 0
    for smoothing, limit in zip(SMOOTHINGS, (max_iter // 2, max_iter)):
        for state in islice(projected_gradients(cost, gamma, smoothing, tol), limit - n_iter):
            value, gamma, root = state
            n_iter += 1
            if value < lowest:
                lowest, best = value, root
            watch(best, value)
    return best, n_iter < max_iter


def projected_gradients(
    cost: LargeMarginCost, gamma: Floats, smoothing: float, tol: float
) -> Iterator[tuple[float, Floats, Floats]]:
    """Yield exact cost, Gamma and its root after every step, until the smoothed cost settles.

    Steps have the length of Barzilai and Borwein, shortened where the cost is not below the highest of the last few.
    """
    gamma, root = clip_eigenvalues(gamma)
    _, value, gradient = cost.by_matrix(root, smoothing)
    recent = deque([value], PATIENCE)
    step = 0.1 * np.linalg.norm(gamma) / (np.linalg.norm(gradient) or 1.0)
    while len(recent) < PATIENCE or max(recent) - min(recent) > tol * value:
        for _ in range(40):
            trial, root = clip_eigenvalues(gamma - step * gradient)
            exact, value, slope = cost.by_matrix(root, smoothing)
            moved = trial - gamma
            length = (moved**2).sum()
            if value <= max(recent) - 1e-4 * length / step:
                break
            step /= 4.0
        else:
            return
        curvature = (moved * (slope - gradient)).sum()
        step = length / curvature if curvature > 0.0 else 2.0 * step
        gamma, gradient = trial, slope
        recent.append(value)
        yield exact, gamma, root


def clip_eigenvalues(gamma: Floats) -> tuple[Floats, Floats]:
    """Return the nearest positive semidefinite matrix, and its symmetric root."""
    values, vectors = np.linalg.eigh(gamma)
    values = np.maximum(values, 0.0)
    return (vectors * values) @ vectors.T, (vectors * np.sqrt(values)) @ vectors.T
