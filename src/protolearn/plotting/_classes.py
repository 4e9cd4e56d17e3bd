"""Plots of classes in the plane: samples, prototypes, and the region of each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from protolearn.core.fitted import take_apart
from protolearn.core.types import Array, Floats
from protolearn.lvq import canonical_matrix, prototype_table
from protolearn.plotting._features import SAMPLE, feature_plane, scatter_samples
from protolearn.plotting._inputs import check_labels, check_names, fitted_map
from protolearn.plotting._relevances import entitle, matrices_of, select
from protolearn.plotting.style import INK, add_legend, class_colors, class_handles, tint

__all__ = [
    "plot_decision_regions",
    "plot_view",
]

GRID = 400  # pixels across and up in which class regions are drawn


def plot_view(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    matrix: Any = None,
    *,
    regions: bool = True,
    cmap: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show samples and prototypes in the plane of the two most discriminative directions of a learned metric.

    Distances in the plane are distances in the learned metric. If this metric has rank two (``n_components=2``), the
    plane shows everything that determines the decision, and the region of each class is drawn: with straight borders if
    all prototypes share the metric, with curved ones for `LLiRaMLVQ`. Otherwise the class of a sample also depends on
    directions that are not shown, and regions are not drawn.

    Parameters
    ----------
    model : fitted classifier
        Fitted classifier with a matrix: GMLVQ, LLiRaMLVQ or LGMLVQ, or a Pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,), optional
        Class labels of the samples, shown by color.
    matrix : int or str, optional
        Matrix to use, by its index or class; required for LGMLVQ, whose matrices have no common view.
    regions : bool, default=True
        Whether to draw the regions of the classes. Regions where the model rejects samples are white.
    cmap : str, optional
        Name of a Matplotlib colormap for the classes.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    plot_decision_regions : Regions of any classifier in the plane of two features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_view
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(n_components=2, random_state=0).fit(X, y)
    >>> ax = plot_view(model, X, y)
    >>> np.allclose(ax.collections[-1].get_offsets(), model.transform(model.prototypes_))
    True
    """
    parts = take_apart(model)
    model = parts.last
    omega, title = _view(model, matrix)
    X = parts.transform(X)
    samples = check_array(X, dtype=np.float64, input_name="X")
    if samples.shape[1] != omega.shape[1]:
        raise ValueError(f"X has {samples.shape[1]} features, but the prototypes have {omega.shape[1]}.")
    lengths = np.square(omega * getattr(model, "scale_", 1.0)).sum(axis=1)  # for features in standard deviations
    shares = lengths / lengths.sum()
    plane = omega[:2]
    back = np.linalg.pinv(plane)
    complete = hasattr(model, "omega_") and not omega[2:].any()

    def predict(points: Floats) -> Array:
        return model.predict(_like(X, points @ back.T))  # classes depend on the place in the view alone

    ax = _draw_scene(
        ax,
        [f"direction {i + 1} ({shares[i]:.0%})" for i in range(2)],
        samples @ plane.T,
        check_labels(y, len(samples)),
        model.prototypes_ @ plane.T,
        model.prototype_labels_,
        model.classes_,
        predict if regions and complete else None,
        cmap,
    )
    entitle(ax, title)
    return ax


def plot_decision_regions(
    model: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    mapping: Any = None,
    feature_names: Sequence[str] | None = None,
    cmap: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the class that a classifier assigns to each point in the plane of two features, or of an embedding.

    Prototypes are drawn as well, if the model, or the last step of an invertible pipeline, has any.

    Parameters
    ----------
    model : fitted classifier
        Any classifier of the features of X, such as GLVQ, LGMLVQ, a Pipeline, or a scikit-learn classifier.
    X : array-like of shape (n_samples, n_features)
        Samples, with two features unless a mapping is given.
    y : array-like of shape (n_samples,), optional
        Class labels of the samples, shown by color.
    mapping : fitted estimator, optional
        Invertible mapping of the samples to the plane, such as Charting, MappedEmbedding or PCA, with the methods
        ``transform`` and ``inverse_transform``. A point of the view has the class of the sample that maps to it. To
        show a classifier that was fitted to positions in a view, give the positions as X and no mapping.
    feature_names : sequence of str, optional
        Names of the two features, or of the coordinates of the view; by default the column names of X, if it has any.
    cmap : str, optional
        Name of a Matplotlib colormap for the classes.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot. Regions where the model rejects samples are white.

    See Also
    --------
    plot_view : Regions of models with a matrix in their learned view.

    Examples
    --------
    >>> from protolearn import LGMLVQ
    >>> from protolearn.datasets import make_cigars
    >>> from protolearn.plotting import plot_decision_regions
    >>> X, y = make_cigars(random_state=0)
    >>> ax = plot_decision_regions(LGMLVQ(random_state=0).fit(X, y), X, y)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('feature 0', 'feature 1')
    """
    check_is_fitted(model)
    if not is_classifier(model):
        raise ValueError(f"{type(model).__name__} is not a classifier; use a PrototypeClassifier for maps.")
    names, shown = list(map(str, getattr(X, "columns", ("feature 0", "feature 1")))), "X"
    if mapping is None:
        mapping = FunctionTransformer()  # leaves samples as they are
    else:
        _check_mapping(mapping)
        names, shown = ["coordinate 1", "coordinate 2"], "the view"
    samples = _placed(mapping, X, check_array(X, dtype=np.float64, input_name="X"))
    if samples.shape[1] != 2:
        raise ValueError(
            f"Regions are drawn in the plane of two features, but {shown} has {samples.shape[1]}. Fit the model to two "
            "of them, give a mapping to the plane, or use plot_view for models with a matrix."
        )
    names = list(check_names(feature_names, names))
    points, labels = _prototypes(model)
    if len(points):
        points = _placed(mapping, X, points)

    def predict(points: Floats) -> Array:
        return model.predict(_like(X, np.asarray(mapping.inverse_transform(points))))

    return _draw_scene(ax, names, samples, check_labels(y, len(samples)), points, labels, model.classes_, predict, cmap)


def _view(model: Any, matrix: Any) -> tuple[Floats, str]:
    """Return the matrix (M, N) that defines the view, the most discriminative row first, and a title."""
    local = hasattr(model, "omegas_")
    stack, labels = matrices_of(model, "omegas_" if local else "omega_", 2, "a view by a matrix")
    kind = type(model).__name__
    if stack.ndim != 3 or stack.shape[1] < 2:
        raise ValueError(
            f"A view needs a matrix of at least two rows, and that of {kind} has shape {stack.shape[-2:]}. Fit "
            "GMLVQ(n_components=2); for data of two features, plot_decision_regions shows any classifier."
        )
    if local and matrix is None:
        raise ValueError(
            f"The {len(stack)} matrices of {kind} have no common view: choose one by matrix, or fit LLiRaMLVQ, which "
            "has one view for all."
        )
    if not local and matrix is not None:
        raise ValueError(f"matrix={matrix!r} chooses one of several, but {kind} has one view for all.")
    omega, _, title = select(stack, labels, matrix)
    # Rows of a masked or symmetric matrix are in no order; the local parts of LLiRaM belong to its rows as they are.
    scale = getattr(model, "scale_", 1.0)
    return omega if hasattr(model, "psis_") else canonical_matrix(omega * scale) / scale, title


def _prototypes(model: Any) -> tuple[Floats, Array]:
    """Return prototypes (k, d) in the units of the samples, and their classes; none if that cannot be done."""
    last, W = take_apart(model).last, getattr(fitted_map(model), "prototypes_", None)
    if W is not None and hasattr(last, "prototype_labels_"):
        table = prototype_table(model, W)
        if not table.note and table.values.dtype.kind == "f":
            return table.values, last.prototype_labels_
    return np.empty((0, 2)), np.empty(0)


def _draw_scene(
    ax: Axes | None,
    names: list[str],
    samples: Floats,
    labels: Array | None,
    prototypes: Floats,
    prototype_labels: Array,
    classes: Array,
    predict: Callable[[Floats], Array] | None,
    cmap: str | None,
) -> Axes:
    """Draw samples (n, 2) and prototypes (k, 2) in the colors of their classes, on the regions that are predicted."""
    colors = class_colors(len(classes), cmap)
    shades = SAMPLE if labels is None else colors[_known_codes(labels, classes)]
    low, high = samples.min(axis=0), samples.max(axis=0)
    room = np.where(high > low, 0.5 * (high - low), np.inf)  # prototypes may be far away from all samples
    near = ((prototypes >= low - room) & (prototypes <= high + room)).all(axis=1)
    own = ax is None
    ax, low, high = feature_plane(ax, np.concatenate([samples, prototypes[near]]), names)
    if predict is not None:
        _draw_regions(ax, low, high, predict, classes, colors)
    scatter_samples(ax, samples, shades)
    handles = class_handles(classes, colors)
    if len(prototypes):
        fill = colors[_codes(prototype_labels, classes)]
        ax.scatter(
            prototypes[:, 0], prototypes[:, 1], s=40, c=fill, marker="D", edgecolors=INK, linewidths=1.2, zorder=3
        )
        handles.append(_prototype_entry(int((~near).sum())))
    add_legend(ax, handles)
    if own:  # with a fixed aspect, it takes two rounds to find room for the legend
        figure: Any = ax.figure
        figure.get_layout_engine().execute(figure)
    return ax


def _prototype_entry(n_outside: int) -> Artist:
    label = f"prototype\n({n_outside} outside)" if n_outside else "prototype"
    return Line2D([], [], linestyle="", marker="D", color="white", markeredgecolor=INK, markersize=5.5, label=label)


def _check_mapping(mapping: Any) -> None:
    check_is_fitted(mapping)
    if not hasattr(mapping, "transform") or not hasattr(mapping, "inverse_transform"):
        raise ValueError(
            f"{type(mapping).__name__} is not invertible: a mapping needs transform and inverse_transform, as Charting "
            "has. For other views, fit a classifier to their positions, and show it without a mapping."
        )


def _placed(mapping: Any, X: Any, samples: Floats) -> Floats:
    """Return the positions of samples that have the features of X."""
    return np.asarray(mapping.transform(_like(X, samples)), dtype=np.float64)


def _like(X: Any, points: Floats) -> Any:
    """Return points (n, d) with the names of the features, if the samples X have names."""
    return type(X)(points, columns=X.columns) if hasattr(X, "iloc") else points


def _codes(labels: Array, classes: Array) -> NDArray[np.intp]:
    """Return the number of the class of each label, -1 for a label that is no class."""
    codes = np.full(len(labels), -1)
    for code, name in enumerate(classes):
        codes[labels == name] = code
    return codes


def _known_codes(labels: Array, classes: Array) -> NDArray[np.intp]:
    codes = _codes(labels, classes)
    if (codes < 0).any():
        raise ValueError(
            f"y contains {labels[codes < 0].tolist()[0]!r}, which is not among the classes of the model, "
            f"{classes.tolist()}."
        )
    return codes


def _draw_regions(
    ax: Axes,
    low: Floats,
    high: Floats,
    predict: Callable[[Floats], Array],
    classes: Array,
    colors: Floats,
) -> None:
    """Draw an image of the class predicted at the center of each pixel, and the borders between classes."""
    x, y = (low + (high - low) * (np.arange(GRID)[:, None] + 0.5) / GRID).T
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    codes = _codes(np.asarray(predict(points)), classes).reshape(GRID, GRID)
    pale = np.vstack([tint(colors, 0.22), np.ones(3)])  # the last one, number -1, for rejected samples
    extent = (low[0], high[0], low[1], high[1])
    ax.imshow(pale[codes], extent=extent, origin="lower", interpolation="nearest", aspect=ax.get_aspect(), zorder=0)
    for code in np.unique(codes)[1:]:
        ax.contour(x, y, codes == code, levels=[0.5], colors=INK, linewidths=0.5, zorder=0.5)
