"""Classical scaling gives principal components of vectors, tells what is not Euclidean, and places new samples."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from protolearn import GMLVQ, LGMLVQ, ClassicalMDS, OutOfSample
from protolearn.core.threads import Threads
from protolearn.dissimilarities import edit, geodesic, pairwise, pseudo_euclidean, spectrum
from protolearn.embedding import discriminative_distances
from protolearn.embedding._base import ViewSamples
from protolearn.embedding.costs import strain

WORDS = ["map", "maps", "lap", "laps", "lapse", "elapse", "slap", "gap", "gape", "tape", "tapes", "tab"]


def table(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(3.0, 0.5, d) + 100.0


def assert_same_up_to_signs(Y, other, atol):
    signs = np.sign((Y * other).sum(axis=0))
    np.testing.assert_allclose(Y * signs, other, atol=atol * np.abs(other).max())


@pytest.mark.parametrize(("n", "d"), [(60, 5), (12, 30), (20, 20)])
@pytest.mark.parametrize("pairs", [False, True])
def test_euclidean_data_give_principal_components_and_so_do_new_samples(n, d, pairs):
    X, new = table(n, d), table(7, d, seed=1)
    pca = PCA(3, svd_solver="full").fit(X)
    model = ClassicalMDS(3, metric="precomputed" if pairs else "euclidean").fit(cdist(X, X) if pairs else X)
    assert_same_up_to_signs(model.embedding_, pca.transform(X), 1e-10)
    placed = model.transform(cdist(new, X) if pairs else new)
    assert_same_up_to_signs(
        placed * np.sign((model.embedding_ * pca.transform(X)).sum(axis=0)), pca.transform(new), 1e-8
    )
    np.testing.assert_allclose(model.eigenvalues_[:3], pca.explained_variance_ * (n - 1), rtol=1e-10)
    assert model.negative_share_ == 0.0


@pytest.mark.parametrize("squared", [False, True])
def test_training_samples_have_their_own_positions(squared):
    D = edit(WORDS).astype(float)
    model = ClassicalMDS(metric="precomputed", squared=squared).fit(D)
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-12 * np.abs(model.embedding_).max())


def test_dissimilarities_that_are_not_euclidean():
    """The coordinates are those of the positive eigenvalues, and all eigenvalues are told."""
    D = edit(WORDS).astype(float)
    model = ClassicalMDS(metric="precomputed").fit(D)
    coordinates, _ = pseudo_euclidean(D)
    assert_same_up_to_signs(model.embedding_, coordinates[:, :2], 1e-12)
    values = spectrum(D)
    np.testing.assert_allclose(model.eigenvalues_, values, atol=1e-12 * values[0])
    assert model.negative_share_ == pytest.approx(-values[values < -1e-9].sum() / np.abs(values).sum(), rel=1e-9)
    assert model.negative_share_ > 0.05


def test_a_new_sample_is_placed_by_gowers_formula():
    """As if it were added to the inner products of the others, seen from the mean of these."""
    D = edit(WORDS).astype(float)
    model = ClassicalMDS(metric="precomputed").fit(D)
    new = np.array([edit([*WORDS, "tap"])[-1, :-1]], float)
    n = len(WORDS)
    products = [
        -0.5 * (new[0, j] ** 2 - (new[0] ** 2).mean() - (D[j] ** 2).mean() + (D**2).mean()) for j in range(n)
    ]  # fmt: skip
    expected = [sum(products[j] * model.embedding_[j, c] for j in range(n)) / model.eigenvalues_[c] for c in range(2)]
    np.testing.assert_allclose(model.transform(new)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("pairs", [False, True])
def test_no_step_lowers_the_strain(pairs):
    X = table(40, 6)
    squares = cdist(X, X, "cityblock") ** 2 if pairs else None
    samples = ViewSamples(None, squares, 1.0) if pairs else ViewSamples(X, None, 1.0)
    cost = strain().objective(samples, Threads(), np.random.RandomState(0))
    model = ClassicalMDS(metric="precomputed", squared=True).fit(squares) if pairs else ClassicalMDS().fit(X)
    value, gradient = cost(model.embedding_)
    assert np.abs(gradient).max() < 1e-12
    moves = 0.1 * np.random.default_rng(0).normal(size=(20, *model.embedding_.shape))
    assert all(cost(model.embedding_ + move)[0] > value for move in moves)


def test_paths_make_isomap():
    turn = np.random.default_rng(0).uniform(0.0, 6.0, size=80)
    X = np.column_stack([turn * np.cos(turn), turn * np.sin(turn), np.arange(80) % 5])
    ours = ClassicalMDS(metric="precomputed").fit_transform(geodesic(X, 12))
    assert_same_up_to_signs(ours, Isomap(n_neighbors=12).fit_transform(X), 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_forms_of_the_data():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    known, new = slice(0, None, 2), slice(1, None, 2)
    local = LGMLVQ(max_iter=10, random_state=0).fit(X, y)
    seen = ClassicalMDS(metric=local).fit(X[known])
    D = discriminative_distances(local, X[known])
    given = ClassicalMDS(metric="precomputed").fit(D)
    np.testing.assert_allclose(seen.embedding_, given.embedding_, atol=1e-9)
    rows = discriminative_distances(local, X[new], X[known])
    np.testing.assert_allclose(seen.transform(X[new]), given.transform(rows), atol=1e-9)
    whole = GMLVQ(max_iter=10, random_state=0).fit(X, y)
    projected = ClassicalMDS(metric=whole).fit(X[known])
    assert_same_up_to_signs(projected.transform(X[new]), ClassicalMDS().fit(whole.transform(X[known])).transform(
        whole.transform(X[new])), 1e-9)  # fmt: skip
    words = ClassicalMDS(metric="edit").fit(WORDS)
    tap = pairwise(["tap"], WORDS, metric="edit")
    expected = ClassicalMDS(metric="precomputed").fit(edit(WORDS)).transform(tap)
    np.testing.assert_allclose(words.transform(["tap"]), expected)


def test_dimensions_that_the_data_do_not_have_are_zero():
    line = np.linspace(0.0, 1.0, 9)[:, None] * [[1.0, 2.0, -1.0]]
    for model in (ClassicalMDS(3).fit(line), ClassicalMDS(3, metric="precomputed").fit(cdist(line, line))):
        assert not model.embedding_[:, 1:].any()
        assert model.negative_share_ == 0.0
        new = [[1.0, 1.0, 1.0]] if model.metric == "euclidean" else cdist([[1.0, 1.0, 1.0]], line)
        assert not model.transform(new)[:, 1:].any()


def test_out_of_sample_places_where_the_formula_does():
    X, new = table(50, 4), table(10, 4, seed=1)
    model = OutOfSample(ClassicalMDS()).fit(X)
    np.testing.assert_allclose(
        model.transform(new), ClassicalMDS().fit(X).transform(new), atol=1e-3
    )  # that of a search


def test_what_is_far_from_euclidean_is_said_and_bad_input_refused():
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))) ** 3
    with pytest.warns(UserWarning, match="far from Euclidean: the negative eigenvalue -.* exceeds the last one shown"):
        ClassicalMDS(metric="precomputed").fit(D)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ClassicalMDS(metric="precomputed").fit(edit(WORDS))
    with pytest.raises(ValueError, match=r"n_components=9 must be an integer in \[1, 8\]"):
        ClassicalMDS(9).fit(table(9, 20))
    with pytest.raises(ValueError, match="negative dissimilarities"):
        ClassicalMDS(metric="precomputed").fit(edit(WORDS)).transform(-np.ones((1, 12)))
    with pytest.raises(ValueError, match="must be symmetric"):
        ClassicalMDS(metric="precomputed").fit(np.triu(edit(WORDS)))
    with pytest.raises(ValueError, match="symmetrize='keep' must be one of 'raise', 'mean'"):
        ClassicalMDS(metric="precomputed", symmetrize="keep").fit(edit(WORDS))
