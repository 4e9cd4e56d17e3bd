"""Search for images: neighbors, rates and recommendations, against slow computations by their definitions."""

import pickle
import tracemalloc
import zipfile
from dataclasses import replace
from io import BytesIO

import joblib
import numpy as np
import pytest
from PIL import Image
from scipy.stats import ortho_group
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn.applications import (
    ColorDifference,
    ImageRetriever,
    RegionColors,
    RetrievalHits,
    contact_sheet,
    retrieval_rates,
)
from protolearn.applications.index_file import read_index, write_index
from protolearn.datasets import make_lesion_images, make_lesions
from protolearn.lvq import GMLVQ, GRLVQ, LFDA, LGMLVQ, canonical_matrix, mean_canonical_matrix

METRICS = ["liram", "local", "lmnn", "euclidean"]
LOCAL_MAPS = ["query", "raw", "canonical", "centered"]
SMALL = (14, 12, 10, 12)
each_metric = pytest.mark.parametrize("metric", METRICS)


@parametrize_with_checks(
    [
        ImageRetriever(),
        ImageRetriever("local", local_map="centered"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def lesions():
    return make_lesions(SMALL, random_state=0)


@pytest.fixture(scope="module")
def pictures():
    images, masks, y = make_lesion_images((5, 5, 4, 5), size=24, random_state=0)
    return list(zip(images, masks)), y


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pictures):
    root = tmp_path_factory.mktemp("skin")
    for number, ((image, mask), label) in enumerate(zip(*pictures)):
        (root / label).mkdir(exist_ok=True)
        Image.fromarray(image).save(root / label / f"{number:02}.png")
        Image.fromarray(mask).save(root / label / f"{number:02}_mask.png")
    return root


def z_scored(X, of):
    return (X - of.mean(axis=0)) / of.std(axis=0)


def metric_of(model, z):
    """Return the matrix by which a query is measured, given the fitted metric."""
    if model is None:
        return np.eye(len(z))
    if hasattr(model, "omegas_"):
        distances = [np.sum((A @ (z - w)) ** 2) for A, w in zip(model.omegas_, model.prototypes_)]
        return model.omegas_[int(np.argmin(distances))]
    return model.omega_ if hasattr(model, "omega_") else model.components_


def brute_force(model, queries, Z, k, own=None):
    """Rank all images by loops; return distances and numbers."""
    rows = []
    for j, z in enumerate(queries):
        A = metric_of(model, z)
        ranked = sorted((float(np.linalg.norm(A @ (z - x))), i) for i, x in enumerate(Z) if own is None or i != own[j])
        rows.append(ranked[:k])
    found = np.array(rows)
    return found[..., 0], found[..., 1].astype(int)


# neighbors


@each_metric
def test_neighbors_by_definition(lesions, metric):
    X, y = lesions
    retriever = ImageRetriever(metric, random_state=0).fit(X[:40], y[:40])
    Z, queries = z_scored(X[:40], X[:40]), z_scored(X[40:], X[:40])
    distances, indices = retriever.kneighbors(X[40:])
    expected = brute_force(retriever.metric_, queries, Z, 11)
    np.testing.assert_allclose(distances, expected[0], atol=1e-9)
    np.testing.assert_array_equal(indices, expected[1])
    np.testing.assert_array_equal(retriever.kneighbors(X[40:], return_distance=False), indices)

    distances, indices = retriever.kneighbors(n_neighbors=5)
    expected = brute_force(retriever.metric_, Z, Z, 5, own=range(40))
    np.testing.assert_allclose(distances, expected[0], atol=1e-9)
    np.testing.assert_array_equal(indices, expected[1])


@each_metric
def test_no_image_is_its_own_neighbor(lesions, metric):
    X, y = (np.repeat(part, 3, axis=0) for part in lesions)  # each image twice more
    retriever = ImageRetriever(metric, random_state=0).fit(X, y)
    for k in (1, 2, 7, len(X) - 1):
        indices = retriever.kneighbors(n_neighbors=k, return_distance=False)
        assert (indices != np.arange(len(X))[:, None]).all()
        assert all(len(set(row)) == k for row in indices.tolist())
    distances, _ = retriever.kneighbors(n_neighbors=2)
    np.testing.assert_allclose(distances, 0, atol=1e-6)


def test_hits_and_precision_by_definition(lesions):
    X, y = lesions
    retriever = ImageRetriever(random_state=0).fit(X[:40], y[:40])
    hits = retriever.retrieve(X[40:], 6)
    distances, indices = retriever.kneighbors(X[40:], 6)
    np.testing.assert_array_equal(hits.indices, indices)
    np.testing.assert_array_equal(hits.distances, distances)
    np.testing.assert_array_equal(hits.labels, y[:40][indices])
    assert hits.paths is None

    def share(rows, wanted, k):
        return sum(y[i] == label for row, label in zip(rows, wanted) for i in row[:k]) / (k * len(wanted))

    shares = [share(indices, y[40:], k) for k in (1, 6)]
    np.testing.assert_allclose(retriever.precision_at_k(X[40:], y[40:], [1, 6]), shares)
    _, others = brute_force(retriever.metric_, retriever.vectors_, retriever.vectors_, 11, own=range(40))
    np.testing.assert_allclose(retriever.precision_at_k(), [share(others, y[:40], k) for k in (1, 5, 11)])


def test_any_estimator_can_be_the_metric(lesions):
    X, y = lesions
    Z = z_scored(X, X)
    for metric in (PCA(2), LFDA(2), make_pipeline(PCA(4), PCA(2))):
        retriever = ImageRetriever(metric).fit(X, y)
        view = clone(metric).fit(Z, y).transform(Z)
        distances = np.linalg.norm(view[:, None] - view, axis=2)
        np.testing.assert_allclose(retriever.kneighbors(X, 4)[0], np.sort(distances, axis=1)[:, :4], atol=1e-6)
    relevances = ImageRetriever(GRLVQ(random_state=0)).fit(X, y)
    scaled = Z * np.sqrt(relevances.metric_.relevances_)
    distances = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    np.testing.assert_allclose(relevances.kneighbors(X, 4)[0], np.sort(distances, axis=1)[:, :4], atol=1e-6)


def test_scale_is_that_of_the_fit(lesions):
    X, y = lesions
    units = np.array([1.0, 10.0, 1e-3, 5.0, 1.0, 100.0])
    scaled = ImageRetriever("euclidean").fit(X, y).kneighbors(n_neighbors=5)
    np.testing.assert_array_equal(ImageRetriever("euclidean").fit(X * units, y).kneighbors(n_neighbors=5)[1], scaled[1])
    plain = ImageRetriever("euclidean", scale=False).fit(X, y)
    expected = brute_force(None, X, X, 5, own=range(len(X)))
    np.testing.assert_array_equal(plain.kneighbors(n_neighbors=5)[1], expected[1])
    assert plain.scaler_ is None


def test_the_index_can_hold_other_images(lesions):
    X, y = lesions
    retriever = ImageRetriever(random_state=0).fit(X[:40], y[:40])
    omega = retriever.metric_.omega_
    assert retriever.index(X) is retriever
    assert retriever.metric_.omega_ is omega
    Z = z_scored(X, X[:40])
    np.testing.assert_array_equal(
        retriever.kneighbors(n_neighbors=3)[1], brute_force(retriever.metric_, Z, Z, 3, own=range(len(X)))[1]
    )
    assert retriever.retrieve(X[:1]).labels is None
    with pytest.raises(ValueError, match="no labels"):
        retriever.precision_at_k()
    assert retriever.index(X, list(y)).retrieve(X[:1], 1).labels.tolist() == [[y[0]]]


# matrices of their own


def turned(retriever, seed):
    """Return a retriever whose local matrices are rotated, which leaves every local metric as it is."""
    other = pickle.loads(pickle.dumps(retriever))
    matrices = other.learned_metric_.matrices
    rotations = ortho_group.rvs(matrices.shape[1], size=len(matrices), random_state=seed)
    other.learned_metric_ = replace(other.learned_metric_, matrices=rotations @ matrices)
    return other.index(other.scaler_.inverse_transform(other.vectors_), other.labels_)


@pytest.mark.parametrize("local_map", LOCAL_MAPS)
def test_rotations_of_local_matrices(lesions, local_map):
    """Every local metric stays as it is. Ranks by the metric of the query do so, too; those of raw maps do not."""
    X, y = lesions
    retriever = ImageRetriever("local", local_map=local_map, random_state=0).fit(X, y)
    distances, indices = retriever.kneighbors()
    other = turned(retriever, seed=1).kneighbors()
    if local_map == "raw":
        assert np.abs(other[0] - distances).max() > 0.05
        assert (other[1] != indices).mean() > 0.2
    else:
        np.testing.assert_allclose(other[0], distances, atol=1e-9)
        np.testing.assert_array_equal(other[1], indices)


@pytest.mark.parametrize("local_map", LOCAL_MAPS[1:])
def test_views_of_local_maps_by_definition(lesions, local_map):
    X, y = lesions
    retriever = ImageRetriever("local", local_map=local_map, random_state=0).fit(X, y)
    model, Z = retriever.metric_, z_scored(X, X)
    shared = mean_canonical_matrix(model.omegas_)
    view = []
    for z in Z:
        A = metric_of(model, z)
        w = model.prototypes_[next(i for i, omega in enumerate(model.omegas_) if (omega == A).all())]
        if local_map == "centered":
            U, _, Vt = np.linalg.svd(A @ shared.T)
            view.append((U @ Vt).T @ A @ (z - w) + shared @ w)
        else:
            view.append((A if local_map == "raw" else canonical_matrix(A)) @ z)
    np.testing.assert_allclose(retriever.transform(X), view, atol=1e-9)
    assert retriever.transform(X).shape == (len(X), 3)


def test_raw_maps_are_those_that_training_left(lesions):
    X, y = lesions
    raw = ImageRetriever("local", local_map="raw", random_state=0).fit(X, y).metric_.omegas_
    assert max(np.abs(canonical_matrix(omega) - omega).max() for omega in raw) > 0.05
    plain = ImageRetriever("local", random_state=0).fit(X, y).metric_.omegas_
    np.testing.assert_allclose([canonical_matrix(omega) for omega in plain], plain, atol=1e-12)


def test_ranks_of_one_query_have_no_common_view(lesions):
    with pytest.raises(ValueError, match="every prototype has its own projection"):
        ImageRetriever("local").fit(*lesions).transform(lesions[0])


def test_local_metrics_of_classes_with_several_prototypes(lesions):
    X, y = lesions
    retriever = ImageRetriever(LGMLVQ(2, n_components=2, localization="class", random_state=0)).fit(X, y)
    distances, indices = retriever.kneighbors(X[:9], 4)
    model, Z = retriever.metric_, z_scored(X, X)
    for z, found, numbers in zip(Z, distances, indices):
        winner = np.argmin([np.sum((model.omegas_[p // 2] @ (z - w)) ** 2) for p, w in enumerate(model.prototypes_)])
        lengths = np.linalg.norm((Z - z) @ model.omegas_[winner // 2].T, axis=1)
        np.testing.assert_array_equal(numbers, np.argsort(lengths)[:4])
        np.testing.assert_allclose(found, np.sort(lengths)[:4], atol=1e-9)
    assert retriever.recommendation().names.tolist() == ["blue", "brown", "red", "white"]


# what is learned


@pytest.mark.parametrize("metric", ["liram", "lmnn"])
def test_recommendation_is_the_metric(lesions, metric):
    X, y = lesions
    retriever = ImageRetriever(metric, n_components=2, random_state=0).fit(X, y)
    advice = retriever.recommendation()
    A = metric_of(retriever.metric_, X[0])
    np.testing.assert_allclose(advice.transform.T @ advice.transform, A.T @ A, atol=1e-12)
    np.testing.assert_allclose(advice.transform @ advice.transform.T, np.diag((advice.transform**2).sum(1)), atol=1e-9)
    np.testing.assert_allclose(advice.relevances, np.diag(A.T @ A) / np.trace(A.T @ A))
    np.testing.assert_allclose(advice.shares, np.linalg.eigvalsh(A @ A.T)[::-1] / np.trace(A.T @ A))
    first, *rows, last = str(advice).splitlines()
    assert first.split() == ["direction", "1", "direction", "2", "relevance"]
    assert [float(cell) for cell in rows[3].split()[1:3]] == pytest.approx(advice.transform[:, 3], abs=6e-4)
    assert float(last.split()[1]) == pytest.approx(100 * advice.shares[0], abs=0.06)


def test_recommendation_names_regions_and_colors(pictures):
    text = str(ImageRetriever(random_state=0).fit(*pictures).recommendation())
    assert [line[:9].rstrip() for line in text.splitlines()[1:-1]] == [
        f"{region} {channel}" for region in ("outside", "inside") for channel in "Lab"
    ]


def test_recommendation_of_other_metrics(lesions):
    X, y = lesions
    advice = ImageRetriever("local", random_state=0).fit(X, y).recommendation()
    assert advice.transform.shape == (4, 3, 6)
    assert [part.splitlines()[0] for part in str(advice).split("\n\n")] == ["blue", "brown", "red", "white"]
    np.testing.assert_allclose(ImageRetriever("euclidean").fit(X).recommendation().relevances, 1 / 6)
    pca = ImageRetriever(PCA(2)).fit(X, y)
    np.testing.assert_allclose(pca.recommendation().relevances, (pca.metric_.components_**2).sum(0) / 2)
    with pytest.raises(ValueError, match="Pipeline has no matrix"):
        ImageRetriever(make_pipeline(PCA(2))).fit(X, y).recommendation()


# images, files, features


def test_images_masks_and_tables_are_the_same(pictures):
    pairs, y = pictures
    table = RegionColors().fit_transform(pairs)
    expected = ImageRetriever(random_state=0).fit(table, y).kneighbors(n_neighbors=4)
    retriever = ImageRetriever(random_state=0).fit(pairs, y)
    np.testing.assert_allclose(retriever.kneighbors(n_neighbors=4)[0], expected[0])
    np.testing.assert_array_equal(retriever.kneighbors(n_neighbors=4)[1], expected[1])
    np.testing.assert_array_equal(retriever.kneighbors(table, 4)[1], retriever.kneighbors(pairs, 4)[1])
    images = np.stack([image for image, _ in pairs])
    centers = ImageRetriever(random_state=0).fit(images, y)
    np.testing.assert_allclose(
        centers.vectors_, z_scored(*[RegionColors(regions="center").fit_transform(images)] * 2), atol=1e-9
    )
    mixed = [(image, None) if i % 2 else (image, mask) for i, (image, mask) in enumerate(pairs)]
    assert ImageRetriever(random_state=0).fit(mixed, y).retrieve([pairs[0][0]], 1).indices.shape == (1, 1)


def test_features_of_ones_own(pictures):
    pairs, y = pictures
    images = [image[: 24 - i % 3] for i, (image, _) in enumerate(pairs)]  # of different sizes

    def spread(image):
        return np.array([image.mean(), image.std()])

    retriever = ImageRetriever(features=spread, n_neighbors=3, random_state=0).fit(images, y)
    expected = ImageRetriever(n_neighbors=3, random_state=0).fit([spread(image) for image in images], y)
    np.testing.assert_array_equal(
        retriever.kneighbors(images)[1], expected.kneighbors(expected_table(images, spread))[1]
    )
    differences = ImageRetriever(features=make_pipeline(RegionColors("rgb"), ColorDifference()), random_state=0)
    assert differences.fit(pairs, y).n_features_in_ == 3
    assert differences.recommendation().feature_names[0] == "inside R - outside R"


def expected_table(images, function):
    return np.array([function(image) for image in images])


def test_a_folder_is_the_images_in_it(folder, pictures):
    pairs, y = pictures
    retriever = ImageRetriever(n_neighbors=4, random_state=0).fit(folder)
    assert sorted(retriever.labels_) == sorted(y)
    order = [int(path.stem) for path in retriever.paths_]
    np.testing.assert_array_equal(retriever.labels_, y[order])
    arrays = ImageRetriever(n_neighbors=4, random_state=0).fit([pairs[i] for i in order], y[order])
    np.testing.assert_allclose(retriever.vectors_, arrays.vectors_, atol=1e-9)
    hits = retriever.retrieve(pairs[:2])
    assert [[path.parent.name for path in row] for row in hits.paths] == hits.labels.tolist()
    assert hits.paths[0][0] == retriever.paths_[hits.indices[0, 0]]
    for files in (retriever.paths_[0], [str(retriever.paths_[0])]):  # with the mask beside it
        hits = retriever.retrieve(files)
        np.testing.assert_allclose(hits.distances, arrays.retrieve([pairs[order[0]]]).distances, atol=1e-7)
        assert hits.paths[0][0] == retriever.paths_[0]
        assert retriever.precision_at_k(files, [retriever.labels_[0]], [1]) == 1.0
    np.testing.assert_allclose(
        retriever.precision_at_k(folder, ks=[1, 3]), arrays.precision_at_k([pairs[i] for i in order], y[order], [1, 3])
    )


def test_files_that_cannot_be_used(tmp_path, pictures):
    pairs, y = pictures
    for number, ((image, _), label) in enumerate(zip(*pictures)):
        (tmp_path / label).mkdir(exist_ok=True)
        Image.fromarray(image).save(tmp_path / label / f"{number:02}.png")
    whole = (tmp_path / y[0] / "00.png").read_bytes()
    (tmp_path / "red" / "cut.png").write_bytes(whole[: len(whole) // 2])
    Image.fromarray(pairs[0][0][..., 0]).save(tmp_path / "blue" / "gray.png")
    with pytest.raises(ValueError, match=r"gray\.png is gray"):
        ImageRetriever().fit(tmp_path)
    with pytest.warns(UserWarning, match="Skipped 2 of 21 images"):
        retriever = ImageRetriever(on_error="skip").fit(tmp_path)
    assert len(retriever.labels_) == 19
    assert {path.name for path, _ in retriever.skipped_} == {"cut.png", "gray.png"}


def test_what_is_wrong_is_said(lesions, pictures, folder, tmp_path):
    X, y = lesions
    pairs, kinds = pictures
    gray = [image[..., 0] for image, _ in pairs]
    empty = [(image, np.zeros(image.shape[:2], bool)) for image, _ in pairs]
    for given, data, message in [
        ({"metric": "cosine"}, (X, y), "metric='cosine'"),
        ({"metric": 3}, (X, y), "metric=3"),
        ({"metric": clone(LGMLVQ()), "local_map": "mean"}, (X, y), "local_map='mean'"),
        ({"features": 3}, (X, y), "features=3"),
        ({"n_components": 0}, (X, y), "n_components=0"),
        ({"n_neighbors": 0}, (X, y), "n_neighbors=0"),
        ({"on_error": "ignore"}, (X, y), "on_error='ignore'"),
        ({}, (X,), "requires y"),
        ({}, (X, y[:-1]), "inconsistent numbers of samples"),
        ({}, (np.where(np.arange(6) == 3, np.nan, X), y), "NaN"),
        ({}, (X, np.full(len(X), "red")), "at least 2 classes"),
        ({}, (pairs,), "give y, or use metric='euclidean'"),
        ({}, (pairs, kinds[:-1]), "inconsistent numbers of samples"),
        ({}, (gray, kinds), "gray"),
        ({}, (empty, kinds), "no inside"),
        ({}, (folder, kinds), "omit y"),
        ({}, (tmp_path,), "no images"),
        ({}, (tmp_path / "none",), "nor a folder"),
        ({}, (folder / "red",), "no sub-folders, which name the labels"),
        ({"metric": "lmnn"}, (X[:20], np.arange(20)), "n_neighbors=1 needs at least 2 samples per class"),
    ]:
        with pytest.raises(ValueError, match=message):
            ImageRetriever(**given).fit(*data)


def test_what_is_wrong_with_queries_is_said(lesions, pictures):
    X, y = lesions
    retriever = ImageRetriever(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors=49 must be an integer in \\[1, 48\\] for 48 images"):
        retriever.kneighbors(X, 49)
    with pytest.raises(ValueError, match="n_neighbors=48 must be an integer in \\[1, 47\\]"):
        retriever.kneighbors(n_neighbors=48)
    with pytest.raises(ValueError, match="expecting 6 features"):
        retriever.retrieve(X[:, :5])
    with pytest.raises(ValueError, match="fitted to a table of 6 features"):
        retriever.retrieve(pictures[0])
    with pytest.raises(ValueError, match="queries have no labels"):
        retriever.precision_at_k(X)
    with pytest.raises(ValueError, match="ks is empty"):
        retriever.precision_at_k(ks=[])
    for method in ("kneighbors", "recommendation", "precision_at_k"):
        with pytest.raises(NotFittedError):
            getattr(ImageRetriever(), method)()


def test_a_failed_fit_changes_nothing(lesions):
    X, y = lesions
    retriever = ImageRetriever(random_state=0).fit(X, y)
    before = retriever.kneighbors()
    for failing in (retriever.fit, retriever.index):
        with pytest.raises(ValueError, match="NaN"):
            failing(np.full((5, 6), np.nan), y[:5])
        np.testing.assert_array_equal(retriever.kneighbors(), before)


@each_metric
def test_stored_and_loaded(lesions, metric, tmp_path):
    X, y = lesions
    retriever = ImageRetriever(metric, random_state=0).fit(X, y)
    joblib.dump(retriever, tmp_path / "retriever.joblib")
    for other in (pickle.loads(pickle.dumps(retriever)), joblib.load(tmp_path / "retriever.joblib")):
        np.testing.assert_array_equal(other.kneighbors(X), retriever.kneighbors(X))


def test_output_as_a_table(lesions):
    view = ImageRetriever(random_state=0).set_output(transform="pandas").fit(*lesions).transform(lesions[0])
    assert list(view.columns) == ["imageretriever0", "imageretriever1", "imageretriever2"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_metric
@pytest.mark.parametrize("local_map", ["query", "centered"])
def test_index_files(folder, pictures, metric, local_map, tmp_path):
    features = RegionColors("lch", regions="center")
    retriever = ImageRetriever(metric, features=features, local_map=local_map, n_neighbors=3, random_state=0).fit(
        folder
    )
    write_index(tmp_path / "skin.index", retriever)
    other = read_index(tmp_path / "skin.index")
    one, two = retriever.retrieve(pictures[0]), other.retrieve(pictures[0])
    np.testing.assert_allclose(two.distances, one.distances, atol=1e-12)
    np.testing.assert_array_equal(two.indices, one.indices)
    np.testing.assert_array_equal(two.labels, one.labels)
    assert two.paths == [[path.resolve() for path in row] for row in one.paths]
    assert str(other.recommendation()) == str(retriever.recommendation())


class Trap:
    def __reduce__(self):
        return pytest.fail, ("a program in the file was run",)


def test_foreign_files_are_refused_and_run_nothing(folder, pictures, lesions, tmp_path):
    path = tmp_path / "index.npz"
    good = BytesIO()
    retriever = ImageRetriever(random_state=0).fit(folder)
    write_index(path, retriever)
    with np.load(path) as stored:
        arrays = dict(stored)
    for name in arrays:
        np.savez(path, **{key: value for key, value in arrays.items() if key != name})
        with pytest.raises(ValueError, match="no image index"):
            read_index(path)
    np.savez(path, **{**arrays, "format": "version 2"})
    with pytest.raises(ValueError, match="no image index"):
        read_index(path)
    np.savez(path, **{**arrays, "labels": np.array([Trap()], object)})
    with pytest.raises(ValueError, match="no image index"):
        read_index(path)
    np.save(good, np.arange(3))
    for content in (b"", b"text", pickle.dumps(Trap()), good.getvalue()):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="no image index"):
            read_index(path)
    with pytest.raises(FileNotFoundError):
        read_index(tmp_path / "none.npz")
    with pytest.raises(ValueError, match="colors of image files"):
        write_index(path, ImageRetriever(random_state=0).fit(*lesions))


@pytest.fixture(scope="module")
def stored_index(folder, tmp_path_factory):
    """The arrays of an index with a matrix for each class."""
    path = tmp_path_factory.mktemp("index") / "index.npz"
    write_index(path, ImageRetriever("local", random_state=0).fit(folder))
    with np.load(path) as stored:
        return dict(stored)


FORGERIES = {
    "labels": lambda labels: labels[:-1],
    "paths": lambda paths: np.append(paths, "one more"),
    "names": lambda names: names[:0],
    "mean": lambda mean: mean[:-1],
    "scale": np.zeros_like,
    "matrices": lambda matrices: np.full_like(matrices, np.nan),
    "prototypes": lambda prototypes: prototypes.astype(complex),
    "slots": lambda slots: slots - 1,
    "vectors": lambda vectors: vectors[:0],
    "settings": lambda settings: np.array("[" * 100_000),
    "features": lambda features: np.array('{"space": ' * 2000),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_arrays_that_do_not_belong_together_are_refused(stored_index, name, tmp_path):
    path = tmp_path / "index.npz"
    np.savez_compressed(path, **stored_index)
    assert read_index(path).labels_ is not None
    np.savez_compressed(path, **{**stored_index, name: FORGERIES[name](stored_index[name])})
    with pytest.raises(ValueError, match="no image index") as caught:
        read_index(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_small_index_cannot_ask_for_much(stored_index, packing, tmp_path):
    """Zeros that deflate to a thousandth, a shape with nothing behind it, and a packing that has its own dictionary."""
    path = tmp_path / "index.npz"
    np.savez_compressed(path, **stored_index)
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": (500_000, 6), "fortran_order": False, "descr": "<f8"})
    huge = header.getvalue()
    forged = [huge + bytes(24_000_000), huge] if packing == zipfile.ZIP_DEFLATED else [members["vectors.npy"]]
    for content in forged:
        with zipfile.ZipFile(path, "w", packing) as new:
            for name, data in members.items():
                new.writestr(name, content if name == "vectors.npy" else data)
        tracemalloc.start()
        with pytest.raises(ValueError, match="no image index"):
            read_index(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**22


def test_views_of_the_index_are_made_when_they_are_needed(folder, pictures):
    """As many trees as there are classes would take memory that the file does not have."""
    retriever = ImageRetriever("local", random_state=0).fit(folder)
    assert len(retriever._searches) == 1
    first = retriever.retrieve(pictures[0], 3)
    assert 1 < len(retriever._searches) <= len(set(retriever.labels_))
    np.testing.assert_array_equal(retriever.retrieve(pictures[0], 3).indices, first.indices)


# rates


def rates_by_definition(metric, X, y, sizes, n_folds, n_starts, random_state, scale_over):
    """The protocol by loops: shares (n_starts, n, n_sizes) of right results, and the matrices."""
    rng = np.random.RandomState(random_state)
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1)).split(X, y))
    seeds = rng.randint(2**31 - 1, size=(n_starts, n_folds))
    shares, matrices = np.full((n_starts, len(X), len(sizes)), np.nan), []
    for start in range(n_starts):
        for fold, (train, test) in enumerate(folds):
            Z = z_scored(X, X[train] if scale_over == "train" else X)
            model = clone(metric).set_params(random_state=seeds[start, fold]).fit(Z[train], y[train])
            matrices.append(canonical_matrix(model.omega_))
            for j in test:
                order = np.argsort(np.linalg.norm((Z - Z[j]) @ model.omega_.T, axis=1), kind="stable")
                order = order[order != j]
                shares[start, j] = [np.mean(y[order[:k]] == y[j]) for k in sizes]
    return shares, np.array(matrices)


@pytest.mark.parametrize("scale_over", ["train", "all"])
def test_rates_by_definition(lesions, scale_over):
    X, y = lesions
    metric = GMLVQ(n_components=3, init="mean", metric_init="random", max_iter=8)
    sizes, n_folds, n_starts, n = [1, 4, 11], 4, 3, len(X)
    given = {"ks": sizes, "n_folds": n_folds, "n_starts": n_starts, "random_state": 7, "scale_over": scale_over}
    found = retrieval_rates(ImageRetriever(metric), X, y, **given)
    shares, matrices = rates_by_definition(metric, X, y, sizes, n_folds, n_starts, 7, scale_over)
    r = shares.mean(axis=(0, 1))
    of_starts, of_queries = shares.mean(axis=1), shares.mean(axis=0)
    np.testing.assert_allclose(found.rates, r)
    np.testing.assert_allclose(found.start_rates, of_starts)
    np.testing.assert_allclose(found.query_rates, of_queries)
    np.testing.assert_allclose(found.sigma_init, np.sqrt(sum((rate - r) ** 2 for rate in of_starts) / (n_starts - 1)))
    np.testing.assert_allclose(
        found.eps_data, np.sqrt(sum((rate - r) ** 2 for rate in of_queries) / (n - 1)) / np.sqrt(n)
    )
    np.testing.assert_allclose(found.transforms.reshape(matrices.shape), matrices, atol=1e-9)
    assert found.at(4) == pytest.approx(r[1])

    reference = mean_canonical_matrix(matrices)
    aligned = [[row if row @ other > 0 else -row for row, other in zip(A, reference)] for A in matrices]
    np.testing.assert_allclose(found.mean_transform, np.mean(aligned, axis=0))
    np.testing.assert_allclose(
        found.transform_deviation,
        np.reshape(aligned, (n_starts, n_folds, 3, 6)).mean(axis=1).std(axis=0, ddof=1),
    )
    np.testing.assert_allclose(found.recommendation.transform, reference)


class Memory(TransformerMixin, BaseEstimator):
    """A metric that knows the classes of the samples it has seen, and nothing of others."""

    def fit(self, X, y):
        codes = np.unique(y, return_inverse=True)[1]
        self.known_ = {row.tobytes(): code for row, code in zip(X, codes)}
        return self

    def transform(self, X):
        return np.array([[100.0 * self.known_.get(row.tobytes(), -1), row[0]] for row in X])


def test_the_metric_has_not_seen_the_query(lesions):
    X, y = lesions
    retriever = ImageRetriever(Memory(), scale=False)
    assert retriever.fit(X, y).precision_at_k(ks=[9])[0] == 1.0
    found = retrieval_rates(retriever, X, y, ks=[9], n_folds=10, n_starts=1)
    assert found.at(9) < 0.5
    assert found.transforms is None
    assert found.recommendation is None


def test_neighbors_are_sought_among_all_other_images():
    """Two images of each class, of which one is the query: the other is found also if it is in the same fold."""
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    y = np.repeat(["a", "b", "c"], 2)
    found = retrieval_rates(ImageRetriever("euclidean"), X, y, ks=[1, 2], n_folds=2)
    np.testing.assert_array_equal(found.query_rates, [[1.0, 0.5]] * 6)


def test_rates_of_what_is_not_learned(lesions):
    found = retrieval_rates(ImageRetriever("euclidean"), *lesions, ks=[1, 11], n_starts=5, random_state=0)
    assert found.start_rates.shape == (1, 2)
    assert found.sigma_init is None
    assert found.mean_transform is None
    assert found.transform_deviation is None
    assert repr(found) == f"RetrievalRates(1: {found.rates[0]:.3f} ± {found.eps_data[0]:.3f}, " + (
        f"11: {found.rates[1]:.3f} ± {found.eps_data[1]:.3f})"
    )


def test_rates_of_local_metrics_and_images(pictures):
    found = retrieval_rates(ImageRetriever("local"), *pictures, ks=[2], n_folds=3, n_starts=2, random_state=0)
    assert found.transforms.shape == (2, 3, 4, 3, 6)
    assert found.mean_transform.shape == found.transform_deviation.shape == (4, 3, 6)
    for slot, name in enumerate(["blue", "brown", "red", "white"]):
        runs = found.transforms[:, :, slot].reshape(-1, 3, 6)
        np.testing.assert_allclose(found.recommendation.transform[slot], mean_canonical_matrix(runs))
        assert found.names[slot] == name
    assert list(found.feature_names[:1]) == ["outside L"]


def test_rates_do_not_depend_on_the_number_of_jobs(lesions):
    given = {"ks": [3], "n_folds": 3, "n_starts": 2, "random_state": 0}
    retriever = ImageRetriever(GMLVQ(metric_init="random", max_iter=5))
    with joblib.parallel_config("threading"):
        several = retrieval_rates(retriever, *lesions, n_jobs=2, **given)
    one = retrieval_rates(retriever, *lesions, **given)
    np.testing.assert_array_equal(several.transforms, one.transforms)
    assert not hasattr(retriever, "metric_")


def test_matrices_of_lower_rank_are_filled_up(lesions):
    X, y = lesions
    X = X.copy()
    X[:, 2:] = X[:, :1]  # two directions only
    found = retrieval_rates(ImageRetriever("liram"), X, y, ks=[1], n_folds=3, n_starts=1)
    assert found.transforms.shape[:2] == (1, 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ks": []}, "ks is empty"),
        ({"ks": [0]}, "k=0"),
        ({"ks": [48]}, "k=48 must be an integer in \\[1, 47\\], the number of other images"),
        ({"n_folds": 1}, "n_folds=1"),
        ({"n_starts": 0}, "n_starts=0"),
        ({"scale_over": "test"}, "scale_over='test'"),
    ],
)
def test_what_is_wrong_with_rates_is_said(lesions, given, message):
    with pytest.raises(ValueError, match=message):
        retrieval_rates(ImageRetriever(), *lesions, **given)


def test_rates_need_labels(lesions):
    X, y = lesions
    with pytest.raises(ValueError, match="Retrieval rates require labels"):
        retrieval_rates(ImageRetriever("euclidean"), X)
    with pytest.raises(ValueError, match="'lone' has one image only"):
        retrieval_rates(ImageRetriever(), X, np.array([*y[:-1], "lone"]))
    with pytest.raises(ValueError, match="k=3 is not one of ks"):
        retrieval_rates(ImageRetriever("euclidean"), X, y, ks=[1]).at(3)


@pytest.fixture(scope="module", params=[0.6, 1.0])
def compared(request):
    """Rates at k = 11 over several draws of the lesions, of learned metric, colors and differences in Lab."""
    rates = []
    for seed in range(3):
        X, y = make_lesions(persistence=request.param, random_state=seed)
        colors = RegionColors("lab").fit_transform(X)
        given = {"ks": [11], "n_starts": 1, "random_state": seed}
        rates.append(
            [
                retrieval_rates(ImageRetriever("liram"), colors, y, **given).at(11),
                retrieval_rates(ImageRetriever("euclidean"), colors, y, **given).at(11),
                retrieval_rates(ImageRetriever("euclidean"), ColorDifference().fit_transform(colors), y, **given).at(
                    11
                ),
            ]
        )
    return request.param, np.array(rates)


def test_a_learned_metric_finds_more_unless_differences_are_ideal(compared):
    persistence, rates = compared
    learned, colors, differences = rates.T
    assert (learned > colors + 0.08).all()
    gain = (learned - differences).mean()
    if persistence < 1:
        assert gain > 0.015
        assert (learned > differences).all()
    else:
        assert -0.03 < gain < 0.01


# the picture


def pixels_of(png):
    with Image.open(BytesIO(png)) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def plain(color, height=20, width=20):
    return np.full((height, width, 3), color, np.uint8)


def test_the_sheet_shows_queries_and_results_in_order():
    colors = [(200, 0, 0), (0, 0, 200), (200, 200, 0), (0, 150, 150)]
    images = [plain(color) for color in colors]
    hits = RetrievalHits(np.array([[1, 3], [2, 0]]), np.zeros((2, 2)), np.array([["a", "b"], ["b", "b"]]))
    pixels = pixels_of(contact_sheet([plain((90, 0, 90)), plain((0, 90, 0))], hits, images, labels=["a", "b"]))

    def center(color):
        rows, columns = np.nonzero((np.abs(pixels - color) <= 2).all(axis=2))
        assert len(rows) > 1000
        return rows.mean(), columns.mean()

    first = [center((90, 0, 90)), center(colors[1]), center(colors[3])]
    second = [center((0, 90, 0)), center(colors[2]), center(colors[0])]
    for row in (first, second):
        assert np.ptp([y for y, _ in row]) < 3
        assert row[0][1] < row[1][1] < row[2][1]
    assert first[0][0] < second[0][0]

    green = (np.abs(pixels - (0x1A, 0x98, 0x50)) <= 2).all(axis=2)
    framed = [green[int(y) - 70 : int(y) + 70, int(x) - 70 : int(x) + 70].sum() > 500 for y, x in (*first, *second)]
    assert framed == [False, True, False, False, True, True]


@pytest.mark.parametrize(("n_queries", "k"), [(1, 1), (1, 11), (20, 3)])
def test_sheets_of_many_sizes(n_queries, k):
    hits = RetrievalHits(
        np.zeros((n_queries, k), int), np.zeros((n_queries, k)), np.full((n_queries, k), "a $ long_name of $ it")
    )
    queries = [plain(50, 40, 60)] * n_queries
    height, width, _ = pixels_of(contact_sheet(queries, hits, [plain(90, 30, 60)], inches=0.5, dpi=100)).shape
    assert width == pytest.approx(50 * (1.5 + 1.1 * k), abs=1)
    assert height == pytest.approx(50 * (0.1 + n_queries * (2 / 3 + 0.34)), abs=1)  # no higher than the images need


def test_the_sheet_reads_files_and_large_images(folder):
    retriever = ImageRetriever(n_neighbors=3, random_state=0).fit(folder)
    hits = retriever.retrieve(retriever.paths_[0])
    assert contact_sheet([retriever.paths_[0]], hits)[:4] == b"\x89PNG"
    assert contact_sheet([plain(9, 3000, 2000)], hits)[:4] == b"\x89PNG"


def test_what_is_wrong_with_a_sheet_is_said():
    hits = RetrievalHits(np.zeros((2, 1), int), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="3 queries, but results for 2"):
        contact_sheet([plain(0)] * 3, hits, [plain(1)])
    with pytest.raises(ValueError, match="give the images of the index"):
        contact_sheet([plain(0)] * 2, hits)
    with pytest.raises(ValueError, match="one for each query"):
        contact_sheet([plain(0)] * 2, hits, [plain(1)], labels=["a"])
