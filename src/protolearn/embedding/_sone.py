"""Self-organized neighbor embedding: sampling vectors attract the images of neighbors and repel all others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from protolearn.core.parameters import flag, none, number, option
from protolearn.core.types import Floats, Indices
from protolearn.embedding._presentations import (
    LAST_NEIGHBORS,
    LEAST_AFFINITY,
    NO_WEIGHTS,
    SIGMAS,
    Epoch,
    Near,
    Squares,
    TopographicEmbedding,
    Trainer,
    Weights,
)
from protolearn.embedding.divergences import (
    A_DIVERGENCE,
    Alpha,
    Beta,
    Divergence,
    Eta,
    Gamma,
    GeneralizedKullbackLeibler,
    GeneralizedRenyi,
    Hellinger,
    ItakuraSaito,
    ReverseGeneralizedKullbackLeibler,
    get_divergence,
)

__all__ = [
    "SONE",
]

KERNELS = ("gaussian", "student")


POSITIVE = ("spacing", "n_neighbors_start", "n_neighbors_end", "scale_start", "scale_end", "learning_rate_start",
            "learning_rate_end")  # fmt: skip


LEAST = 1e-30  # of numbers whose squares and their quotients are positive and finite


WINNERS = ("image", "mean", "divergence")  # in the order of the compiled loop


NEIGHBORHOODS = ("own", "winner")


LEAST_PERPLEXITY = 1.5  # with a perplexity of 1 there is one neighbor, and no bandwidth


VARIANCE = {"gaussian": 0.1, "student": 10.0}  # of sampling vectors around images, without a structure


OWN_SHARE = 0.9  # affinity of a sample to itself, relative to its nearest neighbor; Bunte 2011, eq. 8.18


NEGLIGIBLE = 6.0 * np.log(10.0)  # -log of an affinity that does not count in a mean


class SONE(TopographicEmbedding):
    r"""Self-organized neighbor embedding: SONE with a Gaussian kernel, t-SONE with a Student kernel.

    Every sample has an image in the embedding (view). Sampling vectors s, the structure hypothesis, are presented in
    random order. Each sampling vector has affinities g to all images, and the winner, the sample i with the nearest
    image, has affinities h to all samples,

    .. math::
        h_k = e^{-(d(x^i, x^k)^2 - \rho_k) / 2 \sigma_k^2}, \quad
        g_k = \Big(1 + \frac{\|s - \xi^k\|^2}{\varsigma}\Big)^{-(\varsigma + 1) / 2}
        \text{ or } e^{-\|s - \xi^k\|^2 / 2 \varsigma^2}.

    Here :math:`\rho_k` is the squared distance of sample k to its nearest neighbor, or zero, see ``offset``, and
    :math:`\sigma_k` the width of its neighborhood, see ``bandwidth`` and ``neighborhoods``. A gradient step on the
    divergence :math:`D(h \,\|\, g)` moves all images; for the generalized Kullback-Leibler divergence

    .. math:: \xi^k \leftarrow \xi^k - \tau \, \alpha_k (h_k - g_k) (\xi^k - s), \quad
        \alpha_k = \frac{\varsigma + 1}{\varsigma + \|s - \xi^k\|^2} \text{ or } \frac{1}{\varsigma^2}.

    Images of neighbors (:math:`h_k > g_k`) are attracted and all others repelled, which opens gaps between groups.
    Neighborhoods shrink from epoch to epoch, from half of all samples to a few.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the view.
    kernel : {"student", "gaussian"}, default="student"
        Kernel of the affinities of images.
    structure : {"auto", "hexagon", "circle", "square", "uniform"}, array or None, default="auto"
        Sampling vectors: a triangular mesh with this outline, points drawn uniformly from a box, or an array
        (n_vectors, n_components) of your own, see `protolearn.embedding.structures`. ``"auto"`` is a
        hexagon in two dimensions and a box otherwise. None is SONE without a structure hypothesis: sampling vectors are
        drawn from a Gaussian around each image in turn.
    n_sampling : int or "auto", default="auto"
        Number of sampling vectors of a named structure. ``"auto"`` is three quarters of the number of samples, but at
        most 12 times its square root.
    spacing : float or "auto", default="auto"
        Distance between neighboring sampling vectors, relative to a kernel of about unit width. A structure of your own
        is scaled to it during training, and the view is scaled back. ``"auto"`` is 10, but 1 for divergences that
        attract only near images, see Notes.
    divergence : str or Divergence, default="gkl"
        Divergence between the affinities: a key of `protolearn.embedding.divergences.DIVERGENCES` or an instance.
        Divergences that are restricted to densities are not accepted, because affinities do not sum to one.
    winner : {"image", "mean", "divergence"}, default="image"
        Definition of the winner: the sample with the nearest image, which is fastest; the sample with the lowest mean
        of :math:`-\log g`, weighted by its affinities; or the sample with the smallest divergence, which favors samples
        with few neighbors.
    neighborhoods : {"own", "winner"}, default="own"
        Whether an affinity :math:`h_k` uses the offset and width of sample k (``"own"``), so that every image is
        attracted by equally many winners, or those of the winner, :math:`\rho_i` and :math:`\sigma_i`, as in Bunte
        (2011). With ``"winner"``, samples that are not among the nearest neighbors of any other are left behind when
        neighborhoods become small.
    bandwidth : {"auto", "perplexity", "radius"}, default="auto"
        Rule that converts a number of neighbors to the width :math:`\sigma` of a neighborhood. With ``"perplexity"``,
        the affinities have this perplexity; with ``"radius"``, the last of these neighbors is at a distance of
        :math:`3 \sigma`, measured from the offset. ``"auto"`` is ``"perplexity"``, but ``"radius"`` for divergences
        that attract only near images, see Notes.
    offset : bool or "auto", default="auto"
        Whether distances are measured from that of the nearest neighbor, which then has the affinity 1. Without an
        offset, all affinities are small if there are many features, because all distances are then similar. ``"auto"``
        uses no offset if most samples have several nearest neighbors at exactly the same distance, as in a table with
        few distinct dissimilarities.
    n_neighbors_start, n_neighbors_end : float or "auto", default="auto"
        Initial and final number of neighbors; ``"auto"`` is half of the samples, and 10. An initial number below a
        quarter of the samples tends to fold the view.
    scale_start, scale_end : float or "auto", default="auto"
        Initial and final scale :math:`\varsigma` of the kernel. ``"auto"`` decreases from 1e7 to a thousandth of the
        squared diameter of the structure (0.1 without one) for the Student kernel, and is constantly 1 for the Gaussian
        kernel. A smaller final scale shows more detail; a larger one (a tenth in Bunte 2011) fills the structure more
        evenly.
    learning_rate_start, learning_rate_end : float or "auto", default="auto"
        Initial and final learning rate :math:`\tau`; for the Gaussian kernel the learning rate is
        :math:`\tau / \varsigma^2`. ``"auto"`` is constantly 1, but decreases from 0.3 to 0.01 without a structure.
    metric : str, callable or learned metric, default="euclidean"
        Distance between samples: ``"euclidean"`` for vectors; ``"precomputed"`` if ``X`` holds the dissimilarities of
        all pairs; a name or function that `protolearn.dissimilarities.pairwise` accepts, for strings, sequences and
        other objects; or a learned metric, anything that `protolearn.as_metric` accepts, such as a fitted LVQ
        classifier.
    squared : bool, default=False
        Whether precomputed dissimilarities are squared distances already; negative ones are set to zero.
    symmetrize : {"raise", "mean"}, default="raise"
        Treatment of precomputed dissimilarities that are not symmetric: an error, or the mean of both directions.
    init : {"pca", "random", "center"} or array of shape (n_samples, n_components), default="pca"
        Initial images: principal components (classical scaling for dissimilarities) that fill the bounding box of the
        structure, points drawn uniformly from that box, points close to the origin, or given positions. With few
        initial neighbors the view folds unless the initial images are ordered.
    max_iter : int, default=100
        Number of epochs. Each epoch presents all sampling vectors once.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial images and of the order of presentation.
    verbose : int, default=0
        Verbosity: 1 shows a progress bar, or lines if there is no terminal; 2 prints a line for every epoch.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Images of the samples.
    structure_ : ndarray of shape (n_vectors, n_components) or None
        Sampling vectors.
    labels_ : ndarray of shape (n_samples,)
        Index of the sampling vector nearest to each image, if there is a structure.
    exemplars_ : ndarray of shape (n_vectors,)
        Index of the winner of each sampling vector, if there is a structure.
    n_distinct_winners_ : list of int
        Number of distinct winners in each epoch; a very small number indicates that the view has collapsed.
    cost_history_, range_history_ : list of float
        Mean divergence and number of neighbors in each epoch. As neighborhoods shrink, the divergences of different
        epochs are not comparable.
    n_iter_ : int
        Number of epochs run.
    n_features_in_ : int
        Number of features, or of samples for precomputed dissimilarities.

    See Also
    --------
    XOM : The same without repulsion.
    TSNE : Minimizes one cost over all pairs instead of presenting sampling vectors.

    Notes
    -----
    On a few hundred samples, ``structure=None`` often preserves neighbors better than a structure does.

    For more than 1000 samples, bandwidths and the winners by mean or divergence are computed from 128 neighbors of each
    sample, dense for near and sparse for far neighbors, each of which represents the samples around it. The distances
    of a winner to all samples are computed on demand and partly cached. Memory is therefore proportional to the number
    of samples, unless dissimilarities are given.

    A new sample is placed where the mean of :math:`-\log g` over its neighborhood among the training samples is
    smallest. A sampling vector at this position would make it the winner.

    The force of a divergence on an image, which is :math:`h - g` above, is limited to an absolute value of 1. With
    divergences whose attraction contains a power of g as a factor (gamma, Cauchy-Schwarz, eta, beta above 1, alpha and
    Renyi below 1, Hellinger), distant images are not attracted. For these divergences, forces are scaled to a maximum
    of 1 at each presentation, and the defaults are a spacing of 1, a constant :math:`\varsigma` of 1,
    ``bandwidth="radius"`` and a learning rate that decreases from 0.5 to 0.05. These are the best settings known, but
    they depend on the data: check ``n_distinct_winners_``, and compare with the default divergence and with
    ``winner="mean", neighborhoods="winner"``. A divergence of your own, made with `Bregman` or `Csiszar`, is called
    from Python for each presentation; all others are compiled.

    References
    ----------
    Bunte, Hammer, Villmann, Biehl, Wismueller (2011). Neighbor embedding XOM for dimension reduction and visualization.
    Neurocomputing.

    Bunte (2011). Adaptive dissimilarity measures, dimension reduction and visualization, chapters 8 and 9. PhD thesis,
    University of Groningen.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from protolearn.embedding import SONE
    >>> X, y = load_iris(return_X_y=True)
    >>> view = SONE(random_state=0).fit_transform(X)
    >>> view.shape, KNeighborsClassifier(5).fit(view, y).score(view, y) > 0.9
    ((150, 2), True)
    >>> SONE(random_state=0).fit(X[::2]).transform(X[1::2]).shape
    (75, 2)
    """

    _constraints = {
        "kernel": option(*KERNELS),
        "structure": TopographicEmbedding._constraints["structure"] | none,
        "divergence": A_DIVERGENCE,
        "winner": option(*WINNERS),
        "neighborhoods": option(*NEIGHBORHOODS),
        "bandwidth": option("auto", "perplexity", "radius"),
        "offset": flag | option("auto"),
    } | {
        name: number(0.0 if name.startswith("learning") else LEAST, 1.0 / LEAST, open_low=True) | option("auto")
        for name in POSITIVE
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str = "student",
        structure: str | ArrayLike | None = "auto",
        n_sampling: int | str = "auto",
        spacing: float | str = "auto",
        divergence: Any = "gkl",
        winner: str = "image",
        neighborhoods: str = "own",
        bandwidth: str = "auto",
        offset: bool | str = "auto",
        n_neighbors_start: float | str = "auto",
        n_neighbors_end: float | str = "auto",
        scale_start: float | str = "auto",
        scale_end: float | str = "auto",
        learning_rate_start: float | str = "auto",
        learning_rate_end: float | str = "auto",
        metric: Any = "euclidean",
        squared: bool = False,
        symmetrize: str = "raise",
        init: str | ArrayLike = "pca",
        max_iter: int = 100,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.structure = structure
        self.n_sampling = n_sampling
        self.spacing = spacing
        self.divergence = divergence
        self.winner = winner
        self.neighborhoods = neighborhoods
        self.bandwidth = bandwidth
        self.offset = offset
        self.n_neighbors_start = n_neighbors_start
        self.n_neighbors_end = n_neighbors_end
        self.scale_start = scale_start
        self.scale_end = scale_end
        self.learning_rate_start = learning_rate_start
        self.learning_rate_end = learning_rate_end
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _require_for_measures(get_divergence(self.divergence))

    @property
    def _is_local(self) -> bool:
        """Whether the divergence attracts only images that are close already."""
        form = power_form(get_divergence(self.divergence))
        return form is not None and form.q_power > 0.0

    def _spacing(self) -> float:
        return self._chosen("spacing", 1.0 if self._is_local else 10.0)

    def _sampling_vectors(self, n_samples: int, rng: np.random.RandomState) -> tuple[Any, float]:
        return (None, 1.0) if self.structure is None else super()._sampling_vectors(n_samples, rng)

    def _trainer(self, squares: Squares, vectors: Any) -> Trainer:
        return Attraction(
            squares,
            kernel=self.kernel,
            divergence=get_divergence(self.divergence).limit(),
            winner=WINNERS.index(self.winner),
            each=self.neighborhoods == "own",
            bandwidth=self._bandwidth(),
            offset=self.offset,
            neighbors=self._neighbors(len(squares)),
            scales=self._scales(vectors),
            rates=self._rates(vectors),
        )

    def _bandwidth(self) -> str:
        if self.bandwidth != "auto":
            return self.bandwidth
        return "radius" if self._is_local else "perplexity"

    def _neighbors(self, n_samples: int) -> Floats:
        start = self._chosen("n_neighbors_start", n_samples / 2)
        end = self._chosen("n_neighbors_end", min(LAST_NEIGHBORS, start))
        for name, value in (("start", start), ("end", end)):
            if not 1 <= value < n_samples:
                raise ValueError(
                    f"n_neighbors_{name}={value:g} must be a number of neighbors from 1 to {n_samples - 1}, for "
                    f"n_samples={n_samples}."
                )
        return self._falling(start, end)

    def _scales(self, vectors: Any) -> Floats:
        if self.kernel == "gaussian" or self._is_local:
            start, end = 1.0, 1.0
        elif vectors is None:
            start, end = 1e7, 0.1
        else:
            start, end = 1e7, 1e-3 * pdist(vectors).max() ** 2
        return self._falling(self._chosen("scale_start", start), self._chosen("scale_end", end))

    def _rates(self, vectors: Any) -> Floats:
        if self._is_local:
            start, end = 0.5, 0.05
        elif vectors is None:
            start, end = 0.3, 0.01
        else:
            start, end = 1.0, 1.0
        return self._falling(self._chosen("learning_rate_start", start), self._chosen("learning_rate_end", end))


@dataclass
class Attraction:
    """Update of images that fits their affinities to sampling vectors to those of the winners to all samples."""

    squares: Squares
    kernel: str
    divergence: Divergence
    winner: int
    each: bool  # sample has its own offset and width, or all have those of the winner
    bandwidth: str
    offset: bool | str
    neighbors: Floats
    scales: Floats
    rates: Floats
    neighborhoods: Neighborhoods = field(init=False)
    precisions: Floats = field(init=False)
    own: Floats = field(init=False)
    weights: Weights = field(init=False, default=NO_WEIGHTS)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        self.near = self.squares.near()
        self.nearest = self.near.squares[:, 1].copy()
        offset = not is_tied(self.near) if isinstance(self.offset, str) else self.offset
        self.offsets = self.nearest if offset else np.zeros(len(self.nearest))
        self.form = power_form(self.divergence)
        self.neighborhoods = Neighborhoods(self.bandwidth, 0, offset)
        self.precisions = radius_precisions(self._beyond(), len(self.squares) // 2)
        self._set_step(0)

    def epoch(self, t: int, vectors: Any, images: Floats, rng: np.random.RandomState) -> Epoch:
        """Present all sampling vectors once or, without any, a vector near each image."""
        self._set_step(t)
        if vectors is None:
            points, anchors = (
                rng.normal(scale=np.sqrt(VARIANCE[self.kernel]), size=images.shape),
                rng.permutation(len(images)),
            )
        else:
            points, anchors = vectors[rng.permutation(len(vectors))], np.full(len(vectors), -1)
        # The rate of the Gaussian kernel is that of the whole step, whose slope is 1 / scale^2.
        rate = self.rates[t] * (1.0 if self.kernel == "student" else self.scale**2)
        cost, winners = self._present(points, anchors, images, rate)
        return Epoch(cost, winners, self.neighbors[t])

    def winners(self, vectors: Floats, images: Floats) -> Indices:
        """Return the final winner of each sampling vector."""
        return self._present(vectors, np.full(len(vectors), -1), images, 0.0)[1]

    def placing(self) -> tuple[Neighborhoods, float]:
        """Return the neighborhoods of new samples and the scale of the kernel, infinite if it is a Gaussian."""
        return self.neighborhoods, self.scale if self.kernel == "student" else np.inf

    def affinities(self, rows: Any) -> Floats:
        """Return the affinities h of some samples (m,) to all (m, n)."""
        h = np.exp(-self._minus_log(rows, np.arange(len(self.squares)), self.squares.of(rows)))
        h[np.arange(len(rows)), rows] = np.exp(-self.own[rows])
        return h

    def _set_step(self, t: int) -> None:
        self.scale = float(self.scales[t])
        n_neighbors = int(np.rint(self.neighbors[t]))
        if n_neighbors == self.neighborhoods.n_neighbors:
            return
        self.neighborhoods = replace(self.neighborhoods, n_neighbors=n_neighbors)
        self.precisions = self.neighborhoods.precisions(self._beyond(), self.precisions)
        self.own = self.precisions * (self.nearest - self.offsets) - np.log(OWN_SHARE)
        self.weights = self._weights()

    def _beyond(self) -> Near:
        """Return the neighbors with their squared distances beyond the offsets."""
        return self.near._replace(squares=np.maximum(self.near.squares - self.offsets[:, None], 0.0))

    def _minus_log(self, winners: Any, samples: Any, squares: Floats) -> Floats:
        """Return -log h (m, K) of winners (m,) and samples (K,) or (m, K) with these squared distances (m, K)."""
        i = samples if self.each else winners[:, None]
        return self.precisions[i] * np.maximum(squares - self.offsets[i], 0.0)

    def _weights(self) -> Weights:
        form, (columns, squares, _, shares) = self.form, self.near
        if WINNERS[self.winner] == "image":
            return NO_WEIGHTS
        x = self._minus_log(np.arange(len(columns)), columns, squares)
        x[:, 0] = self.own
        cutoff = NEGLIGIBLE if WINNERS[self.winner] == "mean" or (form is not None and form.q_power == 0.0) else np.inf
        counts = np.maximum(x.shape[1] - (x <= cutoff)[:, ::-1].argmax(axis=1), 2)  # up to the last that is not cut
        if WINNERS[self.winner] == "mean":
            h = shares * np.exp(x.min(axis=1, keepdims=True) - x)
            h[np.arange(h.shape[1]) >= counts[:, None]] = 0.0
            return Weights(columns, h / h.sum(axis=1, keepdims=True), counts, np.zeros(len(h)), True)
        if form is None:
            return NO_WEIGHTS._replace(columns=columns, values=x)
        return divergence_weights(form, columns, x, counts, shares)

    def _present(self, points: Floats, anchors: Indices, images: Floats, rate: float) -> tuple[float, Indices]:
        if self.form is None:
            return self._present_plainly(points, anchors, images, rate)
        from protolearn.embedding._presentation_kernels import present

        won = np.empty(len(points), np.int64)
        weights = None if WINNERS[self.winner] == "image" else self.weights
        affinities = self.squares.rows, self.offsets, self.precisions, self.own, weights, self.each
        shape = self.winner, self.kernel == "student", self.scale, rate, self.form, self.form.scale_free or None
        return present(points, anchors, images, *affinities, *shape, won), won

    def _present_plainly(self, points: Floats, anchors: Indices, images: Floats, rate: float) -> tuple[float, Indices]:
        """Present sampling vectors one by one, with any divergence."""
        costs, won = np.empty(len(points)), np.empty(len(points), np.int64)
        for t, (s, anchor) in enumerate(zip(points, anchors)):
            if anchor >= 0:
                s = s + images[anchor]
            squares = ((images - s) ** 2).sum(axis=1)
            c, slope = minus_log_kernel(squares, self.kernel, self.scale)
            g = np.maximum(np.exp(-c), LEAST_AFFINITY)
            won[t] = self._winner(squares, c, g)
            h = np.maximum(self.affinities(won[t : t + 1])[0], LEAST_AFFINITY)
            costs[t] = self.divergence.value(h, g)
            images -= (rate * slope * np.clip(pull(self.divergence, h, g), -1.0, 1.0))[:, None] * (images - s)
        return float(costs.mean()), won

    def _winner(self, squares: Floats, c: Floats, g: Floats) -> int:
        from protolearn.embedding._presentation_kernels import lowest

        if WINNERS[self.winner] == "image":
            return int(squares.argmin())
        if WINNERS[self.winner] == "mean":
            return lowest(c, self.weights, 0)
        h = np.maximum(np.exp(-self.weights.values), LEAST_AFFINITY)
        with np.errstate(all="ignore"):
            sums = (self.near.shares * self.divergence.terms(h, g[self.weights.columns])).sum(axis=-1)
            return int(np.argmin(self.divergence.outer(sums)))


def minus_log_kernel(squares: Floats, kernel: str, scale: float) -> tuple[Floats, Any]:
    """Return -log g at squared distances, and the slope a that makes its gradient ``a (xi - s)``."""
    if kernel == "gaussian":
        return squares / (2.0 * scale**2), 1.0 / scale**2  # Bunte 2011, eq. 8.8
    return 0.5 * (scale + 1.0) * np.log1p(squares / scale), (scale + 1.0) / (scale + squares)  # eq. 8.9


def pull(divergence: Divergence, h: Floats, g: Floats) -> Floats:
    """Return how strongly each image is attracted (repelled if negative): -g times the derivative by g."""
    return -g * divergence.derivative(h, g)


class PowerForm(NamedTuple):
    """A divergence whose pull is ``factor * (h**p_power g**q_power - g**(p_power + q_power))``.

    If ``p_power`` is 0, the difference of powers of h and g is one of their logarithms. If the divergence is
    ``scale_free``, that of gamma, both powers are divided by their sums instead. If ``inner`` is not 0, the divergence
    is ``outer * log(1 + inner * D)`` of the divergence D described by the rest.
    """

    p_power: float
    q_power: float
    factor: float
    scale_free: bool = False
    inner: float = 0.0
    outer: float = 1.0


def power_form(divergence: Divergence) -> PowerForm | None:
    """Return the form of a divergence that the compiled loop knows, else None."""
    divergence = divergence.limit()
    if isinstance(divergence, Gamma):
        return PowerForm(1.0, float(divergence.gamma), 1.0, scale_free=True)
    if isinstance(divergence, ReverseGeneralizedKullbackLeibler):
        return PowerForm(0.0, 1.0, 1.0)
    if isinstance(divergence, GeneralizedRenyi):
        alpha = float(divergence.alpha)
        outer = 1.0 / (alpha - 1.0) / (alpha if divergence.normalized else 1.0)
        return PowerForm(alpha, 1.0 - alpha, 1.0 / alpha, inner=alpha * (alpha - 1.0), outer=outer)
    known = (GeneralizedKullbackLeibler, ItakuraSaito, Beta, Eta, Alpha, Hellinger)
    if not isinstance(divergence, known) or divergence.pull is None:
        return None
    index, factor, p_power, q_power = divergence.pull
    weight = divergence.weights(np.ones(1))[index]  # the same for all sums
    return PowerForm(float(p_power), float(q_power), -float(factor * weight))


@dataclass(frozen=True)
class Neighborhoods:
    """Rule that converts a number of neighbors to a bandwidth, see ``bandwidth`` and ``offset`` of `SONE`."""

    bandwidth: str
    n_neighbors: int
    offset: bool

    def precisions(self, near: Near, first: Floats) -> Floats:
        """Return precisions (n,) from the squared distances to neighbors, starting the search at given precisions."""
        if self.bandwidth == "radius":
            return radius_precisions(near, self.n_neighbors)
        from protolearn.embedding._presentation_kernels import entropic_precisions

        found, others = first.copy(), near.ranks > 0
        perplexity = max(self.n_neighbors, LEAST_PERPLEXITY)
        entropic_precisions(near.squares[:, others], near.shares[others], perplexity, found)
        return found

    def of_new(self, squares: Floats) -> Floats:
        """Return the precisions (m,) of samples with given squared distances (m, n) to all training samples."""
        excess = np.sort(squares - squares.min(axis=1, keepdims=True) * self.offset, axis=1)
        n = excess.shape[1]
        near = Near(np.empty((0, n), np.int32), excess, np.arange(1, n + 1), np.ones(n))
        return self.precisions(near, radius_precisions(near, self.n_neighbors))


def is_tied(near: Near) -> bool:
    """Return whether most samples have more than one nearest neighbor."""
    return bool((near.squares[:, 1] == near.squares[:, 2]).mean() > 0.5)


def radius_precisions(near: Near, n_neighbors: int) -> Floats:
    """Return the precisions with which the n-th neighbor, or the first that is not the same, is three sigma away."""
    radii = near.of_rank(n_neighbors)
    for i in np.flatnonzero(radii == 0.0):
        radii[i] = near.squares[i, near.squares[i] > 0.0].min(initial=1.0)
    return 0.5 * SIGMAS**2 / radii


def divergence_weights(
    form: PowerForm, columns: NDArray[np.int32], x: Floats, counts: Indices, shares: Floats
) -> Weights:
    """Return the part of the divergences of affinities ``exp(-x)`` (n, K) from others g that differs between rows.

    The rest is a function of -log g, if the form has the power 0 of g, or else of that power.
    """
    a, b, factor = form.p_power, form.q_power, form.factor
    if b == 0.0:
        h = factor * shares * np.exp(-a * x)
        return Weights(columns, h, counts, -(h * (x + 1.0 / a)).sum(axis=1), True)
    x = np.minimum(x, -np.log(LEAST_AFFINITY))
    if a == 0.0:
        return Weights(columns, shares * x, counts, (shares * np.exp(-x)).sum(axis=1), True)
    h = shares * np.exp(-a * x)
    powers = (shares * np.exp(-(a + b) * x)).sum(axis=1)
    if form.scale_free:
        return Weights(columns, h, counts, np.log(powers) / (b * (b + 1.0)), False)
    rest = (shares * x).sum(axis=1) if a + b == 0.0 else -powers / (a + b)
    return Weights(columns, -factor / b * h, counts, factor * (powers / b + rest), b < 0.0)


def _require_for_measures(divergence: Divergence) -> None:
    """Refuse divergences whose forces do not vanish where both affinities are equal."""
    if not divergence.of_measures:
        raise ValueError(
            f"divergence={divergence!r} is defined for densities, but the affinities of SONE do not sum to one; use a "
            "divergence of measures, such as 'gkl', 'alpha', 'generalized_renyi' or 'gamma'."
        )
