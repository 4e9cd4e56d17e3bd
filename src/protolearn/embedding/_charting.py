"""Alignment of charts by affine maps: charting, and coordination by neighbors or by tangent spaces."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import PCA
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from protolearn.core.estimator import Estimator, nothing_lost
from protolearn.core.neighbors import first_nearest
from protolearn.core.numerics import lower, settled_signs
from protolearn.core.parameters import integer, none, option, part, positive
from protolearn.core.partitions import blockwise
from protolearn.core.progress import Progress
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Floats
from protolearn.core.validation import (
    read_samples,
)
from protolearn.embedding._base import View
from protolearn.embedding.charts import BANDWIDTHS, GATINGS, Charts, charts_of, fitted_model
from protolearn.lvq import LVQClassifier
from protolearn.maps import Ranks

__all__ = [
    "Charting",
    "Glued",
    "WhiteCharts",
    "chart_groups",
    "coordinated",
    "glued",
    "isometric",
    "off_neighbors",
    "off_tangents",
    "whitened",
]

THIN = 1e-2  # deviation along a coordinate, relative to the largest of a chart, below which it is left out


LEAST = 1e-10  # eigenvalue of the whitened features that counts


MOST_DENSE = 1200  # unknowns up to which the eigenproblem is solved whole


NEAR_ONE = 1e-6  # shift of the sparse solver above the largest possible eigenvalue


class Glued(NamedTuple):
    """Weights (k (m + 1), c) of charts, the cost of each of c coordinates, and the positions (n, c) they give."""

    weights: Floats
    eigenvalues: Floats
    positions: Floats


class WhiteCharts(NamedTuple):
    """Features of charts, times their shares, with identity covariance within each chart; the constant is one too.

    ``features = U @ back``, so weights of U are ``back @`` weights of these. ``constant`` are the weights for which all
    positions are ``1 / sqrt(n)``.
    """

    features: Any
    back: Any
    constant: Floats


def glued(z: Floats, shares: Floats, n_components: int) -> Glued:
    """Return the affine maps B of charts that minimize ``sum_i sum_jk r_ij r_ik |B_j z_ij - B_k z_ik|^2``.

    With U the features of charts and D the matrix of their second moments within each chart, this is the generalized
    eigenproblem ``(D - U'U) v = lambda U'U v``. In features that are white within each chart it reads
    ``U'U v = v / (1 + lambda)``: the maps are the largest singular vectors of a sparse matrix, after the constant one.

    Parameters
    ----------
    z : ndarray of shape (n, k, m)
        Coordinates of each sample in each chart.
    shares : ndarray of shape (n, k)
        Shares of the charts; rows sum to one.
    n_components : int
        Number of coordinates to find.

    Returns
    -------
    glued : Glued
        Affine maps, with orthonormal and centered columns of positions.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> charts = np.stack([X, X @ rng.normal(size=(2, 2)) + 1.0], axis=1)  # two views of one plane
    >>> result = glued(charts, np.full((100, 2), 0.5), 2)
    >>> bool((result.eigenvalues < 1e-10).all())
    True
    """
    white = whitened(z, shares)
    # Arnonkijpanich 2010, eq. 5.2; Bunte 2011, eq. 7.6
    values, vectors = _largest(white.features.T @ white.features, white.constant, n_components)
    weights = white.back @ (vectors / np.sqrt(values))
    return Glued(weights, np.maximum(1.0 / values - 1.0, 0.0), white.features @ (vectors / np.sqrt(values)))


def coordinated(z: Floats, shares: Floats, n_components: int, cost: Callable[[Floats], Floats]) -> Glued:
    """Return the affine maps of charts whose positions minimize a given cost, other than that of `glued`.

    Parameters
    ----------
    z, shares, n_components
        Coordinates, shares and number of dimensions, as in `glued`.
    cost : callable
        Function that returns the quadratic form (q, q) of q coordinates, given as the columns (n, q) of positions, such
        as `off_neighbors` or `off_tangents`.

    Returns
    -------
    glued : Glued
        Coordinates and errors as in `glued`; the eigenvalues are the costs of each coordinate.
    """
    white = whitened(z, shares)
    gram = np.asarray((white.features.T @ white.features).todense())
    values, vectors = np.linalg.eigh(gram - 2.0 * np.outer(white.constant, white.constant))
    kept = values > LEAST
    basis = vectors[:, kept] / np.sqrt(values[kept])
    positions = white.features @ basis
    costs, turned = np.linalg.eigh(cost(positions))
    costs, turned = costs[:n_components], turned[:, :n_components]
    return Glued(white.back @ (basis @ turned), np.maximum(costs, 0.0), positions @ turned)


def off_neighbors(reconstruction: Any) -> Callable[[Floats], Floats]:
    """Return the cost of locally linear coordination: the error of reconstructing positions from those of neighbors.

    Parameters
    ----------
    reconstruction : sparse array of shape (n, n)
        Weights that reconstruct each sample from its neighbors.
    """

    def cost(positions: Floats) -> Floats:
        residuals = positions - reconstruction @ positions
        return residuals.T @ residuals

    return cost


def off_tangents(z: Floats, members: Floats) -> Callable[[Floats], Floats]:
    """Return the cost of local tangent space alignment: the deviation of positions from an affine image of each chart.

    This is ``sum_k min_L sum_i m_ik |y_i - L z_ik|^2`` with the best affine map L of each chart. Charts may be the
    neighborhoods of all samples: then this is the method as it was published.

    Parameters
    ----------
    z : ndarray of shape (n, k, m)
        Coordinates of each sample in each chart.
    members : ndarray of shape (n, k)
        Membership of samples in charts, 1 or 0.
    """
    features, counts = whitened(z, members).features, members.sum(axis=1, keepdims=True)

    def cost(positions: Floats) -> Floats:
        fitted = features.T @ positions  # features of a chart are orthonormal
        return positions.T @ (counts * positions) - fitted.T @ fitted

    return cost


def isometric(weights: Floats, shares: Floats, n_coordinates: int) -> tuple[Floats, float]:
    """Return the linear transformation (c, c) that makes charts isometric on average, and the remaining defect.

    Parameters
    ----------
    weights : ndarray of shape (k (m + 1), c)
        Weights of charts, with m = c.
    shares : ndarray of shape (k,)
        Weight of each chart.
    n_coordinates : int
        Number m of coordinates of a chart.
    """
    c = weights.shape[1]
    if not c:
        return np.empty((0, 0)), 0.0
    blocks = weights.reshape(-1, n_coordinates + 1, c)[:, :n_coordinates]
    metrics = np.swapaxes(blocks, 1, 2) @ blocks
    values, turn = np.linalg.eigh(np.average(metrics, axis=0, weights=shares))
    change = turn / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    rest = change.T @ metrics @ change - np.eye(len(change))
    return change, float(np.average((rest**2).sum(axis=(1, 2)), weights=shares))


def chart_groups(shares: Floats, others: Floats, overlap: float) -> Array:
    """Return the component (k,) of each chart, where charts are connected if they overlap.

    Parameters
    ----------
    shares : ndarray of shape (n, k)
        Shares of the charts in each sample.
    others : ndarray of shape (n, k)
        Shares in each sample, or their means over the neighbors of each sample.
    overlap : float
        Minimum fraction of its samples that the smaller of two overlapping charts shares with the larger one.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> chart_groups(shares, shares, overlap=0.01)
    array([0, 0, 1])
    """
    masses = shares.sum(axis=0)
    living = np.flatnonzero(masses)
    common = shares[:, living].T @ others[:, living] / np.minimum(masses[living][:, None], masses[living])
    found = connected_components(sparse.csr_array(common > overlap), directed=False)[1]
    groups = np.zeros(len(masses), np.intp)  # charts without samples go with any
    groups[living] = found
    return groups


def whitened(z: Floats, shares: Floats, thin: float = THIN) -> WhiteCharts:
    """Return features of charts that are white within each chart, without coordinates that hardly vary."""
    n, k, m = z.shape
    columns, back, constant = [], [], []
    for chart in range(k):
        r = shares[:, chart]
        own = np.flatnonzero(r)
        r, mass = r[own], r[own].sum()
        if not len(own):
            columns.append(sparse.csr_array((n, 1)))
            back.append(np.zeros((m + 1, 1)))
            constant.append([0.0])
            continue
        mean = r @ z[own, chart] / mass
        gaps = z[own, chart] - mean
        values, vectors = np.linalg.eigh((r[:, None] * gaps).T @ gaps)
        kept = values > max(thin**2 * values[-1], np.finfo(float).tiny)
        turn = vectors[:, kept] / np.sqrt(values[kept])
        local = r[:, None] * np.column_stack([gaps @ turn, np.full(len(own), mass**-0.5)])
        q = local.shape[1]
        places = np.repeat(own, q), np.tile(np.arange(q), len(own))
        columns.append(sparse.csr_array((local.ravel(), places), shape=(n, q)))
        block = np.zeros((m + 1, q))
        block[:m, : q - 1] = turn
        block[m, : q - 1] = -mean @ turn
        block[m, q - 1] = mass**-0.5
        back.append(block)
        constant.append([*np.zeros(q - 1), np.sqrt(mass / n)])
    blocks = sparse.csr_array(sparse.block_diag([sparse.coo_array(block) for block in back]))
    return WhiteCharts(sparse.hstack(columns, format="csr"), blocks, np.concatenate(constant))


def _largest(gram: Any, constant: Floats, n_components: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a sparse matrix below one, and their vectors, without that of the constant."""
    q = gram.shape[0]
    wanted = min(n_components, q - 1)
    if not wanted:
        return np.empty(0), np.empty((q, 0))
    if q <= MOST_DENSE:
        # The constant has the eigenvalue one, and becomes the smallest.
        deflated = gram.toarray() - 2.0 * np.outer(constant, constant)
        values, vectors = eigh(deflated, subset_by_index=(q - wanted, q - 1))
    else:
        start = np.random.RandomState(0).normal(size=q)
        _, found = sparse.linalg.eigsh(gram.tocsc(), wanted + 1, sigma=1.0 + NEAR_ONE, which="LM", v0=start)
        found = np.linalg.svd(found - np.outer(constant, constant @ found), full_matrices=False)[0][:, :wanted]
        values, turn = np.linalg.eigh(found.T @ (gram @ found))
        vectors = found @ turn
    kept = values[::-1] > LEAST  # the rest is not in the span of the features
    return values[::-1][kept], vectors[:, ::-1][:, kept]


LEAST_PER_COORDINATE = 4  # samples of a default chart, for each of its coordinates and the offset


FEW_FEATURES = 10  # up to which prototypes have whole matrices, and shares are by densities, by default


TEAR = 0.1  # isometry defect that a further component counts as


FOLD = 0.15  # isometry defect, for each coordinate, above which a view is likely to have a fold


OVERLAP = 1e-4  # share of the samples of the smaller chart, or of their neighbors, above which two charts are connected


MEMBER = 1e-2  # share from which on a sample belongs to a chart, where it does or does not


THINNEST = 1e-3  # variance of a default chart across its plane, relative to its mean variance


GAP = 0.1  # between components that are shown side by side, relative to the widest


class Charting(View, Estimator):
    r"""Manifold charting: local linear charts, aligned to one global embedding with an invertible mapping.

    Each prototype k of a local model has its own linear coordinates :math:`z_k(x)` and a share (responsibility)
    :math:`r_k(x)` in each sample. The affine maps :math:`B_k` of these charts are chosen such that charts agree where
    they overlap: they minimize

    .. math:: \sum_i \sum_{j,k} r_j(x_i) r_k(x_i) \| B_j z_j(x_i) - B_k z_k(x_i) \|^2 .

    This is an eigenproblem whose size depends on the number of charts, not on the number of samples. New samples are
    placed at :math:`y = \sum_k r_k(x) B_k z_k(x)`, and each affine map can be inverted.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the view, and of each chart.
    n_charts : int, default=20
        Number of charts of the default local model. It is reduced if charts would have fewer than four samples for each
        coordinate.
    n_pca : int, optional
        Number of principal components that replace the features, if there are more features. This saves time with many
        features, usually at a small loss of quality. By default charts are computed from all features.
    local_model : estimator, optional
        Estimator that provides the charts: a map with shapes (`MatrixNeuralGas`, `NGPCA`, `VQPCA`, `MixturePPCA`), a
        plain map (`KMeans`, `NeuralGas`, `SOM`) with local principal components around its prototypes, or an LVQ
        classifier with matrices (`LGMLVQ` with this ``n_components``), which makes the view supervised. It is cloned
        and fitted; wrap it in scikit-learn's ``FrozenEstimator`` if it is fitted already. The default is
        `MatrixNeuralGas`, with full matrices for up to 10 features.
    coordination : {"charting", "llc", "ltsa"}, default="charting"
        Criterion by which charts are aligned. ``"charting"`` is the agreement in overlaps, as above. ``"llc"`` (locally
        linear coordination) requires that each sample is reconstructed from its neighbors in the view as in the data.
        ``"ltsa"`` (local tangent space alignment) requires that positions in the view are an affine image of each
        chart, for all samples in which it has a share of at least 0.01.
    n_neighbors : int, default=12
        Number of neighbors for ``"llc"``.
    gating : {"auto", "crisp", "density", "distance", "rank"}, default="auto"
        Rule that computes shares from distances to prototypes, see `protolearn.embedding.charts.charts_of`. ``"auto"``
        uses distances for LVQ classifiers. For maps it uses the normal densities of the shapes, or cells, with up to 10
        features (or principal components), and ranks with more, where densities hardly overlap. Crisp charts do not
        overlap and can be aligned by ``"llc"`` only.
    fraction : float, default=0.1
        Width of shares by distance, as a fraction of the mean squared distance of a prototype to its nearest other
        prototypes.
    n_nearest : int, default=2
        Number of nearest prototypes over which this mean is taken.
    bandwidth : {"square", "mean", "root_sum"}, default="square"
        Definition of this mean. ``"square"`` averages squared distances and is the same for all prototypes. As in the
        source, ``"mean"`` averages distances and ``"root_sum"`` follows the printed formula; both depend on the scale
        of the data.
    n_init : int, default=4
        Number of local models that are fitted. The one whose charts are closest to isometries, with few components, is
        kept: a single chart that bridges two folds distorts the whole view.
    n_jobs : int, optional
        Number of threads; None uses as many as BLAS does.
    random_state : int, RandomState instance or None, default=None
        Seed of the local models.
    verbose : int, default=0
        Verbosity: 1 shows a progress bar; 2, or 1 without a terminal, prints a line for each local model.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Positions of the training samples.
    local_model_ : estimator
        The fitted local model.
    charts_ : Charts
        Charts of the local model.
    weights_ : ndarray of shape (n_charts * (n_components + 1), n_components)
        Affine maps of all charts, stacked: linear part, then offset.
    eigenvalues_ : ndarray of shape (n_components,)
        Disagreement of the charts for each coordinate, in orthonormal coordinates; of several components, the largest.
    isometry_defect_ : float
        Mean squared difference of the metric tensor of the charts in the view from the identity, after the best linear
        transformation. A value near 0 means that charts are nearly isometric. Above about 0.3 in two dimensions, or
        0.15 for each dimension, the view is likely to have a fold, and a warning is issued. The charts of LVQ
        classifiers do not preserve lengths in any case.
    groups_ : ndarray of shape (n_charts,)
        Component that each chart belongs to.
    labels_ : ndarray of shape (n_samples,)
        Chart with the largest share in each sample.
    n_features_in_ : int
        Number of features seen during ``fit``.

    See Also
    --------
    MappedEmbedding : Embeddings by a mapping, for any cost.
    protolearn.metrics.reconstruction_error : Error of mapping to the view and back.

    Notes
    -----
    With an LVQ classifier as local model, its matrices must have as many rows as the view has dimensions.

    References
    ----------
    Brand, M. (2003). Charting a manifold. NIPS 15.

    Arnonkijpanich, B. (2010). Matrix learning for topographic maps, chapter 5. PhD thesis, TU Clausthal.

    Bunte, K. (2011). Adaptive dissimilarity measures, dimension reduction and visualization, section 7.2. PhD thesis,
    University of Groningen.

    Teh, Y. W., Roweis, S. (2003). Automatic alignment of local representations. NIPS 15.

    Zhang, Z., Zha, H. (2004). Principal manifolds and nonlinear dimensionality reduction via tangent space alignment.
    SIAM Journal on Scientific Computing 26, 313-338.

    Examples
    --------
    >>> from sklearn.datasets import make_s_curve
    >>> from protolearn import Charting
    >>> from protolearn.metrics import trustworthiness
    >>> X, t = make_s_curve(1000, random_state=0)
    >>> charting = Charting(n_charts=10, random_state=0).fit(X)
    >>> trustworthiness(X, charting.embedding_, n_neighbors=12) > 0.99
    True
    >>> back = charting.inverse_transform(charting.transform(X))
    >>> float(abs(X - back).mean()) < 0.05
    True
    """

    charts_: Charts

    _constraints = {
        "n_components": integer(1),
        "n_charts": integer(1),
        "n_pca": integer(1) | none,
        "local_model": part() | none,
        "coordination": option("charting", "llc", "ltsa"),
        "n_neighbors": integer(1),
        "gating": option("auto", *GATINGS),
        "fraction": positive,
        "n_nearest": integer(1),
        "bandwidth": option(*BANDWIDTHS),
        "n_init": integer(1),
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_charts: int = 20,
        n_pca: int | None = None,
        local_model: Any = None,
        coordination: str = "charting",
        n_neighbors: int = 12,
        gating: str = "auto",
        fraction: float = 0.1,
        n_nearest: int = 2,
        bandwidth: str = "square",
        n_init: int = 4,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_charts = n_charts
        self.n_pca = n_pca
        self.local_model = local_model
        self.coordination = coordination
        self.n_neighbors = n_neighbors
        self.gating = gating
        self.fraction = fraction
        self.n_nearest = n_nearest
        self.bandwidth = bandwidth
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @nothing_lost
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the charts and align them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), optional
            Class labels, for a local model that is a classifier.

        Returns
        -------
        self : object
            The fitted embedding.
        """
        self._check_parameters()
        with chunk_threads(self.n_jobs):
            samples = self._read(X)
            first = self._principal_components(samples)
            samples = samples if first is None else first.transform(samples)
            rng = check_random_state(self.random_state)
            model = self._default_model(samples) if self.local_model is None else self.local_model
            best: dict[str, Any] | None = None
            with Progress("Charting", self.n_init, self.verbose, "model", every=1) as progress:
                for number in range(1, self.n_init + 1):
                    found = self._glue(samples, fitted_model(model, samples, y, rng))
                    n_groups = len(np.unique(found["groups_"]))
                    progress.step(number, isometry_defect=found["isometry_defect_"], components=n_groups)
                    best = found if best is None else lower(best, found, _badness)
            for name, value in (best or {}).items():
                setattr(self, name, value)
            if first is not None:
                self.charts_ = self.charts_.behind(first)
        self._warn()
        return self

    @blockwise
    @chunk_threads(1)
    def transform(self, X: ArrayLike) -> Array:
        """Map samples to the view.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to map.

        Returns
        -------
        positions : ndarray of shape (n_samples, n_components)
            Positions of the samples, averaged over all charts with their shares as weights.
        """
        check_is_fitted(self, "weights_")
        samples = read_samples(self, X)
        return self.charts_.place(samples, self.weights_)

    @chunk_threads(1)
    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Return samples that are mapped to the given positions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Positions in the view.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features)
            For each position, the sample on the chart with the largest density, or with the nearest prototype.
        """
        check_is_fitted(self, "weights_")
        positions: Floats = check_array(X, dtype=np.float64)
        if positions.shape[1] != self.weights_.shape[1]:
            raise ValueError(
                f"X has {positions.shape[1]} columns, but the view has {self.weights_.shape[1]} dimensions."
            )
        return self.charts_.invert(positions, self.weights_)

    def __sklearn_tags__(self) -> Tags:
        """Declare that float32 is preserved, and whether class labels are required."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        inner = getattr(self.local_model, "__sklearn_tags__", None)
        tags.target_tags.required = bool(inner and inner().target_tags.required)
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.coordination != "llc" and self.gating == "crisp":
            raise ValueError("Charts with gating='crisp' do not overlap; use another gating, or coordination='llc'.")
        if self.n_pca is not None and self.n_pca < self.n_components:
            raise ValueError(
                f"n_pca={self.n_pca} is less than n_components={self.n_components}; keep more principal components, or "
                "lower n_components."
            )

    def _read(self, X: ArrayLike) -> Array:
        samples = read_samples(self, X, reset=True, learning=True, ensure_min_samples=2)
        if self.n_components > samples.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is more than the {samples.shape[1]} features of X "
                f"(n_features={samples.shape[1]})."
            )
        if (samples == samples[0]).all():
            raise ValueError("All samples are the same, so there is nothing to chart; give samples that differ.")
        return samples

    def _principal_components(self, X: Array) -> PCA | None:
        """Return fitted principal components, or None if there are not more features, or too few samples."""
        if self.n_pca is None or not self.n_components <= (count := min(self.n_pca, len(X))) < X.shape[1]:
            return None
        return PCA(count, random_state=0).fit(X)

    def _warn(self) -> None:
        """Warn of components that were placed side by side, and of a view that is likely to have a fold."""
        sizes = np.sort(np.bincount(self.groups_))[::-1]
        if len(sizes) > 1:
            some = ", ".join(map(str, sizes[:5])) + (", ..." if len(sizes) > 5 else "")
            warnings.warn(
                f"The {len(self.groups_)} charts fall into {len(sizes)} components, of {some} charts. These are "
                "aligned separately and placed side by side; their relative positions have no meaning. If the data are "
                "connected, use gating='rank', fewer charts, or principal components first (n_pca).",
                UserWarning,
                stacklevel=4,
            )
        learned = isinstance(self.local_model_, LVQClassifier)  # its metric, not lengths in the data
        if not learned and self.isometry_defect_ > FOLD * self.n_components:
            warnings.warn(
                f"The isometry defect is {self.isometry_defect_:.2g}: charts are stretched so unevenly that the view "
                "is likely to have a fold. Raise n_init or n_charts, or try another coordination or gating; "
                "plotting.plot_charts shows where.",
                UserWarning,
                stacklevel=4,
            )

    def _default_model(self, X: Array) -> Any:
        from protolearn.maps import MatrixNeuralGas

        return MatrixNeuralGas(
            max(1, min(self.n_charts, len(X) // (LEAST_PER_COORDINATE * (self.n_components + 1)))),
            n_components=None if X.shape[1] <= max(FEW_FEATURES, self.n_components) else self.n_components,
            regularization="floor",
            epsilon=THINNEST,  # charts of data without noise would hardly overlap
            neighborhood=Ranks((1.0, 0.01)),  # a wide range would draw prototypes off the data, between folds
            n_jobs=self.n_jobs,
        )

    def _glue(self, X: Array, model: Any) -> dict[str, Any]:
        """Return the fitted attributes for the charts of a local model."""
        charts = charts_of(
            model,
            X,
            n_components=self.n_components,
            gating=self._chosen_gating(model, X.shape[1]),
            fraction=self.fraction,
            n_nearest=self.n_nearest,
            bandwidth=self.bandwidth,
        )
        groups = self._groups(X, charts.shares(X).astype(np.float64))
        if groups.any():
            charts = replace(charts, gating=replace(charts.gating, groups=groups))
        z, shares = charts.coordinates(X).astype(np.float64), charts.shares(X).astype(np.float64)
        k, m = len(charts), self.n_components
        weights, eigenvalues = np.zeros((k, m + 1, m)), np.zeros(m)
        defect, edge, gap = 0.0, 0.0, 0.0
        reach = float(np.sqrt(charts.reaches().mean()))
        for group in np.unique(groups):
            own = groups == group
            rows = np.flatnonzero(shares[:, own].any(axis=1))
            if not len(rows):
                continue
            part, costs, part_defect = self._glue_group(X, z[np.ix_(rows, own)], shares[np.ix_(rows, own)], rows)
            positions = np.einsum(
                "nk,nkm,kmc->nc",
                shares[np.ix_(rows, own)],
                np.concatenate([z[np.ix_(rows, own)], np.ones((len(rows), own.sum(), 1))], axis=2),
                part,
            )
            if groups.any():  # side by side
                part[:, m, 0] += edge - positions[:, 0].min() + gap
                part[:, m, 1:] -= positions[:, 1:].mean(axis=0)
                width = float(np.ptp(positions[:, 0]))
                edge, gap = edge + gap + width, GAP * max(width, gap / GAP, reach)
            weights[own] = part
            eigenvalues = np.maximum(eigenvalues, costs)
            defect += part_defect * len(rows) / len(X)
        flat = weights.reshape(k * (m + 1), m)
        return {
            "local_model_": model,
            "charts_": charts,
            "weights_": flat,
            "eigenvalues_": eigenvalues,
            "isometry_defect_": defect,
            "groups_": groups,
            "labels_": shares.argmax(axis=1),
            "embedding_": charts.place(X, flat),
        }

    def _chosen_gating(self, model: Any, n_features: int) -> str:
        if self.gating != "auto":
            return self.gating
        if isinstance(model, LVQClassifier):
            return "distance"
        return "density" if n_features <= FEW_FEATURES else "rank"  # densities in more hardly overlap

    def _glue_group(self, X: Array, z: Floats, shares: Floats, rows: Array) -> tuple[Floats, Floats, float]:
        """Return the weights (k, m + 1, m) of connected charts, their costs, and their isometry defect."""
        k, m = shares.shape[1], self.n_components
        if self.coordination == "llc":
            result = coordinated(z, shares, m, off_neighbors(self._reconstruction(X[rows])))
        elif self.coordination == "ltsa":
            members = shares >= np.minimum(MEMBER, shares.max(axis=1, keepdims=True))
            result = coordinated(z, shares, m, off_tangents(z, members.astype(np.float64)))
        else:
            result = glued(z, shares, m)
        change, defect = isometric(result.weights, np.maximum(shares.sum(axis=0), 1e-300), m)
        found = result.weights @ (change * settled_signs(result.positions @ change))
        missing = m - found.shape[1]  # a few samples may not vary in enough directions
        return (
            np.pad(found, ((0, 0), (0, missing))).reshape(k, m + 1, m),
            np.pad(result.eigenvalues, (0, missing)),
            defect,
        )

    def _groups(self, X: Array, shares: Floats) -> Array:
        """Return the components of the charts."""
        if self.coordination != "llc":
            return chart_groups(shares, shares, OVERLAP)
        return chart_groups(shares, abs(self._reconstruction(X)) @ shares, OVERLAP)

    def _reconstruction(self, X: Array) -> Any:
        """Return the weights (n, n) that reconstruct each sample from its neighbors."""
        from protolearn.embedding._local_weights import reconstruction_weights

        k = min(self.n_neighbors, len(X) - 1)
        if not k:
            return sparse.csr_array((1, 1))
        return reconstruction_weights(X, first_nearest(X, k)[1])


def _badness(found: dict[str, Any]) -> float:
    """Return the deviation of charts from isometries, with a penalty for each tear, which makes isometry easier."""
    return found["isometry_defect_"] + TEAR * int(found["groups_"].max())
