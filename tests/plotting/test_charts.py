"""Charts are drawn where they are, in the view and in the data; regions of a mapping are what the classifier says."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from experiments.datasets import make_toroidal_helix
from protolearn import GLVQ, LGMLVQ, Charting, KMeans, MatrixNeuralGas, PrototypeClassifier
from protolearn.datasets import make_twin_peaks
from protolearn.plotting import _classes as _lvq
from protolearn.plotting import plot_charts, plot_decision_regions
from protolearn.plotting.style import INK, class_colors, tint


@pytest.fixture(scope="module")
def peaks() -> np.ndarray:
    return make_twin_peaks(400, random_state=0)[0]


@pytest.fixture(scope="module")
def charting(peaks: np.ndarray) -> Charting:
    return Charting(n_charts=6, n_init=1, random_state=0).fit(peaks)


@pytest.fixture(scope="module")
def wine() -> tuple[np.ndarray, np.ndarray]:
    data = load_wine()
    return StandardScaler().fit_transform(data.data)[:, :5], data.target_names[data.target]


def points_of(ax: Any) -> PathCollection:
    (points,) = [part for part in ax.collections if isinstance(part, PathCollection)]
    return points


def shapes_of(ax: Any) -> np.ndarray:
    """Return the corners of all shapes, without the last one that closes them."""
    (shapes,) = [part for part in ax.collections if isinstance(part, PolyCollection)]
    if isinstance(shapes, Poly3DCollection):
        if hasattr(shapes, "_faces"):  # in Matplotlib since 3.10
            return np.asarray(shapes._faces)
        return np.array([shapes._vec[:3, part].T for part in shapes._segslices])
    return np.array([path.vertices[:-1] for path in shapes.get_paths()])


def in_space(points: Any) -> np.ndarray:
    return np.column_stack(points._offsets3d)


# Charts


def test_samples_are_in_the_view_in_the_color_of_their_chart(charting: Charting, peaks: np.ndarray) -> None:
    ax = plot_charts(charting, peaks)
    points = points_of(ax)
    np.testing.assert_allclose(points.get_offsets(), charting.embedding_)
    np.testing.assert_allclose(np.asarray(points.get_facecolors())[:, :3], class_colors(6)[charting.labels_])
    assert ax.get_title() == f"isometry defect {charting.isometry_defect_:.3g}"
    assert ax.get_aspect() == 1


@pytest.mark.parametrize("size", [1.0, 2.5])
def test_ellipses_have_the_moments_of_the_samples_in_a_chart(
    size: float, charting: Charting, peaks: np.ndarray
) -> None:
    """An affine map takes ellipses to ellipses, with the mean and covariance of the samples that it maps."""
    shares = charting.charts_.shares(peaks)
    z = charting.charts_.coordinates(peaks)
    blocks = charting.weights_.reshape(6, 3, 2)
    shapes = shapes_of(plot_charts(charting, peaks, size=size))
    assert len(shapes) == 6
    for chart, shape in enumerate(shapes):
        placed = z[:, chart] @ blocks[chart, :2] + blocks[chart, 2]
        mean = np.average(placed, axis=0, weights=shares[:, chart])
        covariance = np.cov(placed.T, aweights=shares[:, chart], bias=True)
        np.testing.assert_allclose(shape.mean(axis=0), mean, atol=1e-9)
        lengths = np.einsum("pi,ij,pj->p", shape - mean, np.linalg.inv(covariance), shape - mean)
        np.testing.assert_allclose(lengths, size**2, rtol=1e-6)


def test_charts_are_flat_pieces_of_the_data(charting: Charting, peaks: np.ndarray) -> None:
    ax = plot_charts(charting, peaks, space="data")
    assert ax.get_title() == ""
    assert ax.name == "3d"
    np.testing.assert_allclose(in_space(points_of(ax)), peaks)
    axes, centers = charting.charts_.axes, charting.local_model_.prototypes_
    for shape, own, center in zip(shapes_of(ax), axes, centers, strict=True):
        gaps = shape - center
        np.testing.assert_allclose(gaps @ np.linalg.pinv(own) @ own, gaps, atol=1e-9)  # in the plane of the chart
    # The way from the data to the view is that of the charts.
    z = np.einsum("kpd,kmd->kpm", shapes_of(ax) - centers[:, None], axes)
    blocks = charting.weights_.reshape(6, 3, 2)
    placed = z @ blocks[:, :2] + blocks[:, 2:]
    np.testing.assert_allclose(placed, shapes_of(plot_charts(charting, peaks)), atol=1e-9)


def test_colors_of_classes_and_values(charting: Charting, peaks: np.ndarray) -> None:
    y = np.where(peaks[:, 0] > 0, "right", "left")
    ax = plot_charts(charting, peaks, y)
    np.testing.assert_allclose(
        np.asarray(points_of(ax).get_facecolors())[:, :3], class_colors(2)[(peaks[:, 0] > 0).astype(int)]
    )
    (shapes,) = [part for part in ax.collections if isinstance(part, PolyCollection)]
    np.testing.assert_allclose(np.asarray(shapes.get_edgecolor())[:, :3], np.tile(to_rgb(INK), (6, 1)))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["left", "right"]
    assert len(plot_charts(charting, peaks, peaks[:, 0]).figure.axes) == 2  # a color bar
    without = plot_charts(charting, peaks)
    (shapes,) = [part for part in without.collections if isinstance(part, PolyCollection)]
    np.testing.assert_allclose(np.asarray(shapes.get_edgecolor())[:, :3], class_colors(6))
    assert without.get_legend() is None


def test_ellipses_keep_their_colors_without_empty_charts(charting: Charting, peaks: np.ndarray) -> None:
    some = peaks[charting.charts_.shares(peaks)[:, 2] == 0]
    used = charting.charts_.shares(some).any(axis=0)
    assert not used[2]
    ax = plot_charts(charting, some)
    (shapes,) = [part for part in ax.collections if isinstance(part, PolyCollection)]
    assert len(shapes.get_paths()) == used.sum()
    np.testing.assert_allclose(np.asarray(shapes.get_edgecolor())[:, :3], class_colors(6)[used])


def test_charts_of_one_dimension_are_lines() -> None:
    X = make_toroidal_helix(300, random_state=0)[0]
    model = Charting(1, n_charts=12, n_init=1, random_state=0).fit(X)
    for shape in shapes_of(plot_charts(model, X, space="data")):
        assert np.linalg.svd(shape - shape.mean(axis=0), compute_uv=False)[1] < 1e-9
    with pytest.raises(ValueError, match=r"but the view has 1\. plot_embedding\(charting, charting\.labels_\)"):
        plot_charts(model, X)


def test_charts_of_three_dimensions_are_three_ellipses(wine: Any) -> None:
    X, _ = wine
    model = Charting(3, n_charts=2, n_init=1, random_state=0).fit(X)
    ax = plot_charts(model, X)
    np.testing.assert_allclose(in_space(points_of(ax)), model.embedding_)
    shapes = shapes_of(ax)
    assert len(shapes) == 6
    for three in shapes.reshape(2, 3, *shapes.shape[1:]):
        np.testing.assert_allclose(three.mean(axis=1), np.tile(three.mean(axis=(0, 1)), (3, 1)), atol=1e-9)
        gaps = three - three.mean(axis=(0, 1))
        assert [np.linalg.matrix_rank(one, tol=1e-9) for one in gaps] == [2, 2, 2]
        assert np.linalg.matrix_rank(np.concatenate(gaps), tol=1e-9) == 3


def test_more_than_three_features_are_shown_by_principal_components(wine: Any) -> None:
    X, y = wine
    model = Charting(local_model=LGMLVQ(n_components=2, max_iter=10, random_state=0), n_init=1).fit(X, y)
    ax = plot_charts(model, X, y, space="data")
    np.testing.assert_allclose(in_space(points_of(ax)), PCA(3).fit_transform(X), atol=1e-9)
    assert len(shapes_of(ax)) == 3


def test_a_chart_far_away_does_not_squeeze_the_samples(charting: Charting, peaks: np.ndarray) -> None:
    ax = plot_charts(charting, peaks, size=50.0)
    width = np.ptp(charting.embedding_[:, 0])
    assert np.ptp(ax.get_xlim()) < 1.6 * max(width, np.ptp(charting.embedding_[:, 1]))


def test_names_of_features_are_kept(peaks: np.ndarray, recwarn: pytest.WarningsRecorder) -> None:
    X = pd.DataFrame(peaks, columns=["a", "b", "height"])
    model = Charting(n_charts=4, n_init=1, random_state=0).fit(X)
    plot_charts(model, X)
    assert not [warning for warning in recwarn if "feature names" in str(warning.message)]


def test_draws_into_the_axes_given(charting: Charting, peaks: np.ndarray) -> None:
    before = mpl.rcParams.copy()
    ax = plt.figure().add_subplot()
    assert plot_charts(charting, peaks, ax=ax) is ax
    assert len(plt.get_fignums()) == 1
    assert mpl.rcParams == before
    with pytest.raises(ValueError, match="This plot is three-dimensional"):
        plot_charts(charting, peaks, space="data", ax=ax)


def test_charts_that_cannot_be_shown(charting: Charting, peaks: np.ndarray) -> None:
    with pytest.raises(NotFittedError):
        plot_charts(Charting(), peaks)
    with pytest.raises(ValueError, match="PCA has none"):
        plot_charts(PCA(2).fit(peaks), peaks)
    with pytest.raises(ValueError, match="space='plane' must be one of 'view', 'data'"):
        plot_charts(charting, peaks, space="plane")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size=0 must be a number"):
        plot_charts(charting, peaks, size=0)
    with pytest.raises(ValueError, match="y has 3 labels for 400 samples"):
        plot_charts(charting, peaks, [0, 1, 2])
    assert not plt.get_fignums()


# Regions of a classifier behind a mapping.


@pytest.fixture(autouse=True)
def _coarse_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lvq, "GRID", 60)


def pixels(ax: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the centers of all pixels and their colors."""
    (image,) = ax.images
    shades = np.asarray(image.get_array())
    left, right, bottom, top = image.get_extent()
    n_rows, n_columns = shades.shape[:2]
    x = left + (right - left) * (np.arange(n_columns) + 0.5) / n_columns
    y = bottom + (top - bottom) * (np.arange(n_rows) + 0.5) / n_rows
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), shades.reshape(-1, 3)


MAPPINGS = {
    "PCA": PCA(2),
    "pipeline": make_pipeline(StandardScaler(), PCA(2)),
    "charting": Charting(local_model=MatrixNeuralGas(3, random_state=0), n_init=1, random_state=0),
}


@pytest.mark.parametrize("mapping", MAPPINGS.values(), ids=MAPPINGS)
def test_a_place_has_the_class_of_the_sample_that_is_mapped_there(mapping: Any, wine: Any) -> None:
    X, y = wine
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    mapping.fit(X)
    ax = plot_decision_regions(model, X, y, mapping=mapping)
    np.testing.assert_allclose(points_of(ax).get_offsets(), mapping.transform(X))
    places, colors = pixels(ax)
    expected = np.searchsorted(model.classes_, model.predict(mapping.inverse_transform(places)))
    np.testing.assert_allclose(colors, tint(class_colors(3), 0.22)[expected])
    assert len(np.unique(expected)) > 1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("coordinate 1", "coordinate 2")


def test_prototypes_are_mapped_too(wine: Any) -> None:
    X, y = wine
    mapping = PCA(2).fit(X)
    model = GLVQ(2, max_iter=10, random_state=0).fit(X, y)
    _, prototypes = [part for part in plot_decision_regions(model, X, y, mapping=mapping).collections if sized(part)]
    np.testing.assert_allclose(prototypes.get_offsets(), mapping.transform(model.prototypes_))
    inside = PrototypeClassifier(KMeans(5, random_state=0)).fit(X, y)
    _, prototypes = [part for part in plot_decision_regions(inside, X, y, mapping=mapping).collections if sized(part)]
    np.testing.assert_allclose(prototypes.get_offsets(), mapping.transform(inside.estimator_.prototypes_))


def sized(part: Any) -> bool:
    return type(part) is PathCollection


@pytest.mark.filterwarnings("error")
def test_names_are_kept_on_the_way_back(wine: Any) -> None:
    X = pd.DataFrame(wine[0], columns=list("abcde"))
    mapping = PCA(2).fit(X)
    model = GLVQ(random_state=0).fit(X, wine[1])
    named, bare = (
        pixels(plot_decision_regions(one, data, wine[1], mapping=way))[1]
        for one, data, way in (
            (model, X, mapping),
            (GLVQ(random_state=0).fit(*wine), wine[0], PCA(2).fit(wine[0])),
        )
    )
    np.testing.assert_allclose(named, bare)


def test_mappings_that_cannot_be_shown(wine: Any) -> None:
    X, y = wine
    model = GLVQ(max_iter=5, random_state=0).fit(X, y)
    with pytest.raises(NotFittedError):
        plot_decision_regions(model, X, y, mapping=PCA(2))
    with pytest.raises(ValueError, match=r"Isomap is not invertible.*classifier to their positions"):
        plot_decision_regions(model, X, y, mapping=Isomap(n_components=2).fit(X))
    with pytest.raises(ValueError, match=r"the plane of two features, but the view has 3\."):
        plot_decision_regions(model, X, y, mapping=PCA(3).fit(X))
    assert not plt.get_fignums()
