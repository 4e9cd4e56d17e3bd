"""Pictures of color filters: what is drawn is what was learned."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

from protolearn import CIALVQ, GLVQ
from protolearn.datasets import cut_image_patches, make_color_textures
from protolearn.plotting import plot_color_filters


@pytest.fixture(scope="module")
def textures():
    return cut_image_patches(*make_color_textures(1, size=32, random_state=0), 10, size=7, random_state=0)[:2]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def image(ax):
    return ax.get_images()[0].get_array()


def test_rows_are_classes_and_panels_filters_prototypes_and_powers(textures):
    model = CIALVQ(2, structure="diagonal", max_iter=3, random_state=0).fit(*textures)
    axes = plot_color_filters(model)
    assert axes.shape == (5, 1 + 2 + 2)
    assert [row[0].get_ylabel() for row in axes] == list(model.classes_)
    for code, row in enumerate(axes):
        kernel = model.color_filters_[code]
        np.testing.assert_allclose(image(row[0]), 0.5 + 0.5 * kernel / np.abs(kernel).max(), atol=1e-12)
        patch = model.prototype_patches_[2 * code]
        np.testing.assert_allclose(image(row[1]), (patch - patch.min()) / (patch.max() - patch.min()), atol=1e-12)
        powers = model.prototype_powers_[2 * code + 1]
        shifted = np.fft.fftshift(np.log1p(powers / np.median(powers)))
        np.testing.assert_allclose(image(row[4]), shifted, rtol=1e-9)


def test_learned_filters_have_no_patches_and_a_global_map_one_filter(textures):
    model = CIALVQ(2, structure="color", localization="global", learn_filters=True, max_iter=3, random_state=0)
    axes = plot_color_filters(model.fit(*textures), n_prototypes=1)
    assert axes.shape == (5, 2)
    for row in axes[1:]:
        np.testing.assert_array_equal(image(row[0]), image(axes[0, 0]))


@pytest.mark.parametrize("n_channels", [1, 2, 5])
def test_any_number_of_channels(n_channels):
    X = np.random.default_rng(0).random((12, 5, 5, n_channels))
    axes = plot_color_filters(CIALVQ(1, max_iter=2, random_state=0).fit(X, np.arange(12) % 2))
    assert image(axes[0, 1]).shape == (5, 5, 3)


def test_bad_input_is_refused(textures):
    with pytest.raises(NotFittedError):
        plot_color_filters(CIALVQ())
    with pytest.raises(ValueError, match="n_prototypes=0"):
        plot_color_filters(CIALVQ(1, structure="color", max_iter=1).fit(*textures), n_prototypes=0)


def test_complex_filters_are_shown_by_their_real_part():
    rng = np.random.default_rng(0)
    X, kernels = rng.random((12, 5, 5, 3)), rng.normal(size=(1, 5, 5)) + 1j * rng.normal(size=(1, 5, 5))
    model = CIALVQ(1, filters=kernels, structure="color", max_iter=2, random_state=0).fit(X, np.arange(12) % 2)
    kernel = model.color_filters_[0].real
    shown = image(plot_color_filters(model)[0, 0])
    np.testing.assert_allclose(shown, 0.5 + 0.5 * kernel / np.abs(kernel).max(), atol=1e-12)


def test_other_models_are_refused():
    with pytest.raises(ValueError, match="not a GLVQ"):
        plot_color_filters(GLVQ().fit([[0.0], [1.0]], [0, 1]))
