"""Ellipses are the shapes of the prototypes, and images their pixels."""

from typing import Any, Self

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.path import Path
from matplotlib.quiver import Quiver
from matplotlib.transforms import Affine2D
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import protolearn.plotting as plotting
from experiments.datasets import make_gaussian_ellipses
from protolearn import GLVQ, NGPCA, SOM, VQPCA, KMeans, MatrixNeuralGas, NeuralGas, PrototypeClassifier
from protolearn.plotting import (
    plot_codebook,
    plot_eigenimages,
    plot_ellipses,
    plot_misclassified,
    plot_training,
    plot_variation,
)
from protolearn.plotting._shapes import SAMPLE
from protolearn.plotting.style import INK, class_colors

NAMES = (
    "plot_ellipses",
    "plot_training",
    "plot_codebook",
    "plot_eigenimages",
    "plot_variation",
    "plot_misclassified",
)
OF_SHAPES = ("plot_ellipses", "plot_training", "plot_eigenimages", "plot_variation")
each = pytest.mark.parametrize("name", NAMES)
each_of_shapes = pytest.mark.parametrize("name", OF_SHAPES)


class Shaped(BaseEstimator):
    """A map with random shapes of q directions: what the pictures read from one, and nothing else."""

    def __init__(self, n_prototypes: int = 5, n_components: int | None = None, random_state: int = 0) -> None:
        self.n_prototypes = n_prototypes
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        X = np.asarray(X, dtype=np.float64)
        rng = np.random.default_rng(self.random_state)
        k, d = self.n_prototypes, X.shape[1]
        q = self.n_components or d
        self.n_features_in_ = d
        self.prototypes_ = rng.permutation(X)[:k]
        scale = X.std()
        axes = np.linalg.qr(rng.standard_normal((k, d, d)))[0]
        variances = np.sort(scale**2 * rng.uniform(0.01, 0.2, (k, d)))[:, ::-1]
        self.components_, self.variances_ = axes[:, :q], variances[:, :q]
        self.residual_variances_ = variances[:, q:].mean(axis=1) if q < d else np.zeros(k)
        if q < d:
            variances = np.column_stack([self.variances_, np.repeat(self.residual_variances_[:, None], d - q, axis=1)])
        self.covariances_ = np.array([a.T @ np.diag(v) @ a for a, v in zip(axes, variances)])
        return self

    def predict(self, X: Any) -> np.ndarray:
        return ((np.asarray(X)[:, None] - self.prototypes_) ** 2).sum(axis=2).argmin(axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        return -1.5 - self.random_state


@pytest.fixture(scope="module")
def space() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((60, 3)) * [3.0, 2.0, 1.5]


@pytest.fixture(scope="module")
def plane(space: np.ndarray) -> np.ndarray:
    return space[:, :2]


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


@pytest.fixture(scope="module")
def classifier(digits: Any) -> PrototypeClassifier:
    return PrototypeClassifier(NeuralGas(13, max_iter=5, random_state=0)).fit(*digits)


@pytest.fixture
def draw(plane: np.ndarray, digits: Any, classifier: PrototypeClassifier) -> Any:
    """Draw a picture by its name, of a model that suits it unless one is given."""

    def call(name: str, model: Any = None, **given: Any) -> Any:
        plot = getattr(plotting, name)
        if name == "plot_ellipses":
            return plot(Shaped().fit(plane) if model is None else model, plane, **given)
        if name == "plot_training":
            return plot([("one", Shaped().fit(plane) if model is None else model)], plane, **given)
        if name == "plot_misclassified":
            return plot(classifier if model is None else model, *digits, shape=(8, 8), **given)
        return plot(Shaped(5, 3).fit(digits[0]) if model is None else model, shape=(8, 8), **given)

    return call


def outline(ellipse: Any) -> np.ndarray:
    """Return points on an ellipse as it is drawn."""
    circle = Path.unit_circle().transformed(Affine2D().scale(1e4)).to_polygons()[0] / 1e4
    return ellipse.get_patch_transform().transform(circle)


def form(ellipse: Any) -> np.ndarray:
    """Return the matrix C (2, 2) of an ellipse ``(x - c)' C^-1 (x - c) = 1``."""
    angle = np.radians(ellipse.angle)
    turn = np.array([(np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))])
    return turn @ np.diag([(ellipse.width / 2) ** 2, (ellipse.height / 2) ** 2]) @ turn.T


def arrows_of(ax: Any) -> list[Quiver]:
    return [part for part in ax.collections if isinstance(part, Quiver)]


def scattered(ax: Any) -> PathCollection:
    (samples,) = [part for part in ax.collections if type(part) is PathCollection]
    return samples


def legend_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def pixels(ax: Any) -> np.ndarray:
    (image,) = ax.images
    return np.asarray(image.get_array())


# What holds for every picture.


def test_every_function_is_checked_here() -> None:
    modules = ("_shapes", "_eigenimages")
    found = {name for name in plotting.__all__ if getattr(plotting, name).__module__.endswith(modules)}
    assert found == set(NAMES)


@each
def test_draws_into_the_axes_given(draw: Any, name: str) -> None:
    shape = np.shape(draw(name))
    plt.close("all")
    given = plt.figure().subplots(1, int(np.prod(shape)), squeeze=False).reshape(shape)[()]
    other = plt.figure().add_subplot()
    figures = plt.get_fignums()
    drawn = draw(name, ax=given)
    assert np.shape(drawn) == shape
    assert list(np.ravel(drawn)) == list(np.ravel(given))
    assert all(panel.has_data() for panel in np.ravel(given))
    assert plt.get_fignums() == figures
    assert plt.gca() is other
    assert not other.has_data()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("plot_ellipses", "plot_codebook")])
def test_there_must_be_axes_for_all(draw: Any, name: str) -> None:
    axes = plt.figure().subplots(1, 2)
    with pytest.raises(ValueError, match=r"ax holds 2 Axes, but there are \d+ (images|snapshots).*; give one for each"):
        draw(name, ax=axes)


@each
def test_makes_a_figure_of_its_own_and_changes_no_settings(
    draw: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("a picture was shown"))
    busy = plt.figure().add_subplot()
    before = mpl.rcParams.copy()
    figure = np.ravel(draw(name))[0].figure
    figure.canvas.draw()
    assert figure is not busy.figure
    assert not busy.has_data()
    assert len(plt.get_fignums()) == 2
    assert mpl.rcParams == before


@each
def test_all_is_inside_the_figure(draw: Any, name: str) -> None:
    figure = np.ravel(draw(name))[0].figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0) >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


@pytest.mark.parametrize("names", [("a", "b"), ("those on the left", "those on the right")])
@pytest.mark.parametrize("height", [0.9, 1.0, 1.1])
def test_there_is_room_for_the_legend_of_a_square_picture(names: tuple[str, str], height: float) -> None:
    X = np.random.default_rng(0).random((50, 2)) * [1.0, height]
    figure = plot_ellipses(Shaped().fit(X), X, np.where(X[:, 0] < 0.5, *names), arrows=False).figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert box.x0 >= 0.02
    assert box.x1 <= figure.get_size_inches()[0] - 0.02


@each
def test_refuses_what_is_not_fitted(draw: Any, name: str) -> None:
    with pytest.raises(NotFittedError):
        draw(name, PrototypeClassifier() if name == "plot_misclassified" else Shaped())
    assert not plt.get_fignums()


@each_of_shapes
def test_refuses_prototypes_that_are_points(draw: Any, name: str, plane: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"KMeans has none.*Give a fitted NGPCA or MatrixNeuralGas"):
        draw(name, KMeans(3, random_state=0).fit(plane))
    with pytest.raises(ValueError, match="KMeans has none"):
        draw(name, make_pipeline(KMeans(3, random_state=0)).fit(plane))
    assert not plt.get_fignums()


# Ellipses.


@pytest.mark.parametrize("size", [1.5, 2.0])
def test_half_axes_and_angles_are_those_of_the_covariance(plane: np.ndarray, size: float) -> None:
    model = Shaped().fit(plane)
    ellipses = plot_ellipses(model, plane, size=size).patches
    assert len(ellipses) == 5
    for ellipse, center, covariance in zip(ellipses, model.prototypes_, model.covariances_):
        variances, axes = np.linalg.eigh(covariance)
        np.testing.assert_allclose(ellipse.center, center)
        np.testing.assert_allclose([ellipse.height / 2, ellipse.width / 2], size * np.sqrt(variances))
        longer = np.array([np.cos(np.radians(ellipse.angle)), np.sin(np.radians(ellipse.angle))])
        assert abs(longer @ axes[:, 1]) == pytest.approx(1)
        gaps = outline(ellipse) - center
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", gaps, np.linalg.inv(covariance), gaps), size**2, rtol=1e-3)


@pytest.mark.parametrize("n_components", [None, 2])
@pytest.mark.parametrize("features", [(0, 1), (2, 0), (1, 2)])
def test_an_ellipsoid_in_space_is_projected_exactly(
    space: np.ndarray, features: tuple[int, int], n_components: int | None
) -> None:
    model = Shaped(4, n_components).fit(space)
    ellipses = plot_ellipses(model, space, features=features).patches
    rng = np.random.default_rng(0)
    sphere = rng.standard_normal((20_000, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    turns = np.linspace(0, 2 * np.pi, 37)
    sights = np.column_stack([np.cos(turns), np.sin(turns)])
    for i, ellipse in enumerate(ellipses):
        # The surface, from the directions and the variances, not from the covariance.
        rest = sphere - sphere @ model.components_[i].T @ model.components_[i]
        lengths = np.sqrt(model.variances_[i])
        surface = 1.5 * (
            (sphere @ model.components_[i].T * lengths) @ model.components_[i]
            + np.sqrt(model.residual_variances_[i]) * rest
        )
        shadow = surface[:, list(features)]
        support = np.sqrt(np.einsum("ni,ij,nj->n", sights, form(ellipse), sights))
        farthest = (sights @ shadow.T).max(axis=1)
        assert (farthest <= support * (1 + 1e-9)).all()
        np.testing.assert_allclose(farthest, support, rtol=0.01)
        np.testing.assert_allclose(ellipse.center, model.prototypes_[i, list(features)])


def test_one_direction_is_an_arrow_and_a_circle(space: np.ndarray) -> None:
    model = Shaped(4, 1).fit(space)
    ax = plot_ellipses(model, space, features=(2, 1), size=2.0)
    for ellipse, residual in zip(ax.patches, model.residual_variances_):
        assert ellipse.width == ellipse.height == pytest.approx(4 * np.sqrt(residual))
    (arrow,) = arrows_of(ax)
    expected = 2 * np.sqrt(model.variances_) * model.components_[:, 0, [2, 1]]
    np.testing.assert_allclose(np.column_stack([arrow.U, arrow.V]), expected)


@pytest.mark.parametrize("features", [(0, 1), (2, 0)])
def test_arrows_are_the_first_two_directions(space: np.ndarray, features: tuple[int, int]) -> None:
    model = Shaped().fit(space)
    thick, thin = arrows_of(plot_ellipses(model, space, features=features))
    assert thick.width > thin.width
    for number, arrow in enumerate((thick, thin)):
        direction = model.components_[:, number, list(features)]
        expected = 1.5 * np.sqrt(model.variances_[:, [number]]) * direction
        np.testing.assert_allclose(np.column_stack([arrow.U, arrow.V]), expected)
        np.testing.assert_allclose(arrow.XY, model.prototypes_[:, list(features)])
        assert (arrow.angles, arrow.scale_units, arrow.scale) == ("xy", "xy", 1)


def test_arrows_end_on_the_ellipse(plane: np.ndarray) -> None:
    ax = plot_ellipses(Shaped().fit(plane), plane)
    for arrow in arrows_of(ax):
        for ellipse, u, v in zip(ax.patches, arrow.U, arrow.V):
            assert np.array([u, v]) @ np.linalg.inv(form(ellipse)) @ np.array([u, v]) == pytest.approx(1)


def test_arrows_can_be_left_out(plane: np.ndarray) -> None:
    assert not arrows_of(plot_ellipses(Shaped().fit(plane), plane, arrows=False))


def test_samples_are_gray_or_in_the_colors_of_their_classes(plane: np.ndarray) -> None:
    model = Shaped().fit(plane)
    ax = plot_ellipses(model, plane, features=(1, 0))
    np.testing.assert_allclose(scattered(ax).get_offsets(), plane[:, ::-1])
    np.testing.assert_allclose(scattered(ax).get_facecolor()[:, :3], [to_rgb(SAMPLE)])
    assert ax.get_legend() is None
    y = np.where(plane[:, 0] > 0, "right", "left")
    ax = plot_ellipses(model, plane, y)
    np.testing.assert_allclose(scattered(ax).get_facecolor()[:, :3], class_colors(2)[(plane[:, 0] > 0).astype(int)])
    assert legend_of(ax) == ["left", "right"]
    assert {to_rgb(ellipse.get_edgecolor()) for ellipse in ax.patches} == {to_rgb(INK)}


def test_samples_in_the_colors_of_their_prototypes(plane: np.ndarray) -> None:
    model = Shaped().fit(plane)
    ax = plot_ellipses(model, plane, winners=True)
    colors = class_colors(5)
    np.testing.assert_allclose(scattered(ax).get_facecolor()[:, :3], colors[model.predict(plane)])
    np.testing.assert_allclose([to_rgb(ellipse.get_edgecolor()) for ellipse in ax.patches], colors)
    assert ax.get_legend() is None
    with pytest.raises(ValueError, match="give X, but no y"):
        plot_ellipses(model, winners=True)
    with pytest.raises(ValueError, match="give X, but no y"):
        plot_ellipses(model, plane, np.zeros(60), winners=True)


def test_features_by_name(space: np.ndarray) -> None:
    frame = pd.DataFrame(space, columns=["x", "y", "z"])
    model = Shaped().fit(frame)
    ax = plot_ellipses(model, frame, features=("z", "x"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("z", "x")
    np.testing.assert_allclose([ellipse.center for ellipse in ax.patches], model.prototypes_[:, [2, 0]])
    with pytest.raises(ValueError, match="must be two different features"):
        plot_ellipses(model, features=(1, 1))


def test_all_ellipses_and_arrows_are_inside_the_axes(space: np.ndarray) -> None:
    for model in (Shaped().fit(space), Shaped(4, 1).fit(space)):
        for given in ((), (space,)):
            ax = plot_ellipses(model, *given, size=1.2)
            low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
            tips = [arrow.XY + np.column_stack([arrow.U, arrow.V]) for arrow in arrows_of(ax)]
            points = np.concatenate([*map(outline, ax.patches), *tips, *(X[:, :2] for X in given)])
            assert ((low < points) & (points < high)).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_axes_are_as_large_as_the_ellipses(plane: np.ndarray, seed: int) -> None:
    model = Shaped(1, random_state=seed).fit(plane)
    model.covariances_ = np.diag([1.0, 2.0]) @ model.covariances_ @ np.diag([1.0, 2.0])  # higher than wide
    ax = plot_ellipses(model, arrows=False)
    points = outline(ax.patches[0])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.06 * (high - low)
    np.testing.assert_allclose(np.transpose([ax.get_xlim(), ax.get_ylim()]), [low - margin, high + margin], rtol=1e-3)


def test_an_ellipse_far_beyond_the_samples_does_not_shrink_them(plane: np.ndarray) -> None:
    model = Shaped().fit(plane)
    model.covariances_[0] *= 1e6
    model.prototypes_[1] = 1e6
    ax = plot_ellipses(model, plane)
    assert np.ptp(ax.get_xlim()) < 2 * np.ptp(plane[:, 0])
    assert np.ptp(ax.get_ylim()) < 2 * np.ptp(plane[:, 1])
    assert np.ptp(plot_ellipses(model).get_xlim()) > 1e6


@pytest.fixture(scope="module")
def ellipses() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_gaussian_ellipses(300, random_state=0)
    return X, np.array(["west", "east", "south", "north"])[y]


@pytest.mark.parametrize("per_class", [False, True])
def test_learned_classes_color_the_ellipses(ellipses: Any, per_class: bool) -> None:
    X, y = ellipses
    gas = MatrixNeuralGas(1 if per_class else 4, random_state=0)
    model = PrototypeClassifier(gas, per_class=per_class).fit(X, y)
    ax = plot_ellipses(model, X, y)
    colors = dict(zip(["east", "north", "south", "west"], class_colors(4)))
    edges = [to_rgb(ellipse.get_edgecolor()) for ellipse in ax.patches]
    np.testing.assert_allclose(edges, [colors[label] for label in model.prototype_labels_])
    assert legend_of(ax) == ["east", "north", "south", "west"]
    for ellipse, label in zip(ax.patches, model.prototype_labels_):
        np.testing.assert_allclose(ellipse.center, X[y == label].mean(axis=0), atol=0.2)
        assert (abs(np.sin(np.radians(ellipse.angle))) > 0.9) == (label in ("east", "west"))


def test_winners_among_the_prototypes_of_all_classes(ellipses: Any) -> None:
    X, y = ellipses
    model = PrototypeClassifier(NGPCA(2, n_steps=2000, random_state=0), per_class=True).fit(X, y)
    ax = plot_ellipses(model, X, winners=True)
    distances = np.hstack([part.distances(X) for part in model.estimators_])
    np.testing.assert_allclose(scattered(ax).get_facecolor()[:, :3], class_colors(8)[distances.argmin(axis=1)])


def test_a_map_that_has_learned_its_shapes(ellipses: Any) -> None:
    X, _ = ellipses
    for model in (NGPCA(4, 1, n_steps=2000, random_state=0), MatrixNeuralGas(4, max_iter=20, random_state=0)):
        ax = plot_ellipses(model.fit(X), X)
        first = arrows_of(ax)[0]
        along = np.abs([first.U, first.V]).argmax(axis=0)
        np.testing.assert_array_equal(along, np.abs(model.prototypes_).argmin(axis=1))  # across the way to the middle
        title = plot_training([("end", model)], X)[0].get_title()
        assert title == f"end\nlog-likelihood {model.score(X):.2f}"


# Training.


def test_stages_of_training_share_their_scale_and_tell_their_score(plane: np.ndarray) -> None:
    models = [Shaped(random_state=seed).fit(plane) for seed in range(5)]
    axes = plot_training([(f"step {i}", model) for i, model in enumerate(models)], plane, size=2.0)
    assert [ax.get_title() for ax in axes] == [f"step {i}\nlog-likelihood {-1.5 - i:.2f}" for i in range(5)]
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in axes}) == 1
    low, high = np.transpose([axes[0].get_xlim(), axes[0].get_ylim()])
    for ax, model in zip(axes, models):
        alone = plot_ellipses(model, plane, size=2.0)
        for ellipse, expected in zip(ax.patches, alone.patches):
            np.testing.assert_allclose(outline(ellipse), outline(expected))
        assert low[0] <= alone.get_xlim()[0] <= alone.get_xlim()[1] <= high[0]
        assert low[1] <= alone.get_ylim()[0] <= alone.get_ylim()[1] <= high[1]


def test_stages_of_training_need_a_model(plane: np.ndarray) -> None:
    with pytest.raises(ValueError, match="There is no snapshot to show"):
        plot_training([], plane)


# Images.


def tiles(ax: Any, shape: tuple[int, int]) -> list[list[np.ndarray | None]]:
    """Return the images of a codebook by row and column, None where there is none."""
    height, width = shape
    (image,) = ax.images
    canvas = image.get_array()
    rows = [canvas[top : top + height] for top in range(0, canvas.shape[0], height + 1)]
    return [
        [
            None if np.ma.getmaskarray(tile).all() else np.asarray(tile)
            for tile in (row[:, left : left + width] for left in range(0, canvas.shape[1], width + 1))
        ]
        for row in rows
    ]


def test_a_codebook_shows_every_prototype_once(digits: Any) -> None:
    gas = NeuralGas(7, max_iter=3, random_state=0).fit(digits[0])
    grid = tiles(plot_codebook(gas, shape=(8, 8)), (8, 8))
    assert [len(row) for row in grid] == [3, 3, 3]
    found = [tile for row in grid for tile in row]
    np.testing.assert_array_equal(found[:7], gas.prototypes_.reshape(7, 8, 8))
    assert found[7:] == [None, None]


def test_images_are_apart(digits: Any) -> None:
    gas = NeuralGas(4, max_iter=3, random_state=0).fit(digits[0])
    (image,) = plot_codebook(gas, shape=(8, 8)).images
    mask = np.ma.getmaskarray(image.get_array())
    assert mask.shape == (17, 17)
    assert mask[8].all()
    assert mask[:, 8].all()
    assert mask.sum() == 33


def test_a_codebook_has_a_row_for_each_class(classifier: PrototypeClassifier) -> None:
    ax = plot_codebook(classifier, shape=(8, 8))
    grid = tiles(ax, (8, 8))
    classes = np.unique(classifier.prototype_labels_)
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(name) for name in classes]
    np.testing.assert_allclose(ax.get_yticks(), 9 * np.arange(len(classes)) + 3.5)
    prototypes = classifier.estimator_.prototypes_.reshape(-1, 8, 8)
    for row, name in zip(grid, classes):
        members = prototypes[classifier.prototype_labels_ == name]
        np.testing.assert_array_equal(row[: len(members)], members)
        assert row[len(members) :] == [None] * (len(row) - len(members))


def test_labels_of_prototypes_can_be_given(digits: Any) -> None:
    gas = NeuralGas(4, max_iter=3, random_state=0).fit(digits[0])
    ax = plot_codebook(gas, (8, 8), ["b", "a", "b", "b"])
    grid = tiles(ax, (8, 8))
    images = gas.prototypes_.reshape(4, 8, 8)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    np.testing.assert_array_equal(grid[0][0], images[1])
    assert grid[0][1:] == [None, None]
    np.testing.assert_array_equal(grid[1], images[[0, 2, 3]])
    with pytest.raises(ValueError, match=r"labels\.shape == \(2,\), expected \(4,\)"):
        plot_codebook(gas, (8, 8), [0, 1])


def test_a_lattice_keeps_its_order_from_the_bottom(digits: Any) -> None:
    som = SOM((2, 3), max_iter=3).fit(digits[0])
    grid = tiles(plot_codebook(som, shape=(8, 8)), (8, 8))
    images = som.prototypes_.reshape(6, 8, 8)
    for number, (x, y) in enumerate(som.lattice_.coordinates):
        np.testing.assert_array_equal(grid[1 - int(y)][int(x)], images[number])


def test_the_codebook_of_an_lvq_classifier(digits: Any) -> None:
    model = GLVQ(max_iter=3, random_state=0).fit(*digits)
    grid = tiles(plot_codebook(model, shape=(8, 8)), (8, 8))
    np.testing.assert_array_equal([row[0] for row in grid], model.prototypes_.reshape(10, 8, 8))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("plot_ellipses", "plot_training")])
def test_the_shape_must_fit(name: str, digits: Any, classifier: PrototypeClassifier) -> None:
    data = digits if name == "plot_misclassified" else ()
    model = classifier if name == "plot_misclassified" else Shaped(5, 3).fit(digits[0])
    for shape in ((28, 28), (64,), 64):
        with pytest.raises(ValueError, match="must be the height and width of an image of 64 pixels"):
            getattr(plotting, name)(model, *data, shape=shape)
    assert not plt.get_fignums()


def test_images_that_are_not_square(digits: Any) -> None:
    model = Shaped(3, 2).fit(digits[0])
    np.testing.assert_array_equal(
        tiles(plot_codebook(model, (4, 16)), (4, 16))[0][1], model.prototypes_[1].reshape(4, 16)
    )
    np.testing.assert_array_equal(
        pixels(plot_eigenimages(model, 1, (4, 16))[2]), model.components_[1, 1].reshape(4, 16)
    )


def test_eigenimages_are_the_directions_on_one_symmetric_scale(digits: Any) -> None:
    model = Shaped(5, 12).fit(digits[0])
    axes = plot_eigenimages(model, 2, (8, 8))
    assert len(axes) == 11
    np.testing.assert_array_equal(pixels(axes[0]), model.prototypes_[2].reshape(8, 8))
    limit = np.abs(model.components_[2, :10]).max()
    for number, ax in enumerate(axes[1:]):
        np.testing.assert_array_equal(pixels(ax), model.components_[2, number].reshape(8, 8))
        (image,) = ax.images
        assert image.get_clim() == (-limit, limit)
        np.testing.assert_allclose(
            image.cmap(image.norm([-limit, 0, limit]))[:, :3].mean(axis=1), [0, 0.5, 1], atol=0.01
        )
        assert float(ax.get_title()) == pytest.approx(model.variances_[2, number], rel=0.01)
    assert len(plot_eigenimages(model, 0, (8, 8), n_components=4)) == 5
    assert len(plot_eigenimages(model, 0, (8, 8), n_components=99)) == 13


def test_variation_is_in_steps_of_half_a_standard_deviation(digits: Any) -> None:
    model = Shaped(5, 3).fit(digits[0])
    axes = plot_variation(model, 4, (8, 8), 1)
    assert len(axes) == 10
    center, direction = model.prototypes_[4], model.components_[4, 1]
    deviation = np.sqrt(model.variances_[4, 1])
    for j, ax in zip(range(-4, 5), axes):
        np.testing.assert_allclose(pixels(ax).ravel(), center + j / 2 * deviation * direction)
        assert ax.spines["left"].get_visible() == (j == 0)
    assert [ax.get_title() for ax in axes] == [
        "−2 σ", "−1.5 σ", "−1 σ", "−0.5 σ", "0", "+0.5 σ", "+1 σ", "+1.5 σ", "+2 σ", "direction",
    ]  # fmt: skip
    scales = {ax.images[0].get_clim() for ax in axes[:-1]}
    shown = np.array([pixels(ax) for ax in axes[:-1]])
    assert scales == {(shown.min(), shown.max())}
    np.testing.assert_array_equal(pixels(axes[-1]).ravel(), direction)
    limit = np.abs(direction).max()
    assert axes[-1].images[0].get_clim() == (-limit, limit)


def test_steps_can_be_chosen(digits: Any) -> None:
    model = Shaped(5, 3).fit(digits[0])
    axes = plot_variation(model, 0, (8, 8), steps=[-6, 6])
    expected = model.prototypes_[0] + 3 * np.sqrt(model.variances_[0, 0]) * model.components_[0, 0]
    np.testing.assert_allclose(pixels(axes[1]).ravel(), expected)
    assert not any(ax.spines["left"].get_visible() for ax in axes)


def test_prototypes_and_directions_that_are_not_there(digits: Any) -> None:
    model = Shaped(5, 3).fit(digits[0])
    for plot in (plot_eigenimages, plot_variation):
        for prototype in (5, -1, 0.5):
            with pytest.raises(ValueError, match=r"prototype=.* must be an integer in \[0, 4\]"):
                plot(model, prototype, (8, 8))
    with pytest.raises(ValueError, match=r"component=3 must be an integer in \[0, 2\]"):
        plot_variation(model, 0, (8, 8), 3)
    with pytest.raises(ValueError, match=r"n_components=0 must be an integer in \[1"):
        plot_eigenimages(model, 0, (8, 8), n_components=0)
    assert not plt.get_fignums()


# Mistakes.


def test_the_first_mistake_of_each_class_above_its_prototype(classifier: PrototypeClassifier, digits: Any) -> None:
    X, y = digits
    axes = plot_misclassified(classifier, X, y, (8, 8))
    predicted, nearest = classifier.predict(X), classifier.estimator_.predict(X)
    column = 0
    for name in range(10):
        mistakes = [i for i in range(len(y)) if y[i] == name and predicted[i] != name]
        if not mistakes:
            continue
        upper, lower = axes[:, column]
        first = mistakes[0]
        np.testing.assert_array_equal(pixels(upper).ravel(), X[first])
        np.testing.assert_array_equal(pixels(lower).ravel(), classifier.estimator_.prototypes_[nearest[first]])
        assert (upper.get_title(), lower.get_title()) == (str(name), str(predicted[first]))
        column += 1
    assert column == axes.shape[1] > 3


def test_there_must_be_a_mistake(classifier: PrototypeClassifier, digits: Any) -> None:
    X, _ = digits
    with pytest.raises(ValueError, match="there is no error to show"):
        plot_misclassified(classifier, X, classifier.predict(X), (8, 8))


def test_mistakes_of_maps_for_each_class(digits: Any) -> None:
    X, y = digits
    model = PrototypeClassifier(VQPCA(2, 1, random_state=0), per_class=True).fit(X, y)
    distances = np.hstack([part.distances(X) for part in model.estimators_])
    prototypes = np.concatenate([part.prototypes_ for part in model.estimators_])
    axes = plot_misclassified(model, X, y, (8, 8))
    wrong = model.predict(X) != y
    assert [int(ax.get_title()) for ax in axes[0]] == sorted(set(y[wrong].tolist()))
    for upper, lower in axes.T:
        first = np.flatnonzero(wrong & (y == int(upper.get_title())))[0]
        np.testing.assert_array_equal(pixels(upper).ravel(), X[first])
        np.testing.assert_array_equal(pixels(lower).ravel(), prototypes[distances[first].argmin()])
        assert int(lower.get_title()) == model.predict(X[[first]])[0]


def test_images_of_maps_for_each_class(digits: Any) -> None:
    model = PrototypeClassifier(VQPCA(2, 1, random_state=0), per_class=True).fit(*digits)
    grid = tiles(plot_codebook(model, (8, 8)), (8, 8))
    np.testing.assert_array_equal(grid, [part.prototypes_.reshape(2, 8, 8) for part in model.estimators_])
    center, direction = plot_eigenimages(model, 7, (8, 8))
    np.testing.assert_array_equal(pixels(center).ravel(), model.estimators_[3].prototypes_[1])
    np.testing.assert_array_equal(pixels(direction).ravel(), model.estimators_[3].components_[1, 0])


def test_mistakes_are_those_of_a_prototype_classifier(digits: Any) -> None:
    for model in (GLVQ(max_iter=3, random_state=0).fit(*digits), KMeans(3, random_state=0).fit(digits[0])):
        with pytest.raises(ValueError, match=f"{type(model).__name__} is not a PrototypeClassifier"):
            plot_misclassified(model, *digits, shape=(8, 8))
