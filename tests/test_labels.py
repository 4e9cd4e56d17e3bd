"""One rule for labels: NaN, None and NA mean unlabeled, and -1 is a class like any other."""

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import ClassifierMixin, clone

import protolearn
from protolearn import GLVQ, GMLVQ, LFDA, LMNN, LVQ1, LVQ21, RSLVQ, SOM, NeuralGas
from protolearn.embedding import class_aware_distances
from protolearn.explore._samples import classes_of
from protolearn.lvq import relevance_stability
from protolearn.metrics import classification_margins, neighborhood_hit
from protolearn.plotting import plot_class_map

pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

y = np.arange(60) % 2
X = np.random.default_rng(0).normal(size=(60, 3)) + 5 * y[:, None]
D = cdist(X, X)
names = np.where(y == 1, "ill", "well")
missing = np.arange(60) % 10 == 3

UNLABELED = {
    "floats": np.where(missing, np.nan, y),
    "objects": np.where(missing, None, y),
    "texts": np.where(missing, None, names),
    "list": np.where(missing, None, names).tolist(),
    "Int64": pd.Series(np.where(missing, None, y)).astype("Int64"),
    "string": pd.Series(np.where(missing, None, names), dtype="string"),
    "categories": pd.Series(pd.Categorical(np.where(missing, None, names))),
}
PUBLIC = [getattr(protolearn, name) for name in protolearn.__all__ if hasattr(getattr(protolearn, name), "fit")]
FEW = {"random_state": 0, "max_iter": 5, "n_prototypes": 4, "n_clusters": 4, "lattice": (2, 2), "label_weight": 0.5}


def quick(kind):
    """Return an estimator with a seed, few steps and few prototypes, which takes classes if it can."""
    model = kind()
    return model.set_params(**{name: value for name, value in FEW.items() if name in model.get_params()})


def given(model):
    return D if model.get_params().get("metric") == "precomputed" else X


CLASSIFIERS = [
    quick(kind) for kind in PUBLIC if issubclass(kind, ClassifierMixin) and kind.__name__ != "CIALVQ"
]  # of images
METRICS = [LFDA(), LMNN(max_iter=5)]
MAPS = [quick(kind) for kind in PUBLIC if "label_weight" in signature(kind).parameters]
each = {"ids": lambda model: type(model).__name__}


@pytest.mark.parametrize("model", CLASSIFIERS, **each)
@pytest.mark.parametrize("dtype", [int, float, object])
def test_minus_one_is_a_class_of_a_classifier(model, dtype):
    samples = given(model)
    signs = clone(model).fit(samples, (2 * y - 1).astype(dtype))
    assert_array_equal(signs.classes_, [-1, 1])
    assert_array_equal(signs.predict(samples), 2 * clone(model).fit(samples, y).predict(samples) - 1)


@pytest.mark.parametrize("model", MAPS, **each)
@pytest.mark.parametrize("dtype", [int, float, object])
def test_minus_one_is_a_class_of_a_map(model, dtype):
    samples = given(model)
    signs, plain = clone(model).fit(samples, (2 * y - 1).astype(dtype)), clone(model).fit(samples, y)
    assert_array_equal(signs.classes_, [-1, 1])
    assert_array_equal(signs.label_distribution_, plain.label_distribution_)
    assert_array_equal(signs.prototype_labels_, 2 * plain.prototype_labels_ - 1)


@pytest.mark.parametrize("labels", UNLABELED.values(), ids=UNLABELED)
@pytest.mark.parametrize("model", CLASSIFIERS + METRICS, **each)
def test_what_needs_all_classes_says_how_many_are_missing(model, labels):
    with pytest.raises(ValueError, match=r"6 of 60 labels in y are missing \(the first in row 3.*Leave out rows"):
        clone(model).fit(given(model), labels)


@pytest.mark.parametrize("labels", UNLABELED.values(), ids=UNLABELED)
@pytest.mark.parametrize("model", MAPS, **each)
def test_maps_take_every_sign_for_unlabeled(model, labels):
    expected, found = clone(model).fit(given(model), UNLABELED["floats"]), clone(model).fit(given(model), labels)
    assert_array_equal(found.labels_, expected.labels_)
    shares = found.label_distribution_
    order = slice(None) if found.classes_[0] in (0, "0") else [1, 0]  # ill before well
    assert_array_equal(shares[:, order], expected.label_distribution_)


@pytest.mark.parametrize(
    "model", [model for model in CLASSIFIERS if isinstance(model, LVQ1 | LVQ21 | RSLVQ | GLVQ)], **each
)
def test_batches_of_a_stream_have_a_class_for_every_sample(model):
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="6 of 60 labels in y are missing"):
            clone(model).partial_fit(X, UNLABELED["floats"], classes=[0, 1])


def test_collections_follow_the_rule():
    blocks = da.from_array(X, chunks=(20, 3))
    with pytest.raises(ValueError, match="labels in y are missing"):
        GMLVQ(random_state=0).fit(blocks, da.from_array(UNLABELED["floats"], chunks=20))
    for labels in (2 * y - 1, UNLABELED["floats"]):
        lazy = NeuralGas(4, label_weight=0.5, random_state=0).fit(blocks, da.from_array(labels, chunks=20))
        assert_array_equal(lazy.classes_, np.unique(labels[~np.isnan(labels)]))


@pytest.mark.parametrize(
    "measure",
    [
        lambda labels: classification_margins(D[:, :2], [0, 1], labels),
        lambda labels: class_aware_distances(X, labels),
        lambda labels: neighborhood_hit(X, labels),
        lambda labels: relevance_stability(GMLVQ(), X, labels),
        lambda labels: plot_class_map(SOM((2, 2), max_iter=2).fit(X), X, labels),
    ],
)
def test_measures_and_plots_follow_the_rule(measure):
    with pytest.raises(ValueError, match="6 of 60 labels in y are missing"):
        measure(UNLABELED["floats"])


def test_explored_samples_without_a_class_have_none():
    classes = classes_of(UNLABELED["Int64"], 60)
    assert_array_equal(np.array(classes["codes"]) == -1, missing)
