"""Classifying images of digits by a map for each class."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from protolearn import NGPCA, MatrixNeuralGas, NeuralGas, PrototypeClassifier
from protolearn.applications import digit_classifier, digit_pixels
from protolearn.datasets import downsample_digits

N_TRAIN = 1000


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def fitted(digits):
    X, y = digits
    return digit_classifier(NGPCA(3, 5, n_steps=5000, random_state=0), levels=16).fit(X[:N_TRAIN], y[:N_TRAIN])


def test_shapes_classify_better_than_their_centers(digits, fitted):
    X, y = digits
    maps = fitted["classifier"].estimators_
    centers = np.concatenate([own.prototypes_ for own in maps])
    nearest = KNeighborsClassifier(1).fit(centers, fitted["classifier"].prototype_labels_)
    by_center = nearest.score(X[N_TRAIN:] / 16, y[N_TRAIN:])
    by_shape = fitted.score(X[N_TRAIN:], y[N_TRAIN:])
    assert by_shape > by_center + 0.02
    assert by_shape > 0.93


def test_a_map_sees_the_images_of_its_class_alone(digits, fitted):
    X, y = digits
    pixels = digit_pixels(X[:N_TRAIN], levels=16)
    for digit, own in zip(fitted.classes_, fitted["classifier"].estimators_):
        alone = NGPCA(3, 5, n_steps=5000, random_state=0).fit(pixels[y[:N_TRAIN] == digit])
        np.testing.assert_array_equal(own.prototypes_, alone.prototypes_)


def test_brightness_of_white_does_not_matter(digits, fitted):
    X, y = digits
    brighter = clone(fitted).set_params(pixels__kw_args={"levels": 128, "small": False})
    brighter.fit(8 * X[:N_TRAIN], y[:N_TRAIN])
    np.testing.assert_array_equal(brighter.predict(8 * X), fitted.predict(X))


def test_images_may_have_rows_and_columns(digits, fitted):
    X, _ = digits
    np.testing.assert_array_equal(fitted.predict(X.reshape(-1, 8, 8)), fitted.predict(X))


def test_pixels_fill_the_unit_interval_and_keep_their_order():
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    images[0, 0, :2] = 0, 255
    pixels = digit_pixels(images)
    assert pixels.dtype == np.float32
    assert (pixels.min(), pixels.max()) == (0, 1)
    np.testing.assert_allclose(255 * pixels, images.reshape(5, 784), rtol=1e-6)


@pytest.mark.parametrize("shape", [(5, 28, 28), (5, 784)])
def test_small_images_are_those_of_downsample_digits(shape):
    images = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    expected = downsample_digits(images.reshape(5, 28, 28) / 255.0).reshape(5, 64)
    np.testing.assert_allclose(digit_pixels(images, small=True), expected, rtol=1e-6)


def test_other_sizes_cannot_be_shrunk(digits):
    with pytest.raises(ValueError, match="28"):
        digit_classifier(NeuralGas(2), small=True).fit(*digits)


def test_default_map_has_shapes_and_the_given_seed():
    classifier = digit_classifier(random_state=7)["classifier"]
    assert isinstance(classifier, PrototypeClassifier)
    assert classifier.per_class
    assert isinstance(classifier.estimator, MatrixNeuralGas)
    assert classifier.estimator.random_state == 7
    assert classifier.estimator.n_prototypes * 10 <= 200


def test_default_map_learns_digits(digits):
    X, y = digits
    model = digit_classifier(levels=16, random_state=0)
    model["classifier"].estimator.set_params(n_prototypes=3, n_components=5, max_iter=10)
    assert model.fit(X[:N_TRAIN], y[:N_TRAIN]).score(X[N_TRAIN:], y[N_TRAIN:]) > 0.93


def test_pickled_model_predicts_the_same(digits, fitted):
    X, _ = digits
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))
