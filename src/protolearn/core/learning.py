"""Training of maps: an estimator composes a recipe, and these functions execute it, on all samples or patch by patch.

The functions call each other in this order: `learn_patches` iterates over patches, `learn` runs several initializations
on one patch, and `learn_once` performs a single run. The `Kind` alone defines the prototype model, and the result is a
`Fitted` model of that kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import coo_array, csr_array

from protolearn.core.density import correlation_dimension, mean_pairwise_distance, parzen_log_density
from protolearn.core.lattices import Lattice
from protolearn.core.loop import Step, batch
from protolearn.core.neighborhoods import Neighborhood
from protolearn.core.numerics import lower
from protolearn.core.parameters import Part, integer, none, number
from protolearn.core.progress import Progress
from protolearn.core.samples import Samples, TooFewSamples, batched, over_classes, require_samples
from protolearn.core.sources import cut_patches
from protolearn.core.types import Array, Floats, Indices

__all__ = [
    "Fitted",
    "History",
    "Kind",
    "Learned",
    "Patches",
    "Recipe",
    "Wins",
    "condense",
    "hebbian_graph",
    "learn",
    "learn_once",
    "learn_patches",
    "merge",
]

MOST_PAIRED = 4096  # samples from whose distances to all the density is estimated

Epochs = Callable[[Any, Neighborhood, Any, Floats, np.random.RandomState], Iterator[Step]]
Finish = Callable[[Any, Any, float, np.random.RandomState], tuple[Any, float | None]]


class Patches(Part):
    """Training on one patch after another: each is learned together with points that stand for all earlier samples.

    Parameters
    ----------
    size : int, optional
        Approximate number of samples in a patch; by default all that are given at a time.
    decay : float, default=1.0
        Factor by which each patch multiplies the weight of all earlier samples; with values below 1, old samples are
        gradually forgotten.
    runs : int, default=1
        Number of independent runs over the patches. They run in parallel, and their prototypes are merged at the end.

    References
    ----------
    Hasenfuss (2009). Topographic mapping of dissimilarity datasets. PhD thesis, TU Clausthal, sec. 3.4.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protolearn import NeuralGas
    >>> from protolearn.maps import Patches
    >>> X, _ = load_digits(return_X_y=True)
    >>> gas = NeuralGas(10, patches=Patches(size=300), random_state=0).fit(X)
    >>> gas.multiplicities_.sum()
    np.float64(1797.0)
    """

    _constraints = {"size": integer(1) | none, "decay": number(0, 1, open_low=True), "runs": integer(1)}

    def __init__(self, size: int | None = None, *, decay: float = 1.0, runs: int = 1) -> None:
        self.size = size
        self.decay = decay
        self.runs = runs


@dataclass(frozen=True)
class History:
    """History of training: cost and neighborhood range of every epoch, and how training ended.

    ``settled`` is the cost after what followed the last epoch, ``edges`` are those that online learning made. ``still``
    says whether prototypes came to rest, if epochs were to go on until they do.

    Examples
    --------
    >>> from protolearn.core.learning import History
    >>> history = History()
    >>> history.costs.append(3.0)
    >>> history.ranges.append(0.5)
    >>> history.costs, history.interrupted, history.settled is None
    ([3.0], False, True)
    """

    costs: list[float] = field(default_factory=list)
    ranges: list[float] = field(default_factory=list)
    magnification: float | None = None
    interrupted: bool = False
    settled: float | None = None
    edges: Any = None
    still: bool | None = None


@dataclass(frozen=True)
class Wins:
    """Weights of the samples of each prototype (k,), and of those with each pair of nearest prototypes (k, k).

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.learning import Wins
    >>> from protolearn.core.samples import Samples
    >>> samples = Samples(np.zeros((2, 1)), np.array([1.0, 3.0]))
    >>> wins = Wins.of(samples, np.array([0, 1]), np.array([1, 2]), n_prototypes=3)
    >>> (wins + wins).masses.tolist(), (wins + wins).graph.toarray().tolist()
    ([2.0, 6.0, 0.0], [[0.0, 2.0, 0.0], [2.0, 0.0, 6.0], [0.0, 6.0, 0.0]])
    """

    masses: Floats
    graph: Any

    @classmethod
    def of(cls, samples: Samples, first: Indices, second: Indices, n_prototypes: int) -> Wins:
        """Add up weights, given the two nearest prototypes of each sample."""
        masses = np.bincount(first, samples.weights, n_prototypes).astype(np.float64)
        return cls(masses, hebbian_graph(first, second, samples.weights, n_prototypes))

    def __add__(self, other: Wins) -> Wins:
        return Wins(self.masses + other.masses, self.graph + other.graph)


@dataclass(frozen=True)
class Fitted(ABC):
    """Fitted prototypes with the weights of their receptive fields; subclasses add the prototype parameters.

    ``shares`` (k, C) are those of the classes (C,) in the labels of prototypes, of no class if labels do not count.
    ``winners`` and ``graph`` are of the samples learned from last.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Fitted, Recipe, learn
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> recipe = Recipe(Points([[0.0], [9.0]], 2), Winner(), 5)
    >>> samples = Samples(np.array([[0.0], [1.0], [9.0]]), np.ones(3))
    >>> fitted: Fitted = learn(recipe, samples, None, np.random.RandomState(0), n_threads=1)
    >>> fitted.winners.tolist(), fitted.masses.tolist(), fitted.past().X.tolist()
    ([0, 0, 1], [2.0, 1.0], [[0.5], [9.0]])
    """

    neighborhood: Neighborhood
    classes: Array
    shares: Floats
    masses: Floats
    winners: Indices
    graph: Any
    history: History

    def __len__(self) -> int:
        return len(self.masses)

    @property
    def supervised(self) -> bool:
        """Return whether labels are used."""
        return len(self.classes) > 0

    @property
    def final_cost(self) -> float:
        """Return the cost by which one of several starts is chosen."""
        return self.history.costs[-1] if self.history.settled is None else self.history.settled

    @abstractmethod
    def past(self, decay: float = 1.0) -> Samples:
        """Return weighted samples that represent all training samples."""

    @abstractmethod
    def two_nearest(self, X: Any, n_threads: int) -> tuple[Indices, Indices]:
        """Return the nearest and second nearest prototype of every sample."""

    def alone(self) -> Self:
        """Return the model without the samples that it does not need any more."""
        return self

    def assignment(self, n_threads: int) -> Callable[[Samples], tuple[Indices, Indices]]:
        """Return the function that gives the two nearest prototypes of every sample."""
        return lambda samples: self.two_nearest(samples.X, n_threads)

    def fields(self) -> Callable[..., Any]:
        """Return how samples are added up, given the two nearest prototypes of each."""
        return partial(Wins.of, n_prototypes=len(self))

    def shares_over(self, classes: Any) -> Floats:
        """Return the shares with a column for each of these classes; none if the map is not supervised."""
        return over_classes(self.shares, self.classes, classes) if self.supervised else self.shares

    def showing(self, weights: Array, first: Indices, second: Indices) -> Self:
        """Return the model with the two nearest prototypes, and their graph, of samples of given weights.

        Edges that were made while learning are the graph, if there are any.
        """
        edges = self.history.edges
        graph = hebbian_graph(first, second, weights, len(self)) if edges is None else csr_array(edges)
        return replace(self, winners=first, graph=graph)


@dataclass(frozen=True)
class Learned:
    """Prototypes after their last epoch, and the samples they are from, of which the first ``n_new`` are new.

    Prototypes get the order of those ``earlier``, if there are any. Weights in the source are those of the samples
    divided by ``scale``.

    Examples
    --------
    A kind is given it, to make a model of it:

    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Recipe, learn
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> class Told(Points):
    ...     def fitted(self, learned):
    ...         print(learned.n_new, "samples,", len(learned.history.costs), "epochs")
    ...         return super().fitted(learned)
    >>> recipe = Recipe(Told([[0.0], [9.0]], 2), Winner(), 5)
    >>> samples = Samples(np.array([[0.0], [1.0], [9.0]]), np.ones(3))
    >>> _ = learn(recipe, samples, None, np.random.RandomState(0), n_threads=1)
    3 samples, 5 epochs
    """

    prototypes: Any
    neighborhood: Neighborhood
    source: Any
    samples: Samples
    n_new: int
    earlier: Any
    history: History
    scale: float
    n_threads: int

    @property
    def classes(self) -> Array:
        """Return the classes, none if labels do not count."""
        return self.samples.classes if self.samples.supervised else np.empty(0)


class Kind(ABC):
    """Prototype model: how samples are read, how prototypes are initialized, and which fitted model results.

    Examples
    --------
    Points are one kind, of a given number unless the neighborhood is on a lattice:

    >>> from protolearn.core.neighborhoods import OnLattice, Ranks
    >>> from protolearn.core.lattices import chain
    >>> from protolearn.core.learning import Kind
    >>> from protolearn.maps._points import Points
    >>> kind: Kind = Points("k-means++", size=2)
    >>> kind.count(Ranks()), kind.count(OnLattice(chain(5))), kind.starts_by("random")
    (2, 5, False)
    """

    init: Any
    size: int | None  # number of prototypes, unless the neighborhood knows it
    last_radius = 0.55  # of the range on a lattice, by default

    def sized(self, samples: Samples, past: Any) -> Kind:
        """Return the kind with as many prototypes as the past has, or as suit samples, if their number is not given."""
        return self

    def starts_by(self, *rules: str) -> bool:
        """Say whether prototypes start by one of these rules."""
        return isinstance(self.init, str) and self.init in rules

    def starts(self, n_init: int) -> Iterator[Kind]:
        """Yield the kind with the rule of each start; of a given one there is one only."""
        for _ in range(n_init if isinstance(self.init, str) else 1):
            yield self

    def enter(self, recipe: Recipe, samples: Samples, past: Any) -> tuple[Kind, Samples, Any]:
        """Return the kind, samples and past in the coordinates in which learning goes on."""
        return self, samples, past

    def condensing(self) -> Kind:
        """Return the kind for models that are sent from one place to another, and shall be small."""
        return self

    def leave(self, fitted: Any) -> Any:
        """Return what was learned in those coordinates as it is outside of them."""
        return fitted

    def count(self, neighborhood: Neighborhood) -> int:
        """Return the number of prototypes."""
        size = neighborhood.n_nodes or self.size
        assert size is not None
        return size

    @abstractmethod
    def density_data(self, samples: Samples) -> Any:
        """Return what the density of samples is estimated from."""

    @abstractmethod
    def suggested_lattice(self, source: Any) -> Lattice:
        """Return a lattice that suits the samples."""

    @abstractmethod
    def widest(self, source: Any) -> float:
        """Return the variance of the samples along the direction where it is largest."""

    @abstractmethod
    def source(self, samples: Any, past: Any, n_threads: int, rng: np.random.RandomState) -> Any:
        """Return the samples of a patch as the loop reads them."""

    @abstractmethod
    def start(
        self,
        recipe: Recipe,
        source: Any,
        neighborhood: Neighborhood,
        samples: Samples,
        past: Any,
        rng: np.random.RandomState,
    ) -> Any:
        """Return the first prototypes: those of the past, if there is one."""

    @abstractmethod
    def fitted(self, learned: Learned) -> Fitted:
        """Return the model that remains."""


@dataclass(frozen=True)
class Recipe:
    """Recipe of training, composed of parts that can be replaced independently.

    Parameters
    ----------
    kind : Kind
        Prototype model and initialization.
    neighborhood : Neighborhood
        Neighborhood function, with the range of every epoch.
    n_epochs : int
        Number of epochs, at most.
    epochs : callable
        Function that runs the epochs: ``(prototypes, neighborhood, source, ranges, rng)`` to an iterator of steps.
    finish : callable, optional
        Function applied after the last epoch: ``(prototypes, source, last range, rng)`` to prototypes, and their cost
        if known.
    n_init : int, default=1
        Number of runs from different initial prototypes.
    resumes : bool, default=False
        Whether later patches start from the current prototypes instead of a new initialization.
    magnification : float or "optimal", default=0.0
        Exponent of the density by which samples are weighted.
    density_at : {"sample", "winner"}, default="sample"
        Whether samples are weighted, or the steps of winners, which the epochs implement.
    decay : float, default=1.0
        Factor by which each patch multiplies the weight of the past.
    n_runs : int, default=1
        Number of independent runs over patches.
    progress : Progress, optional
        Progress display that receives the range and cost of every epoch and the end of every run.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Recipe, learn
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> kmeans = Recipe(kind=Points("k-means++", 2), neighborhood=Winner(), n_epochs=5)
    >>> samples = Samples(np.array([[0.0], [1.0], [9.0], [10.0]]), np.ones(4))
    >>> np.sort(learn(kmeans, samples, None, np.random.RandomState(0), n_threads=1).positions.ravel()).tolist()
    [0.5, 9.5]
    """

    kind: Any
    neighborhood: Neighborhood
    n_epochs: int
    epochs: Epochs = batch
    finish: Finish | None = None
    n_init: int = 1
    resumes: bool = False
    magnification: float | str = 0.0
    density_at: str = "sample"
    decay: float = 1.0
    n_runs: int = 1
    progress: Progress = field(default_factory=lambda: Progress("", None, 0))

    def ranges(self, neighborhood: Neighborhood, source: Any, kind: Any, resumed: bool) -> Floats:
        """Return the range of every epoch, or several for one in which samples are learned one by one."""
        return neighborhood.ranges(source, kind, self.n_epochs, resumed, getattr(self.epochs, "per_epoch", 1))

    def count_starts(self, n_patches: int) -> int:
        """Return how often learning starts, if there are so many patches: for each, and to merge several runs."""
        n_merged = int(min(self.n_runs, n_patches) > 1)
        return (n_patches + n_merged) * sum(1 for _ in self.kind.starts(self.n_init))


def learn_patches(
    recipe: Recipe, patches: Iterable[Samples], past: Any, rng: np.random.RandomState, n_threads: int
) -> tuple[Any, BaseException | None]:
    """Train on one patch after another, in independent runs whose prototypes are merged at the end.

    If a patch fails or the user interrupts, the models learned so far are merged and returned with the exception.

    Parameters
    ----------
    recipe : Recipe
        Recipe of training.
    patches : iterable of Samples
        The patches.
    past : Fitted or None
        Model of earlier samples.
    rng : RandomState
        Source of random numbers.
    n_threads : int
        Number of threads.

    Returns
    -------
    fitted : Fitted or None
        The model; None if nothing was learned.
    failure : exception or None
        Exception that ended training early.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Recipe, learn_patches
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> recipe = Recipe(Points("k-means++", 2), Winner(), 5)
    >>> patches = [Samples(np.array([[x], [x + 10.0]]), np.ones(2)) for x in (0.0, 1.0)]
    >>> fitted, failure = learn_patches(recipe, patches, None, np.random.RandomState(0), n_threads=1)
    >>> np.sort(fitted.positions.ravel()).round(6).tolist(), failure is None
    ([0.5, 10.5], True)
    """
    runs: list[Any] = [past] + [None] * (recipe.n_runs - 1)
    rngs = [rng] + [np.random.RandomState(rng.randint(2**31)) for _ in runs[1:]]
    last: Any = None
    failure: BaseException | None = None
    try:
        for group in batched(patches, recipe.n_runs):
            done = _learn_each(recipe, list(zip(group, runs, rngs)), n_threads)
            runs[: len(done)], last = done, group[len(done) - 1]
            if any(fitted.history.interrupted for fitted in done):
                raise KeyboardInterrupt
    except (KeyboardInterrupt, Exception) as error:
        failure = error
    models = [fitted for fitted in runs if fitted is not None]
    if len(models) <= 1:
        return (models[0] if models else None), failure
    others = reduce(Samples.joined, (fitted.past() for fitted in models[1:]))
    merged = learn(replace(recipe, decay=1.0), others, models[0], rng, n_threads)
    if merged.history.interrupted:
        failure = KeyboardInterrupt()
    return merged.showing(last.weights, *merged.two_nearest(last.X, n_threads)), failure


def condense(recipe: Recipe, samples: Samples, patch_size: int, rng: np.random.RandomState) -> Any:
    """Train on samples in patches, in random order, on one thread; return the samples if there are too few.

    Parameters
    ----------
    recipe : Recipe
        Recipe of training.
    samples : Samples
        All samples.
    patch_size : int
        Approximate number of samples in a patch.
    rng : RandomState
        Source of random numbers.

    Returns
    -------
    Fitted or Samples
        The model, or the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Recipe, condense
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> recipe = Recipe(Points("k-means++", 2), Winner(), 5)
    >>> samples = Samples(np.array([[0.0], [1.0], [9.0], [10.0]]), np.ones(4))
    >>> float(condense(recipe, samples, 2, np.random.RandomState(0)).masses.sum())
    4.0
    >>> len(condense(recipe, samples.take(np.array([0])), 2, np.random.RandomState(0)))  # one is too few
    1
    """
    order = rng.permutation(len(samples))
    patches = (samples.take(order[cut]) for cut in cut_patches(len(samples), patch_size))
    fitted, failure = learn_patches(recipe, patches, None, rng, 1)
    if isinstance(failure, TooFewSamples) and fitted is None:
        return samples
    if failure is not None:
        raise failure
    return fitted.alone()


def merge(recipe: Recipe, parts: list[Any], rng: np.random.RandomState) -> Any:
    """Train on condensed parts: the past of models, the first of which is continued, and remaining samples.

    Parameters
    ----------
    recipe : Recipe
        Recipe of training.
    parts : list of Fitted or Samples
        Results of `condense`.
    rng : RandomState
        Source of random numbers.

    Returns
    -------
    Fitted or Samples
        The model, or the samples if they are still too few.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Recipe, condense, merge
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> recipe = Recipe(Points("k-means++", 2), Winner(), 5)
    >>> parts = [Samples(np.array([[x], [x + 1.0], [x + 10.0]]), np.ones(3)) for x in (0.0, 1.0)]
    >>> models = [condense(recipe, part, 3, np.random.RandomState(0)) for part in parts]
    >>> np.sort(merge(recipe, models, np.random.RandomState(0)).positions.ravel()).round(6).tolist()
    [1.0, 10.5]
    """
    models = [part for part in parts if not isinstance(part, Samples)]
    others = [part for part in parts if isinstance(part, Samples)] + [model.past() for model in models[1:]]
    if not others:
        return models[0]
    joined = reduce(Samples.joined, others)
    try:
        return learn(replace(recipe, decay=1.0), joined, models[0] if models else None, rng, 1).alone()
    except TooFewSamples:
        return joined


def _learn_each(recipe: Recipe, jobs: list[tuple[Samples, Any, np.random.RandomState]], n_threads: int) -> list[Any]:
    """Train each run on its patch, at the same time or one after the other until one is interrupted."""
    if len(jobs) > 1 and n_threads > 1:
        return list(Parallel(n_threads, require="sharedmem")(delayed(learn)(recipe, *job, 1) for job in jobs))
    done: list[Any] = []
    for job in jobs:
        done.append(learn(recipe, *job, n_threads))
        if done[-1].history.interrupted:
            break
    return done


def learn(recipe: Recipe, samples: Samples, past: Any, rng: np.random.RandomState, n_threads: int) -> Any:
    """Train on one patch from each initialization, and return the first model of lowest cost.

    An interrupted run is the last one, and is used only if there is no other.

    Parameters
    ----------
    recipe : Recipe
        Recipe of training.
    samples : Samples
        The patch.
    past : Fitted or None
        Model of earlier samples.
    rng : RandomState
        Source of random numbers.
    n_threads : int
        Number of threads.

    Returns
    -------
    Fitted
        The model.

    Examples
    --------
    The best of five runs is kept:

    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Recipe, learn
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> recipe = Recipe(Points("random", 2), Winner(), 5, n_init=5)
    >>> samples = Samples(np.array([[0.0], [1.0], [9.0], [10.0]]), np.ones(4))
    >>> fitted = learn(recipe, samples, None, np.random.RandomState(0), n_threads=1)
    >>> np.sort(fitted.positions.ravel()).tolist(), round(fitted.final_cost, 6)
    ([0.5, 9.5], 0.5)
    """
    best: Any = None
    try:
        for start in recipe.kind.sized(samples, past).starts(recipe.n_init):
            fitted = learn_once(replace(recipe, kind=start), samples, past, rng, n_threads)
            if fitted.history.interrupted:
                return fitted if best is None else _interrupted(best)
            best = fitted if best is None else lower(best, fitted, lambda model: model.final_cost)
    except KeyboardInterrupt:  # at the very start of one
        if best is None:
            raise
        return _interrupted(best)
    return best


def _interrupted(fitted: Any) -> Any:
    return replace(fitted, history=replace(fitted.history, interrupted=True))


def learn_once(recipe: Recipe, samples: Samples, past: Any, rng: np.random.RandomState, n_threads: int) -> Any:
    """Train on one patch, together with samples that represent earlier samples.

    Parameters
    ----------
    recipe : Recipe
        How to learn; ``n_init`` does not count.
    samples : Samples
        The patch.
    past : Fitted or None
        Model of earlier samples.
    rng : RandomState
        Source of random numbers.
    n_threads : int
        Number of threads.

    Returns
    -------
    Fitted
        The model.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.neighborhoods import Winner
    >>> from protolearn.core.learning import Recipe, learn_once
    >>> from protolearn.core.samples import Samples
    >>> from protolearn.maps._points import Points
    >>> recipe = Recipe(Points([[0.0], [4.0]], 2), Winner(), 3)
    >>> samples = Samples(np.array([[0.0], [2.0], [10.0]]), np.ones(3))
    >>> learn_once(recipe, samples, None, np.random.RandomState(0), n_threads=1).history.costs
    [20.0, 1.0, 1.0]
    """
    kind, samples, past = recipe.kind.enter(recipe, samples, past)
    recipe = replace(recipe, kind=kind)
    n_new = len(samples)
    if past is not None:
        samples = samples.joined(past.past(recipe.decay))
    taught, exponent = emphasis(recipe, samples.present(), n_threads)
    scale = taught.heaviest
    taught = taught.weighted(1.0 / scale)
    source = kind.source(taught, past, n_threads, rng)
    wanted = recipe.neighborhood
    neighborhood = wanted.resolved(source, kind) if past is None else wanted.going_on(past.neighborhood)
    if past is None:
        require_samples(len(taught), kind.count(neighborhood))
    before = past if recipe.resumes else None
    prototypes = kind.start(recipe, source, neighborhood, taught, before, rng)
    ranges = recipe.ranges(neighborhood, source, kind, before is not None)
    history = History(magnification=exponent)
    try:
        for step in recipe.epochs(prototypes, neighborhood, source, ranges, rng):
            prototypes = step.prototypes
            history.costs.append(scale * step.cost)
            history.ranges.append(step.range_)
            history = replace(history, edges=step.edges, still=step.still)
            recipe.progress.step(len(history.costs), range=step.range_, cost=history.costs[-1])
        if recipe.finish is not None:
            prototypes, settled = recipe.finish(prototypes, source, history.ranges[-1], rng)
            history = replace(history, settled=None if settled is None else scale * settled)
        recipe.progress.end_run(len(history.costs))
    except KeyboardInterrupt:
        if not history.costs:
            raise
        history = replace(history, interrupted=True)
    earlier = None if recipe.resumes else past
    learned = Learned(prototypes, neighborhood, source, samples, n_new, earlier, history, scale, n_threads)
    return kind.leave(kind.fitted(learned))


def emphasis(recipe: Recipe, samples: Any, n_threads: int) -> tuple[Any, float | None]:
    """Return samples weighted by p^c, as magnification control does, and c.

    The density p is that of all samples, or of a random choice if they are many.
    """
    if recipe.magnification == 0:
        return samples, None
    some, kind = samples.sampled(MOST_PAIRED), recipe.kind
    data, counts = kind.density_data(some), some.weights
    exponent = density_exponent(recipe.magnification, data, counts)
    if recipe.density_at == "winner":
        return samples, exponent
    if samples is some:
        return samples.emphasized(
            lambda _: (
                exponent * parzen_log_density(data, sample_weight=counts, max_samples=MOST_PAIRED, n_jobs=n_threads)
            )
        ), exponent  # Hasenfuss 2009, eq. 4.16
    bandwidth = mean_pairwise_distance(data, counts) / 3.0

    def log_factors(part: Samples) -> Floats:
        return exponent * parzen_log_density(data, sample_weight=counts, bandwidth=bandwidth, points=part.X, n_jobs=1)

    return samples.emphasized(log_factors), exponent


def density_exponent(magnification: float | str, data: Any, weights: Array) -> float:
    """Return the exponent of the density in magnification control."""
    if len(weights) < 2:
        raise ValueError(f"n_samples={len(weights)} is too few for magnification control, which needs a density.")
    if magnification == "optimal":
        return 2.0 / correlation_dimension(data, sample_weight=weights)  # Hasenfuss 2009, eq. 3.7
    return float(magnification)


def hebbian_graph(first: Indices, second: Indices, weights: Array, n_prototypes: int) -> csr_array:
    """Connect the two nearest prototypes of every sample, and add up the weights of the samples of each edge.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        The nearest and the second nearest prototype of each sample.
    weights : ndarray of shape (n,)
        Weights of the samples.
    n_prototypes : int
        Number k of prototypes.

    Returns
    -------
    csr_array of shape (k, k)
        A symmetric graph.

    Examples
    --------
    >>> import numpy as np
    >>> from protolearn.core.learning import hebbian_graph
    >>> hebbian_graph(np.array([0, 1, 2]), np.array([1, 0, 1]), np.ones(3), 3).toarray().tolist()
    [[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    if n_prototypes == 1:
        return csr_array((1, 1))
    pairs = np.minimum(first, second) * n_prototypes + np.maximum(first, second)
    if n_prototypes <= 1024:
        sums = np.bincount(pairs, weights)
        pairs = np.flatnonzero(sums)
        weights = sums[pairs]
    ends = np.divmod(pairs, n_prototypes)
    upper = coo_array((weights, ends), shape=(n_prototypes, n_prototypes)).tocsr()
    return upper + upper.T
