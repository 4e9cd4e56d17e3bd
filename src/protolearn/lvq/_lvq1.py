"""Heuristic LVQ rules without a cost function: LVQ1 (with OLVQ1 and RLVQ) and LVQ2.1."""

from __future__ import annotations

from copy import copy, deepcopy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from protolearn.core.estimator import keep, nothing_lost
from protolearn.core.parameters import flag, fraction, integer, number
from protolearn.core.progress import Progress, wants_to_stop
from protolearn.core.threads import chunk_threads
from protolearn.core.types import Array, Bools, Floats, Indices
from protolearn.core.validation import refuse_collection, require_memory
from protolearn.core.weights import counted
from protolearn.lvq._base import LVQClassifier, joint_ranges, ranges_of
from protolearn.lvq._callback import Callback, TrainingState
from protolearn.lvq._docs import documented
from protolearn.lvq._start import first_prototypes, weighted_mean
from protolearn.lvq._stream import LONGEST_HISTORY, Recent, warn_of_change
from protolearn.lvq._sweeps import pieces
from protolearn.lvq.relevance import DiagonalMetric, EuclideanMetric
from protolearn.lvq.samples import Labeled

__all__ = ["LVQ1", "LVQ21"]

Codes = Indices


class _HeuristicLVQ(LVQClassifier):
    """What the rules without a cost share: one pass after the other, in random order."""

    _constraints = {
        "learning_rate": fraction,
        "adaptive_rates": flag,
        "relevance_learning_rate": number(0),
        "window": fraction,
        "max_iter": integer(1),
    }

    init: str | ArrayLike
    learning_rate: float
    max_iter: int
    callback: Callback | None
    random_state: Any
    verbose: int

    @nothing_lost
    @chunk_threads(1)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the prototypes.

        If training is interrupted (Ctrl-C), the current state is kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels of the samples; at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Number of presentations of each sample per epoch: a sample of weight 2 is presented twice, and a sample of
            weight 0 is ignored. Fractional parts are rounded at random, anew in every epoch. Weights with a mean below
            one, or values above 2**32, are rescaled to mean one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_parameters()
        samples, labels, weights = self._check_samples(X, y, sample_weight, reset=True)
        self._learn(samples, labels, weights)
        return self

    @nothing_lost
    @chunk_threads(1)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue training with a batch of samples.

        Every call is one epoch over the batch at the constant rate ``learning_rate``. Lower the rate with `set_params`
        if needed. The prototypes of a class are initialized when its first samples arrive.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Class labels of the samples.
        classes : array-like of shape (n_classes,), optional
            All classes that may occur in any batch. Required in the first call unless `fit` was called before.
        sample_weight : array-like of shape (n_samples,), optional
            Number of presentations of each sample, as in `fit`.

        Returns
        -------
        self : object
            The classifier.

        Notes
        -----
        Samples with a value more than a hundred times larger than all values of this feature so far are left out, with
        a warning.
        """
        self._check_parameters()
        first = not hasattr(self, "prototypes_")
        samples, labels, weights = self._check_samples(X, y, sample_weight, reset=first, batch=True)
        if not len(samples):
            return self
        self._go_on(samples, self._stream_codes(labels, classes), weights, first)
        return self

    def _check_samples(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, reset: bool, batch: bool = False
    ) -> tuple[Floats, Array, Floats]:
        """Return samples, labels and weights, without samples of weight zero, and in a batch without unusual ones."""
        refuse_collection(X, type(self).__name__, "call partial_fit with one partition after the other")
        samples, labels = self._check_training(X, y, reset)
        samples, labels, weights = self._usual(samples, labels, sample_weight, reset or not batch)
        if not len(samples):
            return samples, labels, weights
        present, counts, _ = counted(labels, weights)
        return samples[present], labels[present], counts

    def _learn(self, samples: Floats, labels: Array, u: Floats) -> None:
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but y has one class only "
                f"({self.classes_[0]!r})."
            )
        self._check_reject()
        given = Labeled(samples, codes, u)
        self._codes = self._prototype_codes(given.counts(len(self.classes_)))
        self.__dict__.pop("_hidden", None)
        rng = check_random_state(self.random_state)
        self._center = weighted_mean(given)
        centered = np.subtract(samples, self._center, order="C")
        W = self._first_prototypes(Labeled(centered, codes, u), rng)
        self._bounds = ranges_of(centered)
        self._begin(W)
        self.error_history_: list[float] = []
        interrupted = False
        try:
            with Progress(type(self).__name__, self.max_iter, self.verbose, "epoch") as progress:
                for epoch in range(1, self.max_iter + 1):
                    rate = self.learning_rate * (1.0 - (epoch - 1) / self.max_iter)
                    error = self._sweep(centered, codes, presentations(u, rng), W, rate)
                    self.error_history_.append(error)
                    progress.step(epoch, error=error)
                    make = partial(self._copy()._store, given, W.copy())
                    if wants_to_stop(self.callback, TrainingState(epoch, error, make)):
                        break
        except KeyboardInterrupt:
            if not self.error_history_:
                raise
            interrupted = True
        self._seen, self._rng = np.ones(len(self.classes_), bool), rng
        self._recent = Recent(len(self.classes_), samples.shape[1])
        self._store(given, W)
        if interrupted:
            keep(self)
            raise KeyboardInterrupt

    def _store(self, samples: Labeled, W: Floats) -> Self:
        """Set the fitted attributes; return the classifier."""
        self.n_iter_ = max(1, len(self.error_history_))
        self.prototypes_ = W + self._center
        self.prototype_labels_ = self.classes_[self._codes]
        self._finish(samples)
        return self

    def _copy(self) -> Self:
        """Return a copy that training does not change."""
        same = copy(self)
        same.error_history_ = [*self.error_history_]
        same._resume()
        return same

    def _go_on(self, samples: Floats, codes: Codes, u: Floats, first: bool) -> None:
        """Make one pass over a batch, with prototypes of the classes seen so far."""
        wanted = self._prototype_codes(None)
        if first:
            self._codes = wanted
            self._center = weighted_mean(Labeled(samples, codes, u))
            W, seen = np.zeros((len(wanted), samples.shape[1])), np.zeros(len(self.classes_), bool)
            rng = check_random_state(self.random_state)
            self._begin(W)
            self.error_history_, self.n_iter_ = [], 0
        elif not np.array_equal(wanted, self._codes):
            raise ValueError(
                f"prototypes_per_class={self.prototypes_per_class!r} has changed since training began; fit again."
            )
        else:  # copies, for the old ones serve on if this batch fails
            W, seen, rng = self.prototypes_ - self._center, self._seen.copy(), deepcopy(self._rng)
            self._resume()
        centered = np.subtract(samples, self._center, order="C")
        ranges = ranges_of(samples)
        self._bounds = (ranges if first else joint_ranges(self.feature_ranges_, ranges)) - self._center
        new = np.isin(self._codes, np.setdiff1d(codes, np.flatnonzero(seen)))
        if new.any():
            W[new] = self._first_prototypes(Labeled(centered, codes, u), rng)[new]
        seen[codes] = True
        self._hidden = ~seen[self._codes]
        recent = Recent(len(seen), W.shape[1]) if first else deepcopy(self._recent)
        anew = recent.follow(Labeled(centered, codes, u), W, self._codes, self._right) if seen.sum() > 1 else None
        if anew is not None:
            warn_of_change(self)
            W = anew
            self._begin(W)
        moved = np.where(self._hidden[:, None], np.inf, W)  # so that hidden prototypes never win
        error = self._sweep(centered, codes, presentations(u, rng), moved, self.learning_rate)
        self.error_history_ = [*self.error_history_, error][-LONGEST_HISTORY:]
        self.n_iter_ += 1
        self._seen, self._rng, self._recent = seen, rng, recent
        self.prototypes_ = np.where(self._hidden[:, None], W, moved) + self._center
        self.prototype_labels_ = self.classes_[self._codes]
        self._finish_batch(Labeled(samples, codes, u))

    def _right(self, W: Floats, X: Floats, y: Codes) -> Bools:
        """Say which samples of classes seen so far are nearest to a prototype of their class."""
        D = self._metric.measure(X, W, self._codes, self._theta)[0]
        D[:, self._hidden] = np.inf
        right: Bools = self._codes[D.argmin(axis=1)] == y
        return right

    def _resume(self) -> None:
        """Make copies of what a sweep changes."""

    def _begin(self, W: Floats) -> None:
        """Set the metric that training starts with."""
        self._metric, self._theta = EuclideanMetric(), ()

    def _sweep(self, X: Floats, y: Codes, order: Codes, W: Floats, rate: float) -> float:
        raise NotImplementedError

    def _first_prototypes(self, samples: Labeled, rng: np.random.RandomState) -> Floats:
        if isinstance(self.init, str):
            return first_prototypes(samples, self._codes, self.init, rng)
        return self._given_prototypes(self.init) - self._center


@documented
class LVQ1(_HeuristicLVQ):
    """Learning vector quantization with Kohonen's first rule, which attracts or repels the nearest prototype.

    For every sample ``x`` the nearest prototype ``w`` moves by ``rate (x - w)`` if it has the class of the sample, and
    by ``-rate (x - w)`` otherwise. The learning rate decreases linearly to zero. The rule is a heuristic and does not
    minimize a cost function; `GLVQ` does, and is the better choice for most purposes.

    Where samples of other classes prevail, they could repel a prototype farther and farther. No prototype is therefore
    repelled beyond the range of the training samples, in any feature.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    learning_rate : float, default=0.01
        Initial learning rate.
    adaptive_rates : bool, default=False
        Whether each prototype has its own learning rate, which decreases when the prototype classifies a sample
        correctly and increases otherwise, up to ``learning_rate`` (OLVQ1).
    relevance_learning_rate : float, default=0.0
        Learning rate of the feature relevances (RLVQ): features in which the winner is far from a sample of its class
        lose relevance. With 0 all features keep the same relevance.
    %(init)s
    max_iter : int, default=50
        Number of epochs.
    %(answers)s
    %(running)s

    Attributes
    ----------
    %(prototypes)s
    relevances_ : ndarray of shape (n_features,)
        Relevance of each feature; the relevances sum to one.
    %(importances)s
    error_history_ : list of float
        Fraction of the presented samples that were nearest to a prototype of another class, for every epoch, or for
        each of the last 1,000 batches given to ``partial_fit``.
    n_iter_ : int
        Number of epochs, or of batches given to ``partial_fit``.
    %(features)s

    References
    ----------
    Kohonen (1995). Self-organizing maps. Springer, chapter 6.

    Bojer, Hammer, Schunk and Tluk von Toschanowitz (2001). Relevance determination in learning vector quantization.
    ESANN.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ1
    >>> X, y = load_iris(return_X_y=True)
    >>> LVQ1(2, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        learning_rate: float = 0.01,
        adaptive_rates: bool = False,
        relevance_learning_rate: float = 0.0,
        init: str | ArrayLike = "neural_gas",
        max_iter: int = 50,
        missing: str = "error",
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.learning_rate = learning_rate
        self.adaptive_rates = adaptive_rates
        self.relevance_learning_rate = relevance_learning_rate
        self.init = init
        self.max_iter = max_iter
        self.missing = missing
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _begin(self, W: Floats) -> None:
        self._rates = np.full(len(W), float(self.learning_rate))
        self.relevances_ = np.full(W.shape[1], 1.0 / W.shape[1])
        self._metric, self._theta = DiagonalMetric(), (np.sqrt(self.relevances_)[None],)

    def _resume(self) -> None:
        self._rates, self.relevances_ = self._rates.copy(), self.relevances_.copy()

    def _sweep(self, X: Floats, y: Codes, order: Codes, W: Floats, rate: float) -> float:
        from protolearn.lvq import _kernels

        if not self.adaptive_rates:
            self._rates[:] = rate
        state = W, self._codes, self.relevances_[None], self._rates
        settings = (
            self._bounds,
            float(self.learning_rate),
            bool(self.adaptive_rates),
            float(self.relevance_learning_rate),
        )
        try:
            errors = sum(_kernels.sweep_lvq1(X, y, some, *state, *settings) for some in pieces(order, W.size))
        finally:
            self._theta = (np.sqrt(self.relevances_)[None],)
        return errors / len(order)


@documented
class LVQ21(_HeuristicLVQ):
    r"""Learning vector quantization 2.1, in which samples near a class border move the prototypes on both sides.

    A sample attracts the nearest prototype of its class and repels the nearest prototype of any other class if it lies
    in a window around the border between them: ``min(d_J / d_K, d_K / d_J) > (1 - window) / (1 + window)`` for the
    distances (not squared).

    In the original rule both prototypes move at the same rate, and prototypes can diverge. Here the rate of the
    repelled prototype is multiplied by :math:`\min(1, d_J^2 / d_K^2)`, the ratio of both rates in `GLVQ`, and no
    prototype is repelled beyond the range of the training samples, in any feature.

    Parameters
    ----------
    prototypes_per_class : int or dict, default=1
        Number of prototypes per class: one number for all classes, or a dict from class labels to numbers.
    learning_rate : float, default=0.01
        Initial learning rate; it decreases linearly to zero.
    window : float, default=0.25
        Relative width of the window around the border; a larger window admits more samples to the updates.
    %(init)s
    max_iter : int, default=50
        Number of epochs.
    %(answers)s
    %(running)s

    Attributes
    ----------
    %(prototypes)s
    error_history_ : list of float
        Fraction of the presented samples that were nearest to a prototype of another class, for every epoch, or for
        each of the last 1,000 batches given to ``partial_fit``.
    n_iter_ : int
        Number of epochs, or of batches given to ``partial_fit``.
    %(features)s

    References
    ----------
    Kohonen (1995). Self-organizing maps. Springer, chapter 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import LVQ21
    >>> X, y = load_iris(return_X_y=True)
    >>> LVQ21(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        prototypes_per_class: int | dict[Any, int] = 1,
        *,
        learning_rate: float = 0.01,
        window: float = 0.25,
        init: str | ArrayLike = "neural_gas",
        max_iter: int = 50,
        missing: str = "error",
        reject_threshold: float = 0.0,
        reject_label: Any = -1,
        contamination: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.learning_rate = learning_rate
        self.window = window
        self.init = init
        self.max_iter = max_iter
        self.missing = missing
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.contamination = contamination
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _sweep(self, X: Floats, y: Codes, order: Codes, W: Floats, rate: float) -> float:
        from protolearn.lvq import _kernels

        state = W, self._codes, float(rate), self._bounds, float(self.window)
        return sum(_kernels.sweep_lvq21(X, y, some, *state) for some in pieces(order, W.size)) / len(order)


def presentations(u: Floats, rng: np.random.RandomState) -> Codes:
    """Return the order of presentation of the samples in an epoch, each repeated according to its weight.

    Examples
    --------
    >>> order = presentations(np.array([2.0, 1.5, 1.0]), np.random.RandomState(0))
    >>> np.bincount(order).tolist() in ([2, 1, 1], [2, 2, 1])
    True
    """
    require_memory(f"An epoch of {u.sum():.3g} presentations", 16 * u.sum(), "scale sample_weight down")
    counts = np.floor(u + 1e-9).astype(np.int64)  # whole numbers may be off by rounding
    fractions = u - counts
    if fractions.max() > 1e-9:
        counts += rng.uniform(size=len(u)) < fractions
    return rng.permutation(np.repeat(np.arange(len(u)), counts))
