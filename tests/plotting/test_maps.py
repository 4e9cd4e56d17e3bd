"""The pictures of the lattice show the right quantities."""

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_rgb

from protolearn import SOM, PrototypeClassifier
from protolearn.core.lattices import chain, from_distances, hexagonal, hyperbolic, rectangular
from protolearn.plotting import plot_class_map, plot_component_planes, plot_hits, plot_u_matrix
from protolearn.plotting.style import EMPTY, class_colors, tint


def cells_of(ax: Any) -> PatchCollection:
    return ax.collections[0]


def pies_of(ax: Any) -> PatchCollection:
    return ax.collections[-1]


def bar_of(ax: Any) -> Any:
    return cells_of(ax).colorbar.ax


def majority(counts: np.ndarray) -> np.ndarray:
    """Expected cell colors (k, 3) from class counts (k, C)."""
    pale = tint(class_colors(counts.shape[1]), 0.35)
    return np.array([pale[row.argmax()] if row.sum() else to_rgb(EMPTY) for row in counts])


def count(winners: Any, codes: Any, k: int, n_classes: int) -> np.ndarray:
    counts = np.zeros((k, n_classes))
    for winner, code in zip(winners, codes):
        counts[winner, code] += 1
    return counts


@pytest.mark.parametrize(
    "lattice", [rectangular(4, 5), rectangular(4, 5, periodic=True), hexagonal(4, 4), hyperbolic(7, 1), chain(9)]
)
def test_u_matrix_is_the_mean_distance_to_the_neighbors(lattice: Any, iris: Any) -> None:
    som = SOM(lattice, max_iter=3).fit(iris[0])
    heights = []
    for node in range(lattice.n_nodes):
        neighbors = [j if i == node else i for i, j in lattice.edges.tolist() if node in (i, j)]
        heights.append(np.mean([np.sqrt(((som.prototypes_[node] - som.prototypes_[n]) ** 2).sum()) for n in neighbors]))
    ax = plot_u_matrix(som)
    np.testing.assert_allclose(cells_of(ax).get_array(), heights)
    assert bar_of(ax).get_ylabel() == "mean distance to neighbors"


def test_u_matrix_leaves_out_nodes_without_neighbors(iris: Any) -> None:
    lattice = from_distances([[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    ax = plot_u_matrix(SOM(lattice, max_iter=3).fit(iris[0]))
    assert np.ma.getmaskarray(cells_of(ax).get_array()).tolist() == [False, False, True]
    alone = plot_u_matrix(SOM(chain(1), max_iter=3).fit(iris[0]))
    alone.figure.canvas.draw()
    assert np.ma.getmaskarray(cells_of(alone).get_array()).tolist() == [True]


def test_the_color_map_can_be_chosen(som: SOM) -> None:
    assert cells_of(plot_u_matrix(som, cmap="cividis")).get_cmap().name == "cividis"
    assert cells_of(plot_hits(som, cmap="cividis")).get_cmap().name == "cividis"


def test_color_bar_is_as_high_as_the_map(som: SOM) -> None:
    for layout in (None, "constrained"):
        figure, axes = plt.subplots(1, 2, layout=layout)
        plot_u_matrix(som, axes[0])
        plot_hits(som, ax=axes[1])
        figure.canvas.draw()
        for ax in axes:
            bar, box = bar_of(ax).get_position(), ax.get_position()
            np.testing.assert_allclose([bar.y0, bar.y1], [box.y0, box.y1], atol=1e-6)
            assert bar.x0 > box.x1
        assert bar_of(axes[0]).get_tightbbox().x1 < axes[1].get_window_extent().x0


def test_hits_of_the_fit_are_its_weights(iris: Any) -> None:
    X, _ = iris
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    som = SOM((6, 7), max_iter=3).fit(X, sample_weight=weights)
    expected = [weights[som.labels_ == node].sum() for node in range(42)]
    drawn = cells_of(plot_hits(som)).get_array()
    np.testing.assert_allclose(drawn.filled(0), expected)
    assert (drawn.mask == (np.array(expected) == 0)).all()
    assert drawn.mask.any()


def test_hits_of_samples(som: SOM, iris: Any) -> None:
    X = iris[0][::7]
    expected = [(som.predict(X) == node).sum() for node in range(30)]
    ax = plot_hits(som, X)
    np.testing.assert_allclose(cells_of(ax).get_array().filled(0), expected)
    assert bar_of(ax).get_ylabel() == "samples per node"
    assert cells_of(ax).get_clim() == (0, max(expected))


def test_component_planes_show_every_feature(som: SOM, iris: Any) -> None:
    axes = plot_component_planes(som)
    assert [ax.get_title() for ax in axes] == list(iris[0].columns)
    for ax, values in zip(axes, som.prototypes_.T):
        np.testing.assert_array_equal(cells_of(ax).get_array(), values)


def test_component_planes_of_some_features(som: SOM) -> None:
    axes = plot_component_planes(som, ["petal width (cm)", 0, -1])
    assert [ax.get_title() for ax in axes] == ["petal width (cm)", "sepal length (cm)", "petal width (cm)"]
    np.testing.assert_array_equal(cells_of(axes[1]).get_array(), som.prototypes_[:, 0])


def test_component_planes_without_names(iris: Any) -> None:
    som = SOM((3, 4), max_iter=3).fit(iris[0].to_numpy())
    assert plot_component_planes(som, [2])[0].get_title() == "feature 2"


def test_component_planes_in_given_axes(som: SOM) -> None:
    _, given = plt.subplots(2, 2)
    drawn = plot_component_planes(som, ax=given)
    assert list(drawn) == list(given.ravel())
    single = plt.figure().add_subplot()
    assert plot_component_planes(som, [1], ax=single)[0] is single
    with pytest.raises(ValueError, match="4 Axes, but there are 3 features"):
        plot_component_planes(som, [0, 1, 2], ax=given)


@pytest.mark.parametrize("features", [["color"], [4], [-5], [0.5]])
def test_unknown_features(som: SOM, features: Any) -> None:
    with pytest.raises(ValueError, match=r"There is no feature .*the map has 4"):
        plot_component_planes(som, features)


def test_no_features(som: SOM) -> None:
    with pytest.raises(ValueError, match="features is empty"):
        plot_component_planes(som, [])


@pytest.mark.parametrize("given", ["samples", "labels only"])
def test_class_map_of_labeled_samples(som: SOM, iris: Any, given: str) -> None:
    X, y = iris
    ax = plot_class_map(som, X, y) if given == "samples" else plot_class_map(som, y=y)
    classes, codes = np.unique(y, return_inverse=True)
    counts = count(som.predict(X), codes, 30, 3)
    np.testing.assert_allclose(np.asarray(cells_of(ax).get_facecolor())[:, :3], majority(counts))
    assert len(pies_of(ax).get_paths()) == np.count_nonzero(counts)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == [*classes, f"largest disc:\n{counts.sum(axis=1).max():g} samples"]


def test_class_map_draws_discs_by_hits(iris: Any) -> None:
    X, _ = iris
    som = SOM((2, 3), max_iter=3).fit(X)
    first = som.predict(X) == som.predict(X)[0]
    half = np.flatnonzero(first)[: first.sum() // 2 or 1]
    rows = np.concatenate([half, np.flatnonzero(~first)])
    ax = plot_class_map(som, X.iloc[rows], np.full(len(rows), "all"))
    hits = np.bincount(som.predict(X.iloc[rows]), minlength=6)
    diameters = np.array([path.get_extents().width for path in pies_of(ax).get_paths()])
    np.testing.assert_allclose(diameters, 0.85 * np.sqrt(hits[hits > 0] / hits.max()), rtol=1e-3)


def test_class_map_of_a_classifier(iris: Any) -> None:
    X, y = iris
    classifier = PrototypeClassifier(SOM((5, 6), max_iter=3)).fit(X, y)
    ax = plot_class_map(classifier)
    pale = tint(class_colors(3), 0.35)
    expected = pale[np.searchsorted(classifier.classes_, classifier.prototype_labels_)]
    np.testing.assert_allclose(np.asarray(cells_of(ax).get_facecolor())[:, :3], expected)
    hits = classifier.estimator_.multiplicities_
    assert len(pies_of(ax).get_paths()) == np.count_nonzero(classifier.label_distribution_[hits > 0])


def test_class_map_of_a_supervised_map(iris: Any) -> None:
    X, y = iris
    som = SOM((4, 5), max_iter=5, label_weight=0.5).fit(X, y)
    ax = plot_class_map(som)
    expected = tint(class_colors(3), 0.35)[np.searchsorted(som.classes_, som.prototype_labels_)]
    np.testing.assert_allclose(np.asarray(cells_of(ax).get_facecolor())[:, :3], expected)


def test_a_class_keeps_its_color_when_others_are_missing(iris: Any) -> None:
    X, y = iris
    som = SOM((4, 5), max_iter=5, label_weight=0.5).fit(X, y)
    only = y == "virginica"
    ax = plot_class_map(som, X[only], y[only])
    drawn = {tuple(color[:3]) for color in np.asarray(pies_of(ax).get_facecolor())}
    assert drawn == {tuple(class_colors(3)[2])}


def test_other_labels_than_those_learned_may_be_shown(iris: Any) -> None:
    X, y = iris
    som = SOM((4, 5), max_iter=5, label_weight=0.5).fit(X, y)
    ax = plot_class_map(som, X, np.arange(len(X)) % 2)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["0", "1"]


@pytest.mark.parametrize("lattice", [rectangular(3, 4), hexagonal(3, 4), hyperbolic(7, 1)], ids=str)
def test_cells_show_prototypes_that_are_images(lattice: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-3.0, 5.0, size=(60, 6)), np.arange(60) % 2
    som = SOM(lattice, max_iter=5).fit(X)
    ax = plot_class_map(som, X, y, shape=(2, 3))
    W = som.prototypes_
    shades = ((W - W.min()) / np.ptp(W)).reshape(-1, 2, 3)
    assert len(ax.images) == lattice.n_nodes
    for picture, node, shade in zip(ax.images, lattice.coordinates, shades):
        left, right, bottom, top = picture.get_extent()
        assert np.allclose([(left + right) / 2, (bottom + top) / 2], node)
        assert np.isclose((right - left) / (top - bottom), 5 / 4)  # a margin of a pixel on all sides
        opacity = np.asarray(picture.get_array())[..., 3]
        assert np.allclose(opacity[1:-1, 1:-1], shade)
    with pytest.raises(ValueError, match="must be the height and width of an image of 6 pixels"):
        plot_class_map(som, X, y, shape=(2, 4))


@pytest.mark.filterwarnings("error")
def test_a_classifier_of_a_data_frame_takes_samples_with_names(iris: Any) -> None:
    X, y = iris
    classifier = PrototypeClassifier(SOM((3, 4), max_iter=3)).fit(X, y)
    plot_class_map(classifier, X, y)
    plot_hits(classifier, X)
    assert plot_component_planes(classifier, ["petal width (cm)"])[0].get_title() == "petal width (cm)"


def test_class_map_needs_classes(som: SOM, iris: Any) -> None:
    with pytest.raises(ValueError, match="SOM has not learned classes: give the labels y"):
        plot_class_map(som)
    with pytest.raises(ValueError, match="SOM has not learned classes: give the labels y"):
        plot_class_map(som, iris[0])
    with pytest.raises(ValueError, match="y has 3 labels for 150 samples"):
        plot_class_map(som, y=[0, 1, 2])


@pytest.mark.parametrize("n_classes", [1, 3, 8, 9, 20, 22])
def test_classes_have_different_colors(n_classes: int) -> None:
    colors = class_colors(n_classes)
    gaps = np.abs(colors[:, None] - colors).sum(axis=2)
    assert colors.shape == (n_classes, 3)
    assert (gaps[~np.eye(n_classes, dtype=bool)] > 0.05).all()
