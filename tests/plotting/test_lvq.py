"""The pictures of LVQ classifiers show the numbers that the models hold, and the classes that they predict."""

from copy import copy
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.path import Path
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import protolearn.plotting as plotting
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    LVQ1,
    SOM,
    KMeans,
    LLiRaMLVQ,
    PrototypeClassifier,
)
from protolearn.datasets import make_cigars
from protolearn.lvq import MinkowskiMetric, prototypes_in_units
from protolearn.plotting import (
    _classes as _lvq,
)
from protolearn.plotting import (
    plot_decision_regions,
    plot_eigenvalues,
    plot_explanation,
    plot_learning_curve,
    plot_margins,
    plot_prototypes,
    plot_relevance_matrix,
    plot_relevances,
    plot_view,
)
from protolearn.plotting.style import class_colors, tint

FEW = {"max_iter": 15, "random_state": 0}
WHITE = (1.0, 1.0, 1.0)
OF_FEATURES = ("plot_relevances", "plot_relevance_matrix", "plot_eigenvalues")
NAMES = (*OF_FEATURES, "plot_explanation", "plot_learning_curve", "plot_margins", "plot_view", "plot_decision_regions")
each = pytest.mark.parametrize("name", NAMES)
each_of_features = pytest.mark.parametrize("name", OF_FEATURES)
each_of_models = pytest.mark.parametrize("name", [name for name in NAMES if name != "plot_explanation"])


@pytest.fixture(autouse=True)
def _coarse_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lvq, "GRID", 120)


@pytest.fixture(scope="module")
def wine() -> tuple[pd.DataFrame, np.ndarray]:
    data = load_wine(as_frame=True)
    scaled = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
    return scaled.iloc[:, :6], data.target_names[data.target]


@pytest.fixture(scope="module")
def cigars() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_cigars(60, random_state=0)
    return X, np.where(y == y[0], "left", "right")


@pytest.fixture(scope="module")
def full(wine: Any) -> GMLVQ:
    return GMLVQ(**FEW).fit(*wine)


@pytest.fixture(scope="module")
def flat(wine: Any) -> GMLVQ:
    return GMLVQ(n_components=2, **FEW).fit(*wine)


@pytest.fixture(scope="module")
def local(wine: Any) -> LGMLVQ:
    return LGMLVQ(**FEW).fit(*wine)


@pytest.fixture(scope="module")
def paired(wine: Any) -> LGMLVQ:
    return LGMLVQ({"class_0": 1, "class_1": 2, "class_2": 1}, **FEW).fit(*wine)


@pytest.fixture(scope="module")
def curved(wine: Any) -> LLiRaMLVQ:
    return LLiRaMLVQ(2, **FEW).fit(*wine)


@pytest.fixture
def draw(wine: Any, flat: GMLVQ, cigars: Any) -> Any:
    """Draw a picture by its name, of a model that suits it unless one is given."""

    def call(name: str, model: Any = None, **given: Any) -> Any:
        plot = getattr(plotting, name)
        if name == "plot_decision_regions":
            return plot(GLVQ(**FEW).fit(*cigars) if model is None else model, *cigars, **given)
        model = flat if model is None else model
        if name == "plot_explanation":
            return plot(model.explain(wine[0]), **given)
        return plot(model, *(wine if name in ("plot_view", "plot_margins") else ()), **given)

    return call


def bars_of(ax: Any, across: bool = True) -> np.ndarray:
    """Return the lengths of the bars by their place, from the top or from the left."""
    at = [(bar.get_y(), bar.get_width()) if across else (bar.get_x(), bar.get_height()) for bar in ax.patches]
    return np.array([length for _, length in sorted(at)])


def names_of(axis: Any) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def dots_of(ax: Any) -> Any:
    (dots,) = [part for part in ax.collections if type(part) is PathCollection]
    return dots


def legend_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def scattered(ax: Any) -> list[Any]:
    """Return samples and prototypes, as they were drawn."""
    return [part for part in ax.collections if type(part) is PathCollection]


def pixels(ax: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the centers (n, 2) and the colors (n, 3) of the pixels of class regions."""
    (image,) = ax.images
    colors = np.asarray(image.get_array())
    left, right, bottom, top = image.get_extent()
    height, width = colors.shape[:2]
    x = left + (right - left) * (np.arange(width) + 0.5) / width
    y = bottom + (top - bottom) * (np.arange(height) + 0.5) / height
    return np.column_stack([np.tile(x, height), np.repeat(y, width)]), colors.reshape(-1, 3)


def pale(predicted: Any, classes: Any) -> np.ndarray:
    """Return the colors in which regions of predicted classes should be, white for what is no class."""
    shades = {name: tuple(shade) for name, shade in zip(classes, tint(class_colors(len(classes)), 0.22))}
    kinds, where = np.unique(predicted, return_inverse=True)
    return np.array([shades.get(kind, WHITE) for kind in kinds])[where]


# What holds for every picture.


def test_every_function_is_checked_here() -> None:
    modules = ("_classes", "_relevances", "_training")
    found = {name for name in plotting.__all__ if getattr(plotting, name).__module__.endswith(modules)}
    assert found == set(NAMES)


@each
def test_draws_into_the_axes_given(draw: Any, name: str) -> None:
    ax = plt.figure().add_subplot()
    other = plt.figure().add_subplot()
    figures = plt.get_fignums()
    assert draw(name, ax=ax) is ax
    assert any(panel.has_data() for panel in (ax, *ax.child_axes))
    assert plt.get_fignums() == figures
    assert plt.gca() is other
    assert not other.has_data()


@each
def test_makes_a_figure_of_its_own_and_changes_no_settings(
    draw: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("a picture was shown"))
    busy = plt.figure().add_subplot()
    before = mpl.rcParams.copy()
    ax = draw(name)
    ax.figure.canvas.draw()
    assert ax.figure is not busy.figure
    assert not busy.has_data()
    assert mpl.rcParams == before


@each
def test_all_is_inside_the_figure(draw: Any, name: str) -> None:
    figure = draw(name).figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


@pytest.mark.parametrize("names", [("a", "b"), ("those on the left", "those on the right")])
def test_there_is_room_for_the_legend_of_a_square_picture(names: tuple[str, str]) -> None:
    X = np.random.default_rng(0).random((50, 2))
    y = np.where(X[:, 0] < 0.5, *names)
    figure = plot_decision_regions(GLVQ(**FEW).fit(X, y), X, y).figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= figure.get_size_inches()[0]


@each_of_models
def test_refuses_what_is_not_fitted(draw: Any, name: str) -> None:
    with pytest.raises(NotFittedError):
        draw(name, GMLVQ())
    assert not plt.get_fignums()


@each_of_models
def test_names_what_other_estimators_lack(draw: Any, name: str, wine: Any, cigars: Any) -> None:
    if name == "plot_decision_regions":
        with pytest.raises(ValueError, match="KMeans is not a classifier; use a PrototypeClassifier"):
            draw(name, KMeans(2, random_state=0).fit(cigars[0]))
        with pytest.raises(ValueError, match="SOM is not a classifier"):  # its predictions are prototypes, not classes
            draw(name, SOM((2, 2), label_weight=0.5, max_iter=3).fit(*cigars))
        return
    with pytest.raises(ValueError, match=r"Cannot plot .*StandardScaler has no .*ends? in one"):
        draw(name, make_pipeline(StandardScaler()).fit(*wine))
    assert not plt.get_fignums()


# Relevances.


def test_bars_are_the_relevances_by_name(full: GMLVQ, wine: Any) -> None:
    ax = plot_relevances(full)
    order = np.argsort(-full.relevances_)
    np.testing.assert_allclose(bars_of(ax), full.relevances_[order])
    assert names_of(ax.yaxis) == list(wine[0].columns[order])
    given = plot_relevances(full, sort=False)
    np.testing.assert_allclose(bars_of(given), full.relevances_)
    assert names_of(given.yaxis) == list(wine[0].columns)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert ax.get_xlabel() == "relevance"
    assert ax.get_legend() is None


def test_the_most_relevant_features_come_first(full: GMLVQ, wine: Any) -> None:
    ax = plot_relevances(full, n_features=3)
    order = sorted(range(6), key=full.relevances_.__getitem__, reverse=True)[:3]
    np.testing.assert_allclose(bars_of(ax), full.relevances_[order])
    assert names_of(ax.yaxis) == [wine[0].columns[i] for i in order]
    assert len(bars_of(plot_relevances(full, n_features=99))) == 6


def test_features_can_be_named(full: GMLVQ, wine: Any) -> None:
    assert names_of(plot_relevances(full, list("abcdef"), sort=False).yaxis) == list("abcdef")
    nameless = GRLVQ(**FEW).fit(wine[0].to_numpy(), wine[1])
    assert names_of(plot_relevances(nameless, sort=False).yaxis) == [f"feature {i}" for i in range(6)]
    for plot in (plot_relevances, plot_relevance_matrix):
        with pytest.raises(ValueError, match="holds 2 names for 6 features; give one for each"):
            plot(full, ["a", "b"])


def test_many_features_are_a_profile() -> None:
    values = np.random.default_rng(0).random(60)
    ax = plot_relevances(values, sort=False)
    np.testing.assert_allclose(bars_of(ax, across=False), values)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature", "relevance")
    centers = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
    np.testing.assert_allclose(centers, np.arange(60))
    best = plot_relevances(values, n_features=50)
    np.testing.assert_allclose(bars_of(best, across=False), np.sort(values)[:-51:-1])
    assert best.get_xlabel() == "features, the most relevant first"


def test_several_matrices_are_a_mean_with_dots(local: LGMLVQ) -> None:
    ax = plot_relevances(local, n_features=4)
    order = np.argsort(-local.relevances_.mean(axis=0))[:4]
    np.testing.assert_allclose(bars_of(ax), local.relevances_.mean(axis=0)[order])
    places, codes = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    values = local.relevances_[codes, order[places]]
    np.testing.assert_allclose(dots_of(ax).get_offsets(), np.column_stack([values, places]))
    np.testing.assert_allclose(dots_of(ax).get_facecolor()[:, :3], class_colors(3)[codes])
    assert legend_of(ax) == ["class_0", "class_1", "class_2"]
    assert ax.get_title() == "mean of 3 matrices"


def test_one_of_several_matrices(local: LGMLVQ, wine: Any) -> None:
    for chosen in (1, "class_1", np.int64(1)):
        ax = plot_relevances(local, matrix=chosen, sort=False)
        np.testing.assert_allclose(bars_of(ax), local.relevances_[1])
        assert ax.get_title() == "class class_1"
        assert not ax.collections
    by_class = LGRLVQ(2, localization="class", **FEW).fit(*wine)
    ax = plot_relevances(by_class, matrix="class_2", sort=False)
    np.testing.assert_allclose(bars_of(ax), by_class.relevances_[2])


def test_prototypes_of_a_class_are_told_apart(paired: LGMLVQ) -> None:
    ax = plot_relevances(paired, matrix=2, sort=False)
    np.testing.assert_allclose(bars_of(ax), paired.relevances_[2])
    assert ax.get_title() == "prototype 2, class class_1"
    with pytest.raises(ValueError, match=r"Class 'class_1' has 2 matrices; give the number of one of them, from \[1"):
        plot_relevances(paired, matrix="class_1")
    np.testing.assert_allclose(bars_of(plot_relevances(paired, matrix="class_2", sort=False)), paired.relevances_[3])


@each_of_features
def test_a_matrix_that_is_not_there(draw: Any, name: str, local: LGMLVQ, full: GMLVQ) -> None:
    for matrix in (3, -1, "class_9", 0.5):
        with pytest.raises(ValueError, match=r"There is no matrix .*from 0 to 2, or one of the classes \['class_0'"):
            draw(name, local, matrix=matrix)
    with pytest.raises(ValueError, match="There is no matrix 'class_0'; give a number from 0 to 0"):
        draw(name, full, matrix="class_0")
    assert not plt.get_fignums()


@each_of_features
def test_arrays_of_a_wrong_shape(draw: Any, name: str) -> None:
    with pytest.raises(ValueError, match=r"the array given has shape \(2, 3, 4, 5\); expected \(n_features"):
        draw(name, np.ones((2, 3, 4, 5)))
    with pytest.raises(ValueError, match="Input model contains NaN"):
        draw(name, np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match=r"the array given has shape \(2, 3\); expected \(n_features, n_features\)"):
        plot_relevance_matrix(np.ones((2, 3)))


def test_several_arrays_have_numbers() -> None:
    values = np.array([[0.2, 0.8], [0.6, 0.4]])
    ax = plot_relevances(values, sort=False)
    np.testing.assert_allclose(bars_of(ax), [0.4, 0.6])
    np.testing.assert_allclose(dots_of(ax).get_offsets()[:, 0], [0.2, 0.6, 0.8, 0.4])
    assert ax.get_legend() is None
    assert plot_relevances(values, matrix=1).get_title() == "matrix 1"


def test_relevances_of_pixels_are_an_image(full: GMLVQ) -> None:
    ax = plot_relevances(full, shape=(2, 3))
    (image,) = ax.images
    np.testing.assert_allclose(image.get_array(), full.relevances_.reshape(2, 3))
    assert image.get_clim() == (0.0, pytest.approx(full.relevances_.max()))
    assert image.colorbar.ax.get_ylabel() == "relevance"
    for shape in ((2, 2), (6,), 6):
        with pytest.raises(ValueError, match="must be the height and width of an image of 6 pixels"):
            plot_relevances(full, shape=shape)
    with pytest.raises(ValueError, match="give shape or n_features, not both"):
        plot_relevances(full, n_features=2, shape=(2, 3))


@pytest.mark.parametrize("n_features", [0, 1.5, "all"])
def test_number_of_features(full: GMLVQ, n_features: Any) -> None:
    for plot in (plot_relevances, plot_relevance_matrix):
        with pytest.raises(ValueError, match=r"n_features=.* must be an integer"):
            plot(full, n_features=n_features)


# The relevance matrix.


def test_matrix_has_its_diagonal_beside(full: GMLVQ, wine: Any) -> None:
    ax = plot_relevance_matrix(full, sort=False)
    bars, heat_map = ax.child_axes
    (image,) = heat_map.images
    expected = np.array(full.relevance_matrix_)
    np.testing.assert_allclose(bars_of(bars), np.diagonal(expected))
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(image.get_array(), expected)
    limit = np.abs(expected).max()
    np.testing.assert_allclose(image.get_clim(), (-limit, limit))
    assert names_of(bars.yaxis) == names_of(heat_map.xaxis) == list(wine[0].columns)
    ax.figure.canvas.draw()
    for row in range(6):  # bars stand beside the rows that they belong to
        at = [panel.transData.transform((0, row))[1] for panel in (bars, heat_map)]
        assert at[0] == pytest.approx(at[1])


def test_colors_of_the_matrix_diverge_from_white(full: GMLVQ) -> None:
    (image,) = plot_relevance_matrix(full).child_axes[1].images
    low, middle, high = image.get_cmap()([0.0, 0.5, 1.0])[:, :3]
    assert middle.min() > 0.95
    assert low[0] - low[2] > 0.2  # red
    assert high[2] - high[0] > 0.2  # blue


def test_part_of_the_matrix(full: GMLVQ, wine: Any) -> None:
    bars, heat_map = plot_relevance_matrix(full, n_features=3).child_axes
    order = np.argsort(-full.relevances_)[:3]
    assert names_of(bars.yaxis) == list(wine[0].columns[order])
    shown = heat_map.images[0].get_array()
    assert shown[0, 2] == pytest.approx(full.relevance_matrix_[order[0], order[2]])
    assert shown.shape == (3, 3)


def test_matrix_of_a_class_or_their_mean(local: LGMLVQ) -> None:
    of_class = plot_relevance_matrix(local, matrix="class_2", sort=False)
    np.testing.assert_allclose(bars_of(of_class.child_axes[0]), local.relevances_[2])
    assert of_class.get_title() == "class class_2"
    mean = plot_relevance_matrix(local, sort=False)
    assert mean.child_axes[1].images[0].get_array()[0, 1] == pytest.approx(local.relevance_matrix_[:, 0, 1].mean())
    assert mean.get_title() == "mean of 3 matrices"


def test_a_diagonal_matrix_is_white() -> None:
    (image,) = plot_relevance_matrix(np.diag([0.25, 0.75])).child_axes[1].images
    assert not np.asarray(image.get_array()).any()
    assert image.get_clim() == (-1.0, 1.0)


def test_a_large_matrix_has_numbers_for_names() -> None:
    ax = plot_relevance_matrix(np.eye(50) + 0.1, sort=False)
    bars, heat_map = ax.child_axes
    ax.figure.canvas.draw()
    assert (bars.get_ylabel(), heat_map.get_xlabel()) == ("feature", "feature")
    assert 2 < len(names_of(heat_map.xaxis)) < 20


def test_names_shrink_to_fit() -> None:
    sizes = []
    for height in (2.0, 8.0):
        _, ax = plt.subplots(figsize=(5, height))
        plot_relevances(np.ones(40), ax=ax)
        ax.figure.canvas.draw()
        boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
        sizes.append(ax.get_yticklabels()[0].get_fontsize())
        if height == 8.0:
            assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    assert sizes[0] < sizes[1]


# Eigenvalues.


def test_eigenvalues_fall_and_add_up_to_one(full: GMLVQ) -> None:
    ax = plot_eigenvalues(full)
    heights = bars_of(ax, across=False)
    np.testing.assert_allclose(heights, np.linalg.eigvalsh(full.relevance_matrix_)[::-1], atol=1e-12)
    assert heights.sum() == pytest.approx(1.0)
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx(range(1, 7))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("direction", "eigenvalue")


def test_eigenvalues_of_several_matrices(local: LGMLVQ) -> None:
    ax = plot_eigenvalues(local)
    np.testing.assert_allclose(bars_of(ax, across=False), local.eigenvalues_.mean(axis=0))
    offsets = dots_of(ax).get_offsets()
    np.testing.assert_allclose(offsets[offsets[:, 0] == 2][:, 1], local.eigenvalues_[:, 1])
    np.testing.assert_allclose(bars_of(plot_eigenvalues(local, "class_0"), across=False), local.eigenvalues_[0])


# Explanations.


def test_explanation_adds_up_to_the_difference_of_distances(full: GMLVQ, wine: Any) -> None:
    explanation = full.explain(wine[0])
    sample = int(explanation.contributions.min(axis=1).argmin())  # one with a weighty reason against its class
    ax = plot_explanation(explanation, sample, n_features=4)
    parts = explanation.contributions[sample]
    order = sorted(range(6), key=lambda i: -abs(parts[i]))
    lengths = bars_of(ax)
    np.testing.assert_allclose(lengths[:4], parts[order[:4]])
    assert lengths[:4].min() < 0
    assert lengths.sum() == pytest.approx(explanation.rival_distances[sample] - explanation.distances[sample])
    assert names_of(ax.yaxis) == [*wine[0].columns[order[:4]], "2 others"]
    winner, rival = explanation.classes[sample], explanation.rivals[sample]
    assert ax.get_title() == f"{winner}, not {rival}"
    assert ax.get_xlabel().startswith(f"← {rival} ")
    assert ax.get_xlabel().endswith(f" {winner} →")


def test_colors_tell_for_and_against(full: GMLVQ, wine: Any) -> None:
    explanation = full.explain(wine[0])
    mixed = int(np.argmin(np.abs(np.sign(explanation.contributions).sum(axis=1))))
    ax = plot_explanation(explanation, mixed)
    signs = {bar.get_facecolor()[:3]: np.sign(bar.get_width()) for bar in ax.patches}
    assert signs == {to_rgb("#0072B2"): 1.0, to_rgb("#D55E00"): -1.0}
    assert len(ax.patches) == 6  # nothing is left for a bar of others
    assert len(np.unique(np.abs(bars_of(ax)))) == 6


def test_explanation_of_pixels_is_an_image(full: GMLVQ, wine: Any) -> None:
    explanation = full.explain(wine[0])
    (image,) = plot_explanation(explanation, 3, shape=(3, 2)).images
    parts = explanation.contributions[3]
    np.testing.assert_allclose(image.get_array(), parts.reshape(3, 2))
    np.testing.assert_allclose(image.get_clim(), (-np.abs(parts).max(), np.abs(parts).max()))


def test_bad_explanations(full: GMLVQ, wine: Any) -> None:
    with pytest.raises(ValueError, match=r"explanation is of type GMLVQ; .*plot_explanation\(model.explain\(X\)\)"):
        plot_explanation(full)
    explanation = full.explain(wine[0][:5])
    for sample in (5, -6, "first"):
        with pytest.raises(ValueError, match=r"sample=.* must be an integer in \[-5, 4\]"):
            plot_explanation(explanation, sample)
    with pytest.raises(ValueError, match="n_features=0 must be an integer"):
        plot_explanation(explanation, n_features=0)


# Views.


def test_view_shows_the_projection(flat: GMLVQ, wine: Any) -> None:
    ax = plot_view(flat, *wine)
    samples, prototypes = scattered(ax)
    np.testing.assert_allclose(samples.get_offsets(), flat.transform(wine[0]))
    np.testing.assert_allclose(prototypes.get_offsets(), flat.prototypes_ @ flat.omega_.T)
    codes = np.searchsorted(flat.classes_, wine[1])
    np.testing.assert_allclose(samples.get_facecolor()[:, :3], class_colors(3)[codes])
    np.testing.assert_allclose(prototypes.get_facecolor()[:, :3], class_colors(3))
    first, second = flat.eigenvalues_
    assert (ax.get_xlabel(), ax.get_ylabel()) == (f"direction 1 ({first:.0%})", f"direction 2 ({second:.0%})")
    assert legend_of(ax) == ["class_0", "class_1", "class_2", "prototype"]


def test_regions_of_a_shared_metric_are_those_of_the_nearest_prototype(flat: GMLVQ, wine: Any) -> None:
    points, colors = pixels(plot_view(flat, *wine))
    distances = ((points[:, None] - flat.prototypes_ @ flat.omega_.T) ** 2).sum(axis=2)
    expected = pale(flat.prototype_labels_[distances.argmin(axis=1)], flat.classes_)
    np.testing.assert_allclose(colors, expected)
    assert len(np.unique(colors, axis=0)) == 3


def test_regions_of_local_metrics_are_curved(curved: LLiRaMLVQ, wine: Any) -> None:
    points, colors = pixels(plot_view(curved, *wine))
    distances = np.empty((len(points), len(curved.prototypes_)))
    for p, (prototype, label) in enumerate(zip(curved.prototypes_, curved.prototype_labels_)):
        psi = curved.psis_[list(curved.classes_).index(label)]
        distances[:, p] = (((points - curved.omega_ @ prototype) @ psi.T) ** 2).sum(axis=1)
    ordered = np.sort(distances, axis=1)
    clear = ordered[:, 1] > (1 + 1e-6) * ordered[:, 0]
    expected = pale(curved.prototype_labels_[distances.argmin(axis=1)], curved.classes_)
    np.testing.assert_allclose(colors[clear], expected[clear])
    assert clear.mean() > 0.99
    nearest = ((points[:, None] - curved.prototypes_ @ curved.omega_.T) ** 2).sum(axis=2).argmin(axis=1)
    assert (pale(curved.prototype_labels_[nearest], curved.classes_) != expected).any(axis=1).mean() > 0.01


@pytest.mark.parametrize("kind", ["flat", "curved"])
def test_samples_lie_in_the_region_of_their_prediction(kind: str, wine: Any, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    ax = plot_view(model, *wine)
    (image,) = ax.images
    shades = np.asarray(image.get_array())
    left, right, bottom, top = image.get_extent()
    columns, rows = (
        ((model.transform(wine[0]) - [left, bottom]) / [right - left, top - bottom] * shades.shape[1::-1]).astype(int).T
    )
    safe = model.confidence(wine[0]) > 0.05  # not within a pixel of a border
    np.testing.assert_allclose(shades[rows, columns][safe], pale(model.predict(wine[0]), model.classes_)[safe])
    assert safe.mean() > 0.8


def test_no_regions_where_directions_are_hidden(full: GMLVQ, flat: GMLVQ, wine: Any) -> None:
    ax = plot_view(full, *wine)
    assert not ax.images
    np.testing.assert_allclose(scattered(ax)[0].get_offsets(), full.transform(wine[0])[:, :2])
    assert not plot_view(flat, *wine, regions=False).images


def test_a_masked_matrix_is_turned_to_its_main_directions(wine: Any, cigars: Any) -> None:
    banded = GMLVQ(mask=1, **FEW).fit(*wine)
    values, vectors = np.linalg.eigh(banded.relevance_matrix_)
    seen = np.asarray(scattered(plot_view(banded, *wine))[0].get_offsets())
    expected = wine[0].to_numpy() @ (vectors * np.sqrt(np.maximum(values, 0)))[:, :-3:-1]
    np.testing.assert_allclose(np.abs(seen), np.abs(expected), atol=1e-9)
    symmetric = GMLVQ(symmetric=True, **FEW).fit(*cigars)
    ax = plot_view(symmetric, *cigars)
    seen = np.asarray(scattered(ax)[0].get_offsets())
    learned = symmetric.transform(cigars[0])
    np.testing.assert_allclose(
        np.linalg.norm(seen[:, None] - seen, axis=2), np.linalg.norm(learned[:, None] - learned, axis=2), atol=1e-9
    )
    assert len(np.unique(pixels(ax)[1], axis=0)) == 2


def test_view_of_one_local_matrix(local: LGMLVQ, wine: Any) -> None:
    ax = plot_view(local, *wine, "class_1")
    samples, prototypes = (np.asarray(part.get_offsets()) for part in scattered(ax))
    np.testing.assert_allclose(samples - prototypes[1], local.local_transform(wine[0])[:, 1, :2], atol=1e-12)
    assert ax.get_title() == "class class_1"
    assert not ax.images
    # The other prototypes have metrics of their own, so there are no regions in two dimensions either.
    assert not plot_view(LGMLVQ(n_components=2, **FEW).fit(*wine), *wine, 0).images
    with pytest.raises(ValueError, match=r"The 3 matrices of LGMLVQ have no common view: .*fit LLiRaMLVQ"):
        plot_view(local, *wine)


@pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_rejected_places_are_white(wine: Any, cigars: Any) -> None:
    model = LLiRaMLVQ(reject_threshold=0.3, reject_label="doubt", **FEW).fit(*wine)
    points, colors = pixels(plot_view(model, *wine))
    samples = points @ np.linalg.pinv(model.omega_).T
    rejected = model.confidence(pd.DataFrame(samples, columns=wine[0].columns)) < 0.3
    assert 0.01 < rejected.mean() < 0.99
    np.testing.assert_array_equal((colors == WHITE).all(axis=1), rejected)
    strict = GLVQ(reject_threshold=0.2, reject_label="doubt", **FEW).fit(*cigars)
    points, colors = pixels(plot_decision_regions(strict, *cigars))
    np.testing.assert_allclose(colors, pale(strict.predict(points), strict.classes_))
    assert (colors == WHITE).all(axis=1).any()


def test_prototypes_far_away_do_not_squeeze_the_samples(flat: GMLVQ, wine: Any) -> None:
    before = plot_view(flat, *wine)
    moved = copy(flat)
    moved.prototypes_ = flat.prototypes_.copy()
    moved.prototypes_[0] *= 100
    after = plot_view(moved, *wine, regions=False)
    assert legend_of(after)[-1] == "prototype\n(1 outside)"
    assert np.ptp(after.get_xlim()) <= np.ptp(before.get_xlim())
    low, high = np.transpose([after.get_xlim(), after.get_ylim()])
    seen = flat.transform(wine[0])
    assert ((low < seen) & (seen < high)).all()


def test_one_sample_has_the_prototypes_for_company(flat: GMLVQ, wine: Any) -> None:
    ax = plot_view(flat, wine[0][:1])
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    seen = flat.prototypes_ @ flat.omega_.T
    assert ((low < seen) & (seen < high)).all()
    assert legend_of(ax)[-1] == "prototype"


def test_views_that_cannot_be_drawn(flat: GMLVQ, wine: Any) -> None:
    X, y = wine
    for model, shape in ((GMLVQ(n_components=1, **FEW), r"\(1, 6\)"), (GRLVQ(**FEW), r"\(6,\)")):
        with pytest.raises(ValueError, match=rf"at least two rows, and that of .* has shape {shape}.*n_components=2"):
            plot_view(model.fit(X, y), X, y)
    with pytest.raises(ValueError, match="GLVQ has no omega_"):
        plot_view(GLVQ(**FEW).fit(X, y), X, y)
    with pytest.raises(ValueError, match="matrix=0 chooses one of several, but GMLVQ has one view for all"):
        plot_view(flat, X, y, 0)
    with pytest.raises(ValueError, match="X has 3 features, but the prototypes have 6"):
        plot_view(flat, X.iloc[:, :3], y)
    with pytest.raises(ValueError, match="y has 2 labels for 178 samples"):
        plot_view(flat, X, y[:2])
    with pytest.raises(ValueError, match="y contains 'other', which is not among the classes of the model"):
        plot_view(flat, X, np.where(y == "class_1", "other", y))
    assert not plt.get_fignums()


@pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_samples_with_names_are_predicted_with_names(flat: GMLVQ, wine: Any) -> None:
    plot_view(flat, *wine)
    two = wine[0].iloc[:, :2]
    ax = plot_decision_regions(LGMLVQ(**FEW).fit(two, wine[1]), two, wine[1])
    assert [ax.get_xlabel(), ax.get_ylabel()] == list(two.columns)


# Regions in the plane of two features.


@pytest.mark.parametrize(
    "model",
    [
        GLVQ(3, **FEW),
        LGRLVQ(**FEW),
        LGMLVQ(**FEW),
        GLVQ(metric=MinkowskiMetric(3), **FEW),
        PrototypeClassifier(KMeans(5, random_state=0)),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["GLVQ", "LGRLVQ", "LGMLVQ", "Minkowski", "PrototypeClassifier", "tree", "pipeline"],
)
def test_regions_are_what_any_classifier_predicts(model: Any, cigars: Any) -> None:
    X, y = cigars
    ax = plot_decision_regions(model.fit(X, y), X, y)
    points, colors = pixels(ax)
    np.testing.assert_allclose(colors, pale(model.predict(points), model.classes_))
    np.testing.assert_allclose(scattered(ax)[0].get_offsets(), X)
    np.testing.assert_allclose(ax.images[0].get_extent(), [*ax.get_xlim(), *ax.get_ylim()])
    assert legend_of(ax)[:2] == ["left", "right"]
    assert (len(scattered(ax)) == 2) == hasattr(model, "prototype_labels_")


def test_borders_run_between_the_classes(cigars: Any) -> None:
    model = LGMLVQ(**FEW).fit(*cigars)
    ax = plot_decision_regions(model, *cigars)
    (border,) = [part for part in ax.collections if type(part) is not PathCollection]
    vertices = np.concatenate([path.vertices for path in border.get_paths()])
    scores = np.abs(model.decision_function(vertices))
    assert scores.max() < 0.05 * np.abs(model.decision_function(cigars[0])).max()


def test_prototypes_of_a_pipeline_are_in_units(cigars: Any) -> None:
    X, y = cigars
    pipeline = make_pipeline(StandardScaler(), PCA(), GLVQ(2, **FEW)).fit(X, y)
    _, prototypes = scattered(plot_decision_regions(pipeline, X, y))
    np.testing.assert_allclose(prototypes.get_offsets(), prototypes_in_units(pipeline))
    alone = make_pipeline(GLVQ(2, **FEW)).fit(X, y)
    np.testing.assert_allclose(scattered(plot_decision_regions(alone, X, y))[1].get_offsets(), alone[-1].prototypes_)
    one_way = make_pipeline(Normalizer(), GLVQ(**FEW)).fit(X, y)
    assert len(scattered(plot_decision_regions(one_way, X, y))) == 1
    mapped = make_pipeline(StandardScaler(), PrototypeClassifier(KMeans(4, random_state=0))).fit(X, y)
    _, prototypes = scattered(plot_decision_regions(mapped, X, y))
    np.testing.assert_allclose(prototypes.get_offsets(), prototypes_in_units(mapped))


def test_samples_without_labels_are_gray(cigars: Any) -> None:
    samples, _ = scattered(plot_decision_regions(GLVQ(**FEW).fit(*cigars), cigars[0]))
    np.testing.assert_allclose(np.asarray(samples.get_facecolor())[0, :3], to_rgb("#8c8c8c"))


def test_regions_need_two_features(wine: Any) -> None:
    with pytest.raises(ValueError, match=r"the plane of two features, but X has 6\. .*plot_view"):
        plot_decision_regions(GLVQ(**FEW).fit(*wine), *wine)


def test_receptive_fields_of_prototypes_are_those_of_the_classifier(cigars: Any) -> None:
    X, y = cigars
    for model in (GLVQ(3, **FEW), LVQ1(3, random_state=0)):
        ax = plot_prototypes(model.fit(X, y), X, y)
        (fields,) = [part for part in ax.collections if isinstance(part, PolyCollection)]
        shades = np.asarray(fields.get_facecolor())[:, :3]
        for sample, label in zip(X, model.predict(X)):
            (field,) = [i for i, path in enumerate(fields.get_paths()) if Path(path.vertices).contains_point(sample)]
            np.testing.assert_allclose(shades[field], tint(class_colors(2), 0.18)[int(label == "right")])


@pytest.mark.parametrize(
    "model",
    [
        GMLVQ(**FEW),
        LGMLVQ(**FEW),
        GRLVQ(**FEW),
        GLVQ(metric=MinkowskiMetric(3), **FEW),
        LVQ1(relevance_learning_rate=0.1, random_state=0),
    ],
    ids=["GMLVQ", "LGMLVQ", "GRLVQ", "Minkowski", "RLVQ"],
)
def test_other_metrics_have_no_voronoi_cells(model: Any, cigars: Any) -> None:
    ax = plot_prototypes(model.fit(*cigars), *cigars)
    assert not [part for part in ax.collections if isinstance(part, PolyCollection)]
    np.testing.assert_allclose(scattered(ax)[1].get_offsets(), model.prototypes_)


def test_equal_relevances_do_not_make_a_matrix_euclidean(cigars: Any) -> None:
    model = copy(GMLVQ(**FEW).fit(*cigars))
    model.omega_, model.scale_ = np.array([[0.7, 0.7], [0.1, -0.1]]), np.ones(2)
    assert model.relevances_[0] == model.relevances_[1]
    ax = plot_prototypes(model, *cigars)
    assert not [part for part in ax.collections if isinstance(part, PolyCollection)]


# Learning curves.


def test_learning_curve_is_the_history(full: GMLVQ) -> None:
    ax = plot_learning_curve(full)
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_xdata(), np.arange(1, full.n_iter_ + 1))
    np.testing.assert_allclose(line.get_ydata(), full.cost_history_)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("iteration", "cost")
    assert ax.figure.axes == [ax]
    assert ax.get_legend() is None


def test_accuracy_has_an_axis_of_its_own(wine: Any) -> None:
    model = GMLVQ(early_stopping="train", **FEW).fit(*wine)
    ax = plot_learning_curve(model)
    beside = ax.figure.axes[1]
    (line,) = beside.lines
    np.testing.assert_allclose(line.get_ydata(), model.score_history_)
    assert (line.get_linestyle(), ax.lines[0].get_linestyle()) == ("--", "-")
    assert line.get_markevery() == [int(np.argmax(model.score_history_))]
    assert model.score_history_[line.get_markevery()[0]] == pytest.approx(model.score(*wine))
    assert (ax.get_ylabel(), beside.get_ylabel()) == ("cost", "accuracy (dashed)")


def test_rules_without_a_cost_have_accuracies_only(wine: Any) -> None:
    model = LVQ1(max_iter=5, random_state=0).fit(*wine)
    ax = plot_learning_curve(model)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), 1 - np.array(model.error_history_))
    assert ax.get_ylabel() == "accuracy"
    assert ax.lines[0].get_linestyle() == "-"
    assert ax.figure.axes == [ax]


def test_several_curves_have_names_and_colors(full: GMLVQ, flat: GMLVQ, wine: Any) -> None:
    rule = LVQ1(max_iter=5, random_state=0).fit(*wine)
    ax = plot_learning_curve([full, rule, flat])
    assert legend_of(ax) == ["GMLVQ 1", "LVQ1", "GMLVQ 2"]
    colors = [to_rgb(line.get_color()) for line in (*ax.lines, *ax.figure.axes[1].lines)]
    np.testing.assert_allclose(colors, class_colors(3)[[0, 2, 1]])
    np.testing.assert_allclose([to_rgb(line.get_color()) for line in ax.get_legend().get_lines()], class_colors(3))
    np.testing.assert_allclose(ax.lines[1].get_ydata(), flat.cost_history_)
    assert legend_of(plot_learning_curve({"all": full, 2: flat})) == ["all", "2"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_learners_with_a_cost(wine: Any) -> None:
    model = LMNN(max_iter=3).fit(*wine)
    np.testing.assert_allclose(plot_learning_curve(model).lines[0].get_ydata(), model.cost_history_)


def test_a_single_step_is_a_dot(wine: Any) -> None:
    model = GLVQ(random_state=0).partial_fit(*wine, classes=np.unique(wine[1]))
    (line,) = plot_learning_curve(model).lines
    assert line.get_markevery() == [0]
    assert len(line.get_ydata()) == 1


def test_no_curves() -> None:
    with pytest.raises(ValueError, match="There is no model to show"):
        plot_learning_curve([])
    assert not plt.get_fignums()


# Margins.


@pytest.mark.parametrize("relative", [True, False])
def test_margins_pass_zero_at_the_error_rate(relative: bool, wine: Any) -> None:
    X, y = wine
    model = GLVQ(**FEW).fit(X[::2], y[::2])
    ax = plot_margins(model, X[::2], y[::2], X[1::2], y[1::2], relative=relative)
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    for curve, part, name in zip(curves, (slice(0, None, 2), slice(1, None, 2)), ("train", "test"), strict=True):
        margins = model.margins(X[part], y[part])
        if relative:
            margins = -model.relative_distance(X[part], y[part])
        x, share = curve.get_data()
        for value in (0.0, *margins[:9]):
            assert share[np.searchsorted(x, value, side="right") - 1] == pytest.approx((margins <= value).mean())
        errors = 1 - model.score(X[part], y[part])
        assert share[x <= 0][-1] == pytest.approx(errors)
        assert errors > 0
        assert curve.get_label() == f"{name}: {errors:.1%} errors"
    assert ax.get_xlabel().startswith("relative margin" if relative else "margin")
    assert ax.get_ylabel() == "share of samples"
    assert legend_of(ax) == [curve.get_label() for curve in curves]


def test_margins_of_one_set(full: GMLVQ, wine: Any) -> None:
    assert legend_of(plot_margins(full, *wine)) == [f"samples: {1 - full.score(*wine):.1%} errors"]


def test_bad_margins(full: GMLVQ, wine: Any) -> None:
    X, y = wine
    for given in ({"X_test": X}, {"y_test": y}):
        with pytest.raises(ValueError, match="X_test and y_test belong together"):
            plot_margins(full, X, y, **given)
    with pytest.raises(ValueError, match="y contains classes that were not in the training data"):
        plot_margins(full, X, np.full(len(X), "other"))
    with pytest.raises(ValueError, match="LogisticRegression has no method margins"):
        plot_margins(LogisticRegression().fit(X, y), X, y)
    assert not plt.get_fignums()
