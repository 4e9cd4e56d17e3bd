"""Pictures of pipelines, in the features and units of their samples; and what all pictures have in common."""

import inspect

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.path import Path
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

import protolearn.plotting as plotting
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    SOM,
    ClassicalMDS,
    KMeans,
    MatrixNeuralGas,
    PrototypeClassifier,
    RelationalSOM,
)
from protolearn.lvq import explain, prototype_table
from protolearn.metrics import view_quality


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": 50 + 12 * rng.normal(size=60),
            "smoker": rng.choice(["no", "yes"], 60),
            "income": 30_000 + 9_000 * rng.normal(size=60),
        }
    )
    X.loc[3, "income"] = np.nan
    return X, np.where(X.age + 9 * (X.smoker == "yes") > 53, "ill", "well")


def prepared():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer((OneHotEncoder(), ["smoker"]), (numbers, ["income", "age"]), sparse_threshold=0)


@pytest.fixture(scope="module")
def som(table):
    return make_pipeline(prepared(), SOM((2, 3), max_iter=3)).fit(table[0])


@pytest.fixture(scope="module")
def classifier(table):
    return make_pipeline(prepared(), GMLVQ(random_state=0, max_iter=4)).fit(*table)


def same(one, other):
    """Whether two drawings show the same cells, dots and bars."""
    for first, second in zip(one.collections, other.collections, strict=True):
        assert np.allclose(first.get_offsets(), second.get_offsets())
        assert first.get_array() is None or np.allclose(first.get_array(), second.get_array())
    for first, second in zip(one.lines, other.lines, strict=True):
        assert np.allclose(first.get_xydata(), second.get_xydata())
    widths = ([patch.get_extents().width for patch in ax.patches] for ax in (one, other))
    assert np.allclose(*widths)


@pytest.mark.parametrize("name", [name for name in plotting.__all__ if name.startswith("plot_")])
def test_every_picture_is_drawn_where_one_asks(name):
    parameters = inspect.signature(getattr(plotting, name)).parameters
    assert parameters["ax"].default is None


@pytest.mark.parametrize("name", ["plot_u_matrix", "plot_hits", "plot_topographic_function", "plot_history"])
def test_a_map_is_drawn_as_if_it_stood_alone(name, som):
    plot = getattr(plotting, name)
    same(plot(som), plot(som[-1]))


def test_samples_go_through_the_steps(som, classifier, table):
    X, y = table
    Z = som[:-1].transform(X)
    same(plotting.plot_hits(som, X), plotting.plot_hits(som[-1], Z))
    same(plotting.plot_class_map(som, X, y), plotting.plot_class_map(som[-1], Z, y))
    words = list(map(str, range(60)))
    written = [
        [text.get_text() for text in plotting.plot_examples(*given).texts]
        for given in ((som, words, X), (som[-1], words, Z))
    ]
    assert written[0] == written[1]
    same(plotting.plot_margins(classifier, X, y), plotting.plot_margins(classifier[-1], Z, y))
    same(plotting.plot_view(classifier, X, y), plotting.plot_view(classifier[-1], Z, y))
    same(plotting.plot_learning_curve(classifier), plotting.plot_learning_curve(classifier[-1]))
    same(plotting.plot_eigenvalues(classifier), plotting.plot_eigenvalues(classifier[-1]))
    inner = PrototypeClassifier(make_pipeline(StandardScaler(), SOM((2, 3), max_iter=2))).fit(X[["age"]], y)
    assert plotting.plot_hits(inner, X[["age"]]).collections[0].get_array().sum() == 60


def test_planes_have_names_units_and_categories(som, table):
    axes = plotting.plot_component_planes(som)
    assert [ax.get_title() for ax in axes] == ["age", "smoker", "income"]
    values = prototype_table(som).values
    for column in (0, 2):
        assert np.allclose(axes[column].collections[0].get_array(), values[:, column].astype(float))
    legend = {text.get_text() for text in axes[1].get_legend().get_texts()}
    assert legend == set(values[:, 1])
    (ax,) = plotting.plot_component_planes(som, ["pay"], feature_names=["years", "smokes", "pay"])
    assert ax.get_title() == "pay"


def test_prototypes_are_among_the_samples(table):
    """Receptive fields, too: any point is in the field of the prototype that the pipeline predicts."""
    X = table[0][["age", "income"]]
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), KMeans(5, random_state=0)).fit(X)
    ax = plotting.plot_prototypes(pipeline, X)
    fields, samples, points = ax.collections
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "income")
    assert np.allclose(points.get_offsets(), prototype_table(pipeline).values)
    shown = samples.get_offsets()
    assert np.array_equal(np.ma.getmaskarray(shown).all(axis=1), X.isna().any(axis=1))
    assert np.allclose(shown.compressed(), X.dropna().to_numpy().ravel())
    rng = np.random.default_rng(1)
    places = rng.uniform(X.min(), X.max(), (50, 2))
    for place, winner in zip(places, pipeline.predict(pd.DataFrame(places, columns=X.columns))):
        assert [path.contains_point(place) for path in map(Path, (p.vertices for p in fields.get_paths()))][winner]
    graph = plotting.plot_graph(pipeline, X, ["income", "age"])
    assert np.allclose(graph.collections[-1].get_offsets()[:, ::-1], prototype_table(pipeline).values)


def test_features_with_categories_have_no_place_in_a_plane(som, table):
    with pytest.raises(
        ValueError, match=r"smoker has categories; choose features that are numbers, from \['age', 'income'\]"
    ):
        plotting.plot_prototypes(som, table[0])
    ax = plotting.plot_prototypes(som, table[0], features=["age", "income"])
    assert np.allclose(ax.collections[-1].get_offsets(), prototype_table(som).values[:, [0, 2]].astype(float))


def test_shapes_have_the_units_of_the_samples(table):
    X = table[0][["age", "income"]].dropna()
    pipeline = make_pipeline(StandardScaler(), MatrixNeuralGas(2, max_iter=3, random_state=0)).fit(X)
    ax = plotting.plot_ellipses(pipeline, X, size=1.0)
    units = pipeline[0].scale_
    for ellipse, covariance, center in zip(ax.patches, pipeline[-1].covariances_, prototype_table(pipeline).values):
        turn = np.radians(ellipse.angle)
        axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        drawn = axes @ np.diag([ellipse.width / 2, ellipse.height / 2]) ** 2 @ axes.T
        assert np.allclose(drawn, covariance * np.outer(units, units))
        assert np.allclose(ellipse.center, center)


def test_images_have_the_units_of_the_samples():
    X = np.random.default_rng(0).uniform(0, 16, (30, 4))
    pipeline = make_pipeline(StandardScaler(), MatrixNeuralGas(2, max_iter=2, random_state=0)).fit(X)
    center, *directions = plotting.plot_eigenimages(pipeline, 1, (2, 2))
    assert np.allclose(center.images[0].get_array().ravel(), prototype_table(pipeline).values[1])
    expected = pipeline[-1].components_[1] * pipeline[0].scale_
    assert np.allclose([ax.images[0].get_array().ravel() for ax in directions], expected)
    pixels = plotting.plot_codebook(pipeline, (2, 2)).images[0].get_array()
    assert np.allclose(pixels.max(), prototype_table(pipeline).values.max())


def test_relevances_are_those_of_the_features(classifier):
    relevances = classifier[-1].relevances_
    ax = plotting.plot_relevances(classifier)
    shown = {label.get_text(): bar.get_width() for label, bar in zip(ax.get_yticklabels(), ax.patches)}
    expected = {"smoker": relevances[:2].sum(), "income": relevances[2], "age": relevances[3]}
    assert shown == pytest.approx(expected)
    assert list(shown.values()) == sorted(shown.values(), reverse=True)
    given = plotting.plot_relevances(classifier, sort=False)
    assert [label.get_text() for label in given.get_yticklabels()] == ["age", "smoker", "income"]
    bars, _ = plotting.plot_relevance_matrix(classifier).child_axes
    names = {"smoker = no", "smoker = yes", "income", "age"}
    assert {label.get_text() for label in bars.get_yticklabels()} == names
    widths = [bar.get_width() for bar in bars.patches]
    assert widths == sorted(widths, reverse=True)


def test_relevances_behind_principal_components_are_those_of_the_components(iris):
    X, y = iris
    pipeline = make_pipeline(PCA(2), GRLVQ(max_iter=2)).fit(X, y)
    names = {label.get_text() for label in plotting.plot_relevances(pipeline).get_yticklabels()}
    assert names == {"pca0", "pca1"}


def test_an_explanation_of_a_pipeline_has_its_features(classifier, table):
    ax = plotting.plot_explanation(explain(classifier, table[0][:1]))
    assert {label.get_text() for label in ax.get_yticklabels()} == {"age", "smoker", "income"}
    ax = plotting.plot_explanation(explain(classifier, table[0][:1]), feature_names=["a", "b", "c"])
    assert {label.get_text() for label in ax.get_yticklabels()} == {"a", "b", "c"}


def test_a_step_that_cannot_be_undone_is_named(iris):
    pipeline = make_pipeline(Normalizer(), KMeans(3, random_state=0)).fit(iris[0])
    with pytest.warns(UserWarning, match="Step 'normalizer' .*The values are in the input columns of KMeans"):
        ax = plotting.plot_prototypes(pipeline, iris[0])
    assert np.allclose(ax.collections[-1].get_offsets(), pipeline[-1].prototypes_[:, :2])
    assert np.abs(ax.collections[0].get_offsets()).max() < 1.0


def test_one_picture_of_a_pipeline(classifier, som, iris):
    assert "smoker" in {label.get_text() for label in plotting.plot_model(classifier).get_yticklabels()}
    assert 'alt="U-matrix' in plotting.sketch(som)
    view = make_pipeline(StandardScaler(), ClassicalMDS()).fit(iris[0])
    assert len(plotting.plot_model(view).collections[0].get_offsets()) == 150
    assert np.allclose(
        plotting.plot_embedding(view).dataLim.get_points(), plotting.plot_embedding(view[-1]).dataLim.get_points()
    )


def test_colors_of_classes_can_be_chosen(iris):
    X, y = iris
    model = GLVQ(max_iter=2).fit(X.iloc[:, :2], y)
    wanted = plt.get_cmap("Set2")(range(3))
    for plot in (plotting.plot_prototypes, plotting.plot_decision_regions):
        handles = plot(model, X.iloc[:, :2], y, cmap="Set2").get_legend().legend_handles
        assert np.allclose([handle.get_color() for handle in handles[:3]], wanted[:, :3])
    shades = plotting.plot_embedding(X.iloc[:, :2], X.iloc[:, 2], cmap="magma").collections[0].get_facecolors()
    highest = np.random.RandomState(0).permutation(150).tolist().index(int(X.iloc[:, 2].argmax()))
    assert np.allclose(shades[highest, :3], plt.get_cmap("magma")(1.0)[:3])


def test_samples_without_a_position_are_left_out_and_counted(iris):
    X, y = iris
    Y = X.to_numpy()[:, :2].copy()
    Y[:53] = np.nan  # all of a class, and some of another
    ax = plotting.plot_embedding(Y, y)
    assert len(ax.collections[-1].get_offsets()) == 97
    assert ax.get_title() == "without 53 of 150 samples, which have no position"
    assert [text.get_text() for text in ax.texts] == ["versicolor", "virginica"]
    colors = {tuple(color) for color in ax.collections[-1].get_facecolors()}
    whole = plotting.plot_embedding(X.to_numpy()[:, :2], y).collections[-1].get_facecolors()
    assert {color[:3] for color in colors} <= {tuple(color[:3]) for color in whole}
    images = np.arange(150.0)[:, None, None] * np.ones((2, 2))
    for plot in (plotting.plot_images, plotting.plot_image_grid):
        drawn = plot(Y, images, y)
        assert min(float(image.get_array().min()) for image in drawn.images) >= 53
        assert "without 53 of 150" in drawn.get_title()
    for columns in (1, 3):
        assert (
            "without 53" in plotting.plot_embedding(np.where(np.isnan(Y[:, :1]), np.nan, X)[:, :columns], y).get_title()
        )
    with pytest.raises(ValueError, match="No sample has a position"):
        plotting.plot_embedding(np.full((3, 2), np.nan))


@pytest.fixture(scope="module")
def legends(iris):
    X, y = iris
    model = GLVQ(max_iter=3, random_state=0).fit(X, y)
    som = SOM((3, 4), max_iter=2).fit(X)
    quality = {name: view_quality(X[::5], X.to_numpy()[::5, :2]) for name in ("one view", "another view")}
    return {
        "plot_class_map": lambda ax: plotting.plot_class_map(som, y=y, ax=ax),
        "plot_prototypes": lambda ax: plotting.plot_prototypes(model, X, y, ax=ax),
        "plot_embedding": lambda ax: plotting.plot_embedding(X.iloc[:, :2], y, labels="legend", ax=ax),
        "plot_quality": lambda ax: plotting.plot_quality(quality, ax=ax),
        "plot_margins": lambda ax: plotting.plot_margins(model, X[::2], y[::2], X[1::2], y[1::2], ax=ax),
        "plot_learning_curve": lambda ax: plotting.plot_learning_curve({"a long name": model, "other": model}, ax=ax),
    }


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_legends_are_not_clipped_and_cover_nothing(layout, legends):
    for name, draw in legends.items():
        figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout=layout)
        for ax in axes.flat:
            draw(ax)
        figure.canvas.draw()
        boxes = [ax.get_window_extent() for ax in axes.flat]
        for ax in axes.flat:
            legend = ax.get_legend().get_window_extent()
            assert legend.x0 >= -1, name
            assert legend.x1 <= figure.bbox.x1 + 1, name
            assert legend.y1 <= figure.bbox.y1 + 1, name
            for box in boxes:
                apart = (
                    legend.x0 >= box.x1 - 1
                    or legend.x1 <= box.x0 + 1
                    or legend.y0 >= box.y1 - 1
                    or legend.y1 <= box.y0 + 1
                )
                assert apart, name
        plt.close(figure)


def test_the_stages_of_the_slope_are_marked(iris):
    X, y = iris
    model = GMLVQ(slope=(1, 8), max_iter=12, random_state=0).fit(X, y)
    (start,) = model.stage_starts_
    assert 1 < start <= len(model.cost_history_)
    first = GMLVQ(slope=1, max_iter=start - 1, random_state=0).fit(X, y)
    assert first.stage_starts_ == []
    assert np.allclose(model.cost_history_[: start - 1], first.cost_history_)
    ax = plotting.plot_learning_curve(model)
    (line,) = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert line.get_xdata()[0] == start - 0.5
    curve = ax.lines[0].get_xydata()
    assert np.array_equal(curve[np.isnan(curve[:, 1]), 0], [start - 0.5])
    assert np.array_equal(curve[~np.isnan(curve[:, 1]), 1], model.cost_history_)
    assert "slope" in ax.get_xlabel()
    plain = plotting.plot_learning_curve(first)
    assert len(plain.lines) == 1


def test_maps_of_dissimilarities_in_pipelines(iris):
    som = make_pipeline(StandardScaler(), RelationalSOM((2, 3), metric="euclidean", max_iter=3)).fit(iris[0])
    assert plotting.plot_hits(som, iris[0]).collections[0].get_array().sum() == 150
    with pytest.raises(ValueError, match="represents them by dissimilarities"):
        plotting.plot_component_planes(som)
    with pytest.raises(ValueError, match="represents prototypes by dissimilarities only"):
        prototype_table(som)
