"""Parameter and attribute texts shared by all relational maps and classifiers."""

from __future__ import annotations

from protolearn.core.estimator import filled

__all__ = ["documented"]

DISSIMILARITIES = """
metric : str or callable, default="precomputed"
    Type of input ``X``: ``"precomputed"`` for a matrix of dissimilarities, ``"kernel"`` for a kernel matrix. For a
    sequence of objects, the name of a dissimilarity (see `protolearn.dissimilarities.METRICS`) or a function of two
    objects.
metric_params : dict, optional
    Additional keyword arguments of the metric, such as ``{"indel": 4.5}``.
squared : bool, default=False
    Whether the dissimilarities are squared distances. If False, they are distances and are squared.
symmetrize : {"raise", "mean"}, default="raise"
    Treatment of asymmetric dissimilarities and of a nonzero diagonal: ``"raise"`` raises an error, ``"mean"`` takes the
    mean of both orders and sets the diagonal to zero. With ``"raise"``, a function of two objects is checked on a few
    pairs and then called for one order only; with ``"mean"`` it is called for both.
"""

RELATIONAL = """
spread : None, "implicit" or float, default=None
    Constant that is added to the squared dissimilarities of all pairs of different objects (spread transformation),
    without copying the matrix. ``"implicit"`` is the smallest constant that makes them Euclidean, which guarantees that
    the cost never rises at a fixed neighborhood range.
keep_best : bool, default=False
    Whether to return the prototypes of the epoch with the lowest ``dual_cost_`` (including labels, weighted by
    ``label_weight``) instead of the last epoch. This is useful if the dissimilarities are far from Euclidean.
sparsity : int, optional
    Number of coefficients, the largest ones, that each prototype keeps; all by default. Smaller values speed up
    predictions.
n_landmarks : int, optional
    Number of random landmarks for the Nystroem approximation, which estimates all dissimilarities from those to the
    landmarks. Time and the number of dissimilarities are then linear in the number of objects. By default, all
    dissimilarities are used.
"""

MEDIAN = """
collision : {"exclude", "noise", "ignore"}, default="exclude"
    Treatment of prototypes that select the same object and would otherwise never separate again: ``"exclude"`` allows
    only different objects, ``"noise"`` adds small, decreasing noise to the distances, and ``"ignore"`` does nothing.
noise : float, default=1e-4
    Amplitude of the noise for ``collision="noise"``, relative to the mean squared dissimilarity.
exemplar_labels : bool, default=False
    Whether a supervised prototype has the label of its object instead of the mean label of the objects in its
    neighborhood.
"""

LABELS = """
label_weight : float, default=0.0
    Weight of the labels ``y`` in the distance, from 0 (labels are ignored) to 1 (only labels count). At 0.5, labels and
    dissimilarities have equal weight, each normalized by its total variance.
magnification : float or "optimal", default=0.0
    Exponent c of magnification control: the weight of an object is multiplied by its density to the power c; see
    `NeuralGas`.
"""

GAS = """
n_init : int, default=1
    Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost is
    kept.
max_iter : int, default=100
    Number of epochs, over which the neighborhood range decreases.
neighborhood : Ranks, optional
    Which prototypes a sample updates: all, by rank. `protolearn.maps.Ranks` has the range of ranks in the first and the
    last epoch, and how it falls.
"""

SOM = """
n_init : int, default=1
    Number of runs from different initial prototypes, unless ``init`` is an array; the result with the lowest cost is
    kept. With ``init="pca"``, all runs are identical.
max_iter : int, default=100
    Number of epochs, over which the neighborhood range decreases.
"""

WINNER = """
neighborhood : OnLattice, optional
    Which prototypes a sample updates: those near its winner on the lattice. `protolearn.maps.OnLattice` has the range
    in the first and the last epoch and how it falls, the neighborhood function, and the rule for the winner.
"""

PATCHES = """
n_approximation : int or float, default=10
    Number of objects that represent each prototype from one patch to the next. For a number below 1, as many objects as
    are needed to approximate the prototype up to this fraction of the mean squared distance in its receptive field.
%(patch)s
"""

PATCH = """
patches : Patches, optional
    Train on one patch of the samples after another instead of all at once, see `protolearn.maps.Patches`: their size,
    how earlier patches are weighted, and independent runs.
"""

OBJECT_PATCHES = """
n_approximation : int, default=10
    Number of objects that represent each prototype from one patch to the next.
patch_size : int, optional
    Number of objects, approximately, of each patch. Training then processes one patch after another and needs only the
    dissimilarities within a patch and to the few objects that represent earlier patches. Patches are stratified by
    class.
"""

OBJECT_TRAINING = """
squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
    Function applied to the relative distance of each object in the cost function.
slope : float or tuple of float, optional
    Slope of the sigmoid or swish function. A pair is annealed from its first to its second value. By default, the slope
    of `GLVQ`.
solver : {"auto", "lbfgs", "sgd", "waypoint", "adam"} or Solver, default="auto"
    Solver that minimizes the cost function, as in `GLVQ`.
max_iter : int, optional
    Maximum number of iterations (L-BFGS, waypoint) or epochs (sgd, adam) for each patch. The default depends on the
    solver.
tol : float, default=1e-6
    Convergence tolerance: L-BFGS stops when an iteration lowers the cost by less than ``tol``, waypoint averaging when
    steps are shorter than ``tol``.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, as in scikit-learn.
"""

REJECT = """
reject_threshold : float, default=0.0
    Objects whose `confidence` is below this threshold are rejected instead of classified.
reject_label : object, default=-1
    Label that `predict` returns for rejected objects; of the same type as the classes.
"""

OBJECT_ATTRIBUTES = """
prototype_labels_ : ndarray of shape (n_prototypes,)
    Class of each prototype.
prototype_examples_ : ndarray of shape (n_prototypes, up to 5)
    Indices of the training objects nearest to each prototype, among those of its class, in order of distance.
support_ : ndarray of shape (n_support,)
    Indices of the training objects with which new objects are compared.
temperature_ : float
    Temperature of the class probabilities, see `predict_proba`.
classes_ : ndarray of shape (n_classes,)
    The classes.
cost_history_ : list of float
    Cost after every iteration, over all patches.
n_iter_ : int
    Number of iterations.
n_dissimilarities_ : int
    Number of dissimilarities computed or read during training.
n_features_in_ : int
    Number of objects, if ``X`` is a matrix, or number of features, if the objects are vectors.
"""

RUNNING = """
n_jobs : int, optional
    Number of threads; None means the number of threads of the BLAS library. A Python function of two objects is called
    from a single thread.
random_state : int, RandomState instance or None, default=None
    Seed of the initialization and of the order of the patches. An int makes results reproducible.
verbose : int, default=0
    1 shows progress bars of training and of the computation of dissimilarities (or lines of text, if the output is not
    a terminal), 2 prints one line for every epoch.
"""

COEFFICIENTS = """
coefficients_ : ndarray of shape (n_prototypes, n_support)
    Coefficient of each supporting object in each prototype; with ``n_landmarks``, coefficients that reproduce the
    distances to the prototypes.
self_terms_ : ndarray of shape (n_prototypes,)
    The terms :math:`\\\\alpha_i^\\\\top S \\\\alpha_i`.
"""

INDICES = """
prototype_indices_ : ndarray of shape (n_prototypes,)
    Index of the object that is the prototype, among all objects seen so far.
"""

ATTRIBUTES = """
support_ : ndarray of shape (n_support,)
    Indices, among all objects seen so far, of the objects that the prototypes combine. After ``fit`` without patches,
    these are all objects.
kept_ : ndarray
    Indices of the objects that represent all objects seen so far in the next patch, see `partial_fit`.
prototype_examples_ : ndarray of shape (n_prototypes, up to 5)
    Indices of the objects nearest to each prototype, in order of distance.
prototype_dissimilarities_ : ndarray of shape (n_prototypes, n_prototypes)
    Squared distances between prototypes.
dual_cost_ : float
    Cost of the receptive fields: half the sum of squared distances to their means, computed from pairwise
    dissimilarities only.
n_cost_increases_ : int
    Number of epochs in which the cost increased, which can happen if the dissimilarities are not Euclidean.
n_dissimilarities_ : int
    Number of dissimilarities computed or read during training.
labels_ : ndarray of shape (n_objects,)
    Index of the nearest prototype of each training object (of the last patch, if patches were given one by one).
multiplicities_ : ndarray of shape (n_prototypes,)
    Total weight of the objects in the receptive field of each prototype.
graph_ : sparse array of shape (n_prototypes, n_prototypes)
    Topology representing network. The weight of an edge is the total weight of the objects whose two nearest prototypes
    it connects.
cost_history_, range_history_ : list of float
    Cost at the start of every epoch, and the neighborhood range of the epoch.
n_iter_ : int
    Number of epochs run (on the last patch, if there are patches).
label_distribution_, prototype_labels_, classes_ : ndarray
    Class shares of each prototype, its majority class, and the classes; present if ``label_weight > 0``.
magnification_ : float
    Exponent used; present if magnification control is enabled.
n_features_in_ : int
    Number of objects, if ``X`` is a matrix, or number of features, if the objects are vectors.
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
