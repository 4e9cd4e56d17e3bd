"""Graphs of models: they answer as these do, to samples they were not trained on, or it is said why there are none."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

import protolearn
from protolearn import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LMNN,
    RSLVQ,
    KMeans,
    LLiRaMLVQ,
    MappedEmbedding,
    MatrixNeuralGas,
    NeuralGas,
    OutlierDetector,
    PrototypeClassifier,
    tables,
    to_onnx,
)
from protolearn.deployment import register_onnx_converters
from protolearn.lvq import EuclideanMetric, Metric, MinkowskiMetric
from tests.deployment.test_models import samples_for as training_for
from tests.test_common import DEFAULTS

onnx = pytest.importorskip("onnx")
skl2onnx = pytest.importorskip("skl2onnx")
pytest.importorskip("onnxruntime")
from tests.deployment.onnx_answers import (  # noqa: E402
    CASES,
    answers_of,
    fitted,
    pairs_of_answers,
    samples_for,
    table,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
PRECISION = {np.float64: 1e-9, np.float32: 1e-6}  # of numbers, relative to the largest
REFUSED = {
    *("MedianKMeans", "MedianNeuralGas", "MedianSOM", "RelationalKMeans", "RelationalNeuralGas", "RelationalSOM"),
    *("PairwiseAnnealing", "RelationalGLVQ", "MedianGLVQ"),
    *("SNE", "TSNE", "XOM", "SONE", "MVU", "ClassicalMDS", "OutOfSample", "DiscriminativeEmbedding"),
}


@pytest.fixture(scope="module")
def data():
    return table(2000)


def assert_close(name, ours, theirs, precision=1e-9):
    assert theirs.shape == ours.shape, name
    if theirs.dtype.kind not in "f":
        np.testing.assert_array_equal(theirs, ours, err_msg=name)
    else:
        scale = np.abs(ours[np.isfinite(ours)]).max(initial=1e-9)
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=precision * scale, err_msg=name)


def assert_agrees(model, X, dtype=np.float64):
    samples, converted = samples_for(model, X).astype(dtype), to_onnx(model, dtype=dtype)
    assert {node.domain for node in converted.graph.node} <= {"", "ai.onnx.ml"}  # which any runtime knows
    for name, ours, theirs in pairs_of_answers(model, converted, samples):
        assert theirs.dtype in (ours.dtype, dtype, object)
        assert_close(name, ours, theirs, PRECISION[dtype])


@pytest.mark.parametrize("case", CASES)
def test_graphs_answer_as_their_models(case, data):
    X, y, new = data
    model = fitted(case, X, y)
    for dtype in PRECISION:
        assert_agrees(model, new, dtype)


@pytest.mark.parametrize("estimator", DEFAULTS, ids=lambda estimator: type(estimator).__name__)
def test_every_public_estimator_converts_or_says_why_not(estimator):
    X, y = load_iris(return_X_y=True)
    samples = training_for(estimator, X[::3])
    model = clone(estimator).fit(samples, y[::3])
    name = type(estimator).__name__
    if name in REFUSED:
        with pytest.raises(ValueError, match=rf"^{name} cannot be converted to ONNX: it .*\. Use .*\.$"):
            to_onnx(model)
        return
    flat = samples.reshape(len(samples), -1)
    for output, ours, theirs in pairs_of_answers(model, to_onnx(model), flat):
        assert_close(output, ours, theirs, 1e-7)


def test_any_number_of_samples(data):
    X, y, new = data
    converted = to_onnx(fitted("LGMLVQ", X, y))
    shape = converted.graph.input[0].type.tensor_type.shape.dim
    assert (converted.graph.input[0].name, shape[0].dim_value, shape[1].dim_value) == ("X", 0, X.shape[1])
    whole = answers_of(converted, new[:20])
    for i in range(20):
        for name, one in answers_of(converted, new[i : i + 1]).items():
            assert_close(name, whole[name][i : i + 1], one, 1e-12)


@pytest.mark.parametrize(
    "labels", [["x", "y", "zz"], [3, 5, 7], [0.5, 1.0, 2.0], [False, True, True], np.array(["p", "q", "r"], object)]
)
def test_labels_of_any_kind(labels, data):
    X, y, new = data
    named = np.asarray(labels)[np.searchsorted(["a", "b", "c"], y)]
    if named.dtype == float:
        named = np.floor(named)
    model = GMLVQ().fit(X, named)
    label = answers_of(to_onnx(model), new)["label"]
    assert label.dtype.kind == named.dtype.kind or label.dtype == object
    np.testing.assert_array_equal(label, model.predict(new))


@pytest.mark.parametrize(
    "model", [GMLVQ(), LGMLVQ(), RSLVQ(), GLVQ(metric=MinkowskiMetric(1.0))], ids=lambda model: type(model).__name__
)
@pytest.mark.parametrize("n_seen", [1, 2])
def test_classes_that_have_not_come_yet(model, n_seen, data):
    X, y, new = data
    seen = np.isin(y, ["a", "b"][:n_seen])
    model = clone(model).partial_fit(X[seen], y[seen], classes=["a", "b", "c"])
    assert_agrees(model, new)
    assert np.isinf(answers_of(to_onnx(model), new)["distances"][:, -1]).all()


def test_two_classes_and_one(data):
    X, y, new = data
    assert_agrees(GMLVQ().fit(X, y == "a"), new)
    assert_agrees(PrototypeClassifier(KMeans(3, random_state=0)).fit(X, np.full(len(X), "a")), new)


def test_a_class_without_prototypes(data):
    X, y, new = data
    weights = np.where(y == "b", 0.0, 1.0)
    model = PrototypeClassifier(KMeans(2, random_state=0), per_class=True).fit(X, y, sample_weight=weights)
    assert_agrees(model, new)


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize(
    "model",
    [GMLVQ(2, random_state=0), GLVQ(), LGMLVQ(), KMeans(5, random_state=0), MatrixNeuralGas(3, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_samples_far_from_zero(model, dtype, data):
    """Around a million, single precision has four digits left of the samples, and all of these count."""
    X, y, new = data
    model = clone(model).fit((X + 1e6).astype(dtype), y)
    far = (new + 1e6).astype(dtype)
    assert_agrees(model, new + 1e6, dtype)
    np.testing.assert_array_equal(model.predict(far), model.predict(far.astype(np.float64)))


@given(st.floats(1e-3, 1e3), st.floats(-1e5, 1e5))
@settings(max_examples=15, deadline=None)
def test_units_do_not_matter(scale, offset):
    rng = np.random.RandomState(0)
    W, X = rng.normal(size=(6, 3)), rng.normal(size=(200, 3))
    training = np.repeat(W, 2, axis=0) * scale + offset
    model = GLVQ(2, init=W * scale + offset, max_iter=0).fit(training, np.repeat([0, 1, 2], 4))
    graph = answers_of(to_onnx(model), X * scale + offset)
    exact = np.square(X[:, None] - W).sum(axis=2) * scale**2
    rounding = 1e-15 * (1.0 + abs(offset) / scale)  # of samples and prototypes, in their own unit
    np.testing.assert_allclose(graph["distances"], exact, atol=100 * rounding * exact.max())


# Pipelines


def patients(n, seed):
    """Return a table with numbers, some of them missing, and categories, with a class that depends on both."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.RandomState(seed)
    frame = pandas.DataFrame(
        {
            "age": rng.normal(50, 9, n),
            "blood pressure (mm)": rng.normal(120, 15, n),
            "ward": rng.choice(["north", "south", "west"], n),
            "grade": rng.randint(0, 3, n),
            "note": "nothing",
        }
    )
    ill = frame["age"] + 10 * (frame["ward"] == "west") + 5 * frame["grade"] > 60
    frame.loc[rng.rand(n) < 0.2, "age"] = np.nan
    return frame, np.where(ill, "ill", "well")


def table_pipeline(model):
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = ColumnTransformer(
        [
            ("numbers", numbers, ["age", "blood pressure (mm)"]),
            ("categories", OneHotEncoder(handle_unknown="ignore"), ["ward", "grade"]),
        ]
    )
    return make_pipeline(columns, model)


@pytest.mark.parametrize("dtype", PRECISION)
def test_tables_with_categories_and_missing_values(dtype):
    X, y = patients(300, 0)
    new, _ = patients(2000, 1)
    new.loc[:50, "ward"] = "unheard of"
    pipeline = table_pipeline(GMLVQ()).fit(X, y)
    converted = to_onnx(pipeline, X, dtype=dtype)
    assert [one.name for one in converted.graph.input] == ["age", "blood_pressure__mm_", "ward", "grade", "note"]
    found = answers_of(converted, new)
    np.testing.assert_array_equal(found["label"], pipeline.predict(new))
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(new), atol=tolerance)
    np.testing.assert_allclose(found["distances"], pipeline[-1].distances(pipeline[:-1].transform(new)), atol=tolerance)


def test_columns_that_were_all_missing_are_left_out():
    X, y = patients(200, 0)
    numbers = X[["age", "blood pressure (mm)"]].to_numpy()
    numbers = np.column_stack([numbers, np.full(len(X), np.nan)])
    pipeline = make_pipeline(SimpleImputer(), GMLVQ()).fit(numbers, y)
    found = answers_of(to_onnx(pipeline), numbers)
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(numbers), atol=1e-12)


@pytest.mark.parametrize(
    "step",
    [
        GMLVQ(n_components=3),
        GRLVQ(),
        LLiRaMLVQ(n_components=2, max_iter=20),
        LMNN(2, max_iter=5),
        KMeans(5, random_state=0),
        MatrixNeuralGas(2, random_state=0),
        MappedEmbedding(mapping="linear", max_iter=5, random_state=0),
        FeatureUnion([("view", GMLVQ(n_components=2)), ("map", NeuralGas(3, random_state=0)), ("pca", PCA(2))]),
    ],
    ids=lambda step: type(step).__name__,
)
@pytest.mark.parametrize("last", [LogisticRegression(), GLVQ()], ids=lambda last: type(last).__name__)
def test_steps_before_others_transform(step, last, data):
    X, y, new = data
    pipeline = make_pipeline(StandardScaler(), clone(step), last).fit(X, y)
    found = list(answers_of(to_onnx(pipeline), new).values())
    np.testing.assert_array_equal(found[0], pipeline.predict(new))
    np.testing.assert_allclose(found[1], pipeline.predict_proba(new), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        PrototypeClassifier(make_pipeline(StandardScaler(), NeuralGas(4, random_state=0)), per_class=True),
        PrototypeClassifier(make_pipeline(PCA(3), KMeans(5, random_state=0))),
        OutlierDetector(make_pipeline(StandardScaler(), MatrixNeuralGas(2, random_state=0))),
    ],
    ids=["a map for each class", "one map", "detector"],
)
def test_models_of_pipelines(model, data):
    X, y, new = data
    assert_agrees(clone(model).fit(X, y), new)


def test_the_best_of_a_search(data):
    X, y, new = data
    search = GridSearchCV(make_pipeline(StandardScaler(), GMLVQ()), {"gmlvq__n_components": [1, 2]}, cv=2).fit(X, y)
    np.testing.assert_array_equal(answers_of(to_onnx(search), new)["label"], search.predict(new))


@pytest.mark.parametrize("opset", [13, 21])
def test_users_of_skl2onnx(opset, data):
    X, y, new = data
    register_onnx_converters()
    for case in ("GMLVQ", "LGMLVQ, values missing", "PrototypeClassifier, densities", "OutlierDetector", "Charting"):
        model = fitted(case, X, y)
        converted = skl2onnx.to_onnx(model, X[:1], target_opset={"": opset, "ai.onnx.ml": 3})
        for name, ours, theirs in pairs_of_answers(model, converted, samples_for(model, new)):
            assert_close(name, ours, theirs)


# Files, and what is refused


def test_files_are_whole(data, tmp_path):
    X, y, new = data
    path = tmp_path / "model.onnx"
    model = GMLVQ().fit(X, y)
    assert to_onnx(model, path=path).producer_name == "protolearn"
    read = onnx.load(path)
    onnx.checker.check_model(read, full_check=True)
    np.testing.assert_array_equal(answers_of(read, new)["label"], model.predict(new))
    with pytest.raises(ValueError, match="cannot be converted"):
        to_onnx(protolearn.TSNE(max_iter=20).fit(X), path=path)
    assert path.read_bytes() == read.SerializeToString()
    assert list(tmp_path.iterdir()) == [path]


class OwnMetric(Metric):
    """A metric that only Python knows."""

    def measure(self, X, W, classes, theta):
        return EuclideanMetric().measure(X, W, classes, theta)


class OwnScaler(StandardScaler):
    """A step that skl2onnx does not know."""


def test_what_has_no_graph_is_told(data):
    X, y, _ = data
    scaled = make_pipeline(StandardScaler(), GMLVQ()).fit(X, y)
    for model, message in (
        (GLVQ(metric=OwnMetric()), "OwnMetric, which has no ONNX formula"),
        (KMeans(3, metric=scaled), "includes preprocessing steps. Put these into a pipeline"),
        (MappedEmbedding(mapping="free", max_iter=5), "places new samples by a search"),
        (PrototypeClassifier(protolearn.RelationalKMeans(3, metric="euclidean")), "RelationalKMeans cannot be"),
        (make_pipeline(GMLVQ(missing="partial"), GLVQ()), "Fill in missing values first"),
        (make_pipeline(OwnScaler(), GLVQ()), r"cannot be converted by skl2onnx \(.*OwnScaler"),
        (make_pipeline(PolynomialFeatures(), GLVQ()), "try the other dtype"),
    ):
        with pytest.raises(ValueError, match=message):
            to_onnx(model.fit(X, y))
    with pytest.raises(NotFittedError):
        to_onnx(GMLVQ())
    with pytest.raises(ValueError, match=r"dtype=.*int.* must be float64 or float32"):
        to_onnx(scaled, dtype=int)
    with pytest.raises(TypeError, match="X is a ndarray; give a table"):
        to_onnx(scaled, X)


def test_tables_that_do_not_fit_are_told():
    X, y = patients(200, 0)
    pipeline = table_pipeline(GMLVQ()).fit(X, y)
    with pytest.raises(ValueError, match=r"If it selects columns by name, give X"):
        to_onnx(pipeline)
    with pytest.raises(ValueError, match=r"X has columns \['age'\], but the model was fitted to"):
        to_onnx(pipeline, X[["age"]])
    with pytest.raises(ValueError, match="Column 'note' of X contains neither numbers nor strings"):
        to_onnx(pipeline, X.assign(note=np.datetime64("2020-01-01")))


def test_a_missing_package_is_named():
    code = (
        "import sys; sys.modules['skl2onnx'] = None\n"
        "import protolearn\n"
        "try:\n    protolearn.to_onnx(protolearn.KMeans())\n"
        "except ImportError as error:\n    print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'protolearn[onnx]'" in out


def test_model_of_a_raw_table():
    """Texts and dates are read before the graph, whose inputs are the prepared columns."""
    pd, onnxruntime = pytest.importorskip("pandas"), pytest.importorskip("onnxruntime")
    rng = np.random.RandomState(0)
    days = pd.date_range("2024-01-01", periods=60).strftime("%d.%m.%Y")
    table = pd.DataFrame({"id": range(60), "seen": days, "dose": rng.rand(60), "ward": rng.choice(["a", "b"], 60)})
    y = np.where(table.dose + (table.ward == "a") > 0.9, "ill", "well")
    model = tables.table_pipeline(tables.TablePreparation().fit(table), GMLVQ(random_state=0)).fit(table, y)
    with pytest.raises(ValueError, match="give X, some rows"):
        protolearn.to_onnx(model)
    session = onnxruntime.InferenceSession(protolearn.to_onnx(model, table).SerializeToString())
    prepared = model[0].transform(table)
    inputs = {name: prepared[[name]].to_numpy() for name in prepared}
    assert [given.name for given in session.get_inputs()] == list(inputs) == ["seen", "dose", "ward"]
    label, shares = session.run(["label", "probabilities"], inputs)
    assert label.ravel().tolist() == model.predict(table).tolist()
    np.testing.assert_allclose(shares, model.predict_proba(table), rtol=0, atol=1e-9)
