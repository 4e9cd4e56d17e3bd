"""Curves pass through their positions in order, and images stand beside them; a grid shows each image in its cell."""

from itertools import combinations, pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import to_rgb
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from protolearn.plotting import plot_image_grid, plot_trajectory
from protolearn.plotting._charts import _nearest_in_cells, _refined
from protolearn.plotting.style import class_colors


def spiral(n: int = 60) -> np.ndarray:
    t = np.linspace(0, 3 * np.pi, n)
    return np.column_stack([t * np.cos(t), t * np.sin(t)])


def numbered(n: int, shape: tuple[int, ...] = (6, 9)) -> np.ndarray:
    """Return images each of which is filled with its number."""
    return np.broadcast_to(np.arange(n).reshape(-1, *[1] * len(shape)), (n, *shape)).astype(float)


def lines_of(ax: Any) -> tuple[list[Any], list[Any]]:
    """Return curves, and marks of their ends."""
    marks = [line for line in ax.lines if len(line.get_xdata()) == 1]
    return [line for line in ax.lines if line not in marks], marks


def boxes_of(ax: Any) -> np.ndarray:
    """Return left, right, low and high of each image."""
    return np.array([image.get_extent() for image in ax.images])


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    return min(a[1], b[1]) - max(a[0], b[0]) > 1e-9 and min(a[3], b[3]) - max(a[2], b[2]) > 1e-9


# Curves


def test_a_curve_passes_through_its_positions_in_order() -> None:
    Y = spiral()
    ax = plot_trajectory(Y)
    (curve,), marks = lines_of(ax)
    np.testing.assert_array_equal(np.transpose(curve.get_data()), Y)
    assert [(mark.get_marker(), *np.ravel(mark.get_data())) for mark in marks] == [("o", *Y[0]), ("s", *Y[-1])]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["start", "end"]
    assert [handle.get_marker() for handle in ax.get_legend().legend_handles] == ["o", "s"]
    assert ax.get_aspect() == 1
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    assert ((low < Y) & (high > Y)).all()


def test_the_positions_of_an_estimator() -> None:
    class View(BaseEstimator):
        def fit(self, X: Any) -> Any:
            self.embedding_ = spiral()
            return self

    with pytest.raises(NotFittedError):
        plot_trajectory(View())
    (curve,), _ = lines_of(plot_trajectory(View().fit(None)))
    np.testing.assert_array_equal(np.transpose(curve.get_data()), spiral())


def test_several_curves_have_names_and_colors() -> None:
    curves = {"original": spiral(), "ours": 1.1 * spiral(40), 3: -spiral(50)}
    ax = plot_trajectory(curves)
    drawn, marks = lines_of(ax)
    for line, Y, color in zip(drawn, curves.values(), class_colors(3), strict=True):
        np.testing.assert_array_equal(np.transpose(line.get_data()), Y)
        np.testing.assert_allclose(to_rgb(line.get_color()), color)
    assert [line.get_linestyle() for line in drawn] == ["-", "--", "--"]
    np.testing.assert_allclose(
        [to_rgb(mark.get_markerfacecolor()) for mark in marks], np.repeat(class_colors(3), 2, axis=0)
    )
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["original", "ours", "3", "start", "end"]


def test_time_is_the_first_axis() -> None:
    Y = spiral()
    ax = plot_trajectory(Y, time=True)
    assert ax.name == "3d"
    assert ax.get_xlabel() == "time"
    (curve, *_) = [line for line in ax.lines if len(line.get_data_3d()[0]) > 1]
    np.testing.assert_array_equal(np.transpose(curve.get_data_3d()), np.column_stack([np.arange(60), Y]))
    ax = plot_trajectory(np.column_stack([Y, Y[:, 0]]))
    (curve, *_) = [line for line in ax.lines if len(line.get_data_3d()[0]) > 1]
    np.testing.assert_array_equal(np.transpose(curve.get_data_3d()), np.column_stack([Y, Y[:, 0]]))
    assert ax.get_xlabel() == ""


@pytest.mark.parametrize("time", [False, True])
def test_positions_on_a_line_are_shown_over_time(time: bool) -> None:
    Y = spiral()[:, :1]
    ax = plot_trajectory(Y, time=time)
    (curve,), _ = lines_of(ax)
    np.testing.assert_array_equal(np.transpose(curve.get_data()), np.column_stack([np.arange(60), Y]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time", "position")


@pytest.mark.parametrize("zoom", [0.7, 1.0, 1.6])
def test_images_stand_beside_the_curve(zoom: float) -> None:
    Y = spiral()
    ax = plot_trajectory(Y, numbered(60), n_images=10, zoom=zoom)
    chosen = [int(image.get_array().flat[0]) for image in ax.images]
    np.testing.assert_array_equal(chosen, np.linspace(0, 59, 10).round())
    boxes = boxes_of(ax)
    assert not any(overlap(*pair) for pair in combinations(boxes, 2))
    dense = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(Y)])
    for left, right, low, high in boxes:
        assert not ((dense > [left, low]) & (dense < [right, high])).all(axis=1).any()
    sides = np.column_stack([boxes[:, 1] - boxes[:, 0], boxes[:, 3] - boxes[:, 2]])
    np.testing.assert_allclose(sides[:, 0] / sides[:, 1], 9 / 6)
    np.testing.assert_allclose(np.sqrt(sides.prod(axis=1)), zoom * 0.14 * np.ptp(Y, axis=0).max())
    frame = [*ax.get_xlim(), *ax.get_ylim()]
    assert (boxes[:, [0, 2]] >= [frame[0], frame[2]]).all()
    assert (boxes[:, [1, 3]] <= [frame[1], frame[3]]).all()
    (lines,) = [part for part in ax.collections if isinstance(part, LineCollection)]
    for (start, end), index, (left, right, low, high) in zip(lines.get_segments(), chosen, boxes, strict=True):
        np.testing.assert_allclose(start, Y[index])
        assert left - 1e-9 <= end[0] <= right + 1e-9
        assert low - 1e-9 <= end[1] <= high + 1e-9
    assert {image.get_clim() for image in ax.images} == {(0.0, 59.0)}


def test_images_are_those_of_the_first_curve_and_avoid_the_others() -> None:
    other = spiral()[:, ::-1] * [1, -1]
    ax = plot_trajectory({"a": spiral(), "b": other}, numbered(60, (5, 5, 3)) / 60, n_images=4)
    assert len(ax.images) == 4
    dense = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(other)])
    for left, right, low, high in boxes_of(ax):
        assert not ((dense > [left, low]) & (dense < [right, high])).all(axis=1).any()


def test_short_curves() -> None:
    ax = plot_trajectory([[1.0, 2.0]], numbered(1))
    assert len(ax.images) == 1
    ax = plot_trajectory([[0.0, 0.0], [1.0, 1.0]], numbered(2), n_images=12)
    assert [image.get_array().flat[0] for image in ax.images] == [0, 1]
    assert len(plot_trajectory(spiral(), numbered(60), n_images=1).images) == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=12), st.floats(0.05, 2))
def test_refined_curves_have_no_gaps(points: Any, step: float) -> None:
    curve = np.array(points)
    fine = _refined(curve, step)
    assert np.linalg.norm(np.diff(fine, axis=0), axis=1).max(initial=0) <= step + 1e-9
    np.testing.assert_allclose(fine[[0, -1]], curve[[0, -1]])
    distances = np.linalg.norm(curve[:, None] - fine, axis=2).min(axis=1)
    assert distances.max() <= 0.5 * step + 1e-9


def test_curves_that_cannot_be_shown() -> None:
    flat = spiral()
    deep = np.column_stack([flat, flat[:, 0]])
    with pytest.raises(ValueError, match="cannot be shown over time"):
        plot_trajectory(deep, time=True)
    for Y, time in ((flat, True), (flat[:, :1], False), (deep, False)):
        with pytest.raises(ValueError, match="Images need curves in the plane"):
            plot_trajectory(Y, numbered(60), time=time)
    with pytest.raises(ValueError, match=r"The curves have \[2, 3\] columns"):
        plot_trajectory({"a": flat, "b": deep})
    with pytest.raises(ValueError, match="give at least one curve"):
        plot_trajectory({})
    with pytest.raises(ValueError, match=r"images.shape == \(59, 6, 9\), expected \(60, height, width\)"):
        plot_trajectory(flat, numbered(59))
    with pytest.raises(ValueError, match="n_images=0 must be an integer"):
        plot_trajectory(flat, numbered(60), n_images=0)
    with pytest.raises(ValueError, match="zoom=0 must be a number"):
        plot_trajectory(flat, numbered(60), zoom=0)
    assert not plt.get_fignums()
    with pytest.raises(ValueError, match="three-dimensional"):
        plot_trajectory(deep, ax=plt.figure().add_subplot())


# Grids


def test_each_cell_shows_its_image_nearest_to_the_center() -> None:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((300, 2)) * [3, 1]
    ax = plot_image_grid(Y, numbered(300, (6, 6)), n_cells=9)
    boxes = boxes_of(ax)
    chosen = np.array([int(image.get_array().flat[0]) for image in ax.images])
    centers = np.column_stack([boxes[:, :2].mean(axis=1), boxes[:, 2:].mean(axis=1)])
    side = np.ptp(Y[:, 0]) / 9
    np.testing.assert_allclose(boxes[:, 1] - boxes[:, 0], 0.9 * side)
    np.testing.assert_allclose(boxes[:, 3] - boxes[:, 2], 0.9 * side)
    nodes = (centers - centers.min(axis=0)) / side
    np.testing.assert_allclose(nodes, nodes.round(), atol=1e-9)
    assert len(np.unique(nodes.round(), axis=0)) == len(chosen)
    covered = np.zeros(300, dtype=bool)
    for center, index in zip(centers, chosen):
        inside = (np.abs(Y - center) <= 0.5 * side * (1 + 1e-9)).all(axis=1)
        assert inside[index]
        assert index == np.flatnonzero(inside)[np.linalg.norm(Y[inside] - center, axis=1).argmin()]
        covered |= inside
    assert covered.all()  # no cell with samples is empty


@pytest.mark.parametrize("shape", [(4, 8), (9, 3)])
def test_cells_have_the_proportions_of_images(shape: tuple[int, int]) -> None:
    Y = np.random.default_rng(0).uniform(size=(200, 2))
    boxes = boxes_of(plot_image_grid(Y, numbered(200, shape), n_cells=6))
    widths, heights = boxes[:, 1] - boxes[:, 0], boxes[:, 3] - boxes[:, 2]
    np.testing.assert_allclose(widths / heights, shape[1] / shape[0])
    counts = [len(np.unique(boxes[:, column].round(9))) for column in (0, 2)]
    assert max(counts) == 6
    assert counts[0] < counts[1] if shape == (4, 8) else counts[0] > counts[1]


def test_frames_have_the_colors_of_classes() -> None:
    rng = np.random.default_rng(0)
    Y, y = rng.standard_normal((80, 2)), rng.integers(3, size=80)
    ax = plot_image_grid(Y, numbered(80), y, n_cells=5)
    (frames,) = [part for part in ax.collections if isinstance(part, PatchCollection)]
    chosen = [int(image.get_array().flat[0]) for image in ax.images]
    np.testing.assert_allclose(np.asarray(frames.get_edgecolor())[:, :3], class_colors(3)[y[chosen]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    assert plot_image_grid(Y, numbered(80)).get_legend() is None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=20), st.floats(0.1, 4))
def test_every_sample_is_in_a_cell(points: Any, side: float) -> None:
    Y, cell = np.array(points, dtype=float), np.array([side, 0.7 * side])
    chosen, centers = _nearest_in_cells(Y, cell)
    assert len(set(chosen.tolist())) == len(chosen)
    assert (np.abs(Y[chosen] - centers) <= 0.5 * cell + 1e-6).all()
    own = (np.abs(Y[:, None] - centers) <= 0.5 * cell + 1e-6).all(axis=2)
    assert own.any(axis=1).all()


def test_one_place() -> None:
    ax = plot_image_grid(np.ones((4, 2)), numbered(4))
    assert [image.get_array().flat[0] for image in ax.images] == [0]


def test_grids_that_cannot_be_shown() -> None:
    Y = spiral()
    with pytest.raises(ValueError, match="the positions have 3"):
        plot_image_grid(np.ones((60, 3)), numbered(60))
    with pytest.raises(ValueError, match="n_cells=0 must be an integer"):
        plot_image_grid(Y, numbered(60), n_cells=0)
    with pytest.raises(ValueError, match=r"images.shape == \(60, 54\)"):
        plot_image_grid(Y, np.zeros((60, 54)))
    assert not plt.get_fignums()


# Both


@pytest.mark.parametrize("plot", [plot_trajectory, plot_image_grid])
def test_draws_into_the_axes_given_and_changes_no_settings(plot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("a picture was shown"))
    before = mpl.rcParams.copy()
    ax = plt.figure().add_subplot()
    assert plot(spiral(), numbered(60), ax=ax) is ax
    assert len(plt.get_fignums()) == 1
    plot(spiral(), numbered(60)).figure.canvas.draw()
    assert len(plt.get_fignums()) == 2
    assert mpl.rcParams == before


@pytest.mark.parametrize("plot", [plot_trajectory, plot_image_grid])
def test_views_are_needed(plot: Any) -> None:
    with pytest.raises(ValueError, match="PCA has no embedding_"):
        plot(PCA(2).fit(spiral()), numbered(60))
