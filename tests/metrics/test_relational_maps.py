"""Measures of maps of dissimilarities are those of maps of vectors with the same prototypes; stress by definition."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform

from protolearn import MedianSOM, RelationalSOM
from protolearn.core import lattices
from protolearn.core.fitted import prototype_distances
from protolearn.metrics import (
    magnification_exponent,
    map_continuity,
    map_entropy,
    map_trustworthiness,
    quantization_error,
    stress,
    topographic_error,
    topographic_function,
    topographic_product,
)

REDUCTIONS = ["mean_distance", "mean_squared", "half_mean", "half_sum"]


class Combinations:
    """A map whose prototypes are combinations of objects, with coefficients A (k, n) and squares S (n, n) between them.

    Hasenfuss 2009, eq. 4.8 and 4.9, entry by entry.
    """

    metric_params = None
    n_jobs = None

    def __init__(self, A, S, lattice=None, metric="precomputed"):
        self.A, self.S, self.metric, self.lattice_ = A, S, metric, lattice
        self.own = np.array([0.5 * a @ S @ a for a in A])
        pairs = [[a @ S @ b - self.own[i] - self.own[j] for j, b in enumerate(A)] for i, a in enumerate(A)]
        self.prototype_dissimilarities_ = np.array(pairs)

    def transform(self, X):
        return self.squares(X) @ self.A.T - self.own

    def squares(self, X):
        return np.asarray(X) ** 2


class OfKernel(Combinations):
    def squares(self, X):
        own = np.diagonal(X)
        return own[:, None] + own - 2 * X


class OfObjects(Combinations):
    def __init__(self, A, objects, lattice):
        super().__init__(A, cdist(objects, objects) ** 2, lattice, metric="euclidean")
        self.objects = objects

    def squares(self, X):
        return cdist(X, self.objects) ** 2


@pytest.fixture
def twins():
    """Give vectors, a map of them, and the map of their distances with the same prototypes."""
    rng = np.random.default_rng(0)
    X, A = rng.random((60, 4)), rng.dirichlet(np.full(60, 0.05), 12)
    lattice = lattices.hexagonal(3, 4)
    return X, SimpleNamespace(prototypes_=A @ X, lattice_=lattice), Combinations(A, cdist(X, X) ** 2, lattice)


class TestTwins:
    def test_distances_between_prototypes(self, twins):
        _, vectors, related = twins
        expected = cdist(vectors.prototypes_, vectors.prototypes_)
        np.testing.assert_allclose(prototype_distances(vectors), expected, atol=1e-12)
        np.testing.assert_allclose(prototype_distances(related), expected, atol=1e-7)
        assert (expected[~np.eye(12, dtype=bool)] > 0.01).all()

    def test_topographic_error(self, twins):
        X, vectors, related = twins
        weights = np.arange(60.0)
        expected = topographic_error(X, vectors, sample_weight=weights)
        assert 0.0 < expected < 1.0
        assert topographic_error(cdist(X, X), related, sample_weight=weights) == pytest.approx(expected)

    def test_topographic_product(self, twins):
        _, vectors, related = twins
        assert topographic_product(related) == pytest.approx(topographic_product(vectors), abs=1e-9)

    def test_topographic_function_needs_the_graph_alone(self, twins):
        X, vectors, related = twins
        nearest = cdist(X, vectors.prototypes_).argsort(axis=1)[:, :2]
        graph = np.zeros((12, 12))
        graph[nearest[:, 0], nearest[:, 1]] = 1.0
        vectors.graph_ = related.graph_ = csr_array(graph + graph.T)
        for found, expected in zip(topographic_function(related), topographic_function(vectors)):
            np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("reduction", REDUCTIONS)
    def test_quantization_error(self, twins, reduction):
        X, vectors, related = twins
        weights = np.arange(60.0)
        expected = quantization_error(X, vectors, sample_weight=weights, reduction=reduction)
        found = quantization_error(cdist(X, X), related, sample_weight=weights, reduction=reduction)
        assert found == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("measure", [map_trustworthiness, map_continuity])
    @pytest.mark.parametrize("k", [2, 9])
    def test_neighborhoods_of_samples(self, twins, measure, k):
        X, vectors, related = twins
        expected = measure(X, vectors, k)
        assert expected < 1.0
        assert measure(cdist(X, X), related, k) == pytest.approx(expected, abs=1e-12)
        of_kernel = OfKernel(related.A, related.S, related.lattice_, metric="kernel")
        assert measure(X @ X.T, of_kernel, k) == pytest.approx(expected, abs=1e-12)
        of_objects = OfObjects(related.A, X, related.lattice_)
        assert measure(X, of_objects, k) == pytest.approx(expected, abs=1e-12)

    def test_the_map_inside_a_classifier(self, twins):
        X, _, related = twins
        classifier = SimpleNamespace(estimator_=related)
        D = cdist(X, X)
        assert topographic_error(D, classifier) == topographic_error(D, related)
        assert topographic_product(classifier) == topographic_product(related)
        assert quantization_error(D, classifier) == quantization_error(D, related)
        assert map_trustworthiness(D, classifier) == map_trustworthiness(D, related)


@pytest.mark.parametrize("metric", ["precomputed", "kernel", "euclidean"])
def test_a_fitted_map_and_its_prototypes_as_vectors(metric):
    X = np.random.default_rng(0).standard_normal((80, 3))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=1)[:, None]  # new objects of a kernel are compared by its constant diagonal
    given = {"precomputed": cdist(X, X), "kernel": X @ X.T, "euclidean": X}[metric]
    som = RelationalSOM((4, 5), metric=metric, max_iter=10, random_state=0).fit(given)
    vectors = SimpleNamespace(prototypes_=som.coefficients_ @ X[som.support_], lattice_=som.lattice_, graph_=som.graph_)
    for measure in (topographic_error, map_trustworthiness, map_continuity):
        assert measure(given, som) == pytest.approx(measure(X, vectors), abs=1e-9)
    assert quantization_error(given, som) == pytest.approx(quantization_error(X, vectors), rel=1e-6)
    assert topographic_product(som) == pytest.approx(topographic_product(vectors), abs=1e-6)
    assert map_entropy(som) == pytest.approx(map_entropy(som.labels_))
    for found, expected in zip(topographic_function(som), topographic_function(vectors)):
        np.testing.assert_array_equal(found, expected)


def test_a_median_map_is_one_of_its_samples():
    X = np.random.default_rng(0).standard_normal((80, 3))
    som = MedianSOM((4, 5), max_iter=10, random_state=0).fit(cdist(X, X))
    vectors = SimpleNamespace(prototypes_=X[som.prototype_indices_], lattice_=som.lattice_)
    for measure in (topographic_error, map_trustworthiness, map_continuity):
        assert measure(cdist(X, X), som) == pytest.approx(measure(X, vectors), abs=1e-9)
    assert quantization_error(cdist(X, X), som) == pytest.approx(quantization_error(X, vectors), rel=1e-6)
    assert topographic_product(som) == pytest.approx(topographic_product(vectors), abs=1e-6)


class TestNegativeSquares:
    """In a pseudo-Euclidean space, with the second half of the coordinates counted negative."""

    @pytest.fixture
    def space(self):
        rng = np.random.default_rng(1)
        X, A, signs = rng.standard_normal((40, 4)), rng.dirichlet(np.ones(40), 8), np.array([1, 1, -1, -1])
        W = A @ X
        to_prototypes, between = ((X[:, None] - W) ** 2 @ signs, (W[:, None] - W) ** 2 @ signs)
        return Combinations(A, (X[:, None] - X) ** 2 @ signs), to_prototypes, between

    def test_distances_between_prototypes_are_zero(self, space):
        related, _, between = space
        assert (between < -1e-3).any()
        np.testing.assert_allclose(prototype_distances(related) ** 2, np.maximum(between, 0.0), atol=1e-12)

    def test_quantization_error_keeps_the_sign_of_squares_but_not_of_distances(self, space):
        related, squares, _ = space
        related.transform = lambda X: squares
        nearest = squares.min(axis=1)
        assert (nearest < 0).any()
        assert (nearest > 0).any()
        assert quantization_error(None, related, reduction="half_sum") == pytest.approx(0.5 * nearest.sum())
        assert quantization_error(None, related, reduction="mean_squared") == pytest.approx(nearest.mean())
        expected = np.sqrt(np.maximum(nearest, 0.0)).mean()
        assert quantization_error(None, related) == pytest.approx(expected)

    def test_ranks_of_negative_squares_follow_their_order(self):
        """Only the order of dissimilarities counts, and equal ones are tied whatever their sign."""
        rng = np.random.default_rng(2)
        S = squareform(rng.integers(1, 9, 30 * 29 // 2)).astype(float)
        related = Combinations(rng.dirichlet(np.ones(30), 6), S, lattices.rectangular(2, 3))
        winners = np.eye(6)[rng.integers(0, 6, 30)]
        related.transform = lambda X: -winners
        for measure in (map_trustworthiness, map_continuity):
            plain = measure(S, related)
            assert measure(S - 20.0, related) == pytest.approx(plain, abs=1e-12)
            assert measure(S**3, related) == pytest.approx(plain, abs=1e-12)


def test_entropy_counts_the_samples_of_prototypes():
    counted = SimpleNamespace(prototype_dissimilarities_=np.zeros((2, 2)), multiplicities_=[3.0, 1.0])
    assert map_entropy(counted, base=2) == pytest.approx(2.0 - 0.75 * np.log2(3.0))


def test_says_what_is_wrong(twins):
    X, _, related = twins
    with pytest.raises(ValueError, match=r"needs prototypes that are vectors, and Combinations knows .* only"):
        magnification_exponent(related, np.zeros(12), 2)
    with pytest.raises(ValueError, match=r"X has the shape \(20, 60\), but this measure compares all pairs"):
        map_trustworthiness(cdist(X, X)[:20], related)


class TestStress:
    def by_definition(self, wanted, shown):
        return np.sqrt(sum((a - b) ** 2 for a, b in zip(wanted, shown)) / sum(b * b for b in shown))

    def increasing(self, keys, values):
        """Return the increasing function of the keys nearest to the values: pool neighbors that are out of order."""
        order = np.argsort(keys)
        blocks = []
        for value in values[order]:
            blocks.append([value, 1])
            while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
                (a, m), (b, n) = blocks[-2:]
                blocks[-2:] = [[(m * a + n * b) / (m + n), m + n]]
        fitted = np.empty(len(keys))
        fitted[order] = np.repeat([value for value, _ in blocks], [n for _, n in blocks])
        return fitted

    @pytest.fixture
    def picture(self):
        rng = np.random.default_rng(0)
        return squareform(rng.random(66)), rng.random((12, 2))

    def test_by_definition(self, picture):
        D, Y = picture
        assert stress(D, Y) == pytest.approx(self.by_definition(squareform(D), pdist(Y)), rel=1e-12)
        best = self.increasing(squareform(D), pdist(Y))
        assert stress(D, Y, nonmetric=True) == pytest.approx(self.by_definition(best, pdist(Y)), rel=1e-9)

    def test_only_the_order_counts_without_a_metric(self, picture):
        D, Y = picture
        plain = stress(D, Y, nonmetric=True)
        assert stress(np.exp(3 * D) - 1, Y, nonmetric=True) == pytest.approx(plain, rel=1e-9)
        assert stress(D, 7 * Y - 3, nonmetric=True) == pytest.approx(plain, rel=1e-9)
        assert plain < stress(D, Y)

    def test_no_stress_in_a_perfect_picture(self):
        Y = np.random.default_rng(0).random((15, 3))
        assert stress(cdist(Y, Y), Y) == pytest.approx(0.0, abs=1e-12)
        assert stress(cdist(Y, Y) ** 2, Y, nonmetric=True) == pytest.approx(0.0, abs=1e-12)
        assert stress(1.1 * cdist(Y, Y), Y) == pytest.approx(0.1)

    def test_says_what_is_wrong(self, picture):
        D, Y = picture
        with pytest.raises(ValueError, match=r"D has the shape \(12, 12\); for 11 positions it must be \(11, 11\)"):
            stress(D, Y[1:])
        with pytest.raises(ValueError, match="All positions in Y coincide"):
            stress(D, np.ones((12, 2)))
