"""Parameter and attribute texts shared by all maps whose prototypes have a shape."""

from __future__ import annotations

from protolearn.core.estimator import filled

__all__ = ["documented"]

SIZE = """
n_prototypes : int or "auto", default="auto"
    Number of prototypes. ``"auto"`` is the largest number from 1 to 8 that leaves at least four distinct samples for
    each direction of each prototype; the first patch determines it for all patches.
"""

SHAPE = """
n_components : int, optional
    Number of principal directions of each prototype. All other directions share one variance. By default, each
    prototype has all directions, a full matrix.
normalization : {"det", "logdet", "none"}, default="det"
    Normalization that makes distances of different prototypes comparable: ``"det"`` scales each matrix to determinant
    one; ``"logdet"`` adds the logarithm of the determinant of the covariance, as in a normal density; ``"none"``
    applies no normalization.
scope : {"local", "global"}, default="local"
    ``"local"`` learns a matrix for each prototype, ``"global"`` a single matrix for all prototypes.
selection : {"top", "optimal"}, default="top"
    Choice of the ``n_components`` directions: those of largest variance, or those that minimize the cost.
regularization : {"prior", "floor", "ridge", "pinv", "tikhonov", "none"}, default="prior"
    Treatment of directions in which the samples of a prototype hardly vary. ``"prior"`` adds to each prototype a tenth
    of a sample with variances derived from all samples, and the variance due to the resolution at which features are
    recorded. ``"floor"`` raises small variances to the smallest variance allowed, ``"ridge"`` adds the smallest
    variance allowed to all variances, ``"pinv"`` leaves these directions out of the distance (pseudoinverse),
    ``"tikhonov"`` damps them, and ``"none"`` raises an error.
epsilon : float, default=1e-6
    Smallest variance allowed, relative to the mean variance of the prototype. It has no effect where the prior is
    larger, which is the case unless features are constant. If all directions are learned, features are measured in
    units of their standard deviations.
metric_init : {"identity", "covariance"}, default="identity"
    Distance in the first epoch: Euclidean, or the Mahalanobis distance of the covariance of all samples. The latter
    makes the result invariant under linear maps of the features if ``init`` is an array and ``regularization="floor"``.
    With more than 64 features and few ``n_components`` the distance is always Euclidean.
"""

PATCHES = """
label_weight : float, default=0.0
    Weight of the labels ``y`` in the distance, from 0 (labels are ignored) to 1 (only labels count). At 0.5, labels and
    features have equal weight, each normalized by its total variance.
magnification : float or "optimal", default=0.0
    Exponent c of magnification control: the weight of a sample is multiplied by its density to the power c; see
    `NeuralGas`.
patches : Patches, optional
    Train on one patch of the samples after another instead of all at once, see `protolearn.maps.Patches`: their size,
    how earlier patches are weighted, and independent runs.
%(running)s
"""

RUNNING = """
n_jobs : int, optional
    Number of threads; None means the number of threads of the BLAS library.
random_state : int, RandomState instance or None, default=None
    Seed of random initialization, the order of the patches and online learning. An int makes results reproducible.
verbose : int, default=0
    1 shows a progress bar (or lines of text, if the output is not a terminal), 2 prints one line for every epoch.
"""

ATTRIBUTES = """
prototypes_ : ndarray of shape (n_prototypes, n_features)
    Positions of the prototypes.
components_ : ndarray of shape (n_prototypes, n_components, n_features)
    Principal directions of each prototype, orthonormal, in order of decreasing variance. If all directions are
    requested of more than 64 features, and there are more features than samples, only directions in which the samples
    differ are included.
variances_ : ndarray of shape (n_prototypes, n_components)
    Variance along each of the ``components_``.
residual_variances_ : ndarray of shape (n_prototypes,)
    Mean variance along the remaining directions; 0 if there are none.
covariances_ : ndarray of shape (n_prototypes, n_features, n_features)
    Covariance matrix of each prototype, composed of the variances above; computed on access.
omegas_ : ndarray of shape (n_prototypes, n_features, n_features)
    Matrices of the distance :math:`\\|\\Omega_i (x - w_i)\\|^2`, up to additive constants; computed on access.
log_volumes_ : ndarray of shape (n_prototypes,)
    Half the logarithm of the determinant of each covariance.
weights_ : ndarray of shape (n_prototypes,)
    Fraction of the samples in the receptive field of each prototype.
floored_ : ndarray of shape (n_prototypes,)
    Number of directions of each prototype whose variance is determined by the regularization instead of the samples.
labels_ : ndarray of shape (n_samples,)
    Index of the nearest prototype of each training sample (of the last patch, if patches were given one by one).
multiplicities_ : ndarray of shape (n_prototypes,)
    Total weight of the samples in the receptive field of each prototype.
graph_ : sparse array of shape (n_prototypes, n_prototypes)
    Topology representing network. The weight of an edge is the total weight of the samples whose two nearest prototypes
    it connects.
cost_history_, range_history_ : list of float
    Cost at the start of every epoch, and the neighborhood range of the epoch.
n_iter_ : int
    Number of epochs run (on the last patch, if there are patches).
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if ``X`` had names.
"""

LABELS = """
label_distribution_, prototype_labels_, classes_ : ndarray
    Class shares of each prototype, its majority class, and the classes; present if ``label_weight > 0``.
magnification_ : float
    Exponent used; present if magnification control is enabled.
"""

SWAPS = """
swap_condition_ : ndarray of shape (n_prototypes,)
    Whether no exchange of one direction of the prototype for another would lower the cost. Where this is False, and
    with ``selection="top"``, the cost may rise from one epoch to the next. The attribute is missing if only the largest
    variances are computed: with more than 64 features and ``n_components`` up to half of them.
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
