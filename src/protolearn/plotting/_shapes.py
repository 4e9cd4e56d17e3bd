"""Plots of prototypes with a shape: ellipses among the samples, in the plane of two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse
from numpy.typing import ArrayLike, NDArray

from protolearn.core.fitted import take_apart
from protolearn.core.types import Array, Floats
from protolearn.plotting._features import (
    SAMPLE,
    class_codes,
    colored,
    feature_plane,
    points_in_plane,
    samples_in_plane,
    scatter_samples,
    two_features,
)
from protolearn.plotting._inputs import (
    check_labels,
    classes_of,
    fitted_map,
    fitted_model,
    in_units,
    slopes_in_units,
    value_of,
    winners,
)
from protolearn.plotting.style import INK, add_legend, class_colors, class_handles

__all__ = ["check_shapes", "plot_ellipses", "plot_training", "stacked", "winners_of"]


ARROW_WIDTHS = (0.019, 0.008)  # in inches, of the first and the second direction
ROOM = 0.1  # how far beyond the samples ellipses are shown, as a share of their extent


def plot_ellipses(
    model: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    features: Sequence[int | str] = (0, 1),
    size: float = 1.5,
    arrows: bool = True,
    winners: bool = False,
    feature_names: Sequence[str] | None = None,
    cmap: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show prototypes as ellipses among the samples, with their first two directions as arrows.

    The half-axes of an ellipsoid are ``size`` standard deviations long. For data with more than two features, the exact
    projection of the ellipsoid is drawn. The directions of the arrows are projected as well and need not be the axes of
    the ellipse. A prototype with a single direction is drawn as an arrow along it and a circle for the variance in all
    other directions.

    Parameters
    ----------
    model : fitted map
        Fitted model whose prototypes have a shape, such as NGPCA or MatrixNeuralGas, a PrototypeClassifier of one, or a
        Pipeline that ends in one of them. Of a pipeline, shapes are shown in the features and units of its input.
    X : array-like of shape (n, d), optional
        Samples to draw in the background. Ellipses that extend far beyond them are clipped.
    y : array-like of shape (n,), optional
        Class labels of the samples, shown by color.
    features : two of int or str, default=(0, 1)
        Indices or names of the features on the horizontal and the vertical axis.
    size : float, default=1.5
        Length of the half-axes in standard deviations.
    arrows : bool, default=True
        Whether to draw a thick arrow along the first direction and a thin one along the second.
    winners : bool, default=False
        Whether to draw each ellipse in its own color, and the samples in the color of the prototype they are assigned
        to. Otherwise, ellipses have the colors of the classes that prototypes have learned, if any.
    feature_names : sequence of str, optional
        Names of the features; by default those that the model was fitted with.
    cmap : str, optional
        Name of a Matplotlib colormap for the classes or the winners.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    See Also
    --------
    plot_training : The ellipses at several stages of training.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326.

    Examples
    --------
    >>> from protolearn import NGPCA
    >>> from protolearn.datasets import make_vortex
    >>> from protolearn.plotting import plot_ellipses
    >>> X, _ = make_vortex(random_state=0)
    >>> ax = plot_ellipses(NGPCA(20, random_state=0).fit(X), X)
    >>> len(ax.patches)
    20
    """
    if winners and (X is None or y is not None):
        raise ValueError("winners=True colors the samples of X by their prototype: give X, but no y.")
    check_shapes(model)
    seen = stacked(model, "prototypes_")
    table = in_units(model, feature_names, seen)
    columns, names = two_features(table, features)
    centers = points_in_plane(table, columns)
    slopes = slopes_in_units(model, columns, seen.shape[1])
    half_axes, angles = _ellipses(model, slopes, size)
    tips = _directions(model, slopes, size) if arrows else np.empty((len(centers), 0, 2))
    samples = samples_in_plane(X, columns, model, table)
    labels = check_labels(winners_of(model, X) if winners else y, len(samples))
    classes = np.arange(len(centers)) if winners else classes_of(model, labels)
    colors = class_colors(0 if classes is None else len(classes), cmap)
    reach = _reach(half_axes, angles)
    outlines = np.concatenate([centers - reach, centers + reach, (centers[:, None] + tips).reshape(-1, 2)])
    own_figure = ax is None
    ax, _, _ = feature_plane(ax, np.concatenate([moved_within(outlines, samples), samples]), names)
    scatter_samples(ax, samples, colored(class_codes(labels, classes), colors, SAMPLE))
    learned = getattr(fitted_model(model), "prototype_labels_", None)
    own = np.arange(len(centers)) if winners else class_codes(learned, classes)
    _draw_ellipses(ax, centers, half_axes, angles, colored(own, colors, INK))
    _draw_arrows(ax, centers, tips)
    if classes is not None and not winners:
        add_legend(ax, class_handles(classes, colors))
        if own_figure:
            _settle(ax.figure)
    return ax


def plot_training(
    snapshots: Sequence[tuple[Any, Any]],
    X: ArrayLike,
    *,
    features: Sequence[int | str] = (0, 1),
    size: float = 1.5,
    arrows: bool = True,
    feature_names: Sequence[str] | None = None,
    ax: Any = None,
) -> Array:
    """Show ellipses at several stages of training, with the mean log-likelihood of the samples at each stage.

    Stages are models fitted with the same ``random_state`` and an increasing number of steps, or any other models to be
    compared. All are drawn to the same scale.

    Parameters
    ----------
    snapshots : sequence of (title, fitted map)
        Titles and models of the stages, in order.
    X : array-like of shape (n, d)
        Samples.
    features : two of int or str, default=(0, 1)
        Indices or names of the features on the horizontal and the vertical axis.
    size : float, default=1.5
        Length of the half-axes in standard deviations.
    arrows : bool, default=True
        Whether to draw the first two directions as arrows.
    feature_names : sequence of str, optional
        Names of the features; by default those that the models were fitted with.
    ax : array of Axes, optional
        Axes to draw into, one for each stage; a new figure by default.

    Returns
    -------
    ndarray of Axes, of shape (n_snapshots,)
        Axes with the plots.

    See Also
    --------
    plot_ellipses : A single plot of this kind.

    Examples
    --------
    >>> from protolearn import NGPCA
    >>> from protolearn.datasets import make_ring_line_square
    >>> from protolearn.plotting import plot_training
    >>> X, _ = make_ring_line_square(random_state=0)
    >>> stages = [(f"{n} steps", NGPCA(10, n_steps=n, random_state=0).fit(X)) for n in (100, 1000, 30000)]
    >>> axes = plot_training(stages, X)
    >>> [ax.get_title().splitlines()[0] for ax in axes]
    ['100 steps', '1000 steps', '30000 steps']
    """
    if not snapshots:
        raise ValueError("There is no snapshot to show; give at least one pair of a title and a fitted map.")
    for _, model in snapshots:
        check_shapes(model)
    axes = _panels(len(snapshots)) if ax is None else np.ravel(np.asarray(ax, dtype=object))
    if len(axes) != len(snapshots):
        raise ValueError(f"ax holds {len(axes)} Axes, but there are {len(snapshots)} snapshots; give one for each.")
    for panel, (title, model) in zip(axes, snapshots):
        plot_ellipses(model, X, features=features, size=size, arrows=arrows, feature_names=feature_names, ax=panel)
        panel.set_title(f"{title}\nlog-likelihood {model.score(X):.2f}", fontsize="small")
    _same_limits(axes)
    if ax is None:
        _fit_figure(axes)
    return axes


def check_shapes(model: Any) -> None:
    """Refuse maps whose prototypes have no shape."""
    for known in _maps(model):
        if not hasattr(known, "components_") or not hasattr(known, "residual_variances_"):
            raise ValueError(
                f"Cannot plot shapes of prototypes: {type(known).__name__} has none (no components_ or no "
                "residual_variances_). Give a fitted NGPCA or MatrixNeuralGas, for instance."
            )


def stacked(model: Any, attribute: str) -> Array:
    """Return what a map holds for its prototypes, or all maps of a classifier one after the other."""
    return np.concatenate([value_of(each, attribute, "prototypes") for each in _maps(model)])


def winners_of(model: Any, X: Any) -> NDArray[np.intp]:
    """Return the number of the nearest prototype of each sample, among those of all maps."""
    if len(_maps(model)) == 1:
        return winners(model, X)
    parts = take_apart(model)
    return parts.last.nearest(parts.transform(X))


def _maps(model: Any) -> list[Any]:
    """Return the map, or those of a classifier that has one for each class."""
    whole = fitted_map(model)
    return getattr(whole, "estimators_", [whole])


def _ellipses(model: Any, slopes: Floats, size: float) -> tuple[Floats, Floats]:
    """Return half-axes (k, 2), the longer one first, and the angle (k,) of the longer one in degrees.

    The two features of the plane change by slopes (2, N) with what the map sees.
    """
    if stacked(model, "components_").shape[1] == 1:
        shadows = stacked(model, "residual_variances_")[:, None, None] * (slopes @ slopes.T)
    else:  # an ellipsoid casts the shadow of a Gaussian: it has the covariance of the features that are left
        shadows = slopes @ stacked(model, "covariances_") @ slopes.T
    variances, axes = np.linalg.eigh(shadows)
    half_axes = size * np.sqrt(np.maximum(variances[:, ::-1], 0.0))
    return half_axes, np.degrees(np.arctan2(axes[:, 1, 1], axes[:, 0, 1]))


def _directions(model: Any, slopes: Floats, size: float) -> Floats:
    """Return arrows (k, up to 2, 2) along the first directions, as long as the half-axes, seen in the plane."""
    lengths = size * np.sqrt(stacked(model, "variances_")[:, :2])
    return lengths[:, :, None] * (stacked(model, "components_")[:, :2] @ slopes.T)


def _reach(half_axes: Floats, angles: Floats) -> Floats:
    """Return how far (k, 2) ellipses extend from their centers, across and up."""
    (longer, shorter), turns = half_axes.T, np.radians(angles)
    across = np.hypot(longer * np.cos(turns), shorter * np.sin(turns))
    return np.column_stack([across, np.hypot(longer * np.sin(turns), shorter * np.cos(turns))])


def moved_within(points: Floats, samples: Floats) -> Floats:
    """Move points (m, 2) that are far from all samples nearer to them, if there are any."""
    if not len(samples):
        return points
    low, high = np.nanmin(samples, axis=0), np.nanmax(samples, axis=0)
    room = np.where(high > low, ROOM * (high - low), np.inf)
    return np.clip(points, low - room, high + room)


def _draw_ellipses(ax: Axes, centers: Floats, half_axes: Floats, angles: Floats, colors: Any) -> None:
    edges = [colors] * len(centers) if isinstance(colors, str) else colors
    for center, (longer, shorter), angle, edge in zip(centers, half_axes, angles, edges):
        ax.add_patch(
            Ellipse(
                center, 2 * longer, 2 * shorter, angle=angle, facecolor="none", edgecolor=edge, linewidth=0.9, zorder=2
            )
        )


def _draw_arrows(ax: Axes, centers: Floats, tips: Floats) -> None:
    for ends, width in zip(np.swapaxes(tips, 0, 1), ARROW_WIDTHS):
        look: dict[str, Any] = {"units": "inches", "width": width, "color": INK, "zorder": 3}
        ax.quiver(*centers.T, *ends.T, angles="xy", scale_units="xy", scale=1, **look)


def _settle(figure: Any) -> None:
    """Find room for the legend, which takes a few rounds with a fixed aspect."""
    for _ in range(3):
        figure.get_layout_engine().execute(figure)


def _panels(n_panels: int) -> Array:
    """Return Axes (n_panels,) in a new figure, up to four in a row."""
    n_rows = -(-n_panels // 4)
    axes = plt.subplots(n_rows, -(-n_panels // n_rows), layout="constrained", squeeze=False)[1].ravel()
    for unused in axes[n_panels:]:
        unused.remove()
    return axes[:n_panels]


def _same_limits(axes: Array) -> None:
    limits = np.array([(panel.get_xlim(), panel.get_ylim()) for panel in axes])
    low, high = limits[..., 0].min(axis=0), limits[..., 1].max(axis=0)
    for panel in axes:
        panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))


def _fit_figure(axes: Array) -> None:
    """Make a figure as large as its panels need, and label those at its border only."""
    first = axes[0]
    ratio = np.ptp(first.get_ylim()) / np.ptp(first.get_xlim()) if first.get_aspect() == 1 else 0.75
    n_rows, n_columns = first.get_gridspec().get_geometry()
    first.figure.set_size_inches(0.4 + 2.5 * n_columns, 0.4 + n_rows * (0.5 + 2.4 * np.clip(ratio, 0.3, 1.5)))
    for panel in axes:
        panel.label_outer()
