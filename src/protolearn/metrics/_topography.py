"""Topology preservation of maps with a lattice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from protolearn.core.fitted import TIE, lattice_of, nearest_prototypes, prototype_distances
from protolearn.core.lattices import Lattice
from protolearn.core.types import Bools, Floats
from protolearn.core.validation import check_weights, require_memory

__all__ = ["topographic_error", "topographic_function", "topographic_product"]


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
