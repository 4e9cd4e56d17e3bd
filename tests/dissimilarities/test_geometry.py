import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import eigvals, eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.spatial.distance import pdist, squareform

from experiments.datasets import make_connectivity, make_pseudo_euclidean
from protolearn.dissimilarities import (
    _geometry,
    check_dissimilarities,
    clip_spectrum,
    flip_spectrum,
    gram_matrix,
    pseudo_euclidean,
    signature,
    spectrum,
    spread_transform,
    spread_value,
    symmetrized,
)

SIZES = [7, 199, 200, 257]  # the compiled loop begins at 200 and works in tiles of 64


def random_dissimilarities(n, seed=0, dtype=np.float64):
    entries = np.random.RandomState(seed).uniform(0.1, 1, n * (n - 1) // 2)
    return squareform(entries).astype(dtype)


def euclidean_distances(n, d=3, seed=0):
    return squareform(pdist(np.random.RandomState(seed).standard_normal((n, d))))


def rounded_distances(n):
    """Distances of points that no points have any more: many eigenvalues close to zero, some below."""
    return np.round(euclidean_distances(n), 2)


def ordinal_dissimilarities(n):
    return make_connectivity((n // 2, n - n // 2), random_state=0)[0]


def centering(n):
    return np.eye(n) - np.full((n, n), 1 / n)


def lowest_eigenvalue(D, squared):
    S = D if squared else D**2
    return eigvalsh(-0.5 * centering(len(D)) @ S @ centering(len(D)))[0]


def with_entry(D, place, value):
    changed = D.copy()
    changed[place] = value
    return changed


def never_converges(*args, **options):
    raise ArpackNoConvergence("No convergence", [], [])


class TestCheck:
    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_what_is_right_comes_back_as_it_is(self, n, dtype):
        D = random_dissimilarities(n, dtype=dtype)
        before = D.copy()
        assert check_dissimilarities(D) is D
        assert check_dissimilarities(D, symmetrize="mean") is D
        np.testing.assert_array_equal(D, before)

    def test_numbers_of_other_types_become_doubles(self):
        for D in ([[0, 1], [1, 0]], np.array([[0, 1], [1, 0]], np.int8), np.array([[0, 1], [1, 0]], bool)):
            checked = check_dissimilarities(D)
            assert checked.dtype == np.float64
            np.testing.assert_array_equal(checked, [[0.0, 1.0], [1.0, 0.0]])

    @pytest.mark.pairwise(n_threads=["1", "2", "5"], dtype=[np.float64, np.float32], n=[200, 256, 257, 320, 383])
    def test_compiled_extremes(self, n, dtype, n_threads, monkeypatch):
        monkeypatch.setattr(_geometry, "chunk_threads", _Threads(int(n_threads)))
        matrix = np.random.RandomState(n).standard_normal((n, n)).astype(dtype)
        expected = np.abs(matrix - matrix.T).max(), matrix.min(), matrix.max()
        for layout in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2]):
            np.testing.assert_array_equal(_geometry._extremes(layout), expected)
        matrix.flags.writeable = False
        np.testing.assert_array_equal(_geometry._extremes(matrix), expected)

    def test_memory_maps_are_read(self, tmp_path):
        D = random_dissimilarities(230)
        np.save(tmp_path / "D.npy", D)
        stored = np.load(tmp_path / "D.npy", mmap_mode="r")
        np.testing.assert_array_equal(check_dissimilarities(stored), D)

    @settings(max_examples=40)
    @given(st.sampled_from(SIZES), st.data())
    def test_any_single_wrong_entry_is_found_and_named(self, n, data):
        i = data.draw(st.integers(0, n - 1))
        j = data.draw(st.integers(0, n - 1).filter(lambda j: j != i))
        D = random_dissimilarities(n)
        for value in (np.nan, np.inf, -np.inf):
            with pytest.raises(ValueError, match=f"of objects {i} and {j} is {value}; none may be NaN or infinite"):
                check_dissimilarities(with_entry(D, (i, j), value), squared=True, symmetrize="mean")
        with pytest.raises(ValueError, match=f"of objects {i} and {j} is -0.25, the lowest of all"):
            check_dissimilarities(with_entry(D, (i, j), -0.25), symmetrize="mean")
        with pytest.raises(ValueError, match=f"of object {i} to itself is 0.05; it must be 0.*symmetrize=.mean"):
            check_dissimilarities(with_entry(D, (i, i), 0.05))
        a, b = min(i, j), max(i, j)
        wrong = with_entry(D, (i, j), 5.0)
        message = f"of objects {a} and {b} is {wrong[a, b]:g}, but that of {b} and {a} is {wrong[b, a]:g};.*symmetrized"
        with pytest.raises(ValueError, match=message):
            check_dissimilarities(wrong)

    @pytest.mark.parametrize("n", SIZES)
    def test_the_worst_is_named(self, n):
        D = random_dissimilarities(n)
        for place, by in (((3, 1), 0.01), ((5, 2), 0.2), ((4, 6), 0.1)):
            D[place] += by
        with pytest.raises(ValueError, match="objects 2 and 5 is"):
            check_dissimilarities(D)

    @pytest.mark.parametrize("n", SIZES)
    def test_squares_may_be_negative(self, n):
        D, _ = make_pseudo_euclidean(n, 2, 2, scale=1.0, random_state=0)
        assert check_dissimilarities(D, squared=True) is D
        with pytest.raises(ValueError, match=r"squared=True.*or lift them with .*spread_transform\(D, "):
            check_dissimilarities(D)

    def test_the_remedy_for_negative_entries_works(self):
        D = random_dissimilarities(6) - 0.5
        np.fill_diagonal(D, 0)
        assert check_dissimilarities(spread_transform(D, -D.min())).min() == 0

    @pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 1e-5)])
    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
    def test_tolerance_is_relative_to_the_largest_entry(self, n, dtype, tolerance, size):
        D = (size * random_dissimilarities(n)).astype(dtype)
        D[0, 1] = D[1, 0] = D[1, 2] = D[2, 1] = 0
        for place, sign in (((0, 1), 1), ((1, 2), -1), ((3, 3), 1), ((4, 4), -1)):
            near, far = (with_entry(D, place, sign * factor * tolerance * D.max()) for factor in (0.5, 2))
            assert check_dissimilarities(near) is near
            with pytest.raises(ValueError, match=r"must be|Negative values"):
                check_dissimilarities(far)

    @pytest.mark.parametrize("n", SIZES)
    def test_kernels_are_recognized(self, n):
        X = np.random.RandomState(0).standard_normal((n, 3))
        for kernel in (X @ X.T, np.exp(-(euclidean_distances(n) ** 2)), np.eye(n)):
            for squared in (False, True):
                with pytest.raises(ValueError, match=r'looks like a kernel.*metric="kernel"'):
                    check_dissimilarities(kernel, squared=squared, symmetrize="mean")

    @pytest.mark.parametrize("n", SIZES)
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_repair(self, n, dtype):
        D = np.random.RandomState(0).uniform(0.5, 1, (n, n)).astype(dtype)
        np.fill_diagonal(D, 0.2)
        before = D.copy()
        repaired = check_dissimilarities(D, symmetrize="mean")
        np.testing.assert_array_equal(D, before)
        assert repaired.dtype == dtype
        assert check_dissimilarities(repaired) is repaired
        for i, j in ((0, 1), (n - 1, 2)):
            assert repaired[i, j] == pytest.approx((D[i, j] + D[j, i]) / 2, rel=1e-6)
        assert not repaired.diagonal().any()

    def test_shape(self):
        with pytest.raises(ValueError, match=r"shape \(3, 5\) are not square.*For new objects call predict"):
            check_dissimilarities(np.ones((3, 5)))
        for wrong in (np.ones(4), np.ones((0, 0)), np.ones((2, 2, 2))):
            with pytest.raises(ValueError, match=r"Expected 2D array|Found array with"):
                check_dissimilarities(wrong)

    def test_options(self):
        with pytest.raises(ValueError, match="symmetrize='min' must be one of 'raise', 'mean'"):
            check_dissimilarities(np.zeros((2, 2)), symmetrize="min")

    def test_all_objects_alike(self):
        for n in (1, 3, 200):
            assert not check_dissimilarities(np.zeros((n, n))).any()


class _Threads:
    """As ``chunk_threads``, with a fixed number."""

    def __init__(self, n_threads):
        self.n_threads = n_threads

    def __call__(self):
        return self

    def __enter__(self):
        return self.n_threads

    def __exit__(self, *error):
        return None


@given(arrays(np.float64, (4, 4), elements=st.floats(-100, 100)))
def test_symmetrized(D):
    found = symmetrized(D)
    for i in range(4):
        for j in range(4):
            assert found[i, j] == (0 if i == j else (D[i, j] + D[j, i]) / 2)
    np.testing.assert_array_equal(symmetrized(found), found)


class TestGram:
    def test_inner_products_of_centered_vectors(self):
        X = np.random.RandomState(0).standard_normal((30, 4))
        D = squareform(pdist(X))
        centered = X - X.mean(axis=0)
        np.testing.assert_allclose(gram_matrix(D), centered @ centered.T, atol=1e-12)
        np.testing.assert_allclose(gram_matrix(D**2, squared=True), centered @ centered.T, atol=1e-12)

    def test_definition(self):
        D = random_dissimilarities(20)
        found = gram_matrix(D)
        np.testing.assert_allclose(found, -0.5 * centering(20) @ D**2 @ centering(20), atol=1e-14)
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-13)

    def test_single_precision_is_not_used(self):
        D = random_dissimilarities(10, dtype=np.float32)
        np.testing.assert_array_equal(gram_matrix(D), gram_matrix(D.astype(np.float64)))

    @pytest.mark.parametrize("squared", [False, True])
    def test_input_is_not_changed(self, squared):
        D = random_dissimilarities(12)
        before = D.copy()
        for function in (
            gram_matrix,
            spectrum,
            signature,
            pseudo_euclidean,
            spread_value,
            clip_spectrum,
            flip_spectrum,
        ):
            function(D, squared=squared)
        spread_transform(D, 1.0)
        symmetrized(D)
        np.testing.assert_array_equal(D, before)


class TestSpectrum:
    def test_eigenvalues_largest_first(self):
        D = random_dissimilarities(25)
        found = spectrum(D)
        assert (np.diff(found) <= 0).all()
        G = gram_matrix(D)
        assert found.sum() == pytest.approx(np.trace(G), rel=1e-12)
        assert (found**2).sum() == pytest.approx((G**2).sum(), rel=1e-12)

    def test_normalized_by_the_average_entry(self):
        D = random_dissimilarities(25)
        np.testing.assert_allclose(spectrum(D, normalize=True), spectrum(D) / D.mean(), rtol=1e-12)
        same = (spectrum(factor * D, squared=True, normalize=True) for factor in (1, 1000))
        np.testing.assert_allclose(*same, atol=1e-12)
        assert not spectrum(np.zeros((3, 3)), normalize=True).any()


class TestSignature:
    @pytest.mark.parametrize(("p", "q"), [(1, 0), (3, 0), (1, 1), (5, 3), (2, 7)])
    @pytest.mark.parametrize("squared", [False, True])
    def test_of_points_in_a_known_space(self, p, q, squared):
        D, _ = make_pseudo_euclidean(40, p, q, scale=0.5, squared=squared, random_state=0)
        assert signature(D, squared=squared) == (p, q, 40 - p - q)
        assert signature(1e6 * D, squared=squared) == (p, q, 40 - p - q)
        order = np.random.RandomState(0).permutation(40)
        assert signature(D[np.ix_(order, order)], squared=squared) == (p, q, 40 - p - q)

    def test_euclidean_distances_of_many_points(self):
        assert signature(euclidean_distances(300, d=5)) == (5, 0, 295)

    def test_names_and_tolerance(self):
        D, _ = make_pseudo_euclidean(30, 2, 1, scale=1e-6, random_state=0)
        found = signature(D, squared=True)
        assert (found.positive, found.negative, found.zero) == (2, 1, 27)
        assert signature(D, squared=True, tol=1e-2) == (2, 0, 28)
        assert signature(D, squared=True, tol=1e6) == (0, 0, 30)
        with pytest.raises(ValueError, match=r"tol=-1 must be a number in \[0, inf\)"):
            signature(D, squared=True, tol=-1)

    def test_there_is_always_a_zero(self):
        assert signature(random_dissimilarities(60)).zero == 1


class TestPseudoEuclidean:
    @pytest.mark.parametrize("squared", [False, True])
    @pytest.mark.parametrize("make", [random_dissimilarities, ordinal_dissimilarities, euclidean_distances])
    def test_coordinates_reproduce_the_dissimilarities(self, make, squared):
        D = make(40)
        X, signs = pseudo_euclidean(D, squared=squared)
        S = D if squared else D**2
        np.testing.assert_allclose(((X[:, None] - X) ** 2) @ signs, S, atol=1e-10)
        np.testing.assert_allclose((X * signs) @ X.T, gram_matrix(D, squared=squared), atol=1e-10)
        assert tuple(signature(D, squared=squared)[:2]) == ((signs > 0).sum(), (signs < 0).sum())

    def test_order_of_the_directions(self):
        X, signs = pseudo_euclidean(random_dissimilarities(40))
        assert (np.diff(signs) <= 0).all()
        weight = (X**2).sum(axis=0)
        for sign in (1, -1):
            assert (np.diff(weight[signs == sign]) <= 1e-12).all()

    def test_tolerance_leaves_directions_out(self):
        X, signs = pseudo_euclidean(random_dissimilarities(40), tol=1.0)
        assert 0 < X.shape[1] == len(signs) < 39
        assert ((X**2).sum(axis=0) > 1.0).all()


class TestSpread:
    def test_adds_to_all_but_the_diagonal(self):
        D = random_dissimilarities(5)
        for value in (0, 0.7, -3):
            expected = D + value * (1 - np.eye(5))
            np.testing.assert_array_equal(spread_transform(D, value), expected)
        with pytest.raises(ValueError, match="value=nan must be a number"):
            spread_transform(D, np.nan)

    @pytest.mark.pairwise(make=[random_dissimilarities, ordinal_dissimilarities], n=[3, 30, 510], squared=[False, True])
    def test_value_is_enough_and_no_smaller_one_is(self, make, n, squared):
        D = make(n)
        D[0, 1] = D[1, 0] = 40.0
        value = spread_value(D, squared=squared)
        size = np.abs(gram_matrix(D, squared)).max()
        assert value > 0
        assert lowest_eigenvalue(spread_transform(D, value), squared) == pytest.approx(0, abs=1e-10 * n * size)
        assert lowest_eigenvalue(spread_transform(D, value - 1e-3), squared) < -1e-4

    @pytest.mark.parametrize("seed", range(5))
    def test_value_for_distances_by_the_eigenvalues_of_a_matrix_of_double_size(self, seed):
        D = random_dissimilarities(30, seed)
        J = centering(30)
        double = np.block([[np.zeros((30, 30)), -J @ D**2 @ J], [-np.eye(30), 2 * J @ D @ J]])  # Cailliez 1983
        assert spread_value(D) == pytest.approx(eigvals(double).real.max(), rel=1e-6)

    @pytest.mark.parametrize("make", [random_dissimilarities, rounded_distances])
    @pytest.mark.parametrize("squared", [False, True])
    def test_products_and_factorizations_agree(self, make, squared, monkeypatch):
        D = make(510) ** (2 if squared else 1)
        by_products = spread_value(D, squared=squared)
        monkeypatch.setattr(_geometry, "DENSE", 1000)
        by_factorization = spread_value(D, squared=squared)
        assert by_products == pytest.approx(by_factorization, rel=1e-9)
        assert by_products > 0

    @pytest.mark.parametrize("squared", [False, True])
    def test_either_of_them_is_enough(self, squared, monkeypatch):
        D = random_dissimilarities(510)
        with monkeypatch.context() as only_products:
            only_products.setattr(_geometry, "_top_eigenvector", never_converges)
            expected = spread_value(D, squared=squared)
        monkeypatch.setattr(_geometry, "eigsh", never_converges)
        assert spread_value(D, squared=squared) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("n", [2, 10, 510])
    def test_nothing_to_add_to_euclidean_distances(self, n):
        D = euclidean_distances(n)
        assert spread_value(D) == 0
        assert spread_value(D, squared=True) == 0  # roots of Euclidean distances are Euclidean
        assert spread_value(D**2, squared=True) == 0
        assert spread_value(np.zeros((n, n))) == 0

    @given(arrays(np.float64, 10, elements=st.floats(0, 10)), st.booleans())
    def test_of_any_dissimilarities(self, entries, squared):
        D = squareform(entries)
        value = spread_value(D, squared=squared)
        assert value >= 0
        assert lowest_eigenvalue(spread_transform(D, value), squared) >= -1e-10 * (1 + D.max() ** 2)
        assert spread_value(3 * D, squared=squared) == pytest.approx(3 * value, rel=1e-6, abs=1e-6)

    def test_value_is_of_the_same_kind_as_what_it_is_added_to(self):
        D, _ = make_pseudo_euclidean(40, 4, 2, scale=0.3, random_state=0)
        value = spread_value(D, squared=True)
        assert value == pytest.approx(-2 * spectrum(D, squared=True)[-1], rel=1e-12)


class TestClipAndFlip:
    @pytest.mark.parametrize("squared", [False, True])
    def test_spectra(self, squared):
        D = random_dissimilarities(40)
        before = spectrum(D, squared=squared)
        clipped, flipped = (
            spectrum(change(D, squared=squared), squared=squared) for change in (clip_spectrum, flip_spectrum)
        )
        np.testing.assert_allclose(clipped, np.maximum(before, 0), atol=1e-12)
        np.testing.assert_allclose(flipped, np.sort(np.abs(before))[::-1], atol=1e-12)

    @pytest.mark.parametrize("squared", [False, True])
    @pytest.mark.parametrize("change", [clip_spectrum, flip_spectrum])
    def test_result_is_a_matrix_of_dissimilarities_not_below_the_old_ones(self, change, squared):
        D = random_dissimilarities(40)
        changed = change(D, squared=squared)
        assert check_dissimilarities(changed) is changed
        assert (changed >= D - 1e-12).all()
        np.testing.assert_allclose(change(changed, squared=squared), changed, atol=1e-7)

    @pytest.mark.parametrize("change", [clip_spectrum, flip_spectrum])
    def test_euclidean_distances_stay(self, change):
        D = euclidean_distances(30)
        np.testing.assert_allclose(change(D), D, atol=1e-6)
        np.testing.assert_allclose(change(D**2, squared=True), D**2, atol=1e-12)

    @pytest.mark.parametrize("change", [clip_spectrum, flip_spectrum])
    def test_negative_squares(self, change):
        D, _ = make_pseudo_euclidean(30, 2, 2, scale=1.0, random_state=0)
        assert D.min() < 0
        assert change(D, squared=True).min() == 0

    def test_known_space(self):
        """Directions without correlation are those of the eigenvectors: clip leaves some out, flip turns their sign."""
        points = np.random.RandomState(0).standard_normal((20, 3))
        directions = np.linalg.qr(points - points.mean(axis=0))[0]
        positive, negative = (squareform(pdist(part, "sqeuclidean")) for part in (directions[:, :2], directions[:, 2:]))
        S = positive - 0.5 * negative
        np.testing.assert_allclose(clip_spectrum(S, squared=True), positive, atol=1e-12)
        np.testing.assert_allclose(flip_spectrum(S, squared=True), positive + 0.5 * negative, atol=1e-12)
