"""Pictures of maps of dissimilarities show the right objects, curves, distances and eigenvalues, and stay legible."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import sklearn
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.path import Path
from matplotlib.transforms import Affine2D
from scipy import sparse
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import spearmanr
from sklearn.exceptions import NotFittedError

import protolearn.plotting as plotting
from protolearn import (
    SOM,
    MedianSOM,
    NeuralGas,
    PrototypeClassifier,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from protolearn.core.lattices import Lattice, chain, hexagonal, hyperbolic, rectangular, tree
from protolearn.dissimilarities import edit, spectrum
from protolearn.metrics import stress
from protolearn.plotting import (
    plot_class_map,
    plot_examples,
    plot_history,
    plot_hits,
    plot_profiles,
    plot_prototype_view,
    plot_spectrum,
    plot_topographic_function,
    plot_u_matrix,
)
from protolearn.plotting._labels import LabelBox, _overlapping
from protolearn.plotting.cells import focused
from protolearn.plotting.style import EMPTY, INK, class_colors, tint

LATTICES = [
    hyperbolic(7, 3),
    hexagonal(5, 6),
    rectangular(4, 9),
    chain(12),
    tree(3, 3),
]
each_lattice = pytest.mark.parametrize("lattice", LATTICES, ids=str)


@pytest.fixture(scope="module")
def words() -> list[str]:
    rng = np.random.default_rng(0)
    stems = ["".join(rng.choice(list("aeioubdglmnrst"), rng.integers(2, 10))) for _ in range(10)]
    return [f"{stem}{ending}" for stem in stems for ending in ("", "a", "is", "ut", "ing", "ssimo", "ation", "ly", "n")]


@pytest.fixture(scope="module")
def D(words: list[str]) -> np.ndarray:
    return edit(words)


@pytest.fixture(scope="module")
def disc(D: np.ndarray) -> RelationalSOM:
    return RelationalSOM(hyperbolic(7, 2), max_iter=10, random_state=0).fit(D)


@pytest.fixture(scope="module")
def sheet(D: np.ndarray) -> RelationalSOM:
    return RelationalSOM(hexagonal(4, 5), max_iter=10, random_state=0).fit(D)


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    return rng.standard_normal((90, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def written(ax: Any) -> dict[int, list[str]]:
    """Return the lines written nearest to each node."""
    nodes = nodes_of(ax)
    return {int(np.hypot(*(nodes - text.get_position()).T).argmin()): text.get_text().split("\n") for text in ax.texts}


def nodes_of(ax: Any) -> np.ndarray:
    boxes = [path.get_extents() for path in ax.collections[0].get_paths()]
    return np.array([(box.p0 + box.p1) / 2 for box in boxes])


def boxes_of(ax: Any) -> list[np.ndarray]:
    """Return the corners (4, 2) in pixels of each text as it is drawn."""
    ax.figure.canvas.draw()
    boxes = []
    for text in ax.texts:
        angle = text.get_rotation()
        text.set_rotation(0)
        low, high = text.get_window_extent().get_points()
        text.set_rotation(angle)
        turn = Affine2D().rotate_deg_around(*ax.transData.transform(text.get_position()), angle)
        boxes.append(turn.transform([low, (high[0], low[1]), high, (low[0], high[1])]))
    return boxes


def meet(first: np.ndarray, second: np.ndarray) -> bool:
    """Tell whether one of many points of a rectangle lies in the other."""
    if (first.min(axis=0) > second.max(axis=0)).any() or (second.min(axis=0) > first.max(axis=0)).any():
        return False
    steps = np.linspace(0, 1, 30)
    for a, b in ((first, second), (second, first)):
        across, up = np.meshgrid(steps, steps)
        points = a[0] + across.ravel()[:, None] * (a[1] - a[0]) + up.ravel()[:, None] * (a[3] - a[0])
        if Path(b).contains_points(points).any():
            return True
    return False


# Examples


@each_lattice
@pytest.mark.parametrize("n_examples", [1, 3])
def test_words_can_be_read_and_never_overlap(lattice: Lattice, n_examples: int, words: Any, D: Any) -> None:
    som = RelationalSOM(lattice, max_iter=5, random_state=0).fit(D)
    ax = plot_examples(som, words, n_examples=n_examples)
    assert len(ax.texts) > 0.6 * np.count_nonzero(som.multiplicities_)
    for factor in (1.0, 0.75, 2.0):  # also when the figure is resized
        ax.figure.set_size_inches(factor * ax.figure.get_size_inches())
        boxes = boxes_of(ax)
        assert not any(meet(*pair) for pair in combinations(boxes, 2))
        frame = ax.get_window_extent().padded(2).get_points()
        assert ((frame[0] <= boxes) & (boxes <= frame[1])).all()
        if factor == 1.0:
            sizes = [text.get_fontsize() for text in ax.texts]
            assert 5.0 < min(sizes) <= max(sizes) < 13.0


def test_rectangles_that_meet() -> None:
    rng = np.random.default_rng(0)
    boxes = np.array(
        [LabelBox(rng.random(2), 0.1 + 0.4 * rng.random(2), 1.0, angle).corners for angle in rng.uniform(0, np.pi, 60)]
    )
    expected = [[meet(box, other) for other in boxes] for box in boxes]
    assert 0.2 < np.mean(expected) < 0.8
    disagree = np.array([_overlapping(box, boxes) for box in boxes]) != expected
    assert disagree.mean() < 0.01  # corners may touch between the points that are looked at


def test_words_beyond_the_border_do_not_get_too_small(disc: Any, words: Any) -> None:
    """Widening the Axes for long words shrinks all that is in them."""
    ax = plot_examples(disc, [f"{word} with a longer tale" for word in words])
    assert np.ptp(ax.get_xlim()) > 2.3
    ax.figure.canvas.draw()
    assert min(text.get_fontsize() for text in ax.texts) > 5.5


def test_words_grow_with_the_figure(disc: Any, words: Any) -> None:
    ax = plot_examples(disc, words)
    ax.figure.set_layout_engine("none")
    ax.figure.canvas.draw()
    before = np.array([text.get_fontsize() for text in ax.texts])
    ax.figure.set_size_inches(2 * ax.figure.get_size_inches())
    ax.figure.canvas.draw()
    np.testing.assert_allclose([text.get_fontsize() for text in ax.texts], 2 * before)


def test_each_node_shows_its_own_samples_nearest_first(sheet: Any, words: Any, D: Any) -> None:
    distances = sheet.transform(D)
    shown = written(plot_examples(sheet, words, D, n_examples=2))
    assert set(shown) == set(sheet.labels_.tolist())
    for node, lines in shown.items():
        own = sorted(np.flatnonzero(distances.argmin(axis=1) == node), key=lambda i: distances[i, node])
        assert lines == [words[i] for i in own[:2]]


def test_of_a_fit_the_examples_the_map_has_kept_come_first(sheet: Any, words: Any) -> None:
    shown = written(plot_examples(sheet, words, n_examples=99))
    for node, lines in shown.items():
        kept = [words[i] for i in sheet.prototype_examples_[node] if sheet.labels_[i] == node]
        assert lines[: len(kept)] == kept
        assert sorted(lines) == sorted(words[i] for i in np.flatnonzero(sheet.labels_ == node))


def test_new_objects_can_be_shown(words: Any) -> None:
    som = RelationalSOM((2, 3), metric="edit", max_iter=5, random_state=0).fit(words)
    new = ["anew", "other"]
    lines = written(plot_examples(som, new, new, n_examples=2)).values()
    assert sorted(chained for each in lines for chained in each) == new


def test_a_map_of_vectors_shows_examples_of_given_samples(som: SOM, iris: Any) -> None:
    X, _ = iris
    numbers = np.arange(len(X))
    with pytest.raises(ValueError, match="SOM has not stored which of these samples are nearest"):
        plot_examples(som, numbers)
    squares = cdist(X, som.prototypes_) ** 2
    for node, (line,) in written(plot_examples(som, numbers, X)).items():
        own = np.flatnonzero(squares.argmin(axis=1) == node)
        assert squares[int(line), node] == pytest.approx(squares[own, node].min())


def test_text_is_short_plain_and_not_repeated(sheet: Any, words: Any) -> None:
    ax = plot_examples(sheet, ["$x_1$  and\na very long line of words"] * len(words), n_examples=5)
    assert {text.get_text() for text in ax.texts} == {"$x_1$ and a very long l…"}
    ax.figure.canvas.draw()


def test_objects_are_drawn_on_their_nodes(sheet: Any, words: Any) -> None:
    calls: list[tuple[Any, str]] = []
    ax = plot_examples(sheet, words, n_examples=2, draw=lambda *given: calls.append(given))
    ax.figure.canvas.draw()
    hits = np.bincount(sheet.labels_, minlength=20)
    assert len(calls) == np.minimum(hits, 2).sum()
    assert not ax.texts
    for inset, word in calls:
        middle = ax.transData.inverted().transform(inset.get_window_extent().get_points().mean(axis=0))
        node = sheet.labels_[words.index(word)]
        np.testing.assert_allclose(middle, sheet.lattice_.coordinates[node], atol=1e-6)
        assert not inset.axison


def test_examples_stand_on_a_map_of_the_classes(sheet: Any, words: Any) -> None:
    y = np.arange(len(words)) % 3
    ax, plain = plot_examples(sheet, words, y=y), plot_class_map(sheet, y=y)
    cells, pies = ax.collections[0], ax.collections[-1]
    counts = np.zeros((20, 3))
    np.add.at(counts, (sheet.labels_, y), 1)
    pale = [tint(class_colors(3), 0.15)[row.argmax()] if row.any() else to_rgb(EMPTY) for row in counts]
    np.testing.assert_allclose(np.asarray(cells.get_facecolor())[:, :3], pale)
    for mine, theirs in zip(pies.get_paths(), plain.collections[-1].get_paths(), strict=True):
        np.testing.assert_allclose(mine.vertices, theirs.vertices)
    strong = np.asarray(plain.collections[-1].get_facecolor())[:, :3]
    np.testing.assert_allclose(np.asarray(pies.get_facecolor())[:, :3], tint(strong, 0.5))
    legends = [[text.get_text() for text in each.get_legend().get_texts()] for each in (ax, plain)]
    assert legends[0] == legends[1]


def test_without_classes_all_nodes_with_samples_look_alike(disc: Any, words: Any) -> None:
    ax = plot_examples(disc, words)
    colors = np.asarray(ax.collections[0].get_facecolor())[:, :3]
    won = disc.multiplicities_ > 0
    np.testing.assert_allclose(colors[~won], np.tile(to_rgb(EMPTY), ((~won).sum(), 1)))
    assert len(np.unique(colors[won], axis=0)) == 1
    assert len(ax.get_legend().get_texts()) == 1


def test_examples_need_an_object_for_each_sample(sheet: Any, words: Any, D: Any) -> None:
    with pytest.raises(ValueError, match="There are 3 objects for 90 samples; give one for each"):
        plot_examples(sheet, words[:3])
    with pytest.raises(ValueError, match="There are 90 objects for 5 samples"):
        plot_examples(sheet, words, D[:5])
    with pytest.raises(ValueError, match="n_examples=0"):
        plot_examples(sheet, words, n_examples=0)
    assert not plt.get_fignums()


def test_objects_of_earlier_patches_are_not_mixed_up(words: Any) -> None:
    som = RelationalSOM((2, 2), metric="edit", max_iter=3, random_state=0).partial_fit(words[:60])
    som.partial_fit(words[60:])
    with pytest.raises(ValueError, match="give the samples X of the objects"):
        plot_examples(som, words[60:])
    assert plot_examples(som, words, words).texts


# Focus


@pytest.mark.parametrize("focus", [0, 3, 28])
def test_focus_is_a_motion_that_takes_a_node_to_the_center(focus: int) -> None:
    lattice = hyperbolic(7, 2)
    moved = focused(lattice, focus)
    np.testing.assert_allclose(moved.coordinates[focus], 0.0, atol=1e-12)

    def distances(points: np.ndarray) -> np.ndarray:
        depth = 1 - (points**2).sum(axis=1)
        return np.arccosh(1 + 2 * cdist(points, points, "sqeuclidean") / np.outer(depth, depth))

    off = ~np.eye(29, dtype=bool)
    np.testing.assert_allclose(distances(moved.coordinates)[off], distances(lattice.coordinates)[off], rtol=1e-9)
    # a translation along a line through the center turns nothing there
    direction, opposite = lattice.coordinates[focus], moved.coordinates[0]
    assert direction @ opposite == pytest.approx(-(np.hypot(*direction) * np.hypot(*opposite)), abs=1e-12)
    np.testing.assert_array_equal(moved.edges, lattice.edges)


@pytest.mark.parametrize("plot", [plot_u_matrix, plot_hits, plot_class_map, plot_examples, plot_profiles])
def test_any_map_can_be_focused(plot: Any, disc: Any, sheet: Any, words: Any, D: Any) -> None:
    given = {plot_class_map: {"y": words}, plot_examples: {"objects": words}, plot_profiles: {"curves": D}}.get(
        plot, {}
    )
    np.testing.assert_allclose(nodes_of(plot(disc, **given, focus=9))[9], 0.0, atol=1e-9)
    np.testing.assert_allclose(nodes_of(plot(disc, **given)), disc.lattice_.coordinates, atol=1e-6)
    with pytest.raises(
        ValueError, match=r"focus=9 needs a hyperbolic lattice, but this is a Lattice\(hexagonal, 4 x 5"
    ):
        plot(sheet, **given, focus=9)
    for wrong in (29, -1, 0.5):
        with pytest.raises(ValueError, match=f"focus={wrong} must be an integer in"):
            plot(disc, **given, focus=wrong)


# The pictures of all maps


def test_u_matrix_is_that_of_the_same_prototypes(blobs: Any) -> None:
    X, _ = blobs
    related = RelationalSOM((4, 5), max_iter=10, random_state=0).fit(cdist(X, X))
    vectors = SOM((4, 5), max_iter=1).fit(X)
    vectors.prototypes_ = related.coefficients_ @ X[related.support_]
    shown, expected = (plot_u_matrix(each).collections[0].get_array() for each in (related, vectors))
    np.testing.assert_allclose(shown, expected, rtol=1e-6)
    assert np.ptp(expected) > 0.1


@pytest.mark.parametrize("kind", [RelationalSOM, MedianSOM])
def test_pictures_of_the_lattice_show_the_fit(kind: Any, D: Any, words: Any) -> None:
    som = kind(hexagonal(4, 5), max_iter=5, random_state=0).fit(D)
    hits = np.bincount(som.labels_, minlength=20)
    np.testing.assert_allclose(plot_hits(som).collections[0].get_array().filled(0), hits)
    np.testing.assert_allclose(plot_hits(som, D).collections[0].get_array().filled(0), hits)
    np.testing.assert_allclose(plot_history(som).lines[0].get_ydata(), som.cost_history_)
    assert plot_topographic_function(som).patches
    classes = [text.get_text() for text in plot_class_map(som, D, [w[0] for w in words]).get_legend().get_texts()]
    assert classes[:-1] == sorted({word[0] for word in words})


def test_pictures_of_vectors_say_what_to_draw_instead(sheet: Any) -> None:
    for plot in (plotting.plot_component_planes, plotting.plot_prototypes, plotting.plot_graph):
        with pytest.raises(
            ValueError, match=r"RelationalSOM represents them by diss.*plot_prototype_view.*plot_examples"
        ):
            plot(sheet)
    with pytest.raises(ValueError, match="and plot_prototype_view for maps of dissimilarities"):
        plot_u_matrix(RelationalKMeans(3, random_state=0).fit(1 - np.eye(5)))
    assert not plt.get_fignums()


# Profiles


@pytest.mark.parametrize("lattice", [rectangular(3, 4), hexagonal(3, 4), hyperbolic(7, 1), chain(6)], ids=str)
def test_profiles_are_the_curves_of_each_node_on_one_scale(lattice: Lattice) -> None:
    rng = np.random.default_rng(0)
    curves = np.cumsum(rng.standard_normal((50, 8)), axis=1)
    som = RelationalSOM(lattice, max_iter=5, random_state=0).fit(cdist(curves, curves))
    ax = plot_profiles(som, curves)
    members, means = (part for part in ax.collections[-2:] if isinstance(part, LineCollection))
    nodes = np.unique(som.labels_)
    expected_means = np.array([curves[som.labels_ == node].mean(axis=0) for node in nodes])
    low, span = curves.min(), np.ptp(curves)
    for part, values, owners in ((members, curves, som.labels_), (means, expected_means, nodes)):
        lines = np.array(part.get_segments()) - lattice.coordinates[owners][:, None]
        np.testing.assert_allclose(lines[:, 0, 0], -lines[:, -1, 0])
        np.testing.assert_allclose(np.diff(lines[..., 0], n=2, axis=1), 0.0, atol=1e-12)
        half = lines[:, -1, 0] * (0.66 / 0.82 if lattice.kind == "hexagonal" else 1.0)
        np.testing.assert_allclose(lines[..., 1] / half[:, None], 2 * (values - low) / span - 1, atol=1e-9)
    for path, owner in zip(members.get_paths(), som.labels_):
        assert ax.collections[0].get_paths()[owner].contains_points(path.vertices, radius=1e-9).all()


def test_profiles_are_colored_by_class(blobs: Any) -> None:
    X, y = blobs
    som = RelationalSOM((3, 4), max_iter=5, random_state=0).fit(cdist(X, X))
    ax, plain = plot_profiles(som, X, y=y), plot_class_map(som, y=y)
    weaker, paler = (np.asarray(each.collections[0].get_facecolor())[:, :3] for each in (ax, plain))
    won = som.multiplicities_ > 0
    np.testing.assert_allclose((1 - weaker[won]) / 0.25, (1 - paler[won]) / 0.35)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    assert plot_profiles(som, X).get_legend() is None


def test_profiles_need_a_curve_for_each_sample(sheet: Any) -> None:
    with pytest.raises(ValueError, match="There are 5 curves for 90 samples"):
        plot_profiles(sheet, np.zeros((5, 3)))
    with pytest.raises(ValueError, match="minimum of 2"):
        plot_profiles(sheet, np.zeros((90, 1)))
    flat = plot_profiles(sheet, np.ones((90, 3)))
    assert np.isfinite(np.array(flat.collections[-1].get_segments())).all()


# The view of prototypes


def dots_of(ax: Any) -> PathCollection:
    (dots,) = [part for part in ax.collections if isinstance(part, PathCollection)]
    return dots


def points_of(ax: Any) -> np.ndarray:
    return np.asarray(dots_of(ax).get_offsets())


def test_a_plane_is_shown_as_it_is(blobs: Any) -> None:
    X, _ = blobs
    gas = RelationalNeuralGas(12, max_iter=10, random_state=0).fit(cdist(X, X))
    prototypes = gas.coefficients_ @ X[gas.support_]
    np.testing.assert_allclose(pdist(points_of(plot_prototype_view(gas))), pdist(prototypes), atol=1e-5)
    order = pdist(points_of(plot_prototype_view(gas, "nonmetric")))
    assert spearmanr(order, pdist(prototypes)).statistic > 0.999
    vectors = NeuralGas(12, max_iter=10, random_state=0).fit(X)
    np.testing.assert_allclose(pdist(points_of(plot_prototype_view(vectors))), pdist(vectors.prototypes_), atol=1e-5)


def test_the_view_has_little_stress_and_tells_it_in_the_title(D: Any) -> None:
    gas = RelationalNeuralGas(15, max_iter=10, random_state=0).fit(D)
    distances = np.sqrt(gas.prototype_dissimilarities_)
    metric, order = plot_prototype_view(gas), plot_prototype_view(gas, "nonmetric")
    found = stress(distances, points_of(metric)), stress(distances, points_of(order), nonmetric=True)
    assert metric.get_title() == f"metric scaling, stress-1 {found[0]:.3f}"
    assert order.get_title() == f"nonmetric scaling, stress-1 {found[1]:.3f}"
    gain = 0.95 if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8) else 1.0  # which went on to the end
    assert found[1] < gain * stress(distances, points_of(metric), nonmetric=True)
    rng = np.random.default_rng(0)
    lost = ((distances - cdist(points_of(metric), points_of(metric))) ** 2).sum()  # what the picture makes small
    for moved in points_of(metric) + 0.1 * rng.standard_normal((50, 15, 2)):
        assert lost < ((distances - cdist(moved, moved)) ** 2).sum()


def test_dots_and_edges_of_the_view(blobs: Any) -> None:
    X, y = blobs
    gas = RelationalNeuralGas(12, max_iter=10, random_state=0).fit(cdist(X, X))
    ax = plot_prototype_view(gas, y=y)
    dots = dots_of(ax)
    np.testing.assert_allclose(
        dots.get_sizes() / dots.get_sizes().max(), gas.multiplicities_ / gas.multiplicities_.max()
    )
    majority = [np.bincount(y[gas.labels_ == node]).argmax() for node in range(12)]
    np.testing.assert_allclose(np.asarray(dots.get_facecolor())[:, :3], class_colors(3)[majority])
    (edges,) = [part for part in ax.collections if isinstance(part, LineCollection)]
    upper = sparse.triu(gas.graph_).tocoo()
    ends = np.asarray(dots.get_offsets())
    np.testing.assert_allclose(np.array(edges.get_segments()), np.stack([ends[upper.row], ends[upper.col]], axis=1))
    widths = np.asarray(edges.get_linewidth())
    np.testing.assert_allclose(widths[upper.data == upper.data.max()], widths.max())
    assert (np.argsort(widths, kind="stable") == np.argsort(upper.data, kind="stable")).all()


def test_prototypes_without_samples_are_small_and_dark(disc: Any) -> None:
    dots = dots_of(plot_prototype_view(disc))
    idle = disc.multiplicities_ == 0
    assert idle.any()
    np.testing.assert_allclose(np.asarray(dots.get_facecolor())[idle, :3], np.tile(to_rgb(INK), (idle.sum(), 1)))
    assert dots.get_sizes()[idle].max() < dots.get_sizes()[~idle].min()


def test_negative_squares_are_counted() -> None:
    signs = np.array([1, 1, -1, -1])
    X = np.random.default_rng(0).standard_normal((40, 4))
    S = (X[:, None] - X) ** 2 @ signs
    gas = RelationalNeuralGas(8, squared=True, max_iter=5, random_state=0).fit(S)
    negative = (gas.prototype_dissimilarities_[np.triu_indices(8, 1)] < 0).sum()
    assert negative
    assert plot_prototype_view(gas).get_title().endswith(f"; {negative} negative squares shown as zero")


@pytest.mark.filterwarnings("ignore:Only 1 distinct objects")
def test_prototypes_that_coincide_or_are_alone_can_be_shown() -> None:
    for n_prototypes, kind in ((1, "metric"), (2, "nonmetric"), (3, "metric")):
        gas = RelationalNeuralGas(n_prototypes, init="random", random_state=0).fit(np.zeros((4, 4)))
        ax = plot_prototype_view(gas, kind)
        assert ax.get_title() == f"{kind} scaling"
        ax.figure.canvas.draw()


def test_unknown_kind(disc: Any) -> None:
    with pytest.raises(ValueError, match="kind='linear' must be one of 'metric', 'nonmetric'"):
        plot_prototype_view(disc, "linear")


# The spectrum


def test_spectrum_of_pseudo_euclidean_points() -> None:
    X, signs = np.random.default_rng(0).standard_normal((30, 5)), np.array([1, 1, 1, -1, -1])
    S = (X[:, None] - X) ** 2 @ signs
    ax = plot_spectrum(S, squared=True)
    values = spectrum(S, squared=True) / np.abs(S).mean()
    positive, negative = (line.get_xydata() for line in ax.lines[:2])
    np.testing.assert_allclose(positive, np.column_stack([np.arange(1, 4), values[:3]]))
    np.testing.assert_allclose(negative, np.column_stack([np.arange(29, 31), values[-2:]]))
    assert (negative[:, 1] < 0).all()
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    share = 100 * np.abs(values[-2:]).sum() / np.abs(values).sum()
    assert ax.get_title() == f"signature (3, 2, 25), negative share {share:.1f} %"


def test_euclidean_distances_have_no_negative_eigenvalues(blobs: Any) -> None:
    ax = plot_spectrum(squareform(pdist(blobs[0])))
    assert ax.get_title() == "signature (2, 0, 88), negative share 0.0 %"
    assert len(ax.lines[1].get_xdata()) == 0


# What holds for every picture

EVERY = ["plot_examples", "plot_profiles", "plot_prototype_view", "plot_spectrum"]


def drawn(name: str, model: Any, words: Any, D: Any, **given: Any) -> Any:
    extra = {"plot_examples": (words,), "plot_profiles": (D,)}.get(name, ())
    return getattr(plotting, name)(*((D,) if name == "plot_spectrum" else (model, *extra)), **given)


@pytest.mark.parametrize("name", EVERY)
def test_draws_into_the_axes_given_or_a_figure_of_its_own(name: str, sheet: Any, words: Any, D: Any) -> None:
    ax, other = plt.figure().add_subplot(), plt.figure().add_subplot()
    figures = plt.get_fignums()
    assert drawn(name, sheet, words, D, ax=ax) is ax
    assert ax.collections or ax.lines
    assert plt.get_fignums() == figures
    assert not other.has_data()
    assert drawn(name, sheet, words, D).figure not in (ax.figure, other.figure)


@pytest.mark.parametrize("name", EVERY[:3])
def test_draws_the_map_inside_a_classifier(name: str, words: Any, D: Any) -> None:
    y = [word[0] for word in words]
    classifier = PrototypeClassifier(RelationalSOM((3, 4), max_iter=3, random_state=0)).fit(D, y)
    names = [text.get_text() for text in drawn(name, classifier, words, D).get_legend().get_texts()]
    assert names[: len(classifier.classes_)] == classifier.classes_.tolist()


@pytest.mark.parametrize("name", EVERY[:3])
def test_refuses_what_is_not_fitted(name: str, words: Any, D: Any) -> None:
    with pytest.raises(NotFittedError):
        drawn(name, RelationalSOM(), words, D)
    assert not plt.get_fignums()


def test_every_function_is_checked_here() -> None:
    found = [name for name in plotting.__all__ if getattr(plotting, name).__module__.endswith("._objects")]
    assert found == EVERY
