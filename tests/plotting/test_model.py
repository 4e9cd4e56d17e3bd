"""How estimators show themselves in notebooks: scikit-learn's diagram, a small picture, and a link to their page."""

import re
import sys
import warnings
from base64 import b64decode
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib import rcParams
from PIL import Image
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.utils import estimator_html_repr

from protolearn import GLVQ, GMLVQ, LFDA, SOM, TSNE, KMeans, NeuralGas, PrototypeClassifier, plotting
from protolearn.applications import ImageCompressor, Trajectory
from protolearn.plotting import _model, plot_model, sketch
from tests.test_common import DEFAULTS
from tests.test_reference import listed

X, y = load_iris(return_X_y=True)
WITHOUT = {"LFDA", "LPP"}  # learn neither relevances nor prototypes, and in one step
PICTURE = re.compile(r'<img alt="([^"]*)" width="\d+" style="[^"]*" src="data:image/png;base64,([^"]*)">$')


def html_of(estimator):
    return estimator._repr_mimebundle_()["text/html"]


def picture_in(html):
    """Return the words for a picture, and the bytes of its image; None if there is no picture."""
    found = PICTURE.search(html)
    return found and (found.group(1), b64decode(found.group(2), validate=True))


@pytest.mark.parametrize("estimator", DEFAULTS, ids=lambda estimator: type(estimator).__name__)
def test_every_fitted_estimator_shows_a_small_picture(estimator):
    estimator, name = clone(estimator), type(estimator).__name__
    if name == "CIALVQ":
        estimator.set_params(patch_shape=(1, -1, 1))
    before = picture_in(html_of(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = pairwise_distances(X[::3]) if estimator.__sklearn_tags__().input_tags.pairwise else X[::3]
        estimator.fit(samples, y[::3])
    state, settings = dict(vars(estimator)), dict(rcParams)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = picture_in(html_of(estimator))
    assert before is None
    assert (shown is None) == (name in WITHOUT)
    if shown is not None:
        words, data = shown
        assert words.endswith(f" of the {name}")
        assert len(data) < 30_000
        image = Image.open(BytesIO(data)).convert("L")
        assert 200 < image.width < 1000
        assert np.ptp(np.asarray(image)) > 100  # something is drawn
    assert plt.get_fignums() == []
    assert dict(rcParams) == settings
    assert vars(estimator) == state


def test_the_diagram_is_that_of_scikit_learn():
    som = SOM((3, 4), max_iter=5, random_state=0).fit(X)
    numbered = re.compile(r"sk-[\w-]*\d+")  # identifiers count on
    plain, ours = numbered.sub("", estimator_html_repr(som)), numbered.sub("", html_of(som))
    assert ours.startswith(plain)
    assert ours.removeprefix(plain) == sketch(som)
    assert numbered.sub("", som._repr_html_()) == ours


def test_text_instead_of_diagrams():
    som = SOM((3, 4), max_iter=5, random_state=0).fit(X)
    with config_context(display="text"):
        assert som._repr_mimebundle_() == {"text/plain": repr(som)}
        assert not hasattr(som, "_repr_html_")


def fail(*args, **kwargs):
    warnings.warn("seen by nobody", UserWarning, stacklevel=1)
    raise RuntimeError("planted")


def test_a_picture_that_fails_is_left_out(monkeypatch, recwarn):
    monkeypatch.setattr(plotting, "sketch", fail)
    html = html_of(SOM((3, 4), max_iter=5, random_state=0).fit(X))
    assert "SOM" in html
    assert picture_in(html) is None
    assert len(recwarn) == 0


def test_no_picture_without_matplotlib(monkeypatch):
    som = SOM((3, 4), max_iter=5, random_state=0).fit(X)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith("protolearn.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    html = html_of(som)
    assert "SOM" in html
    assert picture_in(html) is None


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", r"$\frac{1}$", "$x$ & <b>", "日本語 \n 名", "x" * 500])
def test_names_are_shown_as_they_are(name):
    frame = pd.DataFrame(X, columns=[name, "b", "c", "d"])
    model = GMLVQ(random_state=0, max_iter=5, tol=1.0).fit(frame, y)
    shown = picture_in(html_of(model))
    assert shown is not None
    assert shown[0] == "Most relevant features of the GMLVQ"
    assert Image.open(BytesIO(shown[1])).width < 1000
    assert "<script>alert" not in html_of(model)


def test_names_of_classes_are_escaped():
    """A class of one's own may have any name."""
    odd = type('SOM"><script>', (SOM,), {})((2, 2), max_iter=3, random_state=0).fit(X)
    assert "<script>" not in sketch(odd)


def test_settings_of_the_user_do_not_matter():
    som = SOM((3, 4), max_iter=5, random_state=0).fit(X)
    plain = sketch(som)
    with plt.style.context("dark_background"):
        assert sketch(som) == plain


# What is drawn


def test_views_above_five_thousand_points_are_drawn_in_part():
    view = TSNE()
    view.embedding_ = np.random.default_rng(0).normal(size=(20_000, 2))
    view.n_features_in_ = 2
    (points,) = plot_model(view).collections
    assert len(points.get_offsets()) == _model.MOST_POINTS
    assert {tuple(point) for point in points.get_offsets().tolist()} <= {tuple(row) for row in view.embedding_.tolist()}
    plt.close("all")


def test_planes_keep_distances_of_prototypes_in_a_plane():
    flat = (
        np.random.default_rng(0).normal(size=(60, 2)) @ np.linalg.qr(np.random.default_rng(1).normal(size=(5, 2)))[0].T
    )
    labels = np.arange(60) % 3
    for model in (GLVQ(random_state=0).fit(flat, labels), NeuralGas(6, random_state=0).fit(flat)):
        points = plot_model(model).collections[-1].get_offsets()
        np.testing.assert_allclose(pairwise_distances(points), pairwise_distances(model.prototypes_), atol=1e-8)
    plt.close("all")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (PrototypeClassifier(SOM((3, 3), random_state=0)), "Classes on the lattice"),
        (SOM((3, 3), label_weight=0.5, random_state=0), "Classes on the lattice"),
        (SOM((3, 3), random_state=0), "U-matrix"),
        (PrototypeClassifier(KMeans(5, random_state=0)), "Prototypes and their graph"),
        (GLVQ(), "Prototypes by class"),
        (GMLVQ(), "Most relevant features"),
    ],
    ids=str,
)
def test_what_tells_most_is_shown(model, words):
    assert picture_in(html_of(model.fit(X, y)))[0].startswith(words)


def test_too_many_prototypes_have_no_picture():
    many = KMeans(1001, max_iter=1, init="random", random_state=0).fit(np.random.default_rng(0).normal(size=(1200, 3)))
    with pytest.raises(ValueError, match="at most 1000 prototypes, but the model has 1001"):
        plot_model(many)
    assert picture_in(html_of(many)) is None


def test_what_has_no_picture_says_so():
    with pytest.raises(ValueError, match="LFDA has no plot"):
        plot_model(LFDA().fit(X, y))


# Links


@pytest.mark.parametrize("estimator", [*DEFAULTS, ImageCompressor(), Trajectory()], ids=lambda it: type(it).__name__)
def test_links_lead_to_pages_of_the_reference(estimator):
    pages = {
        f"https://protolearn.readthedocs.io/en/latest/api/generated/{module}.{name}.html" for module, name in listed()
    }
    assert estimator._get_doc_link() in pages
    assert estimator._get_doc_link() in html_of(estimator)


def test_classes_of_users_have_no_link():
    assert type("Mine", (SOM,), {})()._get_doc_link() == ""
