"""What the documentation of all maps of dissimilarities shares, written once."""

from __future__ import annotations

from protolearn.core.documentation import filled

__all__ = ["documented"]

DISSIMILARITIES = """
metric : str or callable, default="precomputed"
    What ``X`` is: ``"precomputed"``, a matrix of dissimilarities; ``"kernel"``, a kernel matrix; otherwise a sequence
    of objects, with the name of a dissimilarity (see `protolearn.dissimilarities.METRICS`) or a function of two
    objects.
metric_params : dict, optional
    Further arguments of the metric, such as ``{"indel": 4.5}``.
squared : bool, default=False
    Dissimilarities are distances, which are squared, or (True) squared distances already.
symmetrize : {"raise", "mean"}, default="raise"
    What to do with dissimilarities that depend on the order of the two objects, or with a diagonal that is not zero:
    raise an error, or take the mean of both orders and zero. A function of two objects is tried on a few of them, and
    called for one order only; with ``"mean"`` it is called for both.
"""

RELATIONAL = """
spread : None, "implicit" or float, default=None
    Number that is added to all squared dissimilarities of objects that differ, without a copy of them;
    ``"implicit"`` is the smallest one that makes them Euclidean, so that the cost never rises at a fixed range.
keep_best : bool, default=False
    Return the epoch with the lowest ``dual_cost_`` (labels counted by ``label_weight``) rather than the last; useful
    where dissimilarities are far from Euclidean.
sparsity : int, optional
    Number of largest coefficients that are kept for each prototype, all by default.
n_landmarks : int, optional
    Number of random objects from whose dissimilarities to all others the rest is estimated (Nystroem); time and number
    of dissimilarities then grow linearly with the objects. By default all are used.
"""

MEDIAN = """
collision : {"exclude", "noise", "ignore"}, default="exclude"
    What keeps prototypes apart, which would else stay together for ever once they are the same object: only different
    objects are allowed; a little noise on distances, which fades; or nothing.
noise : float, default=1e-4
    Height of the noise of ``collision="noise"``, as a share of the mean squared dissimilarity.
exemplar_labels : bool, default=False
    A supervised prototype has the label of its object, rather than the mean label of the objects it learns from.
"""

LABELS = """
label_weight : float, default=0.0
    Share of the labels ``y`` in the distance: 0 ignores them, 1 uses nothing else, 0.5 lets labels and objects
    count alike, each in units of its total variance.
magnification : float or "optimal", default=0.0
    Exponent c of magnification control: objects count with their density to the power c; see `NeuralGas`.
"""

GAS = """
n_init : int, default=1
    Number of starts, unless ``init`` is an array; the result with the lowest cost is kept.
max_iter : int, default=100
    Number of epochs over which the range falls.
range_start : float or "auto", default="auto"
    First range; ``"auto"`` is half the number of prototypes, which makes up for any start, or 2 if prototypes
    start spread over the objects (``init="k-means++"``).
range_end : float, default=0.01
    Last range.
schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
    How the range falls; a callable maps (start, end, n_steps) to the values.
"""

SOM = """
n_init : int, default=1
    Number of starts, unless ``init`` is an array; the result with the lowest cost is kept. The plane of classical
    scaling is always the same start.
max_iter : int, default=100
    Number of epochs over which the range falls.
range_start : float or "auto", default="auto"
    First range; ``"auto"`` is a twelfth of the largest distance on the lattice if the start is already ordered
    (``init="pca"`` on a flat lattice), else a quarter. In all patches but the first it is ``range_end``.
range_end : float, default=0.55
    Last range. Both are in units of the shortest distance between two nodes.
schedule : {"geometric", "inverse", "constant"} or callable, default="geometric"
    How the range falls; a callable maps (start, end, n_steps) to the values.
"""

WINNER = """
winner : {"heskes", "nearest", "heskes-printed"}, default="heskes"
    ``"heskes"`` takes the node whose neighborhood is nearest on average, so that training descends a cost;
    ``"nearest"`` takes the nearest prototype; for ``"heskes-printed"`` see `SOM`.
kernel : {"gaussian", "exponential"}, default="gaussian"
    Neighborhood function, :math:`e^{-g^2/2\\lambda^2}` or :math:`e^{-g/\\lambda}`, of the distance g on the lattice.
"""

PATCHES = """
n_approximation : int or float, default=10
    Number of objects that stand for each prototype from one patch to the next; a number below 1 takes as many as keep
    the squared distance to the prototype below that share of the mean squared distance in its receptive field.
%(patch)s
"""

PATCH = """
patch_size : int, optional
    Learn from patches of about so many objects, one after the other: only dissimilarities within a patch, and to the
    few objects that stand for earlier patches, are ever computed or read.
patch_runs : int, default=1
    Number of independent runs over the patches, in parallel, whose prototypes are merged at the end.
decay : float, default=1.0
    Factor on the weight of what was learned before, for each new patch; below 1 old objects are forgotten.
"""

OBJECT_PATCHES = """
n_approximation : int, default=10
    Number of objects that stand for each prototype from one patch to the next.
patch_size : int, optional
    Learn from patches of about so many objects, one after the other: only dissimilarities within a patch, and to the
    few objects that stand for earlier patches, are ever computed or read. All classes have their share in each.
"""

OBJECT_TRAINING = """
squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
    What is made of the relative distance of each object before it is added to the cost.
slope : float or tuple of float, optional
    Slope of the sigmoid or swish; a pair is annealed from the first to the second. By default that of `GLVQ`.
solver : {"auto", "lbfgs", "sgd", "waypoint", "adam"} or Solver, default="auto"
    How the cost is minimized, as in `GLVQ`.
max_iter : int, optional
    Most iterations (L-BFGS, waypoint) or epochs (sgd, adam) for each patch; by default what suits the solver.
tol : float, default=1e-6
    L-BFGS stops when an iteration lowers the cost by less than this, waypoint averaging when steps are shorter.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, as in scikit-learn.
"""

REJECT = """
reject_threshold : float, default=0.0
    Objects whose `confidence` is below this are not classified.
reject_label : object, default=-1
    What `predict` returns for such objects; of the same kind as the classes.
"""

OBJECT_ATTRIBUTES = """
prototype_labels_ : ndarray of shape (n_prototypes,)
    Class of each prototype.
prototype_examples_ : ndarray of shape (n_prototypes, up to 5)
    The training objects of its class that are nearest to each prototype, the nearest first.
support_ : ndarray of shape (n_support,)
    The training objects that new ones are compared with.
temperature_ : float
    The temperature of the probabilities, see `predict_proba`.
classes_ : ndarray of shape (n_classes,)
    The classes.
cost_history_ : list of float
    Cost after every iteration, over all patches.
n_iter_ : int
    Number of iterations.
n_dissimilarities_ : int
    Number of dissimilarities that were computed or read.
n_features_in_ : int
    Number of objects of a matrix, or of features of objects that are vectors.
"""

RUNNING = """
n_jobs : int, optional
    Number of threads; None means as many as the matrix library may use. A function of two objects is called in one.
random_state : int, RandomState instance or None, default=None
    Makes the start and the order of patches repeatable.
verbose : int, default=0
    1 shows bars of progress (lines where there is no terminal), also of the dissimilarities, 2 a line for every
    epoch.
"""

COEFFICIENTS = """
coefficients_ : ndarray of shape (n_prototypes, n_support)
    Share of each supporting object in each prototype; with ``n_landmarks`` they reproduce the prototypes' distances.
self_terms_ : ndarray of shape (n_prototypes,)
    The terms :math:`\\\\alpha_i^\\\\top S \\\\alpha_i`.
"""

INDICES = """
prototype_indices_ : ndarray of shape (n_prototypes,)
    The object that each prototype is, counted over all objects seen.
"""

ATTRIBUTES = """
support_ : ndarray of shape (n_support,)
    The objects that prototypes are made of, counted over all objects seen: of one ``fit`` without patches, all.
kept_ : ndarray
    The objects that stand for all others when the next patch comes, see `partial_fit`.
prototype_examples_ : ndarray of shape (n_prototypes, up to 5)
    The objects nearest to each prototype, the nearest first.
prototype_dissimilarities_ : ndarray of shape (n_prototypes, n_prototypes)
    Squared distances between prototypes.
dual_cost_ : float
    Cost of the receptive fields, half the sum of squared distances to their means, without the use of prototypes.
n_cost_increases_ : int
    Number of epochs in which the cost rose, which can happen with dissimilarities that are not Euclidean.
n_dissimilarities_ : int
    Number of dissimilarities that were computed or read.
labels_ : ndarray of shape (n_objects,)
    Index of the nearest prototype of each object of ``fit`` (of the last patch, if patches were given one by one).
multiplicities_ : ndarray of shape (n_prototypes,)
    Weight of all objects in each receptive field.
graph_ : sparse array of shape (n_prototypes, n_prototypes)
    Topology representing network: the weight of the objects whose two nearest prototypes are this pair.
cost_history_, range_history_ : list of float
    Cost at the start of every epoch, and its range.
n_iter_ : int
    Number of epochs run (on the last patch).
label_distribution_, prototype_labels_, classes_ : ndarray
    Fuzzy and crisp labels of the prototypes and the classes, if ``label_weight > 0``.
magnification_ : float
    The exponent used, if magnification control is on.
n_features_in_ : int
    Number of objects of a matrix, or of features of objects that are vectors.
"""

PARTS = {
    "dissimilarities": DISSIMILARITIES,
    "relational": RELATIONAL,
    "median": MEDIAN,
    "winner": WINNER,
    "gas": GAS,
    "som": SOM,
    "labels": LABELS,
    "patches": PATCHES,
    "patch": PATCH,
    "object_patches": OBJECT_PATCHES,
    "training": OBJECT_TRAINING,
    "reject": REJECT,
    "object_attributes": OBJECT_ATTRIBUTES,
    "running": RUNNING,
    "coefficients": COEFFICIENTS.replace("\\\\", "\\"),
    "indices": INDICES,
    "attributes": ATTRIBUTES,
}

documented = filled(PARTS)
