"""Bars and images of values that belong to features, used by the plots of relevances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator
from sklearn.utils import check_array

from protolearn.core.fitted import take_apart
from protolearn.core.parameters import constrained, integer, none
from protolearn.core.types import Array, Floats, Indices
from protolearn.lvq import Category, Explanation, InputTable, table_of
from protolearn.plotting._inputs import check_names, fitted_model
from protolearn.plotting.style import (
    INK,
    MUTED,
    OKABE_ITO,
    add_color_bar,
    add_legend,
    axes_or_new,
    class_colors,
    class_handles,
    tidy,
)

__all__ = [
    "MOST_NAMES",
    "column_names",
    "columns_by_feature",
    "draw_bars",
    "draw_columns",
    "draw_dots",
    "draw_heat_map",
    "draw_image",
    "entitle",
    "label_size",
    "matrices_of",
    "plot_eigenvalues",
    "plot_explanation",
    "plot_relevance_matrix",
    "plot_relevances",
    "select",
    "whole_numbers",
]

MOST_NAMES = 40  # more do not fit beside each other


def label_size(ax: Axes, axis: Literal["x", "y"], n_labels: int) -> float:
    """Return a font size, small at most, in which so many labels fit side by side along an axis."""
    length = (ax.bbox.width if axis == "x" else ax.bbox.height) * 72 / ax.figure.dpi
    return float(np.clip(0.95 * length / n_labels, 4.0, FontProperties(size="small").get_size_in_points()))


def whole_numbers() -> MaxNLocator:
    """Return what places as many ticks at whole numbers as there is room for."""
    return MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10])


def draw_bars(ax: Axes, values: Floats, names: list[str], colors: Any) -> None:
    """Draw horizontal bars from top to bottom, with names unless there are too many."""
    rows = np.arange(len(values))
    ax.barh(rows, values, height=0.75, color=colors)
    ax.set_ylim(len(values) - 0.5, -0.5)
    tidy(ax)
    if len(values) <= MOST_NAMES:
        ax.set_yticks(rows, names)
        ax.tick_params(axis="y", labelsize=label_size(ax, "y", len(names)), length=0)
    else:
        ax.yaxis.set_major_locator(whole_numbers())


def draw_columns(ax: Axes, values: Floats, first: int, color: str) -> None:
    """Draw upright bars over numbers that begin with ``first``."""
    ax.bar(first + np.arange(len(values)), values, width=0.75, color=color)
    ax.set_xlim(first - 0.75, first + len(values) - 0.25)
    tidy(ax)
    ax.xaxis.set_major_locator(whole_numbers())


def draw_dots(ax: Axes, parts: Floats, labels: Array | None, *, first: int = 0, across: bool = False) -> None:
    """Draw on each bar a dot for each matrix, parts (n, s), in the color of its class."""
    if not parts.shape[1]:
        return
    places = np.broadcast_to(first + np.arange(len(parts))[:, None], parts.shape)
    x, y = (parts, places) if across else (places, parts)
    colors: Any = INK
    if labels is not None:
        classes, codes = np.unique(labels, return_inverse=True)
        palette = class_colors(len(classes))
        colors = palette[np.tile(codes, len(parts))]
        add_legend(ax, class_handles(classes, palette))
    ax.scatter(x.ravel(), y.ravel(), s=16, c=colors, edgecolors="white", linewidths=0.5, zorder=3)


def draw_heat_map(ax: Axes, values: Floats, aspect: Literal["equal", "auto"], cmap: str) -> AxesImage:
    """Draw values (h, w) in colors that diverge from zero."""
    limit = np.abs(values).max() or 1.0
    tidy(ax, hidden=())
    return ax.imshow(values, cmap=cmap, vmin=-limit, vmax=limit, interpolation="nearest", aspect=aspect)


def draw_image(
    ax: Axes | None,
    values: Floats,
    shape: tuple[int, int],
    label: str,
    title: str,
    *,
    cmap: str,
    diverging: bool = False,
) -> Axes:
    """Draw values (h w,) as an image (h, w), in colors that diverge from zero or begin with it."""
    if np.shape(shape) != (2,) or np.prod(shape) != len(values):
        raise ValueError(f"shape={shape!r} must be the height and width of an image of {len(values)} pixels.")
    pixels = values.reshape(shape)
    ax = axes_or_new(ax, shape[0] / shape[1])
    if diverging:
        image = draw_heat_map(ax, pixels, "equal", cmap)
    else:
        image = ax.imshow(pixels, cmap=cmap, vmin=0.0, interpolation="nearest", aspect="equal")
    add_color_bar(ax, image, label)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    entitle(ax, title)
    return ax


def entitle(ax: Axes, title: str) -> None:
    """Set a small title, if there is one."""
    if title:
        ax.set_title(title, fontsize="small")


def matrices_of(model: Any, attribute: str, n_axes: int, what: str) -> tuple[Floats, Array | None]:
    """Return what a fitted model, or an array, holds for each of its matrices, and the classes these belong to.

    There is one for all if it has ``n_axes`` axes, and a stack of several if it has one axis more. Classes are None if
    there is one for all, and for an array.
    """
    if hasattr(model, "get_params"):
        model = fitted_model(model)
        if not hasattr(model, attribute):
            raise ValueError(
                f"Cannot plot {what}: {type(model).__name__} has no {attribute}. Give a classifier that learns a "
                "metric, such as GMLVQ, or a pipeline that ends in one."
            )
        values = np.asarray(getattr(model, attribute))
    else:
        values = check_array(model, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="model")
        square = n_axes < 2 or values.shape[-1] == values.shape[-2]
        if values.ndim not in (n_axes, n_axes + 1) or not square:
            one = ", ".join(["n_features"] * n_axes)
            raise ValueError(
                f"Cannot plot {what}: the array given has shape {values.shape}; expected ({one}"
                f"{',' if n_axes == 1 else ''}) for one, or (s, {one}) for several."
            )
    if values.ndim == n_axes:
        return values[None], None
    for owners in ("classes_", "prototype_labels_"):
        labels = getattr(model, owners, None)
        if labels is not None and len(labels) == len(values):
            return values, labels
    return values, None


def columns_by_feature(model: Any, n_columns: int) -> tuple[list[str], list[Indices]]:
    """Return the features of the samples by name, and the columns that a classifier sees of each.

    Behind steps that mix columns, or cannot be undone, these are the columns themselves.
    """
    table = _table(model)
    if table is None:
        return _own_names(model, n_columns), [np.array([i]) for i in range(n_columns)]
    seen = [(str(name), feature.columns) for name, feature in zip(table.names, table.features) if len(feature.columns)]
    return [name for name, _ in seen], [columns for _, columns in seen]


def column_names(model: Any, n_columns: int) -> list[str]:
    """Return names of the columns that a classifier sees: of a feature, with its category if it has any."""
    names, table = _own_names(model, n_columns), _table(model)
    if table is not None:
        for name, feature in zip(table.names, table.features):
            for place, column in enumerate(feature.columns):
                names[column] = str(name)
                if isinstance(feature, Category) and len(feature.columns) > 1:
                    names[column] += f" = {feature.categories[feature.rows[:, place].argmax()]}"
    return names


def _table(model: Any) -> InputTable | None:
    """Return how features become columns behind the steps of a pipeline, if each column is of one feature."""
    if not hasattr(model, "get_params") or take_apart(model).before is None:
        return None
    try:
        table = table_of(model)
    except ValueError:  # a step that cannot be undone
        return None
    return table if table.mixing is None else None


def _own_names(model: Any, n_columns: int) -> list[str]:
    parts = take_apart(model)
    if parts.before is None and not hasattr(model, "feature_names_in_"):
        return [f"feature {i}" for i in range(n_columns)]
    return list(map(str, parts.names_out(n_columns)))


def select(stack: Floats, labels: Array | None, matrix: Any) -> tuple[Floats, Floats, str]:
    """Return the values of one matrix, or a mean; what it is the mean of, empty if nothing; and a title."""
    if matrix is None:
        several = len(stack) > 1
        return stack.mean(axis=0), stack if several else stack[:0], f"mean of {len(stack)} matrices" if several else ""
    number = _number_of(matrix, len(stack), labels)
    if labels is None:
        title = f"matrix {number}" if len(stack) > 1 else ""
    else:
        alone = np.count_nonzero(labels == labels[number]) == 1
        title = f"class {labels[number]}" if alone else f"prototype {number}, class {labels[number]}"
    return stack[number], stack[:0], title


def _number_of(matrix: Any, n_matrices: int, labels: Array | None) -> int:
    if isinstance(matrix, int | np.integer):
        found = [int(matrix)] if 0 <= matrix < n_matrices else []
    else:
        found = [] if labels is None else [number for number, label in enumerate(labels) if label == matrix]
    if len(found) > 1:
        raise ValueError(f"Class {matrix!r} has {len(found)} matrices; give the number of one of them, from {found}.")
    if not found:
        names = [] if labels is None else sorted({label for label in labels.tolist() if isinstance(label, str)})
        known = f", or one of the classes {names}" if names else ""
        raise ValueError(f"There is no matrix {matrix!r}; give a number from 0 to {n_matrices - 1}{known}.")
    return found[0]


FOR, AGAINST = OKABE_ITO[0], OKABE_ITO[3]


PALE = "#d4d4d4"


@constrained(n_features=integer(1) | none)
def plot_relevances(
    model: Any,
    feature_names: Sequence[str] | None = None,
    n_features: int | None = None,
    matrix: Any = None,
    *,
    sort: bool = True,
    shape: tuple[int, int] | None = None,
    cmap: str = "viridis",
    ax: Axes | None = None,
) -> Axes:
    """Show the relevance of each feature in the learned distance, in decreasing order.

    For a model with several matrices, bars show the mean, and dots the relevances of each matrix.

    Parameters
    ----------
    model : fitted classifier, or array-like of shape (n_features,) or (s, n_features)
        Fitted model with relevances, such as GRLVQ, GMLVQ or LGMLVQ; a Pipeline that ends in one; or the relevances
        themselves. Of a pipeline, the relevances of the columns of a categorical feature are added up. After steps that
        mix columns, such as PCA, relevances are those of the classifier's input columns.
    feature_names : sequence of str, optional
        Names of the features; by default those that the model was fitted with.
    n_features : int, optional
        Number of most relevant features to show; all by default.
    matrix : int or str, optional
        Matrix to show if there are several: its index, or the class it belongs to. By default all.
    sort : bool, default=True
        Whether to sort features by decreasing relevance; False keeps the order of the data, as for spectra.
    shape : tuple of int, optional
        Height and width of images whose pixels are the features; relevances are then shown as an image.
    cmap : str, default="viridis"
        Name of a Matplotlib colormap for this image.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ
    >>> from protolearn.plotting import plot_relevances
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_relevances(GRLVQ(random_state=0).fit(X, y), n_features=2)
    >>> sorted(label.get_text() for label in ax.get_yticklabels())
    ['petal length (cm)', 'petal width (cm)']
    """
    stack, labels = matrices_of(model, "relevances_", 1, "relevances")
    values, parts, title = select(stack, labels, matrix)
    if shape is not None:
        if n_features is not None:
            raise ValueError("An image shows all features; give shape or n_features, not both.")
        return draw_image(ax, values, shape, "relevance", title, cmap=cmap)
    own_names, groups = columns_by_feature(model, len(values))
    values, parts = (np.stack([each[..., group].sum(axis=-1) for group in groups], -1) for each in (values, parts))
    columns, names = _chosen(values, check_names(feature_names, own_names), n_features, sort)
    if len(columns) <= MOST_NAMES:
        ax = axes_or_new(ax, 0.045 * len(columns))
        draw_bars(ax, values[columns], names, _bar_color(parts))
        draw_dots(ax, parts[:, columns].T, labels, across=True)
        ax.set_xlabel("relevance")
    else:
        ax = axes_or_new(ax, 0.5)
        draw_columns(ax, values[columns], 0, _bar_color(parts))
        draw_dots(ax, parts[:, columns].T, labels, first=0)
        ax.set(ylabel="relevance", xlabel=_order(sort))
    entitle(ax, title)
    return ax


@constrained(n_features=integer(1) | none)
def plot_relevance_matrix(
    model: Any,
    feature_names: Sequence[str] | None = None,
    n_features: int | None = None,
    matrix: Any = None,
    *,
    sort: bool = True,
    cmap: str = "RdBu",
    ax: Axes | None = None,
) -> Axes:
    """Show the relevance matrix: its diagonal as bars, and next to them the other entries as a heat map.

    An entry off the diagonal shows the interaction of two features: it is positive if differences of the same sign
    increase the distance, negative if they cancel out. The diagonal, which would dominate the color scale, is left
    blank in the heat map.

    Parameters
    ----------
    model : fitted classifier, or array-like of shape (n_features, n_features) or (s, n_features, n_features)
        Fitted model with a relevance matrix, such as GMLVQ, LGMLVQ or LLiRaMLVQ; a Pipeline that ends in one; or the
        matrix itself. Of a pipeline, each category has its own row.
    feature_names : sequence of str, optional
        Names of the features; by default those that the model was fitted with.
    n_features : int, optional
        Number of most relevant features to show; all by default.
    matrix : int or str, optional
        Matrix to show if there are several: its index, or the class it belongs to. By default their mean is shown.
    sort : bool, default=True
        Whether to sort features by decreasing relevance; False keeps the order of the data.
    cmap : str, default="RdBu"
        Name of a diverging Matplotlib colormap, whose center is zero.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes that enclose the plot. Their ``child_axes`` are the bars and the heat map.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_relevance_matrix
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQ(random_state=0).fit(X, y)
    >>> bars, heat_map = plot_relevance_matrix(model).child_axes
    >>> float(heat_map.images[0].get_array().trace())
    0.0
    """
    stack, labels = matrices_of(model, "relevance_matrix_", 2, "a relevance matrix")
    whole, _, title = select(stack, labels, matrix)
    own_names = check_names(feature_names, column_names(model, len(whole)))
    columns, names = _chosen(whole.diagonal(), own_names, n_features, sort)
    entries = whole[np.ix_(columns, columns)]
    relevances = entries.diagonal().copy()
    ax = axes_or_new(ax, 0.8)
    ax.set_axis_off()
    bars, others = ax.inset_axes((0.0, 0.0, 0.27, 1.0)), ax.inset_axes((0.3, 0.0, 0.7, 1.0))
    draw_bars(bars, relevances, names, FOR)
    bars.set_xlabel("diagonal", fontsize="small")
    image = draw_heat_map(others, entries - np.diag(relevances), "auto", cmap)
    add_color_bar(ax, image, "off the diagonal")
    others.tick_params(left=False, labelleft=False)
    if len(columns) <= MOST_NAMES:
        others.set_xticks(range(len(columns)), names, rotation=90)
        others.tick_params(axis="x", labelsize=label_size(others, "x", len(columns)), length=0)
    else:
        others.xaxis.set_major_locator(whole_numbers())
        others.set_xlabel(_order(sort))
        bars.set_ylabel(_order(sort))
    entitle(ax, title)
    return ax


def plot_eigenvalues(model: Any, matrix: Any = None, *, ax: Axes | None = None) -> Axes:
    """Show the eigenvalues of the relevance matrix in decreasing order: the relevance of each direction.

    The eigenvalues sum to one. For a model with several matrices, bars show the mean, and dots the eigenvalues of each
    matrix.

    Parameters
    ----------
    model : fitted classifier, or array-like of shape (M,) or (s, M)
        Fitted model with a relevance matrix, such as GMLVQ, LGMLVQ or LLiRaMLVQ; a Pipeline that ends in one; or the
        eigenvalues themselves, in decreasing order.
    matrix : int or str, optional
        Matrix to show if there are several: its index, or the class it belongs to. By default all.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_eigenvalues
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_eigenvalues(GMLVQ(random_state=0).fit(X, y))
    >>> len(ax.patches), round(float(sum(bar.get_height() for bar in ax.patches)), 6)
    (4, 1.0)
    """
    stack, labels = matrices_of(model, "eigenvalues_", 1, "eigenvalues of a relevance matrix")
    values, parts, title = select(stack, labels, matrix)
    ax = axes_or_new(ax, 0.5)
    draw_columns(ax, values, 1, _bar_color(parts))
    draw_dots(ax, parts.T, labels, first=1)
    ax.set(xlabel="direction", ylabel="eigenvalue")
    entitle(ax, title)
    return ax


@constrained(n_features=integer(1))
def plot_explanation(
    explanation: Explanation,
    sample: int = 0,
    n_features: int = 10,
    *,
    feature_names: Sequence[str] | None = None,
    shape: tuple[int, int] | None = None,
    cmap: str = "RdBu",
    ax: Axes | None = None,
) -> Axes:
    """Show which features supported the classification of a sample, and which opposed it.

    The bars sum to the difference between the distances to the nearest prototype of another class and to the winner.

    Parameters
    ----------
    explanation : Explanation
        Result of the method ``explain`` of a classifier, or of `protolearn.lvq.explain` for a pipeline.
    sample : int, default=0
        Index of the sample in the explanation.
    n_features : int, default=10
        Number of features to show, those with the largest contributions first; another bar shows the sum of all others.
    feature_names : sequence of str, optional
        Names of the features; by default those of the explanation.
    shape : tuple of int, optional
        Height and width of images whose pixels are the features; contributions are then shown as an image.
    cmap : str, default="RdBu"
        Name of a diverging Matplotlib colormap for this image.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes with the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GMLVQ
    >>> from protolearn.plotting import plot_explanation
    >>> iris = load_iris(as_frame=True)
    >>> model = GMLVQ(random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> ax = plot_explanation(model.explain(iris.data[:1]), n_features=2)
    >>> ax.get_yticklabels()[-1].get_text(), ax.get_title()
    ('2 others', 'setosa, not versicolor')
    """
    if not isinstance(explanation, Explanation):
        raise ValueError(
            f"explanation is of type {type(explanation).__name__}; give the result of the method explain of a "
            "classifier, as in plot_explanation(model.explain(X))."
        )
    n_samples = len(explanation.contributions)
    integer(-n_samples, n_samples - 1).check("sample", sample)
    parts = explanation.contributions[sample]
    winner, rival = explanation.classes[sample], explanation.rivals[sample]
    title = f"{winner}, not {rival}"
    if shape is not None:
        label = f"speaks for {rival} (-) or {winner} (+)"
        return draw_image(ax, parts, shape, label, title, cmap=cmap, diverging=True)
    order = np.argsort(-np.abs(parts), kind="stable")
    shown, others = order[:n_features], order[n_features:]
    names = list(check_names(feature_names, explanation.feature_names)[shown])
    values, colors = parts[shown], [FOR if part >= 0 else AGAINST for part in parts[shown]]
    if len(others):
        names, colors = [*names, f"{len(others)} others"], [*colors, MUTED]
        values = np.append(values, parts[others].sum())
    ax = axes_or_new(ax, 0.045 * len(names))
    draw_bars(ax, values, names, colors)
    ax.axvline(0, color=INK, linewidth=0.6)
    ax.set_xlabel(f"\N{LEFTWARDS ARROW} {rival}   speaks for   {winner} \N{RIGHTWARDS ARROW}", fontsize="small")
    entitle(ax, title)
    return ax


def _chosen(relevances: Floats, names: Array, n_features: int | None, sort: bool) -> tuple[Indices, list[str]]:
    """Return columns and names of the features to show: all, or the most relevant ones."""
    columns = np.argsort(-relevances, kind="stable")[:n_features]
    columns = columns if sort else np.sort(columns)
    return columns, [names[column] for column in columns]


def _order(sort: bool) -> str:
    return "features, the most relevant first" if sort else "feature"


def _bar_color(parts: Floats) -> str:
    """Return a color on which the dots of the parts, if there are any, stand out."""
    return PALE if len(parts) else FOR
