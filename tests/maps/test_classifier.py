"""Posterior labeling, probabilities and the reject option."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans as ScikitKMeans
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protolearn import NGPCA, SOM, KMeans, MatrixKMeans, NeuralGas, PrototypeClassifier, RelationalNeuralGas
from protolearn.metrics import map_entropy, quantization_error, topographic_error, topographic_function

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("estimator", [KMeans(9, random_state=0), NeuralGas(9, random_state=0), SOM((3, 3))], ids=repr)
def test_labels_are_the_class_shares_of_receptive_fields(estimator):
    classifier = PrototypeClassifier(estimator).fit(X, y)
    winners = cdist(X, classifier.estimator_.prototypes_).argmin(axis=1)
    for i in np.unique(winners):
        shares = np.bincount(y[winners == i], minlength=3) / (winners == i).sum()
        assert_allclose(classifier.label_distribution_[i], shares)
        assert classifier.prototype_labels_[i] == shares.argmax()
    assert_array_equal(classifier.predict(X), classifier.prototype_labels_[winners])
    counts = np.bincount(winners, minlength=9)[:, None]
    one_more = (counts * classifier.label_distribution_ + 1 / 3) / (counts + 1)  # that belongs to all classes alike
    assert_allclose(classifier.predict_proba(X), one_more[winners])
    assert_array_equal(classifier.predict_proba(X), classifier.prototype_probabilities_[winners])


@pytest.mark.parametrize(
    "classifier",
    [
        PrototypeClassifier(),
        PrototypeClassifier(labeling="majority"),
        PrototypeClassifier(NeuralGas(12, label_weight=0.5, random_state=0)),
        PrototypeClassifier(per_class=True),
        PrototypeClassifier(MatrixKMeans(1, normalization="logdet"), per_class=True),
        PrototypeClassifier(NGPCA(2, 1, n_steps=500, random_state=0), per_class=True),
        PrototypeClassifier(RelationalNeuralGas(3, random_state=0), per_class=True),
    ],
    ids=repr,
)
def test_the_most_probable_class_is_the_one_predicted(classifier):
    pairs = isinstance(classifier.estimator, RelationalNeuralGas)
    samples = cdist(X, X, "cityblock") if pairs else X  # not Euclidean, so that squares may be negative
    classifier = clone(classifier).fit(samples, y)
    P = classifier.predict_proba(samples)
    assert_allclose(P.sum(axis=1), 1.0)
    predicted = P[np.arange(len(P)), np.searchsorted(classifier.classes_, classifier.predict(samples))]
    assert_array_equal(predicted, P.max(axis=1))  # there may be ties
    assert (P > 0).all() == (classifier.labeling == "fuzzy")


def test_shapes_of_each_class_classify_digits_better_than_their_centers():
    images, digit = load_digits(return_X_y=True)
    images = images / 16.0
    own = NGPCA(3, 5, n_steps=5000, random_state=0)
    classifier = PrototypeClassifier(own, per_class=True).fit(images[:1000], digit[:1000])
    assert_array_equal(
        classifier.estimators_[7].prototypes_, clone(own).fit(images[:1000][digit[:1000] == 7]).prototypes_
    )
    centers = np.concatenate([fitted.prototypes_ for fitted in classifier.estimators_])
    nearest = classifier.prototype_labels_[cdist(images[1000:], centers).argmin(axis=1)]
    accuracy = classifier.score(images[1000:], digit[1000:])
    assert accuracy > (nearest == digit[1000:]).mean() + 0.02
    assert accuracy > 0.93


def test_temperature_is_that_of_the_probabilities():
    classifier = PrototypeClassifier(per_class=True).fit(X, y)
    codes = np.searchsorted(classifier.classes_, classifier.prototype_labels_)
    near = np.sqrt(np.stack([classifier.distances(X)[:, codes == code].min(axis=1) for code in range(3)], axis=1))
    shares = np.exp(-near / classifier.temperature_)
    assert_allclose(classifier.predict_proba(X), shares / shares.sum(axis=1, keepdims=True))
    assert not hasattr(PrototypeClassifier().fit(X, y), "temperature_")


def test_chances_of_a_supervised_map_are_those_of_the_samples_a_prototype_wins_without_their_labels():
    classifier = PrototypeClassifier(NeuralGas(6, label_weight=0.9, random_state=0)).fit(X, y)
    P, winners = classifier.predict_proba(X), classifier.nearest(X)
    for i in np.unique(winners):
        counts = np.bincount(y[winners == i], minlength=3)
        assert_allclose(np.sort(P[winners == i][0]), np.sort((counts + 1 / 3) / (counts.sum() + 1)))


@pytest.mark.parametrize("estimator", [None, MatrixKMeans(1, normalization="logdet")], ids=repr)
def test_one_map_for_each_class_is_as_sure_as_it_is_right(estimator):
    samples, labels = make_blobs(600, 4, centers=3, cluster_std=3.0, random_state=0)
    classifier = PrototypeClassifier(estimator, per_class=True).fit(samples[:300], labels[:300])
    P = classifier.predict_proba(samples[300:])
    right = classifier.predict(samples[300:]) == labels[300:]
    assert abs(P.max(axis=1).mean() - right.mean()) < 0.1


def test_majority_is_fuzzy_made_crisp():
    fuzzy, crisp = (PrototypeClassifier(KMeans(7, random_state=0), labeling=b).fit(X, y) for b in ("fuzzy", "majority"))
    assert_array_equal(fuzzy.predict(X), crisp.predict(X))
    assert set(np.unique(crisp.label_distribution_)) == {0.0, 1.0}


def test_weights_count_in_the_shares():
    weights = np.where(y == 2, 10.0, 1.0)
    weighted = PrototypeClassifier(KMeans(1)).fit(X, y, sample_weight=weights)
    assert_allclose(weighted.label_distribution_, [[50 / 600, 50 / 600, 500 / 600]])


def test_supervised_maps_bring_their_labels():
    gas = NeuralGas(6, label_weight=0.5, random_state=0)
    classifier = PrototypeClassifier(gas).fit(X, y)
    assert_array_equal(classifier.label_distribution_, clone(gas).fit(X, y).label_distribution_)


def test_minus_one_is_a_class_of_a_classifier():
    gas = NeuralGas(6, label_weight=0.5, random_state=0)
    renamed = PrototypeClassifier(gas).fit(X, y - 1)
    assert_array_equal(renamed.classes_, [-1, 0, 1])
    assert_array_equal(renamed.predict(X), PrototypeClassifier(gas).fit(X, y).predict(X) - 1)


def test_any_estimator_with_winners_and_distances():
    for estimator in (ScikitKMeans(9, random_state=0), make_pipeline(StandardScaler(), NeuralGas(9, random_state=0))):
        classifier = PrototypeClassifier(estimator).fit(X, y)
        assert classifier.score(X, y) > 0.9
        assert classifier.confidence(X).shape == (150,)
    with pytest.raises(ValueError, match="Pipeline does not support sample_weight"):
        classifier.fit(X, y, sample_weight=np.ones(150))


def test_measures_take_the_map_inside():
    classifier = PrototypeClassifier(SOM((4, 4))).fit(X, y)
    som = classifier.estimator_
    assert quantization_error(X, classifier) == quantization_error(X, som)
    assert topographic_error(X, classifier) == topographic_error(X, som)
    assert map_entropy(classifier) == map_entropy(som)
    assert_array_equal(topographic_function(classifier)[1], topographic_function(som)[1])


def test_empty_fields_take_the_label_of_the_nearest_sample():
    points = np.array([[0.0], [0.1], [10.0], [10.1]])
    start = np.array([[0.0], [3.0], [10.0]])
    start[1] = 40.0
    classifier = PrototypeClassifier(KMeans(3, init=start)).fit(points, ["a", "a", "b", "b"])
    assert_array_equal(classifier.prototype_labels_, ["a", "b", "b"])


def test_confidence_and_reject():
    blobs, labels = make_blobs(300, centers=[[-2, 0], [2, 0]], random_state=0)
    classifier = PrototypeClassifier(KMeans(2, random_state=0), reject_threshold=0.3).fit(blobs, labels)
    confidence = classifier.confidence(blobs)
    D = cdist(blobs, classifier.estimator_.prototypes_, "sqeuclidean")
    assert_allclose(confidence, np.abs(D[:, 0] - D[:, 1]) / D.sum(axis=1))
    predicted = classifier.predict(blobs)
    assert_array_equal(predicted == -1, confidence < 0.3)
    assert 0 < (predicted == -1).mean() < 0.3
    kept = predicted != -1
    plain = PrototypeClassifier(KMeans(2, random_state=0)).fit(blobs, labels).predict(blobs)
    assert (plain[kept] == labels[kept]).mean() >= (plain == labels).mean()


def test_one_class_is_certain():
    classifier = PrototypeClassifier(KMeans(2, random_state=0)).fit(X, np.ones(150))
    assert_array_equal(classifier.confidence(X), np.ones(150))


def test_reject_label_must_fit_the_classes():
    names = np.array(["a", "b", "c"])[y]
    with pytest.raises(ValueError, match=r"reject_label=-1 is not of the type.*such as 'rejected'"):
        PrototypeClassifier(reject_threshold=0.5).fit(X, names)
    rejecting = PrototypeClassifier(reject_threshold=0.5, reject_label="rejected").fit(X, names)
    assert set(rejecting.predict(X)) == {"a", "b", "c", "rejected"}


def test_bad_parameters():
    with pytest.raises(ValueError, match="labeling='crisp' must be one of 'fuzzy', 'majority'"):
        PrototypeClassifier(labeling="crisp").fit(X, y)
    with pytest.raises(ValueError, match=r"reject_threshold=2 must be a number in \[0, 1\]"):
        PrototypeClassifier(reject_threshold=2).fit(X, y)


def test_accuracy_on_iris():
    assert cross_val_score(PrototypeClassifier(), X, y).mean() > 0.9


@pytest.mark.parametrize("normalization", ["none", "logdet", "det"])
def test_a_class_of_one_distinct_sample_has_a_shape_of_its_scale(normalization):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 4.0, [[6.0, -1.0]] * 3])
    y, new = np.repeat([0, 1, 2], [40, 40, 3]), rng.uniform(-3.0, 8.0, size=(200, 2))
    estimator = MatrixKMeans(1, normalization=normalization, random_state=0)
    classifier = PrototypeClassifier(estimator, per_class=True)
    expected = classifier.fit(X, y).predict(new)
    for scale in (1e-6, 1e6):
        assert_array_equal(classifier.fit(scale * X, y).predict(scale * new), expected)
