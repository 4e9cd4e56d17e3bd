"""Topology preservation of maps with a lattice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import KDTree
from scipy.special import entr
from sklearn.utils import column_or_1d

from protolearn.core.fitted import TIE, lattice_of, nearest_prototypes, prototype_distances, prototypes_of
from protolearn.core.lattices import Lattice
from protolearn.core.parameters import constrained, integer, none, number, positive
from protolearn.core.types import Array, Bools, Floats
from protolearn.core.validation import check_weights, require_memory
from protolearn.dissimilarities import check_dissimilarities

__all__ = [
    "intra_cluster_cost",
    "magnification_exponent",
    "map_entropy",
    "topographic_error",
    "topographic_function",
    "topographic_product",
]


def topographic_error(X: ArrayLike, estimator: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the fraction of samples whose nearest and second nearest prototypes are not adjacent on the lattice.

    Prototypes are adjacent if an edge connects them or, on a rectangular lattice, if their cells share a corner.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples; for a relational map, the input of its ``transform``.
    estimator : fitted map
        Fitted map with a lattice, such as SOM or RelationalSOM.
    sample_weight : array-like of shape (n,), optional
        Weight of each sample, 1 by default.

    Returns
    -------
    float
        Value between 0 (all neighborhoods are preserved) and 1.

    References
    ----------
    Kiviluoto, K. (1996). Topology preservation in self-organizing maps. ICNN, 294-299.

    Examples
    --------
    A chain whose prototypes lie on a line in the order 0, 2, 1 is folded:

    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> folded = SimpleNamespace(prototypes_=[[0.0], [2.0], [1.0]], lattice_=chain(3))
    >>> topographic_error([[0.1], [0.9], [1.1], [1.9]], folded)
    0.5
    """
    lattice = lattice_of(estimator)
    _require_two(lattice)
    first, second, _ = nearest_prototypes(X, estimator)
    weights = check_weights(sample_weight, len(first), np.float64)
    apart = ~lattice.touch(first, second)
    return float(weights @ apart / weights.sum())


def topographic_product(estimator: Any) -> float:
    r"""Return the topographic product, which indicates whether the dimension of the lattice matches the data.

    For prototype j let :math:`n_l(j)` be its l-th nearest prototype on the lattice and :math:`m_l(j)` its l-th nearest
    prototype in the data space, d the distances between prototypes and g the distances on the lattice. With

    .. math:: Q_1(j, l) = \frac{d(j, n_l(j))}{d(j, m_l(j))}, \qquad Q_2(j, l) = \frac{g(j, n_l(j))}{g(j, m_l(j))}

    the topographic product is

    .. math:: P = \frac{1}{k (k - 1)} \sum_j \sum_m \frac{1}{2 m} \sum_{l \le m} \log(Q_1(j, l)\, Q_2(j, l))

    It is about 0 for a lattice that matches the data, negative for too few and positive for too many lattice
    dimensions. The product is the mean over all possible orders of prototypes at equal distances, so it does not depend
    on the numbering of the nodes. The distances on the lattice are those used in training (``lattice_.distances``).
    Since path lengths on a square lattice differ from Euclidean distances, the product is small but not zero for data
    that fill a square.

    Parameters
    ----------
    estimator : fitted map
        Fitted map with a lattice, such as SOM or RelationalSOM.

    Returns
    -------
    float
        The topographic product.

    References
    ----------
    Bauer, H.-U., Pawelzik, K. R. (1992). Quantifying the neighborhood preservation of self-organizing feature maps.
    IEEE Transactions on Neural Networks 3, 570-579.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> straight = np.arange(9.0)[:, None]
    >>> topographic_product(SimpleNamespace(prototypes_=straight, lattice_=chain(9)))
    0.0
    >>> winding = np.array([(i // 3, i % 3 if i // 3 != 1 else 2 - i % 3) for i in range(9)])
    >>> topographic_product(SimpleNamespace(prototypes_=winding, lattice_=chain(9))) < -0.05
    True
    """
    lattice = lattice_of(estimator)
    _require_two(lattice)
    _require_all_pairs(lattice)
    in_data = _log_distances_to_others(prototype_distances(estimator), "prototypes")
    on_lattice = _log_distances_to_others(lattice.distances, "lattice nodes")
    k = lattice.n_nodes
    # Q1 Q2 is the product d g at the l-th neighbor on the lattice over the one at the l-th neighbor in the data
    log_ratios = np.array([_in_order_of(g, d + g) - _in_order_of(d, d + g) for d, g in zip(in_data, on_lattice)])
    log_products = np.cumsum(log_ratios, axis=1) / (2 * np.arange(1, k))
    return float(log_products.mean())


def topographic_function(estimator: Any) -> tuple[NDArray[np.intp], Floats]:
    """Return the topographic function, which measures violations of neighborhoods in both directions at every scale.

    The topology of the data is represented by the graph that connects the nearest and second nearest prototype of every
    sample; ``d`` is the length of the shortest path between two prototypes in this graph. On the lattice, two nodes are
    ``|i - j|_max`` and ``|i - j|_2`` apart. The function is the mean over the prototypes of the number of

    * for ``k > 0``, neighbors in the data that are far apart on the lattice:
      ``Phi(k) = 1/n sum_i #{j : |i - j|_max > k, d(i, j) = 1}``,
    * for ``k < 0``, neighbors on the lattice that are far apart in the data:
      ``Phi(k) = 1/n sum_i #{j : |i - j|_2 = 1, d(i, j) > -k}``,
    * and ``Phi(0) = Phi(1) + Phi(-1)``, which is 0 if and only if the map preserves all neighborhoods.

    The largest (smallest) ``k`` with a positive value indicates the scale of the folds of a lattice with too few (too
    many) dimensions. On lattices that are not rectangular, both distances are path lengths along the edges. Prototypes
    without a connecting path have infinite distance.

    Parameters
    ----------
    estimator : fitted map
        Fitted map with ``lattice_`` and ``graph_`` (k, k), such as SOM or RelationalSOM.

    Returns
    -------
    k : array of shape (2 K + 1,), int
        Distances from ``-K`` to ``K``, where ``K`` is the largest distance on the lattice or in the graph.
    values : array of shape (2 K + 1,)
        ``Phi(k)``.

    References
    ----------
    Villmann, T., Der, R., Herrmann, M., Martinetz, T. (1997). Topology preservation in self-organizing feature maps:
    exact definition and measurement. IEEE Transactions on Neural Networks 8, 256-266.

    Examples
    --------
    The ends of a chain that is bent to a ring are neighbors in the data, but have distance three on the lattice:

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from protolearn.core.lattices import chain
    >>> ring = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    >>> k, values = topographic_function(SimpleNamespace(lattice_=chain(4), graph_=ring))
    >>> for pair in zip(k.tolist(), values.tolist()):
    ...     print(pair)
    (-3, 0.0)
    (-2, 0.0)
    (-1, 0.0)
    (0, 0.5)
    (1, 0.5)
    (2, 0.5)
    (3, 0.0)
    """
    lattice = lattice_of(estimator)
    estimator = getattr(estimator, "estimator_", estimator)
    if getattr(estimator, "graph_", None) is None:
        raise ValueError(
            f"This {type(estimator).__name__} has no graph of neighboring prototypes (no attribute graph_); pass a "
            "map that is fitted to samples."
        )
    graph = sparse.csr_array(estimator.graph_)
    if graph.shape != (lattice.n_nodes, lattice.n_nodes):
        raise ValueError(f"graph_ has the shape {graph.shape}, but the lattice has {lattice.n_nodes} nodes.")
    _require_all_pairs(lattice)
    steps = _path_lengths(graph > 0)
    across, lattice_neighbors = _lattice_separations(lattice)
    largest = max(1.0, across[np.isfinite(across)].max(), steps[np.isfinite(steps)].max())
    scales = np.arange(1, int(largest) + 1)
    data_neighbors = steps == 1
    forward = [(data_neighbors & (across > k)).sum() for k in scales]
    backward = [(lattice_neighbors & (steps > k)).sum() for k in scales]
    values = np.array([*backward[::-1], forward[0] + backward[0], *forward]) / lattice.n_nodes
    return np.concatenate([-scales[::-1], [0], scales]), values


def _require_two(lattice: Lattice) -> None:
    if lattice.n_nodes < 2:
        raise ValueError("The map has only one prototype and no neighborhoods; pass a map with at least two.")


def _require_all_pairs(lattice: Lattice) -> None:
    k = lattice.n_nodes
    require_memory(f"This measure of all pairs of {k} nodes", 10 * 8 * k**2, "use topographic_error, or a smaller map")


def _log_distances_to_others(distances: Floats, name: str) -> Floats:
    """Return log distances (k, k - 1) from each to all others, both in order of the index."""
    k = len(distances)
    others = distances[~np.eye(k, dtype=bool)].reshape(k, k - 1)
    if not (np.isfinite(others) & (others > 0.0)).all():
        raise ValueError(
            f"The topographic product needs finite and positive distances, but some {name} coincide (or are not "
            "connected); use fewer prototypes, or another measure."
        )
    return np.log(others)


def _in_order_of(keys: Floats, values: Floats) -> Floats:
    """Return the values in the order of their keys, averaged over equal keys.

    The sum over the first m values then is the expected sum if equal keys are put in a random order.
    """
    order = np.argsort(keys, kind="stable")
    group = np.concatenate([[0], np.cumsum(np.diff(keys[order]) > TIE)])
    means = np.bincount(group, values[order]) / np.bincount(group)
    return means[group]


def _lattice_separations(lattice: Lattice) -> tuple[Floats, Bools]:
    """Return the distances ``|i - j|_max`` on the lattice, and which nodes have ``|i - j|_2 = 1``; both (k, k)."""
    if lattice.kind == "rectangular" and lattice.shape is not None:
        gaps = np.abs(lattice.coordinates[:, None] - lattice.coordinates)
        if lattice.periodic:
            gaps = np.minimum(gaps, np.array(lattice.shape[::-1]) - gaps)
        return gaps.max(axis=2), gaps.sum(axis=2) == 1.0
    edges = lattice.edges
    shape = (lattice.n_nodes, lattice.n_nodes)
    graph = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=shape)
    steps = _path_lengths(graph.tocsr())
    return steps, steps == 1.0


def _path_lengths(graph: sparse.csr_array) -> Floats:
    return shortest_path(graph.toarray().astype(np.float64), directed=False, unweighted=True)


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


def intra_cluster_cost(D: ArrayLike, labels: ArrayLike) -> float:
    r"""Return the cost of a clustering, the sum of all dissimilarities within each cluster divided by its size.

    .. math:: E = \sum_i \frac{1}{|C_i|} \sum_{j, k \in C_i} d_{jk}

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities, which are not squared. For squared Euclidean distances, the cost is twice the inertia of
        k-means, and four times the quantization error with ``reduction="half_sum"``.
    labels : array-like of shape (n,)
        Cluster of each object.

    Returns
    -------
    float
        The cost.

    References
    ----------
    Hasenfuss, A. (2009). Topographic Mapping of Dissimilarity Datasets. PhD thesis, TU Clausthal, eq. 4.3.

    Examples
    --------
    >>> from protolearn.metrics import intra_cluster_cost
    >>> D = [[0, 1, 5], [1, 0, 4], [5, 4, 0]]
    >>> intra_cluster_cost(D, ["a", "a", "b"])
    1.0
    >>> intra_cluster_cost(D, ["a", "b", "b"])
    4.0
    """
    matrix = check_dissimilarities(D, squared=True)
    clusters = column_or_1d(labels)
    if len(clusters) != len(matrix):
        raise ValueError(
            f"labels has {len(clusters)} entries, but D is a matrix of {len(matrix)} objects; pass one label for each."
        )
    members = (np.flatnonzero(clusters == cluster) for cluster in np.unique(clusters))
    return float(sum(matrix[np.ix_(m, m)].sum(dtype=np.float64) / len(m) for m in members))
