"""Linear maps of a learned metric: combined projections, and their interpretation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from protolearn.core.metric import LearnedMetric
from protolearn.core.parameters import constrained, integer, option
from protolearn.core.printing import Printed, Sheet, import_pandas
from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq import canonical_matrix, mean_canonical_matrix
from protolearn.metrics import precision_curve

__all__ = [
    "Recommendation",
    "RetrievalRates",
    "canonical_maps",
    "checked_sizes",
    "patchwork",
    "retrieval_rates",
]


def patchwork(metric: LearnedMetric, X: Floats, kind: str) -> Floats:
    """Return one view (n, M) of all samples, each mapped by the matrix of its own prototype."""
    winners, vectors, omegas = metric.nearest(X), metric.samples(X), metric.omegas
    shared = mean_canonical_matrix(omegas)
    view = np.empty((len(vectors), omegas.shape[1]))
    for p in np.unique(winners):
        members, w, A = vectors[winners == p], metric.prototypes[p], omegas[metric.slots[p]]
        if kind == "centered":
            patch = (members - w) @ _turned(A, shared).T + shared @ w
        else:  # Bunte 2011, eq. 4.8
            patch = members @ (A if kind == "raw" else canonical_matrix(A)).T
        view[winners == p] = patch
    return view


def canonical_maps(metric: LearnedMetric) -> Floats:
    """Return the matrices in canonical form, (M, N) of one and (s, M, N) of several."""
    forms = np.stack([canonical_matrix(matrix) for matrix in metric.omegas])
    return forms[0] if metric.is_global else forms


@dataclass(frozen=True, repr=False)
class Recommendation:
    """Features, and combinations of features, that a learned metric uses; printed as a table.

    Attributes
    ----------
    transform : ndarray of shape (M, n_features) or (s, M, n_features)
        Matrix of the metric in canonical form. Each row is a new feature, a weighted sum of the standardized original
        features, in descending order of weight. There are several matrices if prototypes have local metrics.
    feature_names : ndarray of shape (n_features,)
        Names of the features.
    names : ndarray of shape (s,) or None
        Class of each matrix, if there are several.

    See Also
    --------
    ImageRetriever.recommendation : Returns the recommendation of a fitted retriever.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.applications import Recommendation
    >>> found = Recommendation(np.array([[0.8, 0.0], [0.0, 0.6]]), np.array(["red", "blue"]))
    >>> found.relevances.round(2).tolist()
    [0.64, 0.36]
    >>> str(found).splitlines()[-1].split()  # printed, it is a table; this is its last row
    ['share', '64.0', '%', '36.0', '%']
    """

    transform: Floats
    feature_names: Array
    names: Array | None = None

    @property
    def relevances(self) -> Floats:
        """Share (n_features,) or (s, n_features) of each feature in the squared weights."""
        squares = (self.transform**2).sum(axis=-2)
        return squares / squares.sum(axis=-1, keepdims=True)

    @property
    def shares(self) -> Floats:
        """Share (M,) or (s, M) of each new feature in the squared weights."""
        squares = (self.transform**2).sum(axis=-1)
        return squares / squares.sum(axis=-1, keepdims=True)

    def __str__(self) -> str:
        if self.names is None:
            return "\n".join(self._lines(self.transform, self.relevances, self.shares))
        parts = zip(self.names, self.transform, self.relevances, self.shares)
        return "\n\n".join("\n".join([str(name), *self._lines(*values)]) for name, *values in parts)

    __repr__ = __str__

    def _lines(self, transform: Floats, relevances: Floats, shares: Floats) -> Iterator[str]:
        width = max(len(str(name)) for name in [*self.feature_names, "share"])
        heads = [f"{f'direction {i}':>12}" for i in range(1, len(transform) + 1)]
        yield " ".join([" " * width, *heads, " relevance"])
        for name, column, relevance in zip(self.feature_names, transform.T, relevances):
            yield " ".join([f"{name!s:<{width}}", *(f"{value:12.3f}" for value in column), f"{100 * relevance:8.1f} %"])
        yield " ".join([f"{'share':<{width}}", *(f"{100 * share:10.1f} %" for share in shares)])


def _turned(A: Floats, shared: Floats) -> Floats:
    """Return a matrix with its rows rotated to agree best with another one."""
    left, _, right = np.linalg.svd(shared @ A.T)
    return left @ right @ A


SEEDS = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class RetrievalRates(Printed):
    """Correct retrieval rates of a metric with their errors, as returned by `retrieval_rates`; printed as a table.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        Numbers k of results.
    rates : ndarray of shape (n_ks,)
        Mean fraction of the first k results that have the label of the query.
    sigma_init : ndarray of shape (n_ks,) or None
        Standard deviation of the mean rate over the random starts; None for a single start.
    eps_data : ndarray of shape (n_ks,)
        Standard error of the mean rate over the queries.
    start_rates : ndarray of shape (n_starts, n_ks)
        Mean rate of each random start.
    query_rates : ndarray of shape (n_queries, n_ks)
        Mean rate of each query over the random starts.
    transforms : ndarray of shape (n_starts, n_folds, M, N) or (n_starts, n_folds, s, M, N), or None
        Matrix of every run in canonical form, or several matrices if prototypes have local ones. None if no metric was
        learned, or if it does not consist of matrices of this library.
    feature_names : ndarray of shape (N,)
        Names of the features.
    names : ndarray of shape (s,) or None
        Class of each matrix, if there are several.

    Examples
    --------
    >>> from protolearn.applications import ImageRetriever, retrieval_rates
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]], [0, 0, 0, 1, 1, 1]
    >>> found = retrieval_rates(ImageRetriever("euclidean"), X, y, ks=[1, 2, 3], n_folds=2)
    >>> found.rates.round(3).tolist(), round(found.at(3), 3)
    ([1.0, 1.0, 0.667], 0.667)
    """

    ks: Indices
    rates: Floats
    sigma_init: Floats | None
    eps_data: Floats
    start_rates: Floats
    query_rates: Floats
    transforms: Floats | None
    feature_names: Array
    names: Array | None = None

    @property
    def mean_transform(self) -> Floats | None:
        """Mean (M, N) or (s, M, N) of the canonical matrices of all runs, with aligned signs."""
        if self.transforms is None:
            return None
        return self._aligned().mean(axis=(0, 1))  # Bunte 2011, eqs. 4.6 and 4.7

    @property
    def transform_deviation(self) -> Floats | None:
        """Standard deviation of the entries of `mean_transform` over the random starts; None for a single start."""
        if self.transforms is None or len(self.transforms) == 1:
            return None
        return self._aligned().mean(axis=1).std(axis=0, ddof=1)

    @property
    def recommendation(self) -> Recommendation | None:
        """Recommendation from the mean metric of all runs, see `ImageRetriever.recommendation`."""
        return None if self.transforms is None else Recommendation(self._shared(), self.feature_names, self.names)

    def at(self, k: int) -> float:
        """Return the rate for k results.

        Parameters
        ----------
        k : int
            One of ``ks``.

        Returns
        -------
        float
            Mean fraction of the first k results that have the label of the query.
        """
        if k not in self.ks:
            raise ValueError(f"k={k!r} is not one of ks={self.ks.tolist()}.")
        return float(self.rates[self.ks == k][0])

    def __repr__(self) -> str:
        some = np.unique(np.linspace(0, len(self.ks) - 1, 5).round().astype(int))
        parts = zip(self.ks[some], self.rates[some], self.eps_data[some])
        pairs = ", ".join(f"{k}: {rate:.3f} ± {error:.3f}" for k, rate, error in parts)
        return f"RetrievalRates({pairs})"

    def to_frame(self) -> Any:
        """Return the rates as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            A row for each number of results ``k`` with the rate and, where available, its errors.
        """
        pd = import_pandas()
        columns = {"rate": self.rates, "sigma_init": self.sigma_init, "eps_data": self.eps_data}
        known = {name: values for name, values in columns.items() if values is not None}
        return pd.DataFrame(known, index=pd.Index(self.ks, name="k"))

    def _sheet(self) -> Sheet:
        rows = [[str(k), f"{rate:.3f}", f"{error:.3f}"] for k, rate, error in zip(self.ks, self.rates, self.eps_data)]
        return Sheet("", ["k", "rate", "standard error"], rows)

    def _shared(self) -> Floats:
        """Return the canonical matrix of the mean metric of all runs, for each prototype that has its own."""
        assert self.transforms is not None
        runs = self.transforms.reshape(-1, *self.transforms.shape[2:])
        return (
            mean_canonical_matrix(runs)
            if runs.ndim == 3
            else np.stack([mean_canonical_matrix(part) for part in runs.swapaxes(0, 1)])
        )

    def _aligned(self) -> Floats:
        """Return the matrices with rows that point where those of the mean metric do."""
        assert self.transforms is not None
        return np.where((self.transforms * self._shared()).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0) * self.transforms


@constrained(n_folds=integer(2), n_starts=integer(1), scale_over=option("train", "all"))
def retrieval_rates(
    retriever: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    ks: Iterable[int] = range(1, 26),
    n_folds: int = 10,
    n_starts: int = 10,
    scale_over: str = "train",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> RetrievalRates:
    r"""Estimate the correct retrieval rate of a retriever by cross-validation.

    The rate is the fraction of the first k results that have the label of the query. Images are divided into stratified
    folds. For each fold and each of several random starts i, a metric is learned from the other folds. Each image j of
    the fold is then used as a query, and its neighbors are searched among all other images in that metric. Let
    :math:`r_j^i` be the fraction of the k nearest images that have the label of the query, :math:`\bar r^i` and
    :math:`\bar r_j` its means over the n images and over the m starts, and r its mean over both. The errors are

    .. math:: \sigma_{init} = \Big(\frac{1}{m - 1} \sum_i (\bar r^i - r)^2\Big)^{1/2}, \quad
              \epsilon_{data} = \Big(\frac{1}{n - 1} \sum_j (\bar r_j - r)^2\Big)^{1/2} n^{-1/2}.

    Parameters
    ----------
    retriever : ImageRetriever
        Retriever to evaluate. It is cloned and need not be fitted.
    X : path, sequence of images, or array-like of shape (n, n_features)
        Images or features, as for ``fit`` of the retriever. Features of images are computed once and without labels.
    y : array-like of shape (n,), optional
        Labels of the images. Must be omitted for a folder, whose sub-folders are the labels.
    ks : iterable of int, default=range(1, 26)
        Numbers k of results for which rates are computed.
    n_folds : int, default=10
        Number of cross-validation folds.
    n_starts : int, default=10
        Number of random starts. The Euclidean metric needs only one. Metrics with a deterministic initialization, such
        as ``"liram"`` and ``"lmnn"``, give the same result for every start.
    scale_over : {"train", "all"}, default="train"
        Samples whose mean and variance scale the features: the training folds, or all images, as in the original
        publication.
    random_state : int, RandomState instance or None, default=None
        Determines the folds and the random starts. Every parameter ``random_state`` of the retriever and its parts is
        set.
    n_jobs : int, optional
        Number of parallel processes; None means one.

    Returns
    -------
    RetrievalRates
        Rates, their errors, and the learned matrices.

    See Also
    --------
    protolearn.plotting.plot_retrieval_rates : Plots the rates.

    References
    ----------
    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization. PhD thesis, University of
    Groningen, sections 4.2 and 4.3.

    Examples
    --------
    >>> from protolearn.applications import ImageRetriever, retrieval_rates
    >>> from protolearn.datasets import make_lesions
    >>> X, y = make_lesions(random_state=0)
    >>> given = {"ks": [1, 11], "n_starts": 1, "random_state": 0}
    >>> learned = retrieval_rates(ImageRetriever("liram"), X, y, **given)
    >>> plain = retrieval_rates(ImageRetriever("euclidean"), X, y, **given)
    >>> learned.at(11) > plain.at(11) + 0.1
    True
    """
    sizes = checked_sizes(ks)
    table, labels, feature_names = retriever._feature_table(X, y)
    integer(1, len(table) - 1).check("k", max(sizes), ", the number of other images")
    _check_class_sizes(labels)
    base = clone(retriever).set_params(features=None)
    if scale_over == "all" and retriever.scale:
        table = StandardScaler().set_output(transform="default").fit_transform(table)
        base.set_params(scale=False)
    rng = check_random_state(random_state)
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=rng.randint(SEEDS)).split(table, labels))
    starts = 1 if retriever.metric == "euclidean" else n_starts
    seeds = rng.randint(SEEDS, size=(starts, n_folds))
    runs = Parallel(n_jobs=n_jobs)(
        delayed(_run)(base, table, labels, *fold, sizes, int(seed)) for row in seeds for fold, seed in zip(folds, row)
    )
    r = np.empty((starts, len(table), len(sizes)))
    for run, (rates, _, _) in enumerate(runs):
        start, fold = divmod(run, n_folds)
        r[start, folds[fold][1]] = rates
    query_rates, start_rates = r.mean(axis=0), r.mean(axis=1)
    return RetrievalRates(
        ks=np.array(sizes),
        rates=start_rates.mean(axis=0),
        sigma_init=start_rates.std(axis=0, ddof=1) if starts > 1 else None,  # Bunte 2011, eq. 4.1
        eps_data=query_rates.std(axis=0, ddof=1) / np.sqrt(len(table)),  # Bunte 2011, eq. 4.2
        start_rates=start_rates,
        query_rates=query_rates,
        transforms=_stacked([transform for _, transform, _ in runs], starts),
        feature_names=feature_names,
        names=runs[0][2],
    )


def checked_sizes(ks: Iterable[int]) -> list[int]:
    """Return the numbers of results as a list of integers from 1.

    Examples
    --------
    >>> checked_sizes(range(1, 4))
    [1, 2, 3]
    """
    sizes = [int(k) if isinstance(k, np.integer) else k for k in ks]
    if not sizes:
        raise ValueError("ks is empty; give at least one number of results.")
    integer(1).check_each("k", sizes)
    return sizes


def _check_class_sizes(labels: Array | None) -> None:
    if labels is None:
        raise ValueError("Retrieval rates require labels; give y, or a folder with a sub-folder for each class.")
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"Class {classes.tolist()[counts.argmin()]!r} has one image only, which cannot be query and result; remove "
            "it."
        )


def _run(
    retriever: Any,
    table: Floats,
    labels: Array,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    sizes: list[int],
    seed: int,
) -> tuple[Floats, Floats | None, Array | None]:
    """Learn from some images; return the rates (n_test, n_ks) of the others, and the canonical matrices."""
    model = clone(retriever)
    states = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
    model.set_params(**dict.fromkeys(states, seed)).fit(table[train], labels[train]).index(table, labels)
    found = model.similar(test, max(sizes)).indices
    rates = precision_curve(labels[found], labels[test], sizes, average=False)
    metric = model.learned_metric_
    if model.metric_ is None or metric is None or metric.steps is not None:
        return rates, None, None
    advice = model.recommendation()
    return rates, advice.transform, advice.names


def _stacked(transforms: list[Any], n_starts: int) -> Floats | None:
    """Return the matrices of all runs as (n_starts, n_folds, ...); rows of zeros fill up those of lower rank."""
    if transforms[0] is None:
        return None
    rank = max(transform.shape[-2] for transform in transforms)
    none = [(0, 0)] * (transforms[0].ndim - 2)
    filled = [np.pad(matrix, [*none, (0, rank - matrix.shape[-2]), (0, 0)]) for matrix in transforms]
    return np.stack(filled).reshape(n_starts, -1, *filled[0].shape)
