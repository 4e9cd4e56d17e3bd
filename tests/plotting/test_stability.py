"""The picture of stable relevances shows the numbers of a cross-validation."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import GRLVQ
from protolearn.lvq import RelevanceStability, relevance_stability
from protolearn.plotting import plot_relevance_stability


@pytest.fixture(scope="module")
def wine() -> RelevanceStability:
    data = load_wine(as_frame=True)
    names = data.target_names[data.target]
    return relevance_stability(make_pipeline(StandardScaler(), GRLVQ(max_iter=15)), data.data, names, cv=4)


@pytest.fixture(scope="module")
def pair() -> RelevanceStability:
    X, y = load_wine(return_X_y=True)
    return relevance_stability(make_pipeline(StandardScaler(), GRLVQ(max_iter=15)), X[:, :4], y == 1, cv=4)


def test_draws_into_the_axes_given(wine: RelevanceStability) -> None:
    ax = plt.figure().add_subplot()
    other = plt.figure().add_subplot()
    figures = plt.get_fignums()
    assert plot_relevance_stability(wine, ax=ax) is ax
    assert all(panel.has_data() for panel in ax.child_axes)
    assert plt.get_fignums() == figures
    assert plt.gca() is other
    assert not other.has_data()


def test_makes_a_figure_of_its_own_and_changes_no_settings(
    wine: RelevanceStability, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("a picture was shown"))
    busy = plt.figure().add_subplot()
    before = mpl.rcParams.copy()
    figure: Any = plot_relevance_stability(wine).figure
    figure.canvas.draw()
    assert figure is not busy.figure
    assert not busy.has_data()
    assert mpl.rcParams == before
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


def test_bars_are_means_in_falling_order_with_their_intervals(wine: RelevanceStability) -> None:
    profile, _ = plot_relevance_stability(wine, n_features=5).child_axes
    frame = wine.to_frame().iloc[:5]
    assert [label.get_text() for label in profile.get_yticklabels()] == frame.index.tolist()
    assert np.allclose([bar.get_width() for bar in profile.patches], frame["relevance"])
    (lines,) = [part for part in profile.collections if len(part.get_segments()) == 5]
    assert np.allclose([segment[:, 0] for segment in lines.get_segments()], frame[["low", "high"]])
    assert "middle 95 % of 4 splits" in profile.get_xlabel()


def test_each_class_has_a_curve(wine: RelevanceStability) -> None:
    _, roc = plot_relevance_stability(wine).child_axes
    chance, *curves = roc.lines
    assert list(chance.get_xdata()) == list(chance.get_ydata()) == [0, 1]
    for c, line in enumerate(curves):
        assert np.allclose(line.get_ydata(), wine.true_positive_rates[:, c].mean(axis=0))
    labels = [text.get_text() for text in roc.get_legend().get_texts()]
    assert labels == [f"{name} AUC {area:.3f}" for name, area in zip(wine.classes, wine.auc.mean(axis=0))]
    assert not roc.collections


def test_two_classes_have_one_curve_in_a_band(pair: RelevanceStability) -> None:
    profile, roc = plot_relevance_stability(pair).child_axes
    assert len(profile.patches) == 4
    assert len(roc.lines) == 2
    (band,) = roc.collections
    low, high = pair.interval(pair.true_positive_rates[:, 0])
    top = band.get_paths()[0].vertices
    assert top[:, 1].max() == pytest.approx(high.max())
    assert top[:, 1].min() == pytest.approx(low.min())
    assert roc.get_ylabel() == "true positive rate (True)"


def test_refuses_anything_else() -> None:
    with pytest.raises(ValueError, match="give the result of relevance_stability"):
        plot_relevance_stability(np.ones(3))  # type: ignore[arg-type]
    assert not plt.get_fignums()
