"""Pictures of views show each sample where and as it is; names and images never overlap; isolines have their level."""

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PatchCollection, PathCollection
from matplotlib.colors import LogNorm, to_rgb
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap

from protolearn.embedding.divergences import (
    Alpha,
    Beta,
    CauchySchwarz,
    Eta,
    Gamma,
    GeneralizedKullbackLeibler,
    Hellinger,
    ItakuraSaito,
    KullbackLeibler,
    NeRV,
    Renyi,
)
from protolearn.metrics import coranking_matrix, view_quality
from protolearn.plotting import (
    plot_coranking,
    plot_divergence_octant,
    plot_divergence_simplex,
    plot_embedding,
    plot_images,
    plot_quality,
)
from protolearn.plotting._embedding import _block_means, _spread_out, places_apart
from protolearn.plotting.style import INK, MUTED, OKABE_ITO, class_colors


def blobs(n_classes: int, n_each: int = 20, spread: float = 0.3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0, np.sqrt(n_classes) * 3, (n_classes, 2))
    y = rng.permutation(np.repeat(np.arange(n_classes), n_each))
    return centers[y] + spread * rng.standard_normal((len(y), 2)), y


def scatter_of(ax: Any) -> PathCollection:
    (points,) = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    return points


def in_order(points: Any, Y: np.ndarray) -> np.ndarray:
    """Return where each row of Y is among the points drawn."""
    drawn = np.asarray(points)
    where = np.lexsort(drawn.T)
    order = np.empty(len(Y), dtype=int)
    order[np.lexsort(Y.T)] = where
    np.testing.assert_array_equal(drawn[order], Y)
    return order


def boxes_of(ax: Any) -> list[Any]:
    ax.figure.draw_without_rendering()
    return [text.get_window_extent() for text in ax.texts]


def overlapping(a: Any, b: Any) -> bool:
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5


# Embeddings


def test_every_sample_is_drawn_at_its_place_in_the_color_of_its_class() -> None:
    Y, y = blobs(5)
    points = scatter_of(plot_embedding(Y, y))
    order = in_order(points.get_offsets(), Y)
    np.testing.assert_allclose(points.get_facecolors()[order, :3], class_colors(5)[y])
    assert not np.array_equal(order, np.arange(len(Y)))  # no class on top of the others


def test_names_are_those_of_the_classes_at_their_medians() -> None:
    y = np.repeat(["ash", "birch", "cedar"], 50)
    Y = 10.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.repeat([0, 1, 2], 50)]
    Y += np.random.default_rng(0).standard_normal(Y.shape)
    Y[0] = (30, 30)  # does not move a median
    ax = plot_embedding(Y, y)
    assert [text.get_text() for text in ax.texts] == ["ash", "birch", "cedar"]
    medians = [np.median(Y[y == name], axis=0) for name in ("ash", "birch", "cedar")]
    np.testing.assert_allclose([text.get_position() for text in ax.texts], medians)
    assert ax.get_legend() is None


@pytest.mark.parametrize(("n_classes", "spread"), [(3, 1.0), (40, 0.02), (40, 1.0), (200, 0.3)])
def test_names_never_overlap_and_stay_in_the_frame(n_classes: int, spread: float) -> None:
    Y, y = blobs(n_classes, 5, spread)
    names = np.array([f"{chr(65 + code % 26)}{code:02d}" for code in range(n_classes)])
    ax = plot_embedding(Y, names[y])
    assert sorted(text.get_text() for text in ax.texts) == sorted(names)
    sizes = [text.get_fontsize() for text in ax.texts if text.get_window_extent()]
    assert 5.5 < min(sizes) <= max(sizes) < 11.5
    for factor in (1.0, 2.0):  # also when the figure is resized
        ax.figure.set_size_inches(factor * ax.figure.get_size_inches())
        boxes = boxes_of(ax)
        assert not any(overlapping(*pair) for pair in combinations(boxes, 2))
        frame = ax.get_window_extent().padded(2)
        assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
        assert all(frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)


def test_names_of_small_classes_do_not_hide_them() -> None:
    y = np.repeat(np.arange(30), 10)
    Y = np.column_stack([y // 6, y % 6]) + 0.01 * np.random.default_rng(0).standard_normal((300, 2))
    ax = plot_embedding(Y, np.char.add("oak ", y.astype(str)))
    own = {text.get_text(): box for text, box in zip(ax.texts, boxes_of(ax))}
    for code in range(30):
        x, height = ax.transData.transform(np.median(Y[y == code], axis=0))
        box = own[f"oak {code}"]
        assert box.x0 < x < box.x1
        assert box.y0 - box.height < height < box.y0 + 0.2 * box.height  # just below the letters


def test_names_in_a_crowd_are_joined_to_their_centers_by_lines() -> None:
    rng = np.random.default_rng(0)
    Y = np.vstack([0.01 * rng.standard_normal((60, 2)), [[-5, -5], [5, 5]]])
    y = np.array([*np.repeat([f"crowded {i}" for i in range(12)], 5), "left", "right"])
    ax = plot_embedding(Y, y)
    assert len(ax.texts) == 14
    (lines,) = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    starts = np.array([segment[0] for segment in lines.get_segments()])
    assert 9 <= len(starts) <= 12
    medians = np.array([np.median(Y[y == name], axis=0) for name in np.unique(y)])
    assert np.abs(starts[:, None] - medians).sum(axis=2).min(axis=1).max() < 1e-12
    assert np.abs(starts).max() < 1  # none for those with room


@given(seed=st.integers(0, 10_000), n_boxes=st.integers(1, 30), width=st.floats(0.01, 0.3), height=st.floats(0.01, 0.1))
def test_boxes_are_put_apart(seed: int, n_boxes: int, width: float, height: float) -> None:
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-1, 1, (n_boxes, 2))
    halves = np.array([width, height]) * rng.uniform(0.3, 1, (n_boxes, 1))
    low, high = np.full(2, -1.2), np.full(2, 1.2)
    places = places_apart(centers, halves, low, high)
    placed = ~np.isnan(places[:, 0])
    assert placed[0]
    for (a, half_a), (b, half_b) in combinations(zip(places[placed], halves[placed]), 2):
        assert (np.abs(a - b) >= half_a + half_b - 1e-12).any()
    assert (places[placed] - halves[placed] >= low - 1e-12).all()
    assert (places[placed] + halves[placed] <= high + 1e-12).all()
    np.testing.assert_array_equal(places[0], np.clip(centers[0], low + halves[0], high - halves[0]))


def test_a_legend_instead_of_names() -> None:
    Y, y = blobs(4)
    ax = plot_embedding(Y, y, labels="legend")
    assert not ax.texts
    entries = {handle.get_label(): to_rgb(handle.get_color()) for handle in ax.get_legend().legend_handles}
    assert list(entries) == ["0", "1", "2", "3"]
    np.testing.assert_allclose(list(entries.values()), class_colors(4))


def test_neither_names_nor_legend() -> None:
    Y, y = blobs(4)
    ax = plot_embedding(Y, y, labels=None)
    assert not ax.texts
    assert ax.get_legend() is None


@pytest.mark.parametrize("labels", ["centers", "legend", None])
def test_numbers_are_shown_by_a_color_bar(labels: Any) -> None:
    Y, _ = blobs(2)
    values = pd.Series(np.linspace(-1.5, 2.5, len(Y)), name="age")
    ax = plot_embedding(Y, values, labels=labels)
    (bar,) = [other for other in ax.figure.axes if other is not ax]
    assert bar.get_ylabel() == "age"
    points = scatter_of(ax)
    expected = mpl.colormaps["viridis"]((values.to_numpy() + 1.5) / 4)[:, :3]
    np.testing.assert_allclose(points.get_facecolors()[in_order(points.get_offsets(), Y), :3], expected, atol=0.02)
    assert not ax.texts


def test_whole_numbers_are_classes_of_any_type() -> None:
    Y, y = blobs(3)
    assert {text.get_text() for text in plot_embedding(Y, y.astype(float)).texts} == {"0.0", "1.0", "2.0"}
    assert len(plot_embedding(Y, y > 0).texts) == 2


def test_an_estimator_shows_its_embedding() -> None:
    X = np.random.default_rng(0).standard_normal((40, 5))
    model = Isomap(n_neighbors=10).fit(X)
    in_order(scatter_of(plot_embedding(model)).get_offsets(), model.embedding_)
    with pytest.raises(NotFittedError):
        plot_embedding(Isomap())


def test_many_samples_are_drawn_small_transparent_and_as_pixels() -> None:
    Y = np.random.default_rng(0).standard_normal((100_000, 2))
    few, many = (scatter_of(plot_embedding(some)) for some in (Y[:200], Y))
    assert many.get_sizes().max() < 0.1 * few.get_sizes().min()
    assert many.get_alpha() < few.get_alpha()
    assert many.get_rasterized()
    assert not few.get_rasterized()


def test_sizes_belong_to_their_samples() -> None:
    Y, y = blobs(3)
    sizes = np.linspace(1, 50, len(Y))
    points = scatter_of(plot_embedding(Y, y, sizes=sizes))
    np.testing.assert_array_equal(points.get_sizes()[in_order(points.get_offsets(), Y)], sizes)
    assert set(scatter_of(plot_embedding(Y, sizes=7)).get_sizes()) == {7.0}


def test_a_line_has_a_row_for_each_class() -> None:
    Y, y = blobs(3)
    ax = plot_embedding(Y[:, :1], np.array(["a", "b", "c"])[y])
    x, row = np.asarray(scatter_of(ax).get_offsets()).T
    order = np.argsort(x)
    np.testing.assert_array_equal(x[order], np.sort(Y[:, 0]))
    np.testing.assert_array_equal(np.round(row[order]), y[np.argsort(Y[:, 0])])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b", "c"]
    assert not ax.yaxis_inverted() or ax.get_ylim()[0] > ax.get_ylim()[1]
    assert len(plot_embedding(Y[:, :1], y, labels="legend").get_yticks()) == 0


def test_space() -> None:
    Y = np.random.default_rng(0).standard_normal((30, 3))
    y = np.arange(30) % 3
    ax = plot_embedding(Y, y)
    assert ax.name == "3d"
    places = np.ma.getdata(ax.collections[0]._offsets3d)
    in_order(np.array([np.asarray(axis) for axis in places]).T, Y)
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    ax.figure.canvas.draw()
    flat = plt.figure().add_subplot()
    with pytest.raises(ValueError, match=r"three-dimensional; create its Axes with add_subplot\(projection"):
        plot_embedding(Y, ax=flat)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_single_and_coinciding_samples(n_components: int) -> None:
    for Y in (np.zeros((1, n_components)), np.ones((5, n_components))):
        plot_embedding(Y, ["a"] * len(Y)).figure.canvas.draw()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Y": np.zeros((5, 4))}, "Y has 4 columns; a view has at most three"),
        ({"Y": np.full((5, 2), np.nan)}, "NaN"),
        ({"y": [0, 1]}, "y has 2 labels for 5 samples"),
        ({"y": [0.5, np.nan, 1, 1, 1]}, "1 of 5 labels in y is missing"),
        ({"labels": "center"}, "labels='center' must be one of 'centers', 'legend' or None"),
        ({"sizes": [1, 2]}, r"sizes=\[1, 2\] must be an area of at least 0, or one for each of the 5"),
        ({"sizes": -1}, "sizes=-1 must be an area"),
    ],
)
def test_refuses_wrong_views(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot_embedding(**{"Y": np.random.default_rng(0).random((5, 2)), **given})
    assert not plt.get_fignums()


def test_names_what_an_estimator_lacks() -> None:
    class Fitted(BaseEstimator):
        def fit(self, X: Any) -> Any:
            self.mean_ = X.mean()
            return self

    with pytest.raises(ValueError, match=r"Fitted has no embedding_\. Give the positions"):
        plot_embedding(Fitted().fit(np.zeros(3)))


# Images


@pytest.mark.parametrize("shape", [(8, 8), (6, 12), (8, 8, 3)])
@pytest.mark.parametrize("zoom", [0.5, 1.0, 3.0])
def test_images_stand_at_their_samples_and_never_overlap(shape: tuple[int, ...], zoom: float) -> None:
    rng = np.random.default_rng(0)
    Y, y = blobs(4, 40, 1.0)
    pictures = rng.random((len(Y), *shape))
    ax = plot_images(Y, pictures, y, zoom=zoom)
    shown = []
    boxes = []
    for image in ax.images:
        (index,) = np.flatnonzero((pictures == image.get_array()).reshape(len(Y), -1).all(axis=1))
        left, right, low, high = image.get_extent()
        np.testing.assert_allclose([(left + right) / 2, (low + high) / 2], Y[index])
        assert (high - low) / (right - left) == pytest.approx(shape[0] / shape[1])
        shown.append(index)
        boxes.append((left, right, low, high))
    for a, b in combinations(boxes, 2):
        assert a[0] >= b[1] or b[0] >= a[1] or a[2] >= b[3] or b[2] >= a[3]
    (frames,) = [artist for artist in ax.collections if isinstance(artist, PatchCollection)]
    np.testing.assert_allclose(frames.get_edgecolors()[:, :3], class_colors(4)[y[shown]])
    around = [path.get_extents() for path in frames.get_paths()]
    np.testing.assert_allclose([(box.x0, box.x1, box.y0, box.y1) for box in around], boxes)
    limits = np.array([ax.get_xlim(), ax.get_ylim()]).ravel()
    inside = np.array(boxes)
    assert (limits[0] <= inside[:, 0]).all()
    assert (inside[:, 1] <= limits[1]).all()
    assert (limits[2] <= inside[:, 2]).all()
    assert (inside[:, 3] <= limits[3]).all()
    in_order(scatter_of(ax).get_offsets(), Y)
    assert ax.get_aspect() == 1


def test_smaller_images_are_more_and_limited_in_number() -> None:
    Y = np.random.default_rng(0).random((2000, 2))
    pictures = np.zeros((2000, 2, 2))
    few, many = (len(plot_images(Y, pictures, zoom=zoom).images) for zoom in (2.0, 1.0))
    assert few < many
    assert len(plot_images(Y, pictures, n_images=17).images) == 17


@given(seed=st.integers(0, 1000), n=st.integers(1, 60), most=st.integers(1, 60), gap=st.floats(0.01, 0.5))
def test_chosen_points_are_apart_and_no_other_has_room(seed: int, n: int, most: int, gap: float) -> None:
    points = np.random.default_rng(seed).random((n, 2))
    chosen = _spread_out(points, most, gap)
    distances = np.abs(points[:, None] - points[chosen]).max(axis=2)
    assert 1 <= len(chosen) <= most
    assert all(np.abs(points[i] - points[j]).max() >= gap for i, j in combinations(chosen, 2))
    assert len(chosen) == most or (distances.min(axis=1) < gap).all()


def test_gray_images_share_a_scale() -> None:
    pictures = np.arange(12.0).reshape(3, 2, 2)
    ax = plot_images([[0, 0], [5, 0], [0, 5]], pictures, cmap="gray_r")
    assert {image.get_clim() for image in ax.images} == {(0.0, 11.0)}
    assert {image.get_cmap().name for image in ax.images} == {"gray_r"}
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"images": np.zeros((3, 4, 4))}, r"images.shape == \(3, 4, 4\), expected \(5, height, width\)"),
        ({"images": np.zeros((5, 16))}, r"images.shape == \(5, 16\).*Use reshape"),
        ({"images": np.zeros((5, 4, 4, 2))}, r"with 3 or 4 color channels"),
        ({"Y": np.zeros((5, 3))}, "in two dimensions, but the positions have 3"),
        ({"n_images": 0}, "n_images=0 must be an integer"),
        ({"zoom": 0}, "zoom=0 must be a number"),
    ],
)
def test_refuses_wrong_images(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot_images(**{"Y": np.random.default_rng(0).random((5, 2)), "images": np.zeros((5, 4, 4)), **given})


# Co-ranking matrices and curves of quality


@pytest.fixture(scope="module")
def spaces() -> Any:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    return SimpleNamespace(X=X, Y=X[:, :2], runs=[X[:, :2] + 0.3 * rng.standard_normal((40, 2)) for _ in range(4)])


def test_coranking_shows_the_counts_on_a_log_scale(spaces: Any) -> None:
    Q = coranking_matrix(spaces.X, spaces.Y)
    ax = plot_coranking(Q, n_neighbors=10)
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array().filled(0), Q)
    np.testing.assert_array_equal(np.ma.getmaskarray(image.get_array()), Q == 0)
    assert isinstance(image.norm, LogNorm)
    left, right, low, high = image.get_extent()
    assert (left, right, high, low) == (0.5, 39.5, 0.5, 39.5)  # ranks begin with one, at the top
    across, up = ax.lines
    assert list(across.get_ydata()) == [10.5, 10.5]
    assert list(up.get_xdata()) == [10.5, 10.5]
    ax.figure.canvas.draw()
    (bar,) = [other for other in ax.figure.axes if other is not ax]
    assert {"1", "2", "5"} <= {tick.get_text() for tick in bar.get_yticklabels()}


def test_coranking_up_to_a_rank(spaces: Any) -> None:
    Q = coranking_matrix(spaces.X, spaces.Y)
    (image,) = plot_coranking(Q, max_rank=7).images
    np.testing.assert_array_equal(image.get_array().filled(0), Q[:7, :7])


def test_a_perfect_view_can_be_drawn(spaces: Any) -> None:
    ax = plot_coranking(coranking_matrix(spaces.X, spaces.X))
    ax.figure.canvas.draw()
    assert (~np.ma.getmaskarray(ax.images[0].get_array())).sum() == 39


@pytest.mark.parametrize("n_ranks", [5, 600, 601, 1300, 1999])
def test_means_of_blocks(n_ranks: int) -> None:
    counts = np.random.default_rng(0).integers(0, 9, (n_ranks, n_ranks)).astype(np.int32)
    means = _block_means(counts)
    size = int(np.ceil(n_ranks / 600))
    assert means.shape == 2 * (int(np.ceil(n_ranks / size)),)
    for i, j in ((0, 0), (2, 1), (-1, -1), (-1, 0)):
        rows, columns = (np.arange(n_ranks)[(place % len(means)) * size :][:size] for place in (i, j))
        assert means[i, j] == pytest.approx(counts[np.ix_(rows, columns)].mean())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Q": np.ones((3, 4))}, r"Q of shape \(3, 4\) is not a co-ranking matrix"),
        ({"Q": [[1, -1], [0, 1]]}, "is not a co-ranking matrix"),
        ({"Q": np.zeros((3, 3))}, "is not a co-ranking matrix"),
        ({"max_rank": 4}, "max_rank=4 must be an integer"),
        ({"n_neighbors": 3, "max_rank": 2}, "n_neighbors=3 must be an integer"),
    ],
)
def test_refuses_wrong_coranking(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot_coranking(**{"Q": np.eye(3), **given})


@pytest.mark.parametrize("measure", ["q_nx", "r_nx", "b_nx", "lcmc", "trustworthiness", "continuity"])
def test_quality_shows_the_curve_of_a_view(measure: Any, spaces: Any) -> None:
    quality = view_quality(spaces.X, spaces.Y)
    ax = plot_quality({"a view": quality}, measure)
    line = ax.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 39))
    np.testing.assert_array_equal(line.get_ydata(), getattr(quality, measure))
    assert ax.get_xscale() == "log"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"a view\nAUC {quality.auc:.3f}"]
    assert not ax.collections
    gray = [line for line in ax.lines if to_rgb(line.get_color()) == to_rgb(MUTED)]
    assert len(gray) == (measure not in ("trustworthiness", "continuity"))
    if measure == "q_nx":
        np.testing.assert_allclose(gray[0].get_ydata(), np.arange(1, 39) / 39)
    ax.figure.canvas.draw()


def test_quality_of_runs_is_their_mean_and_deviation(spaces: Any) -> None:
    runs = [view_quality(spaces.X, Y) for Y in spaces.runs]
    ax = plot_quality({"runs": runs, "one": view_quality(spaces.X, spaces.Y)}, "q_nx")
    curves = np.array([run.q_nx for run in runs])
    mean, deviation = curves.mean(axis=0), curves.std(axis=0)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), mean)
    (band,) = ax.collections
    x, y = band.get_paths()[0].vertices.T
    for k in (1, 5, 38):
        assert y[x == k].min() == pytest.approx((mean - deviation)[k - 1])
        assert y[x == k].max() == pytest.approx((mean + deviation)[k - 1])
    np.testing.assert_allclose(band.get_facecolor()[0, :3], to_rgb(ax.lines[0].get_color()))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == f"runs\nAUC {np.mean([run.auc for run in runs]):.3f}"
    assert texts[1].startswith("one\nAUC ")


def test_quality_without_names(spaces: Any) -> None:
    quality = view_quality(spaces.X, spaces.Y)
    for given_runs in (quality, [quality, quality]):
        ax = plot_quality(given_runs)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"AUC {quality.auc:.3f}"]


def test_refuses_wrong_qualities(spaces: Any) -> None:
    quality, shorter = view_quality(spaces.X, spaces.Y), view_quality(spaces.X[:20], spaces.Y[:20])
    for wrong, message in (
        ({}, "no quality to show"),
        ({"a": []}, "no quality to show"),
        (spaces.Y, "results of view_quality, but got a ndarray"),
        ({"a": [quality, shorter]}, "The runs of 'a' have different numbers of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_quality(wrong)
    with pytest.raises(ValueError, match="measure='auc' must be one of"):
        plot_quality(quality, "auc")  # type: ignore[arg-type]
    assert len(plot_quality({"all": quality, "some": shorter}).lines) == 3


# Divergences

REFERENCES = [(1 / 3, 1 / 3, 1 / 3), (0.6, 0.3, 0.1)]
FAMILIES = [
    KullbackLeibler(),
    GeneralizedKullbackLeibler(),
    ItakuraSaito(),
    Eta(3.0),
    Beta(0.5),
    Alpha(-1.0),
    Alpha(2.0),
    Renyi(0.5),
    Hellinger(),
    Gamma(1.5),
    CauchySchwarz(),
    NeRV(0.3),
]
each_family = pytest.mark.parametrize("divergence", FAMILIES, ids=str)
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def densities_at(points: np.ndarray) -> np.ndarray:
    """Return densities (n, 3) from places (n, 2) in the triangle."""
    return np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), np.vstack([points.T, np.ones(len(points))])).T


@each_family
@pytest.mark.parametrize("direction", ["p", "q"])
def test_isolines_have_their_levels(divergence: Any, direction: Any) -> None:
    levels, reference = [0.02, 0.1, 0.25], REFERENCES[1]
    ax = plot_divergence_simplex(divergence, reference, levels=levels, direction=direction)
    lines = [line for line in ax.lines if len(line.get_xdata()) > 1]
    assert len(lines) == 3
    for line, level in zip(lines, levels):
        points = np.asarray(line.get_xydata())
        densities = densities_at(points[~np.isnan(points[:, 0])])
        assert len(densities)
        assert densities.min() > -1e-12
        pair = (densities, reference) if direction == "p" else (reference, densities)
        np.testing.assert_allclose(divergence.value(*pair), level, rtol=1e-5)
    (point,) = [line for line in ax.lines if len(line.get_xdata()) == 1]
    np.testing.assert_allclose(point.get_xydata()[0], reference @ CORNERS)


@pytest.mark.parametrize("direction", ["p", "q"])
def test_isolines_miss_no_part_of_the_triangle(direction: Any) -> None:
    """Where a straight way from the reference reaches a level within the triangle, there is a line on it."""
    reference = np.array([0.6, 0.3, 0.1])
    divergence = KullbackLeibler()
    ax = plot_divergence_simplex(divergence, reference, levels=[0.4], direction=direction)
    drawn = np.asarray(ax.lines[0].get_xydata())
    known = drawn[~np.isnan(drawn[:, 0])]
    sides = np.random.default_rng(0).dirichlet(np.ones(2), 60)
    for border in np.concatenate([np.insert(sides[20 * i : 20 * (i + 1)], i, 1e-9, axis=1) for i in range(3)]):
        shares = np.linspace(0, 1, 400)[:-1, None]
        way = (1 - shares) * reference + shares * border
        values = divergence.value(way, reference) if direction == "p" else divergence.value(reference, way)
        place = way[np.abs(values - 0.4).argmin()] @ CORNERS
        distance = np.hypot(*(known - place).T).min()
        assert distance < 0.02 or values.max() < 0.4 + 1e-3


def test_corners_of_the_triangle_are_named() -> None:
    ax = plot_divergence_simplex("kl", direction="q")
    named = {text.get_text(): np.array(text.get_position()) for text in ax.texts if "=" in text.get_text()}
    for number, corner in enumerate(CORNERS, start=1):
        assert np.hypot(*(named[f"$q_{number}$ = 1"] - corner)) < 0.05
    np.testing.assert_allclose(ax.patches[0].get_xy()[:3], CORNERS)


def test_levels_part_the_triangle_into_equal_areas() -> None:
    reference = np.array([0.5, 0.3, 0.2])
    ax = plot_divergence_simplex("kl", reference, levels=4)
    lines = [line for line in ax.lines if len(line.get_xdata()) > 1]
    levels = []
    for line in lines:
        points = np.asarray(line.get_xydata())
        levels.append(KullbackLeibler().value(densities_at(points[~np.isnan(points[:, 0])])[0], reference))
    random = np.random.default_rng(0).dirichlet(np.ones(3), 20_000)
    shares = [np.mean(KullbackLeibler().value(random, reference) < level) for level in levels]
    np.testing.assert_allclose(shares, [0.2, 0.4, 0.6, 0.8], atol=0.015)


@pytest.mark.parametrize("divergence", [KullbackLeibler(), ItakuraSaito(), Alpha(-1.0), Gamma(1.5)], ids=str)
def test_numbers_of_isolines_do_not_overlap(divergence: Any) -> None:
    for reference in REFERENCES:
        ax = plot_divergence_simplex(divergence, reference)
        boxes = boxes_of(ax)
        assert len(boxes) >= 3 + 5  # corners and lines
        assert not any(overlapping(*pair) for pair in combinations(boxes, 2))


@pytest.mark.parametrize(
    ("divergence", "reference"),
    [
        (KullbackLeibler(), REFERENCES[0]),
        (ItakuraSaito(), REFERENCES[1]),
        (ItakuraSaito(), (0.7, 0.5, 0.6)),  # not cut
        (Gamma(1.5), REFERENCES[0]),
        (Gamma(0.5), (0.7, 0.5, 0.6)),
    ],
    ids=str,
)
def test_surfaces_have_their_level_and_are_cut_by_the_densities(divergence: Any, reference: Any) -> None:
    level = 0.05
    ax = plot_divergence_octant(divergence, reference, level)
    lines = [artist for artist in ax.collections if isinstance(artist, Line3DCollection)]
    plane, surface = [artist for artist in ax.collections if isinstance(artist, Poly3DCollection)]
    corners = np.asarray(surface._faces)
    assert corners.shape[0] > 1000
    assert corners.min() > 0
    assert corners.max() <= 1
    np.testing.assert_allclose(divergence.value(corners, np.array(reference)), level, rtol=1e-5)
    np.testing.assert_array_equal(np.asarray(plane._faces)[0], np.eye(3))
    is_cut = np.ptp(np.sign(corners.sum(axis=2) - 1)) == 2
    assert len(lines) == is_cut
    assert is_cut == (isinstance(divergence, Gamma) or sum(reference) < 1.01)
    for line in lines:
        cut = np.asarray(line._segments3d)
        np.testing.assert_allclose(cut.sum(axis=2), 1.0, atol=1e-9)
        np.testing.assert_allclose(divergence.value(cut, np.array(reference)), level, rtol=0.05)


def test_the_surface_of_squared_distances_is_a_sphere() -> None:
    """Closed, all around, of the right area and with its outer side outside; its cut is a circle."""
    reference, level = np.array([0.4, 0.5, 0.45]), 0.09
    ax = plot_divergence_octant(Eta(2.0), reference, level)
    _, surface = [artist for artist in ax.collections if isinstance(artist, Poly3DCollection)]
    a, b, c = np.moveaxis(np.asarray(surface._faces) - reference, 1, 0)
    np.testing.assert_allclose(np.linalg.norm(a, axis=1), 0.3, rtol=1e-6)
    normals = 0.5 * np.cross(b - a, c - a)
    assert np.linalg.norm(normals, axis=1).sum() == pytest.approx(4 * np.pi * 0.09, rel=0.01)
    volume = (a * np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 0.027, rel=0.01)
    np.testing.assert_allclose(normals.sum(axis=0), 0.0, atol=1e-6)
    (lines,) = [artist for artist in ax.collections if isinstance(artist, Line3DCollection)]
    cut = np.asarray(lines._segments3d)
    apart = (reference.sum() - 1) / np.sqrt(3)
    length = np.linalg.norm(cut[:, 1] - cut[:, 0], axis=1).sum()
    assert length == pytest.approx(2 * np.pi * np.sqrt(0.09 - apart**2), rel=0.01)


def test_a_level_that_is_not_reached_leaves_the_cube_empty() -> None:
    ax = plot_divergence_octant(Hellinger(), level=5.0)
    assert len(ax.collections) == 2  # plane and reference
    ax.figure.canvas.draw()


def test_pictures_of_divergences_are_drawn_where_one_asks() -> None:
    figure = plt.figure()
    flat, space = figure.add_subplot(121), figure.add_subplot(122, projection="3d")
    assert plot_divergence_simplex(Gamma(0.5), ax=flat) is flat
    assert plot_divergence_octant("gamma", ax=space) is space
    assert plt.get_fignums() == [figure.number]
    assert flat.get_title() == "Gamma(gamma=0.5)"
    assert space.get_title() == "Gamma(gamma=0.5) = 0.1"
    figure.canvas.draw()


def test_refuses_wrong_divergences() -> None:
    for wrong, message in (
        ({"divergence": "euclid"}, "divergence='euclid' must be one of 'kl'"),
        ({"reference": (0.5, 0.5)}, "must be three positive numbers of at most 1"),
        ({"reference": (0.5, 0.5, 0.0)}, "must be three positive numbers"),
        ({"reference": (0.5, 0.5, 0.5)}, r"sums to 1\.5, but a density sums to 1"),
        ({"levels": 0}, "levels=0 must be an integer"),
        ({"levels": [-1.0, 1.0]}, r"levels=\[-1\.0, 1\.0\] must be positive numbers"),
        ({"levels": []}, r"levels=\[\] must be positive numbers"),
        ({"direction": "r"}, "direction='r' must be one of 'p', 'q'"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_divergence_simplex(**{"divergence": "kl", **wrong})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level=0 must be a number"):
        plot_divergence_octant("kl", level=0)
    with pytest.raises(ValueError, match="create its Axes with add_subplot"):
        plot_divergence_octant("kl", ax=plt.figure().add_subplot())


# All of them


def test_every_picture_is_drawn_into_the_axes_given_and_changes_no_settings(spaces: Any) -> None:
    before = mpl.rcParams.copy()
    quality = view_quality(spaces.X, spaces.Y)
    for plot, first in (
        (plot_embedding, (spaces.Y, np.arange(40) % 3)),
        (plot_images, (spaces.Y, np.zeros((40, 3, 3)))),
        (plot_coranking, (coranking_matrix(spaces.X, spaces.Y),)),
        (plot_quality, (quality,)),
    ):
        ax = plt.figure().add_subplot()
        figures = plt.get_fignums()
        assert plot(*first, ax=ax) is ax
        assert plt.get_fignums() == figures
        assert plot(*first).figure is not ax.figure
        ax.figure.canvas.draw()
    assert mpl.rcParams == before


def test_colors_are_those_of_the_shared_style(spaces: Any) -> None:
    ax = plot_embedding(spaces.Y, np.arange(40) % 2)
    assert {tuple(np.round(c[:3], 6)) for c in scatter_of(ax).get_facecolors()} == {
        tuple(np.round(to_rgb(c), 6)) for c in OKABE_ITO[:2]
    }
    assert {text.get_color() for text in ax.texts} == {INK}
