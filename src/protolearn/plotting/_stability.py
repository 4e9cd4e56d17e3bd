"""Plot of the relevances in a cross-validation: features with intervals, and the ROC curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from protolearn.core.parameters import constrained, integer
from protolearn.core.types import Indices
from protolearn.lvq import RelevanceStability
from protolearn.plotting._inputs import check_names
from protolearn.plotting._relevances import draw_bars
from protolearn.plotting.style import INK, MUTED, axes_or_new, class_colors, tidy

__all__ = ["plot_relevance_stability"]

MOST_CURVES = 8  # more cannot be told apart


@constrained(n_features=integer(1))
def plot_relevance_stability(
    stability: RelevanceStability,
    n_features: int = 15,
    *,
    feature_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show the mean relevances over the splits of a cross-validation with intervals, and next to them the ROC curve.

    A gray line marks the relevance if all features were equally relevant.

    Parameters
    ----------
    stability : RelevanceStability
        Result of `protolearn.lvq.relevance_stability`.
    n_features : int, default=15
        Number of most relevant features to show, in decreasing order.
    feature_names : sequence of str, optional
        Names of the features; by default those of the cross-validation.
    ax : Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    Axes
        Axes that enclose the plot. Their ``child_axes`` are the relevances and the ROC curve: the mean over the splits
        with a band for their interval or, with more than two classes, the mean for each class against the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protolearn import GRLVQ
    >>> from protolearn.lvq import relevance_stability
    >>> from protolearn.plotting import plot_relevance_stability
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> profile, roc = plot_relevance_stability(relevance_stability(GRLVQ(), X, y, cv=3), n_features=2).child_axes
    >>> sorted(label.get_text() for label in profile.get_yticklabels())
    ['petal length (cm)', 'petal width (cm)']
    """
    if not isinstance(stability, RelevanceStability):
        raise ValueError(
            f"stability is of type {type(stability).__name__}; give the result of relevance_stability, as in "
            "plot_relevance_stability(relevance_stability(model, X, y))."
        )
    names = check_names(feature_names, stability.feature_names)
    order = np.argsort(-stability.mean_relevances, kind="stable")[:n_features]
    ax = axes_or_new(ax, max(0.45, 0.04 * len(order)), width=8.0)
    ax.set_axis_off()
    _draw_profile(ax.inset_axes((0.0, 0.0, 0.48, 1.0)), stability, order, list(names[order]))
    _draw_roc(ax.inset_axes((0.62, 0.0, 0.38, 1.0)), stability)
    return ax


def _draw_profile(ax: Axes, stability: RelevanceStability, order: Indices, names: list[str]) -> None:
    means = stability.mean_relevances[order]
    low, high = (end[order] for end in stability.interval(stability.relevances))
    draw_bars(ax, means, names, class_colors(1)[0])
    ax.errorbar(
        means,
        np.arange(len(order)),
        xerr=[means - low, high - means],
        fmt="none",
        ecolor=INK,
        elinewidth=1.0,
        capsize=2,
    )
    ax.axvline(1.0 / len(stability.feature_names), color=MUTED, linewidth=0.8)  # an equal share
    n_splits = len(stability.relevances)
    ax.set_xlabel(f"relevance\n(mean and middle {100 * stability.level:g} % of {n_splits} splits)", fontsize="small")


def _draw_roc(ax: Axes, stability: RelevanceStability) -> None:
    tidy(ax)
    false, true = stability.false_positive_rates, stability.true_positive_rates
    n_curves = true.shape[1]
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8)
    names = [f"{name} " for name in stability.classes] if n_curves > 1 else [""]
    for curve, color in zip(range(min(n_curves, MOST_CURVES)), class_colors(min(n_curves, MOST_CURVES))):
        label = f"{names[curve]}AUC {np.nanmean(stability.auc[:, curve]):.3f}"
        ax.plot(false, np.nanmean(true[:, curve], axis=0), color=tuple(color), linewidth=1.4, label=label)
        if n_curves == 1:
            ax.fill_between(false, *stability.interval(true[:, curve]), color=tuple(color), alpha=0.25, linewidth=0)
    positive = f" ({stability.classes[-1]})" if n_curves == 1 else ""
    ax.set_xlabel("false positive rate", fontsize="small")
    ax.set_ylabel(f"true positive rate{positive}", fontsize="small")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", anchor="N")
    ax.legend(loc="lower right", frameon=False, fontsize="small")
