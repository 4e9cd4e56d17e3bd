"""What the documentation of all classifiers shares, written once."""

from __future__ import annotations

from protolearn.core.documentation import filled

__all__ = ["documented"]

INIT = """
init : {"neural_gas", "mean"} or ndarray of shape (k, n_features), default="neural_gas"
    Where prototypes start: neural gas within each class (with one prototype, the class mean), the mean of a random
    third of the class for each prototype, with a small deviation, or given positions, ordered by class.
"""

MISSING = """
missing : {"error", "partial"}, default="error"
    What to do with NaN in ``X``: refuse it, or leave missing values out of the distances.
"""

CALIBRATION = """
calibration : int, optional
    Number of folds of a cross-validation, 3 for instance, in which the temperature of the probabilities is chosen on
    samples that are held out. It takes as many fits more. By default it is chosen on the training samples, as are
    samples that come more than once and classes of too few samples, which are not held out.
"""

REJECT = """
reject_threshold : float, default=0.0
    Samples whose `confidence` is below this are not classified.
reject_label : object, default=-1
    What `predict` returns for such samples; of the same kind as the classes.
contamination : float, optional
    Reject what no class covers: share of the training samples that lie outside of the acceptance radius of their
    prototype. A sample outside of all radii is not classified. By default every sample is.
"""

ANSWERS = """
%(missing)s
%(reject)s
"""

SQUASHING = """
squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
    What is made of the relative distance of each sample before it is added to the cost.
slope : float or tuple of float, optional
    Slope of the sigmoid or swish; a pair is annealed from the first to the second. Steep slopes count errors, flat ones
    heed all samples, and may give up rare classes. By default 15; 10 with matrices, and 5 for one matrix of limited
    rank. ``adam`` starts at 2.
neighborhood_range : float, optional
    Range, in ranks, over which the prototypes of a class learn together from its samples when training starts, such as
    1; it falls to where only the nearest learns (supervised neural gas). By default only the nearest ever learns.
"""

OPTIMIZATION = """
solver : {"auto", "lbfgs", "sgd", "waypoint", "adam"} or Solver, default="auto"
    How the cost is minimized. ``"auto"`` is L-BFGS up to 200,000 samples and Adam on mini-batches beyond. Give an
    object, such as ``SGD(learning_rate=0.1)``, to set its parameters.
max_iter : int, optional
    Most iterations (L-BFGS, waypoint) or epochs (sgd, adam); by default what suits the solver, 300 for L-BFGS. If it
    stops L-BFGS, there is a ``ConvergenceWarning``.
tol : float, default=1e-6
    L-BFGS stops when an iteration lowers the cost by less than this, waypoint averaging when steps are shorter.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, as in scikit-learn.
warm_start : bool, default=False
    Whether `fit` goes on from the last fit.
early_stopping : bool or "train", default=False
    Keep the state with the best accuracy, on held-out samples (True) or on the training samples, and stop when it has
    not improved for ``n_iter_no_change`` iterations.
validation_fraction : float, default=0.1
    Share of samples that early stopping holds out.
n_iter_no_change : int, default=10
    Patience of early stopping.
"""

TRAINING = """
%(squashing)s
%(optimization)s
"""

RUNNING = """
callback : callable, optional
    Called as ``callback(state)`` after every iteration of `fit`, with a `TrainingState`: ``state.iteration``,
    ``state.cost``, and ``state.classifier``, a copy of the classifier as it is now. If it returns True, or raises
    ``StopIteration``, training ends.
n_jobs : int, optional
    Number of threads; by default as many as the matrix library may use.
random_state : int, RandomState instance or None, default=None
    Determines the start and the order of samples.
verbose : int, default=0
    1 shows a bar of progress (lines where there is no terminal), 2 a line for every iteration.
"""

PARAMETERS = """
%(init)s
%(training)s
%(missing)s
%(calibration)s
%(reject)s
%(running)s
"""

PROTOTYPES = """
prototypes_ : ndarray of shape (k, n_features)
    The prototypes.
prototype_labels_ : ndarray of shape (k,)
    Their classes.
metric_ : LearnedMetric
    The metric apart from the classifier, for whatever takes one; not there for distances without matrices.
acceptance_radii_ : ndarray of shape (k,)
    The acceptance radius of each prototype, as a squared distance, if ``contamination`` is given.
temperature_ : float
    The temperature of the probabilities, see `predict_proba`; not of `RSLVQ`, whose probabilities follow from a width.
classes_ : ndarray of shape (n_classes,)
    The classes.
"""

IMPORTANCES = """
feature_importances_ : ndarray of shape (n_features,)
    Relevance of each feature, as a mean over the prototypes if these have their own, with sum one; what
    ``SelectFromModel`` and ``RFE`` of scikit-learn go by. Comparable for features of one scale only.
"""

FEATURES = """
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if ``X`` had names.
"""

SCALE = """
scale_ : ndarray of shape (n_features,)
    Standard deviation of each feature, in which relevances are measured; ones after ``solver="sgd"``, which learns in
    the units of the samples as the publications do.
regularization_ : float
    The regularization that was used.
"""

ATTRIBUTES = """
%(prototypes)s
cost_history_ : list of float
    Cost after every iteration; with ``sgd`` and ``adam`` the mean cost that samples met during an epoch (``sgd``:
    without the regularization). Of batches given to ``partial_fit``, the mean cost of each, of the last 1,000.
stage_starts_ : list of int
    Iterations, from 1, at which the slope of the squashing function takes a new value with ``lbfgs``; the cost before
    and after them is not the same.
score_history_ : list of float
    Accuracy after every iteration, if ``early_stopping``.
n_iter_ : int
    Number of iterations, or of batches given to ``partial_fit``.
n_wins_ : ndarray of shape (k,)
    How many training samples, or samples of the last batch, each prototype is nearest to.
%(features)s
"""


PARTS = {
    "parameters": PARAMETERS,
    "attributes": ATTRIBUTES,
    "init": INIT,
    "training": TRAINING,
    "squashing": SQUASHING,
    "optimization": OPTIMIZATION,
    "answers": ANSWERS,
    "missing": MISSING,
    "calibration": CALIBRATION,
    "reject": REJECT,
    "running": RUNNING,
    "prototypes": PROTOTYPES,
    "importances": IMPORTANCES,
    "features": FEATURES,
    "scale": SCALE,
}

documented = filled(PARTS)
