"""What the documentation of all maps with a shape shares, written once."""

from __future__ import annotations

from protolearn.core.documentation import filled

__all__ = ["documented"]

SIZE = """
n_prototypes : int or "auto", default="auto"
    Number of prototypes; ``"auto"`` is the largest, from 1 to 8, that leaves each four different samples or more for
    each direction that it learns. A first patch decides it for all.
"""

SHAPE = """
n_components : int, optional
    Number of directions that each prototype knows, with one variance for all others; by default all, a full matrix.
normalization : {"det", "logdet", "none"}, default="det"
    How distances of different prototypes are made comparable: matrices of determinant one; the logarithm of the
    determinant of the covariance added, as in a density; or not at all.
scope : {"local", "global"}, default="local"
    A matrix for each prototype, or one for all.
selection : {"top", "optimal"}, default="top"
    Which directions are known, if not all: those of largest variance, or those that make the cost smallest.
regularization : {"prior", "floor", "ridge", "pinv", "tikhonov", "none"}, default="prior"
    What to do with directions of a prototype in which its samples hardly vary: let each prototype start with a
    tenth of a sample, which varies like all samples, and with the variance within the steps in which features are
    recorded; lift their variance to the smallest allowed one, add it to all, leave such directions out of the
    distance, damp them, or raise an error.
epsilon : float, default=1e-6
    Smallest variance allowed, as a share of the mean variance of the prototype; of no effect if the prior is larger,
    which it is unless features are constant. Features count in units of their own
    deviation, if all directions are known.
metric_init : {"identity", "covariance"}, default="identity"
    Distance of the first epoch: Euclidean, or by the covariance of all samples, which makes the result independent of
    any linear map of the features if ``init`` is an array and ``regularization="floor"``. With few ``n_components`` of
    more than 64 features it is always Euclidean.
"""

PATCHES = """
label_weight : float, default=0.0
    Share of the labels ``y`` in the distance: 0 ignores them, 1 uses nothing else, 0.5 lets labels and features
    count alike, each in units of its total variance.
magnification : float or "optimal", default=0.0
    Exponent c of magnification control: samples count with their density to the power c; see `NeuralGas`.
patch_size : int, optional
    Learn from patches of about so many samples, one after the other, instead of all at once. Prototypes, with
    their shapes, stand for the samples of earlier patches.
patch_runs : int, default=1
    Number of independent runs over the patches, in parallel, whose prototypes are merged at the end.
decay : float, default=1.0
    Factor on the weight of what was learned before, for each new patch; below 1 old samples are forgotten.
%(running)s
"""

RUNNING = """
n_jobs : int, optional
    Number of threads; None means as many as the matrix library may use.
random_state : int, RandomState instance or None, default=None
    Makes random starts, the order of patches and online learning repeatable.
verbose : int, default=0
    1 shows a bar of progress (lines where there is no terminal), 2 a line for every epoch.
"""

ATTRIBUTES = """
prototypes_ : ndarray of shape (n_prototypes, n_features)
    The prototypes.
components_ : ndarray of shape (n_prototypes, n_components, n_features)
    Principal directions of each prototype, orthonormal, the largest variance first. If there are more than 64
    features, and more than samples, and all directions are asked for, only those in which samples differ.
variances_ : ndarray of shape (n_prototypes, n_components)
    Variance along each of them.
residual_variances_ : ndarray of shape (n_prototypes,)
    Variance along every other direction, or their mean; 0 if there is none.
covariances_ : ndarray of shape (n_prototypes, n_features, n_features)
    The covariance that these make up, computed when asked for.
omegas_ : ndarray of shape (n_prototypes, n_features, n_features)
    Matrices of the distance :math:`\\|\\Omega_i (x - w_i)\\|^2`, apart from constants; computed when asked for.
log_volumes_ : ndarray of shape (n_prototypes,)
    Half the logarithm of the determinant of each covariance.
weights_ : ndarray of shape (n_prototypes,)
    Share of each prototype in the samples.
floored_ : ndarray of shape (n_prototypes,)
    Number of directions of each prototype whose variance comes from the regularization rather than from samples.
labels_ : ndarray of shape (n_samples,)
    Index of the nearest prototype of each sample of ``fit`` (of the last patch, if patches were given one by one).
multiplicities_ : ndarray of shape (n_prototypes,)
    Weight of all samples in each receptive field.
graph_ : sparse array of shape (n_prototypes, n_prototypes)
    Topology representing network: the weight of the samples whose two nearest prototypes are this pair.
cost_history_, range_history_ : list of float
    Cost at the start of every epoch, and its range.
n_iter_ : int
    Number of epochs run (on the last patch).
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if ``X`` had names.
"""

LABELS = """
label_distribution_, prototype_labels_, classes_ : ndarray
    Fuzzy and crisp labels of the prototypes and the classes, if ``label_weight > 0``.
magnification_ : float
    The exponent used, if magnification control is on.
"""

SWAPS = """
swap_condition_ : ndarray of shape (n_prototypes,)
    Whether the cost would not fall if one direction of a prototype were exchanged for another. Where it would, and with
    ``selection="top"``, the cost may rise from one epoch to the next. Not known, and so not there, where only the
    largest variances are: with ``n_components`` up to half of more than 64 features.
"""

PARTS = {
    "size": SIZE,
    "shape": SHAPE,
    "patches": PATCHES,
    "running": RUNNING,
    "attributes": ATTRIBUTES,
    "swaps": SWAPS,
    "labels": LABELS,
}

documented = filled(PARTS)
