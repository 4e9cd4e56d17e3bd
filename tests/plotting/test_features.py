"""Prototypes, receptive fields and graphs in the plane of two features."""

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.path import Path
from sklearn.datasets import make_moons

from protolearn import SOM, KMeans, NeuralGas, PrototypeClassifier
from protolearn.plotting import plot_graph, plot_prototypes
from protolearn.plotting.style import class_colors, tint


@pytest.fixture(scope="module")
def moons() -> tuple[np.ndarray, np.ndarray]:
    return make_moons(80, noise=0.1, random_state=0)


@pytest.fixture(scope="module")
def gas(moons: Any) -> NeuralGas:
    return NeuralGas(7, max_iter=10, random_state=0).fit(moons[0])


def parts(ax: Any, kind: type) -> list[Any]:
    return [part for part in ax.collections if type(part) is kind]


def area(corners: np.ndarray) -> float:
    x, y = (corners - corners[0]).T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def test_receptive_fields_partition_the_axes(gas: NeuralGas, moons: Any) -> None:
    ax = plot_prototypes(gas, *moons)
    (fields,) = parts(ax, PolyCollection)
    outlines = [path.vertices for path in fields.get_paths()]
    assert len(outlines) == 7
    whole = np.ptp(ax.get_xlim()) * np.ptp(ax.get_ylim())
    assert sum(map(area, outlines)) == pytest.approx(whole)
    for outline, prototype in zip(outlines, gas.prototypes_):
        assert Path(outline).contains_point(prototype)


def test_receptive_fields_hold_the_samples_they_win(gas: NeuralGas, moons: Any) -> None:
    (fields,) = parts(plot_prototypes(gas, moons[0], features=(1, 0)), PolyCollection)
    for sample, winner in zip(moons[0], gas.predict(moons[0])):
        assert Path(fields.get_paths()[winner].vertices).contains_point(sample[::-1])


def test_samples_and_prototypes_are_where_they_are(gas: NeuralGas, moons: Any) -> None:
    X, y = moons
    ax = plot_prototypes(gas, X, y, features=(1, 0))
    samples, prototypes = parts(ax, PathCollection)
    np.testing.assert_allclose(samples.get_offsets(), X[:, ::-1])
    np.testing.assert_allclose(prototypes.get_offsets(), gas.prototypes_[:, ::-1])
    np.testing.assert_allclose(samples.get_facecolor()[:, :3], class_colors(2)[y])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 1", "feature 0")
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    assert ((low < X[:, ::-1]) & (X[:, ::-1] < high)).all()


def test_prototypes_alone(gas: NeuralGas) -> None:
    ax = plot_prototypes(gas)
    (prototypes,) = parts(ax, PathCollection)
    assert len(prototypes.get_offsets()) == 7
    assert ax.get_legend() is None


def test_labeled_prototypes_color_their_fields(moons: Any) -> None:
    X, y = moons
    classifier = PrototypeClassifier(KMeans(6, random_state=0)).fit(X, y)
    ax = plot_prototypes(classifier, X, y)
    (fields,) = parts(ax, PolyCollection)
    codes = classifier.prototype_labels_
    assert set(codes) == {0, 1}
    np.testing.assert_allclose(np.asarray(fields.get_facecolor())[:, :3], tint(class_colors(2), 0.18)[codes])
    np.testing.assert_allclose(parts(ax, PathCollection)[1].get_facecolor()[:, :3], class_colors(2)[codes])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1"]
    # Labels of another kind say nothing about the classes of the prototypes.
    other = plot_prototypes(classifier, X, np.where(y == 0, "upper", "lower"))
    assert len(np.asarray(parts(other, PolyCollection)[0].get_facecolor())) == 0


def test_receptive_fields_can_be_left_out_and_are_not_drawn_in_more_dimensions(gas: NeuralGas, iris: Any) -> None:
    assert not parts(plot_prototypes(gas, voronoi=False), PolyCollection)
    assert not parts(plot_prototypes(KMeans(3, random_state=0).fit(iris[0]), iris[0]), PolyCollection)


def test_lattice_edges_join_the_prototypes(som: SOM, iris: Any) -> None:
    ax = plot_prototypes(som, *iris, features=("petal length (cm)", 3))
    (lines,) = parts(ax, LineCollection)
    np.testing.assert_allclose(np.array(lines.get_segments()), som.prototypes_[:, [2, 3]][som.lattice_.edges])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("petal length (cm)", "petal width (cm)")


def test_equal_prototypes_share_a_field() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    ax = plot_prototypes(KMeans(4, init=X, max_iter=1).fit(X))
    fields = parts(ax, PolyCollection)[0].get_paths()
    np.testing.assert_array_equal(fields[0].vertices, fields[1].vertices)


def test_features_of_very_different_scale_are_not_drawn_to_the_same(moons: Any) -> None:
    X, _ = moons
    same = plot_prototypes(KMeans(3, random_state=0).fit(X), X)
    stretched = plot_prototypes(KMeans(3, random_state=0).fit(X * [1, 1000]), X * [1, 1000])
    assert (same.get_aspect(), stretched.get_aspect()) == (1, "auto")
    given = plt.figure().add_subplot(aspect="equal")
    assert plot_prototypes(KMeans(3, random_state=0).fit(X * [1, 1000]), ax=given).get_aspect() == "auto"


def test_constant_features_have_room() -> None:
    X = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    ax = plot_prototypes(KMeans(2, random_state=0).fit(X), X)
    assert np.ptp(ax.get_ylim()) > 0
    point = plot_prototypes(KMeans(1).fit(np.ones((3, 2))))
    assert np.ptp(point.get_xlim()) > 0


def test_edges_of_the_graph_have_widths_by_weight(gas: NeuralGas, moons: Any) -> None:
    ax = plot_graph(gas, moons[0])
    (lines,) = parts(ax, LineCollection)
    graph = gas.graph_.toarray()
    segments = {
        tuple(sorted(gas.predict(segment))): (segment, width)
        for segment, width in zip(lines.get_segments(), lines.get_linewidths())
    }
    pairs = [(i, j) for i in range(7) for j in range(i + 1, 7) if graph[i, j] > 0]
    assert sorted(segments) == pairs
    for i, j in pairs:
        np.testing.assert_allclose(segments[i, j][0], gas.prototypes_[[i, j]])
        assert segments[i, j][1] == pytest.approx(0.4 + 3.6 * graph[i, j] / graph.max())
    shown = [float(text.get_text()) for text in ax.get_legend().get_texts()]
    drawn = [line.get_linewidth() for line in ax.get_legend().get_lines()]
    np.testing.assert_allclose(drawn, 0.4 + 3.6 * np.array(shown) / graph.max())
    assert 1 <= len(shown) <= 3


def test_samples_without_weight_leave_no_edge() -> None:
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [1.1, 5.0]])
    between_first_and_last = [[-3.0, 3.0]]
    X = np.concatenate([corners, between_first_and_last])
    model = KMeans(3, init=corners).fit(X, sample_weight=[1, 1, 1, 0])
    lines = parts(plot_graph(model), LineCollection)[0]
    np.testing.assert_allclose(lines.get_segments(), corners[[[0, 1], [1, 2]]])


def test_graph_of_one_prototype_has_no_edges(moons: Any) -> None:
    ax = plot_graph(KMeans(1).fit(moons[0]))
    assert parts(ax, LineCollection)[0].get_segments() == []
    assert ax.get_legend() is None


@pytest.mark.parametrize("plot", [plot_prototypes, plot_graph])
def test_bad_input(plot: Any, gas: NeuralGas, moons: Any) -> None:
    with pytest.raises(ValueError, match="must be two different features"):
        plot(gas, features=(0, 0))
    with pytest.raises(ValueError, match="must be two different features"):
        plot(gas, features=(0,))
    with pytest.raises(ValueError, match="There is no feature 1; the map has 1"):
        plot(KMeans(2, random_state=0).fit(moons[0][:, :1]))
    with pytest.raises(ValueError, match="X has 3 features, but the prototypes have 2"):
        plot(gas, np.ones((4, 3)))


def test_labels_need_samples(gas: NeuralGas, moons: Any) -> None:
    with pytest.raises(ValueError, match="y has 80 labels for 0 samples"):
        plot_prototypes(gas, y=moons[1])
    with pytest.raises(ValueError, match="y has 3 labels for 80 samples"):
        plot_prototypes(gas, moons[0], [0, 1, 1])
