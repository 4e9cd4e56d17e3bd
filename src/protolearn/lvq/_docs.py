"""Parameter and attribute descriptions shared by the docstrings of all classifiers."""

from __future__ import annotations

from protolearn.core.estimator import filled

__all__ = ["documented"]

INIT = """
init : {"neural_gas", "mean"} or ndarray of shape (k, n_features), default="neural_gas"
    Initial positions of the prototypes. ``"neural_gas"`` runs neural gas within each class (for a single prototype,
    this is the class mean). ``"mean"`` places each prototype at the mean of a random third of its class, with a small
    random deviation. An array gives the positions themselves, ordered by class.
"""

MISSING = """
missing : {"error", "partial"}, default="error"
    Treatment of NaN in ``X``: ``"error"`` raises an error, ``"partial"`` computes distances without the missing values.
"""

CALIBRATION = """
calibration : int, optional
    Number of cross-validation folds, for instance 3, for choosing the temperature of the probabilities on held-out
    samples. Each fold takes an additional fit. Duplicate samples and classes with too few samples are never held out.
    By default the temperature is chosen on the training samples.
"""

REJECT = """
reject_threshold : float, default=0.0
    Samples whose `confidence` is below this threshold are rejected. At 0 no sample is rejected for low confidence.
reject_label : object, default=-1
    Label that `predict` returns for rejected samples; it must be of the same type as the class labels.
contamination : float, optional
    Fraction of the training samples that lie outside the acceptance radius of their prototype. If set, `predict`
    rejects samples outside all acceptance radii as novel. By default no sample is rejected as novel.
"""

ANSWERS = """
%(missing)s
%(reject)s
"""

SQUASHING = """
squashing : {"sigmoid", "identity", "swish"}, default="sigmoid"
    Squashing function that is applied to the relative distance of each sample before summation in the cost.
slope : float or tuple of float, optional
    Slope of the sigmoid or swish function; a pair is annealed from the first value to the second. With a steep slope
    the cost approaches the number of errors. With a flat slope all samples contribute, and rare classes may be
    sacrificed. The default is 15; with matrices it is 10, and with a single matrix of limited rank 5. ``adam`` starts
    at 2.
neighborhood_range : float, optional
    Initial neighborhood range, in ranks, for instance 1 (supervised neural gas): a sample updates several prototypes of
    its class, and the range shrinks until only the nearest prototype is updated. By default only the nearest prototype
    is updated throughout.
"""

OPTIMIZATION = """
solver : {"auto", "lbfgs", "sgd", "waypoint", "adam"} or Solver, default="auto"
    Optimizer of the cost. ``"auto"`` is L-BFGS for up to 200,000 samples and Adam on mini-batches for more. Pass an
    object, such as ``SGD(learning_rate=0.1)``, to set the parameters of the solver.
max_iter : int, optional
    Maximum number of iterations (``lbfgs``, ``waypoint``) or epochs (``sgd``, ``adam``). The default depends on the
    solver and is 300 for L-BFGS. If L-BFGS reaches it, a ``ConvergenceWarning`` is issued.
tol : float, default=1e-6
    Tolerance: L-BFGS stops when an iteration lowers the cost by less than this, waypoint averaging when its steps are
    shorter than this.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, with the same meaning as in scikit-learn; ``"balanced"`` counts samples by their weight.
    Only their ratios matter: the total weight of the samples is never reduced.
warm_start : bool, default=False
    Whether `fit` continues from the result of the previous fit.
early_stopping : bool or "train", default=False
    Whether to keep the state with the best accuracy, and to stop when the accuracy has not improved for
    ``n_iter_no_change`` iterations. Accuracy is measured on held-out samples (True) or on the training samples
    (``"train"``).
validation_fraction : float, default=0.1
    Fraction of the samples that are held out for early stopping.
n_iter_no_change : int, default=10
    Number of iterations without improvement after which early stopping ends training.
"""

TRAINING = """
%(squashing)s
%(optimization)s
"""

RUNNING = """
callback : callable, optional
    Function that is called as ``callback(state)`` after every iteration of `fit`. The `TrainingState` has the
    attributes ``iteration``, ``cost`` and ``classifier``, a copy of the current classifier. Training ends if the
    callback returns True or raises ``StopIteration``.
n_jobs : int, optional
    Number of threads; by default as many as the BLAS library may use.
random_state : int, RandomState instance or None, default=None
    Determines the random initialization and the order in which samples are presented.
verbose : int, default=0
    0 is silent, 1 shows a progress bar (or lines of text if there is no terminal), and 2 prints a line for every
    iteration.
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
    Class label of each prototype.
metric_ : LearnedMetric
    The learned metric as an object of its own, for estimators that accept a metric. Not available for distances without
    matrices.
acceptance_radii_ : ndarray of shape (k,)
    Acceptance radius of each prototype, as a squared distance, if ``contamination`` is set.
temperature_ : float
    Temperature of the probabilities, see `predict_proba`. `RSLVQ`, whose probabilities depend on a width, has none.
classes_ : ndarray of shape (n_classes,)
    Class labels.
"""

IMPORTANCES = """
feature_importances_ : ndarray of shape (n_features,)
    Relevance of each feature, averaged over prototypes with local relevances; the relevances sum to one. scikit-learn's
    ``SelectFromModel`` and ``RFE`` use them. They are comparable only between features of the same scale.
"""

FEATURES = """
feature_ranges_ : ndarray of shape (2, n_features)
    Smallest and largest value of each feature in the training samples, between which `counterfactual` searches.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if ``X`` had names.
"""

SCALE = """
scale_ : ndarray of shape (n_features,)
    Standard deviation of each feature, the unit in which relevances are measured. All ones after ``solver="sgd"``,
    which learns in the units of the samples, as in the publications.
regularization_ : float
    Weight of the regularization term that was used.
"""

ATTRIBUTES = """
%(prototypes)s
cost_history_ : list of float
    Cost after every iteration. With ``sgd`` and ``adam``, the mean cost of the samples during each epoch, before their
    updates (``sgd``: without the regularization term). With ``partial_fit``, the mean cost of each of the last 1,000
    batches.
stage_starts_ : list of int
    Iterations, counted from 1, at which ``lbfgs`` changes the slope of the squashing function. Costs before and after a
    change are not comparable.
score_history_ : list of float
    Accuracy after every iteration, if ``early_stopping`` is set.
n_iter_ : int
    Number of iterations, or of batches given to ``partial_fit``.
n_wins_ : ndarray of shape (k,)
    Number of training samples, or of samples in the last batch, to which each prototype is nearest.
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
