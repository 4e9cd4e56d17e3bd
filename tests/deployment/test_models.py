"""Files of models: what comes back is what was stored, and a file is data, whoever made it."""

import json
import tracemalloc
import warnings
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import protolearn
from protolearn import GMLVQ, RelationalNeuralGas
from protolearn.core.estimator import InconsistentVersionWarning
from tests.test_common import DEFAULTS, VARIANTS, EqualShares

pytest.importorskip("skops")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
N_DAMAGED = 1000
ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "score_samples", "distances", "confidence")
CURRENT = json.dumps(json.dumps(protolearn.__version__))[1:-1].encode()  # as it stands in a text within JSON


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3]


def samples_for(estimator, X):
    """Return samples in the form that an estimator takes."""
    if estimator.__sklearn_tags__().input_tags.pairwise:
        return squareform(pdist(X)) ** 2
    if getattr(estimator, "patch_shape", 0) is None:
        return np.random.RandomState(0).rand(len(X), 3, 3, 3)
    return X


def answers(model, X):
    """Return what a model says of samples, as far as it says anything of new ones."""
    said = {}
    for name in ANSWERS:
        try:
            said[name] = getattr(model, name)(X)
        except (AttributeError, ValueError):
            continue
    return said


def assert_same(one, other, X):
    before, after = answers(one, X), answers(other, X)
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


@pytest.mark.parametrize("estimator", DEFAULTS + VARIANTS, ids=lambda estimator: type(estimator).__name__)
def test_every_estimator_comes_back_alone_and_in_a_pipeline(estimator, iris, tmp_path):
    X, y = iris
    samples = samples_for(estimator, X)
    scaler = StandardScaler() if samples is X else FunctionTransformer()
    scaled = scaler.fit_transform(samples)
    model = clone(estimator).fit(scaled, y)
    pipeline = make_pipeline(scaler, model)
    has_own = isinstance(getattr(estimator, "affinities", None), EqualShares)
    named = {"trusted": ["tests.test_common.EqualShares"]} if has_own else {}
    protolearn.save(model, tmp_path / "model.skops", **named)
    protolearn.save(pipeline, tmp_path / "pipeline.skops", **named)
    with warnings.catch_warnings(action="error"):
        again = protolearn.load(tmp_path / "model.skops", **named)
        assert_same(pipeline, protolearn.load(tmp_path / "pipeline.skops", **named), samples)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    public = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert [name for name in vars(again) if name.endswith("_") and not name.startswith("_")] == public
    assert_same(model, again, scaled)


def test_pipeline_comes_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    frame = pandas.DataFrame({"age": rng.normal(50, 9, 60), "dose": rng.rand(60), "ward": rng.choice(["a", "b"], 60)})
    y = np.where(frame.age + 20 * frame.dose > 60, "ill", "well")
    columns = ColumnTransformer([("n", StandardScaler(), ["age", "dose"]), ("c", OneHotEncoder(), ["ward"])])
    pipeline = make_pipeline(columns, GMLVQ()).fit(frame, y)
    protolearn.save(pipeline, tmp_path / "model.skops")
    assert_same(pipeline, protolearn.load(tmp_path / "model.skops"), frame)


def test_learned_metric_comes_back(iris, tmp_path):
    metric = GMLVQ().fit(*iris).metric_
    protolearn.save(metric, tmp_path / "metric.skops")
    again = protolearn.load(tmp_path / "metric.skops")
    np.testing.assert_array_equal(again.project(iris[0]), metric.project(iris[0]))


def test_stream_goes_on(iris, tmp_path):
    X, y = iris
    model = GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    protolearn.save(model, tmp_path / "model.skops")
    again = protolearn.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.partial_fit(X, y).prototypes_, model.partial_fit(X, y).prototypes_)


def own_distance(a, b):
    return abs(len(a) - len(b))


def test_what_is_not_ours_is_neither_saved_nor_loaded(tmp_path):
    words = np.array(["a", "bb", "ccc", "dddd", "eeeee", "ffffff"], dtype=object)
    model = RelationalNeuralGas(2, metric=own_distance, random_state=0).fit(words)
    path = tmp_path / "model.skops"
    with pytest.raises(ValueError, match=r"own_distance.* not part of protolearn"):
        protolearn.save(model, path)
    assert not path.exists()
    named = [f"{own_distance.__module__}.own_distance"]
    protolearn.save(model, path, trusted=named)
    with pytest.raises(ValueError, match=r"refers to .*own_distance.* was not loaded"):
        protolearn.load(path)
    assert_same(model, protolearn.load(path, trusted=named), words)


class Trap(BaseEstimator):
    """Something that would notice if it were made."""

    made = False

    def __setstate__(self, state):
        Trap.made = True


def test_no_code_of_a_file_runs(iris, tmp_path):
    skops = pytest.importorskip("skops.io")
    pipeline = make_pipeline(StandardScaler(), GMLVQ()).fit(*iris)
    pipeline.steps[0] = ("trap", Trap())
    skops.dump(pipeline, tmp_path / "trap.skops")
    with ZipFile(tmp_path / "trap.skops", "a") as archive:
        archive.writestr("protolearn.json", json.dumps({"format": 1, "versions": {"protolearn": "0.1.0"}}))
    with pytest.raises(ValueError, match=r"Trap.* was not loaded"):
        protolearn.load(tmp_path / "trap.skops")
    assert not Trap.made


@pytest.mark.parametrize(
    "name", ["protolearn.load", "protolearn.core.files.replacing", "protolearn.nowhere.Model", "os.system"]
)
def test_only_classes_of_models_are_trusted(name, iris, tmp_path):
    path = saved(iris, tmp_path)
    module, _, attribute = name.rpartition(".")
    rewrite(path, "schema.json", lambda data: refer(data, module, attribute))
    with pytest.raises(ValueError, match=r"not loaded|damaged"):
        protolearn.load(path)


def refer(data, module, attribute):
    schema = json.loads(data)
    schema["content"]["content"]["reject_label"] = {
        "__class__": attribute,
        "__module__": module,
        "__loader__": "FunctionNode",
        "content": {"module_path": module, "function": attribute},
    }
    return json.dumps(schema)


def saved(iris, tmp_path):
    path = tmp_path / "model.skops"
    protolearn.save(make_pipeline(StandardScaler(), GMLVQ()).fit(*iris)[-1], path)
    return path


def rewrite(path, member, change, packing=ZIP_STORED):
    """Write an archive again with one member changed."""
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[member] = change(members[member])
    with ZipFile(path, "w", packing) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_other_versions_are_told(iris, tmp_path):
    path = saved(iris, tmp_path)
    rewrite(path, "schema.json", lambda data: data.replace(CURRENT, b'\\"0.0.1\\"'))
    with pytest.warns(InconsistentVersionWarning, match=r"0\.0\.1"):
        protolearn.load(path)
    rewrite(path, "protolearn.json", lambda data: data.replace(b'"format": 1', b'"format": 2'))
    with pytest.raises(ValueError, match="format is 2"):
        protolearn.load(path)


def test_arrays_cannot_ask_for_more_than_they_hold(iris, tmp_path):
    path = saved(iris, tmp_path)
    with ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npy"))
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**11,)})
    rewrite(path, name, lambda data: header.getvalue() + b"0" * 64)
    with pytest.raises(ValueError, match="damaged"):
        protolearn.load(path)


def test_packed_files_are_refused(iris, tmp_path):
    path = saved(iris, tmp_path)
    rewrite(path, "protolearn.json", lambda data: data, packing=ZIP_DEFLATED)
    with pytest.raises(ValueError, match="packed"):
        protolearn.load(path)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"{}", b"\x80\x04N."])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a model that protolearn"):
        protolearn.load(path)


def test_an_old_file_stays_if_saving_fails(iris, tmp_path):
    path = saved(iris, tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"cannot be stored|contains"):
        protolearn.save(GMLVQ(reject_label=lambda: 0), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def mutated(data, rng):
    """Return a file with one of the mistakes that files get: flipped bits, lost or doubled parts, an early end."""
    data = bytearray(data)
    kind = rng.randint(4)
    a, b = np.sort(rng.randint(len(data), size=2))
    if kind == 0:
        for place in rng.randint(len(data), size=rng.randint(1, 8)):
            data[place] ^= 1 << rng.randint(8)
    elif kind == 1:
        del data[a : min(b, a + 200)]
    elif kind == 2:
        data[a:a] = data[a : min(b, a + 200)]
    else:
        del data[b:]
    return bytes(data)


def test_damaged_files_are_refused_or_harmless(iris, tmp_path):
    """No mistake in a file gives another model, and none takes more memory than ten times the file."""
    X = iris[0]
    path = saved(iris, tmp_path)
    data, expected = path.read_bytes(), protolearn.load(path).decision_function(X)
    rng = np.random.RandomState(0)
    n_refused, peak = 0, 0
    tracemalloc.start()
    for _ in range(N_DAMAGED):
        path.write_bytes(mutated(data, rng))
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        try:
            model = protolearn.load(path)
        except ValueError:
            n_refused += 1
        else:
            np.testing.assert_array_equal(model.decision_function(X), expected)
        peak = max(peak, tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    assert n_refused > 0.9 * N_DAMAGED
    assert peak < 10 * len(data)
