"""Plots of prototypes that are images: the codebook, the directions of variation, and misclassified images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from protolearn.core.parameters import constrained, integer
from protolearn.core.types import Array, Floats
from protolearn.maps import PrototypeClassifier
from protolearn.plotting._inputs import as_images, check_labels, fitted_map, fitted_model, in_units, slopes_in_units
from protolearn.plotting._shapes import check_shapes, stacked, winners_of
from protolearn.plotting.style import INK, OKABE_ITO, axes_or_new

__all__ = ["plot_codebook", "plot_eigenimages", "plot_misclassified", "plot_variation"]

Size = tuple[int, int]


def plot_codebook(
    model: Any,
    shape: Size = (28, 28),
    labels: ArrayLike | None = None,
    *,
    cmap: str = "gray",
    ax: Axes | None = None,
) -> Axes:
    """Show all prototypes as images, in a row for each class or in the order of the lattice.

    Parameters
    ----------
    model : fitted map or classifier
        Fitted model of images, such as NeuralGas, SOM or NGPCA, a PrototypeClassifier of one, GLVQ, or a Pipeline that
        ends in one of them.
    shape : tuple (height, width), default=(28, 28)
        Height and width of an image in pixels.
    labels : array-like of shape (k,), optional
        Class label of each prototype; by default the labels that the prototypes have learned, if any. A SOM is shown in
        the order of its lattice, unless labels are given.
    cmap : str, default="gray"
        Name of a Matplotlib colormap.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protolearn import NeuralGas, PrototypeClassifier
    >>> from protolearn.plotting import plot_codebook
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = PrototypeClassifier(NeuralGas(30, random_state=0)).fit(X, y)
    >>> ax = plot_codebook(classifier, shape=(8, 8))
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']
    """
    images = as_images(_pixels(model), shape)
    order, names = _arrangement(model, len(images), labels)
    pixels = _mosaic(images, order)
    ax = axes_or_new(ax, pixels.shape[0] / pixels.shape[1])
    ax.imshow(pixels, cmap=cmap, interpolation="nearest", aspect="equal")
    ax.spines[:].set_visible(False)
    ax.set_xticks([])
    ax.set_yticks((shape[0] + 1) * np.arange(len(names)) + 0.5 * (shape[0] - 1), names)
    ax.tick_params(length=0, labelsize="small", labelcolor=INK)
    return ax


@constrained(n_components=integer(1))
def plot_eigenimages(
    model: Any,
    prototype: int = 0,
    shape: Size = (28, 28),
    *,
    n_components: int = 10,
    cmap: str = "gray",
    ax: Any = None,
) -> Array:
    """Show a prototype of images and its principal directions, in order of decreasing variance.

    A direction is shown as an image as well: white where pixels become brighter along it, black where they become
    darker, and gray where they do not change. The variance along each direction is shown above it.

    Parameters
    ----------
    model : fitted map
        Fitted model of images whose prototypes have a shape, such as NGPCA, a PrototypeClassifier of one, or a Pipeline
        that ends in one of them.
    prototype : int, default=0
        Index of the prototype; in a classifier with a map for each class, among the prototypes of all maps.
    shape : tuple (height, width), default=(28, 28)
        Height and width of an image in pixels.
    n_components : int, default=10
        Maximum number of directions to show.
    cmap : str, default="gray"
        Name of a Matplotlib colormap.
    ax : array of Axes, optional
        Axes to draw into, one for the prototype and one for each direction; a new figure by default.

    Returns
    -------
    ndarray of Axes, of shape (1 + n_directions,)
        Axes with the plots.

    See Also
    --------
    plot_variation : Images along one of the directions.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, section 4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protolearn import VQPCA
    >>> from protolearn.plotting import plot_eigenimages
    >>> X, y = load_digits(return_X_y=True)
    >>> axes = plot_eigenimages(VQPCA(4, 3, random_state=0).fit(X[y == 2]), shape=(8, 8))
    >>> len(axes)
    4
    """
    center, directions, variances = _shape_of(model, prototype, shape)
    directions = directions[:n_components]
    axes = _panels(1 + len(directions), shape, ax)
    _draw_image(axes[0], center, title="prototype", cmap=cmap)
    limit = np.abs(directions).max()
    for panel, image, variance in zip(axes[1:], directions, variances):
        _draw_image(panel, image, (-limit, limit), f"{variance:.3g}", cmap=cmap)
    return axes


def plot_variation(
    model: Any,
    prototype: int = 0,
    shape: Size = (28, 28),
    component: int = 0,
    steps: Sequence[int] = range(-4, 5),
    *,
    cmap: str = "gray",
    ax: Any = None,
) -> Array:
    """Show how images vary along one direction of a prototype, in steps of half a standard deviation.

    The prototype itself is framed. The direction is shown at the right: white where pixels become brighter along it,
    black where they become darker.

    Parameters
    ----------
    model : fitted map
        Fitted model of images whose prototypes have a shape, such as NGPCA, a PrototypeClassifier of one, or a Pipeline
        that ends in one of them.
    prototype : int, default=0
        Index of the prototype; in a classifier with a map for each class, among the prototypes of all maps.
    shape : tuple (height, width), default=(28, 28)
        Height and width of an image in pixels.
    component : int, default=0
        Index of the direction.
    steps : sequence of int, default=range(-4, 5)
        Steps to show, in units of half a standard deviation; 0 is the prototype.
    cmap : str, default="gray"
        Name of a Matplotlib colormap.
    ax : array of Axes, optional
        Axes to draw into, one for each step and one for the direction; a new figure by default.

    Returns
    -------
    ndarray of Axes, of shape (n_steps + 1,)
        Axes with the plots.

    See Also
    --------
    plot_eigenimages : All directions of a prototype.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, section 4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protolearn import VQPCA
    >>> from protolearn.plotting import plot_variation
    >>> X, y = load_digits(return_X_y=True)
    >>> axes = plot_variation(VQPCA(4, 3, random_state=0).fit(X[y == 2]), shape=(8, 8))
    >>> [ax.get_title() for ax in axes[3:6]]
    ['−0.5 σ', '0', '+0.5 σ']
    """
    center, directions, variances = _shape_of(model, prototype, shape)
    integer(0, len(directions) - 1).check("component", component)
    direction = directions[component]
    deviations = 0.5 * np.asarray(steps, dtype=np.float64)
    images = center + np.sqrt(variances[component]) * np.multiply.outer(deviations, direction)
    axes = _panels(len(images) + 1, shape, ax, n_rows=1)
    for panel, image, deviation in zip(axes, images, deviations):
        title = f"{deviation:+g} σ".replace("-", "−") if deviation else "0"
        _draw_image(panel, image, (images.min(), images.max()), title, framed=deviation == 0, cmap=cmap)
    limit = np.abs(direction).max()
    _draw_image(axes[-1], direction, (-limit, limit), "direction", cmap=cmap)
    return axes


def plot_misclassified(
    model: Any, X: ArrayLike, y: ArrayLike, shape: Size = (28, 28), *, cmap: str = "gray", ax: Any = None
) -> Array:
    """Show the first misclassified image of each class, and below it the prototype that won it.

    Parameters
    ----------
    model : fitted PrototypeClassifier
        Fitted model of images, or a Pipeline that ends in one.
    X : array-like of shape (n, d)
        Images to classify.
    y : array-like of shape (n,)
        Class labels of the samples.
    shape : tuple (height, width), default=(28, 28)
        Height and width of an image in pixels.
    cmap : str, default="gray"
        Name of a Matplotlib colormap.
    ax : array of Axes, optional
        Axes to draw into, of shape (2, n) for n classes with errors; a new figure by default.

    Returns
    -------
    ndarray of Axes, of shape (2, n)
        Axes with the plots, titled by the true classes above and the assigned classes below.

    References
    ----------
    Möller, R., Hoffmann, H. (2004). An extension of neural gas to local PCA. Neurocomputing 62, 305-326, section 4.2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protolearn import NeuralGas, PrototypeClassifier
    >>> from protolearn.plotting import plot_misclassified
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = PrototypeClassifier(NeuralGas(30, random_state=0)).fit(X, y)
    >>> axes = plot_misclassified(classifier, X, y, shape=(8, 8))
    >>> all(image.get_title() != prototype.get_title() for image, prototype in axes.T)
    True
    """
    classifier = fitted_model(model)
    if not isinstance(classifier, PrototypeClassifier):
        raise ValueError(
            f"Cannot plot the prototypes that win misclassified images: {type(classifier).__name__} is not a "
            "PrototypeClassifier."
        )
    samples = check_array(X, dtype=np.float64, input_name="X")
    truth: Array = np.asarray(check_labels(y, len(samples)))
    nearest = winners_of(model, X)
    found = classifier.prototype_labels_[nearest]
    wrong = np.flatnonzero(found != truth)
    if not len(wrong):
        raise ValueError("The model classifies all samples of X correctly, so there is no error to show.")
    _, first = np.unique(truth[wrong], return_index=True)
    shown = wrong[first]
    prototypes = _pixels(model)[nearest[shown]]
    images = as_images(np.stack([samples[shown], prototypes]), shape)
    axes = _panels(2 * len(shown), shape, ax, n_rows=2).reshape(2, -1)
    for row, pictures, names, what in zip(axes, images, (truth, found), ("image", "prototype")):
        for panel, image, name in zip(row, pictures, names[shown]):
            _draw_image(panel, image, title=str(name), cmap=cmap)
        row[0].set_ylabel(what, fontsize="small")
    return axes


def _shape_of(model: Any, prototype: int, shape: Size) -> tuple[Floats, Floats, Floats]:
    """Return center (h, w) and directions (q, h, w) of a prototype, and the variances (q,) along them."""
    check_shapes(model)
    centers = _pixels(model)
    integer(0, len(centers) - 1).check("prototype", prototype)
    directions, variances = (stacked(model, name)[prototype] for name in ("components_", "variances_"))
    slopes = slopes_in_units(model, np.arange(centers.shape[1]), directions.shape[1])
    return as_images(centers[prototype], shape), as_images(directions @ slopes.T, shape), variances


def _pixels(model: Any) -> Array:
    """Return prototypes (k, h w) in the units of the images."""
    return in_units(model, None, stacked(model, "prototypes_")).values


def _arrangement(model: Any, n_prototypes: int, labels: ArrayLike | None) -> tuple[NDArray[np.intp], list[str]]:
    """Return which prototype stands in each row and column, -1 for none, and names of the rows, if they have any."""
    lattice = getattr(fitted_map(model), "lattice_", None)
    if labels is None and lattice is not None and lattice.shape is not None:
        return np.arange(n_prototypes).reshape(lattice.shape)[::-1], []  # the first row of a lattice is the lowest
    classes = getattr(fitted_model(model), "prototype_labels_", None) if labels is None else np.asarray(labels)
    if classes is None:
        n_columns = int(np.ceil(np.sqrt(n_prototypes)))
        return _in_rows(np.arange(n_prototypes) // n_columns), []
    if np.shape(classes) != (n_prototypes,):
        raise ValueError(
            f"labels.shape == {np.shape(classes)}, expected ({n_prototypes},): one class for each prototype."
        )
    names, rows = np.unique(classes, return_inverse=True)
    return _in_rows(rows), list(map(str, names))


def _in_rows(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return members (r, c) of each row, in their order, from the row of each, filled up by -1."""
    counts = np.bincount(rows)
    order = np.full((len(counts), counts.max()), -1)
    for row, count in enumerate(counts):
        order[row, :count] = np.flatnonzero(rows == row)
    return order


def _mosaic(images: Array, order: NDArray[np.intp]) -> np.ma.MaskedArray[Any, Any]:
    """Return one image of all images (k, h, w), a pixel apart, in the order (r, c) of their numbers."""
    height, width = images.shape[1:]
    rows, columns = order.shape
    tiles: Any = np.ma.masked_all((rows, height + 1, columns, width + 1))  # type: ignore[no-untyped-call]
    for row, column in np.argwhere(order >= 0):
        tiles[row, :-1, column, :-1] = images[order[row, column]]
    return tiles.reshape(rows * (height + 1), columns * (width + 1))[:-1, :-1]


def _panels(n_panels: int, shape: Size, ax: Any, n_rows: int | None = None) -> Array:
    """Return Axes (n_panels,): those given, or those of a new figure with up to six in a row."""
    if ax is not None:
        given = np.ravel(np.asarray(ax, dtype=object))
        if len(given) != n_panels:
            raise ValueError(f"ax holds {len(given)} Axes, but there are {n_panels} images to draw; give one for each.")
        return given
    n_rows = n_rows or -(-n_panels // 6)
    n_columns = -(-n_panels // n_rows)
    size = (0.95 * n_columns, (0.25 + 0.9 * shape[0] / shape[1]) * n_rows)
    axes = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)[1].ravel()
    for unused in axes[n_panels:]:
        unused.remove()
    return axes[:n_panels]


def _draw_image(
    ax: Axes,
    image: Array,
    limits: tuple[float, float] | None = None,
    title: str = "",
    framed: bool = False,
    *,
    cmap: str,
) -> None:
    low, high = limits or (image.min(), image.max())
    ax.imshow(image, cmap=cmap, vmin=low, vmax=high, interpolation="nearest", aspect="equal")
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize="small", pad=3)
    ax.spines[:].set(visible=framed, color=OKABE_ITO[3], linewidth=2)
